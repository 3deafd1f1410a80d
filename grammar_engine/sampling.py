"""Write a random sentence of a grammar by sampling tokens under its mask, so that it ends.

Idea. A mask, read as a little-endian integer, is a set of tokens with one bit each; so are the *kinds* of tokens below, and a choice is
an AND and the pick of a random set bit. Without a model, a uniform choice would write noise and hardly ever stop: of thousands of
tokens that go on with a string one ends it. So each step first decides whether to go *on* (words) or *out* (whatever ends
what is open), and the chance of going out grows from 15 % to certainty while the soft budget of tokens is used up.

    kind      tokens                                used
    words     letters, digits, space, - . _         to go on in free text
    marks     printable ASCII, no backslash         to go on elsewhere: mostly by one byte that is no digit, now and then by anything
    closers   } ] ) > only, the quote, , : ;        to go out
    single    one printable byte                    past the budget: each way on is as likely as the others, however many tokens spell it
    openers   with { [ ( <                          past the budget: only where nothing else is allowed
    odd       white space, controls, backslashes    only where nothing else is allowed

Where most letters may come next the text is free (a string): there the way out is the quote, and brackets are just characters. Elsewhere it is
structure: the way out is a bracket, else the quote, else a separator. Past the budget the first of these that the mask allows is taken: end of
text, the way out, a single byte that opens nothing, any short token.

So recursion is left as soon as the grammar lets one out. That is a heuristic, with no proof for every grammar (chance rarely spells what an
unanchored pattern wants to contain): a text that is not at its end after the hard budget is given up, and begun afresh with half the soft
budget; after some attempts `DidNotEndError` is raised.

Whatever is chosen is under the mask, so a text that ends is a sentence of the grammar, always.
"""

from __future__ import annotations

import random
import re
from typing import Protocol

from .errors import GrammarEngineError
from .vocabulary import Vocabulary

SOFT_BUDGET = 120  # tokens
ATTEMPTS = 8
CHANCE_OF_OUT = 0.15  # at the start of a text
CHANCE_OF_MARK = 0.05  # where words are allowed too
CHANCE_OF_ANY = 0.1  # in structure: so that names in other alphabets are met too
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

    @property
    def is_terminated(self) -> bool:
        """An end-of-text token was accepted."""


class DidNotEndError(GrammarEngineError):
    """No attempt of `Sampler.write` came to an end within its budget.

    Attributes
    ----------
    text : bytes
        How far the last attempt came.
    """

    def __init__(self, text: bytes, budget: int):
        self.text = text
        super().__init__(f"the text did not end within {budget:,} tokens; it begins with {text[:60]!r}")


class Sampler:
    """Kinds of tokens of one vocabulary, each an integer with one bit per token. Costs about 1 us per token to make."""

    def __init__(self, vocabulary: Vocabulary, rng: random.Random):
        self.vocabulary = vocabulary
        self.rng = rng
        self.end = sum(1 << token for token in set(vocabulary.eos))
        self.words = self._tokens(rb"[A-Za-z0-9 ._-]*[A-Za-z0-9_-][A-Za-z0-9 ._-]*")
        self.letters = self._tokens(rb"[A-Za-z]")
        self.marks = self._tokens(rb"[ -\[\]-~]*[!-\[\]-~][ -\[\]-~]*")
        self.brackets = self._tokens(rb"[}\])>]+")
        self.quotes = self._tokens(rb'"')
        self.separators = self._tokens(rb"[,:;]")
        self.openers = self._tokens(rb".*[{\[(<].*")
        self.exponents = self._tokens(rb"[eE].*")
        self.odd = self._tokens(rb"\s+|.*[\x00-\x1f\\].*")
        self.digits = self._tokens(rb"[0-9]")
        self.single = self._tokens(rb"[ -~]")
        self.short = [self._tokens(rb".{1,%d}" % length) for length in (1, 2, 4)]

    def write(self, writer: Writer, soft_budget: int = SOFT_BUDGET, hard_budget: int | None = None) -> bytes:
        """A random sentence of the grammar.

        Parameters
        ----------
        writer : Matcher
            Is reset first.
        soft_budget : int
            Tokens after which the text is brought to its end as soon as the grammar allows.
        hard_budget : int, optional
            Tokens after which an attempt is given up. Default: 20 * soft_budget + 2000.

        Raises
        ------
        DidNotEndError
            See the top of this file.
        """
        if hard_budget is None:
            hard_budget = 20 * soft_budget + 2000
        for attempt in range(ATTEMPTS):
            writer.reset()
            text = self._attempt(writer, soft_budget >> attempt, hard_budget)
            if writer.is_terminated:
                return text
        raise DidNotEndError(text, hard_budget)

    def _attempt(self, writer: Writer, soft_budget: int, hard_budget: int) -> bytes:
        pieces: list[bytes] = []
        for used in range(hard_budget):
            allowed = int.from_bytes(writer.mask(), "little")
            if not allowed:
                break
            digits = bool(pieces) and pieces[-1][-1:].isdigit()
            token = self._choose(allowed, used / soft_budget if soft_budget else 1.0, digits)
            writer.accept(token)
            if writer.is_terminated:
                break
            pieces.append(self.vocabulary.token_bytes(token))
        return b"".join(pieces)

    def _choose(self, allowed: int, pressure: float, after_digit: bool) -> int:
        """A token out of `allowed`; `pressure` is the share of the soft budget that is used."""
        if after_digit:  # numbers of sane size: 1e999 is JSON, but no reader's number
            allowed = allowed & ~self.exponents or allowed
        free = (allowed & self.letters).bit_count() > FREE_TEXT
        if pressure >= 1:
            return self._pick(self._way_out(allowed, free))
        if self.rng.random() < CHANCE_OF_OUT + (1 - CHANCE_OF_OUT) * pressure:
            ways = [self.end, self.quotes, self.single & ~self.words] if free else [self.end, self.brackets | self.separators | self.quotes]
        elif free and self.rng.random() >= CHANCE_OF_MARK:
            ways = [self.words]
        elif (chance := self.rng.random()) < CHANCE_OF_ANY:
            ways = [allowed & ~self.odd]
        else:
            ways = [self.single & ~self.digits] if chance < CHANCE_OF_NO_DIGIT else []
        for kind in (*ways, self.marks):
            if allowed & kind:
                return self._pick(allowed & kind)
        return self._pick(allowed)

    def _way_out(self, allowed: int, free: bool) -> int:
        closers = [self.quotes] if free else [self.brackets, self.quotes, self.separators]
        for kind in (self.end, *closers, self.single & ~self.openers, self.single, *self.short):
            if allowed & kind:
                return allowed & kind
        return allowed

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

    def _tokens(self, pattern: bytes) -> int:
        matches = re.compile(pattern, re.DOTALL).fullmatch
        flags = bytearray((len(self.vocabulary) >> 3) + 1)
        for token, spelling in enumerate(self.vocabulary.tokens):
            if spelling and matches(spelling):
                flags[token >> 3] |= 1 << (token & 7)
        return int.from_bytes(flags, "little")
