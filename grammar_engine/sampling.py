"""Write a random sentence of a grammar by sampling tokens under its mask, so that it ends.

Idea. A mask, read as a little-endian integer, is a set of tokens with one bit each; so are the *kinds* of tokens below, and a choice is
an AND and the pick of a random set bit. Without a model, a uniform choice would write noise and hardly ever stop: of thousands of
tokens that go on with a string one ends it. So each step first decides whether to go *on* (words) or *out* (whatever ends
what is open), and the chance of going out grows from 15 % to certainty while the budget of tokens is used up.

    kind      tokens                                used
    words     letters, digits, space, - . _         to go on in free text
    marks     printable ASCII, no backslash         to go on elsewhere: mostly by one byte that is no digit, now and then by anything
    closers   } ] ) > only, the quote, , : ;        to go out
    odd       white space, controls, backslashes    only where nothing else is allowed

Where most letters may come next the text is free (a string): there the way out is the quote, and brackets are just characters. Elsewhere it
is structure: the way out is a bracket, else the quote, else a separator.

What the budget leaves open is closed by the shortest text that makes it a sentence (`Matcher.closing_tokens`). So a text always ends, with
no end of recursion or required members in sight too; and as all that is chosen is under the mask, it is a sentence of the grammar.
"""

from __future__ import annotations

import random
import string
from typing import Protocol
from weakref import WeakKeyDictionary

from .vocabulary import Vocabulary

BUDGET = 120  # tokens
CHANCE_OF_OUT = 0.15  # at the start of a text
CHANCE_OF_MARK = 0.05  # where words are allowed too
CHANCE_OF_ANY = 0.1  # in structure: so that names in other alphabets are met too
CHANCE_OF_NAMED = 0.1  # where a special token is allowed, each time
CHANCE_OF_NO_DIGIT = 0.6  # in structure: as there are ten digits, few values would be anything but numbers
FREE_TEXT = 20  # letters that may come next: more than that is free text, less is structure


class Writer(Protocol):
    """What sampling needs of a `Matcher`."""

    def mask(self) -> bytes:
        """The allowed tokens, bit `t % 32` of little-endian word `t // 32`."""

    def accept(self, token: int) -> bool:
        """Append a token."""

    def reset(self) -> None:
        """Back to the empty text."""

    def closing_tokens(self) -> list[int]:
        """The fewest tokens that end the text."""

    @property
    def is_terminated(self) -> bool:
        """An end-of-text token was accepted."""


_LETTERS, _DIGITS = string.ascii_letters.encode(), string.digits.encode()
_WORD = _LETTERS + _DIGITS + b" ._-"
_ASCII = bytes(range(0x20, 0x7F))
_PRINTABLE = _ASCII.replace(b"\\", b"")
_ODD = bytes(range(0x20)) + b"\\"
_SINGLE = {"single": _ASCII, "letters": _LETTERS, "digits": _DIGITS, "quotes": b'"', "separators": b",:;"}  # of one byte
_known: WeakKeyDictionary[Vocabulary, Kinds] = WeakKeyDictionary()


class Kinds:
    """Kinds of tokens of one vocabulary, each an integer with one bit per token. Costs about 0.7 us per token to make."""

    words: int
    marks: int
    odd: int
    brackets: int
    exponents: int  # what begins with e or E
    single: int
    letters: int
    digits: int
    quotes: int
    separators: int

    def __init__(self, vocabulary: Vocabulary):
        self.end = sum(1 << token for token in set(vocabulary.eos))
        sets = {name: bytearray((len(vocabulary) >> 3) + 1) for name in Kinds.__annotations__}
        for token, spelling in enumerate(vocabulary.tokens):
            for name in _kinds_of(spelling):
                sets[name][token >> 3] |= 1 << (token & 7)
        for name, bits in sets.items():
            setattr(self, name, int.from_bytes(bits, "little"))

    @staticmethod
    def of(vocabulary: Vocabulary) -> Kinds:
        """Those of a vocabulary, made once while it lives."""
        kinds = _known.get(vocabulary)
        return kinds if kinds is not None else _known.setdefault(vocabulary, Kinds(vocabulary))


