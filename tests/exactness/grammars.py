"""Random and enumerated expressions and grammars, through the IR `Builder`.

Idea. Small and nasty beats large: few symbols over few letters, so that recursion, nullability, ambiguity and overlap of lexemes
meet in most grammars. Whatever a generator makes is legal; that a grammar has no sentence is an outcome like any other.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from grammar_engine import ir

LETTERS = (b"a", b"b", b"c")
MIXED = (b"a", b"b", "\u00e9".encode(), "\U0001f600".encode())  # characters of 1, 2 and 4 bytes


# --- expressions ------------------------------------------------------------------------------------------------------


def random_expr(rng: random.Random, b: ir.Builder, depth: int, alphabet: tuple[bytes, ...] = LETTERS) -> ir.Expr:
    """Any operator, but those that `random_special` makes."""
    if depth == 0 or rng.random() < 0.15:
        return _random_leaf(rng, b, alphabet)

    def part() -> ir.Expr:
        return random_expr(rng, b, depth - 1, alphabet)

    kind = rng.randrange(10)
    if kind < 3:
        return b.concat(*(part() for _ in range(rng.randint(2, 3))))
    if kind < 5:
        return b.union(*(part() for _ in range(rng.randint(2, 3))))
    if kind < 7:
        return b.repeat(part(), *rng.choice([(0, None), (0, None), (1, None), (2, None), (0, 2), (1, 3), (2, 5), (3, 3), (0, 40)]))
    if kind == 7:
        return b.intersect(part(), part())
    if kind == 8:
        return b.intersect(b.repeat(b.union(*map(b.bytes, alphabet)), 0, rng.choice([None, 4])), b.complement(part()))
    return b.optional(part())


def _random_leaf(rng: random.Random, b: ir.Builder, alphabet: tuple[bytes, ...]) -> ir.Expr:
    kind = rng.randrange(8)
    if kind < 3:
        return b.bytes(rng.choice(alphabet))
    if kind == 3:
        return b.bytes(b"".join(rng.choices(alphabet, k=rng.randint(0, 3))))
    if kind == 4:
        return b.byte_set(rng.sample(list(b"".join(alphabet)), 2))
    if kind == 5:
        return b.chars([(ord("a"), ord("b"))] if rng.random() < 0.5 else [(ord("b"), 0xE9), (0x1F000, 0x1F6FF)])
    if kind == 6:
        return b.literals(b"".join(rng.choices(alphabet, k=rng.randint(0, 4))) for _ in range(rng.randint(1, 6)))
    return b.complement(b.bytes(rng.choice(alphabet))) if rng.random() < 0.1 else b.char


SPECIAL_ALPHABET = (b'"', b"\\", b"u", b"n", b"0", b"1", b"2", b"5", b".", b"a", b"\n")


def random_special(rng: random.Random, b: ir.Builder) -> ir.Expr:
    """JSON spellings, multiples and pattern text, over `SPECIAL_ALPHABET`."""
    kind = rng.randrange(4)
    if kind == 0:
        low = rng.choice([0, 0, 5, 12, 250, 1050])
        return b.multiple_of(rng.choice([1, 2, 3, 7, 25, 100]), rng.choice([0, 1, 2]), low, rng.choice([None, low + 3, 2001, 50_000]))
    if kind == 1:
        return b.pattern(random_pattern(rng, 2, "au05n"), rng.choice([ir.ECMA_SEARCH, ir.ECMA_FULL, ir.PYTHON_FULL]))
    texts = rng.choice([
        b.text, b.repeat(b.char, 0, 2), b.literals([b"\n", b"a/", b'"\\', b"\x01", "\u00e9".encode()]),
        b.text_minus(b.concat(b.text, b.bytes(b"a"), b.text)), b.pattern(random_pattern(rng, 2, "au5\n")),
        b.chars([(0, 0x12), (0xD000, 0xF000), (0x10000, 0x10800)]),
    ])  # fmt: skip
    return b.concat(b.bytes(b'"'), b.json(texts, rng.choice([ir.ESCAPES_MINIMAL, ir.ESCAPES_ALL])), b.bytes(b'"'))


def random_pattern(rng: random.Random, depth: int, letters: str) -> str:
    """Pattern text that means the same in all dialects and in Python's `re`."""
    if depth == 0:
        one, other = rng.choice(letters), rng.choice(letters)
        return rng.choice([one, one, f"[{min(one, other)}-{max(one, other)}]", f"[{one}{other}]", f"[^{one}]", r"\d", r"[^\d]", r"\D"])
    first, second = random_pattern(rng, depth - 1, letters), random_pattern(rng, depth - 1, letters)
    counts = rng.choice(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0,2}?"])
    return rng.choice([first, first + second, first + second, f"(?:{first}|{second})", f"({first}){counts}", f"(?:{first}){counts}"])


