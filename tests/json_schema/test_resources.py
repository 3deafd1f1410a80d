"""References to other documents: `resources`, names of schemas, metaschemas."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import SchemaError, UnsupportedSchemaError
from grammar_engine.frontends.json_schema.reading.keywords import Draft, draft_of
from grammar_engine.frontends.json_schema.reading.resources import absolute, metaschemas

from .engine import accepts

INTEGER, NULL = {"type": "integer"}, {"type": "null"}
OTHER: Any = {
    "$defs": {
        "null": NULL,
        "named": {"$id": "sub/named.json", "$ref": "#/$defs/here", "$defs": {"here": NULL, "there": {"$anchor": "there", **NULL}}},
        "again": {"$ref": "#/$defs/null"},
        "up": {"$ref": "main.json#/$defs/null"},
        "urn": {"$id": "urn:example:null", "$anchor": "it", **NULL},
    },
    "$anchor": "top",
    **NULL,
}
MAIN = {"$id": "http://h/main.json", "$defs": {"null": NULL}}


@pytest.mark.parametrize(
    "reference",
    [
        "other.json",
        "other.json#",
        "http://h/other.json",
        "other.json#top",
        "other.json#/$defs/null",
        "other.json#/%24defs/null",
        "other.json#/$defs/again",
        "other.json#/$defs/up",
        "other.json#/$defs/named",
        "other.json#/$defs/named/$defs/here",
        "sub/named.json",
        "sub/named.json#/$defs/here",
        "sub/named.json#there",
        "urn:example:null",
        "urn:example:null#it",
    ],
)
def test_where_references_lead(reference: str) -> None:
    grammar = Grammar.from_json_schema({**MAIN, "$ref": reference}, resources={"http://h/other.json": OTHER})
    assert accepts(grammar, "null")
    assert not accepts(grammar, "1")


@pytest.mark.parametrize("names", [("./p.json", "./q.json"), ("p.json", "././q.json#"), ("./p.json#", "q.json")])
def test_a_dot_before_a_relative_name(names: tuple[str, str]) -> None:
    """Files beside each other that refer to each other by `./` are given as they are referred to, or without it."""
    file = {"properties": {"q": {"$ref": "./q.json"}}}
    grammar = Grammar.from_json_schema({"items": {"$ref": "./p.json"}}, resources=dict(zip(names, (file, INTEGER))))
    assert accepts(grammar, '[{"q": 1}]')
    assert not accepts(grammar, '[{"q": null}]')


def test_names_of_resources_that_are_no_uris() -> None:
    with pytest.raises(SchemaError, match="is no URI"):
        Grammar.from_json_schema(True, resources={"http://[x#": True})


def test_the_name_inside_a_document_is_the_base_of_its_references() -> None:
    """A document may be given under one URI and call itself by another: both lead to it."""
    resources = {"http://h/given": {"$id": "http://k/own/", "$ref": "next"}, "http://k/own/next": INTEGER}
    for reference in ("http://h/given", "http://k/own/"):
        grammar = Grammar.from_json_schema({"$ref": reference}, resources=resources)
        assert accepts(grammar, "1")
        assert not accepts(grammar, "null")


def test_resources_without_absolute_names() -> None:
    grammar = Grammar.from_json_schema(
        {"$ref": "common.json#/definitions/a"}, resources={"common.json": '{"definitions": {"a": {"maximum": 0.1}}}'}
    )
    assert accepts(grammar, "0.1")
    assert not accepts(grammar, "0.2")


def test_recursion_through_documents() -> None:
    resources = {"http://h/b": {"type": "array", "items": {"$ref": "http://h/a"}}}
    grammar = Grammar.from_json_schema({"$id": "http://h/a", "anyOf": [NULL, {"$ref": "b"}]}, resources=resources)
    assert accepts(grammar, "[[null], []]")
    assert not accepts(grammar, "[[1]]")


def test_each_document_in_its_draft() -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [NULL], "$ref": "#/definitions/a", "maxItems": 0}
    resources = {"http://h/old": {**old, "definitions": {"a": {"items": [INTEGER]}}}}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "http://h/old", "maxItems": 2}
    grammar = Grammar.from_json_schema(schema, resources=resources)
    assert accepts(grammar, '[1, "a"]')
    assert not accepts(grammar, "[null]")
    assert not accepts(grammar, "[1, 2, 3]")


def test_not_given() -> None:
    with pytest.raises(UnsupportedSchemaError, match="`resources`") as caught:
        Grammar.from_json_schema({"$id": "http://h/a", "items": {"$ref": "b#/x"}})
    assert (caught.value.pointer, caught.value.keyword) == ("/items", "$ref")
    assert "http://h/b" in caught.value.reason
    report = Grammar.from_json_schema({"items": {"$ref": "b"}}, lenient=True).report
    assert [(e.pointer, e.keyword) for e in report.relaxed] == [("/items", "$ref")]


def test_errors_name_the_document() -> None:
    with pytest.raises(SchemaError) as caught:
        Grammar.from_json_schema({"$ref": "http://h/b#/$defs/x"}, resources={"http://h/b": {"$defs": {"x": {"type": "nothing"}}}})
    assert caught.value.pointer == "http://h/b#/$defs/x"
    with pytest.raises(SchemaError, match="http://h/b"):
        Grammar.from_json_schema({"$ref": "http://h/b"}, resources={"http://h/b": '{"a": 1,}'})
    with pytest.raises(SchemaError, match="no place '/x' in 'http://h/b'"):
        Grammar.from_json_schema({"$ref": "http://h/b#/x"}, resources={"http://h/b": {}})


def test_documents_that_are_not_asked_for_are_not_read() -> None:
    assert accepts(Grammar.from_json_schema(NULL, resources={"http://h/b": "no JSON"}), "null")


def test_a_name_given_twice() -> None:
    twice = {"a": {"$id": "http://h/a", **NULL}, "b": {"$id": "http://h/a", **INTEGER}}
    with pytest.raises(SchemaError, match="two different schemas"):
        Grammar.from_json_schema({"$defs": twice, "$ref": "http://h/a"})
    Grammar.from_json_schema({"$defs": twice, "$ref": "#/$defs/a"})
    same = {"a": {"$id": "http://h/a", **NULL}, "b": {"$id": "http://h/a", **NULL}}
    assert accepts(Grammar.from_json_schema({"$defs": same, "$ref": "http://h/a"}), "null")
    alike = {"a": {"$id": "http://h/a", "const": 1}, "b": {"$id": "http://h/a", "const": True}}
    with pytest.raises(SchemaError, match="two different schemas"):
        Grammar.from_json_schema({"$defs": alike, "$ref": "http://h/a"})


def test_one_object_in_two_resources() -> None:
    """What a Python object means depends on where it stands; JSON text has no such objects."""
    shared = {"$id": "m", "$ref": "x"}
    schema = {
        "properties": {"a": {"$ref": "http://a/"}, "b": {"$ref": "http://b/"}},
        "$defs": {
            "A": {"$id": "http://a/", "items": shared, "$defs": {"x": {"$id": "x", "type": "string"}}},
            "B": {"$id": "http://b/", "items": shared, "$defs": {"x": {"$id": "x", "type": "integer"}}},
        },
    }
    for written in (schema, json.dumps(schema)):
        grammar = Grammar.from_json_schema(written)
        for text, right in [('{"a": ["s"]}', True), ('{"a": [1]}', False), ('{"b": [1]}', True), ('{"b": ["s"]}', False)]:
            assert accepts(grammar, text) is right
    anchored = {"$anchor": "n", "type": "null"}
    schema = {
        "items": {"$ref": "http://b/#n"},
        "$defs": {"A": {"$id": "http://a/", "items": anchored}, "B": {"$id": "http://b/", "items": anchored}},
    }
    assert accepts(Grammar.from_json_schema(schema), "[null]") and not accepts(Grammar.from_json_schema(schema), "[1]")


@pytest.mark.parametrize("uri", [uri for uri in metaschemas() if draft_of(uri)])
def test_metaschemas(uri: str) -> None:
    """The patterns of a metaschema are regular expressions, so `format: regex` is given up; the rest is exact."""
    grammar = Grammar.from_json_schema({"$ref": uri + "#"}, lenient=True)
    for text in ['{"type": "string"}', '{"items": {"minLength": 1}}', '{"properties": {"a": {"enum": [1]}}}']:
        assert accepts(grammar, text), text
    for text in ['{"type": "strong"}', '{"items": {"minLength": -1}}', '{"properties": {"a": 1}}', "1"]:
        assert not accepts(grammar, text), text


def test_metaschemas_are_complete() -> None:
    pytest.importorskip("jsonschema_specifications")
    assert {draft_of(uri) for uri in metaschemas()} - {None} == set(Draft) - {Draft.UNSTATED}


@pytest.mark.parametrize("base", ["", "http://x.y/z", "https://q/", "urn:a:b", "file:///a/b", "a/b"])
@pytest.mark.parametrize(
    "name",
    ["http://x.y", "http://x.y/", "https://a/b/../c", "https://a/./%41", "foo://z//y", "http://x/?q", "HTTP://x/a", "http:///a", "b/c"],
)
def test_what_a_uri_stands_for_is_what_urljoin_says(base: str, name: str) -> None:
    assert absolute(base, name, "") == urljoin(base, name)
