"""Classes of keys that an object does not name.

Idea. Patterns that overlap divide the keys into classes: a class for each set of patterns whose members have to meet something of its
own, so n patterns may make 2**n. Patterns that ask for schemas of one spelling are one. The `Ledger` counts the rest.

Invariant. The classes have no key in common, and none that is named; all other keys are forbidden. A class may have no key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....ir import Expr
from ..containers.objects import KeySet, ObjectPiece
from ..reading.places import ANYTHING, NEVER, Goal, all_of, spelling

if TYPE_CHECKING:
    from ..context import Context

FEW_KEYS = 256  # of a class: there are no more members with them


class OtherKeys(NamedTuple):
    """A class of keys.

    Attributes
    ----------
    texts : Expr
        Not quoted.
    goal : Goal
        What the members have to meet.
    witnesses : list of int
        The indices of those of the piece that they may be.
    patterns : frozenset of Expr
        The keys are in these, and in no other one.
    """

    texts: Expr
    goal: Goal
    witnesses: list[int]
    patterns: frozenset[Expr]


def other_keys(context: Context, piece: ObjectPiece, patterns: dict[Expr, list[Expr]], where: str | None) -> list[OtherKeys]:
    """The classes of a piece by its patterns (`patterns_of`)."""
    b = context.builder
    cells: list[tuple[Expr, frozenset[Expr]]] = [(b.text, frozenset())]
    for first, alike in patterns.items():
        pattern = b.union(*alike)
        split = []
        for cell, inside in cells:
            common = pattern if cell == b.text else b.intersect(cell, pattern)
            if len(patterns) > 1 and context.is_empty(common):
                split.append((cell, inside))
            else:
                split.append((common, inside | {first}))
                split.append((b.minus(cell, pattern), inside))
        context.ledger.count_key_classes(len(cells), sum(1 + len(inside) for _, inside in split), where or "")
        cells = split
    names = piece.names()
    result: list[OtherKeys] = []
    for cell, inside in cells:
        goals: list[Goal] = []
        for layer in piece.layers:
            goals += [wanted for keys, wanted in layer.classes if keys in inside] or [layer.others]
        goal = all_of(goals) if len(goals) > 1 else goals[0] if goals else ANYTHING
        if goal is not NEVER:
            if names:
                cell = b.intersect(cell, b.complement(context.listed(names)))
            result.append(OtherKeys(cell, goal, [i for i, (keys, _) in enumerate(piece.witnesses) if _is_inside(keys, inside)], inside))
    return result


def patterns_of(piece: ObjectPiece) -> dict[Expr, list[Expr]]:
    """All patterns, by the first of those that are alike: in the same layers, with goals of one spelling, and in the same witnesses."""
    roles: dict[Expr, list[object]] = {}
    for i, layer in enumerate(piece.layers):
        for keys, goal in layer.classes:
            roles.setdefault(keys, []).append((i, spelling(goal)))
    for i, (key_set, _) in enumerate(piece.witnesses):
        for keys in key_set.classes if key_set.texts is None else (key_set.texts,):
            roles.setdefault(keys, []).append(i)
    groups: dict[tuple[object, ...], list[Expr]] = {}
    for keys, role in roles.items():
        groups.setdefault(tuple(role), []).append(keys)
    return {group[0]: group for group in groups.values()}


def _is_inside(keys: KeySet, inside: frozenset[Expr]) -> bool:
    """Whether a cell, which lies inside these patterns and outside all others, is a part of a set of keys."""
    return keys.texts in inside if keys.texts is not None else inside.isdisjoint(keys.classes)
