"""`Guide`, against a model of it: a list of the states so far."""

from __future__ import annotations

import copy
import gc
import os
import random
import sys
import threading
from array import array
from pathlib import Path

import pytest

from automata.reading import accepts, follow, mask_bytes, mask_of, reachable
from grammar_engine import Guide, MaskBuffer, TokenDFA, Vocabulary
from grammar_engine.errors import TokenRejectedError
from grammar_engine.explanation import Explanation
from vocabularies import TinyVocabulary

TINY = TinyVocabulary((b"a", b"b", b"ab", b"ba", b"aa", b"", b"c"), (5,), width=40)


@pytest.fixture(scope="module")
def dfa() -> TokenDFA:
    return TokenDFA.from_regex("(a|ba){2,9}c?", TINY.build())


def test_a_walk_equals_its_model(dfa: TokenDFA) -> None:
    rng, refused = random.Random(61), 0
    for _ in range(60):
        most = rng.choice([0, 1, 3, 32])
        guide, states = Guide(dfa, most), [0]
        kept = 0  # steps that can be taken back
        for _ in range(40):
            assert guide.get_state() == states[-1]
            assert guide.get_tokens() == sorted(mask_of(dfa, states[-1]))
            assert guide.is_finished() == accepts(dfa, states[-1])
            assert guide.get_allowed_rollback() == kept
            token = rng.randrange(-1, 9)
            to = follow(dfa, states[-1], token)
            assert guide.accepts_tokens([token]) == (to >= 0)
            if rng.random() < 0.15:
                back = rng.randint(0, kept + 1)
                if back > kept:
                    with pytest.raises(ValueError, match=f"{kept} can be taken back"):
                        guide.rollback_state(back)
                else:
                    guide.rollback_state(back)
                    del states[len(states) - back :]
                    kept -= back
            elif to < 0:
                refused += 1
                with pytest.raises(TokenRejectedError):
                    guide.advance(token)
            else:
                assert guide.advance(token) == sorted(mask_of(dfa, to))
                states.append(to)
                kept = min(kept + 1, most)
            if rng.random() < 0.03:
                guide.reset()
                states, kept = [0], 0
    assert refused > 100


def test_sequences_are_asked_without_a_trace(dfa: TokenDFA) -> None:
    guide = Guide(dfa)
    guide.advance(0)
    assert guide.accepts_tokens([]) and guide.accepts_tokens([0, 1, 0]) and guide.accepts_tokens([0, 6, 5, 5])
    assert not guide.accepts_tokens([0, 6, 0]) and not guide.accepts_tokens([5]) and not guide.accepts_tokens([10**30])
    assert (guide.get_state(), guide.get_allowed_rollback()) == (follow(dfa, 0, 0), 1)


# --- masks ----------------------------------------------------------------------------------------------------------------


def test_all_kinds_of_buffers(dfa: TokenDFA) -> None:
    numpy = pytest.importorskip("numpy")
    expected = [mask_bytes(dfa, 0), mask_bytes(dfa, follow(dfa, 0, 0))]
    buffers = [
        array("I", [7, 7]),
        array("i", [7, 7]),
        bytearray(8),
        memoryview(bytearray(8)).cast("I"),
        numpy.full((1, 2), 7, numpy.int32),
        numpy.full(2, 7, numpy.uint32),
    ]
    for buffer in buffers:
        guide = Guide(dfa)
        assert guide.get_tokens(buffer) is None
        assert bytes(memoryview(buffer)) == expected[0]
        assert guide.advance(0, buffer) is None
        assert bytes(memoryview(buffer)) == expected[1]


def test_bad_buffers_change_nothing(dfa: TokenDFA) -> None:
    guide = Guide(dfa)
    for buffer, kind in [
        (array("I", [0]), ValueError),
        (array("d", [0]), TypeError),
        (b"12345678", ValueError),
        ([0, 0], TypeError),
        (bytearray(16), ValueError),
    ]:
        with pytest.raises(kind):
            guide.get_tokens(buffer)
        with pytest.raises(kind):
            guide.advance(0, buffer)
        assert (guide.get_state(), guide.get_allowed_rollback()) == (0, 0)


def test_arrays_that_are_no_mask(dfa: TokenDFA) -> None:
    numpy = pytest.importorskip("numpy")
    guide, right = Guide(dfa), numpy.zeros((1, 2), numpy.int32)
    guide.get_tokens(right)
    frozen = right.copy()
    frozen.flags.writeable = False
    for array_, kind, message in [
        (frozen, ValueError, "read-only"),
        (numpy.zeros((1, 4), numpy.int32)[:, ::2], ValueError, "not contiguous"),
        (numpy.zeros((2, 1), numpy.int32), ValueError, "shape"),
        (numpy.zeros((2, 2), numpy.int32), ValueError, "2 rows"),
        (numpy.zeros((1, 3), numpy.int32), ValueError, "shape"),
        (numpy.zeros((), numpy.int32), ValueError, "shape"),
        (numpy.zeros((1, 2), numpy.float32), TypeError, "32-bit integers"),
        (numpy.zeros((1, 2), ">i4"), TypeError, "32-bit integers"),
    ]:
        for call in (guide.get_tokens, lambda mask: guide.advance(0, mask)):
            with pytest.raises(kind, match=message):
                call(array_)
        assert (guide.get_state(), guide.get_allowed_rollback()) == (0, 0)
    right.resize((1, 3), refcheck=True)  # nothing is remembered of it
    with pytest.raises(ValueError, match="shape"):
        guide.advance(0, right)


