"""A bounded cache of grammars, by source text and options.

Idea. Requests of a server repeat few schemas. A grammar found here has not only been compiled: its automata and masks are warm. Equal means
equal *as written*: the order of keys in a schema is part of what it says (properties come in that order), so nothing is sorted.

Invariants. At most `max_grammars` grammars are held, and `max_bytes` by all but the latest; the least recently used goes first. Each is
compiled once, however many threads ask for it at the same time; the others wait for that one. A source that fails is not held: whoever asks
gets the error anew.
"""

from __future__ import annotations

import io
import pickle
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from os import getpid
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from .checks import check_count
from .grammar import Grammar
from .limits import Limits
from .locks import new_lock
from .tags import Tag

if TYPE_CHECKING:
    from typing_extensions import Unpack

_PROTOCOL = 4  # the first that writes as it goes, in frames of 64 KB
_MOST_WRITTEN = 8 << 20  # bytes; some 20 ms


class JSONSchemaOptions(TypedDict, total=False):
    """The keywords of `Grammar.from_json_schema`, which describes them."""

    whitespace: str | int | tuple[str, str]
    lenient: bool
    escapes: str
    property_order: str
    number_style: str
    unique_keys: bool
    formats: str
    resources: Mapping[str, Any] | None
    style: str
    closed: bool
    discriminators: str | None
    nullable: bool
    special_tokens: Iterable[str]
    limits: Limits | None


class RegexOptions(TypedDict, total=False):
    """The keywords of `Grammar.from_regex`, which describes them."""

    dialect: str
    limits: Limits | None


class LarkOptions(TypedDict, total=False):
    """The keywords of `Grammar.from_lark`, which describes them."""

    start: str
    lexing: str
    schema_options: Mapping[str, Any] | None
    limits: Limits | None


class GBNFOptions(TypedDict, total=False):
    """The keywords of `Grammar.from_gbnf`, which describes them."""

    start: str
    limits: Limits | None


class ChoicesOptions(TypedDict, total=False):
    """The keyword of `Grammar.from_choices`, which describes it."""

    limits: Limits | None


class TagsOptions(TypedDict, total=False):
    """The keywords of `Grammar.from_tags`, which describes them."""

    choice: str
    parallel: bool
    text: str
    separator: str
    triggers: Iterable[str] | None
    excluded: Iterable[str]
    thinking: Tag | None
    limits: Limits | None


class StructuralTagOptions(TypedDict, total=False):
    """The keywords of `Grammar.from_structural_tag`, which describes them."""

    special_tokens: Iterable[str]
    schema_options: Mapping[str, Any] | None
    limits: Limits | None


class CacheStats(NamedTuple):
    """Counters of a `GrammarCache`.

    Attributes
    ----------
    grammars : int
        Held now.
    hits, misses, evictions : int
        Answered without compiling; compiled; dropped to make room.
    bytes : int
        Held by the automata and masks of those grammars. What a grammar needs besides, some 50 KB, is not counted.
    """

    grammars: int
    hits: int
    misses: int
    evictions: int
    bytes: int


