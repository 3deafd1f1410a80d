"""From ids to an answer: a dictionary with what was asked for, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .codec import Codec


class PostProcessor:
    """Makes answers.

    Parameters
    ----------
    codec : Codec
    """

    def __init__(self, codec: Codec):
        self.codec = codec

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
    ) -> dict[str, Any]:
        """The answer.

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
        """
        full = prefix_len + prompt_len + postfix_len
        generated = list(token_ids[full:] if num_new_tokens is None else token_ids[full : full + num_new_tokens])
        ids = [*token_ids[prefix_len : prefix_len + prompt_len], *generated] if return_full_text else generated
        answer: dict[str, Any] = {}
        if return_tensors:
            answer["generated_token_ids"] = _tensor(ids, return_tensors)
        if return_text:
            answer["generated_text"] = self.codec.decode(ids, clean_up_tokenization_spaces)
        return answer


def _tensor(ids: list[int], kind: bool | str) -> Any:
    if kind is True or kind == "pt":
        import torch

        return torch.tensor(ids, dtype=torch.long)
    if kind == "np":
        import numpy as np

        return np.array(ids, dtype=np.int64)
    raise ValueError(f"return_tensors is False, True, 'pt' or 'np', not {kind!r}")
