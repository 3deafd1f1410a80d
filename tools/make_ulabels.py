"""Writes csrc/regex/names/rx_ulabel_tables.h: the labels of internationalised host names (U-labels) as an automaton over characters.

    python tools/make_ulabels.py            # needs the `idna` package; development only
    python tools/make_ulabels.py --check    # exit status 1 if the file would change

What a U-label is tell RFC 5891 (section 4.2: hyphens, no leading mark, normalisation form C), RFC 5892 (valid characters, and those that
are so in some contexts, appendix A) and RFC 5893 (section 2: from right to left). All of it but the normalisation is a small automaton: its
parts are functions below, their product is explored and minimised here. It does not see characters but their *kinds*. Normalisation is a
rule about neighbours, for which each *class* of characters has, beside its kind, a combining class and what it composes with.

Arabic-Indic digits and their extended forms may not be mixed (RFC 5892, A.8 and A.9). There is no part for that: the ones are of the
bidirectional class AN, the others EN, and RFC 5893 has labels with both in no case.

Sources. Which characters are valid, their scripts and joining types: `idna`. Bidirectional classes, combining classes and compositions:
`unicodedata`. Characters that its Unicode version does not know are invalid, so that nothing is said of them that could be wrong: to take
up a newer version, run this with a newer Python.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from idna import idnadata

TARGET = Path(__file__).parent.parent / "csrc" / "regex" / "names" / "rx_ulabel_tables.h"
HYPHEN, MIDDLE_DOT, KERAIA, GERESH, KATAKANA_DOT, NON_JOINER, JOINER = "-\u00b7\u0375\u05f3\u30fb\u200c\u200d"
GERSHAYIM = "\u05f4"  # has the rule of GERESH
VIRAMA = 9  # a combining class
SPECIAL = {HYPHEN, "l", MIDDLE_DOT, KERAIA, GERESH, KATAKANA_DOT, NON_JOINER, JOINER}
STARTS = (
    "any",
    "left",
    "mixed",
    "right",
)  # labels: any; without characters from right to left; of names with such; with such (in directions_of)
NONE, LEFT, EITHER, RIGHT = range(
    4
)  # verdicts: no label; from left to right, and none from right to left may stand beside it, or may; such a one


class Kind(NamedTuple):
    """What the automaton sees of a character."""

    special: str  # the character itself, if it has a rule of its own
    is_mark: bool
    direction: str  # L, R, EN, AN, NSM, or N for all others
    joining: str  # L, R, D, T, or U
    is_virama: bool
    script: str  # Greek, Hebrew, CJK, or none


class State(NamedTuple):
    """What the automaton has seen of a label."""

    place: int  # characters so far, at most 3: then they do not matter; -3: three, the last a hyphen
    direction: (
        str  # as in STARTS before the first character; then left, right, or (from left to right, as names with others ask for it) strict
    )
    digits: str  # in a label from right to left: EN, AN, or none
    verdict: int  # by RFC 5893 and by hyphens
    before: str  # what matters of the last character: l, virama, Hebrew, or none
    wants: str  # what the next character has to be: l, Greek, or none
    cjk: str  # seen, wanted, or none
    joins: str  # left, if the last character but for transparent ones joins to the left; wanted; or none


def expanded(packed: Iterable[int]) -> set[int]:
    """The code points of a table of `idna`: each entry is the start and the end of a range."""
    return {code for entry in packed for code in range(entry >> 32, entry & 0xFFFFFFFF)}


def place_after(state: State, kind: Kind) -> int | None:
    """RFC 5891, 4.2.3.1 and 4.2.3.2."""
    hyphen = kind.special == HYPHEN
    if (state.place == 0 and (hyphen or kind.is_mark)) or (state.place == -3 and hyphen):
        return None
    return -3 if state.place == 2 and hyphen else 3 if state.place == -3 else min(state.place + 1, 3)


def direction_after(state: State, kind: Kind) -> tuple[str, str, int] | None:
    """RFC 5893, section 2: direction, digits, verdict."""
    right_to_left, hyphen, direction = kind.direction in ("R", "AN"), kind.special == HYPHEN, state.direction
    if state.place == 0:
        allowed = {
            "any": kind.direction != "AN",
            "left": not right_to_left,
            "mixed": kind.direction in ("L", "R"),
            "right": kind.direction == "R",
        }
        if not allowed[direction]:
            return None
        direction = "right" if right_to_left else "strict" if kind.direction == "L" and direction != "left" else "left"
    if direction != "right":
        goes_on = kind.direction == "NSM" and state.verdict == EITHER
        verdict = NONE if hyphen else EITHER if direction == "strict" and (kind.direction in ("L", "EN") or goes_on) else LEFT
        return None if right_to_left else (direction, "", verdict)
    if kind.direction == "L" or {state.digits, kind.direction} == {"EN", "AN"}:
        return None
    digits = kind.direction if kind.direction in ("EN", "AN") else state.digits
    return "right", digits, state.verdict if kind.direction == "NSM" else NONE if kind.direction == "N" else RIGHT


def context_after(state: State, kind: Kind) -> tuple[str, str, str] | None:
    """RFC 5892, A.3 to A.7: before, wants, cjk."""
    if state.wants and state.wants not in (kind.special, kind.script):
        return None
    if kind.special == MIDDLE_DOT and state.before != "l":
        return None
    if kind.special == GERESH and state.before != "Hebrew":
        return None
    wants = {MIDDLE_DOT: "l", KERAIA: "Greek"}.get(kind.special, "")
    before = "l" if kind.special == "l" else "virama" if kind.is_virama else kind.script if kind.script == "Hebrew" else ""
    cjk = "seen" if kind.script == "CJK" else state.cjk or ("wanted" if kind.special == KATAKANA_DOT else "")
    return before, wants, cjk


def joins_after(state: State, kind: Kind) -> str | None:
    """RFC 5892, A.1 and A.2."""
    if state.joins == "wanted" and kind.joining not in ("T", "R", "D"):
        return None
    if kind.special == JOINER:
        return "" if state.before == "virama" else None
    if kind.special == NON_JOINER:
        return "" if state.before == "virama" else "wanted" if state.joins == "left" else None
    return state.joins if kind.joining == "T" else "left" if kind.joining in ("L", "D") else ""


def after(state: State, kind: Kind) -> State | None:
    place, direction = place_after(state, kind), direction_after(state, kind)
    context, joins = context_after(state, kind), joins_after(state, kind)
    if place is None or direction is None or context is None or joins is None:
        return None
    return State(place, *direction, *context, joins)


def verdict_of(state: State) -> int:
    return NONE if state.wants or state.cjk == "wanted" or state.joins == "wanted" else state.verdict


def automaton(kinds: list[Kind]) -> tuple[list[list[int]], list[int]]:
    """Rows of next states and verdicts. State 0 is dead, then come STARTS; all others can be finished."""
    states: list[State | None] = [None, *(State(0, name, "", NONE, "", "", "", "") for name in STARTS)]
    number = {state: i for i, state in enumerate(states)}
    rows = []
    for state in states:  # grows
        row = []
        for kind in kinds:
            to = after(state, kind) if state else None
            if to not in number:
                number[to] = len(states)
                states.append(to)
            row.append(number[to])
        rows.append(row)
    blocks = verdicts = [verdict_of(state) if state else NONE for state in states]
    while True:  # Moore's refinement, until nothing is split
        signatures = [(block, *(blocks[to] for to in row)) for block, row in zip(blocks, rows, strict=True)]
        names = {signature: i for i, signature in reversed(list(enumerate(dict.fromkeys(signatures))))}
        refined = [names[signature] for signature in signatures]
        if len(names) == len(set(blocks)):
            break
        blocks = refined
    first = {block: i for i, block in reversed(list(enumerate(refined)))}
    return [[refined[to] for to in rows[first[block]]] for block in range(len(names))], [
        verdicts[first[block]] for block in range(len(names))
    ]


def reached(rows: list[list[int]], start: int) -> set[int]:
    seen = todo = {start}
    while todo:
        todo = {to for state in todo for to in rows[state] if to} - seen
        seen = seen | todo
    return seen


def directions_of(rows: list[list[int]]) -> list[int]:
    """For each kind, in which labels it occurs: bit 0 for those of `left` in STARTS, bit 1 for those of `right`."""
    found = [0] * len(rows[0])
    for bit in (1, 2):
        for state in reached(rows, 1 + STARTS.index("left" if bit == 1 else "right")):
            found = [bits | bit * bool(to) for bits, to in zip(found, rows[state], strict=True)]
    return found


class Class(NamedTuple):
    kind: int
    order: int  # canonical combining class
    second: int  # number as the second character of compositions, from 1; else 0
    first: int  # number of the set of those that change it, from 1; else 0: see `changing`

    def is_plain(self) -> bool:
        return self[1:] == (0, 0, 0)


def characters() -> tuple[dict[int, Kind], dict[int, dict[int, int]]]:
    """The kind of each character that occurs in U-labels; and of some, with which they are composed, and to what."""
    assigned = {code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) != "Cn"}
    valid = set().union(*(expanded(idnadata.codepoint_classes[name]) for name in ("PVALID", "CONTEXTJ", "CONTEXTO"))) & assigned
    joining = {code: name for name in "LRDT" for code in expanded(idnadata.joining_types[name])}
    scripts = {"Greek": ("Greek",), "Hebrew": ("Hebrew",), "CJK": ("Hiragana", "Katakana", "Han")}
    script = {code: name for name, members in scripts.items() for each in members for code in expanded(idnadata.scripts[each])}
    directions = {"L": "L", "R": "R", "AL": "R", "EN": "EN", "AN": "AN", "NSM": "NSM"}
    kinds = {}
    for code in sorted(valid):
        char = chr(code)
        special = GERESH if char == GERSHAYIM else char if char in SPECIAL else ""
        direction = directions.get(unicodedata.bidirectional(char), "N")
        is_mark, order = unicodedata.category(char).startswith("M"), unicodedata.combining(char)
        kinds[code] = Kind(special, is_mark, direction, joining.get(code, "U"), order == VIRAMA, script.get(code, ""))
    composed: dict[int, dict[int, int]] = {}
    for code in assigned:
        parts = [int(part, 16) for part in unicodedata.decomposition(chr(code)).split() if not part.startswith("<")]
        if len(parts) == 2 and set(parts) <= valid and unicodedata.normalize("NFC", "".join(map(chr, parts))) == chr(code):
            composed.setdefault(parts[0], {})[parts[1]] = code
    return kinds, composed


def changing(kind_of: dict[int, Kind], composed: dict[int, dict[int, int]]) -> dict[int, frozenset[int]]:
    """Characters, and those with which behind them they are not in normalisation form C: U+1EA5 and U+0323 become U+1EAD and U+0301."""
    seconds = set().union(*composed.values())
    starters = [
        code for code in kind_of if not unicodedata.combining(chr(code)) and (unicodedata.decomposition(chr(code)) or code in composed)
    ]
    pairs = {code: {second: chr(code) + chr(second) for second in seconds} for code in starters}
    found = {code: frozenset(s for s, pair in of.items() if unicodedata.normalize("NFC", pair) != pair) for code, of in pairs.items()}
    return {code: each for code, each in found.items() if each}


def decompositions(kind_of: dict[int, Kind]) -> list[tuple[int, list[int]]]:
    """What may stand for other characters, that occur in U-labels: in full. Syllables of Hangul are computed."""
    parts = {code: [ord(char) for char in unicodedata.normalize("NFD", chr(code))] for code in range(sys.maxunicode + 1)}
    return [(code, each) for code, each in parts.items() if each != [code] and set(each) <= set(kind_of) and not 0xAC00 <= code <= 0xD7A3]


def endings(rows: list[list[int]], verdicts: list[int], char_of: dict[int, int]) -> tuple[list[int], int]:
    """For each state the next of the fewest characters, one for each kind, that make a label, also for names with labels from right to
    left; 0: it is one. And how many that are at most."""
    mixed = reached(rows, STARTS.index("mixed") + 1)
    done = {state for state, verdict in enumerate(verdicts) if verdict in (EITHER, RIGHT) or (verdict and state not in mixed)}
    following, n = [0] * len(rows), 0
    while len(done) < len(rows) - 1:
        more = set()
        for state in set(range(1, len(rows))) - done:
            ways = [char for kind, char in char_of.items() if rows[state][kind] in done]
            if ways:
                more.add(state)
                following[state] = min(ways)
        if not more:
            sys.exit("a label that cannot be finished")
        done, n = done | more, n + 1
    return following, n


def keeping(rows: list[list[int]], verdicts: list[int]) -> list[bool]:
    """For each kind: whether from a label, or from the beginning of one,
    it leads to a label or nowhere, also in names with labels from right to left."""
    kept = [True] * len(rows[0])
    for ends in ({LEFT, EITHER, RIGHT}, {EITHER, RIGHT}):
        starts = [1 + STARTS.index(name) for name in (("any", "left") if LEFT in ends else ("mixed",))]
        labels = [state for state, verdict in enumerate(verdicts) if verdict in ends]
        for state in (*starts, *labels):
            kept = [each and (not to or verdicts[to] in ends) for each, to in zip(kept, rows[state], strict=True)]
    return kept


def rows_of(items: Iterable[object]) -> str:
    """Comma-separated, in lines of at most 140 characters."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(str(item)) > 138:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*lines, line])


