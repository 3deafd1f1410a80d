"""`uniqueItems`: the kinds of items that can be told apart, which values they have, and how many. See tuples.py for items that are
described by position.

Idea. Scalars that all differ are members of a bag. Few listed values have a way each, which may be taken once. More values are one lexeme
whose ways are *distinct*: the engine takes the values that were written out of the lexeme, in every spelling. Then it also has to know
how many values there are, so that it never asks for more: they are counted here, exactly.

Numbers are written in plain digits or in scientific notation with one digit before the point: no automaton can take out all of the
spellings that RFC 8259 allows, as it would have to add exponents to counts of digits.

In draft 4 an integer is written in digits, and equals numbers that are written otherwise. So values are told apart first, and then written
as their place allows; and integers are not compared with what is no integer, since those sets are disjoint and have equal numbers.

Invariant. The ways of one goal have no value in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....ir import Symbol
from ..algebra import pieces
from ..algebra.shape import FALSE, NULL, TRUE, Shape
from ..containers.arrays import ArrayPiece
from ..containers.objects import ObjectPiece
from ..context import Context
from ..reading.places import Goal
from ..scalars.numbers import NUMBERS, NumberPiece
from ..scalars.strings import STRINGS, StringPiece

if TYPE_CHECKING:
    from .emitter import Emitter

MOST_VALUES = 1 << 31  # more values than any text can use up
MOST_LISTED = 1_000
_VALUES = 4  # so many are listed in the time of one alternative
_PAIR = 4  # of two positions that are compared, in alternatives


class CannotCompare(Exception):  # noqa: N818 - becomes a refusal, or the engine compares (compared.py)
    """Why the items of an array cannot be kept apart by its rules."""


Value = tuple[str, Any]  # a kind of scalars, and which of them: 1 and true are different


def are_apart(context: Context, piece: ArrayPiece) -> bool:
    """Whether positions that differ in what they ask have no value in common, and items of which there may be many are scalars."""
    n = piece.prefix_length()
    longest = n + 1 if piece.longest is None else min(piece.longest, n + 1)
    goals = [piece.goal(position) for position in range(longest)]
    check_comparable(context, goals)
    seen: set[Value] = set()  # that are listed
    others: list[Goal] = []
    for position, goal in enumerate(goals):
        listed = listed_values(context, context.normaliser.shape(goal)) if context.is_listed(goal) else None
        compared = goals[:position] if listed is None else others
        if piece.unique is not None:
            context.ledger.count_items(_PAIR * len(compared) + len(listed or ()) // _VALUES, piece.unique)
        if not seen.isdisjoint(listed or ()) or not all(context.exclude_each_other(goal, other) for other in compared):
            return False
        if listed is None:
            others.append(goal)
        else:
            seen.update(listed)
    if longest <= n or (piece.longest is not None and piece.longest <= n + 1):
        return True
    rest = context.normaliser.shape(goals[n])
    nested: tuple[ArrayPiece | ObjectPiece, ...] = (*rest.arrays, *rest.objects)
    return all(part.is_void(context) for part in nested)


def check_comparable(context: Context, goals: Sequence[Goal]) -> None:
    """Raise CannotCompare for numbers of which some are told to be integers by how they are written, and some not to be."""
    numbers = [number for goal in goals for number in context.normaliser.shape(goal).numbers]
    if {True, False} <= {number.in_digits for number in numbers}:
        raise CannotCompare(
            "in draft 4 `5.0` is no integer, though it equals one; comparing integers with what is no integer is not implemented"
        )


def distinct_ways(emitter: Emitter, goal: Goal) -> list[tuple[Symbol, int | None]]:
    """Lexemes for the scalars that meet a goal, with the number of values of each (None: more than any text can use up)."""
    context = emitter.context
    shape = context.normaliser.shape(goal)
    where = goal[0].pointer if goal else None
    listed = listed_values(context, shape)
    ways: list[tuple[Symbol, int | None]] = []
    if listed is not None and len(listed) <= MOST_LISTED:
        for value, single in listed.items():
            symbol = emitter.scalar(as_written(context, shape, value, single), where)
            if symbol is not None:
                ways.append((symbol, 1))
        return ways
    symbol, count = emitter.scalar(shape, where, is_normal=True), count_scalars(context, shape)
    if symbol is not None and count:
        ways.append((symbol, None if count >= MOST_VALUES else count))
    return ways


# --- values -----------------------------------------------------------------------------------------------------------------


def listed_values(context: Context, shape: Shape) -> dict[Value, Shape] | None:
    """Each scalar of a shape, and its shape, in all spellings; None where they are not all listed."""
    values: dict[Value, Shape] = {("atom", bit): Shape(bit) for bit in (NULL, TRUE, FALSE) if shape.atoms & bit}
    for string in shape.strings:
        if string.values is None:
            return None
        for text in sorted(string.values):
            if all(context.matches(texts, text) for texts in string.texts):
                values["string", text] = Shape(strings=(StringPiece(values=frozenset((text,))),))
    for number in shape.numbers:
        if number.values is None:
            return None
        for value in sorted(number.values):
            values["number", value] = Shape(numbers=(NumberPiece(values=frozenset((value,))),))
    return values


def as_written(context: Context, shape: Shape, value: Value, single: Shape) -> Shape:
    """A scalar of a shape, given with its own shape, in the spellings of the former."""
    if value[0] != "number":
        return single
    return Shape(numbers=pieces.meet(single.numbers, shape.numbers, NUMBERS, context))


def admits(context: Context, shape: Shape, value: Value) -> bool:
    """Whether a scalar is in a shape."""
    kind, content = value
    if kind == "atom":
        return bool(shape.atoms & content)
    if kind == "number":
        return any(piece.contains(content) for piece in shape.numbers)
    single = StringPiece(values=frozenset((content,)))
    common = [found for piece in shape.strings if (found := piece.meet(single)) is not None]
    return any(all(context.matches(texts, content) for texts in piece.texts) for piece in common)


# --- counting ---------------------------------------------------------------------------------------------------------------


def count_scalars(context: Context, shape: Shape) -> int:
    """How many scalars a shape admits, or `MOST_VALUES`."""
    return min(bin(shape.atoms).count("1") + _count_strings(context, shape) + _count_numbers(context, shape), MOST_VALUES)


def _count_strings(context: Context, shape: Shape) -> int:
    """How many strings a shape admits, or `MOST_VALUES`."""
    if not shape.strings or STRINGS in shape.strings:
        return MOST_VALUES if shape.strings else 0
    texts = context.builder.union(*(piece.text(context) for piece in shape.strings))
    return context.count_values(texts, MOST_VALUES)


def _count_numbers(context: Context, shape: Shape) -> int:
    """How many numbers a shape admits, or at least `MOST_VALUES`: by inclusion and exclusion of its pieces."""
    signs: dict[NumberPiece, int] = {}
    for piece in shape.numbers:
        size = piece.size(context)
        if size is None or size >= MOST_VALUES:
            return MOST_VALUES
        context.ledger.count_alternatives(len(signs))
        overlaps = [(common, -sign) for other, sign in signs.items() if (common := piece.meet(other)) is not None]
        for part, sign in ((piece, 1), *overlaps):
            signs[part] = signs.get(part, 0) + sign
    return sum(sign * (piece.size(context) or 0) for piece, sign in signs.items())
