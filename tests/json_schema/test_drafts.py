"""The five drafts: the same words, different meanings; and schemas that do not say which one they are written in."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import SchemaError, UnsupportedSchemaError

from .engine import accepts

URIS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
NULL = {"type": "null"}

# a schema, a text, and the drafts in which the text is refused
ROWS: list[tuple[Any, str, set[int]]] = [
    ({"const": 1}, "2", {6, 7, 2019, 2020}),
    ({"contains": NULL}, "[1]", {6, 7, 2019, 2020}),
    ({"propertyNames": {"maxLength": 1}}, '{"ab": 1}', {6, 7, 2019, 2020}),
    ({"if": NULL, "then": False}, "null", {7, 2019, 2020}),
    ({"minimum": 1, "exclusiveMinimum": True}, "1", {4}),
    ({"exclusiveMinimum": 1}, "1", {6, 7, 2019, 2020}),
    ({"items": [NULL], "additionalItems": False}, "[null, 1]", {4, 6, 7, 2019}),
    ({"prefixItems": [NULL]}, "[1]", {2020}),
    ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}', {2019, 2020}),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, '{"a": 1}', {2019, 2020}),
    ({"dependencies": {"a": ["b"]}}, '{"a": 1}', {4, 6, 7, 2019, 2020}),
    ({"contains": NULL, "minContains": 2}, "[null]", {2019, 2020}),
    ({"unevaluatedProperties": False}, '{"a": 1}', {2019, 2020}),
    ({"unevaluatedItems": False}, "[1]", {2019, 2020}),
    ({"$ref": "#/definitions/any", "maximum": 1, "definitions": {"any": {}}}, "2", {2019, 2020}),
    ({"$ref": "#here", "definitions": {"a": {"$anchor": "here", **NULL}}}, "1", {2019, 2020}),
    ({"$ref": "#here", "definitions": {"a": {"$id": "#here", **NULL}}}, "1", {6, 7}),
    ({"$ref": "#here", "definitions": {"a": {"id": "#here", **NULL}}}, "1", {4}),
    ({"then": False, "else": False}, "1", set()),
]


@pytest.mark.parametrize(("schema", "text", "refused"), ROWS, ids=lambda part: "-".join(part) if isinstance(part, dict) else "")
def test_meaning_by_draft(schema: Any, text: str, refused: set[int]) -> None:
    for draft, uri in URIS.items():
        stated = {"$schema": uri, **schema}
        if draft in refused:
            assert not accepts(Grammar.from_json_schema(stated), text), draft
            continue
        try:
            grammar = Grammar.from_json_schema(stated)
        except SchemaError as error:  # malformed in this draft: a bound that is true, a name that is not there
            assert not isinstance(error, UnsupportedSchemaError)
            assert error.keyword in ("exclusiveMinimum", "items", "$ref")
        else:
            assert accepts(grammar, text), draft


@pytest.mark.parametrize(
    ("draft", "schema", "keyword"),
    [
        (2020, {"items": [NULL]}, "items"),
        (7, {"minimum": 1, "exclusiveMinimum": True}, "exclusiveMinimum"),
        (4, {"exclusiveMaximum": 1}, "exclusiveMaximum"),
        (2020, {"$id": 1}, "$id"),
        (2019, {"$id": "http://h/a#b"}, "$id"),
        (2020, {"$anchor": ["a"]}, "$anchor"),
        (2020, {"$defs": [NULL]}, "$defs"),
        (2019, {"$recursiveAnchor": "yes"}, "$recursiveAnchor"),
    ],
)
def test_malformed_in_the_stated_draft(draft: int, schema: Any, keyword: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Grammar.from_json_schema({"$schema": URIS[draft], "not": schema})
    assert (caught.value.pointer, caught.value.keyword) == ("/not", keyword)
    assert not isinstance(caught.value, UnsupportedSchemaError)


@pytest.mark.parametrize(
    ("schema", "accepted", "refused", "noted"),
    [
        ({"$ref": "#/definitions/a", "definitions": {"a": NULL}}, "null", "1", {"definitions"}),
        ({"dependencies": {"a": ["b"]}}, '{"b": 1}', '{"a": 1}', {"dependencies"}),
        ({"items": [NULL], "additionalItems": False}, "[null]", "[null, 1]", {"items", "additionalItems"}),
        ({"minimum": 1, "exclusiveMinimum": True}, "2", "1", {"exclusiveMinimum"}),
        ({"prefixItems": [NULL], "items": False, "exclusiveMinimum": 1}, "[null]", "[null, 1]", set()),
    ],
)
def test_old_spellings_without_a_draft(schema: Any, accepted: str, refused: str, noted: set[str]) -> None:
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, accepted)
    assert not accepts(grammar, refused)
    assert {e.keyword for e in grammar.report.notes if "2020-12" in e.detail or "draft 4" in e.detail or "2019-09" in e.detail} == noted


def test_a_subschema_may_be_of_another_draft() -> None:
    old = {"$id": "http://h/old", "$schema": URIS[7], "prefixItems": [NULL], "items": [{"type": "integer"}]}
    grammar = Grammar.from_json_schema({"$schema": URIS[2020], "properties": {"old": old, "new": {"prefixItems": [NULL]}}})
    assert accepts(grammar, '{"old": [1], "new": [null]}')
    assert not accepts(grammar, '{"old": [null]}')
    assert not accepts(grammar, '{"new": [1]}')


META = "http://h/meta"
VOCABULARY = "https://json-schema.org/draft/2020-12/vocab/"


def own(**used: bool) -> Any:
    listed = {VOCABULARY + name.replace("_", "-"): required for name, required in used.items()}
    return {META: {"$id": META, "$schema": URIS[2020], "$vocabulary": {VOCABULARY + "core": True, **listed}}}


def test_vocabularies() -> None:
    """Keywords of vocabularies that the metaschema does not list are annotations."""
    schema = {"$schema": META, "properties": {"a": {"minimum": 10}, "b": False}, "required": ["a"], "unevaluatedProperties": False}
    grammar = Grammar.from_json_schema(schema, resources=own(applicator=True))
    assert accepts(grammar, '{"a": 1}')
    assert accepts(grammar, '{"c": 1}')
    assert not accepts(grammar, '{"b": 1}')
    assert {e.keyword for e in grammar.report.annotations} == {"$schema", "minimum", "required", "unevaluatedProperties"}
    grammar = Grammar.from_json_schema(schema, resources=own(applicator=True, validation=True, unevaluated=True))
    assert accepts(grammar, '{"a": 10}')
    assert not accepts(grammar, '{"a": 1}')
    assert not accepts(grammar, '{"a": 10, "c": 1}')


@pytest.mark.parametrize("uri", ["http://h/units", VOCABULARY + "nothing", "https://json-schema.org/draft/2019-09/vocab/validation"])
def test_unknown_vocabularies(uri: str) -> None:
    def resources(required: bool) -> Any:
        return {META: {"$schema": URIS[2020], "$vocabulary": {uri: required, VOCABULARY + "validation": True}}}

    assert not accepts(Grammar.from_json_schema({"$schema": META, **NULL}, resources=resources(False)), "1")
    with pytest.raises(UnsupportedSchemaError, match=uri) as caught:
        Grammar.from_json_schema({"$schema": META, **NULL}, resources=resources(True))
    assert caught.value.keyword == "$schema"
    report = Grammar.from_json_schema({"$schema": META, **NULL}, resources=resources(True), lenient=True).report
    assert [e.keyword for e in report.relaxed] == ["$schema"]


def test_unknown_metaschema() -> None:
    grammar = Grammar.from_json_schema({"$schema": META, "prefixItems": [NULL]})
    assert not accepts(grammar, "[1]")
    assert "$schema" in {e.keyword for e in grammar.report.notes}
    with pytest.raises(SchemaError):
        Grammar.from_json_schema({"$schema": 2020})


def test_drafts_that_are_too_old() -> None:
    """They are not read as another draft in silence, though the metaschema of the third may be at hand."""
    grammar = Grammar.from_json_schema({"$schema": "http://json-schema.org/draft-03/schema#", "items": NULL, "divisibleBy": 2})
    assert not accepts(grammar, "[1]")
    (note,) = (e for e in grammar.report.notes if e.keyword == "$schema")
    assert "name a draft from 4 on" in note.detail


def test_integers_of_draft_4_beside_others() -> None:
    """What an integer is depends on the draft of the schema that asks for one."""
    old = {"$id": "http://h/old", "id": "http://h/old", "$schema": URIS[4], "type": "integer"}
    schema = {"$schema": URIS[2020], "prefixItems": [{"$ref": "http://h/old"}, {"type": "integer"}], "$defs": {"old": old}}
    grammar = Grammar.from_json_schema(schema, number_style="any")
    assert accepts(grammar, "[5, 5]")
    assert accepts(grammar, "[5, 5.0]")
    assert not accepts(grammar, "[5.0, 5]")
    assert not accepts(grammar, "[5.5]")


SPELLINGS = [
    "3",
    "-3",
    "-0",
    "3.0",
    "30e-1",
    "3e0",
    "0.3E1",
    "0e-1",
    "0.0",
    "1.5",
    "15e-1",
    "4",
    "4.0",
    "1e22",
    "1" + "0" * 22,
    "1" + "0" * 22 + ".0",
    "null",
]
IN_DIGITS = {"3", "-3", "-0", "4", "1" + "0" * 22}
INTEGER: dict[str, Any] = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "accepted"),
    [
        (INTEGER, lambda text, value: text in IN_DIGITS),
        ({"type": ["integer", "null"]}, lambda text, value: text in IN_DIGITS or value is None),
        ({"not": INTEGER}, lambda text, value: text not in IN_DIGITS),
        ({"not": {"not": INTEGER}}, lambda text, value: text in IN_DIGITS),
        (
            {"type": "number", "not": INTEGER, "multipleOf": 1},
            lambda text, value: value is not None and text not in IN_DIGITS and value % 1 == 0,
        ),
        ({"type": "number", "multipleOf": 1}, lambda text, value: value is not None and value % 1 == 0),
        ({"type": "number", "multipleOf": 1.5}, lambda text, value: value is not None and value % Decimal("1.5") == 0),
        ({"type": "number", "multipleOf": 0.1}, lambda text, value: value is not None),
        ({**INTEGER, "multipleOf": 1.5}, lambda text, value: text in {"3", "-3", "-0"}),
        ({**INTEGER, "minimum": 3, "maximum": 4}, lambda text, value: text in {"3", "4"}),
        ({"type": "number", "minimum": 3, "not": INTEGER}, lambda text, value: value is not None and value >= 3 and text not in IN_DIGITS),
        ({"enum": [3, 1e22, 1.5]}, lambda text, value: value in (3, Decimal(10) ** 22, Decimal("1.5"))),
        ({**INTEGER, "enum": [3, 1e22, 1.5]}, lambda text, value: text in {"3", "1" + "0" * 22}),
        ({"not": {**INTEGER, "enum": [3]}}, lambda text, value: text != "3"),
        ({"not": {"enum": [3]}}, lambda text, value: value != 3),
        ({"oneOf": [INTEGER, {"type": "number"}]}, lambda text, value: value is not None and text not in IN_DIGITS),
        ({"anyOf": [{**INTEGER, "enum": [3]}, {"enum": [4]}]}, lambda text, value: text == "3" or value == 4),
        ({"allOf": [INTEGER, {"not": {"multipleOf": 2}}]}, lambda text, value: text in {"3", "-3"}),
    ],
)
def test_numbers_of_draft_4(schema: Any, accepted: Any) -> None:
    """An integer is told by how it is written; all else is about the value. The canonical style has some spelling of each."""
    stated = {"$schema": URIS[4], **schema}
    values = {text: None if text == "null" else Decimal(text) for text in SPELLINGS}
    grammar, canonical = Grammar.from_json_schema(stated, number_style="any"), Grammar.from_json_schema(stated)
    for text, value in values.items():
        assert accepts(grammar, text) == accepted(text, value), text
        assert accepted(text, value) or not accepts(canonical, text), text
    for value in {value for text, value in values.items() if accepted(text, value)}:
        assert any(accepts(canonical, text) for text, other in values.items() if other == value), value
