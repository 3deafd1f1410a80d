"""What an engine is to the benchmarks: see `engines/__init__.py`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from array import array
from typing import Any, ClassVar, NamedTuple, Protocol


class Source(NamedTuple):
    """What is compiled.

    `kind`: `json_schema` (JSON text), `regex` (matches the whole text),
    `lark`, or `gbnf` (as xgrammar and llama.cpp write it; starts at `root`).
    """

    kind: str
    text: str


class RefusedError(Exception):
    """The engine does not take the source. `reason` is a short class of reasons (a keyword), the message is the engine's."""

    def __init__(self, reason: str, message: str):
        self.reason = reason
        super().__init__(message)


class Session(Protocol):
    """One text."""

    def fill(self) -> object: ...  # timed
    def allows(self, token: int) -> bool: ...  # in the mask filled last
    def density(self) -> int: ...  # how many tokens that mask allows
    def accept(self, token: int) -> bool: ...  # timed apart


class Engine(ABC):
    """A library set up for one tokenizer."""

    kinds: ClassVar[frozenset[str]]
    version: str

    @abstractmethod
    def compile(self, source: Source) -> Any:
        """The grammar; raises RefusedError."""

    @abstractmethod
    def session(self, grammar: Any) -> Session: ...

    def next_request(self, _source: Source, grammar: Any) -> Session:
        """A session for a source that was compiled before: from the cache
        that the library has for this, else from the grammar that was kept."""
        return self.session(grammar)

    def counters(self, _grammar: Any) -> dict[str, int]:
        """What was done so far for this grammar, in numbers that do not depend on the machine; empty where the library tells none."""
        return {}


class Bits:
    """The mask buffer of a session: bit t % 32 of word t // 32 is token t."""

    def __init__(self, width: int):
        self.mask = array("i", bytes((width + 31) // 32 * 4))
        self._width = width

    def allows(self, token: int) -> bool:
        return bool(self.mask[token >> 5] >> (token & 31) & 1)

    def density(self) -> int:
        return (int.from_bytes(self.mask.tobytes(), "little") & (1 << self._width) - 1).bit_count()  # not timed


def unknown_kind(source: Source) -> RefusedError:
    return RefusedError(source.kind, f"sources of kind {source.kind} are not taken")


def classed(message: str) -> RefusedError:
    """The refusal with this message; its reason is the keyword if one is named,
    else the first line without numbers, quoted names and places."""
    line = (message.strip() or "no message").splitlines()[0]
    first = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", line)  # without a time and a place in a source file
    keywords = re.findall(r"Unimplemented keys: \[?\"?([A-Za-z$-]+)|^(oneOf)", first)
    if "Unknown format" in first:
        reason = "format"
    elif keywords:
        reason = "".join(keywords[0])
    else:
        reason = re.sub(r"\d+", "#", re.sub(r"\"[^\"]*\"|'[^']*'|at .*", "", first))[:48].strip()
    return RefusedError(reason, message)
