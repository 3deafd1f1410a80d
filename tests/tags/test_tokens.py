"""Special tokens as parts of a grammar: they come where the grammar names them, and nowhere else; to other grammars they stay what they were."""

from __future__ import annotations

import copy
import pickle

import pytest

from grammar_engine import (
    Grammar,
    Matcher,
    Switches,
    Tag,
    Token,
    TokenDFA,
    TokenRejectedError,
    Vocabulary,
    VocabularyError,
    allocate_masks,
    fill_masks,
    step_masks,
)

TEXTS = [bytes([byte]) for byte in range(256)] + [b"<call>", b"ab", b"1}", b"\xff<call>", b"\xffa", b'{"a":']
CALL, END, OTHER, TURN, EOS = range(len(TEXTS), len(TEXTS) + 5)
SPECIAL = {CALL: "<call>", END: "<end>", OTHER: "<other>", TURN: "<turn>", EOS: "</s>"}
VOCABULARY = Vocabulary([*TEXTS, *([b""] * 5)], eos=[EOS, TURN], special=SPECIAL, width=300)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def tags(begin: Token | list[Token | str] = Token("<call>"), end: Token = Token("<end>"), **options: object) -> Grammar:  # noqa: B008
    return Grammar.from_tags([Tag(begin, Grammar.from_json_schema(SCHEMA, whitespace="compact"), end)], **options)


def after(grammar: Grammar, *parts: bytes | int, vocabulary: Vocabulary = VOCABULARY) -> Matcher:
    matcher = Matcher(grammar, vocabulary)
    for part in parts:
        assert matcher.accept(part) if isinstance(part, int) else matcher.accept_bytes(part)
    return matcher


def specials(matcher: Matcher) -> set[int]:
    return {token for token in matcher.allowed_tokens() if token in SPECIAL}


def test_tokens_come_where_they_are_named() -> None:
    grammar = tags()
    assert specials(after(grammar)) == {CALL, EOS, TURN}
    assert specials(after(grammar, b"text <call>")) == {CALL, EOS, TURN}  # which is text, spelt as it may be
    assert specials(after(grammar, b"x", CALL)) == set()
    assert specials(after(grammar, b"x", CALL, b'{"a":12}')) == {END}
    assert specials(after(grammar, CALL, b'{"a":1}', END, b"more")) == {CALL, EOS, TURN}
    assert after(grammar, CALL, b'{"a":1}', END).is_complete


def test_each_bit_is_what_accept_says() -> None:
    grammar = tags(["x", Token("<call>"), "y", Token("<other>"), Token("<call>")])
    ids = [
        [],
        [ord("x")],
        [ord("x"), CALL],
        [ord("x"), CALL, ord("y")],
        [ord("x"), CALL, ord("y"), OTHER],
        [ord("x"), CALL, ord("y"), OTHER, CALL],
    ]
    switches = [Switches(), Switches(mask_cache=False, inner_masks=False, slices=False, heirs=False, outlines=False, table=False)]
    for text in ids:
        for switch in switches:
            matcher = Matcher(grammar, VOCABULARY, switches=switch)
            assert matcher.accept_tokens(text) == len(text)
            allowed = set(matcher.allowed_tokens())
            for token in range(VOCABULARY.width):
                twin = matcher.fork()
                assert twin.accept(token) == (token in allowed) == (matcher.validate([token]) == 1), token


def test_tokens_with_the_byte_of_their_spelling_are_none_of_them() -> None:
    allowed = after(tags()).allowed_tokens()
    assert CALL in allowed
    assert not {0xFF, TEXTS.index(b"\xff<call>"), TEXTS.index(b"\xffa")} & set(allowed)


def test_other_grammars_never_allow_them() -> None:
    after(tags())
    for grammar in (
        Grammar.from_regex("(?s:.)*"),
        Grammar.from_choices([Token("<call>").spelling, b"\xffa"]),
        Grammar.from_tags([Tag("<call>", SCHEMA)]),
    ):
        assert specials(after(grammar)) <= {EOS, TURN}
    matcher = after(Grammar.from_choices([Token("<call>").spelling]))  # as bytes, it is none
    assert matcher.allowed_tokens() == [0xFF, TEXTS.index(b"\xff<call>")]


def test_by_id() -> None:
    grammar = tags(Token(CALL), Token("<end>"))
    assert after(grammar, CALL, b'{"a":1}', END).is_complete
    assert specials(after(grammar)) == {CALL, EOS, TURN}
    assert specials(after(tags())) == {CALL, EOS, TURN}  # by name, over the same vocabulary


