"""`uniqueItems` where items that are described by position may be equal.

Idea. For each length there is a ranked bag in which every position has to be taken once. Where a position has more values than the items
before it can use up, its lexeme may be *distinct*: the engine takes the earlier values out of it. Where it has fewer, its values are
written out: each is a way of its own, and at all positions a way to write the same value raises the same slot, at most once. So the
engine, which looks for a way to finish, does not let the values run out:

    [boolean, boolean or string]      first   true {1, T}   false {1, F}
                                      second  true {2, T}   false {2, F}   strings {2}, distinct

Arrays and objects are not compared here: they may stand where none of the other positions admits an equal one.

Invariant. A value that is written out somewhere is written out at all positions that admit it, so distinct lexemes never have it.

Cost. Such a search goes through the positions with few values; the others then have room. It is bounded by `_MOST_ATTEMPTS`. Within that
bound all listed values are written out, which is cheaper than to compare them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ....ir import Symbol, Way
from ..algebra import shape
from ..algebra.shape import Shape
from ..containers.arrays import ArrayPiece
from ..context import Context
from ..scalars.numbers import NumberPiece
from .members import Bag
from .unique import MOST_LISTED, MOST_VALUES, CannotCompare, Value, admits, as_written, count_scalars, listed_values

if TYPE_CHECKING:
    from .emitter import Emitter

_VALUES = 4  # so many values are listed, or looked for at a position, in the time of one alternative
_WAYS = 2  # so many positions of an array of one length are written in that time
_MOST_ATTEMPTS = 50_000  # to give different values to the positions that have few


class _Position(NamedTuple):
    """What an item may be; the last position may be that of many items.

    Attributes
    ----------
    values : dict of Value to Shape
        Those that are written out, as they may be written here.
    others : Shape or None
        The other scalars, of which there are enough; None where all are written out.
    nested : Shape or None
        Arrays and objects.
    fewest, most : int, int or None
        How many items.
    where : str or None
        The pointer of the schema.
    """

    values: dict[Value, Shape]
    others: Shape | None
    nested: Shape | None
    fewest: int
    most: int | None
    where: str | None


class _Choice(NamedTuple):
    """One way to write an item; with the value if it is written out, so that nothing has to be compared."""

    symbol: Symbol
    value: Value | None


def write_distinct(emitter: Emitter, left: Symbol, piece: ArrayPiece, last: bool) -> None:
    """Write rules for `left`: the arrays of a piece, all items different from each other.

    Raises
    ------
    CannotCompare
        Before any rule is written.
    """
    positions = _Reader(emitter.context, piece).positions()
    where = piece.unique.pointer if piece.unique else None
    choices = [_choices(emitter, position, where) for position in positions]
    b, layout = emitter.builder, emitter.layout
    n = piece.prefix_length()
    for length in range(piece.shortest if piece.shortest <= n else n + 1, len(positions) + 1):
        if piece.unique is not None:
            emitter.context.ledger.count_items(length // _WAYS, piece.unique)
        items = [_bag(emitter, positions[:length], choices)] if length else []
        b.rule(left, [layout.open_array, *items, layout.close("]", last)])


def _choices(emitter: Emitter, position: _Position, where: str | None) -> list[_Choice]:
    """The ways to write an item; what always fits comes first. Values that are written out come from `where`."""
    choices = []
    if position.nested is not None:
        choices.append(_Choice(_made(emitter.symbol_of(position.nested, position.where)), None))
    if position.others is not None:
        choices.append(_Choice(_made(emitter.scalar(position.others, position.where, is_normal=True)), None))
    return choices + [_Choice(_made(emitter.scalar(single, where)), value) for value, single in position.values.items()]


def _made(symbol: Symbol | None) -> Symbol:
    """The symbol of a shape that is known to have values."""
    assert symbol is not None
    return symbol


def _bag(emitter: Emitter, positions: list[_Position], choices: list[list[_Choice]]) -> Symbol:
    """The items of one length, which have to take all positions. Those with few values have the first slots: the search begins there."""
    bag = Bag()
    own = {rank: bag.slot(p.fewest, p.most) for rank, p in sorted(enumerate(positions), key=lambda pair: pair[1].others is not None)}
    takers = Counter(value for p in positions for value in (*p.values,) * (1 if p.most == 1 else 2))
    shared = {value: bag.slot(0, 1) for value, n in takers.items() if n > 1}
    for rank in range(len(positions)):
        for symbol, value in choices[rank]:
            slots = (own[rank], shared[value]) if value in shared else (own[rank],)
            bag.ways.append(Way((symbol,), slots, rank, distinct=value is None and not symbol & 1))  # an array or object is no lexeme
    return emitter.builder.bag(bag.ways, bag.slots, emitter.layout.comma, "items", ranked=True)


class _Reader:
    """Finds out what the items of a piece may be."""

    def __init__(self, context: Context, piece: ArrayPiece):
        self.context = context
        self.piece = piece
        self.n = piece.prefix_length()
        self.shapes: list[Shape] = []
        for i in range(self.n + 1 if piece.longest is None else min(piece.longest, self.n + 1)):
            found = context.normaliser.shape(piece.goal(i))
            if found.is_void(context):
                break
            self.shapes.append(found)

    def positions(self) -> list[_Position]:
        """What may stand at each position, as far as there are enough values for all;
        the last may be that of the items behind the others.
        """
        if self.piece.counts:
            raise CannotCompare("items that are described by position can be equal, and are counted")
        self._check_nested()
        counts = [count_scalars(self.context, found) for found in self.shapes]
        for is_eager in (True, False):
            few, listed = self._few(counts, is_eager)
            positions = [self._position(i, found, i in few, listed) for i, found in enumerate(self.shapes)]
            positions = positions[: _satisfiable(positions)]
            if _attempts(positions, len(listed)) <= _MOST_ATTEMPTS:
                return positions
        raise CannotCompare(f"items that are described by position can be equal, in more than {_MOST_ATTEMPTS:,} ways")

    def _is_repeated(self, i: int) -> bool:
        """Whether several items may stand at a position."""
        return i == self.n and (self.piece.longest is None or self.piece.longest > self.n + 1)

    def _check_nested(self) -> None:
        """Refuse arrays and objects that may be equal to others."""
        nested = [found.nested for found in self.shapes]
        present = [i for i, part in enumerate(nested) if not part.is_void(self.context)]
        for k, i in enumerate(present):
            others = present[k if self._is_repeated(i) else k + 1 :]
            if not all(shape.meet(nested[i], nested[j], self.context).is_void(self.context) for j in others):
                raise CannotCompare("arrays or objects are compared, and of some it is not known whether there are enough that differ")

    def _few(self, counts: list[int], is_eager: bool) -> tuple[set[int], dict[Value, Shape]]:
        """The positions whose values are written out, and these values: positions at which earlier items may use up all values, or those
        that are not written out elsewhere; with `is_eager`, all where that is possible.
        """
        few: set[int] = set()
        listed: dict[Value, Shape] = {}
        before = None
        while before != len(few):
            before = len(few)
            for i, found in enumerate(self.shapes):
                if i in few or counts[i] >= MOST_VALUES:
                    continue
                if self.piece.unique is not None:
                    self.context.ledger.count_items((len(listed) + min(counts[i], MOST_LISTED)) // _VALUES, self.piece.unique)
                needed = (self.piece.longest or MOST_VALUES) if self._is_repeated(i) else i + 1
                has_enough = counts[i] - sum(admits(self.context, found, value) for value in listed) >= needed
                if has_enough and not is_eager:
                    continue
                values = _values(self.context, found, counts[i])
                if values is not None:
                    few.add(i)
                    listed |= values
                elif not has_enough:
                    reason = f"use up the values of one of them, which are not listed, or more than {MOST_LISTED:,}"
                    raise CannotCompare(f"items that are described by position can be equal, and {reason}")
        return few, listed

    def _position(self, i: int, found: Shape, has_few: bool, listed: dict[Value, Shape]) -> _Position:
        context, piece = self.context, self.piece
        here = {value: single for value, single in listed.items() if admits(context, found, value)}
        others = None
        if not has_few:
            scalars = Shape(found.atoms, found.strings, found.numbers)
            others = shape.meet(scalars, shape.negate(shape.join(list(here.values())), context), context) if here else scalars
        nested = found.nested
        fewest, most = (1, 1) if i < self.n else (max(1, piece.shortest - self.n), piece.longest and piece.longest - self.n)
        goal = piece.goal(i)
        values = {value: as_written(context, found, value, single) for value, single in here.items()}
        return _Position(values, others, None if nested.is_void(context) else nested, fewest, most, goal[0].pointer if goal else None)


def _values(context: Context, found: Shape, count: int) -> dict[Value, Shape] | None:
    """The scalars of a shape that has so many; None where they are not listed, and are no numbers in a small range."""
    if count == 0 or count > MOST_LISTED:
        return None if count else {}
    numbers: list[NumberPiece] = []
    for piece in found.numbers:
        few = piece if piece.values is not None else piece.listed() if piece.size(context) else None
        if few is not None:
            numbers.append(few)
    return listed_values(context, Shape(found.atoms, found.strings, tuple(numbers)))


def _attempts(positions: list[_Position], n_values: int) -> int:
    """A bound on the ways to give values to the positions that have few."""
    attempts = 1
    for position in positions:
        for _ in range(position.fewest if position.others is None else 0):
            attempts *= max(1, min(len(position.values), n_values) + (position.nested is not None))
            n_values -= position.nested is None
    return attempts


def _satisfiable(positions: list[_Position]) -> int:
    """How many positions, from the first on, can be taken by values that all differ."""
    seats = _Seats()
    for i, position in enumerate(positions):
        has_few = position.others is None and position.nested is None
        if has_few and not all(seats.add(tuple(position.values)) for _ in range(position.fewest)):
            return i
    return len(positions)


class _Seats:
    """Items that take a value each, no two the same: a matching that grows by augmenting paths."""

    def __init__(self) -> None:
        self._choices: list[tuple[Value, ...]] = []
        self._value_at: dict[int, Value] = {}
        self._seat_of: dict[Value, int] = {}

    def add(self, values: tuple[Value, ...]) -> bool:
        """Add an item that takes one of some values; whether that is possible."""
        new = len(self._choices)
        self._choices.append(values)
        queue = [new]
        wanted_by: dict[Value, int] = {}
        for seat in queue:
            for value in self._choices[seat]:
                if value not in wanted_by:
                    wanted_by[value] = seat
                    if value not in self._seat_of:
                        self._give(value, wanted_by)
                        return True
                    queue.append(self._seat_of[value])
        return False

    def _give(self, value: Value | None, wanted_by: dict[Value, int]) -> None:
        """Give a free value to who wants it, the value given up by that one to the next, until nobody gives one up."""
        while value is not None:
            seat = wanted_by[value]
            given_up = self._value_at.get(seat)
            self._value_at[seat], self._seat_of[value] = value, seat
            value = given_up
