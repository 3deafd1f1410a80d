"""A small causal decoder with rotary positions and a cache of keys and values, in the convention of `transformers`.

    ids --embed--> [ norm, attention, norm, feed-forward ] x layers --norm--> scores by the embedding again, transposed

Invariants. Scores at a position depend on the ids up to there and on nothing else. With a cache they are those of the whole text, up to
rounding: keys are kept after rotation, so a cache may be cut anywhere.

The last id, `width - 1`, is the pad: one more than the vocabulary has, so no mask allows it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...vocabulary import Vocabulary

KeysValues: TypeAlias = tuple[Tensor, Tensor]  # each (batch, heads, length, dim // heads)

_BASE = 10_000.0  # of the wavelengths of rotary positions
_DEVIATION = 0.02  # of initial weights
_FORMAT = "grammar-engine tiny decoder 1"


class Output(NamedTuple):
    """What a forward pass returns.

    Attributes
    ----------
    logits : torch.Tensor
        Shape (batch, length, width).
    past_key_values : list of (torch.Tensor, torch.Tensor), or None
        Keys and values per layer, of all positions so far, each of shape (batch, heads, positions, dim // heads); None without `use_cache`.
    """

    logits: Tensor
    past_key_values: list[KeysValues] | None


class TinyDecoder(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """A causal language model.

    Parameters
    ----------
    width : int
        Number of ids, the pad included: `vocabulary.width + 1`.
    dim, layers, heads : int
        `dim` is a multiple of `2 * heads`. The defaults learn most in minutes on a CPU; docs/decisions.md has the figures.
    max_length : int
        Positions that one pass can see.
    """

    def __init__(self, width: int, dim: int = 64, layers: int = 6, heads: int = 2, max_length: int = 512):
        super().__init__()
        if dim % (2 * heads):
            raise ValueError(f"dim is a multiple of 2 * heads, {2 * heads}, not {dim}")
        self.options = {"width": width, "dim": dim, "layers": layers, "heads": heads, "max_length": max_length}
        self.width, self.max_length = width, max_length
        self.embedding = nn.Embedding(width, dim)
        self.layers = nn.ModuleList(_Layer(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        pairs = torch.arange(dim // heads // 2) / (dim // heads // 2)
        self.register_buffer("frequencies", _BASE**-pairs, persistent=False)
        for name, weights in self.named_parameters():
            if weights.dim() == 2:  # the two that each layer adds to the stream are smaller, so that its variance stays
                deviation = _DEVIATION / (2 * layers) ** 0.5 if name.endswith(("out.weight", "down.weight")) else _DEVIATION
                nn.init.normal_(weights, std=deviation)

    @property
    def pad(self) -> int:
        """The id that stands for no token."""
        return self.width - 1

    def forward(
        self,
        input_ids: Tensor,
        past_key_values: Sequence[KeysValues] | None = None,
        use_cache: bool = False,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> Output:
        """Scores after each of `input_ids`, int64 of shape (batch, length), which follow the columns of `past_key_values`.

        `attention_mask`, shape (batch, columns + length), is 0 for columns that mean nothing, and `position_ids` are those of `input_ids`.
        By default columns are positions, and all mean something.

        Raises
        ------
        ValueError
            More positions than `max_length`.
        """
        past = past_key_values[0][0].shape[2] if past_key_values else 0
        length = input_ids.shape[1]
        device = input_ids.device
        n_positions = past + length if position_ids is None else int(position_ids.max()) + 1
        if n_positions > self.max_length:
            raise ValueError(f"{n_positions} positions, and the model can see {self.max_length}")
        if position_ids is None:
            position_ids = torch.arange(past, past + length, device=device)[None]
        angles = position_ids[:, None, :, None] * self.frequencies
        mask = torch.ones(length, past + length, dtype=torch.bool, device=device).tril(past)  # of itself and all before it
        if attention_mask is not None:
            mask = mask & attention_mask[:, None, None, :].bool()
        stream, kept = self.embedding(input_ids), []
        for index, layer in enumerate(self.layers):
            stream, keys_values = layer(stream, angles, mask, past_key_values[index] if past_key_values else None)
            kept.append(keys_values)
        return Output(self.norm(stream) @ self.embedding.weight.T, kept if use_cache else None)


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention, self.out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, stream: Tensor, angles: Tensor, mask: Tensor, past: KeysValues | None) -> tuple[Tensor, KeysValues]:
        by_head = self.attention(self.norm_1(stream)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        queries, keys, values = _rotated(by_head[0], angles), _rotated(by_head[1], angles), by_head[2]
        if past is not None:
            keys, values = torch.cat((past[0], keys), dim=2), torch.cat((past[1], values), dim=2)
        mixed = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        stream = stream + self.out(mixed.transpose(1, 2).flatten(2))
        stream = stream + self.down(functional.gelu(self.up(self.norm_2(stream))))
        return stream, (keys, values)


def _rotated(vectors: Tensor, angles: Tensor) -> Tensor:
    """Each pair (i, i + half) of a vector turned by its angle, so that products depend on the distance of positions."""
    first, second = vectors.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


# --- files ----------------------------------------------------------------------------------------------------------


def save(model: TinyDecoder, path: str | os.PathLike[str], vocabulary: Vocabulary) -> None:
    """Write the weights, and which vocabulary they are for."""
    torch.save({"format": _FORMAT, "vocabulary": vocabulary.fingerprint, "options": model.options, "weights": model.state_dict()}, path)


def load(path: str | os.PathLike[str], vocabulary: Vocabulary) -> TinyDecoder:
    """Read a file of `save`, in `eval` mode. Nothing in it is executed.

    Raises
    ------
    OSError
        It cannot be read.
    ValueError
        It is another kind of file, or the weights are for another vocabulary.
    """
    data = io.BytesIO(Path(path).read_bytes())
    try:
        content: Any = torch.load(data, map_location="cpu", weights_only=True)
        if content["format"] != _FORMAT:
            raise ValueError
        fingerprint = content["vocabulary"]
        model = TinyDecoder(**content["options"])
        model.load_state_dict(content["weights"])
    except Exception:  # any: torch raises whatever its reader runs into, and what it says of files that are not its own helps nobody
        raise ValueError(f"{os.fspath(path)} holds no weights of a tiny decoder") from None
    if fingerprint != vocabulary.fingerprint:
        raise ValueError(f"{os.fspath(path)} holds weights for another vocabulary than {vocabulary!r}")
    model.eval()
    return model
