"""What `Grammar.from_tags` is given, and what is refused of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...checks import check_bool, check_choice, check_texts
from ...errors import GrammarEngineError, GrammarError
from ...tags import MAX_MARK, Tag, Token
from .free_text import within

if TYPE_CHECKING:
    from ...inclusion import Part
    from ...report import Report
    from ...tags import Mark

_TEXTS = ("around", "before", "never")
_CHOICES = ("auto", "required", "none")


class Options(NamedTuple):
    """The options of `Grammar.from_tags`, which describes them; checked."""

    choice: str
    parallel: bool
    text: str
    separator: str
    triggers: list[str] | None
    excluded: list[str]

    @classmethod
    def of(cls, choice: str, parallel: bool, text: str, separator: str, triggers: Iterable[str] | None, excluded: Iterable[str]) -> Options:
        """Raises TypeError, ValueError and GrammarError for what is no option. (`choice` may be a name.)"""
        check_bool("parallel", parallel)
        check_choice("text", text, _TEXTS)
        if not isinstance(separator, str):
            raise TypeError(f"separator is a str, not {type(separator).__name__}")
        if separator and text == "around":
            raise ValueError('a separator is for tags without free text between them: with text="around" there is some')
        _check_text("separator", separator)
        asked = None if triggers is None else _texts("triggers", triggers)
        return cls(choice, parallel, text, separator, asked, _texts("excluded", excluded))

    def n_tags(self, n_regions: int) -> tuple[int, int | None]:
        """How many tags there are at least, and at most."""
        if not n_regions:
            return 0, 0
        return int(self.choice != "auto"), None if self.parallel else 1


class Region(NamedTuple):
    """A tag, taken apart: marks are texts and tokens, no two texts side by side, and none that is empty."""

    name: str
    begin: tuple[str | Token, ...]
    body: Part | None
    end: tuple[str | Token, ...]
    report: Report | None


class Asked(NamedTuple):
    """What is to be compiled.

    Attributes
    ----------
    regions : list of Region
        The tags that may come.
    thinking : Region or None
    triggers : list of str
        What free text is without, beside what is excluded: with what tags begin, and the thinking.
    options : Options
    """

    regions: list[Region]
    thinking: Region | None
    triggers: list[str]
    options: Options


Compile = Callable[[Any], "tuple[Part, Report]"]  # of a body that is not None


def read(tags: Iterable[Tag], thinking: Tag | None, options: Options, compile_body: Compile) -> Asked:
    """Take tags apart, and compile the bodies of those that may come.

    Raises
    ------
    TypeError, ValueError
        Something is no tag, no mark, no name or no choice.
    GrammarError
        It cannot be told where a tag begins or a text ends, or no text could be written.
    """
    listed = _listed(tags)
    if thinking is not None and not isinstance(thinking, Tag):
        raise TypeError(f"thinking is a Tag, not {type(thinking).__name__}")
    marked = [_marked(tag) for tag in listed]
    may_come = _choice(listed, options)
    regions = [_with_body(region, tag, options, compile_body) for region, tag in zip(marked, listed) if may_come(tag)]
    before = None if thinking is None else _with_body(_marked(thinking), thinking, options, compile_body)
    triggers = _triggers(marked, before, options)
    if not regions and (options.choice != "none" or options.text == "never"):
        raise GrammarError("there are no tags" + (', and no text beside them with text="never"' if options.choice == "none" else ""))
    return Asked(regions, before, triggers, options)


def _listed(tags: Iterable[Tag]) -> list[Tag]:
    if isinstance(tags, (Tag, str, bytes)) or not isinstance(tags, Iterable):
        raise TypeError(f"tags is a list of Tag, not one {type(tags).__name__}")
    found = list(tags)
    for tag in found:
        if not isinstance(tag, Tag):
            raise TypeError(f"tags is a list of Tag; one is {type(tag).__name__}")
    return found


def _marked(tag: Tag) -> Region:
    """A tag without its body."""
    if tag.name is not None and not isinstance(tag.name, str):
        raise TypeError(f"the name of a tag is a str, not {type(tag.name).__name__}")
    if tag.name in _CHOICES:
        raise ValueError(f"a tag cannot have the name {tag.name!r}, which says how many tags are to come")
    begin, end = _parts(tag.begin, "the beginning of a tag"), _parts(tag.end, "the end of a tag")
    return Region(tag.name or "".join(map(str, begin)) or "tag", begin, None, end, None)


def _choice(tags: list[Tag], options: Options) -> Callable[[Tag], bool]:
    """Which tags may come."""
    names = dict.fromkeys(tag.name for tag in tags if tag.name is not None)
    check_choice("choice", options.choice, (*_CHOICES, *names))
    return lambda tag: tag.name == options.choice if options.choice in names else options.choice != "none"


def _with_body(region: Region, tag: Tag, options: Options, compile_body: Compile) -> Region:
    if tag.body is not None:
        try:
            body, report = compile_body(tag.body)
        except GrammarEngineError as error:
            error.tell(f"in the body of the tag {region.name!r}")
            raise
        return region._replace(body=body, report=report)
    if not region.end:
        raise GrammarError(f"the body of the tag {region.name!r} is any text, and so it needs an end")
    end = region.end[0]
    for text in options.excluded:
        if isinstance(end, str) and text in end:
            raise GrammarError(
                f"{text!r} is excluded, and is in {end!r}, which ends the body of the tag {region.name!r}, which is any text"
            )
    return region


def _triggers(tags: Sequence[Region], thinking: Region | None, options: Options) -> list[str]:
    """Those of `Asked`. The tags are all that there are, whether they may come or not: who reads the text would take them for tags."""
    triggers: list[str] = []
    for tag in tags:
        first = tag.begin[0] if tag.begin else ""
        if not isinstance(first, str):
            continue
        if not first and options.text != "never":
            raise GrammarError(f"the tag {tag.name!r} has no beginning, so it cannot be told from the free text before it")
        if options.triggers is not None and not first.startswith(tuple(options.triggers)):
            raise GrammarError(f"the tag {tag.name!r} begins with {first!r}, and so with none of the triggers")
        triggers.append(first)
    if options.text == "never":
        return []
    triggers = list(dict.fromkeys(triggers if options.triggers is None else options.triggers))
    if thinking and thinking.begin and isinstance(thinking.begin[0], str):
        triggers.append(thinking.begin[0])
    if len(set(triggers)) < len(triggers):
        raise GrammarError(f"{triggers[-1]!r} begins the thinking, and a tag as well")
    for inner, outer in within(triggers, triggers):
        is_given = options.triggers is not None and inner in options.triggers
        what = f"the trigger {inner!r}" if is_given else f"{inner!r}, with which a tag or the thinking begins,"
        raise GrammarError(f"{what} is in {outer!r}, and so would be found first")
    for inner, outer in within(options.excluded, triggers, whole=True):
        raise GrammarError(f"{inner!r} is excluded, and is in {outer!r}, with which a tag or the thinking begins")
    return triggers


def _parts(mark: Mark, what: str) -> tuple[str | Token, ...]:
    if isinstance(mark, (str, Token)):
        mark = (mark,)
    if isinstance(mark, bytes) or not isinstance(mark, Sequence):
        raise TypeError(f"{what} is a str, a Token or a sequence of these, not {type(mark).__name__}")
    parts: list[str | Token] = []
    for part in mark:
        if not isinstance(part, (str, Token)):
            raise TypeError(f"{what} is made of str and Token, not of {type(part).__name__}")
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        elif part != "":
            parts.append(part)
    for part in parts:
        if isinstance(part, str):
            _check_text(what, part)
    return tuple(parts)


def _texts(what: str, texts: Iterable[str]) -> list[str]:
    listed = check_texts(what, texts)
    for text in listed:
        if not text:
            raise ValueError(f"{what} has an empty text, which any text has in it")
        _check_text(what, text)
    return list(dict.fromkeys(listed))


def _check_text(what: str, text: str) -> None:
    if len(text) > MAX_MARK:
        raise GrammarError(f"{what} has a text of {len(text):,} characters, {text[:20]!r}...; at most {MAX_MARK:,} are taken")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise GrammarError(f"{what} has a lone surrogate, which is no character", source=text, offset=error.start) from None
