"""The acceptance tests of the specification of grouped sampling, without a grammar; numbered as there."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

from decoding.grouped_models import END, LETTERS, PAD, FixedModel, TableModel
from grammar_engine import Vocabulary
from grammar_engine.decoding.grouped import (
    DEFAULT_REPETITION_PENALTY,
    GenerationType,
    GroupedSampler,
    GroupedTreeSearch,
    LogitScalingRepetitionPenalty,
    NoRepetitionPenalty,
    repetition_penalty_factory,
)
from grammar_engine.decoding.grouped.codec import ids_of
from grammar_engine.decoding.grouped.methods import sampling_of
from grammar_engine.decoding.scores import choose, probabilities

NONE = NoRepetitionPenalty()


def calls_for(n: int, group: int, mode: str) -> int:
    """Where every row is right. The last drafts are to be checked as well: only the first pass gives one token less than a group."""
    return math.ceil(n / group) if mode == "commit" else 1 + math.ceil((n - 1) / group)


WIDTH = LETTERS.size


def letter(position: int) -> int:
    return 2 + position % 8


def test_1_group_of_one_greedy_is_ordinary_greedy_decoding():
    for seed in range(20):
        model = TableModel(WIDTH, seed)
        ids = [5, 3]
        while len(ids) < 32 and (token := int(model(ids)[-1].argmax())) != END:
            ids.append(token)
        sampler = GroupedSampler(model, LETTERS, 1, top_k=1, repetition_penalty_strategy=NONE)
        assert sampler.generate([[5, 3]], 30)[0][0].ids == ids[2:]


@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_2_calls_are_the_tokens_over_the_group_size_rounded_up(mode):
    for n in range(1, 21):
        for group in range(1, 21) if mode == "commit" else (1, 2, 3, 7, 20):
            model = FixedModel(letter)
            [[result]] = GroupedSampler(model, LETTERS, group, top_k=1, mode=mode).generate([[2]], n)
            assert len(result.ids) == n
            assert result.calls == len(model.asked) == calls_for(n, group, mode)
            assert result.stop_reason == "budget" and not result.finished


def test_3_the_model_sees_the_text_and_one_pad_less_than_the_group():
    for group in (1, 2, 3, 7):
        model = TableModel(WIDTH)
        [[result]] = GroupedSampler(model, LETTERS, group, end_of_sentence_stop=False).generate([[2, 3, 4]], 14)
        text = [2, 3, 4, *result.ids]
        assert model.asked == [text[:length] + [PAD] * (group - 1) for length in range(3, 17, group)]


@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize("prompts", [[[2, 3, 4]], [[2, 3, 4], [5], [2, 3]]])
def test_3_a_torch_module_is_told_to_look_at_all_of_it(mode, prompts):
    """The pads, too, and the columns that it has keys and values of;
    where texts are written together, what is no column of a text is masked."""
    torch = pytest.importorskip("torch")
    from grammar_engine.decoding.tiny.model import TinyDecoder

    torch.manual_seed(0)
    module = TinyDecoder(WIDTH, dim=16, layers=1, heads=2, max_length=40).eval()
    given = []
    module.register_forward_pre_hook(lambda _, __, options: given.append(options), with_kwargs=True)
    found = GroupedSampler(module, LETTERS, 3, mode=mode, end_of_sentence_stop=False).generate(prompts, 9)
    assert all(len(result.ids) == 9 for [result] in found)
    passes = [options for options in given if len(options["input_ids"]) == len(prompts)]  # once, one text is tried behind masked ids
    assert len(passes) > 2
    n_pads = 0
    for options in passes:
        held = options["past_key_values"][0][0].shape[2] if options["past_key_values"] else 0
        mask, ids = options["attention_mask"], options["input_ids"]
        assert mask.shape == (len(ids), held + ids.shape[1])
        assert mask[:, held:].all()
        n_pads += int((ids == PAD).sum())
        if len(prompts) == 1:
            assert mask.all()
    assert n_pads >= 2 * len(prompts)


@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_4_each_row_is_about_its_own_position(mode):
    for group in (1, 2, 3, 5, 8):
        for sequence in (3, 11):
            prompt = [2] * sequence
            [[result]] = GroupedSampler(FixedModel(letter), LETTERS, group, mode=mode).generate([prompt], 17)
            assert result.ids == [letter(position) for position in range(sequence, sequence + 17)]


@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_5_an_end_within_a_group_ends_the_text(mode):
    for end in range(2, 14):
        for group in (1, 2, 4, 9):
            model = FixedModel(lambda position, end=end: END if position == end else letter(position))
            [[result]] = GroupedSampler(model, LETTERS, group, mode=mode).generate([[2]], 30)
            assert result.ids == [letter(position) for position in range(1, end)]
            assert result.finished and result.stop_reason == "end"
            assert result.calls == calls_for(end, group, mode)


def test_6_the_end_can_be_banned():
    for seed in range(60):
        model = TableModel(WIDTH, seed)
        model.table[:, END] = 9  # much the likeliest
        sampler = GroupedSampler(model, LETTERS, 4, end_of_sentence_stop=False)
        [[result]] = sampler.generate([[2]], 25, seed=seed)
        assert END not in result.ids and len(result.ids) == 25
    with pytest.raises(ValueError, match="max_new_tokens must be given if end_of_sentence_stop is False"):
        sampler("ab")
    endless = Vocabulary(LETTERS.tokens, eos=[], special={PAD: "<pad>"})
    with pytest.raises(ValueError, match="max_new_tokens must be given"):
        GroupedSampler(model, endless, 2)("ab")


def test_7_theta():
    assert repetition_penalty_factory(None) is DEFAULT_REPETITION_PENALTY
    assert DEFAULT_REPETITION_PENALTY.theta == 1.2
    assert isinstance(repetition_penalty_factory(1), NoRepetitionPenalty)
    assert repetition_penalty_factory(1.5).theta == 1.5
    assert repr(repetition_penalty_factory(1.5)) == "LogitScalingRepetitionPenalty(theta=1.5)"
    with pytest.raises(ValueError, match="theta"):
        repetition_penalty_factory(0.5)
    with pytest.raises(ValueError, match="Theta must be > 1"):
        LogitScalingRepetitionPenalty(1)

    def scores():
        return np.array([[3.0, -3.0, 2.0], [1.0, -1.0, 0.0]], dtype=np.float32)

    tokens = [2, 0, 1]  # 2 is of the prompt
    assert (NONE(scores(), tokens, 1) == scores()).all()
    scaled = LogitScalingRepetitionPenalty(2.0)(scores(), tokens, 1)
    assert scaled.tolist() == [[1.5, -6.0, 2.0], [0.5, -2.0, 0.0]]
    literal = LogitScalingRepetitionPenalty(2.0, sign_aware=False)(scores(), tokens, 1)
    assert literal.tolist() == [[1.5, -1.5, 2.0], [0.5, -0.5, 0.0]]
    spared = LogitScalingRepetitionPenalty(2.0, exempt=[1])(scores(), tokens, 0)
    assert spared.tolist() == [[1.5, -3.0, 1.0], [0.5, -1.0, 0.0]]


def test_7_what_is_penalised():
    """Token 2 is best by far, 3 next; a penalty of 10 lets each win once."""

    def model(ids):
        return np.tile(np.array([-50, -50, 9, 8, 7, 6, 5, 4, 3, 2], dtype=np.float32), (len(ids), 1))

    def written(**options):
        return GroupedSampler(model, LETTERS, 3, top_k=1, repetition_penalty_strategy=LogitScalingRepetitionPenalty(10.0), **options).generate(
            [[2, 3]], 6
        )[0][0].ids  # fmt: skip

    assert written() == [2, 3, 4, 5, 6, 7]
    assert written(penalize_from="all") == written(penalize_from=0) == [4, 5, 6, 7, 8, 9]
    assert written(penalize_from=1) == [2, 4, 5, 6, 7, 8]  # the second token of the prompt is the first that counts
    assert written(penalize_from=2) == written()
    assert written(penalize_from=3) == [2, 2, 3, 4, 5, 6]
    assert written(penalize_in_group=False) == [2, 2, 2, 3, 3, 3]  # as the source has it: of earlier groups only


def test_8_the_keys_of_an_answer():
    sampler = GroupedSampler(FixedModel(letter), LETTERS, 2)
    assert sampler("ab", 3) == {"generated_text": "abcde"}
    assert sampler("ab", 3, return_full_text=False) == {"generated_text": "cde"}
    assert sampler("ab", 3, prefix="abc", postfix="h") == {"generated_text": "abgha"}
    assert sampler("ab", 3, return_text=False) == {}
    answer = sampler("ab", 3, return_tensors="np", return_text=False)
    assert answer["generated_token_ids"].tolist() == [2, 3, 4, 5, 6] and list(answer) == ["generated_token_ids"]
    torch = pytest.importorskip("torch")
    tensor = sampler("ab", 3, return_tensors=True)["generated_token_ids"]
    assert tensor.dtype == torch.int64 and tensor.tolist() == [2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="return_tensors"):
        sampler("ab", 3, return_tensors="tf")


def test_8_the_length_follows_from_the_prompt_alone():
    sampler = GroupedSampler(FixedModel(letter), LETTERS, 4, answer_length_multiplier=2.5)
    assert sampler("abc", prefix="gg", postfix="ggg", return_full_text=False)["generated_text"] == "abcdefg"


@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_9_a_list_is_answered_as_each_prompt_alone(mode):
    prompts = ["a", "bcdefgh", "cab", "h" * 20]
    model = TableModel(WIDTH, 5)
    sampler = GroupedSampler(model, LETTERS, 3, mode=mode, batch=model.batch)
    options = {"prefix": "ga", "postfix": "d", "num_return_sequences": 3, "return_tensors": "np", "max_new_tokens": 12}
    together = sampler(prompts, **options)
    n_passes = len(model.asked)
    alone = [sampler(prompt, **options) for prompt in prompts]
    assert [[one["generated_text"] for one in each] for each in together] == [[one["generated_text"] for one in each] for each in alone]
    assert n_passes <= 12 < len(model.asked) - n_passes
    assert [one["generated_text"] for one in sampler(prompts, 7)] == [sampler(prompt, 7)["generated_text"] for prompt in prompts]
    assert sampler([]) == []


def test_10_seeds():
    model = TableModel(WIDTH, 3)
    sampler = GroupedSampler(model, LETTERS, 3)
    [first] = sampler.generate([[2, 3]], 20, num_return_sequences=5)
    assert [each.ids for each in first] == [each.ids for each in sampler.generate([[2, 3]], 20, num_return_sequences=5)[0]]
    assert len({tuple(each.ids) for each in first}) == 5
    for j, each in enumerate(first, 1):
        assert sampler.generate([[2, 3]], 20, seed=sampler.default_seed + j)[0][0].ids == each.ids
    sampler.default_seed = 2
    assert sampler.generate([[2, 3]], 20)[0][0].ids == first[2].ids


def test_11_methods():
    kinds = {
        (None, None): "random",
        (1, None): "greedy",
        (None, 0.0): "greedy",
        (5, 0.5): "top_k",
        (None, 0.5): "top_p",
        (None, 1.0): "random",
    }
    assert {options: GenerationType.of(*options).value for options in kinds} == kinds
    assert [kind for kind in GenerationType if not kind.requires_softmax()] == [GenerationType.GREEDY]
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.normal(size=12).astype(np.float32)
        best = int(scores.argmax())
        assert choose(probabilities(scores, sampling_of(1.0, 1, None)), rng) == best
        for top_p in (0.01, 0.3, 0.7, 0.99):
            kept = probabilities(scores, sampling_of(1.0, None, top_p))
            everything = probabilities(scores, sampling_of(1.0, None, None))
            assert kept[best] > 0
            others = np.sort(everything[kept > 0])[::-1]
            assert others.sum() >= top_p > others[:-1].sum()  # the token that crosses p is there, and none after it
    drawn = np.bincount([choose(np.array([0.1, 0.2, 0.7]), rng) for _ in range(20_000)]) / 20_000
    assert np.abs(drawn - [0.1, 0.2, 0.7]).max() < 0.015
    for temp, expected in ((2.0, 0.73105), (1.0, 0.88079), (0.5, 0.98201)):
        assert probabilities(np.array([-1.0, 1.0], dtype=np.float32), sampling_of(temp, None, None))[1] == pytest.approx(expected, abs=1e-5)


# --- what else section 13 repairs ---------------------------------------------------------------------------------------


def test_as_dict_is_data_and_comes_back():
    sampler = GroupedSampler(
        TableModel(WIDTH), LETTERS, 3, top_k=4, mode="verify", repetition_penalty_strategy=LogitScalingRepetitionPenalty(1.5, exempt=[3])
    )
    values = sampler.as_dict()
    stored = json.loads(json.dumps(values))
    twin = GroupedSampler.from_dict(stored, sampler.model, LETTERS)
    assert stored == json.loads(json.dumps(values)) and twin.as_dict() == values and values["generation_type"] == "top_k"
    assert twin("abc", 9) == sampler("abc", 9)
    assert "top_k=4" in repr(sampler) and "GroupedSampler" in repr(sampler)
    tree = GroupedTreeSearch(TableModel(WIDTH), LETTERS, 3, top_p=0.5)
    assert GroupedTreeSearch.from_dict(tree.as_dict(), tree.model, LETTERS).as_dict() == tree.as_dict()
    with pytest.raises(ValueError, match="model_name"):
        GroupedSampler.from_dict(values)


def test_what_a_model_cannot_see_is_cut_on_the_left_with_a_warning():
    model = TableModel(WIDTH)
    sampler = GroupedSampler(model, LETTERS, 3, max_input_len=6, end_of_sentence_stop=False)
    with pytest.warns(UserWarning, match="the last 6 only"):
        sampler("abcdefg", 1)
    assert model.asked == [[5, 6, 7, 8, PAD, PAD]]
    with pytest.raises(ValueError, match="no room"):
        GroupedSampler(model, LETTERS, 6, max_input_len=6)
    with pytest.warns(UserWarning, match="6 tokens"):
        sampler("abcdefgh", 1, truncation=True)  # the tokenizer cuts on the right
    tree = GroupedTreeSearch(TableModel(WIDTH), LETTERS, 3, max_input_len=6, end_of_sentence_stop=False)
    ids = list(range(2, 9))
    for call in (
        lambda: sampler("abcdefg", 1),
        lambda: sampler(["abcdefg"], 1),
        lambda: sampler.generate([ids], max_new_tokens=1),
        lambda: tree.generate([ids], max_new_tokens=1),
        lambda: sampler.get_logits_matrix(ids),
        lambda: sampler.get_prob_mat(ids, 0),
    ):
        with pytest.warns(UserWarning, match="7 tokens") as warned:
            call()
        assert [warning.filename for warning in warned] == [__file__]  # once, and where it was called
    with pytest.raises(TypeError, match="a list of prompts"):
        sampler.generate(ids, max_new_tokens=1)


def test_the_rows_of_a_group_cost_of_a_prompt():
    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 3, max_input_len=6, end_of_sentence_stop=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler("abcd", 1)
    with pytest.warns(UserWarning, match="the prompt has 5 tokens and a group 3: the model can see the last 6 only"):
        sampler("abcde", 1)


def test_drafts_cost_nothing_of_a_prompt():
    model = TableModel(WIDTH)
    sampler = GroupedSampler(model, LETTERS, 3, mode="verify", max_input_len=6, end_of_sentence_stop=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler("abcdef", 1)
    assert model.asked == [[2, 3, 4, 5, 6, 7]]
    with pytest.warns(UserWarning, match="the prompt has 7 tokens: the model can see the last 6 only"):
        sampler("abcdefg", 1)


def test_ids_of_what_tokenizers_answer():
    assert ids_of({"input_ids": [[7]]}) == ids_of(np.array([7])) == ids_of(np.array(7)) == [7]
    assert ids_of([1, 2]) == ids_of(np.array([[1, 2]])) == [1, 2]
    for wrong in ("ab", [["a"]], None, [[1], [2]], 1.5):
        with pytest.raises(TypeError):
            ids_of(wrong)


@pytest.mark.filterwarnings("ignore:the prompt has")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group_size": 0}, "group_size"),
        ({"top_k": 0}, "top_k"),
        ({"top_p": -0.5}, "top_p"),
        ({"temp": -1.0}, "temperature"),
        ({"mode": "off"}, "mode"),
        ({"penalize_from": "here"}, "penalize_from"),
        ({"penalize_from": -1}, "penalize_from"),
        ({"answer_length_multiplier": 0}, "answer_length_multiplier"),
        ({"min_allowed_mass": 2}, "min_allowed_mass"),
        ({"min_top_prob": -1}, "min_top_prob"),
        ({"adaptive": True, "max_group_size": 1}, "max_group_size"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        GroupedSampler(TableModel(WIDTH), LETTERS, **{"group_size": 2, **options})


@pytest.mark.parametrize(
    "options", [{"group_size": True}, {"penalize_from": True}, {"top_k": 1.5}, {"top_p": "1"}, {"temp": "1"}, {"min_top_prob": None}]
)
def test_options_have_types(options):
    with pytest.raises(TypeError, match=f"({next(iter(options))}|temperature) is a"):
        GroupedSampler(TableModel(WIDTH), LETTERS, **{"group_size": 2, **options})


def test_calls_are_checked():
    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 2)
    for options in ({"max_new_tokens": 0}, {"max_new_tokens": 3, "num_return_sequences": 0}):
        with pytest.raises(ValueError, match=r"max_new_tokens|num_return_sequences"):
            sampler("ab", **options)
    with pytest.raises(ValueError, match="no tokens"):
        sampler("", 3)
    with pytest.raises(TypeError, match="str"):
        sampler([3], 3)
    with pytest.raises(TypeError, match="tokenizer"):
        GroupedSampler(TableModel(WIDTH), "gpt2", 2)
    with pytest.raises(RuntimeError, match="padding_id"):
        GroupedSampler(TableModel(257), Vocabulary.bytes(), 2)
    assert GroupedSampler(TableModel(257), Vocabulary.bytes(), 1)("ab", 1)


def test_options_of_other_types_and_out_of_range_are_refused():
    model = TableModel(WIDTH)
    with pytest.raises(
        TypeError, match="repetition_penalty_strategy is a RepetitionPenaltyStrategy, not float: repetition_penalty_factory"
    ):
        GroupedSampler(model, LETTERS, 3, repetition_penalty_strategy=1.2)
    with pytest.raises(TypeError, match="padding_id is an int, not str"):
        GroupedSampler(model, LETTERS, 3, padding_id="x")
    with pytest.raises(ValueError, match="padding_id is at least 0"):
        GroupedSampler(model, LETTERS, 3, padding_id=-1)
    with pytest.raises(ValueError, match="max_input_len is at least 1"):
        GroupedSampler(model, LETTERS, 1, max_input_len=0)


def test_what_a_dict_leaves_out_has_its_default():
    model = TableModel(WIDTH)
    assert GroupedSampler.from_dict({"group_size": 3}, model, LETTERS).as_dict() == GroupedSampler(model, LETTERS, 3).as_dict()
    with pytest.raises(ValueError, match="there is no model_name to load"):
        GroupedSampler.from_dict({"group_size": 3})
