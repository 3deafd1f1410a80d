"""Plain tokens all at once: patterns that tell letters apart wherever they may be. Masks are those of walks without any fast path."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Switches, UnsatisfiableSchemaError, Vocabulary
from vocabularies import load_real, random_vocabulary

ALL_OFF = Switches(**dict.fromkeys((field.name for field in dataclasses.fields(Switches)), False))
WITHOUT = Switches(slices=False)

SCHEMAS: list[tuple[dict[str, Any], str]] = [
    ({"not": {"pattern": "admin|root|test"}}, "a tes roo"),
    ({"not": {"pattern": "admin|root|test"}, "maxLength": 12}, "adm rooster"),
    ({"pattern": "^(?!.*(admin|root|test)).*$", "maxLength": 20}, "admi tést ro"),
    ({"pattern": "(foo|bar|baz)$", "maxLength": 14}, "hello fo foo"),
    ({"pattern": "^foo.*bar$", "maxLength": 30}, "foo and bar"),
    ({"pattern": "^x.*(ab|ba).{0,4}$"}, "x and ab b"),
    ({"pattern": r"^[\p{L}\p{M}' .-]{1,20}$"}, "José Ångström"),
    ({"pattern": r"^\p{Lu}\p{Ll}+( \p{Lu}\p{Ll}+)*$", "maxLength": 60}, "José Maria"),
    ({"pattern": r"^(?=.*error)(?=.*info).{0,40}$"}, "error info mo"),
    ({"pattern": "e.{3}$", "maxLength": 25}, "the end of it"),
]


def masks(schema: dict[str, Any], vocabulary: Vocabulary, text: str, switches: Switches) -> tuple[list[bytes], int]:
    grammar = Grammar.from_json_schema({"type": "string", **schema}, whitespace="compact")
    matcher = Matcher(grammar, vocabulary, switches=switches)
    found = []
    for byte in b'"' + text.encode():
        assert matcher.accept_bytes(bytes([byte]))
        found.append(bytes(matcher.mask()))
    return found, grammar.stats.trie_nodes


@pytest.mark.parametrize(("schema", "text"), SCHEMAS)
def test_masks_are_those_without(schema: dict[str, Any], text: str) -> None:
    vocabulary = Vocabulary.builtin()
    expected = masks(schema, vocabulary, text, ALL_OFF)[0]
    for switches in (Switches(), WITHOUT, Switches(clamping=False), Switches(shapes=False), Switches(shared_inner=False, heirs=False)):
        assert masks(schema, vocabulary, text, switches)[0] == expected, switches


@pytest.mark.parametrize(("schema", "text"), SCHEMAS)
def test_over_a_real_vocabulary(schema: dict[str, Any], text: str) -> None:
    tiny = load_real("tekken-131k")
    assert masks(schema, tiny.build(), text, Switches())[0] == masks(schema, tiny.build(), text, WITHOUT)[0]


def test_the_whole_trie_is_walked_where_letters_are_told_apart() -> None:
    tokens = Vocabulary.builtin().tokens
    nodes = len({token[:end] for token in tokens for end in range(len(token) + 1)})
    for schema, text in SCHEMAS[:3]:
        assert nodes <= masks(schema, Vocabulary.builtin(), text[:1], Switches())[1] < 4 * nodes, schema
    for pattern, text in (("^[a-z ]+$", "a"), ("^abc", "a"), ("^[a-z]{1,30}$", "a"), ("^[0-9a-f]{8}$", "0")):
        assert masks({"pattern": pattern}, Vocabulary.builtin(), text, Switches())[1] < nodes, pattern


def test_random_patterns(long_run: bool) -> None:
    """Over tokens of all sorts, among them parts of characters, quotation marks and escapes."""
    alphabet = [b"a", b"b", b"f", b"o", b" ", b"\xc3\xa9", b"\xc3", b"\xa9", b'"', b"\\n", b"\xe2\x80\xa8", b"B"]
    compared = 0
    for seed in range(600 if long_run else 40):
        rng = random.Random(f"dense {seed}")
        vocabulary = random_vocabulary(rng, alphabet, size=60, longest=5).build()
        word = "".join(rng.choice("abfo é") for _ in range(rng.randint(1, 3)))
        other = "".join(rng.choice("abfo") for _ in range(rng.randint(1, 2)))
        pattern = rng.choice(
            [f"{word}|{other}", f"({word}|{other})$", f"^(?!.*{word}).*{other}", f"^[ab{word}]*{other}.{{0,3}}$", f"{word}.{{2}}$"]
        )
        schema: dict[str, Any] = {"not": {"pattern": pattern}} if rng.random() < 0.4 else {"pattern": pattern}
        if rng.random() < 0.6:
            schema["maxLength"] = rng.randint(8, 60)
        if rng.random() < 0.3:
            schema["minLength"] = rng.randint(1, 8)
        try:
            grammar = Grammar.from_json_schema({"type": "string", **schema}, whitespace="compact")
        except UnsatisfiableSchemaError:
            continue
        one, other_one = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=ALL_OFF)
        assert one.accept_bytes(b'"') and other_one.accept_bytes(b'"')
        for _ in range(8):
            allowed = one.allowed_tokens()
            assert allowed == other_one.allowed_tokens(), (schema, seed)
            compared += 1
            if one.is_terminated or not allowed:
                break
            token = rng.choice(allowed)
            assert one.accept(token) and other_one.accept(token)
    assert compared > (2000 if long_run else 100)
