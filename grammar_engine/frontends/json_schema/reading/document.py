"""The places of a schema document, and where references lead.

Idea. `Document` makes the places that are asked for, each once, and follows references from place to place. Which schema a URI names is
the business of `resources.py`; which dynamic anchor is meant is decided by the frame of the place that refers to it (`places.py`).

Invariant. `child` and `resolve` return the same object for the same subschema in the same frame. Nothing here recurses in proportion to
the document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from ....errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from ....limits import Limits
from ....report import Entry
from .keywords import Keyword
from .places import ANYTHING, NEVER, Frame, Goal, Place
from .resources import RECURSIVE, Library, Resource, absolute, escape
from .spellings import Spellings

_INDEX = re.compile("0|[1-9][0-9]{0,8}")  # of an array, in a pointer (RFC 6901, section 4)
_LEADING_INSIDE = frozenset(  # keywords that name members, say what they are, or lead to schemas that do
    "properties patternProperties additionalProperties required items prefixItems additionalItems unevaluatedProperties unevaluatedItems "
    "allOf anyOf oneOf if dependencies dependentSchemas $ref $dynamicRef $recursiveRef".split()
)
_ANCHORS = 2  # so many dynamic anchors of a scope take as long as a subschema


class Document:
    """The places of one schema document, and of those that it refers to.

    Parameters
    ----------
    root : dict or bool
    limits : Limits
        `max_schema_nesting` and `max_schema_nodes` bound what is visited.
    resources : mapping of str to schema, optional
        Other documents by URI.
    more : tuple of Keyword
        Keywords of OpenAPI.
    """

    def __init__(self, root: Any, limits: Limits, resources: Mapping[str, Any] | None = None, more: tuple[Keyword, ...] = ()):
        self.limits = limits
        self._max_nesting = limits.max_schema_nesting
        self.library = Library(root, limits, resources, more)
        self._frames: dict[tuple[Resource, frozenset[tuple[str, Resource]]], Frame] = {}
        self._entered: dict[tuple[Resource, Frame | None, int], Frame] = {}
        self._places: dict[tuple[int, Frame], Place] = {}
        self._resolved: dict[tuple[Frame, str, str], Place] = {}
        self._alike: dict[tuple[int, Frame], Place] = {}
        self._spellings = Spellings()
        self._either: dict[Goal, Place] = {}
        self._closed: dict[Place, Place] = {}  # with the option `closed`: by place, its closed place
        self._closing: dict[Place, Place] = {}  # ... and its closing twin
        self.open: dict[Place, Place] = {}  # by closed place, the place that it belongs to
        self._constants: dict[tuple[int, str, Frame], Place] = {}
        self._kept: list[Any] = []  # keeps made-up values alive, so that identities stay unique
        self._count = 1
        self.root = self._intern(root, "", self._frame(self.library.root, None), 0)

    def child(self, parent: Place, token: str, value: Any) -> Place:
        """The place of `value`, which stands under key `token` of `parent`."""
        return self._enter(value, f"{parent.pointer}/{token}", parent.frame, parent.depth + 1)

    def grandchild(self, parent: Place, keyword: str, token: str | int, value: Any) -> Place:
        """The place of `value`, which stands under `parent`, `keyword`, `token`."""
        if isinstance(token, str) and ("/" in token or "~" in token):
            token = escape(token)
        return self._enter(value, f"{parent.pointer}/{keyword}/{token}", parent.frame, parent.depth + 2)

    def goals(self, parent: Place, keyword: str, schemas: dict[str, Any]) -> dict[str, Goal]:
        """The goals of the schemas in a map, which stands under `keyword` of `parent`."""
        where, frame, depth = f"{parent.pointer}/{keyword}", parent.frame, parent.depth + 2
        result = {}
        for token, value in schemas.items():
            if value is True:
                result[token] = ANYTHING
            else:
                step = escape(token) if "/" in token or "~" in token else token
                place = self._enter(value, f"{where}/{step}", frame, depth)
                result[token] = NEVER if value is False else (self.closed(place),) if parent.closes else (place,)
        return result

    def invented(self, parent: Place, pointer: str, keyword: str, value: Any) -> Place:
        """A place for a schema that no text holds: `value`, a member of a
        `const` or `enum`, as one itself. The same one for the same object.
        """
        is_shared = isinstance(value, (dict, list, tuple))
        known = self._constants.get((id(value), keyword, parent.frame)) if is_shared else None
        if known is not None:
            return known
        if parent.depth >= self.limits.max_schema_nesting:
            raise LimitExceededError("max_schema_nesting", self.limits.max_schema_nesting, where=pointer)
        schema = {keyword: value if keyword == "const" else [value]}
        self._kept.append(schema)
        place = self._intern(schema, pointer, parent.frame, parent.depth + 1)
        place.invented = True
        if is_shared:
            self._constants[id(value), keyword, parent.frame] = place
        return place

    def count(self, n: int, pointer: str) -> None:
        """Count subschemas against `max_schema_nodes`: those that are reached, and again those that apply together; the last is given."""
        if self._count > self.limits.max_schema_nodes:
            detail = "so many subschemas, and pairs of those that apply to the same value, have been visited"
            raise LimitExceededError("max_schema_nodes", self.limits.max_schema_nodes, detail, where=pointer)
        self._count += n

    def either(self, places: Goal) -> Place:
        """The place of what at least one of several places admits."""
        place = self._either.get(places)
        if place is None:
            first = places[0]
            place = self._either[places] = Place(self._next(first.pointer), {}, first.pointer, first.frame, first.depth)
            place.any_of, place.is_plain = places, False
        return place

    def goal(self, place: Place) -> Goal:
        """The goal of matching one place."""
        if place.value is True:
            return ANYTHING if place.positive else NEVER
        if place.value is False:
            return NEVER if place.positive else ANYTHING
        return (place,)

    def negation(self, place: Place) -> Place:
        """The place of the instances that `place` does not admit; the same one for all places of the same spelling."""
        if place._negation is None:
            alike = self._alike.setdefault((place.spelling, place.frame), place)
            if alike is not place:
                place._negation = self.negation(alike)
                return place._negation
            place._negation = Place(self._next(place.pointer), place.value, place.pointer, place.frame, place.depth, not place.positive)
            place._negation._negation = place
            place._negation._spelling = place.spelling
        return place._negation

    def tracked(self, place: Place) -> Place:
        """The place that admits the same as `place` and tells what was evaluated."""
        if place._twin is None:
            place._twin = Place(self._next(place.pointer), place.value, place.pointer, place.frame, place.depth, tracked=True)
            place._twin._twin = place
            place._twin.invented = place.invented
        return place._twin

    def untracked(self, place: Place) -> Place:
        """The place that `place` is the tracked twin of, or itself."""
        return place._twin if place.tracked and place._twin is not None else place

    def closed(self, place: Place) -> Place:
        """The place of the values of `place` whose objects and arrays have no members but those that are named."""
        closed = self._closed.get(place)
        if closed is None:
            if isinstance(place.value, bool) or _LEADING_INSIDE.isdisjoint(place.value):
                return place
            closed = self._closed[place] = Place(self._next(place.pointer), place.value, place.pointer, place.frame, place.depth)
            closed.is_plain, closed.is_closed = False, True
            self.open[closed] = place
        return closed

    def closing(self, place: Place) -> Place:
        """A tracked twin of `place`, at which the values of members are closed."""
        closing = self._closing.get(place)
        if closing is None:
            closing = Place(self._next(place.pointer), place.value, place.pointer, place.frame, place.depth, tracked=True)
            closing.closes = True
            self._closing[place] = closing
        return closing

    def strings_of(self, place: Place) -> Place:
        """The place that admits the strings only that `place` admits."""
        if place._strings is None:
            place._strings = Place(self._next(place.pointer), place.value, place.pointer, place.frame, place.depth)
            place._strings.strings_of, place._strings.is_plain = place, False
        return place._strings

    # --- references -------------------------------------------------------------------------------------------------------

    def resolve(self, place: Place, reference: str, keyword: str = "$ref") -> Place:
        """The place that a `$ref` at `place` points to; also a `$dynamicRef` or `$recursiveRef`, by its dynamic scope.

        Raises
        ------
        SchemaError
            The reference points to nothing.
        UnsupportedSchemaError
            It points to a document that was not given.
        """
        key = (place.frame, keyword, reference)
        known = self._resolved.get(key)
        if known is not None:
            return known
        resource, fragment = self._address(place, reference, keyword)
        name = {"$dynamicRef": fragment or None, "$recursiveRef": RECURSIVE}.get(keyword)
        if name is not None and name in resource.dynamic:  # the first resource on the way here with such an anchor is meant
            resource = place.frame.scope.get(name, resource)
        if not fragment:
            return self._intern(resource.value, resource.pointer, self._frame(resource, place.frame), 0)
        if fragment[0] != "/" and fragment in resource.ambiguous:
            reason = f"two different schemas have the {_describe(fragment):.200} in {_called(resource)}; give each a name of its own"
            raise SchemaError(reason, pointer=place.pointer, keyword=keyword)
        found = self._follow(resource, fragment)
        if found is None and reference[0] == "#" and resource is not resource.document:
            # Many documents use `id` for purposes of their own. Where the nearest one makes the reference lead nowhere, the root is meant.
            found = self._follow(resource.document, fragment)
            if found is not None:
                nearest = f"{resource.uri!r:.200}, the nearest schema with an identifier"
                detail = f"{reference!r:.200} is not in {nearest}; read as relative to the root"
                self.library.notes.append(Entry(place.pointer, keyword, detail))
                return self._reach(found, place)  # not kept: each such reference is noted
        if found is None:
            reason = f"the reference {reference!r:.200} points to nothing: there is no {_describe(fragment):.200} in {_called(resource)}"
            raise SchemaError(reason, pointer=place.pointer, keyword=keyword)
        known = self._resolved[key] = self._reach(found, place)
        return known

    def _reach(self, found: tuple[Any, str, Resource], place: Place) -> Place:
        """The place of what `_follow` found for a reference at `place`."""
        value, pointer, owner = found
        return self._intern(value, pointer, self._frame(owner, place.frame), 0)

    def _address(self, place: Place, reference: str, keyword: str) -> tuple[Resource, str]:
        """The resource that a reference names, and the fragment in it."""
        address, _, fragment = reference.partition("#")
        resource = place.frame.resource
        if address:
            uri = absolute(resource.uri, address, place.pointer)
            found = self.library.find(uri, place.pointer, keyword)
            if found is None:
                called = f"{reference!r:.200}" if uri == reference else f"{reference!r:.200}, which stands for {uri!r:.200},"
                reason = f"{called} is not part of this document; give that schema in `resources`, by its URI (nothing is fetched)"
                if uri.startswith(("http://json-schema.org/", "https://json-schema.org/")):
                    reason += "; the metaschemas are found where jsonschema-specifications is installed (grammar-engine[metaschemas])"
                raise UnsupportedSchemaError(reason, pointer=place.pointer, keyword=keyword)
            resource = found
        fragment = unquote(fragment)
        if keyword != "$ref" or (fragment and fragment[0] != "/"):
            self.library.scan(resource.document)
        return resource, fragment

    def _follow(self, resource: Resource, fragment: str) -> tuple[Any, str, Resource] | None:
        """Where a fragment leads, and the resource that the value belongs to."""
        if fragment[0] != "/":
            anchor = resource.anchors.get(fragment)
            return anchor and (*anchor, resource)
        value, pointer = resource.value, resource.pointer
        for step in fragment[1:].split("/"):
            token = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, (list, tuple)) and _INDEX.fullmatch(token) and int(token) < len(value):
                value = value[int(token)]
            else:
                return None
            pointer = f"{pointer}/{step}"
            resource = self.library.at(value, resource)
        return value, pointer, resource

    # --- internals ----------------------------------------------------------------------------------------------------------

    def _frame(self, resource: Resource, outer: Frame | None) -> Frame:
        """A resource as it is entered from another, or from nowhere."""
        entry = (resource, outer, len(resource.dynamic))  # more anchors may be found later
        known = self._entered.get(entry)
        if known is not None:
            return known
        scope = outer.scope if outer else {}
        self.count((len(scope) + len(resource.dynamic)) // _ANCHORS, resource.pointer)
        if resource.dynamic:
            scope = dict.fromkeys(resource.dynamic, resource) | scope
        frame = self._frames.setdefault((resource, frozenset(scope.items())), Frame(resource, scope, self._spellings))
        self._entered[entry] = frame
        return frame

    def _enter(self, value: Any, pointer: str, frame: Frame, depth: int) -> Place:
        if depth > self._max_nesting:
            raise LimitExceededError("max_schema_nesting", self._max_nesting, where=pointer)
        if isinstance(value, dict) and ("$id" in value or "id" in value):
            resource = self.library.at(value, frame.resource)
            frame = frame if resource is frame.resource else self._frame(resource, frame)
        return self._intern(value, pointer, frame, depth)

    def _intern(self, value: Any, pointer: str, frame: Frame, depth: int) -> Place:
        key = (id(value), frame)
        place = self._places.get(key)
        if place is None or value is True or value is False:
            if not isinstance(value, (dict, bool)):
                raise SchemaError(f"a schema is an object or a boolean, not {_kind(value)}", pointer=pointer)
            place = self._places[key] = Place(self._next(pointer), value, pointer, frame, depth)
        return place

    def _next(self, pointer: str) -> int:
        self.count(1, pointer)
        return self._count - 1


def _describe(fragment: str) -> str:
    return f"place {fragment!r:.200}" if fragment[0] == "/" else f"anchor {fragment!r:.200}"


def _called(resource: Resource) -> str:
    return repr(resource.uri) if resource.uri else "this document"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, (str, list, tuple)):
        return "a string" if isinstance(value, str) else "an array"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    hint = "; a model tells its own by model_json_schema()" if hasattr(value, "model_json_schema") else ""
    return (f"the class {value.__name__}" if isinstance(value, type) else f"an object of the class {type(value).__name__}") + hint
