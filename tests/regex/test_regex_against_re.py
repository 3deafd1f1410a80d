"""Patterns against Python's `re`: random ones on random texts, and single characters over all of Unicode.

`re` is the judge of the Python dialect, and of the ECMA dialect where the two mean the same: ASCII classes, texts without the other line
ends, and `$` written as `\\Z` for `re`. Where the running Python knows fewer characters than the tables, only those that it knows count.
"""

from __future__ import annotations

import random
import re
import signal
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import regex
from grammar_engine import Grammar, Limits, Matcher, Vocabulary
from grammar_engine._native import NativeExpressions
from grammar_engine.errors import GrammarSyntaxError, LimitExceededError, UnsupportedRegexError
from grammar_engine.ir import (
    ECMA_FULL,
    ECMA_SEARCH,
    FLAG_ASCII,
    FLAG_DOT_ALL,
    FLAG_IGNORE_CASE,
    FLAG_MULTI_LINE,
    PYTHON_FULL,
    Builder,
)

RE_FLAGS = {FLAG_IGNORE_CASE: re.IGNORECASE, FLAG_MULTI_LINE: re.MULTILINE, FLAG_DOT_ALL: re.DOTALL, FLAG_ASCII: re.ASCII}

Says = Callable[[str], bool]


def re_flags(flags: int) -> int:
    return sum(int(value) for ours, value in RE_FLAGS.items() if flags & ours)


