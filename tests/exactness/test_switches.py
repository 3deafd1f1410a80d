"""Caches and fast paths only save time: each switched off alone, and all together, the masks are the same."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest

from exactness import grammars
from exactness.walk import Walk
from grammar_engine import Switches
from vocabularies import random_vocabulary


def every_switching() -> list[Any]:
    """All on; each field off; all off."""
    names = [field.name for field in dataclasses.fields(Switches)]
    return [Switches(), *(Switches(**{name: False}) for name in names), Switches(**dict.fromkeys(names, False))]


@pytest.mark.parametrize("switches", every_switching(), ids=str)
@pytest.mark.parametrize("kind", ["plain", "special", "longest", "scanner"])
def test_masks_do_not_depend_on_switches(switches: Any, kind: str, long_run: bool) -> None:
    masks = 0
    for seed in range(600 if long_run else 12):
        rng = random.Random(f"{kind} {seed}")
        if kind == "scanner":
            builder, alphabet = grammars.random_scanner(rng)
        else:
            builder, alphabet = grammars.random_grammar(rng, special=kind == "special", longest=kind == "longest")
        walk = Walk(builder, random_vocabulary(rng, alphabet, size=20, longest=5), rng, switches)
        masks += walk.run(8)
    assert masks > (3000 if long_run else 60)


def test_order_of_visits_does_not_matter() -> None:
    """A warm grammar gives the masks of a cold one, whatever was asked before."""
    for seed in range(40):
        rng = random.Random(f"order {seed}")
        builder, alphabet = grammars.random_grammar(rng)
        tiny = random_vocabulary(rng, alphabet)
        vocabulary = tiny.build()  # shared: what one grammar leaves with the vocabulary must serve the other
        warm = Walk(builder, tiny, random.Random(1), vocabulary=vocabulary)
        for _ in range(4):
            warm.run(6, laws=0)
        cold = Walk(builder, tiny, random.Random(2), vocabulary=vocabulary)
        cold.run(6, laws=0)
        warm.rng = random.Random(2)
        warm.run(6, laws=0)
