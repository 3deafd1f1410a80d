"""Generations: an engine that is full is left to the matchers that use it; new ones begin afresh, and every mask stays right."""

from __future__ import annotations

import gc
import json
import random

import pytest

from grammar_engine import Grammar, Limits, Matcher, Vocabulary, allocate_masks, fill_masks
from grammar_engine.engine import Switches
from grammar_engine.errors import LimitExceededError

SCHEMA = {"type": "array", "items": {"enum": [f"value {i}" for i in range(40)]}, "maxItems": 30}
VOCABULARY = Vocabulary.builtin()


def random_walk(matcher, rng, steps):
    """Append some tokens."""
    for _ in range(steps):
        assert matcher.accept(
            rng.choice([token for token in matcher.allowed_tokens() if token not in VOCABULARY.eos] or [VOCABULARY.eos[0]])
        )


def test_a_fresh_generation_for_new_matchers():
    grammar = Grammar.from_json_schema(SCHEMA, limits=Limits(max_generation_bytes=1))
    free = Grammar.from_json_schema(SCHEMA)
    rng = random.Random(5)
    alive = []
    for number in range(1, 8):
        matcher = Matcher(grammar, VOCABULARY)
        assert grammar.stats.generation == number
        random_walk(matcher, rng, 12)
        alive.append(matcher)
        for old in alive:  # all go on, each in its own generation
            twin = Matcher(free, VOCABULARY)
            assert twin.accept_tokens(old.tokens) == len(old.tokens)
            assert twin.mask() == old.mask()
            assert twin.forced_bytes() == old.forced_bytes()
            again = old.fork()
            again.reset()
            assert again.accept_tokens(old.tokens[:3]) == 3
            again.rollback(1)
            twin.reset()
            twin.accept_tokens(old.tokens[:2])
            assert again.mask() == twin.mask()
            assert again.explain(b"x") == twin.explain(b"x")
    buffer = allocate_masks(len(alive), VOCABULARY)
    fill_masks(alive, buffer)
    assert [buffer[i].tobytes() for i in range(len(alive))] == [matcher.mask() for matcher in alive]


def test_a_generation_that_is_not_full_is_shared():
    grammar = Grammar.from_json_schema(SCHEMA)
    first, second = Matcher(grammar, VOCABULARY), Matcher(grammar, VOCABULARY)
    first.mask()
    builds = grammar.stats.mask_builds
    second.mask()
    assert grammar.stats.mask_builds == builds
    assert grammar.stats.generation == 1


def test_each_vocabulary_and_each_switch_has_an_engine_of_its_own():
    """However they take turns: the engine that was asked for last is found without a look at the others."""
    grammar, other = Grammar.from_regex("[ab]+c"), Grammar.from_regex("a+b")
    vocabularies = [Vocabulary([b"a", b"b", b"c", b""], eos=[3]), Vocabulary([b"c", b"ab", b"", b"a"], eos=[2])]
    off = Switches(mask_cache=False)
    asked = [(g, v, s) for g in (grammar, other) for v in vocabularies for s in (Switches(), off)]
    first = [Matcher(g, v, switches=s) for g, v, s in asked]
    assert len({id(matcher._engine) for matcher in first}) == len(asked)
    assert [matcher.allowed_tokens() for matcher in first] == [[0, 1], [0, 1], [1, 3], [1, 3], [0], [0], [1, 3], [1, 3]]
    rng = random.Random(2)
    for _ in range(200):
        i = rng.randrange(len(asked))
        assert Matcher(asked[i][0], asked[i][1], switches=asked[i][2])._engine is first[i]._engine


def test_an_engine_goes_with_its_vocabulary():
    grammar, vocabulary = Grammar.from_regex("[ab]+c"), Vocabulary([b"a", b"b", b"c", b""], eos=[3])
    Matcher(grammar, vocabulary).mask()
    assert grammar.stats.configurations
    del vocabulary
    gc.collect()
    assert not grammar.stats.configurations


def test_the_engine_outlives_grammar_and_vocabulary():
    matcher = Matcher(Grammar.from_regex("(ab|ac)*d"), Vocabulary([b"a", b"b", b"c", b"d", b"ab", b""], eos=[5]))
    assert matcher.allowed_tokens() == [0, 3, 4]
    assert matcher.accept_tokens([4, 0]) == 2
    assert matcher.allowed_tokens() == [1, 2]


