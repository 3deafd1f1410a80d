"""`Builder.multiple_of` in the core against arithmetic: which texts it has, and which beginnings of a text it can still finish."""

from __future__ import annotations

import random
import re

import pytest

from grammar_engine import Grammar, Limits, Matcher, Vocabulary
from grammar_engine._native import NativeExpressions
from grammar_engine.ir import MAX_DIVISOR_DIGITS, Builder


class Numbers:
    """Multiples of `divisor` from `low` to `high`, in units of 10**-scale."""

    def __init__(self, divisor: int, scale: int, low: int, high: int | None):
        self.divisor, self.scale, self.low, self.high = divisor, scale, low, high
        self.builder = Builder()
        self.expr = self.builder.multiple_of(divisor, scale, low, high)
        self.native = NativeExpressions(self.builder, Limits(max_step_work=100_000_000))  # counted over all questions

    def core_has(self, text: str) -> bool:
        return self.native.matches(self.expr, text.encode())

    def core_can_finish(self, text: str) -> bool:
        b = self.builder
        anything = b.repeat(b.byte_set(range(256)), 0, None)
        return not self.native.is_empty(b.intersect(self.expr, b.concat(b.bytes(text.encode()), anything)))

    def has(self, text: str) -> bool:
        if not re.fullmatch(r"(0|[1-9]\d*)(\.\d+)?" if self.scale else r"0|[1-9]\d*", text):
            return False
        whole, _, fraction = text.partition(".")
        value, rest = divmod(int(whole + fraction.ljust(self.scale, "0")), 10 ** max(0, len(fraction) - self.scale))
        return rest == 0 and self._is_between(value, value)

    def can_finish(self, text: str) -> bool:
        """Whether a number begins with a text, which is not empty."""
        if not re.fullmatch(r"(0|[1-9]\d*)(\.\d*)?" if self.scale else r"0|[1-9]\d*", text):
            return False
        whole, point, fraction = text.partition(".")
        if fraction[self.scale :].strip("0"):
            return False
        known = fraction[: self.scale]
        digits = int(whole + known)
        longest = 0 if point or text == "0" else len(str(max(self.divisor, self.low, self.high or 0)))
        return any(
            self._is_between(digits * 10**k, digits * 10**k + 10**k - 1)
            for k in range(self.scale - len(known), self.scale - len(known) + longest + 1)
        )

    def _is_between(self, first: int, last: int) -> bool:
        """Whether a multiple in the range is one of the numbers from `first` to `last`."""
        first, last = max(first, self.low), last if self.high is None else min(last, self.high)
        return last // self.divisor * self.divisor >= first

    def texts_near(self, rng: random.Random, value: int) -> list[str]:
        digits = str(max(0, value)).zfill(self.scale + 1)
        point = len(digits) - self.scale
        plain = digits[:point] + ("." + digits[point:] if self.scale else "")
        return [plain, plain + "0", plain.rstrip("0").rstrip(".") if self.scale else plain, plain[:-1] + str(rng.randrange(10))]


def check(numbers: Numbers, texts: list[str]) -> None:
    case = (numbers.divisor, numbers.scale, numbers.low, numbers.high)
    for text in texts:
        assert numbers.core_has(text) == numbers.has(text), (case, text)
    beginnings = {text[:n] for text in texts for n in range(len(text) + 1)}
    for text in {beginning + byte for beginning in beginnings for byte in "0123456789."}:
        assert numbers.core_can_finish(text) == numbers.can_finish(text), (case, text)


