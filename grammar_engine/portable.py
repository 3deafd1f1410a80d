"""A compiled grammar as bytes, for other processes: what the core was given, and what is told of it.

    magic 8 | digest 16 | lengths 7 x 4 | told, JSON | words, lexemes, rules, lists, bags: 32-bit, little endian | data

The front end has done its work then: what is left takes a quarter to a half of the time of compiling a common schema. Automata and masks
are not in it: they belong to a vocabulary, and are made when a text needs them.

Trust. The digest finds damage. The core checks each operand again, as it does with what front ends hand it; what it takes on trust of
them (`ir.Way`) may make masks wrong if somebody forges it. `Limits` are not in it: they are of the process that reads.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise, repeat
from typing import Any, NamedTuple, TypeVar

from ._version import __version__
from .errors import GrammarError
from .ir import LIST_WORDS, Builder, SymbolInfo
from .report import Entry, Report
from .tags import Token

_MAGIC = b"ge-gram9"  # with the number of the format, which goes up with any change of the IR or of what is told
_DIGEST = 16
_LENGTHS = struct.Struct("<7I")
_Row = TypeVar("_Row", bound=tuple[Any, ...])
_LISTS = ("enforced", "annotations", "relaxed", "notes")  # of a report


class Records(NamedTuple):
    """The IR of a grammar, packed: what of a `Builder` the core reads."""

    words: array[int]
    lexemes: array[int]
    rules: array[int]
    lists: array[int]
    bags: array[int]
    data: bytes
    start: int
    longest: bool

    @classmethod
    def of(cls, builder: Builder) -> Records:
        """Those of a builder that is complete."""
        of = builder.lexeme_records, builder.rule_records, builder.list_records, builder.bag_records
        lexemes, rules, lists, bags = (array("I", records) for records in of)
        return cls(builder.words, lexemes, rules, lists, bags, bytes(builder.data), builder.start, builder.longest)

    def builder(self, lexemes: list[SymbolInfo], nonterminals: list[SymbolInfo]) -> Builder:
        """A builder to compile again; nothing can be added to it."""
        builder: Any = Builder.__new__(Builder)
        builder._words, builder._latest = self.words, []
        builder.data, builder.start, builder.longest = self.data, self.start, self.longest
        builder.lexeme_records, builder.rule_records, builder.list_records = self.lexemes, self.rules, self.lists
        builder.bag_records, builder.fragments, builder.begun = self.bags, [], None
        builder.lexemes, builder.nonterminals, builder.origins, builder.pattern_places = lexemes, nonterminals, {}, {}
        found: Builder = builder
        return found


class Portable(NamedTuple):
    """All of a grammar but its automata."""

    records: Records
    lexemes: list[SymbolInfo]
    nonterminals: list[SymbolInfo]
    report: Report
    kind: str
    named: frozenset[str | int]  # special tokens, by name or id


def to_bytes(grammar: Portable) -> bytes:
    """The same grammar gives the same bytes, whatever the machine."""
    from hashlib import blake2b  # here, as it loads OpenSSL

    records = grammar.records
    told = {
        "version": __version__,
        "start": records.start,
        "longest": records.longest,
        "kind": grammar.kind,
        "named": sorted(grammar.named, key=lambda key: (isinstance(key, str), key)),
        "lexemes": _columns(grammar.lexemes, 2),
        "nonterminals": _columns(grammar.nonterminals, 2),
        "report": [_columns(getattr(grammar.report, name), 3) for name in _LISTS],
    }
    text = json.dumps(told, separators=(",", ":")).encode()
    arrays = records[:5]
    lengths = _LENGTHS.pack(len(text), *map(len, arrays), len(records.data))
    body = b"".join([lengths, text, *map(_little_endian, arrays), records.data])
    return _MAGIC + blake2b(body, digest_size=_DIGEST).digest() + body


def from_bytes(content: bytes) -> Portable:
    """What `to_bytes` was given.

    Raises
    ------
    GrammarError
        It is no compiled grammar, or damaged, or one of another version of this library.
    """
    from hashlib import blake2b

    begin = len(_MAGIC) + _DIGEST
    if content[: len(_MAGIC)] != _MAGIC:
        same = content[: len(_MAGIC) - 1] == _MAGIC[:-1]
        raise _refused("it is of another format than this version reads: compile its source again" if same else "it is no compiled grammar")
    body = memoryview(content)[begin:]
    if blake2b(body, digest_size=_DIGEST).digest() != content[len(_MAGIC) : begin]:
        raise _refused("it is damaged or cut off: the digest is wrong")
    try:
        return _read(body)
    except GrammarError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError, struct.error) as error:  # the digest was forged
        raise _refused(f"its parts do not fit together ({error})") from None


def _read(body: memoryview) -> Portable:
    n_text, *lengths, n_data = _LENGTHS.unpack_from(body)
    at = _LENGTHS.size + n_text
    told = json.loads(str(body[_LENGTHS.size : at], "ascii"))
    if told["version"] != __version__:
        raise _refused(f"it was compiled by version {told['version']}, and this is {__version__}: compile its source again")
    ends = list(accumulate(lengths, lambda end, length: end + 4 * length, initial=at))
    words, lexeme_records, rules, lists, bags = (_from_little_endian(body[begin:end]) for begin, end in pairwise(ends))
    columns = [told["lexemes"], told["nonterminals"], *told["report"]]
    _check_texts(columns)
    lexemes, nonterminals = _rows(SymbolInfo, columns[0]), _rows(SymbolInfo, columns[1])
    if len(body) != ends[-1] + n_data or len(lexeme_records) != 2 * len(lexemes) or len(lists) % LIST_WORDS:
        raise ValueError("lengths")
    start, report = told["start"], Report(*(_rows(Entry, of_list) for of_list in columns[2:]))
    if type(start) is not int or not 0 <= start >> 1 < len(nonterminals if start & 1 else lexemes):
        raise ValueError("start")
    return Portable(
        Records(words, lexeme_records, rules, lists, bags, bytes(body[ends[-1] :]), start, bool(told["longest"])),
        lexemes,
        nonterminals,
        report,
        str(told["kind"]),
        _named(told["named"]),
    )


def _named(keys: list[Any]) -> frozenset[str | int]:
    return frozenset(Token(key).key for key in keys)


def _columns(rows: Sequence[tuple[Any, ...]], n: int) -> list[list[Any]]:
    """The fields of named tuples, each as a list: a reader makes and checks those in a loop of C."""
    return [list(column) for column in zip(*rows)] or [[] for _ in range(n)]


def _rows(kind: type[_Row], columns: list[list[Any]]) -> list[_Row]:
    """The named tuples."""
    return list(map(tuple.__new__, repeat(kind), zip(*columns, strict=True)))


def _check_texts(columns: list[list[list[Any]]]) -> None:
    """Raise unless all are texts; where a symbol is may be unknown."""
    (names, places), (rules, places_of_rules), *entries = columns
    texts = chain(names, rules, *(column for pointers, keywords, details in entries for column in (pointers, keywords, details)))
    if not set(map(type, texts)) <= {str} or not set(map(type, chain(places, places_of_rules))) <= {str, type(None)}:
        raise ValueError("names")


def _little_endian(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _from_little_endian(content: memoryview) -> array[int]:
    numbers = array("I", bytes(content))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _refused(reason: str) -> GrammarError:
    return GrammarError(f"these bytes are not taken for a grammar: {reason}")
