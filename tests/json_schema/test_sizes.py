"""Large schemas: each kind grows in proportion to its size, or is refused with a limit and a place.

The measure is what a plain object of many properties takes on the same machine. The sizes are such that a step that looked at all pairs
would take several times as long as is allowed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from grammar_engine import Grammar, LimitExceededError, UnsupportedSchemaError

INTEGER = {"type": "integer"}
ALLOWED = 5  # times what the plain object takes


def seconds(schema: Any) -> float:
    """CPU time of compiling."""
    begin = time.process_time()
    Grammar.from_json_schema(schema)
    return time.process_time() - begin


@pytest.fixture(scope="module")
def plain() -> float:
    """Of the plain object."""
    return min(seconds({"properties": {f"p{i}": {"minimum": i} for i in range(8_000)}}) for _ in range(3))


def chain(link: Callable[[int], dict[str, Any]], n: int) -> dict[str, Any]:
    """A schema that refers to the first of n links, each of which refers to the next."""
    links = {f"d{i}": link(i) for i in range(n)}
    return {"$ref": "#/$defs/d0", "$defs": {**links, f"d{n}": {"type": "object", "required": ["z"]}}}


LINEAR = {
    "properties under unevaluatedProperties": {
        "allOf": [{"properties": {f"p{i}": INTEGER}} for i in range(16_000)],
        "unevaluatedProperties": False,
    },
    "multiples of small numbers": {"type": "integer", "maximum": 10**9, "allOf": [{"multipleOf": i + 2} for i in range(1_000)]},
    "items": {"type": "array", "allOf": [{"items": {"minimum": i}} for i in range(16_000)]},
    "the items of other members": {"allOf": [{"additionalProperties": {"minimum": i}} for i in range(16_000)]},
    "integers that are no multiples": {"oneOf": [INTEGER, {"type": "integer", "anyOf": [{"multipleOf": i + 2} for i in range(4_000)]}]},
    "alternatives that evaluate the same": {
        "type": "array",
        "anyOf": [{"prefixItems": [True, {"const": i}]} for i in range(4_000)],
        "unevaluatedItems": False,
    },
    "dynamic anchors": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {f"d{i}": {"$dynamicAnchor": f"a{i}", "type": "string"} for i in range(8_000)},
        "properties": {f"p{i}": {"$dynamicRef": f"#a{i}"} for i in range(8_000)},
    },
}
REFUSED = {
    "patterns beside names": {
        "properties": {f"p{i}": INTEGER for i in range(8_000)},
        "patternProperties": {f"^x{i}": INTEGER for i in range(800)},
    },
    "multiples of large numbers": {"type": "number", "allOf": [{"multipleOf": 10_007 + 2 * i} for i in range(16_000)]},
    "look-aheads": {"type": "string", "pattern": "^" + "".join(f"(?=.*v{i})" for i in range(8_000))},
    "the negation of many arrays": {
        "not": {"anyOf": [{"type": "array", "minItems": i, "items": {"const": i}} for i in range(1_000)]},
    },
    "the negation of a large object": {"type": "object", "not": {"const": {f"p{i}": i for i in range(8_000)}}},
    "a chain of allOf": chain(lambda i: {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"properties": {f"p{i}": INTEGER}}]}, 16_000),
    "a chain of anyOf": chain(lambda i: {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"required": [f"p{i}"]}]}, 16_000),
    "a chain under unevaluatedProperties": {
        **chain(lambda i: {"$ref": f"#/$defs/d{i + 1}", "properties": {f"p{i}": True}}, 16_000),
        "unevaluatedProperties": False,
    },
}


@pytest.mark.parametrize("schema", LINEAR.values(), ids=LINEAR)
def test_time_in_proportion_to_the_size(schema: Any, plain: float) -> None:
    assert seconds(schema) < ALLOWED * plain


@pytest.mark.parametrize("schema", REFUSED.values(), ids=REFUSED)
def test_refused_soon_and_with_a_place(schema: Any, plain: float) -> None:
    begin = time.process_time()
    with pytest.raises((LimitExceededError, UnsupportedSchemaError)) as caught:
        Grammar.from_json_schema(schema)
    assert time.process_time() - begin < ALLOWED * plain
    error = caught.value
    assert (error.where if isinstance(error, LimitExceededError) else error.pointer) is not None


def test_what_stands_beside_exclusive_branches_is_not_negated() -> None:
    """Which of the properties there is, as the keys of a `oneof` of Protobuf: their schemas are in all branches, and tell none apart.
    To negate them, too, for each two branches took five times as long as the branches alone."""
    n = 60
    branches = {"type": "object", "oneOf": [{"required": [f"p{i}"]} for i in range(n)]}
    alone, described = (
        min(seconds({**branches, **more}) for _ in range(3)) for more in ({}, {"properties": {f"p{i}": INTEGER for i in range(n)}})
    )
    assert described < 3 * alone
