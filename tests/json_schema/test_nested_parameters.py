"""Parameters in XML whose arrays and objects are written in marks, too (`cohere_xml`, `minimax_m3_xml`), and marks that tell the type of
each value (`kimi_k3_xml`): against readers of their own, which find all values that a text may mean, with another validator.
"""

from __future__ import annotations

import contextlib
import functools
import json
import random
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Matcher, UnsatisfiableSchemaError, UnsupportedSchemaError, Vocabulary

BYTES = Vocabulary.bytes()
SPACE = re.compile(r"[ \n\r\t]*")
M3 = "]<]minimax[>["
Object = list[tuple[str, Any]]  # members in the order of a text
STYLES = ("kimi_k3_xml", "cohere_xml", "minimax_m3_xml")


def reads(grammar: Grammar, text: str) -> bool:
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_complete


# --- readers ----------------------------------------------------------------------------------------------------------


class WrongError(Exception):
    """A text that means nothing."""


def scalar(raw: str) -> Any:
    try:
        value = json.loads(raw)
    except ValueError:
        raise WrongError from None
    if isinstance(value, (str, list, dict)):
        raise WrongError
    return value


class Reader:
    """Texts in which marks tell what each value is, so that they mean one value."""

    def __init__(self, text: str):
        self.text, self.at = text, 0

    def skip(self) -> None:
        self.at = SPACE.match(self.text, self.at).end()

    def take(self, pattern: str) -> re.Match[str] | None:
        found = re.compile(pattern, re.DOTALL).match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def up_to(self, end: str) -> str:
        begin, self.at = self.at, self.text.find(end, self.at)
        if self.at < 0:
            raise WrongError
        return self.text[begin : self.at]

    def root(self) -> Object:
        self.skip()
        members = self.members()
        if self.at < len(self.text):
            raise WrongError
        return members


class Cohere(Reader):
    end = "</cofl:value>"

    def members(self) -> Object:
        found = []
        while mark := self.take(r'<cofl:value name="([^"<>]*)" type="(raw|json|dict|list)">'):
            name = mark[1]
            for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
                name = name.replace(entity, sign)
            found.append((name, self.value(mark[2])))
        return found

    def value(self, kind: str) -> Any:
        value: Any = None
        if kind in ("raw", "json"):
            value = self.up_to(self.end)
            if kind == "json":
                value = scalar(value)
        else:
            self.skip()
            if kind == "dict":
                value = self.members()
            else:
                value = []
                while mark := self.take(r'<cofl:value type="(raw|json|dict|list)">'):
                    value.append(self.value(mark[1]))
                value = tuple(value)
        if not self.take(re.escape(self.end)):
            raise WrongError
        self.skip()
        return value


class Kimi(Reader):
    end = "<|close|>argument<|sep|>"

    def members(self) -> Object:
        found = []
        while mark := self.take(r'<\|open\|>argument key="([^"<>]*)" type="(string|number|boolean|null|array|object)"<\|sep\|>'):
            value: Any = self.up_to(self.end)
            if mark[2] != "string":
                try:
                    value = json.loads(value)
                except ValueError:
                    raise WrongError from None
                kinds = {"number": (int, float), "boolean": bool, "null": type(None), "array": list, "object": dict}
                if not isinstance(value, kinds[mark[2]]) or (mark[2] == "number" and isinstance(value, bool)):
                    raise WrongError
                value = nested(value)
            found.append((mark[1], value))
            self.take(re.escape(self.end))
            self.skip()
        return found


def nested(value: Any) -> Any:
    """JSON in the form of what readers find."""
    if isinstance(value, dict):
        return [(name, nested(part)) for name, part in value.items()]
    return tuple(map(nested, value)) if isinstance(value, list) else value


def minimax(text: str) -> Iterator[Object]:
    """All objects that a text may mean: without a name for the type of a value, there may be several."""
    for members in parts(text[SPACE.match(text).end() :]):
        yield from (list(zip([name for name, _ in members], values)) for values in product(*(meanings(raw) for _, raw in members)))


def parts(text: str) -> Iterator[list[tuple[str, str]]]:
    """The members of an object or the items of an array, or nothing if it is neither."""
    found, at = [], 0
    while at < len(text):
        mark = re.compile(re.escape(M3) + "<([^<>/]*)>").match(text, at)
        if mark is None:
            return
        depth, end = 1, mark.end()
        while depth:
            step = re.compile(f"{re.escape(M3)}<(/?)([^<>/]*)>").search(text, end)
            if step is None:
                return
            depth += -1 if step[1] else 1
            end = step.end()
        if step[2] != mark[1]:
            return
        found.append((mark[1], text[mark.end() : step.start()]))
        at = SPACE.match(text, end).end()
    yield found


