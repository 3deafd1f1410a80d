"""Outlines: walks that serve all rows with the same lexemes are found again, and change no mask."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary
from grammar_engine.frontends import lark
from grammar_engine.ir import Builder

GRAMMARS = Path(__file__).parents[2] / "grammars"

# Rows that come back to themselves: by one sign; by two, each of which leads to a row of its own, the second also where less may come; with
# white space between them; in a list; in a chain of three rows, which is no ring of two.
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


# Names that may be cut anywhere, before names, signs and strings; key words beside them; rows that differ in these.
NAMES = """
    start: (item ";")*
    item: NAME | NAME NAME | "let"i NAME "=" value | "not"i value | call | STRING "as"i NAME
    call: NAME "(" [value ("," value)*] ")"
    value: NAME | STRING | call | "(" value ")" | "-" value | value "in"i value
    NAME: /[a-z_][a-z0-9_]*/
    STRING: /'([^']|'')*'/
    %ignore /[ \\t\\r\\n]+/
    %ignore /--[^\\n]*\\n/
"""


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('start: ("a" | "-" B " ")*\nB: /[ \\t\\r\\n]+/', (b"", b"-", b"a-")),
        ("start: NAME B B NAME\nB: /[ \\t\\r\\n]/\nNAME: /[a-z]+/\n%ignore B", (b"", b"a", b"a ", b"a \t")),
        ("start: NAME (B B NAME)*\nB: /[ \\t\\r\\n]/\nNAME: /[a-z]+/\n%ignore /[ \\t\\r\\n]/", (b"", b"a", b"a\t\tb")),
    ],
)
def test_where_a_blank_ends_a_lexeme_and_the_next_begins_another(source: str, texts: tuple[bytes, ...]) -> None:
    """What comes after the second blank of a token is not what comes after the first, though the lexer is where it was."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"\r -", b"\t\ta", b"\ta", b"\t\t\ta", b"\n\nab", b"  ", b"\t\t", b""]
    vocabulary = Vocabulary(tokens, eos=[len(tokens) - 1])
    grammar = Grammar.from_lark(source)
    for text in texts:
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(text)
        allowed = set(matcher.allowed_tokens())
        assert allowed == {token for token in range(len(tokens)) if matcher.fork().accept(token)}


def _names_vocabulary() -> Vocabulary:
    rng = random.Random(0)
    words = sorted({"".join(rng.choices("abcdeilnost_", k=rng.randint(1, 7))) for _ in range(3_000)} | {"let", "as", "not", "in"})
    ends = ["(", "()", ";", "','", "=", "é", "--", "'", " as", "1", "é(", ")("]
    tokens = {
        *words,
        *(" " + word for word in words),
        *map(chr, range(32, 127)),
        *("(" + chr(i) for i in range(32, 127)),
        "é",
        "''",
        "((((",
        "----",
    }
    for blank in ("\t", "\n", " \t", "(", "'"):  # of few words: else they would be hubs
        tokens |= {
            blank,
            *(blank + word for word in rng.sample(words, 100)),
            *(blank + word + rng.choice(ends) for word in rng.sample(words, 30)),
        }
        tokens |= {blank + word[:2] + " " + word[2:] for word in rng.sample(words, 20)}
    texts = sorted(token.encode() for token in tokens)
    return Vocabulary([*texts, texts[0], b""], eos=[len(texts) + 1])  # and a token that is spelt like another one


def test_masks_are_the_same_where_names_are_cut_anywhere() -> None:
    vocabulary, rng = _names_vocabulary(), random.Random(1)
    on, off = (Matcher(Grammar.from_lark(NAMES), vocabulary, switches=Switches(outlines=outlines)) for outlines in (True, False))
    texts = (b"let\ta\t=\t", b"not ", b"a\t(", b"'a'", b"'a' as", b"f(a,", b"a", b"a ", b"a;", b"f(((", b"--a\n", b"let x = y in", b"\t")
    for text in (b"", *texts):
        for _ in range(4):
            assert on.accept_bytes(text) and off.accept_bytes(text)
            for _ in range(8):
                allowed = on.allowed_tokens()
                assert allowed == off.allowed_tokens()
                token = rng.choice(allowed)
                if token in vocabulary.eos:
                    break
                assert on.accept(token) and off.accept(token)
            on.reset()
            off.reset()


