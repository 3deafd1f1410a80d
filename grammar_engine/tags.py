"""Tags: regions of structure in free text, as a model with tools writes them.

    Let me look.<tool_call>{"city": "Paris"}</tool_call>
    free text   begin      body             end

What begins and ends a region is text, or a special token of the vocabulary, which text can never spell; or several of these. They come from
the template of the model, and are handed over with the tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .checks import as_int

if TYPE_CHECKING:
    from typing import TypeAlias

MAX_MARK = 1_000  # characters of a text that begins or ends something, and of the name of a token
MAX_ID = (1 << 31) - 1
BEGINS = b"\xff"  # in the spelling of a special token, which no text has, as it is in no UTF-8


@dataclass(frozen=True)
class Token:
    r"""A special token of a vocabulary, as a part of a grammar.

    Parameters
    ----------
    key : str or int
        Its name, as in `Vocabulary.special`, or its id.

    Examples
    --------
    >>> Token("<|call|>").spelling
    b'\xff<|call|>\xff'
    """

    key: str | int

    def __post_init__(self) -> None:
        if not isinstance(self.key, str):
            object.__setattr__(self, "key", as_int("the key of a Token, if it is no str,", self.key))
            if not 0 <= self.key <= MAX_ID:
                raise ValueError(f"the id of a Token is at least 0 and at most {MAX_ID:,}")
        elif not self.key or not self.key.isprintable() or len(self.key) > MAX_MARK:
            raise ValueError(f"the name of a Token has 1 to {MAX_MARK:,} characters, all printable, not {self.key!r:.80}")

    @property
    def spelling(self) -> bytes:
        """What stands for it where a `Matcher` speaks of bytes: in `forced_bytes`, `closing_bytes` and `accept_bytes`."""
        if isinstance(self.key, int):
            return BEGINS * 2 + str(self.key).encode() + BEGINS
        return BEGINS + self.key.encode() + BEGINS

    def __str__(self) -> str:
        return f"Token({self.key!r})"


def whole_spellings(text: bytes) -> int:
    """How many bytes of a text there are up to a special token of which only a part is there; all, if there is none."""
    at = text.find(BEGINS)
    while at >= 0:
        by_id = text[at + 1 : at + 2] == BEGINS
        end = text.find(BEGINS, at + 1 + by_id)
        if end < 0:
            return at
        at = text.find(BEGINS, end + 1)
    return len(text)


Mark: TypeAlias = "str | Token | Sequence[str | Token]"


@dataclass(frozen=True)
class Tag:
    """A region of structure, with what begins and ends it.

    Parameters
    ----------
    begin : str, Token or sequence of these
        May be empty only where no free text can come before it. A text has at most 1,000 characters.
    body : Grammar, dict, bool, pydantic model class or TypeAdapter, or None
        A compiled grammar; a JSON Schema (with the default options of `Grammar.from_json_schema`); None: any text up to `end`.
    end : str, Token or sequence of these
        Empty: the body tells where it ends.
    name : str, optional
        For `choice`, and in reports. Several tags may have the same one.

    Examples
    --------
    >>> Tag("<tool_call>", {"type": "object"}, "</tool_call>")
    Tag(begin='<tool_call>', body={'type': 'object'}, end='</tool_call>', name=None)
    """

    begin: Mark
    body: Any
    end: Mark = ""
    name: str | None = None
