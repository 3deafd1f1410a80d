"""Vocabularies for tests: tiny ones with every oddity that real ones have, and the real ones where their data is at hand.

Idea. A `TinyVocabulary` is plain data, so the oracle can read it without the engine; `.build()` makes the engine's `Vocabulary`.
A random one over a small alphabet has all single bytes of the alphabet (so no text of the grammar is out of reach), tokens of
several bytes, duplicates, an empty token, bytes that are no valid UTF-8, a special id, several EOS ids, ids without bytes, padding.

The real ones are those of the folder of test data (`data_folder`); without them, tests that need them are skipped with that reason.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from data_folder import needed

REAL_NAMES = ("tekken-131k", "o200k-200k", "mistral-32k")


@dataclass(frozen=True)
class TinyVocabulary:
    """What `grammar_engine.Vocabulary` is given, as plain data."""

    tokens: tuple[bytes, ...]
    eos: tuple[int, ...] = ()
    special: tuple[int, ...] = ()
    width: int | None = None

    @property
    def spelt(self) -> list[bytes]:
        """The bytes of each id by the rules of `Vocabulary`: special and EOS ids have none."""
        return [b"" if i in self.eos or i in self.special else token for i, token in enumerate(self.tokens)]

    @property
    def words(self) -> int:
        """32-bit words in a mask."""
        return ((self.width or len(self.tokens)) + 31) // 32

    def build(self) -> Any:
        """The engine's object."""
        from grammar_engine import Vocabulary

        return Vocabulary(list(self.tokens), eos=list(self.eos), special={i: f"<{i}>" for i in self.special}, width=self.width)


def random_vocabulary(rng: random.Random, alphabet: Sequence[bytes], size: int = 12, longest: int = 4) -> TinyVocabulary:
    """All of `alphabet` (pieces of one or more bytes, spelt by single bytes too) and about `size` further tokens."""
    tokens = sorted({bytes([byte]) for piece in alphabet for byte in piece})
    for _ in range(size):
        tokens.append(b"".join(rng.choice(alphabet) for _ in range(rng.randint(1, longest))))
    if rng.random() < 0.5:  # cut in the middle of a character, or no character at all
        tokens += [tokens[-1][1:] + tokens[0], rng.choice([b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\x00", b"\xed\xa0\x80"])]
    tokens += [rng.choice(tokens) for _ in range(rng.randint(0, 3))]  # duplicates
    tokens += [b""] * rng.randint(0, 2)
    if rng.random() < 0.1:
        tokens.append(rng.choice(alphabet) * 40)
    rng.shuffle(tokens)
    eos, special = [], []
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        eos.append(len(tokens))
        tokens.append(b"" if rng.random() < 0.7 else b"a")
    if rng.random() < 0.3:
        special.append(len(tokens))
        tokens.append(rng.choice([b"", b"a", b"<s>"]))
    width = len(tokens) + rng.choice([0, 1, 31, 40]) if rng.random() < 0.4 else None
    return TinyVocabulary(tuple(tokens), tuple(eos), tuple(special), width)


def byte_vocabulary(alphabet: bytes) -> TinyVocabulary:
    """One token for each byte, and one EOS."""
    return TinyVocabulary((*(bytes([byte]) for byte in alphabet), b""), (len(alphabet),))


# --- real ones --------------------------------------------------------------------------------------------------------


def load_real(name: str) -> TinyVocabulary:
    """One of `REAL_NAMES`; skips the test where the data is not there."""
    with gzip.open(needed("tokenizers") / f"{name}.json.gz") as file:
        stored = json.load(file)
    special = {*stored["specials"].values()} - {stored["eos"]}
    return TinyVocabulary(tuple(map(base64.b64decode, stored["tokens"])), (stored["eos"],), tuple(sorted(special)))
