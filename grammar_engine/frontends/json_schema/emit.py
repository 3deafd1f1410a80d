"""From shapes to rules: the last step of the front end.

Idea. Each goal becomes one symbol, made when it is first asked for. All scalars of a goal are *one* lexeme (null, strings, numbers, listed
values: a union of expressions); arrays and objects are rules. The symbol of a goal is known before its rules are written, so a queue
replaces recursion, and recursive schemas are cyclic rules.

An object is a chain of *states* (index of the next named key, how many members are still needed, how many still allowed, whether
a member was written). Named keys come in the order of the schema, then any number of other keys:

    object -> "{" F              F: no member so far, the alternatives are the keys that may be the first
    F      -> key_j value_j R    R: at least one member so far
    R_i    -> "," key_i value_i R_(i+1)  |  R_(i+1)        the second only where key i is optional
    R_n    -> "," other value R_n  |  "}"

Runs of required keys are written into one rule. Without minProperties and maxProperties there is one R per optional key, so the
grammar is linear in the schema; with them there is one per key and count. The tail of every rule is a tail call of the parser.

Invariant. A rule is written only if all its symbols admit something as far as that is known here; the core prunes the rest.
"""

from __future__ import annotations

from collections import deque

from ...errors import UnsupportedSchemaError
from ...ir import UNBOUNDED, Expr, Symbol
from .arrays import ArrayPiece
from .context import Context
from .layout import Layout
from .numbers import NumberPiece
from .objects import ObjectPiece
from .places import ANYTHING, NEVER, Goal, both
from .shape import FALSE, NULL, TRUE, Shape
from .strings import StringPiece

_MAX_KEY_CLASSES = 64
_MAX_COUNTED_STATES = 100_000
_LONG_RUN = 8  # symbols; a longer run of required members that is needed twice gets a nonterminal
_ATOMS = ((NULL, b"null"), (TRUE, b"true"), (FALSE, b"false"))


class Emitter:
    """Writes the rules for goals."""

    def __init__(self, context: Context, layout: Layout):
        self.context = context
        self.builder = context.builder
        self.layout = layout
        self.has_other_keys = False  # whether some object admits keys that are not named
        self._symbols: dict[tuple[Goal, bool], Symbol | None] = {}
        self._scalars: dict[Expr, Symbol] = {}
        self._queue: deque[tuple[Symbol, Symbol | None, Shape, str | None, bool]] = deque()

    def symbol(self, goal: Goal, last: bool = False) -> Symbol | None:
        """The symbol of a goal, or None where it is known to admit nothing; `last` when the text ends with it."""
        key = (goal, last and self.layout.is_bounded)
        if key in self._symbols:
            return self._symbols[key]
        shape = self.context.normaliser.shape(goal)
        where = goal[0].pointer if goal else None
        scalar = self._scalar(shape, where, last)
        symbol = scalar
        if shape.arrays or shape.objects:
            name = "value" if scalar is not None or (shape.arrays and shape.objects) else "array" if shape.arrays else "object"
            symbol = self.builder.nonterminal(name, where=where)
            self._queue.append((symbol, scalar, shape, where, last))
        self._symbols[key] = symbol
        return symbol

    def run(self) -> None:
        """Write the rules of all symbols that were asked for."""
        while self._queue:
            left, scalar, shape, where, last = self._queue.popleft()
            if scalar is not None:
                self.builder.rule(left, (scalar,))
            for array in shape.arrays:
                self._array(left, array, last)
            for piece in shape.objects:
                _ObjectRules(self, piece, where, last).write(left)

    # --- scalars ----------------------------------------------------------------------------------------------------------

    def _scalar(self, shape: Shape, where: str | None, last: bool) -> Symbol | None:
        b, context = self.builder, self.context
        parts = [b.bytes(text) for bit, text in _ATOMS if shape.atoms & bit]
        names = ["boolean"] if shape.atoms & (TRUE | FALSE) == TRUE | FALSE else []
        names += [text.decode() for bit, text in _ATOMS if shape.atoms & bit and not (names and bit != NULL)]
        scalars: list[StringPiece | NumberPiece] = [*shape.strings, *shape.numbers]
        for piece in scalars:
            parts.append(piece.expr(context))
            names.append(piece.words())
        expr = b.union(*parts)
        if expr == b.never:
            return None
        expr = self.layout.after(expr, last)
        symbol = self._scalars.get(expr)
        if symbol is None:
            symbol = self._scalars[expr] = b.lexeme(expr, " or ".join(dict.fromkeys(names)), where=where)
        else:
            info = b.lexemes[symbol >> 1]
            info.where = where if info.where == where else None
        return symbol

    # --- arrays -----------------------------------------------------------------------------------------------------------

    def _array(self, left: Symbol, piece: ArrayPiece, last: bool) -> None:
        b, layout = self.builder, self.layout
        close = layout.close("]", last)
        shortest, longest = piece.shortest, piece.longest
        heads: list[Symbol] = []
        for position in range(min(piece.prefix_length(), UNBOUNDED if longest is None else longest)):
            symbol = self.symbol(piece.goal(position))
            if symbol is None:
                longest = position
                break
            heads.append(symbol)
        n = len(heads)
        rest = None
        if longest is None or longest > n:
            rest = self.symbol(piece.goal(n))
            longest = n if rest is None else longest
        if longest is not None and shortest > longest:
            return
        if rest is None:
            tail = [close]
        else:
            more = None if longest is None else longest - n
            if n == 0:
                tail = [b.list_of(rest, layout.comma, shortest, more, "items"), close]
            else:
                items = b.list_of(rest, layout.comma, max(shortest - n, 1), more, "items")
                tail = [layout.comma, items, close]
                if shortest <= n:
                    tail = [self._choice("items", tail, [close])]
        for position in reversed(range(n)):
            tail = [heads[position], *tail] if position == 0 else [layout.comma, heads[position], *tail]
            if position >= shortest:
                tail = [self._choice("items", tail, [close])]
        b.rule(left, [layout.open_array, *tail])

    def _choice(self, name: str, *ways: list[Symbol]) -> Symbol:
        symbol = self.builder.nonterminal(name)
        for way in ways:
            self.builder.rule(symbol, way)
        return symbol


