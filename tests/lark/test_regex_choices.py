"""The two small front ends: a regular expression, a list of choices."""

from __future__ import annotations

import time

import pytest

from grammar_engine.errors import GrammarError
from grammar_engine.frontends import choices, regex
from grammar_engine.ir import Builder
from oracle.earley import Recogniser


def accepts(builder: Builder, content: bytes) -> bool:
    recogniser = Recogniser(builder)
    state = recogniser.run(content)
    return state is not None and recogniser.is_sentence(state)


def test_regex_matches_the_whole_text() -> None:
    builder = Builder()
    report = regex.build(builder, r"\d{3}-\d{4}|a\0?")
    assert [text for text in (b"555-1234", b"a", b"a\0", "٣٣٣-٣٣٣٣".encode(), b"555-12345", b"", b"ab") if accepts(builder, text)] == [
        b"555-1234",
        b"a",
        b"a\0",
        "٣٣٣-٣٣٣٣".encode(),
    ]
    assert len(report.enforced) == 1


def test_regex_dialects_differ() -> None:
    builder = Builder()
    regex.build(builder, r"\d", dialect="ecma")
    assert accepts(builder, b"3") and not accepts(builder, "٣".encode())


def test_regex_bad_arguments() -> None:
    with pytest.raises(TypeError):
        regex.build(Builder(), b"a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dialect"):
        regex.build(Builder(), "a", dialect="perl")
    with pytest.raises(GrammarError) as caught:
        regex.build(Builder(), "ab\ud800")
    assert caught.value.offset == 2


def test_choices() -> None:
    builder = Builder()
    choices.build(builder, ["yes", b"no\xff", "", "yes", "né", "no"])
    accepted = [text for text in (b"yes", b"no\xff", b"", "né".encode(), b"no", b"n", b"yesno", b"No") if accepts(builder, text)]
    assert accepted == [b"yes", b"no\xff", b"", "né".encode(), b"no"]


def test_one_choice() -> None:
    for only in ("a", ""):
        builder = Builder()
        choices.build(builder, iter([only]))
        assert accepts(builder, only.encode()) and not accepts(builder, b"b")


def test_choices_bad_arguments() -> None:
    with pytest.raises(GrammarError, match="no choices"):
        choices.build(Builder(), [])
    with pytest.raises(TypeError, match="choice 1 "):
        choices.build(Builder(), ["a", 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="not one string"):
        choices.build(Builder(), "yes")
    with pytest.raises(GrammarError, match="choice 1 "):
        choices.build(Builder(), ["a", "b\ud800"])


def test_many_choices_are_quick() -> None:
    many = [f"choice number {i}, é" for i in range(50_000)]
    begin = time.thread_time()
    builder = Builder()
    choices.build(builder, many)
    assert time.thread_time() - begin < 1
    assert builder.rule_records[1:] == [1, 0]  # one rule: start is the one lexeme
