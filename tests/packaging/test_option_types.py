"""Options that are handed on have the names and types of those of the function that takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
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
