"""`oneOf` and chains of conditions over many branches: exact, and of a size that stays in proportion to the schema."""

from __future__ import annotations

import itertools
import re
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar
from grammar_engine.errors import LimitExceededError

from .engine import accepts, accepts_value, dump

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
KINDS = "abcdefghij"


def agrees(schema: Any, values: list[Any]) -> None:
    """The schema means for these values what `jsonschema` says, and is of moderate size."""
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    assert [v for v in values if accepts_value(grammar, v) != validator.is_valid(v)] == []
    _, n_nonterminals = re.findall(r"(\d+) (?:lexemes|nonterminals)", repr(grammar))
    assert int(n_nonterminals) < 1_000


def objects(names: str, values: list[Any], most: int = 3) -> list[Any]:
    return [
        dict(zip(chosen, each))
        for n in range(most + 1)
        for chosen in itertools.combinations(names, n)
        for each in itertools.product(values, repeat=n)
    ]


def test_open_branches_that_overlap() -> None:
    """Each branch requires a key of its own, and leaves the others open."""
    schema = {"type": "object", "oneOf": [{"required": [k], "properties": {k: INTEGER}} for k in KINDS]}
    agrees(schema, objects("abj", [1, "x"]))


def test_closed_branches_with_an_optional_discriminator() -> None:
    branches = [
        {"properties": {"kind": {"const": k}, "size": INTEGER, k: TEXT}, "required": ["size"], "additionalProperties": False} for k in KINDS
    ]
    schema = {"type": "object", "oneOf": branches}
    values = [
        {"size": 1},
        {"size": 1, "a": "x"},
        {"size": 1, "a": "x", "b": "x"},
        {"kind": "a", "size": 1},
        {"kind": "a", "size": 1, "b": "x"},
    ]
    agrees(schema, values)


def test_a_branch_that_forgot_its_discriminator() -> None:
    branches: list[Any] = [{"required": ["t", "x", "y"], "properties": {"t": {"const": k}, "x": INTEGER, "y": TEXT}} for k in KINDS]
    schema = {"type": "object", "oneOf": [*branches, {"required": ["x", "y"]}]}
    values = [{"x": x, "y": y} | t for x in (1, "x") for y in (1, "y") for t in ({}, {"t": "a"}, {"t": "z"})]
    agrees(schema, values)
    agrees({"type": "object", "not": schema}, values)


def test_a_chain_of_conditions() -> None:
    """Without `required` every condition holds where the key is absent."""
    chain = [{"if": {"properties": {"t": {"const": k}}}, "then": {"properties": {"v": {"const": k}}}} for k in KINDS]
    agrees({"type": "object", "allOf": chain}, [{"t": "a", "v": "a"}, {"t": "a", "v": "b"}, {"t": "z", "v": 1}, {"v": "a"}, {"t": "a"}, {}])


def test_discriminators_of_any_type() -> None:
    branches = [{"required": ["t"], "properties": {"t": {"const": value}}} for value in (None, True, False, 1, 2.5, "a")]
    agrees(
        {"type": "object", "oneOf": [*branches, {"required": ["t"], "properties": {"t": {"enum": [1, "b"]}}}]},
        objects("t", [None, True, 1, 2.5, "b", 3]),
    )


def test_a_nested_discriminator() -> None:
    branches = [
        {
            "required": ["m"],
            "properties": {"m": {"type": "object", "required": ["t"], "properties": {"t": {"const": k}}}, "v": {"const": k}},
        }
        for k in KINDS
    ]
    agrees(
        {"type": "object", "oneOf": branches}, [{"m": {"t": t}, "v": v} for t in ("a", "b", "z") for v in ("a", "b", 1)] + [{"m": {}}, {}]
    )


def test_recursive_branches() -> None:
    """Expressions: the operands are expressions again, and two of the branches overlap."""
    schema = {
        "$ref": "#/$defs/e",
        "$defs": {
            "e": {
                "oneOf": [
                    INTEGER,
                    {"type": "object", "required": ["neg"], "properties": {"neg": {"$ref": "#/$defs/e"}}},
                    {"type": "object", "required": ["add"], "properties": {"add": {"type": "array", "items": {"$ref": "#/$defs/e"}}}},
                ]
            }
        },
    }
    agrees(
        schema,
        [
            1,
            {"neg": 1},
            {"neg": "x"},
            {"add": [1, {"neg": 2}]},
            {"add": [], "neg": 1},
            {"add": [], "neg": "x"},
            {"neg": {"add": ["x"]}},
            {},
        ],
    )


