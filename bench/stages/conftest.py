"""What the stages share: a real vocabulary, and matchers at a place of a text over a grammar that nothing has warmed.

    pytest bench/stages --benchmark-columns=min,median,max

The vocabulary is `tekken-131k` of `$GRAMMAR_ENGINE_DATA`; how long a vocabulary takes to be made, or loaded, is measured of `o200k-200k`,
too. Cold means a new vocabulary, a new grammar and a new matcher for each round, because masks inside of lexemes are kept with the
vocabulary; the trie is built before the clock starts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from grammar_engine import Grammar, Matcher, Vocabulary

sys.path.insert(0, str(Path(__file__).parents[1]))
from engines.tokenizer import Tokenizer

SCHEMAS = Path(__file__).parents[2] / "grammars" / "schemas"
SUITES = Path(__file__).parents[1] / "suites"


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.load("tekken-131k")


@pytest.fixture(scope="session")
def new_vocabulary(tokenizer: Tokenizer) -> Callable[[], Vocabulary]:
    """Makes the vocabulary anew, with its trie."""

    def make() -> Vocabulary:
        vocabulary = Vocabulary(tokenizer.tokens, eos=[tokenizer.eos], special=tokenizer.special)
        Matcher(Grammar.from_choices(["x"]), vocabulary)  # the trie is built when the first matcher asks for it
        return vocabulary

    return make


@pytest.fixture(scope="session")
def vocabulary(new_vocabulary: Callable[[], Vocabulary]) -> Vocabulary:
    return new_vocabulary()


@pytest.fixture
def buffer(vocabulary: Vocabulary) -> npt.NDArray[np.int32]:
    """For the masks of 64 matchers."""
    return np.zeros((64, -(-vocabulary.width // 32)), np.int32)


@pytest.fixture(scope="session")
def schema() -> str:
    """A schema with references, a pattern, enumerations and a recursive type."""
    return (SCHEMAS / "openapi_operation.json").read_text()


@pytest.fixture(scope="session")
def instance() -> str:
    """An instance of `schema`."""
    responses = '{"200": {"description": "All boats that are out", "schema": {"type": "array", "items": {"type": "string"}}}}'
    return f'{{"operationId": "listBoats", "method": "get", "path": "/boats/{{harbor}}", "responses": {responses}}}'


@pytest.fixture(scope="session")
def program_grammar() -> str:
    """A language in the manner of C."""
    return (SUITES / "cfg" / "clike" / "grammar.lark").read_text()
