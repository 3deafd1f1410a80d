"""Sets of arrays: a goal for each position, and a length.

Idea. A piece is a list of *layers*, one for each schema that had a say: a layer gives the goals of the first positions and the goal of
all others. The goal of a position is then what all layers ask of it, so the conjunction of two pieces is the concatenation of their
layers, and nothing is expanded before it is needed.

Invariant. `longest` is None or at least `shortest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import UnsupportedSchemaError
from .places import ANYTHING, NEVER, Goal, both

if TYPE_CHECKING:
    from .context import Context


class ArrayLayer(NamedTuple):
    """What one schema asks of the items."""

    prefix: tuple[Goal, ...]
    rest: Goal


class ArrayPiece(NamedTuple):
    """The arrays that meet all of these conditions."""

    layers: tuple[ArrayLayer, ...] = ()
    shortest: int = 0
    longest: int | None = None

    def meet(self, other: ArrayPiece) -> ArrayPiece | None:
        """What both pieces have in common, or None where that is known to be nothing."""
        shortest = max(self.shortest, other.shortest)
        longest = self.longest if other.longest is None else other.longest if self.longest is None else min(self.longest, other.longest)
        if longest is not None and shortest > longest:
            return None
        return ArrayPiece((*self.layers, *(x for x in other.layers if x not in self.layers)), shortest, longest)

    def prefix_length(self) -> int:
        """The number of positions that have a goal of their own."""
        return max((len(layer.prefix) for layer in self.layers), default=0)

    def goal(self, position: int) -> Goal:
        """What the item at a position has to meet."""
        goal = ANYTHING
        for layer in self.layers:
            goal = both(goal, layer.prefix[position] if position < len(layer.prefix) else layer.rest)
        return goal

    def covers(self, other: ArrayPiece) -> bool:
        """Whether the other piece is seen to be a part of this one (False: maybe it is)."""
        return (
            all(layer in other.layers for layer in self.layers)
            and self.shortest <= other.shortest
            and (self.longest is None or (other.longest is not None and other.longest <= self.longest))
        )

    def negations(self, context: Context) -> list[ArrayPiece]:
        """Pieces that together are all other arrays.

        Raises
        ------
        UnsupportedSchemaError
            An item somewhere behind the prefix would have to differ.
        """
        result = []
        if self.shortest:
            result.append(ArrayPiece(longest=self.shortest - 1))
        if self.longest is not None:
            result.append(ArrayPiece(shortest=self.longest + 1))
        for layer in self.layers:
            for position, goal in enumerate(layer.prefix):
                for other in context.negated(goal):
                    prefix = (*([ANYTHING] * position), other)
                    result.append(ArrayPiece((ArrayLayer(prefix, ANYTHING),), shortest=position + 1))
            if layer.rest == NEVER:
                result.append(ArrayPiece(shortest=len(layer.prefix) + 1))
            elif layer.rest != ANYTHING:
                if self.longest is None or self.longest > len(layer.prefix) + _MOST_POSITIONS:
                    raise UnsupportedSchemaError(
                        "the negation of `items` asks for one item that differs, at any position",
                        pointer=layer.rest[0].pointer,
                        keyword="items",
                    )
                for position in range(len(layer.prefix), self.longest):
                    for other in context.negated(layer.rest):
                        prefix = (*([ANYTHING] * position), other)
                        result.append(ArrayPiece((ArrayLayer(prefix, ANYTHING),), shortest=position + 1))
        return result

    def is_void(self, context: Context) -> bool:
        """Whether a position that has to be filled is known to admit nothing."""
        prefix = self.prefix_length()
        return any(context.is_void_goal(self.goal(i)) for i in range(min(self.shortest, prefix + 1)))


ARRAYS = ArrayPiece()
_MOST_POSITIONS = 16  # positions that a negation enumerates
