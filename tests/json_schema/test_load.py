"""What may be handed over as a schema, and what is malformed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NewType

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import LimitExceededError, SchemaError, UnsatisfiableSchemaError, UnsupportedSchemaError
from grammar_engine.frontends.json_schema import load
from grammar_engine.frontends.json_schema.reading import load as reading
from grammar_engine.limits import Limits

from .engine import accepts


@pytest.mark.parametrize("source", [{"a": 1}, True, '{"a": 1}', b'{"a": 1}', b'\xef\xbb\xbf{"a": 1}', bytearray(b'{"a": 1}')])
def test_sources(source: object) -> None:
    assert load(source) in ({"a": 1}, True)


def test_text_with_a_byte_order_mark_is_not_json() -> None:
    with pytest.raises(SchemaError, match="not JSON: it begins with a byte order mark") as caught:
        Grammar.from_json_schema('\ufeff{"a": 1}')
    assert caught.value.offset == 0


def test_lists_may_be_tuples() -> None:
    """Wherever a schema has a list. Python values have them, JSON has not."""
    schemas: list[Any] = [
        {"enum": ["a", ["b"]]},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"items": False}], "allOf": [{"maxItems": 1}], "oneOf": [{"type": "null"}, {"type": "array"}]},
        {"prefixItems": [{"type": "string"}], "unevaluatedItems": False},
        {"items": [{"type": "string"}], "additionalItems": False},
        {"items": [{"type": "string"}], "unevaluatedItems": False},
        {"type": "object", "dependencies": {"a": ["b"]}, "maxProperties": 1},
        {"type": "object", "dependencies": {"a": ["b"]}, "additionalProperties": {"type": "null"}, "unevaluatedProperties": False},
        {"anyOf": [{"$anchor": "a", "type": "null"}, {"$ref": "#/anyOf/0"}], "allOf": [{"$ref": "#a"}]},
    ]
    texts = ['"a"', '["b"]', "null", '["a"]', '["a",1]', "[1]", "{}", '{"a":null}', '{"b":null}', "1"]
    for schema in schemas:
        grammar, same = Grammar.from_json_schema(schema), Grammar.from_json_schema(_with_tuples(schema))
        found = [accepts(grammar, text) for text in texts]
        assert any(found) and not all(found)
        assert [accepts(same, text) for text in texts] == found
    with pytest.raises(UnsatisfiableSchemaError) as caught:
        Grammar.from_json_schema({"allOf": ({"type": "string"}, {"type": "null"})})
    assert caught.value.parts == ("/allOf/0/type", "/allOf/1/type")
    with pytest.raises(SchemaError, match="not an array"):
        Grammar.from_json_schema({"not": ({},)})


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_with_tuples, value))
    return {key: _with_tuples(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def test_integers_may_be_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    for schema, right, wrong in (
        ({"maxLength": np.int64(2)}, '"ab"', '"abc"'),
        ({"enum": [np.uint8(4), [np.int32(5)]]}, "[5]", "5"),
        ({"const": np.int64(-4)}, "-4", "4"),
        ({"type": "number", "minimum": np.int64(3)}, "3", "2"),
        ({"multipleOf": np.int64(3)}, "6", "4"),
    ):
        grammar = Grammar.from_json_schema(schema)
        assert accepts(grammar, right) and not accepts(grammar, wrong)
    for schema in ({"maxLength": np.int64(-2)}, {"minimum": np.float32(0.1)}, {"const": np.bool_(True)}, {"const": np.array([1])}):
        with pytest.raises(SchemaError):
            Grammar.from_json_schema(schema)
    reports = [Grammar.from_json_schema({"type": "null", "maxLength": np.int64(length)}).report for length in (2, -2)]
    assert "maxLength" not in [entry.keyword for entry in reports[0].notes]
    assert "maxLength" in [entry.keyword for entry in reports[1].notes]


def test_what_stands_for_a_schema_is_named() -> None:
    pydantic = pytest.importorskip("pydantic")
    for value, reason in {
        pydantic.create_model(
            "Model", name=(str, ...)
        ): "not the class Model; a model tells its own by model_json_schema() (at /properties/a",
        object(): "not an object of the class object (at /properties/a",
        3.5: "not a number (at",
        Decimal(3): "not a number (at",
        (1,): "not an array (at",
    }.items():
        with pytest.raises(SchemaError) as caught:
            Grammar.from_json_schema({"properties": {"a": value}})
        assert reason in str(caught.value)


def test_numbers_of_text_are_exact() -> None:
    assert load('{"maximum": 0.1000000000000000000001}') == {"maximum": Decimal("0.1000000000000000000001")}


def test_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", name=(str, ...), age=(int | None, None))
    for source in (model, pydantic.TypeAdapter(model)):
        grammar = Grammar.from_json_schema(source)
        assert accepts(grammar, '{"name": "x", "age": null}')
        assert not accepts(grammar, '{"age": 1}')
    assert accepts(Grammar.from_json_schema(pydantic.TypeAdapter(list[int])), "[1, 2]")
    for source in (list[int], int, int | None, NewType("Meters", int)):
        with pytest.raises(SchemaError, match=r"wrap a type in pydantic\.TypeAdapter"):
            Grammar.from_json_schema(source)


def test_models_of_pydantic_1_are_told_what_to_pass() -> None:
    class Model:
        """What has neither the method of version 2 nor a place in a `TypeAdapter`."""

        @classmethod
        def schema_json(cls) -> str:
            return "{}"

    with pytest.raises(SchemaError, match=r"not type; of a model of pydantic 1 pass its schema\(\)"):
        load(Model)


def test_a_model_without_a_schema() -> None:
    """Not what pydantic raises, which says nothing of grammars; that is the cause."""
    pydantic = pytest.importorskip("pydantic")

    class Own:
        @classmethod
        def model_json_schema(cls) -> None:
            raise KeyError("x")

    sources = (Own, Own(), pydantic.BaseModel, pydantic.create_model("Model", of=(Callable[[], int], ...)))
    for source, name in zip(sources, ("Own", "Own", "BaseModel", "Model")):
        with pytest.raises(SchemaError, match=rf"^{name}\.model_json_schema\(\) gives no schema: \w+: ") as caught:
            Grammar.from_json_schema(source)
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('{"a": }', "line 1, column 7"),
        ('{\n  "a": 1,\n  b', "line 3, column 3"),
        ("", "line 1, column 1"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": 1, "a": 2}', '"a" occurs twice in one object of the schema\nat line 1, column 10'),
        ('{"x": {"b": 1,\n "c": 0, "b": 1}}', '"b" occurs twice in one object of the schema\nat line 2, column 10'),
        ("schema.json", "Expecting value; this looks like a path: pass its text\nat line 1"),
        ("schemas/a b", "this looks like a path: pass its text"),
        (Path("schema.json"), "Path; pass the text of the file"),
        ('{"a": NaN}', "not JSON: NaN is no JSON number\nat line 1, column 7"),
        ('{"a": [-Infinity]}', "-Infinity is no JSON number\nat line 1, column 8"),
        ('{"a": "b', "not JSON: Unterminated string\nat line 1, column 7"),
        ('{"a": "\n"}', "not JSON: Invalid control character\nat line 1, column 8"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (None, "NoneType"),
        (3, "int"),
    ],
)
def test_malformed(source: Any, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason.replace("(", r"\(")):
        load(source)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"items":['])
def test_deep_text(opening: str) -> None:
    for text in (opening * 100_000, opening * 600):
        with pytest.raises(LimitExceededError) as caught:
            load(text)
        assert caught.value.limit == "max_schema_nesting"
    with pytest.raises(SchemaError, match="Expecting value"):
        load(opening * 100_000, Limits(max_schema_nesting=10**9))


@pytest.mark.parametrize(("opening", "depth"), [('{"items":', 1), ('{"properties":{"a":', 2)])
def test_text_may_be_nested_as_deep_as_values(opening: str, depth: int) -> None:
    limits = Limits(max_schema_nesting=40)
    for n in (39 // depth, 40 // depth, 40 // depth + 1):
        text = opening * n + "{}" + "}" * (n * depth)
        for schema in (text, json.loads(text)):
            if n * depth <= 40:
                Grammar.from_json_schema(schema, limits=limits)
            else:
                with pytest.raises(LimitExceededError, match="max_schema_nesting = 40"):
                    Grammar.from_json_schema(schema, limits=limits)


def test_deep_text_does_not_depend_on_the_stack() -> None:
    def called(depth: int) -> Any:
        return called(depth - 1) if depth else load('{"items":' * 400 + "{}" + "}" * 400)

    assert called(600) == load('{"items":' * 400 + "{}" + "}" * 400)
    value: Any = load("[" * 5_000 + "0.10" + "]" * 5_000, Limits(max_schema_nesting=10_000))
    while isinstance(value, list):
        (value,) = value
    assert value == Decimal("0.10")


def test_text_by_a_loop_is_what_it_is_by_recursion(long_run: bool) -> None:
    rng = random.Random("by a loop")
    pieces = ["{", "}", "[", "]", ":", ",", '"a"', '"b\n"', '"', "0", "-1.50", "1e5", "01", "true", "null", "NaN", " ", "\n", "x", "é"]
    decoded = 0
    for _ in range(200_000 if long_run else 20_000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(8)))
        if rng.random() < 0.5:
            text = rng.choice(['{"a":[%s]}', '[{"b":1,"a":%s}]', "[%s,[]]", '{"a":{},"b":%s}']) % text
        found = []
        for read in (reading._decoded, reading._decoded_by_loop):
            try:
                found.append(repr(read(text, "schema")))
            except (json.JSONDecodeError, SchemaError) as error:
                found.append(f"{type(error).__name__} {error}")
        assert found[0] == found[1], text
        decoded += "Error" not in found[0]
    assert decoded > 1_000


def test_brackets_in_strings_do_not_nest() -> None:
    text = '{"description": "' + '[{\\"' * 2_000 + '"}'
    assert "description" in load(text)


@pytest.mark.parametrize("before", [r'"\\"', r'"\\\\"', r'"\\\""', r'"]"', r'"\"]]]"', '"é]"'])
def test_brackets_behind_strings_with_escapes_nest(before: str) -> None:
    limits = Limits(max_schema_nesting=10)
    for depth in (10, 11):
        text = f'{{"description": {before}, "enum": {"[" * depth}{"]" * depth}}}'
        if depth < 11:
            assert load(text, limits)["description"] == json.loads(before)
        else:
            with pytest.raises(LimitExceededError, match="max_schema_nesting"):
                load(text, limits)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"type": []},
        {"type": 1},
        {"enum": 1},
        {"required": True},
        {"required": [1]},
        {"properties": []},
        {"properties": {"a": 1}},
        {"items": 1},
        {"minLength": -1},
        {"minLength": 1.5},
        {"minLength": "1"},
        {"minimum": "1"},
        {"minimum": True},
        {"maximum": float("nan")},
        {"multipleOf": 0},
        {"pattern": "("},
        {"pattern": 1},
        {"format": 1},
        {"anyOf": []},
        {"allOf": {}},
        {"patternProperties": {"[": {}}},
        {"uniqueItems": 1},
        {"enum": ["\ud800"]},
        {"properties": {"\ud800": {}}},
    ],
)
def test_malformed_keywords(schema: dict) -> None:
    with pytest.raises(SchemaError) as caught:
        Grammar.from_json_schema({"properties": {"p": schema}})
    assert caught.value.pointer.startswith("/properties/p")


WITHOUT_EFFECT = {
    "integer": [
        {"pattern": 3},
        {"minLength": -1},
        {"maxLength": 1.5},
        {"items": 7},
        {"minItems": -4},
        {"uniqueItems": 1},
        {"contains": []},
    ],
    "string": [
        {"minimum": "x"},
        {"maximum": float("nan")},
        {"exclusiveMinimum": None},
        {"multipleOf": 0},
        {"properties": [1]},
        {"properties": {"a": 1}},
        {"required": True},
        {"required": [1]},
        {"patternProperties": {"a": 0}},
        {"propertyNames": "a"},
        {"dependentRequired": {"a": True}},
        {"additionalProperties": "a"},
        {"prefixItems": {}},
        {"minContains": "1"},
    ],
}
CASES = [(kind, schema) for kind, schemas in WITHOUT_EFFECT.items() for schema in schemas]


@pytest.mark.parametrize(("kind", "schema"), CASES, ids=[str(schema) for _, schema in CASES])
def test_malformed_keywords_without_effect(kind: str, schema: dict) -> None:
    """They are taken, as nothing can meet or fail them, but nothing says that they are enforced."""
    (keyword,) = schema
    report = Grammar.from_json_schema({"items": {"type": kind, **schema}}).report
    assert ("/items", keyword, "malformed, and without effect here") in report.notes
    assert [entry.keyword for entry in report.enforced] == ["items", "type"]
    with pytest.raises(SchemaError):
        Grammar.from_json_schema(schema)


@pytest.mark.parametrize("schema", [{"items": [1]}, {"additionalItems": 3}])
def test_how_they_would_be_read_is_not_told(schema: dict) -> None:
    (keyword,) = schema
    notes = Grammar.from_json_schema({"type": "string", **schema}).report.notes
    assert notes == [("", keyword, "malformed, and without effect here")]


@pytest.mark.parametrize(
    "schema",
    [
        {"not": 5},
        {"$defs": 5},
        {"dependencies": 5},
        {"dependentSchemas": []},
        {"unevaluatedProperties": 5},
        {"unevaluatedItems": []},
        {"format": 5},
    ],
)
def test_malformed_wherever_they_stand(schema: dict) -> None:
    for kind in ("integer", "boolean"):
        with pytest.raises(SchemaError):
            Grammar.from_json_schema({"type": kind, **schema})


def test_well_formed_keywords_without_effect() -> None:
    schema = {
        "type": "boolean",
        "minLength": 2.0,
        "maximum": Decimal("1e500"),
        "exclusiveMinimum": True,
        "items": [True],
        "required": ["a"],
    }
    report = Grammar.from_json_schema({**schema, "minimum": 1, "properties": {"a": {}}, "dependentRequired": {"a": ["b"]}}).report
    assert {entry.keyword for entry in report.enforced} == {*schema, "minimum", "properties", "dependentRequired"}
    assert not any("malformed" in entry.detail for entry in report.notes)


@pytest.mark.parametrize("number", ["9" * 5000, "1e99999999999999999999", "-1.5E+99999999999999999999", "1e-99999999999999999999"])
def test_numbers_beyond_what_python_reads(number: str) -> None:
    """They are refused where they are used, by name and place, and nowhere else."""
    with pytest.raises(UnsupportedSchemaError, match="at most 1,000 digits") as caught:
        Grammar.from_json_schema(f'{{"properties": {{"a": {{"maximum": {number}}}}}}}')
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "maximum")
    Grammar.from_json_schema(f'{{"default": {number}}}')
