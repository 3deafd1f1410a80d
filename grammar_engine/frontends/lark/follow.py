"""Which lexemes may swallow what must follow them, under `lexing="longest"`.

Idea. A classic scanner takes the longest match. After lexeme X the text can be stuck if *every* byte with which it could go on is taken
for a longer match instead: A: /a+/ followed by "a" can never be written. So for each X collect what may follow it (the FOLLOW sets of
the textbooks, over lexemes); if all first bytes of that, and of the ignored lexemes, are bytes with which a match of X goes on in
some lexeme, and the text may not end after X, X is reported.

The verdict is on sets of bytes, not on texts: a grammar that is reported may still work, because the bytes that go on differ from one
match of X to another. One that is not reported can be stuck only in longer ways (the swallowed text itself leads nowhere).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ...ir import NO_SYMBOL, Builder, Expr, Symbol


class Expressions(Protocol):
    """What this needs of the core."""

    def matches(self, expr: Expr, text: bytes) -> bool:
        """Whether `expr` contains `text`."""

    def continuations(self, match: Expr, whole: Expr) -> frozenset[int]:
        """The bytes that can follow a string of `match` inside a string of `whole`."""


def conflicts(builder: Builder, expressions: Expressions) -> Iterator[tuple[Symbol, Symbol]]:
    """Pairs of lexemes (X, Y): Y may follow X, and all that may follow X can be swallowed."""
    records = builder.lexeme_records
    exprs = {2 * i: records[2 * i] for i in range(len(builder.lexemes))}
    skips = {symbol for symbol in exprs if records[symbol + 1] & 2}
    lazy = {symbol for symbol in exprs if records[symbol + 1] & 1}
    follow, last = _follow(builder, {symbol for symbol, expr in exprs.items() if expressions.matches(expr, b"")})
    whole = builder.union(*exprs.values())
    firsts = {symbol: expressions.continuations(builder.empty, expr) for symbol, expr in exprs.items()}
    ignored = frozenset().union(*(firsts[symbol] for symbol in skips))
    for lexeme, followers in sorted(follow.items()):
        if lexeme in last or lexeme in lazy or not followers:
            continue
        needed = ignored.union(*(firsts[symbol] for symbol in followers))
        if needed <= expressions.continuations(exprs[lexeme], whole):
            yield from ((lexeme, follower) for follower in sorted(followers))


def _follow(builder: Builder, nullable: set[Symbol]) -> tuple[dict[Symbol, set[Symbol]], set[Symbol]]:
    """The lexemes that may follow each lexeme, and the lexemes that may end a text. `nullable`: lexemes that may be empty."""
    rules = list(_rules(builder))
    nullable = set(nullable)
    first: dict[Symbol, set[Symbol]] = {2 * i: {2 * i} for i in range(len(builder.lexemes))}
    last: dict[Symbol, set[Symbol]] = {symbol: set(lexemes) for symbol, lexemes in first.items()}
    for i in range(len(builder.nonterminals)):
        first[2 * i + 1], last[2 * i + 1] = set(), set()
    follow: dict[Symbol, set[Symbol]] = {2 * i: set() for i in range(len(builder.lexemes))}
    changed = True
    while changed:
        before = len(nullable), sum(map(len, first.values())), sum(map(len, last.values())), sum(map(len, follow.values()))
        for left, right in rules:
            if all(symbol in nullable for symbol in right):
                nullable.add(left)
            ends: set[Symbol] = set()  # lexemes that may stand right before the symbol at hand
            at_start = True
            for symbol in right:
                for lexeme in ends:
                    follow[lexeme] |= first[symbol]
                if at_start:
                    first[left] |= first[symbol]
                skippable = symbol in nullable
                at_start = at_start and skippable
                ends = ends | last[symbol] if skippable else set(last[symbol])
            last[left] |= ends
        changed = before != (len(nullable), sum(map(len, first.values())), sum(map(len, last.values())), sum(map(len, follow.values())))
    return follow, last[builder.start]


def _rules(builder: Builder) -> Iterator[tuple[Symbol, tuple[Symbol, ...]]]:
    """The rules of the builder, lists written as recursion (bounds do not matter here, but for 0)."""
    records, at = builder.rule_records, 0
    while at < len(records):
        left, length = records[at], records[at + 1]
        yield 2 * left + 1, tuple(records[at + 2 : at + 2 + length])
        at += 2 + length
    for at in range(0, len(builder.list_records), 5):
        left, item, separator, minimum, maximum = builder.list_records[at : at + 5]
        symbol = 2 * left + 1
        if minimum == 0:
            yield symbol, ()
        if maximum >= 1:
            yield symbol, (item,)
        if maximum >= 2:
            yield symbol, (symbol, item) if separator == NO_SYMBOL else (symbol, separator, item)
