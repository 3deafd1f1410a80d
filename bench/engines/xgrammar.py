"""xgrammar: its defaults (`strict_mode`: properties that a schema does not list are refused), and settings that follow JSON Schema.

One thread compiles. Its cache of compiled rules and grammars is on, as it is by default, but bounded: without a bound it takes all memory
in a run over thousands of schemas.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any, ClassVar

from .protocol import Bits, Engine, Session, Source, classed, unknown_kind
from .tokenizer import Tokenizer

CACHE_BYTES = 1 << 30


class XGrammar(Engine):
    kinds: ClassVar = frozenset({"json_schema", "regex", "gbnf"})
    schema_settings: ClassVar[dict[str, Any]] = {}

    def __init__(self, tokenizer: Tokenizer):
        import torch
        import xgrammar

        torch.set_num_threads(1)
        self._matcher = xgrammar.GrammarMatcher
        self._as_tensor = lambda words: torch.frombuffer(words, dtype=torch.int32).reshape(1, -1)
        self.version = importlib.metadata.version("xgrammar")
        info = xgrammar.TokenizerInfo(tokenizer.tokens, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[tokenizer.eos])
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_limit_bytes=CACHE_BYTES)
        self._width = tokenizer.width

    def compile(self, source: Source) -> Any:
        try:
            if source.kind == "json_schema":
                return self._compiler.compile_json_schema(source.text, **self.schema_settings)
            if source.kind == "regex":
                return self._compiler.compile_regex(source.text)
            if source.kind == "gbnf":
                return self._compiler.compile_grammar(source.text)
        except RuntimeError as error:
            raise classed(str(error)) from None
        raise unknown_kind(source)

    def session(self, grammar: Any) -> Session:
        return _Session(self._matcher(grammar), self._width, self._as_tensor)

    def next_request(self, source: Source, _grammar: Any) -> Session:
        return self.session(self.compile(source))


class Compliant(XGrammar):
    schema_settings: ClassVar = {"any_whitespace": True, "strict_mode": False}


class _Session(Bits):
    def __init__(self, matcher: Any, width: int, as_tensor: Any):
        super().__init__(width)
        self._tensor = as_tensor(self.mask)
        self._fill = matcher.fill_next_token_bitmask
        self.accept = matcher.accept_token

    def fill(self) -> object:
        return self._fill(self._tensor)
