"""NUL is a byte like any other: in patterns, literals, keys, choices, tokens and texts."""

from __future__ import annotations

import json

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary

VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), b"\0\0", b"a\0b", b"\0" * 500, b""], eos=[259])


def sentences(grammar, yes, no):
    """Which texts are sentences, by bytes and by tokens."""
    for text in [*yes, *no]:
        matcher = Matcher(grammar, VOCABULARY)
        whole = matcher.accept_bytes(text) and matcher.is_complete
        assert whole == (text in yes), text
        assert matcher.explain(b"\0").position in (0, 1)
        matcher.reset()
        tokens = VOCABULARY.encode_greedy(text)
        assert (matcher.accept_tokens(tokens) == len(tokens) and matcher.is_complete) == whole


@pytest.mark.parametrize("dialect", ["python", "ecma"])
@pytest.mark.parametrize("pattern", ["a\0b", r"a\0b", r"a\x00b", r"a\u0000b", "a[\0]b", r"a[\x00]b", "(a\0)b", "a\0{1}b", "a[\0-\0]b"])
def test_patterns(pattern, dialect):
    if dialect == "python" and pattern == r"a\0b":
        pattern = r"a\000b"
    sentences(Grammar.from_regex(pattern, dialect=dialect), [b"a\0b"], [b"ab", b"a", b"a\0", b"a\0\0b", b"\0", b"a0b"])


def test_counted_and_negated():
    sentences(Grammar.from_regex("\0{2,3}"), [b"\0\0", b"\0\0\0"], [b"", b"\0", b"\0" * 4])
    sentences(Grammar.from_regex("[^\0]+"), [b"a"], [b"\0", b"a\0", b""])
    sentences(Grammar.from_regex("\0*"), [b"", b"\0" * 501], [b"a", b"\0a"])


@pytest.mark.parametrize(
    "text", ['start: "a\0b"', "start: /a\0b/", r'start: "a\x00b"', r"start: /a\x00b/", 'start: A\nA: "a" "\0".."\0" "b"']
)
def test_lark(text):
    sentences(Grammar.from_lark(text), [b"a\0b"], [b"ab", b"a", b"a\0"])


def test_choices():
    sentences(
        Grammar.from_choices(["", "\0", "a\0", "a\0b", b"\0\xff\0"]),
        [b"", b"\0", b"a\0", b"a\0b", b"\0\xff\0"],
        [b"a", b"\0\0", b"a\0b\0", b"\0\xff"],
    )


NUL = b"\\u0000"


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        ({"const": "a\0"}, [b'"a' + NUL + b'"'], [b'"a"', b'"a\0"', b'"a']),
        ({"enum": ["\0", "\0\0", "b"]}, [b'"' + NUL + b'"', b'"' + 2 * NUL + b'"', b'"b"'], [b'""', b'"' + 3 * NUL + b'"']),
        ({"type": "string", "pattern": "^a\0b$"}, [b'"a' + NUL + b'b"'], [b'"ab"', b'"a\0b"']),
        (
            {"type": "string", "pattern": r"^\x00+$", "maxLength": 2},
            [b'"' + NUL + b'"', b'"' + 2 * NUL + b'"'],
            [b'""', b'"' + 3 * NUL + b'"'],
        ),
        (
            {"type": "object", "properties": {"k\0": {"const": 1}}, "required": ["k\0"], "additionalProperties": False},
            [b'{"k' + NUL + b'":1}'],
            [b'{"k":1}', b"{}", b'{"k\0":1}'],
        ),
        (
            {"type": "object", "properties": {"\0": {"const": 1}}, "additionalProperties": {"const": 2}, "maxProperties": 1},
            [b"{}", b'{"' + NUL + b'":1}', b'{"":2}', b'{"a' + NUL + b'":2}'],
            [b'{"' + NUL + b'":2}'],
        ),
        (
            {"type": "object", "patternProperties": {"^\0$": {"const": 1}}, "additionalProperties": False},
            [b'{"' + NUL + b'":1}'],
            [b'{"":1}', b'{"a":1}'],
        ),
    ],
)
def test_schemas(schema, yes, no):
    if "maxProperties" in schema:
        del schema["maxProperties"]
    for source in (schema, json.dumps(schema), json.dumps(schema).encode()):
        sentences(Grammar.from_json_schema(source, whitespace="compact"), yes, no)


def test_masks_with_nul_tokens():
    matcher = Matcher(Grammar.from_regex("(a\0b|\0)*"), VOCABULARY)
    assert matcher.allowed_tokens() == [0, 97, 256, 257, 258, 259]
    assert matcher.accept(97)
    assert matcher.allowed_tokens() == [0]
    assert matcher.forced_bytes() == b"\0b"
    assert matcher.forced_tokens() == [0, 98]
    assert matcher.explain(97).expected_bytes == b"\0"
