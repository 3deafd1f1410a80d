"""Ranges of decimal numbers as regular expressions over their digits.

Idea. Whether a digit string lies in a range is decided by its length and by the first digit that differs from the bound. So the
strings of n digits that are at least `s` are `s` itself, or for some i: s[:i], a greater digit than s[i], and n - i - 1 digits of any
kind. Each such expression is *flat* (a union of short sequences), since its size is then in proportion to the number of digits but its
nesting is constant. Fractions work the same way, but their length is free: trailing zeros change nothing.

    at most 250 = [0-9] | [1-9][0-9] | 1[0-9][0-9] | 2[0-4][0-9] | 250        at most 1.25 = 0(.d*)? | 1(.[01]d* | .2 | .2[0-4]d* | .250*)?

Numbers in scientific notation are compared by exponent first and by mantissa second; the mantissa has one digit, not zero, before the
point. That is how programs write large and small numbers, and it makes the comparison regular.

Invariant. Every expression here is closed under value: with a number it contains all spellings of it in the same notation. Bounds are
of any magnitude and precision up to `MAX_DIGITS`, and no float is ever involved.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from typing import NamedTuple

from ...ir import Builder, Expr

MAX_DIGITS = 1_000  # of a number in a schema, written without exponent
MAX_DIVISOR = 20_000  # of a step, powers of ten taken out: the automaton has so many states
MAX_SCALE = 400  # digits after the point of a step

_ZERO, _TEN = Decimal(0), Decimal(10)
_EXACT = Context(prec=4 * MAX_DIGITS, Emax=999_999, Emin=-999_999)


class Bound(NamedTuple):
    """An end of a range; `open` when the end itself is outside."""

    value: Decimal
    open: bool


class DecimalSyntax:
    """Builds expressions for sets of numbers.

    Parameters
    ----------
    builder : Builder
    integer_fraction : bool
        Whether an integer may be written with a fraction of zeros, `5.0` (all drafts since 6).
    """

    def __init__(self, builder: Builder, integer_fraction: bool):
        b = self.builder = builder
        self.integer_fraction = integer_fraction
        self.digit = b.byte_set(b"0123456789")
        self.positive_digit = b.byte_set(b"123456789")
        self.digits = b.repeat(self.digit, 0, None)
        self.zeros = b.repeat(b.bytes(b"0"), 0, None)
        self.point = b.bytes(b".")
        self.minus = b.bytes(b"-")
        self.any_fraction = b.optional(b.concat(self.point, b.repeat(self.digit, 1, None)))
        self.zero_fraction = b.optional(b.concat(self.point, b.repeat(b.bytes(b"0"), 1, None)))
        self.whole_fraction = self.zero_fraction if integer_fraction else b.empty
        self.any_whole = b.union(b.bytes(b"0"), b.concat(self.positive_digit, self.digits))

    def any_number(self) -> Expr:
        """The number syntax of RFC 8259, all of it."""
        b = self.builder
        exponent = b.concat(b.byte_set(b"eE"), b.optional(b.byte_set(b"+-")), b.repeat(self.digit, 1, None))
        return b.concat(b.optional(self.minus), self.any_whole, self.any_fraction, b.optional(exponent))

    def any_integer(self) -> Expr:
        """Integers: plain digits, and scientific notation of at least 17 digits (as programs write large floats)."""
        b = self.builder
        plain = b.concat(self.any_whole, self.whole_fraction)
        large = self._large_integer() if self.integer_fraction else b.never
        return b.concat(b.optional(self.minus), b.union(plain, large))

    def plain_range(self, low: Bound | None, high: Bound | None) -> Expr:
        """Numbers without exponent between two bounds, both signs."""
        return self._signed(low, high, self._plain)

    def range(self, low: Bound | None, high: Bound | None) -> Expr:
        """Numbers with or without exponent between two bounds, both signs."""
        b = self.builder
        return self._signed(low, high, lambda a, z: b.union(self._plain(a, z), self._scientific(a, z)))

    def plain_integers(self, low: Bound | None, high: Bound | None) -> Expr:
        """Integers without exponent between two bounds, both signs."""
        return self._signed(low, high, self._whole)

    def integers(self, low: Bound | None, high: Bound | None) -> Expr:
        """Integers between two bounds, both signs."""
        return self._signed(low, high, self._whole_or_large)

    def points(self, values: list[Decimal]) -> Expr:
        """The spellings of some numbers."""
        b = self.builder
        whole: list[bytes] = []
        parts: list[Expr] = []
        fractions: list[bytes] = []
        for value in values:
            text = format(value, "f")
            integer, _, fraction = text.partition(".")
            fraction = fraction.rstrip("0")
            if fraction:
                fractions.append(f"{integer}.{fraction}".encode())
            else:
                whole.append(integer.encode())
                if not value:
                    whole += (b"0", b"-0")
            if value and not -5 < value.adjusted() < 16 and (fraction or self.integer_fraction):
                bound = Bound(value.copy_abs(), False)
                scientific = self._scientific(bound, bound)
                parts.append(b.concat(self.minus, scientific) if value < 0 else scientific)
        if whole:
            parts.append(b.concat(b.literals(whole), self.whole_fraction))
        if fractions:
            parts.append(b.concat(b.literals(fractions), self.zeros))
        return b.union(*parts)

    def multiples(self, step: Decimal) -> Expr | None:
        """Numbers without exponent that are multiples of `step`; None where the step has too many digits."""
        b = self.builder
        _, digits, exponent = step.normalize(_EXACT).as_tuple()
        divisor = int("".join(map(str, digits)))
        assert isinstance(exponent, int)
        if divisor > MAX_DIVISOR or exponent < -MAX_SCALE:
            return None
        if exponent <= 0:
            unsigned = b.multiple_of(divisor, -exponent)
        else:
            head = b.intersect(b.multiple_of(divisor, 0), b.repeat(self.digit, 1, None))
            tail = b.repeat(b.bytes(b"0"), exponent, exponent)
            unsigned = b.concat(b.union(b.bytes(b"0"), b.concat(head, tail)), self.zero_fraction)
        return b.concat(b.optional(self.minus), unsigned)

    # --- signs ----------------------------------------------------------------------------------------------------------

    def _signed(self, low: Bound | None, high: Bound | None, unsigned: Callable[[Bound, Bound | None], Expr]) -> Expr:
        b = self.builder
        zero = Bound(_ZERO, False)
        if low is None and high is None:
            return b.concat(b.optional(self.minus), unsigned(zero, None))
        parts = []
        if high is None or high.value > 0 or high == zero:
            parts.append(unsigned(low if low is not None and low.value >= 0 else zero, high))
        if low is None or low.value < 0 or low == zero:
            nearest = _mirror(high) if high is not None and high.value <= 0 else zero
            farthest = _mirror(low) if low is not None else None
            parts.append(b.concat(self.minus, unsigned(nearest, farthest)))
        return b.union(*parts)

    # --- notations, without sign; 0 <= low ------------------------------------------------------------------------------

    def _plain(self, low: Bound, high: Bound | None) -> Expr:
        b = self.builder
        low_whole, low_fraction = _split(low.value)
        if high is None:
            if not low_fraction and not low.open:
                return b.concat(self.whole_numbers(low_whole, None), self.any_fraction)
            first = b.concat(_literal(b, low_whole), self._fraction_at_least(low_fraction, low.open))
            return b.union(first, b.concat(self.whole_numbers(low_whole + 1, None), self.any_fraction))
        high_whole, high_fraction = _split(high.value)
        if low_whole == high_whole:
            fraction = b.intersect(self._fraction_at_least(low_fraction, low.open), self._fraction_at_most(high_fraction, high.open))
            return b.concat(_literal(b, low_whole), fraction)
        first_free = low_whole
        parts = []
        if low_fraction or low.open:
            parts.append(b.concat(_literal(b, low_whole), self._fraction_at_least(low_fraction, low.open)))
            first_free += 1
        if first_free < high_whole:
            parts.append(b.concat(self.whole_numbers(first_free, high_whole - 1), self.any_fraction))
        parts.append(b.concat(_literal(b, high_whole), self._fraction_at_most(high_fraction, high.open)))
        return b.union(*parts)

    def _whole(self, low: Bound, high: Bound | None) -> Expr:
        bottom, fraction = _split(low.value)
        bottom += 1 if fraction or low.open else 0
        top = None
        if high is not None:
            top, fraction = _split(high.value)
            top -= 1 if high.open and not fraction else 0
            if top < bottom:
                return self.builder.never
        return self.builder.concat(self.whole_numbers(bottom, top), self.whole_fraction)

    def _whole_or_large(self, low: Bound, high: Bound | None) -> Expr:
        b = self.builder
        plain = self._whole(low, high)
        if not self.integer_fraction or (high is not None and high.value < _SMALLEST_LARGE):
            return plain
        large = self._large_integer()
        if high is not None or low.value > _SMALLEST_LARGE or (low.value == _SMALLEST_LARGE and low.open):
            large = b.intersect(large, self._scientific(low, high))
        return b.union(plain, large)

    def _large_integer(self) -> Expr:
        """Scientific notation whose exponent is at least 16 and whose mantissa has at most 16 digits after the point."""
        b = self.builder
        fraction = b.optional(b.concat(self.point, b.repeat(self.digit, 1, 16)))
        exponent = b.concat(b.byte_set(b"eE"), b.optional(b.bytes(b"+")), self.whole_numbers(16, 9999))
        return b.concat(self.positive_digit, fraction, exponent)

    def _scientific(self, low: Bound, high: Bound | None) -> Expr:
        b = self.builder
        top_mantissa = Bound(_TEN, True)
        any_mantissa = b.concat(self.positive_digit, self.any_fraction)
        parts = []
        first, last = None, None  # exponents between these, exclusive, go with any mantissa
        low_mantissa = Bound(Decimal(1), False)
        if low.value:
            first = low.value.adjusted()
            low_mantissa = Bound(low.value.scaleb(-first, _EXACT), low.open)
        if high is not None:
            if not high.value:
                return b.never
            last = high.value.adjusted()
            high_mantissa = Bound(high.value.scaleb(-last, _EXACT), high.open)
            if first == last:
                return b.concat(self._plain(low_mantissa, high_mantissa), self._exponents(last, last))
            parts.append(b.concat(self._plain(Bound(Decimal(1), False), high_mantissa), self._exponents(last, last)))
        if first is not None:
            parts.append(b.concat(self._plain(low_mantissa, top_mantissa), self._exponents(first, first)))
        bottom = None if first is None else first + 1
        top = None if last is None else last - 1
        if bottom is None or top is None or bottom <= top:
            parts.append(b.concat(any_mantissa, self._exponents(bottom, top)))
        return b.union(*parts)

    def _exponents(self, low: int | None, high: int | None) -> Expr:
        b = self.builder
        parts = []
        if high is None or high >= 0:
            whole = self.whole_numbers(max(low or 0, 0), high)
            parts.append(b.concat(b.optional(b.bytes(b"+")), self.zeros, whole))
        if low is None or low <= 0:
            whole = self.whole_numbers(0 if high is None else max(-high, 0), None if low is None else -low)
            parts.append(b.concat(self.minus, self.zeros, whole))
        return b.concat(b.byte_set(b"eE"), b.union(*parts))

    # --- digits -----------------------------------------------------------------------------------------------------------

    def whole_numbers(self, low: int, high: int | None) -> Expr:
        """Unsigned digit strings without leading zeros from `low` to `high`, both included."""
        b = self.builder
        if high is None:
            if low <= 1:
                return self.any_whole if low == 0 else b.concat(self.positive_digit, self.digits)
            n = len(str(low))
            longer = b.concat(self.positive_digit, b.repeat(self.digit, n, None))
            return b.union(self._same_length(str(low), "9" * n), longer)
        bottom, top = str(low), str(high)
        if len(bottom) == len(top):
            return self._same_length(bottom, top)
        parts = [self._same_length(bottom, "9" * len(bottom)), self._same_length("1" + "0" * (len(top) - 1), top)]
        if len(top) - len(bottom) > 1:
            parts.append(b.concat(self.positive_digit, b.repeat(self.digit, len(bottom), len(top) - 2)))
        return b.union(*parts)

    def _same_length(self, low: str, high: str) -> Expr:
        b = self.builder
        if low == high:
            return b.string(low)
        i = next(k for k in range(len(low)) if low[k] != high[k])
        rest = len(low) - i - 1
        first, last = int(low[i]), int(high[i])
        parts = []
        if low[i + 1 :].strip("0"):
            parts.append(self._at_least(low[: i + 1], low[i + 1 :]))
            first += 1
        if high[i + 1 :].strip("9"):
            parts.append(self._at_most(high[: i + 1], high[i + 1 :]))
            last -= 1
        if first <= last:
            parts.append(b.concat(b.string(low[:i]), self._between(first, last), b.repeat(self.digit, rest, rest)))
        return b.union(*parts)

    def _at_least(self, head: str, bound: str) -> Expr:
        b = self.builder
        kept = bound.rstrip("0")
        free = len(bound) - len(kept)
        parts = [b.concat(b.string(head + kept), b.repeat(self.digit, free, free))]
        for i, digit in enumerate(kept):
            if digit != "9":
                rest = len(bound) - i - 1
                parts.append(b.concat(b.string(head + kept[:i]), self._between(int(digit) + 1, 9), b.repeat(self.digit, rest, rest)))
        return b.union(*parts)

    def _at_most(self, head: str, bound: str) -> Expr:
        b = self.builder
        kept = bound.rstrip("9")
        free = len(bound) - len(kept)
        parts = [b.concat(b.string(head + kept), b.repeat(self.digit, free, free))]
        for i, digit in enumerate(kept):
            if digit != "0":
                rest = len(bound) - i - 1
                parts.append(b.concat(b.string(head + kept[:i]), self._between(0, int(digit) - 1), b.repeat(self.digit, rest, rest)))
        return b.union(*parts)

    def _fraction_at_least(self, bound: str, is_open: bool) -> Expr:
        b = self.builder
        nonzero = b.concat(self.digits, self.positive_digit, self.digits)
        if not bound:
            return b.concat(self.point, nonzero) if is_open else self.any_fraction
        parts = [b.concat(b.string(bound), nonzero if is_open else self.digits)]
        for i, digit in enumerate(bound):
            if digit != "9":
                parts.append(b.concat(b.string(bound[:i]), self._between(int(digit) + 1, 9), self.digits))
        return b.concat(self.point, b.union(*parts))

    def _fraction_at_most(self, bound: str, is_open: bool) -> Expr:
        b = self.builder
        if not bound:
            return b.never if is_open else self.zero_fraction
        parts = [b.string(bound[:i]) for i in range(1, len(bound))]
        if not is_open:
            parts.append(b.concat(b.string(bound), self.zeros))
        for i, digit in enumerate(bound):
            if digit != "0":
                parts.append(b.concat(b.string(bound[:i]), self._between(0, int(digit) - 1), self.digits))
        return b.optional(b.concat(self.point, b.union(*parts)))

    def _between(self, first: int, last: int) -> Expr:
        return self.builder.byte_set(range(48 + first, 49 + last))


def _mirror(bound: Bound) -> Bound:
    return Bound(bound.value.copy_negate(), bound.open)


def _split(value: Decimal) -> tuple[int, str]:
    """The integer part, and the digits of the fraction without trailing zeros."""
    integer, _, fraction = format(value, "f").partition(".")
    return abs(int(integer)), fraction.rstrip("0")


def _literal(builder: Builder, whole: int) -> Expr:
    return builder.string(str(whole))


_SMALLEST_LARGE = Decimal(10) ** 16
