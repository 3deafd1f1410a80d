"""A textbook Earley recogniser over bytes, without a scanner: every way of cutting the text into lexemes counts.

Idea. A *row* is the Earley set at one position of the text: items (alternative, dot, row where it began). A lexeme that is being read
is a triple (what is left of its expression, its symbol, the row where it began). A byte takes the derivative of all of them; those that
may end here advance the items of their row, and so make the row of this position. A skip lexeme advances nothing: its row's
items simply go on here.

Invariants. Symbols that derive no text are taken out first and readings that are not alive are dropped, so all that is left can
be completed: a state exists if and only if the text so far is a prefix of some sentence. States are immutable.

Nullable symbols: a nonterminal that is completed in the row where it began is remembered there, for those who wait for it later.

`lexing="longest"` (`LongestState`): all lexemes that a row allows, and the skip lexemes, are read together as one *run*. When some of them
end, continuations are born: one from the row after the lexemes that ended, one from the same row again if a skip ended. Whatever was
born from a shorter match of that run is dropped, with all that came of it. So runs are the nodes of a forest; below each is what came of
its last match. Only here are rows interned by the items they are made of (they determine the row), so that equal runs can be merged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from grammar_engine import ir

from . import expr as ex

LONG_TEXT = 10_000  # no test has a text of so many bytes: a list that may have so many items has no bound, as far as texts can tell


class Rule(NamedTuple):
    """An alternative of the nonterminal `left`, written as symbols. A dot is an index."""

    left: ir.Symbol
    right: tuple[ir.Symbol, ...]

    def first(self) -> object:
        return 0

    def next(self, dot: int) -> list[tuple[ir.Symbol, object]]:
        """(symbol that may come next, dot after it)."""
        return [(self.right[dot], dot + 1)] if dot < len(self.right) else []

    def ends(self, dot: int) -> bool:
        return dot == len(self.right)


class ListRule(NamedTuple):
    """A `list_of`. A dot is (items so far, is an item due after a separator)."""

    left: ir.Symbol
    item: ir.Symbol
    separator: ir.Symbol | None
    low: int
    high: int | None

    def first(self) -> object:
        return 0, False

    def next(self, dot: tuple[int, bool]) -> list[tuple[ir.Symbol, object]]:
        count, due = dot
        if count == self.high:
            return []
        if self.separator is not None and count > 0 and not due:
            return [(self.separator, (count, True))]
        after = count + 1 if self.high is not None else min(count + 1, max(self.low, 1))  # no bound: enough is enough
        return [(self.item, (after, False))]

    def ends(self, dot: tuple[int, bool]) -> bool:
        count, due = dot
        return count >= self.low and not due


class Row:
    """The Earley set of one position."""

    def __init__(self) -> None:
        self.items: set[tuple[object, object, Row | None]] = set()  # (alternative, dot, row of origin); None: the sentence itself
        self.waiting: dict[ir.Symbol, set[tuple[object, object, Row | None]]] = {}  # items after the symbol, by the symbol
        self.accepts = False

    def kernel(self) -> set[tuple[object, object, Row | None]]:
        """The items that did not begin here."""
        return {item for item in self.items if item[2] is not self}


Reading = tuple[ex.Expr, ir.Symbol, Row]  # a lexeme in progress


class Recogniser:
    """The language of the grammar in a `Builder`."""

    def __init__(self, builder: ir.Builder):
        exprs = ex.read(builder)
        self.longest = builder.longest
        self._interned: dict[frozenset, Row] = {}
        self.skips: list[ir.Symbol] = []
        self.lexemes: dict[ir.Symbol, ex.Expr] = {}
        records = builder.lexeme_records
        for index in range(len(builder.lexemes)):
            expr, flags = exprs[records[2 * index]], records[2 * index + 1]
            if flags & (ir.UNIQUE | ir.REPEATED):
                raise NotImplementedError("what items say is not compared here: tests/json_schema/test_compared.py")
            self.lexemes[2 * index] = ex.first_match(expr) if flags & ir.LAZY else expr
            if flags & ir.SKIP:
                self.skips.append(2 * index)
        self.alternatives: dict[ir.Symbol, list[object]] = {2 * i + 1: [] for i in range(len(builder.nonterminals))}
        records, at = builder.rule_records, 0
        while at < len(records):
            left, length = records[at], records[at + 1]
            self.alternatives[2 * left + 1].append(Rule(2 * left + 1, tuple(records[at + 2 : at + 2 + length])))
            at += 2 + length
        records = builder.list_records
        for at in range(0, len(records), ir.LIST_WORDS):
            left, item, between, low, high = records[at : at + ir.LIST_WORDS]
            separator, bound = None if between == ir.NO_SYMBOL else between, None if high >= LONG_TEXT else high
            self.alternatives[2 * left + 1].append(ListRule(2 * left + 1, item, separator, low, bound))
        self._multiply_bags_out(builder.bag_records, len(builder.nonterminals))
        self.begin = Rule(ir.NO_SYMBOL, (builder.start,))
        self._drop_unproductive()

    def _multiply_bags_out(self, records: Any, n_nonterminals: int) -> None:
        """A nonterminal for each state of each bag. Distinct ways are none of the oracle's business (exactness/test_bags.py)."""
        at, fresh = 0, 2 * n_nonterminals + 1
        while at < len(records):
            left, separator, ranked, n_slots, n_ways, n_choices = records[at : at + 6]
            at += 6
            bounds, asks = [], []
            for _ in range(n_slots):
                low, high, n_asked = records[at : at + 3]
                bounds.append((low, high))
                asks.append(set(records[at + 3 : at + 3 + n_asked]))
                at += 3 + n_asked
            ways = []
            for _ in range(n_ways):
                distinct, rank, n_symbols, n_raised = records[at : at + 4]
                if distinct:
                    raise NotImplementedError("a distinct way")
                at += 4 + n_symbols + n_raised
                raised = records[at - n_raised : at]
                ways.append((rank, tuple(records[at - n_symbols - n_raised : at - n_raised]), set(raised), asks[raised[0]]))
            choices = []
            for _ in range(n_choices):
                asking, n_sets = records[at : at + 2]
                at += 2
                sets = []
                for _ in range(n_sets):
                    sets.append(records[at + 1 : at + 1 + records[at]])
                    at += 1 + records[at]
                choices.append((asking, sets))
            start = (tuple([0] * n_slots), 0, frozenset[int]())
            states, pending = {start: 2 * left + 1}, [(start, 2 * left + 1)]
            self.alternatives.setdefault(2 * left + 1, [])
            while pending:
                (counts, rank, asked), symbol = pending.pop()
                is_first = symbol == 2 * left + 1
                chosen = all(
                    any(all(counts[slot] for slot in each) for each in sets)
                    for asking, sets in choices
                    if asking >= LONG_TEXT or counts[asking]
                )
                if not asked and chosen and all(count >= low for count, (low, _) in zip(counts, bounds)):
                    self.alternatives[symbol].append(Rule(symbol, ()))
                for new_rank, symbols, raised, wanted in ways:
                    if (ranked and new_rank < rank) or any(counts[slot] >= bounds[slot][1] for slot in raised):
                        continue
                    new = [min(count + (slot in raised), low) if high >= LONG_TEXT else count + (slot in raised)
                           for slot, (count, (low, high)) in enumerate(zip(counts, bounds))]  # fmt: skip
                    after = (tuple(new), new_rank if ranked else 0, frozenset(slot for slot in asked | wanted if not new[slot]))
                    if after == start:  # the start has no separator before its members
                        after = (*after, "again")
                    if after not in states:
                        states[after] = fresh
                        self.alternatives[fresh] = []
                        pending.append((after[:3], fresh))
                        fresh += 2
                    head = () if is_first or separator == ir.NO_SYMBOL else (separator,)
                    self.alternatives[symbol].append(Rule(symbol, (*head, *symbols, states[after])))

    def _drop_unproductive(self) -> None:
        """`self.productive`: the symbols that derive some text. Alternatives that can not be completed are removed."""
        self.productive = {symbol for symbol, expr in self.lexemes.items() if ex.is_alive(expr)}
        before = -1
        while before != len(self.productive):
            before = len(self.productive)
            self.productive |= {symbol for symbol, known in self.alternatives.items() if any(map(self._completable, known))}
        for symbol, known in self.alternatives.items():
            self.alternatives[symbol] = [alternative for alternative in known if self._completable(alternative)]

    def _completable(self, alternative: Rule | ListRule) -> bool:
        if isinstance(alternative, Rule):
            return all(symbol in self.productive for symbol in alternative.right)
        needed = [alternative.item] * (alternative.low > 0) + [alternative.separator] * (alternative.low > 1)
        return all(symbol is None or symbol in self.productive for symbol in needed)

    def start(self) -> State | LongestState | None:
        """The state before the first byte; None if the grammar has no sentence."""
        if not self._completable(self.begin):
            return None
        row = self.close({(self.begin, 0, None)})
        return LongestState(self, [row], {self.readings(row): {}}) if self.longest else State(self, [row], self.readings(row))

    @staticmethod
    def step(state: State | LongestState, byte: int) -> State | LongestState | None:
        """The state after one more byte; None if no sentence begins so."""
        return state.step(byte)

    @staticmethod
    def is_sentence(state: State | LongestState) -> bool:
        """Is the text so far a sentence?"""
        return any(row.accepts for row in state.rows)

    def run(self, content: bytes) -> State | LongestState | None:
        """The state after `content`."""
        state = self.start()
        for byte in content:
            state = state and state.step(byte)
        return state

    # --- rows -----------------------------------------------------------------------------------------------------------

    def close(self, items: set) -> Row:
        """The row with `items`, closed under prediction, completion and lexemes that match the empty string."""
        if self.longest and (known := self._interned.get(frozenset(items))):
            return known
        row, todo = Row(), list(items)
        self._interned[frozenset(items)] = row
        empty: set[ir.Symbol] = set()  # nonterminals that were found to derive nothing: whoever waits for one goes on at once
        while todo:
            item = todo.pop()
            if item in row.items:
                continue
            row.items.add(item)
            alternative, dot, origin = item
            if alternative.ends(dot):
                if origin is None:
                    row.accepts = True
                    continue
                if origin is row:
                    empty.add(alternative.left)
                todo += origin.waiting[alternative.left]
            for symbol, after in alternative.next(dot):
                if symbol not in self.productive:
                    continue
                row.waiting.setdefault(symbol, set()).add((alternative, after, origin))
                if symbol in self.lexemes:
                    if ex.nullable(self.lexemes[symbol]):
                        todo.append((alternative, after, origin))
                else:
                    todo += [(predicted, predicted.first(), row) for predicted in self.alternatives[symbol]]
                    if symbol in empty:
                        todo.append((alternative, after, origin))
        return row

    def readings(self, row: Row) -> frozenset[Reading]:
        """The lexemes that may begin at `row`."""
        symbols = [symbol for symbol in row.waiting if symbol in self.lexemes] + self.skips
        return frozenset((self.lexemes[symbol], symbol, row) for symbol in symbols if ex.is_alive(self.lexemes[symbol]))

    def advance(self, readings: frozenset[Reading], byte: int) -> tuple[frozenset[Reading], set, set]:
        """`readings` one byte later, and the items of the rows made by those that may end here: by lexemes, and by skips."""
        alive, after_lexemes, after_skips = set(), set(), set()
        for before, symbol, row in readings:
            left = ex.derive(before, byte)
            if ex.is_alive(left):
                alive.add((left, symbol, row))
            if ex.nullable(left):
                if symbol in self.skips:
                    after_skips |= row.kernel()
                else:
                    after_lexemes |= row.waiting[symbol]
        return frozenset(alive), after_lexemes, after_skips


