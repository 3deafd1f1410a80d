"""Slices that a user lists save time and nothing else: masks are those of the oracle, and those of a vocabulary without slices."""

from __future__ import annotations

import random
from typing import Any

import pytest

from exactness import grammars
from exactness.walk import Walk
from grammar_engine import Grammar, Matcher, Switches, Vocabulary, VocabularyError
from vocabularies import TinyVocabulary, load_real, random_vocabulary


def sliced(tiny: TinyVocabulary, patterns: list[str]) -> Vocabulary | None:
    """None if no slice is of any use."""
    special = {i: f"<{i}>" for i in tiny.special}
    for count in range(len(patterns), 0, -1):
        try:
            return Vocabulary(list(tiny.tokens), eos=tiny.eos, special=special, width=tiny.width, slices=patterns[:count])
        except VocabularyError:
            continue
    return None


@pytest.mark.parametrize("kind", ["plain", "special", "longest", "scanner"])
def test_random_grammars_and_slices(kind: str, long_run: bool) -> None:
    masks = hits = 0
    for seed in range(2000 if long_run else 60):
        rng = random.Random(f"slices {kind} {seed}")
        if kind == "scanner":
            builder, alphabet = grammars.random_scanner(rng)
        else:
            builder, alphabet = grammars.random_grammar(rng, special=kind == "special", longest=kind == "longest")
        tiny = random_vocabulary(rng, alphabet, size=20, longest=5)
        letters = "".join(sorted({chr(byte) for piece in alphabet for byte in piece if chr(byte).isalnum()})) or "a"
        patterns = [rng.choice(letters) + "*" + grammars.random_pattern(rng, 2, letters) for _ in range(rng.randint(1, 3))]
        vocabulary = sliced(tiny, patterns)
        if vocabulary is None:
            continue
        for switches in (Switches(), Switches(inner_masks=False), Switches(slices=False)):
            walk = Walk(builder, tiny, random.Random(seed), switches, vocabulary=vocabulary)
            masks += walk.run(6)
            if walk.first is not None and walk.matcher is not None:
                hits += walk.grammar.stats.slice_hits
    assert masks > (3000 if long_run else 100)
    assert hits > 0 or kind == "scanner"


# A terminal, a text in it, and slices that it contains, almost contains, or has nothing to do with.
TERMINALS = [
    (r"/[a-z_]*(if|while|return)[a-z_]*;/", "a_while;", [r"[a-z_]+"]),
    (r"/[a-z]*(abc|xyz)[0-9a-z]*/", "uabcd9", [r"[a-z]+", r"[a-z0-9]+"]),
    (r"/\w[\w.-]*;/", "w-é.x;", [r"\w+", r"[\w ]+"]),
    (r"/([^`]|`[^`]|``[^`])*```/", "a `b` c```", [r"[^`]+", r"[a-z]+"]),
    (r"/[A-Za-z_][A-Za-z0-9_-]*/", "ab-c9", [r"[A-Za-z_][A-Za-z0-9_]*", r"[A-Za-z0-9_]+"]),
    (r"/[^ab]*(a|bc)[^ab]*/", "xyabc".replace("ab", "a"), [r"[^ab]+", r"[^abc]+", r"[c-z]+x"]),
    (r"/'([^'\\\n]|\\.)*'/", r"'a b\'c'", [r"[^'\\\n]+", r"'[^'\\\n]*"]),
    (r"/[а-яё]+( [а-яё]+)*/", "ёж жил", [r"[а-яё]+", r"[а-я ]+"]),
    (r"/[a-z]{2,30}(ing|ed)/", "jumping", [r"[a-z]{1,5}", r"[a-z]+"]),
]


def masks_along(grammar: Grammar, vocabulary: Vocabulary, text: bytes, switches: Switches) -> list[bytes]:
    matcher = Matcher(grammar, vocabulary, switches=switches)
    found = [bytes(matcher.mask())]
    for byte in text:
        if not matcher.accept_bytes(bytes([byte])):  # lexing="longest" may have read more
            break
        found.append(bytes(matcher.mask()))
    return found


