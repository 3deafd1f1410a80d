"""Many schemas for the same place: what they make together is right, does not multiply out needlessly, and is refused where it must."""

from __future__ import annotations

import itertools
import time
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar
from grammar_engine.errors import LimitExceededError, SchemaError

from .engine import accepts, accepts_value, dump

KINDS = ["k0", "k1", "k2", "k3"]
SOON = 5.0  # seconds of this thread; on a quiet machine each of these takes less than one


def conditions(kinds: list[Any], listed: bool = True, required: bool = True, otherwise: bool = False) -> Any:
    """What else is required depends on the value of one key."""
    branches = []
    for i, kind in enumerate(kinds):
        branch: dict[str, Any] = {"if": {"properties": {"kind": {"const": kind}}}, "then": {"required": [f"p{i}"]}}
        if not required:
            branch["if"]["required"] = ["kind"]
        if otherwise:
            branch["else"] = {"properties": {f"p{i}": False}}
        branches.append(branch)
    schema: dict[str, Any] = {"type": "object", "allOf": branches, "properties": {"kind": {"enum": kinds} if listed else True}}
    return {**schema, "required": ["kind"]} if required else schema


VALUES: list[Any] = [
    {**({} if kind is None else {"kind": kind}), **dict.fromkeys(names, 1)}
    for kind in (None, *KINDS[:3], "other", 1, 2)
    for n in range(3)
    for names in itertools.combinations(["p0", "p1", "p2"], n)
]


def check_refused_soon(schema: Any, pointer: str, limit: str) -> None:
    def seconds() -> float:
        begin = time.thread_time()
        with pytest.raises(LimitExceededError, match=pointer) as caught:
            Grammar.from_json_schema(schema)
        assert caught.value.limit == limit
        return time.thread_time() - begin

    assert any(seconds() < SOON for _ in range(3))  # some other process may be in the way


@pytest.mark.parametrize("kinds", [KINDS[:3], [1, 2, "k0"], [None, True, 1]])
@pytest.mark.parametrize("options", list(itertools.product([True, False], repeat=3)))
def test_conditions_on_one_key(kinds: list[Any], options: Any) -> None:
    schema = conditions(kinds, *options)
    validator = jsonschema.Draft202012Validator(schema)
    for grammar in (Grammar.from_json_schema(schema), Grammar.from_json_schema(schema, property_order="any")):
        for value in VALUES:
            assert accepts_value(grammar, value) == validator.is_valid(value), value


def test_the_order_of_properties_is_that_of_the_schema() -> None:
    """Also where a schema with alternatives comes before one without."""
    schema = {
        "anyOf": [{"properties": {"a": True}, "required": ["a"]}, {"properties": {"b": True}, "required": ["b"]}],
        "allOf": [{"properties": {"c": True}, "required": ["x"]}, {"properties": {"d": True}, "required": ["c", "y"]}],
        "type": "object",
        "additionalProperties": True,
    }
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, '{"a": 1, "c": 1, "d": 1, "x": 1, "y": 1}')
    assert not accepts(grammar, '{"c": 1, "a": 1, "x": 1, "y": 1}')
    assert not accepts(grammar, '{"a": 1, "c": 1, "y": 1, "x": 1}')


@pytest.mark.parametrize(
    "schema",
    [
        conditions([f"k{i}" for i in range(100)]),
        conditions([f"k{i}" for i in range(60)], required=False, otherwise=True),
        {"allOf": [{"properties": {f"p{i}": {"type": "string"}}, "required": [f"p{i}"]} for i in range(600)]},
        {"oneOf": [{"properties": {"kind": {"const": i}}, "required": ["kind"]} for i in range(200)]},
        {"oneOf": [{"properties": {"kind": {"const": f"k{i}"}}, "required": ["kind"]} for i in range(300)]},
        {"enum": [{"a": i, "b": str(i)} for i in range(1_000)]},
    ],
    ids=["conditions", "conditions with else", "allOf", "oneOf", "oneOf of texts", "enum"],
)
def test_linear_in_effect(schema: Any) -> None:
    begin = time.thread_time()
    Grammar.from_json_schema(schema)
    assert time.thread_time() - begin < SOON


EITHER: list[Any] = [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(20)]


