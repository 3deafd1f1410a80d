"""How long U-labels may be: their A-labels have at most 63 octets (RFC 5890,
section 2.3.2.1), counted by the codec `punycode` of Python."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections.abc import Callable
from functools import cache

import pytest

from grammar_engine import Grammar, Matcher, Switches, UnsatisfiableSchemaError, Vocabulary
from grammar_engine.frontends.json_schema import context
from grammar_engine.frontends.json_schema.scalars.formats import fragment
from grammar_engine.ir import Builder

from .engine import BYTES, accepts, dump
from .test_ulabels import SCRIPTS, is_normalised_label, nfc, reader

LETTERS = [
    "abcdefghijklmnopqrstuvwxyz0123456789", "äöüßéèñçåøæœ", "αβγδεζηθικλμνξοπρστυφχψω", "абвгдежзиклмнопрстуфхцчшщьыэюя", "ɐɑɒɓɔəɛɣ",
    "一丁七万丈三上下不与丏丐丑专且世丘丙业丛东丝", "가나다라마바사아자차카타파하", "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝ", "აბგდევზთიკლმნ", "աբգդեզէըթ",
    "\U00020000\U0002a700\U00020001\U00024b62",
]  # fmt: skip
RIGHT = ["אבגדהוזחטיכלמנסעפצקרשת", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "\U0001e922\U0001e923\U0001e924"]
SCHEMAS = [
    {}, {"pattern": r"^[a-z].*\.com$"}, {"pattern": ".{5,40}"}, {"pattern": r"^\p{L}+$"}, {"pattern": "^[^.]*$"}, {"minLength": 30}, {"maxLength": 40},
    {"minLength": 5, "maxLength": 30}, {"not": {"enum": ["a.com", "bücher.de"]}},
]  # fmt: skip


def fits(label: str) -> bool:
    """Whether it has at most 63 octets."""
    return len(label.encode("punycode")) <= 59


def near_the_limit(rng: random.Random, alphabets: list[str], least: int = 54, most: int = 62) -> str:
    """A label of one to three alphabets, in which some characters come again and again."""
    chosen = [*rng.sample(alphabets, rng.randint(1, 2)), alphabets[0]]
    weights, target, label = [rng.random() ** 2 for _ in chosen], rng.randint(least, most), ""
    while len(label.encode("punycode")) < target and len(label) < 62:
        label += "-" if label[-1:].isalpha() and rng.random() < 0.03 else rng.choice(rng.choices(chosen, weights)[0])
        label += label[-1] * (rng.randint(1, 4) * (label[-1] != "-" and rng.random() < 0.1))
    return nfc(label)


def test_labels_of_letters() -> None:
    """Letters and single hyphens within: a U-label is accepted if and only if its A-label is short enough."""
    rng, reads = random.Random(1), reader("idn-hostname")
    seen = {True: 0, False: 0}
    for _ in range(500):
        label = near_the_limit(rng, LETTERS).rstrip("-")
        if not label.isascii():
            assert reads(label) == is_normalised_label(label), ascii(label)
            seen[fits(label)] += 1
    assert min(seen.values()) > 150


def test_labels_of_all_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused for its length is too long, and nothing else is."""
    rng, reads = random.Random(2), reader("idn-hostname")
    host_name = Builder.host_name
    monkeypatch.setattr(Builder, "host_name", lambda b, **options: host_name(b, **{**options, "bounded": False}))
    monkeypatch.setattr(context, "fragment", fragment.__wrapped__)  # made anew, and not kept
    reads_any_length = reader("idn-hostname")
    seen = {(any_length, short): 0 for any_length in (True, False) for short in (True, False)}
    for _ in range(1200):
        label = near_the_limit(rng, ["abc0", *SCRIPTS, *3 * RIGHT])
        if not label.isascii():
            valid = reads_any_length(label)
            assert reads(label) == (valid and fits(label)), ascii(label)
            seen[valid, fits(label)] += 1
    assert min(seen.values()) > 30


