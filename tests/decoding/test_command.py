"""`grammar-engine generate --model`: the command line on top of the loop."""

from __future__ import annotations

import functools
import io
import itertools
import json
import re
import sys
import time
from types import SimpleNamespace

import jsonschema
import pytest

from grammar_engine import Grammar, LimitExceededError, Matcher, cli

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return str(path)


def test_noise_writes_documents_of_the_schema(schema, capsys):
    assert cli.main(["generate", "--schema", schema, "--model", "stub", "--seed", "1", "--count", "3", "--max-tokens", "40", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["index"] for record in records] == [0, 1, 2]
    for record in records:
        jsonschema.validate(json.loads(record["text"]), SCHEMA)
        assert record["tokens"] == record["passes"] + record["forced"] <= 40
        assert record["tokens_per_second"] > 0
        assert 0 < record["mask_share"] < 1


def test_the_figures_are_no_part_of_the_text(schema, capsys):
    texts = []
    for _ in range(2):
        assert cli.main(["generate", "--schema", schema, "--model", "stub", "--seed", "1", "--max-tokens", "40"]) == 0
        out, err = capsys.readouterr()
        jsonschema.validate(json.loads(out), SCHEMA)
        assert "per second" in err
        assert "spent on masks" in err
        assert re.search(
            r"^grammar: loaded and compiled in [\d,]+ ms, [1-9][\d,]* masks made in [\d,]+ ms before the first text$", err, re.M
        )
        texts.append(out)
    assert texts[0] == texts[1]


def test_what_fails_in_advance_is_no_failure_of_the_text(schema, capsys, monkeypatch):
    def fail(*_, **__):
        raise LimitExceededError("max_states", 10)

    monkeypatch.setattr(Grammar, "warm", fail)
    assert cli.main(["generate", "--schema", schema, "--model", "stub", "--max-tokens", "40"]) == 0
    out, err = capsys.readouterr()
    jsonschema.validate(json.loads(out), SCHEMA)
    assert " 0 masks made in " in err


def test_a_budget_that_is_too_small(schema, capsys, monkeypatch):
    searched = []
    search = Matcher.closing_within
    monkeypatch.setattr(Matcher, "closing_within", lambda matcher, most: searched.append(most) or search(matcher, most))
    assert cli.main(["generate", "--schema", schema, "--model", "stub", "--max-tokens", "2"]) == 2
    assert "--max-tokens 2, and the shortest text takes" in capsys.readouterr().err
    assert cli.main(["generate", "--schema", schema, "--model", "stub", "--max-tokens", str(1 << 63)]) == 2
    assert "--max-tokens is at least 1 and at most 9,223,372,036,854,775,807" in capsys.readouterr().err
    assert searched == [2], "which may take seconds"


def test_a_model_from_a_file(schema, capsys, tmp_path):
    pytest.importorskip("torch")
    from grammar_engine.decoding.tiny.data import tiny_vocabulary
    from grammar_engine.decoding.tiny.model import TinyDecoder, save

    vocabulary, path = tiny_vocabulary(), tmp_path / "tiny.pt"
    save(TinyDecoder(vocabulary.width + 1, dim=16, layers=1, heads=2), path, vocabulary)
    assert cli.main(["generate", "--schema", schema, "--model", str(path), "--max-tokens", "60"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), SCHEMA)
    assert cli.main(["generate", "--schema", schema, "--model", str(tmp_path / "none")]) == 2
    assert "none" in capsys.readouterr().err
    assert cli.main(["generate", "--schema", schema, "--model", schema]) == 2
    assert "holds no weights of a tiny decoder" in capsys.readouterr().err
    assert cli.main(["generate", "--schema", schema, "--model", ""]) == 2
    assert "--model: the name is empty" in capsys.readouterr().err
    for given, spelling in ((), '{"name": "'), (("--whitespace", "compact"), '{"name":"'):  # by default the layout that it has learnt
        assert cli.main(["generate", "--schema", schema, "--model", str(path), "--max-tokens", "60", *given]) == 0
        assert capsys.readouterr().out.startswith(spelling)


def test_a_schema_from_standard_input_is_in_the_prompt(schema, capsys, tmp_path, monkeypatch):
    """As one from a file: it is read once, for the grammar and for the prompt."""
    pytest.importorskip("torch")
    from grammar_engine import decoding
    from grammar_engine.decoding.tiny.data import prompt_of, tiny_vocabulary
    from grammar_engine.decoding.tiny.model import TinyDecoder, save

    vocabulary, path = tiny_vocabulary(), tmp_path / "tiny.pt"
    save(TinyDecoder(vocabulary.width + 1, dim=16, layers=1, heads=2), path, vocabulary)
    prompts, stream = [], decoding.stream
    monkeypatch.setattr(
        decoding, "stream", lambda model, prompt, *rest, **more: prompts.append(prompt) or stream(model, prompt, *rest, **more)
    )
    for source in (schema, "-"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SCHEMA).encode())))
        assert cli.main(["generate", "--schema", source, "--model", str(path), "--max-tokens", "60"]) == 0
        assert prompts[-1] == vocabulary.encode_greedy(prompt_of(SCHEMA))