def meanings(raw: str) -> list[Any]:
    if M3 not in raw:
        found: list[Any] = [raw]
        with contextlib.suppress(WrongError):
            found.append(scalar(raw) if raw == raw.strip() else raw)
        return found if raw.strip(" \n\r\t") else [raw, [], ()]
    found = []
    for members in parts(raw[SPACE.match(raw).end() :]):
        values = list(product(*(meanings(inner) for _, inner in members)))
        found += [list(zip([name for name, _ in members], each)) for each in values]
        if all(name == "item" for name, _ in members):
            found += values
    return found


def objects(style: str, text: str) -> list[Object]:
    if style == "minimax_m3_xml":
        return list(minimax(text))
    try:
        return [(Cohere if style == "cohere_xml" else Kimi)(text).root()]
    except WrongError:
        return []


# --- schemas ----------------------------------------------------------------------------------------------------------


@functools.cache
def validator(schema: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema))


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return {name: plain(part) for name, part in value}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def admits(schema: Any, value: Any) -> bool:
    """Whether a value is an instance, and its keys come in the order of the schema, by one way to read an `anyOf`."""
    if "anyOf" in schema:
        return any(admits(branch, value) for branch in schema["anyOf"])
    if schema.get("type") == "object":
        names, parts = [name for name, _ in value] if isinstance(value, list) else [], schema["properties"]
        if not isinstance(value, list) or not set(schema["required"]) <= set(names) <= set(parts):
            return False
        if len(set(names)) < len(names) or sorted(names, key=list(parts).index) != names or len(names) < schema.get("minProperties", 0):
            return False
        return all(admits(parts[name], part) for name, part in value)
    if schema.get("type") == "array":
        heads, fewest, most = schema.get("prefixItems", []), schema.get("minItems", 0), schema.get("maxItems", 1000)
        if not isinstance(value, tuple) or not fewest <= len(value) <= most:
            return False
        if "contains" in schema and not any(admits(schema["contains"], item) for item in value):
            return False
        return all(admits(heads[i] if i < len(heads) else schema["items"], item) for i, item in enumerate(value))
    return validator(json.dumps(schema)).is_valid(plain(value))


def is_instance(style: str, schema: Any, text: str) -> bool:
    return any(admits(schema, value) for value in objects(style, text))


SCALARS: list[Any] = [
    {"type": "string"},
    {"type": "string", "pattern": "^[ab]+$"},
    {"type": "string", "minLength": 1, "maxLength": 2},
    {"enum": ["a b", "c", 3, None, " "]},
    {"type": "integer"},
    {"type": ["number", "string"], "maxLength": 1},
    {"type": "boolean"},
    {"type": "null"},
    {"not": {"type": ["string", "object", "array"]}},
]


VALUES: list[Any] = ["", "a", "ab", "a b", "c", " ", "5", "null", 3, 5, -1.5, True, None, "<", "]<]", "é"]


