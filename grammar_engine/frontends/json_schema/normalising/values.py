"""The values of keywords, checked before they are used: counts, names, maps, schemas and lists of schemas.

Invariant. What is malformed raises `SchemaError` with the place and the keyword, but where it can have no effect: there it is not read, and
only asked of by `is_well_formed`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Integral
from typing import Any

from ....errors import SchemaError, UnsupportedSchemaError
from ....report import Entry
from ..context import Context
from ..reading.places import Goal, Place

MOST_COUNT = 1 << 31  # of a count; sums and negations of counts then fit 32 bits


class Values:
    """Reads the values of keywords."""

    def __init__(self, context: Context):
        self.context = context
        self.document = context.document

    def count(self, place: Place, schema: dict[str, Any], keyword: str) -> int | None:
        """The value of a keyword that is a count; None where there is no such bound."""
        if keyword not in schema:
            return None
        value = self.context.number(place, keyword, schema[keyword])
        if value < 0 or value != value.to_integral_value():
            raise SchemaError(f"`{keyword}` is an integer, at least 0", pointer=place.pointer, keyword=keyword)
        if value <= MOST_COUNT:
            return int(value)
        if keyword.startswith("min"):
            raise UnsupportedSchemaError(f"counts end at {MOST_COUNT:,}; ask for less", pointer=place.pointer, keyword=keyword)
        self.context.report.notes.append(Entry(place.pointer, keyword, f"counts end at {MOST_COUNT:,}: the same as no bound"))
        return None

    def counts(self, place: Place, schema: dict[str, Any], least: str, most: str) -> tuple[int, int | None]:
        """The values of two keywords that are counts: at least, 0 where nothing is said, and at most, None where there is no such bound."""
        if least not in schema and most not in schema:
            return 0, None
        return self.count(place, schema, least) or 0, self.count(place, schema, most)

    def map(self, place: Place, schema: dict[str, Any], keyword: str) -> dict[str, Any]:
        """The value of a keyword that is an object."""
        value = schema.get(keyword, {})
        if not isinstance(value, dict):
            raise SchemaError(f"`{keyword}` is an object", pointer=place.pointer, keyword=keyword)
        for name in value:
            if not isinstance(name, str):
                raise SchemaError(f"the keys of `{keyword}` are strings, not {name!r}", pointer=place.pointer, keyword=keyword)
        return value

    def names(self, place: Place, keyword: str, value: Any) -> tuple[str, ...]:
        """The value of a keyword that is a list of names."""
        if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
            raise SchemaError(f"`{keyword}` is a list of names", pointer=place.pointer, keyword=keyword)
        for name in value:
            self.context.check_text(place, keyword, name)
        return tuple(dict.fromkeys(value))

    def discriminator(self, place: Place, schema: dict[str, Any]) -> tuple[str, ...]:
        """The name of the key that the value of `discriminator` gives, as a list."""
        value = self.map(place, schema, "discriminator")
        name = value.get("propertyName")
        if not isinstance(name, str):
            raise SchemaError("the `propertyName` of a `discriminator` is a string", pointer=place.pointer, keyword="discriminator")
        return self.names(place, "discriminator", [name])

    def check_name(self, place: Place, keyword: str, name: Any) -> None:
        """Refuse what cannot be a key."""
        if not isinstance(name, str):
            raise SchemaError(f"the key {name!r} is no string", pointer=place.pointer, keyword=keyword)
        self.context.check_text(place, keyword, name)

    def goal(self, place: Place, keyword: str, token: str | int, value: Any) -> Goal:
        """The goal of a schema in a list or map."""
        child = self.document.grandchild(place, keyword, token, value)
        return self.document.goal(self.document.closed(child) if place.closes else child)

    def member(self, place: Place, schema: dict[str, Any], keyword: str) -> Goal:
        """The goal of a keyword whose value is a schema. (`contains` asks something of items that others describe.)"""
        child = self.document.child(place, keyword, schema[keyword])
        return self.document.goal(self.document.closed(child) if place.closes and keyword != "contains" else child)

    def schemas(self, place: Place, schema: dict[str, Any], keyword: str) -> tuple[Goal, ...]:
        """The goals of the schemas in a list."""
        value = schema[keyword]
        if not isinstance(value, (list, tuple)):
            raise SchemaError(f"`{keyword}` is a list of schemas", pointer=place.pointer, keyword=keyword)
        return tuple(self.goal(place, keyword, i, item) for i, item in enumerate(value))

    def branches(self, place: Place, schema: dict[str, Any], keyword: str) -> list[Place]:
        """The places of the schemas in a list."""
        value = schema[keyword]
        if not isinstance(value, (list, tuple)) or not value:
            raise SchemaError(f"`{keyword}` is a list of at least one schema", pointer=place.pointer, keyword=keyword)
        return [self.document.grandchild(place, keyword, i, item) for i, item in enumerate(value)]


# --- values that are not read -------------------------------------------------------------------------------------------------


def is_well_formed(keyword: str, value: Any) -> bool:
    """Whether the value of an assertion is of the kind that it has to be; the text of patterns, and schemas inside, are not looked into."""
    return _KINDS[keyword](value) if keyword in _KINDS else True


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Integral)):
        return False
    return isinstance(value, Integral) or Decimal(value).is_finite()


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and (isinstance(value, Integral) or Decimal(value) == Decimal(value).to_integral_value())


def _is_schema(value: Any) -> bool:
    return isinstance(value, (dict, bool))


def _is_list(is_member: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (list, tuple)) and all(map(is_member, value))


def _is_map(is_member: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(isinstance(name, str) for name in value) and all(map(is_member, value.values()))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_KINDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys("minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties".split(), _is_count),
    **dict.fromkeys("additionalItems contains additionalProperties propertyNames".split(), _is_schema),
    **dict.fromkeys(("properties", "patternProperties"), _is_map(_is_schema)),
    **dict.fromkeys(("minimum", "maximum"), _is_number),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), lambda value: isinstance(value, bool) or _is_number(value)),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "pattern": _is_text,
    "items": lambda value: _is_schema(value) or _is_list(_is_schema)(value),
    "prefixItems": _is_list(_is_schema),
    "uniqueItems": lambda value: isinstance(value, bool),
    "required": _is_list(_is_text),
    "dependentRequired": _is_map(_is_list(_is_text)),
    "nullable": lambda value: isinstance(value, bool),
    "discriminator": lambda value: isinstance(value, dict) and _is_text(value.get("propertyName")),
}
