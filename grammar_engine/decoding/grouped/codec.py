"""Tokenizers, seen alike: what grouped sampling asks of a `Vocabulary` and of a tokenizer of `transformers`.

A codec turns text into ids without special tokens, ids into text without them, and knows which ids end a text and which one stands for
an unknown token. Ids from `size` on are never generated: models often give more scores than their tokenizer has tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ...vocabulary import Vocabulary

_UNKNOWN = ("pad", "unk", "mask")  # what may stand for an unknown token, best first
_BRACKETS = "<>[]|"
_STRATEGIES = ("longest_first", "only_first", "only_second")  # of `transformers`, to cut


class Codec(Protocol):
    """A tokenizer.

    Attributes
    ----------
    size : int
        Number of ids, added tokens included.
    ends : tuple of int
        Ids that end a text; empty if none does.
    max_length : int or None
        Ids that its model can see, as far as it knows.
    """

    size: int
    ends: tuple[int, ...]
    max_length: int | None

    def encode(self, text: str, truncation: Any, max_length: int | None) -> list[int]:
        """The ids of a text, without special tokens; cut to `max_length` if `truncation` says so."""

    def decode(self, ids: Sequence[int], clean_up: bool) -> str:
        """The text of ids; special tokens are left out."""

    def padding_id(self) -> int:
        """The id that stands for an unknown token.

        Raises
        ------
        RuntimeError
            There is none.
        """


def codec_of(tokenizer: Any) -> Codec:
    """The codec of a `Vocabulary` or of a tokenizer of `transformers`.

    Raises
    ------
    TypeError
        It is neither.
    """
    if isinstance(tokenizer, Vocabulary):
        return _VocabularyCodec(tokenizer)
    if callable(tokenizer) and callable(getattr(tokenizer, "decode", None)):
        return _TransformersCodec(tokenizer)
    raise TypeError(f"a tokenizer is a Vocabulary or a tokenizer of transformers, not {type(tokenizer).__name__}")


def wants_truncation(truncation: Any) -> bool:
    """Whether a value of `transformers`' parameter `truncation` asks for any; raises ValueError for none that it may have."""
    if truncation in (None, False, "do_not_truncate"):
        return False
    if truncation is not True and truncation not in _STRATEGIES:
        raise ValueError(f"truncation is a bool, 'do_not_truncate' or one of {', '.join(map(repr, _STRATEGIES))}, not {truncation!r}")
    return True


class _VocabularyCodec:
    """Spells text with the longest tokens, as `Vocabulary.encode_greedy` does."""

    max_length: int | None = None

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary
        self.size = vocabulary.size
        self.ends = vocabulary.eos

    def encode(self, text: str, truncation: Any, max_length: int | None) -> list[int]:
        ids = self.vocabulary.encode_greedy(text.encode())
        return ids[:max_length] if wants_truncation(truncation) else ids

    def decode(self, ids: Sequence[int], clean_up: bool) -> str:
        return spelt(self.vocabulary, ids)

    def padding_id(self) -> int:
        names = {name.strip(_BRACKETS).lower(): token for token, name in self.vocabulary.special.items()}
        return _first(names.get(name) for name in _UNKNOWN)


class _TransformersCodec:
    def __init__(self, tokenizer: Any):
        self.tokenizer = tokenizer
        self.size = len(tokenizer)
        end = getattr(tokenizer, "eos_token_id", None)
        self.ends: tuple[int, ...] = () if end is None else (int(end),)
        self.max_length = getattr(tokenizer, "model_max_length", None)

    def encode(self, text: str, truncation: Any, max_length: int | None) -> list[int]:
        options = {"truncation": truncation, "max_length": max_length} if wants_truncation(truncation) else {}
        return ids_of(self.tokenizer(text, add_special_tokens=False, padding=False, **options))

    def decode(self, ids: Sequence[int], clean_up: bool) -> str:
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=clean_up)
        return text

    def padding_id(self) -> int:
        return _first(getattr(self.tokenizer, f"{name}_token_id", None) for name in _UNKNOWN)


def spelt(vocabulary: Vocabulary, ids: Sequence[int]) -> str:
    """What ids spell, byte for byte: a tokenizer's `decode` may leave a blank away, which a grammar asked for."""
    return b"".join(map(vocabulary.token_bytes, ids)).decode("utf-8", errors="replace")


def ids_of(encoded: Any) -> list[int]:
    """The ids in a tokenizer's answer: a mapping with `input_ids`, or the ids;
    lists, arrays or tensors, of one text with or without a batch axis.

    Raises
    ------
    TypeError
        It is something else.
    """
    ids = encoded["input_ids"] if hasattr(encoded, "keys") else encoded
    ids = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(ids, int):
        return [ids]
    if isinstance(ids, (list, tuple)):
        if len(ids) == 1 and isinstance(ids[0], (list, tuple)):
            ids = ids[0]
        if all(type(token) is int for token in ids):
            return list(ids)
    raise TypeError(f"a tokenizer answers with ids, or with a mapping that has them as 'input_ids', not with {type(encoded).__name__}")


def _first(candidates: Iterable[int | None]) -> int:
    for token in candidates:
        if isinstance(token, int):
            return token
    raise RuntimeError(
        f"the tokenizer has none of the tokens {', '.join(_UNKNOWN)}: say with padding_id which id stands for an unknown token"
    )