def test_masks_over_a_real_vocabulary_are_the_same(real_vocabulary: Callable[[str], Vocabulary]) -> None:
    """Here what is behind white space is left to the tasks of masks."""
    vocabulary = real_vocabulary("tekken-131k")
    on, off = (Matcher(Grammar.from_lark(NAMES), vocabulary, switches=Switches(outlines=outlines)) for outlines in (True, False))
    for text in (b"", b"a", b"a ", b"a(", b"let a =", b"let a = 'x' in", b"'x'", b"not -", b"f(a,"):
        assert on.accept_bytes(text) and off.accept_bytes(text)
        assert bytes(on.mask()) == bytes(off.mask()), text
        on.reset()
        off.reset()


def as_written(source: str) -> Grammar:
    """With repetitions that are not joined."""
    builder = Builder()
    return Grammar._from_builder(builder, lark.build(builder, source)[0])


# Lexemes that may end nearly anywhere, and begin again, as written:
# a walk with all ways of cutting joined takes a hundredth of what outlines did.
REPEATED = [
    ('start: "<" C* ">"\nC: /[^>]/', b"<"),
    ("start: C+\nC: /.{2,8}/", b"ab"),
    ('start: NAME+\nNAME: /[a-z]{2,30}/\n%ignore " "', b""),
    ("start: (A|B|C|D)*\nA: /[a-z]+/\nB: /[a-z0-9]+/\nC: /[a-z_ ]+/\nD: /.+/", b""),
    ("start: (A B)~5..500\nA: /[a-z]{0,5}/\nB: /[a-z ]{0,5}/", b""),
]


@pytest.mark.parametrize(("source", "text"), REPEATED)
def test_outlines_that_cost_too_much_are_given_up(source: str, text: bytes, real_vocabulary: Callable[[str], Vocabulary]) -> None:
    vocabulary, nodes = real_vocabulary("tekken-131k"), []
    on, off = (Matcher(as_written(source), vocabulary, switches=Switches(outlines=outlines)) for outlines in (True, False))
    for matcher in on, off:
        assert matcher.accept_bytes(text)
    for _ in range(3):
        assert bytes(on.mask()) == bytes(off.mask())
        nodes.append((on.grammar.stats.trie_nodes, off.grammar.stats.trie_nodes))
        for matcher in on, off:
            assert matcher.accept_bytes(b"a")
    assert on.grammar.stats.outlines <= 6
    assert nodes[0][0] < nodes[0][1] + vocabulary.size


def test_names_behind_white_space_are_walked_once_for_all_rows() -> None:
    """Behind a tab there is a place for each beginning of a name, and few of them have a sign below them."""
    words = ["".join(word) for n in range(1, 6) for word in product("abc", repeat=n)]
    texts = [*words, *("\t" + word for word in words), "\tab(", "\tcc)", "(", ")", ";", "\t"]
    vocabulary = Vocabulary([*(text.encode() for text in texts), b""], eos=[len(texts)])
    grammar = Grammar.from_lark('start: (NAME ";" | "(" NAME ")")*\nNAME: /[a-c]+/\n%ignore /\\t/')
    visited = []
    for text in (b"", b"("):
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(text)
        before = grammar.stats.trie_nodes
        matcher.mask()
        visited.append(grammar.stats.trie_nodes - before)
    assert visited[0] < 2.5 * len(words)  # the analysis of a name, and a walk: not once more for the places
    assert visited[1] < len(words) // 4
