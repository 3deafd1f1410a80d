"""Schemas that are made to take long: what is linear stays so, and the rest is refused after a bounded amount of work.

Work is counted, never timed: in alternatives, as the limit `max_alternative_schemas` counts them, or in symbols that are written.
"""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from grammar_engine import Grammar, Limits
from grammar_engine.errors import LimitExceededError
from grammar_engine.frontends.json_schema.ledger import Ledger
from grammar_engine.ir import Builder

from .engine import accepts, dump

INTEGER: dict[str, Any] = {"type": "integer"}
IN_ALL = 20  # so many times the limit for one place is what all places may make


def either(n: int, name: str = "") -> list[Any]:
    """n independent choices, which make 2^n alternatives."""
    return [{"anyOf": [{"required": [f"{name}a{i}"]}, {"required": [f"{name}b{i}"]}]} for i in range(n)]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The amounts that are counted while grammars are compiled."""
    counted: list[int] = []
    count = Ledger.count_work

    def count_work(self: Ledger, n: int) -> None:
        counted.append(n)
        count(self, n)

    monkeypatch.setattr(Ledger, "count_work", count_work)
    return counted


# --- what is not looked at in pairs --------------------------------------------------------------------------------------------

N = 400
PATTERNS = [{"type": "string", "pattern": f"^[{a}-z]{{{n}}}$"} for a in "abcdefghij" for n in (1, 2, 3)]
ONE_OF: list[tuple[str, list[Any], str, str]] = [
    ("numbers", [{"const": i} for i in [*range(N), 7]], "0 | 399", "7 | 400 | 1.5"),
    ("listed numbers", [{"enum": [i, i + 1, i + 2, i + 2]} for i in range(0, 2 * N, 2)], "0 | 1 | 3", "2 | 4 | 802"),
    ("texts", [{"const": f"v{i}"} for i in [*range(N), 7]], '"v0" | "v399"', '"v7" | "v400"'),
    ("ranges", [{"type": "number", "minimum": 2 * i, "maximum": 2 * i + 2} for i in range(N)], "0 | 1 | 2.5 | 800", "2 | 4 | -1 | 801"),
    (
        "open ranges",
        [{"type": "integer", "exclusiveMinimum": i, "maximum": i + 2} for i in range(N)],
        f"1 | {N + 1}",
        f"0 | 2 | {N} | {N + 2}",
    ),
    ("half lines", [{"type": "number", "minimum": i} for i in range(N)], "0 | 0.5", "1 | 5 | -1"),
    ("multiples", [{"type": "integer", "multipleOf": i} for i in range(2, 80)], "2 | 3 | -79", "0 | 4 | 6 | 89 | 158"),
    (
        "multiples beside all numbers",
        [*({"type": "integer", "multipleOf": i} for i in range(2, 40)), {"type": "number"}, {"multipleOf": 41, "type": "integer"}],
        "1 | 1.5 | 43 | -47",
        "0 | 2 | 3 | -37 | 41 | 82",
    ),
    ("patterns", [{"type": "string", "pattern": f"^v{i}_"} for i in range(N)], '"v7_" | "v399_x"', '"v7" | "v400_"'),
    ("overlapping patterns", [{"type": "string", "pattern": f"<{i}>"} for i in range(N)], '"<7>" | "<7><7>"', '"<7><8>" | "<400>"'),
]


@pytest.mark.parametrize(("branches", "valid", "invalid"), [case[1:] for case in ONE_OF], ids=[case[0] for case in ONE_OF])
def test_one_of_many_scalars(branches: list[Any], valid: str, invalid: str, work: list[int]) -> None:
    grammar = Grammar.from_json_schema({"oneOf": branches})
    assert sum(work) < 40 * len(branches)  # pairs would be N / 2 for each
    for text in valid.split(" | "):
        assert accepts(grammar, text), text
    for text in invalid.split(" | "):
        assert not accepts(grammar, text), text


def test_exactly_one_of_patterns_is_what_a_reader_says(work: list[int]) -> None:
    grammar = Grammar.from_json_schema({"oneOf": PATTERNS})
    assert work == []
    for text in ("", "a", "bb", "abc", "jjj", "zzz", "za", "j", "Z"):
        assert accepts(grammar, dump(text)) == (sum(bool(re.search(branch["pattern"], text)) for branch in PATTERNS) == 1), text


def test_outside_of_many_ranges(work: list[int]) -> None:
    ranges = [{"minimum": 3 * i, "exclusiveMaximum": 3 * i + 1} for i in range(N)]
    grammar = Grammar.from_json_schema({"type": "number", "not": {"anyOf": ranges}})
    assert sum(work) < 10 * N
    for value in (Decimal("-0.5"), 0, Decimal("0.5"), 1, 2, 3, Decimal("3.9"), 4, 3 * N):
        assert accepts(grammar, str(value)) == (not 0 <= value < 3 * N or value % 3 >= 1), value


def test_products_of_patterns_do_not_multiply(work: list[int]) -> None:
    pairs = [{"anyOf": [{"pattern": f"a{i}"}, {"pattern": f"b{i}"}]} for i in range(12)]
    grammar = Grammar.from_json_schema({"type": "string", "allOf": pairs})
    assert sum(work) < 1_000
    assert accepts(grammar, dump("".join(f"{'ab'[i % 2]}{i}" for i in range(12))))
    assert not accepts(grammar, dump("".join(f"a{i}" for i in range(11))))


# --- what is written -------------------------------------------------------------------------------------------------------------


def test_positions_that_ask_the_same_are_one_list(monkeypatch: pytest.MonkeyPatch) -> None:
    n_symbols = 0
    write = Builder.rule

    def rule(self: Builder, left: int, right: Any) -> None:
        nonlocal n_symbols
        n_symbols += len(right)
        write(self, left, right)

    monkeypatch.setattr(Builder, "rule", rule)
    n = 300
    grammar = Grammar.from_json_schema({"type": "array", "not": {"prefixItems": [INTEGER] * n}})
    assert n_symbols < 20 * n
    assert accepts(grammar, dump([1] * (n - 1) + ["x"]))
    assert accepts(grammar, dump([1] * (n - 1) + ["x", 1]))
    assert not accepts(grammar, dump([1] * (n + 1)))
    assert not accepts(grammar, dump([1] * (n - 1)))


@pytest.mark.parametrize(("item", "n"), [({"type": "string"}, 600), (None, 2_000)], ids=["texts", "constants"])
def test_long_tuples_of_values_that_differ(item: Any, n: int) -> None:
    items = [{"const": i} for i in range(n)] if item is None else [item] * n
    grammar = Grammar.from_json_schema({"type": "array", "uniqueItems": True, "prefixItems": items, "items": False})
    texts = [str(i) for i in range(4)] if item is None else ['"a"', '"b"', '"c"']
    assert accepts(grammar, f"[{', '.join(texts)}]")
    assert not accepts(grammar, f"[{', '.join([*texts[:2], texts[1]])}]")


# --- what is refused ---------------------------------------------------------------------------------------------------------------

NAMES = [f"k{i}" for i in range(200)]
MULTIPLYING: list[tuple[str, Any]] = [
    ("/dependentSchemas", {"dependentSchemas": {a: {"properties": {b: INTEGER}} for a, b in pairwise(NAMES)}}),
    ("/oneOf", {"type": "object", "oneOf": [{"properties": {name: INTEGER}} for name in NAMES]}),
    ("/allOf/", {"properties": dict.fromkeys([f"p{i}" for i in range(2_000)], INTEGER), "allOf": either(11)}),
    (
        "/anyOf",
        {"properties": dict.fromkeys([f"p{i}" for i in range(1_000)], INTEGER), "anyOf": [{"required": [f"p{i}"]} for i in range(1_000)]},
    ),
]


@pytest.mark.parametrize(("pointer", "schema"), MULTIPLYING, ids=[pointer for pointer, _ in MULTIPLYING])
def test_pieces_of_many_conditions_count_several_times(pointer: str, schema: Any, work: list[int]) -> None:
    """None of these makes so many alternatives: they are refused for what the alternatives consist of."""
    with pytest.raises(LimitExceededError, match=f"at {pointer}.*Limits\\(max_alternative_schemas") as caught:
        Grammar.from_json_schema(schema)
    assert caught.value.limit == "max_alternative_schemas"
    assert len(work) < IN_ALL * Limits().max_alternative_schemas // 4


def test_pairs_that_apply_to_the_same_value_are_refused_with_a_place() -> None:
    branches = [{"properties": {f"p{i}": True}, "additionalProperties": {"minimum": i}} for i in range(300)]
    with pytest.raises(LimitExceededError, match=r"/allOf/.*Limits\(max_schema_nodes") as caught:
        Grammar.from_json_schema({"allOf": branches})
    assert caught.value.limit == "max_schema_nodes"


def test_goals_that_grow_by_one_place_are_not_counted_in_pairs() -> None:
    """Of 150 conditions on one key each makes a goal of all before it."""
    branches = [{"if": {"properties": {"t": {"const": i}}, "required": ["t"]}, "then": {"required": [f"p{i}"]}} for i in range(150)]
    grammar = Grammar.from_json_schema({"type": "object", "allOf": branches}, property_order="any")
    assert accepts(grammar, '{"t": 149, "p149": 1}')
    assert not accepts(grammar, '{"t": 149, "p148": 1}')


# --- what `lenient` gives up -----------------------------------------------------------------------------------------------------------


def test_all_places_together_are_bounded_where_each_is_given_up(work: list[int]) -> None:
    n, most = 300, 100
    places = {f"p{j}": {"type": "object", "allOf": either(12, f"{j}")} for j in range(n)}
    small = {"oneOf": [{"properties": {"a": INTEGER}, "required": ["a"]}, {"required": ["b"]}]}
    schema = {"properties": {**places, "z": {"type": "object", **small}}}
    grammar = Grammar.from_json_schema(schema, lenient=True, limits=Limits(max_alternative_schemas=most))
    assert len(grammar.report.relaxed) == n
    assert {entry.keyword for entry in grammar.report.relaxed} == {"allOf"}
    assert sum(work) < 2 * IN_ALL * most + 200 * n
    assert accepts(grammar, '{"z": {"a": 1}}')
    assert not accepts(grammar, '{"z": {"a": 1, "b": 1}}')  # what is small is enforced after all that


def test_what_dependent_keys_multiply_can_be_given_up() -> None:
    schema = {
        "type": "object",
        "dependentSchemas": {a: {"properties": {b: INTEGER}} for a, b in pairwise(NAMES)},
        "properties": {"k0": INTEGER},
    }
    grammar = Grammar.from_json_schema(schema, lenient=True)
    assert {(entry.pointer, entry.keyword) for entry in grammar.report.relaxed} == {("", "dependentSchemas")}
    assert accepts(grammar, '{"k0": 1}')
    assert not accepts(grammar, '{"k0": "x"}')
