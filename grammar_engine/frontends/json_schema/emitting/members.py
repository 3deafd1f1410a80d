"""What a member of a counted array or object may be: which goals it meets, and which conditions it thereby helps to meet.

Idea. A condition counts the members that meet a goal. A grammar guesses for each member whether it is counted. A member that is counted
has to meet the goal; one that is not counted need not fail it, as long as more may be counted than are: a text is accepted if *some*
guess works out. Only where a condition bounds from above, or is marked exact, or where values must not be taken twice, has a member that is
not counted to fail the goal. So most conditions need no negation.

Invariant. The kinds of a member together are all members. With `apart` they have no value in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ....errors import UnsupportedSchemaError
from ....ir import Way
from ..containers.arrays import ArrayPiece
from ..context import Context
from ..reading.places import Goal, both

_COST = 4  # of a kind of members, in alternatives
_MOST_KINDS = 256

Slots = list[tuple[int, int | None]]


class Condition(NamedTuple):
    """A goal that members are counted for, and the slot that counts them."""

    slot: int
    goal: Goal
    is_exact: bool  # all members that meet the goal are counted: it is bounded from above, or that is cheap to tell


class Kind(NamedTuple):
    """Members that meet a goal and raise some slots."""

    goal: Goal
    slots: tuple[int, ...]


def kinds(context: Context, goal: Goal, conditions: Iterable[Condition], apart: bool = False) -> list[Kind]:
    """The kinds of a member that has to meet `goal`; some may turn out to be impossible."""
    result = [Kind(goal, ())]
    for slot, asked, is_exact in conditions:
        split = []
        for kind in result:
            inside = both(kind.goal, asked)
            if inside == kind.goal or (kind.goal and context.is_void_goal(both(kind.goal, context.opposite(asked)))):
                split.append(Kind(kind.goal, (*kind.slots, slot)))
                continue
            if not context.is_void_goal(inside):
                split.append(Kind(inside, (*kind.slots, slot)))
            outside = both(kind.goal, context.opposite(asked)) if is_exact or apart else kind.goal
            if not context.is_void_goal(outside):
                split.append(Kind(outside, kind.slots))
        result = split
        if len(result) > 1 and asked:
            context.ledger.count_items(_COST * len(result), asked[0])
        if len(result) > _MOST_KINDS:
            pointer, _, keyword = asked[0].pointer.rpartition("/") if asked else ("", "", "")
            reason = (
                f"conditions that a member can meet in more than {_MOST_KINDS} ways at once; use fewer, or such that exclude each other"
            )
            raise UnsupportedSchemaError(reason, pointer=pointer, keyword=keyword)
    return result


def item_kinds(context: Context, piece: ArrayPiece, position: int) -> list[Kind]:
    """What the item at a position may be; slots are indices of counts."""
    conditions = []
    for i, count in enumerate(piece.counts):
        # Guesses at which items are counted make as many states as the count may have: for listed values it is better to know.
        is_exact = count.most is not None or (count.fewest > 1 and context.is_listed(count.goal))
        if count.start <= position:
            conditions.append(Condition(i, count.goal, is_exact))
    return kinds(context, piece.goal(position), conditions, apart=piece.unique is not None)


class Bag:
    """The ways and slots of a bag, while they are collected."""

    def __init__(self) -> None:
        self.ways: list[Way] = []
        self.slots: Slots = []

    def slot(self, fewest: int, most: int | None) -> int:
        """A new slot."""
        self.slots.append((fewest, most))
        return len(self.slots) - 1
