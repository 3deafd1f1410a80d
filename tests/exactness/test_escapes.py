"""Masks within escapes of strings that may have any text: a unit of their own, found with the vocabulary by all grammars."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary

OFF = Switches(mask_cache=False, inner_masks=False, shared_inner=False, slices=False, heirs=False, clamping=False, shapes=False)
SCHEMAS: list[Any] = [
    {"type": "string"},
    {"type": "string", "minLength": 3},
    {"type": ["string", "integer"], "not": {"enum": ["n", "\n", "\nn"]}},
    {"type": "object", "properties": {"\n": {"type": "string"}, "n": {"type": "boolean"}}},
]
TEXTS = ["\n", "\\", '"\t', "a\x1fé", "日\u0001", "\U0001f600x"]


@pytest.mark.parametrize("escapes", ["minimal", "all"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_masks_are_those_of_walks(schema: Any, escapes: Any) -> None:
    vocabulary, grammar = Vocabulary.builtin(), Grammar.from_json_schema(schema, escapes=escapes)
    on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
    n_within = 0
    for text in TEXTS:
        on.reset()
        off.reset()
        start = '{"' if isinstance(schema["type"], str) and schema["type"] == "object" else '"'
        for byte in (start + json.dumps(text)[1:]).encode():  # surrogates are spelt, too
            if not on.accept_bytes(bytes([byte])):
                break
            assert off.accept_bytes(bytes([byte]))
            assert on.mask() == off.mask(), (text, byte)
            n_within += byte == ord("\\")
    assert n_within >= 4


def test_later_grammars_find_them(real_vocabulary: Callable[[str], Vocabulary]) -> None:
    vocabulary, visited = real_vocabulary("tekken-131k"), []
    for name in ("a", "b", "c"):
        schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name], "additionalProperties": False}
        grammar = Grammar.from_json_schema(schema, escapes="all")
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(f'{{"{name}": "x'.encode())
        matcher.mask()
        for byte in (b"\\", b"u"):
            before = grammar.stats
            assert matcher.accept_bytes(byte)
            matcher.mask()
            visited.append((grammar.stats.trie_nodes - before.trie_nodes, grammar.stats.derivatives - before.derivatives))
    assert all(nodes < 200 and derivatives < 200 for nodes, derivatives in visited[2:]), (
        visited
    )  # 2,500 nodes; an automaton of 5,000 derivatives
