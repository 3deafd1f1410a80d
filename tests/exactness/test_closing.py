"""Closings: the first of the shortest texts to a sentence, and the fewest tokens that spell it.

The truth is a breadth-first search over bytes with the oracle, level by level in the order of bytes: the first sentence that it meets is
the closing. Where such a search gets too large it is given up, and the tests assert how many were not.
"""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from exactness import grammars, test_bags
from exactness.test_schemas import VOCABULARY, compile_ir, random_schema
from grammar_engine import Grammar, GrammarError, LimitExceededError, Limits, Matcher, Switches, Vocabulary, VocabularyError, ir
from grammar_engine._native import ffi, lib
from grammar_engine.errors import UnsatisfiableSchemaError, UnsupportedSchemaError
from oracle import expr as ex
from oracle.earley import Recogniser
from oracle.mask import step_bytes
from vocabularies import TinyVocabulary, random_vocabulary

MOST_STATES = 300  # that a search looks at

BYTES = Vocabulary.bytes()


def closing_of(recogniser: Recogniser, state: Any) -> bytes | None:
    """The closing by search; None: given up."""
    level, looked_at = [(b"", state)], 0
    while level:
        for text, state in level:
            if recogniser.is_sentence(state):
                return text
        below = []
        for text, state in level:
            looked_at += 1
            if looked_at > MOST_STATES:
                return None
            below += [(text + bytes([byte]), after) for byte in _telling_bytes(state) if (after := state.step(byte)) is not None]
        level = below
    return None


def _telling_bytes(state: Any) -> list[int]:
    """Bytes after which the state differs, the smallest of each kind."""
    readings = _readings(getattr(state, "runs", None) or {state.readings: {}})
    kinds: dict[tuple, int] = {}
    for byte in range(256):
        kinds.setdefault(tuple(ex.derive(expr, byte) for expr in readings), byte)
    return sorted(kinds.values())


def _readings(runs: Any) -> list[ex.Expr]:
    found: list[ex.Expr] = []
    for run, below in runs.items():
        found += [expr for expr, *_ in run] + _readings(below)
    return found


def fewest(tokens: list[bytes], text: bytes) -> int | None:
    """How many tokens spell the text at least, forwards."""
    known: list[int | None] = [0] + [None] * len(text)
    for at in range(len(text)):
        for token in set(tokens):
            count, end = known[at], at + len(token)
            if token and count is not None and text.startswith(token, at) and (known[end] is None or known[end] > count + 1):
                known[end] = count + 1
    return known[-1]


def follow(matcher: Matcher, tokens: list[bytes]) -> None:
    """`closing_bytes` and `closing_tokens` agree, spell a sentence, and shrink by one token at each step."""
    text, closing = matcher.closing_bytes(), matcher.closing_tokens()
    eos = list(matcher.vocabulary.eos[:1])
    spelling = closing[: len(closing) - len(eos)]
    assert closing[len(spelling) :] == eos
    spelt = b"".join(tokens[token] for token in spelling)
    if fewest(tokens, text) is not None:
        assert spelt == text
    else:
        assert (len(spelt), spelt) > (len(text), text)
    assert len(spelling) == fewest(tokens, spelt)
    fork = matcher.fork()
    for done, token in enumerate(closing):
        assert len(fork.closing_tokens()) == len(closing) - done
        assert fork.accept(token)
    assert fork.is_complete and fork.closing_tokens() == []
    assert fork.is_terminated == bool(eos)


Make = Callable[[random.Random], tuple[ir.Builder, tuple[bytes, ...]]]


def an_expression(rng: random.Random) -> tuple[ir.Builder, tuple[bytes, ...]]:
    builder, alphabet = ir.Builder(), rng.choice([grammars.LETTERS, grammars.MIXED])
    return grammars.one_lexeme(builder, grammars.random_expr(rng, builder, 4, alphabet)), alphabet


def a_special_expression(rng: random.Random) -> tuple[ir.Builder, tuple[bytes, ...]]:
    builder = ir.Builder()
    return grammars.one_lexeme(builder, grammars.random_special(rng, builder)), grammars.SPECIAL_ALPHABET


def a_grammar(rng: random.Random) -> tuple[ir.Builder, tuple[bytes, ...]]:
    return grammars.random_grammar(rng)


def a_special_grammar(rng: random.Random) -> tuple[ir.Builder, tuple[bytes, ...]]:
    return grammars.random_grammar(rng, special=True)


def a_longest_grammar(rng: random.Random) -> tuple[ir.Builder, tuple[bytes, ...]]:
    return grammars.random_grammar(rng, longest=True)


