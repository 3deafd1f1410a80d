"""Counted text wherever its end is: one analysis for all numbers of characters, and of words, that may still come (`mk_room.c`)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from grammar_engine import Grammar, Limits, Matcher, Switches, Vocabulary

OFF = Switches(mask_cache=False, inner_masks=False, shared_inner=False, slices=False, heirs=False, clamping=False, shapes=False)
PARTS = ["a", "b", "7", " ", " ", "-", "é", "日", "\u00a0", "\U0001f600", "\\n", "\\u00e9", "\\ud83d\\ude00", '\\"', "\\\\"]
TEXTS = ["", "a", "ab 7", "a b", "é日 ", "a\U0001f600b", "a-b-a", "\\n", "ab\\u00e9", "a\\ud83d\\ude00 b", "\\"]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    """Bytes and escapes, characters cut in two, runs, tokens of several words, and such with which the string ends."""
    rng = random.Random(1)
    tokens = {"".join(rng.choices(PARTS, k=rng.choice((1, 2, 3, 5, 8, 13)))).encode() for _ in range(1500)}
    tokens |= {token[1:] for token in list(tokens)[::5]} | {token[:-1] for token in list(tokens)[::7]}
    tokens |= {token + end for token in list(tokens)[::3] for end in (b'"', b'",', b'"]')}
    tokens |= {b"a" * n for n in (16, 17, 33, 60)} | {b"a " * 20, b" " * 30} | {bytes([byte]) for byte in range(256)}
    return Vocabulary([*sorted(tokens - {b""}), b""], eos=[len(tokens - {b""})])


SCHEMAS: list[dict[str, Any]] = [
    {"pattern": r"^(?:\S+\s+){0,3}\S+$"},
    {"pattern": r"^(?:\S+\s+){0,9}\S+$", "minLength": 3},
    {"pattern": r"^$|(^(?:\w+[ -]){0,2}\w+$)"},
    {"pattern": r"^[ab]+(?:-[ab]{1,3}){0,4}$"},
    {"pattern": r"^[^a]{2,}", "not": {"const": "bb"}},
    {"pattern": r"a.*b"},
    {"allOf": [{"pattern": r"a\S{0,5}$"}, {"pattern": r"^(?:\S+ ?){1,5}$"}]},
    {"allOf": [{"pattern": r"^[\s\S]{2,9}$"}, {"pattern": r"^(?:\S+ ?){1,5}$"}]},  # two bounds on characters
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_masks_near_the_bound(vocabulary: Vocabulary, schema: dict[str, Any]) -> None:
    for bound in (3, 4, 5, 7, 12, 17, 40):
        grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string", "maxLength": bound, **schema}})
        for text in TEXTS:
            on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
            taken = on.accept_bytes(f'["{text}'.encode())
            assert off.accept_bytes(f'["{text}'.encode()) == taken
            if taken:
                assert on.mask() == off.mask(), (bound, text)


def test_masks_near_two_bounds(vocabulary: Vocabulary) -> None:
    """A domain has one of its own, 255 characters, and the address another."""
    for bound in (6, 9, 12, 20, 64, 300):
        grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string", "format": "email", "maxLength": bound}})
        for text in ("a", "a@", "ab7@", "a-b@", "aaaa@a", "a.b@a-", "a@b.a", "a@" + ".".join(["b" * 60] * 4) + ".a"):
            on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
            taken = on.accept_bytes(f'["{text}'.encode())
            assert off.accept_bytes(f'["{text}'.encode()) == taken
            if taken:
                assert on.mask() == off.mask(), (bound, text)


def test_masks_along_words(vocabulary: Vocabulary) -> None:
    """Up to the last word, where each number of words that are left is
    met for the first time; and in another lexeme with the same pattern."""
    words = {"type": "string", "pattern": r"^(?:\S+\s+){0,3}\S+$"}
    schema = {"type": "array", "prefixItems": [{**words, "maxLength": 40}, {**words, "maxLength": 17}], "items": False}
    grammar = Grammar.from_json_schema(schema)
    on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
    for at, byte in enumerate('["aé b\\n日 a-b","b a é a"]'.encode()):
        assert on.accept_bytes(bytes([byte])) and off.accept_bytes(bytes([byte]))
        assert on.mask() == off.mask(), at


def analyses(grammar: Grammar, vocabulary: Vocabulary, text: str) -> int:
    """How many the masks after the bytes of a text take, in words that the vocabulary has."""
    matcher, before = Matcher(grammar, vocabulary), grammar.stats.inner_builds
    assert matcher.accept_bytes(b'"')
    for word in text.split(" "):
        assert matcher.accept_bytes(b" " * (word != text.split(" ")[0]) + word.encode())
        matcher.mask()
    return grammar.stats.inner_builds - before


def test_one_analysis_near_the_bound() -> None:
    """One at the first place, and one for all others; with words two, of those with many and with few, until one is left."""
    vocabulary = Vocabulary.builtin()
    free = Grammar.from_json_schema({"type": "string", "pattern": r"^(?:\S+\s+)*\S+$", "maxLength": 30})
    assert analyses(free, vocabulary, "ab cde f gh ijk lm no pq") == 2
    words = Grammar.from_json_schema({"type": "string", "pattern": r"^(?:\S+\s+){0,12}\S+$", "maxLength": 30})
    assert analyses(words, vocabulary, "ab cde f gh ijk lm no pq") == 3
    longer = Grammar.from_json_schema({"type": "string", "pattern": r"^(?:\S+\s+){0,14}\S+$", "maxLength": 50})
    assert analyses(longer, vocabulary, "ab cde f gh ijk lm no pq") <= 1


def test_last_words_are_not_walked() -> None:
    """Where few words are left each number of them takes an analysis of its own, at the first place, and no walk of long tokens besides."""
    grammar = Grammar.from_json_schema({"type": "string", "pattern": r"^(?:\S+\s+){0,9}\S+$", "maxLength": 100})
    matcher, derivatives = Matcher(grammar, Vocabulary.builtin()), []
    assert matcher.accept_bytes(b'"')
    for word in b"This is a long benefit that exceeds the allowed length".split():
        before = grammar.stats.derivatives
        assert matcher.accept_bytes(word)
        matcher.mask()
        derivatives.append(grammar.stats.derivatives - before)
        matcher.accept_bytes(b" ")
    assert sum(derivatives[-3:]) < derivatives[0]


@pytest.mark.parametrize("patterns", [["a.{12}b"], ["a.{12}b", "c.{8}d"], ["(a|b).{10}(c|d).{3}$"]], ids=str)
def test_how_many_characters_must_come_is_not_searched_for_without_end(vocabulary: Vocabulary, patterns: list[str]) -> None:
    """Where that is hard to tell, counted text is analysed in the usual way."""
    items = {"type": "string", "maxLength": 200, "allOf": [{"pattern": pattern} for pattern in patterns]}
    grammar = Grammar.from_json_schema({"type": "array", "items": items}, limits=Limits(max_step_work=400_000))
    for text in ("", "x", "abc", " a b c d"):
        on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
        assert on.accept_bytes(f'["{text}'.encode()) and off.accept_bytes(f'["{text}'.encode())
        assert on.mask() == off.mask(), text
