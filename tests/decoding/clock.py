"""A clock for tests of what is timed."""

from __future__ import annotations

from collections import Counter


class Clock:
    """A clock that stands, but for calls that take a time of their own each; of calls within others the outer ones count."""

    def __init__(self, monkeypatch):
        self.now, self.spent, self.depth = 0.0, Counter(), 0
        self.monkeypatch = monkeypatch

    def __call__(self):
        return self.now

    def takes(self, seconds, holder, name):
        timed = getattr(holder, name)

        def slow(*arguments, **named):
            self.depth += 1
            try:
                return timed(*arguments, **named)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.now += seconds
                    self.spent[name] += seconds

        self.monkeypatch.setattr(holder, name, slow)
        return slow
