"""The assertions of one schema: what `type`, `minLength`, `properties` and their like say by themselves.

Idea. Each JSON type has a reader, which makes one piece of that type out of the keywords of that type, whether or not `type` is there:
keywords say nothing about values of other types. The values of `enum` and `const` become a shape too: members of listed arrays and
objects are places of their own, so a listed value meets other conditions like anything else.

`propertyNames` is the one assertion that needs the shape of another place: what strings that admits.

Invariant. The value of every keyword is checked before it is used (`values.py`). The readers are given the keywords of the dialect only
(`sorting.py`), so none asks for the draft.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from numbers import Integral
from typing import Any

from ....errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from ....report import Entry
from ..algebra import pieces, shape
from ..algebra.shape import ANY, FALSE, NULL, TRUE, Shape
from ..containers.arrays import ARRAYS, ArrayLayer, ArrayPiece, counted
from ..containers.objects import OBJECTS, ObjectLayer, ObjectPiece
from ..context import Context
from ..reading.keywords import DISCRIMINATOR, NULLABLE, Draft, Group
from ..reading.places import ANYTHING, NEVER, Goal, Place
from ..reading.resources import escape
from ..scalars.decimals import Bound
from ..scalars.formats import FORMATS
from ..scalars.numbers import DIGITS_ONLY, INTEGERS, NUMBERS, NumberPiece
from ..scalars.strings import STRINGS, StringPiece
from .sorting import sort_keywords
from .values import Values, is_well_formed

Steps = Generator[Place, Shape, Shape]  # makes a shape, and yields the places whose shapes it needs for that
Own = tuple[dict[str, Any], frozenset[Group], Shape]  # the keywords of a schema that count, their groups, and what they assert

_OF_TYPE = {
    "null": Shape(NULL),
    "boolean": Shape(TRUE | FALSE),
    "string": Shape(strings=(STRINGS,)),
    "number": Shape(numbers=(NUMBERS,)),
    "integer": Shape(numbers=(INTEGERS,)),
    "array": Shape(arrays=(ARRAYS,)),
    "object": Shape(objects=(OBJECTS,)),
}
_OF_TYPE_IN_DRAFT4 = {**_OF_TYPE, "integer": Shape(numbers=(DIGITS_ONLY,))}


class Assertions:
    """Reads the assertions of places."""

    def __init__(self, context: Context):
        self.context = context
        self.document = context.document
        self.values = Values(context)
        self.said: dict[Place, Own] = {}  # by the places that were read

    def own(self, place: Place) -> Generator[Place, Shape, Own]:
        """What a schema says by itself, without the schemas that apply to the same place; yields a place whose shape it needs."""
        known = self.said.get(place) or self.own_without_property_names(place)
        schema, groups, result = known
        if "propertyNames" in schema and result.objects:
            result = yield from self._property_names(place, schema, result)
        return schema, groups, result

    def own_without_property_names(self, place: Place) -> Own:
        """The same, `propertyNames` left out."""
        schema = place.value
        groups, foreign, *_, is_type = sort_keywords(self.context, place)
        if foreign:
            schema = {name: value for name, value in schema.items() if name not in foreign}
        result = self._type(place, schema["type"]) if is_type else self._shape(place, schema, groups)
        known = self.said[place] = schema, groups, result
        return known

    def _shape(self, place: Place, schema: dict[str, Any], groups: frozenset[Group]) -> Shape:
        """What the assertions of a schema admit; `groups` says which kinds it has."""
        try:
            return self._read(place, schema, groups)
        except UnsupportedSchemaError as error:
            if error.keyword not in schema:
                raise
            self.context.relax_or_raise(error, place.pointer, error.keyword)
            return self._shape(place, {k: v for k, v in schema.items() if k != error.keyword}, groups).inexact()

    def _read(self, place: Place, schema: dict[str, Any], groups: frozenset[Group]) -> Shape:
        result = self._values(place, schema) if Group.VALUE in groups else ANY
        if len(groups) == 1 and result is not ANY:
            return result
        for group, (factor, reader, everything) in _readers(groups):
            union = getattr(result, factor)
            admitted, exact = reader(self, place, schema) if union else ((), True)
            if not admitted:
                self._note_malformed(place, schema, group)
            if union and (admitted != (everything,) or not exact):
                result = result.replaced(factor, pieces.meet(union, admitted, everything, self.context), exact)
        return result

    def _note_malformed(self, place: Place, schema: dict[str, Any], group: Group) -> None:
        """Note the keywords of a group that no value here can meet or fail, where their own values are malformed: they were not read."""
        known = place.keywords
        for keyword, value in schema.items():
            if keyword in known and known[keyword].group is group and not is_well_formed(keyword, value):
                self.context.report.add_malformed(place.pointer, keyword)

    def _values(self, place: Place, schema: dict[str, Any]) -> Shape:
        result = ANY
        if "type" in schema:
            result = self._type(place, schema["type"])
        if "nullable" in schema and NULLABLE.name in place.keywords:
            result = self._nullable(place, schema, result)
        if "enum" in schema:
            values = schema["enum"]
            if not isinstance(values, (list, tuple)):
                raise SchemaError("`enum` is a list of values", pointer=place.pointer, keyword="enum")
            result = shape.meet(result, self._listed(place, "enum", values), self.context)
        if "const" in schema:
            result = shape.meet(result, self._listed(place, "const", [schema["const"]]), self.context)
        return result

    def _type(self, place: Place, names: Any) -> Shape:
        """The shape of a type, or of any of several: always the same one for the same types of a draft."""
        of_type = _OF_TYPE_IN_DRAFT4 if place.draft is Draft.DRAFT4 else _OF_TYPE
        if isinstance(names, str) and names in of_type:
            return of_type[names]
        listed = [names] if isinstance(names, str) else names
        if not isinstance(listed, (list, tuple)) or not listed or not all(isinstance(name, str) for name in listed):
            raise SchemaError("`type` is a name or a list of names", pointer=place.pointer, keyword="type")
        for name in listed:
            if name not in _OF_TYPE:
                raise SchemaError(f"there is no type {name!r:.60}", pointer=place.pointer, keyword="type")
        return _any_type(tuple(listed), place.draft is Draft.DRAFT4)

    def _nullable(self, place: Place, schema: dict[str, Any], of_type: Shape) -> Shape:
        """What a `type` admits with `nullable` beside it: it has no effect without one, and `enum` and `const` say for themselves what
        they admit (OpenAPI 3.0.3).
        """
        nullable = schema["nullable"]
        if not isinstance(nullable, bool):
            raise SchemaError("`nullable` is true or false", pointer=place.pointer, keyword="nullable")
        listed = [schema["const"]] if "const" in schema else schema.get("enum", [None])
        detail = ""
        if "type" not in schema:
            detail = "says nothing without a `type` beside it"
        elif isinstance(listed, (list, tuple)) and not any(value is None for value in listed):
            detail = "null is not among the values that are listed beside it, so it is not admitted"
        if nullable and detail:
            self.context.report.notes.append(Entry(place.pointer, "nullable", detail))
        return shape.join([of_type, _OF_TYPE["null"]]) if nullable else of_type

    def _listed(self, place: Place, keyword: str, values: Sequence[Any]) -> Shape:
        """The shape of some values; the members of arrays and objects become places of their own."""
        context = self.context
        atoms = 0
        texts, numbers, arrays, objects = set(), set(), [], []
        for index, value in enumerate(values):
            if isinstance(value, str):
                context.check_text(place, keyword, value)
                texts.add(value)
            elif value is None or isinstance(value, bool):
                atoms |= NULL if value is None else TRUE if value else FALSE
            elif isinstance(value, (list, tuple)):
                prefix = tuple((self._constant(place, keyword, index, i, item),) for i, item in enumerate(value))
                arrays.append(ArrayPiece((ArrayLayer(prefix, NEVER),), len(prefix), len(prefix)))
            elif isinstance(value, dict):
                named: dict[str, Goal] = {k: (self._constant(place, keyword, index, k, v),) for k, v in value.items()}
                for name in named:
                    self.values.check_name(place, keyword, name)
                objects.append(ObjectPiece((ObjectLayer(named, (), NEVER),), tuple(named)))
            elif isinstance(value, (int, float, Decimal, Integral)):
                numbers.add(context.number(place, keyword, value))
            else:
                raise SchemaError(f"{value!r:.40} is no JSON value", pointer=place.pointer, keyword=keyword)
        return Shape(
            atoms,
            (StringPiece(values=frozenset(texts)),) if texts else (),
            (NumberPiece(values=frozenset(numbers)),) if numbers else (),
            tuple(arrays),
            tuple(objects),
        )

    def _constant(self, place: Place, keyword: str, index: int, step: str | int, value: Any) -> Place:
        pointer = place.pointer  # of an invented place: the value itself
        if not place.invented:
            pointer += f"/{keyword}" + (f"/{index}" if keyword == "enum" else "")
        return self.document.invented(place, f"{pointer}/{step if isinstance(step, int) else escape(step)}", keyword, value)

    def _strings(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[StringPiece, ...], bool]:
        context = self.context
        shortest, longest = self.values.counts(place, schema, "minLength", "maxLength")
        if longest is not None and shortest > longest:
            return (), True
        texts = set()
        exact = True
        if "pattern" in schema:
            try:
                texts.add(context.pattern(place, "pattern", schema["pattern"]))
            except UnsupportedSchemaError as error:
                context.relax_or_raise(error, place.pointer, "pattern")
                exact = False
        if "format" in schema and context.options.formats != "annotation":
            if schema["format"] in FORMATS:
                texts.add(context.format(schema["format"]))
            else:
                exact = exact and context.options.formats != "strict"  # which it was given up for
        return (StringPiece(shortest, longest, frozenset(texts)),), exact

    def _numbers(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[NumberPiece, ...], bool]:
        context = self.context
        piece: NumberPiece | None = NUMBERS
        for inclusive, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            is_open = schema.get(exclusive)
            bounds = []
            if inclusive in schema:
                bounds.append(Bound(context.number(place, inclusive, schema[inclusive]), is_open is True))
            if exclusive in schema and not isinstance(is_open, bool):
                bounds.append(Bound(context.number(place, exclusive, is_open), True))
            for bound in bounds:
                piece = piece and piece.meet(NumberPiece(low=bound) if inclusive == "minimum" else NumberPiece(high=bound))
        if "multipleOf" in schema:
            step = context.number(place, "multipleOf", schema["multipleOf"])
            if step <= 0:
                raise SchemaError("`multipleOf` is greater than 0", pointer=place.pointer, keyword="multipleOf")
            piece = piece and piece.meet(NumberPiece(steps=frozenset((step,))))
        return ((piece,) if piece else ()), True

    def _arrays(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[ArrayPiece, ...], bool]:
        shortest, longest = self.values.counts(place, schema, "minItems", "maxItems")
        if longest is not None and shortest > longest:
            return (), True
        prefix: tuple[Goal, ...] = ()
        rest = ANYTHING
        if "prefixItems" in schema:
            prefix = self.values.schemas(place, schema, "prefixItems")
        items = schema.get("items", True)
        if isinstance(items, (list, tuple)):
            prefix = prefix or self.values.schemas(place, schema, "items")
            if "additionalItems" in schema:
                rest = self.values.member(place, schema, "additionalItems")
        elif items is not True:
            rest = self.values.member(place, schema, "items")
        unique = schema.get("uniqueItems", False)
        if not isinstance(unique, bool):
            raise SchemaError("`uniqueItems` is true or false", pointer=place.pointer, keyword="uniqueItems")
        layers = (ArrayLayer(prefix, rest),) if prefix or rest != ANYTHING else ()
        is_compared = unique and (longest is None or longest > 1)
        piece: ArrayPiece | None = ArrayPiece(layers, shortest, longest, unique=place if is_compared else None)
        if "contains" in schema:
            piece = piece and self._contains(place, schema, piece)
        else:
            self.values.counts(place, schema, "minContains", "maxContains")  # say nothing, but are counts
        return ((piece,) if piece else ()), True

    def _contains(self, place: Place, schema: dict[str, Any], piece: ArrayPiece) -> ArrayPiece | None:
        fewest = self.values.count(place, schema, "minContains")
        most = self.values.count(place, schema, "maxContains")
        goal = self.values.member(place, schema, "contains")
        count = counted(self.context, goal, 1 if fewest is None else fewest, most)
        return count and piece.meet(count)

    def _objects(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[ObjectPiece, ...], bool]:
        context = self.context
        fewest, most = self.values.counts(place, schema, "minProperties", "maxProperties")
        exact = True
        required = self.values.names(place, "required", schema.get("required", []))
        if "discriminator" in schema and DISCRIMINATOR.name in place.keywords:
            required = tuple(dict.fromkeys(required + self.values.discriminator(place, schema)))
        if most is not None and max(fewest, len(required)) > most:
            return (), True
        properties = self.values.map(place, schema, "properties")
        for name in properties:
            if not name.isascii():
                context.check_text(place, "properties", name)
        named = self.document.goals(place, "properties", properties)
        classes = []
        for source, value in self.values.map(place, schema, "patternProperties").items():
            try:
                keys = context.pattern(place, "patternProperties", source)
            except UnsupportedSchemaError as error:
                context.relax_or_raise(error, place.pointer, "patternProperties")
                exact = False
                keys = context.builder.text  # which keys match is unknown, so what other keys have to meet is unknown too
                classes.append((keys, ANYTHING))
                continue
            classes.append((keys, self.values.goal(place, "patternProperties", source, value)))
        others = self.values.member(place, schema, "additionalProperties") if "additionalProperties" in schema else ANYTHING
        layers = (ObjectLayer(named, tuple(classes), others),) if named or classes or others != ANYTHING else ()
        union: tuple[ObjectPiece, ...] = (ObjectPiece(layers, required, fewest, most),)
        if "dependentRequired" in schema:
            try:
                return self._dependent(place, schema, union), exact
            except LimitExceededError as error:
                context.relax_or_raise_limit(error, place.pointer)
                exact = False
        return union, exact

    def _dependent(self, place: Place, schema: dict[str, Any], union: tuple[ObjectPiece, ...]) -> tuple[ObjectPiece, ...]:
        needs = [
            (name, other)
            for name, names in self.values.map(place, schema, "dependentRequired").items()
            for other in self.values.names(place, "dependentRequired", names)
        ]
        return pieces.meet(union, (self.beside(needs),), OBJECTS, self.context)

    def _property_names(self, place: Place, schema: dict[str, Any], result: Shape) -> Steps:
        context = self.context
        names = yield self.document.strings_of(self.document.child(place, "propertyNames", schema["propertyNames"]))
        if names.strings == (STRINGS,):
            return result if names.exact else result.inexact()
        allowed = context.builder.union(*(piece.text(context) for piece in names.strings))
        layer = context.every(context.other_keys(allowed, context.builder.union(*(p.widest_text(context) for p in names.strings))), NEVER)
        union = pieces.meet(result.objects, (ObjectPiece((layer,)),), OBJECTS, context)
        return result.replaced("objects", union, names.exact)

    def beside(self, needs: Iterable[tuple[str, str]]) -> ObjectPiece:
        """The objects that have the second key of each pair if they have the first."""
        return ObjectPiece(needs=tuple(dict.fromkeys(pair for pair in needs if pair[0] != pair[1])))

    def without(self, name: str) -> ObjectPiece:
        """The objects without a key."""
        return ObjectPiece((self.context.single(name, NEVER),))


@lru_cache(maxsize=256)
def _any_type(names: tuple[str, ...], is_draft4: bool) -> Shape:
    of_type = _OF_TYPE_IN_DRAFT4 if is_draft4 else _OF_TYPE
    return shape.join([of_type[name] for name in names])


_Reader = tuple[str, Callable[[Assertions, Place, dict[str, Any]], Any], Any]  # of a factor: its name, what reads it, everything

_READERS: dict[Group, _Reader] = {
    Group.STRING: ("strings", Assertions._strings, STRINGS),
    Group.NUMBER: ("numbers", Assertions._numbers, NUMBERS),
    Group.ARRAY: ("arrays", Assertions._arrays, ARRAYS),
    Group.OBJECT: ("objects", Assertions._objects, OBJECTS),
}


@cache
def _readers(groups: frozenset[Group]) -> tuple[tuple[Group, _Reader], ...]:
    return tuple((group, reader) for group, reader in _READERS.items() if group in groups)
