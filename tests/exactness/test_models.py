"""Masks that are kept as another one but for a few tokens are written as they were found."""

from __future__ import annotations

from pathlib import Path

import pytest

from grammar_engine import Grammar, Limits, Matcher, Switches, Vocabulary

GRAMMARS = Path(__file__).parents[2] / "grammars"


@pytest.mark.parametrize("maximum", [None, 20_000, 4_000, 500])
@pytest.mark.parametrize("name", ["c_like", "sql_select"])
def test_masks_are_the_same_cold_and_warm(name: str, maximum: int | None) -> None:
    vocabulary = Vocabulary.builtin()
    source = (GRAMMARS / f"{name}.lark").read_text()
    limits = Limits() if maximum is None else Limits(max_mask_bytes=maximum)
    grammar = Grammar.from_lark(source, limits=limits)
    anew = Grammar.from_lark(source)
    for path in sorted((GRAMMARS / f"{name}.accept").iterdir()):
        tokens = vocabulary.encode_greedy(path.read_bytes())
        matchers = [Matcher(grammar, vocabulary) for _ in range(2)] + [Matcher(anew, vocabulary, switches=Switches(mask_cache=False))]
        for token in tokens:
            cold, warm, expected = (matcher.mask() for matcher in matchers)
            assert cold == warm == expected
            assert all(matcher.accept(token) for matcher in matchers)
        assert grammar.stats.mask_bytes <= grammar.limits.max_mask_bytes


def test_most_masks_of_a_programming_language_are_near_another_one() -> None:
    vocabulary = Vocabulary.builtin()
    grammar = Grammar.from_lark((GRAMMARS / "c_like.lark").read_text())
    for path in sorted((GRAMMARS / "c_like.accept").iterdir()):
        matcher = Matcher(grammar, vocabulary)
        for token in vocabulary.encode_greedy(path.read_bytes()):
            matcher.mask()
            assert matcher.accept(token)
    assert grammar.stats.mask_bytes < grammar.stats.masks * vocabulary.width // 8 * 0.8
