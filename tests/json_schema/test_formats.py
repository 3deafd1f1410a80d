"""Formats by their RFCs. The official suite (tests/conformance/test_suite.py)
has many more cases; here are those it lacks, and the corners.

Each format is also compared with what others make of it, on valid samples and on mutations of them: libraries and the standard library
where these are right, and said to be wrong where they are not.
"""

from __future__ import annotations

import calendar
import datetime as dt
import ipaddress
import random
import re
import unicodedata
import uuid
from collections.abc import Callable, Iterator

import pytest

from grammar_engine import Grammar, Matcher, UnsupportedSchemaError, Vocabulary
from grammar_engine.frontends.json_schema.scalars.formats import FORMATS, NARROWED, WIDER

from .engine import BYTES, accepts, dump

TABLE = {
    "date": ("2024-02-29 2000-02-29 1999-12-31 0000-02-29", "2023-02-29 1900-02-29 2024-02-30 2024-13-01 2024-00-01 24-01-01 2024-1-01"),
    "time": (
        "00:00:00Z 23:59:59.123z 12:00:00+23:59 23:59:60Z 22:59:60-01:00 05:29:60+05:30 18:29:60-05:30 05:44:60+05:45",
        "23:59:60-01:00 05:43:60+05:45 24:00:00Z 12:00:00 12:60:00Z 22:59:60Z 23:59:60+01:00 12:00Z 12:00:00.Z 12:00:00+24:00",
    ),
    "date-time": ("2024-02-29T12:00:00Z 1998-12-31t23:59:60.5z", "2024-02-29 12:00:00Z 2023-02-29T12:00:00Z 2024-02-29T12:00:00"),
    "duration": ("P1D PT1H P1Y2M3DT4H5M6S P4W PT36H P1M", "P PT P1 1D P1YT P1Y1D PT1H1S P1W1D P1S"),
    "email": ('a@b a.b+c@d-e.f "a\\"b"@c a@[127.0.0.1] a@[IPv6:::1]', "a a@ @b a..b@c .a@b a@b. a@-b a@b_c a@[127.0.0.256] a@b@c"),
    "uuid": ("2eb8aa08-AA98-11ea-b4aa-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380 2eb8aa08-aa98-11ea-b4aa-73b441d1638 g" + "0" * 35),
    "ipv4": ("0.0.0.0 255.255.255.255 1.2.3.4", "256.0.0.1 1.2.3 1.2.3.4.5 01.2.3.4 1.2.3.-4"),
    "ipv6": (
        ":: ::1 1:: 1:2:3:4:5:6:7:8 1::8 1:2:3:4:5:6:1.2.3.4 ::ffff:1.2.3.4 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8",
        "::: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 12345:: g:: 1:2:3:4:5:6:7:8:: ::1.2.3",
    ),
    "hostname": (
        "a a.b a-b.c 1.2 " + "a" * 63 + " " + ".".join(["a" * 49] * 5),
        "-a a- a..b a. .a a_b " + "a" * 64 + " " + ".".join(["a" * 50] * 5) + " xn--x ab--cd",
    ),
    "uri": (
        "http://a.b/c?d#e mailto:a@b urn:x:y a: http://[::1]:80/ http://u:p@h:1/%20 file:///a x:/a//b",
        "//a.b /c a#b http://a b http://[::1 http://a/%2 1a:b :a http://a/{x} http://[1.2.3.4]/ a:b#c#d",
    ),
    "uri-reference": ("http://a //a.b /c a ?b #c ../x a/b:c", "a:b#c#d \\\\a %zz [a a^b"),
    "iri": ("http://é.ü/ß?ñ", "é"),
    "iri-reference": ("é/ß", "\\é"),
    "uri-template": ("http://a/{b}{?c,d*}{+e:3} {/x.y}", "{ {} {a} } {a:0} {$a} {a,}"),
    "json-pointer": ("/a/b /~0~1 /é/ /", "a /~ /~2 #/a"),
    "relative-json-pointer": ("0 1/a 0# 12", "01 /a -1/a 0## a"),
    "idn-hostname": (
        "a.b 例え.テスト straße.de l·l.x ͵α א׳.a 日・本 بي‌بي क्‍ष a。b x.א0 é--é " + "é" * 19,
        "a. .a a_b -é é- ÉÉ ·l l·a ͵a ׳א ・ ب٠۰ क‍ष ½ cafe\u0301 0é.א aא xn--bcher-kv " + "é" * 60,
    ),
    "idn-email": ('a@b δοκιμή@παράδειγμα.gr "é"@b é@[127.0.0.1]', "é@ @é é é..é@b a@-é a＠b " + "é" * 33 + "@b"),
    "regex": (
        r"^[a-z]+$ (?:a|b){2,3}? (?<n>x)y (a)\1 [] [^] [^-\]\d-] \p{L}+ \u{1F600} \x41 (?=a)(?!b)(?<=c)(?<!d) a{2,10} a{10,} [\x41-\x5A] \cA | "
        r"(?<n>x)y\k<n>+z\k<n> (a)(?<b>c)\2\k<b> (?<year>a)\1 ((((((((a)))))))) (a)(b)(c)(d)(e)(f)(g)(h)(i)\9 "
        r"(?<a>x)(?<b>y)\k<a> \k<a>(?<a>x) (?<a>x)|(?<a>y) (?i-s:a) \0 [a-\u{1F600}]",
        r"a{2,1} ( ) a) [ ] { } * a** ^* (?=a)* \1 (?:a)\1 [z-a] [\d-x] \a \- \8 (?<a>x)(?<a>y) (?<1>x) \k<a> (?<n>x)\k<m> (?<n>x)\k (a)\k<n> (?i)a \u{110000} \p{X} \x4",
    ),
}
SPACED = {"http://a b", "{a} }", "2024-02-29 12:00:00Z"}  # refused because of the space in them


