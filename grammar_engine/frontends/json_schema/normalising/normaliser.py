"""Shapes of places and goals, each computed once: the loop that drives the steps.

Idea. What a place means (`meaning.py`) is a generator that *yields* the places whose shapes it needs. One loop with an explicit stack
sends it those, so chains of references of any length take no Python recursion. Goals of several places are met place by place; schemas that
refer to each other inside `allOf` can make a goal of every set of places, so goals count against `max_schema_nodes`. So do shapes of many
alternatives or conditions: along a chain of n references they may grow to n**2.

Invariant. A place that needs itself (references and nothing else) is an error, not a loop. Where a proof asks for the shape of a place
or goal that is being computed, `Undecided` tells so.
"""

from __future__ import annotations

from ....errors import LimitExceededError, SchemaError
from ..algebra import shape
from ..algebra.shape import ANY, Shape
from ..context import Context
from ..reading.places import Goal, Place
from .assertions import Steps
from .meaning import Meaning
from .proofs import Proofs, Undecided


class Normaliser:
    """Computes shapes, each once."""

    def __init__(self, context: Context):
        self.context = context
        self.proofs = Proofs(context)
        self._meaning = Meaning(context)
        self._shapes: dict[Place, Shape] = {}
        self._goals: dict[Goal, Shape] = {(): ANY}
        self._active: dict[Place, None] = {}  # being computed, in order: a run takes out what it put in
        self._being_met: set[Goal] = set()  # goals whose shapes are being computed

    def shape(self, goal: Goal) -> Shape:
        """What meets a goal, one level deep."""
        if len(goal) == 1:
            (place,) = goal
            return self._shapes.get(place) or self._run(place)
        known = self._goals.get(goal)
        if known is None:
            if goal in self._being_met:
                raise Undecided
            self._being_met.add(goal)
            try:
                known = self._goals[goal] = self._narrower(goal) or self._meet(goal)
            except LimitExceededError as error:
                error.locate(goal[-1].pointer)
                raise
            finally:
                self._being_met.remove(goal)
        return known

    def _narrower(self, goal: Goal) -> Shape | None:
        """The shape of a goal that has places and their closed places, too, which admit a part of what those do: without those. Or None."""
        open_ones = {self.context.document.open.get(place) for place in goal} if self.context.document.open else set()
        if open_ones.isdisjoint(goal):
            return None
        known = self.shape(tuple(place for place in goal if place not in open_ones))
        return known if known.exact else None

    def _meet(self, goal: Goal) -> Shape:
        known = self._goals.get(goal[:-1])  # goals grow by one place at a time
        n_pairs = len(goal) * (len(goal) - 1) // 2 if known is None else 2 * len(goal)
        self.context.document.count(n_pairs, goal[-1].pointer)  # of n places there are 2^n goals
        for place in goal if known is None else goal[-1:]:
            known = shape.meet(known or ANY, self._shapes.get(place) or self._run(place), self.context)
        assert known is not None
        return known

    def _run(self, place: Place) -> Shape:
        of_type = self._meaning.of_type(place)
        if of_type is not None:
            self._shapes[place] = of_type
            return of_type
        stack: list[tuple[Place, Steps]] = []
        combining, n_active = self.context.ledger.combining, len(self._active)
        try:
            result = self._enter(place, stack)
            return result if result is not None else self._finish(stack)
        finally:
            while len(self._active) > n_active:
                self._active.popitem()
            self.context.ledger.combining = combining

    def _finish(self, stack: list[tuple[Place, Steps]]) -> Shape:
        """The shape of the first place on the stack, after those of all that it needs."""
        result: Shape | None = None
        while stack:
            try:
                wanted = stack[-1][1].send(result)  # type: ignore[arg-type]
            except StopIteration as stop:
                place = stack.pop()[0]
                result = self._shapes[place] = stop.value
                self.context.document.count(shape.bulk(stop.value), place.pointer)
            except LimitExceededError as error:
                place = stack.pop()[0]
                self.context.relax_or_raise_limit(error, place.pointer)
                result = self._shapes[place] = self._meaning.relaxed(place)
            else:
                result = self._shapes.get(wanted) or self._enter(wanted, stack)
        assert result is not None
        return result

    def _enter(self, place: Place, stack: list[tuple[Place, Steps]]) -> Shape | None:
        """Begin with a place: its shape where that needs no other place; otherwise it is left on the stack."""
        if place in self._active:
            if all(place is not other for other, _ in stack):
                raise Undecided
            reason = "the schema refers to itself without anything in between, so it says nothing"
            advice = "refer to it from inside `properties` or `items`"
            raise SchemaError(f"{reason}; {advice}", pointer=stack[-1][0].pointer, keyword="$ref")
        self._active[place] = None
        try:
            result = self._meaning.at_once(place, self._shapes)
        except LimitExceededError as error:
            error.locate(place.pointer)
            raise
        if result is None:
            stack.append((place, self._meaning.steps(place)))
        else:
            self._shapes[place] = result
        return result
