"""From places to shapes: what each keyword means, as operations of the algebra.

Idea. The shape of a place is computed from its own assertions (one piece for each type) and then met with the shapes of the schemas that
apply to the same place: `$ref`, `allOf`, `anyOf`, `oneOf`, `not`, `if`, `dependentSchemas`. Each step is a generator that *yields*
the places whose shapes it needs; one loop with an explicit stack drives them, so chains of references of any length take no
Python recursion. A shape is computed once for each place.

`oneOf` is, type by type, the union over i of (branch i, and none of the others that may overlap with it). Branches that provably
exclude each other need no negation: a key that either one requires and whose two goals exclude each other is proof enough, which
covers discriminating `const`s, and a required key that a closed object lacks. The branches are met with everything else that is said
at that place before they are compared.

Invariant. A place that needs itself (references and nothing else) is an error, not a loop. A proof that would need the shape of a place
that is being computed is not found, which is safe: `is_void` False means "maybe not".
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from ...errors import SchemaError, UnsupportedSchemaError
from ...ir import UNBOUNDED
from ...report import Entry
from . import pieces, shape
from .arrays import ARRAYS, ArrayLayer, ArrayPiece
from .context import Context
from .decimals import Bound
from .formats import FORMATS, UNSUPPORTED_FORMATS
from .keywords import Draft, Group, Status, Types, table
from .numbers import INTEGERS, NUMBERS, NumberPiece
from .objects import OBJECTS, ObjectLayer, ObjectPiece
from .places import ANYTHING, NEVER, Goal, Place, escape
from .shape import ANY, FALSE, NONE, NULL, TRUE, Shape
from .strings import STRINGS, StringPiece

Steps = Generator[Place, Shape, Shape]

_MAX_PROOF_DEPTH = 8  # goals inside goals that a proof of emptiness looks into

_OF_TYPE = {
    "null": Shape(NULL),
    "boolean": Shape(TRUE | FALSE),
    "string": Shape(strings=(STRINGS,)),
    "number": Shape(numbers=(NUMBERS,)),
    "integer": Shape(numbers=(INTEGERS,)),
    "array": Shape(arrays=(ARRAYS,)),
    "object": Shape(objects=(OBJECTS,)),
}
_KNOWN_FORMATS = (*FORMATS, *UNSUPPORTED_FORMATS)


class _Undecided(Exception):
    """A proof needs a shape that is being computed."""


class Normaliser:
    """Computes shapes, each once."""

    def __init__(self, context: Context):
        self.context = context
        self.document = context.document
        self._shapes: dict[Place, Shape] = {}
        self._goals: dict[Goal, Shape] = {(): ANY}
        self._active: set[Place] = set()
        self._void: dict[Goal, bool] = {}
        self._proof_depth = 0

    def shape(self, goal: Goal) -> Shape:
        """What meets a goal, one level deep."""
        known = self._goals.get(goal)
        if known is None:
            known = ANY
            for place in goal:
                known = shape.meet(known, self._shapes.get(place) or self._run(place), self.context)
            self._goals[goal] = known
        return known

    def is_void(self, goal: Goal) -> bool:
        """Whether a goal is known to admit nothing (False: maybe it admits something)."""
        if goal is NEVER or not goal:
            return goal is NEVER
        known = self._void.get(goal)
        if known is None:
            if self._proof_depth >= _MAX_PROOF_DEPTH:
                return False
            self._proof_depth += 1
            try:
                known = self.shape(goal).is_void(self.context)
            except _Undecided:
                return False
            finally:
                self._proof_depth -= 1
            if self._proof_depth == 0 or known:
                self._void[goal] = known
        return known

    # --- the loop ---------------------------------------------------------------------------------------------------------

    def _run(self, place: Place) -> Shape:
        if place in self._active:
            raise _Undecided
        stack = [(place, self._steps(place))]
        mine = {place}
        self._active.add(place)
        result: Shape | None = None
        try:
            while stack:
                current, steps = stack[-1]
                try:
                    wanted = steps.send(result)  # type: ignore[arg-type]
                except StopIteration as stop:
                    result = self._shapes[current] = stop.value
                    self._active.discard(current)
                    mine.discard(current)
                    stack.pop()
                    continue
                result = self._shapes.get(wanted)
                if result is None:
                    if wanted in mine:
                        raise SchemaError(
                            "the schema refers to itself without anything in between, so it says nothing",
                            pointer=current.pointer,
                            keyword="$ref",
                        )
                    if wanted in self._active:
                        raise _Undecided
                    self._active.add(wanted)
                    mine.add(wanted)
                    stack.append((wanted, self._steps(wanted)))
        finally:
            self._active -= mine
        assert result is not None
        return result

    def _steps(self, place: Place) -> Steps:
        if not place.positive:
            return (yield from self._negation(place))
        if place.value is True:
            return ANY
        if place.value is False:
            return NONE
        schema, draft = place.value, place.draft
        if draft.value <= Draft.DRAFT7.value and "$ref" in schema:
            self._report_reference_only(place, schema)
            return (yield self._target(place))
        groups, unsupported = self._sort_keywords(place, schema)
        result = self._own(place, schema, groups)
        for keyword in unsupported:
            if keyword.types is Types.ALL or keyword.types & _types(result):
                self.context.relax(place, keyword.name, keyword.reason)
                result = _inexact(result)
        if Group.APPLICATOR in groups:
            result = yield from self._applicators(place, schema, result)
        if "propertyNames" in schema and Group.OBJECT in groups and result.objects:
            result = yield from self._property_names(place, schema, result)
        return result

    def _sort_keywords(self, place: Place, schema: dict[str, Any]) -> tuple[set[Group], list[Any]]:
        """Report every key of a schema; say which groups of keywords it uses and which unsupported ones."""
        known = table(place.draft)
        report, pointer = self.context.report, place.pointer
        groups: set[Group] = set()
        unsupported = []
        for name in schema:
            keyword = known.get(name)
            if keyword is None:
                report.annotations.append(Entry(pointer, name, "not a keyword of this draft"))
            elif keyword.status is Status.ENFORCED:
                groups.add(keyword.group)
                if not place.invented and (name != "format" or schema[name] in _KNOWN_FORMATS):
                    report.enforced.append(Entry(pointer, name))
            elif keyword.status is Status.ANNOTATION:
                report.annotations.append(Entry(pointer, name))
            else:
                unsupported.append(keyword)
        return groups, unsupported

    def _report_reference_only(self, place: Place, schema: dict[str, Any]) -> None:
        for name in schema:
            if name == "$ref":
                self.context.report.enforced.append(Entry(place.pointer, name))
            else:
                self.context.report.annotations.append(Entry(place.pointer, name, "beside `$ref`, ignored in this draft"))

    def _negation(self, place: Place) -> Steps:
        inner = yield self.document.negation(place)
        try:
            if not inner.exact:
                raise UnsupportedSchemaError("a negation of something that was relaxed", pointer=place.pointer, keyword="not")
            return shape.negate(inner, self.context)
        except UnsupportedSchemaError as error:
            head, _, tail = place.pointer.rpartition("/")
            pointer, keyword = (head, tail) if tail in ("not", "if") else (place.pointer, "not")
            self.context.relax_error(error, pointer, keyword)
            return _inexact(ANY)

    # --- assertions of the place itself -----------------------------------------------------------------------------------

    def _own(self, place: Place, schema: dict[str, Any], groups: set[Group]) -> Shape:
        result = self._values(place, schema) if Group.VALUE in groups else ANY
        readers: tuple[tuple[Group, str, Callable[[Place, dict[str, Any]], Any], Any], ...] = (
            (Group.STRING, "strings", self._strings, STRINGS),
            (Group.NUMBER, "numbers", self._numbers, NUMBERS),
            (Group.ARRAY, "arrays", self._arrays, ARRAYS),
            (Group.OBJECT, "objects", self._objects, OBJECTS),
        )
        for group, factor, reader, everything in readers:
            if group in groups:
                union = getattr(result, factor)
                admitted, exact = reader(place, schema) if union else ((), True)
                if union and (admitted != (everything,) or not exact):
                    result = _replaced(result, factor, pieces.meet(union, admitted, everything, self.context), exact)
        return result

    def _values(self, place: Place, schema: dict[str, Any]) -> Shape:
        result = ANY
        if "type" in schema:
            names = schema["type"]
            if isinstance(names, str):
                names = [names]
            if not isinstance(names, list) or not names:
                raise SchemaError("`type` is a name or a list of names", pointer=place.pointer, keyword="type")
            for name in names:
                if not isinstance(name, str) or name not in _OF_TYPE:
                    raise SchemaError(f"there is no type {name!r}", pointer=place.pointer, keyword="type")
            result = shape.join([_OF_TYPE[name] for name in names])
        if "enum" in schema:
            values = schema["enum"]
            if not isinstance(values, list):
                raise SchemaError("`enum` is a list of values", pointer=place.pointer, keyword="enum")
            result = shape.meet(result, self._listed(place, "enum", values), self.context)
        if "const" in schema and place.draft is not Draft.DRAFT4:
            result = shape.meet(result, self._listed(place, "const", [schema["const"]]), self.context)
        return result

    def _listed(self, place: Place, keyword: str, values: list[Any]) -> Shape:
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
                named = {k: (self._constant(place, keyword, index, k, v),) for k, v in value.items()}
                for name in named:
                    self._check_name(place, keyword, name)
                objects.append(ObjectPiece((ObjectLayer(named, (), NEVER),), tuple(named)))
            else:
                numbers.add(context.number(place, keyword, value))
        return Shape(
            atoms,
            (StringPiece(values=frozenset(texts)),) if texts else (),
            (NumberPiece(values=frozenset(numbers)),) if numbers else (),
            tuple(arrays),
            tuple(objects),
        )

    def _constant(self, place: Place, keyword: str, index: int, step: str | int, value: Any) -> Place:
        pointer = f"{place.pointer}/{keyword}" + (f"/{index}" if keyword == "enum" and not place.invented else "")
        return self.document.invented(place, f"{pointer}/{step if isinstance(step, int) else escape(step)}", {"enum": [value]})

    def _strings(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[StringPiece, ...], bool]:
        context = self.context
        shortest = self._count(place, schema, "minLength") or 0
        longest = self._count(place, schema, "maxLength")
        if longest is not None and shortest > longest:
            return (), True
        texts = set()
        exact = True
        if "pattern" in schema:
            try:
                texts.add(context.pattern(place, "pattern", schema["pattern"]))
            except UnsupportedSchemaError as error:
                context.relax_error(error, place.pointer, "pattern")
                exact = False
        if "format" in schema:
            name = schema["format"]
            if not isinstance(name, str):
                raise SchemaError("`format` is a string", pointer=place.pointer, keyword="format")
            if name in FORMATS:
                texts.add(context.format(name))
            elif name in UNSUPPORTED_FORMATS:
                context.relax(place, "format", f"{name}: {UNSUPPORTED_FORMATS[name]}")
                exact = False
            else:
                context.report.annotations.append(Entry(place.pointer, "format", f"unknown format {name!r}"))
        return (StringPiece(shortest, longest, frozenset(texts)),), exact

    def _numbers(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[NumberPiece, ...], bool]:
        context = self.context
        piece: NumberPiece | None = NUMBERS
        exact = True
        for inclusive, exclusive, side in (("minimum", "exclusiveMinimum", "low"), ("maximum", "exclusiveMaximum", "high")):
            is_open = schema.get(exclusive)
            if inclusive in schema:
                value = context.number(place, inclusive, schema[inclusive])
                piece = piece and piece.meet(NumberPiece(**{side: Bound(value, is_open is True)}))
            if exclusive in schema and not isinstance(is_open, bool):
                value = context.number(place, exclusive, is_open)
                piece = piece and piece.meet(NumberPiece(**{side: Bound(value, True)}))
        if "multipleOf" in schema:
            step = context.number(place, "multipleOf", schema["multipleOf"])
            if step <= 0:
                raise SchemaError("`multipleOf` is greater than 0", pointer=place.pointer, keyword="multipleOf")
            if context.has_multiples(step):
                piece = piece and piece.meet(NumberPiece(steps=frozenset((step,))))
            else:
                context.relax(place, "multipleOf", f"the automaton for multiples of {step} is too large")
                exact = False
        return ((piece,) if piece else ()), exact

    def _arrays(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[ArrayPiece, ...], bool]:
        shortest = self._count(place, schema, "minItems") or 0
        longest = self._count(place, schema, "maxItems")
        exact = True
        if longest is not None and shortest > longest:
            return (), True
        known = table(place.draft)
        prefix, rest = (), ANYTHING
        if "prefixItems" in schema and "prefixItems" in known:
            prefix = self._list(place, schema, "prefixItems")
        items = schema.get("items", True)
        if isinstance(items, list):
            prefix = prefix or self._list(place, schema, "items")
            if "additionalItems" in schema and "additionalItems" in known:
                rest = self._member(place, schema, "additionalItems")
        elif items is not True:
            rest = self._member(place, schema, "items")
        unique = schema.get("uniqueItems", False)
        if not isinstance(unique, bool):
            raise SchemaError("`uniqueItems` is true or false", pointer=place.pointer, keyword="uniqueItems")
        if unique and (longest is None or longest > 1):
            self.context.relax(place, "uniqueItems", "comparing items with each other is not implemented")
            exact = False
        layers = (ArrayLayer(prefix, rest),) if prefix or rest != ANYTHING else ()
        return (ArrayPiece(layers, shortest, longest),), exact

    def _objects(self, place: Place, schema: dict[str, Any]) -> tuple[tuple[ObjectPiece, ...], bool]:
        context = self.context
        fewest = self._count(place, schema, "minProperties") or 0
        most = self._count(place, schema, "maxProperties")
        exact = True
        required = self._names(place, "required", schema.get("required", []))
        if most is not None and max(fewest, len(required)) > most:
            return (), True
        properties = self._map(place, schema, "properties")
        named = {}
        for name, value in properties.items():
            if not name.isascii():
                context.check_text(place, "properties", name)
            named[name] = ANYTHING if value is True else self._goal(place, "properties", name, value)
        classes = []
        for source, value in self._map(place, schema, "patternProperties").items():
            try:
                keys = context.pattern(place, "patternProperties", source)
            except UnsupportedSchemaError as error:
                context.relax_error(error, place.pointer, "patternProperties")
                exact = False
                keys = context.builder.text  # which keys match is unknown, so what other keys have to meet is unknown too
                classes.append((keys, ANYTHING))
                continue
            classes.append((keys, self._goal(place, "patternProperties", source, value)))
        others = self._member(place, schema, "additionalProperties") if "additionalProperties" in schema else ANYTHING
        layers = (ObjectLayer(named, tuple(classes), others),) if named or classes or others != ANYTHING else ()
        union: tuple[ObjectPiece, ...] = (ObjectPiece(layers, required, fewest, most),)
        if "dependentRequired" in schema and "dependentRequired" in table(place.draft):
            for name, needed in self._map(place, schema, "dependentRequired").items():
                union = self._depends(union, name, self._names(place, "dependentRequired", needed))
        return union, exact

    def _depends(self, union: tuple[ObjectPiece, ...], name: str, needed: tuple[str, ...]) -> tuple[ObjectPiece, ...]:
        if not needed:
            return union
        with_name = ObjectPiece(required=tuple(dict.fromkeys((name, *needed))))
        return pieces.meet(union, (self._without(name), with_name), OBJECTS, self.context)

    def _without(self, name: str) -> ObjectPiece:
        return ObjectPiece((self.context.single(name, NEVER),))

    # --- schemas for the same place -----------------------------------------------------------------------------------------

    def _applicators(self, place: Place, schema: dict[str, Any], own: Shape) -> Steps:
        context = self.context
        result = own
        exclusive = [place] if "oneOf" in schema else []
        for keyword in schema:
            if keyword == "$ref":
                more = yield self._target(place)
            elif keyword == "allOf":
                more = ANY
                for branch in self._branches(place, schema, keyword):
                    if self._is_only_one_of(branch):
                        exclusive.append(branch)
                    else:
                        more = shape.meet(more, (yield branch), context)
            elif keyword == "anyOf":
                branches = []
                for branch in self._branches(place, schema, keyword):
                    branches.append((yield branch))
                more = shape.join(branches)
            elif keyword == "not":
                inner = self.document.child(place, "not", schema["not"])
                more = yield self.document.negation(inner)
            elif keyword == "if" and keyword in table(place.draft):
                more = yield from self._conditional(place, schema)
            elif keyword == "dependencies" or (keyword == "dependentSchemas" and keyword in table(place.draft)):
                more = yield from self._dependencies(place, schema, keyword)
            else:
                continue
            first = keyword in ("$ref", "allOf") and _precedes(keyword, "properties", schema)
            result = shape.meet(more, result, context) if first else shape.meet(result, more, context)
        for one_of in exclusive:
            if one_of is not place:
                groups, _ = self._sort_keywords(one_of, one_of.value)
                result = shape.meet(result, self._own(one_of, one_of.value, groups), context)
            branches = []
            for branch in self._branches(one_of, one_of.value, "oneOf"):
                branches.append(shape.meet(result, (yield branch), context))
            result = self._one_of(one_of, branches)
        return result

    def _is_only_one_of(self, place: Place) -> bool:
        """Whether `oneOf` is what a schema says, perhaps with assertions. In `allOf` such a schema waits for the others: what
        they require may be what keeps its branches apart."""
        if not isinstance(place.value, dict) or "oneOf" not in place.value:
            return False
        known = table(place.draft)
        used = [known[name] for name in place.value if name in known and name != "oneOf"]
        return all(k.group is not Group.APPLICATOR and k.status is not Status.UNSUPPORTED and k.name != "propertyNames" for k in used)

    def _target(self, place: Place) -> Place:
        reference = place.value["$ref"]
        if not isinstance(reference, str):
            raise SchemaError("`$ref` is a string", pointer=place.pointer, keyword="$ref")
        return self.document.resolve(place, reference)

    def _conditional(self, place: Place, schema: dict[str, Any]) -> Steps:
        if "then" not in schema and "else" not in schema:
            return ANY
        condition = self.document.child(place, "if", schema["if"])
        result = []
        for keyword, test in (("then", condition), ("else", self.document.negation(condition))):
            tested = yield test
            branch = (yield self.document.child(place, keyword, schema[keyword])) if keyword in schema else ANY
            result.append(shape.meet(tested, branch, self.context))
        return shape.join(result)

    def _dependencies(self, place: Place, schema: dict[str, Any], keyword: str) -> Steps:
        result = ANY
        for name, value in self._map(place, schema, keyword).items():
            if isinstance(value, list) and keyword == "dependencies":
                union = self._depends((OBJECTS,), name, self._names(place, keyword, value))
                exact = True
            else:
                inner = yield self.document.grandchild(place, keyword, name, value)
                with_name = pieces.meet((ObjectPiece(required=(name,)),), inner.objects, OBJECTS, self.context)
                union, exact = (self._without(name), *with_name), inner.exact
            result = _replaced(result, "objects", pieces.meet(result.objects, union, OBJECTS, self.context), exact)
        return result

    def _property_names(self, place: Place, schema: dict[str, Any], result: Shape) -> Steps:
        if "propertyNames" not in table(place.draft):
            return result
        context = self.context
        names = yield self.document.child(place, "propertyNames", schema["propertyNames"])
        if names.strings == (STRINGS,):
            return result if names.exact else _inexact(result)
        allowed = context.builder.union(*(piece.text(context) for piece in names.strings))
        layer = ObjectLayer({}, ((context.builder.text_minus(allowed), NEVER),))
        union = pieces.meet(result.objects, (ObjectPiece((layer,)),), OBJECTS, context)
        return _replaced(result, "objects", union, names.exact)

    # --- oneOf ------------------------------------------------------------------------------------------------------------

    def _one_of(self, place: Place, branches: list[Shape]) -> Shape:
        if len(branches) == 1:
            return branches[0]
        if not all(branch.exact for branch in branches):
            self.context.relax(place, "oneOf", "a branch was relaxed, so it is treated as `anyOf`")
            return _inexact(shape.join(branches))
        once = twice = 0
        for branch in branches:
            twice |= once & branch.atoms
            once |= branch.atoms
        try:
            return Shape(
                once & ~twice,
                self._exclusive([branch.strings for branch in branches], STRINGS),
                self._exclusive([branch.numbers for branch in branches], NUMBERS),
                self._exclusive([branch.arrays for branch in branches], ARRAYS),
                self._exclusive([branch.objects for branch in branches], OBJECTS),
            )
        except UnsupportedSchemaError as error:
            reason = f"the branches are not provably disjoint, and to exclude one from another fails: {error.reason}"
            self.context.relax(place, "oneOf", reason)
            return _inexact(shape.join(branches))

    def _exclusive(self, unions: list[tuple[Any, ...]], everything: Any) -> tuple[Any, ...]:
        """The values that are in exactly one of the unions."""
        present = [union for union in unions if union]
        if len(present) < 2:
            return present[0] if present else ()
        if everything is OBJECTS and self._is_discriminated(present):
            return pieces.join(present, everything)
        overlaps: list[list[int]] = [[] for _ in present]
        for i, first in enumerate(present):
            for j in range(i):
                if not self._are_disjoint(first, present[j]):
                    overlaps[i].append(j)
                    overlaps[j].append(i)
        result = []
        for union, others in zip(present, overlaps):
            for other in others:
                union = pieces.subtract(union, present[other], everything, self.context)
            result.append(union)
        return pieces.join(result, everything)

    def _are_disjoint(self, first: Sequence[Any], second: Sequence[Any]) -> bool:
        for x in first:
            for y in second:
                common = x.meet(y)
                if common is not None and not common.is_void(self.context):
                    return False
        return True

    def _is_discriminated(self, unions: list[tuple[ObjectPiece, ...]]) -> bool:
        """Whether some key, required everywhere, has listed strings only, and no string in two unions."""
        common = unions[0][0].required
        for union in unions:
            for piece in union:
                common = tuple(name for name in common if name in piece.required)
        return any(self._discriminates(name, unions) for name in common)

    def _discriminates(self, name: str, unions: list[tuple[ObjectPiece, ...]]) -> bool:
        seen: set[str] = set()
        for union in unions:
            mine: set[str] = set()
            for piece in union:
                try:
                    value = self.shape(piece.goal(name, self.context))
                except _Undecided:
                    return False
                if value.atoms or value.numbers or value.arrays or value.objects:
                    return False
                for strings in value.strings:
                    if strings.values is None:
                        return False
                    mine |= strings.values
            if mine & seen:
                return False
            seen |= mine
        return True

    # --- values of keywords -------------------------------------------------------------------------------------------------

    def _count(self, place: Place, schema: dict[str, Any], keyword: str) -> int | None:
        if keyword not in schema:
            return None
        value = self.context.number(place, keyword, schema[keyword])
        if value < 0 or value != value.to_integral_value():
            raise SchemaError(f"`{keyword}` is an integer, at least 0", pointer=place.pointer, keyword=keyword)
        if value < UNBOUNDED:
            return int(value)
        if keyword.startswith("min"):
            raise UnsupportedSchemaError(f"counts end at {UNBOUNDED - 1:,}", pointer=place.pointer, keyword=keyword)
        self.context.report.notes.append(Entry(place.pointer, keyword, f"counts end at {UNBOUNDED - 1:,}: the same as no bound"))
        return None

    def _map(self, place: Place, schema: dict[str, Any], keyword: str) -> dict[str, Any]:
        value = schema.get(keyword, {})
        if not isinstance(value, dict):
            raise SchemaError(f"`{keyword}` is an object", pointer=place.pointer, keyword=keyword)
        for name in value:
            if not isinstance(name, str):
                raise SchemaError(f"the keys of `{keyword}` are strings, not {name!r}", pointer=place.pointer, keyword=keyword)
        return value

    def _names(self, place: Place, keyword: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
            raise SchemaError(f"`{keyword}` is a list of names", pointer=place.pointer, keyword=keyword)
        for name in value:
            self.context.check_text(place, keyword, name)
        return tuple(dict.fromkeys(value))

    def _check_name(self, place: Place, keyword: str, name: Any) -> None:
        if not isinstance(name, str):
            raise SchemaError(f"the key {name!r} is no string", pointer=place.pointer, keyword=keyword)
        self.context.check_text(place, keyword, name)

    def _goal(self, place: Place, keyword: str, token: str | int, value: Any) -> Goal:
        return self.document.goal(self.document.grandchild(place, keyword, token, value))

    def _member(self, place: Place, schema: dict[str, Any], keyword: str) -> Goal:
        return self.document.goal(self.document.child(place, keyword, schema[keyword]))

    def _list(self, place: Place, schema: dict[str, Any], keyword: str) -> tuple[Goal, ...]:
        value = schema[keyword]
        if not isinstance(value, list):
            raise SchemaError(f"`{keyword}` is a list of schemas", pointer=place.pointer, keyword=keyword)
        return tuple(self._goal(place, keyword, i, item) for i, item in enumerate(value))

    def _branches(self, place: Place, schema: dict[str, Any], keyword: str) -> list[Place]:
        value = schema[keyword]
        if not isinstance(value, list) or not value:
            raise SchemaError(f"`{keyword}` is a list of at least one schema", pointer=place.pointer, keyword=keyword)
        return [self.document.grandchild(place, keyword, i, item) for i, item in enumerate(value)]


def _replaced(old: Shape, factor: str, union: tuple[Any, ...], exact: bool) -> Shape:
    """A shape with one factor changed."""
    new = Shape(old.atoms, old.strings, old.numbers, old.arrays, old.objects, old.exact and exact)
    setattr(new, factor, union)
    return new


def _inexact(old: Shape) -> Shape:
    return Shape(old.atoms, old.strings, old.numbers, old.arrays, old.objects, False)


def _types(admitted: Shape) -> Types:
    """The types of which a shape admits something."""
    result = Types.NONE
    for present, bit in (
        (admitted.atoms & NULL, Types.NULL),
        (admitted.atoms & (TRUE | FALSE), Types.BOOLEAN),
        (admitted.strings, Types.STRING),
        (admitted.numbers, Types.NUMBER),
        (admitted.arrays, Types.ARRAY),
        (admitted.objects, Types.OBJECT),
    ):
        if present:
            result |= bit
    return result


def _precedes(first: str, second: str, schema: dict[str, Any]) -> bool:
    for key in schema:
        if key == first:
            return second in schema
        if key == second:
            return False
    return False
