# The extension module: what cffi generates from csrc/include/ge_api.h, and the
# types of csrc/python. Only `_native` uses it, and `ir` the base of builders.
import builtins
from collections.abc import Sequence
from typing import Any, TypeVar

ffi: Any
lib: Any

class Held:
    @property
    def _handle(self) -> Any: ...
    @property
    def _keeps(self) -> Any: ...
    def _hold(self, owner: Any, words: int, rows: int = 0, keeps: Any = None, /) -> None: ...

class Record:
    def __new__(cls, n_words: int, /) -> Record: ...
    @property
    def pointer(self) -> Any: ...

class Collected:
    """See `ir.Builder`."""

    fragments: list[Any]
    data: bytearray
    lexemes: list[Any]
    lexeme_records: list[int]
    nonterminals: list[Any]
    rule_records: list[int]
    bag_records: list[int]
    _ids: dict[tuple[int, ...], int]
    _latest: list[int]
    _spans: dict[builtins.bytes, int]
    _lexeme_ids: dict[tuple[int, int, str | None], int]
    _info: type

    def _node(self, *record: int) -> int: ...
    def _span(self, content: builtins.bytes, /) -> int: ...
    def bytes(self, literal: builtins.bytes, /) -> int: ...
    def string(self, literal: str, /) -> int: ...
    def concat(self, *parts: int) -> int: ...
    def lexeme(
        self,
        expr: int,
        name: str,
        /,
        *,
        where: str | None = None,
        lazy: bool = False,
        skip: bool = False,
        unique: bool = False,
        repeated: bool = False,
    ) -> int: ...
    def nonterminal(self, name: str, /, *, where: str | None = None) -> int: ...
    def rule(self, left: int, right: Sequence[int], /) -> None: ...
    def _put_bag(
        self,
        left: int,
        separator: int,
        ranked: bool,
        slots: list[tuple[int, int | None]],
        ways: list[Any],
        asks: dict[int, Sequence[int]] | None,
        choices: list[tuple[int | None, list[Sequence[int]]]],
        /,
    ) -> None: ...

_Class = TypeVar("_Class", bound=type[Held])

def run_batch(
    matchers: list[Any], tokens: Any, words: Any, n_words: int, n_rows: int, rows: Any, /
) -> tuple[list[bool], list[bool], list[bool], list[bool] | None] | None: ...
def know_arrays(ndarray: type, /) -> None: ...
def fast_guide(cls: _Class, /) -> _Class: ...
def fast_matcher(cls: _Class, /) -> _Class: ...
def fast_row_mask(cls: _Class, /) -> _Class: ...
def fast_text(cls: _Class, /) -> _Class: ...
