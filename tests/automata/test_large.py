"""Real vocabularies: every state's mask is that of the lazy engine, whose own masks other tests compare with the oracle."""

from __future__ import annotations

import random
import time
from array import array

import pytest

from automata.reading import accepts, follow, mask_bytes, random_text, reachable
from grammar_engine import Grammar, Guide, Matcher, TokenDFA, Vocabulary

PATTERNS = {
    "phone": r"\+?[1-9][0-9]{7,14}",
    "date": r"(?:0?[1-9]|[12][0-9]|3[01])[./-](?:0?[1-9]|1[0-2])[./-](?:19|20)?[0-9]{2}",
    "spaced": r"(?:\S+\s+){0,20}\S+",
    "url": r"(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})([\/\w \.-]*)*\/?",
    "string": r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"',
    "bounded": r"[^\n]{0,300}",
    "words": "|".join(f"{a}{b}-{c}" for a in ("amber", "basin", "cédar") for b in ("", "delta", "日本") for c in range(9)),
}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 10},
        "kind": {"enum": ["leather", "chain", "plate"]},
        "level": {"type": "integer", "minimum": 1, "maximum": 99},
        "spells": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
}
GRAMMARS = {
    "schema": lambda: Grammar.from_json_schema(SCHEMA, whitespace="compact"),
    "lark": lambda: Grammar.from_lark('start: WORD ("," WORD)* ";"\nWORD: /[a-z_]+/ | "if" /[0-9]{1,3}/\n%ignore / +/'),
}


def compare_all(dfa: TokenDFA, matcher: Matcher, at_most: int) -> int:
    """States that single bytes lead to, which are all: tokens of one byte spell any text. The number of masks compared."""
    singles = {text: token for token, text in enumerate(dfa.vocabulary.tokens) if len(text) == 1}
    assert len(singles) == 256
    paths = reachable(dfa, singles.values())
    assert len(paths) == dfa.num_states
    for state in sorted(paths)[:: max(1, len(paths) // at_most)]:
        matcher.reset()
        assert matcher.accept_tokens(list(paths[state])) == len(paths[state])
        assert matcher.mask() == mask_bytes(dfa, state), (state, paths[state])
        assert matcher.is_complete == accepts(dfa, state)
    return len(paths)


def compare_walks(dfa: TokenDFA, matcher: Matcher, rng: random.Random, walks: int) -> None:
    """Along random texts, by tokens of any length; and other tokens of the same text lead to the same state."""
    for _ in range(walks):
        state, text = 0, b""
        matcher.reset()
        for token in random_text(dfa, rng, 12):
            state = follow(dfa, state, token)
            text += dfa.vocabulary.tokens[token]
            assert matcher.accept(token)
            assert matcher.mask() == mask_bytes(dfa, state), text
        other = 0
        for token in dfa.vocabulary.encode_greedy(text):
            other = follow(dfa, other, token)
        assert other == state


@pytest.mark.parametrize("name", [*PATTERNS, *GRAMMARS])
def test_tekken(name: str, real_vocabulary, long_run: bool) -> None:
    vocabulary = real_vocabulary("tekken-131k")
    grammar = GRAMMARS[name]() if name in GRAMMARS else Grammar.from_regex(PATTERNS[name])
    dfa, matcher = TokenDFA.from_grammar(grammar, vocabulary), Matcher(grammar, vocabulary)
    assert compare_all(dfa, matcher, 5000 if long_run else 150) == dfa.num_states
    compare_walks(dfa, matcher, random.Random(71), 4)


@pytest.mark.parametrize("name", ["url", "string", "words"])
def test_the_built_in_vocabulary(name: str) -> None:
    """As above, where there is no data."""
    grammar, vocabulary = Grammar.from_regex(PATTERNS[name]), Vocabulary.builtin()
    dfa, matcher = TokenDFA.from_grammar(grammar, vocabulary), Matcher(grammar, vocabulary)
    assert compare_all(dfa, matcher, 500) == dfa.num_states
    compare_walks(dfa, matcher, random.Random(72), 10)


# --- what it costs: ceilings, several times what it takes where nothing else runs ---------------------------------------------


def test_a_url_is_made_within_a_quarter_of_a_second(real_vocabulary) -> None:
    """All of it, exact, by one thread; 14 ms."""
    vocabulary, least = real_vocabulary("tekken-131k"), float("inf")
    for _ in range(3):
        begin = time.process_time()
        TokenDFA.from_regex(PATTERNS["url"], vocabulary, threads=1)
        least = min(least, time.process_time() - begin)
    assert least < 0.25


def test_a_step_and_its_mask_take_less_than_a_microsecond(real_vocabulary) -> None:
    """In two calls from Python, with few tokens allowed and with many; 0.2 us."""
    vocabulary, calls = real_vocabulary("tekken-131k"), 200
    mask = array("I", bytes(4 * ((vocabulary.width + 31) // 32)))
    address, words = mask.buffer_info()
    for pattern in ("a*", r"[\s\S]*"):
        guide, token, least = Guide(TokenDFA.from_regex(pattern, vocabulary)), vocabulary.encode_greedy(b"a")[0], 1 << 62
        for _ in range(100):
            begin = time.perf_counter_ns()
            for _ in range(calls):
                guide.advance(token, return_tokens=False)
                guide.write_mask_into(address, words, 4)
            least = min(least, time.perf_counter_ns() - begin)
        assert least / calls < 1000
