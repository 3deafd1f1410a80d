"""Where in a source a limit was reached: from what the core was at work on to the place that the front end noted for it.

Idea. The core tells the symbol whose lexeme or rule it worked on (`ge_err.symbol`), or the expression that it was making (`ge_err.expr`),
which is a part of some lexeme. Front ends note a place for each symbol. All of this is looked up when a limit was reached, and costs
nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import LimitExceededError
from ..ir import NO_SYMBOL, PARTS, Builder, Expr, Symbol, SymbolInfo, records_of

_OF_ALL = {"max_memory_bytes"}  # what uses it up is not what was worked on last
_NO_ORIGINS: dict[Symbol, str | None] = {}


def locate(
    error: Exception,
    symbol: Symbol,
    lexemes: Sequence[SymbolInfo],
    nonterminals: Sequence[SymbolInfo],
    origins: Mapping[Symbol, str | None] = _NO_ORIGINS,
) -> None:
    """Tell a `LimitExceededError` the place of the symbol that was worked on, and its name; where it is in several places, its origin."""
    if not isinstance(error, LimitExceededError) or error.limit in _OF_ALL or symbol == NO_SYMBOL:
        return
    infos = nonterminals if symbol & 1 else lexemes
    if symbol >> 1 < len(infos):
        info = infos[symbol >> 1]
        error.locate(info.where if info.where is not None else origins.get(symbol), info.name)


def lexeme_with(builder: Builder, expr: Expr) -> Symbol:
    """The first lexeme that `expr` is a part of, or `NO_SYMBOL`."""
    having = {expr}
    for i, (op, operands) in enumerate(records_of(builder.words)):
        if op in PARTS and not having.isdisjoint(operands[PARTS[op]]):
            having.add(i)
    return next((2 * i for i, whole in enumerate(builder.lexeme_records[::2]) if whole in having), NO_SYMBOL)
