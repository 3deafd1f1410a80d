"""The rules of one object piece.

Idea. An object is a *bag* of members (`Builder.bag`): a way for each named key, ranked in the order of the schema, and a way for each class
of other keys, ranked last. Slots count: one for each named key (at most once, and once if it is required), one for each class of other
keys, one for all members together where their number matters, one for each witness. A member that may be a witness has a way that raises
that slot, and a way that does not (`members.py`). With `property_order="any"` the ranks do not matter. The states of the bag are made when
a text reaches them, so the grammar is linear in the schema.

Free keys. RFC 8259 leaves open what `{"k": 1, "k": 2}` means; most readers keep the last. A key of the schema is written at most once.
Other keys may repeat, but not where that could make a reader see another number of members than was counted, or drop a witness: then
all of them differ. Of a class of few keys there are no more members than keys, so that there always is one where a member is asked for,
whoever compares them (`compared.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....errors import LimitExceededError
from ....ir import Expr, Symbol, Way
from ..containers.objects import OBJECTS, ObjectPiece, all_needed
from ..reading.places import ANYTHING, NEVER, Goal
from .members import Bag, Condition, kinds
from .other_keys import FEW_KEYS, OtherKeys, other_keys, patterns_of
from .unique import MOST_VALUES

if TYPE_CHECKING:
    from .emitter import Emitter

_NEEDED = 8  # keys that another needs take as long to find and to write as two small pieces to compare
_MATCHED = 4  # keys that are looked for in a pattern take as long


class ObjectRules:
    """Writes the rules of one object piece."""

    def __init__(self, emitter: Emitter, piece: ObjectPiece, where: str | None, last: bool):
        self.emitter = emitter
        self.context = emitter.context
        self.builder = emitter.builder
        self.piece = piece
        self.where = where
        self.last = last
        self.names = piece.names()
        self.required = frozenset(piece.required)
        self.fewest = piece.fewest if piece.fewest > len(piece.required) else 0
        self.most = piece.most
        most = piece.most or 0
        if most and any(layer.others is NEVER and not layer.classes and len(layer.named) <= most for layer in piece.layers):
            self.most = None
        self.separator: Symbol | None = emitter.layout.comma

    def write(self, left: Symbol) -> None:
        """Write rules for `left`; none if no object is admitted."""
        piece = self.piece
        if piece.needs or piece.choices:
            self.context.ledger.combining = f"{self.where or ''}/{'anyOf' if piece.choices else 'dependentRequired'}"
        is_counted = self.fewest or piece.witnesses or (piece.choices and self.most is not None)
        if is_counted and (piece.needs or piece.choices):  # a bag has no place for both
            for each in self._without_needs():
                self.again(each).write(left)
        elif self.most == 0:
            self.builder.rule(left, self.around())
        elif piece is OBJECTS and not self.context.options.unique_keys:
            self._write_any(left)
        else:
            self._write_bag(left)

    def _without_needs(self) -> list[ObjectPiece]:
        """The same objects by pieces without needs and choices; with `lenient=True` more of them, where those would be too many."""
        piece = self.piece
        try:
            return piece.multiplied_out(self.context)
        except LimitExceededError as error:
            self.context.relax_or_raise_limit(error, self.where or "")
            return [ObjectPiece(piece.layers, piece.required, piece.fewest, piece.most, piece.witnesses)]

    def key(self, name: str, goal: Goal) -> Symbol:
        """The lexeme of a named key."""
        return self.builder.lexeme(self.key_expr(name), f'key "{name}"', where=goal[0].pointer if goal else self.where)

    def other_key(self, keys: Expr, goal: Goal) -> Symbol:
        """The lexeme of a class of other keys."""
        name = "other key" if self.names else "key"
        return self.builder.lexeme(self.other_key_expr(keys), name, where=goal[0].pointer if goal else None)

    # --- how it is written (parameters.py has other ways) -----------------------------------------------------------------

    def again(self, piece: ObjectPiece) -> ObjectRules:
        """The rules of a part of this piece."""
        return ObjectRules(self.emitter, piece, self.where, self.last)

    def around(self, *members: Symbol) -> tuple[Symbol, ...]:
        """The members, in braces."""
        layout = self.emitter.layout
        return layout.open_object, *members, layout.close("}", self.last)

    def value(self, goal: Goal) -> Symbol | None:
        """The symbol of a value, or None where the goal is known to admit nothing."""
        return self.emitter.symbol(goal)

    def ways(self, ways: list[Way]) -> list[Way]:
        """The ways of a bag, of which each is a key and a value so far."""
        return ways

    def key_expr(self, name: str) -> Expr:
        """A named key with its colon."""
        return self.emitter.key(name)

    def other_key_expr(self, keys: Expr) -> Expr:
        """Any of some keys with its colon."""
        return self.emitter.layout.key(self.context.quoted(keys))

    def check_distinct(self) -> None:
        """Refuse keys that have to differ, where the core cannot compare them."""

    def other_keys(self, patterns: dict[Expr, list[Expr]]) -> list[OtherKeys]:
        """The classes of keys that are not named."""
        return other_keys(self.context, self.piece, patterns, self.where)

    def _write_any(self, left: Symbol) -> None:
        """As `_write_bag`, for all objects: most grammars have these."""
        key, value = self.other_key(self.builder.text, ANYTHING), self.value(ANYTHING)
        assert value is not None
        ranked = self.context.options.property_order == "schema"
        self.emitter.has_other_keys = True
        ways = [Way((key, value), (0,))]
        members = self.builder.bag(ways, [(0, None)], self.separator, "members", ranked=ranked, where=self.where)
        self.builder.rule(left, self.around(members))

    # --- bags -------------------------------------------------------------------------------------------------------------

    def _write_bag(self, left: Symbol) -> None:
        piece, bag = self.piece, Bag()
        if n_patterns := sum([len(layer.classes) for layer in piece.layers]):
            self.context.ledger.count_key_matches(len(self.names) * n_patterns // _MATCHED, self.where or "")
        conditions = [Condition(bag.slot(1, None), goal, False) for _, goal in piece.witnesses]
        total = (bag.slot(self.fewest, self.most),) if self.fewest or self.most is not None else ()
        n_ordered = len(self.names) - len(self._only_needed())
        own = self._add_named(bag, conditions, total, n_ordered)
        if own is None:
            return
        asks, choices = (self._asks(bag, own), self._choices(own)) if piece.needs or piece.choices else (None, ())
        if choices and not all(sets for _, sets in choices):
            return
        self._add_others(bag, conditions, total, n_ordered)
        ranked = self.context.options.property_order == "schema"
        symbol = self.builder.bag(
            self.ways(bag.ways), bag.slots, self.separator, "members", ranked=ranked, asks=asks, choices=choices, where=self.where
        )
        self.builder.rule(left, self.around(symbol))

    def _add_named(self, bag: Bag, conditions: list[Condition], total: tuple[int, ...], n_ordered: int) -> dict[str, int] | None:
        """Add the ways of named keys, of which the first `n_ordered` have an order; the slot of each that may come.

        None: one that is required cannot come, so there is no such object.
        """
        own: dict[str, int] = {}
        for rank, (name, goal) in enumerate(self.piece.goals(self.names, self.context)):
            is_required = name in self.required
            slot = bag.slot(int(is_required), 1)
            key, slots, rank = self.key(name, goal), (slot, *total), min(rank, n_ordered)
            if conditions:
                could_be = [each for each, (keys, _) in zip(conditions, self.piece.witnesses) if keys.has(name, self.context)]
                found = self._add(bag, key, kinds(self.context, goal, could_be), slots, rank)
            else:  # as above, for most schemas
                value = self.value(goal)
                if value is not None:
                    bag.ways.append(Way((key, value), slots, rank))
                found = value is not None
            if found:
                own[name] = slot
            elif is_required:
                return None
        return own

    def _add_others(self, bag: Bag, conditions: list[Condition], total: tuple[int, ...], rank: int) -> None:
        """Add the ways of the classes of other keys, all of one rank."""
        is_exact = self.context.options.unique_keys or self.fewest > len(self.piece.required) + 1
        patterns, seen = patterns_of(self.piece), set[Expr]()
        for keys, goal, indices, inside in self.other_keys(patterns):
            members = kinds(self.context, goal, [conditions[i] for i in indices])
            distinct = is_exact or len(members) > 1
            most = MOST_VALUES if distinct else FEW_KEYS + 1
            n_keys = self.context.count_values(keys, most) if distinct or patterns else most
            if n_keys == 0:
                continue
            if distinct:
                self.check_distinct()
            counted = bag.slot(0, None if n_keys >= most else n_keys)
            found = self._add(bag, self.other_key(keys, goal), members, (counted, *total), rank, distinct)
            self.emitter.has_other_keys |= found and not distinct and n_keys > 1
            seen |= inside
        self._look_at_alike({keys for first in seen for keys in patterns[first][1:]})

    def _look_at_alike(self, alike: set[Expr]) -> None:
        """Make the values of patterns, and of keys, for which another one stands: what they ask is in the report, too."""
        for layer in self.piece.layers:
            for keys, goal in layer.classes if alike else ():
                if keys in alike:
                    self.value(goal)
            for goal in layer.alike:
                self.value(goal)

    def _only_needed(self) -> set[str]:
        """The keys that needs and choices name alone: they have no place in the order of the schema, and come among other keys."""
        piece = self.piece
        if not piece.needs and not piece.choices:
            return set()
        return set(piece.names()) - set(ObjectPiece(piece.layers, piece.required, witnesses=piece.witnesses).names())

    def _asks(self, bag: Bag, own: dict[str, int]) -> dict[int, list[int]]:
        """By slot: those of all that a key needs, and what these need. Keys that ask for what cannot come lose their ways, and slots."""
        needed: dict[str, list[str]] = {}
        for name, other in self.piece.needs:
            needed.setdefault(name, []).append(other)
        needed = {name: all_needed(first, needed) for name, first in needed.items()}
        self.context.ledger.count_work(sum(len(found) // _NEEDED for found in needed.values()))
        void = set[int]()
        while True:
            gone = {name for name, found in needed.items() if name in own and not all(other in own for other in found)}
            gone |= {name for name, sets in self.piece.choices if name in own and not any(own.keys() >= keys for keys in sets)}
            if not gone:
                break
            void.update(own.pop(name) for name in gone)
        if void:
            bag.ways = [way for way in bag.ways if way.slots[0] not in void]
        return {own[name]: [own[other] for other in found] for name, found in needed.items() if name in own}

    def _choices(self, own: dict[str, int]) -> list[tuple[int | None, list[list[int]]]]:
        """The choices, by slot."""
        asking = [choice for choice in self.piece.choices if choice.name is None or choice.name in own]
        possible = [[keys for keys in sets if own.keys() >= keys] for _, sets in asking]
        self.context.ledger.count_work(sum(len(keys) for sets in possible for keys in sets) // _NEEDED)
        return [
            (None if name is None else own[name], [[own[each] for each in sorted(keys)] for keys in sets])
            for (name, _), sets in zip(asking, possible)
        ]

    def _add(
        self,
        bag: Bag,
        key: Symbol,
        members: Sequence[tuple[Goal, tuple[int, ...]]],
        slots: tuple[int, ...],
        rank: int,
        distinct: bool = False,
    ) -> bool:
        """Add a way for each kind; whether there was one."""
        found = False
        for goal, raised in members:
            value = self.value(goal)
            if value is not None:
                found = True
                bag.ways.append(Way((key, value), (*slots, *raised), rank, distinct))
        return found
