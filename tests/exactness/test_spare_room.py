"""Strings far from their `maxLength`: one configuration stands for all,
and nothing but the number of configurations tells (engine/cf_clamp.c)."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Switches, TokenDFA, Vocabulary
from grammar_engine.decoding import generate
from grammar_engine.ir import Builder

OFF = Switches(clamping=False)
BYTES = Vocabulary.bytes()
PIECES = [  # escapes that begin and end anywhere, halves of characters, marks in the midst of tokens, and a long one
    *[
        b'","',
        b'a","b',
        b'":"',
        b'xyz"',
        b'\\"',
        b'\\"a',
        b"\\u",
        b"\\u00",
        b"00e9",
        b"\\ud83d",
        b"\\ude00",
        b"a\\n",
        b"\\\\",
        b'"]',
        b'"}',
        b'["',
        b", ",
    ],
    *["é".encode(), "aé".encode(), "é".encode()[1:] + b'"', "日本".encode(), "日".encode()[:2], b"\xac\xe6", "😀".encode(), b'{"k":"'],
    *[b"\\", b"u00", b"nabc", b'n","\\', b"01f", b"3d\\ude", b"\xf0\x9f", b"\x98\x80a", b"\\n\\n"],
    *[
        b"a" * 24,
        b"a" * 25 + b'"',
        b"aaaaaa" * 4 + b'","a',
        b"\\n" * 12,
        "日".encode() * 7,
        "日".encode() * 9,
        b'"' + b"a" * 19 + b'"',
        b"a" * 33,
    ],
    *["aé".encode() * 8, b"\\u00e9" * 5, b"\x97\xa5" + b"a" * 18, b"e9" + b"ab" * 9, b"n" + b"b" * 17 + b'"]', b"ab" * 20],
    *[b"ab", b"abc", b"ab cd", b"aaaaaaaaaaaaaaaa"],
]
ODD = Vocabulary([*(bytes([byte]) for byte in range(256)), *PIECES, b""], eos=[256 + len(PIECES)])
STRINGS: list[dict[str, Any]] = [
    {"maxLength": 3},
    {"maxLength": 17},
    {"maxLength": 60},
    {"minLength": 3, "maxLength": 45},
    {"minLength": 30, "maxLength": 90},
    {"minLength": 4, "maxLength": 40},
    {"anyOf": [{"maxLength": 25}, {"pattern": "^ab"}]},
    {"pattern": "^[a-d ]{0,30}$"},
    {"pattern": "^[^\\n]{2,40}$"},
    {"pattern": "^[aé日]{0,25}$"},
    {"pattern": "^x?[\\u00e9-\\uffff]{1,22}$"},
    {"pattern": "^(ab|c){0,20}$"},
    {"pattern": "^[a-d ]{0,30}x?$"},
    {"pattern": "^[\\s\\S]{0,30}$", "not": {"const": "a"}},
]
SCHEMAS: list[dict[str, Any]] = [
    *({"type": "string", **string} for string in STRINGS),
    {"type": "array", "items": {"type": "string", "maxLength": 30}},
    {"type": "array", "prefixItems": [{"type": "string", "maxLength": 20}, {"type": "string", "maxLength": 33}], "minItems": 2},
    {"type": "object", "additionalProperties": {"type": "string", "maxLength": 22}},
    {"type": "object", "propertyNames": {"maxLength": 20}, "additionalProperties": {"type": "string", "maxLength": 24}},
    {"type": "array", "items": {"type": "string", "maxLength": 6}, "uniqueItems": True},
]


def same(one: Matcher, other: Matcher, rng: random.Random) -> None:
    assert one.mask() == other.mask()
    assert (one.is_complete, one.is_terminated, one.tokens) == (other.is_complete, other.is_terminated, other.tokens)
    assert one.forced_bytes() == other.forced_bytes()
    if rng.random() < 0.2:
        assert one.closing_tokens() == other.closing_tokens() and one.closing_bytes() == other.closing_bytes()
        most = rng.randrange(1, 8)
        assert one.closing_within(most) == other.closing_within(most)
        text = rng.choice([b"x" * rng.randrange(70), "é日".encode() * 12, b'a","b', b'"', b"\\u00e"])
        assert one.explain(text) == other.explain(text), (text, one.explain(text), other.explain(text))


def step(matcher: Matcher, call: str, argument: Any) -> Any:
    return getattr(matcher, call)(argument)


@pytest.mark.parametrize("escapes", ["minimal", "all"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=[json.dumps(schema)[:60] for schema in SCHEMAS])
def test_nothing_tells_the_difference(schema: dict[str, Any], escapes: str) -> None:
    rng = random.Random(f"{schema} {escapes}")
    for vocabulary in (BYTES, ODD):
        grammar = Grammar.from_json_schema(schema, escapes=escapes)
        plain = Grammar.from_json_schema(schema, escapes=escapes)
        for _ in range(12):
            one, other = Matcher(grammar, vocabulary), Matcher(plain, vocabulary, switches=OFF)
            for _ in range(60):
                same(one, other, rng)
                allowed = one.allowed_tokens()
                inside = [token for token in allowed if b'"' not in vocabulary.token_bytes(token)]
                token = rng.choice(inside if inside and rng.random() < 0.9 else allowed or [0])
                calls: list[tuple[str, Any]] = [
                    ("accept", token),
                    ("accept", token),
                    ("accept", token),
                    ("accept", rng.randrange(len(vocabulary))),
                    ("accept_tokens", [token, *rng.choices(range(len(vocabulary)), k=3)]),
                    ("validate", [token] * rng.randrange(40)),
                    ("accept_bytes", rng.choice([b"abc", "né日".encode(), b'","', b'"', b"\\u00e9", b"x" * 30])),
                    ("rollback", rng.randrange(min(4, len(one.tokens) + 1))),
                ]
                call, argument = rng.choice(calls)
                assert step(one, call, argument) == step(other, call, argument)
                if rng.random() < 0.1:
                    one, other = one.fork(), other.fork()


def configurations(schema: dict[str, Any], text: bytes, **options: Any) -> int:
    vocabulary = Vocabulary.builtin()
    grammar = Grammar.from_json_schema(schema)
    matcher = Matcher(grammar, vocabulary, **options)
    assert all(map(matcher.accept, vocabulary.encode_greedy(text)))
    matcher.mask()
    return grammar.stats.configurations


def test_a_bound_that_is_far_away_costs_what_no_bound_costs() -> None:
    text = b'"' + b"the quick brown fox jumps over the lazy dog " * 100
    unbounded = configurations({"type": "string"}, text)
    bounded = configurations({"type": "string", "maxLength": 10_000}, text)
    assert bounded < unbounded + 40  # near its end, by the tokens that lead there
    assert configurations({"type": "string", "maxLength": 1_000_000}, text + text[1:]) == bounded
    assert configurations({"type": "string", "maxLength": len(text) + 10}, text) < bounded + 100  # what comes near is told apart
    assert configurations({"type": "string", "maxLength": 10_000}, text, switches=OFF) > 4_000


@pytest.mark.parametrize("text", ["日本語を書く", "😀x😁", 'a \\n\\u0007\\"\\\\', "é\\t"])
def test_so_do_escapes_and_parts_of_characters(text: str) -> None:
    count = len(json.loads(f'"{text}"'))
    spelt = b'"' + text.encode() * 300
    unbounded = configurations({"type": "string"}, spelt)
    for most in (count * 300 + 200, 1_000_000):
        assert configurations({"type": "string", "maxLength": most}, spelt) < unbounded + 40
    assert configurations({"type": "string", "maxLength": 10_000}, spelt, switches=OFF) > 600


def test_masks_near_the_bound_are_that_of_the_clamped_one_but_for_long_tokens() -> None:
    """At ten places: each is a row of its own, and nothing is walked in it but the end of the string."""

    def stats_of(most: int) -> Any:
        string = {"type": "string", "maxLength": most}
        names = [f"k{i}" for i in range(10)]
        schema = {"type": "object", "properties": dict.fromkeys(names, string), "required": names, "additionalProperties": False}
        grammar = Grammar.from_json_schema(schema)
        matcher = Matcher(grammar, ODD)
        for token in ODD.encode_greedy("{{{}}}".format(",".join(f'"{name}":"hello wor"' for name in names)).encode()):
            matcher.mask()
            assert matcher.accept(token)
        return grammar.stats

    far = stats_of(1_000)
    for most in (40, 50, 60, 80):  # the longest token has 40 bytes, and what is told apart is the place
        near = stats_of(most)
        assert near.trie_nodes <= far.trie_nodes and near.configurations <= far.configurations + 10 * (len("hello wor") + 1)


def test_counted_text_has_no_automaton() -> None:
    """From the second grammar on a lexeme may have one, with a state for each count."""
    vocabulary = Vocabulary.builtin()
    for pattern in ("^[a-z ]{0,10000}$", "^[a-z ]{0,50}$"):
        for _ in range(4):
            grammar = Grammar.from_json_schema({"type": "string", "pattern": pattern})
            matcher = Matcher(grammar, vocabulary)
            assert matcher.accept_bytes(b'"a')
            matcher.mask()
            assert grammar.stats.derivatives < 100 and grammar.stats.lexer_states < 40


def test_texts_count_as_tokens_do() -> None:
    """The characters of `accept_bytes`, whatever escapes and characters its calls begin and end in."""
    text = 'né日😀 \\n\\u0007\\"\\\\'.encode() * 40
    rng = random.Random(5)
    for most in (500, len(json.loads(b'"' + text + b'"')), 2_000):
        grammar = Grammar.from_json_schema({"type": "string", "maxLength": most})
        one, other = Matcher(grammar, ODD), Matcher(grammar, ODD, switches=OFF)
        assert one.accept_bytes(b'"') and other.accept_bytes(b'"')
        at = 0
        while at < len(text):
            n = rng.choice([1, 2, 3, 10, 100])
            for matcher in (one, other):
                assert matcher.accept_bytes(text[at : at + n])
            at += n
            assert one.mask() == other.mask()
        rest = most - len(json.loads(b'"' + text + b'"'))
        for matcher in (one, other):
            assert not matcher.accept_bytes(b"a" * (rest + 1)) and matcher.accept_bytes(b"a" * rest) and matcher.forced_bytes() == b'"'
        assert one.mask() == other.mask()


def test_the_bound_holds() -> None:
    vocabulary = Vocabulary.builtin()
    for most in (200, 201, 215):
        matcher = Matcher(Grammar.from_json_schema({"type": "string", "maxLength": most}), vocabulary)
        assert matcher.accept_bytes(b'"' + "é".encode() * (most - 100)) and matcher.accept_tokens(vocabulary.encode_greedy(b"a" * 100)) > 0
        while len(matcher.tokens) < 400 and matcher.accept(vocabulary.encode_greedy(b"a")[0]):
            pass
        rest = matcher.forced_bytes()
        assert rest == b'"' and not matcher.fork().accept_bytes(b"a") and matcher.accept_bytes(rest) and matcher.is_complete


def test_where_no_token_is_a_quotation_mark() -> None:
    """The shortest way out takes tokens that each begin and end within a character, and more characters than the longest has bytes."""
    vocabulary = Vocabulary([b'"aaaaa', b"aaaaaa\xc3", b"\xa9bbbbb\xe3", b'\x81\x82"', b""], eos=[4])
    for schema in ({"maxLength": 1000}, {"maxLength": 40}, {"pattern": "^[ab\u00e9\u3042]{0,300}$"}):
        for switches in (Switches(), OFF):
            matcher = Matcher(Grammar.from_json_schema({"type": "string", **schema}), vocabulary, switches=switches)
            assert matcher.accept(0) and matcher.closing_tokens() == matcher.closing_within(4) == [1, 2, 3, 4]
            result = generate(lambda ids: np.zeros((len(ids), 5)), [0], matcher.fork(), max_new_tokens=12, seed=0)
            assert (result.tokens, result.refused) == ([1, 2, 3, 4], 0)


def test_a_string_that_begins_where_the_text_may_end() -> None:
    """No front end makes a lexeme that begins behind the quotation mark, but records may."""
    builder = Builder()
    start = builder.nonterminal("start")
    first = builder.lexeme(builder.bytes(b"x"), "A")
    counted = builder.lexeme(builder.concat(builder.json(builder.repeat(builder.char, 0, 1000)), builder.bytes(b'"')), "L")
    builder.rule(start, [first])
    builder.rule(start, [first, counted])
    builder.start = start
    blob = Grammar._from_builder(builder).to_bytes()
    one, other = Matcher(Grammar.from_bytes(blob), BYTES), Matcher(Grammar.from_bytes(blob), BYTES, switches=OFF)
    for byte in b'xabc"':
        assert one.accept(byte) and other.accept(byte)
        assert one.is_complete == other.is_complete == (byte in b'x"') and one.mask() == other.mask()


def test_a_matcher_goes_on_in_another_generation() -> None:
    schema = {"anyOf": [{"type": "array", "items": {"type": "string", "maxLength": 300}}, {"type": "string", "pattern": "^[a-z]{400}$"}]}
    grammar = Grammar.from_json_schema(schema, limits=Limits(max_configurations=300))
    running = Matcher(grammar, BYTES)
    assert running.accept_bytes(b'["x') and running.accept_tokens(list(b"y" * 100)) == 100
    with pytest.raises(LimitExceededError):
        Matcher(grammar, BYTES).accept_tokens(list(b'"' + b"z" * 400))
    expected = Matcher(Grammar.from_json_schema(schema), BYTES, switches=OFF)
    assert expected.accept_bytes(b'["x') and expected.accept_tokens(list(b"y" * 100)) == 100
    Matcher(grammar, BYTES).mask()  # of the next generation
    for part in (b"y" * 150, "é".encode(), b"\\n", b"y" * 60):
        assert running.accept_tokens(list(part)) == expected.accept_tokens(list(part))
        assert running.mask() == expected.mask()


@pytest.mark.parametrize("field", ["max_configurations", "max_lexer_states", "max_expressions", "max_memory_bytes"])
def test_limits_that_are_met_while_text_is_clamped(field: str) -> None:
    """A step that a limit refuses can be tried again, by this matcher and by others, and changes nothing."""
    schema = {"type": "array", "items": {"type": "string", "maxLength": 1000}}
    expected = Matcher(Grammar.from_json_schema(schema), BYTES, switches=OFF)
    values = (
        range(30_000, 120_000, 700) if field == "max_memory_bytes" else range(3, 60) if field != "max_expressions" else range(20, 400, 5)
    )
    refused = 0
    for value in values:
        matchers = []
        try:
            grammar = Grammar.from_json_schema(schema, limits=Limits(**{field: value}))
            matchers = [Matcher(grammar, BYTES) for _ in range(2)]
        except (LimitExceededError, MemoryError):
            continue
        text = b'["a\\n"'
        for matcher in matchers * 2 * len(text):
            try:
                assert len(matcher.tokens) == len(text) or matcher.accept(text[len(matcher.tokens)])
                matcher.mask()
            except (LimitExceededError, MemoryError):
                refused += 1
        for matcher in matchers:
            reference = expected.fork()
            assert reference.accept_tokens(matcher.tokens) == len(matcher.tokens)
            try:
                assert matcher.mask() == reference.mask()
            except (LimitExceededError, MemoryError):
                refused += 1
    assert refused


def test_beside_a_token_automaton() -> None:
    """It tells all counts apart, so nothing is clamped."""
    grammar = Grammar.from_json_schema({"type": "string", "maxLength": 40})
    automaton = TokenDFA.from_grammar(grammar, BYTES)
    one, other = Matcher(automaton), Matcher(Grammar.from_json_schema({"type": "string", "maxLength": 40}), BYTES, switches=OFF)
    for byte in b'"' + b"a" * 39 + b'b"':
        assert one.mask() == other.mask()
        assert one.accept(byte) == other.accept(byte)
    assert one.is_complete and one.mask() == other.mask()
