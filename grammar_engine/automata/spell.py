"""How a literal is spelt in tokens when there is to be one way only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..vocabulary import Vocabulary

Spell = Callable[[bytes], Sequence[int]]


def fewest_tokens(vocabulary: Vocabulary) -> Spell:
    """Spell a text with as few tokens as can be; of such spellings the one whose tokens are longest, from the left. [] where none spells it.

    Dynamic programming from the end of the text: O(n * longest token) look-ups.
    """
    ids: dict[bytes, int] = {}
    for token, spelling in enumerate(vocabulary.tokens):
        if spelling:
            ids.setdefault(spelling, token)
    longest = max(map(len, ids))

    def spell(text: bytes) -> Sequence[int]:
        best: list[tuple[int, int, int] | None] = [None] * len(text) + [(0, 0, 0)]  # from each place: tokens, the first one, where it ends
        for at in range(len(text) - 1, -1, -1):
            here: tuple[int, int, int] | None = None
            for end in range(min(len(text), at + longest), at, -1):
                rest, token = best[end], ids.get(text[at:end])
                if rest is not None and token is not None and (here is None or rest[0] + 1 < here[0]):
                    here = rest[0] + 1, token, end
            best[at] = here
        tokens, at = [], 0
        while at < len(text):
            step = best[at]
            if step is None:
                return []
            tokens.append(step[1])
            at = step[2]
        return tokens

    return spell