@pytest.mark.parametrize(
    ("pointer", "schema"),
    [
        ("/allOf/", {"allOf": EITHER}),
        ("/allOf/", {"allOf": EITHER, "unevaluatedProperties": False}),
        ("/properties/x/not/allOf/", {"properties": {"x": {"not": {"allOf": EITHER}}}}),
        ("/not", {"not": {"anyOf": [{"properties": {f"{x}{i}": {"type": "null"} for x in "pqr"}} for i in range(20)]}}),
        ("/allOf/", {"allOf": [{"if": {"properties": {f"a{i}": {"const": 1}}}, "then": {"required": [f"b{i}"]}} for i in range(20)]}),
        ("/dependentSchemas", {"dependentSchemas": {f"a{i}": {"properties": {f"b{i}": {"type": "null"}}} for i in range(20)}}),
        ("/dependentRequired", {"dependentRequired": {f"a{i}": [f"b{i}"] for i in range(20)}, "minProperties": 2}),
        ("/oneOf", {"oneOf": [{"type": "object", "properties": {f"p{i}{j}": {"type": "null"} for j in range(6)}} for i in range(10)]}),
        ("/oneOf", {"oneOf": [{"properties": {"a": {"maxLength": i + 2}}, "minProperties": i} for i in range(1_000)]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused_soon_with_the_place(pointer: str, schema: Any) -> None:
    check_refused_soon(schema, pointer, "max_alternative_schemas")


SELF: dict[str, Any] = {"$ref": "#"}


def sets(n: int, keyword: str) -> Any:
    """A schema in which any set of `n` definitions may be what a value has to meet: 2^n goals."""

    def held(first: Any, second: Any) -> Any:
        return {"prefixItems": [first, second]} if keyword == "prefixItems" else {"properties": {"a": first, "b": second}}

    of = [{"$ref": f"#/$defs/{i}"} for i in range(n + 1)]
    definitions = {
        "0": held(of[0], {"allOf": of[:2]}),
        **{str(i): held(of[i + 1], of[i + 1]) for i in range(1, n)},
        str(n): {"type": "array"},
    }
    return {**of[0], "$defs": definitions}


@pytest.mark.parametrize("keyword", ["prefixItems", "properties"])
def test_sets_of_schemas_are_counted(keyword: str) -> None:
    check_refused_soon(sets(40, keyword), "max_schema_nodes", "max_schema_nodes")


PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71]
COUNTED = {"prefixItems": [True] * 20, "allOf": [{"contains": {"multipleOf": p}, "maxContains": 30} for p in PRIMES[:4]]}


@pytest.mark.parametrize(
    ("pointer", "schema"),
    [
        ("/allOf/0/contains", COUNTED),
        ("/contains", {"anyOf": [{"contains": {"multipleOf": p}} for p in PRIMES[:12]], "unevaluatedItems": False}),
        ("the root", {"uniqueItems": True, "prefixItems": [{"type": "string"} for _ in range(2_000)], "items": False}),
        (
            "root",
            {
                "uniqueItems": True,
                "prefixItems": [{"type": "integer", "minimum": i, "maximum": i + 900} for i in range(300)],
                "minItems": 300,
                "items": False,
            },
        ),
        ("the root", {"type": "integer", "minimum": 0, "maximum": 10**60, "allOf": [{"not": {"multipleOf": p}} for p in PRIMES]}),
        (
            "the root",
            {
                "type": "array",
                "uniqueItems": True,
                "items": {"type": "integer", "minimum": 0, "maximum": 10**9, "anyOf": [{"multipleOf": p * 1000} for p in PRIMES]},
            },
        ),
    ],
    ids=lambda value: dump(value)[:80] if isinstance(value, dict) else value,
)
def test_what_is_counted_is_bounded(pointer: str, schema: Any) -> None:
    check_refused_soon(schema, pointer, "max_alternative_schemas")


def test_what_is_counted_can_be_given_up() -> None:
    grammar = Grammar.from_json_schema({"properties": {"a": {**COUNTED, "type": "array"}, "b": {"maxLength": 1}}}, lenient=True)
    assert {(e.pointer, e.keyword) for e in grammar.report.relaxed} == {("/properties/a/allOf/0", "contains")}
    assert accepts(grammar, '{"a": [1, 2]}')
    assert not accepts(grammar, '{"a": [], "b": "xy"}')


def test_few_sets_of_schemas() -> None:
    schema = sets(3, "prefixItems")
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    values: list[Any] = [1, []]
    for _ in range(3):
        values = [1, *([x, y] for x, y in itertools.product(values, repeat=2))][:400]
    assert [v for v in values if accepts(grammar, dump(v)) != validator.is_valid(v)] == []
    assert not all(map(validator.is_valid, values))


def test_what_is_taken_out_says_several_things_of_a_listed_key() -> None:
    listed = [{"properties": {"a": {"enum": [1, 2]}}}, {"properties": {"a": {"enum": [2, 3]}}}]
    schema = {
        "type": "object",
        "not": {"required": ["a"], "allOf": listed, "minProperties": 2},
        "anyOf": [{"properties": {"a": {"const": 2}}}, {"required": ["b"]}],
    }
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    values = [
        dict(zip(names, held)) for names in ((), "a", "b", "c", "ab", "ac", "bc") for held in itertools.product([1, 2, 3, 4], repeat=2)
    ]
    assert [v for v in values if accepts_value(grammar, v) != validator.is_valid(v)] == []


NAMES: list[tuple[Any, str, str]] = [
    ({"propertyNames": SELF}, '{"a": 1} | 1', ""),
    ({"allOf": [{"propertyNames": SELF}]}, '{"a": 1} | 1', ""),
    ({"propertyNames": SELF, "maxLength": 2}, '{"aa": 1} | "aa"', '{"aaa": 1} | "aaa"'),
    ({"propertyNames": {"not": SELF}, "maxLength": 2}, '{"aaa": 1} | "aa"', '{"aa": 1} | "aaa"'),
    ({"propertyNames": {"oneOf": [SELF, {"maxLength": 1}]}, "maxLength": 2}, '{"aa": 1}', '{"a": 1} | {"aaa": 1}'),
    ({"propertyNames": {"type": "object"}}, "{}", '{"a": 1}'),
    ({"propertyNames": {"properties": {"a": False}, "required": ["a"]}}, '{"a": 1}', ""),
    (
        {"propertyNames": SELF, "anyOf": [{"maxLength": 2, "properties": {"a": True}}, {"minLength": 4}], "unevaluatedProperties": False},
        '{"a": 1} | "aa" | "aaaa"',
        '{"aaa": 1} | {"b": 1} | "aaa"',
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), NAMES, ids=[dump(case[0])[:80] for case in NAMES])
def test_names_that_are_described_by_the_schema_itself(schema: Any, valid: str, invalid: str) -> None:
    grammar = Grammar.from_json_schema(schema)
    for text in valid.split(" | "):
        assert accepts(grammar, text), text
    for text in invalid.split(" | ") if invalid else ():
        assert not accepts(grammar, text), text


def test_nothing_in_between() -> None:
    with pytest.raises(SchemaError, match="refers to itself"):
        Grammar.from_json_schema({"propertyNames": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/a"}}})
