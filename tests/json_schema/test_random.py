"""Random schemas of the whole algebra against `jsonschema`, and the engine against the oracle.

The laws, for schemas and the world of values of `schemas.py`:

- a value is accepted if and only if `jsonschema` says that it is valid, however its keys are ordered and its numbers spelt;
- a schema that is said to have no instance has none in the world, and one that compiles has one: the engine writes it;
- whatever the engine writes validates;
- a text that is accepted in the order of the schema is accepted when any order is.

A schema may be refused when it is compiled, by name; the share of those is bounded, so that the test keeps testing. Examples are the same
in every run; GRAMMAR_ENGINE_LONG=1 tries other and more ones.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings

from grammar_engine import Grammar, Matcher, UnsatisfiableSchemaError
from grammar_engine.errors import LimitExceededError, UnsupportedSchemaError
from grammar_engine.frontends.json_schema import Options, build
from grammar_engine.ir import Builder
from grammar_engine.limits import Limits
from grammar_engine.sampling import Sampler
from oracle import expr as oracle
from oracle.earley import Recogniser

from .engine import BYTES, accepts, accepts_value, dump
from .schemas import WORLD, exact, judge_of, schemas, texts_of, with_digits

MORE = settings(max_examples=5 * settings().max_examples)
MOST_REFUSED = 0.08  # share of the schemas
ANY = {"property_order": "any", "number_style": "any"}
TEXTS = [texts_of(value) for value in WORLD]
SAMPLER = Sampler(BYTES, random.Random(0))


def compile_or_count(schema: Any, counts: Counter[str], **options: Any) -> Grammar | None:
    """The grammar, or None if there is no instance. Raises `UnsupportedSchemaError` or `LimitExceededError`, and counts them."""
    counts["schemas"] += 1
    try:
        return Grammar.from_json_schema(schema, **options)
    except UnsatisfiableSchemaError:
        counts["without an instance"] += 1
        return None
    except (UnsupportedSchemaError, LimitExceededError) as error:
        counts["refused"] += 1
        counts[f"refused: {getattr(error, 'keyword', None) or error.limit}"] += 1
        raise


def accepts_member(grammar: Grammar | None, text: str) -> bool:
    return grammar is not None and accepts(grammar, text)


def assert_not_all_refused(counts: Counter[str]) -> None:
    assert counts["refused"] < MOST_REFUSED * counts["schemas"], counts


@pytest.mark.parametrize("draft", [2020, 2019])
def test_equals_jsonschema(draft: int) -> None:
    counts: Counter[str] = Counter()

    @MORE
    @given(schemas(draft))
    def check(schema: Any) -> None:
        try:
            grammar = compile_or_count(schema, counts, **ANY)
        except (UnsupportedSchemaError, LimitExceededError):
            return
        is_valid = judge_of(schema)
        for value, texts in zip(WORLD, TEXTS):
            valid = is_valid(value)
            for text in texts:
                assert accepts_member(grammar, text) == valid, f"{'valid' if valid else 'invalid'}: {text}"

    check()
    assert_not_all_refused(counts)


@pytest.mark.parametrize("draft", [2020, 2019])
def test_whatever_is_written_validates(draft: int) -> None:
    """So a schema that compiles has an instance."""
    counts: Counter[str] = Counter()

    @MORE
    @given(schemas(draft))
    def check(schema: Any) -> None:
        try:
            grammar = compile_or_count(schema, counts, whitespace="compact", unique_keys=True)
        except (UnsupportedSchemaError, LimitExceededError):
            return
        if grammar is None:
            return
        is_valid = judge_of(schema)
        for _ in range(3):
            text = SAMPLER.write(Matcher(grammar, BYTES), budget=20).decode()
            counts["written"] += 1
            assert is_valid(exact(text)), text

    check()
    assert_not_all_refused(counts)


def test_the_order_of_the_schema_is_one_order() -> None:
    """With the default options: nothing invalid in any spelling,
    and each valid value with integers in digits and its keys in some order."""
    counts: Counter[str] = Counter()

    @MORE
    @given(schemas())
    def check(schema: Any) -> None:
        try:
            grammar = compile_or_count(schema, counts)
        except (UnsupportedSchemaError, LimitExceededError):
            return
        is_valid = judge_of(schema)
        for value, texts in zip(WORLD, TEXTS):
            valid = is_valid(value)
            assert (grammar is not None and accepts_value(grammar, with_digits(value))) == valid, dump(value)
            assert valid or not any(accepts_member(grammar, text) for text in texts), dump(value)

    check()
    assert_not_all_refused(counts)


def test_equals_the_oracle() -> None:
    """The same answers with emptiness and recognition by the oracle."""
    rng = random.Random(0)
    counts: Counter[str] = Counter()

    @settings(max_examples=settings().max_examples // 2)
    @given(schemas())
    def check(schema: Any) -> None:
        builder = Builder()
        try:
            grammar = compile_or_count(schema, counts, whitespace="compact")
            build(builder, schema, Options("compact"), Limits(), oracle.Questions(builder))
            recogniser = Recogniser(builder)
        except (UnsupportedSchemaError, UnsatisfiableSchemaError, LimitExceededError):
            return
        except NotImplementedError:  # distinct members: compared by value (above), and by exactness/test_bags.py
            return
        for value in rng.sample(WORLD, 6):
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            state = recogniser.run(text.encode())
            assert accepts_member(grammar, text) == (state is not None and recogniser.is_sentence(state)), text

    check()
