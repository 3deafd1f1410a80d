"""The keys of blocks: hashes of a prefix that ends with the block.

    chained    key_i = H(key_{i-1}, own tokens)        key_{-1} = H(salt)       O(L) for a text of L tokens
    direct     key_i = H(H(salt), all tokens up to the end of block i)          O(L^2 / block size)

Both say the same. The direct form is that of the report which the cache is made after, and is kept to measure against. H is BLAKE2b, with eight
bytes for each token. A key is a hint and no proof: whoever finds a block by it compares (`Block.stands_for`), so a short digest costs hits and
never a wrong answer. The salt is that part of the key which says what a payload depends on besides the tokens: model, grammar, user.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Literal

from ...checks import check_count

Method = Literal["chained", "direct"]


class Hashing:
    """How keys are made.

    Parameters
    ----------
    method : "chained" or "direct"
    digest_size : int
        Bytes of a key, 1 to 64.
    """

    def __init__(self, method: Method = "chained", digest_size: int = 16):
        if method not in ("chained", "direct"):
            raise ValueError(f'hashing is "chained" or "direct", not {method!r}')
        check_count("digest_size", digest_size, 1, 64)
        self._chained = method == "chained"
        self._digest_size = digest_size

    def root(self, salt: bytes) -> bytes:
        """What stands in front of the first block."""
        return blake2b(salt, digest_size=self._digest_size).digest()

    def key(self, root: bytes, before: bytes, ids: array[int], start: int, stop: int) -> bytes:
        """The key of the block ids[start:stop]; `before` is that of the block before it, or the root."""
        text = before + ids[start:stop].tobytes() if self._chained else root + ids[:stop].tobytes()
        return blake2b(text, digest_size=self._digest_size).digest()
