"""The share of time that a decoding loop spends on masks, by the size of the model.

    python bench/decoding/share.py --model tiny.pt                                    the tiny decoder, and one of the size of GPT-2 small
    python bench/decoding/share.py --vocabulary tekken.json --texts 4                 the latter over another vocabulary

The model of the size of GPT-2 small (12 layers of 768, 124 million weights with its own vocabulary) has random weights: what a pass takes
does not depend on them. What it writes is noise under the grammar, so most of it is free text.

Several texts of each schema in a folder. "First" is the first text of a grammar, which makes automata and masks, "warmed" the first one
after `Grammar.warm`, which has made most of them; the others find them. What compiling and warming take is told apart, and is no part of
the shares. Times are those that a `Generation` tells and the command line shows, with one torch thread, and medians over texts, so that the
moments in which other processes ran matter little. (The clock of CPU time takes a system call for each reading, 1 to 4 us after a pass,
which is as much as a mask.) "Choice" is all else that the loop does: penalty, softmax, draw, bookkeeping.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from grammar_engine import Grammar, Vocabulary
from grammar_engine.decoding import Generation, as_model, generate
from grammar_engine.decoding.tiny.data import WHITESPACE, prompt_of, tiny_vocabulary
from grammar_engine.decoding.tiny.model import TinyDecoder, load

SCHEMAS = Path(__file__).parents[2] / "grammars" / "schemas"
PROMPT, NEW = 200, 256  # tokens, at most
WARM = 0.25  # seconds, as `grammar-engine generate --model` does


def texts(model: object, vocabulary: Vocabulary, n: int, folder: Path) -> dict[str, list[Generation]]:
    """First texts of grammars, first texts after warming, and others."""
    runs: dict[str, list[Generation]] = {"first": [], "warmed": [], "later": []}
    seconds: dict[str, list[float]] = {"compile": [], "warm": []}

    def write(grammar: Grammar, seed: int) -> Generation:
        return generate(model, prompt, grammar, vocabulary, max_new_tokens=NEW, seed=seed)

    for path in sorted(folder.glob("*.json")):
        schema = json.loads(path.read_text())
        prompt = vocabulary.encode_greedy(prompt_of(schema))[:PROMPT]
        for seed in range(max(1, n // 4)):
            begun = time.perf_counter()
            cold = Grammar.from_json_schema(schema, whitespace=WHITESPACE)
            seconds["compile"].append(time.perf_counter() - begun)
            warmed = Grammar.from_json_schema(schema, whitespace=WHITESPACE)
            begun = time.perf_counter()
            warmed.warm(vocabulary, seconds=WARM)
            seconds["warm"].append(time.perf_counter() - begun)
            runs["first"].append(write(cold, seed))
            runs["warmed"].append(write(warmed, seed))
        runs["later"] += (write(cold, seed) for seed in range(n // 4, n))
    compiling, warming = (statistics.median(column) * 1e3 for column in seconds.values())
    print(f"median over grammars: compiled in {compiling:,.1f} ms, warmed in {warming:,.0f} ms", file=sys.stderr)
    return runs


def row(label: str, width: int, which: str, runs: Sequence[Generation]) -> str:
    parts = [(run.seconds_model, run.seconds_masks, run.seconds - run.seconds_model - run.seconds_masks) for run in runs]
    times = [statistics.median(part / run.passes * 1e6 for part, run in zip(column, runs)) for column in zip(*parts)]
    share = statistics.median(run.seconds_masks / run.seconds for run in runs)
    passes = sum(run.passes for run in runs)
    return f"| {label} | {width:,} | {which} | {passes:,} | {times[0]:,.0f} | {times[1]:,.1f} | {times[2]:,.0f} | {share:.2%} |"


def gpt2(width: int) -> object:
    import transformers

    return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=width, bos_token_id=None, eos_token_id=None)).eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="weights of the tiny decoder; default: random ones")
    parser.add_argument("--vocabulary", type=Path, help="only the larger model, over this vocabulary (default: the built-in one)")
    parser.add_argument("--texts", type=int, default=20, help="of each schema by the tiny decoder; a quarter of that by the larger model")
    parser.add_argument("--schemas", type=Path, default=SCHEMAS, help="folder of JSON Schemas (default: grammars/schemas)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("| model | V | texts | passes | model, us a pass | masks | choice | share of masks |\n|:--|--:|:--|--:|--:|--:|--:|--:|")
    cases = []
    if options.vocabulary is None:
        tiny = tiny_vocabulary()
        cases.append(("tiny", load(options.model, tiny) if options.model else TinyDecoder(tiny.width + 1).eval(), tiny, options.texts))
    large = Vocabulary.builtin() if options.vocabulary is None else Vocabulary.from_file(options.vocabulary)
    cases.append(("size of GPT-2 small", gpt2(large.width), large, max(2, options.texts // 4)))
    for label, module, vocabulary, n in cases:
        model = as_model(module)
        session = model.start()
        for length in range(1, 20):  # warm
            session.logits(list(range(length)))
        for which, runs in texts(model, vocabulary, n, options.schemas).items():
            print(row(label, vocabulary.width, which, runs), flush=True)


if __name__ == "__main__":
    main()
