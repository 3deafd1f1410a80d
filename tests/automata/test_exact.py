"""Token automata of small grammars over small vocabularies: all of each is compared, with the oracle and with reading the bytes."""

from __future__ import annotations

import random
import re

import pytest

from automata.reading import ByteTable, check_against_bytes, check_against_oracle, compiled, follow, oracle_is_stuck, spelling_error
from exactness import grammars
from exactness.test_schemas import VOCABULARY as JSON_VOCABULARY
from exactness.test_schemas import compile_ir, random_schema
from grammar_engine import Grammar, TokenDFA, ir
from grammar_engine.errors import GrammarError, LimitExceededError, UnsatisfiableSchemaError, UnsupportedSchemaError
from grammar_engine.frontends import lark
from oracle.earley import Recogniser
from vocabularies import TinyVocabulary, byte_vocabulary, random_vocabulary


def check(builder: ir.Builder, tiny: TinyVocabulary, max_states: int = 3000) -> int:
    """All of the automaton of a grammar. Returns the number of masks compared; 0: the grammar has no sentence, or too many states."""
    recogniser = Recogniser(builder)
    if recogniser.start() is None:
        with pytest.raises(GrammarError):
            compiled(builder)
        return 0
    grammar, vocabulary = compiled(builder), tiny.build()
    try:
        error = spelling_error(lambda: TokenDFA.from_grammar(grammar, vocabulary, max_states=max_states))
    except LimitExceededError as limit:
        assert limit.limit == "max_states"
        return 0
    if error is not None:
        check_complaint(error, recogniser, tiny)
        return 1
    dfa = TokenDFA.from_grammar(grammar, vocabulary, max_states=max_states)
    assert dfa.is_exact
    return check_against_bytes(dfa, tiny) + check_against_oracle(dfa, recogniser, tiny)


def check_complaint(error, recogniser: Recogniser, tiny: TinyVocabulary) -> None:
    """The text that the message names leads to where no token can follow.

    The missing bytes (the first of many) are those that the grammar reads.
    """
    shown = re.search(r" after (b'.*'|b\".*\"): the grammar asks", str(error))
    text = b"" if shown is None else eval(shown[1])
    assert oracle_is_stuck(recogniser, tiny, text)
    state = recogniser.run(text)
    assert state is not None
    asked = [byte for byte in range(256) if state.step(byte) is not None]
    assert list(error.missing) == asked[: max(49, len(error.missing))]


def test_random_expressions(long_run: bool) -> None:
    rng, masks, complaints = random.Random(51), 0, 0
    for _ in range(1500 if long_run else 150):
        builder = ir.Builder()
        alphabet = rng.choice([grammars.LETTERS, grammars.LETTERS[:2], grammars.MIXED])
        builder = grammars.one_lexeme(builder, grammars.random_expr(rng, builder, 3, alphabet))
        compared = check(builder, random_vocabulary(rng, alphabet), 400)
        masks += compared
        complaints += compared == 1
    assert masks > 1500
    assert complaints > 5


def test_random_patterns(long_run: bool) -> None:
    rng, masks = random.Random(52), 0
    for _ in range(800 if long_run else 100):
        builder = ir.Builder()
        builder = grammars.one_lexeme(builder, builder.pattern(grammars.random_pattern(rng, 3, "ab1"), ir.PYTHON_FULL, ir.FLAG_ASCII))
        masks += check(builder, random_vocabulary(rng, [b"a", b"b", b"1", b"0", "é".encode()]), 400)
    assert masks > 500


def test_small_worlds() -> None:
    """All regexes of up to two operators."""
    tiny, masks = TinyVocabulary((b"a", b"b", b"ab", b"ba", b"aab", b"a", b""), (6,)), 0
    for operators in range(3):
        for shape in grammars.all_shapes(operators):
            builder = ir.Builder()
            masks += check(grammars.one_lexeme(builder, grammars.build_shape(builder, shape)), tiny)
    assert masks > 1000


def test_json_schemas(long_run: bool) -> None:
    rng, masks = random.Random(53), 0
    for _ in range(200 if long_run else 25):
        schema = random_schema(rng, rng.randint(0, 2))
        try:
            builder = compile_ir(schema, "compact")
        except (UnsatisfiableSchemaError, UnsupportedSchemaError):
            continue
        masks += check(builder, JSON_VOCABULARY, 300)
    assert masks > 300


