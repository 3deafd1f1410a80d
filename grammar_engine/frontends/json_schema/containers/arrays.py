"""Sets of arrays: a goal for each position, a length, how many items meet further goals, and whether all items differ, or two are equal.

Idea. A piece is a list of *layers*, one for each schema that had a say: a layer gives the goals of the first positions and the goal of
all others. The goal of a position is then what all layers ask of it, so the conjunction of two pieces is the concatenation of their
layers, and nothing is expanded before it is needed. *Counts* say how many of the items from some position on meet a goal: that is
`contains`, and also what is left of `items` when it is negated. So pieces are closed under `meet` and `negations`:

    not (items: g)                   at least 1 item meets not g
    not (1 to 3 items meet g)        no item meets g, which is items: not g; or at least 4 items meet g

Invariant. `longest` is None or at least `shortest`; `unique` is None where there is at most one item. Where `repeated` is not, `unique` is,
and `shortest` is at least 2. A count has a bound that says something, and a goal that is neither `ANYTHING` (that is a length) nor `NEVER`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..reading.places import ANYTHING, NEVER, Goal, Place, all_of, both, exclude_each_other

if TYPE_CHECKING:
    from ..context import Context


class ArrayLayer(NamedTuple):
    """What one schema asks of the items."""

    prefix: tuple[Goal, ...]
    rest: Goal


class Count(NamedTuple):
    """At least `fewest` and at most `most` (None: without bound) of the items from position `start` on meet `goal`."""

    goal: Goal
    fewest: int
    most: int | None
    start: int = 0


class ArrayPiece(NamedTuple):
    """The arrays that meet all of these conditions.

    Attributes
    ----------
    layers : tuple of ArrayLayer
    shortest, longest : int, int or None
    counts : tuple of Count
    unique, repeated : Place or None
        The place that asks for items that all differ, or, negated, for two that are equal.
    """

    layers: tuple[ArrayLayer, ...] = ()
    shortest: int = 0
    longest: int | None = None
    counts: tuple[Count, ...] = ()
    unique: Place | None = None
    repeated: Place | None = None

    def meet(self, other: ArrayPiece) -> ArrayPiece | None:
        """What both pieces have in common, or None where that is known to be nothing."""
        shortest = max(self.shortest, other.shortest)
        longest = self.longest if other.longest is None else other.longest if self.longest is None else min(self.longest, other.longest)
        if longest is not None and shortest > longest:
            return None
        layers = self.layers
        if other.layers and other.layers != layers:
            layers = tuple(dict.fromkeys((*layers, *other.layers)))
        counts = self.counts
        if other.counts and other.counts != counts:
            counts = tuple(dict.fromkeys((*counts, *other.counts)))
        for piece, layers_of_other in ((self, other.layers), (other, self.layers)):  # what each says by itself was looked at before
            for count in piece.counts:
                if count.fewest and (_forbids(layers_of_other, count) or (longest is not None and longest < count.start + count.fewest)):
                    return None
        unique = None if longest is not None and longest < 2 else self.unique or other.unique
        repeated = self.repeated or other.repeated
        return None if unique and repeated else ArrayPiece(layers, shortest, longest, counts, unique, repeated)

    def prefix_length(self) -> int:
        """The number of positions that differ from those after them in what is asked."""
        length = max((len(layer.prefix) for layer in self.layers), default=0)
        return max((length, *(count.start for count in self.counts))) if self.counts else length

    def goal(self, position: int) -> Goal:
        """What the item at a position has to meet."""
        asked = (layer.prefix[position] if position < len(layer.prefix) else layer.rest for layer in self.layers)
        goals = [goal for goal in asked if goal]
        return all_of(goals) if len(goals) > 1 else goals[0] if goals else ANYTHING

    def covers(self, other: ArrayPiece) -> bool:
        """Whether the other piece is seen to be a part of this one (False: maybe it is)."""
        return (
            self.shortest <= other.shortest
            and (self.longest is None or (other.longest is not None and other.longest <= self.longest))
            and (self.unique is None or other.unique is not None)
            and (self.repeated is None or other.repeated is not None)
            and len(self.layers) <= len(other.layers)
            and len(self.counts) <= len(other.counts)
            and all(layer in other.layers for layer in self.layers)
            and all(count in other.counts for count in self.counts)
        )

    def negations(self, context: Context) -> list[ArrayPiece]:
        """Pieces that together are all other arrays."""
        result: list[ArrayPiece | None] = []
        if self.unique is not None:
            result.append(ArrayPiece(shortest=2, repeated=self.unique))
        if self.repeated is not None:
            result.append(ArrayPiece(unique=self.repeated))
        if self.shortest:
            result.append(ArrayPiece(longest=self.shortest - 1))
        if self.longest is not None:
            result.append(ArrayPiece(shortest=self.longest + 1))
        for layer in self.layers:
            for position, goal in enumerate(layer.prefix):
                for other in context.negated(goal):
                    prefix = (*([ANYTHING] * position), other)
                    result.append(ArrayPiece((ArrayLayer(prefix, ANYTHING),), shortest=position + 1))
            result += [counted(context, other, 1, None, len(layer.prefix)) for other in context.negated(layer.rest)]
        for goal, fewest, most, start in self.counts:
            if fewest:
                result.append(counted(context, goal, 0, fewest - 1, start))
            if most is not None:
                result.append(counted(context, goal, most + 1, None, start))
        return [piece for piece in result if piece is not None]

    def is_void(self, context: Context) -> bool:
        """Whether a position that has to be filled is known to admit nothing, or no item can meet what one has to meet."""
        prefix = self.prefix_length()
        return any(context.is_void_goal(self.goal(i)) for i in range(min(self.shortest, prefix + 1))) or any(
            count.fewest and all(context.is_void_goal(both(self.goal(i), count.goal)) for i in range(count.start, prefix + 1))
            for count in self.counts
        )


ARRAYS = ArrayPiece()


def counted(context: Context, goal: Goal, fewest: int, most: int | None, start: int = 0) -> ArrayPiece | None:
    """The arrays of which `fewest` to `most` items from position `start` on meet a goal of one place; None if there are none."""
    if most is not None and fewest > most:
        return None
    if goal == NEVER:
        return None if fewest else ARRAYS
    if goal == ANYTHING:
        return ArrayPiece((), start + fewest if fewest else 0, None if most is None else start + most)
    if most == 0:
        return ArrayPiece((ArrayLayer((ANYTHING,) * start, context.opposite(goal)),))
    if not fewest and most is None:
        return ARRAYS
    return ArrayPiece(counts=(Count(goal, fewest, most, start),), shortest=start + fewest if fewest else 0)


def _forbids(layers: tuple[ArrayLayer, ...], count: Count) -> bool:
    """Whether a layer asks of all the items that are counted the opposite of what is counted."""
    return any(len(layer.prefix) <= count.start and exclude_each_other(layer.rest, count.goal) for layer in layers)
