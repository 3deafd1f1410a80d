r"""Repetitions of short texts become one lexeme each.

Idea. Rules may spell a text character by character: `string: "\"" char* "\""` with `char: /[^"\\]/ | "\\" /["\\n]/`. A token can then be
cut at each of its characters, and each cut is a row of the parser. As one lexeme `char*` is walked as the terminal that others would have
written, in states of the lexer that are kept.

What is joined: lists, and rules that repeat themselves at one end, whose items are single lexemes or short sequences of them, none longer
than `_LONGEST` characters; where nothing is ignored, also single lexemes of any length. Lexemes that end at their first match stay apart:
where the list is one, nothing would end them. Longer items stay apart, since `Matcher.explain` says more by their names than by that of the
list; so do items of strings only. Counted lists are joined only if nothing is ignored and no text has several numbers of items: else a
state of the lexer is a set of numbers, which may cost more than it saves.

Invariants. The sentences are the same. What is ignored may stand between the items within the new lexeme, as it may before and behind it.
No new lexeme is ever empty: an empty list is a rule of its own, so that a text without any lexeme stays one. Only for `lexing="exact"`: a
classic scanner cuts a list elsewhere than its items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...errors import LimitExceededError
from ...ir import LAZY, SKIP, Builder, Expr, Symbol

if TYPE_CHECKING:
    from collections.abc import Collection

_LONGEST = 16  # characters of an item
_MOST_PARTS = 32  # of an item: alternatives and symbols, with those of its rules
_DEEPEST = 8  # rules within rules of an item
_MAX_NAME = 80  # characters of the name of a group
GROUP = "group in "  # with this the names begin that `rules` gives to groups

Way = tuple[Symbol, ...]  # an alternative
Rules = dict[Symbol, list[Way]]
Repetitions = dict[Symbol, "Repetition"]


class Repetition(NamedTuple):
    """`minimum` to `maximum` times `item` (None: without bound)."""

    item: Symbol
    minimum: int
    maximum: int | None


class Lengths(Protocol):
    """What this asks of the core."""

    def lengths(self, expr: Expr) -> tuple[int, int]:
        """Bounds of how many characters the strings of an expression have."""

    def is_surely_empty(self, expr: Expr) -> bool:
        """Whether an expression has no string, as far as that is told soon."""

    def matches(self, expr: Expr, text: bytes) -> bool:
        """Whether `expr` contains `text`."""


def join(builder: Builder, rules: Rules, repetitions: Repetitions, texts: Collection[Symbol], questions: Lengths) -> None:
    """Make lexemes of what can be joined.

    Parameters
    ----------
    builder : Builder
        Has all lexemes, and those that are ignored.
    rules, repetitions : dict
        By their left-hand sides. A left-hand side that is joined has rules afterwards, for its new lexeme, and is no repetition.
    texts : collection of Symbol
        The lexemes that are not only written as strings.
    questions : Lengths
        About expressions of `builder`.
    """
    joiner = _Joiner(builder, rules, repetitions, texts, questions)
    if not joiner.has_candidates:
        return
    joined: Rules = {}
    for left, (item, minimum, maximum) in repetitions.items():
        joined[left] = joiner.join(left, rules.get(item) or [(item,)], minimum, maximum)
    for left, ways in rules.items():
        repeated = _repeated(left, ways)
        if repeated:
            joined[left] = joiner.join(left, *repeated, None)
    for left, ways in joined.items():
        if ways:
            rules[left] = ways
            repetitions.pop(left, None)


def _repeated(left: Symbol, ways: list[Way]) -> tuple[list[Way], int] | None:
    """The items and the minimum of a rule that repeats itself at one end: `left: item left | item`, `left: left item |`."""
    for end in (-1, 0):
        items = [way[:-1] if end else way[1:] for way in ways if way and way[end] == left]
        others = [way for way in ways if not way or way[end] != left]
        if items and (others == [()] or set(others) == set(items)):
            return items, int(others != [()])
    return None


def is_counted_one_way(builder: Builder, item: Expr, questions: Lengths) -> bool:
    """Whether no text has two numbers of items: all are of one length, or none is empty or the beginning of another one.
    False also where that is not told soon.
    """
    least, most = questions.lengths(item)
    if least in (0, most):
        return most == least
    return questions.is_surely_empty(builder.intersect(item, builder.concat(item, builder.char, builder.text)))


class _Joiner:
    def __init__(self, builder: Builder, rules: Rules, repetitions: Repetitions, texts: Collection[Symbol], questions: Lengths) -> None:
        self._builder = builder
        self._rules = rules
        self._repetitions = repetitions
        self._texts = frozenset(texts)
        self._questions = questions
        records = builder.lexeme_records
        self._long = {symbol for symbol in texts if self._length(symbol, records[symbol])[1] > _LONGEST}
        self._flat: dict[Symbol, bool] = {}  # nonterminals without recursion, and without lexemes that are long
        self._skips = [records[i] for i in range(0, len(records), 2) if records[i + 1] & SKIP]
        self.has_candidates = bool(texts) if not self._skips else len(self._long) < len(texts)

    def join(self, left: Symbol, items: list[Way], minimum: int, maximum: int | None) -> list[Way]:
        """Rules with a new lexeme for `left`, which is so many of some items; none if it is to stay as it is."""
        builder = self._builder
        is_flat = all(self._is_flat(symbol, 1) for way in items for symbol in way)
        is_plain = not self._skips and all(len(way) == 1 and not way[0] & 1 for way in items)
        if not (is_flat or is_plain):
            return []
        lexemes = self._lexemes_of(items)
        if lexemes.isdisjoint(self._texts) or any(builder.lexeme_records[symbol + 1] & LAZY for symbol in lexemes):
            return []
        least, most = self._length(left, self._expr(items, builder.empty))
        if not 1 <= least <= most or not (is_plain or most <= _LONGEST):
            return []
        if (minimum > 1 or maximum is not None) and (self._skips or not self._is_counted_one_way(left, items)):
            return []
        info = builder.nonterminals[left >> 1]
        name = self._spelt(items, minimum, maximum) if info.name.startswith(GROUP) else info.name
        gap = builder.repeat(builder.union(*self._skips), 0, None) if self._skips else builder.empty  # between two lexemes
        expr = self._repeat(self._expr(items, gap), max(minimum, 1), maximum, gap)
        lexeme = builder.lexeme(expr, name, where=info.where)
        return [(lexeme,)] if minimum else [(lexeme,), ()]

    def _is_counted_one_way(self, left: Symbol, items: list[Way]) -> bool:
        try:
            return is_counted_one_way(self._builder, self._expr(items, self._builder.empty), self._questions)
        except LimitExceededError as error:
            info = self._builder.nonterminals[left >> 1]
            error.locate(info.where, info.name)
            raise

    def _spelt(self, items: list[Way], minimum: int, maximum: int | None) -> str:
        """The name of a list of a group."""
        operator = f"~{minimum}..{maximum}" if maximum is not None else "+" if minimum else "*"
        group = self._spelt_group(items)
        return (group if len(group) <= _MAX_NAME else group[: _MAX_NAME - 4] + "...)") + operator

    def _spelt_group(self, items: list[Way]) -> str:
        return f"({' | '.join(' '.join(map(self._name_of, way)) for way in items)})"

    def _name_of(self, symbol: Symbol) -> str:
        name = (self._builder.nonterminals if symbol & 1 else self._builder.lexemes)[symbol >> 1].name
        if not name.startswith(GROUP):
            return name
        if symbol in self._rules:
            return self._spelt_group(self._rules[symbol])
        item, number, _ = self._repetitions[symbol]
        return f"{self._name_of(item)}~{number}"

    def _length(self, symbol: Symbol, expr: Expr) -> tuple[int, int]:
        """Bounds of the characters in `expr`, a part of what `symbol` stands for."""
        try:
            return self._questions.lengths(expr)
        except LimitExceededError as error:
            info = (self._builder.nonterminals if symbol & 1 else self._builder.lexemes)[symbol >> 1]
            error.locate(info.where, info.name)
            raise

    def _is_flat(self, symbol: Symbol, depth: int) -> bool:
        """Whether a symbol is a short lexeme, or a nonterminal without
        recursion and of few levels, of such and of fixed numbers of them.
        """
        if not symbol & 1:
            return symbol not in self._long
        known = self._flat.get(symbol)
        if known is None:
            self._flat[symbol] = False  # for those in its rules, and so for itself
            repetition = self._repetitions.get(symbol)
            if depth >= _DEEPEST or (repetition and repetition.minimum != repetition.maximum):
                return False
            if not repetition and symbol not in self._rules:  # it stands for a part of another kind
                return False
            ways = [(repetition.item,)] if repetition else self._rules[symbol]
            known = self._flat[symbol] = all(self._is_flat(part, depth + 1) for way in ways for part in way)
        return known

    def _lexemes_of(self, items: list[Way]) -> set[Symbol]:
        """Those that flat items consist of; none if there are too many parts."""
        found: set[Symbol] = set()
        todo, n_parts = [*items], 0
        while todo:
            n_parts += 1
            for symbol in todo.pop():
                n_parts += 1
                if not symbol & 1:
                    found.add(symbol)
                elif symbol in self._repetitions:
                    todo.append((self._repetitions[symbol].item,))
                else:
                    todo += self._rules[symbol]
            if n_parts > _MOST_PARTS:
                return set()
        return found

    def _expr(self, items: list[Way], gap: Expr) -> Expr:
        """The texts of items, flat, with `gap` between lexemes."""
        builder = self._builder
        ways = []
        for way in items:
            parts = []
            for symbol in way:
                parts += [gap, self._expr_of(symbol, gap)]
            ways.append(builder.concat(*parts[1:]))
        return builder.union(*ways)

    def _expr_of(self, symbol: Symbol, gap: Expr) -> Expr:
        builder = self._builder
        if not symbol & 1:
            return builder.lexeme_records[symbol]
        if symbol not in self._repetitions:
            return self._expr(self._rules[symbol], gap)
        item, number, _ = self._repetitions[symbol]  # a fixed one
        return self._repeat(self._expr_of(item, gap), number, number, gap)

    def _repeat(self, item: Expr, minimum: int, maximum: int | None, gap: Expr) -> Expr:
        """`item` from `minimum`, at least once, to `maximum` times, with `gap` between."""
        builder = self._builder
        more = builder.repeat(builder.concat(gap, item), minimum - 1, None if maximum is None else maximum - 1)
        return builder.concat(item, more)
