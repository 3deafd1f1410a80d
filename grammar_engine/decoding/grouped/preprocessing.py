"""From a prompt to ids: prefix, prompt and postfix are encoded each by itself, and put one after another."""

from __future__ import annotations

from typing import Any, NamedTuple

from .codec import codec_of


class Prepared(NamedTuple):
    """The ids that the model is given, and what they are made of.

    Attributes
    ----------
    ids : list of int
        Prefix, prompt and postfix.
    prefix_len, prompt_len, postfix_len : int
        Number of ids of each.
    """

    ids: list[int]
    prefix_len: int
    prompt_len: int
    postfix_len: int


class PreProcessor:
    """Turns prompts into ids, cut to what a pass can see.

    Parameters
    ----------
    tokenizer : Vocabulary, or a tokenizer of transformers
    max_input_len : int or None
        Where `truncation` cuts; None: nowhere.
    """

    def __init__(self, tokenizer: Any, max_input_len: int | None):
        self.codec = codec_of(tokenizer)
        self.max_input_len = max_input_len

    def encode(self, text: str, truncation: Any = "do_not_truncate") -> list[int]:
        """The ids of one text, a flat list whatever its length; of the empty text, none.

        Parameters
        ----------
        text : str
        truncation : bool or str
            As tokenizers of `transformers` take it: False or "do_not_truncate"
            keeps all, True or the name of a strategy cuts to `max_input_len`.

        Returns
        -------
        list of int

        Raises
        ------
        TypeError
            `text` is no str, or the tokenizer's answer holds no ids.
        """
        if not isinstance(text, str):
            raise TypeError(f"a prompt is a str, not {type(text).__name__}")
        return self.codec.encode(text, truncation, self.max_input_len) if text else []

    def __call__(self, prompt: str, prefix: str = "", truncation: Any = "do_not_truncate", postfix: str = "") -> Prepared:
        """The `ids` of prefix, prompt and postfix, and how many of them are of each. Costs time linear in their length."""
        parts = [self.encode(text, truncation) for text in (prefix, prompt, postfix)]
        before, middle, after = parts
        return Prepared([*before, *middle, *after], len(before), len(middle), len(after))
