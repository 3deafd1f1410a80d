"""Tags over a real vocabulary: each bit of a mask is what a few lines of Python say that reads the text from its beginning."""

from __future__ import annotations

import codecs
import re

import pytest

from grammar_engine import Grammar, Matcher, Tag, Token
from vocabularies import REAL_NAMES, load_real

BEGIN, END = "<call>", "</call>"
IN_TAG = re.compile(r"|[0-9]+(?:<(?:/(?:c(?:a(?:l(?:l)?)?)?)?)?)?")  # beginnings of a body and its end, but for the whole
TEXTS = ["", "a <c", "a <call", "<call>", "x <call>1", "<call>12</", "<call>12</call", "<call>1</call> and <cal", "é <call>1</call><call>"]


def begins(text: bytes) -> bool:
    """May a text with `<call>digits</call>` in it begin so?"""
    try:
        rest = codecs.getincrementaldecoder("utf-8")().decode(text)  # all but a character that is not complete
    except UnicodeDecodeError:
        return False
    is_whole = len(rest.encode()) == len(text)
    while BEGIN in rest:
        rest = rest.partition(BEGIN)[2]
        call = re.match(r"[0-9]+</call>", rest)
        if call is None:
            return is_whole and IN_TAG.fullmatch(rest) is not None
        rest = rest[call.end() :]
    return True


@pytest.mark.parametrize("name", REAL_NAMES)
def test_masks_in_text_and_tags(name: str) -> None:
    vocabulary = load_real(name).build()
    grammar = Grammar.from_tags([Tag(BEGIN, Grammar.from_regex("[0-9]+"), END)])
    for text in TEXTS:
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(text.encode())
        allowed = set(matcher.allowed_tokens()) - set(vocabulary.eos)
        expected = {i for i, token in enumerate(vocabulary.tokens) if token and begins(text.encode() + token)}
        assert allowed == expected, text


@pytest.mark.parametrize("name", REAL_NAMES)
def test_special_tokens(name: str) -> None:
    vocabulary = load_real(name).build()
    named = [(token, key) for token, key in vocabulary.special.items() if token not in vocabulary.eos]
    begin, end = named[0], named[-1]  # one of them has a single one
    grammar = Grammar.from_tags([Tag(Token(begin[1]), Grammar.from_regex("[0-9]+"), Token(end[1]))])
    text = Matcher(Grammar.from_regex("(?s:.)*"), vocabulary)
    matcher = Matcher(grammar, vocabulary)
    assert set(matcher.allowed_tokens()) == {*text.allowed_tokens(), begin[0]}
    assert matcher.accept(begin[0])
    digits = {i for i, token in enumerate(vocabulary.tokens) if token.isdigit()}
    assert set(matcher.allowed_tokens()) == digits
    assert matcher.accept_bytes(b"12")
    assert set(matcher.allowed_tokens()) == {*digits, end[0]}
