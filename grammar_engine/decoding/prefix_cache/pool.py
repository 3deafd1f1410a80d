"""The pool: which of the blocks that nobody uses goes first.

Idea. A heap of heaps. The outer one orders ranks, the least first; each rank has an inner one, the longest prefix first. Where ranks are
ticks, the victim is the least recently used block, and among those of one use that which stands last in its text.

    tick 7   start 8, 4, 0         victims: (7, 8) (7, 4) (7, 0) (9, 4) (9, 0)
    tick 9   start 4, 0

Since a use of a block stamps all blocks before it with the same tick, no block is older than one that follows it: a parent never goes
before its child. The same holds of how many texts have used them. So a rank need not be a tick: for the policy "lfu" it is the number of
texts, then the tick.

Invariants. `_alive` is the content. The heaps hold at least that, the same objects: `remove` leaves its entry there, which is *dead*, and
passed over when it comes up. When more than half of the entries are dead, the heaps are made anew.

Cost. O(log n) for `push` and `pop`, spread over many calls; O(1) for `remove`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TypeAlias

_WORTH_REBUILDING = 32  # entries

_Entry: TypeAlias = tuple[int, bytes, int, int]  # -start, key, rank, size


class IdlePool:
    """Keys of idle blocks in the order in which they are given up, with bounds on their number and bytes.

    Parameters
    ----------
    max_blocks, max_bytes : int or None
        None: no bound.
    """

    def __init__(self, max_blocks: int | None, max_bytes: int | None):
        self.max_blocks = max_blocks
        self.max_bytes = max_bytes
        self.bytes = 0
        self._alive: dict[bytes, _Entry] = {}
        self._clear_heaps()

    def _clear_heaps(self) -> None:
        self._ranks: list[int] = []  # a heap of the keys of `_inner`
        self._inner: dict[int, list[_Entry]] = {}  # rank -> heap; none is empty
        self._entries = 0  # in all inner heaps, dead ones included

    def __len__(self) -> int:
        return len(self._alive)

    def __contains__(self, key: bytes) -> bool:
        return key in self._alive

    @property
    def is_over(self) -> bool:
        """It holds more than its bounds allow."""
        over_count = self.max_blocks is not None and len(self._alive) > self.max_blocks
        return over_count or (self.max_bytes is not None and self.bytes > self.max_bytes)

    def push(self, key: bytes, rank: int, start: int, size: int) -> None:
        """Add a block that is not in the pool."""
        self._alive[key] = entry = -start, key, rank, size
        self.bytes += size
        self._enter(entry)

    def _enter(self, entry: _Entry) -> None:
        rank = entry[2]
        inner = self._inner.get(rank)
        if inner is None:
            self._inner[rank] = [entry]
            heappush(self._ranks, rank)
        else:
            heappush(inner, entry)
        self._entries += 1

    def remove(self, key: bytes) -> None:
        """Take out a block wherever it stands: it is in use again."""
        self.bytes -= self._alive.pop(key)[3]
        if self._entries > 2 * len(self._alive) + _WORTH_REBUILDING:
            self._clear_heaps()
            for entry in self._alive.values():
                self._enter(entry)

    def pop(self) -> bytes:
        """Take out the victim. IndexError: the pool is empty."""
        while True:
            rank = self._ranks[0]
            inner = self._inner[rank]
            entry = heappop(inner)
            self._entries -= 1
            if not inner:
                heappop(self._ranks)
                del self._inner[rank]
            key = entry[1]
            if self._alive.get(key) is entry:
                del self._alive[key]
                self.bytes -= entry[3]
                return key
