"""The normal form of a schema: for each JSON type, the values that it admits.

Idea. Every instance has exactly one type, so a schema is a *product* over the types: which of null, true, false; a union of string
pieces; of number pieces; of array pieces; of object pieces. Intersection, union and negation act on each factor by itself. That makes
most combinations trivial: `oneOf` of a string and an object needs no proof, and the scalars of an `anyOf` flow into one lexeme.

Only one level is normalised. What lies inside arrays and objects are *goals*, tuples of places to be met, normalised when they are
reached. Recursion through `$ref` thereby stays recursion in the grammar.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..containers.arrays import ARRAYS, ArrayPiece
from ..containers.objects import OBJECTS, ObjectPiece
from ..scalars.numbers import NUMBERS, NumberPiece
from ..scalars.strings import STRINGS, StringPiece
from . import pieces

if TYPE_CHECKING:
    from ..context import Context

NULL, TRUE, FALSE = 1, 2, 4  # the bits of `Shape.atoms`
_CONDITIONS = 16  # so many alternatives and conditions take as long as a subschema


class Shape:
    """The values that a schema admits, by type.

    Attributes
    ----------
    atoms : int
        Bits for null, true, false.
    strings, numbers, arrays, objects : tuples of pieces
        Unions; empty where the type is not admitted.
    exact : bool
        False where `lenient` gave something up, so that the shape admits too much and has no negation.
    """

    __slots__ = ("_nested", "arrays", "atoms", "exact", "numbers", "objects", "strings")

    def __init__(
        self,
        atoms: int = 0,
        strings: tuple[StringPiece, ...] = (),
        numbers: tuple[NumberPiece, ...] = (),
        arrays: tuple[ArrayPiece, ...] = (),
        objects: tuple[ObjectPiece, ...] = (),
        exact: bool = True,
    ):
        self.atoms = atoms
        self.strings = strings
        self.numbers = numbers
        self.arrays = arrays
        self.objects = objects
        self.exact = exact
        self._nested: Shape | None = None

    @property
    def nested(self) -> Shape:
        """The arrays and objects alone; always the same shape, so that rules for it end where it comes back inside itself."""
        if self._nested is None:
            self._nested = Shape(arrays=self.arrays, objects=self.objects)
        return self._nested

    def is_void(self, context: Context) -> bool:
        """Whether nothing is admitted as far as that can be told (False: maybe something is)."""
        if self.atoms:
            return False
        factors: tuple[tuple[pieces.Piece, ...], ...] = (self.strings, self.numbers, self.arrays, self.objects)
        return all(piece.is_void(context) for factor in factors for piece in factor)

    def is_listed(self) -> bool:
        """Whether it consists of listed scalars."""
        listed: tuple[StringPiece | NumberPiece, ...] = (*self.strings, *self.numbers)
        return not self.arrays and not self.objects and all(piece.values is not None for piece in listed)

    def scalars(self) -> set[Any]:
        """The scalars that it lists, as far as they tell it from other shapes; some of them may not be admitted."""
        result: set[Any] = {("atom", bit) for bit in (NULL, TRUE, FALSE) if self.atoms & bit}
        result.update(text for piece in self.strings for text in piece.values or ())
        result.update(number for piece in self.numbers for number in piece.values or ())
        return result

    def replaced(self, factor: str, union: tuple[Any, ...], exact: bool) -> Shape:
        """The shape with one factor changed; it stays exact if `exact`."""
        new = Shape(self.atoms, self.strings, self.numbers, self.arrays, self.objects, self.exact and exact)
        setattr(new, factor, union)
        return new

    def inexact(self) -> Shape:
        """The same, marked as admitting too much."""
        return Shape(self.atoms, self.strings, self.numbers, self.arrays, self.objects, False)


ANY = Shape(NULL | TRUE | FALSE, (STRINGS,), (NUMBERS,), (ARRAYS,), (OBJECTS,))
NONE = Shape()


def meet(first: Shape, second: Shape, context: Context) -> Shape:
    """What both shapes admit."""
    if first is ANY:
        return second
    if second is ANY:
        return first
    return Shape(
        first.atoms & second.atoms,
        pieces.meet(first.strings, second.strings, STRINGS, context),
        pieces.meet(first.numbers, second.numbers, NUMBERS, context),
        pieces.meet(first.arrays, second.arrays, ARRAYS, context),
        pieces.meet(first.objects, second.objects, OBJECTS, context),
        first.exact and second.exact,
    )


def meet_all(parts: Sequence[tuple[str, Shape]], context: Context) -> Shape:
    """What all of the shapes admit; each is given with the pointer of the keyword or schema that asks for it."""
    parts = [part for part in parts if part[1] is not ANY]
    if len(parts) < 2:
        return parts[0][1] if parts else ANY
    pointers = [pointer for pointer, _ in parts]
    shapes = [shape for _, shape in parts]
    atoms = NULL | TRUE | FALSE
    for shape in shapes:
        atoms &= shape.atoms
    return Shape(
        atoms,
        pieces.meet_all([shape.strings for shape in shapes], pointers, STRINGS, context),
        pieces.meet_all([shape.numbers for shape in shapes], pointers, NUMBERS, context),
        pieces.meet_all([shape.arrays for shape in shapes], pointers, ARRAYS, context),
        pieces.meet_all([shape.objects for shape in shapes], pointers, OBJECTS, context),
        all(shape.exact for shape in shapes),
    )


def bulk(shape: Shape) -> int:
    """What a shape of many alternatives and conditions adds to the time that it takes to make, in subschemas; nothing for most."""
    n_conditions = len(shape.strings) + len(shape.numbers)
    for union in (shape.arrays, shape.objects):
        n_conditions += sum([1 + len(piece.layers) for piece in union])
    return n_conditions // _CONDITIONS


def join(shapes: Sequence[Shape]) -> Shape:
    """What any of the shapes admits."""
    if len(shapes) == 1:
        return shapes[0]
    atoms = 0
    for shape in shapes:
        atoms |= shape.atoms
    return Shape(
        atoms,
        _join_strings([shape.strings for shape in shapes]),
        _join_numbers([shape.numbers for shape in shapes]),
        pieces.join([shape.arrays for shape in shapes], ARRAYS),
        pieces.join([shape.objects for shape in shapes], OBJECTS),
        all(shape.exact for shape in shapes),
    )


def negate(shape: Shape, context: Context) -> Shape:
    """What a shape does not admit. The shape has to be exact."""
    return Shape(
        (NULL | TRUE | FALSE) & ~shape.atoms,
        pieces.negate(shape.strings, STRINGS, context),
        pieces.negate(shape.numbers, NUMBERS, context),
        pieces.negate(shape.arrays, ARRAYS, context),
        pieces.negate(shape.objects, OBJECTS, context),
    )


def _join_strings(unions: Sequence[tuple[StringPiece, ...]]) -> tuple[StringPiece, ...]:
    """The union; pieces that only list values become one."""
    joined = pieces.join(unions, STRINGS)
    if len(joined) < 2:
        return joined
    values: set[str] = set()
    rest = []
    for piece in joined:
        if piece.values is not None and not piece.texts:
            values |= piece.values
        else:
            rest.append(piece)
    return (*rest, StringPiece(values=frozenset(values))) if values else tuple(rest)


def _join_numbers(unions: Sequence[tuple[NumberPiece, ...]]) -> tuple[NumberPiece, ...]:
    """The union; pieces that only list values, to be written in the same way, become one."""
    joined = pieces.join(unions, NUMBERS)
    if sum(piece.values is not None for piece in joined) < 2:
        return joined
    listed: dict[bool | None, frozenset[Decimal]] = {}
    for piece in joined:
        if piece.values is not None:
            listed[piece.in_digits] = listed.get(piece.in_digits, frozenset()) | piece.values
    rest = tuple(piece for piece in joined if piece.values is None)
    return (*rest, *(NumberPiece(values=values, in_digits=in_digits) for in_digits, values in listed.items()))