def a_schema(rng: random.Random) -> tuple[ir.Builder, tuple[bytes, ...]]:
    while True:
        try:
            return compile_ir(random_schema(rng, 2), rng.choice(["compact", "flexible"])), tuple(VOCABULARY.spelt)
        except (UnsupportedSchemaError, UnsatisfiableSchemaError):
            continue


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (an_expression, 150),
        (a_special_expression, 100),
        (a_grammar, 500),
        (a_special_grammar, 60),
        (a_longest_grammar, 120),
        (a_schema, 150),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_closings_equal_the_search(make: Make, wanted: int, long_run: bool) -> None:
    wanted, seed, compared, given_up = wanted * (20 if long_run else 1), 0, 0, 0
    while compared < wanted:
        seed += 1
        rng = random.Random(f"{make.__name__} {seed}")
        builder, pieces = make(rng)
        recogniser = Recogniser(builder)
        state = recogniser.start()
        if state is None:
            continue
        matcher = Matcher(Grammar._from_builder(builder, limits=Limits(max_step_work=300_000)), BYTES)
        for _ in range(5):
            expected = closing_of(recogniser, state)
            if expected is None:
                given_up += 1
                if not builder.longest:
                    assert matcher.fork().accept_bytes(matcher.closing_bytes())
            else:
                assert matcher.closing_bytes() == expected, (seed, b"".join(BYTES.token_bytes(t) for t in matcher.tokens))
                compared += 1
            piece = rng.choice(pieces)
            after = step_bytes(state, piece)
            if piece and after is not None:
                assert matcher.accept_bytes(piece)
                state = after
    assert given_up < compared


@pytest.mark.parametrize("seed", range(60))
def test_closings_of_random_bags(seed: int) -> None:
    rng = random.Random(seed)
    grammar, oracle = test_bags._random_bag(rng)
    if grammar is None:
        pytest.skip("a bag without a sentence")
    alphabet = sorted({*'[],:v"', *(char for texts, *_ in oracle.ways for text, _ in texts for char in text)})
    matcher, configs = Matcher(grammar, BYTES), frozenset([("open", None)])
    compared = 0
    for _ in range(25):
        level, seen = {configs: ""}, {configs}
        while level and len(seen) < 3000 and not any(("closed", None) in state for state in level):
            below: dict[Any, str] = {}
            for state, text in level.items():
                for char in alphabet:
                    after = frozenset(oracle.read(state, char))
                    if after and after not in seen:
                        seen.add(after)
                        below[after] = text + char
            level = below
        closed = [text for state, text in level.items() if ("closed", None) in state]
        if closed:
            assert matcher.closing_bytes() == closed[0].encode(), seed
            compared += 1
        choices = [char for char in alphabet if oracle.read(configs, char)]
        if not choices:
            break
        char = rng.choice(choices)
        assert matcher.accept_bytes(char.encode())
        configs = frozenset(oracle.read(configs, char))
    assert compared >= 2


@pytest.mark.parametrize("make", [a_grammar, a_special_grammar, an_expression], ids=lambda make: make.__name__)
def test_the_fewest_tokens(make: Make, long_run: bool) -> None:
    followed = 0
    for seed in range(1500 if long_run else 80):
        rng = random.Random(f"tokens {make.__name__} {seed}")
        builder, alphabet = make(rng)
        tiny = random_vocabulary(rng, alphabet, size=20)
        try:
            matcher = Matcher(Grammar._from_builder(builder), tiny.build())
        except GrammarError:
            continue
        for _ in range(4):
            try:
                follow(matcher, tiny.spelt)
                followed += 1
            except VocabularyError as error:
                assert error.missing and not any(error.missing[:1] in token for token in tiny.spelt)
                break
            allowed = [token for token in matcher.allowed_tokens() if token not in tiny.eos]
            if not allowed:
                break
            matcher.accept(rng.choice(allowed))
    assert followed > 100


def matcher_of(schema: Any, vocabulary: Vocabulary = BYTES, **options: Any) -> Matcher:
    return Matcher(Grammar.from_json_schema(schema, **options), vocabulary)


def test_what_tokens_can_spell() -> None:
    """A vocabulary without some bytes: the next text that tokens spell, with places inside tokens told apart."""
    tokens = [b"ab", b"ba", b"c", b"b", b""]
    matcher = Matcher(Grammar.from_regex("a|aa|aba|abab?c"), Vocabulary(tokens, eos=[4]))
    assert matcher.closing_bytes() == b"a"
    assert [tokens[token] for token in matcher.closing_tokens()] == [b"ab", b"ab", b"c", b""]
    follow(matcher, tokens)


def test_missing_bytes_are_named() -> None:
    vocabulary = Vocabulary([b'"', b"a", b"{", b""], eos=[3])
    matcher = matcher_of({"type": "object"}, vocabulary)
    assert matcher.accept_bytes(b"{")
    with pytest.raises(VocabularyError) as caught:
        matcher.closing_tokens()
    assert caught.value.missing == b"}"
    assert matcher.closing_bytes() == b"}"


