"""Patterns of keys that overlap: those that ask the same are one, the others multiply out up to a limit that has a name."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Limits
from grammar_engine.errors import LimitExceededError, UnsatisfiableSchemaError

from .engine import accepts, accepts_value

LETTERS = "abcdefghij"
VALUES: list[Any] = [0, 3, "x"]
SCHEMAS: list[Any] = [{"type": "integer"}, {"minimum": 2}, {"$ref": "#/$defs/text"}, {"const": 3}, {"const": 3.0}, False, True]


def random_schema(rng: random.Random) -> dict[str, Any]:
    """Many patterns with few schemas, each written anew where it stands."""
    chosen = rng.sample(SCHEMAS, 2)
    patterns = [rng.choice(("{}", "^{}", "{}$", "{}[a-c]")).format(letter) for letter in rng.sample(LETTERS, 8)]
    schema: dict[str, Any] = {"type": "object", "patternProperties": {p: deepcopy(rng.choice(chosen)) for p in patterns}}
    if rng.random() < 0.5:
        schema["additionalProperties"] = rng.choice((False, {"type": "string"}))
    if rng.random() < 0.5:
        schema["properties"], schema["required"] = {"ab": {"minimum": 1}, "zz": True}, ["zz"]
    if rng.random() < 0.3:
        schema["not"] = {"patternProperties": {p: deepcopy(SCHEMAS[0]) for p in patterns[:3]}, "additionalProperties": True}
    if rng.random() < 0.3:
        schema["allOf"] = [{"patternProperties": {p: deepcopy(chosen[0]) for p in patterns[3:5]}}]
    if rng.random() < 0.3:
        schema["unevaluatedProperties"] = {"type": "integer"}
    return {**schema, "$defs": {"text": {"type": "string"}}}


@pytest.mark.parametrize("seed", range(25))
def test_random_patterns_that_overlap(seed: int) -> None:
    rng = random.Random(seed)
    schema = random_schema(rng)
    validator, seen = jsonschema.Draft202012Validator(schema), set()
    try:
        grammar = Grammar.from_json_schema(schema)
    except UnsatisfiableSchemaError:
        grammar = None
    for _ in range(150):
        value = {"".join(rng.choices(LETTERS + "z", k=rng.randint(1, 3))): rng.choice(VALUES) for _ in range(rng.randint(0, 2))}
        if "required" in schema and rng.random() < 0.8:
            value["zz"] = rng.choice(VALUES)
        valid = validator.is_valid(value)
        assert (grammar is not None and accepts_value(grammar, value)) == valid, value
        seen.add(valid)
    assert seen == {True, False} or "not" in schema  # which few of these values may meet, or none


def test_patterns_that_ask_the_same_do_not_multiply_out() -> None:
    """They are one for the grammar, and each has its lines in the report."""
    nested = {"type": "object", "properties": {"k": {"type": "integer"}}, "required": ["k"]}
    grammar = Grammar.from_json_schema({"patternProperties": {letter: deepcopy(nested) for letter in LETTERS}})
    assert accepts(grammar, '{"caj": {"k": 1}, "x": 0}')
    assert not accepts(grammar, '{"caj": {"k": "1"}}')
    enforced = {(entry.pointer, entry.keyword) for entry in grammar.report.enforced}
    for letter in LETTERS:
        assert {(f"/patternProperties/{letter}", "required"), (f"/patternProperties/{letter}/properties/k", "type")} <= enforced


def test_true_and_one_are_not_the_same() -> None:
    grammar = Grammar.from_json_schema({"patternProperties": {"a": {"const": 1}, "b": {"const": True}}, "additionalProperties": False})
    assert accepts(grammar, '{"a": 1, "b": true}')
    assert not accepts(grammar, '{"a": true}')
    assert not accepts(grammar, '{"ab": 1}')


def test_patterns_that_multiply_out_meet_a_limit() -> None:
    patterns = {letter: {"minimum": i} for i, letter in enumerate(LETTERS)}
    schema = {"properties": {"o/o": {"type": "object", "patternProperties": patterns}}}
    with pytest.raises(LimitExceededError, match="patterns exclude each other") as caught:
        Grammar.from_json_schema(schema)
    assert caught.value.limit == "max_alternative_schemas"
    assert caught.value.where == "/properties/o~1o/patternProperties"
    relaxed = Grammar.from_json_schema(schema, lenient=True).report.relaxed
    assert [(entry.pointer, entry.keyword) for entry in relaxed] == [("/properties/o~1o", "patternProperties")]
    grammar = Grammar.from_json_schema(schema, limits=Limits(max_alternative_schemas=10_000))
    assert accepts(grammar, '{"o/o": {"fcg": 6}}')
    assert not accepts(grammar, '{"o/o": {"fcg": 5}}')
