"""Random schemas of the whole algebra, and a small world of values to try on them.

Idea. Schemas and values speak of the same few names, strings and numbers, so that most keywords have something to say about most values:
a random schema splits the world. Below a keyword that descends into the value (`properties`, `items`, ...) any schema may be referred to;
at the root only the definitions; at the root of a definition none, so that no schema is only itself.

Kept out, because `jsonschema` is not exact there: patterns in which Python's `re` and ECMA-262 differ, the empty pattern in
`patternProperties`, strings with line ends, arrays that hold `1` and `true` at the same depth below another array (its `uniqueItems`
sorts). In 2019-09 also `"items": true`, on which it fails, and `unevaluatedItems` and `unevaluatedProperties`, where it follows neither the
standard nor its own 2020-12; `test_unevaluated.py` has another judge. And references below `propertyNames`, where there is no value to
descend into.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import jsonschema
from hypothesis import strategies as st

NAMES = ["a", "b", "c", "ab"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
PATTERNS = ["a", "^a", "b$", "^a*b?$", "^[^a]", "a|b", "^$", "^.{2}$"]
NAME_PATTERNS = ["a", "^b", "c|d", "^.$", "^"]
FORMATS = ["date", "ipv4", "uuid"]

SCALARS: list[Any] = [None, True, False, 0, 1, 2, 3, 5, 7, 10, -1, -2, 0.5, 2.0, 2.5, -0.5, 100]
SCALARS += ["", "a", "b", "ab", "ba", "abc", "é", '"', "aa", "😀", "2024-02-29", "2023-02-29", "127.0.0.1"]
_FEW: list[Any] = [None, True, 1, 2.5, "a", "ab"]


def _world() -> list[Any]:
    arrays: list[Any] = [[]] + [[x] for x in [*_FEW, 0, "b", [], {}, [1], {"a": 1}]]
    arrays += [[x, y] for x, y in itertools.product([None, 1, 2, "a", "ab"], repeat=2)]
    arrays += [[1, True], [1, 1.0], [0, False], [[1], [1]], [[1], [2]], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [{"a": 1}, {"a": 2}]]
    arrays += [[1, 2, 1], [1, 2, 3], ["a", 1, "b"], ["a", "b", "a"], [None, "a", 1], [2, 2, "a"], [1, "a", 2, "b"], [1, 2, 5, 7]]
    objects: list[Any] = [{}] + [{name: x} for name in [*NAMES, "d", ""] for x in _FEW]
    objects += [{n: x, m: y} for n, m in itertools.combinations([*NAMES, "d"], 2) for x, y in [(1, "a"), ("ab", 2), (None, 2.5)]]
    objects += [{"a": 1, "b": "a", "c": None}, {"a": "a", "b": 1, "d": True}, {"c": 1, "ab": 1, "b": 1}, dict.fromkeys(NAMES, 1)]
    objects += [
        {"a": {"a": 1}},
        {"a": {"b": "a"}, "b": []},
        {"b": {"a": {"a": {}}}},
        {"c": [1, "a"]},
        {"a": [], "d": {}},
        {"d": {"a": "ab"}},
    ]
    nested: list[Any] = [[{}, []], [[[]]], [{"a": [1]}], [{"a": 1}, 1, "a"], {"a": [{"b": 1}]}, {"b": [[], {"a": 2}], "a": 1}]
    return [*SCALARS, *arrays, *objects, *nested]


WORLD = _world()

EVERYWHERE = ("#", "#/$defs/d", "#/$defs/e")
Schemas = st.SearchStrategy[Any]


def schemas(draft: int = 2020) -> Schemas:
    """Schemas of a draft (2020 or 2019) with the definitions `d` and `e`."""
    uri = {2020: "https://json-schema.org/draft/2020-12/schema", 2019: "https://json-schema.org/draft/2019-09/schema"}[draft]
    free = _Grammar(draft)

    def assemble(parts: tuple[Any, Any, Any]) -> Any:
        schema, d, e = parts
        body = schema if isinstance(schema, dict) else {"allOf": [schema]}
        used = json.dumps([body, d, e])
        return {"$schema": uri, **body} | ({"$defs": {"d": d, "e": e}} if "$ref" in used else {})

    definition = free.schema(1, ())
    return st.tuples(free.schema(2, EVERYWHERE[1:]), definition, definition).map(assemble)


class _Grammar:
    """The strategies of one draft. `depth`: how many levels of subschemas; `references`: those that may stand at this place."""

    def __init__(self, draft: int):
        self.draft = draft
        self._known: dict[tuple[int, tuple[str, ...]], Schemas] = {}

    def schema(self, depth: int, references: tuple[str, ...]) -> Schemas:
        if (depth, references) not in self._known:
            merged = st.lists(st.one_of(self._keywords(depth, references)), min_size=1, max_size=3).map(_merge)
            self._known[depth, references] = st.one_of(merged, merged, merged, st.booleans()) if depth < 2 else merged
        return self._known[depth, references]

    def _keywords(self, depth: int, references: tuple[str, ...]) -> list[Schemas]:
        found = _flat()
        if depth:
            found += self._below(self.schema(depth - 1, EVERYWHERE)) + self._here(self.schema(depth - 1, references))
            found.append(_one("propertyNames", self.schema(depth - 1, ())))
        if references:
            found.append(_one("$ref", st.sampled_from(references)))
        return found

    def _below(self, sub: Schemas) -> list[Schemas]:
        """Keywords whose subschemas speak of items, members and names."""
        found = [
            _one("properties", st.dictionaries(st.sampled_from(NAMES), sub, min_size=1, max_size=3)),
            _one("additionalProperties", sub),
            _one("patternProperties", st.dictionaries(st.sampled_from(NAME_PATTERNS), sub, min_size=1, max_size=2)),
            _one("contains", sub),
            st.fixed_dictionaries({"contains": sub}, optional={"minContains": st.integers(0, 2), "maxContains": st.integers(0, 2)}),
            _one("items", sub.filter(lambda schema: self.draft == 2020 or isinstance(schema, dict))),
        ]
        lists = st.lists(sub, min_size=1, max_size=2)
        if self.draft == 2019:
            return [*found, _one("items", lists), st.fixed_dictionaries({"items": lists, "additionalItems": sub})]
        left = st.booleans() | sub
        found += [_one("unevaluatedProperties", left), _one("unevaluatedItems", left)]
        return [*found, _one("prefixItems", lists), st.fixed_dictionaries({"prefixItems": lists, "items": sub})]

    def _here(self, sub: Schemas) -> list[Schemas]:
        """Keywords whose subschemas speak of the same value."""
        several = st.lists(sub, min_size=1, max_size=3)
        return [
            _one("allOf", several),
            _one("anyOf", several),
            _one("oneOf", several),
            _one("not", sub),
            st.fixed_dictionaries({"if": sub}, optional={"then": sub, "else": sub}),
            _one("dependentSchemas", st.dictionaries(st.sampled_from(NAMES), sub, min_size=1, max_size=2)),
        ]


def _flat() -> list[Schemas]:
    names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)
    small = st.integers(0, 3)
    bounds = st.sampled_from([-1, 0, 0.5, 1, 2, 2.5, 5])
    values = st.sampled_from(WORLD)
    return [
        _one("type", st.sampled_from(TYPES)),
        _one("type", st.lists(st.sampled_from(TYPES), min_size=2, max_size=3, unique=True)),
        _one("enum", st.lists(values, min_size=1, max_size=5)),
        _one("const", values),
        *(_one(word, small) for word in ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")),
        _one("pattern", st.sampled_from(PATTERNS)),
        _one("format", st.sampled_from(FORMATS)),
        *(_one(word, bounds) for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")),
        _one("multipleOf", st.sampled_from([1, 2, 0.5, 5, 2.5])),
        _one("uniqueItems", st.sampled_from([True, True, False])),
        _one("required", names),
        _one("dependentRequired", st.dictionaries(st.sampled_from(NAMES), names, min_size=1, max_size=1)),
    ]


def _one(word: str, values: Schemas) -> Schemas:
    return values.map(lambda value: {word: value})


def _merge(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {word: value for part in parts for word, value in part.items()}


def texts_of(value: Any) -> set[str]:
    """Some of the JSON texts of a value: keys in two orders, numbers with zeros and exponents."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return {text, json.dumps(dict(reversed(value.items())), ensure_ascii=False)}
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return {text}
    up, down = Decimal(text).scaleb(2), Decimal(text).scaleb(-3)
    return {text, f"{text}E0", f"{text}00" if "." in text else f"{text}.00", f"{up:f}e-2", f"{down:f}e+3"}


def with_digits(value: Any) -> Any:
    """A value with its integers as `int`, which are written in digits only."""
    return json.loads(json.dumps(value), parse_float=lambda text: int(float(text)) if float(text).is_integer() else float(text))


def exact(text: str) -> Any:
    """The value of a JSON text, with exact numbers: `int` where integral, else `Fraction`."""
    return json.loads(text, parse_float=_number)


def _number(text: str) -> int | Fraction:
    value = Fraction(text)
    return int(value) if value.denominator == 1 else value


def judge_of(schema: Any) -> Callable[[Any], bool]:
    """Whether a value is valid, by `jsonschema`, with formats."""
    validator = jsonschema.validators.validator_for(schema)
    return validator(exact(json.dumps(schema)), format_checker=validator.FORMAT_CHECKER).is_valid
