"""Models: whatever gives a score to each token, behind one interface.

Idea. A decoding loop asks one thing: what are the scores after each of the last few prefixes of these ids? A *session* answers, and the ids
are always given whole. So the loop may append, cut and replace as it likes (drafts, rollback, forced text), and how much of the last
forward pass can be used again is the session's business: it keeps the keys and values of the longest common prefix.

    ids of the last call   p p p a b c d             keys and values are kept of   p p p a b
    ids of this call       p p p a b X Y Z                one forward pass over    X Y Z

Invariant. The scores depend on the ids of this call alone, never on what
was asked before (but for the rounding of a pass that was cut otherwise).

What a torch module must do is the convention of `transformers`: `module(input_ids=(1, L), past_key_values=..., use_cache=True)` returns an
object with `.logits` (1, L, V) and `.past_key_values`, which is a list of (key, value) per layer, each (1, heads, length, dim), or a
`Cache` object. Both names may be `cache`, as in `transformers` from 5.24 on. What of it can be used again says `keys_values`. If it takes
an `attention_mask` it is given one over all columns, of ones: pads that stand for unknown tokens are seen. (Not if it keeps a state of
another kind: Mamba multiplies what it is given by its mask, and columns that are kept in a state have none.) Of several texts (grouped
sampling) it is given as many rows; and, if it takes them, `position_ids` from 0 on, and zeros in the mask for columns that mean nothing.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..checks import check_count, check_number
from . import keys_values
from .ids import common_prefix
from .keys_values import Payload

__all__ = ["Model", "NoiseModel", "Payload", "Session", "as_model"]

Logits: TypeAlias = NDArray[np.float32]


class Holder(Protocol):
    """Whoever has the keys and values of one text."""

    def export(self, start: int, stop: int, size: int) -> list[Payload]:
        """Keys and values of the positions start .. stop - 1 of the last text, in blocks of `size`; the last one may be shorter.

        Raises
        ------
        TypeError
            The model has no keys and values that can be cut by position.
        ValueError
            They are not there.
        """

    def resume(self, ids: Sequence[int], payloads: Sequence[Payload]) -> None:
        """Begin with the keys and values of `ids`, which need no forward pass then. Replaces what the session had.

        From then on the session keeps those of all positions, so that `export` has them.

        Raises
        ------
        TypeError
            The model has no keys and values (maybe that shows at the next pass only, which raises it then), or a state of another kind.
        ValueError
            The payloads are not of as many positions as there are ids.
        """


class Session(Holder, Protocol):
    """The forward passes of one text. Belongs to one thread."""

    def logits(self, ids: Sequence[int], rows: int = 1) -> Logits:
        """Scores after each of the last `rows` prefixes of `ids`, by one forward pass.

        Parameters
        ----------
        ids : sequence of int
            The whole text, at least one token. Of a text longer than `max_length`, the model sees the last `max_length` ids.
        rows : int
            1 to the number of ids that the model sees.

        Returns
        -------
        numpy.ndarray
            float32, shape (rows, V), the caller's to change. Row -1 scores what follows all of `ids`.
        """


class Model(Protocol):
    """What gives scores to tokens.

    Attributes
    ----------
    width : int
        V: how many scores there are.
    max_length : int or None
        Positions that one pass can see; None: any number.
    passes : int
        Forward passes so far, of all sessions.
    """

    @property
    def width(self) -> int: ...  # noqa: D102

    @property
    def max_length(self) -> int | None: ...  # noqa: D102

    @property
    def passes(self) -> int: ...  # noqa: D102

    def start(self) -> Session:
        """A session for a text."""


def as_model(model: object, *, width: int | None = None, max_length: int | None = None) -> Model:
    """Make a `Model` of whatever gives scores.

    Parameters
    ----------
    model : Model, torch.nn.Module or callable
        A `Model` is returned as it is. A module follows the convention of `transformers` (see `grammar_engine.decoding.models`); it should
        be in `eval` mode. A callable takes a list of ids and returns their scores, an array or a tensor of shape (len(ids), V).
    width : int, optional
        V. Default: what the module or its `config` says, or else what the first pass shows.
    max_length : int, optional
        Positions that one pass can see: of a longer text the model sees the end.
        Default: what the module or its `config` says; none for a callable.

    Returns
    -------
    Model

    Raises
    ------
    TypeError
        It is none of these, or `width` or `max_length` is no int.
    ValueError
        `width` or `max_length` is not positive, or is given for a `Model`, which has its own.
    """
    width = None if width is None else check_count("width", width)
    max_length = None if max_length is None else check_count("max_length", max_length)
    nn = getattr(sys.modules.get("torch"), "nn", None)  # None: torch is not there, or another thread is importing it
    if nn is not None and isinstance(model, nn.Module):
        return TorchModel(model, width, max_length)
    if not isinstance(model, type) and callable(getattr(model, "start", None)):
        if width is not None or max_length is not None:
            raise ValueError("a Model has its own width and max_length")
        return model  # type: ignore[return-value]  # a Protocol is recognised by what it has
    if callable(model):
        return _CallableModel(model, width, max_length)
    raise TypeError(f"a model is a callable, a torch module or a Model, not {type(model).__name__}")


class _Counted:
    """What all models share: the width, the length, the count."""

    def __init__(self, width: int | None, max_length: int | None):
        self._width = width
        self.max_length = max_length
        self.passes = 0

    @property
    def width(self) -> int:
        if self._width is None:
            raise ValueError("the width of the logits is known after the first pass: give it with as_model(..., width=)")
        return self._width

    def learn_width(self, width: int) -> None:
        if self._width is None:
            self._width = width
        elif self._width != width:
            raise ValueError(f"the model gives {width} scores, and its width is {self._width}")

    def seen(self, ids: Sequence[int], rows: int) -> list[int]:
        """The ids that a pass sees; raises if they cannot have so many rows."""
        seen = list(ids) if self.max_length is None else list(ids[-self.max_length :])
        if not 1 <= rows <= len(seen):
            raise ValueError(f"{rows} rows of scores were asked for, of {len(seen)} ids that the model sees")
        return seen


# --- noise ----------------------------------------------------------------------------------------------------------


class NoiseModel:
    """A `Model` that knows nothing: its scores are normally distributed noise, settled by the last token alone. For tests and trials.

    Parameters
    ----------
    width : int
        How many scores there are.
    seed : int
        Same seed, same scores.
    spread : float
        Standard deviation of the scores.
    """

    def __init__(self, width: int, seed: int = 0, spread: float = 3.0):
        self.width, self.seed, self.spread = check_count("width", width), check_count("seed", seed, 0), check_number("spread", spread, 0)
        self.max_length = None
        self.passes = 0

    def start(self) -> Session:
        """A session for a text."""
        return _NoiseSession(self)


class _NoiseSession:
    def __init__(self, model: NoiseModel):
        self.model = model

    def logits(self, ids: Sequence[int], rows: int = 1) -> Logits:
        self.model.passes += 1
        return np.stack([self._row(token) for token in ids[len(ids) - rows :]])

    def _row(self, token: int) -> Logits:
        rng = np.random.default_rng((self.model.seed, token))
        return rng.standard_normal(self.model.width, dtype=np.float32) * np.float32(self.model.spread)

    def export(self, start: int, stop: int, size: int) -> list[Payload]:
        raise TypeError("noise has no keys and values to export")

    def resume(self, ids: Sequence[int], payloads: Sequence[Payload]) -> None:
        raise TypeError("noise has no keys and values to resume from")


# --- callables ------------------------------------------------------------------------------------------------------


def check_scores(scores: Any, n: int, whose: str) -> None:
    """Raise unless these are scores of `n` ids, shape (n, V)."""
    if not hasattr(scores, "shape"):
        raise TypeError(f"{whose} returns scores as an array or a tensor, not as {type(scores).__name__}")
    if len(scores.shape) != 2 or scores.shape[0] != n:
        raise ValueError(f"the scores of {n} ids have the shape ({n}, V), not {tuple(scores.shape)}")


def asked(session: Session, ids: Sequence[int], rows: int) -> Logits:
    """What a session answers; raises unless these are scores of so many rows."""
    scores = session.logits(ids, rows)
    check_scores(scores, rows, "a session")
    return scores


class _CallableModel(_Counted):
    def __init__(self, function: Callable[[list[int]], Any], width: int | None, max_length: int | None):
        super().__init__(width, max_length)
        self.function = function

    def start(self) -> Session:
        return _CallableSession(self)


class _CallableSession:
    def __init__(self, model: _CallableModel):
        self.model = model

    def logits(self, ids: Sequence[int], rows: int = 1) -> Logits:
        seen = self.model.seen(ids, rows)
        scores = self.model.function(seen)
        self.model.passes += 1
        check_scores(scores, len(seen), "the model")
        self.model.learn_width(scores.shape[1])
        return as_numpy(scores[-rows:])

    def export(self, start: int, stop: int, size: int) -> list[Payload]:
        raise TypeError("a callable has no keys and values to export")

    def resume(self, ids: Sequence[int], payloads: Sequence[Payload]) -> None:
        raise TypeError("a callable has no keys and values to resume from")


def as_numpy(scores: Any) -> Logits:
    """A float32 copy in CPU memory, of an array or a tensor."""
    if hasattr(scores, "detach"):
        scores = scores.detach().float().cpu().numpy()
    with np.errstate(over="ignore"):  # of scores near the least float64, with which models ban a token: -inf is right, as torch has it
        return np.array(scores, dtype=np.float32)


# --- torch modules --------------------------------------------------------------------------------------------------


class TorchModel(_Counted):
    """A torch module; `as_model` makes it."""

    def __init__(self, module: Any, width: int | None, max_length: int | None):
        config = getattr(module, "config", None)
        positions = getattr(config, "max_position_embeddings", None)
        super().__init__(
            width or getattr(module, "width", None) or getattr(config, "vocab_size", None),
            max_length or getattr(module, "max_length", None) or (positions if positions and positions > 0 else None),  # -1: any number
        )
        self.module = module
        self._takes = frozenset(inspect.signature(module.forward).parameters)
        self._past_name = _past_name(module)

    def takes_places(self, ids: Sequence[int]) -> bool:
        """Whether a pass can be told which columns to look at, and the positions
        of its ids from 0 on. Tried once, on a few ids behind masked ones.

        Not all modules that have the names do so: some count positions from another number.
        """
        if not {"attention_mask", "position_ids"} <= self._takes:
            return False
        found = _takes_places.get(self.module)
        if found is None:
            found = _takes_places[self.module] = self._try_places(list(ids[:_TRIED]))
        return found

    def _try_places(self, ids: list[int]) -> bool:
        n = len(ids)
        masked = {"attention_mask": [[0, 0] + [1] * n], "position_ids": [[0, 0, *range(n)]]}
        try:
            alone, behind = self.forward([ids], None, n, n)[0], self.forward([ids[:1] * 2 + ids], None, n, n + 2, masked)[0]
        except (RuntimeError, ValueError, IndexError, TypeError):  # whatever modules raise that cannot
            return False
        rounding = _ROUNDING if alone.element_size() > 2 else _ROUNDING_OF_HALVES
        return bool((alone.float() - behind.float()).abs().max() <= rounding * alone.float().abs().max())

    def start(self) -> Session:
        """A session for a text."""
        return _TorchSession(self)

    def forward(
        self, ids: list[list[int]], past: Any, rows: int, columns: int, places: dict[str, list[list[int]]] | None = None
    ) -> tuple[Any, Any]:
        """One pass over ids of as many positions in each text, behind `past`. To be called in `torch.inference_mode`.

        There are so many `columns` in each text, with those of `past`. `places` are `attention_mask` and `position_ids`, if the module
        takes them. Default: no column is masked, and the module is told so if it can be. Returns the scores of the last `rows` positions, a
        tensor of shape (texts, rows, V), and the keys and values, or None.
        """
        import torch

        device = next((parameter.device for parameter in self.module.parameters()), None)
        given = {
            name: torch.tensor(values, dtype=torch.long, device=device) for name, values in (("input_ids", ids), *(places or {}).items())
        }
        is_told = "attention_mask" in given or "attention_mask" not in self._takes
        if not is_told and keys_values.form_of(self.module) != "state":
            given["attention_mask"] = torch.ones((len(ids), columns), dtype=torch.long, device=device)
        options = {self._past_name: past, **({"logits_to_keep": rows} if "logits_to_keep" in self._takes else {})}
        try:
            output = self.module(**given, use_cache=True, **options)
        except IndexError as error:  # of an embedding, on the CPU
            largest = max(max(row) for row in ids)
            raise ValueError(f"the module refuses ids of up to {largest} at {columns} positions: {error}") from error
        if not hasattr(output, "logits"):
            raise TypeError(f"a module returns an object with logits, as those of transformers, not a {type(output).__name__}")
        if output.logits.ndim != 3:
            raise ValueError(f"a module returns logits of the shape (texts, length, V), not {tuple(output.logits.shape)}")
        return output.logits[:, -rows:], getattr(output, self._past_name, None)


class _TorchSession:
    def __init__(self, model: TorchModel):
        self.model = model
        self.keeps_all = False  # keys and values of all positions, also of those that have slid out of a window
        self.has_none = False  # the module returns no keys and values
        self._forget()

    def _forget(self) -> None:
        self.ids: list[int] = []  # those whose keys and values are in `past`
        self.past: Any = None
        self.cut = False  # the text was longer than the model can see: positions are not those of the text

    def logits(self, ids: Sequence[int], rows: int = 1) -> Logits:
        import torch

        seen = self.model.seen(ids, rows)
        wanted = min(common_prefix(self.ids, seen), len(seen) - rows)
        past, kept = keys_values.cut_past(self.past, len(self.ids), wanted, len(seen))
        self._forget()  # should the pass fail, `past` may be half written
        if past is None and self.keeps_all:
            past = keys_values.all_kept(self.model.module, [])
        with torch.inference_mode():
            scores, past = self.model.forward([seen[kept:]], past, rows, len(seen))
            logits = as_numpy(scores[0])
        self.model.passes += 1
        self.model.learn_width(logits.shape[1])
        if past is None and self.keeps_all:
            keys_values.learn_form(self.model.module, past)
            raise TypeError(_without_keys(self.model.module))
        self.past, self.has_none = past, past is None
        if past is not None:
            self.ids, self.cut = seen, len(seen) < len(ids)
        return logits

    def export(self, start: int, stop: int, size: int) -> list[Payload]:
        if self.has_none:
            raise TypeError(_without_keys(self.model.module))
        if not 0 <= start < stop <= len(self.ids) or self.cut:
            held = "those of a text that was cut" if self.cut else f"{len(self.ids)}"
            raise ValueError(f"positions {start} to {stop} are not among the keys and values of the session ({held})")
        keys_values.learn_form(self.model.module, self.past)  # now it is known
        return keys_values.taken_apart(keys_values.layers_of(self.past), len(self.ids), start, stop, size)

    def resume(self, ids: Sequence[int], payloads: Sequence[Payload]) -> None:
        self._forget()
        check_resumable(self.model)
        self.keeps_all = True
        if self.model.max_length is not None and len(ids) > self.model.max_length:
            raise ValueError(f"{len(ids)} ids are more than the {self.model.max_length} that the model can see")
        positions = sum(payload.positions for payload in payloads)
        if positions != len(ids):
            raise ValueError(f"the payloads are of {positions} positions, and there are {len(ids)} ids")
        if payloads:
            self.past, self.ids = keys_values.all_kept(self.model.module, keys_values.put_together(payloads)), list(ids)


_takes_places: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_TRIED = 8  # ids
_ROUNDING, _ROUNDING_OF_HALVES = 1e-3, 3e-2  # beside the largest score; other positions make a third of it and more


def check_resumable(model: TorchModel) -> None:
    """Raise TypeError where a module has no keys and values of each position, as far as is known."""
    form = keys_values.form_of(model.module)
    if form == "none":
        raise TypeError(_without_keys(model.module))
    if form == "state":
        raise TypeError(f"a {type(model.module).__name__} keeps a state that is not one of keys and values of each position")


def _without_keys(module: Any) -> str:
    return f"a {type(module).__name__} returns no keys and values"


def _past_name(module: Any) -> str:
    """By which name a module takes keys and values, and returns them;
    one that passes on what it is given, as adapters do, by that of what it wraps.
    """
    takers = (module, *(part for part in module.modules() if hasattr(part, "base_model_prefix")))  # and models of `transformers` in it
    for parameters in (inspect.signature(taker.forward).parameters for taker in takers):
        for name in ("past_key_values", "cache"):
            if name in parameters:
                return name
    return "past_key_values"
