"""Bags (`Builder.bag`) against a recogniser that multiplies everything out.

The oracle knows each way as a finite list of (text, value). It follows all ways of reading a text at once, and asks for a state whether
some sequence of members finishes it by trying all of them. It shares nothing with the engine.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from exactness.walk import engine_mask
from grammar_engine import Grammar, GrammarError, LimitExceededError, Limits, Matcher, Switches, Vocabulary
from grammar_engine.ir import Builder, Symbol, Way

OFF = Switches(mask_cache=False, inner_masks=False, shared_inner=False, goto_cache=False, state_cache=False, slices=False)


class Oracle:
    """The texts of one bag between brackets."""

    def __init__(
        self,
        ways: list[tuple[list[tuple[str, Any]], tuple[int, ...], int, bool]],
        slots: list[Any],
        ranked: bool,
        asks: dict[int, list[int]] | None = None,
        choices: list[tuple[int | None, list[list[int]]]] | None = None,
    ):
        self.ways = ways
        self.choices = choices or []  # a slot or None, and sets: if it is raised, or in any case, all of a set have to be
        self.asks = asks or {}  # by slot: slots that have to be raised, too
        self.slots = slots
        self.ranked = ranked
        self.alive = cache(self._alive)
        self.start = (tuple(0 for _ in slots), 0, frozenset(), frozenset())

    def next(self, state: Any, way: int, value: Any) -> Any:
        """The state after a member, or None."""
        counts, rank, seen, asked = state
        _, raised, my_rank, distinct = self.ways[way]
        if (self.ranked and my_rank < rank) or (distinct and value in seen):
            return None
        new = list(counts)
        for slot in raised:
            low, high = self.slots[slot]
            if high is None:
                new[slot] = min(new[slot] + 1, low)
            elif new[slot] == high:
                return None
            else:
                new[slot] += 1
        asked = frozenset(slot for slot in asked.union(self.asks.get(raised[0], ())) if not new[slot])
        return tuple(new), my_rank if self.ranked else 0, seen | {value} if distinct else seen, asked

    def is_finished(self, state: Any) -> bool:
        counts = state[0]
        for slot, sets in self.choices:
            if (slot is None or counts[slot]) and not any(all(counts[each] for each in keys) for keys in sets):
                return False
        return not state[3] and all(count >= low for count, (low, _) in zip(counts, self.slots))

    def _alive(self, state: Any) -> bool:
        if self.is_finished(state):
            return True
        for way, (texts, *_) in enumerate(self.ways):
            for _, value in texts:
                after = self.next(state, way, value)
                if after is not None and after != state and self.alive(after):
                    return True
        return False

    def read(self, configs: Any, text: str) -> Any:
        """All ways of going on with the text, each (state, what is left of the member under way), that can still be finished."""
        for char in text:
            configs = {after for config in configs for after in self._step(config, char)}
        return configs

    def _step(self, config: Any, char: str) -> list[Any]:
        kind, data = config
        if kind == "open":
            return [("first", self.start)] if char == "[" and self.alive(self.start) else []
        if kind == "closed":
            return []
        result: list[Any] = []
        if kind == "member":
            rest, after = data
            if rest and rest[0] == char:
                result.append(("member", (rest[1:], after)))
            if rest:
                return result
            kind, data = "tail", after
        if char == "]" and kind != "more":
            return [*result, ("closed", None)] if self.is_finished(data) else result
        if kind == "tail":
            if char == "," and self.members(data):
                result.append(("more", data))
            return result
        for rest, after in self.members(data):
            if rest[0] == char:
                result.append(("member", (rest[1:], after)))
        return result

    def least(self, configs: Any) -> int:
        """The least number of bytes that close a text."""
        n = 0
        while ("closed", None) not in configs:
            configs = {after for config in configs for char in self._chars(config) for after in self._step(config, char)}
            n += 1
        return n

    def _chars(self, config: Any) -> set[str]:
        kind, data = config
        if kind == "member" and data[0]:
            return {data[0][0]}
        state = data[1] if kind == "member" else data
        return {"[", "]", ",", *(text[0] for text, _ in self.members(state))} if kind not in ("open", "closed") else {"["}

    def members(self, state: Any) -> list[Any]:
        """The members that may come next: (text, state after)."""
        result = []
        for way, (texts, *_) in enumerate(self.ways):
            for text, value in texts:
                after = self.next(state, way, value)
                if after is not None and self.alive(after):
                    result.append((text, after))
        return result


def walked(
    grammar: Grammar, oracle: Oracle, tokens: list[bytes], rng: random.Random, *, n_texts: int, n_steps: int
) -> Iterator[tuple[Matcher, Any]]:
    """Random texts, the masks of which are those of the oracle, with all switches on and off.
    Yields each place: a matcher, and what the oracle has read."""
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    for _ in range(n_texts):
        matchers = [Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)]
        configs: Any = {("open", None)}
        text = b""
        for _ in range(n_steps):
            expected = {i for i, token in enumerate(tokens) if oracle.read(configs, token.decode())}
            if ("closed", None) in configs:
                expected.add(len(tokens))
            for matcher in matchers:
                wrong = engine_mask(matcher) ^ expected
                assert not wrong, (text, [(tokens[i] if i < len(tokens) else "end", i in expected) for i in wrong])
            yield matchers[0], configs
            choices = sorted(expected - {len(tokens)})
            if not choices:
                break
            token = rng.choice(choices)
            assert all(matcher.accept(token) for matcher in matchers)
            configs = oracle.read(configs, tokens[token].decode())
            text += tokens[token]


_ITEMS = [
    [(json.dumps(s), s) for s in ("", "a", "b", "ab", "bb")],
    [('"c"', "c"), ('"\\u0063"', "c"), ('"\\u00e4"', "ä"), ('"\\n"', "\n"), ('"\\u000a"', "\n"), ('"\\u000A"', "\n")],
    [("1", 1), ("1.0", 1), ("1.00", 1), ("10", 10), ("1e1", 10), ("1E+01", 10), ("0", 0), ("-0", 0), ("0.0", 0), ("-1", -1), ("0.5", 0.5)],
    [("null", None), ("true", "t"), ("false", "f"), ('"true"', "true"), ("7", 7)],
]


def _random_bag(rng: random.Random) -> tuple[Grammar | None, Oracle]:
    b = Builder()
    n_own = rng.randint(1, 3)
    slots: list[Any] = []
    for _ in range(n_own):
        high = rng.choice([None, 1, 1, 2, 3])
        slots.append((rng.randint(0, min(2, high or 2)), high))
    total = rng.random() < 0.5
    if total:
        high = rng.choice([None, 2, 3, 4])
        slots.append((rng.randint(0, min(high or 3, 4)), high))
    n_conditions = rng.choice([0, 0, 1, 2])
    for _ in range(n_conditions):
        high = rng.choice([None, None, 1, 2])
        slots.append((rng.randint(0, high or 2), high))
    slots = [(low, high) if high is None or high >= 1 else (0, 1) for low, high in slots]
    ways: list[Way] = []
    known: list[Any] = []
    unused = [*_ITEMS]  # distinct ways have values of their own, and no more of them than there are
    for own in range(n_own):
        distinct = rng.random() < 0.6
        texts = rng.choice(unused)
        for again in range(rng.choice([1, 1, 2])):
            if not distinct:
                texts = rng.choice(_ITEMS)
            elif not again:
                unused.remove(texts)
                low, high = slots[own]
                high = min(high or 99, len({value for _, value in texts}))
                slots[own] = (min(low, high), high)
            raised = [own] + [n_own] * total
            raised += [i for i in range(n_own + total, len(slots)) if rng.random() < 0.5]
            item = b.lexeme(b.literals([text.encode() for text, _ in texts]), "item")
            symbols: tuple[Symbol, ...] = (item,)
            rank = rng.randint(0, 3)
            if not distinct and rng.random() < 0.3:  # an item that is a nonterminal
                symbols = (b.nonterminal("item"),)
                b.rule(symbols[0], (item,))
            members = texts
            if rng.random() < 0.4:  # a value behind the key
                members = [(text + ":v", value) for text, value in texts]
                symbols = (*symbols, b.lexeme(b.bytes(b":v"), "value"))
            ways.append(Way(symbols, tuple(raised), rank, distinct))
            known.append((members, tuple(raised), rank, distinct))
    ranked = rng.random() < 0.4
    comma, opening, closing = (b.lexeme(b.bytes(c), c.decode()) for c in (b",", b"[", b"]"))
    b.start = b.nonterminal("start")
    b.rule(b.start, (opening, b.bag(ways, slots, comma, "bag", ranked=ranked), closing))
    try:
        return Grammar._from_builder(b), Oracle(known, slots, ranked)
    except GrammarError:
        return None, Oracle(known, slots, ranked)


def _random_choices(rng: random.Random, free: list[int], asks: dict[int, list[int]]) -> list[tuple[int | None, list[list[int]]]]:
    """Choices between sets of some keys. A set has what its keys ask for, and one of the sets between which they leave a choice."""
    sets = [{rng.choice(free) for _ in range(rng.randint(1, 3))} for _ in range(rng.randint(1, 4))]
    sets = [keys | {asked for key in keys for asked in asks[key]} for keys in sets]
    choices: list[tuple[int | None, list[list[int]]]] = []
    for slot in [*([None] if rng.random() < 0.6 else []), *rng.sample(free, rng.randint(0, min(4, len(free))))]:
        own = [keys for keys in sets if rng.random() < 0.6]
        if slot is not None:  # a key of a set is one of those that may go with it
            own += [keys for keys in sets if slot in keys and keys not in own]
        if own:
            choices.append((slot, [sorted(keys) for keys in own]))
    return choices


def _asking_bag(rng: random.Random, choosing: bool = False) -> tuple[Grammar | None, Oracle, list[str]]:
    """Keys, some of which ask for others, or leave a choice, perhaps with two kinds of value; and other members."""
    b, n_keys = Builder(), rng.randint(2, 7)
    words = [f'"{"k" * rng.randint(0, 2)}{i}"' for i in range(n_keys)]
    ranks = [rng.randint(0, 4) for _ in words]
    pairs = {(rng.randrange(n_keys), rng.randrange(n_keys)) for _ in range(rng.randint(1, 5))}
    for _ in words:  # what is asked for asks for more
        pairs |= {(a, d) for a, b in pairs for c, d in pairs if b == c}
    asks = {key: [target for own, target in sorted(pairs) if own == key] for key in range(n_keys)}
    required = {key for key in range(n_keys) if rng.random() < 0.1}
    required |= {target for key in required for target in asks[key]}
    slots: list[Any] = [(int(key in required), 1) for key in range(n_keys)]
    total, condition = not choosing and rng.random() < 0.4, not choosing and rng.random() < 0.25
    choices = []
    if choosing and len(free := [key for key in range(n_keys) if key not in required]) > 1:
        choices = _random_choices(rng, free, asks)
    if total:
        slots.append((0, rng.randint(1, n_keys)))
    if condition:
        slots.append((1, rng.choice([None, 2])))
    values = [b.lexeme(b.bytes(text), text.decode()) for text in (b"x", b"y")]
    values.append(b.lexeme(b.never, "no value"))
    ways: list[Way] = []
    known: list[Any] = []

    def add(word: str, kind: int, raised: tuple[int, ...], rank: int) -> None:
        if kind < 2:
            known.append(([(word + "xy"[kind], word)], raised, rank, False))
        ways.append(Way((b.lexeme(b.bytes(word.encode()), word), values[kind]), raised, rank))

    for own, word in enumerate(words):
        raised = (own, n_keys) if total else (own,)
        if rng.random() < 0.1:  # it leads nowhere
            add(word, 2, raised, ranks[own])
            continue
        add(word, 0, raised, ranks[own])
        if rng.random() < 0.3:
            add(word, 1, (*raised, len(slots) - 1) if condition else raised, ranks[own])
    if rng.random() < 0.4:  # beside them
        slots.append((0, rng.choice([None, 2])))
        own = len(slots) - 1
        add('"z"', 0, (own, n_keys) if total else (own,), rng.randint(0, 5))
    ranked = rng.random() < 0.5
    symbol = b.bag(ways, slots, b.lexeme(b.bytes(b","), ","), "bag", ranked=ranked, asks=asks, choices=choices)
    b.start = b.nonterminal("start")
    b.rule(b.start, (b.lexeme(b.bytes(b"["), "["), symbol, b.lexeme(b.bytes(b"]"), "]")))
    oracle = Oracle(known, slots, ranked, asks, choices)
    try:
        return Grammar._from_builder(b), oracle, words
    except GrammarError:
        return None, oracle, words


@pytest.mark.parametrize("choosing", [False, True])
@pytest.mark.parametrize("seed", range(150))
def test_masks_of_bags_whose_members_ask_for_others(seed: int, choosing: bool) -> None:
    rng = random.Random(seed)
    grammar, oracle, words = _asking_bag(rng, choosing)
    assert (grammar is not None) == oracle.alive(oracle.start)
    if grammar is None:
        return
    parts = {rng.choice(words)[rng.randint(0, 2) :] + rng.choice(["", "x", "y", "x,", "y," + rng.choice(words), "x]"]) for _ in range(30)}
    tokens = sorted({part.encode() for part in parts if part} | {bytes([byte]) for byte in b'[],"kxyz0123456'})
    for matcher, configs in walked(grammar, oracle, tokens, rng, n_texts=4, n_steps=30):
        closing = b"".join(tokens[i] for i in matcher.closing_tokens() if i < len(tokens))
        assert ("closed", None) in oracle.read(configs, closing.decode())
        assert len(closing) == oracle.least(configs)


def _tokens(rng: random.Random) -> list[bytes]:
    texts = [text for items in _ITEMS for text, _ in items]
    tokens = {bytes([c]) for c in b'[],:vxyzabc"\\unrtfalse0123456789.eE+-AA'}
    while len(tokens) < 120:
        text = ",".join(rng.choice(texts) + rng.choice(["", ":v"]) for _ in range(3)) + "]"
        begin = rng.randrange(len(text))
        tokens.add(text[begin : begin + rng.randint(2, 9)].encode())
    return sorted(tokens)


@pytest.mark.parametrize("seed", range(60))
def test_masks_of_random_bags(seed: int) -> None:
    rng = random.Random(seed)
    grammar, oracle = _random_bag(rng)
    assert (grammar is not None) == oracle.alive(oracle.start)
    if grammar is None:
        return
    tokens = _tokens(rng)
    for i, (matcher, configs) in enumerate(walked(grammar, oracle, tokens, rng, n_texts=6, n_steps=14)):
        if i % 4 == 0:
            assert len(matcher.closing_bytes()) == oracle.least(configs)


def _shared_bag(rng: random.Random) -> tuple[Grammar | None, Oracle, list[str]]:
    """Bags whose slots are filled by several ways, of several ranks and perhaps
    without instance. Little work, so that bounds decide what is found."""
    b, n_own = Builder(), rng.randint(1, 3)
    slots: list[Any] = []
    for _ in range(n_own):
        high = rng.choice([None, 1, 2, 3])
        slots.append((high if high and rng.random() < 0.5 else rng.randint(0, high or 2), high))
    slots += [(rng.randint(0, 2), None) for _ in range(rng.choice([0, 1, 1, 2]))]  # conditions
    ways: list[Way] = []
    known: list[Any] = []
    for i in range(n_own + rng.randint(0, 3)):
        own = i if i < n_own else rng.randrange(n_own)
        texts = [(rng.choice("abc") + "b" * rng.choice([0, 0, 1, 3, 15]), None) for _ in range(rng.randint(1, 2))]
        raised = (own, *(slot for slot in range(n_own, len(slots)) if rng.random() < 0.4))
        is_dead = rng.random() < 0.15
        item = b.lexeme(b.never if is_dead else b.literals([text.encode() for text, _ in texts]), "item")
        ways.append(Way((item,), raised, rng.randint(0, 1)))
        if not is_dead:
            known.append((texts, raised, ways[-1].rank, False))
    ranked = rng.random() < 0.8
    order = rng.sample(range(len(ways)), len(ways))
    symbol = b.bag([ways[i] for i in order], slots, b.lexeme(b.bytes(b","), ","), "bag", ranked=ranked)
    b.start = b.nonterminal("start")
    b.rule(b.start, (b.lexeme(b.bytes(b"["), "["), symbol, b.lexeme(b.bytes(b"]"), "]")))
    oracle = Oracle(known, slots, ranked)
    texts = [text for way in known for text, _ in way[0]]
    try:
        return Grammar._from_builder(b, limits=Limits(max_step_work=rng.choice([3_000, 10_000, 50_000]))), oracle, texts
    except GrammarError:
        return None, oracle, texts


def _fewest(oracle: Oracle, configs: Any, tokens: list[str], most_states: int) -> tuple[int, bool]:
    """The least number of tokens that close a text, the end included; or a number that is too few, and False."""
    level = {frozenset(configs)}
    seen = set(level)
    n = 1
    while level and not any(("closed", None) in state for state in level):
        level = {frozenset(oracle.read(state, token)) for state in level for token in tokens} - seen - {frozenset()}
        seen |= level
        n += 1
        if len(seen) > most_states:
            return n - 1, False
    return n, bool(level)


@pytest.mark.parametrize("seed", range(400))
def test_closings_of_few_tokens_of_bags(seed: int) -> None:
    rng = random.Random(seed)
    grammar, oracle, texts = _shared_bag(rng)
    if grammar is None or not texts:
        return
    whole = [rng.choice(["", "["]) + ",".join(rng.choices(texts, k=4)) + rng.choice(["", "]"]) for _ in range(8)]
    tokens = {text[begin : begin + rng.randint(2, 9)] for text in whole for begin in [rng.randrange(len(text))]} | set("[],abc")
    listed = sorted(tokens)
    vocabulary = Vocabulary([*(token.encode() for token in listed), b""], eos=[len(listed)])
    configs: Any = {("open", None)}
    least, is_exact = _fewest(oracle, configs, listed, 3_000)
    for most in range(1, least + 3 if is_exact else least + 1):
        try:
            closing = Matcher(grammar, vocabulary).closing_within(most)
        except LimitExceededError:
            continue
        if most < least or not is_exact:
            assert closing is None
        else:
            assert closing is not None and len(closing) <= most
            text = "".join(listed[token] for token in closing[:-1])
            assert ("closed", None) in oracle.read(configs, text)


@pytest.mark.parametrize("work", [3_000, 20_000, 100_000_000])
def test_closings_of_few_tokens_where_members_of_several_ranks_fill_a_slot(work: int) -> None:
    """The condition asks for one of rank 0, and a second one may come beside it,
    though the slot is for two and rank 1 has one for it, too."""
    b = Builder()
    few, other, many = (b.lexeme(b.literals(texts), "item") for texts in ([b"a", b"bb"], [b"q"], [b"z" * 16]))
    ways = [Way((few,), (0, 2), 0), Way((other,), (1,), 0), Way((many,), (0,), 1)]
    symbol = b.bag(ways, [(2, 2), (0, None), (1, None)], b.lexeme(b.bytes(b","), ","), "bag", ranked=True)
    b.start = b.nonterminal("start")
    b.rule(b.start, (b.lexeme(b.bytes(b"["), "["), symbol, b.lexeme(b.bytes(b"]"), "]")))
    tokens = [*b"[],bzqa", b"[bb,bb", b""]
    vocabulary = Vocabulary([token if isinstance(token, bytes) else bytes([token]) for token in tokens], eos=[len(tokens) - 1])
    matcher = Matcher(Grammar._from_builder(b, limits=Limits(max_step_work=work)), vocabulary)
    assert matcher.closing_within(2) is None
    assert matcher.closing_within(3) == [7, 1, 8]  # "[bb,bb", "]" and the end
