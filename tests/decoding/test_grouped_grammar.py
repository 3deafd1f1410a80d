"""Grouped sampling under a grammar: always a sentence, and in mode "verify" the plain loop's text."""

from __future__ import annotations

import json
import re
import string
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoding.clock import Clock
from decoding.grouped_models import PAD, TableModel
from grammar_engine import Grammar, Vocabulary, VocabularyError
from grammar_engine.decoding import Sampling, generate
from grammar_engine.decoding.grouped import GroupedSampler, GroupedTreeSearch, GroupSize, LogitScalingRepetitionPenalty, NoRepetitionPenalty

PIECES = [b'{"', b'":', b'", "', b'": "', b"true", b"false", b"null", b"ab", b"abc", b"12", b"00", b"}]", b"-0", b"  ", b'"}', b"[["]
VOCABULARY = Vocabulary(
    [b"", *(char.encode() for char in string.printable), *PIECES, b"ab", b"\xc3", b"\xa9", b""],
    eos=[len(string.printable) + len(PIECES) + 4],
    special={PAD: "<pad>"},
    width=128,
)

PATTERNS = [
    "[ab]{3,9}",
    "a*",
    "(ab|ba)*-[0-9]{4}",
    "(abc)+|x{2,5}y",
    "20[0-9]{2}-(0[1-9]|1[0-2])-00",
    "[^a-z]{1,12}!",
    "(true|false)(, (true|false))*",
]
SCHEMAS = [
    True,
    {"type": "boolean"},
    {"type": "array", "items": {"type": "integer", "minimum": 5, "maximum": 120}, "minItems": 2, "maxItems": 6},
    {"type": "object", "properties": {"abc": {"type": "string", "maxLength": 9}, "b": {"enum": [1, "two", None]}}, "required": ["abc", "b"]},
    {"$ref": "#/$defs/node", "$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2}}},
    {"anyOf": [{"type": "string", "pattern": "^[a-c]{2,}$"}, {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "null"}}]},
]  # fmt: skip


def of_pattern(pattern):
    return Grammar.from_regex(pattern), lambda text: re.fullmatch(pattern, text) is not None


def of_schema(schema):
    def holds(text):
        value = json.loads(text)
        jsonschema.Draft202012Validator(schema).validate(value)
        return True

    return Grammar.from_json_schema(schema), holds


LANGUAGES = [*map(of_pattern, PATTERNS), *map(of_schema, SCHEMAS)]
GREEDY = Sampling(temperature=0)


def model_of(seed: int, scale: float = 2.0) -> TableModel:
    return TableModel(VOCABULARY.width, seed, scale)


methods = st.sampled_from([{}, {"top_k": 1}, {"top_k": 3}, {"top_p": 0.6}, {"temp": 3.0}, {"temp": 0.4}])
ways = st.fixed_dictionaries(
    {
        "group_size": st.integers(1, 9),
        "mode": st.sampled_from(["commit", "verify"]),
        "forced": st.booleans(),
        "adaptive": st.booleans(),
        "redraft": st.booleans(),
        "penalize_in_group": st.booleans(),
        "end_of_sentence_stop": st.booleans(),
        "min_allowed_mass": st.sampled_from([0.0, 0.2, 0.9]),
        "min_top_prob": st.sampled_from([0.0, 0.3]),
        "repetition_penalty_strategy": st.sampled_from([None, LogitScalingRepetitionPenalty(1.5)]),
    }
)


@given(st.sampled_from(LANGUAGES), methods, ways, st.integers(0, 10_000), st.integers(0, 60))
def test_every_text_is_a_sentence(language, method, way, seed, spare):
    grammar, holds = language
    shortest = len(shortest_of(grammar))
    model = model_of(seed)
    sampler = GroupedSampler(model, VOCABULARY, **method, **way)
    [[result]] = sampler.generate([[7, 8]], shortest + spare, grammar=grammar, seed=seed)
    assert result.finished and result.stop_reason == "end"
    assert holds(result.text), result
    assert len(result.ids) < shortest + spare  # and the end
    assert result.calls == len(model.asked) <= len(result.ids) + 1
    assert 0 <= result.rows_dropped <= result.rows_read