def test_the_longest() -> None:
    reads = reader("idn-hostname")
    for label, most in (("α", 57), ("я", 57), ("中", 57), ("가", 56), ("\U00020000", 56), ("א", 57)):
        lengths = [n for n in range(1, 64) if reads(label * n)]
        assert lengths == list(range(1, len(lengths) + 1)) == [n for n in range(1, 64) if fits(label * n)]
        assert len(lengths) == most, ascii(label)
    assert reads("a" * 55 + "é") == fits("a" * 55 + "é") and not reads("a" * 58 + "é") and reads("a" * 63) and not reads("a" * 64)


# Texts in form C, what follows them, also marks that are composed with nothing, and how many octets both take: the beginnings take more.
LATE = [
    ("\u10d3\uaea3\u10ed\u03c1\uadd0\u10d6\u03b8\ud638a\u10ef\uadcd\ud63c\u1e0ba\u10f1\ub23e\u00ed\u0435\u056e\u1e6d\u03bc", "\u10ef", 59),
    ("\u13a1\u7652\u13c0\u1e1d\u0e09\ua01e\u057d\u0571\u0574\u13bf\u13c4\xeb\u13c4\xe8\u0581\u03c4\u057c\u10d0", "\u057e", 48),
    ("c\u10eb\u6903\u13c9\u6fc7\ua011\u13b1\u03c8\u13b4\u10f1\u13b4\u13c6\u0253\u0577\xeb\u03b3\u6ff3\u10ec\u13b6", "\u10ee", 54),
    (
        "\U00020018\u0e20\U00020011\xef\u10ec\u03ba\u10e4\ua015\u03b3\u0e26\ub151\u0575\u10e1\u10e1\U00020028\u025f\U0002002d\u0e01\u0e22",
        "\u10e2\u0e1f",
        53,
    ),
    ("\u13a3\u3055\u10f4\u628bd\u10f2\u10f7\u6295l\u057ez\u10d4\uac24\u3055", "\u10f5\u10f0", 40),
    ("\u0e18\u0e18\u0e0f\u0324\u0e1a\u0326\u0294", "\u0322", 15),
    ("\u178d\u0338\u0575\u0584\u0585\u178f\u0339\u0583\u0583\u0572\xee\xeb\xe3\u178b\u17a2\xe4", "\u0315", 34),
    ("\uac13\u13a6\ua001\u13aa\u3051\u0447\u03b7\u62cb\u044d\u4e1b\u1e03\uac0d\u62cf", "\u62cd\u0445", 44),
]


