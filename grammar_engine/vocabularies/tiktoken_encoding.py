"""`tiktoken.Encoding`: the byte table is its public interface, so there is nothing to interpret."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import VocabularyError
from .parts import Parts, find_eos


def read(encoding: Any, eos: Iterable[int | str] | None) -> Parts:
    """From a `tiktoken.Encoding`; ids that it leaves out spell nothing."""
    if not hasattr(encoding, "decode_single_token_bytes"):
        raise VocabularyError(f"from_tiktoken takes a tiktoken.Encoding, not {type(encoding).__name__}")
    special = {encoding.encode_single_token(name): name for name in encoding.special_tokens_set}
    tokens = []
    for token in range(encoding.n_vocab):
        try:
            tokens.append(encoding.decode_single_token_bytes(token))
        except KeyError:
            tokens.append(b"")
    return Parts(tokens, find_eos(eos, special), special)
