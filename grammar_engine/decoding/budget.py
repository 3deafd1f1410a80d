"""A text under a grammar that is to be complete when its budget of tokens is used up.

Budget. `r` tokens may still be written. A token fits if after it a *closing* of at most r - 1 tokens exists: tokens that end the text from there. No
distance from the budget makes the question needless, for one token can open an object of a thousand members. But what the engine must be asked
for shrinks to little:

    the shortest closing has so few bytes     nothing is searched: the engine knows the least length of what must come. So it is in most texts
      that a token for each would do            until the budget is near
    the last closing that was found is still  one walk over known states. So it is inside strings and between items
      accepted, and short enough
    else                                      the shortest closing after the token is searched

The first two are asked with the token and the next mask in one call (csrc/match/tn.c), for a turn of the loop costs more by the calls that it takes than
by what they do.

A token that does not fit is taken back, and another is drawn from what remains; that is a draw from the distribution restricted to the tokens that
fit. If nothing of it remains, the filters are applied anew without the refused tokens. After `TRIES` refusals in one step the next token of
a closing is written. So if the budget holds a closing at the start, it does at each step, and the text is always completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from .._native import ffi, lib
from ..errors import InternalError, LimitExceededError, VocabularyError
from ..mask import allocate_masks
from ..matcher import Matcher

TRIES = 1024  # tokens refused in one step because they do not fit

_SIZE_MAX = 2 ** (8 * ffi.sizeof("size_t")) - 1  # of ge_turn.left: the text need not be completed


class BudgetedText:
    """A text under a grammar and a budget.

    Invariant: with `close_in_time`, some closing is at most `budget` tokens long. `closing` is one that was found, not always of the text as it is now.
    """

    def __init__(self, matcher: Matcher, budget: int, close_in_time: bool):
        self.matcher = matcher
        self.budget = budget
        self.close_in_time = close_in_time
        self.closing: list[int] = []
        self.mask = allocate_masks(1, matcher.vocabulary, "numpy")[0]
        self._ends = np.zeros_like(self.mask)
        for token in matcher.vocabulary.eos:
            self._ends.view(np.uint32)[token >> 5] |= 1 << (token & 31)
        self._prepare()
        if not self._turn_to([], budget) and close_in_time:
            self.closing = matcher.closing_tokens()
            if len(self.closing) > budget:
                raise ValueError(f"max_new_tokens = {budget}, and the shortest way to the end of the text takes {len(self.closing)} tokens")

    def _prepare(self) -> None:
        """What belongs to this object alone."""
        self._one = ffi.new("int64_t[1]")
        self._turn = ffi.new("ge_turn *", {"mask": ffi.from_buffer("uint32_t[]", self.mask)})
        self._seen = 0  # of the next token, as ge_turn_result has it; 0: its mask is not in `mask`

    def fork(self) -> BudgetedText:
        """An independent copy."""
        twin = copy(self)
        twin.matcher, twin.mask = self.matcher.fork(), self.mask.copy()
        twin._prepare()
        return twin

    # --- writing ----------------------------------------------------------------------------------------------------

    def accept(self, tokens: Sequence[int]) -> bool:
        """Append tokens that the grammar allows; False, and nothing has changed, if the text could not be completed after them."""
        left = self.budget - len(tokens)
        if not self._turn_to(tokens, left) and not self._search(tokens, left):
            return False
        self.budget = left
        return True

    def _turn_to(self, tokens: Sequence[int], left: int) -> bool:
        """Append tokens and write the next mask, in one call; False, and nothing has changed, if it takes more."""
        turn, ids, closing = self._turn, self._one, self.closing
        if len(tokens) == 1:
            ids[0] = tokens[0]
        else:
            ids = ffi.new("int64_t[]", tokens)
        turn.tokens, turn.n_tokens = ids, len(tokens)
        turn.left = left if self.close_in_time else _SIZE_MAX
        turn.n_closing = 0
        if closing:
            if closing[: len(tokens)] == list(tokens):
                closing = closing[len(tokens) :]
            held = ffi.new("int64_t[]", closing)
            turn.closing, turn.n_closing = held, len(closing)
        result = lib.ge_matcher_turn(self.matcher._handle, turn, self.matcher._err)
        if not result:
            return False
        self.closing, self._seen = closing, result
        return True

    def _search(self, tokens: Sequence[int], left: int) -> bool:
        """`accept` by single calls, which tell of failures."""
        if self.matcher.accept_tokens(tokens) != len(tokens):
            raise InternalError(f"tokens {tokens} are allowed and were not accepted")
        closing = self._closing_after(tokens, left) if self.close_in_time else self.closing
        if closing is None:
            self.matcher.rollback(len(tokens))
            return False
        self.closing, self._seen = closing, 0
        return True

    def _closing_after(self, tokens: Sequence[int], left: int) -> list[int] | None:
        """A closing of at most `left` tokens after `tokens`, which the matcher has read."""
        closing = self.closing
        if closing[: len(tokens)] == list(tokens):
            closing = closing[len(tokens) :]
        if self.matcher.is_terminated:
            return []
        if self._holds(closing, left):
            return closing
        try:
            closing = self.matcher.closing_tokens()
        except (LimitExceededError, VocabularyError):  # if there is one, nobody knows it
            return None
        return closing if len(closing) <= left else None

    def _holds(self, closing: list[int], left: int) -> bool:
        if not 0 < len(closing) <= left:
            return False
        n = self.matcher.accept_tokens(closing)
        ends = n == len(closing) and self.matcher.is_complete  # not every text that the grammar takes is a sentence
        self.matcher.rollback(n)
        return ends

    def way_out(self) -> int:
        """The next token of a closing that fits."""
        if not self._holds(self.closing, self.budget):
            self.closing = self.matcher.closing_tokens()
        return self.closing[0]

    def back(self, n: int, closing: list[int]) -> None:
        """Undo the last `n` tokens; `closing` is what it was before them."""
        self.matcher.rollback(n)
        self.budget += n
        self.closing, self._seen = closing, 0

    # --- what comes next --------------------------------------------------------------------------------------------

    @property
    def has_choice(self) -> bool:
        """`mask` is that of the next token, and nothing must come."""
        return bool(self._seen == lib.GE_TURN_CHOICE)

    def write_alone(self) -> list[int]:
        """Append what needs no model, and return it: forced text; else the only token that may come, or the end if nothing else may.

        Where there is a choice nothing is appended, and `mask` is that of the next token.
        """
        if self.has_choice:
            return []
        tokens = self.matcher.forced_tokens()[: self.budget]
        if tokens and self.accept(tokens):
            return tokens
        self.fill_mask()
        tokens = [self.matcher.vocabulary.eos[0]] if not (self.mask & ~self._ends).any() else _only(self.mask)
        return tokens if tokens and self.accept(tokens) else []

    def fill_mask(self) -> None:
        """`mask` = that of the next token."""
        if not self._seen:
            self.matcher.fill_mask(self.mask)
            self._seen = lib.GE_TURN_ALONE  # as far as is known


def _only(mask: NDArray[np.int32]) -> list[int]:
    """The token of a mask that has a single one."""
    words = np.flatnonzero(mask)
    if len(words) != 1:
        return []
    bits = int(mask[words[0]]) & 0xFFFF_FFFF
    return [] if bits & (bits - 1) else [32 * int(words[0]) + bits.bit_length() - 1]