def some_divisor(rng: random.Random, n_digits: int) -> int:
    """Also with many powers of 2 or 5, near powers of ten, and near those of 2^32, which is where its limbs end."""
    random_one = rng.randint(10 ** (n_digits - 1), 10**n_digits - 1)
    bits = (10**n_digits).bit_length()
    limbs = 2 ** (32 * rng.randint(0, bits // 32)) + rng.randint(-3, 3)
    return rng.choice(
        [
            random_one,
            random_one,
            max(1, limbs),
            2 ** rng.randint(1, bits - 1),
            5 ** rng.randint(1, n_digits),
            10**n_digits - rng.randint(1, 9),
        ]
    )


@pytest.mark.parametrize("n_digits", [1, 2, 5, 9, 10, 18, 19, 20, 29, 40, 60])
@pytest.mark.parametrize("seed", range(5))
def test_near_multiples_and_bounds(seed: int, n_digits: int) -> None:
    rng = random.Random(f"{seed} {n_digits}")
    divisor = some_divisor(rng, n_digits)
    magnitude = rng.randint(0, n_digits + 20)
    scale = rng.choice([0, 0, 1, 2, 5, 12, n_digits, n_digits + 9])
    low = rng.choice([0, rng.randint(0, 10**magnitude)])
    high = rng.choice([None, low, low + rng.randint(0, 3 * divisor), low + rng.randint(0, 10**magnitude)])
    numbers = Numbers(divisor, scale, low, high)
    values = [low, low // divisor * divisor, -(-low // divisor) * divisor, divisor * rng.randrange(10 ** rng.randint(1, 9))]
    if high is not None:
        values += [high, high // divisor * divisor, rng.randint(low, high) // divisor * divisor]
    texts = [text for value in values for by in (0, 1, -1) for text in numbers.texts_near(rng, value + by)]
    check(numbers, rng.sample(texts, 12 if n_digits < 19 else 4))


@pytest.mark.parametrize("seed", range(20))
def test_all_short_texts(seed: int) -> None:
    rng = random.Random(seed)
    divisor, low = rng.choice([1, 2, 3, 7, 25, 64, 125, 999]), rng.choice([0, rng.randint(0, 1200)])
    numbers = Numbers(divisor, rng.choice([0, 1, 2]), low, rng.choice([None, low + rng.randint(0, 60), low + rng.randint(0, 5000)]))
    texts = [""]
    for _ in range(4):
        texts = [text + byte for text in texts if text == "" or numbers.can_finish(text) for byte in "0123456789."]
        for text in rng.sample(texts, min(len(texts), 80)):
            assert numbers.core_has(text) == numbers.has(text), text
            assert numbers.core_can_finish(text) == numbers.can_finish(text), text


@pytest.mark.parametrize("n_digits", [100, 300, MAX_DIVISOR_DIGITS])
def test_long_divisors(n_digits: int) -> None:
    rng = random.Random(n_digits)
    divisor = rng.randint(10 ** (n_digits - 1), 10**n_digits - 1)
    numbers = Numbers(divisor, n_digits // 3, 10 ** (n_digits // 2), None)
    value = divisor * rng.randrange(1, 10**9)
    texts = [numbers.texts_near(rng, value + by)[0] for by in (0, 1, -1, divisor)]
    assert [numbers.core_has(text) for text in texts] == [True, False, False, True]
    beginnings = [texts[0][:n] + byte for n in range(len(texts[0])) for byte in "0123456789."]
    for text in rng.sample(beginnings, 40 if n_digits < 1000 else 0):  # a search along 1,000 digits, ten ways at each, is too long
        assert numbers.core_can_finish(text) == numbers.can_finish(text), text


@pytest.mark.parametrize("seed", range(40))
def test_multiples_of_one_number_and_of_no_other(seed: int) -> None:
    """Which beginnings can be finished, where one number is asked for and others are excluded."""
    rng = random.Random(seed)
    b = Builder()
    scale = rng.choice([0, 0, 1])
    divisor, low = rng.choice([1, 2, 3, 6, 7, 12, 49, 97]), rng.choice([0, 0, rng.randint(0, 500)])
    high = rng.choice([None, low + rng.randint(0, 300), low + rng.randint(0, 10**5)])
    excluded = []
    for _ in range(rng.randint(1, 3)):
        tail = rng.choice(["", ".", "7"]) if scale == 0 else ""  # what may follow: its first byte matters
        excluded.append((rng.choice([2, 3, 4, 5, 6, 7, 14, 49, 97]), rng.choice([scale, scale, scale + 1, 0]), tail))
    others = [b.concat(b.multiple_of(other, of), b.repeat(b.bytes(tail.encode()), 0, 1)) for other, of, tail in excluded]
    expr = b.intersect(b.multiple_of(divisor, scale, low, high), *map(b.complement, others))

    def is_taken(text: str, other: int, of: int, tail: str) -> bool:
        whole, point, fraction = text.partition(".")
        is_one = int(whole + fraction.ljust(of, "0")) % (other * 10 ** max(0, len(fraction) - of)) == 0 and (of > 0 or not point)
        return is_one or bool(tail and len(text) > 1 and text.endswith(tail) and is_taken(text[:-1], other, of, ""))

    def is_admitted(number: int) -> bool:
        text = str(number).zfill(scale + 1)
        spelt = [text] if not scale else [f"{text[:-1]}.{text[-1]}", *([text[:-1]] if text[-1] == "0" else [])]
        return any(not any(is_taken(one, *other) for other in excluded) for one in spelt)

    def can_finish(beginning: int) -> bool:
        for k in range(scale, scale + 6):
            first, last = max(low, beginning * 10**k), beginning * 10**k + 10**k - 1
            if any(
                is_admitted(number)
                for number in range(-(-first // divisor) * divisor, min(last, last if high is None else high) + 1, divisor)
            ):
                return True
        return False

    native = NativeExpressions(b, Limits(max_step_work=1_000_000_000))
    anything = b.repeat(b.byte_set(range(256)), 0, None)
    for beginning in rng.sample(range(1, 1000), 60):
        found = not native.is_empty(b.intersect(expr, b.concat(b.bytes(str(beginning).encode()), anything)))
        assert found == can_finish(beginning), (divisor, scale, low, high, excluded, beginning)


def test_no_search_for_multiples_of_one_number_and_of_no_other() -> None:
    """How many derivatives a mask takes does not grow with the digits that are still to come: they were 800,000."""
    schema = {"type": "integer", "multipleOf": 1234567890123456789012345678901234567891, "not": {"multipleOf": 7}}
    for extra in ({}, {"minimum": 0, "maximum": 10**60}):
        grammar = Grammar.from_json_schema({**schema, **extra})
        Matcher(grammar, Vocabulary.builtin()).mask()
        assert grammar.stats.derivatives < 20_000


def test_divisors_are_limited() -> None:
    builder = Builder()
    for divisor in (0, -1, 10**MAX_DIVISOR_DIGITS):
        with pytest.raises(ValueError, match="multiple_of"):
            builder.multiple_of(divisor, 0)


def test_states_are_few() -> None:
    """What is behind the bounds, or can no longer be told from another, is one state: as many as remainders and lengths."""
    builder = Builder()
    expr = builder.multiple_of(7, 2, 123, None)
    native = NativeExpressions(builder, Limits(max_expressions=400))
    rng = random.Random(0)
    for _ in range(3000):
        native.matches(expr, f"{rng.randrange(10**9)}.{rng.randrange(100):02}".encode())
