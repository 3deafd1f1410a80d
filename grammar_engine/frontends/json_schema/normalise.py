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
from typing import Any

from ...errors import SchemaError, UnsupportedSchemaError
from . import pieces, shape
from .assertions import Assertions
from .context import Context, Undecided
from .exclusive import one_of
from .keywords import Draft, Group, Status, Types
from .objects import OBJECTS, ObjectLayer, ObjectPiece
from .places import NEVER, Goal, Place
from .shape import ANY, NONE, Shape
from .sorting import report_reference_only, sort_keywords
from .strings import STRINGS
from .unevaluated import Tracker

Steps = Generator[Place, Shape, Shape]
Own = tuple[dict[str, Any], set[Group], Shape]  # the keywords of a schema that count, their groups, and what they assert

_MAX_PROOF_DEPTH = 8  # goals inside goals that a proof of emptiness looks into
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Normaliser:
    """Computes shapes, each once."""

    def __init__(self, context: Context):
        self.context = context
        self.document = context.document
        self.assertions = Assertions(context)
        self.tracker = Tracker(self)
        self._own: dict[Place, Own] = {}
        self._shapes: dict[Place, Shape] = {}
        self._goals: dict[Goal, Shape] = {(): ANY}
        self._active: set[Place] = set()
        self._void: set[Goal] = set()
        self._searched: dict[Goal, int] = {}  # how deep a proof of emptiness was looked for
        self._proof_depth = 0

    def shape(self, goal: Goal) -> Shape:
        """What meets a goal, one level deep."""
        known = self._goals.get(goal)
        if known is None:
            known = ANY
            for place in goal:
                known = shape.meet(known, self._shapes.get(place) or self._run(place), self.context)
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
        if place in self._active:
            raise Undecided
        stack = [(place, self._steps(place))]
        mine = {place}
        self._active.add(place)
        result: Shape | None = None
        try:
            while stack:
                current, steps = stack[-1]
                try:
                    wanted = steps.send(result)  # type: ignore[arg-type]
                except StopIteration as stop:
                    result = self._shapes[current] = stop.value
                    self._active.discard(current)
                    mine.discard(current)
                    stack.pop()
                    continue
                result = self._shapes.get(wanted)
                if result is None:
                    if wanted in mine:
                        raise SchemaError(
                            "the schema refers to itself without anything in between, so it says nothing",
                            pointer=current.pointer,
                            keyword="$ref",
                        )
                    if wanted in self._active:
                        raise Undecided
                    self._active.add(wanted)
                    mine.add(wanted)
                    stack.append((wanted, self._steps(wanted)))
        finally:
            self._active -= mine
        assert result is not None
        return result

    def _steps(self, place: Place) -> Steps:
        if not place.positive:
            return (yield from self._negation(place))
        if place.tracked:
            return (yield from self.tracker.steps(place))
        if place.any_of:
            return (yield from self._any_of(place.any_of))
        if place.value is True:
            return ANY
        if place.value is False:
            return NONE
        if "$ref" in place.value and place.draft.value <= Draft.DRAFT7.value:
            report_reference_only(self.context, place)
            return (yield from self._reference(place, "$ref"))
        schema, groups, result = yield from self.own(place)
        if Group.UNEVALUATED in groups:
            return (yield self.document.tracked(place))
        if Group.APPLICATOR in groups:
            result = yield from self._applicators(place, schema, result)
        return result

    def own(self, place: Place) -> Generator[Place, Shape, Own]:
        """What a schema says by itself, without the schemas that apply to the same place."""
        known = self._own.get(place)
        if known is None:
            schema = place.value
            groups, unsupported, foreign = sort_keywords(self.context, place)
            if foreign:
                schema = {name: value for name, value in schema.items() if name not in foreign}
            result = self.assertions.shape(place, schema, groups)
            for keyword in unsupported:
                if keyword.types is Types.ALL or keyword.types & result.types():
                    self.context.relax(place, keyword.name, keyword.reason)
                    result = result.inexact()
            if "propertyNames" in schema and result.objects:
                result = yield from self._property_names(place, schema, result)
            known = self._own[place] = schema, groups, result
        return known

    def _negation(self, place: Place) -> Steps:
        inner = yield self.document.negation(place)
        try:
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
        result = own
        exclusive = [place] if "oneOf" in schema else []
        for keyword in schema:
            if keyword in _REFERENCES:
                more = yield from self._reference(place, keyword)
            elif keyword == "allOf":
                more = ANY
                for branch in self.assertions.branches(place, schema, keyword):
                    if self.is_only_one_of(branch):
                        exclusive.append(branch)
                    else:
                        more = shape.meet(more, (yield branch), context)
            elif keyword == "anyOf":
                branches = []
                for branch in self.assertions.branches(place, schema, keyword):
                    branches.append((yield branch))  # noqa: PERF401 - a generator cannot yield from inside a comprehension
                more = shape.join(branches)
            elif keyword == "not":
                inner = self.document.child(place, "not", schema["not"])
                more = yield self.document.negation(inner)
            elif keyword == "if":
                more = yield from self._conditional(place, schema)
            elif keyword in ("dependencies", "dependentSchemas"):
                more = yield from self._dependencies(place, schema, keyword)
            else:
                continue
            result = shape.meet(more, result, context) if self.comes_first(keyword, schema) else shape.meet(result, more, context)
        for spot in exclusive:
            if spot is not place:
                _, _, more = yield from self.own(spot)
                result = shape.meet(result, more, context)
            branches = []
            for branch in self.assertions.branches(spot, spot.value, "oneOf"):
                branches.append(shape.meet(result, (yield branch), context))
            result = one_of(context, spot, branches)
        return result

    def is_only_one_of(self, place: Place) -> bool:
        """Whether `oneOf` is what a schema says, perhaps with assertions. In `allOf` such a schema waits for the others: what
        they require may be what keeps its branches apart.
        """
        if not isinstance(place.value, dict) or "oneOf" not in place.value:
            return False
        known = place.keywords
        used = [known[name] for name in place.value if name in known and name != "oneOf"]
        return all(k.group not in (Group.APPLICATOR, Group.UNEVALUATED) and k.status is not Status.UNSUPPORTED for k in used)

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
                with_name = pieces.meet((ObjectPiece(required=(name,)),), inner.objects, OBJECTS, self.context)
                union, exact = (self.assertions.without(name), *with_name), inner.exact
            result = result.replaced("objects", pieces.meet(result.objects, union, OBJECTS, self.context), exact)
        return result

    def _property_names(self, place: Place, schema: dict[str, Any], result: Shape) -> Steps:
        context = self.context
        names = yield self.document.child(place, "propertyNames", schema["propertyNames"])
        if names.strings == (STRINGS,):
            return result if names.exact else result.inexact()
        allowed = context.builder.union(*(piece.text(context) for piece in names.strings))
        layer = ObjectLayer({}, ((context.builder.text_minus(allowed), NEVER),))
        union = pieces.meet(result.objects, (ObjectPiece((layer,)),), OBJECTS, context)
        return result.replaced("objects", union, names.exact)


def _precedes(first: str, second: str, schema: dict[str, Any]) -> bool:
    for key in schema:
        if key == first:
            return second in schema
        if key == second:
            return False
    return False
