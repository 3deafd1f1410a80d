"""What each token id spells: the only thing that the engine knows of a tokenizer.

Idea. A language model emits ids, a grammar speaks of bytes. A `Vocabulary` is the table between them: `tokens[i]` is the byte string
that id `i` adds to the text. It comes from the tokenizer's own decoder (`grammar_engine.vocabularies` has a loader per family), never
from guessing at how pieces look. Then it is handed to the core, which sorts it into a trie once; every grammar shares that trie.

Invariants. An id either is text or is not: special ids (`<s>`, `[INST]`, ...), end-of-text ids and unused ids have the bytes b"", whatever
was given for them, so no text can ever spell them, and text that *looks like* a special token is made of other ids. All the rest is
legal: several ids with the same bytes, bytes that are no valid UTF-8, tokens of a thousand bytes. A vocabulary never changes and may
be shared by all threads.

A vocabulary made from tokens gets its trie when the first `Matcher` needs it, or at once if slices are listed. One that was loaded from a
file has it, and gets its table of `tokens` when somebody asks. With the trie, or before the first `Matcher`, go the slices
(`vocabularies/slices.py`).

Cost. 131,072 tokens: 5 ms here, and 35 ms for the trie, 30 of them in the core. From a file: 2 ms, and 15 ms for the table. Then 2 ms for
common lexemes, and 3 to 9 ms for each slice.
"""

from __future__ import annotations

import builtins
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import accumulate, pairwise
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .checks import check_count
from .errors import VocabularyError
from .locks import new_lock

if TYPE_CHECKING:
    import os

    from .vocabularies.parts import Parts

MAX_WIDTH = 1 << 30  # ids are int32 in mask buffers and in the core
MAX_TOKEN_BYTES = 65_535  # TT_MAX_BYTES of the core
_ALL_BY_ID: frozenset[str | int] = frozenset([-1])  # in `Vocabulary._named`: all special tokens are spelt by their ids
MAX_SHARED_BYTES = 64 << 20  # unless `max_shared_bytes` is set


