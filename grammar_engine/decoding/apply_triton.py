"""The kernel of `apply_mask` for CUDA: packed bits are unpacked where the scores are.

    program (i, j): tokens [BLOCK * j, BLOCK * (j + 1)) of the row that mask i is for

No score is read. A program reads BLOCK / 32 words, each by 32 neighbouring lanes, and writes -inf where a bit is not set: so the cost is
that of the writes, at most the row once, and V / 8 bytes of the mask.

Imported only where Triton is installed.
"""

# ruff: noqa: ANN001, ANN202, N803
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

BLOCK = 4096  # tokens


@triton.jit
def _fill(logits, mask, rows, width, words, row_stride, token_stride, mask_stride, word_stride, HAS_ROWS: tl.constexpr, SIZE: tl.constexpr):
    index = tl.program_id(0).to(tl.int64)
    row = index
    if HAS_ROWS:
        row = tl.load(rows + index).to(tl.int64)
    token = tl.program_id(1).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    word = token // 32
    bits = tl.load(mask + index * mask_stride + word * word_stride, mask=word < words, other=0)  # beyond the mask nothing is allowed
    refused = ((bits >> (token % 32).to(tl.int32)) & 1) == 0
    tl.store(logits + row * row_stride + token * token_stride, float("-inf"), mask=refused & (token < width))


def launch(logits: Any, mask: Any, rows: Any | None) -> None:
    """Start the kernel.

    Parameters
    ----------
    logits : torch.Tensor
        Floating, shape (rows, V), on CUDA; any strides.
    mask : torch.Tensor
        int32, shape (n, words), on the same device.
    rows : torch.Tensor or None
        Shape (n,), on the same device; None: the rows in order.
    """
    import torch

    n_masks, words = mask.shape
    if not n_masks:
        return
    with torch.cuda.device_of(logits):  # Triton launches on the current one
        _fill[(n_masks, triton.cdiv(logits.shape[1], BLOCK))](
            logits,
            mask,
            mask if rows is None else rows,  # not read then
            logits.shape[1],
            words,
            *logits.stride(),
            *mask.stride(),
            HAS_ROWS=rows is not None,
            SIZE=BLOCK,
        )
