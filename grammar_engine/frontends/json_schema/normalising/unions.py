"""Closed objects of an `anyOf`, in proportion to its branches.

Idea. An object that may only have keys which branches name that admit it has the keys of one branch, or of two, and so on: 2**n sets of
branches. But where each branch only gives keys their goals and requires some, and no two give a key different goals, what matters is which
keys are there:

    anyOf: [{a, b; required a}, {a, c; required c}, {d, e; required d}]

    {a}, {c} or {d} is there     at least one branch admits the object,
    b needs a, e needs d         ... and one that names this key,
    a leaves a choice: {a}, {c}  ... one of several

That is one piece. Values need no look: a key that is there is named by a branch that admits the object, so it meets the goal, for all.

Invariant. The objects of the piece are those of the 2**n. Its keys are in an order in which those of each branch keep their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from ..containers.objects import Choice, ObjectLayer, ObjectPiece
from ..context import Context
from ..reading.keywords import Status
from ..reading.places import NEVER, Goal, Place, spelling
from .tracked import Keys, Marked

_COMPARED = 16  # sets of keys take as long to compare as two small pieces


class Union(NamedTuple):
    """Some branches as one piece, with the keys that they name, and those of what they were met with."""

    piece: ObjectPiece
    mark: Keys


class _Branch(NamedTuple):
    """A branch that only gives keys their goals, and requires some."""

    piece: ObjectPiece
    names: list[str]


def in_one_piece(certain: Marked, branches: Sequence[Marked], asked: Iterable[str], context: Context) -> Union | None:
    """The objects of some branches, met with what is certain, as one piece; None where they are no such branches.

    Its keys are those that are certain, those in `asked`, and those of branches that admit the object. It is not closed against others.
    """
    simple = [_simple(branch) for branch in branches]
    if len(certain) != 1 or not all(simple):
        return None
    ((mark, own),) = certain.items()
    if len(own) != 1 or mark.everything:
        return None
    return _Joining(context, own[0], mark, [branch for branch in simple if branch], frozenset(asked)).union()


def _simple(branch: Marked) -> _Branch | None:
    if len(branch) != 1:
        return None
    ((mark, union),) = branch.items()
    if len(union) != 1 or mark.everything or mark.classes:
        return None
    (piece,) = union
    if piece.fewest or piece.most is not None or piece.witnesses or piece.needs or piece.choices:
        return None
    names = list(dict.fromkeys(name for layer in piece.layers for name in layer.named))
    if any(layer.classes or layer.others for layer in piece.layers) or mark.names != set(names):
        return None
    return _Branch(piece, names)


class _Joining:
    """Joins branches."""

    def __init__(self, context: Context, own: ObjectPiece, mark: Keys, branches: list[_Branch], asked: frozenset[str]):
        self.context = context
        self.own = own
        self.mark = mark
        self.branches = branches
        self.naming: dict[str, list[int]] = {}  # by key: the branches that name it
        for i, branch in enumerate(branches):
            for name in branch.names:
                self.naming.setdefault(name, []).append(i)
        self.known = {name for layer in own.layers for name in layer.named} | self.naming.keys()  # they have a place in the order
        self.free = {name for name in self.naming if any(context.matches(keys, name) for keys in mark.classes)} | mark.names | asked
        self.beside: dict[str, list[str]] = {}  # what keys need, whatever branch it is
        for name, needed in own.needs:
            self.beside.setdefault(name, []).append(needed)

    def union(self) -> Union | None:
        """The branches as one piece; None, if that would not be right."""
        goals, order = self._goals(), self._order()
        sets = [self._all_required(i) for i in range(len(self.branches))]
        if goals is None or order is None or None in sets:
            return None
        required = self._least([keys for keys in sets if keys is not None])
        choices = [Choice(None, required)] if len(required) > 1 else []
        needs: list[tuple[str, str]] = []
        for name, owners in self.naming.items():
            if name in self.free or len(owners) == len(sets):
                continue
            beside = self._least([keys - {name} for i in owners if (keys := sets[i]) is not None])
            if len(beside) > 1:
                choices.append(Choice(name, beside))
            else:
                needs += [(name, other) for other in sorted(beside[0])]
        layer = ObjectLayer({name: goals[name] for name in order if name in goals})
        always = tuple(sorted(required[0])) if len(required) == 1 else ()
        piece = self.own.meet(ObjectPiece((layer,), always, needs=tuple(needs), choices=tuple(choices)))
        return None if piece is None else Union(piece, self.mark.plus(Keys(frozenset(self.naming))))

    def _goals(self) -> dict[str, Goal] | None:
        """The goals of the keys that branches name. None: two give a key different ones, or one that may be there beside any branch."""
        result = {}
        for name, owners in self.naming.items():
            goal = self.branches[owners[0]].piece.goal(name, self.context)
            if goal is NEVER or not all(self._are_alike(goal, self.branches[i].piece.goal(name, self.context)) for i in owners[1:]):
                return None
            if name not in self.free or len(owners) == len(self.branches):
                result[name] = goal
            elif goal and not self._are_alike(goal, self.own.goal(name, self.context)):
                return None
        return result

    def _are_alike(self, first: Goal, second: Goal) -> bool:
        """Whether two goals are seen to be met by the same values: what they enforce is written alike."""
        if first == second or spelling(first) == spelling(second):
            return True
        if len(first) != 1 or len(second) != 1:
            return False
        (one,), (other,) = first, second
        return (one.frame, one.positive, one.tracked) == (other.frame, other.positive, other.tracked) and _enforced(one) == _enforced(other)

    def _order(self) -> list[str] | None:
        """The keys in an order in which those of each branch keep theirs, as early as they come in any; None, if there is none.

        Keys that a branch only requires come last, in order if there are several, but as others do where another branch is met.
        """
        places = {name: place for place, name in enumerate(self.naming)}
        after: dict[str, set[str]] = {name: set() for name in self.naming}
        for branch in self.branches:
            if sum(name not in self.known for name in branch.piece.required) > 1:
                return None
            for name, other in pairwise(branch.names):
                after[name].add(other)
        n_before = dict.fromkeys(places, 0)
        for others in after.values():
            for other in others:
                n_before[other] += 1
        ready = [(place, name) for name, place in places.items() if not n_before[name]]
        result = []
        while ready:
            name = heappop(ready)[1]
            result.append(name)
            for other in after[name]:
                n_before[other] -= 1
                if not n_before[other]:
                    heappush(ready, (places[other], other))
        return result if len(result) == len(places) else None

    def _all_required(self, branch: int) -> frozenset[str] | None:
        """The keys that must be there, beside those that always are, for a branch to admit the object. None, if it requires what
        several others name, or none.
        """
        result = dict.fromkeys(self.branches[branch].piece.required)
        pending = list(result)
        for name in pending:
            more = self.beside.get(name, [])
            naming = self.naming.get(name, ())
            if name not in self.free and branch not in naming:
                if len(naming) != 1:
                    return None
                more = [*more, *self.branches[naming[0]].piece.required]
            pending += [other for other in more if other not in result]
            result.update(dict.fromkeys(more))
        return frozenset(result).difference(self.own.required)

    def _least(self, sets: Sequence[frozenset[str]]) -> tuple[frozenset[str], ...]:
        """The sets that have none of the others as a part."""
        by_size = sorted(dict.fromkeys(sets), key=len)
        self.context.ledger.count_work(len(by_size) ** 2 // _COMPARED)
        result: list[frozenset[str]] = []
        for keys in by_size:
            if not any(other <= keys for other in result):
                result.append(keys)
        return tuple(result)


def _enforced(place: Place) -> object:
    """What a schema enforces, as it is written."""
    if not isinstance(place.value, dict):
        return place.spelling
    number = place.frame.spellings.number
    known = place.keywords
    return {
        keyword: number(value)
        for keyword, value in place.value.items()
        if keyword.startswith("$") or (keyword in known and known[keyword].status is Status.ENFORCED)
    }
