"""Grouped sampling with a prefix cache: the same texts, and what is known of a prompt is not passed."""

from __future__ import annotations

import numpy as np
import pytest

from decoding.batch_models import MAKERS, Counted, try_places
from decoding.grouped_models import LETTERS, TableModel
from grammar_engine import Grammar
from grammar_engine.decoding import PrefixCache, generate
from grammar_engine.decoding.grouped import GroupedSampler, GroupedTreeSearch
from grammar_engine.decoding.grouped.leases import Leases

torch = pytest.importorskip("torch")

BLOCK = 4
LONG = [4, 5, 6, 7, 8, 9, 2, 3, 4, 5, 5, 6, 7]
PROMPTS = [[*LONG, 2], [2, 3], [*LONG, 9, 9, 8], [3, *LONG]]
GRAMMAR = Grammar.from_regex("[a-f]{4,12}(gh)*")


@pytest.fixture(params=["tiny", "llama", "gemma3", "bloom"])
def module(request):
    return MAKERS[request.param]()


def sampler_of(module, cache=None, kind=GroupedSampler, **options):
    return kind(module, LETTERS, 3, padding_id=LETTERS.size, prefix_cache=cache, **options)


def ids_of(results):
    return [[result.ids for result in of_prompt] for of_prompt in results]


def all_idle(cache):
    return cache.stats.idle == cache.stats.table


@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize("grammar", [None, GRAMMAR])
@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS])
def test_the_same_texts_by_fewer_positions(module, mode, grammar, prompts):
    without = ids_of(sampler_of(module, mode=mode).generate(prompts, 14, grammar=grammar))
    try_places(module)
    cache = PrefixCache(BLOCK)
    sampler, passed = sampler_of(module, cache, mode=mode), []
    for _ in range(2):
        with Counted(module) as counted:
            assert ids_of(sampler.generate(prompts, 14, grammar=grammar)) == without
        passed.append(counted.positions)
        assert all_idle(cache)
    assert cache.stats.prompt_matched == (12 if len(prompts) == 1 else 12 + 0 + 16 + 12), "by the second call"
    if len(prompts) == 1:
        assert passed[0] - passed[1] == 12
    elif module.__class__.__name__ != "BloomForCausalLM":  # that knows as much of each as of the others
        assert passed[0] - passed[1] == 4 * (16 + 2 - (2 + 2)), (
            "rows were as wide as the longest with its pads, and are as wide as the one of which nothing is known"
        )


def test_prompts_that_run_together_are_each_known_by_themselves():
    """A short prompt of which nothing is known does not make the long ones be passed."""
    module, cache = MAKERS["llama"](), PrefixCache(BLOCK)
    sampler = sampler_of(module, cache, mode="verify")
    sampler.generate([PROMPTS[2]], 2)
    try_places(module)
    with Counted(module) as counted:
        sampler.generate([PROMPTS[0], PROMPTS[1]], 1)
    assert counted.positions == 2 * 2, "of the first all but two of 14, of the second both, without pads as one token is wanted"


@pytest.mark.parametrize("together", [False, True])
def test_what_was_written_is_known_in_the_next_turn(together):
    module, cache = MAKERS["llama"](), PrefixCache(BLOCK)
    sampler = sampler_of(module, cache, mode="verify", end_of_sentence_stop=False)
    prompts = PROMPTS[: 2 if together else 1]
    results = sampler.generate(prompts, 10)
    matched = cache.stats.prompt_matched
    turn = [*PROMPTS[0], *results[0][0].ids, 3]
    sampler.generate([turn], 1)
    assert cache.stats.prompt_matched - matched >= (len(turn) - 4) // BLOCK * BLOCK, "all but the group of the last pass"


@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS])
def test_no_block_has_a_pad_or_a_draft(mode, prompts):
    """Whatever the group: what is kept is the beginning of a text that was written."""
    module, cache = MAKERS["llama"](), PrefixCache(2)
    sampler = GroupedSampler(module, LETTERS, 7, padding_id=LETTERS.size, prefix_cache=cache, mode=mode, end_of_sentence_stop=False)
    results = sampler.generate(prompts, 16)
    texts = [[*prompt, *result.ids] for prompt, [result] in zip(prompts, results)]
    beginnings = {tuple(text[:stop]) for text in texts for stop in range(0, len(text) + 1, 2)}
    kept: dict = {}
    for block in sorted(cache._table.values(), key=lambda block: block.start):
        before = () if block.parent is None else kept[block.parent]
        kept[block] = (*before, *block.tokens)
        assert kept[block] in beginnings
    assert len(kept) > 5


