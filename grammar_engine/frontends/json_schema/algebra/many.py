"""Unions of many scalars, without comparing all pairs of pieces.

Idea. Lists of values, ranges and regular expressions have forms in which many of them are combined at once:

    values      counted in one dictionary
    ranges      cut at their ends, sorted; then counted from left to right
    multiples   what is outside of all that come before one, and of all that come after it
    texts       expressions: what is in any of them, and what is in two, from those of two halves

Pairs are never looked at, of which there are n**2. So many pieces are rare, and few are better left apart: what they list is then seen.

Invariant. The same set as by pairs; None where the pieces are not all of one kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ..scalars.decimals import Bound
from ..scalars.numbers import NUMBERS, NumberPiece
from ..scalars.strings import STRINGS, StringPiece

if TYPE_CHECKING:
    from ....ir import Expr
    from ..context import Context

MANY = 16  # unions, or pieces of one
MANY_PAIRS = 64  # pieces of two unions
_NON_STEPS = 4  # so many of them take as long as to compare two pieces

_INFINITY = Decimal("Infinity")
_Cut = tuple[Decimal, int]  # between numbers: (5, 0) is just before 5, (5, 1) just after it


class _Texts(NamedTuple):
    """The strings in any of some sets, and those in at least two of them."""

    any: Expr
    several: Expr


def in_one(unions: Sequence[tuple[Any, ...]], everything: Any, context: Context) -> tuple[Any, ...] | None:
    """The scalars that are in exactly one of several unions."""
    if everything == STRINGS:
        return _strings_in_one(unions, context)
    if everything != NUMBERS:
        return None
    pieces: list[NumberPiece] = [piece for union in unions for piece in union]
    spelt = {piece.in_digits for piece in pieces}
    if all(piece.values is not None for piece in pieces) and len(spelt) == 1:
        values = _once([value for piece in union for value in piece.values] for union in unions)
        return (NumberPiece(values=frozenset(values), in_digits=spelt.pop()),) if values else ()
    kinds = {piece._replace(low=None, high=None) for piece in pieces}
    if any(piece.values is not None for piece in pieces):
        return None
    if len(kinds) > 1:
        return _multiples_in_one(unions, context)
    return _between([_merged(map(_cuts, union)) for union in unions], 1, kinds.pop())


def outside(union: tuple[Any, ...], everything: Any) -> tuple[NumberPiece, ...] | None:
    """The numbers in none of many ranges."""
    if everything != NUMBERS or any(piece._replace(low=None, high=None) != NUMBERS for piece in union):
        return None
    return _between([_merged(map(_cuts, union))], 0, NUMBERS)


def as_one_text(union: tuple[Any, ...], context: Context) -> tuple[Any, ...]:
    """The same strings as one piece, where none are listed."""
    if len(union) < 2 or any(piece.values is not None or not context.can_be_joined(piece.texts) for piece in union):
        return union
    return (StringPiece(texts=frozenset((context.builder.union(*(piece.text(context) for piece in union)),))),)


# --- values and texts -------------------------------------------------------------------------------------------------------


def _once(lists: Iterable[Iterable[Any]]) -> list[Any]:
    """What is in exactly one of several lists."""
    return [value for value, n in Counter(value for values in lists for value in set(values)).items() if n == 1]


def _strings_in_one(unions: Sequence[tuple[StringPiece, ...]], context: Context) -> tuple[StringPiece, ...] | None:
    pieces = [piece for union in unions for piece in union]
    if all(piece.values is not None and not piece.texts for piece in pieces):
        values = _once([value for piece in union for value in piece.values or ()] for union in unions)
        return (StringPiece(values=frozenset(values)),) if values else ()
    if any(piece.values is not None or not context.can_be_joined(piece.texts) for piece in pieces):
        return None
    b = context.builder
    whole = _halved([b.union(*(piece.text(context) for piece in union)) for union in unions], context)
    if whole.several == b.never:
        return tuple(dict.fromkeys(pieces))
    return (StringPiece(texts=frozenset((whole.any, b.text_minus(whole.several)))),)


def _halved(texts: list[Expr], context: Context) -> _Texts:
    b = context.builder
    if len(texts) == 1:
        return _Texts(texts[0], b.never)
    first, second = _halved(texts[: len(texts) // 2], context), _halved(texts[len(texts) // 2 :], context)
    common = b.intersect(first.any, second.any)
    parts = [first.several, second.several] if context.is_empty(common) else [first.several, second.several, common]
    return _Texts(b.union(first.any, second.any), b.union(*parts))


# --- multiples --------------------------------------------------------------------------------------------------------------


def _multiples_in_one(unions: Sequence[tuple[NumberPiece, ...]], context: Context) -> tuple[NumberPiece, ...] | None:
    """The same where at most one piece is outside of each union: so it is with what is outside of all before one, and of all after it."""
    others: list[NumberPiece | None] = []
    for union in unions:
        negations = union[0].negations(context)
        if len(union) > 1 or len(negations) > 1:
            return None
        others.append(negations[0] if negations else None)  # nothing is outside of all numbers
    after: list[NumberPiece | None] = [NUMBERS]
    for piece in reversed(others):
        after.append(_common(after[-1], piece, context))
    before: NumberPiece | None = NUMBERS
    result = []
    for (piece,), other, later in zip(unions, others, reversed(after[:-1])):
        result.append(_common(_common(piece, before, context), later, context))
        before = _common(before, other, context)
    return tuple(dict.fromkeys(piece for piece in result if piece is not None))


def _common(first: NumberPiece | None, second: NumberPiece | None, context: Context) -> NumberPiece | None:
    if first is None or second is None:
        return None
    context.ledger.count_work(1 + (len(first.non_steps) + len(second.non_steps)) // _NON_STEPS)
    return first.meet(second)


# --- ranges -----------------------------------------------------------------------------------------------------------------


def _cuts(piece: NumberPiece) -> tuple[_Cut, _Cut]:
    """Where a range begins and ends."""
    low, high = piece.low, piece.high
    return (
        (low.value, int(low.open)) if low else (-_INFINITY, 0),
        (high.value, int(not high.open)) if high else (_INFINITY, 0),
    )


def _merged(ranges: Iterable[tuple[_Cut, _Cut]]) -> list[tuple[_Cut, _Cut]]:
    """Ranges in order, those that touch each other as one."""
    result: list[tuple[_Cut, _Cut]] = []
    for begin, end in sorted(ranges):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def _between(unions: list[list[tuple[_Cut, _Cut]]], times: int, kind: NumberPiece) -> tuple[NumberPiece, ...]:
    """The numbers of a kind that so many of the unions have."""
    changes: Counter[_Cut] = Counter({(-_INFINITY, 0): 0, (_INFINITY, 0): 0})
    for ranges in unions:
        for begin, end in ranges:
            changes[begin] += 1
            changes[end] -= 1
    found: list[tuple[_Cut, _Cut]] = []
    cuts = sorted(changes)
    n = 0
    for begin, end in pairwise(cuts):
        n += changes[begin]
        if n == times:
            found.append((begin, end))
    pieces = (_piece(begin, end, kind) for begin, end in _merged(found))
    return tuple(piece for piece in pieces if piece is not None)


def _piece(begin: _Cut, end: _Cut, kind: NumberPiece) -> NumberPiece | None:
    low = None if begin[0] == -_INFINITY else Bound(begin[0], bool(begin[1]))
    high = None if end[0] == _INFINITY else Bound(end[0], not end[1])
    above = kind.meet(NumberPiece(low=low))
    return above and above.meet(NumberPiece(high=high))
