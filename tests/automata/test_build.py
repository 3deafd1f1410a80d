"""What is built, what is refused and why: limits, hostile patterns, vocabularies that cannot spell, wrong arguments."""

from __future__ import annotations

import copy
import pickle
import re
import time

import pytest

from automata.reading import check_against_bytes, mask_of
from grammar_engine import Grammar, Guide, Limits, TokenDFA, Vocabulary
from grammar_engine.errors import GrammarError, GrammarSyntaxError, LimitExceededError, UnsupportedRegexError, VocabularyError
from vocabularies import TinyVocabulary

SECONDS = 60  # a ceiling: where nothing else runs, a few


# --- hostile input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["(a|b)*a(a|b){20}", "(.*,){30}x", "(a|b)*a(a|b){40}c"])
def test_patterns_with_too_many_states(pattern: str) -> None:
    begin = time.monotonic()
    with pytest.raises(LimitExceededError) as caught:
        TokenDFA.from_regex(pattern, Vocabulary.builtin(), max_states=20_000)
    assert time.monotonic() - begin < SECONDS
    assert (caught.value.limit, caught.value.maximum) == ("max_states", 20_000)
    assert "max_states = 20,000 is reached" in str(caught.value)


@pytest.mark.parametrize("pattern", ["(?:a|aa){1,30000}", "(?:a|aaa|aaaaa){1,13000}"])
def test_states_that_are_many_and_dear(pattern: str) -> None:
    """Some thousand states of some thousand alternatives: each within the limit of a step, all together not."""
    with pytest.raises(LimitExceededError) as caught:
        TokenDFA.from_regex(pattern, Vocabulary.bytes())
    assert (caught.value.limit, caught.value.maximum) == ("max_step_work", Limits().max_step_work)
    assert re.search(r"of those found [1-9]\d* were followed", str(caught.value))


def test_states_that_are_cheap_have_work_of_their_own() -> None:
    limits = Limits(max_step_work=1_000)
    assert TokenDFA.from_regex("a{5000}", Vocabulary.bytes(), limits=limits).num_states == 5_001
    with pytest.raises(LimitExceededError, match="max_step_work = 1,000 is reached"):
        TokenDFA.from_regex("(?:a|aa){1,500}", Vocabulary.bytes(), limits=limits)


def test_a_large_pattern_within_the_limit(long_run: bool) -> None:
    """5,000 characters of up to four bytes: about 40,000 states over bytes."""
    vocabulary = Vocabulary.builtin() if long_run else Vocabulary.bytes()
    begin = time.monotonic()
    dfa = TokenDFA.from_regex(r"[\s\S]{0,5000}", vocabulary, threads=1)
    assert time.monotonic() - begin < SECONDS
    assert dfa.num_states > 5000
    guide, token = Guide(dfa), vocabulary.encode_greedy(b"a")[0]
    for _ in range(5000):
        guide.advance(token, return_tokens=False)
    assert guide.get_tokens() == sorted(vocabulary.eos)


def test_the_memory_limit_is_that_of_the_grammar() -> None:
    with pytest.raises(LimitExceededError) as caught:
        TokenDFA.from_regex(r"[\s\S]{0,2000}", Vocabulary.builtin(), limits=Limits(max_memory_bytes=2_000_000))
    assert caught.value.limit == "max_memory_bytes"


def test_the_limit_counts_states_exactly() -> None:
    vocabulary = Vocabulary.bytes()
    assert TokenDFA.from_regex("a{99}", vocabulary, max_states=100).stats.byte_states == 100
    with pytest.raises(LimitExceededError) as caught:
        TokenDFA.from_regex("a{99}", vocabulary, max_states=99)
    assert (caught.value.limit, caught.value.maximum) == ("max_states", 99)
    assert "the expression has more states: of those found 98 were followed" in str(caught.value)


def test_the_limit_that_was_met() -> None:
    """Not even the engine that reads the grammar has room: that is a field of `Limits`. Else its number of configurations is max_states."""
    with pytest.raises(LimitExceededError) as caught:
        TokenDFA.from_regex("ab", Vocabulary.bytes(), limits=Limits(max_configurations=1))
    assert (caught.value.limit, caught.value.maximum) == ("max_configurations", 1)
    assert TokenDFA.from_regex("ab", Vocabulary.bytes(), limits=Limits(max_configurations=2)).num_states == 3


