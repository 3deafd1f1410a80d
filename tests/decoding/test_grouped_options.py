"""Options and helpers of grouped sampling that the acceptance tests do not come to: what each does, where it holds, and as data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from decoding.grouped_models import END, LETTERS, PAD, FixedModel, TableModel
from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine.decoding.grouped import (
    GenerationType,
    GroupedSampler,
    GroupedTreeSearch,
    LogitScalingRepetitionPenalty,
    NoRepetitionPenalty,
    PostProcessor,
    PreProcessor,
    RepetitionPenaltyStrategy,
)
from grammar_engine.decoding.grouped.codec import _VocabularyCodec
from grammar_engine.decoding.grouped.pipeline import MAX_MODEL_INPUT_SIZE
from grammar_engine.decoding.models import NoiseModel, as_model

WIDTH = LETTERS.size
NONE = NoRepetitionPenalty()


class Equal:
    """All tokens are as likely."""

    def __call__(self, ids):
        return np.zeros((len(ids), WIDTH), dtype=np.float32)


def llama_like():
    """A tokenizer whose `decode` leaves away the first blank, as that of Llama does."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    names = {"<pad>": 0, "</s>": 1, "\u2581": 2, "a": 3, "b": 4, "\u2581a": 5, "c": 6}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(names, [("\u2581", "a")], byte_fallback=False))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    backend.decoder = tokenizers.decoders.Sequence(
        [tokenizers.decoders.Replace("\u2581", " "), tokenizers.decoders.Fuse(), tokenizers.decoders.Strip(" ", 1, 0)]
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", pad_token="<pad>")


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_under_a_grammar_a_text_is_what_its_tokens_spell(mode):
    tokenizer = llama_like()
    vocabulary = Vocabulary([b"", b"", b" ", b"a", b"b", b" a", b"c"], eos=[1], special={0: "<pad>", 1: "</s>"})
    sampler = GroupedSampler(TableModel(7), tokenizer, 3, mode=mode, vocabulary=vocabulary)
    for pattern in (" ab", " +a", " a|  b"):
        grammar = Grammar.from_regex(pattern)
        [[result]] = sampler.generate([[4]], 8, grammar=grammar)
        spelt = b"".join(vocabulary.token_bytes(token) for token in result.ids)
        matcher = Matcher(grammar, vocabulary)
        assert result.text.encode() == spelt and matcher.accept_bytes(spelt) and matcher.is_complete
        assert tokenizer.decode(result.ids) == result.text[1:]  # why it must not be asked
        assert sampler("b", 8, grammar=grammar, return_full_text=False)["generated_text"] == result.text
        assert sampler("b", 8, grammar=grammar)["generated_text"] == "b" + result.text


def test_prompts_of_a_list_have_budgets_of_their_own():
    sampler = GroupedSampler(FixedModel(lambda i: 2 + i % 8), LETTERS, 3, answer_length_multiplier=2.0, repetition_penalty_strategy=NONE)
    answers = sampler(["a", "abc"], return_full_text=False)
    assert [len(answer["generated_text"]) for answer in answers] == [2, 6]


def test_a_prompt_too_short_for_any_answer_is_refused():
    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 2, answer_length_multiplier=0.1)
    for call in (lambda: sampler("abc"), lambda: sampler(["abcdefghab", "a"]), lambda: sampler("", prefix="abc")):
        with pytest.raises(ValueError, match="max_new_tokens"):
            call()
    assert len(sampler("abc", 2, return_full_text=False)["generated_text"]) <= 2


@pytest.mark.parametrize("multiplier", [1e19, 1.7e308])
def test_a_multiplier_may_come_to_any_number(multiplier):
    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 2, answer_length_multiplier=multiplier)
    answer = sampler("abcabc", grammar=Grammar.from_regex("[a-c]{3}"), return_full_text=False)
    assert len(answer["generated_text"]) == 3


def test_words_for_truncation():
    """One that is misspelt cuts nothing, and says so."""
    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 2, max_input_len=4)
    for word in (True, "longest_first", "only_first"):
        assert len(sampler.pre_processing_strategy("abcabc", truncation=word).ids) == 4
    for word in (None, False, "do_not_truncate"):
        assert len(sampler.pre_processing_strategy("abcabc", truncation=word).ids) == 6
    for word in ("do_not_trunkate", 1.5, 7):
        with pytest.raises(ValueError, match=f"truncation is a bool, 'do_not_truncate' or one of .*, not {word!r}"):
            sampler("abcabc", 1, truncation=word)


