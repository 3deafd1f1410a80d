"""Statements to one dictionary of definitions: imports, `%override`, `%extend`, `%ignore`, and the check for undefined names.

Idea. Definitions stay trees; each body keeps its `Origin`, which knows the text that its tokens point into and what its names mean.
Names follow Lark: an imported name takes the name it is imported as, all other names of the imported grammar are prefixed
with that grammar's (`common__DIGIT`), so that overriding an imported name also changes the imported rules that use it.

Invariant. After `load` every name in every body is defined or is a parameter of the template that the body belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from lark import Token, Tree

from ...limits import Limits
from ...report import Entry, Report
from . import bundled
from .syntax import Node, Origin, parse, subtrees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Definition:
    """A rule, a template or a terminal.

    Attributes
    ----------
    name : str
        Its key in the dictionary of definitions.
    token : Token
        Its name where it is defined.
    origin : Origin
        The text that `token` is in.
    params : tuple of str
        Parameters of a template.
    bodies : list of (Node, Origin)
        Trees `expansions`: its alternatives. More than one after `%extend`, none after `%declare`.
    """

    name: str
    token: Token
    origin: Origin
    params: tuple[str, ...] = ()
    bodies: list[tuple[Node, Origin]] = field(default_factory=list)

    @property
    def is_terminal(self) -> bool:
        """Whether it is a terminal, and not a rule or a template."""
        return self.token.type == "TERMINAL"

    @property
    def place(self) -> str:
        """Where its name is defined: "line:column"."""
        return self.origin.place(self.token)


@dataclass
class Source:
    """A grammar with all that it imports: definitions by name, and the expressions after `%ignore`."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    ignored: list[tuple[Node, Origin]] = field(default_factory=list)


def load(text: str, limits: Limits, report: Report) -> Source:
    """Read a grammar and what it imports; priorities and the like go to `report`."""
    source = Source()
    loader = _Loader(source, limits, report)
    origin = Origin(text, None, lambda name: name)
    loader.load(parse(text, limits), origin)
    undefined = loader.undefined + _undefined(source, origin)
    if undefined:
        names = list(dict.fromkeys(str(token) for token in undefined))
        first = min(undefined, key=lambda token: token.start_pos or 0)
        raise origin.error(f"not defined: {', '.join(names)}", first)
    return source


def references(tree: Node) -> Iterator[Token]:
    """The names used in a tree of alternatives."""
    for node in subtrees(tree):
        if node.data in ("terminal", "nonterminal"):
            yield node.children[0]


def _undefined(source: Source, user: Origin) -> list[Token]:
    bodies = [(tree, origin, d.params) for d in source.definitions.values() for tree, origin in d.bodies]
    bodies += [(tree, origin, ()) for tree, origin in source.ignored]
    return [
        name
        for tree, origin, params in bodies
        if origin is user
        for name in references(tree)
        if name not in params and origin.rename(name) not in source.definitions
    ]


@cache
def _bundled_statements(module: str) -> tuple[tuple[Node, ...], str, tuple[Node, ...]]:
    limits = Limits()
    rewritten = bundled.rewritten(module)
    return tuple(parse(bundled.text_of(module), limits)), rewritten, tuple(parse(rewritten, limits))


