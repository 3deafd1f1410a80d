"""The count of what a schema multiplies out to, which `max_alternative_schemas` bounds.

Two things are counted. *Alternatives*: the pieces of one union at one place, or the classes of keys of one object; at most the limit.
*Work*: what all places make together, in units of the time that it takes to compare two small pieces; at most `_PRODUCTS` times the limit.
Methods that `check` bound an amount; those that `count` add it to the work, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import LimitExceededError

if TYPE_CHECKING:
    from .reading.places import Place

_PRODUCTS = 20  # so many times the limit is the work of all places together
_FEW = 100  # that may be left of it for each place with `lenient=True`, however often something was given up
_APART = "patterns exclude each other, or ask for schemas that are written alike"


class Ledger:
    """What one compilation has multiplied out.

    Parameters
    ----------
    limit : int
        `max_alternative_schemas`.

    Attributes
    ----------
    combining : str
        The pointer of what is being combined with the rest, for errors.
    """

    def __init__(self, limit: int):
        self.combining = ""
        self._limit = limit
        self._work = 0
        self._most_work = _PRODUCTS * limit

    def check_alternatives(self, count: int) -> None:
        """Bound the alternatives at one place."""
        if count > self._limit:
            self._refuse()

    def count_alternatives(self, count: int) -> None:
        """Bound the alternatives at one place, and count them as work."""
        self.check_alternatives(count)
        self.count_work(count)

    def check_work(self, count: int) -> None:
        """Bound work that is counted later."""
        if self._work + count > self._most_work:
            self._refuse()

    def count_work(self, count: int) -> None:
        """Count work."""
        self._work += count
        if self._work > self._most_work:
            self._refuse()

    def count_items(self, ways: int, place: Place) -> None:
        """Count as work the ways to write what a place asks to count or to compare."""
        self._work += ways
        if self._work > self._most_work:
            self.combining = place.pointer
            self._refuse("fewer positions have schemas of their own, and fewer conditions are counted")

    def count_key_classes(self, compared: int, made: int, pointer: str) -> None:
        """Count as work the classes of keys that a pattern is compared with, and bound those that it makes."""
        self.count_key_matches(compared, pointer)
        if made > self._limit:
            self._refuse(_APART)

    def count_key_matches(self, compared: int, pointer: str) -> None:
        """Count as work the keys, or classes of keys, that are compared with patterns."""
        self.combining = f"{pointer}/patternProperties"
        self._work += compared
        if self._work > self._most_work:
            self._refuse(_APART)

    def begin_anew(self) -> None:
        """After a place was given up: half as much work for the rest, so all places together take twice the time of one."""
        self._work = 0
        self._most_work = max(self._most_work // 2, min(_FEW, self._most_work))

    def _refuse(self, advice: str = "each branch requires a key and gives it other values than the others do") -> None:
        raise LimitExceededError(
            "max_alternative_schemas",
            self._limit,
            f"the alternatives of it and of what else applies there multiply out; fewer are made if {advice}",
            where=self.combining,
        )
