"""The option `closed`: objects and arrays have no members but those that the schema names.

Idea. It is as if `unevaluatedProperties: false` and `unevaluatedItems: false` stood wherever a schema describes a value of its own: at the
root, and under the keywords that describe members (`properties`, `items` and their like), but not in schemas that apply to a place beside
others (`allOf`, `anyOf`, `$ref` ...), whose names count together. So a closed place is a tracked one, by the rules of `unevaluated.py`, of
which what is left over is forbidden:

    closed place  ->  closing twin  ->  closing twins of what applies in place
                          |
                          `-- members: closed places

Three things are more lenient than these keywords. A schema that names no members at all leaves them free: it describes any object, or any
array. Keys that `required` or `dependentRequired` asks for count as named, and so do as many items as `minItems`. What lists all its keys
otherwise, as `const` and `enum` do, is not asked.

Invariant. A closed place admits a part of what the schema does. Conditions are therefore read as they stand: what is inside `not`, `if`
and `contains`, and which branches of `oneOf` a value meets.
"""

from __future__ import annotations

from typing import Any

from ..algebra import pieces
from ..containers.arrays import ARRAYS, ArrayPiece
from ..containers.objects import OBJECTS, KeySet, ObjectPiece
from ..reading.places import NEVER, Place
from .applicators import REFERENCES
from .tracked import ALL_ITEMS, ALL_KEYS, Items, Keys, Marked, Tracked
from .unevaluated import TrackedSteps, Tracker


class Closer(Tracker):
    """Computes the shapes of closed places and of closing twins."""

    def closed(self, place: Place) -> TrackedSteps:
        """The shape of the closed place that belongs to a place."""
        result = yield from self._tracked(place)
        names_keys, names_items = self._named(place)
        keys = self._without_other_keys(result.keys) if names_keys else result.keys
        items = self._without_other_items(result.items) if names_items else result.items
        return Tracked(result, keys, items)

    def _read_at(self, twin: Place) -> Place:
        return twin

    def _spot(self, branch: Place) -> Place:
        return self.document.closing(branch)

    def _twin(self, place: Place) -> Place:
        return self.document.closing(place)

    def _keys(self, place: Place, schema: dict[str, Any]) -> Keys:
        keys = super()._keys(place, schema)
        if keys.everything:
            return keys
        asked = set(self.values.names(place, "required", schema.get("required", [])))
        for keyword in ("dependentRequired", "dependencies"):
            for value in self.values.map(place, schema, keyword).values():
                if isinstance(value, (list, tuple)):
                    asked.update(self.values.names(place, keyword, value))
        return keys._replace(asked=frozenset(asked))

    def _items(self, place: Place, schema: dict[str, Any]) -> Items:
        items = super()._items(place, schema)
        return items if items.everything else items._replace(asked=self.values.count(place, schema, "minItems") or 0)

    # --- what is named --------------------------------------------------------------------------------------------------------

    def _named(self, place: Place) -> tuple[bool, bool]:
        """Whether a schema, or one that applies to its place, names keys, and whether one describes first items."""
        keys = items = False
        found = {place: None}
        for each in (pending := [place]):
            schema = {} if isinstance(each.value, bool) else each.value
            if each.frame.lone_references and "$ref" in schema:
                schema = {"$ref": schema["$ref"]}
            for keyword in schema.keys() & each.keywords.keys():
                value = schema[keyword]
                keys |= keyword in ("properties", "patternProperties", "required") and bool(value)
                items |= keyword in ("prefixItems", "items") and isinstance(value, (list, tuple)) and bool(value)
                more = [other for other in self._beside(each, keyword, value) if other not in found]
                found.update(dict.fromkeys(more))
                pending += more
        self.document.count(len(found) - 1, place.pointer)
        return keys, items

    def _beside(self, place: Place, keyword: str, value: Any) -> list[Place]:
        """The places of the schemas under a keyword that apply to the same place."""
        if keyword in REFERENCES:
            target = self.applicators.target(place, keyword)
            return [target] if target else []
        if keyword in ("allOf", "anyOf", "oneOf") and isinstance(value, (list, tuple)):
            return self.values.branches(place, {keyword: value}, keyword) if value else []
        if keyword in ("if", "then", "else"):
            return [self.document.child(place, keyword, value)]
        if keyword in ("dependencies", "dependentSchemas") and isinstance(value, dict):
            schemas = {name: schema for name, schema in value.items() if not isinstance(schema, (list, tuple))}
            return [self.document.grandchild(place, keyword, name, schema) for name, schema in schemas.items()]
        return []

    # --- what is left over ----------------------------------------------------------------------------------------------------

    def _without_other_keys(self, keys: Marked) -> Marked:
        unions = [union if mark == ALL_KEYS else self._closed_objects(mark, union) for mark, union in keys.items()]
        union = pieces.join(unions, OBJECTS)
        return {ALL_KEYS: pieces.absorbed(union, self.context)} if union else {}

    def _closed_objects(self, mark: Keys, union: tuple[ObjectPiece, ...]) -> tuple[ObjectPiece, ...]:
        others = KeySet(None, mark.names | mark.asked, tuple(sorted(mark.classes)))
        closed = ObjectPiece((self.context.every(others, NEVER),))
        parts = [piece if any(layer.others is NEVER for layer in piece.layers) else piece.meet(closed) for piece in union]
        return tuple(piece for piece in parts if piece is not None)

    def _without_other_items(self, items: Marked) -> Marked:
        unions = [union if mark == ALL_ITEMS else self._closed_arrays(mark, union) for mark, union in items.items()]
        union = pieces.join(unions, ARRAYS)
        return {ALL_ITEMS: pieces.absorbed(union, self.context)} if union else {}

    def _closed_arrays(self, mark: Items, union: tuple[ArrayPiece, ...]) -> tuple[ArrayPiece, ...]:
        closed = self._other_items(mark._replace(prefix=max(mark.prefix, mark.asked)), NEVER)
        parts = [piece if any(layer.rest is NEVER for layer in piece.layers) else piece.meet(closed) for piece in union]
        return tuple(piece for piece in parts if piece is not None)
