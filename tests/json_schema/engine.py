"""What the tests of this folder ask of the engine."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
    """Whether a value is accepted with its keys in *some* order."""
    return any(matcher.is_complete for matcher in _written(Matcher(grammar, BYTES), value))


def _written(matcher: Matcher, value: Any) -> Iterator[Matcher]:
    """Matchers after `value`, one for each order of keys that is accepted."""
    if isinstance(value, dict) and value:
        for opened in _fed(matcher, "{"):
            yield from _members(opened, dict(value), "")
    elif isinstance(value, list) and value:
        for opened in _fed(matcher, "["):
            yield from _items(opened, value)
    else:
        yield from _fed(matcher, dump(value))


def _items(matcher: Matcher, items: list[Any]) -> Iterator[Matcher]:
    for after in _written(matcher, items[0]):
        if len(items) == 1:
            yield from _fed(after, "]")
        else:
            for more in _fed(after, ", "):
                yield from _items(more, items[1:])


def _members(matcher: Matcher, rest: dict[str, Any], comma: str) -> Iterator[Matcher]:
    if not rest:
        yield from _fed(matcher, "}")
    for key, value in rest.items():
        for named in _fed(matcher, f"{comma}{dump(key)}: "):
            for after in _written(named, value):
                yield from _members(after, {k: v for k, v in rest.items() if k != key}, ", ")


def _fed(matcher: Matcher, text: str) -> Iterator[Matcher]:
    after = matcher.fork()
    if after.accept_bytes(text.encode()):
        yield after


def data_folder(archive: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked archive of the shared data; skips where it is absent."""
    folder = Path(os.environ.get("GRAMMAR_ENGINE_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not (folder / archive).exists():
        pytest.skip(f"{folder / archive} is not there; GRAMMAR_ENGINE_DATA names the folder")
    target = tmp_path_factory.mktemp(archive.split(".")[0])
    with tarfile.open(folder / archive) as tar:
        tar.extractall(target, filter="data")
    return target
