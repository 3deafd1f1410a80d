"""Lark text to the tree that Lark's own parser makes of it, with every error at a place in the text.

Idea. `lark.load_grammar` holds an LALR parser for the Lark language; its trees are used as they come. A quick scan goes first, for
what that parser does not survive: its lexer backtracks without end in a literal that is not closed, and 100,000
brackets cost it seconds. The scan knows literals, comments and brackets, and nothing else; it is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lark.exceptions import UnexpectedInput, UnexpectedToken

from lark import Token, Tree, load_grammar

from ...errors import GrammarSyntaxError, LimitExceededError, UnsupportedRegexError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...limits import Limits

Node = Any  # a lark.Tree; its type does not say which children are trees and which are tokens
_lark: Any = load_grammar  # parts of it that have no types
_SCAN = re.compile(
    r"""
      //[^\n]* | \#[^\n]*                                   # comment
    | "(?: \\[^\n] | [^"\\\n] )* (?P<string_end> " )?       # string
    | /(?: \\.     | [^/\\]   )* (?P<regexp_end> / )?       # regular expression
    | [(\[{] | [)\]}]
    """,
    re.VERBOSE | re.DOTALL,
)


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

    def place(self, token: Token) -> str:
        """`line:column` of a token, with the name of the bundled grammar in front if it is not in the text of the user."""
        position = f"{token.line}:{token.column}"
        return f"{self.module} {position}" if self.module else position

    def place_of(self, tree: Node) -> str:
        """Place of the first token in `tree`; "" if there is none."""
        rest = [tree]
        while rest:
            node = rest.pop()
            if isinstance(node, Token):
                return self.place(node)
            rest += reversed(node.children)
        return ""

    def error(self, reason: str, token: Token, skip: int = 0) -> GrammarSyntaxError:
        """An error `skip` characters into a token."""
        return GrammarSyntaxError(self._in_module(reason), source=self.text, offset=(token.start_pos or 0) + skip)

    def unsupported(self, reason: str, construct: str, token: Token, skip: int = 0) -> UnsupportedRegexError:
        """A refused construct, `skip` characters into a token."""
        offset = (token.start_pos or 0) + skip
        return UnsupportedRegexError(self._in_module(reason), construct=construct, source=self.text, offset=offset)

    def _in_module(self, reason: str) -> str:
        return f"{reason} (in the grammar {self.module!r} that comes with Lark)" if self.module else reason


def subtrees(tree: Node) -> list[Node]:
    """The nodes of a tree, children before parents; the names after `->` are left out."""
    nodes = [tree]
    for node in nodes:
        children = node.children[:1] if node.data == "alias" else node.children
        nodes += [child for child in reversed(children) if isinstance(child, Tree)]
    nodes.reverse()
    return nodes


def parse(text: str, limits: Limits) -> list[Node]:
    """The statements of a grammar: trees `rule`, `term`, `ignore`, `import`, `declare`, `override` and `extend`."""
    _scan(text, limits.max_regex_nesting)
    parser = _lark._get_parser()
    try:
        statements: list[Node] = parser.parse(text + "\n", "start").children
    except UnexpectedInput as error:
        raise GrammarSyntaxError(_reason(parser, error), source=text, offset=error.pos_in_stream) from None
    return statements


def _scan(text: str, max_nesting: int) -> None:
    depth = 0
    for match in _SCAN.finditer(text):
        first = text[match.start()]
        if first in "([{":
            depth += 1
            if depth > max_nesting:
                line, column = text.count("\n", 0, match.start()) + 1, match.start() - text.rfind("\n", 0, match.start())
                raise LimitExceededError("max_regex_nesting", max_nesting, "brackets of the grammar", where=f"{line}:{column}")
        elif first in ")]}":
            depth = max(0, depth - 1)
        elif first == '"' and match["string_end"] is None:
            raise GrammarSyntaxError("this string is not closed on its line", source=text, offset=match.start())
        elif first == "/" and not match[0].startswith("//") and match["regexp_end"] is None:
            raise GrammarSyntaxError("this regular expression is not closed", source=text, offset=match.start())


def _reason(parser: Any, error: UnexpectedInput) -> str:
    if not isinstance(error, UnexpectedToken):
        return "this character has no place here"
    try:
        known = _lark._translate_parser_exception(parser.parse, error)
    except TypeError:  # raised by Lark's own comparison with its examples, in some places of a grammar
        known = None
    if known:
        return str(known[0].lower() + known[1:])
    return "the grammar ends too early" if error.token.type == "$END" else f"{str(error.token)!r} has no place here"
