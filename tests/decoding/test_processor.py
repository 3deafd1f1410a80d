"""The logits processor in `generate()` of transformers, against what brute force allows.

The reference is a set: all spellings of all sentences of a small grammar, from which the next tokens of any prefix are read off. It is
given to `generate()` as `prefix_allowed_tokens_fn`, so both ways run the same model and search.
"""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from grammar_engine import Grammar, Matcher, Vocabulary, VocabularyError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
torch.set_num_threads(1)  # for models as small as these, more only wait for each other

from grammar_engine.decoding import processor as module  # noqa: E402
from grammar_engine.decoding.processor import LogitsProcessor  # noqa: E402

TOKENS = [b"a", b"b", b"c", b"ab", b"bc", b"ca", b"abc", b"bb", b""]
EOS = len(TOKENS) - 1
PAD = EOS + 1  # beyond the vocabulary, as all ids up to WIDTH
WIDTH = 40
VOCABULARY = Vocabulary(TOKENS, eos=[EOS])
SENTENCES = ["abc", "abcabc", "abab", "bcbc", "cab", "caca", "b", "bbbbb", "cabb", "a"]
OTHERS = ["cc", "ccab", "bca", "aaa"]


def make_model(width: int, eos: int, seed: int = 0, **options: int) -> object:
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        **{"vocab_size": width, "n_positions": 256, "n_embd": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.3, **options},
        bos_token_id=None,
        eos_token_id=eos,
        pad_token_id=PAD if width == WIDTH else eos,
    )
    return transformers.GPT2LMHeadModel(config).eval()


@pytest.fixture(scope="module")
def model() -> object:
    return make_model(WIDTH, EOS)


@pytest.fixture
def processor() -> LogitsProcessor:
    return LogitsProcessor(Grammar.from_choices(SENTENCES), VOCABULARY)


def spellings(sentences: list[str]) -> set[tuple[int, ...]]:
    def spell(rest: bytes) -> list[tuple[int, ...]]:
        if not rest:
            return [(EOS,)]
        return [(i, *more) for i, token in enumerate(TOKENS) if token and rest.startswith(token) for more in spell(rest[len(token) :])]

    return {ids for sentence in sentences for ids in spell(sentence.encode())}


def allowed_by(texts: set[tuple[int, ...]], generated: list[int]) -> list[int]:
    """What may follow; after the end, and after what is no beginning of a text, the end alone."""
    n = len(generated)
    return sorted({text[n] for text in texts if len(text) > n and text[:n] == tuple(generated)}) or [EOS]


def reference(sentences: list[str], prompt_length: int) -> Callable[[int, object], list[int]]:
    texts = spellings(sentences)
    return lambda _, ids: allowed_by(texts, ids[prompt_length:].tolist())


def text_of(ids: list[int], vocabulary: Vocabulary = VOCABULARY) -> str:
    """Of a row that ends with an end token and pads."""
    at = next(i for i, token in enumerate(ids) if token in vocabulary.eos)
    assert set(ids[at + 1 :]) <= {PAD, *vocabulary.eos}
    return b"".join(vocabulary.tokens[token] for token in ids[:at]).decode()


def run(model: object, prompts: list[list[int]], seed: int = 0, pads: int = 0, **options: object) -> object:
    """Generate after prompts that are padded on the left to the longest, and `pads` more."""
    longest = max(map(len, prompts)) + pads
    ids = torch.tensor([[PAD] * (longest - len(prompt)) + prompt for prompt in prompts])
    torch.manual_seed(seed)
    return model.generate(ids, attention_mask=(ids != PAD).long(), **{"max_new_tokens": 12, **options})


WAYS = {
    "greedy": {},
    "sampling": {"do_sample": True, "temperature": 1.5, "top_k": 0},
    "filters": {"do_sample": True, "top_k": 3, "top_p": 0.9, "repetition_penalty": 1.3},
    "several": {"do_sample": True, "num_return_sequences": 3},
    "beams": {"num_beams": 3},
    "many beams": {"num_beams": 16, "num_return_sequences": 5, "early_stopping": True},
    "long beams": {"num_beams": 4, "length_penalty": 3.0, "num_return_sequences": 4},
    "beams that sample": {"num_beams": 3, "do_sample": True, "top_k": 0},
    "normalised": {"num_beams": 6, "renormalize_logits": True},
}
PROMPTS = [[0, 1, 2], [3], [4, 30, 2, 5, 6], [31, 31]]  # some of which look like text of the grammar


@pytest.mark.parametrize("way", ["filters", "beams", "several"])
@pytest.mark.parametrize("eos", [[], [PAD]])
def test_ends_that_are_not_those_of_the_vocabulary(model: object, processor: LogitsProcessor, way: str, eos: list[int]) -> None:
    others = Vocabulary([*TOKENS, b""], eos=eos)
    for seed in range(3):
        options = WAYS[way] | {"seed": seed}
        expected = run(model, PROMPTS, logits_processor=[processor], **options)
        given = LogitsProcessor(Grammar.from_choices(SENTENCES), others, eos=[EOS])
        assert torch.equal(run(model, PROMPTS, logits_processor=[given], **options), expected)


def test_ends_that_cannot_be() -> None:
    grammar = Grammar.from_choices(SENTENCES)
    with pytest.raises(VocabularyError, match="eos id 9"):
        LogitsProcessor(grammar, VOCABULARY, eos=[9])
    with pytest.raises(ValueError, match="no token ends a text"):
        LogitsProcessor(grammar, VOCABULARY, eos=[])