def engine(pattern: str, dialect: int, flags: int = 0) -> Says:
    builder = Builder()
    expr = builder.pattern(pattern, dialect, flags)
    core = NativeExpressions(builder, Limits())
    core.update()
    return lambda text: core.matches(expr, text.encode())


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """`re` backtracks: some random patterns take it for ever."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Writer:
    """Writes random patterns; every construct can stand anywhere."""

    def __init__(self, rng: random.Random, python: bool):
        self.rng = rng
        self.python = python
        self.characters = "aabb_- 1kKéèあ" if python else "aabb_- 1kKé"
        self.groups = ["({})", "(?:{})", "(?:{})"] + (["(?i:{})", "(?m:{})", "(?s-m:{})", "(?P<n>{})"] if python else ["(?:{})"])
        self.anchors = ["^", "$", r"\b", r"\B"] + ([r"\A", r"\Z"] if python else [])

    def pattern(self, depth: int = 3) -> str:
        return "|".join(self.branch(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))

    def branch(self, depth: int) -> str:
        return "".join(self.operand(depth) for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3, 4])))

    def operand(self, depth: int) -> str:
        choice = self.rng.random()
        if choice < 0.4:
            atom = self.rng.choice(self.characters)
        elif choice < 0.5:
            atom = self.rng.choice([".", r"\w", r"\W", r"\d", r"\s", r"\S", r"\n"])
        elif choice < 0.58:
            atom = self.rng.choice(["[ab]", "[^a]", r"[\w-]", r"[a-c\n]", r"[^\n]", r"[\W_]", r"[^\Wa]", "[k-z]"])
        elif choice < 0.75:
            atom = self.rng.choice(self.anchors)
            if self.rng.random() < 0.75:
                return atom
            atom = f"(?:{atom})"
        else:
            atom = self.rng.choice(self.groups).format(self.pattern(depth - 1)) if depth else "a"
        return atom + self.rng.choice([""] * 6 + "* + ? *? +? ?? {2} {0,2} {1,3} {2,} {2,3}? {0}".split())

    def texts(self) -> list[str]:
        alphabet = self.characters + "\n"
        return ["", "\n"] + ["".join(self.rng.choices(alphabet, k=self.rng.choice([1, 1, 2, 3, 4, 5, 6]))) for _ in range(20)]


def compare(pattern: str, texts: list[str], ours: Says, theirs: Callable[[str], object]) -> bool:
    """False where `re` takes too long to say."""
    try:
        with at_most(1.0):
            expected = [theirs(text) is not None for text in texts]
    except TimeoutError:
        return False
    assert [ours(text) for text in texts] == expected, (pattern, texts)
    return True


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_in_the_python_dialect(seed: int, long_run: bool) -> None:
    rng = random.Random(seed)
    writer = Writer(rng, python=True)
    n_compared = 0
    for _ in range(5000 if long_run else 300):
        pattern, texts = writer.pattern(), writer.texts()
        flags = rng.choice([0, 0, FLAG_IGNORE_CASE, FLAG_MULTI_LINE, FLAG_DOT_ALL, FLAG_MULTI_LINE | FLAG_DOT_ALL, FLAG_ASCII])
        if r"\B" in pattern:
            texts.remove("")  # before 3.14 \B does not match in the empty text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                judge = re.compile(pattern, re_flags(flags))
        except re.error:
            with pytest.raises((GrammarSyntaxError, UnsupportedRegexError)):
                engine(pattern, PYTHON_FULL, flags)
            continue
        n_compared += compare(pattern, texts, engine(pattern, PYTHON_FULL, flags), judge.fullmatch)
    assert n_compared > 250


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_in_the_ecma_dialect(seed: int, long_run: bool) -> None:
    rng = random.Random(seed)
    writer = Writer(rng, python=False)
    n_compared = 0
    for _ in range(5000 if long_run else 300):
        pattern, texts = writer.pattern(), writer.texts()
        flags = rng.choice([0, 0, 0, FLAG_MULTI_LINE, FLAG_DOT_ALL])
        if r"\B" in pattern:
            texts.remove("")
        for_re = pattern if flags & FLAG_MULTI_LINE else pattern.replace("$", r"\Z")
        judge = re.compile(for_re, re_flags(flags) | re.ASCII)
        n_compared += compare(pattern, texts, engine(pattern, ECMA_SEARCH, flags), judge.search)
        n_compared += compare(pattern, texts, engine(pattern, ECMA_FULL, flags), judge.fullmatch)
    assert n_compared > 500


def test_the_matcher_says_the_same() -> None:
    rng = random.Random(7)
    writer = Writer(rng, python=True)
    vocabulary = Vocabulary.bytes()
    n_compared = 0
    while n_compared < 30:
        pattern = writer.pattern(2)
        try:
            judge, grammar = re.compile(pattern), Grammar.from_regex(pattern)
        except (re.error, ValueError):  # also: matches nothing at all
            continue

        def ours(text: str, grammar: Grammar = grammar) -> bool:
            matcher = Matcher(grammar, vocabulary)
            return matcher.accept_bytes(text.encode()) and matcher.is_complete

        texts = writer.texts()
        if r"\B" in pattern:
            texts.remove("")
        n_compared += compare(pattern, texts, ours, judge.fullmatch)


# --- single characters ------------------------------------------------------------------------------------------------------------

KNOWN = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
MOVED = {"\u0295", "\U0001171e"}  # changed their category after Unicode 14


def differing(pattern: str, dialect: int, flags: int, judge: Callable[[str], bool]) -> list[str]:
    ours = engine(pattern, dialect, flags)
    return [hex(ord(c)) for c in KNOWN if c not in MOVED and ours(c) != judge(c)]


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        (r"\d", 0),
        (r"\W", 0),
        (r"\s", 0),
        (r".", 0),
        (r"\w", FLAG_ASCII),
        (r"\w", FLAG_IGNORE_CASE),
        ("[^k\u0345\u0130]", FLAG_IGNORE_CASE),
        (r"[^\W\d_a-z]", FLAG_IGNORE_CASE),
        ("[\u0370-\u03ff\u1e00-\u1eff\U00010400-\U00010440]", FLAG_IGNORE_CASE),
    ],
)
def test_python_classes_on_all_characters(pattern: str, flags: int) -> None:
    judge = re.compile(pattern, re_flags(flags))
    newer = {"0xdf", "0x1e9e"}  # Unicode 18 has a third one that is equal to these but for case
    assert set(differing(pattern, PYTHON_FULL, flags, lambda c: judge.fullmatch(c) is not None)) <= newer


@pytest.mark.parametrize(
    ("pattern", "judge"),
    [
        (r"\d", lambda c: c in "0123456789"),
        (r"\w", lambda c: c.isascii() and (c.isalnum() or c == "_")),
        (r"\s", lambda c: c in "\t\n\v\f\r\u2028\u2029\ufeff" or unicodedata.category(c) == "Zs"),
        (r".", lambda c: c not in "\n\r\u2028\u2029"),
        (r"\p{Lu}", lambda c: unicodedata.category(c) == "Lu"),
        (r"\P{gc=Decimal_Number}", lambda c: unicodedata.category(c) != "Nd"),
        (r"\p{L}", lambda c: unicodedata.category(c)[0] == "L"),
        (r"[\p{P}\p{Symbol}]", lambda c: unicodedata.category(c)[0] in "PS"),
        (r"\p{Assigned}", lambda c: True),
        (r"\p{ASCII}", str.isascii),
    ],
)
def test_ecma_classes_on_all_characters(pattern: str, judge: Callable[[str], bool]) -> None:
    assert differing(pattern, ECMA_FULL, 0, judge) == []


@pytest.mark.parametrize(
    "name",
    ["Script=Greek", "sc=Cyrl", "scx=Deva", "Script_Extensions=Han", "Alphabetic", "ID_Start", "XID_Continue", "Emoji", "White_Space"],
)
def test_properties_are_those_of_the_regex_package(name: str) -> None:
    judge = regex.compile(rf"\p{{{name}}}")
    sample = random.Random(0).sample(KNOWN, 20000) + KNOWN[:3000]
    ours = engine(rf"\p{{{name}}}", ECMA_FULL)
    assert [hex(ord(c)) for c in sample if ours(c) != (judge.fullmatch(c) is not None)] == []


PROPERTIES = ["Lu", "Ll", "Lt", "N", "Lower", "Greek", "sc=Latin", "scx=Deva", "gc=Mn"]


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize("flags", [0, FLAG_IGNORE_CASE])
def test_properties_in_the_python_dialect_list_their_characters(name: str, flags: int) -> None:
    """The `regex` package says which these are, and `re` what a set of them matches."""
    with pytest.raises(re.error):
        re.compile(rf"\p{{{name}}}")
    members = "".join(map(re.escape, filter(regex.compile(rf"\p{{{name}}}").fullmatch, KNOWN)))
    plane = [c for c in KNOWN if c < "\U00010000"]  # beyond it `re` does not fold the ranges of large sets
    newer = set("ßẞ\u019b\u0264\u0277\u027c\ua7d3\ua7d5\uab4b\uab4c")  # those that got another case after Unicode 14
    sample = set(random.Random(0).sample(plane, 500) + plane[:1200]) - newer
    for pattern, listed in (
        (r"\p{%s}", "[%s]"),
        (r"\P{%s}", "[^%s]"),
        (r"[1\p{%s}]", "[1%s]"),
        (r"(?<n>[\P{%s}a-f])", "[^%s]|[a-f]"),
        (r"[^\p{%s}]", "[^%s]"),
    ):
        judge, ours = re.compile(listed % members, re_flags(flags)), engine(pattern % name, PYTHON_FULL, flags)
        assert [hex(ord(c)) for c in sample if ours(c) != (judge.fullmatch(c) is not None)] == [], pattern


def test_capitals_beyond_the_first_plane_are_found_in_sets() -> None:
    """`re` misses them: docs/regex.md says so."""
    for pattern in ("[\U00010400a]", "[\U00010428a]", "[\U00010400-\U00010402]"):
        ours = engine(pattern, PYTHON_FULL, FLAG_IGNORE_CASE)
        assert ours("\U00010400") and ours("\U00010428") and not ours("\U00010450")


def test_code_points_in_braces() -> None:
    for dialect in (PYTHON_FULL, ECMA_FULL):
        assert engine(r"\u{1f600}[\u{61}-\u{0007A}]", dialect)("😀q")
    for pattern in (r"\u{}", r"\u{110000}", r"\u{61", r"\u{g}"):
        with pytest.raises(GrammarSyntaxError, match="bad escape"):
            engine(pattern, PYTHON_FULL)


def test_properties_with_the_flag_a_are_refused() -> None:
    for pattern, offset in ((r"(?a)é\p{L}", 5), (r"(?a:[\p{L}])", 5)):
        with pytest.raises(UnsupportedRegexError, match="Unicode property") as caught:
            Grammar.from_regex(pattern)
        assert (caught.value.construct, caught.value.offset) == ("Unicode property", offset)


def test_ecma_case_folding_is_simple() -> None:
    equal = ["kK\u212a", "sS\u017f", "ßẞ", "σςΣ", "ιΙ\u0345\u1fbe", "µμΜ", "\u0390\u1fd3", "\ufb05\ufb06", "ⅷⅧ", "𐐨𐐀"]
    for group in equal:
        for pattern in group:
            ours = engine(pattern, ECMA_FULL, FLAG_IGNORE_CASE)
            assert [c for c in "".join(equal) if ours(c)] == [c for c in "".join(equal) if c in group]
    assert not engine("i", ECMA_FULL, FLAG_IGNORE_CASE)("\u0130")
    assert not engine("ss", ECMA_FULL, FLAG_IGNORE_CASE)("ß")


# --- errors and size --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "construct", "offset"),
    [
        ("é(?:a(?!b)|ab)*b", "look-ahead", 5),
        ("é(?:(?<!b)a|c)", "look-behind", 4),
        (r"(a)é\1", "back-reference", 4),
        ("(?>a)", "atomic group", 0),
        ("a*+", "possessive quantifier", 1),
        ("(a)(?(1)b)", "conditional", 3),
        ("[[:alpha:]]", "POSIX class", 1),
    ],
)
def test_refused_by_name_and_offset(pattern: str, construct: str, offset: int) -> None:
    with pytest.raises(UnsupportedRegexError) as caught:
        Grammar.from_regex(pattern)
    assert (caught.value.construct, caught.value.offset) == (construct, offset)


@pytest.mark.parametrize(
    ("pattern", "offset"), [("a(b", 1), ("é)", 1), ("*a", 0), ("a**", 2), ("[b-a]", 1), ("[a", 0), (r"a\q", 1), ("a{3,2}", 1), ("a\\", 1)]
)
def test_malformed_with_offset(pattern: str, offset: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_regex(pattern)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?#\))a",
        r"(?#\\)a",
        "(?x)a # \\\nb\nc?",
        "(?x)a # \\\\\nc",
        r"(?x: a (?#\)) )",
        r"(?#\é)a",
        r"(?#\)",
        "(?x)a#\\",
        "(?x)a(?#\\",
    ],
)
def test_a_backslash_in_a_comment_takes_what_comes_next_with_it(pattern: str) -> None:
    try:
        judge = re.compile(pattern)
    except re.error:
        with pytest.raises(GrammarSyntaxError):
            engine(pattern, PYTHON_FULL)
        return
    ours = engine(pattern, PYTHON_FULL)
    assert [text for text in ("", "a", "ab", "ac", "abc", "a)") if ours(text) != (judge.fullmatch(text) is not None)] == []


def test_in_ecma_a_comment_ends_at_the_first_parenthesis() -> None:
    assert engine(r"(?#\)a", ECMA_FULL)("a")


def test_deep_nesting_is_a_limit() -> None:
    with pytest.raises(LimitExceededError):
        Grammar.from_regex("(" * 100_000)


def test_long_patterns() -> None:
    assert engine("a" * 100_000, PYTHON_FULL)("a" * 100_000)
    words = [f"word{i * 7919 % 10_000}" for i in range(10_000)]
    assert engine("|".join(words), PYTHON_FULL)("word4711")
    assert engine("|".join(f"^{word}$" for word in words), ECMA_SEARCH)("word4711")
    assert not engine(r"\b(?:" + "|".join(words) + r")\b", ECMA_SEARCH)("word47111")


def test_optional_parts_that_come_again_and_again() -> None:
    """Sixteen rules, each of them the next one twice: 65,536 places at which a text may be, and all of them are one suffix of the whole."""
    levels = "".join(f'R{i}: R{i + 1} R{i + 1} "b"?\n' for i in range(16))
    grammar = Grammar.from_lark(f'start: R0 ";"\n{levels}R16: "a"? "c"?\n')
    matcher = Matcher(grammar, Vocabulary.bytes())
    for text, complete in ((b"abcacbbcabcacbbc", False), (b"aabca", False), (b";", True)):
        assert matcher.accept_bytes(text) and matcher.is_complete == complete
        assert matcher.is_complete or ord(";") in matcher.allowed_tokens()
    assert grammar.stats.derivatives < 500  # one arm for each place: more than 20,000
