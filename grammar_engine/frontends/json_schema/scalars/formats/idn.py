"""`idn-hostname`: names with characters outside ASCII (U-labels), by RFC 5890 to 5893.

Idea. A label is a sequence of units, in words that are joined by single hyphens. A unit is a letter or digit with its marks, or a short
sequence that makes a character valid which is so only in context (RFC 5892, appendix A). So everything is written from small parts,
without an intersection but for the lengths, and it is cheap to know that a text can still become a name. That an A-label has at most 63 octets
is an operator of the core (`Builder.label`).

    left     labels without characters that are written from right to left
    right    labels that begin with one; with European or with Arabic digits (RFC 5893, section 2)

A-labels (`xn--...`) are exact, as in hosts.py. The set is smaller than that of the RFCs where the rules for U-labels would have to remember more:

- There are no two hyphens in a row in a U-label, and no labels of other directions than the two above.
- Marks are in the order of normalisation form C, each combining class at most once. Marks that are composed with some letter are left
  out if their combining class is not 0 (the composed letter is to be used); of class 0, they do not follow what they are composed with.
  In `idn-email` that holds only behind the few letters that normalisation may take apart into more characters (`lengthening`).
- Joiners stand between Arabic letters without marks, or behind a virama that stands behind a letter or vowel sign itself.
- A U-label that has at most 63 octets in Punycode is left out if a beginning of it has more. Only odd mixtures of scripts are known that have.
- A name may have at most 253 octets: it is all in ASCII, or it has up to 3 U-labels (of up to 63 octets) and `_LONGEST_NAME` characters.
- Characters are those of the Unicode version in data/idna.json.

In a name with a U-label that is written from right to left the other labels are such too, or in ASCII and begin with a letter, and no A-labels. In a
name with other U-labels no A-label stands for one that is written from right to left.

Labels of `idn-email` need not be in normalisation form C, as the official suite has it: who resolves a name normalises it. In everything else
they are U-labels, both as they are written and normalised: so no joiner stands behind a virama that could be composed or moved.

Their lengths, too, hold in both forms, so they are those that fit whatever the characters are: `_LONGEST`. Form C never has more characters than
what is written, because `lengthening` letters are an exception (U+1ED1 and U+031B would become three characters). It has the same row of
`_LONGEST`, but for this: two characters below U+0800 may be composed to one below U+2000. With one such beside 17 others a label has at most 56
octets in Punycode, and fewer with more of them, as each takes the place of two.
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


def host_name(b: Builder, dots: str = _DOTS, *, normalised: bool = True) -> Expr:
    """Names in ASCII, and names with up to three U-labels; `dots` is a pattern for what is between labels, `normalised`: in form C only."""
    labels = _Labels(b, normalised=normalised)
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

    def __init__(self, b: Builder, *, normalised: bool):
        self.b, self.normalised = b, normalised
        ordered = b.concat(*(b.optional(self._of(flat)) for flat in _tables()["ordered"]))
        self.joiner = b.concat(self.set("viramas"), b.pattern(r"[\u200C\u200D]", ECMA_FULL))
        self.ordered = b.union(ordered, self.joiner)
        self.unjoined = ordered if normalised else b.repeat(self.set("marks"), 0, None)
        self.marks = b.union(self.unjoined, self.joiner)

    def set(self, *names: str) -> Expr:
        """A character of some classes."""
        return self._of([code for name in names for code in _tables()[name]])

    def marked(self, *names: str) -> Expr:
        """A character of some classes, with marks."""
        return self.b.concat(self.set(*names), self.marks)

    def left(self) -> Expr:
        """Labels without characters that are written from right to left."""
        b = self.b
        letter = b.union(
            self.marked("left", "eastern digits"),
            b.concat(self.set("lengthening"), self.ordered),
            b.pattern("l(?:\u00b7l)+", ECMA_FULL),
            b.concat(b.string("\u0375"), self.marked("greek")),
        )
        word = self._normalised_word(letter) if self.normalised else self._word(letter)
        japanese = b.union(self.set("kana and han"), b.pattern("[a-z0-9\u30fc\u30fb]", ECMA_FULL))
        with_dots = b.concat(b.repeat(japanese, 0, None), self.set("kana and han"), b.repeat(japanese, 0, None))
        return self._of_length(b.union(self._joined(word, word), with_dots))

    def _word(self, letter: Expr) -> Expr:
        """Letters and vowel signs, composed or not."""
        b = self.b
        letter = b.union(letter, self.marked("first letters"))
        sign = b.union(self.marked("vowels"), b.concat(self.set("firsts", "second vowels"), self.unjoined))
        return b.concat(letter, b.repeat(b.union(letter, sign), 0, None))

    def _normalised_word(self, letter: Expr) -> Expr:
        """Letters and vowel signs, of which no second follows what it would be composed with."""
        b = self.b
        unit, first_letter = b.union(letter, self.marked("vowels")), self.marked("first letters")
        firsts = b.repeat(b.union(b.concat(self.set("firsts"), self.unjoined), first_letter), 0, None)  # no second vowel follows
        second_or_unit = b.union(self.marked("second vowels"), b.concat(firsts, unit))
        begin = b.union(letter, b.concat(first_letter, firsts, unit))
        return b.union(b.concat(begin, b.repeat(second_or_unit, 0, None), firsts), b.concat(first_letter, firsts))

    def right(self) -> Expr:
        """Labels that begin with a character that is written from right to left."""
        b = self.b
        vowels = b.repeat(self.set("right vowels"), 0, None)
        non_joiner = b.string("\u200c")
        joined = b.concat(
            self.set("joins left"), b.repeat(b.concat(non_joiner, self.set("joins both")), 0, None), non_joiner, self.set("joins right")
        )
        quoted = b.concat(self.set("hebrew"), b.pattern("[\u05f3\u05f4]", ECMA_FULL))
        begin = b.concat(b.union(self.set("right"), joined, quoted), vowels)
        letter = b.concat(b.repeat(b.concat(begin, self.joiner), 0, None), begin, self.unjoined)  # no joiner is the last character
        ways = []
        for digits in (("digits", "eastern digits"), ("arabic digits",)):
            unit = b.union(letter, b.concat(self.set(*digits), vowels, self.unjoined))
            rest = b.repeat(unit, 0, None)
            ways.append(self._joined(b.concat(letter, rest), b.concat(unit, rest)))
        return self._of_length(b.union(*ways))

    def _joined(self, first: Expr, other: Expr) -> Expr:
        b = self.b
        return b.concat(first, b.repeat(b.concat(b.bytes(b"-"), other), 0, None))

    def _of_length(self, label: Expr) -> Expr:
        """Those that fit into 63 octets: all of them, or in `idn-email` those that do whatever their characters are."""
        b = self.b
        if self.normalised:
            return b.label(label)
        return b.intersect(label, b.union(*(b.repeat(b.chars([(0, top)]), 1, most) for top, most in _LONGEST)))

    def _of(self, flat: list[int]) -> Expr:
        return self.b.chars(zip(flat[::2], flat[1::2], strict=True))
