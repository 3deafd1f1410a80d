"""Where references lead."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import GrammarError, LimitExceededError, SchemaError, UnsupportedSchemaError
from grammar_engine.limits import Limits

from .engine import accepts

NODE = {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}, "required": ["v"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "1", "null"),
        ({"$ref": "#/definitions/a~1b~0c%25", "definitions": {"a/b~c%": {"type": "null"}}}, "null", "1"),
        ({"$ref": "#/x-other/0", "x-other": [{"type": "null"}]}, "null", "1"),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "null"}}}, "null", "1"),
        ({"$ref": "b.json", "$id": "http://h/a.json", "$defs": {"x": {"$id": "b.json", "type": "null"}}}, "null", "1"),
        (
            {"$ref": "b.json#/$defs/y", "$id": "http://h/a.json", "$defs": {"x": {"$id": "b.json", "$defs": {"y": {"type": "null"}}}}},
            "null",
            "1",
        ),
        (
            {
                "$ref": "#/$defs/x",
                "$defs": {"x": {"$id": "http://h/b", "$ref": "#/$defs/y", "$defs": {"y": {"type": "null"}}}, "y": {"type": "string"}},
            },
            "null",
            '"a"',
        ),
        ({"$ref": "#/$defs/a", "maximum": 3, "$defs": {"a": {"type": "integer"}}}, "3", "4"),
        (NODE, '{"v": 1, "next": {"v": 2}}', '{"v": 1, "next": {}}'),
        ({"$defs": {"t": {"type": ["array", "null"], "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}, "[[], [[null]]]", "[1]"),
        (
            {"allOf": [NODE | {"properties": {**NODE["properties"], "next": {"type": "null"}}}, {"required": ["next"]}]},
            '{"v": 1, "next": null}',
            '{"v": 1}',
        ),
    ],
)
def test_references(schema: Any, accepted: str, refused: str) -> None:
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, accepted)
    assert not accepts(grammar, refused)


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("#/properties/a~1b", {"properties": {"a/b": {"type": "null"}, "c": True}}),
        ("#/%24defs/%C3%A9%20%22", {"$defs": {'é "': {"type": "null"}}}),
        ("#/$defs/a~01", {"$defs": {"a~1": {"type": "null"}, "a/": {"type": "integer"}}}),
        ("#/$defs/", {"$defs": {"": {"type": "null"}}}),
        ("#/$defs/n/not", {"$defs": {"n": {"not": {"type": "null"}}}}),
        ("#/examples/1", {"examples": [1, {"type": "null"}]}),
        ("#/unknown/deep/0", {"unknown": {"deep": [{"type": "null"}]}}),
        ("#/items/items", {"items": {"items": {"type": "null"}}}),
    ],
)
def test_pointers(reference: str, schema: Any) -> None:
    """A pointer may lead anywhere, also into what holds no schemas."""
    grammar = Grammar.from_json_schema({"$defs": {}, **schema, "properties": {**schema.get("properties", {}), "x": {"$ref": reference}}})
    assert accepts(grammar, '{"x": null}')
    assert not accepts(grammar, '{"x": 1}')


def test_intersection_of_recursive_schemas() -> None:
    """Lists of integers met with lists that nest: the pairs of places close after a few steps."""
    numbers = {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "array", "items": {"$ref": "#/$defs/numbers"}}]}
    pairs = {"anyOf": [{"type": "integer", "maximum": 5}, {"type": "array", "items": {"$ref": "#/$defs/pairs"}, "maxItems": 2}]}
    grammar = Grammar.from_json_schema(
        {"allOf": [{"$ref": "#/$defs/numbers"}, {"$ref": "#/$defs/pairs"}], "$defs": {"numbers": numbers, "pairs": pairs}}
    )
    assert accepts(grammar, "[[3, 5], [[4]]]")
    assert not accepts(grammar, "[[3, 6]]")
    assert not accepts(grammar, "[[2]]")
    assert not accepts(grammar, "[[3, 4, 5]]")


def test_negation_of_a_recursive_schema() -> None:
    chain = {"type": "object", "properties": {"n": {"$ref": "#/$defs/chain"}}}
    grammar = Grammar.from_json_schema({"not": {"$ref": "#/$defs/chain"}, "$defs": {"chain": chain}})
    assert accepts(grammar, '{"n": {"n": 1}}')
    assert not accepts(grammar, '{"n": {"n": {}}}')


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}],
)
def test_nothing_but_references(schema: Any) -> None:
    with pytest.raises(SchemaError, match="refers to itself"):
        Grammar.from_json_schema(schema)


def test_an_object_that_needs_itself() -> None:
    with pytest.raises(GrammarError):
        Grammar.from_json_schema({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})


@pytest.mark.parametrize(
    ("reference", "error"),
    [("#/$defs/none", SchemaError), ("#none", SchemaError), ("http://other/schema", UnsupportedSchemaError), (1, SchemaError)],
)
def test_bad_references(reference: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        Grammar.from_json_schema({"properties": {"p": {"$ref": reference}}})
    assert caught.value.pointer == "/properties/p"
    assert caught.value.keyword == "$ref"


def test_long_chains_take_no_recursion() -> None:
    n = 3_000
    definitions: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)}
    definitions[f"d{n}"] = {"type": "null"}
    assert accepts(Grammar.from_json_schema({"$ref": "#/$defs/d0", "$defs": definitions}), "null")


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "not", "items", "properties", "const"])
def test_nesting_has_a_limit(keyword: str) -> None:
    def nested(depth: int) -> Any:
        schema: Any = [] if keyword == "const" else {"type": "null"}
        for _ in range(depth):
            if keyword == "const":
                schema = [schema]
            else:
                schema = {keyword: schema if keyword in ("not", "items") else {"a": schema} if keyword == "properties" else [schema]}
        return {"const": schema} if keyword == "const" else schema

    Grammar.from_json_schema(nested(200))
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_json_schema(nested(2_000))
    assert caught.value.limit == "max_schema_nesting"


def test_many_definitions_take_linear_time() -> None:
    """Twice as many definitions that refer to each other take about twice as long: the limit on nodes is the witness."""
    for n in (300, 3_000):
        definitions = {
            f"d{i}": {
                "type": "object",
                "properties": {"a": {"$ref": f"#/$defs/d{(7 * i + 1) % n}"}, "b": {"$ref": f"#/$defs/d{(i + 1) % n}"}},
            }
            for i in range(n)
        }
        grammar = Grammar.from_json_schema({"$ref": "#/$defs/d0", "$defs": definitions}, limits=Limits(max_schema_nodes=4 * n))
        assert accepts(grammar, '{"a": {"b": {}}}')


def test_an_identifier_of_its_own_purpose() -> None:
    """Where an `id` makes a reference lead nowhere, the root is meant, and that is noted."""
    inner = {"$id": "http://h/inner", "$ref": "#/$defs/null"}
    grammar = Grammar.from_json_schema({"properties": {"a": inner}, "$defs": {"null": {"type": "null"}}})
    assert accepts(grammar, '{"a": null}')
    assert not accepts(grammar, '{"a": 1}')
    assert ("/properties/a", "$ref") in {(e.pointer, e.keyword) for e in grammar.report.notes}


def test_places_have_a_limit() -> None:
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_json_schema({"properties": {str(i): {"type": "null"} for i in range(50)}}, limits=Limits(max_schema_nodes=40))
    assert caught.value.limit == "max_schema_nodes"


@pytest.mark.parametrize("keyword", ["$anchor", "$dynamicAnchor"])
def test_a_name_of_two_schemas(keyword: str) -> None:
    """Refused where it is asked for, unless they are equal."""
    named = {"a": {keyword: "x", "type": "string"}, "b": {keyword: "x", "type": "integer"}}
    with pytest.raises(SchemaError, match="two different schemas have the anchor 'x'") as caught:
        Grammar.from_json_schema({"$defs": named, "properties": {"k": {"$ref": "#x"}}})
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/k", "$ref")
    assert Grammar.from_json_schema({"$defs": named, "type": "string"})
    twice = {
        "a": {"$id": "#/properties/a", "type": "string"},
        "b": {"$id": "#/properties/a", "type": "integer"},
        "c": {"$ref": "#/properties/a"},
    }
    assert Grammar.from_json_schema({"$schema": "http://json-schema.org/draft-07/schema#", "properties": twice})  # a pointer is no name
    assert Grammar.from_json_schema({"$defs": {"a": named["a"], "b": dict(named["a"])}, "$ref": "#x"})
