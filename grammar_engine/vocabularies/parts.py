"""What every loader returns, and how the tokens that end a text are found where a tokenizer does not name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..errors import VocabularyError

# Names under which published tokenizers keep the token that ends a text, a turn or a message.
CUSTOMARY_EOS = frozenset(
    (
        "</s>",
        "<eos>",
        "[EOS]",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<|end_of_sentence|>",
        "<｜end▁of▁sentence｜>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|eot|>",
        "<|end|>",
        "<|return|>",
        "<|end_of_turn|>",
        "<end_of_turn>",
        "<turn|>",
        "<|END_OF_TURN_TOKEN|>",
        "<EOS_TOKEN>",
        "<|endofturn|>",
    )
)

ID_END = 1 << 24  # no model has as many tokens: such an id is damage, and its table would take all memory


class Parts(NamedTuple):
    """The arguments of `Vocabulary`, but for the width."""

    tokens: list[bytes]
    eos: list[int]
    special: dict[int, str]

    def below(self, width: int) -> Parts:
        """Without the ids from `width` on, which a model does not score: none of them can come."""
        cut = [token for token in self.eos if token >= width]
        if cut:
            name = f" ({self.special[cut[0]]!r})" if cut[0] in self.special else ""
            raise VocabularyError(
                f"width {width} cuts off token {cut[0]}{name}, which ends a text: the model has no score for it, so no text could end "
                "with it; give eos=[...] that it scores, or the width of its logits",
                token_id=cut[0],
            )
        return Parts(self.tokens[:width], self.eos, {token: name for token, name in self.special.items() if token < width})


def dense(spellings: Mapping[int, bytes]) -> list[bytes]:
    """The table of an incomplete map: b"" for each id that is missing."""
    if spellings and min(spellings) < 0:
        raise VocabularyError(f"token id {min(spellings)} is negative", token_id=min(spellings))
    last = max(spellings, default=-1)
    if last >= ID_END:
        raise VocabularyError(f"token id {last} is above {ID_END - 1:,}, the last one that is read from a file", token_id=last)
    table = [b""] * (last + 1)
    for token, spelling in spellings.items():
        table[token] = spelling
    return table


def find_eos(wanted: Iterable[int | str] | None, special: Mapping[int, str], names: Mapping[str, int] | None = None) -> list[int]:
    """The ids that end a text.

    Parameters
    ----------
    wanted : iterable of int or str, or None
        What the caller asked for; names are looked up. None: every special token with a customary name.
    special : mapping of int to str
        Special ids and their names.
    names : mapping of str to int, optional
        Further names that `wanted` may use.
    """
    if wanted is None:
        found = sorted(token for token, name in special.items() if name in CUSTOMARY_EOS)
        if not found:
            raise VocabularyError("the tokenizer does not say which token ends a text: pass eos=[...] (ids or names)")
        return found
    known = {**(names or {}), **{name: token for token, name in special.items()}}
    ids = []
    for token in (wanted,) if isinstance(wanted, (int, str)) else wanted:
        if isinstance(token, str):
            if token not in known:
                raise VocabularyError(f"eos names {token!r}, which is no token of this vocabulary")
            token = known[token]
        ids.append(token)
    return ids
