"""GRID (grid-guardrail, with its native kernel grid_core): LALR tables, and masks that are kept once a walk has made them.

A guide is built from a schema as its serving back end does it, without the store on disk and the threads that warm up ahead (both are off
or absent by default outside of a server); sessions share the guide's masks. A conflict in the tables is tried once more with the
compiler's own second way of writing strings.
"""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any, ClassVar

import numpy as np

from .protocol import Bits, Engine, RefusedError, Session, Source, unknown_kind
from .tokenizer import Tokenizer


class Grid(Engine):
    kinds: ClassVar = frozenset({"json_schema"})

    def __init__(self, tokenizer: Tokenizer):
        from grid import errors, jsonschema
        from grid.grammar.projection import RoleProjection
        from grid.guide import GridGuide
        from grid.jsonschema.rx import RxUnsupported
        from grid.models.vllm_structured import GridGrammarSession
        from grid.serving import artifact_store

        self.version = importlib.metadata.version("grid-guardrail")
        self._refusals = (errors.GridError, jsonschema.Unsupported, RxUnsupported)
        self._conflict = errors.LALRConflictError
        self._compile = jsonschema.compile_json_schema_grammar
        self._projection = RoleProjection
        self._artifacts = artifact_store
        self._guide = GridGuide
        self._session = GridGrammarSession
        self._vocabulary = _Adapter(tokenizer)
        self._trie = artifact_store.load_or_build_trie(self._vocabulary)
        self._width = tokenizer.width

    def compile(self, source: Source) -> Any:
        if source.kind not in self.kinds:
            raise unknown_kind(source)
        schema = json.loads(source.text)
        try:
            try:
                return self._build(schema, unify_string_values=False)
            except self._conflict:
                return self._build(schema, unify_string_values=True)
        except self._refusals as error:
            raise RefusedError(type(error).__name__, str(error)) from None

    def _build(self, schema: Any, unify_string_values: bool) -> Any:
        grammar, _not_enforced = self._compile(schema, unify_string_values=unify_string_values)
        tables = self._artifacts.load_or_compile_tables(self._projection.full(grammar).build())
        scanner = self._artifacts.load_or_build_scanner(grammar)
        return self._guide(tables=tables, dfa=scanner, trie=self._trie, adapter=self._vocabulary)

    def session(self, grammar: Any) -> Session:
        return _Session(self._session(grammar.copy()), self._width)


class _Adapter:
    """What GRID asks of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer):
        self.vocabulary = {f"{index}": index for index in range(tokenizer.width)}
        self.eos_token_id = self.pad_token_id = tokenizer.eos
        self.special_token_ids = frozenset(i for i, token in enumerate(tokenizer.tokens) if not token)
        self.special_tokens = {f"{index}" for index in self.special_token_ids}
        self.token_bytes = tokenizer.tokens.__getitem__


class _Session(Bits):
    def __init__(self, session: Any, width: int):
        super().__init__(width)
        self._rows = np.frombuffer(self.mask, np.int32).reshape(1, -1)
        self._fill = session.fill_bitmask
        self._accept = session.accept_tokens

    def fill(self) -> object:
        return self._fill(self._rows, 0)

    def accept(self, token: int) -> bool:
        return bool(self._accept("", [token]))
