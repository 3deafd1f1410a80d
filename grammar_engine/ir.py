"""The grammar IR: what every front end produces and the only thing that the C core reads.

Idea. A `Builder` collects *expressions* (regular expressions over bytes), *lexemes* (an expression with a name), *nonterminals*
and *rules*. Expressions are hash-consed: building the same one twice gives the same id, so front ends need no care. The core reads
them as one array of 32-bit words plus one byte string (`words`, `data`), a part at a time: it is given those that are new whenever a front
end asks something about them (`ge_ir_add`). Lexemes, rules, lists and bags follow in one call, at the end (`ge_grammar_new`).

Meaning. The language of the grammar is the set of byte strings that *some* way of cutting into lexemes derives from the start
symbol. Lexemes and rules may be nullable, recursive and ambiguous in any way; a lexeme whose expression is empty can not occur.

Invariants. An expression id refers only to smaller ids. A symbol is `index * 2` for a lexeme and `index * 2 + 1` for a nonterminal.
Code points are encoded as UTF-8; `complement` is over *all byte strings*, so a front end that works on text writes
`intersect(text, complement(x))` (`text_minus`).
"""

from __future__ import annotations

import builtins
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ._core import Collected

if TYPE_CHECKING:
    from .fragment import Fragment

Expr = int  # id of an expression
Symbol = int  # id of a lexeme (even) or of a nonterminal (odd)

MAX_CODE_POINT = 0x10FFFF
UNBOUNDED = 0xFFFFFFFF  # as the upper bound of a repetition
NO_SYMBOL = 0xFFFFFFFF
MAX_DIVISOR_DIGITS = 1_000  # of OP_MULTIPLE

# Operators of expression records; `csrc/grammar/ir.c` reads them.
(
    OP_NEVER,  #      the empty set
    OP_EMPTY,  #      the empty string
    OP_BYTES,  #      one byte string: offset, length in `data`
    OP_BYTE_SET,  #   one byte out of a set: 8 words, bit b % 32 of word b / 32
    OP_CHARS,  #      one code point out of ranges: lo, hi pairs, sorted, disjoint
    OP_CONCAT,  #     operands in sequence
    OP_UNION,  #      any of the operands
    OP_INTERSECT,  #  all of the operands
    OP_COMPLEMENT,  # every byte string but those of the operand
    OP_REPEAT,  #     operand, minimum, maximum
    OP_PATTERN,  #    regular expression text: dialect, flags, offset, length in `data` (UTF-8)
    OP_JSON,  #       the JSON string encodings (without quotes) of the strings of the operand: operand, escapes
    OP_LITERALS,  #   any of many byte strings: (offset, length) pairs in `data`
    OP_MULTIPLE,  #   decimal multiples in a range: scale, (offset, length) of the digits of the divisor and of both bounds
    OP_PUNYCODE,  #   what follows `xn--` in A-labels
    OP_HOST_NAME,  #  internationalised host names: 1 all dots, 2 any normalisation form, 4 bounded lengths, 8 late, 16 of mail
    OP_SYNTAX,  #     the texts that are regular expressions of ECMA-262
    OP_FRAGMENT,  #   the last of records of its own: bytes of data, these in words (the first lowest), and records with ids of their own
) = range(18)

# Which operands of a record are expressions, and which are offsets into `data`; those of other operators are neither.
PARTS = {
    **dict.fromkeys((OP_CONCAT, OP_UNION, OP_INTERSECT), slice(None)),
    **dict.fromkeys((OP_COMPLEMENT, OP_REPEAT, OP_JSON), slice(1)),
}
_PARTS_IN_RECORD = {op: slice(2, None if part.stop is None else 2 + part.stop) for op, part in PARTS.items()}
OFFSETS = {OP_BYTES: slice(1), OP_PATTERN: slice(2, 3), OP_LITERALS: slice(0, None, 2), OP_MULTIPLE: slice(1, None, 2)}

# Dialects of OP_PATTERN.
ECMA_SEARCH = 0  # ECMA-262 with the u flag, as JSON Schema uses it: the strings that contain a match
PYTHON_FULL = 1  # Python `re`: the strings that match as a whole
ECMA_FULL = 2  # ECMA-262 with the u flag: the strings that match as a whole

# Flags of OP_PATTERN.
FLAG_IGNORE_CASE = 1
FLAG_MULTI_LINE = 2  # ^ and $ also at line ends
FLAG_DOT_ALL = 4  # . also matches a line end
FLAG_VERBOSE = 8  # white space and comments in the pattern are ignored
FLAG_ASCII = 16  # \d \w \s only match ASCII (always so for \d \w in ECMA)

