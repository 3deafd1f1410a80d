"""`uniqueItems` over arrays and objects, and its negation: the items are compared while they are read.

Idea. The rules are those of the array without that, and the lexeme of its bracket says that no two items may be equal: the engine compares
them (csrc/engine/un.h). It takes for granted that a further item is asked for only where some value is left that no item before has. So
values are counted here, as far as need be: at each position there have to be more than there are positions before. Mostly there are more
than any text can use up. Where all positions ask the same, and the number of values is known, the array is no longer than that.

Invariant. A count never says that there are more values than there are, as long as shapes that are not seen to be void are not.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

from ..algebra.shape import Shape
from ..containers.arrays import ArrayPiece
from ..containers.objects import ObjectPiece
from ..context import Context
from ..reading.places import NEVER, Goal, all_of
from .members import item_kinds
from .other_keys import FEW_KEYS, other_keys, patterns_of
from .unique import MOST_VALUES, count_scalars

_COST = 2  # of a shape that is counted, in alternatives
_MOST_PIECES = 32  # of a union that are compared
_LONGEST = 10_000  # array whose values are counted


class _Number(NamedTuple):
    """Of values: at least `least`, and if `is_exact` no more."""

    least: int
    is_exact: bool

    @property
    def is_sure(self) -> bool:
        """Whether no other way to count would find more."""
        return self.is_exact or self.least >= MOST_VALUES


class _Members:
    """What the members of some objects may be.

    Attributes
    ----------
    named : set of str
        The named keys of those that are known to have values.
    n_others : int
        The number of other keys of which that is known.
    required, optional : int
        Values of those that are required, all together; and of all that are not, if they need no others.
    best : int
        Values of the one of the latter that has most.
    is_exact : bool
        Whether there are no more values.
    is_sure : bool
        Whether members that are not known to have values have none.
    """

    def __init__(self) -> None:
        self.named: set[str] = set()
        self.n_others = 0
        self.required = self.optional = 1
        self.best = 0
        self.is_exact = self.is_sure = True

    def add_optional(self, number: _Number, n_keys: int) -> None:
        """Add members with some keys, each of which may be absent or have so many values."""
        self.optional = min(self.optional * (1 + number.least) ** n_keys, MOST_VALUES)
        self.best = max(self.best, number.least)

    def note(self, number: _Number) -> None:
        """Note of a member how sure its number is."""
        self.is_exact = self.is_exact and number.is_exact
        self.is_sure = self.is_sure and (number.least > 0 or number.is_exact)


_MANY = _Number(MOST_VALUES, False)
_UNKNOWN = _Number(0, False)
_NONE = _Number(0, True)


def comparable(values: ValueCounter, piece: ArrayPiece) -> ArrayPiece | None:
    """The arrays of a piece, no longer than there are values for items that all differ; None where that is not known. There may be too few
    for the shortest array, then there is none.
    """
    n, longest = piece.prefix_length(), piece.longest
    for position in range(n + 1 if longest is None else min(longest, n + 1)):
        if values.may_lack_keys(piece.goal(position)):
            return None
        numbers = [number for kind in item_kinds(values.context, piece, position) if (number := values.count(kind.goal)) != _NONE]
        if not numbers:
            break
        needed = position + 1 if position < n else MOST_VALUES if longest is None else longest
        if all(number.least >= needed for number in numbers):
            continue
        if n or piece.counts or not numbers[0].is_exact:
            return None
        longest = numbers[0].least
    return piece._replace(longest=longest)


def may_be_repeated(values: ValueCounter, piece: ArrayPiece) -> bool:
    """Whether each array that is a beginning of one of a piece can go on, until two items are equal: there is a value for each position,
    and no end of positions that all ask the same.
    """
    if piece.longest is not None or piece.counts:
        return False
    goals = [piece.goal(position) for position in range(piece.prefix_length() + 1)]
    return all(values.count(goal).least > 0 and not values.may_lack_keys(goal) for goal in goals)


class ValueCounter:
    """Counts the values of goals.

    A goal that comes back inside itself has values of any depth, if it has a value at all. So all is counted twice: first as if
    such a goal had no value there, and then as if it had many, if it turned out to have one. One value is not enough where several that
    differ are asked for (`_are_enough`).
    """

    def __init__(self, context: Context):
        self.context = context
        self._known: dict[Goal, _Number] = {}
        self._before: dict[Goal, _Number] = {}
        self._sure: dict[Goal, _Number] = {}
        self._keys_suffice: set[Goal] = set()
        self._other_keys: dict[ObjectPiece, list[tuple[int, Goal]]] = {}

    def count(self, goal: Goal) -> _Number:
        """How many values meet a goal."""
        self._before, self._known = {}, {}
        number = self._goal(goal)
        if not number.is_sure:
            self._before, self._known = self._known, {}
            number = self._goal(goal)
        self._sure |= {goal: number for goal, number in self._known.items() if number.is_sure}
        return number

    def may_lack_keys(self, goal: Goal) -> bool:
        """Whether somewhere in the values of a goal keys may come that are not named, and neither so few that their members are counted nor
        more than any text can use up: none comes twice in what is compared.
        """
        todo, seen = [goal], set(self._keys_suffice)
        for found in todo:
            if found in seen:
                continue
            seen.add(found)
            shape = self.context.normaliser.shape(found)
            for array in shape.arrays:
                todo += [array.goal(position) for position in range(array.prefix_length() + 1)]
            for piece in shape.objects:
                todo += [goal for _, goal in piece.goals(piece.names(), self.context)]
                for n_keys, others in self._others(piece):
                    todo.append(others)
                    if FEW_KEYS < n_keys < MOST_VALUES and not self.context.is_void_goal(others):
                        return True
        self._keys_suffice = seen
        return False

    def _others(self, piece: ObjectPiece) -> list[tuple[int, Goal]]:
        """Of each class of keys that are not named, how many there are (`MOST_VALUES`: at least so many), and what their values meet."""
        known = self._other_keys.get(piece)
        if known is None:
            if any(layer.classes for layer in piece.layers):
                found = other_keys(self.context, piece, patterns_of(piece), None)
                known = [(self.context.count_values(keys.texts, MOST_VALUES), keys.goal) for keys in found]
            else:
                known = [(MOST_VALUES, all_of([layer.others for layer in piece.layers]))]
            known = self._other_keys[piece] = [(n_keys, goal) for n_keys, goal in known if n_keys and goal is not NEVER]
        return known

    def _goal(self, goal: Goal) -> _Number:
        known = self._sure.get(goal) or self._known.get(goal)
        if known is None:
            self._known[goal] = _MANY if self._before.get(goal, _NONE).least else _UNKNOWN
            known = self._known[goal] = self._shape(self.context.normaliser.shape(goal), goal)
        return known

    def _shape(self, shape: Shape, goal: Goal) -> _Number:
        if goal:
            self.context.ledger.count_items(_COST * (1 + len(shape.arrays) + len(shape.objects)), goal[0])
        scalars, are_exact = self._scalars(shape)
        if scalars >= MOST_VALUES:
            return _MANY
        arrays = self._union([piece for piece in shape.arrays if not piece.is_void(self.context)], self._array)
        objects = self._union([piece for piece in shape.objects if not piece.is_void(self.context)], self._object)
        is_exact = are_exact and arrays.is_exact and objects.is_exact
        return _Number(min(scalars + arrays.least + objects.least, MOST_VALUES), is_exact)

    def _union(self, pieces: list[Any], count: Callable[[Any], _Number]) -> _Number:
        """The values of any of some pieces: the sum where no two have one in common, else at least those of the largest."""
        numbers = [count(piece) for piece in pieces]
        if len(pieces) < 2 or any(number.least >= MOST_VALUES for number in numbers):
            return max(numbers, default=_NONE)
        is_sum = len(pieces) <= _MOST_PIECES and all(
            (common := piece.meet(other)) is None or common.is_void(self.context) for piece, other in combinations(pieces, 2)
        )
        if not is_sum:
            return _Number(max(number.least for number in numbers), False)
        return _Number(sum(number.least for number in numbers), all(number.is_exact for number in numbers))

    def _scalars(self, shape: Shape) -> _Number:
        """Integers of draft 4 and numbers that are none may be equal: of these, the more."""
        if not {True, False} <= {number.in_digits for number in shape.numbers}:
            return _Number(count_scalars(self.context, shape), True)
        others = count_scalars(self.context, Shape(shape.atoms, shape.strings))
        sorts = [Shape(numbers=tuple(n for n in shape.numbers if n.in_digits is sort)) for sort in (True, False)]
        return _Number(min(others + max(count_scalars(self.context, sort) for sort in sorts), MOST_VALUES), False)

    def _array(self, piece: ArrayPiece) -> _Number:
        if piece.counts:
            return _UNKNOWN
        n, longest = piece.prefix_length(), piece.longest
        items = [self._goal(piece.goal(position)) for position in range(n + 1)]
        if piece.repeated is not None:
            return _MANY if longest is None and all(number.least for number in items) else _UNKNOWN
        is_exact = piece.unique is None
        for position, number in enumerate(items):
            if number.least == 0 and (longest is None or longest > position):
                longest, is_exact = position, is_exact and number.is_exact
        if longest is not None and longest < piece.shortest:
            return _Number(0, is_exact)
        if piece.unique is not None and n == 0 and items[0].is_exact and items[0].least < MOST_VALUES:
            return _unique_arrays(items[0].least, piece.shortest, longest)
        least = max(1, piece.shortest)
        if piece.unique is not None and not self._are_enough(piece, least):
            return _UNKNOWN if piece.shortest else _Number(1, False)  # an empty one
        if (longest is None or longest >= least) and any(number.least >= MOST_VALUES for number in items[:least]):
            return _MANY
        if piece.unique is not None:
            n_empty = int(piece.shortest == 0)
            if longest is not None and longest < least:
                return _Number(n_empty, False)
            return _Number(min(n_empty + (items[0].least if piece.shortest < 2 else 1), MOST_VALUES), False)
        if longest is None:
            return _MANY
        total, product = 0, 1
        for length in range(min(longest, _LONGEST) + 1):
            if length:
                number = items[min(length - 1, n)]
                product, is_exact = min(product * number.least, MOST_VALUES), is_exact and number.is_exact
            total += product if length >= piece.shortest else 0
        return _Number(min(total, MOST_VALUES), is_exact and longest <= _LONGEST)

    def _are_enough(self, piece: ArrayPiece, shortest: int) -> bool:
        """Whether so many items that all differ are known to be there, whatever goals that come back inside themselves have."""
        n = piece.prefix_length()
        heads = sorted(self._found(piece.goal(position)) for position in range(min(n, shortest)))
        return all(found > i for i, found in enumerate(heads)) and (shortest <= n or self._found(piece.goal(n)) >= shortest)

    def _found(self, goal: Goal) -> int:
        """At least so many values meet a goal, without what is taken for granted when it is counted for the second time."""
        return (self._sure.get(goal) or (self._before or self._known).get(goal, _UNKNOWN)).least

    def _object(self, piece: ObjectPiece) -> _Number:
        if piece.witnesses and not self._is_met_in_many_ways(piece):
            return _UNKNOWN
        members = self._members(piece)
        n_required, asks_for_more = len(piece.required), piece.fewest > len(piece.required)
        too_few = asks_for_more and piece.fewest > len(members.named) + members.n_others
        if too_few or not members.named.issuperset(piece.required):
            return _NONE if members.is_sure else _UNKNOWN
        choices = [sets for name, sets in piece.choices if name is None or name in piece.required]
        can_choose = piece.most is None and all(any(keys <= members.named for keys in sets) for sets in choices)
        if (choices and not can_choose) or (asks_for_more and (piece.choices or piece.needs)):
            return _UNKNOWN
        has_room = piece.most is None or piece.most > n_required
        if piece.witnesses:
            return _MANY if has_room and piece.fewest <= n_required + 1 else _UNKNOWN
        if members.required >= MOST_VALUES:
            return _MANY
        if choices:
            return _UNKNOWN
        if has_room and (members.n_others >= MOST_VALUES or members.best >= MOST_VALUES):
            return _MANY
        if asks_for_more or piece.most is not None:
            return _Number(members.required, False)
        return _Number(min(members.required * members.optional, MOST_VALUES), members.is_exact)

    def _members(self, piece: ObjectPiece) -> _Members:
        result = _Members()
        asking = {name for name, _ in (*piece.needs, *piece.choices)}  # keys with which others must be there
        for name, goal in piece.goals(piece.names(), self.context):
            if name in piece.forbidden or self.context.is_void_goal(goal):
                continue
            number = self._goal(goal)
            if number.least:
                result.named.add(name)
            if name in piece.required:
                result.required = min(result.required * number.least, MOST_VALUES)
            elif name in asking:
                result.is_exact = False
            else:
                result.add_optional(number, 1)
            result.note(number)
        for n_keys, goal in self._others(piece):
            if not self.context.is_void_goal(goal):
                number = self._goal(goal)
                result.n_others += n_keys if number.least else 0
                result.add_optional(number, min(n_keys, FEW_KEYS))
                result.note(number)
        return result

    def _is_met_in_many_ways(self, piece: ObjectPiece) -> bool:
        """Whether one member more meets the one witness of a piece in any number of ways: by values of a named key, or by keys."""
        (keys, wanted), *more = piece.witnesses
        if more:
            return False
        for name, goal in piece.goals(piece.names(), self.context):
            if name not in piece.forbidden and keys.has(name, self.context) and self._goal(all_of([goal, wanted])).least >= MOST_VALUES:
                return True
        goals = [goal for layer in piece.layers for _, goal in layer.open_goals()]
        is_any = keys.texts is None and not keys.classes and not any(layer.classes for layer in piece.layers)
        return is_any and self._has_values(all_of([*goals, wanted]))

    def _has_values(self, goal: Goal) -> bool:
        return not self.context.is_void_goal(goal) and self._goal(goal).least > 0


def _unique_arrays(n_values: int, shortest: int, longest: int | None) -> _Number:
    """The arrays of some of so many values that all differ: each further position has one value less."""
    most = n_values if longest is None else min(n_values, longest)
    total, product = 0, 1
    for length in range(min(most, _LONGEST) + 1):
        total += product if length >= shortest else 0
        product = min(product * (n_values - length), MOST_VALUES)
    return _Number(min(total, MOST_VALUES), most <= _LONGEST)
