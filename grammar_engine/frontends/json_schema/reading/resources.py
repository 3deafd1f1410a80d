"""The schemas that have a name of their own: where a URI leads, and which dialect is spoken there.

Idea. A *resource* is the root of a document, or a subschema with `$id`; its URI is what references are relative to. A *library* knows the
document that is compiled, the documents that the user gave with it, and the metaschemas of the drafts, where the package
`jsonschema-specifications` is installed (the extra `metaschemas`). A document is searched for names only when one is asked for that is not
known yet: most schemas refer to nothing but places in themselves, and pay nothing. Nothing is ever fetched.

A *dialect* is a draft and the keywords that have a meaning. It is named by `$schema`; the metaschema that it names may leave out
vocabularies, whose keywords are then annotations.
"""

from __future__ import annotations

import marshal
import pickle
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from ....errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from ....limits import Limits
from ....report import Entry
from .keywords import LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA, Draft, Keyword, draft_of, table, vocabulary
from .load import load

_ABSOLUTE = re.compile(r"[a-z]+://[A-Za-z0-9.-]+(?:/[\w./%~-]*)?", re.ASCII)  # the URIs that `urljoin` leaves as they are, written plainly
_OLDER = {f"http://json-schema.org/draft-0{number}/schema" for number in (1, 2, 3)}  # drafts that are not read; the third has a metaschema
RECURSIVE = ""  # the name under which `$recursiveAnchor` is kept among the dynamic anchors: no anchor is called so


class Dialect(NamedTuple):
    """What a schema is written in."""

    draft: Draft
    vocabularies: frozenset[str] | None = None  # those that the metaschema lists, by URI; None: all
    more: tuple[Keyword, ...] = ()  # keywords of OpenAPI

    @property
    def keywords(self) -> dict[str, Keyword]:
        """The keywords that have a meaning."""
        return table(self.draft, self.vocabularies, self.more)


class Resource:
    """A schema with a URI.

    Attributes
    ----------
    pointer : str
        Its place in `document`; in a document that the user gave besides, with the URI in front.
    anchors, dynamic : dict of str to (value, pointer)
        Names given to places in it. The second ones can be overridden by whoever refers to it.
    ambiguous : set of str
        Names that are given to different schemas in it.
    """

    __slots__ = ("_document", "ambiguous", "anchors", "dialect", "dynamic", "pointer", "uri", "value")

    def __init__(self, uri: str, value: Any, pointer: str, dialect: Dialect, document: Resource | None = None):
        self.uri = uri
        self.value = value
        self.pointer = pointer
        self.dialect = dialect
        self._document = document
        self.anchors: dict[str, tuple[Any, str]] = {}
        self.dynamic: dict[str, tuple[Any, str]] = {}
        self.ambiguous: set[str] = set()

    def name(self, anchor: str, value: Any, pointer: str) -> None:
        """Give a place a name."""
        other, _ = self.anchors.setdefault(anchor, (value, pointer))
        if other is not value and not _equal(other, value):
            self.ambiguous.add(anchor)

    @property
    def document(self) -> Resource:
        """The root of the document that it lies in. Kept only where that is another one: no cycle waits for the collector."""
        return self._document or self


