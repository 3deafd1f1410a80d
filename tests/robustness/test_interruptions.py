"""Exceptions that come from outside, handlers and finalizers that call the library, and forks: nothing leaks, nothing hangs.

Each in a process of its own, as what goes wrong is the memory of a process, or its end.
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import grammar_engine

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer") or not hasattr(os, "fork"), reason="no timers, or no forks")

COMMON = """
import faulthandler, gc, os, random, signal, threading, time
from grammar_engine import Grammar, GrammarCache, Matcher, TokenDFA, Vocabulary
faulthandler.dump_traceback_later(100, exit=True)
rng = random.Random(0)

class Interruption(Exception):
    pass

def interrupted(work, latest):
    "Call `work`, and have it interrupted after up to so many seconds; whether it was."
    is_armed = True
    def handler(*_):
        if is_armed:
            raise Interruption
    signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(2e-5, latest))
        work()
        is_armed = False
    except Interruption:
        is_armed = False
        return True
    finally:
        is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    return False
"""

LEAK = """
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

vocabulary = Vocabulary.builtin()
def pattern(i):
    return r"(?=.*[0-9])(?=.*[a-z]).{8,%d}" % (40 + i % 9)
def dfa(i):
    return TokenDFA.from_grammar(Grammar.from_regex("[a-f]{1,%d}" % (20 + i % 5)), Vocabulary.bytes())
kept = [Grammar.from_regex(pattern(i)) for i in range(300)]
blob = kept[0].to_bytes()
works = {
    "matcher": (lambda i: Matcher(Grammar.from_bytes(blob), vocabulary), 2e-3),
    "compile": (lambda i: Grammar.from_regex(pattern(i)), 4e-4),
    "vocabulary": (lambda i: Matcher(kept[0], Vocabulary.bytes()), 2e-3),
    "automaton": (dfa, 2e-3),
}
for name, (work, latest) in works.items():
    for i in range(200):
        interrupted(lambda: work(i), latest)
    before, n, begun = resident(), 0, time.monotonic()
    for i in range(20_000):
        n += interrupted(lambda: work(i), latest)
        if n == 300 or time.monotonic() - begun > 15:
            break
    grown = resident() - before
    print(name, n, grown // 1024)
    assert grown < 12 << 20, (name, n, grown)
"""

CACHE = """
cache = GrammarCache(max_grammars=10)
sources, n = ["a{%d}" % i for i in range(1, 400)], 0
cache.from_regex("b")  # imports the front end: where an import is interrupted, the interpreter may keep its lock for good
for i in range(2000):
    n += interrupted(lambda: cache.from_regex(sources[i % len(sources)]), 5e-4)
assert n > 20, n
done = []
thread = threading.Thread(target=lambda: done.extend(map(cache.from_regex, sources)))
thread.start()
thread.join(60)
assert len(done) == len(sources), len(done)
assert cache.stats.grammars <= 10
"""

PREFIXES = """
from collections import Counter
from grammar_engine.decoding.prefix_cache import MatcherCache, PrefixCache
n, let_go, numbers = 0, Counter(), iter(range(1 << 40))
for partial in (False, True):
    cache = PrefixCache(2, max_idle_blocks=40, share_partial=partial, on_release=lambda payload: let_go.update([payload]))
    matchers, grammar, vocabulary = MatcherCache(2, max_idle_matchers=30), Grammar.from_regex("[ab]*"), Vocabulary.bytes()
    running = []
    def use():
        text = [rng.randrange(2) for _ in range(rng.randrange(40))]
        for _ in range(8):
            with cache.acquire(text[:20]) as lease:
                lease.extend_to(text, lambda start, stop: next(numbers))
            running.append(cache.acquire(text))
            running.append(cache.acquire(text[:9]))
            running[-1].extend([3], lambda start, stop: next(numbers))
            if len(running) > 9:
                running.pop(rng.randrange(9)).release()
            rng.random() < 0.1 and cache.clear()
            assert matchers.after([97 + i for i in text], grammar, vocabulary).tokens == [97 + i for i in text]
    for i in range(3000):
        n += interrupted(use, rng.uniform(2e-5, 1e-3))
    running.clear()
    gc.collect()
    use()
    running.clear()
    gc.collect()
    stats = cache.stats
    assert stats.table == stats.idle == len(cache._table) <= 40 and not cache._left and not cache._gone
    assert all(not block.users and block.registered and block.key == key for key, block in cache._table.items())
    with cache.acquire([5, 6, 7, 8]) as lease:
        lease.extend([5, 6, 7, 8], lambda start, stop: next(numbers))
    assert cache.acquire([5, 6, 7, 8]).matched == 4
assert n > 1000, n
assert max(let_go.values()) == 1
"""

FORK = """
vocabulary, cache, shared = Vocabulary.builtin(), GrammarCache(), Grammar.from_regex("[a-z]{1,40}")
def busy():
    n = 0
    while True:
        n += 1
        Matcher(Grammar.from_regex("a{%d}" % (n % 50 + 1)), vocabulary)
        cache.from_regex("[a-z]{%d}" % n)
        matcher = Matcher(shared, vocabulary)
        matcher.accept_bytes(b"abc"[: n % 4])
        matcher.mask()
for _ in range(3):
    threading.Thread(target=busy, daemon=True).start()
time.sleep(0.1)
expected = bytes(Matcher(shared, vocabulary).mask())
for i in range(40):
    time.sleep(rng.uniform(0, 2e-3))
    pid = os.fork()
    if not pid:
        signal.alarm(30)  # which ends it
        try:
            assert bytes(Matcher(shared, vocabulary).mask()) == expected
            assert Matcher(Grammar.from_regex("b+"), Vocabulary.bytes()).accept_bytes(b"bb")
            for n in range(1, 9):
                assert Matcher(cache.from_regex("[a-z]{%d}" % n), vocabulary).accept_bytes(b"x" * n)
            os._exit(0)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, i
os._exit(0)
"""

REENTRY = """
vocabulary, cache, grammar, n = Vocabulary.bytes(), GrammarCache(max_grammars=5), Grammar.from_regex("a+"), 0
def use(*_):
    global n
    n += 1
    grammar.stats, cache.stats
    cache.from_regex("x{%d}" % (n % 50 + 1))
    Matcher(Grammar.from_regex("ab"), vocabulary).mask()
class Cycle:
    def __init__(self):
        self.itself = self
    __del__ = use
use()  # what is imported when it is first needed is there
signal.signal(signal.SIGALRM, use)
begun, i = time.monotonic(), 0
while i < 200 or time.monotonic() - begun < 2:
    i += 1
    gc.set_threshold(rng.randrange(1, 120), 1, 1)
    Cycle()
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 1e-3))
    Matcher(Grammar.from_regex("a{1,%d}b" % (i % 100 + 1)), vocabulary)
    grammar.stats, cache.stats
    cache.from_regex("y{%d}" % (i % 50 + 1))
