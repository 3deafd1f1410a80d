"""Sampling ends, is under the mask, and depends on nothing but its seed."""

from __future__ import annotations

import random
import re

import pytest

from cli.writers import ToyWriter
from grammar_engine import Grammar, Matcher
from grammar_engine.sampling import Kinds, Sampler
from grammar_engine.vocabulary import Vocabulary

SMALL = Vocabulary([bytes((b,)) for b in range(32, 127)] + [b"ab", b'"}', b'":', b"\xc3", b"\n", b""], eos=[100])


def words(*choices: bytes) -> ToyWriter:
    def closing(text: bytes) -> bytes:
        return min((c[len(text) :] for c in choices if c.startswith(text)), key=len)

    return ToyWriter(SMALL, lambda text: any(c.startswith(text) for c in choices), lambda text: text in choices, closing)


def nested() -> ToyWriter:
    """Lists of lists: `[`, members and `,`, `]`; without a bias towards the way out most texts never end."""

    def is_prefix(text: bytes) -> bool:
        depth = 0
        for at, byte in enumerate(text):
            if at and depth == 0:
                return False
            before = text[at - 1 : at]
            if byte == ord("["):
                if before == b"]":
                    return False
                depth += 1
            elif byte == ord("]"):
                if before in (b"", b","):
                    return False
                depth -= 1
            elif byte != ord(",") or before != b"]":
                return False
        return depth >= 0

    def closing(text: bytes) -> bytes:
        opening = b"[" if text[-1:] in (b"", b",") else b""
        return opening + b"]" * ((text + opening).count(b"[") - text.count(b"]"))

    return ToyWriter(SMALL, is_prefix, lambda text: is_prefix(text) and text.count(b"[") == text.count(b"]") > 0, closing)


def free_text() -> ToyWriter:
    """A quoted string without bound."""
    prefix, sentence = re.compile(rb'"[^"]*"?', re.DOTALL), re.compile(rb'"[^"]*"', re.DOTALL)

    def closing(text: bytes) -> bytes:
        return b"" if len(text) > 1 and text.endswith(b'"') else b'"' if text else b'""'

    return ToyWriter(SMALL, lambda text: prefix.fullmatch(text) is not None, lambda text: sentence.fullmatch(text) is not None, closing)


@pytest.mark.parametrize("language", [nested, free_text, lambda: words(b"a", b"ab", b"abc")])
def test_it_ends_in_a_sentence(language) -> None:
    writer = language()
    for seed in range(15):
        text = Sampler(SMALL, random.Random(seed)).write(writer, budget=30)
        assert writer.is_terminated and writer.is_sentence(text) and text == writer.text
        assert len(text) < 150


def test_all_choices_are_reached() -> None:
    writer, sampler = words(b"red", b"green", b"{}", b"\n"), Sampler(SMALL, random.Random(0))
    assert {sampler.write(writer) for _ in range(200)} >= {b"red", b"green", b"{}"}


def test_free_text_is_readable() -> None:
    writer, sampler = free_text(), Sampler(SMALL, random.Random(1))
    texts = [sampler.write(writer, budget=40) for _ in range(20)]
    assert all(text.decode().isprintable() for text in texts)
    assert len(set(texts)) > 12 and max(map(len, texts)) > 8
    inner = "".join(text.decode()[1:-1] for text in texts)
    assert sum(character.isalnum() or character in " _-." for character in inner) > 0.7 * len(inner)


def test_the_seed_decides() -> None:
    def run(seed: int) -> list[bytes]:
        sampler = Sampler(SMALL, random.Random(seed))
        return [sampler.write(free_text()) for _ in range(3)]

    assert run(7) == run(7) != run(8)


def test_what_chance_hardly_ends_is_closed() -> None:
    matcher = Matcher(Grammar.from_regex("[a-z]*qzxqzx"), SMALL)
    text = Sampler(SMALL, random.Random(0)).write(matcher, budget=10)
    assert matcher.is_terminated and text.endswith(b"qzxqzx") and len(text) > 10


def test_without_a_budget_only_the_closing_is_left() -> None:
    assert Sampler(SMALL, random.Random(0)).write(nested(), budget=0) == b"[]"


def test_pick_is_uniform_over_the_set() -> None:
    sampler = Sampler(SMALL, random.Random(0))
    members = {0, 1, 31, 32, 63, 64, 100_000}
    bits = sum(1 << m for m in members)
    seen = [sampler._pick(bits) for _ in range(1400)]
    assert set(seen) == members
    assert min(map(seen.count, members)) > 120


def test_kinds_of_tokens() -> None:
    """As regular expressions say them."""
    patterns = {
        "words": rb"[A-Za-z0-9 ._-]*[A-Za-z0-9_-][A-Za-z0-9 ._-]*",
        "marks": rb"[ -\[\]-~]*[!-\[\]-~][ -\[\]-~]*",
        "odd": rb"\s+|.*[\x00-\x1f\\].*",
        "brackets": rb"[}\])>]+",
        "exponents": rb"[eE].*",
        "single": rb"[ -~]",
        "letters": rb"[A-Za-z]",
        "digits": rb"[0-9]",
        "quotes": rb'"',
        "separators": rb"[,:;]",
    }
    random_tokens = [bytes(random.Random(i).choices(b' ae.-_\\"}])>,:\n\x00\x7f\xff7', k=i % 4)) for i in range(3000)]
    vocabulary = Vocabulary([*random_tokens, *(bytes([byte]) for byte in range(256))], eos=[])
    kinds = Kinds.of(vocabulary)
    assert kinds is Kinds.of(vocabulary)
    for name, pattern in patterns.items():
        members = {token for token, spelling in enumerate(vocabulary.tokens) if spelling and re.fullmatch(pattern, spelling, re.DOTALL)}
        assert members and getattr(kinds, name) == sum(1 << token for token in members), name