def random_schema(rng: random.Random, depth: int) -> Any:
    kind = rng.choice(["scalar", "object", "array", "union"]) if depth else "scalar"
    if kind == "scalar":
        return rng.choice(SCALARS)
    if kind == "union":
        return {"anyOf": [random_schema(rng, depth - 1) for _ in range(2)]}
    if kind == "object":
        names = rng.sample(["a", "b c", "item", "é"], rng.randint(0, 3))
        schema = {
            "type": "object",
            "properties": {name: random_schema(rng, depth - 1) for name in names},
            "required": [name for name in names if rng.random() < 0.3],
            "additionalProperties": False,
        }
        return schema | ({"minProperties": 1} if names and rng.random() < 0.2 else {})
    schema = {"type": "array", "items": random_schema(rng, depth - 1)}
    if rng.random() < 0.3:
        schema["prefixItems"] = [random_schema(rng, depth - 1) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.2:
        schema["contains"] = rng.choice(SCALARS)
    return schema | ({"minItems": rng.randint(1, 2)} if rng.random() < 0.3 else {}) | ({"maxItems": 2} if rng.random() < 0.2 else {})


def random_value(rng: random.Random, schema: Any) -> Any:
    """One that a schema may admit."""
    if "anyOf" in schema:
        return random_value(rng, rng.choice(schema["anyOf"]))
    if schema.get("type") == "object":
        return [
            (name, random_value(rng, part))
            for name, part in schema["properties"].items()
            if name in schema["required"] or rng.random() < 0.6
        ]
    if schema.get("type") == "array":
        heads = [random_value(rng, part) for part in schema.get("prefixItems", ())]
        return (*heads, *(random_value(rng, schema["items"]) for _ in range(rng.randint(0, 3))))
    admitted = [value for value in VALUES if admits(schema, value)]
    return rng.choice(admitted if rng.random() < 0.9 else VALUES)


def write(style: str, value: Any, rng: random.Random) -> str:
    """A value in a style, with some white space."""

    def space() -> str:
        return rng.choice(["", "", "", "\n", "  "])

    def scalar_of(value: Any, exact: bool) -> str:
        if isinstance(value, str):
            return value
        return json.dumps(value) if exact else space() + json.dumps(value) + space()

    def kind_of(value: Any) -> str:
        kinds = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null", tuple: "array", list: "object"}
        return kinds[type(value)]

    def member(name: str | None, value: Any) -> str:
        kind = kind_of(value)
        if style == "kimi_k3_xml":
            inner = (
                scalar_of(value, False)
                if kind not in ("array", "object")
                else space() + json.dumps(plain(value), ensure_ascii=False) + space()
            )
            return f'<|open|>argument key="{name}" type="{kind}"<|sep|>{inner}<|close|>argument<|sep|>'
        if kind == "array":
            inner = space() + "".join(member(None, item) + space() for item in value)
        elif kind == "object":
            inner = space() + "".join(member(name, part) + space() for name, part in value)
        else:
            inner = scalar_of(value, style == "minimax_m3_xml")
        if style == "cohere_xml":
            told = {"string": "raw", "array": "list", "object": "dict"}.get(kind, "json")
            named = "" if name is None else f' name="{name}"'
            return f'<cofl:value{named} type="{told}">{inner}</cofl:value>'
        name = "item" if name is None else name
        return f"{M3}<{name}>{inner}{M3}</{name}>"

    return space() + "".join(member(name, part) + space() for name, part in value)


def changed(text: str, rng: random.Random) -> str:
    """The same with a small change."""
    if not text:
        return rng.choice(["x", "\n", M3])
    begin = rng.randrange(len(text))
    end = min(len(text), begin + rng.choice([0, 1, 1, 3]))
    return text[:begin] + rng.choice(["", "", " ", "a", "5", "<", '"', text[begin:end] * 2, "raw", "item", "json"]) + text[end:]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", range(12))
def test_against_another_reader(style: str, seed: int) -> None:
    rng = random.Random(f"{style} {seed}")
    n_read = n_not = 0
    for _ in range(4):
        schema = {"type": "array"}
        while schema.get("type") != "object" or not schema["properties"]:
            schema = random_schema(rng, 3)
        try:
            grammar = Grammar.from_json_schema(schema, style=style)
        except UnsatisfiableSchemaError:
            continue
        for _ in range(60):
            text = write(style, random_value(rng, schema), rng)
            for _ in range(rng.choice([0, 0, 1, 1, 2])):
                text = changed(text, rng)
            expected = is_instance(style, schema, text)
            assert reads(grammar, text) == expected, (schema, text)
            n_read += expected
            n_not += not expected
    assert n_read > 10 < n_not


# --- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
def test_recursive_and_deep_schemas(style: str) -> None:
    node = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}
    value: Any = [("a", [("a", [])]), ("b", ([], [("b", ())]))]
    grammar = Grammar.from_json_schema({"$ref": "#/$defs/n", "$defs": {"n": node | {"additionalProperties": False}}}, style=style)
    assert reads(grammar, write(style, value, random.Random(1)))
    assert not reads(grammar, write(style, [*value, ("a", [])], random.Random(1)))
    schema: Any = {"type": "null"}
    for i in range(240):
        schema = (
            {"type": "array", "items": schema, "minItems": 1}
            if i % 2
            else {"type": "object", "properties": {"a": schema}, "required": ["a"]}
        )
    schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    grammar = Grammar.from_json_schema(schema, style=style)
    closing = Matcher(grammar, BYTES).closing_bytes()
    assert closing.count(b"null") == 1 and reads(grammar, closing.decode())


