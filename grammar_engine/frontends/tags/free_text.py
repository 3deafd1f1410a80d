"""Free text: all that has none of some texts.

What follows it may be one of these texts itself, and where free text ends is where that has been written for the first time. Mostly this is
so by itself. But behind `ab` an `aba` has been written when there is `aba` for the first time, not when the second one ends: a text may not
end with what makes a stop together with the beginning of what follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...ir import Builder, Expr


def free_text(builder: Builder, stops: Sequence[str], endings: Sequence[str]) -> Expr:
    """All texts without any of `stops`, and that do not end with any of `endings`."""
    forbidden = []
    if stops:
        forbidden.append(builder.concat(builder.text, builder.literals(text.encode() for text in stops), builder.text))
    if endings:
        forbidden.append(builder.concat(builder.text, builder.literals(text.encode() for text in endings)))
    return builder.text_minus(*forbidden) if forbidden else builder.text


def endings_of(stops: Sequence[str], following: Sequence[str]) -> dict[str, list[str]]:
    """Of each text that may follow, with what the text before it may not end: then some stop would end within, or with, what follows.

    Of the stops the one that follows may end with it: it does. Where one ending ends with another it is left out.
    """
    places: dict[str, list[tuple[str, int]]] = {}  # of each character within a stop, but not the first
    for stop in stops:
        for at in range(1, len(stop)):
            places.setdefault(stop[at], []).append((stop, at))
    found = {}
    for text in following:
        endings: list[str] = []
        for stop, at in sorted(places.get(text[0], ()), key=lambda place: place[1]):
            if text.startswith(stop[at:]) and not stop[:at].endswith(tuple(endings)):
                endings.append(stop[:at])
        found[text] = sorted(endings)
    return found


def within(inner: Sequence[str], outer: Sequence[str], *, whole: bool = False) -> Iterator[tuple[str, str]]:
    """Which texts are parts of which others; `whole`: or equal.
    Takes time in proportion to the letters of the one and the lengths of the other.
    """
    known, lengths = set(inner), sorted(set(map(len, inner)))
    for text in outer:
        for length in lengths:
            if length > len(text) or (length == len(text) and not whole):
                break
            for at in range(len(text) - length + 1):
                if text[at : at + length] in known:
                    yield text[at : at + length], text