class _Loader:
    def __init__(self, source: Source, limits: Limits, report: Report) -> None:
        self.source = source
        self.limits = limits
        self.report = report
        self.undefined: list[Token] = []  # imported names that the imported grammar does not define

    def load(self, statements: list[Node], origin: Origin) -> None:
        """Statements of one text, its imports first (as Lark does)."""
        self._import_all([s for s in statements if s.data == "import"], origin)
        shaped = False
        for statement in statements:
            kind, child = statement.data, statement.children[0]
            if kind in ("rule", "term"):
                self._define(_definition(statement, origin))
                shaped = shaped or _shapes_trees(statement)
            elif kind == "override":
                self._override(_definition(child, origin))
            elif kind == "extend":
                self._extend(_definition(child, origin))
            elif kind == "ignore" and origin.module is None:
                self.source.ignored.append((child, origin))
            elif kind == "declare":
                self._declare(statement, origin)
            if origin.module is None and kind in ("rule", "term", "override", "extend"):
                self._note_priority(statement if kind in ("rule", "term") else child, origin)
        if shaped and origin.module is None:
            detail = "they shape the trees of Lark; no text is accepted or refused by them"
            self.report.annotations.append(Entry("", "aliases, ? and !", detail))

    # --- imports ----------------------------------------------------------------------------------------------------

    def _import_all(self, statements: list[Node], origin: Origin) -> None:
        wanted: dict[str, dict[str, Token]] = {}  # module -> name there -> name here
        for statement in statements:
            module, names = _import_names(statement, origin)
            wanted.setdefault(module, {}).update(names)
        for module, names in wanted.items():
            self._import(module, names, origin)

    def _import(self, module: str, names: dict[str, Token], importer: Origin) -> None:
        statements, new_text, new_statements = _bundled_statements(module)
        rename = _renaming(module, {name: str(alias) for name, alias in names.items()}, importer.rename)
        for alias in names.values():
            if importer.rename(alias) in self.source.definitions:
                raise importer.error(f"{alias} is imported twice, from different grammars", alias)
        self.load(list(statements), Origin(bundled.text_of(module), module, rename))
        for statement in new_statements:
            self._override(_definition(statement, Origin(new_text, module, rename)))
        for name, alias in names.items():
            if importer.rename(alias) not in self.source.definitions:
                self.undefined.append(alias)
            elif importer.module is None and (module, name) in bundled.DROPPED:
                self.report.notes.append(Entry(importer.place(alias), f"{module}.{name}", bundled.DROPPED[module, name]))

    # --- definitions ------------------------------------------------------------------------------------------------

    def _define(self, new: Definition) -> None:
        if new.name in self.source.definitions:
            before = self.source.definitions[new.name].place
            reason = f"{new.token} is defined twice (first at {before}); %override and %extend change a definition"
            raise new.origin.error(reason, new.token)
        self.source.definitions[new.name] = new

    def _override(self, new: Definition) -> None:
        if new.name not in self.source.definitions:
            raise new.origin.error(f"there is no {new.token} to override", new.token)
        self.source.definitions[new.name] = new

    def _extend(self, new: Definition) -> None:
        old = self.source.definitions.get(new.name)
        if old is None or not old.bodies:
            raise new.origin.error(f"there is no {new.token} to extend", new.token)
        if new.params != old.params:
            raise new.origin.error(f"{new.token} is extended with other parameters than it is defined with", new.token)
        old.bodies += new.bodies

    def _declare(self, statement: Node, origin: Origin) -> None:
        for symbol in statement.children:
            name = symbol.children[0]
            if origin.module is None:
                raise origin.error(f"{name} is declared without a definition: nothing says which texts it stands for", name)
            self._define(Definition(str(origin.rename(name)), name, origin))

    def _note_priority(self, definition: Node, origin: Origin) -> None:
        numbers = definition.children[3].children if definition.data == "rule" else definition.children[1:-1]
        for number in numbers:
            detail = "it chooses between parses; no text is accepted or refused by it"
            self.report.notes.append(Entry(origin.place(number), f"priority {number}", detail))


def _shapes_trees(statement: Node) -> bool:
    return any(node.data == "alias" or (node.data == "rule_modifiers" and node.children) for node in subtrees(statement))


def _definition(statement: Node, origin: Origin) -> Definition:
    if statement.data == "term":
        name, params, body = statement.children[0], [], statement.children[-1]
    else:
        _modifiers, name, parameters, _priority, body = statement.children
        params = parameters.children
        for i, param in enumerate(params):
            if param in params[:i]:
                raise origin.error(f"the parameter {param} appears twice", param)
    return Definition(str(origin.rename(name)), name, origin, tuple(str(p) for p in params), [(body, origin)])


def _import_names(statement: Node, origin: Origin) -> tuple[str, dict[str, Token]]:
    path, what = statement.children[0], statement.children[1:]
    parts: list[Token] = list(path.children)
    if what and isinstance(what[0], Tree):
        children: list[Any] = what[0].children
        names = {str(name): name for name in children}
    else:
        name = parts.pop()
        names = {str(name): what[0] if what else name}
        if what and what[0].type != name.type:
            raise origin.error("a terminal keeps a name in capitals when it is imported, a rule one in small letters", what[0])
    first = parts[0] if parts else name
    module = ".".join(parts)
    if path.data == "import_rel" or module not in bundled.MODULES:
        known = ", ".join(bundled.MODULES)
        raise origin.error(f"only the grammars that come with Lark can be imported ({known}), as in %import common.INT", first)
    return module, names


def _renaming(module: str, aliases: dict[str, str], outer: Callable[[str], str]) -> Callable[[str], str]:
    def rename(name: str) -> str:
        if name in aliases:
            return outer(aliases[name])
        return outer(f"_{module}__{name[1:]}" if name.startswith("_") else f"{module}__{name}")

    return rename