def test_a_ceiling_on_states_is_for_one_text_and_not_for_all():
    """Many different texts over one grammar, each of which is small, never meet a limit that none of them meets alone."""
    schema = {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{1,40}-[0-9]{1,40}$"}, "maxItems": 500}
    limits = Limits(max_configurations=80)
    grammar, free = (Grammar.from_json_schema(schema, whitespace="compact", limits=given) for given in (limits, None))
    rng = random.Random(6)
    most = 0
    for _ in range(40):
        one, other = Matcher(grammar, VOCABULARY), Matcher(free, VOCABULARY)
        items = ["a" * rng.randint(1, 5) + "-" + "7" * rng.randint(1, 5) for _ in range(rng.randint(1, 6))]
        for token in VOCABULARY.encode_greedy(json.dumps(items, separators=(",", ":")).encode()):
            assert one.mask() == other.mask()
            assert one.explain(b"x") == other.explain(b"x")
            assert one.forced_bytes() == other.forced_bytes()
            assert one.accept(token)
            assert other.accept(token)
        assert one.is_complete
        most = max(most, grammar.stats.configurations)
    assert free.stats.configurations > 80 >= most
    assert grammar.stats.generation > 1


CEILINGS = {
    "max_expressions": 708,  # from 702 on it is enough for each of the texts, from 714 on for all
    "max_lexer_states": 300,
    "max_rules": 400,
    "max_rows": 60,
    "max_configurations": 500,
    "max_memory_bytes": 400_000,
}


@pytest.mark.parametrize("limit", CEILINGS)
def test_each_ceiling_is_for_one_text(limit: str) -> None:
    """Texts over one grammar go on in a fresh generation where they meet it."""
    letters = [*"abcdefgh"]
    items = {"type": "array", "items": {"enum": [letter * 3 for letter in letters]}, "uniqueItems": True, "maxItems": 5}
    properties = {"items": items, "name": {"type": "string", "pattern": "^[a-z]{1,90}-[0-9]{1,90}$"}}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema, whitespace="compact", limits=Limits(**{limit: CEILINGS[limit]}))
    rng = random.Random(7)
    for _ in range(300):
        name = "a" * rng.randint(1, 80) + "-" + "7" * rng.randint(1, 80)
        text = json.dumps({"items": [letter * 3 for letter in rng.sample(letters, 5)], "name": name}, separators=(",", ":"))
        matcher = Matcher(grammar, VOCABULARY)
        assert matcher.accept_bytes(text.encode())
        assert matcher.is_complete
    assert grammar.stats.generation > 1


def test_what_was_taken_back_is_not_read_again() -> None:
    """A matcher of texts moves to another generation with the text that it has, and not with one that it had."""
    grammar = Grammar.from_lark('start: "(" start ")" | "[" start "]" | "x" start | "y"', limits=Limits(max_rows=60))
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_bytes(b"(((")
    matcher.rollback(1)
    assert matcher.accept_bytes(b"xx(")
    with pytest.raises(LimitExceededError):
        Matcher(grammar, VOCABULARY).accept_bytes(b"[" * 1000)
    assert matcher.accept_bytes(b"(" * 12)
    assert matcher.accept_bytes(b"y" + b")" * 13)
    assert matcher.is_complete


def test_what_others_have_made_in_a_fresh_generation_counts_no_more_than_in_the_first():
    """A text that meets a ceiling moves to the generation that others use by now, and where they have left no room to one of its own."""
    grammar = Grammar.from_lark('start: "(" start ")" | "[" start "]" | "x"', limits=Limits(max_rows=200))
    early, late = Matcher(grammar, VOCABULARY), Matcher(grammar, VOCABULARY)
    assert early.accept_bytes(b"(" * 50)
    assert late.accept_bytes(b"[" * 160)  # in a second generation
    assert grammar.stats.generation == 2
    assert early.accept_bytes(b"[" * 35)  # which has no room for both, either
    assert early.accept_bytes(b"x" + b"]" * 35 + b")" * 50)
    assert early.is_complete
    assert Matcher(grammar, VOCABULARY)._engine is early._engine
    with pytest.raises(LimitExceededError, match="max_rows = 200 is reached"):
        late.accept_bytes(b"[" * 60)
    assert len(late.tokens) == 1
    late.rollback(1)
    assert late.mask() == Matcher(grammar, VOCABULARY).mask()


def test_several_tokens_are_accepted_once_each_through_generations():
    """Some in a generation that has room for no more, the others in the next one."""
    grammar = Grammar.from_lark('start: "(" start ")" | "[" start "]" | "x"', limits=Limits(max_rows=200))
    early, late = Matcher(grammar, VOCABULARY), Matcher(grammar, VOCABULARY)
    assert early.accept_bytes(b"(" * 20)
    assert late.accept_bytes(b"[" * 160)
    assert early.mask() == late.mask()
    bytes_of = {VOCABULARY.token_bytes(token): token for token in range(VOCABULARY.size)}
    tokens = [bytes_of[b"["]] * 40 + [bytes_of[b"x"], bytes_of[b")"]]
    assert early.validate(tokens) == 41
    assert early.accept_tokens(tokens) == 41
    assert early.tokens == [-1, *tokens[:41]]
    assert early.accept_tokens([bytes_of[b"]"]] * 39) == 39
