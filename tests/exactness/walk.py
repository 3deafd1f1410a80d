"""The laws of a matcher, checked along a random walk.

At each position, with the oracle's mask at hand:

    mask         the bits set are the oracle's, those that end the text included; padding is clear; `fill_mask` writes the same words
    accept       token t is accepted <=> bit t is set; a refusal changes nothing
    validate     says how many tokens of a sequence would be accepted, and changes nothing
    fork         goes its own way; neither notices the other
    rollback     undoes exactly n steps
    forced       `forced_bytes` is the one path along which the oracle leaves a single byte, up to a choice or a sentence
    split        the same bytes through other tokens, or through `accept_bytes`, lead to the same mask

`Walk.masks` counts the masks compared, for the tests to assert that they did not quietly compare nothing.
"""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from grammar_engine import ir
from grammar_engine.errors import GrammarError, VocabularyError
from oracle.earley import Recogniser
from oracle.mask import oracle_mask, step_bytes
from vocabularies import TinyVocabulary


def ids_of(mask: bytes) -> set[int]:
    """The ids whose bit is set."""
    bits = int.from_bytes(mask, "little")
    return {i for i in range(8 * len(mask)) if bits >> i & 1}


def engine_mask(matcher: Any) -> set[int]:
    """The ids that `matcher` allows; none, too, if it says that no token spells what the grammar needs."""
    try:
        return ids_of(matcher.mask())
    except VocabularyError as error:
        assert error.missing
        assert not matcher.is_complete
        return set()


