"""What was written, and what it took."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class GroupedResult:
    """A text that was written.

    Attributes
    ----------
    ids : list of int
        The tokens that were generated, without the one that ended the text.
    text : str
        What they spell: under a grammar byte for byte, else as the tokenizer decodes them.
    finished : bool
        The text was ended by the model, or is a sentence of its grammar. False: it was cut.
    stop_reason : {"end", "budget"}
        Whether the text was ended, or all tokens of the budget were generated.
    calls : int
        Forward passes that this text took part in.
    forced : int
        How many of `ids` the grammar alone determined.
    rows_read, rows_dropped : int
        Rows of scores that were asked for; those of them from which no token was taken.
        Not counted in tree search, where branches share rows.
    drafted, accepted : list of int
        Mode "verify": drafts that were checked, and those of them that were kept, by place: item i is of the (i + 1)-th draft of a group.
    mass, weighed : list of float, list of int
        With `min_allowed_mass`: the sum of the shares of probability that
        the mask allowed, and of how many rows; item i is of row i of a group.
    seconds_masks : float
        Time that masks took.
    log_probability : float or None
        Of the ids, as the rows of the groups have it; tree search only.
    """

    ids: list[int] = field(default_factory=list)
    text: str = ""
    finished: bool = False
    stop_reason: str = "budget"
    calls: int = 0
    forced: int = 0
    rows_read: int = 0
    rows_dropped: int = 0
    drafted: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    mass: list[float] = field(default_factory=list)
    weighed: list[int] = field(default_factory=list)
    seconds_masks: float = 0.0
    log_probability: float | None = None


def count(counts: list[int], place: int) -> None:
    """Add one to an item, which may not be there yet."""
    counts.extend([0] * (place + 1 - len(counts)))
    counts[place] += 1
