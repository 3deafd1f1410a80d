"""`unevaluatedProperties` and `unevaluatedItems` against the standard, on all small objects and arrays."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import GrammarError, LimitExceededError, UnsatisfiableSchemaError
from grammar_engine.limits import Limits

from .engine import accepts, accepts_value
from .evaluation import Evaluator

URIS = {2019: "https://json-schema.org/draft/2019-09/schema", 2020: "https://json-schema.org/draft/2020-12/schema"}
INTEGER, STRING = {"type": "integer"}, {"type": "string"}
NAMES = ["a", "b", "c"]
OBJECTS = [
    dict(zip(keys, values))
    for n in range(4)
    for keys in itertools.combinations([*NAMES, "d"], n)
    for values in itertools.product([1, "x"], repeat=n)
]
ARRAYS = [list(items) for n in range(4) for items in itertools.product([1, 2, "x"], repeat=n)]


def check(schema: Any, draft: int, values: list[Any]) -> None:
    truth = Evaluator(schema, draft)
    try:
        grammar = Grammar.from_json_schema({"$schema": URIS[draft], **schema})
    except UnsatisfiableSchemaError:
        assert not any(truth.is_valid(value) for value in values)
        return
    for value in values:
        assert accepts_value(grammar, value) == truth.is_valid(value), (schema, value)


def has(name: str, schema: Any = True) -> dict[str, Any]:
    return {"properties": {name: schema}, "required": [name]}


PROPERTIES: list[Any] = [
    {},
    {"properties": {"a": INTEGER}},
    {"patternProperties": {"^a": INTEGER}},
    {"additionalProperties": INTEGER},
    {"allOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": True}}]},
    {"anyOf": [has("a"), has("b", INTEGER), {"required": ["c"]}]},
    {"anyOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": INTEGER}}], "properties": {"c": True}},
    {"oneOf": [has("a"), has("b"), True]},
    {"oneOf": [{"properties": {"a": {"const": 1}, "b": True}, "required": ["a"]}, {"properties": {"a": {"const": "x"}, "c": True}}]},
    {"allOf": [{"oneOf": [has("a"), has("b")]}], "properties": {"c": STRING}},
    {"not": {"not": has("a")}},
    {"not": has("a")},
    {"if": has("a"), "then": has("b"), "else": has("c")},
    {"if": has("a")},
    {"if": has("a"), "else": {"properties": {"b": True}}},
    {"dependentSchemas": {"a": {"properties": {"b": INTEGER}}}, "properties": {"a": True}},
    {"$ref": "#/$defs/e", "$defs": {"e": {"properties": {"a": True}}}},
    {"allOf": [{"unevaluatedProperties": STRING}], "properties": {"a": True}},
    {"allOf": [{"properties": {"a": True}, "unevaluatedProperties": INTEGER}, {"properties": {"b": True}}]},
    {"anyOf": [{"properties": {"a": True}, "unevaluatedProperties": False}, has("b")]},
    {"properties": {"a": True}, "maxProperties": 2, "required": ["b"]},
]

ITEMS: list[Any] = [
    {},
    {"items": INTEGER},
    {"contains": INTEGER},
    {"contains": INTEGER, "minContains": 0},
    {"contains": {"const": "x"}, "maxContains": 1, "allOf": [{"contains": {"const": 2}, "minContains": 0}]},
    {"contains": True},
    {"allOf": [{"contains": INTEGER}, {"maxItems": 2}]},
    {"if": {"contains": {"const": "x"}}, "then": {"if": {"contains": {"const": 2}}}},
    {"not": {"contains": INTEGER}},
    {"anyOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]},
]
PREFIXES: list[Any] = [
    {"prefix": [INTEGER]},
    {"prefix": [True], "anyOf": [{"prefix": [True, INTEGER]}, {"prefix": [True, True, STRING], "minItems": 3}]},
    {"oneOf": [{"prefix": [{"const": 1}]}, {"prefix": [True, STRING]}]},
    {"prefix": [True], "allOf": [{"prefix": [True, INTEGER], "unevaluatedItems": STRING}]},
    {"if": {"prefix": [INTEGER]}, "then": {"prefix": [True, STRING]}, "else": {"prefix": [True, True]}},
]


@pytest.mark.parametrize("rest", [False, STRING], ids=["false", "schema"])
@pytest.mark.parametrize("draft", [2019, 2020])
@pytest.mark.parametrize("schema", PROPERTIES, ids=str)
def test_properties(schema: Any, draft: int, rest: Any) -> None:
    check({**schema, "unevaluatedProperties": rest}, draft, OBJECTS)


@pytest.mark.parametrize("rest", [False, STRING], ids=["false", "schema"])
@pytest.mark.parametrize("draft", [2019, 2020])
@pytest.mark.parametrize("schema", [*ITEMS, *PREFIXES], ids=str)
def test_items(schema: Any, draft: int, rest: Any) -> None:
    check({**_spelt(schema, draft), "unevaluatedItems": rest}, draft, ARRAYS)


def _spelt(schema: Any, draft: int) -> Any:
    """With the name that a list of schemas for the first items has in a draft."""
    if isinstance(schema, list):
        return [_spelt(branch, draft) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    return {("prefixItems" if draft == 2020 else "items") if key == "prefix" else key: _spelt(v, draft) for key, v in schema.items()}


@pytest.mark.parametrize("seed", range(12))
def test_random(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        about, values = rng.choice([(PROPERTIES, OBJECTS), (ITEMS + PREFIXES, ARRAYS)])
        keyword = "unevaluatedProperties" if about is PROPERTIES else "unevaluatedItems"
        draft = rng.choice([2019, 2020])
        branches = [_spelt(rng.choice(about), draft) for _ in range(4)]
        schema = {rng.choice(["anyOf", "oneOf", "allOf"]): branches[:2], "if": branches[2], rng.choice(["then", "else"]): branches[3]}
        schema = {**schema, keyword: rng.choice([False, STRING]), "$defs": {"e": {"properties": {"a": True}}}}
        check(schema, draft, rng.sample(values, 20))


def test_negation() -> None:
    """What is not closed has a key that is not evaluated, or breaks one of the others."""
    closed = {"type": "object", "properties": {"a": INTEGER}, "unevaluatedProperties": False}
    check({"not": closed}, 2020, [*OBJECTS, 1])
    check({"not": {"type": "array", "contains": {"const": 1}, "unevaluatedItems": STRING}}, 2020, [*ARRAYS, 1])


def test_cousins_do_not_see_each_other() -> None:
    check({"allOf": [{"properties": {"a": True}}, {"unevaluatedProperties": False}]}, 2020, OBJECTS)
    check({"allOf": [{"prefixItems": [True]}, {"unevaluatedItems": False}]}, 2020, ARRAYS)


def test_other_types_are_free() -> None:
    grammar = Grammar.from_json_schema({"unevaluatedProperties": False, "unevaluatedItems": False})
    for text in ("1", '"x"', "null", "{}", "[]"):
        assert accepts(grammar, text)
    for text in ('{"a": 1}', "[1]"):
        assert not accepts(grammar, text)


def test_recursive_schema() -> None:
    tree = {"properties": {"children": {"items": {"$ref": "#/$defs/strict"}}, "data": True}}
    schema = {"$ref": "#/$defs/strict", "$defs": {"tree": tree, "strict": {"$ref": "#/$defs/tree", "unevaluatedProperties": False}}}
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, '{"children": [{"data": 1}, {"children": []}]}')
    assert not accepts(grammar, '{"children": [{"daat": 1}]}')


def test_long_chains_take_no_recursion() -> None:
    n = 2_000
    definitions: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)}
    definitions[f"d{n}"] = {"properties": {"a": True}}
    grammar = Grammar.from_json_schema({"$ref": "#/$defs/d0", "$defs": definitions, "unevaluatedProperties": False})
    assert accepts(grammar, '{"a": 1}')
    assert not accepts(grammar, '{"b": 1}')


def test_alternatives_have_a_limit() -> None:
    """Branches that may apply together multiply out."""
    schema = {"anyOf": [{"properties": {f"a{i}": INTEGER, "b": {"minimum": i}}} for i in range(12)], "unevaluatedProperties": False}
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_json_schema(schema, limits=Limits(max_alternative_schemas=1_000))
    assert caught.value.limit == "max_alternative_schemas"


def test_branches_with_a_discriminator_do_not_multiply() -> None:
    branches = [{"properties": {"kind": {"const": f"k{i}"}, f"a{i}": INTEGER}, "required": ["kind"]} for i in range(40)]
    grammar = Grammar.from_json_schema({"anyOf": branches, "unevaluatedProperties": False}, limits=Limits(max_alternative_schemas=200))
    assert accepts(grammar, '{"kind": "k7", "a7": 1}')
    assert not accepts(grammar, '{"kind": "k7", "a8": 1}')


@pytest.mark.parametrize("keyword", ["unevaluatedProperties", "unevaluatedItems"])
def test_malformed(keyword: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_json_schema({keyword: 1})
    assert caught.value.pointer == f"/{keyword}"  # type: ignore[attr-defined]
