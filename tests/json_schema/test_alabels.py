"""A-labels (`xn--...`) in host names, against the package `idna` and the codec `punycode` of Python.

The oracle decodes a whole label and asks `idna` for the U-label. Whether a beginning can still become a label it tells by trying all ends
that there is room for. Where there is much room every text of letters, digits and hyphens can.
"""

from __future__ import annotations

import itertools
import random
import string
import unicodedata
from collections.abc import Callable, Iterator

import idna
import pytest

from grammar_engine import Grammar, Limits, Matcher, Vocabulary
from grammar_engine.errors import LimitExceededError, UnsatisfiableSchemaError

from .engine import BYTES, accepts, dump

LDH = string.ascii_lowercase + string.digits + "-"
SCRIPTS = [
    "äöüßéèñçåøæœ", "αβγδέήίόύώς͵", "абвгдежзиё", "אבגדהוזח׳״", "ابتثجحخدذرز", "कखगघङचछजझञ्िीुूे\u200d\u200c", "กขคงจฉชซ", "一丁七万丈三上下不与",
    "あいうえおカキクケコ・ー", "가나다라마바사", "০১২৩অআইঈ", "٠١٢٣", "۰۱۲۳", "\u0300\u0301\u0323\u0331\u0327", "l·", "abcxyz", "0123456789", "-",
    "\U0001e900\U0001e922\U0001e923", "\U00020000\U0002a700", "ɛɔŋẹọ", "\u0dca\u0dcf\u0dd9", "ⴀⴁⴂ",
]  # fmt: skip


pytestmark = pytest.mark.skipif(
    unicodedata.unidata_version < "14", reason="the oracle is older than the tables of the core, which are of Unicode 14"
)

# Letters, marks and digits of Unicode 15, which are none in Unicode 14; `idna` goes by the tables of the Python at hand.
LATER = [
    (0xCF3, 0xCF3), (0xECE, 0xECE), (0x10EFD, 0x10EFF), (0x1123F, 0x11241), (0x11F00, 0x11F59), (0x1342F, 0x13455), (0x1B132, 0x1B132), (0x1B155, 0x1B155),
    (0x1DF25, 0x1DF2A), (0x1E030, 0x1E08F), (0x1E4D0, 0x1E4F9), (0x2B739, 0x2B739), (0x2EBF0, 0x2EE5D), (0x31350, 0x323AF),
]  # fmt: skip


def is_later(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in LATER)


def is_valid(text: str) -> bool:
    """Whether `xn--` and the text are an A-label."""
    text = text.lower()
    try:
        label = text.encode().decode("punycode")
        if any(map(is_later, label)):
            return False
        return not label.isascii() and len(text) <= 59 and label.encode("punycode").decode() == text and idna.check_label(label) is None
    except (UnicodeError, ValueError, OverflowError, IndexError):
        return False


def reader(**more: int) -> Callable[[str, bool], bool]:
    """(text, as a whole) -> is it an A-label behind `xn--`, or the beginning of one?"""
    matcher = Matcher(Grammar.from_json_schema({"type": "string", "format": "hostname", **more}), BYTES)

    def reads(text: str, whole: bool) -> bool:
        matcher.reset()
        return matcher.accept_bytes(f'"xn--{text}{chr(34) * whole}'.encode())

    return reads


def u_labels(rng: random.Random, n: int) -> Iterator[str]:
    """Random labels, of which some are valid."""
    for _ in range(n):
        scripts = rng.sample(SCRIPTS, rng.randint(1, 3))
        label = unicodedata.normalize("NFC", "".join(rng.choice(rng.choice(scripts)) for _ in range(rng.randint(1, 12))))
        if not label.isascii():
            yield label


