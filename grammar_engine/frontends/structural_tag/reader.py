"""A structural tag as it is handed over: objects of JSON, of which each is asked for its members by name and kind.

Texts that stand for themselves are handed out as marks, in which special tokens may stand (`marks.py`).

Invariant. What is not asked for is refused: a member that nobody reads
would be silently given up. A member that may be left out may be null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...errors import GrammarError, SchemaError, shortened
from ...tags import Token
from .. import json_schema
from .marks import Marks

if TYPE_CHECKING:
    from ...limits import Limits

_MOST_SHOWN = 80  # characters of what is refused
_REQUIRED: Any = object()
_TYPES = {str: "a string", bool: "true or false", int: "a whole number", list: "an array", dict: "an object"}


def load(source: Any, limits: Limits) -> Any:
    """The decoded JSON that `source` stands for: a dict as it is, a pydantic model as it would be sent, text read.

    Raises
    ------
    TypeError
        It is nothing of these.
    GrammarError
        It is no JSON, has a key twice, or cannot be sent.
    """
    source = sent(source)
    if isinstance(source, dict):
        return source
    if not isinstance(source, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"a structural tag is a dict, JSON text or a pydantic model, not {type(source).__name__}")
    try:
        return json_schema.load(source, limits, "structural tag")
    except SchemaError as error:
        raise GrammarError(error.reason, source=error.source, offset=error.offset) from None


def sent(source: Any) -> Any:
    """A pydantic model as the JSON that it would be sent as, without the members that are None; all else as it is."""
    if isinstance(source, type):
        return source
    for method, options in (("model_dump", {"mode": "json"}), ("model_dump_json", {})):
        if callable(getattr(source, method, None)):
            try:
                return getattr(source, method)(by_alias=True, exclude_none=True, **options)
            except Exception as error:
                called = f"{type(source).__name__}.{method}()"
                raise GrammarError(f"{called} gives no structural tag: {type(error).__name__}: {error}") from error
    return source


class Node:
    """An object of JSON in a structural tag.

    Attributes
    ----------
    pointer : str
        RFC 6901 JSON pointer.
    depth : int
        How many others it is in.
    """

    def __init__(self, value: Any, marks: Marks, pointer: str = "", depth: int = 0):
        self.pointer = pointer
        self.depth = depth
        self._marks = marks
        if not isinstance(value, dict):
            raise self.refuse(f"{shown(value)} stands where an object is expected")
        self._members: dict[Any, Any] = value

    def refuse(self, reason: str, name: str = "") -> GrammarError:
        """The error for what is wrong with it, or with its member `name`."""
        pointer = f"{self.pointer}/{name}" if name else self.pointer
        return GrammarError(f"{reason} (at {shortened(pointer) or 'the root'} of the structural tag)")

    def has(self, name: str) -> bool:
        """Is there such a member?"""
        return name in self._members

    def only(self, names: Collection[str], never: Collection[str] = ()) -> None:
        """Refuse other members than these, but for those that are refused with a reason of their own."""
        for name in self._members:
            if name not in names and name not in never:
                raise self.refuse(f"{shown(name)} is not known here; known are {', '.join(names)}")

    def get(self, name: str, kind: type | None = None, default: Any = _REQUIRED) -> Any:
        """A member, which is of this kind."""
        value = self._members.get(name)
        if value is None and default is not _REQUIRED:
            return default
        if name not in self._members:
            raise self.refuse(f'"{name}" is missing')
        if kind is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise self.refuse(f"{shown(value)} stands where {_TYPES[kind]} is expected", name)
        if kind is str:
            self.check_text(value, name, 0)
        return value

    def text(self, name: str) -> str:
        """A member that is a text, as a mark."""
        return self.as_mark(self.get(name, str), name, 0)

    def texts(self, name: str, default: Any = _REQUIRED, *, least: int = 1) -> list[str]:
        """A member that is an array of texts, of at least so many characters; the marks, each once."""
        return list(dict.fromkeys(self.as_mark(text, f"{name}/{i}", least) for i, text in enumerate(self.get(name, list, default))))

    def node(self, name: str) -> Node:
        """A member that is an object."""
        return self._within(self.get(name), name)

    def _within(self, value: Any, name: str) -> Node:
        return Node(value, self._marks, f"{self.pointer}/{name}", self.depth + 1)

    def nodes(self, name: str) -> list[Node]:
        """A member that is an array of objects, at least one."""
        found = self.get(name, list)
        if not found:
            raise self.refuse("an empty array: no text could be written", name)
        return [self._within(value, f"{name}/{i}") for i, value in enumerate(found)]

    def rules(self, name: str) -> list[tuple[Any, Node]]:
        """A member that is an array of pairs: when, and what."""
        found = self.get(name, list)
        if not found:
            raise self.refuse("an empty array", name)
        for i, pair in enumerate(found):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise self.refuse(f"{shown(pair)} stands where a pair is expected", f"{name}/{i}")
        return [(when, self._within(what, f"{name}/{i}/1")) for i, (when, what) in enumerate(found)]

    def mark(self, name: str) -> str:
        """A member that is a text, or an object for a special token, as a mark."""
        value = self.get(name)
        if isinstance(value, dict):
            node = self.node(name)
            node.only(("type", "token"))
            if node.get("type", str, "token") != "token":
                raise node.refuse(f'what begins or ends a tag is a string or a "token", not {shown(node.get("type"))}')
            return node.signs([node.token("token")], "token")[0]
        return self.text(name)

    def token(self, name: str) -> Token:
        """A member that is the name or the id of a special token."""
        return self.as_token(self.get(name), name)

    def tokens(self, name: str, default: Any = _REQUIRED) -> list[Token]:
        """A member that is an array of special tokens, by name or id."""
        return [self.as_token(key, f"{name}/{i}") for i, key in enumerate(self.get(name, list, default))]

    def as_token(self, key: Any, name: str) -> Token:
        """What stands in a member, as a special token."""
        try:
            return Token(key)
        except TypeError:
            raise self.refuse(f"{shown(key)} stands where the name or the id of a special token is expected", name) from None
        except ValueError as error:
            raise self.refuse(str(error), name) from None

    def signs(self, tokens: Iterable[Token], name: str) -> list[str]:
        """Special tokens as marks."""
        try:
            return [self._marks.sign(token) for token in tokens]
        except ValueError as error:
            raise self.refuse(str(error), name) from None

    def as_mark(self, text: Any, name: str, least: int) -> str:
        """What stands in a member, as the mark of a text of at least so many characters."""
        self.check_text(text, name, least)
        try:
            return self._marks.of(text)
        except ValueError as error:
            raise self.refuse(str(error), name) from None

    def check_text(self, text: Any, name: str, least: int) -> None:
        """Refuse what is no text of at least so many characters."""
        if not isinstance(text, str) or len(text) < least:
            raise self.refuse(f"{shown(text)} stands where {_TYPES[str]}{' that is not empty' if least else ''} is expected", name)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.refuse("a lone surrogate, which is no character", name) from None


def triggers_in(root: Node) -> Iterator[str]:
    """All texts that are triggers, wherever they stand: without recursion, and what is shared once."""
    queue: list[Any] = [root._members]
    seen = {id(queue[0])}
    for value in queue:
        if isinstance(value, dict) and isinstance(value.get("triggers"), list):
            yield from (trigger for trigger in value["triggers"] if isinstance(trigger, str))
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, (dict, list, tuple)) and id(inner) not in seen:
                seen.add(id(inner))
                queue.append(inner)


def shown(value: Any) -> str:
    """A value for messages, cut; what is nested or long beyond Python's own limits by its kind."""
    try:
        text = str(value) if isinstance(value, Decimal) else repr(value)  # text has been read without floats
    except (RecursionError, ValueError):
        text = f"something of the kind {type(value).__name__}"
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
