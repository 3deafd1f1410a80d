"""The registry: every keyword of every draft, and what is done with it.

Idea. One table says for each keyword what becomes of it (*enforced* or *annotation*), in which drafts it exists, and to which JSON types
it applies. The normaliser reads the table and nothing else to decide what to do with a key of a schema, so no assertion can be
forgotten: what the table does not know is an annotation by the standard (section 6.5) and is reported as such.

Invariant. No keyword that asserts something is an annotation: each has code in `normalising/`, and a
use of it that cannot be enforced is refused there, by name (`Context.relax_or_refuse`).
"""

from __future__ import annotations

from enum import Enum, IntFlag
from functools import cache
from typing import NamedTuple


class Draft(Enum):
    """The drafts in order of time."""

    __hash__ = object.__hash__  # that of `Enum` is written in Python

    DRAFT4 = 4
    DRAFT6 = 6
    DRAFT7 = 7
    DRAFT2019 = 2019
    DRAFT2020 = 2020
    UNSTATED = 9999  # no `$schema`: 2020-12, and the spellings of older drafts are understood


class Status(Enum):
    """What is done with a keyword."""

    ENFORCED = "enforced"
    ANNOTATION = "annotation"


class Types(IntFlag):
    """Sets of JSON types; `INTEGER` is a part of `NUMBER`, not a type of its own."""

    NONE = 0
    NULL = 1
    BOOLEAN = 2
    STRING = 4
    NUMBER = 8
    ARRAY = 16
    OBJECT = 32
    ALL = 63


class Group(Enum):
    """Which part of the normaliser reads a keyword."""

    __hash__ = object.__hash__  # as above: sets of groups are asked at every place

    VALUE = "value"  # type, enum, const
    STRING = "string"
    NUMBER = "number"
    ARRAY = "array"
    OBJECT = "object"
    APPLICATOR = "applicator"  # schemas for the same place
    UNEVALUATED = "unevaluated"  # what is left over when all others have had their say
    NONE = "none"


class Keyword(NamedTuple):
    """One line of the registry."""

    name: str
    status: Status
    types: Types = Types.ALL
    group: Group = Group.NONE
    since: int = 4
    until: int = 9999


_ENFORCED, _ANNOTATION = Status.ENFORCED, Status.ANNOTATION

