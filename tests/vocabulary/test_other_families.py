"""tiktoken, SentencePiece, Tekken and plain tables."""

from __future__ import annotations

import base64
import gzip
import io
import json
from pathlib import Path

import pytest
import sentencepiece
import tiktoken

from grammar_engine.errors import VocabularyError
from grammar_engine.vocabulary import Vocabulary
from vocabulary.samples import PROSE, TEXTS


def spell(vocabulary: Vocabulary, ids: list[int]) -> bytes:
    return b"".join(vocabulary.token_bytes(token) for token in ids)


# --- tiktoken -------------------------------------------------------------------------------------------------------


def encoding() -> tiktoken.Encoding:
    ranks = {token: rank for rank, token in enumerate(Vocabulary.builtin().tokens[:-1])}
    special = {"<|endoftext|>": len(ranks) + 5, "<|fim|>": len(ranks) + 2}
    return tiktoken.Encoding("ours", pat_str=r" ?\p{L}+|\s+|[^\s\p{L}]+", mergeable_ranks=ranks, special_tokens=special)


@pytest.mark.parametrize("text", [*TEXTS, "<|endoftext|> is text here"])
def test_tiktoken_round_trip(text: str) -> None:
    tokenizer = encoding()
    vocabulary = Vocabulary.from_tiktoken(tokenizer)
    assert spell(vocabulary, tokenizer.encode(text, disallowed_special=())) == text.encode()


def test_tiktoken_specials_and_gaps() -> None:
    tokenizer = encoding()
    vocabulary = Vocabulary.from_tiktoken(tokenizer, width=tokenizer.n_vocab + 10)
    end = tokenizer.n_vocab - 1
    assert vocabulary.eos == (end,) == (tokenizer.eot_token,)
    assert dict(vocabulary.special) == {end: "<|endoftext|>", end - 3: "<|fim|>"}
    assert vocabulary.tokens[end - 5 :] == (b"",) * 6
    with pytest.raises(VocabularyError, match="not int"):
        Vocabulary.from_tiktoken(3)


