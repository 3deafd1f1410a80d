"""Counted text: bounds of characters that a token reaches or does not,
e-mail addresses beside them, escapes within, words that are counted."""

from __future__ import annotations

import random
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary

OFF = Switches(mask_cache=False, inner_masks=False, shared_inner=False, slices=False, heirs=False, clamping=False, shapes=False)
LETTERS = "aabcdeXY   12.-_@é世"
SCHEMAS: list[dict[str, Any]] = [
    *(
        {"type": "string", "minLength": least, "maxLength": most}
        for least, most in ((8, 80), (12, 60), (3, 40), (9, 5000), (0, 12), (20, 200))
    ),
    {"type": "string", "minLength": 9},
    {"type": "string", "format": "email", "maxLength": 254},
    {"type": "string", "format": "email", "minLength": 5, "maxLength": 40},
    {"type": "string", "maxLength": 60, "pattern": r"^(?:\S+\s+){0,9}\S+$"},
    {"type": "string", "maxLength": 200, "pattern": r"^$|(^(?:\S+\s+){0,2}\S+$)"},
    {"type": "string", "pattern": "^[^@\\s]+@[^@]+$"},
    {"type": "string", "minLength": 6, "pattern": r"^.*@.*\..*$"},
    {"type": "string", "pattern": r"^.+\.(csv|tsv|xls)$"},
    {"type": "string", "pattern": "^[A-Za-z ]+[^,é]*$"},
]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    """With enough tokens behind a space for a hub."""
    rng = random.Random(0)
    words = {rng.choice(("", " ")) + "".join(rng.choices(LETTERS, k=rng.randint(1, 8))) for _ in range(4000)}
    words |= {" " * n for n in range(2, 50)} | {"a" * n for n in range(2, 40)} | {"é" * n for n in range(2, 12)}
    words |= {'a"', '".', '",', "\\n", "\\nab", "\\u00", "\\\\a", 'abcdefgh"', '12345678",'}
    return Vocabulary([*(bytes([byte]) for byte in range(256)), *(word.encode() for word in sorted(words)), b""], eos=[256 + len(words)])


@pytest.mark.parametrize("source", SCHEMAS, ids=str)
def test_masks_of_counted_text(vocabulary: Vocabulary, source: dict[str, Any]) -> None:
    rng = random.Random(str(source))
    grammar, n_masks = Grammar.from_json_schema(source), 0
    for _ in range(4):
        on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
        for text in [
            '"',
            *(rng.choice(("a", "b ", " ab", "1.", "a@b", ".csv", "é", "\\\\", "\\n", "\\", "n", "word word ")) for _ in range(12)),
        ]:
            if not on.accept_bytes(text.encode()):
                continue
            assert off.accept_bytes(text.encode())
            assert on.mask() == off.mask(), (source, text)
            n_masks += 1
    assert n_masks > 8


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"minLength": 8, "maxLength": 80}, b"aaaaaa\\"),
        ({"minLength": 4, "maxLength": 30000}, b"aaaaaa\\"),
        ({"format": "email", "maxLength": 255}, b"aaaaaa"),
    ],
)
def test_counted_text_takes_few_derivatives(vocabulary: Vocabulary, source: dict[str, Any], text: bytes) -> None:
    grammar = Grammar.from_json_schema({"type": "string"} | source)
    matcher = Matcher(grammar, vocabulary)
    assert matcher.accept_bytes(b'"')
    matcher.mask()
    before = grammar.stats
    assert before.trie_nodes < 5000
    assert matcher.accept_bytes(text)
    matcher.mask()
    assert grammar.stats.derivatives - before.derivatives < 150
