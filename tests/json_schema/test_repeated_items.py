"""The negation of `uniqueItems`: two items are equal. Verdicts against `jsonschema`; masks against `accept`, what is valid, and closings."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary
from grammar_engine.errors import UnsatisfiableSchemaError, UnsupportedSchemaError

from .engine import BYTES, accepts, dump

NOT_UNIQUE: Any = {"not": {"uniqueItems": True}}
LISTS: Any = {"type": "array", **NOT_UNIQUE}
STRINGS: Any = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}

ENDLESS: Any = {"type": "object", "properties": {"next": {"$ref": "#/$defs/none"}}, "required": ["next"]}

ITEMS: list[Any] = [1, True, "", "aa", [], {}, [1, 1], [1, 2], ["aa", "aa"], {"a": 1}, {"a": 1, "b": 2}]
ARRAYS: list[Any] = [list(items) for n in range(4) for items in itertools.product(ITEMS, repeat=n)]
VALUES: list[Any] = [*ARRAYS, *({"x": array} for array in ARRAYS[:150]), *({"x": ["aa", "aa"], "y": array} for array in ARRAYS[:150])]

SCHEMAS: dict[str, Any] = {
    "any": LISTS,
    "or no array": {"not": {"type": "array", "uniqueItems": True}},
    "strings": {"type": "array", "items": {"type": "string"}, **NOT_UNIQUE},
    "objects": {"type": "array", "items": {"type": "object"}, **NOT_UNIQUE},
    "no list of strings": {"not": STRINGS},
    "no list of listed strings": {"not": {**STRINGS, "items": {"enum": ["", "aa"]}}},
    "such that differ": {"type": "array", "items": LISTS, "uniqueItems": True},
    "such of such": {"type": "array", "items": LISTS, **NOT_UNIQUE},
    "equal ones of such that differ": {"type": "array", "items": {"type": ["array", "integer"], "uniqueItems": True}, **NOT_UNIQUE},
    "by position": {"type": "array", "prefixItems": [{"const": 1}, {"type": ["object", "string"]}], **NOT_UNIQUE},
    "one of two": {"oneOf": [{"type": "array", "uniqueItems": True}, {"type": "array", "minItems": 2}]},
    "if": {"type": "array", "if": {"uniqueItems": True}, "then": {"maxItems": 1}, "else": {"minItems": 3}},
    "or two": {"type": "array", "anyOf": [NOT_UNIQUE, {"minItems": 2, "items": {"type": ["object", "string"]}}, {"minItems": 3}]},
    "three": {"type": "array", "minItems": 3, **NOT_UNIQUE},
    "members": {"properties": {"x": LISTS, "y": {"type": "array", "items": LISTS}}, "type": "object"},
    "in what is compared": {"type": "array", "items": {"properties": {"x": LISTS}}, "uniqueItems": True},
    "a reference or not": {
        "oneOf": [{"type": "object", "required": ["y"]}, {"type": "object", "properties": {"x": STRINGS}, "additionalProperties": False}]
    },
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_equals_jsonschema(name: str) -> None:
    grammar, validator = Grammar.from_json_schema(SCHEMAS[name], property_order="any"), jsonschema.Draft202012Validator(SCHEMAS[name])
    assert [value for value in VALUES if accepts(grammar, dump(value)) != validator.is_valid(value)] == []


@pytest.mark.parametrize(
    ("accepted", "refused"),
    [
        (
            r'["a","b","\u0061"] | [1,2,1.0] | [10,true,1e1] | [0,-0.0] | ["\ud83d\ude00","😀"]',
            '["a","A"] | [1,true] | ["1",1] | [0.1,0.01]',
        ),
        ('[{"a":1,"b":[]},{"b":[ ],"a":1}] | [[],1,[ ]] | [[{}],[{}],[[]]]', '[{"a":1},{"a":2}] | [[],[[]]] | [[1,2],[2,1]] | [[1,1]]'),
        ("[1,1] | [ 1 , 1 , 2 ] | [1,1,1]", "[] | [1] | [1,11] | [1,1"),
    ],
)
def test_equal_in_any_spelling(accepted: str, refused: str) -> None:
    grammar = Grammar.from_json_schema(LISTS, escapes="all", number_style="any", property_order="any")
    assert [text for text in accepted.split(" | ") if not accepts(grammar, text)] == []
    assert [text for text in refused.split(" | ") if accepts(grammar, text)] == []


@pytest.mark.parametrize(
    "schema",
    [
        {"maxItems": 2},  # in the last one only what was there may come
        {"contains": {"type": "string"}, "maxContains": 1},
        {"prefixItems": [{}, {}], "items": False},
        {"items": {"patternProperties": {"^[ab]{9}$": {}}, "additionalProperties": False}},  # 512 keys, which might be used up
    ],
)
def test_where_two_cannot_always_be_equal_it_is_refused(schema: Any) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        Grammar.from_json_schema({"type": "array", **schema, **NOT_UNIQUE})
    assert caught.value.keyword == "uniqueItems"
    grammar = Grammar.from_json_schema({"type": "array", **schema, **NOT_UNIQUE}, lenient=True)
    assert [entry.keyword for entry in grammar.report.relaxed] == ["uniqueItems"] and accepts(grammar, '[1, "x"]')


def test_an_item_that_there_may_not_be() -> None:
    """It has no end, and nobody has seen that."""
    items = {"anyOf": [{"$ref": "#/$defs/none"}, {"$ref": "#/$defs/none"}]}
    with pytest.raises(UnsupportedSchemaError, match="two items that are equal"):
        Grammar.from_json_schema({"$defs": {"none": ENDLESS}, "type": "array", "items": items, **NOT_UNIQUE})


def test_all_differ_or_not() -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({"type": "array", "uniqueItems": True, **NOT_UNIQUE})
    grammar = Grammar.from_json_schema({"not": {"not": {"type": "array", "uniqueItems": True, "items": {"type": "array"}}}})
    assert accepts(grammar, "[[1], [2]]") and not accepts(grammar, "[[1], [1]]")


def test_no_array_of_less_than_two_and_none_of_nothing() -> None:
    matcher = Matcher(Grammar.from_json_schema(LISTS, whitespace="compact"), BYTES)
    assert matcher.accept_bytes(b"[") and ord("]") not in matcher.allowed_tokens()
    assert matcher.accept_bytes(b"[[],[]") and bytes(matcher.closing_bytes()) == b"],0,0]"
    grammar = Grammar.from_json_schema(
        {
            "type": ["array", "null"],
            "items": {"type": "array", "items": False, "minItems": 1},
            "not": {"type": "array", "uniqueItems": True},
        }
    )
    assert not accepts(grammar, "[]")
    assert accepts(grammar, "null")


TOKENS = [b"[]", b"[[", b"]]", b'"]', b'["', b'","', b'""]', b'","aa"]', b'"aa"]', b'["aa","aa"]', b'"],["', b",1]", b"1,1", b"[1", b"[1,1]", b"{}",
          b",{}]", b'{"a":1},{"a":1}]', b"}]", b'"a":1}]', b'{"x":[', b'"],"y":[', b'":[],"', b'":[[', b"],[", b"aa", b'a"', b'aa"]', b",[]]",
          b'":["aa","aa"],"y":[[1,1]', b"[[],[]", b"[[],[]]", b"\xc3", b" ]"]  # fmt: skip


def check_walk(grammar: Grammar, validator: Any, text: bytes, vocab: Vocabulary, rng: random.Random) -> int:
    """All tokens at all places of a valid text, cut into tokens at random."""
    tokens, at, n_checked = vocab.tokens, 0, 0
    matchers = [Matcher(grammar, vocab), Matcher(grammar, vocab, switches=Switches(**dict.fromkeys(Switches.__dataclass_fields__, False)))]
    while True:
        allowed = matchers[0].allowed_tokens()
        assert matchers[1].allowed_tokens() == allowed, text[:at]
        forks = {token: fork for token in range(vocab.size) if (fork := matchers[0].fork()).accept(token)}
        assert [*forks] == allowed, text[:at]
        n_checked += len(forks)
        for token in rng.sample(allowed, min(len(allowed), 4)):
            if token < 256 + len(TOKENS):
                ended = text[:at] + tokens[token] + bytes(forks[token].closing_bytes())
                assert validator.is_valid(json.loads(ended)), (text[:at], tokens[token], ended)
        if at == len(text):
            assert matchers[0].is_complete
            return n_checked
        token = rng.choice([k for k, token in enumerate(tokens) if token and text.startswith(token, at)])
        assert token in allowed, (text[:at], tokens[token])
        assert all(matcher.accept(token) for matcher in matchers)
        at += len(tokens[token])


@pytest.mark.parametrize("name", SCHEMAS)
def test_masks(name: str) -> None:
    rng, validator = random.Random(name), jsonschema.Draft202012Validator(SCHEMAS[name])
    grammar = Grammar.from_json_schema(SCHEMAS[name], whitespace="compact", property_order="any")
    vocab = Vocabulary([*(bytes([i]) for i in range(256)), *TOKENS, b"<end>"], eos=[256 + len(TOKENS)])
    valid = [dump(value).replace(": ", ":").replace(", ", ",").encode() for value in VALUES if validator.is_valid(value)]
    assert sum(check_walk(grammar, validator, text, vocab, rng) for text in rng.sample(valid, min(len(valid), 12))) > 400


def test_masks_of_long_strings() -> None:
    """As much of a string is known as a token may repeat, and whether it is one that was there."""
    grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string"}, **NOT_UNIQUE}, whitespace="compact")
    tokens = [b'","' + b"a" * n + b'"]' for n in (1, 9, 20)] + [b'"]', b'"]' + b" " * 30]
    vocab = Vocabulary([*(bytes([i]) for i in range(256)), *tokens, b"<end>"], eos=[256 + len(tokens)])
    for n in range(50):
        for first in ("", "b", "aaaa", "a" * 12, "a" * 40):
            matcher = Matcher(grammar, vocab)
            assert matcher.accept_bytes(b'["%s","%s' % (first.encode(), b"a" * n))
            ends = [f'["{first}","{"a" * n}{token.decode()}' for token in tokens[:4]]
            wanted = [256 + k for k, text in enumerate(ends) if len({*json.loads(text)}) < len(json.loads(text))]
            assert [token for token in matcher.allowed_tokens() if 256 <= token < 260] == wanted, (n, first)


def test_a_mask_says_what_is_accepted_over_a_shipped_vocabulary() -> None:
    vocab, rng = Vocabulary.builtin(), random.Random(1)
    marks = [k for k, token in enumerate(vocab.tokens) if token and b"]" in token]
    for schema in (
        LISTS,
        SCHEMAS["no list of strings"],
        {"type": "array", "items": {"anyOf": [STRINGS, {"type": "string"}]}, **NOT_UNIQUE},
    ):
        matcher = Matcher(Grammar.from_json_schema(schema), vocab)
        for byte in b'["a, b", ["x", "y"], ["x"], [], ["x", "y"]':
            allowed = {*matcher.allowed_tokens()}
            for token in {*marks, *rng.sample(sorted(allowed), min(len(allowed), 20))}:
                assert matcher.fork().accept(token) == (token in allowed), (schema, vocab.tokens[token])
            assert matcher.accept_bytes(bytes([byte]))


def test_portable() -> None:
    grammar = Grammar.from_json_schema({"properties": {"x": LISTS}}, whitespace="compact")
    copy = Grammar.from_bytes(grammar.to_bytes())
    for text in ('{"x":[1,1]}', '{"x":[1,2]}', '{"x":{}}'):
        assert accepts(copy, text) == accepts(grammar, text)
