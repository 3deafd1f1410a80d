"""The pool: which of the blocks that nobody uses goes first.

Idea. A heap of heaps. The outer one orders ticks, the oldest first; each tick has an inner one, the longest prefix first. So the victim is the
least recently used block, and among those of one use that which stands last in its text.

    tick 7   start 8, 4, 0         victims: (7, 8) (7, 4) (7, 0) (9, 4) (9, 0)
    tick 9   start 4, 0

Since a use of a block stamps all blocks before it with the same tick, no block is older than one that follows it: a parent never goes before
its child.

Invariants. `_alive` is the content. The heaps hold at least that: `remove` leaves its entry there, which is *dead*, and passed over when it
comes up. When more than half of the entries are dead, the heaps are made anew.

Cost. O(log n) for `push` and `pop`, spread over many calls; O(1) for `remove`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

_WORTH_REBUILDING = 32  # entries


class _Idle(NamedTuple):
    tick: int
    start: int
    size: int


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
        self._alive: dict[bytes, _Idle] = {}
        self._clear_heaps()

    def _clear_heaps(self) -> None:
        self._ticks: list[int] = []  # a heap of the keys of `_inner`
        self._inner: dict[int, list[tuple[int, bytes]]] = {}  # tick -> heap of (-start, key); none is empty
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

    def push(self, key: bytes, tick: int, start: int, size: int) -> None:
        """Add a block that is not in the pool."""
        self._alive[key] = _Idle(tick, start, size)
        self.bytes += size
        self._enter(key, tick, start)

    def _enter(self, key: bytes, tick: int, start: int) -> None:
        inner = self._inner.get(tick)
        if inner is None:
            inner = self._inner[tick] = []
            heappush(self._ticks, tick)
        heappush(inner, (-start, key))
        self._entries += 1

    def remove(self, key: bytes) -> None:
        """Take out a block wherever it stands: it is in use again."""
        self.bytes -= self._alive.pop(key).size
        if self._entries > 2 * len(self._alive) + _WORTH_REBUILDING:
            self._clear_heaps()
            for living, idle in self._alive.items():
                self._enter(living, idle.tick, idle.start)

    def pop(self) -> bytes:
        """Take out the victim. IndexError: the pool is empty."""
        while True:
            tick = self._ticks[0]
            inner = self._inner[tick]
            depth, key = heappop(inner)
            self._entries -= 1
            if not inner:
                heappop(self._ticks)
                del self._inner[tick]
            idle = self._alive.get(key)
            if idle is not None and (idle.tick, idle.start) == (tick, -depth):
                del self._alive[key]
                self.bytes -= idle.size
                return key
