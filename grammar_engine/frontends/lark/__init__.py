r"""Lark grammars: from text in the Lark language to the grammar IR.

Idea. The language is Lark's: what its parser reads is read, and where that finds an error it is asked which (`diagnosis`). Else this
package goes its own way, because Lark compiles for parsing and we compile for masks: `x~1..100000` stays one symbol instead of being
expanded, a terminal stays an expression instead of becoming a pasted regular expression, each error has a place in the text.

    text --reader--> statements (syntax) --loader--> definitions --rules--> nonterminals and rules (repetitions: what is better one lexeme)
                                                           `---terminals---> lexemes (literals: strings, regular expressions, ranges)

Beyond Lark's language rules may have what llguidance adds to it: special tokens (`special`), JSON Schemas (`schemas`), and attributes.

Meaning. `lexing="exact"`: a text is a sentence if *some* way of cutting it into terminals parses, where a terminal may stand for each
text that its expression matches as a whole. This is what Lark's Earley parser with `lexer="dynamic_complete"` means by a grammar, but for
what is said below.
`lexing="longest"`: the discipline of a classic scanner; a terminal with a lazy quantifier then ends at its first match.
Under both a rule with the attribute `lazy` or `suffix` is one terminal that ends at its first match.

Where this differs from the `lark` package (each is also listed in the `Report` when a grammar runs into it):

- Priorities choose between trees, not between texts: accepted and without effect. So are aliases and the `?` and `!` prefixes.
- `/a|b/ "c"` means `(a|b)c`. Lark pastes the sources of both and gets `a|bc`.
- `/\x2e/` is a full stop, as in Python's `re`. Lark evaluates the escape first and gets `.`, any character.
- Under `lexing="exact"` a lazy quantifier is as good as a greedy one. Lark stops there at the first match that the quantifier finds.
- Each alternative of a regular expression counts. Lark asks `re` for one match and for those of its beginnings: of `/[1-9]|1[0-2]/` it
never sees `10`.
- An ignored terminal may end at any of its matches, as others do. Lark takes the longest one only.
- A regular expression cannot look at the text around its terminal: anchors, word boundaries, look-around and back-references
  are refused by name. Bundled terminals that use look-around have equals without it (`bundled`).
- Terminals may match the empty string. Names from `%declare` are refused (nothing says what they match), and so are imports of
  files: only the grammars that come with Lark can be imported.

Invariants. Nothing recurses in proportion to the grammar: bodies are steps in postfix order that are gone through with a stack, rules and
templates come from a queue, terminals have a stack of their own. Only what the start rule and `%ignore` reach is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...checks import check_choice, check_rules
from ...errors import LimitExceededError
from ...limits import Limits
from ...report import Entry, Report
from .follow import Expressions, conflicts
from .loader import load
from .rules import Rules
from .terminals import Terminals

if TYPE_CHECKING:
    from ...ir import Builder, Symbol
    from .repetitions import Lengths
    from .syntax import Origin, Token

__all__ = ["build", "note_dead_ends"]


def build(
    builder: Builder,
    text: str,
    *,
    start: str = "start",
    lexing: str = "exact",
    limits: Limits | None = None,
    questions: Lengths | None = None,
) -> tuple[Report, frozenset[str | int], dict[Symbol, tuple[Token, Origin]]]:
    """Compile a Lark grammar into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    text : str
        The grammar.
    start : str
        Name of the rule that a whole text must match.
    lexing : {"exact", "longest"}
        See the top of this module.
    limits : Limits, optional
        `max_regex_nesting` bounds the nesting of brackets, in rules and in regular expressions;
        `max_template_instances` the rules that are made from templates.
    questions : Lengths, optional
        About expressions of `builder`. Without them, repetitions of short texts
        stay rules (see `repetitions`), and rules with attributes are not checked.

    Returns
    -------
    Report
        Notes name the places where priorities, lazy quantifiers or bundled terminals mean something a reader may not expect.
    frozenset of (str or int)
        The special tokens that the grammar names.
    dict of Symbol to (Token, Origin)
        The JSON Schemas in it, by nonterminals that have no rules: what `schemas.with_schemas` still has to do, if there is any.

    Raises
    ------
    GrammarSyntaxError
        The text is not a Lark grammar, or a name in it is not defined (the first twenty are listed at once).
    GrammarError
        There is no rule named `start`.
    UnsupportedRegexError
        A regular expression looks at the text around its terminal, or back at itself.
    LimitExceededError
        Brackets are nested too deeply, or templates have too many instances.
    """
    check_rules("a Lark grammar", text, ".lark")
    if not isinstance(start, str):
        raise TypeError(f"start is the name of a rule, not {type(start).__name__}")
    check_choice("lexing", lexing, ("exact", "longest"))
    limits = limits or Limits()
    report = Report()
    source = load(text, limits, report)
    builder.longest = lexing == "longest"
    terminals = Terminals(builder, source.definitions, limits, report)
    rules = Rules(builder, source.definitions, terminals, limits)
    builder.start = rules.compile(start)
    if questions:
        _check_lazy(rules, builder, questions)
    for body, origin in source.ignored:
        skipped = terminals.evaluate(body, origin)
        place = origin.place(body.first)
        builder.lexeme(skipped.expr, skipped.name or "%ignore", where=place, lazy=skipped.lazy and builder.longest, skip=True)
        report.enforced.append(Entry(place, "%ignore", f"{skipped.name or 'an expression'} may stand before, between and after terminals"))
    rules.write(None if builder.longest else questions)
    reached = rules.reached | terminals.reached
    for definition in source.definitions.values():
        if definition.origin.module is None and definition.name not in reached:
            report.annotations.append(Entry(definition.place, definition.name, "not used: the start rule does not reach it"))
    return report, frozenset(terminals.named_tokens), rules.schemas


def _check_lazy(rules: Rules, builder: Builder, questions: Lengths) -> None:
    """A rule of which the shortest text is the empty one is a mistake."""
    for lexeme, definition in rules.lazy.items():
        try:
            ends_at_once = questions.matches(builder.lexeme_records[lexeme], b"")
        except LimitExceededError as error:
            error.locate(definition.place, definition.name)
            raise
        if ends_at_once:
            reason = f"{definition.token.text} ends where it begins, as its body may be empty: say with suffix= where it ends"
            raise definition.origin.error(reason, definition.token)


def note_dead_ends(builder: Builder, expressions: Expressions, report: Report) -> None:
    """Add to `report.notes` where `lexing="longest"` can leave a text stuck (see `follow`)."""
    for swallowing, following in conflicts(builder, expressions):
        first, second = builder.lexemes[swallowing >> 1], builder.lexemes[following >> 1]
        detail = f"a longer match of {first.name} may swallow what {second.name} after it needs; then no text can go on from there"
        report.notes.append(Entry(first.where or "", "possible dead end", detail))