signal.setitimer(signal.ITIMER_REAL, 0)
gc.set_threshold(700)
assert n > i // 4, (n, i)
"""


def run(script: str, folder: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", COMMON + script]  # which looks for modules in the folder it is run in
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=folder)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_what_a_call_made_is_freed_when_an_exception_comes_from_outside(tmp_path: Path) -> None:
    run(LEAK, tmp_path)


def test_a_cache_that_was_interrupted_answers(tmp_path: Path) -> None:
    run(CACHE, tmp_path)


def test_a_prefix_cache_that_was_interrupted_is_whole(tmp_path: Path) -> None:
    run(PREFIXES, tmp_path)


def test_a_process_that_is_forked_while_threads_are_at_work(tmp_path: Path) -> None:
    """All locks are free in it, and what they guard is whole."""
    run(FORK, tmp_path)


def test_handlers_and_finalizers_may_call_the_library(tmp_path: Path) -> None:
    run(REENTRY, tmp_path)


def _loops_within(statements: list[ast.stmt], is_guarded: bool) -> Iterator[ast.While]:
    """The `while` loops with a condition that stand in a `with`, or in a `try` with a `finally`, of the same function."""
    for statement in statements:
        if isinstance(statement, ast.While) and is_guarded and not isinstance(statement.test, ast.Constant):
            yield statement
        is_function = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for name in ("body", "orelse", "finalbody", "handlers"):
            below = getattr(statement, name, [])
            below = [inner for handler in below for inner in handler.body] if name == "handlers" else below
            guards = isinstance(statement, ast.With) or (isinstance(statement, ast.Try) and statement.finalbody and name != "finalbody")
            yield from _loops_within(below, not is_function and (is_guarded or bool(guards)))


def test_no_loop_jumps_out_of_what_guards_it() -> None:
    """See grammar_engine/locks.py: there the exceptions of handlers find no `with`, and no `finally`."""
    example = "def f():\n with lock:\n  if a:\n   while b: c()\n try:\n  while d: e()\n finally:\n  while f: g()\n while h: i()"
    assert [loop.lineno for loop in _loops_within(ast.parse(example).body, False)] == [4, 6]
    folder = Path(grammar_engine.__file__).parent
    found = [(path.name, loop.lineno) for path in folder.rglob("*.py") for loop in _loops_within(ast.parse(path.read_text()).body, False)]
    assert found == []
