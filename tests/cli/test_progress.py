"""The progress bar shows in terminals, late, and leaves nothing behind."""

from __future__ import annotations

import io

from grammar_engine import progress as module
from grammar_engine.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_silent_where_it_is_no_terminal(monkeypatch) -> None:
    monkeypatch.setattr(module, "DELAY", 0)
    stream = io.StringIO()
    assert list(progress(range(5), stream)) == list(range(5))
    assert stream.getvalue() == ""


def test_silent_when_it_is_quick() -> None:
    stream = Terminal()
    assert list(progress("abc", stream)) == ["a", "b", "c"]
    assert stream.getvalue() == ""


def test_shown_and_cleared(monkeypatch) -> None:
    monkeypatch.setattr(module, "DELAY", 0)
    monkeypatch.setattr(module, "INTERVAL", 0)
    stream = Terminal()
    assert list(progress(range(4), stream)) == list(range(4))
    assert "\r[" + "#" * 15 + " " * 15 + "] 2 of 4" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_cleared_when_the_work_fails(monkeypatch) -> None:
    monkeypatch.setattr(module, "DELAY", 0)
    stream = Terminal()
    steps = progress(range(4), stream)
    next(steps)
    steps.close()
    assert stream.getvalue().endswith("\r\x1b[K")
