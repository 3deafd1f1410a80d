"""Regressions: mistakes that were found by reading the code, not by a test."""

from __future__ import annotations

import pickle
import sys
import threading

import pytest

from grammar_engine import (
    Grammar,
    GrammarError,
    LimitExceededError,
    Limits,
    Matcher,
    SchemaError,
    TokenRejectedError,
    UnsatisfiableSchemaError,
    UnsupportedRegexError,
    UnsupportedSchemaError,
    Vocabulary,
    VocabularyError,
)


def _accepts(schema, text: bytes, **options) -> bool:
    matcher = Matcher(Grammar.from_json_schema(schema, **options), Vocabulary.bytes())
    return matcher.accept_bytes(text) and matcher.is_complete


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "exclusiveMinimum": 10**16},
        {"type": "integer", "not": {"const": 10**16}},
        {"type": "integer", "minimum": 10**16, "not": {"enum": [10**16]}},
    ],
    ids=str,
)
def test_a_bound_where_scientific_notation_begins(schema):
    for text in (b"1e16", b"1E+16", b"1.0e16", b"10000000000000000"):
        assert not _accepts(schema, text, number_style="any")
    for text in (b"1.1e16", b"2e16", b"10000000000000001"):
        assert _accepts(schema, text, number_style="any")


def test_an_unsupported_pattern_is_relaxed_at_each_place():
    bad = {"type": "string", "pattern": r"(x)\1"}
    schema = {"type": "object", "properties": {"a": bad, "b": dict(bad)}, "required": ["a", "b"]}
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_json_schema(schema)
    report = Grammar.from_json_schema(schema, lenient=True).report
    assert [(entry.pointer, entry.keyword) for entry in report.relaxed] == [("/properties/a", "pattern"), ("/properties/b", "pattern")]
    assert not [entry for entry in report.enforced if entry.keyword == "pattern"]
    assert _accepts(schema, b'{"a": "q", "b": "r"}', lenient=True)


OLD_URLLIB = pytest.mark.skipif(sys.version_info < (3, 11, 4), reason="urllib looks into brackets from Python 3.11.4 on")


@pytest.mark.parametrize("name", ["http://[", "//[", pytest.param("http://[x]:99999/a", marks=OLD_URLLIB)])
def test_a_malformed_identifier(name):
    with pytest.raises(SchemaError, match="no URI"):
        Grammar.from_json_schema({"$id": name, "$ref": "#/$defs/a", "$defs": {"a": {"$id": "x", "type": "null"}}})


def test_a_reference_to_a_malformed_host():
    with pytest.raises((SchemaError, UnsupportedSchemaError)):
        Grammar.from_json_schema({"$ref": "http://[v1]/a"})


def _errors():
    def caught(call):
        try:
            call()
        except Exception as error:
            return error
        raise AssertionError("nothing was raised")

    matcher = Matcher(Grammar.from_regex("a"), Vocabulary.bytes())
    return [
        caught(lambda: Grammar.from_regex(r"(a)\1")),
        caught(lambda: Grammar.from_json_schema({"properties": {"a": {"maxItems": 9, "not": {"uniqueItems": True}}}})),
        caught(lambda: Grammar.from_json_schema("[1,")),
        caught(lambda: Grammar.from_json_schema({"allOf": [{"type": "string"}, {"type": "null"}]})),
        caught(lambda: Grammar.from_regex("(" * 300 + ")" * 300)),
        caught(lambda: matcher.accept(98, strict=True)),
    ]


def test_exceptions_can_be_pickled():
    kinds = [
        UnsupportedRegexError,
        UnsupportedSchemaError,
        SchemaError,
        UnsatisfiableSchemaError,
        LimitExceededError,
        TokenRejectedError,
    ]
    for error, kind in zip(_errors(), kinds):
        twin = pickle.loads(pickle.dumps(error))
        assert type(twin) is type(error) is kind
        assert str(twin) == str(error)
        assert twin.__dict__ == error.__dict__


def test_malformed_json_has_a_place():
    with pytest.raises(SchemaError) as caught:
        Grammar.from_json_schema('{"type":\n  "string",, }')
    assert (caught.value.line, caught.value.column) == (2, 12)


def test_messages_can_be_printed():
    with pytest.raises(GrammarError) as caught:
        Grammar.from_regex("\ud800")
    str(caught.value).encode()


