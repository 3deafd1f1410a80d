"""One prefix cache, many threads."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress

import pytest

from grammar_engine import Grammar, Matcher, TokenRejectedError, Vocabulary
from grammar_engine.decoding.prefix_cache import MatcherCache, PrefixCache

THREADS = 6


@pytest.fixture(autouse=True)
def _switching_often():
    """Threads take turns every 10 microseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work) -> None:
    """Run `work(number)` in each thread; what one raises is raised here."""
    failures: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("digest_size", [1, 16])
def test_threads_find_what_is_right_and_let_each_payload_go_once(digest_size: int) -> None:
    released: list[tuple] = []  # append is atomic
    made: list[tuple] = []
    cache: PrefixCache[tuple] = PrefixCache(2, share_partial=True, max_idle_blocks=12, digest_size=digest_size, on_release=released.append)

    def work(number: int) -> None:
        rng = random.Random(number)
        for turn in range(400):
            text = tuple(rng.choices((0, 1, 1), k=rng.randrange(9)))

            def make(start: int, stop: int, text: tuple = text, turn: int = turn) -> tuple:
                payload = (text[:stop], number, turn)
                made.append(payload)  # not to be read back: other threads append too
                return payload

            with cache.acquire(text[: rng.randrange(9)]) as lease:
                while len(lease) < len(text):
                    lease.extend(text[len(lease) : len(lease) + rng.randint(1, 3)], make)
                    assert [payload[0] for payload in lease.payloads] == [text[: block.stop] for block in lease.blocks]

    in_threads(work)
    stats = cache.stats
    assert stats.table == stats.idle and all(not block.users for block in cache._table.values())
    assert 8 < stats.idle <= 12  # a few less than the bound if the last texts outgrew blocks that were idle
    assert stats.revivals > 100 and stats.evictions > 100
    cache.clear()
    assert not len(cache) and Counter(released) == Counter(made)


def test_who_makes_the_same_at_the_same_time_shares_one() -> None:
    """Both begin to compute; the later one takes what the earlier has put there, and its own is let go."""
    released: list[int] = []
    cache: PrefixCache[int] = PrefixCache(2, on_release=released.append)
    computing = threading.Barrier(THREADS)
    taken: list = []

    def work(number: int) -> None:
        def make(start: int, stop: int) -> int:
            computing.wait()
            return number

        lease = cache.acquire([1, 2])
        lease.extend([1, 2], make)
        taken.append(lease)

    in_threads(work)
    (block,) = cache._table.values()
    assert {lease.blocks for lease in taken} == {(block,)} and block.users == THREADS
    assert sorted([*released, block.payload]) == [*range(THREADS)]
    assert cache.stats.merges == THREADS - 1


def test_the_table_is_touched_under_the_lock() -> None:
    class Guarded(dict):
        """Says so if it is used by somebody who has not taken the lock."""

        def guarded(name: str):  # noqa: N805
            def method(self, *arguments):
                assert cache._lock._is_owned(), name
                return getattr(dict, name)(self, *arguments)

            return method

        get, pop, __setitem__, __delitem__, __contains__ = map(guarded, ("get", "pop", "__setitem__", "__delitem__", "__contains__"))

    cache: PrefixCache[int] = PrefixCache(2, share_partial=True, max_idle_blocks=2)
    cache._table = Guarded()
    for text in ([1, 2, 3, 4, 5], [1, 2, 3, 4], [6, 7]):
        with cache.acquire(text[:3]) as lease:
            for token in text[len(lease) :]:
                lease.extend([token], lambda start, stop: start)
    cache.clear()
    assert cache.stats.evictions and cache.stats.merges and cache.stats.revivals


def test_a_kept_matcher_is_forked_by_one_thread_at_a_time(monkeypatch) -> None:
    grammar, vocabulary = Grammar.from_regex("[ab]*"), Vocabulary.bytes()
    matchers = MatcherCache(2)
    matchers.after(list(b"abab"), grammar, vocabulary)
    locked: list[bool] = []
    fork = Matcher.fork
    monkeypatch.setattr(Matcher, "fork", lambda self: locked.append(matchers._lock._is_owned()) or fork(self))
    matchers.after(list(b"abab"), grammar, vocabulary)
    assert locked == [True]


def test_what_another_thread_has_put_there_meanwhile_is_read_too(monkeypatch) -> None:
    """Between the look-up and the reading."""
    grammar, vocabulary = Grammar.from_regex("[ab]*"), Vocabulary.bytes()
    matchers = MatcherCache(2)
    acquire = matchers._cache.acquire

    def then_another(ids, salt):
        lease = acquire(ids, salt)
        monkeypatch.setattr(matchers._cache, "acquire", acquire)
        matchers.after(ids[:4], grammar, vocabulary)
        return lease

    monkeypatch.setattr(matchers._cache, "acquire", then_another)
    text = list(b"ababbabaa")
    assert matchers.after(text, grammar, vocabulary).tokens == text and matchers.stats.merges == 2
    assert matchers.after(text[:8], grammar, vocabulary).tokens == text[:8]


