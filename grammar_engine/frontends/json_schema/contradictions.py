"""Why a schema has no instance: a smallest set of its parts that contradict each other.

Idea. A part is one keyword at one place, or a schema that is `false`. Parts are taken out of a copy of the schema, which is compiled again,
until those that are left admit nothing, but any fewer would (QuickXplain: halves first, so n parts of which k matter take about
k log n tries), or would be refused. The compiler itself is asked, so whatever makes a schema empty is explained, also what only the core
finds out.

Only keywords that admit less the more there are of them are parts: not what stands inside `not`, `oneOf` or `if`. `properties` is never
taken out, since other keywords depend on its names; the schemas in it are made `true`.

Invariant. The parts that are found do contradict each other: the last thing that is tried is the schema with them alone. Of these a `type`
is not named that only says what the others are about, and neither are references.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...errors import GrammarEngineError, SchemaError, UnsatisfiableSchemaError, UnsupportedSchemaError, shortened
from .emitting.marks import STYLES
from .reading.keywords import DISCRIMINATOR, LIST_OF_SCHEMAS, REGISTRY, Status, Types
from .reading.options import Options
from .reading.resources import escape

_EFFORT = 60_000  # schemas to compile in all tries together
_MOST_NAMED = 6
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_MAPS = frozenset(("$defs", "definitions", "patternProperties", "properties"))
_LISTS = LIST_OF_SCHEMAS - {"oneOf"}
_SINGLE = frozenset(("additionalItems", "additionalProperties", "items"))
_TOGETHER = {  # keywords that mean nothing, or something else, without the first
    "contains": ("contains", "minContains", "maxContains"),
    "if": ("if", "then", "else"),
    "minimum": ("minimum", "exclusiveMinimum"),
    "maximum": ("maximum", "exclusiveMaximum"),
}
_KEYWORDS = {keyword.name: keyword for keyword in (*REGISTRY, DISCRIMINATOR) if keyword.status is not Status.ANNOTATION}


class Part(NamedTuple):
    """One keyword, or a schema that is `false`.

    Attributes
    ----------
    pointer : str
    location : str
        Of the instance that it is about, as far as that is seen from where it stands.
    keyword : str
        "" for `false`.
    holder : dict or list
        What it is taken out of.
    kept : dict
        The entries of the holder that it stands for.
    """

    pointer: str
    location: str
    keyword: str
    holder: Any
    kept: dict[Any, Any]

    def pointers(self) -> list[str]:
        """Where it stands, and where the keywords do that it has with it."""
        return [self.pointer.removesuffix(self.keyword) + keyword for keyword in self.kept] if self.keyword else [self.pointer]

    def put_in(self) -> None:
        """Restore the part."""
        for key, value in self.kept.items():
            self.holder[key] = value

    def take_out(self) -> None:
        """Make the schema one without this part."""
        for key in self.kept:
            if self.keyword:
                self.holder.pop(key, None)
            else:
                self.holder[key] = True


def unsatisfiable(schema: Any, options: Options, compiled: Callable[[Any, Options], Any]) -> SchemaError:
    """The error for a schema without instances; `compiled` returns None for such a schema, and is asked about parts of this one."""
    is_closed = options.closed and compiled(schema, options._replace(closed=False)) is not None
    options = options._replace(closed=is_closed)
    pointers, reason = _contradiction(schema, lambda schema: compiled(schema, options))
    if is_closed:
        reason = f"no instance of the schema has only members that it names, as closed=True has it: {reason}"
        return UnsatisfiableSchemaError(reason, parts=tuple(pointers))
    if options.style == "json" or compiled(schema, options._replace(style="json")) is None:
        return UnsatisfiableSchemaError(f"the schema has no instance: {reason}", parts=tuple(pointers))
    keys = "are not written" if STYLES[options.style].behind_name else "are ASCII letters, digits, _, - and ., and begin with a letter or _"
    return UnsupportedSchemaError(
        f"style={options.style!r} can write no instance: {reason} where keys outside of `properties` and `required` {keys}, "
        "and no string has the text in it that ends its parameter"
    )


def _contradiction(schema: Any, compiled: Callable[[Any], Any]) -> tuple[list[str], str]:
    """The pointers of parts that contradict each other, none where they were not found, and the same in words."""
    if not isinstance(schema, dict):
        return [""], "it is `false`"
    copy, originals = _copied(schema)
    parts = _parts(copy, originals)
    search = _Search(copy, parts, compiled, _EFFORT // len(originals))
    try:
        found = search.smallest([], False, parts) if parts else []
    except _TooMuch:
        found = []
    if not found or not search.contradict(found, is_last=True):
        return [], "its parts contradict each other: there is no value that meets all of them"
    search.narrow(found)
    pointers = [pointer for part in _telling(found, search) for pointer in part.pointers()]
    if _lead_in_a_circle(found):
        return pointers, f"{_listed(pointers)} ask for values inside values without end"
    return pointers, f"{_listed(pointers)} contradict each other" if len(pointers) > 1 else f"{shortened(pointers[0])} admits nothing"


class _TooMuch(Exception):  # noqa: N818 - caught above
    """The tries are used up."""


class _Search:
    """Tries of one schema with some of its parts."""

    def __init__(self, schema: Any, parts: list[Part], compiled: Callable[[Any], Any], tries: int):
        self.schema = schema
        self.parts = parts
        self.compiled = compiled
        self.tries = tries

    def contradict(self, some: list[Part], is_last: bool = False) -> bool:
        """Whether the schema with these parts alone is void."""
        self.tries -= 1
        if self.tries < 0 and not is_last:
            raise _TooMuch
        for part in self.parts:
            part.take_out()
        for part in some:
            part.put_in()
        try:
            return self.compiled(self.schema) is None
        except GrammarEngineError:  # so it is not known to be void
            return False

    def smallest(self, given: list[Part], has_grown: bool, parts: list[Part]) -> list[Part]:
        """A smallest subset of `parts` that contradicts the parts that are given."""
        if has_grown and self.contradict(given):
            return []
        if len(parts) == 1:
            return parts
        first, second = parts[: len(parts) // 2], parts[len(parts) // 2 :]
        of_second = self.smallest([*given, *first], True, second)
        of_first = self.smallest([*given, *of_second], bool(of_second), first)
        return [*of_first, *of_second]

    def narrow(self, found: list[Part]) -> None:
        """Leave those keywords out that parts only have with them."""
        for part in found:
            for keyword in list(part.kept)[1:]:
                value = part.kept.pop(keyword)
                part.holder.pop(keyword)
                if not self.contradict(found, is_last=True):
                    part.kept[keyword] = value


def _copied(schema: Any) -> tuple[Any, dict[int, Any]]:
    """A deep copy of a schema, and by the id of each object in it the one that
    it is a copy of. Without recursion, and with the sharing of the original.
    """
    copies: dict[int, Any] = {id(schema): dict(schema)}
    queue = list(copies.values())
    originals = {id(queue[0]): schema}
    for holder in queue:
        for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(value, (dict, list, tuple)):
                copy = copies.get(id(value))
                if copy is None:
                    copy = copies[id(value)] = dict(value) if isinstance(value, dict) else list(value)
                    originals[id(copy)] = value
                    queue.append(copy)
                holder[key] = copy
    return queue[0], originals


def _parts(schema: dict[str, Any], originals: dict[int, Any]) -> list[Part]:
    """All parts of a schema. What a keyword has is that of the original, which stays whole where it is shared with other parts."""
    result: list[Part] = []
    queue: list[tuple[Any, Any, str, str]] = [([schema], 0, "", "")]
    seen = set()
    for holder, key, pointer, location in queue:
        value = holder[key]
        if value is False:
            result.append(Part(pointer, location, "", holder, {key: False}))
        if not isinstance(value, dict) or id(value) in seen:
            continue
        seen.add(id(value))
        for keyword, inner in value.items():
            where = f"{pointer}/{keyword}"
            if keyword in _MAPS and isinstance(inner, dict):
                for name in inner:
                    below = f"{where}/{escape(name)}"
                    queue.append((inner, name, below, f"{location}/{escape(name)}" if keyword == "properties" else below))
            elif keyword in _LISTS and isinstance(inner, (list, tuple)):
                for i in range(len(inner)):
                    is_same = keyword in ("allOf", "anyOf")
                    queue.append((inner, i, f"{where}/{i}", location if is_same else f"{location}/{i}"))
            elif keyword in _SINGLE and isinstance(inner, (dict, bool)):
                queue.append((value, keyword, where, where))
            elif keyword in _KEYWORDS and all(keyword == lead or lead not in value for lead in _leads(keyword)):
                together = _TOGETHER.get(keyword, (keyword,))
                kept = {name: originals.get(id(value[name]), value[name]) for name in together if name in value}
                result.append(Part(where, location, keyword, value, kept))
    return result


def _leads(keyword: str) -> list[str]:
    return [lead for lead, together in _TOGETHER.items() if keyword in together]


def _telling(parts: list[Part], search: _Search) -> list[Part]:
    """The parts without references, unless they are what matters, and without `type` where it only says what other parts are about."""
    named = [
        part for part in parts if not (part.keyword == "type" and _is_clear(part, parts) and not _asks_for_integers(part, parts, search))
    ]
    if _lead_in_a_circle(parts):
        return named
    return [part for part in named if part.keyword not in _REFERENCES] or named


def _is_clear(part: Part, parts: list[Part]) -> bool:
    """Whether the other parts about the same instance are about one type only."""
    others = [other for other in parts if other is not part and other.location == part.location and other.keyword not in _REFERENCES]
    types = {_KEYWORDS[other.keyword].types if other.keyword else Types.ALL for other in others}
    return len(types) == 1 and Types.ALL not in types


def _asks_for_integers(part: Part, parts: list[Part], search: _Search) -> bool:
    """Whether a `type` says more than that numbers are meant: the parts do not contradict each other about these."""
    stated = part.kept["type"]
    if stated not in ("integer", ["integer"]):
        return False
    part.kept["type"] = "number"
    try:
        return not search.contradict(parts, is_last=True)
    finally:
        part.kept["type"] = stated


def _lead_in_a_circle(parts: list[Part]) -> bool:
    """Whether the references among some parts lead back to each other."""
    targets = {part.pointer: part.kept[part.keyword] for part in parts if part.keyword in _REFERENCES}
    ahead = {
        pointer: [other for other in targets if isinstance(target, str) and f"#{other}".startswith(f"{target}/")]
        for pointer, target in targets.items()
    }
    while ends := [pointer for pointer, following in ahead.items() if not any(other in ahead for other in following)]:
        for pointer in ends:
            del ahead[pointer]
    return bool(ahead)


def _listed(pointers: list[str]) -> str:
    named = [shortened(pointer) for pointer in pointers[:_MOST_NAMED]]
    if len(pointers) > _MOST_NAMED:
        named[-1] = f"{len(pointers) - _MOST_NAMED + 1} more"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
