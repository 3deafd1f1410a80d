r"""Sets of characters that other dialects would read as operations on sets: `[a-z&&[^x]]`, `[a-z--[x]]`, `[a~~b]`, `[a||b]`, `[a[b]]`.

Idea. Here all these signs stand for themselves, as in Python's `re` and in ECMA-262 with the flag u; Rust, Java, ECMA-262 with the flag v
and the package `regex` (some of them by an option) read differences, intersections, unions and sets within sets. Python warns of them.
What is meant cannot be told from the pattern, so its meaning stays, and the report has a note. A sign behind a backslash is not noted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYWORD = "possible set operation"

_SIGN = re.compile(r"\\.|(?P<twice>[-&~|])(?=(?P=twice))|.", re.DOTALL)
_PERHAPS = re.compile(r"[-&~|]{2}|\[")
_OPERATIONS = {"-": "the difference", "&": "the intersection", "~": "the symmetric difference", "|": "the union"}
_NEXT_BRACKET = re.compile(r"(?:\\.|[^\\\[\]])*(.?)", re.DOTALL)

# One item of a pattern, as far as sets are to be found. What is not closed goes on to the end, so the time is linear.
# In ECMA-262 `[]` and `[^]` are sets, and in Python a `]` that comes first is a member.
_ITEMS = {
    "python": r"\\.|\(\?\#(?:\\.|[^)\\])*\)?|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\]?)",
    "ecma": r"\\.|\(\?\#[^)]*\)?|(?P<set>\[\^?(?:\\.|[^\]\\])*\]?)",
}
_VERBOSE = re.compile(r"\(\?[aimsu]*x[aimsux]*\)")  # with comments up to the end of the line


def in_pattern(pattern: str, dialect: str) -> Iterator[tuple[int, str]]:
    """Where in a pattern what may be a set operation stands, in characters, and what is to be said of it: one for each set."""
    comments = r"\#(?:\\.|[^\n\\])*|" if dialect == "python" and _VERBOSE.match(pattern) else ""
    for item in re.finditer(comments + _ITEMS[dialect], pattern, re.DOTALL):
        found = item["set"] and in_set(item["set"], pattern, item.end())
        if found:
            yield item.start() + found[0], found[1]


def in_set(members: str, pattern: str, end: int) -> tuple[int, str] | None:
    """The same for one set, `[...]`, which ends at `end` in a pattern; the place is counted from its bracket."""
    if not _PERHAPS.search(members, 1):  # as in most sets
        return None
    begin = 2 if members.startswith("[^") else 1
    closes = None  # told once, as what is told is the same for each sign
    for sign in _SIGN.finditer(members, begin, len(members) - 1):
        if sign["twice"] and sign.start() > begin:
            what = f"{sign[0] * 2} in a set is read sign by sign, as in Python's re, and not as {_OPERATIONS[sign[0]]} of two sets"
            return sign.start(), f"{what}: write \\{sign[0]} for the sign"
        if sign[0] == "[" and closes is None:
            closes = sign.start() == 1 or _closes(pattern, end)
        if sign[0] == "[" and closes:
            return (
                sign.start(),
                "[ in a set is the sign [ here, as in Python's re, and does not begin a set within it: write \\[ for the sign",
            )
    return None


def _closes(pattern: str, at: int) -> bool:
    """Whether the next bracket is one that closes: then a set within the set would end before, and the set there."""
    bracket = _NEXT_BRACKET.match(pattern, at)
    return bracket is not None and bracket[1] == "]"
