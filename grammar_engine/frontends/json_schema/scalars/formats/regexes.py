r"""`regex`: the regular expressions of ECMA-262 with the flag u (ECMA-262, "Patterns").

Idea. A pattern is a sequence of terms and bars; a group is a term with a pattern inside. Groups nest without end, which no regular
expression can say, so the expression for one level is built from the one below, `MAX_DEPTH` times.

Some rules of ECMA-262 are about the pattern as a whole, or compare numbers. They are met by conditions that are too strong:

- at most one group has a name (names have to differ), which is ASCII; it is in no other group; \k<name> is for names of one small
  letter, stands behind that group, and in no other group either;
- a back-reference is one of \1 ... \9, and so many capturing groups stand before it that are in no other group;
- in {n,m} with n and m of the same length, that length is 1 or 2, or the first digit of n is less than that of m (n may not exceed m);
- a range in a class is between ASCII characters, or from one to any other character, or between \xHH or \uHHHH that already differ in the
  first digit (or, after \u00, in the third);
- there is no \0 (which no digit may follow): \x00 is the same;
- \p{...} names a general category, or one of a few properties and scripts; there are no groups with modifiers (ECMA-262 of 2025).

Invariant. Everything here is a valid pattern.
"""

from __future__ import annotations

from string import ascii_lowercase

from .....ir import ECMA_FULL, Builder, Expr

MAX_DEPTH = 8  # groups in groups
MAX_REFERENCE = 9

_SYNTAX = r"\\^$.*+?()\[\]{}|"  # as members of a class
_HEX = "[0-9A-Fa-f]"
_CATEGORIES = "C|Cc|Cf|Cn|Co|Cs|L|LC|Ll|Lm|Lo|Lt|Lu|M|Mc|Me|Mn|N|Nd|Nl|No|P|Pc|Pd|Pe|Pf|Pi|Po|Ps|S|Sc|Sk|Sm|So|Z|Zl|Zp|Zs"
_PROPERTIES = "ASCII|Alphabetic|Alpha|Any|Assigned|Emoji|ID_Start|ID_Continue|Ideographic|Lowercase|Uppercase|White_Space"
_SCRIPTS = "Arabic|Armenian|Bengali|Common|Cyrillic|Devanagari|Georgian|Greek|Han|Hangul|Hebrew|Hiragana|Inherited|Katakana|Latin|Thai"
_ESCAPED = (
    rf"\\(?:[dDsSwWfnrtv/{_SYNTAX}]|c[A-Za-z]|x{_HEX}{{2}}|u(?:{_HEX}{{4}}|\{{0*(?:10|{_HEX})?{_HEX}{{1,4}}\}})"
    rf"|[pP]\{{(?:(?:gc=|General_Category=)?(?:{_CATEGORIES})|{_PROPERTIES}|(?:sc|Script|scx|Script_Extensions)=(?:{_SCRIPTS}))\}})"
)
_ATOM = rf"(?:[^0-9{_SYNTAX}]|\.|{_ESCAPED})"  # digits are apart, since they may not follow a back-reference
_ASSERTION = r"(?:[\^$]|\\[bB])"


def _count() -> str:
    """{n}, {n,}, {n,m}."""
    ordered = [f"{n},[{n}-9]" for n in range(10)]
    ordered += [f"{t}{u},(?:{t}[{u}-9]" + (f"|[{t + 1}-9]\\d)" if t < 9 else ")") for t in range(1, 10) for u in range(10)]
    ordered += [rf"{t}\d{{{k}}},[{t + 1}-9]\d{{{k}}}" for t in range(1, 9) for k in range(2, 6)]
    ordered += [rf"{'[1-9]' if k else '[0-9]'}\d{{{k}}},[1-9]\d{{{k + 1},}}" for k in range(6)]
    return rf"\{{(?:\d+,?|{'|'.join(f'(?:{way})' for way in ordered)})\}}"


_QUANTIFIER = rf"(?:(?:[*+?]|{_count()})\??)?"


