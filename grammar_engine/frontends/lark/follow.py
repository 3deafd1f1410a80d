"""Which lexemes may swallow what must follow them, under `lexing="longest"`.

Idea. A classic scanner takes the longest match. After lexeme X the text can be stuck if *every* byte with which it could go on is taken
for a longer match instead: A: /a+/ followed by "a" can never be written. So for each X collect the first bytes of what may follow it (FIRST
and FOLLOW of the textbooks, as sets of bytes); if all of them, and those of the ignored lexemes, are bytes with which a match of X goes on
in some lexeme, and the text may not end after X, X is reported.

The verdict is on sets of bytes, not on texts: a grammar that is reported may still work, because the bytes that go on differ from one
match of X to another. One that is not reported can be stuck only in longer ways (the swallowed text itself leads nowhere).

Sets are the bits of an int. FIRST of a symbol is what it begins with itself and FIRST of the symbols with which its rules may begin; FOLLOW
of a symbol is what stands behind it and FOLLOW of the symbols whose rules may end with it. So both are a union over all that is reached in
a graph, which takes time in proportion to its edges (`_closure`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Protocol

from ...errors import LimitExceededError
from ...ir import LAZY, LIST_WORDS, NO_SYMBOL, SKIP, Builder, Expr, Symbol

_END = 1 << 256  # beside the bytes: the end of the text
_MOST_FOLLOWERS = 16  # of a lexeme that are named

_Bits = int
_Rules = list[tuple[Symbol, tuple[Symbol, ...]]]


class Expressions(Protocol):
    """What this needs of the core."""

    def matches(self, expr: Expr, text: bytes) -> bool:
        """Whether `expr` contains `text`."""

    def continuations(self, match: Expr, whole: Expr) -> _Bits:
        """The bytes that can follow a string of `match` inside a string of `whole`."""


def conflicts(builder: Builder, expressions: Expressions) -> Iterator[tuple[Symbol, Symbol]]:
    """Pairs of lexemes (X, Y): Y may follow X, and all that may follow X can be swallowed. The first few Y of each X."""
    records = builder.lexeme_records
    exprs = {2 * i: records[2 * i] for i in range(len(builder.lexemes))}
    skips = [symbol for symbol in exprs if records[symbol + 1] & SKIP]
    lazy = {symbol for symbol in exprs if records[symbol + 1] & LAZY}
    grammar = _Grammar(builder, {symbol for symbol, expr in exprs.items() if expressions.matches(expr, b"")})
    whole = builder.union(*exprs.values())

    def going_on(symbol: Symbol, match: Expr, inside: Expr) -> _Bits:
        try:
            return expressions.continuations(match, inside)
        except LimitExceededError as error:
            error.locate(builder.lexemes[symbol >> 1].where, builder.lexemes[symbol >> 1].name)
            raise

    firsts = {symbol: going_on(symbol, builder.empty, expr) for symbol, expr in exprs.items()}
    ignored = _union(firsts[symbol] for symbol in skips)
    follow = grammar.follow(firsts.__getitem__)
    followers: list[_Bits] = []  # by symbol: lexemes
    for lexeme, expr in exprs.items():
        needed = follow[lexeme]
        if needed & _END or lexeme in lazy or not needed:
            continue
        if (needed | ignored) & ~going_on(lexeme, expr, whole) == 0:
            followers = followers or grammar.follow(lambda symbol: 1 << (symbol >> 1))  # `_END` is not behind these lexemes
            yield from ((lexeme, 2 * i) for i in islice(_members(followers[lexeme]), _MOST_FOLLOWERS))


class _Grammar:
    """The rules of a builder, and which symbols may be empty."""

    def __init__(self, builder: Builder, nullable: set[Symbol]):
        self.start = builder.start
        self.n_lexemes = len(builder.lexemes)
        self.n_symbols = 2 * max(self.n_lexemes, len(builder.nonterminals))
        self.rules: _Rules = list(_rules(builder))
        self.nullable = _nullable(self.rules, nullable)

    def follow(self, bits_of: Callable[[Symbol], _Bits]) -> list[_Bits]:
        """By symbol: the bits of all lexemes that may follow it, and `_END` if the text may end there."""
        own = [0] * self.n_symbols
        for lexeme in range(0, 2 * self.n_lexemes, 2):
            own[lexeme] = bits_of(lexeme)
        begins: list[list[Symbol]] = [[] for _ in own]
        ends: list[list[Symbol]] = [[] for _ in own]
        for left, right in self.rules:
            for symbol in self._up_to_solid(right):
                begins[left].append(symbol)
            for symbol in self._up_to_solid(right[::-1]):
                ends[symbol].append(left)
        first = _closure(own, begins)
        behind = [0] * self.n_symbols
        behind[self.start] = _END
        for _, right in self.rules:
            bits = 0
            for symbol in reversed(right):
                behind[symbol] |= bits
                bits = first[symbol] | (bits if symbol in self.nullable else 0)
        return _closure(behind, ends)

    def _up_to_solid(self, symbols: tuple[Symbol, ...]) -> Iterator[Symbol]:
        """The symbols up to the first that cannot be empty, and that."""
        for symbol in symbols:
            yield symbol
            if symbol not in self.nullable:
                return


def _nullable(rules: _Rules, lexemes: set[Symbol]) -> set[Symbol]:
    """The symbols that may be empty; `lexemes` are those among the lexemes."""
    missing = [len(right) for _, right in rules]
    uses: dict[Symbol, list[int]] = {}
    for i, (_, right) in enumerate(rules):
        for symbol in right:
            uses.setdefault(symbol, []).append(i)
    found = {*lexemes, *(left for left, right in rules if not right)}
    todo = list(found)
    while todo:
        for i in uses.get(todo.pop(), ()):
            missing[i] -= 1
            left = rules[i][0]
            if missing[i] == 0 and left not in found:
                found.add(left)
                todo.append(left)
    return found


def _closure(own: list[_Bits], edges: list[list[Symbol]]) -> list[_Bits]:
    """For each node the bits of all nodes that it reaches, itself included:
    component by component, those that others lead to first (Gabow).
    """
    result = [0] * len(own)
    number, is_done = [0] * len(own), [False] * len(own)
    path: list[Symbol] = []  # nodes whose component is not known
    starts: list[Symbol] = []  # of those, where the components that may still be several begin
    for root in range(len(own)):
        work: list[tuple[Symbol, Iterator[Symbol]]] = []
        found: Symbol | None = None if number[root] else root
        while found is not None or work:
            if found is not None:
                number[found] = len(path) + 1
                path.append(found)
                starts.append(found)
                work.append((found, iter(edges[found])))
            node, ahead = work[-1]
            found = None
            for other in ahead:
                if not number[other]:
                    found = other
                    break
                while not is_done[other] and number[starts[-1]] > number[other]:
                    starts.pop()
            if found is not None:
                continue
            work.pop()
            if starts[-1] == node:
                starts.pop()
                at = number[node] - 1
                component = path[at:]
                del path[at:]
                bits = _union(own[member] | _union(result[other] for other in edges[member]) for member in component)
                for member in component:
                    result[member], is_done[member] = bits, True
    return result


def _union(sets: Iterator[_Bits]) -> _Bits:
    bits = 0
    for more in sets:
        bits |= more
    return bits


def _members(bits: _Bits) -> Iterator[int]:
    """The bits that are set, ascending."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def _rules(builder: Builder) -> Iterator[tuple[Symbol, tuple[Symbol, ...]]]:
    """The rules of the builder, lists written as recursion (bounds do not matter here, but for 0)."""
    records, at = builder.rule_records, 0
    while at < len(records):
        left, length = records[at], records[at + 1]
        yield 2 * left + 1, tuple(records[at + 2 : at + 2 + length])
        at += 2 + length
    for at in range(0, len(builder.list_records), LIST_WORDS):
        left, item, separator, minimum, maximum = builder.list_records[at : at + LIST_WORDS]
        symbol = 2 * left + 1
        if minimum == 0:
            yield symbol, ()
        if maximum >= 1:
            yield symbol, (item,)
        if maximum >= 2:
            yield symbol, (symbol, item) if separator == NO_SYMBOL else (symbol, separator, item)
