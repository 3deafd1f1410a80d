r"""Why a text is no Lark grammar: what Lark's own parser says of it.

Idea. It is given the tokens that can be read, and the first that cannot. So it meets no literal that is not closed, in which its lexer
would backtrack without end, and nothing that comes later. What Lark does not know, special tokens and schemas, is a string of the same
length there; attributes of rules and `%llguidance {}` are blanks. Long runs of empty lines, of which that lexer tries each end with each
beginning, become blanks.

Where the two differ: Lark takes `"a\"` for a string if no other quotation
mark comes in its line. Here a mark behind a backslash never ends one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...errors import GrammarSyntaxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .syntax import Origin, Token

_EMPTY_LINES = re.compile(r"\n\s{64,}")
_BRACES = re.compile(r"\{ {0,9}([0-9]{0,9}) {0,9}(?:(,) {0,9}([0-9]{0,9}) {0,9})?\}")
_KNOWN = {"NOT": " ", "&": "|"}  # what Lark is given for a sign that it does not know
_NOT_CLOSED = {'"': "this string is not closed on its line", "/": "this regular expression is not closed"}
_MOST_SHOWN = 80  # characters of a token


def error_in(origin: Origin, tokens: Sequence[Token]) -> GrammarSyntaxError:
    """The error for a text that cannot be read beyond the last of its first tokens."""
    last = tokens[-1]
    if last.kind in ("unknown", "="):
        return origin.error(_NOT_CLOSED.get(last.text[0], "this character has no place here"), last)
    return origin.error(_repetition(origin.text, tokens) or _reason(_known_to_lark(origin.text, tokens), last), last)


def _repetition(text: str, tokens: Sequence[Token]) -> str | None:
    """What to write for a repetition as regular expressions have it, if it is one that cannot be read."""
    at = next((i for i in range(len(tokens) - 1, max(len(tokens) - 3, 0), -1) if tokens[i].kind == "{"), None)
    braces = None if at is None else _BRACES.match(text, tokens[at].start)
    if at is None or braces is None or not (braces[1] or braces[3]):
        return None
    operand = tokens[at - 1].text
    item = "(...)" if operand in (")", "]") else operand if len(operand) <= _MOST_SHOWN else "..."
    low, comma, high = braces[1] or "0", braces[2], braces[3]
    if comma and not high:
        return f"a repetition is written with ~: write {item}~{low} {item}*" if int(low) else f"a repetition is written {item}*"
    return f"a repetition is written with ~: write {item}~{low}" + (f"..{high}" if comma else "")


def _known_to_lark(text: str, tokens: Sequence[Token]) -> str:
    """The text up to the end of the last of its tokens, as long as it was."""
    pieces, at = [], 0
    for token in tokens:
        if token.kind in ("SPECIAL", "JSON"):
            pieces += [text[at : token.start], f'"{"x" * (len(token.text) - 2)}"']
            at = token.start + len(token.text)
        elif token.kind in ("ATTRIBUTE", "OPTIONS"):
            pieces += [text[at : token.start], " " * len(token.text)]
            at = token.start + len(token.text)
        elif token.kind in _KNOWN:
            pieces += [text[at : token.start], _KNOWN[token.kind]]
            at = token.start + 1
    pieces.append(text[at : tokens[-1].start + len(tokens[-1].text)])
    return _EMPTY_LINES.sub(lambda run: "\n" + " " * (len(run[0]) - 1), "".join(pieces)) + "\n"


def _reason(text: str, last: Token) -> str:
    """What Lark says of a text, if its parser comes as far as the last token."""
    from lark.exceptions import UnexpectedInput, UnexpectedToken

    from lark import load_grammar

    lark: Any = load_grammar  # parts of it that have no types
    parser = lark._get_parser()
    known = None
    try:
        parser.parse(text, "start")
    except UnexpectedInput as error:
        if isinstance(error, UnexpectedToken) and error.pos_in_stream == last.start:
            try:
                known = lark._translate_parser_exception(parser.parse, error)
            except TypeError:  # raised by Lark's own comparison with its examples, in some places of a grammar
                known = None
    if known:
        return str(known[0].lower() + known[1:])
    shown = last.text if len(last.text) <= _MOST_SHOWN else last.text[:_MOST_SHOWN] + "..."
    return f"{shown!r} has no place here" if shown.strip() else "the line ends too early"
