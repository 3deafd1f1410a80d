"""The border to the C core: handles, buffers, and status codes turned into exceptions.

Rules. Who has a handle calls `lib` with it, by what is here: `place_for` and `handle_of` for what a call makes, `new_err` and `check` for
how it ended. A handle is wrapped once, with the place that frees it and its size, so that the collector feels its weight. Handles that
depend on each other share ownership in the core, because Python's collector frees the members of a cycle in any order. Inputs go in as
`bytes` or as borrowed buffers; every length is explicit. A call through cffi releases the GIL. Calls that are made for each token do not go
through it (`calls.py`).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import fields
from functools import cache, lru_cache, partial
from itertools import accumulate
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, NamedTuple

from .._core import Held, Record, ffi, know_arrays, lib
from ..errors import (
    GrammarError,
    GrammarSyntaxError,
    InternalError,
    LimitExceededError,
    UnsupportedRegexError,
    VocabularyError,
)
from ..ir import LIST_WORDS, OP_PATTERN, Builder, Expr
from ..limits import Limits
from ..portable import Records
from .calls import fast_guide, fast_matcher, fast_row_mask, fast_text, run_batch
from .places import lexeme_with, locate

if TYPE_CHECKING:
    from ..fragment import Fragment

__all__ = [
    "Held",
    "NativeExpressions",
    "NothingError",
    "Record",
    "build",
    "check",
    "fast_guide",
    "fast_matcher",
    "fast_row_mask",
    "fast_text",
    "fewest_tokens",
    "ffi",
    "handle_of",
    "know_arrays",
    "lib",
    "load_vocab",
    "locate",
    "native_limits",
    "new_err",
    "new_grammar",
    "new_vocab",
    "place_for",
    "read_vocab",
    "run_batch",
    "save_vocab",
    "version",
]


class NothingError(GrammarError):
    """The grammar produces no text; front ends say it in their own words."""


_LIMIT_FIELDS = [name for name, _ in ffi.typeof("ge_limits").fields]
_limit_values = attrgetter(*_LIMIT_FIELDS)
assert [field.name for field in fields(Limits)][: len(_LIMIT_FIELDS)] == _LIMIT_FIELDS


def new_err() -> Any:
    """A fresh `ge_err`."""
    return ffi.new("ge_err *")


def version() -> str:
    """Version of the core."""
    text: bytes = ffi.string(lib.ge_version())
    return text.decode()


def build() -> str:
    """Compiler and options of the core."""
    text: bytes = ffi.string(lib.ge_build())
    return text.decode()


def native_limits(limits: Limits) -> Any:
    """`limits` as the core reads them."""
    return ffi.new("ge_limits *", _limit_values(limits))


def check(status: int, err: Any) -> None:
    """Raise what `status` stands for, unless it is GE_OK."""
    if status:
        raise error_of(status, err)


def error_of(status: int, err: Any) -> Exception:
    """The exception for a status, without a place in the source."""
    text = ffi.string(err.text).decode("ascii", "replace")
    if status == lib.GE_E_MEMORY:
        return MemoryError("the system is out of memory")
    if status == lib.GE_E_LIMIT:
        if err.ceiling:  # of those of the core there is one
            return LimitExceededError(_LIMIT_FIELDS[err.limit], err.ceiling, "levels of an expression, derivatives included", is_fixed=True)
        return LimitExceededError(_LIMIT_FIELDS[err.limit], err.value, text)
    if status == lib.GE_E_NOTHING:
        return NothingError("the grammar produces no text at all: its start symbol cannot be completed")
    if status == lib.GE_E_ARGUMENT:
        return ValueError(text)
    if status == lib.GE_E_BUSY:
        return RuntimeError("this Matcher is at work in another thread: a matcher belongs to one thread at a time")
    if status == lib.GE_E_SPELLING:
        asked, after, example = text.partition("|")
        missing = bytes.fromhex(asked)
        shown = ", ".join(repr(bytes((byte,)))[1:] for byte in missing[:8]) + (", ..." if len(missing) > 8 else "")
        place = f" after {bytes.fromhex(example)!r}" if after else ""
        return VocabularyError(f"no token of the vocabulary can come next{place}: the grammar asks for one of {shown}", missing=missing)
    return InternalError(f"status {status} from the core: {text or 'no detail'}")


def place_for(kind: str) -> Any:
    """Where a call of the core puts an object that it makes: a pointer to a pointer, which frees what is there when it goes.

    An exception that comes from outside, as from a signal's handler, arises when the call has returned, before anything can be done with
    what it made. So that is owned from before the call on.
    """
    pointer, free = _of_kind(kind)
    return ffi.gc(ffi.new(pointer), free)


@cache
def _of_kind(kind: str) -> tuple[Any, Any]:
    return ffi.typeof(f"{kind} **"), getattr(lib, f"{kind}_free_at")


def handle_of(place: Any, size: int = 0) -> Any:
    """The object that was put there, which lives as long as this handle does. `size`: its bytes, if these are many."""
    # What is called at its end does nothing but keep the place until then;
    # and it is no code of Python, in which an exception would be lost.
    return ffi.gc(place[0], partial(is_, place), size)


def new_vocab(blob: bytes, offsets: array[int], width: int, eos: Sequence[int]) -> Any:
    """The core's trie of the tokens `blob[offsets[i]:offsets[i + 1]]`."""
    place, err = place_for("ge_vocab"), new_err()
    ids = array("I", eos)
    status = lib.ge_vocab_new(
        blob, ffi.from_buffer("uint32_t[]", offsets), len(offsets) - 1, width, ffi.from_buffer("uint32_t[]", ids), len(ids), place, err
    )
    return _vocab_handle(status, place, err)


