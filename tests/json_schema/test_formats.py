"""Formats by their RFCs. The official suite (test_collections.py) has many more cases; here are those it lacks, and the corners."""

from __future__ import annotations

import calendar
import datetime as dt
import random

import pytest

from grammar_engine import Grammar

from .engine import accepts, dump

TABLE = {
    "date": ("2024-02-29 2000-02-29 1999-12-31 0000-02-29", "2023-02-29 1900-02-29 2024-02-30 2024-13-01 2024-00-01 24-01-01 2024-1-01"),
    "time": (
        "00:00:00Z 23:59:59.123z 12:00:00+23:59 23:59:60Z 15:59:60-08:00 05:29:60+05:30 18:29:60-05:30",
        "24:00:00Z 12:00:00 12:60:00Z 22:59:60Z 23:59:60+01:00 12:00Z 12:00:00.Z 12:00:00+24:00",
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
        assert accepts(grammar, '""') == (name in ("uri-reference", "iri-reference", "uri-template", "json-pointer")), name


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
    grammar = Grammar.from_json_schema({"format": "time"})
    rng = random.Random(2)
    for _ in range(400):
        hour, minute, offset, half = rng.randint(0, 23), rng.choice([59, 29, 0]), rng.randint(-23, 23), rng.choice([0, 30])
        sign = "-" if offset < 0 else "+"
        shift = dt.timedelta(hours=abs(offset), minutes=half) * (-1 if offset < 0 else 1)
        utc = dt.datetime(2000, 1, 2, hour, minute) - shift
        text = f'"{hour:02}:{minute:02}:60{sign}{abs(offset):02}:{half:02}"'
        assert accepts(grammar, text) == ((utc.hour, utc.minute) == (23, 59)), text


def test_formats_meet_other_conditions() -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "date", "pattern": "^2024-02", "not": {"const": "2024-02-03"}})
    assert accepts(grammar, '"2024-02-29"')
    for text in ("2024-02-03", "2024-02-30", "2023-02-01"):
        assert not accepts(grammar, dump(text))


def test_formats_are_for_strings() -> None:
    assert accepts(Grammar.from_json_schema({"format": "date"}), "12")
