"""The rules of one array piece.

Idea. The first positions, which have goals of their own, are symbols in sequence; the rest is one list (`Builder.list_of`), whatever its
length. An array may end at each position from the shortest length on.

Where items are counted, a *state* is a position and how often each count was raised so far. The first positions are written as rules
from state to state; the rest is a bag (`Builder.bag`) whose bounds are what the state has left to ask. The order of a bag is free, and
any item may be of any kind, so a bag of items is a sequence of items that is counted.

Items that all differ (`uniqueItems`) are a bag too: see `unique.py`, and `tuples.py` where positions have values in common. Where
neither says what there is to say, as of arrays and objects, they are compared while a text is read: see `compared.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ....ir import UNBOUNDED, Symbol, Way
from ..containers.arrays import ArrayPiece
from ..reading.places import Goal
from .compared import comparable, may_be_repeated
from .members import Bag, item_kinds
from .tuples import write_distinct
from .unique import CannotCompare, are_apart, check_comparable, distinct_ways

if TYPE_CHECKING:
    from .emitter import Emitter

_MANY_ALIKE = 16
_COST = 12  # of writing an item of a kind, in alternatives


class Form(NamedTuple):
    """How an array is written.

    Attributes
    ----------
    open, close : tuples of Symbol
        Before the items, and behind them.
    comma : tuple of Symbol
        Between two of them: one symbol, or none.
    item : callable
        From a goal to the symbol of an item, or None where it is known to admit nothing.
    """

    open: tuple[Symbol, ...]
    close: tuple[Symbol, ...]
    comma: tuple[Symbol, ...]
    item: Callable[[Goal], Symbol | None]

    @property
    def separator(self) -> Symbol | None:
        """The comma of a list or a bag."""
        return self.comma[0] if self.comma else None


def write_array(emitter: Emitter, left: Symbol, piece: ArrayPiece, last: bool) -> None:
    """Write rules for `left`, an array in JSON; none if no array is admitted."""
    layout = emitter.layout
    bracket = layout.open_array
    if piece.repeated is not None:
        if piece.is_void(emitter.context):
            return
        if may_be_repeated(emitter.values, piece):
            bracket = layout.open_compared(repeated=True)
        else:
            reason = (
                "the negation asks for two items that are equal, and it is not known whether there always may be: bounds, counts, few keys"
            )
            emitter.context.relax_or_refuse(piece.repeated, "uniqueItems", reason)
        piece = piece._replace(repeated=None)
    elif piece.unique is not None:
        try:
            if not are_apart(emitter.context, piece):
                write_distinct(emitter, left, piece, last)
                return
            if piece.counts:  # what is counted may be told by how it is written
                positions = [item_kinds(emitter.context, piece, position) for position in range(piece.prefix_length() + 1)]
                check_comparable(emitter.context, [kind.goal for several in positions for kind in several])
        except CannotCompare as reason:
            compared = comparable(emitter.values, piece._replace(unique=None))
            if compared is None:
                emitter.context.relax_or_refuse(piece.unique, "uniqueItems", str(reason))
            else:
                bracket = layout.open_compared(repeated=False)
            piece = compared or piece._replace(unique=None)
    write_items(emitter, left, piece, Form((bracket,), (layout.close("]", last),), (layout.comma,), emitter.symbol))


def write_items(emitter: Emitter, left: Symbol, piece: ArrayPiece, form: Form) -> None:
    """Write rules for `left`, an array whose items are apart, if they have to differ."""
    if piece.counts or piece.unique is not None:
        _Counted(emitter, piece, form).write(left)
    else:
        _write_plain(emitter, left, piece, form)


def _write_plain(emitter: Emitter, left: Symbol, piece: ArrayPiece, form: Form) -> None:
    b, comma, close = emitter.builder, form.comma, form.close
    shortest, longest = piece.shortest, piece.longest
    heads: list[Symbol] = []
    for position in range(min(piece.prefix_length(), UNBOUNDED if longest is None else longest)):
        symbol = form.item(piece.goal(position))
        if symbol is None:
            longest = position
            break
        heads.append(symbol)
    n = len(heads)
    rest = None
    if longest is None or longest > n:
        rest = form.item(piece.goal(n))
        longest = n if rest is None else longest
    if longest is not None and shortest > longest:
        return
    if rest is None:
        tail = [*close]
    else:
        more = None if longest is None else longest - n
        if n == 0:
            tail = [b.list_of(rest, form.separator, shortest, more, "items"), *close]
        else:
            items = b.list_of(rest, form.separator, max(shortest - n, 1), more, "items")
            tail = [*comma, items, *close]
            if shortest <= n:
                tail = [b.any_of("items", [tail, close])]
    n_open = min(n, shortest)  # after these the array may end
    for position in reversed(range(n_open, n)):
        tail = [b.any_of("items", [[*(comma if position else ()), heads[position], *tail], close])]
    b.rule(left, [*form.open, *_in_sequence(emitter, heads[:n_open], form), *tail])


def _in_sequence(emitter: Emitter, items: list[Symbol], form: Form) -> list[Symbol]:
    """Items with commas between them; many of the same symbol as a list."""
    b, comma = emitter.builder, form.comma
    result: list[Symbol] = []
    for item, run in groupby(items):
        n = len(list(run))
        alike = [item, *[*comma, item] * (n - 1)] if n < _MANY_ALIKE else [b.list_of(item, form.separator, n, n, "items")]
        result += [*comma, *alike] if result else alike
    return result


class _Counted:
    """Writes an array piece whose items are counted or all differ."""

    def __init__(self, emitter: Emitter, piece: ArrayPiece, form: Form):
        self.emitter = emitter
        self.builder = emitter.builder
        self.piece = piece
        self.form = form
        self.n_heads = piece.prefix_length()
        self._kinds = [item_kinds(emitter.context, piece, position) for position in range(self.n_heads + 1)]
        self._states: dict[tuple[int, tuple[int, ...]], Symbol] = {}
        self._pending: list[tuple[int, tuple[int, ...]]] = []

    def write(self, left: Symbol) -> None:
        """Write rules for `left`."""
        self.builder.rule(left, [*self.form.open, self._state(0, (0,) * len(self.piece.counts))])
        while self._pending:
            self._write_state(*self._pending.pop())

    def _state(self, position: int, so_far: tuple[int, ...]) -> Symbol:
        state = (position, so_far)
        if state not in self._states:
            self._states[state] = self.builder.nonterminal("items")
            self._pending.append(state)
        return self._states[state]

    def _raised(self, so_far: tuple[int, ...], slots: tuple[int, ...]) -> tuple[int, ...] | None:
        """The counts after an item, or None where one is then too high. What has no upper bound stops at the lower one."""
        counts = list(so_far)
        for i in slots:
            _, fewest, most, _ = self.piece.counts[i]
            counts[i] = min(counts[i] + 1, fewest) if most is None else counts[i] + 1
            if most is not None and counts[i] > most:
                return None
        return tuple(counts)

    def _write_state(self, position: int, so_far: tuple[int, ...]) -> None:
        left = self._states[position, so_far]
        if self.piece.counts:
            context = self.emitter.context
            context.ledger.count_items(_COST * len(self._kinds[position]), self.piece.counts[0].goal[0])
        if position >= self.piece.shortest and all(n >= count.fewest for n, count in zip(so_far, self.piece.counts)):
            self.builder.rule(left, self.form.close)
        if self.piece.longest is not None and position >= self.piece.longest:
            return
        lead = self.form.comma if position else ()
        if position == self.n_heads:
            self.builder.rule(left, [*lead, self._rest(so_far), *self.form.close])
            return
        for goal, slots in self._kinds[position]:
            after = self._raised(so_far, slots)
            symbol = None if after is None else self.form.item(goal)
            if after is not None and symbol is not None:
                self.builder.rule(left, [*lead, symbol, self._state(position + 1, after)])

    def _rest(self, so_far: tuple[int, ...]) -> Symbol:
        """The items after the first positions, at least one."""
        piece, n, bag = self.piece, self.n_heads, Bag()
        full = set()
        for slot, (used, count) in enumerate(zip(so_far, piece.counts)):
            left = None if count.most is None else count.most - used
            bag.slot(max(count.fewest - used, 0), left or None)
            if left == 0:
                full.add(slot)
        total = bag.slot(max(piece.shortest - n, 1), None if piece.longest is None else piece.longest - n)
        for goal, slots in self._kinds[n]:
            if not full.isdisjoint(slots):
                continue
            if piece.unique is not None and (piece.longest is None or piece.longest > n + 1):  # a single one may be an array or object
                for symbol, most in distinct_ways(self.emitter, goal):
                    bag.ways.append(Way((symbol,), (bag.slot(0, most), total, *slots), distinct=most != 1))
            else:
                item = self.form.item(goal)
                if item is not None:
                    bag.ways.append(Way((item,), (bag.slot(0, None), total, *slots)))
        return self.builder.bag(bag.ways, bag.slots, self.form.separator, "items")
