"""Regular expression text to oracle expressions, through the parse tree of Python's own `re`.

Only a subset, enough for tests: literals, classes, ranges, negation, `.`, `\\d \\w \\s`, `* + ? {m,n}` (lazy or not: the set is the
same), groups, alternation, and `^ $` at the ends of the top-level alternatives. Anything else raises `NotInSubsetError`.

The two languages differ, and the differences are written down here: in ECMA-262 `.` stops at four line ends, `\\d` and `\\w` are ASCII,
`\\s` is the set below, and `$` is the very end.
"""

from __future__ import annotations

import re
import warnings
from functools import cache

from grammar_engine import ir

from . import expr as ex

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        from re import _constants as sre
        from re import _parser as sre_parse
    except ImportError:  # Python 3.10
        import sre_constants as sre
        import sre_parse

ECMA_SPACES = ((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F),
               (0x3000, 0x3000), (0xFEFF, 0xFEFF))  # fmt: skip
ECMA_LINE_ENDS = ((10, 10), (13, 13), (0x2028, 0x2029))


class NotInSubsetError(Exception):
    """The pattern uses something that the oracle does not know."""


@cache
def read(source: str, dialect: int, flags: int) -> ex.Expr:
    """The set of texts that `source` stands for."""
    return _Reader(dialect, flags).whole(source)


@cache
def python_class(source: str, flags: int) -> ex.Ranges:
    """The code points that the one-character pattern `source` matches in Python, by asking `re` about each of them."""
    matches = re.compile(source, flags).fullmatch
    found = [code for code in range(ir.MAX_CODE_POINT + 1) if matches(chr(code))]
    return ex.clip(((code, code) for code in found), 0, ir.MAX_CODE_POINT)


def negate(ranges: ex.Ranges) -> ex.Ranges:
    """All other code points."""
    edges = [-1, *(x for low, high in ranges for x in (low - 1, high + 1)), ir.MAX_CODE_POINT + 1]
    edges = [edges[0] + 1, *edges[1:-1], edges[-1] - 1]
    return tuple((a, b) for a, b in zip(edges[::2], edges[1::2]) if a <= b)


class _Reader:
    def __init__(self, dialect: int, flags: int):
        self.search = dialect == ir.ECMA_SEARCH
        self.ecma = dialect in (ir.ECMA_SEARCH, ir.ECMA_FULL)
        if flags & ir.FLAG_MULTI_LINE:
            raise NotInSubsetError("multi-line")
        self.ignore_case = bool(flags & ir.FLAG_IGNORE_CASE)
        self.dot_all = bool(flags & ir.FLAG_DOT_ALL)
        self.re_flags = (
            (re.IGNORECASE if self.ignore_case else 0)
            | (re.VERBOSE if flags & ir.FLAG_VERBOSE else 0)
            | (re.ASCII if flags & ir.FLAG_ASCII else 0)
        )

    def whole(self, source: str) -> ex.Expr:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                tree = list(sre_parse.parse(source, self.re_flags))
            except sre.error as error:
                raise NotInSubsetError(f"{source}: {error}") from None
        return self.anchored(tree, not self.search, not self.search)

    def anchored(self, items: list, begin: bool, end: bool) -> ex.Expr:
        """`items` where `begin` and `end` say at which ends a text can not go on. Looks into groups that are all there is."""
        while items and items[0][0] is sre.AT and items[0][1] in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            items, begin = items[1:], True
        while items and items[-1][0] is sre.AT and items[-1][1] in (sre.AT_END, sre.AT_END_STRING):
            items, end = items[:-1], True
        if len(items) == 1 and items[0][0] is sre.BRANCH:
            return ex.union(self.anchored(list(branch), begin, end) for branch in items[0][1][1])
        if len(items) == 1 and items[0][0] is sre.SUBPATTERN and not any(items[0][1][1:3]):
            return self.anchored(list(items[0][1][3]), begin, end)
        return ex.concat_all([ex.EMPTY if begin else ex.TEXT, self.sequence(items), ex.EMPTY if end else ex.TEXT])

    def sequence(self, items: list) -> ex.Expr:
        return ex.concat_all(self.item(op, argument) for op, argument in items)

    def item(self, op: object, argument: object) -> ex.Expr:
        if op is sre.BRANCH:
            return ex.union(self.sequence(list(branch)) for branch in argument[1])
        if op is sre.SUBPATTERN:
            _, add_flags, del_flags, body = argument
            if add_flags or del_flags:
                raise NotInSubsetError("inline flags")
            return self.sequence(list(body))
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, body = argument
            return ex.repeat(self.sequence(list(body)), low, None if high is sre.MAXREPEAT else high)
        return ex.chars(self.ranges(op, argument))

    def ranges(self, op: object, argument: object) -> ex.Ranges:
        """The code points of an item that is one character."""
        if op is sre.LITERAL:
            return self.folded(argument, argument)
        if op is sre.NOT_LITERAL:
            return negate(self.folded(argument, argument))
        if op is sre.RANGE:
            return self.folded(*argument)
        if op is sre.ANY:
            return negate(() if self.dot_all else ECMA_LINE_ENDS if self.ecma else ((10, 10),))
        if op is sre.CATEGORY:
            return self.category(argument)
        if op is sre.IN:
            members = list(argument)
            negated = bool(members) and members[0][0] is sre.NEGATE
            parts = [r for member in members[negated:] for r in self.ranges(*member)]
            union = ex.clip(parts, 0, ir.MAX_CODE_POINT)
            return negate(union) if negated else union
        raise NotInSubsetError(str(op))

    def folded(self, low: int, high: int) -> ex.Ranges:
        if not self.ignore_case:
            return ((low, high),)
        if self.ecma:
            raise NotInSubsetError("ignore-case in ECMA")
        return python_class(f"[{re.escape(chr(low))}-{re.escape(chr(high))}]", self.re_flags & ~re.VERBOSE)

    def category(self, category: object) -> ex.Ranges:
        letter = {
            sre.CATEGORY_DIGIT: "d", sre.CATEGORY_WORD: "w", sre.CATEGORY_SPACE: "s",
            sre.CATEGORY_NOT_DIGIT: "D", sre.CATEGORY_NOT_WORD: "W", sre.CATEGORY_NOT_SPACE: "S",
        }[category]  # fmt: skip
        if self.ecma and letter in "sS":
            found = ECMA_SPACES
        else:
            found = python_class("\\" + letter.lower(), re.ASCII if self.ecma else self.re_flags & re.ASCII)
        return negate(found) if letter.isupper() else found


def python_says(source: str, dialect: int, flags: int, text: str) -> bool:
    """Does `text` belong, by Python's `re` alone? For ECMA only where the two languages agree; used to check `read`."""
    re_flags = sum(
        b for a, b in ((ir.FLAG_IGNORE_CASE, re.I), (ir.FLAG_DOT_ALL, re.S), (ir.FLAG_VERBOSE, re.X), (ir.FLAG_ASCII, re.A)) if flags & a
    )
    if dialect == ir.PYTHON_FULL:
        return re.fullmatch(source, text, re_flags) is not None
    ask = re.search if dialect == ir.ECMA_SEARCH else re.fullmatch
    return ask(source.replace("$", r"\Z"), text, re_flags | re.ASCII) is not None
