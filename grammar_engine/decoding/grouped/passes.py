"""Forward passes: what texts under way ask of the model, and how many texts are answered by one pass.

Idea. The writing of a text is a generator: it yields requests, and is sent their scores. So one text and many are written by the same code; those
that are written together go in rounds, and all requests of a round are answered by one forward pass.

    round 1    a a a P P        b b b b b P P        c P P        ids and pads of three texts; each row of scores asked for is sent back
    round 2    a a a a a P P    b b b b b b P P      (ended)

Texts of different lengths are filled up on the *right*. In a causal model no position sees what stands to its right, so the fill changes no
score that is read, and needs neither an attention mask (none is given: all ones) nor position ids. Scores are those of texts that are written
one by one, up to the rounding of products of other shapes.

Keys and values are kept of the longest prefix that *every* text of a batch has in common with what it was in the round before; when a
text ends, the batch shrinks, and the next pass is made whole.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from ..ids import common_prefix
from ..models import Logits, Model, as_numpy, cut_past

T = TypeVar("T")

BatchFunction: TypeAlias = Callable[[list[list[int]]], Sequence[Any]]


class Request(NamedTuple):
    """Scores after each of the last `rows` prefixes of `ids`."""

    ids: list[int]
    rows: int


Writing: TypeAlias = Generator[list[Request], list[Logits], T]


class Passes(Protocol):
    """Whoever answers requests."""

    def answer(self, requests: list[Request]) -> list[Logits]:
        """For each request an array of float32, shape (rows, V), the caller's to change."""


def run(writings: Sequence[Writing[T]], passes: Passes) -> list[T]:
    """Write texts to their ends, together; returns what each generator returns, in order."""
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
        answers = iter(passes.answer([request for requests in of_round.values() for request in requests]))
        for index, requests in of_round.items():
            step(index, [next(answers) for _ in requests])
    return [results[index] for index in range(len(writings))]


def passes_of(model: Model, batch: BatchFunction | None, requests: int) -> Passes:
    """How requests are answered.

    Parameters
    ----------
    model : Model
    batch : callable, optional
        Takes the ids of several texts, and returns for each an array of its scores, shape (len(ids), V).
    requests : int
        The most that a round has. 1: a session, which keeps the keys and values of its text. More: one pass for all, by `batch` or by
        the module of a torch model; where there is neither, a session for each, so that a round takes as many passes as it has requests.
    """
    if requests > 1 and batch is not None:
        return _Together(batch)
    if requests > 1 and hasattr(model, "module"):
        return _TorchTogether(model)
    return _Apart(model)


class _Apart:
    """A session for each place in a round."""

    def __init__(self, model: Model):
        self.model = model
        self.sessions: list[Any] = []

    def answer(self, requests: list[Request]) -> list[Logits]:
        while len(self.sessions) < len(requests):
            self.sessions.append(self.model.start())
        return [session.logits(*request) for session, request in zip(self.sessions, requests)]


class _Together:
    def __init__(self, batch: BatchFunction):
        self.batch = batch

    def answer(self, requests: list[Request]) -> list[Logits]:
        answers = self.batch([list(request.ids) for request in requests])
        if len(answers) != len(requests):
            raise ValueError(f"the batch function was given {len(requests)} texts, and answers {len(answers)}")
        for scores, request in zip(answers, requests):
            if len(scores.shape) != 2 or scores.shape[0] != len(request.ids):
                raise ValueError(f"the scores of {len(request.ids)} ids have the shape ({len(request.ids)}, V), not {tuple(scores.shape)}")
        return [as_numpy(scores[-request.rows :]) for scores, request in zip(answers, requests)]


class _TorchTogether:
    def __init__(self, model: Any):
        self.model = model
        self._forget()

    def _forget(self) -> None:
        self.texts: list[list[int]] = []  # those of the last pass
        self.past: Any = None

    def answer(self, requests: list[Request]) -> list[Logits]:
        import torch

        texts = [request.ids for request in requests]
        longest = max(map(len, texts))
        past, kept = cut_past(self.past, max(map(len, self.texts), default=0), self._kept(requests), longest)
        self._forget()  # should the pass fail, `past` may be half written
        first = min(len(request.ids) - request.rows for request in requests)  # before it no scores are asked for
        filled = [text[kept:] + text[-1:] * (longest - len(text)) for text in texts]
        with torch.inference_mode():
            scores, past = self.model.forward(filled, past, longest - first)
            answers = [as_numpy(row[len(ids) - n - first : len(ids) - first]) for row, (ids, n) in zip(scores, requests)]
        self.model.passes += 1
        self.texts, self.past = texts, past
        return answers

    def _kept(self, requests: list[Request]) -> int:
        if self.past is None or len(requests) != len(self.texts):
            return 0
        return min(min(common_prefix(old, ids), len(ids) - rows) for old, (ids, rows) in zip(self.texts, requests))
