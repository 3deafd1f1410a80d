"""From shapes to rules: the last step of the front end.

Idea. Each shape becomes one symbol, made when it is first asked for; goals of one shape (a definition and the references to it, all plain
strings) share it, and so do shapes of the same parts (a definition or null, in many places). All scalars of a shape are *one* lexeme (null,
strings, numbers, listed values: a union of expressions); arrays and objects are rules. The symbol of a shape is known before its rules are
written, so a queue replaces recursion, and recursive schemas are cyclic rules.

Invariant. A rule is written only if all its symbols admit something as far as that is known here; the core prunes the rest.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ....errors import LimitExceededError, UnsupportedSchemaError
from ....ir import Expr, Symbol, SymbolInfo
from ..algebra.shape import FALSE, NULL, TRUE, Shape
from ..containers.arrays import ARRAYS
from ..containers.objects import OBJECTS
from ..context import Context
from ..reading.places import Goal
from ..scalars.numbers import NumberPiece
from ..scalars.strings import StringPiece
from .arrays import write_array
from .compared import ValueCounter
from .layout import Layout
from .objects import ObjectRules

_ATOMS = ((NULL, b"null"), (TRUE, b"true"), (FALSE, b"false"))


class Emitter:
    """Writes the rules for goals."""

    def __init__(self, context: Context, layout: Layout):
        self.context = context
        self.values = ValueCounter(context)
        self.builder = context.builder
        self.layout = layout
        self.has_other_keys = False  # whether some object admits keys that are not named
        self._symbols: dict[Shape, Symbol | None] = {}
        self._last_symbols: dict[Shape, Symbol | None] = {}  # where the text ends with them, if that matters
        self._alike: dict[tuple[Any, ...], Symbol] = {}  # of shapes with arrays or objects, by all that their rules depend on
        self._keys: dict[str, Expr] = {}
        self._scalars: dict[tuple[Any, ...], Symbol | None] = {}  # by what a shape says of them, and how they are written
        self._lexemes: dict[Expr, Symbol] = {}
        self._queue: deque[tuple[Symbol, Symbol | None, Shape, str | None, bool]] = deque()

    def symbol(self, goal: Goal, last: bool = False) -> Symbol | None:
        """The symbol of a goal, or None where it is known to admit nothing; `last` when the text ends with it."""
        return self.symbol_of(self.context.normaliser.shape(goal), goal[0].pointer if goal else None, last)

    def symbol_of(self, shape: Shape, where: str | None, last: bool = False) -> Symbol | None:
        """The symbol of a shape; `where` is the pointer of the schema that it comes from."""
        symbols = self._last_symbols if last and self.layout.is_bounded else self._symbols
        symbol = symbols.get(shape)
        if symbol is not None:
            self.is_at(symbol, where)
            return symbol
        if shape in symbols:
            return None
        symbol = scalar = self.scalar(shape, where, last)
        if shape.arrays or shape.objects:
            key = None
            if scalar is not None or len(shape.objects) != 1 or len(shape.objects[0].layers) > 1:  # else it is that of one schema
                key = (symbols is self._symbols, scalar, shape.arrays, *[piece.in_full for piece in shape.objects])
                known = self._alike.get(key)
                if known is not None:
                    self.is_at(known, where)
                    symbols[shape] = known
                    return known
            name = "value" if scalar is not None or (shape.arrays and shape.objects) else "array" if shape.arrays else "object"
            symbol = self.builder.nonterminal(name, where=where)
            if key is not None:
                self._alike[key] = symbol
            self._queue.append((symbol, scalar, shape, where, last))
        symbols[shape] = symbol
        return symbol

    def key(self, name: str) -> Expr:
        """A named key with its colon."""
        known = self._keys.get(name)
        if known is None:
            known = self._keys[name] = self.layout.key(self.context.quoted_value(name))
        return known

    def run(self) -> None:
        """Write the rules of all symbols that were asked for."""
        while self._queue:
            left, scalar, shape, where, last = self._queue.popleft()
            if scalar is not None:
                self.builder.rule(left, (scalar,))
            for array in shape.arrays:
                try:
                    write_array(self, left, array, last)
                except (UnsupportedSchemaError, LimitExceededError) as error:
                    self.relax(error, where)
                    write_array(self, left, ARRAYS, last)
            for piece in shape.objects:
                try:
                    ObjectRules(self, piece, where, last).write(left)
                except (UnsupportedSchemaError, LimitExceededError) as error:
                    self.relax(error, where)
                    ObjectRules(self, OBJECTS, where, last).write(left)

    def relax(self, error: UnsupportedSchemaError | LimitExceededError, where: str | None) -> None:
        """With `lenient=True`, record that a piece is given up, and return; otherwise raise the error."""
        if isinstance(error, UnsupportedSchemaError):
            self.context.relax_or_raise(error, error.pointer if error.keyword else where or "", error.keyword or "")
        else:
            self.context.relax_or_raise_limit(error, where or "")
            self.context.ledger.combining = ""

    # --- scalars ----------------------------------------------------------------------------------------------------------

    def scalar(self, shape: Shape, where: str | None, last: bool = False, is_normal: bool = False) -> Symbol | None:
        """The lexeme of the scalars of a shape, or None where there are none; `is_normal` to write no number in odd ways."""
        if not shape.atoms and not shape.strings and not shape.numbers:
            return None
        key = (shape.atoms, shape.strings, shape.numbers, last, is_normal)
        symbol = self._scalars.get(key)
        if symbol is not None:
            self.is_at(symbol, where)
        elif key not in self._scalars:
            symbol = self._scalars[key] = self._lexeme(shape, where, last, is_normal)
        return symbol

    def _lexeme(self, shape: Shape, where: str | None, last: bool, is_normal: bool) -> Symbol | None:
        try:
            return self._made(shape, where, last, is_normal)
        except LimitExceededError as error:
            error.locate(where)
            raise

    def _made(self, shape: Shape, where: str | None, last: bool, is_normal: bool) -> Symbol | None:
        b = self.builder
        expr, names = self.scalar_expr(shape, where, is_normal)
        if expr == b.never:
            return None
        return self.lexeme(self.layout.after(expr, last), names, where)

    def lexeme(self, expr: Expr, names: list[str], where: str | None) -> Symbol:
        """The lexeme of an expression, one for all places."""
        symbol = self._lexemes.get(expr)
        if symbol is None:
            symbol = self._lexemes[expr] = self.builder.lexeme(expr, " or ".join(dict.fromkeys(names)), where=where)
        else:
            self.is_at(symbol, where)
        return symbol

    def scalar_expr(self, shape: Shape, where: str | None, is_normal: bool = False) -> tuple[Expr, list[str]]:
        """The JSON texts of the scalars of a shape, and their names."""
        b, context = self.builder, self.context
        parts, names = [], []
        if shape.atoms:
            atoms = [(bit, text) for bit, text in _ATOMS if shape.atoms & bit]
            parts = [b.bytes(text) for _, text in atoms]
            names = ["boolean"] if shape.atoms & (TRUE | FALSE) == TRUE | FALSE else []
            names += [text.decode() for bit, text in atoms if not (names and bit != NULL)]
        scalars: list[StringPiece | NumberPiece] = [*shape.strings, *shape.numbers]
        for piece in scalars:
            parts.append(piece.expr(context, where or "", is_normal))
            names.append(piece.words())
        return b.union(*parts), names

    def is_at(self, symbol: Symbol, where: str | None) -> None:
        """Note that a symbol also stands for what is `where`: one of several places is none in particular."""
        known = self.builder.nonterminals if symbol & 1 else self.builder.lexemes
        info = known[symbol >> 1]
        if info.where is not None and info.where != where:
            self.builder.origins.setdefault(symbol, info.where)
            known[symbol >> 1] = SymbolInfo(info.name)
