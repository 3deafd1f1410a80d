"""Rules and templates to nonterminals.

Idea. A queue of what the start rule reaches. An entry is a rule with the values of its parameters (none for a plain rule): a
template is instantiated once per list of values, as in `sep{item, ","}`. A body is evaluated bottom-up: a node becomes a list of
alternatives, each a list of symbols. A group in brackets becomes a nonterminal of its own only where it has to: with more than
one alternative, or under an operator. Equal groups share one nonterminal, also across rules, so they share parser rows.

Repetition stays one symbol, `Builder.list_of`, whatever its bounds.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ...errors import GrammarError, LimitExceededError
from ...ir import Builder, Symbol
from .syntax import Node, Origin, subtrees
from .terminals import Terminal, Terminals, bounds

if TYPE_CHECKING:
    from lark import Token

    from ...limits import Limits
    from .loader import Definition

_MAX_NAME = 80  # characters in the name of an instance

Sequence = list[Symbol]
Alternatives = list[Sequence]
Argument = Any  # an int or a str: value of a parameter: a symbol, or the key of a template


class Rules:
    """Compiles the rules that a start rule reaches."""

    def __init__(self, builder: Builder, definitions: dict[str, Definition], terminals: Terminals, limits: Limits) -> None:
        self._builder = builder
        self._max_instances = limits.max_template_instances
        self._n_instances = 0  # of templates
        self._definitions = definitions
        self._terminals = terminals
        self._instances: dict[tuple[str, tuple[Argument, ...]], Symbol] = {}
        self._queue: deque[tuple[Definition, tuple[Argument, ...], Symbol]] = deque()
        self._groups: dict[tuple[tuple[Symbol, ...], ...], Symbol] = {}
        self._lists: dict[tuple[Symbol, int, int | None], Symbol] = {}
        self._lexemes: dict[tuple[int, bool], Symbol] = {}

    @property
    def reached(self) -> set[str]:
        """Names of the definitions that were compiled."""
        return {name for name, _arguments in self._instances}

    def compile(self, start: str) -> Symbol:
        """All that the rule `start` reaches; returns its symbol."""
        definition = self._definitions.get(start)
        if definition is None or definition.is_terminal or definition.params:
            what = "no rule" if definition is None else "no plain rule, but a template or a terminal,"
            raise GrammarError(f"there is {what} named {start!r}, which is to be the start of the grammar")
        symbol = self._instance(definition, ())
        while self._queue:
            definition, arguments, left = self._queue.popleft()
            self._compile(definition, arguments, left)
        return symbol

    # --- one rule ---------------------------------------------------------------------------------------------------

    def _compile(self, definition: Definition, arguments: tuple[Argument, ...], left: Symbol) -> None:
        environment = dict(zip(definition.params, arguments))
        alternatives: Alternatives = []
        for tree, origin in definition.bodies:
            values: dict[int, Any] = {}
            for node in subtrees(tree):
                values[id(node)] = self._node(node, [values.get(id(c), c) for c in node.children], environment, definition, origin)
            alternatives += values[id(tree)]
        self._add_rules(left, alternatives)

    def _node(self, node: Node, values: list[Any], environment: dict[str, Argument], definition: Definition, origin: Origin) -> Any:
        """Value of a node: alternatives for groups and items, an argument for names, a token for leaves of operators."""
        kind = node.data
        if kind == "expansions":
            return [sequence for alternatives in values for sequence in alternatives]
        if kind == "expansion":
            return [self._concat(values, node, definition, origin)]
        if kind == "alias":
            return values[0]
        if kind == "maybe":
            return [[self._optional(values[0], f"group in {definition.name}", origin.place_of(node))]]
        if kind == "expr":
            return self._repeat(values, node, definition, origin)
        if kind == "value":
            return values[0]
        if kind in ("terminal", "nonterminal"):
            return self._reference(values[0], environment, origin)
        if kind == "template_usage":
            return self._use_template(values, node.children[0].children[0], origin)
        terminal = self._terminals.evaluate(node, origin)
        return self._lexeme(terminal, origin.place_of(node))

    def _concat(self, items: list[Any], node: Node, definition: Definition, origin: Origin) -> Sequence:
        sequence: Sequence = []
        for item, child in zip(items, node.children):
            alternatives = self._alternatives(item, child, origin)
            if len(alternatives) == 1:
                sequence += alternatives[0]
            else:
                sequence.append(self._group(alternatives, f"group in {definition.name}", origin.place_of(child)))
        return sequence

    def _alternatives(self, item: Any, node: Node, origin: Origin) -> Alternatives:
        if isinstance(item, str):
            raise origin.error(f"the template {item} needs its arguments here", node.children[0].children[0])
        return [[item]] if isinstance(item, int) else item

    def _repeat(self, values: list[Any], node: Node, definition: Definition, origin: Origin) -> Alternatives:
        alternatives = self._alternatives(values[0], node.children[0], origin)
        minimum, maximum = bounds(values[1:], origin)
        place, name = origin.place_of(node), f"group in {definition.name}"
        if maximum == 0:
            return [[]]
        if (minimum, maximum) == (1, 1):
            return alternatives
        if (minimum, maximum) == (0, 1):
            return [[self._optional(alternatives, name, place)]]
        item = self._single(alternatives, name, place)
        key = (item, minimum, maximum)
        if key not in self._lists:
            written = "".join(values[1:]) if values[1].type == "OP" else "~" + "..".join(values[2:])
            self._lists[key] = self._builder.list_of(item, None, minimum, maximum, self._name(item) + written, where=place)
        return [[self._lists[key]]]

    # --- symbols ----------------------------------------------------------------------------------------------------

    def _reference(self, token: Token, environment: dict[str, Argument], origin: Origin) -> Argument:
        if token in environment:
            return environment[token]
        key = origin.rename(token)
        definition = self._definitions[key]
        if definition.is_terminal:
            return self._lexeme(self._terminals.named(key, token, origin), definition.place)
        return key if definition.params else self._instance(definition, ())

    def _use_template(self, values: list[Any], token: Token, origin: Origin) -> Symbol:
        template, arguments = values[0], tuple(values[1:])
        definition = self._definitions[template] if isinstance(template, str) else None
        if definition is None:
            raise origin.error(f"{token} is not a template", token)
        if len(arguments) != len(definition.params):
            raise origin.error(f"{token} takes {len(definition.params)} arguments, not {len(arguments)}", token)
        if (definition.name, arguments) not in self._instances:
            self._n_instances += 1
            if self._n_instances > self._max_instances:
                cause = f"instances of templates: does {token} use itself with ever larger arguments?"
                raise LimitExceededError("max_template_instances", self._max_instances, cause, where=origin.place(token))
        return self._instance(definition, arguments)

    def _instance(self, definition: Definition, arguments: tuple[Argument, ...]) -> Symbol:
        key = (definition.name, arguments)
        if key not in self._instances:
            name = definition.name
            if arguments:
                name += "{" + ", ".join(a if isinstance(a, str) else self._name(a) for a in arguments) + "}"
            name = name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 3] + "..."
            self._instances[key] = self._builder.nonterminal(name, where=definition.place)
            self._queue.append((definition, arguments, self._instances[key]))
        return self._instances[key]

    def _lexeme(self, terminal: Terminal, place: str) -> Symbol:
        """One lexeme per expression, named after its first use: two terminals that match the same texts are one."""
        key = (terminal.expr, terminal.lazy and self._builder.longest)
        if key not in self._lexemes:
            self._lexemes[key] = self._builder.lexeme(terminal.expr, terminal.name or "terminal", where=place, lazy=key[1])
        return self._lexemes[key]

    def _single(self, alternatives: Alternatives, name: str, place: str) -> Symbol:
        if len(alternatives) == 1 and len(alternatives[0]) == 1:
            return alternatives[0][0]
        return self._group(alternatives, name, place)

    def _optional(self, alternatives: Alternatives, name: str, place: str) -> Symbol:
        if len(alternatives) == 1 and len(alternatives[0]) == 1:
            name = self._name(alternatives[0][0]) + "?"
        return self._group([*alternatives, []], name, place)

    def _group(self, alternatives: Alternatives, name: str, place: str) -> Symbol:
        key = tuple(tuple(sequence) for sequence in alternatives)
        if key not in self._groups:
            self._groups[key] = self._builder.nonterminal(name, where=place)
            self._add_rules(self._groups[key], alternatives)
        return self._groups[key]

    def _add_rules(self, left: Symbol, alternatives: Alternatives) -> None:
        for sequence in dict.fromkeys(tuple(sequence) for sequence in alternatives):
            self._builder.rule(left, sequence)

    def _name(self, symbol: Symbol) -> str:
        return (self._builder.nonterminals if symbol & 1 else self._builder.lexemes)[symbol >> 1].name