# --- grammars ---------------------------------------------------------------------------------------------------------


def random_grammar(rng: random.Random, special: bool = False, longest: bool = False) -> tuple[ir.Builder, tuple[bytes, ...]]:
    """A grammar and the alphabet of its texts: recursion of all kinds, nullable and empty lexemes, skips, lists, lazy lexemes."""
    b = ir.Builder()
    alphabet = SPECIAL_ALPHABET if special else rng.choice([LETTERS, LETTERS, LETTERS[:2], MIXED])
    symbols: list[ir.Symbol] = []
    simple = rng.random() < 0.4
    for index in range(rng.randint(1, 4)):
        if special and rng.random() < 0.6:
            expr = random_special(rng, b)
        elif simple:
            expr = b.bytes(rng.choice(alphabet))
        else:
            expr = random_expr(rng, b, rng.randint(0, 3), alphabet)
        lazy = rng.random() < 0.1
        if lazy or longest:  # a lazy lexeme's, or a longest run's, empty match is of no use to anyone
            expr = b.intersect(expr, b.repeat(b.byte_set(range(256)), 1, None))
        symbols.append(b.lexeme(expr, f"L{index}", lazy=lazy))
    nonterminals = [b.nonterminal(f"N{index}") for index in range(rng.randint(1, 4))]
    symbols += nonterminals
    for index in range(rng.choice([0, 0, 1, 2])):
        low, high = rng.choice([(0, None), (1, None), (2, None), (0, 0), (0, 1), (1, 1), (2, 4), (0, 3), (0, 1_000_000), (3, 3)])
        symbols.append(b.list_of(rng.choice(symbols), rng.choice([None, *symbols]), low, high, f"list{index}"))
    for nonterminal in nonterminals:
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            b.rule(nonterminal, rng.choices(symbols, k=rng.choice([0, 1, 1, 2, 2, 3])))
    if rng.random() < 0.25:
        skip = b.bytes(alphabet[-1]) if rng.random() < 0.6 else b.repeat(random_expr(rng, b, 1, alphabet), 1, None)
        b.lexeme(b.intersect(skip, b.repeat(b.byte_set(range(256)), 1, None)), "skip", skip=True)
    b.start = nonterminals[0]
    b.longest = longest
    return b, alphabet


