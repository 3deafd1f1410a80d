"""Decimal ranges against a decimal oracle: every spelling is in the range exactly when its value is."""

from __future__ import annotations

import random
import re
from decimal import Decimal

import pytest

from grammar_engine.frontends.json_schema.decimals import Bound, DecimalSyntax
from grammar_engine.ir import Builder
from oracle import expr as oracle

BOUNDS = [Decimal(x) for x in "0 1 -1 7 9 10 19 20 99 100 -100 250 0.5 1.25 -1.25 0.09 9.99 10.01 -0.001 12.34 0.1 199.99 3 5".split()]


def spellings(rng: random.Random, near: Decimal) -> list[str]:
    """Numbers in all notations, many of them close to `near`."""
    texts = ["0", "-0", "0.0", "-0.00", "1", "10", "100", "9.999", "-1", "0.5", "1e0", "1.0e+01", "-2.5E-3", "1e-400", "01", "1.", ".5", ""]
    for _ in range(40):
        digits = len(str(abs(int(near))))
        value = rng.choice(
            [near, near + Decimal(rng.randint(-20, 20)) / 10 ** rng.randint(0, 4), Decimal(rng.randint(-(10**digits), 10**digits))]
        )
        plain = format(value, "f")
        texts += [plain, plain + ("0" * rng.randint(1, 2) if "." in plain else ".0"), plain + ("" if "." in plain else ".00")]
        if value:
            exponent = value.adjusted()
            mantissa = format(value.scaleb(-exponent), "f")
            sign = rng.choice(["", "+", "+0"]) if exponent >= 0 else rng.choice(["-", "-0"])
            texts.append(f"{mantissa}{rng.choice('eE')}{sign}{abs(exponent)}")
    return texts


def is_number(text: str) -> bool:
    return re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", text) is not None


def is_normal(text: str) -> bool:
    """Plain, or one nonzero digit before the point and an exponent."""
    return is_number(text) and ("e" not in text.lower() or re.match(r"-?[1-9](\.|[eE])", text) is not None)


def inside(value: Decimal, low: Bound | None, high: Bound | None) -> bool:
    if low is not None and (value < low.value or (low.open and value == low.value)):
        return False
    return not (high is not None and (value > high.value or (high.open and value == high.value)))


@pytest.mark.parametrize("seed", range(30))
def test_ranges(seed: int) -> None:
    rng = random.Random(seed)
    low = Bound(rng.choice(BOUNDS), rng.random() < 0.5) if rng.random() < 0.8 else None
    high = Bound(rng.choice(BOUNDS), rng.random() < 0.5) if rng.random() < 0.8 else None
    if low and high and (low.value > high.value or (low.value == high.value and (low.open or high.open))):
        low, high = high, low
        if low.value == high.value:
            low = high = Bound(low.value, False)
    builder = Builder()
    syntax = DecimalSyntax(builder, integer_fraction=True)
    expr, plain, whole = syntax.range(low, high), syntax.plain_range(low, high), syntax.integers(low, high)
    known = oracle.read(builder)
    for text in spellings(rng, rng.choice([b.value for b in (low, high) if b] or [Decimal(3)])):
        expected = is_normal(text) and inside(Decimal(text), low, high)
        has_exponent = "e" in text.lower()
        assert oracle.contains(known[expr], text.encode()) == expected, (low, high, text)
        assert oracle.contains(known[plain], text.encode()) == (expected and not has_exponent), (low, high, text)
        if not has_exponent:
            integral = expected and Decimal(text) == Decimal(text).to_integral_value()
            assert oracle.contains(known[whole], text.encode()) == integral, (low, high, text)


@pytest.mark.parametrize(
    ("low", "high", "accepted", "refused"),
    [
        (None, "9007199254740993", ["9007199254740993", "9.007199254740993e15", "-1e+300"], ["9007199254740994", "9.007199254740994e15"]),
        ("1e22", None, ["10000000000000000000000", "1e+22", "1.5e22"], ["9999999999999999999999", "9.9e21"]),
        ("0.1", "0.1", ["0.1", "0.100", "1e-1", "1.00E-01"], ["0.10000000000000001", "0.099999999999999999"]),
        ("1e-7", "1e300", ["1e-07", "0.0000001", "1" + "0" * 300], ["9e-08", "1" + "0" * 299 + "1", "1.0000001e300"]),
    ],
)
def test_magnitudes(low: str | None, high: str | None, accepted: list[str], refused: list[str]) -> None:
    builder = Builder()
    ends = [None if end is None else Bound(Decimal(end), False) for end in (low, high)]
    expr = DecimalSyntax(builder, integer_fraction=True).range(*ends)
    known = oracle.read(builder)[expr]
    for text in accepted:
        assert oracle.contains(known, text.encode()), text
    for text in refused:
        assert not oracle.contains(known, text.encode()), text


def test_large_integers() -> None:
    """Programs write large floats with an exponent: from 10^16 on an integer may look so."""
    builder = Builder()
    syntax = DecimalSyntax(builder, integer_fraction=True)
    expr, bounded = syntax.any_integer(), syntax.integers(None, Bound(Decimal(10) ** 20, False))
    known = oracle.read(builder)
    for text in ["1e+22", "-1.2345678901234568e+16", "12", "5.0", "0", "-0"]:
        assert oracle.contains(known[expr], text.encode()), text
    for text in ["1e-7", "1.5e15", "1.5", "05", "1e5"]:
        assert not oracle.contains(known[expr], text.encode()), text
    assert oracle.contains(known[bounded], b"1e+20")
    assert not oracle.contains(known[bounded], b"1.1e+20")


def test_draft_4_integers_have_no_fraction() -> None:
    builder = Builder()
    expr = DecimalSyntax(builder, integer_fraction=False).any_integer()
    known = oracle.read(builder)[expr]
    assert oracle.contains(known, b"5")
    assert not oracle.contains(known, b"5.0")


@pytest.mark.parametrize("value", ["0", "1", "-3", "2.5", "-0.25", "1e22", "1e-7", "123456789.125"])
def test_points(value: str) -> None:
    builder = Builder()
    number = Decimal(value)
    expr = DecimalSyntax(builder, integer_fraction=True).points([number])
    known = oracle.read(builder)[expr]
    for text in spellings(random.Random(value), number):
        if "e" in text.lower() and -5 < number.adjusted() < 16:
            assert not oracle.contains(known, text.encode())
        else:
            assert oracle.contains(known, text.encode()) == (is_normal(text) and Decimal(text) == number), text


@pytest.mark.parametrize("step", ["1", "2", "0.01", "7", "2.5", "1e10", "1e-8", "100000000000"])
def test_multiples(step: str) -> None:
    builder = Builder()
    syntax = DecimalSyntax(builder, integer_fraction=True)
    multiples = syntax.multiples(Decimal(step))
    assert multiples is not None
    expr = builder.intersect(syntax.plain_range(None, None), multiples)
    known = oracle.read(builder)[expr]
    rng = random.Random(step)
    for _ in range(60):
        value = Decimal(step) * rng.randint(-300, 300) + rng.choice([0, 0, Decimal(step) / 2, Decimal("0.001"), 1])
        for text in (format(value, "f"), format(value, "f") + ("0" if "." in format(value, "f") else ".0")):
            assert oracle.contains(known, text.encode()) == (value % Decimal(step) == 0), text


def test_steps_beyond_the_core() -> None:
    assert DecimalSyntax(Builder(), integer_fraction=True).multiples(Decimal(2**31 + 1)) is None