class State:
    """All readings that are alive after some text, and the row there (none, or one) if a lexeme may end there."""

    def __init__(self, recogniser: Recogniser, rows: list[Row], readings: frozenset[Reading]):
        self.recogniser = recogniser
        self.rows = rows
        self.readings = readings
        self._after: dict[int, State | None] = {}

    def step(self, byte: int) -> State | None:
        if byte not in self._after:
            readings, *items = self.recogniser.advance(self.readings, byte)
            rows = [self.recogniser.close(set().union(*items))] if any(items) else []
            for row in rows:
                readings |= self.recogniser.readings(row)
            self._after[byte] = State(self.recogniser, rows, readings) if readings or rows else None
        return self._after[byte]


Forest = dict[frozenset[Reading], "Forest"]  # a run, and below it what came of its last match


class LongestState:
    """The runs that are alive, and the rows at this position if a lexeme may end there."""

    def __init__(self, recogniser: Recogniser, rows: list[Row], runs: Forest):
        self.recogniser = recogniser
        self.rows = rows
        self.runs = runs
        self._after: dict[int, LongestState | None] = {}

    def step(self, byte: int) -> LongestState | None:
        if byte not in self._after:
            rows: list[Row] = []
            runs = self._step(self.runs, byte, rows)
            self._after[byte] = LongestState(self.recogniser, rows, runs) if runs else None
        return self._after[byte]

    def _step(self, runs: Forest, byte: int, rows: list[Row]) -> Forest:
        stepped: Forest = {}
        for run, below in runs.items():
            readings, *items = self.recogniser.advance(run, byte)
            born = [self.recogniser.close(set().union(*items))] if any(items) else []  # one run: all that may come at this place
            rows += born
            below = {self.recogniser.readings(row): {} for row in born} if born else self._step(below, byte, rows)
            _merge(stepped, {readings: below} if readings else below)
        return stepped


def _merge(into: Forest, runs: Forest) -> None:
    """Equal runs side by side match at the same time: they are one, with what came of either below it."""
    for run, below in runs.items():
        _merge(into.setdefault(run, {}), below)
