r"""Why a text is no Lark grammar: what Lark's own parser says of it.

A quick scan goes first, for what that parser does not survive: its lexer backtracks without end in a literal that is not closed, and 100,000
brackets cost it seconds. The scan knows literals, comments and brackets, and nothing else; it is linear. Long runs of empty lines, of which that
lexer tries each end with each beginning, become blanks.

Where the two differ: Lark takes `"a\"` for a string if no other quotation mark comes in its line. Here a mark behind a backslash never ends one.
"""

from __future__ import annotations

import re
from typing import Any

from ...errors import GrammarSyntaxError, LimitExceededError

_SCAN = re.compile(
    r"""
      //[^\n]* | \#[^\n]*                                   # comment
    | "(?: \\[^\n] | [^"\\\n] )* (?P<string_end> " )?       # string
    | /(?: \\.     | [^/\\]   )* (?P<regexp_end> / )?       # regular expression
    | [(\[{] | [)\]}]
    """,
    re.VERBOSE | re.DOTALL,
)
_EMPTY_LINES = re.compile(r"\n\s{64,}")


def error_in(text: str, offset: int, max_nesting: int) -> GrammarSyntaxError:
    """The error for a text that cannot be read beyond `offset`.

    Raises
    ------
    LimitExceededError
        Its brackets are nested too deeply to be parsed by Lark.
    """
    from lark.exceptions import UnexpectedInput

    from lark import load_grammar

    found = _literal_error(text, max_nesting)
    if found:
        return found
    lark: Any = load_grammar  # parts of it that have no types
    parser = lark._get_parser()
    try:
        parser.parse(_EMPTY_LINES.sub(lambda run: "\n" + " " * (len(run[0]) - 1), text) + "\n", "start")
    except UnexpectedInput as error:
        return GrammarSyntaxError(_reason(lark, parser, error), source=text, offset=error.pos_in_stream)
    return GrammarSyntaxError("this has no place here", source=text, offset=offset)


def _literal_error(text: str, max_nesting: int) -> GrammarSyntaxError | None:
    depth = 0
    for match in _SCAN.finditer(text):
        first = text[match.start()]
        if first in "([{":
            depth += 1
            if depth > max_nesting:
                line, column = text.count("\n", 0, match.start()) + 1, match.start() - text.rfind("\n", 0, match.start())
                raise LimitExceededError("max_regex_nesting", max_nesting, "brackets of the grammar", where=f"{line}:{column}")
        elif first in ")]}":
            depth = max(0, depth - 1)
        elif first == '"' and match["string_end"] is None:
            return GrammarSyntaxError("this string is not closed on its line", source=text, offset=match.start())
        elif first == "/" and not match[0].startswith("//") and match["regexp_end"] is None:
            return GrammarSyntaxError("this regular expression is not closed", source=text, offset=match.start())
    return None


def _reason(lark: Any, parser: Any, error: Any) -> str:
    from lark.exceptions import UnexpectedToken

    if not isinstance(error, UnexpectedToken):
        return "this character has no place here"
    try:
        known = lark._translate_parser_exception(parser.parse, error)
    except TypeError:  # raised by Lark's own comparison with its examples, in some places of a grammar
        known = None
    if known:
        return str(known[0].lower() + known[1:])
    return "the grammar ends too early" if error.token.type == "$END" else f"{str(error.token)!r} has no place here"
