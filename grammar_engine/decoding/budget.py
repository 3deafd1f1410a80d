"""A text under a grammar that is to be complete when its budget of tokens is used up.

Budget. `r` tokens may still be written. The text holds a *closing*: tokens that end the text from here, at most r of them. A token fits if
after it a closing of at most r - 1 tokens exists. What the engine must be asked for that shrinks to little:

    the token is the first of the closing    the rest of it is the new closing
    r - 1 allows the closing as it is, and   it stays: so it is inside strings and between items, where most tokens are written;
      it is still accepted after the token     one walk over known states, no search
    else                                     the shortest closing after the token is searched

So a search is made only where something was opened or the budget is near, and nothing is searched twice. No distance from the budget makes the
question needless: one token can open an object of a thousand members.

A token that does not fit is taken back, and another is drawn from what remains; that is a draw from the distribution restricted to the tokens that
fit. If nothing of it remains, the filters are applied anew without the refused tokens. After `TRIES` refusals in one step the next token of
the closing is written. So if the budget holds a closing at the start, it does at each step, and the text is always completed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import InternalError, LimitExceededError, VocabularyError
from ..mask import allocate_masks
from ..matcher import Matcher

TRIES = 1024  # tokens refused in one step because they do not fit


class BudgetedText:
    """A text under a grammar and a budget.

    Invariant: with `close_in_time`, `closing` completes the text, and is at most `budget` tokens long.
    """

    def __init__(self, matcher: Matcher, budget: int, close_in_time: bool):
        self.matcher = matcher
        self.budget = budget
        self.mask = allocate_masks(1, matcher.vocabulary, "numpy")[0]
        self.ends = np.zeros_like(self.mask)
        for token in matcher.vocabulary.eos:
            self.ends.view(np.uint32)[token >> 5] |= 1 << (token & 31)
        self.closing: list[int] | None = matcher.closing_tokens() if close_in_time else None
        if self.closing is not None and len(self.closing) > budget:
            raise ValueError(f"max_new_tokens = {budget}, and the shortest way to the end of the text takes {len(self.closing)} tokens")

    def accept(self, tokens: Sequence[int]) -> bool:
        """Append tokens that the grammar allows; False, and nothing has changed, if the text could not be completed after them."""
        if self.matcher.accept_tokens(tokens) != len(tokens):
            raise InternalError(f"tokens {tokens} are allowed and were not accepted")
        left = self.budget - len(tokens)
        if self.closing is not None:
            closing = self._closing_after(tokens, self.closing, left)
            if closing is None:
                self.matcher.rollback(len(tokens))
                return False
            self.closing = closing
        self.budget = left
        return True

    def _closing_after(self, tokens: Sequence[int], closing: list[int], left: int) -> list[int] | None:
        """A closing of at most `left` tokens after `tokens`, which the matcher has read; `closing` was one before them."""
        if closing[: len(tokens)] == list(tokens):
            return closing[len(tokens) :]
        if self.matcher.is_terminated:
            return []
        if len(closing) <= left and self.matcher.validate(closing) == len(closing):
            return closing
        try:
            closing = self.matcher.closing_tokens()
        except (LimitExceededError, VocabularyError):  # if there is one, nobody knows it
            return None
        return closing if len(closing) <= left else None

    def write_alone(self) -> list[int]:
        """Append what needs no model, and return it: forced text; else the only token that may come, or the end if nothing else may.

        Where there is a choice nothing is appended, and `mask` is that of the next token.
        """
        tokens = self.matcher.forced_tokens()[: self.budget]
        if tokens and self.accept(tokens):
            return tokens
        self.fill_mask()
        tokens = [self.matcher.vocabulary.eos[0]] if not (self.mask & ~self.ends).any() else _only(self.mask)
        return tokens if tokens and self.accept(tokens) else []

    def fill_mask(self) -> None:
        """`mask` = that of the next token."""
        self.matcher.fill_mask(self.mask)


def _only(mask: NDArray[np.int32]) -> list[int]:
    """The token of a mask that has a single one."""
    words = np.flatnonzero(mask)
    if len(words) != 1:
        return []
    bits = int(mask[words[0]]) & 0xFFFF_FFFF
    return [] if bits & (bits - 1) else [32 * int(words[0]) + bits.bit_length() - 1]
