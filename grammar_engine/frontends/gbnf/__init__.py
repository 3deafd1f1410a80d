"""GBNF, the grammars of llama.cpp: from text to the grammar IR.

Idea. What is read is what the Lark front end reads, in another spelling: rules, with repetitions and groups, over strings and sets of
characters. So the text becomes the same definitions, and its rules are compiled by the same code.

    text --reader--> definitions --lark.rules--> nonterminals and rules
                                     |                                   `--regular--> rules that are regular, as lexemes
                                     `---literals--> lexemes

Meaning. A text is a sentence if *some* way of reading it parses. Rules may be left-recursive, which llama.cpp refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...checks import check_rules
from ...limits import Limits
from ...report import Entry, Report
from ..lark.rules import Rules
from .literals import Literals
from .reader import read
from .regular import join

if TYPE_CHECKING:
    from ...ir import Builder
    from .regular import Questions

__all__ = ["build"]


def build(
    builder: Builder, text: str, *, start: str = "root", limits: Limits | None = None, questions: Questions | None = None
) -> tuple[Report, frozenset[str | int]]:
    """Compile a GBNF grammar into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    text : str
        The grammar.
    start : str
        Name of the rule that a whole text must match.
    limits : Limits, optional
        `max_regex_nesting` bounds the nesting of brackets.
    questions : Questions, optional
        About expressions of `builder`. Without them, all rules stay rules (see `regular`).

    Returns
    -------
    Report
        Which rules are not used.
    frozenset of (str or int)
        The special tokens that the grammar names.

    Raises
    ------
    GrammarSyntaxError
        The text is no GBNF, or a rule is not defined (the first twenty such names are listed at once).
    GrammarError
        There is no rule named `start`.
    LimitExceededError
        Brackets are nested too deeply.
    """
    check_rules("a GBNF grammar", text, ".gbnf")
    if not isinstance(start, str):
        raise TypeError(f"start is the name of a rule, not {type(start).__name__}")
    limits = limits or Limits()
    report = Report()
    definitions, origin = read(text, limits)
    literals = Literals(builder, definitions, limits, report)
    rules = Rules(builder, definitions, literals, limits)
    builder.start = rules.compile(start)
    rules.write(questions, join)
    reached = rules.reached
    for name, definition in definitions.items():
        if name not in reached:
            report.annotations.append(Entry(origin.place(definition.token), name, "not used: the start rule does not reach it"))
    return report, frozenset(literals.named_tokens)