def test_the_loop_and_tree_search_share_the_cache():
    module, cache = MAKERS["llama"](), PrefixCache(BLOCK)
    generate(module, PROMPTS[0], None, LETTERS, max_new_tokens=1, prefix_cache=cache)
    search = sampler_of(module, cache, GroupedTreeSearch, beam=3)
    without = sampler_of(module, kind=GroupedTreeSearch, beam=3).generate(PROMPTS, 8)
    assert ids_of(search.generate(PROMPTS, 8)) == ids_of(without)
    assert cache.stats.prompt_matched == 12 + 12 and all_idle(cache)
    assert ids_of(search.generate(PROMPTS[:1], 8)) == ids_of(without[:1])
    generate(module, PROMPTS[3], None, LETTERS, max_new_tokens=1, prefix_cache=cache)
    assert cache.stats.prompt_matched == 12 + 12 + 12 + 12


def test_prompts_beyond_what_the_model_sees():
    module, cache = MAKERS["tiny"](), PrefixCache(BLOCK)
    prompt = LONG * 6
    with pytest.warns(UserWarning, match="the last 64 only"):
        without = sampler_of(module).generate([prompt, LONG], 6)
    for _ in range(2):
        with pytest.warns(UserWarning, match="the last 64 only"):
            assert ids_of(sampler_of(module, cache).generate([prompt, LONG], 6)) == ids_of(without)
    assert all_idle(cache)


@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS])
def test_models_that_keep_nothing_are_refused(prompts):
    for model in (TableModel(LETTERS.size), MAKERS["mamba"]()):
        cache = PrefixCache(BLOCK)
        with pytest.raises(TypeError, match=r"no keys and values|keeps a state"):
            sampler_of(model, cache).generate(prompts, 4)
        assert not cache.stats.table


class Forgetful(torch.nn.Module):
    """Returns no keys and values."""

    def __init__(self):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.zeros(LETTERS.size + 1, LETTERS.size + 1))

    def forward(self, input_ids, past_key_values=None, use_cache=True):
        class Output:
            logits, past_key_values = self.weights[input_ids], None

        return Output


@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS])
def test_a_module_without_keys_and_values(prompts):
    cache = PrefixCache(BLOCK)
    module = Forgetful()
    for _ in range(2):
        with pytest.raises(TypeError, match="returns no keys and values"):
            sampler_of(module, cache).generate(prompts, 4)
    assert not cache.stats.table
    assert len(sampler_of(module).generate(prompts, 4)) == len(prompts)


@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS])
def test_a_pass_that_fails_leaves_nothing_in_use(prompts):
    module, cache = MAKERS["llama"](), PrefixCache(BLOCK)
    sampler = sampler_of(module, cache, mode="verify", end_of_sentence_stop=False)
    calls = iter(range(3))
    hook = module.register_forward_pre_hook(lambda *_: None if next(calls, None) is not None else 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sampler.generate(prompts, 30)
    hook.remove()
    assert cache.stats.table and all_idle(cache)
    assert ids_of(sampler.generate(prompts, 10)) == ids_of(
        sampler_of(module, mode="verify", end_of_sentence_stop=False).generate(prompts, 10)
    )


@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS])
def test_what_cannot_be_kept_leaves_nothing_in_use(prompts, monkeypatch):
    """As where there is no memory for it."""
    module, cache = MAKERS["llama"](), PrefixCache(BLOCK)
    sampler = sampler_of(module, cache, mode="verify", end_of_sentence_stop=False)
    sampler.generate(prompts, 10)
    with monkeypatch.context() as patch:
        patch.setattr(Leases, "keep", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError) as error:
            sampler.generate(prompts, 10)
        assert all_idle(cache) and error.tb


def test_options():
    with pytest.raises(TypeError, match="prefix_cache is a PrefixCache, not dict"):
        GroupedSampler(TableModel(LETTERS.size), LETTERS, 2, prefix_cache={})
    with pytest.raises(ValueError, match="a batch function has no keys and values"):
        GroupedSampler(TableModel(LETTERS.size), LETTERS, 2, batch=lambda texts: [], prefix_cache=PrefixCache())
    assert "prefix_cache" not in GroupedSampler(TableModel(LETTERS.size), LETTERS, 2, prefix_cache=PrefixCache()).as_dict()


def test_half_precision():
    """Payloads that numpy cannot hold."""
    module, cache = MAKERS["llama"]().bfloat16(), PrefixCache(BLOCK)
    sampler = sampler_of(module, cache, mode="verify", top_k=1)
    first = ids_of(sampler.generate(PROMPTS, 8))
    assert np.mean([a == b for a, b in zip(first, ids_of(sampler.generate(PROMPTS, 8)), strict=True)]) >= 0.5, (
        "but for the rounding of bfloat16"
    )
    assert cache.stats.prompt_matched >= 40