def test_matchers_in_threads() -> None:
    grammar, vocabulary = Grammar.from_regex("[ab]*"), Vocabulary.bytes()
    matchers = MatcherCache(2, max_idle_matchers=20)

    def work(number: int) -> None:
        rng = random.Random(number)
        for _ in range(200):
            text = rng.choices(b"ab", k=rng.randrange(12))
            assert matchers.after(text, grammar, vocabulary).tokens == text
            with pytest.raises(TokenRejectedError):
                matchers.after([*text, ord("c")], grammar, vocabulary)

    in_threads(work)
    assert matchers.stats.prompt_hits > 1000 and matchers.stats.idle == 20


class Left:
    """A text in a cycle: the collector of garbage finishes it."""

    def __init__(self, cache: PrefixCache, text: list[int], grow: bool) -> None:
        self.itself, self.text, self.grow = self, text, grow
        self.lease = cache.acquire(text)
        self.lease.extend_to(text, lambda start, stop: start)

    def __del__(self) -> None:
        try:
            if self.grow:
                with suppress(ValueError):
                    self.lease.extend_to([*self.text, 7, 7], lambda start, stop: start)
        finally:
            self.lease.release()


class Collecting(dict):
    """A table that is hardly touched, and the collector comes by."""

    times = 3  # to collect takes long

    def _collect(self) -> None:
        if self.times:
            self.times -= 1
            gc.collect()

    def get(self, *arguments):
        self._collect()
        return super().get(*arguments)

    def __contains__(self, key) -> bool:
        self._collect()
        return super().__contains__(key)

    def __len__(self) -> int:
        self._collect()
        return super().__len__()

    def pop(self, *arguments):
        self._collect()
        return super().pop(*arguments)


@pytest.mark.parametrize("grow", [False, True])
@pytest.mark.parametrize("where", ["acquire", "extend", "release", "clear", "stats"])
def test_the_collector_may_close_texts_at_any_time(where: str, grow: bool, monkeypatch) -> None:
    """Also while the same thread is at work on the table: nobody waits for himself, and nothing changes under him."""
    cache: PrefixCache[int] = PrefixCache(2)
    with cache.acquire([9, 9]) as lease:
        lease.extend_to([9, 9], lambda start, stop: start)
    running = cache.acquire([5, 6, 7, 8])
    at_work: list[bool] = []
    release = cache._release_blocks
    monkeypatch.setattr(cache, "_release_blocks", lambda lease: at_work.append(cache._torn) or release(lease))
    gc.disable()
    try:
        for i in range(500):  # so many at once
            Left(cache, [1, 2, i, 4], grow)
        cache._table = Collecting(cache._table)
        if where == "acquire":
            cache.acquire([1, 2]).release()
        elif where == "extend":
            running.extend_to([5, 6, 7, 8], lambda start, stop: start)
        elif where == "release":
            cache._pool.max_blocks = 0
            running.release()
        elif where == "clear":
            cache.clear()
        assert cache.stats.table >= 0
        assert not cache._left and not cache._is_at_work
        assert len(at_work) >= 500 and not any(at_work)
    finally:
        gc.enable()
    running.release()
    cache._table = dict(cache._table)
    stats = cache.stats
    assert stats.idle == stats.table and all(block.users == 0 for block in cache._table.values())


def test_a_call_from_a_finalizer_is_refused_where_it_would_wait_for_itself() -> None:
    cache: PrefixCache[int] = PrefixCache(2)
    with cache._lock, pytest.raises(RuntimeError, match="by a finalizer or a signal's handler while it is at work"):
        cache.acquire([1, 2])
    with cache.acquire([1, 2]) as lease:
        lease.extend_to([1, 2], lambda start, stop: start)
    assert cache.stats.table == 1


AT_EXIT = """
import threading, time
from grammar_engine.decoding.prefix_cache import PrefixCache
cache = PrefixCache(block_size=1)

def work():
    while True:
        cache.acquire(range(500)).release()

def main():
    lease = cache.acquire([])
    lease.extend(range(500), lambda start, stop: "x")
    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.1)
    cycle = [lease]
    cycle.append(cycle)  # collected when the interpreter ends

main()
"""


def test_a_dropped_lease_waits_for_no_thread_that_the_end_of_the_interpreter_has_stopped(tmp_path) -> None:
    for _ in range(4):
        subprocess.run([sys.executable, "-c", AT_EXIT], check=True, timeout=60, cwd=tmp_path)  # not where the sources are
