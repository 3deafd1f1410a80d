"""Which keys of a schema count, and how they are spelt.

Idea. The registry says what a key is in the draft and the vocabularies of its place. Each key gets its line in the report here. Keys that
are keywords only elsewhere are taken out, so that no reader of a keyword has to ask in which drafts it exists.

Without `$schema` the spellings of older drafts are understood, and noted. A schema that states its draft is held to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import SchemaError
from ...report import Entry
from .context import Context
from .formats import FORMATS, UNSUPPORTED_FORMATS
from .keywords import NAMES, Draft, Group, Keyword, Status, table
from .places import Place

_KNOWN_FORMATS = (*FORMATS, *UNSUPPORTED_FORMATS)
_NAMING: dict[str, tuple[type, str]] = {  # what the values of the keywords that give names have to be
    **dict.fromkeys(("$schema", "$id", "$anchor", "$dynamicAnchor"), (str, "a string")),
    **dict.fromkeys(("$defs", "definitions", "$vocabulary"), (dict, "an object")),
    "$recursiveAnchor": (bool, "true or false"),
}
_OLD = {
    "definitions": "`$defs`",
    "dependencies": "`dependentRequired` and `dependentSchemas`",
    "additionalItems": "`items` after `prefixItems`",
    "$recursiveRef": "in 2019-09",
    "$recursiveAnchor": "in 2019-09",
}
_CHANGED = frozenset((*_OLD, "$id", "items", "exclusiveMinimum", "exclusiveMaximum"))  # spelt in more than one way over time


class Sorted(NamedTuple):
    """The keys of a schema: the groups of the keywords that it uses, those that are not supported, and those of other dialects."""

    groups: set[Group]
    unsupported: list[Keyword]
    foreign: set[str]


def sort_keywords(context: Context, place: Place) -> Sorted:
    """Sort the keys of a schema, and report each."""
    known, schema = place.keywords, place.value
    report, pointer = context.report, place.pointer
    groups, unsupported, foreign = result = Sorted(set(), [], set())
    for name in schema:
        keyword = known.get(name)
        if keyword is None:
            detail = "not a keyword of this draft"
            if name in NAMES:
                foreign.add(name)
                if name in table(place.draft):
                    detail = "of a vocabulary that the metaschema does not use"
            report.annotations.append(Entry(pointer, name, detail))
        elif keyword.status is Status.ENFORCED:
            groups.add(keyword.group)
            if not place.invented and (name != "format" or schema[name] in _KNOWN_FORMATS):
                report.enforced.append(Entry(pointer, name))
        elif keyword.status is Status.ANNOTATION:
            report.annotations.append(Entry(pointer, name))
            if name in _NAMING:
                kind, words = _NAMING[name]
                if not isinstance(schema[name], kind):
                    raise SchemaError(f"`{name}` is {words}", pointer=pointer, keyword=name)
        else:
            unsupported.append(keyword)
    if not _CHANGED.isdisjoint(schema):
        _check_spelling(context, place)
    return result


def report_reference_only(context: Context, place: Place) -> None:
    """Report the keys of a schema with `$ref` in the drafts in which that stands alone."""
    for name in place.value:
        if name == "$ref":
            context.report.enforced.append(Entry(place.pointer, name))
        else:
            context.report.annotations.append(Entry(place.pointer, name, "beside `$ref`, ignored in this draft"))


def _check_spelling(context: Context, place: Place) -> None:
    if place.draft is Draft.UNSTATED:
        context.report.notes += [Entry(place.pointer, name, detail) for name, detail in _old_spellings(place.value)]
        return
    wrong = _misspelt(place.draft, place.value)
    if wrong is not None:
        raise SchemaError(wrong[1], pointer=place.pointer, keyword=wrong[0])


def _old_spellings(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """The keywords of a schema without `$schema` that are read as older drafts spell them, each with a remark."""
    found = []
    for name in schema:
        if name in _OLD:
            found.append((name, f"not a keyword of 2020-12; read as {_OLD[name]}"))
        elif name == "items" and isinstance(schema[name], list):
            found.append((name, "a list, as until 2019-09; read as `prefixItems`"))
        elif name in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(schema[name], bool):
            found.append((name, "true or false, as in draft 4; read as part of the bound beside it"))
    return found


def _misspelt(draft: Draft, schema: dict[str, Any]) -> tuple[str, str] | None:
    """A keyword that is spelt as in another draft than the one that the schema states, and what to do about it."""
    if draft is Draft.DRAFT2020 and isinstance(schema.get("items"), list):
        return "items", "`items` is one schema in 2020-12; a list of schemas is called `prefixItems`"
    if draft in (Draft.DRAFT2019, Draft.DRAFT2020) and "#" in str(schema.get("$id", "")).rstrip("#"):
        return "$id", "`$id` has no fragment from 2019-09 on; a name inside a document is given by `$anchor`"
    for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if name in schema and isinstance(schema[name], bool) != (draft is Draft.DRAFT4):
            if draft is Draft.DRAFT4:
                return name, f"`{name}` is true or false in draft 4, and says how `{bound}` is meant; a number is read from draft 6 on"
            return name, f"`{name}` is a number from draft 6 on; write the number that `{bound}` has, and drop `{bound}`"
    return None
