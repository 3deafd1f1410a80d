"""Warnings for whoever called the package."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0] + "."


def warn(message: str) -> None:
    """Warn, with the place of the call that came from outside."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def warn_of_length(n: int, seen: int | None, rows: int = 1) -> None:
    """Warn of a prompt of `n` tokens if, with the other rows of its first pass, the model does not see all of it."""
    if seen is not None and n + rows - 1 > seen:
        group = f" and a group {rows}" if rows > 1 else ""
        warn(f"the prompt has {n} tokens{group}: the model can see the last {seen} only")
