"""A lease: the hold of one running text on its blocks.

    ids       t0 t1 t2 t3 t4 t5 t6 t7 t8 t9
    blocks    [ t0 .. t3 ][ t4 .. t7 ][t8 t9]     the last one only if partial blocks are shared

A text grows at its end. Where partial blocks are shared, the last one is replaced by one of more tokens: under a new key, and if it was
alone on the old one, that goes. A block that other texts hold too stays as it is for them, which is copy on write. If the longer block is
there already, from another text, it is taken, and nothing is made.

Invariants. The blocks of a lease are consecutive from position 0, and it counts as one user of each. All but the last are full.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .block import Block, ids_of

if TYPE_CHECKING:
    from .cache import PrefixCache

P = TypeVar("P")


class Lease(Generic[P]):
    """The blocks of a running text; made by `PrefixCache.acquire`. A context manager: it is released at the end.

    A lease belongs to one thread at a time. One that is dropped is released as well, when it is collected.

    Attributes
    ----------
    matched : int
        How many tokens were found when it was acquired: their payloads need not be computed.
    """

    __slots__ = ("_blocks", "_cache", "_extends", "_found", "_ids", "_is_released", "_open", "_root", "_salt", "_torn", "matched")

    def __init__(self, cache: PrefixCache[P], salt: bytes, root: bytes):
        self._cache = cache
        self._salt = salt
        self._root = root
        self._ids = array("q")
        self._blocks: list[Block[P]] = []
        self._found: list[bool] = []  # of each block: it was there already
        self._open = True
        self._is_released = False  # its blocks do not count it any more
        self._torn = False  # while its blocks are changed
        self._extends = False  # while `extend` is at work
        self.matched = 0

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
        """The payloads of its blocks, from the first."""
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
            The lease was released, before or meanwhile, or an exception from outside has cut short an earlier call, or this is called by
            `make`, or by a finalizer or a signal's handler while the cache is at work in the same thread.

        Notes
        -----
        Other texts find the new blocks at the end of the call. If `make` raises, the tokens are in the text and the blocks made so far
        stay; the next call makes those that are missing.
        """
        self._check()
        self._ids.extend(ids_of(tokens))
        self._cover(make)

    def extend_to(self, text: Iterable[int], make: Callable[[int, int], P]) -> None:
        """`extend` by what comes in `text` after what is there.

        Raises
        ------
        ValueError
            As for `extend`, or the text begins otherwise.
        """
        ids, n = ids_of(text), len(self._ids)
        self._check()
        if ids[:n] != self._ids:
            raise ValueError(f"the text does not go on from the {n} tokens of the lease")
        self._ids = ids
        self._cover(make)

    @property
    def _is_held(self) -> bool:
        """Whether it was not released yet."""
        return self._open and not self._is_released

    def _check_held(self) -> None:
        if not self._is_held:
            raise ValueError("the lease was released")

    def _check(self) -> None:
        self._check_held()
        if self._extends:
            raise ValueError("a call of this lease is under way, or was cut short by an exception from outside: acquire another one")
        if self._torn:
            raise ValueError("an exception from outside has cut short a call of this lease: acquire another one")
        if self._cache._is_at_work:
            raise ValueError("the cache is at work in this thread")

    def _cover(self, make: Callable[[int, int], P]) -> None:
        """Take or make the blocks that are missing."""
        cache, blocks, end = self._cache, self._blocks, len(self._ids)
        if not cache.share_partial:
            end -= end % cache.block_size
        covered = blocks[-1].stop if blocks else 0
        if covered < end:
            self._extends = True
            try:
                cache._extend(self, covered - covered % cache.block_size, end, make)
            finally:
                self._extends = False

    def release(self) -> None:
        """The text is finished: its blocks are idle, unless others use them. More than once does nothing."""
        if getattr(self, "_open", False):  # nothing is open where an exception from outside came while it was made
            self._cache._release(self)

    __del__ = release

    def __reduce__(self) -> Any:
        raise TypeError("a Lease cannot be copied or pickled: acquire another one")

    def __enter__(self) -> Lease[P]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "" if self._open else ", released"
        return f"<Lease of {len(self._ids)} tokens in {len(self._blocks)} blocks, {self.matched} tokens matched{state}>"
