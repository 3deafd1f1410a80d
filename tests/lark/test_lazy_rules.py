"""Rules with attributes, `text[suffix="</a>"]`: which texts they read,
against Python's `re` and all ways of cutting a text; what is refused."""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import product

import pytest

from grammar_engine import Grammar, GrammarSyntaxError, LimitExceededError, Limits, Matcher, TokenDFA, UnsupportedRegexError, Vocabulary

BYTES = Vocabulary.bytes()
LETTERS = Vocabulary([b"a", b"b", b"c", b"ab", b"ba", b"bc", b"aab", b"cab", b"bcc", b""], eos=[9])


def reads(grammar: Grammar, text: str) -> bool:
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_complete


def is_shortest(pattern: str, text: str) -> bool:
    """Whether an expression has the text, and no shorter beginning of it."""
    return [n for n in range(len(text) + 1) if re.fullmatch(pattern, text[:n])] == [len(text)]


def random_body(rng: random.Random, depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["a", "b", "c", "[ab]", "[^a]", "."])
    inner, other = random_body(rng, depth - 1), random_body(rng, depth - 1)
    return rng.choice([inner + other, f"({inner}|{other})", f"({inner})*", f"({inner})+", f"({inner})?{other}", f"({inner}){{1,3}}"])


TEXTS = ["".join(letters) for n in range(7) for letters in product("abc", repeat=n)]


