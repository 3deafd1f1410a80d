"""One forward pass for all texts of a list: a batch of a torch module answers as each text alone."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from decoding.batch_models import LENGTH, MAKERS, Counted, try_places
from decoding.grouped_models import LETTERS, TableModel
from grammar_engine import Grammar, Vocabulary
from grammar_engine.decoding import as_model
from grammar_engine.decoding.grouped import GroupedSampler
from grammar_engine.decoding.grouped.answers import passes_of
from grammar_engine.decoding.grouped.passes import Request
from grammar_engine.decoding.grouped.pretrained import load_pretrained

torch = pytest.importorskip("torch")

from grammar_engine.decoding.tiny.model import TinyDecoder  # noqa: E402

MODELS = ["tiny", "llama"]
TEXTS = [[2, 3], [4, 5, 6, 7, 8, 9, 2, 3, 4], [5], [6, 6, 6]]


@pytest.fixture(scope="module")
def modules():
    return {}


@pytest.fixture
def module(request, modules):
    if request.param not in modules:
        modules[request.param] = MAKERS[request.param]()
    return modules[request.param]


@pytest.fixture
def llama(modules):
    return modules.setdefault("llama", MAKERS["llama"]())


def alone(module, ids, rows):
    given = {} if isinstance(module, TinyDecoder) else {"attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    with torch.inference_mode():
        return module(input_ids=torch.tensor([ids]), **given, use_cache=False).logits[0, -rows:].float().numpy()


@pytest.mark.parametrize("module", MAKERS, indirect=True)
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_a_batch_are_those_of_each_text_with_a_mask_of_ones(module, seed):
    """Rounds in which texts grow, are cut, branch and end; with the keys and values of the rounds before."""
    model = as_model(module)
    passes = passes_of(model, None, 4)
    rng = np.random.default_rng(seed)
    texts = [(number, list(text)) for number, text in enumerate(TEXTS)]
    for turn in range(14):
        requests = [
            Request([*ids, *[0] * (n := int(rng.integers(0, 3)))], min(1 + n + int(rng.integers(0, 2)), len(ids) + n)) for _, ids in texts
        ]
        before = model.passes
        answers = passes.answer(requests, [number for number, _ in texts])
        assert model.passes == before + 1
        for (ids, rows), answer in zip(requests, answers, strict=True):
            np.testing.assert_allclose(answer, alone(module, ids, rows), atol=1e-3)
        for _, ids in texts:
            if rng.random() < 0.2:
                del ids[max(1, len(ids) - 2) :]
            ids += rng.integers(2, 10, size=rng.integers(1, 4)).tolist()
        if turn in (4, 6):  # a branch, before a text and behind the last
            at = int(rng.integers(len(texts)))
            texts.insert(at + 1, (texts[at][0], [*texts[at][1][:-1], 7]))
        if turn in (8, 11):
            gone = texts[int(rng.integers(len(texts)))][0]
            texts = [(number, ids) for number, ids in texts if number != gone] or texts
    passes.close()


@pytest.mark.parametrize("module", ["tiny", "llama", "gemma3"], indirect=True)
def test_of_each_text_only_what_is_new_is_passed(module):
    """However long the others are; and when one ends, or goes on in two ways."""
    try_places(module)
    passes = passes_of(as_model(module), None, 3)
    texts = [[2, 3], list(range(2, 10)) * 4, [5, 6, 7]]
    with Counted(module) as counted:

        def passed(numbers):
            counted.positions = 0
            passes.answer([Request([*ids, 0, 0], 3) for ids in texts], numbers)
            return counted.positions

        assert passed([0, 1, 2]) == 3 * 34
        for grown in ([1, 1, 1], [1, 3, 2], [2, 1, 1]):
            for ids, n in zip(texts, grown, strict=True):
                ids += [8] * n
            assert passed([0, 1, 2]) == 3 * (max(grown) + 2), "what comes, and the pads"
        del texts[0]
        for ids in texts:
            ids.append(9)
        assert passed([1, 2]) == 2 * 3
        texts.insert(1, [*texts[0], 3])
        assert passed([1, 1, 2]) == 3 * 3
        texts[0].append(4)
        assert passed([1, 1, 2]) == 3 * 3


@pytest.mark.parametrize("module", MAKERS, indirect=True)
def test_which_modules_can_be_told_places(module):
    """Not those that count positions from another number, though they take the names."""
    others = ("RobertaForCausalLM", "BloomForCausalLM", "MambaForCausalLM")
    assert try_places(module) == (module.__class__.__name__ not in others)


@pytest.mark.parametrize("module", ["tiny", "llama", "gpt2", "gpt-neo"], indirect=True)
def test_texts_beside_each_other_near_what_the_model_sees(module):
    """No more columns than that: one text is cut at its beginning, and another is not."""
    prompts = [[2 + i % 8 for i in range(LENGTH - 6)], [3 + i % 5 for i in range(LENGTH - 24)], [4]]
    sampler = GroupedSampler(module, LETTERS, 3, padding_id=LETTERS.size, end_of_sentence_stop=False, max_input_len=LENGTH)
    together = sampler.generate(prompts, 20)
    assert [result.ids for [result] in together] == [sampler.generate([prompt], 20)[0][0].ids for prompt in prompts]


@pytest.mark.parametrize("module", ["tiny", "llama"], indirect=True)
def test_sequences_of_one_prompt_pass_it_once(module):
    sampler = GroupedSampler(module, LETTERS, 3, mode="verify", padding_id=LETTERS.size, end_of_sentence_stop=False)
    with Counted(module) as counted:
        sampler.generate([TEXTS[1], TEXTS[0]], 1, num_return_sequences=4)
    assert (counted.rows, counted.positions) == (2, 2 * len(TEXTS[1]))
    alone = [[sampler.generate([text], 9, seed=seed)[0][0].ids for seed in range(1, 5)] for text in (TEXTS[1], TEXTS[0])]
    together = sampler.generate([TEXTS[1], TEXTS[0]], 9, num_return_sequences=4)
    assert [[result.ids for result in of_prompt] for of_prompt in together] == alone


@pytest.mark.parametrize("module", MODELS, indirect=True)
@pytest.mark.parametrize("mode", ["commit", "verify"])
@pytest.mark.parametrize("grammar", [None, Grammar.from_regex("[a-f]{4,12}(gh)*")])
def test_a_list_of_prompts(module, mode, grammar):
    """Commit: the rows are the same up to rounding, so the draws are the same. Verify too, as long as no draw falls on a rounding."""
    sampler = GroupedSampler(module, LETTERS, 3, mode=mode, padding_id=LETTERS.size)
    options = {"grammar": grammar, "num_return_sequences": 2}
    before = sampler.model.passes
    together = sampler.generate(TEXTS, 14, **options)
    assert sampler.model.passes - before == max(result.calls for of_prompt in together for result in of_prompt)
    assert [[result.ids for result in of_prompt] for of_prompt in together] == [
        [result.ids for result in sampler.generate([text], 14, **options)[0]] for text in TEXTS
    ]


def test_without_a_batch_function_a_callable_is_asked_for_each():
    model = TableModel(LETTERS.size)
    sampler = GroupedSampler(model, LETTERS, 2)
    together = sampler.generate(TEXTS, 8)
    assert len(model.asked) == sum(result.calls for [result] in together)


def test_a_batch_function_that_answers_otherwise_is_refused():
    for wrong in (lambda texts: [], lambda texts: [np.zeros((1, 10))] * len(texts)):
        with pytest.raises(ValueError, match=r"answers 0|shape"):
            GroupedSampler(TableModel(LETTERS.size), LETTERS, 2, batch=wrong).generate(TEXTS, 8)
    for wrong in (lambda texts: None, lambda texts: iter(texts), lambda texts: [[[0.0] * 10]] * len(texts)):
        with pytest.raises(TypeError, match="the batch function returns scores"):
            GroupedSampler(TableModel(LETTERS.size), LETTERS, 2, batch=wrong).generate(TEXTS, 8)


def test_from_pretrained(llama, tmp_path):
    """A folder with a model and a tokenizer, as `transformers` saves them; and back from `as_dict` alone."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    names = {"<pad>": 0, "</s>": 1, **{chr(ord("a") + i): 2 + i for i in range(8)}}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(names, [], byte_fallback=False))
    backend.decoder = tokenizers.decoders.Fuse()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", pad_token="<pad>", model_max_length=40)
    fast.save_pretrained(tmp_path)
    llama.save_pretrained(tmp_path)
    sampler = GroupedSampler.from_pretrained(str(tmp_path), 4, top_k=3)
    assert (sampler.max_input_len, sampler.padding_id, sampler.codec.ends, sampler.codec.size) == (40, 0, (1,), 10)
    answer = sampler("abc", 12, prefix="h", return_tensors=True)
    assert answer["generated_text"].startswith("abc") and answer["generated_token_ids"][:3].tolist() == [2, 3, 4]
    assert GroupedSampler.from_dict(json.loads(json.dumps(sampler.as_dict())))("abc", 12)["generated_text"] == answer["generated_text"]
    vocabulary = Vocabulary(LETTERS.tokens, eos=[1], special={0: "<pad>"}, width=llama.config.vocab_size)
    by_hand = GroupedSampler(llama, LETTERS, 4, top_k=3, max_input_len=40)
    assert by_hand("abc", 12)["generated_text"] == answer["generated_text"]
    grammar = Grammar.from_regex("[a-f]{4,12}(gh)*")
    mixed = GroupedSampler(llama, fast, 4, vocabulary=vocabulary)
    assert mixed("abc", 30, grammar=grammar)["generated_text"][3:7].strip("abcdef") == ""
    assert len(sampler(["ab", "c"], 5, truncation=True)) == 2


