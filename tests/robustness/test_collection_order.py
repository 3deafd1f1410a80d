"""Handles in garbage cycles: the collector frees the members of a cycle in any order, so the core must not depend on one."""

from __future__ import annotations

import gc

from grammar_engine import Grammar, Matcher, Vocabulary


class _Knot:
    """An object that is garbage together with all that it holds."""

    def __init__(self, *held: object):
        self.held = held
        self.me = self


def test_cycles_are_freed_in_any_order():
    for turn in range(60):
        vocabulary = Vocabulary([bytes((byte,)) for byte in range(256)] + [b""], eos=[256])
        grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string"}})
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(b'["a')
        matcher.mask()
        twin = matcher.fork()
        held = [
            vocabulary,
            grammar,
            matcher,
            twin,
            matcher._engine,
            matcher._engine.handle,
            grammar._handle,
            vocabulary._handle,
            matcher._handle,
        ]
        held = held[turn % 9 :] + held[: turn % 9]
        _Knot(*(held if turn % 2 else reversed(held)))
        del vocabulary, grammar, matcher, twin, held
        gc.collect()


def test_a_matcher_outlives_the_names_of_what_it_needs():
    matcher = Matcher(Grammar.from_regex("ab+"), Vocabulary.bytes())
    gc.collect()
    assert matcher.accept_bytes(b"abbb")
    assert matcher.is_complete
