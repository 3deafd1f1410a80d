"""Regular expressions, each with texts that it matches as a whole and texts that it does not match.

The first nine are the subjects of outlines-core's benchmarks, as `outlines_core.py` has them for `automata.py`, too. Expressions are
written as their users write them: an engine may refuse one. The texts are ASCII where engines differ in what `\\d`, `\\s` and `\\w` are,
and Python's `re.fullmatch` agrees with all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from suites.outlines_core import REGEXES
from suites.rows import WORDS, prose, spread


class Pattern(NamedTuple):
    name: str
    regex: str
    texts: list[str]  # that are right
    wrong: list[str]


_CHOICES = [f"{WORDS[a]}-{WORDS[b % 25]}-{a * b % 97}" for a, b in zip(spread(500, len(WORDS), 21), spread(500, len(WORDS), 22))]

# Texts for the nine: those that are right, those that are wrong.
_TEXTS: dict[str, tuple[list[str], list[str]]] = {
    "email": (
        [
            "ada.fjord@example.com",
            "keeper+lamp_2024@mail-4.outer-islands.example.co.uk",
            "o'neil@x1.org",
            "a.b.c.d.e.f@subdomain.university.edu",
        ],
        ["ada.fjord@example", "ada..fjord@example.com", "Ada@example.com", "ada@-mail.example.com", "@example.com"],
    ),
    "complex_phone": (
        ["+47 (22) 85-50-50", "1.800.555.0199", "0046 8 123 4567", "1 (212) 555-0142", "+1-541-754-3010"],
        ["++47 22 85 50 50", "(22) 85-50-50 x", "12", "1--800-555-0199", "+47 (22 85 50 50 50 50"],
    ),
    "simple_phone": (
        ["+4722855050", "18005550199", "41446681800", "+99912345678901"],
        ["04722855050", "+4722850", "1234567890123456", "+47 22855050"],
    ),
    "date": (
        ["29.02.1996", "1/1/70", "31-12-2024", "2031/9/10", "99.11.07"],
        ["32.01.1999", "29.02.1896", "2024/13/01", "1-1-1", "31 12 2024"],
    ),
    "time": (["12:59 pm", "7:05am", "01:00", "11:30 am", "9:41"], ["13:00", "0:30", "9:60", "9:41 AM", "9:41  am"]),
    "ip": (
        ["192.168.0.1", "8.8.8.8", "255.255.255.255", "10.0.42.199", "172.016.254.003"],
        ["256.1.1.1", "10.0.42", "1.2.3.4.5", "1.2.3.1000", "10..42.199"],
    ),
    "url": (
        [
            "https://www.example.com/docs/guide/index.html",
            "outer-islands.org",
            "http://a.b.c.example.net/x_y/2024 06/report.pdf",
            "files.example.io/",
        ],
        ["https:/example.org", "example", "http://a.org/?q=1", "Example.org", "ftp://files.example.io"],
    ),
    "ssn": (["078-05-1120", "123-45-6789", "900-00-0001", "555-12-3456"], ["078-051-120", "07-805-1120", "078-05-112", "078051120"]),
    "complex_span_constrained_relation_extraction": (
        [
            "selfishness | is the opposite of | Altruism\n",
            "Altruism is the principle | in cultures and in 3 religions | moral concern for happiness of other human beings | (a virtue | 1851)\n"
            '"synonym" | of | "selflessness"\nmany religions | vary: the aspect | core quality | (or | and) | (material | spiritual)\n',
        ],
        [
            "egoism | is the opposite of | Altruism\n",
            "selfishness | is the opposite of | Altruism",
            "selfishness | is (not) | Altruism\n",
            "selfishness | Altruism\n",
        ],
    ),
}


def patterns() -> list[Pattern]:
    return [
        *(Pattern(name, regex, *_TEXTS[name]) for name, regex in REGEXES.items()),
        Pattern(
            "uuid",
            r"[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
            ["123e4567-e89b-12d3-a456-426614174000", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
            ["123e4567-e89b-02d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000", "123e4567e89b12d3a456426614174000"],
        ),
        Pattern(
            "json_string",
            r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"',
            [f'"{prose(30, 51)}"', '"tab\\t, quote \\", \\u00e9, \\\\ and 日本語"'],
            ['"amber', '"a\nb"', '"\\x41"', '"\\u00g0"', '"a" b'],
        ),
        Pattern(
            "bounded_text",
            r"[A-Za-z ,.]{10,200}",
            [prose(26, 52), "Boats lie off, and land by crane. The Anvil rises straight from the sea.", prose(12, 53)],
            ["Boats lie", prose(60, 53), "Boats lie off at 7, and land by crane."],
        ),
        Pattern(
            "any_text",
            r".{10,200}",
            [prose(26, 54), "a line, and no other, with 3 digits: 042; 日本語", prose(12, 55)],
            ["日本語, 042", prose(60, 56), "a line\nand another one"],
        ),
        Pattern(
            "choice_500",
            "|".join(_CHOICES),
            [_CHOICES[i] for i in spread(10, 500, 56)],
            [f"{_CHOICES[0]}-1", _CHOICES[1].rpartition("-")[0], "amber-anvil-1", _CHOICES[2].title()],
        ),
    ]