def test_a_grammar_is_a_grammar():
    with pytest.raises(TypeError, match="not Matcher"):
        GroupedSampler(TableModel(WIDTH), LETTERS, 2).generate([[2]], 4, grammar=Matcher(Grammar.from_regex("a"), LETTERS))


# --- trust, penalty, ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"top_k": 1}, {"top_k": 2}, {"top_p": 0.0}, {"top_p": 0.2}, {"temp": 0.0}])
def test_min_top_prob_is_of_the_row_and_not_of_what_filters_leave(options):
    common = {"repetition_penalty_strategy": NONE, "end_of_sentence_stop": False, **options}
    n = 12
    for threshold, calls in ((0.0, 3), (0.05, 3), (0.2, n)):  # of nine tokens that may come each has a ninth
        [[result]] = GroupedSampler(Equal(), LETTERS, 4, min_top_prob=threshold, **common).generate([[2]], n)
        assert result.calls == calls, threshold
        assert result.rows_dropped == 4 * calls - n


def test_min_top_prob_is_among_what_a_grammar_allows():
    for pattern, calls in (("[a-h]{12}", 12), ("[ab]{12}", 4)):
        sampler = GroupedSampler(Equal(), LETTERS, 4, min_top_prob=0.4, forced=False)
        [[result]] = sampler.generate([[2]], 13, grammar=Grammar.from_regex(pattern))
        assert result.calls == calls


def test_penalties_of_groups_do_not_reach_verified_texts():
    def text(penalty, seed, **options):
        sampler = GroupedSampler(
            TableModel(WIDTH, seed), LETTERS, 4, top_k=1, mode="verify", repetition_penalty_strategy=penalty, **options
        )
        return sampler.generate([[2]], 20)[0][0].ids

    penalty, n_penalised = LogitScalingRepetitionPenalty(5.0), 0
    for seed in range(10):
        penalised = text(penalty, seed)
        assert text(penalty, seed, penalize_in_group=False) == penalised
        n_penalised += penalised != text(NONE, seed)
    assert n_penalised > 5


def test_an_end_that_is_banned_may_come_where_a_grammar_leaves_nothing_else():
    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 2, end_of_sentence_stop=False, forced=False, close_in_time=False)
    [[result]] = sampler.generate([[2]], 9, grammar=Grammar.from_regex("ab?"))
    assert result.text in ("a", "ab") and result.stop_reason == "end"


def test_added_tokens_of_a_tokenizer_may_come():
    tokenizer = llama_like()
    tokenizer.add_tokens(["<new>"])
    assert len(tokenizer) == tokenizer.vocab_size + 1 == 8
    [[result]] = GroupedSampler(FixedModel(lambda i: 7, width=12), tokenizer, 2, repetition_penalty_strategy=NONE).generate([[3]], 4)
    assert result.ids == [7] * 4


def test_an_adaptive_group_grows_up_to_four_times_its_size():
    sampler = GroupedSampler(FixedModel(lambda i: 2 + i % 8), LETTERS, 2, adaptive=True)
    assert sampler.max_group_size == 8
    assert GroupedSampler(sampler.model, LETTERS, 2, adaptive=True, max_input_len=6).max_group_size == 5


# --- tree search ------------------------------------------------------------------------------------------------------


def test_tree_search_counts_what_a_grammar_determines():
    grammar = Grammar.from_regex("abc[ab]cde[ab]")
    [[tree]] = GroupedTreeSearch(TableModel(WIDTH), LETTERS, 2, beam=3).generate([[2]], 20, grammar=grammar)
    [[sampled]] = GroupedSampler(TableModel(WIDTH), LETTERS, 2, top_k=1).generate([[2]], 20, grammar=grammar)
    assert tree.forced == sampled.forced > 0
    [[free]] = GroupedTreeSearch(TableModel(WIDTH), LETTERS, 2, beam=3, forced=False).generate([[2]], 20, grammar=grammar)
    assert free.forced == 0


# --- parts, and data --------------------------------------------------------------------------------------------------


