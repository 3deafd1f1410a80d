"""JSON Schemas in rules: `%json {...}`.

Idea. For the rules a schema is a nonterminal of which they know nothing. In the end rules and schemas are made again in a new builder, each
as a part of it (`inclusion`), and the schemas' symbols take the places of these nonterminals. So a schema is compiled by itself, as any
other, and what the grammar ignores is ignored before and behind a schema, and not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from ...inclusion import Part, include
from ...ir import Builder
from ...portable import Records
from ...report import Entry, Report
from .. import json_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...ir import Symbol
    from ...limits import Limits
    from .syntax import Origin, Token

Compile = Callable[[Any], tuple[Part, Report]]


def with_schemas(
    builder: Builder, schemas: Mapping[Symbol, tuple[Token, Origin]], compile_schema: Compile, limits: Limits, report: Report
) -> tuple[Builder, frozenset[str | int]]:
    """A builder with the sentences of `builder`, in which `schemas` stand for nonterminals without rules,
    and the special tokens that these name. Adds what becomes of them to `report`.

    Raises
    ------
    GrammarSyntaxError
        There is no JSON behind `%json`.
    SchemaError, LimitExceededError
        What the front end for schemas says, with the place of `%json`.
    """
    whole = Builder()
    places: dict[Symbol, Symbol] = {}
    named: set[str | int] = set()
    for symbol, (token, origin) in schemas.items():
        place = origin.place(token)
        try:
            part, told = compile_schema(_decoded(token, origin, limits))
        except (SchemaError, LimitExceededError) as error:
            hint = "; its options are `schema_options`" if isinstance(error, UnsupportedSchemaError) else ""
            error.tell(f"in the JSON Schema behind %json at {place} of the grammar{hint}")
            raise
        places[symbol] = include(whole, part, place=f"{place}#")
        named |= part.named
        report.enforced.append(Entry(place, "%json", "a JSON Schema, as Grammar.from_json_schema reads it"))
        report.take_over(told, f"{place}#")
    records = Records.of(builder)
    whole.start = include(whole, Part(records, builder.lexemes, builder.nonterminals, frozenset()), places)
    return whole, frozenset(named)


def _decoded(token: Token, origin: Origin, limits: Limits) -> Any:
    source = token.text.removeprefix("%json").lstrip()
    try:
        return json_schema.load(source, limits)
    except SchemaError as error:
        skip = len(token.text) - len(source) + (error.offset or 0)
        raise origin.error(error.reason, token, skip) from None