def source() -> str:
    kind_of, composed = characters()

    def rank(code: int) -> tuple[bool, bool, int]:  # searches take the first kind that will do: it should be plain and low
        return code < 128, unicodedata.combining(chr(code)) != 0 or code in changed or code in seconds, code

    changed = changing(kind_of, composed)
    seconds = {code: i + 1 for i, code in enumerate(sorted(set().union(*composed.values())))}
    pairs = [(first, second, code) for first, each in sorted(composed.items()) for second, code in sorted(each.items())]
    parts = decompositions(kind_of)
    kinds = list(dict.fromkeys(kind_of[code] for code in sorted(kind_of, key=rank)))
    rows, verdicts = automaton(kinds)
    sets = list(dict.fromkeys(each for _, each in sorted(changed.items())))
    class_of = {
        code: Class(
            kinds.index(kind),
            unicodedata.combining(chr(code)),
            seconds.get(code, 0),
            sets.index(changed[code]) + 1 if code in changed else 0,
        )
        for code, kind in kind_of.items()
    }
    classes = sorted(set(class_of.values()))
    ranges, previous = [], 0
    for code in range(sys.maxunicode + 2):
        number = classes.index(class_of[code]) + 1 if code in class_of else 0
        if number != previous:
            ranges.append(f"{code << 11 | number}u")
            previous = number
    words = len(seconds) // 32 + 1
    masks = [sum(1 << seconds[code] for code in each) for each in sets]
    last_second = [max(unicodedata.combining(chr(code)) for code in each) for each in sets]
    last = [max(code for code in kind_of if kind_of[code] == kind) for kind in kinds]
    plain = [max((code for code in kind_of if kind_of[code] == kind and class_of[code].is_plain()), default=0) for kind in kinds]
    free = {
        kinds.index(kind_of[code]): code
        for code in sorted(kind_of, reverse=True)
        if not unicodedata.combining(chr(code)) and code not in seconds
    }
    following, n_ending = endings(rows, verdicts, free)
    if len(classes) > 255 or len(rows) > 255:
        sys.exit("too many classes or states")
    return f"""/* Generated by tools/make_ulabels.py from Unicode {unicodedata.unidata_version}: do not edit. See rx_ulabel.h. */
enum {{ ULABEL_N_KINDS = {len(kinds)}, ULABEL_N_STATES = {len(rows)}, ULABEL_N_RANGES = {len(ranges)}, ULABEL_N_CLASSES = {len(classes) + 1}, \
ULABEL_N_FIRSTS = {len(sets) + 1}, ULABEL_N_WORDS = {words}, ULABEL_N_SECONDS = {len(seconds)}, ULABEL_N_PAIRS = {len(pairs)}, ULABEL_N_PARTS = {len(parts)}, \
ULABEL_MOST_PARTS = {max(len(each) for _, each in parts)}, ULABEL_N_MORE = {n_ending} /* characters that make a label of whatever is not dead */ }};

typedef struct ulabel_class {{
    u8 kind, order; /* column of ulabel_next; canonical combining class */
    u8 second;      /* number as a second character of compositions; 0: none */
    u8 first;       /* row of ulabel_changing: the seconds that change it */
}} ulabel_class;

static const u32 ulabel_ranges[ULABEL_N_RANGES] = {{ /* [ first code point:21 | class:11 ], class 0: in no label */
{rows_of(ranges)}
}};

static const ulabel_class ulabel_classes[ULABEL_N_CLASSES] = {{
{rows_of(["{0, 0, 0, 0}", *("{" + ", ".join(map(str, each)) + "}" for each in classes)])}
}};

static const u32 ulabel_changing[ULABEL_N_FIRSTS][ULABEL_N_WORDS] = {{
{rows_of("{" + ", ".join(f"{mask >> 32 * i & 0xFFFFFFFF}u" for i in range(words)) + "}" for mask in [0, *masks])}
}};

static const u8 ulabel_last_second[ULABEL_N_FIRSTS] = {{ /* the highest combining class of those seconds */
{rows_of([0, *last_second])}
}};

static const u32 ulabel_seconds[ULABEL_N_SECONDS] = {{
{rows_of(seconds)}
}};

static const u32 ulabel_pairs[ULABEL_N_PAIRS][3] = {{ /* first, second, composed */
{rows_of(f"{{{first}, {second}, {code}}}" for first, second, code in pairs)}
}};

static const u32 ulabel_parts[ULABEL_N_PARTS][1 + ULABEL_MOST_PARTS] = {{ /* a character, and what it is decomposed to, in full */
{rows_of("{" + ", ".join(map(str, [code, *each])) + "}" for code, each in parts)}
}};

static const u8 ulabel_next[ULABEL_N_STATES][ULABEL_N_KINDS] = {{ /* state 0: dead */
{rows_of("{" + ", ".join(map(str, row)) + "}" for row in rows)}
}};

static const u8 ulabel_verdicts[ULABEL_N_STATES] = {{ /* ulabel_verdict; the last two also for labels of ULABEL_MIXED */
{rows_of(verdicts)}
}};

static const u32 ulabel_followings[ULABEL_N_STATES] = {{ /* a character on the shortest way to a label; 0: it is one */
{rows_of(following)}
}};

static const bool ulabel_keeping[ULABEL_N_KINDS] = {{ /* it makes a label of one, and of nothing, if it may follow */
{rows_of(str(each).lower() for each in keeping(rows, verdicts))}
}};

static const u8 ulabel_directions[ULABEL_N_KINDS] = {{ /* in which labels: 1 without characters from right to left, 2 with such */
{rows_of(directions_of(rows))}
}};

static const u32 ulabel_last[ULABEL_N_KINDS] = {{ /* the last code point of each kind */
{rows_of(last)}
}};

static const u32 ulabel_last_plain[ULABEL_N_KINDS] = {{ /* ... that normalisation has nothing to do with; 0: there is none */
{rows_of(plain)}
}};
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    text = source()
    if parser.parse_args().check:
        return int(TARGET.read_text() != text)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