class Vocabulary:
    """The bytes of each token of a language model.

    Parameters
    ----------
    tokens : sequence of bytes
        `tokens[i]` is what id `i` spells; b"" for an id that never stands for text.
    eos : sequence of int
        The ids that end texts, unless a `Matcher` is given others. A mask allows them where the text is a sentence of the grammar, and
        nowhere else, unless the grammar names one. May be empty: then the caller decides when to stop (`Matcher.is_complete`).
    special : mapping of int to str, optional
        Ids that are no text (control tokens), with a name for messages. Their bytes are b"", whatever `tokens` says; so are
        those of `eos`.
    width : int, optional
        The width of the logits, where a model pads them beyond its tokenizer; the ids from `len(tokens)` on are never allowed.
        Default: the number of tokens.
    slices : iterable of str, optional
        At most 16 regular expressions (of Python's `re`) for lexemes that your grammars will have. What masks need of them is then computed
        here, with the trie, and not in the first text; so is what masks need of lexemes that contain one. Masks are the same. Strings,
        identifiers and comments as most grammars have them need no place in the list. An empty one: nothing is prepared, those included.

    Raises
    ------
    VocabularyError
        No token spells anything, a token is no `bytes`, an id is out of range, `width` is smaller than the number of tokens, or `tokens` is
        a mapping; the offending id, if there is one, is in `.token_id`. Or a slice is no regular expression, matches no text or only the
        empty one, has no token that begins a text of it, or is too large: the message says which slice, and why.

    Examples
    --------
    >>> vocabulary = Vocabulary([b"<s>", b"a", b"b", b"</s>"], eos=[3], special={0: "<s>", 3: "</s>"}, width=8)
    >>> vocabulary.tokens
    (b'', b'a', b'b', b'')
    >>> vocabulary
    <Vocabulary of 4 tokens, width 8, eos (3,)>
    """

    __slots__ = (
        "__weakref__",
        "_engines",
        "_eos",
        "_fingerprint",
        "_is_prepared",
        "_lock",
        "_max_shared",
        "_named",
        "_native",
        "_size",
        "_slices",
        "_special",
        "_spelling",
        "_table",
        "_width",
    )

    def __init__(
        self,
        tokens: Sequence[builtins.bytes],
        eos: Sequence[int],
        special: Mapping[int, str] | None = None,
        width: int | None = None,
        slices: Iterable[str] | None = None,
    ):
        if special is not None and not isinstance(special, Mapping):
            raise VocabularyError(f"special is a mapping of ids to names, not {type(special).__name__}")
        table = _checked_tokens(tokens)
        size = len(table)
        if not size:
            raise VocabularyError("the vocabulary is empty")
        names = {_checked_id(token, size, "special"): name for token, name in (special or {}).items()}
        ends = _checked_ends(eos, size)
        for token in (*names, *ends):
            table[token] = b""
        if not any(table):
            raise VocabularyError("the vocabulary is empty: no token spells any byte")
        self._table: tuple[builtins.bytes, ...] | None = tuple(table)
        self._fingerprint: str | None = None
        self._native: Any = None
        self._set(size, _checked_width(width, size), ends, names, slices)
        if self._slices:
            self._make_ready()  # a slice that is refused is refused here

    def _set(self, size: int, width: int, eos: tuple[int, ...], special: dict[int, str], slices: Iterable[str] | None) -> None:
        """What each vocabulary has, wherever it comes from; `_table` or `_native` are there too, and a known fingerprint."""
        self._size = size
        self._width = width
        self._eos = eos
        self._special = MappingProxyType(special)
        self._spelling: tuple[dict[builtins.bytes, int], list[list[int]]] | None = None
        self._engines: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by grammar: see Grammar._engine
        self._named: dict[frozenset[str | int], Vocabulary] = {}  # by the special tokens that a grammar names: see `_naming`
        self._max_shared = MAX_SHARED_BYTES
        self._slices = _checked_slices(slices)
        self._is_prepared = False
        self._lock = new_lock()  # held while the trie and the slices are made

    # --- what it holds ----------------------------------------------------------------------------------------------

    @property
    def tokens(self) -> tuple[builtins.bytes, ...]:
        """The bytes of each id; b"" for ids that are no text."""
        if self._table is None:
            from ._native import read_vocab

            content = read_vocab(self._native)
            text, ends = bytes(content.text), content.offsets.tolist()
            self._table = tuple(text[begin:end] for begin, end in pairwise(ends))
        return self._table

    @property
    def eos(self) -> tuple[int, ...]:
        """The ids that end the text, each once, in the order given."""
        return self._eos

    @property
    def special(self) -> Mapping[int, str]:
        """Ids that are no text, with their names (read-only)."""
        return self._special

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self._size

    @property
    def width(self) -> int:
        """Number of bits in a mask; at least `size`."""
        return self._width

    @property
    def slices(self) -> tuple[str, ...] | None:
        """The slices that were listed; None if there was no list."""
        return self._slices

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of all that a mask depends on: tokens, eos and width. Equal in every process and on every machine.

        (Masks of grammars that name special tokens depend on the names of these, too.)
        """
        if self._fingerprint is None:
            import hashlib  # here, as it loads OpenSSL: a fifth of the time that the package takes to import

            digest = hashlib.sha256(b"grammar-engine vocabulary 1\n")
            for numbers in ((self._width,), self._eos, tuple(map(len, self.tokens))):
                digest.update(" ".join(map(str, numbers)).encode() + b"\n")
            digest.update(b"".join(self.tokens))
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<Vocabulary of {self.size:,} tokens, width {self.width:,}, eos {self.eos}>"

    def __eq__(self, other: object) -> bool:
        """Equal tokens, eos and width; the names of special tokens do not count,
        nor do slices. (What is kept by vocabulary asks for names, too.)
        """
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (self._width, self._eos, self.tokens) == (other._width, other._eos, other.tokens)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self.tokens, self._eos, dict(self._special), self._width, self._slices)

    def token_bytes(self, token: int) -> builtins.bytes:
        """What `token` spells; b"" for special, unused and padding ids.

        Parameters
        ----------
        token : int
            An id.

        Returns
        -------
        bytes

        Raises
        ------
        VocabularyError
            `token` is not in 0 .. width - 1.
        """
        token = _checked_id(token, self._width, "token")
        return self.tokens[token] if token < self._size else b""

    def encode_greedy(self, text: builtins.bytes) -> list[int]:
        """Spell `text` with the longest token that fits at each place (the lowest id where several spell the same).

        Not what the model's own tokenizer would choose, but a spelling of exactly these bytes. Meant for tests and tools. The first call
        makes a table, which takes some 50 ms for 131,072 tokens; then it is a few us a byte.

        Parameters
        ----------
        text : bytes-like
            Any bytes.

        Returns
        -------
        list of int
            Ids of tokens that spell something, none for the empty text.

        Raises
        ------
        VocabularyError
            No token fits somewhere; `.missing` is the byte there.
        TypeError
            `text` is no bytes.
        """
        if not isinstance(text, (builtins.bytes, bytearray, memoryview)):
            raise TypeError(f"a text is bytes, not {type(text).__name__}")
        text = builtins.bytes(text)
        if self._spelling is None:
            self._spelling = _spelling_of(self.tokens)
        ids, lengths = self._spelling
        spelled, at = [], 0
        while at < len(text):
            for length in lengths[text[at]]:
                known = ids.get(text[at : at + length])
                if known is not None:
                    spelled.append(known)
                    at += length
                    break
            else:
                missing = text[at : at + 1]
                raise VocabularyError(f"no token begins to spell byte {at} of the text, {missing!r}", missing=missing)
        return spelled

    # --- where it comes from ----------------------------------------------------------------------------------------

    @classmethod
    def from_tokenizers(
        cls, tokenizer: Any, *, eos: Iterable[int | str] | None = None, width: int | None = None, slices: Iterable[str] | None = None
    ) -> Vocabulary:
        """The vocabulary of a Hugging Face `tokenizer.json`.

        Parameters
        ----------
        tokenizer : path or tokenizers.Tokenizer
            A path is read without the `tokenizers` package.
        eos : iterable of int or str, optional
            Ids or names of the tokens that end the text; one may stand alone. Default: for a path, what `generation_config.json`,
            `tokenizer_config.json` or `config.json` beside it says; else all special tokens whose names are customary for this (`</s>`,
            `<|im_end|>`, ...).
        width : int, optional
            Width of the logits; tokens from there on are left out.
        slices : iterable of str, optional
            As for `Vocabulary`.

        Raises
        ------
        VocabularyError
            The decoder does not give each token bytes of its own (WordPiece, CTC, ...), or no token is known to end the text.

        Notes
        -----
        Bytes are what `tokenizer.decode` produces, so they are read off the *decoder* of the file. What it does only at the very start of a
        text (dropping one leading space, in the SentencePiece families) is left out: the space belongs to the token. Normalizers
        (NFKC, lower-casing) act on input text, not on what the model writes, and are irrelevant here.
        """
        from .vocabularies import huggingface

        return cls._from_parts(huggingface.read(tokenizer, eos), width, slices)

    @classmethod
    def from_transformers(
        cls, tokenizer: Any, *, eos: Iterable[int | str] | None = None, width: int | None = None, slices: Iterable[str] | None = None
    ) -> Vocabulary:
        """The vocabulary of a tokenizer of the `transformers` library.

        Parameters
        ----------
        tokenizer : object
            A "fast" tokenizer (it has `backend_tokenizer`), or a "slow" one with a SentencePiece model (`sp_model`) or with a
            byte table (`byte_decoder` and `get_vocab`).
        eos : iterable of int or str, optional
            Default: the tokenizer's `eos_token_id`. Chat models may end a turn by further tokens, which `model.generation_config` names.
        width : int, optional
            Width of the logits, `model.config.vocab_size`; often larger than the tokenizer's. Where it is smaller, the tokens from there on
            are left out: the model has no scores for them. Default: the number of tokens.
        slices : iterable of str, optional
            As for `Vocabulary`.

        Raises
        ------
        VocabularyError
            The bytes of the tokens cannot be known from this object, or `width` leaves out a token that ends the text.
        """
        from .vocabularies import huggingface

        return cls._from_parts(huggingface.read_transformers(tokenizer, eos), width, slices)

    @classmethod
    def from_tiktoken(
        cls, encoding: Any, *, eos: Iterable[int | str] | None = None, width: int | None = None, slices: Iterable[str] | None = None
    ) -> Vocabulary:
        """The vocabulary of a `tiktoken.Encoding`.

        Parameters
        ----------
        encoding : tiktoken.Encoding
            Ids that it leaves out spell nothing.
        eos : iterable of int or str, optional
            Default: all special tokens whose names are customary for this (`<|endoftext|>`, ...).
        width : int, optional
            Width of the logits; tokens from there on are left out.
        slices : iterable of str, optional
            As for `Vocabulary`.

        Raises
        ------
        VocabularyError
            It is no `tiktoken.Encoding`, or no token is known to end the text.
        """
        from .vocabularies import tiktoken_encoding

        return cls._from_parts(tiktoken_encoding.read(encoding, eos), width, slices)

    @classmethod
    def from_sentencepiece(
        cls, processor: Any, *, eos: Iterable[int | str] | None = None, width: int | None = None, slices: Iterable[str] | None = None
    ) -> Vocabulary:
        """The vocabulary of a SentencePiece model.

        Parameters
        ----------
        processor : sentencepiece.SentencePieceProcessor or path
            A path to a `.model` file needs the `sentencepiece` package.
        eos : iterable of int or str, optional
            Default: the model's own end-of-sentence piece.
        width : int, optional
            Width of the logits; tokens from there on are left out.
        slices : iterable of str, optional
            As for `Vocabulary`.

        Raises
        ------
        VocabularyError
            It is no SentencePiece model, no token is known to end the text, or the `sentencepiece` package is missing.
        OSError
            The file cannot be read.

        Notes
        -----
        `▁` is a space in every piece. The decoder of SentencePiece drops the space at the very start of a text; here the
        space belongs to the token, as everywhere else.
        """
        from .vocabularies import sentencepiece_model

        return cls._from_parts(sentencepiece_model.read(processor, eos), width, slices)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        eos: Iterable[int | str] | None = None,
        width: int | None = None,
        slices: Iterable[str] | None = None,
    ) -> Vocabulary:
        """The vocabulary in a file, whose kind is told from its content.

        Parameters
        ----------
        path : path
            A Hugging Face `tokenizer.json`, a Tekken JSON file, a SentencePiece `.model`, or a JSON object with "tokens" (base64), "eos"
            and "specials" (name to id); each may be compressed with gzip.
        eos, width, slices
            As for the other constructors.

        Raises
        ------
        VocabularyError
            The file is of no such kind, or malformed.
        OSError
            It cannot be read.
        """
        from .vocabularies import files

        return cls._from_parts(files.read(path, eos), width, slices)

    @classmethod
    def bytes(cls, *, slices: Iterable[str] | None = None) -> Vocabulary:
        """The 256 single bytes (id = byte) and an end-of-text token, 256.

        Parameters
        ----------
        slices : iterable of str, optional
            As of the constructor.
        """
        return cls([builtins.bytes((byte,)) for byte in range(256)] + [b""], eos=[256], special={256: "<eos>"}, slices=slices)

    @classmethod
    def builtin(cls, *, slices: Iterable[str] | None = None) -> Vocabulary:
        """A small byte-level BPE that ships with the package: 6,144 ids,
        of which 256 are the single bytes and the last one is the end of text.

        Learnt from English prose, JSON and program text that were written for this purpose (`tools/train_builtin.py`). For tests, the
        command line, and trying things out without a model.

        Parameters
        ----------
        slices : iterable of str, optional
            As of the constructor.
        """
        from .vocabularies import builtin

        return cls._from_parts(builtin.read(), None, slices)

    @classmethod
    def _from_parts(cls, parts: Parts, width: int | None, slices: Iterable[str] | None) -> Vocabulary:
        number = None if width is None else _int_of(width)
        if number is not None and 0 < number < len(parts.tokens):
            parts = parts.below(number)
        return cls(parts.tokens, parts.eos, parts.special, width, slices)

    # --- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this vocabulary to a file, with all that the core has made of it, for `load`.

        Parameters
        ----------
        path : path
            A file of this name is replaced, in one step: who loads at that moment gets the old one or the new one, whole. Vocabularies
            that were loaded from the old one are not disturbed.

        Raises
        ------
        OSError
            It cannot be written.

        Notes
        -----
        The file is 11.4 MB for 131,072 tokens. It holds numbers as this machine writes them, and its format belongs to this version: keep
        it as a cache beside the tokenizer, not in its place.
        """
        from .vocabularies import saved

        saved.write(path, self._handle, self._special, self.fingerprint, self._slices)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """The vocabulary in a file that `save` has written, ready for use.

        The file is mapped into memory. What many processes load is there once.

        Parameters
        ----------
        path : path
            It may be replaced or removed afterwards, but not be written into or cut: the vocabulary would change, or the process end.

        Raises
        ------
        VocabularyError
            The file was not written by `save`, by another version, or on a machine of the other byte order; or it is not whole (a
            checksum over all of it is verified). The message says which.
        OSError
            It cannot be read.

        Notes
        -----
        131,072 tokens: 2 ms. `tokens`, `token_bytes` and what explains refusals need a table that takes another 15 ms, once, when it is
        first asked for. The checksum finds damage, not malice: load files only from those whose programs you would run.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Vocabulary.bytes().save(pathlib.Path(folder, "bytes.vocabulary"))
        ...     Vocabulary.load(pathlib.Path(folder, "bytes.vocabulary")) == Vocabulary.bytes()
        True
        """
        from .vocabularies import saved

        vocabulary = cls.__new__(cls)
        vocabulary._native, content, special, vocabulary._fingerprint, slices = saved.read(path)
        vocabulary._table = None
        vocabulary._set(len(content.offsets) - 1, content.width, content.eos, special, slices)
        return vocabulary

    # --- the core ---------------------------------------------------------------------------------------------------

    @property
    def max_shared_bytes(self) -> int:
        """How many bytes may be kept of what all grammars over this vocabulary share: the parts of masks that lie within lexemes.

        64 MiB, unless you set it. What was not used for the longest time goes first, and what is being used never does, so masks do not
        depend on it; with 0 nothing is kept. It may be set at any time, from any thread, and is neither saved nor pickled.

        Raises
        ------
        TypeError, ValueError
            What it is set to is no integer, or a negative one.
        """
        return self._max_shared

    @max_shared_bytes.setter
    def max_shared_bytes(self, size: int) -> None:
        self._max_shared = size = check_count("max_shared_bytes", size, least=0)
        with self._lock:
            others = list(self._named.values())
        for other in others:
            other.max_shared_bytes = size
        if self._native is not None:
            self._bound()

    def _bound(self) -> None:
        from ._native import lib

        lib.ge_vocab_bound(self._native, min(self._max_shared, sys.maxsize))

    @property
    def _handle(self) -> Any:
        """The core's trie of this vocabulary with its slices, made when it is first asked for."""
        self._make_ready()
        return self._native

    def _make_ready(self) -> None:
        if not self._is_prepared:
            with self._lock:
                if not self._is_prepared:
                    self._prepare()

    def _prepare(self) -> None:
        from .vocabularies.slices import prepare

        native = self._build() if self._native is None else self._native
        if self._slices != ():
            prepare(native, self._width, self._slices or ())
        self._native = native
        self._bound()
        self._is_prepared = True

    def _naming(self, keys: frozenset[str | int]) -> Vocabulary:
        """For a grammar that names special tokens: this vocabulary with
        spellings for these. Its tokens end no text: a matcher tells which do.
        """
        known = self._named.get(keys)
        if known is not None:
            return known
        from .vocabularies.named import check_named, spelled

        check_named(self, keys)
        ids = frozenset(key for key in keys if isinstance(key, int))
        kind: frozenset[str | int] = (
            frozenset() if not ids else keys if len(ids) < len(keys) else _ALL_BY_ID
        )  # of most vocabularies there are two
        with self._lock:
            if kind not in self._named:
                other = Vocabulary(spelled(self, None if kind is _ALL_BY_ID else ids), (), None, self._width, self._slices)
                other._max_shared = self._max_shared
                self._named[kind] = other
            return self._named.setdefault(keys, self._named[kind])

    def _ends(self, eos: Iterable[int]) -> tuple[int, ...]:
        """Other ids that end texts, each once, in the order given. None is text: a loop that stops at it would cut texts that have it."""
        ends = _checked_ends(eos, self._size)
        for token in ends:
            if self.token_bytes(token):
                spelling = self.token_bytes(token)
                raise VocabularyError(
                    f"token {token} spells {spelling!r:.60}; only a token without text can end texts; list it in Vocabulary(eos=...)",
                    token_id=token,
                )
        return ends

    def _build(self) -> Any:
        from ._native import new_vocab

        offsets = array("I", accumulate(map(len, self.tokens), initial=0))
        return new_vocab(b"".join(self.tokens), offsets, self._width, self._eos)


