"""What a text in the Lark language is made of: statements, their bodies, tokens; and the origin that gives them a place and a meaning.

Idea. A body is no tree but a list in postfix order, which `rules` and `terminals` go through with a stack: tokens are operands, and behind
those of an operation comes what is made of them. So nothing recurses, however deep a grammar is nested.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ...errors import GrammarSyntaxError, UnsupportedRegexError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Token(NamedTuple):
    """A piece of the text.

    Attributes
    ----------
    kind : str
        "RULE", "TERMINAL", "STRING", "REGEXP", "SPECIAL", "JSON", "OPTIONS", "NUMBER", "OP" and so on (see `reader`);
        of punctuation its text.
    text : str
    start : int
        Its offset, in characters.
    """

    kind: str
    text: str
    start: int


class Operation(NamedTuple):
    """What is made of the operands in front of it.

    Attributes
    ----------
    kind : str
        | kind | operands | details |
        |:--|:--|:--|
        | "range" | | the last character; `first` is the first one |
        | "use" | arguments of a template, which `first` names | |
        | "repeat" | one | `?`, `*`, `+`, or one or two numbers, or a number and `*` |
        | "maybe" | one: what stands in square brackets | |
        | "sequence" | items, one after the other; left out for a single one without an alias, but for names and groups of alternatives | |
        | "and" | sequences and single items, two or more: what all of them have | the first `&` |
        | "not" | one: any text but its texts | the `~` |
        | "alternatives" | all these, two or more | |
    first : Token or None
        The first token; None if it has none.
    size : int
        How many operands it takes from the stack.
    details : sequence of Token
    firsts : sequence of (Token or None)
        Of a sequence: the first token of each item.
    alias : Token or None
        Of a sequence: the name behind `->`.
    """

    kind: str
    first: Token | None
    size: int = 0
    details: Sequence[Token] = ()
    firsts: Sequence[Token | None] = ()
    alias: Token | None = None


class Body(NamedTuple):
    """What stands behind a colon.

    Attributes
    ----------
    steps : list of (Token or Operation)
        Names of rules and terminals, strings, regular expressions, special tokens,
        schemas, and operations. They leave one item, which stands for the body.
    names : list of Token
        All names in it, also those of templates, in the order of the text.
    first : Token or None
        The first token.
    has_alias : bool
    """

    steps: list[Token | Operation]
    names: list[Token]
    first: Token | None
    has_alias: bool


class Define(NamedTuple):
    """A rule, a template or a terminal.

    Attributes
    ----------
    change : str
        "", "%override" or "%extend".
    name : Token
    params : list of Token
    priority : Token or None
    body : Body
        With the suffix behind it, if the rule has one.
    is_shaped : bool
        `?`, `!` or `->` shape its trees.
    is_lazy : bool
        It has the attribute `lazy` or `suffix`.
    """

    change: str
    name: Token
    params: list[Token]
    priority: Token | None
    body: Body
    is_shaped: bool
    is_lazy: bool


class Ignore(NamedTuple):
    """`%ignore`; `token` is that word."""

    token: Token
    body: Body


class Declare(NamedTuple):
    """`%declare`."""

    names: list[Token]


class Import(NamedTuple):
    """`%import path`, `%import path -> alias` or `%import path (names)`; `is_relative`: with a dot in front."""

    path: list[Token]
    is_relative: bool
    names: list[Token]
    alias: Token | None


class Options(NamedTuple):
    """`%llguidance {...}` without an option that has an effect; `token` is all of it."""

    token: Token


Statement = Define | Ignore | Declare | Import | Options


@dataclass(frozen=True)
class Origin:
    """Where a piece of grammar comes from, and what names mean in it.

    Attributes
    ----------
    text : str
        The whole text; tokens point into it.
    module : str or None
        Name of the bundled grammar; None for the text of the user.
    rename : callable
        From a name in this text to the name in the dictionary of all definitions.
    """

    text: str
    module: str | None
    rename: Callable[[str], str]

    def place(self, token: Token | None) -> str:
        """`line:column` of a token, with the name of the bundled grammar in front if it is not in the text of the user; "" for None."""
        if token is None:
            return ""
        line = bisect_right(self._lines, token.start)
        position = f"{line}:{token.start - self._lines[line - 1] + 1}"
        return f"{self.module} {position}" if self.module else position

    def error(self, reason: str, token: Token, skip: int = 0) -> GrammarSyntaxError:
        """An error `skip` characters into a token."""
        return GrammarSyntaxError(self._in_module(reason), source=self.text, offset=token.start + skip)

    def unsupported(self, reason: str, construct: str, token: Token, skip: int) -> UnsupportedRegexError:
        """A refused construct, `skip` characters into a token."""
        return UnsupportedRegexError(self._in_module(reason), construct=construct, source=self.text, offset=token.start + skip)

    def _in_module(self, reason: str) -> str:
        return f"{reason} (in the grammar {self.module!r} that comes with Lark)" if self.module else reason

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        found, begin = [0], self.text.find("\n") + 1
        while begin:
            found.append(begin)
            begin = self.text.find("\n", begin) + 1
        return found
