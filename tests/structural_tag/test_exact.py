"""Masks of structural tags against a reader of texts that shares nothing with the engine: it tries all ways to cut a text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarError, Matcher, Switches, Token, Vocabulary

LETTERS = "<a>"
TOKEN = "T"  # a special token, which stands for itself in the texts of the reader
BEGUN = 3  # letters of the texts whose masks are compared
FEW = 4  # letters behind them, among which a way to a sentence is looked for; where there is none, the engine has to know one
TEXTS = ["<", "a", ">", "<a", "a>", "<a>", "aa", ""]
VOCABULARY = Vocabulary([*(text.encode() for text in TEXTS), b""], eos=[len(TEXTS)], special={len(TEXTS) - 1: TOKEN})
OFF = Switches(inner_masks=False, slices=False, heirs=False, outlines=False, table=False, shapes=False, clamping=False, mask_cache=False)

Format = dict[str, Any]
Around = tuple[tuple[str, ...], str]  # the ends of the tag, and the one that follows directly ("": none does)
NOTHING: Around = ((), "")


class Reader:
    """Where a format may end, if it begins at some place of a text."""

    def __init__(self, text: str):
        self.text = text
        self.known: dict[Any, frozenset[int]] = {}

    def ends(self, shape: Format, at: int, around: Around) -> frozenset[int]:
        key = id(shape), at, around
        if key not in self.known:
            self.known[key] = frozenset(getattr(self, "one_of" if shape["type"] == "or" else shape["type"])(shape, at, around))
        return self.known[key]

    def one_of(self, shape: Format, at: int, around: Around) -> set[int]:
        return {end for element in shape["elements"] for end in self.ends(element, at, around)}

    def const_string(self, shape: Format, at: int, around: Around) -> set[int]:
        return {at + len(shape["value"])} if self.text.startswith(shape["value"], at) else set()

    def regex(self, shape: Format, at: int, around: Around) -> set[int]:
        return {end for end in range(at, len(self.text) + 1) if re.fullmatch(shape["pattern"], self.text[at:end])}

    def free(self, at: int, inside: list[str], stops: list[str], following: str) -> list[int]:
        """Ends of a text without `inside` and `stops`; none of `stops` begins in it and ends before what follows it does."""
        found = []
        for end in range(at, len(self.text) + 1):
            text = self.text[at:end]
            both = text + following
            first = any(both[begin:n] in stops for begin in range(len(text)) for n in range(len(both))) if following else False
            if not any(stop in text for stop in (TOKEN, *inside, *stops)) and not first:
                found.append(end)
        return found

    def any_text(self, shape: Format, at: int, around: Around) -> set[int]:
        ends = self.free(at, shape.get("excludes", []), list(around[0]), around[1])
        return {end for end in ends if end - at <= shape.get("max_chars", len(self.text))}

    def sequence(self, shape: Format, at: int, around: Around) -> set[int]:
        places, elements = {at}, shape["elements"]
        for i, element in enumerate(elements):
            inner = around if i == len(elements) - 1 else (around[0], "")
            places = {end for place in places for end in self.ends(element, place, inner)}
        return places

    def optional(self, shape: Format, at: int, around: Around) -> set[int]:
        return {at, *self.ends(shape["content"], at, around)}

    def times(self, content: Format, at: int, around: Around, low: int, high: int | None) -> set[int]:
        places, found, n = {at}, set(), 0
        seen: set[frozenset[int]] = set()
        while places and (high is None or n <= high):
            if n >= low:
                found |= places
            if n > low and frozenset(places) in seen:
                break
            seen.add(frozenset(places))
            places = {end for place in places for end in self.ends(content, place, (around[0], ""))}
            n += 1
        return found

    def star(self, shape: Format, at: int, around: Around) -> set[int]:
        return self.times(shape["content"], at, around, 0, None)

    def plus(self, shape: Format, at: int, around: Around) -> set[int]:
        return self.times(shape["content"], at, around, 1, None)

    def repeat(self, shape: Format, at: int, around: Around) -> set[int]:
        return self.times(shape["content"], at, around, shape["min"], None if shape["max"] == -1 else shape["max"])

    def tag(self, shape: Format, at: int, around: Around) -> set[int]:
        if not self.text.startswith(shape["begin"], at):
            return set()
        ends = shape["end"] if isinstance(shape["end"], list) else [shape["end"]]
        inside = at + len(shape["begin"])
        texts = tuple(end for end in ends if end)
        return {
            place + len(end)
            for end in ends
            for place in self.ends(shape["content"], inside, (texts, end))
            if self.text.startswith(end, place)
        }

    def tags_with_separator(self, shape: Format, at: int, around: Around) -> set[int]:
        found = set() if shape.get("at_least_one") else {at}
        places = {end for tag in shape["tags"] for end in self.tag(tag, at, NOTHING)}
        while places - found:
            found |= places
            if shape.get("stop_after_first"):
                break
            behind = [place + len(shape["separator"]) for place in places if self.text.startswith(shape["separator"], place)]
            places = {end for place in behind for tag in shape["tags"] for end in self.tag(tag, place, NOTHING)}
        return found

    def triggered_tags(self, shape: Format, at: int, around: Around) -> set[int]:
        begun = {i: next(t for t in shape["triggers"] if tag["begin"].startswith(t)) for i, tag in enumerate(shape["tags"])}
        ways = [(begun[i], lambda place, tag=tag: self.tag(tag, place, NOTHING)) for i, tag in enumerate(shape["tags"])]
        return self.texts_and_tags(shape, at, around, shape["triggers"], ways, is_once=shape.get("stop_after_first", False))

    def dispatch(self, shape: Format, at: int, around: Around) -> set[int]:
        def content(pattern: str, rule: Format) -> Any:
            return lambda place: self.ends(rule, place + len(pattern), behind) if self.text.startswith(pattern, place) else ()

        behind = (around[0], "") if shape.get("loop", True) else around
        ways = [(pattern, content(pattern, rule)) for pattern, rule in shape["rules"]]
        return self.texts_and_tags(shape, at, NOTHING, [pattern for pattern, _ in ways], ways, is_once=not shape.get("loop", True))

    def token_triggered_tags(self, shape: Format, at: int, around: Around) -> set[int]:
        return self.triggered_tags({**shape, "triggers": shape["trigger_tokens"]}, at, around)

    def token_dispatch(self, shape: Format, at: int, around: Around) -> set[int]:
        return self.dispatch(shape, at, around)

    def texts_and_tags(self, shape: Format, at: int, around: Around, triggers: list[str], ways: Any, *, is_once: bool) -> set[int]:
        excluded = shape.get("excludes", [])
        stops = [*triggers, *excluded, *around[0]]
        found: set[int] = set()
        if shape.get("at_least_one"):
            places = {end for _, tag in ways for end in tag(at)}
            if is_once:
                return places
        else:
            places = {at}
        seen: set[int] = set()
        while places - seen:
            seen |= places
            for place in places:
                found.update(self.free(place, excluded, [*triggers, *around[0]], around[1]))
            places = {
                end for trigger, tag in ways for place in places for begin in self.free(place, [], stops, trigger) for end in tag(begin)
            }
            if is_once:
                return found | places
        return found


def reads(shape: Format, text: str) -> bool:
    return len(text) in Reader(text).ends(shape, 0, NOTHING)


def random_text(rng: random.Random, least: int = 1) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(least, 2)))


def random_tag(rng: random.Random, depth: int) -> Format:
    end = rng.choice([random_text(rng), random_text(rng, 0), [random_text(rng), random_text(rng, 0)]])
    return {"type": "tag", "begin": random_text(rng), "content": random_format(rng, depth - 1), "end": end}


def random_format(rng: random.Random, depth: int) -> Format:
    leaves = ["const_string", "regex", "any_text"]
    kind = rng.choice(leaves if depth == 0 else [*leaves, "sequence", "or", "optional", "star", "plus", "repeat", "tag", *_TEXTS])
    shape: Format = {"type": kind}
    if kind == "const_string":
        shape["value"] = random_text(rng, 0)
    elif kind == "regex":
        shape["pattern"] = rng.choice(["a", "a*", "(<a)+", "[<>]", "a|>"])
    elif kind == "any_text":
        if rng.random() < 0.5:
            shape["excludes"] = [random_text(rng) for _ in range(rng.randint(0, 2))]
        if rng.random() < 0.2:
            shape["max_chars"] = rng.randint(0, 2)
    elif kind in ("sequence", "or"):
        shape["elements"] = [random_format(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    elif kind in ("optional", "star", "plus", "repeat"):
        shape["content"] = random_format(rng, depth - 1)
        if kind == "repeat":
            shape["min"] = rng.randint(0, 2)
            shape["max"] = rng.choice([-1, shape["min"], shape["min"] + 1])
    elif kind == "tag":
        shape = random_tag(rng, depth)
    elif kind == "dispatch":
        shape["rules"] = [[random_text(rng), random_format(rng, depth - 1)] for _ in range(rng.randint(1, 2))]
        shape["loop"] = rng.random() < 0.7
        shape["excludes"] = [random_text(rng) for _ in range(rng.randint(0, 1))]
    else:
        shape["tags"] = [random_tag(rng, depth) for _ in range(rng.randint(1, 2))]
        for option in ("at_least_one", "stop_after_first"):
            if rng.random() < 0.3:
                shape[option] = True
        if kind == "tags_with_separator":
            shape["separator"] = random_text(rng, 0)
        else:
            shape["triggers"] = list(dict.fromkeys(tag["begin"][: rng.randint(1, 2)] for tag in shape["tags"]))
            shape["excludes"] = [random_text(rng) for _ in range(rng.randint(0, 1))]
    return shape


_TEXTS = ["triggered_tags", "triggered_tags", "dispatch", "tags_with_separator"]


def is_begun(shape: Format, matcher: Matcher, text: str) -> bool:
    """Whether the text with which the engine would end this one makes a sentence, as the reader sees it."""
    return reads(shape, text + matcher.closing_bytes().replace(Token(TOKEN).spelling, TOKEN.encode()).decode())


def check(shape: Format, grammar: Grammar, letters: str, few: int) -> None:
    """Compare the masks of all texts that begin so."""
    texts = [*TEXTS[:-1], TOKEN]
    sentences = {"".join(text) for n in range(BEGUN + few) for text in product(letters, repeat=n) if reads(shape, "".join(text))}
    begun = {text[:n] for text in sentences for n in range(len(text) + 1)}
    for n in range(BEGUN):
        for text in map("".join, product(letters, repeat=n)):
            matchers = [Matcher(grammar, VOCABULARY), Matcher(grammar, VOCABULARY, switches=OFF)]
            tokens = [texts.index(sign) for sign in text]
            accepted = [matcher.accept_tokens(tokens) == len(tokens) for matcher in matchers]
            assert accepted[0] == accepted[1]
            if not accepted[0]:
                assert text not in begun, (shape, text)
                continue
            masks = [matcher.allowed_tokens() for matcher in matchers]
            assert masks[0] == masks[1], (shape, text)
            assert (len(TEXTS) in masks[0]) == (text in sentences), (shape, text)
            for token, more in enumerate(texts):
                if (token in masks[0]) != (text + more in begun):
                    assert token in masks[0] and matchers[0].accept(token), (shape, text, more)
                    assert is_begun(shape, matchers[0], text + more), (shape, text, more)
                    matchers[0].rollback(1)


@pytest.mark.parametrize("seed", range(60))
def test_random_formats(seed: int) -> None:
    rng = random.Random(seed)
    for shape, grammar in random_grammars(rng, lambda shape: shape):
        check(shape, grammar, LETTERS, FEW)


@pytest.mark.parametrize("seed", range(30))
def test_random_formats_with_a_special_token(seed: int) -> None:
    rng = random.Random(1_000 + seed)
    for shape, grammar in random_grammars(rng, lambda shape: by_token(with_token(shape, rng.choice(LETTERS)))):
        check(shape, grammar, LETTERS + TOKEN, FEW - 1)


def random_grammars(rng: random.Random, change: Callable[[Format], Format]) -> list[tuple[Format, Grammar]]:
    grammars: list[tuple[Format, Grammar]] = []
    while len(grammars) < 4:
        shape = change(random_format(rng, 3))
        try:
            grammars.append((shape, Grammar.from_structural_tag({"type": "structural_tag", "format": shape}, special_tokens=[TOKEN])))
        except GrammarError as error:
            if "no text at all" in str(error):
                assert not any(reads(shape, "".join(text)) for n in range(5) for text in product(LETTERS + TOKEN, repeat=n)), shape
    return grammars


def with_token(value: Any, sign: str, is_text: bool = False) -> Any:
    """A format in whose texts the token stands for some letter."""
    if isinstance(value, str):
        return value.replace(sign, TOKEN) if is_text else value
    if isinstance(value, list):
        return [with_token(inner, sign, is_text) for inner in value]
    if not isinstance(value, dict):
        return value
    return {name: with_token(inner, sign, name in _LITERAL) for name, inner in value.items()}


def by_token(value: Any) -> Any:
    """A format in which what the token triggers among others it triggers alone, and by the formats for that."""
    if isinstance(value, list):
        return [by_token(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    shape = {name: by_token(inner) for name, inner in value.items()}
    if shape.get("type") == "dispatch" and any(pattern[0] == TOKEN for pattern, _ in shape["rules"]):
        return {"type": "token_dispatch", "rules": [[TOKEN, content] for _, content in shape["rules"]], "loop": shape["loop"]}
    if shape.get("type") == "triggered_tags" and any(tag["begin"][0] == TOKEN for tag in shape["tags"]):
        shape["tags"] = [{**tag, "begin": TOKEN + tag["begin"][1:]} for tag in shape["tags"]]
        others = {name: value for name, value in shape.items() if name not in ("type", "triggers", "excludes")}
        return {"type": "token_triggered_tags", "trigger_tokens": [TOKEN], **others}
    return shape


_LITERAL = ("value", "begin", "end", "separator", "triggers", "excludes", "rules")
