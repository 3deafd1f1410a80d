"""Units that plain text hardly ever kills: keys and strings beside patterns
that are not anchored, analysed by the tokens that they do not read."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Switches, Vocabulary
from grammar_engine.errors import UnsatisfiableSchemaError

OFF = Switches(mask_cache=False, inner_masks=False, shared_inner=False, slices=False, heirs=False)
LETTERS = "abnetx_-19 Aé"
WORDS = ["net_", "net_[a-z]+[0-9]+", "ab", "_", "^_", "^x-", "[.]", "^(ab|net)_[a-z]{2,3}$", "é", "n.*t", "[0-9]{2}", "\\S", "A+b?"]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    rng = random.Random(0)
    words = {"".join(rng.choices(LETTERS, k=rng.randint(1, 9))) for _ in range(3000)} | {"net_ab1x", "xnet_a1", 'ab"', '_":', "\\u0041"}
    return Vocabulary([*(bytes([byte]) for byte in range(256)), *(word.encode() for word in sorted(words)), b""], eos=[256 + len(words)])


def schema(rng: random.Random) -> Any:
    patterns = rng.sample(WORDS, rng.randint(1, 3))
    if rng.random() < 0.4:
        return {
            "type": "string",
            rng.choice(("oneOf", "anyOf")): [{"pattern": pattern} for pattern in patterns],
            "not": {"pattern": rng.choice(WORDS)},
        }
    return {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in rng.sample(["ab", "net", "x", "_9", "ea"], rng.randint(0, 3))},
        "patternProperties": {pattern: {"type": "boolean"} for pattern in patterns},
        "additionalProperties": rng.choice([True, {"type": "null"}]),
    }


def test_masks_beside_patterns(vocabulary: Vocabulary) -> None:
    n_masks = 0
    for seed in range(60):
        rng = random.Random(seed)
        source = schema(rng)
        try:
            grammar = Grammar.from_json_schema(source)
        except UnsatisfiableSchemaError:
            continue
        for _ in range(6):
            on, off = Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=OFF)
            text = ('"' if source["type"] == "string" else '{"') + "".join(rng.choices(LETTERS, k=rng.randint(0, 7)))
            if not on.accept_bytes(text.encode()):
                continue
            assert off.accept_bytes(text.encode())
            assert on.mask() == off.mask(), (source, text)
            n_masks += 1
    assert n_masks > 200


def test_what_cannot_be_read_is_found_by_few_nodes(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_json_schema(
        {"type": "object", "patternProperties": {"net_": {"type": "null"}}, "additionalProperties": {"type": "integer"}}
    )
    nodes = []
    for switches in (Switches(heirs=False, outlines=False), Switches(heirs=False, outlines=False, slices=False)):
        matcher, before = Matcher(grammar, vocabulary, switches=switches), grammar.stats.trie_nodes
        assert matcher.accept_bytes(b'{"')
        matcher.mask()
        nodes.append(grammar.stats.trie_nodes - before)
    assert 4 * nodes[0] < nodes[1], nodes


def test_what_below_a_node_kills_nothing_is_not_followed(real_vocabulary: Callable[[str], Vocabulary]) -> None:
    """Behind `net` a key beside these patterns differs from another one, but not by tokens that lack what they ask for."""
    patterns = {"netdir_(projects|work)": "null", "netdrv_([a-z]+)": "integer", "net_[a-z]+[0-9]+": "boolean"}
    grammar = Grammar.from_json_schema({"type": "object", "patternProperties": {key: {"type": kind} for key, kind in patterns.items()}})
    matcher = Matcher(grammar, real_vocabulary("tekken-131k"))
    assert matcher.accept_bytes(b'{"')
    matcher.mask()
    assert matcher.accept_bytes(b"net")
    before = grammar.stats
    matcher.mask()
    assert grammar.stats.derivatives - before.derivatives < 2_000  # 6,600 where all plain text is followed
    assert grammar.stats.trie_nodes - before.trie_nodes < 1_500


def test_a_token_that_is_longer_than_what_is_told_apart() -> None:
    """What may kill a state is known up to 255 bytes, and so is the height of what is below a node."""
    rng = random.Random(1)
    long = b"a" * 150 + b"b" * 150 + b"z" * 50
    words = {bytes([byte]) for byte in range(256)} | {
        "".join(rng.choices("abcdefgh xyz", k=rng.randint(2, 8))).encode() for _ in range(5000)
    }
    tokens = [*sorted(words), long, b""]
    vocabulary = Vocabulary(tokens, eos=[len(tokens) - 1])
    pattern = r"a{150}(b{150}[\s\S]*|c{250}[\s\S]*y)$"
    for source, begin in (
        ({"type": "string", "not": {"pattern": pattern}}, b'"'),
        ({"type": "object", "propertyNames": {"not": {"pattern": pattern}}}, b'{"'),
        ({"type": "object", "patternProperties": {"^" + pattern: False}}, b'{"'),
    ):
        for switches in (Switches(), Switches(heirs=False)):
            matcher = Matcher(Grammar.from_json_schema(source), vocabulary, switches=switches)
            assert matcher.accept_bytes(begin)
            assert tokens.index(long) not in matcher.allowed_tokens()
            assert not matcher.accept(tokens.index(long))


def test_nested_choices_are_looked_at_once(vocabulary: Vocabulary) -> None:
    """Each level would double the work, if each operand were looked at twice."""
    pattern = "[^x]b"
    for i in range(60):
        pattern = f"(?:{pattern}|[^y]k{i}l)[^z]{i}j"
    matcher = Matcher(Grammar.from_json_schema({"type": "string", "pattern": f"^{pattern}$"}), vocabulary)
    off = Matcher(Grammar.from_json_schema({"type": "string", "pattern": f"^{pattern}$"}), vocabulary, switches=OFF)
    assert matcher.accept_bytes(b'"a')
    assert off.accept_bytes(b'"a')
    assert matcher.mask() == off.mask()


def test_marks_behind_characters_that_are_told_apart() -> None:
    """A kind of bytes beyond ASCII that the pattern tells apart, and behind it what plain text may not have."""
    words = ["".join(letters) for n in (2, 3) for letters in itertools.product("abxé1A ñ日()”“", repeat=n)]
    tokens = [*(bytes([byte]) for byte in range(256)), *(word.encode() for word in words), b""]
    vocabulary = Vocabulary(tokens, eos=[len(tokens) - 1])
    for pattern in (r"^([^(]|”\()*$", r"^([^()]|\([^()]*\)|”\))*$", r"^([^)]|”\))*;;$"):
        for text in (b'"', b'"a', '"”'.encode(), b'"a('):
            on = Matcher(Grammar.from_json_schema({"type": "string", "pattern": pattern}), vocabulary)
            off = Matcher(Grammar.from_json_schema({"type": "string", "pattern": pattern}), vocabulary, switches=OFF)
            taken = on.accept_bytes(text)
            assert off.accept_bytes(text) == taken
            if taken:
                assert on.mask() == off.mask()
                assert all(on.fork().accept(token) for token in on.allowed_tokens())


HARD_TO_KILL = (
    r"cba{2}([ab]+(\"*\x7fab/?|_{2,})|(A*[^a]\x7f|c?)?A[^a]/?|[é日]{2}(_😀{2}😀{2,}|\"?ba[é日]{2,}_){2}(\x7fb{2}|a{2,}abn){1,3}.{2,})((_{1,3}é+/?a|\x7f{"
    r"2,}[é日]\\\\é{1,3}|\S{2,}\S)(c/?|[é日]A{1,3}\x7f{2}[ab]{1,3}|[^\x7f]*b[ab]?){1,3}(\wéc{2,}\x7f?|😀|\wn_{2}[ab])[é日]+|b?\\\\{2,}(a*日|[\s\S]1?[^"
    r"\x7f]+A|[^\x7f][^a]{1,3}.{2}){1,3}\\\\|(\x7f?\db|/*)[é日]?){1,3}"
)


def test_what_no_token_leads_to_may_be_hard_to_tell() -> None:
    """Of a state to which plain text leads, and no token, it takes more than
    `max_step_work` to see that it is dead: then the vocabulary is walked."""
    vocabulary, schema = Vocabulary.builtin(), {"type": "string", "not": {"pattern": HARD_TO_KILL}}
    matcher = Matcher(Grammar.from_json_schema(schema), vocabulary)
    walked = Matcher(Grammar.from_json_schema(schema), vocabulary, switches=Switches(slices=False))
    assert matcher.accept_bytes(b'"') and walked.accept_bytes(b'"')
    assert matcher.mask() == walked.mask()
