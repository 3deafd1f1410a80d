"""Keys and values of a model as payloads: texts with a common beginning compute it once.

What a decoding loop does, around the passes of one session:

    with kv.resume(session, cache, prompt, model) as lease:       positions [0, lease.matched) need no pass
        session.logits(prompt) ...
        kv.keep(session, lease, prompt, model)                    from here on others find the prompt
        ...
        kv.keep(session, lease, ids, model)                       `ids`: those of the last pass

Only full blocks are worth sharing here (`share_partial=False`):
the keys and values of a block that still grows would be copied at each token.

The salt of a key is the model *object*, and the types and devices of its parameters: a cache may serve several models, and one that is
moved or converted finds nothing of before. It does not see that weights have changed: `clear()` it then.

What a module was made of is kept in the module itself: anywhere else it would keep alive those models whose parts refer to the whole.

A text that is longer than the model can see is cut at its beginning, and its positions are no longer those of the text. Such a text is
neither looked up nor kept.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from operator import attrgetter, getitem, is_
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from ...locks import new_lock
from .cache import PrefixCache
from .lease import Lease

if TYPE_CHECKING:
    from ..keys_values import Payload
    from ..models import Holder, Model


class _Look(NamedTuple):
    """What the keys and values of a module were made of when it was last
    looked at, and the salt that says it. Copies of the module get none.
    """

    owner: ref[Any]  # the module; that of a shallow copy is the original
    holders: list[dict[str, Any]]  # where modules have the modules and parameters below them
    sizes: list[int]  # of these
    places: list[tuple[dict[str, Any], ...]]  # of each module and parameter: its holder, and its name there
    members: list[Any]  # these themselves
    parameters: list[Any]
    types: list[Any]  # of these
    devices: list[Any]
    casts: list[Any]  # what passes are cast to on each kind of device; None: nothing
    kinds: list[str]
    salt: bytes

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


@dataclass(slots=True)
class _Named:
    name: bytes
    changes: int = 0  # how often modules or parameters were others than before


_LOOK = "_grammar_engine_look"  # where a module has its own


_lock = new_lock()
_numbers = count()
_type_of, _device_of = attrgetter("dtype"), attrgetter("device")
_named: WeakKeyDictionary[Any, _Named] = WeakKeyDictionary()


def check_cache(cache: object) -> None:
    """Raise TypeError for anything but a `PrefixCache`."""
    if not isinstance(cache, PrefixCache):
        raise TypeError(f"prefix_cache is a PrefixCache, not {type(cache).__name__}")


def resume(session: Holder, cache: PrefixCache[Payload], ids: Sequence[int], model: Model) -> Lease[Payload]:
    """Give a fresh session the keys and values that the cache has of the beginning of a text.

    Parameters
    ----------
    session : Holder
        A session of `model` before its first pass, or what stands for it.
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


def keep(session: Holder, lease: Lease[Payload], ids: Sequence[int], model: Model) -> None:
    """Put into the cache what a session has computed: the full blocks of `ids`, which go on from those of the lease.

    Parameters
    ----------
    session : Holder
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
        blocks: dict[int, Payload] = {}  # by their first position

        def make(start: int, stop: int) -> Payload:
            if not blocks:  # all that follow at once, which takes fewer operations
                size = lease.block_size
                end = len(ids) if lease.share_partial else len(ids) - len(ids) % size
                blocks.update(zip(range(start, end, size), session.export(start, end, size)))
            return blocks.pop(start)

        lease.extend_to(ids, make)


def _is_seen_whole(ids: Sequence[int], model: Model) -> bool:
    return model.max_length is None or len(ids) <= model.max_length


def salt_of(model: object) -> bytes:
    """A name for a model while it lives, never used again for another one,
    with all that its keys and values are made of, but for the weights.
    """
    owner: Any = getattr(model, "module", model)  # `as_model` may wrap the same module anew for each text
    named = _named.get(owner)
    if named is None:
        with _lock:
            named = _named.setdefault(owner, _Named(b"model %d" % next(_numbers)))
    last: _Look | None = getattr(owner, "__dict__", {}).get(_LOOK)
    if last is not None and last.owner() is owner:
        if not _has_same_parts(last):
            named.changes += 1
        elif (
            list(map(_type_of, last.parameters)) == last.types
            and list(map(_device_of, last.parameters)) == last.devices
            and _casts_on(last.kinds) == last.casts
        ):
            return last.salt
    return _salt_of(owner, named)


def _has_same_parts(last: _Look) -> bool:
    """Whether each module and parameter is still in its place: to walk the modules anew takes longer."""
    try:
        return all(map(is_, map(getitem, *last.places), last.members)) and list(map(len, last.holders)) == last.sizes
    except KeyError:  # one has gone
        return False


def _salt_of(module: Any, named: _Named) -> bytes:
    torch = sys.modules.get("torch")
    all_of_them = list(module.parameters()) if torch is not None and isinstance(module, torch.nn.Module) else []
    if not all_of_them:
        return named.name
    types, devices = list(map(_type_of, all_of_them)), list(map(_device_of, all_of_them))
    kinds = sorted({device.type for device in devices})
    casts = _casts_on(kinds)
    words = {f"{kind} {device}" for kind, device in zip(types, devices)}
    words.update(f"autocast {kind} {cast}" for kind, cast in zip(kinds, casts) if cast is not None)
    salt = " ".join([named.name.decode(), str(named.changes), *sorted(words)]).encode()
    holders = [held for part in module.modules() for held in (part._modules, part._parameters)]
    places = list(zip(*((held, name) for held in holders for name in held)))
    members = [member for held in holders for member in held.values()]
    vars(module)[_LOOK] = _Look(
        ref(module), holders, list(map(len, holders)), places, members, all_of_them, types, devices, casts, kinds, salt
    )
    return salt


def _casts_on(kinds: list[str]) -> list[Any]:
    """What passes are cast to on each kind of device."""
    torch = sys.modules["torch"]
    if not hasattr(torch, "get_autocast_dtype"):  # of torch 2.4
        return [None] * len(kinds)
    return [torch.get_autocast_dtype(kind) if kind != "meta" and torch.is_autocast_enabled(kind) else None for kind in kinds]
