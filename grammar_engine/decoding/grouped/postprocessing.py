"""From ids to an answer: a dictionary with what was asked for, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .codec import codec_of


class PostProcessor:
    """Makes the answer of a call from token ids.

    Parameters
    ----------
    tokenizer : Vocabulary, or a tokenizer of transformers
    """

    def __init__(self, tokenizer: Any):
        self.codec = codec_of(tokenizer)

    def __call__(
        self,
        token_ids: Sequence[int],
        num_new_tokens: int | None,
        prompt_len: int,
        return_text: bool,
        return_tensors: bool | str,
        return_full_text: bool,
        clean_up_tokenization_spaces: bool,
        prefix_len: int = 0,
        postfix_len: int = 0,
        generated_text: str | None = None,
    ) -> dict[str, Any]:
        """The answer, as a dict.

        Parameters
        ----------
        token_ids : sequence of int
            Prefix, prompt, postfix, generated tokens.
        num_new_tokens : int or None
            How many generated tokens count; None: all.
        prompt_len, prefix_len, postfix_len : int
            Number of ids of each.
        return_text : bool
            Put the text under "generated_text".
        return_tensors : bool or {"pt", "np"}
            Put the ids under "generated_token_ids": a torch tensor (True means "pt"), or a numpy array.
        return_full_text : bool
            The prompt and what was generated, without prefix and postfix; else only what was generated.
        clean_up_tokenization_spaces : bool
            Handed on to the tokenizer's `decode`.
        generated_text : str, optional
            What the generated tokens spell, where that is known: it is not decoded then.
        """
        full = prefix_len + prompt_len + postfix_len
        generated = list(token_ids[full:] if num_new_tokens is None else token_ids[full : full + num_new_tokens])
        prompt = list(token_ids[prefix_len : prefix_len + prompt_len]) if return_full_text else []
        ids = [*prompt, *generated]
        answer: dict[str, Any] = {}
        if return_tensors:
            answer["generated_token_ids"] = _tensor(ids, return_tensors)
        if return_text:
            decoded = self.codec.decode(ids if generated_text is None else prompt, clean_up_tokenization_spaces)
            answer["generated_text"] = decoded + (generated_text or "")
        return answer


def _tensor(ids: list[int], kind: bool | str) -> Any:
    if kind is True or kind == "pt":
        import torch

        return torch.tensor(ids, dtype=torch.long)
    if kind == "np":
        import numpy as np

        return np.array(ids, dtype=np.int64)
    raise ValueError(f"return_tensors is False, True, 'pt' or 'np', not {kind!r}")