def test_values_that_must_differ_are_states() -> None:
    """Finitely many texts, and too many states: the message says why."""
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^[a-d]{3}$"}, "maxItems": 3}
    grammar = Grammar.from_json_schema(schema)
    with pytest.raises(LimitExceededError, match="max_states = 3,000 is reached at /items: values that must differ") as caught:
        TokenDFA.from_grammar(grammar, Vocabulary.bytes(), max_states=3000)
    assert caught.value.limit == "max_states"


@pytest.mark.parametrize("text", ['start: "(" start ")" | "a"', 'start: a\na: "x" b?\nb: "[" a "]"', 'start: ("a" start "b")?'])
def test_recursive_grammars_are_refused(text: str) -> None:
    with pytest.raises(LimitExceededError, match=r"not regular, or has more states: of those found [0-9]+ were followed") as caught:
        TokenDFA.from_grammar(Grammar.from_lark(text), Vocabulary.bytes(), max_states=3000)
    assert caught.value.limit == "max_states"


def test_a_recursive_grammar_whose_states_grow_is_refused() -> None:
    grammar = Grammar.from_lark('start: "x" start "x" | "x"', limits=Limits(max_step_work=100_000))
    with pytest.raises(LimitExceededError, match="a grammar that is not regular has ever larger ones") as caught:
        TokenDFA.from_grammar(grammar, Vocabulary.bytes())
    assert caught.value.limit == "max_step_work"


def test_a_recursive_schema_is_refused() -> None:
    with pytest.raises(LimitExceededError, match=r"not regular, or has more states: of those found [0-9]+ were followed"):
        TokenDFA.from_grammar(Grammar.from_json_schema({}), Vocabulary.bytes(), max_states=2000)


@pytest.mark.parametrize("text", ['start: "a" start | "b"', 'start: start "a" | "b"', 'start: a*\na: "x" b\nb: "y" | "z" a'])
def test_recursion_without_nesting_is_regular(text: str) -> None:
    """Left and right recursion need no stack here, so the closure is finite."""
    tiny = TinyVocabulary((b"a", b"b", b"x", b"y", b"z", b"ab", b"xy", b""), (7,))
    assert check_against_bytes(TokenDFA.from_grammar(Grammar.from_lark(text), tiny.build(), max_states=50), tiny) > 1


def test_an_empty_language() -> None:
    for pattern in ("[^\\s\\S]", "a[^\\x00-\\U0010ffff]", "$a"):
        with pytest.raises(GrammarError):
            TokenDFA.from_regex(pattern, Vocabulary.bytes())


@pytest.mark.parametrize("pattern", ["", "(?:)", "a{0}", "^$"])
def test_only_the_empty_text(pattern: str) -> None:
    dfa = TokenDFA.from_regex(pattern, Vocabulary.bytes())
    assert (dfa.num_states, dfa.num_classes, dfa.stats.transitions) == (1, 0, 0)
    guide = Guide(dfa)
    assert guide.is_finished() and guide.get_tokens() == [256] and guide.advance(256) == [256]
    with_no_end = TokenDFA.from_regex(pattern, Vocabulary([b"a", b"b"], eos=[]))
    assert Guide(with_no_end).get_tokens() == [] and Guide(with_no_end).is_finished()
    assert TokenDFA.from_regex(pattern, Vocabulary.builtin()).memory_bytes < 2000  # nothing for each token


def test_syntax_errors_are_those_of_grammars() -> None:
    with pytest.raises(GrammarSyntaxError):
        TokenDFA.from_regex("a(b", Vocabulary.bytes())
    with pytest.raises(UnsupportedRegexError):
        TokenDFA.from_regex(r"(a)\1", Vocabulary.bytes())


# --- vocabularies that cannot spell ---------------------------------------------------------------------------------------------


