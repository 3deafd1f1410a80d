"""Sets of objects: a goal for each key, which keys are required, always or
beside others, how many members there are, and that some member meets a goal.

Idea. As with arrays, a piece is a list of *layers*, one for each schema that had a say: named keys with a goal, classes of keys
(`patternProperties`, `propertyNames`) with a goal, and the goal of all other keys. What a key has to meet is what all layers ask of it,
so the conjunction of two pieces is the concatenation of their layers. That keeps `additionalProperties` relative to its own schema, as
the standard wants. A key is forbidden by giving it the goal `NEVER`.

A *witness* is the condition that some member whose key is in a set of keys meets a goal. It is what is left of `additionalProperties`,
`patternProperties` and `propertyNames` when they are negated, and its own negation is a layer again, so pieces are closed under `meet`
and `negations`.

That a key *needs* another, which is required where the first one is present, is a condition of its own. As alternatives, the first is
absent or both are there, n of them would be 2**n pieces. A *choice* is the same between several sets of keys, one of which is required
as a whole: where a key is present, or in any case.

Invariant. `most` is None or at least `fewest`; `required` has no name twice,
and keeps the order of the schema. What a required key needs is required.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from ....ir import Expr
from ..reading.places import ANYTHING, NEVER, Goal, all_of, both, exclude_each_other

if TYPE_CHECKING:
    from ..context import Context


class KeySet(NamedTuple):
    """A class of keys, or the keys that a layer neither names nor has in a class.

    Attributes
    ----------
    texts : Expr or None
        The keys, not quoted; None for all keys, without
    names : frozenset of str
        these, and without
    classes : tuple of Expr
        all of these.
    """

    texts: Expr | None = None
    names: frozenset[str] = frozenset()
    classes: tuple[Expr, ...] = ()

    def has(self, name: str, context: Context) -> bool:
        """Whether a key is in the set."""
        if self.texts is not None:
            return context.matches(self.texts, name)
        return name not in self.names and not any(context.matches(keys, name) for keys in self.classes)


class Witness(NamedTuple):
    """Some member whose key is in `keys` has a value that meets `goal`."""

    keys: KeySet
    goal: Goal


class Choice(NamedTuple):
    """All keys of one of some sets are required.

    Attributes
    ----------
    name : str or None
        Where this key is present; None: in any case.
    sets : tuple of frozenset of str
        Each has a key. What the keys of a set need, and one of the sets between which they leave a choice, is in the set.
    """

    name: str | None
    sets: tuple[frozenset[str], ...]


class ObjectLayer:
    """What one schema asks of the members. Compared by identity: a schema makes its layer once.

    Attributes
    ----------
    named : dict of str to Goal
        The goals of single keys.
    classes : tuple of (Expr, Goal)
        The goals of classes of keys; each expression is a set of key texts, not quoted. They apply to named keys too.
    others : Goal
        The goal of keys that are neither named nor in a class.
    forbidden : tuple of str
        The names whose goal is `NEVER`.
    is_negation : bool
        Made by a negation of one key (`Context.single`), so worth comparing with what the other layers ask.
    is_selective : bool
        Made so, and there are values that the key may have.
    alike : tuple of Goal
        For which goals of the layer stand that are written alike: what they ask is in the report, too.
    """

    __slots__ = ("_open_goals", "_other_keys", "alike", "classes", "forbidden", "is_negation", "is_selective", "named", "others")

    def __init__(
        self,
        named: dict[str, Goal],
        classes: tuple[tuple[Expr, Goal], ...] = (),
        others: Goal = ANYTHING,
        is_negation: bool = False,
        alike: tuple[Goal, ...] = (),
    ):
        self.alike = alike
        self.is_negation = is_negation
        self.forbidden = tuple(name for name, goal in named.items() if goal is NEVER)
        self.is_selective = is_negation and not self.forbidden
        self.named = named
        self.classes = classes
        self.others = others
        self._other_keys: KeySet | None = None
        self._open_goals: list[tuple[KeySet, Goal]] = []

    @property
    def other_keys(self) -> KeySet:
        """The keys that are neither named nor in a class."""
        if self._other_keys is None:
            self._other_keys = KeySet(None, frozenset(self.named), tuple(keys for keys, _ in self.classes))
        return self._other_keys

    def goal(self, name: str, context: Context) -> Goal:
        """What the member with this key has to meet."""
        goal = self.named.get(name)
        if not self.classes:
            return self.others if goal is None else goal
        found = goal is not None
        result = goal or ANYTHING
        for keys, asked in self.classes:
            if context.matches(keys, name):
                found = True
                result = both(result, asked)
        return result if found else self.others

    def open_goals(self) -> list[tuple[KeySet, Goal]]:
        """The goals of keys that are not named, with their keys."""
        if not self._open_goals:
            self._open_goals = [*((KeySet(keys), goal) for keys, goal in self.classes), (self.other_keys, self.others)]
        return self._open_goals


class ObjectPiece:
    """The objects that meet all of these conditions."""

    __slots__ = (
        "_asking",
        "_forbidden",
        "_goals",
        "_key",
        "asked",
        "choices",
        "fewest",
        "layers",
        "most",
        "needs",
        "required",
        "witnesses",
    )

    def __init__(
        self,
        layers: tuple[ObjectLayer, ...] = (),
        required: tuple[str, ...] = (),
        fewest: int = 0,
        most: int | None = None,
        witnesses: tuple[Witness, ...] = (),
        needs: tuple[tuple[str, str], ...] = (),
        choices: tuple[Choice, ...] = (),
    ):
        self.layers = layers
        self.required = required
        self.fewest = fewest
        self.most = most
        self.witnesses = witnesses
        self.needs = needs  # (name, what it needs); of names that are not required
        self.choices = choices
        self.asked: frozenset[Any] = frozenset((*layers, *required, *witnesses, *needs, *choices))  # for `covers`
        self._key: tuple[Any, ...] | None = None
        self._goals: dict[str, Goal] = {}
        self._asking: tuple[tuple[ObjectLayer, ...], dict[str, list[ObjectLayer]]] | None = None
        self._forbidden: frozenset[str] | None = None

    @property
    def n_mentioned(self) -> int:
        """How many conditions and keys there are, those that several layers mention counted again."""
        return len(self.asked) + sum([len(layer.named) for layer in self.layers])

    @property
    def forbidden(self) -> frozenset[str]:
        """The keys that a layer forbids by name."""
        if self._forbidden is None:
            self._forbidden = frozenset(name for layer in self.layers for name in layer.forbidden)
        return self._forbidden

    @property
    def key(self) -> tuple[Any, ...]:
        """The conditions: pieces with the same key are equal."""
        if self._key is None:
            bounds = self.fewest, self.most
            self._key = (self.layers, frozenset(self.required), *bounds, self.witnesses, frozenset(self.needs), frozenset(self.choices))
        return self._key

    @property
    def in_full(self) -> tuple[Any, ...]:
        """The conditions, in order: it is also that of keys that they alone name."""
        return self.layers, self.required, self.fewest, self.most, self.witnesses, self.needs, self.choices

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ObjectPiece) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def meet(self, other: ObjectPiece) -> ObjectPiece | None:
        """What both pieces have in common, or None where that is known to be nothing."""
        fewest = max(self.fewest, other.fewest)
        most = self.most if other.most is None else other.most if self.most is None else min(self.most, other.most)
        required = self.required
        if other.required and other.required != required:
            required = tuple(dict.fromkeys(required + other.required))
        needs = self.needs
        if needs or other.needs:
            required, needs = _settled(required, tuple(dict.fromkeys(needs + other.needs)))
        if most is not None and max(fewest, len(required)) > most:
            return None
        layers = self.layers
        if other.layers and other.layers != layers:
            layers = tuple(dict.fromkeys(layers + other.layers))
        if required and not (self.forbidden.isdisjoint(required) and other.forbidden.isdisjoint(required)):
            return None
        if _contradict(self.layers, other.layers, required) or _contradict(other.layers, self.layers, required):
            return None
        witnesses = self.witnesses
        if other.witnesses:
            witnesses = (*witnesses, *(witness for witness in other.witnesses if witness not in witnesses))
        if witnesses and (most == 0 or any(_forbids(layer, witness) for witness in witnesses for layer in layers)):
            return None
        choices = tuple(dict.fromkeys(self.choices + other.choices)) if other.choices else self.choices
        result = ObjectPiece(layers, required, fewest, most, witnesses, needs, choices)
        if self._forbidden is not None and other._forbidden is not None:
            result._forbidden = self._forbidden | other._forbidden
        if self._goals and layers is not other.layers and not any(layer.classes or layer.others for layer in other.layers):
            result._goals = {
                name: goal for name, goal in self._goals.items() if all(name not in layer.named for layer in other.layers)
            }  # a product is asked for the same keys again
        return result

    def goal(self, name: str, context: Context) -> Goal:
        """What the member with this key has to meet."""
        if len(self.layers) < 2:
            return self.layers[0].goal(name, context) if self.layers else ANYTHING
        known = self._goals.get(name)
        if known is None:
            is_short = len(self.layers) <= _FEW_LAYERS or len(self._goals) < _FEW_LAYERS  # most pieces are asked for few keys
            layers = self.layers if is_short else self._layers_that_ask(name)
            goals = [
                goal for layer in layers if (goal := layer.goal(name, context) if layer.classes else layer.named.get(name, layer.others))
            ]
            known = self._goals[name] = all_of(goals) if len(goals) > 1 else goals[0] if goals else ANYTHING
        return known

    def goals(self, names: Sequence[str], context: Context) -> Iterable[tuple[str, Goal]]:
        """Keys, each with what the member with this key has to meet."""
        if len(self.layers) == 1 and not self.layers[0].classes:
            (layer,) = self.layers
            return zip(names, map(layer.named.get, names, repeat(layer.others)))
        return ((name, self.goal(name, context)) for name in names)

    def _layers_that_ask(self, name: str) -> list[ObjectLayer]:
        """The layers that may ask something of a key. With an index, so that looking at all keys of many layers is linear."""
        if self._asking is None:
            index: dict[str, list[ObjectLayer]] = {}
            for layer in self.layers:
                if not layer.classes and layer.others == ANYTHING:
                    for key in layer.named:
                        index.setdefault(key, []).append(layer)
            self._asking = tuple(layer for layer in self.layers if layer.classes or layer.others != ANYTHING), index
        always, index = self._asking
        return [*always, *index.get(name, ())]

    def names(self) -> list[str]:
        """The keys that are mentioned: those of the layers in order, then those that are only required, of the witnesses, and those that
        needs and choices name alone.
        """
        if len(self.layers) == 1 and not self.required and not self.witnesses and not self.needs and not self.choices:
            return list(self.layers[0].named)
        names: dict[str, Any] = {}
        for layer in self.layers:
            names.update(layer.named)
        names.update(dict.fromkeys(self.required))
        for witness in self.witnesses:
            names.update(dict.fromkeys(sorted(witness.keys.names)))
        for pair in self.needs:
            names.update(dict.fromkeys(pair))
        for choice in self.choices:
            for keys in choice.sets:
                names.update(dict.fromkeys(sorted(keys)))
        return list(names)

    def without_implied(self, piece: ObjectPiece, context: Context) -> ObjectPiece:
        """The same without the negations that all objects of another piece are seen to meet: enough for a `meet` with that one."""
        layers = tuple(layer for layer in self.layers if not (layer.is_negation and _is_implied(layer, piece, context)))
        if len(layers) == len(self.layers):
            return self
        return ObjectPiece(layers, self.required, self.fewest, self.most, self.witnesses, self.needs, self.choices)

    def in_order(self, layers: dict[ObjectLayer, int], names: dict[str, int]) -> ObjectPiece:
        """The same piece with layers and required names by rank."""
        by_rank = tuple(sorted(self.layers, key=layers.__getitem__)), tuple(sorted(self.required, key=names.__getitem__))
        return ObjectPiece(*by_rank, self.fewest, self.most, self.witnesses, self.needs, self.choices)

    def covers(self, other: ObjectPiece) -> bool:
        """Whether the other piece is seen to be a part of this one (False: maybe it is)."""
        return (
            self.asked <= other.asked
            and self.fewest <= other.fewest
            and (self.most is None or (other.most is not None and other.most <= self.most))
        )

    def negations(self, context: Context) -> list[ObjectPiece]:
        """Pieces that together are all other objects."""
        result = []
        if self.fewest:
            result.append(ObjectPiece(most=self.fewest - 1))
        if self.most is not None:
            result.append(ObjectPiece(fewest=self.most + 1))
        for name in self.required:  # the key is absent, or has another value
            others = context.negated(self.goal(name, context)) or [NEVER]
            result += [ObjectPiece((context.single(name, other),) if other else ()) for other in others]
        for layer in self.layers:
            for name, goal in layer.named.items():
                if name not in self.required:
                    others = context.negated(goal)
                    result += [ObjectPiece((context.single(name, other),) if other else (), (name,)) for other in others]
            for keys, goal in layer.open_goals():
                result += [ObjectPiece(witnesses=(Witness(context.negated_keys(keys), other),)) for other in context.negated(goal)]
        result += [ObjectPiece((context.single(needed, NEVER),), (name,)) for name, needed in self.needs]
        result += [piece for choice in self.choices for piece in unmet(choice, context)]
        return result + [ObjectPiece((context.every(context.negated_keys(keys), context.opposite(goal)),)) for keys, goal in self.witnesses]

    def is_void(self, context: Context) -> bool:
        """Whether a required member is known to admit no value, or no member to meet what one has to meet."""
        return any(context.is_void_goal(self.goal(name, context)) for name in self.required) or any(
            self.possible_witnesses(witness, context) == [] for witness in self.witnesses
        )

    def possible_witnesses(self, witness: Witness, context: Context) -> list[str] | None:
        """The keys of the members that may be a witness; None where some layer does not exclude it under keys that it does not name."""
        for layer in self.layers:
            if not layer.classes and context.is_void_goal(both(layer.others, witness.goal)):
                return [
                    name
                    for name in layer.named
                    if witness.keys.has(name, context) and not context.is_void_goal(both(self.goal(name, context), witness.goal))
                ]
        return None

    def multiplied_out(self, context: Context) -> list[ObjectPiece]:
        """The same as pieces without needs and choices: each key that asks for others is absent, or they are required with it. They may
        have objects in common.
        """
        needed: dict[str, list[str]] = {}
        for name, other in self.needs:
            needed.setdefault(name, []).append(other)
        result = [ObjectPiece(self.layers, self.required, self.fewest, self.most, self.witnesses)]
        for name, others in needed.items():
            without, beside = ObjectPiece((context.single(name, NEVER),)), ObjectPiece(required=(name, *others))
            can_be = [not context.is_void_goal(self.goal(each, context)) for each in (name, *others)]
            ways = ([without] if not all(can_be) else [without, beside]) if can_be[0] else []  # a key that cannot be there needs nothing
            if ways:
                result = _met_by_any(result, ways, context)
        for choice in self.choices:
            absent = [ObjectPiece((context.single(choice.name, NEVER),))] if choice.name is not None else []
            own = () if choice.name is None else (choice.name,)
            result = _met_by_any(result, [*absent, *(ObjectPiece(required=(*own, *sorted(keys))) for keys in choice.sets)], context)
        return result


OBJECTS = ObjectPiece()
_CONDITIONS = 32  # of pieces that are multiplied out take as long as to compare two small ones
_FEW_LAYERS = 8  # more are found by the names that they ask something of


def unmet(choice: Choice, context: Context) -> list[ObjectPiece]:
    """The objects in which a choice is not met: of each set some key is absent."""
    result = [OBJECTS if choice.name is None else ObjectPiece(required=(choice.name,))]
    for keys in choice.sets:
        result = _met_by_any(result, [ObjectPiece((context.single(name, NEVER),)) for name in sorted(keys)], context)
    return result


def _met_by_any(union: list[ObjectPiece], ways: list[ObjectPiece], context: Context) -> list[ObjectPiece]:
    result = [met for piece in union for way in ways if (met := piece.meet(way)) is not None and not met.is_void(context)]
    context.ledger.count_alternatives(len(result))
    context.ledger.count_work(sum([len(piece.asked) for piece in result]) // _CONDITIONS)
    return result


def with_needs(union: tuple[ObjectPiece, ...]) -> tuple[ObjectPiece, ...]:
    """The same union: one piece, if it says no more than that a key is absent, or others are required."""
    if len(union) != 2:
        return union
    for without, beside in (union, union[::-1]):
        if beside == ObjectPiece(required=beside.required) and len(without.layers) == 1 and without == ObjectPiece(without.layers):
            (layer,) = without.layers
            if layer.forbidden and len(layer.named) == 1 and not layer.classes and layer.others == ANYTHING:
                needs = tuple((name, needed) for name in layer.forbidden for needed in beside.required if needed != name)
                return (ObjectPiece(needs=needs),) if needs else union
    return union


def all_needed(names: Iterable[str], beside: Mapping[str, Sequence[str]]) -> list[str]:
    """Some keys, all that these need, and what that needs; each key once."""
    found = dict.fromkeys(names)
    pending = list(found)
    for name in pending:
        for needed in beside.get(name, ()):
            if needed not in found:
                found[needed] = None
                pending.append(needed)
    return pending


def _settled(required: tuple[str, ...], needs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """What is required once what that needs is, and the needs of other keys: also those that are met anyway, as they name the key."""
    beside: dict[str, list[str]] = {}
    for name, needed in needs:
        beside.setdefault(name, []).append(needed)
    names = dict.fromkeys(all_needed(required, beside))
    return tuple(names), tuple(pair for pair in needs if pair[0] not in names)


def _contradict(negations: tuple[ObjectLayer, ...], layers: tuple[ObjectLayer, ...], required: tuple[str, ...]) -> bool:
    """Whether a negation asks of a required key what one of the layers is seen to exclude."""
    if not required or not layers:
        return False
    names = required if len(required) <= _FEW_LAYERS else frozenset(required)
    for negation in negations:
        if not negation.is_selective:
            continue  # what is forbidden is compared with what is required anyway
        for name, goal in negation.named.items():
            others = [layer.named.get(name) for layer in layers] if name in names else ()
            if any(other and exclude_each_other(goal, other) for other in others):
                return True
    return False


def _is_implied(negation: ObjectLayer, piece: ObjectPiece, context: Context) -> bool:
    """Whether what a negation asks is seen to be so for all objects of a piece: their values exclude what is negated."""
    for name, goal in negation.named.items():
        own = piece.goal(name, context)
        if not own or not all(context.exclude_each_other(own, other) for other in context.negated(goal)):
            return False
    return True


def _forbids(layer: ObjectLayer, witness: Witness) -> bool:
    """Whether a layer asks of the very keys of a witness the opposite of what it asks."""
    return any(keys == witness.keys and exclude_each_other(goal, witness.goal) for keys, goal in layer.open_goals())
