"""A progress bar in a terminal, and nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TextIO, TypeVar

T = TypeVar("T")

DELAY = 0.5  # seconds before it appears: short runs stay silent
INTERVAL = 0.1  # seconds between two updates
WIDTH = 30  # characters


def progress(items: Sequence[T], stream: TextIO | None = None) -> Iterator[T]:
    """Go through `items`; where `stream` (default: stderr) is a terminal and it takes long, show how far it is."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield from items
        return
    next_update, shown = time.monotonic() + DELAY, False
    try:
        for done, item in enumerate(items):
            if time.monotonic() >= next_update:
                next_update, shown = time.monotonic() + INTERVAL, True
                bar = "#" * (WIDTH * done // len(items))
                stream.write(f"\r[{bar:<{WIDTH}}] {done:,} of {len(items):,}")
                stream.flush()
            yield item
    finally:
        if shown:
            stream.write("\r\x1b[K")  # back to the start of the line, and clear it
            stream.flush()