def names_with_room(room: int, most: int) -> str:
    """Labels before one that may have so many octets behind `xn--`, in names of at most so many."""
    used, before = most - 4 - room, ""
    for n_left in range(4, 0, -1):
        before += "a" * (used // n_left - 1) + "."
        used -= used // n_left
    return before


@pytest.mark.parametrize("name", ["idn-hostname", "idn-email"])
def test_more_characters_that_take_fewer_octets(name: str) -> None:
    """A beginning that takes too many octets is alive if more characters
    make a label of it that does not; it can be closed, and only then."""
    matcher = Matcher(Grammar.from_json_schema({"type": "string", "format": name}), BYTES)
    before, most = ('"a@', 255) if name == "idn-email" else ('"', 253)
    for text, rest, room in LATE:
        assert len(text.encode("punycode")) > room >= len((text + rest).encode("punycode"))
        matcher.reset()
        assert matcher.accept_bytes((before + names_with_room(room, most) + text).encode()) and not matcher.accept_bytes(b'"'), ascii(text)
        assert matcher.accept_bytes(f'{rest}"'.encode()) and matcher.is_complete
        for less in (1, 2):
            matcher.reset()
            if matcher.accept_bytes((before + names_with_room(room - less, most) + text).encode()):
                closed = text + matcher.closing_bytes().decode().partition(".")[0].rstrip('"')
                assert is_normalised_label(closed) and len(nfc(closed).encode("punycode")) <= room - less


# --- masks ------------------------------------------------------------------------------------------------------------


@cache
def tokens() -> list[bytes]:
    """Bytes, characters and parts of them, and words with what may follow."""
    rng, made = random.Random(3), {bytes([byte]) for byte in range(256)}
    ends = [b"", b"-", b".", b'"', b".com", b'.com"', b"\xcc", b"\xe4", b"\\u", b"a", b".\xce", b"abcdefgh", b"x" * 30]
    for script in [*LETTERS, *RIGHT, *SCRIPTS]:
        for _ in range(12):
            word = "".join(rng.choice(script + rng.choice(["", "-", "a", "."])) for _ in range(rng.randint(1, 9))).encode()
            made |= {word, word[1:], word[: rng.randint(1, 7)], word + rng.choice(ends)}
    return sorted(made - {b""})


def prefix_near_the_limit(rng: random.Random, other: Matcher, before: str = "") -> bytes:
    """A text that leads to a place near the limit, and that can be read."""
    label = near_the_limit(rng, LETTERS, 40)
    data = (
        '"' + before + rng.choice(["", "", "a.", "é.", "x" * 60 + "."]) + unicodedata.normalize(rng.choice(["NFC", "NFD"]), label)
    ).encode()
    n = 0
    other.reset()
    while n < len(data) and other.accept_bytes(data[n : n + 1]):
        n += 1
    return data[: max(1, n - rng.choice([0, 0, 0, 1, 2, 3, 5, 8]))]


def check_mask(matcher: Matcher, other: Matcher, text: bytes) -> int:
    """Compares a mask with what is accepted byte by byte; the number of tokens in it."""
    matcher.reset()
    other.reset()
    assert matcher.accept_bytes(text) and other.accept_bytes(text)
    bits, n_set = int.from_bytes(bytes(matcher.mask()), "little"), 0
    for i, token in enumerate(tokens()):
        is_read = other.accept_bytes(token)
        assert is_read == bool(bits >> i & 1), (text, token)
        if is_read:
            other.rollback(1)
            n_set += 1
    return n_set


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@pytest.mark.parametrize("clamping", [True, False])
def test_masks_near_the_limit(schema: dict[str, object], clamping: bool) -> None:
    rng = random.Random(str(schema))
    grammar = Grammar.from_json_schema({"type": "string", "format": "idn-hostname", **schema})
    vocabulary = Vocabulary([*tokens(), b""], eos=[len(tokens())])
    matcher, other = Matcher(grammar, vocabulary, switches=Switches(clamping=clamping)), Matcher(grammar, BYTES)
    assert sum(check_mask(matcher, other, prefix_near_the_limit(rng, other)) for _ in range(6)) > 0


@pytest.mark.parametrize("name", ["idn-hostname", "idn-email"])
def test_masks_beside_lengths(name: str) -> None:
    """The most characters are counted beside the walk (mk_name.c), the fewest in it."""
    rng, before = random.Random(name), "é@" if name == "idn-email" else ""
    vocabulary = Vocabulary([*tokens(), b""], eos=[len(tokens())])
    for lengths in (
        {},
        {"maxLength": 3},
        {"maxLength": 9},
        {"minLength": 1, "maxLength": 25},
        {"minLength": 7, "maxLength": 8},
        {"minLength": 50},
    ):
        grammar = Grammar.from_json_schema({"type": "string", "format": name, **lengths})
        matchers = [Matcher(grammar, vocabulary, switches=Switches(clamping=clamping)) for clamping in (True, False)]
        other = Matcher(grammar, BYTES)
        for _ in range(3):
            text = prefix_near_the_limit(rng, other, before)
            text = text[: rng.randint(1, len(text))]
            assert len({check_mask(matcher, other, text) for matcher in matchers}) == 1


def test_masks_behind_whole_names() -> None:
    """Near 253 octets, the last label but one read."""
    vocabulary = Vocabulary([*tokens(), b""], eos=[len(tokens())])
    for name, before in (("idn-hostname", ""), ("idn-email", "a@")):
        grammar = Grammar.from_json_schema({"type": "string", "format": name})
        matcher, other = Matcher(grammar, vocabulary), Matcher(grammar, BYTES)
        for rest, n in itertools.product(("", "a", "é", "россия", "ae\u0301-", "名称有限责任"), (55, 45, 30)):
            text = ('"' + before + ("a" * 60 + ".") * 3 + "b" * n + "." + rest).encode()
            other.reset()
            if other.accept_bytes(text):
                check_mask(matcher, other, text)


def test_masks_of_values_that_must_differ() -> None:
    rng = random.Random(4)
    items = {"type": "string", "format": "idn-hostname"}
    grammar = Grammar.from_json_schema({"type": "array", "items": items, "uniqueItems": True})
    matcher, other = Matcher(grammar, Vocabulary([*tokens(), b""], eos=[len(tokens())])), Matcher(grammar, BYTES)
    one = Matcher(Grammar.from_json_schema(items), BYTES)
    for _ in range(8):
        text = prefix_near_the_limit(rng, one)
        check_mask(matcher, other, b"[" + text)
        one.reset()
        if one.accept_bytes(text + b'"'):
            check_mask(matcher, other, b"[" + text + b'", ' + text)


# --- what is outside ---------------------------------------------------------------------------------------------------

OUTSIDE = [
    {}, {"pattern": r"\.com$"}, {"pattern": "^[a-z]+$"}, {"pattern": "^[α-ω]+$"}, {"pattern": "^[^.]*$", "maxLength": 70}, {"maxLength": 60},
    {"minLength": 30}, {"not": {"pattern": "^a"}}, {"anyOf": [{"maxLength": 12}, {"pattern": "^a", "maxLength": 80}]},
]  # fmt: skip


def any_name(rng: random.Random) -> str:
    """A name, or hardly one: labels near 63 octets, in all forms; few before it, or so many that it is near 253."""
    labels = [rng.choice(["", "a", "é", "x" * rng.randint(60, 64)]) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
    if rng.random() < 0.3:
        labels = ["a" * rng.randint(57, 63) for _ in range(rng.randint(3, 4))]
    last = near_the_limit(rng, rng.choice([LETTERS, ["abc0", *SCRIPTS]]), rng.choice([2, 54]))
    last = rng.choice([last, last, "a" * rng.randint(55, 66), "xn--" + last.encode("punycode").decode()])
    return ".".join([*filter(None, labels), last])


@pytest.mark.parametrize("name", ["idn-hostname", "idn-email"])
def test_a_text_has_the_format_or_not(name: str) -> None:
    rng = random.Random(name)
    inside = Matcher(Grammar.from_json_schema({"type": "string", "format": name}), BYTES)
    outside = Matcher(Grammar.from_json_schema({"type": "string", "not": {"format": name}}), BYTES)
    seen = {True: 0, False: 0}
    for _ in range(1500):
        text = unicodedata.normalize(rng.choice(["NFC", "NFC", "NFD"]), any_name(rng))
        is_read = []
        for matcher in (inside, outside):
            matcher.reset()
            is_read.append(matcher.accept_bytes(dump("é@" * (name == "idn-email") + text).encode()) and matcher.is_complete)
        assert is_read[0] != is_read[1], ascii(text)
        seen[is_read[0]] += 1
    assert min(seen.values()) > 300


@pytest.mark.parametrize("name", ["idn-hostname", "idn-email"])
@pytest.mark.parametrize("schema", OUTSIDE, ids=str)
def test_masks_outside(name: str, schema: dict[str, object]) -> None:
    """They lie between those of two other configurations (mk_bar.c): not without clamping."""
    rng, before = random.Random(name + str(schema)), "é@" if name == "idn-email" else ""
    vocabulary = Vocabulary([*tokens(), b""], eos=[len(tokens())])
    grammar = Grammar.from_json_schema({"type": "string", "not": {"format": name}, **schema})
    matchers = [Matcher(grammar, vocabulary, switches=Switches(clamping=clamping)) for clamping in (True, False)]
    other = Matcher(grammar, BYTES)
    for _ in range(4):
        data = f'"{before}{any_name(rng)}'.encode()
        other.reset()
        n = next((n for n in range(len(data)) if not other.accept_bytes(data[n : n + 1])), len(data))
        text = data[: max(1, n - rng.choice([0, 0, 1, 2, 5]))]
        assert len({check_mask(matcher, other, text) for matcher in matchers}) == 1


def test_what_only_octets_leave() -> None:
    """All these texts are names but for their length."""
    for pattern, text, is_left in (
        ("^[a-z]+$", "a" * 64, True),
        ("^[a-z]+$", "a" * 63, False),
        ("^[a-z]{1,9}(\\.[a-z]{1,9})*$", "a" * 9 + ".aaaaaaaaa" * 25, True),
        ("^[a-z]{1,9}(\\.[a-z]{1,9})*$", "a" * 9 + ".aaaaaaaaa" * 24, False),
        ("^[α-ω]+$", "α" * 58, True),
        ("^[α-ω]+$", "α" * 57, False),
        ("^[a-z]+@[α-ω]+$", "a@" + "α" * 58, True),
        ("^[a-z]+@[α-ω]+$", "a@" + "α" * 57, False),
    ):
        name = "idn-email" if "@" in pattern else "idn-hostname"
        grammar = Grammar.from_json_schema({"type": "string", "pattern": pattern, "not": {"format": name}})
        assert accepts(grammar, dump(text)) == is_left, (pattern, len(text))
    with pytest.raises(UnsatisfiableSchemaError):
        Grammar.from_json_schema({"type": "string", "pattern": "^[а-я]{1,9}$", "not": {"format": "idn-hostname"}})


# --- beside other conditions ------------------------------------------------------------------------------------------


def test_conditions_beside_it() -> None:
    greek = "α" * 52
    for schema, name, valid in (
        ({"minLength": 56}, greek + ".com", True),
        ({"minLength": 57}, greek + ".com", False),
        ({"maxLength": 55}, greek + ".com", False),
        ({"pattern": "^α+\\.com$"}, greek + ".com", True),
        ({"pattern": "^β"}, greek + ".com", False),
        ({"not": {"const": greek + ".com"}}, greek + ".com", False),
        ({"not": {"const": greek + ".com"}}, greek + ".org", True),
        ({"enum": [greek + ".com", "α" * 60 + ".com"]}, greek + ".com", True),
        ({"enum": [greek + ".com", "α" * 60 + ".com"]}, "α" * 60 + ".com", False),
    ):
        grammar = Grammar.from_json_schema({"type": "string", "format": "idn-hostname", **schema})
        assert accepts(grammar, dump(name)) == valid, (schema, name)


@pytest.mark.parametrize("schema", [{}, {"pattern": r"\.com$"}, {"minLength": 60}], ids=str)
def test_closings(schema: dict[str, object]) -> None:
    matcher = Matcher(Grammar.from_json_schema({"type": "string", "format": "idn-hostname", **schema}), BYTES)
    for text in ("", "bü", "α" * 54, "α" * 53 + "-", "россия" * 8):
        matcher.reset()
        assert matcher.accept_bytes(f'"{text}'.encode())
        closing = matcher.closing_bytes()
        assert len(matcher.closing_tokens()) >= len(closing)
        assert matcher.accept_bytes(closing) and matcher.is_complete, text


# --- cost -------------------------------------------------------------------------------------------------------------


def test_masks_of_real_names_cost_little(real_vocabulary: Callable[[str], Vocabulary]) -> None:
    """Without the detour by labels of any length (mk_name.c) each of these masks takes 200,000 derivatives and more."""
    vocabulary = real_vocabulary("tekken-131k")
    schemas: list[tuple[dict[str, object], str]] = [
        ({"type": "string", "format": "idn-hostname", **schema}, '"') for schema in (*SCHEMAS[:2], SCHEMAS[3], {"maxLength": 30})
    ]
    schemas.append(({"type": "object", "propertyNames": {"format": "idn-hostname"}}, '{"'))
    schemas += [({"type": "string", "not": {"format": "idn-hostname"}, **schema}, '"') for schema in ({}, {"pattern": r"\.com$"})]
    for schema, opening in schemas:
        grammar = Grammar.from_json_schema(schema)
        matcher = Matcher(grammar, vocabulary)
        for name in ("bücher.com", "россияроссияроссия.com", "b-ü-müller-und-söhne", "名称有限"):
            matcher.reset()
            for text in (opening, *name):
                if not matcher.accept_bytes(text.encode()):
                    break
                before = grammar.stats.derivatives
                matcher.mask()
                assert grammar.stats.derivatives - before < 120_000, (schema, name, text)


def test_masks_of_short_names_look_at_few_tokens(real_vocabulary: Callable[[str], Vocabulary]) -> None:
    """Where all that tokens may add to a name fits (vb_reach.c): else each token has a state, 35,000 derivatives for one of these masks."""
    vocabulary = real_vocabulary("tekken-131k")
    for _ in range(2):  # the first grammar teaches the vocabulary what is inside names
        most, grammar = 0, Grammar.from_json_schema({"type": "string", "format": "idn-email"})
        matcher = Matcher(grammar, vocabulary)
        for text in ('"', "mary", "@", "web", ".example", ".中国"):
            assert matcher.accept_bytes(text.encode())
            before = grammar.stats.derivatives
            matcher.mask()
            most = max(most, grammar.stats.derivatives - before)
    assert most < 5_000


@pytest.mark.parametrize(("begun", "token"), [("xn-", b"-az"), ("", b"xn--az"), ("xn", b"--az")])
def test_an_a_label_may_need_more_than_fits(begun: str, token: bytes) -> None:
    """Near the end of a name: what begins an A-label is not known to fit by its characters."""
    grammar = Grammar.from_json_schema({"type": "string", "format": "idn-hostname"})
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), token, b"az", b""], eos=[258])
    for n in range(40, 60):
        name = ".".join(["a" * 59] * 3 + ["a" * n, "a", "a", begun])
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(f'"{name}'.encode())
        assert (256 in matcher.allowed_tokens()) == (matcher.validate([256]) == 1), name


