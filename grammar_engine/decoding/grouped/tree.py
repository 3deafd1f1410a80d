"""Grouped tree search: several tokens are followed from each row, and the likeliest texts are kept.

    row 0     row 1     row 2        of one pass; each branch takes the likeliest tokens of the next row
    ice    -> cream  -> .
           -> and    -> ...
    pizza  -> with   -> ...

The probability of a text is the product of those of its tokens, as the rows of its groups have them (the rows of one group do not know
which branch they are read for). After each row the `beam` likeliest branches stay, so the cost is bounded: a pass for all branches of a
round, where the model takes batches. Without a bound the number of branches would be a power of the length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ...checks import check_count
from ...grammar import Grammar
from ..budget import TRIES
from ..models import Logits
from ..warning import warn
from .commit import visible
from .methods import GenerationType
from .passes import Request, Writing
from .pipeline import GroupedPipeline, PipelineOptions
from .result import GroupedResult
from .text import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Branch(NamedTuple):
    """A text, how likely it is, the rows of the last pass over it (row
    i is of the token at `begun` + i), and how many tokens were forced.
    """

    text: Text
    log_probability: float
    forced: int
    rows: Logits | None = None
    begun: int = 0


class GroupedTreeSearch(GroupedPipeline):
    """Writes the likeliest texts that it finds. Draws nothing: the same call has the same answer.

    Parameters
    ----------
    model, tokenizer, group_size
        See `GroupedPipeline`; so for `**options`.
    top_k, top_p : optional
        Follow only the k likeliest tokens of a row, or the likeliest until their probabilities sum to p; see `GroupedSampler`.
    beam : int
        Branches that are kept after each row.

    Notes
    -----
    `num_return_sequences` answers are the likeliest, best first; there are at most `beam`. Where the filter or a grammar leaves fewer
    texts, there are fewer answers, and a warning.
    """

    descriptive_attrs: ClassVar[tuple[str, ...]] = (*GroupedPipeline.descriptive_attrs, "top_k", "top_p", "beam")

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        group_size: int,
        *,
        top_k: int | None = None,
        top_p: float | None = None,
        beam: int = 8,
        **options: Unpack[PipelineOptions],
    ):
        self._check_names(options)
        self.top_k, self.top_p = top_k, top_p
        self.beam = check_count("beam", beam)
        super().__init__(model, tokenizer, group_size, **options)
        self._most_requests = self.beam

    @property
    def generation_type(self) -> GenerationType:
        """Always `GenerationType.TREE`."""
        return GenerationType.TREE

    def _writings(
        self, prompt: list[int], grammar: Grammar | None, budget: int, sequences: int, seed: int
    ) -> list[Writing[list[GroupedResult]]]:
        if sequences > self.beam:
            raise ValueError(f"{sequences} sequences are wanted, and {self.beam} branches kept: raise beam")
        return [self._search(text, sequences) for text in self._texts(prompt, grammar, budget, [seed])]

    def _search(self, text: Text, sequences: int) -> Writing[list[GroupedResult]]:
        group, calls = self.group_size, 0
        pads = self.padding_tokens
        branches = [Branch(text, 0.0, text.force())]
        while growing := [branch for branch in branches if branch.text.open]:
            answers = yield [Request(visible([*branch.text.ids, *pads], self.max_input_len), group) for branch in growing]
            calls += 1
            branches = [branch for branch in branches if not branch.text.open]
            branches += [branch._replace(rows=rows, begun=len(branch.text.ids)) for branch, rows in zip(growing, answers)]
            for _ in range(group):
                grown = [child for branch in branches for child in self._grow(branch)]
                branches = sorted(grown, key=lambda branch: -branch.log_probability)[: self.beam]
        if len(branches) < sequences:
            warn(f"{sequences} sequences are wanted, and {len(branches)} found: the filter or the grammar leaves no more")
        return [self._result(branch, calls) for branch in branches[:sequences]]

    def _grow(self, branch: Branch) -> list[Branch]:
        """What becomes of a branch by its next row; itself, if it has none."""
        text, rows, place = branch.text, branch.rows, len(branch.text.ids) - branch.begun
        if rows is None or not text.open or place >= len(rows):
            return [branch]
        return list(self._children(branch, rows[place].copy(), place))

    def _children(self, branch: Branch, row: Logits, place: int) -> Iterator[Branch]:
        """The likeliest tokens that pass the filter and fit into the budget; at most as many as can stay.

        If none of these fits, the next that does; after `TRIES` refusals, or where no
        token of a finite score fits, the next token of a closing, as in the plain loop.
        """
        outlook = branch.text.outlook(row, place)
        allowed = np.flatnonzero(outlook.scores != -np.inf)
        if not len(allowed) or (place and not outlook.trusted):  # a guess that is of no use: the next pass asks again
            yield branch._replace(rows=None)
            return
        scores = outlook.scores[allowed].astype(np.float64) / (self.temp or 1.0)
        log_chances = scores - scores.max()
        log_chances -= np.log(np.exp(log_chances).sum())
        n_children, child = 0, branch.text.fork()
        for at in np.argsort(-scores, kind="stable")[:TRIES]:
            token = int(allowed[at])
            if n_children == self.beam or (n_children and not outlook.chances[token]):
                return
            if not child.push(token):
                continue
            n_children += 1
            log_probability = branch.log_probability + float(log_chances[at])
            yield branch._replace(text=child, log_probability=log_probability, forced=branch.forced + child.force())
            child = branch.text.fork()
        if not n_children:
            token = child.push_way_out()
            log_probability = branch.log_probability + float(log_chances[allowed == token].sum())
            yield branch._replace(text=child, log_probability=log_probability, forced=branch.forced + child.force())

    def _result(self, branch: Branch, calls: int) -> GroupedResult:
        finished = branch.text.finish()
        return GroupedResult(
            ids=finished.ids,
            finished=finished.finished,
            stop_reason=finished.stop_reason,
            calls=calls,
            forced=branch.forced,
            seconds_masks=finished.seconds_masks,
            log_probability=branch.log_probability,
        )
