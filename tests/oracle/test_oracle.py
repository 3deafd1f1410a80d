"""The oracle against things that are even simpler: `re`, `json`, `fractions`, and sets of strings written out in full."""

from __future__ import annotations

import itertools
import json
import random
import re
from fractions import Fraction

import pytest

from grammar_engine import ir
from oracle import expr as ex
from oracle import pattern
from oracle.earley import Recogniser

CHARACTERS = ["a", "b", "\u00e9", "1", "\n", "\r", " ", "\U0001f600", "\u0661", "\u2028", "\u00a0"]


def random_pattern(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["a", "b", "\u00e9", "[ab]", "[^a]", ".", r"\d", r"\w", r"\W", "[a-c]", r"[\d\n]"])
    first, second = random_pattern(rng, depth - 1), random_pattern(rng, depth - 1)
    forms = [first, first + second, f"(?:{first}|{second})", f"(?:{first})*", f"({first})+?", f"(?:{first}){{1,3}}", f"(?:{first}){{2,}}"]
    return rng.choice(forms)


@pytest.mark.parametrize("dialect", [ir.ECMA_SEARCH, ir.PYTHON_FULL, ir.ECMA_FULL])
def test_patterns_equal_re(dialect: int) -> None:
    rng = random.Random(dialect)
    for _ in range(120):
        source = rng.choice(["", "^"]) + random_pattern(rng, 3) + rng.choice(["", "$"])
        flags = rng.choice([0, ir.FLAG_DOT_ALL, ir.FLAG_ASCII, ir.FLAG_IGNORE_CASE]) if dialect == ir.PYTHON_FULL else 0
        e = pattern.read(source, dialect, flags)
        for _ in range(40):
            text = "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(0, 5)))
            if dialect != ir.PYTHON_FULL and "." in source and set(text) & set("\r\u2028"):
                continue  # here the languages differ
            assert ex.contains(e, text.encode()) == pattern.python_says(source, dialect, flags, text), (source, text)


def test_chars_are_utf8() -> None:
    e = ex.chars([(0x41, 0x90), (0x7F0, 0x820), (0xD000, 0xE010), (0xFFF0, 0x10010), (0x10FFF0, 0x10FFFF)])
    for code in [*range(0x30, 0x1000), *range(0xCFF0, 0xE020), *range(0xFF00, 0x10020), *range(0x10FF00, 0x110000)]:
        expected = any(a <= code <= b for a, b in [(0x41, 0x90), (0x7F0, 0x820), (0xD000, 0xE010), (0xFFF0, 0x10010), (0x10FFF0, 0x10FFFF)])
        encoded = chr(code).encode("utf-8", "surrogatepass")
        assert ex.contains(e, encoded) == (expected and not 0xD800 <= code <= 0xDFFF), hex(code)
    assert not ex.contains(e, b"\xc1\x81") and not ex.contains(e, b"\xe0\x81\x81")  # too long a spelling


def test_text_is_what_python_decodes() -> None:
    rng = random.Random(1)
    for _ in range(20000):
        content = bytes(
            rng.choice(b"a\x7f\x80\x8f\x90\xbf\xc1\xc2\xdf\xe0\xe1\xed\xef\x9f\xa0\xf0\xf4\xf5") for _ in range(rng.randint(1, 4))
        )
        try:
            content.decode()
            valid = True
        except UnicodeDecodeError:
            valid = False
        assert ex.contains(ex.TEXT, content) == valid, content


def test_json_spellings_are_those_that_json_reads_back() -> None:
    values = ["", "a", '"', "\\", "/", "\n\t\x00\x1f\x7f", "\u00e9", "\u2028", "\U0001f600x", "\ud7ff\ue000\uffff", "\U0010ffff\U00010000"]
    e = ex.union(ex.literal(value.encode()) for value in values)
    every = ex.json(e, ir.ESCAPES_ALL)
    minimal = ex.json(e, ir.ESCAPES_MINIMAL)
    rng = random.Random(2)
    for value in values:
        for _ in range(40):
            spelling = "".join(random_spelling(rng, character) for character in value)
            assert json.loads(f'"{spelling}"') == value
            assert ex.contains(every, spelling.encode()), spelling
            assert not ex.contains(every, (spelling + "b").encode())
        plain = json.dumps(value, ensure_ascii=False)[1:-1]
        assert ex.contains(minimal, plain.encode())
    assert ex.contains(minimal, rb"\n\t\u0000\u001F" + b"\x7f") and ex.contains(minimal, rb"\n\t\u0000\u001f" + b"\x7f")
    for wrong in (rb"\/", rb"\u0061", rb"\u00e9", rb"\u000a\t\u0000\u001f" + b"\x7f", rb"\u0022", b'"', b"\\"):
        assert not ex.contains(minimal, wrong), wrong
    for wrong in (rb"\ud83d", rb"\ude00", rb"\ude00\ud83d", rb"\U0061", rb"\x61", rb"\ud83d\u0061"):
        assert not ex.contains(ex.json(ex.TEXT, ir.ESCAPES_ALL), wrong), wrong


