"""Batches: `step_masks` does what `accept` and `fill_mask` do one by one; failures stay with their matcher. And `mask_changed`."""

from __future__ import annotations

import os
import pickle
import random
import time

import numpy as np
import pytest

from grammar_engine import (
    BatchError,
    Grammar,
    LimitExceededError,
    Limits,
    MaskStep,
    Matcher,
    Switches,
    Vocabulary,
    VocabularyError,
    allocate_masks,
    fill_masks,
    step_masks,
)

VOCABULARY = Vocabulary.bytes()
(END,) = VOCABULARY.eos
PATTERNS = ["[a-c]*", "(ab|ac|b{1,3})+", "a?b?c?", "[^a]{2,5}"]


def matchers_of(patterns=PATTERNS, **options):
    return [Matcher(Grammar.from_regex(pattern), VOCABULARY, **options) for pattern in patterns]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_as_one_by_one(threads):
    rng = random.Random(threads)
    batch, alone = matchers_of(PATTERNS * 3), matchers_of(PATTERNS * 3)
    masks, expected = allocate_masks(len(batch), VOCABULARY), allocate_masks(len(batch), VOCABULARY)
    for _ in range(40):
        tokens = [rng.choice([97, 98, 99, 100, END, None, -1, 1 << 40, 1 << 90]) for _ in batch]
        rows = rng.sample(range(len(batch)), len(batch))
        step = step_masks(batch, tokens, masks, rows=rows, threads=threads)
        for i, matcher in enumerate(alone):
            assert step.accepted[i] is (tokens[i] is not None and matcher.accept(tokens[i]))
            assert step.needed[i] is matcher.fill_mask(expected, rows[i])
            assert step.changed[i] is matcher.mask_changed
            assert batch[i].tokens == matcher.tokens
        assert (masks == expected).all()
        for i in range(len(batch)):  # so that texts do not all end
            if rng.random() < 0.2:
                batch[i].reset()
                alone[i].reset()


def test_a_refused_token_leaves_the_text_and_its_mask():
    (matcher,), masks = matchers_of(["ab"]), allocate_masks(1, VOCABULARY)
    assert step_masks([matcher], [ord("b")], masks) == ([False], [True], [True])
    assert matcher.tokens == []
    assert masks.tobytes() == matcher.mask()
    assert np.flatnonzero(np.unpackbits(masks.view(np.uint8), bitorder="little")).tolist() == [ord("a")]


def test_a_finished_text():
    (matcher,), masks = matchers_of(["a"]), allocate_masks(1, VOCABULARY)
    for token, accepted in (ord("a"), True), (END, True), (ord("a"), False), (END, True), (None, False):
        assert step_masks([matcher], [token], masks).accepted == [accepted]
    assert matcher.tokens == [ord("a"), END, END]
    assert np.flatnonzero(np.unpackbits(masks.view(np.uint8), bitorder="little")).tolist() == [END]


def test_rows_of_none_are_left():
    first, last = matchers_of(["a+", "b+"])
    masks = np.full_like(allocate_masks(3, VOCABULARY), 7)
    assert step_masks([first, None, last], [ord("a"), 5, ord("a")], masks) == ([True, False, False], [True] * 3, [True, False, True])
    assert (masks[1] == 7).all()
    assert masks[2].tobytes() == last.mask()
    assert step_masks([None], [None], masks) == ([False], [True], [False])
    assert step_masks([], [], masks) == MaskStep([], [], [])


@pytest.mark.parametrize("integers", [tuple, iter, np.array, lambda tokens: np.array(tokens, np.uint8)])
def test_any_integers(integers):
    batch, masks = matchers_of(["ab", "b"]), allocate_masks(2, VOCABULARY)
    assert step_masks(batch, integers([97, 98]), masks).accepted == [True, True]


@pytest.mark.parametrize(
    ("change", "kind", "reason"),
    [
        ({"tokens": [97]}, ValueError, "1 tokens for 2 matchers"),
        ({"tokens": [97, 97.0]}, TypeError, "token"),
        ({"tokens": [97, True]}, TypeError, "token"),
        ({"tokens": [97, "a"]}, TypeError, "token"),
        ({"tokens": 97}, TypeError, "int"),
        ({"rows": [0]}, ValueError, "1 rows for 2 matchers"),
        ({"rows": []}, ValueError, "0 rows for 2 matchers"),
        ({"rows": [0, 2]}, IndexError, "row 2"),
        ({"rows": [0, -1]}, IndexError, "row -1"),
        ({"rows": [0, True]}, TypeError, "row"),
        ({"threads": 0}, ValueError, "threads"),
        ({"threads": True}, TypeError, "threads"),
        ({"threads": None}, TypeError, "threads"),
        ({"buffer": np.zeros((1, 9), np.int32)}, IndexError, "row 1"),
        ({"buffer": np.zeros((2, 8), np.int32)}, ValueError, "9"),
    ],
)
def test_arguments_that_do_not_fit_change_nothing(change, kind, reason):
    batch, masks = matchers_of(["a+", "a+"]), np.full((2, 9), 7, np.int32)
    arguments = {"tokens": [97, 97], "buffer": masks, "rows": [0, 1], "threads": 1} | change
    with pytest.raises(kind, match=reason):
        step_masks(batch, **arguments)
    assert [matcher.tokens for matcher in batch] == [[], []]
    assert (masks == 7).all()


