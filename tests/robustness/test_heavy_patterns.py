"""Small sources with large automata: walked as far as is asked, and no further."""

from __future__ import annotations

import time

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Vocabulary

SECONDS = 3.0  # of this thread, for a whole test; on a quiet machine none takes a third


@pytest.fixture(autouse=True)
def _soon():
    begin = time.thread_time()
    yield
    assert time.thread_time() - begin < SECONDS


@pytest.mark.parametrize(
    ("pattern", "lengths"),
    [
        ("(a{1,1000}){1,1000}", range(1, 1_000_001)),
        ("(a|aa){1,1000}", range(1, 2_001)),
        ("((a?){1000}){1000}", range(1_000_001)),
        ("(a{0,100}){0,100}", range(10_001)),
        ("((((a{1,10}){1,10}){1,10}){1,10}){1,10}", range(1, 100_001)),
        ("((a{2}){3,5}){7}", range(42, 71, 2)),
        ("(aa|aaa){1,7}", range(2, 22)),
        ("(a{3,4}){0,2}", {0, 3, 4, 6, 7, 8}),
        ("a{1000000}", {1_000_000}),
    ],
)
def test_counts_of_counts(pattern, lengths):
    """The language is the `a`s of certain lengths: the masks say so at each length up to 2,100, and at some beyond."""
    vocabulary = Vocabulary([b"a", b"a" * 100, b"", b"b"], eos=[2])
    matcher = Matcher(Grammar.from_regex(pattern), vocabulary)
    longest = max(lengths)

    def check(length):
        expected = {token for token, fits in ((0, length < longest), (1, length + 100 <= longest), (2, length in lengths)) if fits}
        assert set(matcher.allowed_tokens()) == expected
        assert matcher.is_complete == (length in lengths)

    for length in range(min(longest, 2_100) + 1):
        if length < 120 or length % 97 == 0 or longest - length < 120:
            check(length)
        assert matcher.accept(0) == (length < longest)
    for length in range(2_201, min(longest, 50_000), 100):
        assert matcher.accept(1)
        if length % 1_000 == 1:
            check(length)


@pytest.mark.parametrize(
    "pattern", ["(.*a){50}", ".*a.{50}", "(.*a.*b){20}", "(a*)*b", "(a|a)*b", "(x+x+)+y", "(a?){60}a{60}", "(.{0,30}a){1,30}", "(a|b|ab)*c"]
)
def test_classics_of_exponential_matchers(pattern):
    matcher = Matcher(Grammar.from_regex(pattern), Vocabulary.builtin())
    for byte in (b"a", b"b", b"a", b"x", b"a") * 30:
        if not matcher.accept_bytes(byte):
            break
        matcher.mask()
    assert len(matcher.explain(b"\xff").expected_bytes) > 0 or matcher.is_complete


def test_a_pattern_with_exponentially_many_states_meets_a_named_limit():
    """`.*a.{20}` has 2^21 states. Random text reaches new ones at each byte; the budget of states is what ends it, if anything."""
    grammar = Grammar.from_regex(".*a.{20}", limits=Limits(max_lexer_states=200))
    matcher = Matcher(grammar, Vocabulary.bytes())
    state = 1
    for _ in range(2000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        before = matcher.tokens
        try:
            assert matcher.accept(97 + (state >> 16 & 1))
        except LimitExceededError as error:
            assert (error.limit, error.maximum) == ("max_lexer_states", 200)
            assert matcher.tokens == before
            break
    else:
        pytest.fail("the limit was never reached")
    matcher.reset()
    assert matcher.accept(97)


def test_nested_stars_of_rules():
    """The stack of llama.cpp overflowed on this."""
    for text in (
        'start: ("a"*)*',
        'start: (("a"*)*)*',
        'start: (("a"?)*)+',
        'start: ("a"* "b"*)*',
        "start: x*\nx: y*\ny: start?\n",
        'start: start start | "a" |',
    ):
        matcher = Matcher(Grammar.from_lark(text), Vocabulary.bytes())
        assert matcher.is_complete
        assert matcher.allowed_tokens()[-1] == 256
        for _ in range(200):
            if not matcher.accept(97):
                break
            assert matcher.is_complete
        assert matcher.accept(256)


def test_ambiguity():
    for text in (
        'start: start start | "a"',
        'start: (A | B | C)*\nA: "a"\nB: "aa"\nC: /a+/',
        'start: x | y\nx: "a" x | "a"\ny: y "a" | "a"',
        'start: start "a" start | "a"',
    ):
        matcher = Matcher(Grammar.from_lark(text), Vocabulary.bytes())
        assert matcher.accept_bytes(b"a" * 301)
        assert matcher.is_complete


def test_large_bounds_cost_nothing():
    for schema in (
        {"type": "string", "minLength": 10**6, "maxLength": 10**6},
        {"type": "array", "items": {"type": "null"}, "minItems": 10**6, "maxItems": 10**9},
        {"type": "integer", "minimum": -(10**300), "maximum": 10**300},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1e-300},
        {"type": "integer", "multipleOf": 9973},
        {"type": "string", "pattern": "^(a{1,1000}){1,1000}$", "maxLength": 10**5},
    ):
        matcher = Matcher(Grammar.from_json_schema(schema), Vocabulary.bytes())
        for _ in range(20):
            allowed = [token for token in matcher.allowed_tokens() if token < 256 and chr(token) not in " \t\r\n"]
            if not allowed:
                break
            assert matcher.accept(allowed[len(allowed) // 2])


def test_many_choices_many_keys():
    words = [f"w{i * 7919 % 50_000}" for i in range(50_000)]
    matcher = Matcher(Grammar.from_choices(words), Vocabulary.builtin())
    assert matcher.accept_bytes(b"w4999")
    assert matcher.is_complete
    assert matcher.explain(b"x").expected_bytes == b"0123456789"
    schema = {"type": "object", "properties": {word: {"type": "integer"} for word in words[:3000]}, "additionalProperties": False}
    matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact"), Vocabulary.bytes())
    assert matcher.accept_bytes(f'{{"{words[5]}":1,"{words[2999]}":2}}'.encode())
    assert matcher.is_complete


def test_conditions_that_share_their_parts():
    """What is left of such a string is an intersection of unions of intersections,
    which share parts: few, but with ways down to them without number."""

    def all_of(*schemas):
        return {"allOf": [{"pattern": each} if isinstance(each, str) else each for each in schemas]}

    either = {"oneOf": [{"pattern": "a{2,}"}, {"pattern": '^(a|b|"){3}'}, {"pattern": "00|11"}]}
    last = {"oneOf": [{"anyOf": [{"anyOf": [{"maxLength": 11}, {"pattern": "1$"}]}, {"pattern": "0.*1"}]}, {}, {"pattern": "^a"}]}
    schema = all_of(all_of(all_of("(ab|ba){2}", {"minLength": 2}, either), last, "^[ab]*$"), "^[ab01]*$")
    matcher = Matcher(Grammar.from_json_schema({"type": "string", "minLength": 7, **schema}), Vocabulary.builtin())
    assert matcher.closing_bytes() == b'"babababababa"'  # the first of the shortest, by trying all
