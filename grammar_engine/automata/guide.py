"""Guides: one text under a token automaton.

The surface is that of `outlines_core.Guide`, so one can stand in for the other. A guide is a number, the state it is in, and the last few before
it, in an array as narrow as the states are; thousands share one table.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from .._native import ffi, lib
from ..errors import TokenRejectedError
from ..mask import rows_of
from .dfa import TokenDFA

_advance, _next, _fill, _fill_at = lib.ge_dfa_advance, lib.ge_dfa_next, lib.ge_dfa_fill_mask, lib.ge_dfa_fill_mask_at
_MAX_ID = 1 << 62


class Guide:
    """A text that is being written under a `TokenDFA`.

    Parameters
    ----------
    dfa : TokenDFA
    max_rollback : int
        How many steps `rollback_state` can take back.

    Notes
    -----
    A guide belongs to one thread at a time. It costs about 70 bytes, and with the first step 64 and then 1, 2 or 4 (by the number of states) for
    each step that can be taken back.

    Differences from `outlines_core.Guide`: after an end-of-text token only end-of-text tokens are allowed; a refused token raises
    `TokenRejectedError`, a `ValueError`, and changes nothing; `reset` forgets the steps before it.
    """

    __slots__ = ("_dfa", "_history", "_state", "max_rollback")

    def __init__(self, dfa: TokenDFA, max_rollback: int = 32):
        if not isinstance(dfa, TokenDFA):
            raise TypeError(f"a Guide is made of a TokenDFA, not of {type(dfa).__name__}")
        if isinstance(max_rollback, bool) or not isinstance(max_rollback, int):
            raise TypeError(f"max_rollback is an int, not {type(max_rollback).__name__}")
        if max_rollback < 0:
            raise ValueError(f"max_rollback is at least 0, not {max_rollback}")
        self._dfa = dfa
        self._state = 0
        self._history: array[int] | None = None  # made with the first step
        self.max_rollback = max_rollback

    # --- masks ------------------------------------------------------------------------------------------------------

    def get_tokens(self, mask: Any = None) -> list[int] | None:
        """The tokens that may come next: as a list, ascending; or into a mask.

        Parameters
        ----------
        mask : numpy array, torch CPU tensor, array, bytearray or memoryview, optional
            As for `Matcher.fill_mask`, one row. It is overwritten, and nothing is returned. Costs a copy of the row, whatever it allows.
        """
        dfa = self._dfa
        if mask is None:
            return _tokens(dfa, self._state)
        memory, rows = rows_of(mask, dfa._words)
        if rows != 1:
            raise _wrong_rows(rows)
        _fill(dfa._handle, self._state, memory)
        return None

    def write_mask_into(self, data_ptr: int, numel: int, element_size: int = 4) -> None:
        """Write the mask to an address.

        Parameters
        ----------
        data_ptr : int
            Of `numel` words of 32 bits, aligned to 4 bytes.
        numel : int
            ceil(width / 32).
        element_size : int
            4.

        Raises
        ------
        ValueError
            The numbers do not fit the vocabulary. (That the memory is there cannot be checked.)
        """
        dfa = self._dfa
        if element_size != 4 or numel != dfa._words:
            raise ValueError(f"a mask has {dfa._words} elements of 4 bytes, not {numel} of {element_size}")
        if data_ptr & 3 or data_ptr <= 0:
            raise ValueError("data_ptr is null, or not aligned to 4 bytes")
        _fill_at(dfa._handle, self._state, data_ptr)

    # --- writing ----------------------------------------------------------------------------------------------------

    def advance(self, token_id: int, mask: Any = None, *, return_tokens: bool = True) -> list[int] | None:
        """Append a token.

        Parameters
        ----------
        token_id : int
        mask : buffer, optional
            As for `get_tokens`: filled for what comes next.
        return_tokens : bool
            Without a mask: return the list of tokens that may come next.

        Raises
        ------
        TokenRejectedError
            The token may not come next. Nothing has changed, the mask neither.
        """
        dfa, before = self._dfa, self._state
        token = token_id if type(token_id) is int and -1 < token_id < _MAX_ID else _as_id(token_id)
        if mask is None:
            state = _next(dfa._handle, before, token)
        else:
            memory, rows = rows_of(mask, dfa._words)
            if rows != 1:
                raise _wrong_rows(rows)
            state = _advance(dfa._handle, before, token, memory)
        if state < 0:
            raise self._rejected(token_id)
        history = self._history
        if history is None:
            history = self._history = array(dfa._state_type)
        history.append(before)
        if len(history) > self.max_rollback:
            del history[0]
        self._state = state
        return _tokens(dfa, state) if mask is None and return_tokens else None

    def _rejected(self, token_id: int) -> Exception:
        spelling = self._dfa.vocabulary.token_bytes(token_id) if 0 <= token_id < self._dfa.vocabulary.size else b""
        return TokenRejectedError(token_id, spelling, _Refusal())

    def rollback_state(self, n: int) -> None:
        """Take back the last `n` steps.

        Raises
        ------
        ValueError
            More than `get_allowed_rollback()`; nothing has changed.
        """
        allowed = self.get_allowed_rollback()
        if not 0 <= n <= allowed:
            raise ValueError(f"rollback of {n} steps: {allowed} can be taken back")
        if n and self._history:
            self._state = self._history[-n]
            del self._history[-n:]

    def get_allowed_rollback(self) -> int:
        """How many steps can be taken back."""
        return len(self._history or ())

    def reset(self) -> None:
        """Back to the empty text."""
        self._state = 0
        self._history = None

    # --- questions --------------------------------------------------------------------------------------------------

    def accepts_tokens(self, sequence: Sequence[int]) -> bool:
        """Whether these tokens, in order, may come next. Changes nothing."""
        handle, state = self._dfa._handle, self._state
        for token in sequence:
            state = _next(handle, state, _as_id(token))
            if state < 0:
                return False
        return True

    def get_state(self) -> int:
        """The state, from 0 to `dfa.num_states`."""
        return self._state

    def is_finished(self) -> bool:
        """Whether the text so far is a sentence: it matches, and may end here."""
        return bool(lib.ge_dfa_accepts(self._dfa._handle, self._state))

    def __copy__(self) -> Guide:
        twin = Guide(self._dfa, self.max_rollback)
        twin._state = self._state
        twin._history = self._history and self._history[:]
        return twin

    def __deepcopy__(self, memo: object) -> Guide:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"<Guide in state {self._state} of {self._dfa.num_states:,}>"


class _Refusal:
    """What a table knows of why a token is refused: nothing."""

    position = 0
    expected: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "it may not come next (Matcher(dfa).explain tells why)"


def _wrong_rows(rows: int) -> Exception:
    return ValueError(f"the mask has {rows} rows, not one")


def _tokens(dfa: TokenDFA, state: int) -> list[int]:
    out = ffi.new("uint32_t[]", dfa.vocabulary.size)
    return list(out[0 : lib.ge_dfa_tokens(dfa._handle, state, out)])


def _as_id(token: Any) -> int:
    """An int that the core can be asked about."""
    if type(token) is not int:
        if isinstance(token, bool) or not hasattr(token, "__index__"):
            raise TypeError(f"a token is an int, not {type(token).__name__}")
        token = token.__index__()
    return token if -1 < token < _MAX_ID else -1
