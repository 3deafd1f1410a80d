"""Masks from token automata: those that a matcher brings, and those that an engine makes by itself, are the masks of the lazy engine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Switches, TokenDFA, Vocabulary, VocabularyError
from vocabularies import load_real

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


OWN = [
    Grammar.from_regex(r"[A-Za-z ,.]{10,30}"),
    Grammar.from_regex(r"\d{4}-\d\d-\d\d"),
    Grammar.from_choices(["red", "green", "blue", "dark red"]),
    Grammar.from_json_schema(
        """{"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}, "n": {"type": "integer"}, "on": {"type": "string", "format": "date"}},
            "required": ["name", "n"], "additionalProperties": false}"""
    ),
    Grammar.from_lark('start: number ("," number)*\nnumber: /[0-9]+/ "!"?\n%ignore " "'),
]


def write_texts(grammar: Grammar, over: Vocabulary, n: int, seed: int, switches: Switches | None = None) -> None:
    """Texts of up to 25 tokens by random; each mask is the one that the same grammar has without tables."""
    rng, plain = random.Random(seed), Grammar.from_bytes(grammar.to_bytes())
    for _ in range(n):
        matcher, other = Matcher(grammar, over, switches=switches or Switches()), Matcher(plain, over, switches=Switches(table=False))
        for _ in range(25):
            assert matcher.mask() == other.mask()
            if matcher.is_terminated:
                break
            token = rng.choice(matcher.allowed_tokens())
            assert matcher.accept(token) and other.accept(token)
    assert plain.stats.tables == 0


@pytest.mark.parametrize("name", ["builtin", "tekken-131k"])
@pytest.mark.parametrize("grammar", OWN)
def test_a_regular_grammar_switches_to_its_automaton(grammar: Grammar, name: str) -> None:
    """With the sixteenth matcher, as switches are by default. From then on no mask is built, and nothing grows, whatever the texts."""
    own, over = Grammar.from_bytes(grammar.to_bytes()), Vocabulary.builtin() if name == "builtin" else load_real(name).build()
    write_texts(own, over, 15, 1)
    assert own.stats.tables == 0
    write_texts(own, over, 1, 2)
    before = own.stats
    assert before.tables == 1
    write_texts(own, over, 10, 3)
    after = own.stats
    assert after.mask_builds == before.mask_builds and after.configurations == before.configurations
    assert after.trie_nodes == before.trie_nodes and after.derivatives == before.derivatives


def test_forks_are_no_new_texts(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_regex("[a-z]{1,5}")
    matcher = Matcher(grammar, vocabulary)
    forks = [matcher.fork() for _ in range(40)]
    assert grammar.stats.tables == 0
    others = [Matcher(grammar, vocabulary) for _ in range(15)]
    assert grammar.stats.tables == 1
    assert len({bytes(m.mask()) for m in (matcher, *forks, *others)}) == 1


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.from_lark('start: word | "(" start ")"\nword: /[A-Za-z ,.]{1,30}/'),
        Grammar.from_json_schema('{"type": "object"}'),
        Grammar.from_json_schema('{"type": "string", "format": "date-time"}'),
        Grammar.from_regex("[a-c]{600}"),
        Grammar.from_json_schema('{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}'),
    ],
)
def test_a_grammar_that_is_not_regular_or_small_is_left_as_it_is(vocabulary: Vocabulary, grammar: Grammar) -> None:
    own = Grammar.from_bytes(grammar.to_bytes())
    write_texts(own, vocabulary, 20, 4)
    assert own.stats.tables == 0
    assert own.stats.configurations < 4000


@pytest.mark.parametrize("switches", [Switches(table=False), Switches(mask_cache=False), Switches(state_cache=False)])
def test_without_the_switch_there_is_no_automaton(vocabulary: Vocabulary, switches: Switches) -> None:
    own = Grammar.from_bytes(OWN[0].to_bytes())
    write_texts(own, vocabulary, 20, 5, switches)
    assert own.stats.tables == 0


@pytest.mark.parametrize("limits", [Limits(max_configurations=20), Limits(max_memory_bytes=150_000), Limits(max_lexer_states=20)])
def test_limits_that_do_not_suffice_for_it_are_no_failure(vocabulary: Vocabulary, limits: Limits) -> None:
    grammar = Grammar.from_regex("[a-f]{40}[0-9]{3}", limits=limits)
    for _ in range(20):
        assert Matcher(grammar, vocabulary).accept_bytes(b"abc")
    assert grammar.stats.tables == 0


def linear(n_rules: int, n_classes: int, behind: str = "") -> Grammar:
    """An automaton of so many states, of which each class of characters leads
    to a random one, as rules; by each letter `behind` it by a way of its own."""
    rng, signs = random.Random(1), [chr(code) for code in range(33, 127)]
    classes = [[f"\\x{ord(sign):02x}" for sign in signs[k::n_classes]] for k in range(n_classes)]
    lines = [f"C{k}: /[{''.join(signs)}]/" for k, signs in enumerate(classes)]
    lines += [
        f"s{s}: "
        + " | ".join(
            f"C{k} {way} s{rng.randrange(n_rules)}" for k in range(n_classes) for way in [f'"{letter}"' for letter in behind] or [""]
        )
        + rng.choice(["", " | "])
        for s in range(n_rules)
    ]
    return Grammar.from_lark("start: s0\n" + "\n".join(lines))


def begin(grammar: Grammar, over: Vocabulary, n: int) -> None:
    for _ in range(n):
        Matcher(grammar, over)


def test_the_attempt_is_bounded_in_states_and_in_what_rows_take(vocabulary: Vocabulary) -> None:
    small, many, wide = linear(60, 8), linear(200, 20), linear(60, 90, "abcdefghijklmnopqrstuvwx")
    for grammar in (small, many, wide):
        begin(grammar, vocabulary, 16)
    assert (small.stats.tables, many.stats.tables, wide.stats.tables) == (1, 0, 0)
    assert many.stats.configurations <= 520, "no more than 512 are followed"
    assert wide.stats.configurations < 260, "rows of two thousand items are work"


def test_the_attempt_is_bounded_in_work(vocabulary: Vocabulary) -> None:
    """What is left of the expression has hundreds of alternatives, so that each derivative takes long."""
    grammar = Grammar.from_regex("(?:a|aa){1,3000}")
    begin(grammar, vocabulary, 15)
    before = grammar.stats.configurations
    begin(grammar, vocabulary, 1)
    assert grammar.stats.tables == 0 and grammar.stats.configurations < before + 100


def test_the_attempt_is_bounded_in_memory_and_so_in_time() -> None:
    """Tokens of several characters lead through such an automaton in nearly as many ways as there are tokens."""
    grammar, over = linear(60, 8), load_real("tekken-131k").build()
    begin(grammar, over, 16)
    assert grammar.stats.tables == 0 and grammar.stats.bytes < 1_000_000


def test_the_attempt_does_not_fill_the_generation(vocabulary: Vocabulary) -> None:
    limits = Limits(max_generation_bytes=60_000)
    grammar = Grammar.from_regex("[A-Za-z ,.]{10,30}[0-9]{100}", limits=limits)
    begin(grammar, vocabulary, 60)
    assert grammar.stats.generation == 1 and grammar.stats.tables == 0


def test_the_table_counts_as_memory_of_the_engine(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_bytes(OWN[0].to_bytes())
    begin(grammar, vocabulary, 15)
    before = grammar.stats.bytes
    begin(grammar, vocabulary, 1)
    assert grammar.stats.bytes - before >= TokenDFA.from_grammar(OWN[0], vocabulary).memory_bytes


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
