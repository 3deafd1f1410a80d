"""Mode "commit": all tokens of a group are kept, as they are drawn from the rows of one pass.

    ids      a  b  c  P  P  P        P: the pad, an unknown token
    rows           0  1  2  3        row i, read at the i-th pad, is of the (i + 1)-th new token

Row 0 is the model's own distribution. The others are guesses, of a text in which the tokens between are not known; so the output is not
distributed as if it were written one token at a time. Under a grammar each row is masked in the state that the rows before it led to, a
token that the grammar alone determines takes the place of its row, and a row that is not trusted ends the group.
"""

from __future__ import annotations

from .group_size import GroupSize
from .passes import Request, Writing
from .result import GroupedResult
from .text import Text


def commit(text: Text, size: GroupSize, pad: int, seen: int | None) -> Writing[GroupedResult]:
    """Write a text.

    Parameters
    ----------
    text : Text
    size : GroupSize
    pad : int
        The id that stands for an unknown token.
    seen : int or None
        Positions that a pass can see: of a longer text the last ones.
    """
    result = text.result
    result.forced += text.force()
    while text.open:
        group = size.now
        [rows] = yield [Request(visible([*text.ids, *[pad] * (group - 1)], seen), group)]
        result.calls += 1
        result.rows_read += group
        text.begin_group()
        begun, used, whole = len(text.ids), 0, True
        while text.open and (place := len(text.ids) - begun) < group:
            outlook = text.outlook(rows[place], place)
            if place and not outlook.trusted:
                whole = False
                break
            text.take(outlook)
            used += 1
            result.forced += text.force()
        result.rows_dropped += group - used
        size.learn(whole)
    return text.finish()


def visible(ids: list[int], seen: int | None) -> list[int]:
    """The part of a text that a pass sees."""
    return ids if seen is None else ids[-seen:]
