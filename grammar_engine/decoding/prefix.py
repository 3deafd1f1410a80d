"""How much two texts, as ids, have in common at their beginning."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def common_prefix(ours: Sequence[int], theirs: Sequence[int]) -> int:
    """Length of the longest common prefix. `ours` is nearly always all of it, and is compared at once: texts may be long."""
    if ours == theirs[: len(ours)]:
        return len(ours)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs)))