def test_names_of_several_ids() -> None:
    vocabulary = Vocabulary([*TEXTS, b"", b"", b"", b""], eos=[CALL + 3], special={CALL: "<call>", CALL + 1: "<call>", CALL + 2: "<end>"})
    matcher = after(tags(), vocabulary=vocabulary)
    assert {CALL, CALL + 1} <= set(matcher.allowed_tokens())


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        (tags(Token("<no>")), "does not have: '<no>'"),
        (tags(Token(5)), "does not have: 5"),
        (tags(Token(400)), "does not have: 400"),
        (tags(Token("<turn>")), "to end texts"),
        (tags(Token(EOS)), "to end texts"),
        (tags([Token("<call>"), Token(CALL)]), "in two ways"),
    ],
)
def test_vocabularies_that_do_not_have_them(grammar: Grammar, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Matcher(grammar, VOCABULARY)


@pytest.mark.parametrize("key", ["", "a\nb", "\ud800", -1, 1.5, None, True])
def test_keys_that_are_none(key: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        Token(key)  # type: ignore[arg-type]


def test_what_is_forced_and_what_closes() -> None:
    grammar = tags(choice="required", text="never", parallel=False)
    matcher = after(grammar)
    assert matcher.forced_bytes() == Token("<call>").spelling + b'{"a":'
    assert matcher.forced_tokens()[:2] == [CALL, TEXTS.index(b'{"a":')]
    closing = matcher.closing_tokens()
    assert closing[0] == CALL
    assert closing[-2:] == [END, EOS]
    assert matcher.accept_tokens(closing) == len(closing)
    assert matcher.is_terminated
    assert after(grammar, Token("<call>").spelling + b'{"a":1}' + Token("<end>").spelling).is_complete


def test_explanations() -> None:
    matcher = after(tags(text="never"), CALL, b'{"a":1}')
    assert "Token('<end>')" in matcher.explain(CALL).expected
    assert matcher.explain(END).accepted
    with pytest.raises(TokenRejectedError, match="<end>"):
        matcher.accept(OTHER, strict=True)
    assert not matcher.accept(OTHER)
    assert matcher.accept(END)


def test_rollback_and_copies() -> None:
    matcher = after(tags(), b"x", CALL)
    twin = copy.copy(matcher)
    matcher.rollback(1)
    assert specials(matcher) == {CALL, EOS, TURN}
    assert not specials(twin)


def test_batches() -> None:
    plain, named = Matcher(Grammar.from_regex("[a-z]+"), VOCABULARY), after(tags())
    masks = allocate_masks(2, VOCABULARY, "numpy")
    fill_masks([plain, named], masks)
    assert [row.tobytes() for row in masks] == [plain.mask(), named.mask()]
    assert list(step_masks([plain, named], [ord("a"), CALL], masks).accepted) == [True, True]
    assert specials(named) == set()
    assert specials(plain) == {EOS, TURN}


def test_grammars_and_vocabularies_elsewhere() -> None:
    grammar = tags(["x", Token(CALL)])
    for other in (Grammar.from_bytes(grammar.to_bytes()), pickle.loads(pickle.dumps(grammar))):
        assert specials(after(other, b"x", vocabulary=pickle.loads(pickle.dumps(VOCABULARY)))) == {CALL}
    assert grammar.to_bytes() == Grammar.from_bytes(grammar.to_bytes()).to_bytes()


def test_tags_within_tags() -> None:
    inner = tags(Token("<other>"), text="never", choice="required", parallel=False)
    grammar = Grammar.from_tags([Tag(Token("<call>"), inner, "!")])
    assert after(grammar, b"a", CALL, OTHER, b'{"a":1}', END, b"!").is_complete
    assert specials(after(grammar, CALL)) == {OTHER}


def test_no_token_automaton_for_them() -> None:
    with pytest.raises(ValueError, match="special tokens"):
        TokenDFA.from_grammar(tags(), VOCABULARY)


def test_bytes_that_are_kept_follow_the_vocabulary() -> None:
    vocabulary = Vocabulary(VOCABULARY.tokens, eos=VOCABULARY.eos, special=VOCABULARY.special)
    first = after(tags(), vocabulary=vocabulary)
    vocabulary.max_shared_bytes = 0
    assert {other.max_shared_bytes for other in vocabulary._named.values()} == {0}
    assert first.mask() == after(tags(), vocabulary=vocabulary).mask()
