"""Random grammars, regexes and vocabularies: every mask equals the oracle's.

The numbers of masks are asserted: together at least 20,000 in the default run. GRAMMAR_ENGINE_LONG=1 makes it 30 times as many.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from exactness import grammars
from exactness.walk import Walk
from grammar_engine import ir
from vocabularies import TinyVocabulary, random_vocabulary

Make = Callable[[random.Random], tuple[ir.Builder, TinyVocabulary]]


def any_grammar(rng: random.Random) -> tuple[ir.Builder, TinyVocabulary]:
    builder, alphabet = grammars.random_grammar(rng)
    return builder, random_vocabulary(rng, alphabet)


def special_grammar(rng: random.Random) -> tuple[ir.Builder, TinyVocabulary]:
    builder, alphabet = grammars.random_grammar(rng, special=True)
    return builder, random_vocabulary(rng, alphabet, size=16, longest=6)


def longest_grammar(rng: random.Random) -> tuple[ir.Builder, TinyVocabulary]:
    builder, alphabet = grammars.random_grammar(rng, longest=True)
    return builder, random_vocabulary(rng, alphabet)


def scanner(rng: random.Random) -> tuple[ir.Builder, TinyVocabulary]:
    builder, texts = grammars.random_scanner(rng)
    tokens = {*texts, *(bytes([byte]) for byte in b"".join(texts))}
    return builder, TinyVocabulary((*sorted(tokens), b""), (len(tokens),))


def any_expression(rng: random.Random) -> tuple[ir.Builder, TinyVocabulary]:
    builder = ir.Builder()
    alphabet = rng.choice([grammars.LETTERS, grammars.MIXED])
    return grammars.one_lexeme(builder, grammars.random_expr(rng, builder, 4, alphabet)), random_vocabulary(rng, alphabet)


def special_expression(rng: random.Random) -> tuple[ir.Builder, TinyVocabulary]:
    builder = ir.Builder()
    expr = grammars.random_special(rng, builder)
    return grammars.one_lexeme(builder, expr), random_vocabulary(rng, grammars.SPECIAL_ALPHABET, size=20, longest=6)


@pytest.mark.parametrize(
    ("make", "masks"),
    [
        (any_grammar, 9_000),
        (special_grammar, 3_000),
        (longest_grammar, 3_000),
        (scanner, 3_000),
        (any_expression, 4_000),
        (special_expression, 3_000),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_masks_equal_the_oracle(make: Make, masks: int, long_run: bool) -> None:
    wanted, done, seed = masks * (30 if long_run else 1), 0, 0
    while done < wanted:
        seed += 1
        rng = random.Random(f"{make.__name__} {seed}")
        builder, tiny = make(rng)
        walk = Walk(builder, tiny, rng)
        try:
            for _ in range(3):
                walk.run(8)
        except BaseException as error:
            error.args = (f"seed {seed}: {error}",)
            raise
        done += walk.masks
    assert done >= wanted


def test_regexes_equal_re(long_run: bool) -> None:
    """The public constructor against `re.fullmatch`: is_complete, and EOS in the mask, exactly for what matches."""
    from grammar_engine import Grammar, Matcher, Vocabulary

    rng, vocabulary, compared = random.Random(5), Vocabulary.bytes(), 0
    for _ in range(3000 if long_run else 150):
        source = grammars.random_pattern(rng, 3, "ab\u00e91")
        matches = re.compile(source).fullmatch
        matcher = Matcher(Grammar.from_regex(source), vocabulary)
        for _ in range(20):
            text = "".join(rng.choice("ab\u00e91x") for _ in range(rng.randint(0, 6)))
            matcher.reset()
            accepted = matcher.accept_bytes(text.encode())
            assert (accepted and matcher.is_complete) == (matches(text) is not None), (source, text)
            compared += 1
            if accepted:
                eos_allowed = set(vocabulary.eos) <= set(matcher.allowed_tokens())
                assert eos_allowed == matcher.is_complete
    assert compared >= 3000


def test_the_longest_match_counts_for_tokens_that_clamped_masks_do_not_speak_of() -> None:
    """Some 30 letters belong to the name under way, and then too few are
    left for another. The mask of that name is one of shorter tokens."""
    from grammar_engine import Grammar, Matcher, Vocabulary

    source = 'start: SHORT LONG "="\nSHORT: /a[ab]{0,30}/\nLONG: /[ab]{35,}/'
    tokens = [b"a", b"b", b"=", b"ab" * 3, b"ab" * 20, b"ab" * 20 + b"=", b"ab" * 35 + b"="]
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    for lexing, refused in (("exact", {b"="}), ("longest", {b"=", tokens[5]})):
        matcher = Matcher(Grammar.from_lark(source, lexing=lexing), vocabulary)
        assert matcher.accept_bytes(b"ab")
        assert {tokens[i] for i in matcher.allowed_tokens()} == {*tokens} - refused
