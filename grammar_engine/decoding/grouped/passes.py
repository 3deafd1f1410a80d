"""Forward passes: what texts under way ask of the model, and in which rounds.

Idea. The writing of a text is a generator: it yields requests, and is sent their scores. So one text and many are written by the same code;
those that are written together go in rounds, and all requests of a round may be answered by one forward pass (`answers`).

    round 1    a a a P P        b b b b b P P      c P P        ids and pads of three texts; each row of scores asked for is sent back
    round 2    a a a a a P P    b b b b b b P P    (ended)
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from ..models import Logits

T = TypeVar("T")


class Request(NamedTuple):
    """Scores after each of the last `rows` prefixes of `ids`."""

    ids: list[int]
    rows: int

    @property
    def certain(self) -> list[int]:
        """The ids before the first row's next token: no drafts and no pads."""
        return self.ids[: len(self.ids) - self.rows + 1]


Writing: TypeAlias = Generator[list[Request], list[Logits], T]


class Passes(Protocol):
    """Whoever answers requests."""

    def answer(self, requests: Sequence[Request], texts: Sequence[int]) -> list[Logits]:
        """For each request an array of float32, shape (rows, V), the caller's to change. `texts`: the number of its text, ascending.

        Texts that have no request do not come again.
        """

    def close(self) -> None:
        """Nothing more is asked."""


def run(writings: Sequence[Writing[T]], passes: Passes) -> list[T]:
    """Write texts to their ends, together; returns what each generator returns, in order."""
    try:
        return _in_rounds(writings, passes)
    finally:
        passes.close()


def _in_rounds(writings: Sequence[Writing[T]], passes: Passes) -> list[T]:
    results: dict[int, T] = {}
    asked: dict[int, list[Request]] = {}

    def step(index: int, answers: list[Logits] | None) -> None:
        try:
            asked[index] = writings[index].send(answers)  # type: ignore[arg-type]  # a generator is begun with None
        except StopIteration as end:
            results[index] = end.value

    for index in range(len(writings)):
        step(index, None)
    while asked:
        of_round, asked = asked, {}
        requests = [request for of_text in of_round.values() for request in of_text]
        answers = iter(passes.answer(requests, [index for index, of_text in of_round.items() for _ in of_text]))
        for index, of_text in of_round.items():
            step(index, [next(answers) for _ in of_text])
    return [results[index] for index in range(len(writings))]