def shortest_of(grammar):
    from grammar_engine import Matcher

    matcher = Matcher(grammar, VOCABULARY)
    tokens = matcher.closing_tokens()
    while fewer := matcher.closing_within(len(tokens) - 1):
        tokens = fewer
    return tokens


@given(
    st.sampled_from([(None, None), *LANGUAGES]),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1.0, 1.7]),
    st.integers(0, 10_000),
    st.integers(0, 40),
    st.sampled_from([None, 12, 30]),
)
def test_verify_with_greedy_choice_is_the_plain_loop(language, group, redraft, adaptive, forced, theta, seed, spare, length):
    """Whatever the group, also where the budget is short, and where the model cannot see the whole text."""
    grammar, _ = language
    budget = spare + (len(shortest_of(grammar)) if grammar else 1)
    penalty = LogitScalingRepetitionPenalty(theta) if theta > 1 else NoRepetitionPenalty()
    model = model_of(seed)

    def plain_model(ids):
        return model(ids[-length:] if length else ids)[-1:].repeat(len(ids), axis=0)

    plain = generate(
        plain_model,
        [7, 8],
        grammar,
        VOCABULARY,
        sampling=Sampling(temperature=0, repetition_penalty=theta),
        max_new_tokens=budget,
        forced=forced,
    )
    sampler = GroupedSampler(
        model,
        VOCABULARY,
        group,
        mode="verify",
        top_k=1,
        redraft=redraft,
        adaptive=adaptive,
        forced=forced,
        max_input_len=length,
        repetition_penalty_strategy=penalty,
    )
    [[result]] = sampler.generate([[7, 8]], budget, grammar=grammar)
    assert result.ids == [token for token in plain.tokens if token not in VOCABULARY.eos]
    assert result.calls <= plain.passes
    assert (result.stop_reason, result.forced) == (plain.finish_reason, plain.forced)


@given(st.sampled_from([(None, None), *LANGUAGES]), st.booleans(), st.sampled_from([1.0, 1.7]), st.integers(0, 10_000), st.integers(0, 40))
def test_a_group_of_one_is_the_plain_loop_draw_for_draw(language, forced, theta, seed, spare):
    grammar, _ = language
    budget = spare + (len(shortest_of(grammar)) if grammar else 1)
    sampling = Sampling(temperature=0.8, top_p=0.9, repetition_penalty=theta)
    plain = generate(model_of(seed), [7], grammar, VOCABULARY, sampling=sampling, max_new_tokens=budget, forced=forced, seed=seed)
    for mode in ("commit", "verify"):
        sampler = GroupedSampler(
            model_of(seed),
            VOCABULARY,
            1,
            mode=mode,
            temp=0.8,
            top_p=0.9,
            forced=forced,
            repetition_penalty_strategy=LogitScalingRepetitionPenalty(theta) if theta > 1 else NoRepetitionPenalty(),
        )
        [[result]] = sampler.generate([[7]], budget, grammar=grammar, seed=seed)
        ids = [token for token in plain.tokens if token not in VOCABULARY.eos]
        # where a token did not fit the others are drawn in the same distribution, by other numbers
        assert result.ids == ids or plain.refused


# The shortest text of the second takes 13 tokens, and another one 7: only the text itself knows that way, also after its drafts were undone.
BUDGETED = [of_schema(SCHEMAS[3]), of_pattern("([ab](zzzz|false)){2}[cd](zzzz|true)")]


