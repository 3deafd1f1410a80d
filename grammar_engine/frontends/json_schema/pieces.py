"""The boolean operations on unions of pieces, the same for every JSON type.

Idea. A set of values of one type is a union of *pieces*, and a piece is a conjunction of conditions of that type. Two operations of a
piece are enough: `meet` (the conjunction of two pieces, None where it is known to be empty) and `negations` (pieces that together are
everything else). From them follow, here, and, or, not for unions. Arrays and objects have the most conditions, so their differences are
made with more care (`difference.py`), and products of unions of objects are searched for pieces that are empty. Where unions multiply, the number of
pieces is bounded by the limit `max_alternative_schemas`.

Invariant. The union of one unconditional piece is written as the tuple of that piece only, so "everything" is recognised by `==`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .arrays import ArrayPiece
from .difference import array_minus, object_minus
from .objects import ObjectPiece

if TYPE_CHECKING:
    from .context import Context


class Piece(Protocol):
    """What the operations need of a piece."""

    def meet(self, other: Any) -> Any:
        """What both pieces have in common, or None where that is known to be nothing."""

    def negations(self, context: Context) -> list[Any]:
        """Pieces that together are everything else."""

    def covers(self, other: Any) -> bool:
        """Whether the other piece is seen to be a part of this one (False: maybe it is)."""

    def is_void(self, context: Context) -> bool:
        """Whether the piece is known to be empty (False: maybe it is not)."""


P = TypeVar("P", bound=Piece)
MANY = 200  # more pieces are not compared with each other


def meet(first: tuple[P, ...], second: tuple[P, ...], everything: P, context: Context) -> tuple[P, ...]:
    """The intersection of two unions."""
    if not first or not second or (len(first) == 1 and first[0] == everything):
        return second if first else first
    if len(second) == 1 and second[0] == everything:
        return first
    if len(first) == 1 or len(second) == 1:
        context.check_alternatives(len(first) * len(second))
        result = [piece for x in first for y in second if (piece := x.meet(y)) is not None]
        return tuple(distinct(result) if len(result) > 1 else result)
    context.count_alternatives(len(first) * len(second))
    found = distinct([piece for x in first for y in second if (piece := x.meet(y)) is not None])
    if isinstance(everything, ObjectPiece):
        return absorbed(tuple(piece for piece in found if not piece.is_void(context)))
    return tuple(found)


def join(unions: Sequence[tuple[P, ...]], everything: P) -> tuple[P, ...]:
    """The union of unions."""
    result: list[P] = []
    for union in unions:
        if len(union) == 1 and union[0] == everything:
            return union
        result += union
    return tuple(distinct(result)) if len(result) > 1 else tuple(result)


def negate(union: tuple[P, ...], everything: P, context: Context) -> tuple[P, ...]:
    """Everything that is in no piece of a union."""
    return subtract((everything,), union, everything, context)


def subtract(union: tuple[P, ...], removed: tuple[P, ...], everything: P, context: Context) -> tuple[P, ...]:
    """What is in the first union and not in the second."""
    left: Any = union
    for piece in removed:
        if not left or piece == everything:
            return ()
        if isinstance(piece, ObjectPiece):
            left = absorbed(tuple(distinct([rest for other in left for rest in object_minus(other, piece, context)])))
        elif isinstance(piece, ArrayPiece):
            left = absorbed(tuple(distinct([rest for other in left for rest in array_minus(other, piece, context)])))
        else:
            left = absorbed(meet(left, tuple(piece.negations(context)), everything, context))
        context.check_alternatives(len(left))
    return tuple(left)


def absorbed(union: tuple[P, ...]) -> tuple[P, ...]:
    """The union without pieces that are part of another one. Similar schemas negated one after the other make many of those."""
    if len(union) > MANY:
        return union
    kept: list[P] = []
    for piece in union:
        if not any(other.covers(piece) for other in kept):
            kept = [other for other in kept if not piece.covers(other)]
            kept.append(piece)
    return tuple(kept)


def distinct(pieces: list[P]) -> list[P]:
    """The pieces without repetitions, in order."""
    return list(dict.fromkeys(pieces))
