"""Keys that others need: `dependentRequired` and what says the same, in one bag and not as alternatives."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import jsonschema
import pytest

from exactness.walk import engine_mask
from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Vocabulary

from .engine import accepts, dump

KEYS = ["a", "b", "c", "d", "e"]
PAIRS = [(f"k{i}", f"v{i}") for i in range(40)]
PROPERTIES = {name: {"type": "integer"} for pair in PAIRS for name in pair}
SAME: dict[str, Any] = {
    "dependentRequired": {"dependentRequired": {a: [b] for a, b in PAIRS}},
    "dependencies": {"dependencies": {a: [b] for a, b in PAIRS}},
    "dependentSchemas": {"dependentSchemas": {a: {"required": [b]} for a, b in PAIRS}},
    "if": {"allOf": [{"if": {"required": [a]}, "then": {"required": [b]}} for a, b in PAIRS]},
    "anyOf": {"allOf": [{"anyOf": [{"required": [b]}, {"not": {"required": [a]}}]} for a, b in PAIRS]},
    "unevaluated": {"dependentRequired": {a: [b] for a, b in PAIRS}, "unevaluatedProperties": False},
}
TEXTS = {
    "{}": True,
    '{"k3": 1, "v3": 1}': True,
    '{"v3": 1, "v39": 1}': True,
    '{"k3": 1, "v4": 1}': False,
    '{"k0": 1, "v0": 1, "k39": 1}': False,
    '{"k0": 1, "v0": 1, "k39": 1, "v39": 1}': True,
}


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("said", SAME)
def test_however_it_is_said(said: str, order: Any) -> None:
    grammar = Grammar.from_json_schema({"type": "object", "properties": PROPERTIES, **SAME[said]}, property_order=order)
    for text, expected in TEXTS.items():
        assert accepts(grammar, text) == expected, text


@pytest.mark.parametrize("order", ["schema", "any"])
def test_chains(order: Any) -> None:
    names = [f"k{i}" for i in range(200)]
    properties = {name: {"type": "integer"} for name in names}
    schema = {"type": "object", "properties": properties, "dependentRequired": {a: [b] for a, b in pairwise(names)}}
    grammar = Grammar.from_json_schema(schema, property_order=order)
    assert accepts(grammar, dump(dict.fromkeys(names[150:], 1)))
    assert not accepts(grammar, dump(dict.fromkeys(names[150:199], 1)))
    assert not accepts(grammar, dump(dict.fromkeys([*names[150:180], *names[181:]], 1)))
    matcher = Matcher(Grammar.from_json_schema(schema, property_order=order, whitespace="compact"), Vocabulary.bytes())
    assert matcher.accept_bytes(b'{"k198":1')
    assert bytes(matcher.closing_tokens()[:-1]) == b',"k199":0}'


def test_the_other_way_round_closes_what_is_behind() -> None:
    """A key whose need has been passed over, in the order of the schema, is not offered any more."""
    schema = {"properties": {"a": True, "b": True, "c": True}, "dependentRequired": {"c": ["a"]}, "additionalProperties": False}
    matcher = Matcher(Grammar.from_json_schema(schema | {"type": "object"}, whitespace="compact"), Vocabulary.bytes())
    assert matcher.accept_bytes(b'{"b":1')
    assert engine_mask(matcher) & set(b",}") == set(b"}")


def test_what_needs_a_key_that_cannot_be_is_not_offered() -> None:
    schema = {
        "properties": {"a": True, "b": True, "c": False},
        "dependentRequired": {"a": ["b"], "b": ["c"]},
        "additionalProperties": False,
    }
    grammar = Grammar.from_json_schema({**schema, "type": "object"})
    assert accepts(grammar, "{}")
    assert engine_mask(_read(grammar, b"{")) & set(b'"}') == set(b"}")


def _read(grammar: Grammar, text: bytes) -> Matcher:
    matcher = Matcher(grammar, Vocabulary.bytes())
    assert matcher.accept_bytes(text)
    return matcher


def test_keys_that_only_needs_name_come_among_the_others() -> None:
    schema = {"type": "object", "properties": {"x": True}, "dependentRequired": {"a": ["b"]}}
    grammar = Grammar.from_json_schema(schema, whitespace="compact")
    for text in ('{"x":1,"b":1,"y":2,"a":3}', '{"x":1,"y":2,"a":3,"b":1}', '{"x":1,"y":2,"b":3}'):
        assert accepts(grammar, text), text
    assert not accepts(grammar, '{"x":1,"y":2,"a":3}')
    assert not accepts(grammar, '{"b":1,"x":2}')
    assert not accepts(grammar, '{"x":1,"b":1,"b":2,"a":3}')  # a named key comes once


def test_needs_that_too_many_keys_have_in_turn_are_refused() -> None:
    names = [f"k{i}" for i in range(3_000)]
    with pytest.raises(LimitExceededError, match="max_alternative_schemas"):
        Grammar.from_json_schema({"type": "object", "dependentRequired": {a: [b] for a, b in pairwise(names)}})


def test_beside_a_least_number_of_members_they_multiply() -> None:
    schema = {"type": "object", "dependentRequired": {a: [b] for a, b in PAIRS[:6]}, "minProperties": 3}
    grammar = Grammar.from_json_schema(schema, property_order="any")
    assert accepts(grammar, '{"k0": 1, "v0": 1, "x": 1}')
    assert not accepts(grammar, '{"k0": 1, "x": 1, "y": 1}')
    assert not accepts(grammar, '{"k0": 1, "v0": 1}')
    with pytest.raises(LimitExceededError, match="max_alternative_schemas"):
        Grammar.from_json_schema(schema, limits=Limits(max_alternative_schemas=50))


def test_what_can_never_be_there_does_not_multiply() -> None:
    needs = {f"k{i}": [f"v{i}"] for i in range(18)}
    closed = {"type": "object", "properties": {f"k{i}": True for i in range(20)}, "additionalProperties": False}
    grammar = Grammar.from_json_schema({**closed, "dependentRequired": needs, "minProperties": 2})
    assert accepts(grammar, '{"k18": 1, "k19": 1}')
    assert not accepts(grammar, '{"k0": 1, "k19": 1}')


@pytest.mark.parametrize("beside", [{"minProperties": 3}, {"not": {"additionalProperties": {"const": 1}}}], ids=str)
def test_lenient_gives_up_needs_alone(beside: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "dependentRequired": {a: [b] for a, b in PAIRS},
    }
    grammar = Grammar.from_json_schema({"properties": {"o": {**schema, **beside}}}, lenient=True, property_order="any")
    assert {(entry.pointer, entry.keyword) for entry in grammar.report.relaxed} == {("/properties/o", "dependentRequired")}
    assert accepts(grammar, '{"o": {"x": 2, "k0": 1, "k1": 1}}')
    assert not accepts(grammar, '{"o": {"x": "s", "k0": 1, "k1": 1}}')
    assert not accepts(grammar, '{"o": {}}')


def _schema(rng: random.Random, deep: bool = True) -> Any:
    keys = rng.sample(KEYS, rng.randint(2, 5))
    values: list[Any] = [True, {"const": 1}, {"enum": [0, "x"]}, {"type": "boolean"}, False]
    schema: dict[str, Any] = {"type": "object", "properties": {key: rng.choice(values) for key in keys[: rng.randint(1, 5)]}}
    schema["additionalProperties"] = rng.choice([False, True, {"const": 1}])
    needs = {key: rng.sample(keys, rng.randint(1, 2)) for key in rng.sample(keys, rng.randint(1, len(keys)))}
    schema["dependentRequired"] = needs
    if rng.random() < 0.3:
        schema["required"] = [rng.choice(keys)]
    if rng.random() < 0.2:
        schema["maxProperties"] = rng.randint(1, 3)
    if rng.random() < 0.2:
        schema["minProperties"] = rng.randint(1, 3)
    if deep:
        more: list[Any] = [
            {"not": {"dependentRequired": {rng.choice(keys): rng.sample(keys, 1), rng.choice(keys): rng.sample(keys, 1)}}},
            {"oneOf": [{"dependentRequired": {rng.choice(keys): rng.sample(keys, 2)}}, {"required": [rng.choice(keys)]}]},
            {"anyOf": [_schema(rng, False), _schema(rng, False)]},
            {"allOf": [_schema(rng, False)]},
            {"dependentSchemas": {rng.choice(keys): _schema(rng, False)}},
            {"if": {"required": [rng.choice(keys)]}, "then": _schema(rng, False), "else": {"required": [rng.choice(keys)]}},
            {"not": {"additionalProperties": {"const": 1}}},
            {},
        ]
        schema |= rng.choice(more)
    return schema


@pytest.mark.parametrize("seed", range(40))
def test_random_schemas(seed: int) -> None:
    rng = random.Random(seed)
    schema = _schema(rng)
    validator = jsonschema.Draft202012Validator(schema)
    try:
        grammar = Grammar.from_json_schema(schema, property_order="any", number_style="any")
    except ValueError:
        grammar = None
    for _ in range(60):
        names = rng.sample([*KEYS, "z"], rng.randint(0, 5))
        value = {name: rng.choice([0, 1, 1, 1, "x", True]) for name in names}
        expected = validator.is_valid(value)
        assert (grammar is not None and accepts(grammar, dump(value))) == expected, value


def test_chains_beside_counts_have_a_limit() -> None:
    """Each key that needs the next one is absent, or all behind it come: pieces of many keys take long to meet."""
    chain = {f"k{i}": [f"k{i + 1}"] for i in range(119)}
    schema = {"properties": {f"k{i}": {"type": "integer"} for i in range(120)}, "dependentRequired": chain, "minProperties": 20}
    with pytest.raises(LimitExceededError, match=r"max_alternative_schemas = 500 is reached at /dependentRequired"):
        Grammar.from_json_schema({"type": "object", **schema}, limits=Limits(max_alternative_schemas=500))
