"""Turns of a decoding loop in C do what those in Python do: same tokens, masks, closings and budgets; same scores."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

from grammar_engine import Grammar, LimitExceededError, Matcher, Switches, Vocabulary
from grammar_engine._native import Held
from grammar_engine.decoding import stream
from grammar_engine.decoding.apply import RowMask
from grammar_engine.decoding.budget import BudgetedText
from grammar_engine.decoding.models import NoiseModel

pytestmark = pytest.mark.skipif(RowMask.__base__ is Held, reason="GRAMMAR_ENGINE_NO_FAST_CALLS is set")

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 6},
        "kinds": {"type": "array", "items": {"enum": ["red", "green", None]}, "maxItems": 3},
        "at": {"type": "integer", "minimum": -20, "maximum": 3000},
    },
    "required": ["kinds", "at"],
    "additionalProperties": False,
}
DISTINCT = {"type": "array", "items": {"enum": [1, 2, 3, "one"]}, "uniqueItems": True, "minItems": 2}
GRAMMARS = [
    lambda: Grammar.from_json_schema(SCHEMA),
    lambda: Grammar.from_json_schema(DISTINCT),
    lambda: Grammar.from_regex("(abc|abd){2,9}x?"),
    lambda: Grammar.from_lark('start: "(" start ")" | "begin" (" " start)* "end"'),
    lambda: Grammar.from_lark('start: A B | B A\nA: /a+b?/\nB: "b"', lexing="longest"),
]
LONGER = [b'":', b'","', b'{"', b'"}', b"[]", b"red", b"green", b'"at"', b'"kinds"', b"null", b"abc", b"begin", b"end", b"((", b"))"]
WORDS = Vocabulary([*(bytes([byte]) for byte in range(256)), *LONGER, b"", b""], eos=[271, 272])
SOME = Vocabulary([*(bytes([byte]) for byte in range(33, 127)), *LONGER, b""], eos=[109], width=200)  # no blank: not every text is spelt
SWITCHES = [Switches(), Switches(state_cache=False), Switches(mask_cache=False)]


def seen(text: BudgetedText) -> object:
    """All that a loop can see of a text."""
    mask = text.mask.tolist() if text.has_choice else None
    return text.matcher.tokens, text.budget, text.closing, text.has_choice, mask


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("make", GRAMMARS)
def test_texts_are_the_same(make, switches):
    rng = random.Random(1)
    refused = alone = ended = 0
    for turn in range(60):
        grammar, vocabulary, must_close = make(), rng.choice([WORDS, SOME]), rng.random() < 0.8
        budget = len(Matcher(grammar, vocabulary).closing_tokens()) + rng.choice([0, 1, 2, 5, 100])
        fast = BudgetedText(Matcher(grammar, vocabulary, switches=switches), budget, must_close)
        slow = BudgetedText.__base__(Matcher(make(), vocabulary), budget, must_close)
        while fast.budget and not fast.matcher.is_terminated:
            forced = [text.write_alone() for text in (fast, slow)] if turn % 3 else [[], []]
            assert forced[0] == forced[1]
            alone += len(forced[0])
            if fast.matcher.is_terminated or not fast.budget:
                break
            if not forced[0]:
                fast.fill_mask()
                slow.fill_mask()
                assert fast.mask.tolist() == slow.mask.tolist() == np.frombuffer(fast.matcher.fork().mask(), np.int32).tolist()
                token = rng.choice(fast.matcher.allowed_tokens())
                fits = [text.accept(token) for text in (fast, slow)]
                assert fits[0] == fits[1]
                refused += not fits[0]
                if not fits[0] and rng.random() < 0.5:
                    assert fast.way_out() == slow.way_out()
            assert seen(fast) == seen(slow)
            if rng.random() < 0.1:
                fast, slow = fast.fork(), slow.fork()
        ended += fast.matcher.is_complete
        assert fast.matcher.is_complete or not must_close
    assert refused > 5 and alone > 20 and ended > 40


@pytest.mark.parametrize("make", GRAMMARS)
def test_forced_text_is_kept(make):
    """What must come is kept with the states; asked again, and without that, it is the same."""
    rng = random.Random(2)
    plain, kept = (Matcher(make(), WORDS, switches=switches) for switches in (Switches(state_cache=False), Switches()))
    for _ in range(200):
        assert kept.forced_bytes() == kept.forced_bytes() == plain.forced_bytes()
        token = rng.choice(kept.allowed_tokens())
        assert kept.accept(token) and plain.accept(token)
        if kept.is_terminated:
            kept.reset()
            plain.reset()


def test_after_warming_a_turn_finds_all_that_it_asks_for(monkeypatch):
    """What is not known yet is left to the methods in Python, which take the lock.
    After warming that is no turn; after masks alone, each in a new state."""
    document = b'{"name":"abc","kinds":["red",null],"at":-7}'
    kept = [getattr(BudgetedText, name) for name in ("_turn_to", "fill_mask")]
    asked = []
    monkeypatch.setattr(BudgetedText, "_turn_to", lambda text, tokens: asked.append(tokens) or kept[0](text, tokens))
    monkeypatch.setattr(BudgetedText, "fill_mask", lambda text: asked.append("forced text") or kept[1](text))

    def left_to_python(grammar):
        text = BudgetedText(Matcher(grammar, WORDS), 100, close_in_time=True)
        asked.clear()
        while (n_read := sum(len(WORDS.token_bytes(token)) for token in text.matcher.tokens)) < len(document):
            if not text.write_alone():
                assert text.accept(WORDS.encode_greedy(document[n_read:])[0])
        return len(asked)

    warmed, masks_only, cold = (Grammar.from_json_schema(SCHEMA, whitespace="compact") for _ in range(3))
    assert warmed.warm(WORDS, seconds=0, examples=[document]) > 10
    matcher = Matcher(masks_only, WORDS)
    for token in WORDS.encode_greedy(document):
        matcher.mask()
        assert matcher.accept(token)
    assert left_to_python(warmed) == 0
    assert left_to_python(masks_only) == left_to_python(cold) > 4


def test_what_is_no_single_token_goes_to_python():
    text = BudgetedText(Matcher(Grammar.from_regex("[ab]{8}"), WORDS), 20, close_in_time=True)
    assert text.accept(ord("a")) and text.accept(ord("a"), ord("b")) and text.accept(np.int64(ord("a"))) and text.accept()
    for token in ("a", [ord("a")]):
        with pytest.raises(TypeError):
            text.accept(token)
    assert bytes(text.matcher.tokens) == b"aaba" and text.budget == 16


def test_what_was_never_begun_holds_nothing():
    empty = BudgetedText.__new__(BudgetedText)
    for call in (lambda: empty.accept(1), empty.write_alone, lambda: RowMask.__new__(RowMask).masked(np.zeros(4, np.float32))):
        with pytest.raises(AttributeError):
            call()


def test_a_matcher_at_work_elsewhere_is_left_alone():
    """Two threads with one text each, over one grammar whose states are all still to be made."""
    grammar, texts = Grammar.from_json_schema(SCHEMA), []

    def write(seed):
        rng = random.Random(seed)
        text = BudgetedText(Matcher(grammar, WORDS), 60, close_in_time=True)
        while not text.matcher.is_terminated:
            if not text.write_alone():
                text.accept(rng.choice(text.matcher.allowed_tokens()))
        texts.append((seed, text.matcher.tokens))

    threads = [threading.Thread(target=write, args=(seed % 4,)) for seed in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 12 and len({(seed, tuple(tokens)) for seed, tokens in texts}) == 4


# --- scores -----------------------------------------------------------------------------------------------------------


def rows(rng, width):
    """Scores of one row: what the core takes, and what it leaves to Python."""
    row = rng.normal(size=width).astype(np.float32)
    row[rng.random(width) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 0.0])
    return [row, row.astype(np.float64), row.astype(np.float16), np.repeat(row, 2)[::2], row.astype(">f4"), np.array(row, ndmin=2)]


def test_scores_are_the_same():
    rng = np.random.default_rng(3)
    many = 0
    for turn in range(400):
        width, n_words = int(rng.integers(1, 2500)), int(rng.integers(1, 80))
        words = rng.integers(0, 2**32, n_words, dtype=np.uint64).astype(np.uint32)
        words[rng.random(n_words) < rng.random()] = rng.choice([0, 2**32 - 1])
        fast, slow = RowMask(words.view(np.int32)), RowMask.__base__(words.view(np.int32))
        for row, again in zip(rows(np.random.default_rng(turn), width), rows(np.random.default_rng(turn), width)):
            results = []
            for mask, scores in ((fast, row), (slow, again)):
                try:
                    tokens, allowed = mask.masked(scores)
                    many += tokens is None
                    results.append(
                        (None if tokens is None else tokens[: len(allowed)].tolist(), allowed.dtype, allowed.tobytes(), scores.tobytes())
                    )
                except (TypeError, ValueError) as error:
                    results.append((type(error), str(error)))
            assert results[0] == results[1]
    assert many > 100


def test_scores_that_are_read_only_stay():
    row = np.zeros(2000, np.float32)
    row.flags.writeable = False
    for mask in (RowMask(np.zeros(1, np.int32)), RowMask(np.full(62, -1, np.int32))):
        with pytest.raises(ValueError, match="read-only"):
            mask.masked(row)
    assert not row.any()


def test_a_limit_is_told_by_python(monkeypatch):
    text = BudgetedText(Matcher(Grammar.from_regex("[ab]{9}"), WORDS), 20, close_in_time=True)

    def fail(*_):
        raise LimitExceededError("max_rows", 10)

    monkeypatch.setattr(Matcher, "accept_tokens", fail)
    with pytest.raises(LimitExceededError):
        text.accept(ord("c"))  # which a turn does not take


def test_texts_that_are_over_leave_their_memory_to_others():
    grammar = Grammar.from_regex("[ab]{9}")
    first, second = (BudgetedText(Matcher(grammar, WORDS), 20, close_in_time=True) for _ in range(2))
    assert first.mask is not second.mask
    first.accept(ord("a"))
    memory, words = first.mask, second.mask.copy()
    first.leave()
    third = BudgetedText(Matcher(Grammar.from_regex("ax*"), WORDS), 7, close_in_time=False)
    assert third.mask is memory
    assert (third.budget, third.close_in_time, third.closing) == (7, False, [])
    assert third.mask.tobytes() == Matcher(Grammar.from_regex("ax*"), WORDS).mask()
    third.leave()
    other = BudgetedText(Matcher(grammar, Vocabulary([b"a", b"b", b""], eos=[2])), 20, close_in_time=True)
    assert other.mask is not memory
    assert len(other.mask) == 1
    assert (second.mask == words).all()


def test_a_stream_that_is_left_gives_its_memory_back(monkeypatch):
    left = []
    monkeypatch.setattr(BudgetedText, "leave", lambda text: left.append(text))
    for n in (1, 3, 100):
        steps = stream(NoiseModel(WORDS.width), [271], Grammar.from_regex("[ab]{9}"), WORDS, max_new_tokens=12)
        for _ in range(n):
            next(steps, None)
        steps.close()
        assert len(left) == 1
        assert left.pop().mask is not None