def test_held_buffers(dfa: TokenDFA) -> None:
    row, two = bytearray(8), bytearray(16)
    guide, held = Guide(dfa), MaskBuffer(row, dfa.vocabulary)
    assert guide.get_tokens(held) is None
    assert row == mask_bytes(dfa, 0)
    assert guide.advance(0, held) is None
    assert row == mask_bytes(dfa, follow(dfa, 0, 0))
    wide = Vocabulary([b"a"] * 99, eos=[98])
    for other, message in [(MaskBuffer(two, dfa.vocabulary), "2 rows"), (MaskBuffer(bytearray(16), wide), "another vocabulary")]:
        for call in (guide.get_tokens, lambda mask: guide.advance(0, mask)):
            with pytest.raises(ValueError, match=message):
                call(other)
    assert (guide.get_state(), guide.get_allowed_rollback()) == (follow(dfa, 0, 0), 1)
    assert two == bytes(16)


def test_a_refused_token_leaves_the_mask(dfa: TokenDFA) -> None:
    guide, mask = Guide(dfa), array("I", [3, 5])
    with pytest.raises(TokenRejectedError) as caught:
        guide.advance(5, mask)
    assert mask.tolist() == [3, 5] and caught.value.token_id == 5 and isinstance(caught.value, ValueError)
    with pytest.raises(TokenRejectedError) as caught:
        guide.advance(6)
    assert caught.value.bytes == b"c"
    why = caught.value.explanation  # which has all that that of a matcher has
    assert isinstance(why, Explanation) and (why.accepted, why.expected_bytes) == (False, b"") and str(why) == str(caught.value)


def test_masks_at_an_address(dfa: TokenDFA) -> None:
    guide, mask = Guide(dfa), array("I", [7, 7, 7])
    address = mask.buffer_info()[0]
    guide.write_mask_into(address, 2, 4)
    assert mask.tobytes()[:8] == mask_bytes(dfa, 0) and mask[2] == 7
    for arguments in [(address, 1, 4), (address, 2, 8), (address, 2, 2), (0, 2, 4), (address + 1, 2, 4), (-4, 2, 4), (address, 1 << 62, 4)]:
        with pytest.raises(ValueError):
            guide.write_mask_into(*arguments)
    assert mask[2] == 7
    for numel in ("2", 2.0, None):
        with pytest.raises(TypeError):
            guide.write_mask_into(address, numel, 4)


def test_nothing_is_allowed_beyond_the_mask(dfa: TokenDFA) -> None:
    """A row of a model whose scores are more than the vocabulary is wide."""
    guide = Guide(dfa)
    for room in (2, 3, 5, 200):
        mask = array("I", [7] * (room + 1))
        guide.write_mask_into(mask.buffer_info()[0], room, 4)
        assert mask.tobytes() == mask_bytes(dfa, 0) + bytes(4 * (room - 2)) + array("I", [7]).tobytes()


def test_lists_and_bits(dfa: TokenDFA) -> None:
    """Masks of few tokens are kept as lists, those of many as bits: they are served alike."""
    wide = TinyVocabulary((*(bytes([byte]) for byte in range(256)), *(b"x" + bytes([byte]) for byte in range(100)), b""), (356,), width=400)
    dfa = TokenDFA.from_regex(r"(?a:\d)[\s\S]*", wide.build())
    assert 0 < dfa.stats.listed_masks < dfa.stats.masks
    for state, tokens in reachable(dfa, range(len(wide.tokens))).items():
        guide = Guide(dfa)
        for token in tokens:
            guide.advance(token, return_tokens=False)
        assert guide.get_state() == state and guide.get_tokens() == sorted(mask_of(dfa, state))


# --- ends and edges -------------------------------------------------------------------------------------------------------


def test_after_the_end_only_ends_come(dfa: TokenDFA) -> None:
    guide = Guide(dfa)
    for token in (0, 0, 6, 5):
        assert guide.is_finished() == (token in (6, 5))
        guide.advance(token, return_tokens=False)
    assert guide.get_state() == dfa.num_states and guide.is_finished()
    assert guide.get_tokens() == [5] == guide.advance(5)
    with pytest.raises(TokenRejectedError):
        guide.advance(0)
    guide.rollback_state(2)
    assert guide.get_tokens() == [5]


def test_return_tokens(dfa: TokenDFA) -> None:
    guide = Guide(dfa)
    assert guide.advance(0, return_tokens=False) is None
    assert guide.advance(0, return_tokens=True) == guide.get_tokens()
    guide.reset()
    assert guide.advance(0, False) is None and guide.advance(0, True) == guide.get_tokens()
    assert guide.advance(0, return_tokens=None) == guide.get_tokens()
    with pytest.raises(TypeError):
        guide.advance(0, False, return_tokens=True)


