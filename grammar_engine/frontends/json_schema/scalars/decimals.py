r"""Sets of decimal numbers as regular expressions: which notations there are, and what of each lies in a range.

    plain          -?(0|[1-9]\d*)(\.\d+)?                    12    -0.50    5.0
    scientific     -?[1-9](\.\d+)?[eE][+-]?\d+               1.2e1    5E-01
    moved          scientific, but the point stands up to MOST_MOVED places to the left or to the right      12.5e0    0.05e+3
    zero           -?0(\.0+)?[eE][+-]?\d+                    0e7

Idea. Plain numbers are compared digit by digit. Numbers with an exponent are compared by exponent first and by mantissa second, which is
regular if the point stands at a known place; so there is one expression for each place. (Anywhere at all would mean to add a count of
digits to an exponent, which no regular expression can.)

Style "canonical" is what a model should write: integers in digits only, listed numbers as programs print them, ranges plain and
scientific, multiples only plain. Style "any" has all of these notations, also for integers and listed numbers, and all of RFC 8259 where
there are no bounds; multiples are in multiples.py. Style "normal" is what of "any" is plain or scientific. Style "digits" is what draft 4
calls an integer: neither point nor exponent.

What is taken out of a set has every spelling that the set has: a range without a value begins behind it, and `Multiples` takes out
multiples with any zeros. So a style may leave out spellings of what is admitted, and never of what is excluded.

Invariants. A range that is asked for without an exponent contains with a number all spellings of it in plain notation, and one with
exponents all in scientific notation. Every set contains some spelling of each of its numbers. Bounds are of any magnitude and precision up
to `MAX_DIGITS`, and no float is ever involved.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from typing import NamedTuple

from ....ir import Builder, Expr
from .digits import Digits

MAX_DIGITS = 1_000  # of a number in a schema, written without exponent
MOST_MOVED = 9  # places that the point may stand away from its place in scientific notation

CANONICAL, ANY, NORMAL, DIGITS = "canonical", "any", "normal", "digits"

_ZERO = Decimal(0)
_ZEROS = (b"0", b"-0")  # plainly
EXACT = Context(prec=4 * MAX_DIGITS, Emax=999_999, Emin=-999_999)


class Bound(NamedTuple):
    """An end of a range; `open` when the end itself is outside."""

    value: Decimal
    open: bool


class DecimalSyntax(Digits):
    """Builds expressions for sets of numbers.

    Parameters
    ----------
    builder : Builder
    style : str
        CANONICAL, ANY or NORMAL; or DIGITS, for integers only.
    """

    def __init__(self, builder: Builder, style: str = CANONICAL):
        super().__init__(builder)
        b = builder
        self.style = style
        self.minus = b.bytes(b"-")
        self.optional_minus = b.optional(self.minus)
        self.whole_fraction = self.zero_fraction if style in (ANY, NORMAL) else b.empty
        self.moves = range(-MOST_MOVED, MOST_MOVED + 1) if style == ANY else (0,)

    def any_number(self) -> Expr:
        """All numbers in the syntax of RFC 8259."""
        b = self.builder
        return b.concat(self.optional_minus, self.any_whole, self.any_fraction, b.optional(self.exponents(None, None)))

    def range(self, low: Bound | None, high: Bound | None) -> Expr:
        """Numbers with or without exponent between two bounds, both signs."""
        return self.signed(low, high, self.unsigned)

    def plain_integers(self, low: Bound | None, high: Bound | None) -> Expr:
        """Integers without exponent between two bounds, both signs."""
        return self.signed(low, high, self._whole)

    def exactly(self, values: list[Decimal], any_zeros: bool = False, least: Bound | None = None) -> Expr:
        """The spellings of some numbers; with `any_zeros` behind the last digit, whatever the style; `least` where they are all in a range.

        Notes
        -----
        In the canonical style as programs print them: plainly, without a zero behind the last digit; from 10^16 on and below 10^-4 also
        scientifically. In digits, plainly. In the other styles plainly, with any zeros; or with the point anywhere that the style admits,
        zeros in the same way, `e` or `E`, `+` or nothing or `-`, and the exponent after any number of zeros. Zero may have a minus, as any
        number may have a plus exponent of zero; in the canonical style where numbers below it are in the range, as in `signed`.
        """
        if self.style == CANONICAL:
            zeros = _ZEROS if least is not None and least.value < 0 else _ZEROS[:1]
            printed = self.builder.literals([text for value in values for text in (self._printed(value) if value else zeros)])
            return self.builder.union(printed, self._plainly(values, self.zero_fraction, zeros)) if any_zeros else printed
        parts = [self._plainly(values, self.whole_fraction)]
        groups: dict[tuple[int, int], list[Decimal]] = {}  # by the place of the point, and the exponent
        for value in values:
            if not value and self.style == ANY:
                parts.append(self.builder.concat(self._plainly([value], self.zero_fraction), self.exponents(None, None)))
            elif self._has_exponents(value):
                for moved in self.moves:
                    exponent = value.adjusted() - moved
                    groups.setdefault((moved, exponent), []).append(value.scaleb(-exponent, EXACT))
        for (_, exponent), mantissas in groups.items():
            parts.append(self.builder.concat(self._plainly(mantissas, self.zero_fraction), self.exponents(exponent, exponent)))
        return self.builder.union(*parts)

    def exponents(self, low: int | None, high: int | None) -> Expr:
        """`e` or `E` and a decimal exponent between two bounds, both included, with any number of leading zeros."""
        b = self.builder
        parts = []
        if high is None or high >= 0:
            whole = self.whole_numbers(max(low or 0, 0), high)
            parts.append(b.concat(b.optional(b.bytes(b"+")), self.zeros, whole))
        if low is None or low <= 0:
            whole = self.whole_numbers(0 if high is None else max(-high, 0), None if low is None else -low)
            parts.append(b.concat(self.minus, self.zeros, whole))
        return b.concat(b.byte_set(b"eE"), b.union(*parts))

    # --- signs ----------------------------------------------------------------------------------------------------------

    def signed(self, low: Bound | None, high: Bound | None, unsigned: Callable[[Bound, Bound | None], Expr]) -> Expr:
        """Numbers in a range, from what makes the unsigned ones in a range at or above zero.

        Notes
        -----
        Zero has a sign where numbers below it are in the range, and in the other styles. In the canonical one it has none where zero is the
        least: a model that begins with a minus there has only zero left to say.
        """
        b = self.builder
        zero = Bound(_ZERO, False)
        if low is None and high is None:
            return b.concat(self.optional_minus, unsigned(zero, None))
        parts = []
        if high is None or high.value > 0 or high == zero:
            parts.append(unsigned(low if low is not None and low.value >= 0 else zero, high))
        if low is None or low.value < 0 or (low == zero and self.style != CANONICAL):
            nearest = _mirror(high) if high is not None and high.value <= 0 else zero
            farthest = _mirror(low) if low is not None else None
            parts.append(b.concat(self.minus, unsigned(nearest, farthest)))
        return b.union(*parts)

    # --- notations, without sign; 0 <= low ------------------------------------------------------------------------------

    def unsigned_plain(self, low: Bound, high: Bound | None) -> Expr:
        """Numbers without exponent in a range."""
        b = self.builder
        low_whole, low_fraction = _split(low.value)
        if high is None:
            if not low_fraction and not low.open:
                return b.concat(self.whole_numbers(low_whole, None), self.any_fraction)
            first = b.concat(_literal(b, low_whole), self.fraction_at_least(low_fraction, low.open))
            return b.union(first, b.concat(self.whole_numbers(low_whole + 1, None), self.any_fraction))
        high_whole, high_fraction = _split(high.value)
        if low == high:
            return b.concat(_literal(b, low_whole), self.fraction_of(low_fraction))
        if low_whole == high_whole:
            fraction = b.intersect(self.fraction_at_least(low_fraction, low.open), self.fraction_at_most(high_fraction, high.open))
            return b.concat(_literal(b, low_whole), fraction)
        first_free = low_whole
        parts = []
        if low_fraction or low.open:
            parts.append(b.concat(_literal(b, low_whole), self.fraction_at_least(low_fraction, low.open)))
            first_free += 1
        if first_free < high_whole:
            parts.append(b.concat(self.whole_numbers(first_free, high_whole - 1), self.any_fraction))
        parts.append(b.concat(_literal(b, high_whole), self.fraction_at_most(high_fraction, high.open)))
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

    def unsigned(self, low: Bound, high: Bound | None) -> Expr:
        """Numbers with or without exponent in a range."""
        b = self.builder
        if self.style == ANY and high is None and not low.value:
            mantissa = b.concat(self.any_whole, self.any_fraction) if not low.open else self.unsigned_plain(low, None)
            return b.concat(mantissa, b.optional(self.exponents(None, None)))
        return b.union(self.unsigned_plain(low, high), *self._exponential(low, high))

    def _plainly(self, values: list[Decimal], whole_fraction: Expr, zeros: tuple[bytes, ...] = _ZEROS) -> Expr:
        """Some numbers in plain notation; integers with this fraction, and zero in these ways."""
        b = self.builder
        whole: list[bytes] = []
        fractions: list[bytes] = []
        for value in values:
            text = _plain(value)
            if "." in text:
                fractions.append(text.encode())
            else:
                whole += (text.encode(),) if value else zeros
        return b.union(b.concat(b.literals(whole), whole_fraction), b.concat(b.literals(fractions), self.zeros))

    def _printed(self, value: Decimal) -> list[bytes]:
        """How programs print a number that is not zero."""
        texts = [_plain(value)]
        exponent = value.adjusted()
        if self._has_exponents(value) and not -5 < exponent < 16:
            mantissa = _plain(value.scaleb(-exponent, EXACT))
            forms = (f"{exponent}", f"+{exponent}") if exponent > 0 else (f"{exponent}", f"{exponent:03}")  # -7 and -07
            texts += [mantissa + e + form for e in "eE" for form in forms]
        return [text.encode() for text in texts]

    def _has_exponents(self, value: Decimal) -> bool:
        return bool(value) and self.style != DIGITS

    def _exponential(self, low: Bound, high: Bound | None) -> list[Expr]:
        """Numbers with an exponent, for each place of the point that the style admits."""
        b = self.builder
        parts = []
        if self.style == ANY and low == Bound(_ZERO, False):
            parts.append(b.concat(b.bytes(b"0"), self.zero_fraction, self.exponents(None, None)))
        if high is None or high.value:
            parts += [self._scientific(low, high, moved) for moved in self.moves]
        return parts

    def _scientific(self, low: Bound, high: Bound | None, moved: int) -> Expr:
        """Numbers with an exponent; the mantissa is at least 10^moved and less than 10^(moved + 1)."""
        b = self.builder
        bottom, top = Bound(Decimal((0, (1,), moved)), False), Bound(Decimal((0, (1,), moved + 1)), True)
        first = low.value.adjusted() if low.value else None
        last = high.value.adjusted() if high is not None else None
        low_mantissa = bottom if first is None else Bound(low.value.scaleb(moved - first, EXACT), low.open)
        high_mantissa = top if high is None or last is None else Bound(high.value.scaleb(moved - last, EXACT), high.open)

        def at(exponent: int, least: Bound, most: Bound) -> Expr:
            return b.concat(self.unsigned_plain(least, most), self.exponents(exponent - moved, exponent - moved))

        if first is not None and first == last:
            return at(first, low_mantissa, high_mantissa)
        parts = []
        if last is not None and high_mantissa != Bound(bottom.value, True):
            parts.append(at(last, bottom, high_mantissa))
        if first is not None:
            parts.append(at(first, low_mantissa, top))
        lowest = None if first is None else first + 1 - moved
        highest = None if last is None else last - 1 - moved
        if lowest is None or highest is None or lowest <= highest:
            parts.append(b.concat(self._any_mantissa(moved), self.exponents(lowest, highest)))
        return b.union(*parts)

    def _any_mantissa(self, moved: int) -> Expr:
        b = self.builder
        if moved >= 0:
            return b.concat(self.positive_digit, b.repeat(self.digit, moved, moved), self.any_fraction)
        return b.concat(b.string("0." + "0" * (-moved - 1)), self.positive_digit, self.digits)


def _mirror(bound: Bound) -> Bound:
    return Bound(bound.value.copy_negate(), bound.open)


def _plain(value: Decimal) -> str:
    """A number in plain notation without trailing zeros, and without a point if it is an integer."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _split(value: Decimal) -> tuple[int, str]:
    """The integer part, and the digits of the fraction without trailing zeros."""
    integer, _, fraction = _plain(value).partition(".")
    return abs(int(integer)), fraction


def _literal(builder: Builder, whole: int) -> Expr:
    return builder.string(str(whole))
