"""The methods of `ir.Builder` that are in C: what they collect, bad arguments, memory."""

from __future__ import annotations

import gc
import random
import tracemalloc
import weakref
from typing import Any

import pytest

from grammar_engine import ir


class Plain:
    """The same in Python, in words of its own: records as a list, found by a look at all of them."""

    def __init__(self) -> None:
        self.records: list[tuple[int, ...]] = [(0, 0), (1, 0), (4, 2, 0, 0x10FFFF), (9, 3, 2, 0, 0xFFFFFFFF)]
        self.data = b""
        self.known: dict[bytes, int] = {}
        self.lexemes: list[tuple[Any, ...]] = []
        self.nonterminals: list[tuple[str, str | None]] = []
        self.rules: list[int] = []

    def expr(self, *record: int) -> int:
        if record not in self.records:
            self.records.append(record)
        return self.records.index(record)

    def bytes(self, literal: bytes) -> int:
        if not literal:
            return 1
        if literal not in self.known:
            self.known[literal] = len(self.data)
            self.data += literal
        return self.expr(2, 2, self.known[literal], len(literal))

    def concat(self, *parts: int) -> int:
        rest = [part for part in parts if part != 1]
        if 0 in parts:
            return 0
        return 1 if not rest else rest[0] if len(rest) == 1 else self.expr(5, len(rest), *rest)

    def lexeme(self, expr: int, name: str, where: str | None, lazy: bool, skip: bool) -> int:
        flags = int(lazy) + 2 * int(skip)
        for i, known in enumerate(self.lexemes):
            if known[:3] == (expr, flags, where):
                return 2 * i
        self.lexemes.append((expr, flags, where, name))
        return 2 * len(self.lexemes) - 2


def test_they_collect_what_is_asked_for() -> None:
    rng = random.Random(1)
    for _ in range(200):
        builder, plain, exprs = ir.Builder(), Plain(), [0, 1, 2, 3]
        for _ in range(rng.randint(0, 120)):
            text = "".join(rng.choices("abé\0", k=rng.choice([0, 1, 1, 2, 300])))
            parts = rng.choices(exprs, k=rng.randint(0, 5))
            where, lazy, skip = rng.choice([None, "", "/a"]), rng.random() < 0.3, rng.random() < 0.3
            match rng.randrange(6):
                case 0:
                    exprs.append(plain.bytes(text.encode()))
                    assert builder.bytes(text.encode()) == exprs[-1]
                case 1:
                    exprs.append(plain.bytes(text.encode()))
                    assert builder.string(text) == exprs[-1]
                case 2:
                    exprs.append(plain.concat(*parts))
                    assert builder.concat(*parts) == exprs[-1]
                case 3:
                    symbol = plain.lexeme(exprs[-1], text, where, lazy, skip)
                    assert builder.lexeme(exprs[-1], text, skip=skip, where=where, lazy=lazy) == symbol
                case 4:
                    plain.nonterminals.append((text, where))
                    assert builder.nonterminal(text, where=where) == 2 * len(plain.nonterminals) - 1
                case 5:
                    left, right = 2 * rng.randrange(9) + 1, rng.choice([list, tuple])(parts)
                    plain.rules += (left >> 1, len(right), *right)
                    builder.rule(left, right)
        assert builder.words.tolist() == [word for record in plain.records for word in record]
        assert builder.n_exprs == len(plain.records)
        assert builder.data == plain.data
        assert builder.lexeme_records == [number for lexeme in plain.lexemes for number in lexeme[:2]]
        assert builder.lexemes == [ir.SymbolInfo(name, where) for _, _, where, name in plain.lexemes]
        assert builder.nonterminals == plain.nonterminals
        assert {type(info) for info in (*builder.lexemes, *builder.nonterminals)} <= {ir.SymbolInfo}
        assert builder.rule_records == plain.rules