def test_pre_and_post_processing_take_tokenizers():
    tokenizer = llama_like()
    for each, ids in ((LETTERS, [2, 3]), (tokenizer, [3, 4])):
        prepared = PreProcessor(each, 40)("ab", prefix="a", postfix="b")
        assert prepared.ids[1:3] == ids and prepared[1:] == (1, 2, 1)
        answer = PostProcessor(each)([*prepared.ids, *ids, END, PAD], 3, 2, True, "np", False, True, 1, 1)
        assert answer["generated_text"] == "ab" and answer["generated_token_ids"].tolist() == [*ids, END]
    with pytest.raises(TypeError, match="tokenizer"):
        PreProcessor("gpt2", 40)


def test_options_as_data_are_plain_whatever_numbers_were_given():
    sampler = GroupedSampler(
        TableModel(WIDTH),
        LETTERS,
        2,
        temp=np.float32(0.5),
        top_p=np.float64(0.25),
        min_top_prob=np.float32(0.125),
        default_seed=np.int64(3),
    )
    values = json.loads(json.dumps(sampler.as_dict()))
    assert (values["temp"], values["top_p"], values["min_top_prob"], values["default_seed"]) == (0.5, 0.25, 0.125, 3)
    twin = GroupedSampler.from_dict(values, TableModel(WIDTH), LETTERS)
    assert twin("abc", 9) == sampler("abc", 9)
    batched = GroupedSampler.from_dict(values, TableModel(WIDTH), LETTERS, top_p=0.5, batch=TableModel(WIDTH).batch)
    assert batched.top_p == 0.5 and batched.batch is not None


def test_a_penalty_of_ones_own():
    class Never(RepetitionPenaltyStrategy):
        theta = 2.0

        def __call__(self, logits, tokens, generation_start):
            logits[sorted(set(tokens[generation_start:]))] = -np.inf
            return logits

    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 3, repetition_penalty_strategy=Never(), end_of_sentence_stop=False)
    [[result]] = sampler.generate([[2]], 6)
    assert len(set(result.ids)) == 6

    class Anew(Never):
        def __call__(self, logits, tokens, generation_start):
            return super().__call__(logits.copy(), tokens, generation_start)

    class Nothing(Never):
        def __call__(self, logits, tokens, generation_start):
            super().__call__(logits, tokens, generation_start)

    options = {"end_of_sentence_stop": False}
    anew = GroupedSampler(TableModel(WIDTH), LETTERS, 3, repetition_penalty_strategy=Anew(), **options)
    assert anew.generate([[2]], 6)[0][0].ids == result.ids
    with pytest.raises(TypeError, match="returns the scores that it was given, not NoneType"):
        GroupedSampler(TableModel(WIDTH), LETTERS, 3, repetition_penalty_strategy=Nothing(), **options).generate([[2]], 6)
    values = json.loads(json.dumps(sampler.as_dict()))
    with pytest.raises(ValueError, match="Never"):
        GroupedSampler.from_dict(values, TableModel(WIDTH), LETTERS)
    twin = GroupedSampler.from_dict(values, TableModel(WIDTH), LETTERS, repetition_penalty_strategy=Never())
    assert twin.generate([[2]], 6)[0][0].ids == result.ids


def test_a_temperature_of_zero_is_greedy():
    sampler = GroupedSampler(TableModel(WIDTH), LETTERS, 2, temp=0.0)
    assert sampler.generation_type is GenerationType.GREEDY and not sampler.generation_type.requires_softmax()


# --- one pass by hand -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"temp": 0.5}, {"top_k": 3}, {"top_p": 0.6}, {"top_k": 1}, {"penalize_from": "all"}])
def test_a_pass_by_hand_writes_what_generate_writes(options):
    model = TableModel(WIDTH + 2)
    sampler = GroupedSampler(model, LETTERS, 4, penalize_in_group=False, **options)
    prompt = [2, 3, 4]
    for seed in range(1, 30):
        [[whole]] = sampler.generate([prompt], 4, seed=seed)
        by_hand = sampler.generate_group(sampler.get_prob_mat(prompt, len(prompt)), seed)
        assert [token for token in by_hand if token != END] == whole.ids
        assert (by_hand[-1] == END) == whole.finished
    assert sampler.padding_tokens == [PAD] * 3
    assert model.asked[-1] == [*prompt, PAD, PAD, PAD]