@pytest.mark.parametrize("name", TABLE)
def test_format(name: str) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": name})
    accepted, refused = TABLE[name]
    for text in accepted.split(" "):
        assert accepts(grammar, dump(text)), text
    for spaced in SPACED:
        if spaced in refused:
            refused = refused.replace(spaced, "").replace("  ", " ")
            assert not accepts(grammar, dump(spaced)), spaced
    for text in refused.split(" "):
        assert not accepts(grammar, dump(text)), text


def test_the_empty_string() -> None:
    for name in TABLE:
        grammar = Grammar.from_json_schema({"type": "string", "format": name})
        assert accepts(grammar, '""') == (name in ("uri-reference", "iri-reference", "uri-template", "json-pointer", "regex")), name


def test_dates_equal_the_calendar() -> None:
    grammar = Grammar.from_json_schema({"format": "date"})
    rng = random.Random(1)
    for _ in range(1500):
        year, month, day = (
            rng.choice([rng.randint(1, 9999), 4 * rng.randint(1, 2499), 100 * rng.randint(1, 99)]),
            rng.choice([2, 2, rng.randint(0, 13)]),
            rng.randint(26, 32),
        )
        valid = 1 <= month <= 12 and day <= calendar.monthrange(year, month)[1]
        assert accepts(grammar, f'"{year:04}-{month:02}-{day:02}"') == valid


def test_leap_seconds_are_at_midnight_in_utc() -> None:
    matches = matcher_of("time")
    rng = random.Random(7)
    for offset in range(-24 * 60 + 1, 24 * 60):
        local = dt.datetime(2000, 1, 2, 23, 59) + dt.timedelta(minutes=offset)
        right, zone = f"{local:%H:%M}", f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
        assert matches(f"{right}:60{zone}")
        assert matches(f"{right}:60.{offset % 7}{zone}")
        for wrong in (1, -1, 10, 60, 600, 24 * 30):
            assert not matches(f"{local + dt.timedelta(minutes=wrong):%H:%M}:60{zone}")
        for at in (0, 1, 3, 4):
            digit = rng.choice("0123456789".replace(right[at], ""))
            assert not matches(f"{right[:at]}{digit}{right[at + 1 :]}:60{zone}")
            digit = rng.choice("0123456789".replace(zone[at + 1], ""))
            assert not matches(f"{right}:60{zone[: at + 1]}{digit}{zone[at + 2 :]}")


def test_masks_of_times_take_no_derivatives() -> None:
    """Which digits may come up to the minutes is seen by structure, though leap seconds are intersections."""
    grammar, vocabulary = Grammar.from_json_schema({"format": "date-time", "type": "string"}), Vocabulary.bytes()
    matcher, text, taken = Matcher(grammar, vocabulary), b'"2024-02-29T23:59:', []
    for byte in text:
        assert matcher.accept_bytes(bytes([byte]))
        before = grammar.stats.derivatives
        matcher.mask()
        if chr(byte) not in '"-T:':
            taken.append(grammar.stats.derivatives - before)
    assert sum(taken) == 0


def test_formats_meet_other_conditions() -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "date", "pattern": "^2024-02", "not": {"const": "2024-02-03"}})
    assert accepts(grammar, '"2024-02-29"')
    for text in ("2024-02-03", "2024-02-30", "2023-02-01"):
        assert not accepts(grammar, dump(text))


