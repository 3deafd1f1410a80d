"""Mask buffers: what memory a mask may be written to, and how it is checked.

A mask is one row of `ceil(width / 32)` 32-bit words; bit `t % 32` of word `t // 32` is set if token `t` is allowed. That is the
layout which serving engines share: int32, shape (rows, words), C order, in CPU memory. Ids beyond the vocabulary are never set.

A buffer is checked anew in each call and nothing of it is kept: arrays are resized, reshaped and frozen in place, and a reference or an
export that outlived the call would keep their owner from that. So for the common kinds the check is as short as it can be while it is exact
(`csrc/python/masks.c` has that of numpy's arrays once more): whatever the request for the memory refuses by itself is looked at only then,
to say why. Who lends a buffer for longer, as a `MaskBuffer`, is spared the checks.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from ._native import Held, ffi, know_arrays
from .checks import as_int, check_choice, check_count
from .vocabulary import Vocabulary

_WORDS, _POINTER = ffi.typeof("uint32_t[]"), ffi.typeof("uint32_t *")
_WORD_FORMATS = {"i", "I", "<i", "<I", "=i", "=I"}
_BYTE_FORMATS = {"B", "b", "c", "<B", "<b"}
_from_buffer, _cast, _typeof = ffi.from_buffer, ffi.cast, ffi.typeof

_Reader = Callable[[Any, int], tuple[Any, int]]  # as `rows_of`


def words_of(vocabulary: Vocabulary) -> int:
    """Number of 32-bit words in one mask."""
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"a vocabulary is a Vocabulary, not {type(vocabulary).__name__}")
    return (vocabulary._width + 31) // 32


def allocate_masks(rows: int, vocabulary: Vocabulary, kind: str | None = None) -> Any:
    """Allocate a buffer for `fill_mask` and `fill_masks`, all bits set.

    Parameters
    ----------
    rows : int
        Number of masks; at least 1.
    vocabulary : Vocabulary
    kind : {"numpy", "torch", "memoryview"}, optional
        Default: "numpy" where it is installed, else "memoryview".

    Returns
    -------
    numpy.ndarray, torch.Tensor or memoryview
        int32, shape (rows, ceil(width / 32)).
    """
    shape = check_count("rows", rows), words_of(vocabulary)
    if kind is None:
        kind = "numpy" if find_spec("numpy") else "memoryview"
    check_choice("kind", kind, ("numpy", "torch", "memoryview"))
    if kind == "numpy":
        import numpy as np

        return np.full(shape, -1, dtype=np.int32)
    if kind == "torch":
        import torch

        return torch.full(shape, -1, dtype=torch.int32)
    return memoryview(bytearray(b"\xff" * (4 * shape[0] * shape[1]))).cast("B").cast("i", shape)


class MaskBuffer(Held):
    """A mask buffer that is checked once and held, for loops: a call takes less time with it than with the buffer itself.

    Parameters
    ----------
    buffer : numpy array, torch CPU tensor, array, bytearray or memoryview
        As for `Matcher.fill_mask`. As long as this object lives, what would move its memory raises (but for numpy's
        `resize(refcheck=False)`); a tensor that has other memory nevertheless (`share_memory_`, `set_`) is refused.
    vocabulary : Vocabulary

    Attributes
    ----------
    buffer : object
        What was given.

    Raises
    ------
    TypeError, ValueError
        The buffer does not fit.

    Notes
    -----
    At V = 131,072 `fill_mask` of a kept mask takes some 0.15 us, with an array of numpy as well, and 0.7 with another buffer or the
    MaskBuffer of a tensor, which is asked for its address each time.

    Examples
    --------
    >>> from grammar_engine import Grammar, Matcher, Vocabulary
    >>> vocabulary = Vocabulary.bytes()
    >>> masks = MaskBuffer(allocate_masks(1, vocabulary), vocabulary)
    >>> Matcher(Grammar.from_regex("[a-f]"), vocabulary).fill_mask(masks)
    True
    """

    __slots__ = ("_fixed_words", "_rows", "_tensor", "_words", "buffer")

    def __init__(self, buffer: Any, vocabulary: Vocabulary):
        if isinstance(buffer, MaskBuffer):
            raise TypeError("a MaskBuffer is made of a buffer, not of another MaskBuffer")
        words = words_of(vocabulary)
        memory, rows = rows_of(buffer, words)
        check_alignment(memory)
        tensor = view = None
        if _typeof(memory) is _POINTER:  # which holds nothing: a memoryview's or a tensor's
            tensor = None if type(buffer) is memoryview else buffer.detach()  # keeps the memory, whatever the other will have
            view = memoryview(buffer if tensor is None else buffer.numpy())  # an array that is exported keeps it where it is
        self._hold(memory, words, rows if tensor is None else 0, view)
        self._tensor = tensor
        self._rows, self.buffer = rows, buffer
        self._words, self._fixed_words = words, words if tensor is None else -1  # a tensor's memory is looked at again

    @property
    def rows(self) -> int:
        """Number of masks."""
        return self._rows

    def __reduce__(self) -> Any:
        raise TypeError("a MaskBuffer cannot be pickled: it holds memory of this process; send its `buffer`")

    def __repr__(self) -> str:
        return f"MaskBuffer(rows={self._rows}, words={self._words})"


def rows_of(buffer: Any, words: int) -> tuple[Any, int]:
    """The words of a mask buffer as the core takes them, and its number of rows.

    Parameters
    ----------
    buffer : object
        Writable, contiguous: 32-bit integers of shape (rows, words) or (words,), or bytes whose number is a multiple of 4 * words.
    words : int
        Words of one mask.

    Raises
    ------
    TypeError
        Not a buffer, or not of 32-bit integers (or bytes).
    ValueError
        Read-only, not contiguous, or of another width.
    """
    return (_READERS.get(type(buffer)) or _reader_of(type(buffer)))(buffer, words)


def check_alignment(memory: Any) -> None:
    """Raise ValueError for memory that is not aligned to words. In calls of a single `Matcher` the core checks this itself."""
    if int(_cast("uintptr_t", memory)) % 4:
        raise ValueError("the mask buffer is not aligned to 4 bytes")


def _rows_of_view(buffer: Any, words: int) -> tuple[Any, int]:
    """Of whatever has the buffer protocol."""
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(f"a mask buffer is a numpy array, a CPU torch tensor, or a writable buffer, not {type(buffer).__name__}") from None
    shape = view.shape or ()
    if len(shape) != 2 or shape[1] != words or not shape[0] or view.format not in _WORD_FORMATS or view.readonly or not view.c_contiguous:
        _check_view(view, words)
    return _words_at(buffer), view.nbytes // (4 * words)


def _rows_of_bytearray(buffer: bytearray, words: int) -> tuple[Any, int]:
    rows, rest = divmod(len(buffer), 4 * words)
    if rest or not rows:
        _check_view(memoryview(buffer), words)
    return _from_buffer(_WORDS, buffer), rows


def _rows_of_array(buffer: array[Any], words: int) -> tuple[Any, int]:
    """Of a row of integers; what else an array may be is told by its view."""
    if len(buffer) != words or buffer.typecode not in _WORD_FORMATS:
        return _rows_of_view(buffer, words)
    return _from_buffer(_WORDS, buffer), 1


def _rows_of_held(buffer: MaskBuffer, words: int) -> tuple[Any, int]:
    if buffer._words != words:
        raise ValueError(f"the masks of this MaskBuffer have {buffer._words} words, not {words}: it is for another vocabulary")
    if buffer._tensor is not None and buffer.buffer.data_ptr() != int(_cast("uintptr_t", buffer._handle)):
        raise ValueError("this MaskBuffer's tensor has other memory than it had (share_memory_ and set_ do that): make another one")
    return buffer._handle, buffer._rows


def _words_at(buffer: Any) -> Any:
    """The memory of a buffer, held by the result; that of a memoryview is held by itself.

    Never `from_buffer` of a memoryview that outlives this call: if an exception makes both garbage in one cycle, the collector clears the
    memoryview first and CPython crashes when cffi then gives it back.
    """
    words = _from_buffer(_WORDS, buffer)
    return _cast(_POINTER, words) if type(buffer) is memoryview else words


def _check_view(view: memoryview, words: int) -> None:
    """Raise unless the view is one of rows of words, or of their bytes."""
    if view.readonly:
        raise ValueError("the mask buffer is read-only")
    if not view.c_contiguous:
        raise ValueError("the mask buffer is not contiguous (C order)")
    if view.itemsize == 4 and view.format in _WORD_FORMATS:
        _check_shape(view.shape or (0,), words)
    elif view.itemsize != 1 or view.format not in _BYTE_FORMATS or view.ndim != 1:
        raise TypeError(f"a mask buffer holds 32-bit integers (or plain bytes), not items of format {view.format!r}")
    elif view.nbytes == 0 or view.nbytes % (4 * words):
        raise ValueError(f"a mask row is {4 * words} bytes ({words} words) wide: {view.nbytes} bytes are no number of rows")


_READERS: dict[type, _Reader] = {  # and what _reader_of adds
    MaskBuffer: _rows_of_held,
    bytearray: _rows_of_bytearray,
    array: _rows_of_array,
    memoryview: _rows_of_view,
}


def _reader_of(kind: type) -> _Reader:
    """The reader of a kind of buffer that was not met before. Neither numpy nor torch is imported for it."""
    if issubclass(kind, MaskBuffer):
        return _rows_of_held
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    ndarray, tensor = getattr(numpy, "ndarray", None), getattr(torch, "Tensor", None)  # None: or another thread is importing them
    if tensor is not None and issubclass(kind, tensor):
        reader = _tensor_reader(torch)
        if kind is tensor:
            _READERS[kind] = reader
        return reader
    if numpy is not None and kind is ndarray:
        know_arrays(kind)
        return _READERS.setdefault(kind, _array_reader(numpy.dtype("int32")))
    return _rows_of_view


def _array_reader(int32: Any) -> _Reader:
    def rows_of_array(buffer: Any, words: int) -> tuple[Any, int]:
        shape = buffer.shape
        if buffer.dtype is int32 and len(shape) == 2 and shape[1] == words and shape[0]:
            try:
                return _from_buffer(_WORDS, buffer, True), shape[0]
            except (BufferError, ValueError):
                pass  # read-only, or not contiguous
        return _rows_of_view(buffer, words)

    return rows_of_array


def _tensor_reader(torch: Any) -> _Reader:
    int32, strided = torch.int32, torch.strided

    def rows_of_tensor(buffer: Any, words: int) -> tuple[Any, int]:
        if buffer.dtype is not int32:
            raise TypeError(f"a mask tensor is int32, not {buffer.dtype}")
        if not buffer.is_cpu:
            raise ValueError(f"a mask tensor lies in CPU memory, not on {buffer.device}")
        if buffer.layout is not strided or not buffer.is_contiguous() or buffer.is_neg():
            raise ValueError("the mask tensor is not contiguous, or a negated view")
        shape = buffer.shape
        if len(shape) != 2 or shape[1] != words or not shape[0]:
            _check_shape(tuple(shape) or (0,), words)
        return _cast(_POINTER, buffer.data_ptr()), buffer.numel() // words

    return rows_of_tensor


def _check_shape(shape: tuple[int, ...], words: int) -> None:
    if len(shape) > 2 or shape[-1] != words or 0 in shape:
        raise ValueError(f"a mask buffer has the shape (rows, {words}), not {shape}")


def check_row(row: Any, rows: int) -> int:
    """A row as an int; IndexError if the buffer does not have it."""
    index = as_int("a row", row)
    if not 0 <= index < rows:
        raise IndexError(f"row {index} of a mask buffer with {rows} rows")
    return index