def test_the_rows_of_a_pass_are_those_of_the_model_and_of_the_tokenizer():
    model = TableModel(WIDTH + 2)
    sampler = GroupedSampler(model, LETTERS, 3, max_input_len=5)
    ids = [2, 3, 4, 5, 6, 7]
    with pytest.warns(UserWarning, match="the last 5 only"):
        rows = sampler.get_logits_matrix(ids)
    assert rows.shape == (3, WIDTH) and rows.dtype == np.float32
    assert (rows == model([5, 6, 7, PAD, PAD])[-3:, :WIDTH]).all()
    assert GroupedSampler(model, LETTERS, 1).get_logits_matrix(ids).shape == (1, WIDTH)


def test_what_a_tokenizer_says_is_not_believed_beyond_a_length_and_what_a_model_says_is(monkeypatch):
    def length(said_by_tokenizer, said_by_model, given=None):
        monkeypatch.setattr(_VocabularyCodec, "max_length", said_by_tokenizer)
        model = as_model(TableModel(WIDTH), max_length=said_by_model)
        return GroupedSampler(model, LETTERS, 2, max_input_len=given).max_input_len

    assert length(None, None) is None
    assert length(10**30, None) is None
    assert length(MAX_MODEL_INPUT_SIZE + 1, None) is None
    assert length(MAX_MODEL_INPUT_SIZE, None) == MAX_MODEL_INPUT_SIZE
    assert length(10**30, 131_072) == 131_072
    assert length(512, 131_072) == 512
    assert length(10**30, 131_072, given=200_000) == 131_072
    assert length(10**30, None, given=200_000) == 200_000


def test_chances_by_hand_are_penalised_from_where_the_text_was_generated():
    sampler = GroupedSampler(Equal(), LETTERS, 2, repetition_penalty_strategy=LogitScalingRepetitionPenalty(2.0))
    even = np.full(WIDTH, 1 / WIDTH)
    assert np.allclose(sampler.get_prob_mat([2, 3], 2), even)  # scores of 0 stay 0

    def rising(ids):
        return np.tile(np.arange(WIDTH, dtype=np.float32), (len(ids), 1))

    sampler = GroupedSampler(rising, LETTERS, 2, repetition_penalty_strategy=LogitScalingRepetitionPenalty(2.0))
    weights = np.exp(np.arange(WIDTH, dtype=np.float64))
    assert np.allclose(sampler.get_prob_mat([9, 9], 2), weights / weights.sum())
    weights[9] = np.exp(4.5)
    assert np.allclose(sampler.get_prob_mat([9, 9], 1), weights / weights.sum())


def test_a_text_by_hand_never_ends_where_it_must_not():
    sampler = GroupedSampler(FixedModel(lambda position: END), LETTERS, 3, end_of_sentence_stop=False)
    chances = sampler.get_prob_mat([2], 1)
    assert (chances[:, END] == 0).all() and len(sampler.generate_group(chances)) == 3
    assert GroupedSampler(FixedModel(lambda position: END), LETTERS, 3).generate_group(np.eye(WIDTH)[[2, END, 3]]) == [2, END]


def test_a_pad_that_the_model_does_not_know_is_refused():
    model = NoiseModel(WIDTH)
    with pytest.raises(ValueError, match=f"padding_id is {WIDTH}, and the model knows {WIDTH} tokens"):
        GroupedSampler(model, LETTERS, 3, padding_id=WIDTH)
    GroupedSampler(model, LETTERS, 3, padding_id=WIDTH - 1)
    GroupedSampler(TableModel(WIDTH), LETTERS, 3, padding_id=WIDTH)  # of a callable it is not known


# --- what a hostile reader found --------------------------------------------------------------------------------------


class Strict(TableModel):
    """A model that does not know what is no token."""

    def __call__(self, ids):
        assert min(ids) >= 0
        return super().__call__(ids)


@pytest.mark.parametrize("mode", ["commit", "verify"])
def test_an_adaptive_group_that_begins_with_one_token_has_pads(mode):
    grammar = Grammar.from_regex("[a-h]{12}")
    model = Strict(WIDTH)
    sampler = GroupedSampler(model, LETTERS, 1, mode=mode, adaptive=True)
    [[result]] = sampler.generate([[2]], 20, grammar=grammar)
    assert result.finished
    assert any(PAD in asked for asked in model.asked)
    with pytest.raises(RuntimeError, match="padding_id"):
        GroupedSampler(model, Vocabulary.bytes(), 1, adaptive=True)
    assert GroupedSampler(model, Vocabulary.bytes(), 1, adaptive=True, max_group_size=1).padding_tokens == []


