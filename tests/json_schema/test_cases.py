"""Schemas that the value of one key chooses among: exact, and of a size that stays in proportion, also where it is told what they evaluate."""

from __future__ import annotations

import itertools
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar
from grammar_engine.errors import UnsatisfiableSchemaError
from grammar_engine.limits import Limits

from .engine import accepts, accepts_value, dump
from .evaluation import Evaluator

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
VALUES: list[Any] = [
    {**({} if kind is None else {"kind": kind}), **dict(zip(names, values))}
    for kind in (None, "a", "b", "c", "z", 1)
    for n in range(3)
    for names in itertools.combinations("pqr", n)
    for values in itertools.product([1, "x"], repeat=n)
]
Schema = dict[str, Any]


def asked(kind: Any, then: Any, *, present: bool = False, **others: Any) -> Schema:
    condition: Schema = {"properties": {"kind": {"enum": kind} if isinstance(kind, list) else {"const": kind}}}
    return {"if": {**condition, **({"required": ["kind"]} if present else {})}, "then": then, **others}


def has(name: str, schema: Any = True) -> Schema:
    return {"properties": {name: schema}, "required": [name]}


def tagged(kind: Any, **properties: Any) -> Schema:
    return {"properties": {"kind": {"const": kind}, **properties}, "required": ["kind"]}


P, Q, R = has("p", INTEGER), has("q"), {"properties": {"r": TEXT}}
CONDITIONS: list[list[Any]] = [
    [asked("a", P), asked("b", Q), asked("c", R)],
    [asked("a", P, present=True), asked("b", Q, present=True), asked(1, R, present=True)],
    [asked("a", P), asked("b", Q, present=True), R],
    [asked(["a", "b"], P), asked("b", Q), asked("c", R)],  # two of them on one value
    [asked("a", P), asked("a", Q), asked("b", R)],
    [asked("a", {"anyOf": [P, Q]}), asked("b", {"anyOf": [Q, R]}), asked("c", {"not": P})],
    [asked("a", P, **{"else": R}), asked("b", Q), asked("c", R)],  # another one says something of all other values
    [asked("a", False), asked("b", Q), asked("c", True)],
    [asked("a", asked("b", P)), asked("b", {"properties": {"kind": False}}), asked("c", Q)],
    [asked("a", P), asked("b", Q), {"if": has("p"), "then": Q}, {"if": {"properties": {"q": {"const": 1}}}, "then": R}],
    [{"anyOf": [{**tagged("a"), **P}, {"properties": {"kind": {"not": {"const": "a"}}}}]}, asked("b", Q)],
    [{"anyOf": [tagged("a", p=INTEGER), {"not": tagged("a")}]}, {"anyOf": [tagged("b", p=TEXT), {"not": tagged("b")}]}, {"anyOf": [P, Q]}],
]
BESIDE: list[Schema] = [
    {},
    {"required": ["kind"]},
    {"properties": {"kind": {"enum": ["a", "b", "c"]}}},
    {"properties": {"q": True, "kind": {"not": {"const": "a"}}}, "required": ["kind"], "maxProperties": 2},
    {"properties": {"kind": False}},
    {"anyOf": [tagged("a"), tagged("c"), Q]},
]


def grammar_of(schema: Any) -> Grammar | None:
    try:
        return Grammar.from_json_schema(schema)
    except UnsatisfiableSchemaError:
        return None


@pytest.mark.parametrize("beside", BESIDE, ids=dump)
@pytest.mark.parametrize("conditions", CONDITIONS, ids=range(len(CONDITIONS)))
def test_conditions_on_one_key(conditions: list[Any], beside: Schema) -> None:
    schema = {"type": "object", "allOf": conditions, **beside}
    validator, grammar = jsonschema.Draft202012Validator(schema), grammar_of(schema)
    for value in VALUES:
        assert (grammar is not None and accepts_value(grammar, value)) == validator.is_valid(value), value


@pytest.mark.parametrize("rest", [False, INTEGER], ids=dump)
@pytest.mark.parametrize("beside", BESIDE[:5], ids=dump)
@pytest.mark.parametrize("conditions", CONDITIONS, ids=range(len(CONDITIONS)))
def test_what_they_evaluate(conditions: list[Any], beside: Schema, rest: Any) -> None:
    schema = {"type": "object", "allOf": _without_enum(conditions), **_without_enum(beside), "unevaluatedProperties": rest}
    truth, grammar = Evaluator(schema, 2020), grammar_of(schema)
    for value in VALUES:
        assert (grammar is not None and accepts_value(grammar, value)) == truth.is_valid(value), value


