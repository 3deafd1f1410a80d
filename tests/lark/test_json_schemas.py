"""`%json` in Lark grammars: a schema is compiled as any other, and is a part of the grammar around it."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarCache, Limits, Matcher, Tag, Vocabulary
from grammar_engine.errors import (
    GrammarSyntaxError,
    LimitExceededError,
    SchemaError,
    UnsatisfiableSchemaError,
    UnsupportedSchemaError,
)
from vocabularies import load_real

VOCABULARY = Vocabulary.bytes()
POINT = """{
  "type": "object",
  "properties": {"x": {"type": "integer"}, "}": {"enum": ["{", "\\"}", "%json <a> // no comment"]}},
  "required": ["x"],
  "additionalProperties": false
}"""
CALL = f'start: "<tool>" %json {POINT} "</tool>" // the end\n'


def reads(grammar: Grammar, text: bytes) -> bool:
    matcher = Matcher(grammar, VOCABULARY)
    return matcher.accept_bytes(text) and matcher.is_complete


@pytest.mark.parametrize(
    ("text", "sentences", "others"),
    [
        (
            CALL,
            [b'<tool>{"x":1}</tool>', b'<tool> {"x": 12, "}": "\\"}"}\n</tool>', b'<tool>{"x":1,"}":"%json <a> // no comment"}</tool>'],
            [b"<tool></tool>", b'<tool>{"x":"1"}</tool>', b'<tool>{"x":1}', b' <tool>{"x":1}</tool>', b'<tool>{"x":1}{"x":1}</tool>'],
        ),
        ('start: %json true | "x"', [b"x", b"[1]", b' {"a": null} '], [b"", b"y", b"[1]x"]),
        ('start: "a" %json{"const": 1}"b" %json\n\n  {"const": 2}', [b"a1b2", b"a 1 b\t2\n"], [b"a1b1", b"ab", b"a 1 b"]),
        ('start: (%json {"type": "integer"} ";")~2..3', [b"1;2;", b"1; -2 ;3;"], [b"1;", b"1;2;3;4;", b"1;2"]),
        ('start: %json {"enum": [1, 22]}+', [b"1", b"122", b"22 1"], [b"", b"2", b"1 2"]),
        ('start: list{%json {"type": "boolean"}, ";"}\nlist{x, s}: [x (s x)*]', [b"", b"true", b"true;false ; true"], [b";", b"true;"]),
        ('start: "(" start ")" | %json {"const": null}', [b"null", b"((null))", b"( null )"], [b"(null", b"()"]),
        ('start: start "+" %json {"const": 7} | %json {"const": 7}', [b"7", b"7+7 + 7"], [b"7+", b"+7"]),
        ("start: a | b\na: %json {\"required\": [\"a\"], \"type\": \"object\"}\nb: %json {\"maxProperties\": 0, \"type\": \"object\"}", [b"{}", b'{"a":1}'], [b'{"b":1}']),
        ('start: A %json {"type": "string"} A\nA: /[a-z"]+/', [b'a"b"c', b'a""b"c'], [b'"b"', b'a"b']),
        ("start: x\n  | %json {} -> y // {\nx: %json { }\n", [b"1"], [b""]),
    ],
)  # fmt: skip
def test_sentences(text: str, sentences: list[bytes], others: list[bytes]) -> None:
    grammar = Grammar.from_lark(text)
    assert [sentence for sentence in sentences if not reads(grammar, sentence)] == []
    assert [other for other in others if reads(grammar, other)] == []


def test_what_is_ignored_stands_around_it_and_not_in_it() -> None:
    grammar = Grammar.from_lark(CALL + "%ignore /[_ ]/\n")
    assert all(reads(grammar, text) for text in (b'__<tool>_{"x":1}_</tool>_', b'<tool>_ \n_{"x": 1}'[:7] + b'\n{"x": 1}\n_ _</tool>'))
    assert not any(
        reads(grammar, text) for text in (b'<tool>{_"x":1}</tool>', b'<tool>{"x":_1}</tool>', b'<to_ol>{"x":1}</tool>', b'<tool>\n_{"x":1}\n_\n_</tool>x')
    )  # fmt: skip
    assert not reads(grammar, b'<tool>{"x":1}_\n</tool>')  # white space of the schema only directly behind it
    repeated = Grammar.from_lark('start: (/[a-c]/ | %json {"const": 1})*\n%ignore "_"')
    assert all(reads(repeated, text) for text in (b"", b"_", b"a_b_1_", b"_1 _c"))
    assert not any(reads(repeated, text) for text in (b"a b", b"_ a", b"1__ a"))


def test_ignored_text_alone_is_what_it_is_without_a_schema() -> None:
    for rest in ("", " | %json true"):
        grammar = Grammar.from_lark(f'start: "a"*{rest}\n%ignore "_"')
        assert reads(grammar, b"") and reads(grammar, b"_") and reads(grammar, b"_a__a_")


def test_masks_are_those_of_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 3}, "b": {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}},
    }
    vocabulary = Vocabulary.builtin()
    alone, part = Grammar.from_json_schema(schema), Grammar.from_lark(f"start: %json {json.dumps(schema)}\n%ignore /#/")
    one, other = Matcher(alone, vocabulary), Matcher(part, vocabulary)
    assert other.accept_bytes(b"##")
    for token in vocabulary.encode_greedy(b'{"a": "xyz", "b": [1, 2], "c": [{}]}'):
        if one.allowed_tokens() != other.allowed_tokens():
            with_sign = {i for i in other.allowed_tokens() if b"#" in vocabulary.tokens[i]}
            assert set(other.allowed_tokens()) - with_sign == set(one.allowed_tokens()) - with_sign
        assert one.accept(token) and other.accept(token)
    assert one.is_complete and other.is_complete


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ('start: "a" %json {"type" "integer"}', "Expecting ':' delimiter", 1, 26),
        ('start: "a"\n  | %json {"type": "integer",\n  "x": 1 "y": 2}', "Expecting ',' delimiter", 3, 10),
        ('start: %json {"a": 1, "a": 2}', 'the key "a" occurs twice', 1, 23),
        ('start: %json {"a: 1}\nb: "x"}', "does not end", 1, 8),
        ('start: %json {"a: 1}\nb: "x" "}', "Invalid control character", 1, 21),
        ('start: %json {"maximum": NaN}', "NaN is no JSON number", 1, 26),
        ('start: "a"\nb: %json {"type": "integer"\nc: "x"', "does not end", 2, 4),
        ("start: %json", "an object, true or false", 1, 8),
        ('start: %json "a"', "an object, true or false", 1, 8),
        ("start: %json [{}]", "an object, true or false", 1, 8),
        ("start: %json truefalse", "an object, true or false", 1, 8),
        ("%json {}", "expecting rule", 1, 1),
        ('start %json {"a": "(/"} "x"', "missing colon", 1, 7),
        ('start: %json {"a": "(/"} (', "unclosed parenthesis", 1, 27),
        ('start: "a" %json {} )', "')' has no place here", 1, 21),
        ('start: %json {\n"a":\n1} ^', "no place here", 3, 4),
        ('start: "a"..%json {}', "no place here", 1, 11),
        ("start: %json {}.. <a>", "no place here", 1, 16),
        ("start: A\nA: %json {}", "a JSON Schema cannot stand inside of a terminal", 2, 4),
        ('start: "a"\n%ignore %json {}', "a JSON Schema cannot stand inside of a terminal", 2, 9),
        ("%import %json {}", "expects a name", 1, 9),
        ('start: "a" %lark {\n  start: "b"\n}', "%lark is not supported: write its rules", 1, 12),
        ('start: A\nA: %regex {"substring_words": "a b"}', "%regex is not supported: write", 2, 4),
        ('start: "a"\n%llguidance {"allow_invalid_utf8": true}', 'option "allow_invalid_utf8" of %llguidance is not supported', 2, 1),
        ('%llguidance {"no_forcing": true, "x": {"y": 1}}\nstart: "a"', 'option "x" of %llguidance is not supported', 1, 1),
        ('%llguidance {"allow_initial_skip": false}\nstart: "a"', 'option "allow_initial_skip": false of %llguidance', 1, 1),
        ('%llguidance {"no_forcing": 1}\nstart: "a"', 'option "no_forcing" of %llguidance', 1, 1),
        ('%llguidance {"skip_repetition": "once"}\nstart: "a"', 'option "skip_repetition" of %llguidance', 1, 1),
        ('%llguidance\nstart: "a"', "an object with options", 1, 1),
        ('%llguidance true\nstart: "a"', "an object with options", 1, 1),
        ('%llguidance {\nstart: "a"', "the object behind %llguidance does not end", 1, 1),
        ('%llguidance {"a" 1}\nstart: "a"', "no JSON", 1, 18),
        ("%llguidance " + '{"a":' * 100_000 + "1" + "}" * 100_000, "no JSON", 1, 13),
        ('start: "a" %llguidance {}', "no place here", 1, 12),
        ('%llguidance {} start: "a"', "no place here", 1, 16),
        ('%llguidance {\n}\nstart: )', "expecting a value", 3, 8),
        ("start: p::0x0\np::_: %if is_ones([0:3])", "a rule with a parameter, name::value, is not supported", 1, 9),
        ('start: "a"\np::_  :  "" %if true', "a rule with a parameter, name::value, is not supported", 2, 3),
        ('root ::= "a"', "a rule of GBNF, name ::= ..., which Grammar.from_gbnf reads", 1, 7),
        ('start: "a"\n my-rule ::= [a-z]', "a rule of GBNF, name ::= ..., which Grammar.from_gbnf reads", 2, 4),
        ('start: "a" %if true', "%if is not supported", 1, 12),
        ("start: @sub", "@name, another grammar, is not supported: write its rules", 1, 8),
        ("start: a: :b", "unexpected colon", 1, 9),
        ('x[stop="a"]: /a*/', "the attribute stop is not supported", 1, 3),
        ('x[suffix="a", capture]: /a*/', "the attribute capture is not supported", 1, 15),
        ('x[capture="a"]: /a*/', "take what you look for out of the text", 1, 3),
        ("x[ temperature=0.7 ]: /a*/", "set it where they are drawn", 1, 4),
        ("x[max_tokens=10]: /a*/", "counts characters", 1, 3),
        ("?x{y}[max_tokens=10]: /a*/", "counts characters", 1, 7),
    ],
)  # fmt: skip
def test_errors_of_the_text(text: str, reason: str, line: int, column: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text)
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.snippet.endswith("^")


@pytest.mark.parametrize(
    "options", ["{}", "{ }  # nothing", '{\n "no_forcing": true}', '{"no_forcing": false, "allow_initial_skip": true}']
)
def test_options_without_effect_are_annotations(options: str) -> None:
    grammar = Grammar.from_lark(f'%llguidance {options}\nstart: a %json true\n\n%llguidance {{}}\na: "a"\n%ignore " "')
    matcher = Matcher(grammar, Vocabulary.bytes())
    assert matcher.accept_bytes(b" a 1") and matcher.is_complete
    second = 4 + options.count("\n")
    assert [e.pointer for e in grammar.report.annotations if e.keyword == "%llguidance"] == ["1:1", f"{second}:1"]


@pytest.mark.parametrize(
    ("schema", "kind", "pointer"),
    [
        ('{"properties": {"x": {"type": "strin"}}}', SchemaError, "/properties/x"),
        ('{"type": "array", "uniqueItems": true, "prefixItems": [{}, {"const": []}]}', UnsupportedSchemaError, ""),
        ('{"items": {"pattern": "(a)\\\\1"}}', UnsupportedSchemaError, "/items"),
        ("false", UnsatisfiableSchemaError, ""),
        ('{"type": "integer", "minimum": 3, "maximum": 2}', UnsatisfiableSchemaError, ""),
    ],
)
def test_errors_of_the_schema(schema: str, kind: type[SchemaError], pointer: str) -> None:
    with pytest.raises(kind) as caught:
        Grammar.from_lark(f'start: "a"\n  | "b" %json {schema} "c"')
    assert caught.value.pointer == pointer
    hint = "; its options are `schema_options`" if kind is UnsupportedSchemaError else ""
    assert str(caught.value).endswith(f"\nin the JSON Schema behind %json at 2:9 of the grammar{hint}")


def test_options_of_the_schemas() -> None:
    text = 'start: %json {"type": "array", "uniqueItems": true, "prefixItems": [{}, {"const": [1]}]} | "x" %json {"$ref": "urn:number"}'
    options = {"lenient": True, "whitespace": "compact", "resources": {"urn:number": {"type": "integer"}}}
    grammar = Grammar.from_lark(text, schema_options=options)
    assert reads(grammar, b"[[],[1]]") and reads(grammar, b"x12") and not reads(grammar, b"[[], [1]]") and not reads(grammar, b"x 12")
    assert [(entry.pointer, entry.keyword) for entry in grammar.report.relaxed] == [("1:8#", "uniqueItems")]
    assert GrammarCache().from_lark(text, schema_options=options).to_bytes() == grammar.to_bytes()
    assert reads(Grammar.from_lark("start: %json {}", schema_options={}), b" [ ]")


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"spaces": 1}, TypeError, "schema_options has 'spaces', which is none of whitespace, lenient"),
        ({"limits": Limits()}, TypeError, "schema_options has 'limits'"),
        ({"escapes": "some"}, ValueError, "escapes"),
        ({"lenient": 1}, TypeError, "lenient"),
        ({"whitespace": "wide"}, ValueError, "whitespace is"),
        ({"whitespace": (", ", "=")}, ValueError, "separators are"),
        (["lenient"], TypeError, "schema_options is a mapping"),
    ],
)
def test_options_that_are_none(options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Grammar.from_lark('start: "no schema is there"', schema_options=options)


def test_explain_tells_where() -> None:
    matcher = Matcher(Grammar.from_lark('start: "a" "(" (%json {"items": {"type": "integer"}, "type": "array"})'), VOCABULARY)
    assert matcher.accept_bytes(b"a([")
    assert "1:17#/items" in matcher.explain(b"x").where


def test_only_what_the_start_rule_reaches_is_compiled() -> None:
    assert reads(Grammar.from_lark('start: "a"\nb: %json {"type": "nonsense"}'), b"a")


def test_lexing_is_exact() -> None:
    with pytest.raises(GrammarSyntaxError, match='lexing="exact"') as caught:
        Grammar.from_lark('start: "a" %json {}', lexing="longest")
    assert (caught.value.line, caught.value.column) == (1, 12)
    assert reads(Grammar.from_lark('start: "a"\nb: %json {}', lexing="longest"), b"a")


def test_limits_are_handed_on() -> None:
    text = 'start: "a"\n  %json {"items": {"items": {"items": {}}}}'.replace("\n", "\\\n")
    Grammar.from_lark(text, limits=Limits(max_schema_nesting=8))
    with pytest.raises(LimitExceededError, match="in the JSON Schema behind %json at 2:3 of the grammar") as caught:
        Grammar.from_lark(text, limits=Limits(max_schema_nesting=2))
    assert caught.value.limit == "max_schema_nesting"
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_lark('start: %json {"anyOf": [{"type": "integer"}, {"type": "string"}]}', limits=Limits(max_schema_nodes=2))
    assert caught.value.limit == "max_schema_nodes"


def test_nesting_is_a_limit_too() -> None:
    for text in ('{"items":' * 100_000 + "{}" + "}" * 100_000, '{"enum":[' + "[" * 100_000 + "]" * 100_000 + "]}"):
        with pytest.raises(LimitExceededError) as caught:
            Grammar.from_lark(f"start: %json {text}")
        assert caught.value.limit == "max_schema_nesting"
    with pytest.raises(GrammarSyntaxError, match="does not end"):
        Grammar.from_lark("start: %json " + '{"a\\"' * 100_000)


def test_many_schemas_take_time_in_proportion() -> None:
    rules = "\n".join(f'r{i}: "{i}" %json {{"const": {i}}}' for i in range(500))
    grammar = Grammar.from_lark("start: " + " | ".join(f"r{i}" for i in range(500)) + "\n" + rules)
    assert reads(grammar, b"77 77") and not reads(grammar, b"77 78")


def test_report() -> None:
    report = Grammar.from_lark(CALL.replace('"required"', '"title": "a point",\n "required"')).report
    assert ("1:17", "%json", "a JSON Schema, as Grammar.from_json_schema reads it") in report.enforced
    assert [entry.pointer for entry in report.enforced if entry.keyword == "type"] == ["1:17#", "1:17#/properties/x"]
    assert [entry.pointer for entry in report.annotations if entry.keyword == "title"] == ["1:17#"]
    assert any(entry.pointer == "1:8#" for entry in Grammar.from_lark('start: %json {"type": "object"}').report.notes)


def test_equal_schemas_are_one() -> None:
    grammar = Grammar.from_lark('start: %json {"type": "object"} | "a" %json {"type": "object"}')
    assert sum(entry.keyword == "%json" for entry in grammar.report.enforced) == 1


def test_other_ways_to_a_grammar() -> None:
    text = CALL.replace('"</tool>"', "<end>") + '%ignore " "'
    vocabulary = Vocabulary([*VOCABULARY.tokens[:256], b"", b""], eos=[257], special={256: "<end>"})
    cache = GrammarCache()
    grammar = cache.from_lark(text)
    assert cache.from_lark(text) is grammar
    for other in (grammar, Grammar.from_bytes(grammar.to_bytes()), pickle.loads(pickle.dumps(grammar))):
        matcher = Matcher(other, vocabulary)
        assert matcher.accept_tokens([*b'<tool>  {"x": 1 }  ', 256, ord(" ")]) == 21 and matcher.is_complete
    assert grammar.to_bytes() == Grammar.from_lark(text).to_bytes()
    tags = Grammar.from_tags([Tag("(", Grammar.from_lark(CALL), ")")], text="never")
    assert reads(tags, b'(<tool>{"x":1}</tool>)')


def test_over_a_real_vocabulary() -> None:
    vocabulary = load_real("tekken-131k").build()
    grammar = Grammar.from_lark('start: "<tool>" %json {"enum": ["ab", "abc", 12]} "</tool>"\n%ignore " "')
    sentences = [
        f"<tool>{gap}{value}{end}</tool>" for gap in ("", " ", "\n", "   ") for value in ('"ab"', '"abc"', "12") for end in ("", " ", "\t ")
    ]
    for text in ("", "<to", "<tool>", "<tool> ", '<tool>"ab', '<tool>"ab"', "<tool>1", "<tool>12 ", "<tool>12</", "<tool>12</tool>"):
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(text.encode())
        allowed = set(matcher.allowed_tokens())
        for sentence in sentences:
            assert all(i in allowed for i in fits(vocabulary, text, sentence))
        for i in allowed - set(vocabulary.eos):
            whole = Matcher(grammar, VOCABULARY)
            assert whole.accept_bytes(text.encode() + vocabulary.tokens[i])
        assert (set(vocabulary.eos) <= allowed) == (text == "<tool>12</tool>")


def fits(vocabulary: Vocabulary, text: str, sentence: str) -> list[int]:
    """The tokens with which the sentence goes on behind the text."""
    if not sentence.startswith(text):
        return []
    rest = sentence[len(text) :].encode()
    return [i for i, token in enumerate(vocabulary.tokens) if token and rest.startswith(token)]
