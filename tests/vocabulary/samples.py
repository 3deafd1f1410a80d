"""Texts that tokenizers stumble over, and a little prose to train small ones on."""

TEXTS = (
    '{"name": "Ada", "tags": ["x", "y"], "n": -12.5e3}',
    "  leading and  double  spaces\n\ttab ",
    "naïve café — 日本語 🙂 ▁ Ġ <0x41> </s>",
    "def f(x):\n    return x  # <s> [INST]\n",
)
PROSE = (
    "the quick brown fox jumps over the lazy dog, and the dog sleeps on. " * 3,
    '{"name": "value", "items": [1, 2, 3], "nested": {"key": null}} ' * 3,
    "naïve café — 日本語 の 文章 🙂 and more words to learn from. " * 3,
)
