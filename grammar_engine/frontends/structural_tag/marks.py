"""Texts of a structural tag in which special tokens stand, because the user has named these.

    "<|start|>assistant<|channel|>final"  =  Token("<|start|>"), "assistant", Token("<|channel|>"), "final"

Idea. Such a text is a *mark*: a str in which each special token is one lone surrogate, its sign. So whatever compares texts (what is in
what, how one ends as another begins) holds for marks as it is.

Invariant. No text has a lone surrogate: they are refused where texts are read (`reader.py`). So a mark is read in one way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ...tags import Token

_FIRST, _MOST = 0xD800, 0x800  # the surrogates
_SIGN = re.compile("([\ud800-\udfff])")


class Marks:
    """The special tokens that texts name, and their signs.

    Parameters
    ----------
    names : collection of str
        What is a special token wherever a text has it: of several that begin at one place the longest.
    """

    def __init__(self, names: Collection[str] = ()):
        self.names = frozenset(names)
        self._first = {name[0] for name in names}
        self._lengths = sorted({len(name) for name in names}, reverse=True)
        self._signs: dict[str | int, str] = {}
        self._tokens: dict[str, Token] = {}

    def of(self, text: str) -> str:
        """The mark that a text stands for. ValueError: a name is none that a `Token` may have, or there are too many."""
        mark, begin, at = [], 0, 0
        while at < len(text):
            name = next(self._at(text, at), None) if text[at] in self._first else None
            if name is None:
                at += 1
                continue
            mark += [text[begin:at], self.sign(Token(name))]
            begin = at = at + len(name)
        return "".join([*mark, text[begin:]]) if mark else text

    def _at(self, text: str, at: int) -> Iterator[str]:
        """The names that begin at a place, the longest first."""
        return (name for n in self._lengths if (name := text[at : at + n]) in self.names)

    def sign(self, token: Token) -> str:
        """The mark that is one token."""
        if token.key not in self._signs:
            if len(self._signs) == _MOST:
                raise ValueError(f"a structural tag has more than {_MOST:,} special tokens in its texts, and as what begins and ends tags")
            sign = self._signs[token.key] = chr(_FIRST + len(self._signs))
            self._tokens[sign] = token
        return self._signs[token.key]

    def parts(self, mark: str) -> list[str | Token]:
        """Texts and tokens of a mark, none of them empty."""
        return [self._tokens.get(part, part) for part in _SIGN.split(mark) if part]

    def tokens(self, mark: str) -> list[Token]:
        """The tokens of a mark."""
        return [self._tokens[sign] for sign in _SIGN.findall(mark)]

    def written(self, mark: str) -> str:
        """The text that a mark was; of tokens by id what stands for them in messages."""
        return "".join(part if isinstance(part, str) else part.key if isinstance(part.key, str) else str(part) for part in self.parts(mark))

    def shown(self, mark: str) -> str:
        """A mark for messages."""
        return repr(self.written(mark))