class GrammarCache:
    """Compiles each source once, and remembers the grammar. Any number of threads may use it at once.

    The methods take what the constructors of `Grammar` of the same names take, and raise what they raise. A hit costs a microsecond for
    text; a schema given as a dict is first serialised, which takes time in proportion to its size (some 50 us for 10 KB). From 8 MB on,
    equal schemas are found to be equal only if they also share their parts alike.

    Parameters
    ----------
    max_grammars : int
        How many grammars are held at most. One of a common schema takes some 50 KB, and its automata what `Limits` allow.
    max_bytes : int, optional
        So many bytes, as `stats.bytes` counts them, are held at most by all but the latest grammar. They grow as texts are read; that is
        looked at whenever a grammar is compiled, 2 us for each that is held. A grammar that is dropped lives on with its matchers.

    Examples
    --------
    >>> cache = GrammarCache(max_grammars=100)
    >>> schema = '{"type": "integer"}'
    >>> cache.from_json_schema(schema) is cache.from_json_schema(schema)
    True
    """

    def __init__(self, max_grammars: int = 1000, *, max_bytes: int | None = None):
        self.max_grammars = check_count("max_grammars", max_grammars)
        self.max_bytes = None if max_bytes is None else check_count("max_bytes", max_bytes)
        self._lock = new_lock()
        # Locks of the grammars that are being compiled; by the process, too: in one that was forked nobody may release them.
        self._gates: dict[Any, Any] = {}
        self._grammars: OrderedDict[Any, Grammar] = OrderedDict()
        self._hits = self._misses = self._evictions = 0

    def from_json_schema(self, schema: Any, **options: Unpack[JSONSchemaOptions]) -> Grammar:
        """The grammar of a JSON Schema.

        Parameters
        ----------
        schema : dict, bool, str, bytes, pydantic model class or TypeAdapter
        **options
            Those of `Grammar.from_json_schema`, which also tells what is raised.

        Returns
        -------
        Grammar
            The same object for the same source and options, as long as it is held.
        """
        given: dict[str, Any] = {**options}
        if "special_tokens" in given:
            given["special_tokens"] = _listed(given["special_tokens"])
        return self._get("from_json_schema", schema, given)

    def from_regex(self, pattern: str, **options: Unpack[RegexOptions]) -> Grammar:
        """The grammar of a regular expression.

        Parameters
        ----------
        pattern : str
        **options
            Those of `Grammar.from_regex`, which also tells what is raised.

        Returns
        -------
        Grammar
        """
        return self._get("from_regex", pattern, options)

    def from_lark(self, text: str, **options: Unpack[LarkOptions]) -> Grammar:
        """The grammar of a Lark grammar.

        Parameters
        ----------
        text : str
        **options
            Those of `Grammar.from_lark`, which also tells what is raised.

        Returns
        -------
        Grammar
        """
        return self._get("from_lark", text, options)

    def from_gbnf(self, text: str, **options: Unpack[GBNFOptions]) -> Grammar:
        """The grammar of a GBNF grammar.

        Parameters
        ----------
        text : str
        **options
            Those of `Grammar.from_gbnf`, which also tells what is raised.

        Returns
        -------
        Grammar
        """
        return self._get("from_gbnf", text, options)

    def from_choices(self, choices: Iterable[str | bytes], **options: Unpack[ChoicesOptions]) -> Grammar:
        """The grammar of a list of texts.

        Parameters
        ----------
        choices : iterable of str or bytes
        **options
            Those of `Grammar.from_choices`, which also tells what is raised.

        Returns
        -------
        Grammar
        """
        is_list = isinstance(choices, Iterable) and not isinstance(choices, (str, bytes))  # which is refused, and not taken for its letters
        return self._get("from_choices", tuple(choices) if is_list else choices, options)

    def from_tags(self, tags: Iterable[Tag], **options: Unpack[TagsOptions]) -> Grammar:
        """The grammar of tags in free text.

        Parameters
        ----------
        tags : iterable of Tag
            A `Grammar` in them is told by itself, and not by what it was made of: take it from the cache, too.
        **options
            Those of `Grammar.from_tags`, which also tells what is raised.

        Returns
        -------
        Grammar
        """
        given: dict[str, Any] = {name: _listed(value) for name, value in options.items()}
        return self._get("from_tags", _listed(tags), given)

    def from_structural_tag(self, source: Any, **options: Unpack[StructuralTagOptions]) -> Grammar:
        """The grammar of a structural tag.

        Parameters
        ----------
        source : dict, str, bytes or pydantic model
        **options
            Those of `Grammar.from_structural_tag`, which also tells what is raised.

        Returns
        -------
        Grammar
        """
        if not isinstance(source, (dict, str, bytes)):
            from .frontends.structural_tag import sent

            source = sent(source)
        given: dict[str, Any] = {name: _listed(value) for name, value in options.items()}
        return self._get("from_structural_tag", source, given)

    def clear(self) -> None:
        """Drop all grammars. A matcher keeps its own."""
        with self._lock:
            self._grammars.clear()

    @property
    def stats(self) -> CacheStats:
        """The counters at this moment."""
        with self._lock:
            grammars, counts = list(self._grammars.values()), (self._hits, self._misses, self._evictions)
        return CacheStats(len(grammars), *counts, sum(grammar._n_bytes() for grammar in grammars))

    def __reduce__(self) -> Any:
        raise TypeError("a GrammarCache cannot be pickled: each process has its own; the grammars in it can be")

    def _get(self, constructor: str, source: Any, options: Mapping[str, Any]) -> Grammar:
        try:
            key: tuple[Any, ...] = constructor, _key(source)
            if options:
                key += tuple((name, _key(options[name])) for name in sorted(options))
        except TypeError:  # most likely no schema at all: let the front end say what is wrong with it
            return _compile(constructor, source, options)
        with self._lock:
            if (grammar := self._found(key)) is not None:
                return grammar
            gate = self._gates.setdefault((getpid(), key), threading.RLock())
        with gate:  # one compiles, and whoever else wants that grammar waits
            with self._lock:
                if (grammar := self._found(key)) is not None:
                    return grammar
                self._misses += 1
            try:
                return self._kept(key, _compile(constructor, source, options))
            finally:
                self._gates.pop((getpid(), key), None)

    def _found(self, key: Any) -> Grammar | None:
        grammar = self._grammars.get(key)
        if grammar is not None:
            self._grammars.move_to_end(key)
            self._hits += 1
        return grammar

    def _kept(self, key: Any, grammar: Grammar) -> Grammar:
        """The grammar of this key from now on: if another one is there by now, that."""
        with self._lock:
            grammar = self._grammars.setdefault(key, grammar)
            for _ in range(len(self._grammars) - self._n_kept()):
                self._grammars.popitem(last=False)
                self._evictions += 1
        return grammar

    def _n_kept(self) -> int:
        """How many of the grammars there is room for, the latest one at least."""
        if self.max_bytes is None:
            return self.max_grammars
        left = self.max_bytes
        for n, grammar in enumerate(reversed(self._grammars.values())):
            left -= grammar._n_bytes() if n else 0
            if left < 0:
                return n
        return self.max_grammars


