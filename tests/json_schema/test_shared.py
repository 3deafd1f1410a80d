"""Schemas that hold the same object in many places, or themselves: each object is looked at once, however often it is there."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarCache, SchemaError
from grammar_engine.frontends.json_schema.reading.spellings import Spellings

from .engine import accepts

TEXT = {"type": "string"}
HALF = {"type": "number", "multipleOf": Decimal("0.5")}  # which `marshal` does not know
ALLOWED = 4.0  # seconds of CPU time, for what takes a twentieth of one: it was years


def nested(step: Callable[[Any], Any], value: Any, depth: int = 40) -> Any:
    """A value with 2^depth places, and `depth` objects."""
    for _ in range(depth):
        value = step(value)
    return value


def twice(keyword: str) -> Callable[[Any], Any]:
    return lambda inner: {keyword: [inner, inner]}


def two(inner: Any) -> Any:
    return {"properties": {"a": inner, "b": inner}}


SHARED = {
    "anyOf": nested(twice("anyOf"), TEXT),
    "decimals": nested(twice("anyOf"), HALF),
    "allOf": nested(twice("allOf"), TEXT),
    "prefixItems": nested(twice("prefixItems"), TEXT),
    "properties": nested(two, TEXT),
    "not": {"not": nested(twice("anyOf"), TEXT)},
    "not at each level": nested(lambda inner: {"not": {"anyOf": [inner, inner]}}, HALF),
    "not of properties": {"not": nested(two, TEXT)},
    "oneOf": nested(lambda inner: {"oneOf": [inner, {"not": inner}]}, TEXT),
    "contains": {"type": "array", "contains": nested(two, TEXT), "maxContains": 2},
    "if": nested(lambda inner: {"if": inner, "then": inner, "else": inner}, TEXT),
    "unevaluatedProperties": nested(lambda inner: {"anyOf": [inner, inner], "unevaluatedProperties": False}, TEXT),
    "beside $ref": {"$defs": {"x": {"type": ["string", "object"]}}, **nested(lambda inner: {"$ref": "#/$defs/x", **two(inner)}, TEXT)},
    "2019-09": {"$schema": "https://json-schema.org/draft/2019-09/schema", **nested(two, HALF)},
    "const": {"const": nested(lambda inner: [inner, inner], 1)},
    "enum": {"enum": [nested(lambda inner: {"a": inner, "b": inner}, 1)]},
    "not const": {"not": {"const": nested(lambda inner: [inner, inner], 1)}},
    "default": {"default": nested(lambda inner: [inner, inner], Decimal("0.5"))},
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_parts(name: str) -> None:
    begin = time.process_time()
    Grammar.from_json_schema(SHARED[name])
    cache = GrammarCache()
    assert cache.from_json_schema(SHARED[name]) is cache.from_json_schema(SHARED[name])
    assert time.process_time() - begin < ALLOWED


@pytest.mark.parametrize("keyword", ["type", "minLength", "pattern", "required", "format", "$id"])
def test_shared_parts_of_a_bad_value(keyword: str) -> None:
    begin = time.process_time()
    with pytest.raises(SchemaError) as caught:
        Grammar.from_json_schema({keyword: nested(lambda inner: [inner, inner], 1)})
    assert len(str(caught.value)) < 200
    assert time.process_time() - begin < ALLOWED


def test_shared_parts_mean_what_copies_mean() -> None:
    shared, copied = nested(two, TEXT, 3), nested(lambda inner: two(inner).copy(), dict(TEXT), 3)
    for schema in (shared, copied):
        grammar = Grammar.from_json_schema({"allOf": [{"not": schema}]}, whitespace="compact")
        assert accepts(grammar, '{"a":{"b":{"a":1}}}')
        assert not accepts(grammar, '{"a":{"b":{"a":"1"}}}')
    constant = [1, [2]]
    grammar = Grammar.from_json_schema({"const": [constant, {"a": constant}]}, whitespace="compact")
    assert accepts(grammar, '[[1,[2]],{"a":[1,[2]]}]')


def test_of_what_holds_itself_only_the_same_is_equal() -> None:
    """As `repr` writes them, these two are the same."""
    first: dict[str, Any] = {"maxProperties": 1}
    first["properties"] = {"a": {"properties": {"a": first}}}
    inner: dict[str, Any] = {}
    inner["properties"] = {"a": inner}
    second = {"maxProperties": 1, "properties": {"a": inner}}
    assert repr(first) == repr(second)
    differing = {"required": ["z"], "allOf": [{"not": {"properties": {"z": first}}}, {"properties": {"z": second}}]}
    text = '{"z":{"a":{"a":{"a":1,"b":1}}}}'
    assert accepts(Grammar.from_json_schema({**differing, "type": "object"}, whitespace="compact"), text)


def test_spellings() -> None:
    spellings = Spellings()
    alike = [{"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}]
    apart = [
        {},
        [],
        "",
        0,
        False,
        0.0,
        None,
        Decimal(0),
        {"a": 1, "b": 2},
        {"b": 2, "a": 1},
        {"a": 2, "b": 1},
        {"a": {"b": 2}},
        [1],
        [True],
    ]
    assert len({spellings.number(value) for value in alike}) == 1
    assert len({spellings.number(value) for value in apart}) == len(apart)
    assert [spellings.number(value) for value in apart] == [spellings.number(value) for value in apart]
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert spellings.number([deep]) == spellings.number([deep])
