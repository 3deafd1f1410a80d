"""Look-around in patterns of schemas: against Python's `re`, on all short texts."""

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
        "^(?!a)b|[)]",
        "(?!a)b",
        "a(?=b)",
        "^((?!ab).)*$",
        "^(?!(?=a)ab)[ab]",
        "^(a(?:(?!.*bb)[ab]*[|b])?)$",
        "a(?![)])|(?<=[|])b",
        "^(?:(?!b)[ab|]+(?<![|])[)])+$",
        r"b(?!.*\b\|)",
        "^(?:b|a(?!b)){2,}",
    ],
)
def test_patterns(pattern: str) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "pattern": pattern})
    others = Grammar.from_json_schema({"type": "string", "not": {"pattern": pattern}})
    for n in range(5):
        for chars in product("ab)|", repeat=n):
            text = "".join(chars)
            matches = re.search(pattern, text) is not None
            assert accepts(grammar, dump(text)) == matches, text
            assert accepts(others, dump(text)) != matches, text


def test_beside_other_keywords() -> None:
    """A look-around is of the value: what is spelled with an escape counts as what it stands for."""
    schema = {
        "type": "object",
        "patternProperties": {'^(?!.*"$)a': {"type": "string", "pattern": '^((?!"b).)*$', "minLength": 2, "maxLength": 3}},
        "propertyNames": {"pattern": "(?<!\n)$"},
        "additionalProperties": False,
    }
    grammar = Grammar.from_json_schema(schema, escapes="all")
    for key, value, valid in [
        ("a", "ab", True),
        ("a", '"a', True),
        ("a", '"b', False),
        ("a", "abcd", False),
        ("a", "a", False),
        ("a\n", "ab", False),
        ('a"', "ab", False),
        ('a"a', 'b"', True),
    ]:
        assert accepts(grammar, dump({key: value})) == valid, (key, value)
        escaped = dump({key: value}).replace("a", "\\u0061").replace("b", "\\u0062")
        assert accepts(grammar, escaped) == valid, escaped


@pytest.mark.parametrize("pattern", ["^((?!ab).)*b", "(?:|(?<=a))b", r"a(?<!\ba)"])
def test_what_has_no_expression_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=r"look-(ahead|behind)") as caught:
        Grammar.from_json_schema({"pattern": pattern})
    assert caught.value.keyword == "pattern"


@pytest.mark.parametrize("pattern", ["^(?!a", "^(?<!a)*b", "^(?!a))b", "^(?![)"])
def test_malformed_patterns(pattern: str) -> None:
    with pytest.raises((SchemaError, UnsupportedSchemaError)):
        Grammar.from_json_schema({"pattern": pattern})