@pytest.mark.parametrize(
    ("schema", "text", "closing"),
    [
        ({"type": "string", "minLength": 10_000}, b'"abc', b" " * 9_997 + b'"'),
        ({"type": "array", "minItems": 5_000, "items": {"type": "boolean"}}, b"[false", b",true" * 4_999 + b"]"),
        ({"type": "array", "uniqueItems": True, "minItems": 14, "items": {"type": "integer", "minimum": 0}}, b"[7,10,1",
         b",0,11,12,13,2,3,4,5,6,8,9]"),
        ({"type": "object", "minProperties": 4}, b'{"a":1,"', b'":0,"!":0," ":0}'),
        ({"type": "array", "contains": {"type": "string"}, "minContains": 2, "minItems": 4}, b"[1", b',"","",0]'),
        ({"type": "integer", "multipleOf": 1_000, "minimum": 1_500}, b"", b"2000"),
        ({"type": "string", "pattern": "^[a-z]{1000}$"}, b'"', b"a" * 1_000 + b'"'),
        # a member must meet a condition whose value, open and recursive, has no length yet when the search for the members begins
        ({"type": "object", "not": {"additionalProperties": {"maxItems": 0}}}, b"", b'{"":[0]}'),
        ({"type": "object", "not": {"additionalProperties": {"maxItems": 0}}}, b'{"a":[1]}', b""),
        ({"type": "object", "not": {"unevaluatedProperties": {"items": {"type": "string"}}}}, b'{"a":[', b"0]}"),
        ({"type": "object", "not": {"additionalProperties": {"properties": {"x": {"type": "string"}}}}}, b"{", b'"":{"x":0}}'),
        ({"type": "object", "not": {"patternProperties": {"b$": {"maxProperties": 0}}}, "minProperties": 3}, b'{"c":1', b',"b":{"":0},"":0}'),
    ],
    ids=str,
)  # fmt: skip
def test_schemas(schema: Any, text: bytes, closing: bytes) -> None:
    matcher = matcher_of(schema)
    assert matcher.accept_bytes(text)
    assert len(matcher.closing_bytes()) == len(closing)
    fork = matcher.fork()
    assert fork.accept_bytes(closing) and fork.is_complete
    assert matcher.accept_bytes(matcher.closing_bytes()) and matcher.is_complete


def test_the_place_where_no_closing_was_found() -> None:
    """The lengths of nonterminals are found once, and what takes too long there is named."""
    schema = {"properties": {"k": {"type": "object", "not": {"patternProperties": {"b$": {"maxProperties": 0}}}}}, "required": ["k"]}
    with pytest.raises(LimitExceededError) as caught:
        Matcher(Grammar.from_json_schema(schema, limits=Limits(max_step_work=200)), BYTES).closing_bytes()
    assert (caught.value.limit, caught.value.where) == ("max_step_work", "/properties/k")


def turns(matcher: Matcher, left: int) -> bool:
    """Whether a turn (csrc/match/tn.c) without a token says that the closing takes at most `left` tokens."""
    mask = matcher.mask()
    written = bytearray(len(mask))
    steps = lib.ge_matcher_length(matcher._handle)
    turn = ffi.new("ge_turn *", {"left": left, "must_close": True, "mask": ffi.from_buffer("uint32_t[]", written), "steps": steps})
    result = lib.ge_matcher_turn(matcher._handle, turn, ffi.NULL, 0, matcher._err)
    if result == lib.GE_TURN_REFUSED:
        assert (turn.left, turn.next) == (left, 0)
        return False
    assert (turn.left, turn.next) == (left, result)
    assert written == mask
    ends = {matcher.vocabulary.token_bytes(token)[:1] for token in matcher.allowed_tokens()}
    assert result == (lib.GE_TURN_CHOICE if len(ends) > 1 else lib.GE_TURN_ALONE)
    return True


@pytest.mark.parametrize("longer", [False, True])
@pytest.mark.parametrize(("make", "wanted"), [(an_expression, 60), (a_grammar, 150), (a_special_grammar, 40), (a_schema, 60)])
def test_turns_know_the_length_of_the_closing(make: Make, wanted: int, longer: bool, long_run: bool) -> None:
    """They are asked before the closing is known, and what the closings of another
    engine take is the truth. What they have counted they keep, or do not."""
    wanted, seed, compared = wanted * (20 if long_run else 1), 0, 0
    single = [bytes([byte]) for byte in range(256)]
    while compared < wanted:
        rng = random.Random(f"foretold {make.__name__} {seed}")
        seed += 1
        builder, _ = make(rng)
        try:
            text = Matcher(Grammar._from_builder(builder), BYTES).closing_bytes()
            parts = {text[at : at + rng.randrange(2, 9)] for at in range(len(text)) if rng.random() < 0.5} if longer else set()
            tokens = single + sorted(part for part in parts if len(part) > 1)
            vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
            off = Switches(state_cache=False)
            ours, plain, theirs = (Matcher(Grammar._from_builder(builder), vocabulary, switches=s) for s in (Switches(), off, Switches()))
        except GrammarError:
            continue
        for _ in range(12):
            if ours.is_terminated:
                break
            length = len(theirs.closing_tokens())
            for matcher in (ours, plain):
                assert not turns(matcher, length - 1) and turns(matcher, length) and turns(matcher, 1 << 20)
            compared += 1
            token = rng.choice(ours.allowed_tokens())
            assert ours.accept(token) and plain.accept(token) and theirs.accept(token)


VALUES = {"type": "integer", "minimum": 8, "maximum": 120}
DISTINCT = [
    ({"type": "array", "uniqueItems": True, "items": VALUES, "minItems": 3}, {}),
    ({"type": "array", "items": {"type": "array", "uniqueItems": True, "items": VALUES, "minItems": 1}, "minItems": 2}, {}),
    (
        {"required": ["a", "ab"], "properties": {"a": {"const": 1}, "ab": {"enum": [12, 3]}}, "minProperties": 3, "type": "object"},
        {"unique_keys": True},
    ),
    ({"required": ["b", "ab"], "maxProperties": 3, "type": "object"}, {"unique_keys": True, "property_order": "any"}),
    ({"dependentRequired": {"a": ["b", "c"], "b": ["cc"]}, "type": "object"}, {"unique_keys": True, "property_order": "any"}),
    ({"patternProperties": {"^a": {"type": "null"}, "b$": {"type": "null"}}, "minProperties": 2, "type": "object"}, {"unique_keys": True}),
    (
        {"type": "object", "oneOf": [{"patternProperties": {"a|b": {"maximum": 3}}}, {"patternProperties": {"a": {"maximum": 3}}}]},
        {"unique_keys": True},
    ),
]


