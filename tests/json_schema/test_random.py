"""Random schemas of the whole algebra against `jsonschema`, and the engine against the oracle.

An instance that `jsonschema` accepts is accepted with its keys in some order; one that it refuses is refused in every order. A schema
may be refused when it is compiled, by name; the share of those is bounded, so that the test keeps testing.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Matcher
from grammar_engine.errors import GrammarError, LimitExceededError, UnsupportedSchemaError
from grammar_engine.frontends.json_schema import Options, build
from grammar_engine.ir import Builder
from grammar_engine.limits import Limits
from oracle import expr as oracle
from oracle.earley import Recogniser

from .engine import BYTES, accepts, accepts_value, dump

NAMES = ["a", "b", "c", "ab"]
SCALARS: list[Any] = [None, True, False, 0, 1, 2, 3, 5, 7, 10, -1, -2, 0.5, 2.0, 2.5, -0.5, "", "a", "b", "ab", "ba", "abc", "é", '"', "aa"]


def random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return rng.choice(SCALARS)
    if kind < 0.7:
        return [random_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {name: random_value(rng, depth - 1) for name in rng.sample(NAMES, rng.randint(0, 3))}


def random_schema(rng: random.Random, depth: int) -> Any:
    if rng.random() < 0.06:
        return rng.random() < 0.6
    schema: dict[str, Any] = {}
    for _ in range(rng.choice([1, 1, 2, 3])):
        schema.update(random_keyword(rng, depth))
    return schema


def random_keyword(rng: random.Random, depth: int) -> dict[str, Any]:
    def sub() -> Any:
        return random_schema(rng, depth - 1)

    types = ["null", "boolean", "integer", "number", "string", "array", "object"]
    flat = [
        lambda: {"type": rng.choice(types)},
        lambda: {"type": rng.sample(types, 3)},
        lambda: {"enum": [random_value(rng, 1) for _ in range(rng.randint(1, 4))]},
        lambda: {"const": random_value(rng, 1)},
        lambda: {"minLength": rng.randint(0, 2)},
        lambda: {"maxLength": rng.randint(0, 3)},
        lambda: {"pattern": rng.choice(["a", "^a", "b$", "^a*b?$", "^[^a]", "a|b"])},
        lambda: {"minimum": rng.choice([-1, 0, 1.5, 2])},
        lambda: {"maximum": rng.choice([-1, 0, 2.5, 5])},
        lambda: {"exclusiveMinimum": rng.choice([0, 0.5, 2])},
        lambda: {"exclusiveMaximum": rng.choice([0, 2, 7])},
        lambda: {"multipleOf": rng.choice([1, 2, 0.5, 5])},
        lambda: {"minItems": rng.randint(0, 2)},
        lambda: {"maxItems": rng.randint(0, 3)},
        lambda: {"required": rng.sample(NAMES, rng.randint(1, 2))},
        lambda: {"minProperties": rng.randint(0, 2)},
        lambda: {"maxProperties": rng.randint(0, 2)},
        lambda: {"dependentRequired": {rng.choice(NAMES): rng.sample(NAMES, 1)}},
    ]
    nested = [
        lambda: {"properties": {name: sub() for name in rng.sample(NAMES, rng.randint(1, 3))}},
        lambda: {"additionalProperties": sub()},
        lambda: {"patternProperties": {rng.choice(["a", "^b", "c|d"]): sub()}},
        lambda: {"propertyNames": rng.choice([{"maxLength": 1}, {"pattern": "a"}, {"enum": NAMES[:2]}])},
        lambda: {"items": sub()},
        lambda: {"prefixItems": [sub() for _ in range(rng.randint(1, 2))]},
        lambda: {"allOf": [sub() for _ in range(rng.randint(1, 2))]},
        lambda: {"anyOf": [sub() for _ in range(rng.randint(1, 3))]},
        lambda: {"oneOf": [sub() for _ in range(rng.randint(1, 3))]},
        lambda: {"not": sub()},
        lambda: {"if": sub(), "then": sub(), "else": sub()},
        lambda: {"dependentSchemas": {rng.choice(NAMES): sub()}},
        lambda: {"$ref": "#/$defs/d"},
    ]
    return rng.choice(flat + nested if depth else flat)()


@pytest.mark.parametrize("seed", range(12))
def test_equals_jsonschema(seed: int, long_run: bool) -> None:
    rng = random.Random(seed)
    n_schemas = 1_500 if long_run else 150
    n_refused = 0
    for _ in range(n_schemas):
        schema = random_schema(rng, 2)
        if isinstance(schema, dict):
            schema["$defs"] = {"d": random_schema(rng, 1)}
        if "#/$defs/d" in dump(schema.get("$defs") if isinstance(schema, dict) else None):
            continue  # a definition that is only itself
        validator = jsonschema.Draft202012Validator(schema)
        try:
            grammar = Grammar.from_json_schema(schema)
        except (UnsupportedSchemaError, LimitExceededError):
            n_refused += 1
            continue
        except GrammarError:
            grammar = None
        for _ in range(25):
            value = random_value(rng, 2)
            valid = validator.is_valid(value)
            assert (grammar is not None and accepts_value(grammar, value)) == valid, (schema, value)
    assert n_refused < 0.4 * n_schemas


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_generated_validates(seed: int) -> None:
    """Random walks over the bytes that are allowed."""
    rng = random.Random(seed)
    for _ in range(25):
        schema = random_schema(rng, 2)
        if "$ref" in dump(schema):
            continue
        try:
            grammar = Grammar.from_json_schema(schema, whitespace="compact")
        except (GrammarError, LimitExceededError):
            continue
        matcher = Matcher(grammar, BYTES)
        for _ in range(60):
            allowed = [token for token in matcher.allowed_tokens() if token < 128 and token != 92]
            if matcher.is_complete and (not allowed or rng.random() < 0.3):
                break
            if not allowed:
                break
            closing = [token for token in allowed if chr(token) in '"}],:']
            matcher.accept(rng.choice(closing or allowed) if rng.random() < 0.5 else rng.choice(allowed))
        if matcher.is_complete:
            text = bytes(matcher.tokens).decode()
            if not re.search("[0-9.]{12}|[0-9][eE]", text):  # `jsonschema` computes with floats
                value = json.loads(
                    text, object_pairs_hook=lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else {"twice": pairs}
                )
                assert "twice" in dump(value) or jsonschema.Draft202012Validator(schema).is_valid(value), (schema, text)


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_oracle(seed: int) -> None:
    """The same answers with emptiness and recognition by the oracle."""
    rng = random.Random(seed)
    for _ in range(6):
        schema = random_schema(rng, 1)
        if "$ref" in dump(schema):
            continue
        builder = Builder()
        try:
            grammar = Grammar.from_json_schema(schema, whitespace="compact")
            build(builder, schema, Options("compact"), Limits(), lambda e: oracle.is_empty(builder, e))  # noqa: B023
        except (GrammarError, LimitExceededError):
            continue
        recogniser = Recogniser(builder)
        for _ in range(6):
            text = json.dumps(random_value(rng, 2), ensure_ascii=False, separators=(",", ":"))
            state = recogniser.run(text.encode())
            assert accepts(grammar, text) == (state is not None and recogniser.is_sentence(state)), (schema, text)
