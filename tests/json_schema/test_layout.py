"""White space: where it may stand under each option."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

from grammar_engine import Grammar, LimitExceededError, Limits

from .engine import accepts

SCHEMA = {"properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "null"}}, "additionalProperties": False}
VALUE = {"a": [1, 2], "b": None}
SPACED = ' { "a" : [ 1 , 2 ] , "b" : null } '


def grammar(whitespace: object) -> Grammar:
    return Grammar.from_json_schema(SCHEMA, whitespace=whitespace)  # type: ignore[arg-type]


def test_flexible() -> None:
    g = grammar("flexible")
    for text in (
        SPACED,
        SPACED.replace(" ", "\r\n\t "),
        json.dumps(VALUE),
        json.dumps(VALUE, indent=4),
        json.dumps(VALUE, separators=(",", ":")),
    ):
        assert accepts(g, text), text
    assert not accepts(g, SPACED.replace(" ", "\u00a0"))


def test_compact() -> None:
    g = grammar("compact")
    assert accepts(g, '{"a":[1,2],"b":null}')
    for text in ('{"a":[1, 2]}', '{"a": []}', " {}", "{} ", "{ }"):
        assert not accepts(g, text), text


def test_bounded() -> None:
    g = grammar("bounded")
    for text in (
        json.dumps(VALUE),
        json.dumps(VALUE, indent=4),
        SPACED.strip(),
        SPACED.strip().replace(" ", "  "),
        '{\r\n"a": []}',
        "{\n" + " " * 40 + "}",
    ):
        assert accepts(g, text), text
    for text in (" {}", "{} ", "{}\n", "{   }", "{\n\n}", "{\n" + " " * 41 + "}", "{\t}"):
        assert not accepts(g, text), text


@pytest.mark.parametrize(
    ("schema", "text"), [({"type": "integer"}, "1"), ({"enum": ["a"]}, '"a"'), ({"type": "array"}, "[[]]"), ({}, "{}")]
)
def test_bounded_texts_end_at_once(schema: dict, text: str) -> None:
    g = Grammar.from_json_schema(schema, whitespace="bounded")
    assert accepts(g, text)
    assert not accepts(g, text + " ")


@pytest.mark.parametrize("most", [0, 1, 3, np.int64(2)])
def test_at_most_so_many_characters(most: int) -> None:
    g = grammar(most)
    parts = SPACED.split()
    for n in range(6):
        for space in (" " * n, "\n" * n, "\t\r \n "[:n]):
            assert accepts(g, space.join(parts)) == (n <= most)
            for at in range(1, len(parts)):  # each gap by itself
                assert accepts(g, "".join(parts[:at]) + space + "".join(parts[at:])) == (n <= most)
            assert accepts(g, space + "".join(parts)) == accepts(g, "".join(parts) + space) == (n == 0)


@pytest.mark.parametrize("most", [-1, 1001])
def test_numbers_that_are_none(most: int) -> None:
    with pytest.raises(ValueError, match="whitespace is at least 0 and at most 1,000"):
        grammar(most)


@pytest.mark.parametrize("pattern", ["[ ]?", r"(\n {0,2}| )?", r"(?: |\t\t)*", r"(?!\r)[ \r\n]{0,2}", ""])
def test_what_a_pattern_matches(pattern: str) -> None:
    g = grammar(pattern)
    parts = SPACED.split()
    for space in ("".join(signs) for n in range(4) for signs in itertools.product(" \t\n\r", repeat=n)):
        is_one = re.fullmatch(pattern, space) is not None
        assert accepts(g, space.join(parts)) == is_one
        assert accepts(g, space + "".join(parts)) == accepts(g, "".join(parts) + space) == (space == "")
    for at in range(1, len(parts)):  # each gap by itself
        for space in (" ", "\n ", "\n   ", "\t\t", "\r", "x"):
            assert accepts(g, "".join(parts[:at]) + space + "".join(parts[at:])) == (re.fullmatch(pattern, space) is not None)


def test_a_pattern_is_one_of_the_option() -> None:
    """Several grammars of a process begin with the same punctuation."""
    assert grammar("[ ]?").to_bytes() == grammar("[ ]?").to_bytes() != grammar("[ ]{0,2}").to_bytes()


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("none", "'none' matches other text than blanks, tabs and line ends"),
        (r"\s*", "matches other text than blanks, tabs and line ends"),
        ("[ x]?", "matches other text than blanks, tabs and line ends"),
        ("\u00a0?", "is none of JSON"),
        ("\ud800?", "is none of JSON"),
        (" ", "' ' does not match the empty text"),
        (r"[^\s\S]", "does not match the empty text"),
        ("( ?", "malformed regular expression: ( without )"),
        (r"( ?)\1", "back-reference: what a group matched cannot be matched again"),
        ("(" * 1000 + " ?" + ")" * 1000, "is nested too deeply or too large"),
    ],
)
def test_patterns_of_other_text(pattern: str, reason: str) -> None:
    beginning = 'whitespace is "flexible", "bounded", "compact", a number, a pair of separators or a regular expression of white space'
    for _ in range(2):  # what was refused once is not remembered as right
        for make in (
            lambda: grammar(pattern),
            lambda: Grammar.from_lark('start: "a"', schema_options={"whitespace": pattern}),
        ):
            with pytest.raises(ValueError, match=re.escape(reason)) as error:
                make()
            assert str(error.value).startswith(beginning)


@pytest.mark.parametrize("lenient", [False, True])
def test_a_limit_that_a_pattern_meets(lenient: bool) -> None:
    """It is no limit of the schema, which would be given up for it."""
    with pytest.raises(LimitExceededError, match=re.escape("groups of the regular expression '((( ?)))'")) as caught:
        Grammar.from_json_schema({"pattern": "^a$"}, whitespace="((( ?)))", lenient=lenient, limits=Limits(max_regex_nesting=2))
    assert caught.value.where is None


def test_separators() -> None:
    g = grammar((", ", ": "))
    assert accepts(g, json.dumps(VALUE))
    assert not accepts(g, json.dumps(VALUE, separators=(",", ":")))
    assert not accepts(g, json.dumps(VALUE, indent=1))


@pytest.mark.parametrize("whitespace", ["none", ("", ":"), (",", ": x"), (",",), (",", 3)])
def test_bad_options(whitespace: object) -> None:
    with pytest.raises(ValueError, match=r"whitespace|separators"):
        grammar(whitespace)


@pytest.mark.parametrize("whitespace", [None, 3.0, True, {",": ":"}])
def test_no_option_at_all(whitespace: object) -> None:
    with pytest.raises(TypeError, match="whitespace is a str, a number or a pair of separators, not "):
        grammar(whitespace)
