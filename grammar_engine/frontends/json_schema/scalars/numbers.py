"""Sets of numbers: a range, multiples of steps, and no multiples of other steps.

Idea. A set of numbers is a union of pieces; a piece is a conjunction that stays symbolic (bounds, steps, listed values) until the
grammar is written, so that `allOf` of bounds makes one range and not an intersection of automata. "Integer" is "multiple of 1", so
its negation needs nothing new, and pieces are closed under `meet` and `negations`.

Invariant. A piece that is known to be empty is never made: `meet` returns None instead.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ....errors import UnsupportedSchemaError
from ....ir import MAX_DIVISOR, Expr
from .decimals import EXACT, Bound, DecimalSyntax
from .multiples import Multiples, common_multiple, first_multiple, has_automaton, is_multiple, last_multiple

if TYPE_CHECKING:
    from ..context import Context

ONE = Decimal(1)
_FEW = 256  # numbers that are rather listed than described
_NOTHING: frozenset[Decimal] = frozenset()


class NumberPiece(NamedTuple):
    """The numbers that meet all of these conditions.

    Attributes
    ----------
    low, high : Bound or None
    steps : frozenset of Decimal
        The number is a multiple of each; none of them is implied by another.
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
        steps, non_steps = _strongest(self.steps, other.steps), self.non_steps | other.non_steps
        if low and high and (low.value > high.value or (low.value == high.value and (low.open or high.open))):
            return None
        if steps and any((_common(steps) / Fraction(n)).denominator == 1 for n in non_steps):
            return None
        if low and high and low.value == high.value:
            piece = NumberPiece(None, None, steps, non_steps)
            return NumberPiece(values=frozenset((low.value,))) if piece.contains(low.value) else None
        if low and high and ONE in steps and _multiples_between(low, high, Fraction(1)) == 0:
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

    def size(self) -> int | None:
        """How many numbers there are; None if there is no end of them. Exact, by inclusion and exclusion over `non_steps`."""
        if self.values is not None:
            return len(self.values)
        if not self.steps:
            return None
        step = _common(self.steps)
        if any((step / Fraction(other)).denominator == 1 for other in self.non_steps):
            return 0
        if self.low is None or self.high is None:
            return None
        total = _multiples_between(self.low, self.high, step)
        terms = [(total, step)] if total else []
        for other in self.non_steps:
            for sign_and_count, common in list(terms):
                common = common_multiple(common, Fraction(other))
                count = _multiples_between(self.low, self.high, common)
                if count:
                    terms.append((-count if sign_and_count > 0 else count, common))
        return sum(count for count, _ in terms)

    def listed(self) -> NumberPiece | None:
        """The same set with its numbers listed; for a set whose `size` is small. None where it is empty."""
        assert self.low is not None and self.high is not None
        step = _common(self.steps)
        multiples = (_decimal(k * step) for k in range(first_multiple(self.low, step), last_multiple(self.high, step) + 1))
        values = frozenset(value for value in multiples if self.contains(value))
        return NumberPiece(values=values) if values else None

    def is_void(self, _: Context) -> bool:
        """Whether the set is empty; exact."""
        return self.values is None and bool(self.steps - {ONE} or self.non_steps) and self.size() == 0

    def expr(self, context: Context, is_normal: bool = False) -> Expr:
        """The JSON texts of the numbers; `is_normal` for plain and scientific ones only (see decimals.py)."""
        syntax = context.normal_numbers if is_normal else context.numbers
        if self.values is not None:
            return syntax.exactly(sorted(self.values))
        if self == NUMBERS and not is_normal:
            return syntax.any_number()
        if self.low and self.high and (self.non_steps or self.steps - {ONE}):
            size = self.size()
            if size is not None and size <= _FEW:
                return self._few(syntax)
        if not self.steps and not self.non_steps:
            return syntax.range(self.low, self.high)
        multiples = Multiples(syntax)
        if self == NumberPiece(self.low, self.high, INTEGERS.steps) and not multiples.has_exponents:
            return syntax.plain_integers(self.low, self.high)
        return multiples.between(self.low, self.high, self._step(context), sorted(self.non_steps))

    def _few(self, syntax: DecimalSyntax) -> Expr:
        """The numbers one by one; with any zeros unless all of them are integers, as where there are too many of them for that."""
        few = self.listed()
        return syntax.exactly(sorted(few.values or ()), any_zeros=_common(self.steps).denominator != 1) if few else syntax.builder.never

    def _step(self, context: Context) -> Decimal | None:
        """One step for all."""
        step = None
        for other in sorted(self.steps):
            common = other if step is None else _decimal(common_multiple(Fraction(step), Fraction(other)))
            if has_automaton(common):
                step = common
            else:
                reason = f"the least common multiple of {step} and {other} has too many digits: more than {MAX_DIVISOR:,}, without zeros at its end"
                context.relax_error(UnsupportedSchemaError(reason, pointer="", keyword="multipleOf"), "", "multipleOf")
        return step

    def words(self) -> str:
        """A short name."""
        if self.values is not None:
            return "enum" if len(self.values) > 1 else format(next(iter(self.values)), "f")[:20]
        return "integer" if ONE in self.steps else "number"


NUMBERS = NumberPiece()
INTEGERS = NumberPiece(steps=frozenset((ONE,)))


def _strongest(steps: frozenset[Decimal], others: frozenset[Decimal]) -> frozenset[Decimal]:
    """The steps of both sets that no other one implies."""
    if steps == others or not others:
        return steps
    union = steps | others
    return frozenset(s for s in union if not any(t != s and is_multiple(t, s) for t in union))


def _common(steps: frozenset[Decimal]) -> Fraction:
    """The least number that is a multiple of all steps."""
    return reduce(common_multiple, map(Fraction, steps))


def _decimal(value: Fraction) -> Decimal:
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _multiples_between(low: Bound, high: Bound, step: Fraction) -> int:
    """How many multiples of a step lie in a range."""
    return max(0, last_multiple(high, step) - first_multiple(low, step) + 1)
