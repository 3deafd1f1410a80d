"""Where the engine and the suite differ on purpose: valid instances that are refused, with the reason.

Nothing may be listed here that is accepted although it is invalid. Each line names a folder or file of the suite and a part of the name
of a case; a line that matches no such case any more is an error, so the list does not outlive its reasons.
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """Valid instances that are refused: cases of a file (or of a folder, by its name and a slash) whose name contains `part`."""

    file: str
    part: str
    reason: str

    def covers(self, file: str, name: str) -> bool:
        """Whether it speaks of the case `name` of `file` (`draft2020-12/optional/format/date.json`)."""
        return f"/{self.file}" in f"/{file}" and self.part in name


DIFFERENCES: tuple[Difference, ...] = ()