# Escapes of OP_JSON.
ESCAPES_MINIMAL = 0  # each character in one way: raw where JSON allows that, else \" \\ \b \f \n \r \t, else \u00XX (either case)
ESCAPES_ALL = 1  # every way that RFC 8259 allows: raw, short escapes including \/, \uXXXX, surrogate pairs

# Flags of a lexeme.
LAZY = 1  # it ends at its first match
SKIP = 2  # it may stand, ignored, before and after any lexeme
UNIQUE = 4  # it begins a JSON array of which no two items are equal
REPEATED = 64  # ... of which two items are equal

LIST_WORDS = 5  # of a record of a list


class Way(NamedTuple):
    """One kind of member of a bag.

    Attributes
    ----------
    symbols : tuple of Symbol
        What it consists of, in sequence; at least one.
    slots : tuple of int
        The slots that it raises, each once. The first is its *own* slot: what limits how often it may be used by itself (a named
        key: at most 1).
    rank : int
        Its place among the others, for `ranked` bags.
    distinct : bool
        The first symbol is a lexeme of JSON scalars (or of keys), and no value occurs twice among the distinct members of the bag, in
        whatever spelling. The core takes it on trust that distinct ways with values in common have the same lexeme and own slot, whose
        maximum is at most the number of values, or that the values cannot run out (positions of an array), that behind the scalar come only
        white space and punctuation, and that numbers are in plain digits or have one digit, not 0, before the point and an exponent (see
        `csrc/lexer/lx_value.c`).
    """

    symbols: tuple[Symbol, ...]
    slots: tuple[int, ...]
    rank: int = 0
    distinct: bool = False


class SymbolInfo(NamedTuple):
    """What `Matcher.explain` says about a symbol: its name, and where it comes from (a JSON pointer, or "line:column")."""

    name: str
    where: str | None = None


class PatternPlace(NamedTuple):
    """Where a regular expression stands in a larger source.

    Attributes
    ----------
    source : str
        The whole text.
    offset : int
        Where the expression begins in it, in characters.
    where : str
        The same as errors of limits tell it: "line:column".
    """

    source: str
    offset: int
    where: str


