"""Proofs about goals: that one admits nothing, that two exclude each other, that one is met by listed scalars only.

Idea. A shape tells whether it is empty, one level deep; what lies inside are goals again. So a proof looks into goals inside goals, to a
depth that is bounded, and remembers how deep it looked.

Invariant. "No" means "maybe not": so a proof that would need the shape of a place that is being computed, or of one that is refused, is
just not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....errors import UnsupportedSchemaError
from ..algebra import shape
from ..reading.places import NEVER, Goal, both

if TYPE_CHECKING:
    from ..context import Context

_MAX_DEPTH = 8  # goals inside goals


class Undecided(Exception):  # noqa: N818 - caught by whoever looks for a proof, and never seen outside
    """A proof needs a shape that is being computed."""


class Proofs:
    """Looks for proofs, and remembers what was found."""

    def __init__(self, context: Context):
        self._context = context
        self._void: set[Goal] = set()
        self._searched: dict[Goal, int] = {}  # how deep a proof of emptiness was looked for
        self._listed_apart: dict[tuple[Goal, Goal], bool] = {}  # of goals that are met by listed scalars only
        self._depth = 0

    @property
    def is_searching(self) -> bool:
        """Whether a proof is being looked for: what is computed then may never be needed."""
        return self._depth > 0

    def is_void(self, goal: Goal) -> bool:
        """Whether a goal is known to admit nothing (False: maybe it admits something)."""
        if goal is NEVER or not goal:
            return goal is NEVER
        effort = _MAX_DEPTH - self._depth
        if self._searched.get(goal, 0) >= effort:
            return goal in self._void
        self._depth += 1
        try:
            if self._context.normaliser.shape(goal).is_void(self._context):
                self._void.add(goal)
                effort = _MAX_DEPTH
        except Undecided:
            return False
        except UnsupportedSchemaError:
            pass
        finally:
            self._depth -= 1
        self._searched[goal] = effort
        return goal in self._void

    def exclude_each_other(self, first: Goal, second: Goal) -> bool:
        """Whether two goals are known to have nothing in common (False: maybe they have)."""
        known = self._listed_apart.get((first, second))
        if known is None:
            if not self.is_listed(first) or not self.is_listed(second):
                return self.is_void(both(first, second))
            common = shape.meet(self._context.normaliser.shape(first), self._context.normaliser.shape(second), self._context)
            known = self._listed_apart[first, second] = common.is_void(self._context)
        return known

    def is_listed(self, goal: Goal) -> bool:
        """Whether a goal is known to be met by some listed scalars only."""
        if self._depth >= _MAX_DEPTH:
            return False
        self._depth += 1
        try:
            return self._context.normaliser.shape(goal).is_listed()
        except (Undecided, UnsupportedSchemaError):
            return False
        finally:
            self._depth -= 1
