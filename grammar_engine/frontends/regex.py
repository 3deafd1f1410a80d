"""Regular expressions: the grammar of the texts that a pattern matches as a whole.

Idea. One lexeme, one rule. The core parses the pattern and refuses what has no automaton, with name and offset.
"""

from __future__ import annotations

import re

from ..checks import check_choice
from ..errors import GrammarError
from ..ir import ECMA_FULL, PYTHON_FULL, Builder
from ..report import Entry, Report
from . import set_operations

_DIALECTS = {"python": PYTHON_FULL, "ecma": ECMA_FULL}


def build(builder: Builder, pattern: str, *, dialect: str = "python") -> Report:
    """Compile a regular expression into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    pattern : str
        The whole text must match it.
    dialect : {"python", "ecma"}
        The meaning of the pattern: Python's `re` (and properties, docs/regex.md), or ECMA-262 with the u flag.

    Returns
    -------
    Report
        Its notes name sets in which others would read operations on sets (see `set_operations`).

    Raises
    ------
    GrammarError
        The pattern has a lone surrogate, which is no character.
    """
    if not isinstance(pattern, str):
        remedy = "; pass its `pattern`, with its flags in front of it, as (?i)" if isinstance(pattern, re.Pattern) else ""
        raise TypeError(f"a pattern is a str, not {type(pattern).__name__}{remedy}")
    check_choice("dialect", dialect, _DIALECTS)
    try:
        expr = builder.pattern(pattern, _DIALECTS[dialect])
    except UnicodeEncodeError as error:
        raise GrammarError("a lone surrogate is no character", source=pattern, offset=error.start) from None
    builder.start = builder.nonterminal("start")
    builder.rule(builder.start, [builder.lexeme(expr, "regex")])
    notes = [Entry(_place(pattern, at), set_operations.KEYWORD, what) for at, what in set_operations.in_pattern(pattern, dialect)]
    return Report(enforced=[Entry("", "regex", "the whole text matches the pattern")], notes=notes)


def _place(pattern: str, at: int) -> str:
    """The line and the column of a character."""
    return f"{pattern.count(chr(10), 0, at) + 1}:{at - pattern.rfind(chr(10), 0, at)}"
