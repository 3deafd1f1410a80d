"""Hugging Face tokenizers: `tokenizer.json`, `tokenizers.Tokenizer`, tokenizers of `transformers`.

Idea. A `tokenizer.json` contains its own decoder, a pipeline of named steps that turns tokens into text. `_speller` reads that
pipeline and applies it to one token at a time: so the bytes are by construction those of `tokenizer.decode`, whatever the family.
A step whose result depends on the neighbours of a token (WordPiece's joining with spaces, CTC's removal of repetitions) gives a
token no bytes of its own, and is refused by name.

Invariants. A spelling is `str` until a step turns it into bytes (`<0x0A>`, byte-level), and is left alone from then on. Added tokens go
through the decoder too, as they do in `decode`, and those marked "normalized" go through the normalizer before: with them it is the
normalized form that the tokenizer finds in a text (`▁word`, which spells " word") and decodes. Special tokens and the model's unknown token
spell nothing.

Not modelled: what happens once per text rather than once per token, i.e. the leading space that SentencePiece families drop at the start.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..errors import VocabularyError
from . import byte_level, sentencepiece_model
from .parts import Parts, dense, find_eos

Spelling = str | bytes
Step = Callable[[str], Spelling]

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def read(tokenizer: Any, eos: Iterable[int | str] | None) -> Parts:
    """From a path to a `tokenizer.json`, or a `tokenizers.Tokenizer`."""
    if isinstance(tokenizer, (str, os.PathLike)):
        path = Path(tokenizer)
        return from_json(path.read_bytes(), eos if eos is not None else eos_beside(path))
    if not hasattr(tokenizer, "to_str"):
        hint = "; use from_transformers" if hasattr(tokenizer, "convert_ids_to_tokens") else ""
        raise VocabularyError(f"from_tokenizers takes a path or a tokenizers.Tokenizer, not {type(tokenizer).__name__}{hint}")
    return from_json(tokenizer.to_str(), eos)


def read_transformers(tokenizer: Any, eos: Iterable[int | str] | None) -> Parts:
    """From a tokenizer of the `transformers` library, fast or slow."""
    if isinstance(tokenizer, (str, os.PathLike)):
        raise VocabularyError("from_transformers takes a tokenizer, such as AutoTokenizer.from_pretrained(name), not its name or path")
    if eos is None:
        own = getattr(tokenizer, "eos_token_id", None)
        eos = own if own is None or isinstance(own, (list, tuple)) else [own]
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        return read(backend, eos)
    if hasattr(tokenizer, "to_str"):  # a tokenizers.Tokenizer already
        return read(tokenizer, eos)
    if getattr(tokenizer, "sp_model", None) is not None:
        parts = sentencepiece_model.read(tokenizer.sp_model, eos)
        added, spell = getattr(tokenizer, "added_tokens_decoder", {}), str.encode
    elif hasattr(tokenizer, "get_vocab") and getattr(tokenizer, "byte_decoder", None):
        spellings = {token: byte_level.token_bytes(piece) for piece, token in tokenizer.get_vocab().items()}
        parts, added, spell = Parts(dense(spellings), [], {}), getattr(tokenizer, "added_tokens_decoder", {}), str.encode
    else:
        raise VocabularyError(
            f"the bytes of the tokens of a {type(tokenizer).__name__} are not known: "
            "it has no backend_tokenizer, sp_model or byte_decoder; use its fast version, or Vocabulary(tokens, eos)"
        )
    contents = {token: (str(t), bool(getattr(t, "special", True))) for token, t in added.items()}
    return _with_ends(_with_added(parts, contents, spell), contents, eos)


def from_json(text: str | bytes, eos: Iterable[int | str] | None) -> Parts:
    """From the text of a `tokenizer.json`."""
    try:
        content = json.loads(text)
        model = content["model"]
        pieces = _pieces(model)
        added = {_id(token["id"]): _added(token, content.get("normalizer")) for token in content.get("added_tokens") or ()}
        unknown = _unknown_token(model)
        spell = _speller(content.get("decoder"))
        special = {pieces[unknown]: unknown} if unknown in pieces else {}
        parts = _with_added(Parts(dense({token: spell(piece) for piece, token in pieces.items()}), [], special), added, spell)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise VocabularyError(f"this is no tokenizer.json: {error!r}") from error
    return _with_ends(parts, added, eos, pieces)


def _with_added(parts: Parts, added: dict[int, tuple[str, bool]], spell: Callable[[str], bytes]) -> Parts:
    """`parts` with added tokens (id -> content, special) over them."""
    tokens, special = list(parts.tokens), dict(parts.special)
    tokens += dense(dict.fromkeys(added, b""))[len(tokens) :]
    for token, (content, is_special) in added.items():
        tokens[token] = b"" if is_special else spell(content)
        if is_special:
            special[token] = content
    return Parts(tokens, parts.eos, special)


def _with_ends(
    parts: Parts, added: dict[int, tuple[str, bool]], eos: Iterable[int | str] | None, names: dict[str, int] | None = None
) -> Parts:
    """`parts` with the tokens that end a text, which may go by the names of added tokens, too."""
    names = {**(names or {}), **{content: token for token, (content, _) in added.items()}}
    return parts._replace(eos=find_eos(eos, parts.special, names))


def _id(value: Any) -> int:
    """An id as JSON has it."""
    if type(value) is not int:
        raise TypeError(f"a token id is an integer, not {value!r:.60}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _added(token: dict[str, Any], normalizer: dict[str, Any] | None) -> tuple[str, bool]:
    """Content and specialness of an entry of "added_tokens"."""
    content, special = _text(token["content"]), bool(token.get("special"))
    if not special and token.get("normalized") and normalizer is not None:
        content = _normalize(content, normalizer)
    return content, special


def _normalize(text: str, normalizer: dict[str, Any]) -> str:
    kind = normalizer["type"]
    if kind == "Sequence":
        for part in normalizer["normalizers"]:
            text = _normalize(text, part)
        return text
    if kind == "Prepend":
        return normalizer["prepend"] + text if text else text
    if kind == "Replace" and "String" in normalizer["pattern"]:
        return text.replace(normalizer["pattern"]["String"], normalizer["content"])
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return unicodedata.normalize(kind, text)
    if kind == "Lowercase":
        return "".join(map(str.lower, text))  # each by itself: a sigma at the end of a word is one like any other
    if text.isascii() and text.isprintable() and kind in ("Precompiled", "Nmt", "StripAccents", "Strip") and text == " ".join(text.split()):
        return text  # these leave such texts as they are
    raise VocabularyError(f"the normalizer {kind} changes the added token {text!r} in a way that is not known here")


def _pieces(model: dict[str, Any]) -> dict[str, int]:
    vocabulary = model["vocab"]
    if not isinstance(vocabulary, dict):
        return {_text(piece): token for token, (piece, _score) in enumerate(vocabulary)}  # Unigram
    if set(map(type, vocabulary.values())) - {int}:
        vocabulary = {piece: _id(token) for piece, token in vocabulary.items()}
    return vocabulary


def _unknown_token(model: dict[str, Any]) -> str | None:
    number = model.get("unk_id")
    if number is not None:
        if _id(number) < 0:
            raise ValueError(f"unk_id is {number}")
        piece: str = model["vocab"][number][0]
        return piece
    return model.get("unk_token")


# --- decoders -------------------------------------------------------------------------------------------------------


def _speller(decoder: dict[str, Any] | None) -> Callable[[str], bytes]:
    """The function from a token to its bytes that a decoder means."""
    if decoder is None:
        raise VocabularyError("the tokenizer has no decoder: it joins tokens with spaces, so that a token has no bytes of its own")
    steps = [step for part in _flatten(decoder) if (step := _step(part)) is not None]

    def spell(token: str) -> bytes:
        spelling: Spelling = token
        for step in steps:
            if isinstance(spelling, bytes):
                return spelling
            spelling = step(spelling)
        return spelling if isinstance(spelling, bytes) else spelling.encode("utf-8")

    return byte_level.token_bytes if steps == [byte_level.token_bytes] else spell


def _flatten(decoder: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of nested sequences, up to what works on the text as a whole:
    `ByteLevel` and `Fuse` join it, and then only its two ends can change.
    """
    if decoder["type"] != "Sequence":
        return [decoder]
    steps = [step for part in decoder["decoders"] for step in _flatten(part)]
    joined = next((i + 1 for i, step in enumerate(steps) if step["type"] in ("ByteLevel", "Fuse")), len(steps))
    for step in steps[joined:]:
        if step["type"] not in ("Strip", "Fuse"):
            raise VocabularyError(f"the decoder applies {step['type']} to the text as a whole: tokens have no bytes of their own")
    return steps[:joined]