def random_spelling(rng: random.Random, character: str) -> str:
    code = ord(character)
    short = {'"': r"\"", "\\": r"\\", "/": r"\/", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
    units = [code] if code < 0x10000 else [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)]
    ways = ["".join("\\u" + "".join(rng.choice([d, d.upper()]) for d in f"{unit:04x}") for unit in units)]
    if character in short:
        ways.append(short[character])
    if code >= 0x20 and character not in '"\\':
        ways.append(character)
    return rng.choice(ways)


@pytest.mark.parametrize(("divisor", "scale"), [(1, 0), (3, 0), (10, 0), (7, 1), (25, 2), (1, 2), (15, 1), (4, 3)])
def test_multiples_equal_fractions(divisor: int, scale: int) -> None:
    e = ex.multiple(divisor, scale, "start", 0, 0)
    unit = Fraction(divisor, 10**scale)
    for length in range(1, 6):
        for text in map("".join, itertools.product("0157.", repeat=length)):
            expected = re.fullmatch(r"\d+(\.\d+)?", text) is not None and Fraction(text) % unit == 0
            assert ex.contains(e, text.encode()) == expected, text


@pytest.mark.parametrize(("low", "high", "scale"), [(0, None, 0), (7, 150, 0), (50, 50, 1), (1050, None, 2), (10, 5175, 2), (5, 7, 2)])
def test_numbers_in_a_range(low: int, high: int | None, scale: int) -> None:
    builder = ir.Builder()
    expr = builder.multiple_of(5, scale, low, high)
    known = ex.read(builder)[expr]
    syntax = r"(0|[1-9]\d*)(\.\d+)?" if scale else r"0|[1-9]\d*"
    for length in range(1, 6):
        for text in map("".join, itertools.product("0157.", repeat=length)):
            value = Fraction(text) * 10**scale if re.fullmatch(syntax, text) else None
            expected = value is not None and value % 5 == 0 and low <= value and (high is None or value <= high)
            assert ex.contains(known, text.encode()) == expected, text


def test_emptiness_is_exact() -> None:
    builder = ir.Builder()
    a, b = builder.bytes(b"a"), builder.bytes(b"b")
    even = builder.repeat(builder.concat(a, a), 0, None)
    odd = builder.concat(a, even)
    empty = [
        builder.never, builder.intersect(a, b), builder.intersect(even, odd), builder.intersect(builder.text, builder.byte_set([0xFF])),
        builder.intersect(builder.repeat(a, 3, 7), builder.repeat(builder.repeat(a, 5, 5), 2, None)), builder.text_minus(builder.text),
        builder.intersect(builder.json(builder.repeat(builder.char, 1, 1)), builder.empty),
        builder.intersect(builder.multiple_of(2, 0), builder.concat(builder.repeat(builder.byte_set(b"0123456789"), 0, None), builder.byte_set(b"13"))),
    ]  # fmt: skip
    inhabited = [
        builder.empty, builder.complement(a), builder.intersect(builder.repeat(a, 3, 10), builder.repeat(builder.repeat(a, 5, 5), 2, None)),
        builder.text_minus(builder.repeat(builder.char, 0, 5)), builder.json(builder.char, ir.ESCAPES_ALL), builder.multiple_of(7, 3),
        builder.literals([b"x", b"yy"]), builder.pattern("a$"),
    ]  # fmt: skip
    assert [ex.is_empty(builder, e) for e in empty] == [True] * len(empty)
    assert [ex.is_empty(builder, e) for e in inhabited] == [False] * len(inhabited)


# --- Earley -----------------------------------------------------------------------------------------------------------


def sentences(rules: dict[str, list[str]], start: str, length: int) -> set[str]:
    """All sentences of up to `length` symbols (lower case: terminals), by adding strings until nothing is new."""
    known: dict[str, set[str]] = {name: set() for name in rules}
    changed = True
    while changed:
        changed = False
        for name, alternatives in rules.items():
            for right in alternatives:
                texts = {""}
                for symbol in right:
                    follow = known[symbol] if symbol in rules else {symbol}
                    texts = {x + y for x in texts for y in follow if len(x + y) <= length}
                changed |= not texts <= known[name]
                known[name] |= texts
    return known[start]


def build(rules: dict[str, list[str]], start: str, skip: bytes = b"") -> ir.Builder:
    builder = ir.Builder()
    symbols = {name: builder.nonterminal(name) for name in rules}
    for name, alternatives in rules.items():
        for right in alternatives:
            builder.rule(symbols[name], [symbols[s] if s in rules else builder.lexeme(builder.string(s), s) for s in right])
    if skip:
        builder.lexeme(builder.bytes(skip), "skip", skip=True)
    builder.start = symbols[start]
    return builder


