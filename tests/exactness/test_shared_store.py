"""What grammars over one vocabulary share is bounded, and no mask depends on the bound."""

from __future__ import annotations

import random

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine._native import lib

SCHEMAS = [
    {"type": "object", "properties": {f"p{n}": {"type": "string", "maxLength": n}, "q": {"type": "number"}}, "required": ["q"]}
    for n in range(1, 30)
]
PATTERNS = [f"([a-z]{{{n}}}|[0-9]+-)*x" for n in range(1, 30)]


def held(vocabulary: Vocabulary) -> int:
    return lib.ge_vocab_bytes(vocabulary._handle)


def masks(vocabulary: Vocabulary, bounds=lambda: None) -> list[bytes]:
    found = []
    for grammar in [*map(Grammar.from_json_schema, SCHEMAS), *map(Grammar.from_regex, PATTERNS)]:
        rng = random.Random(7)
        matcher = Matcher(grammar, vocabulary)
        for _ in range(12):
            found.append(bytes(matcher.mask()))
            allowed = matcher.allowed_tokens()
            if not matcher.accept(rng.choice(allowed)):
                break
            bounds()
    return found


@pytest.fixture(scope="module")
def reference():
    vocabulary = Vocabulary.builtin()
    before = held(vocabulary)
    found = masks(vocabulary)
    return found, held(vocabulary) - before


@pytest.mark.parametrize("share", [0, 0.1, 0.5])
def test_a_low_ceiling(reference, share):
    expected, whole = reference
    vocabulary = Vocabulary.builtin()
    ceiling = int(whole * share)
    vocabulary.max_shared_bytes = ceiling
    before = held(vocabulary)
    assert masks(vocabulary) == expected
    table = 256 * 8 * 8  # of what is there by hash
    assert held(vocabulary) - before <= ceiling + table


def test_a_ceiling_that_moves(reference):
    expected, whole = reference
    vocabulary, rng = Vocabulary.builtin(), random.Random(1)

    def move():
        vocabulary.max_shared_bytes = rng.randrange(whole)

    assert masks(vocabulary, move) == expected
    before = held(vocabulary)
    vocabulary.max_shared_bytes = 0
    assert held(vocabulary) < before - whole // 40


def test_it_is_set_before_the_trie_is_there_and_after():
    vocabulary = Vocabulary([b"a", b"b", b""], eos=[2])
    assert vocabulary.max_shared_bytes == 64 << 20
    vocabulary.max_shared_bytes = 10**30  # as much as there is
    assert Matcher(Grammar.from_regex("a*b"), vocabulary).allowed_tokens() == [0, 1]
    assert vocabulary.max_shared_bytes == 10**30
    with pytest.raises(ValueError, match="max_shared_bytes is at least 0"):
        vocabulary.max_shared_bytes = -1
    with pytest.raises(TypeError, match="max_shared_bytes is an int"):
        vocabulary.max_shared_bytes = 1.5
    assert vocabulary.max_shared_bytes == 10**30
