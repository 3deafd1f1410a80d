"""`idn-hostname`: names with characters outside ASCII (U-labels), by RFC 5890 to 5893.

Idea. A label is a sequence of units, in words that are joined by single hyphens. A unit is a letter or digit with its marks, or a short
sequence that makes a character valid which is so only in context (RFC 5892, appendix A). So everything is written from small parts,
without an intersection but for the lengths, and it is cheap to know that a text can still become a name.

    left     labels without characters that are written from right to left
    right    labels that begin with one; with European or with Arabic digits (RFC 5893, section 2)

A-labels (`xn--...`) are exact, as in hosts.py. The set is smaller than that of the RFCs where the rules for U-labels would have to remember more,
or to encode them:

- There are no two hyphens in a row in a U-label, and no labels of other directions than the two above.
- Marks are in the order of normalisation form C, each combining class at most once. Marks that are composed with some letter are left
  out if their combining class is not 0 (the composed letter is to be used); of class 0, they do not follow what they are composed with.
- A label may have at most 63 octets in Punycode. Labels of at most `_LONGEST` characters have, whatever the characters.
- A name may have at most 253 octets: it is all in ASCII, or it has up to 3 U-labels (of up to 63 octets) and `_LONGEST_NAME` characters.
- Characters are those of the Unicode version in data/idna.json.

In a name with a U-label that is written from right to left the other labels are such too, or in ASCII and begin with a letter, and no A-labels. In a
name with other U-labels no A-label stands for one that is written from right to left.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from .....ir import ECMA_FULL, Builder, Expr
from .hosts import LABEL_WITH_LETTER, label

_LONGEST = ((0x7FF, 19), (0xFFFF, 14), (0x10FFFF, 11))  # highest character, and how many there may be in the worst case
_LONGEST_NAME = 253 - 3 * 62
_DOTS = r"[.\u3002\uFF0E\uFF61]"


@cache
def _tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(files("grammar_engine").joinpath("data/idna.json").read_text())
    return tables


def host_name(b: Builder, dots: str = _DOTS) -> Expr:
    """Names in ASCII, and names with up to three U-labels; `dots` is a pattern for what is between labels."""
    labels = _Labels(b)
    dot = b.pattern(dots, ECMA_FULL)

    def following(label: Expr) -> Expr:
        return b.repeat(b.concat(dot, label), 0, None)

    in_ascii = label(b)
    ways = []
    for special, plain in ((labels.left(), label(b, left=True)), (labels.right(), b.pattern(LABEL_WITH_LETTER, ECMA_FULL))):
        start = b.repeat(b.concat(plain, dot), 0, None)
        more = b.repeat(b.concat(following(plain), dot, special), 0, 2)
        ways.append(b.concat(start, special, more, following(plain)))
    return b.union(
        b.intersect(b.concat(in_ascii, following(in_ascii)), b.repeat(b.char, 1, 253)),
        b.intersect(b.union(*ways), b.repeat(b.char, 1, _LONGEST_NAME)),
    )


class _Labels:
    """Sets of U-labels, as expressions of a builder."""

    def __init__(self, b: Builder):
        self.b = b
        ordered = [b.optional(self._of(flat)) for flat in _tables()["ordered"]]
        joiner = b.pattern(r"[\u200C\u200D]", ECMA_FULL)
        self.marks = b.union(b.concat(*ordered), b.concat(self.set("viramas"), joiner))

    def set(self, *names: str) -> Expr:
        """A character of some classes."""
        return self._of([code for name in names for code in _tables()[name]])

    def left(self) -> Expr:
        """Labels without characters that are written from right to left."""
        b = self.b

        def marked(*names: str) -> Expr:
            return b.concat(self.set(*names), self.marks)

        letter = b.union(
            marked("left", "eastern digits"),
            b.pattern("l(?:\u00b7l)+", ECMA_FULL),
            b.concat(b.string("\u0375"), marked("greek")),
        )
        unit, first_letter = b.union(letter, marked("vowels")), marked("first letters")
        firsts = b.repeat(marked("firsts", "first letters"), 0, None)  # no second vowel follows
        second_or_unit = b.union(marked("second vowels"), b.concat(firsts, unit))
        begin = b.union(letter, b.concat(first_letter, firsts, unit))
        word = b.union(b.concat(begin, b.repeat(second_or_unit, 0, None), firsts), b.concat(first_letter, firsts))
        japanese = b.union(self.set("kana and han"), b.pattern("[a-z0-9\u30fc\u30fb]", ECMA_FULL))
        with_dots = b.concat(b.repeat(japanese, 0, None), self.set("kana and han"), b.repeat(japanese, 0, None))
        return self._of_length(b.union(self._joined(word, word), with_dots))

    def right(self) -> Expr:
        """Labels that begin with a character that is written from right to left."""
        b = self.b
        marks = b.concat(b.repeat(self.set("right vowels"), 0, None), self.marks)
        non_joiner = b.string("\u200c")
        joined = b.concat(
            self.set("joins left"), b.repeat(b.concat(non_joiner, self.set("joins both")), 0, None), non_joiner, self.set("joins right")
        )
        quoted = b.concat(self.set("hebrew"), b.pattern("[\u05f3\u05f4]", ECMA_FULL))
        letter = b.concat(b.union(self.set("right"), joined, quoted), marks)
        ways = []
        for digits in (("digits", "eastern digits"), ("arabic digits",)):
            unit = b.union(letter, b.concat(self.set(*digits), marks))
            rest = b.repeat(unit, 0, None)
            ways.append(self._joined(b.concat(letter, rest), b.concat(unit, rest)))
        return self._of_length(b.union(*ways))

    def _joined(self, first: Expr, other: Expr) -> Expr:
        b = self.b
        return b.concat(first, b.repeat(b.concat(b.bytes(b"-"), other), 0, None))

    def _of_length(self, label: Expr) -> Expr:
        b = self.b
        return b.intersect(label, b.union(*(b.repeat(b.chars([(0, top)]), 1, most) for top, most in _LONGEST)))

    def _of(self, flat: list[int]) -> Expr:
        return self.b.chars(zip(flat[::2], flat[1::2], strict=True))