class _ObjectRules:
    """Writes the rules of one object piece."""

    def __init__(self, emitter: Emitter, piece: ObjectPiece, where: str | None, last: bool):
        self.emitter = emitter
        self.context = emitter.context
        self.builder = emitter.builder
        self.piece = piece
        self.where = where
        self.comma = emitter.layout.comma
        self.close = emitter.layout.close("}", last)
        self.members: list[tuple[Symbol, Symbol, bool]] = []  # key, value, required
        self.others: list[tuple[Symbol, Symbol]] = []  # key, value
        self._states: dict[tuple[int, int, int | None, bool], Symbol] = {}
        self._pending: list[tuple[int, int, int | None, bool]] = []
        self._runs: dict[tuple[Symbol, ...], Symbol] = {}
        self._other: Symbol | None = None

    def write(self, left: Symbol) -> None:
        """Write rules for `left`; none if no object is admitted."""
        piece = self.piece
        names = piece.names()
        if not self._find_members(names):
            return
        self._find_others(names)
        n_required = sum(required for _, _, required in self.members)
        fewest = piece.fewest if piece.fewest > n_required else 0
        most = piece.most
        if most is not None and not self.others and most >= len(self.members):
            most = None
        if fewest > len(self.members) and not self.others:
            return
        if self.others and piece.fewest - n_required > 1:
            reason = "two members of any name would count, and no grammar of sensible size can tell whether their names are equal"
            error = UnsupportedSchemaError(reason, pointer=self.where or "", keyword="minProperties")
            self.context.relax_error(error, self.where or "", "minProperties")
        n_optional = len(self.members) - n_required
        counts = min(len(self.members) + 1, max(fewest, most or 0) + 1) if fewest or most is not None else 1
        if n_optional * counts > _MAX_COUNTED_STATES:
            raise UnsupportedSchemaError(
                f"counting the members of an object of {len(self.members)} properties takes too many rules",
                pointer=self.where or "",
                keyword="minProperties" if fewest else "maxProperties",
            )
        start = self._follow(0, fewest, most, True)
        if start is not None:
            self.builder.rule(left, [self.emitter.layout.open_object, *start])
        while self._pending:
            self._write_state(self._pending.pop())

    # --- keys -------------------------------------------------------------------------------------------------------------

    def _find_members(self, names: list[str]) -> bool:
        required = frozenset(self.piece.required)
        layout = self.emitter.layout
        for name in names:
            goal = self.piece.goal(name, self.context)
            value = None if goal is NEVER else self.emitter.symbol(goal)
            if value is not None:
                expr = layout.key(self.context.quoted_values((name,)))
                key = self.builder.lexeme(expr, f'key "{name}"', where=goal[0].pointer if goal else self.where)
                self.members.append((key, value, name in required))
            elif name in required:
                return False
        return True

    def _find_others(self, names: list[str]) -> None:
        b, layout = self.builder, self.emitter.layout
        for keys, goal in self._key_classes():
            value = None if goal is NEVER else self.emitter.symbol(goal)
            if value is None:
                continue
            if names:
                keys = b.intersect(keys, b.complement(self.context.listed(names)))
            expr = layout.key(self.context.quoted(keys))
            key = b.lexeme(expr, "other key" if names else "key", where=goal[0].pointer if goal else None)
            self.others.append((key, value))
            self.emitter.has_other_keys = True

    def _key_classes(self) -> list[tuple[Expr, Goal]]:
        """Disjoint sets of key texts that cover all texts, with the goal of each; named keys are not taken out."""
        b = self.builder
        layers = self.piece.layers
        patterns = list(dict.fromkeys(keys for layer in layers for keys, _ in layer.classes))
        cells: list[tuple[Expr, frozenset[Expr]]] = [(b.text, frozenset())]
        for keys in patterns:
            split = []
            for cell, inside in cells:
                common = keys if cell == b.text else b.intersect(cell, keys)
                if len(patterns) > 1 and self.context.is_empty(common):
                    split.append((cell, inside))
                else:
                    split.append((common, inside | {keys}))
                    split.append((b.intersect(cell, b.complement(keys)), inside))
            cells = split
            if len(cells) > _MAX_KEY_CLASSES:
                raise UnsupportedSchemaError(
                    f"{len(patterns)} patterns that overlap in too many ways", pointer=self.where or "", keyword="patternProperties"
                )
        result = []
        for cell, inside in cells:
            goal = ANYTHING
            for layer in layers:
                asked = [wanted for keys, wanted in layer.classes if keys in inside]
                for wanted in asked or [layer.others]:
                    goal = both(goal, wanted)
            result.append((cell, goal))
        return result

    # --- states -----------------------------------------------------------------------------------------------------------

    def _follow(self, i: int, needed: int, allowed: int | None, first: bool) -> list[Symbol] | None:
        """What follows in a state: the required members that come next, and the state after them. None if nothing can."""
        symbols: list[Symbol] = []
        while i < len(self.members) and self.members[i][2]:
            if allowed == 0:
                return None
            key, value, _ = self.members[i]
            symbols += (key, value) if first else (self.comma, key, value)
            first = False
            i, needed, allowed = i + 1, max(needed - 1, 0), None if allowed is None else allowed - 1
        if i == len(self.members) and not self.others:
            return None if needed else [*symbols, self.close]
        state = (i, needed, allowed, first)
        if state not in self._states:
            self._states[state] = self.builder.nonterminal("members")
            self._pending.append(state)
        symbols.append(self._states[state])
        return symbols

    def _rule(self, left: Symbol, head: list[Symbol], tail: list[Symbol] | None) -> None:
        if tail is None:
            return
        if len(tail) > _LONG_RUN:
            run = tuple(tail)
            if run not in self._runs:
                self._runs[run] = self.builder.nonterminal("members")
                self.builder.rule(self._runs[run], run)
            tail = [self._runs[run]]
        self.builder.rule(left, head + tail)

    def _write_state(self, state: tuple[int, int, int | None, bool]) -> None:
        i, needed, allowed, first = state
        left = self._states[state]
        lead = [] if first else [self.comma]
        while i < len(self.members) and not self.members[i][2]:
            if allowed != 0:
                key, value, _ = self.members[i]
                after = self._follow(i + 1, max(needed - 1, 0), None if allowed is None else allowed - 1, False)
                self._rule(left, [*lead, key, value], after)
            i += 1
            if not first:
                break
        if i == state[0]:
            self._write_others(left, lead, needed, allowed)
        else:
            self._rule(left, [], self._follow(i, needed, allowed, first))

    def _write_others(self, left: Symbol, lead: list[Symbol], needed: int, allowed: int | None) -> None:
        if needed == 0:
            self.builder.rule(left, [self.close])
        if allowed == 0:
            return
        if needed == 0 and allowed is None:
            again = self._follow(len(self.members), 0, None, False)
            for key, value in self.others:
                self._rule(left, [*lead, key, value], again)
            return
        if self._other is None:
            self._other = self.emitter._choice("member", *([key, value] for key, value in self.others))
        members = self.builder.list_of(self._other, self.comma, max(needed, 1), allowed, "members")
        self.builder.rule(left, [*lead, members, self.close])
