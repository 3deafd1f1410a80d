"""Vocabularies, and the tokens of a text.

Idea. The files of `$GRAMMAR_ENGINE_DATA/tokenizers` hold the bytes of each token and what it takes to encode: the ranks and pattern of a
byte-level BPE, or the scores of a SentencePiece BPE. Engines are given bytes only, and all walk the same tokens. `bytes` is a
vocabulary made here, one token for each byte: it is enough for verdicts, and cheap for engines that prepare masks ahead.

SentencePiece texts are encoded without the space in front that its models put there, word by word: merges do not cross the start of a
word, which keeps long texts cheap.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import re
from collections.abc import Callable
from typing import Any

from data_folder import DATA

NAMES = ("tekken-131k", "o200k-200k", "mistral-32k", "bytes")


class Tokenizer:
    """`tokens`: the bytes of each id, empty for special and unused ones. `special`: the texts of special ids."""

    def __init__(self, name: str, tokens: list[bytes], eos: int, special: dict[int, str], encode: Callable[[str], list[int]]):
        self.name = name
        self.tokens = tokens
        self.eos = eos
        self.special = special
        self.encode = encode  # text that looks like a special token is text

    @property
    def width(self) -> int:
        return len(self.tokens)

    @classmethod
    def load(cls, name: str) -> Tokenizer:
        """One of NAMES."""
        if name == "bytes":
            return cls(name, [bytes([i]) for i in range(256)] + [b""], 256, {256: "</s>"}, lambda text: list(text.encode()))
        with gzip.open(DATA / "tokenizers" / f"{name}.json.gz") as file:
            stored = json.load(file)
        special = {index: text for text, index in stored["specials"].items()}
        tokens = [b"" if i in special else base64.b64decode(token) for i, token in enumerate(stored["tokens"])]
        encoder = _byte_level if stored["kind"] == "tiktoken" else _sentence_piece
        return cls(name, tokens, stored["eos"], special, encoder(tokens, stored))


def _byte_level(tokens: list[bytes], stored: dict[str, Any]) -> Callable[[str], list[int]]:
    import tiktoken

    offset: int = stored.get("rank_offset", 0)
    ranks = {token: i - offset for i, token in enumerate(tokens) if token}
    encoding = tiktoken.Encoding(stored["name"], pat_str=stored["pattern"], mergeable_ranks=ranks, special_tokens={})
    return lambda text: [offset + rank for rank in encoding.encode_ordinary(text)]


def _sentence_piece(tokens: list[bytes], stored: dict[str, Any]) -> Callable[[str], list[int]]:
    scores: list[float] = stored["scores"]
    pieces: dict[bytes, int] = {}  # what merges may make
    byte_fallback: dict[bytes, int] = {}
    for index, token in enumerate(tokens):
        if len(token) > 1:
            pieces.setdefault(token, index)
        elif token:
            byte_fallback.setdefault(token, index)
    characters = {
        token: i for i, token in enumerate(tokens) if len(token.decode("utf-8", "ignore")) == 1 and _is_text(token)
    }  # the last wins

    def of_word(word: str) -> list[int]:
        parts = [character.encode() for character in word]
        while True:
            merges = [(scores[pieces[a + b]], -k) for k, (a, b) in enumerate(itertools.pairwise(parts)) if a + b in pieces]
            if not merges:
                break
            k = -max(merges)[1]
            parts[k : k + 2] = [parts[k] + parts[k + 1]]
        found: list[int] = []
        for part in parts:
            index = pieces.get(part, characters.get(part))
            found += [index] if index is not None else [byte_fallback[part[i : i + 1]] for i in range(len(part))]
        return found

    return lambda text: [token for word in re.findall(r" +[^ ]{0,48}|[^ ]{1,48}", text) for token in of_word(word)]


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
