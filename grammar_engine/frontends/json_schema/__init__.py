"""JSON Schema as a grammar.

Pipeline, one file a step:

    load.py        what the user hands over -> a decoded schema with exact numbers
    places.py      the subschemas where they stand; `$ref`, `$id`, `$anchor`
    keywords.py    the registry: what is done with each keyword, by draft
    normalise.py   places -> shapes, with assertions.py (what a schema says by itself) and exclusive.py (`oneOf`)
                   shape.py: the normal form, a product over the JSON types; pieces.py: and, or, not of unions of pieces;
                   strings.py, numbers.py, arrays.py, objects.py: the pieces; decimals.py, formats.py: their expressions
    emit.py        shapes -> lexemes and rules (layout.py: white space and punctuation)

What the language of the grammar is: the JSON texts of the instances of the schema, with these choices of spelling.

- Properties come in the order of the schema, then those named only by `required`, then all others. The keys of a `const` object
  come in the order given. Other keys may repeat, since no grammar of this size can tell (RFC 8259 leaves the meaning open).
- A number without bounds may be written in any way that RFC 8259 allows. An integer is written in plain digits, with a fraction of
  zeros if any (`5.0`; not in draft 4), or, from 10^16 on, in scientific notation. A bounded number may be written in plain digits,
  or with one nonzero digit before the point and an exponent. With `multipleOf` there is no exponent.
- `escapes="minimal"`: each character of a string is written in one way. `"all"`: in every way that RFC 8259 allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import UnsatisfiableSchemaError
from ...ir import Builder, Expr
from ...limits import Limits
from ...report import Entry, Report
from .context import Context
from .emit import Emitter
from .layout import Layout
from .load import load
from .normalise import Normaliser
from .options import Options
from .places import Document

__all__ = ["Options", "build", "load"]


def build(
    builder: Builder,
    schema: Any,
    options: Options,
    limits: Limits,
    is_empty: Callable[[Expr], bool],
) -> Report:
    """Add the grammar of a JSON Schema to `builder` and set its start symbol.

    Parameters
    ----------
    builder : Builder
        An empty builder.
    schema : dict or bool
        The decoded schema, as `load` returns it. It is not changed.
    options : Options
    limits : Limits
    is_empty : callable
        Tells whether an expression of `builder` denotes the empty language, exactly.

    Returns
    -------
    Report
        What became of each keyword.

    Raises
    ------
    SchemaError
        The schema is malformed.
    UnsupportedSchemaError
        It uses something that is not enforced; not raised when `lenient`.
    UnsatisfiableSchemaError
        It is seen to have no instance. (Otherwise the grammar may turn out empty when it is compiled.)
    LimitExceededError
        It is too large or nested too deeply.
    """
    options.check()
    document = Document(schema, limits)
    context = Context(builder, document, options, limits, is_empty)
    context.normaliser = Normaliser(context)
    emitter = Emitter(context, Layout(builder, options.whitespace))
    start = emitter.symbol(document.goal(document.root), last=True)
    if start is None:
        reason = "it is `false`" if schema is False else "its parts contradict each other: there is no value that meets all of them"
        raise UnsatisfiableSchemaError(f"the schema has no instance: {reason}")
    emitter.run()
    before = emitter.layout.before
    if before is None:
        builder.start = start
    else:
        builder.start = builder.nonterminal("text", where="")
        builder.rule(builder.start, (start,))
        builder.rule(builder.start, (before, start))
    if emitter.has_other_keys:
        context.report.notes.append(Entry("", "additionalProperties", "a key that the schema does not name may occur twice"))
    context.report.enforced[:] = dict.fromkeys(context.report.enforced)
    context.report.annotations[:] = dict.fromkeys(context.report.annotations)
    if context.report.relaxed:
        relaxed = {(entry.pointer, entry.keyword) for entry in context.report.relaxed}
        context.report.enforced[:] = [e for e in context.report.enforced if (e.pointer, e.keyword) not in relaxed]
    return context.report
