"""Models that score fewer tokens than their tokenizer has: the loaders leave out the tokens from `width` on."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiktoken
import tokenizers

from grammar_engine import Grammar, Matcher, Vocabulary, VocabularyError, allocate_masks
from grammar_engine.decoding import LogitsProcessor, apply_mask

N = 300  # tokens that the model scores; the tokenizer has two more: an image, and an added word


def tokenizer() -> tokenizers.Tokenizer:
    """Byte-level, as that of Llama 3.2 Vision: the image comes last, behind the end of text."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE({piece: i for i, piece in enumerate(alphabet)}, []))
    made.decoder = tokenizers.decoders.ByteLevel()
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_special_tokens(["</s>", *(f"<|{i}|>" for i in range(257, N)), "<|image|>"])
    made.add_tokens(["word"])
    assert made.get_vocab_size() == N + 2
    return made


@pytest.fixture(scope="module")
def fast() -> Any:
    return SimpleNamespace(backend_tokenizer=tokenizer(), eos_token_id=256)


def test_tokens_from_the_width_on_are_left_out(fast: Any) -> None:
    whole, narrow = Vocabulary.from_transformers(fast), Vocabulary.from_transformers(fast, width=N)
    assert (whole.size, whole.width, narrow.size, narrow.width) == (N + 2, N + 2, N, N)
    assert narrow.tokens == whole.tokens[:N]
    assert set(whole.special) - set(narrow.special) == {N}
    assert narrow.eos == (256,)
    assert Vocabulary.from_transformers(fast, width=N + 2) == whole
    assert Vocabulary.from_transformers(fast, width=np.int64(N)) == narrow


def test_they_are_in_no_mask_and_are_refused(fast: Any) -> None:
    narrow = Vocabulary.from_transformers(fast, width=N)
    word = N + 1
    assert Vocabulary.from_transformers(fast).token_bytes(word) == b"word"
    assert fast.backend_tokenizer.encode("word").ids == [word]
    matcher = Matcher(Grammar.from_regex("word"), narrow)
    assert not matcher.accept(word)
    assert narrow.encode_greedy(b"word") == fast.backend_tokenizer.encode("wo").ids + fast.backend_tokenizer.encode("rd").ids
    assert matcher.allowed_tokens() == narrow.encode_greedy(b"w")
    with pytest.raises(VocabularyError) as caught:
        narrow.token_bytes(word)
    assert caught.value.token_id == word
    with pytest.raises(VocabularyError, match="does not have: '<|image|>'".replace("|", r"\|")):
        Matcher(Grammar.from_lark("start: <|image|>"), narrow)


@pytest.mark.parametrize("eos", [None, ["<|image|>"], [256, N], "word"])
def test_an_end_of_text_token_stays(fast: Any, eos: Any) -> None:
    if eos is None:
        with pytest.raises(VocabularyError, match=r"width 256 cuts off token 256 \('</s>'\), which ends a text") as caught:
            Vocabulary.from_transformers(fast, width=256)
        assert caught.value.token_id == 256
    else:
        with pytest.raises(VocabularyError, match=rf"width {N} cuts off token {N + (eos == 'word')}"):
            Vocabulary.from_transformers(fast, eos=eos, width=N)


@pytest.mark.parametrize(
    ("width", "reason"), [(0, "smaller"), (-1, "smaller"), (2.0, "not float"), ("300", "not str"), (1 << 40, "larger")]
)
def test_what_is_no_width_is_refused(fast: Any, width: Any, reason: str) -> None:
    with pytest.raises(VocabularyError, match=reason):
        Vocabulary.from_transformers(fast, width=width)


def test_the_plain_constructor_leaves_out_nothing() -> None:
    with pytest.raises(VocabularyError, match="width 1 is smaller than the number of tokens"):
        Vocabulary([b"a", b"b"], eos=[], width=1)


def test_other_loaders(tmp_path: Path) -> None:
    tokens = list(Vocabulary.bytes().tokens[:256])
    encoding = tiktoken.Encoding(
        "ours", pat_str=".", mergeable_ranks={token: i for i, token in enumerate(tokens)}, special_tokens={"</s>": 256, "<img>": 300}
    )
    narrow = Vocabulary.from_tiktoken(encoding, width=260)
    assert (narrow.size, narrow.width, narrow.eos, dict(narrow.special)) == (260, 260, (256,), {256: "</s>"})
    path = tmp_path / "table.json"
    table = [base64.b64encode(token).decode() for token in [*tokens, b"", b"", b"ab"]]
    path.write_text(json.dumps({"tokens": table, "eos": [256], "specials": {"</s>": 256, "<img>": 257}}))
    narrow = Vocabulary.from_file(path, width=257)
    assert (narrow.size, narrow.eos, dict(narrow.special)) == (257, (256,), {256: "</s>"})
    with pytest.raises(VocabularyError, match="cuts off token 256"):
        Vocabulary.from_file(path, width=256)


def test_scores_that_are_narrower_than_the_mask_are_refused(fast: Any) -> None:
    whole, narrow = Vocabulary.from_transformers(fast, width=400), Vocabulary.from_transformers(fast, width=N)
    grammar = Grammar.from_regex("a")
    masks = allocate_masks(1, whole)
    Matcher(grammar, whole).fill_mask(masks)
    with pytest.raises(ValueError, match="there are scores of 300"):
        apply_mask(np.zeros(N, dtype=np.float32), masks[0])
    torch = pytest.importorskip("torch")
    prompt = torch.zeros((1, 1), dtype=torch.int64)
    with pytest.raises(ValueError, match="the model scores 300 tokens"):
        LogitsProcessor(grammar, whole)(prompt, torch.zeros((1, N)))
    scores = LogitsProcessor(grammar, narrow)(prompt, torch.zeros((1, N)))
    assert torch.isfinite(scores[0]).nonzero().flatten().tolist() == narrow.encode_greedy(b"a")
