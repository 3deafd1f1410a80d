"""An object as parameters in XML, which is how some models write the arguments of a tool call.

    qwen_xml      <parameter=city>Oslo</parameter>
    minimax_xml   <parameter name="city">Oslo</parameter>
    glm_xml       <arg_key>city</arg_key><arg_value>Oslo</arg_value>
    deepseek_xml  <*parameter name="city" string="true">Oslo</*parameter>, where * is DSML between fullwidth bars
    deepseek_v4_1_xml, where a space is behind them

Idea. The text is the members of one object, one after the other. A string is its characters as they are, without quotes and escapes; all
other values are JSON, and so is what is in them. So the rules are those of an object, with other lexemes for keys and scalars
(`objects.py`).

White space, as much as a gap may have, is insignificant around values and behind members. The text `5` may be a string and a number: it is
read if either is admitted. Where a mark tells strings from other values (`string="false"`), a string is all that stands between the marks.

Invariant. No string has the text that ends its parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from ....ir import Expr, Symbol
from ..algebra.shape import Shape
from ..containers.objects import OBJECTS
from ..reading.places import Goal
from ..scalars.strings import STRINGS, StringPiece
from .objects import ObjectRules

if TYPE_CHECKING:
    from ..containers.objects import ObjectPiece
    from .emitter import Emitter

_NAME = "[A-Za-z_][A-Za-z0-9_.-]*"  # of a key that the schema does not name
_IN_MARKS = '<>"'  # what no name has


class Marks(NamedTuple):
    """What stands before a name, between it and the value (parts, between which white space may stand), and behind the value.

    `kinds`: what is behind that before a string, and before another value, if the two are told apart.
    """

    open: str
    between: tuple[str, ...]
    close: str
    kinds: tuple[str, str] | None = None


def _dsml(space: str) -> Marks:
    tag = f"\uff5cDSML\uff5c{space}parameter"
    return Marks(f'<{tag} name="', ('" string="',), f"</{tag}>", ('true">', 'false">'))


STYLES = {
    "qwen_xml": Marks("<parameter=", (">",), "</parameter>"),
    "minimax_xml": Marks('<parameter name="', ('">',), "</parameter>"),
    "glm_xml": Marks("<arg_key>", ("</arg_key>", "<arg_value>"), "</arg_value>"),
    "deepseek_xml": _dsml(""),
    "deepseek_v4_1_xml": _dsml(" "),
}


def write_parameters(emitter: Emitter, goal: Goal, style: str) -> Symbol | None:
    """The symbol for the objects that meet a goal, or None where it is known to admit no value at all."""
    shape = emitter.context.normaliser.shape(goal)
    where = goal[0].pointer if goal else ""
    if not shape.objects:
        if not (shape.atoms or shape.strings or shape.numbers or shape.arrays):
            return None
        raise SchemaError(f"style={style!r} writes objects, and the schema admits none", pointer=where)
    symbol = emitter.builder.nonterminal("object", where=where)
    values = _Values(emitter, STYLES[style])
    for piece in shape.objects:
        try:
            _ParameterRules(values, piece, where).write(symbol)
        except (UnsupportedSchemaError, LimitExceededError) as error:
            emitter.relax(error, where)
            _ParameterRules(values, OBJECTS, where).write(symbol)
    return symbol


class _Values:
    """The lexemes and symbols of one style."""

    def __init__(self, emitter: Emitter, marks: Marks):
        b = self.builder = emitter.builder
        self.emitter, self.marks = emitter, marks
        gap = emitter.layout.gap
        self.close = b.lexeme(b.concat(b.string(marks.close), gap), marks.close)
        self.close_behind_gap = b.lexeme(b.concat(gap, b.string(marks.close), gap), marks.close)
        first, *others = (b.string(part) for part in marks.between)
        self.between = b.concat(first, *(part for other in others for part in (gap, other)))
        self.gap = None if gap == b.empty else b.lexeme(b.minus(gap, b.empty), "white space")
        self.any_text = b.text_minus(b.concat(b.text, b.string(marks.close), b.text))
        self.is_told = marks.kinds is not None
        kinds = [b.lexeme(b.string(kind), kind) for kind in marks.kinds or ()]
        self.of_text, self.of_json = kinds[:1], kinds[1:]
        self.symbols: dict[Shape, tuple[Symbol, ...]] = {}  # of a value and what ends it, and of what is in it; none if it is void

    def key(self, name: Expr) -> Expr:
        return self.builder.concat(self.builder.string(self.marks.open), name, self.between)

    def symbol(self, goal: Goal) -> Symbol | None:
        """The symbol of a value and what ends it, or None where the goal is known to admit nothing."""
        shape, where = self.emitter.context.normaliser.shape(goal), goal[0].pointer if goal else None
        symbols = self.symbols.get(shape)
        if symbols is None:
            symbols = self.symbols[shape] = self._written(shape, where)
        for symbol in symbols:
            self.emitter.is_at(symbol, where)
        return symbols[0] if symbols else None

    def _written(self, shape: Shape, where: str | None) -> tuple[Symbol, ...]:
        text, scalar = self._scalars(shape, where)
        json = self.emitter.symbol_of(shape.nested, where)
        inner = [symbol for symbol in (text, scalar, json) if symbol is not None]
        if not inner:
            return ()
        symbol = self.builder.nonterminal("value", where=where)
        if text is not None:  # of any characters: white space is among them
            self.builder.rule(symbol, (*self.of_text, text, self.close))
        if scalar is not None:
            self._write(symbol, scalar, self.close_behind_gap)
        if json is not None:  # a bracket has its gap
            self._write(symbol, json, self.close)
        return symbol, *inner

    def _write(self, left: Symbol, value: Symbol, close: Symbol) -> None:
        self.builder.rule(left, (*self.of_json, value, close))
        if self.gap is not None:
            self.builder.rule(left, (*self.of_json, self.gap, value, close))

    def _scalars(self, shape: Shape, where: str | None) -> tuple[Symbol | None, Symbol | None]:
        """The lexemes of strings that white space around them is a part of, and of all other scalars."""
        b = self.builder
        others, names = self.emitter.scalar_expr(Shape(shape.atoms, numbers=shape.numbers), where)
        if STRINGS in shape.strings:
            texts, words = self.any_text, ["text"]
        else:
            texts = b.union(*(b.intersect(self.any_text, self._text(piece, where)) for piece in shape.strings))
            words = [piece.words() for piece in shape.strings]
        if self.is_told:
            return self._lexeme(texts, words, where), self._lexeme(others, names, where)
        if STRINGS in shape.strings:  # which all others are among
            return self._lexeme(texts, words, where), None
        return None, self._lexeme(b.union(texts, others), names + words, where)

    def _lexeme(self, expr: Expr, names: list[str], where: str | None) -> Symbol | None:
        return None if expr == self.builder.never else self.emitter.lexeme(expr, names, where)

    def _text(self, piece: StringPiece, where: str | None) -> Expr:
        for value in piece.values or ():
            if self.marks.close in value:
                raise UnsupportedSchemaError(
                    f"the string {value!r:.80} has {self.marks.close} in it, which ends a parameter", pointer=where or ""
                )
        return piece.text(self.emitter.context)


class _ParameterRules(ObjectRules):
    """Writes the rules of one object piece, as parameters."""

    def __init__(self, values: _Values, piece: ObjectPiece, where: str | None):
        super().__init__(values.emitter, piece, where, last=False)
        self.values = values
        self.separator = None

    def again(self, piece: ObjectPiece) -> _ParameterRules:
        return _ParameterRules(self.values, piece, self.where)

    def around(self, *members: Symbol) -> tuple[Symbol, ...]:
        return members

    def value(self, goal: Goal) -> Symbol | None:
        return self.values.symbol(goal)

    def key(self, name: str, goal: Goal) -> Symbol:
        if any(sign in _IN_MARKS or ord(sign) < 32 for sign in name) and self.value(goal) is not None:  # else it never comes
            pointer = goal[0].pointer if goal else self.where
            raise UnsupportedSchemaError(f"the key {name!r:.80} cannot stand in a mark", pointer=pointer or "")
        return super().key(name, goal)

    def key_expr(self, name: str) -> Expr:
        return self.values.key(self.builder.string(name))

    def other_key_expr(self, keys: Expr) -> Expr:
        return self.values.key(self.builder.intersect(keys, self.builder.pattern(f"^{_NAME}$")))

    def check_distinct(self) -> None:
        raise UnsupportedSchemaError(
            "in XML, keys that the schema does not name are not compared; "
            "say additionalProperties: false, or nothing of how many there are",
            pointer=self.where or "",
        )
