"""A lease: the hold of one running text on its blocks.

    ids       t0 t1 t2 t3 t4 t5 t6 t7 t8 t9
    blocks    [ t0 .. t3 ][ t4 .. t7 ][t8 t9]     the last one only if partial blocks are shared

A text grows at its end. Where partial blocks are shared, the last one is replaced by one of more tokens: under a new key, and if it was alone on the
old one, that goes. A block that other texts hold too stays as it is for them, which is copy on write. If the longer block is there already, from
another text, it is taken, and nothing is made.

Blocks may also be *offered*: they are made when somebody looks, at the latest when the text grows or ends. What few texts ask for is then done at once at
the end, by code and on data that are in the processor's caches, and not in between.

Invariants. The blocks of a lease are consecutive from position 0, and it counts as one user of each. All but the last are full. They are added by one at a
time, under the lock of the lease: its owner, or another text that takes up the offer. While they are, only that thread can call `release` (the collector
of garbage does, for a text that was left): then the blocks go when all are there.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from .block import Block

if TYPE_CHECKING:
    from .cache import PrefixCache

P = TypeVar("P")


class Lease(Generic[P]):
    """The blocks of a running text; made by `PrefixCache.acquire`. A context manager: it is released at the end.

    A lease belongs to one thread at a time; `make`, and what is told of payloads that go, do not use it.

    Attributes
    ----------
    matched : int
        How many tokens were found when it was acquired: their payloads need not be computed.
    """

    __slots__ = ("_blocks", "_cache", "_found", "_ids", "_is_growing", "_lock", "_offered", "_open", "_root", "_salt", "matched")

    def __init__(self, cache: PrefixCache[P], salt: bytes, root: bytes, ids: array[int], blocks: list[Block[P]]):
        self._cache = cache
        self._salt = salt
        self._root = root
        self._ids = ids
        self._blocks = blocks
        self._found = [True] * len(blocks)  # of each block: it was there already
        self._open = True
        self._lock = threading.RLock()  # who has it may add blocks
        self._is_growing = False  # somebody does
        self._offered: tuple[int, Callable[[int, int], P]] | None = None  # up to where, and what makes them
        self.matched = len(ids)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def block_size(self) -> int:
        """Tokens of a full block."""
        return self._cache.block_size

    @property
    def share_partial(self) -> bool:
        """Whether its last block may be one that is not full."""
        return self._cache.share_partial

    @property
    def tokens(self) -> list[int]:
        """The text so far."""
        return self._ids.tolist()

    @property
    def blocks(self) -> tuple[Block[P], ...]:
        """Its blocks, from the first."""
        return tuple(self._blocks)

    @property
    def payloads(self) -> list[P]:
        """Those of its blocks, from the first."""
        return [block.payload for block in self._blocks]

    @property
    def covered(self) -> int:
        """How many tokens its blocks hold."""
        return self._blocks[-1].stop if self._blocks else 0

    def extend(self, tokens: Iterable[int], make: Callable[[int, int], P]) -> None:
        """Go on with the text.

        Parameters
        ----------
        tokens : iterable of int
            What comes next.
        make : callable
            `make(start, stop)` gives the payload of the block of positions start .. stop - 1. It is called for blocks that are not in the
            cache, in their order, without a lock. The cache owns what it returns.

        Raises
        ------
        ValueError
            The lease was released.

        Notes
        -----
        Other texts find the new blocks at the end of the call. If `make` raises, the tokens are in the text and the blocks made so far stay; the
        next call makes those that are missing.
        """
        more = array("q", tokens)
        with self._lock:
            self._check()
            self._ids.extend(more)
            self._cover(len(self._ids), make)

    def extend_to(self, text: Iterable[int], make: Callable[[int, int], P]) -> None:
        """`extend` by what comes in `text` after what is there.

        Raises
        ------
        ValueError
            The text begins otherwise, or the lease was released.
        """
        ids = array("q", text)
        with self._lock:
            self._go_on(ids)
            self._cover(len(ids), make)

    def offer(self, text: Iterable[int], make: Callable[[int, int], P]) -> None:
        """`extend_to`, put off: whoever acquires a text next, or asks for the `stats`, makes the blocks before he does that, in his thread.

        If nobody does, `extend` and `extend_to` add these blocks with their own, and `release` adds them. What cannot be made then is not there, and
        nobody is told.

        Raises
        ------
        ValueError
            As for `extend_to`.
        """
        ids = array("q", text)
        with self._lock:
            self._go_on(ids)
            self._offered = len(ids), make
            self._cache._offers[self] = None

    def _check(self) -> None:
        if not self._open:
            raise ValueError("the lease was released")
        if self._is_growing:
            raise ValueError("the lease is just being extended")

    def _go_on(self, ids: array[int]) -> None:
        n = len(self._ids)
        self._check()
        if ids[:n] != self._ids:
            raise ValueError(f"the text does not go on from the {n} tokens of the lease")
        self._ids = ids

    def _cover(self, end: int, make: Callable[[int, int], P]) -> None:
        """Take or make the blocks that are missing before `end`, which is not before that of an offer."""
        cache, blocks = self._cache, self._blocks
        if not cache.share_partial:
            end -= end % cache.block_size
        covered = blocks[-1].stop if blocks else 0
        if covered < end:
            self._is_growing = True
            try:
                cache._extend(self, covered - covered % cache.block_size, end, make)
            finally:
                self._is_growing = False
                if not self._open:
                    cache._release(self)
        if self._offered is not None:
            self._withdraw()

    def _withdraw(self) -> None:
        self._offered = None
        self._cache._offers.pop(self, None)

    def _take_up(self) -> None:
        """Add the blocks that were offered, if any."""
        offered = self._offered
        if offered is not None and not self._is_growing:
            self._withdraw()
            with suppress(Exception):
                self._cover(*offered)

    def _take_up_unless_busy(self) -> None:
        """`_take_up` for another text. What is just being made is not waited for: so nobody waits for a text that waits for him."""
        if self._lock.acquire(blocking=False):
            try:
                self._take_up()
            finally:
                self._lock.release()

    def release(self) -> None:
        """The text is finished: its blocks are idle, unless others use them. More than once does nothing."""
        if self._cache._puts_off(self):
            return
        with self._lock:
            self._take_up()
            was_open, self._open = self._open, False
            if was_open and not self._is_growing:
                self._cache._release(self)

    def __enter__(self) -> Lease[P]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "" if self._open else ", released"
        return f"<Lease of {len(self._ids)} tokens in {len(self._blocks)} blocks, {self.matched} tokens matched{state}>"
