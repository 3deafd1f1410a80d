"""Sets of numbers: a range, multiples of steps, and no multiples of other steps; in draft 4, also how they are written.

Idea. A set of numbers is a union of pieces; a piece is a conjunction that stays symbolic (bounds, steps, listed values) until the
grammar is written, so that `allOf` of bounds makes one range and not an intersection of automata. "Integer" is "multiple of 1", so
its negation needs nothing new, and pieces are closed under `meet` and `negations`.

In draft 4 an integer is a number without fraction or exponent: there 5.0 is none, though it equals 5, which is one. So a piece may also say
whether its numbers are written in digits, beside what it says of their values; what it contains and how many there are is about values.

Invariants. A piece that is known to be empty is never made: `meet` returns None instead. What is written in digits is an integer.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ....errors import UnsupportedSchemaError
from ....fragment import Fragment
from ....ir import MAX_DIVISOR_DIGITS, Expr
from .decimals import ANY, CANONICAL, DIGITS, EXACT, NORMAL, Bound, DecimalSyntax
from .multiples import Multiples, common_multiple, first_multiple, has_automaton, is_multiple, last_multiple

if TYPE_CHECKING:
    from ..context import Context

ONE = Decimal(1)
_FEW = 256  # numbers that are rather listed than described
_FEW_STEPS, _SHORT = 4, 4  # of sets that other grammars are likely to have: steps that do not divide their numbers; characters of a bound
_COMMON = Bound(Decimal(0), False), Bound(Decimal(1), False)  # from which on sets are kept for the core, too
_NOTHING: frozenset[Decimal] = frozenset()


class _Notation(NamedTuple):
    """How numbers are written: a style of decimals.py; whether multiples have exponents; whether all of them are plain or scientific."""

    style: str
    has_exponents: bool
    is_normal: bool


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
        The number is one of these; the other conditions, but for the next, are then empty.
    in_digits : bool or None
        Whether the number is written without point and exponent; None where that does not matter.
    """

    low: Bound | None = None
    high: Bound | None = None
    steps: frozenset[Decimal] = _NOTHING
    non_steps: frozenset[Decimal] = _NOTHING
    values: frozenset[Decimal] | None = None
    in_digits: bool | None = None

    def meet(self, other: NumberPiece) -> NumberPiece | None:
        """What both pieces have in common, or None."""
        in_digits = other.in_digits if self.in_digits is None else self.in_digits
        if other.in_digits not in (None, in_digits):
            return None
        if self.values is not None or other.values is not None:
            listed, condition = (self, other) if self.values is not None else (other, self)
            assert listed.values is not None
            values = frozenset(v for v in listed.values if condition.contains(v))
            return NumberPiece(values=values, in_digits=in_digits) if values else None
        low = max((x.low for x in (self, other) if x.low), key=lambda b: (b.value, b.open), default=None)
        high = min((x.high for x in (self, other) if x.high), key=lambda b: (b.value, not b.open), default=None)
        steps, non_steps = _strongest(self.steps, other.steps), self.non_steps | other.non_steps
        if low and high and (low.value > high.value or (low.value == high.value and (low.open or high.open))):
            return None
        unlike = other.non_steps if steps == self.steps else self.non_steps if steps == other.steps else non_steps  # not compared before
        if steps and unlike and _are_multiples(steps, unlike):
            return None
        if low and high and low.value == high.value:
            piece = NumberPiece(None, None, steps, non_steps)
            return NumberPiece(values=frozenset((low.value,)), in_digits=in_digits) if piece.contains(low.value) else None
        if low and high and ONE in steps and _multiples_between(low, high, Fraction(1)) == 0:
            return None
        return NumberPiece(low, high, steps, non_steps, in_digits=in_digits)

    def contains(self, value: Decimal) -> bool:
        """Whether a number is in the set, in some spelling."""
        if self.values is not None:
            return value in self.values
        if self.low and (value < self.low.value or (self.low.open and value == self.low.value)):
            return False
        if self.high and (value > self.high.value or (self.high.open and value == self.high.value)):
            return False
        return all(is_multiple(value, s) for s in self.steps) and not any(is_multiple(value, s) for s in self.non_steps)

    def covers(self, other: NumberPiece) -> bool:
        """Whether the other piece is seen to be a part of this one (False: maybe it is)."""
        if self.in_digits not in (None, other.in_digits):
            return False
        if other.values is not None:
            return all(map(self.contains, other.values))
        return (
            self.values is None
            and (self.low is None or (other.low is not None and (self.low.value, self.low.open) <= (other.low.value, other.low.open)))
            and (self.high is None or (other.high is not None and (other.high.value, self.high.open) <= (self.high.value, other.high.open)))
            and self.non_steps <= other.non_steps
            and _strongest(other.steps, self.steps) == other.steps
        )

    def negations(self, _: Context) -> list[NumberPiece]:
        """Pieces that together are all other numbers."""
        result = []
        if self.in_digits is not None:
            result.append(OTHERS if self.in_digits else DIGITS_ONLY)
        if self.values is not None:
            ends = [None, *(Bound(v, True) for v in sorted(self.values)), None]
            return result + [NumberPiece(low, high) for low, high in pairwise(ends)]
        if self.low:
            result.append(NumberPiece(high=Bound(self.low.value, not self.low.open)))
        if self.high:
            result.append(NumberPiece(low=Bound(self.high.value, not self.high.open)))
        result += [NumberPiece(non_steps=frozenset((s,))) for s in self.steps if not (self.in_digits and s == ONE)]
        result += [NumberPiece(steps=frozenset((s,))) for s in self.non_steps]
        return result

    def size(self, context: Context) -> int | None:
        """How many numbers there are; None if there is no end of them. Exact, by inclusion and exclusion over `non_steps`.

        Raises
        ------
        LimitExceededError
            There are too many ways to be a multiple of several of these.
        """
        if self.values is not None:
            return len(self.values)
        if not self.steps:
            return None
        step = _common(self.steps)
        if _are_multiples(self.steps, self.non_steps):
            return 0
        if self.low is None or self.high is None:
            return None
        signs = {step: 1}  # of the least common multiples of some steps that have a multiple in the range, summed up
        for other in self.non_steps:
            context.ledger.count_alternatives(len(signs))
            for common, sign in list(signs.items()):
                common = common_multiple(common, Fraction(other))
                if _multiples_between(self.low, self.high, common):
                    signs[common] = signs.get(common, 0) - sign
        return sum(sign * _multiples_between(self.low, self.high, common) for common, sign in signs.items())

    def listed(self) -> NumberPiece | None:
        """The same set with its numbers listed; for a set whose `size` is small. None where it is empty."""
        assert self.low is not None and self.high is not None
        step = _common(self.steps)
        exact = _decimal(step)
        multiples = (EXACT.multiply(exact, k) for k in range(first_multiple(self.low, step), last_multiple(self.high, step) + 1))
        values = frozenset(value for value in multiples if not any(is_multiple(value, other) for other in self.non_steps))
        return NumberPiece(values=values, in_digits=self.in_digits) if values else None

    def is_void(self, context: Context) -> bool:
        """Whether the set is empty; exact."""
        return self.values is None and bool(self.steps - {ONE} or self.non_steps) and self.size(context) == 0

    def expr(self, context: Context, where: str, is_normal: bool = False) -> Expr:
        """The JSON texts of the numbers; `where` in the schema they are,
        `is_normal` for plain and scientific ones only (see decimals.py).
        """
        style = context.options.number_style
        has_exponents = style == ANY and not self.in_digits
        if self.in_digits:
            style = DIGITS
        elif (is_normal and style == ANY) or (self.in_digits is False and style == CANONICAL):  # in which no integer is written as 5.0
            style = NORMAL
        spelled = self._spelled(context, _Notation(style, has_exponents, is_normal), where)
        if self.in_digits is False:
            digits = context.number_syntax(DIGITS).plain_integers(None, None)
            spelled = context.builder.intersect(spelled, context.builder.complement(digits))
        return spelled

    def _spelled(self, context: Context, notation: _Notation, where: str) -> Expr:
        """The numbers in a notation, but for `in_digits`."""
        if self.values is not None:
            return context.number_syntax(notation.style).exactly(sorted(self.values))
        if self.low and self.high and (self.non_steps or self.steps - {ONE}):
            size = self.size(context)
            if size is not None and size <= _FEW:
                return self._few(context.number_syntax(notation.style))
        step = self._step(context, where)
        if not self._is_kept(notation):
            return self._described(context.number_syntax(notation.style), notation, step)
        key = self._replace(in_digits=None), notation, step
        if key not in context.copied_numbers:
            context.copied_numbers[key] = context.builder.copy(_fragment(*key))
        return context.copied_numbers[key]

    def _is_kept(self, notation: _Notation) -> bool:
        """Whether the expression is worth keeping for other grammars: they are likely to have it, and it is large if it has bounds."""
        if not notation.has_exponents and (self.low or self.high):
            return False
        limits = [bound.value for bound in (self.low, self.high) if bound]
        return len(self.non_steps) <= _FEW_STEPS and all(
            len(format(value, "f")) <= _SHORT for value in (*limits, *self.steps, *self.non_steps)
        )

    def _few(self, syntax: DecimalSyntax) -> Expr:
        """The numbers one by one; with any zeros unless all of them are integers, and zero with the sign that it may have, as where there
        are too many of them for that.
        """
        few = self.listed()
        any_zeros = _common(self.steps).denominator != 1
        return syntax.exactly(sorted(few.values or ()), any_zeros, self.low) if few else syntax.builder.never

    def _described(self, syntax: DecimalSyntax, notation: _Notation, step: Decimal | None) -> Expr:
        """The numbers by their conditions; `step`: one for all."""
        if not self.steps and not self.non_steps:
            is_any = self.low is None and self.high is None and not notation.is_normal
            return syntax.any_number() if is_any else syntax.range(self.low, self.high)
        if self.steps == INTEGERS.steps and not self.non_steps and not notation.has_exponents:
            return syntax.plain_integers(self.low, self.high)
        return Multiples(syntax, notation.has_exponents).between(self.low, self.high, step, sorted(self.non_steps))

    def _step(self, context: Context, where: str) -> Decimal | None:
        """One step for all."""
        step = None
        for other in sorted(self.steps):
            common = other if step is None else _decimal(common_multiple(Fraction(step), Fraction(other)))
            if has_automaton(common):
                step = common
            else:
                reason = f"the least common multiple of the steps has more than {MAX_DIVISOR_DIGITS:,} digits, without zeros at its end"
                context.relax_or_raise(UnsupportedSchemaError(reason, pointer=where, keyword="multipleOf"), where, "multipleOf")
        return step

    def words(self) -> str:
        """A short name."""
        if self.values is not None:
            return "enum" if len(self.values) > 1 else format(next(iter(self.values)), "f")[:20]
        return "integer" if ONE in self.steps else "number"


