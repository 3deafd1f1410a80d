"""The boolean operations on unions of pieces, the same for every JSON type.

Idea. A set of values of one type is a union of *pieces*, and a piece is a conjunction of conditions of that type. Two operations of a
piece are enough: `meet` (the conjunction of two pieces, None where it is known to be empty) and `negations` (pieces that together are
everything else). From them follow, here, and, or, not for unions. Arrays and objects have the most conditions, so their differences are
made with more care (`difference.py`).

Products of unions of objects are where schemas multiply out. Pieces that are seen to be empty are dropped, a piece that meets a condition
anyway is left alone, what is certain is met before what is one of several, and conditions on one key are met together (`cases.py`,
`dependents.py`). What still multiplies is bounded by the limit `max_alternative_schemas`, at each place and, several times that, in all
places together; `Ledger.combining` tells where. What all places make together is counted in the time that it takes to compare two small
pieces: pieces of many conditions count several times.

Invariant. The union of one unconditional piece is written as the tuple of that piece only, so "everything" is recognised by `==`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ..containers.arrays import ArrayPiece
from ..containers.difference import array_minus, object_minus
from ..containers.objects import OBJECTS, ObjectPiece, with_needs
from ..scalars.numbers import NumberPiece
from ..scalars.strings import STRINGS
from . import cases, dependents, many
from .cases import Cases

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
_FEW = 8  # alternatives that are not worth counting where there is nothing to choose on the other side
_COST = 4  # of making a piece, in comparisons of two pieces
_CONDITIONS = 12  # so many of them take as long as a comparison
_POSITIONS = 6  # of an array, in one of them
_MEETS = 3  # so often the difference of two pieces looks at their conditions
_MEMBERS = 4  # so many of them are written in the time of one
_COVERS = 32  # so many tests whether a piece covers another one do


def meet(first: tuple[P, ...], second: tuple[P, ...], everything: P, context: Context) -> tuple[P, ...]:
    """The intersection of two unions."""
    if not first or not second or (len(first) == 1 and first[0] == everything):
        return second if first else first
    if len(second) == 1 and second[0] == everything:
        return first
    if len(first) == 1 or len(second) == 1:
        n_pieces = len(first) * len(second)
        if n_pieces > _FEW:
            context.ledger.check_alternatives(n_pieces)
            context.ledger.count_work(n_pieces + bulk(first) + bulk(second) + n_pieces * _written(first if len(first) == 1 else second))
        result = [piece for x in first for y in second if (piece := x.meet(y)) is not None]
        return tuple(distinct(result) if len(result) > 1 else result)
    if isinstance(everything, ObjectPiece):
        return cast("tuple[P, ...]", _product(cast("Any", first), cast("Any", second), context))
    if everything == STRINGS and len(first) * len(second) > many.MANY_PAIRS:
        first, second = many.as_one_text(first, context), many.as_one_text(second, context)
    context.ledger.count_alternatives(len(first) * len(second))
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
    groups: list[Any] = []
    if isinstance(everything, ObjectPiece) and len(certain) + 1 < len(unions):
        groups = [*cases.found(cast("Any", unions), context), *dependents.found(cast("Any", unions), context)]
    together = {member.at: group for group in groups for member in group}
    for i, (union, pointer) in enumerate(zip(unions, pointers)):
        if len(union) > 1:
            context.ledger.combining = pointer
            if i not in together:
                result = meet(result, union, everything, context)
            elif together[i][0].at == i and isinstance(together[i], Cases):
                result = _meet_cases(cast("Any", result), together[i], pointers, context)
            elif together[i][0].at == i:
                met = meet(result, together[i].pieces(context), everything, context)
                result = tuple(piece for piece in met if not piece.is_void(context))
    if not isinstance(everything, ObjectPiece) or not certain:
        return result
    parts: list[Any] = [piece for union in (*unions, result if groups else ()) for piece in union]
    layers = {layer: rank for rank, layer in enumerate(dict.fromkeys(layer for piece in parts for layer in piece.layers))}
    required = [name for piece in parts for name in piece.required] + [name for piece in parts for pair in piece.needs for name in pair]
    names = {name: rank for rank, name in enumerate(dict.fromkeys(required))}
    return tuple(cast("Any", piece).in_order(layers, names) for piece in result)


def _meet_cases(union: tuple[ObjectPiece, ...], group: Cases, pointers: Sequence[str], context: Context) -> tuple[Any, ...]:
    """The intersection with several unions that are conditions on one key."""
    ways = [group.present(piece) for case in group for piece in case.then] + [group.otherwise()]
    result = meet(union, tuple(way for way in ways if way is not None), OBJECTS, context)
    asking = group.asking()
    if asking:
        without = meet(union, (group.absent(context),), OBJECTS, context)
        asked = [pointers[case.at] for case in asking]
        result += meet_all([without, *(case.then for case in asking)], ["", *asked], OBJECTS, context) if without else ()
    return tuple(piece for piece in result if not piece.is_void(context))


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
    all_of_second = bulk(second)
    for piece in first:
        new = [other.without_implied(piece, context) for other in second]
        n_conditions = bulk((piece,))
        if any(other.covers(piece) for other in new):
            context.ledger.count_work(1 + n_conditions)
            kept.append(piece)
            continue
        context.ledger.count_work(len(new) * (_COST + n_conditions) + all_of_second)
        for other in new:
            product = piece.without_implied(other, context).meet(other)
            if product is not None and not product.is_void(context):
                made[product] = None
                context.ledger.count_work(_written((product,)))
        context.ledger.check_alternatives(len(kept) + len(made))
    return absorbed(tuple(made), context, kept)


def join(unions: Sequence[tuple[P, ...]], everything: P) -> tuple[P, ...]:
    """The union of unions."""
    result: list[P] = []
    for union in unions:
        if len(union) == 1 and union[0] == everything:
            return union
        result += union
    joined = tuple(distinct(result)) if len(result) > 1 else tuple(result)
    return cast("tuple[P, ...]", with_needs(cast("Any", joined))) if isinstance(everything, ObjectPiece) else joined


def negate(union: tuple[P, ...], everything: P, context: Context) -> tuple[P, ...]:
    """Everything that is in no piece of a union."""
    if len(union) > many.MANY and (found := many.outside(union, everything)) is not None:
        return cast("tuple[P, ...]", found)
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
                context.ledger.count_work(1 + _MEETS * bulk((other,)) if parts == [other] else _COST * len(parts) + _MEETS * bulk(parts))
                (kept if parts == [other] else made).extend(parts)
            left = absorbed(distinct(made), context, kept)
        else:
            left = absorbed(meet(left, tuple(piece.negations(context)), everything, context), context)
        context.ledger.check_alternatives(len(left))
    return tuple(left)


def absorbed(union: Sequence[P], context: Context, among: Sequence[P] = ()) -> tuple[P, ...]:
    """Both unions without pieces of the first one that are part of another piece, and without what they make superfluous.

    Similar schemas negated one after the other make many of those.
    """
    if len(union) > MANY:
        return (*among, *union)
    if len(union) > 1:
        context.ledger.count_work(len(union) * (len(union) + len(among)) // _COVERS)
    kept = list(among)
    for piece in union:
        if not any(other.covers(piece) for other in kept):
            kept = [other for other in kept if not piece.covers(other)]
            kept.append(piece)
    return tuple(kept)


def distinct(pieces: list[P]) -> list[P]:
    """The pieces without repetitions, in order."""
    return list(dict.fromkeys(pieces))


def _written(union: Sequence[Any]) -> int:
    """What it takes to write the members of some objects as rules."""
    return sum(piece.n_mentioned for piece in union if isinstance(piece, ObjectPiece)) // _MEMBERS


def bulk(union: Sequence[Any]) -> int:
    """What the conditions of some pieces add to the time that an operation on them takes; nothing for pieces of few."""
    n_conditions = 0
    for piece in union:
        if isinstance(piece, ObjectPiece):
            n_conditions += len(piece.asked)
        elif isinstance(piece, NumberPiece):
            n_conditions += len(piece.non_steps)
        elif isinstance(piece, ArrayPiece):
            n_conditions += len(piece.counts) + sum([len(layer.prefix) for layer in piece.layers]) // _POSITIONS
    return n_conditions // _CONDITIONS
