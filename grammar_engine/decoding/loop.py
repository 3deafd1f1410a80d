"""The plain loop: a model writes one token after another, under a grammar, within a budget.

    forced text?  --yes-->  append its tokens, no forward pass        (the next pass takes them all in)
         | no
    scores of the model  -->  penalty  -->  mask  -->  temperature, filters  -->  draw  -->  does it fit the budget?  --no-->  draw another
                                                                                                   | yes
                                                                                                 append

Whether a token fits is told in budget.py.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypedDict

import numpy as np

from ..checks import check_bool, check_count, check_ends
from ..errors import InternalError
from ..grammar import Grammar
from ..matcher import Matcher
from ..vocabulary import Vocabulary
from .budget import MAX_BUDGET, TRIES, BudgetedText
from .ids import prompt_of
from .models import Model, as_model, asked
from .scores import Sampling, Scores, choose, draws, penalise, retries, rng_of, weigh
from .warning import warn_of_length

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keys_values import Payload
    from .models import Session
    from .prefix_cache import Lease, PrefixCache

_DEFAULT = Sampling()


@dataclass(frozen=True)
class Step:
    """What one turn of the loop has appended.

    Attributes
    ----------
    tokens : tuple of int
        One token, or several that were forced together.
    text : bytes
        What they spell; may end within a character.
    forced : bool
        The model was not asked.
    """

    tokens: tuple[int, ...]
    text: bytes
    forced: bool


@dataclass
class Generation:
    """What was generated, and what it took.

    Attributes
    ----------
    tokens : list of int
        What was written, by id, with the end-of-text token if there is one.
    text : bytes
        What the tokens spell; empty without a vocabulary.
    finish_reason : {"end", "budget"} or None
        "end": an end-of-text or stop token was written; under a grammar the text is a sentence. "budget": `max_new_tokens` were
        written before. None: it is going on, or an exception has ended it.
    passes : int
        Forward passes of the model.
    forced : int
        Tokens that were appended without asking the model.
    refused : int
        Tokens that were drawn and did not fit the budget.
    seconds : float
        Of all turns, from start to end; what the caller does between two steps is not counted.
    seconds_model, seconds_masks : float
        Of these: in the model; in the grammar (the matcher that is made for the text,
        masks, and what is forced, accepted and closed) and in applying masks.
    """

    tokens: list[int] = field(default_factory=list)
    text: bytes = b""
    finish_reason: Literal["end", "budget"] | None = None
    passes: int = 0
    forced: int = 0
    refused: int = 0
    seconds: float = 0.0
    seconds_model: float = 0.0
    seconds_masks: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """Tokens generated per second; 0 before the first."""
        return len(self.tokens) / self.seconds if self.seconds else 0.0


class StreamOptions(TypedDict, total=False):
    """The keywords of `stream`, which describes them."""

    sampling: Sampling
    max_new_tokens: int
    seed: int | np.random.Generator | None
    close_in_time: bool
    forced: bool
    stop: Collection[int] | None
    prefix_cache: PrefixCache[Payload] | None


def generate(
    model: object,
    prompt_ids: Iterable[SupportsIndex],
    grammar: Grammar | Matcher | None = None,
    vocabulary: Vocabulary | None = None,
    **options: Unpack[StreamOptions],
) -> Generation:
    """Write a text with a model: `stream` to its end.

    Parameters
    ----------
    model, prompt_ids, grammar, vocabulary, **options
        Those of `stream`.

    Returns
    -------
    Generation

    Examples
    --------
    >>> from grammar_engine import Grammar, Vocabulary
    >>> import numpy as np
    >>> vocabulary = Vocabulary([b"0", b"1", b"-", b"</s>"], eos=[3])
    >>> def model(ids):
    ...     return np.tile([0.0, 1.0, 0.5, 0.0], (len(ids), 1))
    >>> generate(model, [3], Grammar.from_regex("[01]{2}-0*"), vocabulary, sampling=Sampling(temperature=0), max_new_tokens=6).text
    b'11-00'
    """
    for name, value in options.items():
        if name not in StreamOptions.__annotations__:
            of_sampling = f": give sampling=Sampling({name}={value!r})" if name in (each.name for each in fields(Sampling)) else ""
            raise TypeError(f"generate() got an unexpected keyword argument {name!r}{of_sampling}")
    run = stream(model, prompt_ids, grammar, vocabulary, **options)
    for _ in run:
        pass
    return run.generation


def stream(
    model: object,
    prompt_ids: Iterable[SupportsIndex],
    grammar: Grammar | Matcher | None = None,
    vocabulary: Vocabulary | None = None,
    *,
    sampling: Sampling = _DEFAULT,
    max_new_tokens: int = 256,
    seed: int | np.random.Generator | None = None,
    close_in_time: bool = True,
    forced: bool = True,
    stop: Collection[int] | None = None,
    prefix_cache: PrefixCache[Payload] | None = None,
) -> Stream:
    """Write a text with a model, step by step.

    Parameters
    ----------
    model : object
        A callable, a torch module or a `Model`; see `as_model`.
    prompt_ids : iterable of int
        At least one token. The model sees them; the grammar does not.
    grammar : Grammar or Matcher, optional
        A matcher goes on from its text, and is moved to the end of the new one;
        nothing else may move it meanwhile. Default: anything may be written.
    vocabulary : Vocabulary, optional
        Needed with a Grammar. Without a grammar: what the tokens spell, and which of them end the text.
    sampling : Sampling
    max_new_tokens : int
        The budget; the end-of-text token counts.
    seed : int or numpy.random.Generator, optional
        Same seed, same text. Default: another text each time.
    close_in_time : bool
        Allow only tokens after which the text can still be completed within the budget. Only under a grammar.
    forced : bool
        Append text that must come next without asking the model. Only under a grammar.
    stop : collection of int, optional
        The tokens that end the text. Default: the `eos` of the vocabulary. Under a Grammar they end it where it is a sentence, and are no
        text, as `Matcher(eos=stop)` has it; a Matcher has its own.
    prefix_cache : PrefixCache, optional
        Keys and values of the prompt are taken from it; those of the prompt are put into it after the first pass, and those of the text at
        its end, or where the stream is left. Only for torch modules with keys and values of each position; windows that slide are fine. A
        module that returns none is refused at its first pass.

    Returns
    -------
    Stream
        An iterator of `Step`; its `generation` is what was generated so far.

    Raises
    ------
    TypeError, ValueError
        An argument is not what it should be. No text of at most `max_new_tokens` tokens was found that the grammar ends.
    VocabularyError
        There is no end-of-text token, or one that the vocabulary does not
        have or that is text; or it cannot spell what the grammar asks for.
    LimitExceededError
        A limit of the grammar was reached. What was written until then is in `Stream.generation`.
    RuntimeError
        The matcher has more or fewer steps than the text left it with: others have moved it.
    """
    model = as_model(model)
    if not isinstance(sampling, Sampling):
        raise TypeError(f"sampling is a Sampling, not {type(sampling).__name__}")
    if vocabulary is not None and not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"vocabulary is a Vocabulary, not {type(vocabulary).__name__}")
    max_new_tokens = check_count("max_new_tokens", max_new_tokens, 1, MAX_BUDGET)
    check_bool("close_in_time", close_in_time)
    check_bool("forced", forced)
    if prefix_cache is not None:
        from .prefix_cache import kv

        kv.check_cache(prefix_cache)
    ids = prompt_of(prompt_ids)
    warn_of_length(len(ids), model.max_length)
    if stop is not None:
        if not hasattr(stop, "__iter__"):
            raise TypeError(f"stop is a collection of tokens, not {type(stop).__name__}")
        stop = [check_count("a stop token", token, 0) for token in stop]
    generation = Generation()
    begun = time.perf_counter()
    matcher = _matcher_of(grammar, vocabulary, stop)
    if matcher is not None:
        vocabulary = matcher.vocabulary
    text = None if matcher is None else BudgetedText(matcher, max_new_tokens, close_in_time)
    generation.seconds = generation.seconds_masks = time.perf_counter() - begun
    if stop is None:
        stop = vocabulary.eos if vocabulary is not None else ()
    loop = _Loop(
        model=model,
        ids=ids,
        text=text,
        vocabulary=vocabulary,
        sampling=sampling,
        max_new_tokens=max_new_tokens,
        rng=rng_of(seed),
        forced=forced,
        stop=frozenset(stop),
        generation=generation,
    )
    return Stream(loop.run(prefix_cache), generation)


class Stream:
    """The steps of a generation, as they are made. May be used in `with`, whose end closes it.

    Attributes
    ----------
    generation : Generation
        What was generated so far.
    """

    def __init__(self, steps: Generator[Step, None, None], generation: Generation):
        self._steps = steps
        self.generation = generation

    def __iter__(self) -> Iterator[Step]:
        return self

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the text where it is. Not needed at its end, nor before the stream is dropped: then it closes itself."""
        self._steps.close()

    def __next__(self) -> Step:
        begun = time.perf_counter()
        try:
            return next(self._steps)
        finally:
            self.generation.seconds += time.perf_counter() - begun