def check_terminals(build: Any, without: Vocabulary) -> int:
    hits = 0
    for terminal, text, slices in TERMINALS:
        source = f'start: ("=" X "+"?)+\nX: {terminal}\n%ignore " "\n'
        vocabulary = build(slices)
        for lexing in ("exact", "longest"):
            whole = b"=" + text.encode() + b" += " + text.encode()
            expected = masks_along(Grammar.from_lark(source, lexing=lexing), without, whole, Switches())
            for switches in (Switches(), Switches(inner_masks=False), Switches(shapes=False), Switches(slices=False)):
                grammar = Grammar.from_lark(source, lexing=lexing)
                assert masks_along(grammar, vocabulary, whole, switches) == expected, (terminal, lexing, switches)
                if not switches.slices:
                    assert grammar.stats.slice_hits == 0
                hits += grammar.stats.slice_hits
    return hits


def test_terminals_that_contain_slices() -> None:
    without = Vocabulary.builtin(slices=())
    assert check_terminals(lambda slices: Vocabulary.builtin(slices=slices), without) > 30


def test_terminals_that_contain_slices_over_a_real_vocabulary() -> None:
    tiny = load_real("mistral-32k")  # below the space is a hub
    special = {i: f"<{i}>" for i in tiny.special}

    def build(slices: Any) -> Vocabulary:
        return Vocabulary(tiny.tokens, eos=tiny.eos, special=special, slices=slices)

    assert check_terminals(build, build(())) > 30


def test_schemas() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"},
            "b": {"type": "string", "maxLength": 9},
            "c": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        },
        "patternProperties": {"net_": {"type": "string", "pattern": "^(x|[a-z ]*yes)$"}},
    }
    text = b'{"a": "x-y", "b": "abcdefgh", "c": ["q", "r"], "my net_": "a yes", "k": "v"}'
    vocabularies = [Vocabulary.builtin(slices=each) for each in ((), None, [r"[a-z]+", r"[a-z ]+", r'"[a-z]*'])]
    expected, *others = [masks_along(Grammar.from_json_schema(schema), each, text, Switches()) for each in vocabularies]
    assert all(other == expected for other in others)


def test_what_is_prepared_is_not_analysed_again() -> None:
    builds = []
    for slices in (None, ()):
        vocabulary = Vocabulary.builtin(slices=slices)
        grammars_ = [
            (Grammar.from_json_schema({"type": "object", "additionalProperties": {"type": "string"}}), b'{"a": "b"}'),
            (Grammar.from_lark('start: (CNAME | ESCAPED_STRING)+\n%import common (CNAME, ESCAPED_STRING, WS)\n%ignore WS'), b'ab "c" d'),
            (Grammar.from_lark('start: "x"+\n%import common (C_COMMENT, CPP_COMMENT, SH_COMMENT, SQL_COMMENT)\n' +
                               "".join(f"%ignore {name}\n" for name in ("C_COMMENT", "CPP_COMMENT", "SH_COMMENT", "SQL_COMMENT"))), b"x/* a */-- b"),
        ]  # fmt: skip
        for grammar, text in grammars_:
            masks_along(grammar, vocabulary, text, Switches())
        builds.append([grammar.stats.inner_builds for grammar, _ in grammars_])
    assert builds[0] == [0, 0, 0]
    assert all(count > 0 for count in builds[1])


def test_a_slice_is_analysed_with_the_vocabulary() -> None:
    pattern = r"[a-z]+(-[a-z]+)*"
    source = f'start: (X | "=")+\nX: /{pattern}/\n%ignore " "'
    builds = []
    for slices in ([pattern], ()):
        grammar = Grammar.from_lark(source)
        vocabulary = Vocabulary.builtin(slices=slices)
        masks_along(grammar, vocabulary, b"ab-c = d", Switches())
        builds.append(grammar.stats.inner_builds)
    assert builds[0] == 0 < builds[1]
