"""What `Grammar.from_tags` is given, and what is refused of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...checks import check_bool, check_choice
from ...errors import GrammarError
from ...tags import Tag, Token

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
        """Raises TypeError and ValueError for what is no option. (`choice` may be a name.)"""
        check_bool("parallel", parallel)
        check_choice("text", text, _TEXTS)
        if not isinstance(separator, str):
            raise TypeError(f"separator is a str, not {type(separator).__name__}")
        if separator and text == "around":
            raise ValueError('a separator is for tags without free text between them: with text="around" there is some')
        _check_encodable("separator", separator)
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


def listed(tags: Iterable[Tag]) -> list[Tag]:
    """Raises TypeError for what is no list of tags."""
    if isinstance(tags, (Tag, str, bytes)) or not isinstance(tags, Iterable):
        raise TypeError(f"tags is a list of Tag, not one {type(tags).__name__}")
    found = list(tags)
    for tag in found:
        if not isinstance(tag, Tag):
            raise TypeError(f"tags is a list of Tag; one is {type(tag).__name__}")
    return found


def chosen(tags: list[Tag], options: Options) -> list[Tag]:
    """The tags that may come. Raises ValueError for a choice that is none, GrammarError if no text could be written."""
    names = dict.fromkeys(tag.name for tag in tags if tag.name is not None and tag.name not in _CHOICES)
    check_choice("choice", options.choice, (*_CHOICES, *names))
    if options.choice in names:
        tags = [tag for tag in tags if tag.name == options.choice]
    elif options.choice == "none":
        tags = []
    if not tags and (options.choice != "none" or options.text == "never"):
        raise GrammarError("there are no tags" + (', and no text beside them with text="never"' if options.choice == "none" else ""))
    return tags


def region_of(tag: Tag, body: Part | None, report: Report | None, options: Options) -> Region:
    """Raises TypeError and GrammarError for marks that are none, and a text without an end that can be written."""
    begin, end = parts_of(tag.begin, "the beginning of a tag"), parts_of(tag.end, "the end of a tag")
    name = name_of(tag)
    if body is None and not end:
        raise GrammarError(f"the body of the tag {name!r} is any text, and so it needs an end")
    for text in options.excluded:
        if body is None and isinstance(end[0], str) and text in end[0]:
            raise GrammarError(f"{text!r} is excluded, and is in {end[0]!r}, which ends the body of the tag {name!r}, which is any text")
    return Region(name, begin, body, end, report)


def name_of(tag: Tag) -> str:
    """Its name, or how it begins."""
    if tag.name is not None and not isinstance(tag.name, str):
        raise TypeError(f"the name of a tag is a str, not {type(tag.name).__name__}")
    return tag.name or "".join(map(str, parts_of(tag.begin, "the beginning of a tag"))) or "tag"


def triggers_of(tags: Sequence[Tag], thinking: Region | None, options: Options) -> list[str]:
    """What free text is without, beside what is excluded: texts with which tags begin, and what begins the thinking.

    The tags are all that there are, whether they may come or not: who reads the text would take them for tags. Raises GrammarError where one could
    not be told from the text before it.
    """
    if options.text == "never":
        return []
    triggers: list[str] = []
    for tag in tags:
        begin = parts_of(tag.begin, "the beginning of a tag")
        if not begin:
            raise GrammarError(f"the tag {name_of(tag)!r} has no beginning, so it cannot be told from the free text before it")
        if not isinstance(begin[0], str):
            continue
        if options.triggers is not None and not begin[0].startswith(tuple(options.triggers)):
            raise GrammarError(f"the tag {name_of(tag)!r} begins with {begin[0]!r}, and so with none of the triggers")
        triggers.append(begin[0])
    triggers = list(dict.fromkeys(triggers if options.triggers is None else options.triggers))
    if thinking and thinking.begin and isinstance(thinking.begin[0], str):
        triggers.append(thinking.begin[0])
    for i, trigger in enumerate(triggers):
        for other in triggers[:i] + triggers[i + 1 :]:
            if trigger in other:
                raise GrammarError(f"{trigger!r}, with which a tag or the thinking begins, is in {other!r}, and so would be found first")
        for text in options.excluded:
            if text in trigger:
                raise GrammarError(f"{text!r} is excluded, and is in {trigger!r}, with which a tag or the thinking begins")
    return triggers


def parts_of(mark: Mark, what: str) -> tuple[str | Token, ...]:
    """A beginning or an end, as in `Region`. Raises TypeError and GrammarError for what is none."""
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
        _check_encodable(what, part)
    return tuple(parts)


def _texts(what: str, texts: Iterable[str]) -> list[str]:
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise TypeError(f"{what} is a list of str, not {type(texts).__name__}")
    listed = list(texts)
    for text in listed:
        if not isinstance(text, str):
            raise TypeError(f"{what} is a list of str; one is {type(text).__name__}")
        if not text:
            raise ValueError(f"{what} has an empty text, which any text has in it")
        _check_encodable(what, text)
    return list(dict.fromkeys(listed))


def _check_encodable(what: str, text: Any) -> None:
    try:
        if isinstance(text, str):
            text.encode()
    except UnicodeEncodeError as error:
        raise GrammarError(f"{what} has a lone surrogate, which is no character", source=text, offset=error.start) from None
