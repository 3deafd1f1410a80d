"""A text under way: its tokens, the state of its grammar, and how its next token is chosen from a row of scores.

    row (V,)  --penalty-->  --mask-->  --temperature, filters, softmax-->  chances  --draw-->  token  --does it fit?-->  text

Whatever row a token is drawn from, it is masked in the state that the tokens before it led to. So tokens that were drawn from rows that
know nothing of each other still make a sentence.

The rules are those of the plain loop: what is forced, what fits into the budget and how another token is drawn where one does not. So a
text whose rows are all the model's own is the plain loop's text, draw for draw as long as all fit.

Invariant. `ids` are those of the prompt and all tokens since, without the one that ended the text. `back` undoes tokens in `ids`, in the
grammar and in the budget alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain, islice
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ...errors import InternalError
from ..apply import apply_mask
from ..budget import TRIES, BudgetedText
from ..models import Logits
from ..scores import Probabilities, Sampling, choose, draws, heated, probabilities, retries
from .penalties import RepetitionPenaltyStrategy
from .result import GroupedResult, count


@dataclass(frozen=True)
class Rules:
    """How tokens are chosen, the same for all texts of a call; `GroupedSampler` says what the options mean.

    Attributes
    ----------
    size : int
        Ids from here on are never generated.
    ends : frozenset of int
        Ids that end a text.
    """

    sampling: Sampling
    penalty: RepetitionPenaltyStrategy
    size: int
    ends: frozenset[int]
    end_of_sentence_stop: bool = True
    penalize_from: str | int = "generated"
    penalize_in_group: bool = True
    forced: bool = True
    close_in_time: bool = True
    min_allowed_mass: float = 0.0
    min_top_prob: float = 0.0


class Outlook(NamedTuple):
    """What a row says of the next token.

    Attributes
    ----------
    scores : numpy.ndarray
        After penalty and mask.
    chances : numpy.ndarray
        After temperature, filters and softmax.
    trusted : bool
        The mask allows enough of the row's probability, and the likeliest token is likely enough.
        Never of a guess that gives -inf to all that is allowed, which has no chances.
    """

    scores: Logits
    chances: Probabilities
    trusted: bool


class Mark(NamedTuple):
    """How far a text is."""

    length: int
    left: int
    closing: list[int]


class Text:
    """A text that begins with a prompt.

    Parameters
    ----------
    rules : Rules
    prompt : sequence of int
    state : BudgetedText or None
        The grammar, and the budget under it.
    budget : int
        Tokens that may be generated, the one that ends the text included.
    rng : numpy.random.Generator
    """

    def __init__(self, rules: Rules, prompt: Sequence[int], state: BudgetedText | None, budget: int, rng: np.random.Generator):
        self.rules = rules
        self.ids = list(prompt)
        self.begin = len(self.ids)
        self.state = state
        self.left = budget
        self.rng = rng
        self.ended = False
        self.result = GroupedResult()
        self._penalised_to: int | None = None

    @property
    def open(self) -> bool:
        """Whether another token is wanted."""
        return not self.ended and self.left > 0

    # --- choosing ---------------------------------------------------------------------------------------------------

    def begin_group(self) -> None:
        """From now on, tokens are penalised that were generated before now; where `penalize_in_group`, all tokens are."""
        if not self.rules.penalize_in_group:
            self._penalised_to = len(self.ids)

    def outlook(self, row: Logits, place: int | None = None) -> Outlook:
        """What a row of raw scores says of the next token. The row is changed.

        `place` is the number of the row in its group; None: it is the model's own, read at the last token of the text.
        """
        rules = self.rules
        if self.state is not None and len(row) < self.state.matcher.vocabulary.width:
            raise ValueError(f"the model scores {len(row)} tokens, and the vocabulary has {self.state.matcher.vocabulary.width}")
        scores = rules.penalty(row, self.ids[: self._penalised_to], self._penalised_from())
        if not isinstance(scores, np.ndarray) or scores.shape != row.shape:
            raise TypeError(f"a penalty returns the scores that it was given, not {type(scores).__name__}")
        scores[rules.size :] = -np.inf
        mass = 1.0
        if self.state is not None:
            weighed = place is not None and rules.min_allowed_mass > 0
            unmasked = scores.copy() if weighed else scores
            begun = perf_counter()
            self.state.fill_mask()
            apply_mask(scores, self.state.mask)
            self.result.seconds_masks += perf_counter() - begun
            if place is not None and weighed:
                mass = self._weigh(scores, unmasked, place)
        if not rules.end_of_sentence_stop:
            self._ban_ends(scores)
        if place and not (scores != -np.inf).any():
            return Outlook(scores, np.zeros(len(scores)), False)
        self._leave_way_out(scores)
        chances = probabilities(scores, rules.sampling)
        trusted = mass >= rules.min_allowed_mass and (not rules.min_top_prob or self._top_probability(scores) >= rules.min_top_prob)
        return Outlook(scores, chances, trusted)

    def _penalised_from(self) -> int:
        start = self.rules.penalize_from
        return start if isinstance(start, int) else self.begin if start == "generated" else 0

    def _leave_way_out(self, scores: Logits) -> None:
        """Where the model gives -inf to all that is allowed, and the text
        is to be completed: a closing is written, as in the plain loop.
        """
        if self.state is not None and self.state.close_in_time and not (scores != -np.inf).any():
            scores[self.state.way_out()] = 0

    def _top_probability(self, scores: Logits) -> float:
        """Of the likeliest token, among all that may come; filters have no part in it."""
        return float(1 / np.exp(heated(scores, scores.max(), self.rules.sampling.temperature or 1.0)).sum(dtype=np.float64))

    def _weigh(self, masked: Logits, unmasked: Logits, place: int) -> float:
        """The share of probability that the mask allows; taken down in the result."""
        temperature, best, mass = self.rules.sampling.temperature or 1.0, unmasked.max(), 0.0
        if best != -np.inf:
            kept, whole = (np.exp(heated(row, best, temperature)).sum() for row in (masked, unmasked))
            mass = float(kept / whole)
        result = self.result
        result.mass.extend([0.0] * (place + 1 - len(result.mass)))
        result.mass[place] += mass
        count(result.weighed, place)
        return mass

    def _ban_ends(self, scores: Logits) -> None:
        """Exclude the tokens that end a text, unless nothing else is allowed. (Within one they are what the grammar names, if anything.)"""
        if self.state is not None and not self.state.matcher.is_complete:
            return
        ends = sorted(end for end in self.rules.ends if end < len(scores))
        kept = scores[ends]
        scores[ends] = -np.inf
        if self.state is not None and not (scores != -np.inf).any():
            scores[ends] = kept

    # --- writing ----------------------------------------------------------------------------------------------------

    def take(self, outlook: Outlook) -> int:
        """Draw a token and append it; returns it."""
        return self.settle(choose(outlook.chances, self.rng), outlook)

    def settle(self, token: int, outlook: Outlook) -> int:
        """Append a token that was drawn, or, if it does not fit into the budget, another one from the same row; returns it."""
        for candidate in islice(chain([token], self._others(token, outlook)), TRIES):
            if self.push(candidate):
                return candidate
            outlook.scores[candidate] = -np.inf
        return self.push_way_out()

    def push_way_out(self) -> int:
        """Append the next token of a closing, where the model has none that fits; returns it."""
        if self.state is None or not self.state.close_in_time:
            raise ValueError("the model gives -inf to every token that the grammar allows")
        token = self.state.way_out()
        if not self.push(token):
            raise InternalError(f"token {token} begins a closing and does not fit")
        return token

    def _others(self, token: int, outlook: Outlook) -> Iterator[int]:
        """What is drawn after `token` was refused; those that were refused have the score -inf."""
        rest = outlook.chances.copy()
        rest[token] = 0
        if rest.any():
            yield from draws(rest, self.rng)
        yield from retries(outlook.scores, self.rules.sampling, self.rng, TRIES)

    def push(self, token: int) -> bool:
        """Append a token, or end the text by it. False: it does not fit into the budget, and nothing has changed."""
        begun = perf_counter()
        fits = self.state is None or self.state.accept(token)
        self.result.seconds_masks += perf_counter() - begun
        if fits:
            self._note([token])
        return fits

    def _note(self, tokens: list[int]) -> None:
        """Take down tokens that the state has read, of which the last one may end the text."""
        self.left -= len(tokens)
        self.ended = tokens[-1] in self.rules.ends if self.state is None else self.state.matcher.is_terminated
        self.ids += tokens[:-1] if self.ended else tokens

    def force(self) -> int:
        """Append the tokens that the grammar alone determines, where this is wanted; returns how many."""
        before = self.left
        if self.rules.forced and self.state is not None:
            begun = perf_counter()
            while self.open and (tokens := self.state.write_alone()):
                self._note(tokens)
            self.result.seconds_masks += perf_counter() - begun
        return before - self.left

    # --- going back -------------------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """What `back` takes; the text is open."""
        return Mark(len(self.ids), self.left, [] if self.state is None else self.state.closing)

    def back(self, mark: Mark) -> None:
        """Undo all tokens since `mark`."""
        if self.state is not None:
            self.state.back(mark.left - self.left, mark.closing)
        del self.ids[mark.length :]
        self.left, self.ended = mark.left, False

    def fork(self) -> Text:
        """An independent copy, but for the generator and the result, which are shared."""
        twin = copy(self)
        twin.ids = list(self.ids)
        if self.state is not None:
            twin.state = self.state.fork()
        return twin

    def finish(self) -> GroupedResult:
        """The result."""
        result = self.result
        result.ids = self.ids[self.begin :]
        result.finished = self.ended or (self.state is not None and self.state.matcher.is_complete)
        result.stop_reason = "end" if self.ended else "budget"
        return result
