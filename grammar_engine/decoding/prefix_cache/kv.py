"""Keys and values of a model as payloads: texts with a common beginning compute it once.

What a decoding loop does, around the passes of one session:

    with kv.resume(session, cache, prompt, model) as lease:       positions [0, lease.matched) need no pass
        session.logits(prompt) ...
        kv.keep(session, lease, prompt, model)                    from here on others find the prompt
        ...
        kv.keep(session, lease, ids, model)                       `ids`: those of the last pass

Only full blocks are worth sharing here (`share_partial=False`): the keys and values of a block that still grows would be copied at each token.

The salt of a key is the model *object*, and the types and devices of its parameters: a cache may serve several models, and one that is moved or
converted finds nothing of before. It does not see that weights have changed: `clear()` it then.

A text that is longer than the model can see is cut at its beginning, and its positions are no longer those of the text. Such a text is
neither looked up nor kept.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .cache import PrefixCache
from .lease import Lease

if TYPE_CHECKING:
    from ..models import Model, Payload, Session


@dataclass(slots=True)
class _Named:
    name: bytes
    salts: dict[Any, bytes] = field(default_factory=dict)  # by the kinds of the parameters, and what passes are cast to
    parameters: list[Any] = field(default_factory=list)  # of the last time
    first: Callable[[Any], Any] | None = None  # gives the first of these as it is now; None: there is none


_lock = threading.Lock()
_numbers = count()
_kind_of = attrgetter("dtype", "device")
_named: WeakKeyDictionary[Any, _Named] = WeakKeyDictionary()


def resume(session: Session, cache: PrefixCache[Payload], ids: Sequence[int], model: Model) -> Lease[Payload]:
    """Give a fresh session the keys and values that the cache has of the beginning of a text.

    Parameters
    ----------
    session : Session
        Of `model`, before its first pass.
    cache : PrefixCache
    ids : sequence of int
        The prompt.
    model : Model

    Returns
    -------
    Lease
        Of `matched` positions that need no forward pass. To be released when the text is finished.

    Raises
    ------
    TypeError
        The model has no keys and values.
    """
    lease = cache.acquire(ids if _is_seen_whole(ids, model) else (), salt_of(model))
    try:
        session.resume(ids[: lease.matched], lease.payloads)
    except BaseException:
        lease.release()
        raise
    return lease


def keep(session: Session, lease: Lease[Payload], ids: Sequence[int], model: Model) -> None:
    """Put into the cache what a session has computed: the full blocks of `ids`, which go on from those of the lease.

    Parameters
    ----------
    session : Session
    lease : Lease
        What `resume` returned.
    ids : sequence of int
        All or a beginning of the ids of the last pass.
    model : Model

    Raises
    ------
    TypeError
        The model keeps no keys and values that can be cut by position.
    ValueError
        `ids` do not go on from those of the lease, or are more than the session has passed.
    """
    if _is_seen_whole(ids, model):
        if list(ids[: len(lease)]) != lease.tokens:
            raise ValueError(f"the text does not go on from the {len(lease)} tokens of the lease")
        size, end = lease.block_size, len(ids)
        if not lease.share_partial:
            end -= end % size
        blocks: dict[int, Payload] = {}  # by their first position

        def make(start: int, stop: int) -> Payload:
            if not blocks:  # all that follow at once, which takes fewer operations
                blocks.update(zip(range(start, end, size), session.export(start, end, size)))
            return blocks.pop(start)

        lease.extend(ids[len(lease) :], make)


def _is_seen_whole(ids: Sequence[int], model: Model) -> bool:
    return model.max_length is None or len(ids) <= model.max_length


def salt_of(model: object) -> bytes:
    """A name for a model while it lives, never used again for another one, with all that its keys and values are made of, but for the weights."""
    owner: Any = getattr(model, "module", model)  # `as_model` may wrap the same module anew for each text
    named = _named.get(owner)
    if named is None:
        with _lock:
            named = _named.setdefault(owner, _Named(b"model %d" % next(_numbers)))
    kinds = _kinds_of(owner, named)
    salt = named.salts.get(kinds)
    if salt is None:
        salt = named.salts[kinds] = b" ".join([named.name, *sorted(" ".join(map(str, kind)).encode() for kind in kinds)])
    return salt


def _kinds_of(module: Any, named: _Named) -> frozenset[tuple[Any, ...]]:
    """The types and devices of the parameters, and what passes are cast to on these devices."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(module, torch.nn.Module):
        return frozenset()
    kinds: set[tuple[Any, ...]] = set(map(_kind_of, _parameters_of(module, named)))
    if hasattr(torch, "get_autocast_dtype"):  # torch 2.4
        for device in {device.type for _, device in kinds} - {"meta"}:
            if torch.is_autocast_enabled(device):
                kinds.add(("autocast", device, torch.get_autocast_dtype(device)))
    return frozenset(kinds)


def _parameters_of(module: Any, named: _Named) -> list[Any]:
    """All of them. To list them takes long, so it is done anew only where the first one is another object than the last time."""
    with suppress(AttributeError, IndexError):
        if named.first is not None and named.first(module) is named.parameters[0]:
            return named.parameters
    parameters = dict(module.named_parameters())
    named.parameters = list(parameters.values())
    named.first = attrgetter(next(iter(parameters))) if parameters else None
    return named.parameters
