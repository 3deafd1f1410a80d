"""What is in one object or array piece and not in another, in few pieces.

Idea. An object is not in a piece if it breaks one of its conditions: it lacks a required key, or has a named key with another value, or
has some other member that differs, or too few or too many members. Each of these is a piece of the difference, so the difference of a
piece and k others has up to n**k pieces. Three things keep that small.

- A condition that all objects of the first piece meet is never broken; one that they all break leaves the piece as it is.
- What is already implied is not said again: if the values of key `type` exclude the other piece anyway, what remains to be said is that
  `type` is present. So differences from several pieces come out equal, and are absorbed.
- A *discriminator* is a key that the other piece requires, with listed scalars as values. The difference is split by it: the objects
  without such a value, and those with one that differ elsewhere. The latter are disjoint from all pieces that list other values, so the
  next differences leave them alone.

    everything minus {type: "a", x: int} minus {type: "b", x: int}        (all keys required)
        no type, or neither "a" nor "b"  |  type "a", no x or not int  |  type "b", no x or not int

Arrays have few conditions, and only the first two rules.

Invariant. The difference is exact: nothing is dropped but what is proved to be empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..reading.places import ANYTHING, NEVER, Goal, both
from .arrays import ARRAYS, ArrayPiece
from .objects import OBJECTS, KeySet, ObjectPiece, Witness, unmet

if TYPE_CHECKING:
    from ..context import Context

_CONDITIONS = 4  # of parts, that take as long as to compare two small pieces; they are counted when all parts are made
_FEW_NAMES = 4  # so many keys that may be the one that differs are told apart


def array_minus(piece: ArrayPiece, removed: ArrayPiece, context: Context) -> list[ArrayPiece]:
    """Pieces that together are what is in `piece` and not in `removed`."""
    parts = removed.negations(context)
    if piece == ARRAYS:
        return parts
    common = piece.meet(removed)
    if common is None or common.is_void(context):
        return [piece]
    found = (piece.meet(part) for part in (_simplified(part, piece, context) for part in parts) if part is not None)
    result = [part for part in found if part is not None]
    return [piece] if piece in result else result


def _simplified(part: ArrayPiece, piece: ArrayPiece, context: Context) -> ArrayPiece | None:
    """A part of a negation without what all items of `piece` meet anyway; None if none of them can meet it."""
    for goal, fewest, most, start in part.counts:
        if most is None and piece.prefix_length() <= start:
            own = piece.goal(start)
            if own and context.is_void_goal(both(own, goal)):
                return None
            if own and context.is_void_goal(both(own, context.opposite(goal))):
                return ArrayPiece(shortest=start + fewest)
    return part


def object_minus(piece: ObjectPiece, removed: ObjectPiece, context: Context) -> list[ObjectPiece]:
    """Pieces that together are what is in `piece` and not in `removed`."""
    if piece != OBJECTS:
        common = piece.meet(removed)
        if common is None or common.is_void(context):
            return [piece]
    result: list[ObjectPiece] = []
    n_conditions = 0
    for name in removed.required:
        goal = removed.goal(name, context)
        if context.is_listed(goal):
            differing = list(_broken_at(piece, name, goal, context))
            if differing:
                result += differing
                n_conditions += sum([len(part.asked) for part in differing])
                context.ledger.check_work(n_conditions // _CONDITIONS)
                same = piece.meet(ObjectPiece((context.single(name, goal),), (name,)))
                if same is None:
                    return result
                piece = same
    broken = [part for part in _broken(piece, removed, context) if part is not None]
    return [*result, piece] if piece in broken else [*result, *broken]


def _broken(piece: ObjectPiece, removed: ObjectPiece, context: Context) -> Iterator[ObjectPiece | None]:
    """The objects of a piece that break a condition of the other, for each condition."""
    if max(piece.fewest, len(piece.required)) < removed.fewest:
        yield piece.meet(ObjectPiece(most=removed.fewest - 1))
    if removed.most is not None and (piece.most is None or piece.most > removed.most):
        yield piece.meet(ObjectPiece(fewest=removed.most + 1))
    for name in removed.required:
        yield from _broken_at(piece, name, removed.goal(name, context), context)
    for layer in removed.layers:
        if layer in piece.layers:  # what stands beside `oneOf` is in all of its branches
            continue
        for name, goal in layer.named.items():
            if name not in removed.required:
                yield from _with_another_value(piece, name, goal, context)
        for keys, goal in layer.open_goals():
            if goal != ANYTHING:
                yield from _with_witness(piece, keys, goal, context)
    for name, needed in removed.needs:
        yield piece.meet(ObjectPiece((context.single(needed, NEVER),), (name,)))
    for choice in removed.choices:
        yield from (piece.meet(part) for part in unmet(choice, context))
    for keys, goal in removed.witnesses:
        yield piece.meet(ObjectPiece((context.every(context.negated_keys(keys), context.opposite(goal)),)))


def _broken_at(piece: ObjectPiece, name: str, goal: Goal, context: Context) -> list[ObjectPiece]:
    """The objects of a piece that lack a key, or have it with a value that does not meet a goal."""
    if name in piece.required:
        return _with_another_value(piece, name, goal, context)
    own = piece.goal(name, context)
    result = []
    for other in context.negated(goal) or [NEVER]:
        layer = context.single(name, NEVER if own and context.is_void_goal(both(own, other)) else other)
        part = piece.meet(ObjectPiece((layer,)))
        if part is not None:
            result.append(part)
    return result


def _with_another_value(piece: ObjectPiece, name: str, goal: Goal, context: Context) -> list[ObjectPiece]:
    """The objects of a piece that have a key, with a value that does not meet a goal."""
    own = piece.goal(name, context)
    is_implied = (own or goal is NEVER) and context.is_void_goal(both(own, goal))
    result = []
    for other in context.negated(goal):
        if own and context.is_void_goal(both(own, other)):
            continue
        layers = () if is_implied or not other else (context.single(name, other),)
        part = piece.meet(ObjectPiece(layers, (name,)))
        if part is not None:
            result.append(part)
    return result


def _with_witness(piece: ObjectPiece, keys: KeySet, goal: Goal, context: Context) -> Iterator[ObjectPiece | None]:
    """The objects of a piece that have some member whose key is in a set and whose value does not meet a goal."""
    keys = context.negated_keys(keys)
    for name in piece.required:
        if keys.has(name, context) and context.is_void_goal(both(piece.goal(name, context), goal)):
            yield piece
            return
    for other in context.negated(goal):
        names = piece.possible_witnesses(Witness(keys, other), context)
        if names is None or len(names) > _FEW_NAMES:
            yield piece.meet(ObjectPiece(witnesses=(Witness(keys, other),)))
        else:
            for name in names:
                yield from _with_another_value(piece, name, goal, context)
