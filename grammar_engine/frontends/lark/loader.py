"""Statements to one dictionary of definitions: imports, `%override`, `%extend`, `%ignore`, and the check for undefined names.

Idea. Definitions stay as they were read; each body keeps its `Origin`, which knows the text that its tokens point into and what its names
mean. Names follow Lark: an imported name takes the name it is imported as, all other names of the imported grammar are prefixed
with that grammar's (`common__DIGIT`), so that overriding an imported name also changes the imported rules that use it.

Invariant. After `load` every name in every body is defined or is a parameter of the template that the body belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from ...errors import listed
from ...limits import Limits
from ...report import Entry, Report
from . import bundled
from .reader import read
from .syntax import Body, Declare, Define, Ignore, Import, Options, Origin, Statement, Token

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
    bodies : list of (Body, Origin)
        Its alternatives. More than one after `%extend`, none after `%declare`.
    is_lazy : bool
        A rule with attributes: one terminal, of which the shortest texts count.
    """

    name: str
    token: Token
    origin: Origin
    params: tuple[str, ...] = ()
    bodies: list[tuple[Body, Origin]] = field(default_factory=list)
    is_lazy: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether it is a terminal, and not a rule or a template."""
        return self.token.kind == "TERMINAL"

    @property
    def place(self) -> str:
        """Where its name is defined: "line:column"."""
        return self.origin.place(self.token)


@dataclass
class Source:
    """A grammar with all that it imports: definitions by name, and the expressions after `%ignore`."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    ignored: list[tuple[Body, Origin]] = field(default_factory=list)


def load(text: str, limits: Limits, report: Report) -> Source:
    """Read a grammar and what it imports; priorities and the like go to `report`."""
    source = Source()
    loader = _Loader(source, limits, report)
    origin = Origin(text, None, lambda name: name)
    loader.load(read(text, limits), origin)
    undefined = loader.undefined + _undefined(source, origin)
    if undefined:
        names = list(dict.fromkeys(token.text for token in undefined))
        first = min(undefined, key=lambda token: token.start)
        raise origin.error(f"not defined: {listed(names)}", first)
    return source


def _undefined(source: Source, user: Origin) -> list[Token]:
    bodies = [(body, origin, d.params) for d in source.definitions.values() for body, origin in d.bodies]
    bodies += [(body, origin, ()) for body, origin in source.ignored]
    return [
        name
        for body, origin, params in bodies
        if origin is user
        for name in body.names
        if name.text not in source.definitions and name.text not in params
    ]


@cache
def _bundled_statements(module: str) -> tuple[list[Statement], str, list[Statement]]:
    limits = Limits()
    rewritten = bundled.rewritten(module)
    return read(bundled.text_of(module), limits), rewritten, read(rewritten, limits)


