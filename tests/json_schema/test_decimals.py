"""Decimal ranges against a decimal oracle: every spelling is in the range exactly when its value is."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from fractions import Fraction
from math import lcm
from types import SimpleNamespace
from typing import Any

import pytest

from grammar_engine import Grammar, UnsatisfiableSchemaError, UnsupportedSchemaError
from grammar_engine.frontends.json_schema.scalars.decimals import ANY, CANONICAL, EXACT, MOST_MOVED, NORMAL, Bound, DecimalSyntax
from grammar_engine.frontends.json_schema.scalars.multiples import MOST_FRACTION, Multiples, is_multiple
from grammar_engine.frontends.json_schema.scalars.numbers import NumberPiece
from grammar_engine.ir import Builder
from oracle import expr as oracle

from .engine import accepts, dump

UNBOUNDED: Any = SimpleNamespace(ledger=SimpleNamespace(count_alternatives=lambda count: None))  # as much of a context as counting needs
BOUNDS = [Decimal(x) for x in "0 1 -1 7 9 10 19 20 99 100 -100 250 0.5 1.25 -1.25 0.09 9.99 10.01 -0.001 12.34 0.1 199.99 3 5".split()]


def spellings(rng: random.Random, near: Decimal) -> list[str]:
    """Numbers in all notations, many of them close to `near`."""
    texts = ["0", "-0", "0.0", "-0.00", "1", "10", "100", "9.999", "-1", "0.5", "1e0", "1.0e+01", "-2.5E-3", "1e-400", "01", "1.", ".5", ""]
    for _ in range(40):
        digits = len(str(abs(int(near))))
        value = rng.choice(
            [near, near + Decimal(rng.randint(-20, 20)) / 10 ** rng.randint(0, 4), Decimal(rng.randint(-(10**digits), 10**digits))]
        )
        plain = format(value, "f")
        texts += [plain, plain + ("0" * rng.randint(1, 2) if "." in plain else ".0"), plain + ("" if "." in plain else ".00")]
        if value:
            exponent = value.adjusted()
            mantissa = format(value.scaleb(-exponent), "f")
            sign = rng.choice(["", "+", "+0"]) if exponent >= 0 else rng.choice(["-", "-0"])
            texts.append(f"{mantissa}{rng.choice('eE')}{sign}{abs(exponent)}")
    return texts


def is_number(text: str) -> bool:
    return re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", text) is not None


def is_normal(text: str) -> bool:
    """Plain, or one nonzero digit before the point and an exponent."""
    return is_number(text) and ("e" not in text.lower() or re.match(r"-?[1-9](\.|[eE])", text) is not None)


def is_printed(text: str, number: Decimal) -> bool:
    """Whether programs print the number so: no zeros behind the last digit, an exponent only where it is far from zero."""
    if not is_number(text) or Decimal(text) != number or (not number and text.startswith("-")):
        return False
    mantissa, _, exponent = text.lower().partition("e")
    if "." in mantissa and mantissa.endswith("0"):
        return False
    if not exponent:
        return True
    return not 1e-4 <= abs(number) < 1e16 and is_normal(text) and re.fullmatch(r"\+?[1-9]\d+|-0?[1-9]|-[1-9]\d+", exponent) is not None


def inside(value: Decimal, low: Bound | None, high: Bound | None) -> bool:
    if low is not None and (value < low.value or (low.open and value == low.value)):
        return False
    return not (high is not None and (value > high.value or (high.open and value == high.value)))


@pytest.mark.parametrize("seed", range(30))
def test_ranges(seed: int) -> None:
    rng = random.Random(seed)
    low = Bound(rng.choice(BOUNDS), rng.random() < 0.5) if rng.random() < 0.8 else None
    high = Bound(rng.choice(BOUNDS), rng.random() < 0.5) if rng.random() < 0.8 else None
    if low and high and (low.value > high.value or (low.value == high.value and (low.open or high.open))):
        low, high = high, low
        if low.value == high.value:
            low = high = Bound(low.value, False)
    builder = Builder()
    syntax = DecimalSyntax(builder)
    expr, plain, digits = syntax.range(low, high), syntax.signed(low, high, syntax.unsigned_plain), syntax.plain_integers(low, high)
    whole = DecimalSyntax(builder, NORMAL).plain_integers(low, high)
    known = oracle.read(builder)
    for text in spellings(rng, rng.choice([b.value for b in (low, high) if b] or [Decimal(3)])):
        expected = is_normal(text) and inside(Decimal(text), low, high)
        has_exponent = "e" in text.lower()
        assert oracle.contains(known[expr], text.encode()) == expected, (low, high, text)
        assert oracle.contains(known[plain], text.encode()) == (expected and not has_exponent), (low, high, text)
        if not has_exponent:
            integral = expected and Decimal(text) == Decimal(text).to_integral_value()
            assert oracle.contains(known[whole], text.encode()) == integral, (low, high, text)
            assert oracle.contains(known[digits], text.encode()) == (integral and "." not in text), (low, high, text)


@pytest.mark.parametrize(
    ("low", "high", "accepted", "refused"),
    [
        (None, "9007199254740993", ["9007199254740993", "9.007199254740993e15", "-1e+300"], ["9007199254740994", "9.007199254740994e15"]),
        ("1e22", None, ["10000000000000000000000", "1e+22", "1.5e22"], ["9999999999999999999999", "9.9e21"]),
        ("0.1", "0.1", ["0.1", "0.100", "1e-1", "1.00E-01"], ["0.10000000000000001", "0.099999999999999999"]),
        ("1e-7", "1e300", ["1e-07", "0.0000001", "1" + "0" * 300], ["9e-08", "1" + "0" * 299 + "1", "1.0000001e300"]),
    ],
)
def test_magnitudes(low: str | None, high: str | None, accepted: list[str], refused: list[str]) -> None:
    builder = Builder()
    ends = [None if end is None else Bound(Decimal(end), False) for end in (low, high)]
    expr = DecimalSyntax(builder).range(*ends)
    known = oracle.read(builder)[expr]
    for text in accepted:
        assert oracle.contains(known, text.encode()), text
    for text in refused:
        assert not oracle.contains(known, text.encode()), text


def test_integers_are_digits() -> None:
    """Unless the style is "any"; in draft 4 always: see also test_drafts.py."""
    texts = {
        "12": 2,
        "-0": 2,
        "5.0": 1,
        "-5.00": 1,
        "1e+22": 1,
        "10E-1": 1,
        "0.5e1": 1,
        "0e-9": 1,
        "1.5": 0,
        "05": 0,
        "1e-7": 0,
        "0.5e0": 0,
    }
    modern, draft4 = {"type": "integer"}, {"type": "integer", "$schema": "http://json-schema.org/draft-04/schema#"}
    for schema, style, level in ((modern, "any", 1), (modern, "canonical", 2), (draft4, "any", 2), (draft4, "canonical", 2)):
        grammar = Grammar.from_json_schema(schema, number_style=style)
        for text, most in texts.items():
            assert accepts(grammar, text) == (0 < level <= most), (style, text)


@pytest.mark.parametrize("value", ["0", "1", "-3", "2.5", "-0.25", "1e22", "1e-7", "123456789.125"])
def test_listed_values(value: str) -> None:
    number = Decimal(value)
    for style in (CANONICAL, NORMAL, ANY):
        builder = Builder()
        expr = DecimalSyntax(builder, style).exactly([number])
        known = oracle.read(builder)[expr]
        for text in spellings(random.Random(value), number):
            same = is_normal(text) and Decimal(text) == number and ("e" not in text.lower() or style == ANY or bool(number))
            expected = is_printed(text, number) if style == CANONICAL else same
            assert oracle.contains(known, text.encode()) == expected, (style, text)


def test_all_spellings_of_a_value() -> None:
    """The normal style has exactly these; two different values share none."""
    builder = Builder()
    expr = DecimalSyntax(builder, NORMAL).exactly([Decimal("1.5")])
    known = oracle.read(builder)[expr]
    for text in "1.5 1.50 1.500 1.5e0 1.50E+0 1.5e-0 1.5E+000".split():
        assert oracle.contains(known, text.encode()), text
    for text in "15e-1 0.15e1 1.5e 1.5e1 01.5 1.51 -1.5".split():
        assert not oracle.contains(known, text.encode()), text


@pytest.mark.parametrize("step", ["1", "2", "0.01", "7", "2.5", "1e10", "1e-8", "100000000000"])
def test_multiples(step: str) -> None:
    builder = Builder()
    expr = Multiples(DecimalSyntax(builder, NORMAL), has_exponents=False).between(None, None, Decimal(step))
    canonical = Multiples(DecimalSyntax(builder, CANONICAL), has_exponents=False).between(None, None, Decimal(step))
    known = oracle.read(builder)
    rng = random.Random(step)
    for _ in range(60):
        value = Decimal(step) * rng.randint(-300, 300) + rng.choice([0, 0, Decimal(step) / 2, Decimal("0.001"), 1])
        for text in (format(value, "f"), format(value, "f") + ("0" if "." in format(value, "f") else ".0")):
            expected = value % Decimal(step) == 0
            assert oracle.contains(known[expr], text.encode()) == expected, text
            is_written = "." not in text or not is_multiple(Decimal(step), Decimal(1))
            assert oracle.contains(known[canonical], text.encode()) == (expected and is_written), text


@pytest.mark.parametrize(
    ("schema", "style", "accepted", "refused"),
    [
        (
            {"type": "integer", "multipleOf": 86_400_000, "minimum": 0, "maximum": 1e15},
            "canonical",
            ["0", "86400000", "999993600000000"],
            ["86400001", "1000000000000000", "1036800000000000", "8.64e7", "864000000000000.0"],
        ),
        (
            {"type": "number", "multipleOf": Decimal("0.00025"), "minimum": -3.5, "exclusiveMaximum": 1e6},
            "canonical",
            ["-3.5", "-3.49975", "999999.99975", "0.00025", "1.000"],
            ["-3.50025", "1000000", "0.0001", "1e3"],
        ),
        (
            {"type": "number", "multipleOf": 123_457},
            "any",
            ["123457", "1.23457e5", "123457000e-3", "246914E+300", "0e5", "-0.123457e6"],
            ["123458", "1.23458e5", "123457e-1"],
        ),
        (
            {"type": "number", "multipleOf": Decimal("1e-9"), "exclusiveMinimum": 0, "maximum": 1},
            "any",
            ["0.000000001", "1", "1e-9", "0.1e-8", "100000000e-9"],
            ["0", "0.0000000001", "1.000000001", "1e-10", "1.1e0"],
        ),
        (
            {"type": "number", "multipleOf": Decimal("1e30"), "minimum": 5, "maximum": Decimal("1e40")},
            "any",
            ["1" + "0" * 30, "1e30", "1.5e31", "1e40", "0.0001e35"],
            ["0", "1.5e30", "1.1e40", "1e41"],
        ),
        (
            {"type": "number", "not": {"multipleOf": 86_400_000}, "minimum": 0, "maximum": 1e15},
            "any",
            ["1", "0.5", "8.65e7", "86400000.5", "1e-300"],
            ["0", "86400000", "8.64e7", "0e1"],
        ),
        (
            {
                "allOf": [{"multipleOf": 6}, {"multipleOf": Decimal("0.8")}],
                "type": "number",
                "exclusiveMinimum": 12,
                "exclusiveMaximum": 10**12,
            },
            "canonical",
            ["24", "36", "999999999996"],
            ["12", "18", "24.8", "1000000000008"],
        ),
        (
            {"type": "number", "multipleOf": 333333333333333333, "minimum": -(10**60), "not": {"multipleOf": 666666666666666666}},
            "canonical",
            ["333333333333333333", "-999999999999999999", f"{10**41 + 1}".replace("1", "333333333333333333")],
            ["666666666666666666", "0", f"-{10**60 - 10**42}", f"-{3 * 10**60}"],
        ),
    ],
)
def test_steps_and_bounds(schema: dict, style: str, accepted: list[str], refused: list[str]) -> None:
    grammar = Grammar.from_json_schema(schema, number_style=style)
    assert [text for text in accepted if not accepts(grammar, text)] == []
    assert [text for text in refused if accepts(grammar, text)] == []


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"enum": [1, 2.5, 0]}, "1 2.5 0", "-0 1.0 2.50 0.0 25e-1 1e0"),
        ({"const": [1.0, {"a": 0.125}]}, '[1,{"a":0.125}]', '[1.0,{"a":0.125}] [1,{"a":0.1250}]'),
        ({"const": 1e22}, "1e22 1e+22 1E22 10000000000000000000000", "1.0e22 10e21 1e022 10000000000000000000000.0"),
        ({"const": 0.000015}, "0.000015 1.5e-5 1.5E-05", "0.0000150 1.50e-5 1.5e-005 15e-6"),
        ({"type": "integer", "multipleOf": 0.5}, "3", "3.0 3.5"),
        ({"type": "number", "minimum": 1, "maximum": 2}, "1 1.0 1.50 1.5e0 2.000", "2.01"),
        ({"type": "number", "minimum": 2.5, "maximum": 2.5}, "2.5", "2.50"),
        ({"type": "number", "multipleOf": 0.25}, "1 1.0 1.50", "1.1 1e0"),
        ({"type": "number", "multipleOf": 0.25, "minimum": 0, "maximum": 9}, "1 1.0 1.50", "1.1 1e0"),
        ({"type": "number", "multipleOf": 5}, "0 15", "15.0 15e0"),
        ({"type": "number", "multipleOf": 5, "minimum": 0, "maximum": 90}, "0 15", "-0 15.0 15e0"),
        ({"type": "number", "multipleOf": 5, "minimum": 0}, "0 15", "-0 15.0 15e0"),
        ({"type": "number", "multipleOf": 5, "minimum": -90, "maximum": 90}, "0 -0 -15", "-0.0"),  # few of them: they are listed
        ({"type": "number", "multipleOf": 5, "minimum": -9000, "maximum": 90}, "0 -0 -15", "-0.0"),
        ({"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 5}, "0 0.0 4.50", "-0 -0.0"),
        ({"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 500}, "0 0.0 4.50", "-0 -0.0"),
        ({"type": "number", "multipleOf": 0.5, "minimum": -0.5, "maximum": 5}, "0 -0 -0.0", "-1"),
        ({"type": "number", "multipleOf": 0.5, "minimum": -5, "not": {"const": -1}, "maximum": 5}, "0 -0 -0.0", "-1"),
        ({"type": "number", "allOf": [{"multipleOf": 0.4}, {"multipleOf": 2.5}], "minimum": 0, "maximum": 90}, "0 10", "10.0 1.0"),
    ],
    ids=lambda value: dump(value) if isinstance(value, dict) else "",
)
def test_canonical_spellings(schema: dict, accepted: str, refused: str) -> None:
    grammar = Grammar.from_json_schema({**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}, whitespace="compact")
    assert [text for text in accepted.split() if not accepts(grammar, text)] == []
    assert [text for text in refused.split() if accepts(grammar, text)] == []


@pytest.mark.parametrize("style", ["canonical", "any"])
@pytest.mark.parametrize(
    ("excluded", "value", "others"),
    [
        ({"type": "integer"}, "5", "2.5 0.01"),
        ({"const": 5}, "5", "2.5 4 5.01 50"),
        ({"const": 2.5}, "2.5", "5 2.51 25.0"),
        ({"enum": [2.5, 5]}, "5", "4 4.0 2.51"),
        ({"multipleOf": 2.5}, "2.5", "2 2.4"),
        ({"multipleOf": 5}, "5", "2.5 4"),
        ({"minimum": 5}, "5", "4.999 -5"),
        ({"minimum": 2.5, "maximum": 2.5}, "2.5", "2.49 5"),
    ],
    ids=lambda value: dump(value) if isinstance(value, dict) else "",
)
def test_what_is_excluded_is_in_all_spellings(style: str, excluded: dict, value: str, others: str) -> None:
    """By `not`, by `oneOf`, and by `if`; in ranges, which admit any digits behind the point."""
    number = Decimal(value)
    texts = [value, f"{value}0" if "." in value else f"{value}.0", f"{value}00" if "." in value else f"{value}.00"]
    texts += [f"{number}{e}" for e in ("e0", "E+00", "e-0")] + [f"{number * 10}e-1", f"{number / 10}e1"]
    for schema in (
        {"type": "number", "not": excluded},
        {"type": "number", "oneOf": [{}, excluded]},
        {"type": "number", "if": excluded, "then": False},
        {"type": "number", "not": excluded, "minimum": 0, "maximum": 7} if value == "5" else {"type": "number", "not": excluded},
    ):
        grammar = Grammar.from_json_schema(schema, number_style=style)
        assert [text for text in texts if accepts(grammar, text)] == [], schema
        inside = [text for text in others.split() if "minimum" not in schema or 0 <= float(text) <= 7]
        assert [text for text in inside if not accepts(grammar, text)] == [], schema


STEPS_OF_MANY_DIGITS = [Decimal(10**18 + 1), Decimal(3**50) / 10**9, Decimal("0." + "0" * 20 + "1" * 20), Decimal(7**110), Decimal(3**626)]


@pytest.mark.parametrize("style", ["canonical", "any"])
@pytest.mark.parametrize("step", STEPS_OF_MANY_DIGITS, ids=lambda step: f"{len(step.as_tuple().digits)} digits")
def test_steps_of_many_digits(step: Decimal, style: str) -> None:
    low = EXACT.multiply(step, Decimal(-3))
    grammar = Grammar.from_json_schema({"type": "number", "multipleOf": step, "minimum": low}, number_style=style)
    unit = Fraction(10) ** int(step.as_tuple().exponent)
    for value in (Fraction(step) * k + unit * by for k in (-4, -3, -1, 0, 1, 2, 10**9 + 7) for by in (0, 1, -1)):
        text = format(EXACT.divide(Decimal(value.numerator), Decimal(value.denominator)), "f")
        assert accepts(grammar, text) == ((value / Fraction(step)).denominator == 1 and value >= Fraction(low)), text


@pytest.mark.parametrize("step", ["4", "64", "1024", "1e19", "476837158203125", "9223372036854775808", "7e40", "0.048", "1537.6"])
def test_large_exponents(step: str) -> None:
    """Of a step that 2, 5 or 10 divides often: with up to 17 digits behind the point multiples are written with any exponent."""
    rng = random.Random(step)
    multiples = Grammar.from_json_schema(f'{{"multipleOf": {step}, "minimum": 1}}', number_style="any")
    others = Grammar.from_json_schema(f'{{"type": "number", "not": {{"multipleOf": {step}}}}}', number_style="any")
    prime = 31**2 if step == "1537.6" else 21  # times a power of 2 and of 5, the step divides it
    counts = [0, 0]
    for exponent in range(100):
        for n_digits in (0, 1, 5, rng.randint(2, 16), 17):
            factor = rng.choice([1, prime]) * rng.choice([2, 5]) ** rng.randint(0, 20)
            digits = str(rng.randint(1, 9) * factor).zfill(n_digits + 1)
            text = f"{digits[: len(digits) - n_digits]}{'.' if n_digits else ''}{digits[len(digits) - n_digits :]}e{exponent}"
            value = Fraction(text)
            is_expected = (value / Fraction(step)).denominator == 1
            assert accepts(multiples, text) == (is_expected and value >= 1), text
            assert accepts(others, text) != is_expected, text
            counts[is_expected] += 1
    assert min(counts) > 0


def test_common_multiples_of_many_digits() -> None:
    """Up to 1,000 digits; beyond that they are refused by name, at once."""
    steps = [10**17 + 3, 10**17 + 7, 10**40 + 9]
    grammar = Grammar.from_json_schema({"type": "integer", "allOf": [{"multipleOf": step} for step in steps]})
    assert all(accepts(grammar, str(lcm(*steps) * factor)) for factor in (0, 1, -(10**30) - 1))
    assert not any(accepts(grammar, str(number)) for number in (*steps, lcm(*steps[:2]), lcm(*steps) + 1, lcm(*steps) // 3))
    beyond = {"allOf": [{"multipleOf": 10**600 + 1}, {"multipleOf": 10**601 + 1}], "type": "integer"}
    with pytest.raises(UnsupportedSchemaError, match="common multiple of the steps has more than 1,000 digits") as caught:
        Grammar.from_json_schema({"properties": {"a": beyond}})
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "multipleOf")
    relaxed = Grammar.from_json_schema(beyond, lenient=True)
    assert {entry.keyword for entry in relaxed.report.relaxed} == {"multipleOf"}
    assert accepts(relaxed, str(10**600 + 1))
    for nothing in (
        {"type": "number", "multipleOf": 1_000_000_007, "minimum": 1, "maximum": 5},
        {"type": "integer", "multipleOf": Decimal("1.23456789"), "minimum": 1, "not": {"multipleOf": 3}},
        {"type": "integer", "multipleOf": 3**90, "minimum": 1, "not": {"multipleOf": 3**80}},
    ):
        with pytest.raises(UnsatisfiableSchemaError):
            Grammar.from_json_schema(nothing)


# --- whole schemas against arithmetic ---------------------------------------------------------------------------------------


class Case:
    """A schema with random conditions on numbers."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.schema: dict[str, object] = {"type": rng.choice(["number", "integer"])}
        self.bounds = {
            key: self.number()
            for key in (rng.choice(["minimum", "exclusiveMinimum"]), rng.choice(["maximum", "exclusiveMaximum"]))
            if rng.random() < 0.6
        }
        self.step = (
            Decimal(rng.choice("1 0.5 0.01 3 2.5 10 1000 7e5 1e-8 0.0003 12 1000000007 1.23456789e-3 86400000".split()))
            if rng.random() < 0.4
            else None
        )
        self.not_step = Decimal(rng.choice("1 3 0.25 100 1000000021".split())) if rng.random() < 0.3 else None
        steps = [step for step in (self.step, self.not_step) if step]
        for key in self.bounds:
            if steps and rng.random() < 0.4:
                self.bounds[key] = rng.choice(steps) * rng.choice([-1, 1, 2])
        self.schema |= self.bounds
        if self.step:
            self.schema["multipleOf"] = self.step
        if self.not_step:
            self.schema["not"] = {"multipleOf": self.not_step}

    def number(self) -> Decimal:
        r = self.rng
        return r.choice(
            [Decimal(r.randint(-30, 30)), Decimal(r.randint(-3000, 3000)) / 100, Decimal(r.randint(-9, 9)).scaleb(r.randint(-12, 25))]
        )

    def has(self, value: Decimal) -> bool:
        compare = {
            "minimum": value.__ge__,
            "exclusiveMinimum": value.__gt__,
            "maximum": value.__le__,
            "exclusiveMaximum": value.__lt__,
        }
        return (
            all(compare[key](bound) for key, bound in self.bounds.items())
            and (self.schema["type"] == "number" or is_multiple(value, Decimal(1)))
            and (self.step is None or is_multiple(value, self.step))
            and (self.not_step is None or not is_multiple(value, self.not_step))
        )

    def values(self) -> list[Decimal]:
        step = self.step or Decimal(1)
        near = [bound + by for bound in self.bounds.values() for by in (0, 1, -1, step, -step, Decimal("1e-9"))]
        near += [(bound / step).to_integral_value() * step for bound in self.bounds.values()]
        return [*near, Decimal(0), self.number(), step * self.rng.randint(-50, 50), step + self.number()]

    def spellings(self, value: Decimal) -> list[str]:
        plain = format(value, "f")
        texts = [plain, plain + ("0" if "." in plain else ".0")]
        for _ in range(4):
            moved = self.rng.randint(-MOST_MOVED - 2, MOST_MOVED + 2)
            exponent = value.adjusted() - moved if value else moved
            mantissa = format(value.scaleb(-exponent), "f") if value else self.rng.choice(["0", "-0", "0.0"])
            sign = self.rng.choice(["", "+", "+0"] if exponent >= 0 else ["-", "-0"])
            texts += [
                f"{m}{self.rng.choice('eE')}{sign}{abs(exponent)}" for m in (mantissa, mantissa + ("0" if "." in mantissa else ".00"))
            ]
        return texts

    def is_canonical(self, text: str) -> bool:
        """Whether the canonical style has this spelling, of a number of a range."""
        is_integer = self.schema["type"] == "integer" or (self.step is not None and is_multiple(self.step, Decimal(1)))
        if is_integer or self.step or self.not_step:
            return "e" not in text.lower() and not (is_integer and "." in text)
        return is_normal(text) if self.bounds else is_number(text)

    def is_sure(self, text: str) -> bool:
        """Whether the documentation promises that the style "any" has this spelling."""
        sign_and_mantissa, _, exponent = text.lower().partition("e")
        whole, _, fraction = sign_and_mantissa.lstrip("-").partition(".")
        if not exponent:
            return True
        steps = self.step or self.not_step or self.schema["type"] == "integer"
        if Decimal(text) == 0:
            return self.not_step is None
        leading = len(whole + fraction) - len((whole + fraction).lstrip("0"))
        if steps and not (-MOST_MOVED <= int(exponent) <= MOST_FRACTION):
            return False
        return -MOST_MOVED <= len(whole) - 1 - leading <= MOST_MOVED


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("style", ["canonical", "any"])
def test_random_schemas(seed: int, style: str) -> None:
    case = Case(random.Random(seed))
    try:
        grammar = Grammar.from_json_schema(case.schema, number_style=style)
    except (UnsatisfiableSchemaError, UnsupportedSchemaError):
        return
    for value in case.values():
        for text in case.spellings(value):
            accepted, expected = accepts(grammar, text), case.has(Decimal(text))
            if style == "canonical":
                assert accepted == (expected and case.is_canonical(text)), text
            elif accepted:
                assert expected, text
            else:
                assert not (expected and case.is_sure(text)), text


