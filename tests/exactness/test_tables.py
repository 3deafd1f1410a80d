"""Masks from token automata: those that a matcher brings, and those that an engine makes by itself, are the masks of the lazy engine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Switches, TokenDFA, Vocabulary, VocabularyError

PATTERNS = [
    r"[A-Za-z ,.]{10,30}",
    r"[a-zA-Z_][a-zA-Z0-9_]*",
    r"\d{4}-\d\d-\d\d( \d\d:\d\d)?",
    r"(ab|a)(bc|c)?",
    r"(https?://)?[a-z.]+(/[a-z]*)*",
    r".{0,20}x",
    "",
]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.builtin()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_matcher_over_an_automaton(vocabulary: Vocabulary, pattern: str, tmp_path: Path) -> None:
    dfa = TokenDFA.from_regex(pattern, vocabulary)
    dfa.save(tmp_path / "a.dfa")
    lazy, loaded = Grammar.from_regex(pattern), TokenDFA.load(tmp_path / "a.dfa", vocabulary)
    rng = random.Random(pattern)
    for _ in range(8):
        by_table, by_file, by_walk = Matcher(dfa), Matcher(loaded), Matcher(lazy, vocabulary, switches=Switches(table=False))
        matchers = by_table, by_file, by_walk
        for _ in range(25):
            assert by_table.mask() == by_file.mask() == by_walk.mask()
            assert len({matcher.is_complete for matcher in matchers}) == 1
            token = rng.choice(by_walk.allowed_tokens())
            assert all(matcher.accept(token) for matcher in matchers)
        for matcher in matchers:
            matcher.rollback(7)
        assert by_table.mask() == by_file.mask() == by_walk.mask()
        assert by_table.forced_bytes() == by_file.forced_bytes() == by_walk.forced_bytes()
    assert dfa.grammar.stats.mask_builds == 0, "all masks are in the table"


def test_text_that_is_not_read_by_tokens(vocabulary: Vocabulary) -> None:
    """`accept_bytes` leads to where the automaton has not followed; a walk makes that mask."""
    dfa = TokenDFA.from_regex("[a-z]{3}[0-9]*", vocabulary)
    matcher, lazy = Matcher(dfa), Matcher(Grammar.from_regex("[a-z]{3}[0-9]*"), vocabulary)
    assert matcher.accept_bytes(b"ab") and lazy.accept_bytes(b"ab")
    assert matcher.mask() == lazy.mask()
    assert dfa.grammar.stats.mask_builds >= 1


def test_the_automaton_goes_along_to_another_generation(vocabulary: Vocabulary) -> None:
    """A matcher that has to read its text again, as others have used up the states, still walks nowhere."""
    pattern = r"[a-z]{3,40}( [A-Z0-9]{1,20}){0,8}"
    grammar, lazy = Grammar.from_regex(pattern, limits=Limits(max_configurations=110)), Grammar.from_regex(pattern)
    dfa = TokenDFA.from_grammar(grammar, vocabulary)
    rng, matchers = random.Random(5), [Matcher(dfa) for _ in range(20)]
    for matcher in matchers:
        for _ in range(25):
            if not matcher.is_terminated:
                assert matcher.accept(rng.choice(matcher.allowed_tokens()))
    for matcher in matchers:
        expected = Matcher(lazy, vocabulary, switches=Switches(table=False))
        assert all(expected.accept(token) for token in matcher.tokens)
        assert matcher.mask() == expected.mask()
    assert grammar.stats.generation > 1 and grammar.stats.mask_builds == 0


def test_an_engine_makes_its_own(vocabulary: Vocabulary) -> None:
    """Once it has walked much, if the grammar has few states; then no mask is built any more."""
    pattern = r"[A-Za-z ,.]{10,30}"
    grammar, walked = Grammar.from_regex(pattern), Grammar.from_regex(pattern)
    rng = random.Random(1)
    for _ in range(40):
        matcher = Matcher(grammar, vocabulary, switches=Switches(inner_masks=False))
        other = Matcher(walked, vocabulary, switches=Switches(inner_masks=False, table=False))
        while not matcher.is_terminated:
            assert matcher.mask() == other.mask()
            token = rng.choice(matcher.allowed_tokens())
            assert matcher.accept(token) and other.accept(token)
    assert walked.stats.tables == 0
    assert grammar.stats.tables == 1
    builds = grammar.stats.mask_builds
    matcher = Matcher(grammar, vocabulary, switches=Switches(inner_masks=False))
    for _ in range(8):
        matcher.fill_mask(bytearray(4 * ((vocabulary.width + 31) // 32)))
        matcher.accept(rng.choice(matcher.allowed_tokens()))
    assert grammar.stats.mask_builds == builds


def test_a_recursive_grammar_is_left_as_it_is(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_lark('start: word | "(" start ")"\nword: /[A-Za-z ,.]{1,30}/')
    rng = random.Random(2)
    for _ in range(30):
        matcher = Matcher(grammar, vocabulary, switches=Switches(inner_masks=False))
        for _ in range(20):
            if matcher.is_terminated:
                break
            matcher.accept(rng.choice(matcher.allowed_tokens()))
    assert grammar.stats.trie_nodes > 200_000 and grammar.stats.tables == 0


def test_what_a_matcher_cannot_be_made_of(vocabulary: Vocabulary) -> None:
    dfa = TokenDFA.from_regex("a+", vocabulary)
    with pytest.raises(VocabularyError, match="another vocabulary"):
        Matcher(dfa, Vocabulary.bytes())
    assert Matcher(dfa, vocabulary).accept_bytes(b"aa")
    coalesced = TokenDFA.from_regex("hello+", vocabulary, coalesce_literals=True)
    with pytest.raises(ValueError, match="not exact"):
        Matcher(coalesced)
    with pytest.raises(LimitExceededError, match="max_states"):
        TokenDFA.from_grammar(Grammar.from_lark('start: "(" start ")" | "x"'), vocabulary)


def test_an_automaton_outlives_what_it_came_from(vocabulary: Vocabulary) -> None:
    """The engine keeps it alive."""
    matcher = Matcher(TokenDFA.from_regex("[ab]{2,4}", vocabulary))
    expected = Matcher(Grammar.from_regex("[ab]{2,4}"), vocabulary)
    for byte in b"aba":
        assert matcher.mask() == expected.mask()
        token = vocabulary.encode_greedy(bytes((byte,)))[0]
        assert matcher.accept(token) and expected.accept(token)