class Walk:
    """Walks over one grammar and one vocabulary. `masks` = 0 if the grammar has no sentence (then the engine must say so).

    `ends`: what `Matcher(eos=...)` is given; by default the tokens of the vocabulary end its texts.
    """

    def __init__(
        self,
        builder: ir.Builder,
        tiny: TinyVocabulary,
        rng: random.Random,
        switches: Any = None,
        vocabulary: Any = None,
        ends: tuple[int, ...] | None = None,
    ):
        from grammar_engine import Grammar, Matcher

        self.tiny = tiny
        self.tokens = tiny.spelt
        self.ends = set(tiny.eos if ends is None else ends)
        self.rng = rng
        self.masks = 0
        self.recogniser = Recogniser(builder)
        self.first = self.recogniser.start()
        self.matcher: Any = None
        self.known: dict[Any, set[int]] = {}
        if self.first is None:
            with pytest.raises(GrammarError):
                Grammar._from_builder(builder)
            return
        self.grammar = Grammar._from_builder(builder)
        options: dict[str, Any] = ({} if switches is None else {"switches": switches}) | ({} if ends is None else {"eos": ends})
        try:
            self.matcher = Matcher(self.grammar, vocabulary or tiny.build(), **options)
        except VocabularyError as error:
            assert error.missing
            assert self.expected(self.first) == set()

    def expected(self, state: Any) -> set[int]:
        """The oracle's mask, remembered per state."""
        if state not in self.known:
            self.known[state] = oracle_mask(self.recogniser, state, self.tokens, self.ends)
        return self.known[state]

    def ends_here(self, state: Any) -> set[int]:
        """The tokens that end the text."""
        return self.ends if self.recogniser.is_sentence(state) else set()

    def check_mask(self, matcher: Any, state: Any, where: object = "") -> set[int]:
        """The mask of `matcher` is that of `state`."""
        expected = self.expected(state)
        got = engine_mask(matcher)
        assert got == expected, self.report(matcher, got, expected, where)
        assert matcher.is_complete == self.recogniser.is_sentence(state), where
        self.masks += 1
        return expected

    def report(self, matcher: Any, got: set[int], expected: set[int], where: object) -> str:
        """What differs, with the texts of the ids."""
        text = b"".join(self.tokens[i] if i >= 0 else b"<bytes>" for i in matcher.tokens)

        def spell(ids: set[int]) -> list[str]:
            return [
                f"{i} " + ("EOS" if i in self.ends else repr(self.tokens[i]) if i < len(self.tokens) else "padding") for i in sorted(ids)
            ]

        return f"after {text!r} {where}: missing {spell(expected - got)}, wrongly allowed {spell(got - expected)}"

    def check_laws(self, matcher: Any, state: Any) -> None:
        """All laws at one position; `matcher` is as before afterwards."""
        rng, expected = self.rng, self.check_mask(matcher, state)
        if not expected:
            return
        words = array("i", [-1] * self.tiny.words)
        everything = matcher.fill_mask(words) is False
        assert words.tobytes() == matcher.mask()
        assert everything == (len(expected) == (self.tiny.width or len(self.tokens)))
        assert matcher.allowed_tokens() == sorted(expected)
        if rng.random() < 0.2:
            assert matcher.forced_bytes()[:20] == self.forced(state)
        length = len(matcher.tokens)
        for token in range(len(self.tokens)):
            assert matcher.validate([token]) == (token in expected), (token, expected)
        for token in rng.sample(range(len(self.tokens)), min(4, len(self.tokens))):
            fork = matcher.fork()
            assert fork.accept(token) == (token in expected), (token, expected)
            if token not in expected:
                self.check_mask(fork, state, f"refused {token}")
                assert matcher.accept(token) is False
            elif token not in self.ends_here(state):
                self.check_mask(fork, step_bytes(state, self.tokens[token]), f"fork by {token}")
                split = matcher.fork()
                assert split.accept_bytes(self.tokens[token]) is True
                assert engine_mask(split) == engine_mask(fork)
                fork.rollback(1)
                self.check_mask(fork, state, f"rolled back {token}")
            else:
                assert fork.is_terminated
                assert set(fork.allowed_tokens()) == self.ends
                fork.rollback(1)
                assert not fork.is_terminated
                self.check_mask(fork, state, "rolled back EOS")
        assert len(matcher.tokens) == length
        self.check_mask(matcher, state, "after its forks")

    def forced(self, state: Any, most: int = 20) -> bytes:
        """The oracle's forced bytes, at most `most`."""
        text = b""
        while len(text) < most and not self.recogniser.is_sentence(state):
            ways = [(byte, after) for byte in range(256) if (after := state.step(byte)) is not None]
            if len(ways) != 1:
                break
            text += bytes([ways[0][0]])
            state = ways[0][1]
        return text

    def check_sequence(self, matcher: Any, state: Any, length: int = 4) -> None:
        """`validate` and `accept_tokens` of a random sequence stop where the oracle does."""
        tokens = [self.rng.randrange(len(self.tokens)) for _ in range(length)]
        if expected := self.expected(state) - self.ends_here(state):
            tokens[0] = self.rng.choice(sorted(expected))
        count, now = 0, state
        for token in tokens:
            if token in self.ends_here(now):
                return
            now = step_bytes(now, self.tokens[token]) if self.tokens[token] else None
            if now is None:
                break
            count += 1
        assert matcher.validate(tokens) == count
        fork = matcher.fork()
        assert fork.accept_tokens(tokens) == count
        assert fork.tokens == matcher.tokens + tokens[:count]

    def run(self, steps: int, laws: float = 0.3) -> int:
        """One walk from the start; with probability `laws` all laws are checked at a position. Returns `self.masks`."""
        if self.matcher is None:
            return self.masks
        rng, matcher = self.rng, self.matcher
        matcher.reset()
        states = [self.first]
        for _ in range(steps):
            state = states[-1]
            if rng.random() < laws:
                self.check_laws(matcher, state)
                self.check_sequence(matcher, state)
            allowed = sorted(self.check_mask(matcher, state) - self.ends_here(state))
            if not allowed:
                break
            token = rng.choice(allowed)
            assert matcher.accept(token) is True
            states.append(step_bytes(state, self.tokens[token]))
            if len(states) > 2 and rng.random() < 0.15:
                back = rng.randint(1, len(states) - 1)
                matcher.rollback(back)
                del states[-back:]
                self.check_mask(matcher, states[-1], f"rolled back {back}")
        return self.masks
