"""Mode "verify" has the distribution of texts that are written one token at a time.

The distribution of short texts is computed exactly, by following every token with the plain rules, and compared with a sample by Pearson's statistic.
What the test would notice is computed too: its power, the share of samples beyond the threshold if one text were more likely by 0.02 and the others
less, for the text where this is noticed worst. Thresholds and powers come from simulated samples, not from the chi-square approximation.
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


# --- the rule by itself -------------------------------------------------------------------------------------------------


def test_a_draft_that_is_kept_or_replaced_is_distributed_as_the_target():
    rng = np.random.default_rng(1)
    for case in range(3):
        proposal, target = rng.dirichlet(np.full(5, 3.0), size=2)
        if case == 1:
            target = proposal  # nothing is replaced
        if case == 2:
            target = np.array([0.2, 0.4, 0.4, 0, 0])
            proposal = np.array([0.3, 0, 0, 0.4, 0.3])
        kept = target > 0
        n = 20_000
        drawn = [keep_or_replace(choose(proposal, rng), proposal, target, rng) for _ in range(n)]
        counts = np.bincount(drawn, minlength=5)
        assert not counts[~kept].any()
        expected = target[kept] / target[kept].sum()
        assert statistic(counts[kept], expected) < threshold(expected, n, rng)
        assert min(power(expected, one_more_likely(expected, at), n, rng) for at in range(len(expected))) > 0.95


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
SHORT = ("free", "grammar, short budget")


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


def sampler_of(model, case, mode, group):
    return GroupedSampler(
        model,
        vocabulary_of(case),
        group,
        mode=mode,
        temp=case.get("temp"),
        top_p=case.get("top_p"),
        forced=case.get("forced", True),
        repetition_penalty_strategy=LogitScalingRepetitionPenalty(case["theta"]) if "theta" in case else NoRepetitionPenalty(),
        batch=model.batch,
    )


def sample(sampler, case, n, seed) -> Counter[str]:
    grammar = Grammar.from_regex(case["pattern"]) if "pattern" in case else None
    [results] = sampler.generate([PROMPT], case["budget"], grammar=grammar, num_return_sequences=n, seed=seed)
    return Counter(result.text for result in results)


@pytest.mark.parametrize("name", CASES)
def test_verify_has_the_plain_distribution(name, long_run):
    if name not in SHORT and not long_run:
        pytest.skip("GRAMMAR_ENGINE_LONG=1 runs it")
    case = CASES[name]
    n = case["n"]
    model = TableModel(vocabulary_of(case).size, case.get("model", 12), scale=0.7)
    model.table[:, PAD] = -30
    texts = exact(model, case)
    names = list(texts)
    expected = np.array([texts[text] for text in names])
    rng = np.random.default_rng(0)

    assert min(power(expected, one_more_likely(expected, at), n, rng) for at in range(len(names))) > 0.9
    drafts = counted(names, sample(sampler_of(model, case, "commit", 3), case, 1000, 5))
    assert statistic(drafts, expected) > 2 * threshold(expected, 1000, rng)  # else there were nothing to repair

    found = counted(names, sample(sampler_of(model, case, "verify", 3), case, n, 1_000_000))
    assert found.sum() == n
    assert statistic(found, expected) < threshold(expected, n, rng)


def counted(names, texts) -> np.ndarray:
    return np.array([texts[text] for text in names])