LARK = [
    'start: "a" ("b" | "ab")* "c"?',
    'start: (WORD " ")+ NUMBER\nWORD: /[ab]+/\nNUMBER: "1" | "12" | /2{1,3}/',
    'start: item ("," item)*\nitem: "a" | "ab" | "b" "a"~1..3\n%ignore " "',
    'start: "é" /[é-ü]/ | "a"~0..5 "b"',
]


@pytest.mark.parametrize("text", LARK)
@pytest.mark.parametrize("lexing", ["exact", "longest"])
def test_lark_grammars_without_recursion(text: str, lexing: str) -> None:
    rng, masks = random.Random(54), 0
    builder = ir.Builder()
    lark.build(builder, text, lexing=lexing)
    for _ in range(4):
        tiny = random_vocabulary(rng, [*(bytes([byte]) for byte in b"abc 12,"), *(c.encode() for c in "éêü")], size=20)
        masks += check(builder, tiny)
    assert masks > 10


def test_choices() -> None:
    rng = random.Random(55)
    texts = ["a", "ab", "abc", "bca", "", "naïve", "bb" * 20]
    tiny = random_vocabulary(rng, [*(bytes([byte]) for byte in b"abcnve"), "ï".encode()], size=30)
    dfa = TokenDFA.from_grammar(Grammar.from_choices(texts), tiny.build())
    assert check_against_bytes(dfa, tiny) > 40
    table = ByteTable(dfa)
    for text in texts:
        assert table.accepts[table.read(0, text.encode())]
    assert sum(table.accepts) <= len(texts)


# --- the oddities of vocabularies, by name ------------------------------------------------------------------------------


def automaton(pattern: str, tiny: TinyVocabulary) -> TokenDFA:
    dfa = TokenDFA.from_regex(pattern, tiny.build())
    check_against_bytes(dfa, tiny)
    return dfa


def test_twins_are_one_class() -> None:
    dfa = automaton("a+", TinyVocabulary((b"a", b"a", b"aa", b"a", b""), (4,)))
    assert (dfa.num_states, dfa.num_classes) == (2, 1)
    assert follow(dfa, 0, 0) == follow(dfa, 0, 1) == follow(dfa, 0, 2) == follow(dfa, 0, 3) == 1


def test_characters_cut_by_tokens() -> None:
    tiny = TinyVocabulary((b"\xf0", b"\x9f\x98", b"\x80", b"\x81", b"\xf0\x9f", b"\x98\x80\xf0", b"\x9f", b"\x98", b"\xff", b""), (9,))
    dfa = automaton("[😀😁]+", tiny)
    assert follow(dfa, follow(dfa, follow(dfa, 0, 4), 5), 1) >= 0
    assert follow(dfa, 0, 8) == -1


def test_several_ends_of_text_and_one_that_is_text_elsewhere() -> None:
    """An end-of-text id spells nothing, though it was given bytes."""
    tiny = TinyVocabulary((b"a", b"b", b"a", b""), (2, 3), width=70)
    dfa = automaton("ab?", tiny)
    assert follow(dfa, 0, 2) == -1
    assert follow(dfa, follow(dfa, 0, 0), 2) == follow(dfa, follow(dfa, 0, 0), 3) == dfa.num_states


def test_no_end_of_text() -> None:
    """Acceptance alone tells states apart."""
    dfa = automaton("a(b|c)|d", TinyVocabulary((b"a", b"b", b"c", b"d"), ()))
    assert dfa.num_states == 3


def test_special_tokens_are_never_text() -> None:
    automaton(".*", TinyVocabulary((b"a", b"<s>", b""), (2,), (1,), width=40))


def test_states_that_tokens_do_not_tell_apart_are_one() -> None:
    """Only `ab` can be spelt: what could come after `a` alone does not count."""
    dfa = automaton("(?:ab)*", TinyVocabulary((b"ab", b"abab", b""), (2,)))
    assert (dfa.num_states, dfa.num_classes) == (1, 1)
    assert dfa.stats.byte_states == 2


@pytest.mark.parametrize("pattern", ["a{300}b", "(?:a{400}|b{500})c", "[ab]{1,700}", "(?:a|bc){0,260}d?"])
def test_more_states_than_one_block(pattern: str) -> None:
    tiny = TinyVocabulary((b"a", b"aa", b"a" * 33, b"b", b"bb", b"c", b"ab", b"bca", b"d", b""), (9,))
    dfa = automaton(pattern, tiny)
    assert dfa.stats.byte_states > 256


def test_all_bytes() -> None:
    tiny = byte_vocabulary(bytes(range(256)))
    dfa = automaton(r"[\s\S]*", tiny)
    assert dfa.num_states > 1  # characters under way
