"""The engines that are measured side by side, behind one small protocol.

    from engines import ENGINES, Source, installed, load
    from engines.tokenizer import Tokenizer

    engine = load("ours", Tokenizer.load("tekken-131k"))
    grammar = engine.compile(Source("regex", "[0-9]+"))      # raises RefusedError
    session = engine.session(grammar)                        # one text
    session.fill()                                           # the call that is timed
    session.allows(token), session.density(), session.accept(token)

    load("ours-without-slices+heirs", ...)                   # ours, with switches off

Idea. One file for each library. `fill` and `accept` are the library's own calls in the fastest form that it offers to Python, with nothing
of ours around them where that can be: `fill` writes the mask of the next token into a buffer that `allows` and `density` read.

Invariants.
- A library is imported when an engine is made, so that those which are not installed do no harm.
- Whatever a library prepares for a vocabulary is prepared when the engine is made, not when a grammar is compiled.
- One thread. All settings are the library's defaults but for what the name of the engine and its file say.
- What an engine cannot take, because of its kind or of what is in it, is a RefusedError; other exceptions are errors.
"""

from __future__ import annotations

import importlib.util
from dataclasses import fields
from typing import TYPE_CHECKING

from . import glrmask, grid, llguidance, ours, outlines, xgrammar
from .protocol import Engine, RefusedError, Session, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tokenizer import Tokenizer

__all__ = ["ENGINES", "Engine", "RefusedError", "Session", "Source", "installed", "load", "problem"]

WITHOUT = "ours-without-"

# Name: the module that must be there, what makes the engine for a tokenizer.
ENGINES: dict[str, tuple[str, Callable[[Tokenizer], Engine]]] = {
    "ours": ("grammar_engine", ours.Ours),
    "ours-cached": ("grammar_engine", ours.Cached),
    "llguidance": ("llguidance", llguidance.LLGuidance),
    "llguidance-template": ("llguidance", llguidance.Template),
    "xgrammar": ("xgrammar", xgrammar.XGrammar),
    "xgrammar-compliant": ("xgrammar", xgrammar.Compliant),
    "glrmask": ("glrmask", glrmask.GLRMask),
    "glrmask-trie": ("glrmask", glrmask.TokenTrie),
    "grid": ("grid", grid.Grid),
    "outlines": ("outlines_core", outlines.Outlines),
}


def installed(*kinds: str) -> list[str]:
    """The names of the engines that are here and take sources of one of these kinds, in the order of ENGINES."""
    return [name for name, (module, factory) in ENGINES.items() if importlib.util.find_spec(module) and not factory.kinds.isdisjoint(kinds)]


def problem(name: str, *kinds: str) -> str:
    """Why no engine of this name can be measured here over sources of these kinds; empty if one can. Ours may have switches off."""
    here = installed(*kinds)
    if name in here:
        return ""
    if name.startswith(WITHOUT):
        from grammar_engine import Switches

        switches = [field.name for field in fields(Switches)]
        unknown = [switch for switch in name.removeprefix(WITHOUT).split("+") if switch not in switches]
        return f"{name}: no switch {', '.join(map(repr, unknown))}; there are {', '.join(switches)}" if unknown else ""
    what = "is not installed, or does not take what is measured" if name in ENGINES else "is no engine"
    return f"{name!r} {what}; there are {', '.join(here)}, and {WITHOUT}SWITCH+SWITCH"


def load(name: str, tokenizer: Tokenizer) -> Engine:
    """The engine, ready for sources."""
    if name.startswith(WITHOUT):
        return ours.Without(tokenizer, name.removeprefix(WITHOUT).split("+"))
    return ENGINES[name][1](tokenizer)