REGISTRY: tuple[Keyword, ...] = (
    # values of any type
    Keyword("type", _ENFORCED, group=Group.VALUE),
    Keyword("enum", _ENFORCED, group=Group.VALUE),
    Keyword("const", _ENFORCED, group=Group.VALUE, since=6),
    # strings
    Keyword("minLength", _ENFORCED, Types.STRING, Group.STRING),
    Keyword("maxLength", _ENFORCED, Types.STRING, Group.STRING),
    Keyword("pattern", _ENFORCED, Types.STRING, Group.STRING),
    Keyword("format", _ENFORCED, Types.STRING, Group.STRING),
    # numbers
    Keyword("minimum", _ENFORCED, Types.NUMBER, Group.NUMBER),
    Keyword("maximum", _ENFORCED, Types.NUMBER, Group.NUMBER),
    Keyword("exclusiveMinimum", _ENFORCED, Types.NUMBER, Group.NUMBER),
    Keyword("exclusiveMaximum", _ENFORCED, Types.NUMBER, Group.NUMBER),
    Keyword("multipleOf", _ENFORCED, Types.NUMBER, Group.NUMBER),
    # arrays
    Keyword("items", _ENFORCED, Types.ARRAY, Group.ARRAY),
    Keyword("prefixItems", _ENFORCED, Types.ARRAY, Group.ARRAY, since=2020),
    Keyword("additionalItems", _ENFORCED, Types.ARRAY, Group.ARRAY, until=2019),
    Keyword("minItems", _ENFORCED, Types.ARRAY, Group.ARRAY),
    Keyword("maxItems", _ENFORCED, Types.ARRAY, Group.ARRAY),
    Keyword("uniqueItems", _ENFORCED, Types.ARRAY, Group.ARRAY),
    Keyword("contains", _ENFORCED, Types.ARRAY, Group.ARRAY, since=6),
    Keyword("minContains", _ENFORCED, Types.ARRAY, Group.ARRAY, since=2019),
    Keyword("maxContains", _ENFORCED, Types.ARRAY, Group.ARRAY, since=2019),
    Keyword("unevaluatedItems", _ENFORCED, Types.ARRAY, Group.UNEVALUATED, since=2019),
    # objects
    Keyword("properties", _ENFORCED, Types.OBJECT, Group.OBJECT),
    Keyword("required", _ENFORCED, Types.OBJECT, Group.OBJECT),
    Keyword("additionalProperties", _ENFORCED, Types.OBJECT, Group.OBJECT),
    Keyword("patternProperties", _ENFORCED, Types.OBJECT, Group.OBJECT),
    Keyword("propertyNames", _ENFORCED, Types.OBJECT, Group.OBJECT, since=6),
    Keyword("minProperties", _ENFORCED, Types.OBJECT, Group.OBJECT),
    Keyword("maxProperties", _ENFORCED, Types.OBJECT, Group.OBJECT),
    Keyword("dependentRequired", _ENFORCED, Types.OBJECT, Group.OBJECT, since=2019),
    Keyword("dependencies", _ENFORCED, Types.OBJECT, Group.APPLICATOR),
    Keyword("dependentSchemas", _ENFORCED, Types.OBJECT, Group.APPLICATOR, since=2019),
    Keyword("unevaluatedProperties", _ENFORCED, Types.OBJECT, Group.UNEVALUATED, since=2019),
    # schemas for the same place
    Keyword("$ref", _ENFORCED, group=Group.APPLICATOR),
    Keyword("allOf", _ENFORCED, group=Group.APPLICATOR),
    Keyword("anyOf", _ENFORCED, group=Group.APPLICATOR),
    Keyword("oneOf", _ENFORCED, group=Group.APPLICATOR),
    Keyword("not", _ENFORCED, group=Group.APPLICATOR),
    Keyword("if", _ENFORCED, group=Group.APPLICATOR, since=7),
    Keyword("then", _ENFORCED, group=Group.APPLICATOR, since=7),
    Keyword("else", _ENFORCED, group=Group.APPLICATOR, since=7),
    Keyword("$dynamicRef", _ENFORCED, group=Group.APPLICATOR, since=2020),
    Keyword("$recursiveRef", _ENFORCED, group=Group.APPLICATOR, since=2019, until=2019),
    # names and places: used when references are resolved
    Keyword("$schema", _ANNOTATION),
    Keyword("$id", _ANNOTATION, since=6),
    Keyword("id", _ANNOTATION, until=4),
    Keyword("$anchor", _ANNOTATION, since=2019),
    Keyword("$dynamicAnchor", _ANNOTATION, since=2020),
    Keyword("$recursiveAnchor", _ANNOTATION, since=2019, until=2019),
    Keyword("$defs", _ANNOTATION, since=2019),
    Keyword("definitions", _ANNOTATION),
    Keyword("$vocabulary", _ANNOTATION, since=2019),
    # words for readers
    Keyword("$comment", _ANNOTATION),
    Keyword("title", _ANNOTATION),
    Keyword("description", _ANNOTATION),
    Keyword("default", _ANNOTATION),
    Keyword("examples", _ANNOTATION),
    Keyword("deprecated", _ANNOTATION),
    Keyword("readOnly", _ANNOTATION),
    Keyword("writeOnly", _ANNOTATION),
    Keyword("contentEncoding", _ANNOTATION),
    Keyword("contentMediaType", _ANNOTATION),
    Keyword("contentSchema", _ANNOTATION),
)

# Keywords of OpenAPI, which are in no draft: annotations, but with the options `discriminators` and `nullable`. Of the first one what its
# `propertyName` says is required; by the second one a `type` is that or null.
DISCRIMINATOR = Keyword("discriminator", _ENFORCED, Types.OBJECT, Group.OBJECT)
NULLABLE = Keyword("nullable", _ENFORCED, group=Group.VALUE)

# Where subschemas lie, for finding `$id` and `$anchor`.
ONE_SCHEMA = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems "
    "unevaluatedProperties".split()
)
LIST_OF_SCHEMAS = frozenset("allOf anyOf items oneOf prefixItems".split())
MAP_OF_SCHEMAS = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())


