"""What a compiled grammar enforces: nothing of a source is dropped without a line here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Entry(NamedTuple):
    """One keyword (or construct) at one place.

    Attributes
    ----------
    pointer : str
        RFC 6901 JSON pointer into the schema, or "line:column" of a text; "" is the root.
    keyword : str
    detail : str
        What is done with it, in words; may be empty.
    """

    pointer: str
    keyword: str
    detail: str = ""


@dataclass
class Report:
    """What became of each part of the source, by entries: each has a `pointer`, a `keyword` and a `detail`.

    Attributes
    ----------
    enforced : list of Entry
        Constraints that every mask respects.
    annotations : list of Entry
        Parts that constrain nothing by definition (`title`, an unknown keyword, ...).
    relaxed : list of Entry
        Constraints that `lenient=True` gave up, each with the reason. Empty unless `lenient=True`.
    notes : list of Entry
        What a reader should know besides, such as possible dead ends under `lexing="longest"`.
    """

    enforced: list[Entry] = field(default_factory=list)
    annotations: list[Entry] = field(default_factory=list)
    relaxed: list[Entry] = field(default_factory=list)
    notes: list[Entry] = field(default_factory=list)

    def take_over(self, other: Report, prefix: str) -> None:
        """Take over the entries of a part, whose places begin with `prefix` here."""
        for name in ("enforced", "annotations", "relaxed", "notes"):
            entries: list[Entry] = getattr(other, name)
            getattr(self, name).extend(entry._replace(pointer=prefix + entry.pointer) for entry in entries)

    def __str__(self) -> str:
        lines = []
        for title in ("enforced", "relaxed", "annotations", "notes"):
            entries: list[Entry] = getattr(self, title)
            if entries:
                lines.append(f"{title}:")
                lines += [f"  {e.pointer or '(root)'}  {e.keyword}{'  ' + e.detail if e.detail else ''}" for e in entries]
        return "\n".join(lines) or "nothing to report"
