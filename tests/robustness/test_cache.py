"""`GrammarCache`: equal sources are compiled once; bounded; safe in threads."""

from __future__ import annotations

import copy
import json
import struct
import threading
from collections import OrderedDict
from decimal import Decimal

import pytest

from grammar_engine import Grammar, GrammarCache, Limits, Matcher, SchemaError, Vocabulary


def test_equal_sources_are_one_grammar() -> None:
    cache = GrammarCache()
    schema = {"type": "object", "properties": {"a": {"const": 1}}}
    grammar = cache.from_json_schema(schema)
    assert cache.from_json_schema({"type": "object", "properties": {"a": {"const": 1}}}) is grammar
    assert cache.from_json_schema(schema, whitespace="compact") is not grammar
    assert cache.from_json_schema(schema, limits=Limits()) is cache.from_json_schema(schema, limits=Limits())
    assert cache.from_regex("a+") is cache.from_regex("a+") is not cache.from_regex("a+", dialect="ecma")
    assert cache.from_lark('start: "a"') is cache.from_lark('start: "a"')
    assert cache.from_choices(["a", b"b"]) is cache.from_choices(iter(["a", b"b"]))
    assert cache.stats.misses == cache.stats.grammars == 7


def test_equal_schemas_are_one_whatever_they_share() -> None:
    cache, shared = GrammarCache(), {"type": "string", "enum": ["a" * 100]}
    schema = {"properties": {f"p{i}": shared for i in range(2_000)}}  # longer than a frame of pickle
    grammar = cache.from_json_schema(schema)
    assert cache.from_json_schema(json.loads(json.dumps(schema))) is grammar
    assert cache.stats.misses == 1


APART = [
    ({"const": 1}, {"const": True}),
    ({"const": 1}, {"const": 1.0}),
    ({"const": 1}, {"const": "1"}),
    ({"const": 0}, {"const": False}),
    ({"const": 0}, {"const": None}),
    ({"const": None}, {"const": "null"}),
    ({"const": 0.0}, {"const": -0.0}),
    ({"const": 2**53}, {"const": float(2**53)}),
    ({"const": 2**53}, {"const": 2**53 + 1}),
    ({"const": 2**90}, {"const": 2**90 + 1}),
    ({"const": "é"}, {"const": "e\u0301"}),
    ({"const": []}, {"const": {}}),
    ({"const": [1, [2]]}, {"const": [[1], 2]}),
    ({"const": ["a", "b"]}, {"const": ["ab"]}),
    ({"const": {"a": [{"b": 1}]}}, {"const": {"a": [{"b": True}]}}),
    ({"const": {"a": {}, "b": 1}}, {"const": {"a": {"b": 1}}}),
    ({"const": Decimal("0.1")}, {"const": None}),
    ({"const": Decimal("0.1")}, {"const": 0.1}),
    ({"const": Decimal("0.1")}, {"const": "0.1"}),
    ({"const": Decimal("0.1")}, {"const": Decimal("0.2")}),
    ({"properties": {"a": {}, "b": {}}}, {"properties": {"b": {}, "a": {}}}),
    ({"items": {"properties": {"a": {}, "b": {}}}}, {"items": {"properties": {"b": {}, "a": {}}}}),
    (True, {}),
    (True, "true"),
    ('{"const": 1}', '{"const": 2}'),
    ('{"const": 1}', '{"const": 1.0}'),
    ('{"const": 1}', {"const": 1}),
]


@pytest.mark.parametrize(("first", "second"), APART, ids=str)
def test_sources_that_differ_are_told_apart(first: object, second: object) -> None:
    cache = GrammarCache()
    one, other = cache.from_json_schema(first), cache.from_json_schema(second)
    assert one is not other
    assert cache.from_json_schema(copy.deepcopy(first)) is one
    assert cache.from_json_schema(copy.deepcopy(second)) is other


