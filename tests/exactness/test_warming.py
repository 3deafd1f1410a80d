"""`Grammar.warm` computes masks that later texts would have needed, and changes none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary, VocabularyError, warming
from grammar_engine._native import lib
from grammar_engine.sampling import Kinds

SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}}},
    "required": ["id", "tags"],
    "additionalProperties": False,
}


def builds_along(grammar: Grammar, vocabulary: Vocabulary, text: bytes) -> int:
    """Masks computed while a text is read, with a check against a cold grammar."""
    before, matcher = grammar.stats.mask_builds, Matcher(grammar, vocabulary)
    cold = Matcher(Grammar.from_json_schema(SCHEMA, whitespace="compact"), vocabulary)
    for token in vocabulary.encode_greedy(text):
        assert matcher.mask() == cold.mask()
        assert matcher.accept(token) and cold.accept(token)
    return grammar.stats.mask_builds - before


def test_an_example_is_known_afterwards() -> None:
    vocabulary, text = Vocabulary.builtin(), b'{"id":12,"tags":["red","blue"]}'
    grammar = Grammar.from_json_schema(SCHEMA, whitespace="compact")
    assert grammar.warm(vocabulary, seconds=0, examples=[text, '{"id":1,"nothing like it'], seed=1) > 5
    assert builds_along(grammar, vocabulary, text) == 0


def test_random_sentences_find_most_of_it_and_come_to_an_end() -> None:
    vocabulary = Vocabulary.builtin()
    grammar = Grammar.from_json_schema(SCHEMA, whitespace="compact")
    assert grammar.warm(vocabulary, seconds=60) > 10  # ends long before
    assert builds_along(grammar, vocabulary, b'{"id":7,"tags":["green"]}') <= 2
    assert grammar.warm(vocabulary, seconds=60, seed=5) <= 10


def test_to_look_at_the_vocabulary_takes_none_of_the_time(monkeypatch) -> None:
    """Else a large vocabulary would use up a small budget before the first sentence."""
    now, made = [0.0], Kinds.__init__

    def slow(kinds: Kinds, vocabulary: Vocabulary) -> None:
        now[0] += 1000
        made(kinds, vocabulary)

    monkeypatch.setattr(Kinds, "__init__", slow)
    monkeypatch.setattr(warming, "time", SimpleNamespace(monotonic=lambda: now[0]))
    vocabulary = Vocabulary.builtin()
    assert Grammar.from_json_schema(SCHEMA).warm(vocabulary, 0.05) > 10
    assert Grammar.from_json_schema(SCHEMA).warm(vocabulary, seconds=0.05) > 10
    assert now[0] == 1000  # and is done once


def test_masks_have_half_of_the_time(monkeypatch) -> None:
    """What loops ask for besides may cost far more than masks:
    in random texts it has no more time than they, along examples all that it takes."""
    seconds = {"masks": 0, "besides": 0}
    kept = {"masks": Matcher.mask, "besides": lib.ge_matcher_turn}

    def timed(name: str, cost: int):
        def call(*arguments):
            seconds[name] += cost
            return kept[name](*arguments)

        return call

    monkeypatch.setattr(Matcher, "mask", timed("masks", 1))
    others = {name: getattr(lib, name) for name in ("GE_TURN_ALONE", "ge_matcher_length")}
    monkeypatch.setattr(warming, "lib", SimpleNamespace(ge_matcher_turn=timed("besides", 10), **others))
    monkeypatch.setattr(warming, "time", SimpleNamespace(monotonic=lambda: sum(seconds.values())))
    vocabulary, text = Vocabulary.builtin(), b'{"id":12,"tags":["red","blue"]}'
    Grammar.from_json_schema(SCHEMA, whitespace="compact").warm(vocabulary, seconds=0, examples=[text])
    assert seconds["besides"] == 10 * seconds["masks"] > 50
    seconds.update(masks=0, besides=0)
    Grammar.from_json_schema(SCHEMA, whitespace="compact").warm(vocabulary, seconds=200)
    assert 50 < seconds["besides"] < seconds["masks"] + 10


def test_a_vocabulary_without_an_end_is_warmed_too() -> None:
    vocabulary = Vocabulary([b"a", b"b"], eos=[])
    grammar = Grammar.from_regex("[ab]{3}")
    assert grammar.warm(vocabulary, seconds=0.05) > 0
    assert Matcher(grammar, vocabulary).allowed_tokens() == [0, 1]


def test_where_no_token_goes_on_a_text_ends_and_others_are_read() -> None:
    """A vocabulary that lacks a byte has dead ends: they are no reason to leave the rest cold."""
    vocabulary = Vocabulary([b"a", b"b", b"c", b""], eos=[3])
    grammar = Grammar.from_regex("a(xy|bc*)|b*")
    assert grammar.warm(vocabulary, seconds=60, examples=["ab"]) > 3
    dead = Grammar.from_regex("[ab]{2,9}x|c[ab]+")
    assert dead.warm(vocabulary, seconds=60, examples=["ababababa"]) > 5
    before = dead.stats.mask_builds
    with pytest.raises(VocabularyError, match="no token begins to spell"):
        dead.warm(vocabulary, seconds=60, examples=["ab", "abx"])
    assert dead.stats.mask_builds == before  # an argument that is none it may be
