"""What the texts of a call have of a prefix cache: a lease each, from the first pass to the end of the text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..keys_values import Payload
from ..models import Holder, Model

if TYPE_CHECKING:
    from ..prefix_cache import Lease, PrefixCache


class Leases:
    """By the numbers of texts."""

    def __init__(self, cache: PrefixCache[Payload], model: Model):
        self.cache, self.model = cache, model
        self.of: dict[int, Lease[Payload]] = {}

    def begin(self, text: int, holder: Holder, ids: Sequence[int]) -> None:
        """Give the holder what the cache has of the beginning of `ids`.

        Raises
        ------
        TypeError
            The model has no keys and values.
        """
        from ..prefix_cache import kv

        self.of[text] = kv.resume(holder, self.cache, ids, self.model)

    def keep(self, text: int, holder: Holder, ids: Sequence[int]) -> None:
        """Put what the holder has of `ids` into the cache.

        Raises
        ------
        TypeError
            The model keeps no keys and values that can be cut by position.
        """
        from ..prefix_cache import kv

        kv.keep(holder, self.of[text], ids, self.model)

    def end(self, text: int, holder: Holder, ids: Sequence[int]) -> None:
        """The text is finished, or another one of its branches is; what was written is kept, if it can be. More than once does nothing."""
        if text not in self.of:
            return
        try:
            # A pass has failed, the text does not go on from its lease (it was cut at its beginning), or the interpreter is shutting down.
            with suppress(TypeError, ValueError, ImportError):
                self.keep(text, holder, ids)
        finally:
            self.of.pop(text).release()

    def close(self) -> None:
        """Release those that are left."""
        while self.of:
            self.of.popitem()[1].release()