@pytest.mark.parametrize("step", ["1", "1.5", "0.25", "100"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_bound_that_is_the_least_excluded_multiple(step: str, sign: int) -> None:
    """In no spelling: below the step nothing is a multiple, and the step itself is one."""
    bound = sign * Decimal(step)
    grammar = Grammar.from_json_schema(
        {"type": "number", "not": {"multipleOf": Decimal(step)}, "maximum" if sign > 0 else "minimum": bound}, number_style="any"
    )
    minus = "-" if sign < 0 else ""
    for moved in range(-4, 5):
        for value, expected in ((abs(bound), False), (abs(bound) * Decimal("0.99"), True), (abs(bound) * Decimal("1.01"), False)):
            text = f"{minus}{format(value.scaleb(-moved), 'f')}e{moved}"
            assert accepts(grammar, text) == expected, text


@pytest.mark.parametrize("step", ["1e-10", "1e-12", "1.5e-30", "1e-300"])
def test_small_steps_as_programs_print_them(step: str) -> None:
    grammar = Grammar.from_json_schema({"type": "number", "multipleOf": Decimal(step)}, number_style="any")
    for text in (step, f"-{Decimal(step) * 7}", format(Decimal(step) * 4, "f")):
        assert accepts(grammar, text), text
    assert not accepts(grammar, str(Decimal(step) / 2))


def test_sizes() -> None:
    def piece(low: int, high: int, *steps: str, others: tuple[str, ...] = ()) -> NumberPiece:
        return NumberPiece(
            Bound(Decimal(low), False), Bound(Decimal(high), True), frozenset(map(Decimal, steps)), frozenset(map(Decimal, others))
        )

    assert piece(0, 10, "1").size(UNBOUNDED) == 10
    assert piece(0, 10, "0.5").size(UNBOUNDED) == 20
    assert piece(0, 12, "4", "6").size(UNBOUNDED) == 1
    assert piece(0, 10).size(UNBOUNDED) is None
    assert NumberPiece(steps=frozenset((Decimal(2),))).size(UNBOUNDED) is None
    assert NumberPiece(steps=frozenset((Decimal(4),)), non_steps=frozenset((Decimal(2),))).size(UNBOUNDED) == 0
    some = piece(0, 60, "1", others=("2", "3", "5"))
    assert some.size(UNBOUNDED) == sum(1 for n in range(60) if n % 2 and n % 3 and n % 5)
    listed = some.listed()
    assert listed is not None and listed.size(UNBOUNDED) == some.size(UNBOUNDED)


@pytest.mark.parametrize("bound", ["1" * 900, "0." + "0" * 500 + "1", "1e400"])
def test_bounds_of_any_magnitude(bound: str) -> None:
    grammar = Grammar.from_json_schema({"type": "number", "maximum": Decimal(bound)})
    plain = format(Decimal(bound), "f")
    assert accepts(grammar, plain)
    assert not accepts(grammar, plain + ("1" if "." in plain else ".1"))


@pytest.mark.parametrize("n", [31, 32, 33, 64, 65, 100])
def test_long_bounds(n: int) -> None:
    """Bounds of more digits than are written as one union, whole and behind the point."""
    rng = random.Random(n)
    for _ in range(4):
        whole, fraction = (rng.choice("12345679") + "".join(rng.choice("0059999" + "12345678") for _ in range(n - 1)) for _ in range(2))
        fraction = fraction.rstrip("0") + "5"
        for bound, kind in ((whole, "integer"), (f"0.{fraction}", "number"), (f"{whole}.{fraction}", "number")):
            value = Decimal(bound)
            near = {bound, bound[: rng.randrange(3, len(bound))], bound + ("7" if "." in bound else "")}
            for _ in range(40):
                i = rng.randrange(len(bound))
                if bound[i] != ".":
                    near.add((bound[:i] + rng.choice("0123456789") + bound[i + 1 :]).rstrip("."))
            near = {text for text in near if text[0] != "0" or text[:2] == "0."}
            near = {text for text in near if not text.endswith(".")}
            for keyword, holds in (
                ("minimum", value.__le__),
                ("exclusiveMinimum", value.__lt__),
                ("maximum", value.__ge__),
                ("exclusiveMaximum", value.__gt__),
            ):
                grammar = Grammar.from_json_schema({"type": kind, keyword: value}, whitespace="compact")
                for text in near:
                    assert accepts(grammar, text) == holds(Decimal(text)), (keyword, bound, text)


def test_long_numbers_are_excluded_in_small_expressions() -> None:
    rng = random.Random(0)
    values = [int(rng.choice("123456789") + "".join(rng.choices("0123456789", k=899))) for _ in range(20)]
    grammar = Grammar.from_json_schema({"type": "number", "not": {"enum": values}}, whitespace="compact")
    assert not accepts(grammar, str(values[7]))
    assert accepts(grammar, str(values[7] + 1))
    assert accepts(grammar, f"{values[7]}.5")


@pytest.mark.parametrize("text", ["6.5e-12", "6500.5e-11", "6.5e-13", "0.0000000000065", "1e-12", "3e-12", "2.5e-11", "1e0", "0"])
@pytest.mark.parametrize("step", ["1e-12", "2.5e-11", "1"])
def test_numbers_that_are_no_multiples_have_exponents_down_to_the_step(step: str, text: str) -> None:
    grammar = Grammar.from_json_schema({"type": "number", "not": {"multipleOf": Decimal(step)}}, number_style="any")
    assert accepts(grammar, text) == (Decimal(text) % Decimal(step) != 0)
