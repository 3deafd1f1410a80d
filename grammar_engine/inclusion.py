"""A compiled grammar as a part of another.

Idea. What a front end has made is records, each of which refers to earlier ones. They are made again in another builder, with its ids:
equal expressions and lexemes become one there, also those of several parts.

What is skipped between the lexemes of the part is not skipped around it. So there these
lexemes get it as a part of their own: `skip? L` for the first, and `L skip?` for all.

Invariant. The sentences of the symbol are those of the grammar.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .errors import GrammarError
from .ir import (
    LAZY,
    LIST_WORDS,
    NO_SYMBOL,
    OP_BYTE_SET,
    OP_BYTES,
    OP_LITERALS,
    REPEATED,
    SKIP,
    UNIQUE,
    Builder,
    Symbol,
    SymbolInfo,
    records_of,
)
from .tags import BEGINS, Token

if TYPE_CHECKING:
    from .portable import Records


class Part(NamedTuple):
    """A compiled grammar, as far as its sentences go."""

    records: Records
    lexemes: Sequence[SymbolInfo]
    nonterminals: Sequence[SymbolInfo]
    named: frozenset[str | int]  # special tokens


def include(builder: Builder, part: Part, places: Mapping[Symbol, Symbol] | None = None, place: str = "") -> Symbol:
    """A symbol of `builder` for the sentences of a grammar. Costs 1 us for each record.

    Parameters
    ----------
    builder : Builder
    part : Part
    places : mapping of Symbol to Symbol, optional
        Of nonterminals of the part, which have no rules, to what stands for them.
        What the part skips is skipped before and behind that, not in it.
    place : str, optional
        Where the part stands in a larger source: goes before the places of its symbols.
        Then equal lexemes of several parts that have a place stay several.

    Raises
    ------
    GrammarError
        The grammar has `lexing="longest"`, by which a lexeme depends on what else
        may come, or (if its bytes were forged) a lexeme of a rule is skipped.
    """
    if part.records.longest:
        raise GrammarError('a grammar with lexing="longest" cannot be a part of another')
    if place:
        part = part._replace(lexemes=_within(place, part.lexemes), nonterminals=_within(place, part.nonterminals))
    return _Inclusion(builder, part, places or {}).symbol(part.records.start)


def _within(place: str, symbols: Sequence[SymbolInfo]) -> list[SymbolInfo]:
    return [info if info.where is None else info._replace(where=place + info.where) for info in symbols]


def check_texts(part: Part, named: Collection[str | int], what: str) -> None:
    """Raise GrammarError if special tokens are named, and a text of the part has the byte with which their spellings begin. (Sets of bytes
    are lexemes in the grammars of token automata; elsewhere they stand beside what says that the text is UTF-8.)
    """
    data, own = part.records.data, {Token(key).spelling for key in part.named}
    lexemes = {*part.records.lexemes[::2]}
    for expr, (op, operands) in enumerate(records_of(part.records.words)) if named else ():
        for at, length in zip(operands[::2], operands[1::2]) if op in (OP_BYTES, OP_LITERALS) else ():
            text = data[at : at + length]
            if BEGINS in text and text not in own:
                raise _refused(what)
        if op == OP_BYTE_SET and expr in lexemes and operands[BEGINS[0] >> 5] >> (BEGINS[0] & 31) & 1:
            raise _refused(what)


def _refused(what: str) -> GrammarError:
    return GrammarError(f"special tokens are named, and a text in {what} has the byte FF, which is in no UTF-8")


class _Inclusion:
    def __init__(self, builder: Builder, part: Part, places: Mapping[Symbol, Symbol]):
        self.builder = builder
        exprs, records = builder.again(part.records.words, part.records.data), part.records.lexemes
        rows = [(exprs[records[2 * i]], records[2 * i + 1], *info) for i, info in enumerate(part.lexemes)]
        skips = [row for row in rows if row[1] & SKIP]
        self.skip = None
        if skips:
            expr = builder.repeat(builder.union(*(row[0] for row in skips)), 1, None)
            self.skip = builder.lexeme(expr, skips[0][2], where=skips[0][3])
        self.lexemes = [NO_SYMBOL if row[1] & SKIP else self.lexeme(*row) for row in rows]  # rules have none that is skipped
        self.nonterminals = [
            self.skipping(places[2 * i + 1], *info) if 2 * i + 1 in places else builder.nonterminal(info.name, where=info.where)
            for i, info in enumerate(part.nonterminals)
        ]
        self.rules(part.records.rules)
        self.lists(part.records.lists)
        self.bags(part.records.bags)

    def lexeme(self, expr: int, flags: int, name: str, where: str | None) -> Symbol:
        marks = {"lazy": bool(flags & LAZY), "unique": bool(flags & UNIQUE), "repeated": bool(flags & REPEATED)}
        return self.skipping(self.builder.lexeme(expr, name, where=where, **marks), name, where)

    def skipping(self, symbol: Symbol, name: str, where: str | None) -> Symbol:
        """A symbol with what is skipped behind it."""
        return symbol if self.skip is None else self.builder.any_of(name, [(symbol,), (symbol, self.skip)], where=where)

    def of(self, symbol: Symbol) -> Symbol:
        if symbol == NO_SYMBOL:  # of a list or bag without separator
            return symbol
        found = (self.nonterminals if symbol & 1 else self.lexemes)[symbol >> 1]
        if found == NO_SYMBOL:
            raise GrammarError("a lexeme that is skipped stands in a rule")
        return found

    def left(self, nonterminal: int) -> int:
        return self.nonterminals[nonterminal] >> 1

    def symbol(self, start: Symbol) -> Symbol:
        inner = self.of(start)
        return inner if self.skip is None else self.builder.any_of("text", [(inner,), (self.skip, inner)])

    def rules(self, records: Sequence[int]) -> None:
        words, to = iter(records), self.builder.rule_records
        for left in words:
            n = next(words)
            to += (self.left(left), n, *map(self.of, islice(words, n)))

    def lists(self, records: Sequence[int]) -> None:
        words, to = iter(records), self.builder.list_records
        for left in words:
            item, separator = islice(words, 2)
            to += (self.left(left), self.of(item), self.of(separator), *islice(words, LIST_WORDS - 3))

    def bags(self, records: Sequence[int]) -> None:
        words, to = iter(records), self.builder.bag_records
        for left in words:
            separator, is_ranked, n_slots, n_ways, n_choices = islice(words, 5)
            to += (self.left(left), self.of(separator), is_ranked, n_slots, n_ways, n_choices)
            for _ in range(n_slots):
                low, high, n_asked = islice(words, 3)
                to += (low, high, n_asked, *islice(words, n_asked))
            for _ in range(n_ways):
                is_distinct, rank, n_symbols, n_raised = islice(words, 4)
                to += (is_distinct, rank, n_symbols, n_raised, *map(self.of, islice(words, n_symbols)), *islice(words, n_raised))
            for _ in range(n_choices):
                slot, n_sets = islice(words, 2)
                to += (slot, n_sets)
                for _ in range(n_sets):
                    n_keys = next(words)
                    to += (n_keys, *islice(words, n_keys))
