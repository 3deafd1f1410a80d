"""The keys of blocks: hashes of a prefix that ends with the block.

    chained    key_i = H(key_{i-1}, own tokens)        key_{-1} = H(salt)       O(L) for a text of L tokens
    direct     key_i = H(H(salt), all tokens up to the end of block i)          O(L^2 / block size)

Both say the same. The direct form is that of the report which the cache is made after, and is kept to measure against. Each token is eight
bytes. Keys of up to eight bytes are made by the hash that the interpreter has for its own tables (SipHash, by a secret of the process),
which its code is about to use anyway; longer ones by BLAKE2b. A key is a hint and no proof: whoever finds a block by it compares
(`Block.stands_for`), so a short key costs hits and never a wrong answer. The salt is that part of the key which says what a payload depends
on besides the tokens: model, grammar, user.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Literal

from ...checks import check_count

Method = Literal["chained", "direct"]

_OF_THE_INTERPRETER = 8  # bytes of its hashes


class Hashing:
    """How keys are made.

    Parameters
    ----------
    method : "chained" or "direct"
    digest_size : int
        Bytes of a key, 1 to 64.
    """

    def __init__(self, method: Method = "chained", digest_size: int = 8):
        if method not in ("chained", "direct"):
            raise ValueError(f'hashing is "chained" or "direct", not {method!r}')
        digest_size = check_count("digest_size", digest_size, 1, 64)
        self._chained = method == "chained"
        self._digest_size = digest_size
        self._bits = (1 << 8 * digest_size) - 1 if digest_size <= _OF_THE_INTERPRETER else 0

    def root(self, salt: bytes) -> bytes:
        """What stands in front of the first block."""
        return self.key(salt, salt, array("q"), 0, 0)

    def key(self, root: bytes, before: bytes, ids: array[int], start: int, stop: int) -> bytes:
        """The key of the block ids[start:stop]; `before` is that of the block before it, or the root."""
        text = before + ids[start:stop].tobytes() if self._chained else root + ids[:stop].tobytes()
        if self._bits:
            return (hash(text) & self._bits).to_bytes(self._digest_size, "little")
        return blake2b(text, digest_size=self._digest_size).digest()
