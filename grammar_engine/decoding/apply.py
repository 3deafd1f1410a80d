"""Apply masks to scores: -inf for every token that may not come next, in place.

    scores                                                         done by
    CPU memory, those of a row side by side, numpy or torch        the core, by address (csrc/match/ap.c)
    the same, one float32 row, for a loop that draws from it       the core gathers the scores of the allowed tokens, where these are few
    CPU memory, other numpy arrays                                 numpy, which unpacks the bits
    CUDA where Triton is installed                                 a Triton kernel, to which the packed bits travel (V / 8 bytes a row)
    other tensors: other devices, strides, with a gradient         torch operations

What is allowed keeps its exact bits. Cost at V = 131,072, float32, one core:
4 to 40 us a row and 10 us a call; docs/decoding.md has the figures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import Held, fast_row_mask, ffi, know_arrays, lib
from ..checks import as_int, check_iterable
from ..mask import MaskBuffer

_FLOAT32, _INT32 = np.dtype(np.float32), np.dtype(np.int32)
_FEW = 1024  # tokens whose scores are gathered
know_arrays(np.ndarray)
_KINDS = {"float16": lib.GE_FLOAT16, "bfloat16": lib.GE_BFLOAT16, "float32": lib.GE_FLOAT32, "float64": lib.GE_FLOAT64}


def apply_mask(logits: Any, mask: Any, rows: Iterable[int] | None = None) -> None:
    """Set the scores of all tokens that a mask does not allow to -inf, in place.

    Parameters
    ----------
    logits : numpy.ndarray or torch.Tensor
        float32, float16, bfloat16 or float64, shape (V,) or (rows, V), on any device,
        with any strides. Scores beyond the mask (models pad their output) become -inf too.
    mask : numpy.ndarray, torch.Tensor, bytes-like, or MaskBuffer
        int32, shape (words,) or (n, words) with words at most ceil(V / 32), or the bytes of such; bit t % 32 of word t // 32 is set if
        token t is allowed. It is moved to the device of the logits if it is not there.
    rows : iterable of int, optional
        The rows of `logits` that the rows of `mask` are for; other rows stay as they are. Default: all, in order.

    Raises
    ------
    TypeError
        One is no array of the right type, or a sparse tensor.
    ValueError
        Shapes do not fit, a row does not exist, or the logits cannot be written to: they are read-only, a leaf of which torch is to compute
        a gradient, or a view in which scores may share memory, as in an expanded tensor.

    Notes
    -----
    A mask that was moved to a GPU beforehand (without waiting, from pinned memory) saves the wait here.
    """
    if rows is None and _is_plain(logits, _FLOAT32) and _is_plain(mask, _INT32) and 0 < len(mask) <= (len(logits) + 31) // 32:
        lib.ge_row_apply(ffi.from_buffer("float[]", logits), len(logits), _words(mask), len(mask))
        return
    torch: Any = sys.modules.get("torch")
    if isinstance(mask, MaskBuffer):
        mask = _of_held(mask, torch)
    is_tensor = _is_tensor(logits, torch)
    if not is_tensor and not isinstance(logits, np.ndarray):
        raise TypeError(f"logits are a numpy array or a torch tensor, not {type(logits).__name__}")
    kind = _name(logits.dtype)
    if kind not in _KINDS:
        raise TypeError(f"logits are float32, float16, bfloat16 or float64, not {kind}")
    if logits.ndim not in (1, 2) or not logits.shape[-1]:
        raise ValueError(f"logits have the shape (V,) or (rows, V), not {tuple(logits.shape)}")
    if is_tensor:
        _check_tensor(logits, torch)
    elif not logits.flags.writeable:
        raise ValueError("the logits are read-only")
    if len(logits):  # of no rows the strides are 0
        _check_apart(logits.shape, *((logits.stride(), 1) if is_tensor else (logits.strides, logits.itemsize)))
    reachable = not is_tensor or (logits.is_cpu and not (logits.requires_grad and torch.is_grad_enabled()))
    scores = _scores(logits, kind, is_tensor) if reachable else None
    if is_tensor and scores is None:
        mask = _mask_tensor(mask, torch)
        chosen = _rows_of(tuple(logits.shape), tuple(mask.shape), rows)
        _apply_by_torch(torch, logits.unsqueeze(0) if logits.ndim == 1 else logits, mask.to(logits.device), chosen)
        return
    mask = _mask_array(mask, torch)
    chosen = _rows_of(tuple(logits.shape), mask.shape, rows)
    if scores is None:
        _apply_by_numpy(np.atleast_2d(logits.view(np.ndarray)), np.atleast_2d(mask), chosen)
        return
    if is_tensor and not logits.is_inference():
        torch.autograd.graph.increment_version(logits)  # so that torch refuses a gradient that asks for what it was
    n_masks, n_words = mask.shape if mask.ndim == 2 else (1, len(mask))
    places = ffi.NULL if chosen is None else ffi.new("uint32_t[]", chosen)
    lib.ge_scores_apply(scores, ffi.from_buffer("uint32_t[]", mask), n_words, places, n_masks)


@fast_row_mask
class RowMask(Held):
    """A mask in CPU memory that is applied again and again, to one row of scores at a time.

    Parameters
    ----------
    words : numpy.ndarray
        int32, shape (words,), contiguous: what it holds when it is applied is what counts.
    """

    def __init__(self, words: NDArray[np.int32]):
        self._words = words
        self._tokens: NDArray[np.int32] = np.empty(_FEW, dtype=_INT32)
        self._scores: NDArray[np.float32] = np.empty(_FEW, dtype=_FLOAT32)
        self._memory = _words(words), ffi.from_buffer("float[]", self._scores), ffi.from_buffer("int32_t[]", self._tokens)
        mask, scores, tokens = self._memory  # which the struct does not keep
        beginnings: list[NDArray[np.float32] | None] = [None] * (_FEW + 1)  # of the scores, by their length, once they were asked for
        kept = self._tokens, self._scores, beginnings, self._memory
        self._hold(ffi.new("ge_gathered *", (mask, len(words), scores, tokens, _FEW)), 0, 0, kept)

    def masked(self, logits: Any) -> tuple[NDArray[np.int32] | None, NDArray[Any]]:
        """The tokens that are allowed, ascending, and their scores; both are overwritten by the next call.

        The array of tokens may be longer than that of scores: what stands behind as many as there are scores means nothing. Where many are
        allowed: None, and the logits themselves after `apply_mask(logits, words)`.
        """
        if _is_plain(logits, _FLOAT32) and len(self._words) <= (len(logits) + 31) // 32:
            n = lib.ge_row_gather(ffi.from_buffer("float[]", logits), len(logits), self._handle)
            if n <= _FEW:
                return self._tokens, self._scores[:n]
        apply_mask(logits, self._words)
        return None, logits


def _words(mask: NDArray[np.int32]) -> Any:
    return ffi.from_buffer("uint32_t[]", mask)


def _is_plain(array: Any, dtype: np.dtype[Any]) -> bool:
    """What a loop on the CPU has: one row, in order. It is spared the checks for everything else, which take longer than the row."""
    return type(array) is np.ndarray and array.ndim == 1 and array.dtype == dtype and bool(array.flags.carray)


def _scores(logits: Any, kind: str, is_tensor: bool) -> Any | None:
    """Scores in CPU memory as a `ge_scores`; None if those of a row do not lie side by side, or not aligned, or not as they are."""
    size = logits.itemsize
    strides = [size * stride for stride in logits.stride()] if is_tensor else logits.strides
    address = logits.data_ptr() if is_tensor else logits.ctypes.data
    row_stride = strides[0] if len(strides) == 2 else 0
    if strides[-1] != size or row_stride % size or address % size:
        return None
    if is_tensor and logits.is_neg():  # in memory its numbers have other signs
        return None
    return ffi.new("ge_scores *", (ffi.cast("void *", address), row_stride, logits.shape[-1], _KINDS[kind]))


# --- checks ---------------------------------------------------------------------------------------------------------


@cache  # numpy takes 3 us for it
def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


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
    check_iterable("rows", rows, "int")
    chosen = [_row(row, n_logits) for row in rows]
    if len(chosen) != n_masks:
        raise ValueError(f"there are {n_masks} masks for the {len(chosen)} rows that are named")
    return chosen


def _row(row: Any, n_rows: int) -> int:
    index = as_int("a row", row)
    if not 0 <= index < n_rows:
        raise ValueError(f"row {index} of logits with {n_rows} rows")
    return index


def _check_tensor(logits: Any, torch: Any) -> None:
    if logits.layout is not torch.strided:
        raise TypeError(f"logits are a dense tensor, not one with the layout {_name(logits.layout)}")
    if logits.requires_grad and logits.is_leaf and torch.is_grad_enabled():
        raise ValueError(
            "the logits are a leaf that needs a gradient, which torch does not let change: detach them, or call under torch.no_grad()"
        )


def _check_apart(shape: Sequence[int], strides: Sequence[int], size: int) -> None:
    """Raise unless each step of a dimension leaves the scores of the others behind; `size`: of a score, in the unit of the strides."""
    extent = size
    for stride, n in sorted((abs(stride), n) for stride, n in zip(strides, shape) if n > 1):
        if stride < extent:
            raise ValueError("scores of the logits may share memory, as those of expanded tensors do: clone them")
        extent += (n - 1) * stride


def _is_tensor(value: Any, torch: Any) -> bool:
    tensor = getattr(torch, "Tensor", None)  # None: torch is not there, or another thread is importing it
    return tensor is not None and isinstance(value, tensor)


def _mask_array(mask: Any, torch: Any) -> NDArray[np.int32]:
    """A mask in CPU memory, contiguous and aligned."""
    is_tensor = _is_tensor(mask, torch)
    if not is_tensor and not isinstance(mask, np.ndarray):
        mask = _of_bytes(mask)
    _check_words(mask)
    words: NDArray[np.int32] = np.ascontiguousarray(mask.numpy(force=True) if is_tensor else mask).view(np.int32)
    return words if words.flags.aligned else words.copy()


def _mask_tensor(mask: Any, torch: Any) -> Any:
    """A mask as a tensor, wherever it is."""
    if not isinstance(mask, torch.Tensor):
        words = _mask_array(mask, torch)
        return torch.from_numpy(words if words.flags.writeable else words.copy())
    _check_words(mask)
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


def _of_held(mask: MaskBuffer, torch: Any) -> Any:
    """What a MaskBuffer holds, as rows of words: a tensor as it is, anything else as an array."""
    if _is_tensor(mask.buffer, torch):
        return mask.buffer
    return np.frombuffer(mask.buffer, dtype=np.int32).reshape(mask.rows, -1)


def _check_words(mask: Any) -> None:
    if _name(mask.dtype) not in ("int32", "uint32"):
        raise TypeError(f"a mask is int32, not {_name(mask.dtype)}")


# --- where the core does not reach ----------------------------------------------------------------------------------


def _apply_by_numpy(logits: NDArray[Any], mask: NDArray[np.int32], rows: list[int] | None) -> None:
    """`logits` (rows, V) with any strides."""
    width = logits.shape[1]
    for row, words in zip(range(len(logits)) if rows is None else rows, mask):
        allowed = np.zeros(width, dtype=np.bool_)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[:width]
        allowed[: len(bits)] = bits
        logits[row, ~allowed] = -np.inf


def _apply_by_torch(torch: Any, logits: Any, mask: Any, rows: list[int] | None) -> None:
    """`logits` (rows, V) and the mask lie on the same device."""
    mask = mask.unsqueeze(0) if mask.ndim == 1 else mask
    if not len(mask):  # arrays of no rows have strides of 0 in numpy, which torch takes over and does not view as bytes
        return
    index = None if rows is None else torch.tensor(rows, device=logits.device)
    if logits.device.type == "cuda" and _has_triton() and not logits.requires_grad:
        from .apply_triton import launch

        launch(logits, mask, index)
        torch.autograd.graph.increment_version(logits)
        return
    shifts = torch.arange(8, dtype=torch.uint8, device=logits.device)
    mask = mask.contiguous()
    mask = mask.as_strided(mask.shape, (mask.shape[1], 1))  # of one word the stride may still be any, which a view does not take
    in_bytes = mask.view(torch.uint8)
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
