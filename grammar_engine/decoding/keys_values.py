"""Keys and values of a torch module: cut by position, copied into payloads, and put together again.

    past         [(keys, values) of each layer]      each (1, heads, positions, dim), on the device of the model
      | cut                                            copies of some positions, in blocks
    payloads     [stack, stack ...]                  each (tensors alike, 1, heads, positions, dim)
      | joined
    past

Where all are alike and in CPU memory, as with most models there, one call of C cuts all blocks; else operations of numpy or torch do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from .._native import cut_positions, know_arrays

know_arrays(np.ndarray)
_bytes_of = attrgetter("nbytes")
_LENGTH_AXIS = 2  # of keys and values
_STACKED_LENGTH_AXIS = _LENGTH_AXIS + 1
_AT_ONCE = 32  # blocks of tensors that are cut together: so many are held twice for a moment


class Payload(list[Any]):
    """The keys and values of some positions, of all layers: key, value, key, value ...

    Tensors of the same kind are stacked: (n, 1, heads, positions, dim). So of most models it is a single one, and to make it is a single copy
    instead of one for each layer. Those in CPU memory are arrays of numpy. It shares no memory, so it holds no more than it says.

    Attributes
    ----------
    nbytes : int
        Bytes of all of them.
    """

    __slots__ = ("nbytes",)

    def __init__(self, stacks: Iterable[Any]):
        super().__init__(stacks)
        self.nbytes = sum(map(_bytes_of, self))

    @property
    def positions(self) -> int:
        """Of how many positions they are."""
        return int(self[0].shape[_STACKED_LENGTH_AXIS])


class KeysValues:
    """Those of the text that a session has passed, as it was then: a later pass makes new tensors, or writes behind these positions.

    Raises
    ------
    TypeError
        The model keeps none of each position.
    """

    def __init__(self, past: Any, length: int):
        self._layers = _layers(past)
        self._length = length
        first: Any = self._layers[0][0] if self._layers else None
        if getattr(first, "shape", None) is None or first.shape[_LENGTH_AXIS] != length:
            raise TypeError("the model keeps no keys and values of each position")

    @property
    def in_cpu_memory(self) -> bool:
        """Whether all of them are, as tensors of torch."""
        return all(getattr(tensor, "is_cpu", False) for layer in self._layers for tensor in layer)

    def cut(self, start: int, stop: int, size: int) -> list[Payload]:
        """Copies of those of the positions start .. stop - 1, in blocks of `size`; the last one may be shorter.

        Raises
        ------
        TypeError
            The model keeps none of each position in some layer.
        ValueError
            They are not there.
        """
        if not 0 <= start < stop <= self._length:
            raise ValueError(f"positions {start} to {stop} are not among the {self._length} that were passed")
        if blocks := _cut_arrays(self._layers, self._length, start, stop, size):
            return blocks
        import torch

        groups = _alike(self._layers, self._length)
        with torch.inference_mode() if torch.is_tensor(groups[0][0]) else nullcontext():
            return [Payload(stacks) for stacks in zip(*(_cut(group, start, stop, size) for group in groups))]


def joined(payloads: Sequence[Payload]) -> list[tuple[Any, Any]]:
    """The keys and values of each layer, of the positions of all payloads one after the other."""
    tensors = [tensor for stacks in zip(*payloads) for tensor in _joined(stacks)]
    return list(zip(tensors[::2], tensors[1::2]))


def cut_past(past: Any, held: int, length: int) -> tuple[Any, int]:
    """The keys and values of the first `length` of `held` positions, or none where they cannot be had; and of how many positions they are."""
    if past is None or not length:
        return None, 0
    if length == held:
        return past, length
    if isinstance(past, (list, tuple)):
        return [(keys[:, :, :length], values[:, :, :length]) for keys, values in past], length
    try:
        past.crop(length - held)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        return None, 0
    return (past, length) if _lengths(past) == {length} else (None, 0)


def _lengths(past: Any) -> set[int | None]:
    """Of how many positions the layers are; None stands for one that is no row of positions."""
    return {tensor.shape[_LENGTH_AXIS] if hasattr(tensor, "shape") else None for layer in _layers(past) for tensor in layer}


def _layers(past: Any) -> list[tuple[Any, Any]]:
    if isinstance(past, (list, tuple)):
        return list(past)
    return [(getattr(layer, "keys", None), getattr(layer, "values", None)) for layer in getattr(past, "layers", ())]


def _cut_arrays(layers: list[tuple[Any, Any]], length: int, start: int, stop: int, size: int) -> list[Payload]:
    """What `cut` returns, where all keys and values are alike and numpy can have them; else []."""
    try:
        arrays = [tensor.numpy() for layer in layers for tensor in layer]
        batch, heads, held, dim = shape = arrays[0].shape
    except (AttributeError, IndexError, TypeError, RuntimeError, ValueError):
        return []
    kind = arrays[0].dtype
    if held != length or not all(array.shape == shape and array.dtype == kind for array in arrays):
        return []
    blocks = [np.empty((len(arrays), batch, heads, min(size, stop - first), dim), kind) for first in range(start, stop, size)]
    return [Payload((block,)) for block in blocks] if cut_positions(arrays, blocks, start) else []


def _alike(layers: list[tuple[Any, Any]], length: int) -> list[list[Any]]:
    """Keys and values in their order, those beside each other that can be stacked together. TypeError: they are not of so many positions.

    As arrays of numpy over the same memory where there can be any: to cut them takes a third of the time.
    """
    members = [tensor for layer in layers for tensor in layer]
    with suppress(AttributeError, TypeError, RuntimeError):
        members = [tensor.numpy() for tensor in members]
    kinds = [(getattr(member, "shape", None), getattr(member, "dtype", None), getattr(member, "device", None)) for member in members]
    groups = [members]
    if kinds and kinds.count(kinds[0]) != len(kinds):
        groups = [[member for _, member in group] for _, group in groupby(zip(kinds, members), itemgetter(0))]
    if not kinds or any(getattr(group[0], "shape", None) is None or group[0].shape[_LENGTH_AXIS] != length for group in groups):
        raise TypeError("the model keeps no keys and values of each position")
    return groups


def _cut(group: list[Any], start: int, stop: int, size: int) -> Iterator[Any]:
    """Copies of some positions of all tensors or arrays of a group, stacked, in blocks."""
    for first in range(start, stop, _AT_ONCE * size):  # stacked together, and then cut: a few operations for many blocks
        length = min(_AT_ONCE * size, stop - first)
        parts = [member[:, :, first : first + length] for member in group]
        if isinstance(parts[0], np.ndarray):
            stack = np.array(parts)
            copies = (stack[:, :, :, at : at + size].copy() for at in range(0, length, size))
        else:
            import torch

            stack = torch.stack(parts)
            copies = (stack[:, :, :, at : at + size].clone() for at in range(0, length, size))
        yield from (stack,) if length <= size else copies


def _joined(stacks: Sequence[Any]) -> Any:
    """The tensors whose positions the stacks have one after the other, stacked."""
    import torch

    if isinstance(stacks[0], np.ndarray):
        return torch.from_numpy(np.concatenate(stacks, axis=_STACKED_LENGTH_AXIS))
    return torch.cat(list(stacks), dim=_STACKED_LENGTH_AXIS)
