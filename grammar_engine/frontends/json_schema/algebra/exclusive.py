"""`oneOf`: the values that are in exactly one of several shapes.

Idea. Type by type, the result is the union over i of (branch i, and none of the others that may overlap with it). Branches that provably
exclude each other need no negation: a key that either one requires and whose two goals exclude each other is proof enough, which covers
discriminating `const`s, and a required key that a closed object lacks. The branches arrive met with everything else that is said at
their place, so what the siblings require helps to keep them apart.

Invariant. Without a proof the others are taken out, and where that is not possible the schema is refused: never treated as `anyOf`
unless `lenient`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....errors import UnsupportedSchemaError
from ..containers.arrays import ARRAYS
from ..containers.objects import OBJECTS, ObjectPiece
from ..context import Context
from ..reading.places import Place
from ..scalars.numbers import NUMBERS
from ..scalars.strings import STRINGS
from . import many, pieces, shape
from .shape import FALSE, NULL, TRUE, Shape


def one_of(context: Context, place: Place, branches: list[Shape]) -> Shape:
    """What exactly one of the branches of the `oneOf` at a place admits."""
    if len(branches) == 1:
        return branches[0]
    if not all(branch.exact for branch in branches):
        context.relax_or_refuse(place, "oneOf", "a branch was relaxed, so it is treated as `anyOf`")
        return shape.join(branches).inexact()
    context.ledger.combining = f"{place.pointer}/oneOf"
    once = twice = 0
    for branch in branches:
        twice |= once & branch.atoms
        once |= branch.atoms
    try:
        return Shape(
            once & ~twice,
            _exclusive(context, [branch.strings for branch in branches], STRINGS),
            _exclusive(context, [branch.numbers for branch in branches], NUMBERS),
            _exclusive(context, [branch.arrays for branch in branches], ARRAYS),
            _exclusive(context, [branch.objects for branch in branches], OBJECTS),
        )
    except UnsupportedSchemaError as error:
        reason = f"the branches are not provably disjoint, and to exclude one from another fails: {error.reason}"
        context.relax_or_refuse(place, "oneOf", reason)
        return shape.join(branches).inexact()


def _exclusive(context: Context, unions: list[tuple[Any, ...]], everything: Any) -> tuple[Any, ...]:
    """The values that are in exactly one of the unions."""
    present = [union for union in unions if union]
    if len(present) < 2:
        return present[0] if present else ()
    if present.count((everything,)) > 1:
        return ()
    if everything is OBJECTS and _is_discriminated(context, present):
        return pieces.join(present, everything)
    if len(present) > many.MANY and (found := many.in_one(present, everything, context)) is not None:
        return found
    overlaps: list[list[int]] = [[] for _ in present]
    for i, first in enumerate(present):
        for j in range(i):
            if not _are_disjoint(context, first, present[j]):
                overlaps[i].append(j)
                overlaps[j].append(i)
    result = []
    for union, others in zip(present, overlaps):
        for other in sorted(others, key=lambda index: len(present[index])):
            union = pieces.subtract(union, present[other], everything, context)
        result.append(union)
    return pieces.join(result, everything)


def _are_disjoint(context: Context, first: Sequence[Any], second: Sequence[Any]) -> bool:
    context.ledger.count_alternatives(len(first) * len(second))
    for x in first:
        for y in second:
            common = x.meet(y)
            if common is not None and not common.is_void(context):
                return False
    return True


def _is_discriminated(context: Context, unions: list[tuple[ObjectPiece, ...]]) -> bool:
    """Whether some key, required everywhere, has listed scalars only, and none of them in two unions."""
    common = unions[0][0].required
    for union in unions:
        for piece in union:
            common = tuple(name for name in common if name in piece.required)
    return any(_discriminates(context, name, unions) for name in common)


def _discriminates(context: Context, name: str, unions: list[tuple[ObjectPiece, ...]]) -> bool:
    seen: set[Any] = set()
    for union in unions:
        mine: set[Any] = set()
        for piece in union:
            goal = piece.goal(name, context)
            if not context.is_listed(goal):
                return False
            value = context.normaliser.shape(goal)
            mine.update(("atom", bit) for bit in (NULL, TRUE, FALSE) if value.atoms & bit)
            mine.update(text for strings in value.strings for text in strings.values or ())
            mine.update(number for numbers in value.numbers for number in numbers.values or ())
        if mine & seen:
            return False
        seen |= mine
    return True
