"""Why a token or a text cannot come next: what was expected there, for programs and for people. `Matcher.explain` makes it."""

from __future__ import annotations

from dataclasses import dataclass

_RANGES, _NAMES = 8, 16  # of bytes, and of lexemes, that a message lists


@dataclass(frozen=True)
class Explanation:
    """Why a token or a text cannot come next, or that it can.

    Attributes
    ----------
    accepted : bool
        All of it can come next.
    position : int
        How many of its bytes can: the index of the first that is refused.
    byte : int or None
        That byte; None if all are accepted, or if the refused token is no text.
    expected : tuple of str
        What was expected there: names of lexemes, shortest first.
    expected_bytes : bytes
        The bytes that could have come there, ascending.
    rules : tuple of str
        The rules that are under way there, in the order of the grammar.
    where : tuple of str
        Where these lexemes and rules come from in the source: JSON pointers, or "line:column". Of a part of a larger source (a tag, a
        structural tag, a schema in a Lark grammar) behind the place of the part, as in the report.
    reason : str
        Of a refused token that is no text: why, as a sentence. Otherwise "".
    """

    accepted: bool
    position: int
    byte: int | None
    expected: tuple[str, ...] = ()
    expected_bytes: bytes = b""
    rules: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        if self.accepted:
            return "accepted"
        if self.reason:
            return self.reason
        what = "it is no text" if self.byte is None else f"byte {self.position} ({bytes((self.byte,))!r}) is refused"
        return f"{what}, {self._asked()}"

    def _asked(self) -> str:
        if not self.expected:
            return "the text must end here"
        where = f", at {', '.join(repr(place) if place else 'the root' for place in self.where)}" if self.where else ""
        return f"expected {alternatives(self.expected)} (next {ranges_of(self.expected_bytes)}{where})"


def alternatives(names: tuple[str, ...]) -> str:
    """Names as alternatives; of many the first ones."""
    others = len(names) - _NAMES
    return " or ".join(names[:_NAMES]) + (f" or {others:,} more" if others > 0 else "")


def ranges_of(ascending: bytes) -> str:
    """Bytes as ranges, `b'-' b'0'-b'9'`; of many ranges the first ones."""
    ranges: list[tuple[int, int]] = []
    for byte in ascending:
        if ranges and byte == ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], byte
        else:
            ranges.append((byte, byte))
    shown = [repr(bytes((first,))) + (f"-{bytes((last,))!r}" if last > first else "") for first, last in ranges[:_RANGES]]
    return " ".join(shown) + (" ..." if len(ranges) > _RANGES else "")
