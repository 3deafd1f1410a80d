"""Closings of few tokens: any sentence counts, however long.

The truth: all sentences of a small language, listed by brute force, and the fewest tokens of each by dynamic programming. Where a language
is too large for that, all texts of tokens are tried, shortest first.

The searches behind the first, which know lower bounds, are made where that
has taken its share of `max_step_work`. `SECOND` leaves it next to nothing.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import random
import re

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, TokenDFA, UnsatisfiableSchemaError, Vocabulary

ALPHABET = "ab01"
LONGEST = 8  # bytes of a sentence of these:
SECOND = Limits(max_step_work=50_000)
PATTERNS = ["(ab|aabb|0{4}){2}", "[ab]{3,7}0?", "(a|b1){2,4}", "(ab){0,2}1{1,2}ab", "a(0|1){0,6}b", "0|1a{0,5}b", "(a?b?0?){2}1"]


def vocabulary_of(rng, spares=()):
    """Bytes but for `spares`, and longer tokens at random."""
    singles = [char for char in ALPHABET if char not in spares]
    longer = {"".join(rng.choices(ALPHABET, k=rng.randint(2, 5))) for _ in range(12)}
    tokens = [text.encode() for text in (*singles, *sorted(longer))]
    return Vocabulary([*tokens, b""], eos=[len(tokens)])


def sentences_of(pattern):
    texts = ("".join(letters) for n in range(LONGEST + 1) for letters in itertools.product(ALPHABET, repeat=n))
    return [text.encode() for text in texts if re.fullmatch(pattern, text)]


def fewest(text, vocabulary):
    """Tokens that spell a text, the end included; None: they cannot."""
    best = [0, *[None] * len(text)]
    for end in range(1, len(text) + 1):
        ways = [best[end - len(token)] for token in vocabulary.tokens if token and text[:end].endswith(token)]
        best[end] = min((way + 1 for way in ways if way is not None), default=None)
    return None if best[-1] is None else best[-1] + 1


def check(matcher, sentences):
    """What is found after the text of a matcher is right; whether it is better than the closing."""
    vocabulary = matcher.vocabulary
    begun = b"".join(vocabulary.token_bytes(token) for token in matcher.tokens)
    counts = [fewest(text[len(begun) :], vocabulary) for text in sentences if text.startswith(begun)]
    least = min((count for count in counts if count is not None), default=None)
    if least is None:
        return None
    for most in range(least):
        assert matcher.closing_within(most) is None
    for most in (least, least + 1, least + 5):
        tokens = matcher.closing_within(most)
        assert len(tokens) <= most and vocabulary.eos[0] == tokens[-1]
        assert begun + b"".join(map(vocabulary.token_bytes, tokens)) in sentences
    return least


def test_against_all_sentences():
    rng = random.Random(0)
    n_better = 0
    for pattern in PATTERNS:
        sentences, grammar = sentences_of(pattern), Grammar.from_regex(pattern)
        for _ in range(12):
            matcher = Matcher(grammar, vocabulary_of(rng))
            while not matcher.is_terminated:
                n_better += check(matcher, sentences) < len(matcher.closing_tokens())
                matcher.accept(rng.choice(matcher.allowed_tokens()))
    assert n_better > 20


def test_narrow_searches():
    """Of sixty characters under five patterns there are too many texts
    to be looked at in full; a narrow search finds one of long tokens."""
    patterns = ["ab1|b12", "bc1|c12", "ca1|a12", "[aA][12].*[zZ]", "[0-9]{2}"]
    schema = {"type": "string", "minLength": 60, "maxLength": 60, "allOf": [{"pattern": pattern} for pattern in patterns]}
    vocabulary = Vocabulary.builtin()
    matcher = Matcher(Grammar.from_json_schema(schema), vocabulary)
    most = len(matcher.closing_tokens()) - 1
    tokens = matcher.closing_within(most)
    text = json.loads(b"".join(map(vocabulary.token_bytes, tokens)))
    assert len(tokens) <= most and len(text) == 60 and all(re.search(pattern, text) for pattern in patterns)


def test_some_key_and_a_number_of_members():
    """Four keys that contain an a, none of one to three characters, and one of them with a b:
    the shortest are full of escapes, and take twice the tokens."""
    keys = {"allOf": [{"patternProperties": {"^.{1,3}$": False}}, {"patternProperties": {"a": True}, "additionalProperties": False}]}
    schema = {"type": "object", **keys, "not": {"patternProperties": {"b": False}}, "minProperties": 4}
    vocabulary = Vocabulary.builtin()
    matcher = Matcher(Grammar.from_json_schema(schema), vocabulary)
    most = len(matcher.closing_tokens()) - 1
    for budget in (most, 10):
        tokens = matcher.closing_within(budget)
        members = json.loads(b"".join(map(vocabulary.token_bytes, tokens)))
        assert len(tokens) <= 12 < most and len(members) == 4
        assert all("a" in key and len(key) > 3 for key in members) and any("b" in key for key in members)


def allowed(matcher, done):
    """What the tokens that are allowed make of texts; None: a sentence ends."""
    if matcher.is_complete:
        return None
    steps = []
    for token in matcher.allowed_tokens():
        fork = matcher.fork()
        fork.accept(token)
        steps.append((done + matcher.vocabulary.token_bytes(token), fork))
    return steps


def fewest_of_all(matcher, most_texts=800):
    """The fewest tokens that complete the text, the end included; so many or more if that is negative. Every text of tokens is tried."""
    level, n = {b"": matcher}, 0
    while True:
        following, n = {}, n + 1
        for done, at in level.items():
            steps = allowed(at, done)
            if steps is None:
                return n
            following.update(steps)
            if len(following) > most_texts:
                return -n
        level = {text: at for text, at in following.items() if text not in level}


JSON_TOKENS = [
    '{"',
    '"}',
    '":',
    '":"',
    '","',
    '":{"',
    '":[',
    "],",
    "}}",
    "]]",
    '""',
    '"a',
    'a"',
    '"a"',
    'a":',
    '[{"',
    "0,",
    ",0",
    "true",
    '"b":',
    "ab",
    "aa",
]


def schemas(rng):
    """Objects with required, optional and any other members, nested, in lists; what else bags have."""
    scalar = [
        {"type": "null"},
        {"type": "boolean"},
        {"enum": ["a", "abab", 0]},
        {"type": "string", "pattern": "^(ab){2,40}$"},
        {"const": 10},
    ]
    keys = ["a", "b", "aab", "ab"]
    inner = {
        "type": "object",
        "properties": {key: rng.choice(scalar) for key in keys[:2]},
        "required": ["a"],
        "additionalProperties": False,
    }
    outer = {
        "type": "object",
        "properties": {
            key: rng.choice([*scalar, inner, {"type": "array", "items": rng.choice([*scalar, inner]), "minItems": 1}]) for key in keys
        },
        "required": rng.sample(keys, rng.randint(1, 2)),
    }
    if rng.random() < 0.9:
        outer["additionalProperties"] = rng.choice([False, False, inner])
    if rng.random() < 0.3:
        outer["minProperties"] = 2
    return outer


def conditions(rng):
    """Objects and lists in which some members must be what the others need not be."""
    values = [0, 10, "a", "abab", True, None]
    value = {"enum": rng.sample(values, 4)}
    if rng.random() < 0.5:
        some = {"enum": rng.sample(value["enum"], rng.randint(1, 3))}
        return {"type": "array", "items": value, "contains": some, "minContains": rng.randint(1, 3), "minItems": rng.randint(0, 3)}
    names = {"enum": ["a", "b", "ab", "aab"]}
    refused = {"patternProperties": {rng.choice(["b", "^a", "aa"]): {"enum": rng.sample(value["enum"], rng.randint(1, 3))}}}
    return {"type": "object", "propertyNames": names, "additionalProperties": value, "not": refused, "maxProperties": rng.randint(1, 3)}


def any_keys(rng):
    """Objects whose keys are texts that must differ."""
    value = {"enum": rng.sample([0, 10, True, [], {}], 3)}
    schema = {"type": "object", "additionalProperties": value, "minProperties": rng.randint(1, 3)}
    if rng.random() < 0.6:
        schema["patternProperties"] = {rng.choice(["b", "^a", "aa", "^..$", "a$"]): {"enum": [rng.choice([0, "a"])]}}
    if rng.random() < 0.4:
        schema["required"] = [rng.choice(["a", "ab"])]
    if rng.random() < 0.5:
        schema["not"] = {"patternProperties": {rng.choice(["a", "^b"]): {"const": value["enum"][0]}}}
    return (
        schema if rng.random() < 0.8 else {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
    )


def members(rng):
    """Objects whose members are needed, allowed or asked for, by name, by pattern and by number."""
    values = [{"const": 0}, {"enum": ["a", "abab"]}, {"type": "boolean"}, {"enum": [[], {}]}, {"type": "string", "maxLength": 1}]
    keys = rng.sample(["a", "b", "ab", "aab", "ba"], rng.randint(2, 4))
    schema = {
        "type": "object",
        "properties": {key: rng.choice(values) for key in keys},
        "required": rng.sample(keys, rng.randint(1, len(keys))),
    }
    schema["additionalProperties"] = rng.choice([False, False, rng.choice(values)])
    if rng.random() < 0.4:
        schema["patternProperties"] = {rng.choice(["b", "^a", "^..$"]): rng.choice(values)}
    if rng.random() < 0.4:
        schema["minProperties"] = rng.randint(1, len(keys))
    if rng.random() < 0.3:
        schema["maxProperties"] = len(schema["required"]) + rng.randint(0, 1)
    if rng.random() < 0.3:
        schema["dependentRequired"] = {keys[0]: [keys[1]]}
    return schema


def distinct(rng):
    """Lists whose items differ, of which some must be what the others need not be."""
    some = [
        {"enum": rng.sample(["", "a", "b", "ab", "abab", 0, 10, True, None], rng.randint(3, 6))},
        {"type": "string", "pattern": rng.choice(["^[ab]{1,2}$", "^a*b?$", "^[ab](a|b0)$"])},
        {"type": ["string", "integer"], "minimum": 0, "maximum": 11},
    ]
    schema = {"type": "array", "items": rng.choice(some), "uniqueItems": True, "minItems": rng.randint(1, 3)}
    if rng.random() < 0.3:
        schema["contains"] = {"enum": rng.sample(["a", "b", "ab", 0, 10], 3)}
    return schema if rng.random() < 0.7 else {"type": "array", "items": schema, "minItems": 1}


def totals(rng):
    """Arrays and objects of which so many members are asked, by several ways; some of them must be particular."""
    some = [
        {"enum": rng.sample([0, 10, "a", "ab", None, True], rng.randint(1, 3))},
        {"type": "boolean"},
        {"type": "integer", "maximum": 11, "minimum": 0},
    ]
    value = functools.partial(rng.choice, [*some, {"type": "string", "pattern": "^[ab]{0,2}$"}])
    least = rng.randint(1, 4)
    if rng.random() < 0.5:
        schema = {"type": "array", "items": value(), "minItems": least, "prefixItems": [value() for _ in range(rng.randint(0, 2))]}
        schema |= {"contains": value(), "minContains": rng.randint(0, 3)} if rng.random() < 0.7 else {}
        schema["uniqueItems"] = rng.random() < 0.4
    else:
        keys = rng.sample(["a", "b", "ab", "aab"], rng.randint(0, 3))
        schema = {"type": "object", "properties": {key: value() for key in keys}, "minProperties": least}
        schema |= {"patternProperties": {pattern: value() for pattern in rng.sample(["^a", "b$", "0"], 2)}, "required": keys[:1]}
        schema["additionalProperties"] = rng.choice([False, value()])
    if rng.random() < 0.3:
        schema[{"array": "maxItems", "object": "maxProperties"}[schema["type"]]] = least + rng.randint(0, 2)
    return schema


def nested(rng):
    """Objects that may contain objects like themselves."""
    scalar = [{"type": "null"}, {"type": "boolean"}, {"enum": ["a", "abab", 0]}, {"const": 10}]
    again = [
        {"type": "array", "items": {"$ref": "#"}},
        {"anyOf": [{"$ref": "#"}, rng.choice(scalar)]},
        {"type": "array", "minItems": 1, "items": {"anyOf": [rng.choice(scalar), {"$ref": "#"}]}},
    ]
    keys = rng.sample(["a", "b", "ab", "aab", "ba"], rng.randint(2, 4))
    values = [rng.choice(again), *(rng.choice([*scalar, rng.choice(again)]) for _ in keys[1:])]
    schema = {"type": "object", "properties": dict(zip(keys, values)), "required": rng.sample(keys, rng.randint(1, len(keys)))}
    schema["additionalProperties"] = rng.choice([False, False, False, {"$ref": "#"}])
    if rng.random() < 0.3:
        schema["minProperties"] = len(keys)
    return schema


def strings(rng):
    """Strings of which several things are asked."""
    patterns = rng.sample(["ab", "b[01]", "0.*1", "^a", "1$", "aa", "(a|0){3}", "01", "^[ab]*$", "ba.*b"], rng.randint(2, 6))
    n = rng.randint(0, 3)
    asked = [{"pattern": "^[ab01]*$"}, *({"pattern": pattern} for pattern in patterns[: n // 2]), {"minLength": rng.randint(0, 7)}]
    schema = {"type": "string", "allOf": asked, "anyOf": [{"pattern": pattern} for pattern in patterns[n // 2 :]]}
    if rng.random() < 0.5:
        schema["maxLength"] = rng.randint(4, 12)
    return schema if rng.random() < 0.7 else {"type": "array", "items": schema, "minItems": 2}


def of_any(make, **options):
    """The grammar of the first schema made that has an instance."""
    while True:
        try:
            return Grammar.from_json_schema(make(), **options)
        except UnsatisfiableSchemaError:
            continue


def larks(rng):
    """Recursion on both sides, lists, white space that is ignored."""
    item = rng.choice(["A", "B", '"ab"', "start"])
    source = f'start: "(" {item}? ")" | A | start "+" B | "[" {rng.choice(["B", "A"])} ("," {rng.choice(["A", "start"])})~1..3 "]"\n'
    source += f"A: /{rng.choice(['a+b', '[ab]{2,3}', 'b|aa'])}/\nB: /{rng.choice(['0+1', '01?', '(01)+'])}/\n"
    return source + ("%ignore / +/\n" if rng.random() < 0.5 else "")


def mixed_vocabulary(rng, singles, tokens):
    longer = {"".join(rng.choices(singles, k=rng.randint(2, 4))) for _ in range(10)}
    texts = [*singles, *sorted({*rng.sample(tokens, rng.randint(len(tokens) // 2, len(tokens))), *longer})]
    return Vocabulary([*(text.encode() for text in texts), b""], eos=[len(texts)])


def check_bounds(matcher):
    """`closing_within` finds as few tokens as there are, no fewer, and says so;
    what it found out: 0 nothing, 1 that there are none, 2 the fewest."""
    least, knows = fewest_of_all(matcher), 0
    for most in range(abs(least) + 1):
        try:
            tokens = matcher.closing_within(most)
        except LimitExceededError:
            continue
        assert (tokens is not None) == (most >= least) if least > 0 else most == -least or tokens is None
        knows = max(knows, 1 if tokens is None else 2)
        if tokens is not None:
            end = matcher.fork()
            assert len(tokens) <= most and end.accept_tokens(tokens) == len(tokens) and end.is_terminated
    return knows


@pytest.mark.parametrize("limits", [Limits(), SECOND], ids=["first", "second"])
@pytest.mark.parametrize(
    "kind",
    [
        "json",
        "json in any order",
        "json of members",
        "json under conditions",
        "json with any keys",
        "json that differs",
        "json of strings",
        "json of totals",
        "json that nests",
        "lark",
        "regex",
    ],
)
def test_against_all_texts_of_tokens(kind, limits):
    rng = random.Random(kind)
    made = {
        "json": lambda: Grammar.from_json_schema(schemas(rng), whitespace=rng.choice(["compact", (",", ": ")]), limits=limits),
        "json in any order": lambda: Grammar.from_json_schema(
            schemas(rng), property_order="any", whitespace="compact", unique_keys=rng.random() < 0.3, limits=limits
        ),
        "json of members": lambda: of_any(
            lambda: members(rng), whitespace="compact", property_order=rng.choice(["any", "schema"]), limits=limits
        ),
        "json under conditions": lambda: Grammar.from_json_schema(conditions(rng), whitespace="compact", limits=limits),
        "json that differs": lambda: of_any(lambda: distinct(rng), whitespace=rng.choice(["compact", "flexible"]), limits=limits),
        "json of strings": lambda: of_any(lambda: strings(rng), whitespace=rng.choice(["compact", "flexible"]), limits=limits),
        "json of totals": lambda: of_any(
            lambda: totals(rng),
            whitespace="compact",
            property_order=rng.choice(["any", "schema"]),
            unique_keys=rng.random() < 0.5,
            limits=limits,
        ),
        "json that nests": lambda: Grammar.from_json_schema(
            nested(rng), property_order=rng.choice(["any", "any", "schema"]), whitespace="compact", limits=limits
        ),
        "json with any keys": lambda: Grammar.from_json_schema(
            any_keys(rng), whitespace=rng.choice(["compact", "flexible"]), limits=limits
        ),
        "lark": lambda: Grammar.from_lark(larks(rng), limits=limits),
        "regex": lambda: Grammar.from_regex(rng.choice(PATTERNS[2:]), limits=limits),
    }[kind]
    vocabulary = {
        "json": functools.partial(mixed_vocabulary, rng, '{}[]":,ab01 -truefalsn', JSON_TOKENS),
        "lark": functools.partial(mixed_vocabulary, rng, "()[]+,ab01 ", ["(a", ")+", "+0", "a,", ",a", "]+", "))", "((", "[0", "b,", " +"]),
        "regex": functools.partial(vocabulary_of, rng),
    }[kind.split()[0]]
    known = []
    for _ in range(8):
        matcher = Matcher(made(), vocabulary())
        for _ in range(25):
            if matcher.is_terminated:
                break
            known.append(check_bounds(matcher))
            matcher.accept(rng.choice(matcher.allowed_tokens()))
    assert known.count(0) < len(known) / 4 and known.count(2) > len(known) / 8


def fewest_found(schema, **options):
    matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact", **options), Vocabulary.builtin())
    n = len(matcher.closing_tokens())
    while (tokens := matcher.closing_within(n - 1)) is not None:
        n = len(tokens)
    return n


@pytest.mark.parametrize("values", [["number", "object", "string", "null"], ["array", "array", "boolean", "string"]])
def test_any_order_takes_what_the_best_order_does(values):
    """The searches in any order come to their end, since of members that differ in what they take each is counted."""
    properties = {key: {"type": value} for key, value in zip(["dimensions.of_it", "a", "length", "\u00fcber"], values)}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    orders = [{**schema, "properties": dict(order)} for order in itertools.permutations(properties.items())]
    least = min(fewest_found(order) for order in orders)
    assert fewest_found(schema, property_order="any") == least


ITEMS = {"type": ["string", "integer", "null"]}


@pytest.mark.parametrize("options", [{}, {"property_order": "any"}], ids=["in order", "in any order"])
@pytest.mark.parametrize(
    ("schema", "least"),
    [
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 4}, 10),
        ({"type": "array", "items": ITEMS, "uniqueItems": True, "minItems": 3, "contains": {"const": "x"}}, 6),
        ({"type": "array", "contains": {"type": "string", "format": "uuid"}, "minContains": 2}, 28),
        (
            {
                "type": "array",
                "items": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "object", "required": ["a"]}]},
                "minItems": 3,
            },
            12,
        ),
        (
            {
                "type": "object",
                "patternProperties": {"^a": {"type": "string", "format": "email"}, "^b": {"type": "null"}},
                "additionalProperties": False,
                "minProperties": 3,
            },
            14,
        ),
    ],
    ids=["distinct", "one of them", "several of them", "of two ways", "of any keys"],
)
def test_totals_and_conditions_are_decided(schema, least, options):
    """That so many members must come, by whatever way, is known: else all their values would be looked at, and the search given up."""
    assert fewest_found(schema, limits=Limits(max_step_work=1_000_000), **options) == least


def test_a_key_whose_first_way_is_dead():
    """The key `a` may be an object without an instance, or a number: what the other keys take is known all the same."""
    endless = {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/endless"}}}
    properties = {
        "a": {"anyOf": [{"$ref": "#/$defs/endless"}, {"const": 1}]},
        "u": {"type": "string", "minLength": 24},
        "b": {"type": "string", "pattern": "^([a-z]{30,40}|ab{60})$"},
    }
    schema = {
        "$defs": {"endless": endless},
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    plain, asked = (
        Matcher(Grammar.from_json_schema(each), Vocabulary.builtin())
        for each in (schema, {**schema, "not": {"patternProperties": {"": {"type": "integer"}}}})
    )
    closing = plain.closing_within(19)
    assert asked.fork().accept_tokens(closing) == len(closing)
    found = asked.closing_within(19)
    assert found is not None and len(found) <= 19


NAMES = "title document_type base_path content_id description details phase links locale redirects app routes schema update_type version".split()
VALUES = ["string", "number", "array", "object", "boolean"]


def record(values, names=NAMES):
    return {"type": "object", "properties": dict(zip(names, itertools.cycle(values))), "required": list(names)}


def test_many_members_in_any_order():
    """Of 15 members of a few kinds there are few places, not 2^15 sets."""
    schema = record([{"type": value} for value in VALUES])
    in_order = fewest_found(schema)
    assert in_order - 2 <= fewest_found(schema, property_order="any", limits=Limits(max_step_work=2_000_000)) <= in_order


@pytest.mark.parametrize(
    "schema",
    [
        record([{"type": "string", "maxLength": 100, "pattern": r"^(?:\S+\s+){0,9}\S+$"}]),  # each length is an expression of its own
        record([record([True], NAMES[:6])]),  # the shortest text takes half as many tokens again
    ],
    ids=["counted", "long"],
)
def test_a_search_is_led_by_what_is_left(schema):
    grammar = Grammar.from_json_schema(schema, whitespace="compact", limits=Limits(max_step_work=2_000_000))
    matcher = Matcher(grammar, Vocabulary.builtin())
    shortest = len(matcher.closing_tokens())
    found = matcher.closing_within(shortest - 1)
    assert found is not None and len(found) < shortest
    while (fewer := matcher.closing_within(len(found) - 1)) is not None:
        found = fewer


def test_values_before_are_in_the_way_of_none():
    """Of texts that differ in a value alone few are searched; one that has
    the only value that is left is among them, however many came before."""
    keys = "abcdefgh"
    texts = ["[", '"z', 'b"]', "c", *(f'"{key}b",' for key in keys), *(f'"{key}' for key in keys)]
    vocabulary = Vocabulary([*(text.encode() for text in texts), b""], eos=[len(texts)])
    items = {"type": "string", "pattern": "^[a-z](b|c)$"}
    schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": len(keys) + 1}
    matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact"), vocabulary)
    least = 1 + len(keys) + 2 + 1
    assert matcher.closing_within(least - 1) is None
    assert len(matcher.closing_within(least)) == least


@pytest.mark.parametrize(("first", "then"), [('["{}"', ',"a"]'), ('["{}', '","a"]')], ids=["read", "under way"])
def test_a_value_that_is_to_come_is_in_the_way_of_one(first, then):
    """Lists that begin with a, or else, and can only end with a: that the first of them is in its own way says nothing of the others."""
    texts = [*(first.format(key) for key in "abcdefghij"), then]
    schema = {"type": "array", "items": {"type": "string", "pattern": "^[a-j]$"}, "uniqueItems": True, "minItems": 2}
    vocabulary = Vocabulary([*(text.encode() for text in texts), b""], eos=[len(texts)])
    matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact", limits=SECOND), vocabulary)
    assert matcher.closing_within(2) is None
    assert len(matcher.closing_within(3)) == 3


def test_a_bound_of_what_is_not_known_in_full():
    """Of hundreds of texts but one is short in tokens, and not all of them are looked at."""
    rng = random.Random(0)
    heads = ["".join(head) for head in itertools.product("abcdefghijklmno", repeat=2)]
    values = [head + "".join(rng.choices("01", k=12)) for head in heads]
    texts = ['"', "0", "1", *heads, values[len(values) // 2][2:] + '"']
    vocabulary = Vocabulary([*(text.encode() for text in texts), b""], eos=[len(texts)])
    for pattern in ("^(" + "|".join(values) + ")$", None):
        schema = {"type": "string", "pattern": pattern} if pattern else {"enum": values}
        matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact", limits=SECOND), vocabulary)
        assert matcher.closing_within(3) is None
        assert len(matcher.closing_within(4)) == 4


def test_a_text_with_white_space_behind_it_is_taken_for_any_text():
    """A lexeme with too many derivatives is asked of a looser one, which is not to say that it takes more than it does."""
    names = {"type": "string", "pattern": "^([ab]*a[ab]{13}|ab)$"}
    for schema in (names, {"type": "object", "properties": {"a": names}, "required": ["a"]}):
        matcher = Matcher(Grammar.from_json_schema(schema, limits=Limits(max_step_work=400_000)), vocabulary_of_json())
        n = len(matcher.closing_tokens())
        while (tokens := matcher.closing_within(n - 1)) is not None:
            n = len(tokens)
        assert n == (2 if schema is names else 4)


def vocabulary_of_json():
    """Every byte that is printed, and few texts."""
    texts = [*map(chr, range(32, 127)), '{"a":', '"ab"', '{"a', '":', "ab", "aa", "bb", '"}']
    return Vocabulary([*(text.encode() for text in texts), b""], eos=[len(texts)])


def test_keys_of_any_text_are_not_tried_one_by_one():
    refused = [{"not": {"patternProperties": {key: {"type": "array", "minItems": 1}}}} for key in "ab"]
    schema = {"type": "object", "oneOf": refused, "additionalProperties": {"multipleOf": 10}, "minProperties": 2}
    assert fewest_found(schema) <= 7


def path_of_members(n):
    """Members whose order is a path in a graph: where two of them are
    joined by an edge, one token stands for five. With the fewest tokens."""
    rng = random.Random(1)
    keys = "abcdefghijklmnopqrst"[:n]
    path = rng.sample(keys, n)
    edges = {*itertools.pairwise(path)}
    while len(edges) < 2 * n:
        edges.add(tuple(rng.sample(keys, 2)))
    texts = [*sorted({*'{}":,', *keys}), *(f'{a}","{b}' for a, b in sorted(edges))]
    schema = {**record([True], keys), "properties": {key: {"const": key} for key in keys}, "additionalProperties": False}
    return schema, Vocabulary([*(text.encode() for text in texts), b""], eos=[len(texts)]), 8 * n + 2 - 4 * (n - 1)


def test_a_hard_case_wants_a_higher_limit():
    """To find a path through all members is hard (Hamilton's); what is not found out is an error that names the limit."""
    schema, vocabulary, least = path_of_members(20)
    given = [Limits(max_step_work=work) for work in (50_000, 5_000_000)]
    few, many = (
        Matcher(Grammar.from_json_schema(schema, property_order="any", whitespace="compact", limits=limits), vocabulary) for limits in given
    )
    assert len(few.closing_tokens()) > least
    with pytest.raises(LimitExceededError, match=r"max_step_work = 50,000 .* raise it"):
        few.closing_within(least)
    assert len(many.closing_within(least)) == least
    assert many.closing_within(least - 1) is None


@pytest.mark.parametrize("required", [True, False])
def test_host_names_cost_little(required):
    """An A-label has a state for each text, and none of them is visited to tell what comes behind a host name."""
    schema = {"properties": {"host": {"type": "string", "format": "hostname"}, "of": {"type": "boolean"}}}
    schema |= {"type": "object", "required": ["host", "of"] if required else ["of"]}
    assert fewest_found(schema, limits=Limits(max_step_work=400_000)) == (11 if required else 6)


def test_choices_of_any_length():
    rng = random.Random(0)
    n_better = 0
    for _ in range(60):
        texts = sorted({"".join(rng.choices(ALPHABET, k=rng.randint(1, 12))) for _ in range(6)})
        matcher = Matcher(Grammar.from_choices(texts), vocabulary_of(rng))
        n_better += check(matcher, [text.encode() for text in texts]) < len(matcher.closing_tokens())
    assert n_better > 5


def test_a_vocabulary_that_lacks_bytes():
    rng = random.Random(1)
    sentences, grammar = sentences_of("[ab]{3,7}0?"), Grammar.from_regex("[ab]{3,7}0?")
    checked = [check(Matcher(grammar, vocabulary_of(rng, spares="b")), sentences) for _ in range(20)]
    assert any(checked)


def test_the_end():
    vocabulary = vocabulary_of(random.Random(0))
    matcher = Matcher(Grammar.from_regex("a*"), vocabulary)
    assert matcher.closing_within(0) is None
    assert matcher.closing_within(1) == [vocabulary.eos[0]]
    matcher.accept(vocabulary.eos[0])
    assert matcher.closing_within(0) == []
    without_end = Matcher(Grammar.from_regex("a*"), Vocabulary([b"a"], eos=[]))
    assert without_end.closing_within(0) == []


@pytest.mark.parametrize(
    ("schema", "limits"),
    [
        ({"type": "string", "minLength": 1_000_000}, Limits()),
        ({"type": "string", "minLength": 400}, Limits(max_lexer_states=300)),
        ({"type": "string", "minLength": 400}, Limits(max_configurations=300)),
        ({"type": "array", "items": {"type": "string"}, "minItems": 400}, Limits(max_rows=300)),
    ],
)
def test_a_closing_that_is_far_too_long_is_not_made(schema, limits):
    matcher = Matcher(Grammar.from_json_schema(schema, limits=limits), Vocabulary.builtin())
    assert matcher.closing_within(0) is None
    assert matcher.closing_within(3) is None
    with pytest.raises(LimitExceededError):
        matcher.closing_tokens()


def test_a_search_that_takes_too_much():
    grammar = Grammar.from_regex("([ab]{3}0){2000}", limits=Limits(max_step_work=100_000))
    matcher = Matcher(grammar, vocabulary_of(random.Random(0)))
    with pytest.raises(LimitExceededError, match="max_step_work"):
        matcher.closing_within(4000)
    closing = matcher.closing_tokens()
    assert matcher.closing_within(len(closing)) == closing  # which takes no search


@pytest.mark.parametrize(("most", "kind"), [(-1, ValueError), (1.0, TypeError), (True, TypeError), ("1", TypeError)])
def test_misuse(most, kind):
    with pytest.raises(kind, match="most is"):
        Matcher(Grammar.from_regex("a"), Vocabulary.bytes()).closing_within(most)


@pytest.mark.parametrize("work", [1_000_000, 10_000_000])
def test_a_bound_by_one_condition_is_no_more_than_the_truth(work):
    """With less work the search is led by what each condition of a string takes alone."""
    patterns = [{"pattern": pattern} for pattern in ("ab1", "b12", "bc1", "c12", "ca1", "a12")]
    schema = {"type": "string", "pattern": "[aA][12].*[zZ]", "minLength": 10, "maxLength": 90, "anyOf": patterns}
    matcher = Matcher(Grammar.from_json_schema(schema, limits=Limits(max_step_work=work)), Vocabulary.builtin())
    tokens = matcher.closing_within(6)
    assert len(tokens) == 6 and matcher.accept_tokens(tokens) == 6 and matcher.is_terminated
    assert Matcher(matcher.grammar, matcher.vocabulary).closing_within(5) is None


@pytest.mark.parametrize(("n", "least"), [(1, 12), (2, 22)])
def test_many_patterns_in_one_string(n, least):
    """That a text has met some of them is what tells it from others of its length."""
    patterns = ["xy7", "y78", "yz7", "z78", "qa", "ab", "be9"]
    schema = {"type": "string", "allOf": [{"pattern": pattern} for pattern in patterns], "minLength": 45, "maxLength": 45}
    if n > 1:
        schema = {"type": "array", "items": schema, "minItems": n}
    grammar = Grammar.from_json_schema(schema, whitespace="compact", limits=Limits(max_step_work=2_000_000))
    tokens = Matcher(grammar, Vocabulary.builtin()).closing_within(least)
    matcher = Matcher(grammar, Vocabulary.builtin())
    assert len(tokens) == least and matcher.accept_tokens(tokens) == least and matcher.is_terminated


def of_moments(sign="-", n=3):
    """So many moments and two members more. Those of two signs have few derivatives in common."""
    moment = {"type": "string", "pattern": r"\d{4}C\d{2}C\d{2}T\d{2}:\d{2}:\d{2}.\d{6}".replace("C", sign)}
    members = {**{f"d{i}": moment for i in range(n)}, "id": {"type": "integer"}, "s": {"type": "string"}}
    return {"type": "object", "properties": members, "required": list(members)}


@pytest.mark.parametrize(("most", "found"), [(64, 63), (62, None)])
def test_what_was_asked_before_takes_nothing_away(most, found):
    """The table of an engine is made for what is asked, and may take but so much;
    a search in vain is not to depend on what others have used of it."""
    schemas = [{"type": "object", "properties": {f"q{i}": of_moments(sign)}, "required": [f"q{i}"]} for i, sign in enumerate("-ZzuvwxytA")]
    schema = {"anyOf": [{**one, "additionalProperties": False} for one in schemas]}
    grammar = Grammar.from_json_schema(
        schema, property_order="any", whitespace="compact", number_style="any", limits=Limits(max_step_work=400_000)
    )
    matcher = Matcher(grammar, Vocabulary.builtin())
    for i in [*range(len(schemas)), 0]:
        fork = matcher.fork()
        fork.accept_bytes(b'{"q%d":' % i)
        tokens = fork.closing_within(most)
        assert tokens is None if found is None else len(tokens) == found


@pytest.mark.parametrize(("n", "least"), [(6, 39), (8, 47), (16, 79)])
def test_members_among_which_are_such_objects(n, least):
    """They differ in what they take, which is not known yet where the objects within are looked at."""
    keys = "name description isStack isNew creditPrice flair id contentId order price url image market product featured largest".split()
    members = {key: {"type": "boolean" if i % 2 else "string"} for i, key in enumerate(keys[:n])}
    members["packs"] = {"type": "array", "items": {"$ref": "#"}}
    schema = {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
    matcher = Matcher(Grammar.from_json_schema(schema, property_order="any", limits=SECOND), Vocabulary.builtin())
    assert len(matcher.closing_within(least)) == least
    assert matcher.closing_within(least - 1) is None


@pytest.mark.parametrize(
    ("n", "work", "least", "comes_to_its_end"),
    [(1, 300_000, 27, True), (2, 1_000_000, 45, True), (3, 300_000, 63, False), (3, 1_000_000, 63, True)],
)
def test_a_table_on_which_more_is_spent(n, work, least, comes_to_its_end):
    """Members in any order, of which each has some hundred derivatives:
    with the usual part of the work for each, too little is known of all of them."""
    grammar = Grammar.from_json_schema(of_moments(n=n), property_order="any", number_style="any", limits=Limits(max_step_work=work))
    matcher = Matcher(grammar, Vocabulary.builtin())
    assert len(matcher.closing_tokens()) > least
    assert len(matcher.closing_within(least)) == least
    if comes_to_its_end:
        assert matcher.closing_within(least - 1) is None
    else:
        with pytest.raises(LimitExceededError, match="max_step_work"):
            matcher.closing_within(least - 1)


def test_patterns_under_a_common_one_do_not_multiply():
    """A text is in few states, whichever of the patterns it has met."""
    patterns = [{"pattern": pattern} for pattern in ("ab1", "b12", "bc1", "c12", "ca1", "a12")]
    grammar = Grammar.from_json_schema({"type": "string", "pattern": "[aA][12].*[zZ]", "anyOf": patterns})
    assert TokenDFA.from_grammar(grammar, Vocabulary.builtin()).num_states < 200


@pytest.mark.parametrize("n", [90, 210, 330])
@pytest.mark.parametrize("work", [2_000, 5_000, 100_000])
def test_rules_that_are_far_within_each_other(n, work):
    """What costs are made of may be further away than costs are begun within each other at once."""
    rules = "\n".join(f'r{i}: "a" q q r{i + 1}' for i in range(n))
    grammar = Grammar.from_lark(f'start: r0\n{rules}\nr{n}: "b"\nq: "x" | "y" "y" | /"[ab]*"/\n', limits=Limits(max_step_work=work))
    tokens = [b"a", b"b", b"x", b"y", b'"', b"ab"]
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    may_be_given_up = contextlib.suppress(LimitExceededError) if work < 100_000 else contextlib.nullcontext()
    with may_be_given_up:
        assert Matcher(grammar, vocabulary).closing_within(3 * n + 1) is None
    for most in (3 * n + 2, 60_000):
        with may_be_given_up:
            found = Matcher(grammar, vocabulary).closing_within(most)
            assert found is not None and len(found) == 3 * n + 2


@pytest.mark.parametrize("n", [150, 400])
@pytest.mark.parametrize("other", [{"additionalProperties": False}, {}])
def test_many_required_keys_in_any_order(n, other):
    """Hundreds of keys that may all come next: the closing is found within the limit, and it is the shortest text."""
    keys = [f"k{i}" for i in range(n)]
    schema = {"type": "object", "properties": {key: {"const": 0} for key in keys}, "required": keys, **other}
    grammar = Grammar.from_json_schema(schema, whitespace="compact", property_order="any", unique_keys=not other)
    shortest = len(json.dumps(dict.fromkeys(keys, 0), separators=(",", ":")))
    matcher = Matcher(grammar, Vocabulary.bytes())
    assert len(matcher.closing_bytes()) == shortest
    assert len(Matcher(grammar, Vocabulary.bytes()).closing_within(60_000)) == shortest + 1
    begun = b'{"k7":0,"k11":0,"k'
    assert matcher.accept_bytes(begun) and len(matcher.closing_bytes()) == shortest - len(begun)
