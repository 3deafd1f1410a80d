"""Masks of grammars with special tokens and JSON Schemas against a reader that shares nothing with the engine.

The reader has the grammar as it was made up, without any text of it. A special token is a letter of its own there.
"""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarError, Matcher, Switches, Vocabulary

LETTERS = "1[], XY"  # X and Y are special tokens
BEGUN = 3  # letters of the texts whose masks are compared
FEW = 5  # letters of the sentences that are looked for behind them; where there is none, the engine has to know one
TEXTS = ["1", "[", "]", ",", " ", "1,", "[1", "1]", " 1", "<x>", "]  "]
X, Y, EOS = range(len(TEXTS), len(TEXTS) + 3)
VOCABULARY = Vocabulary([*(text.encode() for text in TEXTS), b"", b"", b""], eos=[EOS], special={X: "<x>", Y: "<y>"})
SPELT = {**dict(enumerate(TEXTS)), X: "X", Y: "Y", EOS: ""}
OFF = Switches(inner_masks=False, slices=False, heirs=False, outlines=False, table=False, shapes=False, clamping=False, mask_cache=False)
SCHEMAS: list[tuple[dict[str, Any], Any]] = [
    ({"enum": [1, 11]}, lambda value: type(value) is int and value in (1, 11)),
    ({"type": "array", "items": {"const": 1}, "maxItems": 2}, lambda value: isinstance(value, list) and value in ([], [1], [1, 1])),
    ({"type": "array", "items": {"type": "array"}, "minItems": 1}, lambda value: is_nested(value)),
]

Node = tuple[Any, ...]


def is_nested(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(item, list) for item in value)


def is_of(schema: int, text: str) -> bool:
    try:
        return "X" not in text and "Y" not in text and SCHEMAS[schema][1](json.loads(text))
    except ValueError:
        return False


class Reader:
    """Where each rule may end, if it begins at some place of a text: the least sets for which all rules are right."""

    def __init__(self, rules: list[Node], ignores: str, text: str):
        self.text, self.ignores = text, ignores
        self.ends_of: dict[tuple[int, int], frozenset[int]] = {}
        while True:
            found = {(i, at): frozenset(self.ends(rule, at)) for i, rule in enumerate(rules) for at in range(len(text) + 1)}
            if found == self.ends_of:
                break
            self.ends_of = found

    def is_sentence(self) -> bool:
        return any(len(self.text) in self.ends_of[0, begin] for begin in self.skipped({0}))

    def skipped(self, places: set[int]) -> set[int]:
        """Behind what is ignored at these places."""
        found = set(places)
        while self.ignores and (more := {at + 1 for at in found if self.text[at : at + 1] == self.ignores} - found):
            found |= more
        return found

    def ends(self, node: Node, at: int) -> set[int]:
        kind, *parts = node
        if kind == "rule":
            return set(self.ends_of.get((parts[0], at), ()))
        if kind == "or":
            return {end for part in parts for end in self.ends(part, at)}
        if kind == "sequence":
            return self.behind(parts, {at})
        if kind == "times":
            return self.times(parts[0], parts[1], parts[2], at)
        if kind == "both":  # a template: its argument, a comma, and that again
            return self.behind([parts[0], ("text", ","), parts[0]], {at})
        if kind == "json":
            ends = {end for end in range(at + 1, len(self.text) + 1) if is_of(parts[0], self.text[at:end])}
        elif kind == "text":
            ends = {at + len(parts[0])} if self.text.startswith(parts[0], at) else set()
        else:
            ends = {at + 1} if self.text[at : at + 1] and self.text[at] in parts[0] else set()
        return self.skipped(ends)

    def behind(self, parts: Any, places: set[int]) -> set[int]:
        for part in parts:
            places = {end for place in places for end in self.ends(part, place)}
        return places

    def times(self, part: Node, low: int, high: int | None, at: int) -> set[int]:
        places, found, n = {at}, set(), 0
        while places and (high is None or n <= high):
            if n >= low:
                if places <= found:
                    break
                found |= places
            places, n = self.behind([part], places), n + 1
            if n > low + len(self.text) + 1:
                break
        return found


def random_leaf(rng: random.Random, by_name: bool, n_rules: int) -> Node:
    kind = rng.choice(["text", "set", "special", "special", "json", "json", "rule"])
    if kind == "text":
        return kind, "".join(rng.choice("1[],") for _ in range(rng.randint(1, 2)))
    if kind == "set":
        return kind, "".join(rng.sample("1[], ", rng.randint(1, 3)))
    if kind == "special":
        return kind, rng.choice(["X", "Y"] if by_name else ["X", "Y", "XY"])
    return kind, rng.randrange(len(SCHEMAS) if kind == "json" else n_rules)


