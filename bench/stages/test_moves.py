"""What happens between two masks: tokens are accepted, taken back, tried; texts branch."""

from __future__ import annotations

import pytest
from engines.tokenizer import Tokenizer
from pytest_benchmark.fixture import BenchmarkFixture

from grammar_engine import Grammar, Matcher, Vocabulary


@pytest.fixture
def tokens(tokenizer: Tokenizer, instance: str) -> list[int]:
    return tokenizer.encode(instance)


@pytest.fixture
def matcher(schema: str, vocabulary: Vocabulary) -> Matcher:
    return Matcher(Grammar.from_json_schema(schema), vocabulary)


def test_accept(benchmark: BenchmarkFixture, matcher: Matcher, tokens: list[int]) -> None:
    """A whole instance, token by token."""

    def walk() -> bool:
        matcher.reset()
        return all(map(matcher.accept, tokens))

    assert benchmark(walk)
    assert matcher.is_complete


def test_accept_tokens(benchmark: BenchmarkFixture, matcher: Matcher, tokens: list[int]) -> None:
    """A whole instance in one call."""

    def walk() -> int:
        matcher.reset()
        return matcher.accept_tokens(tokens)

    assert benchmark(walk) == len(tokens)


def test_accept_and_rollback(benchmark: BenchmarkFixture, matcher: Matcher, tokens: list[int]) -> None:
    """Eight tokens forth and back, as when a draft is refused."""
    matcher.accept_tokens(tokens[:-8])
    draft = tokens[-8:]

    def try_draft() -> None:
        matcher.accept_tokens(draft)
        matcher.rollback(8)

    benchmark(try_draft)
    assert matcher.tokens == tokens[:-8]


def test_validate(benchmark: BenchmarkFixture, matcher: Matcher, tokens: list[int]) -> None:
    """Eight tokens, without a move."""
    matcher.accept_tokens(tokens[:-8])
    assert benchmark(matcher.validate, tokens[-8:]) == 8


def test_fork(benchmark: BenchmarkFixture, matcher: Matcher, tokens: list[int]) -> None:
    matcher.accept_tokens(tokens)
    assert benchmark(matcher.fork).tokens == tokens
