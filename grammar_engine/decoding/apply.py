"""Apply masks to scores: -inf for every token that may not come next, in place.

Idea. In CPU memory the scores are seen as integers of their size, so one code serves every floating type, of numpy and of torch (whose CPU
tensors share their memory with arrays), and what is allowed keeps its exact bits. Masks are of three kinds, and each row is treated by its own:

    nearly nothing allowed   keep those few scores, fill the row, put them back         structure: brackets, keys
    nearly all allowed       write -inf to the few others                               free text
    between                  look each byte of the mask up in a table of 8 lanes,       the rest
                             scores & keep | fill

On other devices the packed bits travel (V / 8 bytes a row) and are unpacked there: by a Triton kernel on CUDA where Triton is installed, else by
torch operations.

Cost at V = 131,072, float32, one core: 20 to 90 us a row; bench/decoding/apply.py measures it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_FEW_WORDS = 256  # with bits to be looked at one by one; beyond that the table is faster

_PATTERNS = {  # of -inf, as an integer of the same size
    "float16": np.int16(-0x0400),
    "bfloat16": np.int16(-0x0080),
    "float32": np.int32(-0x0080_0000),
    "float64": np.int64(-0x0010_0000_0000_0000),
}


def apply_mask(logits: Any, mask: Any, rows: Iterable[int] | None = None) -> None:
    """Set the scores of all tokens that a mask does not allow to -inf, in place.

    Parameters
    ----------
    logits : numpy.ndarray or torch.Tensor
        float32, float16, bfloat16 or float64, shape (V,) or (rows, V), on any device, with any strides. Scores beyond the mask (models pad their
        output) become -inf too.
    mask : numpy.ndarray, torch.Tensor, or bytes-like
        int32, shape (words,) or (n, words) with words at most ceil(V / 32), or the bytes of such; bit t % 32 of word t // 32 is set if token t
        is allowed. It is moved to the device of the logits if it is not there.
    rows : iterable of int, optional
        The rows of `logits` that the rows of `mask` are for; other rows stay as they are. Default: all, in order.

    Raises
    ------
    TypeError
        One is no array of the right type.
    ValueError
        Shapes do not fit, a row does not exist, or the logits cannot be written to.

    Notes
    -----
    A mask that was moved to a GPU beforehand (without waiting, from pinned memory) saves the wait here.
    """
    torch: Any = sys.modules.get("torch")
    is_tensor = torch is not None and isinstance(logits, torch.Tensor)
    if not is_tensor and not isinstance(logits, np.ndarray):
        raise TypeError(f"logits are a numpy array or a torch tensor, not {type(logits).__name__}")
    kind = str(logits.dtype).removeprefix("torch.")
    if kind not in _PATTERNS:
        raise TypeError(f"logits are float32, float16, bfloat16 or float64, not {kind}")
    if logits.ndim not in (1, 2) or not logits.shape[-1]:
        raise ValueError(f"logits have the shape (V,) or (rows, V), not {tuple(logits.shape)}")
    if is_tensor and (logits.device.type != "cpu" or (logits.requires_grad and torch.is_grad_enabled())):
        mask = _mask_tensor(mask, torch)
        chosen = _rows_of(tuple(logits.shape), tuple(mask.shape), rows)
        _apply_on_device(torch, logits.unsqueeze(0) if logits.ndim == 1 else logits, mask.to(logits.device), chosen)
        return
    mask = _mask_array(mask, torch)
    chosen = _rows_of(logits.shape, mask.shape, rows)
    lanes = _integers(torch, logits, _PATTERNS[kind]) if is_tensor else logits.view(np.ndarray).view(_PATTERNS[kind].dtype)
    if not lanes.flags.writeable:
        raise ValueError("the logits are read-only")
    lanes = lanes[np.newaxis] if lanes.ndim == 1 else lanes
    mask = mask[np.newaxis] if mask.ndim == 1 else mask
    for row, words in zip(range(len(lanes)) if chosen is None else chosen, mask):
        _apply_row(lanes[row], words, _PATTERNS[kind])


# --- checks ---------------------------------------------------------------------------------------------------------


def _rows_of(logits: tuple[int, ...], mask: tuple[int, ...], rows: Iterable[int] | None) -> list[int] | None:
    """The rows of the logits, for each row of the mask; None: all in order. Raises if the shapes do not fit."""
    if len(mask) not in (1, 2):
        raise ValueError(f"a mask has the shape (words,) or (rows, words), not {mask}")
    width, words = logits[-1], mask[-1]
    if not 0 < words <= (width + 31) // 32:
        raise ValueError(f"a mask of {words} words is for {32 * words} tokens, and there are scores of {width}")
    n_logits, n_masks = (shape[0] if len(shape) == 2 else 1 for shape in (logits, mask))
    if rows is None:
        if n_masks != n_logits:
            raise ValueError(f"there are {n_masks} masks for {n_logits} rows of logits: say which with `rows`")
        return None
    chosen = [_row(row, n_logits) for row in rows]
    if len(chosen) != n_masks:
        raise ValueError(f"there are {n_masks} masks for the {len(chosen)} rows that are named")
    return chosen


def _row(row: Any, n_rows: int) -> int:
    if isinstance(row, bool) or not hasattr(row, "__index__"):
        raise TypeError(f"a row is an int, not {type(row).__name__}")
    index = int(row.__index__())
    if not 0 <= index < n_rows:
        raise ValueError(f"row {index} of logits with {n_rows} rows")
    return index


def _mask_array(mask: Any, torch: Any) -> NDArray[np.int32]:
    """A mask in CPU memory."""
    if torch is not None and isinstance(mask, torch.Tensor):
        _check_words(str(mask.dtype).removeprefix("torch."))
        mask = mask.detach().cpu().numpy()
    elif not isinstance(mask, np.ndarray):
        mask = _of_bytes(mask)
    _check_words(str(mask.dtype))
    words: NDArray[np.int32] = np.ascontiguousarray(mask).view(np.int32)
    return words


def _mask_tensor(mask: Any, torch: Any) -> Any:
    """A mask as a tensor, wherever it is."""
    if not isinstance(mask, torch.Tensor):
        words = _mask_array(mask, torch)
        return torch.from_numpy(words if words.flags.writeable else words.copy())
    _check_words(str(mask.dtype).removeprefix("torch."))
    return mask.view(torch.int32)


def _of_bytes(mask: Any) -> NDArray[np.int32]:
    """A mask that is neither an array nor a tensor: `bytes` of `Matcher.mask`, or a memoryview of `allocate_masks`."""
    try:
        view = memoryview(mask)
    except TypeError:
        raise TypeError(f"a mask is a numpy array, a torch tensor or bytes, not {type(mask).__name__}") from None
    if view.itemsize == 1 and view.nbytes % 4 == 0 and view.contiguous:
        return np.frombuffer(view, dtype=np.int32)
    return np.asarray(view)


def _check_words(kind: str) -> None:
    if kind not in ("int32", "uint32"):
        raise TypeError(f"a mask is int32, not {kind}")


# --- in CPU memory --------------------------------------------------------------------------------------------------


class _Table(NamedTuple):
    """For each byte of a mask, 8 integers: all ones for the scores that stay; the bits of -inf for the others."""

    keep: NDArray[Any]
    fill: NDArray[Any]


@cache
def _table(pattern: Any) -> _Table:
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little").astype(pattern.dtype)
    return _Table(-bits, (1 - bits) * pattern)


def _integers(torch: Any, logits: Any, pattern: Any) -> NDArray[Any]:
    """A tensor in CPU memory as an array of integers that shares it."""
    lanes: NDArray[Any] = logits.detach().view(getattr(torch, pattern.dtype.name)).numpy()
    return lanes


def _apply_row(lanes: NDArray[Any], words: NDArray[np.int32], pattern: Any) -> None:
    """One row of scores, as integers, under one mask."""
    width = 32 * len(words)
    lanes[width:] = pattern
    lanes = lanes[:width]  # may be shorter: the last bits of the mask are for no token then
    if np.count_nonzero(words) <= _FEW_WORDS:
        allowed = _set_bits(words, np.flatnonzero(words), len(lanes))
        kept = lanes[allowed]
        lanes.fill(pattern)
        lanes[allowed] = kept
        return
    refused = ~words
    if np.count_nonzero(refused) <= _FEW_WORDS:
        lanes[_set_bits(refused, np.flatnonzero(refused), len(lanes))] = pattern
        return
    table, in_bytes = _table(pattern), words.view(np.uint8)
    lookup = table.keep.take(in_bytes, axis=0)
    flat = lookup.reshape(-1)[: len(lanes)]
    lanes &= flat
    table.fill.take(in_bytes, axis=0, out=lookup, mode="clip")  # "raise" would go by way of a copy
    lanes |= flat


def _set_bits(words: NDArray[np.int32], where: NDArray[np.intp], width: int) -> NDArray[np.intp]:
    """The bits below `width` that are set in the words at `where`, ascending; others have none that count."""
    bits = np.flatnonzero(np.unpackbits(words[where].view(np.uint8), bitorder="little"))
    ids: NDArray[np.intp] = (where[bits >> 5] << 5) | (bits & 31)
    return ids[: np.searchsorted(ids, width)]


# --- on other devices -----------------------------------------------------------------------------------------------


def _apply_on_device(torch: Any, logits: Any, mask: Any, rows: list[int] | None) -> None:
    """`logits` (rows, V) and the mask lie on the same device."""
    mask = mask.unsqueeze(0) if mask.ndim == 1 else mask
    index = None if rows is None else torch.tensor(rows, device=logits.device)
    if logits.device.type == "cuda" and _has_triton() and not logits.requires_grad:
        from .apply_triton import launch

        launch(logits, mask, index)
        return
    shifts = torch.arange(8, dtype=torch.uint8, device=logits.device)
    in_bytes = mask.contiguous().view(torch.uint8)
    refused = torch.ones((len(mask), logits.shape[1]), dtype=torch.bool, device=logits.device)
    bits = ((in_bytes.unsqueeze(-1) >> shifts) & 1).flatten(1)[:, : logits.shape[1]]
    refused[:, : bits.shape[1]] = bits == 0
    if index is None:
        logits.masked_fill_(refused, float("-inf"))
    else:
        for row, one in zip(index, refused):  # in turn: a row may be named twice
            logits[row].masked_fill_(one, float("-inf"))


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None
