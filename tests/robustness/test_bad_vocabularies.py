"""Vocabularies that cannot be, or that cannot spell what the grammar asks for."""

from __future__ import annotations

import numpy as np
import pytest

from grammar_engine import Grammar, Matcher, Vocabulary, VocabularyError, allocate_masks, fill_masks


@pytest.mark.parametrize("tokens", [[], [b""], [b"", b""], [b"a"], [b"a", b"b"]])
def test_empty(tokens):
    with pytest.raises(VocabularyError, match="empty"):
        Vocabulary(tokens, eos=range(len(tokens)))


def test_no_tokens_at_all():
    with pytest.raises(VocabularyError, match=r"^the vocabulary is empty$"):
        Vocabulary([], eos=[0])


def test_text_ends_no_texts():
    reason = r"token 10 spells b'\\n'; only a token without text can end texts; list it in Vocabulary\(eos=...\)"
    with pytest.raises(VocabularyError, match=reason) as caught:
        Matcher(Grammar.from_regex("a"), Vocabulary.bytes(), eos=[10])
    assert caught.value.token_id == 10


def test_empty_without_eos():
    with pytest.raises(VocabularyError, match="no token spells any byte"):
        Vocabulary([b"", b""], eos=[])


@pytest.mark.parametrize(
    ("tokens", "eos", "special", "width", "token_id"),
    [
        ([b"a", "b"], [], None, None, 1),
        ([b"a", None], [], None, None, 1),
        ([b"a", 98], [], None, None, 1),
        ([b"a"], [1], None, None, 1),
        ([b"a"], [-1], None, None, -1),
        ([b"a"], [1 << 70], None, None, 1 << 70),
        ([b"a"], [True], None, None, None),
        ([b"a"], ["0"], None, None, None),
        ([b"a"], [0.0], None, None, None),
        ([b"a"], [], {3: "x"}, None, 3),
        ([b"a"], [], {"x": 0}, None, None),
        ([b"a", b"b"], [], None, 1, 1),
        ([b"a"], [], None, 1.0, None),
        ([b"a"], [], None, True, None),
        ([b"a"], [], None, 1 << 40, None),
        (b"abc", [], None, None, None),
        ("abc", [], None, None, None),
    ],
)
def test_malformed(tokens, eos, special, width, token_id):
    with pytest.raises(VocabularyError) as caught:
        Vocabulary(tokens, eos=eos, special=special, width=width)
    assert caught.value.token_id == token_id


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((None, []), "tokens is a sequence of byte strings, not NoneType"),
        ((5, []), "tokens is a sequence of byte strings, not int"),
        (([b"a"], None), "eos is a sequence of ids, not NoneType"),
        (([b"a"], 1.5), "eos is a sequence of ids, not float"),
        (([b"a"], b"\0"), "eos is a sequence of ids, not bytes"),
        (([b"a"], 0), r"eos is a sequence of ids, such as \[0\], not int"),
        (([b"a"], [], [0]), "special is a mapping of ids to names, not list"),
    ],
)
def test_not_even_a_sequence(arguments, reason):
    with pytest.raises(VocabularyError, match=f"^{reason}$"):
        Vocabulary(*arguments)


# --- spelling ---------------------------------------------------------------------------------------------------------


def test_a_vocabulary_that_cannot_begin(bystander):
    """It is said at the first mask, with the bytes that are missing; nothing is marked by it."""
    grammar = Grammar.from_regex("[bd]x|ax")
    poor = Vocabulary([b"x", b"", b"c"], eos=[1])
    matcher = Matcher(grammar, poor)
    buffer = allocate_masks(2, poor)
    for call in (matcher.mask, matcher.allowed_tokens, lambda: matcher.fill_mask(buffer), lambda: fill_masks([matcher], buffer)):
        for _ in range(2):
            with pytest.raises(VocabularyError) as caught:
                call()
            assert caught.value.missing == b"abd"
            assert all(repr(byte) in str(caught.value) for byte in "abd")
    assert matcher.tokens == []
    assert not matcher.accept(0)
    assert not matcher.is_complete
    rich = Matcher(grammar, Vocabulary.bytes())
    assert [t for t in rich.allowed_tokens() if t < 256] == [*b"abd"]


