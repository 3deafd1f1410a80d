"""Masks of all places of a draft: those of one call after the other, and the text stays as it is."""

from __future__ import annotations

import random

import numpy as np
import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, MaskBuffer, Matcher, Vocabulary, VocabularyError, allocate_masks

VOCABULARY = Vocabulary.bytes()
(END,) = VOCABULARY.eos
GRAMMARS = [Grammar.from_regex(pattern) for pattern in ("[a-c]*", "(ab|ac|b{1,3})+", "a?b?c?")]


@pytest.mark.parametrize("seed", range(5))
def test_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    for grammar in GRAMMARS:
        matcher = Matcher(grammar, VOCABULARY)
        for _ in range(30):
            draft = [rng.choice([97, 98, 99, END, -1, 300]) for _ in range(rng.randint(0, 5))]
            row = rng.randint(0, 2)
            masks, expected = np.full_like(allocate_masks(8, VOCABULARY), 7), np.full_like(allocate_masks(8, VOCABULARY), 7)
            before = matcher.tokens
            n = matcher.fill_draft_masks(draft, MaskBuffer(masks, VOCABULARY) if rng.random() < 0.5 else masks, row)
            assert matcher.tokens == before and n == matcher.validate(draft)
            other = matcher.fork()
            other.fill_mask(expected, row)
            for i in range(n):
                assert other.accept(draft[i])
                other.fill_mask(expected, row + i + 1)
            assert (masks == expected).all()
            matcher.accept_tokens(draft[: rng.randint(0, n)])
            if matcher.is_terminated:
                matcher.reset()


def test_rows_are_checked_before() -> None:
    matcher, masks = Matcher(GRAMMARS[0], VOCABULARY), np.full_like(allocate_masks(3, VOCABULARY), 7)
    for draft, row in (([97, 97, 97], 0), ([97, 97], 1), ([], 3), ([], -1)):
        with pytest.raises(IndexError):
            matcher.fill_draft_masks(draft, masks, row)
    assert (masks == 7).all()
    assert matcher.fill_draft_masks([97, 97], masks) == 2


def test_failures_change_nothing() -> None:
    poor = Vocabulary([b"a", b""], eos=[1])  # there is no "b"
    matcher = Matcher(Grammar.from_regex("aab"), poor)
    with pytest.raises(VocabularyError):
        matcher.fill_draft_masks([0, 0], allocate_masks(3, poor))
    assert matcher.tokens == []
    hard = Matcher(Grammar.from_regex("(a|b)*a(a|b){12}", limits=Limits(max_configurations=50)), VOCABULARY)
    with pytest.raises(LimitExceededError):
        hard.fill_draft_masks(
            list("".join(f"{n:b}" for n in range(200)).translate({48: "a", 49: "b"}).encode()), allocate_masks(2_000, VOCABULARY)
        )
    assert hard.tokens == []
    with pytest.raises(TypeError):
        matcher.fill_draft_masks(["a"], allocate_masks(2, poor))
    assert matcher.tokens == []
