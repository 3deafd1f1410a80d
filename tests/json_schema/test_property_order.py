"""`property_order`: which orders of keys a text may have."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from grammar_engine import Grammar

from .engine import accepts, dump

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
SCHEMA = {"type": "object", "properties": {"a": INTEGER, "b": TEXT, "c": True}, "required": ["b"], "additionalProperties": INTEGER}


def written(members: tuple[tuple[str, Any], ...]) -> str:
    return "{" + ", ".join(f"{dump(key)}: {dump(value)}" for key, value in members) + "}"


@pytest.mark.parametrize(
    "extra", [{}, {"minProperties": 3}, {"maxProperties": 3}, {"not": {"patternProperties": {"^[bz]": INTEGER}}}], ids=dump
)
def test_any_order_admits_the_orders_of_what_the_schema_order_admits(extra: Any) -> None:
    ordered, free = (Grammar.from_json_schema({**SCHEMA, **extra}, property_order=order) for order in ("schema", "any"))
    members = [("a", 1), ("b", "x"), ("c", "x"), ("z", 1)]
    for n in range(5):
        for chosen in itertools.combinations(members, n):
            texts = [written(order) for order in itertools.permutations(chosen)]
            is_valid = accepts(ordered, texts[0])
            assert [accepts(free, text) for text in texts] == [is_valid] * len(texts), chosen
            assert not any(accepts(ordered, text) for text in texts[1:]), chosen


def test_a_key_is_written_once() -> None:
    free = Grammar.from_json_schema(SCHEMA, property_order="any")
    assert accepts(free, '{"z": 1, "b": "x", "y": 1, "a": 1}')
    assert not accepts(free, '{"b": "x", "z": 1, "b": "x"}')
    assert not accepts(free, '{"z": 1}')


def test_listed_objects() -> None:
    """The keys of an object have no order, so neither have those of a `const`."""
    schema = {"const": {"a": 1, "b": {"c": 2, "d": 3}}}
    text = '{"b": {"d": 3, "c": 2}, "a": 1}'
    assert not accepts(Grammar.from_json_schema(schema), text)
    free = Grammar.from_json_schema(schema, property_order="any")
    assert accepts(free, text)
    assert not accepts(free, '{"a": 1, "b": {"c": 2, "d": 2}}')


def test_escaped_names_are_the_same_names() -> None:
    grammar = Grammar.from_json_schema({**SCHEMA, "maxProperties": 2}, property_order="any", escapes="all")
    assert accepts(grammar, '{"z": 1, "\\u0062": "x"}')
    assert not accepts(grammar, '{"\\u0062": "x", "b": "x"}')


def test_many_properties() -> None:
    names = [f"p{i}" for i in range(100)]
    grammar = Grammar.from_json_schema(
        {"type": "object", "properties": dict.fromkeys(names, INTEGER), "required": names[::2], "additionalProperties": False},
        property_order="any",
    )
    assert accepts(grammar, dump(dict.fromkeys(reversed(names), 1)))
    assert not accepts(grammar, dump(dict.fromkeys(names[1:], 1)))