def _kinds_of(spelling: bytes) -> list[str]:
    found = [name for name, members in _SINGLE.items() if spelling in members] if len(spelling) == 1 else []
    if spelling[:1] in (b"e", b"E"):
        found.append("exponents")
    if spelling.isspace() or len(spelling.translate(None, _ODD)) < len(spelling):
        found.append("odd")
    elif spelling and not spelling.translate(None, _PRINTABLE):
        found.append("marks")
        if not spelling.translate(None, _WORD) and spelling.strip(b" ."):
            found.append("words")
        elif not spelling.translate(None, b"}])>"):
            found.append("brackets")
    return found


class Sampler:
    """Writes random sentences over one vocabulary."""

    def __init__(self, vocabulary: Vocabulary, rng: random.Random):
        self.vocabulary = vocabulary
        self.rng = rng
        self.kinds = Kinds.of(vocabulary)
        self.named = sum(1 << token for token in set(vocabulary.special) - set(vocabulary.eos))  # special tokens: few grammars allow any

    def write(self, writer: Writer, budget: int = BUDGET) -> bytes:
        """A random sentence of the grammar.

        Parameters
        ----------
        writer : Matcher
            Is reset first. Where its vocabulary has no end-of-text token, a text ends where nothing may follow.
        budget : int
            Tokens after which the text is closed.
        """
        writer.reset()
        text = b""
        for used in range(budget):
            allowed = int.from_bytes(writer.mask(), "little")
            if not allowed:  # the sentence is complete, and the vocabulary has no token that says so
                return text
            token = self._choose(allowed, used / budget, text[-1:].isdigit())
            writer.accept(token)
            if writer.is_terminated:
                return text
            text += self.vocabulary.token_bytes(token)
        for token in writer.closing_tokens():
            writer.accept(token)
            text += self.vocabulary.token_bytes(token)
        return text

    def _choose(self, allowed: int, pressure: float, after_digit: bool) -> int:
        """A token out of `allowed`; `pressure` is the share of the budget that is used."""
        kinds = self.kinds
        named = allowed & self.named
        if named and self.rng.random() < CHANCE_OF_NAMED:
            return self._pick(named)
        if after_digit:  # numbers of sane size: 1e999 is JSON, but no reader's number
            allowed = allowed & ~kinds.exponents or allowed
        free = (allowed & kinds.letters).bit_count() > FREE_TEXT
        if self.rng.random() < CHANCE_OF_OUT + (1 - CHANCE_OF_OUT) * pressure:
            ways = (
                [kinds.end, kinds.quotes, kinds.single & ~kinds.words]
                if free
                else [kinds.end, kinds.brackets | kinds.separators | kinds.quotes]
            )
        elif free and self.rng.random() >= CHANCE_OF_MARK:
            ways = [kinds.words]
        elif (chance := self.rng.random()) < CHANCE_OF_ANY:
            ways = [allowed & ~kinds.odd]
        else:
            ways = [kinds.single & ~kinds.digits] if chance < CHANCE_OF_NO_DIGIT else []
        for kind in (*ways, kinds.marks):
            if allowed & kind:
                return self._pick(allowed & kind)
        return self._pick(allowed)

    def _pick(self, tokens: int) -> int:
        """A random member of a set that is not empty: the k-th set bit, found by halving."""
        k = self.rng.randrange(tokens.bit_count())
        at = 0
        for power in reversed(range((tokens.bit_length() - 1).bit_length())):
            width = 1 << power
            low = tokens & ((1 << width) - 1)
            below = low.bit_count()
            if k < below:
                tokens = low
            else:
                k -= below
                tokens >>= width
                at += width
        return at