@pytest.mark.parametrize("whitespace", ["compact", "bounded", 2, "[ ]?", (", ", ": ")])
def test_white_space(whitespace: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}, "additionalProperties": False}
    for style, parts in (
        ("cohere_xml", ['<cofl:value name="a" type="list">', '<cofl:value type="json">', "5", "</cofl:value>", "</cofl:value>"]),
        ("minimax_m3_xml", [f"{M3}<a>", f"{M3}<item>5{M3}</item>", f"{M3}</a>"]),
    ):
        grammar = Grammar.from_json_schema(schema, style=style, whitespace=whitespace)
        for space, expected in (("", True), (" ", whitespace in ("bounded", 2, "[ ]?")), ("\t\t", whitespace == 2), ("   ", False)):
            assert reads(grammar, space.join(parts)) == expected, (style, space)
            assert not reads(grammar, space + "".join(parts)) or not space


def test_white_space_around_scalars() -> None:
    """It is a part of them where marks tell no types, and of strings where they do; a value may be the string that has it."""
    parts = {"n": {"type": "integer"}, "s": {"enum": ["x", " y", None]}, "t": {"type": ["integer", "string"], "minLength": 2}}
    schema = {"type": "object", "properties": parts, "additionalProperties": False}
    grammars = {style: Grammar.from_json_schema(schema, style=style) for style in ("minimax_m3_xml", "cohere_xml")}
    for name, kind, raw, in_m3, in_cohere in (
        ("n", "json", " 5", False, True),
        ("n", "json", "5\n", False, True),
        ("s", "raw", "x ", False, False),
        ("s", "raw", " y", True, True),
        ("s", "raw", "  y", False, False),
        ("s", "json", " null", False, True),
        ("t", "json", " 5", True, True),
        ("t", "raw", " 5", True, True),
        ("t", "raw", "5", True, False),
    ):
        assert reads(grammars["minimax_m3_xml"], f"{M3}<{name}>{raw}{M3}</{name}>") == in_m3, (name, raw)
        assert reads(grammars["cohere_xml"], f'<cofl:value name="{name}" type="{kind}">{raw}</cofl:value>') == in_cohere, (name, raw)