def _step(part: dict[str, Any]) -> Step | None:
    kind = part["type"]
    if kind == "ByteLevel":
        return byte_level.token_bytes
    if kind == "Metaspace":
        return _replace(_text(part["replacement"]), " ")
    if kind == "ByteFallback":
        return _byte_fallback
    if kind == "Fuse":
        return None
    if kind == "Replace" and "String" in part["pattern"]:
        return _replace(_text(part["pattern"]["String"]), _text(part["content"]))
    if kind == "Strip":
        return _strip(_text(part["content"]), part["start"], part["stop"])
    raise VocabularyError(
        f"the decoder {kind} does not give each token bytes of its own; Vocabulary(tokens, eos) takes a table made by hand"
    )


def _replace(old: str, new: str) -> Step:
    return lambda token: token.replace(old, new)


def _byte_fallback(token: str) -> Spelling:
    match = _BYTE_PIECE.fullmatch(token)
    return bytes((int(match[1], 16),)) if match else token


def _strip(content: str, start: int, stop: int) -> Step:
    """Drops up to `start` times the character `content` at the start of each token, up to `stop` times at its end."""

    def strip(token: str) -> str:
        left = min(start, len(token) - len(token.lstrip(content)))
        token = token[left:]
        right = min(stop, len(token) - len(token.rstrip(content)))
        return token[: len(token) - right]

    return strip


# --- which tokens end a text ----------------------------------------------------------------------------------------


def eos_beside(path: Path) -> list[int | str] | None:
    """What the files that are published beside a `tokenizer.json` say.

    One that is damaged might say something else than the next one. (A `config.json` may be that of something else.)
    """
    for name, key in (("generation_config.json", "eos_token_id"), ("tokenizer_config.json", "eos_token"), ("config.json", "eos_token_id")):
        try:
            value = json.loads(path.with_name(name).read_bytes()).get(key)
        except OSError:
            continue
        except (ValueError, AttributeError, RecursionError) as error:
            if name == "config.json":
                continue
            what = f"{path.with_name(name)} is malformed, and so does not say which tokens end a text"
            raise VocabularyError(f"{what}: pass eos=[...] (ids or names)") from error
        if isinstance(value, dict):  # an added token, spelled out
            value = value.get("content")
        if value is not None:
            return list(value) if isinstance(value, list) else [value]
    return None
