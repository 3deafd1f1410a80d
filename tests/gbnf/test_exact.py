"""Masks of GBNF grammars against sets of strings, which are computed from the grammar as it was made up, without any text of it."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarError, Matcher, Vocabulary
from grammar_engine.frontends import gbnf
from grammar_engine.ir import Builder

LETTERS = "ab "
LONGEST = 5
TEXTS = [*LETTERS, "ab", "ba", "a ", "  ", "bab", ""]
VOCABULARY = Vocabulary([text.encode() for text in TEXTS], eos=[len(TEXTS) - 1])

Node = tuple[Any, ...]


class World:
    """All strings of up to `LONGEST` letters: those of each rule, and the beginnings of any string of a rule, however long that is."""

    def __init__(self, rules: list[Node]):
        self.rules = rules
        self.productive = self.fixpoint([False] * len(rules), self.is_productive)
        self.strings = self.fixpoint([frozenset()] * len(rules), self.strings_of)
        self.begun = self.fixpoint([frozenset()] * len(rules), self.begun_by)

    def fixpoint(self, values: list[Any], function: Any) -> list[Any]:
        self.values = values
        while True:
            new = [function(rule) for rule in self.rules]
            if new == self.values:
                return new
            self.values = new

    def is_productive(self, node: Node, known: list[bool] | None = None) -> bool:
        kind, *parts = node
        if kind == "rule":
            return (self.values if known is None else known)[parts[0]]
        if kind == "set":
            return True
        if kind == "times":
            return parts[1] == 0 or self.is_productive(parts[0], known)
        return (any if kind == "or" else all)(self.is_productive(part, known) for part in parts)

    def strings_of(self, node: Node, known: list[Any] | None = None) -> frozenset[str]:
        kind, *parts = node
        if kind == "rule":
            return (self.values if known is None else known)[parts[0]]
        if kind == "set":
            return frozenset(parts[0])
        if kind == "or":
            return frozenset().union(*(self.strings_of(part, known) for part in parts))
        if kind == "sequence":
            found = frozenset([""])
            for part in parts:
                found = joined(found, self.strings_of(part, known))
            return found
        return self.times(self.strings_of(parts[0], known), parts[1], parts[2])

    def times(self, item: frozenset[str], low: int, high: int | None) -> frozenset[str]:
        power, found, n = frozenset([""]), frozenset(), 0
        while True:
            found |= power if n >= low else frozenset()
            if n == high or (n >= low and joined(power, item) <= found):
                return found
            power, n = joined(power, item), n + 1

    def begun_by(self, node: Node) -> frozenset[str]:
        if not self.is_productive(node, self.productive):
            return frozenset()
        kind, *parts = node
        if kind == "rule":
            return self.values[parts[0]] | {""}
        if kind == "set":
            return frozenset(["", *parts[0]])
        if kind == "or":
            return frozenset().union(*map(self.begun_by, parts))
        found, before = frozenset([""]), frozenset([""])
        if kind == "times":
            item, _, high = parts
            before = self.times(self.strings_of(item, self.strings), 0, None if high is None else max(high - 1, 0))
            return found if high == 0 else found | joined(before, self.begun_by(item))
        for part in parts:
            found |= joined(before, self.begun_by(part))
            before = joined(before, self.strings_of(part, self.strings))
        return found


def joined(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    return frozenset(a + b for a in one for b in other if len(a) + len(b) <= LONGEST)


def random_node(rng: random.Random, depth: int, n_rules: int) -> Node:
    kind = rng.choice(
        ["set", "set", "rule", "rule"] if depth == 0 else ["set", "rule", "or", "or", "sequence", "sequence", "sequence", "times", "times"]
    )
    if kind == "set":
        return "set", "".join(sorted(set(rng.choices(LETTERS, k=rng.choice([1, 1, 2, 3])))))
    if kind == "rule":
        return "rule", rng.randrange(n_rules)
    if kind == "times":
        low, high = rng.choice([(0, None), (1, None), (0, 1), (2, None), (2, 2), (1, 3), (0, 2), (0, 0)])
        return kind, random_node(rng, depth - 1, n_rules), low, high
    return kind, *(random_node(rng, depth - 1, n_rules) for _ in range(rng.choice([0, 1, 2, 2, 3] if kind == "sequence" else [1, 2, 2, 3])))


def random_rule(rng: random.Random, number: int, n_rules: int) -> Node:
    """Some that are recursive at one end, as those are that spell texts."""
    if rng.random() < 0.5:
        return random_node(rng, 2, n_rules)
    end = rng.random() < 0.7
    ways = []
    for _ in range(rng.randint(1, 3)):
        item, other = random_node(rng, 0, n_rules), ("rule", rng.choice([number, number, rng.randrange(n_rules)]))
        ways.append(("sequence", item, other) if end else ("sequence", other, item))
    return "or", *ways, rng.choice([("sequence",), random_node(rng, 0, n_rules)])


def written(rng: random.Random, node: Node, outer: str = "") -> str:
    kind, *parts = node
    gap = rng.choice([" ", " ", "\t", "  "])
    if kind == "rule":
        return "root" if parts[0] == 0 else f"r-{parts[0]}"
    if kind == "set":
        letters = "".join(rng.choice([letter, f"\\x{ord(letter):02x}", f"\\u{ord(letter):04X}"]) for letter in parts[0])
        return f'"{letters}"' if len(parts[0]) == 1 and rng.random() < 0.6 else f"[{letters}]"
    if kind == "times":
        low, high = parts[1:]
        sign = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get(
            (low, high), f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
        )
        return written(rng, parts[0], "times") + sign
    if kind == "sequence":
        text = gap.join(written(rng, part, "sequence") for part in parts) or '""'
    else:
        text = f"{gap}|{gap}".join(written(rng, part, "or") for part in parts)
    if outer in ("times", "sequence") or (outer == "or" and kind == "or") or rng.random() < 0.1:
        return f"({text})" if rng.random() < 0.7 else f"(\n # here\n{text}\n)"
    return text


def case(seed: int) -> tuple[World, str]:
    rng = random.Random(seed)
    n_rules = rng.randint(1, 5)
    rules = [random_rule(rng, number, n_rules) for number in range(n_rules)]
    lines = [f"{'root' if i == 0 else f'r-{i}'} ::= {written(rng, rule)}" for i, rule in enumerate(rules)]
    rng.shuffle(lines)
    return World(rules), "# a grammar\n" + rng.choice(["\n", "\r\n", "\n\n  "]).join(lines) + rng.choice(["", "\n", " # end"])


def apart(text: str) -> Grammar:
    """The grammar, with all rules as they are written."""
    builder = Builder()
    report, _ = gbnf.build(builder, text)
    return Grammar._from_builder(builder, report)


@pytest.mark.parametrize("seed", range(200))
def test_masks_are_those_of_the_strings(seed: int) -> None:
    world, text = case(seed)
    sentences, begun = world.strings[0], world.begun[0]
    if not world.productive[0]:
        for make in (Grammar.from_gbnf, apart):
            with pytest.raises(GrammarError, match="no text at all"):
                make(text)
        return
    for grammar in (Grammar.from_gbnf(text), apart(text)):
        for n in range(4):
            for letters in map("".join, product(LETTERS, repeat=n)):
                matcher = Matcher(grammar, VOCABULARY)
                assert matcher.accept_bytes(letters.encode()) == (letters in begun), (text, letters)
                if letters not in begun:
                    continue
                known = [i for i, token in enumerate(TEXTS[:-1]) if len(letters + token) <= LONGEST]
                expected = {i for i in known if letters + TEXTS[i] in begun} | ({len(TEXTS) - 1} if letters in sentences else set())
                assert set(matcher.allowed_tokens()) & {*known, len(TEXTS) - 1} == expected, (text, letters)
                assert matcher.is_complete == (letters in sentences)


def test_the_cases_are_of_all_kinds() -> None:
    """Some have rules that became lexemes, and some of these are recursive; some have no text."""
    kinds = {"joined": 0, "apart": 0, "none": 0}
    for seed in range(200):
        world, text = case(seed)
        if not world.productive[0]:
            kinds["none"] += 1
            continue
        one, other = Grammar.from_gbnf(text), apart(text)
        kinds["joined" if len(one._records.rules) < len(other._records.rules) else "apart"] += 1
    assert min(kinds.values()) > 5, kinds
