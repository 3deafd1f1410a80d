"""Vocabularies as files: what is loaded does what was saved; a file that is not whole is refused; writing is atomic."""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import random
import threading
from pathlib import Path

import pytest

import vocabularies
from grammar_engine import Grammar, Matcher, Vocabulary, allocate_masks
from grammar_engine.errors import VocabularyError

SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}, "n": {"type": "number"}}, "required": ["name"]}
TEXT = b'{"name": "a \\n \xc3\xa9 long name", "n": -1.5e3}'


def masks_along(vocabulary: Vocabulary, grammar: Grammar, text: bytes) -> list[bytes]:
    """The mask before each token of a spelling of `text`, and after the last."""
    matcher, mask = Matcher(grammar, vocabulary), allocate_masks(1, vocabulary)
    found = []
    for token in [*vocabulary.encode_greedy(text), None]:
        matcher.fill_mask(mask)
        found.append(bytes(memoryview(mask)))
        if token is not None:
            assert matcher.accept(token)
    return found


def save(vocabulary: Vocabulary, folder: Path) -> Path:
    path = folder / "vocabulary"
    vocabulary.save(path)
    return path


def test_what_is_loaded_is_what_was_saved(tmp_path: Path) -> None:
    saved = Vocabulary([b"a", b"<s>", b"b\xff", b"", b"a", b"x" * 40], eos=[3, 1], special={1: "<s>", 3: "fin \ud800 é"}, width=77)
    loaded = Vocabulary.load(save(saved, tmp_path))
    for name in ("size", "width", "eos", "special", "fingerprint"):
        assert getattr(loaded, name) == getattr(saved, name)
    assert (len(loaded), repr(loaded), hash(loaded)) == (len(saved), repr(saved), hash(saved))
    assert loaded.tokens == saved.tokens == (b"a", b"", b"b\xff", b"", b"a", b"x" * 40)
    assert loaded == saved and pickle.loads(pickle.dumps(loaded)) == saved
    again = tmp_path / "again"
    loaded.save(again)
    assert again.read_bytes() == (tmp_path / "vocabulary").read_bytes()


def test_token_bytes_and_spelling_of_a_loaded_vocabulary(tmp_path: Path) -> None:
    path = save(Vocabulary([b"a", b"ab", b""], eos=[], width=9), tmp_path)
    assert Vocabulary.load(path).token_bytes(1) == b"ab"
    assert Vocabulary.load(path).token_bytes(8) == b""
    assert Vocabulary.load(path).encode_greedy(b"aba") == [1, 0]
    assert Vocabulary.load(path).eos == ()


def test_masks_are_equal(tmp_path: Path) -> None:
    saved, grammar = Vocabulary.builtin(), Grammar.from_json_schema(SCHEMA)
    loaded = Vocabulary.load(save(saved, tmp_path))
    masks = masks_along(saved, grammar, TEXT)
    assert len(set(masks)) > 5
    assert masks_along(loaded, grammar, TEXT) == masks


def test_masks_of_random_vocabularies_are_equal(tmp_path: Path) -> None:
    rng, grammar = random.Random(3), Grammar.from_regex(r"(a|bc|é)*|[^a]{3,40}")
    for _ in range(60):
        saved = vocabularies.random_vocabulary(rng, [b"a", b"b", b"c", "é".encode()], size=rng.choice([1, 12, 60])).build()
        loaded = Vocabulary.load(save(saved, tmp_path))
        text = b"".join(rng.choice([b"a", b"bc", "é".encode()]) for _ in range(12))
        assert masks_along(loaded, grammar, text) == masks_along(saved, grammar, text)


@pytest.mark.parametrize(("name", "megabytes"), [("tekken-131k", 11.4), ("o200k-200k", 18.5), ("mistral-32k", 2.4)])
def test_real_vocabularies(name: str, megabytes: float, real_vocabulary, tmp_path: Path) -> None:
    """The sizes are those of docs/vocabularies.md."""
    saved, grammar = real_vocabulary(name), Grammar.from_json_schema(SCHEMA)
    path = save(saved, tmp_path)
    assert round(path.stat().st_size / 1e6, 1) == megabytes
    loaded = Vocabulary.load(path)
    assert loaded == saved and loaded.tokens == saved.tokens
    assert masks_along(loaded, grammar, TEXT) == masks_along(saved, grammar, TEXT)