def test_a_model_that_is_trained_first(schema, capsys, monkeypatch):
    """For so many seconds as are asked for, which a bar shows in a terminal."""
    pytest.importorskip("torch")
    from grammar_engine.decoding.tiny import model

    small = functools.partial(model.TinyDecoder, dim=16, layers=1, heads=2)
    monkeypatch.setattr(model, "TinyDecoder", small)
    monkeypatch.setattr(cli, "_LESSONS", 40)
    clock = itertools.count()  # looked at before the first step, and before each
    monkeypatch.setattr(cli, "time", SimpleNamespace(monotonic=lambda: next(clock) / 10, perf_counter=time.perf_counter))
    monkeypatch.setattr(sys.modules["grammar_engine.progress"], "DELAY", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.main(["generate", "--schema", schema, "--model", "tiny", "--train-seconds", "2", "--max-tokens", "60"]) == 0
    assert next(clock) == 21
    out, err = capsys.readouterr()
    jsonschema.validate(json.loads(out), SCHEMA)
    assert re.match(r"\r\[ +\] 0 of 2.*\r\x1b\[K", err)


def test_a_model_from_a_folder(capsys, tmp_path):
    """As `transformers` saves them, the tokenizer beside it; the prompt is encoded by that."""
    torch, transformers, tokenizers = map(pytest.importorskip, ("torch", "transformers", "tokenizers"))
    names = {"<pad>": 0, "</s>": 1, **{chr(ord("a") + i): 2 + i for i in range(8)}}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(names, []))
    backend.decoder = tokenizers.decoders.Fuse()
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", pad_token="<pad>").save_pretrained(tmp_path)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=12, **sizes)).save_pretrained(tmp_path)
    options = ("--regex", "[a-f]{4,12}(gh)*", "--model", str(tmp_path), "--max-tokens", "30", "--seed", "1")
    texts = set()
    for prompt in ((), ("--prompt", "abc"), ("--prompt", "hhhh")):
        assert cli.main(["generate", *options, *prompt]) == 0
        out, err = capsys.readouterr()
        assert re.fullmatch("[a-f]{4,12}(gh)*", out.strip()) and "spent on masks" in err
        texts.add(out)
    assert len(texts) > 1, "the model sees the prompt"
    assert cli.main(["generate", *options, "--vocabulary", str(tmp_path / "tokenizer.json")]) == 2
    assert "has its own" in capsys.readouterr().err
    (tmp_path / "config.json").unlink()
    assert cli.main(["generate", *options]) == 2


def test_a_folder_without_a_tokenizer_or_a_model(capsys, tmp_path):
    """What `transformers` says of it seldom names the folder."""
    _, transformers, tokenizers = map(pytest.importorskip, ("torch", "transformers", "tokenizers"))
    options = ("generate", "--regex", "a", "--model", str(tmp_path))
    told = f"grammar-engine: {tmp_path}: in this folder is no "
    assert cli.main(options) == 2
    assert f"{told}tokenizer that transformers can load: " in capsys.readouterr().err
    backend = tokenizers.Tokenizer(tokenizers.models.BPE({"</s>": 0, "a": 1}, []))
    backend.decoder = tokenizers.decoders.Fuse()
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>").save_pretrained(tmp_path)
    assert cli.main(options) == 2
    assert f"{told}model that transformers can load: " in capsys.readouterr().err
    assert cli.main(["mask", "--regex", "a", "--vocabulary", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("1 of 2 tokens are allowed")


def test_a_vocabulary_without_an_end(tmp_path, capsys):
    table = tmp_path / "table.json"
    table.write_text('{"tokens": ["YQ==", "Yg=="], "eos": []}')
    assert cli.main(["generate", "--regex", "[ab]{3}", "--model", "stub", "--vocabulary", str(table)]) == 2
    assert "no end-of-text token" in capsys.readouterr().err
