"""Before the first mask: the vocabulary, the front ends, the core's reading of the IR, the cache of grammars."""

from __future__ import annotations

import pytest
from engines.tokenizer import Tokenizer
from pytest_benchmark.fixture import BenchmarkFixture

from grammar_engine import Grammar, GrammarCache, Matcher, Vocabulary
from grammar_engine._native import NativeExpressions, new_grammar
from grammar_engine.frontends import json_schema
from grammar_engine.ir import Builder
from grammar_engine.limits import DEFAULT


def test_vocabulary(benchmark: BenchmarkFixture, tokenizer: Tokenizer) -> None:
    grammar = Grammar.from_choices(["x"])

    def build() -> Vocabulary:
        vocabulary = Vocabulary(tokenizer.tokens, eos=[tokenizer.eos], special=tokenizer.special)
        Matcher(grammar, vocabulary)  # builds the trie
        return vocabulary

    assert benchmark(build).size == tokenizer.width


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