def test_a_pad_of_the_tokenizer_that_the_model_does_not_know_is_refused():
    tokens = Vocabulary([b"", *(bytes([byte]) for byte in b"abcdefgh"), b""], eos=[0], special={0: "</s>", 9: "<pad>"})
    with pytest.raises(ValueError, match="in the tokenizer is 9, and the model knows 9 tokens"):
        GroupedSampler(NoiseModel(9), tokens, 3)


@pytest.mark.parametrize("kind", [GroupedSampler, GroupedTreeSearch])
def test_a_model_that_is_narrower_than_the_vocabulary_is_refused_under_a_grammar(kind):
    def narrow(ids):
        return np.zeros((len(ids), WIDTH - 2), dtype=np.float32)

    with pytest.raises(ValueError, match=f"the model scores {WIDTH - 2} tokens, and the vocabulary has {WIDTH}"):
        kind(narrow, LETTERS, 3).generate([[2]], 10, grammar=Grammar.from_regex("[gh]{3}a"))
    late = Vocabulary([b"", *(bytes([byte]) for byte in b"abcdefgh"), b""], eos=[9], special={0: "<pad>", 9: "</s>"})
    [[result]] = kind(lambda ids: np.zeros((len(ids), 9), dtype=np.float32), late, 3, end_of_sentence_stop=False).generate([[2]], 5)
    assert len(result.ids) == 5


@pytest.mark.parametrize("trust", [{"min_allowed_mass": 0.99}, {"min_top_prob": 0.99}])
def test_tree_search_asks_again_where_a_guess_is_not_trusted(trust):
    grammar = Grammar.from_regex("[ab]{6}")
    calls = [
        GroupedTreeSearch(Equal(), LETTERS, 3, beam=2, **options).generate([[2]], 7, grammar=grammar)[0][0].calls for options in ({}, trust)
    ]
    assert calls == [2, 6]


def test_chances_that_are_none_are_refused():
    sampler = GroupedSampler(Equal(), LETTERS, 2)
    for wrong in (
        np.zeros((2, WIDTH)),
        np.full((2, WIDTH), np.nan),
        np.full((2, WIDTH), -1.0),
        np.ones(WIDTH),
        np.full((1, WIDTH), np.inf),
    ):
        with pytest.raises(ValueError, match="chances are rows"):
            sampler.generate_group(wrong)
    assert sampler.generate_group(np.eye(WIDTH)[[2]].tolist()) == [2]
    assert sampler.generate_group(np.array([np.eye(WIDTH)[3], np.zeros(WIDTH)])) == [3]
    for wrong in (-1, 2):
        with pytest.raises(ValueError, match="generation_start"):
            sampler.get_prob_mat([2], wrong)


def test_a_guess_that_gives_nothing_a_chance_ends_a_group_by_hand_too():
    def model(ids):
        return np.where(np.asarray(ids)[:, None] == PAD, -np.inf, np.zeros(WIDTH)).astype(np.float32)

    sampler = GroupedSampler(model, LETTERS, 3)
    chances = sampler.get_prob_mat([2], 1)
    assert chances[0].any() and not chances[1:].any()
    assert len(sampler.generate_group(chances)) == 1
    assert len(sampler.generate([[2]], 3, seed=1)[0][0].ids) <= 3


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"close_in_time": "no"}, TypeError),
        ({"forced": "no"}, TypeError),
        ({"penalize_in_group": 1}, TypeError),
        ({"adaptive": "yes"}, TypeError),
        ({"redraft": 0}, TypeError),
        ({"mode": None}, TypeError),
        ({"mode": "both"}, ValueError),
        ({"vocabulary": "x"}, TypeError),
        ({"batch": 3}, TypeError),
        ({"end_of_sentence_stop": 0}, TypeError),
        ({"end_of_sentence_stop": "no"}, TypeError),
        ({"max_group_size": -5}, ValueError),
        ({"default_seed": -3}, ValueError),
    ],
)
def test_options_are_checked_when_they_are_given(options, error):
    with pytest.raises(error, match=next(iter(options))):
        GroupedSampler(Equal(), LETTERS, 2, **options)