def test_grammars_without_a_text_are_refused_by_name():
    for make in (lambda: Grammar.from_lark('start: start "a"'), lambda: Grammar.from_regex(r"[^\s\S]")):
        with pytest.raises(GrammarError, match="no text at all") as caught:
            make()
        assert type(caught.value) is GrammarError


def test_pointers_into_nested_constants():
    matcher = Matcher(Grammar.from_json_schema({"const": [["x"]]}), Vocabulary.bytes())
    assert "/const/0/0" in matcher.explain(b'[["y').where


def test_one_matcher_in_many_threads_is_an_error_and_no_corruption():
    matcher = Matcher(Grammar.from_regex("a*"), Vocabulary.bytes())
    refused, unexpected = [], []

    def work():
        for _ in range(300):
            try:
                matcher.accept_tokens([97] * 500)
                matcher.mask()
                matcher.fork()
                assert set(matcher.tokens) <= {97}
                matcher.reset()
            except RuntimeError as error:
                refused.append(error)
            except Exception as error:
                unexpected.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not unexpected
    assert all("one thread at a time" in str(error) for error in refused)
    matcher.reset()
    assert matcher.accept_tokens([97] * 10) == 10
    assert matcher.is_complete


def test_states_live_as_long_as_their_vocabulary():
    grammar, vocabulary = Grammar.from_regex("[a-z]+"), Vocabulary.builtin()
    Matcher(grammar, vocabulary).mask()
    builds = grammar.stats.mask_builds
    assert builds > 0
    Matcher(grammar, vocabulary).mask()
    assert grammar.stats.mask_builds == builds
    with pytest.raises(LimitExceededError):
        Grammar.from_regex("(a|b){3}c", limits=Limits(max_expressions=5))


def test_explain_agrees_with_accept_after_the_end():
    matcher = Matcher(Grammar.from_regex("a"), Vocabulary.bytes())
    assert matcher.accept_tokens([97, 256]) == 2
    for text in (b"", b"a"):
        assert matcher.explain(text).accepted == matcher.fork().accept_bytes(text)


def test_questions_are_not_refused_for_what_others_used_up():
    grammar, vocabulary = Grammar.from_regex("a{300}|ba{40}c", limits=Limits(max_configurations=120)), Vocabulary.bytes()
    with pytest.raises(LimitExceededError):
        Matcher(grammar, vocabulary).accept_tokens([97] * 300)
    for ask in (lambda m: m.explain(b"a" * 41), Matcher.forced_bytes, lambda m: m.accept_bytes(b"a" * 40)):
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(b"b")
        with pytest.raises(LimitExceededError):
            Matcher(grammar, vocabulary).accept_tokens([97] * 300)
        assert ask(matcher)


# --- bags -------------------------------------------------------------------------------------------------------------------


def test_a_bag_does_not_support_itself() -> None:
    """Two members are needed, and one of the two kinds needs such an object again: there is none."""
    inner = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/o"}},
        "additionalProperties": False,
        "minProperties": 2,
    }
    grammar = Grammar.from_json_schema({"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/o"}], "$defs": {"o": inner}}, whitespace="compact")
    assert set(map(chr, Matcher(grammar, Vocabulary.bytes()).allowed_tokens())) == set("-0123456789")
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({"$ref": "#/$defs/o", "$defs": {"o": inner}})


@pytest.mark.parametrize(
    ("schema", "options", "text"),
    [
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, {"escapes": "all"}, '["ä","'),
        ({}, {"escapes": "all", "unique_keys": True}, '{"ä":1,"'),
        ({"type": "integer", "multipleOf": 997, "not": {"multipleOf": 89}}, {}, "99"),
        ({"type": "array", "uniqueItems": True, "items": {"enum": [*range(1000)]}, "contains": {"const": 5}}, {}, "[1,2,"),
        (
            {"properties": {f"p{i}": {} for i in range(1000)}, "not": {"additionalProperties": {"const": 1}}},
            {"property_order": "any"},
            '{"p9":1',
        ),
    ],
)
def test_within_the_work_of_a_step(schema, options, text) -> None:
    matcher = Matcher(Grammar.from_json_schema(schema, **options), Vocabulary.bytes())
    assert matcher.accept_bytes(text.encode())
    assert matcher.allowed_tokens()


def test_an_empty_mask_is_an_error_each_time() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^[a-c]$"}, "minItems": 3}
    matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact"), Vocabulary([b'["a', b'","a', b""], eos=[2]))
    assert matcher.accept(0)
    for _ in range(2):
        with pytest.raises(VocabularyError):
            matcher.mask()
