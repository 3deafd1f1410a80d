"""Options that are handed on have the names and types of those of the function that takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.cache import ChoicesOptions, GBNFOptions, JSONSchemaOptions, LarkOptions, RegexOptions, TagsOptions
from grammar_engine.decoding.grouped.pipeline import GroupedPipeline, PipelineOptions
from grammar_engine.decoding.loop import StreamOptions, stream


@pytest.mark.parametrize(
    ("options", "function"),
    [
        (JSONSchemaOptions, Grammar.from_json_schema),
        (RegexOptions, Grammar.from_regex),
        (LarkOptions, Grammar.from_lark),
        (GBNFOptions, Grammar.from_gbnf),
        (ChoicesOptions, Grammar.from_choices),
        (TagsOptions, Grammar.from_tags),
        (StreamOptions, stream),
        (PipelineOptions, GroupedPipeline),
    ],
)
def test_they_are_those_of_the_function(options: Any, function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters.values()
    expected = {each.name: each.annotation for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert {name: reference.__forward_arg__ for name, reference in options.__annotations__.items()} == expected
    assert not options.__required_keys__


TOKENS = """
from collections.abc import Iterable
from typing import SupportsIndex
from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine.decoding import generate

def run(matcher: Matcher, token: SupportsIndex, tokens: Iterable[SupportsIndex]) -> None:
    matcher.accept(token, strict=True)
    matcher.accept_tokens(tokens)
    matcher.validate(tokens)
    matcher.rollback(token)
    matcher.explain(token)
    matcher.explain(b"a")
    matcher.fill_draft_masks(tokens, bytearray(4))
    generate(print, tokens, matcher)
"""
RESULTS = """
from grammar_engine import BatchError, Explanation, Guide, MaskStep, TokenRejectedError, Vocabulary
from grammar_engine.decoding import GroupedSampler

def run(guide: Guide, mask: bytearray, rejected: TokenRejectedError, failed: BatchError, some: bool) -> None:
    tokens: list[int] = guide.get_tokens()
    tokens = guide.advance(3)
    tokens = guide.advance(3, return_tokens=True)
    either: list[int] | None = guide.advance(3, return_tokens=some)
    either = guide.advance(3, mask)
    why: Explanation = rejected.explanation
    step: MaskStep = failed.step
    sampler: GroupedSampler = GroupedSampler.from_pretrained("folder", 3, mode="verify")
    sampler = GroupedSampler(print, Vocabulary.bytes(), 3, padding_id=3, temp=0.5)
"""


@pytest.mark.parametrize("source", [TOKENS, RESULTS], ids=["tokens", "results"])
def test_types_of_what_comes_and_goes(tmp_path: Path, source: str) -> None:
    """Tokens may be of any integer type for who checks types, as for who does not; and results are of the types that they have."""
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "program.py"
    path.write_text(source)
    said, errors, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(path)])
    assert (said, errors, status) == ("Success: no issues found in 1 source file\n", "", 0)


def test_options_that_there_are_not(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "program.py"
    path.write_text("""
from grammar_engine import Vocabulary
from grammar_engine.decoding import GroupedSampler, generate

generate(print, [1], max_tokens=3)
GroupedSampler(print, Vocabulary.bytes(), 3, pading_id=3)
""")
    said, _, _ = api.run(["--strict", "--cache-dir", str(tmp_path), str(path)])
    assert said.count("Unexpected keyword argument") == 2, said
