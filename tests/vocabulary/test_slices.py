"""`Vocabulary(slices=...)`: what is refused and why, and what becomes of slices in files, pickles and threads."""

from __future__ import annotations

import pickle
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary, VocabularyError
from grammar_engine.vocabularies import slices as _slices

TOKENS = [b"a", b"b", b"ab", b""]


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        (["a", "("], r"slice 1, '\(', is no regular expression that can be used: malformed"),
        (["(a"], r"slice 0, '\(a', is no regular expression"),
        ([r"(a)\1"], "slice 0, .* is no regular expression that can be used: unsupported"),
        (["\ud800"], "slice 0, .* lone surrogate"),
        (["a", r"[^\s\S]"], "slice 1, .* is of no use: it matches no text, or only the empty one"),
        ([""], "slice 0, '', is of no use: it matches no text, or only the empty one"),
        (["a", "b", "c"], "slice 2, 'c', is of no use: no token of the vocabulary begins a text of it"),
        (["a{2000}"], "slice 0, .* is of no use: it has more than 1,000 states"),
        (["a"] * 17, "there are 17 slices, more than 16"),
        (["a", 3], "slice 1 is int, not str"),
        ("ab", "slices is a list of regular expressions, not str: 'ab'"),
        (["c" * 100], r"slice 0, 'c{57}\.\.\.', is of no use"),
    ],
)
def test_slices_that_are_refused(slices: list[str], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary(TOKENS, eos=[3], slices=slices)


def test_sixteen_slices_may_be_listed() -> None:
    vocabulary = Vocabulary(TOKENS, eos=[3], slices=(f"a{{{n}}}b*" for n in range(1, 17)))
    assert len(vocabulary.slices or ()) == 16
    assert Matcher(Grammar.from_regex("a+b"), vocabulary).allowed_tokens() == [0, 2]


def test_slices_of_constructors() -> None:
    assert Vocabulary.bytes().slices is None
    assert Vocabulary.bytes(slices=()).slices == ()
    assert Vocabulary.builtin(slices=["[a-z]+"]).slices == ("[a-z]+",)
    assert Vocabulary.bytes(slices=["a"]) == Vocabulary.bytes()


def test_slices_are_saved_and_pickled(tmp_path: Path) -> None:
    for slices in (None, (), ("[a-z]+", r"\w+")):
        vocabulary = Vocabulary.builtin(slices=slices)
        vocabulary.save(tmp_path / "saved")
        for other in (Vocabulary.load(tmp_path / "saved"), pickle.loads(pickle.dumps(vocabulary))):
            assert other.slices == slices
            assert other.fingerprint == vocabulary.fingerprint
            grammar = Grammar.from_lark('start: (X | "=")+\nX: /[a-z]*(if|do)[a-z]*/\n')
            assert bytes(Matcher(grammar, other).mask()) == bytes(Matcher(grammar, vocabulary).mask())
            assert (grammar.stats.slice_hits > 0) == bool(slices)


def test_a_slice_that_is_bad_in_a_list_leaves_no_trace() -> None:
    with pytest.raises(VocabularyError):
        Vocabulary(TOKENS, eos=[3], slices=["a", "c"])
    assert Matcher(Grammar.from_regex("a+b"), Vocabulary(TOKENS, eos=[3], slices=["a"])).allowed_tokens() == [0, 2]


def test_threads_that_are_the_first_to_need_it(tmp_path: Path) -> None:
    Vocabulary.builtin(slices=["[a-z]+"]).save(tmp_path / "saved")
    vocabulary = Vocabulary.load(tmp_path / "saved")
    gate, found = threading.Barrier(8), []

    def work() -> None:
        grammar = Grammar.from_regex("[a-z]+(if|do)")
        gate.wait()
        found.append(bytes(Matcher(grammar, vocabulary).mask()))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("slices", "named"),
    [(["a", "a", "q"], "slice 2, 'q',"), (["a", "(a)", "b", "[q]"], "slice 3, '[q]',"), (["a", "a", "b{2000}"], "slice 2, 'b{2000}',")],
)
def test_of_equal_slices_the_others_keep_their_numbers(slices: list[str], named: str) -> None:
    with pytest.raises(VocabularyError, match=re.escape(named)):
        Vocabulary([b"a", b"b", b"ab", b""], eos=[3], slices=slices)


def test_a_slice_may_be_listed_twice() -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    twice = Vocabulary([*tokens, b""], eos=[256], slices=["[a-z]+"] * 4 + ["(?:[a-z]+)"])
    grammar = Grammar.from_regex("[a-z]*(if|do)[a-z]*")
    assert bytes(Matcher(grammar, twice).mask()) == bytes(Matcher(grammar, Vocabulary([*tokens, b""], eos=[256], slices=())).mask())


def test_a_slice_that_takes_too_long_is_named() -> None:
    looks = "".join(f"(?=.*{chr(0x400 + i)})" for i in range(60)) + ".*"
    with pytest.raises(VocabularyError, match=r"slice 1, .* it takes too long"):
        Vocabulary([bytes([byte]) for byte in range(256)] + [b""], eos=[256], slices=["a", looks])


def test_slices_are_made_once_more_where_what_follows_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The core has the slices of a vocabulary from a file; then something fails; the next matcher goes on from there."""
    Vocabulary.builtin(slices=["[a-z]+", r"\d+"]).save(tmp_path / "v")
    loaded = Vocabulary.load(tmp_path / "v")
    real = _slices.check

    def failing(status: int, err: Any) -> None:
        real(status, err)
        raise MemoryError

    monkeypatch.setattr(_slices, "check", failing)
    with pytest.raises(MemoryError):
        Matcher(Grammar.from_regex("[a-z]+"), loaded)
    monkeypatch.undo()
    assert Matcher(Grammar.from_regex("[a-z]+"), loaded).accept_bytes(b"ab")


@pytest.mark.parametrize("slices", ["a", b"a", bytearray(b"a"), 5])
def test_what_is_no_list_is_refused(slices: Any) -> None:
    with pytest.raises(VocabularyError, match="slices is a list of regular expressions"):
        Vocabulary([b"a", b""], eos=[1], slices=slices)
