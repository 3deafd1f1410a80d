"""Closings of JSON strings behind the beginning of any of their spellings: as short as the shortest spelling that begins so."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from grammar_engine import Grammar, Matcher, UnsatisfiableSchemaError, Vocabulary

VOCABULARY = Vocabulary.bytes()
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def hexadecimal(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def spellings(char: str, escapes: str) -> list[bytes]:
    """All of a character; hexadecimal digits in small letters."""
    raw = char >= " " and char not in '"\\'
    found = [char] if raw else []
    found += [SHORT[char]] if char in SHORT else ["\\/"] if char == "/" and escapes == "all" else []
    found += [hexadecimal(char)] if escapes == "all" or not found else []
    return [spelling.encode() for spelling in found]


def least(texts: list[str], begun: bytes, escapes: str) -> int | None:
    """Bytes that are missing at least behind `begun`, which is inside of the string; None: no spelling begins so."""

    def of(text: str, begun: bytes) -> list[int]:
        if not begun:
            return [sum(min(map(len, spellings(char, escapes))) for char in text)]
        found = []
        for spelling in spellings(text[0], escapes) if text else []:
            if begun.startswith(spelling):
                found += of(text[1:], begun[len(spelling) :])
            elif spelling.startswith(begun):
                found += [len(spelling) - len(begun) + rest for rest in of(text[1:], b"")]
        return found

    return min(itertools.chain.from_iterable(of(text, begun) for text in texts), default=None)


@pytest.mark.parametrize("escapes", ["minimal", "all"])
@pytest.mark.parametrize(
    "texts",
    [
        ["abc"],
        ["a/b"],
        ["\n\t"],
        ["\x01\x1f"],
        ["é€"],
        ["😀x", "😁"],
        ["a", "é", "€€", "😀\n", '"', "\\\\\\", "\ufffd", "\U0010ffff"],
        ["u", "un", "\x0b\x0bq"],
        ['"a', "au😀/", "\n"],
    ],
    ids=ascii,
)
def test_shortest_behind_any_beginning(texts: list[str], escapes: str) -> None:
    grammar = Grammar.from_json_schema({"enum": texts}, escapes=escapes, whitespace="compact")
    for text in texts:
        for ways in itertools.islice(itertools.product(*(spellings(char, escapes) for char in text)), 40):
            spelt = b"".join(ways)
            for end in range(len(spelt) + 1):
                begun = spelt[:end]
                matcher = Matcher(grammar, VOCABULARY)
                assert matcher.accept_bytes(b'"' + begun)
                expected = least(texts, begun, escapes)
                closing = matcher.closing_bytes()
                assert expected is not None and len(closing) == expected + 1, (begun, closing)
                assert matcher.accept_bytes(closing) and matcher.is_complete


BEGUN = [
    b"",
    b"\\",
    b"\\u",
    b"\\u0",
    b"\\u00",
    b"\\u006",
    b"\\u0061\\",
    b"\\u2",
    b"\\u20A",
    b"\\ud",
    b"\\uD83",
    b"\\ud835",
    b"\\ud835\\",
    b"\\ud835\\u",
]
BEGUN += [b"\\ud835\\u" + digits for digits in (b"d", b"dc", b"dC1")]


@pytest.mark.parametrize(
    "pattern", ["^[a-z]{3}$", "^\\w{4}$", "^(é|ab){2}$", "^[^a-z]{2,}$", "^.{3}x$", "^\\p{L}\\p{N}$", "^(?!\\w).{2}$", "^[\\x00-\\x1f]+$"]
)
def test_a_closing_is_a_byte_longer_than_the_shortest_behind_its_first(pattern: str) -> None:
    """Where many characters may come. Of all that begins so somewhere each phase of an escape is looked at, and what is behind it."""
    grammar = Grammar.from_json_schema({"type": "string", "pattern": pattern}, escapes="all", whitespace="compact")
    seen = 0
    for begun in BEGUN:
        matcher = Matcher(grammar, VOCABULARY)
        if not matcher.accept_bytes(b'"' + begun):
            continue
        seen += 1
        following = []
        for byte in range(256):
            twin = matcher.fork()
            if twin.accept_bytes(bytes([byte])):
                following.append(len(twin.closing_bytes()))
        assert len(matcher.closing_bytes()) == 1 + min(following), begun
    assert seen > 3


ATOMS = ["a", "é", "😀", "\\n", "[a-z]", "[^a]", "\\w", ".", "/", "\\\\", '"', "[\x00-\x1f]", "\\d", "€", "u", "\\p{L}"]


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    kind = rng.random()
    if depth > 2 or kind < 0.45:
        return rng.choice(ATOMS)
    left = random_pattern(rng, depth + 1)
    if kind < 0.65:
        return left + random_pattern(rng, depth + 1)
    if kind < 0.8:
        return f"({left}|{random_pattern(rng, depth + 1)})"
    return f"({left})" + rng.choice(["*", "+", "?", "{2}", "{1,3}", "{2,}"])


def random_strings(rng: random.Random) -> dict:
    if rng.random() < 0.3:
        return {"enum": ["".join(rng.choice('aé€😀\n"\\/u\x01') for _ in range(rng.randint(0, 4))) for _ in range(3)]}
    schema: dict = {"type": "string", "pattern": f"^{random_pattern(rng)}$"}
    if rng.random() < 0.3:
        schema["not"] = {"pattern": f"^{random_pattern(rng)}$"}
    return schema


@pytest.mark.parametrize("seed", range(6))
def test_closings_along_random_texts(seed: int) -> None:
    """Each is a byte longer than the shortest of those behind its first; the texts go into escapes where they can."""
    rng = random.Random(seed)
    seen = 0
    while seen < 1000:
        try:
            grammar = Grammar.from_json_schema(random_strings(rng), escapes=rng.choice(["all", "all", "minimal"]), whitespace="compact")
        except UnsatisfiableSchemaError:
            continue
        matcher = Matcher(grammar, VOCABULARY)
        for _ in range(12):
            following = {}
            for byte in range(256):
                twin = matcher.fork()
                if twin.accept_bytes(bytes([byte])):
                    following[byte] = len(twin.closing_bytes())
            seen += 1
            assert len(matcher.closing_bytes()) == (0 if matcher.is_complete else 1 + min(following.values()))
            if not following:
                break
            within = [byte for byte in following if byte in b"\\u0123456789abcdefD"]
            matcher.accept_bytes(bytes([rng.choice(within if within and rng.random() < 0.7 else list(following))]))


def test_objects_with_long_keys_in_all_spellings() -> None:
    """A key of n characters has 10^5 beginnings of escapes for each of them, none of which matters."""
    keys = [f"property_name_{i:02d}" for i in range(40)]
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": keys, "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema, escapes="all", whitespace="compact")
    closing = Matcher(grammar, Vocabulary.builtin()).closing_bytes()
    assert json.loads(closing) == dict.fromkeys(keys, "")
    assert closing == Matcher(Grammar.from_json_schema(schema, whitespace="compact"), VOCABULARY).closing_bytes()
