"""Look-around, against Python's `re`: random patterns with it in all places, on all short texts; and masks, on all that can come."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, TokenDFA, UnsupportedRegexError, Vocabulary
from grammar_engine.ir import ECMA_FULL, ECMA_SEARCH, PYTHON_FULL

from .test_regex_against_re import Says, at_most, engine

TEXTS = ["".join(chars) for n in range(6) for chars in product("ab-", repeat=n)]


def judge(pattern: str, dialect: int) -> Callable[[str], object]:
    if dialect == PYTHON_FULL:
        return re.compile(pattern).fullmatch
    compiled = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    return compiled.search if dialect == ECMA_SEARCH else compiled.fullmatch


def differing(pattern: str, dialect: int, ours: Says, texts: list[str]) -> list[str]:
    matches = judge(pattern, dialect)
    return [text for text in texts if ours(text) != (matches(text) is not None)]


# --- random patterns --------------------------------------------------------------------------------------------------------------


class Writer:
    """Patterns over `ab-`: look-around anywhere, or in repeats, where texts tell the repetitions apart or not."""

    def __init__(self, rng: random.Random, python: bool):
        self.rng = rng
        self.python = python

    def pattern(self) -> str:
        return self.shapes() if self.rng.random() < 0.4 else self.choice(3)

    def choice(self, depth: int) -> str:
        return "|".join("".join(self.operand(depth) for _ in range(self.rng.randrange(5))) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))

    def operand(self, depth: int) -> str:
        pick, kind = self.rng.choice, self.rng.random()
        if kind < 0.25 and depth:
            many = pick(["", "", "", "", "*", "?", "+", "{2}"]) if self.python else ""
            return pick(["(?=", "(?!", "(?!"]) + self.choice(depth - 1) + ")" + many
        if kind < 0.28:
            return self.behind()
        if kind < 0.34:
            return pick(["^", "$", r"\b", r"\B"])
        many = pick([*[""] * 7, "*", "+", "?", "*?", "{2}", "{0,2}", "{1,3}", "{2,}"])
        if kind < 0.5 and depth:
            return pick(["({})", "(?:{})", "(?:{})"]).format(self.choice(depth - 1)) + many
        return pick(["a", "b", "-", "a", "b", ".", "[ab]", "[^a]", "[b-]", r"\w", "ab"]) + many

    def behind(self) -> str:
        return self.rng.choice(["(?<=", "(?<!"]) + self.rng.choice(["a", "-", "ab", "[ab]", "b[^a]", "a|b", "^", r"\w-"]) + ")"

    def shapes(self) -> str:
        pick = self.rng.choice
        out = pick(["", "^", "-", "a*", "(?!--)", "^(?=.*b)", "b"])
        for _ in range(self.rng.choice([1, 1, 2])):
            out += "(?:" + "|".join(self.repetition() for _ in range(pick([1, 1, 2]))) + ")"
            out += pick(["*", "+", "?", "{1,2}", "{2,}", "{3,20}", "*?"]) + pick(["", "a", "-", "ab", "b*", "(?<!-)", r"\b"])
        return out + pick(["$", "$", "", "-.*", "ab", "(?!b)"])

    def repetition(self) -> str:
        pick = self.rng.choice
        one = pick(["[ab]-", "[^-]*-", "(?:ab|b)-", "ab", "[ab]+-", "-[ab]", "a", "[ab]", ".", ".", "(?:a|b-)"])
        look = pick(["(?!{})", "(?!{})", "(?={})"]).format(
            pick(["ab", "a", "--", ".*--", ".*b$", "^a", r"\bab", "a-|b", "(?!a)b", "-?$", "a(?=b)"])
        )
        return pick([look + one, look + one, one + look]) + (self.behind() if self.rng.random() < 0.2 else "")


@pytest.mark.parametrize("dialect", [PYTHON_FULL, ECMA_SEARCH, ECMA_FULL])
def test_random_patterns(dialect: int, long_run: bool) -> None:
    rng = random.Random(dialect)
    writer = Writer(rng, python=dialect == PYTHON_FULL)
    n_compared = 0
    while n_compared < (20_000 if long_run else 400):
        pattern = writer.pattern()
        try:
            ours, _ = engine(pattern, dialect), judge(pattern, dialect)
        except (UnsupportedRegexError, re.error):  # what `re` does not take is a look-behind
            continue
        texts = [""] * (r"\B" not in pattern) + rng.sample(TEXTS[1:], 100)  # before 3.14 \B does not match in the empty text
        try:
            with at_most(1.0):
                assert differing(pattern, dialect, ours, texts) == [], pattern
        except TimeoutError:
            continue
        n_compared += 1


@pytest.mark.parametrize(
    "pattern",
    [
        "a(?=b)b|b(?!a)[ab]*",
        "(?=.*a)(?=.*b)(?!.*--)[ab-]{2,4}",
        "^((?!ab).)*$",
        "((?!ab)(?!b-).){2,4}",
        "-(?:(?!ab).)*ab-*",
        "(?:(?!^a|b$|(?=a)ab).)*",
        r"(?:(?!\ba).)*",
        "(?:(?!-)[ab-]{1,2}(?<!-)-)+[ab]",
        "(?:[ab]+(?!--)-)*b?",
        "([ab](?:(?!.*--)[ab-]*[ab])?)",
        "((?!a)[ab]|-(?!-)){2,3}b",
        ".*(?<!a)(?<!^-)",
        "a*(?<=aa)b*",
        r"(?<![^-])\b(?<!-)a?",
        "-(?<=^-)a(?<=-a)",
        "(?=(?!ab)a).*",
        "(?!)|(?=)a",
    ],
)
def test_patterns_on_all_texts(pattern: str) -> None:
    for dialect in (PYTHON_FULL, ECMA_SEARCH, ECMA_FULL):
        if "^-)" in pattern and dialect == ECMA_FULL:
            continue
        assert differing(pattern, dialect, engine(pattern, dialect), TEXTS) == []


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"(?i:(?!K)\w)+", ["k", "\u212a", "a", "aK"]),
        (r"(?m)(?!^a$)(?:(?!^b$).|\n)*", ["a", "a\nb", "ab\nba", "b", "a\nc", "\n", "ab"]),
        (r"(?s)((?!\n\n).)*", ["a\nb", "a\n\nb", "\n\n"]),
        (r"(?x) (?! a  b ) \w # two" "\n" r" {2}", ["ab", "ba", "a b"]),
        (r"(?a)(?=\w)[^é]é?", ["é", "a", "aé"]),
        (r"(?:(?!é)\w)+(?<!あ)", ["é", "aé", "è", "あ", "あa", "aあ"]),
        (r"(?!.*$)\n?|a(?=$)\n", ["\n", "a\n", "", "a"]),
    ],
)
def test_flags_and_characters(pattern: str, texts: list[str]) -> None:
    assert differing(pattern, PYTHON_FULL, engine(pattern, PYTHON_FULL), texts) == []


# --- masks ------------------------------------------------------------------------------------------------------------------------

TOKENS = [b"a", b"b", b"-", b"ab", b"ba", b"--", b"a-", b"bab", b"aab"]


def texts_of(pattern: str, n: int) -> Iterator[str]:
    matches = re.compile(pattern).fullmatch
    return (text for k in range(n + 1) for text in map("".join, product("ab-", repeat=k)) if matches(text))


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:(?!ab).)*",
        "(?!.*--)[ab-]*b",
        "(?=.*a)(?=.*b)[ab]{2,4}",
        "-(?:(?!ab).)*ab-*",
        "(?:(?!-)[ab-]{1,2}(?<!-)-)+[ab]",
        "a(?!b)[ab-]+(?<!-)|b(?=a)a(?!a).*",
        r"(?:(?!\ba)[ab])*-",
    ],
)
def test_masks(pattern: str) -> None:
    """A token is allowed if and only if some text goes on like that. Each of these needs four characters at most to come to an end."""
    vocabulary = Vocabulary([*TOKENS, b"</s>"], eos=[len(TOKENS)])
    beginnings = {text[:k] for text in texts_of(pattern, 9) for k in range(len(text) + 1)}
    sentences = set(texts_of(pattern, 5))
    grammar = Grammar.from_regex(pattern)
    dfa = TokenDFA.from_regex(pattern, vocabulary)
    for text in sorted(text for text in beginnings if len(text) <= 2):
        expected = [i for i, token in enumerate(TOKENS) if text + token.decode() in beginnings] + [len(TOKENS)] * (text in sentences)
        for source in (grammar, dfa):
            matcher = Matcher(source, vocabulary) if source is grammar else Matcher(source)
            for char in text:
                assert matcher.accept(TOKENS.index(char.encode()))
            assert matcher.allowed_tokens() == expected, (text, source)


# --- what is refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "construct", "offset"),
    [
        ("é(?:a(?!b)|ab)*b", "look-ahead", 5),
        ("((?!ab).)*b", "look-ahead", 1),
        ("a|(?:b|(?<!a)c)", "look-behind", 7),
        ("a*((?<=aa)b)", "look-behind", 3),
        (r"a(?<=\ba)", "look-behind", 1),
        ("a(?<=(?=a.*b)a)", "look-behind", 1),
    ],
)
def test_refused_by_name_and_offset(pattern: str, construct: str, offset: int) -> None:
    with pytest.raises(UnsupportedRegexError) as caught:
        Grammar.from_regex(pattern)
    assert (caught.value.construct, caught.value.offset) == (construct, offset)


def test_a_terminal_does_not_see_the_text_around_it() -> None:
    for pattern in ("a(?!b)", "(?:(?!ab)[ab]{2})*", "(?<!a)b"):
        with pytest.raises(UnsupportedRegexError):
            Grammar.from_lark(f"start: /{pattern}/")


def test_nesting_and_length_are_bounded() -> None:
    deep = "(?=a" * 100 + ")" * 100 + "a+"
    assert engine(deep, PYTHON_FULL)("a" * 101) and not engine(deep, PYTHON_FULL)("a" * 99)
    told_apart = "(?:(?!a.*z)b.|(?!c.*z)[cd].)"
    assert engine(told_apart + "{5000}", PYTHON_FULL)("bx" * 5000)
    assert engine("(?!b)a" * 20_000, PYTHON_FULL)("a" * 20_000)
    assert engine("|".join(f"(?!x{i}y)[xy]{i}y?" for i in range(3_000)), PYTHON_FULL)("y2999y")
    with pytest.raises(LimitExceededError, match="max_regex_nesting = 250"):
        Grammar.from_regex("(?:(?!a.*z)b.?|c)*?" + "(?:(?!a.*z)b.?|c)" * 3_000, dialect="ecma")
    for pattern in ("(a" * 100_000 + "(?!.*b)" + ")" * 100_000, "((?!.*x)a" * 100_000 + ")?" * 100_000, "(?!a" * 100_000 + ")" * 100_000):
        with pytest.raises(LimitExceededError, match="5,000 levels"):
            Grammar.from_regex(pattern, limits=Limits(max_regex_nesting=1_000_000))


def test_what_is_written_out_is_not_said_to_be_groups() -> None:
    for pattern in ("(?:(?!ab)[a-z]){0,2000}x", "(?:(?:(?!ab).){1,90}x){1,30}", "(?:(?!a.*z)b.?|c)" * 3_000):
        with pytest.raises(LimitExceededError, match=r"levels of the regular expression .*look-around are written out"):
            Grammar.from_regex(pattern)
