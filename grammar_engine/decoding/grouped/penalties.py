"""Repetition penalties: the scores of tokens that were generated before are lowered.

    h(i) = theta if token i was generated, else 1;   score / h where it is positive, score * h where it is negative

Dividing whatever the sign is, as the formula of CTRL has it [1]_, raises a negative score; it is kept as an option.

References
----------
.. [1] Keskar et al., "CTRL: A Conditional Transformer Language Model for Controllable Generation", 2019, section 4.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from ...checks import as_int, check_bool, check_number
from ..models import Logits
from ..scores import penalise


class RepetitionPenaltyStrategy(ABC):
    """A repetition penalty: lowers the scores of tokens that were written before.

    Attributes
    ----------
    theta : float
        The penalty; 1 is none.
    """

    theta: float

    @staticmethod
    def get_already_generated_tokens(tokens: Sequence[int], generation_start: int) -> set[int]:
        """The tokens from `generation_start` on."""
        return set(tokens[generation_start:])

    @abstractmethod
    def __call__(self, logits: Logits, tokens: Sequence[int], generation_start: int) -> Logits:
        """Lower scores, and return them.

        Parameters
        ----------
        logits : Logits
            Shape (V,), or (rows, V) for the rows of a group.
        tokens : sequence of int
            The whole text, the prompt first.
        generation_start : int
            Where in `tokens` that begins which is penalised: behind the prompt, or at 0.

        Returns
        -------
        Logits
            `logits`, changed in place, or others of their shape.
        """

    def as_dict(self) -> dict[str, Any]:
        """The arguments of the constructor, as plain values.

        Of a strategy of the user's own they tell the name only, so `from_dict` of a pipeline cannot make it again.
        """
        return {"strategy": type(self).__qualname__, "theta": self.theta}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(theta={self.theta})"


class LogitScalingRepetitionPenalty(RepetitionPenaltyStrategy):
    """Scales the scores of generated tokens.

    Parameters
    ----------
    theta : float
        Above 1.
    sign_aware : bool
        Multiply negative scores instead of dividing them.
    exempt : iterable of int
        Tokens that are never punished, such as the quotes and commas that a grammar asks for again and again.

    Raises
    ------
    ValueError
        `theta` is not above 1.
    """

    def __init__(self, theta: float, *, sign_aware: bool = True, exempt: Iterable[int] = ()):
        if not check_number("theta", theta) > 1:
            raise ValueError(f"Theta must be > 1, not {theta!r} (no penalty, theta 1, is NoRepetitionPenalty)")
        self.theta = float(theta)
        self.sign_aware = check_bool("sign_aware", sign_aware)
        self.exempt = frozenset(as_int("exempt", token) for token in exempt)

    def __call__(self, logits: Logits, tokens: Sequence[int], generation_start: int) -> Logits:
        """Lower the scores of generated tokens, in place; returns them."""
        generated = self.get_already_generated_tokens(tokens, generation_start) - self.exempt
        penalise(logits, generated, self.theta, sign_aware=self.sign_aware)
        return logits

    def as_dict(self) -> dict[str, Any]:
        """The arguments of the constructor, as plain values."""
        return {"theta": self.theta, "sign_aware": self.sign_aware, "exempt": sorted(self.exempt)}


class NoRepetitionPenalty(RepetitionPenaltyStrategy):
    """Leaves scores as they are."""

    theta = 1.0

    def __call__(self, logits: Logits, tokens: Sequence[int], generation_start: int) -> Logits:
        """Return the scores as they are."""
        return logits

    def as_dict(self) -> dict[str, Any]:
        """The arguments of the constructor, as plain values."""
        return {"theta": self.theta}


DEFAULT_REPETITION_PENALTY = LogitScalingRepetitionPenalty(1.2)


def repetition_penalty_factory(theta: float | None) -> RepetitionPenaltyStrategy:
    """The strategy for a penalty: None is the default, 1.2; 1 is none.

    Raises
    ------
    ValueError
        `theta` is below 1.
    """
    if theta is None:
        return DEFAULT_REPETITION_PENALTY
    if theta == 1:
        return NoRepetitionPenalty()
    return LogitScalingRepetitionPenalty(theta)


def penalty_from_dict(values: dict[str, Any]) -> RepetitionPenaltyStrategy:
    """The strategy that `as_dict` described.

    Raises
    ------
    ValueError
        It is not one of this library.
    """
    if "strategy" in values:
        raise ValueError(f"the penalty was a {values['strategy']}, which is not known here: give it as repetition_penalty_strategy")
    if "theta" not in values:
        raise ValueError(f"{values!r:.80} describes no repetition penalty: there is no theta")
    return NoRepetitionPenalty() if values["theta"] == 1 else LogitScalingRepetitionPenalty(**values)
