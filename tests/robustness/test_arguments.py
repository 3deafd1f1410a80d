"""Arguments of the wrong type or value: TypeError or ValueError with the name of the argument, and nothing of what lies beneath."""

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from grammar_engine import (
    Grammar,
    GrammarCache,
    Guide,
    Limits,
    MaskBuffer,
    Matcher,
    Switches,
    TokenDFA,
    Vocabulary,
    allocate_masks,
    fill_masks,
    step_masks,
)
from grammar_engine.checks import check_number
from grammar_engine.decoding import GroupedSampler, PrefixCache, apply_mask, as_model
from grammar_engine.decoding.prefix_cache import MatcherCache

VOCABULARY = Vocabulary.bytes()
GRAMMAR = Grammar.from_regex("[0-9]{3}")
DFA = TokenDFA.from_grammar(GRAMMAR, VOCABULARY)


@pytest.mark.parametrize("value", [None, "1", 1.0, math.nan, True, [1]])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("max_grammars", GrammarCache),
        ("rows", lambda value: allocate_masks(value, VOCABULARY)),
        ("threads", lambda value: fill_masks([], bytearray(), threads=value)),
        ("most", lambda value: Matcher(GRAMMAR, VOCABULARY).closing_within(value)),
        ("max_rollback", lambda value: Guide(DFA, value)),
        ("n", lambda value: Guide(DFA).rollback_state(value)),
        ("max_states", lambda value: TokenDFA.from_grammar(GRAMMAR, VOCABULARY, max_states=value)),
    ],
)
def test_counts(name, call, value):
    with pytest.raises(TypeError, match=f"^{name} is an int, not {type(value).__name__}$"):
        call(value)
    with pytest.raises(ValueError, match=f"^{name} is at least [01].*, not -1$"):
        call(-1)


