"""Tags in free text: the grammar of what a model with tools writes.

    text   =  thinking?  (free text, tag)*  free text
    tag    =  begin  body  end

Idea. A tag begins where the text first has a *trigger*, which is how beginnings begin. So free text is all text without a trigger, or what is
excluded: mostly one lexeme, however many tags there are (free_text.py). Bodies are compiled grammars, which are made again here (`inclusion.py`).

`options.py` is what the user hands over, and what is refused of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ...inclusion import include
from ...report import Entry, Report
from ...tags import Token
from .free_text import free_text
from .options import Options, Region, chosen, listed, name_of, region_of, triggers_of

if TYPE_CHECKING:
    from ...ir import Builder, Symbol
    from ...tags import Tag

__all__ = ["Options", "Region", "build", "chosen", "listed", "name_of", "region_of", "tokens_of"]


def build(builder: Builder, tags: Sequence[Tag], regions: Sequence[Region], thinking: Region | None, options: Options) -> Report:
    """Compile tags into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    tags : sequence of Tag
        All: free text begins none of them.
    regions : sequence of Region
        Those that may come.
    thinking : Region or None
    options : Options

    Raises
    ------
    GrammarError
        It cannot be told where a tag begins or a text ends, or no text could be written.
    """
    return _Tags(builder, regions, thinking, options, triggers_of(tags, thinking, options)).build()


class _Tags:
    def __init__(self, builder: Builder, regions: Sequence[Region], thinking: Region | None, options: Options, triggers: list[str]):
        self.builder, self.regions, self.thinking, self.options, self.triggers = builder, regions, thinking, options, triggers

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
        tag = self.any_of("tag", [(tag,) for tag in tags])
        self.builder.rule(text, (self.builder.list_of(tag, separator, low, high, "tags"),))

    def add_text_and_tags(self, text: Symbol, tags: Sequence[Symbol], low: int, high: int | None) -> None:
        builder, last = self.builder, self.free(self.triggers, None)
        if not tags:
            builder.rule(text, (last,))
            return
        first = self.any_of("text and tag", [(self.before(region), tag) for region, tag in zip(self.regions, tags, strict=True)])
        if self.options.text == "around":
            builder.rule(text, (builder.list_of(first, None, low, high, "tags"), last))
            return
        between = [self.mark(self.options.separator)] if self.options.separator else []
        more = self.any_of("tag", [(*between, tag) for tag in tags])
        builder.rule(text, (first, builder.list_of(more, None, 0, None if high is None else high - 1, "tags")))
        if low == 0:
            builder.rule(text, (last,))

    def after_thinking(self, thinking: Region, text: Symbol) -> Symbol:
        """Thinking that the prompt has not begun may be left out."""
        ways = [(self.sequence(thinking), text)]
        return self.any_of("text", ways if not thinking.begin else [*ways, (text,)])

    def any_of(self, name: str, ways: Sequence[Sequence[Symbol]]) -> Symbol:
        symbol = self.builder.nonterminal(name)
        for way in ways:
            self.builder.rule(symbol, way)
        return symbol

    def sequence(self, region: Region) -> Symbol:
        """A region: its beginning, its body and its end."""
        body = self.text_until(region.end[0]) if region.body is None else include(self.builder, region.body)
        marks = [[self.mark(part) for part in parts] for parts in (region.begin, region.end)]
        return self.any_of(region.name, [(*marks[0], body, *marks[1])])

    def before(self, region: Region) -> Symbol:
        """The free text before a tag."""
        first = region.begin[0]
        return self.free(self.triggers, next((t for t in self.triggers if isinstance(first, str) and first.startswith(t)), None))

    def text_until(self, end: str | Token) -> Symbol:
        return self.free([end], end) if isinstance(end, str) else self.free([], None)

    def free(self, stops: Sequence[str], before: str | None) -> Symbol:
        return self.builder.lexeme(free_text(self.builder, [*stops, *self.options.excluded], before), "free text")

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
            for name in ("enforced", "annotations", "relaxed", "notes"):
                entries: list[Entry] = getattr(region.report, name)
                getattr(report, name).extend(entry._replace(pointer=f"{region.name}#{entry.pointer}") for entry in entries)
        for keyword, texts in (("triggers", self.triggers), ("excluded", self.options.excluded)):
            if texts:
                report.enforced.append(Entry("", keyword, "none in free text: " + ", ".join(map(repr, texts))))
        return report


def tokens_of(regions: Sequence[Region], thinking: Region | None) -> frozenset[str | int]:
    """The special tokens that they name."""
    found: set[str | int] = set()
    for region in (*regions, *([thinking] if thinking else [])):
        found.update(part.key for part in chain(region.begin, region.end) if isinstance(part, Token))
        found.update(region.body.named if region.body else ())
    return frozenset(found)
