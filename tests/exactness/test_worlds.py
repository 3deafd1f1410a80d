"""Exhaustive small worlds: all small regexes on all short strings, and small grammars on all short strings."""

from __future__ import annotations

import itertools

from exactness import grammars
from exactness.walk import engine_mask
from grammar_engine import ir
from grammar_engine.errors import GrammarError, VocabularyError
from oracle.earley import Recogniser
from oracle.mask import oracle_mask, step_bytes
from vocabularies import TinyVocabulary, byte_vocabulary


def compare_everywhere(builder: ir.Builder, tiny: TinyVocabulary, vocabulary: object, depth: int, what: object) -> int:
    """Compares the mask after every string of up to `depth` tokens that is allowed (and so, by the mask before, all that are not)."""
    from grammar_engine import Grammar, Matcher

    recogniser = Recogniser(builder)
    state = recogniser.start()
    if state is None:
        try:
            Grammar._from_builder(builder)
        except GrammarError:
            return 0
        raise AssertionError(f"{what}: a grammar without sentence was not refused")
    try:
        matcher = Matcher(Grammar._from_builder(builder), vocabulary)
    except VocabularyError:
        assert oracle_mask(recogniser, state, tiny.spelt, tiny.eos) == set(), what
        return 0
    masks = 0
    pending = [(state, ())]
    while pending:
        state, path = pending.pop()
        matcher.reset()
        assert matcher.accept_tokens(list(path)) == len(path), (what, path)
        expected = oracle_mask(recogniser, state, tiny.spelt, tiny.eos)
        assert engine_mask(matcher) == expected, (what, path)
        masks += 1
        if len(path) < depth:
            pending += [(step_bytes(state, tiny.tokens[i]), (*path, i)) for i in expected - set(tiny.eos)]
    return masks


def test_all_small_regexes(long_run: bool) -> None:
    """Up to two operators all, three operators every 7th (all in a long run); all strings of up to five letters."""
    tiny = byte_vocabulary(b"ab")
    vocabulary, masks, regexes = tiny.build(), 0, 0
    for operators in range(4):
        every = 7 if operators == 3 and not long_run else 1
        for shape in itertools.islice(grammars.all_shapes(operators), 0, None, every):
            builder = ir.Builder()
            builder = grammars.one_lexeme(builder, grammars.build_shape(builder, shape))
            masks += compare_everywhere(builder, tiny, vocabulary, 5, shape)
            regexes += 1
    assert regexes > 500
    assert masks > 10_000


def test_all_small_grammars(long_run: bool) -> None:
    """Grammars of up to three rules of up to three symbols: every 23rd (every 7th in a long run)."""
    tiny = TinyVocabulary((b"a", b"aa", b""), (2,))
    vocabulary, masks, count = tiny.build(), 0, 0
    for rules in itertools.islice(grammars.all_rule_sets(), 0, None, 7 if long_run else 23):
        masks += compare_everywhere(grammars.build_rules(rules), tiny, vocabulary, 4, rules)
        count += 1
    assert count > 3000
    assert masks > 5_000
