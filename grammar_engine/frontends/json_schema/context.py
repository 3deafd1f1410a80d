"""What all parts of one compilation share: the builder, the options, the report, and questions asked of the core.

Idea. Sets of strings and numbers are expressions of the builder. Two questions about them need the core: whether a set is empty, and
whether a given text is in it. Both are answered exactly and remembered.

Invariant. Nothing is given up without `relax`, and `relax` only returns when `lenient=True`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from ...errors import GrammarSyntaxError, LimitExceededError, SchemaError, UnsupportedRegexError, UnsupportedSchemaError
from ...ir import ECMA_SEARCH, ESCAPES_ALL, ESCAPES_MINIMAL, Builder, Expr
from ...limits import Limits
from ...report import Entry, Report
from .decimals import MAX_DIGITS, DecimalSyntax
from .formats import FORMATS
from .objects import ObjectLayer
from .options import Options
from .places import ANYTHING, NEVER, Document, Goal, Place

if TYPE_CHECKING:
    from .normalise import Normaliser

_ESCAPES = {"minimal": ESCAPES_MINIMAL, "all": ESCAPES_ALL}
_NOT_SHORT = frozenset(map(chr, range(32))) - frozenset("\b\f\n\r\t")  # control characters without a short escape


class Undecided(Exception):  # noqa: N818 - caught by whoever looks for a proof, and never seen outside
    """A proof needs a shape that is being computed."""


class Context:
    """One compilation.

    Parameters
    ----------
    builder : Builder
    document : Document
    options : Options
    limits : Limits
    is_empty : callable
        Tells whether an expression denotes the empty language.
    """

    normaliser: Normaliser

    def __init__(
        self,
        builder: Builder,
        document: Document,
        options: Options,
        limits: Limits,
        is_empty: Callable[[Expr], bool],
    ):
        self.builder = builder
        self.document = document
        self.limits = limits
        self.options = options
        self.report = Report()
        self.numbers = DecimalSyntax(builder, integer_fraction=document.resource.draft.value != 4)
        self.escapes = _ESCAPES[options.escapes]
        self.quote = builder.bytes(b'"')
        self._is_empty = is_empty
        self._alternatives = 0
        self._emptiness: dict[Expr, bool] = {}
        self._matches: dict[tuple[Expr, str], bool] = {}
        self._multiples: dict[Decimal, Expr | None] = {}
        self._singles: dict[tuple[str, Goal], ObjectLayer] = {}
        self._patterns: dict[str, Expr | str] = {}  # or why it is not supported
        self._formats: dict[str, Expr] = {}

    # --- refusing ---------------------------------------------------------------------------------------------------------

    def relax(self, place: Place, keyword: str, reason: str) -> None:
        """Refuse a keyword, or with `lenient=True` record that it is given up and return."""
        self.relax_error(UnsupportedSchemaError(reason, pointer=place.pointer, keyword=keyword), place.pointer, keyword)

    def relax_error(self, error: UnsupportedSchemaError, pointer: str, keyword: str) -> None:
        """The same for an error that was caught."""
        if not self.options.lenient:
            raise error
        self.report.relaxed.append(Entry(pointer, keyword, error.reason))

    def count_alternatives(self, count: int) -> None:
        """Bound the alternatives that all places together may multiply out."""
        self._alternatives += count
        if self._alternatives > 10 * self.limits.max_alternative_schemas:
            raise LimitExceededError(
                "max_alternative_schemas", self.limits.max_alternative_schemas, "ten times so many in all places together"
            )

    # --- questions about sets ---------------------------------------------------------------------------------------------

    def is_empty(self, expr: Expr) -> bool:
        """Whether an expression denotes nothing."""
        known = self._emptiness.get(expr)
        if known is None:
            known = self._emptiness[expr] = expr == self.builder.never or self._is_empty(expr)
        return known

    def matches(self, texts: Expr, text: str) -> bool:
        """Whether a text is in a set of texts."""
        key = (texts, text)
        known = self._matches.get(key)
        if known is None:
            known = self._matches[key] = not self.is_empty(self.builder.intersect(texts, self.builder.string(text)))
        return known

    def is_void_goal(self, goal: Goal) -> bool:
        """Whether a goal is known to admit nothing."""
        return self.normaliser.is_void(goal)

    def negated(self, goal: Goal) -> list[Goal]:
        """Goals of which any is met exactly where `goal` is not."""
        if goal == NEVER:
            return [ANYTHING]
        return [self.document.goal(self.document.negation(place)) for place in goal]

    def single(self, name: str, goal: Goal) -> ObjectLayer:
        """The layer, always the same one, that a negation makes for one key."""
        return self._singles.setdefault((name, goal), ObjectLayer({name: goal}, is_negation=True))

    # --- sets -------------------------------------------------------------------------------------------------------------

    def pattern(self, place: Place, keyword: str, source: Any) -> Expr:
        """The strings in which a regular expression of the schema matches somewhere."""
        if not isinstance(source, str):
            raise SchemaError("a regular expression is a string", pointer=place.pointer, keyword=keyword)
        known = self._patterns.get(source)
        if known is None:
            self.check_text(place, keyword, source)
            known = self.builder.pattern(source, ECMA_SEARCH)
            try:
                self.is_empty(known)
            except UnsupportedRegexError as error:  # kept, because the core reports a pattern only once
                known = f"the regular expression {source!r}: {error.reason}"
            except GrammarSyntaxError as error:
                raise SchemaError(f"the regular expression {source!r}: {error.reason}", pointer=place.pointer, keyword=keyword) from error
            self._patterns[source] = known
        if isinstance(known, str):
            raise UnsupportedSchemaError(known, pointer=place.pointer, keyword=keyword)
        return known

    def format(self, name: str) -> Expr:
        """The strings of a format that `FORMATS` knows."""
        known = self._formats.get(name)
        if known is None:
            known = self._formats[name] = FORMATS[name](self.builder)
        return known

    def listed(self, texts: Iterable[str]) -> Expr:
        """The given texts, not quoted."""
        return self.builder.literals([text.encode() for text in texts])

    def quoted(self, texts: Expr) -> Expr:
        """The JSON strings whose values are in a set of texts."""
        return self.builder.concat(self.quote, self.builder.json(texts, self.escapes), self.quote)

    def quoted_values(self, texts: Iterable[str]) -> Expr:
        """The JSON strings of the given values."""
        if self.escapes == ESCAPES_MINIMAL and _NOT_SHORT.isdisjoint("".join(texts)):
            return self.builder.literals([encode_basestring(text).encode() for text in texts])
        return self.quoted(self.listed(texts))

    def multiples(self, step: Decimal) -> Expr:
        """The numbers that are multiples of a step that `has_multiples` admits."""
        expr = self._multiples[step] if step in self._multiples else self.numbers.multiples(step)
        assert expr is not None
        self._multiples[step] = expr
        return expr

    def has_multiples(self, step: Decimal) -> bool:
        """Whether multiples of this step can be enforced."""
        if step not in self._multiples:
            self._multiples[step] = self.numbers.multiples(step)
        return self._multiples[step] is not None

    # --- values of keywords -----------------------------------------------------------------------------------------------

    def check_text(self, place: Place, keyword: str, text: str) -> None:
        """Refuse text that has no UTF-8 encoding."""
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise SchemaError(
                    f"the string {text[:40]!r} has a lone surrogate, which no text can contain", pointer=place.pointer, keyword=keyword
                ) from None

    def number(self, place: Place, keyword: str, value: Any) -> Decimal:
        """A number of the schema, exactly."""
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            raise SchemaError(f"{value!r:.40} is no JSON number", pointer=place.pointer, keyword=keyword)
        if isinstance(value, int) and value.bit_length() > 4 * MAX_DIGITS:
            result = None
        else:
            result = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
        if result is not None and not result.is_finite():
            raise SchemaError(f"{value} is no JSON number", pointer=place.pointer, keyword=keyword)
        if result is None or not -MAX_DIGITS < result.adjusted() < MAX_DIGITS or len(result.as_tuple().digits) > MAX_DIGITS:
            raise UnsupportedSchemaError(f"a number of more than {MAX_DIGITS:,} digits", pointer=place.pointer, keyword=keyword)
        return result if result else Decimal(0)
