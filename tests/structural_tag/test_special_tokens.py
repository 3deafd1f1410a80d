"""Texts of structural tags in which special tokens stand: what `special_tokens` names, wherever it stands, and what is refused."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarCache, GrammarError, Matcher, Token, Vocabulary, VocabularyError
from grammar_engine.frontends.structural_tag.marks import Marks

Format = dict[str, Any]
ANY: Format = {"type": "any_text"}
NAMES = ["<call>", "<end>", "<sep>", "<end>>", "</s>", "\u200b"]
TEXTS = [*(bytes([byte]) for byte in range(256)), b"<call>", b"ab"]
VOCABULARY = Vocabulary(
    [*TEXTS, *[b""] * len(NAMES)], eos=[len(TEXTS) + NAMES.index("</s>")], special={len(TEXTS) + i: name for i, name in enumerate(NAMES)}
)
ID = {name: token for token, name in VOCABULARY.special.items()}


def text(value: str) -> Format:
    return {"type": "const_string", "value": value}


def tag(begin: Any, content: Format, end: Any) -> Format:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence(*elements: Format) -> Format:
    return {"type": "sequence", "elements": list(elements)}


def triggered(trigger: str, *tags: Format, **options: Any) -> Format:
    return {"type": "triggered_tags", "triggers": [trigger], "tags": list(tags), **options}


def grammar_of(shape: Format, names: Any = ("<call>", "<end>", "<sep>"), **options: Any) -> Grammar:
    return Grammar.from_structural_tag({"type": "structural_tag", "format": shape}, special_tokens=names, **options)


def ids(written: str) -> list[int]:
    """A special token stands behind a bar, all else is letters."""
    found: list[int] = []
    for part in re.split(r"(\|</?\w+>+)", written):
        found += [ID[part[1:]]] if part.startswith("|") else part.encode()
    return found


def reads(grammar: Grammar, written: str) -> bool:
    matcher, tokens = Matcher(grammar, VOCABULARY), ids(written)
    return matcher.accept_tokens(tokens) == len(tokens) and matcher.is_complete


def test_marks_are_tokens_only_where_it_is_asked_for() -> None:
    shape = tag("<call>", text("x"), "<end>")
    assert [reads(grammar_of(shape), written) for written in ("|<call>x|<end>", "<call>x<end>", "<call>x|<end>")] == [True, False, False]
    plain = grammar_of(shape, ())
    assert [reads(plain, written) for written in ("|<call>x|<end>", "<call>x<end>")] == [False, True]
    assert Matcher(plain, VOCABULARY).allowed_tokens() == [ord("<"), TEXTS.index(b"<call>")]
    matcher = Matcher(grammar_of(shape), VOCABULARY)
    assert matcher.allowed_tokens() == [ID["<call>"]]
    assert matcher.forced_tokens() == ids("|<call>x|<end>")
    assert grammar_of(shape).to_bytes() == grammar_of(tag({"token": "<call>"}, text("x"), {"token": "<end>"}), ()).to_bytes()


CALL = tag("<call>", text("1"), "<end>")


@pytest.mark.parametrize(
    ("shape", "read", "unread"),
    [
        (text("a<sep>b<call>"), ["a|<sep>b|<call>"], ["a<sep>b|<call>", "a|<sep>b", "a|<sep>b<call>"]),
        (tag("<call>a<sep>", ANY, "\n<end>"), ["|<call>a|<sep>\n\n|<end>", "|<call>a|<sep><end>\n|<end>"], ["|<call>a|<sep>x|<end>"]),
        (tag("<", ANY, ["<end>", "<sep>a", "b"]), ["<a|<end>", "<a|<sep>a", "<b"], ["<a|<sep>", "<bb", "<b|<end>", "<<end>"]),
        (tag("<", ANY, {"token": "<end>"}), ["<a|<end>"], ["<a"]),
        (triggered("<call>", CALL), ["", "a|<call>1|<end><call>", "<call>2"], ["|<call>", "|<call>2|<end>", "|<end>"]),
        (
            triggered("<call>a", tag("<call>a<sep>", text("1"), ""), tag("<call>ab", ANY, "<end>")),
            ["a|<call>a|<sep>1b", "|<call>abb<call>|<end>a"],
            ["|<call>b", "|<call>a1"],
        ),
        (triggered("a<call>", tag("a<call>", text("1"), "<end>")), ["aa|<call>1|<end>a", "a"], ["|<call>1|<end>", "b|<call>1|<end>"]),
        (triggered("<call>", CALL, excludes=["<end>", "b", "c<sep>"]), ["ac|<call>1|<end>c"], ["b", "a|<end>", "c|<sep>"]),
        ({**ANY, "excludes": ["a<call>", "<sep>", "b"]}, ["a<call>", "<sep>"], ["b", "a|<call>"]),
        (
            {"type": "dispatch", "rules": [["<call>a", text("1")], ["b<sep>", ANY]], "loop": False},
            ["x|<call>a1", "bb|<sep>any"],
            ["|<sep>", "|<call>1"],
        ),
        (
            {"type": "tags_with_separator", "tags": [CALL], "separator": "<sep>assistant<sep>"},
            ["|<call>1|<end>|<sep>assistant|<sep>|<call>1|<end>", ""],
            ["|<call>1|<end>|<call>1|<end>", "|<call>1|<end>|<sep>"],
        ),
        (
            {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [CALL, tag("<call>f", ANY, "<sep>")]},
            ["a|<call>1|<end><call>", "|<call>fx|<sep>"],
            ["|<call>g"],
        ),
        (triggered("<call>", CALL, excludes=["ab<end>"]), ["ab|<call>1|<end>ab"], []),
        (triggered("<call>1", tag("<call>1", ANY, "<end>"), excludes=["ab<call>"]), ["b|<call>1|<end>ab"], ["ab|<call>1|<end>"]),
        (tag("<call>", triggered("<sep>", tag("<sep>", text("1"), "")), "<end>"), ["|<call>a|<sep>1b|<end>"], ["|<call>a|<end>b|<end>"]),
    ],
)
def test_formats(shape: Format, read: list[str], unread: list[str]) -> None:
    grammar = grammar_of(shape)
    assert [written for written in read if not reads(grammar, written)] == []
    assert [written for written in unread if reads(grammar, written)] == []


def test_the_older_form() -> None:
    older = {"structures": [{"begin": "<call>f", "schema": {"const": 1}, "end": "<end>"}], "triggers": ["<call>"]}
    grammar = Grammar.from_structural_tag(older, special_tokens=NAMES)
    assert reads(grammar, "a|<call>f1|<end>b") and not reads(grammar, "|<call>g") and reads(grammar, "<call>g")


def test_the_longest_name_at_a_place() -> None:
    for tokens, is_read in (([ord("a"), ID["<end>>"]], True), ([ord("a"), ID["<end>"], ord(">")], False)):
        assert (Matcher(grammar_of(text("a<end>>"), NAMES), VOCABULARY).accept_tokens(tokens) == len(tokens)) == is_read
    marks = Marks(["aa", "aab", "b"])
    for written, parts in (
        ("aaab", [Token("aa"), "a", Token("b")]),
        ("aab", [Token("aab")]),
        ("xaay", ["x", Token("aa"), "y"]),
        ("a", ["a"]),
        ("", []),
    ):
        assert marks.parts(marks.of(written)) == parts
        assert marks.written(marks.of(written)) == written
        assert marks.tokens(marks.of(written)) == [part for part in parts if isinstance(part, Token)]


def test_bodies_are_as_they_are() -> None:
    bodies = (
        ({"type": "json_schema", "json_schema": {"const": "<call>"}}, '"<call>"'),
        ({"type": "regex", "pattern": "<call>"}, "<call>"),
        ({"type": "grammar", "grammar": 'root ::= "<call>"'}, "<call>"),
        (
            {
                "type": "qwen_xml_parameter",
                "json_schema": {
                    "properties": {"a": {"const": "<call>"}},
                    "required": ["a"],
                    "type": "object",
                    "additionalProperties": False,
                },
            },
            "<parameter=a><call></parameter>",
        ),
    )
    for body, written in bodies:
        grammar = grammar_of(tag("<call>", body, "<end>"))
        assert reads(grammar, f"|<call>{written}|<end>")
        assert not reads(grammar, f"|<call>{written.replace('<call>', '|<call>')}|<end>")


def test_strings_of_a_schema_have_no_special_tokens() -> None:
    matcher = Matcher(grammar_of(tag("<call>", {"type": "json_schema", "json_schema": {"type": "string"}}, "<end>")), VOCABULARY)
    assert matcher.accept_tokens(ids('|<call>"a')) == 3
    assert not set(matcher.allowed_tokens()) & set(ID.values())


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (triggered("<cal", CALL), "'<call>', with which a tag begins, begins with none of the triggers (at /format/triggers"),
        (
            triggered("<call>", CALL, excludes=["a<call>"]),
            "'<call>' is in 'a<call>', and so would always be found first (at /format/triggers",
        ),
        (tag("<", triggered("<call>", CALL), "x<call>"), "'<call>' is in 'x<call>', and so would always be found first"),
        (tag("<", triggered("<call>", CALL), {"token": "<call>"}), "'<call>' is in '<call>', and so would always be found first"),
        (
            tag("<", {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [CALL]}, "x<call>"),
            "'<call>' is in 'x<call>', and so would always be found first (at /format/content/trigger_tokens",
        ),
        (
            tag("<", {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [CALL]}, {"token": "<call>"}),
            "'<call>' is in '<call>', and so would always be found first (at /format/content/trigger_tokens",
        ),
        (text("a\u200b"), "the name of a Token has 1 to 1,000 characters, all printable, not '\\u200b' (at /format/value of"),
        (triggered("<call>", tag("<call>\u200b", ANY, "")), "all printable, not '\\u200b' (at /format/tags/0/begin of"),
        (triggered("\u200b", CALL), "all printable, not '\\u200b' (at /format/triggers/0 of"),
        (
            {"type": "json_schema", "json_schema": {}, "style": "glm_xml", "excludes": ["<call>", "a"]},
            "what strings of a schema are without is told by their `pattern` or `not`; special tokens, by `special_tokens` (at /format/excl",
        ),
    ],
)
def test_refused(shape: Format, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        grammar_of(shape, [*NAMES, "<arg_key>"])
    assert message in str(caught.value)


def test_marks_of_styles() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    shape = {"type": "json_schema", "json_schema": schema, "excludes": ["<arg_key>"]}
    older = {"structures": [{"begin": "(", "schema": schema, "end": ")"}], "triggers": ["("]}
    names = ["<arg_key>", "</arg_value>"]
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b"", b"", b""], eos=[258], special={256: names[0], 257: names[1]})
    right = [256, *b"a</arg_key><arg_value>x<arg_key></arg_value", 257]  # in a string the letters are text
    options = {"style": "glm_xml", "whitespace": "compact"}
    for grammar in (
        grammar_of({**shape, "style": "glm_xml"}, names, schema_options={"whitespace": "compact"}),
        grammar_of(shape, names, schema_options=options),
        Grammar.from_structural_tag(older, special_tokens=names, schema_options=options),
        grammar_of(shape | {"excludes": []}, [], schema_options={**options, "special_tokens": iter(names)}),
        grammar_of(shape, names[:1], schema_options={**options, "special_tokens": names[1:]}),
        Grammar.from_json_schema(schema, **options, special_tokens=names),
        GrammarCache().from_json_schema(schema, **options, special_tokens=iter(names)),
        Grammar.from_lark("start: %json " + json.dumps(schema), schema_options={**options, "special_tokens": iter(names)}),
    ):
        for same in (grammar, Grammar.from_bytes(grammar.to_bytes())):
            matcher = Matcher(same, vocabulary)
            is_older = matcher.accept(ord("("))
            assert matcher.forced_tokens() == [256, *b"a</arg_key><arg_value>"]
            assert matcher.accept_tokens(right) == len(right)
            assert not is_older or matcher.accept(ord(")"))
            assert matcher.is_complete
        with pytest.raises(VocabularyError, match=r"special tokens that the vocabulary does not have: '</arg_value>'"):
            Matcher(grammar, Vocabulary(vocabulary.tokens, eos=[258], special={256: names[0]}))
    assert Matcher(Grammar.from_json_schema(schema, special_tokens=names), VOCABULARY).accept_bytes(
        b'{"a":"<arg_key>"}'
    )  # in JSON are none


def test_texts_in_marks_of_styles() -> None:
    """The letters of a mark that has a token end nothing, and of several names at one place the longest is the token."""
    schema = {"type": "object", "properties": {"a": {"enum": ["x</arg_value>", "y"]}, "b": {"type": "string"}}, "required": ["a", "b"]}
    names = ["</arg_value", "</arg_value>", "<arg"]
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), *[b""] * 3], eos=[], special=dict(enumerate(names, 256)))
    grammar = Grammar.from_json_schema(schema, style="glm_xml", special_tokens=names)
    parts = (
        [258, *b"_key>a</arg_key>", 258, *b"_value>", *b"x</arg_value>"],
        [258, *b"_key>b</arg_key>", 258, *b"_value>", *b"</arg_value>?"],
    )
    for end in (257, 256):
        matcher, tokens = Matcher(grammar, vocabulary), [*parts[0], end, *parts[1], end]
        assert (matcher.accept_tokens(tokens) == len(tokens) and matcher.is_complete) == (end == 257)


def test_more_tokens_than_there_are_signs() -> None:
    names = [f"<{i}>" for i in range(2_049)]
    grammar_of(sequence(*map(text, names[1:])), names)
    with pytest.raises(GrammarError, match=r"has more than 2,048 special tokens .* \(at /format/elements/0/value"):
        grammar_of(sequence(*map(text, names)), names)
    grammar_of(sequence(*({"type": "token", "token": name} for name in names)))  # which are no texts


def test_what_is_no_list_of_names() -> None:
    for names, message in (
        ("<call>", "a list of str, not str"),
        (b"<call>", "a list of str, not bytes"),
        (1, "a list of str, not int"),
        (VOCABULARY.special, "one is int"),
        ([Token("<call>")], "one is Token"),
    ):
        with pytest.raises(TypeError, match=message):
            grammar_of(text("a"), names)
    with pytest.raises(ValueError, match="empty name"):
        grammar_of(text("a"), ["a", ""])


def test_the_vocabulary_has_to_have_what_texts_name_and_no_more() -> None:
    Matcher(grammar_of(text("a"), ["<none>", "\n"]), VOCABULARY)
    for shape in (
        text("<none>"),
        {**ANY, "excludes": ["a<none>"]},
        triggered("<none>", tag("<none>", ANY, "x")),
        tag("<", ANY, ["<none>", "x"]),
        {"type": "tags_with_separator", "tags": [CALL], "separator": "<none>"},
        {"type": "dispatch", "rules": [["<none>", ANY]]},
    ):
        with pytest.raises(VocabularyError, match="<none>"):
            Matcher(grammar_of(shape, ["<call>", "<end>", "<none>"]), VOCABULARY)
    with pytest.raises(VocabularyError, match="'ab' is token 257 of this vocabulary, an ordinary text token: write it as text"):
        Matcher(grammar_of({**ANY, "excludes": ["ab"]}, ["ab"]), VOCABULARY)


def test_names_from_the_vocabulary_and_the_cache() -> None:
    cache, source = GrammarCache(), {"format": CALL}
    grammar = cache.from_structural_tag(source, special_tokens=VOCABULARY.special.values())
    assert reads(grammar, "|<call>1|<end>")
    assert cache.from_structural_tag(source, special_tokens=(name for name in VOCABULARY.special.values())) is grammar
    assert cache.from_structural_tag(source) is not grammar
    options = {"style": "glm_xml", "special_tokens": ["<arg_key>", "<call>"]}
    schema = cache.from_json_schema({"type": "object"}, **options)
    assert cache.from_json_schema({"type": "object"}, **{**options, "special_tokens": iter(options["special_tokens"])}) is schema
    assert reads(cache.from_structural_tag(source), "<call>1<end>")


def test_report() -> None:
    report = grammar_of(tag("<", triggered("<call>f", tag("<call>f", text("1"), ""), excludes=["x"]), "a<end>")).report
    assert [entry.detail for entry in report.enforced] == ["none in free text: '<call>f', 'x', 'a<end>'"]


def test_the_end_may_be_a_mark() -> None:
    """What ends texts is a mark where a text is no sentence yet."""
    grammar = grammar_of(tag("<call>", text("1"), "</s>"), NAMES)
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_tokens([*ids("|<call>1"), ID["</s>"], ID["</s>"]]) == 4
    assert matcher.is_terminated