class Library:
    """All resources that one compilation can reach.

    Parameters
    ----------
    root : dict or bool
        The document that is compiled.
    limits : Limits
        For documents that are given as text.
    given : mapping of str to schema, optional
        Other documents by URI, as `load` accepts them.
    more : tuple of Keyword
        Keywords of OpenAPI.

    Attributes
    ----------
    root : Resource
    notes : list of Entry
        What a reader should know about the dialects that were met.
    refusals : list of UnsupportedSchemaError
        What the dialects that were met ask for and cannot have.
    """

    def __init__(self, root: Any, limits: Limits, given: Mapping[str, Any] | None = None, more: tuple[Keyword, ...] = ()):
        self.limits = limits
        self._more = more
        self.notes: list[Entry] = []
        self.refusals: list[UnsupportedSchemaError] = []
        self._given = {} if given is None else {absolute("", uri, ""): source for uri, source in given.items()}
        self._sources: dict[str, Any] = {}  # documents that were read
        self._dialects: dict[str, Dialect] = {}
        self._by_uri: dict[str, Resource] = {}
        self._by_value: dict[tuple[int, Resource], Resource] = {}  # by what lies in which resource: one object may stand in several
        self._ambiguous: set[str] = set()
        self._scanned: set[Resource] = set()
        self._opened: set[str] = set()
        self.root = self._document("", root, "", self._written_in(Draft.UNSTATED))

    def at(self, value: Any, resource: Resource) -> Resource:
        """The resource that a value in `resource` belongs to: the same, or one of its own if it has an identifier."""
        if not isinstance(value, dict) or ("$id" not in value and "id" not in value) or value is resource.value:
            return resource
        self.scan(resource.document)
        return self._by_value.get((id(value), resource), resource)

    def find(self, uri: str, pointer: str, keyword: str) -> Resource | None:
        """The resource that is called `uri`."""
        if uri not in self._by_uri:
            self.scan(self.root)
        if uri not in self._by_uri:
            self._open(uri)
        if uri not in self._by_uri:  # perhaps a name inside a document that was given under another one
            for other in self._given:
                self._open(other)
                self.scan(self._by_uri[other].document)
        if uri in self._ambiguous:
            raise SchemaError(
                f"two different schemas are called {uri!r:.200}; give each a name of its own", pointer=pointer, keyword=keyword
            )
        return self._by_uri.get(uri)

    def scan(self, document: Resource) -> None:
        """Find all names of a document, by one walk over the places where schemas may stand."""
        if document in self._scanned:
            return
        self._scanned.add(document)
        maximum = self.limits.max_schema_nesting
        pending: list[tuple[Any, str, Resource, int]] = [(document.value, document.pointer, document, 0)]
        seen: set[tuple[int, Resource]] = set()
        while pending:
            value, pointer, resource, depth = pending.pop()
            if not isinstance(value, dict) or (id(value), resource) in seen:
                continue
            if depth > maximum:
                raise LimitExceededError("max_schema_nesting", maximum, where=pointer)
            seen.add((id(value), resource))
            resource = self._declare(value, pointer, resource)
            for key, member in value.items():
                if key in MAP_OF_SCHEMAS and isinstance(member, dict):
                    pending += [(v, f"{pointer}/{key}/{escape(k)}", resource, depth + 2) for k, v in member.items()]
                elif key in LIST_OF_SCHEMAS and isinstance(member, (list, tuple)):
                    pending += [(v, f"{pointer}/{key}/{i}", resource, depth + 2) for i, v in enumerate(member)]
                elif key in ONE_SCHEMA:
                    pending.append((member, f"{pointer}/{key}", resource, depth + 1))

    # --- internals ----------------------------------------------------------------------------------------------------------

    def _document(self, uri: str, value: Any, pointer: str, default: Dialect) -> Resource:
        dialect = self._dialect(value, pointer, default)
        name = _identifier(value, dialect.draft)
        resource = self._resource(absolute(uri, name, pointer) if name else uri, value, pointer, dialect)
        self._call(uri, resource)
        if dialect.draft.value >= Draft.DRAFT2019.value and _may_have_dynamic_anchors(value):
            self.scan(resource)
        return resource

    def _open(self, uri: str) -> None:
        """Make the document that was given as `uri`, or the metaschema of that name, a resource."""
        if uri in self._opened:
            return
        self._opened.add(uri)
        value = self._source(uri)
        if value is not None:
            self._document(uri, value, f"{uri}#", self.root.dialect)

    def _source(self, uri: str) -> Any:
        if uri not in self._sources:
            given = uri in self._given
            try:
                self._sources[uri] = load(self._given[uri], self.limits) if given else metaschemas().get(uri)
            except SchemaError as error:
                raise SchemaError(f"the resource {uri!r:.200}: {error.reason}", source=error.source, offset=error.offset) from error
        return self._sources[uri]

    def _declare(self, value: dict[str, Any], pointer: str, resource: Resource) -> Resource:
        """Note the names that a schema gives to itself."""
        if value is not resource.value:
            dialect = self._dialect(value, pointer, resource.dialect) if "$schema" in value else resource.dialect
            name = _identifier(value, dialect.draft)
            uri = resource.uri if name is None else absolute(resource.uri, name, pointer)
            if uri != resource.uri:
                around, resource = resource, self._resource(uri, value, pointer, dialect, resource.document)
                self._by_value[id(value), around] = resource
        else:
            name = _identifier(value, resource.dialect.draft)
        if (
            name is not None and "#" in name and resource.dialect.draft not in (Draft.DRAFT2019, Draft.DRAFT2020)
        ):  # an anchor, until draft 7
            resource.name(unquote(urldefrag(name)[1]), value, pointer)
        if resource.dialect.draft.value >= Draft.DRAFT2019.value:
            keywords = resource.dialect.keywords
            for key in ("$anchor", "$dynamicAnchor"):
                if key in keywords and isinstance(value.get(key), str):
                    resource.name(value[key], value, pointer)
            if "$dynamicAnchor" in keywords and isinstance(value.get("$dynamicAnchor"), str):
                resource.dynamic.setdefault(value["$dynamicAnchor"], (value, pointer))
            if value is resource.value and "$recursiveAnchor" in keywords and value.get("$recursiveAnchor") is True:
                resource.dynamic[RECURSIVE] = (value, pointer)
        return resource

    def _resource(self, uri: str, value: Any, pointer: str, dialect: Dialect, document: Resource | None = None) -> Resource:
        resource = Resource(uri, value, pointer, dialect, document)
        self._call(uri, resource)
        return resource

    def _call(self, uri: str, resource: Resource) -> None:
        other = self._by_uri.setdefault(uri, resource)
        if other is not resource and not _equal(other.value, resource.value):
            self._ambiguous.add(uri)

    def _dialect(self, value: Any, pointer: str, default: Dialect) -> Dialect:
        """What a resource is written in: what its `$schema` names."""
        stated = value.get("$schema") if isinstance(value, dict) else None
        if stated is None:
            return default
        if not isinstance(stated, str):
            raise SchemaError("`$schema` is the URI of a metaschema", pointer=pointer, keyword="$schema")
        draft = draft_of(stated)
        if draft is not None:
            return self._written_in(draft)
        if stated not in self._dialects:
            self._dialects[stated] = self._custom_dialect(stated, pointer)
        return self._dialects[stated]

    def _custom_dialect(self, stated: str, pointer: str) -> Dialect:
        uri = urldefrag(stated)[0]
        metaschema = None if uri in _OLDER else self._source(uri)
        if not isinstance(metaschema, dict):
            remedy = "name a draft from 4 on" if uri in _OLDER else "give it in `resources`, or name a draft"
            detail = f"the metaschema {stated!r:.200} is not known, so 2020-12 is assumed; {remedy}"
            self.notes.append(Entry(pointer, "$schema", detail))
            return self._written_in(Draft.UNSTATED)
        base = metaschema.get("$schema")
        draft = (draft_of(base) if isinstance(base, str) else None) or Draft.DRAFT2020
        used = metaschema.get("$vocabulary")
        if used is None or draft.value < Draft.DRAFT2019.value:
            return self._written_in(draft)
        if not isinstance(used, dict):
            raise SchemaError(f"`$vocabulary` of the metaschema {stated!r:.200} is an object", pointer=pointer, keyword="$schema")
        for uri, required in used.items():
            if required is True and vocabulary(draft, uri) is None:
                reason = f"the metaschema {stated!r:.200} requires the vocabulary {uri!r:.200}, which is not known here"
                self.refusals.append(UnsupportedSchemaError(reason, pointer=pointer, keyword="$schema"))
        return self._written_in(draft, frozenset(used))

    def _written_in(self, draft: Draft, vocabularies: frozenset[str] | None = None) -> Dialect:
        return Dialect(draft, vocabularies, self._more)


