"""`closed=True`: members that the schema does not name do not come.

The truth is the standard's: a schema is written anew with `unevaluatedProperties: false` and `unevaluatedItems: false` at each value that it
describes, and judged by `jsonschema`.
"""

from __future__ import annotations

import itertools
import json
import random
from decimal import Decimal
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, GrammarCache, Matcher, Vocabulary
from grammar_engine.errors import LimitExceededError, SchemaError, UnsatisfiableSchemaError
from grammar_engine.limits import Limits

from .engine import accepts, accepts_value, dump

INTEGER = {"type": "integer"}
FREE = [{}, {"a": 1}, {"a": {"b": [1]}}, [], [1, {"c": 2}], 1]


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def judged(schema: Any, *values: Any, **options: Any) -> list[bool]:
    grammar = Grammar.from_json_schema(schema, closed=True, property_order="any", **options)
    return [accepts_value(grammar, value) for value in values]


NODE = {"$ref": "#/$defs/node", "$defs": {"node": object_of(value=INTEGER, next={"$ref": "#/$defs/node"})}}


@pytest.mark.parametrize(
    ("schema", "admitted", "refused"),
    [
        (object_of(a=INTEGER), [{}, {"a": 1}], [{"b": 1}, {"a": 1, "b": 2}, {"a": "x"}]),
        (object_of(m=object_of(x=INTEGER)), [{"m": {}}, {"m": {"x": 1}}], [{"m": {"y": 1}}]),
        ({"type": "array", "items": object_of(x=INTEGER)}, [[], [{"x": 1}, {}]], [[{"y": 1}]]),
        ({"prefixItems": [INTEGER]}, [[], [1], {"a": 1}], [[1, 2], ["x"]]),
        ({"prefixItems": [INTEGER], "items": INTEGER}, [[1, 2]], [[1, "x"]]),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [INTEGER]}, [[1]], [[1, 2]]),
        ({"allOf": [object_of(a=INTEGER), object_of(b=INTEGER)]}, [{"a": 1, "b": 2}], [{"c": 1}, {"a": 1, "c": 1}]),
        ({"anyOf": [object_of(a=INTEGER), object_of(b={"type": "string"})]}, [{"a": 1}, {"b": "x"}, {"a": 1, "b": "x"}], [{"c": 1}]),
        ({**object_of(a=INTEGER), "patternProperties": {"^x": INTEGER}}, [{"a": 1, "xy": 2}], [{"y": 1}]),
        ({**object_of(a=INTEGER), "additionalProperties": object_of(x=INTEGER)}, [{"q": {"x": 1}}], [{"q": {"y": 1}}]),
        ({**object_of(a=INTEGER), "additionalProperties": True}, [{"q": {"y": 1}}], []),
        (NODE, [{"value": 1, "next": {"next": {}}}], [{"next": {"other": 1}}, {"other": 1}]),
        ({**object_of(a=INTEGER), "required": ["b"]}, [{"b": [1]}, {"a": 1, "b": 1}], [{}, {"b": 1, "c": 1}]),
        (
            {**object_of(a=INTEGER), "dependentRequired": {"a": ["b"]}},
            [{}, {"a": 1, "b": "x"}, {"b": 1}],
            [{"a": 1}, {"a": 1, "b": 1, "c": 1}],
        ),
        ({**object_of(a=INTEGER), "dependencies": {"a": ["b"], "c": {"minProperties": 1}}}, [{"a": 1, "b": 1}], [{"a": 1}, {"c": 1}]),
        ({"prefixItems": [INTEGER], "minItems": 2}, [[1, 2], [1, "x"]], [[1], [1, 2, 3]]),
    ],
)
def test_members_that_are_not_named(schema: Any, admitted: list[Any], refused: list[Any]) -> None:
    assert judged(schema, *admitted, *refused) == [True] * len(admitted) + [False] * len(refused)


NAMED_APART = [
    {"required": ["z", "b"]},
    {**object_of(a=INTEGER), "required": ["z", "b"]},
    {**object_of(a=INTEGER), "dependentRequired": {"a": ["z", "b"]}},
    {**object_of(a=INTEGER, m={}), "anyOf": [{"required": ["z", "b"]}, {"required": ["m"]}]},
    {"allOf": [object_of(m={}, a=INTEGER), object_of(c={})], "required": ["c", "z", "b"]},
]