@pytest.mark.parametrize("way", WAYS)
def test_like_brute_force(model: object, processor: LogitsProcessor, way: str) -> None:
    for seed in range(2):
        expected = run(model, PROMPTS, seed, prefix_allowed_tokens_fn=reference(SENTENCES, 5), **WAYS[way])
        got = run(model, PROMPTS, seed, logits_processor=[processor], **WAYS[way])
        assert got.tolist() == expected.tolist()
        assert all(text_of(row) in SENTENCES for row in got[:, 5:].tolist())


def test_rows_end_at_different_steps(model: object, processor: LogitsProcessor) -> None:
    rows = run(model, [[0]], do_sample=True, temperature=3.0, top_k=0, num_return_sequences=40, logits_processor=[processor])[
        :, 1:
    ].tolist()
    assert len({row.index(EOS) for row in rows}) > 3
    assert {text_of(row) for row in rows} <= set(SENTENCES)


def test_beams_find_the_best_sentence(model: object, processor: LogitsProcessor) -> None:
    """With as many beams as there are beginnings nothing is cut off: the result is the best of all spellings, by their scores in full."""
    prompt = [3, 1]
    texts = spellings(SENTENCES)
    scores = {}
    for text in texts:
        with torch.inference_mode():
            steps = model(torch.tensor([[*prompt, *text]])).logits[0].log_softmax(-1)
        scores[text] = sum(steps[len(prompt) + i - 1, token].item() for i, token in enumerate(text)) / len(text)
    best = sorted(texts, key=scores.get, reverse=True)[:6]
    out = run(
        model, [prompt], logits_processor=[processor], num_beams=len(texts), num_return_sequences=6, early_stopping="never",
        return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    assert [tuple(row[: row.index(EOS) + 1]) for row in out.sequences[:, 2:].tolist()] == best
    assert out.sequences_scores.tolist() == pytest.approx([scores[text] for text in best], abs=1e-4)


def test_a_grammar_for_each_prompt(model: object) -> None:
    processor = LogitsProcessor([Grammar.from_choices(SENTENCES), Grammar.from_choices(OTHERS)], VOCABULARY)
    for options in ({}, {"num_beams": 4, "num_return_sequences": 2}, {"do_sample": True, "num_return_sequences": 3}):
        rows = [text_of(row) for row in run(model, [[0, 1], [5]], logits_processor=[processor], **options)[:, 2:].tolist()]
        half = len(rows) // 2
        assert set(rows[:half]) <= set(SENTENCES) and set(rows[half:]) <= set(OTHERS)
    with pytest.raises(ValueError, match="3 rows for 2 grammars"):
        run(model, [[0], [1], [2]], logits_processor=[processor])


def test_reuse(model: object, processor: LogitsProcessor) -> None:
    """One processor for prompts that are shorter, longer, equal, beginnings of each other, in other numbers; and for a dialogue."""
    batches = [[[30, 0, 1]], [[30, 0, 1]], [[30]], [[30, 2, 3, 1]], [[1], [2]], [[0, 0]], [[0, 0, 31, 0]], [[3], [4], [5]]]
    for seed, prompts in enumerate([*batches, *reversed(batches)]):
        rows = run(model, prompts, seed, do_sample=True, logits_processor=[processor])[:, len(prompts[0]) :].tolist()
        assert {text_of(row) for row in rows} <= set(SENTENCES)
    dialogue = [30]
    for seed in range(4):
        answer = run(model, [dialogue], seed, do_sample=True, logits_processor=[processor])[0].tolist()
        assert text_of(answer[len(dialogue) :]) in SENTENCES
        dialogue = [*answer, 32]
    for seed in range(4):  # what only `reset` can tell: the prompt is the whole of the last text
        processor.reset()
        answer = run(model, [dialogue], seed, do_sample=True, logits_processor=[processor])[0].tolist()
        assert text_of(answer[len(dialogue) :]) in SENTENCES
        dialogue = answer


def test_an_unfinished_text_is_gone_on_with(model: object, processor: LogitsProcessor) -> None:
    whole = run(model, [[2, 30]], logits_processor=[processor])[0].tolist()
    assert len(whole) > 4
    cut = run(model, [[2, 30]], logits_processor=[processor], max_new_tokens=1)[0].tolist()
    assert run(model, [cut], logits_processor=[processor])[0].tolist() == whole
    processor.reset()
    anew = run(model, [cut], logits_processor=[processor])[0].tolist()
    assert text_of(anew[3:]) in SENTENCES


def counting_passes(model: object) -> list[int]:
    lengths: list[int] = []
    model.register_forward_pre_hook(lambda _, args, options: lengths.append(options["input_ids"].shape[1]), with_kwargs=True)
    return lengths


REPEATS = "(abc){8,12}c"


def test_prompt_lookup_and_assistants() -> None:
    """Drafts of several tokens, which are taken back in part, change nothing but the number of passes."""
    main, assistant = make_model(WIDTH, EOS, seed=1), make_model(WIDTH, EOS, seed=2)
    processor = LogitsProcessor(Grammar.from_regex(REPEATS), VOCABULARY)
    lengths = counting_passes(main)
    prompt, options = [0, 1, 2, 0, 1, 2, 0, 4], {"logits_processor": [processor], "max_new_tokens": 60}
    expected = run(main, [prompt], **options).tolist()
    assert re.fullmatch(REPEATS, text_of(expected[0][len(prompt) :]))
    n_passes = len(lengths)
    for drafts in ({"prompt_lookup_num_tokens": 5}, {"assistant_model": assistant}):
        lengths.clear()
        assert run(main, [prompt], **options, **drafts).tolist() == expected
        assert len(lengths) < n_passes
        assert max(lengths[1:]) > 1
        sampled = run(main, [prompt], do_sample=True, **options, **drafts)[0, len(prompt) :].tolist()
        assert re.fullmatch(REPEATS, text_of(sampled))


def test_scores_are_not_changed(model: object, processor: LogitsProcessor) -> None:
    """`generate()` keeps the logits, and prompt lookup asks about several drafts with the same scores."""
    out = run(model, [[0]], logits_processor=[processor], return_dict_in_generate=True, output_logits=True, output_scores=True)
    assert all(logits.isfinite().all() for logits in out.logits)
    assert all(scores.isneginf().any() for scores in out.scores)


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"enum": ["Ada", "Grace", 'a "b"']},
        "tags": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9, "enum": [*range(10)]}, "maxItems": 3},
        "ok": {"type": ["boolean", "null"]},
    },
    "required": ["name", "ok"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("way", ["greedy", "several", "beams", "beams that sample"])
def test_json(way: str) -> None:
    vocabulary = Vocabulary.builtin()
    model = make_model(vocabulary.width + 30, vocabulary.eos[0])
    processor = LogitsProcessor(Grammar.from_json_schema(SCHEMA, whitespace="compact"), vocabulary)
    ids = torch.tensor([[1, 2, 3], [4, 5, 6]])
    torch.manual_seed(0)
    out = model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=[processor], max_new_tokens=120, **WAYS[way])
    for row in out[:, 3:].tolist():
        jsonschema.validate(json.loads(text_of(row, vocabulary)), SCHEMA)


