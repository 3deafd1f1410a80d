"""Writes grammar_engine/data/idna.json: the characters of internationalised host names, and what RFC 5892 and 5893 ask of them.

    python tools/make_idna.py            # needs the `idna` package; development only
    python tools/make_idna.py --check    # exit status 1 if the file would change

Sources. Which characters are valid, their scripts and joining types: `idna`. Bidirectional classes, combining classes and compositions:
`unicodedata`. Characters that the Unicode version of `unicodedata` does not know are left out, so that nothing is said of them that could
be wrong: to take up a newer version, run this with a newer Python.

The file has lists of ranges, `[low, high, low, high, ...]`, all of them parts of `valid`, and the version.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from idna import idnadata

TARGET = Path(__file__).parent.parent / "grammar_engine" / "data" / "idna.json"


def ranges_of(codes: Iterable[int]) -> list[int]:
    ends: list[int] = []
    for code in sorted(codes):
        if ends and ends[-1] == code - 1:
            ends[-1] = code
        else:
            ends += [code, code]
    return ends


def expanded(packed: Iterable[int]) -> set[int]:
    """The code points of a table of `idna`: each entry is the start and the end of a range."""
    return {code for entry in packed for code in range(entry >> 32, entry & 0xFFFFFFFF)}


def tables() -> dict[str, object]:
    classes = (expanded(idnadata.codepoint_classes[name]) for name in ("PVALID", "CONTEXTJ", "CONTEXTO"))
    valid = {code for codes in classes for code in codes if unicodedata.category(chr(code)) != "Cn"}

    def those(condition: Callable[[str], bool]) -> list[int]:
        return ranges_of(code for code in valid if condition(chr(code)))

    def of_class(*names: str) -> list[int]:
        return those(lambda c: unicodedata.bidirectional(c) in names)

    def in_scripts(*names: str) -> list[int]:
        return ranges_of(valid & set().union(*(expanded(idnadata.scripts[name]) for name in names)))

    def joining(types: str) -> list[int]:
        return ranges_of(valid & set().union(*(expanded(idnadata.joining_types[name]) for name in types)))

    orders = sorted({unicodedata.combining(chr(code)) for code in valid} - {0})
    firsts: dict[int, set[int]] = {}  # by the character that is composed with them
    for code in range(sys.maxunicode + 1):
        parts = [int(part, 16) for part in unicodedata.decomposition(chr(code)).split() if not part.startswith("<")]
        is_composed = len(parts) == 2 and set(parts) <= valid and unicodedata.normalize("NFC", "".join(map(chr, parts))) == chr(code)
        if is_composed:
            firsts.setdefault(parts[1], set()).add(parts[0])
    return {
        "unicode": unicodedata.unidata_version,
        "valid": ranges_of(valid),
        "mark": those(lambda c: unicodedata.category(c).startswith("M")),
        "virama": those(lambda c: unicodedata.combining(c) == 9),
        "greek": in_scripts("Greek"),
        "hebrew": in_scripts("Hebrew"),
        "kana or han": in_scripts("Hiragana", "Katakana", "Han"),
        "joins left": joining("LD"),
        "joins right": joining("RD"),
        "transparent": joining("T"),
        "L": of_class("L"),
        "R": of_class("R", "AL"),
        "AN": of_class("AN"),
        "EN": of_class("EN"),
        "NSM": of_class("NSM"),
        "orders": [[order, those(lambda c, order=order: unicodedata.combining(c) == order)] for order in orders],
        "composed": [[second, ranges_of(first)] for second, first in sorted(firsts.items())],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    text = json.dumps(tables(), separators=(",", ":")).replace('],"', '],\n"') + "\n"
    if parser.parse_args().check:
        return int(TARGET.read_text() != text)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
