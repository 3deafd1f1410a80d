"""A GBNF text to definitions.

Idea. One regular expression for tokens. Brackets are a stack of what is open,
and a body is steps in postfix order (`lark.syntax`), so nothing recurses.

A rule ends with its line, unless a bracket is open, or the line ends with `::=` or `|`, or the next one begins with `|`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...errors import LimitExceededError, listed
from ..lark.loader import Definition
from ..lark.syntax import Body, Operation, Origin, Token

if TYPE_CHECKING:
    from ...limits import Limits

_TOKEN = re.compile(
    r"""
    [ \t]* (?:
      (?P<RULE>    [A-Za-z0-9_-]+ )
    | (?P<STRING>  "(?:[^"\\]|\\.)*" )
    | (?P<CLASS>   \[(?:[^\]\\]|\\.)*\] | \. )
    | (?P<OP>      [*+?] )
    | (?P<BOUNDS>  \{\s*[0-9]+\s*(?:,\s*[0-9]*\s*)?\} )
    | (?P<OPEN>    \( )
    | (?P<CLOSE>   \) )
    | (?P<OR>      \| )
    | (?P<LINE>    (?: \#[^\r\n]* | [\r\n]+ | \Z )+ )
    | (?P<DEFINE>  ::= )
    | (?P<SPECIAL> <[^<>\r\n]+> )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_WHAT = {
    '"': "this string does not end",
    "[": "this set of characters does not end",
    "{": "a repetition is {2}, {2,} or {2,3}",
    ":": "a rule is name ::= ...; name: ... is one of Lark, which Grammar.from_lark reads",
    "=": "a rule is name ::= ...",
}
_NEGATED = "negated tokens are not supported; .* is any text, in which there is no special token"
_NUMBER = re.compile(r"[0-9]+")


@dataclass
class _Group:
    """What is open: a rule, or a bracket."""

    bracket: Token | None
    firsts: list[Token | None] = field(default_factory=list)  # of the items of the sequence under way
    n_sequences: int = 0


def read(text: str, limits: Limits) -> tuple[dict[str, Definition], Origin]:
    """The rules by name, and the origin of the text. Raises GrammarSyntaxError, and LimitExceededError for the nesting."""
    origin = Origin(text, None, lambda name: name)
    tokens = _tokens(text, origin)
    definitions: dict[str, Definition] = {}
    at, undefined = 0, []
    while tokens[at].kind != "END":
        name, define = tokens[at], tokens[at + 1]
        if name.kind != "RULE" or define.kind != "DEFINE":
            raise origin.error("here a rule is to begin: a name and ::=", name)
        if name.text in definitions:
            raise origin.error(f"{name.text} is defined twice (first at {definitions[name.text].place})", name)
        at, body = _Reader(tokens, origin, limits).read(at + 2)
        definitions[name.text] = Definition(name.text, name, origin, bodies=[(body, origin)])
        undefined += body.names
    undefined = [token for token in undefined if token.text not in definitions]
    if undefined:
        names = listed([*dict.fromkeys(token.text for token in undefined)])
        raise origin.error(f"not defined: {names}", undefined[0])
    return definitions, origin


def _tokens(text: str, origin: Origin) -> list[Token]:
    """All but what is skipped; of line ends those that end a rule; two at the end."""
    found: list[Token] = []
    at = depth = 0
    is_line_over = False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip(" \t"))
            reason = _NEGATED if text.startswith("!<", at) else _WHAT.get(text[at], f"{text[at]!r} does not belong here")
            raise origin.error(reason, Token("", text[at], at))
        kind = str(match.lastgroup)
        token = Token(kind, match[kind], match.start(kind))
        at = match.end()
        if kind == "LINE":
            is_line_over = depth == 0 and bool(found) and found[-1].kind not in ("DEFINE", "OR")
            continue
        if is_line_over and kind != "OR":
            found.append(Token("LINE", "", token.start))
        is_line_over = False
        depth = max(0, depth + (kind == "OPEN") - (kind == "CLOSE"))
        found.append(token)
    return [*found, *[Token("END", "", len(text))] * 2]


class _Reader:
    """Reads one body."""

    def __init__(self, tokens: list[Token], origin: Origin, limits: Limits) -> None:
        self.tokens, self.origin, self.limits = tokens, origin, limits
        self.steps: list[Token | Operation] = []
        self.names: list[Token] = []
        self.groups = [_Group(None)]

    def read(self, at: int) -> tuple[int, Body]:
        """The body that begins at a token, and where the next rule does."""
        while (token := self.tokens[at]).kind not in ("LINE", "END"):
            self.take(token)
            at += 1
        if self.groups[-1].bracket:
            raise self.origin.error("this bracket is not closed", self.groups[-1].bracket)
        self.end_alternatives()
        return at + (token.kind == "LINE"), Body(self.steps, self.names, None, False)

    def take(self, token: Token) -> None:
        kind, group = token.kind, self.groups[-1]
        if kind == "OPEN":
            self.groups.append(_Group(token))
            if len(self.groups) > self.limits.max_regex_nesting:
                place = self.origin.place(token)
                raise LimitExceededError("max_regex_nesting", self.limits.max_regex_nesting, "brackets", where=place)
        elif kind == "CLOSE":
            if group.bracket is None:
                raise self.origin.error("this bracket closes nothing", token)
            self.end_alternatives()
            self.groups.pop()
            self.groups[-1].firsts.append(group.bracket)
        elif kind == "OR":
            self.end_sequence()
        elif kind in ("OP", "BOUNDS"):
            if not group.firsts:
                raise self.origin.error("there is nothing to repeat", token)
            self.steps.append(Operation("repeat", group.firsts[-1], 1, self.bounds(token)))
        elif kind == "DEFINE":
            if group.bracket:
                raise self.origin.error("this bracket is not closed", group.bracket)
            raise self.origin.error("a rule is one line: `::=` does not belong here", token)
        else:
            self.steps.append(token)
            group.firsts.append(token)
            if kind == "RULE":
                self.names.append(token)

    def bounds(self, token: Token) -> list[Token]:
        """The details of a repetition: an operator, or numbers; behind a number that is the least alone, `*`."""
        if token.kind == "OP":
            return [token]
        numbers = [Token("NUMBER", match[0], token.start + match.start()) for match in _NUMBER.finditer(token.text)]
        return [*numbers, Token("OP", "*", token.start)] if "," in token.text and len(numbers) == 1 else numbers

    def end_sequence(self) -> None:
        group = self.groups[-1]
        first = group.firsts[0] if group.firsts else None
        self.steps.append(Operation("sequence", first, len(group.firsts), firsts=group.firsts))
        group.firsts = []
        group.n_sequences += 1

    def end_alternatives(self) -> None:
        self.end_sequence()
        group = self.groups[-1]
        if group.n_sequences > 1:
            self.steps.append(Operation("alternatives", None, group.n_sequences))