def test_numbers():
    """Of any real type; an int that no float can hold is as far away as infinity."""
    for value in (1, 1.0, np.float32(1), np.int64(1)):
        assert check_number("share", value) == 1.0
    for value in (None, "1", True, np.bool_(True), np.complex64(1), np.array(1.0), np.array([1.0]), 1j):
        with pytest.raises(TypeError, match=r"^share is a number, not "):
            check_number("share", value)
    for value in (10**400, -(10**400), math.inf, math.nan):
        with pytest.raises(ValueError, match=r"^share is a finite number, not "):
            check_number("share", value)
    assert Limits(max_rules=np.int64(5)) == Limits(max_rules=5)


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("limits is a Limits, not dict", lambda: Grammar.from_json_schema({}, limits={})),
        ("limits is a Limits, not int", lambda: Grammar.from_lark('start: "a"', limits=0)),
        ("lenient is a bool, not str", lambda: Grammar.from_json_schema({}, lenient="no")),
        ("unique_keys is a bool, not int", lambda: Grammar.from_json_schema({}, unique_keys=2)),
        ("resources is a mapping", lambda: Grammar.from_json_schema({}, resources=[])),
        ("resources is a mapping", lambda: Grammar.from_json_schema({}, resources={1: {}})),
        ("start is the name of a rule, not list", lambda: Grammar.from_lark('start: "a"', start=[])),
        (
            "whitespace is a str, a number or a pair of separators, not ndarray",
            lambda: Grammar.from_json_schema({}, whitespace=np.array([",", ":"])),
        ),
        ("escapes is a str, not ndarray", lambda: Grammar.from_json_schema({}, escapes=np.array(["all"] * 2))),
        ("lexing is a str, not ndarray", lambda: Grammar.from_lark('start: "a"', lexing=np.array(["exact"] * 2))),
        ("dialect is a str, not list", lambda: Grammar.from_regex("a", dialect=["ecma"])),
        ("kind is a str, not ndarray", lambda: allocate_masks(1, VOCABULARY, np.array(["numpy"] * 2))),
        ("Switches.mask_cache is a bool, not str", lambda: Switches(mask_cache="no")),
        ("Switches.slices is a bool, not list", lambda: Switches(slices=[])),
        ("choices is a list of strings, not NoneType", lambda: Grammar.from_choices(None)),
        ("choices is a list of strings, not NoneType", lambda: GrammarCache().from_choices(None)),
        ("choices is a list of strings, not one string", lambda: GrammarCache().from_choices("abc")),
        ("examples is a list of texts, not one text", lambda: GRAMMAR.warm(VOCABULARY, examples="123")),
        ("switches is a Switches, not NoneType", lambda: Matcher(GRAMMAR, VOCABULARY, switches=None)),
        ("a vocabulary is a Vocabulary, not NoneType", lambda: allocate_masks(1, None)),
        ("a vocabulary is a Vocabulary, not int", lambda: MaskBuffer(bytearray(36), 257)),
        ("a text is bytes, not str", lambda: VOCABULARY.encode_greedy("123")),
        ("coalesce_literals is a bool, not float32", lambda: TokenDFA.from_grammar(GRAMMAR, VOCABULARY, coalesce_literals=np.float32(0.5))),
        ("coalesce_literals is a bool, not int", lambda: TokenDFA.from_regex("a", VOCABULARY, coalesce_literals=2**31)),
        ("coalesce_literals is a bool, not str", lambda: TokenDFA.from_regex("a", VOCABULARY, coalesce_literals="no")),
        ("a Lark grammar is a str, not PosixPath; pass the text of the file", lambda: Grammar.from_lark(Path("a.lark"))),
        ("a GBNF grammar is a str, not bytes", lambda: Grammar.from_gbnf(b'root ::= "a"')),
        ("a pattern is a str, not Pattern; pass its `pattern`, with its flags", lambda: Grammar.from_regex(re.compile("a"))),
        ("tokens is a list of ids, not int", lambda: Matcher(GRAMMAR, VOCABULARY).accept_tokens(5)),
        ("a token is an int, not ndarray", lambda: Matcher(GRAMMAR, VOCABULARY).accept(np.array([50, 51]))),
        ("sequence is a list of ids, not int", lambda: Guide(DFA).accepts_tokens(5)),
        ("tokens is a list of ids, not int", lambda: PrefixCache().acquire(5)),
        ("ids is a list of int, not int", lambda: MatcherCache().after(5, GRAMMAR, VOCABULARY)),
        ("width is an int, not str", lambda: as_model(print, width="3")),
        ("values is a dict, as `as_dict` makes it, not str", lambda: GroupedSampler.from_dict("{}")),
        ("tokens is a list of ids, not int", lambda: Matcher(GRAMMAR, VOCABULARY).fill_draft_masks(5, bytearray(72))),
        ("matchers is a list of Matcher or None, not Matcher", lambda: fill_masks(Matcher(GRAMMAR, VOCABULARY), bytearray(36))),
        ("matchers is a list of Matcher or None, not NoneType", lambda: fill_masks(None, bytearray(36))),
        ("tokens is a list of ids or None, not int", lambda: step_masks([Matcher(GRAMMAR, VOCABULARY)], 5, bytearray(36))),
        ("rows is a list of int, not int", lambda: fill_masks([Matcher(GRAMMAR, VOCABULARY)], bytearray(36), rows=0)),
        ("rows is a list of int, not int", lambda: apply_mask(np.zeros((1, 257)), bytearray(36), rows=0)),
        ("not int", lambda: Vocabulary.load(1)),  # which would close standard output
        ("not int", lambda: TokenDFA.load(1, VOCABULARY)),
    ],
)
def test_types(reason, call):
    with pytest.raises(TypeError, match=reason):
        call()


