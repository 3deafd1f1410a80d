"""The logits processor with numpy arrays, as llama-cpp-python shows them: one row, ids in a buffer that grows, scores in records."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from grammar_engine import Grammar, Matcher, Vocabulary, allocate_masks
from grammar_engine.decoding import LogitsProcessor

VOCABULARY = Vocabulary.builtin()
WIDTH = VOCABULARY.width + 5  # models pad their output
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "sizes": {"type": "array", "items": {"enum": [1, 22]}, "maxItems": 3}},
    "required": ["name", "sizes"],
    "additionalProperties": False,
}
RECORD = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)


def allowed(matcher: Matcher) -> set[int]:
    mask = allocate_masks(1, VOCABULARY)
    matcher.fill_mask(mask, 0)
    return set(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist())


def write(processor: LogitsProcessor, prompt: list[int], rng: np.random.Generator, most: int = 200) -> list[int]:
    """A text of random scores, by a loop like that of llama-cpp-python; each call is held against a matcher."""
    buffer = np.zeros(512, dtype=np.intc)
    buffer[: len(prompt)] = prompt
    n, records, matcher = len(prompt), np.recarray((WIDTH,), dtype=RECORD), Matcher(GRAMMAR, VOCABULARY)
    while n < len(prompt) + most and not matcher.is_terminated:
        scores = rng.normal(size=WIDTH).astype(np.single)
        records.logit[:] = scores
        records.logit[:] = processor(buffer[:n], records.logit)
        finite = np.isfinite(records.logit)
        assert set(np.flatnonzero(finite).tolist()) == allowed(matcher)
        assert (records.logit[finite] == scores[finite]).all()
        buffer[n] = token = int(np.argmax(records.logit))
        assert matcher.accept(token)
        n += 1
    return buffer[len(prompt) : n].tolist()


GRAMMAR = Grammar.from_json_schema(SCHEMA, whitespace="compact")


def test_one_row_and_several_texts() -> None:
    rng, processor = np.random.default_rng(5), LogitsProcessor(GRAMMAR, VOCABULARY)
    n_ended = 0
    for _ in range(6):
        tokens = write(processor, rng.integers(0, VOCABULARY.width, 7).tolist(), rng)
        if tokens[-1] in VOCABULARY.eos:
            n_ended += 1
            jsonschema.validate(json.loads(b"".join(VOCABULARY.token_bytes(token) for token in tokens[:-1])), SCHEMA)
    assert n_ended >= 3


def test_rows_as_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    grammars = [GRAMMAR, None, Grammar.from_choices(["ab", "b"])]
    of_arrays, of_tensors = (LogitsProcessor(grammars, VOCABULARY) for _ in range(2))
    ids = rng.integers(0, VOCABULARY.width, (3, 4))
    for _ in range(12):
        scores = rng.normal(size=(3, WIDTH)).astype(np.float32)
        kept = scores.copy()
        masked = of_arrays(ids, scores)
        assert (masked == of_tensors(torch.from_numpy(ids), torch.from_numpy(scores)).numpy()).all()
        assert (scores == kept).all()
        ids = np.concatenate([ids, masked.argmax(-1)[:, None]], axis=1)


def test_warnings() -> None:
    processor = LogitsProcessor(Grammar.from_choices(["a"]), VOCABULARY)
    prompt, a, end = [3, 4], VOCABULARY.encode_greedy(b"a"), VOCABULARY.eos[0]
    scores = np.zeros(WIDTH, np.float32)
    processor(np.array(prompt), scores)
    banned = scores.copy()
    banned[end] = -np.inf
    with pytest.warns(RuntimeWarning, match="every token that the grammar allows has the score -inf"):
        processor(np.array(prompt + a), banned)
    processor(np.array([*prompt, *a, end]), scores)
    with pytest.warns(RuntimeWarning, match="all rows ended with token"):
        processor(np.array([*prompt, *a, end, end]), scores)


def test_refusals() -> None:
    processor = LogitsProcessor(GRAMMAR, VOCABULARY)
    with pytest.raises(TypeError, match="are torch tensors, or numpy arrays, not list and ndarray"):
        processor([1, 2], np.zeros(WIDTH))
    with pytest.raises(TypeError, match="input_ids are integers, not float64"):
        processor(np.array([1.5]), np.zeros(WIDTH))
    with pytest.raises(TypeError, match="input_ids are integers, not float64"):
        processor(np.array([1.5]), np.zeros(WIDTH))
    with pytest.raises(ValueError, match=r"not \(2,\) and \(1, "):
        processor(np.array([1, 2]), np.zeros((1, WIDTH)))
    with pytest.raises(ValueError, match="the model scores 5 tokens"):
        processor(np.array([1, 2]), np.zeros(5))


def test_torch_is_not_needed(tmp_path: Path) -> None:
    code = """
import sys, numpy as np
sys.modules["torch"] = None
from grammar_engine import Grammar, Vocabulary
from grammar_engine.decoding import LogitsProcessor
vocabulary = Vocabulary.builtin()
scores = LogitsProcessor(Grammar.from_choices(["a"]), vocabulary)(np.array([1]), np.zeros(vocabulary.width, np.float32))
assert np.flatnonzero(np.isfinite(scores)).tolist() == vocabulary.encode_greedy(b"a")
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
