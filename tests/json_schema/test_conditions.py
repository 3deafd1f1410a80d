"""Conditions on members of any name: negated `additionalProperties` and their like, and counts. Small worlds, against `jsonschema`."""

from __future__ import annotations

import itertools
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar
from grammar_engine.errors import UnsatisfiableSchemaError, UnsupportedSchemaError

from .engine import accepts, accepts_value, dump

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
OBJECTS: list[Any] = [
    dict(zip(names, values))
    for n in range(4)
    for names in itertools.combinations(["a", "b", "ab", "c"], n)
    for values in itertools.product([1, 2, "x"], repeat=n)
]

SCHEMAS: dict[str, Any] = {
    "not additionalProperties": {"not": {"additionalProperties": INTEGER}},
    "not closed": {"not": {"properties": {"a": True}, "additionalProperties": False}},
    "not additionalProperties after others": {
        "not": {"properties": {"a": True}, "patternProperties": {"b": {"const": "x"}}, "additionalProperties": INTEGER}
    },
    "not patternProperties": {"not": {"patternProperties": {"^a": INTEGER}}},
    "not patternProperties false": {"not": {"patternProperties": {"^a": False}}},
    "not propertyNames": {"not": {"propertyNames": {"pattern": "^a"}}},
    "not not": {"not": {"not": {"properties": {"a": {"const": 1}}, "patternProperties": {"b": INTEGER}, "additionalProperties": TEXT}}},
    "two witnesses": {"allOf": [{"not": {"additionalProperties": INTEGER}}, {"not": {"additionalProperties": TEXT}}]},
    "two witnesses of one member": {"allOf": [{"not": {"additionalProperties": {"const": v}}} for v in (1, 2)], "maxProperties": 1},
    "a witness among named keys": {"properties": {"a": INTEGER, "b": TEXT}, "not": {"additionalProperties": INTEGER}},
    "a witness in a closed object": {
        "properties": {"a": True, "b": INTEGER},
        "additionalProperties": False,
        "not": {"additionalProperties": INTEGER},
    },
    "a witness of one pattern": {"patternProperties": {"a": INTEGER, "b": TEXT}, "not": {"patternProperties": {"b": {"const": "y"}}}},
    "minProperties 1": {"minProperties": 1},
    "minProperties 3": {"minProperties": 3, "properties": {"a": INTEGER}},
    "maxProperties 0": {"maxProperties": 0},
    "maxProperties 1": {"maxProperties": 1, "properties": {"a": INTEGER, "b": TEXT}},
    "exactly two": {"minProperties": 2, "maxProperties": 2, "required": ["b"], "properties": {"a": True}},
    "closed and counted": {"properties": {"a": True, "b": True, "c": True}, "additionalProperties": False, "minProperties": 2},
    "not counted": {"not": {"minProperties": 1, "maxProperties": 2}},
    "oneOf of open goals": {"oneOf": [{"additionalProperties": {"const": 1}}, {"properties": {"a": {"const": 2}}}]},
    "oneOf of patterns": {"oneOf": [{"patternProperties": {"^a": INTEGER}}, {"patternProperties": {"b$": INTEGER}}]},
    "oneOf closed": {
        "oneOf": [
            {"properties": {"a": INTEGER, "b": TEXT}, "additionalProperties": False},
            {"properties": {"a": INTEGER, "c": TEXT}, "additionalProperties": False},
            {"properties": {"a": {"const": 1}}, "required": ["a"]},
        ]
    },
    "oneOf required": {"oneOf": [{"required": [name]} for name in ("a", "b", "ab", "c")]},
    "oneOf by a key of any type": {
        "oneOf": [
            {"required": ["a", "b"], "properties": {"a": {"const": 1}, "b": INTEGER}},
            {"required": ["a"], "properties": {"a": {"enum": ["x", 2]}}},
            {"required": ["a", "b"], "properties": {"a": True, "b": TEXT}},
        ]
    },
    "if": {"if": {"additionalProperties": INTEGER}, "then": {"required": ["a"]}, "else": {"maxProperties": 2}},
}


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_equals_jsonschema(name: str, order: str) -> None:
    schema = {"type": "object", **SCHEMAS[name]}
    grammar, validator = Grammar.from_json_schema(schema, property_order=order), jsonschema.Draft202012Validator(schema)
    wrong = []
    for value in OBJECTS:
        accepted = accepts_value(grammar, value) if order == "schema" else accepts(grammar, dump(value))
        if accepted != validator.is_valid(value):
            wrong.append(value)
    assert wrong == []


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"additionalProperties": True}},
        {"additionalProperties": INTEGER, "not": {"additionalProperties": INTEGER}},
        {"maxProperties": 0, "not": {"propertyNames": {"pattern": "^a"}}},
        {"properties": {"a": INTEGER}, "additionalProperties": False, "not": {"additionalProperties": INTEGER}},
        {"properties": {"a": True}, "additionalProperties": False, "minProperties": 2},
        {"propertyNames": {"enum": ["a", "b"]}, "minProperties": 3},
    ],
    ids=dump,
)
def test_no_instance(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({"type": "object", **schema})


def test_a_witness_is_not_overwritten() -> None:
    """Most readers keep the last of two members with the same key, so the key of what may be a witness is not repeated."""
    grammar = Grammar.from_json_schema({"type": "object", "not": {"additionalProperties": INTEGER}})
    assert accepts(grammar, '{"k": "x", "l": 1}')
    assert not accepts(grammar, '{"k": "x", "k": 1}')
    assert not accepts(grammar, '{"k": 1, "k": "x"}')
    escaped = Grammar.from_json_schema({"type": "object", "not": {"additionalProperties": INTEGER}}, escapes="all")
    assert not accepts(escaped, '{"k": "x", "\\u006b": 1}')


def test_repeated_keys_are_not_counted_as_several() -> None:
    grammar = Grammar.from_json_schema({"type": "object", "minProperties": 2})
    assert accepts(grammar, '{"k": 1, "l": 1}')
    assert not accepts(grammar, '{"k": 1, "k": 2}')
    at_most = Grammar.from_json_schema({"type": "object", "maxProperties": 2})
    assert accepts(at_most, '{"k": 1, "k": 2}'), "one member or two, it is not too many"
    assert not accepts(at_most, '{"k": 1, "k": 2, "l": 3}')


def test_unique_keys() -> None:
    schema = {"type": "object", "properties": {"a": INTEGER}}
    grammar = Grammar.from_json_schema(schema, unique_keys=True)
    assert accepts(grammar, '{"a": 1, "k": 1, "l": 1}')
    assert not accepts(grammar, '{"a": 1, "k": 1, "k": 1}')
    assert not grammar.report.notes
    assert accepts(Grammar.from_json_schema(schema), '{"a": 1, "k": 1, "k": 1}')


def test_recursive() -> None:
    """A tree in which some child of each node is a leaf."""
    grammar = Grammar.from_json_schema(
        {
            "type": ["object", "null"],
            "additionalProperties": {"$ref": "#"},
            "not": {"type": "object", "additionalProperties": {"type": "object"}},
        }
    )
    assert accepts(grammar, '{"a": null, "b": {"c": null}}')
    assert not accepts(grammar, '{"b": {"c": null}}')
    assert not accepts(grammar, '{"a": null, "b": {"c": {}}}')


def test_not_of_itself() -> None:
    grammar = Grammar.from_json_schema({"properties": {"a": {"not": {"$ref": "#"}}}, "additionalProperties": False, "type": "object"})
    assert accepts(grammar, '{"a": 1}')
    assert accepts(grammar, '{"a": {"b": 1}}')
    assert not accepts(grammar, '{"a": {"a": 1}}')


def test_many_counted_properties() -> None:
    """Counting multiplies nothing out."""
    names = [f"p{i}" for i in range(300)]
    schema = {
        "type": "object",
        "properties": dict.fromkeys(names, INTEGER),
        "additionalProperties": False,
        "minProperties": 100,
        "maxProperties": 200,
    }
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, dump(dict.fromkeys(names[150:], 1)))
    assert not accepts(grammar, dump(dict.fromkeys(names[201:], 1)))
    assert not accepts(grammar, dump(dict.fromkeys(names[:201], 1)))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 2**31},
        {"type": "array", "maxItems": 2**31},
        {"type": "object", "maxProperties": 2**31},
    ],
    ids=dump,
)
def test_the_highest_counts_have_negations(schema: Any) -> None:
    for limited in (schema, {**schema, "not": schema}, {"not": schema}):
        try:
            Grammar.from_json_schema(limited)
        except UnsatisfiableSchemaError:
            assert "type" in limited and "not" in limited
    with pytest.raises(UnsupportedSchemaError, match="counts end at"):
        Grammar.from_json_schema({"minLength": 2**31 + 1})
    assert Grammar.from_json_schema({"maxItems": 2**31 + 1}).report.notes[0].keyword == "maxItems"