def test_the_mapping_lives_as_long_as_a_matcher(tmp_path: Path) -> None:
    path, grammar = save(Vocabulary.builtin(), tmp_path), Grammar.from_json_schema(SCHEMA)
    matcher = Matcher(grammar, Vocabulary.load(path))
    mask = allocate_masks(1, Vocabulary.builtin())
    path.unlink()
    gc.collect()
    matcher.fill_mask(mask)
    assert bytes(memoryview(mask)) == masks_along(Vocabulary.builtin(), grammar, b"")[0]
    assert matcher.accept_bytes(TEXT) and matcher.is_complete


def test_replacing_the_file_leaves_the_loaded_one_alone(tmp_path: Path) -> None:
    path = save(Vocabulary.builtin(), tmp_path)
    loaded = Vocabulary.load(path)
    Vocabulary.bytes().save(path)
    assert Vocabulary.load(path) == Vocabulary.bytes()
    assert loaded.tokens == Vocabulary.builtin().tokens


# What each damage is called; csrc/test/t_vocab.c flips every byte and cuts at every length.
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: b"", "it is empty"),
        (lambda content: b'{"model": {}}', "it is no saved vocabulary"),
        (lambda content: content[:-1], "it is cut off"),
        (lambda content: content[: len(content) // 2], "it is cut off"),
        (lambda content: content + b"\n", "it goes on after its end"),
        (lambda content: content[:3000] + bytes([content[3000] ^ 4]) + content[3001:], "it is damaged: the checksum is wrong"),
        (lambda content: content[:16] + b"\xee" + content[17:], "it was saved by another version"),
        (lambda content: content[:8] + content[15:7:-1] + content[16:], "it was saved on a machine of another byte order"),
    ],
)
def test_damaged_files_are_refused(damage, message: str, tmp_path: Path) -> None:
    path = save(Vocabulary.bytes(), tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(VocabularyError, match=message) as caught:
        Vocabulary.load(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Vocabulary.load(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        Vocabulary.load(tmp_path)
    with pytest.raises(VocabularyError, match=r"Vocabulary\.load"):
        Vocabulary.from_file(save(Vocabulary.bytes(), tmp_path))


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    """The error names the path that was asked for, and no other."""
    for path, kind in ((tmp_path / "absent" / "vocabulary", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind) as caught:
            Vocabulary.bytes().save(path)
        assert (caught.value.filename, caught.value.filename2) == (str(path), None)
        assert ".tmp" not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_a_save_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(Vocabulary.bytes(), tmp_path)

    def full(fd: int) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        Vocabulary.builtin().save(path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["vocabulary"]
    assert Vocabulary.load(path) == Vocabulary.bytes()
    with pytest.raises(FileNotFoundError):
        Vocabulary.bytes().save(tmp_path / "absent" / "vocabulary")


def test_threads_save_and_load_at_once(tmp_path: Path) -> None:
    both, grammar = [Vocabulary.bytes(), Vocabulary.builtin()], Grammar.from_json_schema(SCHEMA)
    expected = {vocabulary: masks_along(vocabulary, grammar, TEXT) for vocabulary in both}
    path, errors = save(both[0], tmp_path), []

    def work(number: int) -> None:
        try:
            for _ in range(8):
                loaded = Vocabulary.load(path)
                assert masks_along(loaded, grammar, TEXT) == expected[loaded]
                both[number % 2].save(path)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert os.listdir(tmp_path) == ["vocabulary"]


def test_the_format_has_a_number(tmp_path: Path) -> None:
    """If this fails, what is in a file has changed: raise FORMAT in csrc/vocab/vb_file.c, and put the new pair here."""
    tokens = [b"", *(bytes([byte]) for byte in range(256)), b"ab", b"ab", "é日".encode(), b'"x', b" the", b"word " * 9, b"\xff\x00"]
    content = save(Vocabulary(tokens, eos=[0], special={0: "</s>"}, width=300), tmp_path).read_bytes()
    if content[8] != 4:
        pytest.skip("another byte order gives other bytes")
    assert (content[16], hashlib.sha256(content).hexdigest()) == (11, "415ac2c888aaeecf92892b5d0d4b27b3e6007b70a1d590d23a46723cdb56916e")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(VocabularyError, match="it is no file"):
        Vocabulary.load(tmp_path / "pipe")