def test_the_error_names_a_text_and_the_missing_bytes() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"ab", b""], eos=[3])
    with pytest.raises(VocabularyError) as caught:
        TokenDFA.from_regex("ab[xyz]b|ba", vocabulary)
    assert caught.value.missing == b"xyz"
    assert "after b'ab'" in str(caught.value) and "'x', 'y', 'z'" in str(caught.value)
    with pytest.raises(VocabularyError) as caught:
        TokenDFA.from_regex("é+", vocabulary)
    assert caught.value.missing == b"\xc3" and "after b''" in str(caught.value)


def test_a_long_text_is_cut_to_its_end() -> None:
    vocabulary = Vocabulary([b"a", b""], eos=[1])
    with pytest.raises(VocabularyError, match=r"after b'a{20,}'") as caught:
        TokenDFA.from_regex("a{400}z", vocabulary)
    assert caught.value.missing == b"z"


def test_missing_bytes_that_no_text_needs() -> None:
    """Another way leads on, and where tokens do not lead nothing is missing."""
    vocabulary = Vocabulary([b"a", b"b", b"ab", b""], eos=[3])
    assert mask_of(TokenDFA.from_regex("ab?(?:x|b)*", vocabulary), 0) == {0, 2}
    tiny = TinyVocabulary((b"ab", b""), (1,))
    assert check_against_bytes(TokenDFA.from_regex("(?:ab)+|a|axy", tiny.build()), tiny) == 2


# --- arguments, and what is shown -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["threads", "max_states"])
@pytest.mark.parametrize("value", [0, -1, 1.0, "4", True])
def test_counts_are_positive_ints(name: str, value: object) -> None:
    with pytest.raises(TypeError if isinstance(value, (str, float, bool)) else ValueError, match=name):
        TokenDFA.from_regex("a", Vocabulary.bytes(), **{name: value})


def test_no_limit_on_threads_but_one_on_states() -> None:
    assert TokenDFA.from_regex("a", Vocabulary.bytes(), threads=10**12).num_states == 2
    with pytest.raises(ValueError, match="max_states"):
        TokenDFA.from_regex("a", Vocabulary.bytes(), max_states=1 << 33)


def test_wrong_kinds() -> None:
    grammar, vocabulary = Grammar.from_regex("a"), Vocabulary.bytes()
    for arguments in [("a", vocabulary), (grammar, [b"a"]), (vocabulary, grammar)]:
        with pytest.raises(TypeError):
            TokenDFA.from_grammar(*arguments)
    with pytest.raises(TypeError):
        TokenDFA()
    with pytest.raises(ValueError, match="spell is for coalesce_literals"):
        TokenDFA.from_grammar(grammar, vocabulary, spell=lambda text: [])


def test_copies_and_pickles() -> None:
    dfa = TokenDFA.from_regex("a", Vocabulary.bytes())
    assert copy.copy(dfa) is dfa is copy.deepcopy(dfa)
    with pytest.raises(TypeError, match="save it"):
        pickle.dumps(dfa)


def test_what_is_shown() -> None:
    dfa = TokenDFA.from_regex("[0-9]{3}-[0-9]{4}", Vocabulary.bytes())
    assert repr(dfa) == "<TokenDFA of 9 states, 2 classes of tokens, exact>"
    stats = dfa.stats
    assert (stats.states, stats.classes, stats.transitions, stats.byte_states, stats.byte_classes) == (9, 2, 8, 9, 2)
    assert (dfa.num_states, dfa.num_classes, dfa.memory_bytes) == (stats.states, stats.classes, stats.memory_bytes)
    assert stats.masks == 3 == stats.listed_masks and dfa.is_exact and dfa.grammar.report is not None
    assert 0 < dfa.memory_bytes < 4000


def test_dialects() -> None:
    vocabulary = Vocabulary.bytes()
    assert TokenDFA.from_regex(r"\d", vocabulary, dialect="ecma").num_states == 2
    assert TokenDFA.from_regex(r"\d", vocabulary).num_states > 2


def test_one_grammar_for_automaton_and_matcher() -> None:
    grammar = Grammar.from_regex("ab*")
    dfa = TokenDFA.from_grammar(grammar, Vocabulary.bytes())
    assert dfa.grammar is grammar and dfa.vocabulary == Vocabulary.bytes()
