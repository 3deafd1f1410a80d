"""Conditions on different values of one key, met at once.

Idea. `if` a key has a constant, `then` more holds: a union of two parts. Of n of them, met in turn, each is compared with all that the
others made, and under marks (`tracked.py`) all that each says of the key is kept: n**2, and n**3. What they make together is known:

    {kind "a", x} or no "a"         kind "a", x  |  kind "b", y  |  kind neither "a" nor "b"  |  no kind, x, y
    {kind "b", y} or no "b"

The first parts with the key, what is in all second parts, and the objects without the key: these meet all first parts whose second part
requires it.

Invariant. Exact: a first part lies in what its second part excludes, by what is asked of the key; no two exclude the same value; and a
second part says nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..containers.objects import ObjectPiece
from ..reading.places import NEVER, exclude_each_other

if TYPE_CHECKING:
    from ..context import Context


class Case(NamedTuple):
    """A union of two parts, by what is asked of one key.

    Attributes
    ----------
    at : int
        Where it stands among several unions.
    name : str
    values : set
        Those that the second part excludes, and perhaps more.
    then : tuple of ObjectPiece
    otherwise : ObjectPiece
    """

    at: int
    name: str
    values: set[Any]
    then: tuple[ObjectPiece, ...]
    otherwise: ObjectPiece


class Cases(list[Case]):
    """Those of one key whose values differ."""

    @property
    def name(self) -> str:
        """The key."""
        return self[0].name

    def present(self, piece: ObjectPiece) -> ObjectPiece | None:
        """The objects of a piece that have the key."""
        return piece.meet(ObjectPiece(required=(self.name,)))

    def absent(self, context: Context) -> ObjectPiece:
        """The objects without the key."""
        return ObjectPiece((context.single(self.name, NEVER),))

    def asking(self) -> list[Case]:
        """Those whose first part has to hold where the key is absent."""
        return [case for case in self if case.otherwise.required]

    def otherwise(self) -> ObjectPiece:
        """What all second parts admit."""
        layers = tuple(dict.fromkeys(case.otherwise.layers[0] for case in self))
        return ObjectPiece(layers, (self.name,) if self.asking() else ())


def found(unions: Sequence[tuple[ObjectPiece, ...]], context: Context) -> list[Cases]:
    """All cases of which there are at least two of one key."""
    by_name: dict[str, Cases] = {}
    taken: dict[str, set[Any]] = {}
    for i, union in enumerate(unions):
        case = _case(i, union, context) if len(union) > 1 else None
        if case and taken.setdefault(case.name, set()).isdisjoint(case.values):
            taken[case.name] |= case.values
            by_name.setdefault(case.name, Cases()).append(case)
    return [cases for cases in by_name.values() if len(cases) > 1]


def _case(at: int, union: tuple[ObjectPiece, ...], context: Context) -> Case | None:
    for piece in union:
        if len(piece.layers) == 1 and (layer := piece.layers[0]).is_selective:
            ((name, goal),) = layer.named.items()
            if len(goal) == 1 and piece == ObjectPiece((layer,), (name,) if piece.required else ()):
                excluded = context.opposite(goal)
                then = tuple(other for other in union if other is not piece)
                if context.is_listed(excluded) and all(exclude_each_other(other.goal(name, context), goal) for other in then):
                    return Case(at, name, context.normaliser.shape(excluded).scalars(), then, piece)
    return None
