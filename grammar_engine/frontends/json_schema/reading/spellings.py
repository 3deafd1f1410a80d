"""Numbers for values: the same one for those that are written alike.

Idea. Hash-consing. A value is known by its kind and by the numbers of its members, so each object is looked at once, in however many places
it stands: as text, a schema that shares its parts may be exponentially longer than it is.

Invariant. Values of one number are equal, with the same types, and keys in the same order. Inside of a value that contains itself, the
value has another number, which no other value has. Nothing recurses in proportion to the value.
"""

from __future__ import annotations

from typing import Any


class Spellings:
    """Numbers the values of one document, from 0."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}  # by kind and members
        self._known: dict[int, int] = {}  # by the identities of dicts and lists
        self._kept: list[Any] = []  # keeps values alive, so that identities stay unique

    def number(self, value: Any) -> int:
        """The number of a value. It must not change afterwards."""
        if not isinstance(value, (dict, list, tuple)):
            return self._numbers.setdefault(self._scalar(value), len(self._numbers))
        pending = [(value, False)]
        while pending:
            holder, is_numbered_inside = pending.pop()
            if is_numbered_inside:
                self._known[id(holder)] = self._numbers.setdefault(self._content(holder), len(self._numbers))
            elif id(holder) not in self._known:
                self._kept.append(holder)
                self._known[id(holder)] = self._numbers.setdefault((object, id(holder)), len(self._numbers))  # as seen from inside
                pending.append((holder, True))
                pending += [(member, False) for member in _members(holder) if isinstance(member, (dict, list, tuple))]
        return self._known[id(value)]

    def _content(self, holder: Any) -> tuple[Any, ...]:
        """What a dict or list is known by, once its members have numbers."""
        members = [self._known[id(m)] if isinstance(m, (dict, list, tuple)) else self._scalar(m) for m in _members(holder)]
        return (type(holder), *holder, *members) if isinstance(holder, dict) else (type(holder), *members)

    def _scalar(self, value: Any) -> tuple[type, Any]:
        """What any other value is known by: True, 1 and 1.0 are three."""
        try:
            hash(value)
        except TypeError:  # what belongs in no schema
            self._kept.append(value)
            return object, id(value)
        return type(value), value


def _members(holder: Any) -> Any:
    return holder.values() if isinstance(holder, dict) else holder
