"""Regular expressions with texts that they match.

The first nine are the subjects of outlines-core's benchmarks; where its own expression is short it is used, the others say the same in their own
way. All are in the syntax that every engine reads, and match the whole text.
"""

from __future__ import annotations

from typing import NamedTuple

from suites.rows import WORDS, prose, spread


class Pattern(NamedTuple):
    name: str
    regex: str
    texts: list[str]


_RELATIONS = "owns|founded|leads|joined|left|visited|built|painted|wrote|sold|bought|met|taught|employs|supplies|advises".split("|")
_CHOICES = [f"{WORDS[a]}-{WORDS[b % 25]}-{a * b % 97}" for a, b in zip(spread(500, len(WORDS), 21), spread(500, len(WORDS), 22))]
_NAMES = "|".join(word.title() for word in WORDS[:25])


def patterns() -> list[Pattern]:
    return [
        Pattern(
            "email",
            r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,18}",
            [
                "ada.fjord@example.com",
                "keeper+lamp_2024@mail-4.outer-islands.example.co.uk",
                "o'neil@x1.org",
                "a.b.c.d.e.f@subdomain.university.edu",
            ],
        ),
        Pattern(
            "complex_phone",
            r"\+?\d{1,4}?[-.\s]?\(?\d{1,3}?\)?[-.\s]?\d{1,4}[-.\s]?\d{1,4}[-.\s]?\d{1,9}",
            ["+47 (22) 85-50-50", "1.800.555.0199", "0046 8 123 4567", "1 (212) 555-0142", "+1-541-754-3010"],
        ),
        Pattern("simple_phone", r"\+?[1-9][0-9]{7,14}", ["+4722855050", "18005550199", "41446681800", "+99912345678901"]),
        Pattern(
            "date",
            r"(0?[1-9]|[12]\d|3[01])(\.|-|/)(0?[1-9]|1[0-2])(\.|-|/)(\d{4}|\d{2})",
            ["29.02.1996", "1/1/70", "31-12-2024", "07.11.99", "9/10/2031"],
        ),
        Pattern("time", r"(0?[1-9]|1[0-2]):[0-5]\d\s?(am|pm)?", ["12:59 pm", "7:05am", "01:00", "11:30 am", "9:41"]),
        Pattern(
            "ip",
            r"((25[0-5]|2[0-4]\d|1\d{2}|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d{2}|[1-9]?\d)",
            ["192.168.0.1", "8.8.8.8", "255.255.255.255", "10.0.42.199", "172.16.254.3"],
        ),
        Pattern(
            "url",
            r"(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})([\/\w \.-]*)*\/?",
            [
                "https://www.example.com/docs/guide/index.html",
                "outer-islands.org",
                "http://a.b.c.example.net/x_y/2024 06/report.pdf",
                "files.example.io/",
            ],
        ),
        Pattern("ssn", r"\d{3}-\d{2}-\d{4}", ["078-05-1120", "123-45-6789", "900-00-0001", "555-12-3456"]),
        Pattern(
            "span_relation",
            rf"(({_NAMES}) \| ({'|'.join(_RELATIONS)}) \| ({_NAMES}|{'|'.join(WORDS[25:])})\n)+",
            [
                "".join(
                    f"{WORDS[a].title()} | {_RELATIONS[b]} | {WORDS[c].title()}\n"
                    for a, b, c in zip(spread(12, 25, s), spread(12, len(_RELATIONS), s + 1), spread(12, 25, s + 2))
                )
                for s in (31, 41)
            ],
        ),
        Pattern(
            "uuid",
            r"[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
            ["123e4567-e89b-12d3-a456-426614174000", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
        ),
        Pattern(
            "json_string",
            r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"',
            [f'"{prose(30, 51)}"', '"tab\\t, quote \\", \\u00e9, \\\\ and 日本語"'],
        ),
        Pattern(
            "bounded_text",
            r"[A-Za-z ,.]{10,200}",
            [prose(26, 52), "Boats lie off, and land by crane. The Anvil rises straight from the sea.", prose(12, 53)],
        ),
        Pattern("any_text", r"(.|\n){10,200}", [prose(26, 54), "a line\nand another, with 3 digits: 042\n日本語", prose(12, 55)]),
        Pattern("choice_500", "|".join(_CHOICES), [_CHOICES[i] for i in spread(10, 500, 56)]),
    ]