def _ordered_hex(prefix: str, rest: str) -> str:
    """The prefix, a digit and the rest, a dash, the prefix, a greater digit and the rest."""
    digits = [*"0123456789", "Aa", "Bb", "Cc", "Dd", "Ee", "Ff"]
    ways = [f"[{digit}]{rest}-{prefix}[{''.join(digits[i + 1 :])}]{rest}" for i, digit in enumerate(digits[:-1])]
    return f"{prefix}(?:{'|'.join(ways)})"


def _class() -> str:
    plain = [chr(c) for c in range(32, 127) if chr(c) not in "\\]-^"]
    ranges = []
    for low in plain:
        first = f"\\{low}" if low in "[/" or low in _SYNTAX else low
        upper = "".join(f"\\{c}" if c in "[/" or c in _SYNTAX else c for c in [*plain, "^"] if c >= low)
        ranges.append(rf"{first}-(?:[{upper}\u{{A0}}-\u{{10FFFF}}])")
    ranges += [_ordered_hex(r"\\x", _HEX), _ordered_hex(r"\\u00", _HEX), _ordered_hex(r"\\u", f"{_HEX}{{3}}")]
    single = rf"(?:[^\\\]\-]|{_ESCAPED}|\\[b\-])"
    return rf"\[\^?-?(?:{'|'.join(ranges)}|{single})*-?\]"


_CLASS = _class()


def regex(b: Builder) -> Expr:
    """ECMA-262 with the flag u, groups nested to a depth of `MAX_DEPTH`."""
    quantifier, named = b.pattern(_QUANTIFIER, ECMA_FULL), b.pattern(r"\(\?<[A-Za-z_$][0-9A-Za-z_$]*>", ECMA_FULL)
    capturing, closed = b.bytes(b"("), b.concat(b.bytes(b")"), quantifier)
    after: Expr | None = None  # what may follow a group that is counted, without names; and with one name still to come
    after_with_name: Expr | None = None
    for n_groups in range(MAX_REFERENCE, -1, -1):
        terms, inside = _terms(b, MAX_DEPTH, n_groups), _terms(b, MAX_DEPTH - 1, n_groups)
        if after is None or after_with_name is None:
            after = after_with_name = terms
            continue
        unnamed = b.concat(terms, capturing, inside, closed)
        rest = b.concat(inside, closed, after)
        referred = [
            b.concat(b.string(f"(?<{name}>"), rest, b.repeat(b.concat(b.string(f"\\k<{name}>"), quantifier, after), 1, None))
            for name in ascii_lowercase
        ]
        with_name = b.union(terms, b.concat(unnamed, after_with_name), b.concat(terms, b.union(b.concat(named, rest), *referred)))
        after, after_with_name = b.union(terms, b.concat(unnamed, after)), with_name
    assert after_with_name is not None
    return after_with_name


def _terms(b: Builder, depth: int, n_groups: int) -> Expr:
    """Terms and bars, with groups to a depth, after so many capturing groups."""

    def parsed(source: str) -> Expr:
        return b.pattern(source, ECMA_FULL)

    quantifier, other_atom = parsed(_QUANTIFIER), parsed(f"{_ATOM}|{_CLASS}")
    reference = parsed(rf"\\[1-{n_groups}]") if n_groups else b.never
    references = b.repeat(b.concat(reference, quantifier), 1, None)
    opened, around, closed = parsed(r"\((?:\?:)?"), parsed(r"\(\?<?[=!]"), b.bytes(b")")
    inner = b.never
    for _ in range(depth + 1):
        others = [b.concat(other_atom, quantifier), parsed(_ASSERTION), b.bytes(b"|")]
        others += [b.concat(opened, inner, closed, quantifier), b.concat(around, inner, closed)]
        term = b.union(*others, b.concat(parsed("[0-9]"), quantifier), b.concat(references, b.union(*others)))
        inner = b.concat(b.repeat(term, 0, None), b.optional(references))
    return inner