def a_bag_of_values(rng: random.Random) -> Callable[[], Grammar | None]:
    seed = rng.random()
    return lambda: test_bags._random_bag(random.Random(seed))[0]


def a_schema_of_values(rng: random.Random) -> Callable[[], Grammar]:
    schema, options = rng.choice(DISTINCT)
    return lambda: Grammar.from_json_schema(schema, **options)


def a_tuple_of_values(rng: random.Random) -> Callable[[], Grammar | None]:
    """Positions of an array that have values in common, and more behind them."""
    strings = [{"type": "string"}, {"type": "string", "pattern": "^a?b?$"}, {"type": "string", "maxLength": 1}, {"enum": ["", "a"]}]
    numbers = [{"type": "integer"}, {"type": "integer", "minimum": 0, "maximum": 20}, {"enum": [0, 1, ""]}]
    kinds = rng.choice([strings, numbers, strings + numbers])

    def values() -> dict[str, Any]:
        prefix = [rng.choice(kinds) for _ in range(rng.randrange(1, 4))]
        return {"type": "array", "uniqueItems": True, "prefixItems": prefix, "items": rng.choice(kinds), "minItems": rng.randrange(1, 4)}

    schema = rng.choice(
        [
            {"type": "array", "items": values(), "minItems": 2},
            {"type": "array", "prefixItems": [values(), {"const": 0}, values()], "minItems": 3},
            {"type": "object", "properties": {"a": values(), "b": values()}, "required": ["a", "b"], "additionalProperties": False},
        ]
    )

    def grammar() -> Grammar | None:
        try:
            return Grammar.from_json_schema(schema, whitespace="compact", property_order=order, limits=Limits(max_step_work=200_000))
        except (UnsupportedSchemaError, UnsatisfiableSchemaError):
            return None

    order = rng.choice(["schema", "any"])
    return grammar


@pytest.mark.parametrize(("make", "wanted"), [(a_bag_of_values, 10_000), (a_schema_of_values, 6000), (a_tuple_of_values, 3000)])
def test_turns_know_the_closing_where_values_must_differ(
    make: Callable[[random.Random], Callable[[], Any]], wanted: int, long_run: bool
) -> None:
    """What was counted for one text is told to others, which differ in a value
    that is under way. The truth is what an engine that keeps nothing says."""
    wanted, seed, compared = wanted * (20 if long_run else 1), 0, 0
    single = [bytes([byte]) for byte in range(256)]
    vocabulary = Vocabulary([*single, b'":', b"],", b"00", b'"a', b""], eos=[260])
    off = Switches(state_cache=False)
    while compared < wanted:
        rng = random.Random(f"values {make.__name__} {seed}")
        seed += 1
        grammar_of = make(rng)
        if grammar_of() is None:
            continue
        ours, theirs = Matcher(grammar_of(), vocabulary), Matcher(grammar_of(), vocabulary, switches=off)
        for _ in range(6):
            for _ in range(14):
                if ours.is_terminated:
                    break
                try:
                    length = len(theirs.closing_tokens())
                except LimitExceededError:
                    assert make is a_tuple_of_values  # the search is long where some of them are within others
                    break
                assert not turns(ours, length - 1) and turns(ours, length), (seed, [vocabulary.token_bytes(token) for token in ours.tokens])
                compared += 1
                token = rng.choice(ours.allowed_tokens())
                assert ours.accept(token) and theirs.accept(token)
            ours.reset()
            theirs.reset()


def test_a_closing_that_is_told_to_others_is_no_lower_bound() -> None:
    """The shortest number of `hard` is not found, so that nothing is told.
    From `["!` another string may be the first of the shortest ones than from `["#`."""
    hard = {"type": "number", "exclusiveMaximum": -10000, "not": {"anyOf": [{"multipleOf": 2}, {"multipleOf": 6.5}]}}
    strings = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
    schema = {
        "type": "object",
        "anyOf": [
            {"properties": {"a": {**strings, "minItems": 4}}, "required": ["a"], "additionalProperties": False},
            {"properties": {"a": {**strings, "minItems": 1}, "bb": hard}, "required": ["a", "bb"], "additionalProperties": False},
        ],
    }
    tokens = [*(bytes([byte]) for byte in range(256)), b'{"a":["!', b'{"a":["#', b'"," ","","#"]}', b""]
    ours, theirs = (
        Matcher(Grammar.from_json_schema(schema, whitespace="compact", number_style="any"), Vocabulary(tokens, eos=[259])) for _ in "ab"
    )
    for first in (256, 257):
        assert ours.accept(first) and theirs.accept(first)
        length = len(theirs.closing_tokens())
        assert turns(ours, length) and not turns(ours, length - 1)
        ours.reset()
        theirs.reset()