def test_masks_within_a_labels_do_not_take_the_detour() -> None:
    """Each text there is a configuration of its own, whose ending would have to be found: that took a hundred times as many derivatives."""
    vocabulary, derivatives = Vocabulary.builtin(), []
    for clamping in (False, True):
        grammar = Grammar.from_json_schema({"type": "string", "format": "idn-hostname"})
        matcher = Matcher(grammar, vocabulary, switches=Switches(clamping=clamping))
        for text in (b'"xn--', b"bc", b"her-kva"):
            assert matcher.accept_bytes(text)
            matcher.mask()
        derivatives.append(grammar.stats.derivatives)
    assert derivatives[1] < 2 * derivatives[0]


@pytest.mark.parametrize("last", ["é", "я", "中", "\U00020000"])
def test_a_last_character_beside_what_is_outside(last: str) -> None:
    """How many octets it takes is not known while it has begun."""
    for n in range(48, 60):
        text = "a" * n + last
        is_name = accepts(Grammar.from_json_schema({"type": "string", "format": "idn-hostname"}), dump(text))
        for beside in ({"pattern": f"^[a-z]+{last}$"}, {"enum": [text, "b!"]}, {"pattern": f"^[a-z]{{3,70}}{last}?$"}):
            outside = Grammar.from_json_schema({"type": "string", "not": {"format": "idn-hostname"}, **beside})
            assert accepts(outside, dump(text)) != is_name, (n, beside)
