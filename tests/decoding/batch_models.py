"""Small torch modules with random weights, of several kinds, and how many positions they pass."""

from __future__ import annotations

import pytest

from decoding.grouped_models import LETTERS

torch = pytest.importorskip("torch")

from grammar_engine.decoding import as_model  # noqa: E402
from grammar_engine.decoding.tiny.model import TinyDecoder  # noqa: E402

WIDTH, LENGTH = LETTERS.size + 1, 64
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
WINDOW = {"sliding_window": 8}


def transformer(name: str, **options):
    """A causal model of `transformers`, so that scores differ by whole units."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    ids = {"vocab_size": WIDTH, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 0}
    config = getattr(transformers, f"{name}Config")(**ids, **options)
    causal = getattr(transformers, f"{name.removesuffix('Text')}ForCausalLM", None) or getattr(transformers, f"{name}LMHeadModel")
    model = causal(config).eval()
    for weights in model.parameters():
        weights.data *= 3 if weights.dim() == 2 else 1
    return model


def tiny_decoder():
    torch.manual_seed(0)
    model = TinyDecoder(WIDTH, dim=32, layers=2, heads=2, max_length=LENGTH).eval()
    for weights in model.parameters():
        weights.data *= 3
    return model


MAKERS = {
    "tiny": tiny_decoder,
    "llama": lambda: transformer("Llama", **SIZES, max_position_embeddings=LENGTH),
    "gpt2": lambda: transformer("GPT2", n_embd=32, n_layer=2, n_head=2, n_positions=LENGTH),
    "gpt-neox": lambda: transformer("GPTNeoX", **SIZES, max_position_embeddings=LENGTH),
    "opt": lambda: transformer("OPT", hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=2, word_embed_proj_dim=32),
    "mistral": lambda: transformer("Mistral", **SIZES, num_key_value_heads=1, head_dim=16, **WINDOW),
    "gemma3": lambda: transformer("Gemma3Text", **SIZES, num_key_value_heads=1, head_dim=16, **WINDOW),
    "bloom": lambda: transformer("Bloom", hidden_size=32, n_layer=2, n_head=2),  # takes no positions
    "roberta": lambda: transformer("Roberta", **SIZES, is_decoder=True, max_position_embeddings=LENGTH + 2),  # positions from 1 on
    "gpt-neo": lambda: transformer(
        "GPTNeo", hidden_size=32, num_layers=2, num_heads=2, max_position_embeddings=LENGTH, attention_types=[[["global", "local"], 1]]
    ),  # no more columns than positions
    "falcon-h1": lambda: transformer(
        "FalconH1", **SIZES, num_key_value_heads=1, mamba_d_ssm=32, mamba_n_heads=2, mamba_d_head=16, mamba_d_state=8, mamba_n_groups=1
    ),  # keys and values, and a state of another kind, in each layer
    "mamba": lambda: transformer("Mamba", hidden_size=32, num_hidden_layers=1, state_size=4),  # a state of another kind
}


def try_places(module):
    """What is tried once for a module, before its positions are counted."""
    with torch.inference_mode():
        return as_model(module).takes_places([2, 3, 4])


class Counted:
    """How many positions a module passes, those that fill rows included."""

    def __init__(self, module):
        self.positions = self.rows = 0
        self.hook = module.register_forward_pre_hook(self._count, with_kwargs=True)

    def _count(self, _module, _args, given):
        self.rows, width = given["input_ids"].shape
        self.positions += self.rows * width

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hook.remove()