def test_equal_sources_are_found_whatever_they_are_made_of() -> None:
    """Strings that are one object or several, keys that are interned or not, dicts of another class."""
    cache, word = GrammarCache(), "".join(["some", " word"])
    grammar = cache.from_json_schema({"enum": [word, word], "title": word})
    assert cache.from_json_schema({"enum": ["some word", "".join(["some ", "word"])], "title": word}) is grammar
    assert cache.from_json_schema(json.loads('{"enum": ["some word", "some word"], "title": "some word"}')) is grammar
    ordered = [OrderedDict([("const", 1), ("title", "x")]) for _ in range(2)]
    assert cache.from_json_schema(ordered[0]) is cache.from_json_schema(ordered[1])
    assert cache.from_json_schema(bytearray(b"{}")) is cache.from_json_schema(b"{}")


def test_numbers_of_numpy_are_not_their_bytes() -> None:
    numpy = pytest.importorskip("numpy")
    cache = GrammarCache()
    number = struct.unpack("<d", "AB".encode("utf-32-le"))[0]
    assert cache.from_json_schema({"const": numpy.float64(number)}) is not cache.from_json_schema({"const": numpy.str_("AB")})
    cache.from_json_schema({"maximum": numpy.float64(0)})
    assert cache.from_json_schema({"maximum": numpy.int64(1)}) is not cache.from_json_schema({"maximum": numpy.int64(256)})
    for other in (numpy.zeros(1), bytes(8)):
        with pytest.raises(SchemaError):
            cache.from_json_schema({"maximum": other})


def test_options_that_differ_are_told_apart() -> None:
    cache, schema = GrammarCache(), {"properties": {"a": {}, "b": {}}}
    every = [{}, {"property_order": "any"}, {"whitespace": "compact"}, {"lenient": True}, {"limits": Limits(max_rules=99_999)}]
    assert len({id(cache.from_json_schema(schema, **options)) for options in every}) == len(every)
    both = {"whitespace": "compact", "lenient": True}
    assert cache.from_json_schema(schema, **both) is cache.from_json_schema(schema, **dict(reversed(both.items())))
    assert cache.from_regex("a") is not cache.from_lark("a: /a/", start="a") is not cache.from_choices(["a"])


def test_a_dict_that_was_changed_is_another_source() -> None:
    cache = GrammarCache()
    schema = {"const": 1}
    first = cache.from_json_schema(schema)
    schema["const"] = 2
    matcher = Matcher(cache.from_json_schema(schema), Vocabulary.bytes())
    assert matcher.accept_bytes(b"2")
    assert cache.from_json_schema({"const": 1}) is first


def test_the_least_recently_used_goes_first() -> None:
    cache = GrammarCache(max_grammars=2)
    a, b = cache.from_regex("a"), cache.from_regex("b")
    assert cache.from_regex("a") is a
    cache.from_regex("c")
    assert cache.from_regex("a") is a
    assert cache.from_regex("b") is not b
    assert cache.stats.grammars == 2
    assert cache.stats.evictions == 2
    cache.clear()
    assert cache.stats.grammars == 0
    with pytest.raises(ValueError, match="at least 1"):
        GrammarCache(max_grammars=0)


def test_grammars_that_have_grown_are_dropped() -> None:
    cache, vocabulary = GrammarCache(max_bytes=200_000), Vocabulary.bytes()

    def grown(pattern: str) -> Grammar:
        grammar = cache.from_regex(pattern)
        matcher = Matcher(grammar, vocabulary)
        for letter in b"ababbabbbababab" * 20:
            assert matcher.accept(letter)
            matcher.mask()
        return grammar

    large = [grown(f"(a|b)*a(a|b){{{n}}}") for n in (9, 10)]
    assert all(100_000 < grammar.stats.bytes + grammar.stats.mask_bytes < 200_000 for grammar in large)
    assert cache.stats.bytes == sum(grammar.stats.bytes + grammar.stats.mask_bytes for grammar in large) > 200_000
    assert cache.stats.evictions == 0  # nothing was compiled since
    small = cache.from_regex("c")
    assert cache.from_regex("(a|b)*a(a|b){10}") is large[1] and cache.from_regex("c") is small
    assert cache.stats.evictions == 1
    assert cache.from_regex("(a|b)*a(a|b){9}") is not large[0]
    unbounded = GrammarCache()
    assert unbounded.max_bytes is None
    with pytest.raises(ValueError, match="max_bytes is at least 1"):
        GrammarCache(max_bytes=0)


