"""Internationalised host names as a whole, against the package `idna`: labels of all forms side by side, RFC 5893 over all of them, and 253
octets. The domains of addresses ask less: any letters, digits and hyphens within for labels in ASCII, each label by itself, and 255 octets.

What is accepted is compared with an oracle; a beginning that is accepted is finished by the engine and asked for again; and where a
beginning is refused, many ends are tried, of which none may be valid. The same beside patterns and lengths, which ask for more than the
names do.
"""

from __future__ import annotations

import itertools
import random
import re
import unicodedata
from collections.abc import Callable, Sequence

import idna
import pytest

from grammar_engine import Grammar, Matcher, UnsatisfiableSchemaError

from .engine import BYTES, dump
from .test_ulabels import SCRIPTS, is_u_label, nfc

PARTS = [*SCRIPTS, "אבגד", "ابجد", "٠١", "۰۱", "0123", "abc", "·l", "\u0375α", "・ー", "\u200c\u200d", "־׳", "ế\u0323\u031b", "xn--"]
ENDS = [
    "".join(end)
    for n in range(3)
    for end in itertools.product(["a", "1", "l", "é", "α", "か", "א", "ب", "-", "\u0301", "\u094d", "\u1161", ".a", ".1"], repeat=n)
]


def is_label(label: str, *, of_mail: bool) -> bool:
    """Whether it is one by itself."""
    if not label.isascii():
        label = nfc(label) if of_mail else label
        return is_u_label(label) and len(label.encode("punycode")) <= 59
    if not of_mail and label[:4].lower() == "xn--":
        try:
            text = label[4:].lower().encode().decode("punycode")
        except (UnicodeError, ValueError, OverflowError, IndexError):
            return False
        return len(label) <= 63 and is_u_label(text) and text.encode("punycode").decode() == label[4:].lower()
    valid = 0 < len(label) <= 63 and all(char.isalnum() or char == "-" for char in label)
    return valid and label[0] != "-" != label[-1] and (of_mail or label[2:4] != "--")


def octets_of(label: str) -> int:
    return len(label) if label.isascii() else 4 + len(nfc(label).encode("punycode"))


def fits(label: str, room: int) -> bool | None:
    """Whether it takes at most so many octets. None: it is not in form C,
    and a beginning of it takes more, or nearly; that is left open."""
    if octets_of(label) > room:
        return False
    if label == nfc(label):
        return True
    beginnings = [label[:n] for n in range(1, len(label)) if not label[:n].isascii()]
    return None if any(octets_of(each) > room - (1 if is_u_label(each) else 8) for each in beginnings) else True


def is_name(name: str, *, of_mail: bool) -> bool | None:
    labels = (name if of_mail else name.translate(dict.fromkeys(map(ord, "\u3002\uff0e\uff61"), "."))).split(".")
    if not all(is_label(label, of_mail=of_mail) for label in labels):
        return False
    used, known = 0, True
    for label in labels:
        one = fits(label, min(63, (255 if of_mail else 253) - used))
        if one is False:
            return False
        known = known and one is True
        used += octets_of(label) + 1
    if not of_mail and any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in name):
        try:
            if not all(idna.check_bidi(label.lower(), check_ltr=True) for label in labels):
                return False
        except idna.IDNABidiError:
            return False
    return True if known else None


def random_label(rng: random.Random) -> str:
    kind = rng.randrange(8)
    if kind == 0:
        return "".join(rng.choice("abc019-ABXn") for _ in range(rng.randint(1, 6)))
    chars = rng.choice(PARTS) + rng.choice([*PARTS, "", ""])
    label = "".join(rng.choice(chars) for _ in range(rng.randint(1, rng.choice([2, 5, 12]))))
    label = unicodedata.normalize(rng.choice(["NFC", "NFC", "NFD"]), label)
    if kind == 1 and not label.isascii():
        return "xn--" + label.encode("punycode").decode()
    return label


def random_name(rng: random.Random) -> str:
    return rng.choice(".......\u3002\uff0e").join(random_label(rng) for _ in range(rng.randint(1, 3)))


