"""Terminals to expressions.

Idea. The steps of a terminal are gone through with a stack of expressions; the terminals that it refers to come first. Expressions
are hash-consed by the builder, so a terminal that is used in many others costs nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir import UNBOUNDED, Builder
from ...report import Entry, Report
from .. import set_operations
from .literals import Terminal, character_range, literal
from .special import MAX_ALL_IDS, special_tokens
from .syntax import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...limits import Limits
    from .loader import Definition
    from .syntax import Body, Origin, Token

_LAZY = (
    'under lexing="exact" it is as good as a greedy one: the terminal may end at any match',
    'under lexing="longest" the terminal ends at its first match',
)
_BOUNDS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_FOR_RULES = {"RULE": "a rule", "SPECIAL": "a special token", "JSON": "a JSON Schema"}
_BARE_OR = '/a|b/ "c" means (a|b)c here; Lark pastes the sources and gets a|bc'


class Terminals:
    """Compiles terminals when they are asked for, each once.

    Attributes
    ----------
    named_tokens : set of (str or int)
        The special tokens that rules were found to name.
    """

    def __init__(self, builder: Builder, definitions: dict[str, Definition], limits: Limits, report: Report) -> None:
        self._builder = builder
        self._definitions = definitions
        self._limits = limits
        self._report = report
        self._done: dict[str, Terminal] = {}
        self._literals: dict[str, Terminal] = {}  # by how they are written
        self._noted: set[Entry] = set()
        self.named_tokens: set[str | int] = set()
        self._n_special = 0  # in all places

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
                key = origin.rename(token.text)
                if key in active:
                    raise origin.error(f"the terminal {token.text} contains itself; only rules can be recursive", token)
                if key not in self._done:
                    stack.append((key, self._uses(key, token, origin)))
                    active.add(key)
                    break
            else:
                self._done[name] = self._compile(self._definitions[name])
                active.discard(name)
                stack.pop()
        return self._done[name]

    def shortest(self, definition: Definition) -> Terminal:
        """A rule with attributes: the expression of which it is the shortest texts."""
        terminal = self._union([self.evaluate(body, origin, is_lazy=True) for body, origin in definition.bodies])
        return terminal._replace(name=definition.name)

    def evaluate(self, body: Body, origin: Origin, *, is_lazy: bool = False) -> Terminal:
        """The alternatives in `body` as one expression; it may stand outside of any definition. `is_lazy`: of a rule with attributes."""
        for token in body.names:
            if token.kind == "TERMINAL":
                self.named(origin.rename(token.text), token, origin)
        stack: list[Terminal] = []
        for step in body.steps:
            if isinstance(step, Operation):
                begin = len(stack) - step.size
                stack[begin:] = [self._made(step, stack[begin:], origin)]
            elif step.kind == "TERMINAL":
                stack.append(self._done[origin.rename(step.text)])
            elif step.kind in _FOR_RULES:
                place = "a rule with attributes, which is one terminal" if is_lazy else "a terminal"
                raise origin.error(f"{_FOR_RULES[step.kind]} cannot stand inside of {place}", step)
            else:
                stack.append(self._written(step, origin) if is_lazy else self.literal(step, origin))
        return stack.pop()

    def literal(self, token: Token, origin: Origin) -> Terminal:
        """A string, a regular expression or, in a rule, a special token."""
        if token.kind == "SPECIAL":
            return self.special(token, origin)
        terminal = self._written(token, origin)
        if terminal.lazy:
            self._note("lazy quantifier", _LAZY[self._builder.longest], token, origin)
        return terminal

    def _written(self, token: Token, origin: Origin) -> Terminal:
        """A string or a regular expression."""
        terminal = self._literals.get(token.text)
        if terminal is None:
            terminal = self._literals[token.text] = literal(self._builder, token, origin, self._limits)
        for at, what in terminal.operations:
            self._note(set_operations.KEYWORD, what, token._replace(start=token.start + at), origin)
        return terminal

    def special(self, token: Token, origin: Origin) -> Terminal:
        """Any of the special tokens that a SPECIAL token names."""
        tokens = special_tokens(token, origin)
        self._n_special += len(tokens)
        if self._n_special > MAX_ALL_IDS:
            raise origin.error(f"more than {MAX_ALL_IDS:,} special tokens in all places together", token)
        self.named_tokens.update(special.key for special in tokens)
        return Terminal(self._builder.literals(special.spelling for special in tokens), token.text)

    def range(self, step: Operation, origin: Origin) -> Terminal:
        """One of the characters between two."""
        first, last = step.first, step.details[0]
        assert first is not None
        return Terminal(character_range(self._builder, first, last, origin), f"{first.text}..{last.text}")

    def _uses(self, name: str, token: Token, origin: Origin) -> Iterator[tuple[Token, Origin]]:
        """The terminals in the definition of `name`, which is used at `token`."""
        definition = self._definitions[name]
        if not definition.bodies:
            raise origin.error(f"{token.text} is declared without a definition: nothing says which texts it stands for", token)
        return ((used, origin) for body, origin in definition.bodies for used in body.names if used.kind == "TERMINAL")

    def _compile(self, definition: Definition) -> Terminal:
        terminal = self._union([self.evaluate(body, origin) for body, origin in definition.bodies])
        if terminal.expr == self._builder.empty:
            raise definition.origin.error(f"the terminal {definition.token.text} has nothing in it", definition.token)
        return terminal._replace(name=definition.name)

    def _made(self, step: Operation, operands: list[Terminal], origin: Origin) -> Terminal:
        builder = self._builder
        if step.alias:
            raise origin.error("an alias names a tree; a terminal has none", step.alias)
        if step.kind == "alternatives":
            return self._union(operands)
        if step.kind == "and":
            return Terminal(builder.intersect(*(operand.expr for operand in operands)), lazy=any(operand.lazy for operand in operands))
        if step.kind == "not":
            return Terminal(builder.text_minus(operands[0].expr), lazy=operands[0].lazy)
        if step.kind == "sequence":
            return self._concat(operands, step.first, origin)
        if step.kind == "maybe":
            return Terminal(builder.optional(operands[0].expr), lazy=operands[0].lazy)
        if step.kind == "repeat":
            minimum, maximum = bounds(step.details, origin)
            return Terminal(builder.repeat(operands[0].expr, minimum, maximum), lazy=operands[0].lazy)
        if step.kind == "range":
            return self.range(step, origin)
        assert step.kind == "use" and step.first is not None
        raise origin.error("a rule cannot stand inside of a terminal", step.first)

    def _union(self, values: list[Terminal]) -> Terminal:
        if len(values) == 1:
            return values[0]
        return Terminal(self._builder.union(*(v.expr for v in values)), lazy=any(v.lazy for v in values))

    def _concat(self, values: list[Terminal], first: Token | None, origin: Origin) -> Terminal:
        if len(values) == 1:
            return values[0]
        if any(v.bare_or for v in values):
            self._note("| in a regular expression", _BARE_OR, first, origin)
        return Terminal(self._builder.concat(*(v.expr for v in values)), lazy=any(v.lazy for v in values))

    def _note(self, keyword: str, detail: str, token: Token | None, origin: Origin) -> None:
        entry = Entry(origin.place(token), keyword, detail)
        if origin.module is None and entry not in self._noted:
            self._noted.add(entry)
            self._report.notes.append(entry)


def bounds(operator: Sequence[Token], origin: Origin) -> tuple[int, int | None]:
    """Minimum and maximum of a repetition, from its tokens:
    `?`, `*` or `+`, or one or two numbers, or (in GBNF) the least number and `*`.
    """
    if operator[0].kind == "OP":
        return _BOUNDS[operator[0].text]
    is_open = operator[-1].kind == "OP"
    numbers = []
    for token in operator[:-1] if is_open else operator:
        if len(token.text) > 11 or not 0 <= int(token.text) < UNBOUNDED:
            raise origin.error(f"a bound of a repetition is a number from 0 to {UNBOUNDED - 1}", token)
        numbers.append(int(token.text))
    if numbers[-1] < numbers[0]:
        raise origin.error(f"a repetition from {numbers[0]} to {numbers[-1]} times: the bounds are the wrong way round", operator[0])
    return numbers[0], None if is_open else numbers[-1]