def random_node(rng: random.Random, by_name: bool, n_rules: int, depth: int) -> Node:
    kind = rng.choice(["leaf", "sequence", "or", "times", "both"]) if depth else "leaf"
    if kind == "leaf":
        return random_leaf(rng, by_name, n_rules)
    if kind == "both":
        return kind, random_leaf(rng, by_name, n_rules)
    if kind == "times":
        low = rng.randint(0, 2)
        return kind, random_node(rng, by_name, n_rules, depth - 1), low, rng.choice([None, low + rng.randint(0 if low else 1, 2)])
    return kind, *(random_node(rng, by_name, n_rules, depth - 1) for _ in range(rng.randint(1, 3)))


def written(node: Node, by_name: bool) -> str:
    kind, *parts = node
    if kind == "rule":
        return "start" if parts[0] == 0 else f"r{parts[0]}"
    if kind == "or":
        return "(" + " | ".join(written(part, by_name) for part in parts) + ")"
    if kind == "sequence":
        return "(" + " ".join(written(part, by_name) for part in parts) + ")"
    if kind == "both":
        return f"both{{{written(parts[0], by_name)}}}"
    if kind == "times":
        low, high = parts[1:]
        item = f"({written(parts[0], by_name)})"
        return f"{item}~{low}..{high}" if high is not None else f"({item}~{low} {item}*)"
    if kind == "json":
        return "%json " + json.dumps(SCHEMAS[parts[0]][0], indent=1)
    if kind == "text":
        return f'"{parts[0]}"'
    if kind == "set":
        return "/[" + "".join("\\" * (letter in "[]") + letter for letter in parts[0]) + "]/"
    if by_name:
        return {"X": "<x>", "Y": "<y>"}[parts[0]]
    return {"X": f"<[{X}]>", "Y": f"<[{Y}]>", "XY": f"<[{X}-{Y}]>"}[parts[0]]


def begun_by(ids: list[int]) -> str:
    return "".join(SPELT[token] for token in ids)


def encoded(text: str) -> list[int]:
    return [{"X": X, "Y": Y}.get(letter, TEXTS.index(letter) if letter in TEXTS else -1) for letter in text]


@pytest.mark.parametrize("seed", range(24))
def test_random_grammars(seed: int) -> None:
    rng = random.Random(seed)
    n_rules, by_name, ignores = rng.randint(1, 3), rng.random() < 0.5, rng.choice(["", " ", ","])
    rules = [random_node(rng, by_name, n_rules, 2) for _ in range(n_rules)]
    text = "\n".join(f"{written(('rule', i), by_name)}: {written(rule, by_name)}" for i, rule in enumerate(rules))
    text += '\nboth{x}: x "," x\n' + (f'%ignore "{ignores}"\n' if ignores else "")
    sentences = {
        "".join(letters)
        for n in range(FEW)
        for letters in product(LETTERS, repeat=n)
        if Reader(rules, ignores, "".join(letters)).is_sentence()
    }
    begun = {sentence[:n] for sentence in sentences for n in range(len(sentence) + 1)}
    try:
        grammar = Grammar.from_lark(text)
    except GrammarError as error:
        assert "no text at all" in str(error) and not sentences, text
        return

    def can_be_ended(ids: list[int]) -> bool:
        """Whether the text with which the engine would end this one makes a sentence, as the reader sees it."""
        matcher = Matcher(grammar, VOCABULARY)
        assert matcher.accept_tokens(ids) == len(ids)
        whole = begun_by([*ids, *matcher.closing_tokens()])
        return "<" not in whole and Reader(rules, ignores, whole).is_sentence()

    for n in range(BEGUN):
        for letters in product(LETTERS, repeat=n):
            ids = encoded("".join(letters))
            matchers = [Matcher(grammar, VOCABULARY), Matcher(grammar, VOCABULARY, switches=OFF)]
            accepted = [matcher.accept_tokens(ids) == n for matcher in matchers]
            assert accepted[0] == accepted[1]
            if not accepted[0]:
                assert "".join(letters) not in begun, (text, letters)
                continue
            masks = [matcher.allowed_tokens() for matcher in matchers]
            assert masks[0] == masks[1], (text, letters)
            assert (EOS in masks[0]) == ("".join(letters) in sentences), (text, letters)
            for token in range(EOS):
                if (token in masks[0]) != (begun_by([*ids, token]) in begun):
                    assert token in masks[0] and can_be_ended([*ids, token]), (text, letters, token)
