"""apply_mask against the same function of other engines: `python bench/decoding/apply.py [--device cuda] [--dtype bfloat16]`.

V = 131,072, random masks of three densities, batches of 1, 8 and 64 rows, one thread. The engines take turns, and each cell is the median
of their turns, in us for the whole batch. Engines that are not installed are left out; each is checked against a bit by bit definition
first.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np
import torch

from grammar_engine.decoding import apply_mask

WIDTH = 131_072
BATCHES = 1, 8, 64
DENSITIES = 0.001, 0.5, 0.999
TURNS = 15
SECONDS = 0.02  # of one turn, at least


def engines(device, dtype):
    """Name -> function of (logits, mask), in place; both are arrays or tensors, as the name says."""
    found = {"ours torch": apply_mask}
    in_numpy = device == "cpu" and dtype != "bfloat16"
    if in_numpy:
        found["ours numpy"] = apply_mask
    try:
        import xgrammar

        found["xgrammar torch"] = xgrammar.apply_token_bitmask_inplace
    except ImportError:
        pass
    try:
        import llguidance.numpy
        import llguidance.torch

        found["llguidance torch"] = llguidance.torch.apply_token_bitmask_inplace
        if in_numpy:
            found["llguidance numpy"] = llguidance.numpy.apply_token_bitmask_inplace
    except ImportError:
        pass
    return found


def seconds(call, n, device):
    """Of n calls."""
    begin = time.perf_counter()
    for _ in range(n):
        call()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def medians(calls, device):
    """Seconds of one call of each."""
    for call in calls:
        seconds(call, 2, device)  # some engines compile on first use
    counts = [max(1, int(SECONDS / seconds(call, 1, device))) for call in calls]
    turns = [[seconds(call, n, device) / n for call, n in zip(calls, counts)] for _ in range(TURNS)]
    return [median(column) for column in zip(*turns)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=("float32", "float16", "bfloat16"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    found, rng = engines(options.device, options.dtype), np.random.default_rng(0)
    print(f"us per batch, V = {WIDTH:,}, {options.dtype}, {options.device}\n")
    print("| allowed | rows | " + " | ".join(found) + " |\n|--:|--:|" + "--:|" * len(found))
    for density in DENSITIES:
        for batch in BATCHES:
            allowed = rng.random((batch, WIDTH)) < density
            mask = torch.from_numpy(np.packbits(allowed, axis=1, bitorder="little").view(np.int32))
            logits = torch.randn(batch, WIDTH).to(getattr(torch, options.dtype))
            wanted = logits.masked_fill(torch.from_numpy(~allowed), float("-inf"))
            calls = []
            for name, function in found.items():
                got, bits = logits.clone().to(options.device), mask.to(options.device)
                if name.endswith("numpy"):
                    got, bits = got.numpy(), bits.numpy()
                function(got, bits)
                assert torch.equal(torch.as_tensor(got).cpu(), wanted), name
                calls.append(lambda f=function, g=got, b=bits: f(g, b))
            cells = (f"{1e6 * one:,.0f}" for one in medians(calls, options.device))
            print(f"| {density:.1%} | {batch} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
