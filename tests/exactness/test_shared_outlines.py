"""Token automata of lexemes and their outlines, which are kept with the vocabulary: later grammars find them, and masks are the same."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Switches, Vocabulary
from vocabularies import load_real

NAMES = "abcdef"
OFF = Switches(shared_inner=False)


def vocabulary() -> Vocabulary:
    """All numbers of up to three digits, and all of three hexadecimal ones,
    are tokens, and pairs of eight signs; so are some that go on behind them."""
    digits, hexadecimal = "0123456789", "0123456789abcdef"
    words = [a + b + c for a in hexadecimal for b in hexadecimal for c in hexadecimal]
    words += [a + b for a in digits for b in digits] + [a + end for a in hexadecimal for end in ('"', '"}', '",', "-", ",", "}")]
    words += ["".join(signs) + end for signs in itertools.product("中文字符一二三四", repeat=2) for end in ("", '"', "a")]
    tokens = [bytes([byte]) for byte in range(256)] + [word.encode() for word in words]
    return Vocabulary([*tokens, b""], eos=[len(tokens)])


def schema(name: str, value: dict[str, Any]) -> Grammar:
    kind = {"type": "object", "properties": {name: value, "z": value}, "required": [name, "z"], "additionalProperties": False}
    return Grammar.from_json_schema(json.dumps(kind))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"type": "string", "format": "uuid"}, '"123e4567-e89b-12d3-a456-426614174000"'),
        ({"type": "string", "format": "date"}, '"2024-11-23"'),
        ({"type": "string", "pattern": "^[0-9]{7}$"}, '"1234567"'),
        ({"type": "string", "pattern": "^[\\u4e00-\\u9fff]+$"}, '"中文字符一二"'),
        ({"type": "number"}, "-12345.6789e12"),
        ({"type": "integer", "minimum": -70, "maximum": 12345}, "12340"),
        ({"type": "string", "pattern": "^[0-9 a-f]+-[0-9]{1,40}$"}, '"12 ab 3c-123456789"'),
        ({"type": ["number", "string", "null"]}, "12.5"),
        ({"type": "array", "items": {"type": ["integer", "boolean"]}}, "[1, 123 , true,\t0\n]"),
        ({"enum": [1, 22, 333, 4040, "5", 6.5, 71, 82, 93, 1e100]}, "4040"),
    ],
)
def test_masks_are_the_same_and_later_ones_are_found(value: dict[str, Any], text: str) -> None:
    shared, hits, nodes = vocabulary(), list[int](), list[int]()
    for name in NAMES:
        grammar, plain = schema(name, value), schema(name, value)
        one, other = Matcher(grammar, shared), Matcher(plain, shared, switches=OFF)
        for token in shared.encode_greedy(f'{{"{name}": {text}, "z": {text}}}'.encode()):
            assert bytes(one.mask()) == bytes(other.mask())
            assert one.accept(token) and other.accept(token)
        assert bytes(one.mask()) == bytes(other.mask())
        hits.append(grammar.stats.inner_hits)
        nodes.append(grammar.stats.trie_nodes)
    assert nodes[-1] <= nodes[0]
    assert hits[-1] > hits[0] or nodes[-1] < nodes[0] or "enum" in value


@pytest.mark.parametrize("lexing", ["exact", "longest"])
@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('start: N ("," N)*\nN: /-?[0-9]+(\\.[0-9]+)?/\n%ignore / +/', "-123.456,  7,89,12.0"),
        ('start: D | N | D "T" N\nD: /[0-9]{4}-[0-9]{2}/\nN: /[0-9]+/', "2024-11T123456"),
        ('start: (N | W | N "e" N)+\nN: /[0-9]+/\nW: /[0-9a-f]+-/', "12e3ab-123456-7"),
        ("start: (N | S)+\nN: /[0-9]+,?/\nS: /[0-9 ]{2,5};/", "123,4 5 6;78,"),
    ],
)
def test_masks_of_lark_grammars_are_the_same(source: str, text: str, lexing: Any) -> None:
    shared = vocabulary()
    for _ in range(4):
        for switches in (Switches(), Switches(outlines=False), Switches(slices=False), Switches(state_cache=False, mask_cache=False)):
            one = Matcher(Grammar.from_lark(source, lexing=lexing), shared, switches=switches)
            other = Matcher(Grammar.from_lark(source, lexing=lexing), shared, switches=OFF)
            for token in shared.encode_greedy(text.encode()):
                assert bytes(one.mask()) == bytes(other.mask())
                assert one.accept(token) == other.accept(token)


def test_a_grammar_with_small_limits_takes_nothing_from_the_others() -> None:
    """The second grammar would make the automaton, and may not: the third does."""
    shared, nodes = fresh("builtin"), []
    for i, limits in enumerate((Limits(), Limits(max_step_work=2000), Limits(), Limits(), Limits())):
        source, text = values_of("uuid", 0)
        grammar = Grammar.from_json_schema(source, limits=limits)
        matcher = Matcher(grammar, shared)
        for token in shared.encode_greedy(text.encode()):
            matcher.mask()
            assert matcher.accept(token), i
        nodes.append(grammar.stats.trie_nodes)
    assert nodes[4] == nodes[3] < nodes[0] / 4


@pytest.mark.parametrize("ceiling", [0, 1_000, 5_000, 20_000])
def test_what_was_dropped_is_made_again(ceiling: int) -> None:
    shared = vocabulary()
    shared.max_shared_bytes = ceiling
    for kind in ("uuid", "date", "number", "uuid", "number", "date") * 3:
        source, text = values_of(kind, ceiling % 3)
        one, other = Matcher(Grammar.from_json_schema(source), shared), Matcher(Grammar.from_json_schema(source), shared, switches=OFF)
        for token in shared.encode_greedy(text.encode()):
            assert bytes(one.mask()) == bytes(other.mask())
            assert one.accept(token) and other.accept(token)


def test_grammars_of_many_threads_share_automata() -> None:
    kinds = ("uuid", "date", "number", "integer")
    expected = {kind: masks_of(kind, vocabulary(), OFF) for kind in kinds}
    for _ in range(5):
        shared = vocabulary()
        with ThreadPoolExecutor(8) as pool:
            found = [(kind, pool.submit(masks_of, kind, shared, Switches())) for kind in kinds * 8]
        assert all(masks.result() == expected[kind] for kind, masks in found)


def masks_of(kind: str, over: Vocabulary, switches: Switches) -> list[bytes]:
    source, text = values_of(kind, 1)
    matcher, found = Matcher(Grammar.from_json_schema(source), over, switches=switches), list[bytes]()
    for token in over.encode_greedy(text.encode()):
        found.append(bytes(matcher.mask()))
        assert matcher.accept(token)
    return found


def fresh(name: str) -> Vocabulary:
    """A vocabulary that has not met a grammar."""
    built: Vocabulary = Vocabulary.builtin() if name == "builtin" else load_real(name).build()
    ceiling, built.max_shared_bytes = built.max_shared_bytes, 0
    built.max_shared_bytes = ceiling
    return built


def values_of(kind: str, i: int) -> tuple[str, str]:
    """A schema of one property, named by i, as text, and an object of it."""
    value, text = {
        "integer": ({"type": "integer"}, "-12345"),
        "number": ({"type": "number"}, "-12345.678e12"),
        "date": ({"type": "string", "format": "date"}, '"2024-11-23"'),
        "uuid": ({"type": "string", "format": "uuid"}, '"123e4567-e89b-42d3-a456-426614174000"'),
        "ipv4": ({"type": "string", "format": "ipv4"}, '"192.168.10.1"'),
        "ipv6": ({"type": "string", "format": "ipv6"}, '"2001:db8::1:22"'),
        "digest": ({"type": "string", "pattern": "^[0-9a-f]{300}$"}, '"' + "0123456789abcdef" * 18 + '0123456789ab"'),
        "boolean": ({"type": "boolean"}, "true"),
    }[kind]
    name = NAMES[i % len(NAMES)] * (1 + i)
    schema = {"type": "object", "properties": {name: value, "z": {"type": "null"}}, "required": [name, "z"], "additionalProperties": False}
    return json.dumps(schema), f'{{"{name}":{text},"z":null}}'


def nodes_within(kind: str, i: int, over: Vocabulary) -> tuple[list[int], int]:
    """The nodes of the vocabulary that masks visit within a value, one after the other, and behind it."""
    source, text = values_of(kind, i)
    begin, end = text.index(":") + 1, text.rindex(',"z"')
    grammar = Grammar.from_json_schema(source)
    matcher, within, at = Matcher(grammar, over), list[int](), 0
    while at < end:
        part = text[at:] if at < begin else text[at:end]  # so that a token ends where the value begins, and where it ends
        token = over.encode_greedy((part[: begin - at] if at < begin else part).encode())[0]
        before = grammar.stats.trie_nodes
        matcher.mask()
        if at > begin:
            within.append(grammar.stats.trie_nodes - before)
        matcher.accept(token)
        at += len(over.token_bytes(token))
    before = grammar.stats.trie_nodes
    matcher.mask()
    return within, grammar.stats.trie_nodes - before


@pytest.mark.parametrize("name", ["builtin", "tekken-131k", "o200k-200k"])
@pytest.mark.parametrize("kind", ["integer", "number", "date", "uuid", "ipv4", "ipv6", "digest"])
def test_lexemes_are_built_once_for_a_vocabulary(kind: str, name: str) -> None:
    """The first grammar walks, the second makes the automaton, and all others, whatever else they have, walk nothing within the lexeme: but
    for what may come behind a number, which is walked as behind any value."""
    over = fresh(name)
    found = [nodes_within(kind, i, over) for i in range(6)]
    _, behind = nodes_within("boolean", 9, over)
    first, *_, last = found
    assert sum(first[0]) > 0
    for within, _ in found[2:]:
        assert sum(within) < sum(first[0])
    if kind in ("date", "uuid", "digest"):  # the others may end before
        assert sum(last[0][:-1]) == 0
        assert last[0][-1] <= behind + 1  # what comes behind the quotation mark
    else:
        assert max(last[0]) <= behind + 1
    assert last[1] <= behind + 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"type": "string", "maxLength": 20}, '"ab-c"'),
        ({"type": ["string", "null"], "maxLength": 16}, '"ab-c"'),
        ({"type": ["string", "null", "boolean"], "maxLength": 64}, '"ab-c"'),
        ({"type": "string", "pattern": r"^[0-9]\.[0-9]+.*$", "maxLength": 20}, '"1.2-c"'),
        ({"type": "string", "pattern": "^[a-z]{1,10}(-[a-z]{1,10})*$", "maxLength": 100}, '"ab-c"'),
    ],
)
def test_little_is_tried_where_characters_are_counted(value: dict[str, Any], text: str) -> None:
    """An automaton would have some states for each number of characters; to find out took 5,000 derivatives in the second grammar."""
    shared = fresh("tekken-131k")
    for name in NAMES[:3]:
        grammar = schema(name, value)
        matcher, most = Matcher(grammar, shared), 0
        for token in shared.encode_greedy(f'{{"{name}": {text}, "z": {text}}}'.encode()):
            before = grammar.stats.derivatives
            matcher.mask()
            most = max(most, grammar.stats.derivatives - before)
            assert matcher.accept(token)
        assert most < 2_000


def test_beside_items_that_differ() -> None:
    """Under `uniqueItems` an item depends on those before it. Lexemes elsewhere in the schema, and behind them in a token, do not."""
    shared, nodes = vocabulary(), list[int]()
    for i in range(6):
        name, kind = NAMES[i], {"type": "string", "format": "uuid"}
        items = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
        source = json.dumps(
            {"type": "object", "properties": {name: kind, "z": items}, "required": [name, "z"], "additionalProperties": False}
        )
        grammar = Grammar.from_json_schema(source)
        one, other = Matcher(grammar, shared), Matcher(Grammar.from_json_schema(source), shared, switches=OFF)
        for token in shared.encode_greedy(f'{{"{name}": "123e4567-e89b-12d3-a456-426614174000", "z": '.encode()):
            assert bytes(one.mask()) == bytes(other.mask())
            assert one.accept(token) and other.accept(token)
        nodes.append(grammar.stats.trie_nodes)
        for token in shared.encode_greedy(b"[12, 123, 1, 12"):
            assert bytes(one.mask()) == bytes(other.mask())
            assert one.accept(token) and other.accept(token)
        assert bytes(one.mask()) == bytes(other.mask())
        assert not set(shared.encode_greedy(b"],")) & set(one.allowed_tokens())  # 12 was there
    assert nodes[5] == nodes[4] < nodes[0] / 10


@pytest.mark.parametrize("name", ["builtin", "tekken-131k", "o200k-200k"])
def test_white_space_is_in_tables_of_the_vocabulary(name: str) -> None:
    """Whichever grammar asks: a mask looks at few nodes for all tokens that are white space, and what is behind it in tokens."""
    over = fresh(name)
    grammar = Grammar.from_json_schema(values_of("boolean", 0)[0])
    matcher = Matcher(grammar, over)
    matcher.accept(over.encode_greedy(b"{")[0])
    before, allowed = grammar.stats.trie_nodes, bytes(matcher.mask())
    blank = [t for t in range(over.size) if (text := over.token_bytes(t)) and not text.strip(b" \t\r\n") and allowed[t // 8] >> t % 8 & 1]
    assert grammar.stats.trie_nodes - before <= 60
    assert len(blank) > (grammar.stats.trie_nodes - before if name != "builtin" else 10)


def test_a_limit_that_is_met_while_an_outline_is_taken_leaves_the_others_what_they_are() -> None:
    """Wherever memory ends in a grammar that finds outlines: masks of others stay right.
    (That nothing is let go twice is seen under ASan alone.)"""
    value, shared = {"type": "string", "format": "uuid"}, vocabulary()
    text = shared.encode_greedy(b'{"a": "123e4567-e89b-12d3-a456-426614174000"')

    def masks(limits: Limits | None = None) -> tuple[Matcher, list[bytes]]:
        kind = {"type": "object", "properties": {"a": value, "z": value}, "required": ["a", "z"], "additionalProperties": False}
        matcher = Matcher(Grammar.from_json_schema(json.dumps(kind), limits=limits), shared)
        found = []
        for token in text:
            found.append(bytes(matcher.mask()))
            matcher.accept(token)
        return matcher, found

    for _ in range(4):
        kept, expected = masks()
    failed = 0
    for limit in range(20_000, 400_000, 2_000):
        try:
            assert masks(Limits(max_memory_bytes=limit))[1] == expected
        except LimitExceededError:
            failed += 1
    assert failed
    shared.max_shared_bytes = 0
    assert kept.rollback(len(text)) is None
    assert masks()[1] == expected