@cache
def metaschemas() -> dict[str, Any]:
    """The metaschemas of the drafts and their vocabularies, by URI; none where `jsonschema-specifications` is not installed."""
    try:
        from jsonschema_specifications import REGISTRY
    except ImportError:
        return {}
    return {uri: REGISTRY.contents(uri) for uri in sorted(REGISTRY)}


def escape(token: str) -> str:
    """A key as a step of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def absolute(base: str, name: str, pointer: str) -> str:
    """The URI, without fragment, that `name` stands for in a resource. A relative one does not begin with `./`, also without a base."""
    while not base and name.startswith("./"):
        name = name[2:]
    if not name or name[0] == "#":
        return base
    if _ABSOLUTE.fullmatch(name):
        return name
    try:
        return urldefrag(urljoin(base, name))[0]
    except ValueError as error:
        raise SchemaError(f"{name!r:.200} is no URI: {error}", pointer=pointer) from None


def _identifier(value: Any, draft: Draft) -> str | None:
    if not isinstance(value, dict) or ("$ref" in value and draft.value <= Draft.DRAFT7.value):
        return None
    name = value.get("id" if draft is Draft.DRAFT4 else "$id")
    return name if isinstance(name, str) else None


def _may_have_dynamic_anchors(value: Any) -> bool:
    try:
        text = marshal.dumps(value)  # the cheapest way to spell out all keys, but it knows built-in types only
    except (ValueError, RecursionError):
        try:
            text = pickle.dumps(value)
        except Exception:  # whatever objects do that are in no schema
            return True
    return b"$dynamicAnchor" in text or b"$recursiveAnchor" in text


def _equal(first: Any, second: Any) -> bool:
    """The same JSON, where 1 is 1.0 but not true."""
    pending, seen = [(first, second)], set()
    while pending:
        one, other = pending.pop()
        if one is other or (id(one), id(other)) in seen:
            continue
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pending += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
            pending += zip(one, other)
        elif isinstance(one, (dict, list, tuple)) or isinstance(one, bool) != isinstance(other, bool) or one != other:
            return False
        else:
            continue
        seen.add((id(one), id(other)))
    return True
