"""Places in a schema document, and how references find them.

Idea. A *place* is one subschema where it stands: its value, its JSON pointer, and the *resource* (the nearest enclosing `$id`) that
its references are relative to. Places are interned by the identity of the value, so a subschema that is reached twice, through
`properties` or through `$ref`, is one place, and all that is computed for it is computed once. A place also has a *negation*,
the place of the instances that do not match it; a negation has no text of its own.

A *goal* is a sorted tuple of places that an instance has to match all at once. The empty goal is met by any value; `NEVER` by none.

Invariant. `place` and `resolve` return the same object for the same subschema. Nothing here recurses in proportion to the document.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from ...errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from ...limits import Limits
from .keywords import LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA, Draft, draft_of


class Resource:
    """A schema with a name of its own: the root, or a subschema with `$id`."""

    __slots__ = ("anchors", "draft", "pointer", "uri", "value")

    def __init__(self, uri: str, value: Any, pointer: str, draft: Draft):
        self.uri = uri
        self.value = value
        self.pointer = pointer
        self.draft = draft
        self.anchors: dict[str, tuple[Any, str]] = {}


class Place:
    """One subschema where it stands, or the negation of one."""

    __slots__ = ("_negation", "_spelling", "depth", "invented", "number", "pointer", "positive", "resource", "value")

    def __init__(self, number: int, value: Any, pointer: str, resource: Resource, depth: int, positive: bool = True):
        self.number = number
        self.value = value
        self.pointer = pointer
        self.resource = resource
        self.depth = depth
        self.positive = positive
        self.invented = False  # made up for a member of a `const`, so not in the report
        self._negation: Place | None = None
        self._spelling: str | None = None

    @property
    def draft(self) -> Draft:
        """The draft that the enclosing resource is written in."""
        return self.resource.draft

    @property
    def spelling(self) -> str:
        """The schema as text: places of the same spelling in the same resource admit the same."""
        if self._spelling is None:
            try:
                self._spelling = repr(self.value)
            except RecursionError:
                self._spelling = f"place {self.number}"
        return self._spelling

    def __repr__(self) -> str:
        return f"Place({'' if self.positive else 'not '}{self.pointer or 'root'})"


Goal = tuple[Place, ...]
_NOWHERE = Resource("", True, "", Draft.DRAFT2020)
NEVER_PLACE = Place(0, False, "", _NOWHERE, 0)
ANYTHING: Goal = ()
NEVER: Goal = (NEVER_PLACE,)


def both(first: Goal, second: Goal) -> Goal:
    """The goal of meeting both goals."""
    if not first or first is second:
        return second
    if not second:
        return first
    if first is NEVER or second is NEVER:
        return NEVER
    goal = tuple(sorted({*first, *second}, key=lambda place: place.number))
    if any(not place.positive for place in second) or any(not place.positive for place in first):
        return NEVER if exclude_each_other(first, second) else goal
    return goal


def exclude_each_other(first: Goal, second: Goal) -> bool:
    """Whether two goals are seen to have nothing in common: one asks for the negation of what the other asks for."""
    for place in first:
        for other in second:
            if place.positive != other.positive and place.resource is other.resource and place.spelling == other.spelling:
                return True
    return first is NEVER or second is NEVER


class Document:
    """The places of one schema document.

    Parameters
    ----------
    root : dict or bool
    limits : Limits
        `max_schema_nesting` and `max_schema_nodes` bound what is visited.
    """

    def __init__(self, root: Any, limits: Limits):
        self.limits = limits
        self._places: dict[tuple[int, int], Place] = {}
        self._alike: dict[tuple[str, int], Place] = {}
        self._kept: list[Any] = []  # keeps made-up values alive, so that identities stay unique
        self._count = 1
        self._scanned: dict[str, Resource] | None = None
        stated = root.get("$schema") if isinstance(root, dict) else None
        draft = (draft_of(stated) if isinstance(stated, str) else None) or Draft.UNSTATED
        name = _identifier(root, draft)
        self.resource = Resource(_absolute("", name, "") if name else "", root, "", draft)
        self.root = self._intern(root, "", self.resource, 0)

    def child(self, parent: Place, token: str, value: Any) -> Place:
        """The place of `value`, which stands under key `token` of `parent`."""
        return self._enter(value, f"{parent.pointer}/{token}", parent.resource, parent.depth + 1)

    def grandchild(self, parent: Place, keyword: str, token: str | int, value: Any) -> Place:
        """The place of `value`, which stands under `parent`, `keyword`, `token`."""
        step = token if isinstance(token, int) else escape(token)
        return self._enter(value, f"{parent.pointer}/{keyword}/{step}", parent.resource, parent.depth + 2)

    def invented(self, parent: Place, pointer: str, value: Any) -> Place:
        """A place for a schema that no text holds, such as the `const` of a member of a `const`."""
        self._kept.append(value)
        if parent.depth >= self.limits.max_schema_nesting:
            raise LimitExceededError("max_schema_nesting", self.limits.max_schema_nesting, f"at {pointer[:80]}...")
        place = self._intern(value, pointer, parent.resource, parent.depth + 1)
        place.invented = True
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
            alike = self._alike.setdefault((place.spelling, id(place.resource)), place)
            if alike is not place:
                place._negation = self.negation(alike)
                return place._negation
            place._negation = Place(self._next(), place.value, place.pointer, place.resource, place.depth, not place.positive)
            place._negation._negation = place
        return place._negation

    def resolve(self, place: Place, reference: str, keyword: str = "$ref") -> Place:
        """The place that a reference at `place` points to.

        Raises
        ------
        SchemaError
            The reference points to nothing in this document.
        UnsupportedSchemaError
            It points out of this document.
        """
        address, _, fragment = reference.partition("#")
        resource = place.resource
        if address:
            uri = _absolute(resource.uri, address, place.pointer)
            known = self._resources()
            if uri not in known:
                raise UnsupportedSchemaError(
                    f"{reference!r} is not part of this document, and remote references are not followed",
                    pointer=place.pointer,
                    keyword=keyword,
                )
            resource = known[uri]
        fragment = unquote(fragment)
        if not fragment:
            return self._intern(resource.value, resource.pointer, resource, 0)
        if fragment.startswith("/"):
            # Many documents use `id` for purposes of their own. Where the nearest one makes the pointer lead nowhere, the root is meant.
            found = self._walk(resource, fragment) or (None if address else self._walk(self.resource, fragment))
        else:
            self._resources()
            anchor = resource.anchors.get(fragment) or (None if address else self.resource.anchors.get(fragment))
            found = self._enter(anchor[0], anchor[1], resource, 0) if anchor else None
        if found is None:
            raise SchemaError(f"the reference {reference!r} points to nothing", pointer=place.pointer, keyword=keyword)
        return found

    # --- internals ----------------------------------------------------------------------------------------------------

    def _walk(self, resource: Resource, fragment: str) -> Place | None:
        value, pointer = resource.value, resource.pointer
        for step in fragment[1:].split("/"):
            token = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, list) and token.isdecimal() and token.isascii() and int(token) < len(value):
                value = value[int(token)]
            else:
                return None
            pointer = f"{pointer}/{step}"
            resource = self._resource_at(value, pointer, resource)
        return self._intern(value, pointer, resource, 0)

    def _enter(self, value: Any, pointer: str, resource: Resource, depth: int) -> Place:
        if depth > self.limits.max_schema_nesting:
            raise LimitExceededError("max_schema_nesting", self.limits.max_schema_nesting, f"at {pointer[:80]}...")
        return self._intern(value, pointer, self._resource_at(value, pointer, resource), depth)

    def _intern(self, value: Any, pointer: str, resource: Resource, depth: int) -> Place:
        key = (id(value), id(resource))
        place = self._places.get(key)
        if place is None or value is True or value is False:
            if not isinstance(value, (dict, bool)):
                raise SchemaError(f"a schema is an object or a boolean, not {_kind(value)}", pointer=pointer)
            place = self._places[key] = Place(self._next(), value, pointer, resource, depth)
        return place

    def _next(self) -> int:
        if self._count > self.limits.max_schema_nodes:
            raise LimitExceededError("max_schema_nodes", self.limits.max_schema_nodes)
        self._count += 1
        return self._count - 1

    def _resource_at(self, value: Any, pointer: str, resource: Resource) -> Resource:
        if not isinstance(value, dict) or ("$id" not in value and "id" not in value) or value is resource.value:
            return resource
        name = _identifier(value, resource.draft)
        if name is None or name.startswith("#"):
            return resource
        uri = _absolute(resource.uri, name, pointer)
        return self._resources().get(uri, resource)

    def _resources(self) -> dict[str, Resource]:
        """All resources of the document by URI; found by one walk over the places where schemas may stand."""
        if self._scanned is not None:
            return self._scanned
        self._scanned = {self.resource.uri: self.resource}
        pending: list[tuple[Any, str, Resource]] = [(self.resource.value, "", self.resource)]
        seen: set[int] = set()
        while pending:
            value, pointer, resource = pending.pop()
            if not isinstance(value, dict) or id(value) in seen:
                continue
            seen.add(id(value))
            resource = self._declare(value, pointer, resource)
            for key, member in value.items():
                if key in MAP_OF_SCHEMAS and isinstance(member, dict):
                    pending += [(v, f"{pointer}/{key}/{escape(k)}", resource) for k, v in member.items()]
                elif key in LIST_OF_SCHEMAS and isinstance(member, list):
                    pending += [(v, f"{pointer}/{key}/{i}", resource) for i, v in enumerate(member)]
                elif key in ONE_SCHEMA:
                    pending.append((member, f"{pointer}/{key}", resource))
        return self._scanned

    def _declare(self, value: dict[str, Any], pointer: str, resource: Resource) -> Resource:
        assert self._scanned is not None
        name = _identifier(value, resource.draft)
        if name is not None and name.startswith("#"):
            resource.anchors.setdefault(name[1:], (value, pointer))
        elif name is not None and value is not resource.value:
            stated = value.get("$schema")
            draft = (draft_of(stated) if isinstance(stated, str) else None) or resource.draft
            uri = _absolute(resource.uri, name, pointer)
            resource = self._scanned.setdefault(uri, Resource(uri, value, pointer, draft))
        if resource.draft.value >= Draft.DRAFT2019.value:
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(value.get(key), str):
                    resource.anchors.setdefault(value[key], (value, pointer))
        return resource


def escape(token: str) -> str:
    """A key as a step of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def _absolute(base: str, name: str, pointer: str) -> str:
    """The URI, without fragment, that `name` stands for in a resource."""
    try:
        return urldefrag(urljoin(base, name))[0]
    except ValueError as error:
        raise SchemaError(f"{name!r} is no URI: {error}", pointer=pointer) from None


def _identifier(value: Any, draft: Draft) -> str | None:
    if not isinstance(value, dict) or ("$ref" in value and draft.value <= Draft.DRAFT7.value):
        return None
    name = value.get("id" if draft is Draft.DRAFT4 else "$id")
    return name if isinstance(name, str) else None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return "a string" if isinstance(value, str) else "an array" if isinstance(value, list) else "a number"
