"""Mode "verify": a group is a draft, and the next pass checks it, so that the text is distributed as if written one token at a time.

    pass k        ids   a  b  c  P  P  P            x is drawn from row 0, which is the model's own; y and z are drafts of rows 1 and 2
    pass k + 1    ids   a  b  c  x  y  z  P  P      rows at x and y: the model's own, for y and z. Row at z: for the token after them.
                                                    Rows at the pads: the next drafts.

Idea. A draft y was drawn from a known distribution q. Now that the model's own distribution p is known, y is kept with probability
min(1, p(y) / q(y)), and else replaced by a draw from max(0, p - q), normalised: the result is distributed as p, whatever q is [1]_. The
first replacement ends the check, for what was drafted behind it continues another text. q may depend on anything that is known
before the draw. So a draft may stop before any row, and the rows behind a replaced token, which were read with the wrong token before
them, serve for the next draft as the pads' rows do (`redraft`).

Both distributions are masked, penalised and filtered alike, in the same state. A draft that does not fit into the budget is kept as the
last one: it is checked as the first draw that it was, and then struck, as in a text that is written one token at a time.

Every pass gives at least one token. Under greedy choice the tokens are exactly those of the plain loop.

References
----------
.. [1] Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative Decoding", 2023, section 2.3 and appendix A.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..models import Logits
from ..scores import Probabilities, choose
from .commit import visible
from .group_size import GroupSize
from .passes import Request, Writing
from .result import GroupedResult, count
from .text import Text


class Draft(NamedTuple):
    """A token, where it stands behind the certain part of the text, and the distribution that it was drawn from."""

    place: int
    token: int
    chances: Probabilities


def verify(text: Text, size: GroupSize, pad: int, seen: int | None, redraft: bool) -> Writing[GroupedResult]:
    """Write a text.

    Parameters
    ----------
    text : Text
    size : GroupSize
    pad : int
        The id that stands for an unknown token.
    seen : int or None
        Positions that a pass can see: of a longer text the last ones.
    redraft : bool
        Draft from the rows behind a token that was replaced.
    """
    result = text.result
    result.forced += text.force()
    drafts: list[Draft] = []
    behind: list[int] = []  # ids behind the certain text: drafts, and what the grammar determined between them
    while text.open:
        certain = len(text.ids)
        pads = min(size.now, text.left - len(behind)) - 1
        if seen is not None:
            pads = min(pads, seen - certain - len(behind))
        pads = max(pads, 0)
        n_rows = len(behind) + 1 + pads
        [rows] = yield [Request(visible([*text.ids, *behind, *[pad] * pads], seen), n_rows)]
        result.calls += 1
        result.rows_read += n_rows
        whole, n_used = _check(text, rows, drafts)
        if drafts or size.now == 1:
            size.learn(whole)
        drafts, behind = [], []
        place = len(text.ids) - certain
        if text.open and (whole or redraft):
            drafts, behind = _draft(text, rows[place : place + size.now - 1], seen)
        result.rows_dropped += n_rows - n_used - len(drafts)
    return text.finish()


def _check(text: Text, rows: Logits, drafts: Sequence[Draft]) -> tuple[bool, int]:
    """Append what the model's own rows say; whether all drafts were kept, and how many rows were used."""
    begun, result = len(text.ids), text.result
    for number, draft in enumerate(drafts):
        outlook = text.outlook(rows[draft.place])
        token = keep_or_replace(draft.token, draft.chances, outlook.chances, text.rng)
        kept = text.settle(token, outlook) == draft.token
        result.forced += text.force()
        count(result.drafted, number)
        if not kept:
            return False, number + 1
        count(result.accepted, number)
    place = len(text.ids) - begun
    if not text.open or place >= len(rows):  # no such row: the grammar has determined more than a pass can see
        return True, len(drafts)
    text.take(text.outlook(rows[place]))
    result.forced += text.force()
    return True, len(drafts) + 1


def _draft(text: Text, rows: Logits, seen: int | None) -> tuple[list[Draft], list[int]]:
    """Draw from rows of guesses; the drafts, and the ids behind the certain text that a pass can see. The text is left as it was.

    Whether a row is drawn from is settled before it is drawn from. To drop a draft for what it turned out to be would favour others.
    """
    certain, mark = len(text.ids), text.mark()
    drafts: list[Draft] = []
    while text.open and (place := len(text.ids) - certain) < len(rows):
        outlook = text.outlook(rows[place], place + 1)
        if not outlook.trusted:
            break
        token = choose(outlook.chances, text.rng)
        drafts.append(Draft(place, token, outlook.chances))
        if not text.push(token):
            break
        text.force()
    behind = text.ids[certain:seen]
    text.back(mark)
    return drafts, behind


def keep_or_replace(token: int, proposal: Probabilities, target: Probabilities, rng: np.random.Generator) -> int:
    """A token that is distributed as `target`, given one that was drawn from `proposal`; as often as possible, that one."""
    if rng.random() * proposal[token] < target[token]:
        return token
    rest = np.maximum(target - proposal, 0)
    return choose(rest if rest.any() else target, rng)  # all 0: the two are equal up to rounding