NAMES = frozenset(keyword.name for keyword in REGISTRY)

_SHORTEST_MISSPELT = 4  # letters


def meant_by(name: str) -> str | None:
    """The keyword that is written so but for the case of letters, and for
    one letter that is missing, too many, another one or in another place.
    """
    name = name.lower()
    if len(name) < _SHORTEST_MISSPELT or len(name) > 2 * max(map(len, NAMES)):
        return None
    return next((_misspelt()[each] for each in _with_one_letter_less(name) if each in _misspelt()), None)


@cache
def _misspelt() -> dict[str, str]:
    """The keywords of some length, by themselves in small letters and by what is left of them without one of these."""
    return {each: name for name in sorted(NAMES) if len(name) >= _SHORTEST_MISSPELT for each in _with_one_letter_less(name.lower())}


def _with_one_letter_less(name: str) -> list[str]:
    return [name, *(name[:at] + name[at + 1 :] for at in range(len(name)))]


# From 2019-09 on a metaschema lists the vocabularies that it uses, by URI; the last step of the URI is a name of this table.
_VOCABULARIES = {
    "core": "$schema $id $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs definitions",
    "applicator": "items prefixItems additionalItems contains properties patternProperties additionalProperties propertyNames dependencies "
    "dependentSchemas allOf anyOf oneOf not if then else",
    "unevaluated": "unevaluatedItems unevaluatedProperties",
    "validation": "type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern minItems "
    "maxItems uniqueItems minContains maxContains minProperties maxProperties required dependentRequired",
    "meta-data": "title description default examples deprecated readOnly writeOnly",
    "content": "contentEncoding contentMediaType contentSchema",
    "format": "format",
}
_SPELLINGS = {
    Draft.DRAFT2019: {"applicator": ("applicator", "unevaluated"), "unevaluated": ()},
    Draft.DRAFT2020: {"format": (), "format-annotation": ("format",), "format-assertion": ("format",)},
}


@cache
def table(draft: Draft, vocabularies: frozenset[str] | None = None, more: tuple[Keyword, ...] = ()) -> dict[str, Keyword]:
    """The keywords that exist in `draft`, by name; only those of the given vocabularies where a metaschema lists some; and some more."""
    if more:
        return {**table(draft, vocabularies), **{keyword.name: keyword for keyword in more}}
    if draft is Draft.UNSTATED:
        return {k.name: k for k in REGISTRY if k.name != "id"}
    compatible = ("definitions", "dependencies")  # the metaschemas of the later drafts keep them
    known = {k.name: k for k in REGISTRY if k.since <= draft.value <= k.until or k.name in compatible}
    if vocabularies is None:
        return known
    used = frozenset(_VOCABULARIES["core"].split()).union(*(vocabulary(draft, uri) or () for uri in vocabularies))
    return {name: keyword for name, keyword in known.items() if name in used}


def vocabulary(draft: Draft, uri: str) -> frozenset[str] | None:
    """The keywords of a vocabulary, or None if the draft has no vocabulary of this name."""
    head, _, name = uri.rpartition("/vocab/")
    if head != {Draft.DRAFT2019: "https://json-schema.org/draft/2019-09", Draft.DRAFT2020: "https://json-schema.org/draft/2020-12"}[draft]:
        return None
    parts = _SPELLINGS[draft].get(name, (name,))
    if not parts or not all(part in _VOCABULARIES for part in parts):
        return None
    return frozenset(word for part in parts for word in _VOCABULARIES[part].split())


def draft_of(uri: str) -> Draft | None:
    """The draft that a `$schema` names, or None where it is another metaschema."""
    name = uri.removeprefix("https://").removeprefix("http://").rstrip("#")
    return {
        "json-schema.org/draft-04/schema": Draft.DRAFT4,
        "json-schema.org/draft-06/schema": Draft.DRAFT6,
        "json-schema.org/draft-07/schema": Draft.DRAFT7,
        "json-schema.org/draft/2019-09/schema": Draft.DRAFT2019,
        "json-schema.org/draft/2020-12/schema": Draft.DRAFT2020,
    }.get(name)