def test_what_is_too_much_is_refused_with_its_place() -> None:
    """Nothing tells these branches apart: exactly one of n conditions, each on members of any name, fails in 2**n ways."""
    branches = [{"required": [f"{k}1"], "properties": {f"{k}{i}": {"const": i} for i in range(6)}} for k in KINDS]
    try:
        grammar = Grammar.from_json_schema({"properties": {"x": {"type": "object", "oneOf": branches}}})
    except LimitExceededError as error:
        assert error.limit == "max_alternative_schemas"
        assert "/properties/x" in str(error)
    else:
        assert accepts(grammar, dump({"x": {"a1": 1}}))


@pytest.mark.parametrize("depth", [5, 40])
def test_nested_oneof(depth: int) -> None:
    """Proofs do not look deeper than they have to."""
    schema: Any = INTEGER
    for _ in range(depth):
        schema = {
            "type": "object",
            "oneOf": [{"required": ["a"], "properties": {"a": schema}}, {"required": ["a", "b"], "properties": {"a": TEXT}}],
        }
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, dump(value))
    assert accepts(grammar, '{"a": "x", "b": 1}')
    assert not accepts(grammar, '{"a": "x"}')


NESTED: dict[str, Any] = {
    "inline": {
        "oneOf": [
            {"properties": {"t": {"not": {"enum": ["a", "b", "c"]}}}},
            {"oneOf": [{"properties": {"t": {"const": "a"}, "x": {"type": "integer"}}}, {"properties": {"t": {"enum": ["b", "c"]}}}]},
        ],
        "required": ["t"],
    },
    "by reference": {
        "$defs": {
            "a": {"properties": {"x": {"type": "integer"}}, "oneOf": [{"properties": {"t": {"const": "a"}}}, {"required": ["y"]}]},
            "b": {"oneOf": [{"properties": {"t": {"const": "b"}}}, {"properties": {"t": {"const": "c"}, "x": False}}]},
        },
        "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "allOf": [{"properties": {"t": {"type": "string"}}, "required": ["t"]}],
    },
    "twice in each other": {
        "$defs": {
            "a": {"oneOf": [{"required": ["x"]}, {"oneOf": [{"required": ["y"]}, {"$ref": "#/$defs/b"}]}]},
            "b": {"oneOf": [{"required": ["t"]}]},
        },
        "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "properties": {"t": {"enum": ["a", "b"]}},
    },
}


@pytest.mark.parametrize("name", NESTED)
def test_one_of_in_one_of(name: str) -> None:
    """What is required around them keeps the branches of the inner one apart, too."""
    schema = {"type": "object", **NESTED[name]}
    grammar, validator = Grammar.from_json_schema(schema, property_order="any"), jsonschema.Draft202012Validator(schema)
    values = [{}]
    for key, some in {"t": ["a", "b", "c", "d", 1], "x": [1, "s"], "y": [None]}.items():
        values += [{**value, key: each} for value in values for each in some]
    assert [value for value in values if accepts(grammar, dump(value)) != validator.is_valid(value)] == []


def test_many_branches_that_the_outer_schema_keeps_apart() -> None:
    """As Azure writes function.json: without what is required around them, they multiply out."""
    defs = {
        f"b{i}": {
            "properties": {f"k{i}{k}": {"type": "string"} for k in range(4)},
            "oneOf": [{"properties": {"type": {"const": f"in{i}"}, "way": {"const": 1}}}, {"properties": {"type": {"const": f"out{i}"}}}],
        }
        for i in range(12)
    }
    inner = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in defs]}
    other = {"properties": {"type": {"not": {"enum": [f"{way}{i}" for i in range(12) for way in ("in", "out")]}}}}
    schema = {"$defs": defs, "oneOf": [other, inner], "allOf": [{"required": ["type"]}], "type": "object"}
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    for value in (
        {"type": "in3", "way": 1},
        {"type": "in3", "way": 2},
        {"type": "out3", "way": 2},
        {"type": "out3", "k31": 1},
        {"type": 1},
        {},
    ):
        assert accepts(grammar, dump(value)) == validator.is_valid(value), value
