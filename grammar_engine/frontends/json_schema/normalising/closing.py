"""The option `closed`: objects and arrays have no members but those that the schema names.

Idea. It is as if `unevaluatedProperties: false` and `unevaluatedItems: false` stood wherever a schema describes a value of its own: at the
root, and under the keywords that describe members (`properties`, `items` and their like), but not in schemas that apply to a place beside
others (`allOf`, `anyOf`, `$ref` ...), whose names count together. So a closed place is a tracked one, by the rules of `unevaluated.py`, of
which what is left over is forbidden:

    closed place  ->  closing twin  ->  closing twins of what applies in place
                          |
                          `-- members: closed places

Three things are more lenient than these keywords. A schema that names no members at all leaves them free: it describes any object, or any
array. Keys that `required` or `dependentRequired` lists in any of the schemas that apply in place, or may, count as named, and so do as
many items as `minItems` asks for. What lists all its keys otherwise, as `const` and `enum` do, is not asked.

Invariant. A closed place admits a part of what the schema does. Conditions are therefore read as they stand: what is inside `not`, `if`
and `contains`, and which branches of `oneOf` a value meets.
"""

from __future__ import annotations

import re
from typing import Any

from ..algebra.shape import ANY
from ..containers.arrays import ARRAYS, ArrayLayer, ArrayPiece
from ..containers.objects import KeySet, ObjectLayer, ObjectPiece
from ..reading.places import ANYTHING, NEVER, Place
from .applicators import REFERENCES
from .tracked import ALL_ITEMS, Items, Keys, Tracked, marked
from .unevaluated import TrackedSteps, Tracker
from .values import MOST_COUNT, is_well_formed

_LONE = re.compile("[\ud800-\udfff]")  # surrogates: no key has them
_NAMING_KEYS = frozenset(("properties", "patternProperties", "required"))
_BESIDE = frozenset((*REFERENCES, *"allOf anyOf oneOf if then else dependencies dependentSchemas".split()))
_SAYING = _NAMING_KEYS | _BESIDE | frozenset("prefixItems items const enum dependentRequired minItems".split())  # what is named


class _Named:
    """What the schemas name that apply in place, or may.

    Attributes
    ----------
    keys, items : bool
        Whether they name any keys, and describe first items.
    fewest : int
        So many items must come, perhaps.
    lists : bool
        Whether they list values.
    """

    def __init__(self) -> None:
        self.keys = self.items = self.lists = False
        self.fewest = 0
        self._asked: tuple[set[str], set[str]] = set(), set()  # keys that must come, perhaps: in branches of `anyOf`, and elsewhere
        self._described: tuple[set[str], set[str]] = set(), set()  # keys that have a schema: the same

    @property
    def asked(self) -> set[str]:
        """The keys that count as named as they must come, perhaps; of those of branches of `anyOf` the ones that no branch describes."""
        in_branches, elsewhere = self._asked
        return elsewhere | (in_branches - (self._described[0] - self._described[1]))

    def add(self, keyword: str, value: Any, in_branch: bool) -> None:
        """Read a keyword. What is malformed is refused by who enforces it, and says nothing here."""
        self.keys |= keyword in _NAMING_KEYS and bool(value)
        self.items |= keyword in ("prefixItems", "items") and isinstance(value, (list, tuple)) and bool(value)
        self.lists |= keyword in ("const", "enum")
        if keyword == "properties" and isinstance(value, dict):
            self._described[not in_branch].update(value)
        elif keyword == "required":
            self._ask(value, in_branch)
        elif keyword in ("dependentRequired", "dependencies") and isinstance(value, dict):
            for names in value.values():
                self._ask(names, in_branch)
        elif keyword == "minItems" and is_well_formed(keyword, value) and value <= MOST_COUNT:
            self.fewest = max(self.fewest, int(value))

    def _ask(self, names: Any, in_branch: bool) -> None:
        if isinstance(names, (list, tuple)):
            self._asked[not in_branch].update(name for name in names if isinstance(name, str) and not _LONE.search(name))


