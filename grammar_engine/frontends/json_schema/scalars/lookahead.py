"""Look-aheads at the start of a pattern, as conditions on the whole text.

Idea. A derivative sees the text once, from left to right, so the core has no look-ahead. But one that stands right after `^` says
something of the text as a whole, and texts have intersection and complement:

    ^(?!X)(?=Y)Z   =   what ^(?:Z) matches, without what ^(?:X) matches, of what ^(?:Y) matches

Other look-aheads are left where they are, and refused by the core.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Condition(NamedTuple):
    """A pattern that is to match somewhere, or not to."""

    pattern: str
    is_wanted: bool


def conditions_of(source: str) -> list[Condition]:
    """Conditions that together say what a pattern does: one, or those of its look-aheads and of what follows them."""
    if not source.startswith(("^(?=", "^(?!")):
        return [Condition(source, True)]
    conditions = []
    at = 1
    top_level = (i for i, depth in _marks(source, at) if depth == 0)
    while source[at : at + 3] in ("(?=", "(?!"):
        end = next((i for i in top_level if source[i] == ")"), None)
        if end is None or source[end + 1 : end + 2] in tuple("*+?{"):
            return [Condition(source, True)]  # malformed: for the core to say
        conditions.append(Condition(f"^(?:{source[at + 3 : end]})", source[at + 2] == "="))
        at = end + 1
    if any(source[i] == "|" for i in top_level):
        return [Condition(source, True)]  # the look-aheads are those of the first alternative only
    return [*conditions, Condition(f"^(?:{source[at:]})", True)]


def _marks(source: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the parentheses and bars are from a place on, outside of classes and escapes, with the depth of groups after each."""
    depth, in_class = 0, False
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()|":
            depth += (char == "(") - (char == ")")
            yield at, depth
        at += 1