@pytest.mark.parametrize("schema", NAMED_APART)
def test_keys_come_in_the_order_that_they_have_without_it(schema: Any) -> None:
    closed, free = Grammar.from_json_schema(schema, closed=True), Grammar.from_json_schema(schema)
    names = [name for name in "zbamc" if f'"{name}"' in json.dumps(schema)]
    n_read = 0
    for n in range(len(names) + 1):
        for keys in itertools.permutations(names, n):
            text = json.dumps(dict.fromkeys(keys, 1))
            assert accepts(closed, text) == accepts(free, text), text
            n_read += accepts(free, text)
    assert n_read > 0
    assert not accepts(closed, json.dumps(dict.fromkeys([*names, "q"], 1)))


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string", "required": True}}},
        {**object_of(a=INTEGER), "anyOf": [{"type": "integer", "minItems": "x", "required": ["\ud800"]}, {}]},
        {"properties": {"a": {"type": "integer", "properties": 3, "dependentRequired": [], "prefixItems": 1}}},
        {"properties": {}, "if": {"$ref": "#"}},
        {"properties": {}, "then": {"properties": {"c": {}}}},
    ],
)
def test_what_has_no_effect(schema: Any) -> None:
    Grammar.from_json_schema(schema)
    Grammar.from_json_schema(schema, closed=True)


def test_it_costs_no_more_for_large_counts_and_many_branches() -> None:
    assert judged({"prefixItems": [INTEGER], "minItems": 2**31 - 1}, [1]) == [False]
    assert judged({"prefixItems": [INTEGER], "minItems": 10**30}, [1], lenient=True) == [True]
    for wrong in (Decimal("NaN"), float("inf"), "x", None, -1, 1.5):
        with pytest.raises(SchemaError, match="minItems"):
            judged({"prefixItems": [INTEGER], "minItems": wrong}, [1])
    with pytest.raises(LimitExceededError, match="max_schema_nodes"):
        judged({"prefixItems": [INTEGER], "minItems": 2**31 - 1, "contains": INTEGER})
    names = [f"k{i}" for i in range(60)]
    schema = {**object_of(**dict.fromkeys(names, INTEGER)), "anyOf": [{"required": [name]} for name in names]}
    assert judged(schema, {"k7": 1}, {}, {"q": 1}, {"k7": 1, "q": 1}) == [True, False, False, False]
    assert judged({**schema, "additionalProperties": False}, {"k7": 1, "k8": 2}, {"q": 1}) == [True, False]


@pytest.mark.parametrize(
    "schema", [{}, {"type": ["object", "array", "integer"]}, {"anyOf": [{"minProperties": 0}, {}]}, {"not": {"const": 5}}]
)
def test_what_names_no_members_leaves_them_free(schema: Any) -> None:
    assert all(judged(schema, *FREE))


def test_values_that_are_listed_stay() -> None:
    assert judged({"const": {"a": {"b": 1}}}, {"a": {"b": 1}}) == [True]
    listed = {"enum": [{"a": 1}, [1, 2]], "properties": {"z": True}, "prefixItems": [True]}
    assert judged(listed, {"a": 1}, [1, 2], {"z": 1}) == [True, True, False]
    ends = {"not": {"not": {**object_of(a={}, b={}), "additionalProperties": False}}}  # and names nothing
    assert judged({**object_of(a={}), **ends, "anyOf": [{"const": {"c": 1}}, {}]}, {"a": 1}, {"b": 1}) == [True, False]
    beside = {**object_of(a={}), "anyOf": [{"const": {"b": 1}}, {"enum": [{"a": 1, "c": 2}]}, {"required": ["a"]}]}
    assert judged(beside, {"b": 1}, {"a": 1, "c": 2}, {"a": 1}, {"a": 1, "b": 1}) == [True, True, True, False]
    negated = {"not": {"not": {"enum": [{"a": 1}, {"b": 1}]}}, "anyOf": [{"const": 3}, {}]}
    assert judged({**object_of(a={}), **negated}, {"a": 1}, {"b": 1}) == [True, False]