NUMBERS = NumberPiece()
INTEGERS = NumberPiece(steps=frozenset((ONE,)))
DIGITS_ONLY = NumberPiece(steps=frozenset((ONE,)), in_digits=True)  # the integers of draft 4
OTHERS = NumberPiece(in_digits=False)


@lru_cache(maxsize=128)  # of 1 to 15 kB each
def _fragment(piece: NumberPiece, notation: _Notation, step: Decimal | None) -> Fragment:
    """What `_described` tells, for builders to copy."""
    is_common = piece in (NUMBERS, INTEGERS) or (
        piece.low in _COMMON and piece in (NumberPiece(piece.low), NumberPiece(piece.low, steps=INTEGERS.steps))
    )
    return Fragment(lambda builder: piece._described(DecimalSyntax(builder, notation.style), notation, step), is_common)


@lru_cache(maxsize=4096)
def _strongest(steps: frozenset[Decimal], others: frozenset[Decimal]) -> frozenset[Decimal]:
    """The steps of both sets that no other one implies, which is so within each of them."""
    if steps == others or not others:
        return steps
    if not steps:
        return others
    scale = -min(0, *(_exponent(step) for step in (*steps, *others)))
    mine, theirs = ({int(step.scaleb(scale, EXACT)): step for step in some} for some in (steps, others))
    return frozenset((*_without_implied(mine, theirs), *_without_implied(theirs, mine)))


