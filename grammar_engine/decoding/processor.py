"""A logits processor for `generate()` of Hugging Face transformers, and for loops that show numpy arrays, as llama-cpp-python does.

Idea. `generate()` tells a processor no more than the ids of each row, and rows are not texts: beam search reorders them, drafts are tried
and taken back, several generators may take turns. But the mask depends only on the ids that were generated. So each row is given the
matcher of the last call that has the longest history in common with it, forked where several rows want the same one; what is not common is
rolled back, and the rest of the row is accepted.

    matchers of the last call    a b c               a b d            a x
    rows of this call            a b d e             a b d f          a b                        (prompts are left out)
    their matchers               fork of the 2nd, e  the 2nd, f       the 1st, rolled back by one

A row is *open*, or has *ended* with an end-of-text token (whatever comes then, pads, is not looked at), or is *lost* because it has a token
that the grammar refuses (rejected drafts and beams of score -inf are such). The last two may only end, so that no row is without any token.
Or it has no grammar and is *free*: such rows tell that a text goes on only where all others have ended.

Processors in front of this one may have banned all that the grammar allows in a row. Then no token of it is left. If the row is a draft
that will not be taken, or a beam beside others that have ended, that does not matter; else `generate()` writes any token, and the row is
lost. A call does not tell which it is, so where no open row has a token left there is a warning, and no error.

What must be guessed is where the prompt ends. A call begins new texts unless it shows the same prompts with something behind them, and some
row goes on from what was shown: all but its last token is in a row of the last calls, and that token is allowed there; or it is open and
has a row of the last call and more.

Where the last token of all rows is refused, the call shows the first token of other prompts, or a draft. It does not matter what a draft is
answered, for none behind a refused token is taken. So the answer is that of new texts, and the former guess is kept: should the next rows
go on from what it was shown, the token was a draft.

    prompt p, text a b c         rows now p d: refused as the text's first token         guesses: the prompt is p d; it is p, and d a draft
                                 then p d a: a text behind p d                           or p a: the text behind p

So what is left are prompts that go on with the last texts themselves,
or a beginning of them and one token more, as the grammar has it. `reset` is for these.

Two generations that take turns would so be new texts at each turn, and no sentences. So of texts that were left for others it is remembered
what was shown last, as hashes. A call for new texts that shows the same rows and a step more, some of them open, is the next one of a
generation that goes on: it is refused.

    p, then q, then p a    where a text may begin with a: refused; p again, p a b, or p d where no text begins with d: new texts
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter, deque
from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..batch import fill_masks
from ..grammar import Grammar
from ..mask import allocate_masks
from ..matcher import Matcher
from ..vocabulary import Vocabulary
from .apply import apply_mask

Ids: TypeAlias = NDArray[np.int64]

_NONE_LEFT = (
    "every token that the grammar allows has the score -inf, which another processor has given it, or the model: "
    "what generate() writes now is no sentence, unless it is a draft, or a beam beside others that have ended"
)
_ENDED = (
    "all rows ended with {}, which generate() does not stop at: "
    "eos_token_id of the generation must hold what ends a text here, eos of the processor"
)
_INTERRUPTED = (
    "one processor serves one generate() at a time, and these rows are the next step of one that another has interrupted: "
    "make a processor for each; if they are prompts, call reset() before"
)
_LEFT = 64  # generations that were left for others, and are remembered
_LOG_PROBABILITIES = 0.01  # the logarithm of their sum is less
_CALLS = 16  # that are remembered: groups of beams take turns, and drafts are taken back


class LogitsProcessor:
    """Allows only tokens with which the generated text is the beginning of a sentence, and its end only where it is one.

    To be given to `generate(..., logits_processor=[processor])`, or to a loop that shows numpy arrays, of one row or of several. Any number
    of calls may share one, each after the end of the one before, whatever their batches and ways of decoding (greedy, sampling, beams,
    prompt lookup, assistants) and their prompts, but for one: the output of a call that was cut, as it is, behind other calls is refused
    until `reset`, as it cannot be told from a generation that takes turns with these. Calls that run at the same time, in other threads or
    in turns, need one each. It needs no method of transformers, and is of no use to continuous batching, which shows processors no history
    and leaves out this one with a warning.

    Parameters
    ----------
    grammar : Grammar, Matcher, or sequence of Grammar, Matcher or None
        One for all rows, or one for each prompt. A Matcher has read the beginning of the answer, which the prompt ends with; it is forked,
        and not moved. None: the scores of these rows stay as they are. Rows are taken to be `(prompt 0, prompt 0, ..., prompt 1, ...)`, as
        `num_beams` and `num_return_sequences` make them.
    vocabulary : Vocabulary
    eos : sequence of int, optional
        The tokens that end a text, as of a Matcher: all of `eos_token_id` of the generation, or the rows do not stop where they end.
        Default: those of the vocabulary. `generate()` stops at them wherever they come, so a grammar that names one within a text is cut
        there.

    Raises
    ------
    TypeError
        Something is no Grammar, Matcher or None, or no Vocabulary.
    ValueError
        There is no grammar, or no token ends a text. A Matcher has another vocabulary or other ends, or its text has ended.
    VocabularyError
        One of `eos` is no id of the vocabulary, or is text.

    Notes
    -----
    Serves one `generate()` at a time. `generate()` stops at `max_new_tokens` wherever the text is; `grammar_engine.decoding.generate`
    closes it in time. A prompt that is that of the last call and then its text, or a beginning of it (an empty one, too) and one token more
    that the grammar allows there, or the text and what the grammar allows next, is taken for that text, unless `reset` is called before. A
    processor for each call needs no `reset`, and is made in a microsecond.

    Examples
    --------
    ::

        tokenizer.padding_side = "left"  # a text goes on from its right end
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        vocabulary = Vocabulary.from_transformers(tokenizer, width=model.config.vocab_size)
        processor = LogitsProcessor(Grammar.from_json_schema(schema), vocabulary)
        output = model.generate(**tokenizer(prompts, return_tensors="pt", padding=True), logits_processor=[processor])
    """

    supports_continuous_batching = False  # `transformers` asks

    def __init__(
        self,
        grammar: Grammar | Matcher | Sequence[Grammar | Matcher | None],
        vocabulary: Vocabulary,
        *,
        eos: Sequence[int] | None = None,
    ):
        if not isinstance(grammar, (Grammar, Matcher, Sequence)):
            found = type(grammar).__name__
            raise TypeError(f"grammar is a Grammar or a Matcher, or a sequence with one or None for each prompt, not {found}")
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"vocabulary is a Vocabulary, not {type(vocabulary).__name__}")
        self.eos = vocabulary.eos if eos is None else vocabulary._ends(eos)
        if not self.eos:
            raise ValueError(f"no token {'of the vocabulary ' if eos is None else ''}ends a text: generate() would not know where to stop")
        self.vocabulary = vocabulary
        self._starts = [self._start(one) for one in ([grammar] if isinstance(grammar, (Grammar, Matcher)) else grammar)]
        if not self._starts:
            raise ValueError("there is no grammar")
        self._masks: Any = None
        self._turn = [None]  # taken while a call runs: a lock that can be copied
        self.reset()

    def _start(self, given: Grammar | Matcher | None) -> Grammar | Matcher | None:
        """Where the texts of a prompt begin, the processor's own."""
        if given is None or isinstance(given, Grammar):
            return given
        if not isinstance(given, Matcher):
            raise TypeError(f"a grammar is a Grammar, a Matcher or None, not {type(given).__name__}")
        if given.vocabulary != self.vocabulary:
            raise ValueError("the matcher has another vocabulary")
        if given.is_terminated:
            raise ValueError("the text of the matcher has ended already")
        if set(given.eos) != set(self.eos):
            raise ValueError(f"the text of the matcher ends with {given.eos}, and the processor was told {self.eos}: give eos=matcher.eos")
        return given.fork()

    def reset(self) -> None:
        """Take the ids of the next call for prompts, even if they go on with the texts of the last one."""
        self._guesses: list[_Guess] = []  # the one of the last call first, and then those that hold if what it was shown were drafts
        self._left: deque[_Left] = deque(maxlen=_LEFT)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores, with -inf for tokens that may not come next.

        Parameters
        ----------
        input_ids : torch.Tensor or numpy.ndarray
            Integers, shape (rows, length): prompts and what was generated. Of arrays also (length,), for one row.
        scores : torch.Tensor or numpy.ndarray, as input_ids
            Floating point, shape (rows, V), V at least the width of the vocabulary, or (V,). Is not changed: `generate()` uses it again.

        Returns
        -------
        torch.Tensor or numpy.ndarray
            Of the shape and kind of the scores.

        Raises
        ------
        TypeError
            Something is neither, or one of each.
        ValueError
            Shapes do not fit, there are fewer scores than tokens, or the rows are no multiple of the grammars.
        VocabularyError, LimitExceededError
            As of `Matcher.fill_mask`.
        RuntimeError
            Another `generate()` has interrupted the one that these rows belong to, or a call runs in another thread.

        Warns
        -----
        RuntimeWarning
            Every token that the grammar allows has the score -inf already,
            in all rows that go on. Or `generate()` goes on though all rows have ended.
        """
        tensor = getattr(sys.modules.get("torch"), "Tensor", ())
        are_arrays = isinstance(input_ids, np.ndarray) and isinstance(scores, np.ndarray)
        if not are_arrays and not (isinstance(input_ids, tensor) and isinstance(scores, tensor)):
            names = f"{type(input_ids).__name__} and {type(scores).__name__}"
            raise TypeError(f"input_ids and scores are torch tensors, or numpy arrays, not {names}")
        if are_arrays and not np.issubdtype(input_ids.dtype, np.integer):
            raise TypeError(f"input_ids are integers, not {input_ids.dtype}")
        is_row = are_arrays and input_ids.ndim == scores.ndim == 1
        if is_row:
            input_ids, scores = input_ids[None], scores[None]
        if scores.ndim != 2 or input_ids.ndim != 2 or len(scores) != len(input_ids):
            shapes = f"{tuple(input_ids.shape)} and {tuple(scores.shape)}"
            raise ValueError(f"input_ids and scores have the shapes (rows, length) and (rows, V), not {shapes}")
        if scores.shape[1] < self.vocabulary.width:
            raise ValueError(f"the model scores {scores.shape[1]} tokens, and the vocabulary has {self.vocabulary.width}")
        try:
            turn = self._turn.pop()
        except IndexError:
            raise RuntimeError("one processor serves one generate() at a time: a call runs in another thread") from None
        try:
            masked = self._masked(input_ids, scores)
            return masked[0] if is_row else masked
        finally:
            self._turn.append(turn)

    def _masked(self, input_ids: Any, scores: Any) -> Any:
        are_arrays = isinstance(scores, np.ndarray)
        guess = self._follow(input_ids.astype(np.int64) if are_arrays else input_ids.cpu().numpy())
        if self._masks is None or len(self._masks) != len(scores) or isinstance(self._masks, np.ndarray) != are_arrays:
            self._masks = allocate_masks(len(scores), self.vocabulary, "numpy" if are_arrays else "torch")
        fill_masks(guess.matchers, self._masks)
        masked = scores.copy() if are_arrays else scores.clone()
        apply_mask(masked, self._masks)
        ends = list(self.eos)
        for row in guess.lost:
            masked[row] = float("-inf")
            masked[row, ends] = scores[row, ends]
        for row in guess.free:
            masked[row] = scores[row]
        rows = guess.open_rows()
        if rows and (masked if len(rows) == len(masked) else masked[rows]).max() == float("-inf"):
            warnings.warn(_NONE_LEFT, RuntimeWarning, stacklevel=3)
        # Beam search goes on with beams that have ended, of which it shows log-probabilities, until it has others.
        if not rows and (ends_passed := guess.ends_passed()) and _log_sum(scores) > _LOG_PROBABILITIES:
            guess.is_told = True
            names = ", ".join(map(str, ends_passed))
            warnings.warn(_ENDED.format(f"token{'s' if len(ends_passed) > 1 else ''} {names}"), RuntimeWarning, stacklevel=3)
        return masked

    def _follow(self, input_ids: Ids) -> _Guess:
        """The guess that holds for the rows of this call, with its matchers brought to them."""
        others: list[_Guess] = []  # which hold if this call shows a draft
        for at, guess in enumerate(self._guesses):
            fit = guess.follow(input_ids)
            if fit is _Fit.GOES_ON:
                self._guesses = self._guesses[at:] if len(guess.shown) < _CALLS else [guess]
                return guess
            if others or fit is _Fit.IS_DRAFT:  # an older guess takes for drafts all that was shown since
                others.append(guess)
        if len(input_ids) % len(self._starts):
            raise ValueError(f"{len(input_ids)} rows for {len(self._starts)} grammars")
        if not others:
            self._leave(input_ids)
        guess = _Guess(self._starts, self.vocabulary, self.eos, input_ids.copy())
        if len(others) >= _CALLS:  # the oldest stays, whatever the length of the draft
            others[_CALLS - 2 :] = others[-1:]
        self._guesses = [guess, *others]
        return guess

    def _leave(self, input_ids: Ids) -> None:
        """Leave the texts of the last call for others; raise if these are the next step of texts that were left."""
        for left in self._left:
            rows = left.rows_behind(input_ids)
            if rows is not None:
                guess = _Guess(self._starts, self.vocabulary, self.eos, input_ids[:, : left.length])
                guess.read(rows)
                if guess.open_rows():  # after the end of all rows nothing goes on
                    raise RuntimeError(_INTERRUPTED)
        prompts = _hash(input_ids)
        known = (*self._left, *(guess.left() for guess in self._guesses))
        self._left = deque((left for left in known if left.prompts != prompts), maxlen=_LEFT)  # what follows these belongs to the new texts


def _log_sum(scores: Any) -> float:
    """The logarithm of the sum of a row's exponentials, the largest of all rows."""
    if isinstance(scores, np.ndarray):
        return float(np.logaddexp.reduce(scores.astype(np.float32), axis=-1).max())
    return float(scores.float().logsumexp(-1).max())


