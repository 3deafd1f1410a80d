"""llguidance: a new matcher for each text (what its constructors do), or copies of one that is kept (what servers do).

`Template` deep-copies the first matcher of a grammar; copies share its lexer, so that what one text has built the next one finds.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any, ClassVar

from .protocol import Bits, Engine, Session, Source, classed, unknown_kind
from .tokenizer import Tokenizer


class LLGuidance(Engine):
    kinds: ClassVar = frozenset({"json_schema", "regex", "lark"})

    def __init__(self, tokenizer: Tokenizer):
        import llguidance

        self._matcher = llguidance.LLMatcher
        self.version = importlib.metadata.version("llguidance")
        self._tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Wrapped(tokenizer)))
        self._width = tokenizer.width

    def compile(self, source: Source) -> _Grammar:
        if source.kind not in self.kinds:
            raise unknown_kind(source)
        try:
            grammar = _Grammar(getattr(self._matcher, f"grammar_from_{source.kind}")(source.text))
            grammar.first = self._matcher(self._tokenizer, grammar.text, log_level=0)
        except ValueError as error:
            raise classed(str(error)) from None
        if grammar.first.is_error():
            raise classed(grammar.first.get_error())
        return grammar

    def session(self, grammar: _Grammar) -> Session:
        """The matcher that `compile` has made goes to the first session."""
        matcher, grammar.first = grammar.first, None
        return _Session(matcher or self._matcher(self._tokenizer, grammar.text, log_level=0), self._width)


class Template(LLGuidance):
    def session(self, grammar: _Grammar) -> Session:
        return _Session(grammar.first.deep_copy(), self._width)


class _Grammar:
    """llguidance's grammar is a text; it is compiled when a matcher is made."""

    def __init__(self, text: str):
        self.text = text
        self.first: Any = None


class _Wrapped:
    """What llguidance's TokenizerWrapper asks of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokens = [token or tokenizer.special.get(i, f"<unused {i}>").encode() for i, token in enumerate(tokenizer.tokens)]
        self.special_token_ids = [i for i, token in enumerate(tokenizer.tokens) if not token]
        self.eos_token_id = tokenizer.eos
        self.bos_token_id = None
        self._encode = tokenizer.encode

    def __call__(self, text: str | bytes) -> list[int]:
        return self._encode(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)


class _Session(Bits):
    def __init__(self, matcher: Any, width: int):
        super().__init__(width)
        self._pointer, self._bytes = self.mask.buffer_info()[0], 4 * len(self.mask)
        self._fill = matcher.unsafe_compute_mask_ptr
        self.accept = matcher.consume_token

    def fill(self) -> object:
        return self._fill(self._pointer, self._bytes)
