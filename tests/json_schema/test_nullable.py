"""`nullable` of OpenAPI 3.0: an annotation, or null beside a `type`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grammar_engine import Grammar, SchemaError, UnsatisfiableSchemaError

from .engine import accepts

jsonschema = pytest.importorskip("jsonschema")

NAME = {"type": "string", "nullable": True}
VALUES = [None, "", "a", "abc", 1, 2.5, True, [], [None], ["a"], {}, {"a": None}, {"a": "a"}, {"a": 1}, {"a": None, "b": None}]
MEANT: list[tuple[Any, Any]] = [  # and the same in words of JSON Schema
    (NAME, {"type": ["string", "null"]}),
    ({**NAME, "maxLength": 1}, {"type": ["string", "null"], "maxLength": 1}),
    ({"type": "string", "nullable": False}, {"type": "string"}),
    ({**NAME, "enum": ["a", None, 1]}, {"enum": ["a", None]}),
    ({**NAME, "enum": ["a"]}, {"enum": ["a"]}),
    ({**NAME, "const": None}, {"const": None}),
    ({"type": ["string", "null"], "nullable": False}, {"type": ["string", "null"]}),
    (
        {"type": "object", "nullable": True, "properties": {"a": NAME}},
        {"type": ["object", "null"], "properties": {"a": {"type": ["string", "null"]}}},
    ),
    ({"type": "array", "items": NAME}, {"type": "array", "items": {"type": ["string", "null"]}}),
    ({"not": NAME}, {"not": {"type": ["string", "null"]}}),
    ({"allOf": [NAME, {"type": "string"}]}, {"type": "string"}),
    ({"anyOf": [NAME, {"type": "string"}]}, {"type": ["string", "null"]}),
    ({"oneOf": [NAME, {"type": "null"}]}, {"type": "string"}),
    ({"$ref": "#/$defs/a", "nullable": True, "$defs": {"a": {"type": "string"}}}, {"type": "string"}),
    ({"properties": {"a": {"allOf": [{"type": "string"}], "nullable": True}}}, {"properties": {"a": {"type": "string"}}}),
    ({"$schema": "http://json-schema.org/draft-04/schema#", **NAME}, {"type": ["string", "null"]}),
    (
        {"anyOf": [{"properties": {"a": NAME}}, {"properties": {"a": {"type": "string"}, "b": True}}]},
        {"properties": {"a": {"type": ["string", "null"]}}},
    ),
    ({"properties": {"nullable": True}, "const": {"nullable": True}}, {"const": {"nullable": True}}),
]


@pytest.mark.parametrize(("schema", "meant"), MEANT, ids=[json.dumps(schema) for schema, _ in MEANT])
@pytest.mark.parametrize("closed", [False, True])
def test_a_type_or_null(schema: Any, meant: Any, closed: bool) -> None:
    grammar = Grammar.from_json_schema(schema, nullable=True, closed=closed)
    if "const" in schema and closed:
        assert accepts(grammar, json.dumps(schema["const"]))
        return
    same = Grammar.from_json_schema(meant, closed=closed)
    for value in VALUES:
        if not closed:
            assert accepts(grammar, json.dumps(value)) == jsonschema.Draft202012Validator(meant).is_valid(value), value
        assert accepts(grammar, json.dumps(value)) == accepts(same, json.dumps(value)), value


def test_it_is_an_annotation_without_the_option() -> None:
    grammar = Grammar.from_json_schema(NAME)
    assert not accepts(grammar, "null")
    (entry,) = [entry for entry in grammar.report.annotations if entry.keyword == "nullable"]
    assert entry.detail.endswith('for which JSON Schema has `"type": [..., "null"]`; nullable=True reads it so')
    Grammar.from_json_schema({"type": "string", "nullable": "yes"})


def test_the_report() -> None:
    def notes(schema: Any) -> list[str]:
        report = Grammar.from_json_schema(schema, nullable=True).report
        assert "nullable" in [entry.keyword for entry in report.enforced]
        return [note.detail for note in report.notes if note.keyword == "nullable"]

    assert notes(NAME) == notes({**NAME, "enum": [None, "a"]}) == notes({"nullable": False}) == []
    assert "without a `type`" in notes({"$ref": "#/$defs/a", "nullable": True, "$defs": {"a": {"type": "string"}}})[0]
    assert "listed beside it" in notes({**NAME, "enum": ["a"]})[0] and "listed beside it" in notes({**NAME, "const": "a"})[0]


def test_what_is_wrong() -> None:
    for value in ("yes", 1, None):
        with pytest.raises(SchemaError) as caught:
            Grammar.from_json_schema({"items": {"type": "string", "nullable": value}}, nullable=True)
        assert caught.value.pointer == "/items" and caught.value.keyword == "nullable"
    with pytest.raises(UnsatisfiableSchemaError) as empty:
        Grammar.from_json_schema({"allOf": [NAME, {"type": ["array", "null"], "nullable": True, "enum": [[]]}]}, nullable=True)
    assert set(empty.value.parts) == {"/allOf/0/type", "/allOf/1/enum"}
    with pytest.raises(TypeError, match="nullable is"):
        Grammar.from_json_schema(NAME, nullable="yes")  # type: ignore[arg-type]