def test_copies_go_their_own_way(dfa: TokenDFA) -> None:
    guide = Guide(dfa, 5)
    guide.advance(0)
    for twin in (copy.copy(guide), copy.deepcopy(guide)):
        twin.advance(1)
        twin.rollback_state(2)
        assert (twin.get_state(), twin.max_rollback) == (0, 5)
        assert (guide.get_state(), guide.get_allowed_rollback()) == (follow(dfa, 0, 0), 1)


def test_wrong_arguments(dfa: TokenDFA) -> None:
    for arguments, kind in [((1,), TypeError), ((dfa, 1.5), TypeError), ((dfa, True), TypeError), ((dfa, -1), ValueError)]:
        with pytest.raises(kind):
            Guide(*arguments)
    guide = Guide(dfa)
    for token in ("a", 1.0, None, True):
        with pytest.raises(TypeError):
            guide.advance(token)
        with pytest.raises(TypeError):
            guide.accepts_tokens([token])
    with pytest.raises(ValueError):
        guide.rollback_state(-1)
    for token in (-1, 7, 1 << 31, 1 << 32, 1 << 63, 1 << 64, -(1 << 70)):
        with pytest.raises(TokenRejectedError):
            guide.advance(token)
    numpy = pytest.importorskip("numpy")
    assert guide.advance(numpy.int64(0)) is not None


def test_many_guides_in_threads(dfa: TokenDFA) -> None:
    """Over one automaton; each thread takes turns between its own."""
    failures: list[object] = []

    def work(seed: int) -> None:
        rng, words = random.Random(seed), array("I", [0, 0])
        guides, states = [Guide(dfa) for _ in range(20)], [0] * 20
        for _ in range(1500):
            number, token = rng.randrange(20), rng.choice([0, 0, 1, 2, 3, 4, 6])
            to = follow(dfa, states[number], token)
            if guides[number].accepts_tokens([token]) != (to >= 0):
                failures.append((seed, number))
            if to < 0:
                guides[number].reset()
            else:
                guides[number].advance(token, words)
            states[number] = max(to, 0)
            if guides[number].get_state() != states[number] or (to >= 0 and words.tobytes() != mask_bytes(dfa, to)):
                failures.append((seed, number))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_repr(dfa: TokenDFA) -> None:
    assert repr(Guide(dfa)) == f"<Guide in state 0 of {dfa.num_states}>"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the resident size is read from /proc")
@pytest.mark.skipif(sys.flags.dev_mode or "PYTHONMALLOC" in os.environ, reason="the allocator is not that of users")
def test_ten_thousand_guides_are_small() -> None:
    """2 MB for 10,000 of them, by the size of the process; so many that what
    was free in it before hardly counts. States of one byte, and of two."""
    count, kept = 100_000, list[list[Guide]]()  # (memory that is free again would hide what others take)
    for states in (100, 300):
        dfa = TokenDFA.from_regex(f"a{{{states}}}", Vocabulary.bytes())
        before = resident()
        kept.append([Guide(dfa) for _ in range(count)])
        for steps in (0, 8, 40):
            for guide in kept[-1]:
                for _ in range(steps - guide.get_state()):
                    guide.advance(ord("a"), return_tokens=False)
            assert (resident() - before) / count < 200
            assert all(guide.get_allowed_rollback() == min(steps, 32) for guide in kept[-1])


def resident() -> int:
    """Bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_histories_of_wide_states() -> None:
    """States beyond one byte, and beyond two."""
    vocabulary = Vocabulary.bytes()
    for n, steps in ((300, 280), (70_000, 66_000)):
        guide = Guide(TokenDFA.from_regex(f"a{{{n}}}", vocabulary, max_states=n + 1), max_rollback=n)
        for _ in range(steps):
            guide.advance(ord("a"), return_tokens=False)
        assert guide.get_state() == steps
        guide.rollback_state(5)
        assert guide.get_state() == steps - 5 and guide.get_allowed_rollback() == steps - 5
        guide.rollback_state(steps - 6)
        assert guide.get_state() == 1


@pytest.mark.parametrize("n", [254, 255, 256, 257, 65_534, 65_535, 65_536])
def test_histories_of_the_last_state(n: int) -> None:
    """The widths of states end between these."""
    vocabulary = TinyVocabulary((b"a", b""), (1,)).build()
    dfa = TokenDFA.from_regex(f"a{{{n - 1}}}", vocabulary, max_states=n)
    assert dfa.stats.states == n
    guide = Guide(dfa, max_rollback=4)
    for token in [0] * (n - 1) + [1, 1]:
        guide.advance(token, return_tokens=False)
    ended = guide.get_state()
    guide.rollback_state(1)
    assert guide.get_state() == ended and guide.get_tokens() == [1]
    guide.rollback_state(1)
    assert guide.get_tokens() == [1] and guide.get_state() != 0
    guide.rollback_state(1)
    assert guide.get_tokens() == [0]
