"""A block: some tokens of a text at a fixed place, and what was computed for them.

    text      t0 t1 t2 t3 | t4 t5 t6 t7 | t8 t9
    blocks    start 0  <--  start 4  <--  start 8       each refers to its parent, the block before it

Invariants. A block begins at a multiple of the block size and has 1 to that many tokens: *full*, or *partial*. Its tokens never change:
growth replaces it. So a parent is always full, and a block with its parents spells a whole prefix: two blocks stand for the same prefix if
and only if parent (the same object), salt and tokens are the same.

A block is *registered* if it is in the table of its cache. One that is not (its key belongs to another block) is private to one sequence.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...checks import check_iterable

P = TypeVar("P")


def ids_of(tokens: Iterable[int]) -> array[int]:
    """Tokens as an array.

    Raises
    ------
    TypeError
        They are text or bytes, which an array would take for eight to a token.
    ValueError
        One takes more than 64 bits.
    """
    if isinstance(tokens, (str, bytes, bytearray)):
        raise TypeError(f"tokens are ids, not {type(tokens).__name__}")
    check_iterable("tokens", tokens, "ids")
    try:
        return array("q", tokens)
    except OverflowError:
        raise ValueError("a token takes more than 64 bits") from None


@dataclass(eq=False, slots=True)
class Block(Generic[P]):
    """See the top of this file.

    Attributes
    ----------
    key : bytes
        The hash that it is found by.
    parent : Block or None
        The block before it; None for the first one of a text.
    salt : bytes
        The world that the text belongs to.
    start : int
        How many tokens come before it.
    tokens : array of int64
    payload : object
        What was computed for these positions.
    size : int
        Bytes of the payload.
    users : int
        Sequences that hold it now.
    uses : int
        Sequences that have held it so far.
    last_used : int
        Tick of the last use.
    registered : bool
        It is in the table.
    """

    key: bytes
    parent: Block[P] | None
    salt: bytes
    start: int
    tokens: array[int]
    payload: P
    size: int = 0
    users: int = 0
    uses: int = 1
    last_used: int = 0
    registered: bool = False

    @property
    def stop(self) -> int:
        """The position after its last token."""
        return self.start + len(self.tokens)

    def stands_for(self, parent: Block[P] | None, salt: bytes, tokens: array[int]) -> bool:
        """Whether it is the block of these tokens at this place: the hash is only a hint."""
        return self.tokens == tokens and self.parent is parent and self.salt == salt
