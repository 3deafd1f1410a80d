"""Tags: which texts they read, option by option, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_engine import (
    Grammar,
    GrammarCache,
    GrammarError,
    LimitExceededError,
    Limits,
    Matcher,
    SchemaError,
    Tag,
    Token,
    UnsatisfiableSchemaError,
    Vocabulary,
)

CALL = Tag("<call>", {"type": "integer"}, "</call>", name="call")
ASK = Tag("<ask>", Grammar.from_choices(["yes", "no"]), "</ask>", name="ask")
THINK = Tag("<think>", None, "</think>")


def reads(written: str, tags: Any = (CALL, ASK), /, **options: Any) -> bool:
    matcher = Matcher(Grammar.from_tags(tags, **options), Vocabulary.bytes())
    return matcher.accept_bytes(written.encode()) and matcher.is_complete


def test_auto() -> None:
    for text in ("", "no call", "<call>1</call>", "a <call>1</call><ask>no</ask> b", "1 < 2", "<cal", "<<call>1</call>", "<think>"):
        assert reads(text), text
    for text in ("<call>", "<call>x</call>", "<call>1</call", "a <ask>maybe</ask>", "<call>1<call>2</call></call>"):
        assert not reads(text), text


def test_required() -> None:
    assert reads("a <ask>no</ask> b", choice="required")
    assert not reads("a", choice="required")
    assert not reads("", choice="required")


def test_none() -> None:
    assert reads("a < b", choice="none")
    assert not reads("<ask>", choice="none")  # which who reads it would take for a tag
    assert not reads("<call>1</call>", choice="none")
    assert reads("<as", choice="none")


def test_by_name() -> None:
    assert reads("<ask>no</ask><ask>yes</ask>", choice="ask")
    assert not reads("<call>1</call><ask>no</ask>", choice="ask")
    assert not reads("", choice="ask")
    same = [Tag("<a>", True, "</a>", name="x"), Tag("<b>", True, "</b>", name="x"), CALL]
    assert reads("<b>1</b> <a>2</a>", same, choice="x")


def test_not_parallel() -> None:
    assert reads("a <ask>no</ask> b", parallel=False)
    assert reads("a", parallel=False)
    assert not reads("<ask>no</ask><ask>no</ask>", parallel=False)
    assert not reads("", parallel=False, choice="required")


def test_text_before() -> None:
    for text in ("", "a", "a <ask>no</ask>", "a <ask>no</ask>\n<call>2</call>"):
        assert reads(text, text="before", separator="\n"), text
    for text in ("a <ask>no</ask> b", "a <ask>no</ask><call>2</call>", "<ask>no</ask>\n"):
        assert not reads(text, text="before", separator="\n"), text
    assert reads("a <ask>no</ask><ask>no</ask>", text="before")
    assert not reads("a <ask>no</ask><ask>no</ask>", text="before", parallel=False)


def test_no_text() -> None:
    assert reads("", text="never")
    assert reads("<ask>no</ask>, <call>2</call>", text="never", separator=", ")
    for text in (" <ask>no</ask>", "<ask>no</ask> ", "<ask>no</ask><call>2</call>", "a", "<ask>no</ask>, "):
        assert not reads(text, text="never", separator=", "), text
    assert reads("1", [Tag("", {"type": "integer"})], text="never", choice="required", parallel=False)


def test_triggers() -> None:
    tags = [Tag(f"<f={name}>", {"type": "integer"}, "</f>", name=name) for name in ("one", "two")]
    assert reads("a <f=two>2</f>", tags, triggers=["<f="])
    assert reads("<f=", tags)
    assert not reads("<f=", tags, triggers=["<f="])
    assert not reads("<f=three>", tags, triggers=["<f="])
    assert not reads("[[", tags, triggers=["<f=", "[["])


def test_excluded() -> None:
    assert not reads("a [x] b", excluded=["[x]"])
    assert not reads("<ask>no</ask>[x]", excluded=["[x]"])
    assert reads("[x", excluded=["[x]"])
    notes = Tag("<note>", None, "</note>")
    assert reads("<note>[x</note>", [notes], excluded=["[x]"])
    assert not reads("<note>[x]</note>", [notes], excluded=["[x]"])
    assert reads("[x]<call>1</call>", excluded=["y]<"])
    assert not reads("[y]<call>1</call>", excluded=["y]<"])  # it ends within the trigger


def test_text_ends_where_its_end_is_first() -> None:
    notes = Tag("<note>", None, "</note>")
    assert reads("<note>1 < 2 </n </note> <note>", [Tag("<note>", None, "</note>"), CALL]) is False
    assert reads("<note></note>", [notes])
    matcher = Matcher(Grammar.from_tags([Tag("'", None, "''")], text="never", parallel=False), Vocabulary.bytes())
    assert matcher.accept_bytes(b"'a'b''")
    assert matcher.is_complete
    assert not matcher.accept_bytes(b"'")


def test_thinking() -> None:
    for text in ("<think>a <call> b</think>c <ask>no</ask>", "<think></think>", "a", "<ask>no</ask>"):
        assert reads(text, thinking=THINK), text
    for text in ("<think>a", "a <think>b</think>", "<think></think><think></think>", "<think>a</think><call>x</call>"):
        assert not reads(text, thinking=THINK), text
    begun = Tag("", None, "</think>\n")
    assert reads("a</think>\n<ask>no</ask>", thinking=begun, text="never")
    assert not reads("<ask>no</ask>", thinking=begun, text="never")
    assert reads("</think>\n", thinking=begun)


def test_one_token_may_end_the_thinking_and_begin_what_follows() -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(128)), b'</think>{"', b"</think>{x", b"</thin{x", b""], eos=[131])
    answer = Tag("", {"type": "object", "properties": {"a": True}, "required": ["a"]})
    grammar = Grammar.from_tags([answer], text="never", choice="required", parallel=False, thinking=Tag("", None, "</think>"))
    matcher = Matcher(grammar, vocabulary)
    assert matcher.accept_bytes(b"I think")
    assert {128, 129, 130} & set(matcher.allowed_tokens()) == {128, 130}


def test_ends_may_be_left_to_the_body() -> None:
    tags = [Tag("call: ", {"type": "object", "additionalProperties": False, "properties": {"a": {"type": "integer"}}, "required": ["a"]})]
    assert reads('call: {"a": 1}, and so on', tags)
    assert not reads('call: {"a": x}', tags)


def test_beginnings_in_parts() -> None:
    assert reads("<a><b>1</b>", [Tag(["<a>", "<b>"], {"type": "integer"}, ["</", "b>"])])


def test_characters_beyond_ascii() -> None:
    tags = [Tag("«é»", {"type": "integer"}, "«»")]
    assert reads("déjà «è» «é»1«» ü", tags)
    assert not reads("«é»x", tags)
    matcher = Matcher(Grammar.from_tags(tags), Vocabulary.bytes())
    assert not matcher.accept_bytes(b"\xff")
    assert not matcher.accept_bytes(b"\xc3a")


def test_bodies_keep_their_reports() -> None:
    body = Grammar.from_json_schema({"type": "string", "format": "unknown", "title": "t"})
    report = Grammar.from_tags([Tag("<a>", body, "</a>", name="a"), THINK], excluded=["x"]).report
    assert ("a#", "title") in [(entry.pointer, entry.keyword) for entry in report.annotations]
    assert {entry.keyword for entry in report.enforced} >= {"tag", "triggers", "excluded", "type"}


def test_explanations_name_bodies_and_tags() -> None:
    matcher = Matcher(Grammar.from_tags([CALL], text="never"), Vocabulary.bytes())
    assert matcher.accept_bytes(b"<call>")
    assert "call" in matcher.explain(b"x").rules


def test_explanations_tell_in_which_body() -> None:
    body = {"type": "object", "properties": {"q": {"type": "integer"}}, "required": ["q"]}
    rules = Grammar.from_lark('start: "x" y\ny: "z"')
    tags = [Tag("<a>", body, "</a>", name="A"), Tag("<b>", body, "</b>", name="B"), Tag("<c>", rules, "")]
    matcher = Matcher(Grammar.from_tags(tags), Vocabulary.bytes())
    assert set(matcher.explain(b'<a>{"q":x').where) == {"A#/properties/q", "A#"}
    found = matcher.explain(b'<b>{"q":x')
    assert set(found.where) == {"B#/properties/q", "B#"} and "at 'B#/properties/q', 'B#')" in str(found)
    assert set(found.where) <= {entry.pointer for entry in matcher.grammar.report.enforced}
    assert matcher.explain(b"<c>z").where[0] == "<c>#1:8"


def test_as_bytes() -> None:
    grammar = Grammar.from_tags([CALL, ASK], thinking=THINK)
    assert (
        Grammar.from_bytes(grammar.to_bytes()).to_bytes() == grammar.to_bytes() == Grammar.from_tags([CALL, ASK], thinking=THINK).to_bytes()
    )
    assert repr(grammar).startswith("<Grammar from tags")


@pytest.mark.parametrize(
    ("tags", "options", "message"),
    [
        ([], {}, "no tags"),
        ([], {"choice": "none", "text": "never"}, "no text beside"),
        ([Tag("", True, "x")], {}, "no beginning"),
        ([Tag(["", ""], True, "x", name="a")], {}, "'a' has no beginning"),
        ([Tag("<a>", None)], {}, "needs an end"),
        ([Tag("<a>", True), Tag("x<a>", True)], {}, "^'<a>', with which a tag or the thinking begins, is in 'x<a>', .* found first"),
        ([Tag("<a>", True)], {"thinking": Tag("<a>b", None, "c")}, "found first"),
        ([Tag("<a>", True)], {"thinking": Tag("<a>", None, "c")}, "begins the thinking"),
        ([Tag("<a>", True)], {"triggers": ["<b"], "text": "never"}, "none of the triggers"),
        ([Tag("<" * 1001, True)], {}, "1,001 characters"),
        ([Tag("<a>", True, ["x" * 600, "y" * 600])], {}, "1,200 characters"),
        ([Tag("<a>", True)], {"excluded": ["x" * 1001]}, "1,001 characters"),
        ([Tag("<a>", Grammar.from_lark('start: "a"', lexing="longest"), name="who")], {}, "'who'.*longest"),
        ([Tag("<a>", True)], {"triggers": ["<b"]}, "none of the triggers"),
        ([Tag("<a>", True)], {"triggers": ["<a>", "<"]}, "^the trigger '<' is in '<a>', and so would be found first"),
        ([Tag("<a>", True)], {"excluded": ["a"]}, "excluded"),
        ([Tag("<a>", None, "<b>")], {"excluded": ["b"]}, "ends the body"),
        ([Tag("<\ud800>", True)], {}, "surrogate"),
        ([Tag("<a>", True, "\ud800")], {}, "surrogate"),
        ([Tag("<a>", True)], {"excluded": ["\ud800"]}, "surrogate"),
        ([Tag("<a>", True)], {"separator": "\ud800", "text": "never"}, "surrogate"),
    ],
)
def test_tags_that_are_refused(tags: list[Tag], options: dict[str, Any], message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        Grammar.from_tags(tags, **options)


@pytest.mark.parametrize(
    ("tags", "options", "error"),
    [
        (CALL, {}, TypeError),
        ("<a>", {}, TypeError),
        ([CALL, "<a>"], {}, TypeError),
        (5, {}, TypeError),
        ([Tag(b"<a>", True)], {}, TypeError),
        ([Tag("<a>", True, 5)], {}, TypeError),
        ([Tag(["<a>", 5], True)], {}, TypeError),
        ([Tag("<a>", "text")], {}, TypeError),
        ([Tag("<a>", True, name=5)], {}, TypeError),
        ([Tag("<a>", True, name=[1])], {}, TypeError),
        ([Tag("<a>", 5)], {}, TypeError),
        ([Tag("<a>", b"{}")], {}, TypeError),
        ([Tag("<a>", True, name="required")], {}, ValueError),
        ([CALL, Tag("b", True, 7)], {"choice": "call"}, TypeError),  # although it may not come
        ([CALL], {"choice": "other"}, ValueError),
        ([CALL], {"choice": 5}, TypeError),
        ([CALL], {"parallel": 1}, TypeError),
        ([CALL], {"text": "behind"}, ValueError),
        ([CALL], {"separator": "\n"}, ValueError),
        ([CALL], {"separator": 5, "text": "never"}, TypeError),
        ([CALL], {"triggers": "<call>"}, TypeError),
        ([CALL], {"triggers": [5]}, TypeError),
        ([CALL], {"triggers": [""]}, ValueError),
        ([CALL], {"excluded": [""]}, ValueError),
        ([CALL], {"excluded": "x"}, TypeError),
        ([CALL], {"thinking": "<think>"}, TypeError),
        ([CALL], {"limits": 5}, TypeError),
    ],
)
def test_arguments_that_are_none(tags: Any, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Grammar.from_tags(tags, **options)


def test_errors_of_bodies() -> None:
    with pytest.raises(UnsatisfiableSchemaError) as raised:
        Grammar.from_tags([Tag("<a>", {"type": "integer", "minimum": 2, "maximum": 1}, "</a>")])
    assert str(raised.value).endswith("\nin the body of the tag '<a>'")
    with pytest.raises(SchemaError):
        Grammar.from_tags([Tag("<a>", {"type": 5})])


def test_limits_are_those_of_the_bodies_too() -> None:
    deep = {"items": {"items": {"items": {"type": "integer"}}}}
    for make in (Grammar.from_tags, GrammarCache().from_tags):
        with pytest.raises(LimitExceededError, match="max_schema_nesting"):
            make([Tag("<a>", deep, "</a>")], limits=Limits(max_schema_nesting=2))
        with pytest.raises(LimitExceededError, match="max_schema_nesting"):
            make([CALL], thinking=Tag("<t>", deep, "</t>"), limits=Limits(max_schema_nesting=2))


def test_long_marks_that_begin_as_they_end() -> None:
    for text in ("=" * 1000, "ab" * 400 + "a"):
        assert reads(f"x {text[:-1]} {text}1", [Tag(text, {"type": "integer"})])
        assert not reads(f"x {text}x", [Tag(text, {"type": "integer"})])


def test_limits() -> None:
    with pytest.raises(LimitExceededError):
        Grammar.from_tags([Tag("<a>", {"enum": list(range(2000))}, "</a>")], limits=Limits(max_expressions=100))
    assert Grammar.from_tags([CALL], limits=Limits(max_rules=9_999)).limits.max_rules == 9_999


def test_nothing_of_what_is_handed_over_changes() -> None:
    schema = {"type": "integer"}
    tags = [Tag("<a>", schema, ["</", "a>"])]
    Grammar.from_tags(tags)
    assert tags == [Tag("<a>", {"type": "integer"}, ["</", "a>"])]


def test_tags_are_values() -> None:
    assert Tag("a", None, "b") == Tag("a", None, "b")
    assert {Token("a"), Token("a"), Token(1)} == {Token("a"), Token(1)}
    assert str(Token(5)) == "Token(5)"


def test_from_a_cache() -> None:
    cache = GrammarCache()
    tags = [Tag(["<a", ">"], {"type": "integer"}, "</a>"), Tag("<b>", Grammar.from_regex("b"), "</b>")]
    grammar = cache.from_tags(tags, excluded=["x"], thinking=THINK)
    again = [Tag(["<a", ">"], {"type": "integer"}, "</a>"), tags[1]]
    assert cache.from_tags(again, excluded=["x"], thinking=THINK) is grammar
    assert cache.from_tags(again, excluded=["y"], thinking=THINK) is not grammar
    assert cache.from_tags([again[0]], excluded=["x"], thinking=THINK) is not grammar
    assert cache.stats.hits == 1
    schema = {"type": "integer"}
    changed = Tag("<a>", schema, "</a>")
    before = cache.from_tags([changed])
    schema["minimum"] = 5
    assert cache.from_tags([changed]) is not before
    assert cache.from_tags(iter([CALL]), excluded=iter(["x"])) is cache.from_tags((CALL,), excluded=("x",))
    assert cache.from_tags([Tag("<a>", {"type": 5})], choice="none") is not None  # what may not come is not compiled
    with pytest.raises(TypeError):
        cache.from_tags(["<a>"])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        cache.from_tags(CALL)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cache.from_tags([Tag("<a>", "text")])


def test_work_for_many_texts_is_bounded() -> None:
    body = Grammar.from_regex("1")
    many = Grammar.from_tags([Tag(f"<{i:05}>", body, "!") for i in range(2000)])
    assert [info.name for info in many._lexemes].count("free text") == 1  # the same before all tags

    def overlapping(n: int) -> list[Tag]:
        return [Tag("a" * i + "b" + "a" * (n - i), body, "!") for i in range(n)]

    def ended(n: int) -> list[Tag]:
        return [Tag(f"<{i:03}>", None, f"</{i}>", name=f"f{i}") for i in range(n)]

    excluded = [f"no{i}" for i in range(1000)]
    with pytest.raises(LimitExceededError, match=r"max_schema_nodes = 200,000 is reached at triggers; .*, or use fewer and shorter texts"):
        Grammar.from_tags(overlapping(600))
    for tags, options in ((overlapping(50), {}), (ended(50), {"excluded": excluded})):
        Grammar.from_tags(tags, **options)
        with pytest.raises(LimitExceededError) as caught:
            Grammar.from_tags(tags, limits=Limits(max_schema_nodes=5_000), **options)
        assert caught.value.limit == "max_schema_nodes"
