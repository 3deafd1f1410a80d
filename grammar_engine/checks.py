"""Checks of arguments that several parts share: a wrong type raises TypeError, a wrong value ValueError, and both say what is meant."""

from __future__ import annotations


def check_count(name: str, value: object, least: int = 1, most: int | None = None) -> None:
    """Raise unless `value` is an int of at least `least`, and at most `most`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an int, not {type(value).__name__}")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{name} is at least {least}" + ("" if most is None else f" and at most {most:,}") + f", not {value}")
