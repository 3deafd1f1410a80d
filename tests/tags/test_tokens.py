"""Special tokens as parts of a grammar: they come where the grammar names them,
and nowhere else; to other grammars they stay what they were."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from grammar_engine import (
    Grammar,
    GrammarError,
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
from grammar_engine.decoding.prefix_cache.matchers import MatcherCache

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


@pytest.mark.parametrize("body", [[b"\xff<end>\xff", b"ok"], [b"a\xffz"]])
def test_bodies_with_the_byte_of_their_spelling_are_refused(body: list[bytes]) -> None:
    grammar = Grammar.from_choices(body)
    with pytest.raises(GrammarError, match=r"'who' has the byte FF"):
        Grammar.from_tags([Tag(Token("<call>"), grammar, "!", name="who")])
    with pytest.raises(GrammarError, match="byte FF"):
        Grammar.from_tags([Tag("<", grammar, "!")], thinking=Tag(Token("<call>"), None, "!"))
    assert after(Grammar.from_tags([Tag("<", grammar, "!")]), b"<" + body[0] + b"!").is_complete  # where none is named


@pytest.mark.parametrize("body", [[b"\xff<end>\xff", b"ok"], [b"a\xffz"]])
def test_so_are_those_that_are_token_automata_from_a_file(body: list[bytes], tmp_path: Path) -> None:
    bytes_ = Vocabulary.bytes()
    TokenDFA.from_grammar(Grammar.from_choices(body), bytes_).save(tmp_path / "body")
    grammar = TokenDFA.load(tmp_path / "body", bytes_).grammar
    with pytest.raises(GrammarError, match=r"'who' has the byte FF"):
        Grammar.from_tags([Tag(Token("<call>"), grammar, "!", name="who")])
    assert after(Grammar.from_tags([Tag("<", grammar, "!")]), b"<" + body[0] + b"!").is_complete


def test_other_token_automata_from_a_file_are_bodies(tmp_path: Path) -> None:
    bytes_ = Vocabulary.bytes()
    TokenDFA.from_regex("[^a]{1,2}", bytes_).save(tmp_path / "body")
    grammar = Grammar.from_tags([Tag(Token("<call>"), TokenDFA.load(tmp_path / "body", bytes_).grammar, Token("<end>"))])
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_tokens([CALL, *"é".encode(), END]) == 4


def test_a_part_of_a_spelling_is_neither_forced_nor_accepted() -> None:
    tokens = [Tag(Token(key), Grammar.from_regex("1")) for key in ("<call>", "<cal>")]
    vocabulary = Vocabulary([*TEXTS, b"", b"", b""], eos=[CALL + 2], special={CALL: "<call>", CALL + 1: "<cal>"})
    matcher = after(Grammar.from_tags(tokens, text="never", choice="required", parallel=False), vocabulary=vocabulary)
    assert matcher.forced_bytes() == b""
    for text in (b"\xff", b"\xff<call", b"\xff<call>\xff1\xff"):
        assert not matcher.accept_bytes(text)
    assert matcher.accept_bytes(Token("<cal>").spelling)
    assert matcher.forced_bytes() == b"1"
    by_id = after(tags(Token(CALL), Token(END), text="never", choice="required", parallel=False))
    assert by_id.forced_bytes() == Token(CALL).spelling + b'{"a":'
    assert not by_id.accept_bytes(Token(CALL).spelling[:-1])
    assert not by_id.accept_bytes(b"\xff\xff")
    assert by_id.accept_bytes(Token(CALL).spelling)


def test_names_that_no_grammar_has() -> None:
    names = {CALL: "<call>", CALL + 1: 5, CALL + 2: None, CALL + 3: "x" * 70_000, CALL + 4: "", CALL + 5: "a\nb", CALL + 6: "\ud800"}
    vocabulary = Vocabulary([*TEXTS, *([b""] * 8)], eos=[CALL + 7], special=names)  # type: ignore[arg-type]
    matcher = after(Grammar.from_tags([Tag(Token("<call>"), Grammar.from_regex("1"))]), vocabulary=vocabulary)
    assert {token for token in matcher.allowed_tokens() if token >= CALL} == {CALL, CALL + 7}
    matcher = after(Grammar.from_tags([Tag(Token(CALL + 3), Grammar.from_regex("1"))]), vocabulary=vocabulary)
    assert {token for token in matcher.allowed_tokens() if token >= CALL} == {CALL + 3, CALL + 7}


def test_there_are_few_tries() -> None:
    vocabulary = Vocabulary(VOCABULARY.tokens, eos=VOCABULARY.eos, special=VOCABULARY.special, slices=["[a-z]+"])
    for begin in ("<call>", "<end>", "<other>", CALL, END, OTHER):
        after(tags(Token(begin), Token(begin)), vocabulary=vocabulary)
    others = {id(other): other for other in vocabulary._named.values()}
    assert len(others) == 2
    assert all(other.slices == ("[a-z]+",) for other in others.values())


def test_what_is_kept_by_vocabulary_asks_for_names() -> None:
    grammar = Grammar.from_tags([Tag(Token("<call>"), Grammar.from_regex("a"), Token("<end>"))])
    swapped = Vocabulary(VOCABULARY.tokens, eos=VOCABULARY.eos, special={**SPECIAL, CALL: "<end>", END: "<call>"}, width=300)
    assert swapped == VOCABULARY
    cache = MatcherCache(block_size=2)
    assert specials(cache.after(list(b"hello"), grammar, VOCABULARY)) == {CALL, EOS, TURN}
    assert specials(cache.after(list(b"hello"), grammar, swapped)) == {END, EOS, TURN}


def test_warming_comes_into_tags() -> None:
    grammar = tags()
    vocabulary = Vocabulary(VOCABULARY.tokens, eos=VOCABULARY.eos, special=VOCABULARY.special)
    grammar.warm(vocabulary, 5.0, examples=[b"x" + Token("<call>").spelling + b'{"a":'])
    builds = grammar.stats.mask_builds
    matcher = after(grammar, b"x", CALL, b'{"a":', vocabulary=vocabulary)
    matcher.mask()
    assert grammar.stats.mask_builds == builds


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
        (tags(Token(5)), r"token 5 is text, b'\\x05', and no special token"),
        (tags(Token(400)), "does not have: 400"),
        (tags([Token("<call>"), Token(CALL)]), "in two ways"),
    ],
)
def test_vocabularies_that_do_not_have_them(grammar: Grammar, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Matcher(grammar, VOCABULARY)


def test_added_tokens_that_are_not_special() -> None:
    """A tokenizer may have them: they are text."""
    vocabulary = Vocabulary([*TEXTS, b""], eos=[CALL])
    at = TEXTS.index(b"<call>")
    with pytest.raises(VocabularyError, match=f"'<call>' is token {at} of this vocabulary, an ordinary text token: write it as text"):
        Matcher(tags(), vocabulary)


def test_a_mark_that_ends_texts_ends_them_where_they_are_sentences() -> None:
    """A tag that it ends goes on with it; one that would begin with it begins only with other ends."""
    matcher = after(tags(Token("<call>"), Token("<turn>")), CALL, b'{"a":1}')
    assert specials(matcher) == {TURN}
    assert matcher.accept(TURN)
    assert not matcher.is_terminated
    assert specials(matcher) == {CALL, EOS, TURN}
    assert matcher.accept(TURN)
    assert matcher.is_terminated
    begun_by = tags(Token("<turn>"))
    assert Matcher(begun_by, VOCABULARY).accept_tokens([TURN, ord("{")]) == 1
    assert Matcher(begun_by, VOCABULARY, eos=[EOS]).accept_tokens([TURN, ord("{")]) == 2


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


def test_what_bodies_and_thinking_name_is_asked_of_the_vocabulary() -> None:
    for grammar in (
        Grammar.from_tags([Tag("<", tags(Token("<no>")), ">")]),
        Grammar.from_tags([Tag("<", SCHEMA, ">")], thinking=Tag(Token("<no>"), None, Token("<end>"))),
        Grammar.from_tags([Tag("<", SCHEMA, ">")], thinking=Tag(Token("<call>"), tags(Token("<no>")), "")),
    ):
        with pytest.raises(VocabularyError, match="does not have: '<no>'"):
            Matcher(grammar, VOCABULARY)


def test_text_that_a_token_ends() -> None:
    grammar = Grammar.from_tags([Tag(Token("<call>"), None, Token("<end>"))], excluded=["ab"])
    assert specials(after(grammar, CALL, b"any <call> text")) == {END}
    matcher = after(grammar, CALL, b"xa")
    assert ord("b") not in matcher.allowed_tokens()
    assert ord("c") in matcher.allowed_tokens()


def test_text_that_a_text_and_a_token_end_may_have_the_text() -> None:
    grammar = Grammar.from_tags([Tag("<", None, ["ab", Token("<end>"), "!"])], excluded=["cab"])
    matcher = after(grammar, b"<xab")
    assert {END, ord("x"), ord("a")} <= set(matcher.allowed_tokens())
    assert after(grammar, b"<xab y!abab", END, b"!").is_complete
    assert not after(grammar, b"<xc").accept_bytes(b"ab")
    assert specials(after(grammar, b"<ab", END)) == set()


def test_text_that_a_token_ends_may_have_triggers() -> None:
    grammar = Grammar.from_tags([Tag("<a>", None, Token("<end>"))])
    assert specials(after(grammar, b"x<a>y <a> z")) == {END}


def test_marks_of_neighbouring_texts() -> None:
    for key in (10**5000, 1 << 31, "x" * 1001):
        with pytest.raises(ValueError, match=r"at most|printable"):
            Token(key)
    for mark in (["x", "y"], ["x", "", "y"], ["", "xy"]):
        grammar = Grammar.from_tags([Tag(mark, Grammar.from_regex("1"), "!")])  # type: ignore[arg-type]
        assert after(grammar, b"x1 y xx").is_complete  # the trigger is the whole
        assert not Matcher(grammar, VOCABULARY).accept_bytes(b"xy2")


def test_no_token_automaton_for_them() -> None:
    with pytest.raises(ValueError, match="special tokens"):
        TokenDFA.from_grammar(tags(), VOCABULARY)


def test_bytes_that_are_kept_follow_the_vocabulary() -> None:
    vocabulary = Vocabulary(VOCABULARY.tokens, eos=VOCABULARY.eos, special=VOCABULARY.special)
    vocabulary.max_shared_bytes = 1 << 20
    first = after(tags(), vocabulary=vocabulary)
    assert {other.max_shared_bytes for other in vocabulary._named.values()} == {1 << 20}
    vocabulary.max_shared_bytes = 0
    assert {other.max_shared_bytes for other in vocabulary._named.values()} == {0}
    assert first.mask() == after(tags(), vocabulary=vocabulary).mask()
