"""Multiples of decimal steps, and what is no multiple, as regular expressions.

Idea. In plain notation the core has an operator (`Builder.multiple_of`): it keeps the remainder. With an exponent e, a mantissa m stands
for m * 10^e, which is a multiple of a step if and only if m is a multiple of step / 10^e: one expression for each exponent from
-MOST_MOVED to `MOST_FRACTION`. Larger exponents are treated together. Write the step as 2^a 5^b r / 10^s, with r prime to 10, and the
mantissa as its digits M / 10^f. If e is at least f + max(a, b) - s, all that matters is whether r divides M; so there is one expression
for each f up to `MOST_FRACTION` (the digits after the point, but for zeros at the end). Zero may have any exponent.

What else could be written with an exponent is in neither set: the sets here are *parts* of the notations of decimals.py, and disjoint.

Invariant. `multiples` has only multiples, `others` none, and both have every number, each in some spelling.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

from ...ir import Expr
from .decimals import ANY, EXACT, MOST_MOVED, Bound, DecimalSyntax

MAX_DIVISOR = 2**31 - 1  # of a step, powers of ten taken out
SMALL_DIVISOR = 20_000  # of one that is cheap to intersect with others: the automaton has so many states
MAX_SCALE = 380  # digits after the point of a step
MOST_FRACTION = 17  # digits after the point of a mantissa with a large exponent; programs write up to 16


def is_multiple(value: Decimal, step: Decimal) -> bool:
    """Whether `value` is an integral multiple of `step`, exactly."""
    return (Fraction(value) / Fraction(step)).denominator == 1


def common_multiple(first: Fraction, second: Fraction) -> Fraction:
    """The least number that both steps divide."""
    return Fraction(lcm(first.numerator, second.numerator), gcd(first.denominator, second.denominator))


def has_automaton(step: Decimal, largest: int = MAX_DIVISOR) -> bool:
    """Whether there is an automaton for the multiples of a step, or one with a divisor up to `largest`."""
    divisor, exponent = _split(step)
    return divisor <= largest and exponent >= -MAX_SCALE


class Multiples:
    """Builds expressions for the multiples of steps that are small.

    Parameters
    ----------
    syntax : DecimalSyntax
        Its style says whether multiples are written with an exponent.
    """

    def __init__(self, syntax: DecimalSyntax):
        self.syntax = syntax
        self.has_exponents = syntax.style == ANY and syntax.integer_fraction

    def multiples(self, step: Decimal) -> Expr:
        """Numbers that are multiples of `step`."""
        return self._signed(self._plain(step), *self._with_exponents(step, False))

    def others(self, step: Decimal) -> Expr:
        """Numbers that are no multiples of `step`."""
        syntax = self.syntax
        b = syntax.builder
        any_plain = b.concat(syntax.any_whole, syntax.any_fraction)
        plain = b.intersect(any_plain, b.complement(self._plain(step)))
        if not self.has_exponents:
            return self._signed(plain)
        small = syntax.range(Bound(Decimal(0), True), Bound(step, True))
        return self._signed(plain, small, *self._with_exponents(step, True))

    def _signed(self, *unsigned: Expr) -> Expr:
        b = self.syntax.builder
        return b.concat(self.syntax.optional_minus, b.union(*unsigned))

    def _plain(self, step: Decimal) -> Expr:
        syntax = self.syntax
        b = syntax.builder
        divisor, exponent = _split(step)
        if exponent <= 0:
            return b.multiple_of(divisor, -exponent)
        head = b.intersect(b.multiple_of(divisor, 0), b.repeat(syntax.digit, 1, None))
        tail = b.repeat(b.bytes(b"0"), exponent, exponent)
        return b.concat(b.union(b.bytes(b"0"), b.concat(head, tail)), syntax.zero_fraction)

    def _with_exponents(self, step: Decimal, negated: bool) -> list[Expr]:
        """Mantissas with exponents that make multiples, or those that make none."""
        if not self.has_exponents:
            return []
        syntax = self.syntax
        b = syntax.builder
        mantissas = b.concat(syntax.any_whole, syntax.any_fraction)

        def side(multiples: Expr) -> Expr:
            return b.intersect(mantissas, b.complement(multiples) if negated else multiples)

        parts = [] if negated else [b.concat(b.bytes(b"0"), syntax.zero_fraction, syntax.exponents(None, None))]
        for exponent in range(-MOST_MOVED, MOST_FRACTION + 1):
            multiples = self._plain(step.scaleb(-exponent, EXACT))
            parts.append(b.concat(side(multiples), syntax.exponents(exponent, exponent)))
        prime, places = _prime_to_ten(step)
        for n_digits in range(MOST_FRACTION + 1):
            fraction = (
                b.optional(b.concat(syntax.point, b.repeat(syntax.digit, n_digits, n_digits), syntax.zeros))
                if n_digits
                else syntax.zero_fraction
            )
            large = b.intersect(side(b.multiple_of(prime, MOST_FRACTION)), b.concat(syntax.any_whole, fraction))
            parts.append(b.concat(large, syntax.exponents(max(n_digits + places, MOST_FRACTION + 1), None)))
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
