"""From scores to a token: penalty, temperature, filters, softmax, draw.

Idea. The allowed tokens are those whose score is not -inf, often a few of a hundred thousand. Then they are gathered first (if the mask has
not done it: apply.py), and all that follows is done on them alone. Where most tokens are allowed, gathering costs more than it saves, and
nothing is moved before a filter has left few.

    scores (V,)  --penalise, mask-->  gather?  --temperature-->  top-k  -->  exp  -->  top-p  -->  min-p  -->  weights of some tokens
    --draw-->  token

Each filter sees the distribution that the one before it left, renormalised. Among equal scores the lower id goes first, so the result
does not depend on how a sort breaks ties. A filter never leaves nothing: the likeliest token stays.

Up to `_FEW` tokens are weighed in float64. More, in float32: a float32 exponential takes a tenth of the time, and its error, 1e-7 of a
weight, is below that of scores made of float16. Sums are float64 everywhere.

Cost at V = 131,072: passes over the scores, the exponential the dearest. No filter sorts all tokens: top-k partitions, top-p adds up
weights in bins, then in bins of the bin where the sum is reached, and sorts what is left; a draw adds up blocks, and then within one block.
docs/decoding.md has figures.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..checks import check_bool, check_count, check_number

Scores: TypeAlias = NDArray[np.floating]
Probabilities: TypeAlias = NDArray[np.float64]

_FEW = 4096  # tokens
_BLOCK = 512  # weights that are added up at once
_FIRST_DRAWN = 1024  # `draws`: how many arrivals are sorted before there is reason for more
_LEAST, _MOST = 1e-30, 1e30  # temperatures and penalties that float32 divides by


class Weights(NamedTuple):
    """A distribution over tokens.

    Attributes
    ----------
    ids : numpy.ndarray or None
        The tokens that may come, ascending; None: token i is at place i.
    values : numpy.ndarray
        Floating, not negative: how likely each is, beside the others.
    """

    ids: NDArray[np.intp] | None
    values: NDArray[np.floating]

    def token(self, place: int) -> int:
        """The token at a place."""
        return place if self.ids is None else int(self.ids[place])


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
    TypeError, ValueError
        An option is of another type, or out of its range.

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
        checked = {
            "temperature": check_number("temperature", self.temperature, 0),
            "top_k": None if self.top_k is None else check_count("top_k", self.top_k),
            "top_p": None if self.top_p is None else check_number("top_p", self.top_p, 0, 1),
            "min_p": None if self.min_p is None else check_number("min_p", self.min_p, 0, 1),
            "repetition_penalty": check_number("repetition_penalty", self.repetition_penalty, 0, above=True),
            "sign_aware": check_bool("sign_aware", self.sign_aware),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def greedy(self) -> bool:
        """Whether the best token is taken, whatever the seed."""
        return self.temperature == 0 or self.top_k == 1 or self.top_p == 0


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
    scores, theta = logits[..., columns], min(max(theta, _LEAST), _MOST)
    with np.errstate(over="ignore"):  # of scores near the least number, with which others ban a token: -inf is right
        lowered = np.where(scores < 0, scores * theta, scores / theta) if sign_aware else scores / theta
    if theta < 1:
        lowered = np.minimum(lowered, np.maximum(scores, np.finfo(scores.dtype).max))  # inf is no score
    logits[..., columns] = lowered


def weigh(logits: Scores, sampling: Sampling) -> Weights:
    """The distribution from which the next token is drawn.

    Parameters
    ----------
    logits : numpy.ndarray
        Floating, shape (V,): scores after penalty and mask; -inf for what may not come. Not changed.
    sampling : Sampling
        Greedy: only the best token is left (the lowest id among equals).

    Raises
    ------
    ValueError
        No token may come, or a score is NaN or +inf.
    """
    if logits.ndim != 1:
        raise ValueError(f"probabilities are made of one row of scores, not of the shape {logits.shape}")
    ids, scores = None, logits
    if len(logits) > _FEW or logits.min(initial=0) == -np.inf:
        allowed = logits != -np.inf
        if len(logits) <= _FEW or 2 * np.count_nonzero(allowed) < len(logits):
            ids = np.flatnonzero(allowed)
            scores = logits[ids]
    best = scores.max(initial=-np.inf)  # NaN if one is
    if best == -np.inf:
        raise ValueError("no token has a score above -inf")
    if not math.isfinite(best):
        raise ValueError(f"a score is {best}: scores are finite, or -inf for what may not come")
    if sampling.greedy:
        place = scores.argmax()
        return Weights(np.array([place if ids is None else ids[place]]), np.ones(1))
    if sampling.top_k is not None and sampling.top_k < len(scores):
        ids, scores = _keep(ids, scores, _likeliest(scores, sampling.top_k))
    weights = heated(scores, best, sampling.temperature)
    np.exp(weights, out=weights)
    if sampling.top_p is not None and sampling.top_p < 1:
        ids, weights = _keep(ids, weights, _nucleus(weights, scores, sampling.top_p))
    if sampling.min_p:
        ids, weights = _keep(ids, weights, np.flatnonzero(weights >= sampling.min_p))  # the likeliest has weight 1
    return Weights(ids, weights)


def heated(scores: Scores, best: np.floating, temperature: float) -> Scores:
    """A new array: (scores - best) / temperature. In this order: tiny temperatures overflow else."""
    if len(scores) <= _FEW:
        scores = scores.astype(np.float64)
        scores -= best
    else:
        with np.errstate(over="ignore"):
            scores = (scores - best).astype(np.float32, copy=False)
        temperature = min(max(temperature, _LEAST), _MOST)
    if temperature != 1:
        with np.errstate(over="ignore"):  # -inf is right
            scores /= temperature
    return scores


def _keep(ids: NDArray[np.intp] | None, values: Scores, kept: NDArray[np.intp]) -> tuple[NDArray[np.intp], Scores]:
    return kept if ids is None else ids[kept], values[kept]


def probabilities(logits: Scores, sampling: Sampling) -> Probabilities:
    """`weigh`, as the probability of each token.

    Parameters
    ----------
    logits, sampling
        Those of `weigh`.

    Returns
    -------
    numpy.ndarray
        float64, shape (V,), sums to 1; 0 for what may not come or was filtered out.

    Raises
    ------
    ValueError
        As for `weigh`.
    """
    ids, values = weigh(logits, sampling)
    shares = np.divide(values, values.sum(dtype=np.float64), dtype=np.float64)
    if ids is None:
        return shares
    result = np.zeros(len(logits))
    result[ids] = shares
    return result


def retries(scores: Scores, sampling: Sampling, rng: np.random.Generator, most: int) -> Iterator[int]:
    """Places as they are drawn after all that the filters had left were refused: the filters are applied anew to the rest, and so on.

    Parameters
    ----------
    scores : numpy.ndarray
        As for `weigh`; the caller sets those of refused places to -inf, at the latest before it asks for the next one.
    sampling : Sampling
    rng : numpy.random.Generator
    most : int
        How many places are asked for at most. Whatever is refused, greedy choice and
        `top_k` come to none but the best of so many: only these are looked at again.
    """
    if sampling.greedy:
        places = best_first(scores, most)
        yield from places[scores[places] != -np.inf].tolist()
        return
    kept = None if sampling.top_k is None else _likeliest(scores, most + sampling.top_k)
    while (left := scores if kept is None else scores[kept]).max(initial=-np.inf) != -np.inf:
        weights = weigh(left, sampling)
        for place in map(weights.token, draws(weights.values, rng)):
            yield place if kept is None else int(kept[place])


def best_first(scores: Scores, count: int) -> NDArray[np.intp]:
    """Places of the `count` highest scores, the highest first; among equals the first."""
    kept = _likeliest(scores, count)
    return kept[np.argsort(-scores[kept], kind="stable")]


def _likeliest(scores: Scores, count: int) -> NDArray[np.intp]:
    """Places of the `count` highest scores, ascending; among equals the first."""
    if count >= len(scores):
        return np.arange(len(scores))
    threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > threshold)
    equal = np.flatnonzero(scores == threshold)[: count - len(above)]
    return np.sort(np.concatenate((above, equal)))


def _nucleus(weights: Scores, scores: Scores, share: float) -> NDArray[np.intp]:
    """Places of the fewest highest weights that sum to `share` of all, ascending;
    among equals, which a hot temperature makes, those of the highest scores, and then the first.
    """
    total = weights.sum(dtype=np.float64)
    wanted = share * total
    likely = np.flatnonzero(weights >= (1 - share) / 2 * total / len(weights))  # the others together are half of what may be left out
    weights, scores = weights[likely], scores[likely]
    kept: NDArray[np.bool_] = np.zeros(len(weights), dtype=np.bool_)
    border, sum_of_kept = np.arange(len(weights)), 0.0
    for shift in (16, 0):  # the upper, then the lower halves of the bits, by which weights are in order
        if len(border) <= _FEW:
            break
        halves = weights[border].view(np.uint32) >> shift & 0xFFFF
        sums = np.bincount(halves, weights[border])[::-1].cumsum() + sum_of_kept  # the highest first
        at = min(int(np.searchsorted(sums, wanted)), len(sums) - 1)
        half = len(sums) - 1 - at
        kept[border[halves > half]] = True
        border, sum_of_kept = border[halves == half], sums[at - 1] if at else sum_of_kept  # after both: equal weights
    border = border[best_first(scores[border], len(border))]
    sums = np.cumsum(weights[border], dtype=np.float64) + sum_of_kept
    kept[border[: int(np.searchsorted(sums, wanted)) + 1]] = True
    return likely[kept]


def rng_of(seed: int | np.random.Generator | None) -> np.random.Generator:
    """The generator that a seed stands for; None: another one each time."""
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    if not hasattr(seed, "__index__"):
        kind = type(seed)
        raise TypeError(f"seed is an int or a numpy.random.Generator, not {kind.__module__}.{kind.__qualname__}".replace("builtins.", ""))
    return np.random.default_rng(check_count("seed", seed, 0))


def choose(weights: Scores, rng: np.random.Generator) -> int:
    """Draw a place; one of weight 0 is never drawn.

    Parameters
    ----------
    weights : numpy.ndarray
        Floating, shape (n,), not negative; sums to more than 0, not necessarily to 1.
    rng : numpy.random.Generator
        One number is drawn from it, whatever the distribution.
    """
    start, sought = 0, rng.random()
    if len(weights) <= _BLOCK:
        within = weights.cumsum(dtype=np.float64)
        sought *= within[-1]
    else:
        starts = np.arange(0, len(weights), _BLOCK)
        sums = np.add.reduceat(weights, starts, dtype=np.float64).cumsum()
        sought *= sums[-1]
        block = min(int(sums.searchsorted(sought, side="right")), len(sums) - 1)
        start, sought = int(starts[block]), sought - (sums[block - 1] if block else 0.0)
        within = weights[start : start + _BLOCK].cumsum(dtype=np.float64)
    at = start + int(within.searchsorted(sought, side="right"))
    if at < len(weights) and weights[at]:
        return at
    return int(np.flatnonzero(weights[: at + 1])[-1])  # rounding has led past the last of the block


def draws(weights: Scores, rng: np.random.Generator) -> Iterator[int]:
    """Draw places one after another, each as `choose` would from what the earlier ones have left, until none is left.

    The first costs what `choose` costs. The others are the order of an exponential race [1]_: a place arrives after a time that is
    exponential with its weight as rate, so whichever have arrived, the next is drawn by the weights of the rest.

    Parameters
    ----------
    weights : numpy.ndarray
        As for `choose`.
    rng : numpy.random.Generator

    References
    ----------
    .. [1] Efraimidis and Spirakis, "Weighted random sampling with a reservoir", Information Processing Letters 97, 2006.
    """
    first = choose(weights, rng)
    yield first
    places = np.flatnonzero(weights)
    places = places[places != first]
    with np.errstate(over="ignore"):  # of weights near 1e-308: they arrive last, at infinity
        arrivals = -rng.standard_exponential(len(places)) / weights[places]
    count = _FIRST_DRAWN
    done = 0
    while done < len(places):
        yield from places[best_first(arrivals, count)[done:]].tolist()
        done, count = count, len(places)
