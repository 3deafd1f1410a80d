"""A text under a grammar that is to be complete when its budget of tokens is used up.

Budget. `r` tokens may still be written. A token fits if after it a *closing* of at most r - 1 tokens exists: tokens that end the text from
there. No distance from the budget makes the question needless, for one token can open an object of a thousand members. But what the engine
must be asked for shrinks to little:

    the shortest closing has so few bytes     nothing is searched: the engine knows the least length of what must come. So it is in most
                                              texts
      that a token for each would do            until the budget is near
    it takes so few tokens                    that is kept with each state: it is searched and counted from a state once
    a closing that is held is still           one walk over known states. There is one only where the shortest text took more tokens than
      accepted, and short enough                the budget, and a longer one does not

These are asked with the token and the next mask in one call (csrc/match/tn.c),
for a turn of the loop costs more by the calls that it takes than by what they do.

A token that does not fit is taken back, and another is drawn from what remains; that is a draw from the distribution restricted to the
tokens that fit. If nothing of it remains, the filters are applied anew without the refused tokens. After `TRIES` refusals in one step the
next token of a closing is written. So if the budget holds a closing at the start, it does at each step, and the text is always completed.

The shortest closing has the fewest bytes, not the fewest tokens. If at the start it takes more than the budget, a search for any other that
does not is made, once; from there the way is held until the text has come near enough to its end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._native import Held, fast_text, ffi, lib
from ..errors import InternalError, LimitExceededError, VocabularyError
from ..matcher import Matcher
from .apply import RowMask

MAX_BUDGET = (1 << 63) - 1  # the most that `max_new_tokens` may be
TRIES = 1024  # tokens refused in one step because they do not fit

_TURN, _WORDS, _IDS = ffi.typeof("ge_turn *"), ffi.typeof("uint32_t[]"), ffi.typeof("int64_t[]")
_ACCEPTED = (lib.GE_TURN_CHOICE, lib.GE_TURN_ALONE)
_ALL = 65_536  # tokens of a closing, at most
_ALONE = 256  # tokens that are appended at once where there is no choice
_SPARE = 16  # pages that are kept for texts to come


class _Page:
    """The memory of a text: its turn, its mask, and what applies that.
    A fresh one takes half of the time in which a text is begun, so some are kept.
    """

    __slots__ = ("mask", "masked", "memory", "turn")
    kept: ClassVar[deque[_Page]] = deque(maxlen=_SPARE)  # of texts that are over

    def __init__(self, words: int):
        self.mask: NDArray[np.int32] = np.empty(words, dtype=np.int32)
        self.memory = ffi.from_buffer(_WORDS, self.mask)  # which the turn does not keep
        self.turn = ffi.new(_TURN, (self.memory,))
        self.masked = RowMask(self.mask).masked

    @classmethod
    def of(cls, words: int) -> _Page:
        """A page for masks of so many words."""
        try:
            page = cls.kept.pop()
        except IndexError:
            return cls(words)
        return page if len(page.mask) == words else cls(words)


@fast_text
class BudgetedText(Held):
    """A text under a grammar and a budget. It belongs to one thread at a time.

    Invariant: with `close_in_time`, some closing is at most `budget` tokens long.
    `closing` is one that was found, not always of the text as it is now.
    """

    def __init__(self, matcher: Matcher, budget: int, close_in_time: bool):
        self._prepare(matcher, budget, close_in_time, [])
        if self._turn_to([]) not in _ACCEPTED and close_in_time:
            self.closing = _closing_within(matcher, budget)

    def _prepare(self, matcher: Matcher, budget: int, close_in_time: bool, closing: list[int]) -> None:
        page = self._page = _Page.of(matcher._words)
        turn = self._turn = page.turn
        turn.closing, turn.n_closing, turn.left, turn.must_close, turn.next = ffi.NULL, 0, budget, close_in_time, lib.GE_TURN_NONE
        turn.steps = _steps(matcher)
        self._hold(turn, 0, 0, matcher)
        self.matcher, self.mask, self.masked, self._memory = matcher, page.mask, page.masked, page.memory
        self._closing_ids: Any = None
        if closing:
            self.closing = closing

    def leave(self) -> None:
        """The text is over, and nothing of it is used from now on: its memory is for the next one."""
        self._page.kept.append(self._page)

    @property
    def budget(self) -> int:
        """Tokens that may still be written."""
        return int(self._turn.left)

    @property
    def close_in_time(self) -> bool:
        """The text is to be complete within the budget."""
        return bool(self._turn.must_close)

    @property
    def closing(self) -> list[int]:
        """Tokens that end the text, of which the invariant speaks; [] where none was needed yet."""
        turn = self._turn
        return ffi.unpack(turn.closing, turn.n_closing) if turn.n_closing else []

    @closing.setter
    def closing(self, tokens: list[int]) -> None:
        turn = self._turn
        turn.n_closing = 0  # the turn borrows them: at no moment are those told of that have gone
        self._closing_ids = turn.closing = ffi.new(_IDS, tokens)
        turn.n_closing = len(tokens)

    def fork(self) -> BudgetedText:
        """An independent copy."""
        twin = type(self).__new__(type(self))
        twin._prepare(self.matcher.fork(), self.budget, self.close_in_time, self.closing)
        return twin

    # --- writing ----------------------------------------------------------------------------------------------------

    def accept(self, *tokens: int) -> bool:
        """Append tokens that the grammar allows; False, and nothing has changed, if the text could not be completed after them."""
        result = self._turn_to(tokens)
        return result in _ACCEPTED or (result == lib.GE_TURN_NONE and self._search(tokens, self.budget - len(tokens)))

    def _turn_to(self, tokens: Sequence[int]) -> int:
        """Append tokens and write the next mask, in one call; the `ge_turn_result`."""
        return int(lib.ge_matcher_turn(self.matcher._handle, self._turn, tokens, len(tokens), self.matcher._err))

    def _search(self, tokens: Sequence[int], left: int) -> bool:
        """`accept` by single calls, which tell of failures."""
        self._check_place()
        if self.matcher.accept_tokens(tokens) != len(tokens):
            raise InternalError(f"tokens {tokens} are allowed and were not accepted")
        closing = self._closing_after(tokens, left) if self.close_in_time else self.closing
        if closing is None:
            self.matcher.rollback(len(tokens))
            return False
        self.closing = closing
        self._read(left)
        return True

    def _read(self, left: int) -> None:
        """The text is another one, and nothing is known of its next token."""
        self._turn.left, self._turn.next, self._turn.steps = left, lib.GE_TURN_NONE, _steps(self.matcher)

    def _check_place(self) -> None:
        """Raise RuntimeError if the matcher is not where the text has left it."""
        if _steps(self.matcher) != self._turn.steps:
            raise RuntimeError(
                "the matcher was moved by others while a text was written with it: give each text a matcher, or a fork, of its own"
            )

    def _closing_after(self, tokens: Sequence[int], left: int) -> list[int] | None:
        """A closing of at most `left` tokens after `tokens`, which the matcher has read."""
        closing = _rest(self.closing, tokens)
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
        ends = n == len(closing) and self.matcher.is_terminated  # a token that the grammar names may be one that ends texts elsewhere
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
        self.closing = closing
        self._read(self.budget + n)

    # --- what comes next --------------------------------------------------------------------------------------------

    @property
    def has_choice(self) -> bool:
        """`mask` is that of the next token, and there is a choice (False: maybe there is)."""
        return bool(self._turn.next == lib.GE_TURN_CHOICE)

    def write_alone(self) -> list[int]:
        """Append what needs no model, and return it: forced text; else the only token that may come, or the end if nothing else may.

        Where there is a choice nothing is appended, and `mask` is that of the next token.
        """
        if self.has_choice:
            return []
        self.fill_mask()
        out, n_out = ffi.new(_IDS, _ALONE), ffi.new("size_t *")
        written = lib.ge_matcher_turn_alone(self.matcher._handle, self._turn, out, _ALONE, n_out, self.matcher._err)
        tokens = ffi.unpack(out, n_out[0])
        return tokens if written in _ACCEPTED or (tokens and self.accept(*tokens)) else []

    def fill_mask(self) -> None:
        """`mask` = that of the next token."""
        if not self._turn.next:
            self._check_place()
            self.matcher.fill_mask(self.mask)
            self._turn.next = lib.GE_TURN_ALONE  # as far as is known


def _steps(matcher: Matcher) -> int:
    return int(lib.ge_matcher_length(matcher._handle))


def _rest(closing: list[int], tokens: Sequence[int]) -> list[int]:
    """What is left of a closing after tokens that may be its first."""
    return closing[len(tokens) :] if closing[: len(tokens)] == list(tokens) else closing


def _closing_within(matcher: Matcher, budget: int) -> list[int]:
    """A closing of at most so many tokens; raises ValueError if none is found."""
    try:
        shortest = matcher.closing_tokens()
    except (LimitExceededError, VocabularyError) as error:  # a text that is much longer may be spelt all the same
        return _any_closing(matcher, budget, error)
    if len(shortest) <= budget:
        return shortest
    complaint = f"max_new_tokens = {budget}, and the shortest text takes {len(shortest)} tokens"
    try:
        closing = matcher.closing_within(budget)
    except LimitExceededError as error:
        raise ValueError(f"{complaint}; whether a longer one takes fewer was not found out: {error}") from None
    if closing is None:
        raise ValueError(f"{complaint}; none takes so few")
    return closing


def _any_closing(matcher: Matcher, budget: int, error: Exception) -> list[int]:
    """The same, where the shortest is not known; `error` tells why."""
    try:
        closing = matcher.closing_within(budget)
        if closing is not None:
            return closing
        if matcher.closing_within(_ALL) is None:
            raise error
    except LimitExceededError as limit:
        raise ValueError(f"max_new_tokens = {budget}; whether some text takes so few tokens was not found out: {limit}") from None
    raise ValueError(f"max_new_tokens = {budget}, and no text takes so few tokens")
