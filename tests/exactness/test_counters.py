"""What masks cost, in counters that do not depend on the machine: a cold mask is not a walk of the vocabulary if its parts are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary

NODES = 300  # of the trie, at most, where lexeme-internal masks are known; the shipped vocabulary has thousands


def work(grammar: Grammar, vocabulary: Vocabulary, text: bytes, **switches: bool) -> dict[str, int]:
    """By how much the counters grow with the mask after `text`, where none was made ahead."""
    matcher = Matcher(grammar, vocabulary, switches=Switches(ahead=False, **switches))
    assert matcher.accept_bytes(text)
    before = grammar.stats
    matcher.mask()
    after = grammar.stats
    names = ("trie_nodes", "bytes_copied", "inner_builds", "inner_hits", "heirs", "derivatives")
    return {name: getattr(after, name) - getattr(before, name) for name in names}


@pytest.fixture
def vocabulary() -> Vocabulary:
    """A fresh one: what is known of its tokens belongs to it."""
    return Vocabulary.builtin(slices=())  # nothing is there before a grammar needs it


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "string", "maxLength": 1000},
        {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,200}$"},
        {"type": "string", "pattern": r"^(?:\S+\s+){0,99}\S+$"},
        {"type": "string", "pattern": r"^(?:\S+\s+){0,99}\S+$", "maxLength": 900},
    ],
    ids=str,
)
def test_states_along_a_text_share_one_analysis(vocabulary: Vocabulary, schema: Any) -> None:
    grammar = Grammar.from_json_schema(schema)
    first = work(grammar, vocabulary, b'"ab')
    assert first["inner_builds"] >= 1
    assert work(grammar, vocabulary, b'"abc')["inner_builds"] <= 1  # at the second place, without the bound of a counted text
    later = work(grammar, vocabulary, b'"abcdefghij')
    assert later["inner_builds"] == 0
    assert later["trie_nodes"] <= NODES
    other = work(Grammar.from_json_schema({"type": "array", "items": schema}), vocabulary, b'["abcd')
    assert other["inner_builds"] == 0
    assert other["trie_nodes"] <= NODES


def test_a_domain_is_analysed_once_however_long_what_comes_before_it_is(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "email", "maxLength": 100})
    for local in (b"ab", b"abc"):
        assert work(grammar, vocabulary, b'"' + local + b"@")["inner_builds"] == 1
    for n in (4, 7, 20, 30):
        later = work(grammar, vocabulary, b'"' + b"a" * n + b"@")
        assert later["inner_builds"] == later["derivatives"] == 0
        assert later["trie_nodes"] <= NODES


@pytest.mark.parametrize("pattern", ["[A-Za-z ,.]{10,200}", ".{10,200}"])
def test_where_a_text_is_one_lexeme_no_token_leaves_it(vocabulary: Vocabulary, pattern: str) -> None:
    """How many characters must still come is nothing to a mask: all states on the way are one."""
    grammar = Grammar.from_regex(pattern)
    assert work(grammar, vocabulary, b"ab")["inner_builds"] == 1
    for text in (b"ab, ", b"ab, ab, ab", b"ab, ab, ab, ab, ab"):
        assert work(grammar, vocabulary, text)["trie_nodes"] <= NODES // 2


@pytest.mark.parametrize(
    "pattern", [r"https?://[-a-zA-Z0-9@:%._+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}\b[-a-zA-Z0-9@:%_+.~#?&/=]*", r"(\w+\W+){3,50}\w+"]
)
def test_words_in_unicode_share_an_analysis_too(vocabulary: Vocabulary, pattern: str) -> None:
    r"""`\b`, and `\w` beside `\W`, are 1,600 expressions."""
    grammar = Grammar.from_regex(pattern)
    for text in (b"http://ab.a", b"http://ab.abc.", b"http://ab.abc.d"):
        work(grammar, vocabulary, text)
    later = [work(grammar, vocabulary, b"http://ab.abc.def." + end) for end in (b"ghi.", b"ghi.a", b"ghi.abc.d", b"ghi.abc.de")]
    assert sum(each["trie_nodes"] for each in later) <= NODES * len(later)


def test_what_stays_inside_a_lexeme_is_not_walked(vocabulary: Vocabulary) -> None:
    source = (Path(__file__).parents[2] / "grammars" / "python_subset.lark").read_text()
    nodes = {
        slices: work(Grammar.from_lark(source), vocabulary, b"x = ", slices=slices, heirs=False, inner_masks=False, outlines=False)[
            "trie_nodes"
        ]
        for slices in (True, False)
    }
    assert 2 * nodes[True] < nodes[False]


def test_without_clamping_each_count_is_analysed(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,200}$"})
    assert work(grammar, vocabulary, b'"ab', clamping=False)["inner_builds"] >= 1
    assert work(grammar, vocabulary, b'"abcdefghij', clamping=False)["inner_builds"] >= 1


def test_a_key_beside_named_ones_is_any_key_but_for_the_names(vocabulary: Vocabulary) -> None:
    def object_of(names: str) -> Grammar:
        return Grammar.from_json_schema({"properties": {name: {"type": "integer"} for name in names.split()}, "type": "object"})

    work(object_of("other words"), vocabulary, b'{"')
    grammar = object_of("name age")
    key = work(grammar, vocabulary, b'{"n')
    assert key["heirs"] == 1
    assert key["inner_builds"] == 0
    assert key["trie_nodes"] <= 2 * NODES


def test_units_are_found_again_in_other_mixtures(vocabulary: Vocabulary) -> None:
    """An identifier is analysed once, whatever a grammar allows beside it."""
    source = r"""
        start: (statement ";")*
        statement: NAME "=" expression | "return" expression
        expression: NAME | NUMBER | "(" expression ")" | expression "+" expression
        NAME: /[a-z_][a-z0-9_]*/
        NUMBER: /[0-9]+/
        %ignore " "
    """
    grammar = Grammar.from_lark(source)
    built = [work(grammar, vocabulary, text)["inner_builds"] for text in (b"a", b"a=b", b"a=b;return (c", b"a=(b+c")]
    assert built[0] >= 1
    assert built[2:] == [0, 0]


def test_a_transition_is_derived_once_for_bytes_that_nothing_tells_apart(vocabulary: Vocabulary) -> None:
    """Many keys make many byte classes; the body of a string has a dozen transitions all the same."""
    properties = {f"{letter}_": {"type": "string"} for letter in "abcdefghijklmnopqrstuvwxyz0123456789+-*/#!?"}
    grammar = Grammar.from_json_schema({"type": "object", "properties": properties})
    assert work(grammar, vocabulary, b'{"a_": "xy', inner_masks=False, slices=False, heirs=False)["derivatives"] <= 150


def test_what_cannot_be_is_told_without_a_search(vocabulary: Vocabulary) -> None:
    """After `2016-01-05t` the format goes on, but the pattern needs a `T`: to try all ways takes millions of derivatives."""
    pattern = r"\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    grammar = Grammar.from_json_schema({"type": "string", "format": "date-time", "pattern": pattern})
    assert work(grammar, vocabulary, b'"2016-01-05')["derivatives"] < 20_000
    matcher = Matcher(grammar, vocabulary)
    assert matcher.accept_bytes(b'"2016-01-05')
    assert not matcher.accept_bytes(b"t")
    assert matcher.accept_bytes(b'T16:51:00Z"') and matcher.is_complete


def test_a_first_analysis_goes_by_shapes(vocabulary: Vocabulary) -> None:
    schema = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_ ]*$"}
    by_shapes = work(Grammar.from_json_schema(schema), vocabulary, b'"ab')
    by_tokens = work(Grammar.from_json_schema(schema), Vocabulary.builtin(slices=()), b'"ab', shapes=False)
    assert by_shapes["inner_builds"] == by_tokens["inner_builds"]
    assert 3 * by_shapes["trie_nodes"] < by_tokens["trie_nodes"]


def test_what_cannot_end_soon_is_analysed_once(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "minLength": 60, "maxLength": 30000})
    assert work(grammar, vocabulary, b'"ab')["inner_builds"] <= 1


@pytest.mark.parametrize("left", [3, 10, 15, 20, 31])
def test_the_last_characters_do_not_walk_the_longer_tokens(vocabulary: Vocabulary, left: int) -> None:
    first = Grammar.from_json_schema({"type": "string", "maxLength": 40})
    second = Grammar.from_json_schema({"type": "array", "items": {"type": "string", "maxLength": 40}})
    text = b"x" * (40 - left)
    work(first, vocabulary, b'"' + text)
    assert work(second, vocabulary, b'["' + text)["trie_nodes"] <= NODES


def test_a_unit_that_is_too_large_for_the_store_goes_by_its_heir(vocabulary: Vocabulary) -> None:
    """The key of any other name excludes all that are named: more than what is kept with the vocabulary."""
    names = {f"{7919 * i % 997:03d}name{31 * i % 89:02d}": {"type": "null"} for i in range(80)}
    grammar = Grammar.from_json_schema({"type": "object", "properties": names}, property_order="any")
    work(grammar, vocabulary, b'{"')
    later = work(grammar, vocabulary, b'{"000name00":null,"')
    assert later["inner_builds"] == 0
    assert later["heirs"] == 1
    assert later["trie_nodes"] <= 4 * NODES


def test_a_mask_is_copied_a_few_times_at_most(vocabulary: Vocabulary) -> None:
    row = 4 * ((vocabulary.width + 31) // 32)
    few = work(Grammar.from_choices(["yes", "no"]), vocabulary, b"")
    assert row < few["bytes_copied"] < row + 4 * 20  # into the buffer of the caller, and a list that is kept
    work(Grammar.from_json_schema({"type": "string"}), vocabulary, b'"ab')  # analyses
    grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string"}})
    later = work(grammar, vocabulary, b'["ab')
    assert row < later["bytes_copied"] <= 4 * row
    matcher, before = Matcher(grammar, vocabulary, switches=Switches(ahead=False)), grammar.stats.bytes_copied
    assert matcher.accept_bytes(b'["abc') and matcher.mask() is not None
    assert grammar.stats.bytes_copied == before  # found by its configuration


def test_tokens_that_begin_the_next_item_are_not_read_one_by_one(vocabulary: Vocabulary) -> None:
    """Behind `grey","` a string may come whatever is written before: only by its text would a token that has `",` be a row of its own."""
    grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, whitespace="compact")
    matcher = Matcher(grammar, vocabulary, switches=Switches(ahead=False))
    for token in vocabulary.encode_greedy(b'["red","green","blue","grey'):
        matcher.mask()
        assert matcher.accept(token)
    matcher.mask()
    assert grammar.stats.rows < 40
