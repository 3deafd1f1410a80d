"""Before the first mask: the vocabulary, the front ends, the core's reading of the IR, the cache of grammars."""

from __future__ import annotations

from pathlib import Path

import pytest
from engines.tokenizer import Tokenizer
from pytest_benchmark.fixture import BenchmarkFixture

from grammar_engine import Grammar, GrammarCache, Matcher, Vocabulary
from grammar_engine._native import NativeExpressions, new_grammar
from grammar_engine.frontends import json_schema
from grammar_engine.ir import Builder
from grammar_engine.limits import DEFAULT


@pytest.fixture(scope="module", params=["tekken-131k", "o200k-200k"])
def large(request: pytest.FixtureRequest) -> Tokenizer:
    return Tokenizer.load(request.param)


def _made(tokenizer: Tokenizer) -> Vocabulary:
    return Vocabulary(tokenizer.tokens, eos=[tokenizer.eos], special=tokenizer.special)


def test_vocabulary(benchmark: BenchmarkFixture, large: Tokenizer) -> None:
    """From a list of bytes up to the first matcher, which builds the trie."""
    grammar = Grammar.from_choices(["x"])
    assert benchmark(lambda: Matcher(grammar, _made(large))).vocabulary.size == large.width


@pytest.fixture
def saved(large: Tokenizer, tmp_path: Path) -> Path:
    _made(large).save(tmp_path / "vocabulary")
    return tmp_path / "vocabulary"


def test_load(benchmark: BenchmarkFixture, large: Tokenizer, saved: Path) -> None:
    """A saved file is mapped, and its checksum verified."""
    assert benchmark(Vocabulary.load, saved).size == large.width


def test_load_and_first_matcher(benchmark: BenchmarkFixture, large: Tokenizer, saved: Path) -> None:
    grammar = Grammar.from_choices(["x"])
    assert benchmark(lambda: Matcher(grammar, Vocabulary.load(saved))).vocabulary.size == large.width


def _read(schema: str) -> tuple[Builder, NativeExpressions]:
    builder = Builder()
    expressions = NativeExpressions(builder, DEFAULT)
    assert json_schema.build(builder, json_schema.load(schema, DEFAULT), json_schema.Options(), DEFAULT, expressions)
    return builder, expressions


def test_schema_front_end(benchmark: BenchmarkFixture, schema: str) -> None:
    """JSON text -> IR."""
    builder, _ = benchmark(_read, schema)
    assert builder.lexemes


def test_core_compile(benchmark: BenchmarkFixture, schema: str) -> None:
    """IR -> tables of the core."""
    assert benchmark.pedantic(new_grammar, setup=lambda: (_read(schema), {}), rounds=200)


@pytest.mark.parametrize("kind", ["json_schema", "lark", "regex"])
def test_grammar(benchmark: BenchmarkFixture, kind: str, schema: str, program_grammar: str) -> None:
    """A source of each kind, wholly."""
    source = {"json_schema": schema, "lark": program_grammar, "regex": r"(0?[1-9]|1[0-2]):[0-5]\d\s?(am|pm)?"}[kind]
    assert benchmark(getattr(Grammar, f"from_{kind}"), source)


def test_cache_hit(benchmark: BenchmarkFixture, schema: str) -> None:
    cache = GrammarCache()
    grammar = cache.from_json_schema(schema)
    assert benchmark(cache.from_json_schema, schema) is grammar
