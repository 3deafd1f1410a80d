"""JSON Schema as a grammar.

The stages, one room each; a room imports only from rooms above it:

    reading/       what the user hands over -> places, the subschemas where they stand
    scalars/       sets of strings and numbers, and the expressions that spell them
    containers/    sets of arrays and objects, one level deep
    algebra/       shapes, the normal form of a schema: a product over the JSON types, with and, or, not
    normalising/   places -> shapes: what each keyword means
    emitting/      shapes -> lexemes and rules

`context.py` is what they share in one compilation, and is handed to all of them: the builder, the options, the report, questions to the
core. `contradictions.py` stands outside: it compiles parts of a schema without instances, to see which contradict each other.

What the language of the grammar is: the JSON texts of the instances of the schema, with these choices of spelling.

- Properties come in the order of the schema, then those named only by `required`, then all others. The keys of a `const` object
  come in the order given. With `property_order="any"` keys come in any order.
- Keys that the schema does not name may repeat (RFC 8259 leaves the meaning open), but not where it depends on the reading whether the
  object is valid: where one of them has to meet a condition, or at least two must come. With `unique_keys` no key repeats.
- `number_style="canonical"`: an integer (by `type`, or as a multiple of an integer) is written in digits only: `5`, not `5.0`. So is an
  integer in `enum` or `const`, and another number there without zeros at its end, `2.5`; from 10^16 on and below 10^-4 these may also be
  written as programs do, `1e+22` and `1.5e-07`. Multiples of a fraction are written in plain notation, with any digits behind the point
  (`1.50`). A bounded number may also have one nonzero digit before the point and an exponent. A number without conditions: in any way
  that RFC 8259 allows.
- `number_style="any"`: any number may have zeros behind its last digit (`5.0`, `2.50`); bounded and listed numbers may have any exponent,
  with the point up to 9 places away from its place after the first nonzero digit (`10E-1`, `0.05e3`). Integers and multiples: with the
  point anywhere and an exponent from -9 to 17, or up to that of the upper bound; where there is none, also a greater one that surely
  makes a multiple, with up to 17 digits after the point. Zero: with any exponent.
- In draft 4 an integer (by `type`) is digits only in any style, and what is no integer has a point or an exponent: `5.0` is none, and yet
  a multiple of 1 and equal to 5.
- `escapes="minimal"`: each character of a string is written in one way, hexadecimal digits in either case. `"all"`: in every way that RFC
  8259 allows.
"""

from __future__ import annotations

from typing import Any

from ...ir import Builder
from ...limits import Limits
from ...report import Entry, Report
from .context import ESCAPES, Context, Questions
from .contradictions import unsatisfiable
from .emitting.emitter import Emitter
from .emitting.layout import Layout
from .emitting.parameters import write_parameters
from .normalising.normaliser import Normaliser
from .reading.document import Document
from .reading.load import is_of_pydantic, load
from .reading.options import Options

__all__ = ["Options", "build", "is_of_pydantic", "load", "unsatisfiable"]


def build(
    builder: Builder,
    schema: Any,
    options: Options,
    limits: Limits,
    questions: Questions,
) -> tuple[Report, frozenset[str]] | None:
    """Add the grammar of a JSON Schema to `builder` and set its start symbol.

    Parameters
    ----------
    builder : Builder
        An empty builder.
    schema : dict or bool
        The decoded schema, as `load` returns it. It is not changed.
    options : Options
    limits : Limits
    questions : Questions
        Answers about expressions of `builder`: is it empty, how many strings it has.

    Returns
    -------
    Report and frozenset of str, or None
        What became of each keyword, and the special tokens that are named; None where the schema is seen to have no instance. (Otherwise
        the grammar may turn out empty when it is compiled.)

    Raises
    ------
    SchemaError
        The schema is malformed.
    UnsupportedSchemaError
        It uses something that is not enforced; not raised when `lenient`.
    LimitExceededError
        It is too large or nested too deeply.
    """
    options.check()
    layout = Layout.begin(builder, options.whitespace, ESCAPES[options.escapes])
    if layout.is_pattern:
        questions.is_empty(layout.gap)  # a limit that its pattern meets is met here, and not where one of the schema is asked about
    document = Document(schema, limits, options.resources, options.of_openapi())
    context = Context(builder, document, options, limits, questions)
    context.normaliser = Normaliser(context)
    emitter = Emitter(context, layout)
    goal = document.goal(document.closed(document.root) if options.closed else document.root)
    named: frozenset[str] = frozenset()
    if options.style == "json":
        start = emitter.symbol(goal, last=True)
    else:
        start, named = write_parameters(emitter, goal, options.style, frozenset(options.special_tokens))
    if start is None:
        return None
    emitter.run()
    for error in document.library.refusals:
        context.relax_or_raise(error, error.pointer, error.keyword or "$schema")
    before = emitter.layout.before
    if before is None:
        builder.start = start
    else:
        builder.start = builder.nonterminal("text", where="")
        builder.rule(builder.start, (start,))
        builder.rule(builder.start, (before, start))
    if emitter.has_other_keys:
        context.report.notes.append(Entry("", "additionalProperties", "a key that the schema does not name may occur twice"))
    says_something = options.style == "json" and isinstance(document.root.value, dict) and document.root.value
    if says_something and not context.report.has_enforced and not context.report.relaxed:
        context.report.notes.append(Entry("", "", "no keyword of this schema is enforced: all of JSON is an instance"))
    context.report.notes += document.library.notes
    for entries in (context.report.relaxed, context.report.notes):
        entries[:] = dict.fromkeys(entries)
    del context.normaliser  # they refer to each other: without that everything here goes at once, and need not wait for the collector
    return context.report, named
