"""`uniqueItems` over arrays and objects: verdicts against `jsonschema`, and masks, closings and forced text against all sentences of small
random schemas, which are found by the same schemas without the keyword and sorted out by `jsonschema`.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from grammar_engine import Grammar, Limits, Matcher, Switches, Tag, TokenDFA, Vocabulary
from grammar_engine.decoding import generate
from grammar_engine.errors import LimitExceededError, UnsatisfiableSchemaError, UnsupportedSchemaError

from .engine import BYTES, accepts, dump

ITEMS: list[Any] = [1, True, "x", [], {}, [1], [[]], {"a": 1}, {"a": [1]}, {"a": 1, "b": 2}]
ARRAYS: list[Any] = [list(items) for n in range(4) for items in itertools.product(ITEMS, repeat=n)]

SCHEMAS: dict[str, Any] = {
    "anything": {},
    "objects": {"items": {"type": "object"}},
    "objects of one key": {
        "items": {"properties": {"a": {"type": ["integer", "array"]}}, "required": ["a"], "additionalProperties": False}
    },
    "strings or arrays": {"items": {"type": ["string", "array"]}},
    "arrays of integers": {"items": {"type": "array", "items": {"type": "integer"}}},
    "a tuple": {"prefixItems": [{"type": "object"}, {"type": ["object", "array"]}], "items": False},
    "a tuple and more": {"prefixItems": [{}, {"type": "array"}]},
    "some in some": {"items": {"type": ["array", "integer"], "uniqueItems": True, "minItems": 1}},
    "contains": {"items": {}, "contains": {"type": "object"}, "minContains": 2},
    "contains few": {"contains": {"type": "array"}, "maxContains": 1},
    "one of several": {"oneOf": [{"items": {"type": "object"}, "minItems": 1}, {"items": {"type": "array"}}]},
    "listed": {"items": {"enum": [1, [1], {"a": 1}, {"a": [1]}]}},
}


def unique(schema: Any = None) -> Any:
    return {"type": "array", "uniqueItems": True, **(schema or {})}


@pytest.mark.parametrize("name", SCHEMAS)
def test_equals_jsonschema(name: str) -> None:
    schema = unique(SCHEMAS[name])
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    assert [a for a in ARRAYS if accepts(grammar, dump(a)) != validator.is_valid(a)] == []


@pytest.mark.parametrize(
    ("accepted", "refused"),
    [
        ('[{"a":1},{"a":2}] | [{"a":1},{"b":1}] | [{"a":1},{"a":1,"b":1}]', '[{"a":1},{"a":1}] | [{"a":1,"b":2}, { "b" : 2, "a" : 1 }]'),
        ('[{"a":"x"},{"a":"y"}] | [["\\ud83d\\ude00"],["\\ud83d\\ude01"]]', r'[{"a":"x"},{"\u0061":"\u0078"}] | [["\n"],["\u000a"]]'),
        ('[["é"],["è"]] | [["\\\\"],["\\/"]]', r'[["é"],["\u00e9"]] | [["😀"],["\ud83d\uDE00"]] | [["/"],["\/"]]'),
        ("[[1],[1.5]] | [[100],[10]] | [[0.1],[1]]", "[[1],[1.0]] | [[100],[1e2]] | [[100],[0.1e3]] | [[0],[-0.0]] | [[15],[150E-1]]"),
        ("[[],[[]],[[],[]]] | [[1,2],[2,1]]", "[[],[]] | [[[]],[ [ ] ]] | [[1,2],[1,2]]"),
        ("[1,[1],{}] | [true,1,[true],[1],null]", "[[true],1,[true]] | [null,[null],null]"),
        ('[[{"a":[{}]}],[{"a":[{},{}]}]]', '[[{"a":[{}]}],[{"a":[{}]}]]'),
        ('[{"a":0},{"b":2,"a":1},{"a":2,"b":1}]', '[{"a":0},{"b":2,"a":1},{"a":1,"b":2}]'),
    ],
)
def test_equal_in_any_spelling(accepted: str, refused: str) -> None:
    grammar = Grammar.from_json_schema(unique(), escapes="all", number_style="any", property_order="any")
    assert [text for text in accepted.split(" | ") if not accepts(grammar, text)] == []
    assert [text for text in refused.split(" | ") if accepts(grammar, text)] == []


def test_what_is_equal_begins_by_no_byte_that_leads_nowhere_else() -> None:
    item = {"type": "object", "properties": {"a": {"enum": [1, 12]}}, "required": ["a"], "additionalProperties": False}
    grammar = Grammar.from_json_schema(unique({"items": item}), whitespace="compact")
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_bytes(b'[{"a":12},{"a":1') and matcher.allowed_tokens() == [*b"}"]  # and not 2
    assert matcher.accept_bytes(b"}") and matcher.allowed_tokens() == [*b"]"]  # all values are used up
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema(unique({"items": item, "minItems": 3}))


def test_such_arrays_in_each_other() -> None:
    grammar = Grammar.from_json_schema(unique({"items": unique({"items": {"type": ["array", "object"]}})}), whitespace="compact")
    assert [text for text in ("[[[],{}],[[]],[{},[]]]", "[[],[[[],[]]]]", "[[[],[{}]],[[{}],[]]]") if not accepts(grammar, text)] == []
    assert [text for text in ("[[[],[]]]", "[[[]],[[]]]", "[[{}],[[],{},[]]]", "[[[1],{}],[[1],{}]]") if accepts(grammar, text)] == []


@pytest.mark.parametrize("number", ["1", "0", "10", "0.5", "1.05", "100", "-2", "1e30"])
def test_all_spellings_of_a_number_are_one_value(number: str) -> None:
    """Without end, of a lexeme that has no other: that nothing else may come is found out all the same."""
    properties = {"a": {"const": json.loads(number)}, "b": {"enum": ["x", "y"]}}
    item = {"type": "object", "properties": properties, "required": ["a", "b"], "additionalProperties": False}
    options = {"number_style": "any", "property_order": "any", "whitespace": "compact"}
    matcher = Matcher(Grammar.from_json_schema(unique({"items": item}), **options), BYTES)
    assert matcher.accept_bytes(b'[{"a":%s,"b":"x"},{"b":"' % number.encode()) and matcher.allowed_tokens() == [*b"y"]
    matcher.rollback(1)
    assert matcher.accept_bytes(b'[{"a":%s,"b":"x"},{"a":%s' % (number.encode(), number.encode()))
    assert matcher.accept_bytes(b',"b":"') and matcher.allowed_tokens() == [*b"y"]


@pytest.mark.parametrize("items", [[1], [0, 1, 1e30, 0.001], [0, 1e-20, -5]])
def test_all_spellings_of_few_numbers(items: list[float]) -> None:
    lists = {"type": "array", "items": {"enum": items}, "maxItems": 1}
    grammar = Grammar.from_json_schema(unique({"items": lists}), number_style="any", whitespace="compact")
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_bytes("[{},[".format(",".join(f"[{item}]" for item in items)).encode()) and matcher.allowed_tokens() == [*b"]"]


def test_no_key_comes_twice_in_what_is_compared() -> None:
    """Else it would depend on the reader whether items are equal."""
    grammar = Grammar.from_json_schema(unique(), whitespace="compact")
    assert accepts(grammar, '[{"a":1,"ab":1},{"a":{"a":1}}]')
    assert not accepts(grammar, '[{"a":1,"a":1}]') and not accepts(grammar, r'[[{"a":1,"b":2,"\u0061":1}]]')
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_bytes(b'[{"a":1,"a') and not matcher.accept(ord('"')) and matcher.accept_bytes(b'b":1}]')
    keys = {"type": "object", "patternProperties": {"^(?:a|b[0-9]+)$": {}}, "additionalProperties": False}
    matcher = Matcher(Grammar.from_json_schema(unique({"items": keys}), whitespace="compact"), BYTES)
    assert matcher.accept_bytes(b'[{"a":1,"') and matcher.allowed_tokens() == [*b"b"]
    named = {"type": "object", "required": ["$ref"], "patternProperties": {r"^\$ref$": {"type": "string"}}}  # as OpenAPI writes a reference
    named_all = {**keys, "patternProperties": {"^[ab]$": {}}, "properties": {"a": {}, "b": {}, "c": {}}}
    for keys in (named, named_all):
        grammar = Grammar.from_json_schema(unique({"items": keys}), whitespace="compact")
        text = '[{"$ref":"x"},{"$ref":"y"}]' if keys is named else '[{"a":1},{"a":2,"b":1}]'
        assert accepts(grammar, text) and not accepts(grammar, text.replace("y", "x").replace('2,"b":1', "1"))


FEW: Any = {"propertyNames": {"pattern": "^ab?$"}}  # two keys


@pytest.mark.parametrize(
    ("keys", "full"),
    [
        (FEW, '{"ab":1,"a":1'),
        ({**FEW, "properties": {"a": {}}, "required": ["a"]}, '{"a":1,"ab":1'),
        ({**FEW, "patternProperties": {"^a": {"type": "integer"}}, "minProperties": 1}, '{"ab":1,"a":1'),
        ({"allOf": [FEW, {"patternProperties": {"b": {"type": "integer"}}, "additionalProperties": {}}]}, '{"ab":1,"a":1'),
        ({"patternProperties": {"^ab?$": {"items": {"$ref": "#/items"}}}, "additionalProperties": False}, '{"ab":[],"a":[{}]'),
    ],
)
def test_few_keys_are_used_up(keys: Any, full: str) -> None:
    grammar = Grammar.from_json_schema(unique({"items": {"type": "object", **keys}}), whitespace="compact", property_order="any")
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_bytes(f"[{full}".encode()) and set(matcher.allowed_tokens()).isdisjoint(b",") and matcher.accept_bytes(b"}")
    assert accepts(grammar, f'[{full}}},{{"a":2}}]') and not accepts(grammar, f"[{full}}},{full}}}]")


def test_keys_that_may_be_used_up_are_refused() -> None:
    """There are 512, which are not counted."""
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_json_schema(unique({"items": {"type": "object", "propertyNames": {"pattern": "^[ab]{9}$"}}}))


@pytest.mark.parametrize(
    "item",
    [
        {"properties": {"a": {}, "b": {}}, "additionalProperties": False, "required": ["a"], "minProperties": 3},
        {**FEW, "required": ["a"], "minProperties": 3},
        {"type": "object", "additionalProperties": unique({"minItems": 3, "items": {"enum": [[1], [2]]}}), "required": ["a"]},
    ],
)
def test_objects_that_there_are_not(item: Any) -> None:
    """A required member has any number of values, but there is no object: behind `["x",` nothing could come."""
    items = {"anyOf": [{"type": "object", **item}, {"const": "x"}]}
    matcher = Matcher(Grammar.from_json_schema(unique({"items": items}), whitespace="compact"), BYTES)
    assert matcher.accept_bytes(b'["x"') and matcher.allowed_tokens() == [*b"]"]
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema(unique({"items": items, "minItems": 2}))


@pytest.mark.parametrize("beside", [{"region": ["uri"]}, {"region": ["uri"], "id": ["region"]}], ids=dump)
def test_keys_that_need_others(beside: Any) -> None:
    item = {"type": "object", "properties": {"uri": {"type": "string"}, "region": {}, "id": {}}, "additionalProperties": False}
    schema = unique({"items": {**item, "dependentRequired": beside}})
    grammar, validator = Grammar.from_json_schema(schema), jsonschema.Draft202012Validator(schema)
    objects = [dict.fromkeys(keys, "x") for n in range(4) for keys in itertools.combinations(["uri", "region", "id"], n)]
    for items in itertools.product(objects, repeat=2):
        assert accepts(grammar, dump(items)) == validator.is_valid(list(items)), items


@pytest.mark.parametrize(
    "keys",
    [{"minProperties": 2}, {"minProperties": 2, "maxProperties": 2}, {"propertyNames": {"pattern": "^a"}, "minProperties": 3}],
)
def test_objects_with_a_least_number_of_keys(keys: Any) -> None:
    grammar = Grammar.from_json_schema(unique({"items": {"type": "object", "properties": {"a": {}}, **keys}}), whitespace="compact")
    assert accepts(grammar, '[{"a":1,"ab":1},{"a":1,"ab":2}]') == (keys.get("minProperties") == 2)
    assert accepts(grammar, '[{"a":1,"ab":1,"ac":2},{"a":1,"ac":1,"ab":1}]') == ("maxProperties" not in keys)
    assert not accepts(grammar, '[{"a":1,"ab":1,"ac":2},{"a":1,"ac":2,"ab":1}]') and not accepts(grammar, '[{"a":1}]')


@pytest.mark.parametrize("text", [{"maxLength": 10_000_000}, {"maxLength": 1_000_000, "pattern": r"^[\s\S]*$"}, {"pattern": "^a*$"}])
def test_strings_of_any_length_are_many(text: Any) -> None:
    item = {"type": "object", "properties": {"a": {"type": "string", **text}}, "required": ["a"], "additionalProperties": False}
    grammar = Grammar.from_json_schema(unique({"items": item}), whitespace="compact")
    assert accepts(grammar, '[{"a":"a"},{"a":"aa"}]') and not accepts(grammar, '[{"a":"a"},{"a":"a"}]')


def linked(**schema: Any) -> Any:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": False, **schema}
    return unique({"$defs": {"node": node}, "items": {"anyOf": [{"const": 1}, {"$ref": "#/$defs/node"}]}})


def test_values_that_nest_are_many_if_there_are_any() -> None:
    assert accepts(Grammar.from_json_schema(linked()), '[1, {}, {"next": {}}]')
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_json_schema(linked(required=["next"]))  # there is none: behind `[1` nothing else could come


GOAL = {"$ref": "#/$defs/goal"}


@pytest.mark.parametrize(
    "item",
    [
        {"anyOf": [{"const": 1}, {"type": "array", "uniqueItems": True, "minItems": 2, "items": GOAL}]},  # of 1 and nothing else
        {"anyOf": [{"const": 1}, unique({"minItems": 3, "prefixItems": [{"const": 1}, {"type": "integer"}], "items": {"const": 1}})]},
    ],
)
def test_values_that_there_are_not_are_not_counted(item: Any) -> None:
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_json_schema(unique({"$defs": {"goal": item}, "items": GOAL}))


METHODS: Any = {"type": "array", "uniqueItems": True, "items": {"enum": ["GET", "PUT"]}}  # 5 of them


@pytest.mark.parametrize(
    ("item", "n_values"),
    [
        ({"properties": {"to": {"enum": [1, 2]}, "by": METHODS}}, 18),
        ({"properties": {"to": {"enum": [1, 2]}, "by": {**METHODS, "minItems": 1}}, "required": ["by"]}, 12),
        ({"properties": {"by": {**METHODS, "maxItems": 1}}, "required": ["by"]}, 3),
        ({"properties": {"by": {**METHODS, "minItems": 3}}}, 1),
        ({"type": "object", "additionalProperties": unique({"minItems": 3, "items": {"enum": [[1], [2]]}})}, 1),  # `{}`
    ],
)
def test_how_many_objects_with_lists_that_differ_there_are(item: Any, n_values: int) -> None:
    schema = unique({"items": {"type": "object", "additionalProperties": False, **item}, "minItems": n_values})
    grammar = Grammar.from_json_schema(schema, whitespace="compact")
    text = bytes(Matcher(grammar, BYTES).closing_bytes())
    assert len({dump(value) for value in json.loads(text)}) == n_values
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({**schema, "minItems": n_values + 1})


@pytest.mark.parametrize(
    "item",
    [
        {
            "properties": {"by": METHODS, "from": {**METHODS, "items": {"type": "string"}}},
            "required": ["by", "from"],
            "additionalProperties": False,
        },
        {"not": {"properties": {"secure": {}}, "additionalProperties": False}},
        {"not": {"additionalProperties": False}, "properties": {"to": {"type": "string"}, "by": METHODS}, "additionalProperties": False},
    ],
)
def test_objects_that_are_many(item: Any) -> None:
    schema = unique({"items": {"type": "object", **item}})
    grammar, validator = Grammar.from_json_schema(schema, property_order="any"), jsonschema.Draft202012Validator(schema)
    for keys in itertools.product(["", "by", "from", "to", "secure"], repeat=2):
        for value in ("x", ["x"], []):
            items = [{key: value for key in keys if key}, {key: ["GET"] for key in keys if key}]
            assert accepts(grammar, dump(items)) == validator.is_valid(items), items


def test_values_that_nest_and_differ() -> None:
    pairs = {"anyOf": [{"enum": [1, 2]}, unique({"minItems": 2, "items": GOAL})]}
    grammar = Grammar.from_json_schema(unique({"$defs": {"goal": pairs}, "items": GOAL}))
    assert accepts(grammar, "[1, 2, [1, 2], [2, 1], [1, [1, 2]]]") and not accepts(grammar, "[1, [1, 1]]")


def test_what_is_counted_may_be_told_by_how_it_is_written() -> None:
    integer = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}
    schema = unique({"items": {"type": "number"}, "contains": {"$ref": "http://example.com/integer"}})
    grammar = Grammar.from_json_schema(schema, resources={"http://example.com/integer": integer})
    assert accepts(grammar, "[1.5, 1]") and not accepts(grammar, "[1.5]") and not accepts(grammar, "[1.0, 1]")


# --- all sentences of small schemas ------------------------------------------------------------------------------------------

SCALARS: list[Any] = [{"enum": [1, 2]}, {"enum": ["a", "b"]}, {"const": 1}, {"type": "boolean"}, {"enum": [1, "a"]}, {"enum": [10, 1]},
                      {"enum": ["ab", "a", ""]}, {"type": "null"}, {"enum": [1, 1.5, 12]}, {"const": "é"},
                      {"enum": [{"a": 1}, {"a": 2}, [1]]}, {"enum": [[], [1], {}]}]  # fmt: skip
MOST_SENTENCES = 1_500


def random_schema(rng: random.Random, depth: int, is_top: bool = False) -> Any:
    kind = rng.random()
    if depth == 0 or (kind < 0.3 and not is_top):
        return rng.choice(SCALARS)
    if is_top or kind < 0.65:
        schema = {"type": "array", "items": random_schema(rng, depth - 1), "maxItems": rng.choice([1, 2, 2, 3])}
        if rng.random() < 0.4:
            schema["minItems"] = min(schema["maxItems"], rng.choice([1, 2, 2, 3]))
        if is_top or rng.random() < 0.5:
            schema["uniqueItems"] = True
        if rng.random() < 0.15:
            schema["prefixItems"] = [random_schema(rng, depth - 1) for _ in range(rng.choice([1, 2]))]
        return schema
    if kind < 0.92:
        keys = "abc"[: rng.choice([1, 1, 2, 2, 3])]
        properties = {key: random_schema(rng, depth - 1) for key in keys}
        required = [key for key in keys if rng.random() < 0.5]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"anyOf": [random_schema(rng, depth - 1), random_schema(rng, depth - 1)]}


def without(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: without(value) for key, value in schema.items() if key != "uniqueItems"}
    return [without(value) for value in schema] if isinstance(schema, list) else schema


def sentences(grammar: Grammar) -> list[bytes] | None:
    """All of them, or None where they are too many."""
    found, todo, steps = [], [(Matcher(grammar, BYTES), b"")], 0
    while todo:
        matcher, text = todo.pop()
        steps += 1
        if matcher.is_complete:
            found.append(text)
        if len(found) > MOST_SENTENCES or steps > 8 * MOST_SENTENCES:
            return None
        for byte in matcher.allowed_tokens():
            if byte < 256:
                fork = matcher.fork()
                assert fork.accept(byte)
                todo.append((fork, text + bytes([byte])))
    return found


def samples(seed: int) -> Iterator[tuple[Any, dict[str, str], Grammar, list[bytes], random.Random]]:
    """Schemas, options, grammars, and all sentences."""
    for k in itertools.count(1_000 * seed):
        rng = random.Random(k)
        schema = random_schema(rng, rng.choice([2, 3]), is_top=True)
        options = {"whitespace": "compact", "property_order": rng.choice(["any", "schema"])}
        try:
            texts = sentences(Grammar.from_json_schema(without(schema), **options))
            validator = jsonschema.Draft202012Validator(schema)
            good = [text for text in texts or () if validator.is_valid(json.loads(text))]
            if good:
                yield schema, options, Grammar.from_json_schema(schema, **options), good, rng
        except UnsatisfiableSchemaError:
            pass
        except UnsupportedSchemaError as error:
            assert error.keyword == "uniqueItems"


def tokens_of(texts: list[bytes], rng: random.Random) -> list[bytes]:
    """Single bytes, and pieces of the texts."""
    cuts = set()
    for _ in range(60):
        text = rng.choice(texts)
        at = rng.randrange(len(text))
        cuts.add(text[at : at + rng.randrange(2, 9)])
    return [bytes([i]) for i in range(256)] + sorted(cut for cut in cuts if len(cut) > 1)


def fewest_tokens(text: bytes, tokens: set[bytes]) -> int:
    fewest = [0] + [len(text)] * len(text)
    for i, j in itertools.combinations(range(len(text) + 1), 2):
        if j - i <= 8 and text[i:j] in tokens:
            fewest[j] = min(fewest[j], fewest[i] + 1)
    return fewest[-1]


@pytest.mark.parametrize("seed", range(12))
def test_all_that_can_be_asked_by_all_sentences(seed: int) -> None:
    n_checked = 0
    for schema, options, grammar, good, rng in itertools.islice(samples(seed), 8):
        n_checked += check_by_sentences(grammar, good, rng, f"{dump(schema)} {options}")
    assert n_checked > 20


def check_by_sentences(grammar: Grammar, good: list[bytes], rng: random.Random, about: str) -> int:
    tokens = tokens_of(good, rng)
    vocab = Vocabulary([*tokens, b"<end>"], eos=[len(tokens)])
    begun, ended, spelt = {text[:k] for text in good for k in range(len(text) + 1)}, set(good), set(tokens)
    todo, seen = [(Matcher(grammar, vocab), b"")], set()
    while todo and len(seen) < 150:
        matcher, text = todo.pop()
        if text in seen:
            continue
        seen.add(text)
        wanted = {k for k, token in enumerate(tokens) if text + token in begun}
        assert {*matcher.allowed_tokens()} == wanted | ({len(tokens)} if text in ended else set()), (about, text)
        rests = [sentence[len(text) :] for sentence in good if sentence.startswith(text)]
        if len(seen) % 5 == 0:
            closing = bytes(matcher.closing_bytes())
            assert closing in rests and len(closing) == min(map(len, rests)), (about, text)
            assert all(rest.startswith(matcher.forced_bytes()) or not rest for rest in rests), (about, text)
        if len(seen) % 15 == 0:
            fewest = 1 + min(fewest_tokens(rest, spelt) for rest in rests)
            for most in (fewest - 1, fewest, fewest + 2):
                found = matcher.closing_within(most)
                assert (found is None) == (most < fewest), (about, text, most)
                assert found is None or (len(found) <= most and b"".join(tokens[k] for k in found if k < len(tokens)) in rests)
        for token in wanted:
            if rng.random() < 0.4:
                fork = matcher.fork()
                assert fork.accept(token)
                todo.append((fork, text + tokens[token]))
    return len(seen)


# --- beside the rest of the engine ---------------------------------------------------------------------------------------------

PAIRS = unique({"items": {"type": "object", "properties": {"id": {"type": "integer"}, "to": {"enum": ["a", "b"]}}, "required": ["id"]}})
TEXT = b'{"x": [{"id": 1}, {"id": 1, "to": "a"}, {"id": 12, "to": "b", "y": []}, {"id": 1, "to": "b"}]}'
MORE = [b'{"id": 1', b"1}", b'}, {"id": 1', b"1}]", b'"to": "', b'a"}', b'b"}, {', b"{}, {}", b"[[], []", b'", "', b'"}, {"id": ']


def test_no_switch_changes_a_mask() -> None:
    grammar = Grammar.from_json_schema({"properties": {"x": PAIRS}})
    vocab = Vocabulary([*(bytes([i]) for i in range(256)), *MORE, b"<end>"], eos=[256 + len(MORE)])
    names = list(Switches.__dataclass_fields__)
    reference = None
    for switches in [Switches(), *(Switches(**{name: False}) for name in names), Switches(**dict.fromkeys(names, False))]:
        matcher, masks = Matcher(grammar, vocab, switches=switches), []
        for byte in TEXT:
            masks.append(matcher.allowed_tokens())
            assert [k for k in range(vocab.size) if matcher.fork().accept(k)] == masks[-1]
            assert matcher.accept(byte)
        assert matcher.is_complete
        reference = reference or masks
        assert masks == reference


LONG = ["a" * n for n in (0, 1, 3, 7, 8, 9, 15, 20)] + ["aaaaaaaaab", "abababababab", "aaaaaaaa\u00e9", "\u00e9" * 6]
OF_LONG: list[Any] = [
    {},
    {"type": ["string", "array"]},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"enum": [LONG[5], LONG[6], LONG[7], [LONG[5]], [LONG[7]], {LONG[5]: LONG[5]}, {LONG[6]: 1}]},
    {"enum": [LONG[5], LONG[6], [LONG[6]]]},
    {"type": "object", "properties": {LONG[6]: {"enum": LONG[6:8]}}, "required": [LONG[6]], "additionalProperties": False},
    unique({"items": {"type": "string"}}),
    {"type": ["string", "array"], "minLength": 7},
]
CROSSING = [
    b'","',
    b'"],["',
    b'"},{"',
    b'":"',
    b'","aa',
    b'","aaa"',
    b'"],["a',
    b'"],["a","a"',
    b',"aaa"',
    b'"],[',
    b'"},{"aaa',
    b'","aaaaaaaa"',
]
REACH = max(map(len, CROSSING))


def fragments(rng: random.Random) -> list[bytes]:
    """Parts of texts of such arrays, shorter than `REACH`: no token that holds a quotation mark is as long as the longest strings."""

    def value(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.5:
            return rng.choice(LONG)
        parts = [value(depth - 1) for _ in range(rng.randint(0, 2))]
        return parts if rng.random() < 0.5 else {rng.choice(LONG): part for part in parts}

    found = set(CROSSING)
    while len(found) < 50:
        text = json.dumps([value(2), value(2)], ensure_ascii=False, separators=(",", ":"))
        at = rng.randrange(len(text))
        found.add(text[at : at + rng.randint(2, 8)].encode())
    return sorted(found)


@pytest.mark.parametrize("items", OF_LONG, ids=dump)
@pytest.mark.parametrize("escapes", ["minimal", "all"])
def test_long_strings_and_what_crosses_their_ends(items: Any, escapes: str) -> None:
    """Masks are made of the first bytes of these: they say of each token what the whole text does, with the switches on and off."""
    grammar = Grammar.from_json_schema(unique({"items": items}), whitespace="compact", escapes=escapes)
    n_long = 0
    for seed in range(6):
        rng = random.Random(seed)
        tokens = [bytes([byte]) for byte in [*range(32, 127), 0xC3, 0xA9]]
        tokens += [fragment for fragment in fragments(rng) if fragment not in tokens]
        vocab = Vocabulary([*tokens, b"<end>"], eos=[len(tokens)])
        off = [Switches(slices=False), Switches(clamping=False), Switches(slices=False, clamping=False)]
        matcher, *others = [Matcher(grammar, vocab, switches=switches) for switches in (Switches(), *off)]
        likely = [token for token, text in enumerate(tokens) if text in CROSSING or set(text) <= set(b'a,"[]{}:')]
        first = [rng.choice(LONG[5:]), rng.choice([[LONG[6]], [], {LONG[5]: LONG[6]}])]
        text = (json.dumps(first, separators=(",", ":"), ensure_ascii=False)[:-1] + ',"' + first[0][: rng.randint(8, 20)]).encode()
        read = [each.accept_bytes(text) for each in (matcher, *others)]
        text = text if all(read) else b""
        for _ in range(40):
            allowed = matcher.allowed_tokens()
            assert allowed == [token for token in range(vocab.size) if matcher.fork().accept(token)], text
            for other in others:
                assert other.allowed_tokens() == allowed, text
            some = [token for token in likely if token in allowed] or [token for token in allowed if token < len(tokens)]
            longer = [token for token in some if set(tokens[token]) == {ord("a")}]
            if not some:
                break
            token = rng.choice(longer if longer and rng.random() < 0.7 else some)
            assert all(each.accept(token) for each in (matcher, *others))
            text += tokens[token]
            n_long += len(text.rpartition(b'"')[2]) > REACH
    assert n_long >= 5


@pytest.mark.parametrize("n", range(1, 24, 2))
def test_as_much_of_a_string_is_known_as_a_token_may_repeat(n: int) -> None:
    """A token ends an item with a string of any length and has a whole one behind it, which is the same or another."""
    grammar = Grammar.from_json_schema(unique({"items": {"type": "array"}}), whitespace="compact")
    vocab = Vocabulary([*(bytes([i]) for i in range(256)), b'"],["' + b"a" * n + b'"]', b"<end>"], eos=[257])
    for length in range(2 * n + 8):
        matcher = Matcher(grammar, vocab)
        assert matcher.accept_bytes(b'[["' + b"a" * length)
        assert (256 in matcher.allowed_tokens()) == (length != n), length


def test_tokens_that_hold_several_items() -> None:
    grammar = Grammar.from_json_schema({"properties": {"x": unique()}, "additionalProperties": False}, whitespace="compact")
    good = [b"[[],{}", b"[1,2]", b'["a","b"', b'[[1],["]', b"[", b"[[[", b"[{},[{},{"]
    bad = [b"[[],[]", b"[{},{}]", b"[1,1]", b'["a","a"', b'[1,"a",1,', b"[[[1]],[[1]]"]
    vocab = Vocabulary([*(bytes([i]) for i in range(256)), *good, *bad, b"<end>"], eos=[256 + len(good) + len(bad)])
    matcher = Matcher(grammar, vocab)
    assert matcher.accept_bytes(b'{"x":')
    assert [token for token in matcher.allowed_tokens() if token >= 256] == [256 + k for k in range(len(good))]
    assert matcher.accept_bytes(b'[[],"",') and 256 + len(good) in matcher.allowed_tokens()  # that array may have equal items


def test_steps_back_and_forks() -> None:
    grammar = Grammar.from_json_schema(PAIRS)
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_bytes(b'[{"id": 1}, {"id": 1')
    fork = matcher.fork()
    assert not fork.accept(ord("}")) and fork.accept_bytes(b"2}]") and fork.is_complete
    assert matcher.accept_bytes(b"2}")
    matcher.rollback(1)
    assert not matcher.accept(ord("}")) and matcher.accept_bytes(b',"to":"a"}]')


@pytest.mark.parametrize(
    "items",
    [
        {"type": "array", "items": {"enum": [0, 1]}, "maxItems": 2},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    ],
    ids=dump,
)
def test_a_budget_is_kept(items: Any) -> None:
    """Also where each byte is a token, and what must come could be foretold by rows alone: by these all items might be equal."""
    numpy = pytest.importorskip("numpy")
    schema = unique({"items": items, "minItems": 3})
    grammar, validator = Grammar.from_json_schema(schema, whitespace="compact"), jsonschema.Draft202012Validator(schema)
    least = len(Matcher(grammar, BYTES).closing_bytes()) + 1

    def model(ids: Any) -> Any:
        return numpy.random.default_rng(len(ids)).normal(size=(len(ids), BYTES.width))

    for budget in range(least, least + 8):
        result = generate(model, [0], grammar, BYTES, seed=budget, max_new_tokens=budget)
        assert result.finish_reason == "end" and validator.is_valid(json.loads(result.text))


def test_as_a_part_of_another_grammar_and_from_bytes() -> None:
    pairs = Grammar.from_json_schema(PAIRS)
    for grammar in (Grammar.from_bytes(pairs.to_bytes()), pairs):
        assert accepts(grammar, '[{"id": 1}, {"id": 2}]') and not accepts(grammar, '[{"id": 1}, {"id": 1.0}]')
    tagged = Grammar.from_tags([Tag("<t>", pairs, "</t>")])
    assert accepts(tagged, '[{"id": 1}, {"id": 1}] <t>[{"id": 1}, {"id": 2}]</t><t>[{"id": 1}]</t>')
    assert not accepts(tagged, '<t>[{"id": 1}, {"id": 1}]</t>')
    in_rules = Grammar.from_lark('start: (pairs ";")*\npairs: %json ' + dump(PAIRS) + "\n%ignore / +/")
    assert accepts(in_rules, '[{"id": 1}, {"id": 2}] ; [{"id": 1}];') and not accepts(in_rules, '[{"id": 1}, {"id": 1}];')


def test_a_table_ahead_of_time_is_refused() -> None:
    with pytest.raises(LimitExceededError, match="uniqueItems"):
        TokenDFA.from_grammar(Grammar.from_json_schema(PAIRS), BYTES, max_states=2_000)


def test_limits_leave_the_text_as_it_was() -> None:
    grammar = Grammar.from_json_schema(unique(), limits=Limits(max_memory_bytes=3_000_000))
    matcher = Matcher(grammar, BYTES)
    assert matcher.accept_bytes(b"[")
    for n in range(100_000):
        try:
            assert matcher.accept_bytes(b'{"a":%d},' % n)
        except LimitExceededError:
            break
    assert 100 < n < 99_999
    after = Matcher(grammar, BYTES)  # in a generation of its own
    assert after.accept_bytes(b'[{"a":1},{"a":') and not after.fork().accept_bytes(b"1}") and after.accept_bytes(b"2}]")


@pytest.mark.parametrize("whitespace", ["flexible", "bounded", "compact"])
def test_a_mask_says_what_is_accepted_over_a_shipped_vocabulary(whitespace: str) -> None:
    vocab = Vocabulary.builtin()
    texts = [vocab.token_bytes(k) for k in range(vocab.size)]
    marks = [k for k, text in enumerate(texts) if text and {*text} & {*b'[]{},":'}]
    items = ["{}", "[]", '{"a":1}', '"a"', "1", "[1]", '{"b":true}', '{"a":1,"b":2}', "[0]", '[""]', "[[]]"]
    for seed in range(8):
        rng = random.Random(seed)
        schema = rng.choice([unique(), unique({"items": {"type": "object"}}), {"properties": {"x": unique()}, "required": ["x"]}])
        matcher = Matcher(Grammar.from_json_schema(schema, whitespace=whitespace), vocab)
        for _ in range(25):
            allowed = matcher.allowed_tokens()
            for token in {*rng.sample(marks, 60), *rng.sample(allowed, min(len(allowed), 20))}:
                assert matcher.fork().accept(token) == (token in allowed), (schema, texts[token])
            text = rng.choice(items).encode() + rng.choice([b"", b",", b"]", b"}"])
            if rng.random() < 0.5 or not matcher.accept_bytes(text):
                assert matcher.accept(rng.choice([token for token in allowed if token in marks] or allowed))
            if matcher.is_terminated:
                break
