"""Special tokens in Lark grammars: they come where a rule names them, and nowhere else; text that looks like them is none of them."""

from __future__ import annotations

import pickle
import re

import pytest

from grammar_engine import Grammar, GrammarCache, Matcher, Switches, Tag, Token, TokenDFA, Vocabulary, VocabularyError
from grammar_engine.errors import GrammarError, GrammarSyntaxError
from vocabularies import REAL_NAMES, load_real

TEXTS = [bytes([byte]) for byte in range(256)] + [b"<think>", b"</th", b"ab", b"\xff<think>"]
BEGIN, END, CALL, EOS = range(len(TEXTS), len(TEXTS) + 4)
SPECIAL = {BEGIN: "<think>", END: "</think>", CALL: "<|call|>", EOS: "</s>"}
VOCABULARY = Vocabulary([*TEXTS, *([b""] * 4)], eos=[EOS], special=SPECIAL, width=300)
OFF = Switches(mask_cache=False, inner_masks=False, slices=False, heirs=False, outlines=False, table=False, shapes=False, clamping=False)

THINKING = 'start: <think> /[a-z<>\\/]*/ </think> "x"'


def ids(*parts: bytes | int) -> list[int]:
    return [token for part in parts for token in ([part] if isinstance(part, int) else part)]


def reads(grammar: Grammar, *parts: bytes | int) -> bool:
    matcher, tokens = Matcher(grammar, VOCABULARY), ids(*parts)
    return matcher.accept_tokens(tokens) == len(tokens) and matcher.is_complete


