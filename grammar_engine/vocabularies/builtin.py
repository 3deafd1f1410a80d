"""The vocabulary that ships with the package: `data/builtin.merges`, a list of merges (see `tools/train_builtin.py`)."""

from __future__ import annotations

from pathlib import Path

from .parts import Parts

MERGES = Path(__file__).parent.parent / "data" / "builtin.merges"
EOS_NAME = "<eos>"


def read() -> Parts:
    """Ids 0 to 255 are the bytes, then one id per merge, and the end-of-text token last."""
    tokens = [bytes((byte,)) for byte in range(256)]
    for line in MERGES.read_text(encoding="ascii").splitlines()[1:]:
        left, right = line.split()
        tokens.append(tokens[int(left)] + tokens[int(right)])
    eos = len(tokens)
    return Parts([*tokens, b""], [eos], {eos: EOS_NAME})
