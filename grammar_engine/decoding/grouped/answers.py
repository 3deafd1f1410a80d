"""Who answers the requests of a round: a session for each text, a batch function of the user's, or one pass of a torch module (`batch`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..models import Logits, Model, Session, TorchModel, as_numpy, asked, check_scores
from .leases import Leases
from .passes import Passes, Request

BatchFunction: TypeAlias = Callable[[list[list[int]]], Sequence[Any]]


def passes_of(model: Model, batch: BatchFunction | None, requests: int, prefix_cache: Any = None) -> Passes:
    """How requests are answered.

    Parameters
    ----------
    model : Model
    batch : callable, optional
        Takes the ids of several texts, and returns for each an array of its scores, shape (len(ids), V).
    requests : int
        The most that a round has. 1: a session, which keeps the keys and values of its text. More: one pass for all, by `batch` or by
        the module of a torch model; where there is neither, a session for each, so that a round takes as many passes as it has requests.
    prefix_cache : PrefixCache, optional
        Has keys and values of the beginnings of texts, and takes in those that are made. Not with `batch`.
    """
    leases = None if prefix_cache is None else Leases(prefix_cache, model)
    if requests > 1 and batch is not None:
        return _Together(batch)
    if requests > 1 and isinstance(model, TorchModel):
        from .batch import TorchBatch

        return TorchBatch(model, leases)
    return _Apart(model, leases)


class _Apart:
    """A session for each text, and for each further request of a text."""

    def __init__(self, model: Model, leases: Leases | None):
        self.model = model
        self.leases = leases
        self.held: dict[tuple[int, int], tuple[Session, Request]] = {}  # by the text, and which of its requests it is: the last one

    def answer(self, requests: Sequence[Request], texts: Sequence[int]) -> list[Logits]:
        self._let_go(set(texts))
        return [self._answer(request, (text, at - texts.index(text))) for at, (request, text) in enumerate(zip(requests, texts))]

    def _answer(self, request: Request, place: tuple[int, int]) -> Logits:
        if place in self.held:
            session, _ = self.held[place]
            answer = asked(session, request.ids, request.rows)
        else:
            session = self.model.start()
            leases = self.leases if place[1] == 0 else None
            if leases is not None:
                leases.begin(place[0], session, request.certain)
            answer = asked(session, request.ids, request.rows)
            if leases is not None:
                leases.keep(place[0], session, request.certain)
        self.held[place] = session, request
        return answer

    def _let_go(self, texts: set[int]) -> None:
        """Of all texts but these."""
        for place in [place for place in self.held if place[0] not in texts]:
            session, request = self.held.pop(place)
            if self.leases is not None:
                self.leases.end(place[0], session, request.certain)

    def close(self) -> None:
        try:
            self._let_go(set())
        finally:
            if self.leases is not None:
                self.leases.close()


class _Together:
    def __init__(self, batch: BatchFunction):
        self.batch = batch

    def answer(self, requests: Sequence[Request], _texts: Sequence[int]) -> list[Logits]:
        answers = self.batch([list(request.ids) for request in requests])
        if not hasattr(answers, "__len__"):
            raise TypeError(f"the batch function returns scores for each text, not {type(answers).__name__}")
        if len(answers) != len(requests):
            raise ValueError(f"the batch function was given {len(requests)} texts, and answers {len(answers)}")
        for scores, request in zip(answers, requests):
            check_scores(scores, len(request.ids), "the batch function")
        return [as_numpy(scores[-request.rows :]) for scores, request in zip(answers, requests)]

    def close(self) -> None:
        pass