@pytest.mark.parametrize("language", BUDGETED, ids=["schema", "pattern"])
@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_each_budget_from_the_shortest_on_is_kept(mode, language):
    grammar, holds = language
    shortest = len(shortest_of(grammar))
    for budget in range(shortest, shortest + 25):
        for seed in range(2):
            sampler = GroupedSampler(model_of(seed), VOCABULARY, 4, mode=mode)
            [[result]] = sampler.generate([[7]], budget, grammar=grammar)
            assert result.finished and len(result.ids) < budget and holds(result.text)
    with pytest.raises(ValueError, match="max_new_tokens"):
        sampler.generate([[7]], shortest - 1, grammar=grammar)
    [[cut]] = GroupedSampler(model_of(0), VOCABULARY, 4, mode=mode, close_in_time=False).generate([[7]], shortest - 1, grammar=grammar)
    assert not cut.finished and cut.stop_reason == "budget"


def test_forced_text_takes_the_place_of_pads():
    grammar = Grammar.from_regex("xyzxyzxyz[ab]xyzxyz[ab]")
    model = model_of(1)
    [[result]] = GroupedSampler(model, VOCABULARY, 8, mode="commit").generate([[7]], 50, grammar=grammar)
    assert (result.calls, result.forced, result.rows_dropped) == (1, 16, 6)  # the second letter is read at row 7
    assert bytes(VOCABULARY.token_bytes(token)[0] for token in model.asked[0][1:10]) == b"xyzxyzxyz"
    assert model.asked[0][10:] == [PAD] * 7
    [[asked]] = GroupedSampler(model_of(1), VOCABULARY, 8, mode="commit", forced=False).generate([[7]], 50, grammar=grammar)
    assert asked.calls == 3 and asked.forced == 0 and len(asked.text) == len(result.text)


def test_a_row_that_is_not_trusted_ends_its_group():
    """Rows at pads put their mass on what the grammar does not allow; the model's own rows do not."""
    letters = [VOCABULARY.tokens.index(b"c"), VOCABULARY.tokens.index(b"d")]

    def model(ids):
        scores = np.zeros((len(ids), VOCABULARY.width), dtype=np.float32)
        for position, token in enumerate(ids):
            scores[position, letters] = -9 if token == PAD else 9
        return scores

    grammar = Grammar.from_regex("[cd]{12}")
    for threshold, calls in ((0.5, 12), (0.0, 3)):
        sampler = GroupedSampler(model, VOCABULARY, 4, min_allowed_mass=threshold)
        [[result]] = sampler.generate([[7]], 13, grammar=grammar)
        assert result.calls == calls
    [[result]] = GroupedSampler(model, VOCABULARY, 4, min_allowed_mass=0.5, adaptive=True).generate([[7]], 13, grammar=grammar)
    assert result.calls == 12 and result.rows_read < 25  # groups have shrunk
    assert result.mass[1] < 0.01 * result.weighed[1]


@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize(
    ("temperature", "share"), [(5e-324, 1), (1e-300, 1), (1e-40, 1), (1e300, 2 / VOCABULARY.size), (1.7e308, 2 / VOCABULARY.size)]
)
def test_the_mass_at_temperatures_that_float32_does_not_hold(mode, temperature, share):
    """Of the likeliest token all, of the two that are allowed their part of all tokens."""
    best = VOCABULARY.tokens.index(b"c")

    def model(ids):
        scores = np.zeros((len(ids), VOCABULARY.width), dtype=np.float32)
        scores[:, best] = 9
        return scores

    [[result]] = GroupedSampler(model, VOCABULARY, 4, mode=mode, temp=temperature, min_allowed_mass=0.001).generate(
        [[7]], 13, grammar=Grammar.from_regex("[cd]{12}")
    )
    assert len(result.text) == 12
    assert share < 1 or result.text == "c" * 12
    assert [mass / n for mass, n in zip(result.mass, result.weighed) if n] == pytest.approx([share] * sum(map(bool, result.weighed)))


def test_adaptive_size():
    size = GroupSize(4, 6, True)
    seen = []
    for whole in (True, True, True, False, False, False, True):
        size.learn(whole)
        seen.append(size.now)
    assert seen == [5, 6, 6, 3, 1, 1, 2]
    fixed = GroupSize(4, 4, False)
    fixed.learn(False)
    assert fixed.now == 4


