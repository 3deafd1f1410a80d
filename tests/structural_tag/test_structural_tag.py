"""Structural tags: what each format reads, what is refused and where, special tokens, limits."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from grammar_engine import (
    Grammar,
    GrammarCache,
    GrammarEngineError,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    Limits,
    Matcher,
    UnsupportedSchemaError,
    Vocabulary,
    VocabularyError,
)

Format = dict[str, Any]
ANY: Format = {"type": "any_text"}
BYTES = Vocabulary.bytes()


def text(value: str) -> Format:
    return {"type": "const_string", "value": value}


def tag(begin: Any, content: Format, end: Any) -> Format:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence(*elements: Format) -> Format:
    return {"type": "sequence", "elements": list(elements)}


def times(low: int, high: int, content: Format) -> Format:
    return {"type": "repeat", "min": low, "max": high, "content": content}


def triggered(**options: Any) -> Format:
    return {"type": "triggered_tags", "triggers": ["<f"], "tags": [tag("<f1>", text("x"), "</f>"), tag("<f2>", ANY, "</f>")], **options}


def separated(**options: Any) -> Format:
    return {"type": "tags_with_separator", "separator": ",", "tags": [tag("<a>", text("1"), "</a>")], **options}


def once(content: Format) -> Format:
    """Free text, and at most once a sign with what follows it."""
    return {"type": "dispatch", "rules": [["!", content]], "loop": False}


def schema(json_schema: Any, **options: Any) -> Format:
    return {"type": "json_schema", "json_schema": json_schema, **options}


def grammar_of(shape: Format, **options: Any) -> Grammar:
    return Grammar.from_structural_tag({"type": "structural_tag", "format": shape}, **options)


def reads(grammar: Grammar, written: str) -> bool:
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_bytes(written.encode()) and matcher.is_complete


PAIR = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}
DISPATCH: Format = {"type": "dispatch", "rules": [["<p>", text("1")], ["<q>", ANY]]}


@pytest.mark.parametrize(
    ("shape", "read", "unread"),
    [
        (ANY, ["", "abc"], []),
        ({"type": "any_text", "max_chars": 2}, ["", "ab", "é€"], ["abc"]),
        ({"type": "any_text", "excludes": ["ab", "c"]}, ["", "aa", "ba"], ["ab", "bc"]),
        (tag("<a>", ANY, "</a>"), ["<a>x</a>"], ["<a>x", "<a></a></a>"]),
        (tag("<a>", ANY, ["</a>", "</b>"]), ["<a>x</a>", "<a>x</b>"], ["<a>x</b></a>"]),
        (tag("<a>", ANY, ["</a>\n", "</a>"]), ["<a>x</a>", "<a>x</a>\n"], ["<a></a></a>"]),
        (tag("<a>", ANY, ["</a>", ""]), ["<a>", "<a>x", "<a>x</a>"], ["<a></a></a>"]),
        (tag("<a>", ANY, "aba"), ["<a>aba", "<a>abbaba"], ["<a>ababa"]),
        (tag("", text("k"), ""), ["k"], [""]),
        (tag("<a>", sequence(ANY, text("k")), "</a>"), ["<a>xk</a>", "<a>kk</a>"], ["<a></a>k</a>"]),
        (tag("<a>", {"type": "or", "elements": [text("k"), ANY]}, "</a>"), ["<a>k</a>", "<a></a>"], ["<a>k</a></a>"]),
        (tag("<a>", {"type": "optional", "content": ANY}, "</a>"), ["<a>k</a>"], ["<a>k</a></a>"]),
        (tag("<", sequence(ANY, text("k")), "aba"), ["<abkaba", "<kaba"], ["<abakaba"]),
        (tag("<", sequence(text("k"), ANY), "aba"), ["<kaaba"], ["<kababa"]),
        (tag("<", {"type": "plus", "content": ANY}, "aa"), ["<aa", "<aaa"], ["<a"]),
        (tag("<", ANY, ["aba", "x"]), ["<aba", "<abx"], ["<ababa", "<xaba"]),
        (tag("<", sequence(triggered(), text("k")), "ab"), ["<kab", "<akab", "<<f1>x</f>kab"], ["<abkab"]),
        (tag("<a>", triggered(), "f>"), ["<a>f>", "<a>af>", "<a>>f>"], ["<a><f>"]),
        (tag("<a>", triggered(), ["f>", "</a>"]), ["<a>af>", "<a><</a>", "<a><f1>x</f>f>"], ["<a><f>", "<a>f></a>"]),
        (tag("<a>", tag("<b>", ANY, "</b>"), "</a>"), ["<a><b></a></b></a>"], ["<a><b></b></b></a>"]),
        (sequence(ANY, text("END")), ["END", "xENDEND", "xENDyEND"], ["xEN"]),
        (times(1, -1, text("a")), ["a", "aaa"], ["", "b"]),
        (times(2, 3, text("a")), ["aa", "aaa"], ["a", "aaaa"]),
        (times(2, 2, text("a")), ["aa"], ["a", "aaa"]),
        ({"type": "star", "content": text("ab")}, ["", "abab"], ["aba"]),
        ({"type": "plus", "content": text("ab")}, ["ab", "abab"], [""]),
        (triggered(), ["", "a", "<", "a<f1>x</f>b<f2>z</f>c", "<f2>y</f></f>"], ["<f1>y", "<f3", "<f", "<f1>x</f>b<f"]),
        (triggered(at_least_one=True), ["<f1>x</f>", "<f1>x</f>b<f1>x</f>c"], ["", "a", "a<f1>x</f>"]),
        (triggered(stop_after_first=True), ["", "a", "a<f1>x</f>"], ["a<f1>x</f>b"]),
        (triggered(at_least_one=True, stop_after_first=True), ["<f1>x</f>"], ["", "a<f1>x</f>", "<f1>x</f>b"]),
        (triggered(excludes=["bad"]), ["ba<f1>x</f>d", "<f2>bad</f>"], ["bad", "<f1>x</f>bad"]),
        (tag("<a>", triggered(), "</a>"), ["<a>q</a>", "<a>q<f1>x</f>r</a>"], ["<a></a></a>", "<a><f1>x</f></a></a>"]),
        (separated(), ["", "<a>1</a>", "<a>1</a>,<a>1</a>"], ["<a>1</a>,", " "]),
        (separated(at_least_one=True), ["<a>1</a>"], [""]),
        (separated(stop_after_first=True), ["", "<a>1</a>"], ["<a>1</a>,<a>1</a>"]),
        (separated(separator=""), ["<a>1</a><a>1</a>"], ["<a>1</a>,<a>1</a>"]),
        (DISPATCH, ["", "a", "a<p>1b<p>1", "<q>zz"], ["a<p>2", "<p>"]),
        ({**DISPATCH, "loop": False}, ["a", "a<p>1"], ["a<p>1b"]),
        ({**DISPATCH, "rules": [["<p>", text("1")], ["<p>", text("2")]]}, ["<p>1<p>2"], ["<p>3"]),
        (tag("<a>", {**DISPATCH, "loop": False}, "</a>"), ["<a><q>x</a>", "<a></a><q>x</a>"], ["<a><p>1</a></a>", "<a><q></a>x</a>"]),
        (tag("<a>", sequence(text("k"), once(sequence(text("j"), ANY))), "</a>"), ["<a>k!jx</a>"], ["<a>k!j</a></a>", "<a>!jx</a>"]),
        (tag("<a>", once({"type": "optional", "content": ANY}), "</a>"), ["<a>x!y!</a>"], ["<a>!</a></a>"]),
        (tag("<a>", once({"type": "or", "elements": [once(ANY), text("")]}), "</a>"), ["<a>!!x</a>", "<a>!</a>!</a>"], ["<a>!x!</a></a>"]),
        (tag("<a>", once(triggered()), "</a>"), ["<a>!x<f2></a></f></a>"], ["<a>!x</a></a>", "<a>!<f2></f></a></a>"]),
        (tag("<a>", once(tag("<b>", ANY, "</b>")), "</a>"), ["<a>!<b></a></b></a>"], ["<a>!<b></b></a></a>"]),
        (tag("<a>", once(ANY), "aba"), ["<a>!aba", "<a>!abbaba"], ["<a>!ababa"]),
        (tag("<a>", {**once(ANY), "loop": True, "excludes": ["ab"]}, "aba"), ["<a>!aba", "<a>!ababa"], ["<a>ababa"]),
        (tag("<a>", DISPATCH, "</a>"), ["<a>x<p>1y</a>", "<a></a></a>"], ["<a>"]),
        (sequence({**DISPATCH, "excludes": ["END"]}, text("END")), ["END", "a<p>1END"], ["aENDEND", "a"]),
        (schema(PAIR), ['{"a":1}', '{"a": 1, "b": 2}'], ['{"b":1,"a":1}', "{}"]),
        (schema(PAIR, any_order=True), ['{"b":1,"a":1}'], ['{"b":2}']),
        (schema(PAIR, max_whitespace_cnt=0), ['{"a":1,"b":2}'], ['{"a": 1}']),
        (schema(PAIR, max_whitespace_cnt=2), ['{"a":1,"b":2}', '{ "a"\n:  1 ,\t\n"b":2}'], ['{"a":   1}', ' {"a": 1}']),
        (schema(True, style="json", any_order=False, max_whitespace_cnt=None, excludes=[]), ["[1]"], ["["]),
        (schema(PAIR, style=None, any_order=None, max_whitespace_cnt=None, excludes=None), ['{"a": 1}'], ['{"b":1,"a":1}']),
        ({"type": "any_text", "excludes": None, "max_chars": None, "max_tokens": None}, ["abc"], []),
        (triggered(at_least_one=None, stop_after_first=None, excludes=None), ["", "a<f1>x</f>b"], ["<f"]),
        (separated(at_least_one=None, stop_after_first=None), ["", "<a>1</a>,<a>1</a>"], []),
        (separated(tags=[{**tag("<a>", text("1"), "</a>"), "type": None}]), ["<a>1</a>"], []),
        ({**DISPATCH, "loop": None, "excludes": None}, ["a<p>1b<p>1"], []),
        ({**DISPATCH, "rules": [("<p>", tag("<a>", triggered(), "f>"))]}, ["<p><a>af>"], ["<p><a><f>"]),
        (schema(PAIR, style="qwen_xml"), ["<parameter=a>1</parameter>"], ['{"a": 1}']),
        (schema(PAIR, style="glm_xml"), ["<arg_key>a</arg_key><arg_value>1</arg_value>"], ['{"a": 1}']),
        (
            schema({"properties": {"a": {"type": "string"}}, "required": ["a"], "type": "object"}, style="deepseek_xml"),
            ['<｜DSML｜parameter name="a" string="true">1</｜DSML｜parameter>'],
            ['<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>'],
        ),
        ({"type": "qwen_xml_parameter", "json_schema": PAIR}, ["<parameter=a>1</parameter>\n<parameter=b>2</parameter>"], ["{}"]),
        ({"type": "regex", "pattern": "^[0-9]+$"}, ["12"], [""]),
        ({"type": "regex", "pattern": r"\d"}, ["1"], ["٣"]),
        ({"type": "grammar", "grammar": 'root ::= "a" [0-9]+'}, ["a1"], ["a"]),
    ],
)
def test_formats(shape: Format, read: list[str], unread: list[str]) -> None:
    grammar = grammar_of(shape)
    assert [written for written in read if not reads(grammar, written)] == []
    assert [written for written in unread if reads(grammar, written)] == []


def test_older_form() -> None:
    asked = {"structures": [{"begin": "<f=a>", "schema": {"type": "integer"}, "end": "</f>"}], "triggers": ["<f="]}
    written_out = {**asked, "type": "structural_tag"}
    with_text = json.dumps({**asked, "structures": [{"begin": "<f=a>", "schema": '{"type": "integer"}', "end": "</f>"}]})
    for source in (asked, written_out, with_text, with_text.encode()):
        grammar = Grammar.from_structural_tag(source)
        assert reads(grammar, "Well: <f=a>12</f>.")
        assert reads(grammar, "")
        assert not reads(grammar, "<f=b>")


def test_numbers_of_text_are_exact() -> None:
    source = '{"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"enum": [0.1, 12345678901234567890.5]}}}'
    assert reads(Grammar.from_structural_tag(source), "12345678901234567890.5")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({}, '"type" is missing (at /format of'),
        ({"type": "text"}, "the type 'text' is not known; known are const_string"),
        ({"type": 1}, "1 stands where a string is expected (at /format/type"),
        ([], "[] stands where an object is expected (at /format of"),
        ({**text("a"), "stop": 1}, "'stop' is not known here; known are type, value (at /format of"),
        (text(None), "None stands where a string is expected (at /format/value"),
        (sequence(None), "None stands where an object is expected (at /format/elements/0"),  # type: ignore[arg-type]
        (text("\ud800"), "a lone surrogate, which is no character (at /format/value"),
        ({"type": "any_text", "max_tokens": 5}, "a grammar does not count tokens; max_chars counts characters (at /format/max_tokens"),
        ({"type": "any_text", "max_token": 5}, "'max_token' is not known here; known are type, excludes, max_chars (at /format of"),
        ({"type": "any_text", "max_chars": -1}, "-1 is not from 0 to "),
        ({"type": "any_text", "max_chars": True}, "True stands where a whole number is expected (at /format/max_chars"),
        ({"type": "any_text", "excludes": [""]}, "'' stands where a string that is not empty is expected (at /format/excludes/0"),
        ({"type": "any_text", "excludes": "a"}, "'a' stands where an array is expected (at /format/excludes"),
        (tag("<a>", ANY, ""), "free text in a tag needs an end (at /format/content"),
        (tag("<a>", once(ANY), ""), "free text in a tag needs an end (at /format/content/rules/0/1 of"),
        (
            tag("<a>", {"type": "token_dispatch", "rules": [["<t>", ANY]]}, ""),
            "free text in a tag needs an end (at /format/content/rules/0/1",
        ),
        (tag("<a>", sequence(text("a"), triggered()), [""]), "free text in a tag needs an end (at /format/content/elements/1"),
        (tag("<a>", ANY, []), "an empty array (at /format/end"),
        (tag({"type": "regex", "pattern": "a"}, ANY, "b"), "'pattern' is not known here"),
        (
            tag({"type": "regex", "token": "a"}, ANY, "b"),
            "what begins or ends a tag is a string or a \"token\", not 'regex' (at /format/begin",
        ),
        (tag({"token": 1.5}, ANY, "b"), "1.5 stands where the name or the id of a special token is expected (at /format/begin/token"),
        (tag({"token": ""}, ANY, "b"), "the name of a Token has 1 to 1,000 characters"),
        (tag({"token": -1}, ANY, "b"), "the id of a Token is at least 0"),
        (sequence(), "an empty array: no text could be written (at /format/elements"),
        (times(2, 1, ANY), "max is 1, and min is 2 (at /format/max"),
        (times(0, -2, ANY), "-2 is not from 0 to"),
        (triggered(triggers=["<g"]), "'<f1>', with which a tag begins, begins with none of the triggers (at /format/triggers"),
        (triggered(triggers=["<f", "<f1"]), "'<f' is in '<f1', and so would always be found first (at /format/triggers"),
        (triggered(excludes=["f"]), "'f' is in '<f', and so would always be found first"),
        (triggered(excludes=["<f"]), "'<f' is in '<f', and so would always be found first"),
        (triggered(excludes=["a<f1"]), "'<f' is in 'a<f1', and so would always be found first"),
        (tag("<a>", triggered(), "</f><f"), "'<f' is in '</f><f', and so would always be found first"),
        (triggered(tags=[text("a")]), 'the tags of a format are of the type "tag" (at /format/tags/0/type'),
        (triggered(tags=[{**tag("<f1>", ANY, "<"), "stop": 1}]), "'stop' is not known here; known are type, begin, content, end"),
        (triggered(tags=[]), "an empty array"),
        (triggered(at_least_one=1), "1 stands where true or false is expected (at /format/at_least_one"),
        ({**DISPATCH, "rules": []}, "an empty array (at /format/rules"),
        ({**DISPATCH, "rules": [["<p>"]]}, "['<p>'] stands where a pair is expected (at /format/rules/0"),
        ({**DISPATCH, "rules": [["", ANY]]}, "'' stands where a string that is not empty is expected (at /format/rules/0/0"),
        (schema(PAIR, style="gemma_xml"), "the style 'gemma_xml' is not supported; supported are json, qwen_xml,"),
        (
            schema(PAIR, excludes=["x"]),
            "what strings of a schema are without is told by their `pattern` or `not`; special tokens, by `special_tokens` (at /format/excludes",
        ),
        (schema(PAIR, max_whitespace_cnt=1001), "1001 is more than 1,000 (at /format/max_whitespace_cnt"),
        (schema(PAIR, max_whitespace_cnt=-1), "-1 is not from 0 to"),
        ({"type": "any_tokens"}, '"any_tokens" is not supported: '),
        ({"type": "exclude_token", "exclude_tokens": []}, '"exclude_token" is not supported: '),
        (tag("a", {"type": "regex", "pattern": "[^\\s\\S]"}, ""), "no text at all is a sentence of this grammar (regular expression)"),
    ],
)
def test_refused(shape: Any, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        grammar_of(shape)
    assert message in str(caught.value)


STRUCTURE = {"begin": "a", "schema": True, "end": "b"}


def test_refused_around() -> None:
    for source, message in (
        ({}, '"format" is missing (at the root of the structural tag)'),
        ({"type": "tag", "format": ANY}, 'the type of a structural tag is "structural_tag" (at /type'),
        ({"format": ANY, "name": "x"}, "'name' is not known here; known are type, format"),
        ({"structures": [], "triggers": ["a"]}, "an empty array"),
        ({"structures": [{"begin": "a", "end": "b"}], "triggers": ["a"]}, '"schema" is missing (at /structures/0'),
        ({"structures": [STRUCTURE], "triggers": ["a"], "format": ANY}, "'format' is not known here; known are type, structures, triggers"),
        ({"structures": [{**STRUCTURE, "name": "x"}], "triggers": ["a"]}, "'name' is not known here; known are begin, schema, end"),
        ({"structures": [{**STRUCTURE, "begin": 1}], "triggers": ["a"]}, "1 stands where a string is expected (at /structures/0/begin"),
        ({"structures": [{**STRUCTURE, "end": 1}], "triggers": ["a"]}, "1 stands where a string is expected (at /structures/0/end"),
        ("{", "the structural tag is not JSON: Expecting"),
        (b"\xff", "the structural tag is not UTF-8"),
        ('{"format": NaN}', "the structural tag is not JSON: NaN"),
        ('{"format": 1, "format": 2}', 'the key "format" occurs twice in one object of the structural tag'),
        ('{"format": {"type": "const_string", "value": 1.0}}', "1.0 stands where a string is expected (at /format/value"),
        ("[]", "[] stands where an object is expected (at the root"),
    ):
        with pytest.raises(GrammarError) as caught:
            Grammar.from_structural_tag(source)
        assert message in str(caught.value) and "the schema" not in str(caught.value), str(caught.value)
    with pytest.raises(TypeError, match="a structural tag is a dict, JSON text or a pydantic model, not list"):
        Grammar.from_structural_tag([])


def test_errors_of_parts_tell_where() -> None:
    for shape, kind in (
        (schema({"type": "string", "contentEncoding": "base64", "$dynamicRef": "x#y", "unevaluatedItems": 1}), GrammarError),
        ({"type": "regex", "pattern": "("}, GrammarSyntaxError),
        ({"type": "grammar", "grammar": "root ::= x"}, GrammarSyntaxError),
    ):
        with pytest.raises(kind) as caught:
            grammar_of(sequence(ANY, shape))
        assert "\nin what stands at /format/elements/1/" in str(caught.value)
    with pytest.raises(UnsupportedSchemaError):
        grammar_of(schema({"uniqueItems": True, "prefixItems": [{}, {"const": {}}], "type": "array", "minItems": 2}))


SPECIAL = Vocabulary(
    [b"a", b"1", b"<call>", b"", b"", b"", b"12"], eos=[5], special={3: "<call>", 4: "<end>", 5: "</s>"}
)  # the text 2 looks like the special token 3


def allowed(matcher: Matcher, *tokens: int) -> list[int]:
    assert matcher.accept_tokens(tokens) == len(tokens)
    found = matcher.allowed_tokens()
    matcher.rollback(len(tokens))
    return found


def test_special_tokens() -> None:
    called = tag({"type": "token", "token": "<call>"}, {"type": "regex", "pattern": "1a?"}, {"token": "<end>"})
    for shape in (
        {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [called], "exclude_tokens": ["<end>"]},
        {
            "type": "token_dispatch",
            "rules": [["<call>", sequence({"type": "regex", "pattern": "1a?"}, {"type": "token", "token": "<end>"})]],
        },
    ):
        matcher = Matcher(grammar_of(shape), SPECIAL)
        assert allowed(matcher) == [0, 1, 2, 3, 5, 6]
        assert allowed(matcher, 2) == [0, 1, 2, 3, 5, 6]
        assert allowed(matcher, 0, 3) == [1]
        assert allowed(matcher, 0, 3, 1) == [0, 4]
        assert allowed(matcher, 0, 3, 1, 4) == [0, 1, 2, 3, 5, 6]
    once = {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [called], "at_least_one": True, "stop_after_first": True}
    matcher = Matcher(grammar_of(once), SPECIAL)
    assert allowed(matcher) == [3]
    assert allowed(matcher, 3, 1, 4) == [5]
    assert allowed(Matcher(grammar_of({**DISPATCH_BY_ID, "loop": False}), SPECIAL), 3, 1) == [5]
    assert allowed(Matcher(grammar_of(tag("1", {**once, "at_least_one": False}, "a")), SPECIAL), 1, 0) == [5]
    any_text = {"type": "token_dispatch", "rules": [[3, ANY]], "loop": False}
    assert allowed(Matcher(grammar_of(tag("1", any_text, "a")), SPECIAL), 1, 3, 0) == [5]
    assert allowed(Matcher(grammar_of(tag("1", {**any_text, "loop": True}, "a")), SPECIAL), 1, 3, 0) == [0, 1, 2, 3, 5, 6]
    for end in ("a", ""):  # which is no end to a dispatch
        assert allowed(Matcher(grammar_of(tag("1", DISPATCH_BY_ID, end)), SPECIAL), 1, 0) == [0, 1, 2, 3, 5, 6]
    with pytest.raises(VocabularyError, match="<end>"):
        Matcher(grammar_of(called), BYTES)
    with pytest.raises(GrammarError, match="it begins with none of the trigger_tokens"):
        grammar_of({**once, "trigger_tokens": ["<end>"]})


DISPATCH_BY_ID: Format = {"type": "token_dispatch", "rules": [[3, text("1")]]}


def test_grammars_with_special_tokens() -> None:
    shape = sequence(text("a"), {"type": "grammar", "grammar": 'root ::= "1" <[4]>'})
    assert allowed(Matcher(grammar_of(shape), SPECIAL), 0, 1) == [4]


def test_excluded_tokens_are_special() -> None:
    shape = {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [tag({"token": "<call>"}, text("1"), "")]}
    with pytest.raises(VocabularyError, match="<pad>"):
        Matcher(grammar_of({**shape, "exclude_tokens": ["<pad>"]}), SPECIAL)


def test_limits() -> None:
    nested = text("a")
    for _ in range(400):
        nested = {"type": "optional", "content": nested}
    assert reads(grammar_of(nested), "a")
    with pytest.raises(LimitExceededError) as caught:
        grammar_of(nested, limits=Limits(max_schema_nesting=399))
    assert caught.value.limit == "max_schema_nesting"
    for nested in (sequence(sequence(ANY)), {**DISPATCH, "rules": [["<p>", {**DISPATCH, "rules": [["<p>", ANY]]}]]}):
        assert reads(grammar_of(nested, limits=Limits(max_schema_nesting=3)), "a")
        with pytest.raises(LimitExceededError, match="max_schema_nesting"):
            grammar_of(nested, limits=Limits(max_schema_nesting=2))
    endless: Format = {"type": "optional"}
    endless["content"] = endless
    with pytest.raises(LimitExceededError, match="max_schema_nesting"):
        grammar_of(endless)
    shared: Format = text("a")
    for _ in range(30):  # a billion places
        shared = sequence(shared, shared)
    with pytest.raises(LimitExceededError, match="max_schema_nodes"):
        grammar_of(shared, limits=Limits(max_schema_nodes=2_000))
    with pytest.raises(LimitExceededError, match="max_schema_nesting"):
        Grammar.from_structural_tag('{"format":' * 1_000 + "1" + "}" * 1_000)
    written_out = json.dumps({"format": {"type": "optional", "content": ANY}})
    assert Grammar.from_structural_tag(written_out, limits=Limits(max_schema_nesting=3)).limits == Limits(max_schema_nesting=3)
    with pytest.raises(LimitExceededError, match="brackets in the text of the structural tag"):
        Grammar.from_structural_tag(written_out, limits=Limits(max_schema_nesting=1))
    with pytest.raises(GrammarEngineError):
        grammar_of({"type": "regex", "pattern": "(" * 2_000 + ")" * 2_000})


@pytest.mark.parametrize(
    ("source", "n_nodes", "where"),
    [
        ({"format": sequence(*[text("a")] * 9)}, 10, "/format/elements/8"),
        ({"format": separated(tags=[tag("<", text("a"), ">")] * 5)}, 11, "/format/tags/0/content"),
        ({"format": triggered(tags=[tag("<f", text("a"), "")] * 5)}, 11, "/format/tags/0/content"),
        ({"structures": [STRUCTURE] * 10, "triggers": ["a"]}, 10, "/structures/9"),
        ({"format": tag("<", ANY, ["ab" * 4, "ba" * 4])}, 3 + 2 * 16 // 16, "/format/content"),
        ({"format": triggered(triggers=["<f", "abcdefg"], excludes=["x" * 7])}, 5 + 3 * 16 // 16, "/format/tags/0/content"),
        ({"format": tag("<", sequence(ANY, ANY), ["a" * 64])}, 4 + 64 // 16 + 2 * (64 // 32), "/format/content/elements/0"),
    ],
)
def test_formats_are_counted(source: Any, n_nodes: int, where: str) -> None:
    Grammar.from_structural_tag(source, limits=Limits(max_schema_nodes=n_nodes))
    with pytest.raises(LimitExceededError, match="max_schema_nodes") as caught:
        Grammar.from_structural_tag(source, limits=Limits(max_schema_nodes=n_nodes - 1))
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("shape", "limits"),
    [
        ({"type": "regex", "pattern": "(((a)))"}, Limits(max_regex_nesting=2)),
        ({"type": "grammar", "grammar": "root ::= (((a)))\na ::= root?"}, Limits(max_regex_nesting=2)),
        (schema({"items": {"items": {"items": {"type": "integer"}}}}), Limits(max_schema_nesting=2)),
        (schema({"properties": {"a": {"properties": {"b": {"items": {}}}}}}, style="qwen_xml"), Limits(max_schema_nesting=2)),
    ],
)
def test_limits_are_those_of_the_bodies_too(shape: Format, limits: Limits) -> None:
    grammar_of(shape)
    with pytest.raises(LimitExceededError) as caught:
        grammar_of(shape, limits=limits)
    assert "\nin what stands at /format/" in str(caught.value)


def test_many_ends() -> None:
    ends = [f"e{i}>" for i in range(300)]
    assert "2 nonterminals" in repr(grammar_of(tag("<", ANY, ends)))  # all ends share the content
    grammar = grammar_of(tag("<", {"type": "or", "elements": [ANY] * 300}, ends))
    assert reads(grammar, "<ab e299>") and not reads(grammar, "<ab e299>e1>")
    with pytest.raises(LimitExceededError, match="max_schema_nodes"):
        grammar_of(tag("<", ANY, ["ab" * i + "c" for i in range(300)]))
    with pytest.raises(LimitExceededError, match="max_schema_nodes"):
        grammar_of(triggered(triggers=["<f"], excludes=["ab" * i + "c" for i in range(300)]))


def test_triggers_of_many_tags_are_found_in_time() -> None:
    def seconds(n: int) -> float:
        marks = [f"<{i}>" for i in range(n)]
        shape = triggered(triggers=marks, tags=[tag(mark, text("x"), ">") for mark in reversed(marks)])
        begin = time.process_time()
        with pytest.raises(LimitExceededError, match="max_schema_nodes"):
            grammar_of(shape)
        return time.process_time() - begin

    assert seconds(16_000) < 60 * seconds(1_500)  # if each were compared with all triggers, 114 times as long


def test_values_that_cannot_be_shown() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for shape in (
        text(deep),
        {"type": deep},
        {"type": "any_text", "excludes": [deep]},
        deep,
        times(10**5000, 1, ANY),
        times(0, 10**5000, ANY),
    ):
        with pytest.raises(GrammarError):
            grammar_of(shape)


def test_report() -> None:
    report = grammar_of(tag("<a>", sequence(triggered(), schema({"type": "integer", "title": "n"})), "</a>")).report
    assert ("/format/content/elements/0", "triggers", "none in free text: '<f', '</a>'") in report.enforced
    assert "/format/content/elements/1/json_schema" in [entry.pointer for entry in report.enforced]
    assert [entry.keyword for entry in report.annotations] == ["title"]
    report = grammar_of(tag("<", schema({"type": "integer"}), ["aba", "x", "x"])).report
    assert [entry.keyword for entry in report.enforced] == ["type"]  # once, although it is written before both ends
    for shape in (triggered(triggers=["<f", "<f"], tags=[tag("<f", ANY, ">")]), {**DISPATCH, "rules": [["<f", ANY], ["<f", ANY]]}):
        assert [entry.detail for entry in grammar_of(shape).report.enforced] == ["none in free text: '<f'"]


def test_tells_where() -> None:
    matcher = Matcher(grammar_of(tag("<a>", schema({"type": "integer"}), "</a>")), BYTES)
    assert matcher.accept_bytes(b"<a>")
    assert matcher.explain(b"x").expected[0] == "integer"
    body = {"type": "object", "properties": {"q": {"type": "integer"}}}
    older = {"structures": [{"begin": "<a>", "schema": body, "end": "</a>"}], "triggers": ["<a"]}
    grammar = Grammar.from_structural_tag(older)
    found = Matcher(grammar, BYTES).explain(b'<a>{"q":x')
    assert set(found.where) == {"/structures/0/schema/properties/q", "/structures/0/schema"}
    assert set(found.where) <= {entry.pointer for entry in grammar.report.enforced}
    matcher = Matcher(grammar_of({"type": "grammar", "grammar": 'root ::= "a" x\nx ::= "b" root | "c"'}), BYTES)
    assert matcher.explain(b"x").where[0] == "/format/grammar#1:10"


def test_options_of_the_schemas() -> None:
    number = {"type": "array", "uniqueItems": True, "prefixItems": [{}, {"const": []}]}
    options = {"lenient": True, "whitespace": "compact", "property_order": "any"}
    grammar = grammar_of(sequence(schema(number), text("!")), schema_options=options)
    assert grammar.report.relaxed and reads(grammar, "[[1],[]]!") and not reads(grammar, "[[1], []]!")
    xml = {"properties": {"a": {"type": "integer"}}, "additionalProperties": False, "required": ["a"]}
    for style, written in ((None, "<parameter=a>1</parameter>"), ("json", '{"a":1}')):
        assert reads(grammar_of(schema(xml, style=style), schema_options={"style": "qwen_xml", "whitespace": "compact"}), written)
    for message, bad in (("'strict'", {"strict": True}), ("a mapping", ["lenient"])):
        with pytest.raises(TypeError, match=message):
            grammar_of(ANY, schema_options=bad)


def test_bytes_of_a_grammar() -> None:
    grammar = grammar_of(tag({"token": "<call>"}, ANY, {"token": "<end>"}))
    again = Grammar.from_bytes(grammar.to_bytes())
    assert allowed(Matcher(again, SPECIAL), 3, 2) == allowed(Matcher(grammar, SPECIAL), 3, 2) == [0, 1, 2, 4, 6]


def test_cache() -> None:
    cache = GrammarCache()
    source = {"type": "structural_tag", "format": ANY}
    assert cache.from_structural_tag(source) is cache.from_structural_tag(dict(source))
    assert cache.from_structural_tag(json.dumps(source)) is not cache.from_structural_tag(source)


def test_pydantic_models() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Schema(pydantic.BaseModel):
        type: str = "json_schema"
        given: dict = pydantic.Field(alias="json_schema")
        style: str | None = None

    class Sent(pydantic.BaseModel):
        type: str = "structural_tag"
        name: str | None = None  # which is not known, and not sent
        format: Schema

    class Older(pydantic.BaseModel):
        structures: tuple[dict, ...]
        triggers: tuple[str, ...]

    sent = Sent(format=Schema(json_schema={"enum": [None, 1], "default": None}))
    cache = GrammarCache()
    for grammar in (Grammar.from_structural_tag(sent), cache.from_structural_tag(sent)):
        assert [reads(grammar, written) for written in ("null", "1", "2")] == [True, True, False]
    assert cache.from_structural_tag(sent) is cache.from_structural_tag(
        Sent(format=Schema(json_schema={"enum": [None, 1], "default": None}))
    )
    assert reads(Grammar.from_structural_tag(Older(structures=(STRUCTURE,), triggers=("a",))), "xa1b")
    with pytest.raises(GrammarError, match="'name' is not known here"):
        Grammar.from_structural_tag(Sent(name="x", format=Schema(json_schema={})))
    with pytest.raises(GrammarError, match=r"Sent.model_dump\(\) gives no structural tag: .*Error"):
        Grammar.from_structural_tag(Sent(format=Schema(json_schema={"enum": [object()]})))
    for bad in (Sent, object()):
        with pytest.raises(TypeError, match="a structural tag is a dict, JSON text or a pydantic model, not"):
            Grammar.from_structural_tag(bad)


def test_models_that_tell_themselves_as_text() -> None:
    class Told:
        def model_dump_json(self, by_alias: bool, exclude_none: bool) -> str:
            assert by_alias and exclude_none
            return json.dumps({"format": text("a")})

    assert reads(Grammar.from_structural_tag(Told()), "a")
