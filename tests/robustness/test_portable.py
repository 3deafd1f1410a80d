"""Grammars as bytes: the same grammar comes back, and what is no grammar is refused by name."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from exactness import grammars
from grammar_engine import Grammar, GrammarEngineError, GrammarError, LimitExceededError, Limits, Matcher, Vocabulary, ir, portable
from grammar_engine.fragment import Fragment

SCHEMA = {
    "properties": {"\u00fc": {"enum": ["é", None, 1.5]}, "n": {"multipleOf": 0.01, "maximum": 7}, "list": {"items": {"$ref": "#"}}, "set": {"items": {"type": "integer"}, "uniqueItems": True}},
    "required": ["n"],
    "title": "annotated",
}  # fmt: skip
MADE = {
    "schema": lambda: Grammar.from_json_schema(SCHEMA, property_order="any", lenient=True),
    "regex": lambda: Grammar.from_regex(r"(?i)[a-c]{2,900}|\w+"),
    "lark": lambda: Grammar.from_lark('start: (A | "if" start)+\nA: /[a-z]+/\n%ignore " "', lexing="longest"),
    **{
        f"{white} {schema}": partial(Grammar.from_json_schema, schema, whitespace=white)
        for white in ("flexible", "compact", "bounded")
        for schema in ('{"type": "integer"}', '{"const": "a"}', '{"enum": [null, 1]}', '{"type": "string", "format": "date"}')
    },
    "choices": lambda: Grammar.from_choices(["yes", b"\xff\x00"]),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_comes_back_is_the_same(make: Any) -> None:
    grammar = make()
    content = grammar.to_bytes()
    for again in (Grammar.from_bytes(content), Grammar.from_bytes(memoryview(content)), pickle.loads(pickle.dumps(grammar))):
        assert again.to_bytes() == content and repr(again) == repr(grammar) and str(again.report) == str(grammar.report)
        vocabulary, rng = Vocabulary.bytes(), random.Random(1)
        one, other = Matcher(grammar, vocabulary), Matcher(again, vocabulary)
        for _ in range(40):
            assert one.mask() == other.mask() and one.explain(0) == other.explain(0)
            if not (allowed := [token for token in one.allowed_tokens() if token not in vocabulary.eos]):
                break
            token = rng.choice(allowed)
            assert one.accept(token) and other.accept(token)


def test_all_kinds_of_rules_come_back() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        builder, _ = grammars.random_grammar(rng, special=seed % 3 == 0, longest=seed % 3 == 1)
        try:
            grammar = Grammar._from_builder(builder)
        except GrammarError:
            continue
        again = Grammar.from_bytes(grammar.to_bytes())
        one, other = Matcher(grammar, Vocabulary.bytes()), Matcher(again, Vocabulary.bytes())
        for _ in range(6):
            assert one.mask() == other.mask()
            if one.is_complete or not one.accept(other.allowed_tokens()[0]):
                break
            other.accept(other.allowed_tokens()[0])


def test_the_same_source_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    script = f"import sys, grammar_engine as g; sys.stdout.buffer.write(g.Grammar.from_json_schema({SCHEMA!r}).to_bytes())"
    runs = {
        subprocess.run(  # elsewhere, so that it is the package under test that is imported
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, cwd=tmp_path, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {Grammar.from_json_schema(SCHEMA).to_bytes()}


def test_the_format_changes_when_the_ir_does() -> None:
    """Numbers and records of operators: with other ones, the number of the format goes up."""
    b = ir.Builder()
    one, other = b.string("é"), b.chars([(0, 9)])
    exprs = [
        b.byte_set(b"ab"),
        b.concat(one, other),
        b.intersect(one, b.complement(other)),
        b.repeat(one, 2, None),
        b.literals([b"x", b"yz"]),
    ]
    exprs += [b.pattern("a+"), b.json(b.text, ir.ESCAPES_ALL), b.multiple_of(25, 2, 0, 100), b.punycode(), b.host_name(), b.syntax()]
    exprs.append(b.copy(Fragment(lambda own: own.concat(own.bytes(b"12345"), own.text))))
    b.start = b.nonterminal("start")
    key, item = b.lexeme(b.union(*exprs), "all"), b.lexeme(one, "skip", skip=True)
    bag = b.bag([ir.Way((key,), (0,), 1, True)], [(0, 2)], None, "bag", ranked=True, asks={0: [0]}, choices=[(None, [[0]])])
    b.rule(b.start, [b.list_of(key, None, 1, 3, "list"), bag])
    records = portable.Records.of(b)
    digest = hashlib.sha256(b"|".join([*map(bytes, records[:5]), records.data]))
    digest.update(str((records.start, item)).encode())
    assert (portable._MAGIC, digest.hexdigest()[:16]) == (b"ge-gram9", "e10581eec8c67346")


def forged(content: bytes, change: Any) -> bytes:
    """The same with other content, and the digest of that."""
    begin = 8 + 16
    body = change(content[begin:])
    return content[:8] + hashlib.blake2b(body, digest_size=16).digest() + body


def told(change: Any) -> Any:
    """A change of the JSON in the content."""

    def of_body(body: bytes) -> bytes:
        lengths = list(struct.unpack_from("<7I", body))
        text = json.loads(body[28 : 28 + lengths[0]])
        change(text)
        new = json.dumps(text).encode()
        return struct.pack("<7I", len(new), *lengths[1:]) + new + body[28 + lengths[0] :]

    return of_body


def test_a_pattern_that_cannot_be_read_again_is_an_error_of_its_own() -> None:
    """It is read anew, under the limits of the process that reads, and told as it is where a front end reads it."""
    content = Grammar.from_regex("(((a)))b").to_bytes()
    with pytest.raises(LimitExceededError, match=r"max_regex_nesting = 2 is reached: groups of the regular expression .*\(\(\(a\)\)\)b"):
        Grammar.from_bytes(content, limits=Limits(max_regex_nesting=2))
    with pytest.raises(GrammarError, match="malformed regular expression"):
        Grammar.from_bytes(forged(content, lambda body: body[:-8] + b"(((a))))"))


def test_what_is_damaged_is_refused() -> None:
    content = Grammar.from_regex("ab?").to_bytes()
    for place in range(len(content)):
        for damaged in (content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :], content[:place]):
            with pytest.raises(GrammarError, match="not taken for a grammar"):
                Grammar.from_bytes(damaged)
    with pytest.raises(TypeError, match="not str"):
        Grammar.from_bytes("ge-gram4")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.update(version="0.0.1"), "compiled by version 0.0.1.*compile its source again"),
        (lambda text: text.pop("report"), "do not fit"),
        (lambda text: text["lexemes"][0].append("more"), "do not fit"),
        *(
            (lambda text, start=start: text.update(start=start), "do not fit")
            for start in (-1, 2, 3, 1 << 32, 1 << 64, float("inf"), True, "1")
        ),
        (lambda text: text.update(lexemes=[[[]], [None]]), "do not fit"),
        (lambda text: text.update(lexemes=[["a"], [3]]), "do not fit"),
        (lambda text: text["report"].__setitem__(0, [[1], [2], [3]]), "do not fit"),
        (lambda text: text.update(lexemes=3), "do not fit"),
        *((lambda text, named=named: text.update(named=named), "do not fit") for named in (3, [""], [-1], [None], [[1]], ["a\n"], None)),
    ],
)
def test_what_does_not_fit_together_is_refused(change: Any, reason: str) -> None:
    content = Grammar.from_regex("ab?").to_bytes()
    with pytest.raises(GrammarError, match=reason):
        Grammar.from_bytes(forged(content, told(change)))


def test_deep_json_is_refused() -> None:
    content = Grammar.from_regex("ab?").to_bytes()
    text = b"[" * 100_000
    changed = forged(content, lambda body: struct.pack("<7I", len(text), *struct.unpack_from("<7I", body)[1:]) + text)
    with pytest.raises(GrammarError, match="do not fit"):
        Grammar.from_bytes(changed)


def test_another_format_is_refused_by_that_name() -> None:
    content = Grammar.from_regex("ab?").to_bytes()
    with pytest.raises(GrammarError, match=r"another format.*compile its source again"):
        Grammar.from_bytes(content[:7] + b"0" + content[8:])


def test_forged_operands_are_looked_at() -> None:
    """Each word, changed in turn, with a digest that vouches for it: refused by name, or a grammar."""
    content = Grammar.from_json_schema(
        {"properties": {"a": {"maxLength": 3}, "b": {"items": {}}}, "dependentRequired": {"a": ["b"]}}
    ).to_bytes()
    n_text = struct.unpack_from("<I", content, 24)[0]
    rng, refused = random.Random(3), 0
    for at in range(24 + 28 + n_text, len(content) - 4, 4):
        word = rng.choice([0, 1, 2, 7, 1 << 20, 0xFFFFFFFF])
        place = at - 24
        changed = forged(content, lambda body, place=place, word=word: body[:place] + struct.pack("<I", word) + body[place + 4 :])
        try:
            Matcher(Grammar.from_bytes(changed, limits=Limits(max_step_work=200_000)), Vocabulary.bytes()).mask()
        except GrammarEngineError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("literal", [b"!rue", b'"r\\u', b'"\\ue', b"-rue", b"1e+e", b"\x00rue"])
def test_forged_literals_have_values(literal: bytes) -> None:
    """Of items that differ from each other, which is told by their values: masks may be wrong, and nothing else."""
    schema = {"type": "array", "uniqueItems": True, "items": {"type": ["boolean", "integer"]}}
    content = Grammar.from_json_schema(schema, whitespace="compact").to_bytes()
    assert content.count(b"true") == 1
    matcher = Matcher(Grammar.from_bytes(forged(content, lambda body: body.replace(b"true", literal))), Vocabulary.bytes())
    assert matcher.accept_bytes(b"[" + literal)
    for text in (b",", b"12,", b"false,", b"3"):
        matcher.mask()
        matcher.accept_bytes(text)


def test_limits_are_not_among_the_bytes() -> None:
    grammar = Grammar.from_regex("[ab]{1,50}", limits=Limits(max_lexer_states=1000))
    assert pickle.loads(pickle.dumps(grammar)).limits == grammar.limits and Grammar.from_bytes(grammar.to_bytes()).limits == Limits()
    again = Grammar.from_bytes(grammar.to_bytes(), limits=Limits(max_lexer_states=5))
    with pytest.raises(LimitExceededError, match="max_lexer_states"):
        Matcher(again, Vocabulary.bytes()).accept_bytes(b"abababababab")


def test_to_take_it_from_bytes_is_less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """No front end has a part in it."""
    content = Grammar.from_json_schema(SCHEMA).to_bytes()
    for name in [name for name in sys.modules if name.startswith("grammar_engine.frontends")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert Grammar.from_bytes(content).to_bytes() == content