def test_a_closing_that_is_not_found_within_the_limit_is_none() -> None:
    strings = [{"type": "string", "pattern": "^a?b?$"}, {"type": "string"}]  # what they have in common costs more than is foretold
    items = {"type": "array", "uniqueItems": True, "prefixItems": strings, "items": {"type": "boolean"}, "minItems": 4}
    schema = {"type": "array", "items": items, "minItems": 3}
    limits = Limits(max_step_work=50_000)
    with pytest.raises(LimitExceededError):
        matcher_of(schema, limits=limits).closing_tokens()
    assert not turns(matcher_of(schema, limits=limits), 5)  # no error


def test_many_values_of_which_few_are_wanted() -> None:
    """Of 103 values three that differ: all that are written with one digit would do."""
    schema = {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "number"},
        "minItems": 3,
        "prefixItems": [{"type": "integer", "minimum": -3, "maximum": 99}],
    }
    for style in ("canonical", "any"):
        matcher = matcher_of(schema, whitespace="compact", number_style=style, limits=Limits(max_step_work=5_000_000))
        assert matcher.closing_bytes() == b"[0,1,2]"
        assert turns(matcher, 8) and not turns(matcher, 7)


@pytest.mark.parametrize("nested", [False, True])
def test_a_first_item_from_a_thousand_values(nested: bool) -> None:
    """What must come after each of them is asked of the few that may begin a shortest text."""
    schema = {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "integer"},
        "minItems": 4,
        "prefixItems": [{"type": "integer", "minimum": 8, "maximum": 1_000}],
    }
    text = b"[8,0,1,2]"
    if nested:
        schema, text = {"properties": {"a": schema}, "required": ["a"], "type": "object"}, b'{"a":[8,0,1,2]}'
    matcher = matcher_of(schema, whitespace="compact", limits=Limits(max_step_work=2_500_000))
    assert matcher.closing_bytes() == text
    begun = text.index(b"8") + 1
    assert matcher.accept_bytes(text[: begun - 1] + b"77") and matcher.closing_bytes() == text[begun:]  # 77, and 8 others
    assert matcher.accept_bytes(b",0,8") and matcher.closing_bytes() == b",1" + text[len(text) - (2 if nested else 1) :]


def test_positions_whose_shortest_values_are_the_same() -> None:
    """All but one of them have to do without it, in each of several arrays: a search that does not know tries all values of all of them."""
    items = {"type": "array", "uniqueItems": True, "prefixItems": [{"type": "string", "pattern": "^a?b?$"}], "items": {"type": "string"}}
    schema = {"type": "array", "items": {**items, "minItems": 4}, "minItems": 3}
    matcher = matcher_of(schema, whitespace="compact", limits=Limits(max_step_work=1_000_000))
    one = b'[""," ","!","#"]'
    assert matcher.closing_bytes() == b"[%b,%b,%b]" % (one, one, one)
    assert matcher.accept_bytes(b'[["ab","') and matcher.closing_bytes() == b' ","!",""],%b,%b]' % (one, one)


def test_values_that_may_stand_at_the_same_positions() -> None:
    """The strings cost more than is foretold, so a search that does not know would give all numbers to all other positions."""
    string, empty, number = {"type": "string"}, {"enum": ["", "null"]}, {"type": "integer", "minimum": 0, "maximum": 49}
    for prefix, text in (
        ([string, True, empty, string, number], b'[" ",0,"","!",1]'),
        ([string, empty, string, number, number], b'[" ","","!",0,1]'),
        ([empty, empty, string, string, number, number, number], b'["","null"," ","!",0,1,2]'),
    ):
        schema = {"type": "array", "uniqueItems": True, "prefixItems": prefix, "items": string, "minItems": len(prefix)}
        matcher = matcher_of(schema, whitespace="compact", limits=Limits(max_step_work=1_000_000))
        assert matcher.closing_bytes() == text
    assert matcher.accept_bytes(b'["","null","a","b",1,10,') and matcher.closing_bytes() == b"0]"


def test_a_sentence_is_closed_whatever_the_limit() -> None:
    items = [{"enum": ["", "null"]}, {"type": "string"}, {"type": "string"}, {"type": "integer", "minimum": 0, "maximum": 49}]
    array = {"type": "array", "uniqueItems": True, "prefixItems": items, "items": {"type": "string"}}
    matcher = matcher_of({"anyOf": [array, {"const": 1}]}, whitespace="compact", limits=Limits(max_step_work=3_000))
    with pytest.raises(LimitExceededError):
        matcher.closing_bytes()
    assert matcher.accept_bytes(b"1") and matcher.closing_bytes() == b"" and matcher.closing_tokens() == [matcher.eos[0]]