def test_conditions_are_read_as_they_stand() -> None:
    one_of = {"oneOf": [object_of(k=object_of(x=INTEGER)), object_of(k=object_of(y=INTEGER))]}
    with pytest.raises(UnsatisfiableSchemaError, match="only members that it names"):  # {"k": {"x": 1}} meets both as they stand
        Grammar.from_json_schema(one_of, closed=True)
    negated = {**object_of(a={}), "not": object_of(a=object_of(x=INTEGER))}
    assert judged(negated, {"a": {"x": "s"}}, {"a": {"y": 1}}, {"a": 1}, {}) == [True, False, True, False]
    contains = {"type": "array", "items": object_of(x=INTEGER, y=INTEGER), "contains": object_of(x={"const": 1})}
    twice = {"not": {"not": {**object_of(a={}), "additionalProperties": False}}, "properties": {"b": INTEGER}}
    assert judged(twice, {}, {"a": 1}) == [True, False]
    assert judged({"type": "object", "if": {"required": ["a"]}}, {"a": 1}, {"b": 1}) == [True, True]
    asked = {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}}
    assert judged(asked, {"a": 1, "b": 1}, {"b": 1}, {}, {"a": 1}, {"b": 1, "c": 1}) == [True, True, True, False, False]
    assert judged(contains, [{"x": 1, "y": 2}], [{"x": 2}], [{"x": 1, "z": 1}]) == [True, False, False]


def test_an_error_tells_of_the_option() -> None:
    schema = {**object_of(a=INTEGER), "minProperties": 2}
    Grammar.from_json_schema(schema)
    with pytest.raises(UnsatisfiableSchemaError, match=r"closed=True.*/minProperties"):
        Grammar.from_json_schema(schema, closed=True)
    with pytest.raises(UnsatisfiableSchemaError) as caught:
        Grammar.from_json_schema({"type": "integer", "minimum": 3, "maximum": 2}, closed=True)
    assert "closed" not in str(caught.value)
    with pytest.raises(UnsatisfiableSchemaError, match="/minProperties and /maxProperties contradict each other"):
        Grammar.from_json_schema({**object_of(a=INTEGER), "minProperties": 2, "maxProperties": 1}, closed=True)


def test_where_it_can_be_said() -> None:
    assert GrammarCache().from_json_schema(object_of(a=INTEGER), closed=True) is not None
    lark = Grammar.from_lark('start: %json {"type": "object", "properties": {"a": true}}', schema_options={"closed": True})
    assert accepts_value(lark, {"a": 1})
    assert not accepts_value(lark, {"b": 1})
    with pytest.raises(TypeError, match="closed"):
        Grammar.from_json_schema({}, closed="yes")  # type: ignore[arg-type]


def test_parameters_in_xml() -> None:
    grammar = Grammar.from_json_schema(object_of(a={"type": "string"}), closed=True, style="qwen_xml")
    free = Grammar.from_json_schema(object_of(a={"type": "string"}), style="qwen_xml")
    invented = "<parameter=b>\n1\n</parameter>"
    assert [Matcher(each, Vocabulary.bytes()).accept_bytes(invented.encode()) for each in (free, grammar)] == [True, False]


def test_it_is_given_up_with_what_it_depends_on() -> None:
    schema = {"properties": {"a": INTEGER}, "$ref": "https://example.org/unknown"}
    grammar = Grammar.from_json_schema(schema, closed=True, lenient=True)
    assert accepts_value(grammar, {"b": 1})  # the other schema may name it


def test_limits_hold() -> None:
    chain = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]} for i in range(300)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**chain, "d300": object_of(a=INTEGER)}}
    assert judged(schema, {"a": 1}, {"b": 1}) == [True, False]
    tight = Limits(max_schema_nodes=200)
    with pytest.raises(LimitExceededError, match="max_schema_nodes"):
        Grammar.from_json_schema(schema, closed=True, limits=tight)


@pytest.mark.parametrize("use", [{}, {"anyOf": [{"$ref": "#/$defs/settings"}, {"type": "null"}]}], ids=["reference", "or null"])
@pytest.mark.parametrize("closed", [False, True])
def test_references_share_their_rules(closed: bool, use: Any) -> None:
    settings = object_of(**{f"setting{i}": INTEGER for i in range(30)})
    use = use or {"$ref": "#/$defs/settings"}

    def used(n: int) -> Any:
        return {**object_of(**{f"use{i}": use for i in range(n)}), "$defs": {"settings": settings}}

    texts = [json.dumps(used(n)) for n in (1, 30)]  # as text: each use is an object of its own
    sizes = [len(Grammar.from_json_schema(text, closed=closed).to_bytes()) for text in texts]
    assert sizes[1] < 2 * sizes[0]  # each had rules of its own
    if closed:
        assert judged(used(30), {"use0": {"setting0": 1}}, {"use0": {"other": 1}}, {"use29": {"other": 1}}) == [True, False, False]


