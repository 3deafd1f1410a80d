"""From what a user hands over to a decoded schema.

Idea. A schema arrives as a Python value, as JSON text, as a pydantic model or as a pydantic `TypeAdapter`. All of them become one
thing: a Python value whose numbers are exact. JSON text is read without floats, so that `0.1` is a tenth; a Python
float stands for its shortest decimal spelling, which is what `json.dumps` would have written.

Invariant. What is malformed is refused here, with line and column: bad syntax, `NaN`, duplicate keys, nesting beyond the limit. Text for
which the parser of the standard library recurses too deeply is parsed by a loop: what a limit admits does not depend on the caller's stack.

Cost. Linear, ten times as slow by the loop; nesting is looked at only in text with more brackets than the limit, and there by operations on
whole strings.
"""

from __future__ import annotations

import json
import os
import re
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ....errors import LimitExceededError, SchemaError
from ....limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

_SPACE = re.compile(r"[ \t\n\r]*")
_NOT_IN_PATHS = frozenset('{}[]",\r\n')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)?")  # group 1: it is no integer by its spelling
# As `json.loads` reads a string, with its errors; the stubs of the standard library leave it out.
_read_string: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]
_MARKS_OF_TYPES = ("__origin__", "__args__", "__supertype__")  # of list[int], of int | None, of a NewType
_LITERALS = {"true": True, "false": False, "null": None}
_DIGITS_OF_INT = 640  # `int` converts so many, whatever `sys.set_int_max_str_digits` says
_TOO_LARGE = Decimal("1e99999")
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_MARKS = bytes(byte for byte in range(256) if byte not in _STEPS and byte != ord('"'))


def load(source: Any, limits: Limits | None = None, what: str = "schema") -> Any:
    """The decoded schema that `source` stands for, or what else a front end reads from JSON.

    Parameters
    ----------
    source : dict, bool, str, bytes, pydantic model class or pydantic TypeAdapter
        A decoded schema is returned as it is; text is JSON in UTF-8.
    limits : Limits, optional
        `max_schema_nesting` bounds the nesting of text.
    what : str
        What it is, for messages.

    Raises
    ------
    SchemaError
        The text is no JSON, has a duplicate key, a model has no schema, or `source` is of no known kind.
    LimitExceededError
        The text is nested too deeply.
    """
    if isinstance(source, (dict, bool)):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        try:
            source = bytes(source).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SchemaError(f"the {what} is not UTF-8: byte {error.start} ({error.reason})") from None
    if isinstance(source, str):
        return _from_text(source, limits or Limits(), what)
    if (method := _method(source)) is not None:
        return _told_by(source, method)
    is_type = isinstance(source, type) or any(hasattr(source, mark) for mark in _MARKS_OF_TYPES)  # a dataclass, list[int], ...
    remedy = "; wrap a type in pydantic.TypeAdapter" if is_type else ""
    if isinstance(source, os.PathLike):
        remedy = "; pass the text of the file"
    elif callable(getattr(source, "schema_json", None)):
        remedy = "; of a model of pydantic 1 pass its schema()"
    raise SchemaError(f"a schema is a dict, a bool, JSON text, a pydantic model or a TypeAdapter, not {type(source).__name__}{remedy}")


def is_of_pydantic(source: Any) -> bool:
    """Whether a source is a model that tells its schema."""
    return not isinstance(source, (dict, bool, str, bytes, bytearray, memoryview)) and _method(source) is not None


def _method(source: Any) -> str | None:
    """What a model class of pydantic, or a TypeAdapter, is asked for its schema by."""
    return next((name for name in ("model_json_schema", "json_schema") if callable(getattr(source, name, None))), None)


def _told_by(source: Any, method: str) -> Any:
    """The schema that a model tells of itself."""
    try:
        return getattr(source, method)()
    except Exception as error:
        called = f"{source.__name__ if isinstance(source, type) else type(source).__name__}.{method}()"
        raise SchemaError(f"{called} gives no schema: {type(error).__name__}: {error}") from error


def _from_text(text: str, limits: Limits, what: str) -> Any:
    maximum = limits.max_schema_nesting
    most = maximum + 1  # the outermost one is no nesting
    if text.count("[") + text.count("{") > most and _nesting(text) > most:
        raise LimitExceededError("max_schema_nesting", maximum, f"brackets in the text of the {what}")
    try:
        return _decoded(text, what)
    except json.JSONDecodeError as error:
        is_path = ("/" in text or text.endswith(".json")) and _NOT_IN_PATHS.isdisjoint(text)  # or so it seems
        hint = "; this looks like a path: pass its text" if is_path else ""
        message = error.msg.removesuffix(" at").removesuffix(" starting")  # the place is told below
        raise SchemaError(f"the {what} is not JSON: {message}{hint}", source=text, offset=error.pos) from None


