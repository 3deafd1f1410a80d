"""Token automata made ahead of time: every mask and every transition of a regular grammar, in one table.

Idea. A regex, an enum, a flat schema has finitely many states. All of them are computed at once, together with their masks: a deterministic
automaton over *tokens*. Serving is then a copy and a search in a short list, without a lock and without growth, and the table is a file
that is mapped into memory. The work is done by the core (`csrc/dfa`); its masks are those of a `Matcher`, bit for bit.

Invariant: equal grammars and equal vocabularies give equal tables, byte for byte, however many threads have made them. Only
`coalesce_literals` makes a table that is not exact, and it says so wherever it is shown.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from .._native import check, error_of, fewest_tokens, ffi, handle_of, lib, locate, new_err, place_for
from ..checks import as_int, check_bool, check_count
from ..errors import LimitExceededError, TokenDFAError, VocabularyError
from ..grammar import Grammar
from ..ir import Builder
from ..limits import Limits
from ..mask import words_of
from ..saving import open_file, replace_file
from ..vocabulary import Vocabulary

Spell = Callable[[bytes], Sequence[int]]

MAX_STATES = 65_536
_MAX_THREADS = 64


@dataclass(frozen=True)
class TokenDFAStats:
    """Sizes of a token automaton. None depends on the machine, nor on the number of threads.

    Attributes
    ----------
    states, classes, transitions : int
        States; classes of tokens that do the same from each state; transitions by class.
    masks, listed_masks : int
        Distinct masks; those among them that are kept as lists of tokens.
    byte_states, byte_classes : int
        Of the minimal automaton over bytes.
    memory_bytes : int
        Bytes of all tables.
    exact : bool
        False: literals have one spelling only (`coalesce_literals`), so tokens that could spell them otherwise are missing in the masks.
    """

    states: int
    classes: int
    transitions: int
    masks: int
    listed_masks: int
    byte_states: int
    byte_classes: int
    memory_bytes: int
    exact: bool


class TokenDFA:
    """All states of a regular grammar over one vocabulary. Made by `from_regex`, `from_grammar` or `load`.

    Immutable; any number of threads, `Guide` and `Matcher` objects may share it.

    Attributes
    ----------
    vocabulary : Vocabulary
        The one that its masks are for.
    stats : TokenDFAStats
        Sizes of its tables.

    Examples
    --------
    >>> dfa = TokenDFA.from_regex("[0-9]{3}-[0-9]{4}", Vocabulary.bytes())
    >>> dfa
    <TokenDFA of 9 states, 2 classes of tokens, exact>
    >>> guide = Guide(dfa)
    >>> for byte in b"555":
    ...     guide.advance(byte)[:1]
    [48]
    [48]
    [45]
    """

    vocabulary: Vocabulary
    stats: TokenDFAStats
    _handle: Any
    _kind: str
    _grammar: Grammar | None
    _has_dead_ends: bool  # of a loaded one whose grammar was asked for
    _words: int  # of a mask

    def __init__(self) -> None:
        raise TypeError("a TokenDFA is made by TokenDFA.from_regex, from_grammar or load")

    # --- constructors -----------------------------------------------------------------------------------------------

    @classmethod
    def from_regex(
        cls,
        pattern: str,
        vocabulary: Vocabulary,
        *,
        dialect: str = "python",
        threads: int | None = None,
        max_states: int = MAX_STATES,
        coalesce_literals: bool = False,
        spell: Spell | None = None,
        limits: Limits | None = None,
    ) -> TokenDFA:
        """Compile a regular expression; the whole text must match.

        Parameters
        ----------
        pattern : str
        vocabulary : Vocabulary
        dialect : {"python", "ecma"}
            As for `Grammar.from_regex`.
        threads, max_states, coalesce_literals, spell
            As for `from_grammar`.
        limits : Limits, optional

        Raises
        ------
        GrammarSyntaxError, UnsupportedRegexError, LimitExceededError, VocabularyError
            As `Grammar.from_regex` and `from_grammar` do.
        """
        grammar = Grammar.from_regex(pattern, dialect=dialect, limits=limits)
        return cls.from_grammar(
            grammar, vocabulary, threads=threads, max_states=max_states, coalesce_literals=coalesce_literals, spell=spell
        )

    @classmethod
    def from_grammar(
        cls,
        grammar: Grammar,
        vocabulary: Vocabulary,
        *,
        threads: int | None = None,
        max_states: int = MAX_STATES,
        coalesce_literals: bool = False,
        spell: Spell | None = None,
    ) -> TokenDFA:
        """Compile any grammar that has finitely many states: a regex, choices, a JSON Schema or a Lark grammar without recursion.

        Parameters
        ----------
        grammar : Grammar
        vocabulary : Vocabulary
        threads : int, optional
            How many to use at once; default: one for each CPU of this process. The result does not depend on it.
        max_states : int
            States of the automaton over bytes, before it is minimised. A grammar with recursion has infinitely many, and ends here.
        coalesce_literals : bool
            **Not exact.** A literal of two or more letters, digits or underscores may be spelt by one sequence of tokens only, and no token
            reaches over its ends. Where each byte is a token all texts of the grammar can still be written, but a model is kept from
            spellings that it may prefer.
        spell : callable of bytes to sequence of int, optional
            With `coalesce_literals`: the tokens that a literal is to be spelt by, such as the tokenizer's own encoding of it; [] leaves it
            as it is. Default: the fewest tokens.

        Raises
        ------
        LimitExceededError
            `max_states`, or a field of the `Limits` of the grammar.
        VocabularyError
            Some text leads to where the grammar asks for bytes that no token begins with; the message names both, `.missing` has
            the bytes (the first 49 of them).
        ValueError
            The grammar names special tokens (`Token`).
        """
        if not isinstance(grammar, Grammar) or not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"a TokenDFA is made of a Grammar and a Vocabulary, not of {type(grammar).__name__} and {type(vocabulary).__name__}"
            )
        if grammar._named:
            raise ValueError("the grammar names special tokens, and a TokenDFA has only those that are text")
        max_states = check_count("max_states", max_states, most=1 << 24)
        if threads is None:
            threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = check_count("threads", threads)
        check_bool("coalesce_literals", coalesce_literals)
        if spell is not None and not coalesce_literals:
            raise ValueError("spell is for coalesce_literals=True")
        err = new_err()
        planned, made = place_for("ge_plan"), place_for("ge_dfa")
        status = lib.ge_plan_new(grammar._handle, vocabulary._handle, max_states, coalesce_literals, planned, err)
        _check(status, err, max_states, grammar)
        plan = handle_of(planned)
        spelling, spelling_at = ffi.NULL, ffi.NULL
        if coalesce_literals:
            tokens, at = _spell_runs(plan, spell or partial(fewest_tokens, vocabulary._handle), vocabulary)
            spelling, spelling_at = ffi.from_buffer("uint32_t[]", tokens), ffi.from_buffer("uint32_t[]", at)
        _check(lib.ge_dfa_new(plan, spelling, spelling_at, min(threads, _MAX_THREADS), made, err), err, max_states, grammar)
        return cls._of(handle_of(made, lib.ge_dfa_bytes(made[0])), vocabulary, grammar._kind, grammar)

    @classmethod
    def _of(cls, handle: Any, vocabulary: Vocabulary, kind: str, grammar: Grammar | None) -> TokenDFA:
        self = object.__new__(cls)
        self._handle = handle
        self.vocabulary = vocabulary
        self._kind = kind
        self._grammar = grammar
        self._has_dead_ends = False
        content = ffi.new("ge_dfa_content *")
        lib.ge_dfa_read(handle, content)
        self.stats = TokenDFAStats(
            content.n_states,
            content.n_classes,
            content.n_transitions,
            content.n_masks,
            content.n_listed_masks,
            content.n_byte_states,
            content.n_byte_classes,
            lib.ge_dfa_bytes(handle),
            bool(content.exact),
        )
        self._words = words_of(vocabulary)
        return self

    # --- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this automaton to a file, for `load`.

        Parameters
        ----------
        path : path
            A file of this name is replaced, in one step.

        Raises
        ------
        OSError
            It cannot be written.

        Notes
        -----
        The file holds numbers as this machine writes them, a checksum, and the fingerprint of the vocabulary. Equal grammars give equal
        files.
        """
        note = json.dumps({"kind": self._kind, "vocabulary": self.vocabulary.fingerprint}, sort_keys=True).encode()
        content = ffi.new("uint8_t[]", lib.ge_dfa_save(self._handle, note, len(note), ffi.NULL))
        lib.ge_dfa_save(self._handle, note, len(note), content)
        replace_file(path, ffi.buffer(content))

    @classmethod
    def load(cls, path: str | os.PathLike[str], vocabulary: Vocabulary) -> TokenDFA:
        """The automaton in a file that `save` has written. The file is mapped into memory: what many processes load is there once.

        Parameters
        ----------
        path : path
            It may be replaced or removed afterwards, but not be written into or cut.
        vocabulary : Vocabulary
            Equal to the one that it was made for.

        Raises
        ------
        TokenDFAError
            The file is none of `save`, is damaged, or belongs to another version or byte order. The message says which.
        VocabularyError
            It was made for another vocabulary.
        OSError
            It cannot be read.
        """
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"a TokenDFA is loaded for a Vocabulary, not for {type(vocabulary).__name__}")
        made, err = place_for("ge_dfa"), new_err()
        with open_file(path) as file:
            status = lib.ge_dfa_load(file.fileno(), made, err)
        if status == lib.GE_E_ARGUMENT:
            raise TokenDFAError(f"{os.fspath(path)!r} cannot be loaded: {ffi.string(err.text).decode()}")
        check(status, err)
        handle = handle_of(made)
        content = ffi.new("ge_dfa_content *")
        lib.ge_dfa_read(handle, content)
        try:
            note = json.loads(bytes(ffi.buffer(content.note, content.n_note)))
            kind, fingerprint = str(note["kind"]), note["vocabulary"]
            is_note = kind.isprintable()
        except (ValueError, KeyError, TypeError, RecursionError):
            is_note = False
        if not is_note:
            raise TokenDFAError(f"{os.fspath(path)!r} cannot be loaded: it has no note of this package")
        shape = vocabulary.size, vocabulary.width
        if fingerprint != vocabulary.fingerprint or (content.n_tokens, content.width) != shape:
            raise VocabularyError(
                f"{os.fspath(path)!r} was made for another vocabulary (fingerprint {fingerprint}, not {vocabulary.fingerprint})"
            )
        return cls._of(handle, vocabulary, kind, None)

    # --- what it holds ----------------------------------------------------------------------------------------------

    @property
    def num_states(self) -> int:
        """Number of states. State 0 is the start; `num_states` itself stands for a text that an end-of-text token has ended."""
        return self.stats.states

    @property
    def num_classes(self) -> int:
        """Classes of tokens: those of one class do the same from every state."""
        return self.stats.classes

    @property
    def memory_bytes(self) -> int:
        """Bytes of all tables. Those of a loaded automaton lie in the file's pages, which processes share."""
        return self.stats.memory_bytes

    @property
    def is_exact(self) -> bool:
        """Whether a token is allowed wherever its text can go on (False: `coalesce_literals`)."""
        return self.stats.exact

    # --- states, by the names of `outlines_core.Index` ---------------------------------------------------------------

    def get_initial_state(self) -> int:
        """The state of the empty text: 0."""
        return 0

    def get_allowed_tokens(self, state: int) -> list[int] | None:
        """The tokens that may come next in a state, ascending, those that end the text included; None if there is no such state.

        Parameters
        ----------
        state : int
            Also `num_states`, that of a text that has ended, in which only end-of-text tokens are allowed.
        """
        state = as_int("a state", state)
        return self._tokens(state) if 0 <= state <= self.num_states else None

    def get_next_state(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if it is refused, ends the text, or there is no such state. A `Guide` takes a token that ends it.

        Parameters
        ----------
        state : int
        token_id : int
        """
        state, token = as_int("a state", state), as_int("a token", token_id)
        if not 0 <= state < self.num_states or not 0 <= token < self.vocabulary.width:
            return None
        to = lib.ge_dfa_next(self._handle, state, token)
        return None if to < 0 or to == self.num_states else to

    def is_final_state(self, state: int) -> bool:
        """Whether a text may end in a state, or has ended. False if there is no such state.

        Parameters
        ----------
        state : int
        """
        state = as_int("a state", state)
        return 0 <= state <= self.num_states and bool(lib.ge_dfa_accepts(self._handle, state))

    def get_final_states(self) -> set[int]:
        """The states in which a text may end, of those from 0 to `num_states` - 1."""
        return {state for state in range(self.num_states) if lib.ge_dfa_accepts(self._handle, state)}

    def get_transitions(self) -> dict[int, dict[int, int]]:
        """Of each state from 0 to `num_states` - 1 the states that its tokens lead to. A token that ends the text leads back to the state.

        Notes
        -----
        The table holds tokens by classes; here each is by itself, at 0.7 us and 70 bytes for each token of each state, which may be
        millions. For tests and tools: `get_next_state` and a `Guide` do without.
        """
        ends, step, handle = self.num_states, lib.ge_dfa_next, self._handle
        found = {}
        for state in range(ends):
            to = {token: step(handle, state, token) for token in self._tokens(state)}
            found[state] = {token: state if after == ends else after for token, after in to.items()}
        return found

    def _tokens(self, state: int) -> list[int]:
        out = ffi.new("uint32_t[]", self.vocabulary.size)
        return list(out[0 : lib.ge_dfa_tokens(self._handle, state, out)])

    @property
    def grammar(self) -> Grammar:
        """The grammar that it was made from; of a loaded one, an equal grammar, made from its table when it is first asked for,
        without the dead ends that `lexing="longest"` may have.
        """
        if self._grammar is None:
            from ..frontends import automaton

            content = ffi.new("ge_dfa_content *")
            lib.ge_dfa_read(self._handle, content)
            accepts = [bool(content.byte_accepts[state]) for state in range(content.n_byte_states)]
            builder = Builder()
            handle = self._handle
            report, self._has_dead_ends = automaton.build(builder, lambda state, byte: lib.ge_dfa_byte_next(handle, state, byte), accepts)
            self._grammar = Grammar._from_builder(builder, report, kind=self._kind)
        return self._grammar

    def _grammar_for(self, vocabulary: Vocabulary | None) -> tuple[Grammar, Vocabulary]:
        """What a Matcher is made of."""
        if not self.is_exact:
            raise ValueError("this TokenDFA is not exact (coalesce_literals): its masks are not those of its grammar; use a Guide")
        if vocabulary is not None and vocabulary != self.vocabulary:
            raise VocabularyError("the TokenDFA was made for another vocabulary")
        grammar = self.grammar
        if self._has_dead_ends:
            raise ValueError(
                'this TokenDFA comes from a file and has dead ends (lexing="longest"): its masks are not those of its grammar; use a Guide'
            )
        return grammar, self.vocabulary

    def __repr__(self) -> str:
        exact = "exact" if self.stats.exact else "NOT exact: literals are coalesced"
        return f"<TokenDFA of {self.num_states:,} states, {self.num_classes:,} classes of tokens, {exact}>"

    def __copy__(self) -> TokenDFA:
        return self

    def __deepcopy__(self, memo: object) -> TokenDFA:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a TokenDFA cannot be pickled: save it to a file, which other processes can map")


def _check(status: int, err: Any, max_states: int, grammar: Grammar) -> None:
    """Raise what a status of the core means here; of a limit with the place in the source of the grammar."""
    if not status:
        return
    error = error_of(status, err)
    locate(error, err.symbol, grammar._lexemes, grammar._nonterminals, grammar._origins)
    if isinstance(error, LimitExceededError) and (error.limit, error.maximum) == ("max_configurations", max_states + 1):
        raise LimitExceededError("max_states", max_states, ffi.string(err.text).decode(), where=error.where, remedy="max_states=...")
    raise error


def _spell_runs(plan: Any, spell: Spell, vocabulary: Vocabulary) -> tuple[array[int], array[int]]:
    """The tokens of all runs, and where those of each begin; one entry more than there are runs."""
    content = ffi.new("ge_plan_content *")
    lib.ge_plan_read(plan, content)
    at = ffi.unpack(content.run_at, content.n_runs + 1)
    text = bytes(ffi.buffer(content.run_bytes, at[-1])) if at[-1] else b""
    tokens, starts = array("I"), array("I", [0])
    for begin, end in pairwise(at):
        literal = text[begin:end]
        spelling = list(spell(literal))
        if any(isinstance(token, bool) or not hasattr(token, "__index__") for token in spelling):
            raise ValueError(f"spell({literal!r}) gave {spelling}, which are not tokens that spell it")
        spelling = [token.__index__() for token in spelling]
        are_texts = all(0 <= token < vocabulary.size and vocabulary.token_bytes(token) for token in spelling)
        if not are_texts or (spelling and b"".join(map(vocabulary.token_bytes, spelling)) != literal):
            raise ValueError(f"spell({literal!r}) gave {spelling}, which are not tokens that spell it")
        tokens.extend(spelling)
        starts.append(len(tokens))
    return tokens or array("I", [0]), starts
