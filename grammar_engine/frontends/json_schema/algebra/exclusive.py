"""`oneOf`: the values that are in exactly one of several shapes.

Idea. Type by type, the result is the union over i of (branch i, and none of the others that may overlap with it). Branches that provably
exclude each other need no negation: a key that either one requires and whose two goals exclude each other is proof enough, which covers
discriminating `const`s, and a required key that a closed object lacks. The branches arrive met with everything else that is said at
their place, so what the siblings require helps to keep them apart. Where all require a key with listed scalars, branches are only
compared with those that list one of theirs (`apart`): of n branches with different constants none with another.

Invariant. Without a proof the others are taken out, and where that is not possible the schema is refused: never treated as `anyOf`
unless `lenient`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ....errors import LimitExceededError, UnsupportedSchemaError
from ..containers.arrays import ARRAYS
from ..containers.objects import OBJECTS, ObjectPiece
from ..context import Context
from ..reading.places import Goal, Place
from ..scalars.numbers import NUMBERS
from ..scalars.strings import STRINGS
from . import many, pieces, shape
from .shape import Shape

_Union = tuple[Any, ...]


class OneOf(NamedTuple):
    """What exactly one of several branches admits: all of it, and the arrays and objects of each; in one part, where it is not exact."""

    whole: Shape
    arrays: Sequence[_Union]
    objects: Sequence[_Union]


def one_of(context: Context, place: Place, branches: list[Shape]) -> OneOf:
    """What exactly one of the branches of the `oneOf` at a place admits."""
    if len(branches) == 1:
        return _any_of(branches[0])
    if not all(branch.exact for branch in branches):
        context.relax_or_refuse(place, "oneOf", "a branch was relaxed, so it is treated as `anyOf`")
        return _any_of(shape.join(branches).inexact())
    context.ledger.combining = f"{place.pointer}/oneOf"
    once = twice = 0
    for branch in branches:
        twice |= once & branch.atoms
        once |= branch.atoms
    try:
        strings = _only_one([branch.strings for branch in branches], STRINGS, context)
        numbers = _only_one([branch.numbers for branch in branches], NUMBERS, context)
        arrays = _alone([branch.arrays for branch in branches], ARRAYS, context)
        objects = _alone([branch.objects for branch in branches], OBJECTS, context)
    except UnsupportedSchemaError as error:
        reason = f"the branches are not provably disjoint, and to exclude one from another fails: {error.reason}"
        context.relax_or_refuse(place, "oneOf", reason)
        return _any_of(shape.join(branches).inexact())
    except LimitExceededError as error:
        if "discriminator" in place.value and context.options.discriminators != "required":
            error.add_remedy('have the `discriminator` required with discriminators="required"')
        raise
    of_arrays, of_objects = pieces.join(arrays, ARRAYS) if any(arrays) else (), pieces.join(objects, OBJECTS) if any(objects) else ()
    return OneOf(Shape(once & ~twice, strings, numbers, of_arrays, of_objects), arrays, objects)


def apart(context: Context, unions: Sequence[tuple[ObjectPiece, ...]]) -> list[list[int]]:
    """The indices of unions of objects, in groups: no two from different ones have an object in common.

    One key tells: all require it, and list its scalars. Of several such keys the one that makes most groups.
    """
    present = [union for union in unions if union]
    best = [list(range(len(unions)))]
    if len(present) < 2:
        return best
    common = present[0][0].required
    for union in present:
        for piece in union:
            common = tuple(name for name in common if name in piece.required)
    for name in common:
        groups = _by_value(context, name, unions)
        if len(groups) > len(best):
            best = groups
        if len(best) == len(unions):
            break
    return best


# --- one type -----------------------------------------------------------------------------------------------------------------


def _any_of(whole: Shape) -> OneOf:
    return OneOf(whole, [whole.arrays], [whole.objects])


def _only_one(unions: list[_Union], everything: Any, context: Context) -> _Union:
    """The scalars that are in exactly one of the unions."""
    present = [union for union in unions if union]
    if len(present) < 2:
        return present[0] if present else ()
    if len(present) > many.MANY and present.count((everything,)) < 2 and (found := many.in_one(present, everything, context)) is not None:
        return found
    return pieces.join(_alone(present, everything, context), everything)


def _alone(unions: list[_Union], everything: Any, context: Context) -> list[_Union]:
    """Of each union what is in no other one."""
    if sum(map(bool, unions)) < 2:
        return unions
    if unions.count((everything,)) > 1:
        return [()] * len(unions)
    result: list[_Union] = [()] * len(unions)
    for group in apart(context, unions) if everything is OBJECTS else [range(len(unions))]:
        present = [i for i in group if unions[i]]
        overlaps: dict[int, list[int]] = {i: [] for i in present}
        for n, i in enumerate(present):
            for j in present[:n]:
                if not _are_disjoint(context, unions[i], unions[j]):
                    overlaps[i].append(j)
                    overlaps[j].append(i)
        for i in present:
            union = unions[i]
            for other in sorted(overlaps[i], key=lambda index: len(unions[index])):
                union = pieces.subtract(union, unions[other], everything, context)
            result[i] = union
    return result


def _are_disjoint(context: Context, first: _Union, second: _Union) -> bool:
    context.ledger.count_alternatives(len(first) * len(second))
    for x in first:
        for y in second:
            common = x.meet(y)
            if common is not None and not common.is_void(context):
                return False
    return True


def _by_value(context: Context, name: str, unions: Sequence[tuple[ObjectPiece, ...]]) -> list[list[int]]:
    """The indices of unions that all require a key, those together that values of it link; one group where some value is not listed."""
    asked: list[set[Goal]] = []
    with_goal: dict[Goal, list[int]] = {}
    values: dict[Goal, set[Any]] = {}
    with_value: dict[Any, list[Goal]] = {}
    for i, union in enumerate(unions):
        goals = {piece.goal(name, context) for piece in union}
        if not all(map(context.is_listed, goals)):
            return [list(range(len(unions)))]
        asked.append(goals)
        for goal in goals:
            if goal not in values:  # many unions may ask for the same one, of many values
                values[goal] = context.normaliser.shape(goal).scalars()
                for value in values[goal]:
                    with_value.setdefault(value, []).append(goal)
            with_goal.setdefault(goal, []).append(i)
    if max(map(len, with_goal.values())) < 2 and max(map(len, with_value.values()), default=0) < 2:
        return [[i] for i in range(len(unions))]
    groups, seen = [], set[int]()
    for i in range(len(unions)):
        if i not in seen:
            group = {i: None}
            for each in (pending := [i]):
                alike = {other for goal in asked[each] for value in values.pop(goal, ()) for other in with_value.pop(value, ())}
                more = [other for goal in alike for other in with_goal.pop(goal, ()) if other not in group]
                group.update(dict.fromkeys(more))
                pending += more
            seen.update(group)
            groups.append(sorted(group))
    return groups
