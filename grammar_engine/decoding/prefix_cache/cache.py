"""The table of blocks, under one lock.

    absent --enter--> in use (table; users >= 1) --last user gone--> idle (table and pool; users = 0) --given up--> absent
                              ^                                          |
                              +---------------- revived -----------------+

Invariants
    - A block is in the pool if and only if it is in the table and has no users. The pool is within its bounds after each call.
    - The key of each entry of the table is the hash of its block; the parent of each is in the table too.
    - A parent was used no earlier than its child (equal ticks: one tick per acquire and release, given to the whole text), by at least as
    many texts, and has
      at least its users. So of a text the last block is given up first, and a block in use never.
    - A block is found only if salt, parent and tokens are equal. If its key belongs to another block, a new block stays out of the table,
    and so do
      those that follow it: a collision costs hits.
    - A block enters the table with its payload: nobody finds what is not computed yet. If two texts compute the same, the later takes the
    earlier's.
    - A text that the collector of garbage closes while its thread is at work on the table is released right after that, and no longer
    grows.
    - Each payload that `make` has returned is given to `on_release` once, when its block goes. That is called, as `make` is, without the
    lock.
    - Where an exception from outside (a signal's handler: a time-out, Ctrl-C) cuts a call short, table and pool may be torn: `_torn` is set
    while a thread
      is at work on them. Who comes next begins anew with an empty table.
      Texts that are running keep their blocks, as their own; what was idle goes.
"""

from __future__ import annotations

import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from sys import is_finalizing
from typing import Any, Generic, Literal, TypeVar

