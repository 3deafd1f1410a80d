"""Matchers by what they have read."""

from __future__ import annotations

import random

import pytest

from grammar_engine import Grammar, Matcher, MatcherFinishedError, TokenRejectedError, Vocabulary
from grammar_engine.decoding.prefix_cache import MatcherCache

VOCABULARY = Vocabulary.bytes()
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"],
}


def test_it_is_as_if_it_had_read_the_text_itself() -> None:
    """Random walks that branch off from each other: the same masks, and the same history."""
    rng = random.Random(4)
    grammar = Grammar.from_json_schema(SCHEMA, whitespace="compact")
    matchers = MatcherCache(3, max_idle_matchers=60)
    texts: list[list[int]] = [[]]
    for _ in range(300):
        known = rng.choice(texts)
        text = known[: rng.randint(0, len(known))]
        for _ in range(rng.randint(0, 8)):
            plain = Matcher(grammar, VOCABULARY)
            assert plain.accept_tokens(text) == len(text)
            if plain.is_terminated:
                break
            text = [*text, rng.choice(plain.allowed_tokens())]
        plain = Matcher(grammar, VOCABULARY)
        plain.accept_tokens(text)
        found = matchers.after(text, grammar, VOCABULARY)
        assert found.mask() == plain.mask() and found.tokens == plain.tokens == text
        texts.append(text)
    assert matchers.stats.prompt_hits > 300 and matchers.stats.evictions


def test_only_the_rest_is_read(monkeypatch) -> None:
    grammar = Grammar.from_regex("[a-z]*")
    matchers = MatcherCache(4)
    matchers.after(list(b"abcdefghij"), grammar, VOCABULARY)
    read: list[int] = []
    accept = Matcher.accept_tokens
    monkeypatch.setattr(Matcher, "accept_tokens", lambda self, tokens: read.extend(tokens) or accept(self, tokens))
    matchers.after(list(b"abcdefghxy"), grammar, VOCABULARY)
    assert bytes(read) == b"xy"
    read.clear()
    matchers.after(list(b"abcdx"), grammar, VOCABULARY)
    assert bytes(read) == b"x"


def test_what_is_returned_belongs_to_the_caller() -> None:
    grammar = Grammar.from_regex("[a-z]*")
    matchers = MatcherCache(2)
    first = matchers.after(list(b"abcd"), grammar, VOCABULARY)
    first.rollback(3)
    assert first.accept_bytes(b"zzz")
    assert matchers.after(list(b"abcd"), grammar, VOCABULARY).tokens == list(b"abcd")


def test_a_text_that_the_grammar_refuses() -> None:
    grammar = Grammar.from_regex("[a-z]{6}")
    matchers = MatcherCache(2)
    with pytest.raises(TokenRejectedError):
        matchers.after(list(b"abcd3"), grammar, VOCABULARY)
    with pytest.raises(TokenRejectedError):
        matchers.after(list(b"abc3ef"), grammar, VOCABULARY)
    assert matchers.stats.table == matchers.stats.idle == 2, "what was read before is kept"
    end = VOCABULARY.eos[0]
    assert matchers.after([*b"abcdef", end], grammar, VOCABULARY).is_terminated
    with pytest.raises(MatcherFinishedError):
        matchers.after([*b"abcdef", end, ord("a")], grammar, VOCABULARY)


def test_ends_are_told_apart() -> None:
    grammar, vocabulary = Grammar.from_regex("[a-z]*"), Vocabulary([*VOCABULARY.tokens, b"", b""], eos=VOCABULARY.eos)
    matchers = MatcherCache(2)
    for turn in range(2):
        for ends in (None, [257], [258, 257], []):
            given = ends if ends is None or turn else iter(ends)
            matcher = matchers.after(list(b"abcd"), grammar, vocabulary, eos=given)
            assert matcher.eos == (vocabulary.eos if ends is None else tuple(ends))
            assert matcher.mask() == Matcher(grammar, vocabulary, eos=ends).mask()
    assert matchers.stats.prompt_hits == 8
    few = MatcherCache(2, max_idle_matchers=None, max_idle_bytes=100_000)
    many = Vocabulary([*VOCABULARY.tokens, *([b""] * 20_000)], eos=[])
    for _ in range(10):
        few.after(list(b"abcd"), grammar, many, eos=range(257, 20_256))
    assert few.stats.idle_bytes > 79_000


def test_grammars_and_vocabularies_are_told_apart() -> None:
    text = list(b"abab")
    matchers = MatcherCache(2)
    one, other = Grammar.from_regex("[ab]*"), Grammar.from_regex("(ab)*")
    shifted = Vocabulary([bytes([byte ^ 1]) for byte in range(256)] + [b""], eos=[256])
    matchers.after(text, one, VOCABULARY)
    assert matchers.after(text, other, VOCABULARY).grammar is other
    with pytest.raises(TokenRejectedError):
        matchers.after(text, one, shifted)
    assert matchers.stats.prompt_hits == 0


def test_vocabularies_that_differ_in_names_alone_are_told_apart_where_a_name_counts() -> None:
    tokens, names = [b"a", b"", b"", b""], ("<x>", "<y>")
    one, other = (Vocabulary(tokens, eos=[3], special=dict(zip(ids, names))) for ids in ((1, 2), (2, 1)))
    matchers, plain = MatcherCache(1), Grammar.from_regex("aa")
    matchers.after([0, 0], plain, one)
    matchers.after([0, 0], plain, other)
    assert matchers.stats.prompt_hits == 2
    matchers, naming = MatcherCache(1), Grammar.from_lark('start: <x> "a"')
    matchers.after([1, 0], naming, one)
    with pytest.raises(TokenRejectedError, match="<y>"):
        matchers.after([1, 0], naming, other)
    assert matchers.stats.prompt_hits == 0


def test_bounds() -> None:
    grammar = Grammar.from_regex("[a-z]*")
    few = MatcherCache(1, max_idle_matchers=5)
    few.after(list(b"abcdefghij"), grammar, VOCABULARY)
    assert few.stats.idle == 5
    small = MatcherCache(1, max_idle_matchers=None, max_idle_bytes=2000)
    small.after(list(b"abcdefghij"), grammar, VOCABULARY)
    assert 1000 < small.stats.idle_bytes <= 2000
    small.clear()
    assert small.stats.idle_bytes == small.stats.table == 0


def test_arguments_in_another_order_are_named() -> None:
    grammar = Grammar.from_regex("[a-z]*")
    with pytest.raises(TypeError, match="grammar is a Grammar, not Vocabulary"):
        MatcherCache().after([97], VOCABULARY, grammar)
    with pytest.raises(TypeError, match="vocabulary is a Vocabulary, not NoneType"):
        MatcherCache().after([97], grammar, None)
