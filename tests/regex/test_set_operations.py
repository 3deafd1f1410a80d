"""Sets in which other dialects would read operations on sets: the report says where, and the meaning is that of Python's `re`."""

from __future__ import annotations

import contextlib
import random
import re
import time
import warnings

import pytest

from grammar_engine import Grammar, GrammarSyntaxError, Matcher, Tag, Vocabulary

WHAT = "possible set operation"


def places(grammar: Grammar) -> list[str]:
    return [note.pointer for note in grammar.report.notes if note.keyword == WHAT]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("[a-z&&[^x]]", ["1:5"]),
        ("[a-z--[x]]", ["1:5"]),
        ("[a~~b]", ["1:3"]),
        ("[a||b]", ["1:3"]),
        ("[a[b]]", ["1:3"]),
        ("[a[b]c]", ["1:3"]),
        ("[[a]", ["1:2"]),
        ("é[a&&b]\n[^c||d]", ["1:4", "2:4"]),
        ("[]&&]", ["1:3"]),
        ("(?x) a # [b&&c]\n [b&&c]", ["2:4"]),
        ("[+--]", ["1:3"]),
        (r"(?#\)[b&&c])[b&&c]", ["1:15"]),
        ("(?x) a # \\\n[b&&c]\n[b&&c]", ["3:3"]),
        (r"[a\&&b][a\[b]]\[a&&b]", []),
        ("(?#[a&&b])[&&][^--a][a&b-]a&&b", []),
        (r"[^[]x[({[]", []),  # no set within a set: what closes it is missing
    ],
)
def test_they_are_noted_with_their_place(pattern: str, found: list[str]) -> None:
    assert places(Grammar.from_regex(pattern)) == found


def test_in_ecma_a_bracket_that_closes_is_no_member() -> None:
    assert places(Grammar.from_regex("[^]][a&&b]|[]", dialect="ecma")) == ["1:7"]
    assert places(Grammar.from_regex("[^]][a&&b]")) == ["1:7"]


def test_in_structural_tags_and_tags() -> None:
    node = {"type": "structural_tag", "format": {"type": "regex", "pattern": "[a-z&&[^x]]"}}
    report = Grammar.from_structural_tag(node).report
    assert [note.pointer for note in report.notes] == ["/format/pattern#1:5"]
    assert report.enforced[0].pointer == "/format/pattern"
    report = Grammar.from_tags([Tag("<a>", Grammar.from_regex("[a||b]"), "</a>")]).report
    assert [note.pointer for note in report.notes] == ["<a>#1:3"]


def test_in_lark_terminals_each_place_once() -> None:
    text = 'start: A B\nA: /[a-z&&[^x]]/ | /[a-z&&[^x]]/\nB: "[a&&b]" | /x\n  [a||b]/x\n'
    report = Grammar.from_lark(text).report
    assert [note.pointer for note in report.notes if note.keyword == WHAT] == ["2:9", "2:25", "4:5"]
    assert "the intersection" in report.notes[0].detail and r"\&" in report.notes[0].detail


def test_python_warns_of_all_that_are_noted_but_sets_within_sets() -> None:
    rng = random.Random(0)
    n_noted = 0
    for _ in range(2000):
        pattern = "[" + "".join(rng.choices("ab&&--~~||\\^", k=rng.randrange(1, 7))) + "]"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            re.purge()
            try:
                re.compile(pattern)
            except re.error:
                continue
        try:
            noted = places(Grammar.from_regex(pattern))
        except GrammarSyntaxError:
            continue
        n_noted += bool(noted)
        if caught:
            assert noted, pattern
    assert n_noted > 100


def test_the_meaning_stays() -> None:
    for pattern in ("[a-z&&[^x]]", "[a[b]]", "[a||b]"):
        grammar = Grammar.from_regex(pattern)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            judge = re.compile(pattern)
        for text in ("a", "x", "&", "a]", "[]", "b]", "|", "^]"):
            matcher = Matcher(grammar, Vocabulary.bytes())
            assert (matcher.accept_bytes(text.encode()) and matcher.is_complete) == (judge.fullmatch(text) is not None)


@pytest.mark.parametrize(
    "pattern", ["[" * 200_000, "(?#" * 100_000, "[a[" * 100_000, "[a[]" * 50_000, "[x" + "[y" * 50_000 + "]" + "z" * 100_000]
)
def test_linear(pattern: str) -> None:
    begin = time.process_time()
    with contextlib.suppress(GrammarSyntaxError):
        Grammar.from_regex(pattern)
    assert time.process_time() - begin < 5
