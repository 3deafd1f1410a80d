"""What grammars begin with: one that begins with what the core has read before says the same as one of which it reads all."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarEngineError, LimitExceededError, Limits, Matcher, Vocabulary, _native
from grammar_engine.fragment import Fragment
from grammar_engine.frontends.json_schema.emitting import layout
from grammar_engine.frontends.json_schema.scalars.decimals import ANY, Bound
from grammar_engine.frontends.json_schema.scalars.numbers import INTEGERS, NUMBERS, NumberPiece, _fragment, _Notation
from grammar_engine.ir import ESCAPES_MINIMAL, Builder

TOKENS = [*(bytes((byte,)) for byte in range(256)), b'": ', b'"}', b"1e", b"00", b".5", b"null", b", ", b'{"']
VOCABULARY = Vocabulary(TOKENS, eos=[])
SCHEMAS: dict[str, Any] = {
    "anything": True,
    "a text": {"type": "string"},
    "a number": {"type": "number"},
    "integers and numbers": {
        "properties": {"i": {"type": "integer"}, "n": {"type": "number"}, "j": {"type": "integer"}},
        "required": ["i"],
    },
    "numbers from a bound on": {"items": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number", "minimum": 0}]}},
    "a pattern before numbers": {"patternProperties": {"^a": {"type": "integer"}, "b$": {"type": "number"}}, "additionalProperties": False},
    "numbers that differ": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    "formats": {
        "properties": {"d": {"format": "date-time"}, "u": {"format": "uri"}, "h": {"not": {"format": "hostname"}, "type": "string"}}
    },
    "a format beside a pattern": {"type": "string", "pattern": "^[0-9a-f]", "format": "uuid"},
    "no texts": {"type": ["null", "array"], "items": {"type": "null"}},
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"number_style": "any"},
    {"number_style": "any", "whitespace": "bounded", "property_order": "any"},
    {"whitespace": "compact", "escapes": "all"},
    {"whitespace": (", ", ": "), "unique_keys": True},
    {"whitespace": "[ ]?", "escapes": "all"},
]


def masks(grammar: Grammar, seed: int) -> Iterator[bytes]:
    """Masks along a random text of the grammar."""
    rng, matcher = random.Random(seed), Matcher(grammar, VOCABULARY)
    for _ in range(40):
        yield matcher.mask()
        allowed = matcher.allowed_tokens()
        if not allowed:
            break
        assert matcher.accept(rng.choice(allowed))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_are_those_of_grammars_that_are_read_as_a_whole(name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Grammar.from_json_schema(SCHEMAS[name], **options)
    monkeypatch.setattr(_native, "_beginning", lambda *_: None)
    read = Grammar.from_json_schema(SCHEMAS[name], **options)
    assert begun.to_bytes() == read.to_bytes()
    for seed in range(8):
        assert list(masks(begun, seed)) == list(masks(read, seed))


def test_grammars_do_begin_with_what_was_read() -> None:
    _native._beginning.cache_clear()
    for schema in (
        SCHEMAS["integers and numbers"],
        SCHEMAS["a number"],
        SCHEMAS["integers and numbers"],
        {"type": "string"},
        {"type": "null"},
    ):
        Grammar.from_json_schema(schema, number_style="any")
    assert _native._beginning.cache_info()[:2] == (2, 3)  # hits, misses


def test_rare_numbers_make_no_beginning_of_their_own() -> None:
    _native._beginning.cache_clear()
    for i in range(5):
        Grammar.from_json_schema({"type": "integer", "minimum": 17 + i}, number_style="any")
    assert _native._beginning.cache_info().misses == 1


@pytest.mark.parametrize(
    ("piece", "is_common"),
    [
        (NUMBERS, True),
        (INTEGERS, True),
        (NumberPiece(Bound(Decimal(0), False)), True),
        (NumberPiece(Bound(Decimal(1), False), steps=INTEGERS.steps), True),
        (NumberPiece(Bound(Decimal(0), True)), False),
        (NumberPiece(Bound(Decimal(0), False), Bound(Decimal(9), False)), False),
        (NumberPiece(steps=frozenset((Decimal(2),))), False),
    ],
)
def test_which_numbers_are_kept_for_the_core(piece: NumberPiece, is_common: bool) -> None:
    step = next(iter(piece.steps), None)
    assert _fragment(piece, _Notation(ANY, has_exponents=True, is_normal=False), step).is_common is is_common


@pytest.mark.parametrize(
    "limits", [Limits(max_regex_nesting=1), Limits(max_expressions=20), Limits(max_expressions=60), Limits(max_memory_bytes=20_000)]
)
def test_limits_are_met_as_without_a_beginning(limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome() -> str:
        try:
            return Grammar.from_json_schema(SCHEMAS["integers and numbers"], number_style="any", limits=limits).to_bytes().hex()
        except LimitExceededError as error:
            return str(error)

    begun = outcome()
    monkeypatch.setattr(_native, "_beginning", lambda *_: None)
    assert outcome() == begun


def test_a_builder_does_not_change_what_it_began_with() -> None:
    first = Builder()
    punctuation = layout.Layout.begin(first, "flexible", ESCAPES_MINIMAL)
    known = layout._begun("flexible", ESCAPES_MINIMAL).builder
    before = known.n_exprs, known.words[:], bytes(known.data), known.lexemes[:], known.lexeme_records[:]
    punctuation.key(first.bytes(b'"a"'))
    first.lexeme(first.copy(Fragment(lambda b: b.optional(b.bytes(b"x")))), "x")
    assert (known.n_exprs, known.words, bytes(known.data), known.lexemes, known.lexeme_records) == before
    second = Builder()
    layout.Layout.begin(second, "flexible", ESCAPES_MINIMAL)
    assert (second.n_exprs, second.words, second.data, second.lexemes) == (known.n_exprs, known.words, known.data, known.lexemes)


def test_pairs_of_separators_may_be_lists() -> None:
    listed: Any = [", ", ": "]
    pair = Grammar.from_json_schema(True, whitespace=(", ", ": ")).to_bytes()
    assert Grammar.from_json_schema(True, whitespace=listed).to_bytes() == pair


def test_many_threads_begin_with_the_same() -> None:
    _native._beginning.cache_clear()
    layout._begun.cache_clear()
    text = json.dumps(SCHEMAS["integers and numbers"])
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: Grammar.from_json_schema(text, number_style="any"), range(64)))
    assert len({grammar.to_bytes() for grammar in made}) == 1
    expected = list(masks(made[0], 3))
    assert all(list(masks(grammar, 3)) == expected for grammar in made[1:8])


def test_what_cannot_be_kept_is_told_by_the_grammar_itself() -> None:
    with pytest.raises(GrammarEngineError) as caught:
        Grammar.from_json_schema({"properties": {"a": {"type": "string"}}}, limits=Limits(max_expressions=4))
    assert isinstance(caught.value, LimitExceededError)
    assert caught.value.limit == "max_expressions"
