"""`&` and `~` in terminals, against sets of texts; what is refused."""

from __future__ import annotations

import random
from itertools import product

import pytest

from grammar_engine import Grammar, GrammarError, GrammarSyntaxError, Matcher, Vocabulary

BYTES = Vocabulary.bytes()
LONGEST = 4
TEXTS = frozenset("".join(letters) for n in range(LONGEST + 1) for letters in product("ab", repeat=n))
Texts = frozenset[str]


def joined(one: Texts, other: Texts) -> Texts:
    return frozenset(a + b for a in one for b in other if len(a + b) <= LONGEST)


def repeated(item: Texts, least: int, most: int) -> Texts:
    found: Texts = frozenset({""})
    for n in range(most):
        found = joined(found, item) | (found if n >= least else frozenset())
    return found


def alternatives(rng: random.Random, depth: int) -> tuple[str, Texts]:
    written, found = [], frozenset[str]()
    for _ in range(rng.randint(1, 2)):
        text, texts = conjunction(rng, depth)
        written.append(text)
        found |= texts
    return " | ".join(written), found


def conjunction(rng: random.Random, depth: int) -> tuple[str, Texts]:
    written, found = [], TEXTS
    for _ in range(rng.choice([1, 1, 2, 3])):
        parts = [item(rng, depth) for _ in range(rng.choice([1, 1, 2]))]
        texts = frozenset({""})
        for _, part in parts:
            texts = joined(texts, part)
        written.append(" ".join(text for text, _ in parts))
        found &= texts
    return " & ".join(written), found


def item(rng: random.Random, depth: int) -> tuple[str, Texts]:
    if depth and rng.random() < 0.6:
        text, texts = alternatives(rng, depth - 1)
        text = f"({text})"
    else:
        text, texts = rng.choice(
            [
                ('"a"', frozenset("a")),
                ('"ab"', frozenset({"ab"})),
                ("/[ab]/", frozenset("ab")),
                ("/(aa|b)*/", repeated(frozenset({"aa", "b"}), 0, LONGEST)),
                ('"a".."b"', frozenset("ab")),
                ("ALL", TEXTS),
            ]
        )
    if rng.random() < 0.3:
        text, texts = "~" + text, TEXTS - texts
    if rng.random() < 0.3:
        operator, least, most = rng.choice([("?", 0, 1), ("*", 0, LONGEST), ("+", 1, LONGEST + 1), ("~2", 2, 2), (" ~ 1..2", 1, 2)])
        text, texts = text + operator, repeated(texts, least, most)
    return text, texts


@pytest.mark.parametrize("seed", range(30))
def test_against_sets_of_texts(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(8):
        written, texts = alternatives(rng, 2)
        grammar = Grammar.from_lark(f'start: "<" (A | "none") ">"\nA: {written}\nALL: /[ab]*/')
        for text in sorted(TEXTS):
            matcher = Matcher(grammar, BYTES)
            is_read = matcher.accept_bytes(f"<{text}>".encode()) and matcher.is_complete
            assert is_read == (text in texts), (written, text)


def test_names_that_are_no_key_words() -> None:
    grammar = Grammar.from_lark('start: (NAME | "if") ("." NAME)*\nNAME: /[a-z]+/ & ~KEY_WORD\nKEY_WORD: "if" | "in"')
    vocabulary = Vocabulary.builtin()
    matcher = Matcher(grammar, vocabulary)
    assert matcher.accept_bytes(b"a.i")
    allowed = set(matcher.allowed_tokens())
    assert allowed == {t for t in range(vocabulary.width) if t in vocabulary.eos or matcher.fork().accept(t)}
    for text, expected in ((b"if", True), (b"if.in", False), (b"a.if", False), (b"a.iff.inn", True)):
        matcher = Matcher(grammar, BYTES)
        assert (matcher.accept_bytes(text) and matcher.is_complete) == expected, text


@pytest.mark.parametrize(
    ("source", "message", "line", "column"),
    [
        ('start: "a" & "b"', "& stands in terminals alone: give this part a name in capital letters", 1, 12),
        ('start: x ~"b"\nx: "a"', "~ before an item stands in terminals alone", 1, 10),
        ('start: x{~"a"}\nx{p}: p', "expecting a value", 1, 10),
        ("start: A\nA: ~x\nx: A", "a rule cannot stand inside of a terminal", 2, 5),
        ('start: A\nA: & "a"', "'&' has no place here", 2, 4),
        ('start: A\nA: "a" &', "the line ends too early", 2, 9),
        ('start: A\nA: "a" & & "b"', "'&' has no place here", 2, 10),
        ('start: A\nA: ("a" &) "b"', "')' has no place here", 2, 10),
        ('start: A\nA: ["a" & | "b"]', "'|' has no place here", 2, 11),
        ('start: A\nA: ~ | "a"', "'|' has no place here", 2, 6),
        ('start: A\nA: ~~"a"', "expecting a value", 2, 5),
        ('start: A\nA: ~["a"]', "'[' has no place here", 2, 5),
        ('start: A\nA: "a" & ~("b"', "the line ends too early", 2, 15),
        ('start: A\nA: "a" & ~B "c" )\nB: "b"', "')' has no place here", 2, 17),
    ],
)  # fmt: skip
def test_refused(source: str, message: str, line: int, column: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(source)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_nothing_in_common() -> None:
    with pytest.raises(GrammarError, match="can never be completed"):
        Grammar.from_lark('start: A\nA: "b" & "c"')
