"""Every resource that a grammar can use up, with its name, unit and default.

A limit that is reached raises `LimitExceededError` naming it; nothing is aborted and no other grammar or matcher is affected.
The field order is the order of `struct ge_limits` in `csrc/include/ge_api.h`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from .checks import as_int


@dataclass(frozen=True)
class Limits:
    """Ceilings for one grammar.

    Parameters
    ----------
    max_expressions : int
        Nodes of regular expressions, derivatives included.
    max_regex_nesting : int
        Depth of nested groups in a pattern, and of nested operators in an expression. Past some 1,200 a fixed ceiling comes first: 5,000
        levels, derivatives included, which recursion in the core can bear.
    max_lexer_states : int
        States of the lazily built lexer.
    max_rules : int
        Symbols on the right-hand sides of all rules, those made on demand included.
    max_row_items : int
        Items in one Earley row (predictions included).
    max_rows : int
        Interned Earley rows, and interned return points; as many again may be made to look ahead.
    max_configurations : int
        Interned configurations.
    max_alternatives : int
        Ways of cutting the text into lexemes that are alive at the same time.
    max_step_work : int
        Derivatives, items and states that one step (a mask, a byte that is accepted) may compute: 2 s on a quiet machine, 5 to 8 on a busy
        one. A quarter of it is for expressions and rules while a grammar is compiled.
    max_generation_bytes : int
        Bytes of lazily built states after which new matchers start a fresh generation of them (a matcher that is alive keeps
        its own). No error: it only costs warmth.
    max_memory_bytes : int
        Bytes of all tables of one generation of a grammar over a vocabulary, masks excluded; each matcher keeps the one that it began in.
    max_mask_bytes : int
        Bytes of kept masks per grammar and vocabulary; those that were not read for a while are dropped. No error.
    max_template_instances : int
        Rules that are made from the templates of a Lark grammar, one for each list of arguments.
    max_schema_nodes : int
        Subschemas visited while a JSON Schema is compiled, after references are resolved, and pairs of those that apply to the same value;
        each 16 conditions or alternatives that one of them leads to, and each 2 dynamic anchors of a scope that is entered, count once
        more.
    max_schema_nesting : int
        Depth of nesting of a JSON Schema.
    max_alternative_schemas : int
        Alternatives that combining `anyOf`, `oneOf`, `allOf` may produce at one place, and classes of keys that overlapping
        `patternProperties` may, each once more for each pattern that it is in; 20 times as many in all places together, ways to count and
        to compare items and keys that are compared with patterns included, and alternatives of many keys or conditions several times.
    """

    max_expressions: int = 8_000_000
    max_regex_nesting: int = 250
    max_lexer_states: int = 500_000
    max_rules: int = 20_000_000
    max_row_items: int = 200_000
    max_rows: int = 2_000_000
    max_configurations: int = 4_000_000
    max_alternatives: int = 1_000
    max_step_work: int = 10_000_000
    max_generation_bytes: int = 256 << 20
    max_memory_bytes: int = 2 << 30
    max_mask_bytes: int = 64 << 20
    max_template_instances: int = 10_000
    max_schema_nodes: int = 200_000
    max_schema_nesting: int = 500
    max_alternative_schemas: int = 5_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = as_int(f"Limits.{field.name}", getattr(self, field.name))
            if value < 1:
                raise ValueError(f"Limits.{field.name} is at least 1, not {value}")
            if value >= 1 << 64:
                raise ValueError(f"Limits.{field.name} is below 2**64, not {value}")
            object.__setattr__(self, field.name, value)


DEFAULT = Limits()


def or_default(limits: Limits | None) -> Limits:
    """What a constructor was given, or the defaults."""
    if limits is None:
        return DEFAULT
    if not isinstance(limits, Limits):
        raise TypeError(f"limits is a Limits, not {type(limits).__name__}")
    return limits
