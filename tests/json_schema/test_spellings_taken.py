"""Keys and items that are taken may come in no spelling again, and to know that costs little, whatever escapes are allowed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from grammar_engine import Grammar, Limits, Matcher, Vocabulary

VOCABULARY = Vocabulary.bytes()
SMALL = Limits(max_step_work=100_000)  # a hundredth of the default
NAMES = ["red", "green", "blue", "é/", "🎉"]
SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def spell(rng: random.Random, value: str) -> str:
    """One of the spellings of RFC 8259."""
    out = []
    for char in value:
        units = [int.from_bytes(char.encode("utf-16-be")[i : i + 2], "big") for i in range(0, 2 * (1 + (ord(char) > 0xFFFF)), 2)]
        escaped = "".join(f"\\u{unit:04{rng.choice('xX')}}" for unit in units)
        ways = [char, char, escaped, *(["\\" + SHORT[char]] if char in SHORT else [])]
        out.append(rng.choice(ways))
    return f'"{"".join(out)}"'


def judged(grammar: Grammar, text: str) -> bool:
    matcher = Matcher(grammar, VOCABULARY)
    return matcher.accept_bytes(text.encode()) and matcher.is_complete


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        ({"type": "object", "propertyNames": {"enum": NAMES}, "minProperties": 2}, {}),
        ({"type": "object", "propertyNames": {"enum": NAMES}}, {"unique_keys": True}),
        ({"type": "object", "patternProperties": {"^[^x]{1,5}$": {}}, "additionalProperties": False}, {"unique_keys": True}),
        ({"type": "object", "propertyNames": {"maxLength": 5}}, {"unique_keys": True}),
    ],
    ids=str,
)
@pytest.mark.parametrize("escapes", ["all", "minimal"])
def test_keys(schema: Any, options: dict[str, Any], escapes: str) -> None:
    grammar = Grammar.from_json_schema(schema, escapes=escapes, property_order="any", limits=SMALL, **options)
    rng = random.Random(5)
    outcomes = set()
    for _ in range(60):
        names = [rng.choice(NAMES) for _ in range(rng.randint(2, 4))]
        spelt = [spell(rng, name) if escapes == "all" else json.dumps(name, ensure_ascii=False) for name in names]
        text = "{" + ",".join(f"{name}:1" for name in spelt) + "}"
        is_right = len(set(names)) == len(names)
        assert judged(grammar, text) == is_right, text
        outcomes.add(is_right)
    assert outcomes == {True, False}


@pytest.mark.parametrize("items", [{"enum": NAMES}, {"type": "string", "maxLength": 5}, {"type": ["string", "integer"]}], ids=str)
def test_items(items: Any) -> None:
    grammar = Grammar.from_json_schema({"type": "array", "items": items, "uniqueItems": True}, escapes="all", limits=SMALL)
    rng = random.Random(6)
    for _ in range(60):
        names = [rng.choice(NAMES) for _ in range(rng.randint(2, 4))]
        text = "[" + ",".join(spell(rng, name) for name in names) + "]"
        assert judged(grammar, text) == (len(set(names)) == len(names)), text


@pytest.mark.parametrize("taken", ["red", "r"])
def test_a_beginning_that_only_taken_keys_have_is_a_dead_end(taken: str) -> None:
    schema = {"type": "object", "propertyNames": {"enum": ["red", "r", "green"]}, "minProperties": 3}
    matcher = Matcher(Grammar.from_json_schema(schema, escapes="all", limits=SMALL), VOCABULARY)
    assert matcher.accept_bytes(b'{"red":1,"r":2,"' if taken == "red" else b'{"r":1,"red":2,"')
    allowed = {byte for byte in range(256) if matcher.mask()[byte // 8] >> byte % 8 & 1}
    assert allowed == {ord("g"), ord("\\")}
    assert not matcher.accept_bytes(b"\\u0072")
    assert matcher.accept_bytes(b"\\u0067reen")
