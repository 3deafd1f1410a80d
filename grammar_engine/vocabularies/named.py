"""Special tokens that a grammar names: a vocabulary in which they spell something.

Idea. For the core a token is bytes. So a special token gets some, which no text has: its name between bytes FF (`tags.Token.spelling`),
which are in no UTF-8. They are in a vocabulary of their own, of which only grammars that name special tokens have engines: to all others
they spell nothing.

One that ends texts may be named, too: a matcher takes it for the end
where the text is a sentence, and elsewhere it is what the grammar names.

Invariant. No other token of that vocabulary has the byte FF, so a special token is spelt by itself alone. Tokens of the real one that have
it spell nothing: no text of a grammar with names has it (frontends/tags).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..errors import VocabularyError, listed
from ..tags import BEGINS, Token

if TYPE_CHECKING:
    from ..vocabulary import Vocabulary


def check_named(vocabulary: Vocabulary, keys: Iterable[str | int]) -> None:
    """Raises VocabularyError unless all are special tokens, each named in one way."""
    special = vocabulary.special
    ids_of: dict[object, list[int]] = {}
    for token, name in special.items():
        ids_of.setdefault(name, []).append(token)
    missing = [key for key in sorted(keys, key=repr) if (key not in special if isinstance(key, int) else key not in ids_of)]
    if missing:
        raise VocabularyError(_why_missing(vocabulary, missing))
    named: dict[int, str | int] = {}
    for key in keys:
        for token in [key] if isinstance(key, int) else ids_of[key]:
            if token in named:
                raise VocabularyError(
                    f"the grammar names the special token {token} in two ways, {named[token]!r} and {key!r}", token_id=token
                )
            named[token] = key


def _why_missing(vocabulary: Vocabulary, keys: Sequence[str | int]) -> str:
    """What is the matter with keys that are of no special token: of those that are of text the first one, otherwise all."""
    tokens = vocabulary.tokens
    for key in keys:
        as_special = f"the grammar names {key!r} as a special token, but"
        if isinstance(key, int) and key < len(tokens) and tokens[key]:
            return f"{as_special} token {key} is text, {tokens[key]!r:.60}, and no special token"
        if isinstance(key, str) and key.encode() in tokens:
            token = tokens.index(key.encode())
            remedy = "write it as text, and leave it out of special_tokens"
            return f"{as_special} {key!r} is token {token} of this vocabulary, an ordinary text token: {remedy}"
    return f"the grammar names special tokens that the vocabulary does not have: {listed([repr(key) for key in keys])}"


def spelled(vocabulary: Vocabulary, ids: frozenset[int] | None) -> list[bytes]:
    """What each token spells. Special tokens: those with these ids (None:
    all) by their ids, others by their names, if they can be named.
    """
    table = [b"" if BEGINS in spelling else spelling for spelling in vocabulary.tokens]
    for token, name in vocabulary.special.items():
        try:
            table[token] = Token(token if ids is None or token in ids else name).spelling
        except (TypeError, ValueError):  # no grammar names it
            table[token] = b""
    return table
