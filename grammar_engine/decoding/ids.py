"""Texts as ids: what a caller gives as a prompt, and how much two texts have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..checks import as_int


def prompt_of(ids: Any) -> list[int]:
    """A prompt as a list of ints, from a sequence of integers of any type, an array or a tensor; raises if it is none, or empty."""
    if isinstance(ids, (str, bytes)):
        raise TypeError(f"a prompt is the ids of its tokens, not {type(ids).__name__}: encode the text with the model's tokenizer")
    if isinstance(ids, Mapping):
        raise TypeError(f"a prompt is the ids of its tokens, not {type(ids).__name__}: give its ids alone")
    shape = getattr(ids, "shape", None)
    if shape is not None and len(shape) != 1:
        raise ValueError(f"a prompt has the shape (length,), not {tuple(shape)}: give the ids of one text")
    if not hasattr(ids, "__iter__"):
        raise TypeError(f"a prompt is the ids of its tokens, not {type(ids).__name__}")
    prompt = [as_int("a token of a prompt", token) for token in (ids.tolist() if hasattr(ids, "tolist") else ids)]
    if not prompt:
        raise ValueError("a prompt has no tokens: a model needs at least one to go on from")
    if min(prompt) < 0:
        raise ValueError(f"a token of a prompt is not negative, as {min(prompt)} is")
    return prompt


def common_prefix(ours: Sequence[int], theirs: Sequence[int]) -> int:
    """Length of the longest common prefix, by halves: texts may be long, and slices are compared at once."""
    equal, differs = 0, min(len(ours), len(theirs)) + 1  # all before `equal` is; the first `differs` are not
    while differs - equal > 1:
        middle = (equal + differs) // 2
        if ours[equal:middle] == theirs[equal:middle]:
            equal = middle
        else:
            differs = middle
    return equal
