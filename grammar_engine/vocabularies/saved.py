"""The files of `Vocabulary.save`.

The core writes and maps them (`csrc/vocab/vb_file.c`); a note in them, JSON, holds what only Python knows: the names of special tokens, the
slices that were listed, which are made again, and the fingerprint, which would otherwise take longer than all the rest of loading.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .._native import VocabContent, load_vocab, read_vocab, save_vocab
from ..errors import VocabularyError
from ..saving import open_file, replace_file


def write(path: str | os.PathLike[str], vocab: Any, special: Mapping[int, str], fingerprint: str, slices: tuple[str, ...] | None) -> None:
    """Write the file, in one step."""
    note: dict[str, Any] = {"special": dict(special), "fingerprint": fingerprint}
    if slices is not None:
        note["slices"] = slices
    replace_file(path, save_vocab(vocab, json.dumps(note).encode()))


def read(path: str | os.PathLike[str]) -> tuple[Any, VocabContent, dict[int, str], str, list[str] | None]:
    """The core's vocabulary, what is in it, the names of special tokens, the fingerprint, and the slices."""
    with open_file(path) as file:
        try:
            vocab = load_vocab(file.fileno())
        except VocabularyError as error:
            raise VocabularyError(f"{os.fspath(path)} cannot be loaded: {error}") from None
    content = read_vocab(vocab)
    note = json.loads(content.note)
    return vocab, content, {int(token): name for token, name in note["special"].items()}, note["fingerprint"], note.get("slices")
