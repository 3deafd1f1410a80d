"""Objects as parameters in XML: which texts are read, against a reader that
tries all meanings of a text with another validator; what is refused."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from typing import Any

import jsonschema
import pytest

from grammar_engine import (
    Grammar,
    GrammarError,
    LimitExceededError,
    Limits,
    Matcher,
    SchemaError,
    UnsatisfiableSchemaError,
    UnsupportedSchemaError,
    Vocabulary,
)

BYTES = Vocabulary.bytes()
MARKS = {
    "qwen_xml": ("<parameter={}>{}</parameter>", r"<parameter=([^>]*)>(.*?)</parameter>[ \n\r\t]*"),
    "minimax_xml": ('<parameter name="{}">{}</parameter>', r'<parameter name="([^"]*)">(.*?)</parameter>[ \n\r\t]*'),
    "glm_xml": (
        "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>",
        r"<arg_key>([^<]*)</arg_key>[ \n\r\t]*<arg_value>(.*?)</arg_value>[ \n\r\t]*",
    ),
    "deepseek_xml": (
        '<｜DSML｜parameter name="{}" string="{}">{}</｜DSML｜parameter>',
        r'<｜DSML｜parameter name="([^"]*)" string="(true|false)">(.*?)</｜DSML｜parameter>[ \n\r\t]*',
    ),
    "deepseek_v4_1_xml": (
        '<｜DSML｜ parameter name="{}" string="{}">{}</｜DSML｜ parameter>',
        r'<｜DSML｜ parameter name="([^"]*)" string="(true|false)">(.*?)</｜DSML｜ parameter>[ \n\r\t]*',
    ),
}


def write(style: str, members: list[tuple[str, ...]], between: str = "\n") -> str:
    return between.join(MARKS[style][0].format(*member) for member in members)


def reads(grammar: Grammar, text: str) -> bool:
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_complete


def meanings(raw: str, kind: str = "") -> list[Any]:
    """A value in a parameter: any string that white space may surround, or JSON that is no string; one of them if the mark tells `kind`."""
    found: list[Any] = []
    inner = range(len(raw) - len(raw.lstrip(" \n\r\t")) + 1), range(len(raw.rstrip(" \n\r\t")), len(raw) + 1)
    if kind == "true":
        return [raw]
    if not kind:
        found += dict.fromkeys(raw[begin:end] for begin in inner[0] for end in inner[1] if begin <= end)
    try:
        value = json.loads(raw)
    except ValueError:
        return found
    return found if isinstance(value, str) else [*found, value]


def is_instance(style: str, schema: dict[str, Any], text: str) -> bool:
    at, names, values = len(text) - len(text.lstrip(" \n\r\t")), [], []
    pattern = re.compile(MARKS[style][1], re.DOTALL)
    while at < len(text):
        found = pattern.match(text, at)
        if found is None:
            return False
        names.append(found[1])
        values.append(meanings(*found.groups()[:0:-1]))
        at = found.end()
    order = [*schema["properties"], *(name for name in names if name not in schema["properties"])]
    if sorted(names, key=order.index) != names or any(names.count(name) > 1 for name in schema["properties"]):
        return False
    if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", name) for name in names if name not in schema["properties"]):
        return False
    validator = jsonschema.Draft202012Validator(schema)
    single = [[(name, value) for value in value_list] for name, value_list in zip(names, values, strict=True)]
    # all members that have one name must be instances, as the readers of a text may take any of them
    return any(
        all(validator.is_valid(dict(chosen[:i] + chosen[i + 1 :] + chosen[i : i + 1])) for i in range(len(chosen) or 1))
        for chosen in product(*single)
    )


SUBSCHEMAS: list[Any] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": ["string", "null"]},
    {"type": "boolean"},
    {"type": "string", "pattern": "^a+$"},
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"enum": ["p", "q r", 1, None]},
    {"const": "5"},
    {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "additionalProperties": False},
    {"type": "number", "minimum": 0, "maximum": 10},
    {"not": {"type": "string"}},
    True,
]
RAW = [
    "",
    "a",
    "aa",
    " aa\n",
    "p",
    "q r",
    "1",
    "5",
    "5.5",
    "null",
    "true",
    '"a"',
    '["x"]',
    "[]",
    ' {"x": "y"} ',
    "<b>",
    "ab cd",
    "\n1\n",
    "é",
    "<",
    "</",
    "-1",
]


@pytest.mark.parametrize("style", MARKS)
@pytest.mark.parametrize("seed", range(12))
def test_against_another_reader(style: str, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: rng.choice(SUBSCHEMAS) for name in rng.sample(["a", "b c", "é"], rng.randint(0, 3))},
        }
        schema["required"] = [name for name in schema["properties"] if rng.random() < 0.4]
        schema["additionalProperties"] = rng.choice([False, False, rng.choice(SUBSCHEMAS)])
        if rng.random() < 0.2:
            schema["patternProperties"] = {"^k": rng.choice(SUBSCHEMAS)}
        grammar = Grammar.from_json_schema(schema, style=style)
        n_read = 0
        for _ in range(200):
            names = [
                name
                for name in [*schema["properties"], *rng.choices(["k", "z.1", "_", "1", "a"], k=rng.choice([0, 0, 1, 2]))]
                if rng.random() < 0.8
            ]
            if rng.random() < 0.1:
                rng.shuffle(names)
            kinds = ["true", "false"] if "deepseek" in style else []
            text = write(
                style, [(name, *rng.sample(kinds, len(kinds) // 2), rng.choice(RAW)) for name in names], rng.choice(["", "\n", " \t"])
            )
            text = rng.choice(["", "", "\n", " ", "x"]) + text + rng.choice(["", "", "\n", "x"])
            expected = is_instance(style, schema, text)
            assert reads(grammar, text) == expected, (schema, text)
            n_read += expected
        assert n_read or schema["required"] or schema["properties"]


def test_white_space() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}, "additionalProperties": False}
    texts = [
        write("qwen_xml", [("a", "1"), ("b", "[1]")], ""),
        write("qwen_xml", [("a", "\n1\n"), ("b", "\n[1]\n")]),
        write("qwen_xml", [("a", "   1")]),
    ]
    for whitespace, expected in (("flexible", [True, True, True]), ("bounded", [True, True, False]), ("compact", [True, False, False])):
        grammar = Grammar.from_json_schema(schema, style="qwen_xml", whitespace=whitespace)
        assert [reads(grammar, text) for text in texts] == expected, whitespace


@pytest.mark.parametrize("style", ["deepseek_xml", "deepseek_v4_1_xml"])
def test_marks_that_tell_strings(style: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "integer"], "maxLength": 3}}, "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema, style=style)
    for kind, raw, expected in (
        ("true", "abc", True),
        ("true", " a ", True),
        ("true", " abc", False),
        ("true", "5", True),
        ("false", "5", True),
        ("false", "\n5 ", True),
        ("false", "abc", False),
        ("false", '"a"', False),
    ):
        assert reads(grammar, write(style, [("a", kind, raw)])) == expected, (kind, raw)
    one = Grammar.from_json_schema(schema | {"required": ["a"]}, style=style, whitespace="compact")
    space = " " if style == "deepseek_v4_1_xml" else ""
    assert Matcher(one, BYTES).forced_bytes().decode() == f'<｜DSML｜{space}parameter name="a" string="'
    only = Grammar.from_json_schema({"type": "object", "properties": {"a": {"enum": ["x", "y"]}}, "required": ["a"]}, style=style)
    matcher = Matcher(only, BYTES)
    assert matcher.accept_bytes(f'<｜DSML｜{space}parameter name="a" string="'.encode()) and matcher.forced_bytes() == b'true">'


def test_what_ends_a_string() -> None:
    grammar = Grammar.from_json_schema(
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}, style="qwen_xml"
    )
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_bytes(b"<parameter=a>x</parameter")
    assert matcher.accept_bytes(b"y</paramete")
    assert matcher.accept_bytes(b"r>")
    assert matcher.is_complete and not matcher.accept_bytes(b"y")


def test_order_and_needs() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "additionalProperties": False,
        "dependentRequired": {"a": ["b"]},
        "minProperties": 1,
    }
    for order in ("schema", "any"):
        grammar = Grammar.from_json_schema(schema, style="qwen_xml", property_order=order)
        assert reads(grammar, write("qwen_xml", [("b", "1")]))
        assert reads(grammar, write("qwen_xml", [("a", "1"), ("b", "1")]))
        assert reads(grammar, write("qwen_xml", [("b", "1"), ("a", "1")])) == (order == "any")
        assert not reads(grammar, write("qwen_xml", [("a", "1")]))
        assert not reads(grammar, "")


def test_recursive_values() -> None:
    schema = {
        "$ref": "#/$defs/n",
        "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "additionalProperties": False}},
    }
    grammar = Grammar.from_json_schema(schema, style="glm_xml")
    assert reads(grammar, write("glm_xml", [("n", '{"n": {"n": {}}}')]))
    assert not reads(grammar, write("glm_xml", [("n", write("glm_xml", [("n", "{}")]))]))


def test_refused() -> None:
    def error(schema: Any, **options: Any) -> GrammarError:
        with pytest.raises(GrammarError) as caught:
            Grammar.from_json_schema(schema, style="qwen_xml", **options)
        return caught.value

    for kind in ("string", "array", "number", "null"):
        assert "writes objects, and the schema admits none" in str(error({"type": kind}))
    assert isinstance(error({"type": "string"}), SchemaError)
    assert isinstance(error(False), UnsatisfiableSchemaError)
    for name in ("a>b", "a<", 'a"b', "a\nb", "\x1f"):
        key = error({"type": "object", "properties": {"a": {}, name: {}}})
        assert isinstance(key, UnsupportedSchemaError) and f"the key {name!r} cannot stand in a mark" in str(key)
        assert key.pointer == f"/properties/{name}"
    assert error({"properties": {"a<": True}}).pointer == ""  # `true` asks for nothing, so it is no place
    assert error({"allOf": [{"properties": {"a<": {}}}]}).pointer == "/allOf/0/properties/a<"
    assert error({"required": ["a<"]}).pointer == ""
    inside = error({"type": "object", "properties": {"a": {"properties": {"b": {}}, "enum": ["a", "x</parameter>"]}}})
    assert isinstance(inside, UnsupportedSchemaError) and "which ends a parameter" in str(inside) and inside.pointer == "/properties/a"
    assert "are not compared" in str(error({"type": "object"}, unique_keys=True))
    assert "are not compared" in str(error({"type": "object", "minProperties": 2}))
    with pytest.raises(ValueError, match="style is"):
        Grammar.from_json_schema({}, style="xml")


def test_keys_that_never_come() -> None:
    for never in (False, {"type": "integer", "enum": ["a"]}):
        grammar = Grammar.from_json_schema({"type": "object", "properties": {"a<": never, "c": {"type": "null"}}}, style="qwen_xml")
        assert reads(grammar, write("qwen_xml", [("c", "null")]))
        assert not reads(grammar, write("qwen_xml", [("a<", "null")]))
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({"type": "object", "properties": {"a>b": False}, "required": ["a>b"]}, style="qwen_xml")


def test_instances_that_cannot_be_written() -> None:
    for schema, parts in (
        (
            {"type": "object", "propertyNames": {"const": "a b"}, "minProperties": 1},
            "/propertyNames and /minProperties contradict each other",
        ),
        (
            {"type": "object", "properties": {"a": {"pattern": "</parameter>$", "type": "string"}}, "required": ["a"]},
            "/properties/a/pattern",
        ),
    ):
        for lenient in (False, True):
            with pytest.raises(UnsupportedSchemaError, match="style='qwen_xml' can write no instance: ") as caught:
                Grammar.from_json_schema(schema, style="qwen_xml", lenient=lenient)
            assert parts in str(caught.value)
        assert Grammar.from_json_schema(schema)
    with pytest.raises(UnsatisfiableSchemaError, match="/required and /properties/a contradict each other"):
        Grammar.from_json_schema({"type": "object", "properties": {"a": False}, "required": ["a"]}, style="qwen_xml")


def test_lenient() -> None:
    schema = {"type": "object", "properties": {"a>b": {"type": "integer"}}}
    grammar = Grammar.from_json_schema(schema, style="qwen_xml", lenient=True)
    assert reads(grammar, write("qwen_xml", [("ab", "x")]))
    assert [(entry.pointer, entry.detail) for entry in grammar.report.relaxed] == [("", "the key 'a>b' cannot stand in a mark")]
    schema["properties"] |= {"b c": {"type": "null"}}
    grammar = Grammar.from_json_schema(schema, style="qwen_xml", lenient=True)
    assert reads(grammar, write("qwen_xml", [("b c", "null"), ("ab", "x")]))  # what is named is written as before
    many = {"type": "object", "patternProperties": {letter: {"const": letter} for letter in "abcde"}}
    limits = Limits(max_alternative_schemas=10)
    with pytest.raises(LimitExceededError, match="max_alternative_schemas"):
        Grammar.from_json_schema(many, style="qwen_xml", limits=limits)
    grammar = Grammar.from_json_schema(many, style="qwen_xml", lenient=True, limits=limits)
    assert reads(grammar, write("qwen_xml", [("a", "b")])) and [entry.keyword for entry in grammar.report.relaxed] == ["patternProperties"]


def test_explains() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
    matcher = Matcher(Grammar.from_json_schema(schema, style="minimax_xml"), BYTES)
    assert matcher.forced_bytes() == b""  # white space may come
    assert (
        Matcher(Grammar.from_json_schema(schema, style="minimax_xml", whitespace="compact"), BYTES).forced_bytes()
        == b'<parameter name="n">'
    )
    assert matcher.accept_bytes(b'<parameter name="n">')
    assert "integer" in matcher.explain(b"x").expected
    both = {"type": "object", "properties": {"n": {"type": ["string", "integer"], "maxLength": 1}}}
    matcher = Matcher(Grammar.from_json_schema(both, style="minimax_xml"), BYTES)
    assert matcher.accept_bytes(b'<parameter name="n">')
    assert "integer or string with conditions" in matcher.explain(b"\xff").expected


def test_a_value_of_several_places_is_at_none_of_them() -> None:
    inners: dict[str, Any] = {"n": {"type": "integer"}, "l": {"type": "array", "minItems": 1}, "s": {"type": "string", "maxLength": 1}}
    for name, inner in inners.items():
        for names in ([name], [name, "m"]):
            schema = {"type": "object", "properties": {each: dict(inner) for each in names}, "required": names}
            matcher = Matcher(Grammar.from_json_schema(schema, style="qwen_xml"), BYTES)
            assert matcher.accept_bytes(f"<parameter={name}>".encode())
            assert (f"/properties/{name}" in matcher.explain(b"\xff").where) == (len(names) == 1 and name != "l")
    alike = {"a": {"type": "string"}, "b": {"type": ["string", "null"]}}
    matcher = Matcher(Grammar.from_json_schema({"properties": alike, "type": "object"}, style="qwen_xml"), BYTES)
    assert matcher.accept_bytes(b"<parameter=a>") and "/properties/a" not in matcher.explain(b"\xff").where
