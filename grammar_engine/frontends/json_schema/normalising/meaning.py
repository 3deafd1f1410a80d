"""What a place means, as operations of the algebra.

Idea. There are six kinds of places: a schema, a negation, a tracked twin (`unevaluated.py`), a closed place (`closing.py`), any one of
several places, the strings of another place. A schema means what it asserts by itself (`assertions.py`), met with the schemas that apply
to the same place (`applicators.py`). Each step is a generator that yields the places whose shapes it needs, driven by the normaliser.
"""

from __future__ import annotations

from functools import cached_property

from ....errors import UnsupportedSchemaError
from ..algebra import shape
from ..algebra.shape import ANY, NONE, Shape
from ..context import Context
from ..reading.keywords import Group
from ..reading.places import Goal, Place
from .applicators import Applicators
from .assertions import Assertions, Steps
from .closing import Closer
from .sorting import has_type_alone, is_reference, report_reference
from .tracked import ALL_ITEMS, ALL_KEYS, marked
from .unevaluated import Tracker


class Meaning:
    """Tells what places mean."""

    def __init__(self, context: Context):
        self.context = context
        self.document = context.document
        self.assertions = Assertions(context)
        self.applicators = Applicators(context, self.assertions)

    @cached_property
    def tracker(self) -> Tracker:
        """Computes the shapes of tracked places, of which most schemas have none."""
        return Tracker(self.applicators)

    @cached_property
    def closer(self) -> Closer:
        """Computes the shapes of closed places, of which there are none but with the option `closed`."""
        return Closer(self.applicators)

    def of_type(self, place: Place) -> Shape | None:
        """The shape of a place at which a type is all that counts, as at most places; else None. No other place is looked at."""
        is_plain = place.is_plain and isinstance(place.value, dict)
        return self.assertions.own_without_property_names(place)[2] if is_plain and has_type_alone(place) else None

    def at_once(self, place: Place, shapes: dict[Place, Shape]) -> Shape | None:
        """The shape of a place that has only assertions, or only a reference to one of the known shapes, as most have; else None."""
        if not place.is_plain:
            return None
        schema = place.value
        if isinstance(schema, bool) or "propertyNames" in schema:
            return None
        if "$ref" in schema and is_reference(place):
            report_reference(self.context, place)
            target = self.applicators.target(place, "$ref")
            return ANY.inexact() if target is None else shapes.get(target)
        _, groups, result = self.assertions.own_without_property_names(place)
        return None if Group.APPLICATOR in groups or Group.UNEVALUATED in groups else result

    def steps(self, place: Place, only_strings: bool = False) -> Steps:
        """The shape of a place; yields the places whose shapes it needs."""
        if place.strings_of is not None:
            return (yield from self._string_part(place.strings_of))
        if not place.positive:
            return (yield from self._negation(place))
        if place.tracked:
            return (yield from (self.closer if place.closes else self.tracker).steps(place))
        open_place = self.document.open.get(place)
        if open_place is not None:
            return (yield from self.steps(open_place, True) if only_strings else self._closed(open_place))
        if place.any_of:
            return (yield from self._any_of(place.any_of))
        if isinstance(place.value, bool):
            return ANY if place.value else NONE
        if is_reference(place):
            report_reference(self.context, place)
            return (yield from self.applicators.reference(place, "$ref"))
        schema, groups, result = yield from self.assertions.own(place)
        if Group.UNEVALUATED in groups and not only_strings:
            return (yield self.document.tracked(place))
        if Group.APPLICATOR in groups:
            result = yield from self.applicators.steps(place, schema, result)
        return result

    def relaxed(self, place: Place) -> Shape:
        """What a schema says by itself, as far as that is known: all that is left of a place where the rest is given up."""
        known = self.assertions.said.get(self.document.untracked(place))
        result = known[2].inexact() if known else ANY.inexact()
        return marked(result, ALL_KEYS, ALL_ITEMS) if place.tracked else result

    def _closed(self, place: Place) -> Steps:
        """The shape of the closed place that belongs to a place. All references to one schema have the same: its rules are written once."""
        if not is_reference(place):
            return (yield from self.closer.closed(place))
        report_reference(self.context, place)
        target = self.applicators.target(place, "$ref")
        return ANY.inexact() if target is None else (yield self.document.closed(target))

    def _string_part(self, place: Place) -> Steps:
        """The strings that a place admits, from the string parts of the places that it needs. `propertyNames` does not matter to them."""
        steps = self.steps(place, only_strings=True)
        try:
            wanted = next(steps)
            while True:
                wanted = steps.send(ANY if wanted.strings_of else (yield self.document.strings_of(wanted)))
        except StopIteration as stop:
            return Shape(strings=stop.value.strings, exact=stop.value.exact)

    def _negation(self, place: Place) -> Steps:
        inner = yield self.document.negation(place)
        try:
            self.context.ledger.combining = place.pointer
            if inner.exact:
                return shape.negate(inner, self.context)
        except UnsupportedSchemaError as error:
            self.context.raise_unless_lenient(error)
            if place in self.applicators.operands:  # then the keyword is given up whose operand it is
                self.applicators.given_up[place] = error.reason
            else:
                self.context.relax_or_raise(error, error.pointer, error.keyword or "")
        return ANY.inexact()

    def _any_of(self, places: Goal) -> Steps:
        shapes = []
        for place in places:
            shapes.append((yield place))  # noqa: PERF401 - a generator cannot yield from inside a comprehension
        return shape.join(shapes)
