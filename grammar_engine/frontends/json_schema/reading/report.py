"""The report of a schema, most of which is written when somebody reads it.

Idea. Every key of every schema has a line in the report, but few readers ask for them. So while a schema is compiled only the keys are
noted, place by place, as tuples that all places with the same keys share. The lines are made of that on demand.

Invariant. What is noted does not change when the user changes the schema afterwards.
"""

from __future__ import annotations

from functools import cached_property

from ....report import Entry, Report


class SchemaReport(Report):
    """A report of `enforced` and `annotations` that are made when they are first read."""

    def __init__(self) -> None:
        self.relaxed = []
        self.notes = []
        self._malformed: set[tuple[str, str]] = set()
        self._places: list[tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]] = []

    def add(self, pointer: str, enforced: tuple[str, ...], annotations: tuple[tuple[str, str], ...] = ()) -> None:
        """Note keywords of a place that are enforced, and keys that are annotations, each with a detail."""
        self._places.append((pointer, enforced, annotations))

    def add_malformed(self, pointer: str, keyword: str) -> None:
        """Note a keyword whose value no reader would take, but which can have no effect, so none reads it."""
        self._malformed.add((pointer, keyword))
        self.notes = [note for note in self.notes if (note.pointer, note.keyword) != (pointer, keyword)]  # they say how it is read
        self.notes.append(Entry(pointer, keyword, "malformed, and without effect here"))

    @property
    def has_enforced(self) -> bool:
        """Whether any keyword is enforced, without the lines if that is seen otherwise."""
        if self._malformed or self.relaxed:
            return bool(self.enforced)
        return any(names for _, names, _ in self._places)

    @cached_property
    def enforced(self) -> list[Entry]:  # type: ignore[override]
        """Constraints that every mask respects."""
        others = self._malformed.union((entry.pointer, entry.keyword) for entry in self.relaxed)
        lines = dict.fromkeys(Entry(pointer, name) for pointer, names, _ in self._places for name in names)
        return [line for line in lines if (line.pointer, line.keyword) not in others]

    @cached_property
    def annotations(self) -> list[Entry]:  # type: ignore[override]
        """Parts that constrain nothing by definition."""
        return list(dict.fromkeys(Entry(pointer, *line) for pointer, _, lines in self._places for line in lines))
