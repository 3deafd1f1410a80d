"""Lark text to statements.

Idea. One regular expression cuts the text into tokens, as Lark does, and one loop reads the body of a definition into steps (`syntax`),
with the groups around on a stack of its own. If a text cannot be read, Lark's parser is asked for the reason (`diagnosis`): it knows more,
but takes a tenth of a second to be imported.

Beyond Lark, an item may be a special token, `<think>`, or a JSON Schema behind `%json`, of which only the end is looked for here; a rule
may have attributes, `text[suffix="</a>"]`; sequences may be joined by `&`, and an item may begin with `~`, "any text but". A line may be
`%llguidance {}`, with no options or such as do nothing here.

Invariant. A text is read here if and only if Lark reads it with strings in place of such items, blanks in place of attributes, of `~`
before an item and of such lines, and `|` in place of `&`, where no side of it may be empty; except that literals end where their escapes
say (see `diagnosis`). No expression goes over what it has matched more than twice, so the time is linear in the text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...errors import LimitExceededError
from .diagnosis import error_in
from .syntax import Body, Declare, Define, Ignore, Import, Operation, Options, Origin, Statement, Token

if TYPE_CHECKING:
    from ...errors import GrammarSyntaxError
    from ...limits import Limits

_TOKENS = re.compile(  # of what matches at a place the first is taken, as in Lark; blanks behind it are skipped with it
    r"""
      (?: (?P<RULE>      _?[a-z][_a-z0-9]* )
        | (?P<TERMINAL>  _?[A-Z][_A-Z0-9]* )
        | (?P<STRING>    " [^"\\\n]* (?: \\[^\n][^"\\\n]* )* "i? )
        | (?P<SIGN>      [][(){}~:,=&] )
        | (?P<OR>        (?: \r?\n\s* )? \| )
        | (?P<REGEXP>    /(?!/) [^/\\]* (?: \\.[^/\\]* )* /[imslux]* )
        | (?P<blank>     [ \t]+ | \s*(?://|\#)[^\n]* | \\[ ]*\n )
        | (?P<END>       \r?\n\s* )
        | (?P<NUMBER>    [+-]?\d+ )
        | (?P<MODIFIERS> (?: !\?? | \?!? )(?=[_a-z]) )
        | (?P<OP>        [+*] | \?(?![a-z_]) )
        | (?P<WORD>      %(?:override|declare|extend|ignore|import) | -> | \.\.? )
        | (?P<SPECIAL>   <[^<>\r\n]+> )
      ) [ \t]*
    | (?P<PART>      %(?:json|lark|regex|llguidance)\b ) .*  # up to the end: what follows is in another language
    | (?P<unknown>       .+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = ["" if name in ("SIGN", "WORD") else name for name in ("", *_TOKENS.groupindex)]  # by number; "": the kind is the text
_BLANK = _KINDS.index("blank")
_NAME = ("RULE", "TERMINAL")
# A single item that ends with one of these is made a sequence: the name may be of a template without its arguments, and a group stays one.
_NOT_ALONE = frozenset({"RULE", "alternatives"})
_OPERANDS = frozenset({*_NAME, "STRING", "REGEXP", "SPECIAL", "JSON"})
_DIRECTIVES = frozenset({"%ignore", "%import", "%declare", "%override", "%extend"})
_BINDING = frozenset({"{", "..", "OP", "~"})  # behind an operand: what belongs to it
_CLOSING = {"(": ")", "[": "]"}
_OBJECT_BEGINS = re.compile(r"%llguidance\s*(?=\{)")
_BRACE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]', re.DOTALL)  # of JSON; strings are passed over
_JSON_BEGINS = re.compile(r"%json\s*(?:(true|false)\b|(?=\{))")

_REFUSED = {  # parts that llguidance has
    "%lark": "%lark is not supported: write its rules into this grammar",
    "%regex": "%regex is not supported: write the texts as alternatives, or as a regular expression",
}
_WITHOUT_EFFECT = {"no_forcing": (False, True), "allow_initial_skip": (True,)}  # on texts: options behind %llguidance, and their values
_GBNF_RULE = re.compile(r"[ \t]*[\w-]+[ \t]*::=")
_OF_GBNF = "a rule of GBNF, name ::= ..., which Grammar.from_gbnf reads; here it is name: ..."
_PARAMETRIC = "a rule with a parameter, name::value, is not supported: write a rule for each of its values"
_UNKNOWN = {  # beginnings of what cannot be read
    "@": "@name, another grammar, is not supported: write its rules into this grammar",
    "%if": "%if is not supported, as rules have no parameters: write a rule for each value",
}
_ATTRIBUTES = ("lazy", "suffix")  # of rules
_REFUSED_ATTRIBUTES = {  # which llguidance has, too
    "stop": "is not supported, as what ends a text is a part of it here: suffix is what reads the text with its end",
    "capture": "is not supported, as a grammar only tells which texts there are: take what you look for out of the text",
    "stop_capture": "is not supported, as a grammar only tells which texts there are: take what you look for out of the text",
    "max_tokens": "is not supported, as a grammar counts characters and not tokens: write /(?s:.){0,400}/",
    "temperature": "is not supported, as a grammar does not draw tokens: set it where they are drawn",
}

_make = tuple.__new__  # what Token() and Operation() call, too, behind a call in Python: for what is made most often

Firsts = list[Token | None]


class _MisplacedError(Exception):
    """The next token of the reader has no place where it stands."""


def read(text: str, limits: Limits) -> list[Statement]:
    """The statements of a grammar. Costs some 1.2 us for each token."""
    reader = _Reader(text, limits.max_regex_nesting)
    try:
        return reader.statements()
    except _MisplacedError:
        raise reader.error() from None


def _tokens(text: str, origin: Origin) -> list[Token]:
    """All but what is skipped, a JSON Schema being one token; two of no kind at the end, as one looks at the second next one."""
    text += "\n"
    found: list[Token] = []
    at = 0
    while at < len(text):
        matches = _TOKENS.finditer(text, at)
        found += [_make(Token, (_KINDS[i] or m[i], m[i], m.start())) for m in matches if (i := m.lastindex or 0) != _BLANK]
        at = len(text)
        if found and found[-1].kind == "PART":
            read_part = _options if found[-1].text.startswith("%llguidance") else _schema
            found[-1] = read_part(text, found[-1], origin)
            at = found[-1].start + len(found[-1].text)
    return found + [Token("", "", len(text) - 1)] * 2


def _schema(text: str, marker: Token, origin: Origin) -> Token:
    """`%json` with what follows it: an object, of which only the brackets are looked at, or true or false."""
    if marker.text in _REFUSED:
        raise origin.error(_REFUSED[marker.text], marker)
    begin = _JSON_BEGINS.match(text, marker.start)
    if begin is None:
        raise origin.error("behind %json stands a JSON Schema: an object, true or false", marker)
    end = begin.end() if begin[1] else _end_of_object(text, begin.end(), marker, origin, "the JSON Schema behind %json")
    return Token("JSON", text[marker.start : end], marker.start)


def _options(text: str, marker: Token, origin: Origin) -> Token:
    """`%llguidance` with the object behind it, in which nothing changes which texts there are."""
    begin = _OBJECT_BEGINS.match(text, marker.start)
    if begin is None:
        raise origin.error("behind %llguidance stands an object with options, which may be empty: {}", marker)
    end = _end_of_object(text, begin.end(), marker, origin, "the object behind %llguidance")
    token = Token("OPTIONS", text[marker.start : end], marker.start)
    try:
        options: dict[str, object] = json.loads(text[begin.end() : end])
    except (ValueError, RecursionError) as error:
        skip = begin.end() - marker.start + (error.pos if isinstance(error, json.JSONDecodeError) else 0)
        raise origin.error("what stands behind %llguidance is no JSON", token, skip) from None
    for name, value in options.items():
        if not any(value is harmless for harmless in _WITHOUT_EFFECT.get(name, ())):
            shown = f"{json.dumps(name):.80}{': false' if value is False else ''}"
            reason = f"the option {shown} of %llguidance is not supported: leave it out; options are those of Grammar.from_lark"
            raise origin.error(reason, token)
    return token


def _end_of_object(text: str, begin: int, marker: Token, origin: Origin, what: str) -> int:
    """The end of an object that begins with a bracket: of JSON only its brackets and quotation marks are looked at."""
    depth = 0
    for piece in _BRACE.finditer(text, begin):
        depth += {"{": 1, "}": -1}.get(piece[0], 0)
        if depth == 0:
            return piece.end()
    raise origin.error(f"{what} does not end: a bracket or a quotation mark is missing", marker)


class _Group:
    """What is being read: the alternatives of a body or between brackets, or the arguments of a template."""

    # Of its last alternative, if it has `&`: the first one, the first token, and of how many sequences.
    joined: tuple[Token, Token | None, int] | None = None
    negated: Token | None = None  # the `~` in front of it

    def __init__(self, closing: str, heads: Firsts) -> None:
        self.closing = closing  # the kind of the token that ends it
        self.heads = heads  # the first tokens of its alternatives, without the last one; of arguments the name of the template
        self.items: Firsts = []  # those of the items of its last sequence; of arguments those of each

    def first(self) -> Token | None:
        """The first token of all."""
        return next(filter(None, self.heads), None)


class _Reader:
    steps: list[Token | Operation]  # of the body that is being read, as the next four lines
    names: list[Token]
    has_alias: bool
    group: _Group
    around: list[_Group]  # outermost first

    def __init__(self, text: str, max_nesting: int) -> None:
        self.origin = Origin(text, None, str)
        self.max_nesting = max_nesting
        self.tokens = _tokens(text, self.origin)
        self.at = 0  # the next token

    def error(self) -> GrammarSyntaxError:
        """That the next token has no place where it stands."""
        token, following = self.tokens[self.at : self.at + 2]
        text = self.origin.text
        if token.kind == "[" and following.text in _ATTRIBUTES:
            return self.origin.error(f"the attribute {following.text} stands behind the name of a rule that has no parameters", following)
        if token.kind == "[" and following.text in _REFUSED_ATTRIBUTES:
            return self._refused_attribute(following)
        if _GBNF_RULE.match(text, text.rfind("\n", 0, token.start) + 1):
            return self.origin.error(_OF_GBNF, token)
        if token.kind == ":" and any(text.startswith("::", start) for start in (token.start, token.start - 1)):
            return self.origin.error(_PARAMETRIC, token)
        if token.kind == "unknown":
            for beginning, reason in _UNKNOWN.items():
                if token.text.startswith(beginning):
                    return self.origin.error(reason, token)
        return error_in(self.origin, self.tokens[: self.at + 1])

    def _refused_attribute(self, name: Token) -> GrammarSyntaxError:
        return self.origin.error(f"the attribute {name.text} {_REFUSED_ATTRIBUTES[name.text]}", name)

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
        token = self.tokens[self.at]
        kind = token.kind if token.kind in _DIRECTIVES else ""
        self.at += kind != ""
        if kind == "%ignore":
            return Ignore(token, self._body())
        if self._skip("OPTIONS"):
            self._next("END")
            return Options(token)
        if kind == "%import":
            return self._import()
        if kind == "%declare":
            names = [self._next(*_NAME)]
            while not self._skip("END"):
                names.append(self._next(*_NAME))
            return Declare(names)
        return self._define(kind)

    def _define(self, change: str) -> Define:
        is_modified = self._skip("MODIFIERS")
        name = self._next("RULE") if is_modified else self._next(*_NAME)
        params = []
        suffixes = None
        if name.kind == "RULE":
            if self._skip("{"):
                params = self._list("RULE")
                self._next("}")
            elif self.tokens[self.at].kind == "[":
                suffixes = self._attributes()
        priority = self._next("NUMBER") if self._skip(".") else None
        self._next(":")
        body = self._body()
        for suffix in suffixes or ():
            body.steps.extend((suffix, Operation("sequence", body.first, 2, (), [body.first, suffix])))
            body.names.extend([suffix] if suffix.kind == "TERMINAL" else ())
        return Define(change, name, params, priority, body, is_modified or body.has_alias, suffixes is not None)

    def _attributes(self) -> list[Token]:
        """What a rule with the attributes `lazy` or `suffix`, which come next, has behind its body: one item, or none."""
        begin, known, suffixes = self.at, dict.fromkeys(_ATTRIBUTES, False), list[Token]()
        self.at += 1
        while True:
            name = self.tokens[self.at]
            if name.text in _REFUSED_ATTRIBUTES:
                raise self._refused_attribute(name)
            if name.text not in known:
                raise self.origin.error(f"attributes of a rule are {' and '.join(_ATTRIBUTES)}", name)
            if known[name.text]:
                raise self.origin.error(f"the attribute {name.text} is there twice", name)
            known[name.text] = True
            self.at += 1
            if name.text == "suffix":
                self._next("=")
                suffixes.append(self._next("STRING", "REGEXP", "TERMINAL"))
            if not self._skip(","):
                break
        self._next("]")
        self.tokens[begin : self.at] = [token._replace(kind="ATTRIBUTE") for token in self.tokens[begin : self.at]]
        return suffixes

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
        self.steps, self.names, self.has_alias = [], [], False
        self.group, self.around = _Group("END", []), []
        tokens, steps, names = self.tokens, self.steps, self.names
        while True:
            token, group = tokens[self.at], self.group
            kind = token.kind
            if kind in _OPERANDS:
                if group.closing == "}" or tokens[self.at + 1].kind in _BINDING:
                    self._operand(token)
                    continue
                # What `_operand` does for most: nothing belongs to the token, and no template ends behind it.
                if kind in _NAME:
                    names.append(token)
                steps.append(token)
                group.items.append(token)
                self.at += 1
            elif group.closing == "}":
                raise _MisplacedError
            elif kind == "OR" or kind == "->" or kind == group.closing or kind == "&":
                if self._end_alternative(token):
                    return Body(steps, names, group.first(), self.has_alias)
            elif kind in _CLOSING:
                self._open(token, _CLOSING[kind], [])
            elif kind == "~":
                self._negate(token)
            else:
                raise _MisplacedError

    def _open(self, bracket: Token, closing: str, heads: Firsts) -> None:
        """Begin a group with the next token, its bracket."""
        self._check_nesting(bracket)
        self.around.append(self.group)
        self.group = _Group(closing, heads)
        self.at += 1

    def _negate(self, tilde: Token) -> None:
        """The next token, which negates what stands behind it: a name, a literal or a group."""
        self.tokens[self.at] = tilde._replace(kind="NOT")
        self.at += 1
        token = self.tokens[self.at]
        if token.kind == "(":
            self._open(token, ")", [])
            self.group.negated = tilde
        elif token.kind in _OPERANDS:
            self._operand(token, tilde)
        else:
            raise _MisplacedError

    def _operand(self, token: Token, negated: Token | None = None) -> None:
        """The next token, a name or a literal, with what belongs to it, and the `~` in front of it."""
        tokens, at = self.tokens, self.at + 1
        self.at = at
        kind = token.kind
        step: Token | Operation = token
        if kind == "RULE" or kind == "TERMINAL":
            self.names.append(token)
            if kind == "RULE" and tokens[at].kind == "{":
                self._open(tokens[at], "}", [token])
                return
        elif kind == "STRING" and tokens[at].kind == ".." and tokens[at + 1].kind == "STRING":
            step = Operation("range", token, 0, [tokens[at + 1]])
            self.at = at + 2
        self.steps.append(step)
        if negated:
            self.steps.append(Operation("not", token, 1, [negated]))
        self._end_item(token)

    def _end_item(self, first: Token | None) -> None:
        """Behind an item that begins with `first`: the ends of templates whose last argument it is, and a repetition."""
        group = self.group
        group.items.append(first)
        while group.closing == "}":
            if not self._skip("}"):
                self._next(",")
                return
            first = group.heads[0]
            self.steps.append(Operation("use", first, len(group.items)))
            group = self.group = self.around.pop()
            group.items.append(first)
        operator = self.tokens[self.at]
        if operator.kind == "OP":
            self.at += 1
            self.steps.append(Operation("repeat", first, 1, [operator]))
        elif operator.kind == "~" and self.tokens[self.at + 1].kind == "NUMBER":
            self.steps.append(Operation("repeat", first, 1, self._bounds()))

    def _bounds(self) -> list[Token]:
        """Those of a repetition, with the tilde."""
        self._next("~")
        found = [self._next("NUMBER")]
        if self._skip(".."):
            found.append(self._next("NUMBER"))
        return found

    def _end_alternative(self, end: Token) -> bool:
        """The end of a sequence, before `&`, or of an alternative, and of the group whose last one it is. Whether that was the body."""
        group, alias = self.group, None
        self.at += 1
        if end.kind == "->":
            alias, self.has_alias = self._next("RULE"), True
            end = self._next("OR", group.closing)
        first = group.items[0] if group.items else None
        if len(group.items) != 1 or alias or self.steps[-1].kind in _NOT_ALONE:
            self.steps.append(_make(Operation, ("sequence", first, len(group.items), (), group.items, alias)))
        if group.joined or end.kind == "&":
            sign, first, count = group.joined or (end, first, 1)
            if not group.items:
                self.at -= 1
                raise _MisplacedError
            if end.kind == "&":
                group.joined, group.items = (sign, first, count + 1), []
                return False
            self.steps.append(Operation("and", first, count, [sign]))
            group.joined = None
        group.heads.append(first)
        if end.kind == "OR":
            group.items = []
            return False
        if len(group.heads) > 1:
            first = group.first()
            self.steps.append(Operation("alternatives", first, len(group.heads)))
        if group.closing == "]":
            self.steps.append(Operation("maybe", first, 1))
        if group.negated:
            self.steps.append(Operation("not", first, 1, [group.negated]))
        if not self.around:
            return True
        self.group = self.around.pop()
        self._end_item(first)
        return False

    def _check_nesting(self, bracket: Token) -> None:
        if len(self.around) >= self.max_nesting:
            raise LimitExceededError("max_regex_nesting", self.max_nesting, "brackets of the grammar", where=self.origin.place(bracket))
