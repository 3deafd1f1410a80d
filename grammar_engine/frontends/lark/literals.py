r"""Strings, ranges and regular expressions of a Lark text to expressions.

Idea. A regular expression goes to the core as it is written: the core parses Python's `re` syntax, and what is read beyond it (\p{...}).
What is done here is what needs the place in the grammar: Python's own `re` checks the syntax, where nothing is in it that only the core
knows, and a scan finds lazy quantifiers (`lexing="longest"` ends such a terminal at its first match), constructs that look beyond the
terminal, and nesting that is too deep. What only the core finds wrong gets its place in the grammar, too: the builder knows where each
expression stands (`PatternPlace`).
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, NamedTuple

from ...errors import LimitExceededError
from ...ir import FLAG_ASCII, FLAG_DOT_ALL, FLAG_IGNORE_CASE, FLAG_MULTI_LINE, FLAG_VERBOSE, PYTHON_FULL, Builder, Expr, PatternPlace
from .. import set_operations

if TYPE_CHECKING:
    from ...limits import Limits
    from .syntax import Origin, Token

_FLAGS = {
    "i": (FLAG_IGNORE_CASE, re.IGNORECASE),
    "m": (FLAG_MULTI_LINE, re.MULTILINE),
    "s": (FLAG_DOT_ALL, re.DOTALL),
    "x": (FLAG_VERBOSE, re.VERBOSE),
    "u": (0, re.UNICODE),
    "a": (FLAG_ASCII, re.ASCII),
}
_LEADING_FLAGS = re.compile(r"\(\?([aimsux]+)\)")
# \uD83D\uDE00, as JSON writes what is beyond U+FFFF, is one character.
SURROGATES = r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
_ESCAPE = re.compile(SURROGATES + r"|\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "\\": "\\", '"': '"'}
_DIGITS = {"x": 2, "u": 4, "U": 8}

_ITEM = re.compile(  # one item of a regular expression, as far as this module needs to tell them apart
    r"""
      (?P<refused> \\[1-9] | \\[bBAZz] | \(\?(?:<?[=!]|P=|\(|>) | [\^$] )
    | (?P<escape>  \\(?: [pPu]\{[^}]*\} | . ) )
    | (?P<set>     \[\^?\]?(?:\\.|[^\]\\])*\] )
    | (?P<comment> \(\?\#(?:\\.|[^)\\])*\) )
    | (?P<open>    \( (?: \?(?: P?<\w+> | [aiLmsux-]*: | [aiLmsux]+(?=\)) ) )? )
    | (?P<close>   \) )
    | (?P<many>    (?: [*+?] | \{(?:\d+(?:,\d*)?|,\d*)\} ) (?P<how>[?+]?) )
    | (?P<or>      \| )
    """,
    re.VERBOSE | re.DOTALL,
)
_ITEM_OR_LINE_COMMENT = re.compile(r"(?P<line_comment>\#(?:\\.|[^\n\\])*)|" + _ITEM.pattern, re.VERBOSE | re.DOTALL)
_BEYOND_RE = re.compile(r"\(\?< | (?: [^\\] | \\[^pPu] | \\u(?!\{) )* \\(?: [pP] | u\{ )", re.VERBOSE | re.DOTALL)  # of an item
_NAMES = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?P=": "back-reference",
    "(?(": "conditional group",
    "(?>": "atomic group",
    "\\b": "word boundary",
    "\\B": "word boundary",
    "\\A": "anchor",
    "\\Z": "anchor",
    "\\z": "anchor",
    "^": "anchor",
    "$": "anchor",
}


class Terminal(NamedTuple):
    """An expression, and what `explain` and the lexer should know of it.

    Attributes
    ----------
    expr : Expr
    name : str or None
        The name of the terminal, or the literal as it is written; None for composed expressions.
    lazy : bool
        A lazy quantifier is in it.
    bare_or : bool
        It is nothing but a regular expression with a `|` outside of all groups.
    operations : tuple of (int, str)
        Of a literal: where in it a set operation may be meant, and what the report says of that.
    """

    expr: Expr
    name: str | None = None
    lazy: bool = False
    bare_or: bool = False
    operations: tuple[tuple[int, str], ...] = ()


def literal(builder: Builder, token: Token, origin: Origin, limits: Limits) -> Terminal:
    """The expression of a STRING or REGEXP token."""
    end = token.text.rfind("/" if token.kind == "REGEXP" else '"')
    body, flags = token.text[1:end], token.text[end + 1 :]
    if not body:
        raise origin.error("an empty terminal is not allowed; leave it out, or use ? or [ ]", token)
    if not body.isascii():
        try:
            body.encode("utf-8")
        except UnicodeEncodeError as error:
            raise origin.error("a lone surrogate is no character", token, 1 + error.start) from None
    if token.kind == "REGEXP":
        return _regexp(builder, body, flags, token, origin, limits)
    content = _unescape(token, body, origin) if "\\" in body else body
    if flags:
        return Terminal(builder.pattern(re.escape(content), PYTHON_FULL, FLAG_IGNORE_CASE), token.text)
    return Terminal(builder.string(content), token.text)


def character_range(builder: Builder, first: Token, last: Token, origin: Origin) -> Expr:
    """The expression of `"a".."z"`."""
    ends = []
    for token in (first, last):
        content = _unescape(token, token.text[1:-1], origin) if token.text.endswith('"') else ""
        if len(content) != 1:
            raise origin.error("an end of a range is a string of one character, without flags", token)
        if "\ud800" <= content <= "\udfff":
            raise origin.error("a lone surrogate is no character", token, 1)
        ends.append(ord(content))
    if ends[0] > ends[1]:
        raise origin.error("this range ends before it begins", first)
    return builder.chars([(ends[0], ends[1])])


def _unescape(token: Token, body: str, origin: Origin) -> str:
    r"""The characters of a string literal: \n \t \r \f \\ \" \xNN \uNNNN \UNNNNNNNN; after others the backslash stays, as in Lark."""

    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return chr(of_surrogates(match[1], match[2]))
        escaped = match[3]
        if len(escaped) > 1:
            code = int(escaped[1:], 16)
            if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
                raise origin.error(f"{match[0]} is no character", token, 1 + match.start())
            return chr(code)
        if escaped in "xuU":
            raise origin.error(f"\\{escaped} needs {_DIGITS[escaped]} hexadecimal digits", token, 1 + match.start())
        return _CONTROL.get(escaped, match[0])

    return _ESCAPE.sub(replace, body)


def of_surrogates(high: str, low: str) -> int:
    """The code point that a pair of surrogates stands for, from their hexadecimal digits."""
    return 0x10000 + (int(high, 16) - 0xD800 << 10 | int(low, 16) - 0xDC00)


def _regexp(builder: Builder, body: str, letters: str, token: Token, origin: Origin, limits: Limits) -> Terminal:
    if "l" in letters:
        raise origin.unsupported("the flag l asks for the locale of the machine", "locale flag", token, len(token.text) - 1)
    if "\n" in body and "x" not in letters:
        raise origin.error("a regular expression spans lines only with the flag x", token, 1 + body.index("\n"))
    leading = _LEADING_FLAGS.match(body)
    core_flags, python_flags = 0, 0
    for letter in letters + (leading[1] if leading else ""):
        core_flags |= _FLAGS[letter][0]
        python_flags |= _FLAGS[letter][1]
    lazy, bare_or, is_beyond_re, operations = _inspect(body, bool(core_flags & FLAG_VERBOSE), token, origin, limits)
    if not is_beyond_re:
        _check_syntax(body, python_flags, token, origin, limits)
    begin = leading.end() if leading else 0
    place = PatternPlace(origin.text, token.start + 1 + begin, origin.place(token))
    expr = builder.pattern(body[begin:], PYTHON_FULL, core_flags, place)
    return Terminal(expr, token.text, lazy, bare_or and not letters, operations)


def _inspect(
    body: str, verbose: bool, token: Token, origin: Origin, limits: Limits
) -> tuple[bool, bool, bool, tuple[tuple[int, str], ...]]:
    """Whether there is a lazy quantifier, a `|` outside of all groups, and what `re` does not know; what may be set operations, by their
    places in the token. Refuses what the core cannot honour.
    """
    lazy = bare_or = is_beyond_re = False
    operations = []
    depth = 0
    for item in (_ITEM_OR_LINE_COMMENT if verbose else _ITEM).finditer(body):
        kind = item.lastgroup if item.lastgroup != "how" else "many"
        if kind == "refused":
            construct = _NAMES.get(item[0], "back-reference")
            raise origin.unsupported(f"{item[0]} ({construct}) is not supported in a terminal", construct, token, 1 + item.start())
        if kind == "many" and item["how"] == "+":
            raise origin.unsupported("a possessive quantifier is not supported", "possessive quantifier", token, 1 + item.start())
        is_beyond_re = is_beyond_re or (kind in ("escape", "set", "open") and _BEYOND_RE.match(item[0]) is not None)
        lazy = lazy or (kind == "many" and item["how"] == "?")
        bare_or = bare_or or (kind == "or" and depth == 0)
        if kind == "set" and (operation := set_operations.in_set(item[0], body, item.end())):
            operations.append((1 + item.start() + operation[0], operation[1]))
        depth += (kind == "open") - (kind == "close")
        if depth > limits.max_regex_nesting:
            raise _too_nested(token, origin, limits)
    return lazy, bare_or, is_beyond_re, tuple(operations)


def _check_syntax(body: str, flags: int, token: Token, origin: Origin, limits: Limits) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of notations that may change their meaning in some future Python
            re.compile(body, flags)
    except re.error as error:
        raise origin.error(f"this regular expression is malformed: {error.msg}", token, 1 + (error.pos or 0)) from None
    except OverflowError:
        raise origin.error("a bound of a repetition is too large", token) from None
    except RecursionError:
        raise _too_nested(token, origin, limits) from None


def _too_nested(token: Token, origin: Origin, limits: Limits) -> LimitExceededError:
    return LimitExceededError("max_regex_nesting", limits.max_regex_nesting, "groups of a regular expression", where=origin.place(token))
