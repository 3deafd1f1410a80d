r"""`regex`: the regular expressions of ECMA-262 with the flag u (ECMA-262, "Patterns").

Idea. A pattern is a sequence of terms and bars; a group is a term with a pattern inside. Groups nest without end, which no regular
expression can say, so the expression for one level is built from the one below, `MAX_DEPTH` times.

Some rules of ECMA-262 are about the pattern as a whole, or compare numbers. They are met by conditions that are too strong:

- at most one group has a name (names have to differ), which is ASCII; it is in no other group, and there is no \k<name>;
- a back-reference is one of \1 ... \3, and so many capturing groups stand before it that are in no other group;
- in {n,m} with n and m of the same length, that length is 1 or 2, or the first digit of n is less than that of m (n may not exceed m);
- a range in a class is between ASCII characters, or from one to any other character, or between \xHH or \uHHHH that already differ in the
  first digit (or, after \u00, in the third);
- there is no \0 (which no digit may follow): \x00 is the same;
- \p{...} names a general category, or one of a few properties and scripts; there are no groups with modifiers (ECMA-262 of 2025).

Invariant. Everything here is a valid pattern.
"""

from __future__ import annotations

from ....ir import ECMA_FULL, Builder, Expr

MAX_DEPTH = 4  # groups in groups
MAX_REFERENCE = 3

_SYNTAX = r"\\^$.*+?()\[\]{}|"  # as members of a class
_HEX = "[0-9A-Fa-f]"
_CATEGORIES = "C|Cc|Cf|Cn|Co|Cs|L|LC|Ll|Lm|Lo|Lt|Lu|M|Mc|Me|Mn|N|Nd|Nl|No|P|Pc|Pd|Pe|Pf|Pi|Po|Ps|S|Sc|Sk|Sm|So|Z|Zl|Zp|Zs"
_PROPERTIES = "ASCII|Alphabetic|Alpha|Any|Assigned|Emoji|ID_Start|ID_Continue|Ideographic|Lowercase|Uppercase|White_Space"
_SCRIPTS = "Arabic|Armenian|Bengali|Common|Cyrillic|Devanagari|Georgian|Greek|Han|Hangul|Hebrew|Hiragana|Inherited|Katakana|Latin|Thai"
_ESCAPED = (
    rf"\\(?:[dDsSwWfnrtv/{_SYNTAX}]|c[A-Za-z]|x{_HEX}{{2}}|u(?:{_HEX}{{4}}|\{{0*(?:10|{_HEX})?{_HEX}{{1,4}}\}})"
    rf"|[pP]\{{(?:(?:gc=|General_Category=)?(?:{_CATEGORIES})|{_PROPERTIES}|(?:sc|Script|scx|Script_Extensions)=(?:{_SCRIPTS}))\}})"
)
_ATOM = rf"(?:[^{_SYNTAX}]|\.|{_ESCAPED})"
_ASSERTION = r"(?:[\^$]|\\[bB])"


def _count() -> str:
    """{n}, {n,}, {n,m}."""
    ordered = [f"{n},[{n}-9]" for n in range(10)]
    ordered += [f"{t}{u},(?:{t}[{u}-9]" + (f"|[{t + 1}-9]\\d)" if t < 9 else ")") for t in range(1, 10) for u in range(10)]
    ordered += [rf"{t}\d{{{k}}},[{t + 1}-9]\d{{{k}}}" for t in range(1, 9) for k in range(2, 6)]
    ordered += [rf"{'[1-9]' if k else '[0-9]'}\d{{{k}}},[1-9]\d{{{k + 1},}}" for k in range(6)]
    return rf"\{{(?:\d+,?|{'|'.join(f'(?:{way})' for way in ordered)})\}}"


_QUANTIFIER = rf"(?:(?:[*+?]|{_count()})\??)?"


def _ordered_hex(prefix: str) -> str:
    """Two digits after a prefix, a dash, the prefix and two greater digits; the first ones differ."""
    digits = ["[0]", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]", "[9]", "[Aa]", "[Bb]", "[Cc]", "[Dd]", "[Ee]", "[Ff]"]
    ways = []
    for i in range(15):
        above = "".join(digit[1:-1] for digit in digits[i + 1 :])
        ways.append(f"{digits[i]}{_HEX}-{prefix}[{above}]{_HEX}")
    return f"{prefix}(?:{'|'.join(ways)})"


def _ordered_code_units() -> str:
    """\\uHHHH-\\uHHHH with different first digits."""
    return _ordered_hex(r"\\u").replace(_HEX, f"{_HEX}{{3}}")


def _class() -> str:
    plain = [chr(c) for c in range(32, 127) if chr(c) not in "\\]-^"]
    ranges = []
    for low in plain:
        first = f"\\{low}" if low in "[/" or low in _SYNTAX else low
        upper = "".join(f"\\{c}" if c in "[/" or c in _SYNTAX else c for c in [*plain, "^"] if c >= low)
        ranges.append(rf"{first}-(?:[{upper}\u{{A0}}-\u{{10FFFF}}])")
    ranges += [_ordered_hex(r"\\x"), _ordered_hex(r"\\u00"), _ordered_code_units()]
    single = rf"(?:[^\\\]\-]|{_ESCAPED}|\\[b\-])"
    return rf"\[\^?-?(?:{'|'.join(ranges)}|{single})*-?\]"


_CLASS = _class()


def regex(b: Builder) -> Expr:
    """ECMA-262 with the flag u, groups nested to a depth of `MAX_DEPTH`."""
    capturing, named = b.bytes(b"("), b.pattern(r"\(\?<[A-Za-z_$][0-9A-Za-z_$]*>", ECMA_FULL)
    closed, quantifier = b.bytes(b")"), b.pattern(_QUANTIFIER, ECMA_FULL)
    tails: list[Expr] = []  # what may follow when so many groups that count have been: first without names, then with at most one
    for openings in ((capturing,), (capturing, named)):
        previous, tails = tails, []
        for n_groups in range(MAX_REFERENCE, -1, -1):
            terms = _terms(b, MAX_DEPTH, n_groups)
            tail = terms
            if n_groups < MAX_REFERENCE:
                inside = _terms(b, MAX_DEPTH - 1, n_groups)
                tails_after = [tails[-1], *previous[n_groups + 1 : n_groups + 2]]
                ways = [b.concat(terms, o, inside, closed, quantifier, t) for o, t in zip(openings, tails_after, strict=True)]
                tail = b.union(terms, *ways)
            tails.append(tail)
        tails.reverse()
    return tails[0]


def _terms(b: Builder, depth: int, n_groups: int) -> Expr:
    """Terms and bars, with groups to a depth, after so many capturing groups."""

    def parsed(source: str) -> Expr:
        return b.pattern(source, ECMA_FULL)

    references = rf"|\\[1-{n_groups}]" if n_groups else ""
    quantifier = parsed(_QUANTIFIER)
    flat = [b.concat(parsed(f"{_ATOM}|{_CLASS}{references}"), quantifier), parsed(_ASSERTION), b.bytes(b"|")]
    opened, around, closed = parsed(r"\((?:\?:)?"), parsed(r"\(\?<?[=!]"), b.bytes(b")")
    result = b.repeat(b.union(*flat), 0, None)
    for _ in range(depth):
        groups = b.concat(opened, result, closed, quantifier), b.concat(around, result, closed)
        result = b.repeat(b.union(*flat, *groups), 0, None)
    return result
