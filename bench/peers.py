"""The engines that are measured side by side, behind one small protocol.

Each is imported only when it is asked for. `fill` is the one call that is timed, in the fastest form that the library offers to
Python: it writes the mask of the next token into a buffer that `allows` reads.
"""

from __future__ import annotations

import base64
import gzip
import importlib.metadata
import json
import re
from array import array
from pathlib import Path
from typing import Any, Protocol


class RefusedError(Exception):
    """The engine does not take the schema. `reason` is a short class of reasons (a keyword), the message is the engine's."""

    def __init__(self, reason: str, message: str):
        self.reason = reason
        super().__init__(message)


class Tokenizer:
    """One of the vocabularies in shared/data/tokenizers: the bytes of each id, and the tokens of a text."""

    def __init__(self, path: Path):
        with gzip.open(path) as file:
            stored = json.load(file)
        if stored["kind"] != "tiktoken":
            raise ValueError(f"{path.name}: only byte-level BPE vocabularies can be walked here")
        self.special = {index: text for text, index in stored["specials"].items()}
        self.tokens = [b"" if i in self.special else base64.b64decode(token) for i, token in enumerate(stored["tokens"])]
        self.eos: int = stored["eos"]
        self.offset: int = stored.get("rank_offset", 0)
        self.pattern: str = stored["pattern"]
        self._encoding: Any = None

    @property
    def ranks(self) -> dict[bytes, int]:
        return {token: i - self.offset for i, token in enumerate(self.tokens) if token}

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`; text that looks like a special token is text."""
        if self._encoding is None:
            import tiktoken

            self._encoding = tiktoken.Encoding("bench", pat_str=self.pattern, mergeable_ranks=self.ranks, special_tokens={})
        return [self.offset + rank for rank in self._encoding.encode_ordinary(text)]


class Session(Protocol):
    """One text."""

    def fill(self) -> object: ...  # timed
    def allows(self, token: int) -> bool: ...  # in the mask filled last
    def accept(self, token: int) -> bool: ...


class Engine(Protocol):
    """An engine set up for one tokenizer."""

    version: str

    def compile(self, schema: Any) -> Any: ...  # raises RefusedError
    def judge(self, schema: Any) -> Any: ...  # the grammar that tells right from wrong, if it is not the one that is timed; else None
    def session(self, grammar: Any) -> Session: ...


# --- grammar_engine ---------------------------------------------------------------------------------------------------


class Ours:
    """`spellings`: options of `from_json_schema` under which instances are judged, such as `property_order`; masks are timed without."""

    def __init__(self, tokenizer: Tokenizer, spellings: dict[str, str]):
        import grammar_engine

        self._spellings = spellings
        self._api = grammar_engine
        self.version = getattr(grammar_engine, "__version__", "?")
        names = dict(tokenizer.special)
        self._vocabulary = grammar_engine.Vocabulary(tokenizer.tokens, eos=[tokenizer.eos], special=names)
        grammar_engine.Matcher(grammar_engine.Grammar.from_choices(["x"]), self._vocabulary)  # builds the trie

    def compile(self, schema: Any, **options: str) -> Any:
        try:
            return self._api.Grammar.from_json_schema(schema, **options)
        except self._api.errors.GrammarEngineError as error:
            reason = getattr(error, "keyword", None) or getattr(error, "construct", None) or getattr(error, "limit", None)
            raise RefusedError(reason or type(error).__name__, str(error)) from None

    def judge(self, schema: Any) -> Any:
        return self.compile(schema, **self._spellings) if self._spellings else None

    def session(self, grammar: Any) -> Session:
        return _OurSession(self._api.Matcher(grammar, self._vocabulary), (self._vocabulary.width + 31) // 32)


class _OurSession:
    def __init__(self, matcher: Any, words: int):
        self._matcher = matcher
        self._mask = array("i", bytes(4 * words))
        self.accept = matcher.accept

    def fill(self) -> object:
        return self._matcher.fill_mask(self._mask)

    def allows(self, token: int) -> bool:
        return bool(self._mask[token >> 5] >> (token & 31) & 1)


# --- llguidance -------------------------------------------------------------------------------------------------------


class LLGuidance:
    def __init__(self, tokenizer: Tokenizer, _spellings: dict[str, str]):
        import llguidance

        self._api = llguidance
        self.version = importlib.metadata.version("llguidance")
        self._tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Wrapped(tokenizer)))
        self._words = (len(tokenizer.tokens) + 31) // 32

    def compile(self, schema: Any) -> Any:
        try:
            grammar = self._api.LLMatcher.grammar_from_json_schema(schema)
            matcher = self._api.LLMatcher(self._tokenizer, grammar, log_level=0)
        except ValueError as error:
            raise RefusedError(_shorten(str(error)), str(error)) from None
        if matcher.is_error():
            raise RefusedError(_shorten(matcher.get_error()), matcher.get_error())
        return matcher

    def judge(self, _schema: Any) -> None:
        return None

    def session(self, grammar: Any) -> Session:
        return _LLGuidanceSession(grammar.deep_copy(), self._words)


class _Wrapped:
    """What llguidance's TokenizerWrapper asks of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokens = [token or tokenizer.special.get(i, f"<unused {i}>").encode() for i, token in enumerate(tokenizer.tokens)]
        self.special_token_ids = [i for i, token in enumerate(tokenizer.tokens) if not token]
        self.eos_token_id = tokenizer.eos
        self.bos_token_id = None
        self._tokenizer = tokenizer

    def __call__(self, text: str | bytes) -> list[int]:
        return self._tokenizer.encode(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)


class _LLGuidanceSession:
    def __init__(self, matcher: Any, words: int):
        self._matcher = matcher
        self._mask = array("i", bytes(4 * words))
        self._pointer = self._mask.buffer_info()[0]
        self._bytes = 4 * words

    def fill(self) -> object:
        return self._matcher.unsafe_compute_mask_ptr(self._pointer, self._bytes)

    def allows(self, token: int) -> bool:
        return bool(self._mask[token >> 5] >> (token & 31) & 1)

    def accept(self, token: int) -> bool:
        return bool(self._matcher.consume_token(token))


# --- xgrammar ---------------------------------------------------------------------------------------------------------


class XGrammar:
    """Its settings that follow JSON Schema: any white space, unlisted properties allowed."""

    def __init__(self, tokenizer: Tokenizer, _spellings: dict[str, str]):
        import xgrammar

        self._api = xgrammar
        self.version = importlib.metadata.version("xgrammar")
        info = xgrammar.TokenizerInfo(tokenizer.tokens, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[tokenizer.eos])
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._size = len(tokenizer.tokens)

    def compile(self, schema: Any) -> Any:
        try:
            return self._compiler.compile_json_schema(json.dumps(schema), any_whitespace=True, strict_mode=False)
        except RuntimeError as error:
            raise RefusedError(_shorten(str(error)), str(error)) from None

    def judge(self, _schema: Any) -> None:
        return None

    def session(self, grammar: Any) -> Session:
        return _XGrammarSession(self._api, grammar, self._size)


class _XGrammarSession:
    def __init__(self, api: Any, grammar: Any, size: int):
        self._matcher = api.GrammarMatcher(grammar)
        self._mask = api.allocate_token_bitmask(1, size)
        self.accept = self._matcher.accept_token

    def fill(self) -> object:
        return self._matcher.fill_next_token_bitmask(self._mask)

    def allows(self, token: int) -> bool:
        return bool(int(self._mask[0, token >> 5]) >> (token & 31) & 1)


def _shorten(message: str) -> str:
    """A class of messages: the keyword if one is named, else the first line without numbers, names in quotes and places."""
    first = message.strip().splitlines()[0] if message.strip() else "no message"
    if "Unknown format" in first:
        return "format"
    keywords = re.findall(r"Unimplemented keys: \[?\"?([A-Za-z$-]+)|^(oneOf)", first)
    return "".join(keywords[0]) if keywords else re.sub(r"\d+", "#", re.sub(r"\"[^\"]*\"|'[^']*'|at .*", "", first))[:48].strip()


ENGINES: dict[str, type] = {"ours": Ours, "llguidance": LLGuidance, "xgrammar": XGrammar}
MODULES = {"ours": "grammar_engine", "llguidance": "llguidance", "xgrammar": "xgrammar"}
