"""Two judges for every language test of this folder: the slow recogniser over the IR, and the engine.

The recogniser shares no code with the engine, so a test that fails for both points at the front end. (No `__init__.py` in this folder,
ever: `tests` is on the path and would hide the `lark` package.)
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grammar_engine.errors import GrammarError
from grammar_engine.frontends import lark as front_end
from grammar_engine.ir import Builder
from oracle.earley import Recogniser
from oracle.pattern import NotInSubsetError

Says = Callable[[bytes], bool]


def by_oracle(text: str, **options: object) -> Says:
    builder = Builder()
    front_end.build(builder, text, **options)
    try:
        recogniser = Recogniser(builder)
    except NotInSubsetError as error:
        pytest.skip(f"the recogniser does not know the pattern {error}")

    def accepts(content: bytes) -> bool:
        state = recogniser.run(content)
        return state is not None and recogniser.is_sentence(state)

    return accepts


def by_engine(text: str, **options: object) -> Says:
    engine = pytest.importorskip("grammar_engine.matcher", reason="the core is not built")
    grammar = pytest.importorskip("grammar_engine.grammar")
    vocabulary = pytest.importorskip("grammar_engine.vocabulary").Vocabulary.bytes()
    try:
        compiled = grammar.Grammar.from_lark(text, **options)
    except GrammarError as error:
        if "produces no text" not in error.reason:
            raise
        return lambda content: False  # an empty language is refused when it is compiled

    def accepts(content: bytes) -> bool:
        matcher = engine.Matcher(compiled, vocabulary)
        return matcher.accept_bytes(content) and matcher.is_complete

    return accepts


@pytest.fixture(params=["oracle", "engine"])
def judge(request: pytest.FixtureRequest) -> Callable[..., Says]:
    """`judge(grammar_text, **options)` compiles; the result says of a byte string whether it is a sentence."""
    return {"oracle": by_oracle, "engine": by_engine}[request.param]
