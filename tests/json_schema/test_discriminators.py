"""`discriminator`, which OpenAPI and pydantic know: an annotation, or what it names is required."""

from __future__ import annotations

import itertools
import json
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

import pytest

from grammar_engine import Grammar, GrammarCache, LimitExceededError, SchemaError, Tag, UnsatisfiableSchemaError

from .engine import accepts

jsonschema = pytest.importorskip("jsonschema")

BY_KIND = {"propertyName": "kind"}
KINDS = ["cat", "dog", "cow"]


def model(kind: str) -> dict[str, Any]:
    """As pydantic tells a model whose discriminator has a default."""
    return {"type": "object", "properties": {"kind": {"const": kind, "default": kind}, kind: {"type": "integer"}}}


UNION = {"oneOf": [model(kind) for kind in KINDS], "discriminator": BY_KIND}
OBJECTS = [
    dict(zip(keys, values))
    for n in range(4)
    for keys in itertools.combinations(["kind", "cat", "dog"], n)
    for values in itertools.product(*(["cat", "cow", "x"] if key == "kind" else [1, "x"] for key in keys))
]
VALUES = [*OBJECTS, None, 1, "kind", [], [{}]]


@pytest.mark.parametrize(
    "schema",
    [
        UNION,
        {**UNION, "required": ["cat"]},
        {"anyOf": UNION["oneOf"], "discriminator": BY_KIND},
        {"anyOf": [UNION, {"type": "null"}]},
        {"allOf": [{"discriminator": BY_KIND}, {"required": ["cat", "kind"]}]},
        {"allOf": [UNION, {"minProperties": 2}]},
        {"not": UNION},
        {"if": {"discriminator": BY_KIND}, "then": UNION},
        {"discriminator": BY_KIND, "type": ["object", "null"]},
        {
            "discriminator": BY_KIND,
            "unevaluatedProperties": False,
            "properties": {"cat": True},
            "anyOf": [{"properties": {"kind": True}}, {}],
        },
        {"$ref": "#/$defs/a", "discriminator": BY_KIND, "$defs": {"a": model("cat")}},
        {"anyOf": [{**model("cat"), "discriminator": BY_KIND}, model("cat")]},
        {
            "anyOf": [
                {"properties": {"cat": {"discriminator": BY_KIND}}},
                {"properties": {"cat": {"discriminator": {"propertyName": "cat"}}}},
            ]
        },
        {"$schema": "http://json-schema.org/draft-04/schema#", **UNION},
    ],
    ids=str,
)
def test_what_it_names_is_required(schema: dict[str, Any]) -> None:
    for option, meant in ("annotation", schema), ("required", _with_required(schema)):
        grammar = Grammar.from_json_schema(schema, discriminators=option, property_order="any")
        for value in VALUES:
            assert accepts(grammar, json.dumps(value)) == is_valid(meant, value), (option, value)
        places = [entry.pointer for entry in grammar.report.enforced if entry.keyword == "discriminator"]
        told = [entry for entry in grammar.report.annotations if entry.keyword == "discriminator"]
        assert (bool(places), bool(told)) == ((False, True) if option == "annotation" else (True, False))


def is_valid(schema: Any, value: Any) -> bool:
    """What the draft of the schema says."""
    return bool(jsonschema.validators.validator_for(schema)(schema).is_valid(value))


def _with_required(schema: Any) -> Any:
    """The same in words of JSON Schema."""
    if isinstance(schema, list):
        return [_with_required(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _with_required(value) for key, value in schema.items()}
    name = result.pop("discriminator", {}).get("propertyName")
    return {**result, "required": [*result.get("required", []), name]} if name else result


def test_closed_models_that_differ_in_it_alone() -> None:
    """Under `closed` schemas that are written alike count as one: these are not."""
    member = {"type": "object", "properties": {"kind": True, "a": True}}
    branches = [{"properties": {"x": {**member, **more}, "y": True}, "required": ["x"]} for more in ({"discriminator": BY_KIND}, {})]
    schema = {"type": "object", "anyOf": [branches[0], {**branches[1], "required": ["x", "y"]}]}
    for option, is_read in ("annotation", True), ("required", False):
        grammar = Grammar.from_json_schema(schema, closed=True, discriminators=option)
        assert accepts(grammar, '{"x": {"a": 1}}') is is_read
        assert accepts(grammar, '{"x": {"kind": 1}}') and accepts(grammar, '{"x": {"a": 1}, "y": 1}')


def test_where_it_is_no_keyword() -> None:
    """Beside `$ref` until draft 7, as a name, and in what is listed."""
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/a",
        "discriminator": BY_KIND,
        "definitions": {"a": {}},
    }
    named = {"properties": {"discriminator": {"type": "integer"}}}
    for schema, text in (old, "{}"), (named, '{"discriminator": 1}'), ({"const": {"discriminator": 1}}, '{"discriminator": 1}'):
        assert accepts(Grammar.from_json_schema(schema, discriminators="required"), text)


def test_other_documents_and_metaschemas() -> None:
    """Each document is read so, whatever it is written in."""
    resources = {
        "https://example.com/a": UNION,
        "https://example.com/m": {"$vocabulary": {}, "$schema": "https://json-schema.org/draft/2020-12/schema"},
    }
    for schema in (
        {"$ref": "https://example.com/a"},
        {"$schema": "https://example.com/m", **model("cat"), "discriminator": BY_KIND, "$ref": "https://example.com/a"},
        {"$schema": "https://example.com/unknown", **UNION},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", **UNION},
    ):
        grammar = Grammar.from_json_schema(schema, discriminators="required", resources=resources)
        assert accepts(grammar, '{"kind": "cat"}') and not accepts(grammar, '{"cat": 1, "dog": "x"}')