def load_vocab(fd: int) -> Any:
    """The vocabulary in an open file that holds what `save_vocab` gave. The file may then be closed."""
    place, err = place_for("ge_vocab"), new_err()
    return _vocab_handle(lib.ge_vocab_load(fd, place, err), place, err)


def _vocab_handle(status: int, place: Any, err: Any) -> Any:
    if status == lib.GE_E_ARGUMENT:
        raise VocabularyError(ffi.string(err.text).decode())
    check(status, err)
    return handle_of(place, lib.ge_vocab_bytes(place[0]))


def save_vocab(vocab: Any, note: bytes) -> Any:
    """The content of a file, as a buffer: the vocabulary with all its tables, and `note`."""
    content = ffi.new("uint8_t[]", lib.ge_vocab_save(vocab, note, len(note), ffi.NULL))
    lib.ge_vocab_save(vocab, note, len(note), content)
    return ffi.buffer(content)


def fewest_tokens(vocab: Any, text: bytes) -> list[int]:
    """The fewest tokens that spell a text; of such spellings the one whose tokens are longest, from the left. [] where none spells it."""
    out, n_out, err = ffi.new("uint32_t[]", len(text)), ffi.new("size_t *"), new_err()
    check(lib.ge_vocab_spell(vocab, text, len(text), out, n_out, err), err)
    return list(out[0 : n_out[0]])


class VocabContent(NamedTuple):
    """What a vocabulary was made from. The buffers lie in it."""

    text: Any
    offsets: Any
    width: int
    eos: tuple[int, ...]
    note: bytes


def read_vocab(vocab: Any) -> VocabContent:
    """What `new_vocab` was given, and the note of the file if it was loaded."""
    content = ffi.new("ge_vocab_content *")
    lib.ge_vocab_read(vocab, content)
    offsets = memoryview(ffi.buffer(content.offsets, 4 * (content.n_tokens + 1))).cast("I")
    eos = tuple(content.eos[0 : content.n_eos])
    note = bytes(ffi.buffer(content.note, content.n_note))
    return VocabContent(ffi.buffer(content.bytes, offsets[-1]), offsets, content.width, eos, note)


