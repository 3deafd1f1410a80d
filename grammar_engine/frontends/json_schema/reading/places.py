"""Places in a schema, and goals: what the rest of the front end computes with.

Idea. A *place* is one subschema where it stands: its value, its JSON pointer, and its *frame*: the resource (the nearest enclosing
`$id`) that its references are relative to, and the *dynamic scope* through which it was reached. Places are interned by the identity
of the value, so a subschema that is reached twice, through `properties` or through `$ref`, is one place, and all that is computed for
it is computed once. A place also has a *negation*, the place of the instances that do not match it, a *tracked* twin, which admits
the same and also tells what was evaluated (`normalising/unevaluated.py`), a *string part*, which admits its strings only:
`propertyNames` needs no more, so a schema may refer to itself there; and a *closed* place, which admits no members that it does not name
(`normalising/closing.py`). None of them has a text of its own.

A dynamic scope is reduced to what a `$dynamicRef` can ask of it: for each dynamic anchor, the first resource on the way that has one
of that name. A schema without dynamic anchors has the empty scope everywhere; with some there are finitely many, so recursion closes.

A *goal* is a sorted tuple of places that an instance has to match all at once. The empty goal is met by any value; `NEVER` by none.

Invariant. Two places are the same object if they are the same subschema in the same frame; `document.py` makes all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from .keywords import Draft, Keyword
from .resources import Dialect, Resource
from .spellings import Spellings

_CLOSED = 1 << 60  # added to the spelling of a schema by that of its closed place
Scope = dict[str, Resource]  # by the name of a dynamic anchor


class Frame:
    """A resource, as it is entered in a dynamic scope. Compared by identity."""

    __slots__ = ("dialect", "draft", "keywords", "lone_references", "resource", "scope", "spellings")

    def __init__(self, resource: Resource, scope: Scope, spellings: Spellings):
        self.resource = resource
        self.scope = scope
        self.spellings = spellings
        self.dialect = resource.dialect
        self.draft = self.dialect.draft
        self.keywords = self.dialect.keywords
        self.lone_references = self.draft.value <= Draft.DRAFT7.value  # whether nothing beside a `$ref` counts


class Place:
    """One subschema where it stands, or the negation or the tracked twin of one."""

    __slots__ = (
        "_negation",
        "_spelling",
        "_strings",
        "_twin",
        "any_of",
        "closes",
        "depth",
        "frame",
        "invented",
        "is_closed",
        "is_plain",
        "number",
        "pointer",
        "positive",
        "strings_of",
        "tracked",
        "value",
    )

    def __init__(self, number: int, value: Any, pointer: str, frame: Frame, depth: int, positive: bool = True, tracked: bool = False):
        self.number = number
        self.value = value
        self.pointer = pointer
        self.frame = frame
        self.depth = depth
        self.positive = positive
        self.tracked = tracked
        self.is_plain = positive and not tracked  # it is a subschema itself
        self.invented = False  # made up for a member of a `const`, so not in the report
        self.any_of: tuple[Place, ...] = ()  # of a place that is met where one of these is, and has no value
        self.strings_of: Place | None = None  # of a place that admits the strings only that another one admits
        self.is_closed = False
        self.closes = False  # of a tracked twin: the values of its members are closed
        self._negation: Place | None = None
        self._strings: Place | None = None
        self._twin: Place | None = None
        self._spelling: int | None = None

    @property
    def draft(self) -> Draft:
        """The draft that the enclosing resource is written in."""
        return self.frame.draft

    @property
    def keywords(self) -> dict[str, Keyword]:
        """The keywords that have a meaning here."""
        return self.frame.keywords

    @property
    def spelling(self) -> int:
        """A number for how the schema is written: places of the same one in the same frame admit the same."""
        if self._spelling is None:
            self._spelling = -self.number if self.any_of else self.frame.spellings.number(self.value) + _CLOSED * self.is_closed
        return self._spelling

    def __repr__(self) -> str:
        return f"Place({'' if self.positive else 'not '}{self.pointer or 'root'})"


Goal = tuple[Place, ...]
_NOWHERE = Frame(Resource("", True, "", Dialect(Draft.UNSTATED)), {}, Spellings())
NEVER_PLACE = Place(0, False, "", _NOWHERE, 0)
ANYTHING: Goal = ()
NEVER: Goal = (NEVER_PLACE,)
_BY_NUMBER = attrgetter("number")


def both(first: Goal, second: Goal) -> Goal:
    """The goal of meeting both goals."""
    if not first or first is second:
        return second
    if not second:
        return first
    if first is NEVER or second is NEVER:
        return NEVER
    return all_of((first, second))


def all_of(goals: Sequence[Goal]) -> Goal:
    """The goal of meeting all of the goals."""
    places = set(chain.from_iterable(goals))
    if NEVER_PLACE in places:
        return NEVER
    negated = {(place.frame, place.spelling) for place in places if not place.positive}
    if negated and any(place.positive and (place.frame, place.spelling) in negated for place in places):
        return NEVER
    return tuple(sorted(places, key=_BY_NUMBER))


def spelling(goal: Goal) -> tuple[object, ...]:
    """What goals that are written alike have in common: they are met by the same values."""
    return tuple((place.frame, place.spelling, place.positive, place.tracked, place.strings_of is None) for place in goal)


def exclude_each_other(first: Goal, second: Goal) -> bool:
    """Whether two goals are seen to have nothing in common: one asks for the negation of what the other asks for."""
    for place in first:
        for other in second:
            if place.positive != other.positive and place.frame is other.frame and place.spelling == other.spelling:
                return True
    return first is NEVER or second is NEVER