UUID = b"00000000-0000-0000-0000-000000000000"
STRING_OR_ARRAY = {
    "anyOf": [{"type": "string", "pattern": "^(a|b{10}[ab]{12})$"}, {"type": "array", "items": {"const": 1}, "minItems": 3, "maxItems": 3}]
}
COLOURS = "red blue green yellow black white pink brown grey orange purple violet magenta cyan teal lime navy olive maroon silver".split()


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"items": {"anyOf": [{"const": ""}, {"type": "string", "format": "uuid"}]}, "minItems": 2}, b'["","%b"]' % UUID),
        (
            {"items": {"type": "string", "pattern": "^(red|blue|dark green metallic)$"}, "minItems": 3},
            b'["blue","dark green metallic","red"]',
        ),
        (
            {"items": {"enum": COLOURS}, "minItems": 5, "contains": {"enum": ["magenta", "violet"]}},
            b'["blue","cyan","grey","red","violet"]',
        ),
        ({"items": {"enum": [*range(5, 25)]}, "minItems": 4, "contains": {"enum": [22, 23, 24]}, "minContains": 3}, b"[22,23,24,5]"),
        ({"prefixItems": [STRING_OR_ARRAY, STRING_OR_ARRAY["anyOf"][0]], "items": False, "minItems": 2}, b'[[1,1,1],"a"]'),
        (
            {
                "prefixItems": [{"anyOf": [{"type": "string"}, {"const": 10}]}, {"type": "string"}, {"enum": [10, 11]}],
                "items": False,
                "minItems": 3,
            },
            b'[10,"",11]',
        ),
    ],
    ids=["a short value", "three values", "contains", "contains three", "another way for a slot", "a value that a later position needs"],
)
@pytest.mark.parametrize("whitespace", ["compact", "flexible"])
def test_what_values_that_differ_cost(schema: Any, text: bytes, whitespace: str) -> None:
    """By hand. What is left of the closing after some of its bytes is the closing from there, and no search takes long."""
    schema = {"type": "array", "uniqueItems": True, **schema}
    matcher = matcher_of(schema, whitespace=whitespace, limits=Limits(max_step_work=1_000_000))
    for at in range(len(text)):
        assert matcher.closing_bytes() == text[at:]
        assert turns(matcher, len(text) - at + 1) and not turns(matcher, len(text) - at)
        assert matcher.accept_bytes(text[at : at + 1])
    schema = {"patternProperties": {"^(a|bbbbbbbbbb)$": {"type": "integer"}}, "additionalProperties": False, "minProperties": 2}
    matcher = matcher_of({"type": "object", **schema}, whitespace=whitespace, limits=Limits(max_step_work=1_000_000))
    assert matcher.closing_bytes() == b'{"a":0,"bbbbbbbbbb":0}'


@pytest.mark.parametrize("whitespace", [(" , ", " : "), (", ", ": "), ("  ,", "\t:"), "bounded", "flexible"])
def test_blanks_that_are_needed_behind_a_key(whitespace: Any) -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 3}
    comma, colon = whitespace if isinstance(whitespace, tuple) else (",", ":")
    text = ("{" + comma.join(f'"{key}"{colon}0' for key in (" ", "!", "")) + "}").encode()
    matcher = matcher_of(schema, whitespace=whitespace, unique_keys=True)
    for at in range(len(text)):
        assert len(matcher.closing_bytes()) == len(text) - at
        assert matcher.accept_bytes(text[at : at + 1])


def test_a_limit_that_is_met_leaves_no_length_behind() -> None:
    """Twelve keys of which each may be the shortest; where the limit is met depends on its value."""
    schema = {
        "anyOf": [
            {
                "type": "object",
                "properties": {f"k{i:02d}": {"type": "string", "minLength": 150} for i in range(12)},
                "minProperties": 1,
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"zz": {"type": "integer"}},
                "required": ["zz"],
                "minProperties": 20,
                "additionalProperties": {"type": "integer"},
                "propertyNames": {"anyOf": [{"const": "zz"}, {"pattern": "^x"}]},
            },
        ]
    }
    found = 0
    for most in range(2_000, 20_000, 97):
        matcher = matcher_of(schema, whitespace="compact", unique_keys=True, limits=Limits(max_step_work=most))
        assert matcher.accept_bytes(b"{")
        for _ in range(8):
            with contextlib.suppress(LimitExceededError):
                assert len(matcher.closing_bytes()) == 139
                found += 1
                break
    assert found > 20


@pytest.mark.parametrize("n", [1, 16_383, 16_384, 32_767, 32_768])
def test_counts_of_long_closings(n: int) -> None:
    """Asked from the start, from within, and from a state that leads there; what is not kept is counted anew."""
    vocabulary = Vocabulary([b"aa", b"b", b"x", b"a", b""], eos=[4])
    for steps in ([], [b"x"], [b"x", b"aa"], [b"a"]):
        matcher = Matcher(Grammar.from_regex(f"x?(aab){{{n}}}"), vocabulary)
        assert matcher.accept_tokens([vocabulary.tokens.index(step) for step in steps]) == len(steps)
        length = 2 * n + 1 - (b"aa" in steps)  # a single a leaves one to be written
        for _ in range(2):
            assert turns(matcher, length) and not turns(matcher, length - 1)