def long_name(rng: random.Random) -> str:
    """A name of about 253 octets."""
    target, name = rng.randint(225, 252), ""
    while sum(octets_of(label) + 1 for label in name.split(".")) - 1 < target:
        chars = rng.choice(["abc", "äöü", "россия", "一丁七万", "e\u0301o\u0302"])
        label = "".join(rng.choice(chars) for _ in range(rng.randint(1, 15)))
        name += "." * bool(name) + (label if label[0] not in "\u0301\u0302" else "a" + label)
    return unicodedata.normalize(rng.choice(["NFC", "NFC", "NFD"]), name)


class Reader:
    """The engine's verdict on a name, and on its beginnings; beside what else a schema asks for."""

    def __init__(self, name: str, pattern: str = "", least: int = 0, most: int = 1000):
        self.of_mail = name == "idn-email"
        self.before = "a@" if self.of_mail else ""
        self.asks = re.compile(pattern)
        self.lengths = range(least, most + 1)
        beside = (
            ({"pattern": pattern} if pattern else {})
            | ({"minLength": least} if least else {})
            | ({"maxLength": most} if most < 1000 else {})
        )
        self.matcher = Matcher(Grammar.from_json_schema({"type": "string", "format": name, **beside}), BYTES)

    def is_valid(self, name: str) -> bool | None:
        text = self.before + name
        if not self.asks.search(text) or len(text) not in self.lengths:
            return False
        return is_name(name, of_mail=self.of_mail)

    def reads(self, name: str) -> bool:
        self.matcher.reset()
        return self.matcher.accept_bytes(dump(self.before + name).encode()) and self.matcher.is_complete

    def n_read(self, name: str) -> int:
        """So many characters are read."""
        self.matcher.reset()
        assert self.matcher.accept_bytes(f'"{self.before}'.encode())
        for i, char in enumerate(name):
            if not self.matcher.accept_bytes(char.encode()):
                return i
        return len(name)

    def check(self, name: str, rng: random.Random, ends: Sequence[str] = ENDS) -> bool:
        accepted = self.reads(name)
        assert self.is_valid(name) in (accepted, None), ascii(name)
        n = self.n_read(name)
        if "xn--" not in name and ends is ENDS:  # else the shortest end may be far to seek
            closing = self.matcher.closing_bytes()
            assert self.is_valid(name[:n] + closing.decode()[:-1]) is not False, (ascii(name), n, closing)
        if n < len(name):
            for end in rng.sample(ends, 25):
                assert self.is_valid(name[: n + 1] + end) is not True, ascii(name[: n + 1] + end)
        return accepted


@pytest.mark.parametrize("name", ["idn-hostname", "idn-email"])
@pytest.mark.parametrize(("make", "count"), [(random_name, 120), (long_name, 25)])
def test_names(name: str, make: Callable[[random.Random], str], count: int) -> None:
    rng, reader = random.Random(name), Reader(name)
    seen = {True: 0, False: 0}
    for _ in range(count):
        seen[reader.check(make(rng), rng)] += 1
    assert min(seen.values()) > count // 30


BESIDE = {
    "an ending and the most": ((r"\.com$", 0, 25), [".com", ".a.com", "com", "om", "m"]),
    "a part and the most": ((r"\.de", 0, 12), [".de", "de", "e", ".dea", ".de.é"]),
    "a word": ((r"exam", 0, 11), ["exam", ".exam", "xam", "am", "m"]),
    "a length": (("", 9, 9), ["a.b", "aaaa", "é.é.é", "aaaaa", "-a"]),
    "lengths": (("", 7, 10), ["a.b", "aaaa", "é.é.é", "-a", ".a"]),
    "a letter that few labels have": (("ー", 0, 9), ["ー", "かー", ".かー", "ーか"]),
}


