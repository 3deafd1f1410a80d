"""Closings of few tokens: any sentence counts, however long.

The truth: all sentences of a small language, listed by brute force, and the fewest tokens of each by dynamic programming.
"""

from __future__ import annotations

import itertools
import random
import re

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Vocabulary

ALPHABET = "ab01"
LONGEST = 8  # bytes of a sentence of these:
PATTERNS = ["(ab|aabb|0{4}){2}", "[ab]{3,7}0?", "(a|b1){2,4}", "(ab){0,2}1{1,2}ab", "a(0|1){0,6}b", "0|1a{0,5}b", "(a?b?0?){2}1"]


def vocabulary_of(rng, spares=()):
    """Bytes but for `spares`, and longer tokens at random."""
    singles = [char for char in ALPHABET if char not in spares]
    longer = {"".join(rng.choices(ALPHABET, k=rng.randint(2, 5))) for _ in range(12)}
    tokens = [text.encode() for text in (*singles, *sorted(longer))]
    return Vocabulary([*tokens, b""], eos=[len(tokens)])


def sentences_of(pattern):
    texts = ("".join(letters) for n in range(LONGEST + 1) for letters in itertools.product(ALPHABET, repeat=n))
    return [text.encode() for text in texts if re.fullmatch(pattern, text)]


def fewest(text, vocabulary):
    """Tokens that spell a text, the end included; None: they cannot."""
    best = [0, *[None] * len(text)]
    for end in range(1, len(text) + 1):
        ways = [best[end - len(token)] for token in vocabulary.tokens if token and text[:end].endswith(token)]
        best[end] = min((way + 1 for way in ways if way is not None), default=None)
    return None if best[-1] is None else best[-1] + 1


def check(matcher, sentences):
    """What is found after the text of a matcher is right; whether it is better than the closing."""
    vocabulary = matcher.vocabulary
    begun = b"".join(vocabulary.token_bytes(token) for token in matcher.tokens)
    counts = [fewest(text[len(begun) :], vocabulary) for text in sentences if text.startswith(begun)]
    least = min((count for count in counts if count is not None), default=None)
    if least is None:
        return None
    for most in range(least):
        assert matcher.closing_within(most) is None
    for most in (least, least + 1, least + 5):
        tokens = matcher.closing_within(most)
        assert len(tokens) <= most and vocabulary.eos[0] == tokens[-1]
        assert begun + b"".join(map(vocabulary.token_bytes, tokens)) in sentences
    return least


def test_against_all_sentences():
    rng = random.Random(0)
    n_better = 0
    for pattern in PATTERNS:
        sentences, grammar = sentences_of(pattern), Grammar.from_regex(pattern)
        for _ in range(12):
            matcher = Matcher(grammar, vocabulary_of(rng))
            while not matcher.is_terminated:
                n_better += check(matcher, sentences) < len(matcher.closing_tokens())
                matcher.accept(rng.choice(matcher.allowed_tokens()))
    assert n_better > 20


def test_choices_of_any_length():
    rng = random.Random(0)
    n_better = 0
    for _ in range(60):
        texts = sorted({"".join(rng.choices(ALPHABET, k=rng.randint(1, 12))) for _ in range(6)})
        matcher = Matcher(Grammar.from_choices(texts), vocabulary_of(rng))
        n_better += check(matcher, [text.encode() for text in texts]) < len(matcher.closing_tokens())
    assert n_better > 5


def test_a_vocabulary_that_lacks_bytes():
    rng = random.Random(1)
    sentences, grammar = sentences_of("[ab]{3,7}0?"), Grammar.from_regex("[ab]{3,7}0?")
    checked = [check(Matcher(grammar, vocabulary_of(rng, spares="b")), sentences) for _ in range(20)]
    assert any(checked)


def test_the_end():
    vocabulary = vocabulary_of(random.Random(0))
    matcher = Matcher(Grammar.from_regex("a*"), vocabulary)
    assert matcher.closing_within(0) is None
    assert matcher.closing_within(1) == [vocabulary.eos[0]]
    matcher.accept(vocabulary.eos[0])
    assert matcher.closing_within(0) == []
    without_end = Matcher(Grammar.from_regex("a*"), Vocabulary([b"a"], eos=[]))
    assert without_end.closing_within(0) == []


def test_a_search_that_takes_too_much():
    grammar = Grammar.from_regex("[ab]{200}", limits=Limits(max_step_work=2_000))
    matcher = Matcher(grammar, vocabulary_of(random.Random(0)))
    with pytest.raises(LimitExceededError, match="max_step_work"):
        matcher.closing_within(50)
    assert matcher.closing_tokens()


@pytest.mark.parametrize("most", [-1, 1.0, True, "1"])
def test_misuse(most):
    with pytest.raises(ValueError, match="most is an int of at least 0"):
        Matcher(Grammar.from_regex("a"), Vocabulary.bytes()).closing_within(most)
