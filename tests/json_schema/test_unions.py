"""Closed objects of an `anyOf` (`closed=True`, `unevaluatedProperties: false`): branches that may overlap become few pieces.

The verdicts are those of `jsonschema`, for `closed` of a schema that says the same by keywords of the standard; masks and closings are those
of grammars in which nothing is joined.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from exactness.walk import engine_mask
from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Switches, UnsatisfiableSchemaError, Vocabulary
from grammar_engine.frontends.json_schema.normalising import unevaluated
from json_schema.engine import accepts
from json_schema.test_closed import Rewriter

INTEGER, STRING = {"type": "integer"}, {"type": "string"}
SCHEMAS = [INTEGER, STRING, True, {"const": 1}, {**INTEGER, "title": "t"}, {**INTEGER, "description": "d"}]
OFF = Switches(mask_cache=False, inner_masks=False, shared_inner=False, goto_cache=False, state_cache=False, slices=False)


def object_of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def admits(grammar: Grammar | None, value: Any) -> bool:
    return grammar is not None and accepts(grammar, json.dumps(value))


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether branches became few pieces, each time that it was tried."""
    found: list[bool] = []
    join = unevaluated.in_few_pieces

    def noted(*arguments: Any) -> Any:
        result = join(*arguments)
        found.append(result is not None)
        return result

    monkeypatch.setattr(unevaluated, "in_few_pieces", noted)
    return found


def multiplied_out(monkeypatch: pytest.MonkeyPatch, build: Callable[[], Any]) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(unevaluated, "in_few_pieces", lambda *_: None)
        return build()


