"""Penalty, filters, softmax and draw, against the plainest way to write each down."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammar_engine.decoding import Sampling
from grammar_engine.decoding.scores import choose, draws, penalise, probabilities, retries, weigh


def plainly(logits, sampling):
    """`probabilities`, one token after another; a dict of what is left."""
    scores = {token: float(score) for token, score in enumerate(logits) if score > -np.inf}
    order = sorted(scores, key=lambda token: (-scores[token], token))
    if sampling.temperature == 0:
        return {order[0]: 1.0}
    best = scores[order[0]]

    def softmax(tokens):
        weights = {token: math.exp((scores[token] - best) / sampling.temperature) for token in tokens}
        total = sum(weights.values())
        return {token: weight / total for token, weight in weights.items()}

    if sampling.top_k is not None:
        order = order[: sampling.top_k]
    if sampling.top_p is not None and sampling.top_p < 1:  # sums of shares miss 1 by rounding
        left, total = [], 0.0
        for token, share in softmax(order).items():
            left.append(token)
            total += share
            if total >= sampling.top_p - 1e-15:
                break
        order = left
    if sampling.min_p is not None:
        shares = softmax(order)
        order = [token for token in order if shares[token] >= sampling.min_p * shares[order[0]]]
    return softmax(order)


OPTIONS = {
    "temperature": [0.0, 0.5, 1.0, 2.0],
    "top_k": [None, 1, 3, 40, 500],
    "top_p": [None, 0.0, 0.5, 0.9, 1.0],
    "min_p": [None, 0.0, 0.1, 1.0],
}


@pytest.mark.parametrize("width", [1, 7, 400])
def test_all_combinations_of_filters(width):
    rng = np.random.default_rng(width)
    for values in itertools.product(*OPTIONS.values()):
        sampling = Sampling(**dict(zip(OPTIONS, values)))
        logits = (rng.standard_normal(width) * 3).astype(np.float32)
        logits[rng.random(width) < 0.5] = -np.inf
        logits[rng.integers(width)] = 0.25  # one is allowed
        before = logits.copy()
        result = probabilities(logits, sampling)
        assert (logits == before).all()
        assert result.dtype == np.float64
        wanted = plainly(logits, sampling)
        assert np.flatnonzero(result).tolist() == sorted(wanted), sampling
        assert np.allclose([result[token] for token in wanted], list(wanted.values()), rtol=1e-12)
        assert abs(result.sum() - 1) < 1e-12


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, -np.inf]), min_size=1, max_size=200), st.integers(1, 9))
def test_the_lower_id_goes_first_among_equals(scores, k):
    logits = np.array([*scores, 0.0], dtype=np.float32)
    for sampling in (Sampling(top_k=k), Sampling(temperature=0), Sampling(top_p=0.5)):
        assert np.flatnonzero(probabilities(logits, sampling)).tolist() == sorted(plainly(logits, sampling))


def test_filters_of_thousands_of_tokens():
    logits = (np.random.default_rng(0).standard_normal(5000)).astype(np.float32)
    sampling = Sampling(top_k=4000, top_p=0.99, min_p=0.01)
    assert np.flatnonzero(probabilities(logits, sampling)).tolist() == sorted(plainly(logits, sampling))


@pytest.mark.parametrize("share_allowed", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("peak", [0.0, 12.0])
def test_more_tokens_than_are_weighed_in_float64(share_allowed, peak):
    """Those that a filter keeps or drops beside the exact ones are such that rounding moves them over its bound."""
    rng = np.random.default_rng(5)
    logits = rng.standard_normal(20_000).astype(np.float32)
    logits[:7] += peak
    logits[rng.random(20_000) > share_allowed] = -np.inf
    options = [{"temperature": 0.7}, {"top_k": 50}, {"top_k": 9000, "top_p": 0.9}, {"top_p": 0.5}, {"top_p": 0.95}, {"min_p": 0.05}]
    for sampling in (Sampling(**values) for values in options):
        result, wanted = probabilities(logits, sampling), plainly(logits, sampling)
        dense = np.zeros(len(logits))
        dense[list(wanted)] = list(wanted.values())
        assert abs(result - dense).sum() < 1e-4, sampling
        assert abs(np.count_nonzero(result) - len(wanted)) <= 2, sampling
        assert abs(result.sum() - 1) < 1e-9
        ids, weights = weigh(logits, sampling)
        assert ids is None or (np.diff(ids) > 0).all()
        assert np.allclose(weights / weights.sum(dtype=np.float64), result if ids is None else result[ids], rtol=1e-6)


@pytest.mark.parametrize("temperature", [1e-300, 1e300])
def test_temperatures_that_float32_has_not(temperature):
    logits = np.linspace(-1, 1, 9000, dtype=np.float32)
    logits[::2] = -np.inf
    logits[-1] = 2
    result = probabilities(logits, Sampling(temperature=temperature))
    assert np.isfinite(result).all()
    assert result[-1] == pytest.approx(1 if temperature < 1 else 1 / 4500)
    assert not result[:-1:2].any()


def test_draws_of_many_places():
    """Blocks are added up first: no place of weight 0 is drawn, each other as often as it is likely."""
    rng = np.random.default_rng(6)
    weights = np.zeros(5000, dtype=np.float32)
    places = [3, 511, 512, 1000, 1800, 4998, 4999]
    weights[places] = [1, 2, 2, 1, 4, 2, 4]
    counts = np.bincount([choose(weights, rng) for _ in range(16_000)], minlength=5000)
    assert np.flatnonzero(counts).tolist() == places
    assert np.abs(counts[places] / 1000 - weights[places]).max() < 0.25

    class Last:
        def random(self):
            return np.nextafter(1, 0)

    assert choose(weights, Last()) == 4999
    assert choose(np.array([0.1] * 10 + [0.0] * 600), Last()) == 9


def test_many_draws_are_all_places_once():
    weights = np.random.default_rng(7).random(3000)
    weights[::3] = 0
    assert sorted(draws(weights, np.random.default_rng(8))) == np.flatnonzero(weights).tolist()


def test_a_nucleus_of_thousands_of_tokens():
    logits = np.linspace(0, 1e-6, 20_000)
    assert 0 < 0.9 * 20_000 - np.count_nonzero(probabilities(logits, Sampling(top_p=0.9))) + 2 < 4


FLAT = {  # of which top-p sorts none, a few, or one bin
    "equal": lambda rng, n: np.zeros(n),
    "two values": lambda rng, n: rng.integers(0, 2, n) * 1e-6,
    "nearly equal": lambda rng, n: rng.standard_normal(n) * 1e-5,
    "of float16": lambda rng, n: rng.standard_normal(n).astype(np.float16),
    "quarters": lambda rng, n: np.round(4 * rng.standard_normal(n)) / 4,
    "steep": lambda rng, n: 5 * rng.standard_normal(n),
}


@pytest.mark.parametrize("kind", FLAT)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9])
def test_a_nucleus_is_that_of_a_full_sort(kind, share):
    """Ties included: of equal weights those of the higher scores, of equal scores those of the lower ids are kept."""
    logits = FLAT[kind](np.random.default_rng(9), 40_000).astype(np.float32)
    weights = weigh(logits, Sampling()).values
    order = np.argsort(-logits, kind="stable")
    sums = np.cumsum(weights[order], dtype=np.float64)
    kept = weigh(logits, Sampling(top_p=share)).ids
    assert kept.tolist() == sorted(order[: np.searchsorted(sums, share * weights.sum(dtype=np.float64)) + 1].tolist())


@pytest.mark.parametrize("temperature", [1e3, 1e5, 1e6, 1e8, 1e30])
@pytest.mark.parametrize("top_k", [None, 70])
def test_the_likeliest_stay_the_likeliest_where_it_is_hot(temperature, top_k):
    """Of many tokens the weights are float32, and equal there."""
    logits = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    kept = weigh(logits, Sampling(temperature=temperature, top_k=top_k, top_p=0.01 if top_k is None else 0.7)).ids
    assert abs(len(kept) - 50) <= 1
    assert set(kept.tolist()) == set(np.argsort(-logits)[: len(kept)].tolist())


def test_extreme_scores_and_temperatures():
    logits = np.array([3e38, -3e38, 0], dtype=np.float32)
    assert probabilities(logits, Sampling()).tolist() == [1, 0, 0]
    with np.errstate(all="ignore"):
        assert probabilities(np.array([1.0, 2.0]), Sampling(temperature=1e-300)).tolist() == [0, 1]
    assert np.allclose(probabilities(np.array([1.0, 2.0]), Sampling(temperature=1e9)), 0.5)
    assert np.allclose(probabilities(np.array([-1.0, 1.0]), Sampling(temperature=2)), [0.26894, 0.73106], atol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_none(bad):
    with pytest.raises(ValueError, match="a score is"):
        probabilities(np.array([0.0, bad]), Sampling())
    with pytest.raises(ValueError, match="no token has a score"):
        probabilities(np.array([-np.inf, -np.inf]), Sampling())
    with pytest.raises(ValueError, match="one row"):
        probabilities(np.zeros((1, 2)), Sampling())


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "temperature": [-0.1, float("nan"), float("inf")],
        "top_k": [0, -1],
        "top_p": [-0.1, 1.1, float("nan")],
        "min_p": [-0.1, 1.1, float("nan")],
        "repetition_penalty": [0, -1, float("nan"), float("inf")],
    }.items(),
)
def test_each_option_is_checked_by_name(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"^{name} is"):
            Sampling(**{name: value})


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "temperature": ["1", None, True],
        "top_k": [1.5, True, "3"],
        "top_p": ["0.5", True],
        "min_p": ["0.5", [1]],
        "repetition_penalty": [None, b"1"],
        "sign_aware": [0, None, "no"],
    }.items(),
)
def test_each_option_has_a_type(name, values):
    for value in values:
        with pytest.raises(TypeError, match=f"^{name} is a.*, not {type(value).__name__}$"):
            Sampling(**{name: value})


def test_options_may_be_numbers_of_numpy():
    given = Sampling(np.float32(0.5), np.int64(3), np.float64(0.25), repetition_penalty=np.float32(2))
    assert given == Sampling(0.5, 3, 0.25, repetition_penalty=2.0)
    assert [type(value) for value in (given.temperature, given.top_k, given.top_p, given.repetition_penalty)] == [float, int, float, float]


def test_options_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sampling().top_k = 3


# --- penalty --------------------------------------------------------------------------------------------------------


def test_penalty_by_hand():
    logits = np.array([2.0, -2.0, 0.0, -np.inf, 4.0])
    penalise(logits, [0, 1, 2, 3, 3], 2.0)
    assert logits.tolist() == [1.0, -4.0, 0.0, -np.inf, 4.0]
    penalise(logits, {0, 1}, 2.0, sign_aware=False)  # the literal formula raises a negative score
    assert logits.tolist() == [0.5, -2.0, 0.0, -np.inf, 4.0]
    penalise(logits, {0, 1}, 1.0)
    penalise(logits, (), 2.0)
    assert logits.tolist() == [0.5, -2.0, 0.0, -np.inf, 4.0]


def test_penalty_of_several_rows_and_of_float32():
    logits = np.array([[2.0, -2.0], [-1.0, 3.0]], dtype=np.float32)
    penalise(logits, [1], 2.0)
    assert logits.tolist() == [[2.0, -4.0], [-1.0, 1.5]]
    assert logits.dtype == np.float32


def test_penalties_of_banned_tokens_raise_no_warnings():
    """Others ban with the least number there is."""
    least = np.finfo(np.float32).min
    with np.errstate(all="raise", under="ignore"):
        logits = np.array([least, 0.0], dtype=np.float32)
        penalise(logits, [0], 1.3)
        assert logits.tolist() == [-np.inf, 0]
        many = np.full(5_000, least)
        many[7] = -least
        assert probabilities(many.astype(np.float32), Sampling())[7] == 1


@pytest.mark.parametrize("theta", [5e-324, 1e-300, 1e-39, 1e39, 1e300, 1.7e308])
@pytest.mark.parametrize("sign_aware", [True, False])
def test_penalties_that_float32_does_not_have(theta, sign_aware):
    """They are no number in it but 0 or inf, and 0 / 0 and 0 * inf are none at all."""
    with np.errstate(all="raise", under="ignore"):
        logits = np.array([7.0, -7.0, 0.0, -np.inf], dtype=np.float32)
        penalise(logits, range(4), theta, sign_aware=sign_aware)
        assert np.isfinite(logits[:3]).all() and logits[3] == -np.inf
        assert (logits[0] > 1e30) == (theta < 1) and logits[2] == 0
        assert probabilities(logits, Sampling()).sum() == 1
        logits = np.array([1e30, 3e38, np.inf], dtype=np.float32)
        penalise(logits, range(3), theta, sign_aware=sign_aware)
        assert np.isfinite(logits[:2]).all() and logits[2] == np.inf


@pytest.mark.parametrize("token", [-1, 2])
def test_penalty_of_a_token_that_has_no_score(token):
    with pytest.raises(ValueError, match="to be penalised"):
        penalise(np.zeros(2), [token], 1.2)


# --- draws ----------------------------------------------------------------------------------------------------------

SHARES = np.array([0.3, 0.0, 0.25, 0.2, 0.0, 0.15, 0.1])
N = 20_000
LIMIT = 33.0  # chi-square with 4 degrees of freedom is above this once in 800,000 times


def chi_square(counts, shares):
    counts, shares = np.asarray(counts, float), np.asarray(shares, float)
    assert not counts[shares == 0].any()
    wanted = counts.sum() * shares[shares > 0]
    return float(((counts[shares > 0] - wanted) ** 2 / wanted).sum())


def test_choose_draws_by_the_probabilities():
    rng = np.random.default_rng(0)
    counts = np.bincount([choose(SHARES, rng) for _ in range(N)], minlength=7)
    assert chi_square(counts, SHARES) < LIMIT


def test_the_test_would_see_a_bias_of_two_percent():
    biased = SHARES + np.array([0.02, 0, 0, 0, 0, 0, -0.02])
    rng = np.random.default_rng(0)
    counts = np.bincount([choose(biased, rng) for _ in range(N)], minlength=7)
    assert chi_square(counts, SHARES) > LIMIT


def test_choose_takes_weights_and_never_one_of_zero():
    class Last:
        def random(self):
            return 1 - 2**-53

    class First:
        def random(self):
            return 0.0

    weights = np.array([0.0, 5.0, 0.0, 1e-3, 0.0])
    assert (choose(weights, First()), choose(weights, Last())) == (1, 3)


def test_draws_are_those_of_choose_without_replacement():
    """Against the definition: choose, take it out, choose again. All pairs of first and second."""
    rng = np.random.default_rng(1)
    tokens = np.flatnonzero(SHARES)
    pairs = dict.fromkeys(itertools.permutations(tokens.tolist(), 2), 0)
    for _ in range(N):
        pairs[tuple(itertools.islice(draws(SHARES, rng), 2))] += 1
    wanted = [SHARES[a] * SHARES[b] / (1 - SHARES[a]) for a, b in pairs]
    assert chi_square(list(pairs.values()), wanted) < 60  # 19 degrees of freedom: once in 240,000 times
    assert sorted(draws(SHARES, rng)) == tokens.tolist()


def test_scores_far_apart_raise_no_warnings():
    """A probability near the smallest number arrives at infinity; a temperature near it divides to -inf."""
    with np.errstate(all="raise", under="ignore"):
        shares = probabilities(np.array([0.0, -740.0, -1.0]), Sampling())
        assert shares[1] > 0
        assert sorted(draws(shares, np.random.default_rng(0))) == [0, 1, 2]
        assert probabilities(np.array([0.0, -1.0]), Sampling(temperature=1e-310)).tolist() == [1, 0]


@pytest.mark.parametrize(
    "sampling", [Sampling(top_k=2), Sampling(top_k=7, top_p=0.8), Sampling(top_p=0.3), Sampling(min_p=0.5), Sampling()]
)
@pytest.mark.parametrize("size", [30, 6000])
def test_what_is_drawn_after_refusals_is_drawn_by_filters_applied_anew(sampling, size):
    """Only the best are looked at again; a plain loop looks at all, with the same random numbers."""
    most = 25
    for seed in range(10):
        scores = np.random.default_rng(seed).integers(-4, 4, size).astype(np.float32)
        scores[::5] = -np.inf

        def plain(left, rng):
            while left.max() != -np.inf:
                weights = weigh(left, sampling)
                yield from map(weights.token, draws(weights.values, rng))

        found = []
        for places in (retries, lambda left, sampling, rng, most: plain(left, rng)):
            left, taken = scores.copy(), []
            for place in itertools.islice(places(left, sampling, np.random.default_rng(seed), most), most):
                left[place] = -np.inf
                taken.append(place)
            found.append(taken)
        assert found[0] == found[1] and len(set(found[0])) == min(most, np.isfinite(scores).sum())


def test_greedy_choice_goes_on_to_the_next_best():
    scores = np.array([1, 5, -np.inf, 5, 3], dtype=np.float32)
    assert list(retries(scores, Sampling(temperature=0), np.random.default_rng(0), 10)) == [1, 3, 4, 0]
    assert list(retries(scores, Sampling(temperature=0), np.random.default_rng(0), 2)) == [1, 3]