@pytest.mark.parametrize("value", ["kind", None, {}, {"propertyName": 1}, ["kind"], {"propertyName": "\ud800"}], ids=repr)
def test_malformed(value: Any) -> None:
    schema = {"properties": {"a": {**UNION, "discriminator": value}}}
    Grammar.from_json_schema(schema)
    with pytest.raises(SchemaError) as caught:
        Grammar.from_json_schema(schema, discriminators="required")
    assert caught.value.pointer == "/properties/a" and caught.value.keyword == "discriminator"


def test_malformed_without_effect() -> None:
    grammar = Grammar.from_json_schema({"type": "null", "discriminator": {}}, discriminators="required")
    assert [entry.keyword for entry in grammar.report.notes] == ["discriminator"]


def test_no_instance() -> None:
    schema = {"type": "object", "discriminator": BY_KIND, "properties": {"kind": False, "a": True}}
    assert accepts(Grammar.from_json_schema(schema), "{}")
    with pytest.raises(UnsatisfiableSchemaError) as caught:
        Grammar.from_json_schema(schema, discriminators="required")
    assert sorted(caught.value.parts) == ["/discriminator", "/properties/kind"]


def test_the_option_itself() -> None:
    for wrong, error in ("yes", ValueError), (True, TypeError):
        with pytest.raises(error, match="discriminators is"):
            Grammar.from_json_schema({}, discriminators=wrong)  # type: ignore[arg-type]
    text = f"start: %json {json.dumps(UNION)}"
    for option, is_read in (None, True), ("annotation", True), ("required", False):
        grammar = Grammar.from_lark(text, schema_options={"discriminators": option})
        assert accepts(grammar, '{"cat": 1, "dog": "x", "cow": "x"}') is is_read


def test_many_models() -> None:
    """Without the key each is told from all others by all that it says."""
    models = [model(f"kind{i}") for i in range(40)]
    for i, each in enumerate(models):
        each["properties"] |= {f"a{i}{j}": {"type": "integer"} for j in range(3)}
    schema = {"oneOf": models, "discriminator": BY_KIND}
    with pytest.raises(LimitExceededError, match=r'or have the `discriminator` required with discriminators="required"$'):
        Grammar.from_json_schema(schema)
    with pytest.raises(LimitExceededError, match=r"raise it with Limits\(max_alternative_schemas=\.\.\.\)$"):
        Grammar.from_json_schema({"oneOf": models})
    grammar = Grammar.from_json_schema(schema, discriminators="required")
    assert accepts(grammar, '{"kind": "kind7", "a71": 1, "a81": "x"}') and not accepts(grammar, '{"kind": "kind7", "a71": "x"}')


# --- pydantic -----------------------------------------------------------------------------------------------------------------


def _union_of_pydantic(nested: bool = False) -> Any:
    pydantic = pytest.importorskip("pydantic")
    models = [pydantic.create_model(kind.title(), kind=(Literal[kind], kind), **{kind: (int | None, None)}) for kind in KINDS]
    union: Any = Annotated[reduce(or_, models), pydantic.Field(discriminator="kind")]
    return pydantic.create_model("Owner", pets=(list[union], ...), first=(union | None, None)) if nested else pydantic.TypeAdapter(union)


def test_a_model_is_read_as_pydantic_reads_it() -> None:
    """What the grammar accepts pydantic validates, and the other way round; what it tells as a dict says less."""
    pydantic = pytest.importorskip("pydantic")
    source = _union_of_pydantic()
    grammar = Grammar.from_json_schema(source, property_order="any")
    told = Grammar.from_json_schema(source.json_schema(), property_order="any")
    explicit = Grammar.from_json_schema(source, property_order="any", discriminators="annotation")
    n_more = 0
    for value in VALUES:
        text = json.dumps(value)
        try:
            source.validate_json(text, strict=True)
            is_read = True
        except pydantic.ValidationError:
            is_read = False
        assert accepts(grammar, text) == is_read, text
        assert accepts(told, text) == accepts(explicit, text) == is_valid(source.json_schema(), value), text
        n_more += accepts(told, text) and not is_read
    assert n_more > 0


def test_unions_within_models() -> None:
    owner = _union_of_pydantic(nested=True)
    grammar = Grammar.from_json_schema(owner)
    for text, is_read in {
        '{"pets": [{"kind": "dog", "dog": 1}, {"kind": "cat"}], "first": null}': True,
        '{"pets": [], "first": {"kind": "cow"}}': True,
        '{"pets": [{"dog": 1, "cat": "x", "cow": "x"}]}': False,
        '{"pets": [], "first": {"dog": 1, "cat": "x", "cow": "x"}}': False,
    }.items():
        assert accepts(grammar, text) is is_read, text


def test_models_in_caches_and_tags() -> None:
    """A model, and the schema that it tells, are different sources."""
    source, text = _union_of_pydantic(), '{"cat": 1, "dog": "x", "cow": "x"}'
    cache = GrammarCache()
    assert not accepts(cache.from_json_schema(source), text)
    assert accepts(cache.from_json_schema(source.json_schema()), text)
    for body, is_read in (source, False), (source.json_schema(), True):
        grammar = Grammar.from_tags([Tag("<a>", body, "</a>")])
        assert accepts(grammar, f"<a>{text}</a>") is is_read
