"""What all parts of one compilation share: the builder, the options, the report, and questions asked of the core.

Idea. Sets of strings and numbers are expressions of the builder. Three questions about them need the core: whether a set is empty, whether
a given text is in it, and how many texts it has. All are answered exactly. The first two are asked often, so their answers are remembered.

Invariant. Nothing is given up without a method that begins with `relax_or_`, and these only return when `lenient=True`.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from json.encoder import encode_basestring
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import GrammarSyntaxError, LimitExceededError, SchemaError, UnsupportedRegexError, UnsupportedSchemaError
from ...ir import ECMA_SEARCH, ESCAPES_ALL, ESCAPES_MINIMAL, Builder, Expr
from ...limits import Limits
from ...report import Entry
from .containers.objects import KeySet, ObjectLayer
from .ledger import Ledger
from .reading.document import Document
from .reading.options import Options
from .reading.places import ANYTHING, NEVER, Goal, Place
from .reading.report import SchemaReport
from .reading.resources import escape
from .scalars.decimals import MAX_DIGITS, DecimalSyntax
from .scalars.formats import APART, WIDER, WITHIN, fragment

if TYPE_CHECKING:
    from .normalising.normaliser import Normaliser

ESCAPES = {"minimal": ESCAPES_MINIMAL, "all": ESCAPES_ALL}
_NOT_SHORT = frozenset(map(chr, range(32))) - frozenset("\b\f\n\r\t")  # control characters without a short escape


class Questions(Protocol):
    """What is asked of the core about expressions of the builder; all is answered exactly."""

    def is_empty(self, expr: Expr) -> bool:
        """Whether an expression denotes the empty language."""

    def matches(self, expr: Expr, text: bytes) -> bool:
        """Whether an expression contains a byte string."""

    def count(self, expr: Expr, limit: int) -> int:
        """How many byte strings an expression denotes; `limit` if there are at least so many."""


class Context:
    """One compilation.

    Parameters
    ----------
    builder : Builder
    document : Document
    options : Options
    limits : Limits
    questions : Questions
    """

    normaliser: Normaliser

    def __init__(
        self,
        builder: Builder,
        document: Document,
        options: Options,
        limits: Limits,
        questions: Questions,
    ):
        self.builder = builder
        self.document = document
        self.limits = limits
        self.options = options
        self.report = SchemaReport()
        self.ledger = Ledger(limits.max_alternative_schemas)
        self.escapes = ESCAPES[options.escapes]
        self.quote = builder.bytes(b'"')
        self._questions = questions
        self._emptiness: dict[Expr, bool] = {}
        self._matches: dict[tuple[Expr, str], bool] = {}
        self._counts: dict[tuple[Expr, int], int] = {}
        self._singles: dict[tuple[str, Goal], ObjectLayer] = {}
        self._other_side: dict[KeySet, KeySet] = {}
        self._every: dict[tuple[KeySet, Goal], ObjectLayer] = {}
        self._patterns: dict[str, Expr | str] = {}  # or why it is not supported
        self.copied_numbers: dict[object, Expr] = {}  # sets of numbers that were made for other grammars, too, by what they are
        self._number_syntaxes: dict[str, DecimalSyntax] = {}
        self._formats: dict[str, Expr] = {}
        self._wider: dict[Expr, Expr] = {}  # of parts of formats, and of what is outside of them
        self._others: dict[Expr, Expr] = {}
        self._apart: set[Expr] = set()

    def number_syntax(self, style: str) -> DecimalSyntax:
        """The syntax of numbers in a style, always the same one."""
        if style not in self._number_syntaxes:
            self._number_syntaxes[style] = DecimalSyntax(self.builder, style)
        return self._number_syntaxes[style]

    # --- refusing ---------------------------------------------------------------------------------------------------------

    def relax_or_refuse(self, place: Place, keyword: str, reason: str) -> None:
        """With `lenient=True`, record that a keyword is given up, and return; otherwise refuse it."""
        self.relax_or_raise(UnsupportedSchemaError(reason, pointer=place.pointer, keyword=keyword), place.pointer, keyword)

    def relax_or_raise(self, error: UnsupportedSchemaError, pointer: str, keyword: str) -> None:
        """The same for an error that was caught."""
        self.raise_unless_lenient(error)
        self.report.relaxed.append(Entry(pointer, keyword, error.reason))

    def raise_unless_lenient(self, error: UnsupportedSchemaError) -> None:
        """Raise an error, unless what it is about can be given up here: a proof gives up nothing, and is not found."""
        if not self.options.lenient or self.normaliser.proofs.is_searching:
            raise UnsupportedSchemaError(error.reason, pointer=error.pointer, keyword=error.keyword, can_be_relaxed=True) from None

    def relax_or_raise_limit(self, error: LimitExceededError, pointer: str) -> None:
        """With `lenient=True`, record that what multiplies out at a place is given up, and return; otherwise raise the error."""
        if not self.options.lenient or error.limit != "max_alternative_schemas":
            error.locate(pointer)
            raise error
        pointer, _, keyword = (self.ledger.combining or pointer).rpartition("/")
        if keyword.isdecimal():  # one of the schemas of a list
            pointer, _, keyword = pointer.rpartition("/")
        self.report.relaxed.append(Entry(pointer, keyword, str(error)))
        self.ledger.begin_anew()

    # --- questions about sets ---------------------------------------------------------------------------------------------

    def is_empty(self, expr: Expr) -> bool:
        """Whether an expression denotes nothing."""
        known = self._emptiness.get(expr)
        if known is None:
            known = self._emptiness[expr] = expr == self.builder.never or self._questions.is_empty(expr)
        return known

    def matches(self, texts: Expr, text: str) -> bool:
        """Whether a text is in a set of texts."""
        key = (texts, text)
        known = self._matches.get(key)
        if known is None:
            known = self._matches[key] = self._questions.matches(texts, text.encode())
        return known

    def count_values(self, texts: Expr, limit: int) -> int:
        """How many strings a set of texts has; `limit` if it has at least so many."""
        known = self._counts.get((texts, limit))
        if known is None:
            known = self._counts[texts, limit] = self._questions.count(texts, limit)
        return known

    def is_void_goal(self, goal: Goal) -> bool:
        """Whether a goal is known to admit nothing."""
        return self.normaliser.proofs.is_void(goal)

    def exclude_each_other(self, first: Goal, second: Goal) -> bool:
        """Whether two goals are known to have nothing in common."""
        return self.normaliser.proofs.exclude_each_other(first, second)

    def is_listed(self, goal: Goal) -> bool:
        """Whether a goal is known to be met by some listed scalars only."""
        return self.normaliser.proofs.is_listed(goal)

    def negated(self, goal: Goal) -> list[Goal]:
        """Goals of which any is met exactly where `goal` is not."""
        if goal == NEVER:
            return [ANYTHING]
        return [self.document.goal(self.document.negation(place)) for place in goal]

    def opposite(self, goal: Goal) -> Goal:
        """The negation of a goal of at most one place."""
        if not goal:
            return NEVER
        (other,) = self.negated(goal)
        return other

    def single(self, name: str, goal: Goal) -> ObjectLayer:
        """The layer, always the same one, that a negation makes for one key."""
        return self._singles.setdefault((name, goal), ObjectLayer({name: goal}, is_negation=True))

    def every(self, keys: KeySet, goal: Goal) -> ObjectLayer:
        """The layer, always the same one, that asks something of all keys in a set."""
        known = self._every.get((keys, goal))
        if known is None:
            if keys.texts is not None:
                known = ObjectLayer({}, ((keys.texts, goal),))
            else:
                named = dict.fromkeys(sorted(keys.names), ANYTHING)
                known = ObjectLayer(named, tuple((texts, ANYTHING) for texts in keys.classes), goal)
            self._every[keys, goal] = known
        return known

    def other_keys(self, allowed: Expr, widest: Expr) -> KeySet:
        """The keys that are not allowed, for a layer that forbids them; `widest` has all that may be allowed. See `negated_keys`."""
        forbidden, surely = KeySet(self.builder.text_minus(allowed)), KeySet(self.builder.text_minus(widest))
        if forbidden != surely:
            self._other_side[forbidden], self._other_side[surely] = surely, forbidden
        return forbidden

    def negated_keys(self, keys: KeySet) -> KeySet:
        """The keys that a negation may speak of: of those that are only known from one side, the set on the other side."""
        return self._other_side.get(keys, keys)

    # --- sets -------------------------------------------------------------------------------------------------------------

    def pattern(self, place: Place, keyword: str, source: Any) -> Expr:
        """The strings in which a regular expression of the schema matches somewhere."""
        if not isinstance(source, str):
            raise SchemaError("a regular expression is a string", pointer=place.pointer, keyword=keyword)
        known = self._patterns.get(source)
        if known is None:
            self.check_text(place, keyword, source)
            try:
                known = self.builder.pattern(source, ECMA_SEARCH)
                self.is_empty(known)  # the core parses it
            except UnsupportedRegexError as error:  # kept, because the core reports a pattern only once
                self.builder.withdraw_pattern()
                known = f"{error.reason}, in {source!r:.200}"
            except GrammarSyntaxError as error:
                raise SchemaError(f"{error.reason}, in {source!r:.200}", pointer=place.pointer, keyword=keyword) from error
            except LimitExceededError as error:
                if not (self.options.lenient and error.limit == "max_regex_nesting"):
                    error.locate(f"{place.pointer}/{keyword}" + (f"/{escape(source)}" if keyword == "patternProperties" else ""))
                    raise
                self.builder.withdraw_pattern()
                known = str(error)
            self._patterns[source] = known
        if isinstance(known, str):
            raise UnsupportedSchemaError(known, pointer=place.pointer, keyword=keyword)
        return known

    def format(self, name: str) -> Expr:
        """The strings of a format that `FORMATS` knows."""
        known = self._formats.get(name)
        if known is None:
            known = self._formats[name] = self.builder.copy(fragment(name))
            if name in WIDER:
                self._wider[known] = WIDER[name](self.builder)
            if name in APART:
                self._apart.add(known)
        return known

    def widest(self, texts: Expr) -> Expr:
        """A set that contains what a set of texts stands for: the set itself, unless it is only a part of its format."""
        return self._wider.get(texts, texts)

    def can_be_joined(self, texts: Iterable[Expr]) -> bool:
        """Whether some sets of texts may become one expression with others: none is only a part of its format, or to be kept apart."""
        return all(text not in self._wider and text not in self._apart for text in texts)

    def exclude_formats(self, sets: frozenset[Expr]) -> bool:
        """Whether a format and what is outside of another, of which it is a part,
        are among some sets: a search for a string of both would not end soon.
        """
        formats = self._formats
        if not formats:
            return False
        pairs = [(formats[name], formats[other]) for name, other in WITHIN.items() if name in formats and other in formats]
        return any(part in sets and self._others.get(whole) in sets for part, whole in pairs)

    def other_texts(self, texts: Expr) -> Expr:
        """Texts that are not in a set, and not in the format of which it is a part either."""
        if texts not in self._others:
            wider = self.widest(texts)
            others = self.builder.text_minus(wider)
            self._others[texts], self._others[others] = others, texts
            if wider != texts:
                self._wider[others] = self.builder.text_minus(texts)
            if texts in self._apart:
                self._apart.add(others)
        return self._others[texts]

    def listed(self, texts: Iterable[str]) -> Expr:
        """The given texts, not quoted."""
        return self.builder.literals([text.encode() for text in texts])

    def quoted(self, texts: Expr) -> Expr:
        """The JSON strings whose values are in a set of texts."""
        return self.builder.concat(self.quote, self.builder.json(texts, self.escapes), self.quote)

    def quoted_values(self, texts: Iterable[str]) -> Expr:
        """The JSON strings of the given values."""
        if self.escapes == ESCAPES_MINIMAL and _has_short_escapes("".join(texts)):
            return self.builder.literals([encode_basestring(text).encode() for text in texts])
        return self.quoted(self.listed(texts))

    def quoted_value(self, text: str) -> Expr:
        """The JSON strings of the given value."""
        if self.escapes == ESCAPES_MINIMAL and _has_short_escapes(text):
            return self.builder.string(encode_basestring(text))
        return self.quoted(self.builder.string(text))

    # --- values of keywords -----------------------------------------------------------------------------------------------

    def check_text(self, place: Place, keyword: str | None, text: str) -> None:
        """Refuse text that has no UTF-8 encoding."""
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise SchemaError(
                    f"the string {text[:40]!r} has a lone surrogate, which no text can contain", pointer=place.pointer, keyword=keyword
                ) from None

    def number(self, place: Place, keyword: str, value: Any) -> Decimal:
        """A number of the schema, exactly. Integers may be of any type, as those of numpy."""
        if not isinstance(value, (int, float, Decimal)) and isinstance(value, Integral):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            shown = "an object" if isinstance(value, dict) else "an array" if isinstance(value, (list, tuple)) else f"{value!r:.40}"
            raise SchemaError(f"{shown} is no number", pointer=place.pointer, keyword=keyword)
        if isinstance(value, int) and value.bit_length() > 4 * MAX_DIGITS:
            result = None
        else:
            result = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
        if result is not None and not result.is_finite():
            raise SchemaError(f"{value} is no JSON number", pointer=place.pointer, keyword=keyword)
        if result is None or not -MAX_DIGITS < result.adjusted() < MAX_DIGITS or len(result.as_tuple().digits) > MAX_DIGITS:
            raise UnsupportedSchemaError(
                f"numbers of at most {MAX_DIGITS:,} digits are understood; round it", pointer=place.pointer, keyword=keyword
            )
        return result if result else Decimal(0)


def _has_short_escapes(text: str) -> bool:
    """Whether each character is written raw or by a short escape."""
    return text.isprintable() or _NOT_SHORT.isdisjoint(text)
