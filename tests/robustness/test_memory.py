"""Memory stays flat: objects that come and go, texts that grow and shrink, calls that fail. GRAMMAR_ENGINE_LONG=1 does it for longer.

Resident memory is compared between the end of a first part, which fills caches and the allocator's pools, and the end of a longer second.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from grammar_engine import Grammar, GrammarEngineError, LimitExceededError, Limits, Matcher, Vocabulary, allocate_masks
from grammar_engine._native import NativeExpressions
from grammar_engine.ir import Builder

STATM = Path("/proc/self/statm")
pytestmark = pytest.mark.skipif(not STATM.exists(), reason="resident memory is read from /proc")
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}, "b": {"type": "array", "items": {"enum": [1, "x", None]}}},
}


def resident() -> int:
    """Bytes."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def flat(work, times: int, slack: int = 1 << 20) -> None:
    """`work` done `times` times more does not grow the process by `slack` bytes."""
    for i in range(times // 4 + 1):
        work(i)
    before = resident()
    for i in range(times):
        work(i)
    assert resident() - before < slack


def test_what_compiling_takes_goes_without_the_collector():
    """The expressions of a builder are the large part of it."""
    schema = {"properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["a"], "$defs": {"x": {"not": {"type": "integer"}}}}
    makers = [
        lambda: Grammar.from_json_schema(schema),
        lambda: Grammar.from_regex("a+b"),
        lambda: Grammar.from_lark('start: "a" NAME\nNAME: /[a-z]+/'),
    ]
    for make in makers:
        make()  # what grammars begin with is kept
    gc.collect()
    kept = _objects(Builder, NativeExpressions)
    gc.disable()
    try:
        for make in makers:
            make()
        assert _objects(Builder, NativeExpressions) == kept
    finally:
        gc.enable()


def _objects(*kinds: type) -> set[int]:
    return {id(found) for found in gc.get_objects() if type(found) in kinds}


def test_compile_and_free(long_run):
    vocabulary = Vocabulary.bytes()

    def work(i):
        match i % 4:
            case 0:
                grammar = Grammar.from_json_schema(SCHEMA)
            case 1:
                grammar = Grammar.from_regex(f"(a|b{i % 10})*c+")
            case 2:
                grammar = Grammar.from_choices(["a", "b", str(i % 10)])
            case _:
                grammar = Grammar.from_regex("[a-z]+")
        matcher = Matcher(grammar, vocabulary)
        matcher.mask()
        matcher.accept_bytes(b"a")

    flat(work, 100_000 if long_run else 1_500)


def test_lark_and_vocabularies(long_run):
    def work(i):
        vocabulary = Vocabulary([b"a", b"b", b"ab" * (i % 7 + 1), b""] * 50, eos=[3])
        Matcher(Grammar.from_lark('start: "a" start | "b"'), vocabulary).mask()

    flat(work, 10_000 if long_run else 300)


def test_accept_and_rollback(long_run):
    vocabulary = Vocabulary.builtin()
    matcher = Matcher(Grammar.from_json_schema(SCHEMA), vocabulary)
    tokens = vocabulary.encode_greedy(b'{"a": "hello world", "b": [1, "x"]}'.replace(b" world", b""))
    buffer = allocate_masks(1, vocabulary)

    def work(i):
        assert matcher.accept_tokens(tokens) == len(tokens)
        matcher.fill_mask(buffer)
        twin = matcher.fork()
        twin.rollback(3)
        matcher.rollback(len(tokens))
        assert matcher.validate(tokens) == len(tokens)

    flat(work, 1_000_000 if long_run else 10_000)  # of some ten tokens each


def test_a_history_costs_what_it_says():
    """16 bytes a step are documented: a text of a million tokens is some 16 MB, and the next text has the same memory."""
    grammar, vocabulary = Grammar.from_regex("a*"), Vocabulary.bytes()
    before, after = resident(), []
    for _ in range(5):
        matcher = Matcher(grammar, vocabulary)
        for _ in range(100):
            assert matcher.accept_tokens([97] * 10_000) == 10_000
        assert resident() - before < 48 << 20
        del matcher
        after.append(resident())
    assert after[-1] - after[1] < 4 << 20  # not from the first: the allocator settles


def test_failures(long_run):
    vocabulary = Vocabulary([b"x", b"yy", b""], eos=[2])
    stuck = Grammar.from_regex("a|xb")
    small = Grammar.from_regex(".*a.{12}", limits=Limits(max_lexer_states=40))
    buffer = allocate_masks(2, vocabulary)

    def work(i):
        matcher = Matcher(stuck, vocabulary)
        for call in (
            lambda: Grammar.from_regex("(" * (i % 9 + 1)),
            lambda: Grammar.from_regex(r"(a)\1"),
            lambda: Grammar.from_regex("[a-c]{5}", limits=Limits(max_expressions=5 + i % 20)),
            lambda: Grammar.from_json_schema({"items": {"type": "nope"}}),
            lambda: Grammar.from_json_schema({"type": "string", "minLength": 2, "maxLength": 1}),
            lambda: Vocabulary([b""], eos=[]),
            lambda: matcher.accept(0, strict=True) and matcher.mask(),
            lambda: matcher.fill_mask(memoryview(buffer), 1),
            lambda: Matcher(small, vocabulary).accept_bytes(bytes(random.Random(i % 50).choices(b"ab", k=50))),
        ):
            with contextlib.suppress(GrammarEngineError):
                call()

    flat(work, 20_000 if long_run else 400)


def test_eviction_and_generations(long_run):
    vocabulary = Vocabulary.builtin()
    grammar = Grammar.from_json_schema(SCHEMA, limits=Limits(max_mask_bytes=3_000, max_generation_bytes=50_000))
    rng = random.Random(3)

    def work(i):
        matcher = Matcher(grammar, vocabulary)
        for _ in range(6):
            if not matcher.accept(rng.choice(matcher.allowed_tokens())):
                break

    flat(work, 10_000 if long_run else 300, slack=2 << 20)
    assert grammar.stats.bytes < 500_000


def test_limit_errors_do_not_pile_up_engines():
    """A matcher that meets a limit again and again holds one engine, not one for each time."""
    vocabulary = Vocabulary.builtin()
    grammar = Grammar.from_regex(".*a.{14}", limits=Limits(max_lexer_states=300))
    matcher = Matcher(grammar, vocabulary)
    caught = []

    def work(i):
        try:
            matcher.accept_bytes(bytes(random.Random(i % 60).choices(b"ab", k=400)))
            matcher.reset()
        except LimitExceededError as error:
            caught[:] = [error]

    flat(work, 400)
    assert caught


CRASH = """
import gc
from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Vocabulary, allocate_masks, fill_masks
vocabulary = Vocabulary.bytes()
stuck = Matcher(Grammar.from_regex("b"), Vocabulary([b"a"] * 257, eos=[]))
whole = Matcher(Grammar.from_regex("a*"), vocabulary)
def scarce():
    for work in range(10, 10_000, 5):  # just enough to compile
        try:
            return Matcher(Grammar.from_regex("(a|b|ab|[^c])*.{50}", limits=Limits(max_step_work=work)), vocabulary)
        except LimitExceededError:
            pass
poor = scarce()
failures = []
def fail(call):
    try:
        call()
    except Exception as error:
        failures.append(type(error).__name__)
        kept = error  # error -> traceback -> this frame -> kept: a cycle, with the frames of the library and their buffers in it
for kind in ("numpy", "memoryview"):
    for make in (lambda: allocate_masks(1, vocabulary, kind=kind), lambda: bytearray(36), lambda: memoryview(bytearray(36)), lambda: memoryview(bytearray(37))[1:]):
        fail(lambda: stuck.fill_mask(make()))
        fail(lambda: whole.fill_mask(make(), 5))
        fail(lambda: whole.fill_mask(make(), None))
        fail(lambda: poor.fill_mask(make()))
        fail(lambda: poor.accept_bytes(b"ab" * 500))
        fail(lambda: fill_masks([whole, stuck], make(), rows=[0, 0]))
        fail(lambda: fill_masks([whole, stuck], make(), rows=[0, 0], threads=2))
        fail(lambda: fill_masks([whole, None], make(), rows=[7, 0]))
        gc.collect()
assert {"VocabularyError", "IndexError", "TypeError", "ValueError", "LimitExceededError"} <= {*failures}, {*failures}
print("alive")
"""


def test_buffers_in_cycles_of_garbage(tmp_path):
    """An exception kept in its own frame makes garbage of the mask buffer in a cycle; the collector frees it without a crash."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    run = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120)
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "alive", "")


def test_exceptions_are_freed_without_the_collector():
    """A refusal leaves no cycle behind: what its frames held is freed at once."""
    matcher = Matcher(Grammar.from_regex("b"), Vocabulary([b"a"], eos=[]))
    limited = Matcher(Grammar.from_regex(".*a.{14}", limits=Limits(max_lexer_states=20)), Vocabulary.bytes())
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            for call in (
                matcher.mask,
                limited.mask,
                lambda: limited.accept_bytes(b"ab" * 50),
                lambda: matcher.accept(0, strict=True),
                lambda: matcher.rollback(5),
            ):
                with contextlib.suppress(GrammarEngineError, ValueError):
                    call()
        assert gc.collect() == 0
    finally:
        gc.enable()
