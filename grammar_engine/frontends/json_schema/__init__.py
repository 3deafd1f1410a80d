"""JSON Schema as a grammar.

Pipeline, one file a step:

    load.py        what the user hands over -> a decoded schema with exact numbers
    resources.py   the schemas with a URI of their own, in this document and in others; drafts and vocabularies
    places.py      the subschemas where they stand; document.py: how one is reached from another, references included
    keywords.py    the registry: what is done with each keyword, by draft
    normalise.py   places -> shapes, with sorting.py (which keys of a schema count), assertions.py (what a schema says by itself),
                   exclusive.py (`oneOf`), unevaluated.py and tracked.py (what the others left over)
                   shape.py: the normal form, a product over the JSON types; pieces.py: and, or, not of unions of pieces, with
                   difference.py (one object piece without another);
                   strings.py, numbers.py, arrays.py, objects.py: the pieces; digits.py, decimals.py, multiples.py, formats/: their expressions
    emit.py        shapes -> lexemes and rules, with emit_arrays.py and emit_objects.py (layout.py: white space and punctuation)
                   members.py: what the members of counted arrays and objects may be; unique.py: items that all differ
    contradictions.py  which parts of a schema without instances contradict each other

What the language of the grammar is: the JSON texts of the instances of the schema, with these choices of spelling.

- Properties come in the order of the schema, then those named only by `required`, then all others. The keys of a `const` object
  come in the order given. With `property_order="any"` keys come in any order.
- Keys that the schema does not name may repeat (RFC 8259 leaves the meaning open), but not where it depends on the reading whether the
  object is valid: where one of them has to meet a condition, or several are counted. With `unique_keys` no key repeats.
- `number_style="canonical"`: an integer is written in plain digits, with a fraction of zeros if any (`5.0`; not in draft 4). So is a
  number with `multipleOf`, with any fraction. A bounded number may also be written with one nonzero digit before the point and an
  exponent; a listed one, where it is at least 10^16 or less than 10^-4. A number without conditions: in any way that RFC 8259 allows.
- `number_style="any"`: integers, multiples, bounded and listed numbers may have an exponent too, with the point up to 9 places away from
  its place after the first nonzero digit (`10E-1`, `0.05e3`). Integers and multiples: with an exponent from -9 to 17, or a greater one
  that surely makes a multiple, with up to 17 digits after the point. Zero: with any exponent.
- `escapes="minimal"`: each character of a string is written in one way. `"all"`: in every way that RFC 8259 allows.
"""

from __future__ import annotations

from typing import Any

from ...ir import Builder
from ...limits import Limits
from ...report import Entry, Report
from .context import Context, Questions
from .contradictions import unsatisfiable
from .document import Document
from .emit import Emitter
from .layout import Layout
from .load import load
from .normalise import Normaliser
from .options import Options

__all__ = ["Options", "build", "load", "unsatisfiable"]


def build(
    builder: Builder,
    schema: Any,
    options: Options,
    limits: Limits,
    questions: Questions,
) -> Report | None:
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
    Report or None
        What became of each keyword; None where the schema is seen to have no instance. (Otherwise the grammar may turn out empty when it
        is compiled.)

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
    document = Document(schema, limits, options.resources)
    context = Context(builder, document, options, limits, questions)
    context.normaliser = Normaliser(context)
    emitter = Emitter(context, Layout(builder, options.whitespace))
    start = emitter.symbol(document.goal(document.root), last=True)
    if start is None:
        return None
    emitter.run()
    for error in document.library.refusals:
        context.relax_error(error, error.pointer, error.keyword or "$schema")
    before = emitter.layout.before
    if before is None:
        builder.start = start
    else:
        builder.start = builder.nonterminal("text", where="")
        builder.rule(builder.start, (start,))
        builder.rule(builder.start, (before, start))
    if emitter.has_other_keys:
        context.report.notes.append(Entry("", "additionalProperties", "a key that the schema does not name may occur twice"))
    context.report.notes += document.library.notes
    for entries in (context.report.relaxed, context.report.notes):
        entries[:] = dict.fromkeys(entries)
    del context.normaliser  # they refer to each other: without that everything here goes at once, and need not wait for the collector
    return context.report