# --- without a model: any order of rows -------------------------------------------------------------------------------


def allowed(scores: object) -> list[list[int]]:
    return [torch.nonzero(~row.isneginf())[:, 0].tolist() for row in scores]


def step(processor: LogitsProcessor, rows: list[list[int]]) -> list[list[int]]:
    """What the processor allows after rows behind the same prompt."""
    scores = torch.randn(len(rows), WIDTH)
    got = processor(torch.tensor([[7, 30, *row] for row in rows]), scores)
    assert all(got[i, tokens].equal(scores[i, tokens]) for i, tokens in enumerate(allowed(got)))
    return allowed(got)


def test_any_rows_in_any_order(processor: LogitsProcessor) -> None:
    """Rows are shuffled, doubled, cut and replaced, and tokens are refused:
    beams, and trees of drafts. Only row 0 goes on from one before."""
    rng = random.Random(0)
    texts = spellings(SENTENCES)
    rows: list[list[int]] = [[]] * 5
    n_cut = n_refused = 0
    for _ in range(400):
        assert step(processor, rows) == [allowed_by(texts, row) for row in rows]
        n = len(rows[0])
        if n == 6:
            rows = [[]] * 5
            continue
        length = rng.randint(max(1, n - 2), n + 1)
        n_cut += length <= n
        bases = [rng.choice(rows), *(rng.choice([*rows, *sorted(texts)]) for _ in rows[1:])]
        rows = [list(base[:length]) for base in bases]
        for row in rows:
            while len(row) < length:
                row.append(rng.choice(allowed_by(texts, row)) if rng.random() < 0.9 else rng.randrange(WIDTH))
            n_refused += EOS not in row and not any(text[:length] == tuple(row) for text in texts)
    assert n_cut > 200 and n_refused > 20


def test_steps_of_several_tokens() -> None:
    rng = random.Random(0)
    texts = sorted(spellings(["abcabc", "cabb", "bbbbb"]))
    processor = LogitsProcessor(Grammar.from_choices(["abcabc", "cabb", "bbbbb"]), VOCABULARY)
    for _ in range(60):
        whole = [rng.choice(texts) for _ in range(3)]
        n = 0
        while n < max(map(len, whole)):
            rows = [[*text[:n], *[PAD] * (n - len(text))] for text in whole]
            assert step(processor, rows) == [allowed_by(set(texts), list(text[:n])) for text in whole]
            n += rng.randint(1, 4)