def random_scanner(rng: random.Random) -> tuple[ir.Builder, tuple[bytes, ...]]:
    """What a classic scanner reads, with `longest`: names, key words that are beginnings of
    names, operators and comments that begin alike. And all texts of up to three pieces."""
    b = ir.Builder()
    most = rng.choice([None, None, 3, 40])
    name = b.lexeme(b.concat(b.byte_set(b"ab"), b.repeat(b.byte_set(b"ab0"), 0, most)), "name")
    words = [b.lexeme(b.bytes(text), text.decode()) for text in rng.sample([b"a", b"ab", b"b", b"aa", b"0a", b"00"], 2)]
    signs = [b.lexeme(b.bytes(text), text.decode()) for text in rng.sample([b"<", b"<=", b"=", b"=0", b"0"], 3)]
    other = b.lexeme(rng.choice([b.repeat(b.bytes(b"0"), 1, most), b.pattern("<=[^=]*=|0+<0+", ir.ECMA_FULL)]), "other")
    symbols: list[ir.Symbol] = [name, *words, *signs, other]
    nonterminals = [b.nonterminal(f"N{i}") for i in range(rng.randint(1, 2))]
    for nonterminal in nonterminals:
        b.rule(nonterminal, [name, rng.choice(signs)])
        b.rule(nonterminal, [rng.choice(words), name, rng.choice(signs)])
        for _ in range(rng.randint(0, 2)):
            b.rule(nonterminal, [rng.choice(symbols), *rng.choices([*symbols, *nonterminals], k=rng.randint(1, 3))])
    if rng.random() < 0.5:
        b.lexeme(b.repeat(b.bytes(b" "), 1, None), "skip", skip=True)
    b.start = nonterminals[0]
    b.longest = True
    pieces = [b"a", rng.choice([b"ab", b"0"]), b" ", *rng.sample([b"b", b"<", b"<=", b"="], 2)]
    return b, tuple(sorted({b"".join(text) for n in (1, 2, 3) for text in itertools.product(pieces, repeat=n)}))


def one_lexeme(b: ir.Builder, expr: ir.Expr) -> ir.Builder:
    """The grammar whose sentences are the strings of `expr`."""
    b.start = b.nonterminal("start")
    b.rule(b.start, [b.lexeme(expr, "all")])
    return b


# --- exhaustive small worlds ------------------------------------------------------------------------------------------

Shape = tuple[Any, ...]


def all_shapes(operators: int) -> Iterator[Shape]:
    """All regular expressions over {a, b} with that many operators, up to the order of operands of `|` and `&`."""
    if operators == 0:
        yield from (("a",), ("b",))
        return
    for part in all_shapes(operators - 1):
        yield from (("*", part), ("?", part), ("~", part), ("{2}", part), ("{1,2}", part))
    for left in range(operators):
        for first, second in itertools.product(all_shapes(left), all_shapes(operators - 1 - left)):
            yield ".", first, second
            if first <= second:
                yield "|", first, second
                yield "&", first, second


def build_shape(b: ir.Builder, shape: Shape) -> ir.Expr:
    """The expression of a shape."""
    parts = [build_shape(b, part) for part in shape[1:]]
    repeats = {"*": (0, None), "?": (0, 1), "{2}": (2, 2), "{1,2}": (1, 2)}
    if shape[0] in repeats:
        return b.repeat(parts[0], *repeats[shape[0]])
    if shape[0] in (".", "|", "&"):
        return {".": b.concat, "|": b.union, "&": b.intersect}[shape[0]](*parts)
    return b.complement(parts[0]) if shape[0] == "~" else b.string(shape[0])


def all_rule_sets() -> Iterator[tuple[tuple[str, str], ...]]:
    """All grammars of one to three rules "A" or "B" -> up to three symbols of "ABa", A first. Very many: take every n-th."""
    rights = ["".join(right) for length in range(4) for right in itertools.product("ABa", repeat=length)]
    rules = [(left, right) for left in "AB" for right in rights]
    for count in (1, 2, 3):
        for chosen in itertools.combinations(rules, count):
            if chosen[0][0] == "A":
                yield chosen


def build_rules(rules: tuple[tuple[str, str], ...]) -> ir.Builder:
    """Upper case: nonterminals, "A" is the start. Lower case: lexemes."""
    b = ir.Builder()
    symbols = {name: b.nonterminal(name) for name in "AB"}
    symbols["a"] = b.lexeme(b.string("a"), "a")
    for left, right in rules:
        b.rule(symbols[left], [symbols[symbol] for symbol in right])
    b.start = symbols["A"]
    return b
