"""What the tests of this folder ask of the engine."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data_folder import needed
from grammar_engine import Grammar, Matcher, Vocabulary

BYTES = Vocabulary.bytes()


def dump(value: Any) -> str:
    """A value as models write it."""
    return json.dumps(value, ensure_ascii=False)


def accepts(grammar: Grammar, text: str | bytes) -> bool:
    """Whether a text is a sentence."""
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_bytes(text.encode() if isinstance(text, str) else text) and matcher.is_complete


def accepts_value(grammar: Grammar, value: Any) -> bool:
    """Whether a value is accepted with its keys in *some* order; tries them all, so the value is small."""
    return any(matcher.is_complete for matcher in _Writer(most_forks=20_000).write(Matcher(grammar, BYTES), value))


class _Writer:
    """Writes values in all orders of their keys, by backtracking."""

    def __init__(self, most_forks: int):
        self.forks_left = most_forks

    def write(self, matcher: Matcher, value: Any) -> Iterator[Matcher]:
        """Matchers after `value`, one for each order of keys that is accepted."""
        if isinstance(value, dict) and value:
            for opened in self.feed(matcher, "{"):
                yield from self.members(opened, value, "")
        elif isinstance(value, list) and value:
            for opened in self.feed(matcher, "["):
                yield from self.items(opened, value)
        else:
            yield from self.feed(matcher, dump(value))

    def items(self, matcher: Matcher, items: list[Any]) -> Iterator[Matcher]:
        for after in self.write(matcher, items[0]):
            if len(items) == 1:
                yield from self.feed(after, "]")
            else:
                for more in self.feed(after, ", "):
                    yield from self.items(more, items[1:])

    def members(self, matcher: Matcher, rest: dict[str, Any], comma: str) -> Iterator[Matcher]:
        if not rest:
            yield from self.feed(matcher, "}")
        for key, value in rest.items():
            for named in self.feed(matcher, f"{comma}{dump(key)}: "):
                for after in self.write(named, value):
                    yield from self.members(after, {k: v for k, v in rest.items() if k != key}, ", ")

    def feed(self, matcher: Matcher, text: str) -> Iterator[Matcher]:
        self.forks_left -= 1
        assert self.forks_left > 0, "too many orders to try"
        after = matcher.fork()
        if after.accept_bytes(text.encode()):
            yield after


def unpacked(archive: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of the test data in a folder of its own; skips where it is absent."""
    target = tmp_path_factory.mktemp(archive.split(".")[0])
    with tarfile.open(needed(archive)) as tar:
        tar.extractall(target, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # Python 3.11.3 and before know none
    return target
