"""Many threads over the same grammars and vocabularies, cold: every mask is the one that a single thread computes."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from grammar_engine import (
    Grammar,
    GrammarError,
    LimitExceededError,
    Limits,
    Matcher,
    Switches,
    Vocabulary,
    VocabularyError,
    allocate_masks,
    fill_masks,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "kind": {"enum": ["alpha", "beta", "gamma", 12, None]},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{1,5}$"}, "maxItems": 5},
        "more": {"$ref": "#"},
    },
    "additionalProperties": False,
}
MAKERS = {
    "schema": lambda limits: Grammar.from_json_schema(SCHEMA, limits=limits),
    "lark": lambda limits: Grammar.from_lark(
        'start: start "+" x | x\nx: /[0-9]+/ | /[0-9a-f]+/ | "(" start ")"\n%ignore " "', limits=limits
    ),
    "regex": lambda limits: Grammar.from_regex(r"(\w+|\d{1,3}|[^\w\s]{2,}| )*", limits=limits),
}
THREADS = 6


def tokens_of(vocabulary: Vocabulary) -> list[bytes]:
    return list(vocabulary.tokens)


@pytest.fixture(scope="module")
def references():
    """For each grammar, some random texts and the mask before each of their tokens, by one thread without caches."""
    vocabulary = Vocabulary.builtin()
    off = Switches(mask_cache=False, inner_masks=False, shared_inner=False, slices=False)
    result = {}
    for name, make in MAKERS.items():
        rng, texts = random.Random(name), []
        grammar = make(None)
        for _ in range(5):
            matcher, masks = Matcher(grammar, vocabulary, switches=off), []
            for _ in range(10):
                masks.append(matcher.mask())
                short = [t for t in matcher.allowed_tokens() if len(vocabulary.tokens[t]) < 3 and t not in vocabulary.eos]
                matcher.accept(rng.choice(short if short and rng.random() < 0.6 else matcher.allowed_tokens()))
            texts.append((matcher.tokens, masks))
        result[name] = texts
    return result


def together(work, n=THREADS):
    """Run work(number) in n threads that begin at the same time; their exceptions come out."""
    barrier = threading.Barrier(n)

    def begin(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(n) as executor:
        return [future.result() for future in [executor.submit(begin, number) for number in range(n)]]


def check_texts(grammar, vocabulary, texts, rng):
    """One thread's share: all texts, with forks, rollbacks and batches on the way."""
    for tokens, masks in rng.sample(texts, len(texts)):
        matcher = Matcher(grammar, vocabulary)
        for i, token in enumerate(tokens):
            assert matcher.mask() == masks[i]
            if rng.random() < 0.3:
                twin = matcher.fork()
                assert twin.accept_tokens(tokens[i:]) == len(tokens) - i
                twin.rollback(len(tokens) - i)
                assert twin.mask() == masks[i]
            assert matcher.accept(token)
            if rng.random() < 0.2:
                matcher.rollback(1)
                matcher.explain(token)
                matcher.forced_bytes()
                assert matcher.accept(token)
        assert matcher.tokens == tokens


@pytest.mark.parametrize("limits", [None, Limits(max_mask_bytes=2500), Limits(max_mask_bytes=1), Limits(max_generation_bytes=1), Limits(max_generation_bytes=60_000)],
                         ids=["default", "eviction", "no masks", "generations", "some generations"])  # fmt: skip
@pytest.mark.parametrize("name", MAKERS)
def test_one_cold_grammar(references, name, limits):
    grammar, vocabulary = MAKERS[name](limits), Vocabulary(tokens_of(Vocabulary.builtin()), eos=Vocabulary.builtin().eos)
    together(lambda number: check_texts(grammar, vocabulary, references[name], random.Random(number)))
    stats = grammar.stats
    assert stats.mask_bytes <= grammar.limits.max_mask_bytes * max(1, stats.generation)


def test_forks_of_one_matcher(references):
    tokens, masks = references["schema"][0]
    matcher = Matcher(MAKERS["schema"](None), Vocabulary.builtin())
    forks = [matcher.fork() for _ in range(THREADS)]

    def work(number):
        for _ in range(5):
            for i, token in enumerate(tokens):
                assert forks[number].mask() == masks[i]
                assert forks[number].accept(token)
            forks[number].rollback(len(tokens))

    together(work)
    assert matcher.tokens == []


def test_many_grammars_over_one_cold_vocabulary(references):
    """Lexeme-internal masks travel through the vocabulary; grammars come and go."""
    vocabulary = Vocabulary(tokens_of(Vocabulary.builtin()), eos=Vocabulary.builtin().eos)

    def work(number):
        rng = random.Random(number)
        for _ in range(4):
            name = rng.choice(list(MAKERS))
            check_texts(MAKERS[name](None), vocabulary, references[name], rng)

    together(work)


def test_batches_by_threads(references):
    vocabulary = Vocabulary.builtin()
    for limits in (None, Limits(max_mask_bytes=2500)):
        grammar = MAKERS["schema"](limits)
        matchers, expected = [], []
        for tokens, masks in references["schema"]:
            for i in range(len(tokens)):
                matchers.append(Matcher(grammar, vocabulary))
                matchers[-1].accept_tokens(tokens[:i])
                expected.append(masks[i])
        buffer = allocate_masks(len(matchers), vocabulary)
        for threads in (1, 2, 7, 1000):
            buffer[:] = 5
            fill_masks(matchers, buffer, threads=threads)
            assert [row.tobytes() for row in buffer] == expected
        rows = random.Random(1).sample(range(len(matchers)), len(matchers))
        fill_masks(matchers, buffer, rows=rows, threads=3)
        assert all(buffer[row].tobytes() == mask for row, mask in zip(rows, expected, strict=True))


def test_an_exception_in_a_thread_comes_out():
    vocabulary = Vocabulary([b"x", b""], eos=[1])
    matchers = [Matcher(Grammar.from_regex("x*"), vocabulary) for _ in range(8)]
    matchers[5] = Matcher(Grammar.from_regex("a"), vocabulary)
    buffer = allocate_masks(8, vocabulary)
    for threads in (1, 3, 8):
        with pytest.raises(VocabularyError, match="no token"):
            fill_masks(matchers, buffer, threads=threads)
        assert buffer[:, 0].tolist() == [3] * 5 + [0] + [3] * 2  # the others are served
        buffer[:] = 0
    matchers[5] = None
    assert fill_masks(matchers, buffer, threads=3) == [False] * 5 + [True] + [False] * 2
    assert buffer[:, 0].tolist() == [3] * 5 + [0] + [3] * 2


def test_failures_do_not_meet(references):
    """R7: refused sources and limits in some threads, right masks in the others."""
    grammar, vocabulary = MAKERS["schema"](None), Vocabulary.builtin()
    small = Grammar.from_regex(".*a.{12}", limits=Limits(max_lexer_states=60))

    def work(number):
        if number % 2:
            check_texts(grammar, vocabulary, references["schema"], random.Random(number))
            return
        for i in range(40):
            with pytest.raises(GrammarError):
                Grammar.from_regex("(" * (i + 1))
            with pytest.raises(GrammarError):
                Grammar.from_json_schema({"properties": {str(number): {"type": "nope"}}})
            with pytest.raises(LimitExceededError):
                Grammar.from_regex("a" * 500, limits=Limits(max_expressions=100 + i))
            matcher = Matcher(small, vocabulary)
            try:
                matcher.accept_bytes(bytes(random.Random(i).choices(b"ab", k=60)))
            except LimitExceededError as error:
                assert error.limit == "max_lexer_states"

    together(work)
