"""Outlines: walks that serve all rows with the same lexemes are found again, and change no mask."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary

GRAMMARS = Path(__file__).parents[2] / "grammars"

# Rows that come back to themselves: by one sign; by two, each of which leads to a row of its own, the second also where less may come; with white
# space between them; in a list; in a chain of three rows, which is no ring of two.
RINGS = {
    "sign": 'start: sum\nsum: operand ("+" operand)*\noperand: "-" operand | "(" sum ")" | NAME\nNAME: /[a-c]+/',
    "signs": """
        start: sum
        sum: cast (("+" | "-") cast)*
        cast: "(" NAME ")" cast | unary
        unary: ("++" | "--") unary | ("-" | "+" | "*") cast | postfix
        postfix: NAME ("++" | "--" | "(" [sum] ")")*
        NAME: /[a-c]+/
    """,
    "unlike": 'start: x\nx: n | p | "(" x ")" | NAME\ny: n | p | NAME "."\nn: "-" x\np: "+" y\nNAME: /[a-c]+/',
    "blanks": 'start: o\no: "-" o | "--" o | NAME "."\nNAME: /[a-c]+/\n%ignore / +/\n%ignore /#[^#]*#/',
    "list": 'start: (";" | NAME ";" | "(" start ")")*\nNAME: /[a-c;]*a/',
    "three": 'start: x\nx: "-" y | NAME\ny: "-" z | "+" y | NAME\nz: "-" x | "--" z | NAME\nNAME: /[a-c]+/',
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.builtin()


def test_a_new_row_with_known_lexemes_is_not_walked(vocabulary: Vocabulary) -> None:
    """Deeper in brackets the rows are new; what may come is not."""
    grammar = Grammar.from_lark((GRAMMARS / "c_like.lark").read_text())
    matcher = Matcher(grammar, vocabulary)
    visited = []
    for text in (b"int f(int a) { return a", b" + g(a", b" + g(a", b" + g(a"):
        assert matcher.accept_bytes(text)
        before = grammar.stats
        matcher.mask()
        after = grammar.stats
        visited.append(after.trie_nodes - before.trie_nodes)
        assert after.rows > before.rows
        assert after.outlines + after.outline_hits > before.outlines + before.outline_hits
    assert 10 * visited[-1] <= visited[0]


@pytest.mark.parametrize("name", ["arithmetic", "c_like", "json", "python_subset", "sql_select"])
def test_masks_along_texts_are_the_same(vocabulary: Vocabulary, name: str) -> None:
    source = (GRAMMARS / f"{name}.lark").read_text()
    on, off = (Matcher(Grammar.from_lark(source), vocabulary, switches=Switches(outlines=outlines)) for outlines in (True, False))
    for path in sorted((GRAMMARS / f"{name}.accept").iterdir()):
        for token in vocabulary.encode_greedy(path.read_bytes()):
            assert bytes(on.mask()) == bytes(off.mask())
            assert on.accept(token) and off.accept(token)
        assert bytes(on.mask()) == bytes(off.mask())
        on.reset()
        off.reset()


def test_where_tokens_are_cut_in_too_many_ways_there_are_none() -> None:
    """Each way of cutting `aaa...` leaves another row: there are as many as Fibonacci numbers say."""
    source = """
        start: s
        s: A s "x" | B s "y" | "c"
        A: /a/
        B: /a|aa/
    """
    tokens = [b"a" * n for n in range(1, 40)] + [b"x", b"y", b"xy", b"ac", b"aacx"] + [b"a" * n + b"c" + b"x" * n for n in range(20)]
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    grammar = Grammar.from_lark(source)
    on, off = (Matcher(grammar, vocabulary, switches=Switches(outlines=outlines)) for outlines in (True, False))
    assert bytes(on.mask()) == bytes(off.mask())
    made = grammar.stats.outlines
    for text in (b"a", b"aaa", b"aaaaaaaa", b"c", b"x", b"y"):
        assert on.accept_bytes(text) and off.accept_bytes(text)
        assert bytes(on.mask()) == bytes(off.mask())
    assert grammar.stats.outlines == made


@pytest.mark.parametrize("name", RINGS)
def test_masks_are_the_same_where_rows_come_back_to_themselves(name: str) -> None:
    """Tokens are runs of signs, whole or mixed."""
    signs, rng = ["-", "--", "+", "++", "*", "(", ")", "a", "bc", " ", ";", ".", "#"], random.Random(name)
    tokens = {sign * n for sign in signs for n in (1, 2, 3, 5, 8, 13)}
    tokens |= {"".join(rng.choices(signs, weights=[6, 4, *[2] * 11], k=rng.randint(2, 9))) for _ in range(400)}
    tokens |= {run + end for run in ("-" * 7, "--+" * 3, ";" * 5, "- " * 4) for end in signs}
    tokens |= {"".join(token) for n in (2, 3, 4) for token in product("-+(a", repeat=n)}
    texts = [token.encode() for token in sorted(tokens)]
    vocabulary = Vocabulary([*texts, b""], eos=[len(texts)])
    grammar = Grammar.from_lark(RINGS[name])
    on, off = (Matcher(grammar, vocabulary, switches=Switches(outlines=outlines)) for outlines in (True, False))
    for _ in range(60):
        for _ in range(12):
            allowed = on.allowed_tokens()
            assert allowed == off.allowed_tokens()
            token = rng.choice(allowed)
            if token == len(texts):
                break
            assert on.accept(token) and off.accept(token)
        on.reset()
        off.reset()


def test_a_run_of_signs_is_one_outline() -> None:
    tokens = [b"-" * n for n in range(1, 80)] + [b"--a", b"a", b"+", b"(", b")"]
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    grammar = Grammar.from_lark(RINGS["signs"])
    Matcher(grammar, vocabulary).mask()
    assert grammar.stats.outlines + grammar.stats.outline_hits < 20
