"""`uniqueItems`: every array of a small world against `jsonschema`, equal values in other spellings, and what is refused."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Matcher
from grammar_engine.errors import UnsatisfiableSchemaError, UnsupportedSchemaError

from .engine import BYTES, accepts, dump

DRAFT4 = "http://json-schema.org/draft-04/schema#"
VALUES: list[Any] = [None, 1, 2, "x", "y"]
ARRAYS: list[Any] = [list(items) for n in range(5) for items in itertools.product(VALUES, repeat=n)]

SCHEMAS: dict[str, Any] = {
    "listed": {"items": {"enum": [1, 2, "x", None]}},
    "listed, counted": {"items": {"enum": [1, 2, "x"]}, "minItems": 2, "maxItems": 3},
    "listed and a pattern": {"items": {"enum": ["x", "y", "z"], "pattern": "x|y"}},
    "integers": {"items": {"type": "integer", "minimum": 1}},
    "few integers": {"items": {"type": "integer", "minimum": 1, "maximum": 3}, "minItems": 3},
    "strings": {"items": {"type": "string"}},
    "few strings": {"items": {"type": "string", "pattern": "^[xyz]$"}},
    "scalars": {"items": {"type": ["string", "integer", "null"]}},
    "contains": {"items": {"enum": [1, 2, "x", "y"]}, "contains": {"type": "integer"}, "minItems": 2},
    "contains at most one": {"items": {"type": ["integer", "string"]}, "contains": {"type": "integer"}, "maxContains": 1},
    "a prefix of other types": {"prefixItems": [{"type": "null"}], "items": {"type": "integer"}},
    "a tuple": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
    "a tuple of one type": {"prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": False, "minItems": 1},
    "a tuple of booleans": {"prefixItems": [{"type": "boolean"}, {"type": "boolean"}], "items": False},
    "a tuple and more of its type": {"prefixItems": [{"type": "string"}, {"type": ["string", "null"]}], "items": {"type": "string"}},
    "a tuple and at least one more": {
        "prefixItems": [{"type": "integer"}],
        "items": {"type": ["integer", "string"]},
        "minItems": 2,
        "maxItems": 3,
    },
    "one of several": {"oneOf": [{"items": {"type": "integer"}}, {"items": {"type": "string"}, "minItems": 1}]},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_equals_jsonschema(name: str) -> None:
    schema = {"type": "array", "uniqueItems": True, **SCHEMAS[name]}
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    assert [a for a in ARRAYS if accepts(grammar, dump(a)) != validator.is_valid(a)] == []


@pytest.mark.parametrize(
    ("items", "accepted", "refused"),
    [
        (
            {"type": "number"},
            "[1, 1.5, -1] | [1e20, 1e21] | [1.0, 2.50]",
            "[2.5, 2.50] | [1, 1.0] | [1.50, 1.5] | [0, -0] | [100, 1e2] | [100, 1.00e+02]",
        ),
        ({"type": "integer"}, "[1, 10, -1]", "[1, 1.0] | [0, -0.0] | [10000000000000000, 1e16]"),
        ({"enum": [1, 2.5, "a"]}, '[1, "a", 2.5]', '[1.0, 1] | [2.50, 2.5] | ["a", "a"]'),
        ({"type": "string"}, r'["a", "b"] | ["\n", "n"]', r'["a", "a"] | ["a", "\u0061"] | ["\n", "\u000a"]'),
        ({"type": "boolean"}, "[true, false]", "[true, true] | [true, false, true]"),
        ({"type": ["boolean", "integer", "string"]}, '[true, 1, "true", "1"]', "[true, 1, true]"),
    ],
    ids=lambda value: dump(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("style", ["canonical", "any"])
def test_equal_in_any_spelling(items: Any, accepted: str, refused: str, style: str) -> None:
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": items}, escapes="all", number_style=style)
    assert [text for text in accepted.split(" | ") if not accepts(grammar, text)] == []
    assert [text for text in refused.split(" | ") if accepts(grammar, text)] == []


def spelled(rng: random.Random, value: Decimal) -> str:
    """A number plainly, with zeros, or with one digit before the point and an exponent."""
    plain, exponent = format(value, "f"), value.adjusted()
    body = format(value.scaleb(-exponent), "f")
    spellings = [plain, plain + ("0" if "." in plain else ".0")]
    if value:
        spellings += [f"{body}e{exponent}", f"{body}{'0' if '.' in body else '.0'}E{exponent:+03d}"]
    return rng.choice(spellings)


@pytest.mark.parametrize(
    ("items", "admits"),
    [
        ({"type": "integer"}, lambda value: value % 1 == 0),
        ({"type": "integer", "minimum": -3, "maximum": 500}, lambda value: value % 1 == 0 and -3 <= value <= 500),
        ({"type": "number", "multipleOf": 0.5, "exclusiveMinimum": 0}, lambda value: value % Decimal("0.5") == 0 and value > 0),
        ({"type": "number", "not": {"multipleOf": 2}}, lambda value: value % 2 != 0),
        ({"type": "number", "multipleOf": 250}, lambda value: value % 250 == 0),
    ],
)
def test_multiples_in_any_spelling(items: Any, admits: Callable[[Decimal], bool]) -> None:
    rng, seen = random.Random(str(items)), {True: 0, False: 0}
    matcher = Matcher(Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": items}, number_style="any"), BYTES)
    pool = list(map(Decimal, "0 0.5 1 1.25 2 3 -3 12 250 500 501 1000 100000 -7.5".split()))
    for _ in range(400):
        values = rng.choices([value for value in pool if admits(value)] * 4 + pool, k=rng.randint(1, 3))
        text = "[" + ", ".join(spelled(rng, value) for value in values) + "]"
        matcher.reset()
        is_read = matcher.accept_bytes(text.encode()) and matcher.is_complete
        assert is_read == (len(set(values)) == len(values) and all(map(admits, values))), text
        seen[is_read] += 1
    assert min(seen.values()) > 50


def test_a_surrogate_pair_is_its_character() -> None:
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": {"type": "string"}}, escapes="all")
    assert accepts(grammar, '["😀", "\\ud83d\\ude01"]')
    assert not accepts(grammar, '["😀", "\\ud83d\\ude00"]')


@pytest.mark.parametrize(
    "items",
    [
        {"enum": [1, 2]},
        {"type": "boolean"},
        {"type": "integer", "minimum": 1, "maximum": 2},
        {"type": "number", "multipleOf": 0.25, "minimum": 1, "exclusiveMaximum": 1.5},
        {"type": "integer", "minimum": 0, "maximum": 12, "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]},
        {"type": "integer", "minimum": 1, "maximum": 4, "not": {"multipleOf": 2}},
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 1}, {"enum": [1, 2]}]},
    ],
    ids=dump,
)
def test_no_more_items_than_values(items: Any) -> None:
    """Each of these has two values."""
    schema = {"type": "array", "uniqueItems": True, "items": items}
    Grammar.from_json_schema({**schema, "minItems": 2})
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({**schema, "minItems": 3})


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"prefixItems": [{}, {"const": []}]}, "arrays or objects"),
        (
            {
                "prefixItems": [{"enum": [1, 2]}],
                "items": {"enum": [[1], [2], [3]]},
                "contains": {"const": [1]},
                "minContains": 0,
                "maxContains": 1,
            },
            "counted",
        ),
        ({"prefixItems": [{"type": "string", "pattern": "^a?$"}, {"type": "string", "maxLength": 0}], "items": False}, "not listed"),
        (
            {"prefixItems": [{"const": 1}], "items": {"type": "integer"}, "contains": {"const": 2}, "minContains": 0, "maxContains": 1},
            "counted",
        ),
        ({"prefixItems": [{"enum": [*range(10), f"{i}"]} for i in range(14)], "items": False}, "50,000 ways"),
    ],
    ids=lambda value: dump(value) if isinstance(value, dict) else "",
)
def test_refused(schema: Any, reason: str) -> None:
    schema = {"properties": {"a": {"type": "array", "uniqueItems": True, **schema}}}
    with pytest.raises(UnsupportedSchemaError, match=reason) as caught:
        Grammar.from_json_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "uniqueItems")
    relaxed = Grammar.from_json_schema(schema, lenient=True)
    assert [(e.pointer, e.keyword) for e in relaxed.report.relaxed] == [("/properties/a", "uniqueItems")]
    assert accepts(relaxed, '{"a": []}')


def test_where_it_says_nothing() -> None:
    assert accepts(Grammar.from_json_schema({"type": "array", "uniqueItems": True, "maxItems": 1}), "[{}]")
    assert accepts(Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": False}), "[]")
    assert accepts(Grammar.from_json_schema({"uniqueItems": True, "type": "object"}), "{}")
    at_most_one = {"type": "array", "uniqueItems": True, "prefixItems": [{"type": "object"}], "items": {"type": "string"}}
    assert accepts(Grammar.from_json_schema(at_most_one), '[{}, "a", "b"]')
    assert not accepts(Grammar.from_json_schema(at_most_one), '[{}, "a", "a"]')


# --- positions that may be equal ---------------------------------------------------------------------------------------------

PARTS: list[Any] = [
    {"type": "boolean"},
    {"enum": [1, 2, "x"]},
    {"type": "string"},
    {"enum": [True, "x"]},
    {"type": "integer", "minimum": 1, "maximum": 2},
    {"type": ["integer", "boolean"]},
    {"type": ["string", "object"], "not": {"const": "x"}},
]
WORLD: list[Any] = [True, False, 1, 2, 3, "x", "y", "z", {}]


def world_of(positions: list[Any]) -> list[list[Any]]:
    """The arrays of the small world whose items meet their own schemas, equal or not."""
    choices = [[value for value in WORLD if jsonschema.Draft202012Validator(part).is_valid(value)] for part in positions]
    return [list(items) for n in range(len(choices) + 1) for items in itertools.product(*choices[:n])]


@pytest.mark.parametrize("seed", range(60))
def test_tuples_equal_jsonschema(seed: int) -> None:
    """Also that a text goes on where an array does, and only there: three positions have enough values in this world."""
    choose = random.Random(seed)
    positions = [*choose.choices(PARTS[:-1], k=2), choose.choice(PARTS)]
    choose.shuffle(positions)
    schema = {"type": "array", "uniqueItems": True, "prefixItems": positions, "items": False, "minItems": choose.randrange(4)}
    validator, arrays = jsonschema.Draft202012Validator(schema), world_of(positions)
    valid = [a for a in arrays if validator.is_valid(a)]
    if not valid:
        with pytest.raises(UnsatisfiableSchemaError):
            Grammar.from_json_schema(schema)
        return
    grammar = Grammar.from_json_schema(schema)
    assert [a for a in arrays if accepts(grammar, dump(a)) != (a in valid and validator.is_valid(a))] == []
    begun = {dump(a[:n]) for a in valid for n in range(1, len(a))}
    starts = [a for a in arrays if 0 < len(a) < len(positions)]
    assert [a for a in starts if goes_on(grammar, dump(a)[:-1] + ",") != (dump(a) in begun)] == []


@pytest.mark.parametrize("seed", range(30))
def test_items_behind_positions_equal_jsonschema(seed: int) -> None:
    """They may be equal to those at the positions, or not, or some of them."""
    choose = random.Random(100 + seed)
    scalars = [*PARTS[:-1], {"enum": [1, "x"]}, {"enum": ["x", "y"]}, {"enum": [True, "y", 2]}]
    positions, items = choose.choices(scalars, k=choose.choice([1, 1, 2])), choose.choice(scalars)
    schema = {"type": "array", "uniqueItems": True, "prefixItems": positions, "items": items}
    validator, grammar = jsonschema.Draft202012Validator(schema), Grammar.from_json_schema(schema)
    arrays = [list(values) for n in range(5) for values in itertools.product([True, 1, 2, "x", "y"], repeat=n)]
    assert [a for a in arrays if accepts(grammar, dump(a)) != validator.is_valid(a)] == []


SELF = {"$ref": "#"}


@pytest.mark.parametrize(
    "schema",
    [
        {"prefixItems": [SELF, {"enum": [10]}], "items": False},
        {"prefixItems": [SELF, {"enum": [10]}], "unevaluatedItems": False},
        {"prefixItems": [{"type": ["integer", "array"], "allOf": [SELF]}, {"enum": [10]}], "items": False},
        {"prefixItems": [{"type": ["integer", "array"], "items": SELF}, {"enum": [10]}], "items": False},
        {"prefixItems": [{"anyOf": [SELF, {"const": {"a": 1}}]}, {"type": "integer"}], "items": {"type": "null"}},
    ],
    ids=dump,
)
def test_tuples_inside_themselves(schema: Any) -> None:
    schema = {"uniqueItems": True, **schema}
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    values: list[Any] = [10, 1, None, []]
    for _ in range(2):
        arrays = [list(items) for items in itertools.product(values[:12], [10, 1, *values[4:6]], [None, 10])]
        values = [*values[:30], *(items[:n] for items in arrays for n in (1, 2, 3))]
    assert [v for v in values if accepts(grammar, dump(v)) != validator.is_valid(v)] == []
    assert {validator.is_valid(v) for v in values} == {True, False}


# --- draft 4: integers equal what is no integer -----------------------------------------------------------------------------------------

INTEGER: dict[str, Any] = {"type": "integer"}
OTHER = {"type": "number", "not": INTEGER}


@pytest.mark.parametrize(
    ("items", "accepted", "refused"),
    [
        (INTEGER, "[1, 2]", "[1, 1] | [1.0] | [1, 2.0]"),
        (OTHER, "[1.0, 2.5] | [2e0]", "[1] | [1.0, 1e0]"),
        ({"enum": [1, 2]}, "[1, 2.0] | [2e0, 1]", "[1, 1.0] | [1, 3]"),
        ({"enum": [1, 2], **INTEGER}, "[1, 2]", "[1, 1] | [1, 2.0]"),
        ({"anyOf": [{"enum": [1, 2], **INTEGER}, {"enum": [2, 3]}]}, "[1, 2.0, 3] | [1, 2]", "[1.0] | [2, 2.0] | [3, 3.0]"),
        ([{"enum": [1, 2], **INTEGER}, {"enum": [1, 2]}], "[1, 2.0] | [2, 1]", "[1.0, 2] | [1, 1.0]"),
        ([{"enum": [1, 2], **INTEGER}, {"type": "number"}], "[1, 2.0] | [2, 7]", "[1.0, 2] | [1, 1.0] | [2, 2e0]"),
        ([INTEGER, {"type": "number"}], "[1, 2.0] | [2, 7]", "[1.0, 2] | [1, 1.0] | [2, 2e0]"),
    ],
)
def test_integers_of_draft_4(items: Any, accepted: str, refused: str) -> None:
    schema = {"$schema": DRAFT4, "type": "array", "uniqueItems": True, "items": items, "additionalItems": False}
    grammar = Grammar.from_json_schema(schema, number_style="any")
    assert [text for text in accepted.split(" | ") if not accepts(grammar, text)] == []
    assert [text for text in refused.split(" | ") if accepts(grammar, text)] == []


@pytest.mark.parametrize("items", [[INTEGER, OTHER], {"anyOf": [INTEGER, OTHER]}], ids=dump)
def test_integers_of_draft_4_beside_others(items: Any) -> None:
    """There `5.0` is no integer, but equals one."""
    schema = {"$schema": DRAFT4, "type": "array", "uniqueItems": True, "items": items, "additionalItems": False}
    grammar = Grammar.from_json_schema(schema, number_style="any")
    assert [text for text in ("[]", "[5]", "[5, 2.5]", "[5, 6.0]") if not accepts(grammar, text)] == []
    assert [text for text in ("[5, 5.0]", "[5, 5e0]", "[50, 5.0e1]") if accepts(grammar, text)] == []


def test_few_integers_of_draft_4_beside_others() -> None:
    few = [{"enum": [1, 2], **INTEGER}, {"enum": [1, 2, 3], **OTHER}]  # three values, as texts of five kinds
    schema = {"$schema": DRAFT4, "type": "array", "uniqueItems": True, "items": {"anyOf": few}}
    with pytest.raises(UnsupportedSchemaError, match="draft 4") as caught:
        Grammar.from_json_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == ("", "uniqueItems")
    assert Grammar.from_json_schema(schema, lenient=True).report.relaxed


def goes_on(grammar: Grammar, text: str) -> bool:
    """Whether some sentence begins with a text."""
    return Matcher(grammar, BYTES).accept_bytes(text.encode())


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"prefixItems": [{"type": "boolean"}] * 3}, "[] | [true] | [false, true]", "[true, true] | [true, false, true]"),
        ({"prefixItems": [{"enum": [1, "a"]}, {"enum": ["a", 2.5]}]}, '["a", 2.5] | [1, "a"]', r'["a", "a"] | ["\u0061", "a"] | [1, 1]'),
        ({"prefixItems": [{"const": 1}], "items": {"enum": [1, 2, 3]}}, "[1] | [1, 3, 2]", "[1, 1] | [1, 2.0, 2] | [1, 2, 3, 1]"),
        ({"prefixItems": [{"type": "string"}, {"minLength": 2}]}, '["ab", {}] | ["ab", "abc"] | ["a", [1]]', '["ab", "ab"] | ["a", "b"]'),
    ],
    ids=lambda value: dump(value) if isinstance(value, dict) else "",
)
def test_tuples_in_any_spelling(schema: Any, accepted: str, refused: str) -> None:
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": False, **schema}, escapes="all")
    assert [text for text in accepted.split(" | ") if not accepts(grammar, text)] == []
    assert [text for text in refused.split(" | ") if accepts(grammar, text)] == []


def test_more_positions_than_values() -> None:
    schema = {"type": "array", "uniqueItems": True, "prefixItems": [{"type": "boolean"}] * 1_500, "items": False}
    grammar = Grammar.from_json_schema(schema)
    assert accepts(grammar, "[true, false]") and not goes_on(grammar, "[true, false,")
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({**schema, "minItems": 3})


def test_values_that_a_later_position_needs_are_left_for_it() -> None:
    """Strings may be anything, but then not what the last eight positions need all of."""
    letters = [*"abcdefgh"]
    positions = [{"type": "string"}] * 4 + [{"enum": letters}] * 8
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "prefixItems": positions, "items": False, "minItems": 12})
    assert accepts(grammar, dump([*"qrst", *reversed(letters)]))
    assert not goes_on(grammar, '["q", "a"')


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"items": {"type": ["array", "string"]}, "maxItems": 2}, ["[0]", "[0,[]]", '[0,""]'], ["[0,0]", "[[]]", "[0,[],[]]"]),
        ({"items": {"type": "object"}, "minItems": 2, "maxItems": 2}, ["[0,{}]", '[0,{"a":0}]'], ["[0]", "[0,[]]"]),
        ({"unevaluatedItems": {"type": ["string", "array"]}, "maxItems": 2}, ["[0,[]]", '[0,"0"]'], ["[0,1]"]),
        ({"items": {"type": ["string", "array"]}, "maxItems": 2, "contains": {"type": "array"}}, ["[0,[]]"], ["[0]", '[0,""]']),
    ],
    ids=["array or string", "object", "unevaluatedItems", "contains"],
)
def test_a_single_item_behind_the_positions_may_be_an_array_or_object(schema: Any, accepted: list[str], refused: list[str]) -> None:
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "prefixItems": [{"type": "integer"}], **schema})
    assert all(accepts(grammar, text) for text in accepted)
    assert not any(accepts(grammar, text) for text in refused)
