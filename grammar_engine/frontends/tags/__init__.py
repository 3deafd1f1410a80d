"""Tags in free text: the grammar of what a model with tools writes.

    text   =  thinking?  (free text, tag)*  free text
    tag    =  begin  body  end

Idea. A tag begins where the text first has a *trigger*, which is how beginnings begin. So free text is all text without a trigger, or what
is excluded: mostly one lexeme, however many tags there are (free_text.py). Bodies are compiled grammars, which are made again here
(`inclusion.py`).

`options.py` is what the user hands over, and what is refused of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ...errors import GrammarError
from ...inclusion import Part, check_texts, include
from ...report import Entry, Report
from ...tags import Token
from .free_text import endings_of, free_text
from .options import Asked, Options, Region, read

if TYPE_CHECKING:
    from ...ir import Builder, Symbol

__all__ = ["Options", "build", "named_in", "read"]


def build(builder: Builder, asked: Asked) -> Report:
    """Compile tags into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    asked : Asked

    Raises
    ------
    GrammarError
        A body cannot be a part: it has `lexing="longest"`, or, where special tokens are named, the byte that spells these.
    """
    return _Tags(builder, asked).build()


def named_in(asked: Asked) -> frozenset[str | int]:
    """The special tokens that tags and their bodies name.

    Raises
    ------
    GrammarError
        A body has the byte with which the spelling of special tokens begins. (Only `Grammar.from_choices` takes such texts.)
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
    def __init__(self, builder: Builder, asked: Asked):
        self.builder = builder
        self.regions, self.thinking, self.triggers, self.options = asked
        self.endings = endings_of([*self.triggers, *self.options.excluded], self.triggers)

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
        builder, last = self.builder, self.free(self.triggers, ())
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
        body = self.text_until(region.end) if region.body is None else self.included(region.name, region.body)
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
        return self.free(self.triggers, self.endings[trigger] if trigger else ())

    def text_until(self, end: Sequence[str | Token]) -> Symbol:
        first, *others = end
        if isinstance(first, Token):
            return self.free([], ())
        stops = [] if others else [first]  # an end with a special token in it is in no text
        return self.free(stops, endings_of([*stops, *self.options.excluded], [first])[first])

    def free(self, stops: Sequence[str], endings: Sequence[str]) -> Symbol:
        return self.builder.lexeme(free_text(self.builder, [*stops, *self.options.excluded], endings), "free text")

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