class NativeExpressions:
    """The expressions of a `Builder` in the core, kept up to date as the builder grows.

    Parameters
    ----------
    builder : Builder
    limits : Limits

    Attributes
    ----------
    handle : ge_ir, or None until the first update
    """

    def __init__(self, builder: Builder, limits: Limits):
        self.builder = builder
        self.handle: Any = None
        self._limits = limits
        self._err = new_err()
        self._n_words = 0  # of the builder's, which the core has read

    def _begin(self) -> None:
        builder, place = self.builder, place_for("ge_ir")
        begun = builder.begun
        common = tuple(fragment for fragment in builder.fragments if fragment.is_common)
        beginning = _beginning(begun, common, self._limits) if begun else None
        if begun and beginning:
            check(lib.ge_ir_copy(beginning, begun.n_exprs, place, self._err), self._err)
            self._n_words = len(begun.words)
        else:
            check(lib.ge_ir_new(native_limits(self._limits), place, self._err), self._err)
        self.handle = handle_of(place)

    def update(self) -> None:
        """Hand new expressions to the core.

        Raises
        ------
        GrammarSyntaxError, UnsupportedRegexError
            A pattern is malformed, or uses what has no exact automaton here.
            Its expression then stands for nothing, and the rest can go on.
        LimitExceededError
        """
        if self.handle is None:
            self._begin()
        records, data = self.builder.words, self.builder.data
        while self._n_words < len(records):
            n_done = ffi.new("size_t *")
            begin = self._n_words
            with ffi.from_buffer("uint32_t[]", records) as words, ffi.from_buffer("uint8_t[]", data) as own:
                status = lib.ge_ir_add(self.handle, words + begin, len(records) - begin, own, len(data), n_done, self._err)
            self._n_words += n_done[0]
            if status:
                self._raise(status, begin)

    def update_lexemes(self) -> None:
        """The same, where the builder has lexemes: of a limit that is met the place of a lexeme is told."""
        builder = self.builder
        try:
            self.update()
        except LimitExceededError as error:
            locate(error, lexeme_with(builder, self._err.expr), builder.lexemes, builder.nonterminals, builder.origins)
            raise

    def is_empty(self, expr: Expr) -> bool:
        """Whether `expr` denotes no byte string at all. Exact."""
        self.update()
        answer = ffi.new("int32_t *")
        check(lib.ge_ir_is_empty(self.handle, expr, answer, self._err), self._err)
        return bool(answer[0])

    def is_surely_empty(self, expr: Expr) -> bool:
        """The same, but False also where that would take much of the work that compiling may take."""
        self.update()
        answer = ffi.new("int32_t *")
        check(lib.ge_ir_is_surely_empty(self.handle, expr, answer, self._err), self._err)
        return bool(answer[0])

    def count(self, expr: Expr, limit: int) -> int:
        """How many byte strings `expr` denotes; `limit` if there are at least so many."""
        self.update()
        answer = ffi.new("uint64_t *")
        check(lib.ge_ir_count(self.handle, expr, limit, answer, self._err), self._err)
        return int(answer[0])

    def matches(self, expr: Expr, text: bytes) -> bool:
        """Whether `expr` contains `text`."""
        self.update()
        answer = ffi.new("int32_t *")
        check(lib.ge_ir_matches(self.handle, expr, text, len(text), answer, self._err), self._err)
        return bool(answer[0])

    def lengths(self, expr: Expr) -> tuple[int, int]:
        """Bounds, not always the tightest, of how many characters the strings of `expr` have; `UNBOUNDED` for any number."""
        self.update_lexemes()
        out = ffi.new("uint32_t[2]")
        check(lib.ge_ir_lengths(self.handle, expr, out, self._err), self._err)
        return int(out[0]), int(out[1])

    def continuations(self, match: Expr, whole: Expr) -> int:
        """The bytes that can follow some string of `match` inside a string of `whole`, as bits."""
        self.update()
        out = ffi.new("uint32_t[8]")
        check(lib.ge_ir_continuations(self.handle, match, whole, out, self._err), self._err)
        return sum(word << 32 * i for i, word in enumerate(out))

    def _raise(self, status: int, begin: int) -> None:
        """Raise for the last of the records that were read from `begin` on."""
        words, at = self.builder.words, begin
        while at + 2 + words[at + 1] < self._n_words:
            at += 2 + words[at + 1]
        is_nested = status == lib.GE_E_LIMIT and _LIMIT_FIELDS[self._err.limit] == "max_regex_nesting" and words[at] == OP_PATTERN
        is_unread = status in (lib.GE_E_SYNTAX, lib.GE_E_UNSUPPORTED) and words[at] == OP_PATTERN
        if not is_unread and not is_nested:
            raise error_of(status, self._err)
        offset, length = words[at + 4], words[at + 5]
        pattern = bytes(self.builder.data[offset : offset + length])
        within = self.builder.pattern_places.get(self._err.expr)
        if is_nested:
            shown = pattern[:60].decode("utf-8", "replace")
            is_fixed, maximum = bool(self._err.ceiling), self._err.ceiling or self._err.value
            depth = max(accumulate((sign == ord("(")) - (sign == ord(")")) for sign in pattern))
            what = "levels" if is_fixed or depth <= maximum else "groups"
            cause = " (its counted repeats with look-around are written out)" if what == "levels" and b"(?" in pattern else ""
            raise LimitExceededError(
                "max_regex_nesting",
                maximum,
                f"{what} of the regular expression {shown!r}{cause}",
                where=within and within.where,
                is_fixed=is_fixed,
            )
        offset = len(pattern[: self._err.offset].decode("utf-8", "replace"))
        source, reason = pattern.decode("utf-8", "replace"), ffi.string(self._err.text).decode()
        if within:
            source, offset = within.source, within.offset + offset
        if status == lib.GE_E_SYNTAX:
            raise GrammarSyntaxError(f"malformed regular expression: {reason}", source=source, offset=offset)
        construct = reason.partition(":")[0]
        raise UnsupportedRegexError(f"unsupported in a regular expression: {reason}", construct=construct, source=source, offset=offset)


