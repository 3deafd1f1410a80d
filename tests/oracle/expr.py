"""Expressions over bytes: the truth about every operator of the IR.

Idea. An expression is a set of byte strings. Its derivative by a byte c is the set { s : cs in the set }; a string belongs to the
set when the derivative by all of its bytes holds the empty string (is *nullable*). Nothing here is ever compiled.

Invariants. Expressions are interned: equal structure is one object, so `is` compares and a dictionary remembers. The constructors
apply only the laws that keep the number of derivatives finite (Brzozowski 1964: union and intersection are associative, commutative and
idempotent) and those that drop the empty set. Emptiness is exact: all derivatives are visited, until a nullable one is found.

A number written in digits of a fixed width (the tail of a UTF-8 sequence, the four digits of \\uXXXX) is one leaf: `digits`.
The JSON spelling of an expression is unfolded one character at a time into expressions without JSON (`unfold`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from grammar_engine import ir

from . import pattern

Ranges = tuple[tuple[int, int], ...]
ALL_BYTES = (1 << 256) - 1


class Expr:
    """One interned expression: `op` and its arguments. Made by the functions below only."""

    __slots__ = ("args", "op")

    def __init__(self, op: str, args: tuple):
        self.op = op
        self.args = args

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"


_interned: dict[tuple, Expr] = {}


def _make(op: str, *args: object) -> Expr:
    key = (op, *args)
    if key not in _interned:
        _interned[key] = Expr(op, args)
    return _interned[key]


NEVER = _make("never")
EMPTY = _make("empty")
ANYTHING = _make("not", NEVER)


def clip(ranges: Iterable[tuple[int, int]], low: int, high: int, base: int = 0) -> Ranges:
    """The part of `ranges` from `low` to `high`, counted from `base`; sorted and merged."""
    merged: list[list[int]] = []
    for a, b in sorted((max(a, low) - base, min(b, high) - base) for a, b in ranges if max(a, low) <= min(b, high)):
        if merged and a <= merged[-1][1] + 1:
            merged[-1][1] = max(b, merged[-1][1])
        else:
            merged.append([a, b])
    return tuple((a, b) for a, b in merged)


# --- constructors -----------------------------------------------------------------------------------------------------


def literal(content: bytes) -> Expr:
    """The one string `content`."""
    return _make("bytes", content) if content else EMPTY


def byte_set(bits: int) -> Expr:
    """One byte b out of those whose bit b is set."""
    return _make("set", bits) if bits else NEVER


def chars(ranges: Iterable[tuple[int, int]]) -> Expr:
    """The UTF-8 encoding of one code point out of `ranges`; surrogates have none."""
    kept = clip(ranges, 0, 0xD7FF) + clip(ranges, 0xE000, ir.MAX_CODE_POINT)
    return _make("chars", kept) if kept else NEVER


def digits(kind: str, count: int, ranges: Ranges) -> Expr:
    """A number of `ranges` in `count` digits of `kind`: "utf8" (bytes 80..BF, 6 bits) or "hex" (either case, 4 bits)."""
    if not ranges:
        return NEVER
    return _make("digits", kind, count, ranges) if count else EMPTY


def concat(left: Expr, right: Expr) -> Expr:
    if left is NEVER or right is NEVER:
        return NEVER
    if left is EMPTY:
        return right
    if right is EMPTY:
        return left
    if left.op == "concat":
        return concat(left.args[0], concat(left.args[1], right))
    return _make("concat", left, right)


def concat_all(parts: Iterable[Expr]) -> Expr:
    whole = EMPTY
    for part in reversed(list(parts)):
        whole = concat(part, whole)
    return whole


def union(parts: Iterable[Expr]) -> Expr:
    flat = set()
    for part in parts:
        flat |= part.args[0] if part.op == "union" else {part}
    flat.discard(NEVER)
    if ANYTHING in flat:
        return ANYTHING
    if len(flat) < 2:
        return flat.pop() if flat else NEVER
    return _make("union", frozenset(flat))


def intersect(parts: Iterable[Expr]) -> Expr:
    flat = set()
    for part in parts:
        flat |= part.args[0] if part.op == "intersect" else {part}
    flat.discard(ANYTHING)
    if NEVER in flat:
        return NEVER
    if len(flat) < 2:
        return flat.pop() if flat else ANYTHING
    return _make("intersect", frozenset(flat))


def complement(part: Expr) -> Expr:
    return part.args[0] if part.op == "not" else _make("not", part)


def repeat(part: Expr, low: int, high: int | None) -> Expr:
    """`part` from `low` to `high` times; None: without bound."""
    if high == 0 or part is EMPTY:
        return EMPTY
    if part is NEVER:
        return NEVER if low else EMPTY
    if (low, high) == (1, 1):
        return part
    return _make("repeat", part, low, high)


def json(part: Expr, escapes: int) -> Expr:
    """The JSON spellings, without quotes, of the texts of `part`."""
    return NEVER if part is NEVER else _make("json", part, escapes)


def multiple(divisor: int, scale: int, phase: str, remainder: int, places: int) -> Expr:
    """What may follow in a decimal number that is to be a multiple of divisor / 10**scale.

    `phase`: "start" (nothing read), "whole" (digits), "point" (just read it), "places" (digits after it, `places` of them, at
    most `scale`). `remainder`: the digits read so far, taken as a whole number, modulo divisor.
    """
    if places == scale and phase == "places" and remainder:
        return NEVER  # the value is no multiple, and further digits only add less than one unit
    return _make("multiple", divisor, scale, phase, remainder, places)


def number(divisor: int, scale: int, low: str, high: str) -> Expr:
    """JSON numbers without sign and exponent that are multiples,
    from `low` to `high` (digits of the value times 10**scale; "": no bound)."""
    whole = union([literal(b"0"), concat(byte_set(_bits("123456789")), repeat(_DIGIT, 0, None))])
    parts = [concat(whole, _ANY_FRACTION if scale else EMPTY), multiple(divisor, scale, "start", 0, 0), complement(_less(low, scale))]
    if high:
        parts.append(_less(str(int(high) + 1).zfill(scale + 1), scale))
    return intersect(parts)


def _less(bound: str, scale: int) -> Expr:
    """The numbers below a bound: they are shorter, or their first digit that differs is less, or they end before the bound does."""
    point = len(bound) - scale
    whole, fraction = bound[:point], bound[point:]
    parts = [concat(repeat(_DIGIT, 1, point - 1), _ANY_FRACTION)] if point > 1 else []
    for i, digit in enumerate(whole):
        rest = concat(repeat(_DIGIT, point - i - 1, point - i - 1), _ANY_FRACTION)
        parts.append(concat_all([literal(whole[:i].encode()), byte_set(_bits("0123456789"[: int(digit)])), rest]))
    for i, digit in enumerate(fraction):
        smaller = concat(byte_set(_bits("0123456789"[: int(digit)])), repeat(_DIGIT, 0, None))
        parts.append(concat(literal(f"{whole}.{fraction[:i]}".encode()), smaller))
        if fraction[i:].strip("0"):
            parts.append(literal((f"{whole}.{fraction[:i]}" if i else whole).encode()))
    return union(parts)


def first_match(part: Expr) -> Expr:
    """The strings of `part` of which no shorter beginning is in `part`: what a lazy lexeme matches."""
    return intersect([part, complement(concat(part, repeat(byte_set(ALL_BYTES), 1, None)))])


def _bits(letters: str) -> int:
    return sum(1 << ord(letter) for letter in letters)


TEXT = repeat(chars([(0, ir.MAX_CODE_POINT)]), 0, None)
_DIGIT = byte_set(_bits("0123456789"))
_ANY_FRACTION = repeat(concat(literal(b"."), repeat(_DIGIT, 1, None)), 0, 1)


# --- the meaning ------------------------------------------------------------------------------------------------------


@cache
def nullable(e: Expr) -> bool:
    """Does `e` hold the empty string?"""
    if e.op in ("never", "bytes", "set", "chars", "digits"):
        return False
    if e.op == "empty":
        return True
    if e.op == "concat":
        return nullable(e.args[0]) and nullable(e.args[1])
    if e.op == "union":
        return any(nullable(part) for part in e.args[0])
    if e.op == "intersect":
        return all(nullable(part) for part in e.args[0])
    if e.op == "not":
        return not nullable(e.args[0])
    if e.op == "repeat":
        return e.args[1] == 0 or nullable(e.args[0])
    if e.op == "json":
        return nullable(e.args[0])
    if e.op == "multiple":
        divisor, scale, phase, remainder, places = e.args
        return phase in ("whole", "places") and remainder * 10 ** (scale - places) % divisor == 0
    raise AssertionError(e.op)


@cache
def derive(e: Expr, byte: int) -> Expr:
    """{ s : byte s in e }."""
    if e.op in ("never", "empty"):
        return NEVER
    if e.op == "bytes":
        return literal(e.args[0][1:]) if e.args[0][0] == byte else NEVER
    if e.op == "set":
        return EMPTY if e.args[0] >> byte & 1 else NEVER
    if e.op == "chars":
        return _derive_chars(e.args[0], byte)
    if e.op == "digits":
        return _derive_digits(*e.args, byte)
    if e.op == "concat":
        left, right = e.args
        through = concat(derive(left, byte), right)
        return union([through, derive(right, byte)]) if nullable(left) else through
    if e.op == "union":
        return union(derive(part, byte) for part in e.args[0])
    if e.op == "intersect":
        return intersect(derive(part, byte) for part in e.args[0])
    if e.op == "not":
        return complement(derive(e.args[0], byte))
    if e.op == "repeat":
        part, low, high = e.args
        return concat(derive(part, byte), repeat(part, max(low - 1, 0), None if high is None else high - 1))
    if e.op == "json":
        return derive(unfold(e), byte)
    if e.op == "multiple":
        return _derive_multiple(*e.args, byte)
    raise AssertionError(e.op)


def _derive_chars(ranges: Ranges, byte: int) -> Expr:
    """RFC 3629. `ranges` hold no surrogates; what is too long a spelling is cut off by the least code point of each length."""
    if byte < 0x80:
        return EMPTY if clip(ranges, byte, byte) else NEVER
    for lead, end, count, least in ((0xC0, 0xE0, 1, 0x80), (0xE0, 0xF0, 2, 0x800), (0xF0, 0xF8, 3, 0x10000)):
        if lead <= byte < end:
            base = (byte - lead) << 6 * count
            return digits("utf8", count, clip(ranges, max(base, least), base + (1 << 6 * count) - 1, base))
    return NEVER


def _derive_digits(kind: str, count: int, ranges: Ranges, byte: int) -> Expr:
    if kind == "utf8":
        bits, value = 6, byte - 0x80 if 0x80 <= byte <= 0xBF else None
    else:
        bits, value = 4, int(chr(byte), 16) if chr(byte) in "0123456789abcdefABCDEF" else None
    if value is None:
        return NEVER
    base = value << bits * (count - 1)
    return digits(kind, count - 1, clip(ranges, base, base + (1 << bits * (count - 1)) - 1, base))


def _derive_multiple(divisor: int, scale: int, phase: str, remainder: int, places: int, byte: int) -> Expr:
    if byte == ord("."):
        return multiple(divisor, scale, "point", remainder, 0) if phase == "whole" else NEVER
    digit = byte - ord("0")
    if not 0 <= digit <= 9:
        return NEVER
    appended = (remainder * 10 + digit) % divisor
    if phase in ("start", "whole"):
        return multiple(divisor, scale, "whole", appended, 0)
    if places < scale:
        return multiple(divisor, scale, "places", appended, places + 1)
    return multiple(divisor, scale, "places", remainder, places) if digit == 0 else NEVER


# --- JSON spellings ---------------------------------------------------------------------------------------------------

SHORT_ESCAPES = {0x22: b'\\"', 0x5C: b"\\\\", 0x08: b"\\b", 0x0C: b"\\f", 0x0A: b"\\n", 0x0D: b"\\r", 0x09: b"\\t"}
RAW: Ranges = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF))  # RFC 8259: unescaped


@cache
def unfold(e: Expr) -> Expr:
    """`json(part)` as: nothing, or the spelling of a first character and then `json` of what may follow it."""
    part, escapes = e.args
    alternatives = [EMPTY] if nullable(part) else []
    for low, high, after in _by_character(part):
        alternatives.append(concat(_spell(low, high, escapes), json(after, escapes)))
    return union(alternatives)


def _by_character(e: Expr) -> list[tuple[int, int, Expr]]:
    """(low, high, after): a string of `e` may begin with each code point from `low` to `high`, and go on with `after`."""
    found: list[tuple[int, int, Expr]] = []
    for byte in range(0xF8):
        if byte < 0x80:
            count, base = 0, byte
        elif byte >= 0xC0:
            count = 1 + (byte >= 0xE0) + (byte >= 0xF0)
            base = (byte & (0x3F >> count)) << 6 * count
        else:
            continue
        for low, high, after in _by_tail(derive(e, byte), count):
            _append_range(found, base + low, base + high, after)
    return found


@cache
def _by_tail(e: Expr, count: int) -> list[tuple[int, int, Expr]]:
    """The same for the `count` bytes that follow the first byte of a character."""
    if e is NEVER:
        return []
    if count == 0:
        return [(0, 0, e)]
    found: list[tuple[int, int, Expr]] = []
    for value in range(64):
        base = value << 6 * (count - 1)
        for low, high, after in _by_tail(derive(e, 0x80 + value), count - 1):
            _append_range(found, base + low, base + high, after)
    return found


def _append_range(found: list[tuple[int, int, Expr]], low: int, high: int, after: Expr) -> None:
    if found and found[-1][2] is after and found[-1][1] + 1 == low:
        low = found.pop()[0]
    found.append((low, high, after))


@cache
def _spell(low: int, high: int, escapes: int) -> Expr:
    """Every allowed spelling of one code point from `low` to `high`."""
    span = [(low, high)]
    ways = [chars(clip(RAW, low, high))]
    ways += [literal(spelling) for code, spelling in SHORT_ESCAPES.items() if low <= code <= high]
    if escapes == ir.ESCAPES_MINIMAL:
        controls = [(code, code) for code in range(max(low, 0), min(high, 0x1F) + 1) if code not in SHORT_ESCAPES]
        ways.append(concat(literal(b"\\u"), digits("hex", 4, clip(controls, 0, 0x1F))))
    else:
        if low <= ord("/") <= high:
            ways.append(literal(b"\\/"))
        ways.append(concat(literal(b"\\u"), digits("hex", 4, clip(clip(span, 0, 0xD7FF) + clip(span, 0xE000, 0xFFFF), 0, 0xFFFF))))
        ways += _surrogate_pairs(max(low, 0x10000) - 0x10000, high - 0x10000)
    return union(ways)


def _surrogate_pairs(low: int, high: int) -> list[Expr]:
    """\\uD8xx\\uDCxx for each number of 20 bits from `low` to `high`: a first, middle and last group of equal upper half."""
    if low > high:
        return []
    a, b = low >> 10, high >> 10
    groups = [(a, a, low & 0x3FF, 0x3FF), (a + 1, b - 1, 0, 0x3FF), (b, b, 0, high & 0x3FF)]
    if a == b:
        groups = [(a, a, low & 0x3FF, high & 0x3FF)]
    return [
        concat_all([
            literal(b"\\u"), digits("hex", 4, ((0xD800 + first, 0xD800 + last),)),
            literal(b"\\u"), digits("hex", 4, ((0xDC00 + start, 0xDC00 + end),)),
        ])
        for first, last, start, end in groups
        if first <= last
    ]  # fmt: skip


# --- questions --------------------------------------------------------------------------------------------------------


@cache
def byte_classes(e: Expr) -> frozenset[int]:
    """A partition of the 256 bytes, as bit sets: bytes of one class have the same derivative. Maybe finer than needed."""
    if e.op == "concat":
        parts = e.args if nullable(e.args[0]) else e.args[:1]
    elif e.op in ("union", "intersect"):
        parts = tuple(e.args[0])
    elif e.op in ("not", "repeat"):
        parts = e.args[:1]
    elif e.op == "json":
        parts = (unfold(e),)
    else:
        by_result: dict[Expr, int] = {}
        for byte in range(256):
            after = derive(e, byte)
            by_result[after] = by_result.get(after, 0) | 1 << byte
        return frozenset(by_result.values())
    classes = {ALL_BYTES}
    for part in parts:
        classes = {a & b for a in classes for b in byte_classes(part)} - {0}
    return frozenset(classes)


def successors(e: Expr) -> set[Expr]:
    """All derivatives of `e` by one byte."""
    return {derive(e, (bits & -bits).bit_length() - 1) for bits in byte_classes(e)}


_alive: dict[Expr, bool] = {NEVER: False}


def is_alive(e: Expr) -> bool:
    """Does `e` hold any string? Exact: breadth-first over all derivatives, remembered."""
    came_from: dict[Expr, Expr | None] = {e: None}
    todo = [e]
    for current in todo:
        if nullable(current) or _alive.get(current, False):
            step: Expr | None = current
            while step is not None:
                _alive[step] = True
                step = came_from[step]
            return True
        if current in _alive:
            continue
        for after in successors(current):
            if after not in came_from:
                came_from[after] = current
                todo.append(after)
    for current in todo:
        _alive[current] = False
    return False


def derive_all(e: Expr, content: bytes) -> Expr:
    """The derivative by each byte of `content` in turn."""
    for byte in content:
        e = derive(e, byte)
    return e


def contains(e: Expr, content: bytes) -> bool:
    """Is `content` in `e`?"""
    return nullable(derive_all(e, content))


# --- the records of the IR --------------------------------------------------------------------------------------------


def read(builder: ir.Builder) -> list[Expr]:
    """The expressions of `builder`, by id."""
    return _read(builder.words, bytes(builder.data))


def _read(words: Sequence[int], data: bytes) -> list[Expr]:
    known: list[Expr] = []
    at = 0
    while at < len(words):
        op, count = words[at], words[at + 1]
        operands = list(words[at + 2 : at + 2 + count])
        at += 2 + count
        known.append(_read_record(op, operands, data, known))
    assert at == len(words)
    return known


def _read_record(op: int, operands: list[int], data: bytes, known: list[Expr]) -> Expr:
    def span(offset: int, length: int) -> bytes:
        return data[offset : offset + length]

    if op == ir.OP_FRAGMENT:
        n_words = (operands[0] + 3) // 4
        own = b"".join(word.to_bytes(4, "little") for word in operands[1 : 1 + n_words])
        return _read(operands[1 + n_words :], own)[-1]
    pairs = list(zip(operands[::2], operands[1::2]))
    if op == ir.OP_NEVER:
        return NEVER
    if op == ir.OP_EMPTY:
        return EMPTY
    if op == ir.OP_BYTES:
        return literal(span(*operands))
    if op == ir.OP_BYTE_SET:
        return byte_set(sum(word << 32 * i for i, word in enumerate(operands)))
    if op == ir.OP_CHARS:
        return chars(pairs)
    if op == ir.OP_CONCAT:
        return concat_all(known[i] for i in operands)
    if op == ir.OP_UNION:
        return union(known[i] for i in operands)
    if op == ir.OP_INTERSECT:
        return intersect(known[i] for i in operands)
    if op == ir.OP_COMPLEMENT:
        return complement(known[operands[0]])
    if op == ir.OP_REPEAT:
        part, low, high = operands
        return repeat(known[part], low, None if high == ir.UNBOUNDED else high)
    if op == ir.OP_PATTERN:
        dialect, flags, offset, length = operands
        return pattern.read(span(offset, length).decode(), dialect, flags)
    if op == ir.OP_JSON:
        return json(known[operands[0]], operands[1])
    if op == ir.OP_LITERALS:
        return union(literal(span(offset, length)) for offset, length in pairs)
    if op == ir.OP_MULTIPLE:
        divisor, low, high = (span(*operands[i : i + 2]).decode() for i in (1, 3, 5))
        return number(int(divisor), operands[0], low, high)
    raise AssertionError(f"unknown operator {op}")


def matches(builder: ir.Builder, expr: ir.Expr, content: bytes) -> bool:
    """Is `content` in the expression with id `expr`?"""
    return contains(read(builder)[expr], content)


def is_empty(builder: ir.Builder, expr: ir.Expr) -> bool:
    """Does the expression with id `expr` hold no string at all?"""
    return not is_alive(read(builder)[expr])


class Questions:
    """What the front end for JSON Schema asks about expressions."""

    def __init__(self, builder: ir.Builder):
        self.builder = builder

    def is_empty(self, expr: ir.Expr) -> bool:
        """Whether an expression denotes nothing."""
        return is_empty(self.builder, expr)

    def matches(self, expr: ir.Expr, text: bytes) -> bool:
        """Whether an expression contains a text."""
        return matches(self.builder, expr, text)

    def count(self, expr: ir.Expr, limit: int) -> int:
        """The number of strings is not the oracle's to tell: schemas that need it are compared by value."""
        raise NotImplementedError