@pytest.mark.parametrize(
    ("reason", "arguments"),
    [
        ("examples is a list of texts, not one text", {"examples": b"123"}),
        ("examples is a list of texts, not int", {"examples": 3}),
        (r"examples\[1\] is neither str nor bytes, but list", {"examples": ["123", [97, 98]]}),
        (r"examples\[0\] is neither str nor bytes, but int", {"examples": [2**29]}),
        (r"examples\[0\] has a lone surrogate", {"examples": ["\ud800"]}),
        ("seconds is a number, not str", {"seconds": "1"}),
        ("seconds is a number of at least 0, not nan", {"seconds": math.nan}),
        ("seconds is a number of at least 0, not -1", {"seconds": -1}),
        ("seed is an int, not NoneType", {"seed": None}),
        ("seed is an int, not str", {"seed": "1"}),
        ("a vocabulary is a Vocabulary, not list", {"vocabulary": []}),
    ],
)
def test_warming_says_what_is_wrong_before_anything_is_done(reason, arguments):
    grammar = Grammar.from_regex("[0-9]{3}")
    with pytest.raises((TypeError, ValueError), match=f"^{reason}"):
        grammar.warm(**{"vocabulary": VOCABULARY, "examples": ["123"], **arguments})
    assert grammar.stats.mask_builds == 0
    assert grammar.warm(VOCABULARY, np.float32(0), examples=(text for text in ("12", memoryview(b"123"))), seed=np.int8(3)) > 0
    grammar.warm(VOCABULARY, math.inf)


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        (
            'whitespace is "flexible", "bounded", "compact", a number, a pair of separators or',
            lambda: Grammar.from_json_schema({}, whitespace="none"),
        ),
        ('formats is "known", "strict" or "annotation", not \'all\'', lambda: Grammar.from_json_schema({}, formats="all")),
        ('lexing is "exact" or "longest", not \'\'', lambda: Grammar.from_lark('start: "a"', lexing="")),
        ('dialect is "python" or "ecma", not \'perl\'', lambda: Grammar.from_regex("a", dialect="perl")),
        ('kind is "numpy", "torch" or "memoryview", not \'jax\'', lambda: allocate_masks(1, VOCABULARY, "jax")),
    ],
)
def test_words(reason, call):
    with pytest.raises(ValueError, match=f"^{reason}"):
        call()


def test_any_bytes_are_spelled():
    assert VOCABULARY.encode_greedy(bytearray(b"12")) == VOCABULARY.encode_greedy(memoryview(b"12")) == [49, 50]


def test_numbers_of_numpy_are_numbers():
    matchers = [Matcher(GRAMMAR, VOCABULARY) for _ in range(2)]
    masks = allocate_masks(np.int64(2), VOCABULARY)
    assert matchers[0].fill_mask(masks, np.int32(1))
    assert fill_masks(matchers, masks, rows=np.array([1, 0]), threads=np.uint8(2)) == [True, True]
    assert matchers[0].accept(np.int64(ord("1"))) and matchers[0].closing_within(np.int16(9))
    matchers[0].rollback(np.int8(1))
    assert PrefixCache(np.int64(4), digest_size=np.int64(9)).acquire(np.array([1, 2])).matched == 0
    assert as_model(print, width=np.int64(7)).width == 7
    ids = np.array([49, 50])
    assert (
        MatcherCache(1).after(ids, GRAMMAR, VOCABULARY).tokens == MatcherCache(1).after(iter(ids), GRAMMAR, VOCABULARY).tokens == [49, 50]
    )
    with pytest.raises(TypeError, match="a row is an int, not float64"):
        fill_masks(matchers, masks, rows=np.array([0.0, 1.0]))


def test_no_two_threads_write_to_one_row():
    matchers = [Matcher(GRAMMAR, VOCABULARY) for _ in range(2)]
    masks = allocate_masks(2, VOCABULARY)
    with pytest.raises(ValueError, match="a row occurs twice"):
        fill_masks(matchers, masks, rows=[0, 0], threads=2)
    assert fill_masks(matchers, masks, rows=[0, 0]) == [True, True]


@pytest.mark.parametrize(
    ("reason", "thing"),
    [
        ("send its `buffer`", MaskBuffer(allocate_masks(1, VOCABULARY), VOCABULARY)),
        ("each process has its own", GrammarCache()),
        ("send `tokens`", Matcher(GRAMMAR, VOCABULARY)),
        ("send the tokens", Guide(DFA)),
    ],
)
def test_what_belongs_to_a_process_says_so(reason, thing):
    with pytest.raises(TypeError, match=reason):
        pickle.dumps(thing)
