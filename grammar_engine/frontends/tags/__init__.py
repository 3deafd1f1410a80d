"""Tags in free text: the grammar of what a model with tools writes.

    text   =  thinking?  (free text, tag)*  free text
    tag    =  begin  body  end

Idea. A tag begins where the text first has a *trigger*, which is how beginnings begin. So free text is all text without a trigger, or what
is excluded: mostly one lexeme, however many tags there are (free_text.py). Bodies are compiled grammars, which are made again here
(`inclusion.py`).

`options.py` is what the user hands over, and what is refused of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ...errors import GrammarError, LimitExceededError
from ...inclusion import Part, check_texts, include
from ...report import Entry, Report
from ...tags import Token
from .free_text import endings_of, free_text
from .options import Asked, Options, Region, read

if TYPE_CHECKING:
    from ...ir import Builder, Symbol
    from ...limits import Limits

__all__ = ["Options", "build", "named_in", "read"]


def build(builder: Builder, asked: Asked, limits: Limits) -> Report:
    """Compile tags into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    asked : Asked
    limits : Limits
        `max_schema_nodes` bounds the work for texts that overlap, and for free text of many kinds.

    Raises
    ------
    GrammarError
        A body cannot be a part: it has `lexing="longest"`, or, where special tokens are named, the byte that spells these.
    LimitExceededError
    """
    return _Tags(builder, asked, limits).build()


def named_in(asked: Asked) -> frozenset[str | int]:
    """The special tokens that tags and their bodies name.

    Raises
    ------
    GrammarError
        A body has the byte with which the spelling of special tokens begins. (Only `Grammar.from_choices` takes such texts; token
        automata that were made of one have them, too.)
    """
    regions = [*asked.regions, *([asked.thinking] if asked.thinking else [])]
    found: set[str | int] = set()
    for region in regions:
        found.update(part.key for part in chain(region.begin, region.end) if isinstance(part, Token))
        found.update(region.body.named if region.body else ())
    for region in regions:
        if region.body:
            check_texts(region.body, found, f"the body of the tag {region.name!r}")
    return frozenset(found)


class _Tags:
    def __init__(self, builder: Builder, asked: Asked, limits: Limits):
        self.builder, self.limits, self.n_counted = builder, limits, 0
        self.regions, self.thinking, self.triggers, self.options = asked
        self.endings = self.endings_of(self.triggers, self.triggers, "triggers")
        self.texts: dict[tuple[str | None, ...], Symbol] = {}  # free text, by what it is without and what it may not end with

    def build(self) -> Report:
        text = self.builder.nonterminal("text")
        tags = [self.sequence(region) for region in self.regions]
        low, high = self.options.n_tags(len(tags))
        if self.options.text == "never":
            self.add_tags_alone(text, tags, low, high)
        else:
            self.add_text_and_tags(text, tags, low, high)
        self.builder.start = text if self.thinking is None else self.after_thinking(self.thinking, text)
        return self.report()

    def add_tags_alone(self, text: Symbol, tags: Sequence[Symbol], low: int, high: int | None) -> None:
        separator = self.mark(self.options.separator) if self.options.separator else None
        tag = self.builder.any_of("tag", [(tag,) for tag in tags])
        self.builder.rule(text, (self.builder.list_of(tag, separator, low, high, "tags"),))

    def add_text_and_tags(self, text: Symbol, tags: Sequence[Symbol], low: int, high: int | None) -> None:
        builder, last = self.builder, self.free(self.triggers, (), "triggers")
        if not tags:
            builder.rule(text, (last,))
            return
        first = self.builder.any_of("text and tag", [(self.before(region), tag) for region, tag in zip(self.regions, tags, strict=True)])
        if self.options.text == "around":
            builder.rule(text, (builder.list_of(first, None, low, high, "tags"), last))
            return
        between = [self.mark(self.options.separator)] if self.options.separator else []
        more = self.builder.any_of("tag", [(*between, tag) for tag in tags])
        builder.rule(text, (first, builder.list_of(more, None, 0, None if high is None else high - 1, "tags")))
        if low == 0:
            builder.rule(text, (last,))

    def after_thinking(self, thinking: Region, text: Symbol) -> Symbol:
        """Thinking that the prompt has not begun may be left out."""
        ways = [(self.sequence(thinking), text)]
        return self.builder.any_of("text", ways if not thinking.begin else [*ways, (text,)])

    def sequence(self, region: Region) -> Symbol:
        """A region: its beginning, its body and its end."""
        body = self.text_until(region) if region.body is None else self.included(region.name, region.body)
        marks = [[self.mark(part) for part in parts] for parts in (region.begin, region.end)]
        return self.builder.any_of(region.name, [(*marks[0], body, *marks[1])])

    def included(self, name: str, body: Part) -> Symbol:
        try:
            return include(self.builder, body, place=f"{name}#")
        except GrammarError as error:
            raise GrammarError(f"the body of the tag {name!r}: {error.reason}") from None

    def before(self, region: Region) -> Symbol:
        """The free text before a tag."""
        first = region.begin[0]
        trigger = next((first[:n] for n in range(1, len(first) + 1) if first[:n] in self.endings), None) if isinstance(first, str) else None
        return self.free(self.triggers, self.endings[trigger] if trigger else (), region.name)

    def text_until(self, region: Region) -> Symbol:
        """A body that is any text."""
        first, *others = region.end
        if isinstance(first, Token):
            return self.free([], (), region.name)
        stops = [] if others else [first]  # an end with a special token in it is in no text
        return self.free(stops, self.endings_of(stops, [first], region.name)[first], region.name)

    def endings_of(self, stops: Sequence[str], following: Sequence[str], where: str) -> dict[str, list[str]]:
        stops = [*stops, *self.options.excluded]
        signs = Counter(chain.from_iterable(stop[1:] for stop in stops))
        self.count(sum(signs[text[0]] for text in following) // 4, where)  # places that are compared
        return endings_of(stops, following)

    def free(self, stops: Sequence[str], endings: Sequence[str], where: str) -> Symbol:
        key = *stops, None, *endings
        if key not in self.texts:
            stops = [*stops, *self.options.excluded]
            self.count(sum(map(len, chain(stops, endings))) // 16, where)
            self.texts[key] = self.builder.lexeme(free_text(self.builder, stops, endings), "free text")
        return self.texts[key]

    def count(self, n: int, where: str) -> None:
        """Count work, in what takes as long as a node of a schema."""
        self.n_counted += n
        if self.n_counted > self.limits.max_schema_nodes:
            remedy = "Limits(max_schema_nodes=...), or use fewer and shorter texts that begin or end tags, or are excluded"
            raise LimitExceededError("max_schema_nodes", self.limits.max_schema_nodes, where=where, remedy=remedy)

    def mark(self, part: str | Token) -> Symbol:
        if isinstance(part, Token):
            return self.builder.lexeme(self.builder.bytes(part.spelling), str(part))
        return self.builder.lexeme(self.builder.string(part), f'"{part}"')

    def report(self) -> Report:
        """The bodies' reports, and what is asked beside them."""
        report = Report()
        regions = [*self.regions, *([self.thinking] if self.thinking else [])]
        for region in regions:
            told = "any text up to its end" if region.body is None else "what its grammar says"
            report.enforced.append(Entry(region.name, "tag", told))
            if region.report is None:
                continue
            report.take_over(region.report, f"{region.name}#")
        for keyword, texts in (("triggers", self.triggers), ("excluded", self.options.excluded)):
            if texts:
                report.enforced.append(Entry("", keyword, "none in free text: " + ", ".join(map(repr, texts))))
        return report
