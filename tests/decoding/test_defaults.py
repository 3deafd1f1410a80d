"""What is not given: the defaults of the package are those that the documents name, and they are what is done."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest

from decoding.grouped_models import END, LETTERS, PAD, TableModel
from grammar_engine import Grammar
from grammar_engine.decoding import GroupedSampler, PrefixCache, Sampling, stream
from grammar_engine.decoding.grouped import (
    GroupedPipeline,
    GroupedTreeSearch,
    LogitScalingRepetitionPenalty,
    NoRepetitionPenalty,
)

DOCS = Path(__file__).parents[2] / "docs"
DEFAULTS = {
    stream: {
        "sampling": Sampling(),
        "max_new_tokens": 256,
        "seed": None,
        "close_in_time": True,
        "forced": True,
        "stop": None,
        "prefix_cache": None,
    },
    Sampling: {"temperature": 1, "top_k": None, "top_p": None, "min_p": None, "repetition_penalty": 1, "sign_aware": True},
    PrefixCache: {
        "block_size": 16,
        "max_idle_blocks": 4096,
        "max_idle_bytes": 1 << 30,
        "share_partial": False,
        "policy": "lru",
        "hashing": "chained",
        "digest_size": 8,
        "on_release": None,
    },
    GroupedPipeline: {
        "temp": None,
        "end_of_sentence_stop": None,
        "repetition_penalty_strategy": None,
        "answer_length_multiplier": 16,
        "penalize_from": "generated",
        "penalize_in_group": True,
        "forced": True,
        "close_in_time": True,
        "min_allowed_mass": 0,
        "min_top_prob": 0,
    },
    GroupedSampler: {
        "top_k": None,
        "top_p": None,
        "mode": "commit",
        "redraft": True,
        "adaptive": False,
        "max_group_size": None,
        "default_seed": 0,
    },
    GroupedTreeSearch: {"top_k": None, "top_p": None, "beam": 8},
    GroupedPipeline.__call__: {
        "max_new_tokens": None,
        "return_tensors": False,
        "return_text": True,
        "return_full_text": True,
        "clean_up_tokenization_spaces": False,
        "prefix": "",
        "num_return_sequences": 1,
        "truncation": "do_not_truncate",
        "postfix": "",
    },
}
WORDS = {"none": None, "the `eos` of the vocabulary": None, "1 GiB": 1 << 30, "`Sampling()`": Sampling()}
TABLES = {  # of each document, what its rows are about
    "decoding.md": (stream, Sampling),
    "prefix-cache.md": (PrefixCache,),
    "grouped-sampling.md": (GroupedPipeline, GroupedSampler, GroupedTreeSearch),
}
NONE, DEFAULT = NoRepetitionPenalty(), LogitScalingRepetitionPenalty(1.2)


@pytest.mark.parametrize("named", DEFAULTS, ids=lambda named: named.__qualname__)
def test_signatures_have_them(named):
    found = inspect.signature(named).parameters
    assert {name: found[name].default for name in DEFAULTS[named]} == DEFAULTS[named]


@pytest.mark.parametrize("document", TABLES)
def test_tables_of_the_documents_have_them(document):
    """Rows `| option | default |`; those that are no plain value say so in words."""
    tables = re.findall(r"^\| (?:option|field) \| default \|.*\n\|.*\n((?:\|.*\n)+)", (DOCS / document).read_text(), re.MULTILINE)
    said = {}
    for row in "".join(tables).splitlines():
        names, value = (cell.strip() for cell in row.split("|")[1:3])
        if value != "its `nbytes`":
            said |= dict.fromkeys(re.findall(r"`(\w+)`", names), WORDS[value] if value in WORDS else eval(value.strip("`"), {}))
    known = {name: value for named in TABLES[document] for name, value in DEFAULTS[named].items()}
    unsaid = {"top_k", "top_p", "end_of_sentence_stop"} if document == "grouped-sampling.md" else set()
    assert said == {name: value for name, value in known.items() if name not in unsaid}


def test_the_penalty_is_in_use_without_a_grammar_alone():
    model = TableModel(LETTERS.size)
    plain, default, none = (GroupedSampler(model, LETTERS, 2, repetition_penalty_strategy=each) for each in (None, DEFAULT, NONE))
    chances = [sampler.get_prob_mat([2, 3, 4], 1) for sampler in (plain, default, none)]
    assert np.array_equal(chances[0], chances[1]) and not np.allclose(chances[0], chances[2])
    grammar = Grammar.from_regex("[a-h]{20}")
    texts = [[result.text for [result] in sampler.generate([[2]] * 3, 21, grammar=grammar)] for sampler in (plain, default, none)]
    assert texts[0] == texts[2] != texts[1]


def test_an_answer_has_sixteen_tokens_for_each_of_the_prompt():
    model = TableModel(LETTERS.size)
    model.table[:, [END, PAD]] = -math.inf
    for prompt in ("a", "abc"):
        assert len(GroupedSampler(model, LETTERS, 3)(prompt, return_full_text=False)["generated_text"]) == 16 * len(prompt)


def test_eight_branches_are_kept():
    search = GroupedTreeSearch(TableModel(LETTERS.size), LETTERS, 2)
    assert len(search("ab", 5, num_return_sequences=8)) == 8
    with pytest.raises(ValueError, match="9 sequences are wanted, and 8 branches kept"):
        search("ab", 5, num_return_sequences=9)
