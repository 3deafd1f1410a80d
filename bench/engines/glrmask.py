"""GLRMask: its default (an automaton over the parser's stack, made when
a grammar is compiled), and its lazy mode (a walk over the vocabulary).

End of text is a token set after the grammar, as its documentation says.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any, ClassVar

import numpy as np

from .protocol import Bits, Engine, Session, Source, classed, unknown_kind
from .tokenizer import Tokenizer


class GLRMask(Engine):
    kinds: ClassVar = frozenset({"json_schema", "lark"})
    strategy: ClassVar[str] = "AUTO"

    def __init__(self, tokenizer: Tokenizer):
        import glrmask

        self._api = glrmask
        self.version = importlib.metadata.version("glrmask")
        self._vocabulary = glrmask.Vocab.from_id_to_bytes({i: token for i, token in enumerate(tokenizer.tokens) if token})
        self._end = glrmask.TokenSet([tokenizer.eos])
        self._strategy = getattr(glrmask.MaskStrategy, self.strategy)
        self._width = tokenizer.width

    def compile(self, source: Source) -> Any:
        if source.kind not in self.kinds:
            raise unknown_kind(source)
        try:
            grammar = getattr(self._api.Grammar, f"from_{source.kind}")(source.text)
            ended = self._api.Grammar.from_expr(self._api.Expr.sequence(grammar, self._end))
            return ended.compile(self._vocabulary, mask_strategy=self._strategy)
        except ValueError as error:
            raise classed(str(error)) from None

    def session(self, grammar: Any) -> Session:
        return _Session(grammar.start(), self._width)


class TokenTrie(GLRMask):
    strategy: ClassVar = "TOKEN_TRIE"


class _Session(Bits):
    def __init__(self, state: Any, width: int):
        super().__init__(width)
        self._words = np.frombuffer(self.mask, np.int32)
        self._fill = state.fill_mask
        self.accept = state.commit_token

    def fill(self) -> object:
        return self._fill(self._words)