@lru_cache(maxsize=64)  # of some 40 kB each
def _beginning(begun: Builder, fragments: tuple[Fragment, ...], limits: Limits) -> Any:
    """What the core makes of the expressions of `begun`, to which nothing is added any more, and of fragments; None where that fails.

    A grammar begins with a copy of this; the core would make the same of its records.
    Where that fails, as by a limit, these are read as a whole, and the grammar tells why.
    """
    place, err, n_done = place_for("ge_ir"), new_err(), ffi.new("size_t *")
    words = sum((fragment.words for fragment in fragments), begun.words[:])
    data = bytes(begun.data)
    status = lib.ge_ir_new(native_limits(limits), place, err)
    status = status or lib.ge_ir_add(place[0], ffi.from_buffer("uint32_t[]", words), len(words), data, len(data), n_done, err)
    return None if status else handle_of(place)


def new_grammar(builder: Builder, records: Records, expressions: NativeExpressions) -> Any:
    """Compile the grammar of `builder`, whose `records` these are, and whose expressions, all handed over, are then used up."""
    place, err = place_for("ge_grammar"), new_err()
    held = [ffi.from_buffer("uint32_t[]", words) for words in (records.lexemes, records.rules, records.lists, records.bags)]
    rules = ffi.new("ge_rules *")
    rules.lexemes, rules.n_lexemes = held[0], len(builder.lexemes)
    rules.n_nonterminals = len(builder.nonterminals)
    rules.rules, rules.n_rule_words = held[1], len(records.rules)
    rules.lists, rules.n_lists = held[2], len(records.lists) // LIST_WORDS
    rules.bags, rules.n_bag_words = held[3], len(records.bags)
    rules.start, rules.longest = records.start, records.longest
    status = lib.ge_grammar_new(expressions.handle, rules, place, err)
    if status:
        failure = error_of(status, err)
        locate(failure, err.symbol, builder.lexemes, builder.nonterminals, builder.origins)
        raise failure
    return handle_of(place, lib.ge_grammar_bytes(place[0]))
