"""outlines_core: regular expressions, compiled ahead to an index from states to tokens."""

from __future__ import annotations

import importlib.metadata
from typing import Any, ClassVar

from .protocol import Bits, Engine, Session, Source, classed, unknown_kind
from .tokenizer import Tokenizer


class Outlines(Engine):
    kinds: ClassVar = frozenset({"regex"})

    def __init__(self, tokenizer: Tokenizer):
        import outlines_core

        self._api = outlines_core
        self.version = importlib.metadata.version("outlines_core")
        ids: dict[bytes, list[int]] = {}
        for index, token in enumerate(tokenizer.tokens):
            if token:
                ids.setdefault(token, []).append(index)
        self._vocabulary = outlines_core.Vocabulary(tokenizer.eos, ids)
        self._width = tokenizer.width

    def compile(self, source: Source) -> Any:
        if source.kind not in self.kinds:
            raise unknown_kind(source)
        try:
            return self._api.Index(source.text, self._vocabulary)
        except ValueError as error:
            raise classed(str(error)) from None

    def session(self, grammar: Any) -> Session:
        return _Session(self._api.Guide(grammar), self._width)


class _Session(Bits):
    def __init__(self, guide: Any, width: int):
        super().__init__(width)
        self._pointer, self._words = self.mask.buffer_info()
        self._fill = guide.write_mask_into
        self._advance = guide.advance

    def fill(self) -> object:
        return self._fill(self._pointer, self._words, 4)

    def accept(self, token: int) -> bool:
        """An end-of-text token may not be accepted twice; a token that is not allowed is an error there."""
        try:
            self._advance(token, return_tokens=False)
        except ValueError:
            return False
        return True
