"""A compiled grammar as a part of another: its sentences stay the same, and what it skips is skipped nowhere else."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from exactness.grammars import random_grammar
from exactness.walk import Walk
from grammar_engine import Grammar, GrammarError, Matcher, Tag, Vocabulary
from grammar_engine.inclusion import Part, include
from grammar_engine.ir import Builder
from vocabularies import random_vocabulary

FOLDER = Path(__file__).resolve().parents[2] / "grammars"


def included(grammar: Grammar) -> Grammar:
    builder = Builder()
    builder.bytes(b"something that the part does not have")  # so that ids differ
    builder.start = include(builder, Part(grammar._records, grammar._lexemes, grammar._nonterminals, grammar._named))
    return Grammar._from_builder(builder)


@pytest.mark.parametrize("seed", range(150))
def test_masks_are_those_of_the_recogniser(seed: int) -> None:
    rng = random.Random(seed)
    builder, alphabet = random_grammar(rng, special=seed % 3 == 0)
    walk = Walk(builder, random_vocabulary(rng, alphabet), rng)
    if walk.matcher is None:
        return
    walk.matcher = Matcher(included(walk.grammar), walk.tiny.build())
    walk.run(rng.randint(5, 20))
    assert walk.masks


@pytest.mark.parametrize("path", sorted((FOLDER / "schemas").glob("*.json")), ids=lambda path: path.stem)
@pytest.mark.parametrize("options", [{}, {"property_order": "any", "whitespace": "compact"}, {"unique_keys": True}])
def test_schemas(path: Path, options: dict) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    grammar = Grammar.from_json_schema(schema, **options)
    whole, vocabulary = included(grammar), Vocabulary.builtin()
    for example in schema["examples"]:
        one, other = Matcher(grammar, vocabulary), Matcher(whole, vocabulary)
        separators = (",", ":") if "whitespace" in options else None
        for token in vocabulary.encode_greedy(json.dumps(example, separators=separators, ensure_ascii=False).encode()):
            assert one.mask() == other.mask()
            assert one.accept(token)
            assert other.accept(token)
        assert one.is_complete
        assert other.is_complete


UNIQUE = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"enum": [1, 2, "x"]}, "uniqueItems": True, "minItems": 1},
        "b": {"maxLength": 3, "type": "string"},
    },
    "patternProperties": {"^k": {"type": "integer", "multipleOf": 0.5}},
    "dependentRequired": {"b": ["a"]},
    "minProperties": 1,
}


ASKING = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in "abc"},
    "dependentRequired": {"b": ["a"], "a": ["c"]},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "text"),
    [(UNIQUE, b'{"a": [1, "x", 2], "b": "abc", "k1": 1.5, "k": 2}'), (ASKING, b'{"a": 1, "b": 2, "c": 3}')],
)
def test_bags_with_values_and_conditions(schema: dict, text: bytes) -> None:
    for order in ("schema", "any"):
        grammar = Grammar.from_json_schema(schema, property_order=order, unique_keys=True)
        one, other = (Matcher(each, Vocabulary.bytes()) for each in (grammar, included(grammar)))
        for byte in text:
            assert one.mask() == other.mask()
            assert one.accept(byte) == other.accept(byte)
        assert one.is_complete
        assert other.is_complete


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.lark")))
def test_lark_grammars(name: str) -> None:
    grammar = included(Grammar.from_lark((FOLDER / f"{name}.lark").read_text(encoding="utf-8")))
    for kind in ("accept", "reject"):
        for path in sorted((FOLDER / f"{name}.{kind}").iterdir()):
            matcher = Matcher(grammar, Vocabulary.bytes())
            assert (matcher.accept_bytes(path.read_bytes()) and matcher.is_complete) == (kind == "accept"), path.name


def test_what_a_body_skips_is_skipped_in_it_alone() -> None:
    body = Grammar.from_lark('start: "a" "b"\n%ignore " "')
    grammar = Grammar.from_tags([Tag("<", body, ">"), Tag("[", Grammar.from_regex("ab"), "]")], text="never")

    def reads(text: bytes) -> bool:
        matcher = Matcher(grammar, Vocabulary.bytes())
        return matcher.accept_bytes(text) and matcher.is_complete

    assert reads(b"< a  b ><ab>[ab]")
    assert not any(map(reads, [b"<ab> <ab>", b"[a b]", b"[ab ]", b" <ab>", b"<ab> "]))


def test_bodies_that_scan_for_the_longest_match_are_refused() -> None:
    body = Grammar.from_lark('start: "a"', lexing="longest")
    with pytest.raises(GrammarError, match="longest"):
        Grammar.from_tags([Tag("<", body, ">")])