def _compile(constructor: str, source: Any, options: Mapping[str, Any]) -> Grammar:
    grammar: Grammar = getattr(Grammar, constructor)(source, **options)
    return grammar


def _listed(value: Any) -> Any:
    """A list of tags or texts as a tuple, so that it can be read twice."""
    is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    return tuple(value) if is_list else value


def _key(value: Any) -> Any:
    """Something hashable that is equal only for values that mean the same. TypeError: there is nothing of that kind."""
    if type(value) is str:
        return value
    if type(value) is Tag:
        return Tag, *(_key(tuple(part) if isinstance(part, list) else part) for part in (value.begin, value.body, value.end, value.name))
    if type(value) is tuple and value and type(value[0]) is Tag:
        return tuple, *map(_key, value)
    if isinstance(value, (bytearray, memoryview)):
        value = bytes(value)
    if not isinstance(value, (dict, list)):
        hash(value)
        return type(value), value  # True == 1 == 1.0
    try:
        try:
            return dict, _written(value)
        except _TooLongError:  # a schema that shares its parts may be exponentially longer than it is: they are written once
            return dict, pickle.dumps(value, _PROTOCOL)
    except Exception as error:  # whatever objects do that are in no schema
        raise TypeError from error


def _written(value: Any) -> bytes:
    """A value as bytes: equal values are equal bytes, whatever they share. Types are a part of what is written."""
    written = _Written()
    pickler = pickle.Pickler(written, _PROTOCOL)
    pickler.fast = True  # no references
    pickler.dump(value)
    return written.getvalue()


class _TooLongError(Exception):
    """It takes more than `_MOST_WRITTEN` bytes."""


class _Written(io.BytesIO):
    """Where a pickler writes, frame by frame."""

    __slots__ = ()

    def write(self, content: Any) -> int:
        if self.tell() + len(content) > _MOST_WRITTEN:
            raise _TooLongError
        return super().write(content)
