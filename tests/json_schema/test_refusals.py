"""Nothing is dropped in silence: the registry, the report, `lenient`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grammar_engine import Grammar, Limits, Matcher, Tag
from grammar_engine.errors import GrammarError, LimitExceededError, UnsatisfiableSchemaError, UnsupportedSchemaError
from grammar_engine.frontends.json_schema.reading.keywords import REGISTRY, Draft, Status, draft_of, table

from .engine import BYTES, accepts

UNSUPPORTED = [
    ("uniqueItems", {"prefixItems": [{"type": "array"}, {"const": []}], "uniqueItems": True}),
    ("$ref", {"$ref": "http://other/schema"}),
    ("pattern", {"pattern": r"(a)\1"}),
    ("patternProperties", {"patternProperties": {r"(a)\1": {}}}),
    ("multipleOf", {"allOf": [{"multipleOf": 10**600 + 1}, {"multipleOf": 10**601 + 1}]}),
    ("oneOf/0 uniqueItems", {"oneOf": [{"items": {"type": "string"}, "uniqueItems": True}, {"maxItems": 3}]}),
    ("not uniqueItems", {"maxItems": 3, "not": {"uniqueItems": True}}),
]


@pytest.mark.parametrize(("keyword", "schema"), UNSUPPORTED, ids=[keyword for keyword, _ in UNSUPPORTED])
def test_unsupported(keyword: str, schema: Any) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        Grammar.from_json_schema({"properties": {"a/b": schema}})
    error = caught.value
    assert error.pointer.startswith("/properties/a~1b")
    assert error.keyword
    assert error.reason
    assert error.can_be_relaxed
    assert str(error).endswith("lenient=True gives it up")
    relaxed = Grammar.from_json_schema({"properties": {"a/b": schema}}, lenient=True).report.relaxed
    *below, keyword = keyword.split()
    assert [(e.pointer, e.keyword) for e in relaxed] == [("/".join(["/properties/a~1b", *below]), keyword)]
    assert relaxed[0].detail


def test_unsupported_where_it_cannot_matter() -> None:
    assert accepts(Grammar.from_json_schema({"type": "string", "uniqueItems": True, "contains": {}}), '"a"')


def test_every_keyword_has_a_status() -> None:
    names = [keyword.name for keyword in REGISTRY]
    assert len(names) == len(set(names))
    for draft in Draft:
        assert "type" in table(draft)
    assert draft_of("http://json-schema.org/draft-07/schema#") is Draft.DRAFT7
    assert draft_of("http://example.com/own") is None


@pytest.mark.parametrize("keyword", [k for k in REGISTRY if k.status is not Status.ANNOTATION], ids=lambda k: k.name)
def test_no_assertion_is_ignored(keyword: Any) -> None:
    """A keyword that is no annotation is read: nonsense as its value is an error, or at least not an annotation."""
    schema = {"$schema": "https://json-schema.org/draft/2019-09/schema"} if keyword.until == 2019 else {}
    try:
        grammar = Grammar.from_json_schema({**schema, keyword.name: [["nonsense"]]})
    except GrammarError:
        return
    assert keyword.name in {e.keyword for e in grammar.report.enforced}


def test_report() -> None:
    schema = {"title": "T", "type": "object", "x-mine": 1, "properties": {"a": {"format": "color", "maxLength": 3}}}
    report = Grammar.from_json_schema(schema).report
    assert [(e.pointer, e.keyword) for e in report.enforced] == [("", "type"), ("", "properties"), ("/properties/a", "maxLength")]
    assert [(e.pointer, e.keyword) for e in report.annotations] == [("", "title"), ("", "x-mine"), ("/properties/a", "format")]
    assert report.relaxed == []
    assert [e.keyword for e in report.notes] == ["additionalProperties"]


def test_lenient_only_admits_more() -> None:
    schema = {"type": "array", "maxItems": 2, "not": {"uniqueItems": True}}
    grammar = Grammar.from_json_schema(schema, lenient=True)
    assert accepts(grammar, "[1, 1]")
    assert accepts(grammar, "[1, 2]"), "given up, so admitted"
    assert not accepts(grammar, "[1]")
    assert {e.keyword for e in grammar.report.relaxed} == {"uniqueItems"}
    assert "uniqueItems" not in {e.keyword for e in grammar.report.enforced}


BACK_REFERENCE = {"type": "string", "pattern": r"(a)\1"}
DISTINCT = {"type": "array", "uniqueItems": True}
HARD = {"prefixItems": [{"type": "array"}, {"const": []}], "uniqueItems": True}
FEW = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}
MOST = {"type": "array", "maxItems": 9}  # beside a negation of FEW or DISTINCT: two items are equal, and they are bounded
RELAXED = [  # what exactly is given up: keywords that stand there
    ({"not": {"not": DISTINCT}}, []),
    ({**MOST, "not": DISTINCT}, [("/not", "uniqueItems")]),
    ({"properties": {"a": MOST}, "not": {"properties": {"a": DISTINCT}}}, [("/not/properties/a", "uniqueItems")]),
    ({"items": MOST, "not": {"items": DISTINCT}}, [("/not/items", "uniqueItems")]),
    ({"not": {"not": BACK_REFERENCE}}, [("/not/not", "pattern"), ("/not", "not"), ("", "not")]),
    ({"not": {"items": BACK_REFERENCE}}, [("/not/items", "pattern")]),
    ({"not": {"properties": {"not": BACK_REFERENCE}}}, [("/not/properties/not", "pattern")]),
    ({"properties": {"not": HARD}, "maxProperties": 1}, [("/properties/not", "uniqueItems")]),
    ({"if": BACK_REFERENCE, "then": {"minLength": 3}}, [("/if", "pattern"), ("", "if")]),
    ({"if": {"properties": {"a": BACK_REFERENCE}}, "then": {"required": ["b"]}}, [("/if/properties/a", "pattern")]),
    ({"$defs": {"u": DISTINCT}, **MOST, "not": {"$ref": "#/$defs/u"}}, [("/$defs/u", "uniqueItems")]),
    ({"type": "array", "items": MOST, "contains": FEW, "maxContains": 1}, [("/contains", "uniqueItems")]),
    ({"oneOf": [{"properties": {"a": FEW}}, {"required": ["b"]}], "properties": {"a": MOST}}, [("/oneOf/0/properties/a", "uniqueItems")]),
    ({"properties": {"a": {**MOST, "not": FEW}, "b": {**MOST, "not": FEW.copy()}}}, [("/properties/a/not", "uniqueItems")]),  # one negation
    ({"properties": {"a": {"if": FEW, "then": {}}, "b": {**MOST, "not": DISTINCT}}}, [("/properties/b/not", "uniqueItems")]),
]


@pytest.mark.parametrize(("schema", "relaxed"), RELAXED, ids=[str(schema) for schema, _ in RELAXED])
def test_each_relaxation_is_named_where_it_stands(schema: Any, relaxed: list[tuple[str, str]]) -> None:
    report = Grammar.from_json_schema(schema, lenient=True).report
    assert [(entry.pointer, entry.keyword) for entry in report.relaxed] == relaxed
    assert not set(relaxed) & {(entry.pointer, entry.keyword) for entry in report.enforced}


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"not": {"type": "array", "prefixItems": [FEW], "items": FEW}}},
        {"if": {"not": {"type": "array", "prefixItems": [FEW], "items": FEW}}, "then": {"type": "string"}},
        {"type": "string", "not": {"oneOf": [{"properties": {"k": FEW}, "required": ["k"]}, {"properties": {"k": False}}]}},
    ],
)
def test_lenient_relaxes_nothing_that_is_only_needed_for_a_proof(schema: Any) -> None:
    Grammar.from_json_schema(schema)
    assert Grammar.from_json_schema(schema, lenient=True).report.relaxed == []


def test_lenient_admits_more_where_an_unknown_format_is_negated() -> None:
    grammar = Grammar.from_json_schema({"not": {"type": "string", "format": "color"}}, lenient=True, formats="strict")
    assert accepts(grammar, '"a"'), "it may be no color"
    assert [(entry.pointer, entry.keyword) for entry in grammar.report.relaxed] == [("/not", "format"), ("", "not")]


def test_lenient_one_of() -> None:
    """Treated as anyOf, and only that."""
    schema = {"oneOf": [{"type": "string", "format": "color"}, {"type": "string", "maxLength": 3}, {"type": "null"}]}
    grammar = Grammar.from_json_schema(schema, lenient=True, formats="strict")
    assert accepts(grammar, '"red"') and accepts(grammar, '"azure"') and accepts(grammar, "null") and not accepts(grammar, "1")
    assert [(entry.pointer, entry.keyword) for entry in grammar.report.relaxed] == [("/oneOf/0", "format"), ("", "oneOf")]


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"not": {}},
        {"type": "string", "enum": [1]},
        {"type": "integer", "minimum": 2, "maximum": 1},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "array", "minItems": 2, "maxItems": 1},
        {"allOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [True, True]},
        {"enum": []},
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
    ],
)
def test_unsatisfiable(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"type": "string", "pattern": "^a$", "minLength": 2},
        {"type": "array", "items": {"type": "string", "pattern": "^a$", "minLength": 2}, "minItems": 1},
    ],
)
def test_unsatisfiable_as_the_core_finds(schema: Any) -> None:
    with pytest.raises(GrammarError):
        Grammar.from_json_schema(schema)


TOO_MUCH = {
    "anyOf": {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(20)]},
    "oneOf": {"oneOf": [{"type": "object", "properties": {f"k{i}_{j}": {"type": "integer"} for j in range(6)}} for i in range(10)]},
    "patternProperties": {"patternProperties": {f"[a-z]{i}": {"minimum": i} for i in range(12)}},
    "minimum": {"type": "number", "minimum": 10**2000, "maximum": 5},
    "enum": {"type": "integer", "enum": [10**2000]},
    "minItems": {"type": "array", "minItems": 2**40},
    "contains": {"allOf": [{"contains": {"multipleOf": p}, "maxContains": 2} for p in (2, 3, 5, 7, 11, 13, 17, 19, 23)]},
    "unevaluatedProperties": {
        "anyOf": [{"properties": {f"p{i}": True, "q": {"maximum": i}}} for i in range(16)],
        "unevaluatedProperties": False,
    },
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_lenient_gives_up_what_is_too_much(name: str) -> None:
    """It never raises for what it cannot enforce, and says what that is; what else a schema says still holds."""
    with pytest.raises((UnsupportedSchemaError, LimitExceededError)):
        Grammar.from_json_schema(TOO_MUCH[name])
    grammar = Grammar.from_json_schema(TOO_MUCH[name], lenient=True)
    assert grammar.report.relaxed
    assert all(entry.keyword and entry.detail for entry in grammar.report.relaxed)
    kind = TOO_MUCH[name].get("type")
    assert accepts(grammar, "3") == (kind in (None, "integer", "number"))
    assert accepts(grammar, "[]") == (kind in (None, "array"))


@pytest.mark.parametrize("limits", [None, Limits(max_regex_nesting=3)])
def test_what_was_given_up_is_not_read_again(limits: Limits | None) -> None:
    """The records of a grammar are read by other processes, and where it is a part of another one."""
    pattern = r"^(.)\1" if limits is None else "((((a))))"
    properties = {"a": {"type": "string", "pattern": pattern}, "b": {"type": "string", "pattern": "^b$"}}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    options = {"lenient": True, "whitespace": "compact"}
    grammar = Grammar.from_json_schema(schema, limits=limits, **options)
    text = '{"a":"xy","b":"b"}'
    wholes = [
        (Grammar.from_bytes(grammar.to_bytes(), limits=limits), text),
        (Grammar.from_tags([Tag("<a>", grammar, "</a>")], text="never", limits=limits), f"<a>{text}</a>"),
        (Grammar.from_lark(f"start: %json {json.dumps(schema)}", schema_options=options, limits=limits), text),
        (
            Grammar.from_structural_tag({"format": {"type": "json_schema", "json_schema": schema}}, schema_options=options, limits=limits),
            text,
        ),
    ]
    for whole, read in wholes:
        matcher = Matcher(whole, BYTES)
        assert matcher.accept_bytes(read.encode()) and matcher.is_complete
        assert not Matcher(whole, BYTES).accept_bytes(read.replace('"b"}', '"c"}').encode())
