"""`$dynamicRef` and `$recursiveRef`: the place that they mean depends on how they were reached."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import SchemaError, UnsupportedSchemaError
from grammar_engine.limits import Limits

from .engine import accepts

DRAFT2019 = "https://json-schema.org/draft/2019-09/schema"
INTEGER, STRING = {"type": "integer"}, {"type": "string"}


def anchored(name: str, schema: Any) -> Any:
    return {"item": {"$dynamicAnchor": name, **schema}}


LIST = {"$id": "list", "type": "array", "items": {"$dynamicRef": "#item"}, "$defs": anchored("item", {})}
INTEGERS = {"$id": "integers", "$ref": "list", "$defs": anchored("item", INTEGER)}
STRINGS = {"$id": "strings", "$ref": "list", "$defs": anchored("item", STRING)}


def library(schema: Any, *more: Any) -> Any:
    return {"$id": "http://h/main", **schema, "$defs": {f"d{i}": d for i, d in enumerate((LIST, INTEGERS, STRINGS, *more))}}


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        (library({"$ref": "list"}), ['[1, "a", []]'], ["1"]),
        (library({"$ref": "integers"}), ["[1, 2]"], ['["a"]', "[[]]"]),
        (library({"$ref": "strings"}), ['["a"]'], ["[1]"]),
        # the same place, met through two paths in one document
        (
            library({"properties": {"i": {"$ref": "integers"}, "s": {"$ref": "strings"}, "l": {"$ref": "list"}}}),
            ['{"i": [1], "s": ["a"], "l": [1, "a"]}'],
            ['{"i": ["a"]}', '{"s": [1]}'],
        ),
        # the outermost resource wins
        (library({"$ref": "outer"}, {"$id": "outer", "$ref": "integers", "$defs": anchored("item", {"type": "null"})}), ["[null]"], ["[1]"]),
        # a resource that was left again does not count
        (library({"allOf": [{"$ref": "integers"}, {"$ref": "list"}]}), ["[1]"], ['["a"]']),
        (library({"anyOf": [{"$ref": "integers"}, {"$ref": "strings"}]}), ["[1, 2]", '["a", "b"]'], ['[1, "a"]']),
        (library({"type": "array", "not": {"$ref": "integers"}}), ['[1, "a"]'], ["[1]", "[]"]),
        # a pointer or a plain anchor is no dynamic anchor
        (
            {"$id": "http://h/m", "$ref": "l", "$defs": {"l": {"$id": "l", "items": {"$dynamicRef": "#/$defs/i"}, "$defs": {"i": INTEGER}}}},
            ["[1]"],
            ['["a"]'],
        ),
        (
            {
                "$id": "http://h/m",
                "$ref": "l",
                "$defs": {
                    "l": {"$id": "l", "items": {"$dynamicRef": "#i"}, "$defs": {"i": {"$anchor": "i"}}},
                    "s": {"$dynamicAnchor": "i", **STRING},
                },
            },
            ['["a", 1]'],
            ["1x"],
        ),
        # `$ref` takes a dynamic anchor for a plain one
        (
            {"$id": "http://h/m", "$ref": "l", "$defs": {"l": {"$id": "l", "items": {"$ref": "#i"}, "$defs": anchored("i", {})}, "s": anchored("i", STRING)}},
            ["[1]"],
            ["[1"],
        ),
        # a subschema with an identifier is entered by standing there
        (
            {"$id": "http://h/m", "then": {"$id": "t", "$ref": "l", "$defs": anchored("i", STRING)}, "if": True, "$defs": {
                "l": {"$id": "l", "items": {"$dynamicRef": "#i"}, "$defs": anchored("i", {})},
            }},
            ['["a"]'],
            ["[1]"],
        ),
    ],
)  # fmt: skip
def test_dynamic_scope(schema: Any, accepted: list[str], refused: list[str]) -> None:
    grammar = Grammar.from_json_schema(schema)
    for text in accepted:
        assert accepts(grammar, text), text
    for text in refused:
        assert not accepts(grammar, text), text


def test_extended_tree() -> None:
    """The reason for dynamic references: a strict tree all the way down, made of a lax one."""
    tree = {
        "$id": "tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    }
    schema = {"$id": "http://h/strict", "$dynamicAnchor": "node", "$ref": "tree", "unevaluatedProperties": False, "$defs": {"t": tree}}
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, '{"children": [{"data": 1}, {"children": [{}]}]}')
    assert not accepts(grammar, '{"children": [{"daat": 1}]}')
    lax = Grammar.from_json_schema({"$id": "http://h/lax", "$ref": "tree", "$defs": {"t": tree}})
    assert accepts(lax, '{"children": [{"daat": 1}]}')


def recursive(outer: Any, inner: Any) -> Any:
    node = {"$id": "node", **inner, "anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"$recursiveRef": "#"}}]}
    return {"$schema": DRAFT2019, "$id": "http://h/r", **outer, "$defs": {"n": node}, "anyOf": [{"type": "integer"}, {"$ref": "node"}]}


@pytest.mark.parametrize(
    ("outer", "inner", "reaches_outer"),
    [
        ({}, {}, False),
        ({"$recursiveAnchor": True}, {}, False),
        ({}, {"$recursiveAnchor": True}, False),
        ({"$recursiveAnchor": False}, {"$recursiveAnchor": True}, False),
        ({"$recursiveAnchor": True}, {"$recursiveAnchor": True}, True),
    ],
)
def test_recursive_reference(outer: Any, inner: Any, reaches_outer: bool) -> None:
    """It means the outermost schema on the way here, if both ends say `$recursiveAnchor`; else the nearest."""
    grammar = Grammar.from_json_schema(recursive(outer, inner))
    assert accepts(grammar, "1")
    assert accepts(grammar, '{"a": {"b": "c"}}')
    assert accepts(grammar, '{"a": {"b": 1}}') == reaches_outer


@pytest.mark.parametrize(
    ("index", "is_one"), [("0", True), ("1", True), ("01", False), ("2", False), ("-0", False), ("٠", False), ("9" * 5_000, False)]
)
def test_an_index_in_a_pointer(index: str, is_one: bool) -> None:
    schema = {"$ref": f"#/prefixItems/{index}", "prefixItems": [True, {"type": "null"}]}
    if is_one:
        Grammar.from_json_schema(schema)
    else:
        with pytest.raises(SchemaError, match="points to nothing"):
            Grammar.from_json_schema(schema)


def test_keywords_of_the_other_draft_are_annotations() -> None:
    assert accepts(Grammar.from_json_schema({"$schema": DRAFT2019, "$dynamicRef": "#nowhere"}), "1")
    draft2020 = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$recursiveRef": "#"}
    assert accepts(Grammar.from_json_schema(draft2020), "1")


def test_refused() -> None:
    with pytest.raises(SchemaError, match="refers to itself"):
        Grammar.from_json_schema({"$dynamicAnchor": "a", "$dynamicRef": "#a"})
    with pytest.raises(SchemaError, match="points to nothing"):
        Grammar.from_json_schema({"items": {"$dynamicRef": "#a"}})
    with pytest.raises(UnsupportedSchemaError) as caught:
        Grammar.from_json_schema({"$schema": DRAFT2019, "items": {"$recursiveRef": "#/$defs/a"}})
    assert (caught.value.pointer, caught.value.keyword) == ("/items", "$recursiveRef")


def test_scopes_are_shared() -> None:
    """Many resources with the same dynamic anchor: only the first one on the way matters, so places do not multiply."""
    n = 300
    nodes = {
        f"d{i}": {
            "$id": f"d{i}",
            "$dynamicAnchor": "node",
            "type": "object",
            "properties": {"next": {"$ref": f"d{(i * 7 + 1) % n}"}, "any": {"$dynamicRef": "#node"}},
        }
        for i in range(n)
    }
    schema = {"$id": "http://h/", "$ref": "d0", "$defs": nodes}
    grammar = Grammar.from_json_schema(schema, limits=Limits(max_schema_nodes=20 * n))
    assert accepts(grammar, '{"next": {"next": {"any": {"any": {}}}}}')
