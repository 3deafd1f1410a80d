"""Free text: all that has none of some texts.

What follows it may be one of these texts itself, and where free text ends is where that has been written for the first time. Mostly this is so by
itself. But behind `ab` an `aba` has been written when there is `aba` for the first time, not when the second one ends: a text may not end with what
makes a stop together with the beginning of what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...ir import Builder, Expr


def free_text(builder: Builder, stops: Sequence[str], before: str | None) -> Expr:
    """All texts without any of `stops`; with `before` behind them, too, none of these ends before that does, nor with it.

    Of the stops the one that is `before` itself may end with it: it does.
    """
    if not stops:
        return builder.text
    forbidden = [builder.concat(builder.text, builder.literals(_encoded(stops)), builder.text)]
    endings = {stop[:cut] for stop in stops for cut in range(1, len(stop)) if before and before.startswith(stop[cut:])}
    if endings:
        forbidden.append(builder.concat(builder.text, builder.literals(_encoded(sorted(endings)))))
    return builder.text_minus(*forbidden)


def _encoded(texts: Sequence[str]) -> list[bytes]:
    return [text.encode() for text in texts]