class Closer(Tracker):
    """Computes the shapes of closed places and of closing twins."""

    def closed(self, place: Place) -> TrackedSteps:
        """The shape of the closed place that belongs to a place."""
        result = yield from self._tracked(place)
        named = self._named(place)
        keys, items = result.either or result.keys, result.items
        if named.keys:
            keys = self._closed_keys(result, lambda mark, union: self._closed_objects(mark, union, named), named.asked)
        if named.items:
            items = self._closed(items, ALL_ITEMS, lambda mark, union: self._closed_arrays(mark, union, named, place), ARRAYS)
        return Tracked(result, keys, items)

    def _read_at(self, twin: Place) -> Place:
        return twin

    def _spot(self, branch: Place) -> Place:
        return self.document.closing(branch)

    def _twin(self, place: Place) -> Place:
        return self.document.closing(place)

    def _closes(self, _schema: dict[str, Any]) -> bool:
        return True

    def _conditional(self, place: Place, schema: dict[str, Any]) -> TrackedSteps:
        if "then" not in schema and "else" not in schema:  # it asks for nothing
            self.document.child(place, "if", schema["if"])
            return marked(ANY)
        return (yield from super()._conditional(place, schema))

    # --- what is named --------------------------------------------------------------------------------------------------------

    def _named(self, place: Place) -> _Named:
        """What a schema and those name that apply to its place."""
        result = _Named()
        found = {place: False}  # by place, whether it is within a branch of `anyOf`
        pending, branches = [place], list[Place]()
        while pending or branches:
            each = pending.pop() if pending else branches.pop()
            schema = {} if isinstance(each.value, bool) else each.value
            if each.frame.lone_references and "$ref" in schema:
                schema = {"$ref": schema["$ref"]}
            for keyword in schema.keys() & _SAYING & each.keywords.keys():
                result.add(keyword, schema[keyword], found[each])
                if keyword not in _BESIDE:
                    continue
                in_branch = found[each] or keyword == "anyOf"
                more = [other for other in self._beside(each, schema, keyword) if other not in found]
                found.update(dict.fromkeys(more, in_branch))
                (branches if in_branch else pending).extend(more)
        self.document.count(len(found) - 1, place.pointer)
        return result

    def _beside(self, place: Place, schema: dict[str, Any], keyword: str) -> list[Place]:
        """The places of the schemas under a keyword that apply to the same place."""
        value = schema[keyword]
        if keyword in REFERENCES:
            target = self.applicators.target(place, keyword)
            return [target] if target else []
        if keyword in ("allOf", "anyOf", "oneOf") and isinstance(value, (list, tuple)):
            return self.values.branches(place, schema, keyword) if value else []
        if keyword in ("if", "then", "else") and "if" in schema and ("then" in schema or "else" in schema):
            return [self.document.child(place, keyword, value)]
        if keyword in ("dependencies", "dependentSchemas") and isinstance(value, dict):
            schemas = {name: inner for name, inner in value.items() if not isinstance(inner, (list, tuple))}
            return [self.document.grandchild(place, keyword, name, inner) for name, inner in schemas.items()]
        return []

    # --- what is left over ----------------------------------------------------------------------------------------------------

    def _closed_objects(self, mark: Keys, union: tuple[ObjectPiece, ...], named: _Named) -> tuple[ObjectPiece, ...]:
        classes = sorted(mark.classes)
        asked = named.asked - mark.names
        if asked:  # not by name, for a name would have its place among those of `properties`
            classes.append(self.context.listed(frozenset(asked)))
        closed = ObjectPiece((self.context.every(KeySet(None, mark.names, tuple(classes)), NEVER),))
        parts = [piece if named.lists and any(_is_listed(layer) for layer in piece.layers) else piece.meet(closed) for piece in union]
        return tuple(piece for piece in parts if piece is not None)

    def _closed_arrays(self, mark: Items, union: tuple[ArrayPiece, ...], named: _Named, place: Place) -> tuple[ArrayPiece, ...]:
        n_named = max(mark.prefix, named.fewest)
        closed = ArrayPiece(longest=n_named)
        if mark.matching:  # more items may come, if `contains` admits them
            self.document.count(n_named, place.pointer)
            self.document.count(0, place.pointer)  # raises, if these were too many
            closed = ArrayPiece((ArrayLayer((ANYTHING,) * n_named, self._other_items(mark, NEVER).layers[0].rest),))
        parts = [piece if named.lists and any(_is_listed(layer) for layer in piece.layers) else piece.meet(closed) for piece in union]
        return tuple(piece for piece in parts if piece is not None)


def _is_listed(layer: ObjectLayer | ArrayLayer) -> bool:
    """Whether a layer is that of a value in `const` or `enum`. (What is negated twice may have no other members either, and lists none.)"""
    goals, rest = (layer.prefix, layer.rest) if isinstance(layer, ArrayLayer) else (tuple(layer.named.values()), layer.others)
    return rest is NEVER and bool(goals) and all(len(goal) == 1 and goal[0].invented for goal in goals)