@pytest.mark.parametrize("kind", [GroupedSampler, GroupedTreeSearch])
def test_options_that_there_are_not(kind):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) got .* 'temperature': temp is the temperature$"):
        kind(Equal(), LETTERS, 2, temperature=0.5)
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) got an unexpected keyword argument 'seed'$"):
        kind(Equal(), LETTERS, 2, seed=1)


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), (None, TypeError)])
def test_a_seed_that_is_assigned_is_checked_at_once(seed, error):
    sampler = GroupedSampler(Equal(), LETTERS, 2)
    with pytest.raises(error, match="default_seed"):
        sampler.default_seed = seed
    assert sampler.default_seed == GroupedSampler.default_seed == 0
    sampler.default_seed = np.int64(4)
    assert type(sampler.default_seed) is int


def test_options_may_be_changed_when_a_sampler_is_made_again():
    """What follows from others is no option of its own: the largest group is that of the new size."""
    model = TableModel(WIDTH)
    values = json.loads(json.dumps(GroupedSampler(model, LETTERS, 2).as_dict()))
    assert values["max_group_size"] is None
    for others, largest in (({"group_size": 8}, 8), ({"adaptive": True}, 8), ({"adaptive": True, "group_size": 3}, 12), ({}, 2)):
        twin = GroupedSampler.from_dict(values, model, LETTERS, **others)
        assert twin.max_group_size == largest
        assert twin.as_dict() == values | others
    given = GroupedSampler(model, LETTERS, 2, max_group_size=np.int64(5))
    assert given.max_group_size == 2 and json.loads(json.dumps(given.as_dict()))["max_group_size"] == 5
    assert GroupedSampler.from_dict(given.as_dict(), model, LETTERS, adaptive=True).max_group_size == 5
    with pytest.raises(ValueError, match="max_group_size is 5, and group_size 8"):
        GroupedSampler.from_dict(given.as_dict(), model, LETTERS, group_size=8)


def test_a_penalty_made_of_numpy_numbers_is_plain_data():
    penalty = LogitScalingRepetitionPenalty(np.float32(1.5), exempt=np.array([1]))
    assert json.loads(json.dumps(penalty.as_dict())) == {"theta": 1.5, "sign_aware": True, "exempt": [1]}


@pytest.mark.parametrize(
    ("prompts", "error", "words"),
    [
        (["ab"], TypeError, "a prompt is the ids of its tokens, not str"),
        ("ab", TypeError, "a prompt is the ids of its tokens, not str"),
        ([1, 2], TypeError, "prompts is a list of prompts"),
        (3, TypeError, "prompts is a list of prompts"),
        ([[1.5]], TypeError, "a token of a prompt is an int, not float"),
        ([[]], ValueError, "a prompt has no tokens"),
        (np.zeros((1, 1, 2), dtype=int), ValueError, r"shape \(length,\), not \(1, 2\)"),
    ],
)
def test_prompts_are_checked(prompts, error, words):
    with pytest.raises(error, match=words):
        GroupedSampler(Equal(), LETTERS, 2).generate(prompts, 3)


def test_prompts_may_come_one_by_one():
    sampler = GroupedSampler(Equal(), LETTERS, 2)
    given = [[0, 1], [1]]
    found = sampler.generate((iter(prompt) for prompt in given), 3)
    assert [[each.ids for each in results] for results in found] == [
        [each.ids for each in results] for results in sampler.generate(given, 3)
    ]


def test_a_penalty_that_is_none():
    values = GroupedSampler(Equal(), LETTERS, 2).as_dict()
    with pytest.raises(ValueError, match="describes no repetition penalty: there is no theta"):
        GroupedSampler.from_dict({**values, "repetition_penalty_strategy": {}}, Equal(), LETTERS)


def test_the_model_sees_ints_whatever_the_prompts_are():
    seen = []

    def model(ids):
        seen.extend(ids)
        return np.zeros((len(ids), WIDTH), dtype=np.float32)

    GroupedSampler(model, LETTERS, 2).generate(np.array([[0, 1], [1, 0]]), 3)
    assert {type(token) for token in seen} == {int}


def test_a_guess_that_gives_nothing_a_chance_has_no_mass():
    silent = np.full(WIDTH, -np.inf, dtype=np.float32)
    sampler = GroupedSampler(lambda ids: np.tile(silent, (len(ids), 1)), LETTERS, 2, min_allowed_mass=0.5)
    [[result]] = sampler.generate([[0]], 6, grammar=Grammar.from_regex("[ab]{4}"))
    assert result.finished
    assert set(result.mass) == {0.0}
