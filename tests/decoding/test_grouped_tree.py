"""Grouped tree search: the likeliest texts of a group, found by following several tokens of each row."""

from __future__ import annotations

import itertools
import re
from contextlib import nullcontext

import numpy as np
import pytest

from decoding.grouped_models import END, LETTERS, PAD, TableModel
from grammar_engine import Grammar, Vocabulary
from grammar_engine.decoding.budget import TRIES, BudgetedText
from grammar_engine.decoding.grouped import GenerationType, GroupedSampler, GroupedTreeSearch, NoRepetitionPenalty
from grammar_engine.decoding.models import NoiseModel

NONE = NoRepetitionPenalty()


def log_softmax(row):
    row = row.astype(np.float64)
    return row - row.max() - np.log(np.exp(row - row.max()).sum())


def texts_by_hand(model, prompt, n, group):
    """All texts of n tokens without an end, and how likely they are by the rows of their groups."""
    texts = {(): 0.0}
    for begin in range(0, n, group):
        longer = {}
        for text, log_p in texts.items():
            rows = [log_softmax(row) for row in model([*prompt, *text, *[PAD] * (group - 1)])[-group:]]
            for tail in itertools.product(range(LETTERS.size), repeat=min(group, n - begin)):
                if END not in tail:
                    longer[(*text, *tail)] = log_p + sum(row[token] for row, token in zip(rows, tail))
        texts = longer
    return texts


@pytest.mark.parametrize("group", [1, 2, 3])
def test_with_room_for_all_it_finds_the_likeliest(group):
    for seed in range(3):
        model = TableModel(LETTERS.size, seed)
        model.table[:, END] = -60
        search = GroupedTreeSearch(model, LETTERS, group, beam=1100, repetition_penalty_strategy=NONE)
        [results] = search.generate([[2, 3]], 3, num_return_sequences=5)
        texts = texts_by_hand(model, [2, 3], 3, group)
        best = sorted(texts, key=texts.get, reverse=True)[:5]
        assert [tuple(result.ids) for result in results] == best
        assert [result.log_probability for result in results] == pytest.approx([texts[text] for text in best], abs=1e-4)


def test_a_beam_of_one_is_greedy():
    for seed in range(5):
        model = TableModel(LETTERS.size, seed)
        [[result]] = GroupedTreeSearch(model, LETTERS, 4, beam=1).generate([[2]], 15)
        [[greedy]] = GroupedSampler(model, LETTERS, 4, top_k=1).generate([[2]], 15)
        assert (result.ids, result.calls, result.finished) == (greedy.ids, greedy.calls, greedy.finished)


@pytest.mark.filterwarnings("ignore:3 sequences are wanted")  # a filter may leave fewer
@pytest.mark.parametrize("options", [{}, {"top_k": 2}, {"top_p": 0.5}])
def test_under_a_grammar_all_answers_are_sentences(options):
    pattern = "[abc]{2}(de|f+)*g"
    for seed in range(5):
        model = TableModel(LETTERS.size, seed)
        search = GroupedTreeSearch(model, LETTERS, 3, batch=model.batch, **options)
        [results] = search.generate([[2]], 10, grammar=Grammar.from_regex(pattern), num_return_sequences=3)
        assert len({result.text for result in results}) == len(results)
        assert len(results) == 3 or options
        assert all(re.fullmatch(pattern, result.text) and result.finished for result in results)
        assert [result.log_probability for result in results] == sorted((result.log_probability for result in results), reverse=True)
        assert len(model.asked) == results[0].calls  # one pass for all branches of a round


def test_the_filter_bounds_what_is_followed():
    """With top_k = 1 there is one branch, whatever the beam."""
    model = TableModel(LETTERS.size, 3)
    search = GroupedTreeSearch(model, LETTERS, 2, top_k=1, beam=4)
    with pytest.warns(UserWarning, match="4 sequences are wanted, and 1 found") as warned:
        [results] = search.generate([[2]], 9, num_return_sequences=4)
    assert len(results) == 1
    assert [warning.filename for warning in warned] == [__file__]


def test_a_grammar_with_fewer_sentences_than_are_wanted():
    search = GroupedTreeSearch(TableModel(LETTERS.size), LETTERS, 2, beam=4)
    for wanted in (2, 3):
        with nullcontext() if wanted == 2 else pytest.warns(UserWarning, match="3 sequences are wanted, and 2 found"):
            answers = search("a", 5, num_return_sequences=wanted, grammar=Grammar.from_choices(["ab", "cd"]), return_full_text=False)
        assert sorted(answer["generated_text"] for answer in answers) == ["ab", "cd"]


def test_what_it_says_of_itself():
    search = GroupedTreeSearch(TableModel(LETTERS.size), LETTERS, 2, beam=2)
    assert search.generation_type is GenerationType.TREE and search.as_dict()["beam"] == 2
    assert [set(answer) for answer in search("ab", 5, num_return_sequences=2)] == [{"generated_text"}] * 2
    with pytest.raises(ValueError, match="beam"):
        search("ab", 5, num_return_sequences=3)


def test_where_no_token_with_a_score_fits_a_closing_is_written():
    """The model knows `a` alone, and a text must end with `b`."""
    grammar, [a] = Grammar.from_regex("a*b"), LETTERS.encode_greedy(b"a")

    def model(ids):
        scores = np.full((len(ids), LETTERS.size), -np.inf, np.float32)
        scores[:, a] = 0
        return scores

    for group, budget in itertools.product((1, 2, 3), (2, 3, 4, 9)):
        [[result]] = GroupedTreeSearch(model, LETTERS, group, repetition_penalty_strategy=NONE).generate([[2]], budget, grammar=grammar)
        assert result.finished
        assert re.fullmatch("a*b", result.text)
        assert len(result.ids) <= budget


def test_few_tokens_are_tried_where_the_budget_refuses_most(monkeypatch):
    """3,000 tokens may come next, and no more than the closing quote fits."""
    vocabulary = Vocabulary([b'"', b"", *(b"%d" % number for number in range(3000))], eos=[1])
    tried = []
    accept = BudgetedText.accept
    monkeypatch.setattr(BudgetedText, "accept", lambda text, *tokens: tried.append(tokens) or accept(text, *tokens))
    search = GroupedTreeSearch(NoiseModel(vocabulary.size), vocabulary, 2, padding_id=0, repetition_penalty_strategy=NONE)
    [[result]] = search.generate([[2]], 3, grammar=Grammar.from_regex('"[0-9]*"'))
    assert result.finished
    assert result.text == '""'
    assert len(tried) <= TRIES + 10
