r"""The grammars that come with Lark, and the terminals in them that are written anew.

Idea. Lark's `common` and `python` describe strings and comments with lazy quantifiers and look-behind: right for a scanner that stops
at its first match, but under `lexing="exact"` the lazy `"/*" /(.|\n)*?/ "*/"` also matches from the first comment to the end of the
last one, and look-behind has no place in an automaton that knows only its own terminal. Each such terminal is replaced by an
expression for exactly the texts that a scanner stopping at the first match would take. What is only the inside of a string has no end of
its own to stop at: it is replaced by all its texts, and stays lazy (`_STRING_ESC_INNER`: each backslash has its character).

A look-ahead at the end of a terminal speaks about the text after it. It is dropped; `DROPPED` says what that admits.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

MODULES = ("common", "lark", "python", "unicode")

_REWRITTEN = {
    "common": r"""
_STRING_ESC_INNER: /([^\\\n]|\\[^\n])*?/
ESCAPED_STRING: /"([^"\\\n]|\\[^\n])*"/
C_COMMENT: /\/\*([^*]|\*+[^*\/])*\*+\//
""",
    "python": r"""
STRING: /([ubf]?r?|r[ubf])("([^"\\\n]|\\[^\n])*"|'([^'\\\n]|\\[^\n])*')/i
LONG_STRING: /([ubf]?r?|r[ubf])(\"""("?"?([^"\\]|\\.))*\"""|'''('?'?([^'\\]|\\.))*''')/is
DEC_NUMBER: "1".."9" ("_"? "0".."9")* | "0" ("_"? "0")*
""",
    "lark": r"""
OP: /[+*?]/
REGEXP: /\/(\\.|[^\/\\])+\/[imslux]*/s
""",
}

DROPPED = {
    ("python", "STRING"): 'a string "" may be followed by a quote, where the grammar lets strings touch',
    ("python", "DEC_NUMBER"): "0 may be followed by a digit, where the grammar lets numbers touch",
    ("lark", "OP"): "the operator ? may be followed by a letter",
}


@cache
def text_of(module: str) -> str:
    """Text of a bundled grammar. The package that has it is found, and not imported."""
    package = find_spec("lark")
    path = Path(package.origin or "").with_name("grammars") / f"{module}.lark" if package else None
    if path is None or not path.is_file():
        raise FileNotFoundError(f"the lark package has no grammar {module!r}")
    return path.read_text("utf-8")


def rewritten(module: str) -> str:
    """Definitions, in the Lark language, that replace those of the bundled grammar."""
    return _REWRITTEN.get(module, "")