class _Left(NamedTuple):
    """Texts that were left for others.

    Attributes
    ----------
    prompts : int
        A hash of them.
    length : int
        Of the prompts.
    rows : frozenset of int
        Hashes of the last rows shown, with prompts.
    shape : tuple of int
        Of these.
    step : int
        How many tokens more they had than the rows before.
    """

    prompts: int
    length: int
    rows: frozenset[int]
    shape: tuple[int, int]
    step: int

    def rows_behind(self, input_ids: Ids) -> Ids | None:
        """What a call shows behind the prompts, if it may be the next step of these texts; else None."""
        n = input_ids.shape[1] - self.shape[1]
        if len(input_ids) != self.shape[0] or not 0 < n <= self.step or not {_hash(row) for row in input_ids[:, :-n]} <= self.rows:
            return None
        return input_ids[:, self.length :]


class _Fit(Enum):
    """What the rows of a call may be, if a guess holds."""

    GOES_ON = "some row goes on from what was shown"
    IS_DRAFT = "some row would, if the grammar did not refuse its last token"
    IS_OTHER = "neither"


class _Guess:
    """Where the prompts end, what was shown behind them, and the matchers that have read it.

    Attributes
    ----------
    prompts : numpy.ndarray
        Of each row.
    shown : deque of numpy.ndarray
        The rows of the last calls, without prompts, the latest first.
    matchers : list of Matcher or None
        Of the rows of the last call. None: the row is free.
    free : list of int
        Which rows are free, in every call.
    lost : set of int
        Which of these are lost.
    is_told : bool
        That texts go on behind their ends: there was a warning.
    """

    def __init__(self, starts: Sequence[Grammar | Matcher | None], vocabulary: Vocabulary, eos: tuple[int, ...], prompts: Ids):
        self.starts, self.vocabulary, self.eos, self.prompts = starts, vocabulary, eos, prompts
        self.places = [row * len(starts) // len(prompts) for row in range(len(prompts))]  # of each row, among the starts
        self.n_read = [len(start.tokens) if isinstance(start, Matcher) else 0 for start in starts]  # before the texts
        self.shown: deque[Ids] = deque(maxlen=_CALLS)
        self.shown.append(prompts[:, :0])
        self.matchers = [self._matcher(row) for row in range(len(prompts))]
        self.free = [row for row, matcher in enumerate(self.matchers) if matcher is None]
        self.lost: set[int] = set()
        self.is_told = False
        self._are_at_rows = True  # the matchers have read the last rows shown, as far as these are not lost

    def follow(self, input_ids: Ids) -> _Fit:
        """Bring the matchers to the rows of a call, if these may have come of what was shown."""
        are_at_rows, self._are_at_rows = self._are_at_rows, False  # should a matcher raise, others have gone on
        rows = self._behind_prompts(input_ids)
        if rows is None:
            return _Fit.IS_OTHER
        fit = self._accept_one(rows) if are_at_rows else None
        if fit is None:
            self.read(rows)
            fit = self._fit(rows)
        if fit is not _Fit.IS_OTHER:
            self.shown.appendleft(rows.copy())
            self._are_at_rows = True
        return fit

    def open_rows(self) -> list[int]:
        """The rows of the last call that are neither free nor lost nor ended."""
        return [row for row, matcher in enumerate(self.matchers) if matcher and row not in self.lost and not matcher.is_terminated]

    def ends_passed(self) -> list[int]:
        """The tokens that have ended the rows of the last call, if something
        follows in each: a draft may end in one. None of them, once told.
        """
        if self.is_told or self.free or not self._have_ended():
            return []
        texts = [self._history(row) for row in range(len(self.matchers))]
        return sorted({text[-1] for text in texts}) if max(map(len, texts)) < self.shown[0].shape[1] else []

    def left(self) -> _Left:
        """What is remembered when the texts are left for others."""
        rows = np.concatenate((self.prompts, self.shown[0]), axis=1)
        before = self.shown[1].shape[1] if len(self.shown) > 1 else 0
        step = max(1, self.shown[0].shape[1] - before)
        return _Left(_hash(self.prompts), self.prompts.shape[1], frozenset(map(_hash, rows)), rows.shape, step)

    def _have_ended(self) -> bool:
        """Whether all rows have that are not free."""
        return all(matcher is None or matcher.is_terminated for matcher in self.matchers)

    def _behind_prompts(self, input_ids: Ids) -> Ids | None:
        """What follows the prompts; None if these are others, or nothing follows."""
        length = self.prompts.shape[1]
        if length >= input_ids.shape[1] or not np.array_equal(input_ids[:, :length], self.prompts):
            return None
        return input_ids[:, length:]

    def _accept_one(self, rows: Ids) -> _Fit | None:
        """Where each row is one of the last call and a token more, as it is nearly always, there is nothing to search. Else None."""
        last, before = self.shown[0], rows[:, :-1]
        if before.shape != last.shape:
            return None
        sources: list[int | None] = list(range(len(rows)))
        if not np.array_equal(before, last):
            known = {(place, ids.tobytes()): row for row, (place, ids) in enumerate(zip(self.places, last))}
            sources = [known.get((place, ids.tobytes())) for place, ids in zip(self.places, before)]
        found = [source for source in sources if source is not None]
        if len(found) < len(sources):
            return None
        were_lost, self.lost, fit = [source in self.lost for source in found], set(), _Fit.IS_DRAFT
        self.matchers = self._forked(found)
        for row, (matcher, was_lost) in enumerate(zip(self.matchers, were_lost)):
            if matcher is None:
                continue
            token, may_only_end = int(rows[row, -1]), was_lost or matcher.is_terminated
            is_allowed = token in self.eos if may_only_end else matcher.accept(token)
            if is_allowed:
                fit = _Fit.GOES_ON
            if was_lost or not (is_allowed or matcher.is_terminated):
                self.lost.add(row)
        return _Fit.GOES_ON if self.free and self._have_ended() else fit

    def _fit(self, rows: Ids) -> _Fit:
        """What rows are, to which the matchers have been brought."""
        fit = _Fit.IS_OTHER
        have_ended = self._have_ended()
        for row, (ids, matcher) in enumerate(zip(rows, self.matchers)):
            is_known = matcher is not None and row not in self.lost
            is_open = matcher is not None and is_known and not matcher.is_terminated
            is_step = any(_common(old, ids) >= len(ids) - 1 for shown in self.shown for old in shown)
            if is_step and (is_open or (matcher is None and have_ended) or (is_known and int(ids[-1]) in self.eos)):
                return _Fit.GOES_ON
            if is_open and any(_common(old, ids) == len(old) for old in self.shown[0]):
                return _Fit.GOES_ON
            if is_step:
                fit = _Fit.IS_DRAFT
        return fit

    def read(self, rows: Ids) -> None:
        """Choose a matcher for each row, and let it read the row."""
        histories = [np.array(self._history(row), dtype=np.int64) for row in range(len(rows))]
        chosen = [self._choose(place, ids, histories) for place, ids in zip(self.places, rows)]
        going_on = iter(self._forked([source for source, _ in chosen if source is not None]))
        matchers, lost = [], set[int]()
        for row, (ids, (source, common)) in enumerate(zip(rows, chosen)):
            matcher = self._matcher(row) if source is None else next(going_on)
            matchers.append(matcher)
            if matcher is None:
                continue
            if source is not None:
                matcher.rollback(len(histories[source]) - common)
            if not all(map(matcher.accept, ids[common:].tolist())) and not matcher.is_terminated:
                lost.add(row)
        self.matchers, self.lost = matchers, lost

    def _forked(self, sources: Sequence[int]) -> list[Matcher | None]:
        """The matchers with these numbers, forked where several want the same one; the last of them may change it."""
        users, found = Counter(sources), []
        for source in sources:
            users[source] -= 1
            matcher = self.matchers[source]
            found.append(matcher.fork() if matcher and users[source] else matcher)
        return found

    def _choose(self, place: int, ids: Ids, histories: list[Ids]) -> tuple[int | None, int]:
        """The number of the matcher of a start whose history has most in common with a row, and how much; (None, 0) if there is none."""
        best: tuple[int | None, int] = (None, 0)
        for number, history in enumerate(histories):
            if self.places[number] == place and (best[0] is None or _common(history, ids) > best[1]):
                best = number, _common(history, ids)
        return best

    def _matcher(self, row: int) -> Matcher | None:
        start = self.starts[self.places[row]]
        return Matcher(start, self.vocabulary, eos=self.eos) if isinstance(start, Grammar) else start and start.fork()

    def _history(self, row: int) -> list[int]:
        """What the matcher of a row has read of it."""
        matcher = self.matchers[row]
        return matcher.tokens[self.n_read[self.places[row]] :] if matcher else []


def _hash(ids: Ids) -> int:
    return hash((ids.shape, ids.tobytes()))


def _common(ours: Ids, theirs: Ids) -> int:
    """Length of the longest common prefix of two rows."""
    n = min(len(ours), len(theirs))
    differs = ours[:n] != theirs[:n]
    return int(differs.argmax()) if differs.any() else n
