"""Methods: how a token is chosen from a row of scores. Which one it is follows from `top_k` and `top_p`."""

from __future__ import annotations

from enum import Enum

from ...checks import check_count, check_number
from ..scores import Sampling


class GenerationType(Enum):
    """How a token is chosen from a row of scores.

    `GREEDY` takes the best token, `RANDOM` draws from all, `TOP_K` from the k best, `TOP_P` from the likeliest until their probabilities
    sum to p (the token that crosses p included, so the best is always there), `TREE` follows several tokens at once.
    """

    GREEDY = "greedy"
    TOP_K = "top_k"
    TOP_P = "top_p"
    TREE = "tree"
    RANDOM = "random"

    def requires_softmax(self) -> bool:
        """Whether probabilities are needed, or scores suffice."""
        return self is not GenerationType.GREEDY

    @classmethod
    def of(cls, top_k: int | None, top_p: float | None) -> GenerationType:
        """The method that the two options ask for; `top_k` goes before `top_p`.

        Raises
        ------
        TypeError, ValueError
            One is no number; `top_k` is below 1, or `top_p` below 0.
        """
        if top_k is not None:
            check_count("top_k", top_k)
        if top_p is not None:
            check_number("top_p", top_p, 0)
        if top_k is None and top_p is None:
            return cls.RANDOM
        if top_k == 1 or top_p == 0:
            return cls.GREEDY
        if top_k is not None:
            return cls.TOP_K
        return cls.TOP_P if top_p is not None and top_p < 1 else cls.RANDOM


def sampling_of(temp: float, top_k: int | None, top_p: float | None) -> Sampling:
    """The options of `scores.probabilities` for a method. A temperature of 0 is greedy too.

    Raises
    ------
    ValueError
        An option is out of its range.
    """
    kind = GenerationType.of(top_k, top_p)
    if kind is GenerationType.GREEDY:
        return Sampling(temperature=0.0)
    return Sampling(
        temperature=temp,
        top_k=top_k if kind is GenerationType.TOP_K else None,
        top_p=top_p if kind is GenerationType.TOP_P else None,
    )