@pytest.mark.parametrize("long", [3, 200, 254, 255, 256, 300, 5000])
def test_tokens_that_reach_far_behind_the_first_state_that_is_counted(long: int) -> None:
    """What is left of a closing was counted; the next one comes to that state, by a token that goes on far beyond it."""
    text = bytes(97 + (i * i + i // 7) % 5 for i in range(long))
    vocabulary = Vocabulary([*(bytes([byte]) for byte in b"abcdexyz"), b"x" + text, b"zz", b""], eos=[10])
    matcher = Matcher(Grammar.from_regex(f"(y|zx){text.decode()}zzzz"), vocabulary)
    behind = matcher.fork()
    assert behind.accept(vocabulary.tokens.index(b"y"))
    for at, length in ((behind, long + 3), (matcher, 1 + long + 3)):  # the shorter way, by y, is the closing
        assert len(at.closing_tokens()) == length
        assert turns(at, length) and not turns(at, length - 1)
    assert matcher.accept(vocabulary.tokens.index(b"z"))
    assert matcher.closing_tokens() == [8, 9, 9, 10]
    assert turns(matcher, 4) and not turns(matcher, 3)


def test_what_is_spelt_by_a_detour_is_no_part_of_a_longer_closing() -> None:
    """Behind q the shortest text, `a`, has no token. The shortest text that is spelt from the start does not go by q."""
    vocabulary = Vocabulary([b"q", b"c", b"b" * 8, b""], eos=[3])
    matcher = Matcher(Grammar.from_regex("q(a|b{8})|ccc"), vocabulary)
    behind = matcher.fork()
    assert behind.accept(0)
    for at, length in ((behind, 2), (matcher, 4), (behind, 2)):
        assert len(at.closing_tokens()) == length
        assert turns(at, length) and not turns(at, length - 1)


@pytest.mark.parametrize(("pattern", "least"), [("^a*$", 2), ("^aaa?$", 2), ("^[ab]{2}$", 3)])
def test_items_that_differ_in_all_spellings(pattern: str, least: int) -> None:
    """That no value is left is seen by the values: there are too many escapes to go through them."""
    schema = {"type": "array", "items": {"type": "string", "pattern": pattern, "maxLength": 3}, "uniqueItems": True, "minItems": least}
    closings, limits = [], Limits(max_step_work=2_000_000)
    for escapes in ("minimal", "all"):
        grammar = Grammar.from_json_schema(schema, whitespace="compact", escapes=escapes, limits=limits)
        closings.append(Matcher(grammar, Vocabulary.bytes()).closing_bytes())
    assert closings[0] == closings[1] and len(set(json.loads(closings[0]))) == least


def test_what_is_not_foretold_is_counted() -> None:
    longest = Matcher(Grammar.from_lark('start: "a" "b"', lexing="longest"), BYTES)
    distinct = matcher_of({"type": "array", "uniqueItems": True, "items": {"type": "integer"}})
    some_bytes = Matcher(Grammar.from_regex("ab"), Vocabulary([b"ab", b"a"], eos=[]))
    other_bytes = Matcher(Grammar.from_regex("ab|c+"), Vocabulary([b"ab", b"bb"], eos=[]))
    for matcher, n in ((longest, 3), (distinct, 3), (some_bytes, 1), (other_bytes, 1)):
        assert turns(matcher, n) and not turns(matcher, n - 1)


def test_a_turn_that_cannot_be_made_changes_nothing() -> None:
    matcher = matcher_of({"type": "string"})
    mask = bytearray(len(matcher.mask()))
    for tokens, left in (([ord('"'), ord("x"), 7], 100), ([ord('"'), ord("x")], 0)):
        ids = ffi.new("int64_t[]", tokens)
        closing = ffi.new("int64_t[]", [*tokens, ord('"')])
        turn = ffi.new("ge_turn *", (ffi.from_buffer("uint32_t[]", mask), closing, 3, left, True, lib.GE_TURN_CHOICE))
        assert lib.ge_matcher_turn(matcher._handle, turn, ids, len(tokens), matcher._err) == lib.GE_TURN_NONE
        assert matcher.tokens == []
        assert (turn.closing, turn.n_closing, turn.left, turn.next) == (closing, 3, left, lib.GE_TURN_CHOICE)


def test_a_turn_of_a_matcher_that_others_have_moved_changes_nothing() -> None:
    matcher = matcher_of({"type": "string"})
    mask = bytearray(len(matcher.mask()))
    quote = ffi.new("int64_t[]", [ord('"')])
    turn = ffi.new("ge_turn *", {"left": 9, "mask": ffi.from_buffer("uint32_t[]", mask)})
    assert lib.ge_matcher_turn(matcher._handle, turn, quote, 1, matcher._err) == lib.GE_TURN_CHOICE
    assert turn.steps == 1
    assert matcher.accept(ord("x"))
    assert lib.ge_matcher_turn(matcher._handle, turn, quote, 1, matcher._err) == lib.GE_TURN_NONE
    assert (matcher.tokens, turn.left, turn.steps) == ([ord('"'), ord("x")], 8, 1)


def test_switches_make_no_difference() -> None:
    off = Switches(mask_cache=False, inner_masks=False, goto_cache=False, state_cache=False)
    for seed in range(30):
        rng = random.Random(f"switches {seed}")
        grammar = Grammar.from_json_schema(random_schema(rng, 2), lenient=True)
        assert Matcher(grammar, BYTES).closing_bytes() == Matcher(grammar, BYTES, switches=off).closing_bytes()


def test_deep_nesting_and_the_limit() -> None:
    matcher = matcher_of({})
    assert matcher.accept_bytes(b"[" * 20_000)
    assert matcher.closing_bytes() == b"]" * 20_000
    long = matcher_of({"type": "string", "minLength": 40_000}, limits=Limits(max_step_work=20_000))
    with pytest.raises(LimitExceededError) as caught:
        long.closing_bytes()
    assert caught.value.limit == "max_step_work"


def test_no_end_of_text_token() -> None:
    matcher = Matcher(Grammar.from_regex("ab+"), Vocabulary([b"a", b"b"], eos=[]))
    assert matcher.closing_tokens() == [0, 1]
    assert matcher.accept_tokens([0, 1]) == 2
    assert matcher.closing_tokens() == [] and matcher.closing_bytes() == b""


def test_a_finished_text_is_closed() -> None:
    matcher = matcher_of({"const": 1}, TinyVocabulary((b"1", b""), (1,)).build())
    assert matcher.closing_tokens() == [0, 1]
    assert matcher.accept_tokens([0, 1]) == 2
    assert matcher.closing_tokens() == [] and matcher.closing_bytes() == b""


def test_lengths_of_unions_are_found_once() -> None:
    """Along the text there are unions of some hundred counts, each of an expression with a large union of its own (`\\d`)."""
    grammar = Grammar.from_regex(r"(?:\d|[^\"]{12}){240}", limits=Limits(max_step_work=150_000))
    matcher = Matcher(grammar, Vocabulary.builtin())
    assert matcher.accept_bytes(b"press blend will fan")
    closing = matcher.closing_tokens()
    assert matcher.accept_tokens(closing) == len(closing) and matcher.is_terminated


CONTAINS = {
    "type": "array",
    "prefixItems": [{"type": "string", "maxLength": 2}],
    "contains": {"type": ["null", "boolean"]},
    "maxContains": 2,
}


def test_a_spelt_closing_that_could_go_in_circles() -> None:
    """Of the bracket that ends the array there is no token, only with a quotation mark before it: so an item more must come, which raises
    none of the counts of the array. That was foretold to take as long as one that does, and a text longer than need be was followed from a
    place back to itself."""
    words = [b"[", b'"', b",", b" ", b"null", b"true", b'"]', b'""', b"a", b"{", b"}", b":", b"1", b"[]", b""]
    vocabulary = Vocabulary(words, eos=[14])
    matcher = Matcher(Grammar.from_json_schema(CONTAINS, whitespace=(",", ": ")), vocabulary)
    tokens = matcher.closing_tokens()
    assert b"".join(map(vocabulary.token_bytes, tokens)) == b'["",null,""]'
    assert matcher.accept_tokens(tokens) == len(tokens) and matcher.is_terminated


def test_escapes_are_no_shorter():
    """With every escape a character has many spellings; what is left within
    one tells that it takes more, so they are not tried one by one."""
    patterns = [{"pattern": pattern} for pattern in ("é", "1$", "01", "aa")]
    grammar = Grammar.from_json_schema({"type": "string", "allOf": patterns, "minLength": 6, "maxLength": 6}, escapes="all")
    assert Matcher(grammar, Vocabulary.builtin()).closing_bytes() == '" aaé01"'.encode()


def test_a_lexeme_whose_shortest_text_is_hard_to_find_and_not_needed() -> None:
    """Numbers of five digits, in any spelling, that are a multiple of none of six: millions of beginnings, and no shortest text has one."""
    steps = [{"multipleOf": step} for step in (2, 6.5, 5, 7, 11, 37)]
    hard = {"type": "number", "exclusiveMaximum": -10000, "not": {"anyOf": steps}}
    schema = {"type": "object", "patternProperties": {"b": hard}, "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    grammar = Grammar.from_json_schema(schema, number_style="any", whitespace="compact", limits=Limits(max_step_work=2_000_000))
    matcher = Matcher(grammar, Vocabulary.bytes())
    assert matcher.closing_bytes() == b'{"n":0}'
    assert matcher.accept_bytes(b'{"n":0')
    assert matcher.closing_bytes() == b"}"
    for text in (b"{", b'{"n":', b'{"n":0,"x'):
        matcher = Matcher(grammar, Vocabulary.bytes())
        assert matcher.accept_bytes(text)
        closing = matcher.closing_bytes()
        assert matcher.accept_bytes(closing) and matcher.is_complete and text + closing in (b'{"n":0}', b'{"n":0,"x":0}')


def test_closings_that_are_far_longer_than_foretold() -> None:
    """With lexing="longest" a word takes what ought to follow it, until it is full."""
    grammar = Grammar.from_lark('start: WORD "zz"\nWORD: /[a-z]{1,3000}/', lexing="longest", limits=Limits(max_step_work=2_000_000))
    assert Matcher(grammar, Vocabulary.bytes()).closing_bytes() == b"a" * 3000 + b"zz"


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ('start: A "a"\nA: /a+/', b"a"),
        ('start: A inner "a"\ninner: ("a" inner "b")?\nA: /[ab]+/', b"ab"),
        ('start: A "b"\nA: /a{1,999}b*/', b"a"),
    ],
)
def test_dead_ends_are_seen_to_be_some(text: str, begun: bytes) -> None:
    """Few states can be reached: so they are looked at, and there is no search up to the limit, which takes many seconds."""
    matcher = Matcher(Grammar.from_lark(text, lexing="longest"), Vocabulary.bytes())
    assert matcher.accept_bytes(begun)
    began = time.process_time()
    for close in (matcher.closing_bytes, matcher.closing_tokens):
        with pytest.raises(LimitExceededError, match="max_step_work"):
            close()
    assert matcher.closing_within(100) is None
    assert time.process_time() - began < 2