def test_from_pretrained_with_a_length_of_ones_own(llama, tmp_path):
    """A model that says that it can see more than is taken for said is loaded where the caller says how much."""
    llama.config.max_position_embeddings, before = 131_072, llama.config.max_position_embeddings
    try:
        llama.save_pretrained(tmp_path)
    finally:
        llama.config.max_position_embeddings = before
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    backend = tokenizers.Tokenizer(tokenizers.models.BPE({"<pad>": 0, "</s>": 1, "a": 2}, []))
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", pad_token="<pad>").save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"too big: .* and 131,072 tokens are said, and 32,768 is the most. Say max_input_len=") as refused:
        GroupedSampler.from_pretrained(str(tmp_path), 3)
    assert repr(str(tmp_path)) in str(refused.value)
    sampler = GroupedSampler.from_pretrained(str(tmp_path), 3, max_input_len=512)
    assert sampler.max_input_len == 512
    assert GroupedSampler.from_dict(sampler.as_dict()).max_input_len == 512


@pytest.mark.parametrize(
    ("of_tokenizer", "of_model", "found"),
    [
        (40, None, 40),
        (40, 50, 40),
        (None, 50, 50),
        (10**30, 50, 50),
        (None, 10**30, "too big: .* are said"),
        (10**30, None, "too big: .* are said"),
        (None, None, "not known: nothing says it"),
    ],
)
def test_lengths_that_tokenizer_and_model_say(of_tokenizer, of_model, found, monkeypatch):
    transformers = pytest.importorskip("transformers")
    module, tokenizer = torch.nn.Linear(1, 1), SimpleNamespace(model_max_length=of_tokenizer)
    module.config = SimpleNamespace(max_position_embeddings=of_model)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda name: tokenizer)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", lambda name: module)
    if isinstance(found, int):
        assert load_pretrained("a model", 32_768, None, {})[2] == found
        return
    with pytest.raises(ValueError, match=f"The maximum length of the model 'a model' is {found}"):
        load_pretrained("a model", 32_768, None, {})
