"""Warming: the states and masks that texts will need, computed before the first request.

Never needed: whatever is not there is made when a text asks for it, and then kept. Warming moves that cost to a time of one's choice.

A decoding loop asks for more than masks: whether the text can still be closed in time, and what is forced. After a forward pass each of
these costs as much as the mask that it comes with, and so they are computed along with it (`_Scout`). Where alternatives are thousands they
cost ten times as much; so in random texts they have no more time than the masks, and who asks for masks alone has most of these too.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from ._native import ffi, lib
from .checks import as_int, check_number
from .errors import VocabularyError
from .matcher import Matcher
from .sampling import Sampler
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    from .grammar import Grammar

STILL = 24  # texts one after the other that have needed no new mask: enough is known
_AMPLE = 1 << 30  # tokens: a budget that no text is near


def warm(grammar: Grammar, vocabulary: Vocabulary, seconds: float, examples: Iterable[str | bytes], seed: int) -> int:
    """See `Grammar.warm`."""
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"a vocabulary is a Vocabulary, not {type(vocabulary).__name__}")
    if not (isinstance(seconds, float) and seconds == math.inf):  # until nothing new is found
        seconds = check_number("seconds", seconds, 0)
    texts, seed = _checked(examples), as_int("seed", seed)
    sampler = Sampler(
        vocabulary, random.Random(seed)
    )  # the first one over a vocabulary looks at its tokens, which is not of the grammar's time
    before, end = grammar.stats.mask_builds, time.monotonic() + seconds
    scout, still = _Scout(grammar, vocabulary), 0
    speaker = vocabulary._naming(grammar._named) if grammar._named else vocabulary
    for tokens in [speaker.encode_greedy(text) for text in texts]:
        scout.read(tokens)
    scout.credit = 0
    while time.monotonic() < end and still < STILL:
        builds = grammar.stats.mask_builds
        try:
            sampler.write(scout)
        except VocabularyError:  # no token goes on with this text. Its last mask is not kept, and so it is no sign of anything new
            still += 1
        else:
            still = still + 1 if grammar.stats.mask_builds == builds else 0
    return grammar.stats.mask_builds - before


def _checked(examples: Iterable[str | bytes]) -> list[bytes]:
    """The texts of a list, as bytes."""
    if isinstance(examples, (str, bytes, bytearray, memoryview)):
        raise TypeError("examples is a list of texts, not one text")
    if not isinstance(examples, Iterable):
        raise TypeError(f"examples is a list of texts, not {type(examples).__name__}")
    texts = []
    for index, text in enumerate(examples):
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"examples[{index}] is neither str nor bytes, but {type(text).__name__}")
        try:
            texts.append(text.encode() if isinstance(text, str) else bytes(text))
        except UnicodeEncodeError:
            raise ValueError(f"examples[{index}] has a lone surrogate, which is no character") from None
    return texts


class _Scout(Matcher):
    """A matcher that finds, with each mask, what else a turn of a decoding loop
    asks for, while it has `credit`: seconds that masks took and the rest did not.
    """

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary):
        super().__init__(grammar, vocabulary)
        self._words_of_turn = ffi.new("uint32_t[]", self._words)  # which the turn does not keep
        self._turn = ffi.new("ge_turn *", (self._words_of_turn, ffi.NULL, 0, _AMPLE, True))
        self.credit = math.inf

    def read(self, tokens: list[int]) -> None:
        """A text from its beginning, as far as it is a sentence, with all its masks."""
        self.reset()
        with suppress(VocabularyError):
            self.mask()
            for token in tokens:
                if not self.accept(token):
                    break
                self.mask()

    def mask(self) -> bytes:
        begun = time.monotonic()
        mask = super().mask()  # raises, where there is a reason to; a turn of no tokens has none of its own
        made = time.monotonic()
        self.credit += made - begun
        if self.credit > 0:
            self._turn.steps = lib.ge_matcher_length(self._handle)
            if lib.ge_matcher_turn(self._handle, self._turn, ffi.NULL, 0, self._err) == lib.GE_TURN_ALONE:
                self.forced_bytes()
            self.credit -= time.monotonic() - made
        return mask
