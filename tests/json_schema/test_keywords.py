"""What each keyword accepts and refuses, one line of a table for each."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from grammar_engine import Grammar

from .engine import accepts

CLOSED = {"additionalProperties": False}

TABLE: list[tuple[str, Any, str, str]] = [
    # name, schema, accepted texts, refused texts: separated by " | "
    ("true", True, '1 | "x" | null | {"a": [1, {}]} | -0.5e-7 | [ ]', "01 | tru | {a: 1} | [1,] | 'x' | +1 | .5"),
    ("empty", {}, '1 | true | {"": 0}', "nul | {,}"),
    ("type string", {"type": "string"}, '"" | "ab\\n\\u0001" | "é😀"', '1 | "a | "\\x" | "\\ud800"'),
    ("type list", {"type": ["integer", "null"]}, "1 | null | -7", 'true | "1" | 1.5 | 5.0 | 1e+22'),
    ("type boolean", {"type": "boolean"}, "true | false", "null | 1"),
    ("type number", {"type": "number"}, "1 | 1.5 | 1E5 | -0", "- | 1. | Infinity | NaN"),
    ("type array", {"type": "array"}, '[] | [1, "a", []]', "{} | [1 2]"),
    ("type object", {"type": "object"}, '{} | {"a": 1, "b": {}}', '[] | {"a"} | {"a": 1,}'),
    ("enum", {"enum": [1, "x", None, [1, {"a": 2}]]}, '1 | "x" | null | [1, {"a": 2}]', 'true | 1.0 | "X" | [1] | [1, {"a": 3}]'),
    ("enum and type", {"type": "string", "enum": [1, "x"]}, '"x"', "1"),
    ("const true is not 1", {"const": 1}, "1", "true | 2 | 1.00"),
    ("const false", {"const": False}, "false", "0 | null"),
    ("const object", {"const": {"a": 1, "b": []}}, '{"a": 1, "b": []}', '{"a": 1} | {"a": 1, "b": [], "c": 0} | {"a": 1, "b": [0]}'),
    ("const float", {"const": 1e22}, "1e+22 | 10000000000000000000000", "1e21 | 1.0e22"),
    ("minLength", {"type": "string", "minLength": 2}, '"é😀" | "abc"', '"" | "😀"'),
    ("maxLength", {"type": "string", "maxLength": 1}, '"" | "😀" | "\\n" | "\\\\"', '"ab"'),
    ("lengths apply to strings", {"maxLength": 1}, '"a" | 12345 | [1, 2]', '"ab"'),
    ("length as a float", {"type": "string", "maxLength": 1.0}, '"a"', '"ab"'),
    ("pattern", {"type": "string", "pattern": "a+b"}, '"xaaby" | "ab"', '"ba" | ""'),
    ("anchored pattern", {"type": "string", "pattern": "^a|b$"}, '"axx" | "xxb"', '"xa" | "bx"'),
    ("pattern and length", {"type": "string", "pattern": "^a", "maxLength": 2}, '"a" | "ab"', '"abc" | "b"'),
    ("pattern of quotes", {"type": "string", "pattern": '^"\\\\$'}, '"\\"\\\\"', '"\\\\\\""'),
    ("minimum", {"type": "number", "minimum": -1.5}, "-1.5 | -1.50 | 0 | 3e5 | -0", "-1.51 | -2 | -1e1"),
    ("maximum", {"type": "integer", "maximum": 10}, "10 | -99999 | 0", "11 | 10.5 | 9.0"),
    ("exclusive", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "0.5 | 1e-7 | 0.999", "0 | 1 | -0 | 1.0 | 1e0"),
    ("old exclusive", {"type": "number", "minimum": 0, "exclusiveMinimum": True}, "0.1", "0 | -1"),
    ("beyond 2^53", {"type": "integer", "maximum": 9007199254740993}, "9007199254740993", "9007199254740994"),
    ("exact decimals", {"type": "number", "maximum": Decimal("0.1")}, "0.1 | 0.10", "0.1000000000000000055"),
    ("multipleOf", {"type": "integer", "multipleOf": 7}, "0 | 14 | -21", "8 | 1 | 7.0"),
    ("multipleOf cents", {"type": "number", "multipleOf": 0.01}, "0.07 | 1 | 19.990", "0.001 | 1.005"),
    ("multipleOf thousands", {"multipleOf": 250000}, "250000 | 1000000 | 0", "100000 | 250001 | 250000.5 | 500000.00"),
    ("items", {"type": "array", "items": {"type": "integer"}}, "[] | [1] | [1, 2]", '["a"] | [1, "a"]'),
    ("items false", {"type": "array", "items": False}, "[]", "[1]"),
    ("counts of items", {"type": "array", "minItems": 1, "maxItems": 2}, "[1] | [1, 2]", "[] | [1, 2, 3]"),
    ("prefixItems", {"prefixItems": [{"type": "integer"}, {"type": "string"}]}, '[] | [1] | [1, "a"] | [1, "a", null]', '["a"] | [1, 2]'),
    ("tuple", {"prefixItems": [{"type": "integer"}], "items": False, "minItems": 1}, "[1]", "[] | [1, 2]"),
    (
        "prefix and rest",
        {"prefixItems": [True], "items": {"type": "null"}, "maxItems": 3},
        "[1] | [1, null, null]",
        "[1, 2] | [1, null, null, null]",
    ),
    ("items as a list", {"items": [{"type": "null"}], "additionalItems": {"type": "integer"}}, "[null, 1]", "[1] | [null, null]"),
    ("additionalItems alone", {"additionalItems": False}, "[1, 2]", "[1"),
    ("uniqueItems false", {"type": "array", "uniqueItems": False}, "[1, 1]", "{}"),
    ("uniqueItems of one", {"type": "array", "uniqueItems": True, "maxItems": 1}, "[] | [1]", "[1, 1]"),
    ("properties", {"properties": {"a": {"type": "integer"}}}, '{} | {"a": 1} | {"b": "x"} | {"a": 1, "b": 2} | []', '{"a": "x"}'),
    ("required", {"type": "object", "required": ["b"], "properties": {"a": True}}, '{"b": 1} | {"a": 0, "b": 1}', '{} | {"a": 1}'),
    (
        "closed",
        {"type": "object", "properties": {"a": True, "b": True}, **CLOSED},
        '{} | {"b": 1} | {"a": 1, "b": 2}',
        '{"c": 1} | {"b": 1, "a": 2}',
    ),
    (
        "additionalProperties",
        {"properties": {"a": {}}, "additionalProperties": {"type": "null"}},
        '{"a": 1, "b": null}',
        '{"a": 1, "b": 1}',
    ),
    (
        "other keys are not named keys",
        {"type": "object", "properties": {"a": {"type": "null"}}},
        '{"ab": 1} | {"": 1}',
        '{"a": 1} | {"x": 1, "a": 1}',
    ),
    ("forbidden property", {"properties": {"a": False}}, '{} | {"b": 1}', '{"a": 1}'),
    ("keys with quotes", {"properties": {'a"\\\n': {"type": "null"}}, **CLOSED}, '{"a\\"\\\\\\n": null}', '{"a": null}'),
    ("patternProperties", {"patternProperties": {"^x": {"type": "integer"}}}, '{"x1": 1, "y": "a"}', '{"x1": "a"}'),
    ("closed patterns", {"patternProperties": {"^x": {}}, "properties": {"y": {}}, **CLOSED}, '{"y": 1, "xx": 2}', '{"z": 1}'),
    (
        "a named key that matches a pattern",
        {"properties": {"xa": {"minimum": 2}}, "patternProperties": {"^x": {"maximum": 4}}},
        '{"xa": 3} | {"xb": 1}',
        '{"xa": 1} | {"xa": 5} | {"xb": 5}',
    ),
    (
        "overlapping patterns",
        {"patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 4}}, "additionalProperties": False},
        '{"ab": 3} | {"a": 9} | {"b": 0}',
        '{"ab": 1} | {"ba": 5} | {"c": 0}',
    ),
    ("propertyNames", {"propertyNames": {"maxLength": 2}}, '{"ab": 1} | {}', '{"abc": 1}'),
    (
        "propertyNames and properties",
        {"properties": {"abc": {}}, "propertyNames": {"enum": ["a", "b"]}},
        '{"b": 1}',
        '{"abc": 1} | {"c": 1}',
    ),
    ("minProperties", {"minProperties": 2, "properties": {"a": {}, "b": {}}, **CLOSED}, '{"a": 1, "b": 1}', '{"a": 1} | {}'),
    (
        "maxProperties",
        {"maxProperties": 1, "properties": {"a": {}, "b": {}}},
        '{} | {"b": 1} | {"c": 1}',
        '{"a": 1, "b": 1} | {"a": 1, "c": 1}',
    ),
    (
        "counted others",
        {"minProperties": 2, "maxProperties": 3, "required": ["x"]},
        '{"x": 1, "y": 2} | {"x": 1, "y": 2, "z": 3}',
        '{"x": 1} | {"x": 1, "b": 2, "c": 3, "d": 4}',
    ),
    (
        "dependentRequired",
        {"properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}},
        '{} | {"b": 1} | {"a": 1, "b": 1}',
        '{"a": 1}',
    ),
    (
        "dependencies",
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        '{} | {"b": 1} | {"a": 1, "b": 1} | {"c": 1, "d": 1}',
        '{"a": 1} | {"c": 1}',
    ),
    ("anyOf of scalars", {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}]}, '1 | "a"', '"ab" | 1.5'),
    (
        "anyOf of objects",
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
        '{"a": 1} | {"b": 1} | {"a": 1, "b": 1}',
        '{} | {"c": 1}',
    ),
    ("anyOf and siblings", {"properties": {"a": {"type": "integer"}}, "anyOf": [{"required": ["a"]}]}, '{"a": 1}', '{} | {"a": "x"}'),
    ("allOf", {"allOf": [{"minimum": 2}, {"maximum": 4, "type": "integer"}]}, "2 | 4", "1 | 5 | 2.5"),
    (
        "allOf of objects",
        {"allOf": [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"maximum": 2}, "b": {}}}]},
        '{"a": 1, "b": 0}',
        '{"a": 0} | {"a": 3}',
    ),
    (
        "additionalProperties sees its own schema only",
        {"allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "additionalProperties": False},
        '{"b": 1} | {}',
        '{"a": 1}',
    ),
    ("oneOf by type", {"oneOf": [{"type": "string"}, {"type": "object"}]}, '"x" | {}', "1"),
    ("oneOf by number", {"oneOf": [{"type": "integer"}, {"type": "number"}]}, "1.5", "1 | 1.0"),
    ("oneOf of ranges", {"oneOf": [{"maximum": 5, "type": "integer"}, {"minimum": 3, "type": "integer"}]}, "2 | 6", "3 | 5 | 4"),
    ("oneOf of patterns", {"type": "string", "oneOf": [{"pattern": "a"}, {"pattern": "b"}]}, '"xa" | "b"', '"ab" | "c"'),
    (
        "oneOf by a const",
        {
            "oneOf": [
                {"properties": {"k": {"const": v}, "x": {"type": t}}, "required": ["k"]} for v, t in (("i", "integer"), ("s", "string"))
            ]
        },
        '{"k": "i", "x": 1} | {"k": "s", "x": "a"} | {"k": "i"}',
        '{"k": "i", "x": "a"} | {"k": "z"} | {}',
    ),
    (
        "oneOf of required",
        {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        '{"a": 1} | {"b": 1, "c": 1}',
        '{} | {"a": 1, "b": 1}',
    ),
    ("oneOf of the same", {"oneOf": [{"enum": [1, "a"]}, {"enum": ["a", True]}]}, "1 | true", '"a"'),
    ("not of const", {"type": "string", "not": {"const": "a"}}, '"b" | "aa" | ""', '"a"'),
    ("not of enum", {"not": {"enum": [1, "a", None]}}, '2 | "b" | true | []', '1 | 1.0 | "a" | null'),
    ("not of a type", {"not": {"type": ["object", "string"]}}, "1 | [] | null", '{} | "a"'),
    ("not of integer", {"type": "number", "not": {"type": "integer"}}, "1.5", "1 | 2.0"),
    ("not of required", {"type": "object", "not": {"required": ["a"]}}, '{} | {"b": 1}', '{"a": 1}'),
    ("not of properties", {"not": {"properties": {"a": {"type": "null"}}, "type": "object"}}, '1 | {"a": 1}', '{} | {"a": null}'),
    ("not of pattern", {"type": "string", "not": {"pattern": "^a"}}, '"b" | "" | "ba"', '"a" | "ab"'),
    ("if then else", {"type": "integer", "if": {"minimum": 10}, "then": {"multipleOf": 2}, "else": {"maximum": 5}}, "12 | 5", "11 | 6"),
    (
        "if of a property",
        {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}},
        '{} | {"a": 2} | {"a": 1, "b": 0}',
        '{"a": 1}',
    ),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_keyword(schema: Any, accepted: str, refused: str) -> None:
    grammar = Grammar.from_json_schema(schema)
    for text in accepted.split(" | "):
        assert accepts(grammar, text), text
    for text in refused.split(" | "):
        assert not accepts(grammar, text), text


def test_draft_4() -> None:
    """Integers have no fraction; `const` and `if` are not keywords yet; keys beside `$ref` are ignored."""
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    integer = Grammar.from_json_schema({**draft, "type": "integer"})
    assert accepts(integer, "5")
    assert not accepts(integer, "5.0")
    assert accepts(Grammar.from_json_schema({**draft, "const": 1}), "2")
    ignored = Grammar.from_json_schema({**draft, "$ref": "#/definitions/a", "type": "null", "definitions": {"a": {"type": "integer"}}})
    assert accepts(ignored, "5")
    assert {e.keyword for e in ignored.report.annotations} >= {"type", "definitions"}


def test_counted_lists_cost_nothing() -> None:
    small, large = (Grammar.from_json_schema({"type": "array", "items": {"type": "null"}, "maxItems": n}) for n in (2, 1_000_000))
    assert repr(small) == repr(large)
    assert accepts(large, "[" + "null," * 99 + "null]")


def test_many_strings() -> None:
    values = [f"value {i}" for i in range(10_000)]
    grammar = Grammar.from_json_schema({"enum": values})
    assert accepts(grammar, '"value 0"')
    assert accepts(grammar, '"value 9999"')
    assert not accepts(grammar, '"value 10000"')


def test_many_optional_properties() -> None:
    grammar = Grammar.from_json_schema({"properties": {f"p{i}": {"type": "integer"} for i in range(1_000)}, "additionalProperties": False})
    assert accepts(grammar, '{"p3": 1, "p500": 2, "p999": 3}')
    assert not accepts(grammar, '{"p500": 2, "p3": 1}')


def test_escapes() -> None:
    schema = {"properties": {"a": {"const": "é"}}, "additionalProperties": False}
    minimal, everything = (Grammar.from_json_schema(schema, escapes=escapes) for escapes in ("minimal", "all"))
    assert accepts(minimal, '{"a": "é"}')
    assert not accepts(minimal, '{"a": "\\u00e9"}')
    assert accepts(everything, '{"\\u0061": "\\u00e9"}')
    assert not accepts(everything, '{"\\u0062": "\\u00e9"}')
    excluded = Grammar.from_json_schema({"properties": {"a": {"type": "null"}}}, escapes="all")
    assert not accepts(excluded, '{"\\u0061": 1}')
    with pytest.raises(ValueError, match="escapes"):
        Grammar.from_json_schema({}, escapes="some")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("maxlength", "maxLength"),
        ("propertes", "properties"),
        ("requierd", "required"),
        ("enums", "enum"),
        ("minmum", "minimum"),
        ("Patern", "pattern"),
        ("additional_properties", "additionalProperties"),
        ("name", None),
        ("note", None),
        ("x-order", None),
        ("typ", None),
        ("", None),
        ("e" * 100_000, None),
    ],
)
def test_what_a_key_that_is_no_keyword_may_be_meant_for(key: str, meant: str | None) -> None:
    report = Grammar.from_json_schema({"type": "string", key: 1}).report
    (entry,) = [entry for entry in report.annotations if entry.keyword == key]
    assert entry.detail == "not a keyword of this draft" + (f"; is `{meant}` meant?" if meant else "")


def test_nullable_is_a_matter_of_openapi() -> None:
    report = Grammar.from_json_schema({"type": "string", "nullable": True}).report
    assert "OpenAPI 3.0" in report.annotations[0].detail and not is_read({"type": "string", "nullable": True}, "null")


@pytest.mark.parametrize(
    ("schema", "is_noted"),
    [
        ({"name": "f", "parameters": {"type": "object"}}, True),
        ({"title": "all"}, True),
        ({"format": "colour"}, True),
        ({}, False),
        (True, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, False),
        ({"properties": {"a": {"title": "a"}}}, False),
    ],
)
def test_schemas_of_which_nothing_is_enforced(schema: Any, is_noted: bool) -> None:
    notes = Grammar.from_json_schema(schema).report.notes
    assert ("no keyword of this schema is enforced: all of JSON is an instance" in [note.detail for note in notes]) == is_noted


def is_read(schema: Any, text: str, **options: str) -> bool:
    return accepts(Grammar.from_json_schema(schema, **options), text)


def test_the_sign_of_zero() -> None:
    """Where no number below zero may come, none begins with a minus; spelt in any way, zero has both signs."""
    for schema in ({"type": "integer", "minimum": 0}, {"type": "number", "minimum": 0}, {"const": 0}, {"enum": [0, 7]}):
        assert is_read(schema, "0") and not is_read(schema, "-0") and is_read(schema, "-0", number_style="any")
    for schema in ({"type": "integer"}, {"type": "number", "minimum": -1}, {"type": "number", "maximum": 0}):
        assert is_read(schema, "0") and is_read(schema, "-0")
    for style in ("canonical", "any"):
        for schema in ({"type": "number", "not": {"const": 0}}, {"type": "integer", "not": {"enum": [0, 1]}}, {"exclusiveMaximum": 0}):
            assert not is_read(schema, "0", number_style=style) and not is_read(schema, "-0", number_style=style)
