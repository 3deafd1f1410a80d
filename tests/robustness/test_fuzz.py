"""A few seconds of `fuzz.py` with fixed seeds, and what it found before."""

from __future__ import annotations

import random
import time

import pytest

from grammar_engine import Grammar, GrammarSyntaxError, LimitExceededError, Limits
from grammar_engine._native import NativeExpressions, ffi, lib, native_limits, new_err
from grammar_engine.ir import OP_MULTIPLE, Builder
from robustness import fuzz

CORPUS = fuzz.Corpus()


@pytest.mark.parametrize("target", sorted(fuzz.CASES))
def test_some_cases(target, long_run):
    """The cases are fixed; how many of them there is time for is not."""
    clock = fuzz.Clock(fuzz.SLOW)
    end = time.monotonic() + (120 if long_run else 1.3)
    outcomes = set()
    number = 0
    while number < 40 or time.monotonic() < end:
        outcomes.add(fuzz.run_case(target, 2026, number, CORPUS, clock))
        number += 1
    assert "compiled" in outcomes
    assert len(outcomes) > 1


def test_mutations_are_deterministic():
    first, second = ([repr(fuzz.mutate_schema(rng, CORPUS.schema(rng))) for rng in map(random.Random, range(30))] for _ in range(2))
    assert first == second


def test_most_random_multiples_are_well_formed():
    """The core takes them, so what is behind them is tried, too."""
    n = taken = 0
    for seed in range(50):
        random_ir = fuzz.RandomIr(random.Random(seed))
        operands = random_ir.multiple()
        out, err, done = ffi.new("ge_ir **"), new_err(), ffi.new("size_t *")
        assert lib.ge_ir_new(native_limits(Limits()), out, err) == lib.GE_OK
        handle = ffi.gc(out[0], lib.ge_ir_free)
        words = ffi.new("uint32_t[]", [OP_MULTIPLE, len(operands), *operands])
        data = ffi.from_buffer("uint8_t[]", random_ir.data)
        taken += lib.ge_ir_add(handle, words, len(words), data, len(random_ir.data), done, err) == lib.GE_OK
        n += 1
    assert n * 0.7 < taken < n


@pytest.mark.parametrize("text", ['a:[]\nT:[](l.""', 'start: "a"\nT: "x" ( . l'])
def test_lark_sources_that_its_own_messages_fail_on(text):
    """The `lark` package raises a TypeError while it looks for a message. Found with --seed 13 --target lark --only 357."""
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text)
    assert caught.value.line is not None


def test_counted_ambiguity_within_the_budget_of_a_step():
    """`continuations` of 3 to 1000 multiples of 0.002: the budget of work must end it soon. Found with --seed 13 --target ir --only 511."""
    builder = Builder()
    multiple = builder.multiple_of(2, 3)
    many = builder.repeat(multiple, 3, 1000)
    expressions = NativeExpressions(builder, Limits(max_step_work=1_000_000))  # a tenth of the default
    begin = time.thread_time()
    try:
        expressions.continuations(multiple, many)
    except LimitExceededError as error:
        assert error.limit == "max_step_work"
    assert time.thread_time() - begin < fuzz.SLOW / 2
