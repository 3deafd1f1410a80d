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
from ...report import Entry
from . import pieces, shape
from .assertions import Assertions
from .context import Context, Undecided
from .exclusive import one_of
from .formats import FORMATS, UNSUPPORTED_FORMATS
from .keywords import Draft, Group, Keyword, Status, Types, table
from .objects import OBJECTS, ObjectLayer, ObjectPiece
from .places import NEVER, Goal, Place
from .shape import ANY, NONE, Shape
from .strings import STRINGS

Steps = Generator[Place, Shape, Shape]

_MAX_PROOF_DEPTH = 8  # goals inside goals that a proof of emptiness looks into
_KNOWN_FORMATS = (*FORMATS, *UNSUPPORTED_FORMATS)


class Normaliser:
    """Computes shapes, each once."""

    def __init__(self, context: Context):
        self.context = context
        self.document = context.document
        self.assertions = Assertions(context)
        self._shapes: dict[Place, Shape] = {}
        self._goals: dict[Goal, Shape] = {(): ANY}
        self._active: set[Place] = set()
        self._void: dict[Goal, bool] = {}
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
        known = self._void.get(goal)
        if known is None:
            if self._proof_depth >= _MAX_PROOF_DEPTH:
                return False
            self._proof_depth += 1
            try:
                known = self.shape(goal).is_void(self.context)
            except Undecided:
                return False
            finally:
                self._proof_depth -= 1
            if self._proof_depth == 0 or known:
                self._void[goal] = known
        return known

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
        if place.value is True:
            return ANY
        if place.value is False:
            return NONE
        schema, draft = place.value, place.draft
        if draft.value <= Draft.DRAFT7.value and "$ref" in schema:
            self._report_reference_only(place, schema)
            return (yield self._target(place))
        groups, unsupported = self._sort_keywords(place, schema)
        result = self.assertions.shape(place, schema, groups)
        for keyword in unsupported:
            if keyword.types is Types.ALL or keyword.types & result.types():
                self.context.relax(place, keyword.name, keyword.reason)
                result = result.inexact()
        if Group.APPLICATOR in groups:
            result = yield from self._applicators(place, schema, result)
        if "propertyNames" in schema and Group.OBJECT in groups and result.objects:
            result = yield from self._property_names(place, schema, result)
        return result

    def _sort_keywords(self, place: Place, schema: dict[str, Any]) -> tuple[set[Group], list[Keyword]]:
        """Report every key of a schema; say which groups of keywords it uses and which unsupported ones."""
        known = table(place.draft)
        report, pointer = self.context.report, place.pointer
        groups: set[Group] = set()
        unsupported = []
        for name in schema:
            keyword = known.get(name)
            if keyword is None:
                report.annotations.append(Entry(pointer, name, "not a keyword of this draft"))
            elif keyword.status is Status.ENFORCED:
                groups.add(keyword.group)
                if not place.invented and (name != "format" or schema[name] in _KNOWN_FORMATS):
                    report.enforced.append(Entry(pointer, name))
            elif keyword.status is Status.ANNOTATION:
                report.annotations.append(Entry(pointer, name))
            else:
                unsupported.append(keyword)
        return groups, unsupported

    def _report_reference_only(self, place: Place, schema: dict[str, Any]) -> None:
        for name in schema:
            if name == "$ref":
                self.context.report.enforced.append(Entry(place.pointer, name))
            else:
                self.context.report.annotations.append(Entry(place.pointer, name, "beside `$ref`, ignored in this draft"))

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
            if keyword == "$ref":
                more = yield self._target(place)
            elif keyword == "allOf":
                more = ANY
                for branch in self.assertions.branches(place, schema, keyword):
                    if self._is_only_one_of(branch):
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
            elif keyword == "if" and keyword in table(place.draft):
                more = yield from self._conditional(place, schema)
            elif keyword == "dependencies" or (keyword == "dependentSchemas" and keyword in table(place.draft)):
                more = yield from self._dependencies(place, schema, keyword)
            else:
                continue
            first = keyword in ("$ref", "allOf") and _precedes(keyword, "properties", schema)
            result = shape.meet(more, result, context) if first else shape.meet(result, more, context)
        for spot in exclusive:
            if spot is not place:
                groups, _ = self._sort_keywords(spot, spot.value)
                result = shape.meet(result, self.assertions.shape(spot, spot.value, groups), context)
            branches = []
            for branch in self.assertions.branches(spot, spot.value, "oneOf"):
                branches.append(shape.meet(result, (yield branch), context))
            result = one_of(context, spot, branches)
        return result

    def _is_only_one_of(self, place: Place) -> bool:
        """Whether `oneOf` is what a schema says, perhaps with assertions. In `allOf` such a schema waits for the others: what
        they require may be what keeps its branches apart.
        """
        if not isinstance(place.value, dict) or "oneOf" not in place.value:
            return False
        known = table(place.draft)
        used = [known[name] for name in place.value if name in known and name != "oneOf"]
        return all(k.group is not Group.APPLICATOR and k.status is not Status.UNSUPPORTED and k.name != "propertyNames" for k in used)

    def _target(self, place: Place) -> Place:
        reference = place.value["$ref"]
        if not isinstance(reference, str):
            raise SchemaError("`$ref` is a string", pointer=place.pointer, keyword="$ref")
        return self.document.resolve(place, reference)

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
        if "propertyNames" not in table(place.draft):
            return result
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
