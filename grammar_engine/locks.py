"""Locks of the Python side.

A signal's handler, or a finalizer that the collector runs, may call the library while its thread is within it: so the thread that has a
lock may take it again. In a process that was forked there are no other threads, so all locks are free there; what they guard is whole
between any two statements. (The core waits for its own locks before a fork: csrc/base/lock.h.)

Where a `while` with a condition jumps back, CPython from 3.12 on runs handlers outside of the `with` or `try` around it (its issue 130279):
an exception that comes then leaves the lock taken. So no such loop stands in one. (In 3.14 there is one more such place, right behind
`__enter__`: its issue 148874. Nothing can be done about it here.)
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


def new_lock() -> Any:
    """A lock for `with`: an exception that comes from outside finds it released, or not yet taken."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _free_all() -> None:
    for lock in _locks:
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