def test_names_and_texts_in_marks() -> None:
    schema = {"type": "object", "properties": {'<a&"b">': {"type": "string"}}, "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema, style="cohere_xml")
    assert reads(grammar, '<cofl:value name="&lt;a&amp;&quot;b&quot;&gt;" type="raw"></cofl:valu<</cofl:value>')
    assert not reads(grammar, """<cofl:value name="&lt;a&&quot;b&quot;&gt;" type="raw"></cofl:value>""")
    for style in ("minimax_m3_xml", "kimi_k3_xml"):
        with pytest.raises(UnsupportedSchemaError, match=r"""the key '<a&"b">' cannot stand in a mark"""):
            Grammar.from_json_schema(schema, style=style)
    with pytest.raises(UnsupportedSchemaError, match="cannot stand in a mark"):
        Grammar.from_json_schema({"properties": {"a\nb": {"type": "null"}}, "type": "object"}, style="cohere_xml")
    for style, end in (("cohere_xml", "</cofl:value>"), ("minimax_m3_xml", M3), ("kimi_k3_xml", "<|close|>argument<|sep|>")):
        with pytest.raises(UnsupportedSchemaError, match=f"has {re.escape(end)} in it, which ends a parameter"):
            Grammar.from_json_schema({"type": "object", "properties": {"a": {"const": f"x{end}"}}}, style=style)


def test_keys_that_cannot_stand_behind_a_value() -> None:
    style = "minimax_m3_xml"
    grammar = Grammar.from_json_schema({"type": "object", "properties": {"a": {}}, "patternProperties": {"^b": {}}}, style=style)
    assert [(note.keyword, note.detail) for note in grammar.report.notes] == [
        ("additionalProperties", "style='minimax_m3_xml' writes no key that the schema does not name")
    ]
    assert reads(grammar, f"{M3}<a>{M3}</a>") and reads(grammar, f"{M3}<a>{M3}<item>1{M3}</item>{M3}</a>")
    assert not reads(grammar, f"{M3}<b>{M3}</b>") and not reads(grammar, f"{M3}<a>{M3}<b>1{M3}</b>{M3}</a>")
    assert not Grammar.from_json_schema(
        {"properties": {"a": {"type": "null"}}, "additionalProperties": False, "type": "object"}, style=style
    ).report.notes
    with pytest.raises(UnsupportedSchemaError, match="the key '/a' cannot stand in a mark"):
        Grammar.from_json_schema({"type": "object", "properties": {"a": {}, "/a": {}}}, style=style)
    with pytest.raises(UnsupportedSchemaError, match=r"/minProperties admits nothing where keys outside of .* are not written"):
        Grammar.from_json_schema({"type": "object", "minProperties": 1}, style=style)
    for unique in (True, False):  # no such key comes twice, as none comes
        Grammar.from_json_schema({"type": "object"}, style=style, unique_keys=unique)


@pytest.mark.parametrize("style", ["cohere_xml", "minimax_m3_xml"])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_items_by_position(style: str, n: int) -> None:
    """Those that are alike stand in a row, or in a list if they are many; none has a comma behind it."""
    parts = [*[{"type": "integer"}] * n, {"type": "boolean"}]
    items: dict[str, Any] = {"type": "array", "prefixItems": parts, "items": {"type": "null"}}
    right: tuple[Any, ...] = (*[5] * n, True, None, None)
    for asked in ({"minItems": n + 1}, {"contains": {"const": True}, "maxContains": 1}, {"contains": {"type": "null"}, "minContains": 2}):
        schema = {"type": "object", "properties": {"a": items | asked}, "additionalProperties": False}
        grammar = Grammar.from_json_schema(schema, style=style)
        for value in (right, right[1:], right[: n + 1], right[:n], (*right, 5)):
            expected = validator(json.dumps(items | asked)).is_valid(plain(value))
            assert reads(grammar, write(style, [("a", value)], random.Random(n))) == expected, (asked, value)


def test_notes_of_keys_that_never_come() -> None:
    for others in (
        {"additionalProperties": {"not": {}}},
        {"additionalProperties": {"type": "integer", "enum": ["a"]}},
        {"additionalProperties": False, "patternProperties": {"^a$": {}}},
    ):
        schema = {"type": "object", "properties": {"a": {"type": "null"}}, **others}
        assert not Grammar.from_json_schema(schema, style="minimax_m3_xml").report.notes
        schema |= {"patternProperties": {"^b": {"type": "null"}}}
        assert Grammar.from_json_schema(schema, style="minimax_m3_xml").report.notes


def test_keys_in_marks_are_letters() -> None:
    """Behind a value as before it: tokens are what is around them."""
    names = [M3, "a", "<a>", "</a>", "\u200b"]
    special = dict(enumerate(names[:-1], 256))
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), *[b""] * len(special)], eos=[], special=special)
    for key in ("a", "a\u200b"):
        schema = {"type": "object", "properties": {key: {"const": "x"}}, "required": [key], "additionalProperties": False}
        grammar = Grammar.from_json_schema(schema, style="minimax_m3_xml", whitespace="compact", special_tokens=names)
        assert Matcher(grammar, vocabulary).forced_tokens() == [256, *f"<{key}>x".encode(), 256, *f"</{key}>".encode()]


def test_lenient_where_other_keys_are_not_written() -> None:
    """What is given up is the object's conditions, and not its keys."""
    schema = {"type": "object", "properties": {"a<": {"type": "null"}, "b": {"type": "integer"}}, "required": ["a<"]}
    grammar = Grammar.from_json_schema(schema, style="minimax_m3_xml", lenient=True)
    assert [entry.detail for entry in grammar.report.relaxed] == ["the key 'a<' cannot stand in a mark"]
    assert reads(grammar, f"{M3}<b>5{M3}</b>") and reads(grammar, "") and not reads(grammar, f"{M3}<c>5{M3}</c>")


@pytest.mark.parametrize("style", ["cohere_xml", "minimax_m3_xml"])
def test_items_are_not_compared(style: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}}}
    with pytest.raises(UnsupportedSchemaError, match="writes items in marks, and those are not compared") as caught:
        Grammar.from_json_schema(schema, style=style)
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "uniqueItems")
    grammar = Grammar.from_json_schema(schema, style=style, lenient=True)
    assert reads(grammar, write(style, [("a", (1, 1))], random.Random(0)))
    assert [entry.keyword for entry in grammar.report.relaxed] == ["uniqueItems"]