def _without_implied(steps: dict[int, Decimal], others: dict[int, Decimal]) -> list[Decimal]:
    """The steps that divide no greater one of the others.
    They are looked for among its multiples, or these among them, whichever are fewer.
    """
    most = max(others)
    greater = sorted(others)
    kept = []
    for step, value in steps.items():
        if most // step < len(others):
            is_implied = any(multiple in others for multiple in range(2 * step, most + 1, step))
        else:
            is_implied = not all(map(step.__rmod__, greater[bisect_right(greater, step) :]))
        if not is_implied:
            kept.append(value)
    return kept


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


@lru_cache(maxsize=4096)
def _are_multiples(steps: frozenset[Decimal], others: frozenset[Decimal]) -> bool:
    """Whether the multiples of all steps are multiples of one of the others."""
    common = _common(steps)
    return not all(common.numerator * below % (common.denominator * above) for above, below in map(Decimal.as_integer_ratio, others))


@lru_cache(maxsize=4096)
def _common(steps: frozenset[Decimal]) -> Fraction:
    """The least number that is a multiple of all steps."""
    return reduce(common_multiple, map(Fraction, steps))


def _decimal(value: Fraction) -> Decimal:
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _multiples_between(low: Bound, high: Bound, step: Fraction) -> int:
    """How many multiples of a step lie in a range."""
    return max(0, last_multiple(high, step) - first_multiple(low, step) + 1)
