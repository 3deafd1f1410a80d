"""Sets of strings: lengths, listed values, regular expressions.

Idea. As with numbers: a union of pieces, a piece being a conjunction that stays symbolic. `text` expressions are over the *value* of the
string; quoting (`Builder.json`) comes last, so that pattern, length, format and `not` compose. Lengths count code points.

Invariant. Listed values already satisfy the lengths of the same piece and are not excluded (these fields are then 0, None and empty).
Expressions denote valid UTF-8 only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....ir import Expr

if TYPE_CHECKING:
    from ..context import Context

_NOTHING: frozenset[Expr] = frozenset()
_NONE: frozenset[str] = frozenset()


class StringPiece(NamedTuple):
    """The strings that meet all of these conditions.

    Attributes
    ----------
    shortest, longest : int, int or None
        Length in code points.
    texts : frozenset of Expr
        The string is in each of these.
    values : frozenset of str or None
        The string is one of these.
    excluded : frozenset of str
        The string is none of these.
    """

    shortest: int = 0
    longest: int | None = None
    texts: frozenset[Expr] = _NOTHING
    values: frozenset[str] | None = None
    excluded: frozenset[str] = _NONE

    def meet(self, other: StringPiece) -> StringPiece | None:
        """What both pieces have in common, or None where that is known to be nothing."""
        shortest = max(self.shortest, other.shortest)
        longest = self.longest if other.longest is None else other.longest if self.longest is None else min(self.longest, other.longest)
        texts = self.texts | other.texts
        values = self.values if other.values is None else other.values if self.values is None else self.values & other.values
        excluded = self.excluded | other.excluded
        if values is not None:
            values -= excluded
            if shortest or longest is not None:
                values = frozenset(v for v in values if shortest <= len(v) and (longest is None or len(v) <= longest))
            return StringPiece(0, None, texts, values) if values else None
        if longest is not None and shortest > longest:
            return None
        return StringPiece(shortest, longest, texts, None, excluded)

    def covers(self, other: StringPiece) -> bool:
        """Whether the other piece is seen to be a part of this one (False: maybe it is)."""
        return self.values is None and other.values is None and self.meet(other) == other

    def negations(self, context: Context) -> list[StringPiece]:
        """Pieces that together are all other strings."""
        result = []
        if self.shortest:
            result.append(StringPiece(longest=self.shortest - 1))
        if self.longest is not None:
            result.append(StringPiece(shortest=self.longest + 1))
        result += [StringPiece(texts=frozenset((context.other_texts(text),))) for text in self.texts]
        if self.values is not None:
            result.append(StringPiece(excluded=self.values))
        if self.excluded:
            result.append(StringPiece(values=self.excluded))
        return result

    def is_void(self, context: Context) -> bool:
        """Whether the set is empty; exact, but for formats of which only a part is known (`Context.widest`): False in doubt."""
        return bool(self.texts or (self.excluded and self.longest is not None)) and context.is_empty(self.widest_text(context))

    def widest_text(self, context: Context) -> Expr:
        """The same as `text`, but with all that a format might admit where only a part of it is known (`Context.widest`)."""
        return self._replace(texts=frozenset(map(context.widest, self.texts))).text(context)

    def text(self, context: Context) -> Expr:
        """The values of the strings, not quoted."""
        b = context.builder
        if context.exclude_formats(self.texts):
            return b.never
        parts = list(self.texts)
        if self.values is not None:
            parts.append(context.listed(self.values))
        if self.shortest or self.longest is not None:
            parts.append(b.repeat(b.char, self.shortest, self.longest))
        if self.excluded:
            parts.append(b.text_minus(context.listed(self.excluded)))
        return b.intersect(*parts) if parts else b.text

    def expr(self, context: Context, _where: str, _is_normal: bool = False) -> Expr:
        """The JSON texts of the strings."""
        if self.values is not None and not self.texts:
            return context.quoted_values(self.values)
        return context.quoted(self.text(context))

    def words(self) -> str:
        """A short name."""
        if self.values is not None:
            return "enum" if len(self.values) > 1 else shown(next(iter(self.values)))
        return "string" if self == STRINGS else "string with conditions"


STRINGS = StringPiece()


def shown(text: str) -> str:
    """A string value as a name for readers: quoted and cut."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
