"""The exceptions of the engine.

Idea: every exception says *where* (a place in the source, a token, a named limit), *why*, and so what the caller can do. The data
is in attributes; the message is assembled from them in one place, here.

    GrammarEngineError
    |- GrammarError (ValueError)         bad source text
    |  |- GrammarSyntaxError             malformed Lark, GBNF or regex text: line, column, caret
    |  |- UnsupportedRegexError          a regular expression that is well formed but has no exact automaton here
    |  `- SchemaError                    a JSON Schema: pointer and keyword
    |     |- UnsupportedSchemaError      valid, but not enforceable here
    |     `- UnsatisfiableSchemaError    valid, but it has no instance
    |- LimitExceededError                a named limit was reached; raise it with `Limits`
    |- VocabularyError (ValueError)      a malformed vocabulary, or one that cannot spell the grammar
    |- TokenDFAError (ValueError)        a file that holds no token automaton, or a damaged one
    |- TokenRejectedError (ValueError)   `accept(..., strict=True)` refused; nothing has changed
    |- MatcherFinishedError              the text was ended by an end-of-text token; nothing has changed
    |- BatchError                        some matchers of a batch have failed; the others were served
    `- InternalError                     a bug in this library: please report it
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch import MaskStep
    from .explanation import Explanation

_MOST_SHOWN = 200  # characters of a place
_MOST_NAMED = 20  # names of a list
_PATTERNS = ", or simplify what is asked of one value: patterns, formats, lengths, counts, and what is excluded"
_RULES = ", or use fewer and shorter rules"
_AMBIGUITY = ", or leave fewer ways to read the same text"
_INSTEAD = {  # by limit: what helps as well
    "max_expressions": _PATTERNS,
    "max_step_work": _PATTERNS,
    "max_lexer_states": _PATTERNS,
    "max_regex_nesting": ", or nest less",
    "max_rules": _RULES,
    "max_row_items": _AMBIGUITY,
    "max_alternatives": _AMBIGUITY,
    "max_rows": ", or write shorter or less nested texts",
    "max_configurations": ", or write shorter or less nested texts",
    "max_schema_nesting": ", or nest less",
    "max_schema_nodes": ", or let fewer subschemas apply to the same value",
}


def shortened(place: str) -> str:
    """A place as messages tell it: of a long one the beginning and the end."""
    return place if len(place) <= _MOST_SHOWN else f"{place[: _MOST_SHOWN // 2]}...{place[-(_MOST_SHOWN // 2) :]}"


def listed(names: Sequence[str]) -> str:
    """Names with commas between, the first ones of many."""
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


class GrammarEngineError(Exception):
    """Root of all exceptions of this package; never raised itself. They can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)

    def tell(self, where: str) -> None:
        """Say at the end of the message in which part of a larger whole it was."""
        self.args = (f"{self}\n{where}",)


def _rebuild(kind: type[GrammarEngineError], args: tuple[Any, ...], state: dict[str, Any]) -> GrammarEngineError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


# What a terminal would obey and not show: control characters, and those that turn the direction of writing.
_CONTROLS = [
    code for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)) if code not in (0x09, 0x0A)
]
_ESCAPED = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _CONTROLS}
_REPLACED = dict.fromkeys(_CONTROLS, "\N{REPLACEMENT CHARACTER}")


def _printable(text: str) -> str:
    """A text of which lone surrogates and control characters are escaped."""
    return text.encode("utf-8", "backslashreplace").decode().translate(_ESCAPED)


def visible(text: str) -> str:
    """A text of as many characters, of which those that are not to be printed are replaced."""
    return text.translate(_REPLACED)


