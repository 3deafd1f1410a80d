"""Options that are handed on have the names and types of those of the function that takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.cache import ChoicesOptions, GBNFOptions, JSONSchemaOptions, LarkOptions, RegexOptions, TagsOptions
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
    ],
)
def test_they_are_those_of_the_function(options: Any, function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters.values()
    expected = {each.name: each.annotation for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert {name: reference.__forward_arg__ for name, reference in options.__annotations__.items()} == expected
    assert not options.__required_keys__


def test_tokens_may_be_of_any_integer_type(tmp_path: Path) -> None:
    """For who checks types, as for who does not."""
    api = pytest.importorskip("mypy.api")
    source = """
from collections.abc import Iterable
from typing import SupportsIndex
from grammar_engine import Matcher

def run(matcher: Matcher, token: SupportsIndex, tokens: Iterable[SupportsIndex]) -> None:
    matcher.accept(token, strict=True)
    matcher.accept_tokens(tokens)
    matcher.validate(tokens)
    matcher.rollback(token)
    matcher.explain(token)
    matcher.explain(b"a")
    matcher.fill_draft_masks(tokens, bytearray(4))
"""
    path = tmp_path / "tokens_of_all_types.py"
    path.write_text(source)
    said, errors, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(path)])
    assert (said, errors, status) == ("Success: no issues found in 1 source file\n", "", 0)