# --- what is joined -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [0, 4])
def test_many_models_take_no_more_than_their_members(shared: int, joined: list[bool]) -> None:
    """As those of pydantic are: open objects, of which some keys have the same names."""

    def models(n: int) -> list[Any]:
        rng = random.Random(n)
        names = [[f"a{i}", *sorted(rng.sample([f"s{k}" for k in range(12)], shared)), f"b{i}", f"c{i}"] for i in range(n)]
        return [object_of(*keys[:2], **{key: {**STRING, "title": f"{key} of {i}"} for key in keys}) for i, keys in enumerate(names)]

    sizes = []
    for n in (100, 200):
        for closed in ({"closed": True}, {}):
            schema = {"anyOf": models(n)} if closed else {"anyOf": models(n), "unevaluatedProperties": False}
            grammar = Grammar.from_json_schema({"type": "array", "items": schema}, limits=Limits(max_alternative_schemas=1000), **closed)
            for model in (models(n)[i] for i in (0, n // 2, n - 1)):
                full, least = dict.fromkeys(model["properties"], "x"), dict.fromkeys(model["required"], "x")
                assert admits(grammar, [full, least])
                assert not admits(grammar, [{**full, "z": "x"}]) and not admits(grammar, [{"b0": "x", "c0": "x"}])
        sizes.append(len(grammar.to_bytes()))
    assert sizes[1] < 2.2 * sizes[0]
    assert joined == [True] * 4


@pytest.mark.parametrize("beside", [{"$ref": "#/$defs/u", "description": "d"}, {"allOf": [{"$ref": "#/$defs/u"}], "title": "t"}])
def test_unions_that_are_referred_to(beside: Any, joined: list[bool]) -> None:
    union = {"anyOf": [object_of(f"a{i}", **{f"a{i}": STRING, f"b{i}": STRING}) for i in range(20)]}
    grammar = Grammar.from_json_schema({"properties": {"u": beside}, "$defs": {"u": union}}, closed=True)
    assert joined == [True]
    assert admits(grammar, {"u": {"a0": "x", "b0": "x", "a7": "x"}}) and not admits(grammar, {"u": {"b0": "x", "a7": "x"}})


def test_what_is_said_of_a_key_is_in_the_report_for_each_branch() -> None:
    value = object_of(q=INTEGER)
    schema = {"anyOf": [object_of(a=value, b=INTEGER), object_of(a={**value, "title": "t", "other": 3}, c=INTEGER)]}
    for report in (Grammar.from_json_schema(schema, closed=closed).report for closed in (False, True)):
        assert ("/anyOf/1/properties/a", "type") in {entry[:2] for entry in report.enforced}
        assert ("/anyOf/1/properties/a", "other") in {entry[:2] for entry in report.annotations}


def test_counts_are_met_by_pieces_without_choices(joined: list[bool]) -> None:
    models = [object_of(f"a{i}", **{f"a{i}": STRING, f"b{i}": STRING}) for i in range(8)]
    grammar = Grammar.from_json_schema({"anyOf": models, "minProperties": 2}, closed=True)
    assert joined == [False] and len(grammar.to_bytes()) < 120_000
    assert admits(grammar, {"a0": "x", "a1": "x"}) and not admits(grammar, {"a0": "x"}) and not admits(grammar, {"a0": "x", "b1": "x"})


def test_long_chains_of_required_keys_have_a_limit() -> None:
    chain = [object_of(f"a{i}", f"a{i + 1}", **{f"a{i}": STRING}) for i in range(2000)]
    with pytest.raises(LimitExceededError, match="max_alternative_schemas"):
        Grammar.from_json_schema({"anyOf": [*chain, object_of(a2000=STRING)]}, closed=True)


def test_closings_where_many_choices_are_left() -> None:
    """Each of eight keys is named by 40 branches, of which one is to hold: 40^8 ways."""
    pairs = [(i, j) for i in range(8) for j in range(40)]
    models = [object_of(f"r{i}_{j}", **{f"k{i}": STRING, f"r{i}_{j}": STRING}) for i, j in pairs]
    grammar = Grammar.from_json_schema({"anyOf": models}, closed=True, property_order="any", whitespace="compact")
    matcher = Matcher(grammar, Vocabulary.bytes())
    begun = "{" + ",".join(f'"k{i}":"x"' for i in range(8))
    assert matcher.accept_bytes(begun.encode())
    closing = bytes(token for token in matcher.closing_tokens() if token < 256).decode()
    assert len(closing) == len("".join(f',"r{i}_0":""' for i in range(8)) + "}")
    assert accepts(grammar, begun + closing)
    assert matcher.closing_within(len(closing) + 1) is not None


def test_keys_of_two_branches_need_both(joined: list[bool]) -> None:
    schema = {"anyOf": [object_of("a", a=STRING, b=STRING), object_of("c", c=INTEGER, d=INTEGER)]}
    grammar = Grammar.from_json_schema(schema, closed=True)
    assert joined == [True]
    for right in ({"a": "x"}, {"a": "x", "b": "y"}, {"c": 1}, {"a": "x", "b": "y", "c": 1, "d": 2}, {"a": "x", "c": 1, "d": 2}):
        assert admits(grammar, right), right
    for wrong in ({}, {"b": "y"}, {"d": 1}, {"a": "x", "d": 1}, {"b": "x", "c": 1}, {"a": 1}, {"a": "x", "c": "1"}, {"a": "x", "e": 1}):
        assert not admits(grammar, wrong), wrong
    matcher = Matcher(grammar, Vocabulary.bytes())
    assert matcher.accept_bytes(b'{"b": "y",') is False, "the key that it needs stands before it"
    assert "".join(chr(token) for token in matcher.closing_tokens() if token < 256) == '{"c":0}'


def test_each_branch_keeps_the_order_of_its_keys(joined: list[bool]) -> None:
    grammar = Grammar.from_json_schema({"anyOf": [object_of(b=STRING, m=STRING, a=STRING), object_of(c=STRING, m=STRING)]}, closed=True)
    for keys in ("bma", "cm", "ma", "bcma"):
        assert admits(grammar, dict.fromkeys(keys, "x")), keys
    for keys in ("mb", "mc", "am"):
        assert not admits(grammar, dict.fromkeys(keys, "x")), keys
    crossed = Grammar.from_json_schema({"anyOf": [object_of(a=STRING, b=STRING), object_of(b=STRING, a=STRING)]}, closed=True)
    assert joined == [True, False]
    assert all(admits(crossed, dict.fromkeys(keys, "x")) for keys in ("ab", "ba"))


def test_branches_that_differ_in_a_value(joined: list[bool]) -> None:
    """Of each value those are joined that admit it, and those that do not name the key."""
    branches = [object_of("v", f"a{i}", v=[STRING, INTEGER, {"type": "null"}][i % 3], **{f"a{i}": STRING}) for i in range(30)]
    grammar = Grammar.from_json_schema({"anyOf": branches}, closed=True, limits=Limits(max_alternative_schemas=1000))
    assert joined == [True]
    assert admits(grammar, {"v": "x", "a0": "x", "a3": "x"}) and admits(grammar, {"v": 1, "a1": "x"})
    assert not admits(grammar, {"v": 1, "a0": "x"}) and not admits(grammar, {"v": "x", "a0": "x", "a1": "x"})
    some = [{"type": "object", "properties": {f"c{i}": STRING, "d": STRING}, "required": [f"c{i}"]} for i in range(20)]  # beside both
    grammar = Grammar.from_json_schema({"anyOf": branches + some}, closed=True, limits=Limits(max_alternative_schemas=1000))
    assert joined == [True, True]
    assert admits(grammar, {"v": "x", "a0": "x", "c7": "x", "d": "x"}) and admits(grammar, {"c7": "x"})
    assert not admits(grammar, {"v": 1, "a0": "x", "c7": "x"}) and not admits(grammar, {"v": 1, "c7": "x"})
    overlapping = Grammar.from_json_schema({"anyOf": [object_of(v=INTEGER, a=STRING), object_of(v=STRING, b=STRING)]}, closed=True)
    assert admits(overlapping, {"a": "x", "b": "x"}) and not admits(overlapping, {"v": 1, "b": "x"})


@pytest.mark.parametrize("rest", [INTEGER, True])
def test_what_is_left_over_may_come_if_the_schema_says_so(rest: Any) -> None:
    branches = [object_of("a", a=STRING, b=STRING), object_of("c", c=STRING, d=STRING)]
    schema = {"anyOf": branches, "unevaluatedProperties": rest}
    truth = jsonschema.Draft202012Validator(schema)
    for closed in (False, True):
        grammar = Grammar.from_json_schema(schema, closed=closed)
        for value in ({"a": "x"}, {"a": "x", "d": 1}, {"a": "x", "z": 1}, {"a": "x", "d": "y"}, {"d": 1}):
            assert admits(grammar, value) == truth.is_valid(value), (closed, value)


def test_required_keys_that_only_branches_describe() -> None:
    """They need a branch that holds; what nobody describes counts as named."""
    described = {"anyOf": [object_of("a", a=STRING), object_of("b", b=STRING)]}
    grammar = Grammar.from_json_schema(described, closed=True)
    assert admits(grammar, {"a": "x", "b": "y"}) and not admits(grammar, {"a": "x", "b": 1})
    asked = {"properties": {"m": True}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    grammar = Grammar.from_json_schema(asked, closed=True)
    assert admits(grammar, {"a": 1, "b": 2}) and not admits(grammar, {"m": 1}) and not admits(grammar, {"a": 1, "c": 2})


# --- at random ------------------------------------------------------------------------------------------------------------------


def random_branch(rng: random.Random, common: dict[str, Any], depth: int = 1) -> Any:
    names = list(common)
    kind = rng.random()
    if kind < 0.05:
        return {"type": "string"}
    if kind < 0.12 and depth:
        return {rng.choice(["anyOf", "oneOf", "allOf"]): [random_branch(rng, common, 0) for _ in range(2)]}
    keys = rng.sample(names, rng.randint(0, min(3, len(names))))
    if rng.random() < 0.6:
        keys.sort(key=names.index)
    branch: dict[str, Any] = {"type": "object"} if rng.random() < 0.7 else {}
    branch["properties"] = {key: common[key] if rng.random() < 0.85 else rng.choice(SCHEMAS) for key in keys}
    required = [key for key in (keys if rng.random() < 0.85 else names) if rng.random() < 0.4]
    if required:
        branch["required"] = required
    others = {
        "additionalProperties": rng.choice([False, True, INTEGER]),
        "minProperties": rng.randint(1, 2),
        "dependentRequired": {rng.choice(names): [rng.choice(names)]},
        "patternProperties": {"^[ab]": INTEGER},
        "not": {"required": [rng.choice(names)]},
    }
    return {**branch, **{keyword: value for keyword, value in others.items() if rng.random() < 0.03}}


def random_union(rng: random.Random) -> dict[str, Any]:
    names = "abcdef"[: rng.randint(2, 6)]
    common = {name: rng.choice(SCHEMAS) for name in names}
    schema: dict[str, Any] = {"anyOf": [random_branch(rng, common) for _ in range(rng.randint(2, 5))]}
    others = {
        "properties": {key: rng.choice([common[key], True]) for key in rng.sample(names, 1)},
        "required": [rng.choice(names)],
        "dependentRequired": {rng.choice(names): rng.sample(names, rng.randint(1, 2))},
        "patternProperties": {"^[bc]": rng.choice(SCHEMAS)},
        "maxProperties": rng.randint(1, 3),
        "minProperties": rng.randint(1, 3),
    }
    return {**schema, **{keyword: value for keyword, value in others.items() if rng.random() < 0.15}}


def random_object(rng: random.Random) -> dict[str, Any]:
    return {key: rng.choice([1, 1, 2, "s"]) for key in rng.sample("abcdefz", rng.randint(0, 4))}


def built(schema: Any, **options: Any) -> Grammar | None:
    try:
        return Grammar.from_json_schema(schema, **options)
    except UnsatisfiableSchemaError:
        return None


@pytest.mark.parametrize("seed", range(4))
def test_closed_unions(seed: int, joined: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    rng, seen = random.Random(seed), {True: 0, False: 0}
    for _ in range(100):
        schema = random_union(rng)
        truth = jsonschema.Draft202012Validator(Rewriter(True).value(schema))
        options = {"closed": True, "unique_keys": rng.random() < 0.1}
        any_order, in_order = built(schema, property_order="any", **options), built(schema, **options)
        for _ in range(20):
            value = random_object(rng)
            expected = truth.is_valid(value)
            seen[expected] += 1
            assert admits(any_order, value) == expected, (json.dumps(schema), value)
            orders = [dict(members) for members in itertools.permutations(value.items())]
            assert any(admits(in_order, each) for each in orders) == expected, (json.dumps(schema), value)
        plain = multiplied_out(monkeypatch, lambda schema=schema, options=options: built(schema, **options))
        for branch in schema["anyOf"]:  # what a branch alone admits, in its order
            alone = built({**schema, "anyOf": [branch]}, **options)
            keys = dict.fromkeys([*schema.get("properties", {}), *branch.get("properties", {})])
            for _ in range(4):
                value = {key: rng.choice([1, 1, "s"]) for key in keys if rng.random() < 0.7}
                assert admits(in_order, value) or not (admits(alone, value) and admits(plain, value)), (json.dumps(schema), value)
    assert min(seen.values()) > 300 and min(joined.count(True), joined.count(False)) > 30


def test_what_is_left_over_of_unions_and_of_what_they_stand_in(joined: list[bool]) -> None:
    """Under `not` and `oneOf`, what is outside of the piece is asked for, too."""
    rng, seen = random.Random(5), {True: 0, False: 0}

    def beside() -> Any:
        key = rng.choice("abcde")
        return rng.choice([{"required": [key]}, {"properties": {key: INTEGER}}, {"maxProperties": 2}, {"properties": {key: False}}, True])

    for number in range(240):
        union = {**random_union(rng), "unevaluatedProperties": False}
        schema = [
            union,
            {"not": union},
            {"oneOf": [union, rng.choice([beside(), {**random_union(rng), "unevaluatedProperties": False}])]},
            {"allOf": [union, beside(), beside()]},
            {"if": union, "then": beside(), "else": beside()},
            {"anyOf": [union, {**random_union(rng), "unevaluatedProperties": False}], "unevaluatedProperties": False},
        ][number % 6]
        truth = jsonschema.Draft202012Validator(schema)
        grammar = built(schema, property_order="any", unique_keys=rng.random() < 0.3)
        for _ in range(20):
            value = random_object(rng)
            expected = truth.is_valid(value)
            seen[expected] += 1
            assert admits(grammar, value) == expected, (json.dumps(schema), value)
    assert min(seen.values()) > 1000 and joined.count(True) > 60


def random_models(rng: random.Random) -> dict[str, Any]:
    """Nothing that would not be joined, in few bytes."""
    values = [INTEGER, {"const": "s"}, {"enum": ["yes", "no"]}, {"const": 1}, {"type": "boolean"}]
    names = ["a", "b", "ab", "abc", "key", "k"][: rng.randint(2, 6)]
    common = {name: rng.choice(values) for name in names}
    schema: dict[str, Any] = {"type": "object", "anyOf": []}
    differing = rng.random() < 0.3
    for _ in range(rng.randint(2, 5)):
        keys = sorted(rng.sample(names, rng.randint(1, min(3, len(names)))))
        schema["anyOf"].append(
            object_of(
                *(key for key in keys if rng.random() < 0.5),
                **{key: rng.choice(values) if differing and rng.random() < 0.3 else common[key] for key in keys},
            )
        )
    others = {
        "required": [rng.choice(names)],
        "dependentRequired": {rng.choice(names): [rng.choice(names)]},
        "properties": {rng.choice(names): True},
    }
    return {**schema, **{keyword: value for keyword, value in others.items() if rng.random() < 0.2}}


@pytest.mark.parametrize("seed", range(4))
def test_masks_and_closings_are_those_of_all_pieces(seed: int, joined: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n_masks = random.Random(seed), 0
    parts = ['":', '{"', '":1', '":"', '"}', '","', "true", '"yes"', ':true,"', '"a', 'a":', '":1,"', '"key":', '"ab', 'bc"', '1,"k":']
    tokens = sorted({part.encode() for part in parts} | {bytes([byte]) for byte in b'{}":,abcksyenotrufl0123-.E'})
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    for _ in range(40):
        schema, n_tried = random_models(rng), len(joined)

        def build(schema: Any = schema) -> Grammar:
            return Grammar.from_json_schema(schema, closed=True, property_order="any", whitespace="compact", unique_keys=True)

        grammar = build()
        if not any(joined[n_tried:]):
            continue
        plain = multiplied_out(monkeypatch, build)
        for _ in range(2):
            matchers = [Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF), Matcher(plain, vocabulary)]
            for step in range(25):
                masks = [engine_mask(matcher) for matcher in matchers]
                n_masks += 1
                assert masks[0] == masks[1] == masks[2], (json.dumps(schema), matchers[0].tokens)
                closings = [matcher.closing_tokens() for matcher in matchers[::2]]
                assert len({sum(len(vocabulary.token_bytes(token)) for token in closing) for closing in closings}) == 1
                for most in (1, 3, 6, 10) if step % 4 == 0 else ():
                    within = [matcher.closing_within(most) for matcher in matchers[::2]]
                    assert (within[0] is None) == (within[1] is None), (json.dumps(schema), most)
                allowed = sorted(masks[0] - {len(tokens)})
                if not allowed:
                    break
                token = rng.choice(allowed)
                assert all(matcher.accept(token) for matcher in matchers)
    assert n_masks > 500
