"""Which keys of a schema count, and how they are spelt.

Idea. The registry says what a key is in the draft and the vocabularies of its place. Each key gets its line in the report here. Keys that
are keywords only elsewhere are taken out, so that no reader of a keyword has to ask in which drafts it exists. How a list of keys is
sorted depends on nothing but the dialect, so it is done once for all schemas with the same keys.

Without `$schema` the spellings of older drafts are understood, and noted. A schema that states its draft is held to it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from ....errors import SchemaError
from ....report import Entry
from ..context import Context
from ..reading.keywords import DISCRIMINATOR, NAMES, Draft, Group, Status, meant_by, table
from ..reading.places import Place
from ..reading.resources import Dialect
from ..scalars.formats import FORMATS, NARROWED

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
    """The keys of a schema in a dialect.

    Attributes
    ----------
    groups : frozenset of Group
        Those of the keywords that are enforced.
    foreign : frozenset of str
        Keywords of other dialects.
    enforced : tuple of str
        Lines of the report, without that of `format`, which depends on its value.
    annotations : tuple of (name, detail)
        Lines of the report.
    checked : tuple of str
        Keys whose values are checked or reported one by one.
    is_type : bool
        `type` is all that is enforced, and no key is of another dialect.
    """

    groups: frozenset[Group]
    foreign: frozenset[str]
    enforced: tuple[str, ...]
    annotations: tuple[tuple[str, str], ...]
    checked: tuple[str, ...]
    is_type: bool


def has_type_alone(place: Place) -> bool:
    """Whether `type` is all that counts in a schema."""
    return _sorted(tuple(place.value), place.frame.dialect).is_type


def sort_keywords(context: Context, place: Place) -> Sorted:
    """Sort the keys of a schema, and report each."""
    result = _sorted(tuple(place.value), place.frame.dialect)
    context.report.add(place.pointer, () if place.invented else result.enforced, result.annotations)
    if result.checked:
        _check(context, place, result.checked)
    return result


@lru_cache(maxsize=4096)
def _sorted(names: tuple[str, ...], dialect: Dialect) -> Sorted:
    """The same for all schemas with these keys: there are few such lists, also over many documents."""
    known = dialect.keywords
    keywords = [known[name] for name in names if name in known]
    enforced = [k for k in keywords if k.status is Status.ENFORCED]
    annotations = []
    for name in names:
        if name not in known:
            is_left_out = name in NAMES and name in table(dialect.draft)
            detail = "of a vocabulary that the metaschema does not use" if is_left_out else _of_no_keyword(name)
            annotations.append((name, detail))
        elif known[name].status is Status.ANNOTATION:
            annotations.append((name, ""))
    foreign = frozenset(name for name in names if name in NAMES and name not in known)
    return Sorted(
        frozenset(k.group for k in enforced),
        foreign,
        tuple(k.name for k in enforced if k.name != "format"),
        tuple(annotations),
        tuple(
            name for name in names if name in _CHANGED or (name in known and (name in _NAMING or name == "format")) or not _is_plain(name)
        ),
        [k.name for k in enforced] == ["type"] and not foreign,
    )


def _of_no_keyword(name: object) -> str:
    """What is said of a key that is no keyword: what it may be meant for."""
    if name == "nullable":
        return 'not a keyword of this draft; of OpenAPI 3.0, for which JSON Schema has `"type": [..., "null"]`; nullable=True reads it so'
    if name == DISCRIMINATOR.name:
        return 'not a keyword of this draft; with discriminators="required" an object has the key that it names'
    meant = meant_by(name) if isinstance(name, str) and name not in NAMES else None
    return f"not a keyword of this draft; is `{meant}` meant?" if meant else "not a keyword of this draft"


def _is_plain(name: object) -> bool:
    """Whether a key is text without a character that would have to be looked at."""
    return isinstance(name, str) and name.isascii()


def _check_key(context: Context, place: Place, name: object) -> None:
    """Refuse a key that is no text: a dict may have any, and they go into the report."""
    if not isinstance(name, str):
        raise SchemaError(f"the key {name!r:.40} is no string", pointer=place.pointer)
    context.check_text(place, None, name)


def _check(context: Context, place: Place, names: tuple[str, ...]) -> None:
    """Check some keys of a schema, and their values, as far as their spelling or the report depends on them."""
    for name in names:
        _check_key(context, place, name)
        if name == "format" and _is_known_format(context, place) and not place.invented:
            context.report.add(place.pointer, (name,))
            if place.value[name] in NARROWED:
                detail = f"not all of `{place.value[name]}`: {NARROWED[place.value[name]]}"
                context.report.notes.append(Entry(place.pointer, name, detail))
        if name in _NAMING and name in place.keywords:
            kind, words = _NAMING[name]
            if not isinstance(place.value[name], kind):
                raise SchemaError(f"`{name}` is {words}", pointer=place.pointer, keyword=name)
    if not _CHANGED.isdisjoint(names):
        _check_spelling(context, place)


def _is_known_format(context: Context, place: Place) -> bool:
    """Whether the format of a schema is known; report one that is not."""
    name = place.value["format"]
    if not isinstance(name, str):
        raise SchemaError("`format` is a string", pointer=place.pointer, keyword="format")
    if context.options.formats == "annotation":
        context.report.add(place.pointer, (), (("format", "an annotation, as the options say"),))
        return False
    if name in FORMATS:
        return True
    if context.options.formats == "strict":
        context.relax_or_refuse(place, "format", f"there is no format {name!r:.200}; known are {', '.join(FORMATS)}")
    else:
        context.report.add(place.pointer, (), (("format", f"unknown format {name!r:.200}"),))
    return False


def is_reference(place: Place) -> bool:
    """Whether `$ref` is all that counts in a schema. Up to draft 7 nothing beside it does."""
    if "$ref" not in place.value or place.frame.lone_references:
        return "$ref" in place.value
    found = _sorted(tuple(place.value), place.frame.dialect)
    return found.enforced == ("$ref",) and len(found.groups) == 1


def report_reference(context: Context, place: Place) -> None:
    """Report the keys of a schema in which `$ref` is all that counts."""
    if not place.frame.lone_references:
        sort_keywords(context, place)
        return
    for name in place.value:
        _check_key(context, place, name)
    others = tuple((name, "beside `$ref`, ignored in this draft") for name in place.value if name != "$ref")
    context.report.add(place.pointer, ("$ref",), others)


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
        elif name == "items" and isinstance(schema[name], (list, tuple)):
            found.append((name, "a list, as until 2019-09; read as `prefixItems`"))
        elif name in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(schema[name], bool):
            found.append((name, "true or false, as in draft 4; read as part of the bound beside it"))
    return found


def _misspelt(draft: Draft, schema: dict[str, Any]) -> tuple[str, str] | None:
    """A keyword that is spelt as in another draft than the one that the schema states, and what to do about it."""
    if draft is Draft.DRAFT2020 and isinstance(schema.get("items"), (list, tuple)):
        return "items", "`items` is one schema in 2020-12; a list of schemas is called `prefixItems`"
    if draft in (Draft.DRAFT2019, Draft.DRAFT2020) and "#" in str(schema.get("$id", "")).rstrip("#"):
        return "$id", "`$id` has no fragment from 2019-09 on; a name inside a document is given by `$anchor`"
    for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if name in schema and isinstance(schema[name], bool) != (draft is Draft.DRAFT4):
            if draft is Draft.DRAFT4:
                return name, f"`{name}` is true or false in draft 4, and says how `{bound}` is meant; a number is read from draft 6 on"
            return name, f"`{name}` is a number from draft 6 on; write the number that `{bound}` has, and drop `{bound}`"
    return None