def test_a_matcher_twice():
    (matcher,), masks = matchers_of(["a{3}"]), allocate_masks(2, VOCABULARY)
    with pytest.raises(ValueError, match="twice"):
        step_masks([matcher, matcher], [97, 97], masks, threads=2)
    assert matcher.tokens == []
    assert step_masks([matcher, matcher], [97, 97], masks).accepted == [True, True]
    assert matcher.tokens == [97, 97]


def test_a_matcher_twice_that_meets_a_ceiling():
    """What comes behind its failure waits until that is dealt with."""
    grammar = Grammar.from_lark('start: "(" start ")" | "[" start "]" | "x"', limits=Limits(max_rows=200))
    matcher, other = Matcher(grammar, VOCABULARY), Matcher(grammar, VOCABULARY)
    assert matcher.accept_bytes(b"(" * 50)
    assert other.accept_bytes(b"(" * 60)
    assert Matcher(grammar, VOCABULARY).accept_bytes(b"[" * 190)  # in a second generation: the first has no room for another "["
    masks = allocate_masks(4, VOCABULARY)
    tokens = [ord("["), ord("("), None, ord("x")]
    step = step_masks([matcher, matcher, other, matcher], tokens, masks)
    assert step.accepted == [True, True, False, True]
    assert matcher.tokens == [-1, *map(ord, "[(x")]
    for row, closing in (0, b"x])"), (1, b"x)]"), (3, b")]"):
        alone = Matcher(Grammar.from_bytes(grammar.to_bytes()), VOCABULARY)
        alone.accept_bytes(b"(" * 50 + b"[(x"[: row + 1 - row // 3])
        assert masks[row].tobytes() == alone.mask()
        assert alone.accept_bytes(closing)


@pytest.mark.parametrize("threads", [1, 4])
def test_a_failure_stays_with_its_matcher(threads):
    """One cannot accept, one has no token to go on with; the others are served."""
    limited = Grammar.from_regex("[ab]*a[ab]{9}", limits=Limits(max_lexer_states=40))
    vocabulary = Vocabulary([b"a", b"b", b""], eos=[2])
    stuck = Grammar.from_regex("ac")
    batch = [Matcher(grammar, vocabulary) for grammar in (Grammar.from_regex("a+"), limited, Grammar.from_regex("[ab]+"))]
    batch.insert(2, None)
    masks, rng = allocate_masks(4, vocabulary), random.Random(3)
    for _ in range(2000):  # until the limit is met
        try:
            before = batch[1].tokens
            step_masks(batch, [0, token := rng.randrange(2), None, 1], masks, threads=threads)
        except BatchError as error:
            failed = error
            break
    assert list(failed.errors) == [1]
    assert isinstance(failed.errors[1], LimitExceededError)
    assert failed.errors[1].limit == "max_lexer_states"
    assert batch[1].tokens == before + [token] * failed.step.accepted[1]
    assert failed.step.accepted[0] is failed.step.accepted[3] is True
    assert masks[3].tobytes() == batch[3].mask()
    batch[1], batch[2] = None, Matcher(stuck, vocabulary)
    with pytest.raises(BatchError, match="1 of 4 matchers have failed, number 2 with: no token") as caught:
        step_masks(batch, [0, None, 0, 0], masks, threads=threads)
    assert isinstance(caught.value.errors[2], VocabularyError)
    assert caught.value.errors[2].missing == b"c"
    assert caught.value.step.accepted == [True, False, True, True]
    assert caught.value.step.needed[2] is caught.value.step.changed[2] is True  # no copy that was made before serves it
    assert batch[2].tokens == [0]
    assert masks[0].tobytes() == batch[0].mask()
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.step == caught.value.step
    assert str(again) == str(caught.value)


def test_a_fresh_generation_within_a_batch():
    """A matcher that meets a ceiling which others have used up moves on, as it does when it is called alone."""
    grammar = Grammar.from_regex("x[ab]{0,50}|y[ab]{0,50}z", limits=Limits(max_configurations=60))
    batch, greedy = [Matcher(grammar, VOCABULARY) for _ in range(3)], Matcher(grammar, VOCABULARY)
    assert greedy.accept_bytes(b"x" + b"a" * 40)
    masks, tokens, engine = allocate_masks(3, VOCABULARY), b"y" + b"ab" * 15, batch[0]._engine
    for token in tokens:
        assert step_masks(batch, [token] * 3, masks).accepted == [True] * 3
        assert masks[2].tobytes() == batch[2].mask()
    assert all(matcher.tokens == list(tokens) and matcher._engine is not engine for matcher in batch)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts the threads of the process where Linux shows them")
def test_threads_end_with_the_call():
    masks = allocate_masks(16, VOCABULARY)
    before = len(os.listdir("/proc/self/task"))
    for i in range(30):
        batch = [Matcher(Grammar.from_regex(f"x{{{i}}}[a-f]{{{k + 1}}}"), VOCABULARY) for k in range(16)]
        fill_masks(batch, masks, threads=16)
        assert [row.tobytes() for row in masks] == [matcher.mask() for matcher in batch]
    for _ in range(100):  # one that was waited for may be shown for a moment
        if len(os.listdir("/proc/self/task")) <= before:
            break
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) <= before


# --- mask_changed -------------------------------------------------------------------------------------------------------


def test_changed():
    (matcher,), masks = matchers_of(["[a-c]*d[a-c]*"]), allocate_masks(2, VOCABULARY)
    assert matcher.mask_changed
    seen = []
    for token in b"abdab":
        matcher.fill_mask(masks)
        seen.append(matcher.mask_changed)
        assert matcher.accept(token)
    assert seen == [True, False, False, True, False]
    matcher.fill_mask(masks)
    assert not matcher.mask_changed
    matcher.fill_mask(masks, 1)
    assert matcher.mask_changed  # another row
    matcher.rollback(3)
    matcher.fill_mask(masks, 1)
    assert matcher.mask_changed
    twin = matcher.fork()
    assert twin.mask_changed
    twin.fill_mask(masks, 1)
    assert twin.mask_changed  # it has not written there


def test_equal_masks_of_different_states_are_not_a_change():
    """Counting characters leads through states that are all different, and whose masks are the same."""
    (matcher,), masks = matchers_of(["[a-c]{0,500}"]), allocate_masks(1, VOCABULARY)
    matcher.fill_mask(masks)
    for _ in range(20):
        assert step_masks([matcher], [ord("a")], masks).changed == [False]


def test_changed_after_the_end():
    (matcher,), masks = matchers_of(["a"]), allocate_masks(1, VOCABULARY)
    assert [step_masks([matcher], [token], masks).changed for token in (97, END, END)] == [[True], [True], [False]]


def test_changed_after_a_failure():
    vocabulary = Vocabulary([b"a", b""], eos=[1])
    matcher, masks = Matcher(Grammar.from_regex("a+(bc)?|c"), vocabulary), allocate_masks(1, vocabulary)
    for _ in range(2):
        matcher.fill_mask(masks)
    assert not matcher.mask_changed
    assert matcher.accept_bytes(b"ab")
    with pytest.raises(VocabularyError):
        matcher.fill_mask(masks)
    assert matcher.mask_changed
    matcher.rollback(1)
    matcher.fill_mask(masks)
    assert matcher.mask_changed


@pytest.mark.parametrize("options", [{}, {"switches": Switches(mask_cache=False)}])
@pytest.mark.parametrize("limits", [None, Limits(max_mask_bytes=80), Limits(max_generation_bytes=1)])
def test_not_changed_is_true(options, limits):
    """Wherever it says that nothing has changed, nothing has."""
    rng = random.Random(5)
    grammar = Grammar.from_regex("([a-c]{1,4}|d[a-e]*;)*", limits=limits)
    matchers = [Matcher(grammar, VOCABULARY, **options) for _ in range(4)]
    masks, unchanged = allocate_masks(4, VOCABULARY), 0
    for _ in range(300):
        i = rng.randrange(4)
        matcher, before = matchers[i], masks[i].tobytes()
        if rng.random() < 0.1 and matcher.tokens:
            matcher.rollback(rng.randrange(len(matcher.tokens)))
        matcher.accept(rng.choice(b"abcde;;"))
        matcher.fill_mask(masks, i)
        if not matcher.mask_changed:
            unchanged += 1
            assert masks[i].tobytes() == before
    assert unchanged > 20


def test_a_misaligned_buffer_changes_nothing() -> None:
    np = pytest.importorskip("numpy")
    vocabulary = Vocabulary.bytes()
    matcher = Matcher(Grammar.from_regex("[0-9]+"), vocabulary)
    words = (vocabulary.width + 31) // 32
    masks = np.frombuffer(bytearray(4 * words + 1), np.uint8)[1:].view(np.int32).reshape(1, words)
    with pytest.raises(ValueError, match="not aligned"):
        step_masks([matcher], [ord("1")], masks)
    assert matcher.tokens == []


# --- the usual kind, which is done without Python for each matcher ----------------------------------------------------------------


def usual(monkeypatch):
    """How many batches went that way."""
    from grammar_engine import batch

    if batch.run_batch(([]), None, batch.ffi.NULL, 1, 1, None) is None and batch.run_batch.__name__ == "_none":
        pytest.skip("GRAMMAR_ENGINE_NO_FAST_CALLS is set")
    run, counted = batch.run_batch, []

    def count(*arguments):
        done = run(*arguments)
        counted.append(done is not None)
        return done

    monkeypatch.setattr(batch, "run_batch", count)
    return counted


@pytest.mark.parametrize("seed", range(4))
def test_batches_of_the_usual_kind_do_the_same(seed, monkeypatch):
    rng = random.Random(seed)
    vocabulary = Vocabulary.bytes()
    grammars = [Grammar.from_regex(pattern) for pattern in ("[a-c]+", "(ab)*", "a{2,5}", "[^b]*")]
    counted = usual(monkeypatch)
    n = 9
    both = [[Matcher(grammars[i % 4], vocabulary) for i in range(n)] for _ in range(2)]
    for turn in range(12):
        tokens = [None if rng.random() < 0.2 else rng.choice([97, 98, 99, 256, 300, 1 << 40]) for _ in range(n)]
        rows = rng.sample(range(n + 3), n) if rng.random() < 0.5 else None
        masks = [allocate_masks(n + 3, vocabulary) for _ in range(2)]
        done = [
            step_masks(both[0], tokens, masks[0], rows=rows),
            step_masks(both[1], tuple(tokens), masks[1], rows=rows and tuple(rows)),
        ]
        assert counted == [True, False] * (turn + 1)
        assert done[0] == done[1]
        assert (masks[0] == masks[1]).all()
        assert all(type(flag) is bool for flags in done[0] for flag in flags)
    assert [matcher.tokens for matcher in both[0]] == [matcher.tokens for matcher in both[1]]


def test_batches_of_another_kind(monkeypatch):
    numpy = pytest.importorskip("numpy")
    vocabulary, other = Vocabulary.bytes(), Vocabulary([b"a"] * 1_000, eos=[0])
    grammar = Grammar.from_regex("[ab]*")
    counted = usual(monkeypatch)
    masks = allocate_masks(2, vocabulary)

    def two():
        return [Matcher(grammar, vocabulary), Matcher(grammar, vocabulary)]

    class Mine(Matcher):
        pass

    assert step_masks([Matcher(grammar, vocabulary), Mine(grammar, vocabulary)], [97, 98], masks).accepted == [True, True]
    assert step_masks([Matcher(grammar, vocabulary), None], [97, 98], masks).accepted == [True, False]
    assert step_masks(two(), [numpy.int64(97), 98], masks).accepted == [True, True]
    assert step_masks(two(), [-1, 1 << 70], masks).accepted == [False, False]
    assert fill_masks(two(), masks, rows=[numpy.int32(1), 0]) == [True, True]
    for bad, kind in (
        (lambda: fill_masks(two(), masks, rows=[0, 2]), IndexError),
        (lambda: fill_masks(two(), masks, rows=[0]), ValueError),
        (lambda: step_masks(two(), [97], masks), ValueError),
        (lambda: step_masks(two(), ["a", 97], masks), TypeError),
        (lambda: step_masks(two(), [True, 97], masks), TypeError),
        (lambda: fill_masks([*two(), *two()], masks), IndexError),
        (lambda: fill_masks([Matcher(grammar, vocabulary), Matcher(grammar, other)], masks), ValueError),
    ):
        with pytest.raises(kind):
            bad()
    assert counted and not any(counted)
    assert fill_masks(two(), masks, rows=[1, 0]) == [True, True] and counted[-1]


def test_failures_of_the_usual_kind(monkeypatch):
    counted = usual(monkeypatch)
    vocabulary = Vocabulary([b"a", b""], eos=[1])  # there is no "b"
    matchers = [Matcher(Grammar.from_regex("a*"), vocabulary), Matcher(Grammar.from_regex("ab"), vocabulary)]
    masks = allocate_masks(2, vocabulary)
    with pytest.raises(BatchError) as caught:
        step_masks(matchers, [0, 0], masks)
    assert counted == [True]
    assert list(caught.value.errors) == [1] and isinstance(caught.value.errors[1], VocabularyError)
    assert caught.value.step.accepted == [True, True]
    assert [matcher.tokens for matcher in matchers] == [[0], [0]]
