"""`grammar-engine generate --model`: the command line on top of the loop."""

from __future__ import annotations

import json

import jsonschema
import pytest

from grammar_engine import cli

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
        texts.append(out)
    assert texts[0] == texts[1]


def test_a_budget_that_is_too_small(schema, capsys):
    assert cli.main(["generate", "--schema", schema, "--model", "stub", "--max-tokens", "2"]) == 2
    assert "max_new_tokens = 2" in capsys.readouterr().err


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
    for given, spelling in ((), '{"name": "'), (("--whitespace", "compact"), '{"name":"'):  # by default the layout that it has learnt
        assert cli.main(["generate", "--schema", schema, "--model", str(path), "--max-tokens", "60", *given]) == 0
        assert capsys.readouterr().out.startswith(spelling)
