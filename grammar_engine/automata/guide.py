"""Guides: one text under a token automaton.

The surface is that of `outlines_core.Guide`, so one can stand in for the other. A guide is a record of the core (`csrc/dfa/gd.c`): the
state it is in, and the last few before it, as narrow as states are; thousands share one table. A step is one call of the core, with the
mask after it: mostly one of `csrc/python/calls.c`, which overrides some methods of this class.

Invariants: a guide has one automaton for life, so states and masks are those of that one, whatever threads do. A record has a name here
while the core is at work on it without the GIL: another thread, which should not, may begin anew meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from .._native import Held, Record, fast_guide, ffi, lib
from ..checks import as_int, check_count, check_iterable
from ..errors import TokenRejectedError
from ..explanation import Explanation
from ..mask import MaskBuffer, check_alignment, rows_of
from .dfa import TokenDFA

_advance, _fill, _fill_at = lib.ge_guide_advance, lib.ge_guide_fill_mask, lib.ge_guide_fill_mask_at
_NOWHERE = ffi.NULL
_FEW = 32  # states that a new record has room for: by default all. (One that moves leaves a hole)
_MAX_ID = 1 << 62
_MOST = 1 << 31  # of steps that can be taken back


@fast_guide
class Guide(Held):
    """A text that is being written under a `TokenDFA`.

    Parameters
    ----------
    dfa : TokenDFA
    max_rollback : int
        How many steps `rollback_state` can take back.

    Notes
    -----
    A guide belongs to one thread at a time. It costs 144, 176 or 240 bytes, by the number of states, and 1, 2 or 4 for each step beyond 32
    that can be taken back, with room for up to twice as many.

    Differences from `outlines_core.Guide`: after an end-of-text token only end-of-text tokens are allowed; a refused token raises
    `TokenRejectedError`, a `ValueError`, and changes nothing; `reset` forgets the steps before it; guides are neither compared nor
    pickled.
    """

    __slots__ = ()  # _handle: the record; _keeps: the automaton, to which it refers. There may be many guides

    def __init__(self, dfa: TokenDFA, max_rollback: int = 32):
        if not isinstance(dfa, TokenDFA):
            raise TypeError(f"a Guide is made of a TokenDFA, not of {type(dfa).__name__}")
        if hasattr(self, "_keeps"):
            raise TypeError("a Guide is made once: reset() begins again, and another automaton is for another Guide")
        max_rollback = check_count("max_rollback", max_rollback, least=0)
        self._begin(dfa, _FEW, min(max_rollback, _MOST))

    def _begin(self, dfa: TokenDFA, capacity: int, most: int, before: Record | None = None) -> None:
        """A new record; it goes on from another one, or at the empty text."""
        capacity = min(capacity, most)
        record = Record(lib.ge_guide_words(dfa._handle, capacity))
        lib.ge_guide_init(record.pointer, dfa._handle, capacity, most, before.pointer if before else _NOWHERE)
        self._hold(record, dfa._words, 0, dfa)

    @property
    def _dfa(self) -> TokenDFA:
        dfa: TokenDFA = self._keeps
        return dfa

    @property
    def max_rollback(self) -> int:
        """How many steps `rollback_state` can take back, at most 2**31."""
        record = self._handle
        return int(lib.ge_guide_most(record.pointer))

    # --- masks ------------------------------------------------------------------------------------------------------

    @overload
    def get_tokens(self, mask: None = None) -> list[int]: ...

    @overload
    def get_tokens(self, mask: object) -> None: ...

    def get_tokens(self, mask: Any = None) -> list[int] | None:
        """The tokens that may come next: as a list, ascending; or into a mask.

        Parameters
        ----------
        mask : MaskBuffer, numpy array, torch CPU tensor, array, bytearray or memoryview, optional
            As for `Matcher.fill_mask`, one row. It is overwritten, and nothing is returned. Costs a copy of the row, whatever it allows.
        """
        if mask is None:
            return self._dfa._tokens(self.get_state())
        if type(mask) is MaskBuffer and mask._fixed_words == self._dfa._words and mask._rows == 1:
            memory = mask._handle
        else:
            memory = _row_of(mask, self._dfa)
        record = self._handle
        _fill(record.pointer, memory)
        return None

    def write_mask_into(self, data_ptr: int, numel: int, element_size: int = 4) -> None:
        """Write the mask to an address.

        Parameters
        ----------
        data_ptr : int
            Of `numel` words of 32 bits, aligned to 4 bytes.
        numel : int
            ceil(width / 32), or more: in words beyond the mask nothing is allowed.
        element_size : int
            4.

        Raises
        ------
        ValueError
            The numbers do not fit the vocabulary. (That the memory is there cannot be checked.)
        """
        words, record = self._dfa._words, self._handle
        if element_size != 4 or numel < words:
            raise ValueError(f"a mask has {words} elements of 4 bytes, not {numel} of {element_size}")
        try:
            refused = _fill_at(record.pointer, data_ptr, numel)
        except OverflowError:
            refused = True
        if refused:
            raise ValueError("data_ptr is no address, or not aligned to 4 bytes, or numel leads out of memory")

    # --- writing ----------------------------------------------------------------------------------------------------

    @overload
    def advance(self, token_id: int, mask: None = None, *, return_tokens: Literal[True] | None = None) -> list[int]: ...

    @overload
    def advance(self, token_id: int, mask: None = None, *, return_tokens: Literal[False]) -> None: ...

    @overload
    def advance(self, token_id: int, mask: object = None, *, return_tokens: bool | None = None) -> list[int] | None: ...

    def advance(self, token_id: int, mask: Any = None, *, return_tokens: bool | None = None) -> list[int] | None:
        """Append a token.

        Parameters
        ----------
        token_id : int
        mask : buffer, optional
            As for `get_tokens`: filled for what comes next. (A bool in its
            place is `return_tokens`, which comes second in `outlines_core`.)
        return_tokens : bool, optional
            Without a mask: return the list of tokens that may come next. False: do not.

        Raises
        ------
        TokenRejectedError
            The token may not come next. Nothing has changed, the mask neither.
        """
        token = token_id if type(token_id) is int else _as_id(token_id)
        if isinstance(mask, bool) and return_tokens is None:
            mask, return_tokens = None, mask
        if mask is None:
            memory = _NOWHERE
        elif type(mask) is MaskBuffer and mask._fixed_words == self._dfa._words and mask._rows == 1:
            memory = mask._handle
        else:
            memory = _row_of(mask, self._dfa)
        try:
            while failed := _advance((record := self._handle).pointer, token, memory):
                if failed == lib.GE_GUIDE_REFUSED:
                    raise self._rejected(token)
                # (At least a few: what is kept may be less by now.)
                self._begin(self._dfa, max(_FEW, 2 * lib.ge_guide_before(record.pointer)), self.max_rollback, record)
        except OverflowError:
            raise self._rejected(token) from None
        return self.get_tokens() if mask is None and (return_tokens is None or return_tokens) else None

    def _rejected(self, token_id: int) -> Exception:
        spelling = self._dfa.vocabulary.token_bytes(token_id) if 0 <= token_id < self._dfa.vocabulary.size else b""
        reason = f"token {token_id} is refused: it may not come next (Matcher(dfa).explain tells why)"
        return TokenRejectedError(token_id, spelling, Explanation(False, 0, None, reason=reason))

    def rollback_state(self, n: int) -> None:
        """Take back the last steps.

        Parameters
        ----------
        n : int
            How many.

        Raises
        ------
        ValueError
            More than `get_allowed_rollback()`; nothing has changed.
        """
        n = check_count("n", n, least=0)
        record = self._handle
        if lib.ge_guide_rollback(record.pointer, min(n, _MOST + 1)):
            raise ValueError(f"rollback of {n} steps: {self.get_allowed_rollback()} can be taken back")

    def get_allowed_rollback(self) -> int:
        """How many steps can be taken back."""
        record = self._handle
        return int(lib.ge_guide_before(record.pointer))

    def reset(self) -> None:
        """Back to the empty text."""
        self._begin(self._dfa, _FEW, self.max_rollback)

    # --- questions --------------------------------------------------------------------------------------------------

    def accepts_tokens(self, sequence: Sequence[int]) -> bool:
        """Whether some tokens, in order, may come next. Changes nothing.

        Parameters
        ----------
        sequence : sequence of int

        Returns
        -------
        bool
        """
        check_iterable("sequence", sequence, "ids")
        handle, state = self._dfa._handle, self.get_state()
        for token in sequence:
            state = lib.ge_dfa_next(handle, state, _as_id(token))
            if state < 0:
                return False
        return True

    def get_state(self) -> int:
        """The state, from 0 to `dfa.num_states`."""
        record = self._handle
        return int(lib.ge_guide_state(record.pointer))

    def is_finished(self) -> bool:
        """Whether the text so far is a sentence: it matches, and may end here."""
        record = self._handle
        return bool(lib.ge_guide_accepts(record.pointer))

    def __copy__(self) -> Guide:
        twin = Guide(self._dfa, self.max_rollback)
        twin._begin(self._dfa, max(_FEW, self.get_allowed_rollback()), self.max_rollback, self._handle)
        return twin

    def __deepcopy__(self, memo: object) -> Guide:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError("a Guide cannot be pickled: send the tokens, and advance a new Guide by them")

    def __repr__(self) -> str:
        return f"<Guide in state {self.get_state()} of {self._dfa.num_states:,}>"


def _row_of(mask: Any, dfa: TokenDFA) -> Any:
    """The memory of a mask."""
    memory, rows = rows_of(mask, dfa._words)
    if rows != 1:
        raise ValueError(f"the mask has {rows} rows, not one")
    check_alignment(memory)
    return memory


def _as_id(token: Any) -> int:
    """An int that the core can be asked about."""
    token = as_int("a token", token)
    return token if -1 < token < _MAX_ID else -1
