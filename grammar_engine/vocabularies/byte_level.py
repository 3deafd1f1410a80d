"""The alphabet of byte-level BPE, as a character encoding.

GPT-2 wrote each byte as one printable character so that its merges could be stored as text: the 188 bytes that are printable in Latin-1
stand for themselves, the 68 others are, in order, U+0100, U+0101, ... (a space is `Ġ`, a line feed `Ċ`). That is a single-byte
character encoding like any other, so Python's own charmap codec decodes a token in one call.
"""

from __future__ import annotations

import codecs

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

ALPHABET = "".join(chr(byte if byte in _PRINTABLE else 0x100 + _OTHERS.index(byte)) for byte in range(256))  # byte -> character
_ENCODING = codecs.charmap_build(ALPHABET)


def token_bytes(token: str) -> bytes:
    """What `token` stands for; its own UTF-8 where a character is outside the alphabet (added tokens), as the decoder does."""
    try:
        return codecs.charmap_encode(token, "strict", _ENCODING)[0]
    except UnicodeEncodeError:
        return token.encode("utf-8")
