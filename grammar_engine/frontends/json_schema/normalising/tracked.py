"""Shapes that also tell which keys and items were evaluated, for `unevaluatedProperties` and `unevaluatedItems`.

Idea. What a schema evaluates depends on the instance: a branch of `anyOf` counts only if it admits it. So the objects (and likewise the
arrays) that a schema admits are kept apart by their *mark*, which says what was evaluated for all of them:

    anyOf: [A, B]     ->   {mark of A: A,  mark of B: B,  both marks: A and B}

More marks only admit more. So a value that also meets B may stay among those of A alone: nothing has to be negated, and a part of
something with more marks is dropped.

Invariant. A value is admitted with all the marks that it has by the standard under at least one alternative, and under none with a mark
that it has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ....ir import Expr
from ..algebra import pieces, shape
from ..algebra.cases import Cases, found
from ..algebra.exclusive import OneOf, apart
from ..algebra.shape import ANY, NONE, Shape
from ..containers.arrays import ARRAYS
from ..containers.objects import OBJECTS, ObjectPiece
from ..context import Context
from ..reading.places import Place


class Keys(NamedTuple):
    """Keys that were evaluated: single ones, classes, or all."""

    names: frozenset[str] = frozenset()
    classes: frozenset[Expr] = frozenset()
    everything: bool = False

    def plus(self, other: Keys) -> Keys:
        """Both together."""
        return Keys(self.names | other.names, self.classes | other.classes) if not (self.everything or other.everything) else ALL_KEYS

    def covers(self, other: Keys) -> bool:
        """Whether the other keys are among these."""
        return self.everything or (not other.everything and self.names >= other.names and self.classes >= other.classes)


class Items(NamedTuple):
    """Items that were evaluated: the first ones, those that some place admits (`contains`), or all."""

    prefix: int = 0
    matching: frozenset[Place] = frozenset()
    everything: bool = False

    def plus(self, other: Items) -> Items:
        """Both together."""
        if self.everything or other.everything:
            return ALL_ITEMS
        return Items(max(self.prefix, other.prefix), self.matching | other.matching)

    def covers(self, other: Items) -> bool:
        """Whether the other items are among these."""
        return self.everything or (not other.everything and self.prefix >= other.prefix and self.matching >= other.matching)


NO_KEYS, ALL_KEYS = Keys(), Keys(everything=True)
NO_ITEMS, ALL_ITEMS = Items(), Items(everything=True)

Marked = dict[Any, tuple[Any, ...]]  # mark -> union of pieces


class Either(NamedTuple):
    """The objects of an `anyOf` that nobody has asked for by mark: those of any branch that are among what is certain.

    Attributes
    ----------
    certain : dict of Keys to unions of object pieces
    branches : list of the same
    pointer : str
        Of the keyword.
    context : Context
    """

    certain: Marked
    branches: list[Marked]
    pointer: str
    context: Context

    def objects(self) -> tuple[Any, ...]:
        """All of them, whatever their marks."""
        union = pieces.join([all_pieces(branch) for branch in self.branches], OBJECTS)
        return pieces.meet(all_pieces(self.certain), union, OBJECTS, self.context)

    def marked(self, branches: Iterable[int]) -> Marked:
        """Those of some branches, with the marks of all of these that admit them."""
        self.context.ledger.combining = self.pointer
        union = _any_of([self.branches[i] for i in branches], OBJECTS, self.context)
        return _meet(self.certain, union, OBJECTS, self.context)


class Tracked(Shape):
    """A shape whose objects and arrays are also there by mark.

    Attributes
    ----------
    items : dict of Items to unions of array pieces
    either : Either or None
        Where the objects by mark come from, if they are not made yet.
    """

    __slots__ = ("_keys", "either", "items")

    def __init__(self, rest: Shape, keys: Marked | Either, items: Marked):
        self.either = keys if isinstance(keys, Either) else None
        self._keys = {} if isinstance(keys, Either) else keys
        super().__init__(
            rest.atoms,
            rest.strings,
            rest.numbers,
            pieces.join(list(items.values()), ARRAYS),
            self.either.objects() if self.either else pieces.join(list(self._keys.values()), OBJECTS),
            rest.exact,
        )
        self.items = items

    @property
    def keys(self) -> Marked:
        """The objects by mark."""
        if self.either and not self._keys:
            self._keys = self.either.marked(range(len(self.either.branches)))
        return self._keys


def marked(plain: Shape, keys: Keys = NO_KEYS, items: Items = NO_ITEMS) -> Tracked:
    """A shape all of whose values have the same marks."""
    return Tracked(plain, {keys: plain.objects} if plain.objects else {}, {items: plain.arrays} if plain.arrays else {})


def meet(first: Tracked, second: Tracked, context: Context) -> Tracked:
    """What both admit, with the marks of both."""
    if _is_anything(first):
        return second
    return Tracked(
        shape.meet(_scalars(first), _scalars(second), context),
        _meet(first.keys, second.keys, OBJECTS, context),
        _meet(first.items, second.items, ARRAYS, context),
    )


def meet_all(parts: Sequence[tuple[str, Tracked]], context: Context) -> Tracked:
    """What all of the shapes admit, with the marks of all; each is given with the pointer of the schema that asks for it.

    Those without alternatives that stand side by side are met by halves, so that what grows is copied a logarithmic number of times.
    """
    result = marked(ANY)
    for is_certain, run in groupby(parts, key=lambda part: _is_certain(part[1])):
        group = list(run)
        if is_certain:
            result = meet(result, _halved([tracked for _, tracked in group], context), context)
            continue
        together = {case.at: cases for cases in _of_one_key(group, context) for case in cases}
        for i, (pointer, tracked) in enumerate(group):
            context.ledger.combining = pointer
            if i not in together:
                result = meet(result, tracked, context)
            elif together[i][0].at == i:
                result = _meet_cases(result, group, together[i], context)
    return result


def _of_one_key(parts: Sequence[tuple[str, Tracked]], context: Context) -> list[Cases]:
    """Conditions on different values of one key, of which the second parts evaluate nothing."""
    if len(parts) < 2:
        return []
    groups = found([tracked.objects for _, tracked in parts], context)
    return [Cases(case for case in group if _marks(parts[case.at][1], case.otherwise) == [NO_KEYS]) for group in groups]


def _marks(tracked: Tracked, piece: ObjectPiece) -> list[Keys]:
    return [mark for mark, union in tracked.keys.items() if piece in union]


def _meet_cases(result: Tracked, parts: Sequence[tuple[str, Tracked]], group: Cases, context: Context) -> Tracked:
    """The meet with several shapes whose objects are conditions on one key."""
    scalars, items = _scalars(result), result.items
    ways: dict[Any, list[ObjectPiece]] = {NO_KEYS: [group.otherwise()]}
    asking = [("", Tracked(NONE, _meet(result.keys, {NO_KEYS: (group.absent(context),)}, OBJECTS, context), {}))]
    for case in group:
        pointer, tracked = parts[case.at]
        scalars = shape.meet(scalars, _scalars(tracked), context)
        items = _meet(items, tracked.items, ARRAYS, context)
        then = {mark: tuple(piece for piece in union if piece != case.otherwise) for mark, union in tracked.keys.items()}
        for mark, union in then.items():
            ways.setdefault(mark, []).extend(present for piece in union if (present := group.present(piece)) is not None)
        if case.otherwise.required:
            asking.append((pointer, Tracked(NONE, {mark: union for mark, union in then.items() if union}, {})))
    keys = [_meet(result.keys, {mark: tuple(union) for mark, union in ways.items()}, OBJECTS, context)]
    if len(asking) > 1 and asking[0][1].keys:
        keys.append(meet_all(asking, context).keys)
    return Tracked(scalars, _join(keys, OBJECTS, context), items)


def _halved(shapes: Sequence[Tracked], context: Context) -> Tracked:
    if len(shapes) == 1:
        return shapes[0]
    middle = len(shapes) // 2
    return meet(_halved(shapes[:middle], context), _halved(shapes[middle:], context), context)


def _is_anything(tracked: Tracked) -> bool:
    """Whether a shape says nothing."""
    if tracked.either or (tracked.keys, tracked.items) != ({NO_KEYS: (OBJECTS,)}, {NO_ITEMS: (ARRAYS,)}):
        return False
    return (tracked.atoms, tracked.strings, tracked.numbers, tracked.exact) == (ANY.atoms, ANY.strings, ANY.numbers, True)


def _is_certain(tracked: Tracked) -> bool:
    """Whether a shape leaves no choice within a type."""
    if tracked.either:
        return False
    unions = (tracked.strings, tracked.numbers, tracked.arrays, tracked.objects)
    return len(tracked.keys) < 2 and len(tracked.items) < 2 and all(len(union) < 2 for union in unions)


def join(shapes: Sequence[Tracked], context: Context) -> Tracked:
    """What any of them admits, with its marks: right where no two admit the same value."""
    return Tracked(
        shape.join([_scalars(tracked) for tracked in shapes]),
        _join([tracked.keys for tracked in shapes], OBJECTS, context),
        _join([tracked.items for tracked in shapes], ARRAYS, context),
    )


def either_of(certain: Tracked, branches: Sequence[Tracked], pointer: str, context: Context) -> Tracked:
    """`meet(certain, any_of(branches))`; the objects by mark are made when somebody asks for them."""
    scalars = shape.join([_scalars(tracked) for tracked in branches])
    items = _any_of([tracked.items for tracked in branches], ARRAYS, context)
    return Tracked(
        shape.meet(_scalars(certain), scalars, context),
        Either(certain.keys, [tracked.keys for tracked in branches], pointer, context),
        _meet(certain.items, items, ARRAYS, context),
    )


def any_of(shapes: Sequence[Tracked], context: Context) -> Tracked:
    """What any of them admits, with the marks of all that admit it."""
    return Tracked(
        shape.join([_scalars(tracked) for tracked in shapes]),
        _any_of([tracked.keys for tracked in shapes], OBJECTS, context),
        _any_of([tracked.items for tracked in shapes], ARRAYS, context),
    )


def within(chosen: OneOf, first: Tracked, branches: Sequence[Tracked], context: Context) -> Tracked:
    """What exactly one of some branches admits, all of which is part of another shape: with the marks of both."""
    return Tracked(
        _scalars(chosen.whole),
        _within(chosen.objects, first.keys, [branch.keys for branch in branches], OBJECTS, context),
        _within(chosen.arrays, first.items, [branch.items for branch in branches], ARRAYS, context),
    )


def live(union: Iterable[Any], context: Context) -> tuple[Any, ...]:
    """The pieces that are not known to be empty."""
    return tuple(piece for piece in union if not piece.is_void(context))


# --- one type --------------------------------------------------------------------------------------------------------------------


def _scalars(tracked: Shape) -> Shape:
    return Shape(tracked.atoms, tracked.strings, tracked.numbers, exact=tracked.exact)


def _meet(first: Marked, second: Marked, everything: Any, context: Context, only_new: bool = False) -> Marked:
    """The meets of all pairs; with `only_new` those with more marks than either, since the others are part of one of the two."""
    if len(first) > 1 and len(second) > 1:
        context.ledger.count_alternatives(len(first) * len(second))
    result: Marked = {}
    for mine, left in first.items():
        for theirs, right in second.items():
            mark = mine.plus(theirs)
            if not (only_new and mark in (mine, theirs)):
                _add(result, mark, live(pieces.meet(left, right, everything, context), context), everything)
    return _settled(result, context)


def _join(parts: Sequence[Marked], everything: Any, context: Context) -> Marked:
    unions: dict[Any, list[tuple[Any, ...]]] = {}
    for part in parts:
        for mark, union in part.items():
            if union:
                unions.setdefault(mark, []).append(union)
    return _settled(
        {mark: pieces.join(several, everything) if len(several) > 1 else several[0] for mark, several in unions.items()}, context
    )


def _any_of(parts: Sequence[Marked], everything: Any, context: Context) -> Marked:
    """All parts, and what those that may overlap have in common, with more marks."""
    if len(parts[0]) < 2 and all(part.keys() == parts[0].keys() for part in parts):
        return _join(parts, everything, context)  # which evaluate the same
    groups = apart(context, [all_pieces(part) for part in parts]) if everything is OBJECTS else [range(len(parts))]
    result = []
    for first, *others in groups:
        group = parts[first]
        for i in others:
            group = _join([group, parts[i], _meet(group, parts[i], everything, context, True)], everything, context)
        result.append(group)
    return result[0] if len(result) == 1 else _join(result, everything, context)


def _within(unions: Sequence[tuple[Any, ...]], first: Marked, second: Sequence[Marked], everything: Any, context: Context) -> Marked:
    """Some unions, each of which is part of the first and of one of the others, with the marks of both."""
    result: Marked = {}
    for union, other in zip(unions, second):
        for mine, left in first.items():
            inside = _restricted(union, left, context)
            for theirs, right in other.items():
                _add(result, mine.plus(theirs), _restricted(inside, right, context), everything)
    return _settled(result, context)


def _restricted(union: tuple[Any, ...], bound: tuple[Any, ...], context: Context) -> tuple[Any, ...]:
    """The part of a union that lies in another."""
    result: list[Any] = []
    for piece in union:
        if any(other.covers(piece) for other in bound):
            result.append(piece)
        else:
            result += live((common for other in bound if (common := piece.meet(other)) is not None), context)
    return tuple(pieces.distinct(result))


def all_pieces(parts: Marked) -> tuple[Any, ...]:
    """All pieces, whatever their marks."""
    return tuple(piece for union in parts.values() for piece in union)


def _add(result: Marked, mark: Any, union: tuple[Any, ...], everything: Any) -> None:
    if union:
        result[mark] = pieces.join([result[mark], union], everything) if mark in result else union


def _settled(result: Marked, context: Context) -> Marked:
    """Without pieces that are part of another one with more marks; within the limit."""
    if len(result) < 2:
        return result
    total = sum(len(union) for union in result.values())
    context.ledger.check_alternatives(total)
    if total > pieces.MANY:
        return result
    kept: Marked = {}
    for mark, union in result.items():
        above = [other for more, others in result.items() if more != mark and more.covers(mark) for other in others]
        union = tuple(piece for piece in union if not any(other.covers(piece) for other in above)) if above else union
        if union:
            kept[mark] = union
    return kept
