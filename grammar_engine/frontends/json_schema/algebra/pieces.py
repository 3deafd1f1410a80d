"""The boolean operations on unions of pieces, the same for every JSON type.

Idea. A set of values of one type is a union of *pieces*, and a piece is a conjunction of conditions of that type. Two operations of a
piece are enough: `meet` (the conjunction of two pieces, None where it is known to be empty) and `negations` (pieces that together are
everything else). From them follow, here, and, or, not for unions. Arrays and objects have the most conditions, so their differences are
made with more care (`difference.py`).

Products of unions of objects are where schemas multiply out. Pieces that are seen to be empty are dropped, a piece that meets a condition
anyway is left alone, and what is certain is met before what is one of several. What still multiplies is bounded by the limit
`max_alternative_schemas`, at each place and, several times that, in all places together; `Context.combining` tells where.

Invariant. The union of one unconditional piece is written as the tuple of that piece only, so "everything" is recognised by `==`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ..containers.arrays import ArrayPiece
from ..containers.difference import array_minus, object_minus
from ..containers.objects import ObjectPiece

if TYPE_CHECKING:
    from ..context import Context


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
_COST = 4  # of making a piece, in comparisons of two pieces


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
    if isinstance(everything, ObjectPiece):
        return cast("tuple[P, ...]", _product(cast("Any", first), cast("Any", second), context))
    context.count_alternatives(len(first) * len(second))
    return tuple(distinct([piece for x in first for y in second if (piece := x.meet(y)) is not None]))


def meet_all(unions: Sequence[tuple[P, ...]], pointers: Sequence[str], everything: P, context: Context) -> tuple[P, ...]:
    """The intersection of several unions; the pointers tell where each comes from.

    Unions of one piece come first, so that each alternative is met with all that is certain; then the others, in turn. The layers and
    required names of objects are put in order again.
    """
    certain = [union for union in unions if len(union) < 2]
    result = _halved(certain, everything, context) if certain else (everything,)
    if len(certain) == len(unions):
        return result
    for union, pointer in zip(unions, pointers):
        if len(union) > 1:
            context.combining = pointer
            result = meet(result, union, everything, context)
    if not isinstance(everything, ObjectPiece) or not certain:
        return result
    parts: list[Any] = [piece for union in unions for piece in union]
    layers = {layer: rank for rank, layer in enumerate(dict.fromkeys(layer for piece in parts for layer in piece.layers))}
    names = {name: rank for rank, name in enumerate(dict.fromkeys(name for piece in parts for name in piece.required))}
    return tuple(cast("Any", piece).in_order(layers, names) for piece in result)


def _halved(unions: Sequence[tuple[P, ...]], everything: P, context: Context) -> tuple[P, ...]:
    """The intersection, by halves: pieces that grow with each meet are then copied a logarithmic number of times."""
    if len(unions) == 1:
        return unions[0]
    middle = len(unions) // 2
    return meet(_halved(unions[:middle], everything, context), _halved(unions[middle:], everything, context), everything, context)


def _product(first: tuple[ObjectPiece, ...], second: tuple[ObjectPiece, ...], context: Context) -> tuple[ObjectPiece, ...]:
    """The intersection of two unions of objects, without pieces that are seen to be empty or part of another one.

    A piece of the first union that lies in one of the second stays as it is. So of n conditions on the value of one key each changes
    only the pieces that admit its value.
    """
    kept = []
    made: dict[ObjectPiece, None] = {}
    for piece in first:
        new = [other.without_implied(piece, context) for other in second]
        if any(other.covers(piece) for other in new):
            context.count_alternatives(1)
            kept.append(piece)
            continue
        context.count_alternatives(_COST * len(new))
        for other in new:
            product = piece.without_implied(other, context).meet(other)
            if product is not None and not product.is_void(context):
                made[product] = None
        context.check_alternatives(len(kept) + len(made))
    return absorbed(tuple(made), kept)


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
        if isinstance(piece, (ObjectPiece, ArrayPiece)):
            minus: Any = object_minus if isinstance(piece, ObjectPiece) else array_minus
            kept: list[Any] = []
            made: list[Any] = []
            for other in left:
                parts = minus(other, piece, context)
                context.count_alternatives(1 if parts == [other] else _COST * len(parts))
                (kept if parts == [other] else made).extend(parts)
            left = absorbed(distinct(made), kept)
        else:
            left = absorbed(meet(left, tuple(piece.negations(context)), everything, context))
        context.check_alternatives(len(left))
    return tuple(left)


def absorbed(union: Sequence[P], among: Sequence[P] = ()) -> tuple[P, ...]:
    """Both unions without pieces of the first one that are part of another piece, and without what they make superfluous.

    Similar schemas negated one after the other make many of those.
    """
    if len(union) > MANY:
        return (*among, *union)
    kept = list(among)
    for piece in union:
        if not any(other.covers(piece) for other in kept):
            kept = [other for other in kept if not piece.covers(other)]
            kept.append(piece)
    return tuple(kept)


def distinct(pieces: list[P]) -> list[P]:
    """The pieces without repetitions, in order."""
    return list(dict.fromkeys(pieces))
