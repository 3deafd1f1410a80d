"""Stub models for grouped sampling, and vocabularies that fit them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from grammar_engine import Vocabulary

PAD = 0
END = 1
LETTERS = Vocabulary([b"", b"", *(bytes([byte]) for byte in b"abcdefgh")], eos=[END], special={PAD: "<pad>", END: "</s>"})


class TableModel:
    """Causal, and different after each pair of ids and at each position: a row of a random table. Keeps what it was asked."""

    def __init__(self, width: int, seed: int = 0, scale: float = 2.0):
        self.table = np.random.default_rng(seed).normal(scale=scale, size=(997, width)).astype(np.float32)
        self.asked: list[list[int]] = []

    def __call__(self, ids: Sequence[int]) -> np.ndarray:
        self.asked.append(list(ids))
        at = np.asarray(ids)
        before = np.concatenate(([0], at[:-1]))
        return self.table[(31 * at + 17 * before + 7 * np.arange(len(at))) % 997]

    def batch(self, texts: list[list[int]]) -> list[np.ndarray]:
        """All in one pass, which counts as one."""
        answers = [self(text) for text in texts]
        del self.asked[-len(texts) :]
        self.asked.append([])
        return answers


class FixedModel:
    """All mass of the row at position i on `token(i + 1)`, which is the position that the row is about."""

    def __init__(self, token: Callable[[int], int], width: int = LETTERS.size):
        self.token, self.width = token, width
        self.asked: list[list[int]] = []

    def __call__(self, ids: Sequence[int]) -> np.ndarray:
        self.asked.append(list(ids))
        scores = np.full((len(ids), self.width), -30, dtype=np.float32)
        for position in range(len(ids)):
            scores[position, self.token(position + 1)] = 30
        return scores
