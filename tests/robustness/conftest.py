"""Every test here has a bystander: a grammar that is in use. Whatever the test does, its masks are the same afterwards."""

from __future__ import annotations

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "tags": {"type": "array", "items": {"enum": ["a", "bc", 1]}}},
}
TEXT = b'{"name": "xy", "tags": ["a", 1]}'


class Bystander:
    """A matcher that stands in the middle of a text, and all masks of that text."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary.builtin()
        self.grammar = Grammar.from_json_schema(SCHEMA)
        self.half = Matcher(self.grammar, self.vocabulary)
        self.half.accept_bytes(TEXT[:12])
        self.masks = self.walk()

    def walk(self) -> list[bytes]:
        """The masks along the text, then those after its end, by a new matcher."""
        matcher = Matcher(self.grammar, self.vocabulary)
        masks = [matcher.mask()]
        for token in self.vocabulary.encode_greedy(TEXT):
            assert matcher.accept(token)
            masks.append(matcher.mask())
        assert matcher.is_complete
        assert matcher.accept(self.vocabulary.eos[0])
        return [*masks, matcher.mask()]

    def check(self) -> None:
        """All is as it was."""
        assert self.walk() == self.masks
        assert self.half.tokens == [-1]
        fresh = Matcher(self.grammar, self.vocabulary)
        fresh.accept_bytes(TEXT[:12])
        assert self.half.mask() == fresh.mask()


_bystander: list[Bystander] = []


@pytest.fixture(autouse=True)
def bystander():
    """Checked after each test."""
    if not _bystander:
        _bystander.append(Bystander())
    yield _bystander[0]
    _bystander[0].check()