# --- SentencePiece --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def model(request, tmp_path_factory) -> Path:
    """A small model with byte fallback, a control piece, and a user-defined piece that looks like a byte piece."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(PROSE),
        model_writer=out,
        vocab_size=400,
        hard_vocab_limit=False,
        model_type=request.param,
        byte_fallback=True,
        control_symbols=["[INST]"],
        user_defined_symbols=["<tool>", "▁▁"],
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("sentencepiece") / "tiny.model"
    path.write_bytes(out.getvalue())
    return path


@pytest.mark.parametrize("text", [*TEXTS, "a <tool> [INST]", "\x00\x7f"])
def test_sentencepiece_round_trip(model: Path, text: str) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    vocabulary = Vocabulary.from_sentencepiece(processor)
    ids = processor.encode(text)
    assert spell(vocabulary, ids) == b" " + processor.decode(ids).encode()  # the dummy prefix belongs to the first token
    assert spell(vocabulary, ids) == b" " + text.replace("▁", " ").encode()  # no space is lost; ▁ is a space, as in SentencePiece itself


def test_sentencepiece_kinds_of_pieces(model: Path) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    vocabulary = Vocabulary.from_sentencepiece(model)
    assert vocabulary == Vocabulary.from_sentencepiece(processor) == Vocabulary.from_file(model)
    packed = model.with_suffix(".gz")
    packed.write_bytes(gzip.compress(model.read_bytes()))
    assert vocabulary == Vocabulary.from_file(packed)
    assert vocabulary.eos == (processor.eos_id(),)
    assert set(vocabulary.special.values()) == {"<unk>", "<s>", "</s>", "[INST]"}
    assert vocabulary.token_bytes(processor.piece_to_id("<tool>")) == b"<tool>"
    assert vocabulary.token_bytes(processor.piece_to_id("<0x0A>")) == b"\n"
    assert {bytes((byte,)) for byte in range(256)} <= set(vocabulary.tokens)


def test_sentencepiece_errors(tmp_path: Path) -> None:
    path = tmp_path / "broken.model"
    path.write_bytes(b"\x01\x02not a model")
    with pytest.raises(VocabularyError, match="no SentencePiece model"):
        Vocabulary.from_sentencepiece(path)
    with pytest.raises(VocabularyError, match="not int"):
        Vocabulary.from_sentencepiece(3)


# --- real vocabularies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "size", "eos"), [("tekken-131k", 131072, 2), ("o200k-200k", 200019, 199999), ("mistral-32k", 32768, 2)])
def test_shared_vocabularies(data: Path, name: str, size: int, eos: int) -> None:
    path = data / f"{name}.json.gz"
    vocabulary = Vocabulary.from_file(path)
    assert (vocabulary.size, vocabulary.eos) == (size, (eos,))
    singles = {token for token in vocabulary.tokens if len(token) == 1}
    assert len(singles) == 256
    for text in TEXTS:
        assert spell(vocabulary, vocabulary.encode_greedy(text.encode())) == text.encode()
    assert vocabulary.token_bytes(eos) == b""


def test_tekken_file_as_published(data: Path) -> None:
    """The file inside mistral-common, against the table of the same vocabulary that was made from it."""
    folder = _mistral_common()
    published = Vocabulary.from_file(folder / "tekken_240911.json")
    assert published == Vocabulary.from_file(data / "tekken-131k.json.gz")


def test_mistral_sentencepiece_as_published(data: Path) -> None:
    folder = _mistral_common()
    published = Vocabulary.from_file(folder / "mistral_instruct_tokenizer_241114.model.v7")
    assert published == Vocabulary.from_file(data / "mistral-32k.json.gz")


def _mistral_common() -> Path:
    package = pytest.importorskip("mistral_common", reason="mistral-common carries the published files")
    return Path(package.__file__).parent / "data"


# --- plain tables ---------------------------------------------------------------------------------------------------


def table(**changes: object) -> bytes:
    content = {"tokens": [base64.b64encode(t).decode() for t in (b"a", b"\xff", b"</s>")], "eos": 2, "specials": {"</s>": 2}}
    return json.dumps({**content, **changes}).encode()


def test_plain_table(tmp_path: Path) -> None:
    path = tmp_path / "table"
    expected = Vocabulary([b"a", b"\xff", b""], eos=[2], special={2: "</s>"})
    for content in (table(), gzip.compress(table()), table(eos=[2]), table(eos=None)):
        path.write_bytes(content)
        assert Vocabulary.from_file(path) == expected
    path.write_bytes(table())
    assert Vocabulary.from_file(path, eos=[0]).eos == (0,)


@pytest.mark.parametrize(
    "content",
    [
        b"no JSON",
        gzip.compress(table(), mtime=0)[:20],
        b"{",
        b"{}",
        table(tokens=[3]),
        table(tokens=["?"]),
        table(tokens=["YQ==", "Y?Q==", "YQ=="]),
        table(eos=7),
        table(specials=[1]),
        b'{"vocab": []}',
    ],
)
def test_malformed_tables(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.json"
    path.write_bytes(content)
    with pytest.raises(VocabularyError):
        Vocabulary.from_file(path)


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(VocabularyError, match=" is empty"):
        Vocabulary.from_file(tmp_path / "tokenizer.json", eos=[0])


def tekken(**changes: object) -> bytes:
    vocab = [{"rank": rank, "token_bytes": base64.b64encode(token).decode()} for rank, token in enumerate((b"a", b"b", b"ab"))]
    config = {"default_num_special_tokens": 3, "default_vocab_size": 6}
    special = [{"rank": 2, "token_str": "</s>"}]
    return json.dumps({"config": config, "special_tokens": special, "vocab": vocab, **changes}).encode()


def test_tekken_files(tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_bytes(tekken())
    assert Vocabulary.from_file(tmp_path / "tekken.json") == Vocabulary([b"", b"", b"", b"a", b"b", b"ab"], eos=[2])


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {"default_num_special_tokens": 3, "default_vocab_size": 2}},
        {"config": {"default_num_special_tokens": -1, "default_vocab_size": 6}},
        {"config": {"default_num_special_tokens": 1 << 30, "default_vocab_size": 1 << 31}},
        {"special_tokens": [{"rank": 3, "token_str": "</s>"}]},  # the id of a text
        {"special_tokens": [{"rank": -1, "token_str": "</s>"}]},
        {"vocab": [{"rank": 0, "token_bytes": "YQ=="}, {"rank": 2, "token_bytes": "Yg=="}]},
        {"vocab": [{"rank": 0, "token_bytes": "YQ=="}, {"rank": 0, "token_bytes": "Yg=="}]},
        {"vocab": [{"rank": 0, "token_bytes": "YQ?="}]},
    ],
)
def test_malformed_tekken_files(changes: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_bytes(tekken(**changes))
    with pytest.raises(VocabularyError, match="malformed"):
        Vocabulary.from_file(tmp_path / "tekken.json")