def _without_enum(schema: Any) -> Any:
    """With `anyOf` of constants, which the evaluator knows."""
    if isinstance(schema, list):
        return [_without_enum(each) for each in schema]
    if isinstance(schema, dict):
        return (
            {"anyOf": [{"const": each} for each in schema["enum"]]}
            if "enum" in schema
            else {k: _without_enum(v) for k, v in schema.items()}
        )
    return schema


BRANCHES: list[list[Any]] = [
    [tagged("a", p=INTEGER), tagged("b", q=TEXT), tagged("c", p=TEXT, r=True)],
    [tagged("a", p=INTEGER), tagged("b", q=TEXT), tagged("a", r=True), tagged("c", q=True)],  # two of them overlap
    [tagged("a", p=INTEGER), tagged("b", q=TEXT), {"properties": {"kind": True, "r": True}, "required": ["kind"]}],
    [{"properties": {"kind": {"const": "a"}, "p": True}}, {"properties": {"kind": {"const": "b"}, "q": True}}],
    [tagged("a", p=INTEGER), {"anyOf": [tagged("b", q=TEXT), tagged("c", p=True)]}, {**tagged("c", r=True), **Q}],
]


@pytest.mark.parametrize("beside", [{}, {"required": ["kind"], "properties": {"r": TEXT}}], ids=dump)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("branches", BRANCHES, ids=range(len(BRANCHES)))
def test_what_branches_evaluate(branches: list[Any], keyword: str, beside: Schema) -> None:
    schema = {"type": "object", keyword: branches, **beside, "unevaluatedProperties": False}
    truth, grammar = Evaluator(schema, 2020), Grammar.from_json_schema(schema)
    for value in VALUES:
        assert accepts_value(grammar, value) == truth.is_valid(value), value


# --- sizes ------------------------------------------------------------------------------------------------------------------


N = 300
CLOSED = {"unevaluatedProperties": False}
MANY_CONDITIONS = [asked(f"k{i}", has(f"p{i}", INTEGER), present=i % 3 == 0) for i in range(N)]
MANY_BRANCHES = [tagged(f"k{i}", **{f"p{i}": INTEGER}) for i in range(N)]
MANY_OPTIONAL = [{"properties": branch["properties"]} for branch in MANY_BRANCHES]
REQUIRED = {"type": "object", "required": ["kind"]}


@pytest.mark.parametrize(
    "schema",
    [
        {**REQUIRED, "allOf": MANY_CONDITIONS},
        {**REQUIRED, "allOf": MANY_CONDITIONS, **CLOSED},
        {"type": "object", "allOf": MANY_CONDITIONS, "properties": {"kind": {"enum": [f"k{i}" for i in range(N)]}}, **CLOSED},
        {"type": "object", "anyOf": MANY_BRANCHES, **CLOSED},
        {"type": "object", "oneOf": MANY_BRANCHES, **CLOSED},
        {"type": "object", "oneOf": [*MANY_BRANCHES, tagged("k7", q=True)], **CLOSED},
        {**REQUIRED, "anyOf": MANY_OPTIONAL, **CLOSED},
        {**REQUIRED, "oneOf": MANY_OPTIONAL, **CLOSED},
    ],
    ids=[
        "conditions",
        "closed conditions",
        "of an optional key",
        "anyOf",
        "oneOf",
        "oneOf that overlaps",
        "anyOf beside required",
        "oneOf beside required",
    ],
)
def test_many_are_linear(schema: Schema) -> None:
    """Pairs of them are 45,000, which are only counted for a key that has none of many values: what it then has to meet is one goal."""
    tight = Limits(max_alternative_schemas=2 * N, max_schema_nodes=500 * N if "allOf" in schema else 30 * N)
    grammar = Grammar.from_json_schema(schema, limits=tight, property_order="any")
    assert accepts(grammar, '{"kind": "k8", "p8": 1}')
    assert not accepts(grammar, '{"kind": "k8", "p8": "x"}')
    if "unevaluatedProperties" in schema:
        assert not accepts(grammar, '{"kind": "k8", "p8": 1, "p9": 1}')
        closed = {keyword: value for keyword, value in schema.items() if keyword != "unevaluatedProperties"}
        grammar = Grammar.from_json_schema(closed, limits=tight, property_order="any", closed=True)
        assert accepts(grammar, '{"kind": "k8", "p8": 1}')
        assert not accepts(grammar, '{"kind": "k8", "p8": 1, "q": 1}')
