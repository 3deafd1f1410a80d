"""`unevaluatedProperties` and `unevaluatedItems`: what the keywords of a schema and of those that apply to the same place left over.

Idea. A place that uses them needs the shapes of its schemas with what each evaluates. Those are the shapes of the *tracked* twins of the
places, computed here from the same assertions as all others, by the rules of `tracked.py`. What no keyword evaluated then has to meet one
more layer, which depends on the mark: `additionalProperties` with the marked keys in place of the neighbours' names. Places that do
not stand under such a keyword are never tracked.

Invariant. A tracked place and the place itself admit the same. Schemas inside `not`, and those that fail, evaluate nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, cast

from ....errors import UnsupportedSchemaError
from ..algebra import pieces, shape
from ..algebra.exclusive import apart, one_of
from ..algebra.shape import ANY, NONE, Shape
from ..containers.arrays import ARRAYS, ArrayLayer, ArrayPiece
from ..containers.objects import OBJECTS, KeySet, ObjectPiece
from ..reading.keywords import Draft, Group
from ..reading.places import ANYTHING, NEVER, Goal, Place
from .applicators import REFERENCES, Applicators, comes_first, is_only_one_of
from .tracked import (
    ALL_ITEMS,
    ALL_KEYS,
    NO_ITEMS,
    NO_KEYS,
    Items,
    Keys,
    Marked,
    Tracked,
    all_pieces,
    any_of,
    either_of,
    join,
    marked,
    meet,
    meet_all,
    within,
)
from .unions import in_few_pieces

TrackedSteps = Generator[Place, Shape, Tracked]
_BESIDE = frozenset((*REFERENCES, "allOf", "oneOf", "not", "if", "dependencies", "dependentSchemas"))  # they apply beside `anyOf`


class Tracker:
    """Computes the shapes of tracked places."""

    def __init__(self, applicators: Applicators):
        self.applicators = applicators
        self.context = applicators.context
        self.document = applicators.document
        self.assertions = applicators.assertions
        self.values = applicators.values

    def steps(self, twin: Place) -> TrackedSteps:
        """The shape of a tracked place; yields the places whose shapes it needs."""
        place = self._read_at(twin)
        if place.value is True or place.value is False:
            return marked(ANY if place.value else NONE)
        if place.draft.value <= Draft.DRAFT7.value and "$ref" in place.value:
            return (yield from self._reference(place, "$ref"))
        schema, groups, own = yield from self.assertions.own(place)
        keys = self._keys(place, schema) if own.objects else NO_KEYS
        result = marked(own, keys, self._items(place, schema) if own.arrays else NO_ITEMS)
        if Group.APPLICATOR in groups:
            result = yield from self._applicators(place, schema, result)
        return self._finish(place, schema, result)

    def _read_at(self, twin: Place) -> Place:
        """Where the keywords of a tracked place are read."""
        return self.document.untracked(twin)

    def _spot(self, branch: Place) -> Place:
        """Where the keywords of a schema in `allOf` are read that is only one `oneOf`."""
        return branch

    # --- what one schema evaluates ------------------------------------------------------------------------------------------

    def _keys(self, place: Place, schema: dict[str, Any]) -> Keys:
        if "additionalProperties" in schema:
            return ALL_KEYS
        classes = set()
        for source in self.values.map(place, schema, "patternProperties"):
            try:
                classes.add(self.context.pattern(place, "patternProperties", source))
            except UnsupportedSchemaError:  # it was given up, so which keys it evaluates is unknown
                return ALL_KEYS
        return Keys(frozenset(self.values.map(place, schema, "properties")), frozenset(classes))

    def _items(self, place: Place, schema: dict[str, Any]) -> Items:
        items = schema.get("items")
        is_list = isinstance(items, (list, tuple))
        if ("items" in schema and not is_list) or (is_list and "additionalItems" in schema):
            return ALL_ITEMS
        listed = schema.get("prefixItems", items if is_list else ())
        prefix = len(listed) if isinstance(listed, (list, tuple)) else 0
        matching: Goal = ()
        if "contains" in schema and place.draft.value >= Draft.DRAFT2020.value:
            matching = self.values.member(place, schema, "contains")
            if matching == ANYTHING:
                return ALL_ITEMS
        return Items(prefix, frozenset(matching if matching != NEVER else ()))

    # --- schemas for the same place -----------------------------------------------------------------------------------------

    def _applicators(self, place: Place, schema: dict[str, Any], own: Tracked) -> TrackedSteps:
        result = own
        exclusive = [place] if "oneOf" in schema else []
        for keyword in schema:
            if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                more = yield from self._reference(place, keyword)
            elif keyword == "allOf":
                parts = []
                for branch in self.values.branches(place, schema, keyword):
                    if is_only_one_of(branch):
                        exclusive.append(self._spot(branch))
                    else:
                        parts.append((branch.pointer, (yield from self._tracked(branch))))
                more = meet_all(parts, self.context)
            elif keyword == "anyOf":
                branches = self._asked_as_well(result, (yield from self._branches(place, schema, keyword)))
                self.context.ledger.combining = f"{place.pointer}/{keyword}"
                if self._closes(schema) and _BESIDE.isdisjoint(schema):
                    return either_of(result, branches, f"{place.pointer}/{keyword}", self.context)
                more = any_of(branches, self.context)
            elif keyword == "not":
                more = marked((yield from self.applicators.negation(place, "not")))
            elif keyword == "if":
                more = yield from self._conditional(place, schema)
            elif keyword in ("dependencies", "dependentSchemas"):
                more = yield from self._dependencies(place, schema, keyword)
            else:
                continue
            self.context.ledger.combining = f"{place.pointer}/{keyword}"
            first = comes_first(keyword, schema)
            result = meet(more, result, self.context) if first else meet(result, more, self.context)
        for spot in exclusive:
            result = yield from self._one_of(spot, result, spot is place)
        return result

    def _closes(self, schema: dict[str, Any]) -> bool:
        """Whether objects have no keys but those that are evaluated, perhaps: then nobody may ask for those of `anyOf` by mark."""
        return schema.get("unevaluatedProperties") is False

    def _twin(self, place: Place) -> Place:
        return self.document.tracked(place)

    def _tracked(self, place: Place) -> TrackedSteps:
        return cast("Tracked", (yield self._twin(place)))

    def _tested(self, place: Place) -> TrackedSteps:
        """The same for a schema that is a condition."""
        return cast("Tracked", (yield self.document.tracked(place)))

    def _asked_as_well(self, result: Tracked, branches: list[Tracked]) -> list[Tracked]:
        """The branches that `anyOf` is met with, met with what is required anyway, as it may be what keeps them apart."""
        if len(result.objects) != 1 or not result.objects[0].required:
            return branches
        asked = marked(ANY.replaced("objects", (ObjectPiece(required=result.objects[0].required),), True))
        return [meet(asked, branch, self.context) for branch in branches]

    def _branches(self, place: Place, schema: dict[str, Any], keyword: str) -> Generator[Place, Shape, list[Tracked]]:
        result = []
        for branch in self.values.branches(place, schema, keyword):
            result.append((yield from self._tracked(branch)))  # noqa: PERF401 - a generator cannot yield from inside a comprehension
        return result

    def _reference(self, place: Place, keyword: str) -> TrackedSteps:
        target = self.applicators.target(place, keyword)
        return marked(ANY.inexact(), ALL_KEYS, ALL_ITEMS) if target is None else (yield from self._tracked(target))

    def _one_of(self, spot: Place, result: Tracked, is_own: bool) -> TrackedSteps:
        """Exactly one branch admits a value, so its marks are those of that branch."""
        schema = spot.value
        if not is_own:
            schema, _, own = yield from self.assertions.own(spot)
            keys = self._keys(spot, schema) if own.objects else NO_KEYS
            items = self._items(spot, schema) if own.arrays else NO_ITEMS
            result = meet(result, marked(own, keys, items), self.context)
        plain = []
        branches = []
        for branch in self.values.branches(spot, schema, "oneOf"):
            plain.append(shape.meet(result, (yield branch), self.context))
            branches.append((yield from self._tracked(branch)))
        chosen = one_of(self.context, spot, plain)
        return within(chosen, result, branches if chosen.whole.exact else [any_of(branches, self.context)], self.context)

    def _conditional(self, place: Place, schema: dict[str, Any]) -> TrackedSteps:
        condition = self.document.child(place, "if", schema["if"])
        tested = yield from self._tested(condition)
        if "then" not in schema and "else" not in schema:
            return any_of([marked(ANY), tested], self.context)
        ways = []
        for keyword, test in (("then", tested), ("else", marked((yield from self.applicators.negation(place, "if"))))):
            branch = marked(ANY)
            if keyword in schema:
                branch = yield from self._tracked(self.document.child(place, keyword, schema[keyword]))
            ways.append(meet(test, branch, self.context))
        return join(ways, self.context)

    def _dependencies(self, place: Place, schema: dict[str, Any], keyword: str) -> TrackedSteps:
        context = self.context
        result = marked(ANY)
        for name, value in self.values.map(place, schema, keyword).items():
            if isinstance(value, (list, tuple)) and keyword == "dependencies":
                piece = self.assertions.beside((name, other) for other in self.values.names(place, keyword, value))
                more = marked(ANY.replaced("objects", (piece,), True))
            else:
                inner = yield from self._tracked(self.document.grandchild(place, keyword, name, value))
                without = marked(Shape(objects=(self.assertions.without(name),)))
                with_name = meet(marked(Shape(objects=(ObjectPiece(required=(name,)),))), inner, context)
                both = join([without, with_name], context)
                more = Tracked(ANY if inner.exact else ANY.inexact(), both.keys, marked(ANY).items)
            result = meet(result, more, context)
        return result

    # --- what is left over ----------------------------------------------------------------------------------------------------

    def _finish(self, place: Place, schema: dict[str, Any], result: Tracked) -> Tracked:
        if "unevaluatedProperties" not in schema and "unevaluatedItems" not in schema:
            return result
        keys, items = result.either or result.keys, result.items
        if "unevaluatedProperties" in schema:
            goal = self.values.member(place, schema, "unevaluatedProperties")

            def close(mark: Keys, union: tuple[Any, ...]) -> tuple[Any, ...]:
                return self._meet(union, self._other_members(mark, goal), OBJECTS)

            keys = self._closed_keys(result, close) if goal == NEVER else self._closed(result.keys, ALL_KEYS, close, OBJECTS)
        if "unevaluatedItems" in schema:
            rest = self.values.member(place, schema, "unevaluatedItems")
            items = self._closed(items, ALL_ITEMS, lambda mark, union: self._meet(union, self._other_items(mark, rest), ARRAYS), ARRAYS)
        return Tracked(result, keys, items)

    def _meet(self, union: tuple[Any, ...], condition: Any, universal: Any) -> tuple[Any, ...]:
        return pieces.meet(union, (condition,), universal, self.context)

    def _closed(self, parts: Marked, everything: Any, close: Callable[[Any, Any], Any], universal: Any) -> Marked:
        """All parts, each closed by what its mark leaves over; after that everything is evaluated."""
        unions = [union if mark == everything else close(mark, union) for mark, union in parts.items()]
        union = pieces.join(unions, universal)
        return {everything: pieces.absorbed(union, self.context)} if union else {}

    def _closed_keys(self, result: Tracked, close: Callable[[Any, Any], Any], asked: Iterable[str] = ()) -> Marked:
        """The objects, each closed by what its mark leaves over. Of an `anyOf`, branches that may overlap become few pieces where
        they can: then objects have no other keys than those that are evaluated, and `asked`.
        """
        either = result.either
        if not either:
            return self._closed(result.keys, ALL_KEYS, close, OBJECTS)

        def closed(branches: list[int]) -> tuple[ObjectPiece, ...]:
            parts = self._closed(either.marked(branches), ALL_KEYS, close, OBJECTS) if branches else {}
            return parts.get(ALL_KEYS, ())

        union: list[ObjectPiece] = []
        for group in apart(self.context, [all_pieces(branch) for branch in either.branches]):
            open_ones = [i for i in group if list(either.branches[i]) == [ALL_KEYS]]
            others = [i for i in group if either.branches[i] and i not in open_ones]
            joined = in_few_pieces(either.certain, [either.branches[i] for i in others], asked, self.context) if len(others) > 1 else None
            for piece, mark in joined or ():
                union += close(mark, (piece,)) if piece else ()
            union += closed(others) if joined is None else ()
            union += closed(open_ones)
        return {ALL_KEYS: pieces.absorbed(pieces.join([tuple(union)], OBJECTS), self.context)} if union else {}

    def _other_members(self, mark: Keys, goal: Goal) -> ObjectPiece:
        if goal == ANYTHING:
            return OBJECTS
        return ObjectPiece((self.context.every(KeySet(None, mark.names, tuple(sorted(mark.classes))), goal),))

    def _other_items(self, mark: Items, goal: Goal) -> ArrayPiece:
        places = set(mark.matching)
        if goal == ANYTHING:
            return ARRAYS
        if goal != NEVER:
            places.update(goal)
        rest = tuple(sorted(places, key=lambda place: place.number))
        if len(rest) > 1:
            rest = (self.document.either(rest),)
        return ArrayPiece((ArrayLayer((ANYTHING,) * mark.prefix, rest or NEVER),))
