"""Keys and values of torch modules: cut, selected, taken apart into payloads, and put together again.

    past      of each layer (keys, values), each (texts, heads, columns, dim): a list of pairs, or a `Cache` of `transformers`
    Payload   the same of some positions of one text, as stacks that share no memory

A `Cache` may hold something else than keys and values of each position: a window that has slid, a recurrent state. What cannot be cut
exactly is dropped, and the pass made anew. So is a recurrent state where it would have to take in several tokens at once, drafts or forced
text: some modules begin it anew there, and say nothing.

Keys and values that travel, between sessions or between the rows of a batch, are those of all positions. So whoever has them begins with an
empty cache that keeps all (`all_kept`), also what slides out of a window, which the model's masks leave out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

_bytes_of = attrgetter("nbytes")
_LENGTH_AXIS = 2  # of keys and values
_STACKED_LENGTH_AXIS = _LENGTH_AXIS + 1
_AT_ONCE = 32  # blocks of tensors that are exported together: so many are held twice for a moment

# Layers of a `Cache` that have keys and values of each position, and nothing else.
_BY_POSITION = {"DynamicLayer", "DynamicSlidingWindowLayer"}

Layers = list[tuple[Any, Any]]


class Payload(list[Any]):
    """The keys and values of some positions, of all layers: key, value, key, value ...

    Tensors of the same kind are stacked: (n, 1, heads, positions, dim). So of most models it is a single one, and to make it is a single
    copy instead of one for each layer. Those in CPU memory are arrays of numpy. It shares no memory, so it holds no more than it says.
    """

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(map(_bytes_of, self))

    @property
    def positions(self) -> int:
        """Of how many positions they are."""
        return int(self[0].shape[_STACKED_LENGTH_AXIS])


# --- what a module takes --------------------------------------------------------------------------------------------


_forms: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # to find out takes up to a millisecond


def form_of(module: Any) -> str:
    """In which form a module takes its keys and values, as far as can be
    known before a pass: in "pairs", or in a "cache" of `transformers`.

    "state": it is, or wraps, a model of `transformers` with something else than keys and values of each position. "none": a pass that was
    to return some has shown that there are none.
    """
    form = _forms.get(module)
    if form is None:
        form = _forms[module] = _find_form(module)
    return form


def learn_form(module: Any, past: Any) -> None:
    """Remember the form from what a pass returned."""
    if form_of(module) != "state":
        _forms[module] = "none" if past is None else "pairs" if isinstance(past, (list, tuple)) else "cache"


def _find_form(module: Any) -> str:
    transformers = sys.modules.get("transformers")
    if transformers is None:
        return "pairs"
    for part in module.modules():
        if isinstance(part, transformers.PreTrainedModel):
            takes_any = getattr(part, "_supports_default_dynamic_cache", lambda: True)()  # versions before 5 do not tell by layers
            layers = {type(layer).__name__ for layer in transformers.DynamicCache(config=part.config).layers}
            return "cache" if takes_any and layers <= _BY_POSITION else "state"
    return "pairs"


def begun(module: Any) -> Any:
    """What to begin with so that nothing is let go, where a module surely takes that; else None."""
    transformers = sys.modules.get("transformers")
    if transformers is None or not isinstance(module, transformers.PreTrainedModel):
        return None
    has_layers = bool(transformers.DynamicCache(config=module.config).layers)  # else its cache is of another kind
    return all_kept(module, []) if has_layers else None


def all_kept(module: Any, layers: Layers) -> Any:
    """Keys and values in the form that a module takes, none of which will be let go; of no layers: such a cache to begin with, or None."""
    if form_of(module) != "cache":
        return layers or None
    import transformers

    cache = transformers.DynamicCache()  # without the `config`, which would make windows slide
    for index, (keys, values) in enumerate(layers):
        cache.update(keys, values, index)
    return cache


# --- cut and selected -----------------------------------------------------------------------------------------------


def cut_past(past: Any, held: int, length: int, wanted: int) -> tuple[Any, int]:
    """The keys and values of the first `length` of `held` positions, or none; and of how many positions they are.

    None where they cannot be had, or where a pass cannot go on from them to `wanted` positions.
    """
    if past is None or not length:
        return None, 0
    if length == held:
        return (None, 0) if wanted > length + 1 and _has_state(past) else (past, length)
    if isinstance(past, (list, tuple)):
        return [(keys[:, :, :length], values[:, :, :length]) for keys, values in past], length
    if _has_state(past):
        return None, 0
    try:
        past.crop(length - held)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        return None, 0
    return (past, length) if _lengths(past) == {length} else (None, 0)


class Span(NamedTuple):
    """The first `length` positions of a text whose keys and values are in a row, from the column `begin` on."""

    row: int
    begin: int
    length: int


def select(past: Any, held: int, spans: Sequence[Span]) -> Layers | None:
    """Rows of keys and values with these positions, each at the right end of its row: (len(spans), heads, the longest length, dim).

    What is to their left is arbitrary. None where there are not `held` columns in each layer, or something else besides.
    """
    layers = layers_of(past)
    if _has_state(past) or _lengths(past) != {held}:
        return None
    import torch

    width = max(span.length for span in spans)
    rows = torch.tensor([span.row for span in spans])
    ends = torch.tensor([[span.begin + span.length - width] for span in spans])
    columns = (ends + torch.arange(width)).clamp(min=0)[:, None, :, None]

    def selected(tensor: Any) -> Any:
        return torch.take_along_dim(tensor[rows.to(tensor.device)], columns.to(tensor.device), _LENGTH_AXIS)

    return [(selected(keys), selected(values)) for keys, values in layers]


def row_of(past: Any, row: int, begin: int, length: int) -> Layers:
    """Those of one text, of some columns; of no layers where the past has none of so many."""
    if None in _lengths(past):
        return []
    return [
        (keys[row : row + 1, :, begin : begin + length], values[row : row + 1, :, begin : begin + length])
        for keys, values in layers_of(past)
    ]


def _has_state(past: Any) -> bool:
    """Whether a layer may keep something else than keys and values of each position, such as a recurrent state."""
    layers = layers_of(past)
    if not layers or any(keys is None or values is None for keys, values in layers):
        return True
    return not isinstance(past, (list, tuple)) and not {type(layer).__name__ for layer in past.layers} <= _BY_POSITION


def layers_of(past: Any) -> Layers:
    """Of each layer its keys and values, or None in their place."""
    if isinstance(past, (list, tuple)):
        return list(past)
    return [(getattr(layer, "keys", None), getattr(layer, "values", None)) for layer in getattr(past, "layers", ())]


def _lengths(past: Any) -> set[int | None]:
    """Of how many positions the layers are; None stands for one that is no row of positions."""
    return {tensor.shape[_LENGTH_AXIS] if hasattr(tensor, "shape") else None for layer in layers_of(past) for tensor in layer}


# --- payloads -------------------------------------------------------------------------------------------------------


def taken_apart(layers: Layers, held: int, start: int, stop: int, size: int) -> list[Payload]:
    """The positions start .. stop - 1 of one text, of which `held` are there, in blocks of `size`; the last one may be shorter.

    Raises
    ------
    TypeError
        The layers do not have keys and values of so many positions.
    """
    if blocks := _cut_arrays(layers, held, start, stop, size):
        return blocks
    import torch

    groups = _alike(layers, held)
    with torch.inference_mode() if torch.is_tensor(groups[0][0]) else nullcontext():
        return [Payload(stacks) for stacks in zip(*(_cut(group, start, stop, size) for group in groups))]


def put_together(payloads: Sequence[Payload]) -> Layers:
    """Layers of the positions that payloads have one after the other."""
    tensors = [tensor for stacks in zip(*payloads) for tensor in _joined(stacks)]
    return list(zip(tensors[::2], tensors[1::2]))


def side_by_side(texts: Sequence[Layers], lengths: Sequence[int]) -> Layers:
    """Layers with a row for each text: its first positions, at the right end.
    To their left are zeros. A text of no positions may have no layers.
    """
    width = max(lengths)
    whole = [
        (keys.new_zeros(_shape(keys, len(texts), width)), values.new_zeros(_shape(values, len(texts), width)))
        for keys, values in next(layers for layers, length in zip(texts, lengths) if length)
    ]
    for row, (layers, length) in enumerate(zip(texts, lengths)):
        for to, of_text in zip(whole, layers if length else ()):
            for side in range(2):
                to[side][row, :, width - length :] = of_text[side][0, :, :length]
    return whole


def _shape(tensor: Any, rows: int, columns: int) -> tuple[int, ...]:
    _, heads, _, dim = tensor.shape
    return rows, heads, columns, dim


def _cut_arrays(layers: Layers, length: int, start: int, stop: int, size: int) -> list[Payload]:
    """What `taken_apart` returns, where all keys and values are alike and numpy can have them; else []."""
    try:
        arrays = [tensor.numpy() for layer in layers for tensor in layer]
        batch, heads, held, dim = shape = arrays[0].shape
    except (AttributeError, IndexError, TypeError, RuntimeError, ValueError):
        return []
    kind = arrays[0].dtype
    if held != length or not all(array.shape == shape and array.dtype == kind for array in arrays):
        return []
    blocks = []
    for first in range(start, stop, size):
        last = min(first + size, stop)
        block = np.empty((len(arrays), batch, heads, last - first, dim), kind)
        for place, array in enumerate(arrays):
            block[place] = array[:, :, first:last]
        blocks.append(Payload((block,)))
    return blocks


def _alike(layers: Layers, length: int) -> list[list[Any]]:
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
