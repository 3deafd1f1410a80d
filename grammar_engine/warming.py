"""Warming: the states and masks that texts will need, computed before the first request.

Never needed: whatever is not there is made when a text asks for it, and then kept. Warming moves that cost to a time of one's choice.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .matcher import Matcher
from .sampling import Sampler

if TYPE_CHECKING:
    from .grammar import Grammar
    from .vocabulary import Vocabulary

STILL = 8  # texts one after the other that have needed no new mask: enough is known


def warm(grammar: Grammar, vocabulary: Vocabulary, seconds: float, examples: Iterable[str | bytes], seed: int) -> int:
    """See `Grammar.warm`."""
    before, end = grammar.stats.mask_builds, time.monotonic() + seconds
    matcher, still = Matcher(grammar, vocabulary), 0
    for text in examples:
        matcher.reset()
        for token in vocabulary.encode_greedy(text.encode() if isinstance(text, str) else bytes(text)):
            matcher.mask()
            if not matcher.accept(token):
                break
    sampler = Sampler(vocabulary, random.Random(seed))
    while time.monotonic() < end and still < STILL:
        builds = grammar.stats.mask_builds
        sampler.write(matcher)
        still = still + 1 if grammar.stats.mask_builds == builds else 0
    return grammar.stats.mask_builds - before
