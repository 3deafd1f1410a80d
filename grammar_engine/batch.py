"""Batches: one step of many texts in one call of the core, which runs without the GIL.

Matchers of a batch are independent: each is served, whatever becomes of the others. What is warm is done by the calling thread. Cold items
of different grammars may be done side by side, by threads that the core begins and ends within the call; those of one grammar take turns at
its lock, so a second thread would only wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, SupportsIndex

from ._native import ffi, lib, run_batch
from .checks import check_count, check_iterable
from .errors import BatchError
from .mask import check_alignment, check_row, rows_of
from .matcher import Matcher, ids_of

_handle_of, _words_of = attrgetter("_handle"), attrgetter("_words")
_NO_TOKEN, _LAST_ID = -(1 << 63), (1 << 63) - 1  # the ends of int64_t
_MOST_THREADS = 1 << 31


class MaskStep(NamedTuple):
    """What `step_masks` did, by position in the batch.

    Attributes
    ----------
    accepted : list of bool
        The token was accepted. False: it was refused and the text is as before, or there was none.
    needed : list of bool
        False: every id of the logits is allowed, as `Matcher.fill_mask` tells.
    changed : list of bool
        False: the row holds the same mask as after this matcher's mask before,
        as `Matcher.mask_changed` tells. True where the matcher has failed, as is `needed`.
    """

    accepted: list[bool]
    needed: list[bool]
    changed: list[bool]


def fill_masks(matchers: Sequence[Matcher | None], buffer: Any, *, rows: Sequence[int] | None = None, threads: int = 1) -> list[bool]:
    """Write the masks of a batch in one call of the core, which runs without the GIL.

    Parameters
    ----------
    matchers : sequence of Matcher or None
        All over vocabularies of one width. None leaves its row as it is.
    buffer : as for `Matcher.fill_mask`
    rows : sequence of int, optional
        The row of each matcher. Default: 0, 1, 2, ...
    threads : int
        Share cold masks of different grammars among so many threads, this one included; they end with the call. No matcher and no row
        may occur twice then.

    Returns
    -------
    list of bool
        As from `fill_mask`, for each matcher; True for None.

    Raises
    ------
    The same as `fill_mask`, for the first matcher that fails; the masks of the others are written.
    """
    step, errors = _run(matchers, None, buffer, rows, threads)
    if errors:
        try:
            raise errors[min(errors)]
        finally:
            del errors  # else they would refer to themselves by way of this frame
    return step.needed


def step_masks(
    matchers: Sequence[Matcher | None],
    tokens: Iterable[SupportsIndex | None],
    buffer: Any,
    *,
    rows: Sequence[int] | None = None,
    threads: int = 1,
) -> MaskStep:
    """Accept a token in each text of a batch, then write the masks for the next ones: one step of a server in one call of the core.

    Each matcher does what `accept` and then `fill_mask` would do. The mask is written after a refused token too: that of the text as it
    was. After a token that ends the text the mask has the end-of-text tokens alone. A matcher that occurs twice takes both tokens, one
    after the other.

    Parameters
    ----------
    matchers : sequence of Matcher or None
        All over vocabularies of one width. None leaves its row as it is, and its token is not looked at.
    tokens : iterable of int or None
        The token of each matcher; None: only write the mask.
    buffer : as for `Matcher.fill_mask`
    rows : sequence of int, optional
        The row of each matcher. Default: 0, 1, 2, ...
    threads : int
        Share cold items of different grammars among so many threads, this one included; they end with the call. No matcher and no row
        may occur twice then.

    Returns
    -------
    MaskStep

    Raises
    ------
    BatchError
        Some matchers have failed: `.errors` tells which and why. The others were served: `.step`. A matcher whose token could not be
        accepted (`step.accepted` is False) has not changed; in either case its row is not to be used.
    TypeError, ValueError, IndexError
        The arguments do not fit; nothing has changed.

    Examples
    --------
    >>> from grammar_engine import Grammar, Vocabulary, allocate_masks
    >>> vocabulary = Vocabulary.bytes()
    >>> matchers = [Matcher(Grammar.from_regex(pattern), vocabulary) for pattern in ("a+", "[0-9]+")]
    >>> step_masks(matchers, [None, None], masks := allocate_masks(2, vocabulary)).needed
    [True, True]
    >>> step_masks(matchers, [ord("a"), ord("b")], masks).accepted
    [True, False]
    """
    step, errors = _run(matchers, tokens, buffer, rows, threads)
    if errors:
        raise BatchError(errors, step)
    return step


def _run(
    matchers: Sequence[Matcher | None], tokens: Iterable[SupportsIndex | None] | None, buffer: Any, rows: Sequence[int] | None, threads: int
) -> tuple[MaskStep, dict[int, Exception]]:
    """Check and do a batch; with the errors of those that failed."""
    if type(threads) is not int or not 0 < threads < _MOST_THREADS:
        threads = check_count("threads", threads, most=_MOST_THREADS - 1)
    if type(matchers) is not list:
        check_iterable("matchers", matchers, "Matcher or None")
    if tokens is not None and type(tokens) is not list:
        check_iterable("tokens", tokens, "ids or None")
    if rows is not None and type(rows) is not list:
        check_iterable("rows", rows, "int")
    batch = list(matchers)
    if threads == 1 and batch and type(batch[0]) is Matcher:
        done = _run_usual(batch, tokens, buffer, rows)
        if done is not None:
            return done
    ids = None if tokens is None else _ids_of(tokens)
    places = None if rows is None else list(rows)
    for name, values in ("tokens", ids), ("rows", places):
        if values is not None and len(values) != len(batch):
            raise ValueError(f"{len(values)} {name} for {len(batch)} matchers")
    present = _present(batch)
    if len(present) == len(batch):
        return _run_present(batch, ids, buffer, places, threads)
    step = MaskStep([False] * len(batch), [True] * len(batch), [False] * len(batch))
    errors: dict[int, Exception] = {}
    if present:
        ids = ids and [ids[i] for i in present]
        places = [places[i] for i in present] if places else list(present)
        part, errors = _run_present([batch[i] for i in present], ids, buffer, places, threads)
        for flags, of_present in zip(step, part, strict=True):
            for i, flag in zip(present, of_present, strict=True):
                flags[i] = flag
        errors = {present[i]: error for i, error in errors.items()}
    return step, errors


def _run_usual(batch: list[Any], tokens: Any, buffer: Any, rows: Any) -> tuple[MaskStep, dict[int, Exception]] | None:
    """A batch of matchers alone, with lists of ints. None: it is none, and nothing was done."""
    n_words = batch[0]._words
    words, n_rows = rows_of(buffer, n_words)
    check_alignment(words)
    done = run_batch(batch, tokens, words, n_words, n_rows, rows)
    if done is None:
        return None
    *flags, failed = done
    step = MaskStep(*flags)
    return step, {} if failed is None else _errors(batch, tokens, buffer, rows, step, failed)


def _present(batch: Sequence[Any]) -> Sequence[int]:
    """The positions of matchers; what is neither a matcher nor None is refused."""
    if set(map(type, batch)) <= {Matcher}:
        return range(len(batch))
    for i, matcher in enumerate(batch):
        if matcher is not None and not isinstance(matcher, Matcher):
            raise TypeError(f"item {i} of the batch is no Matcher but {type(matcher).__name__}")
    return [i for i, matcher in enumerate(batch) if matcher is not None]


def _ids_of(tokens: Iterable[SupportsIndex | None]) -> list[int]:
    """Tokens as the core takes them."""
    given: list[Any] = list(tokens)
    if set(map(type, given)) <= {int} and min(given, default=0) > -1 and max(given, default=0) <= _LAST_ID:
        return given
    ids = iter(ids_of(token for token in given if token is not None))
    return [_NO_TOKEN if token is None else next(ids) for token in given]


def _run_present(
    batch: Sequence[Any], ids: list[int] | None, buffer: Any, places: list[int] | None, threads: int
) -> tuple[MaskStep, dict[int, Exception]]:
    n = len(batch)
    if not n:
        return MaskStep([], [], []), {}
    n_words = batch[0]._words
    words, n_rows = rows_of(buffer, n_words)
    check_alignment(words)
    places = _checked(batch, n_words, places, n_rows, threads)
    handles = ffi.new("ge_matcher *[]", list(map(_handle_of, batch)))
    tokens = ffi.NULL if ids is None else ffi.new("int64_t[]", ids)
    rows = ffi.new("uint32_t[]", list(range(n)) if places is None else places)
    out = ffi.new("_Bool[]", 4 * n)
    work = ffi.new("ge_batch *", (handles, tokens, rows, n, words, n_words, threads, out, out + n, out + 2 * n, out + 3 * n))
    n_failed = lib.ge_batch_run(work)
    flags = ffi.unpack(out, 4 * n)
    step = MaskStep(flags[:n], flags[n : 2 * n], flags[2 * n : 3 * n])
    return step, _errors(batch, ids, buffer, places, step, flags[3 * n :]) if n_failed else {}


def _errors(
    batch: Sequence[Matcher], ids: list[int] | None, buffer: Any, places: list[int] | None, step: MaskStep, failed: Sequence[bool]
) -> dict[int, Exception]:
    """Why matchers have failed, as far as they do so again. What one that occurs twice has done behind its failure is done again, too."""
    errors: dict[int, Exception] = {}
    again: list[int] = []
    seen: set[int] = set()
    for i, matcher in enumerate(batch):
        if failed[i] or id(matcher) in seen:
            again.append(i)
            if id(matcher) in seen and step.accepted[i]:  # too early
                matcher.rollback(1)
                step.accepted[i] = False
            seen.add(id(matcher))
    for i in again:
        error = _again(batch[i], None if ids is None else ids[i], buffer, i if places is None else places[i], step, i)
        if error:
            errors[i] = error
    return errors


def _again(matcher: Matcher, token: int | None, buffer: Any, row: int, step: MaskStep, i: int) -> Exception | None:
    """Do what is left of a failed item by its own calls, where a failure is dealt with; or what it is."""
    try:
        if token is not None and token != _NO_TOKEN and not step.accepted[i]:
            step.accepted[i] = matcher.accept(token)
        step.needed[i] = matcher.fill_mask(buffer, row)
        step.changed[i] = matcher.mask_changed
    except Exception as error:
        return error.with_traceback(None)  # whose frames would hold the buffer
    return None


def _checked(batch: Sequence[Any], n_words: int, places: list[int] | None, n_rows: int, threads: int) -> list[int] | None:
    """The rows. Raises unless the matchers fit together, and the rows the buffer."""
    n = len(batch)
    if set(map(_words_of, batch)) != {n_words}:
        i = next(i for i, matcher in enumerate(batch) if matcher._words != n_words)
        raise ValueError(f"matcher {i} has masks of {batch[i]._words} words, not {n_words}")
    if threads > 1 and len(set(map(id, batch))) < n:
        raise ValueError("a matcher occurs twice in a batch for several threads")
    if places is None:
        check_row(n - 1, n_rows)
        return None
    if set(map(type, places)) != {int} or min(places) < 0 or max(places) >= n_rows:
        places = [check_row(row, n_rows) for row in places]
    if threads > 1 and len(set(places)) < n:
        raise ValueError("a row occurs twice in a batch for several threads: two of them would write to it at once")
    return places
