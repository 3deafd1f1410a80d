"""An object as parameters in XML, which is how some models write the arguments of a tool call: `marks.py` has the styles.

Idea. The text is the members of one object, one after the other. A string is its characters as they are, without quotes and escapes. What
is in arrays and objects is JSON, or is written in marks, too. So the rules are those of objects and arrays, with other lexemes for keys
and scalars, and without brackets and commas (`objects.py`, `arrays.py`).

White space, as much as a gap may have, is insignificant around values and behind marks. The text `5` may be a string and a number: it is
read if either is admitted. Where a mark tells strings from other values (`string="false"`), a string is all that stands between the marks.

Invariant. No string that is written as it is has the text that ends its parameter. What is in a value waits in a queue, as in `emitter.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ....errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from ....ir import Expr, Symbol, Way
from ....report import Entry
from ..algebra.shape import FALSE, NULL, TRUE, Shape
from ..containers.arrays import ARRAYS, ArrayPiece
from ..containers.objects import ObjectLayer, ObjectPiece
from ..reading.places import ANYTHING, Goal
from ..scalars.strings import STRINGS, StringPiece
from .arrays import Form, write_items
from .marks import KINDS, STYLES, Spelling
from .objects import ObjectRules

if TYPE_CHECKING:
    from .emitter import Emitter
    from .other_keys import OtherKeys

_NAME = "[A-Za-z_][A-Za-z0-9_.-]*"  # of a key that the schema does not name
_IN_MARKS = '<>"'  # what no name has, if it is not written with entities


def write_parameters(emitter: Emitter, goal: Goal, style: str, special_tokens: Collection[str]) -> tuple[Symbol | None, frozenset[str]]:
    """The symbol for the objects that meet a goal, or None where it is known to admit no value at all;
    and the special tokens that it has.
    """
    shape = emitter.context.normaliser.shape(goal)
    where = goal[0].pointer if goal else ""
    if not shape.objects:
        if not (shape.atoms or shape.strings or shape.numbers or shape.arrays):
            return None, frozenset()
        raise SchemaError(f"style={style!r} writes objects, and the schema admits none", pointer=where)
    symbol = emitter.builder.nonterminal("object", where=where)
    spelling = Spelling(emitter.builder, STYLES[style], special_tokens)
    values = _Values(emitter, style, spelling)
    values.write(symbol, Shape(objects=shape.objects), where)
    values.run()
    return symbol, frozenset(spelling.named)


class _Group(NamedTuple):
    """Kinds of values before which the same mark stands."""

    mark: tuple[Symbol, ...]
    kinds: frozenset[str]
    is_exact: bool  # white space around a scalar is a part of it


class _Values:
    """The lexemes and symbols of one style."""

    def __init__(self, emitter: Emitter, style: str, spelling: Spelling):
        b = self.builder = emitter.builder
        marks = self.marks = STYLES[style]
        self.emitter, self.style, self.spelling = emitter, style, spelling
        gap = self.gap = emitter.layout.gap
        first, *others = map(spelling, marks.between)
        self.between = b.concat(first, *(part for other in others for part in (gap, other)))
        self.space = None if gap == b.empty else b.lexeme(b.minus(gap, b.empty), "white space")
        end = marks.end()
        self.any_text = b.text if spelling.has_token(end) else b.text_minus(b.concat(b.text, b.string(end), b.text))
        self.groups = self._groups()
        self.close: tuple[Symbol, ...] = ()  # behind a value, if that is the same for all; with white space before it
        self.close_behind_gap: tuple[Symbol, ...] = ()
        if not marks.behind_name:
            self.close = self.closing(marks.close)
            self.close_behind_gap = (b.lexeme(b.concat(gap, spelling(marks.close), gap), marks.close),)
        self.close_item = self.closing(f"{marks.close}item{marks.behind_name}") if marks.behind_name else ()
        self.open_item = b.lexeme(spelling(marks.item), marks.item) if marks.item else None
        self._symbols: dict[Shape, tuple[Symbol, ...]] = {}  # of a value and what ends it, and of what is in it; none if it is void
        self._items: dict[Symbol, Symbol] = {}  # by the symbol of the value
        self._nested: dict[Shape, Symbol] = {}  # arrays and objects in marks
        self._queue: deque[tuple[Symbol, Shape, str | None]] = deque()

    def _groups(self) -> list[_Group]:
        told = self.marks.kinds
        if not told:
            return [_Group((), frozenset(KINDS), self.marks.is_exact)]
        return [
            _Group(
                (self.builder.lexeme(self.spelling(mark), mark),),
                frozenset(kind for kind in KINDS if told[kind] == mark),
                mark == told["string"],
            )
            for mark in dict.fromkeys(told.values())
        ]

    def closing(self, mark: str) -> tuple[Symbol, ...]:
        """What stands behind a value, with its gap."""
        return (self.builder.lexeme(self.builder.concat(self.spelling(mark), self.gap), mark),)

    def key(self, name: Expr) -> Expr:
        return self.builder.concat(self.spelling(self.marks.open), name, self.between)

    def closing_key(self, name: str) -> tuple[Symbol, ...]:
        """What stands behind the value of a key, where the key stands there again: as before the value, in letters."""
        b, before, behind = self.builder, self.marks.close, self.marks.behind_name
        expr = b.concat(self.spelling(before), b.string(name), self.spelling(behind), self.gap)
        return (b.lexeme(expr, f"{before}{name}{behind}"),)

    def run(self) -> None:
        """Write the rules of all arrays and objects that were asked for."""
        while self._queue:
            self.write(*self._queue.popleft())

    def write(self, left: Symbol, shape: Shape, where: str | None) -> None:
        """Write the rules of the arrays and objects of a shape, in marks."""
        for piece in shape.objects:
            rules = _ParameterRules(self, piece, where)
            try:
                rules.write(left)
            except (UnsupportedSchemaError, LimitExceededError) as error:
                self.emitter.relax(error, where)
                _ParameterRules(self, rules.relaxed(), where).write(left)
        for array in shape.arrays:
            try:
                self._write_array(left, array)
            except (UnsupportedSchemaError, LimitExceededError) as error:
                self.emitter.relax(error, where)
                self._write_array(left, ARRAYS)

    def _write_array(self, left: Symbol, piece: ArrayPiece) -> None:
        if compared := piece.unique or piece.repeated:
            reason = f"style={self.style!r} writes items in marks, and those are not compared"
            self.emitter.context.relax_or_refuse(compared, "uniqueItems", reason)
            piece = piece._replace(unique=None, repeated=None)
        write_items(self.emitter, left, piece, Form((), (), (), self._item))

    def _item(self, goal: Goal) -> Symbol | None:
        value = self.symbol(goal)
        if value is None:
            return None
        if value not in self._items:
            assert self.open_item is not None
            self._items[value] = self.builder.any_of("item", [(self.open_item, value, *self.close_item)])
        return self._items[value]

    # --- values -----------------------------------------------------------------------------------------------------------

    def symbol(self, goal: Goal) -> Symbol | None:
        """The symbol of a value and what ends it, or None where the goal is known to admit nothing."""
        shape, where = self.emitter.context.normaliser.shape(goal), goal[0].pointer if goal else None
        symbols = self._symbols.get(shape)
        if symbols is None:
            symbols = self._symbols[shape] = self._written(shape, where)
        for symbol in symbols:
            self.emitter.is_at(symbol, where)
        return symbols[0] if symbols else None

    def _written(self, shape: Shape, where: str | None) -> tuple[Symbol, ...]:
        ways: list[tuple[Symbol, ...]] = []
        inner: list[Symbol] = []
        for group in self.groups:
            part = _of_kinds(shape, group.kinds)
            text, scalar = self._scalars(part, group.is_exact, where)
            nested = self._nested_symbol(part.nested, where)
            if text is not None:
                ways.append((*group.mark, text, *self.close))
            for value, close in (scalar, self.close_behind_gap), (nested, self.close):  # what is nested ends with a gap
                if value is not None:
                    ways.append((*group.mark, value, *close))
                    if self.space is not None:
                        ways.append((*group.mark, self.space, value, *close))
            inner += [symbol for symbol in (text, scalar, nested) if symbol is not None]
        return (self.builder.any_of("value", ways, where=where), *inner) if ways else ()

    def _nested_symbol(self, shape: Shape, where: str | None) -> Symbol | None:
        """The symbol of arrays and objects, or None where there are none."""
        if not self.marks.item:
            return self.emitter.symbol_of(shape, where)
        if not (shape.arrays or shape.objects):
            return None
        symbol = self._nested.get(shape)
        if symbol is None:
            symbol = self._nested[shape] = self.builder.nonterminal("array" if not shape.objects else "object", where=where)
            self._queue.append((symbol, shape, where))
        return symbol

    def _scalars(self, shape: Shape, is_exact: bool, where: str | None) -> tuple[Symbol | None, Symbol | None]:
        """The lexemes of scalars that white space around them is a part of, and of others."""
        b = self.builder
        others, names = self.emitter.scalar_expr(Shape(shape.atoms, numbers=shape.numbers), where)
        if STRINGS in shape.strings:  # which all others are among
            return self._lexeme(self.any_text, ["text"], where), None
        texts = b.union(*(b.intersect(self.any_text, self._text(piece, where)) for piece in shape.strings))
        lexeme = self._lexeme(b.union(texts, others), names + [piece.words() for piece in shape.strings], where)
        return (lexeme, None) if is_exact else (None, lexeme)

    def _lexeme(self, expr: Expr, names: list[str], where: str | None) -> Symbol | None:
        return None if expr == self.builder.never else self.emitter.lexeme(expr, names, where)

    def _text(self, piece: StringPiece, where: str | None) -> Expr:
        end = self.marks.end()
        for value in piece.values or () if self.any_text != self.builder.text else ():
            if end in value:
                raise UnsupportedSchemaError(f"the string {value!r:.80} has {end} in it, which ends a parameter", pointer=where or "")
        return piece.text(self.emitter.context)


def _of_kinds(shape: Shape, kinds: Collection[str]) -> Shape:
    """The values of a shape that are of some kinds; the shape itself, if those are all."""
    if len(kinds) == len(KINDS):
        return shape
    atoms = (NULL if "null" in kinds else 0) | (TRUE | FALSE if "boolean" in kinds else 0)
    return Shape(
        shape.atoms & atoms,
        shape.strings if "string" in kinds else (),
        shape.numbers if "number" in kinds else (),
        shape.arrays if "array" in kinds else (),
        shape.objects if "object" in kinds else (),
    )


class _ParameterRules(ObjectRules):
    """Writes the rules of one object piece, as parameters."""

    def __init__(self, values: _Values, piece: ObjectPiece, where: str | None):
        super().__init__(values.emitter, piece, where, last=False)
        self.values, self.marks = values, values.marks
        self.closes: dict[Symbol, tuple[Symbol, ...]] = {}  # by key: what stands behind its value, if the name does
        self.separator = None

    def again(self, piece: ObjectPiece) -> _ParameterRules:
        return _ParameterRules(self.values, piece, self.where)

    def relaxed(self) -> ObjectPiece:
        """What is written instead of a piece that is given up: any object. It has the same names, as other keys are not all written."""
        return ObjectPiece((ObjectLayer({name: ANYTHING for name in self.names if self._can_stand(name)}),))

    def around(self, *members: Symbol) -> tuple[Symbol, ...]:
        return members

    def value(self, goal: Goal) -> Symbol | None:
        return self.values.symbol(goal)

    def ways(self, ways: list[Way]) -> list[Way]:
        if not self.marks.behind_name:
            return ways
        return [way._replace(symbols=(*way.symbols, *self.closes[way.symbols[0]])) for way in ways]

    def _can_stand(self, name: str) -> bool:
        """Whether a key can stand in a mark. (Where it stands behind the value, too, a mark with `/` before it is that one.)"""
        signs = "" if self.marks.has_entities else _IN_MARKS
        is_closing = self.marks.behind_name != "" and name.startswith("/")
        return not is_closing and not any(sign in signs or ord(sign) < 32 for sign in name)

    def key(self, name: str, goal: Goal) -> Symbol:
        if not self._can_stand(name) and self.value(goal) is not None:  # else it never comes
            pointer = goal[0].pointer if goal else self.where
            raise UnsupportedSchemaError(f"the key {name!r:.80} cannot stand in a mark", pointer=pointer or "")
        symbol = super().key(name, goal)
        if self.marks.behind_name:
            self.closes[symbol] = self.values.closing_key(name)
        return symbol

    def key_expr(self, name: str) -> Expr:
        return self.values.key(self.builder.string(self.marks.name(name)))

    def other_key_expr(self, keys: Expr) -> Expr:
        return self.values.key(self.builder.intersect(keys, self.builder.pattern(f"^{_NAME}$")))

    def other_keys(self, patterns: dict[Expr, list[Expr]]) -> list[OtherKeys]:
        found = super().other_keys(patterns)
        if not self.marks.behind_name:
            return found
        if not all(self.context.is_empty(keys) or self.context.is_void_goal(goal) for keys, goal, *_ in found):
            self._note_unwritten()
        return []

    def _write_any(self, left: Symbol) -> None:
        if not self.marks.behind_name:
            super()._write_any(left)
            return
        self._note_unwritten()
        self.builder.rule(left, ())

    def _note_unwritten(self) -> None:
        """A closing mark with a name that is not known when the grammar is made cannot be asked for."""
        what = f"style={self.values.style!r} writes no key that the schema does not name"
        self.context.report.notes.append(Entry("", "additionalProperties", what))

    def check_distinct(self) -> None:
        raise UnsupportedSchemaError(
            "in XML, keys that the schema does not name are not compared; "
            "say additionalProperties: false, or nothing of how many there are",
            pointer=self.where or "",
        )
