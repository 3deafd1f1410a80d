"""Rules and templates to nonterminals.

Idea. A queue of what the start rule reaches. An entry is a rule with the values of its parameters (none for a plain rule): a
template is instantiated once per list of values, as in `sep{item, ","}`. The steps of a body are gone through with a stack: what stands in
brackets becomes a list of alternatives, each a list of symbols. A group in brackets becomes a nonterminal of its own only where it has to:
with more than one alternative, or under an operator. Equal groups share one nonterminal, also across rules, so they share parser rows.

A repetition stays one symbol, whatever its bounds. Rules and repetitions are kept
apart until the end, when `repetitions` has seen to those that are better made lexemes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import GrammarError, LimitExceededError
from ...ir import Builder, Symbol
from .repetitions import Repetition, join
from .syntax import Token
from .terminals import Terminals, bounds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ...limits import Limits
    from .literals import Terminal
    from .loader import Definition
    from .repetitions import Way
    from .syntax import Body, Operation, Origin

_MAX_NAME = 80  # characters in the name of an instance
_OF_TERMINALS = {"and": "&", "not": "~ before an item"}
_FIXED = ("STRING", "SPECIAL")  # literals of one text, or few

Joins = Callable[[Builder, "dict[Symbol, list[Way]]", "dict[Symbol, Repetition]", "Collection[Symbol]", Any], None]
Sequence = list[Symbol]
Alternatives = list[Sequence]
Argument = Any  # an int or a str: value of a parameter: a symbol, or the key of a template
Item = Any  # what stands on the stack for an item: an argument, or alternatives


class Rules:
    """Compiles the rules that a start rule reaches.

    Attributes
    ----------
    schemas : dict
        The JSON tokens that were met, with their origins, by the nonterminals that stand for them, which have no rules.
    lazy : dict
        The rules with attributes that were met, by their lexemes.
    """

    def __init__(self, builder: Builder, definitions: dict[str, Definition], terminals: Terminals, limits: Limits) -> None:
        self._builder = builder
        self._max_instances = limits.max_template_instances
        self._n_instances = 0  # of templates
        self._definitions = definitions
        self._terminals = terminals
        self._instances: dict[tuple[str, tuple[Argument, ...]], Symbol] = {}
        self._queue: deque[tuple[Definition, tuple[Argument, ...], Symbol]] = deque()
        self._rules: dict[Symbol, list[Way]] = {}  # by the left-hand side
        self._groups: dict[tuple[Way, ...], Symbol] = {}
        self._repetitions: dict[Repetition, Symbol] = {}
        self._lexemes: dict[tuple[int, bool], Symbol] = {}
        self._texts: dict[Symbol, None] = {}  # lexemes that are not only written as strings
        self._literals: dict[str, Symbol] = {}  # by how they are written
        self._names: dict[str, Argument] = {}  # of rules, templates and terminals that were met
        self.schemas: dict[Symbol, tuple[Token, Origin]] = {}
        self.lazy: dict[Symbol, Definition] = {}

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

    def write(self, questions: Any, join_by: Joins = join) -> None:
        """Give the builder, which has all lexemes, the rules of all that was compiled.
        With `questions`, what can be joined is by `join_by`, which asks them.
        """
        repetitions = {left: repetition for repetition, left in self._repetitions.items()}
        if questions:
            join_by(self._builder, self._rules, repetitions, self._texts.keys(), questions)
        for left, ways in self._rules.items():
            for way in ways:
                self._builder.rule(left, way)
        for left, (item, minimum, maximum) in repetitions.items():
            self._builder.repetition(left, item, None, minimum, maximum)

    # --- one rule ---------------------------------------------------------------------------------------------------

    def _compile(self, definition: Definition, arguments: tuple[Argument, ...], left: Symbol) -> None:
        environment = dict(zip(definition.params, arguments))
        name = f"group in {definition.name}"
        alternatives: Alternatives = []
        if definition.is_lazy:
            lexeme = self._lexeme(self._terminals.shortest(definition), definition.token, definition.origin, lazy=True)
            self.lazy.setdefault(lexeme, definition)
            self._add_rules(left, [(lexeme,)])
            return
        for body, origin in definition.bodies:
            alternatives += self._alternatives_of(body, environment, name, origin)
        self._add_rules(left, map(tuple, alternatives))

    def _alternatives_of(self, body: Body, environment: dict[str, Argument], name: str, origin: Origin) -> Alternatives:
        """The alternatives of a body whose groups are called `name`."""
        stack: list[Item] = []
        for step in body.steps:
            if isinstance(step, Token):
                symbol: Argument = self._literals.get(step.text)
                if symbol is None:
                    is_name = step.kind == "RULE" or step.kind == "TERMINAL"
                    symbol = self._reference(step, environment, origin) if is_name else self._literal(step, origin)
                stack.append(symbol)
                continue
            kind, first, size = step.kind, step.first, step.size
            if kind == "sequence":
                items = stack[len(stack) - size :]
                stack[len(stack) - size :] = [[self._concat(items, step.firsts, name, origin)]]
            elif kind == "alternatives":
                stack[-size:] = [[sequence for item in stack[-size:] for sequence in self._alternatives(item, None, origin)]]
            elif kind == "repeat":
                stack[-1] = self._repeat(stack[-1], step, name, origin)
            elif kind == "maybe":
                stack[-1] = self._optional(self._alternatives(stack[-1], first, origin), name, first, origin)
            elif kind in _OF_TERMINALS:
                raise origin.error(
                    f"{_OF_TERMINALS[kind]} stands in terminals alone: give this part a name in capital letters", step.details[0]
                )
            elif kind == "range":
                stack.append(self._lexeme(self._terminals.range(step, origin), first, origin))
            else:
                assert kind == "use" and first is not None
                stack[-size:] = [self._use_template(self._reference(first, environment, origin), tuple(stack[-size:]), first, origin)]
        return self._alternatives(stack.pop(), None, origin)

    def _concat(self, items: list[Item], firsts: Iterable[Token | None], name: str, origin: Origin) -> Sequence:
        if set(map(type, items)) == {int}:
            return items
        sequence: Sequence = []
        for item, first in zip(items, firsts):
            if isinstance(item, int):
                sequence.append(item)
                continue
            alternatives = self._alternatives(item, first, origin)
            if len(alternatives) == 1:
                sequence += alternatives[0]
            else:
                sequence.append(self._group(alternatives, name, first, origin))
        return sequence

    def _alternatives(self, item: Item, first: Token | None, origin: Origin) -> Alternatives:
        if isinstance(item, str):
            assert first is not None
            raise origin.error(f"the template {item} needs its arguments here", first)
        return [[item]] if isinstance(item, int) else item

    def _repeat(self, operand: Item, step: Operation, name: str, origin: Origin) -> Item:
        first = step.first
        alternatives = self._alternatives(operand, first, origin)
        minimum, maximum = bounds(step.details, origin)
        if maximum == 0:
            return [[]]
        if (minimum, maximum) == (1, 1):
            return alternatives if len(alternatives) == 1 else self._group(alternatives, name, first, origin)
        if (minimum, maximum) == (0, 1):
            return self._optional(alternatives, name, first, origin)
        item = self._single(alternatives, name, first, origin)
        key = Repetition(item, minimum, maximum)
        symbol = self._repetitions.get(key)
        if symbol is None:
            texts = [token.text for token in step.details]
            written = texts[0] if step.details[0].kind == "OP" else "~" + "..".join(texts)
            symbol = self._repetitions[key] = self._builder.nonterminal(self._name(item) + written, where=origin.place(first))
        return symbol

    # --- symbols ----------------------------------------------------------------------------------------------------

    def _reference(self, token: Token, environment: dict[str, Argument], origin: Origin) -> Argument:
        if token.text in environment:
            return environment[token.text]
        key = origin.rename(token.text)
        meaning = self._names.get(key)
        if meaning is None:
            definition = self._definitions[key]
            if definition.is_terminal:
                meaning = self._lexeme(self._terminals.named(key, token, origin), definition.token, definition.origin)
            else:
                meaning = key if definition.params else self._instance(definition, ())
            self._names[key] = meaning
        return meaning

    def _literal(self, token: Token, origin: Origin) -> Symbol:
        if token.kind == "JSON":
            symbol = self._literals[token.text] = self._schema(token, origin)
            return symbol
        terminal = self._terminals.literal(token, origin)
        symbol = self._lexeme(terminal, token, origin, is_string=token.kind in _FIXED)
        if not terminal.lazy:  # of lazy ones each place is noted
            self._literals[token.text] = symbol
        return symbol

    def _schema(self, token: Token, origin: Origin) -> Symbol:
        if self._builder.longest:
            reason = 'a JSON Schema stands only in a grammar with lexing="exact": what else may come does not change where its parts end'
            raise origin.error(reason, token)
        symbol = self._builder.nonterminal("%json", where=origin.place(token))
        self.schemas[symbol] = token, origin
        return symbol

    def _use_template(self, template: Argument, arguments: tuple[Argument, ...], token: Token, origin: Origin) -> Symbol:
        definition = self._definitions[template] if isinstance(template, str) else None
        if definition is None:
            raise origin.error(f"{token.text} is not a template", token)
        if len(arguments) != len(definition.params):
            raise origin.error(f"{token.text} takes {len(definition.params)} arguments, not {len(arguments)}", token)
        if (definition.name, arguments) not in self._instances:
            self._n_instances += 1
            if self._n_instances > self._max_instances:
                cause = f"instances of templates: does {token.text} use itself with ever larger arguments?"
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

    def _lexeme(self, terminal: Terminal, token: Token | None, origin: Origin, is_string: bool = False, lazy: bool = False) -> Symbol:
        """One lexeme per expression, named after its first use: two terminals that match the same texts are one."""
        key = (terminal.expr, lazy or (terminal.lazy and self._builder.longest))
        symbol = self._lexemes.get(key)
        if symbol is None:
            where = origin.place(token)
            symbol = self._lexemes[key] = self._builder.lexeme(terminal.expr, terminal.name or "terminal", where=where, lazy=key[1])
        if not is_string:
            self._texts[symbol] = None
        return symbol

    def _single(self, alternatives: Alternatives, name: str, first: Token | None, origin: Origin) -> Symbol:
        if len(alternatives) == 1 and len(alternatives[0]) == 1:
            return alternatives[0][0]
        return self._group(alternatives, name, first, origin)

    def _optional(self, alternatives: Alternatives, name: str, first: Token | None, origin: Origin) -> Symbol:
        if len(alternatives) == 1 and len(alternatives[0]) == 1:
            name = self._name(alternatives[0][0]) + "?"
        return self._group([*alternatives, []], name, first, origin)

    def _group(self, alternatives: Alternatives, name: str, first: Token | None, origin: Origin) -> Symbol:
        key = tuple(map(tuple, alternatives))
        symbol = self._groups.get(key)
        if symbol is None:
            symbol = self._groups[key] = self._builder.nonterminal(name, where=origin.place(first))
            self._add_rules(symbol, key)
        return symbol

    def _add_rules(self, left: Symbol, alternatives: Iterable[Way]) -> None:
        self._rules[left] = [*dict.fromkeys(alternatives)]

    def _name(self, symbol: Symbol) -> str:
        return (self._builder.nonterminals if symbol & 1 else self._builder.lexemes)[symbol >> 1].name
