"""Where a text is one lexeme: masks that are made before they are asked for,
and tokens that begin beyond ASCII, which many states have in common."""

from __future__ import annotations

import dataclasses
import random

import pytest

from grammar_engine import Grammar, Limits, Matcher, Switches, TokenDFA, Vocabulary

ALL_OFF = Switches(**dict.fromkeys((field.name for field in dataclasses.fields(Switches)), False))

PATTERNS = [
    r"\d{4}-\d{2}(-\d{2})?",
    r"\+?\d{1,4}?[-.\s]?\(?\d{1,3}?\)?[-.\s]?\d{1,9}",
    r"[0-9a-f]{8}-[0-9a-f]{4}",
    r"(\s|é|ü+|[а-я]{2}|日本?|\d\d)*x",
    r"[^a-z]{1,3}|ж\s*",
    r"\w+([\s,]\w+)*",
    r"(Straße|Ort|名前): ([A-ZÄÖА-Я]\w*|—)",
    r"(yes|no|ноль|не знаю|不是)",
    r"a(\.|0-1|0-7|é|日本|日-)?(x|01?|07)",
    r"(a\.[a-z]{1,3}|[\d.-]+\.a)[\w.-]*x?",
    r"(0{2}|[0-7]{2}x|[a-z]-)|([01]|a-1)[a-z01-]*",
    r"[\u00a0-\u00ff]*(\U0001F600|\U0001F601)?",
]
PIECES = [*"0 1 7 ٣ ७ ３ 𝟘 a é ü я ж о 日 本 ß — 😀 - . ( ) + x :".split(" "), " ", "\u00a0", "\u3000", "\n"]


def random_tokens(rng: random.Random) -> list[bytes]:
    """All bytes, and some thousand short texts, some of which begin or end within a character."""
    tokens = {bytes([byte]) for byte in range(256)}
    while len(tokens) < 2600:
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 3))).encode()
        tokens.add(text[rng.choice([0, 0, 0, 1]) : rng.choice([None, None, None, -1])])
    return sorted(tokens - {b""})


@pytest.mark.parametrize("pattern", PATTERNS)
def test_masks_are_those_of_every_token_by_itself(pattern: str) -> None:
    rng = random.Random(pattern)
    tokens = random_tokens(rng)
    vocabulary, grammar = Vocabulary([*tokens, b""], eos=[len(tokens)]), Grammar.from_regex(pattern)
    every = [Switches(), Switches(ahead=False), Switches(slices=False), ALL_OFF]
    for _ in range(6):
        matchers, text = [Matcher(grammar, vocabulary, switches=switches) for switches in every], b""
        for _ in range(6):
            reader = Matcher(Grammar.from_regex(pattern), Vocabulary.bytes())  # reads bytes, and never makes a mask
            assert reader.accept_bytes(text)
            expected = [token for token in range(len(tokens)) if reader.fork().accept_bytes(tokens[token])]
            if reader.is_complete:
                expected.append(len(tokens))
            for matcher in matchers:
                assert matcher.allowed_tokens() == expected
            spelt = [token for token in expected if token < len(tokens)]
            if not spelt:
                break
            token = rng.choice(spelt)
            text += tokens[token]
            assert all(matcher.accept(token) for matcher in matchers)


def test_what_was_made_ahead_is_not_made_again() -> None:
    vocabulary, grammar = Vocabulary.builtin(), Grammar.from_regex("[0-9a-f]{8}-[0-9a-f]{4}")
    matcher = Matcher(grammar, vocabulary)
    made = grammar.stats
    assert made.mask_builds >= 13
    for token in vocabulary.encode_greedy(b"12ab34cd-56ef"):
        assert matcher.accept(token)
        assert matcher.mask()
    assert Matcher(grammar, vocabulary).mask()
    assert grammar.stats == made


def test_as_much_as_takes_little_time() -> None:
    """Not all that a pattern has, nothing where a switch, a table or limits say no, and nothing of grammars of several lexemes."""
    vocabulary = Vocabulary.builtin()

    def made(grammar: Grammar, **switches: bool) -> int:
        Matcher(grammar, vocabulary, switches=Switches(**switches))
        return grammar.stats.mask_builds

    large = Grammar.from_choices([f"{i * i}-{i}" for i in range(5000)])
    assert 1 <= made(large) < 2000
    assert made(Grammar.from_regex("[a-z]{3}"), ahead=False) == 0
    assert made(Grammar.from_regex("[a-z]{3}"), mask_cache=False) == 0
    assert made(Grammar.from_regex("[a-z]{3}", limits=Limits(max_configurations=20))) < 3
    assert made(Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}})) == 0
    table = TokenDFA.from_regex("[a-z]{3}", vocabulary)
    assert Matcher(table).mask()
    assert table.grammar.stats.mask_builds == 0


def test_where_few_tokens_are_allowed_more_is_made() -> None:
    """Masks of a large vocabulary that are lists take so little that a choice
    of 300 goes on; the same choices with any text behind them do not."""
    numbers = [f"{number:04d}".encode() for number in range(6000)]
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), *numbers, b""], eos=[6256])
    choices = "|".join(f"{i * i}-{i}" for i in range(300))
    few, many = Grammar.from_regex(choices), Grammar.from_regex(rf"({choices})?\d*")
    assert Matcher(few, vocabulary) and few.stats.mask_builds > 100
    assert Matcher(many, vocabulary) and many.stats.mask_builds < 30
