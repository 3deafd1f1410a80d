"""apply_mask against the same function of other engines: `python -m bench.decoding.apply [--device cuda]`.

V = 131,072, random masks of three densities, batches of 1, 8 and 64 rows, one thread. Each cell is the least of some repeats, in us for the
whole batch: what a call takes when nothing disturbs it. Engines that are not installed are left out; each is checked against ours first.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from grammar_engine.decoding import apply_mask

WIDTH = 131_072
BATCHES = 1, 8, 64
DENSITIES = 0.001, 0.5, 0.999
REPEATS = 15
SECONDS = 0.02  # of one repeat, at least


def engines(device):
    """Name -> function of (logits, mask), in place; both are arrays or tensors, as the name says."""
    found = {"ours torch": apply_mask}
    if device == "cpu":
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
        if device == "cpu":
            found["llguidance numpy"] = llguidance.numpy.apply_token_bitmask_inplace
    except ImportError:
        pass
    return found


def least(call, device):
    """Seconds of one call."""

    def run(n):
        begin = time.perf_counter()
        for _ in range(n):
            call()
        if device != "cpu":
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    run(2)  # some engines compile on first use
    n = max(1, int(SECONDS / run(1)))
    return min(run(n) / n for _ in range(REPEATS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=("float32", "float16", "bfloat16"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    found, rng = engines(options.device), np.random.default_rng(0)
    print(f"us per batch, V = {WIDTH:,}, {options.dtype}, {options.device}\n")
    print("| allowed | rows | " + " | ".join(found) + " |\n|--:|--:|" + "--:|" * len(found))
    for density in DENSITIES:
        for batch in BATCHES:
            mask = torch.from_numpy(np.packbits(rng.random((batch, WIDTH)) < density, axis=1, bitorder="little").view(np.int32))
            logits = torch.randn(batch, WIDTH).to(getattr(torch, options.dtype))
            wanted = logits.clone()
            apply_mask(wanted, mask)
            cells = []
            for name, function in found.items():
                if name.endswith("numpy") and options.dtype == "bfloat16":
                    cells.append("")
                    continue
                got, bits = logits.clone().to(options.device), mask.to(options.device)
                if name.endswith("numpy"):
                    got, bits = got.numpy(), bits.numpy()
                function(got, bits)
                assert torch.equal(torch.as_tensor(got).cpu(), wanted), name
                cells.append(f"{1e6 * least(lambda f=function, g=got, b=bits: f(g, b), options.device):,.0f}")
            print(f"| {density:.1%} | {batch} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
