"""The prefix cache, case by case: its specification's acceptance tests, and what users may rely on besides."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from itertools import pairwise
from typing import Any

import pytest

from grammar_engine.decoding.prefix_cache import Lease, MatcherCache, PrefixCache
from grammar_engine.decoding.prefix_cache.hashing import Hashing

A, B, C, D, E = range(5)


def positions(start: int, stop: int) -> tuple[int, int]:
    """A payload that says what it is of."""
    return start, stop


def insert(cache: PrefixCache, tokens, salt: bytes = b"") -> Lease:
    """Acquire, and compute what is missing."""
    lease = cache.acquire(tokens, salt)
    lease.extend(list(tokens)[lease.matched :], positions)
    return lease


def inserted_and_released(cache: PrefixCache, *texts) -> None:
    for text in texts:
        insert(cache, text).release()


def contents(cache: PrefixCache) -> set[tuple[int, ...]]:
    """The prefixes in the table, by way of the parents of each block."""
    return {tuple(prefix_of(block)) for block in cache._table.values()}


def prefix_of(block) -> list[int]:
    return [*(prefix_of(block.parent) if block.parent else ()), *block.tokens]


def partial(block_size: int = 4, **options) -> PrefixCache:
    return PrefixCache(block_size, share_partial=True, **options)


# --- the nine of the specification ------------------------------------------------------------------------------------


def test_1_a_prompt_of_three_full_blocks_and_a_partial_one() -> None:
    cache = partial()
    prompt = list(range(14))
    first = insert(cache, prompt)
    assert [len(block.tokens) for block in first.blocks] == [4, 4, 4, 2] and len(cache) == 4
    second = cache.acquire(prompt)
    assert second.matched == 14 and second.blocks == first.blocks and len(cache) == 4
    assert [block.users for block in first.blocks] == [2, 2, 2, 2]
    assert cache.stats.prompt_hits == 4 and cache.stats.prompt_blocks == 8


def test_2_growth() -> None:
    cache = partial()
    lease = insert(cache, [1, 2, 3, 4, 5])
    before = set(cache._table)
    lease.extend([6], positions)
    assert len(cache) == 2 and len(set(cache._table) & before) == 1, "one key leaves, one enters"
    assert contents(cache) == {(1, 2, 3, 4), (1, 2, 3, 4, 5, 6)}
    lease.extend([7, 8], positions)
    assert len(cache) == 2
    lease.extend([9], positions)
    assert len(cache) == 3 and lease.blocks[-1].tokens.tolist() == [9]
    assert lease.payloads == [(0, 4), (4, 8), (8, 9)] and lease.tokens == [*range(1, 10)]


def test_3_victims_come_in_the_order_of_the_specification() -> None:
    given_up: list = []
    cache: PrefixCache = PrefixCache(4, max_idle_blocks=5, on_release=given_up.append)
    x = insert(cache, [A] * 12)
    y = insert(cache, [B] * 8)
    x.release()
    y.release()
    assert cache.stats.idle == 5 and not given_up and all(not block.users for block in (*x.blocks, *y.blocks))
    left = [contents(cache)]
    for token in (C, D, E):
        insert(cache, [token] * 4).release()
        left.append(contents(cache))
    gone = [sorted(before - after) for before, after in pairwise(left)]
    assert gone == [[(A,) * 12], [(A,) * 8], [(A,) * 4]]
    inserted_and_released(cache, [5] * 4, [6] * 4)
    assert given_up == [(8, 12), (4, 8), (0, 4), (4, 8), (0, 4)], "(7, 8), (7, 4), (7, 0), (9, 4), (9, 0)"


def test_4_a_revived_block_is_not_squeezed_out() -> None:
    cache: PrefixCache = PrefixCache(4, max_idle_blocks=2)
    inserted_and_released(cache, [A] * 4, [B] * 4)
    revived = cache.acquire([A] * 4)
    assert revived.matched == 4 and cache.stats.revivals == 1
    inserted_and_released(cache, *([token] * 8 for token in range(10, 30)))
    assert (A,) * 4 in contents(cache) and cache.stats.idle == 2
    assert cache.acquire([A] * 4).blocks == revived.blocks


def test_5_texts_that_share_a_partial_block_diverge() -> None:
    cache = partial()
    one, other = insert(cache, [1, 2, 3, 4, 5]), insert(cache, [1, 2, 3, 4, 5])
    shared = one.blocks[-1]
    assert other.blocks[-1] is shared and shared.users == 2
    one.extend([6], positions)
    assert other.blocks[-1] is shared and shared.tokens.tolist() == [5] and shared.users == 1
    other.extend([7], positions)
    assert [block.tokens.tolist() for block in one.blocks] == [[1, 2, 3, 4], [5, 6]]
    assert [block.tokens.tolist() for block in other.blocks] == [[1, 2, 3, 4], [5, 7]]
    assert contents(cache) == {(1, 2, 3, 4), (1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 7)}


@pytest.mark.parametrize("cached", [False, True])
def test_6_growth_into_an_existing_key(cached: bool) -> None:
    released: list = []
    cache = partial(on_release=released.append)
    there = insert(cache, [1, 2, 3])
    kept = there.blocks[0]
    if cached:
        there.release()
    grown = insert(cache, [1, 2])
    made: list = []
    grown.extend([3], lambda start, stop: made.append((start, stop)))
    assert grown.blocks == (kept,) and not made and released == [(0, 2)]
    assert kept.users == (1 if cached else 2) and len(cache) == 1
    assert cache.stats.merges == 1 and cache.stats.idle == 0
    grown.release()
    there.release()
    assert len(cache) == cache.stats.idle == 1 and kept.users == 0


@pytest.mark.parametrize("share_partial", [False, True])
def test_7_collisions_cost_hits_and_nothing_else(share_partial: bool) -> None:
    """8-bit keys, and 600 texts: whatever is found is that of exactly these tokens."""
    rng = random.Random(1)
    cache: PrefixCache = PrefixCache(2, share_partial=share_partial, digest_size=1, max_idle_blocks=100)
    running: list[Lease] = []
    for _ in range(600):
        text = tuple(rng.choices(range(4), k=rng.randrange(9)))
        lease = cache.acquire(text)
        assert lease.payloads == [text[: block.stop] for block in lease.blocks]
        lease.extend(text[lease.matched :], lambda start, stop, text=text: text[:stop])
        assert lease.payloads == [text[: block.stop] for block in lease.blocks]
        running.append(lease)
        if len(running) > 5:
            running.pop(rng.randrange(6)).release()
    assert cache.stats.collisions > 100 and cache.stats.prompt_hits > 100


def test_9_bounds_of_nothing_of_one_and_of_less_than_a_text() -> None:
    none: PrefixCache = PrefixCache(2, max_idle_blocks=0)
    first = insert(none, [1, 2, 3, 4])
    second = none.acquire([1, 2, 3, 4])
    assert second.matched == 4, "running texts share"
    first.release()
    assert len(none) == 2
    one: PrefixCache = PrefixCache(2, max_idle_blocks=1)
    inserted_and_released(one, [1, 2, 3, 4], [5, 6, 7, 8])
    assert contents(one) == {(5, 6)}, "the beginning of the last text"
    three: PrefixCache = PrefixCache(2, max_idle_blocks=3)
    inserted_and_released(three, range(20))
    assert contents(three) == {(0, 1), (0, 1, 2, 3), (0, 1, 2, 3, 4, 5)}


def test_10_the_hit_rate_of_the_workload_rises_with_p() -> None:
    rates = []
    for p in (0.0, 0.25, 0.5, 0.75, 1.0):
        rng = random.Random(7)
        frequent = [rng.choices(range(1000), k=15) for _ in range(10)]
        cache = partial(max_idle_blocks=200)
        for _ in range(1000):
            text = rng.choice(frequent) if rng.random() < p else rng.choices(range(1000), k=15)
            insert(cache, text).release()
        rates.append(cache.stats.prompt_hits / cache.stats.prompt_blocks)
    assert rates == sorted(rates) and rates[0] < 0.01 and rates[-1] > 0.98


def test_what_few_texts_have_used_goes_first_if_asked() -> None:
    """A scan of other texts drives out a beginning that many have used, or does not."""
    kept = {}
    for policy in ("lru", "lfu"):
        cache: PrefixCache = PrefixCache(2, max_idle_blocks=4, policy=policy)
        inserted_and_released(cache, *[[1, 2, 3, 4, 100 + turn, turn] for turn in range(4)])
        inserted_and_released(cache, *[[turn, turn] for turn in range(10, 20)])
        kept[policy] = contents(cache)
    assert kept["lru"] == {(16, 16), (17, 17), (18, 18), (19, 19)}
    assert kept["lfu"] == {(1, 2), (1, 2, 3, 4), (18, 18), (19, 19)}


# --- what else is promised --------------------------------------------------------------------------------------------


def test_only_full_blocks_are_shared_unless_asked() -> None:
    cache: PrefixCache = PrefixCache(4)
    lease = insert(cache, [1, 2, 3, 4, 5, 6])
    assert len(cache) == 1 and lease.covered == 4 and len(lease) == 6
    lease.extend([7], positions)
    assert len(cache) == 1
    lease.extend([8, 9], positions)
    assert lease.payloads == [(0, 4), (4, 8)] and cache.acquire(range(1, 12)).matched == 8


def test_a_text_may_be_given_whole() -> None:
    cache: PrefixCache = PrefixCache(4)
    lease = insert(cache, range(6))
    lease.extend_to(range(9), positions)
    assert lease.tokens == list(range(9)) and lease.payloads == [(0, 4), (4, 8)]
    with pytest.raises(ValueError, match="does not go on from the 9 tokens"):
        lease.extend_to([*range(8), 9, 10], positions)
    with pytest.raises(ValueError, match="does not go on"):
        lease.extend_to(range(8), positions)
    assert lease.tokens == list(range(9))
    lease.release()
    with pytest.raises(ValueError, match="was released"):
        lease.extend_to(range(10), positions)


def test_keys_of_any_length() -> None:
    for digest_size in (1, 7, 8, 9, 64):
        assert all(len(block.key) == digest_size for block in insert(PrefixCache(2, digest_size=digest_size), range(6)).blocks)


def test_salts_are_worlds_of_their_own() -> None:
    for cache in (PrefixCache(2), PrefixCache(2, digest_size=2)):
        insert(cache, [1, 2, 3, 4], b"a").release()
        assert cache.acquire([1, 2, 3, 4], b"b").matched == cache.acquire([1, 2, 3, 4]).matched == 0
        assert cache.acquire([1, 2, 3, 4], b"a").matched == 4
        for number in range(1000):  # of short keys, some collide
            assert insert(cache, [1, 2], b"%d" % number).matched == 0


def test_the_same_tokens_at_another_place_are_another_block() -> None:
    cache: PrefixCache = PrefixCache(2)
    lease = insert(cache, [1, 2, 1, 2, 1, 2])
    assert len({block.key for block in lease.blocks}) == len(cache) == 3


def test_both_hashings_find_the_same() -> None:
    rng = random.Random(3)
    texts = [rng.choices(range(3), k=rng.randrange(12)) for _ in range(300)]
    matched = []
    for hashing in ("chained", "direct"):
        cache: PrefixCache = PrefixCache(2, hashing=hashing, share_partial=True, max_idle_blocks=40)
        leases = [insert(cache, text) for text in texts[:20]]
        matched.append([lease.matched for lease in leases])
        for text in texts[20:]:
            leases.pop(0).release()
            leases.append(insert(cache, text))
            matched[-1].append(leases[-1].matched)
    assert matched[0] == matched[1] and sum(matched[0]) > 500


def test_direct_hashing_reads_the_whole_prefix() -> None:
    from array import array

    ids = array("q", range(8))
    direct, chained = Hashing("direct"), Hashing("chained")
    assert direct.key(b"r", b"p", ids, 4, 8) == direct.key(b"r", b"q", ids, 6, 8)
    assert chained.key(b"r", b"p", ids, 4, 8) != chained.key(b"r", b"q", ids, 4, 8)


def test_the_bound_on_bytes() -> None:
    cache: PrefixCache[bytes] = PrefixCache(1, max_idle_blocks=None, max_idle_bytes=100, size_of=len)
    for token in range(50):
        with cache.acquire([token]) as lease:
            lease.extend([token], lambda start, stop, token=token: bytes(token))
        assert cache.stats.idle_bytes <= 100
    assert contents(cache) == {(48,), (49,)}
    with cache.acquire([99]) as lease:
        lease.extend([99], lambda start, stop: bytes(101))
        assert cache.stats.idle_bytes == 97, "what is in use does not count"
    assert len(cache) == cache.stats.idle_bytes == 0, "the oldest went first, and then what alone is too much"


def test_the_size_of_a_payload_is_its_nbytes() -> None:
    cache: PrefixCache[memoryview] = PrefixCache(1)
    with cache.acquire([1]) as lease:
        lease.extend([1], lambda start, stop: memoryview(bytes(12)))
    assert cache.stats.idle_bytes == 12
    inserted_and_released(cache, [2])
    assert cache.stats.idle_bytes == 12, "a tuple has none"


@pytest.mark.parametrize(("size", "error"), [(-1, ValueError), (1.5, TypeError), (None, TypeError)])
def test_a_size_that_is_none(size: Any, error: type[Exception]) -> None:
    """The payload was made, and is let go."""
    gone: list[tuple[int, int]] = []
    cache: PrefixCache[tuple[int, int]] = PrefixCache(1, size_of=lambda payload: size, on_release=gone.append)
    with cache.acquire([1]) as lease, pytest.raises(error, match="what size_of returns"):
        lease.extend([1], positions)
    assert gone == [(0, 1)] and not len(cache)


def test_caches_belong_to_their_process() -> None:
    for cache in (PrefixCache(), MatcherCache()):
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                copied(cache)


def test_a_payload_that_cannot_be_made() -> None:
    """What was made before stays, and the next call goes on."""
    cache = partial(2)

    def fails_at(bad: int):
        def make(start: int, stop: int) -> tuple[int, int]:
            if start == bad:
                raise RuntimeError("out of memory")
            return start, stop

        return make

    lease = cache.acquire([])
    with pytest.raises(RuntimeError, match="out of memory"):
        lease.extend([1, 2, 3, 4, 5], fails_at(2))
    assert lease.payloads == [(0, 2)] and lease.tokens == [1, 2, 3, 4, 5] and len(cache) == 1
    with pytest.raises(RuntimeError):
        lease.extend([], fails_at(4))
    lease.extend([6], positions)
    assert lease.payloads == [(0, 2), (2, 4), (4, 6)]
    with pytest.raises(RuntimeError):
        lease.extend([7], fails_at(6))
    lease.release()
    assert len(cache) == cache.stats.idle == 3


@pytest.mark.parametrize("at", [0, 2])
def test_a_lease_that_is_released_while_it_is_extended_keeps_nothing(at: int) -> None:
    gone: list[object] = []
    cache = PrefixCache[object](block_size=2, max_idle_blocks=0, on_release=gone.append)
    lease = cache.acquire([1, 2, 3, 4])

    def make(start: int, stop: int) -> object:
        if start == at:
            lease.release()
        return start, stop

    with pytest.raises(ValueError, match="released"):
        lease.extend([1, 2, 3, 4], make)
    assert (cache.stats.table, cache.stats.idle) == (0, 0)
    assert sorted(gone) == [(start, start + 2) for start in range(0, at + 2, 2)]
    with pytest.raises(ValueError, match="released"):
        lease.extend([5], make)


def test_a_lease_that_another_thread_releases_keeps_nothing() -> None:
    gone: list[object] = []
    cache = PrefixCache[object](block_size=2, max_idle_blocks=0, on_release=gone.append)
    lease = cache.acquire([1, 2])

    def make(start: int, stop: int) -> object:
        other = threading.Thread(target=lease.release)
        other.start()
        other.join()
        return start, stop

    with pytest.raises(ValueError, match="released"):
        lease.extend([1, 2], make)
    assert (cache.stats.table, cache.stats.idle, gone) == (0, 0, [(0, 2)])


def test_a_lease_is_not_extended_by_what_makes_its_blocks() -> None:
    cache = PrefixCache[object](block_size=2)
    lease = cache.acquire([7, 7])

    def make(start: int, stop: int) -> object:
        with pytest.raises(ValueError, match="under way"):
            lease.extend([8, 8], make)
        return start, stop

    lease.extend([7, 7, 9], make)
    assert (lease.tokens, lease.payloads) == ([7, 7, 9], [(0, 2)])
    with pytest.raises(ZeroDivisionError):
        lease.extend([9], lambda start, stop: 1 // 0)
    lease.extend([5, 5], lambda start, stop: (start, stop))
    assert lease.payloads == [(0, 2), (2, 4), (4, 6)]


def test_a_lease_is_released_once() -> None:
    cache: PrefixCache = PrefixCache(2)
    with pytest.raises(KeyError), insert(cache, [1, 2]) as lease:
        raise KeyError
    assert cache.stats.idle == 1 and lease.blocks[0].users == 0
    lease.release()
    assert cache.stats.idle == 1 and lease.blocks[0].users == 0
    with pytest.raises(ValueError, match="released"):
        lease.extend([3, 4], positions)
    assert "released" in repr(lease)


def test_clear_drops_what_is_idle() -> None:
    released: list = []
    cache: PrefixCache = PrefixCache(2, on_release=released.append)
    running = insert(cache, [1, 2])
    inserted_and_released(cache, [1, 2, 3, 4], [5, 6, 7, 8])
    cache.clear()
    assert contents(cache) == {(1, 2)} and sorted(released) == [(0, 2), (2, 4), (2, 4)] and cache.stats.idle == 0
    running.release()
    again = cache.acquire([1, 2])
    assert again.matched == 2
    assert repr(cache) == "<PrefixCache of 1 blocks of 2 tokens, 0 idle with 0 bytes>"


def test_the_callback_may_use_the_cache() -> None:
    cache: PrefixCache = PrefixCache(2, max_idle_blocks=1, on_release=lambda payload: seen.append(cache.stats.idle))
    seen: list[int] = []
    inserted_and_released(cache, [1, 2, 3, 4])
    assert seen == [1]


def test_what_is_counted() -> None:
    cache: PrefixCache = PrefixCache(2, max_idle_blocks=3)
    insert(cache, [1, 2, 3, 4, 5]).release()
    insert(cache, [1, 2, 3, 4, 6, 7, 8, 9]).release()
    stats = cache.stats
    assert (stats.lookups, stats.prompt_blocks, stats.prompt_hits, stats.prompt_tokens, stats.prompt_matched) == (2, 6, 2, 13, 4)
    assert (stats.blocks, stats.block_hits, stats.revivals, stats.evictions, stats.merges, stats.collisions) == (6, 2, 2, 1, 0, 0)
    assert (stats.table, stats.idle, stats.idle_bytes) == (3, 3, 0)


def test_a_block_that_was_found_and_outgrown_is_no_hit() -> None:
    cache = partial()
    running = insert(cache, [1, 2, 3, 4, 5, 6])
    with cache.acquire(running.tokens) as lease:
        lease.extend([7], positions)
    assert (cache.stats.prompt_hits, cache.stats.blocks, cache.stats.block_hits) == (2, 2, 1)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"block_size": 0}, "block_size"),
        ({"max_idle_blocks": -1}, "max_idle_blocks"),
        ({"max_idle_bytes": -1}, "max_idle_bytes"),
        ({"hashing": "sha"}, "hashing"),
        ({"policy": "fifo"}, "policy"),
        ({"digest_size": 0}, "digest_size"),
        ({"digest_size": 65}, "digest_size"),
    ],
)
def test_options_are_checked(options: dict, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        PrefixCache(**options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"block_size": 16.0}, "block_size is an int, not float"),
        ({"block_size": True}, "block_size is an int, not bool"),
        ({"max_idle_blocks": "16"}, "max_idle_blocks is an int, not str"),
        ({"max_idle_bytes": 1e9}, "max_idle_bytes is an int, not float"),
        ({"digest_size": None}, "digest_size is an int, not NoneType"),
        ({"share_partial": 1}, "share_partial is a bool, not int"),
        ({"size_of": 8}, "size_of"),
        ({"on_release": "print"}, "on_release"),
    ],
)
def test_options_of_other_types(options: dict, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        PrefixCache(**options)


def test_a_salt_is_bytes() -> None:
    with pytest.raises(TypeError, match="a salt is bytes, not str"):
        PrefixCache().acquire([1], salt="model")


@pytest.mark.parametrize("bad", [[1.5], ["a"], [None]])
def test_tokens_are_integers(bad: list) -> None:
    cache: PrefixCache = PrefixCache(1)
    with pytest.raises(TypeError):
        cache.acquire(bad)
    lease = cache.acquire([])
    with pytest.raises(TypeError):
        lease.extend([1, *bad], positions)
    assert lease.tokens == [] and not len(cache)


@pytest.mark.parametrize("bad", [b"abcdefgh", bytearray(b"abcdefgh"), b"abc", "abcdefgh"])
def test_bytes_and_text_are_no_tokens(bad) -> None:
    cache: PrefixCache = PrefixCache(2)
    lease = insert(cache, [A, B])
    for call in (lambda: cache.acquire(bad), lambda: lease.extend(bad, positions), lambda: lease.extend_to(bad, positions)):
        with pytest.raises(TypeError, match="tokens are ids"):
            call()
    assert lease.tokens == [A, B] and len(cache._table) == 1


def test_a_lease_that_is_dropped_is_released():
    cache = PrefixCache(2, max_idle_blocks=4)
    for first in range(100):
        lease = cache.acquire([first, 1, 2, 3])
        lease.extend([first, 1, 2, 3], lambda start, stop: None)
    assert cache.stats.idle == 4
    assert cache.stats.table == 6  # and the two of the last one
    del lease
    assert cache.stats.table == cache.stats.idle == 4


def test_a_lease_is_not_copied() -> None:
    lease = insert(PrefixCache(2), [1, 2])
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="a Lease cannot be copied or pickled"):
            copied(lease)


def test_bounds_that_are_not_given():
    """Blocks of 16 tokens, and 4096 of them that are idle."""
    cache = PrefixCache()
    assert [len(insert(cache, range(n)).blocks) for n in (15, 16, 47)] == [0, 1, 2]
    many = PrefixCache()
    insert(many, range(16 * 5000)).release()
    assert many.stats.idle == 4096