def test_keys_that_are_required_alone_keep_their_order() -> None:
    """Objects that are alike but for the order of what they require have rules of their own."""
    schema = object_of(a={"type": "object", "required": ["x", "y"]}, b={"type": "object", "required": ["y", "x"]})
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, '{"a": {"x": 1, "y": 1}, "b": {"y": 1, "x": 1}}')
    assert not accepts(grammar, '{"b": {"x": 1, "y": 1}}')


def test_kinds_in_each_other() -> None:
    """What `oneOf` admits, and its closed branches, are met with each other: at each level each branch with each other one, once."""
    kinds = {
        f"kind{i}": {
            "allOf": [
                {**object_of(kind={"type": "string"}, id=INTEGER), "required": ["kind"]},
                object_of(kind={"const": f"kind{i}"}, children={"type": "array", "items": {"$ref": "#/$defs/any"}}, **{f"own{i}": INTEGER}),
            ]
        }
        for i in range(40)
    }
    schema = {"$ref": "#/$defs/any", "$defs": {**kinds, "any": {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds]}}}
    inner = {"kind": "kind7", "id": 1, "own7": 2}
    wrong = [{**inner, "own8": 1}, {"kind": "kind40"}, {**inner, "children": [{**inner, "own8": 1}]}]
    assert judged(schema, inner, {**inner, "children": [inner, {"kind": "kind39", "children": [inner]}]}) == [True, True]
    assert judged(schema, *wrong) == [False] * 3


# --- against the standard -----------------------------------------------------------------------------------------------------


class Rewriter:
    """Writes a schema anew, closed by keywords of the standard."""

    def __init__(self, definition: Any):
        self.definition = definition

    def beside(self, schema: Any, in_branch: bool = False) -> list[tuple[Any, bool]]:
        """The schema, and all that apply in place or may; and whether they do in branches of `anyOf` alone."""
        if isinstance(schema, bool):
            return []
        more = [*schema.get("allOf", []), *schema.get("oneOf", []), *schema.get("dependentSchemas", {}).values()]
        if "if" in schema and ("then" in schema or "else" in schema):
            more += [schema[keyword] for keyword in ("if", "then", "else") if keyword in schema]
        more += [self.definition] if "$ref" in schema else []
        found = [(schema, in_branch), *(each for inner in more for each in self.beside(inner, in_branch))]
        return [*found, *(each for inner in schema.get("anyOf", []) for each in self.beside(inner, True))]

    def value(self, schema: Any) -> Any:
        """A schema that describes a value; those that are listed are scalars here."""
        beside = self.beside(schema)
        here = [each for each, _ in beside]
        result: dict[str, Any] = {"allOf": [self.in_place(schema)]}
        if any(each.get("properties") or each.get("patternProperties") or each.get("required") for each in here):
            asked, chosen, described = set(), set(), set()
            for each, in_branch in beside:
                names = {*each.get("required", []), *(name for names in each.get("dependentRequired", {}).values() for name in names)}
                (chosen if in_branch else asked).update(names)
                if in_branch:
                    described |= each.get("properties", {}).keys()
            described -= {name for each, in_branch in beside if not in_branch for name in each.get("properties", {})}
            result |= {"unevaluatedProperties": False, "properties": dict.fromkeys(asked | (chosen - described), True)}
        if any(each.get("prefixItems") for each in here):
            result |= {"unevaluatedItems": False, "prefixItems": [True] * max(each.get("minItems", 0) for each in here)}
        return result

    def in_place(self, schema: Any) -> Any:
        """A schema that applies in place."""
        if isinstance(schema, bool):
            return schema
        result: dict[str, Any] = {"allOf": []}
        for keyword, value in schema.items():
            if keyword in ("properties", "patternProperties"):
                result[keyword] = {name: self.value(each) for name, each in value.items()}
            elif keyword in ("additionalProperties", "items"):
                result[keyword] = self.value(value)
            elif keyword == "prefixItems":
                result[keyword] = [self.value(each) for each in value]
            elif keyword == "allOf":
                result["allOf"] += [self.in_place(each) for each in value]
            elif keyword == "anyOf":
                result[keyword] = [self.in_place(each) for each in value]
            elif keyword == "oneOf":  # which branch it is, as they stand; and that one, closed
                result[keyword] = value
                result["allOf"].append({"anyOf": [self.in_place(each) for each in value]})
            elif keyword in ("then", "else"):
                result[keyword] = self.in_place(value)
            elif keyword == "dependentSchemas":
                result[keyword] = {name: self.in_place(each) for name, each in value.items()}
            elif keyword == "$ref":
                result[keyword] = "#/$defs/closed"
            elif keyword != "if" or "then" in schema or "else" in schema:
                result[keyword] = value
        return result


