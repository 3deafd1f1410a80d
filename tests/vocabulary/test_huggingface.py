"""Hugging Face tokenizers: the bytes of the ids of a text add up to what the tokenizer itself decodes."""

from __future__ import annotations

import codecs
import gzip
import json
from types import SimpleNamespace

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from grammar_engine.errors import VocabularyError
from grammar_engine.vocabulary import Vocabulary
from vocabulary.samples import PROSE, TEXTS

METASPACE_DECODER = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
BYTE_PIECES = [f"<0x{byte:02X}>" for byte in range(256)]


def byte_level() -> Tokenizer:
    """The family of GPT-2, Llama 3, Qwen."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=["<|endoftext|>", "<s>"], show_progress=False)
    tokenizer.train_from_iterator(PROSE, trainer)
    return tokenizer


def metaspace_bpe() -> Tokenizer:
    """The family of Llama 2, Mistral, Gemma: a normalizer writes spaces as ▁, unknown characters fall back to byte pieces."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(METASPACE_DECODER)
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<unk>", "<s>", "</s>", *BYTE_PIECES], show_progress=False)
    tokenizer.train_from_iterator([text[:40] for text in PROSE[:2]], trainer)
    specials = {"<unk>", "<s>", "</s>"}
    content = json.loads(tokenizer.to_str())  # the byte pieces are ordinary pieces of the model, as in the published files
    content["added_tokens"] = [t for t in content["added_tokens"] if t["content"] in specials]
    return Tokenizer.from_str(json.dumps(content))


