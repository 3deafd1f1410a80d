"""Writes grammar_engine/data/idna.json: the characters of internationalised host names, and what RFC 5892 and 5893 ask of them.

    python tools/make_idna.py            # needs the `idna` package; development only
    python tools/make_idna.py --check    # exit status 1 if the file would change

Sources. Which characters are valid, their scripts and joining types: `idna`. Bidirectional classes, combining classes and compositions:
`unicodedata`. Characters that the Unicode version of `unicodedata` does not know are left out, so that nothing is said of them that could
be wrong: to take up a newer version, run this with a newer Python.

The file has lists of ranges, `[low, high, low, high, ...]`, and the version. What the classes mean tells formats/idn.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from collections.abc import Iterable
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


def grows(letter: str, marks: Iterable[int]) -> bool:
    """Whether normalisation form C takes it apart for some mark, into more characters: U+1ED1 and U+031B become U+01A1, U+0302, U+0301."""
    return any(len(unicodedata.normalize("NFC", letter + chr(mark))) > 2 for mark in marks)


def tables() -> dict[str, object]:
    assigned = {code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) != "Cn"}
    valid = expanded(idnadata.codepoint_classes["PVALID"]) & assigned - {ord("-")}
    marks = {code for code in valid if unicodedata.category(chr(code)).startswith("M")}
    letters = valid - marks
    order = {code: unicodedata.combining(chr(code)) for code in marks}

    firsts, seconds = set(), set()  # of what normalisation form C composes
    for code in assigned:
        parts = [int(part, 16) for part in unicodedata.decomposition(chr(code)).split() if not part.startswith("<")]
        if len(parts) == 2 and set(parts) <= valid and unicodedata.normalize("NFC", "".join(map(chr, parts))) == chr(code):
            seconds.add(parts[1])
            if not order[parts[1]]:
                firsts.add(parts[0])

    if firsts & seconds:
        sys.exit(f"both first and second of something: {firsts & seconds}")  # idn.py takes them to be different

    lengthening = {code for code in letters if unicodedata.decomposition(chr(code)) and grows(chr(code), order)}

    def of_class(*names: str) -> set[int]:
        return {code for code in assigned if unicodedata.bidirectional(chr(code)) in names}

    def of_script(*names: str) -> set[int]:
        return set().union(*(expanded(idnadata.scripts[name]) for name in names))

    def joining(*types: str) -> set[int]:
        return set().union(*(expanded(idnadata.joining_types[name]) for name in types))

    right, between = of_class("R", "AL"), of_class("NSM")
    if lengthening & (firsts | right | of_script("Greek")):
        sys.exit(f"lengthening and of another class: {lengthening}")  # idn.py looks for them in "left" alone
    vowels = {code for code in marks if not order[code]} - firsts
    ordered = [
        {code for code in marks if order[code] == value and code in between} - seconds for value in sorted(set(order.values()) - {0})
    ]
    classes = {
        "left": letters - right - of_class("AN") - firsts - lengthening,
        "right": letters & right,
        "lengthening": lengthening,
        "digits": letters & of_class("EN"),
        "arabic digits": expanded(idnadata.codepoint_classes["CONTEXTO"]) & of_class("AN"),
        "eastern digits": expanded(idnadata.codepoint_classes["CONTEXTO"]) & of_class("EN"),
        "firsts": firsts & marks,
        "first letters": firsts - marks,
        "vowels": vowels - seconds,
        "second vowels": vowels & seconds,
        "marks": {code for code in marks if order[code] and code in between},
        "right vowels": (vowels - seconds) & between,
        "viramas": {code for code in marks if order[code] == 9 and code in between},
        "greek": letters & of_script("Greek"),
        "hebrew": letters & of_script("Hebrew"),
        "kana and han": letters & of_script("Hiragana", "Katakana", "Han"),
        "joins left": letters & right & joining("L", "D"),
        "joins both": letters & right & joining("D"),
        "joins right": letters & right & joining("R", "D"),
    }
    return {
        "unicode": unicodedata.unidata_version,
        **{name: ranges_of(codes) for name, codes in classes.items()},
        "ordered": [ranges_of(codes) for codes in ordered if codes],
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
