"""grammar_engine, as it is, behind its GrammarCache, and with caches or fast paths switched off."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from .protocol import Bits, Engine, RefusedError, Session, Source, unknown_kind
from .tokenizer import Tokenizer


class Ours(Engine):
    kinds: ClassVar = frozenset({"json_schema", "regex", "lark"})

    def __init__(self, tokenizer: Tokenizer):
        import grammar_engine

        self._errors = grammar_engine.GrammarEngineError
        self._matcher, self._held = grammar_engine.Matcher, grammar_engine.MaskBuffer
        self._sources: Any = grammar_engine.Grammar
        self.version: str = grammar_engine.__version__
        self.vocabulary = grammar_engine.Vocabulary(tokenizer.tokens, eos=[tokenizer.eos], special=dict(tokenizer.special))
        self._width = tokenizer.width
        self._matcher(grammar_engine.Grammar.from_choices(["x"]), self.vocabulary).mask()  # builds the trie

    def compile(self, source: Source, **options: Any) -> Any:
        """`options`: of the constructor of `Grammar`, such as `property_order`."""
        if source.kind not in self.kinds:
            raise unknown_kind(source)
        try:
            return getattr(self._sources, f"from_{source.kind}")(source.text, **options)
        except self._errors as error:
            named = (getattr(error, name, None) for name in ("keyword", "construct", "limit"))
            raise RefusedError(next(filter(None, named), type(error).__name__), str(error)) from None

    def session(self, grammar: Any) -> Session:
        return _Session(self._matcher(grammar, self.vocabulary), self._width, self._held)

    def counters(self, grammar: Any) -> dict[str, int]:
        return asdict(grammar.stats)


class Cached(Ours):
    """A server's use: grammars come from a GrammarCache."""

    def __init__(self, tokenizer: Tokenizer):
        import grammar_engine

        super().__init__(tokenizer)
        self._sources = grammar_engine.GrammarCache()

    def next_request(self, source: Source, _grammar: Any) -> Session:
        return self.session(self.compile(source))


class Without(Ours):
    """Some switches are off: what they give is the difference. `switches`: fields of `grammar_engine.Switches`."""

    def __init__(self, tokenizer: Tokenizer, switches: list[str]):
        from grammar_engine import Switches

        super().__init__(tokenizer)
        self._switches = Switches(**dict.fromkeys(switches, False))

    def session(self, grammar: Any) -> Session:
        return _Session(self._matcher(grammar, self.vocabulary, switches=self._switches), self._width, self._held)


class _Session(Bits):
    def __init__(self, matcher: Any, width: int, held: Any):
        super().__init__(width)
        self._masks = held(self.mask, matcher.vocabulary)
        self._fill = matcher.fill_mask
        self.accept = matcher.accept

    def fill(self) -> object:
        return self._fill(self._masks)