def test_a_vocabulary_that_gets_stuck_later():
    grammar = Grammar.from_regex("ab(c|\xe9)d?")
    poor = Vocabulary([b"ab", b"a", b"d", b"", b"\xc3"], eos=[3])
    matcher = Matcher(grammar, poor)
    assert matcher.allowed_tokens() == [0, 1]
    assert matcher.accept(0)
    assert matcher.allowed_tokens() == [4]
    assert matcher.accept(4)
    with pytest.raises(VocabularyError) as caught:
        matcher.mask()
    assert caught.value.missing == b"\xa9"
    assert matcher.tokens == [0, 4]
    matcher.rollback(1)
    assert matcher.allowed_tokens() == [4]
    assert matcher.accept_bytes("é".encode())
    assert matcher.allowed_tokens() == [2, 3]


def test_many_missing_bytes():
    with pytest.raises(VocabularyError) as caught:
        Matcher(Grammar.from_regex("[^a]"), Vocabulary([b"a"], eos=[])).mask()
    missing = caught.value.missing
    assert len(missing) >= 90
    assert b"a"[0] not in missing
    assert len(str(caught.value)) < 500


def test_one_bad_matcher_in_a_batch():
    """The rows of the others are written, before and behind it."""
    vocabulary = Vocabulary([b"x", b"y", b""], eos=[2])
    good, bad = Grammar.from_regex("x*"), Grammar.from_regex("a")
    matchers = [Matcher(good, vocabulary), Matcher(bad, vocabulary), Matcher(good, vocabulary)]
    buffer = np.full((3, 1), 0x5A5A, dtype=np.int32)
    with pytest.raises(VocabularyError):
        fill_masks(matchers, buffer)
    assert buffer[[0, 2], 0].tolist() == [0b101, 0b101]
    buffer[:] = 0x5A5A
    assert fill_masks([matchers[0], None, matchers[2]], buffer) == [True, True, True]
    assert buffer[:, 0].tolist() == [0b101, 0x5A5A, 0b101]


# --- odd but legal ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [255, 256, 10_000, 65_535])
def test_long_tokens(length):
    tokens = [b"a" * length, b"a" * (length - 1) + b"b", b"a", b"", b'"' + b"a" * (length - 1)]
    vocabulary = Vocabulary(tokens, eos=[3])
    exact = Matcher(Grammar.from_regex(f"a{{{length}}}"), vocabulary)
    assert exact.allowed_tokens() == [0, 2]
    assert exact.accept(0)
    assert exact.allowed_tokens() == [3]
    assert exact.explain(0).position == 0
    longer = Matcher(Grammar.from_regex(f"a{{{length - 1}}}b"), vocabulary)
    assert longer.allowed_tokens() == [1, 2]
    assert longer.explain(0).position == length - 1
    assert longer.forced_tokens() == [1]
    string = Matcher(Grammar.from_json_schema({"type": "string", "maxLength": length}, whitespace="compact"), vocabulary)
    assert string.allowed_tokens() == [4]


def test_a_token_beyond_65535_bytes_works_or_is_named():
    """No ceiling is hidden: it works, or the vocabulary is refused where it is made, naming the token."""
    try:
        vocabulary = Vocabulary([b"a", b"a" * 70_000, b""], eos=[2])
        allowed = Matcher(Grammar.from_regex("a*"), vocabulary).allowed_tokens()
    except VocabularyError as error:
        assert error.token_id == 1
        assert "65,535" in str(error) or "65535" in str(error)
    else:
        assert allowed == [0, 1, 2]


def test_wide_logits():
    vocabulary = Vocabulary([b"a", b""], eos=[1], width=1_000_000)
    matcher = Matcher(Grammar.from_regex("a*"), vocabulary)
    assert matcher.allowed_tokens() == [0, 1]
    assert not any(matcher.accept(token) for token in (2, 31, 999_999, 1_000_000))
    assert vocabulary.token_bytes(999_999) == b""
    with pytest.raises(VocabularyError) as caught:
        vocabulary.token_bytes(1_000_000)
    assert caught.value.token_id == 1_000_000


def test_equal_vocabularies():
    """Each vocabulary object has states of its own; masks are equal."""
    grammar, first, second = Grammar.from_regex("a*"), Vocabulary.bytes(), Vocabulary.bytes()
    assert Matcher(grammar, second).mask() == Matcher(grammar, first).mask()
    del first
    assert Matcher(grammar, second).accept(97)
