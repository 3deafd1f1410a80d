"""`uniqueItems`: the kinds of items that can be told apart, and how many values they have.

Idea. Scalars that all differ are members of a bag. Few listed values have a way each, which may be taken once. More values are one lexeme
whose ways are *distinct*: the engine takes the values that were written out of the lexeme, in every spelling. Then it also has to know
how many values there are, so that it never asks for more: they are counted here, exactly.

Numbers are written in plain digits or in scientific notation with one digit before the point: no automaton can take out all of the
spellings that RFC 8259 allows, as it would have to add exponents to counts of digits.

Invariant. The ways of one goal have no value in common.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

from ...ir import Symbol
from .arrays import ArrayPiece
from .context import Context
from .numbers import NumberPiece
from .objects import ObjectPiece
from .places import Goal, both
from .shape import FALSE, NULL, TRUE, Shape
from .strings import STRINGS, StringPiece

if TYPE_CHECKING:
    from .emit import Emitter

MOST_VALUES = 1 << 31  # more values than any text can use up
_MOST_LISTED = 1_000


def why_not_unique(context: Context, piece: ArrayPiece) -> str | None:
    """Why the items of an array cannot be kept apart; None if they can."""
    n = piece.prefix_length()
    longest = n + 1 if piece.longest is None else min(piece.longest, n + 1)
    goals = [piece.goal(position) for position in range(longest)]
    if not all(context.is_void_goal(both(first, second)) for first, second in combinations(goals, 2)):
        return "items that are described by position can be equal"
    if longest > n and (piece.longest is None or piece.longest > n + 1):
        rest = context.normaliser.shape(goals[n])
        nested: tuple[ArrayPiece | ObjectPiece, ...] = (*rest.arrays, *rest.objects)
        if not all(part.is_void(context) for part in nested):
            return "comparing arrays or objects with each other is not implemented"
    return None


def distinct_ways(emitter: Emitter, goal: Goal) -> list[tuple[Symbol, int | None]]:
    """Lexemes for the scalars that meet a goal, with the number of values of each (None: more than any text can use up)."""
    context = emitter.context
    shape = context.normaliser.shape(goal)
    where = goal[0].pointer if goal else None
    listed = _listed(context, shape)
    ways: list[tuple[Symbol, int | None]] = []
    if listed is not None and len(listed) <= _MOST_LISTED:
        for single in listed:
            symbol = emitter.scalar(single, where)
            if symbol is not None:
                ways.append((symbol, 1))
        return ways
    symbol, count = _scalars(emitter, goal)
    if symbol is not None and count:
        ways.append((symbol, None if count >= MOST_VALUES else count))
    return ways


def distinct_positions(emitter: Emitter, piece: ArrayPiece) -> list[Symbol] | None:
    """A lexeme of scalars for each position of a prefix and, if there may be more items, one for those. None where that is not enough:
    an item may be no scalar, or there are so few values at a position that earlier ones may use them up.
    """
    n = piece.prefix_length()
    if piece.counts or n == 0:
        return None
    longest = n + 1 if piece.longest is None else min(piece.longest, n + 1)
    symbols = []
    for position in range(longest):
        shape = emitter.context.normaliser.shape(piece.goal(position))
        nested: tuple[ArrayPiece | ObjectPiece, ...] = (*shape.arrays, *shape.objects)
        if not all(part.is_void(emitter.context) for part in nested):
            return None
        symbol, count = _scalars(emitter, piece.goal(position))
        if count == 0:
            break
        if count < (n if position < n else MOST_VALUES):
            return None
        assert symbol is not None
        symbols.append(symbol)
    return symbols


def _scalars(emitter: Emitter, goal: Goal) -> tuple[Symbol | None, int]:
    """The lexeme of the scalars that meet a goal, and how many values it has, or `MOST_VALUES`."""
    context = emitter.context
    shape = context.normaliser.shape(goal)
    symbol = emitter.scalar(Shape(shape.atoms, shape.strings, shape.numbers), goal[0].pointer if goal else None, is_normal=True)
    if symbol is None:
        return None, 0
    return symbol, min(bin(shape.atoms).count("1") + _count_strings(context, shape) + _count_numbers(shape), MOST_VALUES)


def _listed(context: Context, shape: Shape) -> list[Shape] | None:
    """Each scalar of a shape by itself; None where they are not all listed."""
    values = [Shape(bit) for bit in (NULL, TRUE, FALSE) if shape.atoms & bit]
    texts: dict[str, None] = {}
    for string in shape.strings:
        if string.values is None:
            return None
        texts.update(dict.fromkeys(v for v in sorted(string.values) if all(context.matches(text, v) for text in string.texts)))
    numbers: dict[Decimal, None] = {}
    for number in shape.numbers:
        if number.values is None:
            return None
        numbers.update(dict.fromkeys(sorted(number.values)))
    values += [Shape(strings=(StringPiece(values=frozenset((text,))),)) for text in texts]
    values += [Shape(numbers=(NumberPiece(values=frozenset((value,))),)) for value in numbers]
    return values


# --- counting ---------------------------------------------------------------------------------------------------------------


def _count_strings(context: Context, shape: Shape) -> int:
    """How many strings a shape admits, or `MOST_VALUES`."""
    if not shape.strings or STRINGS in shape.strings:
        return MOST_VALUES if shape.strings else 0
    texts = context.builder.union(*(piece.text(context) for piece in shape.strings))
    return context.count_values(texts, MOST_VALUES)


def _count_numbers(shape: Shape) -> int:
    """How many numbers a shape admits, or at least `MOST_VALUES`: by inclusion and exclusion of its pieces."""
    terms: list[tuple[int, NumberPiece]] = []
    for piece in shape.numbers:
        size = piece.size()
        if size is None or size >= MOST_VALUES:
            return MOST_VALUES
        overlaps = [(-sign, common) for sign, other in terms if (common := piece.meet(other)) is not None]
        terms += [(1, piece), *overlaps]
    return sum(sign * (piece.size() or 0) for sign, piece in terms)