def _spelling_of(tokens: Iterable[bytes]) -> tuple[dict[bytes, int], list[list[int]]]:
    """The lowest id of each spelling, and by first byte the lengths that there are, the longest first."""
    ids: dict[bytes, int] = {}
    lengths: list[set[int]] = [set() for _ in range(256)]
    for token, spelling in enumerate(tokens):
        if spelling and ids.setdefault(spelling, token) == token:
            lengths[spelling[0]].add(len(spelling))
    return ids, [sorted(those, reverse=True) for those in lengths]


def _checked_slices(slices: Iterable[str] | None) -> tuple[str, ...] | None:
    if slices is None:
        return None
    from .vocabularies.slices import checked

    return checked(slices)


def _checked_tokens(tokens: Iterable[bytes]) -> list[bytes]:
    if isinstance(tokens, (bytes, bytearray, str)):
        raise VocabularyError(f"tokens is a sequence of byte strings, not one {type(tokens).__name__}")
    if isinstance(tokens, (Mapping, Set)):  # whose order is not that of the ids
        raise VocabularyError(f"tokens is a sequence of byte strings, the one of id i at place i, not a {type(tokens).__name__}")
    if not isinstance(tokens, Iterable):
        raise VocabularyError(f"tokens is a sequence of byte strings, not {type(tokens).__name__}")
    table = list(tokens)
    if set(map(type, table)) - {bytes}:
        for token, spelling in enumerate(table):
            if not isinstance(spelling, bytes):
                raise VocabularyError(f"token {token} is {type(spelling).__name__}, not bytes: {spelling!r:.60}", token_id=token)
        table = list(map(bytes, table))  # subclasses of bytes
    if table and max(map(len, table)) > MAX_TOKEN_BYTES:
        token = next(token for token, spelling in enumerate(table) if len(spelling) > MAX_TOKEN_BYTES)
        raise VocabularyError(f"token {token} has {len(table[token]):,} bytes, more than {MAX_TOKEN_BYTES:,}", token_id=token)
    return table