def test_earley_equals_enumeration() -> None:
    rng = random.Random(3)
    for _ in range(150):
        names = "ABC"[: rng.randint(1, 3)]
        rules = {
            name: ["".join(rng.choice(names + "abab") for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))) for _ in range(rng.randint(1, 3))]
            for name in names
        }
        expected = sentences(rules, "A", 5)
        recogniser, spaced = Recogniser(build(rules, "A")), Recogniser(build(rules, "A", b" "))
        assert expected or recogniser.start() is None or recogniser.productive
        for length in range(5):
            for text in map("".join, itertools.product("ab", repeat=length)):
                state = recogniser.run(text.encode())
                assert (state is not None and recogniser.is_sentence(state)) == (text in expected), (rules, text)
                if any(sentence.startswith(text) for sentence in expected):
                    assert state is not None
                state = spaced.run(("  " + " ".join(text) + " ").encode())
                assert (state is not None and spaced.is_sentence(state)) == (text in expected), (rules, text)


def test_no_state_is_a_dead_end() -> None:
    """From every state some sentence is reached (so a prefix that is accepted can be completed)."""
    rng = random.Random(4)
    for _ in range(100):
        rules = {
            name: ["".join(rng.choice("ABCab") for _ in range(rng.choice([0, 1, 2, 2, 3]))) for _ in range(rng.randint(1, 3))]
            for name in "ABC"
        }
        recogniser = Recogniser(build(rules, "A"))
        state = recogniser.start()
        if state is None:
            assert not sentences(rules, "A", 6)
            continue
        for _ in range(4):
            assert _reaches_sentence(recogniser, state), rules
            following = [after for byte in b"ab" if (after := state.step(byte)) is not None]
            if not following:
                break
            state = rng.choice(following)


def _reaches_sentence(recogniser: Recogniser, state: object, most: int = 14) -> bool:
    layer = [state]
    for _ in range(most):
        if any(map(recogniser.is_sentence, layer)):
            return True
        layer = [after for s in layer for byte in b"ab" if (after := s.step(byte)) is not None][:64]
    return False


@pytest.mark.parametrize("separator", [None, b",", b"?"])
@pytest.mark.parametrize(("low", "high"), [(0, None), (1, None), (3, None), (0, 0), (0, 1), (1, 1), (2, 4), (0, 3)])
def test_lists(low: int, high: int | None, separator: bytes | None) -> None:
    for optional_item in (False, True):
        builder = ir.Builder()
        item = builder.lexeme(builder.optional(builder.bytes(b"a")) if optional_item else builder.bytes(b"a"), "item")
        optional_separator = separator == b"?"
        expr = None if separator is None else builder.optional(builder.bytes(b",")) if optional_separator else builder.bytes(b",")
        builder.start = builder.list_of(item, None if expr is None else builder.lexeme(expr, "separator"), low, high, "list")
        recogniser = Recogniser(builder)
        between = {None: "", b",": ",", b"?": ",?"}[separator]
        one = "a?" if optional_item else "a"
        some = f"{one}(?:{between}{one}){{{max(low - 1, 0)},{'' if high is None else max(high - 1, 0)}}}"
        source = "" if high == 0 else f"(?:{some})?" if low == 0 else some
        for length in range(7):
            for text in map("".join, itertools.product("a,", repeat=length)):
                state = recogniser.run(text.encode())
                got = state is not None and recogniser.is_sentence(state)
                assert got == (re.fullmatch(source, text) is not None), (text, source)


def test_every_split_counts_and_longest_does_not() -> None:
    for longest, dead in ((False, False), (True, True)):
        builder = ir.Builder()
        word = builder.lexeme(builder.union(builder.bytes(b"list"), builder.bytes(b"listen")), "word")
        builder.start = builder.nonterminal("start")
        builder.rule(builder.start, [word, builder.lexeme(builder.bytes(b"ened"), "ened")])
        builder.longest = longest
        recogniser = Recogniser(builder)
        assert recogniser.run(b"liste") is not None
        state = recogniser.run(b"listened")  # "listen" is the longer match, so "list" + "ened" is given up
        assert (state is None) == dead


def test_lazy_ends_at_the_first_match() -> None:
    builder = ir.Builder()
    body = builder.concat(builder.bytes(b"<"), builder.text, builder.bytes(b">"))
    builder.start = builder.nonterminal("start")
    builder.rule(builder.start, [builder.lexeme(body, "tag", lazy=True), builder.lexeme(builder.bytes(b"x"), "x")])
    recogniser = Recogniser(builder)
    assert recogniser.is_sentence(recogniser.run(b"<a>x"))
    assert recogniser.run(b"<a>>") is None


def test_unproductive_symbols_are_no_way_on() -> None:
    builder = ir.Builder()
    a, void = (
        builder.lexeme(builder.bytes(b"a"), "a"),
        builder.lexeme(builder.intersect(builder.bytes(b"b"), builder.char, builder.bytes(b"c")), "v"),
    )
    builder.start = builder.nonterminal("start")
    builder.rule(builder.start, [a])
    builder.rule(builder.start, [a, a, void])
    builder.rule(builder.start, [a, builder.list_of(void, None, 0, None, "list")])
    recogniser = Recogniser(builder)
    assert recogniser.is_sentence(recogniser.run(b"a"))
    assert recogniser.run(b"aa") is None
    builder.start = builder.list_of(void, a, 1, None, "list")
    assert Recogniser(builder).start() is None