def random_schema(rng: random.Random, depth: int, may_refer: bool = True) -> Any:
    if depth == 0:
        return rng.choice([{"type": "integer"}, {"const": 1}, {"enum": [1, "s"]}, True, {"type": "string"}, {}])

    def chance(p: float) -> bool:
        return rng.random() < p

    def inner() -> Any:
        return random_schema(rng, depth - 1, may_refer)

    schema: dict[str, Any] = {}
    if chance(0.6):
        schema["type"] = rng.choice(["object", "object", "array"])
    if chance(0.6):
        schema["properties"] = {name: inner() for name in rng.sample("abc", rng.randint(1, 2))}
    if chance(0.15):
        schema["patternProperties"] = {"^[cd]": inner()}
    if chance(0.12):
        schema["additionalProperties"] = rng.choice([False, True, inner()])
    if chance(0.25):
        schema["required"] = rng.sample("abc", rng.randint(0, 2))
    if chance(0.2):
        schema["prefixItems"] = [inner() for _ in range(rng.randint(1, 2))]
    if chance(0.2):
        schema["items"] = rng.choice([inner(), True, False])
    for keyword, p in (("contains", 0.08), ("not", 0.08), ("if", 0.1), ("then", 0.1), ("else", 0.05)):
        if chance(p):
            schema[keyword] = inner()
    for keyword, p in (("allOf", 0.18), ("anyOf", 0.18), ("oneOf", 0.15)):
        if chance(p):
            schema[keyword] = [inner() for _ in range(2)]
    if chance(0.08):
        schema["minItems"] = rng.randint(0, 3)
    if chance(0.06):
        schema["dependentRequired"] = {"a": [rng.choice("bc")]}
    if chance(0.08):
        schema["dependentSchemas"] = {rng.choice("abc"): inner()}
    if may_refer and chance(0.1):
        schema["$ref"] = "#/$defs/plain"
    return schema


def random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice([1, "s"])
    if kind < 0.8:
        return {name: random_value(rng, depth - 1) for name in rng.sample("abcde", rng.randint(0, 3))}
    return [random_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]


@pytest.mark.parametrize("seed", range(8))
def test_random_schemas(seed: int) -> None:
    rng = random.Random(seed)
    seen = {True: 0, False: 0}
    for _ in range(60):
        definition = random_schema(rng, 1, may_refer=False)
        schema = random_schema(rng, 2)
        rewriter = Rewriter(definition)
        plain = schema if isinstance(schema, bool) else {**schema, "$defs": {"plain": definition}}
        closed = rewriter.value(schema)
        if isinstance(closed, dict):
            closed["$defs"] = {"plain": definition, "closed": rewriter.in_place(definition)}
        truth, wider = jsonschema.Draft202012Validator(closed), jsonschema.Draft202012Validator(plain)
        try:
            grammar = Grammar.from_json_schema(plain, closed=True, property_order="any")
        except UnsatisfiableSchemaError:
            grammar = None
        for _ in range(25):
            value = random_value(rng, 3)
            expected = truth.is_valid(value)
            seen[expected] += 1
            assert (grammar is not None and accepts(grammar, dump(value))) == expected, (json.dumps(plain), json.dumps(value))
            assert wider.is_valid(value) or not expected
    assert min(seen.values()) > 50
