"""Mode "verify" has the distribution of texts that are written one token at a time.

The distribution of short texts is computed exactly, by following every token with the plain rules, and compared with a sample by Pearson's
statistic. What the tests would notice is computed too, as their power: the share of samples beyond the threshold

    if a draft were kept 1.02 times as often as it should be                  > 0.99: the rule by itself
    if one text were more likely by 0.02 and the others less, the worst one   > 0.9: each case of whole texts
    if half of the texts were likelier, the others less, by 0.02 in all       > 0.6: each case of whole texts (> 0.9 but the first two)

Thresholds and powers come from simulated samples, not from the chi-square approximation.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from decoding.grouped_models import END, PAD, TableModel
from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine.decoding.grouped import GroupedSampler, LogitScalingRepetitionPenalty, NoRepetitionPenalty
from grammar_engine.decoding.grouped.methods import sampling_of
from grammar_engine.decoding.grouped.verify import keep_or_replace
from grammar_engine.decoding.scores import choose, probabilities

SMALL = Vocabulary([b"", b"", b"a", b"b"], eos=[END], special={PAD: "<pad>", END: "</s>"})
LARGER = Vocabulary([b"", b"", b"a", b"b", b"c", b"ab"], eos=[END], special={PAD: "<pad>", END: "</s>"})
PROMPT = [2, 3]
BIAS = 0.02
ALPHA = 0.01  # seeds are fixed, so a test that passes goes on passing


def statistic(counts: np.ndarray, expected: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=-1, keepdims=True)
    return ((counts - n * expected) ** 2 / (n * expected)).sum(axis=-1)


def threshold(expected: np.ndarray, n: int, rng: np.random.Generator) -> float:
    return float(np.quantile(statistic(rng.multinomial(n, expected, size=20_000), expected), 1 - ALPHA))


def power(expected: np.ndarray, biased: np.ndarray, n: int, rng: np.random.Generator) -> float:
    limit = threshold(expected, n, rng)
    return float((statistic(rng.multinomial(n, biased, size=2000), expected) > limit).mean())


def one_more_likely(expected: np.ndarray, at: int) -> np.ndarray:
    biased = expected * (1 - BIAS / (1 - expected[at]))
    biased[at] = expected[at] + BIAS
    return biased


def spread(expected: np.ndarray) -> np.ndarray:
    """Every other text more likely, in the order of how likely they are."""
    biased, order = expected.copy(), np.argsort(-expected)
    for texts, sign in ((order[::2], -1), (order[1::2], 1)):
        biased[texts] *= 1 + sign * BIAS / expected[texts].sum()
    return biased


# --- the rule by itself -------------------------------------------------------------------------------------------------


def rule_that_keeps(share: float, proposal: np.ndarray, target: np.ndarray) -> np.ndarray:
    """What comes of a draft that is kept `share` times as often as it should be, where it can be."""
    kept = np.minimum(proposal, share * target)
    rest = np.maximum(target - proposal, 0)
    return kept + (1 - kept.sum()) * rest / rest.sum()


def test_a_draft_that_is_kept_or_replaced_is_distributed_as_the_target():
    rng = np.random.default_rng(1)
    for case, n in enumerate((120_000, 20_000, 20_000)):
        proposal, target = rng.dirichlet(np.full(5, 3.0), size=2)
        if case == 1:
            target = proposal  # nothing is replaced
        if case == 2:
            target = np.array([0.2, 0.4, 0.4, 0, 0])
            proposal = np.array([0.3, 0, 0, 0.4, 0.3])
        kept = target > 0
        drawn = [keep_or_replace(choose(proposal, rng), proposal, target, rng) for _ in range(n)]
        counts = np.bincount(drawn, minlength=5)
        assert not counts[~kept].any()
        expected = target[kept] / target[kept].sum()
        assert statistic(counts[kept], expected) < threshold(expected, n, rng)
        assert min(power(expected, one_more_likely(expected, at), n, rng) for at in range(len(expected))) > 0.95
        if case == 0:
            assert rule_that_keeps(1, proposal, target) == pytest.approx(target)
            for share in (1 - BIAS, 1 + BIAS):
                assert power(expected, rule_that_keeps(share, proposal, target), n, rng) > 0.99


# --- whole texts --------------------------------------------------------------------------------------------------------

CASES = {  # n, and the seed of the model, are such that the power is above 0.9
    "free": {"budget": 3, "n": 12_000, "model": 25},
    # "c" may be the second letter, but what must come after it does not fit
    "grammar, short budget": {"budget": 3, "pattern": "[abc](a|b|cabc)", "forced": False, "vocabulary": LARGER, "n": 10_000, "model": 36},
    "grammar, long budget": {"budget": 5, "pattern": "a(b|c+)a?|[bc]{1,2}", "vocabulary": LARGER, "n": 20_000, "model": 36},
    "filtered": {"budget": 3, "temp": 1.5, "top_p": 0.85, "vocabulary": LARGER, "n": 30_000},
    "penalised": {"budget": 2, "theta": 1.8, "temp": 1.2, "vocabulary": LARGER, "n": 25_000},
    "grammar, forced text": {"budget": 9, "pattern": "[ab]c|c[abc]|aba?b", "vocabulary": LARGER, "n": 20_000},
}
WAYS = {
    "three": {"group_size": 3},
    "two": {"group_size": 2},
    "five": {"group_size": 5},
    "five, no redraft": {"group_size": 5, "redraft": False},
    "adaptive": {"group_size": 2, "adaptive": True},
    "trust": {"group_size": 4, "min_allowed_mass": 0.5, "min_top_prob": 0.4},
}
SPREAD_IS_HARD = ("free", "grammar, short budget")
SHORT = {  # the ways of each case that are always run; the others, where the run is to be long
    "free": ("three", "five, no redraft"),
    "grammar, short budget": ("three", "two"),
    "grammar, long budget": ("adaptive", "trust"),
    "filtered": ("five",),
    "penalised": ("two",),
    "grammar, forced text": ("five, no redraft", "adaptive"),
}


def vocabulary_of(case) -> Vocabulary:
    return case.get("vocabulary", SMALL)


def exact(model, case) -> dict[str, float]:
    """Every text and its probability, one token at a time."""
    sampling = sampling_of(case.get("temp", 1.0), None, case.get("top_p"))
    penalty = LogitScalingRepetitionPenalty(case["theta"]) if "theta" in case else NoRepetitionPenalty()
    grammar = Grammar.from_regex(case["pattern"]) if "pattern" in case else None
    vocabulary = vocabulary_of(case)
    texts: Counter[str] = Counter()

    def follow(ids, matcher, left, chance):
        ended = ids[-1] == END
        if ended or not left:
            texts[b"".join(map(vocabulary.token_bytes, ids[len(PROMPT) :])).decode()] += chance
            return
        if matcher is not None and case.get("forced", True) and (forced := matcher.forced_tokens()):
            twin = matcher.fork()
            assert twin.accept_tokens(forced) == len(forced)
            follow([*ids, *forced], twin, left - len(forced), chance)
            return
        scores = penalty(model(ids)[-1].copy(), ids, len(PROMPT))
        if matcher is not None:
            scores[
                [token for token in range(vocabulary.size) if token not in matcher.allowed_tokens() or not fits(matcher, token, left)]
            ] = -np.inf
        for token, share in enumerate(probabilities(scores, sampling)):
            if share:
                twin = None if matcher is None else matcher.fork()
                assert twin is None or twin.accept(token)
                follow([*ids, token], twin, left - 1, chance * share)

    def fits(matcher, token, left):
        twin = matcher.fork()
        return twin.accept(token) and (twin.is_terminated or len(twin.closing_tokens()) <= left - 1)

    follow(list(PROMPT), None if grammar is None else Matcher(grammar, vocabulary), case["budget"], 1.0)
    assert sum(texts.values()) == pytest.approx(1)
    return texts


def sampler_of(model, case, mode, way):
    return GroupedSampler(
        model,
        vocabulary_of(case),
        **way,
        mode=mode,
        temp=case.get("temp"),
        top_p=case.get("top_p"),
        forced=case.get("forced", True),
        repetition_penalty_strategy=LogitScalingRepetitionPenalty(case["theta"]) if "theta" in case else NoRepetitionPenalty(),
        batch=model.batch,
    )


def sample(sampler, case, n, seed):
    grammar = Grammar.from_regex(case["pattern"]) if "pattern" in case else None
    [results] = sampler.generate([PROMPT], case["budget"], grammar=grammar, num_return_sequences=n, seed=seed)
    return results


def counted(names, results) -> np.ndarray:
    texts = Counter(result.text for result in results)
    return np.array([texts[text] for text in names])


@pytest.mark.parametrize("name", CASES)
def test_verify_has_the_plain_distribution(name, long_run):
    case = CASES[name]
    n = case["n"]
    model = TableModel(vocabulary_of(case).size, case.get("model", 12), scale=0.7)
    model.table[:, PAD] = -30
    texts = exact(model, case)
    names = list(texts)
    expected = np.array([texts[text] for text in names])
    rng = np.random.default_rng(0)
    limit, limit_of_drafts = threshold(expected, n, rng), threshold(expected, 1000, rng)

    assert min(power(expected, one_more_likely(expected, at), n, rng) for at in range(len(names))) > 0.9
    assert power(expected, spread(expected), n, rng) > (0.6 if name in SPREAD_IS_HARD else 0.9)
    passes = set()
    for number, way in enumerate(WAYS):
        if way not in SHORT[name] and not long_run:
            continue
        drafts = counted(
            names, sample(sampler_of(model, case, "commit", {**WAYS[way], "min_allowed_mass": 0, "min_top_prob": 0}), case, 1000, 5)
        )
        assert statistic(drafts, expected) > 2 * limit_of_drafts, way  # else there were nothing to repair
        results = sample(sampler_of(model, case, "verify", WAYS[way]), case, n, (number + 1) * 1_000_000)
        found = counted(names, results)
        assert found.sum() == n, way
        assert statistic(found, expected) < limit, way
        passes.add((sum(result.calls for result in results), sum(sum(result.drafted) for result in results)))
    assert len(passes) == (len(WAYS) if long_run else len(SHORT[name]))  # each way drafts otherwise


def test_all_ways_are_always_run():
    assert SHORT.keys() == CASES.keys()
    assert {way for ways in SHORT.values() for way in ways} == WAYS.keys()
