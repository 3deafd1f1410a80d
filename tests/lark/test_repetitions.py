"""Repetitions of short texts are one lexeme each: which ones are, and that sentences and masks stay the same."""

from __future__ import annotations

import random

import pytest

from grammar_engine import Grammar, GrammarError, LimitExceededError, Limits, Matcher, Vocabulary
from grammar_engine.frontends import lark as front_end
from grammar_engine.ir import Builder

CHAR = 'char: /[^"\\\\]/ | "\\\\" (/["n]/ | "u" HEX~4)\nHEX: "0".."9" | "a".."f"\n'
STRING = f'start: "\\"" char* "\\""\n{CHAR}'


def apart(text: str) -> Grammar:
    """The grammar, with repetitions as they are written."""
    builder = Builder()
    return Grammar._from_builder(builder, front_end.build(builder, text)[0])


def names_of(grammar: Grammar) -> list[str]:
    return [lexeme.name for lexeme in grammar._lexemes]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ('start: "<" C* ">"\nC: /[^>]/', ["C*"]),
        ("start: C+\nC: /.{2,8}/", ["C+"]),
        ('start: C+\nC: /.{2,8}/\n%ignore " "', ["C+"]),
        ("start: NAME+\nNAME: /[a-z]+/", ["NAME+"]),
        (STRING, ["HEX~4", "char*"]),
        (f'{STRING}%ignore " "', ["char*"]),
        (f'start: "\\"" chars "\\""\nchars: char chars |\n{CHAR}', ["HEX~4", "chars"]),
        (f"start: chars\nchars: char | chars char\n{CHAR}", ["HEX~4", "chars"]),
        ('start: ("0".."9")+', ['"0".."9"+']),
        ('start: (A | "x" B)+\nA: /a|aa/\nB: "b"', ['(A | "x" B)+']),
        ("start: (A | B)~2..5\nA: /a/\nB: /b/", ["(A | B)~2..5"]),
        ('start: (A (B | "x" B)~2)*\nA: /a|aa/\nB: "b"', ['(A (B | "x" B)~2)*', '(B | "x" B)~2..2']),
        (f'start: "\\"" char~0..200 "\\""\n{CHAR}', ["HEX~4", "char~0..200"]),
        ('start: (A | ("x" | B))*\nA: /a|aa/\nB: "b"', ['(A | ("x" | B))*']),
        ('start: (A ("x" | B))*\nA: /a|aa/\nB: "b"', ['(A ("x" | B))*']),
        ('start: A* "."\nA: /.{16}/\n%ignore " "', ["A*"]),
        ('start: "a" A*\nA: "a"', ['"a"*']),
        ("start: (A" + ' "a"' * 10 + ")*\nA: /a/", ["(A" + ' "a"' * 10 + ")*"]),
        (
            "start: (" + " | ".join(f"/[{c}]/" for c in "abcdefghijkl") + ")*",
            ["(" + " | ".join(f"/[{c}]/" for c in "abcdefghi") + " | /[j...)*"],
        ),
        ("start: A~3..4000000000\nA: /a|b/", ["A~3..4000000000"]),
    ],
)
def test_what_is_joined(text: str, joined: list[str]) -> None:
    assert sorted(set(names_of(Grammar.from_lark(text))) - set(names_of(apart(text)))) == sorted(joined)


@pytest.mark.parametrize(
    "text",
    [
        'start: ("a" | "b")*',  # strings only
        'start: NAME*\nNAME: /[a-z]+/\n%ignore " "',  # long, and something is ignored
        'start: (NAME "=")*\nNAME: /[a-z]+/',  # long, and no single lexeme
        'start: s*\ns: "(" s ")" | /[a-z]/',
        "start: A*\nA: /a?/",  # may be empty
        "start: (A | B)*\nA: /a/\nB: /b?/",
        "start: (A |)~2\nA: /a/",
        "start: A~0..2\nA: /a|aa/",  # a text may have several numbers of items
        'start: A~0..2\nA: /a/\n%ignore "a"',
        "start: A~2\nA: /[a-z]+/",
        "start: (A~1..2)*\nA: /a|aa/",
        "start: s\ns: s s | /a/",
        "start: s\ns: /a/ s | /b/",
        "start: s\ns: A s | B s | A\nA: /a/\nB: /b/",
        "start: s\ns: A s | s B |\nA: /a/\nB: /b/",
        "start: s0*\n" + "".join(f"s{i}: s{i + 1}\n" for i in range(5_000)) + "s5000: /a/",
        'start: A* "."\nA: /.{17}/\n%ignore " "',
        'start: ("a" | "b")* C\nC: /c/',
        "start: (" + " | ".join(f"/[{c}]/ /[{c}]/" for c in "abcdefghijklmn") + ")*",  # large
        "start: s\ns: A s | A | B\nA: /a/\nB: /b/",
    ],
)
def test_what_is_not(text: str) -> None:
    assert names_of(Grammar.from_lark(text)) == names_of(apart(text))