def records_of(words: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    """The operator and the operands of each expression."""
    at = 0
    while at < len(words):
        op, end = words[at], at + 2 + words[at + 1]
        yield op, words[at + 2 : end]
        at = end


_FIRST = {
    record: i for i, record in enumerate([(OP_NEVER, 0), (OP_EMPTY, 0), (OP_CHARS, 2, 0, MAX_CODE_POINT), (OP_REPEAT, 3, 2, 0, UNBOUNDED)])
}
_FIRST_WORDS = array("I", chain.from_iterable(_FIRST))


class Builder(Collected):
    """Collects one grammar. Methods that take expressions return the id of the result; costs are one dictionary look-up each.

    Attributes
    ----------
    never, empty, char, text : Expr
        Nothing; the empty text; one code point (no surrogates: they have no UTF-8); all valid UTF-8. Each builder begins with them.

    Methods
    -------
    bytes(literal)
        The one byte string `literal`.
    string(literal)
        The UTF-8 encoding of `literal`.
    concat(*parts)
        `parts` one after the other.
    lexeme(expr, name, *, where=None, lazy=False, skip=False, unique=False, repeated=False)
        A lexeme. `lazy`: it ends at its first match. `skip`: it may stand, ignored, before and after any lexeme; not for rules.
        `unique`: it is the bracket that begins a JSON array, and perhaps white space; no two items of the array are equal.
        `repeated`: the same, and some two items are equal. There is an item that may come again, any number of times.
    nonterminal(name, *, where=None)
        A new nonterminal without rules.
    rule(left, right)
        `left` may be `right` (empty: left is nullable).

    Notes
    -----
    These are called most often, and are in C: csrc/python/collected.c.
    """

    never, empty, char, text = range(4)

    def __init__(self) -> None:
        self._words = _FIRST_WORDS[:]  # expression records: op, number of operands, operands
        self._latest: list[int] = []  # those that are not yet there
        self.data = bytearray()  # byte strings that records point into
        self.lexemes: list[SymbolInfo] = []
        self.lexeme_records: list[int] = []  # expression, flags
        self.nonterminals: list[SymbolInfo] = []
        self.origins: dict[Symbol, str | None] = {}  # for errors, where a symbol of several places, which has no `where`, came from first
        self.rule_records: list[int] = []  # left-hand side (index), length, symbols
        self.list_records: list[int] = []  # LIST_WORDS each: nonterminal (index), item, separator or NO_SYMBOL, minimum, maximum
        self.bag_records: list[int] = []  # see `bag`
        self.start: Symbol = NO_SYMBOL
        self.longest = False
        self.pattern_places: dict[Expr, PatternPlace] = {}  # for errors, of patterns that are parts of a larger source
        self.fragments: list[Fragment] = []  # in the order of their copies
        self.begun: Builder | None = None  # the one that this one began with; nothing is added to that one any more
        self._info = SymbolInfo
        self._ids = _FIRST.copy()  # expressions by record, but for fragments
        self._spans: dict[builtins.bytes, int] = {}
        self._lexeme_ids: dict[tuple[Expr, int, str | None], Symbol] = {}
        self._other_texts: dict[Expr, Expr] = {}  # of what text_minus made: the part

    def begin(self, begun: Builder) -> None:
        """Take over what another builder has collected, to which nothing is added any more. Nothing was added to this one."""
        self.begun = begun
        self._words, self.data = begun.words[:], begun.data[:]
        self.lexemes, self.lexeme_records = begun.lexemes[:], begun.lexeme_records[:]
        self._ids, self._spans, self._lexeme_ids = begun._ids.copy(), begun._spans.copy(), begun._lexeme_ids.copy()

    @property
    def words(self) -> array[int]:
        """The expression records."""
        if self._latest:
            self.pack()
        return self._words

    def pack(self) -> None:
        """Put the latest records with the others. After that, and as long as nothing is added, threads may read."""
        self._words.fromlist(self._latest)
        self._latest.clear()

    @property
    def n_exprs(self) -> int:
        """How many expressions there are: the next id."""
        return len(self._ids) + len(self.fragments)

    # --- expressions ------------------------------------------------------------------------------------------------

    def byte_set(self, members: Iterable[int]) -> Expr:
        """One byte out of `members`."""
        words = [0] * 8
        for byte in members:
            words[byte >> 5] |= 1 << (byte & 31)
        return self._node(OP_BYTE_SET, 8, *words) if any(words) else self.never

    def chars(self, ranges: Iterable[tuple[int, int]]) -> Expr:
        """One code point out of inclusive `ranges` (in any order, overlapping or not); surrogates are left out."""
        merged: list[list[int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1][1] = max(merged[-1][1], high)
            elif low <= high:
                merged.append([low, high])
        return self._node(OP_CHARS, 2 * len(merged), *chain.from_iterable(merged)) if merged else self.never

    def union(self, *parts: Expr) -> Expr:
        """Any of `parts`."""
        distinct = set(parts)
        distinct.discard(self.never)
        kept = sorted(distinct)
        return kept[0] if len(kept) == 1 else self._node(OP_UNION, len(kept), *kept) if kept else self.never

    def intersect(self, *parts: Expr) -> Expr:
        """What all of `parts` have in common; at least one part."""
        if self.never in parts:
            return self.never
        kept = sorted(set(parts))
        return kept[0] if len(kept) == 1 else self._node(OP_INTERSECT, len(kept), *kept)

    def complement(self, part: Expr) -> Expr:
        """Every byte string that is not in `part`, also those that are no valid UTF-8."""
        return self._node(OP_COMPLEMENT, 1, part)

    def text_minus(self, *parts: Expr) -> Expr:
        """Valid UTF-8 that is in none of `parts`."""
        others = self.intersect(self.text, *(self.complement(p) for p in parts))
        if len(parts) == 1:
            self._other_texts[others] = parts[0]
        return others

    def minus(self, texts: Expr, part: Expr) -> Expr:
        """What is in `texts`, which are valid UTF-8, and not in `part`: of all texts but some, those, without two complements."""
        others = self._other_texts.get(part)
        return self.intersect(texts, self.complement(part) if others is None else others)

    def repeat(self, part: Expr, minimum: int, maximum: int | None) -> Expr:
        """`part` from `minimum` to `maximum` times (None: without bound). Stays one node whatever the bounds."""
        high = UNBOUNDED if maximum is None else maximum
        if not 0 <= minimum <= high or minimum >= UNBOUNDED or (maximum is not None and maximum >= UNBOUNDED):
            raise ValueError(f"a repetition from {minimum} to {maximum} times")
        if high == 0 or part == self.empty:
            return self.empty
        if (minimum, high) == (1, 1):
            return part
        return self._node(OP_REPEAT, 3, part, minimum, high)

    def optional(self, part: Expr) -> Expr:
        """`part` or the empty string."""
        return self.union(self.empty, part)

    def pattern(self, source: str, dialect: int = ECMA_SEARCH, flags: int = 0, place: PatternPlace | None = None) -> Expr:
        """A regular expression; parsed by the core, which reports errors with an offset into `source` (in bytes of UTF-8).
        `place`: where it stands in a larger source, for these errors; of equal ones the first counts.
        """
        encoded = source.encode("utf-8")
        expr = self._node(OP_PATTERN, 4, dialect, flags, self._span(encoded), len(encoded))
        if place is not None:
            self.pattern_places.setdefault(expr, place)
        return expr

    def withdraw_pattern(self) -> None:
        """The newest expression, a pattern that the core could not read,
        is given up: whoever reads the records finds one without texts there.
        """
        words = self.words
        words[-6] = OP_UNION
        words[-4:] = array("I", [self.never] * 4)

    def json(self, part: Expr, escapes: int = ESCAPES_MINIMAL) -> Expr:
        """The JSON spellings of the strings in `part`, without the quotes. `part` is a set of valid UTF-8 texts."""
        return self._node(OP_JSON, 2, part, escapes)

    def literals(self, literals: Iterable[builtins.bytes]) -> Expr:
        """Any of many byte strings, as a trie: cost is in proportion to their total length."""
        unique = sorted(set(literals))
        if len(unique) < 2:
            return self.bytes(unique[0]) if unique else self.never
        operands: list[int] = []
        for literal in unique:
            operands += (self._span(literal), len(literal))
        return self._node(OP_LITERALS, len(operands), *operands)

    def multiple_of(self, divisor: int, scale: int, low: int = 0, high: int | None = None) -> Expr:
        """Unsigned decimal numbers whose value is a multiple of divisor / 10**scale in a range.

        Parameters
        ----------
        divisor : int
            At most `MAX_DIVISOR_DIGITS` digits.
        scale : int
            With 0, the numbers are digits without a point. Otherwise they may have a fraction, with any number of zeros behind
            `scale` places. There are no leading zeros.
        low, high : int
            Bounds of the value times 10**scale, both included; None for none. At most 10,000 digits.
        """
        if not (0 < divisor < 10**MAX_DIVISOR_DIGITS and scale >= 0 and low >= 0):
            raise ValueError(f"multiple_of({divisor}, {scale}, {low}, {high})")
        if high is not None and high < low:
            return self.never
        record: list[int] = []
        for digits in (str(divisor), str(low).zfill(scale + 1), "" if high is None else str(high).zfill(scale + 1)):
            record += (self._span(digits.encode()), len(digits))
        return self._node(OP_MULTIPLE, 7, scale, *record)

    def punycode(self) -> Expr:
        """What follows `xn--` in the A-labels of internationalised host names (RFC 5890), in upper or lower case."""
        return self._node(OP_PUNYCODE, 0)

    def host_name(
        self, *, all_dots: bool = False, any_form: bool = False, bounded: bool = True, late: bool = False, of_mail: bool = False
    ) -> Expr:
        """Internationalised host names (RFC 5890 to 5893): labels in ASCII, A-labels and U-labels.

        `all_dots`: between them are those of RFC 3490, section 3.1, too. `any_form`: normalisation form C makes U-labels of them.
        `bounded`: at most 253 octets, 63 in each label, as A-labels. `late`: they are counted at the end of each label, so that whether
        some name goes on with a text takes a search; names in complements are made so. `of_mail`: domains of RFC 6531, section 3.3: nothing
        is asked of labels in ASCII but letters, digits and hyphens within, nor of several labels together; at most 255 octets.
        """
        return self._node(OP_HOST_NAME, 1, all_dots | any_form << 1 | bounded << 2 | late << 3 | of_mail << 4)

    def syntax(self) -> Expr:
        """The texts that are regular expressions of ECMA-262 (edition of 2025) with the flag u."""
        return self._node(OP_SYNTAX, 0)

    def copy(self, fragment: Fragment) -> Expr:
        """The expression of a fragment, as a new one."""
        copied = self.n_exprs
        self.words.extend(fragment.words)
        self.fragments.append(fragment)
        return copied

    def again(self, words: Sequence[int], data: builtins.bytes) -> list[Expr]:
        """The expressions of another builder's records, whose strings are in `data`, by their ids there."""
        ids: list[Expr] = []
        known, own = self._ids, self._latest
        at = 0
        while at < len(words):
            op, n = words[at], words[at + 1]
            record = list(words[at : at + 2 + n])
            at += 2 + n
            if op in PARTS:
                parts = _PARTS_IN_RECORD[op]
                record[parts] = [ids[i] for i in record[parts]]
            elif op in OFFSETS:
                for place in range(2, 2 + n)[OFFSETS[op]]:  # a length follows
                    record[place] = self._span(data[record[place] : record[place] + record[place + 1]])
            key = tuple(record)
            found = known.get(key)
            if found is None:
                found = known[key] = self.n_exprs
                own += key
            ids.append(found)
        return ids

    # --- symbols ----------------------------------------------------------------------------------------------------

    def repetition(self, left: Symbol, item: Symbol, separator: Symbol | None, minimum: int, maximum: int | None) -> None:
        """`left`, which has no rules, is `minimum` to `maximum` times `item`,
        with `separator` between. Costs nothing until it is walked.
        """
        high = UNBOUNDED if maximum is None else maximum
        if not 0 <= minimum <= high or minimum >= UNBOUNDED or (maximum is not None and maximum >= UNBOUNDED):
            raise ValueError(f"a list of {minimum} to {maximum} items")
        self.list_records += (left >> 1, item, NO_SYMBOL if separator is None else separator, minimum, high)

    def list_of(self, item: Symbol, separator: Symbol | None, minimum: int, maximum: int | None, name: str) -> Symbol:
        """A nonterminal for a repetition."""
        symbol = self.nonterminal(name)
        self.repetition(symbol, item, separator, minimum, maximum)
        return symbol

    def any_of(self, name: str, ways: Iterable[Sequence[Symbol]], *, where: str | None = None) -> Symbol:
        """A nonterminal for any of some sequences."""
        symbol = self.nonterminal(name, where=where)
        for way in ways:
            self.rule(symbol, way)
        return symbol

    def bag(
        self,
        ways: Sequence[Way],
        slots: Sequence[tuple[int, int | None]],
        separator: Symbol | None,
        name: str,
        *,
        ranked: bool = False,
        asks: Mapping[int, Sequence[int]] | None = None,
        choices: Sequence[tuple[int | None, Sequence[Sequence[int]]]] = (),
        where: str | None = None,
    ) -> Symbol:
        """A nonterminal: members in sequence, with `separator` between, such that each slot is raised as often as its bounds say.

        Parameters
        ----------
        ways : sequence of Way
            What a member may be. A member raises all slots of its way by one.
        slots : sequence of (int, int or None)
            For each slot, how often it is raised in all: at least, and at most (None: without bound).
        separator : Symbol or None
        name : str
        ranked : bool
            The ranks of the members never decrease. Otherwise they may come in any order.
        asks : mapping of int to a sequence of int, optional
            Slots, each with those that it asks for: if it is raised, they have to be, too. Only slots of named keys ask and are asked for:
            raised once at most, by ways that begin with one lexeme, not distinct, and have one rank. The core takes it on trust that what
            those ask for is listed, too, and that a slot asks for such with a lower bound, if it has one. No bag has both this and a total
            with a lower bound.
        choices : sequence of (int or None, sequence of sequences of int)
            A slot, or None for the bag, and sets of slots: if the slot is raised, or in any case, all of one of these sets have to be.
            Again all are slots of named keys, and the core takes it on trust that what those of a set ask for, and one of the sets between
            which they leave a choice, is in the set. No bag has both this and a total, or conditions.
        where : str, optional

        Notes
        -----
        States are made on demand: nothing is multiplied out. It derives the empty text if all lower bounds are 0. Besides the ways' own
        slots there may be one that all ways raise (a total), and any number of others (conditions); a state with conditions costs a
        search for ways to meet them. The first symbol of a way never derives the empty text, nor does the separator, a lexeme.
        """
        symbol = self.nonterminal(name, where=where)
        self._put_bag(
            symbol >> 1,
            NO_SYMBOL if separator is None else separator,
            ranked,
            list(slots),
            list(ways),
            dict(asks) if asks else None,
            [(slot, list(sets)) for slot, sets in choices],
        )
        return symbol