def test_rows_of_grammars_that_begin_alike() -> None:
    """Each row keeps to its own grammar, also where one of another has read the same: in steps of several tokens."""
    rng = random.Random(1)
    both = [["abcabc", "cabb", "bbbbb"], ["abcabb", "cabcc", "bbbb"]]
    processor, texts = LogitsProcessor([Grammar.from_choices(each) for each in both], VOCABULARY), [spellings(each) for each in both]
    for _ in range(60):
        whole = [rng.choice(sorted(texts[place])) for place in (0, 0, 1, 1)]
        n = 0
        while n < max(map(len, whole)):
            rows = [[*text[:n], *[PAD] * (n - len(text))] for text in whole]
            assert step(processor, rows) == [allowed_by(texts[row // 2], list(text[:n])) for row, text in enumerate(whole)]
            n += rng.randint(1, 3)


def test_group_beams(processor: LogitsProcessor) -> None:
    """Groups take turns at the same processor, each with its own rows."""
    texts = spellings(SENTENCES)
    groups: list[list[list[int]]] = [[[], []]] * 3
    for length in range(4):
        for rows in groups:
            assert step(processor, rows) == [allowed_by(texts, row) for row in rows]
        choices = [[0, 2], [1, 6], [3, 7]] if not length else [[-1, -1], [0, -1], [-1, 0]]
        groups = [
            [[*row, at if not length else allowed_by(texts, row)[at]] for row, at in zip(reversed(rows), ats)]
            for rows, ats in zip(groups, choices)
        ]


def test_what_follows_the_end_is_not_looked_at(processor: LogitsProcessor) -> None:
    for generated in ([1, EOS, PAD], [1, EOS, 0], [1, EOS, EOS], [1, EOS, 0, 0, 35]):
        processor.reset()
        for n in range(len(generated) + 1):
            ids = torch.tensor([[9, *generated[:n]], [9, *([1] * n)]])
            got = allowed(processor(ids, torch.zeros(2, WIDTH)))
        assert got[0] == [EOS]


def test_a_lost_row_may_only_end(processor: LogitsProcessor) -> None:
    """Its scores are those of the model there, so that no search meets a row without any."""
    processor(torch.tensor([[30], [30]]), torch.zeros(2, WIDTH))
    scores = torch.randn(2, WIDTH)
    got = processor(torch.tensor([[30, 30], [30, 1]]), scores)
    assert allowed(got) == [[EOS], allowed_by(spellings(SENTENCES), [1])]
    assert got[0, EOS] == scores[0, EOS]
    assert allowed(processor(torch.tensor([[30, 30, 0], [30, 1, EOS]]), scores)) == [[EOS], [EOS]]


def test_a_prompt_is_no_text(processor: LogitsProcessor) -> None:
    """It may look like anything, and its tokens are not accepted."""
    first = allowed_by(spellings(SENTENCES), [])
    for prompt in ([0], [0, 1], [EOS], [EOS, EOS, EOS], [35, 35], [2, 0, 1, 0]):
        processor.reset()
        assert allowed(processor(torch.tensor([prompt]), torch.zeros(1, WIDTH))) == [first]


def test_what_begins_a_text(processor: LogitsProcessor) -> None:
    """After rows [], [0], [0, 1] behind the prompt [7, 30]: other prompts,
    other numbers of rows, rows that could not have come of these."""
    first = allowed_by(spellings(SENTENCES), [])
    for prompt in ([8, 30, 0, 1, 2], [7, 31, 0], [7, 30], [7], [7, 30, 2, 0, 1], [7, 30, 33, 34], [7, 30, 0, 1, EOS, 33]):
        processor.reset()
        for row in ([], [0], [0, 1]):
            step(processor, [row])
        assert allowed(processor(torch.tensor([prompt]), torch.zeros(1, WIDTH))) == [first]
        assert allowed(processor(torch.tensor([[*prompt, 6]]), torch.zeros(1, WIDTH))) == [allowed_by(spellings(SENTENCES), [6])]
    for row in ([], [0], [0, 1]):
        step(processor, [row])
    assert step(processor, [[0, 1], [0, 1]]) == [first, first]
    for row in ([], [0], [0, 1], [], [2]):  # the same prompt again: what was shown before is forgotten
        step(processor, [row])
    assert step(processor, [[0, 1, 2]]) == [first]


def test_what_is_taken_for_the_text_of_the_last_call(processor: LogitsProcessor) -> None:
    """The last output, whole or cut, with at most one token more, as the grammar allows it: only `reset` tells that it is a prompt."""
    texts = spellings(SENTENCES)
    for row in ([0, 1, 2, EOS], [0, 1], [0], [3], [0, 1, 2, 0]):
        processor.reset()
        for shown in ([], [0], [0, 1], [0, 1, 2]):
            step(processor, [shown])
        assert step(processor, [row]) == [allowed_by(texts, row)]
        processor.reset()
        assert step(processor, [row]) == [allowed_by(texts, [])]


def test_a_prompt_that_is_told_from_the_text_of_the_last_call(processor: LogitsProcessor) -> None:
    """One token more than the last prompt, or than the last text or a
    beginning of it, which the grammar refuses there; or behind an end."""
    texts = spellings(SENTENCES)
    for row in ([33], [EOS], [0, 33], [0, 1, 33], [0, 1, 2, 33], [0, 1, 2, EOS, 33]):
        for last in ([], [0], [0, 1], [0, 1, 2], [0, 1, 2, EOS]):
            processor.reset()
            for n in range(len(last) + 1):
                step(processor, [last[:n]])
            for behind in ([], [6], [6, 6], [6, 6, EOS]):
                assert step(processor, [[*row, *behind]]) == [allowed_by(texts, behind)]


def test_prompts_that_grow_by_a_token_the_grammar_refuses(model: object, processor: LogitsProcessor) -> None:
    """Alone, in batches, and whatever the last call was: one step of it, a whole text, beams."""
    ways = [{}, {"do_sample": True}, {"num_beams": 3}, {"max_new_tokens": 1}, {"prompt_lookup_num_tokens": 4}]
    for n_prompts in (1, 3):
        prompts = [[30]] * n_prompts
        for seed in range(20):
            run(model, prompts, seed, logits_processor=[processor], **ways[seed % (4 if n_prompts > 1 else 5)])
            prompts = [[*prompt, 31 + seed % 3] for prompt in prompts]
            rows = run(model, prompts, seed, do_sample=True, logits_processor=[processor])[:, len(prompts[0]) :].tolist()
            assert {text_of(row) for row in rows} <= set(SENTENCES)


@pytest.mark.filterwarnings("ignore:all rows ended")
def test_drafts_of_any_tokens_are_taken_back(processor: LogitsProcessor) -> None:
    """A draft is shown token by token, whether the grammar refuses them or not,
    and then the text goes on elsewhere, with a token it allows."""
    rng = random.Random(0)
    texts = spellings(SENTENCES)
    n_refused = 0
    for turn in range(150):
        text: list[int] = []
        while EOS not in text:
            draft = [rng.choice(allowed_by(texts, text)) if rng.random() < 0.3 else rng.randrange(WIDTH) for _ in range(rng.randint(0, 9))]
            n_kept = next(n for n in range(len(draft) + 1) if n == len(draft) or draft[n] not in allowed_by(texts, [*text, *draft[:n]]))
            n_refused += n_kept < len(draft)
            for n in range(len(draft) + 1):
                got = processor(torch.tensor([[7, turn, *text, *draft[:n]]]), torch.zeros(1, WIDTH))
                if n <= n_kept:
                    assert allowed(got) == [allowed_by(texts, [*text, *draft[:n]])]
            text += draft[: rng.randint(0, n_kept)]
            if EOS not in text:
                text.append(rng.choice(allowed_by(texts, text)))
    assert n_refused > 300


def test_a_group_of_lost_beams_does_not_disturb_the_others(processor: LogitsProcessor) -> None:
    """Its sentences are finished, and what is left of it has scores of -inf and refused tokens."""
    texts = spellings(SENTENCES)
    for dead, live in (([], []), ([0], [2]), ([0, 33], [2, 3]), ([0, 33, 34], [2, 3, 1]), ([0, 33, 34, 35], [2, 3, 1, EOS])):
        step(processor, [dead])
        assert step(processor, [live]) == [allowed_by(texts, live)]


def test_no_more_matchers_than_rows(processor: LogitsProcessor) -> None:
    rng = random.Random(1)
    for n_rows in (4, 9, 2):
        for length in (0, 1, 2):
            rows = [list(rng.choice(sorted(spellings(["abcabc"]))))[:length] for _ in range(n_rows)]
            processor(torch.tensor([[n_rows, *row] for row in rows]), torch.zeros(n_rows, WIDTH))
            assert len(processor._guesses[0].matchers) == len({id(matcher) for matcher in processor._guesses[0].matchers}) == n_rows


@pytest.mark.filterwarnings("ignore:all rows ended")
@pytest.mark.parametrize("n_grammars", [1, 2])
def test_rows_that_grow_by_a_token_are_found_without_a_search(n_grammars: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are or in another order, those that have ended or are lost too:
    the histories of matchers, which grow with the texts, are not asked for."""
    sentences = [SENTENCES, OTHERS][:n_grammars]
    processor = LogitsProcessor([Grammar.from_choices(each) for each in sentences], VOCABULARY)
    texts = [spellings(each) for each in sentences]
    rng = random.Random(0)
    for turn in range(30):
        processor.reset()
        rows: list[list[int]] = [[] for _ in range(6)]
        with monkeypatch.context() as patch:
            for length in range(9):
                shown = torch.tensor([[PAD, 30 + turn, *row] for row in rows])
                got = allowed(processor(shown, torch.zeros(6, WIDTH)))
                assert got == [allowed_by(texts[i * n_grammars // 6], row) for i, row in enumerate(rows)], (rows, length)
                if not length:
                    patch.setattr(module._Guess, "_choose", None)
                half = 6 // n_grammars
                of_each = [[rng.choice(rows[i : i + half]) for _ in range(half)] for i in range(0, 6, half)]  # beams of a prompt
                rows = [[*row] for rows_of_one in of_each for row in rows_of_one] if rng.random() < 0.5 else rows
                rows = [
                    [*row, rng.choice(allowed_by(texts[i * n_grammars // 6], row)) if rng.random() < 0.9 else rng.randrange(EOS)]
                    for i, row in enumerate(rows)
                ]


def test_a_step_that_fails_halfway_can_be_made_again(processor: LogitsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stops it: no row reads a token twice."""
    texts = spellings(SENTENCES)
    step(processor, [[], []])
    step(processor, [[0], [1]])
    real, calls = Matcher.accept, iter(range(2))
    with monkeypatch.context() as patch:
        patch.setattr(Matcher, "accept", lambda self, token: real(self, token) if next(calls) < 1 else 1 / 0)
        with pytest.raises(ZeroDivisionError):
            step(processor, [[0, 1], [1, 7]])
    assert step(processor, [[0, 1], [1, 7]]) == [allowed_by(texts, row) for row in ([0, 1], [1, 7])]


# --- rows that are free, and beginnings that were read --------------------------------------------------------------


@pytest.mark.parametrize("way", ["greedy", "sampling", "several", "beams"])
def test_rows_without_a_grammar_are_free(model: object, way: str) -> None:
    """Each prompt as alone, calls one after another, some of which end early; a dialogue, too."""
    processor = LogitsProcessor([Grammar.from_choices(SENTENCES), None], VOCABULARY)
    prompts, n = [[30, 1], [31, 2]], WAYS[way].get("num_return_sequences", 1)
    for seed in range(4):
        length = len(prompts[0])
        rows = run(model, prompts, seed, logits_processor=[processor], **WAYS[way]).tolist()
        assert {text_of(row[length:]) for row in rows[:n]} <= set(SENTENCES)
        if way in ("greedy", "beams"):
            free = run(model, prompts[1:], seed, **WAYS[way])[0].tolist()
            assert rows[n][: len(free)] == free
        prompts = [[*rows[0], 33, 34], [*rows[n], 35, 36]]


def test_scores_of_free_rows_are_not_changed() -> None:
    texts, scores = spellings(SENTENCES), torch.randn(3, WIDTH)
    processor = LogitsProcessor([Grammar.from_choices(SENTENCES), None, Grammar.from_choices(SENTENCES)], VOCABULARY)
    for rows in ([[], [], []], [[1], [35], [1]], [[1, EOS], [35, 0], [1, EOS]], [[1, EOS, PAD], [35, 0, EOS], [1, EOS, PAD]]):
        got = processor(torch.tensor([[30, *row] for row in rows]), scores)
        assert got[1].equal(scores[1])
        assert [allowed(got)[i] for i in (0, 2)] == [allowed_by(texts, rows[i]) for i in (0, 2)]
    processor.reset()
    for prompt in ([30], [30, 33]):  # other prompts, of which both grammars refuse the end
        assert allowed(processor(torch.tensor([prompt] * 3), scores))[0] == allowed_by(texts, [])
    only = LogitsProcessor([None], VOCABULARY)
    for n in range(3):
        assert only(torch.tensor([[30] * (n + 1)] * 3), scores).equal(scores)


@pytest.mark.parametrize("way", ["greedy", "several", "beams"])
def test_a_matcher_has_read_the_beginning(model: object, way: str) -> None:
    begun = Matcher(Grammar.from_choices(SENTENCES), VOCABULARY)
    assert begun.accept(2) and begun.accept_bytes(b"a")
    processor = LogitsProcessor([begun, Grammar.from_choices(OTHERS)], VOCABULARY)
    assert begun.accept_bytes(b"b")  # which the processor does not see
    ends = {sentence[2:] for sentence in SENTENCES if sentence.startswith("ca")}
    for seed in range(3):
        rows = [text_of(row) for row in run(model, [[2, 0], [5]], seed, logits_processor=[processor], **WAYS[way])[:, 2:].tolist()]
        half = len(rows) // 2
        assert set(rows[:half]) <= ends and set(rows[half:]) <= set(OTHERS)


def test_matchers_and_rows_in_any_order() -> None:
    """Rows are shuffled and cut behind a beginning that was read."""
    begun = Matcher(Grammar.from_regex(REPEATS), VOCABULARY)
    assert begun.accept_bytes(b"abca")
    processor, rng = LogitsProcessor(begun, VOCABULARY), random.Random(3)
    rows: list[list[int]] = [[]] * 4
    for _ in range(60):
        expected = []
        for row in rows:
            alone = begun.fork()
            assert alone.accept_tokens(row) == len(row)
            expected.append(alone.allowed_tokens())
        assert step(processor, rows) == expected
        length = rng.randint(1, len(rows[0]) + 1)
        bases = [i for i, (row, tokens) in enumerate(zip(rows, expected)) if tokens != [EOS]]
        if not bases:
            break
        rows = [[*rows[i], rng.choice([token for token in expected[i] if token != EOS])][:length] for i in rng.choices(bases, k=4)]


def test_a_draft_behind_a_beginning_that_was_read_is_replaced() -> None:
    """All of the row is taken back, and not what was read before it."""
    begun = Matcher(Grammar.from_regex("ab(ab|ba)c"), VOCABULARY)
    assert begun.accept_bytes(b"ab")
    processor = LogitsProcessor(begun, VOCABULARY)
    for row in ([], [0], [1], [0]):
        alone = begun.fork()
        assert alone.accept_tokens(row) == len(row)
        assert step(processor, [row]) == [alone.allowed_tokens()]


def test_matchers_that_do_not_fit() -> None:
    grammar = Grammar.from_choices(SENTENCES)
    ended = Matcher(grammar, VOCABULARY)
    assert ended.accept_tokens([1, EOS]) == 2
    others = Vocabulary([*TOKENS, b""], eos=[EOS])
    for matcher, words in (
        (ended, "has ended already"),
        (Matcher(grammar, others), "another vocabulary"),
        (Matcher(grammar, VOCABULARY, eos=[]), "give eos=matcher.eos"),
    ):
        with pytest.raises(ValueError, match=words):
            LogitsProcessor([None, matcher], VOCABULARY)
    with pytest.raises(TypeError, match="one or None for each prompt, not NoneType"):
        LogitsProcessor(None, VOCABULARY)


# --- generations that take turns, and that do not end ----------------------------------------------------------------


def written_in_turns(processor: LogitsProcessor, turns: list[tuple[list[int], int]], n_steps: int = 3) -> None:
    """Each generation writes so many tokens at a turn, the first that are allowed."""
    rows = [[list(prompt)] for prompt, _ in turns]
    for _ in range(n_steps):
        for texts, (_, n) in zip(rows, turns):
            for _ in range(n):
                got = allowed(processor(torch.tensor(texts), torch.zeros(len(texts), WIDTH)))
                texts[:] = [[*text, tokens[0]] for text, tokens in zip(texts, got)]


@pytest.mark.parametrize("turns", [[1, 1], [2, 1], [3, 5], [1] * 9])
def test_generations_that_take_turns_are_refused(turns: list[int]) -> None:
    processor = LogitsProcessor(Grammar.from_regex("(abc){20}"), VOCABULARY)
    prompts = [[30, number] for number in range(31, 31 + len(turns))]
    with pytest.raises(RuntimeError, match=r"one processor serves one generate\(\) at a time"):
        written_in_turns(processor, list(zip(prompts, turns)))
    processor.reset()
    for prompt, n in zip(prompts, turns):  # one after the other
        written_in_turns(processor, [(prompt, n)])


def test_the_generation_that_has_interrupted_goes_on(processor: LogitsProcessor) -> None:
    texts = spellings(SENTENCES)

    def shown(*rows: list[int]) -> list[list[int]]:
        return allowed(processor(torch.tensor(rows), torch.zeros(len(rows), WIDTH)))

    shown([30, 31])
    shown([32, 33], [32, 33])
    for _ in range(2):
        with pytest.raises(RuntimeError, match="make a processor for each"):
            shown([30, 31, 0])
    assert shown([32, 33, 1], [32, 33, 2]) == [allowed_by(texts, [1]), allowed_by(texts, [2])]
    assert shown([30, 31]) == [allowed_by(texts, [])]
    with pytest.raises(RuntimeError, match="one generate"):  # beams may be in another order
        shown([32, 33, 2, 0], [32, 33, 1, EOS])
    processor.reset()
    assert shown([32, 33, 2, 0]) == [allowed_by(texts, [])]


def test_steps_of_several_tokens_in_turns(processor: LogitsProcessor) -> None:
    step(processor, [[]])
    step(processor, [[0, 1]])
    processor(torch.tensor([[33]]), torch.zeros(1, WIDTH))
    with pytest.raises(RuntimeError, match="one generate"):
        step(processor, [[0, 1, 2, 0]])


def test_generations_that_follow_each_other_are_not_refused(model: object, processor: LogitsProcessor) -> None:
    """Prompts again, former outputs and more behind them, whether they were cut or not, with others between; and all ways of decoding."""
    first = allowed_by(spellings(SENTENCES), [])
    for last in ([], [0], [0, 1], [0, 1, 2]):
        for prompt in ([], [33], [0, 1, 33], [*last, EOS], [*last, EOS, 33], [*last, 33], [*last, 0, 1], [*last, 0, 33, 0]):
            processor.reset()
            for n in range(len(last) + 1):
                step(processor, [last[:n]])
            processor(torch.tensor([[33]]), torch.zeros(1, WIDTH))
            assert step(processor, [prompt]) == [first]
    assistant = make_model(WIDTH, EOS, seed=2)
    ways = [*WAYS.values(), {"prompt_lookup_num_tokens": 4}, {"assistant_model": assistant}]
    prompts = [[30], [31], [32, 0]]
    for seed in range(60):
        at, way = seed % 3, ways[seed % len(ways)]
        cut = {"max_new_tokens": 1 + seed % 4} if seed % 2 else {}
        got = run(model, [prompts[at]], seed, logits_processor=[processor], **way, **cut)
        prompts[at] = [*got[0].tolist(), 33, 34] if seed % 5 else prompts[at]


def test_prompts_again_after_they_were_left(processor: LogitsProcessor) -> None:
    """What was shown of a prompt before is forgotten when it comes again."""
    texts = spellings(SENTENCES)
    for last in ([], [0]):
        other = torch.tensor([[33]])
        step(processor, [last[:0]])
        processor(other, torch.zeros(1, WIDTH))
        for row in ([], [2], [2, 0]):
            assert step(processor, [row]) == [allowed_by(texts, row)]
        processor(other, torch.zeros(1, WIDTH))
        assert step(processor, [[2]]) == [allowed_by(texts, [])]


def test_a_call_during_another_one_is_refused(processor: LogitsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module.apply_mask
    with monkeypatch.context() as patch:
        patch.setattr(module, "apply_mask", lambda scores, mask: (step(processor, [[]]), real(scores, mask)))
        with pytest.raises(RuntimeError, match=r"one processor serves one generate\(\) at a time"):
            step(processor, [[]])
    assert step(copy.deepcopy(processor), [[0]]) == step(processor, [[0]])


@pytest.mark.parametrize("way", ["greedy", "several"])
def test_ends_that_generate_does_not_stop_at(way: str) -> None:
    other = make_model(WIDTH, PAD)
    processor = LogitsProcessor(Grammar.from_choices(SENTENCES), VOCABULARY)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match=f"all rows ended with token {EOS}, which generate.. does not stop at") as told:
            rows = run(other, PROMPTS, logits_processor=[processor], **WAYS[way])
        assert len(told) == 1 and rows[:, -1].tolist() == [EOS] * len(rows)


@pytest.mark.filterwarnings("error")
def test_no_warning_where_generate_stops(model: object) -> None:
    """Rows that are padded beside others; drafts that end in an end; beams that are left, where there are fewer sentences than beams."""
    assistant = make_model(WIDTH, EOS, seed=2)
    drafts = [{"prompt_lookup_num_tokens": 4}, {"assistant_model": assistant}]
    for way in [*WAYS.values(), {"num_beams": 4, "early_stopping": "never", "num_return_sequences": 4}, *drafts]:
        for choices in (SENTENCES, ["a"], ["abcabc", "b"]):
            processor = LogitsProcessor(Grammar.from_choices(choices), VOCABULARY)
            run(model, PROMPTS[:1] if way in drafts else PROMPTS, logits_processor=[processor], **way)


def test_the_program_of_the_documents() -> None:
    """With a tokenizer as many are: it pads on the right, and has no pad token."""
    tokenizers = pytest.importorskip("tokenizers")
    names = {"</s>": 0, **{char: i for i, char in enumerate('abc{}:,"0123456789 ', 1)}}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(names, []))
    backend.decoder = tokenizers.decoders.Fuse()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>")
    assert tokenizer.padding_side == "right" and tokenizer.pad_token is None
    page = (Path(__file__).parents[2] / "docs" / "decoding.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(from grammar_engine.decoding import LogitsProcessor\n.*?)```", page, re.DOTALL)
    there = {
        "tokenizer": tokenizer,
        "model": make_model(len(names) + 3, 0),
        "grammar": Grammar.from_regex("[abc]{1,9}"),
        "Vocabulary": Vocabulary,
        "prompts": ["a", "abc"],
    }
    exec(program, there)
    output = there["output"].tolist()
    assert output[0][:3] == [0, 0, 1] and output[1][:3] == [1, 2, 3]
    assert all(re.fullmatch("[abc]{1,9}(</s>)+", tokenizer.decode(row[3:])) for row in output)


# --- what it copies, needs and refuses --------------------------------------------------------------------------------


def test_only_packed_masks_meet_the_scores(processor: LogitsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = module.apply_mask
    monkeypatch.setattr(module, "apply_mask", lambda scores, mask: (seen.append(mask), real(scores, mask)))
    processor(torch.tensor([[30], [31]]), torch.zeros(2, WIDTH))
    (mask,) = seen
    assert (mask.dtype, tuple(mask.shape), mask.device.type) == (torch.int32, (2, 1), "cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_a_gpu(processor: LogitsProcessor) -> None:
    texts = spellings(SENTENCES)
    for rows in ([[], []], [[0], [6]], [[0, 4], [6, EOS]]):
        ids = torch.tensor([[30, *row] for row in rows], device="cuda")
        got = processor(ids, torch.randn(2, WIDTH, device="cuda"))
        assert got.device.type == "cuda"
        assert allowed(got.cpu()) == [allowed_by(texts, row) for row in rows]


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
def test_kinds_of_scores(processor: LogitsProcessor, kind: str) -> None:
    scores = torch.randn(1, WIDTH, dtype=getattr(torch, kind))
    got = processor(torch.tensor([[30]]), scores)
    first = allowed_by(spellings(SENTENCES), [])
    assert got.dtype == scores.dtype
    assert allowed(got) == [first]
    assert got[0, first].equal(scores[0, first])


def test_continuous_batching_leaves_it_out(processor: LogitsProcessor) -> None:
    """It shows processors no history: with it, the text would be unconstrained all the same."""
    continuous = pytest.importorskip("transformers.generation.continuous_batching.cb_logits_processors")
    assert not continuous.ContinuousBatchingLogitsProcessorList(transformers.LogitsProcessorList([processor])).do_processing


def test_import_needs_neither(tmp_path: Path) -> None:
    code = "import sys, grammar_engine.decoding.processor; sys.exit(bool({'torch', 'transformers'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


def test_refusals(processor: LogitsProcessor) -> None:
    grammar = Grammar.from_choices(SENTENCES)
    with pytest.raises(ValueError, match="no grammar"):
        LogitsProcessor([], VOCABULARY)
    with pytest.raises(TypeError, match="is a Grammar, a Matcher or None, not str"):
        LogitsProcessor("[a-z]*", VOCABULARY)
    with pytest.raises(TypeError, match="is a Vocabulary, not list"):
        LogitsProcessor(grammar, TOKENS)
    with pytest.raises(ValueError, match="ends a text"):
        LogitsProcessor(grammar, Vocabulary(TOKENS, eos=[]))
    with pytest.raises(ValueError, match="scores 8 tokens, and the vocabulary has 9"):
        processor(torch.tensor([[0]]), torch.zeros(1, 8))
    with pytest.raises(TypeError, match="are torch tensors, or numpy arrays, not Tensor and ndarray"):
        processor(torch.tensor([[0]]), torch.zeros(1, 9).numpy())


@pytest.mark.parametrize("length", [1, 15, 16, 17, 40])
def test_a_long_draft_behind_a_refused_token_is_taken_back(length: int) -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos=[256])
    processor, scores = LogitsProcessor(Grammar.from_regex("ab*c"), vocabulary), torch.zeros(1, 257)
    prompt, text = [120, 120], [97, 98, 98]
    for n in range(4):
        processor(torch.tensor([prompt + text[:n]]), scores)
    for n in range(1, length + 1):
        processor(torch.tensor([prompt + text + [122] * n]), scores)
    masked = processor(torch.tensor([[*prompt, *text, 98]]), scores)
    assert masked[0].isfinite().nonzero().flatten().tolist() == [98, 99]


@pytest.mark.parametrize(
    "options",
    [{"min_new_tokens": 12}, {"suppress_tokens": list(range(EOS))}, {"forced_eos_token_id": EOS, "max_new_tokens": 2}],
    ids=lambda options: next(iter(options)),
)
def test_other_processors_that_leave_no_token(options: dict[str, object]) -> None:
    """Those of `generate()` come first. What it writes then is refused by the grammar."""
    processor, prompt = LogitsProcessor(Grammar.from_choices(["abcabc"]), VOCABULARY), torch.tensor([[1, 2]])
    with pytest.warns(RuntimeWarning, match="every token that the grammar allows has the score -inf"):
        make_model(WIDTH, EOS).generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            logits_processor=[processor],
            do_sample=False,
            **{"max_new_tokens": 20, **options},
        )


def test_rows_that_have_no_token_beside_others_that_have(processor: LogitsProcessor) -> None:
    """Beams go on with the others. Rows that have ended need none."""
    prompts, scores = torch.tensor([[1], [1]]), torch.zeros(2, WIDTH)
    scores[0] = float("-inf")
    masked = processor(prompts, scores)
    assert masked[0].max() == float("-inf") and masked[1].max() == 0
    ended = torch.tensor([[1, TOKENS.index(b"b"), EOS], [1, TOKENS.index(b"b"), EOS]])
    processor.reset()
    processor(prompts, torch.zeros(2, WIDTH))
    processor(ended[:, :2], torch.zeros(2, WIDTH))
    assert processor(ended, torch.full((2, WIDTH), float("-inf"))).max() == float("-inf")