def _decoded(text: str, what: str) -> Any:
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("it begins with a byte order mark", text, 0)
    try:
        return _DECODER.decode(text)
    except (RecursionError, _UntoldError):  # how deep the reader of Python goes depends on who calls
        return _decoded_by_loop(text, what)


def _decoded_by_loop(text: str, what: str) -> Any:
    """As `json.loads` above, for brackets in any depth. Raises JSONDecodeError with its messages."""
    around: list[_Bracket] = []  # of each open bracket, outermost first
    at = _after_space(text, 0)
    while True:
        if text[at : at + 1] in ("{", "["):
            closing = "}" if text[at] == "{" else "]"
            at = _after_space(text, at + 1)
            if not text.startswith(closing, at):
                around.append(_Bracket(closing, [], []))
                at = _after_key(text, at, around[-1])
                continue
            value: Any = {} if closing == "}" else []
            at += 1
        else:
            value, at = _scalar(text, at)
        at = _after_space(text, at)
        while around and text.startswith(around[-1][0], at):
            bracket = around.pop()
            bracket.values.append(value)
            value = bracket.values if bracket.closing == "]" else _object(text, bracket, what)
            at = _after_space(text, at + 1)
        if not around:
            if at < len(text):
                raise json.JSONDecodeError("Extra data", text, at)
            return value
        around[-1][1].append(value)
        if not text.startswith(",", at):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _after_key(text, _after_space(text, at + 1), around[-1])


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


class _Bracket(NamedTuple):
    """An open bracket: what closes it, its values with the keys in front of them, and where the keys begin."""

    closing: str
    values: list[Any]
    begins: list[int]


def _object(text: str, bracket: _Bracket, what: str) -> dict[str, Any]:
    keys, seen = bracket.values[::2], set()
    for key, begin in zip(keys, bracket.begins, strict=True):
        if key in seen:
            raise SchemaError(f"the key {json.dumps(key)} occurs twice in one object of the {what}", keyword=key, source=text, offset=begin)
        seen.add(key)
    return dict(zip(keys, bracket.values[1::2], strict=True))


def _after_key(text: str, at: int, bracket: _Bracket) -> int:
    """Where a value begins, behind its key if it is in an object."""
    closing, values, begins = bracket
    if closing == "]":
        return at
    if not text.startswith('"', at):
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    begins.append(at)
    key, at = _read_string(text, at + 1, True)
    at = _after_space(text, at)
    if not text.startswith(":", at):
        raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
    values.append(key)
    return _after_space(text, at + 1)


def _scalar(text: str, at: int) -> tuple[Any, int]:
    if text.startswith('"', at):
        return _read_string(text, at + 1, True)
    for name, value in _LITERALS.items():
        if text.startswith(name, at):
            return value, at + len(name)
    for name in ("NaN", "Infinity", "-Infinity"):
        if text.startswith(name, at):
            raise json.JSONDecodeError(f"{name} is no JSON number", text, at)
    number = _NUMBER.match(text, at)
    if number is None:
        raise json.JSONDecodeError("Expecting value", text, at)
    return (_number if number[1] else _integer)(number[0]), number.end()


def _number(text: str) -> Decimal:
    """A number with a point or an exponent; one that `Decimal` cannot hold is made one that is refused where it is used."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return _TOO_LARGE


def _integer(text: str) -> int | Decimal:
    """An integer, of any number of digits."""
    return int(text) if len(text) <= _DIGITS_OF_INT else Decimal(text)


def _nesting(text: str) -> int:
    """How deep the brackets are nested that stand outside of strings, up to where the text is no JSON, if it is not."""
    unescaped = text.replace("\\\\", "").replace('\\"', "").encode("utf-8", "surrogatepass")
    outside = unescaped.translate(None, _NO_MARKS).split(b'"')[::2]
    return max(accumulate(map(_STEPS.__getitem__, b"".join(outside))), default=0)


class _UntoldError(Exception):
    """The text is malformed, and the loop tells where."""


def _refuse_constant(name: str) -> Any:
    raise _UntoldError


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _UntoldError
    return result


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_integer, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates)
