"""Masks of tags against a reader of texts that shares nothing with the engine: it looks for the first trigger, and tries all bodies."""

from __future__ import annotations

import random
import re
from functools import cached_property
from itertools import product

import pytest

from grammar_engine import Grammar, GrammarError, Matcher, Switches, Tag, Vocabulary

LETTERS = "ab."  # the last one is in no tag
LONGEST = 4  # of the texts whose masks are compared
BODIES = {
    "a": ["a"],
    "b+": ["b", "bb"],
    "a*": ["", "a"],
    "ab|b": ["ab", "b"],
    "(ab)*": ["", "ab"],
    None: ["", "."],
}  # with some of their texts
ON, OFF = (
    Switches(),
    Switches(inner_masks=False, slices=False, heirs=False, outlines=False, table=False, shapes=False, clamping=False, mask_cache=False),
)


class Reader:
    """Decides whether a text is a sentence."""

    def __init__(self, tags, all_tags, *, low, high, text, separator, excluded, thinking, triggers):
        self.tags, self.low, self.high = tags, low, high
        self.text, self.separator, self.excluded, self.thinking = text, separator, excluded, thinking
        self.triggers = triggers or [tag.begin for tag in all_tags]
        self.triggers = self.triggers + ([thinking.begin] if thinking and thinking.begin else [])
        self.known = {}

    def reads(self, text: str) -> bool:
        if self.thinking is None:
            return self.reads_rest(text, 0)
        ways = [text] if self.thinking.begin else []
        ways += self.after(self.thinking, text)
        return any(self.reads_rest(rest, 0) for rest in ways)

    def after(self, tag: Tag, text: str) -> list[str]:
        """What is left behind a tag at the beginning of a text."""
        if not text.startswith(tag.begin):
            return []
        inner = text[len(tag.begin) :]
        if tag.body is None:
            stop = self.first_stop(inner, [tag.end])
            return [] if stop is None or not inner[:stop].endswith(tag.end) else [inner[stop:]]
        ends = [i for i in range(len(inner) + 1) if re.fullmatch(tag.pattern, inner[:i]) and inner[i:].startswith(tag.end)]
        return [inner[i + len(tag.end) :] for i in ends]

    def first_stop(self, text: str, stops: list[str]) -> int | None:
        """Where one of the stops ends for the first time; 0 if that is something excluded."""
        for end in range(1, len(text) + 1):
            if any(text[:end].endswith(excluded) for excluded in self.excluded):
                return 0
            if any(text[:end].endswith(stop) for stop in stops):
                return end
        return None

    def reads_rest(self, text: str, n: int) -> bool:
        key = text, n
        if key not in self.known:
            self.known[key] = self.read_rest(text, n)
        return self.known[key]

    def more(self, text: str, n: int) -> bool:
        """A tag at the beginning of a text, and the rest."""
        if self.high is not None and n == self.high:
            return False
        return any(self.reads_rest(rest, min(n + 1, 2)) for tag in self.tags for rest in self.after(tag, text))

    def read_rest(self, text: str, n: int) -> bool:
        if self.text == "never" or (self.text == "before" and n):
            if not text and n >= self.low:
                return True
            between = self.separator if n else ""
            return text.startswith(between) and self.more(text[len(between) :], n)
        stop = self.first_stop(text, self.triggers)
        if stop is None:
            return n >= self.low
        found = [trigger for trigger in self.triggers if text[:stop].endswith(trigger)]
        return stop > 0 and self.more(text[stop - len(found[0]) :], n)

    def begins(self, text: str) -> bool:
        """Is the text a prefix of a sentence? What is begun can be ended by what is left of a tag, and then a tag."""
        return any(self.reads(text + rest) for rest in self.endings)

    @cached_property
    def endings(self) -> list[str]:
        tags = [tag.begin + body + tag.end for tag in self.tags for body in BODIES[tag.pattern]]
        first = (
            [""]
            if self.thinking is None
            else ["", *(self.thinking.begin + body + self.thinking.end for body in BODIES[self.thinking.pattern])]
        )
        whole = {*first, *(before + dot + tag for before in first for dot in ("", ".") for tag in tags)}
        whole |= {tag + between + other for tag in tags for other in tags for between in (".", self.separator)}
        rests = {text[i:] for text in whole for i in range(len(text) + 1)}
        return sorted(rests | {"." + rest for rest in rests}, key=len)


class Written(Tag):
    """A tag with the pattern of its body."""

    pattern: str


def _tag(rng: random.Random, *, begin: str | None = None) -> Written:
    def word(low: int, high: int) -> str:
        return "".join(rng.choice(LETTERS[:-1]) for _ in range(rng.randint(low, high)))

    pattern = rng.choice(list(BODIES))
    end = word(1 if pattern is None else 0, 3)
    tag = Written(word(1, 3) if begin is None else begin, None if pattern is None else Grammar.from_regex(pattern), end, rng.choice("xy"))
    object.__setattr__(tag, "pattern", pattern)
    return tag


def _case(seed: int) -> tuple[Grammar, Reader]:
    rng = random.Random(seed)
    while True:
        tags = [_tag(rng) for _ in range(rng.randint(1, 3))]
        text = rng.choice(["around", "around", "before", "never"])
        thinking = _tag(rng, begin=rng.choice(["", "aa", "ba"])) if rng.random() < 0.3 else None
        options = {
            "choice": rng.choice(["auto", "auto", "required", "none", tags[0].name]),
            "parallel": rng.random() < 0.7,
            "text": text,
            "separator": rng.choice(["", "b", "ab"]) if text != "around" else "",
            "excluded": ["".join(rng.choice("ab") for _ in range(rng.randint(2, 4)))] if rng.random() < 0.4 else [],
            "thinking": thinking,
            "triggers": sorted({tag.begin[: rng.randint(1, 3)] for tag in tags}) if rng.random() < 0.3 else None,
        }
        try:
            grammar = Grammar.from_tags(tags, **options)
        except GrammarError:  # a trigger in another one, no text at all
            continue
        chosen = {"auto": tags, "required": tags, "none": []}.get(options["choice"], [tag for tag in tags if tag.name == options["choice"]])
        reader = Reader(
            chosen,
            tags,
            low=int(options["choice"] not in ("auto", "none")),
            high=0 if not chosen else None if options["parallel"] else 1,
            text=text,
            separator=options["separator"],
            excluded=options["excluded"],
            thinking=thinking,
            triggers=options["triggers"],
        )
        return grammar, reader


@pytest.mark.parametrize("seed", range(120))
def test_masks_are_those_of_a_reader(seed: int) -> None:
    grammar, reader = _case(seed)
    spelled = [*LETTERS, "ab", "ba", "aa", "abb", "b.", ""]
    vocabulary = Vocabulary([text.encode() for text in spelled], eos=[len(spelled) - 1])
    for n in range(LONGEST + 1):
        for text in map("".join, product(LETTERS, repeat=n)):
            begins = reader.begins(text)
            expected = {i for i, token in enumerate(spelled[:-1]) if reader.begins(text + token)} if begins else set()
            expected |= {len(spelled) - 1} if reader.reads(text) else set()
            for switches in (ON, OFF):
                matcher = Matcher(grammar, vocabulary, switches=switches)
                assert matcher.accept_bytes(text.encode()) == begins, text
                if begins:
                    assert set(matcher.allowed_tokens()) == expected, text