def mutated(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(["", rng.choice(LDH), rng.choice(LDH) + rng.choice(LDH)]) + text[at + rng.randint(0, 1) :]


def test_labels_and_their_beginnings() -> None:
    rng, reads = random.Random(1), reader()
    seen = {True: 0, False: 0}
    for label in u_labels(rng, 6000):
        text = label.encode("punycode").decode()
        for each in (text, mutated(rng, text)):
            valid = is_valid(each)
            assert reads(each, True) == valid, (each, ascii(label))
            assert reads(each.upper(), True) == valid, each
            seen[valid] += 1
            if valid:
                assert all(reads(each[:n], False) for n in range(len(each))), each
    assert min(seen.values()) > 1000


def test_marks_that_normalisation_takes_into_a_composed_letter() -> None:
    """U+1EA5 and U+0323 become U+1EAD and U+0301: no two of them are composed as they stand."""
    reads, n_valid, n_labels = reader(), 0, 0
    for letter, between, mark in itertools.product("ấếốậệộǭḗǖ", ("", "\u0316"), "\u0323\u0301\u0300\u0327\u0331\u031b\u0328\u0308"):
        text = (letter + between + mark).encode("punycode").decode()
        assert reads(text, True) == is_valid(text), ascii(letter + between + mark)
        n_valid, n_labels = n_valid + is_valid(text), n_labels + 1
    assert 0 < n_valid < n_labels


def test_all_short_labels() -> None:
    """Of up to four octets all are tried: what can become one of them, and what cannot."""
    reads, limited = reader(), {n: reader(maxLength=4 + n) for n in (3, 4)}
    valid = {text for n in (1, 2, 3) for text in map("".join, itertools.product(LDH, repeat=n)) if is_valid(text)}
    longer = {text for text in map("".join, itertools.product("abz09-", LDH, LDH, LDH)) if is_valid(text)}
    assert valid and longer and min(map(len, valid)) == 3
    beginnings = {text[:n] for text in valid for n in range(4)}
    for n in range(4):
        for text in map("".join, itertools.product(LDH, repeat=n)):
            assert limited[3](text, False) == (text in beginnings), text
            if n == 3:
                assert reads(text, True) == (text in valid), text
    beginnings = {text[:n] for text in valid | longer for n in range(1, 5)}
    for text in map("".join, itertools.product("abz09-", LDH, LDH)):
        assert limited[4](text, False) == (text in beginnings), text


def test_the_fewest_octets_behind_characters() -> None:
    """What characters of ASCII can become with little room: by hyphens in wrong places it is told how many insertions they need."""
    texts = set()
    for n in range(8):
        for chars in map("".join, itertools.product("a-", repeat=n)):
            for places in itertools.chain.from_iterable(itertools.combinations_with_replacement(range(n + 1), k) for k in (1, 2, 3)):
                label = chars
                for place in reversed(places):
                    label = label[:place] + "\u00e0" + label[place:]
                text = label.encode("punycode").decode()
                if is_valid(text):
                    texts.add(text)
    limited = {room: {n: reader(maxLength=4 + n + room) for n in range(6)} for room in range(3, 6)}
    verdicts = set()
    for n in range(1, 6):
        for start in map("".join, itertools.product("a-", repeat=n)):
            least = min((len(text) - n for text in texts if text.startswith(start)), default=7)
            verdicts.add(least)
            for room in range(3, 6):
                assert limited[room][n](start, False) == (least <= room), (start, room, least)
    assert verdicts == {3, 4, 5}


def test_where_numbers_end_nowhere() -> None:
    """Texts whose numbers could go on in many ways, none of which makes a label, are known to be alive as characters, without a search."""
    reads = reader(maxLength=20)
    for text, end in (("a-sectional", "-66a"), ("a-security", "-g4a")):
        assert reads(text, False) and not reads(text, True)
        assert is_valid(text + end) and reads(text + end, True)


def near_the_end(rng: random.Random, room: int) -> Iterator[str]:
    """Beginnings with so many octets left: of labels, of mutations of them, and of what few labels begin with."""
    n = 59 - room
    while True:
        kind = rng.randrange(4)
        if kind == 0:
            yield "".join(rng.choice(LDH) for _ in range(n))
        elif kind == 1:
            yield "-" * rng.randint(0, 3) + "".join(rng.choice("l0-") for _ in range(n - 3))[: n - 3] + "-" * 3
        else:
            script = rng.choice(SCRIPTS[:12])
            label = "".join(rng.choice(script + "ab-") for _ in range(40)).encode("punycode").decode()
            text = (mutated(rng, label) if kind == 3 else label)[:n]
            if len(text) == n:
                yield text


@pytest.mark.parametrize(("room", "count"), [(0, 3000), (1, 600), (2, 40)])
def test_the_last_octets(room: int, count: int) -> None:
    rng, reads = random.Random(room), reader()
    found, n_given_up = set(), 0
    for text in itertools.islice(near_the_end(rng, room), count):
        ends = ("".join(end) for n in range(room + 1) for end in itertools.product(LDH, repeat=n))
        alive = any(is_valid((text + end)[:59]) for end in ends)
        try:
            assert reads(text, False) == alive, text
        except LimitExceededError:  # a beginning of it: the search for an end is exhaustive there
            n_given_up += 1
        else:
            found.add(alive)
    assert found == {True, False} and n_given_up <= count // 100


def test_names_of_several_labels() -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "hostname"})
    for name in ("www.xn--bcher-kva.example", "xn--p1ai.XN--P1AI", "a.xn--p1ai", ".".join(["xn--p1ai"] * 28)):
        assert accepts(grammar, dump(name)), name
    for name in ("xn--", "xn--.a", "xn--p1ai-", "a.xn--a", ".".join(["xn--p1ai"] * 29), "xn--p1ai."):
        assert not accepts(grammar, dump(name)), name


