"""Train the tiny decoder: `python -m grammar_engine.decoding.tiny.train --out tiny.pt --minutes 4`.

Plain next-token prediction over prompt, document and end. A batch has texts of about the same length, as many as make `BATCH` tokens,
padded after their ends, and what is predicted at or after an end has no weight in the loss; so the model never learns what a pad means, as
no published model has.

Muon changes the matrices of the layers, AdamW the embedding, norms and biases.

A text of n tokens gives n - 1 terms; the loss is their mean, in nats.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence

import torch
from torch.nn import functional

from ...grammar import Grammar
from ...matcher import Matcher
from ...vocabulary import Vocabulary
from ..loop import generate
from ..scores import Sampling
from .data import DOCUMENTS, Example, examples, grammar_of, tiny_vocabulary
from .model import TinyDecoder, save
from .muon import Muon

BATCH = 700  # tokens, pads among them, at most; a longer text is a batch by itself
RATE, MATRIX_RATE = 3e-3, 2e-2  # of AdamW and of Muon at their highest
WARM_UP = 0.05  # share of the training in which the rates rise; then they fall to nothing
NO_WEIGHT = -100  # a target that does not count
REPORT = 100  # steps between two reports
TEXTS, HELD_OUT = 16_000, 400
SEED, HELD_OUT_SEED = 1, 2

Text = Sequence[int]


def train(
    model: TinyDecoder,
    texts: Sequence[Text],
    done: Callable[[int], float],
    *,
    seed: int = 0,
    report: Callable[[int, float], None] | None = None,
) -> None:
    """Improve the weights of `model`.

    Parameters
    ----------
    model : TinyDecoder
    texts : sequence of sequences of int
        Ids; no longer than the model can see.
    done : callable
        Told the number of steps so far, returns the share of the training that is done. It ends at 1.
    seed : int
        Of the choice of texts.
    report : callable, optional
        Told the number of steps and their mean loss, now and then.
    """
    matrices = [weights for weights in model.layers.parameters() if weights.dim() == 2]
    others = [model.embedding.weight, *(weights for weights in model.parameters() if weights.dim() == 1)]
    adam = torch.optim.AdamW(others, lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    optimizers = [(Muon(matrices, lr=MATRIX_RATE), MATRIX_RATE), (adam, RATE)]
    batches = _in_random_order(texts, random.Random(seed))
    model.train()
    step, losses = 0, 0.0
    while (share := done(step)) < 1:
        loss, terms = _loss(model, next(batches))
        model.zero_grad(set_to_none=True)
        (loss / terms).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, rate in optimizers:
            optimizer.param_groups[0]["lr"] = rate * min(share / WARM_UP + 0.01, 1 - share)
            optimizer.step()
        step, losses = step + 1, losses + loss.item() / terms
        if report and step % REPORT == 0:
            report(step, losses / REPORT)
            losses = 0.0
    model.eval()


def mean_loss(model: TinyDecoder, texts: Sequence[Text]) -> float:
    """The loss of a model in `eval` mode over all terms of `texts`."""
    total = n_terms = 0.0
    with torch.inference_mode():
        for batch in _batches(texts):
            loss, terms = _loss(model, batch)
            total, n_terms = total + loss.item(), n_terms + terms
    return total / n_terms


def _in_random_order(texts: Sequence[Text], rng: random.Random) -> Iterator[list[Text]]:
    """Batches without end. Each text comes once before any comes again, so each term has about the same weight."""
    while texts:
        batches = list(_batches(rng.sample(texts, len(texts))))  # texts of one schema are not left together
        rng.shuffle(batches)
        yield from batches


def _batches(texts: Sequence[Text]) -> Iterator[list[Text]]:
    """All texts, the shortest first."""
    batch: list[Text] = []
    for text in sorted(texts, key=len):
        if batch and (len(batch) + 1) * len(text) > BATCH:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _loss(model: TinyDecoder, texts: Sequence[Text]) -> tuple[torch.Tensor, int]:
    """The sum of the terms of a batch, and their number."""
    longest = max(map(len, texts))
    inputs = torch.tensor([[*text, *[model.pad] * (longest - len(text))] for text in texts])
    targets = torch.tensor([[*text, *[NO_WEIGHT] * (longest - len(text))] for text in texts])[:, 1:]
    logits = model(inputs[:, :-1]).logits
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=NO_WEIGHT, reduction="sum")
    return loss, sum(len(text) - 1 for text in texts)


def shares_right(model: TinyDecoder, vocabulary: Vocabulary, asked: Sequence[Example]) -> tuple[float, float]:
    """Of the likeliest texts after the prompts, without a grammar: how many are JSON texts, and how many are documents of the schema."""
    json = Grammar.from_json_schema({})
    n_json = n_documents = 0
    for example in asked:
        prompt, greedy = vocabulary.encode_greedy(example.prompt), Sampling(temperature=0)
        run = generate(model, prompt, vocabulary=vocabulary, sampling=greedy, max_new_tokens=model.max_length - len(prompt))
        if run.finish_reason == "end":
            n_json += _is_sentence(run.text, json, vocabulary)
            n_documents += _is_sentence(run.text, grammar_of(example.schema), vocabulary)
    return n_json / len(asked), n_documents / len(asked)


def _is_sentence(text: bytes, grammar: Grammar, vocabulary: Vocabulary) -> bool:
    matcher = Matcher(grammar, vocabulary)
    return matcher.accept_bytes(text) and matcher.is_complete


def _texts(vocabulary: Vocabulary, examples: Sequence[Example], longest: int) -> list[list[int]]:
    return [ids for example in examples if len(ids := example.ids(vocabulary)) <= longest]


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m grammar_engine.decoding.tiny.train", description="Train the tiny decoder.")
    parser.add_argument("--out", required=True, help="file for the weights")
    parser.add_argument("--minutes", type=float, default=4.0, help="of training; the data take a minute before that")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--heads", type=int, default=2)
    arguments = parser.parse_args()
    torch.manual_seed(SEED)
    vocabulary = tiny_vocabulary()
    model = TinyDecoder(vocabulary.width + 1, arguments.dim, arguments.layers, arguments.heads)
    texts = _texts(vocabulary, list(examples(vocabulary, TEXTS, SEED)), model.max_length)
    _say(f"{len(texts):,} texts of {sum(map(len, texts)):,} tokens; {sum(weights.numel() for weights in model.parameters()):,} weights")
    begin = time.monotonic()

    def report(step: int, loss: float) -> None:
        _say(f"{time.monotonic() - begin:5.0f} s  step {step:5,}  loss {loss:.3f}")

    train(model, texts, lambda step: (time.monotonic() - begin) / (60 * arguments.minutes), seed=SEED, report=report)
    save(model, arguments.out, vocabulary)
    held_out = list(examples(vocabulary, HELD_OUT, HELD_OUT_SEED))
    _say(f"loss over {len(held_out)} texts that it has not seen: {mean_loss(model, _texts(vocabulary, held_out, model.max_length)):.3f}")
    json, documents = shares_right(model, vocabulary, held_out[::DOCUMENTS])
    _say(f"its likeliest texts without a grammar: {json:.0%} are JSON texts, {documents:.0%} are documents of their schemas")


if __name__ == "__main__":
    main()
