"""What test_apply_triton.py runs in processes of their own, since Triton settles on import whether kernels are interpreted.

python kernel_checks.py interpreted        the kernel on tensors in CPU memory, bit for bit against the definition
python kernel_checks.py compiled           the kernel compiled for GPUs, which needs none
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from grammar_engine.decoding.apply import apply_mask
from grammar_engine.decoding.apply_triton import BLOCK, _fill, launch

KINDS = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float64: "fp64"}
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
SHAPES = [  # (scores in a row, words of the mask)
    (1, 1),
    (31, 1),
    (33, 2),
    (BLOCK, BLOCK // 32),
    (BLOCK + 1, BLOCK // 32 + 1),
    (5001, 150),
    (2 * BLOCK + 70, 3),
    (2 * BLOCK, BLOCK // 32),
]
FILLING = 0.5  # of what lies beside the scores


def scores(rng, rows, width, kind):
    """Numbers of all sorts: what is allowed keeps its bits, those of NaN too."""
    values = rng.standard_normal((rows, width))
    sorts = [np.nan, np.inf, -np.inf, -0.0, 1e-45]
    for place, value in enumerate(sorts):
        values[:, place :: len(sorts) + 4] = value
    tensor = torch.from_numpy(values).to(kind)
    bits = tensor.view(BITS[tensor.element_size()])
    if width > 8:
        bits[:, 8] |= 1  # with those that a number has already: another NaN, or a number near it
    return tensor


def by_definition(logits, masks, rows):
    """Score by score."""
    refused = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little") == 0
    result = logits.clone()
    for row, one in zip(range(len(masks)) if rows is None else rows, refused):
        one = np.pad(one, (0, max(0, logits.shape[1] - len(one))), constant_values=True)[: logits.shape[1]]
        result[row, torch.from_numpy(one)] = float("-inf")
    return result


def same(left, right):
    kind = BITS[left.element_size()]
    return torch.equal(left.contiguous().view(kind), right.contiguous().view(kind))


def interpreted() -> None:
    assert triton.knobs.runtime.interpret, "the kernel would be compiled"
    rng = np.random.default_rng(0)
    for (width, words), kind, rows in product(SHAPES, KINDS, (None, [2, 0], [1, 1], [])):
        n_masks = 2 if rows is None else len(rows)
        masks = rng.integers(-(2**31), 2**31, (n_masks, words)).astype(np.int32)
        masks[:, ::5], masks[:, 3::5] = -1, 0
        spread = torch.full((n_masks, 2 * words), -1, dtype=torch.int32)[:, ::2]  # words that do not lie side by side
        spread.copy_(torch.from_numpy(masks))
        logits = scores(rng, 2 if rows is None else 3, width, kind)
        wanted = by_definition(logits, masks, rows)
        core = logits.clone()
        apply_mask(core, masks, rows)
        assert same(core, wanted), ("core", width, kind, rows)
        index = None if rows is None else torch.tensor(rows, dtype=torch.int64)
        wider = torch.full((len(logits) + 2, width + 7), FILLING, dtype=kind)
        for place in (logits.clone(), logits.t().contiguous().t(), wider[1:-1, 3:-4]):
            for mask in (torch.from_numpy(masks), spread):
                place.copy_(logits)
                launch(place, mask, index)
                assert same(place, wanted), ("kernel", width, kind, rows, place.stride(), mask.stride())
        wider[1:-1, 3:-4] = FILLING
        assert (wider == FILLING).all(), "something beside the scores was written"


def compiled() -> None:
    assert not triton.knobs.runtime.interpret
    numbers = dict.fromkeys(("width", "words", "row_stride", "token_stride", "mask_stride", "word_stride"), "i32")
    for kind, has_rows, capability in product(KINDS.values(), (False, True), (75, 90)):
        pointers = {"logits": f"*{kind}", "mask": "*i32", "rows": "*i64" if has_rows else "*i32"}
        signature = {**pointers, **numbers, "HAS_ROWS": "constexpr", "SIZE": "constexpr"}
        source = ASTSource(_fill, signature, {"HAS_ROWS": has_rows, "SIZE": BLOCK})
        kernel = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        assert kernel.asm["cubin"]
        stored = {"fp16": "b16", "bf16": "b16", "fp32": "b32", "fp64": "b64"}[kind]
        assert f"st.global.{stored}" in kernel.asm["ptx"]


if __name__ == "__main__":
    {"interpreted": interpreted, "compiled": compiled}[sys.argv[1]]()
