"""Many texts by one forward pass of a torch module, which keeps the keys and values of each.

    keys and values      ids of this pass
    .  .  a  a  a        b  b  P  P          of the first text three positions are kept; two tokens and two pads are passed
    c  c  c  c  c        d  P  -  -          of the second five; a token and a pad, and ids that fill the row

Idea. A row keeps all that its text has in common with what a row of the same text was in the round before, however long the other texts
are. So one that has ended leaves with its row, a branch of a tree search goes on from the row of the branch that it comes from, and the
sequences of one prompt from the row of its only first pass: requests that are alike are one row. What is kept stands at the right end of
its row, and the columns to its left are masked.

Rows are filled up on the *right*. In a causal model no position sees what stands to its right, so the fill changes no score that is read.

A module that cannot be told of columns that mean nothing keeps as many positions of each text as of all others; so does one which sees no
more columns than that would take. Models whose positions turn by what the longest text is (rope of the types "dynamic" and "longrope") see
in a batch that of the longest, as anywhere in `transformers`.

Invariant. The answer to a request depends on its ids alone (but for the rounding of products of other shapes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import keys_values
from ..ids import common_prefix
from ..keys_values import Payload, Span
from ..models import Logits, TorchModel, as_numpy, check_resumable
from .leases import Leases
from .passes import Request


class _Row(NamedTuple):
    """A row of keys and values: those of the ids of a request, from the column `begin` on. `texts`: whose request that was."""

    texts: frozenset[int]
    request: Request
    begin: int


class TorchBatch:
    """Answers all requests of a round by one pass; see `passes.Passes`."""

    def __init__(self, model: TorchModel, leases: Leases | None):
        self.model = model
        self.leases = leases
        self.begun = False
        self._forget()

    def _forget(self) -> None:
        self.rows: list[_Row] = []
        self.past: Any = None
        self.columns = 0  # of `past`

    def answer(self, requests: Sequence[Request], texts: Sequence[int]) -> list[Logits]:  # noqa: D102
        import torch

        requests = [Request(self.model.seen(*request), request.rows) for request in requests]
        self._let_go(set(texts))
        alike: dict[tuple[int, tuple[int, ...]], int] = {}  # the row of a request: sequences of one prompt begin with the same
        row_of = [alike.setdefault((request.rows, tuple(request.ids)), len(alike)) for request in requests]
        wanted = [requests[row_of.index(row)] for row in range(len(alike))]
        of_row = [frozenset(text for text, its in zip(texts, row_of) if its == row) for row in range(len(alike))]
        with torch.inference_mode():
            begun, self.begun = self.begun, True
            past, spans = self._kept(wanted, of_row) if begun else self._resumed(wanted, of_row)
            columns = max(span.begin + span.length for span in spans)
            self._forget()  # should the pass fail, `past` may be half written
            answers, past, width = self._pass(wanted, past, spans, columns)
        if past is not None:
            self.rows = [_Row(of, request, span.begin) for of, request, span in zip(of_row, wanted, spans)]
            self.past, self.columns = past, columns + width
            keys_values.learn_form(self.model.module, past)
        if self.leases is not None and not begun:
            for row, text in zip(row_of, texts):
                self.leases.keep(text, _Holder(self, row), wanted[row].certain)
        return [answers[row] if row_of.index(row) == at else answers[row].copy() for at, row in enumerate(row_of)]

    def close(self) -> None:  # noqa: D102
        try:
            self._let_go(set())
        finally:
            if self.leases is not None:
                self.leases.close()

    def _let_go(self, texts: set[int]) -> None:
        """Of all texts but these."""
        if self.leases is not None:
            for at, row in enumerate(self.rows):
                for text in row.texts - texts:
                    self.leases.end(text, _Holder(self, at), row.request.certain)

    def _pass(self, requests: Sequence[Request], past: Any, spans: Sequence[Span], columns: int) -> tuple[list[Logits], Any, int]:
        """One pass over what is not kept: the answers, the keys and values, and how many columns were passed."""
        new = [request.ids[span.length :] for request, span in zip(requests, spans)]
        width = max(map(len, new))
        places = None
        if any(span.begin for span in spans):
            places = {
                "attention_mask": [[0] * span.begin + [1] * (columns - span.begin + width) for span in spans],
                "position_ids": [
                    [min(at, len(ids) - 1) for at in range(span.length, span.length + width)] for (ids, _), span in zip(requests, spans)
                ],
            }
        first = min(len(ids) - request.rows for ids, request in zip(new, requests))  # before it no scores are asked for
        scores, past = self.model.forward(
            [ids + ids[-1:] * (width - len(ids)) for ids in new], past, width - first, columns + width, places
        )
        answers = [as_numpy(row[len(ids) - n - first : len(ids) - first]) for row, ids, (_, n) in zip(scores, new, requests)]
        self.model.passes += 1
        self.model.learn_width(answers[0].shape[1])
        return answers, past, width

    # --- what is kept -----------------------------------------------------------------------------------------------

    def _resumed(self, requests: Sequence[Request], texts: Sequence[frozenset[int]]) -> tuple[Any, list[Span]]:
        """What the prefix cache has of the first requests, as `_kept`."""
        if self.leases is None:
            return self._nothing(len(requests))
        holders = [_Holder(self, at) for at in range(len(requests))]
        for holder, request, of_row in zip(holders, requests, texts):
            for text in of_row:
                self.leases.begin(text, holder, request.certain)
        lengths = self._fitting([min(holder.resumed, len(ids) - n) for holder, (ids, n) in zip(holders, requests)], requests)
        if not any(lengths):
            return self._nothing(len(requests))
        layers = keys_values.side_by_side([keys_values.put_together(holder.payloads) for holder in holders], lengths)
        return keys_values.all_kept(self.model.module, layers), _at_the_right(lengths)

    def _kept(self, requests: Sequence[Request], texts: Sequence[frozenset[int]]) -> tuple[Any, list[Span]]:
        """The keys and values to go on from, and where each request has its own."""
        if self.past is None:
            return self._nothing(len(requests))
        spans = [self._span(at, request, of_row) for at, (request, of_row) in enumerate(zip(requests, texts))]
        lengths = self._fitting([span.length for span in spans], requests)
        spans = [span._replace(length=length) for span, length in zip(spans, lengths)]
        end, width = spans[0].begin + lengths[0], max(len(request.ids) - length for request, length in zip(requests, lengths))
        is_in_place = [span.row for span in spans] == list(range(len(self.rows))) and {span.begin + span.length for span in spans} == {end}
        if is_in_place and end + width <= (self.model.max_length or end + width):
            past, kept = keys_values.cut_past(self.past, self.columns, end, end + width)
            return (past, spans) if kept else self._nothing(len(requests))
        layers = keys_values.select(self.past, self.columns, spans) if any(lengths) else None
        return (keys_values.all_kept(self.model.module, layers), _at_the_right(lengths)) if layers else self._nothing(len(requests))

    def _nothing(self, n: int) -> tuple[Any, list[Span]]:
        module = self.model.module
        return keys_values.begun(module) if self.leases is None else keys_values.all_kept(module, []), _at_the_right([0] * n)

    def _span(self, at: int, request: Request, texts: frozenset[int]) -> Span:
        """Where a row of the same text has most in common with a request; the row in its place, if that has all."""
        most, best = len(request.ids) - request.rows, Span(0, 0, 0)
        for row in dict.fromkeys((min(at, len(self.rows) - 1), *range(len(self.rows)))):
            held = self.rows[row]
            if held.texts & texts and (length := min(common_prefix(held.request.ids, request.ids), most)) > best.length:
                best = Span(row, held.begin, length)
                if length == most:
                    break
        return best

    def _fitting(self, lengths: list[int], requests: Sequence[Request]) -> list[int]:
        """How many positions are kept of each text, if so many are there:
        of all alike, where the module cannot be told more, or has not so many columns.
        """
        columns = max(lengths) + max(len(request.ids) - length for request, length in zip(requests, lengths))
        is_fine = len(set(lengths)) == 1 or (columns <= (self.model.max_length or columns) and self.model.takes_places(requests[0].ids))
        return lengths if is_fine else [min(lengths)] * len(lengths)


def _at_the_right(lengths: Sequence[int]) -> list[Span]:
    columns = max(lengths)
    return [Span(at, columns - length, length) for at, length in enumerate(lengths)]


class _Holder:
    """A row of a batch, as a prefix cache sees it."""

    def __init__(self, batch: TorchBatch, at: int):
        self.batch, self.at = batch, at
        self.resumed, self.payloads = 0, list[Payload]()

    def resume(self, ids: Sequence[int], payloads: Sequence[Payload]) -> None:
        check_resumable(self.batch.model)
        self.resumed, self.payloads = len(ids), list(payloads)

    def export(self, start: int, stop: int, size: int) -> list[Payload]:
        batch, past = self.batch, self.batch.past
        keys_values.learn_form(batch.model.module, past)
        check_resumable(batch.model)  # a pass has shown whether it is
        row = batch.rows[self.at]
        held = len(row.request.ids)
        return keys_values.taken_apart(keys_values.row_of(past, self.at, row.begin, held), held, start, stop, size)
