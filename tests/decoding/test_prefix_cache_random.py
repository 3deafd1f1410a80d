"""The prefix cache and its pool against models of dictionaries and sorted lists: 100,000 random events, and all invariants after each."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from functools import cache as remembered
from hashlib import blake2b

import pytest

from grammar_engine.decoding.prefix_cache import Lease, PrefixCache
from grammar_engine.decoding.prefix_cache.pool import IdlePool

EVENTS = 10_000  # for each of the worlds
TEXTS = 5  # that run at once
SALTS = (b"", b"x")


def size_of(payload: tuple) -> int:
    _, prefix, _ = payload
    return 1 + sum(prefix[-2:])


@remembered
def key_of(hashing: str, digest_size: int, block_size: int, salt: bytes, prefix: tuple[int, ...]) -> bytes:
    """The key of the block that ends a prefix, by the definition."""

    def digest(text: bytes) -> bytes:
        if digest_size <= 8:
            return (hash(text) % 256**digest_size).to_bytes(digest_size, "little")
        return blake2b(text, digest_size=digest_size).digest()

    if not prefix:
        return digest(salt)
    before = () if hashing == "direct" else prefix[: (len(prefix) - 1) // block_size * block_size]
    return digest(key_of(hashing, digest_size, block_size, salt, before) + array("q", prefix[len(before) :]).tobytes())


class PlainCache:
    """What the cache shall do, in a dictionary by whole prefixes."""

    def __init__(self, block_size: int, partial: bool, max_blocks: int | None, max_bytes: int | None, policy: str = "lru"):
        self.size, self.partial, self.policy = block_size, partial, policy
        self.max_blocks = max_blocks if max_blocks is not None else 10**9
        self.max_bytes = max_bytes if max_bytes is not None else 10**9
        self.blocks: dict[tuple, list[int]] = {}  # (salt, prefix) -> [users, last used, uses]
        self.texts: dict[int, tuple[bytes, list[int], list[tuple]]] = {}  # number -> salt, tokens, blocks
        self.gone: list[tuple] = []
        self.tick = 0

    def acquire(self, number: int, salt: bytes, tokens: list[int]) -> int:
        self.tick += 1
        held: list[tuple] = []
        for stop in self.cuts(0, len(tokens)):
            block = (salt, tuple(tokens[:stop]))
            if block not in self.blocks:
                break
            self.blocks[block][0] += 1
            self.blocks[block][1] = self.tick
            self.blocks[block][2] += 1
            held.append(block)
        matched = len(held[-1][1]) if held else 0
        self.texts[number] = salt, tokens[:matched], held
        return matched

    def cuts(self, start: int, length: int) -> list[int]:
        ends = [*range(start + self.size, length + 1, self.size)]
        rest = [length] if self.partial and length > (ends[-1] if ends else start) else []
        return ends + rest

    def extend(self, number: int, tokens: list[int]) -> None:
        salt, text, held = self.texts[number]
        text += tokens
        covered = len(held[-1][1]) if held else 0
        begin = covered - covered % self.size
        for stop in self.cuts(begin, len(text)):
            if stop == covered:
                continue
            block = (salt, tuple(text[:stop]))
            parent = held[(stop - 1) // self.size - 1] if stop > self.size else None
            entry = self.blocks.setdefault(block, [0, 0, 0])
            entry[0] += 1
            entry[2] += 1
            entry[1] = self.blocks[parent][1] if parent else self.tick
            if covered % self.size and (stop - 1) // self.size == covered // self.size:
                old = held.pop()
                self.blocks[old][0] -= 1
                if not self.blocks[old][0]:
                    del self.blocks[old]
                    self.gone.append(old)
            held.append(block)

    def release(self, number: int) -> None:
        self.tick += 1
        for block in self.texts.pop(number)[2]:
            self.blocks[block][0] -= 1
            self.blocks[block][1] = self.tick
        self.trim(self.max_blocks, self.max_bytes)

    def trim(self, max_blocks: int, max_bytes: int) -> None:
        idle = sorted(
            (uses if self.policy == "lfu" else 0, tick, -len(prefix), salt, prefix)
            for (salt, prefix), (users, tick, uses) in self.blocks.items()
            if not users
        )
        total = sum(size_of((salt, prefix, 0)) for *_, salt, prefix in idle)
        while len(idle) > max_blocks or total > max_bytes:
            *_, salt, prefix = idle.pop(0)
            total -= size_of((salt, prefix, 0))
            del self.blocks[salt, prefix]
            self.gone.append((salt, prefix))


class World:
    """A cache, the texts that run, and every payload that was made or let go."""

    def __init__(
        self,
        seed: int,
        block_size: int,
        partial: bool,
        max_blocks: int | None,
        max_bytes: int | None,
        hashing="chained",
        digest_size=8,
        policy="lru",
    ):
        self.rng = random.Random(seed)
        self.released: list[tuple] = []
        self.cache: PrefixCache[tuple] = PrefixCache(
            block_size,
            share_partial=partial,
            max_idle_blocks=max_blocks,
            max_idle_bytes=max_bytes,
            size_of=size_of,
            on_release=self.released.append,
            hashing=hashing,
            digest_size=digest_size,
            policy=policy,
        )
        self.keys = hashing, digest_size, block_size
        self.leases: dict[int, Lease[tuple]] = {}
        self.made: list[tuple] = []

    def tokens(self, longest: int) -> list[int]:
        return self.rng.choices((0, 1, 1), k=self.rng.randint(0, longest))

    def extend(self, number: int, tokens: list[int]) -> None:
        lease = self.leases[number]
        text = tuple(lease.tokens + tokens)

        def make(start: int, stop: int) -> tuple:
            self.made.append((lease._salt, text[:stop], len(self.made)))
            return self.made[-1]

        lease.extend(tokens, make)

    def event(self) -> tuple:
        """A random thing to do."""
        dice = self.rng.random()
        if not self.leases or (dice < 0.35 and len(self.leases) < TEXTS):
            number = next(n for n in range(TEXTS) if n not in self.leases)
            return "acquire", number, self.rng.choice(SALTS), self.tokens(8)
        number = self.rng.choice(list(self.leases))
        if dice < 0.65:
            return "extend", number, self.tokens(3)
        return ("clear",) if dice < 0.655 else ("release", number)

    def do(self, event: tuple) -> int | None:
        match event:
            case "acquire", number, salt, tokens:
                self.leases[number] = self.cache.acquire(tokens, salt)
                return self.leases[number].matched
            case "extend", number, tokens:
                self.extend(number, tokens)
            case "release", number:
                self.leases.pop(number).release()
            case ("clear",):
                self.cache.clear()
        return None

    def check(self) -> None:
        """The invariants 1 to 5 of the specification, and that no payload is found by others than its own tokens."""
        table, pool = self.cache._table, self.cache._pool
        users: Counter = Counter()
        for lease in self.leases.values():
            text = tuple(lease.tokens)
            for block in lease._blocks:
                users[block] += 1
                assert block.payload[:2] == (lease._salt, text[: block.stop]) and tuple(block.tokens) == text[block.start : block.stop]
        idle = idle_bytes = 0
        for key, block in table.items():
            salt, prefix, _ = block.payload
            assert key == block.key == key_of(*self.keys, salt, prefix) and block.registered
            assert block.salt == salt and len(prefix) == block.stop and prefix[block.start :] == tuple(block.tokens)
            if (parent := block.parent) is None:
                assert block.start == 0
            else:
                assert table[parent.key] is parent and parent.payload[:2] == (salt, prefix[: block.start])
                assert parent.last_used >= block.last_used and parent.users >= block.users and parent.uses >= block.uses
            assert block.users == users[block] and (key in pool) == (not block.users)
            if not block.users:
                idle += 1
                idle_bytes += block.size
        assert len(pool) == idle and pool.bytes == idle_bytes and not pool.is_over

    def finish(self) -> None:
        """All payloads that were made are let go, each once."""
        for number in list(self.leases):
            self.do(("release", number))
        self.cache.clear()
        assert not len(self.cache) and sorted(self.released) == sorted(self.made)


# block size, partial blocks, bound on blocks, bound on bytes, options
WORLDS = [
    (2, False, 0, None, {}),
    (2, True, 0, None, {}),
    (2, True, 1, None, {}),
    (3, True, 3, None, {}),
    (4, False, 3, None, {}),
    (2, False, 8, None, {}),
    (2, True, 8, None, {"hashing": "direct", "digest_size": 16}),
    (1, True, 8, None, {}),
    (3, True, 50, 20, {}),
    (2, True, None, 9, {}),
    (2, False, 8, None, {"policy": "lfu"}),
    (2, True, 5, None, {"policy": "lfu"}),
    (3, True, 50, 20, {"policy": "lfu"}),
]


@pytest.mark.parametrize(("block_size", "partial", "max_blocks", "max_bytes", "options"), WORLDS)
def test_against_a_plain_dictionary(block_size, partial, max_blocks, max_bytes, options) -> None:
    world = World(block_size, block_size, partial, max_blocks, max_bytes, **options)
    plain = PlainCache(block_size, partial, max_blocks, max_bytes, options.get("policy", "lru"))
    seen: Counter = Counter()
    for _ in range(EVENTS):
        event = world.event()
        seen[event[0]] += 1
        matched = world.do(event)
        if event[0] == "clear":
            plain.trim(0, 0)
        else:
            assert matched == getattr(plain, event[0])(*event[1:])
        assert {block.payload[:2]: [block.users, block.last_used, block.uses] for block in world.cache._table.values()} == plain.blocks
        assert [payload[:2] for payload in world.released] == plain.gone, "the same payloads in the same order"
        world.released.clear(), plain.gone.clear()
        world.check()
    assert min(seen[kind] for kind in ("acquire", "extend", "release")) > EVENTS / 5 and seen["clear"] > 20
    stats = world.cache.stats
    assert stats.prompt_hits and stats.collisions == 0
    assert (max_blocks == 0) == (not stats.revivals) and (not partial or stats.merges)


@pytest.mark.parametrize("hashing", ["chained", "direct"])
def test_with_keys_of_eight_bits(hashing: str) -> None:
    """Invariants hold, all that is found is right, and every payload is let go once."""
    world = World(5, 2, True, 60, None, digest_size=1, hashing=hashing)
    for _ in range(EVENTS // 2):
        world.do(world.event())
        world.check()
    # nothing is looked up behind a block that is not shared, and that happens often here
    assert world.cache.stats.collisions > 300 and world.cache.stats.prompt_hits > 500
    world.finish()


@pytest.mark.parametrize("partial", [False, True])
def test_each_payload_is_let_go_once(partial: bool) -> None:
    world = World(6, 2, partial, 10, 40)
    for _ in range(EVENTS // 2):
        world.do(world.event())
    world.finish()


def test_the_pool_against_a_sorted_list() -> None:
    """Ticks in any order, revivals from anywhere."""
    rng = random.Random(2)
    for max_blocks in (None, 20):
        pool = IdlePool(max_blocks, None)
        model: list[tuple[int, int, bytes, int]] = []
        for step in range(20_000):
            dice = rng.random()
            if dice < 0.5:
                key = step.to_bytes(4, "big")
                entry = (rng.randrange(step // 10 + 1), -rng.randrange(6), key, rng.randrange(9))
                pool.push(key, entry[0], -entry[1], entry[3])
                model.append(entry)
            elif model and dice < 0.8:
                entry = model.pop(rng.randrange(len(model)))
                pool.remove(entry[2])
                if rng.random() < 0.3:  # back again, with a later stamp
                    model.append((entry[0] + 1, *entry[1:]))
                    pool.push(entry[2], entry[0] + 1, -entry[1], entry[3])
            elif model:
                model.sort()
                assert pool.pop() == model.pop(0)[2]
            assert len(pool) == len(model) and pool.is_over == (max_blocks is not None and len(model) > max_blocks)
            assert pool._entries <= 2 * len(pool) + 33
        assert pool.bytes == sum(entry[3] for entry in model)
        assert [pool.pop() for _ in range(len(pool))] == [entry[2] for entry in sorted(model)]
        with pytest.raises(IndexError):
            pool.pop()
