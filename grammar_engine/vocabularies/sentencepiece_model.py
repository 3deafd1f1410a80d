"""SentencePiece models.

The decoder of SentencePiece writes each piece with `▁` (U+2581) as a space, each byte piece (`<0x0A>`) as that byte, and nothing for
control pieces; what kind a piece is, the model says itself, so a user-defined piece that merely *looks* like `<0x0A>` stays text. The
unknown piece stands for no certain text (the decoder writes ` ⁇ `), so it spells nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import VocabularyError
from .parts import Parts, find_eos


def read(processor: Any, eos: Iterable[int | str] | None) -> Parts:
    """From a `SentencePieceProcessor`, or the path of a `.model` file."""
    if isinstance(processor, (str, os.PathLike)):
        return from_content(Path(processor).read_bytes(), os.fspath(processor), eos)
    if not hasattr(processor, "id_to_piece"):
        raise VocabularyError(f"from_sentencepiece takes a SentencePieceProcessor or a path, not {type(processor).__name__}")
    tokens: list[bytes] = []
    special: dict[int, str] = {}
    for token in range(processor.get_piece_size()):
        piece: str = processor.id_to_piece(token)
        if processor.is_control(token) or processor.is_unknown(token) or processor.is_unused(token):
            special[token] = piece
            tokens.append(b"")
        elif processor.is_byte(token):
            tokens.append(bytes((int(piece[3:5], 16),)))
        else:
            tokens.append(piece.replace("\u2581", " ").encode("utf-8"))
    if eos is None and processor.eos_id() >= 0:
        eos = [processor.eos_id()]
    return Parts(tokens, find_eos(eos, special), special)


def from_content(content: bytes, name: str, eos: Iterable[int | str] | None) -> Parts:
    """From what is in a `.model` file; messages call it `name`."""
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise VocabularyError("reading a .model file needs the sentencepiece package") from error
    try:
        processor = SentencePieceProcessor(model_proto=content)
    except RuntimeError as error:
        raise VocabularyError(f"{name} is no SentencePiece model: {error}") from error
    return read(processor, eos)
