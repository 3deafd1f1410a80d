"""The methods of a `TokenDFA` that have the names of `outlines_core.Index`, against the original: states are equal up to renaming.

The original leaves out tokens that it should have: those before whose last byte the text may end, and behind which it may not (so it has no
`ax5` for `a(x5)?`). Nor has it what a text could go on with by a later alternative than the one by which it may end (`ab|abc`), where loops
are alternatives, too. A `TokenDFA` has all of these.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from grammar_engine import Grammar, Guide, TokenDFA, Vocabulary

outlines_core = pytest.importorskip("outlines_core")

TOKENS = [bytes([byte]) for byte in range(256)] + [b"ab", b"ba", b"aa", b"abc", b"12", b"\xc3\xa9", b"a\xc3", b" a", b"", b"aba"]
EOS = len(TOKENS) - 2
PATTERNS = [
    *("a", "a+b?", "(a|ba){2,5}c?", "[ab]*", "[0-9]{1,3}-[0-9]", "a(x5)?", "é{1,3}", "(a|b)*a(a|b){3}", "[^a]b", ".*", "ab|ba|12", "a?"),
    *(" ?(true|false|null)", '"[^"]{0,4}"', "(12)+|a"),
]


def theirs(pattern: str) -> Any:
    ids: dict[bytes, list[int]] = {}
    for token, spelling in enumerate(TOKENS):
        if token != EOS:
            ids.setdefault(spelling, []).append(token)
    return outlines_core.Index(pattern, outlines_core.Vocabulary(EOS, ids))


def random_pattern(rng: random.Random, letters: list[str], depth: int = 3) -> str:
    """One in which each character is at one place, so that a text is read in one way only."""
    if not depth or rng.random() < 0.25:
        return letters.pop() if rng.random() < 0.8 or len(letters) < 2 else f"[{letters.pop()}{letters.pop()}]"
    part = random_pattern(rng, letters, depth - 1)
    if rng.random() < 0.5:
        return f"(?:{part}){rng.choice(['*', '+', '?', '{1,3}'])}"
    return part + random_pattern(rng, letters, depth - 1) if letters else part


def is_left_out(dfa: TokenDFA, state: int, token: int) -> bool:
    """Whether the original has no such token there."""
    if token == EOS:
        return False
    states: list[int] = [state]
    for byte in TOKENS[token]:
        after = dfa.get_next_state(states[-1], byte)
        assert after is not None
        states.append(after)
    return dfa.is_final_state(states[-2]) and not dfa.is_final_state(states[-1])


def compare(pattern: str) -> tuple[int, int]:
    """Walks both side by side, each of their states once: it has one of ours.
    Returns how many there are, and how many of these have what they should.
    """
    dfa = TokenDFA.from_regex(pattern, Vocabulary(TOKENS, eos=[EOS]))
    index, transitions, n_equal = theirs(pattern), dfa.get_transitions(), 0
    assert list(transitions) == list(range(dfa.num_states))
    first = index.get_initial_state()
    ours, to_do = {first: dfa.get_initial_state()}, [first]
    while to_do:
        state = to_do.pop()
        own = ours[state]
        assert dfa.is_final_state(own) is (own in dfa.get_final_states())
        assert index.is_final_state(state) is (state in index.get_final_states()) is (EOS in index.get_allowed_tokens(state))
        allowed = dfa.get_allowed_tokens(own)
        assert allowed == sorted(allowed) == list(transitions[own])
        kept = {token for token in allowed if not is_left_out(dfa, own, token)}
        offered = set(index.get_allowed_tokens(state))
        n_equal += offered == kept
        for token in range(len(TOKENS) + 2):
            after, own_after = index.get_next_state(state, token), dfa.get_next_state(own, token)
            assert (after is not None) == (token in offered - {EOS}), (pattern, state, token)
            assert (own_after is not None) == (token in set(allowed) - {EOS})
            assert transitions[own].get(token) == (own if token == EOS and dfa.is_final_state(own) else own_after)
            if after is not None:
                if after not in ours:
                    ours[after] = own_after
                    to_do.append(after)
                assert ours[after] == own_after
    known = index.get_transitions()  # has states, too, that none of its tokens leads to
    for state, own in ours.items():
        to = {token: ours[after] for token, after in known.get(state, {}).items()}
        assert to == {token: transitions[own][token] for token in index.get_allowed_tokens(state)}
    return len(ours), n_equal


@pytest.mark.parametrize("pattern", PATTERNS)
def test_as_in_the_original(pattern: str) -> None:
    n_states, n_equal = compare(pattern)
    assert n_states == n_equal


def test_random_patterns(long_run: bool) -> None:
    rng, n_states = random.Random(11), 0
    for _ in range(600 if long_run else 40):
        found, n_equal = compare(random_pattern(rng, rng.sample(list("abc12xy5é "), 10)))
        assert found == n_equal
        n_states += found
    assert n_states > 100


def test_states_that_are_none() -> None:
    dfa, index = TokenDFA.from_regex("a+b?", Vocabulary(TOKENS, eos=[EOS])), theirs("a+b?")
    for state in (dfa.num_states + 1, 1 << 40, -1):
        assert dfa.get_allowed_tokens(state) is None
        assert dfa.get_next_state(state, 97) is None
        assert dfa.is_final_state(state) is False
    assert index.get_allowed_tokens(99_999) is None and index.get_next_state(99_999, 97) is None and not index.is_final_state(99_999)
    for token in (-1, len(TOKENS), 1 << 70):
        assert dfa.get_next_state(0, token) is None
    assert dfa.get_next_state(np.int64(0), np.int32(97)) == dfa.get_next_state(0, 97)
    for wrong in ("0", 0.0, True, None):
        with pytest.raises(TypeError, match="is an int"):
            dfa.get_allowed_tokens(wrong)
        with pytest.raises(TypeError, match="is an int"):
            dfa.get_next_state(0, wrong)
        with pytest.raises(TypeError, match="is an int"):
            dfa.is_final_state(wrong)


def test_with_guides_and_the_end_of_text() -> None:
    dfa = TokenDFA.from_grammar(Grammar.from_choices(["ab", "aba", "é"]), Vocabulary(TOKENS, eos=[EOS, 3]))
    guide, state = Guide(dfa), dfa.get_initial_state()
    for token in (97, 98, 97):
        assert dfa.get_allowed_tokens(state) == guide.get_tokens()
        guide.advance(token)
        state = dfa.get_next_state(state, token)
        assert state == guide.get_state()
    assert dfa.is_final_state(state) and dfa.get_next_state(state, EOS) is None
    assert dfa.get_transitions()[state] == {3: state, EOS: state}
    guide.advance(EOS)
    ended = guide.get_state()
    assert ended == dfa.num_states and dfa.is_final_state(ended) and ended not in dfa.get_final_states()
    assert dfa.get_allowed_tokens(ended) == guide.get_tokens() == [3, EOS]
    assert dfa.get_next_state(ended, EOS) is None and ended not in dfa.get_transitions()
