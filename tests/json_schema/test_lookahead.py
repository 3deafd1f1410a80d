"""Look-aheads at the start of a pattern: against Python's `re`, on all short texts."""

from __future__ import annotations

import re
from itertools import product

import pytest

from grammar_engine import Grammar, SchemaError, UnsupportedSchemaError

from .engine import accepts, dump


@pytest.mark.parametrize(
    "pattern",
    [
        "^(?!ab)a",
        "^(?!.*b)a.*$",
        "^(?=.*b)(?!.*[)|]a)[a)|b]{1,3}$",
        "^(?!a|b$)",
        "^(?!(a|\\)(b))+)^(a|b)*$",
        "^(?=[^)]*\\))",
    ],
)
def test_leading_look_aheads(pattern: str) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "pattern": pattern})
    others = Grammar.from_json_schema({"type": "string", "not": {"pattern": pattern}})
    for n in range(5):
        for chars in product("ab)|", repeat=n):
            text = "".join(chars)
            matches = re.search(pattern, text) is not None
            assert accepts(grammar, dump(text)) == matches, text
            assert accepts(others, dump(text)) != matches, text


@pytest.mark.parametrize("pattern", ["^(?!a)b|c", "(?!a)b", "a(?=b)", "^((?!a).)*$", "^(?!(?=a)b)c"])
def test_other_look_aheads_are_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="look-ahead") as caught:
        Grammar.from_json_schema({"pattern": pattern})
    assert caught.value.keyword == "pattern"


@pytest.mark.parametrize("pattern", ["^(?!a", "^(?!a)*b", "^(?!a))b", "^(?![)"])
def test_malformed_patterns(pattern: str) -> None:
    with pytest.raises((SchemaError, UnsupportedSchemaError)):
        Grammar.from_json_schema({"pattern": pattern})