def test_formats_are_for_strings() -> None:
    assert accepts(Grammar.from_json_schema({"format": "date"}), "12")


def test_unknown_formats() -> None:
    schema = {"properties": {"a": {"type": "integer", "format": "int32"}}}
    report = Grammar.from_json_schema(schema).report
    assert any(entry.keyword == "format" and "int32" in entry.detail for entry in report.annotations)
    with pytest.raises(UnsupportedSchemaError, match=r"no format 'int32'; known are date, .*regex.*/properties/a"):
        Grammar.from_json_schema(schema, formats="strict")
    Grammar.from_json_schema({"format": "date"}, formats="strict")


def test_formats_as_annotations() -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "date", "maxLength": 3}, formats="annotation")
    assert accepts(grammar, '"abc"')
    assert not accepts(grammar, '"abcd"')
    assert [entry.keyword for entry in grammar.report.annotations] == ["format"]
    assert "format" not in [entry.keyword for entry in grammar.report.enforced]


def test_a_use_of_a_format_that_is_known_in_part_is_noted() -> None:
    assert NARROWED.keys() == WIDER.keys()
    schema = {"properties": {name: {"format": name} for name in FORMATS}}
    notes = [entry for entry in Grammar.from_json_schema(schema).report.notes if entry.keyword == "format"]
    assert {entry.pointer.removeprefix("/properties/"): entry.detail.partition(": ")[2] for entry in notes} == NARROWED
    assert not Grammar.from_json_schema({"type": "string", "format": "idn-hostname"}, formats="annotation").report.notes


LONG = "\u03b1" * 60  # a U-label, but for its A-label


def test_a_name_that_nothing_but_its_octets_forbids_is_in_the_negation() -> None:
    for name, text in {"idn-hostname": LONG, "idn-email": f"a@{LONG}"}.items():
        schema = {"type": "string", "format": name}
        outside = {"type": "string", "not": schema}
        sample = TABLE[name][0].split(" ")[0]
        for inside in (schema, {"not": {"anyOf": [{"not": schema}, {"type": "null"}]}}, {"not": outside, "type": "string"}):
            assert accepts(Grammar.from_json_schema(inside), dump(sample)), inside
            assert not accepts(Grammar.from_json_schema(inside), dump(text)), inside
        for other in (outside, {"oneOf": [schema, {"const": text}]}, {"if": schema, "then": False}):
            assert accepts(Grammar.from_json_schema(other), dump(text)), other
        assert accepts(Grammar.from_json_schema(outside), dump("a b"))
        assert not accepts(Grammar.from_json_schema(outside), dump(sample))


# --- against others -----------------------------------------------------------------------------------------------------------


def matcher_of(name: str) -> Callable[[str], bool]:
    matcher = Matcher(Grammar.from_json_schema({"type": "string", "format": name}), BYTES)

    def matches(text: str) -> bool:
        matcher.reset()
        return matcher.accept_bytes(dump(text).encode()) and matcher.is_complete

    return matches


def mutations(name: str, more: str = "", n: int = 1500) -> Iterator[str]:
    """The samples of a format, each with some characters inserted, left out, or copied from another."""
    rng = random.Random(name)
    samples = [text for text in TABLE[name][0].split(" ") if len(text) < 60]
    alphabet = "".join(samples) + more
    for _ in range(n):
        text = list(rng.choice(samples))
        for _ in range(rng.randint(0, 3)):
            at, other = rng.randint(0, len(text)), rng.choice(samples)
            start = rng.randrange(len(other))
            text[at : at + rng.randint(0, 2)] = rng.choice(["", rng.choice(alphabet), other[start : start + rng.randint(1, 6)]])
        yield "".join(text)


def compare(name: str, is_valid: Callable[[str], bool], more: str = "", *, exact: bool = True, n: int = 1500) -> None:
    """Nothing is accepted that is not valid; nothing else refused, if the format is exact. Both must have been tried."""
    matches = matcher_of(name)
    seen = set()
    for text in mutations(name, more, n):
        valid, accepted = is_valid(text), matches(text)
        assert accepted <= valid, ascii(text)
        assert valid <= accepted or not exact, ascii(text)
        seen.add(accepted)
    assert seen == {True, False}


def raises_nothing(function: Callable[[str], object], *errors: type[Exception]) -> Callable[[str], bool]:
    def is_valid(text: str) -> bool:
        try:
            function(text)
        except (ValueError, *errors):
            return False
        return True

    return is_valid


