r"""Rules that are regular become one lexeme each.

Idea. GBNF has no terminals: strings, numbers and white space are spelt by rules for their characters. A token could be cut at each of
these, and each cut is a row of the parser. But most of such rules are regular: they are not recursive, or only at their end (`rest: "\\"" |
[^"] rest`), or only at their beginning. What these stand for is an expression, the solution of their equations, which the lexer walks
without any row.

    rest  =  [^"] rest  |  "\""         is         [^"]* "\""

Of all that is regular, what the other rules name becomes a lexeme, and what is regular side by side in these becomes one. Not what has no
set of characters in it: words and signs are lexemes already, by which `Matcher.explain` says more. Nor what may be in many states at once:
lists with bounds where a text may have several numbers of items, systems of many equations, long sequences. These stay rules, and so do
those that have them.

White space, with comments perhaps, is a lexeme by itself. Else there would be one with each word that it may stand behind.

Invariant. The sentences are the same.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from ...errors import LimitExceededError
from ..lark.repetitions import GROUP, Lengths, is_counted_one_way
from ..lark.repetitions import join as join_repetitions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from ...ir import Builder, Expr, Symbol
    from ..lark.repetitions import Repetitions, Rules, Way

_BLANK = (b" ", b"\n", b"\t", b"  ", b"\n\n", b"\r\n", b"\xe3\x80\x80")  # of what is white space one is a text, ...
_OTHER = (b"a", b"a\n", b"a ")  # ... and none of these
_MAX_NAME = 80  # characters of the name of a lexeme
_MOST_EQUATIONS = 3  # that are solved together: where a text may go on in several ways, a state of the lexer is a set of their parts
_MOST_PARTS = 150  # of an expression: symbols, counted again wherever they are used. Where many may be left out, states are sets of these


class Questions(Lengths, Protocol):
    """What this asks of the core."""

    def matches(self, expr: Expr, text: bytes) -> bool:
        """Whether an expression has a text."""


def join(builder: Builder, rules: Rules, repetitions: Repetitions, texts: Collection[Symbol], questions: Questions) -> None:
    """Make lexemes of rules that are regular, and then of repetitions of short texts among the others; as `repetitions.join`."""
    found = _Regular(builder, rules, repetitions, texts, questions)
    for symbols in _components(rules, repetitions):
        found.add(symbols)
    reached, todo = {builder.start}, [builder.start]
    while todo:
        symbol = todo.pop()
        if symbol in found.wanted:
            info = builder.nonterminals[symbol >> 1]
            name = info.name.replace(GROUP, "part of ", 1)  # what begins with that is no lexeme
            rules[symbol] = [(builder.lexeme(found.exprs[symbol], name, where=info.where),)]
            repetitions.pop(symbol, None)
        elif symbol in rules:
            rules[symbol] = [found.joined(symbol, way) for way in rules[symbol]]
        more = [part for part in _parts(symbol, rules, repetitions) if part & 1 and part not in reached]
        reached.update(more)
        todo += more
    for left in [left for left in rules if left not in reached]:
        del rules[left]
    for left in [left for left in repetitions if left not in reached]:
        del repetitions[left]
    join_repetitions(builder, rules, repetitions, texts, questions)


def _parts(symbol: Symbol, rules: Rules, repetitions: Repetitions) -> Iterator[Symbol]:
    """What the rules of a nonterminal name."""
    if symbol in repetitions:
        yield repetitions[symbol].item
    else:
        for way in rules[symbol]:
            yield from way


def _components(rules: Rules, repetitions: Repetitions) -> Iterator[list[Symbol]]:
    """Sets of nonterminals that name each other, those that are named
    before those that name them (Tarjan 1972, with a stack of its own).
    """
    numbers: dict[Symbol, int] = {}
    lowest: dict[Symbol, int] = {}
    path: list[Symbol] = []
    places: dict[Symbol, int] = {}  # in the path
    for root in (*rules, *repetitions):
        if root in numbers:
            continue
        stack = [(root, _parts(root, rules, repetitions))]
        while stack:
            symbol, parts = stack[-1]
            if symbol not in numbers:
                numbers[symbol] = lowest[symbol] = len(numbers)
                places[symbol] = len(path)
                path.append(symbol)
            for part in parts:
                if not part & 1:
                    continue
                if part not in numbers:
                    stack.append((part, _parts(part, rules, repetitions)))
                    break
                if part in places:
                    lowest[symbol] = min(lowest[symbol], numbers[part])
            else:
                stack.pop()
                if stack:
                    lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[symbol])
                if lowest[symbol] == numbers[symbol]:
                    found = path[places[symbol] :]
                    del path[places[symbol] :]
                    for part in found:
                        del places[part]
                    yield found


class _Regular:
    """Which nonterminals are regular.

    Attributes
    ----------
    exprs : dict
        Their expressions.
    wanted : set of Symbol
        Those of them that are better one lexeme.
    """

    def __init__(self, builder: Builder, rules: Rules, repetitions: Repetitions, texts: Collection[Symbol], questions: Questions) -> None:
        self.builder, self.rules, self.repetitions, self.questions = builder, rules, repetitions, questions
        self.exprs: dict[Symbol, Expr] = {}
        self.wanted: set[Symbol] = set()
        self._has_set = set(texts)  # symbols with a set of characters in them
        self._spaces: set[Symbol] = set()
        self._sizes: dict[Symbol, int] = {}

    def add(self, symbols: list[Symbol]) -> None:
        """Nonterminals that name each other; all others that they name have been added."""
        if len(symbols) == 1 and symbols[0] in self.repetitions:
            self._add_repetition(symbols[0])
        elif len(symbols) <= _MOST_EQUATIONS and not any(symbol in self.repetitions for symbol in symbols):
            self._add_rules(symbols)

    def joined(self, left: Symbol, way: Way) -> Way:
        """An alternative of a rule that stays one, in which all that is regular side by side is one lexeme."""
        found: list[Symbol] = []
        run: list[Symbol] = []
        for part in (*way, None):
            if part is not None and self._is_regular(part) and part not in self._spaces:
                run.append(part)
                continue
            if len(run) > 1 and not self._has_set.isdisjoint(run) and self._size(run) <= _MOST_PARTS:
                name = " ".join(map(self._name, run))
                name = name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 3] + "..."
                run = [self.builder.lexeme(self._sequence(tuple(run)), name, where=self.builder.nonterminals[left >> 1].where)]
            found += run if part is None else [*run, part]
            run = []
        return tuple(found)

    def _name(self, symbol: Symbol) -> str:
        return (self.builder.nonterminals if symbol & 1 else self.builder.lexemes)[symbol >> 1].name

    def _is_space(self, expr: Expr) -> bool:
        return any(self.questions.matches(expr, text) for text in _BLANK) and not any(self.questions.matches(expr, text) for text in _OTHER)

    def _is_regular(self, symbol: Symbol) -> bool:
        return not symbol & 1 or symbol in self.exprs

    def _expr(self, symbol: Symbol) -> Expr:
        return self.exprs[symbol] if symbol & 1 else self.builder.lexeme_records[symbol]

    def _size(self, parts: Iterable[Symbol]) -> int:
        return sum(1 + self._sizes.get(part, 1) for part in parts)

    def _keep(self, symbols: list[Symbol], parts: list[Symbol], solve: Callable[[], list[Expr]]) -> None:
        size = len(symbols) * self._size(parts)
        if size > _MOST_PARTS:
            return
        exprs = solve()
        spaces = [self._is_space(expr) for expr in exprs]
        if not all(spaces) and not self._spaces.isdisjoint(parts):
            return
        has_set = not self._has_set.isdisjoint(parts)
        for symbol, expr, is_space in zip(symbols, exprs, spaces):
            self.exprs[symbol], self._sizes[symbol] = expr, size
            if has_set:
                self._has_set.add(symbol)
            if is_space:
                self._spaces.add(symbol)
            if has_set or is_space:
                self.wanted.add(symbol)

    def _add_repetition(self, left: Symbol) -> None:
        item, minimum, maximum = self.repetitions[left]
        if not self._is_regular(item):
            return
        expr = self._expr(item)
        if (minimum > 1 or maximum is not None) and not self._is_counted_one_way(left, expr):
            return
        self._keep([left], [item], lambda: [self.builder.repeat(expr, minimum, maximum)])

    def _is_counted_one_way(self, symbol: Symbol, item: Expr) -> bool:
        try:
            return is_counted_one_way(self.builder, item, self.questions)
        except LimitExceededError as error:
            info = self.builder.nonterminals[symbol >> 1]
            error.locate(info.where, info.name)
            raise

    def _add_rules(self, symbols: list[Symbol]) -> None:
        own = set(symbols)
        ways = [way for symbol in symbols for way in self.rules[symbol]]
        parts = [part for way in ways for part in way if part not in own]
        if not all(map(self._is_regular, parts)):
            return
        for at_end in (True, False):
            if all(own.isdisjoint(way[:-1] if at_end else way[1:]) for way in ways):
                self._keep(symbols, parts, partial(self._solve, symbols, at_end))
                return

    def _solve(self, symbols: list[Symbol], at_end: bool) -> list[Expr]:
        """The expressions of equations in which the unknowns stand at the end of alternatives, or at the beginning (Arden 1961)."""
        builder, n = self.builder, len(symbols)
        numbers = {symbol: i for i, symbol in enumerate(symbols)}
        factors: list[list[list[Expr]]] = [[[] for _ in range(n + 1)] for _ in symbols]  # of the unknowns, and what has none
        for ways_of, symbol in zip(factors, symbols):
            for way in self.rules[symbol]:
                at = numbers.get(way[-1 if at_end else 0], n) if way else n
                ways_of[at].append(self._sequence(way if at == n else way[:-1] if at_end else way[1:]))
        rows = [[builder.union(*ways) for ways in ways_of] for ways_of in factors]

        def product(factor: Expr, rest: Expr) -> Expr:
            return builder.concat(factor, rest) if at_end else builder.concat(rest, factor)

        def add(row: list[Expr], at: int, other: list[Expr]) -> None:
            factor, row[at] = row[at], builder.never
            for i, expr in enumerate(other):
                row[i] = builder.union(row[i], product(factor, expr))

        for i, row in enumerate(rows):
            for k in range(i):
                add(row, k, rows[k])
            loop, row[i] = builder.repeat(row[i], 0, None), builder.never
            row[:] = [product(loop, expr) for expr in row]
        for i in reversed(range(n)):
            for k in range(i + 1, n):
                add(rows[i], k, rows[k])
        return [row[n] for row in rows]

    def _sequence(self, way: Way) -> Expr:
        return self.builder.concat(*map(self._expr, way))