def unigram() -> Tokenizer:
    """The family of T5, XLM-R: Unigram with the Metaspace decoder."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=200,
        special_tokens=["<unk>", "</s>"],
        unk_token="<unk>",
        initial_alphabet=sorted(set("".join(TEXTS))),
        show_progress=False,
    )
    tokenizer.train_from_iterator(PROSE, trainer)
    return tokenizer


FAMILIES = [byte_level, metaspace_bpe, unigram]


def spell(vocabulary: Vocabulary, ids: list[int]) -> str:
    return b"".join(vocabulary.token_bytes(token) for token in ids).decode()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", TEXTS)
def test_round_trip(family, text: str) -> None:
    tokenizer = family()
    tokenizer.add_tokens(["added word", AddedToken("<tool>", normalized=False)])
    tokenizer.add_special_tokens(["<|im_end|>"])
    vocabulary = Vocabulary.from_tokenizers(tokenizer)
    text += " an added word and <tool>"
    plain = [token for token in tokenizer.encode(text).ids if token not in vocabulary.special]
    decoded = tokenizer.decode(plain)
    spelled = spell(vocabulary, plain)
    assert spelled in (decoded, " " + decoded)  # only the leading space of a text may differ: it belongs to the token
    if family is byte_level and "<s>" not in text:
        assert spelled == text


@pytest.mark.parametrize("family", FAMILIES)
def test_every_token_in_the_middle_of_a_text(family) -> None:
    """Each token, between two that are known: what `decode` adds for it is what the vocabulary says."""
    tokenizer = family()
    vocabulary = Vocabulary.from_tokenizers(tokenizer)
    fence = tokenizer.token_to_id("a")
    assert vocabulary.token_bytes(fence) == b"a"
    checked = 0
    for token in range(tokenizer.get_vocab_size()):
        between = tokenizer.decode([fence, token, fence])
        assert between[:1] == between[-1:] == "a"
        expected = "" if token in vocabulary.special else between[1:-1]
        if "\ufffd" in expected:
            continue  # a part of a code point; covered by the round trips
        assert vocabulary.token_bytes(token).decode() == expected
        checked += 1
    assert checked > 80


def test_path_and_object_agree(tmp_path) -> None:
    for family in FAMILIES:
        tokenizer = family()
        path = tmp_path / "tokenizer.json"
        tokenizer.save(str(path))
        from_path = Vocabulary.from_tokenizers(path)
        assert from_path == Vocabulary.from_tokenizers(str(path)) == Vocabulary.from_tokenizers(tokenizer) == Vocabulary.from_file(path)
        assert dict(from_path.special) == dict(Vocabulary.from_tokenizers(tokenizer).special)


def test_all_bytes_can_be_spelled() -> None:
    for family in (byte_level, metaspace_bpe):
        singles = {token for token in Vocabulary.from_tokenizers(family()).tokens if len(token) == 1}
        assert len(singles) == 256


def test_byte_pieces_are_text_where_the_decoder_has_no_byte_fallback() -> None:
    content = json.loads(metaspace_bpe().to_str())
    content["decoder"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    vocabulary = Vocabulary.from_tokenizers(Tokenizer.from_str(json.dumps(content)))
    assert b"<0x0A>" in vocabulary.tokens


def test_special_tokens_spell_nothing_and_added_words_are_text() -> None:
    tokenizer = byte_level()
    tokenizer.add_tokens(["hello there", "｜x▁y｜"])
    vocabulary = Vocabulary.from_tokenizers(tokenizer)
    assert vocabulary.token_bytes(tokenizer.token_to_id("<s>")) == b""
    assert vocabulary.token_bytes(tokenizer.token_to_id("hello there")) == b"hello there"
    assert vocabulary.token_bytes(tokenizer.token_to_id("｜x▁y｜")) == "｜x▁y｜".encode()
    assert vocabulary.special[tokenizer.token_to_id("<s>")] == "<s>"
    look_alike = vocabulary.encode_greedy(b"<s>")
    assert not set(look_alike) & set(vocabulary.special)


def test_added_tokens_are_normalized_where_they_ask_for_it() -> None:
    tokenizer = metaspace_bpe()
    tokenizer.add_tokens(["one two", AddedToken("three four", normalized=False)])
    vocabulary = Vocabulary.from_tokenizers(tokenizer)
    assert vocabulary.token_bytes(tokenizer.token_to_id("one two")) == b" one two"
    assert vocabulary.token_bytes(tokenizer.token_to_id("three four")) == b"three four"


@pytest.mark.parametrize(
    ("normalizer", "content", "expected"),
    [
        (normalizers.NFC(), "e\u0301", "é"),
        (normalizers.NFKD(), "ﬁ", "fi"),
        (normalizers.Lowercase(), "ABC", "abc"),
        (normalizers.Lowercase(), "ΟΔΟΣ", "οδοσ"),  # character by character
        (normalizers.Nmt(), "plain words", "plain words"),
        (normalizers.StripAccents(), "é", None),
        (normalizers.Replace(Regex("a+"), "b"), "aa", None),
    ],
)
def test_normalizers_of_added_tokens(normalizer, content: str, expected: str | None) -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    tokenizer.decoder = decoders.Fuse()
    tokenizer.normalizer = normalizer
    tokenizer.add_tokens([AddedToken(content, normalized=True)])
    if expected is None:
        with pytest.raises(VocabularyError, match="not known here"):
            Vocabulary.from_tokenizers(tokenizer, eos=[])
    else:
        assert Vocabulary.from_tokenizers(tokenizer, eos=[]).token_bytes(1) == expected.encode()
        assert tokenizer.decode([1]) == expected


def test_where_eos_comes_from(tmp_path) -> None:
    tokenizer = byte_level()
    end, start = tokenizer.token_to_id("<|endoftext|>"), tokenizer.token_to_id("<s>")
    assert Vocabulary.from_tokenizers(tokenizer).eos == (end,)
    assert Vocabulary.from_tokenizers(tokenizer, eos=["<s>", end]).eos == (start, end)
    with pytest.raises(VocabularyError, match="'nope'"):
        Vocabulary.from_tokenizers(tokenizer, eos=["nope"])
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": {"content": "<s>"}}))
    assert Vocabulary.from_tokenizers(path).eos == (start,)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [end, start]}))
    assert Vocabulary.from_tokenizers(path).eos == (end, start)


@pytest.mark.parametrize("content", ["", "{", "[1]", "3", '{"eos_token_id": ' * 100_000])
def test_what_would_say_it_is_damaged(tmp_path, content) -> None:
    """What comes next might name another token, and texts would not end where the model ends them."""
    tokenizer = byte_level()
    start = tokenizer.token_to_id("<s>")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(content)  # it may be of another program
    assert Vocabulary.from_tokenizers(tmp_path / "tokenizer.json").eos == (tokenizer.token_to_id("<|endoftext|>"),)
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": start}))
    assert Vocabulary.from_tokenizers(tmp_path / "tokenizer.json").eos == (start,)
    for name in ("tokenizer_config.json", "generation_config.json"):
        (tmp_path / name).write_text(content)
        for load in (Vocabulary.from_tokenizers, Vocabulary.from_file):
            with pytest.raises(VocabularyError, match=rf"{name} is malformed, .*: pass eos="):
                load(tmp_path / "tokenizer.json")
            assert load(tmp_path / "tokenizer.json", eos=[start]).eos == (start,)


def test_no_known_eos_is_an_error() -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    with pytest.raises(VocabularyError, match="pass eos="):
        Vocabulary.from_tokenizers(tokenizer)
    assert Vocabulary.from_tokenizers(tokenizer, eos=[]).eos == ()


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (None, "joins tokens with spaces"),
        (decoders.WordPiece(), "WordPiece"),
        (decoders.BPEDecoder(), "BPEDecoder"),
        (decoders.CTC(), "CTC"),
        (decoders.Sequence([decoders.Fuse(), decoders.Replace("a", "b")]), "Replace to the text as a whole"),
        (decoders.Sequence([decoders.ByteLevel(), decoders.Replace("a", "b")]), "Replace to the text as a whole"),
        (decoders.Sequence([decoders.ByteLevel(), decoders.Metaspace()]), "Metaspace to the text as a whole"),
    ],
)
def test_decoders_that_give_a_token_no_bytes_of_its_own_are_refused(decoder, message: str) -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    if decoder is not None:
        tokenizer.decoder = decoder
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_tokenizers(tokenizer, eos=[])


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"model": 3}', '{"model": {"vocab": {"a": "b"}}, "decoder": {}}', '{"model": {"vocab": [3]}}']
)
def test_malformed_files(content: str, tmp_path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(VocabularyError):
        Vocabulary.from_tokenizers(path, eos=[])


def tokenizer_file(**changes: object) -> str:
    """A `tokenizer.json` with some of its parts replaced; `unk_id` and `decoder_content` are parts of parts."""
    replace = {"type": "Replace", "pattern": {"String": "▁"}, "content": changes.pop("decoder_content", " ")}
    content = {
        "added_tokens": [{"id": 2, "content": "</s>", "special": True}],
        "decoder": {"type": "Sequence", "decoders": [replace, {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "Unigram", "unk_id": changes.pop("unk_id", 0), "vocab": [["<unk>", 0], ["a", -1]]},
    }
    return json.dumps({**content, **changes})


def added(token: object, content: object) -> list[dict[str, object]]:
    return [{"id": 2, "content": "</s>", "special": True}, {"id": token, "content": content}]


@pytest.mark.parametrize(
    "changes",
    [
        {"added_tokens": added(None, "x")},
        {"added_tokens": added(1.5, "x")},
        {"added_tokens": added(True, "x")},
        {"added_tokens": added("3", "x")},
        {"added_tokens": added(-1, "x")},  # not the last one
        {"added_tokens": added(1 << 30, "x")},  # whose table would take 8 GB
        {"added_tokens": added(10**30, "x")},
        {"added_tokens": added(3, None)},
        {"added_tokens": added(3, [])},
        {"added_tokens": added(3, "\ud800")},
        {"model": {"vocab": {"a": None, "b": 0}}},
        {"model": {"vocab": {"a": 0.0}}},
        {"model": {"vocab": {"a": True}}},
        {"model": {"vocab": {"a": 10**30}}},
        {"model": {"vocab": [[None, 0]]}},
        {"unk_id": 2},
        {"unk_id": -1},
        {"decoder_content": None},
        {"decoder": {"type": "Strip", "content": None, "start": 1, "stop": 0}},
    ],
)
def test_damage_in_a_file_is_an_error_of_the_vocabulary(changes: dict[str, object], tmp_path) -> None:
    (tmp_path / "tokenizer.json").write_text(tokenizer_file())
    assert Vocabulary.from_file(tmp_path / "tokenizer.json").tokens == (b"", b"a", b"")
    (tmp_path / "tokenizer.json").write_text(tokenizer_file(**changes))
    for load in (Vocabulary.from_file, Vocabulary.from_tokenizers):
        with pytest.raises(VocabularyError):
            load(tmp_path / "tokenizer.json")


def test_json_that_nests_too_deep_is_an_error_of_the_vocabulary(tmp_path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model":' + "[" * 100_000)
    for load in (Vocabulary.from_file, Vocabulary.from_tokenizers):
        with pytest.raises(VocabularyError):
            load(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("change", [gzip.compress, lambda content: codecs.BOM_UTF8 + content])
def test_a_tokenizer_file_is_told_by_its_content_whatever_its_name(change, tmp_path) -> None:
    content = change(tokenizer_file(added_tokens=added(3, "<end>")).encode())
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [3]}')
    (tmp_path / "tokenizer.json").write_bytes(content)
    assert Vocabulary.from_file(tmp_path / "tokenizer.json").eos == (3,)


def test_wrong_types() -> None:
    with pytest.raises(VocabularyError, match="not int"):
        Vocabulary.from_tokenizers(3)
    with pytest.raises(VocabularyError, match="bytes of the tokens of a int"):
        Vocabulary.from_transformers(3)
    with pytest.raises(FileNotFoundError):
        Vocabulary.from_tokenizers("/nowhere/tokenizer.json")


def test_transformers_fast() -> None:
    tokenizer = byte_level()
    fast = SimpleNamespace(backend_tokenizer=tokenizer, eos_token_id=1)
    assert Vocabulary.from_transformers(fast, width=1000) == Vocabulary.from_tokenizers(tokenizer, eos=[1], width=1000)
    assert Vocabulary.from_transformers(tokenizer) == Vocabulary.from_tokenizers(tokenizer)


class SlowAddedToken(str):
    """`str()` is the content, as of the added tokens of `transformers`."""

    special = True


def test_transformers_slow_byte_level() -> None:
    tokenizer = byte_level()
    added = {0: SlowAddedToken("<|endoftext|>"), 1: SlowAddedToken("<s>")}
    slow = SimpleNamespace(get_vocab=tokenizer.get_vocab, byte_decoder={"Ġ": 32}, eos_token_id=0, added_tokens_decoder=added)
    assert Vocabulary.from_transformers(slow) == Vocabulary.from_tokenizers(tokenizer)
