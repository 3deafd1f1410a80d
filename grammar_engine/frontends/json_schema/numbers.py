"""Sets of numbers: a range, multiples of steps, and no multiples of other steps.

Idea. A set of numbers is a union of pieces; a piece is a conjunction that stays symbolic (bounds, steps, listed values) until the
grammar is written, so that `allOf` of bounds makes one range and not an intersection of automata. "Integer" is "multiple of 1", so
its negation needs nothing new, and pieces are closed under `meet` and `negations`.

Invariant. A piece that is known to be empty is never made: `meet` returns None instead.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ...ir import Expr
from .decimals import Bound

if TYPE_CHECKING:
    from .context import Context

ONE = Decimal(1)
_NOTHING: frozenset[Decimal] = frozenset()


class NumberPiece(NamedTuple):
    """The numbers that meet all of these conditions.

    Attributes
    ----------
    low, high : Bound or None
    steps : frozenset of Decimal
        The number is a multiple of each.
    non_steps : frozenset of Decimal
        The number is a multiple of none.
    values : frozenset of Decimal or None
        The number is one of these; the other conditions are then empty.
    """

    low: Bound | None = None
    high: Bound | None = None
    steps: frozenset[Decimal] = _NOTHING
    non_steps: frozenset[Decimal] = _NOTHING
    values: frozenset[Decimal] | None = None

    def meet(self, other: NumberPiece) -> NumberPiece | None:
        """What both pieces have in common, or None."""
        if self.values is not None or other.values is not None:
            listed, condition = (self, other) if self.values is not None else (other, self)
            assert listed.values is not None
            values = frozenset(v for v in listed.values if condition.contains(v))
            return NumberPiece(values=values) if values else None
        low = max((x.low for x in (self, other) if x.low), key=lambda b: (b.value, b.open), default=None)
        high = min((x.high for x in (self, other) if x.high), key=lambda b: (b.value, not b.open), default=None)
        steps, non_steps = self.steps | other.steps, self.non_steps | other.non_steps
        if low and high and (low.value > high.value or (low.value == high.value and (low.open or high.open))):
            return None
        if any(is_multiple(s, n) for s in steps for n in non_steps):
            return None
        if low and high and low.value == high.value:
            piece = NumberPiece(None, None, steps, non_steps)
            return NumberPiece(values=frozenset((low.value,))) if piece.contains(low.value) else None
        if low and high and ONE in steps and _whole_between(low, high) == 0:
            return None
        return NumberPiece(low, high, steps, non_steps)

    def contains(self, value: Decimal) -> bool:
        """Whether a number is in the set."""
        if self.values is not None:
            return value in self.values
        if self.low and (value < self.low.value or (self.low.open and value == self.low.value)):
            return False
        if self.high and (value > self.high.value or (self.high.open and value == self.high.value)):
            return False
        return all(is_multiple(value, s) for s in self.steps) and not any(is_multiple(value, s) for s in self.non_steps)

    def covers(self, other: NumberPiece) -> bool:
        """Whether the other piece is seen to be a part of this one (False: maybe it is)."""
        return self.meet(other) == other

    def negations(self, _: Context) -> list[NumberPiece]:
        """Pieces that together are all other numbers."""
        result = []
        if self.values is not None:
            ends = [None, *(Bound(v, True) for v in sorted(self.values)), None]
            return [NumberPiece(low, high) for low, high in pairwise(ends)]
        if self.low:
            result.append(NumberPiece(high=Bound(self.low.value, not self.low.open)))
        if self.high:
            result.append(NumberPiece(low=Bound(self.high.value, not self.high.open)))
        result += [NumberPiece(non_steps=frozenset((s,))) for s in self.steps]
        result += [NumberPiece(steps=frozenset((s,))) for s in self.non_steps]
        return result

    def is_void(self, context: Context) -> bool:
        """Whether the set is empty; exact."""
        if self.values is not None or not (self.steps | self.non_steps) - {ONE}:
            return False
        return context.is_empty(self.expr(context))

    def expr(self, context: Context) -> Expr:
        """The JSON texts of the numbers."""
        syntax, b = context.numbers, context.builder
        if self.values is not None:
            return syntax.points(sorted(self.values))
        if self == NUMBERS:
            return syntax.any_number()
        whole = any(is_multiple(s, ONE) for s in self.steps)
        steps = [s for s in self.steps if s != ONE]
        if not steps and not self.non_steps:
            if whole and not self.low and not self.high:
                return syntax.any_integer()
            return (syntax.integers if whole else syntax.range)(self.low, self.high)
        base = (syntax.plain_integers if whole else syntax.plain_range)(self.low, self.high)
        wanted = [context.multiples(s) for s in steps]
        unwanted = [context.multiples(s) for s in self.non_steps]
        return b.intersect(base, *wanted, *(b.complement(e) for e in unwanted))

    def words(self) -> str:
        """A short name."""
        if self.values is not None:
            return "enum" if len(self.values) > 1 else format(next(iter(self.values)), "f")[:20]
        return "integer" if ONE in self.steps else "number"


NUMBERS = NumberPiece()
INTEGERS = NumberPiece(steps=frozenset((ONE,)))


def is_multiple(value: Decimal, step: Decimal) -> bool:
    """Whether `value` is an integral multiple of `step`, exactly."""
    return (Fraction(value) / Fraction(step)).denominator == 1


def _whole_between(low: Bound, high: Bound) -> int:
    """How many integers lie in a range."""
    first, last = -((-Fraction(low.value)) // 1), Fraction(high.value) // 1
    first += 1 if low.open and first == low.value else 0
    last -= 1 if high.open and last == high.value else 0
    return max(0, last - first + 1)