def test_a_batch_under_a_grammar_is_each_text_alone():
    grammar, holds = of_schema(SCHEMAS[2])
    for mode in ("commit", "verify"):
        model = model_of(4)
        sampler = GroupedSampler(model, VOCABULARY, 3, mode=mode, batch=model.batch)
        prompts = [[7], [8, 9, 10], [11] * 9]
        together = sampler.generate(prompts, 40, grammar=grammar, num_return_sequences=2)
        assert len(model.asked) == max(result.calls for of_prompt in together for result in of_prompt)
        for prompt, of_prompt in zip(prompts, together):
            alone = sampler.generate([prompt], 40, grammar=grammar, num_return_sequences=2)[0]
            assert [result.ids for result in alone] == [result.ids for result in of_prompt]
            assert all(holds(result.text) for result in of_prompt)


@pytest.mark.parametrize("kind", [GroupedSampler, GroupedTreeSearch])
def test_a_grammar_for_each_prompt(kind):
    sampler = kind(model_of(4), VOCABULARY, 3)
    prompts, grammars = [[7], [8, 9, 10], [11] * 9], [of_schema(SCHEMAS[2])[0], None, Grammar.from_regex("[ab]{3,9}")]
    together = sampler.generate(prompts, 40, grammar=grammars)
    for prompt, grammar, of_prompt in zip(prompts, grammars, together):
        alone = sampler.generate([prompt], 40, grammar=grammar)[0]
        assert [(result.ids, result.text) for result in alone] == [(result.ids, result.text) for result in of_prompt]
    texts = ["x", "yz", "w"]
    answers = sampler(texts, 40, grammar=grammars)
    assert answers == [sampler(text, 40, grammar=grammar) for text, grammar in zip(texts, grammars)]
    with pytest.raises(ValueError, match="3 grammars for 2 prompts"):
        sampler.generate(prompts[:2], 40, grammar=grammars)
    with pytest.raises(TypeError, match="a sequence with one or None for each prompt, not str"):
        sampler.generate(prompts, 40, grammar="[ab]*")


def test_the_end_is_banned_unless_the_grammar_asks_for_it():
    grammar = Grammar.from_regex("[ab]{0,7}")
    for group in (1, 4):
        for seed in range(10):
            sampler = GroupedSampler(model_of(seed), VOCABULARY, group, end_of_sentence_stop=False)
            assert len(sampler.generate([[7]], 30, grammar=grammar)[0][0].text) == 7


def test_a_vocabulary_without_an_end_is_refused():
    endless = Vocabulary(VOCABULARY.tokens, eos=[], special={PAD: "<pad>"})
    with pytest.raises(VocabularyError, match="end-of-text"):
        GroupedSampler(TableModel(len(endless)), endless, 2).generate([[7]], 5, grammar=Grammar.from_regex("a*"))


@pytest.mark.parametrize("mode", ["verify", "commit"])
@pytest.mark.parametrize("group_size", [1, 2, 4])
def test_a_closing_is_written_where_the_model_excludes_all_that_is_allowed(mode: Any, group_size: int) -> None:
    grammar, vocabulary = Grammar.from_regex("a|b+"), Vocabulary([b"a", b"b", b""], eos=[2])

    def against(ids: Any) -> Any:
        scores = np.zeros((len(ids), 3), dtype=np.float32)
        scores[:, :2] = -np.inf
        return scores

    sampler = GroupedSampler(against, vocabulary, group_size, mode=mode, padding_id=0)
    [[result]] = sampler.generate([[0]], 5, grammar=grammar)
    assert result.text == "a" and result.finished


