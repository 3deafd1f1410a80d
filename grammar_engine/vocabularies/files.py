"""Vocabulary files of any kind, told apart by what they contain and not by their names.

{"model": ..., "decoder": ...}                  Hugging Face tokenizer.json
{"config": ..., "vocab": [{"token_bytes": ...}]}  Tekken
{"tokens": [base64, ...], "eos": ..., ...}      a plain table; "specials" maps names to ids
anything that is no JSON                        SentencePiece model
"""

from __future__ import annotations

import codecs
import gzip
import json
import os
import zlib
from base64 import b64decode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import VocabularyError
from . import huggingface, sentencepiece_model
from .parts import ID_END, Parts, find_eos

GZIP_MAGIC = b"\x1f\x8b"
SAVED_MAGIC = b"ge-vocab"  # csrc/vocab/vb_file.c


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a file was written by `Vocabulary.save`. What can be read only once, such as a pipe, is not looked at."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(SAVED_MAGIC)) == SAVED_MAGIC


def read(path: str | os.PathLike[str], eos: Iterable[int | str] | None) -> Parts:
    """From a file of any of the kinds above, compressed with gzip or not."""
    content = Path(path).read_bytes()
    if content.startswith(SAVED_MAGIC):
        raise VocabularyError(f"{os.fspath(path)} was written by Vocabulary.save: use Vocabulary.load")
    if content.startswith(GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise VocabularyError(f"{os.fspath(path)} cannot be decompressed: {error}") from error
    content = content.removeprefix(codecs.BOM_UTF8)
    if not content.strip():
        raise VocabularyError(f"{os.fspath(path)} is empty")
    if not content.lstrip().startswith(b"{"):
        return sentencepiece_model.from_content(content, f"{os.fspath(path)}, which is no JSON,", eos)
    try:
        table = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"{os.fspath(path)} is malformed JSON: {error}") from error
    if "model" in table:
        beside = huggingface.eos_beside(Path(path)) if eos is None and Path(path).name.endswith(".json") else eos
        return huggingface.from_json(content, beside)
    try:
        if "vocab" in table:
            return _tekken(table, eos)
        if "tokens" in table:
            return _plain(table, eos)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise VocabularyError(f"{os.fspath(path)} is malformed: {error!r}") from error
    raise VocabularyError(f"{os.fspath(path)} has none of the keys that tell a vocabulary: model, vocab, tokens")


def _tekken(table: dict[str, Any], eos: Iterable[int | str] | None) -> Parts:
    """Tekken: the special tokens come first, the byte strings follow in the order of their ranks."""
    config = table["config"]
    count = config["default_num_special_tokens"]
    if not 0 <= count <= min(config["default_vocab_size"], ID_END):
        raise ValueError(f"its size, {config['default_vocab_size']}, has no room for {count} special tokens")
    special = {token: f"<SPECIAL_{token}>" for token in range(count)}
    named = table.get("special_tokens") or [{"rank": token, "token_str": name} for token, name in enumerate(("<unk>", "<s>", "</s>"))]
    special.update((entry["rank"], entry["token_str"]) for entry in named)
    if not all(0 <= token < count for token in special):
        raise ValueError(f"a special token has a rank that is not below {count}")
    ranked = sorted(table["vocab"], key=lambda entry: entry["rank"])[: config["default_vocab_size"] - count]
    if any(entry["rank"] != number for number, entry in enumerate(ranked)):  # the id of each is its rank, after the special ones
        raise ValueError("the ranks are not 0, 1, 2, ...")
    tokens = [b""] * count + [b64decode(entry["token_bytes"], validate=True) for entry in ranked]
    return Parts(tokens, find_eos(eos, special), special)


def _plain(table: dict[str, Any], eos: Iterable[int | str] | None) -> Parts:
    special = {token: name for name, token in table.get("specials", {}).items()}
    own = table.get("eos")
    if eos is None and own is not None:
        eos = own if isinstance(own, list) else [own]
    return Parts([b64decode(token, validate=True) for token in table["tokens"]], find_eos(eos, special), special)