class GrammarError(GrammarEngineError, ValueError):
    """The source of a grammar cannot be used.

    Attributes
    ----------
    reason : str
        What is wrong, without the place.
    source : str or None
        The text in which the error lies, where there is one.
    offset : int or None
        Position in `source`, in characters, from 0.
    """

    def __init__(self, reason: str, *, source: str | None = None, offset: int | None = None):
        self.reason = reason
        self.source = source
        self.offset = None if offset is None or source is None else min(max(offset, 0), len(source))
        super().__init__(_printable(reason + self._place()))

    @property
    def line(self) -> int | None:
        """Line of the error, from 1."""
        if self.source is None or self.offset is None:
            return None
        return self.source.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int | None:
        """Column of the error in characters, from 1."""
        if self.source is None or self.offset is None:
            return None
        return self.offset - (self.source.rfind("\n", 0, self.offset) + 1) + 1

    @property
    def snippet(self) -> str | None:
        """At most 72 characters of the offending line, those not to be printed replaced, and a caret under the place."""
        if self.source is None or self.offset is None or self.column is None:
            return None
        begin = self.offset - (self.column - 1)
        end = self.source.find("\n", begin)
        line = self.source[begin : len(self.source) if end < 0 else end]
        left = max(0, self.column - 1 - 36)
        return visible(line[left : left + 72]) + "\n" + " " * (self.column - 1 - left) + "^"

    def _place(self) -> str:
        if self.source is None or self.offset is None:
            return ""
        return f"\nat line {self.line}, column {self.column}:\n{self.snippet}"


class GrammarSyntaxError(GrammarError):
    """The text of a grammar or of a regular expression is malformed."""


class UnsupportedRegexError(GrammarError):
    """A regular expression uses a construct that is refused by name.

    Attributes
    ----------
    construct : str
        Its name: "look-behind", "back-reference", ...
    """

    def __init__(self, reason: str, *, construct: str, source: str | None = None, offset: int | None = None):
        self.construct = construct
        super().__init__(reason, source=source, offset=offset)


class SchemaError(GrammarError):
    """A JSON Schema is malformed.

    Attributes
    ----------
    pointer : str
        RFC 6901 JSON pointer of the offending place in the schema; "" is the root.
    keyword : str or None
        The keyword at that place.
    """

    def __init__(self, reason: str, *, pointer: str = "", keyword: str | None = None, source: str | None = None, offset: int | None = None):
        self.pointer = pointer
        self.keyword = keyword
        super().__init__(reason, source=source, offset=offset)

    def _place(self) -> str:
        if self.source is not None:  # JSON text that could not be read
            return super()._place()
        is_told = self.keyword is None or any(f"{mark}{self.keyword}{mark}" in self.reason for mark in '`"')
        keyword = "" if is_told else f"`{self.keyword}` "
        return f" ({keyword}at {shortened(self.pointer) or 'the root'} of the schema)"


class UnsupportedSchemaError(SchemaError):
    """A JSON Schema is valid but asks for something that this engine does not enforce; it is refused, never weakened.

    Attributes
    ----------
    can_be_relaxed : bool
        Whether `lenient=True` gives the keyword up instead.
    """

    def __init__(self, reason: str, *, pointer: str = "", keyword: str | None = None, can_be_relaxed: bool = False):
        self.can_be_relaxed = can_be_relaxed
        super().__init__(reason, pointer=pointer, keyword=keyword)

    def _place(self) -> str:
        return super()._place() + ("; lenient=True gives it up" if self.can_be_relaxed else "")


class UnsatisfiableSchemaError(SchemaError):
    """A JSON Schema admits no instance at all.

    Attributes
    ----------
    parts : tuple of str
        JSON pointers of keywords that contradict each other, as few as possible; empty where that would take too long to find out.
    """

    def __init__(self, reason: str, *, parts: tuple[str, ...] = ()):
        self.parts = parts
        super().__init__(reason)


