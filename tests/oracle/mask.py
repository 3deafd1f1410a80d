"""A mask by trying every token, byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .earley import LongestState, Recogniser, State


def step_bytes(state: State | LongestState | None, content: bytes) -> State | LongestState | None:
    """The state after `content`; None if no sentence begins so."""
    for byte in content:
        if state is None:
            return None
        state = state.step(byte)
    return state


def oracle_mask(recogniser: Recogniser, state: State | LongestState, tokens: Sequence[bytes | None], eos: Iterable[int] = ()) -> set[int]:
    """The ids that may come next. An id without bytes (None or b"") is never allowed, but for an end of text after a sentence.

    One of `eos` that has bytes is text where the text is no sentence yet.
    """
    eos = set(eos)
    allowed = {i for i, token in enumerate(tokens) if token and step_bytes(state, token) is not None}
    return allowed | (eos if recogniser.is_sentence(state) else set())
