"""Fixed choices: the grammar whose sentences are the strings of a list.

Idea. One lexeme that is a trie of all choices, so compiling costs time in proportion to their total length.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import GrammarError
from ..report import Entry, Report

if TYPE_CHECKING:
    from ..ir import Builder


def build(builder: Builder, choices: Iterable[str | bytes]) -> Report:
    """Compile a list of choices into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    choices : iterable of str or bytes
        At least one; the same one may come twice, one may be empty. A str stands for its UTF-8 encoding.

    Raises
    ------
    GrammarError
        There are no choices, or one has a lone surrogate.
    TypeError
        A choice is neither str nor bytes.
    """
    if isinstance(choices, (str, bytes)):
        raise TypeError("choices is a list of strings, not one string")
    if not isinstance(choices, Iterable):
        raise TypeError(f"choices is a list of strings, not {type(choices).__name__}")
    encoded = [_encode(choice, index) for index, choice in enumerate(choices)]
    if not encoded:
        raise GrammarError("there are no choices: no text could be written")
    builder.start = builder.nonterminal("start")
    builder.rule(builder.start, [builder.lexeme(builder.literals(encoded), "choice")])
    return Report(enforced=[Entry("", "choices", f"one of {len(set(encoded)):,} texts")])


def _encode(choice: str | bytes, index: int) -> bytes:
    if isinstance(choice, bytes):
        return choice
    if not isinstance(choice, str):
        raise TypeError(f"choice {index} is neither str nor bytes, but {type(choice).__name__}")
    try:
        return choice.encode("utf-8")
    except UnicodeEncodeError as error:
        raise GrammarError(f"choice {index} has a lone surrogate, which is no character", source=choice, offset=error.start) from None
