"""Matchers: one text that is being written under a grammar, token by token.

A `Matcher` is a list of configuration ids in the core and nothing else, so making, forking and rolling back are cheap. It belongs to one
thread at a time; matchers over the same grammar share their automata from any number of threads.

Invariant: a token is in the mask if and only if `accept` takes it. After an end-of-text token only end-of-text tokens are accepted, so this
holds for a finished text as well.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, SupportsIndex

from ._native import Held, check, error_of, fast_matcher, ffi, lib, locate
from .automata.dfa import TokenDFA
from .checks import as_int, check_count, check_iterable
from .engine import Switches
from .errors import LimitExceededError, MatcherFinishedError, TokenRejectedError
from .explanation import Explanation
from .grammar import Grammar
from .mask import MaskBuffer, check_row, rows_of, words_of
from .tags import whole_spellings
from .vocabulary import Vocabulary

_ALL = lib.GE_MASK_ALL
_ID_END = 1 << 62  # beyond all ids
# Looked up once: these are called for each token, or for each matcher.
_accept_token, _fill_mask, _free_at = lib.ge_matcher_accept_token, lib.ge_matcher_fill_mask, lib.ge_matcher_free_at
_new, _gc = ffi.new, ffi.gc
_OUT, _ERR, _SIZE = ffi.typeof("ge_matcher **"), ffi.typeof("ge_err *"), ffi.typeof("size_t *")
_MOST = 65_536  # tokens that `closing_within` looks for
_ALL_ON = Switches()
_CEILINGS = {"max_expressions", "max_lexer_states", "max_rules", "max_rows", "max_configurations", "max_memory_bytes"}  # of a generation


@fast_matcher
class Matcher(Held):
    """A text under a grammar.

    Parameters
    ----------
    grammar : Grammar or TokenDFA
        A token automaton gives its masks to the grammar that it was made from.
    vocabulary : Vocabulary, optional
        That of a token automaton is known.
    eos : sequence of int, optional
        The tokens that end this text, whatever ends others over the vocabulary: ids that are no text. Default: `vocabulary.eos`. They are
        allowed where the text is a sentence, and end it there. Elsewhere one that the grammar names is what it names. With [] none ends the
        text.
    switches : Switches, optional
        Caches and fast paths to switch off; for tests.

    Notes
    -----
    A matcher belongs to one thread at a time: a call during another one raises RuntimeError, and changes nothing. Costs: one to five
    microseconds to make, 16 bytes per step of history.

    Raises
    ------
    TypeError
        Something is no Grammar, no Vocabulary, or no Switches.
    VocabularyError
        One of `eos` is no id of the vocabulary, or is text; or the grammar names a special token that the vocabulary does not have.
    LimitExceededError

    Examples
    --------
    >>> matcher = Matcher(Grammar.from_regex("a+b"), Vocabulary.bytes())
    >>> matcher.accept(ord("a")), matcher.accept(ord("c"))
    (True, False)
    >>> matcher.allowed_tokens()
    [97, 98]
    >>> turns = Vocabulary([b"a", b"b", b"", b""], eos=[2], special={2: "</s>", 3: "<end of turn>"})
    >>> Matcher(Grammar.from_regex("[ab]*"), turns, eos=[3]).allowed_tokens()
    [0, 1, 3]
    >>> print(matcher.explain(ord("c")))
    byte 0 (b'c') is refused, expected regex (next b'a'-b'b')
    """

    __slots__ = ("_ends", "_engine", "_err", "_n_done", "_words", "grammar", "vocabulary")

    def __init__(
        self,
        grammar: Grammar | TokenDFA,
        vocabulary: Vocabulary | None = None,
        *,
        eos: Sequence[int] | None = None,
        switches: Switches = _ALL_ON,
    ):
        table = None
        if not isinstance(grammar, Grammar) and isinstance(grammar, TokenDFA):
            table = grammar
            grammar, vocabulary = table._grammar_for(vocabulary)
        if not isinstance(grammar, Grammar) or not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"a Matcher is made of a Grammar and a Vocabulary, not of {type(grammar).__name__} and {type(vocabulary).__name__}"
            )
        ends = vocabulary._eos if eos is None else vocabulary._ends(eos)
        engine, words = grammar._engine(vocabulary, switches), words_of(vocabulary)
        if table is not None:
            lib.ge_engine_use(engine.handle, table._handle)
        err, out = _new(_ERR), _gc(_new(_OUT), _free_at)  # so owned before the call: see `place_for`
        check(lib.ge_matcher_new(engine.handle, out, err), err)
        self._hold(out[0], words, 0, out)
        self.grammar, self.vocabulary, self._engine, self._ends = grammar, vocabulary, engine, ends
        self._words, self._n_done, self._err = words, _new(_SIZE), err
        if eos is not None or grammar._named:  # the core's vocabulary has others, or none
            check(lib.ge_matcher_end_with(self._handle, ends, len(ends), err), err)

    @property
    def eos(self) -> tuple[int, ...]:
        """The tokens that end the text, each once, in the order given. The first one ends what `closing_tokens` closes."""
        return self._ends

    def _retry_or_raise(self, status: int, function: Any, *arguments: Any) -> int:
        """After a call has failed: make it again in a fresh generation of states and return what it returns there, or raise its error.

        The ceilings on states count what all matchers over an engine have made, so a text must not fail for what others have used up,
        neither in its own generation nor in the one that they use by now. The error is that of an engine which nobody else has.
        """
        error: Exception | None = self._error(status)
        for is_shared in True, False:
            if not isinstance(error, LimitExceededError) or error.limit not in _CEILINGS:
                break
            engine = self.grammar._fresh_engine(self.vocabulary, self._engine, is_shared)
            if engine is None:
                continue
            result: int = lib.ge_matcher_move(self._handle, engine.handle, self._err)
            if not result:
                self._engine = engine
                result = function(self._handle, *arguments)
            error = self._error(result) if result < 0 else None
            if not is_shared:
                self.grammar._offer(self.vocabulary, engine)
        if error is not None:
            try:
                raise error
            finally:
                del error  # else it would refer to itself by way of this frame
        return result

    def _error(self, status: int) -> Exception:
        """What a status stands for; of a limit with the place of the lexeme that was worked on."""
        error = error_of(status, self._err)
        locate(error, self._err.symbol, self.grammar._lexemes, self.grammar._nonterminals, self.grammar._origins)
        return error

    # --- masks ------------------------------------------------------------------------------------------------------

    def fill_mask(self, buffer: Any, row: int = 0) -> bool:
        """Write the mask of the tokens that may come next.

        Parameters
        ----------
        buffer : MaskBuffer, numpy array, torch CPU tensor, array, bytearray or memoryview
            32-bit integers, shape (rows, ceil(width / 32)) or (ceil(width / 32),); or bytes. Bit t % 32 of word t // 32 of the row is
            set if token t is allowed, and cleared otherwise. A MaskBuffer or an array of numpy costs least.
        row : int
            Which row to write.

        Returns
        -------
        bool
            False if every id of the logits is allowed, so that the mask need not be applied.

        Raises
        ------
        VocabularyError
            The grammar goes on, but no token of the vocabulary can: `.missing` tells the bytes that it asks for.
        LimitExceededError
        TypeError, ValueError, IndexError
            The buffer does not fit.
        """
        n_words = self._words
        if type(buffer) is MaskBuffer and buffer._fixed_words == n_words:
            words, rows = buffer._handle, buffer._rows
        else:
            words, rows = rows_of(buffer, n_words)
        if type(row) is not int or not 0 <= row < rows:
            row = check_row(row, rows)
        flags = _fill_mask(self._handle, words, row, n_words, self._err)
        if flags < 0:
            flags = self._retry_or_raise(flags, _fill_mask, words, row, n_words, self._err)
        return not flags & _ALL

    def fill_draft_masks(self, tokens: Iterable[SupportsIndex], buffer: Any, row: int = 0) -> int:
        """Write the masks of all places of a draft: of what may come next, and after each of its tokens. The text stays as it is.

        Parameters
        ----------
        tokens : iterable of int
            The draft. What comes behind a token that may not come is not looked at, so a draft may be padded with -1.
        buffer : as for `fill_mask`
            With `len(tokens)` + 1 rows from `row` on.
        row : int
            The row of the first mask.

        Returns
        -------
        int
            How many of the tokens, in order, may come. One mask more is written; other rows stay as they are.

        Raises
        ------
        VocabularyError, LimitExceededError, TypeError, ValueError, IndexError
            As from `fill_mask` and `accept`; some masks may have been written.

        Examples
        --------
        >>> from grammar_engine import Grammar, Vocabulary, allocate_masks
        >>> vocabulary = Vocabulary.bytes()
        >>> matcher = Matcher(Grammar.from_regex("[a-f]+1"), vocabulary)
        >>> matcher.fill_draft_masks([97, 98, 33], allocate_masks(4, vocabulary)), matcher.tokens
        (2, [])
        """
        _refuse_text(tokens)
        draft = list(tokens)
        _, rows = rows_of(buffer, self._words)
        first = check_row(row, rows)
        check_row(first + len(draft), rows)
        accepted: list[SupportsIndex] = []
        try:
            self._write_draft(draft, buffer, first, accepted)
        finally:
            self.rollback(len(accepted))
        return len(accepted)

    def _write_draft(self, draft: list[SupportsIndex], buffer: Any, row: int, accepted: list[SupportsIndex]) -> None:
        self.fill_mask(buffer, row)
        for token in draft:
            if not self.accept(token):
                return
            accepted.append(token)
            self.fill_mask(buffer, row + len(accepted))

    @property
    def mask_changed(self) -> bool:
        """Whether the last mask differs from the one before it: if not, what was made of that one (a copy on a GPU) can be used again.

        False only if this matcher had already written the same mask to the same place: the same row of the same buffer. True may be wrong:
        it is what is said of equal masks of which one was not kept.
        """
        return not self._flags() & lib.GE_SAME

    def mask(self) -> bytes:
        """The mask as 4 * ceil(width / 32) bytes, 32-bit words in the byte order of the machine. Raises what `fill_mask` does."""
        buffer = bytearray(4 * self._words)
        self.fill_mask(buffer)
        return bytes(buffer)

    def allowed_tokens(self) -> list[int]:
        """The ids of the tokens that may come next, ascending. For tests and tools: it takes time in proportion to the vocabulary."""
        words = array("I", self.mask())
        return [32 * i + bit for i, word in enumerate(words) if word for bit in range(32) if word >> bit & 1]

    # --- writing ----------------------------------------------------------------------------------------------------

    def accept(self, token: SupportsIndex, *, strict: bool = False) -> bool:
        """Append a token.

        Parameters
        ----------
        token : int
        strict : bool
            Raise instead of returning False.

        Returns
        -------
        bool
            False: it may not come next (or is no id of the vocabulary), and nothing has changed.

        Raises
        ------
        TokenRejectedError, MatcherFinishedError
            With `strict`: the token is refused; the text has ended.
        TypeError
            `token` is no integer.
        LimitExceededError
            Nothing has changed.
        """
        if type(token) is not int:
            token = as_int("a token", token)
        try:
            result = _accept_token(self._handle, token, self._err)
            if result < 0:
                result = self._retry_or_raise(result, _accept_token, token, self._err)
        except OverflowError:
            result = 0  # no id of any vocabulary
        if result:
            return True
        if strict:
            if self.is_terminated:
                raise MatcherFinishedError(f"the text has ended: token {token} cannot be added")
            spelling = self.vocabulary.token_bytes(token) if 0 <= token < self.vocabulary.size else b""
            raise TokenRejectedError(token, spelling, self.explain(token))
        return False

    def accept_tokens(self, tokens: Iterable[SupportsIndex]) -> int:
        """Append tokens until one is refused.

        Parameters
        ----------
        tokens : iterable of int

        Returns
        -------
        int
            How many were accepted; one step each for `rollback`.

        Raises
        ------
        TypeError
            One of them is no integer, or they are bytes, which are a text for `accept_bytes`; nothing has changed.
        LimitExceededError
            What was accepted before it stays.
        """
        return self._run(tokens, commit=True)

    def validate(self, tokens: Iterable[SupportsIndex]) -> int:
        """Ask what `accept_tokens` would return. Changes nothing.

        Parameters
        ----------
        tokens : iterable of int

        Returns
        -------
        int
            How many of the tokens, in order, it would accept.

        Raises
        ------
        TypeError
            One of them is no integer, or they are bytes.
        LimitExceededError
        """
        return self._run(tokens, commit=False)

    def _run(self, tokens: Iterable[SupportsIndex], commit: bool) -> int:
        _refuse_text(tokens)
        ids = ids_of(tokens)
        status = lib.ge_matcher_accept(self._handle, ids, len(ids), commit, self._n_done, self._err)
        done: int = self._n_done[0]
        if status:
            rest = ids[done : done + 1] if commit else ids  # what was accepted before the failure stays
            self._retry_or_raise(status, lib.ge_matcher_accept, rest, len(rest), commit, self._n_done, self._err)
            again = self._n_done[0]
            done = done + again if commit else again
            while commit and again and done < len(ids) and self.accept(ids[done]):
                done += 1
        return done

    def accept_bytes(self, text: bytes) -> bool:
        """Append a text that comes from elsewhere than the model: all of it, or nothing. One step for `rollback`.

        Parameters
        ----------
        text : bytes, bytearray or memoryview

        Returns
        -------
        bool
            False: some byte of it may not come, or it has a part of the spelling of a special token (`Token`), and nothing has changed.

        Raises
        ------
        TypeError
            It is no bytes.
        LimitExceededError
            Nothing has changed.
        """
        if type(text) is not bytes:
            text = _as_text(text)
        if self.grammar._named and whole_spellings(text) < len(text):
            return False
        status = lib.ge_matcher_accept_bytes(self._handle, text, len(text), True, self._n_done, self._err)
        if status:
            self._retry_or_raise(status, lib.ge_matcher_accept_bytes, text, len(text), True, self._n_done, self._err)
        return bool(self._n_done[0] == len(text))

    def rollback(self, n: SupportsIndex) -> None:
        """Take back the last steps, the end of the text included. Costs the same for any number.

        Parameters
        ----------
        n : int
            How many: tokens, or calls of `accept_bytes`.

        Raises
        ------
        TypeError
            `n` is no integer.
        ValueError
            There are fewer, or `n` is negative; nothing has changed.
        """
        n = check_count("n", n, least=0)
        length = lib.ge_matcher_length(self._handle)
        if n > length:
            raise ValueError(f"rollback of {n} steps: the text has {length}")
        check(lib.ge_matcher_rollback(self._handle, n, self._err), self._err)

    def fork(self) -> Matcher:
        """An independent copy. Costs a copy of the history."""
        out = _gc(_new(_OUT), _free_at)
        check(lib.ge_matcher_fork(self._handle, out, self._err), self._err)
        twin = object.__new__(Matcher)
        twin._hold(out[0], self._words, 0, out)
        twin.grammar, twin.vocabulary, twin._engine, twin._ends = self.grammar, self.vocabulary, self._engine, self._ends
        twin._words, twin._n_done, twin._err = self._words, _new(_SIZE), _new(_ERR)
        return twin

    def __copy__(self) -> Matcher:
        return self.fork()

    def __deepcopy__(self, memo: object) -> Matcher:
        return self.fork()

    def __reduce__(self) -> Any:
        raise TypeError("a Matcher cannot be pickled: send `tokens`, and accept them in a new Matcher")

    def reset(self) -> None:
        """Back to the empty text."""
        check(lib.ge_matcher_reset(self._handle, self._err), self._err)

    @property
    def tokens(self) -> list[int]:
        """The tokens accepted so far, those that end the text included; -1 stands for one `accept_bytes`."""
        length = lib.ge_matcher_length(self._handle)
        out = ffi.new("int64_t[]", length)
        n_out = ffi.new("size_t *")
        check(lib.ge_matcher_history(self._handle, out, length, n_out, self._err), self._err)
        return list(out[0 : n_out[0]])

    # --- questions --------------------------------------------------------------------------------------------------

    @property
    def is_complete(self) -> bool:
        """The text so far is a sentence: end-of-text tokens are allowed."""
        return bool(self._flags() & lib.GE_COMPLETE)

    @property
    def is_terminated(self) -> bool:
        """An end-of-text token was accepted."""
        return bool(self._flags() & lib.GE_ENDED)

    def _flags(self) -> int:
        flags: int = lib.ge_matcher_flags(self._handle, self._err)
        if flags < 0:
            check(flags, self._err)
        return flags

    def forced_bytes(self) -> bytes:
        """The bytes that must come next, whatever the model prefers:
        b"" where there is a choice, or where the text may end. At most 65,536.

        Raises
        ------
        LimitExceededError
        """
        capacity = 65536
        out = ffi.new("uint8_t[]", capacity)
        status = lib.ge_matcher_forced_bytes(self._handle, out, capacity, self._n_done, self._err)
        if status:
            self._retry_or_raise(status, lib.ge_matcher_forced_bytes, out, capacity, self._n_done, self._err)
        text = bytes(ffi.buffer(out, self._n_done[0]))
        return text[: whole_spellings(text)] if self.grammar._named else text

    def forced_tokens(self) -> list[int]:
        """Tokens that spell `forced_bytes`, longest match first, as a server can append them without asking the model.

        A last token that could be part of a longer one, were more text known, is held back; so the text never differs, but its
        tokens may from those that the model's own tokenizer would choose. Where the vocabulary lacks bytes and no token spells what
        comes behind the longest one, a shorter one is taken.

        Raises
        ------
        LimitExceededError
        """
        text = self.forced_bytes()
        if not text:
            return []
        out = ffi.new("uint32_t[]", len(text))
        return list(out[0 : lib.ge_vocab_encode(self._engine.vocabulary, text, len(text), out)])

    def closing_bytes(self) -> bytes:
        """The shortest text that makes the text a sentence, b"" if it is one; of several, the first in the order of bytes.

        What is left of it after some of its bytes have been accepted is the closing from there. Where arrays or objects are compared
        (`uniqueItems`), and several more must follow, a longer text may stand for the shortest.

        Raises
        ------
        LimitExceededError
            It is longer than `max_step_work`, or took more work; with lexing="longest", perhaps no sentence goes on from here.
        """
        return bytes(self._closing(lib.ge_matcher_closing, "uint8_t[]"))

    def closing_tokens(self) -> list[int]:
        """The fewest tokens that spell `closing_bytes`, and the first one of `eos` if there is any; [] after the end.

        Where no tokens spell that text, the vocabulary lacking its bytes, the next one is taken that some do spell. When the first of the
        tokens has been accepted, the others are left: so a text is closed within n tokens if this is called while they are not more.

        Raises
        ------
        VocabularyError
            Tokens spell no text that closes this one, or none that is at most 64 bytes longer than it would have to be.
        LimitExceededError
            As for `closing_bytes`.
        """
        return self._closing(lib.ge_matcher_closing_tokens, "uint32_t[]")

    def closing_within(self, most: int) -> list[int] | None:
        """At most so many tokens, of any text, that make the text a sentence, an end-of-text token included if there is any.

        `closing_tokens` spells the shortest text; where that takes no more, it or another one is found at once. A longer text may take
        fewer tokens, and to find it takes a search: milliseconds; where it is given up at a limit, mostly some ten seconds, at worst 45 and
        2 GB (docs/decoding.md, *The budget*).

        Parameters
        ----------
        most : int
            More than 65,536 are not looked for.

        Returns
        -------
        list of int, or None
            Not always the fewest; [] after the end. None: there are none of so few, or of no more than 65,536.

        Raises
        ------
        LimitExceededError
            The search has reached `max_step_work` or another limit before it came to an end.
        """
        most = min(check_count("most", most, least=0), _MOST)
        out = ffi.new("uint32_t[]", most)
        status = lib.ge_matcher_closing_within(self._handle, most, out, self._n_done, self._err)
        if status:
            self._retry_or_raise(status, lib.ge_matcher_closing_within, most, out, self._n_done, self._err)
        return list(out[0 : self._n_done[0]]) if self._n_done[0] <= most else None

    def _closing(self, function: Any, kind: str) -> list[int]:
        capacity = 256
        while True:
            out = ffi.new(kind, capacity)
            status = function(self._handle, out, capacity, self._n_done, self._err)
            if status:
                self._retry_or_raise(status, function, out, capacity, self._n_done, self._err)
            if self._n_done[0] <= capacity:
                return list(out[0 : self._n_done[0]])
            capacity = self._n_done[0]

    def explain(self, token_or_bytes: SupportsIndex | bytes) -> Explanation:
        """Say which byte of a token or text is refused, and what was expected there. Changes nothing.

        For messages, not for loops: some 20 us.

        Parameters
        ----------
        token_or_bytes : int or bytes
            A token, or a text that would come next.

        Returns
        -------
        Explanation

        Raises
        ------
        TypeError
            It is neither an integer nor bytes.
        LimitExceededError
        """
        is_text = isinstance(token_or_bytes, (bytes, bytearray, memoryview))
        if is_text:
            text = _as_text(token_or_bytes)
        else:
            if isinstance(token_or_bytes, str):
                raise TypeError("a token is an int, and a text is bytes, not str")
            token = as_int("a token", token_or_bytes)
            text = self.vocabulary.token_bytes(token) if 0 <= token < self.vocabulary.size else b""
            if self.validate([token]):
                return Explanation(True, len(text), None)
            if not text:
                found = Explanation(False, 0, None) if self.is_terminated else self._explain_at(b"", 0)
                return replace(found, reason=self._refusal(token, found))
        if self.is_terminated:
            return Explanation(is_text and not text, 0, text[0] if text else None)
        status = lib.ge_matcher_accept_bytes(self._handle, text, len(text), False, self._n_done, self._err)
        if status:
            self._retry_or_raise(status, lib.ge_matcher_accept_bytes, text, len(text), False, self._n_done, self._err)
        position: int = self._n_done[0]
        if position == len(text) and is_text:
            return Explanation(True, position, None)
        return self._explain_at(text, position)

    def _refusal(self, token: int, found: Explanation) -> str:
        """Why a token that is no text is refused."""
        if not 0 <= token < self.vocabulary.size:
            return f"there is no token {token}: ids are 0 to {self.vocabulary.size - 1}"
        if token in self._ends:
            return f"token {token} ends the text, and the text is no sentence yet" + (f": {found._asked()}" if found.expected else "")
        name = self.vocabulary.special.get(token)
        if name is not None:
            return f"special token {name!r} is not named here by the grammar: {found._asked()}"
        return f"token {token} spells nothing: {found._asked()}"

    def _explain_at(self, text: bytes, position: int) -> Explanation:
        live, n_lexemes, n_nonterminals = ffi.new("uint32_t[8]"), ffi.new("size_t *"), ffi.new("size_t *")
        capacity, needed = 0, 64
        while capacity < needed:
            capacity = needed
            lexemes, nonterminals = ffi.new("uint32_t[]", capacity), ffi.new("uint32_t[]", capacity)
            arguments = (text, position, live, lexemes, n_lexemes, nonterminals, n_nonterminals, capacity, self._err)
            status = lib.ge_matcher_expected(self._handle, *arguments)
            if status:
                self._retry_or_raise(status, lib.ge_matcher_expected, *arguments)
            needed = max(n_lexemes[0], n_nonterminals[0])
        known = [self.grammar._lexemes[i] for i in sorted(lexemes[0 : n_lexemes[0]])]
        rules = [self.grammar._nonterminals[i] for i in sorted(nonterminals[0 : n_nonterminals[0]])]
        names = sorted({info.name for info in known}, key=lambda name: (len(name), name))
        return Explanation(
            accepted=False,
            position=position,
            byte=text[position] if position < len(text) else None,
            expected=tuple(names),
            expected_bytes=bytes(byte for byte in range(256) if live[byte >> 5] >> (byte & 31) & 1),
            rules=tuple(dict.fromkeys(info.name for info in rules)),
            where=tuple(dict.fromkeys(info.where for info in (*known, *rules) if info.where is not None)),
        )

    def __repr__(self) -> str:
        state = "ended" if self.is_terminated else "complete" if self.is_complete else "open"
        return f"<Matcher after {lib.ge_matcher_length(self._handle)} steps, {state}>"


def _as_text(text: Any) -> bytes:
    """Bytes, whatever holds them."""
    if not isinstance(text, (bytes, bytearray, memoryview)):
        raise TypeError(f"a text is bytes, not {type(text).__name__}")
    return bytes(text)


def _refuse_text(tokens: object) -> None:
    """Bytes are a sequence of ints, but hardly of ids."""
    if isinstance(tokens, (bytes, bytearray)):
        raise TypeError(f"tokens are ids, not {type(tokens).__name__}: a text is for `accept_bytes`")
    check_iterable("tokens", tokens, "ids")


def ids_of(tokens: Iterable[Any]) -> list[int]:
    """Ints from any integers; -1, which is no id, for those that are far too large to be one."""
    ids = [token if type(token) is int else as_int("a token", token) for token in tokens]
    return [token if -1 < token < _ID_END else -1 for token in ids]
