"""The options of the JSON Schema front end: which spellings a text may use, and what happens where a schema cannot be honoured.

Invariant. An option changes how values may be *written* or what is *refused*, never which values a schema admits, with these exceptions:
`lenient` admits more, and each thing that it gives up is in the report; `closed` and `discriminators` admit less, and `nullable`
admits null where the schema says so in words of OpenAPI.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from numbers import Integral
from typing import Any, NamedTuple

from ...._native import NativeExpressions
from ....checks import check_bool, check_choice, check_count, check_special_tokens
from ....errors import GrammarError, LimitExceededError
from ....ir import PYTHON_FULL, Builder
from ....limits import Limits
from .keywords import DISCRIMINATOR, NULLABLE, Keyword

Whitespace = str | int | tuple[str, str]
WORDS = "flexible", "bounded", "compact"  # of `whitespace`
WHITESPACE = b" \t\n\r"  # of JSON
MOST_WHITESPACE = 1000  # characters between two tokens of JSON

STYLES = (
    "json",
    "qwen_xml",
    "minimax_xml",
    "minimax_m3_xml",
    "glm_xml",
    "deepseek_xml",
    "deepseek_v4_1_xml",
    "kimi_k3_xml",
    "cohere_xml",
)

_FLAGS = ("lenient", "unique_keys", "closed", "nullable")
_CHOICES = {
    "escapes": ("minimal", "all"),
    "property_order": ("schema", "any"),
    "number_style": ("canonical", "any"),
    "formats": ("known", "strict", "annotation"),
    "style": STYLES,
    "discriminators": ("annotation", "required"),
}


class Options(NamedTuple):
    """The options of `Grammar.from_json_schema`, where they are described."""

    whitespace: Whitespace = "flexible"
    lenient: bool = False
    escapes: str = "minimal"
    property_order: str = "schema"
    number_style: str = "canonical"
    unique_keys: bool = False
    formats: str = "known"
    resources: Mapping[str, Any] | None = None
    style: str = "json"
    closed: bool = False
    special_tokens: Iterable[str] = ()
    discriminators: str | None = "annotation"  # and so is None
    nullable: bool = False

    @classmethod
    def check_named(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """`schema_options`, those of the schemas within a grammar. Raises TypeError or ValueError where they are none."""
        if not isinstance(options, Mapping):
            raise TypeError(f"schema_options is a mapping of the options of from_json_schema to values, not {type(options).__name__}")
        for name in options:
            if name not in cls._fields:
                raise TypeError(f"schema_options has {name!r:.80}, which is none of {', '.join(cls._fields)}")
        cls(**options).check()
        return {**options, "special_tokens": check_special_tokens(options["special_tokens"])} if "special_tokens" in options else options

    def of_openapi(self) -> tuple[Keyword, ...]:
        """The keywords of OpenAPI that are enforced."""
        return (DISCRIMINATOR,) * (self.discriminators == "required") + (NULLABLE,) * self.nullable

    def check(self) -> None:
        """Raise for an option that has no such value."""
        _check_whitespace(self.whitespace)
        for name in _FLAGS:
            check_bool(name, getattr(self, name))
        if self.resources is not None and not (isinstance(self.resources, Mapping) and all(isinstance(uri, str) for uri in self.resources)):
            raise TypeError("resources is a mapping of URIs to schemas")
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is None and name == "discriminators":
                continue
            if not isinstance(value, str) or value not in choices:
                check_choice(name, value, choices)


def _check_whitespace(whitespace: Whitespace) -> None:
    if isinstance(whitespace, str):
        if whitespace not in WORDS:
            _check_gap(whitespace)
    elif not isinstance(whitespace, (tuple, list)):
        if isinstance(whitespace, bool) or not isinstance(whitespace, Integral):
            raise TypeError(f"whitespace is a str, a number or a pair of separators, not {type(whitespace).__name__}")
        check_count("whitespace", whitespace, 0, MOST_WHITESPACE)
    elif (
        len(whitespace) != 2
        or not all(isinstance(separator, str) for separator in whitespace)
        or not re.fullmatch(r"[ \t\n\r]*,[ \t\n\r]*", whitespace[0])
        or not re.fullmatch(r"[ \t\n\r]*:[ \t\n\r]*", whitespace[1])
    ):
        raise ValueError(f'separators are a comma and a colon, each with white space around it, like (", ", ": "), not {whitespace!r}')


@lru_cache(maxsize=16)
def _check_gap(pattern: str) -> None:
    """Raise unless a text is a regular expression that matches white space, nothing else, and the empty text, too."""
    builder = Builder()
    expressions = NativeExpressions(builder, Limits())
    what = 'whitespace is "flexible", "bounded", "compact", a number, a pair of separators or a regular expression of white space'
    if not pattern.isascii():
        raise ValueError(f"{what}; {pattern!r:.80} is none of JSON")
    gap = builder.pattern(pattern, PYTHON_FULL)
    others = builder.minus(gap, builder.repeat(builder.byte_set(WHITESPACE), 0, None))
    try:
        has_others = not expressions.is_empty(others)
    except GrammarError as error:
        raise ValueError(f"{what}: {error}") from None
    except LimitExceededError:  # a default, whatever the limits of the grammar are: to raise it would not help
        raise ValueError(f"{what}; {pattern!r:.80} is nested too deeply or too large") from None
    if has_others:
        raise ValueError(f"{what}; {pattern!r:.80} matches other text than blanks, tabs and line ends")
    if not expressions.matches(gap, b""):
        raise ValueError(f"{what} that may be left out; {pattern!r:.80} does not match the empty text")
