"""Keys and values of a model as payloads: texts with a common beginning compute it once.

What a decoding loop does, around the passes of one session:

    with kv.resume(session, cache, prompt, model) as lease:       positions [0, lease.matched) need no pass
        session.logits(prompt) ...
        kv.offer(session, lease, prompt, model)                   from here on others find the prompt
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
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from .cache import PrefixCache
from .lease import Lease

if TYPE_CHECKING:
    from ..keys_values import Payload
    from ..models import Model, Session


class _Look(NamedTuple):
    """What the keys and values of a module were made of when it was last looked at, and the salt that says it."""

    way: tuple[str, ...]  # the names that lead to the first parameter
    parameters: list[Any]
    types: list[Any]  # of these
    devices: list[Any]  # of these; [] if all are in CPU memory
    casts: list[Any]  # what passes are cast to on each kind of device; None: nothing
    kinds: list[str]
    salt: bytes


@dataclass(slots=True)
class _Named:
    name: bytes
    alive: Any  # a weak reference, which ends this entry together with the model
    last: _Look | None = None


_lock = threading.Lock()
_numbers = count()
_type_of, _device_of, _is_on_cpu = attrgetter("dtype"), attrgetter("device"), attrgetter("is_cpu")
_named: dict[int, _Named] = {}  # by the id of the model; no other object gets that before the entry has gone


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
        lease.extend_to(ids, _maker(session.export, lease, len(ids)))


def offer(session: Session, lease: Lease[Payload], ids: Sequence[int], model: Model) -> None:
    """`keep`, put off until another text asks, or this one ends, where keys and values can wait for it.

    A call of `keep` between two passes takes more than twice as long as right after another one, and slows the next pass: what either needs has
    left the processor's caches. So a text that nobody asks for is kept at its end, all at once.

    Parameters, Raises
    ------------------
    Those of `keep`. What cannot be kept after all when it comes to that is not.
    """
    if _is_seen_whole(ids, model):
        snapshot = session.snapshot()
        if snapshot is None:
            keep(session, lease, ids, model)
        else:
            lease.offer(ids, _maker(snapshot.cut, lease, len(ids)))


def _maker(cut: Callable[[int, int, int], list[Payload]], lease: Lease[Payload], length: int) -> Callable[[int, int], Payload]:
    """What makes the payload of a block: all that follow are cut at once, which takes fewer operations."""
    size = lease.block_size
    end = length if lease.share_partial else length - length % size
    blocks: dict[int, Payload] = {}  # by their first position

    def make(start: int, stop: int) -> Payload:
        if not blocks:
            blocks.update(zip(range(start, end, size), cut(start, end, size)))
        return blocks.pop(start)

    return make


def _is_seen_whole(ids: Sequence[int], model: Model) -> bool:
    return model.max_length is None or len(ids) <= model.max_length


def salt_of(model: object) -> bytes:
    """A name for a model while it lives, never used again for another one, with all that its keys and values are made of, but for the weights."""
    owner: Any = getattr(model, "module", model)  # `as_model` may wrap the same module anew for each text
    named = _named.get(id(owner)) or _name(owner)
    last = named.last
    return last.salt if last is not None and _is_as_before(owner, last) else _salt_of(owner, named)


def _name(owner: Any) -> _Named:
    number = id(owner)
    named = _Named(b"model %d" % next(_numbers), weakref.ref(owner, lambda _: _named.pop(number, None)))
    with _lock:
        return _named.setdefault(number, named)


def _is_as_before(module: Any, last: _Look) -> bool:
    """Whether the salt still holds. To list the parameters takes long, so they count as the same while the first one is the same object."""
    try:
        for name in last.way[:-1]:
            module = module._modules[name]
        if module._parameters[last.way[-1]] is not last.parameters[0]:
            return False
    except (AttributeError, KeyError):  # it has gone
        return False
    parameters, devices = last.parameters, last.devices
    same_devices = list(map(_device_of, parameters)) == devices if devices else all(map(_is_on_cpu, parameters))
    return same_devices and list(map(_type_of, parameters)) == last.types and _casts_on(last.kinds) == last.casts


def _salt_of(module: Any, named: _Named) -> bytes:
    torch = sys.modules.get("torch")
    parameters = dict(module.named_parameters()) if torch is not None and isinstance(module, torch.nn.Module) else {}
    if not parameters:
        named.last = None
        return named.name
    all_of_them = list(parameters.values())
    types, devices = list(map(_type_of, all_of_them)), list(map(_device_of, all_of_them))
    kinds = sorted({device.type for device in devices} - {"meta"}) if hasattr(torch, "get_autocast_dtype") else []  # of torch 2.4
    casts = _casts_on(kinds)
    words = {f"{kind} {device}" for kind, device in zip(types, devices)}
    words.update(f"autocast {kind} {cast}" for kind, cast in zip(kinds, casts) if cast is not None)
    salt = " ".join([named.name.decode(), *sorted(words)]).encode()
    way = tuple(next(iter(parameters)).split("."))
    named.last = _Look(way, all_of_them, types, [] if all(map(_is_on_cpu, all_of_them)) else devices, casts, kinds, salt)
    return salt


def _casts_on(kinds: list[str]) -> list[Any]:
    """What passes are cast to on each kind of device."""
    torch = sys.modules["torch"]
    return [torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None for kind in kinds]
