"""Sources that are refused: which exception, and that it names the place
and the reason. The bystander of conftest.py goes on all the while."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grammar_engine import (
    Grammar,
    GrammarEngineError,
    GrammarError,
    GrammarSyntaxError,
    Limits,
    Matcher,
    SchemaError,
    UnsatisfiableSchemaError,
    UnsupportedRegexError,
    UnsupportedSchemaError,
    Vocabulary,
)


def refused(kind: type[Exception], call) -> Exception:
    """The exception of a call, which is of exactly this class, and the same when asked again."""
    with pytest.raises(kind) as first:
        call()
    with pytest.raises(kind) as second:
        call()
    assert kind is GrammarError or type(first.value) is kind
    assert str(first.value) == str(second.value)
    return first.value


# --- JSON text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"type":', "line 1, column 9"),
        ("", "line 1, column 1"),
        ("nul", "line 1, column 1"),
        ('{"type": "string"} x', "line 1, column 20"),
        ('{\n "a": 1,\n}', "line"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"minimum": NaN}', "NaN"),
        ('{"minimum": -Infinity}', "Infinity"),
        ('{"a": 1, "a": 2}', '"a" occurs twice'),
        ('{"a\0": 1}', "column"),
        ("\0", "column 1"),
        (b"\xff", "byte 0"),
        (b'"\xed\xa0\x80"', "byte 1"),
        ("3", "not a number"),
        ("[]", "not an array"),
        ('"string"', "not a string"),
        ("null", "not null"),
    ],
)
def test_malformed_json(text, reason):
    error = refused(SchemaError, lambda: Grammar.from_json_schema(text))
    assert reason in str(error)
    assert error.pointer == ""


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"minimum": NaN}'])
def test_a_message_names_its_place_once(text):
    message = str(refused(SchemaError, lambda: Grammar.from_json_schema(text)))
    assert message.count("at line 1, column 1") == 1 and "the root" not in message
    assert "cannot be read: the" not in message


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"minLength": "3"}, "(`minLength` at the root of the schema)"),
        ({"properties": {"a": {"minimum": "3"}}}, "(`minimum` at /properties/a of the schema)"),
        ({"required": "a"}, "`required` is a list of names (at the root of the schema)"),
        ({"if": 5}, "a schema is an object or a boolean, not a number (at /if of the schema)"),
        ({"properties": {"a": {"else": []}}}, "a schema is an object or a boolean, not an array (at /properties/a/else of the schema)"),
        ({"minContains": -1}, "`minContains` is an integer, at least 0 (at the root of the schema)"),
    ],
)
def test_a_message_names_its_keyword_once(schema, place):
    assert place in str(refused(SchemaError, lambda: Grammar.from_json_schema(schema)))


@pytest.mark.parametrize("source", [None, 5, 1.5, [], ["string"], object(), int])
def test_no_schema_at_all(source):
    assert type(source).__name__ in str(refused(SchemaError, lambda: Grammar.from_json_schema(source)))


# --- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"$ref": "#"}, {""}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, {"", "/$defs/a", "/$defs/b"}),
        ({"allOf": [{"$ref": "#"}]}, {"", "/allOf/0"}),
        ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, {"", "/anyOf/1"}),
        ({"not": {"$ref": "#"}}, {"", "/not"}),
        ({"items": {"$ref": "#/items"}}, {"/items"}),
        ({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}, {"/properties/x", "/$defs/a"}),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "$ref": "#b"}, "y": {"$anchor": "b", "$ref": "#a"}}}, {"", "/$defs/x", "/$defs/y"}),
    ],
)
def test_a_cycle_of_references_and_nothing_else(schema, pointers):
    error = refused(SchemaError, lambda: Grammar.from_json_schema(schema))
    assert error.pointer in pointers
    assert "refers to itself" in error.reason


def test_recursion_with_something_in_between_is_no_cycle():
    schema = {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/m"}}, "m": {"$ref": "#/$defs/n"}}, "$ref": "#/$defs/m"}
    matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact"), Vocabulary.bytes())
    assert matcher.accept_bytes(b"[[[],[]]]")
    assert matcher.is_complete


def test_a_python_value_that_contains_itself():
    """As a schema it means what a `$ref` would; as a constant nothing."""
    endless: dict = {"type": "object", "additionalProperties": False}
    endless["properties"] = {"next": endless}
    matcher = Matcher(Grammar.from_json_schema(endless, whitespace="compact"), Vocabulary.bytes())
    assert matcher.accept_bytes(b'{"next":{"next":{}}}')
    assert matcher.is_complete
    loop: list = []
    loop.append(loop)
    assert refused(UnsatisfiableSchemaError, lambda: Grammar.from_json_schema({"const": loop})).parts == ("/const",)


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        ({"pattern": "(a"}, "", "pattern"),
        ({"type": "object", "properties": {"x/y~": {"type": "string", "pattern": "(a"}}}, "/properties/x~1y~0", "pattern"),
        ({"items": {"anyOf": [{"type": "null"}, {"pattern": "a)b("}]}}, "/items/anyOf/1", "pattern"),
        ({"patternProperties": {"[": {}}}, "", "patternProperties"),
        ({"$ref": "#/$defs/s", "$defs": {"s": {"type": "string", "pattern": "["}}}, "/$defs/s", "pattern"),
    ],
)
def test_a_pattern_with_an_unclosed_group_names_the_schema(schema, pointer, keyword):
    error = refused(SchemaError, lambda: Grammar.from_json_schema(schema))
    assert (error.pointer, error.keyword) == (pointer, keyword)
    assert "without" in error.reason
    assert (pointer or "the root") in str(error)


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "reason"),
    [
        ({"properties": {"a": {"type": "strin"}}}, "/properties/a", "type", "strin"),
        ({"items": {"type": 5}}, "/items", "type", "name"),
        ({"items": 5}, "/items", None, "number"),
        ({"$ref": "#/nope"}, "", "$ref", "#/nope"),
        ({"$ref": 5}, "", "$ref", "string"),
        ({"minLength": -1}, "", "minLength", "at least 0"),
        ({"minItems": 1.5}, "", "minItems", "integer"),
        ({"multipleOf": 0}, "", "multipleOf", "greater than 0"),
        ({"required": "a"}, "", "required", "list"),
        ({"properties": []}, "", "properties", "object"),
        ({"enum": "a"}, "", "enum", "list"),
        ({"anyOf": []}, "", "anyOf", ""),
        ({"anyOf": {}}, "", "anyOf", ""),
        ({"minimum": "1"}, "", "minimum", "number"),
        ({"minimum": float("nan")}, "", "minimum", "nan"),
        ({"const": float("inf")}, "", "const", "inf"),
        ({"items": {"const": "\ud800"}}, "/items", "const", "surrogate"),
        ({"items": {"\ud800": 1}}, "/items", None, "surrogate"),
        ({"items": {5: 6}}, "/items", None, "the key 5 is no string"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", None: 1, "definitions": {"a": {}}},
            "",
            None,
            "no string",
        ),
        ({"items": {"const": b"a"}}, "/items", "const", "b'a' is no JSON value"),
        ({"maxProperties": None}, "", "maxProperties", "None is no number"),
        ({"prefixItems": 3, "unevaluatedItems": False}, "", "prefixItems", "list"),
        ({"items": 3, "unevaluatedItems": False}, "/items", None, "number"),
    ],
)
def test_malformed_schemas(schema, pointer, keyword, reason):
    error = refused(SchemaError, lambda: Grammar.from_json_schema(schema))
    assert reason in error.reason
    assert error.pointer == pointer
    assert keyword is None or error.keyword == keyword


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j], ids=["object", "set", "bytes", "complex"])
@pytest.mark.parametrize("keyword", ["const", "enum", "minimum", "pattern", "items"])
def test_python_values_that_are_no_json(keyword, value):
    schema = {keyword: [value] if keyword == "enum" else value}
    error = refused(SchemaError, lambda: Grammar.from_json_schema(schema))
    assert keyword not in ("const", "enum") or "is a number" not in error.reason  # it is none


@pytest.mark.parametrize("schema", [{"$ref": "http://example.com/x"}, {"minItems": 10**12}, {"type": "string", "pattern": r"(a)\1"}])
def test_what_is_not_enforced_is_refused(schema):
    error = refused(UnsupportedSchemaError, lambda: Grammar.from_json_schema(schema))
    assert error.pointer == ""
    assert error.keyword in schema


# --- Lark -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("start: foo", 1, 8, "foo"),
        ('start: "a" b C\nd: e', 1, 12, "b"),
        ('start: "a"\nb: "x" | undefined_one', 2, 10, "undefined_one"),
        ("start: A", 1, 8, "A"),
        ('start: "a', 1, 8, "not closed"),
        ("start: /(/", 1, None, "unterminated"),
        ('start: ("a"', 1, None, ""),
        ('start: "a"???', 1, 12, "operator"),
        ("%import foo.BAR\nstart: BAR", 1, None, "import"),
        ("%import common.NOPE\nstart: NOPE", 1, None, "NOPE"),
        ("%declare X\nstart: X", 1, None, "X"),
        ('start: "a"~3..2', 1, None, ""),
        ('start: "z".."a"', 1, None, ""),
        ('start: "a"\nstart: "b"', 2, None, "start"),
        ('start: "a" \0', 1, 12, ""),
        ("start: /(?=a)b/", 1, None, "look"),
        ("start: x{y}\ny: /a/", 1, None, "x"),
        ("grammars/my json.lark", 1, 1, "looks like a path: pass the text of the file"),
    ],
)
def test_malformed_lark(text, line, column, reason):
    with pytest.raises((GrammarSyntaxError, UnsupportedRegexError)) as caught:
        Grammar.from_lark(text)
    error = caught.value
    assert reason in error.reason
    assert error.line == line
    assert column is None or error.column == column
    assert "^" in str(error)


def test_all_undefined_names_at_once():
    error = refused(GrammarSyntaxError, lambda: Grammar.from_lark("start: a b C\nd: e"))
    assert all(name in error.reason for name in ("a", "b", "C", "e"))


@pytest.mark.parametrize("text", ["", "x: /a/", "// a comment"])
def test_no_start_rule(text):
    assert "'start'" in str(refused(GrammarError, lambda: Grammar.from_lark(text)))


@pytest.mark.parametrize("source", [None, 5, b"start: /a/", ["start: /a/"]])
def test_wrong_types(source):
    name = type(source).__name__
    assert name in str(refused(TypeError, lambda: Grammar.from_lark(source)))
    assert name in str(refused(TypeError, lambda: Grammar.from_regex(source)))


# --- grammars that produce nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grammar.from_lark('start: "a" start'),
        lambda: Grammar.from_lark("start: a\na: b\nb: start"),
        lambda: Grammar.from_lark('start: x "a"\nx: y x\ny: "b"'),
        lambda: Grammar.from_lark("start: X\nX: /[^\\x00-\\U0010ffff]/"),
        lambda: Grammar.from_regex(r"[^\x00-\U0010ffff]"),
        lambda: Grammar.from_regex("$a"),
        lambda: Grammar.from_regex(r"a\bb"),
    ],
)
def test_a_grammar_that_produces_nothing(make):
    error = refused(GrammarError, make)
    assert "no text at all" in str(error)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"enum": []},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "integer", "minimum": 2, "maximum": 1},
        {"allOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "string", "pattern": "^a$", "minLength": 2},
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
    ],
)
def test_a_schema_without_instance(schema):
    error = refused(UnsatisfiableSchemaError, lambda: Grammar.from_json_schema(schema))
    assert error.pointer == ""


# --- regexes and choices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["python", "ecma"])
@pytest.mark.parametrize(
    ("pattern", "offset"),
    [("(a", 0), ("a)", 1), ("ab[c", 2), ("a{2,1}", 1), ("*a", 0), ("é(", 1), ("😀\0(", 2), ("\\", 0), ("[z-a]", 1), ("a(?", 1)],
)
def test_malformed_regex(pattern, offset, dialect):
    error = refused(GrammarSyntaxError, lambda: Grammar.from_regex(pattern, dialect=dialect))
    assert error.source == pattern
    assert error.offset == offset
    assert error.column == offset + 1
    assert "\n" in str(error)


@pytest.mark.parametrize(
    ("pattern", "construct"),
    [
        ("(?:a(?=b)|ab)*b", "look-ahead"),
        ("(?:(?!a.*c)a|ab)*b", "look-ahead"),
        ("(?:a|(?<=a)b)", "look-behind"),
        ("(?<!a$)", "look-behind"),
        (r"(a)\1", "back-reference"),
    ],
)
def test_unsupported_regex(pattern, construct):
    error = refused(UnsupportedRegexError, lambda: Grammar.from_regex("x" + pattern))
    assert error.construct == construct
    assert construct in str(error)
    assert error.offset >= 1


@pytest.mark.parametrize(
    ("pattern", "dialect", "hint"),
    [
        ("[[:alpha:]]", "python", r"write \p{...} or a range"),
        ("[a-[:alpha:]]", "ecma", r"write \p{...} or a range"),
        (r"a\z", "ecma", r"\z: an anchor of other dialects; in ECMA-262 it is $"),
        (r"\R", "ecma", r"\R: line ends of other dialects"),
        (r"(?a)\p{L}", "python", "by which sets are of ASCII; write its characters"),
    ],
)
def test_hints_are_of_the_dialect(pattern, dialect, hint):
    error = refused(GrammarError, lambda: Grammar.from_regex(pattern, dialect=dialect))
    assert error.reason.endswith(hint) or f"{hint};" in error.reason


def test_a_refused_pattern_of_a_schema_is_told_once():
    for pattern, kind in ((r"(a)\1", UnsupportedSchemaError), ("[z-a]", SchemaError)):
        error = refused(kind, lambda pattern=pattern: Grammar.from_json_schema({"pattern": pattern}))
        assert str(error).count("regular expression") == 1
        assert repr(pattern) in str(error)


def test_lone_surrogates():
    for make in (Grammar.from_regex, lambda text: Grammar.from_choices(["a", text])):
        error = refused(GrammarError, lambda make=make: make("ab\ud800"))
        assert "surrogate" in error.reason
        assert error.offset == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda text: Grammar.from_regex(f"({text}"),
        lambda text: Grammar.from_lark(f'start: {text} "a"'),
        lambda text: Grammar.from_gbnf(f"root ::= {text}"),
        lambda text: Grammar.from_json_schema(f'{{"type": {text}}}'),
        lambda text: Grammar.from_json_schema({"properties": {text: {"type": text}}}),
        lambda text: Grammar.from_json_schema({"$ref": f"#/{text}"}),
    ],
)
@pytest.mark.parametrize("text", ["\x1b[2J", "\x07\x9b", "\u202egrammar\u2066"])
def test_messages_write_nothing_that_a_terminal_obeys(make, text):
    error = refused(GrammarError, lambda: make(text))
    for said in (str(error), error.snippet or ""):
        assert all(c.isprintable() or c == "\n" for c in said)
    if error.snippet:
        line, caret = error.snippet.split("\n")
        assert len(line) == min(72, len(error.source)) and len(caret) == error.column


def test_choices():
    assert "no choices" in str(refused(GrammarError, lambda: Grammar.from_choices([])))
    assert "choice 1" in str(refused(TypeError, lambda: Grammar.from_choices(["a", 5])))
    refused(TypeError, lambda: Grammar.from_choices("abc"))
    refused(TypeError, lambda: Grammar.from_choices(b"abc"))
    refused(TypeError, lambda: Grammar.from_choices(None))


# --- options ----------------------------------------------------------------------------------------------------------


def test_wrong_options():
    for call, name in [
        (lambda: Grammar.from_json_schema({}, whitespace="none"), "none"),
        (lambda: Grammar.from_json_schema({}, escapes="some"), "some"),
        (lambda: Grammar.from_regex("a", dialect="perl"), "perl"),
        (lambda: Grammar.from_lark("start: /a/", lexing="short"), "short"),
        (lambda: Grammar.from_lark("start: /a/", start="nope"), "nope"),
    ]:
        with pytest.raises(ValueError, match=name):
            call()


def test_limits_of_the_wrong_type():
    for limits in (5, {"max_rows": 5}, "max_rows"):
        with pytest.raises(TypeError):
            Grammar.from_regex("a", limits=limits)


def test_matchers_of_the_wrong_things(bystander):
    with pytest.raises(TypeError, match="Grammar"):
        Matcher(None, bystander.vocabulary)
    with pytest.raises(TypeError, match="Vocabulary"):
        Matcher(bystander.grammar, None)
    for arguments in ((), ("a",)):
        with pytest.raises(TypeError, match=r"from_json_schema.* from_structural_tag"):
            Grammar(*arguments)


LONG_KEY = "k" * 3_000
SPECIAL = Vocabulary([b"a", b""], eos=[1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: Grammar.from_lark("start: " + " ".join(f"r{i}" for i in range(9_000))),
        lambda: Grammar.from_gbnf("root ::= " + " ".join(f"r{i}" for i in range(9_000))),
        lambda: Matcher(Grammar.from_lark("start: " + " ".join(f"<t{i}>" for i in range(8_000))), SPECIAL),
        lambda: Matcher(Grammar.from_lark("start: <[2-8000]>"), SPECIAL),
        lambda: Grammar.from_json_schema({"properties": {LONG_KEY: {"type": "zzz"}}}),
        lambda: Grammar.from_json_schema({"properties": {LONG_KEY: {"maxItems": 9, "not": {"uniqueItems": True}}}}),
        lambda: Grammar.from_json_schema({"type": "object", "properties": {LONG_KEY: False}, "required": [LONG_KEY]}),
        lambda: Grammar.from_json_schema({"properties": {LONG_KEY: {"minLength": 3}}}, limits=Limits(max_expressions=20)),
        lambda: Grammar.from_json_schema({"format": LONG_KEY}, formats="strict"),
        lambda: Grammar.from_json_schema({"$id": "http://[", "$ref": LONG_KEY}),
        lambda: Grammar.from_structural_tag({"format": {"type": "or", "elements": [{"type": LONG_KEY}]}}),
        lambda: Grammar.from_regex("(?<=" + "a" * 3_000 + ")b(?P<" + "n" * 3_000 + ">"),
    ],
)
def test_messages_are_short(call: Callable[[], object]) -> None:
    """What is long in a source is not repeated as a whole."""
    with pytest.raises(GrammarEngineError) as caught:
        call()
    message = str(caught.value)
    assert len(message) < 1_000, message[:3000]