@pytest.mark.parametrize(
    ("text", "sentences", "others"),
    [
        (THINKING, [(BEGIN, END, b"x"), (BEGIN, b"<think></think>", END, b"x")], [(b"<think>", END, b"x"), (BEGIN, b"</think>x"), (END, b"x")]),
        ('start: "<think>" | <think>', [(b"<think>",), (BEGIN,)], [(BEGIN, BEGIN), (b"<think",), (END,)]),
        ('start: (<|call|> /[a-z]+/)* ("." | </think>)', [(b".",), (END,), (CALL, b"ab", CALL, b"c.")], [(CALL, b"."), (CALL, CALL, b"a.")]),
        ("start: <|call|>~2..3", [(CALL,) * 2, (CALL,) * 3], [(CALL,), (CALL,) * 4]),
        ("start: [<think>] <|call|>+", [(CALL,), (BEGIN, CALL, CALL)], [(BEGIN,), (BEGIN, BEGIN, CALL)]),
        ('start: t{<|call|>, "a"}\nt{x, y}: x y x', [(CALL, b"a", CALL)], [(b"a", CALL, b"a"), (CALL, b"a")]),
        ("start: <|call|> start </think> | ", [(), (CALL, CALL, END, END)], [(CALL, CALL, END), (CALL, END, END)]),
        ('start: start <|call|> | "a"', [(b"a",), (b"a", CALL, CALL)], [(CALL,), (CALL, b"a")]),
        (f'start: <[{CALL}]> "a" <[{BEGIN}]>', [(CALL, b"a", BEGIN)], [(CALL, b"a", END), (b"a", BEGIN)]),
        (f"start: <[{BEGIN}-{END}, {CALL}]>~2", [(BEGIN, CALL), (END, END)], [(BEGIN,), (EOS, END), (b"aa",)]),
        ('start: a* // <no>\na: <think> | </think> "<"', [(BEGIN, BEGIN), (END, b"<", BEGIN)], [(END, BEGIN), (b"<",)]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("lexing", ["exact", "longest"])
def test_sentences(text: str, sentences: list[tuple], others: list[tuple], lexing: str) -> None:
    grammar = Grammar.from_lark(text, lexing=lexing)
    assert all(reads(grammar, *parts) for parts in sentences)
    assert not any(reads(grammar, *parts) for parts in others)


@pytest.mark.parametrize("lexing", ["exact", "longest"])
def test_what_is_ignored_stands_around_them(lexing: str) -> None:
    grammar = Grammar.from_lark('start: <think> "a" </think>\n%ignore /[ <]+/', lexing=lexing)
    assert reads(grammar, b" ", BEGIN, b" < a", END, b"  ")
    assert not reads(grammar, b" ", BEGIN, BEGIN, b"a", END)
    assert not reads(grammar, b"<think>a", END)


def test_each_bit_is_what_accept_says() -> None:
    grammar = Grammar.from_lark(THINKING)
    for text in ([], [BEGIN], [BEGIN, ord("a")], [BEGIN, TEXTS.index(b"<think>")], [BEGIN, TEXTS.index(b"</th")], [BEGIN, END]):
        masks = []
        for switches in (Switches(), OFF):
            matcher = Matcher(grammar, VOCABULARY, switches=switches)
            assert matcher.accept_tokens(text) == len(text)
            masks.append(set(matcher.allowed_tokens()))
            for token in range(VOCABULARY.width):
                assert matcher.fork().accept(token) == (token in masks[-1])
        assert masks[0] == masks[1]
    assert masks[0] == {ord("x")}


def test_no_text_is_one_of_them() -> None:
    grammar = Grammar.from_lark("start: /(?s:.)*/ <think>")
    matcher = Matcher(grammar, VOCABULARY)
    assert {token for token in matcher.allowed_tokens() if token >= BEGIN} == {BEGIN}
    assert not {0xFF, TEXTS.index(b"\xff<think>")} & set(matcher.allowed_tokens())
    assert matcher.accept_tokens(ids(b"<think></think>", BEGIN)) == 16
    assert matcher.allowed_tokens() == [EOS]


def test_texts_beside_them_that_are_repeated() -> None:
    grammar = Grammar.from_lark('start: (<think> | /[ab]/ | "<think>")* "."')
    assert reads(grammar, b"ab", BEGIN, b"b<think>", BEGIN, b".")
    assert not reads(grammar, b"ab", BEGIN, END, b".")


def test_what_the_vocabulary_does_not_have() -> None:
    for text, message in {
        "start: <no>": "does not have: '<no>'",
        "start: <[5]>": r"token 5 is text, b'\\x05', and no special token",
        "start: <[4000]>": "does not have: 4000",
        f"start: <[{BEGIN}-400]>": "does not have",
        f"start: <think> <[{BEGIN}]>": "in two ways",
    }.items():
        with pytest.raises(VocabularyError, match=message):
            Matcher(Grammar.from_lark(text), VOCABULARY)
    Matcher(Grammar.from_lark('start: "a"\nb: <no>'), VOCABULARY)  # the start rule does not reach it


def test_one_that_ends_texts_may_come_within_a_text() -> None:
    matcher = Matcher(Grammar.from_lark(f'start: <[{EOS}]> "x" <[{EOS}]>'), VOCABULARY)
    for token in (EOS, ord("x"), EOS, EOS):
        assert not matcher.is_terminated
        assert matcher.allowed_tokens() == [token]
        assert matcher.accept(token)
    assert matcher.is_terminated


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ('start: A\nA: "b" <think>', "a special token cannot stand inside of a terminal", 2, 8),
        ('start: "a"\n%ignore <think>', "a special token cannot stand inside of a terminal", 2, 9),
        ("start: <[x]>", "a number", 1, 8),
        ("start: <[1>", "a number", 1, 8),
        ("start: <[1, ]>", "a number", 1, 8),
        ("start: <[99999999999]>", "a number", 1, 8),
        ("start: <[9999999999]>", "at most", 1, 8),
        ('start: "a"\n  | <[9-3]>', "wrong way round", 2, 5),
        ("start: <[1-10001]>", "more than 10,000", 1, 8),
        ("start: <[1-9000,10000-11001]>", "more than 10,000", 1, 8),
        ("start: <[1-5000" + ",1-5000" * 200_000 + "]>", "more than 10,000", 1, 8),
        ("start: " + " | ".join(f"<[{i}-{i + 9998}]>" for i in range(1_000, 5_000)), "more than 1,000,000 special tokens", 1, 1708),
        ("start: <[*]>", "one by one", 1, 8),
        ("start: <[^1,5-7]>", "one by one", 1, 8),
        ("start: <a\tb>", "printable", 1, 8),
        ("start: <" + "x" * 1000 + ">", "1,000 characters", 1, 8),
        ('start: "a" <', "this character has no place here", 1, 12),
        ("start: <a\nb>", "this character has no place here", 1, 8),
        ("start: <>", "this character has no place here", 1, 8),
    ],
)
def test_errors(text: str, reason: str, line: int, column: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text)
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (line, column)


def test_as_many_as_may_be() -> None:
    grammar = Grammar.from_lark("start: <[300-10299]>")
    vocabulary = Vocabulary([b"a"] * 300 + [b""] * 10_001, eos=[10_300], special={i: f"<{i}>" for i in range(300, 10_300)})
    assert Matcher(grammar, vocabulary).allowed_tokens() == list(range(300, 10_300))


def test_other_ways_to_a_grammar() -> None:
    grammar = Grammar.from_lark(THINKING)
    cache = GrammarCache()
    assert cache.from_lark(THINKING) is cache.from_lark(THINKING)
    for other in (cache.from_lark(THINKING), Grammar.from_bytes(grammar.to_bytes()), pickle.loads(pickle.dumps(grammar))):
        assert reads(other, BEGIN, b"a", END, b"x")
        with pytest.raises(VocabularyError):
            Matcher(other, Vocabulary.bytes())
    tags = Grammar.from_tags([Tag("(", grammar, ")")], text="never")
    assert reads(tags, b"(", BEGIN, b"<", END, b"x)")
    with pytest.raises(ValueError, match="special tokens"):
        TokenDFA.from_grammar(grammar, VOCABULARY)


def test_what_a_matcher_says_of_them() -> None:
    matcher = Matcher(Grammar.from_lark('start: <think> "a"+ </think>'), VOCABULARY)
    assert matcher.forced_bytes() == Token("<think>").spelling + b"a"
    assert matcher.forced_tokens()[:1] == [BEGIN]
    assert matcher.explain(END).expected == ("<think>",)
    assert matcher.accept_tokens([BEGIN, ord("a")]) == 2
    assert matcher.closing_tokens() == [END, EOS]


def test_a_body_with_the_byte_of_their_spelling() -> None:
    with pytest.raises(GrammarError, match="byte FF"):
        Grammar.from_tags([Tag("(", Grammar.from_choices([b"\xff"]), ")"), Tag("[", Grammar.from_lark("start: <think>"), "]")])


BEGUN = re.compile(rb"[0-9]*|[0-9]+<(?:t(?:hi?)?)?")  # what may follow the first token, but for the last one


@pytest.mark.parametrize("name", REAL_NAMES)
def test_over_a_real_vocabulary(name: str) -> None:
    real = load_real(name)
    first, second, third = added = range(len(real.tokens), len(real.tokens) + 3)
    special = {i: f"<{i}>" for i in (*real.special, *added)}
    vocabulary = Vocabulary([*real.tokens, *([b""] * 3)], eos=list(real.eos), special=special)
    grammar = Grammar.from_lark(f'start: <{first}> /[0-9]+/ ("<thi" | <[{second},{third}]>)')
    for text in (b"", b"1", b"12<", b"12<th", b"12<thi"):
        matcher = Matcher(grammar, vocabulary)
        assert matcher.allowed_tokens() == [first]
        assert matcher.accept(first)
        assert matcher.accept_bytes(text)
        expected = {i for i, token in enumerate(vocabulary.tokens) if token and BEGUN.fullmatch(text + token)}
        expected |= {second, third} if text.isdigit() else set(vocabulary.eos) if text == b"12<thi" else set()
        assert set(matcher.allowed_tokens()) == expected, text