def _checked_ends(eos: Iterable[int], size: int) -> tuple[int, ...]:
    """The ids that end a text, of a vocabulary of so many tokens: each once, in the order given."""
    if isinstance(eos, (str, bytes)) or not isinstance(eos, Iterable):
        example = f", such as [{eos!r}]" if isinstance(eos, int) else ""
        raise VocabularyError(f"eos is a sequence of ids{example}, not {type(eos).__name__}")
    return tuple(dict.fromkeys(_checked_id(token, size, "eos") for token in eos))


def _checked_id(token: Any, end: int, what: str) -> int:
    number = _int_of(token)
    if number is None:
        raise VocabularyError(f"{what} id {token!r} is {type(token).__name__}, not int")
    if not 0 <= number < end:
        raise VocabularyError(f"{what} id {number} is not in 0 .. {end - 1}", token_id=number)
    return number


def _checked_width(width: int | None, size: int) -> int:
    if width is None:
        return size
    number = _int_of(width)
    if number is None:
        raise VocabularyError(f"width is an int, not {type(width).__name__}")
    if number < size:
        raise VocabularyError(f"width {number} is smaller than the number of tokens, {size}: token {number} has no place", token_id=number)
    if number > MAX_WIDTH:
        raise VocabularyError(f"width {number} is larger than {MAX_WIDTH}")
    return number


def _int_of(value: Any) -> int | None:
    """An int from any integer type; None from what is none."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None
