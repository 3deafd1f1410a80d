"""A lock that a thread knows to have, since it may be called again while it has it: by the collector of garbage, which closes what was left.

Whoever asks `is_mine` then puts off what needs the lock. Who takes it twice is told so, where a plain lock would wait for ever.
"""

from __future__ import annotations

import threading


class TurnLock:
    """A lock to be taken by `with`.

    `is_mine` holds from before it is waited for until after it is let go, as the collector may come by at any of these moments.
    """

    __slots__ = ("_lock", "_mine")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mine = threading.local()

    @property
    def is_mine(self) -> bool:
        """Whether this thread has it, is about to take it, or is just letting it go."""
        return getattr(self._mine, "held", False)

    def locked(self) -> bool:
        """Whether some thread has it."""
        return self._lock.locked()

    def __enter__(self) -> None:
        if self.is_mine:
            raise RuntimeError("the prefix cache is called while it is at work in the same thread, by a finalizer or a signal handler")
        try:
            self._mine.held = True
            self._lock.acquire()
        except BaseException:  # an interrupt, while it was waited for
            self._mine.held = False
            raise

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self._mine.held = False
