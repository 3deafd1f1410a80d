"""Loading a model and its tokenizer by name, with `transformers`."""

from __future__ import annotations

from typing import Any


def load_pretrained(model_name: str, longest: int, given: int | None, options: dict[str, Any]) -> tuple[Any, Any, int]:
    """The module in `eval` mode, the tokenizer, and how many tokens the module can see.

    That is `given`, or else what the tokenizer or the module says, where it is at most `longest`.

    Raises
    ------
    ValueError
        None of them says so, or only more than that.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_name)
    module: Any = AutoModelForCausalLM.from_pretrained(model_name, **options)
    module = module.eval().to("cuda" if torch.cuda.is_available() else "cpu")
    if given is not None:
        return module, tokenizer, given
    lengths = (tokenizer.model_max_length, getattr(module.config, "max_position_embeddings", None))
    for length in lengths:
        if length is not None and 0 < length <= longest:
            return module, tokenizer, length
    said = [f"{length:,}" for length in lengths if length is not None]
    what = f"too big: {' and '.join(said)} tokens are said, and {longest:,} is the most" if said else "not known: nothing says it"
    raise ValueError(f"The maximum length of the model {model_name!r} is {what}. Say max_input_len=..., how many tokens a pass may see")
