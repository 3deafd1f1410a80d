"""`Vocabulary(slices=...)`: what is refused and why, and what becomes of slices in files, pickles and threads."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary, VocabularyError

TOKENS = [b"a", b"b", b"ab", b""]


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        (["a", "("], r"slice 1, '\(', is no regular expression that can be used: malformed"),
        (["(a"], r"slice 0, '\(a', is no regular expression"),
        ([r"(a)\1"], "slice 0, .* is no regular expression that can be used: unsupported"),
        (["\ud800"], "slice 0, .* lone surrogate"),
        (["a", r"[^\s\S]"], "slice 1, .* is of no use: it matches no text but the empty one"),
        ([""], "slice 0, '', is of no use: it matches no text but the empty one"),
        (["a", "b", "c"], "slice 2, 'c', is of no use: no token of the vocabulary begins a text of it"),
        (["a{2000}"], "slice 0, .* is of no use: it has more than 1,000 states"),
        (["a"] * 17, "there are 17 slices, more than 16"),
        (["a", 3], "slice 1 is int, not str"),
        ("ab", r"slices is a list of regular expressions, such as \['ab'\], not one str"),
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
