"""Bags with so many ways that may come once that the engine makes one
lexeme of them (a group): masks, shortest ends, and what they cost."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from exactness.test_bags import Oracle, walked
from exactness.walk import Walk
from grammar_engine import Grammar, Matcher, Switches, Vocabulary
from grammar_engine.ir import Builder, Symbol, Way
from vocabularies import TinyVocabulary, random_vocabulary


def _words(rng: random.Random, n: int) -> list[str]:
    found: set[str] = set()
    while len(found) < n:
        found.add('"' + "".join(rng.choice("ab") for _ in range(rng.randint(1, 5))) + '"')
    return rng.sample(sorted(found), n)


def _add_bag(
    b: Builder, rng: random.Random, words: list[str], most: int | None, known: list[Any] | None = None
) -> tuple[Symbol, list[Any], bool]:
    """A bag of keys, some of which have two kinds of value or one in common with another key. Its symbol, its slots, is it ranked."""
    slots: list[Any] = [(int(rng.random() < 0.08), 1) for _ in words]
    if most is not None:
        slots.append((rng.randint(0, most), most))
    witness = most is not None and rng.random() < 0.4
    if witness:
        slots.append((1, None))
    values = [*(b.lexeme(b.bytes(value), value.decode()) for value in (b"x", b"y")), b.lexeme(b.never, "no value")]
    ways: list[Way] = []
    for own, word in enumerate(words):
        raised = (own,) if most is None else (own, len(words))
        kinds = [(0, raised)] if rng.random() < 0.7 else [(0, raised), (1, (*raised, len(slots) - 1) if witness else raised)]
        if known is not None and rng.random() < 0.1:  # a way that leads nowhere
            kinds.append((2, raised))
        for kind, slots_of in kinds:
            text = word if rng.random() < 0.9 else words[0]  # two ways with the same key
            key = b.lexeme(b.bytes(text.encode()), text, lazy=known is not None and rng.random() < 0.05)
            rank = rng.randint(0, 3)
            ways.append(Way((key, values[kind]), slots_of, rank))
            if known is not None and kind < 2:
                known.append(([(text + "xy"[kind], text)], slots_of, rank, False))
    if rng.random() < 0.5:  # beside the group
        slots.append((0, None))
        raised = (len(slots) - 1,) if most is None else (len(slots) - 1, len(words))
        ways.append(Way((b.lexeme(b.literals([b'"', b'"a']), "other"), values[0]), raised, 4))
        if known is not None:
            known.append(([('"x', ""), ('"ax', "a")], raised, 4, False))
    if known is not None and rng.random() < 0.5:  # the lexeme of a key, by another way
        slots.append((0, 1))
        raised = (len(slots) - 1,) if most is None else (len(slots) - 1, len(words))
        ways.append(Way((b.lexeme(b.bytes(words[1].encode()), "distinct"), values[1]), raised, 4, distinct=True))
        known.append(([(words[1] + "y", words[1])], raised, 4, True))
    ranked = most is not None and rng.random() < 0.4
    return b.bag(ways, slots, b.lexeme(b.bytes(b","), ","), "bag", ranked=ranked), slots, ranked


@pytest.mark.parametrize("stem", ["", "a", "abba"])  # what all but a few keys begin with
@pytest.mark.parametrize("seed", range(16))
def test_masks_of_wide_bags(seed: int, stem: str) -> None:
    rng = random.Random(seed)
    b, known = Builder(), []
    words = [('"' + stem if i % 9 else '"') + word[1:] for i, word in enumerate(_words(rng, rng.randint(18, 28)))]
    words = list(dict.fromkeys(words))
    bag, slots, ranked = _add_bag(b, rng, words, rng.choice([None, 3]), known)
    b.start = b.nonterminal("start")
    b.rule(b.start, (b.lexeme(b.bytes(b"["), "["), bag, b.lexeme(b.bytes(b"]"), "]")))
    oracle = Oracle(known, slots, ranked)
    if not oracle.alive(oracle.start):
        return
    grammar = Grammar._from_builder(b)
    parts = {rng.choice(words)[rng.randint(0, 2) :] + rng.choice(["", "x", "y", "x,", "y," + rng.choice(words), "x]"]) for _ in range(30)}
    tokens = sorted({part.encode() for part in parts if part} | {bytes([byte]) for byte in b'[],"abxy'})
    for _ in walked(grammar, oracle, tokens, rng, n_texts=2, n_steps=30):
        pass


@pytest.mark.parametrize("seed", range(8))
def test_bags_side_by_side(seed: int) -> None:
    """Bags with keys in common, between which only what comes later decides."""
    rng = random.Random(seed)
    b = Builder()
    words = _words(rng, 24)
    first, *_ = _add_bag(b, rng, words[:20], 2)
    second, *_ = _add_bag(b, rng, words[4:], 2)
    b.start = b.nonterminal("start")
    for bag, mark in ((first, b"1"), (second, b"2"), (first, b"12")):
        b.rule(b.start, (b.lexeme(b.bytes(b"["), "["), bag, b.lexeme(b.bytes(b"]" + mark), mark.decode())))
    pieces = [*(word.encode() for word in words[::3]), b"x,", b"y,", b"x]", *(bytes([byte]) for byte in b'[],"abxy12')]
    tiny = random_vocabulary(rng, pieces, size=20)
    masks = 0
    for switches in (None, Switches(heirs=False, inner_masks=False), Switches(goto_cache=False, state_cache=False, mask_cache=False)):
        masks += Walk(b, tiny, rng, switches).run(12, laws=0.15)
    assert masks > 20


def _read(schema: Any, text: str, **options: Any) -> Matcher:
    matcher = Matcher(Grammar.from_json_schema(schema, property_order="any", **options), Vocabulary.bytes())
    assert matcher.accept_bytes(text.encode()) and matcher.is_complete
    return matcher


def _object(n: int) -> tuple[Any, str]:
    names = [f"{31 * i % 97}name{i}" for i in range(n)]
    random.Random(n).shuffle(names)
    schema = {
        "type": "object",
        "properties": {name: {"enum": [i % 7]} for i, name in enumerate(sorted(names))},
        "additionalProperties": False,
    }
    return schema, json.dumps({name: sorted(names).index(name) % 7 for name in names})


def _integers(n: int) -> tuple[Any, str]:
    return {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, json.dumps(random.Random(n).sample(range(10 * n), n))


def _strings(n: int) -> tuple[Any, str]:
    schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    return schema, json.dumps([f"item {i}" for i in random.Random(n).sample(range(10 * n), n)])


@pytest.mark.parametrize("made", [_object, _integers, _strings])
def test_what_a_member_costs_does_not_grow_with_their_number(made: Callable[[int], tuple[Any, str]]) -> None:
    matchers = [_read(*made(n)) for n in (300, 1200)]
    small, large = (matcher.grammar.stats for matcher in matchers)
    for name in ("bytes", "expressions", "lexer_states", "rules", "derivatives"):
        assert getattr(large, name) < 6 * getattr(small, name), name


@pytest.mark.parametrize("order", ["schema", "any"])
def test_many_keys_of_which_many_must_come(order: Any) -> None:
    """What may still come is counted once for a state, not once for each key:
    by rank, that took time in proportion to n^3, 12 seconds here."""
    n = 3_000
    names = [f"name{i}" for i in range(n)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in names},
        "additionalProperties": False,
        "minProperties": n - 50,
        "maxProperties": n - 20,
    }
    matcher = Matcher(Grammar.from_json_schema(schema, property_order=order), Vocabulary.bytes())
    begin = time.thread_time()
    written = names[10:-10] if order == "schema" else names[:19:-1]
    assert matcher.fork().accept_bytes(b'{"name50"')
    assert matcher.fork().accept_bytes(b'{"name51"') == (order == "any")  # by rank, too few are left behind it
    assert matcher.accept_bytes(json.dumps(dict.fromkeys(written, True)).encode()) and matcher.is_complete
    assert time.thread_time() - begin < 3


@pytest.mark.parametrize("order", ["schema", "any"])
def test_what_all_keys_begin_with_is_read_once(order: Any) -> None:
    names = [f"{'what they all begin with ' * 5}{i}" for i in range(600)]
    schema = {"type": "object", "properties": {name: {"type": "null"} for name in names}, "additionalProperties": False}
    matcher = Matcher(Grammar.from_json_schema(schema, property_order=order), Vocabulary.bytes())
    text = json.dumps(dict.fromkeys(names[200:300]))
    assert matcher.accept_bytes(text.encode()) and matcher.is_complete
    assert matcher.grammar.stats.derivatives < 2 * len(text)


def test_a_key_that_was_written_is_gone_in_any_spelling() -> None:
    schema, text = _object(40)
    matcher = Matcher(Grammar.from_json_schema(schema, property_order="any", escapes="all"), Vocabulary.bytes())
    name = next(iter(json.loads(text)))
    assert matcher.accept_bytes(text[: text.index(",") + 2].encode())
    for spelling in (f'"{name}"', f'"\\u{ord(name[0]):04x}{name[1:]}"'):
        assert not matcher.fork().accept_bytes(spelling.encode())
    assert matcher.accept_bytes(text[text.index(",") + 2 :].encode()) and matcher.is_complete


def test_what_is_expected_names_each_key() -> None:
    schema, _ = _object(40)
    matcher = Matcher(Grammar.from_json_schema(schema, property_order="any"), Vocabulary.bytes())
    assert matcher.accept_bytes(b'{"3')
    assert set(matcher.explain(b"!").expected) == {f'key "{name}"' for name in schema["properties"] if name.startswith("3")}


def test_the_shortest_end_of_a_wide_object() -> None:
    schema, _ = _object(60)
    names = sorted(schema["properties"])
    required = [names[7], names[40]]
    grammar = Grammar.from_json_schema({**schema, "required": required}, property_order="any")
    matcher = Matcher(grammar, Vocabulary.bytes())
    assert matcher.accept_bytes(f'{{"{names[11]}": 4, '.encode())
    closing = matcher.closing_bytes().decode()
    assert matcher.accept_bytes(closing.encode()) and matcher.is_complete
    least = json.dumps({name: schema["properties"][name]["enum"][0] for name in required}, separators=(",", ":"))[1:]
    assert len(closing) == len(least)


def test_a_wide_vocabulary_of_tokens_that_cross_keys() -> None:
    """Tokens that end one key and begin the next see that the first is gone."""
    schema = {"type": "object", "properties": {f"k{i:02d}": {"const": 0} for i in range(30)}, "additionalProperties": False}
    tokens = [*(bytes([byte]) for byte in range(32, 127)), *(f'{i}":0,"k{j:02d}'.encode() for i in range(3) for j in range(3))]
    tiny = TinyVocabulary((*tokens, b""), (len(tokens),))
    matcher = Matcher(Grammar.from_json_schema(schema, property_order="any", whitespace="compact"), tiny.build())
    assert matcher.accept_bytes(b'{"k02":0,"k0')
    allowed = {tokens[i] for i in matcher.allowed_tokens() if len(tokens[i]) > 1}
    assert allowed == {f'{i}":0,"k{j:02d}'.encode() for i in range(2) for j in range(2) if i != j}


@pytest.mark.parametrize("order", ["schema", "any"])
def test_groups_of_thousands_of_objects_side_by_side(order: Any) -> None:
    """The union of the groups is a tree: as a list, it met `max_regex_nesting` beyond a thousand objects, while a text was read."""
    n, m = 2_000, 16
    objects = [{"properties": {f"k{j}_{i}": {"const": i} for j in range(m)}, "additionalProperties": False} for i in range(n)]
    matcher = Matcher(Grammar.from_json_schema({"type": "object", "anyOf": objects}, property_order=order), Vocabulary.bytes())
    assert matcher.accept_bytes(b'{"k3_')
    assert set(map(chr, matcher.allowed_tokens())) == set("0123456789")
    assert not matcher.fork().accept_bytes(b'1999": 1998')
    assert matcher.accept_bytes(b'1999": 1999, "k')
    assert not matcher.fork().accept_bytes(b"4_1998")
    assert matcher.accept_bytes(b'4_1999": 1999}')
    assert matcher.is_complete
