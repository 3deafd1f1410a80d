"""Regular expressions: the grammar of the texts that a pattern matches as a whole.

Idea. One lexeme, one rule. The core parses the pattern and refuses what has no automaton, with name and offset.
"""

from __future__ import annotations

from ..checks import check_choice
from ..errors import GrammarError
from ..ir import ECMA_FULL, PYTHON_FULL, Builder
from ..report import Entry, Report

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
        The meaning of the pattern: Python's `re`, or ECMA-262 with the u flag.

    Raises
    ------
    GrammarError
        The pattern has a lone surrogate, which is no character.
    """
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern is a str, not {type(pattern).__name__}")
    check_choice("dialect", dialect, _DIALECTS)
    try:
        expr = builder.pattern(pattern, _DIALECTS[dialect])
    except UnicodeEncodeError as error:
        raise GrammarError("a lone surrogate is no character", source=pattern, offset=error.start) from None
    builder.start = builder.nonterminal("start")
    builder.rule(builder.start, [builder.lexeme(expr, "regex")])
    return Report(enforced=[Entry("", "regex", "the whole text matches the pattern")])
