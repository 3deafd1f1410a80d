"""Fragments: what a builder copies is what it would have made itself, wherever in it the copy begins."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from grammar_engine import Limits
from grammar_engine._native import NativeExpressions
from grammar_engine.fragment import Fragment
from grammar_engine.frontends.json_schema.scalars.decimals import ANY, CANONICAL, DIGITS, NORMAL, Bound, DecimalSyntax
from grammar_engine.frontends.json_schema.scalars.numbers import INTEGERS, NUMBERS, NumberPiece, _fragment, _Notation
from grammar_engine.ir import ECMA_FULL, Builder, Expr

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


def test_a_copy_is_one_expression_and_may_be_a_part_of_another() -> None:
    builder = begun()
    inner = Fragment(MADE["a choice"])
    outer = Fragment(lambda b: b.concat(b.string("<"), b.copy(inner), b.string(">"), b.copy(inner)))
    copied = builder.copy(outer)
    n_exprs = builder.n_exprs
    assert builder.copy(outer) == copied
    assert builder.n_exprs == n_exprs
    made = MADE["a choice"](builder)
    assert are_equal(builder, copied, builder.concat(builder.string("<"), made, builder.string(">"), made))


def test_a_builder_does_not_change_what_it_copies() -> None:
    fragment = Fragment(MADE["many strings"])
    words, data = list(fragment.words), fragment.data
    for _ in range(2):
        begun().copy(fragment)
    assert (fragment.words, fragment.data) == (words, data)
