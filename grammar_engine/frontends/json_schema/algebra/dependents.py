"""Keys that may stand only beside some values of another key, met at once.

Idea. `if` a key is there, `then` another has one of some values: a union of two parts. As the other key may be absent beside all of
them, n of them, met in turn, make a piece for each set of the keys, 2**n. Told apart by the value of the other key they are few:

    no "x", or kind "a"               kind "a", no "z"   |   kind "b", no "x"   |   kind neither, no "x", "y", "z"   |   no kind
    no "y", or kind "a" or "b"
    no "z", or kind "b"

Invariant. Exact, and no two pieces have an object in common. What each condition asks of the other key stays in some piece, so that it
is in the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..containers.objects import ObjectLayer, ObjectPiece
from ..reading.places import ANYTHING, NEVER
from ..scalars.numbers import NumberPiece
from ..scalars.strings import StringPiece

if TYPE_CHECKING:
    from ..context import Context
    from ..reading.places import Goal

_FEWEST = 3  # two make four pieces at most


class Dependent(NamedTuple):
    """A key that may stand only beside some values of another one.

    Attributes
    ----------
    at : int
        Where the condition stands among several unions.
    name : str
    host : str
        The other key.
    layer : ObjectLayer
        What is asked of it.
    values : frozenset
        All values that it may have then.
    is_hosted : bool
        Whether the other key has to be there.
    """

    at: int
    name: str
    host: str
    layer: ObjectLayer
    values: frozenset[Any]
    is_hosted: bool

    @property
    def goal(self) -> Goal:
        """What the value of the other key has to meet."""
        return self.layer.named[self.host]


class Dependents(list[Dependent]):
    """Those of one other key."""

    def pieces(self, context: Context) -> tuple[ObjectPiece, ...]:
        """The objects that meet all of the conditions."""
        host = self[0].host
        goals = {dependent.values: dependent.goal for dependent in self}
        met_by: dict[Any, list[frozenset[Any]]] = {}
        for values in goals:
            for value in values:
                met_by.setdefault(value, []).append(values)
        classes = [*dict.fromkeys(map(frozenset, met_by.values())), frozenset[Any]()]
        result = []
        for met in classes:
            more = {values for other in classes if met < other for values in other - met}  # of values that meet those, too
            layers = [dependent.layer for dependent in self if dependent.values in met]
            layers += [context.single(host, context.opposite(goals[values])) for values in goals if values in more]
            absent = [dependent.name for dependent in self if dependent.values not in met]
            result.append(ObjectPiece((*dict.fromkeys(layers), _without(absent)), (host,)))
            context.ledger.count_work(len(self) + len(classes))
        result.append(ObjectPiece((_without([host, *(dependent.name for dependent in self if dependent.is_hosted)]),)))
        return tuple(result)


def found(unions: Sequence[tuple[ObjectPiece, ...]], context: Context) -> list[Dependents]:
    """All of one other key, where there are enough of them."""
    by_host: dict[str, Dependents] = {}
    for i, union in enumerate(unions):
        dependent = _dependent(i, union, context) if len(union) == 2 else None
        if dependent:
            by_host.setdefault(dependent.host, Dependents()).append(dependent)
    return [dependents for dependents in by_host.values() if len(dependents) >= _FEWEST]


def _dependent(at: int, union: tuple[ObjectPiece, ...], context: Context) -> Dependent | None:
    for without, beside in (union, union[::-1]):
        absent, layer = _single_key(without), _single_key(beside)
        if not absent or not layer or without != ObjectPiece((absent,)) or not absent.forbidden:
            continue
        (name,), ((host, goal),) = absent.named, layer.named.items()
        required = frozenset(beside.required)
        if name == host or not {name} <= required <= {name, host} or beside != ObjectPiece((layer,), beside.required):
            continue
        values = _values(goal, context)
        if values is not None:
            return Dependent(at, name, host, layer, values, host in required)
    return None


def _single_key(piece: ObjectPiece) -> ObjectLayer | None:
    """The only layer of a piece, if it says something of one key alone."""
    if len(piece.layers) != 1:
        return None
    (layer,) = piece.layers
    return layer if len(layer.named) == 1 and not layer.classes and layer.others == ANYTHING else None


def _values(goal: Goal, context: Context) -> frozenset[Any] | None:
    """The values that meet a goal, if they are listed, and have a negation."""
    if len(goal) != 1 or not context.is_listed(goal):
        return None
    shape = context.normaliser.shape(goal)
    listed = all(piece == StringPiece(values=piece.values) for piece in shape.strings) and all(
        piece == NumberPiece(values=piece.values) for piece in shape.numbers
    )
    return frozenset(shape.scalars()) if listed and shape.exact else None


def _without(names: Iterable[str]) -> ObjectLayer:
    return ObjectLayer(dict.fromkeys(names, NEVER))
