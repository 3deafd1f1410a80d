"""Digit strings between bounds, as regular expressions.

Idea. Whether a digit string lies in a range is decided by its length and by the first digit that differs from the bound. So the
strings of n digits that are at least `s` are `s` itself, or for some i: s[:i], a greater digit than s[i], and n - i - 1 digits of any
kind. That is a union of sequences, which is small for the bounds that people write. With n digits it takes n**2 / 2 nodes in the core, and
as a chain of choices n levels; so a long bound is a chain of such unions, each along some digits of it. Fractions work the same way, but
their length is free: trailing zeros change nothing.

    at most 250 = [0-9] | [1-9][0-9] | 1[0-9][0-9] | 2[0-4][0-9] | 250        at most .25 = (.[01]d* | .2 | .2[0-4]d* | .250*)?
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir import Builder, Expr

_BLOCK = 32  # digits of a bound that are one union: of 900 digits 15,000 nodes and 60 levels


class Digits:
    """Builds expressions for sets of digit strings, whole or after the point."""

    def __init__(self, builder: Builder):
        b = self.builder = builder
        zero = b.bytes(b"0")
        self.digit = b.byte_set(b"0123456789")
        self.positive_digit = b.byte_set(b"123456789")
        self.digits = b.repeat(self.digit, 0, None)
        self.zeros = b.repeat(zero, 0, None)
        self.point = b.bytes(b".")
        self.any_fraction = b.optional(b.concat(self.point, b.repeat(self.digit, 1, None)))
        self.zero_fraction = b.optional(b.concat(self.point, b.repeat(zero, 1, None)))
        self.any_whole = b.union(zero, b.concat(self.positive_digit, self.digits))

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

    def fraction_at_least(self, bound: str, is_open: bool) -> Expr:
        """The point and digits, or nothing, that are at least (or more than) `bound`, digits without trailing zeros."""
        b = self.builder
        nonzero = b.concat(self.digits, self.positive_digit, self.digits)
        if not bound:
            return b.concat(self.point, nonzero) if is_open else self.any_fraction
        leaving = [b.concat(self._between(int(digit) + 1, 9), self.digits) for digit in bound]
        return b.concat(self.point, self._along(bound, leaving, nonzero if is_open else self.digits))

    def fraction_at_most(self, bound: str, is_open: bool) -> Expr:
        """The point and digits, or nothing, that are at most (or less than) `bound`, digits without trailing zeros."""
        b = self.builder
        if not bound:
            return b.never if is_open else self.zero_fraction
        leaving = [b.concat(self._between(0, int(digit) - 1), self.digits) for digit in bound]
        leaving[1:] = [b.optional(digits) for digits in leaving[1:]]
        return b.optional(b.concat(self.point, self._along(bound, leaving, b.never if is_open else self.zeros)))

    def fraction_of(self, digits: str) -> Expr:
        """The point and some digits, without trailing zeros, and any number of zeros; without digits the point may be left out too."""
        b = self.builder
        return b.concat(self.point, b.string(digits), self.zeros) if digits else self.zero_fraction

    def _same_length(self, low: str, high: str) -> Expr:
        b = self.builder
        if low == high:
            return b.string(low)
        i = next(k for k in range(len(low)) if low[k] != high[k])
        rest = len(low) - i - 1
        first, last = int(low[i]), int(high[i])
        parts = []
        if low[i + 1 :].strip("0"):
            parts.append(self._beyond(low[: i + 1], low[i + 1 :], "0", "9"))
            first += 1
        if high[i + 1 :].strip("9"):
            parts.append(self._beyond(high[: i + 1], high[i + 1 :], "9", "0"))
            last -= 1
        if first <= last:
            parts.append(b.concat(b.string(low[:i]), self._between(first, last), b.repeat(self.digit, rest, rest)))
        return b.union(*parts)

    def _beyond(self, head: str, bound: str, nearest: str, farthest: str) -> Expr:
        """`head`, then as many digits as `bound` has and not on the side of `nearest` of it: for "0" at least, for "9" at most."""
        b = self.builder
        kept = bound.rstrip(nearest)
        free = len(bound) - len(kept)
        leaving = []
        for i, digit in enumerate(kept):
            rest = len(bound) - i - 1
            others = self._between(int(digit) + 1, 9) if farthest == "9" else self._between(0, int(digit) - 1)
            leaving.append(b.concat(others, b.repeat(self.digit, rest, rest)))
        return b.concat(b.string(head), self._along(kept, leaving, b.repeat(self.digit, free, free)))

    def _along(self, path: str, leaving: Sequence[Expr], end: Expr) -> Expr:
        """`path` and `end`, or a beginning of `path` of any length i and what leaves it there, `leaving[i]`."""
        b = self.builder
        for begin in reversed(range(0, len(path), _BLOCK)):
            block = path[begin : begin + _BLOCK]
            ways = [b.concat(b.string(block[:i]), leaving[begin + i]) for i in range(len(block))]
            end = b.union(b.concat(b.string(block), end), *ways)
        return end

    def _between(self, first: int, last: int) -> Expr:
        return self.builder.byte_set(range(48 + first, 49 + last))
