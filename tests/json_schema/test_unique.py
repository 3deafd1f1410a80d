"""`uniqueItems`: every array of a small world against `jsonschema`, equal values in other spellings, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar
from grammar_engine.errors import UnsatisfiableSchemaError, UnsupportedSchemaError

from .engine import accepts, dump

VALUES: list[Any] = [None, 1, 2, "x", "y"]
ARRAYS: list[Any] = [list(items) for n in range(5) for items in itertools.product(VALUES, repeat=n)]

SCHEMAS: dict[str, Any] = {
    "listed": {"items": {"enum": [1, 2, "x", None]}},
    "listed, counted": {"items": {"enum": [1, 2, "x"]}, "minItems": 2, "maxItems": 3},
    "listed and a pattern": {"items": {"enum": ["x", "y", "z"], "pattern": "x|y"}},
    "integers": {"items": {"type": "integer", "minimum": 1}},
    "few integers": {"items": {"type": "integer", "minimum": 1, "maximum": 3}, "minItems": 3},
    "strings": {"items": {"type": "string"}},
    "few strings": {"items": {"type": "string", "pattern": "^[xyz]$"}},
    "scalars": {"items": {"type": ["string", "integer", "null"]}},
    "contains": {"items": {"enum": [1, 2, "x", "y"]}, "contains": {"type": "integer"}, "minItems": 2},
    "contains at most one": {"items": {"type": ["integer", "string"]}, "contains": {"type": "integer"}, "maxContains": 1},
    "a prefix of other types": {"prefixItems": [{"type": "null"}], "items": {"type": "integer"}},
    "a tuple": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
    "a tuple of one type": {"prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": False, "minItems": 1},
    "a tuple of booleans": {"prefixItems": [{"type": "boolean"}, {"type": "boolean"}], "items": False},
    "a tuple and more of its type": {"prefixItems": [{"type": "string"}, {"type": ["string", "null"]}], "items": {"type": "string"}},
    "a tuple and at least one more": {
        "prefixItems": [{"type": "integer"}],
        "items": {"type": ["integer", "string"]},
        "minItems": 2,
        "maxItems": 3,
    },
    "one of several": {"oneOf": [{"items": {"type": "integer"}}, {"items": {"type": "string"}, "minItems": 1}]},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_equals_jsonschema(name: str) -> None:
    schema = {"type": "array", "uniqueItems": True, **SCHEMAS[name]}
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    assert [a for a in ARRAYS if accepts(grammar, dump(a)) != validator.is_valid(a)] == []


@pytest.mark.parametrize(
    ("items", "accepted", "refused"),
    [
        ({"type": "number"}, "[1, 1.5, -1] | [1e20, 1e21]", "[1, 1.0] | [1.50, 1.5] | [0, -0] | [100, 1e2] | [100, 1.00e+02]"),
        ({"type": "integer"}, "[1, 10, -1]", "[1, 1.0] | [0, -0.0] | [10000000000000000, 1e16]"),
        ({"enum": [1, 2.5, "a"]}, '[1, "a", 2.5]', '[1.0, 1] | [2.50, 2.5] | ["a", "a"]'),
        ({"type": "string"}, r'["a", "b"] | ["\n", "n"]', r'["a", "a"] | ["a", "\u0061"] | ["\n", "\u000a"]'),
        ({"type": "boolean"}, "[true, false]", "[true, true] | [true, false, true]"),
        ({"type": ["boolean", "integer", "string"]}, '[true, 1, "true", "1"]', "[true, 1, true]"),
    ],
    ids=lambda value: dump(value) if isinstance(value, dict) else "",
)
def test_equal_in_any_spelling(items: Any, accepted: str, refused: str) -> None:
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": items}, escapes="all")
    assert [text for text in accepted.split(" | ") if not accepts(grammar, text)] == []
    assert [text for text in refused.split(" | ") if accepts(grammar, text)] == []


def test_a_surrogate_pair_is_its_character() -> None:
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": {"type": "string"}}, escapes="all")
    assert accepts(grammar, '["😀", "\\ud83d\\ude01"]')
    assert not accepts(grammar, '["😀", "\\ud83d\\ude00"]')


@pytest.mark.parametrize(
    "items",
    [
        {"enum": [1, 2]},
        {"type": "boolean"},
        {"type": "integer", "minimum": 1, "maximum": 2},
        {"type": "number", "multipleOf": 0.25, "minimum": 1, "exclusiveMaximum": 1.5},
        {"type": "integer", "minimum": 0, "maximum": 12, "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]},
        {"type": "integer", "minimum": 1, "maximum": 4, "not": {"multipleOf": 2}},
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 1}, {"enum": [1, 2]}]},
    ],
    ids=dump,
)
def test_no_more_items_than_values(items: Any) -> None:
    """Each of these has two values."""
    schema = {"type": "array", "uniqueItems": True, "items": items}
    Grammar.from_json_schema({**schema, "minItems": 2})
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({**schema, "minItems": 3})


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({}, "arrays or objects"),
        ({"items": {"type": "object"}}, "arrays or objects"),
        ({"items": {"type": ["string", "array"]}}, "arrays or objects"),
        ({"prefixItems": [{"type": "string"}, {"minLength": 2}], "items": False}, "by position"),
        ({"prefixItems": [{"type": "boolean"}] * 3, "items": False}, "by position"),
    ],
    ids=lambda value: dump(value) if isinstance(value, dict) else "",
)
def test_refused(schema: Any, reason: str) -> None:
    schema = {"properties": {"a": {"type": "array", "uniqueItems": True, **schema}}}
    with pytest.raises(UnsupportedSchemaError, match=reason) as caught:
        Grammar.from_json_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "uniqueItems")
    relaxed = Grammar.from_json_schema(schema, lenient=True)
    assert [(e.pointer, e.keyword) for e in relaxed.report.relaxed] == [("/properties/a", "uniqueItems")]
    assert accepts(relaxed, '{"a": []}')


def test_where_it_says_nothing() -> None:
    assert accepts(Grammar.from_json_schema({"type": "array", "uniqueItems": True, "maxItems": 1}), "[{}]")
    assert accepts(Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": False}), "[]")
    assert accepts(Grammar.from_json_schema({"uniqueItems": True, "type": "object"}), "{}")
    at_most_one = {"type": "array", "uniqueItems": True, "prefixItems": [{"type": "object"}], "items": {"type": "string"}}
    assert accepts(Grammar.from_json_schema(at_most_one), '[{}, "a", "b"]')
    assert not accepts(Grammar.from_json_schema(at_most_one), '[{}, "a", "a"]')


def test_negation_is_refused() -> None:
    with pytest.raises(UnsupportedSchemaError, match="two items that are equal"):
        Grammar.from_json_schema({"not": {"type": "array", "uniqueItems": True}})
