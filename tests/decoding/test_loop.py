"""The plain loop: sentences, by other judges than the engine; the distribution; budgets; streaming; statistics."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from typing import Any

import jsonschema
import numpy as np
import pytest

from decoding.clock import Clock
from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Vocabulary, VocabularyError
from grammar_engine.decoding import Sampling, Stream, apply, generate, loop, stream
from grammar_engine.decoding.budget import BudgetedText
from grammar_engine.decoding.models import NoiseModel
from grammar_engine.decoding.scores import weigh

GREEDY = Sampling(temperature=0)
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "maxItems": 5},
        "note": {"type": ["string", "null"]},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["value", "children"],
            "additionalProperties": False,
        }
    },
}
CHOICE = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": kind}, "x": {"type": "number"}}, "required": ["kind", "x"]} for kind in "ab"
    ]
}
FREE = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SCHEMAS = {"person": PERSON, "tree": TREE, "choice": CHOICE, "free": FREE}


def alphabet(*longer, eos=1):
    """A vocabulary of all printable bytes, and of some longer tokens."""
    tokens = [bytes([byte]) for byte in range(32, 127)] + [token.encode() for token in longer]
    return Vocabulary([*tokens, *[b""] * eos], eos=range(len(tokens), len(tokens) + eos))


CHARACTERS = alphabet()
WORDS = alphabet('":', '","', '{"', '"}', "},", "[]", "[{", "true", "ab", "red", '"name"', "name", "children", "value", '":"', "123")


def constant(scores):
    """A model that gives the same scores after every text."""
    row = np.asarray(scores, dtype=np.float32)
    return lambda ids: np.tile(row, (len(ids), 1))


def uniform(vocabulary):
    return constant(np.zeros(vocabulary.width))


def noise(vocabulary, seed=0, spread=3.0):
    """A model with preferences of its own after each token."""
    table = (np.random.default_rng(seed).standard_normal((64, vocabulary.width)) * spread).astype(np.float32)
    return lambda ids: table[np.asarray(ids) % 64]


def talkative(vocabulary):
    """A model that opens whatever it can, likes letters, and ends nothing."""
    likes = [8.0 if set(token) & set(b"{[,") else -8.0 if set(token) & set(b'"}]') or not token else 0.0 for token in vocabulary.tokens]
    return constant(likes)


MODELS = {"uniform": uniform, "noise": noise, "talkative": talkative}


# --- sentences ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("kind", MODELS)
def test_documents_are_valid_by_another_judge(name, kind):
    grammar, validator = Grammar.from_json_schema(SCHEMAS[name]), jsonschema.Draft202012Validator(SCHEMAS[name])
    samplings = [GREEDY, Sampling(), Sampling(temperature=2, top_k=20), Sampling(top_p=0.9, min_p=0.01, repetition_penalty=1.3)]
    for vocabulary, (seed, sampling), forced in itertools.product((CHARACTERS, WORDS), enumerate(samplings), (False, True)):
        model = MODELS[kind](vocabulary)
        result = generate(model, [0], grammar, vocabulary, sampling=sampling, seed=seed, max_new_tokens=70, forced=forced)
        assert result.finish_reason == "end"
        assert len(result.tokens) <= 70
        assert result.text == b"".join(vocabulary.token_bytes(token) for token in result.tokens)
        validator.validate(json.loads(result.text))


def shortest(grammar, vocabulary):
    """The fewest tokens of any text, as far as the engine finds them; that they are, tests/exactness/test_closing_within.py says."""
    matcher = Matcher(grammar, vocabulary)
    tokens = matcher.closing_tokens()
    while fewer := matcher.closing_within(len(tokens) - 1):
        tokens = fewer
    return len(tokens)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("kind", MODELS)
def test_every_budget_from_the_shortest_text_upwards_is_enough(name, kind):
    grammar = Grammar.from_json_schema(SCHEMAS[name], whitespace="compact")
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    for vocabulary, sampling in ((CHARACTERS, Sampling()), (WORDS, Sampling()), (WORDS, GREEDY), (WORDS, Sampling(top_k=3))):
        least = shortest(grammar, vocabulary)
        model = MODELS[kind](vocabulary)
        for budget in (*range(least, least + 8), 2 * least, 60):
            for forced in (False, True):
                result = generate(model, [0], grammar, vocabulary, sampling=sampling, seed=budget, max_new_tokens=budget, forced=forced)
                assert (result.finish_reason, len(result.tokens) <= budget) == ("end", True)
                validator.validate(json.loads(result.text))


LANGUAGES = {
    r"[ab]{2}(c[ab]*d)?": r"[ab]{2}(c[ab]*d)?",
    r"(ab|a)(c|bcd)(d*)": r"(ab|a)(c|bcd)(d*)",
    r"a{3,6}|b": r"a{3,6}|b",
}


@pytest.mark.parametrize("pattern", LANGUAGES)
@pytest.mark.parametrize("kind", MODELS)
def test_every_budget_under_a_pattern(pattern, kind):
    vocabulary = alphabet("ab", "cd", "aaa", "bc")
    grammar = Grammar.from_regex(pattern)
    for budget in range(shortest(grammar, vocabulary), 12):
        for seed in range(5):
            result = generate(MODELS[kind](vocabulary), [0], grammar, vocabulary, seed=seed, max_new_tokens=budget)
            assert (result.finish_reason, len(result.tokens) <= budget) == ("end", True)
            assert re.fullmatch(pattern, result.text.decode())


def test_a_token_that_opens_too_much_is_never_taken():
    """`b` must be followed by 50 others: however much the model likes it, it comes only where they fit."""
    vocabulary = alphabet()
    grammar = Grammar.from_regex("(a|bc{50})*")
    scores = np.zeros(vocabulary.width)
    scores[vocabulary.tokens.index(b"b")] = 20
    for budget in (1, 10, 51, 52, 53, 104):
        result = generate(constant(scores), [0], grammar, vocabulary, max_new_tokens=budget, seed=0)
        assert result.finish_reason == "end"
        assert result.text.count(b"b") == (budget - 1) // 51


def test_a_budget_below_the_shortest_text_is_refused_before_the_first_pass():
    def model(ids):
        raise AssertionError("it was asked")

    grammar = Grammar.from_regex("a{5}")
    for budget in range(1, 6):
        with pytest.raises(ValueError, match="shortest text takes 6 tokens; none takes so few"):
            stream(model, [0], grammar, CHARACTERS, max_new_tokens=budget)
    result = generate(uniform(CHARACTERS), [0], grammar, CHARACTERS, max_new_tokens=5, close_in_time=False)
    assert (result.text, result.finish_reason) == (b"aaaaa", "budget")


@pytest.mark.parametrize("kind", MODELS)
def test_budgets_that_only_a_longer_text_meets(kind):
    """The shortest texts take more tokens than others: three and an end, against one and an end."""
    vocabulary = alphabet("whole", "wholesome", '"},"', "a1a", "1a1a")
    for grammar, least, shortest_takes in (
        (Grammar.from_choices(["abc", "whole", "wholesome"]), 2, 4),
        (Grammar.from_regex("(a1){2}a?|b{3}"), 3, 4),
        (Grammar.from_json_schema({"enum": [12345, {"x": "},"}]}, whitespace="compact"), 6, 6),
    ):
        assert (shortest(grammar, vocabulary), len(Matcher(grammar, vocabulary).closing_tokens())) == (least, shortest_takes)
        for budget in range(least, shortest_takes + 2):
            for seed, forced in itertools.product(range(4), (False, True)):
                result = generate(MODELS[kind](vocabulary), [0], grammar, vocabulary, seed=seed, max_new_tokens=budget, forced=forced)
                matcher = Matcher(grammar, vocabulary)
                assert result.finish_reason == "end" and len(result.tokens) <= budget
                assert matcher.accept_bytes(result.text) and matcher.is_complete


def test_a_search_for_fewer_tokens_that_is_not_finished():
    grammar = Grammar.from_regex("[ab]{200}", limits=Limits(max_step_work=2_000))
    with pytest.raises(
        ValueError, match=r"max_new_tokens = 100, and the shortest text takes 201 tokens; .* was not found out: max_step_work"
    ):
        generate(uniform(CHARACTERS), [0], grammar, CHARACTERS, max_new_tokens=100)


# --- the distribution -----------------------------------------------------------------------------------------------


def chi_square(counts, shares):
    n = sum(counts.values())
    assert set(counts) <= set(shares)
    return sum((counts[key] - n * share) ** 2 / (n * share) for key, share in shares.items())


SHARES = {"a": 0.3, "b": 0.25, "c": 0.2, "d": 0.15, "e": 0.1}
LIMIT = 33.0  # 4 degrees of freedom: once in 800,000 times


def test_sampling_under_a_mask_is_the_renormalised_distribution():
    """What is not allowed has most of the mass. The same test with two percent moved from one token to another fails."""
    n = 10_000
    vocabulary = CHARACTERS
    scores = np.full(vocabulary.width, 5.0)
    for letter, share in SHARES.items():
        scores[vocabulary.tokens.index(letter.encode())] = np.log(share)

    def counts(scores):
        rng, found = np.random.default_rng(0), Counter()
        matcher, model = Matcher(Grammar.from_regex("[a-e]{100}"), vocabulary), constant(scores)
        while found.total() < n:
            matcher.reset()
            found.update(generate(model, [0], matcher, max_new_tokens=100, close_in_time=False, forced=False, seed=rng).text.decode())
        return found

    assert chi_square(counts(scores), SHARES) < LIMIT
    scores[vocabulary.tokens.index(b"a")] = np.log(SHARES["a"] + 0.02)
    scores[vocabulary.tokens.index(b"e")] = np.log(SHARES["e"] - 0.02)
    assert chi_square(counts(scores), SHARES) > LIMIT


def test_near_the_budget_the_distribution_is_that_of_the_tokens_that_fit():
    """Against all texts of the language: at each step a token has its share among those that some text of the budget goes on with."""
    vocabulary = Vocabulary([b"a", b"b", b"c", b"d", b"</s>"], eos=[4])
    shares = np.array([0.15, 0.2, 0.25, 0.25, 0.15])
    pattern, budget, n = "[ab]{1,4}(c[ab]*d)?", 5, 3000
    texts = ["".join(text) for length in range(budget) for text in itertools.product("abcd", repeat=length)]
    texts = [text + "$" for text in texts if re.fullmatch(pattern, text)]
    wanted = {}
    for text in texts:
        wanted[text] = 1.0
        for at, letter in enumerate(text):
            ways = {other[at] for other in texts if other[:at] == text[:at]}
            wanted[text] *= shares["abcd$".index(letter)] / sum(shares["abcd$".index(way)] for way in ways)
    assert abs(sum(wanted.values()) - 1) < 1e-12

    rng, counts = np.random.default_rng(0), Counter()
    matcher, model = Matcher(Grammar.from_regex(pattern), vocabulary), constant(np.log(shares))
    for _ in range(n):
        matcher.reset()
        counts[generate(model, [0], matcher, max_new_tokens=budget, seed=rng).text.decode() + "$"] += 1
    freedom = len(wanted) - 1
    assert min(wanted.values()) * n > 5
    assert chi_square(counts, wanted) < freedom + 5 * (2 * freedom) ** 0.5


def test_filters_are_applied_anew_when_nothing_of_them_fits():
    """The two likeliest tokens open what cannot be closed; then the best of the others is taken."""
    vocabulary = alphabet()
    grammar = Grammar.from_regex("(xz{9}|yz{9}|a|b)*")
    scores = np.zeros(vocabulary.width)
    for letter, score in zip(b"xyab", (9, 8, 7, 6)):
        scores[vocabulary.tokens.index(bytes([letter]))] = score
    for sampling in (GREEDY, Sampling(top_k=1), Sampling(top_k=2, min_p=0.9)):
        result = generate(constant(scores), [0], grammar, vocabulary, sampling=sampling, max_new_tokens=5, seed=1)
        assert result.text == b"aaaa"
        assert result.refused >= 4


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(top_k=1)])
def test_the_next_best_is_found_without_a_look_at_all_scores_for_each(sampling, monkeypatch):
    """22 letters do not fit, then `p` does, then `z` does not and the end does:
    the order is that of the scores, among equals of the ids."""
    rounds = []
    monkeypatch.setattr(loop, "weigh", lambda *given: rounds.append(0) or weigh(*given))
    vocabulary = alphabet()
    grammar = Grammar.from_regex("[a-y]z{9}|[ptk]")
    scores = np.zeros(vocabulary.width)
    scores[[vocabulary.tokens.index(bytes([letter])) for letter in b"pkt"]] = (-1, -2, -1)
    result = generate(constant(scores), [0], grammar, vocabulary, sampling=sampling, max_new_tokens=2)
    assert (result.text, result.refused, len(rounds)) == (b"p", 23, 2)


# --- one token after another ----------------------------------------------------------------------------------------


def test_the_same_seed_writes_the_same_text():
    grammar = Grammar.from_json_schema(PERSON)
    texts = {seed: {generate(noise(WORDS), [0], grammar, WORDS, seed=seed, max_new_tokens=60).text for _ in range(2)} for seed in range(4)}
    assert all(len(same) == 1 for same in texts.values())
    assert len(set.union(*texts.values())) > 1
    assert len({generate(noise(WORDS), [0], grammar, WORDS, max_new_tokens=60).text for _ in range(5)}) > 1


@pytest.mark.parametrize(
    "sampling", [GREEDY, Sampling(), Sampling(temperature=0.5, top_k=5), Sampling(top_p=0.8, min_p=0.05, repetition_penalty=1.3)]
)
def test_a_short_list_of_scores_stands_for_the_row(sampling, monkeypatch):
    """Scores that were gathered, or the row with -inf for the others: the same tokens, where budgets refuse some, too."""

    def texts():
        grammar = Grammar.from_json_schema(PERSON, whitespace="compact")
        model = NoiseModel(WORDS.width + 3)
        return [
            generate(model, [0], grammar, WORDS, sampling=sampling, max_new_tokens=n, seed=n).tokens
            for n in (*range(30, 40), *range(40, 200, 20))
        ]

    gathered = texts()
    monkeypatch.setattr(apply, "_FEW", 0)
    assert texts() == gathered


def test_streaming_gives_what_generate_returns():
    grammar = Grammar.from_json_schema(PERSON)
    whole = generate(noise(WORDS), [0], grammar, WORDS, seed=3, max_new_tokens=60)
    run = stream(noise(WORDS), [0], grammar, WORDS, seed=3, max_new_tokens=60)
    assert isinstance(run, Stream)
    steps, texts = [], []
    for step in run:
        steps.append(step)
        texts.append(run.generation.text)
    assert [token for step in steps for token in step.tokens] == whole.tokens == run.generation.tokens
    assert b"".join(step.text for step in steps) == whole.text
    assert texts == list(itertools.accumulate(step.text for step in steps))
    assert sum(len(step.tokens) for step in steps if step.forced) == whole.forced == run.generation.forced
    assert sum(not step.forced for step in steps) == whole.passes
    assert any(len(step.tokens) > 1 for step in steps)
    assert list(run) == []


def test_a_stream_may_be_left():
    run = stream(noise(WORDS), [0], Grammar.from_json_schema(PERSON), WORDS, seed=3)
    next(run)
    assert run.generation.finish_reason is None
    assert run.generation.tokens


def test_a_stream_is_closed_at_the_end_of_with():
    with stream(noise(WORDS), [0], Grammar.from_json_schema(PERSON), WORDS, seed=3) as run:
        next(run)
    assert list(run) == [] and run.generation.finish_reason is None


def test_forced_text_changes_passes_and_not_the_text():
    grammar = Grammar.from_json_schema(PERSON, whitespace="compact")
    for seed in range(3):
        model = noise(CHARACTERS, seed)  # one token per byte: so text is spelled in one way
        asked = generate(model, [0], grammar, CHARACTERS, sampling=GREEDY, forced=False, max_new_tokens=60)
        forced = generate(model, [0], grammar, CHARACTERS, sampling=GREEDY, max_new_tokens=60)
        assert asked.text == forced.text
        assert (asked.forced, asked.passes) == (0, len(asked.tokens))
        assert forced.passes == len(forced.tokens) - forced.forced < asked.passes


def test_forced_tokens_are_taken_in_by_one_pass():
    seen = []

    def model(ids):
        seen.append(list(ids))
        return np.zeros((len(ids), CHARACTERS.width), dtype=np.float32)

    result = generate(model, [7, 8], Grammar.from_regex("abc[01]def"), CHARACTERS, seed=0)
    assert [len(ids) for ids in seen] == [5]  # the prompt and abc: all else is known
    assert seen[0][:2] == [7, 8]
    assert (result.passes, result.forced, len(result.tokens)) == (1, 7, 8)


def test_a_text_that_is_all_forced_needs_no_pass():
    result = generate(lambda ids: 1 / 0, [0], Grammar.from_regex("abc"), alphabet(eos=2))
    assert (result.text, result.passes, result.finish_reason) == (b"abc", 0, "end")
    assert result.tokens[-1] == alphabet(eos=2).eos[0]


def test_the_repetition_penalty_counts_what_was_generated():
    vocabulary = Vocabulary([b"a", b"b", b"c", b"</s>"], eos=[3])
    model = constant([3.0, 2.9, 2.8, -5.0])
    options = {"max_new_tokens": 4, "close_in_time": False}
    grammar = Grammar.from_regex("[abc]*")
    assert generate(model, [0], grammar, vocabulary, sampling=GREEDY, **options).text == b"aaaa"
    for prompt in ([0], [1, 2]):  # which is not penalised
        text = generate(model, prompt, grammar, vocabulary, sampling=Sampling(temperature=0, repetition_penalty=1.2), **options).text
        assert text == b"abca"


def test_logits_wider_than_the_vocabulary():
    vocabulary = Vocabulary([b"0", b"1", b"</s>"], eos=[2])
    scores = np.zeros(100)
    scores[3:] = 50
    result = generate(constant(scores), [0], Grammar.from_regex("[01]{8}"), vocabulary, seed=0)
    assert re.fullmatch(rb"[01]{8}", result.text)


def test_a_matcher_goes_on_from_its_text():
    matcher = Matcher(Grammar.from_regex("[ab]{2}-[cd]{2}"), CHARACTERS)
    matcher.accept_bytes(b"ab-")
    result = generate(uniform(CHARACTERS), [0], matcher, seed=0)
    assert re.fullmatch(rb"[cd]{2}", result.text)
    assert matcher.is_terminated
    with pytest.raises(ValueError, match="has ended already"):
        generate(uniform(CHARACTERS), [0], matcher)


@pytest.mark.parametrize("forced", [True, False])
@pytest.mark.parametrize("move", [Matcher.reset, lambda matcher: matcher.rollback(1), lambda matcher: matcher.accept_bytes(b"a")])
def test_a_matcher_that_is_moved_meanwhile(move, forced):
    """Nothing is written behind a text that is another one."""
    matcher = Matcher(Grammar.from_regex("x[ab]{2,9}"), CHARACTERS)
    run = stream(uniform(CHARACTERS), [0], matcher, seed=0, forced=forced, max_new_tokens=6)
    next(run), next(run)
    move(matcher)
    moved = matcher.tokens
    with pytest.raises(RuntimeError, match="moved by others"):
        next(run)
    assert matcher.tokens == moved
    assert run.generation.finish_reason is None


def test_two_texts_with_one_matcher():
    matcher = Matcher(Grammar.from_regex("[ab]{9}"), CHARACTERS)
    first, second = (stream(uniform(CHARACTERS), [0], matcher, seed=0) for _ in range(2))
    next(first)
    with pytest.raises(RuntimeError, match="moved by others"):
        next(second)
    next(first)


# --- other ends -----------------------------------------------------------------------------------------------------


def test_stop_tokens_end_a_text_under_a_grammar():
    """Whatever ends those of the vocabulary, and where the text is a sentence: in time, and with forced text."""
    vocabulary = Vocabulary([b"a", b"b", b"", b"</s>", b"", b"!"], eos=[3])
    ends = set()
    for seed in range(40):
        for stop in ([4], {2}, (4, 2), [3, 4]):
            for options in ({}, {"forced": False}, {"close_in_time": False, "max_new_tokens": 400}):
                given = {"seed": seed, "max_new_tokens": 2 + seed % 9} | options
                result = generate(uniform(vocabulary), [0], Grammar.from_regex("a(!?b)*"), vocabulary, stop=stop, **given)
                *text, last = result.tokens
                assert re.fullmatch(rb"a(!?b)*", result.text)
                assert last in stop
                assert not set(text) & {2, 3, 4}
                assert result.finish_reason == "end"
                ends.add(last)
    assert ends == {2, 3, 4}
    with pytest.raises(VocabularyError, match="no end-of-text token"):
        stream(uniform(vocabulary), [0], Grammar.from_regex("a"), vocabulary, stop=[])
    with pytest.raises(VocabularyError, match="no end-of-text token"):
        stream(uniform(vocabulary), [0], Matcher(Grammar.from_regex("a"), vocabulary, eos=[]))
    with pytest.raises(VocabularyError, match="eos id 6"):
        stream(uniform(vocabulary), [0], Grammar.from_regex("a"), vocabulary, stop=[6])
    with pytest.raises(VocabularyError, match="token 5 spells"):
        stream(uniform(vocabulary), [0], Grammar.from_regex("a"), vocabulary, stop=[5])
    result = generate(uniform(vocabulary), [0], Matcher(Grammar.from_regex("a*"), vocabulary, eos=[4]), seed=1)
    assert result.tokens[-1] == 4


def test_tokens_that_end_texts_may_be_marks_within_them():
    """Alone, beside others, and where they would be the end, too."""
    vocabulary = Vocabulary([b"a", b"b", b"", b"", b"."], eos=[2, 3], special={2: "<end>", 3: "</s>"})
    grammar = Grammar.from_lark('start: "a" <end> ("b" (<end> | "."))*')
    seen = set()
    for seed in range(60):
        for forced in (True, False):
            result = generate(uniform(vocabulary), [0], grammar, vocabulary, seed=seed, forced=forced, max_new_tokens=3 + seed % 7)
            *text, end = result.tokens
            assert result.finish_reason == "end"
            assert end in {2, 3}
            assert re.fullmatch("02(1[24])*", "".join(map(str, text)))
            seen.update(text[3::2], [end + 10])
    assert seen == {2, 4, 12, 13}


@pytest.mark.parametrize("in_turns", [True, False])
def test_a_closing_is_none_where_its_end_is_a_mark_within_the_text(monkeypatch, in_turns):
    """Of few tokens only the longer text is: the closing that is held. Behind a "q" it is read, and what it ends with ends nothing."""
    if not in_turns:
        single = next(base for base in BudgetedText.__mro__ if "_search" in vars(base))
        monkeypatch.setattr(BudgetedText, "accept", single.accept)
        monkeypatch.setattr(BudgetedText, "_turn_to", lambda *_: 0)
    vocabulary = Vocabulary([b"a", b"q", b"L", b"LLLLL", b""], eos=[4], special={4: "<end>"})
    grammar = Grammar.from_lark('start: "aaaa" | "LLLLL" | "q" ("aaaa" | "LLLLL" <end>)')
    model = constant([0.0, 9.0, 0.0, 1.0, 0.0])
    assert generate(model, [0], grammar, vocabulary, sampling=GREEDY, max_new_tokens=3).tokens == [3, 4]
    assert generate(model, [0], grammar, vocabulary, sampling=GREEDY, max_new_tokens=6).tokens == [1, 3, 4, 4]


# --- without a grammar ----------------------------------------------------------------------------------------------


def test_without_a_grammar():
    vocabulary = Vocabulary([b"a", b"b", b"</s>"], eos=[2])
    texts = {generate(uniform(vocabulary), [0], vocabulary=vocabulary, seed=seed).text for seed in range(20)}
    assert len(texts) > 5
    result = generate(constant([1.0, 0.0, 0.0]), [0], vocabulary=vocabulary, sampling=GREEDY, max_new_tokens=5)
    assert (result.text, result.finish_reason, result.passes, result.forced) == (b"aaaaa", "budget", 5, 0)
    padded = Vocabulary([b"a", b"b", b"</s>"], eos=[2], width=5)  # a model that scores six ids, of which three stand for nothing
    result = generate(constant([1.0, 0.0, 0.0, 3.0, 2.0, 4.0]), [0], vocabulary=padded, sampling=GREEDY, max_new_tokens=5)
    assert result.text == b"aaaaa"


def test_without_a_vocabulary():
    result = generate(constant([0.0, 1.0, 0.0]), [0], sampling=GREEDY, stop=[1], max_new_tokens=5)
    assert (result.tokens, result.text, result.finish_reason) == ([1], b"", "end")
    result = generate(constant([0.0, 1.0, 0.0]), [0], sampling=GREEDY, max_new_tokens=3)
    assert (result.tokens, result.finish_reason) == ([1, 1, 1], "budget")


# --- what fails -----------------------------------------------------------------------------------------------------


def test_a_vocabulary_that_cannot_spell_the_text():
    vocabulary = Vocabulary([b"a", b"b", b"</s>"], eos=[2])
    run = stream(uniform(vocabulary), [0], Grammar.from_regex("abc"), vocabulary, close_in_time=False)
    with pytest.raises(VocabularyError, match="c"):
        list(run)
    assert run.generation.text == b"ab"
    assert run.generation.finish_reason is None
    with pytest.raises(VocabularyError):
        stream(uniform(vocabulary), [0], Grammar.from_regex("abc"), vocabulary)


def test_a_limit_leaves_what_was_written(monkeypatch):
    single = next(base for base in BudgetedText.__mro__ if "_search" in vars(base))
    monkeypatch.setattr(BudgetedText, "accept", single.accept)
    monkeypatch.setattr(BudgetedText, "_turn_to", lambda *_: 0)  # as if all had failed: the single calls tell why
    run = stream(uniform(CHARACTERS), [0], Grammar.from_regex("[ab]{9}"), CHARACTERS, seed=0)
    next(run)

    def fail(*_):
        raise LimitExceededError("max_rows", 10)

    monkeypatch.setattr(Matcher, "fill_mask", fail)
    with pytest.raises(LimitExceededError):
        next(run)
    assert len(run.generation.tokens) == 1


@pytest.mark.parametrize(
    ("pattern", "spelt", "limits"),
    [
        ("(a|bc)*", "ab", Limits()),  # behind b comes what no token spells
        ("(a|bc{9000})*", "abc", Limits(max_step_work=8000)),  # or more than is looked for
    ],
)
def test_where_no_closing_is_found_the_token_does_not_fit(pattern: str, spelt: str, limits: Limits, monkeypatch: Any) -> None:
    """The text stays where its end is known."""
    vocabulary = Vocabulary([*(char.encode() for char in spelt), b""], eos=[len(spelt)])
    refused = 0
    for seed in range(10):
        run = stream(uniform(vocabulary), [0], Grammar.from_regex(pattern, limits=limits), vocabulary, seed=seed, max_new_tokens=9)
        assert re.fullmatch(rb"a*", b"".join(step.text for step in run))
        refused += run.generation.refused
    assert refused > 5
    text = BudgetedText(Matcher(Grammar.from_regex(pattern, limits=limits), vocabulary), 9, close_in_time=True)
    monkeypatch.setattr(Matcher, "closing_tokens", lambda matcher: pytest.fail("it is searched again"))
    assert [text.accept(1) for _ in range(3)] == [False] * 3


def test_a_model_that_wants_nothing_of_what_is_allowed():
    scores = np.full(CHARACTERS.width, -np.inf)
    scores[CHARACTERS.tokens.index(b"z")] = 0
    grammar = Grammar.from_regex("[ab]{3}")
    result = generate(constant(scores), [0], grammar, CHARACTERS)
    assert re.fullmatch(rb"[ab]{3}", result.text)
    with pytest.raises(ValueError, match="-inf to every token that the grammar allows"):
        generate(constant(scores), [0], grammar, CHARACTERS, close_in_time=False)


def test_tensors_of_bools_are_no_prompt():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="a token of a prompt is an int, not Tensor"):
        generate(uniform(CHARACTERS), [torch.tensor(True)])


@pytest.mark.parametrize(
    ("prompt", "arguments", "options", "words"),
    [
        ([1.5], (), {}, "a token of a prompt is an int, not float"),
        ([True], (), {}, "a token of a prompt is an int, not bool"),
        ([[0]], (), {}, "a token of a prompt is an int, not list"),
        ({"input_ids": [0]}, (), {}, "not dict: give its ids alone"),
        (3, (), {}, "a prompt is the ids of its tokens, not int"),
        ([0], (), {"seed": True}, "seed is an int, not bool"),
        ([0], (), {"stop": 3}, "stop is a collection of tokens, not int"),
        ([0], ("[a-z]*", CHARACTERS), {}, "grammar is a Grammar or a Matcher, or None, not str"),
        ([0], (), {"seed": np.random.RandomState(1)}, r"seed is an int or a numpy.random.Generator, not numpy.random.\S*RandomState"),
        ([0], (), {"seed": "1"}, "seed is an int or a numpy.random.Generator, not str"),
        ([0], (None, [b"a"]), {}, "vocabulary is a Vocabulary, not list"),
        ([0], (), {"sampling": 0.7}, "sampling is a Sampling, not float"),
        ([0], (), {"stop": "x"}, "a stop token is an int, not str"),
        ([0], (), {"close_in_time": "no"}, "close_in_time is a bool, not str"),
        ([0], (), {"forced": 0}, "forced is a bool, not int"),
        ([0], (), {"max_new_tokens": 1.5}, "max_new_tokens is an int, not float"),
        ([0], (), {"prefix_cache": {}}, "prefix_cache is a PrefixCache, not dict"),
        ("a text", (), {}, "encode the text with the model's tokenizer"),
    ],
)
def test_wrong_types(prompt, arguments, options, words):
    with pytest.raises(TypeError, match=words):
        stream(uniform(CHARACTERS), prompt, *arguments, **options)


def test_options_that_generate_does_not_have():
    with pytest.raises(TypeError, match=r"^generate\(\) got .* 'temperature': give sampling=Sampling\(temperature=0\)$"):
        generate(uniform(CHARACTERS), [0], temperature=0)
    with pytest.raises(TypeError, match=r"^generate\(\) got an unexpected keyword argument 'max_tokens'$"):
        generate(uniform(CHARACTERS), [0], max_tokens=3)


def test_a_seed_of_torch_is_told_from_one_of_numpy():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"numpy.random.Generator, not torch\.\S*Generator"):
        generate(uniform(CHARACTERS), [0], seed=torch.Generator())


@pytest.mark.parametrize(
    ("prompt", "arguments", "options", "words"),
    [
        ([], (), {}, "a prompt has no tokens"),
        ([-1], (), {}, "a token of a prompt is not negative, as -1 is"),
        (np.zeros((1, 1), dtype=np.int64), (), {}, r"a prompt has the shape \(length,\), not \(1, 1\)"),
        ([0], (), {"seed": -1}, "seed is at least 0"),
        ([0], (), {"stop": [-1]}, "a stop token is at least 0, not -1"),
        ([0], (), {"max_new_tokens": 0}, "max_new_tokens is at least 1 and at most 9,223,372,036,854,775,807, not 0"),
        ([0], (Grammar.from_regex("a"), CHARACTERS), {"max_new_tokens": 1 << 63}, "max_new_tokens is at least 1 and at most 9,2"),
        ([0], (Grammar.from_regex("a"),), {}, "a grammar needs a vocabulary"),
        ([0], (Matcher(Grammar.from_regex("a"), CHARACTERS),), {"stop": [1]}, r"Matcher\(eos=\.\.\.\) in the place of `stop`"),
        ([0], (Matcher(Grammar.from_regex("a"), CHARACTERS), WORDS), {}, "another vocabulary"),
        ([0], (Grammar.from_regex("a"), Vocabulary([b"a"], eos=[])), {}, "no end-of-text token"),
    ],
)
def test_misuse(prompt, arguments, options, words):
    with pytest.raises(ValueError, match=words):
        stream(uniform(CHARACTERS), prompt, *arguments, **options)


# --- figures, caches ------------------------------------------------------------------------------------------------


def test_statistics():
    result = generate(uniform(WORDS), [0], Grammar.from_json_schema(PERSON), WORDS, seed=0)
    assert 0 < result.seconds_masks < result.seconds
    assert 0 < result.seconds_model < result.seconds
    assert result.seconds_masks + result.seconds_model <= result.seconds
    assert result.tokens_per_second == pytest.approx(len(result.tokens) / result.seconds)
    assert result.passes + result.forced == len(result.tokens)


@pytest.mark.parametrize("forced", [False, True])
def test_each_step_is_timed(forced, monkeypatch):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(loop.time, "perf_counter", clock)
    for name, seconds in {"accept": 10, "fill_mask": 100, "write_alone": 1_000}.items():
        clock.takes(seconds, BudgetedText, name)
    clock.takes(10_000, loop, "_matcher_of")

    def timed_text(*arguments):
        text = BudgetedText(*arguments)
        clock.takes(1, text, "masked")
        return text

    def scores(ids):
        clock.now += 100_000
        return uniform(WORDS)(ids)

    monkeypatch.setattr(loop, "BudgetedText", timed_text)
    result = generate(scores, [0], Grammar.from_json_schema(PERSON), WORDS, seed=0, forced=forced)
    spent = clock.spent
    assert all(spent[name] for name in ("masked", "accept", "_matcher_of", "write_alone" if forced else "fill_mask"))
    assert result.seconds_model == 100_000 * result.passes
    assert result.seconds_masks == sum(spent.values())
    assert result.seconds == clock.now


def test_so_many_tokens_are_refused_in_one_step(monkeypatch):
    grammar = Grammar.from_regex("[b-k]x{5}|a")  # one of these alone fits
    scores = np.zeros(CHARACTERS.width, dtype=np.float32)
    scores[CHARACTERS.encode_greedy(b"a")] = -9
    for tries, refused in ((loop.TRIES, 10), (4, 4)):
        monkeypatch.setattr(loop, "TRIES", tries)
        result = generate(constant(scores), [0], grammar, CHARACTERS, sampling=Sampling(temperature=0), max_new_tokens=2)
        assert (result.text, result.refused) == (b"a", refused)


def test_a_prompt_that_is_too_long_for_the_model():
    model = loop.as_model(uniform(CHARACTERS), max_length=3)
    with pytest.warns(UserWarning, match="the prompt has 4 tokens: the model can see the last 3 only") as caught:
        generate(model, [0] * 4, Grammar.from_regex("ab"), CHARACTERS)
    assert caught[0].filename == __file__


def test_a_prefix_cache_saves_passes_over_the_prompt_and_changes_nothing():
    torch = pytest.importorskip("torch")
    from grammar_engine.decoding import PrefixCache
    from grammar_engine.decoding.tiny.model import TinyDecoder

    torch.manual_seed(0)
    module = TinyDecoder(WORDS.width + 1, dim=16, layers=2, heads=2, max_length=200).eval()
    lengths = []
    module.register_forward_pre_hook(lambda _, __, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True)
    cache = PrefixCache(block_size=4)
    prompt, grammar = list(range(30)), Grammar.from_json_schema(PERSON)
    results = []
    for prefix_cache in (None, cache, cache):
        lengths.clear()
        result = generate(module, prompt, grammar, WORDS, seed=1, forced=False, max_new_tokens=50, prefix_cache=prefix_cache)
        results.append((result.tokens, lengths[0]))
    assert [length for _, length in results] == [30, 30, 2]
    assert results[0][0] == results[1][0] == results[2][0]


def test_a_closing_that_is_held_ends_a_sentence() -> None:
    """Without an end-of-text token, that the grammar still takes the tokens of an old closing does not mean that they complete the text."""
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256) if byte != ord("z")] + [b"zzzz"], eos=[])
    text = BudgetedText(Matcher(Grammar.from_regex("zzzz|xz{20}"), vocabulary), 2, close_in_time=True)
    assert not text.accept(vocabulary.tokens.index(b"x"))
    assert text.accept(vocabulary.tokens.index(b"zzzz"))
    assert text.matcher.is_complete


def test_a_closing_far_from_the_shortest_text() -> None:
    """`a` has no token, and what can be spelt is much longer: it is written all the same, and less than it takes is refused."""
    grammar, vocabulary = Grammar.from_regex("a|b{70}"), Vocabulary([b"b" * 10, b"b", b""], eos=[2])

    def even(ids: Any) -> Any:
        return np.zeros((len(ids), 3), dtype=np.float32)

    for budget in (8, 20, 300):
        assert generate(even, [0], grammar, vocabulary, max_new_tokens=budget, seed=budget).text == b"b" * 70
    with pytest.raises(ValueError, match="max_new_tokens = 7, and no text takes so few tokens"):
        generate(even, [0], grammar, vocabulary, max_new_tokens=7)
    with pytest.raises(VocabularyError, match="one of 'a'"):
        generate(even, [0], Grammar.from_regex("a"), vocabulary, max_new_tokens=7)


# --- what a review found ----------------------------------------------------------------------------------------------


def test_all_spellings_of_long_keys_are_closed_in_time() -> None:
    keys = [f"property_name_{i:02d}" for i in range(12)]
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": keys, "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema, escapes="all", whitespace="compact")
    vocabulary = Vocabulary.builtin()
    fewest = len(Matcher(grammar, vocabulary).closing_tokens())
    for budget in (fewest, fewest + 1, fewest + 7):
        written = generate(NoiseModel(vocabulary.width), [1], grammar, vocabulary, max_new_tokens=budget, seed=budget)
        assert written.finish_reason == "end" and set(json.loads(written.text)) == set(keys)


def test_a_budget_that_no_search_decides_is_refused_as_such(monkeypatch) -> None:
    """Neither the shortest text nor one of so few tokens is found: still a ValueError before the first pass, which names the limit."""

    def fail(*_):
        raise LimitExceededError("max_step_work", 10)

    monkeypatch.setattr(BudgetedText, "_turn_to", lambda *_: 0)
    monkeypatch.setattr(Matcher, "closing_tokens", fail)
    monkeypatch.setattr(Matcher, "closing_within", fail)
    with pytest.raises(ValueError, match=r"not found out.*max_step_work"):
        generate(lambda ids: pytest.fail("a pass"), [1], Grammar.from_regex("[ab]{9}"), CHARACTERS, max_new_tokens=50)


@pytest.mark.parametrize("sampling", [Sampling(top_p=0), Sampling(top_k=1), Sampling(temperature=0)])
def test_the_best_token_by_filters_is_taken_as_by_temperature(sampling: Sampling) -> None:
    assert sampling.greedy
    model = NoiseModel(WORDS.width)
    grammar = Grammar.from_json_schema(PERSON)
    best = generate(model, [1], grammar, WORDS, max_new_tokens=60, sampling=GREEDY)
    assert generate(model, [1], grammar, WORDS, max_new_tokens=60, sampling=sampling, seed=3).tokens == best.tokens


def test_a_model_narrower_than_the_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="the model scores 3 tokens"):
        generate(
            constant(np.zeros(3)), [1], Grammar.from_regex("ab?"), Vocabulary([b"a", b"b", b"c", b"d", b""], eos=[4]), max_new_tokens=4
        )