def test_names_that_mix_forms() -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "idn-hostname"})
    for name in ("xn--p1ai.рф", "рф.xn--p1ai.a", "xn--4dbc5h.xn--p1ai", "xn--4dbc5h", "xn--4dbc5h.рф"):
        assert accepts(grammar, dump(name)), name
    for name in ("xn--4dbc5h.1a", "1ü.xn--4dbc5h"):  # what is written from right to left are characters, and an A-label has none of those
        assert accepts(grammar, dump(name)), name
    for name in ("חוק.1a", "1ü.חוק", "xn--a.рф"):
        assert not accepts(grammar, dump(name)), name


def test_a_pattern_meets_labels() -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "hostname", "pattern": "^xn--[a-z]{3,6}$", "not": {"const": "xn--tda"}})
    assert accepts(grammar, '"xn--nxa"') == is_valid("nxa") and accepts(grammar, '"xn--wgv"') == is_valid("wgv")
    assert is_valid("tda") and not accepts(grammar, '"xn--tda"')
    outside = Grammar.from_json_schema({"type": "string", "not": {"format": "hostname"}})
    for text in ("tda", "tdaa", "p1ai", "a", "", "-"):
        assert accepts(outside, dump("xn--" + text)) != is_valid(text), text


@pytest.mark.parametrize(
    "beside", [{"pattern": r"\.com$"}, {"pattern": "^[^.]*$"}, {"allOf": [{"format": "hostname"}]}, {"not": {"pattern": "[.]"}}]
)
@pytest.mark.parametrize("name", ["hostname", "idn-hostname"])
def test_labels_beside_another_condition(name: str, beside: dict[str, object]) -> None:
    """Masks are those of bytes, and cost no search through all labels."""
    runs = [b"-" * n for n in (1, 2, 3, 5, 20, 50, 54, 58, 60)]
    tokens = [*(bytes([byte]) for byte in range(256)), *runs, b"--bcher-kva", b"--a.", b"--bcher-kva.c", b"cher", b"-kva.com", b'nxa"']
    schema = {"type": "string", "format": name, **beside}
    vocabularies = Vocabulary([*tokens, b""], eos=[len(tokens)]), BYTES
    whole, bytewise = (Matcher(Grammar.from_json_schema(schema, limits=Limits(max_step_work=1_000_000)), v) for v in vocabularies)
    for text in (b'"x', b'"xn', b'"xn--', b'"xn--bcher', b'"xn--' + 40 * b"-"):
        whole.reset()
        assert whole.accept_bytes(text)
        allowed = set(whole.allowed_tokens())
        for i, token in enumerate(tokens):
            bytewise.reset()
            assert bytewise.accept_bytes(text + token) == (i in allowed), (text, token)


@pytest.mark.parametrize("other", ["uri-reference", "email", "ipv4"])
def test_a_name_or_another_format_but_not_both(other: str) -> None:
    """That most names are the other as well is not found out name by name."""
    name, second = {"type": "string", "format": "hostname"}, {"type": "string", "format": other}
    grammar = Grammar.from_json_schema({"oneOf": [name, second]}, limits=Limits(max_step_work=200_000))
    for text in ("a", "a.example.com", "xn--tda", "xn--tda.a", "xn--tdaa", "a-", "/a", "a_b", "a@b", "1.2.3.4", "", "é"):
        is_name, is_second = (accepts(Grammar.from_json_schema(one), dump(text)) for one in (name, second))
        assert accepts(grammar, dump(text)) == (is_name != is_second), text


def test_a_name_and_not_a_name() -> None:
    name = {"type": "string", "format": "hostname"}
    for void in ({**name, "not": name}, {"oneOf": [name, {**name, "maxLength": 300}]}):
        with pytest.raises(UnsatisfiableSchemaError):
            Grammar.from_json_schema(void, limits=Limits(max_step_work=200_000))
