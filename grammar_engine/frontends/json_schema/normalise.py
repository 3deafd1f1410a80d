"""From places to shapes: what each keyword means, as operations of the algebra.

Idea. The shape of a place is computed from its own assertions (`assertions.py`) and then met with the shapes of the schemas that
apply to the same place: `$ref`, `allOf`, `anyOf`, `oneOf`, `not`, `if`, `dependentSchemas`. Each step is a generator that *yields*
the places whose shapes it needs; one loop with an explicit stack drives them, so chains of references of any length take no
Python recursion. A shape is computed once for each place.

Invariant. A place that needs itself (references and nothing else) is an error, not a loop. A proof that would need the shape of a place
that is being computed is not found, which is safe: `is_void` False means "maybe not".
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property
from typing import Any

from ...errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from . import pieces, shape
from .assertions import Assertions
from .context import Context, Undecided
from .exclusive import one_of
from .keywords import Group
from .objects import OBJECTS, ObjectPiece
from .places import NEVER, Goal, Place, both
from .shape import ANY, NONE, Shape
from .sorting import is_reference, report_reference, sort_keywords
from .strings import STRINGS
from .unevaluated import Tracker

Steps = Generator[Place, Shape, Shape]
Own = tuple[dict[str, Any], frozenset[Group], Shape]  # the keywords of a schema that count, their groups, and what they assert

_MAX_PROOF_DEPTH = 8  # goals inside goals that a proof of emptiness looks into
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Normaliser:
    """Computes shapes, each once."""

    def __init__(self, context: Context):
        self.context = context
        self.document = context.document
        self.assertions = Assertions(context)
        self._own: dict[Place, Own] = {}
        self._shapes: dict[Place, Shape] = {}
        self._goals: dict[Goal, Shape] = {(): ANY}
        self._active: dict[Place, None] = {}  # being computed, in order: a run takes out what it put in
        self._void: set[Goal] = set()
        self._searched: dict[Goal, int] = {}  # how deep a proof of emptiness was looked for
        self._proof_depth = 0

    @cached_property
    def tracker(self) -> Tracker:
        """Computes the shapes of tracked places, of which most schemas have none."""
        return Tracker(self)

    def shape(self, goal: Goal) -> Shape:
        """What meets a goal, one level deep."""
        if len(goal) == 1:
            return self._shapes.get(goal[0]) or self._run(goal[0])
        known = self._goals.get(goal)
        if known is None:
            known = self._goals.get(goal[:-1])  # goals grow by one place at a time
            for place in goal if known is None else goal[-1:]:
                known = shape.meet(known or ANY, self._shapes.get(place) or self._run(place), self.context)
            assert known is not None
            self._goals[goal] = known
        return known

    def is_void(self, goal: Goal) -> bool:
        """Whether a goal is known to admit nothing (False: maybe it admits something)."""
        if goal is NEVER or not goal:
            return goal is NEVER
        effort = _MAX_PROOF_DEPTH - self._proof_depth
        if self._searched.get(goal, 0) >= effort:
            return goal in self._void
        self._proof_depth += 1
        try:
            if self.shape(goal).is_void(self.context):
                self._void.add(goal)
                effort = _MAX_PROOF_DEPTH
        except (Undecided, UnsupportedSchemaError):
            return False
        finally:
            self._proof_depth -= 1
        self._searched[goal] = effort
        return goal in self._void

    def exclude_each_other(self, first: Goal, second: Goal) -> bool:
        """Whether two goals are known to have nothing in common (False: maybe they have)."""
        if self.is_listed(first) and self.is_listed(second):
            return shape.meet(self.shape(first), self.shape(second), self.context).is_void(self.context)
        return self.is_void(both(first, second))

    def is_listed(self, goal: Goal) -> bool:
        """Whether a goal is known to be met by some listed scalars only."""
        if self._proof_depth >= _MAX_PROOF_DEPTH:
            return False
        self._proof_depth += 1
        try:
            return self.shape(goal).is_listed()
        except (Undecided, UnsupportedSchemaError):
            return False
        finally:
            self._proof_depth -= 1

    # --- the loop ---------------------------------------------------------------------------------------------------------

    def _run(self, place: Place) -> Shape:
        stack: list[tuple[Place, Steps]] = []
        combining, n_active = self.context.combining, len(self._active)
        try:
            result = self._enter(place, stack)
            while stack:
                try:
                    wanted = stack[-1][1].send(result)  # type: ignore[arg-type]
                except StopIteration as stop:
                    result = self._shapes[stack.pop()[0]] = stop.value
                except LimitExceededError as error:
                    place = stack.pop()[0]
                    self.context.relax_explosion(error, place)
                    result = self._shapes[place] = self._own[place][2].inexact() if place in self._own else ANY.inexact()
                else:
                    result = self._shapes.get(wanted) or self._enter(wanted, stack)
        finally:
            while len(self._active) > n_active:
                self._active.popitem()
            self.context.combining = combining
        assert result is not None
        return result

    def _enter(self, place: Place, stack: list[tuple[Place, Steps]]) -> Shape | None:
        """Begin with a place: its shape where that needs no other place; otherwise it is left on the stack."""
        if place in self._active:
            if all(place is not other for other, _ in stack):
                raise Undecided
            reason = "the schema refers to itself without anything in between, so it says nothing; refer to it from inside `properties` or `items`"
            raise SchemaError(reason, pointer=stack[-1][0].pointer, keyword="$ref")
        self._active[place] = None
        result = self._at_once(place)
        if result is None:
            stack.append((place, self._steps(place)))
        else:
            self._shapes[place] = result
        return result

    def _at_once(self, place: Place) -> Shape | None:
        """The shape of a place that has only assertions, or only a reference to a known shape, as most have."""
        if not place.positive or place.tracked or place.any_of or place.strings_of:
            return None
        schema = place.value
        if isinstance(schema, bool) or "propertyNames" in schema:
            return None
        if is_reference(place):
            report_reference(self.context, place)
            target = self.target(place, "$ref")
            return ANY.inexact() if target is None else self._shapes.get(target)
        _, groups, result = self._own[place] = self._asserted(place)
        return None if Group.APPLICATOR in groups or Group.UNEVALUATED in groups else result

    def _steps(self, place: Place, only_strings: bool = False) -> Steps:
        if place.strings_of is not None:
            return (yield from self._string_part(place.strings_of))
        if not place.positive:
            return (yield from self._negation(place))
        if place.tracked:
            return (yield from self.tracker.steps(place))
        if place.any_of:
            return (yield from self._any_of(place.any_of))
        if isinstance(place.value, bool):
            return ANY if place.value else NONE
        if is_reference(place):
            report_reference(self.context, place)
            return (yield from self._reference(place, "$ref"))
        schema, groups, result = yield from self.own(place)
        if Group.UNEVALUATED in groups and not only_strings:
            return (yield self.document.tracked(place))
        if Group.APPLICATOR in groups:
            result = yield from self._applicators(place, schema, result)
        return result

    def _string_part(self, place: Place) -> Steps:
        """The strings that a place admits, from the string parts of the places that it needs. `propertyNames` does not matter to them."""
        steps = self._steps(place, only_strings=True)
        try:
            wanted = next(steps)
            while True:
                wanted = steps.send(ANY if wanted.strings_of else (yield self.document.strings_of(wanted)))
        except StopIteration as stop:
            return Shape(strings=stop.value.strings, exact=stop.value.exact)

    def own(self, place: Place) -> Generator[Place, Shape, Own]:
        """What a schema says by itself, without the schemas that apply to the same place."""
        known = self._own.get(place)
        if known is None:
            known = self._own[place] = self._asserted(place)
        schema, groups, result = known
        if "propertyNames" in schema and result.objects:
            result = yield from self._property_names(place, schema, result)
        return schema, groups, result

    def _asserted(self, place: Place) -> Own:
        """The same, `propertyNames` left out."""
        schema = place.value
        groups, foreign, *_ = sort_keywords(self.context, place)
        if foreign:
            schema = {name: value for name, value in schema.items() if name not in foreign}
        return schema, groups, self.assertions.shape(place, schema, groups)

    def _negation(self, place: Place) -> Steps:
        inner = yield self.document.negation(place)
        try:
            self.context.combining = place.pointer
            if not inner.exact:
                raise UnsupportedSchemaError("a negation of something that was relaxed", pointer=place.pointer, keyword="not")
            return shape.negate(inner, self.context)
        except UnsupportedSchemaError as error:
            head, _, tail = place.pointer.rpartition("/")
            pointer, keyword = (head, tail) if tail in ("not", "if") else (place.pointer, "not")
            self.context.relax_error(error, pointer, keyword)
            return ANY.inexact()

    # --- schemas for the same place -----------------------------------------------------------------------------------------

    def _applicators(self, place: Place, schema: dict[str, Any], own: Shape) -> Steps:
        context = self.context
        parts = [(place.pointer, own)]
        exclusive = [place] if "oneOf" in schema else []
        for keyword in schema:
            where = f"{place.pointer}/{keyword}"
            if keyword in _REFERENCES:
                more = [(where, (yield from self._reference(place, keyword)))]
            elif keyword == "allOf":
                more = []
                for branch in self.assertions.branches(place, schema, keyword):
                    if self.is_only_one_of(branch):
                        exclusive.append(branch)
                    else:
                        more.append((branch.pointer, (yield branch)))
            elif keyword == "anyOf":
                branches = []
                for branch in self.assertions.branches(place, schema, keyword):
                    branches.append((yield branch))  # noqa: PERF401 - a generator cannot yield from inside a comprehension
                more = [(where, shape.join(branches))]
            elif keyword == "not":
                inner = self.document.child(place, "not", schema["not"])
                more = [(where, (yield self.document.negation(inner)))]
            elif keyword == "if":
                more = [(where, (yield from self._conditional(place, schema)))]
            elif keyword in ("dependencies", "dependentSchemas"):
                more = [(where, (yield from self._dependencies(place, schema, keyword)))]
            else:
                continue
            parts = more + parts if self.comes_first(keyword, schema) else parts + more
        result = shape.meet_all(parts, context)
        for spot in exclusive:
            if spot is not place:
                _, _, said = yield from self.own(spot)
                result = shape.meet(result, said, context)
            branches = []
            for branch in self.assertions.branches(spot, spot.value, "oneOf"):
                admitted = yield branch
                context.combining = branch.pointer
                branches.append(shape.meet(result, admitted, context))
            result = one_of(context, spot, branches)
        return result

    def is_only_one_of(self, place: Place) -> bool:
        """Whether `oneOf` is what a schema says, perhaps with assertions. In `allOf` such a schema waits for the others: what
        they require may be what keeps its branches apart.
        """
        if not isinstance(place.value, dict) or "oneOf" not in place.value:
            return False
        known = place.keywords
        used = [known[name].group for name in place.value if name in known and name != "oneOf"]
        return Group.APPLICATOR not in used and Group.UNEVALUATED not in used

    def comes_first(self, keyword: str, schema: dict[str, Any]) -> bool:
        """Whether the properties that a schema for the same place names come before its own."""
        return keyword in ("allOf", *_REFERENCES) and _precedes(keyword, "properties", schema)

    def _reference(self, place: Place, keyword: str) -> Steps:
        target = self.target(place, keyword)
        return ANY.inexact() if target is None else (yield target)

    def target(self, place: Place, keyword: str) -> Place | None:
        """Where a reference leads; None if it cannot be followed and was given up."""
        reference = place.value[keyword]
        if not isinstance(reference, str):
            raise SchemaError(f"`{keyword}` is a string", pointer=place.pointer, keyword=keyword)
        try:
            if keyword == "$recursiveRef" and reference != "#":
                reason = 'what it means is only defined for "#"; use `$ref` for another place'
                raise UnsupportedSchemaError(reason, pointer=place.pointer, keyword=keyword)
            return self.document.resolve(place, reference, keyword)
        except UnsupportedSchemaError as error:
            self.context.relax_error(error, place.pointer, keyword)
            return None

    def _any_of(self, places: Goal) -> Steps:
        shapes = []
        for place in places:
            shapes.append((yield place))  # noqa: PERF401 - a generator cannot yield from inside a comprehension
        return shape.join(shapes)

    def _conditional(self, place: Place, schema: dict[str, Any]) -> Steps:
        if "then" not in schema and "else" not in schema:
            return ANY
        condition = self.document.child(place, "if", schema["if"])
        result = []
        for keyword, test in (("then", condition), ("else", self.document.negation(condition))):
            tested = yield test
            branch = (yield self.document.child(place, keyword, schema[keyword])) if keyword in schema else ANY
            self.context.combining = f"{place.pointer}/if"
            result.append(shape.meet(tested, branch, self.context))
        return shape.join(result)

    def _dependencies(self, place: Place, schema: dict[str, Any], keyword: str) -> Steps:
        result = ANY
        for name, value in self.assertions.map(place, schema, keyword).items():
            if isinstance(value, list) and keyword == "dependencies":
                union = self.assertions.depends((OBJECTS,), name, self.assertions.names(place, keyword, value))
                exact = True
            else:
                inner = yield self.document.grandchild(place, keyword, name, value)
                self.context.combining = f"{place.pointer}/{keyword}"
                with_name = pieces.meet((ObjectPiece(required=(name,)),), inner.objects, OBJECTS, self.context)
                union, exact = (self.assertions.without(name), *with_name), inner.exact
            result = result.replaced("objects", pieces.meet(result.objects, union, OBJECTS, self.context), exact)
        return result

    def _property_names(self, place: Place, schema: dict[str, Any], result: Shape) -> Steps:
        context = self.context
        names = yield self.document.strings_of(self.document.child(place, "propertyNames", schema["propertyNames"]))
        if names.strings == (STRINGS,):
            return result if names.exact else result.inexact()
        allowed = context.builder.union(*(piece.text(context) for piece in names.strings))
        layer = context.every(context.other_keys(allowed, context.builder.union(*(p.widest_text(context) for p in names.strings))), NEVER)
        union = pieces.meet(result.objects, (ObjectPiece((layer,)),), OBJECTS, context)
        return result.replaced("objects", union, names.exact)


def _precedes(first: str, second: str, schema: dict[str, Any]) -> bool:
    for key in schema:
        if key == first:
            return second in schema
        if key == second:
            return False
    return False
