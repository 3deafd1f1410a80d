"""From scores to a token: penalty, temperature, filters, softmax, draw.

Idea. The allowed tokens are those whose score is not -inf, often a few of a hundred thousand. So they are gathered first, and all that follows
is done on them alone, in float64: no filter sorts or exponentiates what the mask has excluded.

    scores (V,)  --penalise, mask-->  gather  --temperature-->  top-k  -->  top-p  -->  min-p  -->  softmax  -->  (V,)

Each filter sees the distribution that the one before it left, renormalised. Among equal scores the lower id goes first, so the result
does not depend on how a sort breaks ties. A filter never leaves nothing: the likeliest token stays.

Cost of `probabilities` at V = 131,072: a comparison and the zeroed result, 0.1 ms, and what is allowed; top-p sorts only as many of the
likeliest as it keeps, to the next power of eight.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.floating]
Probabilities: TypeAlias = NDArray[np.float64]

_FIRST_SORTED = 64  # top-p: how many of the likeliest are sorted before there is reason for more


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen: repetition penalty, mask, temperature, top-k, top-p, min-p, softmax, draw, in this order.

    Parameters
    ----------
    temperature : float
        Divides the scores; 0 takes the best token (greedy), and no filter matters then.
    top_k : int, optional
        Keep the k best tokens; at least 1.
    top_p : float, optional
        Keep the likeliest tokens until their probabilities sum to top_p, the one that reaches it included; 0 to 1.
    min_p : float, optional
        Keep the tokens that are at least min_p times as likely as the likeliest; 0 to 1.
    repetition_penalty : float
        Above 0; 1 is none. Lowers (above 1) the scores of the tokens that were generated before.
    sign_aware : bool
        Multiply negative scores by the penalty and divide positive ones. False: divide all, the literal formula of CTRL [1]_, which
        raises a negative score.

    Raises
    ------
    ValueError
        An option is out of its range.

    References
    ----------
    .. [1] Keskar et al., "CTRL: A Conditional Transformer Language Model for Controllable Generation", 2019, section 4.1.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    sign_aware: bool = True

    def __post_init__(self) -> None:
        if not _is_number(self.temperature) or not self.temperature >= 0:
            raise ValueError(f"temperature is a number of at least 0, not {self.temperature!r}")
        if self.top_k is not None and (isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 1):
            raise ValueError(f"top_k is an int of at least 1, not {self.top_k!r}")
        for name, share in (("top_p", self.top_p), ("min_p", self.min_p)):
            if share is not None and (not _is_number(share) or not 0 <= share <= 1):
                raise ValueError(f"{name} is a number from 0 to 1, not {share!r}")
        if not _is_number(self.repetition_penalty) or not self.repetition_penalty > 0:
            raise ValueError(f"repetition_penalty is a number above 0, not {self.repetition_penalty!r}")

    @property
    def greedy(self) -> bool:
        """Whether the best token is taken, whatever the seed."""
        return self.temperature == 0 or self.top_k == 1


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def penalise(logits: Scores, ids: Collection[int], theta: float, *, sign_aware: bool = True) -> None:
    """Apply the repetition penalty in place.

    Parameters
    ----------
    logits : numpy.ndarray
        Floating, shape (V,) or (rows, V): the same for all rows.
    ids : collection of int
        Tokens to penalise; one that stands here twice is penalised once.
    theta : float
        The penalty; 1 changes nothing.
    sign_aware : bool
        See `Sampling`.

    Raises
    ------
    ValueError
        An id is not in 0 .. V - 1.
    """
    if theta == 1 or not ids:
        return
    columns = np.unique(np.fromiter(ids, dtype=np.int64))
    if columns[0] < 0 or columns[-1] >= logits.shape[-1]:
        raise ValueError(f"tokens {columns[0]} to {columns[-1]} are to be penalised, and there are scores of {logits.shape[-1]}")
    scores = logits[..., columns]
    logits[..., columns] = np.where(scores < 0, scores * theta, scores / theta) if sign_aware else scores / theta


def probabilities(logits: Scores, sampling: Sampling) -> Probabilities:
    """The distribution from which the next token is drawn.

    Parameters
    ----------
    logits : numpy.ndarray
        Floating, shape (V,): scores after penalty and mask; -inf for what may not come. Not changed.
    sampling : Sampling

    Returns
    -------
    numpy.ndarray
        float64, shape (V,), sums to 1; 0 for what may not come or was filtered out. Greedy: 1 for the best token (the lowest id among equals).

    Raises
    ------
    ValueError
        No token may come, or a score is NaN or +inf.
    """
    if logits.ndim != 1:
        raise ValueError(f"probabilities are made of one row of scores, not of the shape {logits.shape}")
    result = np.zeros(len(logits))
    ids = np.flatnonzero(logits != -np.inf)
    if not len(ids):
        raise ValueError("no token has a score above -inf")
    scores = logits[ids].astype(np.float64)
    best = scores.max()  # NaN if one is
    if not math.isfinite(best):
        raise ValueError(f"a score is {best}: scores are finite, or -inf for what may not come")
    if sampling.greedy:
        result[ids[scores.argmax()]] = 1
        return result
    scores -= best  # before the temperature: tiny ones overflow else
    with np.errstate(over="ignore"):  # -inf is right
        scores /= sampling.temperature
    if sampling.top_k is not None and sampling.top_k < len(ids):
        kept = _likeliest(scores, sampling.top_k)
        ids, scores = ids[kept], scores[kept]
    weights = np.exp(scores)
    if sampling.top_p is not None and sampling.top_p < 1:
        kept = _nucleus(weights, sampling.top_p)
        ids, weights = ids[kept], weights[kept]
    if sampling.min_p:
        kept = np.flatnonzero(weights >= sampling.min_p)  # the likeliest has weight 1
        ids, weights = ids[kept], weights[kept]
    result[ids] = weights / weights.sum()
    return result


def _likeliest(scores: Probabilities, count: int) -> NDArray[np.intp]:
    """Positions of the `count` highest scores, ascending; among equals the first."""
    if count >= len(scores):
        return np.arange(len(scores))
    threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > threshold)
    equal = np.flatnonzero(scores == threshold)[: count - len(above)]
    return np.sort(np.concatenate((above, equal)))


def _nucleus(weights: Probabilities, share: float) -> NDArray[np.intp]:
    """Positions of the fewest highest weights that sum to `share` of all."""
    wanted = share * weights.sum()
    count = _FIRST_SORTED
    while True:
        kept = _likeliest(weights, count)
        kept = kept[np.argsort(-weights[kept], kind="stable")]
        sums = np.cumsum(weights[kept])
        if sums[-1] >= wanted or count >= len(weights):
            return kept[: int(np.searchsorted(sums, wanted)) + 1]
        count *= 8


def choose(probabilities: Probabilities, rng: np.random.Generator) -> int:
    """Draw a token; one of probability 0 is never drawn.

    Parameters
    ----------
    probabilities : numpy.ndarray
        float64, shape (V,), not negative; sums to more than 0, not necessarily to 1.
    rng : numpy.random.Generator
        One number is drawn from it, whatever the distribution.
    """
    ids = np.flatnonzero(probabilities)
    sums = np.cumsum(probabilities[ids])
    at = np.searchsorted(sums, rng.random() * sums[-1], side="right")
    return int(ids[min(int(at), len(ids) - 1)])  # rounding could lead past the last


def draws(probabilities: Probabilities, rng: np.random.Generator) -> Iterator[int]:
    """Draw tokens one after another, each as `choose` would from what the earlier ones have left, until none is left.

    The first costs what `choose` costs. The others are the order of an exponential race [1]_: a token arrives after a time that is exponential
    with its probability as rate, so whichever have arrived, the next is drawn by the probabilities of the rest.

    Parameters
    ----------
    probabilities : numpy.ndarray
        As for `choose`.
    rng : numpy.random.Generator

    References
    ----------
    .. [1] Efraimidis and Spirakis, "Weighted random sampling with a reservoir", Information Processing Letters 97, 2006.
    """
    first = choose(probabilities, rng)
    yield first
    ids = np.flatnonzero(probabilities)
    ids = ids[ids != first]
    with np.errstate(over="ignore"):  # of probabilities near 1e-308: they arrive last, at infinity
        arrivals = rng.standard_exponential(len(ids)) / probabilities[ids]
    yield from ids[np.argsort(arrivals, kind="stable")].tolist()
