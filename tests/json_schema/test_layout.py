"""White space: where it may stand under each option."""

from __future__ import annotations

import json

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


def test_separators() -> None:
    g = grammar((", ", ": "))
    assert accepts(g, json.dumps(VALUE))
    assert not accepts(g, json.dumps(VALUE, separators=(",", ":")))
    assert not accepts(g, json.dumps(VALUE, indent=1))


@pytest.mark.parametrize("whitespace", ["none", ("", ":"), (",", ": x"), (",",), (",", 3)])
def test_bad_options(whitespace: object) -> None:
    with pytest.raises(ValueError, match=r"whitespace|separators"):
        grammar(whitespace)


@pytest.mark.parametrize("whitespace", [None, 3, {",": ":"}])
def test_no_option_at_all(whitespace: object) -> None:
    with pytest.raises(TypeError, match="whitespace is a str or a pair of separators, not "):
        grammar(whitespace)
