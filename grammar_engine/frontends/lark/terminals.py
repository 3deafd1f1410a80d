"""Terminals to expressions.

Idea. The tree of a terminal is evaluated bottom-up, one expression per node; the terminals that it refers to come first. Expressions
are hash-consed by the builder, so a terminal that is used in many others costs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lark import Token, Tree

from ...ir import UNBOUNDED, Builder, Expr
from ...report import Entry, Report
from .literals import character_range, literal
from .loader import Definition, references
from .syntax import Node, Origin, subtrees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...limits import Limits

_LAZY = (
    'under lexing="exact" it is as good as a greedy one: the terminal may end at any match',
    'under lexing="longest" the terminal ends at its first match',
)
_BARE_OR = '/a|b/ "c" means (a|b)c here; Lark pastes the sources and gets a|bc'


@dataclass(frozen=True)
class Terminal:
    """An expression, and what `explain` and the lexer should know of it.

    Attributes
    ----------
    expr : Expr
    name : str or None
        The name of the terminal, or the literal as it is written; None for composed expressions.
    lazy : bool
        A lazy quantifier is in it.
    bare_or : bool
        It is nothing but a regular expression with a `|` outside of all groups.
    """

    expr: Expr
    name: str | None = None
    lazy: bool = False
    bare_or: bool = False


class Terminals:
    """Compiles terminals when they are asked for, each once."""

    def __init__(self, builder: Builder, definitions: dict[str, Definition], limits: Limits, report: Report) -> None:
        self._builder = builder
        self._definitions = definitions
        self._limits = limits
        self._report = report
        self._done: dict[str, Terminal] = {}

    @property
    def reached(self) -> set[str]:
        """Names of the definitions that were compiled."""
        return set(self._done)

    def named(self, name: str, token: Token, origin: Origin) -> Terminal:
        """The terminal with the key `name` among the definitions, used at `token`."""
        if name in self._done:
            return self._done[name]
        stack = [(name, self._uses(name, token, origin))]
        active = {name}
        while stack:
            name, uses = stack[-1]
            for token, origin in uses:
                key = origin.rename(token)
                if key in active:
                    raise origin.error(f"the terminal {token} contains itself; only rules can be recursive", token)
                if key not in self._done:
                    stack.append((key, self._uses(key, token, origin)))
                    active.add(key)
                    break
            else:
                self._done[name] = self._compile(self._definitions[name])
                active.discard(name)
                stack.pop()
        return self._done[name]

    def evaluate(self, tree: Node, origin: Origin) -> Terminal:
        """The alternatives in `tree` as one expression; the tree may stand outside of any definition."""
        for token in references(tree):
            if token.type == "TERMINAL":
                self.named(origin.rename(token), token, origin)
        values: dict[int, Terminal] = {}
        for node in subtrees(tree):
            values[id(node)] = self._node(node, [values.get(id(child), child) for child in node.children], origin)
        return values[id(tree)]

    def _uses(self, name: str, token: Token, origin: Origin) -> Iterator[tuple[Token, Origin]]:
        """The terminals in the definition of `name`, which is used at `token`."""
        definition = self._definitions[name]
        if not definition.bodies:
            raise origin.error(f"{token} is declared without a definition: nothing says which texts it stands for", token)
        return ((used, body) for tree, body in definition.bodies for used in references(tree) if used.type == "TERMINAL")

    def _compile(self, definition: Definition) -> Terminal:
        terminal = self._union([self.evaluate(tree, origin) for tree, origin in definition.bodies])
        if terminal.expr == self._builder.empty:
            raise definition.origin.error(f"the terminal {definition.token} has nothing in it", definition.token)
        return replace(terminal, name=definition.name)

    def _node(self, node: Node, values: list[Any], origin: Origin) -> Terminal:
        builder = self._builder
        if node.data == "expansions":
            return self._union(values)
        if node.data == "expansion":
            return self._concat(values, node, origin)
        if node.data == "value":
            inner: Terminal = values[0]
            return inner
        if node.data == "terminal":
            return self._done[origin.rename(values[0])]
        if node.data == "literal":
            found = literal(builder, values[0], origin, self._limits)
            if found.lazy:
                self._note("lazy quantifier", _LAZY[builder.longest], node, origin)
            return Terminal(found.expr, str(values[0]), found.lazy, found.bare_or)
        if node.data == "range":
            return Terminal(character_range(builder, values[0], values[1], origin), f"{values[0]}..{values[1]}")
        if node.data == "maybe":
            return Terminal(builder.optional(values[0].expr), lazy=values[0].lazy)
        if node.data == "expr":
            minimum, maximum = bounds(values[1:], origin)
            return Terminal(builder.repeat(values[0].expr, minimum, maximum), lazy=values[0].lazy)
        if node.data == "alias":
            raise origin.error("an alias names a tree; a terminal has none", _token(values[1]))
        raise origin.error("a rule cannot stand inside of a terminal", _token(node))

    def _union(self, values: list[Terminal]) -> Terminal:
        if len(values) == 1:
            return values[0]
        return Terminal(self._builder.union(*(v.expr for v in values)), lazy=any(v.lazy for v in values))

    def _concat(self, values: list[Terminal], node: Node, origin: Origin) -> Terminal:
        if len(values) == 1:
            return values[0]
        if any(v.bare_or for v in values):
            self._note("| in a regular expression", _BARE_OR, node, origin)
        return Terminal(self._builder.concat(*(v.expr for v in values)), lazy=any(v.lazy for v in values))

    def _note(self, keyword: str, detail: str, node: Node, origin: Origin) -> None:
        entry = Entry(origin.place_of(node), keyword, detail)
        if origin.module is None and entry not in self._report.notes:
            self._report.notes.append(entry)


def bounds(operator: list[Token], origin: Origin) -> tuple[int, int | None]:
    """Minimum and maximum of a repetition, from the tokens after its operand: `?`, `*`, `+`, `~ n` or `~ n .. m`."""
    if operator[0].type == "OP":
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[operator[0]]
    numbers = []
    for token in operator[1:]:
        if len(token) > 11 or not 0 <= int(token) < UNBOUNDED:
            raise origin.error(f"a bound of a repetition is a number from 0 to {UNBOUNDED - 1}", token)
        numbers.append(int(token))
    if numbers[-1] < numbers[0]:
        raise origin.error(f"a repetition from {numbers[0]} to {numbers[-1]} times: the bounds are the wrong way round", operator[1])
    return numbers[0], numbers[-1]


def _token(node: Node) -> Token:
    """The token of a name or a literal, the name of a template for its use."""
    while isinstance(node, Tree):
        node = node.children[0]
    assert isinstance(node, Token)
    return node