def test_not_with_longest() -> None:
    text = "start: C+\nC: /a|b/"
    assert names_of(Grammar.from_lark(text, lexing="longest")) == ["C"]
    assert names_of(Grammar.from_lark(text)) == ["C", "C+"]


def test_names_of_what_is_expected() -> None:
    matcher = Matcher(Grammar.from_lark('start: "<" C* ">"\nC: /[a-z]/'), Vocabulary.bytes())
    assert matcher.explain(b"<ab-").expected == ("C*", '">"')


def test_a_text_of_what_is_ignored_alone() -> None:
    """It is a sentence without any lexeme or not, whatever is joined."""
    text = 'start: C*\nC: /[a-z]/\n%ignore " "'
    for content in (b"", b" ", b" a", b"a  b "):
        verdicts = []
        for grammar in (Grammar.from_lark(text), apart(text)):
            matcher = Matcher(grammar, Vocabulary.bytes())
            verdicts.append(matcher.accept_bytes(content) and matcher.is_complete)
        assert verdicts[0] == verdicts[1], content
        assert verdicts[0] or content == b" "


def test_a_limit_is_met_in_its_place() -> None:
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_lark("start: X*\nX: /[a-z]+x{60}/", limits=Limits(max_expressions=38))
    assert (caught.value.limit, caught.value.where) == ("max_expressions", "2:1")


def test_items_of_which_it_takes_long_to_tell_stay_apart() -> None:
    """Whether a text has several numbers of these asks for the states of the item, of which there are 2^16."""
    lark, gbnf = "start: item~2..3\nitem: /[ab]*a[ab]{16}[cd]/", 'root ::= ([ab]* "a" [ab]{16} [cd]){2,3}'
    for grammar in (Grammar.from_lark(lark), Grammar.from_gbnf(gbnf)):
        for n in range(5):
            matcher = Matcher(grammar, Vocabulary.bytes())
            assert matcher.accept_bytes((b"ba" + b"b" * 16 + b"d") * n) == (n < 4)
            assert n == 4 or matcher.is_complete == (n in (2, 3))


# --- the same masks ---------------------------------------------------------------------------------------------------------------

LEXEMES = ["/a/", "/[ab]/", "/a|ab/", "/[ab]{1,3}/", "/b?/", "/a+/", "/[^a]/", '"a"', '"ab"', '" "', "/ b/", '"a".."b"', "C", "D"]
OPERATORS = ["*", "+", "?", "~2", "~1..2", "~0..3", "~2..4", ""]
IGNORED = ["", "", '%ignore " "', '%ignore "a"', '%ignore /b /\n%ignore " "']


def body(rng: random.Random, depth: int) -> str:
    ways = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        items = []
        for _ in range(rng.choice([1, 1, 2])):
            item = f"({body(rng, depth - 1)})" if depth and rng.random() < 0.4 else rng.choice([*LEXEMES, "x", "y"])
            items.append(item + rng.choice(OPERATORS))
        ways.append(" ".join(items))
    return " | ".join(ways)


def random_grammar(rng: random.Random) -> str:
    recursive = rng.choice(
        ["y: x y |", "y: x | y x", "y: C | C y", "y: D y | x y |", "y: x", "y: y x |", "y: C y | D y | C", "y: C y | C | D"]
    )
    return f"start: {body(rng, 2)}\nx: {body(rng, 0).replace('x', 'C').replace('y', 'D')}\n{recursive}\nC: /[ab ]/\nD: /a| b?/\n{rng.choice(IGNORED)}"


TOKENS = [a + b + c for a in ("a", "b", " ", "c") for b in ("", "a", "b", " ") for c in ("", "a", "b", " ")]


def test_masks_are_the_same(long_run: bool) -> None:
    vocabulary = Vocabulary([*map(str.encode, TOKENS), b""], eos=[len(TOKENS)])
    n_joined = n_masks = 0
    for seed in range(20_000 if long_run else 300):
        rng = random.Random(seed)
        text = random_grammar(rng)
        try:
            one, other = Grammar.from_lark(text), apart(text)
        except GrammarError:
            continue  # without a sentence, or an ignored terminal is of no use
        n_joined += names_of(one) != names_of(other)
        for _ in range(3):
            matchers = Matcher(one, vocabulary), Matcher(other, vocabulary)
            for _ in range(8):
                allowed = matchers[0].allowed_tokens()
                assert allowed == matchers[1].allowed_tokens(), (seed, text)
                n_masks += 1
                token = rng.choice(allowed)
                assert matchers[0].accept(token) and matchers[1].accept(token)
                if token == len(TOKENS):
                    break
    assert n_joined > 100
    assert n_masks > 3_000
