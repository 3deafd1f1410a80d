"""Random small JSON schemas: masks equal the oracle's on the same IR, and what comes out satisfies `jsonschema`.

Two claims, kept apart. That the core does what the IR says is compared bit by bit. That the IR says what the schema says is asked of
`jsonschema`: each text that the engine ends is an instance, and each random instance is accepted exactly if it is valid.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema

from exactness.walk import Walk
from grammar_engine import ir
from grammar_engine.errors import UnsatisfiableSchemaError, UnsupportedSchemaError
from grammar_engine.limits import Limits
from oracle import expr as ex
from vocabularies import TinyVocabulary

PIECES = b'{"~":~","~"a"~{"a":~[]~{}~[1~],~true~null~12~0.5~-1~"}~}]~, ~aa~""'.split(b"~")
SINGLE = [bytes([byte]) for byte in b'{}[]:," \nab0125-.eE+truefalsn\\x']
VOCABULARY = TinyVocabulary((*dict.fromkeys(SINGLE), *PIECES, b"\xc3", b"\xa9", b""), (len(set(SINGLE)) + len(PIECES) + 2,))


def random_schema(rng: random.Random, depth: int) -> Any:
    kinds = ["string", "integer", "number", "enum", "boolean", "pattern"]
    kind = rng.choice([*kinds, "object", "object", "array", "anyOf", "prefix"] if depth else kinds)
    if kind == "string":
        return {"type": "string", **rng.choice([{}, {"maxLength": 2}, {"minLength": 1, "maxLength": 3}])}
    if kind == "integer":
        return {"type": "integer", **rng.choice([{}, {"minimum": -1, "maximum": 12}, {"multipleOf": 5, "minimum": 0}])}
    if kind == "number":
        return {"type": "number", **rng.choice([{}, {"minimum": 0, "exclusiveMaximum": 2}])}
    if kind == "enum":
        return {"enum": rng.sample(["a", "ab", 1, 12, None, True, [1], {"a": 1}, ""], rng.randint(1, 4))}
    if kind == "boolean":
        return {"type": ["boolean", "null"]}
    if kind == "pattern":
        return {"type": "string", "pattern": rng.choice(["^a+$", "a", "^(a|b){1,2}$", "b$"]), "maxLength": 4}
    if kind == "array":
        low = rng.randint(0, 2)
        return {"type": "array", "items": random_schema(rng, depth - 1), "minItems": low, "maxItems": low + rng.randint(0, 2)}
    if kind == "prefix":
        return {"type": "array", "prefixItems": [random_schema(rng, depth - 1)], "items": rng.choice([False, random_schema(rng, 0)])}
    if kind == "anyOf":
        return {"anyOf": [random_schema(rng, depth - 1) for _ in range(2)]}
    names = rng.sample(["a", "b", "ab"], rng.randint(0, 3))
    return {
        "type": "object",
        "properties": {name: random_schema(rng, depth - 1) for name in names},
        "required": [name for name in names if rng.random() < 0.5],
        "additionalProperties": rng.choice([False, False, {"type": "integer"}]),
    }


def random_instance(rng: random.Random, schema: Any) -> Any:
    """Something that is often, not always, an instance."""
    if rng.random() < 0.08 or not isinstance(schema, dict):
        return rng.choice([None, True, 1, 12, -1, 0.5, "a", "ab", "", [], [1], {}, {"a": 1}])
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        return random_instance(rng, rng.choice(schema["anyOf"]))
    kind = schema["type"]
    if kind == "object":
        properties = schema["properties"]
        made = {name: random_instance(rng, inner) for name, inner in properties.items() if name in schema["required"] or rng.random() < 0.6}
        return {**made, "b2": 5} if rng.random() < 0.3 else made
    if kind == "array":
        prefix = [random_instance(rng, inner) for inner in schema.get("prefixItems", ())]
        return prefix + [random_instance(rng, schema["items"]) for _ in range(rng.randint(0, 3))]
    choices = {"string": ["", "a", "aa", "ab", "b", "aab", "abab"], "integer": [-1, 0, 5, 12, 25], "number": [0, 0.5, 1.5, 2, -1, 12]}
    return rng.choice(choices[kind]) if isinstance(kind, str) else rng.choice([True, None])


def compile_ir(schema: Any, whitespace: str) -> ir.Builder:
    """The front end's IR, with the oracle as its judge of emptiness."""
    from grammar_engine.frontends import json_schema

    builder, limits = ir.Builder(), Limits()
    decoded = json_schema.load(json.dumps(schema), limits)

    json_schema.build(builder, decoded, json_schema.Options(whitespace), limits, ex.Questions(builder))
    return builder


def test_masks_and_instances(long_run: bool) -> None:
    from grammar_engine import Grammar, Matcher, Vocabulary

    native, everything = VOCABULARY.build(), Vocabulary.bytes()
    masks = compiled = ended = valid = invalid = 0
    for seed in range(4000 if long_run else 120):
        rng = random.Random(f"schema {seed}")
        schema = random_schema(rng, 2)
        whitespace = rng.choice(["compact", "flexible"])
        try:
            builder = compile_ir(schema, whitespace)
        except (UnsupportedSchemaError, UnsatisfiableSchemaError):
            continue
        compiled += 1
        walk = Walk(builder, VOCABULARY, rng, vocabulary=native)
        for _ in range(2):
            masks -= walk.masks
            masks += walk.run(12, laws=0.1)
            if walk.matcher is not None and walk.matcher.is_complete:
                text = b"".join(walk.tokens[i] for i in walk.matcher.tokens)
                if not re.search(rb"\d[eE]", text):  # 1e400 is an integer in JSON and infinite in Python
                    jsonschema.validate(json.loads(text), schema, cls=jsonschema.Draft202012Validator)
                    ended += 1
        matcher = Matcher(Grammar.from_json_schema(schema), everything)
        for _ in range(10):
            instance = random_instance(rng, schema)
            expected = jsonschema.Draft202012Validator(schema).is_valid(instance)
            matcher.reset()
            accepted = matcher.accept_bytes(json.dumps(instance, ensure_ascii=False).encode()) and matcher.is_complete
            assert accepted == expected, (schema, instance)
            valid += accepted
            invalid += not accepted
    assert masks > (50_000 if long_run else 1_500)
    assert compiled > 80
    assert min(ended, valid, invalid) > 50
