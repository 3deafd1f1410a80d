"""Keys that may stand only beside some values of another one: exact, and as many alternatives as there are kinds of values."""

from __future__ import annotations

import itertools
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Limits
from grammar_engine.errors import LimitExceededError, UnsatisfiableSchemaError

from .engine import accepts, accepts_value, dump

Schema = dict[str, Any]
KINDS: list[Any] = [None, "a", "b", "c", 1, True]
VALUES: list[Any] = [
    {**dict.fromkeys(names, 1), **({} if kind is None else {"kind": kind})}
    for kind in (*KINDS, [None])
    for n in range(4)
    for names in itertools.combinations("pqrs", n)
]


def beside(*kinds: Any, **others: Any) -> Schema:
    return {"properties": {"kind": {"enum": list(kinds)}}, **others}


def asked(name: str, then: Schema) -> Schema:
    return {"if": {"required": [name]}, "then": then}


HOSTED = {"required": ["kind"]}
CONDITIONS: list[dict[str, Schema]] = [
    {"p": beside("a"), "q": beside("b"), "r": beside("c")},
    {"p": beside("a"), "q": beside("a", "b"), "r": beside("b"), "s": beside("a", "b", "c")},
    {"p": beside("a", **HOSTED), "q": beside("a"), "r": beside("a", "c", **HOSTED)},
    {"p": beside(1), "q": beside(1, True, "a"), "r": beside(None, "a")},
    {"p": {"properties": {"kind": False}}, "q": beside("a"), "r": beside("b"), "s": beside("b", "c")},
    {"p": beside("a"), "q": beside("a"), "r": beside("a"), "s": {"properties": {"kind": {"type": "string"}}}},
    {"p": beside("a"), "q": beside("b"), "r": {"properties": {"kind": {"enum": ["a", "bb"], "maxLength": 1}}}},
    {"p": beside("a"), "q": beside("b"), "r": beside("c"), "kind": {"properties": {"s": {"enum": [1]}}}},
]
AROUND: list[Schema] = [
    {},
    HOSTED,
    {"properties": {"p": True, "kind": {"enum": ["a", "b"]}, "q": True}, "additionalProperties": False},
    {"properties": {"kind": {"not": {"const": "a"}}}, "required": ["q"], "maxProperties": 3},
    {"anyOf": [{"required": ["p"]}, beside("b", "c")]},
]


def grammar_of(schema: Schema) -> Grammar | None:
    try:
        return Grammar.from_json_schema(schema)
    except UnsatisfiableSchemaError:
        return None


@pytest.mark.parametrize("keyword", ["dependentSchemas", "allOf", "not"])
@pytest.mark.parametrize("around", AROUND, ids=dump)
@pytest.mark.parametrize("conditions", CONDITIONS, ids=dump)
def test_equals_jsonschema(conditions: dict[str, Schema], around: Schema, keyword: str) -> None:
    ifs = [asked(name, then) for name, then in conditions.items()]
    schema = {"dependentSchemas": conditions} if keyword == "dependentSchemas" else {"allOf": ifs}
    schema = {"type": "object", **around, **({"not": schema} if keyword == "not" else schema)}
    validator, grammar = jsonschema.Draft202012Validator(schema), grammar_of(schema)
    for value in VALUES:
        assert (grammar is not None and accepts_value(grammar, value)) == validator.is_valid(value), value


N = 100
MANY = {f"p{i}": beside(f"k{i // 10}", "any") for i in range(N)}
SCHEMAS = {
    "dependencies": {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": MANY},
    "dependentSchemas": {"dependentSchemas": MANY},
    "if": {"allOf": [asked(name, then) for name, then in MANY.items()]},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_as_many_alternatives_as_kinds_of_values(name: str) -> None:
    """Those of k0 to k9, of any, of others, and no kind: each set of the keys was one, 2**100."""
    schema = {"type": "object", "properties": {"kind": {"type": "string"}, **{key: {"type": "integer"} for key in MANY}}, **SCHEMAS[name]}
    grammar = Grammar.from_json_schema(schema, limits=Limits(max_alternative_schemas=1_000), property_order="any")
    assert accepts(grammar, '{"kind": "k1", "p10": 1, "p19": 2}')
    assert accepts(grammar, '{"p10": 1, "p19": 2, "p20": 3}')
    assert accepts(grammar, '{"p7": 1, "kind": "any", "p20": 3}')
    for text in ('{"kind": "k1", "p20": 1}', '{"kind": "k1", "p10": 1, "p9": 2}', '{"p10": 1, "kind": "x"}', '{"p10": "x"}'):
        assert not accepts(grammar, text)


def test_what_is_asked_beside_is_in_the_report() -> None:
    annotated = {name: {"properties": {"kind": {**then["properties"]["kind"], "title": name}}} for name, then in CONDITIONS[1].items()}
    report = Grammar.from_json_schema({"type": "object", "dependentSchemas": annotated}).report
    told = {entry.pointer for entry in report.annotations if entry.keyword == "title"}
    assert told == {f"/dependentSchemas/{name}/properties/kind" for name in annotated}


def test_values_that_are_not_listed_multiply_out() -> None:
    """Known, and told by the limit."""
    schema = {f"p{i}": {"properties": {"n": {"minimum": i}}} for i in range(14)}
    with pytest.raises(LimitExceededError, match="/dependentSchemas"):
        Grammar.from_json_schema({"type": "object", "dependentSchemas": schema})
