"""Fragments: what a builder copies is what it would have made itself,
wherever in it the copy begins; and which sets of numbers are kept as such."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from grammar_engine import Grammar, Limits
from grammar_engine._native import NativeExpressions
from grammar_engine.fragment import Fragment
from grammar_engine.frontends.json_schema.scalars import numbers
from grammar_engine.frontends.json_schema.scalars.decimals import ANY, CANONICAL, DIGITS, NORMAL, Bound, DecimalSyntax
from grammar_engine.frontends.json_schema.scalars.numbers import INTEGERS, NUMBERS, NumberPiece, _fragment, _Notation
from grammar_engine.ir import ECMA_FULL, OP_BYTES, OP_CHARS, OP_CONCAT, Builder, Expr, records_of

from .engine import accepts

HUNDREDTHS = frozenset((Decimal("0.01"),))
PIECES = {
    "numbers": NUMBERS,
    "integers": INTEGERS,
    "from a number on": NumberPiece(low=Bound(Decimal("-2.5"), True)),
    "in a range": NumberPiece(Bound(Decimal(3), False), Bound(Decimal("1234.5"), False)),
    "integers in a range": NumberPiece(Bound(Decimal(3), False), Bound(Decimal("1234.5"), False), INTEGERS.steps),
    "hundredths up to a number": NumberPiece(high=Bound(Decimal(77), True), steps=HUNDREDTHS),
}
MADE: dict[str, Callable[[Builder], Expr]] = {
    "nothing": lambda b: b.never,
    "all texts": lambda b: b.text,
    "bytes": lambda b: b.bytes(b"abc"),
    "a set of bytes": lambda b: b.byte_set(b"xyz"),
    "characters": lambda b: b.chars([(0x41, 0x5A), (0x391, 0x3A9)]),
    "a sequence": lambda b: b.concat(b.bytes(b"a"), b.text, b.bytes(b"bc"), b.bytes(b"a")),
    "a choice": lambda b: b.union(b.bytes(b"a"), b.string("\u00e9"), b.empty),
    "what texts have in common": lambda b: b.minus(b.text, b.pattern("[a-c]+x", ECMA_FULL)),
    "a repetition": lambda b: b.repeat(b.char, 2, 5),
    "a string of JSON": lambda b: b.json(b.repeat(b.string("\u00e9\n"), 1, 3)),
    "many strings": lambda b: b.literals([b"one", b"two", b"three"]),
    "multiples": lambda b: b.multiple_of(7, 2, 14, 900),
    "others": lambda b: b.concat(b.punycode(), b.host_name(all_dots=True), b.syntax()),
}


def are_equal(builder: Builder, first: Expr, second: Expr) -> bool:
    native = NativeExpressions(builder, Limits())
    pairs = ((first, second), (second, first))
    return all(native.is_empty(builder.intersect(a, builder.complement(b))) for a, b in pairs)


def begun() -> Builder:
    """A builder that has expressions and strings of its own."""
    builder = Builder()
    builder.concat(builder.string("before"), builder.char)
    return builder


@pytest.mark.parametrize("style", [CANONICAL, ANY, NORMAL, DIGITS])
@pytest.mark.parametrize("name", PIECES)
def test_copied_numbers_are_those_that_would_be_made(name: str, style: str) -> None:
    piece = PIECES[name]
    notation = _Notation(style, has_exponents=style == ANY, is_normal=style == NORMAL)
    step = next(iter(piece.steps), None)
    builder = begun()
    copied = builder.copy(_fragment(piece, notation, step))
    made = piece._described(DecimalSyntax(builder, style), notation, step)
    assert copied != made
    assert are_equal(builder, copied, made)
    assert not are_equal(builder, copied, builder.union(made, builder.string("-0.000e-0000000000000000000000000000001x")))


@pytest.mark.parametrize("name", MADE)
def test_copies_of_all_that_records_are_made_of(name: str) -> None:
    make = MADE[name]
    builder = begun()
    copied = builder.copy(Fragment(make))
    assert are_equal(builder, copied, make(builder))
    assert are_equal(builder, builder.concat(copied, builder.char), builder.concat(make(builder), builder.char))


def test_copies_are_new() -> None:
    builder = begun()
    fragment = Fragment(MADE["a choice"])
    copied, again = builder.copy(fragment), builder.copy(fragment)
    made = MADE["a choice"](builder)
    assert copied != again
    assert are_equal(builder, copied, made)
    assert are_equal(builder, again, made)


def test_no_fragment_is_in_another() -> None:
    with pytest.raises(ValueError, match="a fragment in a fragment"):
        Fragment(lambda b: b.optional(b.copy(Fragment(MADE["a choice"]))))


def test_what_an_expression_is_not_made_of_is_left_out() -> None:
    def make(builder: Builder) -> Expr:
        left_out = builder.concat(builder.bytes(b"not this"), builder.char)
        builder.repeat(left_out, 3, 7)
        return builder.concat(builder.bytes(b"but this"), builder.char)

    fragment = Fragment(make)
    (record,) = records_of(fragment.words)
    n_data = -(-record[1][0] // 4)
    assert [op for op, _ in records_of(record[1][1 + n_data :])] == [OP_CHARS, OP_BYTES, OP_CONCAT]
    builder = begun()
    assert are_equal(builder, builder.copy(fragment), make(builder))


def test_a_builder_does_not_change_what_it_copies() -> None:
    fragment = Fragment(MADE["many strings"])
    words = fragment.words[:]
    for _ in range(2):
        builder = begun()
        are_equal(builder, builder.copy(fragment), builder.text)
    assert fragment.words == words


# --- which are kept ---------------------------------------------------------------------------------------------------------


def made_by(schema: dict[str, Any], **options: Any) -> int:
    """How many sets of numbers a grammar made that were not there."""
    before = _fragment.cache_info().misses
    Grammar.from_json_schema(schema, **options)
    return _fragment.cache_info().misses - before


def test_sets_are_made_once_for_all_grammars() -> None:
    _fragment.cache_clear()
    bounds = {"type": "integer", "minimum": 17}
    assert made_by(bounds, number_style="any") == 1
    assert made_by({"items": bounds, "type": "array"}, number_style="any") == 0
    assert made_by({"type": "integer"}) == 1
    assert made_by({"properties": {"a": {"type": "integer"}, "b": {"type": ["integer", "null"]}}, "required": ["a"]}) == 1  # numbers


@pytest.mark.parametrize(
    ("schema", "style"),
    [
        ({"minimum": 12345}, "any"),
        ({"type": "integer", "maximum": 0.125}, "any"),
        ({"multipleOf": 10**40}, "any"),
        ({"not": {"anyOf": [{"multipleOf": prime} for prime in (3, 5, 7, 11, 13)]}}, "any"),
        ({"minimum": 17}, "canonical"),
    ],
)
def test_what_is_rare_or_cheap_is_made_each_time(schema: dict[str, Any], style: str) -> None:
    _fragment.cache_clear()
    made_by({"type": "number", **schema}, number_style=style)
    assert _fragment.cache_info().currsize == 0


def test_no_more_than_some_are_kept() -> None:
    most = _fragment.cache_info().maxsize
    assert most is not None
    _fragment.cache_clear()
    ranges = [{"type": "integer", "minimum": 3 * i, "maximum": 3 * i + 1} for i in range(most + 9)]
    assert made_by({"anyOf": ranges}, number_style="any") == most + 9
    assert _fragment.cache_info().currsize == most


def test_a_grammar_has_one_copy_of_each_set_whatever_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that equal sources are equal bytes, also where other threads made the same set, or have displaced it."""
    bounded = {"minimum": 17, "maximum": 1234}
    kinds: list[Any] = ["integer", ["integer", "null"], ["integer", "boolean"]]
    schema = {"properties": {f"p{i}": {"type": kind, **bounded} for i, kind in enumerate(kinds)}}
    expected = Grammar.from_json_schema(schema, number_style="any").to_bytes()
    monkeypatch.setattr(numbers, "_fragment", _fragment.__wrapped__)
    assert Grammar.from_json_schema(schema, number_style="any").to_bytes() == expected


def test_sets_in_which_numbers_must_differ_are_others() -> None:
    """Each number is written in one way where items must differ, and in any way elsewhere, in one grammar."""
    schema = {
        "properties": {"some": {"type": "array", "items": {"type": "number"}, "uniqueItems": True}, "one": {"type": "number"}},
        "additionalProperties": False,
    }
    grammar = Grammar.from_json_schema(schema, number_style="any")
    assert accepts(grammar, '{"one": 10e-1}')
    assert accepts(grammar, '{"some": [1, 2e0]}')
    assert not accepts(grammar, '{"some": [1, 10e-1]}')