class LimitExceededError(GrammarEngineError):
    """A resource reached its named limit. The matcher or compilation at hand gives up; nothing else is affected.

    Attributes
    ----------
    limit : str
        Name of the field of `Limits`, or of the argument.
    maximum : int
        Its value.
    value : int
        `maximum` + 1: what would have been needed, at least.
    where : str or None
        The place in the source that was worked on: an RFC 6901 JSON pointer ("" is the root), or "line:column", of a part of a larger
        source behind the place of the part; None where it is no one place.
    is_fixed : bool
        `maximum` is as far as the library goes, below what `limit` allows: to raise that does not help.
    """

    def __init__(self, limit: str, maximum: int, detail: str = "", *, where: str | None = None, remedy: str = "", is_fixed: bool = False):
        self.limit = limit
        self.maximum = maximum
        self.value = maximum + 1
        self.where = where
        self.is_fixed = is_fixed
        self._detail = detail
        self._remedy = remedy or f"Limits({limit}=...){_INSTEAD.get(limit, '')}"
        super().__init__(self._message())

    def locate(self, where: str | None, name: str = "") -> None:
        """Say in which place the limit was reached, unless a place is known.

        Parameters
        ----------
        where : str or None
            The place, as the attribute; None: nothing is said.
        name : str
            What is made there, for the message.
        """
        if self.where is None and where is not None:
            self.where = where
            self.args = (self._message(name),)

    def add_remedy(self, remedy: str) -> None:
        """Say what else helps than to raise the limit."""
        self._remedy += f", or {remedy}"
        self.args = (self._message(),)

    def _message(self, name: str = "") -> str:
        place = "" if self.where is None else f" at {shortened(self.where) or 'the root'}"
        place += f" ({name})" if name else ""
        detail = f": {self._detail}" if self._detail else ""
        if self.is_fixed:
            advice = _INSTEAD.get(self.limit, "").removeprefix(", or ")
            reached = f"{self.maximum:,} {self._detail} are reached{place}"
            return _printable(f"{reached}, which is as far as the library goes, however high {self.limit} is: {advice}")
        return _printable(f"{self.limit} = {self.maximum:,} is reached{place}{detail}; raise it with {self._remedy}")


class VocabularyError(GrammarEngineError, ValueError):
    """A vocabulary is malformed, or cannot spell what the grammar asks for.

    Attributes
    ----------
    token_id : int or None
        The offending token, where there is one.
    missing : bytes
        The bytes that the grammar needs next and that no token begins with, where that is the reason.
    """

    def __init__(self, reason: str, *, token_id: int | None = None, missing: bytes = b""):
        self.token_id = token_id
        self.missing = missing
        super().__init__(reason)


class TokenDFAError(GrammarEngineError, ValueError):
    """A file was not written by `TokenDFA.save`, is damaged, or belongs to another version or byte order."""


class TokenRejectedError(GrammarEngineError, ValueError):
    """A token may not come next. The state of the matcher is unchanged.

    Attributes
    ----------
    token_id : int
    bytes : bytes
        What it spells; b"" for an id that is no text.
    position : int
        How many of its bytes could have come: the index of the first that is refused.
    expected : tuple of str
        Names of what could have come there.
    explanation : Explanation
        The same, with more. (A `Guide` knows nothing but that the token is refused: its `position` is 0, and nothing is expected.)
    """

    def __init__(self, token_id: int, spelling: bytes, explanation: Explanation):
        self.token_id = token_id
        self.bytes = spelling
        self.position: int = explanation.position
        self.expected: tuple[str, ...] = explanation.expected
        self.explanation = explanation
        super().__init__(explanation.reason or f"token {token_id} is refused: {explanation}")


class MatcherFinishedError(GrammarEngineError):
    """The text was ended by an end-of-text token: only further end-of-text tokens are accepted."""


class BatchError(GrammarEngineError):
    """Some matchers of a batch have failed. The others were served.

    Attributes
    ----------
    errors : dict of int to Exception
        By position in the batch: what the matcher's own call raised.
    step : MaskStep
        What was done, for all matchers.
    """

    def __init__(self, errors: dict[int, Exception], step: MaskStep):
        self.errors = errors
        self.step = step
        first = min(errors)
        super().__init__(f"{len(errors)} of {len(step.accepted)} matchers have failed, number {first} with: {errors[first]}")


class InternalError(GrammarEngineError):
    """An invariant of the engine does not hold: a bug, please report it with the grammar and the tokens."""