@pytest.mark.parametrize("name", ["idn-hostname", "idn-email"])
@pytest.mark.parametrize("beside", BESIDE)
def test_names_beside_patterns_and_lengths(name: str, beside: str) -> None:
    """Each name is also asked for with an end that the schema asks for, as far as there is room."""
    (pattern, least, most), ends = BESIDE[beside]
    rng, reader = random.Random(name + beside), Reader(name, pattern, least, most)
    seen = {True: 0, False: 0}
    for _ in range(150):
        end = rng.choice(["", *ends])
        room = max(0, most - len(reader.before + end))
        head = (random_name(rng) + rng.choice(["", ".", "a"]) + random_name(rng)).replace("xn-", "xxx")[
            : rng.choice([room, rng.randint(0, room)])
        ]
        seen[reader.check(head + end, rng, [*ENDS, *ends * 40])] += 1
    assert min(seen.values()) > 0


@pytest.mark.parametrize(("name", "wider"), [("hostname", "idn-hostname"), ("email", "idn-email")])
def test_what_is_valid_in_ascii_is_valid(name: str, wider: str) -> None:
    """JSON Schema, sections 7.3.2 and 7.3.3: near the greatest lengths, with hyphens anywhere, and A-labels of any direction."""
    rng, before = random.Random(name), "a@" * (name == "email")
    readers = [
        Matcher(Grammar.from_json_schema({"type": "string", **schema}), BYTES)
        for schema in ({"format": name}, {"format": wider}, {"not": {"format": wider}})
    ]
    seen = {True: 0, False: 0}
    for _ in range(1500):
        parts = ["a", "1a", "a--1", "xn--a", "xn--tda", "xn--4dbc5h", "xn--1-zfa", "ab--c", "-a", "a" * rng.randint(55, 64)]
        labels = rng.choices(parts, [3, 3, 2, 1, 3, 3, 3, 1, 1, 2], k=rng.randint(1, 4))
        if rng.random() < 0.3:
            labels = ["a" * 61, "b" * 62, "c" * 61, *labels[:2]]
        text, is_read = f'"{before}{".".join(labels)}"'.encode(), []
        for matcher in readers:
            matcher.reset()
            is_read.append(matcher.accept_bytes(text) and matcher.is_complete)
        assert is_read[1] >= is_read[0] and is_read[1] != is_read[2], text
        seen[is_read[0]] += 1
    assert min(seen.values()) > 100


def test_labels_of_addresses_stand_alone() -> None:
    """RFC 6531, section 3.3: any of ASCII that RFC 5321 has, and U-labels; what RFC 5893 asks of each other is no part of that."""
    reader = Reader("idn-email")
    labels = ["a", "1", "ab--c", "xn--a", "xn--", "-a", "ü", "1ü", "א", "א1", "א-", "ab--ü", "xn--ü", "A", "aÜ"]
    for n in (1, 2):
        for name in map(".".join, itertools.product(labels, repeat=n)):
            assert reader.reads(name) == reader.is_valid(name), ascii(name)
    for n, is_valid in ((62, True), (63, True), (64, False)):
        assert reader.reads("a." * 95 + "b." + "a" * n) == is_valid == reader.is_valid("a." * 95 + "b." + "a" * n)


def test_directions_of_several_labels() -> None:
    reader = Reader("idn-hostname")
    labels = ["a", "1", "a1", "ü", "1ü", "ü1", "א", "א1", "xn--tda", "xn--4dbc5h", "xn--1-zfa", "l·l", "ü-b"]
    for n in (1, 2, 3):
        for name in map(".".join, itertools.product(labels, repeat=n)):
            assert reader.reads(name) == reader.is_valid(name), ascii(name)


@pytest.mark.parametrize(("part", "whole"), [("hostname", "idn-hostname"), ("email", "idn-email")])
def test_a_format_within_another(part: str, whole: str) -> None:
    """That nothing has the one and not the other is known, and not searched for."""
    with pytest.raises(UnsatisfiableSchemaError, match="/format and /not"):
        Grammar.from_json_schema({"type": "string", "format": part, "not": {"format": whole}})
    grammar = Grammar.from_json_schema({"type": "string", "oneOf": [{"format": part}, {"format": whole}]})
    before = "" if part == "hostname" else "a@"
    for name, expected in (("a", False), ("ü", True), ("a.ü", True), ("-", False)):
        matcher = Matcher(grammar, BYTES)
        assert (matcher.accept_bytes(dump(before + name).encode()) and matcher.is_complete) == expected, name
