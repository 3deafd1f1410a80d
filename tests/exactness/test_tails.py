"""Words that go on beyond ASCII, and strings that take all plain text
but a few marks: what is left out or taken as a whole changes no mask."""

from __future__ import annotations

from itertools import product

import pytest

from exactness.walk import engine_mask
from grammar_engine import Grammar, Matcher, Switches, Vocabulary

# Beyond ASCII: letters, the long s and the sign of the kelvin, which are
# s and k where case does not count; quotation marks; parts of characters.
BEYOND = ["é", "ń", "ſ", "\u212a", "ℕ", "’", "日", "𝄞"]
PARTS = [b"\xc5", b"\xbf", b"\xe2\x84", b"\xaa", b"\x80"]

# A grammar and a text of it. Names beside names, so that each split of a token counts.
SOURCES = {
    "ascii": ("start: (NAME | NUMBER)+\nNAME: /[a-z_][a-z_0-9]*/\nNUMBER: /[0-9]+/\n%ignore / +/", "ab a1b as"),
    "case": ('start: (NAME ["as"i NAME] ["ok"i])+\nNAME: /[a-z_][a-z_0-9]*|"[^"]+"/\n%ignore / +/', "ab as k ok"),
    "letters": ("start: (NAME OTHER?)+\nNAME: /[a-z]+/\nOTHER: /[éńa-c]+[^a-z]/\n%ignore / +/", "ab aé1b"),
    "begins": ("start: (NAME | SIGN)+\nNAME: /[a-z]+/\nSIGN: /[ſℕ]x*/\n%ignore / +/", "ab ſxa"),
    "tail": ("start: (NAME | LONG)+\nNAME: /[a-z]+/\nLONG: /a[^;]*;/\n%ignore / +/", "ab aé;b"),
    "any": ("start: (NAME | ANY)+\nNAME: /[a-z]+/\nANY: /[^ -~]+/\n%ignore / +/", "ab ℕb"),
    "skip": ("start: NAME+\nNAME: /[a-z]+/\n%ignore /( |é)+/", "ab éa b"),
    "escape": ("start: STRING+\nSTRING: /'u[0-9a-b][^\"\\n]*\"/", "'ua é\"'ub\""),
    "strings": ('start: (NAME | STRING | TEXT)+\nNAME: /[a-z]+/\nSTRING: /\'([^\'?]|\'\')*\'/\nTEXT: /"([^"\\\\]|\\\\["n])*"/\n%ignore / +/', "a'b é''x'b\"a\\nk\"as"),
    "apart": ("start: (STRING | CALL)+\nSTRING: /'[^']*'|'[^']*éa/\nCALL: /\\(([^)]|’\\))*\\)/", "'bé''’é''aéa(b’)é)"),
}  # fmt: skip


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    words = ["".join(letters) for n in (1, 2, 3) for letters in product("abkos1", repeat=n)]
    tokens = [first + word + char + rest for first in ("", " ") for word in words for char in BEYOND[:6] for rest in ("", "a", "'")]
    tokens += [first + word + mark for first in ("", " ", "'", "\\n") for word in words for mark in ("", "'", '"', "(", "?a", ";é", "\n")]
    tokens += [char + rest for char in BEYOND for rest in ("", "a", "'a", "''", ")", "),", "日", " ok")] + ["as", " AS", "\\", "\\u"]
    spelt = (
        [text.encode() for text in dict.fromkeys(tokens)] + [word.encode() + part for word in ("a", " b", "k") for part in PARTS] + PARTS
    )
    return Vocabulary([*(bytes([byte]) for byte in range(256) if bytes([byte]) not in spelt), *spelt, b""], eos=[])


def readable(matcher: Matcher, tokens: list[bytes]) -> set[int]:
    """The tokens that the matcher can read, byte by byte."""
    return {token for token, text in enumerate(tokens) if text and matcher.fork().accept_bytes(text)}


@pytest.mark.parametrize("lexing", ["exact", "longest"])
@pytest.mark.parametrize("name", SOURCES)
def test_masks_are_the_same(vocabulary: Vocabulary, name: str, lexing: str) -> None:
    source, text = SOURCES[name]
    tokens = list(vocabulary.tokens)
    grammar = Grammar.from_lark(source, lexing=lexing)
    switchings = (Switches(), Switches(slices=False), Switches(shapes=False), Switches(inner_masks=False), Switches(outlines=False))
    matchers = [Matcher(grammar, vocabulary, switches=each) for each in switchings]
    for at in range(len(text.encode()) + 1):
        masks = [engine_mask(matcher) for matcher in matchers]
        assert all(mask == masks[0] for mask in masks)
        if at % 3 == 1:
            assert masks[0] == readable(matchers[0], tokens)
        byte = text.encode()[at : at + 1]
        assert all(matcher.accept_bytes(byte) for matcher in matchers)
