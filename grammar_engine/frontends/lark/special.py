"""Special tokens, as a grammar names them: `<think>` by its name,
which has the signs; `<[1000]>` by its id, `<[1000-1009,1020]>` any of several.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...tags import Token as SpecialToken

if TYPE_CHECKING:
    from .syntax import Origin, Token

MAX_IDS = 10_000  # that are named at one place
MAX_ALL_IDS = 1_000_000  # in all places of a grammar

_IDS = re.compile(r"\s*([0-9]{1,10})\s*(?:-\s*([0-9]{1,10})\s*)?")


def special_tokens(token: Token, origin: Origin) -> list[SpecialToken]:
    """Those that a SPECIAL token of a text names, of which any may come."""
    inner = token.text[1:-1]
    if not inner.startswith("["):
        return [_special(token.text, token, origin)]
    if inner.startswith("[^") or inner == "[*]":
        raise origin.error("special tokens are named one by one, not by those that they are not; any text is /(?s:.)*/", token)
    ids: dict[int, None] = {}
    n_named = 0
    for part in inner[1:].removesuffix("]").split(","):
        match = _IDS.fullmatch(part)
        if match is None or not inner.endswith("]"):
            raise origin.error("the id of a token is a number, as in <[1000]> or <[1000-1009,1020]>", token)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise origin.error(f"the ids from {first} to {last} are none: the bounds are the wrong way round", token)
        n_named += last - first + 1
        if n_named > MAX_IDS:
            raise origin.error(f"more than {MAX_IDS:,} special tokens at one place", token)
        ids.update(dict.fromkeys(range(first, last + 1)))
    return [_special(i, token, origin) for i in ids]


def _special(key: str | int, token: Token, origin: Origin) -> SpecialToken:
    try:
        return SpecialToken(key)
    except ValueError as error:
        raise origin.error(str(error), token) from None
