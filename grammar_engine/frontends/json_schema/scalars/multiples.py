"""Multiples of a decimal step in a range, and what is no multiple of others, as regular expressions.

Idea. In plain notation the core has an operator (`Builder.multiple_of`): the multiples of some units between two bounds. With an exponent
e, a mantissa m stands for m * 10^e, which meets the conditions if and only if m meets them divided by 10^e: one expression for each
exponent from -MOST_MOVED, or from that of the step, to `MOST_FRACTION`, or to that of the upper bound. Where there is none, larger
exponents are treated together.
Write a step as 2^a 5^b r / 10^s, with r prime to 10, and the mantissa as its digits M / 10^f. If e is at least f + max(a, b) - s, all
that matters is whether r divides M; so there is one expression for each f up to `MOST_FRACTION` (the digits after the point, but for
zeros at the end). Below that it is as above: up to `MOST_FRACTION` + max(a, b) - s, unless that is more than `MOST_POWER` more. Zero may
have any exponent.

In the normal style mantissas have one nonzero digit before the point, and zero has no exponent.

What else could be written with an exponent is in no set: the sets here are *parts* of the notations of decimals.py.

Invariant. A set has only numbers that meet the conditions, and all of them, each in some spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import NamedTuple

from ....ir import ECMA_FULL, MAX_DIVISOR_DIGITS, Expr
from .decimals import ANY, EXACT, MOST_MOVED, Bound, DecimalSyntax

MOST_FRACTION = 17  # digits after the point of a mantissa with a large exponent; programs write up to 16
MOST_POWER = 64  # exponents that are treated one by one beyond these; steps of up to 19 digits need no more

_ZERO = Bound(Decimal(0), False)


def is_multiple(value: Decimal, step: Decimal) -> bool:
    """Whether `value` is an integral multiple of `step`, exactly."""
    return not EXACT.remainder(value, step)


def common_multiple(first: Fraction, second: Fraction) -> Fraction:
    """The least number that both steps divide."""
    return Fraction(lcm(first.numerator, second.numerator), gcd(first.denominator, second.denominator))


def first_multiple(low: Bound, step: Fraction) -> int:
    """The least k such that k * step is not below a bound."""
    first = ceil(Fraction(low.value) / step)
    return first + (low.open and first * step == low.value)


def last_multiple(high: Bound, step: Fraction) -> int:
    """The greatest k such that k * step is not above a bound."""
    last = floor(Fraction(high.value) / step)
    return last - (high.open and last * step == high.value)


def has_automaton(step: Decimal) -> bool:
    """Whether the core can tell the multiples of a step: it has at most `MAX_DIVISOR_DIGITS`, without zeros at the end."""
    return len(step.normalize(EXACT).as_tuple().digits) <= MAX_DIVISOR_DIGITS


class _Conditions(NamedTuple):
    """What unsigned numbers meet: 0 <= low, a step that divides them (or None), and others that do not."""

    low: Bound
    high: Bound | None
    step: Decimal | None
    others: Sequence[Decimal]

    def divided(self, exponent: int) -> _Conditions:
        """The same of numbers that are multiplied by 10^exponent afterwards."""
        if exponent == 0:
            return self
        low = Bound(self.low.value.scaleb(-exponent, EXACT), self.low.open)
        high = self.high and Bound(self.high.value.scaleb(-exponent, EXACT), self.high.open)
        step = self.step and self.step.scaleb(-exponent, EXACT)
        return _Conditions(low, high, step, [other.scaleb(-exponent, EXACT) for other in self.others])


class Multiples:
    """Builds expressions for sets of multiples.

    Parameters
    ----------
    syntax : DecimalSyntax
    has_exponents : bool
        Whether multiples are written with an exponent, too. Then the style is ANY, or NORMAL: with one nonzero digit before the point.
    """

    def __init__(self, syntax: DecimalSyntax, has_exponents: bool):
        self.syntax = syntax
        self.has_exponents = has_exponents

    def between(self, low: Bound | None, high: Bound | None, step: Decimal | None, others: Sequence[Decimal] = ()) -> Expr:
        """Numbers in a range that are multiples of `step` (None: any) and of none of `others`; a step or others are given."""

        def unsigned(low: Bound, high: Bound | None) -> Expr:
            conditions = _Conditions(low, high, step, others)
            parts = self._with_exponents(conditions) if self.has_exponents else ()
            return self.syntax.builder.union(self._plain(conditions), *parts)

        return self.syntax.signed(low, high, unsigned)

    # --- without sign ---------------------------------------------------------------------------------------------------

    def _plain(self, conditions: _Conditions) -> Expr:
        syntax = self.syntax
        low, high, step, others = conditions
        base = self._multiples(low, high, step, syntax.whole_fraction) if step else syntax.unsigned_plain(low, high)
        return self._without(base, [self._multiples(_ZERO, None, other, syntax.zero_fraction) for other in others])

    def _multiples(self, low: Bound, high: Bound | None, step: Decimal, whole_fraction: Expr) -> Expr:
        """Multiples in plain notation; integers with this fraction where the step is one."""
        b = self.syntax.builder
        divisor, exponent = _split(step)
        first = first_multiple(low, Fraction(step))
        end = None if high is None else divisor * last_multiple(high, Fraction(step))
        if exponent < 0:
            return b.multiple_of(divisor, -exponent, divisor * first, end)
        if exponent == 0:
            return b.concat(b.multiple_of(divisor, 0, divisor * first, end), whole_fraction)
        zero = b.bytes(b"0") if first == 0 else b.never
        others = b.concat(b.multiple_of(divisor, 0, divisor * max(first, 1), end), b.repeat(b.bytes(b"0"), exponent, exponent))
        return b.concat(b.union(zero, others), whole_fraction)

    def _without(self, base: Expr, excluded: Sequence[Expr]) -> Expr:
        b = self.syntax.builder
        return b.intersect(base, *map(b.complement, excluded))

    def _with_exponents(self, conditions: _Conditions) -> list[Expr]:
        syntax = self.syntax
        b = syntax.builder
        low, high, step, others = conditions
        top = MOST_FRACTION
        if high is not None:
            top = max(top, high.value.adjusted())
        else:
            power = max(_prime_to_ten(each)[1] for each in (step, *others) if each)
            top += power if 0 < power <= MOST_POWER else 0
        if high is None and low.value:
            top = max(top, low.value.adjusted() + MOST_FRACTION + 1)  # beyond it no mantissa but zero is too small
        lowest = min(
            -MOST_MOVED, *(each.adjusted() for each in (step, *others) if each)
        )  # so that each itself can be written with one digit
        exponents: dict[Expr, list[Expr]] = {}  # by mantissas
        for exponent in range(lowest, top + 1):
            exponents.setdefault(self._plain(conditions.divided(exponent)), []).append(syntax.exponents(exponent, exponent))
        if high is None:
            for mantissas, large in self._large(conditions, top + 1):
                exponents.setdefault(mantissas, []).append(large)
        is_any = syntax.style == ANY
        parts = [
            b.concat(mantissas if is_any else self._scientific(mantissas), b.union(*several)) for mantissas, several in exponents.items()
        ]
        if is_any and low == _ZERO and not others:
            parts.append(b.concat(b.bytes(b"0"), syntax.zero_fraction, syntax.exponents(None, None)))
        if step is None:  # what is less than all the others is a multiple of none, but for zero
            least = min(others)
            small = high if high is not None and high.value < least else Bound(least, True)
            if low.value < small.value:
                parts.append(syntax.unsigned(low if low.value else Bound(low.value, True), small))
        return parts

    def _scientific(self, mantissas: Expr) -> Expr:
        b = self.syntax.builder
        return b.intersect(mantissas, b.pattern(r"[1-9](?:\.[0-9]+)?", ECMA_FULL))

    def _large(self, conditions: _Conditions, lowest: int) -> list[tuple[Expr, Expr]]:
        """Mantissas and large exponents, at least `lowest`; no zero unless 0 is admitted."""
        syntax = self.syntax
        b = syntax.builder
        low, _, step, others = conditions
        prime, power = _prime_to_ten(step or Decimal(1))
        excluded = [_prime_to_ten(other) for other in others]
        if any(prime % other == 0 for other, _ in excluded):
            return []
        power = max([power, *(other for _, other in excluded)])
        parts = []
        for n_digits in range(MOST_FRACTION + 1):
            fraction = b.empty if n_digits else syntax.zero_fraction
            base = b.concat(b.multiple_of(prime, n_digits, 0 if low == _ZERO else prime), fraction)
            mantissas = self._without(base, [b.concat(b.multiple_of(other, n_digits), fraction) for other, _ in excluded])
            parts.append((mantissas, syntax.exponents(max(lowest, n_digits + power), None)))
        return parts


def _split(step: Decimal) -> tuple[int, int]:
    """A step as divisor * 10^exponent, the divisor not divisible by ten."""
    _, digits, exponent = step.normalize(EXACT).as_tuple()
    assert isinstance(exponent, int)
    return int("".join(map(str, digits))), exponent


def _prime_to_ten(step: Decimal) -> tuple[int, int]:
    """The part of a step's divisor that is prime to ten, and from which exponent on powers of ten are multiples of the rest."""
    divisor, exponent = _split(step)
    powers = 0
    for prime in (2, 5):  # one of them, since the divisor is not divisible by ten
        while divisor % prime == 0:
            divisor //= prime
            powers += 1
    return divisor, powers + exponent
