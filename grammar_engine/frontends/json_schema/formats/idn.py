r"""`idn-hostname`: labels with characters outside ASCII (U-labels), by RFC 5890 to 5893.

Idea. A label is a sequence of valid characters (RFC 5892) that has none of some faults, each of them a regular expression: a mark at the
start, a hyphen at either end or two in third and fourth place, a character outside its context (RFC 5892, appendix A), marks in another
order than that of normalisation form C, or a character before a mark with which it would have been composed. Where a name has a character
that is written from right to left, all of its labels obey the rule of RFC 5893, section 2.

What depends on Punycode is no regular expression of sensible size, so the set here is smaller than that of the RFCs:

- A-labels (`xn--...`) are left out: which of them are valid only decoding tells.
- A label may have at most 63 octets in Punycode. Labels of at most `_LONGEST` characters have, whatever the characters.
- A name may have at most 253 octets. It is all in ASCII; or it has up to 3 U-labels (of at most 63 octets in place of one character, or
  more) and `_LONGEST_NAME` characters.

The tables are of the Unicode version in `data/idna.json` (see tools/make_idna.py); later characters are left out.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from ....ir import ECMA_FULL, Builder, Expr
from .hosts import LABEL

_LONGEST = ((0x7FF, 19), (0xFFFF, 14), (0x10FFFF, 11))  # highest character, characters in a label; bounds of the worst case
_LONGEST_NAME = 253 - 3 * 62
_DOTS = r"[.\u3002\uFF0E\uFF61]"


@cache
def _tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(files("grammar_engine").joinpath("data/idna.json").read_text())
    return tables


def host_name(b: Builder, dots: str = _DOTS) -> Expr:
    """Names of which at least one label is a U-label, and ASCII names."""
    labels = _Labels(b)
    separator = b.pattern(dots, ECMA_FULL)
    ways = [b.intersect(labels.joined(labels.ascii, separator), b.repeat(b.char, 1, 253))]
    some = b.union(
        labels.mixed(b.intersect(labels.unicode, b.complement(labels.with_any("R", "AN"))), labels.ascii, separator),
        labels.mixed(b.intersect(labels.unicode, labels.bidi), labels.ascii_beginning_with_letter, separator),
    )
    return b.union(*ways, b.intersect(some, b.repeat(b.char, 1, _LONGEST_NAME)))


class _Labels:
    """Sets of labels, as expressions of a builder."""

    def __init__(self, b: Builder):
        self.b = b
        self.ascii = b.pattern(LABEL, ECMA_FULL)
        self.ascii_beginning_with_letter = b.pattern(f"(?:[A-Za-z][^]*)&", ECMA_FULL)
        self.unicode = b.never
        self.bidi = b.never
