r"""Strings, sets of characters and special tokens of a GBNF text to expressions.

Escapes: \n \t \r \f \b \v, \xHH, \uHHHH and \UHHHHHHHH, which are code points (two \u that are a surrogate
pair are one), and a backslash before any sign that is no letter or digit.
llama.cpp has fewer, and none with another meaning.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...ir import MAX_CODE_POINT
from ..lark.literals import SURROGATES, Terminal, of_surrogates
from ..lark.terminals import Terminals

if TYPE_CHECKING:
    from ..lark.syntax import Origin, Token

_CHAR = re.compile(SURROGATES + r"|\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\(.)|([^\\])", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "v": "\v"}
_DIGITS = {"x": 2, "u": 4, "U": 8}


class Literals(Terminals):
    """What the Lark front end asks of terminals, in the spelling of GBNF."""

    def literal(self, token: Token, origin: Origin) -> Terminal:
        """The expression of a STRING, a CLASS or a SPECIAL token."""
        builder = self._builder
        if token.kind == "STRING":
            text = "".join(chr(code) for code, _ in _chars(token, 1, origin))
            return Terminal(builder.string(text), token.text)
        if token.kind == "CLASS":
            return Terminal(builder.char if token.text == "." else builder.chars(_ranges(token, origin)), token.text)
        return self.special(token, origin)


def _chars(token: Token, begin: int, origin: Origin) -> list[tuple[int, bool]]:
    """The code points from a place on, but for the last sign, and whether each is written as it is."""
    found = []
    for match in _CHAR.finditer(token.text, begin, len(token.text) - 1):
        high, low, *numbers, escaped, plain = match.groups()
        digits = next(filter(None, numbers), None)
        signs = plain or _CONTROL.get(escaped, escaped)
        code = of_surrogates(high, low) if high else int(digits, 16) if digits else ord(signs)
        if escaped and escaped.isalnum() and escaped not in _CONTROL:
            asked = f"\\{escaped} needs {_DIGITS[escaped]} hexadecimal digits" if escaped in _DIGITS else f"there is no escape {match[0]}"
            raise origin.error(asked, token, match.start())
        if 0xD800 <= code <= 0xDFFF or code > MAX_CODE_POINT:
            raise origin.error(f"{match[0]!r} is no character", token, match.start())
        found.append((code, plain is not None))
    return found


def _ranges(token: Token, origin: Origin) -> list[tuple[int, int]]:
    """The code points of a set, as ranges."""
    is_negated = token.text.startswith("[^")
    chars = _chars(token, 2 if is_negated else 1, origin)
    ranges, at = [], 0
    while at < len(chars):
        low = high = chars[at][0]
        if at + 2 < len(chars) and chars[at + 1] == (ord("-"), True):
            high = chars[at + 2][0]
            at += 2
        if high < low:
            raise origin.error("a range ends before it begins", token)
        ranges.append((low, high))
        at += 1
    if is_negated:
        ranges = _others(ranges)
    if not ranges:
        raise origin.error("a set without characters matches nothing", token)
    return ranges


def _others(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """All other code points."""
    others, next_one = [], 0
    for low, high in [*sorted(ranges), (MAX_CODE_POINT + 1, MAX_CODE_POINT + 1)]:
        if next_one < low:
            others.append((next_one, low - 1))
        next_one = max(next_one, high + 1)
    return others
