"""Lark text to statements.

Idea. One regular expression cuts the text into tokens, as Lark does, and one loop reads the body of a definition into steps (`syntax`), with the
groups around on a stack of its own. If a text cannot be read, Lark's parser is asked for the reason (`diagnosis`): it knows more, but takes
a tenth of a second to be imported.

Invariant. A text is read here if and only if Lark reads it, except that literals end where their escapes say (see `diagnosis`). No expression
goes over what it has matched more than twice, so the time is linear in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...errors import LimitExceededError
from .diagnosis import error_in
from .syntax import Body, Declare, Define, Ignore, Import, Operation, Origin, Statement, Token

if TYPE_CHECKING:
    from ...limits import Limits

_TOKENS = re.compile(  # of what matches at a place the first is taken, as in Lark
    r"""
      (?P<blank>     [ \t]+ | \s*(?://|\#)[^\n]* | \\[ ]*\n )
    | (?P<RULE>      _?[a-z][_a-z0-9]* )
    | (?P<TERMINAL>  _?[A-Z][_A-Z0-9]* )
    | (?P<STRING>    " [^"\\\n]* (?: \\[^\n][^"\\\n]* )* "i? )
    | (?P<REGEXP>    /(?!/) [^/\\]* (?: \\.[^/\\]* )* /[imslux]* )
    | (?P<OR>        \r?\n\s*\| | \| )
    | (?P<END>       \r?\n\s* )
    | (?P<NUMBER>    [+-]?\d+ )
    | (?P<MODIFIERS> (?: !\?? | \?!? )(?=[_a-z]) )
    | (?P<OP>        [+*] | \?(?![a-z_]) )
    | %(?:override|declare|extend|ignore|import) | -> | \.\.? | [][(){}~:,]
    | (?P<unknown>   .+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_NAME = ("RULE", "TERMINAL")
_CLOSING = {"(": ")", "[": "]"}

Firsts = list[Token | None]


class _MisplacedError(Exception):
    """The next token of the reader has no place where it stands."""


def read(text: str, limits: Limits) -> list[Statement]:
    """The statements of a grammar. Costs some 1.2 us for each token."""
    reader = _Reader(text, limits.max_regex_nesting)
    try:
        return reader.statements()
    except _MisplacedError:
        raise error_in(text, reader.tokens[reader.at].start, limits.max_regex_nesting) from None


class _Reader:
    def __init__(self, text: str, max_nesting: int) -> None:
        self.text = text
        self.max_nesting = max_nesting
        make = tuple.__new__  # what Token() calls, too, behind a call in Python: a fifth of the time for all tokens
        found = _TOKENS.finditer(text + "\n")
        self.tokens = [make(Token, (kind or m[0], m[0], m.start())) for m in found if (kind := m.lastgroup) != "blank"]
        self.tokens += [Token("", "", len(text))] * 2  # of no kind that is asked for; two, as one looks at the second next one
        self.at = 0  # the next token

    def statements(self) -> list[Statement]:
        """All of them."""
        found = []
        while self.tokens[self.at].kind:
            if not self._skip("END"):
                found.append(self._statement())
        return found

    # --- tokens -----------------------------------------------------------------------------------------------------

    def _next(self, *kinds: str) -> Token:
        token = self.tokens[self.at]
        if token.kind not in kinds:
            raise _MisplacedError
        self.at += 1
        return token

    def _skip(self, kind: str) -> bool:
        """Whether the next token is of this kind; if so, it is passed."""
        is_next = self.tokens[self.at].kind == kind
        self.at += is_next
        return is_next

    def _list(self, *kinds: str) -> list[Token]:
        """One or more tokens of these kinds, with commas between."""
        found = [self._next(*kinds)]
        while self._skip(","):
            found.append(self._next(*kinds))
        return found

    # --- statements -------------------------------------------------------------------------------------------------

    def _statement(self) -> Statement:
        """One with the end of its line."""
        if self._skip("%ignore"):
            return Ignore(self._body())
        if self._skip("%import"):
            return self._import()
        if self._skip("%declare"):
            names = [self._next(*_NAME)]
            while not self._skip("END"):
                names.append(self._next(*_NAME))
            return Declare(names)
        if self._skip("%override"):
            return self._define("%override")
        return self._define("%extend" if self._skip("%extend") else "")

    def _define(self, change: str) -> Define:
        is_modified = self._skip("MODIFIERS")
        name = self._next("RULE") if is_modified else self._next(*_NAME)
        params = []
        if name.kind == "RULE" and self._skip("{"):
            params = self._list("RULE")
            self._next("}")
        priority = self._next("NUMBER") if self._skip(".") else None
        self._next(":")
        body = self._body()
        return Define(change, name, params, priority, body, is_modified or body.has_alias)

    def _import(self) -> Import:
        is_relative = self._skip(".")
        path, names, alias = [self._next(*_NAME)], [], None
        while self._skip("."):
            path.append(self._next(*_NAME))
        if self._skip("("):
            names = self._list(*_NAME)
            self._next(")")
        elif self._skip("->"):
            alias = self._next(*_NAME)
        self._next("END")
        return Import(path, is_relative, names, alias)

    # --- bodies -----------------------------------------------------------------------------------------------------

    def _body(self) -> Body:
        """Alternatives up to the end of a line."""
        tokens, at = self.tokens, self.at
        steps: list[Token | Operation] = []
        names: list[Token] = []
        has_alias = False
        around: list[tuple[str, Firsts, Firsts]] = []  # of the groups around this one, what stands in the next three lines
        closing = "END"  # what ends the group
        heads: Firsts = []  # the first tokens of its alternatives, without the last one; between braces the name of the template
        items: Firsts = []  # those of the items of its last alternative; between braces of the arguments
        while True:
            token = tokens[at]
            kind = token.kind
            first: Token | None = token  # of the operand
            self.at = at
            at += 1
            if kind == "RULE" or kind == "TERMINAL":
                names.append(token)
                if kind == "RULE" and tokens[at].kind == "{":
                    self._check_nesting(len(around), tokens[at])
                    around.append((closing, heads, items))
                    closing, heads, items = "}", [token], []
                    at += 1
                    continue
                steps.append(token)
            elif kind == "STRING" and tokens[at].kind == ".." and tokens[at + 1].kind == "STRING":
                steps.append(Operation("range", token, 0, [tokens[at + 1]]))
                at += 2
            elif kind == "STRING" or kind == "REGEXP":
                steps.append(token)
            elif closing == "}":
                raise _MisplacedError
            elif kind == "(" or kind == "[":
                self._check_nesting(len(around), token)
                around.append((closing, heads, items))
                closing, heads, items = _CLOSING[kind], [], []
                continue
            elif kind == "OR" or kind == closing or kind == "->":
                alias = None
                if kind == "->":
                    self.at = at
                    alias = self._next("RULE")
                    has_alias = True
                    kind = self._next("OR", closing).kind
                    at = self.at
                first = items[0] if items else None
                steps.append(Operation("sequence", first, len(items), (), items, alias))
                heads.append(first)
                items = []
                if kind == "OR":
                    continue
                first = next(filter(None, heads), None)
                if len(heads) > 1:
                    steps.append(Operation("alternatives", first, len(heads)))
                if not around:
                    self.at = at
                    return Body(steps, names, first, has_alias)
                if closing == "]":
                    steps.append(Operation("maybe", first, 1))
                closing, heads, items = around.pop()
            else:
                raise _MisplacedError
            items.append(first)
            while closing == "}" and tokens[at].kind == "}":
                at += 1
                steps.append(Operation("use", heads[0], len(items)))
                first = heads[0]
                closing, heads, items = around.pop()
                items.append(first)
            operator = tokens[at].kind
            if operator == "OP" and closing != "}":
                steps.append(Operation("repeat", first, 1, [tokens[at]]))
                at += 1
            elif operator == "~" or closing == "}":
                self.at = at
                if closing == "}":
                    self._next(",")
                else:
                    steps.append(Operation("repeat", first, 1, self._bounds()))
                at = self.at

    def _bounds(self) -> list[Token]:
        """Those of a repetition, with the tilde."""
        self._next("~")
        found = [self._next("NUMBER")]
        if self._skip(".."):
            found.append(self._next("NUMBER"))
        return found

    def _check_nesting(self, depth: int, bracket: Token) -> None:
        if depth >= self.max_nesting:
            where = Origin(self.text, None, str).place(bracket)
            raise LimitExceededError("max_regex_nesting", self.max_nesting, "brackets of the grammar", where=where)
