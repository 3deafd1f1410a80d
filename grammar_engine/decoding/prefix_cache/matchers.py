"""States of grammars as payloads: a matcher for a text is a fork of the deepest kept one, which then reads the rest.

For whatever comes back to texts that were read before: several samples of one beginning, a tree search, a stream that is taken up again. A
kept matcher is a list of 16 bytes per token, and a fork copies it; the automata belong to the grammar, and are shared anyway. So what is
saved is the reading: about a quarter of a microsecond for each token of a warm grammar, much more where its automata are still to be made.
To find a block costs as much as to read some 25 tokens; hence blocks are large.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

from ...checks import check_iterable
from ...grammar import Grammar
from ...locks import new_lock
from ...matcher import Matcher
from ...vocabulary import Vocabulary
from .cache import PrefixCache, Statistics

_MATCHER_BYTES, _STEP_BYTES, _END_BYTES = 512, 16, 4


class MatcherCache:
    """Matchers by what they have read. Any number of threads may use it at once.

    Parameters
    ----------
    block_size : int
        A matcher is kept after every so many tokens.
    max_idle_matchers, max_idle_bytes : int or None
        Bounds of what is kept. A kept matcher also keeps its grammar, and the automata that it was made with.

    Examples
    --------
    >>> grammar, vocabulary = Grammar.from_regex("[a-z]*"), Vocabulary.bytes()
    >>> matchers = MatcherCache(block_size=4)
    >>> matchers.after(list(b"abcdef"), grammar, vocabulary)
    <Matcher after 6 steps, complete>
    >>> matchers.after(list(b"abcdxyz"), grammar, vocabulary).tokens == list(b"abcdxyz")
    True
    >>> matchers.stats.prompt_matched
    4
    """

    def __init__(self, block_size: int = 128, *, max_idle_matchers: int | None = 4096, max_idle_bytes: int | None = None):
        self._cache: PrefixCache[Matcher] = PrefixCache(
            block_size, max_idle_blocks=max_idle_matchers, max_idle_bytes=max_idle_bytes, size_of=_size_of
        )
        self._lock = new_lock()  # a matcher belongs to one thread, even while it is forked
        self._numbers = count()
        self._of_grammar: WeakKeyDictionary[Grammar, int] = WeakKeyDictionary()

    def after(self, ids: Sequence[int], grammar: Grammar, vocabulary: Vocabulary, *, eos: Sequence[int] | None = None) -> Matcher:
        """A matcher that has accepted `ids`, the caller's own.

        Parameters
        ----------
        ids : sequence of int
            The text from its beginning under the grammar: what was written, without the prompt.
        grammar : Grammar
        vocabulary : Vocabulary
        eos : sequence of int, optional
            As of a Matcher. Matchers that end in different ways are kept apart.

        Raises
        ------
        TokenRejectedError, MatcherFinishedError
            The grammar refuses one of them. What was read before it is kept.
        LimitExceededError
        TypeError
            Something is no Grammar, or no Vocabulary.
        """
        if not isinstance(grammar, Grammar):
            raise TypeError(f"grammar is a Grammar, not {type(grammar).__name__}")
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"vocabulary is a Vocabulary, not {type(vocabulary).__name__}")
        if not isinstance(ids, Sequence):
            check_iterable("ids", ids, "int")
            ids = list(ids)
        ends = vocabulary.eos if eos is None else vocabulary._ends(eos)
        with self._cache.acquire(ids, self._salt(grammar, vocabulary, ends)) as lease:
            matcher = self._fork(lease.payloads[-1]) if lease.matched else Matcher(grammar, vocabulary, eos=ends)
            n_read = lease.matched

            def read_up_to(stop: int) -> None:
                nonlocal n_read
                part = ids[n_read:stop]
                accepted = matcher.accept_tokens(part)
                if accepted < len(part):
                    matcher.accept(part[accepted], strict=True)  # raises, and says why
                n_read = stop

            def make(start: int, stop: int) -> Matcher:
                read_up_to(stop)  # from before `start`, if another thread has put the blocks between there meanwhile
                return matcher.fork()

            lease.extend(ids[lease.matched :], make)
            read_up_to(len(ids))
        return matcher

    def __reduce__(self) -> Any:
        raise TypeError("a MatcherCache cannot be copied or pickled: each process has its own")

    def _fork(self, kept: Matcher) -> Matcher:
        with self._lock:
            return kept.fork()

    def _salt(self, grammar: Grammar, vocabulary: Vocabulary, ends: tuple[int, ...]) -> bytes:
        with self._lock:
            number = self._of_grammar.setdefault(grammar, next(self._numbers))
        if grammar._named:  # its masks depend on the names of special tokens, too
            vocabulary = vocabulary._naming(grammar._named)
        return repr((number, vocabulary.fingerprint, ends)).encode()

    @property
    def stats(self) -> Statistics:
        """The counters at this moment."""
        return self._cache.stats

    def clear(self) -> None:
        """Drop all matchers that are kept."""
        self._cache.clear()


def _size_of(matcher: Matcher) -> int:
    return _MATCHER_BYTES + _STEP_BYTES * len(matcher.tokens) + _END_BYTES * len(matcher.eos)