@pytest.mark.parametrize("n_held", [1, 2, 3])
def test_so_many_bytes_are_held_and_no_more(n_held: int) -> None:
    vocabulary = Vocabulary.bytes()
    for pattern in "abcde":
        assert Matcher(Grammar.from_regex(pattern), vocabulary).accept_bytes(pattern.encode())  # so that the vocabulary has grown

    def filled(max_bytes: int | None) -> GrammarCache:
        cache = GrammarCache(max_bytes=max_bytes)
        for pattern in "abcd":
            assert Matcher(cache.from_regex(pattern), vocabulary).accept_bytes(pattern.encode())
        cache.from_regex("e")
        return cache

    each = {cache._n_bytes() for cache in filled(None)._grammars.values()} - {0}
    assert len(each) == 1
    (size,) = each
    for max_bytes, expected in ((n_held * size, n_held + 1), (n_held * size - 1, n_held), (n_held * size + 1, n_held + 1)):
        stats = filled(max_bytes).stats
        assert (stats.grammars, stats.evictions) == (expected, 5 - expected)


def test_both_bounds() -> None:
    cache = GrammarCache(2, max_bytes=1 << 30)
    grammars = [cache.from_regex(pattern) for pattern in "abc"]
    assert cache.stats.grammars == 2 and cache.from_regex("b") is grammars[1]


def test_the_latest_grammar_stays_whatever_it_has_grown_to(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar, vocabulary = Grammar.from_regex("a+"), Vocabulary.bytes()
    assert Matcher(grammar, vocabulary).accept_bytes(b"a") and grammar.stats.bytes > 1
    monkeypatch.setattr(Grammar, "from_regex", lambda _: grammar)
    cache = GrammarCache(max_bytes=1)
    assert cache.from_regex("a+") is grammar
    assert (cache.stats.grammars, cache.stats.evictions) == (1, 0)


def test_the_latest_grammar_stays_whatever_it_takes() -> None:
    cache, vocabulary = GrammarCache(max_bytes=1), Vocabulary.bytes()
    grammar = cache.from_regex("a+")
    assert Matcher(grammar, vocabulary).accept_bytes(b"a") and cache.stats.bytes > 1
    assert cache.from_regex("a+") is grammar
    cache.from_regex("b")
    assert cache.stats.grammars == 1 and cache.from_regex("a+") is not grammar


def test_a_failure_is_not_held() -> None:
    cache = GrammarCache()
    for _ in range(2):
        with pytest.raises(SchemaError):
            cache.from_json_schema({"type": "strin"})
        with pytest.raises(SchemaError):
            cache.from_json_schema({"const": {1, 2}})
    assert cache.stats.grammars == 0


def test_who_compiles_last_gets_the_grammar_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, real, inner = GrammarCache(), Grammar.from_regex, []

    def asks_again(pattern: str) -> Grammar:
        if not inner:
            inner.append(None)
            inner.append(cache.from_regex(pattern))
        return real(pattern)

    monkeypatch.setattr(Grammar, "from_regex", asks_again)
    assert cache.from_regex("a") is inner[1] is cache.from_regex("a")


def test_threads_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, go = [], threading.Event()
    real = Grammar.from_regex

    def slow(pattern: str) -> Grammar:
        compiled.append(pattern)
        go.wait(10)
        return real(pattern)

    monkeypatch.setattr(Grammar, "from_regex", slow)
    cache, found = GrammarCache(), []
    threads = [threading.Thread(target=lambda: found.append(cache.from_regex("x"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert compiled == ["x"]
    assert len(set(map(id, found))) == 1
    assert len(found) == 8