def test_bags() -> None:
    builder = ir.Builder()
    for name in ("first", "second"):
        builder.nonterminal(name)
    ways = [ir.Way((0, 2), (0, 2), 1, True), ir.Way((4,), (1,)), ir.Way((), ())]
    symbol = builder.bag(
        ways, [(0, 1), (2, None), (1, 5)], 6, "bag", ranked=True, asks={1: [0, 2]}, choices=[(None, [[0, 2], [1]]), (2, [])], where="/x"
    )
    assert symbol == 5
    assert builder.nonterminals[2] == ("bag", "/x")
    bounds = [0, 1, 0, 2, ir.UNBOUNDED, 2, 0, 2, 1, 5, 0]
    choices = [ir.UNBOUNDED, 2, 2, 0, 2, 1, 1, 2, 0]
    assert builder.bag_records == [2, 6, 1, 3, 3, 2, *bounds, 1, 1, 2, 2, 0, 2, 0, 2, 0, 0, 1, 1, 4, 1, 0, 0, 0, 0, *choices]
    for slot in [(0, 0), (2, 1), (-1, 3), (0, -1), (ir.UNBOUNDED, None), (0, ir.UNBOUNDED), (0, 1 << 80), (1 << 80, None)]:
        with pytest.raises(ValueError, match="a slot that is raised"):
            ir.Builder().bag([], [slot], None, "bag")
    for slots, ways_given in ([(1,)], []), ([], [(1, 2)]), ([5], []), ([(0, 1)], [((1,), 5, 0, False)]), ([], [((1,), (), "x", False)]):
        with pytest.raises((TypeError, ValueError)):
            ir.Builder().bag(ways_given, slots, None, "bag")
    for choice in (None, (None,), (-1, [[0]]), ("x", [[0]]), (None, 5), (None, [3])):
        with pytest.raises((TypeError, ValueError)):
            ir.Builder().bag([], [(0, 1)], None, "bag", choices=[choice])


@pytest.mark.parametrize(
    "call",
    [
        lambda b: b.bytes("text"),
        lambda b: b.bytes(bytearray(b"x")),
        lambda b: b.bytes(),
        lambda b: b.string(b"x"),
        lambda b: b.string("\ud800"),
        lambda b: b._span("x"),
        lambda b: b.concat("x", "y"),
        lambda b: b.concat(4, None),
        lambda b: b.concat(1 << 80, 4),
        lambda b: b._node([]),
        lambda b: b.lexeme(1),
        lambda b: b.lexeme([], "x"),
        lambda b: b.lexeme(1, "x", "/where"),
        lambda b: b.lexeme(1, "x", place="/where"),
        lambda b: b.nonterminal(),
        lambda b: b.nonterminal("x", name="y"),
        lambda b: b.rule(1),
        lambda b: b.rule("x", ()),
        lambda b: b.rule(1, 5),
        lambda b: b._put_bag(),
        lambda b: b._put_bag(0, 0, True, (), (), None),
        lambda b: b._put_bag("x", 0, True, [], [], None),
        lambda b: b._put_bag(0, 0, True, [(0, 1)], [], 5),
    ],
)
def test_bad_arguments(call: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError, SystemError)):
        call(ir.Builder())


NAMES = [
    "_ids",
    "_latest",
    "fragments",
    "_spans",
    "data",
    "lexemes",
    "lexeme_records",
    "_lexeme_ids",
    "nonterminals",
    "rule_records",
    "bag_records",
]


def calls(builder: ir.Builder) -> None:
    builder.bytes(b"some text")
    builder.concat(2, 3)
    builder.lexeme(2, "x")
    builder.nonterminal("x")
    builder.rule(1, (2, 4))
    builder.bag([ir.Way((0,), (0,))], [(0, 1)], None, "x")


@pytest.mark.parametrize("name", [*NAMES, "_info"])
@pytest.mark.parametrize("value", [None, 5, "gone"])
def test_parts_that_are_gone_or_of_another_kind(name: str, value: Any) -> None:
    """Nothing crashes, and something is raised."""
    builder = ir.Builder()
    if value == "gone":
        delattr(builder, name)
    else:
        setattr(builder, name, value)
    with pytest.raises((TypeError, AttributeError, SystemError)):
        calls(builder)


def test_one_that_was_never_begun() -> None:
    with pytest.raises((AttributeError, TypeError)):
        calls(ir.Builder.__new__(ir.Builder))


def test_nothing_is_kept() -> None:
    class Marked(ir.Builder):
        """Of which there are weak references."""

    builder: Any = Marked()
    calls(builder)
    builder.lexemes.append(builder)  # in a circle
    gone = weakref.ref(builder)
    del builder
    gc.collect()
    assert gone() is None
    sizes = []
    tracemalloc.start()
    for _ in range(3):
        for _ in range(200):
            calls(ir.Builder())
            for call in (lambda: ir.Builder().concat(4, None), lambda: ir.Builder().rule(1, 5), lambda: ir.Builder().lexeme([], "x")):
                with pytest.raises(TypeError):
                    call()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[2] - sizes[1] < 10_000
