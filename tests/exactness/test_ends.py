"""Each matcher may have its own tokens that end its text: some of the vocabulary's, others, none.

By the oracle: such a token is allowed where the text is a sentence, and nowhere else, but where the grammar names it.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest

from exactness import grammars
from exactness.walk import Walk
from grammar_engine import (
    Grammar,
    Limits,
    MaskBuffer,
    Matcher,
    Switches,
    Tag,
    Token,
    TokenDFA,
    Vocabulary,
    VocabularyError,
    allocate_masks,
    fill_masks,
    step_masks,
)
from vocabularies import TinyVocabulary, random_vocabulary

OFF = Switches(mask_cache=False, state_cache=False, inner_masks=False, slices=False, heirs=False, outlines=False, table=False)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "n": {"type": "integer", "minimum": 0, "maximum": 120}},
    "required": ["name", "n"],
    "additionalProperties": False,
}
TEXT = b'{"name": "abc", "n": 1'


def with_ends(rng: random.Random, tiny: TinyVocabulary) -> TinyVocabulary:
    """The vocabulary with more ids that are no text."""
    tokens = list(tiny.tokens)
    more = [b""] * rng.randint(1, 4)
    width = None if tiny.width is None else tiny.width + len(more)
    return dataclasses.replace(tiny, tokens=(*tokens, *more), width=width)


def random_ends(rng: random.Random, tiny: TinyVocabulary) -> tuple[int, ...]:
    ids = [i for i, spelling in enumerate(tiny.spelt) if not spelling]
    return tuple(rng.sample(ids, min(rng.choice([0, 1, 1, 2, 5]), len(ids))))


@pytest.mark.parametrize("switches", [Switches(), OFF], ids=["on", "off"])
@pytest.mark.parametrize("kind", ["plain", "longest", "scanner"])
def test_masks_are_those_of_the_oracle(switches: Any, kind: str, long_run: bool) -> None:
    masks = 0
    for seed in range(2000 if long_run else 60):
        rng = random.Random(f"ends {kind} {seed}")
        if kind == "scanner":
            builder, alphabet = grammars.random_scanner(rng)
        else:
            builder, alphabet = grammars.random_grammar(rng, longest=kind == "longest")
        tiny = with_ends(rng, random_vocabulary(rng, alphabet, size=10, longest=3))
        vocabulary = tiny.build()
        for _ in range(3):  # over one vocabulary, and what is kept for it
            masks += Walk(builder, tiny, rng, switches, vocabulary, random_ends(rng, tiny)).run(6, laws=0.5)
    assert masks > (30_000 if long_run else 900)


def test_matchers_over_one_grammar_do_not_share_ends() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"", b"", b""], eos=[3], special={2: "<x>"})
    grammar = Grammar.from_regex("a(ba)*")
    ways = {None: {1, 3}, (4,): {1, 4}, (2, 4): {1, 2, 4}, (): {1}, (3, 4): {1, 3, 4}}
    for _ in range(2):  # the masks are kept by now
        for ends, allowed in ways.items():
            matcher = Matcher(grammar, vocabulary, eos=ends)
            assert matcher.eos == (vocabulary.eos if ends is None else ends)
            assert matcher.accept(0)
            assert set(matcher.allowed_tokens()) == allowed
            assert matcher.fork().eos == matcher.eos
            assert matcher.fork().allowed_tokens() == matcher.allowed_tokens()
            matcher.reset()
            assert matcher.accept_tokens([0, 1, 0, 3]) == (4 if 3 in matcher.eos else 3)
            assert matcher.is_terminated == (3 in matcher.eos)


@pytest.mark.parametrize("ends", [(8,), (9, 8), (0, 3)])
def test_all_is_as_over_a_vocabulary_with_these(ends: tuple[int, ...]) -> None:
    """Special tokens: nothing but the vocabulary tells the two apart."""
    shipped = Vocabulary.builtin()
    texts = [*shipped.tokens[10:], *([b""] * 10)]
    special = {len(texts) - 10 + i: f"<{i}>" for i in range(10)}
    ends = tuple(len(texts) - 10 + i for i in ends)
    grammar = Grammar.from_json_schema(SCHEMA)
    ours = Matcher(grammar, Vocabulary(texts, eos=[len(texts) - 5], special=special), eos=ends)
    theirs = Matcher(grammar, Vocabulary(texts, eos=ends, special=special))
    tokens = theirs.vocabulary.encode_greedy(TEXT + b"}")
    for token in [*tokens, ends[0], ends[-1]]:
        assert ours.mask() == theirs.mask()
        assert ours.forced_tokens() == theirs.forced_tokens()
        assert ours.closing_tokens() == theirs.closing_tokens()
        assert not ours.closing_tokens() or ours.closing_tokens()[-1] == ends[0]
        for most in range(12):
            assert ours.closing_within(most) == theirs.closing_within(most)
        assert ours.accept(token)
        assert theirs.accept(token)
    assert ours.is_terminated
    assert set(ours.allowed_tokens()) == set(ends)


def test_closings_end_the_text(long_run: bool) -> None:
    """Whatever ends it."""
    n_closed = 0
    for seed in range(3000 if long_run else 150):
        rng = random.Random(f"closings {seed}")
        builder, alphabet = grammars.random_grammar(rng)
        tiny = with_ends(rng, random_vocabulary(rng, alphabet, size=8))
        ends = random_ends(rng, tiny)
        matcher = Walk(builder, tiny, rng, ends=ends).matcher
        for _ in range(4 if matcher else 0):
            allowed = matcher.allowed_tokens()
            if not allowed or matcher.is_terminated or not matcher.accept(rng.choice(allowed)):
                break
            closing = matcher.closing_tokens()
            for tokens in (closing, matcher.closing_within(len(closing)), matcher.closing_within(len(closing) + 3)):
                assert tokens is not None
                fork = matcher.fork()
                assert fork.accept_tokens(tokens) == len(tokens)
                assert fork.is_terminated if ends else fork.is_complete
                n_closed += 1
    assert n_closed > (3000 if long_run else 150)


def test_a_mask_that_differs_in_ends_alone_is_another_one() -> None:
    vocabulary = Vocabulary([b"a", b""], eos=[])
    matcher = Matcher(Grammar.from_regex("a(aa)*"), vocabulary, eos=[1])
    row = allocate_masks(1, vocabulary)
    masks = MaskBuffer(row, vocabulary)
    for turn in range(3):
        for bits in (0b01, 0b11, 0b01, 0b11):
            matcher.fill_mask(masks)
            assert row[0][0] == bits
            assert matcher.mask_changed
            assert matcher.accept(0)
        matcher.rollback(4)
        assert matcher.accept_tokens([0] * turn) == turn
        matcher.fill_mask(masks)
        matcher.fill_mask(masks)
        assert not matcher.mask_changed
        matcher.rollback(turn)
        assert matcher.accept(0)
        matcher.fill_mask(masks)  # so that the next turn begins behind another mask
        matcher.rollback(1)


@pytest.mark.parametrize("size", [3, 31, 32, 33, 520, 1200])
def test_whether_all_are_allowed(size: int) -> None:
    """With ends that make it all, and with one token that is missing anywhere."""
    texts = [b"ab"[i % 2 : i % 2 + 1] * (1 + i // 2) for i in range(size - 1)]
    for vocabulary in (Vocabulary([*texts, b""], eos=[]), Vocabulary([*texts, b""], eos=[], width=size + 1)):
        buffer = allocate_masks(1, vocabulary)
        for grammar in (Grammar.from_regex("[ab]*"), Grammar.from_lark("start: /[ab]/*")):
            for ends in ((), (size - 1,)):
                matcher = Matcher(grammar, vocabulary, eos=ends)
                for _ in range(2):
                    needed = matcher.fill_mask(buffer)
                    assert needed == (len(matcher.allowed_tokens()) < vocabulary.width)
                assert needed == (size - 1 not in ends or vocabulary.width > size)


def test_token_automata() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"ab", b"", b"", b""], eos=[3])
    dfa = TokenDFA.from_regex("(ab)*a?", vocabulary)
    for ends in (None, (4,), (5, 3), ()):
        plain, tabled = Matcher(Grammar.from_regex("(ab)*a?"), vocabulary, eos=ends, switches=OFF), Matcher(dfa, eos=ends)
        for token in (2, 0, 1, 2, 4):
            assert tabled.mask() == plain.mask()
            assert tabled.accept(token) == plain.accept(token)
        assert tabled.is_terminated == plain.is_terminated


def test_batches() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"", b"", b""], eos=[2])
    grammar = Grammar.from_regex("[ab]*")
    matchers = [Matcher(grammar, vocabulary, eos=ends) for ends in (None, [3], [4, 3], [])]
    masks = allocate_masks(4, vocabulary)
    fill_masks(matchers, masks)
    assert [int(row[0]) for row in masks] == [0b00111, 0b01011, 0b11011, 0b00011]
    step_masks(matchers, [0, 0, 4, 0], masks)
    assert [int(row[0]) for row in masks] == [0b00111, 0b01011, 0b11000, 0b00011]  # the third has ended


def test_what_moves_to_another_engine_keeps_its_ends() -> None:
    """As where others have used up what states there may be."""
    vocabulary = Vocabulary([b"a", b"b", b"", b"", b""], eos=[3])
    grammar = Grammar.from_regex("a{0,20}|b{0,20}", limits=Limits(max_configurations=30))
    for ends, token in (((4,), 0), ((2,), 1)):
        matcher = Matcher(grammar, vocabulary, eos=ends)
        first = matcher._engine
        for _ in range(20):
            assert matcher.accept(token)
            assert set(matcher.allowed_tokens()) >= set(ends)
        assert (matcher._engine is first) == (token == 0)
        assert matcher.allowed_tokens() == list(ends)
        assert matcher.fork().accept(ends[0])


@pytest.mark.parametrize("ends", ["x", b"x", 3, [5], [-1], [True], ["a"], [None], [1.0], [2**40], [2, 0]])
def test_bad_ends(ends: Any) -> None:
    with pytest.raises(VocabularyError, match="token 0 spells b'a'" if ends == [2, 0] else "eos"):
        Matcher(Grammar.from_regex("a"), Vocabulary([b"a", b"b", b""], eos=[]), eos=ends)


def test_ends_may_be_any_iterable_of_ids() -> None:
    grammar, vocabulary = Grammar.from_regex("a"), Vocabulary([b"a", b"", b"", b""], eos=[])
    for ends in (iter([3, 1]), (3, 1, 3), {3: 0, 1: 0}, np.array([3, 1])):
        assert Matcher(grammar, vocabulary, eos=ends).eos == (3, 1)


# --- named in a grammar --------------------------------------------------------------------------------------------------------------


def chat(**options: Any) -> Vocabulary:
    texts = [bytes([byte]) for byte in range(128)]
    return Vocabulary([*texts, b"", b"", b""], **{"eos": [129, 130], "special": {128: "<call>", 129: "<end>", 130: "</s>"}, **options})


@pytest.mark.parametrize("switches", [Switches(), OFF], ids=["on", "off"])
def test_a_grammar_may_name_what_ends_texts(switches: Any) -> None:
    """Before the text is a sentence it is what the grammar names; then it ends the text."""
    grammar = Grammar.from_lark("start: (/[a-z]/ <end>)+")
    matcher = Matcher(grammar, chat(), switches=switches)
    for _ in range(2):
        assert matcher.allowed_tokens() == list(range(97, 123)) + ([129, 130] if matcher.is_complete else [])
        assert matcher.accept(97)
        assert matcher.allowed_tokens() == [129]
        assert matcher.accept(129)
        assert matcher.is_complete
        assert not matcher.is_terminated
    assert matcher.closing_tokens() == [129]
    assert matcher.accept(129)
    assert matcher.is_terminated
    assert matcher.allowed_tokens() == [129, 130]
    other = Matcher(grammar, chat(), eos=[130], switches=switches)
    assert other.accept_tokens([97, 129, 98, 129, 129]) == 4
    assert other.accept(130)


def test_a_call_may_be_ended_by_what_ends_texts() -> None:
    grammar = Grammar.from_tags([Tag(Token("<call>"), Grammar.from_json_schema({"const": 1}), Token("<end>"))])
    matcher = Matcher(grammar, chat())
    assert {128, 129, 130} <= set(matcher.allowed_tokens())  # the text may end, or a call begin
    assert matcher.accept_tokens([128, ord("1")]) == 2
    assert not {128, 130} & set(matcher.allowed_tokens())
    assert 129 in matcher.allowed_tokens()
    assert matcher.accept(129)
    assert not matcher.is_terminated
    assert {128, 129, 130} <= set(matcher.allowed_tokens())
    assert matcher.accept(129)
    assert matcher.is_terminated


Item = tuple[tuple[str, ...], int, int]  # some of these texts, so many times

ITEMS: dict[str, Item] = {
    "<x>": (("x",), 1, 1),
    "<y>": (("y",), 1, 1),
    "<z>": (("z",), 1, 1),
    '"a"': (("a",), 1, 1),
    '("a" | <x>)': (("a", "x"), 1, 1),
    '(<y> | "b")': (("y", "b"), 1, 1),
    '("b" <x>)*': (("bx",), 0, 9),
    "<y>?": (("y",), 0, 1),
    '("a" | <y>)+': (("a", "y"), 1, 9),
    '("ab" | <z> <x>)~0..2': (("ab", "zx"), 0, 2),
}


def read(items: list[Item], text: str) -> tuple[bool, bool]:
    """Whether a text is a sentence of these items, and whether it is the beginning of one."""
    if not items:
        return not text, not text
    (texts, least, most), rest = items[0], items[1:]
    found = [read(rest, text)] if least == 0 else []
    for one in texts if most else ():
        if text.startswith(one):
            found.append(read([(texts, max(least - 1, 0), most - 1), *rest], text[len(one) :]))
        elif one.startswith(text):
            found.append((False, True))
    return any(sentence for sentence, _ in found), any(begins for _, begins in found)


@pytest.mark.parametrize("switches", [Switches(), OFF], ids=["on", "off"])
def test_named_ends_by_another_reader(switches: Any) -> None:
    """Random grammars over letters and marks, two of which end texts: these end sentences, and are else what the grammar names."""
    vocabulary = Vocabulary([b"a", b"b", b"ab", b"", b"", b""], eos=[3, 4], special={3: "<x>", 4: "<y>", 5: "<z>"})
    spelt = {0: "a", 1: "b", 2: "ab", 3: "x", 4: "y", 5: "z"}
    n_masks = 0
    for seed in range(150):
        rng = random.Random(f"named {seed}")
        parts = rng.choices(list(ITEMS), k=rng.randint(1, 5))
        items, matcher = (
            [ITEMS[part] for part in parts],
            Matcher(Grammar.from_lark(f"start: {' '.join(parts)}"), vocabulary, switches=switches),
        )
        for _ in range(6):
            matcher.reset()
            text = ""
            for _ in range(7):
                is_over = read(items, text)[0]
                allowed = {
                    token for token, spelling in spelt.items() if read(items, text + spelling)[1] and not (is_over and token in (3, 4))
                }
                assert set(matcher.allowed_tokens()) == allowed | ({3, 4} if is_over else set()), (parts, text)
                assert matcher.is_complete == is_over
                n_masks += 1
                closing = matcher.closing_tokens()
                within = matcher.closing_within(len(closing))
                assert within is not None
                for tokens in (closing, within):
                    fork = matcher.fork()
                    assert fork.accept_tokens(tokens) == len(tokens)
                    assert fork.is_terminated
                if not allowed:
                    break
                token = rng.choice(sorted(allowed))
                assert matcher.accept(token)
                assert not matcher.is_terminated
                text += spelt[token]
    assert n_masks > 1500
