"""The prefix cache at work: the workload of its report, with and without it.

    python bench/decoding/prefix_cache.py --out /tmp/prefix-cache                        # tables on stdout, prefix-cache.svg
    python bench/decoding/prefix_cache.py --model tiny.pt --requests 300 --new 8

1,000 requests. Each is, with probability p, one of 20 frequent prompts, else a random one; all are 15 tokens long, and after each the model
writes the same number of tokens, drawn at temperature 1: so the cost of a request does not depend on when a text happens to end. The model
is the tiny decoder (random weights without `--model`: what it writes does not matter here, what a pass costs does not depend on it).

Each request is a call of `generate` with the cache and one without it, one right after the other, in alternating order, from the same seed.
Times are CPU time of this process with one torch thread, so that other processes matter little.

    1  hit rates and requests per second over p; the overhead at p = 0 is the median over requests of (with - without), by the median
    without,
       and its confidence interval by order statistics
    2  time to the first token at p = 1, by the length of the prompt
    3  hit rates by how many idle blocks are kept, and which; no model, random continuations
    4  the cache alone: chained and direct hashing by the length of a text; no model
    5  a matcher for a text that was read before: read again, or from a `MatcherCache`; no model
    6  the overhead at p = 0 by the size of the model, which has random weights
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine.decoding import PrefixCache, as_model, generate
from grammar_engine.decoding.prefix_cache import MatcherCache, Statistics
from grammar_engine.decoding.tiny.data import tiny_vocabulary
from grammar_engine.decoding.tiny.model import TinyDecoder, load

FREQUENT = 20  # prompts in the pool
LENGTH = 15  # tokens of a prompt
BLOCK = 5  # so that a prompt is three blocks: only full ones are shared
KEPT = 4096  # idle blocks
LENGTHS = (15, 60, 240, 480)
DECODERS = ((2, 128), (4, 256), (6, 512))  # layers, and how wide


class Arms(NamedTuple):
    """CPU seconds of each request, in both ways; the counters of the cache; requests whose text was another one with the cache."""

    without: list[float]
    cached: list[float]
    stats: Statistics
    different: int


def workload(p: float, requests: int, width: int, length: int = LENGTH) -> list[list[int]]:
    """The prompts of the report."""
    rng = random.Random(1)
    frequent = [rng.choices(range(width), k=length) for _ in range(FREQUENT)]
    return [rng.choice(frequent) if rng.random() < p else rng.choices(range(width), k=length) for _ in range(requests)]


def write(model: Any, prompt: Sequence[int], n: int, seed: int, cache: PrefixCache | None = None) -> list[int]:
    return generate(model, prompt, max_new_tokens=n, seed=seed, prefix_cache=cache).tokens


def timed(function: Any, *arguments: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def run(model: Any, prompts: list[list[int]], n: int) -> Arms:
    """Both ways, request by request."""
    cache: PrefixCache = PrefixCache(BLOCK, max_idle_blocks=KEPT)
    without, cached, different = [], [], 0
    for seed, prompt in enumerate(prompts):
        order = (None, cache) if seed % 2 else (cache, None)
        results = {used is cache: timed(write, model, prompt, n, seed, used) for used in order}
        without.append(results[False][0])
        cached.append(results[True][0])
        different += results[False][1] != results[True][1]
    return Arms(without, cached, cache.stats, different)


# --- the tables -------------------------------------------------------------------------------------------------------


def over_p(model: Any, requests: int, n: int, steps: int) -> list[dict[str, float]]:
    print(f"{requests} requests of {LENGTH} tokens and {n} written ones, blocks of {BLOCK}, at most {KEPT} idle\n")
    print("| p | prompt blocks found | all blocks found | prompt positions found | requests/s without | with | gain | texts that differ |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    rows = []
    for p in np.linspace(0, 1, steps):
        arms = run(model, workload(p, requests, model.width), n)
        stats = arms.stats
        row = {
            "p": float(p),
            "prompt": stats.prompt_hits / stats.prompt_blocks,
            "all": stats.block_hits / stats.blocks,
            "tokens": stats.prompt_matched / stats.prompt_tokens,
            "without": 1 / statistics.median(arms.without),
            "with": 1 / statistics.median(arms.cached),
        }
        rows.append(row)
        shares = " | ".join(f"{row[name]:.1%}" for name in ("prompt", "all", "tokens"))
        print(
            f"| {p:.1f} | {shares} | {row['without']:.1f} | {row['with']:.1f} | {row['with'] / row['without'] - 1:+.1%} | {arms.different} |",
            flush=True,
        )
        if not p:
            nothing_found = arms
    print("\noverhead at p = 0: {:.2%} of a request, {:.2%} to {:.2%} with 95 % confidence\n".format(*overhead(nothing_found)))
    return rows


def overhead(arms: Arms) -> tuple[float, float, float]:
    """What a request takes longer with the cache, by the median request without: the median over requests, and between which values it lies
    in 95 of 100 samples, whatever the distribution."""
    longer = sorted(after - before for before, after in zip(arms.without, arms.cached))
    middle, spread = len(longer) / 2, 0.98 * len(longer) ** 0.5  # how many of n are below the median is binomial
    times = statistics.median(longer), longer[max(0, int(middle - spread))], longer[min(len(longer) - 1, int(middle + spread))]
    median, least, most = (time / statistics.median(arms.without) for time in times)
    return median, least, most


def by_size(requests: int, n: int) -> None:
    print(f"p = 0, {requests} requests, random weights\n")
    print("| layers | of | million weights | without (median) | overhead | with 95 % confidence |\n|--:|--:|--:|--:|--:|--:|")
    for layers, dim in DECODERS:
        module = TinyDecoder(tiny_vocabulary().width + 1, dim, layers, dim // 32).eval()
        model = as_model(module)
        run(model, workload(0, 20, model.width), n)  # warm
        arms = run(model, workload(0, requests, model.width), n)
        weights = sum(parameter.numel() for parameter in module.parameters()) / 1e6
        request = statistics.median(arms.without) * 1e3
        print(
            f"| {layers} | {dim} | {weights:.1f} | {request:.1f} ms | {{:.2%}} | {{:.2%}} to {{:.2%}} |".format(*overhead(arms)), flush=True
        )
    print()


def by_length(model: Any, requests: int) -> None:
    print(f"p = 1, {requests} requests, the first token only (medians)\n")
    print("| tokens of the prompt | without | with | times as fast |\n|--:|--:|--:|--:|")
    for length in LENGTHS:
        arms = run(model, workload(1, requests, model.width, length), 1)
        before, after = (statistics.median(times) * 1e3 for times in (arms.without, arms.cached))
        print(f"| {length} | {before:.2f} ms | {after:.2f} ms | {before / after:.1f} |", flush=True)
    print()


def by_room(requests: int, n: int) -> None:
    print("p = 0.5, without a model\n")
    print("| policy | idle blocks kept | prompt blocks found | all blocks found | given up |\n|:--|--:|--:|--:|--:|")
    policies: tuple[Literal["lru", "lfu"], ...] = ("lru", "lfu")
    for policy, kept in product(policies, (0, 16, 64, 256, 1024, 4096)):
        rng = random.Random(2)
        cache: PrefixCache = PrefixCache(BLOCK, max_idle_blocks=kept, policy=policy)
        for prompt in workload(0.5, requests, 6000):
            with cache.acquire(prompt) as lease:
                lease.extend([*prompt, *rng.choices(range(6000), k=n)][lease.matched :], nothing)
        stats = cache.stats
        print(
            f"| {policy} | {kept} | {stats.prompt_hits / stats.prompt_blocks:.1%} | {stats.block_hits / stats.blocks:.1%} | {stats.evictions} |"
        )
    print()


def by_hashing() -> None:
    print("microseconds of a text, blocks of 16, payloads of nothing (medians of 20)\n")
    print("| tokens | chained, all missing | chained, all found | direct, all missing | direct, all found |\n|--:|--:|--:|--:|--:|")
    for length in (64, 256, 1024, 4096, 8192):
        cells = []
        for hashing in ("chained", "direct"):
            missing, found = [], []
            for turn in range(20):
                cache: PrefixCache = PrefixCache(16, hashing=hashing)
                text = list(range(turn, turn + length))
                for times in (missing, found):
                    start = time.process_time()
                    with cache.acquire(text) as lease:
                        lease.extend(text[lease.matched :], nothing)
                    times.append(time.process_time() - start)
            cells += [f"{statistics.median(times) * 1e6:,.0f}" for times in (missing, found)]
        print(f"| {length} | {' | '.join(cells)} |", flush=True)
    print()


def by_matchers() -> None:
    print("microseconds for a matcher after a JSON text, one token for each byte (medians of 50)\n")
    print("| tokens | read again | blocks of 16 | of 128 | of 512 |\n|--:|--:|--:|--:|--:|")
    schema = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}}
    grammar, vocabulary = Grammar.from_json_schema(schema), Vocabulary.bytes()
    text = list(json.dumps([{"name": f"No. {i}", "age": i} for i in range(200)]).encode())
    ways = [MatcherCache(block_size).after for block_size in (16, 128, 512)]
    for length in (64, 256, 1024, 4096):
        cells = [statistics.median(timed(way, text[:length], grammar, vocabulary)[0] for _ in range(50)) for way in (read_again, *ways)]
        print(f"| {length} | {' | '.join(f'{cell * 1e6:,.0f}' for cell in cells)} |", flush=True)
    print()


def read_again(ids: Sequence[int], grammar: Grammar, vocabulary: Vocabulary) -> None:
    Matcher(grammar, vocabulary).accept_tokens(ids)


def nothing(start: int, stop: int) -> None:
    """A payload."""


def draw(rows: list[dict[str, float]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": path.stem, "svg.fonttype": "none"})  # the same figures, the same file; text as text
    from matplotlib import pyplot as plt

    figure, (rates, speeds) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    p = [row["p"] for row in rows]
    for axis, lines in (
        (rates, {"prompt": "prompt blocks", "all": "all blocks"}),
        (speeds, {"with": "with the cache", "without": "without"}),
    ):
        for name, label in lines.items():
            axis.plot(p, [row[name] for row in rows], marker="o", markersize=3, label=label)
        axis.set(xlabel="p: share of frequent prompts", ylim=(0, None))
        axis.grid(visible=True, alpha=0.3)
        axis.legend()
    rates.set(title="blocks found", ylabel="share")
    speeds.set(title="requests per second of CPU time")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="weights of the tiny decoder; default: random ones")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--new", type=int, default=16, help="tokens that are written after each prompt")
    parser.add_argument("--steps", type=int, default=11, help="number of values of p, from 0 to 1")
    parser.add_argument("--out", type=Path, help="folder of the plot")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    gc.freeze()  # what the imports have made is not looked through at each collection
    vocabulary = tiny_vocabulary()
    module = load(options.model, vocabulary) if options.model else TinyDecoder(vocabulary.width + 1).eval()
    model = as_model(module)
    run(model, workload(0, 20, model.width), options.new)  # warm
    rows = over_p(model, options.requests, options.new, options.steps)
    by_length(model, min(options.requests, 100))
    by_room(options.requests, options.new)
    by_hashing()
    by_matchers()
    by_size(min(options.requests, 200), options.new)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        draw(rows, options.out / "prefix-cache.svg")


if __name__ == "__main__":
    main()
