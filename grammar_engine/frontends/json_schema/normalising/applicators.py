"""The keywords whose schemas apply to the same place: `$ref`, `allOf`, `anyOf`, `oneOf`, `not`, `if`, `dependentSchemas`.

Idea. What a schema says by itself is met with the shapes of these schemas, in the order in which they name properties. `oneOf` comes
last, so that all that is said at the place helps to keep its branches apart. Each step is a generator that yields the places whose
shapes it needs.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ....errors import SchemaError, UnsupportedSchemaError
from ..algebra import pieces, shape
from ..algebra.exclusive import one_of
from ..algebra.shape import ANY, Shape
from ..containers.objects import OBJECTS, ObjectPiece, with_needs
from ..context import Context
from ..reading.keywords import Group
from ..reading.places import Place
from .assertions import Assertions, Steps

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Applicators:
    """Applies schemas to the places of others."""

    def __init__(self, context: Context, assertions: Assertions):
        self.context = context
        self.document = context.document
        self.assertions = assertions
        self.values = assertions.values
        self.operands: set[Place] = set()  # the negations that were asked for here
        self.given_up: dict[Place, str] = {}  # those of them that `lenient` gave up, and why

    def steps(self, place: Place, schema: dict[str, Any], own: Shape) -> Steps:
        """What a schema admits, which by itself says `own`."""
        parts = [(place.pointer, own)]
        exclusive = [place] if "oneOf" in schema else []
        for keyword in schema:
            where = f"{place.pointer}/{keyword}"
            if keyword in REFERENCES:
                more = [(where, (yield from self.reference(place, keyword)))]
            elif keyword == "allOf":
                more = []
                for branch in self.values.branches(place, schema, keyword):
                    if is_only_one_of(branch):
                        exclusive.append(branch)
                    else:
                        more.append((branch.pointer, (yield branch)))
            elif keyword == "anyOf":
                branches = []
                for branch in self.values.branches(place, schema, keyword):
                    branches.append((yield branch))  # noqa: PERF401 - a generator cannot yield from inside a comprehension
                more = [(where, shape.join(branches))]
            elif keyword == "not":
                more = [(where, (yield from self.negation(place, "not")))]
            elif keyword == "if":
                more = [(where, (yield from self._conditional(place, schema)))]
            elif keyword in ("then", "else") and "if" not in schema:  # says nothing, but is a schema
                self.document.child(place, keyword, schema[keyword])
                continue
            elif keyword in ("dependencies", "dependentSchemas"):
                more = [(where, each) for each in (yield from self._dependencies(place, schema, keyword))]
            else:
                continue
            parts = more + parts if comes_first(keyword, schema) else parts + more
        result = shape.meet_all(parts, self.context)
        for spot in exclusive:
            if spot is not place:
                _, _, said = yield from self.assertions.own(spot)
                result = shape.meet(result, said, self.context)
            result = yield from self._only_one(spot, result)
        return result

    def _only_one(self, place: Place, known: Shape, inside: tuple[Place, ...] = ()) -> Steps:
        """What the `oneOf` of a place leaves of what is known of it; `inside` of the branches of others."""
        branches = []
        for branch in self.values.branches(place, place.value, "oneOf"):
            spot = self._one_of_in(branch) if known.objects and known.objects != (OBJECTS,) else None
            if spot is None or spot in inside:
                admitted = yield branch
                self.context.ledger.combining = branch.pointer
                branches.append(shape.meet(known, admitted, self.context))
                continue
            if spot is not branch:
                yield from self.assertions.own(branch)
            _, _, said = yield from self.assertions.own(spot)
            met = shape.meet(known, said, self.context)
            branches.append((yield from self._only_one(spot, met, (*inside, spot))))
        return one_of(self.context, place, branches).whole

    def _one_of_in(self, branch: Place) -> Place | None:
        """The place of a `oneOf` that is what a branch says, perhaps with assertions, or what it refers to. What is known of the branch may
        be what keeps the branches of that one apart, so it is met with each of these.
        """
        if not isinstance(branch.value, dict) or branch.value.keys() != {"$ref"}:
            return branch if is_only_one_of(branch) else None
        try:
            target = self.document.resolve(branch, branch.value["$ref"])
        except SchemaError:  # it is raised, or given up, where the branch is read
            return None
        return target if is_only_one_of(target) else None

    def reference(self, place: Place, keyword: str) -> Steps:
        """The shape of what a reference leads to."""
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
            self.context.relax_or_raise(error, place.pointer, keyword)
            return None

    def negation(self, place: Place, keyword: str) -> Steps:
        """The shape of what the schema under a keyword of a place does not admit."""
        negation = self.document.negation(self.document.child(place, keyword, place.value[keyword]))
        self.operands.add(negation)
        result = yield negation
        if not result.exact:
            self.context.relax_or_refuse(place, keyword, self.given_up.get(negation, "a negation of something that was relaxed"))
        return result

    def _conditional(self, place: Place, schema: dict[str, Any]) -> Steps:
        if "then" not in schema and "else" not in schema:
            self.document.child(place, "if", schema["if"])
            return ANY
        result = []
        for keyword in ("then", "else"):
            if keyword == "then":
                tested = yield self.document.child(place, "if", schema["if"])
            else:
                tested = yield from self.negation(place, "if")
            branch = (yield self.document.child(place, keyword, schema[keyword])) if keyword in schema else ANY
            self.context.ledger.combining = f"{place.pointer}/if"
            result.append(shape.meet(tested, branch, self.context))
        return shape.join(result)

    def _dependencies(self, place: Place, schema: dict[str, Any], keyword: str) -> Generator[Place, Shape, list[Shape]]:
        result = []
        for name, value in self.values.map(place, schema, keyword).items():
            if isinstance(value, (list, tuple)) and keyword == "dependencies":
                union: tuple[ObjectPiece, ...] = (
                    self.assertions.beside((name, other) for other in self.values.names(place, keyword, value)),
                )
                exact = True
            else:
                inner = yield self.document.grandchild(place, keyword, name, value)
                self.context.ledger.combining = f"{place.pointer}/{keyword}"
                with_name = pieces.meet((ObjectPiece(required=(name,)),), inner.objects, OBJECTS, self.context)
                union, exact = with_needs((self.assertions.without(name), *with_name)), inner.exact
            result.append(ANY.replaced("objects", union, exact))
        return result


def is_only_one_of(place: Place) -> bool:
    """Whether `oneOf` is what a schema says, perhaps with assertions. In `allOf` such a schema waits for the others: what
    they require may be what keeps its branches apart.
    """
    if not isinstance(place.value, dict) or "oneOf" not in place.value:
        return False
    known = place.keywords
    used = [known[name].group for name in place.value if name in known and name != "oneOf"]
    return Group.APPLICATOR not in used and Group.UNEVALUATED not in used


def comes_first(keyword: str, schema: dict[str, Any]) -> bool:
    """Whether the properties that a schema for the same place names come before its own."""
    return keyword in ("allOf", *REFERENCES) and _precedes(keyword, "properties", schema)


def _precedes(first: str, second: str, schema: dict[str, Any]) -> bool:
    for key in schema:
        if key == first:
            return second in schema
        if key == second:
            return False
    return False