def test_addresses_equal_the_standard_library() -> None:
    compare("ipv4", raises_nothing(ipaddress.IPv4Address))
    compare("ipv6", lambda text: "%" not in text and raises_nothing(ipaddress.IPv6Address)(text))


def test_uuids_equal_the_standard_library() -> None:
    compare("uuid", lambda text: re.sub("[0-9a-fA-F]", "0", text) == str(uuid.UUID(int=0)), "gG{}")


def test_dates_and_times_are_valid_for_others() -> None:
    validator = pytest.importorskip("rfc3339_validator")
    iso = pytest.importorskip("isoduration")
    # It knows no leap seconds (those are tested above), and takes `T` and `Z` in upper case only.
    compare("date-time", lambda text: bool(validator.validate_rfc3339(text.upper().replace(":60", ":59"))), exact=False)
    # It allows fractions, signs and gaps (P1Y1D), and refuses durations of many digits.
    compare("duration", raises_nothing(iso.parse_duration, iso.DurationParsingException), exact=False)


def test_uris_equal_rfc3987() -> None:
    rfc3987 = pytest.importorskip("rfc3987")
    for name in ("uri", "uri-reference", "iri", "iri-reference"):
        rule = name.replace("-", "_").upper() if "-" not in name else f"{name[:3].upper()}_reference"
        compare(name, lambda text, rule=rule: rfc3987.match(text, rule=rule) is not None, "é:/?#[]@%")


def test_pointers_equal_jsonpointer() -> None:
    jsonpointer = pytest.importorskip("jsonpointer")
    compare("json-pointer", raises_nothing(jsonpointer.JsonPointer, jsonpointer.JsonPointerException))


def test_host_names_are_valid_for_fqdn() -> None:
    fqdn = pytest.importorskip("fqdn")
    compare("hostname", lambda text: bool(text) and fqdn.FQDN(text, min_labels=1).is_valid, "_-.", exact=False)


def is_idn(text: str) -> bool:
    """By `idna`, which looks at each label alone: the rest of RFC 5893 is added here."""
    import idna

    labels = re.split("[.\u3002\uff0e\uff61]", text)
    is_bidirectional = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text)
    octets = 0
    for label in labels:
        if not label.isascii():
            try:
                octets += len(idna.alabel(label)) + 1
                if is_bidirectional:
                    idna.check_bidi(label, check_ltr=True)
            except (idna.IDNAError, UnicodeError):
                return False
        elif not re.fullmatch("(?!..--)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", label) or (is_bidirectional and label[0].isdigit()):
            return False
        else:
            octets += len(label) + 1
    return octets <= 254


def test_internationalised_host_names_are_valid_for_idna() -> None:
    pytest.importorskip("idna")
    scripts = "पराड বাংলা ஆமி කොළ မြန် ภาษาไทย שלום عربي русский 한국 ऄ़ കൊ ო \u0301\u093c\u3099\u200c\u200d·͵׳・-."
    compare("idn-hostname", is_idn, scripts.replace(" ", ""), exact=False, n=4000)


def test_long_labels_fit_into_punycode() -> None:
    """The worst that random search finds for the lengths that are allowed whatever the characters."""
    rng = random.Random(3)
    for top, most in ((0x7FF, 19), (0xFFFF, 14), (0x10FFFF, 11)):
        for _ in range(3000):
            span = rng.choice([16, 256, 4096, top])
            low = rng.randrange(0x80, max(0x81, top - span))
            label = "".join(chr(rng.choice([low + rng.randrange(min(span, top - low)), rng.randrange(0x80, top)])) for _ in range(most))
            if not any(0xD800 <= ord(char) < 0xE000 for char in label):
                assert len(label.encode("punycode")) <= 59


def test_keys_that_are_no_names_but_for_their_octets() -> None:
    name = f'{{"{LONG}": 1}}'
    keys = {"propertyNames": {"format": "idn-hostname"}}
    for schema in (keys, {"not": {"not": keys}}, {"oneOf": [keys, {"minProperties": 2}]}):
        assert not accepts(Grammar.from_json_schema({"type": "object", **schema}), name), schema
    for schema in ({"not": keys}, {"oneOf": [keys, {"minProperties": 1}]}, {"if": keys, "then": False}):
        assert accepts(Grammar.from_json_schema({"type": "object", **schema}), name), schema
    assert accepts(Grammar.from_json_schema({"not": keys}), '{"a b": 1}')
    assert accepts(Grammar.from_json_schema({"not": {"not": keys}}), '{"a.b": 1}')