@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize("group_size", [1, 2, 4])
@pytest.mark.parametrize("method", [{"top_k": 2}, {"top_p": 0.9}])
def test_filters_are_applied_anew_where_nothing_of_them_fits(mode, group_size, method):
    """`a` and `b`, which pass the filter, begin texts that are too long; of the others the filter leaves `d` and `e`, and the closing is `c`."""
    vocabulary = Vocabulary([*(char.encode() for char in "abcdexy"), b""], eos=[7])
    grammar = Grammar.from_regex("[xy]([ab]{5}|[cde])")

    def model(ids):
        return np.tile(np.array([30, 29, 1, 8, 7.5, 2, 2, 9], dtype=np.float32), (len(ids), 1))

    sampler = GroupedSampler(model, vocabulary, group_size, mode=mode, padding_id=7, **method)
    [results] = sampler.generate([[0]], 3, grammar=grammar, num_return_sequences=60)
    assert {result.text for result in results} == {"xd", "xe", "yd", "ye"}


@pytest.mark.parametrize("grammar", [None, "[ab]{5}"])
@pytest.mark.parametrize("close_in_time", [True, False])
@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_a_guess_that_allows_nothing_ends_its_group(mode, close_in_time, grammar):
    """Behind a pad the model gives a score to the pad alone, which is no text."""
    vocabulary = Vocabulary([b"a", b"b", b"", b""], eos=[3], special={2: "<pad>"})

    def model(ids):
        scores = np.full((len(ids), vocabulary.width), -np.inf, np.float32)
        for row, token in zip(scores, ids):
            row[2 if token == 2 else slice(None)] = 0
            row[2 if token != 2 else 0] = -np.inf
        if grammar is None:
            scores[:, 2] = -np.inf
        return scores

    grammar = grammar and Grammar.from_regex(grammar)
    options = {
        "padding_id": 2,
        "mode": mode,
        "top_k": 1,
        "close_in_time": close_in_time,
        "repetition_penalty_strategy": NoRepetitionPenalty(),
    }
    texts = [GroupedSampler(model, vocabulary, group, **options).generate([[0]], 6, grammar=grammar)[0][0].ids for group in (1, 2, 4)]
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize("forced", [False, True])
def test_each_step_is_timed(mode, forced, monkeypatch):
    from grammar_engine.decoding import budget
    from grammar_engine.decoding.grouped import text

    clock = Clock(monkeypatch)
    monkeypatch.setattr(text, "perf_counter", clock)
    for name, seconds in {"accept": 10, "fill_mask": 100, "write_alone": 1_000}.items():
        clock.takes(seconds, budget.BudgetedText, name)
    clock.takes(10_000, text, "apply_mask")
    sampler = GroupedSampler(model_of(3), VOCABULARY, 3, mode=mode, forced=forced)
    [[result]] = sampler.generate([[7]], 20, grammar=Grammar.from_regex("[ab]{4}true"))
    assert all(clock.spent[name] for name in ("accept", "fill_mask", "apply_mask"))
    assert bool(clock.spent["write_alone"]) == forced
    assert result.seconds_masks == sum(clock.spent.values())


@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize("way", [{}, {"forced": False}, {"end_of_sentence_stop": False}, {"adaptive": True, "top_k": 3}], ids=str)
def test_tokens_that_end_texts_are_marks_where_the_grammar_names_them(mode, way):
    """Within a text they neither end it nor are they banned."""
    vocabulary = Vocabulary([b"a", b"b", b"", b"", b"."], eos=[2, 3], special={2: "<end>", 3: "</s>"})
    grammar = Grammar.from_lark('start: (/[ab]/ (<end> | "."))~3')
    marks = set()
    for seed in range(30):
        sampler = GroupedSampler(TableModel(vocabulary.size, seed, 2.0), vocabulary, 1 + seed % 5, mode=mode, padding_id=0, **way)
        [[result]] = sampler.generate([[0]], 7 + seed % 3, grammar=grammar, seed=seed)
        assert result.finished
        assert len(result.ids) == 6
        assert all(token in {0, 1} for token in result.ids[::2])
        assert all(token in {2, 4} for token in result.ids[1::2])
        marks.update(result.ids[1::2])
    assert marks == {2, 4}
