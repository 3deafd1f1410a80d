"""Writes csrc/regex/patterns/rx_unicode_tables.c: properties and simple case folding of all code points.

    python tools/make_unicode.py            # needs the `regex` package, whose Unicode data it reads; development only
    python tools/make_unicode.py --check    # exit status 1 if the file would change

Sources. Properties: `regex` (its Unicode version is the newest that is to be had from Python). Case folding: the classes of `regex`
without its two Turkic extras (dotted capital and dotless small i), that is CaseFolding.txt C + S. Both are compared here with
`unicodedata` and `re` of the running Python on the code points that it knows.
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from pathlib import Path

import regex
from regex import _regex, _regex_core

TARGET = Path(__file__).parent.parent / "csrc" / "regex" / "patterns" / "rx_unicode_tables.c"
EVERYTHING = "".join(map(chr, range(0x110000)))

# In this order each general category that is a group is a run of tables; Cn last, so that Assigned is a run too.
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
GROUPS = {"LC": "Lu Ll Lt", "L": "L", "M": "M", "N": "N", "P": "P", "S": "S", "Z": "Z", "C": "C"}

# ECMA-262, table "Binary Unicode property aliases", as far as `regex` has them.
BINARY = """ASCII_Hex_Digit Alphabetic Bidi_Control Bidi_Mirrored Case_Ignorable Cased Changes_When_Casefolded Changes_When_Casemapped
Changes_When_Lowercased Changes_When_Titlecased Changes_When_Uppercased Dash Default_Ignorable_Code_Point Deprecated Diacritic Emoji
Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Extended_Pictographic Extender Grapheme_Base Grapheme_Extend
Hex_Digit IDS_Binary_Operator IDS_Trinary_Operator ID_Continue ID_Start Ideographic Join_Control Logical_Order_Exception Lowercase Math
Noncharacter_Code_Point Pattern_Syntax Pattern_White_Space Quotation_Mark Radical Regional_Indicator Sentence_Terminal Soft_Dotted
Terminal_Punctuation Unified_Ideograph Uppercase Variation_Selector White_Space XID_Continue XID_Start""".split()

Ranges = tuple[tuple[int, int], ...]


def ranges_of(pattern: str) -> Ranges:
    return tuple((m.start(), m.end() - 1) for m in regex.finditer(f"{pattern}+", EVERYTHING))


def aliases(values: dict[str, int], name: str) -> list[str]:
    number = values[name.replace("_", "").upper()]
    return [alias for alias, value in values.items() if value == number and alias.isalnum()]


def packed(ranges: Ranges) -> bytes:
    """Distances between consecutive ends, 7 bits a byte, low bits first; the top bit says that more follow."""
    out, at = bytearray(), 0
    for low, high in ranges:
        for distance in (low - at, high - low):
            while distance > 127:
                out.append(distance & 127 | 128)
                distance >>= 7
            out.append(distance)
        at = high + 1
    return bytes(out)


def fold_classes() -> list[tuple[int, ...]]:
    """Classes of simple case folding with more than one member."""
    turkic = {0x130, 0x131}
    classes = set()
    for code in range(0x110000):
        cases = set(_regex.get_all_cases(_regex_core.UNICODE | _regex_core.IGNORECASE, code)) - turkic
        if len(cases) > 1 and code not in turkic:
            classes.add(tuple(sorted(cases)))
    assert len({code for members in classes for code in members}) == sum(map(len, classes)), "the classes overlap"
    return sorted(classes)


def check_against_python(categories: dict[str, Ranges], classes: list[tuple[int, ...]]) -> None:
    """What rx_class.c takes for granted about Python's str and re. Differences that newer data explains are only reported."""
    known = [code for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    category = {code: name for name, ranges in categories.items() for low, high in ranges for code in range(low, high + 1)}
    for code in known:
        char = chr(code)
        if category[code] != unicodedata.category(char):
            print(f"U+{code:04X}: {category[code]}, but {unicodedata.category(char)} in Python", file=sys.stderr)
            continue
        assert char.isalnum() == (category[code][0] in "LN"), hex(code)  # \w without the underscore
        assert char.isdecimal() == (category[code] == "Nd"), hex(code)  # \d
    members = {code: set(m) for m in classes for code in m}
    text = "".join(map(chr, known))
    for code in known:
        if code in members or chr(code).lower() != chr(code) or chr(code).upper() != chr(code):
            found = {ord(c) for c in re.findall(re.escape(chr(code)), text, re.IGNORECASE)}
            expected = members.get(code, {code}) & set(known)
            if code in (0x49, 0x69, 0x130, 0x131):
                expected = {0x49, 0x69, 0x130, 0x131}
            if found != expected:
                print(f"U+{code:04X}: folds with {sorted(map(hex, expected))}, in Python {sorted(map(hex, found))}", file=sys.stderr)


def wrap(values: list[str]) -> str:
    lines, line = [], ""
    for value in values:
        if len(line) + len(value) > 136:
            lines.append(line)
            line = ""
        line += value + ","
    return "\n".join("    " + text for text in [*lines, line])


def render() -> str:
    tables: list[Ranges] = []
    names: list[tuple[str, str, int, int]] = []  # space, name, first table, number of tables (or table of script extensions)

    def table(ranges: Ranges, share: bool = True) -> int:
        if share and ranges in tables:
            return tables.index(ranges)
        tables.append(ranges)
        return len(tables) - 1

    category_values = _regex_core.PROPERTIES["GENERALCATEGORY"][1]
    categories = {name: ranges_of(rf"\p{{gc={name}}}") for name in CATEGORIES}
    for name in CATEGORIES:
        first = table(categories[name], share=False)
        names += [("RX_NAME_CATEGORY", alias, first, 1) for alias in aliases(category_values, name)]
    for name, members in GROUPS.items():
        which = [i for i, c in enumerate(CATEGORIES) if c in members.split() or c[0] == members]
        assert which == list(range(which[0], which[-1] + 1))
        names += [("RX_NAME_CATEGORY", alias, which[0], len(which)) for alias in aliases(category_values, name)]
    names.append(("RX_NAME_BINARY", "ANY", 0, len(CATEGORIES)))
    names.append(("RX_NAME_BINARY", "ASSIGNED", 0, len(CATEGORIES) - 1))
    names.append(("RX_NAME_BINARY", "ASCII", table(((0, 127),)), 1))
    for name in BINARY:
        key = name.replace("_", "").upper()
        first = table(ranges_of(rf"\p{{{name}}}"))
        names += [
            ("RX_NAME_BINARY", alias, first, 1)
            for alias, (number, _) in _regex_core.PROPERTIES.items()
            if number == _regex_core.PROPERTIES[key][0]
        ]
    script_values = _regex_core.PROPERTIES["SCRIPT"][1]
    for number in sorted(set(script_values.values())):
        same = [alias for alias, value in script_values.items() if value == number]
        script, extended = ranges_of(rf"\p{{sc={same[0]}}}"), ranges_of(rf"\p{{scx={same[0]}}}")
        if script:
            first, second = table(script), table(extended)
            names += [("RX_NAME_SCRIPT", alias, first, second) for alias in same]
    classes = fold_classes()
    check_against_python(categories, classes)

    data, starts = bytearray(), [0]
    for ranges in tables:
        data += packed(ranges)
        starts.append(len(data))
    ring = sorted((code, m[(i + 1) % len(m)]) for m in classes for i, code in enumerate(m))
    rows = sorted({(space, name, a, b) for space, name, a, b in names})
    assert len({row[:2] for row in rows}) == len(rows)
    rows.sort(key=lambda row: (["RX_NAME_CATEGORY", "RX_NAME_BINARY", "RX_NAME_SCRIPT"].index(row[0]), row[1]))
    return f"""/* Generated by tools/make_unicode.py from regex {regex.__version__}: do not edit. See rx_unicode.h. */
#include "rx_unicode.h"

const rx_unicode_name rx_unicode_names[] = {{
{wrap([f'{{"{name}",{space},{a},{b}}}' for space, name, a, b in rows])}
}};
const u32 rx_unicode_n_names = {len(rows)};

const u32 rx_unicode_starts[] = {{
{wrap([str(s) for s in starts])}
}};

const u8 rx_unicode_data[] = {{
{wrap([str(b) for b in data])}
}};

const rx_fold rx_unicode_folds[] = {{
{wrap([f"{{{code},{following}}}" for code, following in ring])}
}};
const u32 rx_unicode_n_folds = {len(ring)};
"""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--check", action="store_true", help="write nothing; exit status 1 if the file would change")
    check = arguments.parse_args().check
    content = render()
    if check:
        return int(TARGET.read_text() != content)
    TARGET.write_text(content)
    print(f"{TARGET}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
