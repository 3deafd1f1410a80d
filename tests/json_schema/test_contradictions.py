"""A schema without instances says which of its parts contradict each other."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import UnsatisfiableSchemaError

MUTUAL = {
    "$ref": "#/$defs/a",
    "$defs": {
        "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}, "required": ["b"]},
        "b": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"]},
    },
}
SHARED = {"type": "string", "format": "hostname"}
CASES = [
    ({"enum": []}, ["/enum"]),
    ({"not": {}}, ["/not"]),
    ({"$ref": "#/$defs/a", "$defs": {"a": False}}, ["/$defs/a"]),
    ({"type": "string", "enum": [1], "title": "t"}, ["/type", "/enum"]),
    ({"type": "string", "allOf": [{"minLength": 5}, {"maxLength": 3}]}, ["/allOf/0/minLength", "/allOf/1/maxLength"]),
    ({"allOf": [{"type": "string"}, {"type": "number"}]}, ["/allOf/0/type", "/allOf/1/type"]),
    ({"allOf": [{"const": 1}, {"const": 2}, {"const": 3}]}, ["/allOf/0/const", "/allOf/1/const"]),
    ({"type": "object", "required": ["a"], "properties": {"a": False}}, ["/required", "/properties/a"]),
    ({"type": "object", "required": ["a/b"], "properties": {"a/b": False, "c": False}}, ["/required", "/properties/a~1b"]),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, ["/required", "/additionalProperties"]),
    ({"type": "object", "required": ["x"], "propertyNames": {"pattern": "^y"}}, ["/required", "/propertyNames"]),
    ({"enum": ["abc", "abd"], "pattern": "^x"}, ["/enum", "/pattern"]),
    ({"type": "string", "pattern": "^a$", "minLength": 2}, ["/pattern", "/minLength"]),
    ({"type": "array", "minItems": 3, "prefixItems": [{}, {}], "items": False}, ["/minItems", "/items"]),
    ({"type": "array", "contains": {"type": "string"}, "minContains": 2, "items": {"type": "number"}}, ["/contains", "/items/type"]),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, ["/type", "/exclusiveMinimum", "/exclusiveMaximum"]),
    ({"type": "integer", "anyOf": [{"type": "string"}, {"type": "null"}]}, ["/type", "/anyOf/0/type", "/anyOf/1/type"]),
    ({"type": "string", "minLength": 3, "if": {"type": "string"}, "then": {"maxLength": 2}}, ["/type", "/minLength", "/if", "/then"]),
    ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, ["/type", "/minimum", "/maximum"]),
    ({"allOf": [SHARED, {"not": SHARED}]}, ["/allOf/0/type", "/allOf/0/format", "/allOf/1/not"]),
    ({"oneOf": [SHARED, SHARED]}, ["/oneOf"]),
    ({"type": "array", "contains": {"type": "integer"}, "maxContains": 0}, ["/contains", "/maxContains"]),
    ({"if": True, "then": False}, ["/if", "/then"]),
]
ENDLESS = [
    ({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}, ["/required", "/properties/next/$ref"]),
    (MUTUAL, ["/$defs/a/required", "/$defs/b/required", "/$defs/a/properties/b/$ref", "/$defs/b/properties/a/$ref"]),
]


def refusal(schema: Any) -> UnsatisfiableSchemaError:
    with pytest.raises(UnsatisfiableSchemaError) as caught:
        Grammar.from_json_schema(schema)
    return caught.value


@pytest.mark.parametrize(("schema", "parts"), CASES)
def test_parts_that_contradict_each_other(schema: Any, parts: list[str]) -> None:
    error = refusal(schema)
    assert list(error.parts) == parts
    assert all(part in error.reason for part in parts)
    assert ("contradict each other" if len(parts) > 1 else "admits nothing") in error.reason


@pytest.mark.parametrize(("schema", "parts"), ENDLESS)
def test_values_without_end(schema: Any, parts: list[str]) -> None:
    error = refusal(schema)
    assert set(parts) <= set(error.parts)
    assert "without end" in error.reason


def test_among_many() -> None:
    """Two of 600 parts are found; the schema that was given is not changed."""
    branches: list[Any] = [{"properties": {f"p{i}": {"maxLength": i}}, "required": [f"p{i}"]} for i in range(300)]
    schema = {"type": "object", "allOf": [*branches, {"properties": {"p3": {"type": "string", "minLength": 10}}}]}
    before = pickle.dumps(schema)
    parts = ("/allOf/3/required", "/allOf/3/properties/p3/maxLength", "/allOf/300/properties/p3/minLength")
    assert set(parts) <= set(refusal(schema).parts)
    assert pickle.dumps(schema) == before


def test_too_large_to_explain() -> None:
    error = refusal({"allOf": [{"const": 1}, {"const": 2}, *({} for _ in range(40_000))]})
    assert error.parts == ()
    assert "its parts contradict each other" in error.reason


def test_shared_parts() -> None:
    """A Python value may hold the same object twice, or itself."""
    short: dict[str, Any] = {"maxLength": 3}
    loop: dict[str, Any] = {"type": "string", "allOf": [short, {"minLength": 5}, {"anyOf": [short, short]}]}
    loop["items"] = loop
    assert refusal(loop).parts == ("/allOf/0/maxLength", "/allOf/1/minLength")


def test_pickled() -> None:
    error = pickle.loads(pickle.dumps(refusal({"allOf": [{"const": 1}, {"const": 2}]})))
    assert error.parts == ("/allOf/0/const", "/allOf/1/const")