@pytest.mark.parametrize("seed", range(40))
def test_which_texts_a_rule_reads(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        body, suffix = random_body(rng), rng.choice(["", "a", "b", "ab", "aa", "bcb", "[bc]"])
        pattern = f"({body}){suffix}"
        if re.fullmatch(pattern, ""):
            continue
        written = f"/{suffix}/" if "[" in suffix else f'"{suffix}"'
        attributes = rng.choice(["lazy, ", "", ""]) + f"suffix={written}" if suffix else "lazy"
        source = f"start: text\ntext[{attributes}]: /{body}/"
        for lexing in ("exact", "longest"):
            grammar = Grammar.from_lark(source, lexing=lexing)
            assert [text for text in TEXTS if reads(grammar, text)] == [text for text in TEXTS if is_shortest(pattern, text)], source


@pytest.mark.parametrize("seed", range(20))
def test_beside_other_parts(seed: int) -> None:
    """All ways of cutting a text count, and a list of such rules is no list of what they would read without attributes."""
    rng = random.Random(seed)
    body, suffix = random_body(rng), rng.choice(["a", "b", "cb"])
    pattern, other = f"({body}){suffix}", rng.choice(["c", "ab", "a"])
    grammar = Grammar.from_lark(f'start: (text | "{other}")*\ntext[suffix="{suffix}"]: /{body}/')

    @cache
    def cuts(text: str) -> bool:
        return not text or any((is_shortest(pattern, text[:n]) or text[:n] == other) and cuts(text[n:]) for n in range(1, len(text) + 1))

    assert [text for text in TEXTS if reads(grammar, text)] == [text for text in TEXTS if cuts(text)]
    for begin in TEXTS[:40]:  # masks: what can still become one of the texts
        matcher = Matcher(grammar, LETTERS)
        if matcher.accept_bytes(begin.encode()):
            allowed = set(matcher.allowed_tokens())
            assert allowed == {t for t in range(9) if matcher.fork().accept(t)} | ({9} if cuts(begin) else set())
            for token in range(9):
                whole = begin + LETTERS.token_bytes(token).decode()
                if len(whole) <= 5 and any(text.startswith(whole) and cuts(text) for text in TEXTS):
                    assert token in allowed


@pytest.mark.parametrize("lexing", ["exact", "longest"])
def test_free_text_up_to_a_stop(lexing: str) -> None:
    source = r"""
        start: thinking answer
        thinking[suffix="</think>"]: /(?s:.)*/
        answer: " "? ("yes" | "no")
    """
    grammar = Grammar.from_lark(source, lexing=lexing)
    for text, expected in (
        ("Well.</think>yes", True),
        ("</think> no", True),
        ("a </thin</think>no", True),
        ("a</think></think>no", False),
        ("a</think", False),
        ("a</think>maybe", False),
    ):
        assert reads(grammar, text) == expected, text
    vocabulary = Vocabulary.builtin()
    matcher = Matcher(grammar, vocabulary)
    assert matcher.accept_bytes(b"Let me see.")
    allowed = set(matcher.allowed_tokens())
    assert allowed == {t for t in range(vocabulary.width) if vocabulary.token_bytes(t) and matcher.fork().accept(t)}
    assert len(allowed) > 0.9 * vocabulary.width
    assert matcher.accept_bytes(b" </think>") and matcher.forced_bytes() == b""
    assert matcher.accept_bytes(b"y") and matcher.forced_bytes() == b"es"
    assert matcher.rollback(3) is None and matcher.accept_bytes(b"<")


def test_as_a_terminal_of_other_kinds() -> None:
    """A suffix may be a terminal or an expression; two rules of the same texts are one lexeme; the start rule may be one."""
    grammar = Grammar.from_lark('start: a | b "x"\na[suffix=END]: /[a-z]+/\nb[suffix=/;+/]: /[a-z]+/\nEND: ";"')
    assert [reads(grammar, text) for text in ("q;", "q;x", "q;;", "q;;x")] == [True, True, False, False]
    grammar = Grammar.from_lark('start[suffix="."]: "a"* | /b+/\n%ignore " "')
    assert [reads(grammar, text) for text in ("aa.", " b. ", "a b.", ".", "aa")] == [True, True, False, True, False]
    dfa = TokenDFA.from_grammar(Grammar.from_lark('start[suffix="bb"]: /[ab]*/'), LETTERS)
    matcher = Matcher(dfa)
    assert matcher.accept_bytes(b"abab") and 1 in matcher.allowed_tokens()


def test_bodies_that_look_as_if_they_might_be_empty() -> None:
    grammar = Grammar.from_lark('start: x | "z"\nx[lazy]: /[a-z]*/ & ~/a*/')
    assert [reads(grammar, text) for text in ("", "a", "b", "ab", "aab", "abc")] == [False, False, True, True, True, False]
    grammar = Grammar.from_lark('start: x | "c"\nx[suffix="b"]: "a" & "b"')  # which is no text
    assert [reads(grammar, text) for text in ("c", "ab", "b")] == [True, False, False]


def test_changed_definitions() -> None:
    source = 'start: x\nx[suffix="."]: "a"\n'
    assert reads(Grammar.from_lark(source + '%extend x[lazy]: "b"'), "b")
    assert reads(Grammar.from_lark(source + '%override x: "b"'), "b")
    for added in ('%extend x: "b"', 'y: "b"\n%extend y[lazy]: "c"'):
        with pytest.raises(GrammarSyntaxError, match="is extended with attributes, or without those that it has"):
            Grammar.from_lark(source + added)


@pytest.mark.parametrize(
    ("source", "message", "line", "column"),
    [
        ("start: x\nx[lazy]: /a*/", "x ends where it begins, as its body may be empty: say with suffix= where it ends", 2, 1),
        ('start: x\nx[suffix=E]: /a*/\nE: "b"?', "x ends where it begins", 2, 1),
        ('start: x\nx[lazy]: y\ny: "a"', "a rule cannot stand inside of a rule with attributes, which is one terminal", 2, 10),
        ("start: x\nx[lazy]: <a>", "a special token cannot stand inside of a rule with attributes", 2, 10),
        ('start: x\nx[lazy]: "a" -> b', "an alias names a tree", 2, 17),
        ('start: X\nX[lazy]: "a"', "the attribute lazy stands behind the name of a rule that has no parameters", 2, 3),
        ('start: x{"a"}\nx{p}[suffix="b"]: p', "the attribute suffix stands behind the name of a rule that has no parameters", 2, 6),
        ('start: x\nx[quick]: "a"', "attributes of a rule are lazy and suffix", 2, 3),
        ('start: x\nx[]: "a"', "attributes of a rule are lazy and suffix", 2, 3),
        ('start: x\nx[lazy,]: "a"', "attributes of a rule are lazy and suffix", 2, 8),
        ('start: x\nx[lazy, lazy]: "a"', "the attribute lazy is there twice", 2, 9),
        ('start: x\nx[suffix]: "a"', "']' has no place here", 2, 9),
        ('start: x\nx[suffix=]: "a"', "']' has no place here", 2, 10),
        ('start: x\nx[suffix=y]: "a"', "'y' has no place here", 2, 10),
        ('start: x\nx[suffix=""]: "a"', "an empty terminal is not allowed", 2, 10),
        ('start: x\nx[suffix=Y]: "a"', "not defined: Y", 2, 10),
        ('start: x\nx[lazy]: "a" )', "')' has no place here", 2, 14),
        ('start: x\nx[lazy]: "a" = "b"', "this character has no place here", 2, 14),
        ('start: x\nx[stop="b"]: /a/', "the attribute stop is not supported, as what ends a text is a part of it here", 2, 3),
    ],
)
def test_refused(source: str, message: str, line: int, column: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(source)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_what_they_refuse_of_expressions() -> None:
    with pytest.raises(UnsupportedRegexError, match="look-ahead"):
        Grammar.from_lark("start: x\nx[lazy]: /a(?=b)/")
    with pytest.raises(LimitExceededError, match="groups of a regular expression") as caught:
        Grammar.from_lark('start: x\nx[suffix="b"]: /((((a))))/', limits=Limits(max_regex_nesting=3))
    assert caught.value.limit == "max_regex_nesting"


def test_lazy_quantifiers_are_no_news_there() -> None:
    assert not Grammar.from_lark(r'start: x "b"' + "\n" + r"x[lazy]: /(.|\n)*?<\/a>/").report.notes
    assert Grammar.from_lark(r'start: X "b"' + "\n" + r"X: /(.|\n)*?<\/a>/").report.notes
