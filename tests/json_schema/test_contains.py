"""`contains`, `minContains`, `maxContains`, and `items` negated: every array of a small world, against `jsonschema`."""

from __future__ import annotations

import itertools
import random
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine.errors import UnsatisfiableSchemaError

from .engine import accepts, dump

ONE, INTEGER, TEXT = {"const": 1}, {"type": "integer"}, {"type": "string"}
ARRAYS: list[Any] = [list(items) for n in range(5) for items in itertools.product([1, 2, "x"], repeat=n)]

SCHEMAS: dict[str, Any] = {
    "one": {"contains": ONE},
    "two": {"contains": ONE, "minContains": 2},
    "at most one": {"contains": ONE, "maxContains": 1},
    "one to two": {"contains": ONE, "minContains": 1, "maxContains": 2},
    "none or more": {"contains": ONE, "minContains": 0},
    "none or one": {"contains": ONE, "minContains": 0, "maxContains": 1},
    "none": {"contains": ONE, "minContains": 0, "maxContains": 0},
    "anything": {"contains": True, "minContains": 2, "maxContains": 3},
    "nothing, at least 0": {"contains": False, "minContains": 0},
    "bounds without contains": {"minContains": 2, "maxContains": 1},
    "of other items": {"contains": ONE, "items": INTEGER, "maxItems": 3},
    "longer than what is counted": {"contains": ONE, "maxContains": 1, "minItems": 3},
    "with a prefix": {"prefixItems": [TEXT, ONE], "contains": ONE, "minContains": 2},
    "with a prefix, bounded": {"prefixItems": [ONE, True], "contains": ONE, "maxContains": 1},
    "with a prefix and an end": {"prefixItems": [True, INTEGER], "items": False, "contains": ONE},
    "three conditions": {"allOf": [{"contains": ONE}, {"contains": TEXT}, {"contains": INTEGER, "maxContains": 2}]},
    "implied": {"items": ONE, "contains": INTEGER, "minContains": 2},
    "not items": {"not": {"items": INTEGER}},
    "not items after a prefix": {"not": {"prefixItems": [TEXT], "items": INTEGER}},
    "not contains": {"not": {"contains": INTEGER}},
    "not two": {"not": {"contains": INTEGER, "minContains": 2, "maxContains": 2}},
    "not not items": {"not": {"not": {"items": INTEGER}}},
    "not not contains": {"not": {"not": {"contains": ONE, "maxContains": 2}}},
    "some and not all": {"contains": INTEGER, "not": {"items": INTEGER}},
    "oneOf": {"oneOf": [{"contains": ONE}, {"contains": TEXT}]},
    "oneOf items": {"oneOf": [{"items": INTEGER}, {"items": TEXT}, {"minItems": 3}]},
    "if": {"if": {"contains": ONE}, "then": {"maxItems": 2}, "else": {"items": TEXT}},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_equals_jsonschema(name: str) -> None:
    schema = {"type": "array", **SCHEMAS[name]}
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    assert [a for a in ARRAYS if accepts(grammar, dump(a)) != validator.is_valid(a)] == []


@pytest.mark.parametrize(
    "schema",
    [
        {"contains": False},
        {"contains": ONE, "items": TEXT},
        {"contains": ONE, "minContains": 3, "maxItems": 2},
        {"contains": ONE, "maxContains": 0},
        {"contains": INTEGER, "not": {"contains": INTEGER}},
    ],
    ids=dump,
)
def test_no_instance(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({"type": "array", **schema})


def test_what_older_drafts_know() -> None:
    draft6 = Grammar.from_json_schema({"$schema": "http://json-schema.org/draft-06/schema#", "contains": ONE, "maxContains": 1})
    assert accepts(draft6, "[1, 1]"), "maxContains is of 2019"
    assert not accepts(draft6, "[2]")
    draft4 = Grammar.from_json_schema({"$schema": "http://json-schema.org/draft-04/schema#", "contains": ONE})
    assert accepts(draft4, "[2]")


def test_nested_and_recursive() -> None:
    """A tree: each node is a leaf, or has a child that is one."""
    grammar = Grammar.from_json_schema({"type": "array", "items": {"$ref": "#"}, "anyOf": [{"maxItems": 0}, {"contains": {"const": []}}]})
    assert accepts(grammar, "[[], [[]]]")
    assert accepts(grammar, "[[[]], []]")
    assert not accepts(grammar, "[[[]]]")
    assert not accepts(grammar, "[[[[]]], []]")


def test_high_counts_cost_no_rules() -> None:
    counts = {"minContains": 50, "maxContains": 1_000_000, "maxItems": 2_000_000}
    grammar = Grammar.from_json_schema({"type": "array", "contains": ONE, **counts})
    assert accepts(grammar, dump([1] * 50 + [2]))
    assert not accepts(grammar, dump([1] * 49 + [2]))


@pytest.mark.parametrize(("least", "items"), [(20, 30), (50, 70), (100, 150), (400, 500)])
def test_the_shortest_array_with_many_items_that_are_counted(least: int, items: int) -> None:
    """The first question is answered, whatever was asked before."""
    bounds = {"minContains": least, "maxContains": 2 * least, "minItems": items, "maxItems": 4 * items}
    grammar = Grammar.from_json_schema({"type": "array", "contains": TEXT, **bounds}, whitespace="compact")
    matcher = Matcher(grammar, Vocabulary.builtin())
    shortest = matcher.closing_bytes()  # `""` so many times, and a digit for the rest, with commas between
    assert len(shortest) == 3 * least + 2 * (items - least) + 1 and accepts(grammar, shortest)
    assert matcher.accept_bytes(b"[1,2")
    assert len(matcher.closing_bytes()) == 3 * least + 2 * (items - least - 2) + 1
    assert matcher.closing_within(2 * items + least) is not None


@pytest.mark.parametrize("seed", range(12))
def test_the_shortest_array_of_distinct_items_that_are_counted(seed: int) -> None:
    """Distinct items cost more and more, which no bound may take for what the first ones cost."""
    rng = random.Random(seed)
    for _ in range(15):
        words = sorted({rng.choice("ab") * rng.choice([0, 1, 2, 3, 6, 9]) + rng.choice(["", "a", "b"]) for _ in range(rng.randint(3, 7))})
        counted = [(rng.sample(words, rng.randint(1, len(words))), rng.randint(1, 3)) for _ in range(rng.choice([1, 2]))]
        least = rng.randint(0, 4)
        items = {"type": "string", "pattern": f"^({'|'.join(words)})$"}
        conditions = [{"contains": {"pattern": f"^({'|'.join(some)})$"}, "minContains": n} for some, n in counted]
        schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": least, "allOf": conditions}
        shortest = min(
            (
                len(dump(list(chosen)).replace(" ", ""))
                for size in range(least, len(words) + 1)
                for chosen in itertools.combinations(words, size)
                if all(sum(word in some for word in chosen) >= n for some, n in counted)
            ),
            default=None,
        )
        if shortest is None:
            continue
        matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact"), Vocabulary.bytes())
        closing = matcher.closing_bytes()
        assert len(closing) == shortest, (schema, closing)
        assert matcher.closing_within(shortest + 1) is not None and matcher.closing_within(shortest) is None, schema
