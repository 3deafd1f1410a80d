"""The table of blocks, under one lock.

    absent --enter--> in use (table; users >= 1) --last user gone--> idle (table and pool; users = 0) --given up--> absent
                              ^                                          |
                              +---------------- revived -----------------+

Invariants
    - A block is in the pool if and only if it is in the table and has no users. The pool is within its bounds after each call.
    - The key of each entry of the table is the hash of its block; the parent of each is in the table too.
    - A parent was used no earlier than its child (equal ticks: one tick per acquire and release, given to the whole text), by at least as many texts, and has
      at least its users. So of a text the last block is given up first, and a block in use never.
    - A block is found only if salt, parent and tokens are equal. If its key belongs to another block, a new block stays out of the table, and so do
      those that follow it: a collision costs hits.
    - A block enters the table with its payload: nobody finds what is not computed yet. If two texts compute the same, the later takes the earlier's.
    - Each payload that `make` has returned is given to `on_release` once, when its block goes. That is called, as `make` is, without the lock.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from ...checks import check_bool, check_count
from .block import Block
from .hashing import Hashing, Method
from .lease import Lease
from .pool import IdlePool

P = TypeVar("P")

_TICK_BITS = 64


@dataclass
class Statistics:
    """Counters of a `PrefixCache`.

    Attributes
    ----------
    lookups : int
        Calls of `acquire`.
    prompt_blocks, prompt_hits : int
        Blocks that were asked for then, and that were found.
    prompt_tokens, prompt_matched : int
        The same in tokens.
    blocks, block_hits : int
        Blocks of released texts, what was written after the prompt included; those that were not made for that text.
    revivals : int
        Idle blocks that were used again.
    merges : int
        Blocks that a growing text found there already.
    evictions : int
        Idle blocks that were given up for the bounds.
    collisions : int
        Look-ups whose key belonged to another block.
    table, idle : int
        Blocks in the table now; those of them that nobody uses.
    idle_bytes : int
        Bytes of the latter.
    """

    lookups: int = 0
    prompt_blocks: int = 0
    prompt_hits: int = 0
    prompt_tokens: int = 0
    prompt_matched: int = 0
    blocks: int = 0
    block_hits: int = 0
    revivals: int = 0
    merges: int = 0
    evictions: int = 0
    collisions: int = 0
    table: int = 0
    idle: int = 0
    idle_bytes: int = 0


def nbytes(payload: Any) -> int:
    """The size of a payload: its attribute `nbytes`, 0 if it has none."""
    return int(getattr(payload, "nbytes", 0))


class PrefixCache(Generic[P]):
    """Payloads for the beginnings of texts, shared by all texts. Any number of threads may use it at once.

    Parameters
    ----------
    block_size : int
        Tokens of a full block.
    max_idle_blocks, max_idle_bytes : int or None
        How many blocks that no running text uses are kept, and how many bytes; None: no bound. Blocks in use are not counted: the number
        of running texts bounds them. With 0 only running texts share.
    share_partial : bool
        The last block of a text is shared too though it is not full, and grows with the text. Else only full blocks are.
    policy : "lru" or "lfu"
        Which idle blocks are given up first: those that were not used for longest, or those that the fewest texts have used, and of these the former.
    hashing : "chained" or "direct"
        See `hashing.py`.
    digest_size : int
        Bytes of a key, 1 to 64.
    size_of : callable
        The bytes of a payload. Default: its `nbytes`.
    on_release : callable, optional
        Is given each payload that the cache lets go, once. It must not raise.

    Examples
    --------
    >>> cache = PrefixCache(block_size=2)
    >>> with cache.acquire([1, 2, 3, 4]) as lease:
    ...     lease.extend([1, 2, 3, 4], lambda start, stop: f"positions {start} to {stop}")
    >>> with cache.acquire([1, 2, 5]) as lease:
    ...     lease.matched, lease.payloads
    (2, ['positions 0 to 2'])
    """

    def __init__(
        self,
        block_size: int = 16,
        *,
        max_idle_blocks: int | None = 4096,
        max_idle_bytes: int | None = 1 << 30,
        share_partial: bool = False,
        policy: Literal["lru", "lfu"] = "lru",
        hashing: Method = "chained",
        digest_size: int = 16,
        size_of: Callable[[P], int] = nbytes,
        on_release: Callable[[P], object] | None = None,
    ):
        block_size = check_count("block_size", block_size)
        if max_idle_blocks is not None:
            max_idle_blocks = check_count("max_idle_blocks", max_idle_blocks, 0)
        if max_idle_bytes is not None:
            max_idle_bytes = check_count("max_idle_bytes", max_idle_bytes, 0)
        check_bool("share_partial", share_partial)
        if policy not in ("lru", "lfu"):
            raise ValueError(f'policy is "lru" or "lfu", not {policy!r}')
        if not callable(size_of) or not (on_release is None or callable(on_release)):
            raise TypeError("size_of and on_release are callables")
        self.block_size = block_size
        self.share_partial = share_partial
        self._by_uses = policy == "lfu"
        self._hashing = Hashing(hashing, digest_size)
        self._size_of = size_of
        self._on_release = on_release
        self._lock = threading.Lock()
        self._table: dict[bytes, Block[P]] = {}
        self._pool = IdlePool(max_idle_blocks, max_idle_bytes)
        self._tick = 0
        self._counts = Statistics()

    def acquire(self, tokens: Iterable[int], salt: bytes = b"") -> Lease[P]:
        """Take the blocks that the cache has of the beginning of a text.

        Parameters
        ----------
        tokens : iterable of int
            The text, a prompt for example.
        salt : bytes
            What payloads depend on besides the tokens. Texts of different salts share nothing.

        Returns
        -------
        Lease
            Of the first `matched` tokens. The rest is for the caller to compute and `extend` by.
        """
        if not isinstance(salt, bytes):
            raise TypeError(f"a salt is bytes, not {type(salt).__name__}")
        ids = array("q", tokens)
        lease = Lease(self, salt, self._hashing.root(salt))
        with self._lock:
            self._tick += 1
            for start in range(0, len(ids), self.block_size):
                stop = min(start + self.block_size, len(ids))
                if stop < start + self.block_size and not self.share_partial:
                    break
                parent = lease._blocks[-1] if lease._blocks else None
                key = self._key(lease, parent, ids, start, stop)
                block = self._find(key, parent, salt, ids[start:stop])
                if block is None:
                    break
                self._take(block, self._tick)
                lease._blocks.append(block)
                lease._found.append(True)
            lease.matched = lease.covered
            lease._ids = ids[: lease.matched]
            self._count_lookup(len(ids), lease)
        return lease

    def _count_lookup(self, length: int, lease: Lease[P]) -> None:
        counts = self._counts
        counts.lookups += 1
        counts.prompt_tokens += length
        counts.prompt_matched += lease.matched
        counts.prompt_blocks += -(-length // self.block_size) if self.share_partial else length // self.block_size
        counts.prompt_hits += len(lease._blocks)

    def _key(self, lease: Lease[P], parent: Block[P] | None, ids: array[int], start: int, stop: int) -> bytes:
        return self._hashing.key(lease._root, lease._root if parent is None else parent.key, ids, start, stop)

    def _find(self, key: bytes, parent: Block[P] | None, salt: bytes, tokens: array[int]) -> Block[P] | None:
        block = self._table.get(key)
        if block is None or block.stands_for(parent, salt, tokens):
            return block
        self._counts.collisions += 1
        return None

    def _take(self, block: Block[P], tick: int) -> None:
        """One user more of a block of the table."""
        if not block.users:
            self._pool.remove(block.key)
            self._counts.revivals += 1
        block.users += 1
        block.uses += 1
        block.last_used = tick

    def _rank(self, block: Block[P]) -> int:
        """Where an idle block stands in the pool."""
        return block.uses << _TICK_BITS | block.last_used if self._by_uses else block.last_used

    # --- for leases -------------------------------------------------------------------------------------------------

    def _extend(self, lease: Lease[P], start: int, end: int, make: Callable[[int, int], P]) -> None:
        """Give a lease the blocks of the positions start .. end - 1, found or made. One that it has from `start` on is outgrown."""
        ids, key, named = lease._ids, lease._blocks[start // self.block_size - 1].key if start else lease._root, []
        for first in range(start, end, self.block_size):
            stop = min(first + self.block_size, end)
            key = self._hashing.key(lease._root, key, ids, first, stop)
            named.append((key, first, stop))
        made: list[Block[P]] = []
        gone: list[Block[P]] = []
        n_found = 0
        with self._lock:
            while n_found < len(named) and self._merge(lease, *named[n_found], gone):
                n_found += 1  # behind a block that is not there none is
        try:
            for key, first, stop in named[n_found:]:
                payload = make(first, stop)
                made.append(Block(key, None, lease._salt, first, ids[first:stop], payload, self._size_of(payload), users=1))
        finally:
            with self._lock:
                for block in made:
                    if self._merge(lease, block.key, block.start, block.stop, gone):  # another thread has made the same meanwhile
                        gone.append(block)
                    else:
                        self._enter(lease, block, gone)
            self._drop(gone)

    def _merge(self, lease: Lease[P], key: bytes, start: int, stop: int, gone: list[Block[P]]) -> bool:
        """Whether the next block of a text is there; then it has one user more."""
        if key not in self._table:
            return False
        parent = self._last_full(lease)
        block = self._find(key, parent, lease._salt, lease._ids[start:stop])
        if block is None:
            return False
        self._take(block, self._stamp(parent))
        self._counts.merges += 1
        self._append(lease, block, True, gone)
        return True

    def _enter(self, lease: Lease[P], block: Block[P], gone: list[Block[P]]) -> None:
        """The next block of a text is a new one."""
        block.parent = parent = self._last_full(lease)
        block.last_used = self._stamp(parent)
        if block.key not in self._table and (parent is None or parent.registered):
            block.registered = True
            self._table[block.key] = block
        self._append(lease, block, False, gone)

    def _append(self, lease: Lease[P], block: Block[P], found: bool, gone: list[Block[P]]) -> None:
        """Takes the place of a last block that was not full. That goes if it is nobody else's: its key names a text that was not finished there."""
        if lease._blocks and lease._blocks[-1].start == block.start:
            lease._found.pop()
            outgrown = lease._blocks.pop()
            outgrown.users -= 1
            if not outgrown.users:
                if outgrown.registered:
                    del self._table[outgrown.key]
                gone.append(outgrown)
        lease._blocks.append(block)
        lease._found.append(found)

    def _last_full(self, lease: Lease[P]) -> Block[P] | None:
        """The block before the next one of a text."""
        blocks = lease._blocks
        if blocks and len(blocks[-1].tokens) < self.block_size:
            blocks = blocks[:-1]
        return blocks[-1] if blocks else None

    def _stamp(self, parent: Block[P] | None) -> int:
        """Growth is no use of the text as a whole: a block is as old as the one before it."""
        return self._tick if parent is None else parent.last_used

    def _release(self, lease: Lease[P]) -> None:
        gone: list[Block[P]] = []
        with self._lock:
            self._tick += 1
            for block in lease._blocks:
                block.users -= 1
                block.last_used = self._tick
                if not block.users:
                    if block.registered:
                        self._pool.push(block.key, self._rank(block), block.start, block.size)
                    else:
                        gone.append(block)
            while self._pool.is_over:
                gone.append(self._table.pop(self._pool.pop()))
                self._counts.evictions += 1
            self._counts.blocks += len(lease._blocks)
            self._counts.block_hits += sum(lease._found)
        self._drop(gone)

    def _drop(self, blocks: list[Block[P]]) -> None:
        if self._on_release is not None:
            for block in blocks:
                self._on_release(block.payload)

    # --- as a whole -------------------------------------------------------------------------------------------------

    @property
    def stats(self) -> Statistics:
        """The counters at this moment."""
        with self._lock:
            return replace(self._counts, table=len(self._table), idle=len(self._pool), idle_bytes=self._pool.bytes)

    def clear(self) -> None:
        """Drop all idle blocks. Running texts keep theirs, and go on sharing them."""
        with self._lock:
            gone = [self._table.pop(self._pool.pop()) for _ in range(len(self._pool))]
        self._drop(gone)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        stats = self.stats
        return f"<PrefixCache of {stats.table} blocks of {self.block_size} tokens, {stats.idle} idle with {stats.idle_bytes} bytes>"
