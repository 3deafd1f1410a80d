"""One mask: cold where a grammar spends its time, warm, and of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from grammar_engine import Grammar, Matcher, Vocabulary, allocate_masks, fill_masks, step_masks

# Place: the kind of source, and the text in front of it.
PLACES = {
    "string": ("json_schema", b'{"operationId": "listBoats", "method": "get", "path": "/boats", "responses": {"200": {"description": "'),
    "pattern": ("json_schema", b'{"operationId": "list'),
    "structure": ("json_schema", b'{"operationId": "listBoats", '),
    "identifier": ("lark", b"int boats(int har"),
    "operator": ("lark", b"int boats(int harbor) { return harbor "),
    "comment": ("lark", b"int boats; /* all that are"),
}


@pytest.fixture
def sources(schema: str, program_grammar: str) -> dict[str, str]:
    return {"json_schema": schema, "lark": program_grammar}


def _at(place: str, sources: dict[str, str], vocabulary: Vocabulary) -> Matcher:
    kind, text = PLACES[place]
    matcher = Matcher(getattr(Grammar, f"from_{kind}")(sources[kind]), vocabulary)
    assert matcher.accept_bytes(text)
    return matcher


@pytest.mark.parametrize("place", PLACES)
def test_cold(
    benchmark: BenchmarkFixture,
    place: str,
    sources: dict[str, str],
    new_vocabulary: Callable[[], Vocabulary],
    buffer: npt.NDArray[np.int32],
) -> None:
    def fill(matcher: Matcher) -> bool:
        return matcher.fill_mask(buffer)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (_at(place, sources, new_vocabulary()),), {}

    assert benchmark.pedantic(fill, setup=fresh, rounds=10)


@pytest.mark.parametrize("kind", ["numpy", "torch", "memoryview"])
@pytest.mark.parametrize("place", ["string", "structure"])
def test_warm(benchmark: BenchmarkFixture, place: str, kind: str, sources: dict[str, str], vocabulary: Vocabulary) -> None:
    if kind == "torch":
        pytest.importorskip("torch")
    matcher = _at(place, sources, vocabulary)
    assert benchmark(matcher.fill_mask, allocate_masks(64, vocabulary, kind), 1)


@pytest.mark.parametrize("threads", [1, 2])
def test_batch(
    benchmark: BenchmarkFixture, threads: int, sources: dict[str, str], vocabulary: Vocabulary, buffer: npt.NDArray[np.int32]
) -> None:
    """64 matchers at different places, warm."""
    matchers = [_at(place, sources, vocabulary) for place in PLACES]
    batch = [matchers[i % len(matchers)].fork() for i in range(64)]
    assert all(benchmark(fill_masks, batch, buffer, threads=threads))


def test_step(benchmark: BenchmarkFixture, vocabulary: Vocabulary, buffer: npt.NDArray[np.int32]) -> None:
    """64 texts accept a token and get their masks, warm."""
    grammar = Grammar.from_regex("[a-z ]*")
    batch = [Matcher(grammar, vocabulary) for _ in range(64)]
    tokens = batch[0].allowed_tokens()[:64]
    assert all(benchmark(step_masks, batch, tokens, buffer).accepted)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("grammars", [1, 2, 8])
def test_cold_batch(
    benchmark: BenchmarkFixture,
    grammars: int,
    threads: int,
    new_vocabulary: Callable[[], Vocabulary],
    buffer: npt.NDArray[np.int32],
) -> None:
    """16 matchers over grammars that nothing has warmed."""

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        vocabulary = new_vocabulary()
        patterns = [rf"([a-z]{{2,{9 + i}}} ?|[0-9]{{{i + 1}}})*;" for i in range(grammars)]
        made = [Grammar.from_regex(pattern) for pattern in patterns]
        batch = [Matcher(made[i % grammars], vocabulary) for i in range(16)]
        for i, matcher in enumerate(batch):
            assert matcher.accept_bytes(b"abcdefghi"[: 2 + i % 7])
        return (batch, buffer), {"threads": threads}

    assert all(benchmark.pedantic(fill_masks, setup=fresh, rounds=10))
