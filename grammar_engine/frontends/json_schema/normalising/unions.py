"""Closed objects of an `anyOf`, in proportion to its branches.

Idea. An object that may only have keys which branches name that admit it has the keys of one branch, or of two, and so on: 2**n sets of
branches. But where each branch only gives keys their goals and requires some, and no two give a key different goals, what matters is which
keys are there:

    anyOf: [{a, b; required a}, {a, c; required c}, {d, e; required d}]

    {a}, {c} or {d} is there     at least one branch admits the object,
    b needs a, e needs d         ... and one that names this key,
    a leaves a choice: {a}, {c}  ... one of several

That is one piece. Values need no look: a key that is there is named by a branch that admits the object, so it meets the goal, for all.
Where branches do give a key different goals, there is a piece for each of them: without the branches that the value does not meet.

Invariant. The objects of the pieces are those of the 2**n. Their keys are in an order in which those of each branch keep their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from ..containers.objects import Choice, ObjectLayer, ObjectPiece
from ..context import Context
from ..reading.keywords import Status
from ..reading.places import ANYTHING, NEVER, Goal, Place, both, spelling
from .tracked import Keys, Marked

_COMPARED = 64  # sets of keys take as long to compare as two small pieces,
_IN_SETS = 8  # as so many keys in them take beside
_MOST_PIECES = 256
_MEMBERS = 4  # of a branch are looked at and written in that time


class Joined(NamedTuple):
    """Objects of some branches as one piece, with the keys that these name, and those of what they were met with."""

    piece: ObjectPiece | None  # None: there are none
    mark: Keys


class _Branch(NamedTuple):
    """A branch that only gives keys their goals, and requires some."""

    goals: dict[str, Goal]
    required: tuple[str, ...]


class _Part(NamedTuple):
    """The objects of some branches in which certain keys have certain values.

    Attributes
    ----------
    branches : list of _Branch
    values : dict of str to Goal
        Of keys to which branches gave different goals.
    required : tuple of str
        Those of these keys that are there.
    """

    branches: list[_Branch]
    values: dict[str, Goal]
    required: tuple[str, ...]


def in_few_pieces(certain: Marked, branches: Sequence[Marked], asked: Iterable[str], context: Context) -> list[Joined] | None:
    """The objects of some branches, met with what is certain, in few pieces; None where they are no such branches.

    Their keys are those that are certain, those in `asked`, and those of branches that admit the object. Others are not excluded yet.
    """
    simple = [found for branch in branches if (found := _simple(branch, context)) is not None]
    if len(certain) != 1 or len(simple) < len(branches):
        return None
    ((mark, own),) = certain.items()
    if len(own) != 1 or mark.everything or own[0].fewest or own[0].most is not None or own[0].witnesses:
        return None  # a bag has no place for choices beside counts
    joining = _Joining(context, own[0], mark, frozenset(asked))
    pending = [_Part(simple, {}, ())]
    result: list[Joined] = []
    while pending:
        part = pending.pop()
        context.ledger.count_work(sum([len(branch.goals) for branch in part.branches]) // _MEMBERS)
        parts = joining.split(part)
        if parts is None:
            union = joining.union(part)
            if union is None:
                return None
            result.append(union)
        else:
            pending += reversed(parts)
        if len(pending) + len(result) >= _MOST_PIECES:
            return None
    return result


def _simple(branch: Marked, context: Context) -> _Branch | None:
    if len(branch) != 1:
        return None
    ((mark, union),) = branch.items()
    if len(union) != 1 or mark.everything or mark.classes:
        return None
    (piece,) = union
    if piece.fewest or piece.most is not None or piece.witnesses or piece.needs or piece.choices:
        return None
    goals = dict(piece.goals(list(dict.fromkeys(name for layer in piece.layers for name in layer.named)), context))
    if any(layer.classes or layer.others for layer in piece.layers) or mark.names != goals.keys():
        return None
    return _Branch(goals, piece.required)


class _Joining:
    """Joins branches that are met with what is certain."""

    def __init__(self, context: Context, own: ObjectPiece, mark: Keys, asked: frozenset[str]):
        self.context = context
        self.own = own
        self.mark = mark
        self.asked = asked
        self.known = {name for layer in own.layers for name in layer.named}  # keys that have a place in the order
        self.beside: dict[str, list[str]] = {}  # what keys need, whatever branch it is
        for name, needed in own.needs:
            self.beside.setdefault(name, []).append(needed)

    def is_free(self, name: str) -> bool:
        """Whether a key may be there whichever branch admits the object."""
        return name in self.mark.names or name in self.asked or any(self.context.matches(keys, name) for keys in self.mark.classes)

    # --- keys with several goals ------------------------------------------------------------------------------------------

    def split(self, part: _Part) -> list[_Part] | None:
        """The same objects by what the value of a key meets to which branches give different goals; None, if there is no such key."""
        for name, owners in _naming(part.branches).items():
            goals = [part.branches[i].goals[name] for i in owners]
            if name in part.values or (self._are_all_alike(goals) and goals[0] is not NEVER and not self._matters(name, goals, part)):
                continue
            return self._by_value(part, name, owners)
        return None

    def _matters(self, name: str, goals: list[Goal], part: _Part) -> bool:
        """Whether a key may have another value, beside other branches."""
        if not goals[0] or len(goals) == len(part.branches) or not self.is_free(name):
            return False
        return not self._are_alike(goals[0], self.own.goal(name, self.context))

    def _by_value(self, part: _Part, name: str, owners: list[int]) -> list[_Part]:
        branches = part.branches
        others = [branch for branch in branches if name not in branch.goals]
        classes: list[tuple[Goal, list[int]]] = []
        for i in owners:
            alike = next((numbers for goal, numbers in classes if self._are_alike(goal, branches[i].goals[name])), None)
            if alike is None:
                classes.append((branches[i].goals[name], [i]))
            else:
                alike.append(i)
        kinds: list[tuple[Goal, list[int]]] = [(self.own.goal(name, self.context), [])]
        for goal, numbers in classes:
            more = ((both(kind, goal), members + numbers) for kind, members in kinds)
            kinds += [kind for kind in more if len(kinds) <= _MOST_PIECES and not self.context.is_void_goal(kind[0])]
        free = self.is_free(name)
        optional = not free and len(kinds) > 1 and all(name in branches[i].required for i in owners)
        result = [part._replace(branches=others)] if free else []  # it may have any value, and count for no branch
        for goal, members in kinds[1:]:
            chosen = [branch for i, branch in enumerate(branches) if i in members or name not in branch.goals]
            result.append(_Part(chosen, {**part.values, name: goal}, part.required if optional else (*part.required, name)))
        if not optional:
            without = [_without(branch, name) for branch in branches if name not in branch.required]
            result.append(_Part(without, {**part.values, name: NEVER}, part.required))
        return [each for each in result if each.branches]

    def _are_all_alike(self, goals: list[Goal]) -> bool:
        return all(self._are_alike(goals[0], goal) for goal in goals[1:])

    def _are_alike(self, first: Goal, second: Goal) -> bool:
        """Whether two goals are seen to be met by the same values: what they enforce is written alike."""
        if first == second or spelling(first) == spelling(second):
            return True
        if len(first) != 1 or len(second) != 1:
            return False
        (one,), (other,) = first, second
        return (one.frame, one.positive, one.tracked) == (other.frame, other.positive, other.tracked) and _enforced(one) == _enforced(other)

    # --- one piece --------------------------------------------------------------------------------------------------------

    def union(self, part: _Part) -> Joined | None:
        """The objects of a part, in which no key has several goals, as one piece; None, if that would not be right."""
        naming, branches = _naming(part.branches), part.branches
        free = {name for name in naming if self.is_free(name)} | self.asked | self.mark.names
        order = self._order(part, naming)
        sets = [self._all_required(part, i, naming, free) for i in range(len(branches))] if order is not None else []
        if order is None or None in sets:
            return None
        required = self._least([keys for keys in sets if keys is not None])
        choices = [Choice(None, required)] if len(required) > 1 else []
        needs: list[tuple[str, str]] = []
        for name, owners in naming.items():
            if name in free or len(owners) == len(branches):
                continue
            beside = self._least([keys - {name} for i in owners if (keys := sets[i]) is not None])
            self.context.ledger.count_work(sum(map(len, beside)) // _MEMBERS)
            if len(beside) > 1:
                choices.append(Choice(name, beside))
            else:
                needs += [(name, other) for other in sorted(beside[0])]
        goals = dict.fromkeys(order, ANYTHING)
        for name, owners in naming.items():
            if name not in free or len(owners) == len(branches):
                goals[name] = branches[owners[0]].goals[name]
        alike = dict.fromkeys(branches[i].goals[name] for name, owners in naming.items() for i in owners)
        layer = ObjectLayer({**goals, **part.values}, alike=tuple(goal for goal in alike if goal))
        always = (*part.required, *(sorted(required[0]) if len(required) == 1 else ()))
        piece = self.own.meet(ObjectPiece((layer,), tuple(dict.fromkeys(always)), needs=tuple(needs), choices=tuple(choices)))
        return Joined(piece, self.mark.plus(Keys(frozenset(naming))))

    def _order(self, part: _Part, naming: dict[str, list[int]]) -> list[str] | None:
        """The keys in an order in which those of each branch keep theirs, as early as they come in any; None, if there is none.

        None, too, if a branch requires several keys that nobody names: these stand in order where it admits the object, else in any.
        """
        places = {name: place for place, name in enumerate(naming)}
        after: dict[str, set[str]] = {name: set() for name in naming}
        for branch in part.branches:
            if sum(name not in self.known and name not in naming for name in branch.required) > 1:
                return None
            for name, other in pairwise(branch.goals):
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

    def _all_required(self, part: _Part, branch: int, naming: dict[str, list[int]], free: set[str]) -> frozenset[str] | None:
        """The keys that must be there, beside those that always are, for a branch to admit the object. None, if it requires what
        several others name, or none.
        """
        result = dict.fromkeys(part.branches[branch].required)
        pending = list(result)
        for name in pending:
            more: Sequence[str] = self.beside.get(name, [])
            owners = naming.get(name, ())
            if name not in free and branch not in owners:
                if len(owners) != 1:
                    return None
                more = [*more, *part.branches[owners[0]].required]
            pending += [other for other in more if other not in result]
            result.update(dict.fromkeys(more))
            self.context.ledger.count_work(len(more) // _MEMBERS)
        self.context.ledger.count_work(len(result) // _MEMBERS)
        return frozenset(result).difference(self.own.required, part.required)

    def _least(self, sets: Sequence[frozenset[str]]) -> tuple[frozenset[str], ...]:
        """The sets that have none of the others as a part."""
        by_size = sorted(dict.fromkeys(sets), key=len)
        self.context.ledger.count_work(len(by_size) * (len(by_size) + sum(map(len, by_size)) // _IN_SETS) // _COMPARED)
        result: list[frozenset[str]] = []
        for keys in by_size:
            if not any(other <= keys for other in result):
                result.append(keys)
        return tuple(result)


def _without(branch: _Branch, name: str) -> _Branch:
    return _Branch({key: goal for key, goal in branch.goals.items() if key != name}, branch.required)


def _naming(branches: Sequence[_Branch]) -> dict[str, list[int]]:
    """By key: the branches that name it."""
    result: dict[str, list[int]] = {}
    for i, branch in enumerate(branches):
        for name in branch.goals:
            result.setdefault(name, []).append(i)
    return result


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
