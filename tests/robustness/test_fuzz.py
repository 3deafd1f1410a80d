"""A few seconds of `fuzz.py` with fixed seeds, and what it found before."""

from __future__ import annotations

import random
import time

import pytest

from robustness import fuzz

CORPUS = fuzz.Corpus()


@pytest.mark.parametrize("target", sorted(fuzz.CASES))
def test_some_cases(target, long_run):
    """The cases are fixed; how many of them there is time for is not."""
    clock = fuzz.Clock(fuzz.SLOW)
    end = time.monotonic() + (120 if long_run else 1.3)
    outcomes = set()
    number = 0
    while number < 40 or time.monotonic() < end:
        outcomes.add(fuzz.run_case(target, 2026, number, CORPUS, clock))
        number += 1
    assert "compiled" in outcomes
    assert len(outcomes) > 1


def test_mutations_are_deterministic():
    first, second = ([repr(fuzz.mutate_schema(rng, CORPUS.schema(rng))) for rng in map(random.Random, range(30))] for _ in range(2))
    assert first == second
