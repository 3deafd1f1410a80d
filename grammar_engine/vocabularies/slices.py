"""Slices: expressions for lexemes that grammars will have, prepared with a vocabulary so that the first of these grammars finds them there.

Idea. A hidden grammar has them as its lexemes. From its engine the core takes the automaton of each slice that a user lists, and with it
the tokens that the slice reads; and it makes what the vocabulary keeps of such lexemes (`csrc/mask/mk_own.c`). Then grammar and engine go.

What everybody's grammars have needs no list: strings as the front end for JSON Schema writes them, and identifiers, strings and comments as
people write them in Lark grammars. Of these only the masks are made: nothing is gained by asking whether some other lexeme contains one.

Cost, for 131,072 tokens: 2 ms and 0.6 MB for those, and 3 to 9 ms and 0.7 MB for each slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._native import NativeExpressions, check, ffi, handle_of, lib, new_err, new_grammar, place_for
from ..errors import GrammarError, LimitExceededError, VocabularyError
from ..ir import PYTHON_FULL, Builder, Expr
from ..limits import Limits
from ..portable import Records

MAX_SLICES = 16
MIN_WIDTH = 2_048  # of a smaller vocabulary a mask takes no time

_TERMINALS = (
    r"[A-Za-z_][A-Za-z0-9_]*",  # identifiers
    r'"([^"\\\n]|\\[^\n])*"',  # strings in many languages, and ESCAPED_STRING of Lark's library
    r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"',  # strings of JSON, as RFC 8259 has them
)
_IGNORED = (r"//[^\n]*", r"//[^\n]*\n", r"/\*([^*]|\*+[^*/])*\*+/")  # comments; what they begin with matters only once


def checked(slices: Any) -> tuple[str, ...] | None:
    """The slices that a user lists; None for None."""
    if slices is None:
        return None
    if isinstance(slices, (str, bytes, bytearray, memoryview)) or not isinstance(slices, Iterable):
        raise VocabularyError(f"slices is a list of regular expressions, not {type(slices).__name__}: {slices!r:.60}")
    listed = tuple(slices)
    for number, pattern in enumerate(listed):
        if not isinstance(pattern, str):
            raise VocabularyError(f"slice {number} is {type(pattern).__name__}, not str: {pattern!r:.60}")
    if len(listed) > MAX_SLICES:
        raise VocabularyError(f"there are {len(listed)} slices, more than {MAX_SLICES}")
    return listed


def prepare(vocab: Any, width: int, slices: Sequence[str]) -> None:
    """Make the slices of a vocabulary of the core, over which there is no engine yet, and what it keeps of them and of common lexemes."""
    builder = Builder()
    expressions = NativeExpressions(builder, Limits())
    terminals = [_parsed(expressions, pattern, _named(number, pattern)) for number, pattern in enumerate(slices)]
    ignored = list(terminals)  # for all that is known they are that
    if width >= MIN_WIDTH:
        terminals += _json_strings(builder)
        terminals += [builder.pattern(pattern, PYTHON_FULL) for pattern in _TERMINALS]
        ignored += [builder.pattern(pattern, PYTHON_FULL) for pattern in _IGNORED]
    elif not slices:
        return
    numbers = {expr: number for number, expr in reversed(list(enumerate(terminals[: len(slices)])))}  # of equal ones the first
    try:
        engine = _engine(builder, expressions, vocab, list(dict.fromkeys(terminals)), ignored)
    except LimitExceededError as error:
        raise VocabularyError(f"{_that_takes_too_long(vocab, slices)} of no use: it takes too long to compile") from error
    err, faulty = new_err(), ffi.new("uint32_t *")
    if slices:
        status = lib.ge_vocab_slice(engine, len(numbers), faulty, err)
        if status in (lib.GE_E_ARGUMENT, lib.GE_E_LIMIT):
            number = sorted(numbers.values())[faulty[0]]
            why = ffi.string(err.text).decode() if status == lib.GE_E_ARGUMENT else "it takes too long to follow"
            raise VocabularyError(f"{_named(number, slices[number])} is of no use: {why}")
        check(status, err)
    status = lib.ge_vocab_prepare(engine, err)
    if status != lib.GE_E_LIMIT:  # what has no place within the limits is made when a mask needs it
        check(status, err)


def _named(number: int, pattern: str) -> str:
    return f"slice {number}, {pattern if len(pattern) <= 60 else pattern[:57] + '...'!r},"


def _that_takes_too_long(vocab: Any, slices: Sequence[str]) -> str:
    for number, pattern in enumerate(slices):
        builder = Builder()
        expressions = NativeExpressions(builder, Limits())
        expr = _parsed(expressions, pattern, _named(number, pattern))
        try:
            _engine(builder, expressions, vocab, [expr], [])
        except LimitExceededError:
            return f"{_named(number, pattern)} is"
    return "the slices together are"


def _parsed(expressions: NativeExpressions, pattern: str, name: str) -> Expr:
    try:
        expr = expressions.builder.pattern(pattern, PYTHON_FULL)
        expressions.update()
    except UnicodeEncodeError:
        raise VocabularyError(f"{name} is no regular expression: a lone surrogate is no character") from None
    except (GrammarError, LimitExceededError) as error:
        raise VocabularyError(f"{name} is no regular expression that can be used: {error}") from error
    return expr


def _json_strings(builder: Builder) -> list[Expr]:
    """Any string and any key, with the white space after them, as the front end for JSON Schema has them by default."""
    quote, gap = builder.bytes(b'"'), builder.repeat(builder.byte_set(b" \t\n\r"), 0, None)
    string = builder.concat(quote, builder.json(builder.text), quote)
    return [builder.concat(string, gap), builder.concat(string, gap, builder.bytes(b":"), gap)]


def _engine(builder: Builder, expressions: NativeExpressions, vocab: Any, terminals: Sequence[Expr], ignored: Sequence[Expr]) -> Any:
    """The engine of a grammar with these lexemes, in this order, in which a text is several."""
    start = builder.start = builder.nonterminal("start")
    symbols = [builder.lexeme(expr, "slice") for expr in terminals]
    for expr in ignored:
        builder.lexeme(expr, "slice", skip=True)
    symbols.append(builder.lexeme(builder.bytes(b"\0"), "end"))  # some lexeme that matches
    for symbol in symbols:
        builder.rule(start, [symbol, symbols[-1]])
    expressions.update()
    grammar = new_grammar(builder, Records.of(builder), expressions)
    made, err = place_for("ge_engine"), new_err()
    check(lib.ge_engine_new(grammar, vocab, 0, made, err), err)
    return handle_of(made)
