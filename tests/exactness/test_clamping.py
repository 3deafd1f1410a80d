"""Clamped units stand for others only where that is right: bounds beside complements of comparable bounds, near and far from the end."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary

OFF = Switches(mask_cache=False, inner_masks=False, shared_inner=False, slices=False, heirs=False, clamping=False)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    """Bytes, words of all lengths around the tiers, and enough of them that a space is a hub."""
    rng = random.Random(0)
    words = {"".join(rng.choices(string.ascii_lowercase, k=rng.choice((2, 3, 4, 7, 8, 9, 15, 16, 17)))) for _ in range(1500)}
    words |= {f" {word}" for word in words} | {"x" * n for n in (23, 24, 25, 31, 32, 33, 60)} | {'"}', '",', "\\n\\n", "é" * 4, "a b", "t "}
    return Vocabulary([*(bytes([byte]) for byte in range(256)), *(word.encode() for word in sorted(words)), b""], eos=[256 + len(words)])


def schemas(bound: int) -> list[Any]:
    return [
        {"maxLength": bound},
        {"maxLength": bound, "not": {"pattern": rf"^t[\s\S]{{0,{bound - 1}}}$"}},
        {"maxLength": bound + 30, "not": {"pattern": rf"^t[\s\S]{{0,{bound}}}$"}},
        {"pattern": rf"^(?![tT][\s\S]{{0,{bound - 1}}}$)", "maxLength": bound},
        {"if": {"pattern": "^[^a-k]"}, "then": {"minLength": bound + 1}, "maxLength": bound + 2},
        {"pattern": rf"^([a-z]+ ){{0,{bound}}}[a-z]+$", "maxLength": 2 * bound},
        {"pattern": rf"^[a-z ]{{{bound // 2},{bound}}}$", "not": {"const": "ab"}},
        {"pattern": rf"^(a{{0,{bound}}}b?){{0,3}}$", "minLength": 2},
    ]


@pytest.mark.parametrize("bound", [5, 8, 9, 13, 16, 17, 20, 24, 25, 31, 40])
def test_masks_near_bounds(vocabulary: Vocabulary, bound: int) -> None:
    for schema in schemas(bound):
        grammar = Grammar.from_json_schema({"type": "string", **schema})
        for text in ("", "t", "a", "ta", "ab ab", "t" + "x" * (bound // 2), "a" * (bound - 2)):
            on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
            taken = on.accept_bytes(f'"{text}'.encode())
            assert off.accept_bytes(f'"{text}'.encode()) == taken
            if taken:
                assert on.mask() == off.mask(), (schema, text)


PATTERNS = [
    "[a-z ]{{{0},{1}}}",
    "t?[a-z]{{{0},}}",
    "(?:ab|[a-z ]){{{0},{1}}}",
    "x{{1,3}}[a-z]{{{0},{1}}}t",
    "[a-z]{{{0},{1}}}|[ -~]{{{0}}}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_where_a_text_is_one_lexeme(vocabulary: Vocabulary, pattern: str) -> None:
    """Nothing leaves it, and of a counted text only the upper bound matters, but for its end."""
    for bound in (1, 7, 16, 31):
        grammar = Grammar.from_regex(pattern.format(bound, 2 * bound + 1))
        for n in (0, 1, 2, bound - 1, bound, bound + 1, 2 * bound - 1, 2 * bound, 2 * bound + 1):
            on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
            taken = on.accept_bytes(b"x" * n)
            assert off.accept_bytes(b"x" * n) == taken
            if taken:
                assert on.mask() == off.mask(), (pattern, bound, n)
                assert on.is_complete == off.is_complete


@pytest.mark.parametrize("bound", [5, 8, 15, 16, 17, 20, 23, 25, 31, 33, 40, 61, 77])
def test_counted_text_behind_a_literal_that_ends_with_a_hub(vocabulary: Vocabulary, bound: int) -> None:
    for text in (rf"[^\n]{{1,{bound}}}", rf"([a-z]+ ?){{0,{bound}}}x", rf"[a-z ]{{{bound},{2 * bound}}}", rf"( ?[a-zé]){{1,{bound}}}"):
        source = f'start: (K "\\n")+\nK: "k: " X | "j: " /[a-z]+/ "," X\nX: /{text}/\n'
        for text_of in (source, source.replace("K: ", "k: ").replace("(K", "(k")):
            rng, shared = random.Random(bound), Matcher(Grammar.from_lark(text_of), vocabulary)
            plain = Matcher(Grammar.from_lark(text_of), vocabulary, switches=OFF)
            for _ in range(4):
                shared.reset(), plain.reset()
                assert shared.accept_bytes(b"k:") and plain.accept_bytes(b"k:")
                for _ in range(8):
                    assert bytes(shared.mask()) == bytes(plain.mask())
                    token = rng.choice(shared.allowed_tokens())
                    assert shared.accept(token) and plain.accept(token)
                    if token == vocabulary.size - 1:
                        break


def test_counted_text_behind_a_blank_is_walked_once_for_a_vocabulary() -> None:
    shared, nodes = Vocabulary.builtin(), []
    for _ in range(2):
        grammar = Grammar.from_lark('start: (k "\\n")+\nk: "k: " X\nX: /[^\\n]{1,200}/')
        matcher = Matcher(grammar, shared)
        for text in (b"k:", b" some", b"\nk:"):
            assert matcher.accept_bytes(text)
            matcher.mask()
        nodes.append(grammar.stats.trie_nodes)
    assert nodes[1] < 10  # 5,328 if it is walked