from ...checks import check_bool, check_count
from .block import Block, ids_of
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
        Bytes of the idle blocks.
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
    """Keeps a payload, such as keys and values, for each block of tokens at the beginning of texts, which share it.

    Any number of threads may use it at once.

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
        Which idle blocks are given up first: those that were not used for longest,
        or those that the fewest texts have used, and of these the former.
    hashing : "chained" or "direct"
        See `hashing.py`.
    digest_size : int
        Bytes of a key, 1 to 64.
    size_of : callable
        The bytes of a payload, an int. Default: its `nbytes`. What it raises, `Lease.extend` does.
    on_release : callable, optional
        Is given each payload that the cache lets go, once. May not raise.

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
        digest_size: int = 8,
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
        self._last_root = b"", self._hashing.root(b"")
        # Not to be taken twice; but it knows its owner, and the collector of garbage may come by at any time.
        self._lock: Any = threading.RLock()
        self._torn = False
        self._left: deque[Lease[P]] = deque()  # to be released by whoever has the lock
        self._gone: deque[Block[P]] = deque()  # for `on_release`, by whoever has given back the lock
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

        Raises
        ------
        TypeError
            The salt is no bytes, or something in the text is no integer.
        RuntimeError
            A finalizer or a signal's handler calls while the cache is at work in the same thread.
        """
        if not isinstance(salt, bytes):
            raise TypeError(f"a salt is bytes, not {type(salt).__name__}")
        self._check_turn()
        ids, size = ids_of(tokens), self.block_size
        root = key = self._root(salt)
        end = len(ids) if self.share_partial else len(ids) - len(ids) % size
        matched, parent, counts = 0, None, self._counts
        lease = Lease(self, salt, root)
        with self._lock:
            self._begin()
            self._tick += 1
            for start in range(0, end, size):
                stop = min(start + size, end)
                key = self._hashing.key(root, key, ids, start, stop)
                parent = self._find(key, parent, salt, ids, start, stop)
                if parent is None:
                    break
                self._take(parent, self._tick)
                lease._blocks.append(parent)
                matched = stop
            if matched:
                lease.matched, lease._ids, lease._found = matched, ids[:matched], [True] * len(lease._blocks)
                counts.prompt_matched += matched
                counts.prompt_hits += len(lease._blocks)
            counts.lookups += 1
            counts.prompt_tokens += len(ids)
            counts.prompt_blocks += -(-end // size)
            self._torn = False
        self._settle()
        return lease

    def __reduce__(self) -> Any:
        raise TypeError("a PrefixCache cannot be copied or pickled: each process has its own")

    def _begin(self) -> None:
        """Begin to change table and pool, with the lock. Whole is what ends with `_torn = False`."""
        if self._torn:
            table, pool = self._table, self._pool
            for block in table.values():
                block.registered = False
            self._table, self._pool = {}, IdlePool(pool.max_blocks, pool.max_bytes)
            self._gone.extend(block for block in table.values() if not block.users)
        self._torn = True

    @property
    def _is_at_work(self) -> bool:
        """Whether this thread is at work on the table: then a finalizer or a signal's handler has called."""
        return bool(self._lock._is_owned())

    def _check_turn(self) -> None:
        if self._is_at_work:
            raise RuntimeError("the prefix cache is called by a finalizer or a signal's handler while it is at work in the same thread")

    def _root(self, salt: bytes) -> bytes:
        """The key in front of the first block. Texts of the same salt come one after the other."""
        last = self._last_root
        if last[0] != salt:
            self._last_root = last = salt, self._hashing.root(salt)
        return last[1]

    def _find(self, key: bytes, parent: Block[P] | None, salt: bytes, ids: array[int], start: int, stop: int) -> Block[P] | None:
        block = self._table.get(key)
        if block is None or block.stands_for(parent, salt, ids[start:stop]):
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

    def _extend(self, lease: Lease[P], begin: int, end: int, make: Callable[[int, int], P]) -> None:
        """Give a lease the blocks of the positions begin .. end - 1, found or made. One that it has from `begin` on is outgrown."""
        ids, root, key_of = lease._ids, lease._root, self._hashing.key
        key = lease._blocks[begin // self.block_size - 1].key if begin else root
        made: list[Block[P]] = []
        is_there = True  # behind a block that is not there none is
        try:
            for start in range(begin, end, self.block_size):
                stop = min(start + self.block_size, end)
                key = key_of(root, key, ids, start, stop)
                if is_there:
                    with self._lock:
                        lease._check_held()
                        self._begin()
                        lease._torn = True
                        is_there = key in self._table and self._merge(lease, key, start, stop)
                        lease._torn = self._torn = False
                if not is_there:
                    lease._check_held()
                    made.append(self._sized(Block(key, None, lease._salt, start, ids[start:stop], make(start, stop), users=1)))
        finally:
            if made:
                with self._lock:
                    self._begin()
                    lease._torn = True
                    if lease._is_held:
                        self._enter(lease, made)
                    else:
                        self._gone.extend(made)
                    lease._torn = self._torn = False
            self._settle()
        lease._check_held()

    def _sized(self, block: Block[P]) -> Block[P]:
        try:
            block.size = check_count("what size_of returns", self._size_of(block.payload), 0)
        except BaseException:
            self._gone.append(block)
            raise
        return block

    # Growth is no use of a text as a whole: a block that is added is as old as the one before it.

    def _merge(self, lease: Lease[P], key: bytes, start: int, stop: int) -> bool:
        """Whether the next block of a text, the key of which is in the table, is there; then it has one user more."""
        parent = self._last_full(lease)
        block = self._find(key, parent, lease._salt, lease._ids, start, stop)
        if block is None:
            return False
        self._take(block, self._tick if parent is None else parent.last_used)
        self._counts.merges += 1
        if lease._blocks and lease._blocks[-1].start == start:
            self._outgrow(lease)
        lease._blocks.append(block)
        lease._found.append(True)
        return True

    def _enter(self, lease: Lease[P], made: list[Block[P]]) -> None:
        """The next blocks of a text are new ones, but for those that another thread has made meanwhile."""
        table, blocks, parent = self._table, lease._blocks, self._last_full(lease)
        for block in made:
            if block.key in table and self._merge(lease, block.key, block.start, block.stop):
                self._gone.append(block)
                block = blocks[-1]
            else:
                block.parent = parent
                block.last_used = self._tick if parent is None else parent.last_used
                if block.key not in table and (parent is None or parent.registered):
                    block.registered = True
                    table[block.key] = block
                if blocks and blocks[-1].start == block.start:
                    self._outgrow(lease)
                blocks.append(block)
                lease._found.append(False)
            parent = block

    def _outgrow(self, lease: Lease[P]) -> None:
        """The last block of a text was not full, and gives way.
        It goes if it is nobody else's: its key names a text that was not finished there.
        """
        lease._found.pop()
        outgrown = lease._blocks.pop()
        outgrown.users -= 1
        if not outgrown.users:
            if outgrown.registered:
                del self._table[outgrown.key]
            self._gone.append(outgrown)

    def _last_full(self, lease: Lease[P]) -> Block[P] | None:
        """The block before the next one of a text."""
        blocks = lease._blocks
        if blocks and len(blocks[-1].tokens) < self.block_size:
            blocks = blocks[:-1]
        return blocks[-1] if blocks else None

    def _release(self, lease: Lease[P]) -> None:
        """By whoever has the lock next where this thread has it; nor is it waited
        for while the interpreter ends: a thread that had it then never gives it back.
        """
        self._left.append(lease)  # first: nobody else knows of its blocks
        lease._open = False
        if self._is_at_work:
            return
        if is_finalizing():
            if not self._lock.acquire(blocking=False):
                return
            self._lock.release()
        self._settle()

    def _settle(self) -> None:
        """Release the texts that were closed, and let go what is gone."""
        if self._left:
            with self._lock:
                self._release_left()
        while self._gone:
            try:
                block = self._gone.popleft()
            except IndexError:  # another thread took it
                return
            if self._on_release is not None:
                self._on_release(block.payload)

    def _release_left(self) -> None:
        while self._left:
            self._release_blocks(self._left[0])
            self._left.popleft()

    def _release_blocks(self, lease: Lease[P]) -> None:
        """Its blocks are not used by this text any more. Only once: a call that was cut short may have put it there twice."""
        if lease._is_released:
            return
        self._begin()
        lease._is_released = True
        self._tick += 1
        for block in lease._blocks:
            block.users -= 1
            block.last_used = self._tick
            if not block.users:
                if block.registered:
                    self._pool.push(block.key, self._rank(block), block.start, block.size)
                else:
                    self._gone.append(block)
        while self._pool.is_over:
            self._gone.append(self._table.pop(self._pool.pop()))
            self._counts.evictions += 1
        self._counts.blocks += len(lease._blocks)
        self._counts.block_hits += sum(lease._found)
        self._torn = False

    # --- as a whole -------------------------------------------------------------------------------------------------

    @property
    def stats(self) -> Statistics:
        """The counters at this moment."""
        self._check_turn()
        with self._lock:
            self._begin()
            counts = replace(self._counts, table=len(self._table), idle=len(self._pool), idle_bytes=self._pool.bytes)
            self._torn = False
        self._settle()
        return counts

    def clear(self) -> None:
        """Drop all idle blocks. Running texts keep theirs, and go on sharing them."""
        self._check_turn()
        with self._lock:
            self._begin()
            self._gone.extend([self._table.pop(self._pool.pop()) for _ in range(len(self._pool))])
            self._torn = False
        self._settle()

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        stats = self.stats
        return f"<PrefixCache of {stats.table} blocks of {self.block_size} tokens, {stats.idle} idle with {stats.idle_bytes} bytes>"
