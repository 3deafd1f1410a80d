"""White space: where it may stand under each option."""

from __future__ import annotations

import json

import numpy as np
import pytest

from grammar_engine import Grammar

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