def _matcher_of(grammar: Grammar | Matcher | None, vocabulary: Vocabulary | None, stop: list[int] | None) -> Matcher | None:
    if grammar is None:
        return None
    if isinstance(grammar, Grammar):
        if vocabulary is None:
            raise ValueError("a grammar needs a vocabulary")
        matcher = Matcher(grammar, vocabulary, eos=stop)
    elif not isinstance(grammar, Matcher):
        raise TypeError(f"grammar is a Grammar or a Matcher, or None, not {type(grammar).__name__}")
    else:
        matcher = grammar
        if stop is not None:
            raise ValueError("the text of a Matcher ends with the tokens that it was made with: Matcher(eos=...) in the place of `stop`")
        if vocabulary is not None and vocabulary != matcher.vocabulary:
            raise ValueError("the matcher has another vocabulary")
        if matcher.is_terminated:
            raise ValueError("the text of the matcher has ended already")
    check_ends(matcher)
    return matcher


@dataclass
class _Loop:
    """The loop; see the top of this file."""

    model: Model
    ids: list[int]  # prompt and text
    text: BudgetedText | None
    vocabulary: Vocabulary | None
    sampling: Sampling
    max_new_tokens: int
    rng: np.random.Generator
    forced: bool
    stop: frozenset[int]
    generation: Generation
    n_passed: int = 0  # of `ids`, how many the last pass has seen
    written: set[int] = field(default_factory=set)  # which tokens are penalised

    def run(self, prefix_cache: PrefixCache[Payload] | None) -> Generator[Step, None, None]:
        """The steps, until the text ends or the budget is used up."""
        try:
            yield from self._steps(self.model.start()) if prefix_cache is None else self._steps_from(prefix_cache)
        finally:
            if self.text is not None:
                self.text.leave()
                self.text = None

    def _steps_from(self, prefix_cache: PrefixCache[Payload]) -> Generator[Step, None, None]:
        """`_steps`, with keys and values from a cache, which takes in those that are made."""
        session = self.model.start()
        from .prefix_cache import kv

        with kv.resume(session, prefix_cache, self.ids, self.model) as lease:
            n_kept = 0
            try:
                for step in self._steps(session):
                    if self.n_passed and not n_kept:
                        kv.keep(session, lease, self.ids[: self.n_passed], self.model)
                        n_kept = self.n_passed
                    elif self.generation.finish_reason:
                        self._keep_rest(session, lease, n_kept)
                        n_kept = self.n_passed
                    yield step
            finally:  # where the caller has left before the end
                self._keep_rest(session, lease, n_kept)

    def _keep_rest(self, session: Session, lease: Lease[Payload], n_kept: int) -> None:
        """Keep what was passed since `n_kept` positions were kept, if any were and it can be."""
        if 0 < n_kept < self.n_passed:
            # A pass has failed, a cache of another kind has lost positions, or the interpreter is shutting down.
            with suppress(TypeError, ValueError, ImportError):
                from .prefix_cache import kv

                kv.keep(session, lease, self.ids[: self.n_passed], self.model)

    def _steps(self, session: Session) -> Iterator[Step]:
        generation = self.generation
        while generation.finish_reason is None:
            tokens = self._write_alone()
            forced = bool(tokens)
            if not forced:
                tokens = [self._write(session)]
            self.ids += tokens
            generation.tokens += tokens
            self.written.update(tokens)
            generation.forced += len(tokens) if forced else 0
            spelling = b"" if self.vocabulary is None else b"".join(_spelling(self.vocabulary, token) for token in tokens)
            generation.text += spelling
            generation.finish_reason = self._finish_reason(tokens[-1])
            yield Step(tuple(tokens), spelling, forced)

    def _finish_reason(self, last: int) -> Literal["end", "budget"] | None:
        if last in self.stop if self.text is None else self.text.matcher.is_terminated:
            return "end"
        return "budget" if len(self.generation.tokens) == self.max_new_tokens else None

    def _write_alone(self) -> list[int]:
        if self.text is None or (self.forced and self.text.has_choice):
            return []
        begun = time.perf_counter()
        tokens: list[int] = []
        if self.forced:
            tokens = self.text.write_alone()
        else:
            self.text.fill_mask()
        self.generation.seconds_masks += time.perf_counter() - begun
        return tokens

    def _write(self, session: Session) -> int:
        """Choose a token by its score, and append it to the text."""
        generation, sampling, text, clock = self.generation, self.sampling, self.text, time.perf_counter
        begun = clock()
        try:
            scores = asked(session, self.ids, 1)[0]
        finally:
            generation.seconds_model += clock() - begun
        generation.passes += 1
        self.n_passed = len(self.ids)
        if sampling.repetition_penalty != 1:
            penalise(scores, self.written, sampling.repetition_penalty, sign_aware=sampling.sign_aware)
        if text is None:
            if self.vocabulary is not None:
                scores[self.vocabulary.size :] = -np.inf  # ids that pad the model's output
            weights = weigh(scores, sampling)
            return weights.token(choose(weights.values, self.rng))
        if len(scores) < text.matcher.vocabulary.width:
            raise ValueError(f"the model scores {len(scores)} tokens, and the vocabulary has {text.matcher.vocabulary.width}")
        begun = clock()
        ids, scores = text.masked(scores)
        generation.seconds_masks += clock() - begun
        for place in islice(self._places(scores), TRIES):
            token = place if ids is None else int(ids[place])
            begun = clock()
            fits = text.accept(token)
            generation.seconds_masks += clock() - begun
            if fits:
                return token
            generation.refused += 1
            scores[place] = -np.inf
        if not text.close_in_time:
            raise ValueError("the model gives -inf to every token that the grammar allows")
        token = text.way_out()
        if not text.accept(token):
            raise InternalError(f"token {token} begins a closing and does not fit")
        return token

    def _places(self, scores: Scores) -> Iterator[int]:
        """Places of scores as they are drawn, none twice; those of tokens that were refused have the score -inf."""
        if scores.max(initial=-np.inf) == -np.inf:
            return
        weights = weigh(scores, self.sampling)
        yield from map(weights.token, draws(weights.values, self.rng))
        yield from retries(scores, self.sampling, self.rng, TRIES)


def _spelling(vocabulary: Vocabulary, token: int) -> bytes:
    """What a token adds to the text; models have ids that no vocabulary knows."""
    return vocabulary.token_bytes(token) if token < vocabulary.width else b""
