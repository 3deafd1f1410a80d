"""Caches and fast paths only save time: each switched off alone, and all together, the masks are the same."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest

from exactness import grammars
from exactness.walk import Walk
from grammar_engine import Grammar, Matcher, Switches, Vocabulary
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


def test_analyses_that_are_put_off() -> None:
    """Keys under patterns that are not anchored: what they have in common
    is found by other keys, the rest walked, and analysed in the end."""
    patterns = {"foo": {"type": "integer"}, "ba[rz]": {"type": "string"}, "q+": {"type": "boolean"}}
    schema = {"type": "array", "items": {"type": "object", "patternProperties": patterns, "properties": {"n": {"type": "null"}}}}
    item = '{"n": null, "xfoo": 1, "free": [2], "a bar": "b", "qq": true}'
    grammar, vocabulary = Grammar.from_json_schema(schema), Vocabulary.builtin()
    matchers = [Matcher(grammar, vocabulary, switches=each) for each in (Switches(), Switches(slices=False), Switches(inner_masks=False))]
    for token in vocabulary.encode_greedy(f"[{', '.join([item] * 10)}]".encode()):
        assert len({matcher.mask() for matcher in matchers}) == 1
        assert all(matcher.accept(token) for matcher in matchers)
