"""Tokens and texts that are no tokens and no texts; the end of a text; going back. A refusal changes nothing."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest

from grammar_engine import Grammar, Matcher, MatcherFinishedError, TokenRejectedError, Vocabulary, allocate_masks

VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), b"", b"ab", b"", b"\x00a"], eos=[256, 258], width=300)
EOS, PAIR, SECOND_EOS = 256, 257, 258


@pytest.fixture
def matcher():
    matcher = Matcher(Grammar.from_regex("(ab)*c"), VOCABULARY)
    matcher.accept_tokens([97, 98])
    return matcher


@pytest.fixture(autouse=True)
def _unchanged(matcher):
    """The tests below leave the matcher where it was, or say so by rolling back."""
    mask = matcher.mask()
    yield
    assert matcher.tokens == [97, 98]
    assert matcher.mask() == mask
    assert matcher.allowed_tokens() == [97, 99, PAIR]


NO_IDS = [
    -1,
    -2,
    259 + 1,
    299,
    300,
    10_000,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) + 97,
    (1 << 62) + 97,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) + 97,
    -(1 << 63),
    -(1 << 70),
]


@pytest.mark.parametrize("token", NO_IDS)
def test_out_of_range(matcher, token):
    assert matcher.accept(token) is False
    assert matcher.validate([token]) == 0
    assert matcher.validate([97, token, 98]) == 1
    assert matcher.accept_tokens([token, 97]) == 0
    assert matcher.accept_tokens([97, 98, token, 97]) == 2
    matcher.rollback(2)
    explanation = matcher.explain(token)
    assert not explanation.accepted
    assert explanation.position == 0
    assert explanation.byte is None
    assert explanation.expected_bytes == b"ac"
    with pytest.raises(TokenRejectedError) as caught:
        matcher.accept(token, strict=True)
    assert caught.value.token_id == token
    assert str(caught.value) == str(explanation) == f"there is no token {token}: ids are 0 to 259"


def test_tokens_that_are_no_text(matcher):
    """Why they are refused: three sentences."""
    expected = "expected regex (next b'a' b'c')"
    with pytest.raises(TokenRejectedError) as caught:
        matcher.accept(EOS, strict=True)
    assert str(caught.value) == f"token {EOS} ends the text, and the text is no sentence yet: {expected}"
    assert (caught.value.position, caught.value.expected, caught.value.explanation.expected_bytes) == (0, ("regex",), b"ac")
    assert str(matcher.explain(EOS)) == matcher.explain(EOS).reason == str(caught.value)
    special = Vocabulary([b"a", b"c", b"", b"", b""], eos=[2], special={3: "<x>", 2: "</s>"})
    other = Matcher(Grammar.from_regex("ac"), special)
    assert str(other.explain(3)) == "special token '<x>' is not named here by the grammar: expected regex (next b'a')"
    assert str(other.explain(4)) == "token 4 spells nothing: expected regex (next b'a')"
    assert str(other.explain(1)).startswith("byte 0 (b'c') is refused") and other.explain(1).reason == ""
    assert str(Matcher(Grammar.from_regex("ac"), special, eos=[3]).explain(2)).startswith("special token '</s>' is not named here")
    assert other.accept_tokens([0, 1])
    assert str(other.explain(3)) == "special token '<x>' is not named here by the grammar: the text must end here"
    assert other.accept(2) and other.explain(2).accepted
    assert str(other.explain(3)) == "special token '<x>' is not named here by the grammar: the text must end here"
    assert str(other.explain(5)) == "there is no token 5: ids are 0 to 4"


@pytest.mark.parametrize(
    "token",
    [1.0, 97.5, "a", "97", None, True, False, b"a", [97], (97,), np.bool_(True), np.float32(97), np.array([97]), object()],
)
def test_wrong_types(matcher, token):
    for call in (matcher.accept, lambda token: matcher.accept_tokens([97, token]), lambda token: matcher.validate([token])):
        with pytest.raises(TypeError):
            call(token)
    if not isinstance(token, bytes):
        with pytest.raises(TypeError, match="a text is bytes, not str" if isinstance(token, str) else None):
            matcher.explain(token)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.uint64, np.array])
def test_integers_of_numpy(matcher, kind):
    assert matcher.validate([kind(97), kind(98)]) == 2
    assert matcher.accept(kind(97)) is True
    assert matcher.accept(kind(99)) is False
    assert matcher.tokens == [97, 98, 97]
    matcher.rollback(1)


@pytest.mark.parametrize("tokens", [None, 5, 97.0])
def test_no_sequence_of_tokens(matcher, tokens):
    for call in (matcher.accept_tokens, matcher.validate):
        with pytest.raises(TypeError):
            call(tokens)


@pytest.mark.parametrize("tokens", [[97, 98], (97, 98), range(97, 99), np.array([97, 98]), iter([97, 98]), memoryview(b"ab")])
def test_sequences_of_tokens(matcher, tokens):
    assert matcher.accept_tokens(tokens) == 2
    matcher.rollback(2)
    assert matcher.accept_tokens([]) == 0


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_texts_are_no_tokens(matcher, kind):
    for call in (matcher.accept_tokens, matcher.validate, lambda text: matcher.fill_draft_masks(text, allocate_masks(3, VOCABULARY))):
        with pytest.raises(TypeError, match=f"^tokens are ids, not {kind.__name__}: a text is for `accept_bytes`$"):
            call(kind(b"ab"))


@pytest.mark.parametrize("text", ["ab", None, 5, [97, 98], (97,), [300], np.array([97], dtype=np.uint8), 1.5])
def test_texts_of_the_wrong_type(matcher, text):
    with pytest.raises(TypeError, match="bytes"):
        matcher.accept_bytes(text)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_texts(matcher, kind):
    assert matcher.explain(kind(b"ab")).accepted
    assert matcher.explain(kind(b"abx")).position == 2
    assert matcher.accept_bytes(kind(b"ab"))
    assert not matcher.accept_bytes(kind(b"ax"))
    assert matcher.tokens == [97, 98, -1]
    matcher.rollback(1)


def test_the_empty_text_is_a_step(matcher):
    assert matcher.accept_bytes(b"")
    assert matcher.tokens == [97, 98, -1]
    matcher.rollback(1)


# --- going back -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [-1, 3, 1 << 40, 1 << 63, 1 << 64, -(1 << 64)])
def test_rollback_past_the_start(matcher, n):
    with pytest.raises(ValueError, match="the text has 2" if n > 0 else f"^n is at least 0, not {n}$"):
        matcher.rollback(n)


@pytest.mark.parametrize("n", [True, None, 1.0, "1", b"1", [1]])
def test_rollback_of_the_wrong_type(matcher, n):
    with pytest.raises(TypeError):
        matcher.rollback(n)


def test_rollback_of_nothing(matcher):
    matcher.rollback(0)


# --- the end ----------------------------------------------------------------------------------------------------------


def test_after_the_end(matcher):
    """Only end-of-text tokens go on; all else is refused politely, and a mask is still there."""
    assert not matcher.accept(EOS)
    assert matcher.accept(99)
    assert matcher.is_complete
    assert not matcher.is_terminated
    assert matcher.allowed_tokens() == [EOS, SECOND_EOS]
    assert matcher.accept(SECOND_EOS)
    for again in ([], [EOS, SECOND_EOS]):
        assert matcher.accept_tokens(again) == len(again)
        assert matcher.is_terminated
        assert matcher.is_complete
        assert matcher.allowed_tokens() == [EOS, SECOND_EOS]
        assert not any(matcher.accept(token) for token in range(300) if token not in (EOS, SECOND_EOS))
        assert not any(matcher.accept(token) for token in NO_IDS)
        assert not matcher.accept_bytes(b"a")
        assert matcher.validate([EOS, 97]) == 1
        assert matcher.forced_bytes() == b""
        assert matcher.forced_tokens() == []
        assert matcher.explain(EOS).accepted
        assert not matcher.explain(97).accepted
        assert not matcher.explain(b"ab").accepted
        assert not matcher.explain(5000).accepted
        with pytest.raises(MatcherFinishedError, match="97"):
            matcher.accept(97, strict=True)
        with pytest.raises(MatcherFinishedError):
            matcher.accept(-1, strict=True)
        assert matcher.accept(EOS, strict=True)
        assert "ended" in repr(matcher)
    matcher.rollback(len(matcher.tokens) - 2)


def test_back_from_the_end(matcher):
    masks = [matcher.mask()]
    for token in (PAIR, 99, EOS, EOS):
        assert matcher.accept(token)
        masks.append(matcher.mask())
    states = [(False, False), (False, False), (True, False), (True, True), (True, True)]
    for end in (4, 3, 2, 1, 0):
        twin = matcher.fork()
        twin.rollback(4 - end)
        assert twin.mask() == masks[end]
        assert (twin.is_complete, twin.is_terminated) == states[end]
        assert twin.tokens == matcher.tokens[: 2 + end]
        assert twin.accept_tokens([PAIR, 99, EOS, EOS][end:]) == 4 - end
        assert twin.tokens == matcher.tokens
    matcher.rollback(4)


def test_forks_are_independent(matcher):
    first, second = matcher.fork(), matcher.fork()
    assert first.accept(99)
    assert first.accept(EOS)
    assert second.accept(PAIR)
    second.rollback(3)
    assert second.tokens == []
    assert second.accept(99)
    assert first.tokens == [97, 98, 99, EOS]
    first.reset()
    assert first.tokens == []
    assert not first.is_terminated
    assert first.allowed_tokens() == [97, 99, PAIR]
    del first
    assert second.tokens == [99]


def test_reset_from_everywhere(matcher):
    for tokens in ([], [97], [PAIR, 99], [PAIR, 99, EOS], [PAIR, 99, EOS, EOS]):
        twin = matcher.fork()
        twin.reset()
        assert twin.accept_tokens(tokens) == len(tokens)
        twin.reset()
        assert (twin.tokens, twin.is_terminated, twin.is_complete) == ([], False, False)
        with pytest.raises(ValueError):
            twin.rollback(1)


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_is_a_fork(matcher, duplicate):
    twin = duplicate(matcher)
    assert twin.tokens == matcher.tokens
    assert twin.accept(99)
    assert matcher.tokens == [97, 98]
    assert twin.tokens == [97, 98, 99]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_matcher_cannot_be_pickled(matcher, protocol):
    with pytest.raises(TypeError, match="Matcher"):
        pickle.dumps(matcher, protocol)


def test_copies_of_grammars(matcher):
    """A copy is as good, or the refusal names the class."""
    for duplicate in (copy.copy, copy.deepcopy, lambda grammar: pickle.loads(pickle.dumps(grammar))):
        try:
            twin = duplicate(matcher.grammar)
        except TypeError as error:
            assert "Grammar" in str(error)
        else:
            assert Matcher(twin, VOCABULARY).allowed_tokens() == [97, 99, PAIR]


def test_copies_of_vocabularies(matcher):
    for duplicate in (copy.copy, copy.deepcopy, lambda vocabulary: pickle.loads(pickle.dumps(vocabulary))):
        twin = duplicate(VOCABULARY)
        assert twin == VOCABULARY
        assert hash(twin) == hash(VOCABULARY)
        assert Matcher(matcher.grammar, twin).allowed_tokens() == [97, 99, PAIR]


# --- questions about everything ----------------------------------------------------------------------------------------


def test_explain_every_token_and_byte(matcher):
    """In every state, every id: the answer agrees with the mask, and with the bytes."""
    for steps in ([], [PAIR], [97], [99], [99, EOS]):
        twin = matcher.fork()
        assert twin.accept_tokens(steps) == len(steps)
        allowed = set(twin.allowed_tokens())
        for token in range(-1, 302):
            explanation = twin.explain(token)
            assert explanation.accepted == (token in allowed)
            text = VOCABULARY.tokens[token] if 0 <= token < VOCABULARY.size else b""
            if explanation.accepted:
                assert str(explanation) == "accepted"
            elif text and not twin.is_terminated:
                assert explanation.byte == text[explanation.position]
                assert twin.explain(text[: explanation.position]).accepted
                assert explanation.byte not in explanation.expected_bytes
                assert repr(bytes([explanation.byte])) in str(explanation)
                assert all(f"(next {bytes([byte])!r}" in str(explanation) for byte in explanation.expected_bytes[:1])
            if not twin.is_terminated:
                assert all(twin.explain(text[: explanation.position] + bytes([byte])).accepted for byte in explanation.expected_bytes)


def test_explain_names_all_that_may_come_and_a_message_some():
    words = [f"w{i:03}" for i in range(300)]
    rules = "\n".join(f'r{i}: "a" "{word}"' for i, word in enumerate(words))
    matcher = Matcher(Grammar.from_lark("start: " + " | ".join(f"r{i}" for i in range(300)) + "\n" + rules), VOCABULARY)
    found = matcher.explain(b"ax")
    assert set(found.expected) == {f'"{word}"' for word in words} and set(found.rules) >= {f"r{i}" for i in range(300)}
    assert str(found).count(" or ") == 16 and " or 284 more (next b'w'" in str(found)


def test_forced_tokens_never_change_the_language():
    """They spell a prefix of the forced bytes, are accepted, and lead to
    where the bytes lead. A last one that could be longer is held back."""
    vocabulary = Vocabulary([b"a", b"b", b"c", b"ab", b"abc", b"bc", b"cd", b"d", b"ca", b""], eos=[9])
    for pattern in ("abcabc", "abc(d|a)", "(abc|abd)", "a{40}", "ab(c)?", "abcd", "c", "(ab){3}cd?"):
        matcher = Matcher(Grammar.from_regex(pattern), vocabulary)
        text, tokens = matcher.forced_bytes(), matcher.forced_tokens()
        spelt = b"".join(vocabulary.tokens[token] for token in tokens)
        assert text.startswith(spelt)
        by_tokens, by_bytes = matcher.fork(), matcher.fork()
        assert by_tokens.accept_tokens(tokens) == len(tokens)
        assert by_tokens.accept_bytes(text[len(spelt) :])
        assert by_bytes.accept_bytes(text)
        assert by_tokens.mask() == by_bytes.mask()
        assert matcher.tokens == []
        if tokens and not by_bytes.is_complete:  # no token that goes on from the last one's start could be allowed
            before = matcher.fork()
            before.accept_tokens(tokens[:-1])
            last = vocabulary.tokens[tokens[-1]]
            longer = [
                t
                for t in before.allowed_tokens()
                if vocabulary.tokens[t].startswith(last) and t != tokens[-1] and len(vocabulary.tokens[t]) > len(last)
            ]
            assert not longer or all(not text[len(spelt) - len(last) :].startswith(vocabulary.tokens[t]) for t in longer)


def test_forced_tokens_keep_clear_of_dead_ends():
    """In a vocabulary that lacks bytes: of all spellings of the forced text, or of all of it but the beginning of a token, the one whose
    tokens are longest from the left; nothing where there is none.
    """
    rng = random.Random(8)
    n_around = 0
    for _ in range(2000):
        letters = rng.choice(["ab", "abc"])
        tokens = ["".join(rng.choices(letters, k=rng.choice([1, 2, 2, 3, 3, 4]))).encode() for _ in range(rng.randrange(1, 8))]
        text = "".join(rng.choices(letters, k=rng.randrange(1, 12))).encode()
        matcher = Matcher(Grammar.from_regex(text.decode()), Vocabulary([*tokens, b""], eos=[len(tokens)]))

        def spelling(rest: bytes, tokens: list[bytes] = tokens) -> list[bytes] | None:
            if not rest or any(len(rest) < len(token) and token.startswith(rest) for token in tokens):
                return []  # the end, or what a longer token could begin with
            for token in sorted(filter(rest.startswith, tokens), key=len, reverse=True):
                if (found := spelling(rest[len(token) :])) is not None:
                    return [token, *found]
            return None

        forced = [tokens[token] for token in matcher.forced_tokens()]
        assert forced == (spelling(text) or []), (tokens, text)
        n_around += bool(forced) and forced[0] != max(filter(text.startswith, tokens), key=len)
    assert n_around > 5


def test_forced_bytes_are_cut_at_65536():
    matcher = Matcher(Grammar.from_regex("(ab){100000}"), VOCABULARY)
    text = matcher.forced_bytes()
    assert text == b"ab" * 32768
    assert matcher.accept_bytes(text)
    assert matcher.forced_bytes() == text
    assert matcher.accept_tokens(matcher.forced_tokens()) == 32768