class _Loader:
    def __init__(self, source: Source, limits: Limits, report: Report) -> None:
        self.source = source
        self.limits = limits
        self.report = report
        self.undefined: list[Token] = []  # imported names that the imported grammar does not define

    def load(self, statements: Sequence[Statement], origin: Origin) -> None:
        """Statements of one text, its imports first (as Lark does)."""
        self._import_all([s for s in statements if isinstance(s, Import)], origin)
        is_shaped = False
        for statement in statements:
            if isinstance(statement, Define):
                change = {"": self._define, "%override": self._override, "%extend": self._extend}[statement.change]
                change(_definition(statement, origin))
                is_shaped = is_shaped or statement.is_shaped
                if statement.priority and origin.module is None:
                    self._note_priority(statement.priority, origin)
            elif isinstance(statement, Ignore) and origin.module is None:
                if statement.body.first is None:
                    raise origin.error("there is nothing after %ignore", statement.token)
                self.source.ignored.append((statement.body, origin))
            elif isinstance(statement, Declare):
                self._declare(statement, origin)
            elif isinstance(statement, Options):
                detail = "it has no option that changes which texts there are"
                self.report.annotations.append(Entry(origin.place(statement.token), "%llguidance", detail))
        if is_shaped and origin.module is None:
            detail = "they shape the trees of Lark; no text is accepted or refused by them"
            self.report.annotations.append(Entry("", "aliases, ? and !", detail))

    # --- imports ----------------------------------------------------------------------------------------------------

    def _import_all(self, statements: list[Import], origin: Origin) -> None:
        wanted: dict[str, dict[str, Token]] = {}  # module -> name there -> name here
        for statement in statements:
            module, names = _import_names(statement, origin)
            wanted.setdefault(module, {}).update(names)
        for module, names in wanted.items():
            self._import(module, names, origin)

    def _import(self, module: str, names: dict[str, Token], importer: Origin) -> None:
        statements, new_text, new_statements = _bundled_statements(module)
        rename = _renaming(module, {name: alias.text for name, alias in names.items()}, importer.rename)
        taken: set[str] = set()
        for alias in names.values():
            if alias.text in taken:
                raise importer.error(f"{alias.text} is the name of two imports", alias)
            if importer.rename(alias.text) in self.source.definitions:
                raise importer.error(f"{alias.text} is imported twice, from different grammars", alias)
            taken.add(alias.text)
        self.load(statements, Origin(bundled.text_of(module), module, rename))
        new_origin = Origin(new_text, module, rename)
        for statement in new_statements:
            if isinstance(statement, Define):
                self._override(_definition(statement, new_origin))
        for name, alias in names.items():
            if importer.rename(alias.text) not in self.source.definitions:
                self.undefined.append(alias)
            elif importer.module is None and (module, name) in bundled.DROPPED:
                self.report.notes.append(Entry(importer.place(alias), f"{module}.{name}", bundled.DROPPED[module, name]))

    # --- definitions ------------------------------------------------------------------------------------------------

    def _define(self, new: Definition) -> None:
        if new.name in self.source.definitions:
            before = self.source.definitions[new.name].place
            reason = f"{new.token.text} is defined twice (first at {before}); %override and %extend change a definition"
            raise new.origin.error(reason, new.token)
        self.source.definitions[new.name] = new

    def _override(self, new: Definition) -> None:
        if new.name not in self.source.definitions:
            raise new.origin.error(f"there is no {new.token.text} to override", new.token)
        self.source.definitions[new.name] = new

    def _extend(self, new: Definition) -> None:
        old = self.source.definitions.get(new.name)
        if old is None or not old.bodies:
            raise new.origin.error(f"there is no {new.token.text} to extend", new.token)
        if new.params != old.params:
            raise new.origin.error(f"{new.token.text} is extended with other parameters than it is defined with", new.token)
        if new.is_lazy != old.is_lazy:
            raise new.origin.error(f"{new.token.text} is extended with attributes, or without those that it has", new.token)
        old.bodies += new.bodies

    def _declare(self, statement: Declare, origin: Origin) -> None:
        for name in statement.names:
            if origin.module is None:
                raise origin.error(f"{name.text} is declared without a definition: nothing says which texts it stands for", name)
            self._define(Definition(origin.rename(name.text), name, origin))

    def _note_priority(self, number: Token, origin: Origin) -> None:
        detail = "it chooses between parses; no text is accepted or refused by it"
        self.report.notes.append(Entry(origin.place(number), f"priority {number.text}", detail))


def _definition(statement: Define, origin: Origin) -> Definition:
    params: dict[str, None] = {}
    for param in statement.params:
        if param.text in params:
            raise origin.error(f"the parameter {param.text} appears twice", param)
        params[param.text] = None
    name = statement.name
    return Definition(origin.rename(name.text), name, origin, tuple(params), [(statement.body, origin)], statement.is_lazy)


def _import_names(statement: Import, origin: Origin) -> tuple[str, dict[str, Token]]:
    """The module, and of each name that it has the one by which it is imported."""
    parts, alias = statement.path, statement.alias
    first = parts[0]
    if statement.names:
        names = {name.text: name for name in statement.names}
    else:
        *parts, name = parts
        names = {name.text: alias or name}
        if alias and alias.kind != name.kind:
            raise origin.error("a terminal keeps a name in capitals when it is imported, a rule one in small letters", alias)
    module = ".".join(part.text for part in parts)
    if statement.is_relative or module not in bundled.MODULES:
        known = ", ".join(bundled.MODULES)
        raise origin.error(f"only the grammars that come with Lark can be imported ({known}), as in %import common.INT", first)
    return module, names


def _renaming(module: str, aliases: dict[str, str], outer: Callable[[str], str]) -> Callable[[str], str]:
    def rename(name: str) -> str:
        if name in aliases:
            return outer(aliases[name])
        return outer(f"_{module}__{name[1:]}" if name.startswith("_") else f"{module}__{name}")

    return rename
