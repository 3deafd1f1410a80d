"""A real tokenizer: masks over the vocabulary that ships with the package, with all fast paths on and all off, on the sample grammars.

The oracle is too slow for thousands of tokens; the walk of the whole trie without any cache was compared with it in small worlds, and
is the reference here. Each text is walked twice, so that lexeme-internal masks (made at the second visit) are seen at work.
"""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary

VOCABULARY = Vocabulary.builtin()
SAMPLES = Path(__file__).parents[2] / "grammars"
ALL_OFF = Switches(**dict.fromkeys((field.name for field in dataclasses.fields(Switches)), False))
PERSON = {"name": "Ada Lovelace", "note": 'a "quoted" \\ path\n with äöü, 中文 and 🎉', "list": [1, -2.5e3, None, True], "key/with~odd": {}}


def _texts():
    for source in sorted(SAMPLES.glob("*.lark")):
        for sample in sorted((SAMPLES / f"{source.stem}.accept").iterdir())[:3]:
            for lexing in ("exact", "longest"):
                yield pytest.param(source.read_text(), lexing, sample.read_bytes()[:200], id=f"{source.stem}-{sample.stem}-{lexing}")


def _same_masks(grammar: Grammar, text: bytes) -> int:
    """Walks as far as the grammar allows; returns how many masks were equal."""
    vocabulary, masks = VOCABULARY, 0
    tokens = vocabulary.encode_greedy(text)
    for _ in range(2):
        fast, slow = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=ALL_OFF)
        for token in [*tokens, *vocabulary.eos]:
            mask = fast.mask()
            assert mask == slow.mask(), f"after {text[: sum(len(vocabulary.token_bytes(t)) for t in fast.tokens)]!r}"
            masks += 1
            allowed = mask[token // 8] >> token % 8 & 1
            assert fast.accept(token) == slow.accept(token) == bool(allowed)
            if not allowed:
                break
    return masks


@pytest.mark.parametrize(("source", "lexing", "text"), list(_texts()))
def test_sample_grammars(source, lexing, text):
    assert _same_masks(Grammar.from_lark(source, lexing=lexing), text) >= 4


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "object", "additionalProperties": {"type": "string", "maxLength": 12}},
        {"properties": {"name": {"type": "string", "minLength": 2, "maxLength": 40}, "note": {"type": "string", "pattern": "quoted"}}},
        {"properties": {"name": {"type": "string", "pattern": "^[A-Z][a-z]+ [A-Z][a-z]+$"}, "list": {"items": {"multipleOf": 0.5}}}},
        {"properties": {"name": {"enum": ["Ada", "Ada Lovelace"]}}, "patternProperties": {"^k": {"type": "object"}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("escapes", ["minimal", "all"])
def test_schemas(schema, escapes):
    values = PERSON if schema is True or "properties" in schema else {"a": "short", "name2": "äöü中文🎉", "too": "x" * 13}
    grammar = Grammar.from_json_schema(schema, escapes=escapes)
    assert _same_masks(grammar, json.dumps(values, ensure_ascii=False).encode()) > 20
    stats = grammar.stats
    assert stats.slice_hits + stats.inner_builds + stats.inner_hits > 0  # the fast paths were on the way


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"pattern": r"^(?:\S+\s+){0,99}\S+$"}}, ["one  2 three\t 4", "and  5  more    words"]),
        ({"items": {"pattern": r"^\S"}}, ["no space", "before it"]),
        (
            {
                "patternProperties": {
                    "net_[a-z]+[0-9]": {"type": "null"},
                    "drive": {"type": ["null", "number"]},
                    "(home|work)": {"const": None},
                }
            },
            {"a net_b2": None, "drive": 3, "network": None, "net_": "any", "drive_home": None, "x": [], "net_work1drive": None},
        ),
    ],
    ids=str,
)
def test_words_and_overlapping_keys(schema, value):
    """Below a space heirs differ in much; what one of several keys may be is walked behind the analysis of another."""
    assert _same_masks(Grammar.from_json_schema(schema), json.dumps(value).encode()) > 20


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('start: "<" TEXT\nTEXT: /.*?>/s', b"<some free text, up to the first > and no further"),
        (
            'start: (WORD | STRING | "(" start ")")*\nWORD: /\\w+/\nSTRING: /"[^"]*?"/\n%ignore /\\s+/',
            'say ("hello wörld" to) them'.encode(),
        ),
        ("start: COMMENT+\nCOMMENT: /\\/\\*(.|\\n)*?\\*\\//", b"/* one */\n/* two **/"),
    ],
)
@pytest.mark.parametrize("lexing", ["exact", "longest"])
def test_lazy_lexemes_and_skips(source, text, lexing):
    assert _same_masks(Grammar.from_lark(source, lexing=lexing), text) > 8


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"[a-z_][a-z0-9_]{0,30}", b"some_identifier_9"),
        (r"(.|\n){10,200}", b"any text of some length\n" * 3),
        (r"\S+@\S+\.\w{2,}", b"ada@example.org"),
    ],
)
def test_regexes(pattern, text):
    assert _same_masks(Grammar.from_regex(pattern), text) > 6


@pytest.mark.parametrize("rule", ["(W | K)+", "(W (W | K))+"])
def test_heirs_that_stand_over_others(rule):
    """lexing="longest": most bytes lead from a word's beginning to a word
    under way, which is made from what is nested under it: the beginning."""
    rng = random.Random(1)
    words = "|".join("z" + "".join(rng.choices("abcdefghij", k=7)) for _ in range(100))  # too many to be kept as a lexeme-internal mask
    grammar = Grammar.from_lark(f"start: {rule}\nW: /\\w+/\nK: /({words})!/", lexing="longest")
    assert _same_masks(grammar, b"one_word") >= 4
    assert grammar.stats.mask_builds < 20  # none is made again for the sake of the other
