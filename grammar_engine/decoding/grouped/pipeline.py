"""What grouped sampling and grouped tree search share: options, the call with texts, the call with ids, lists of prompts as one batch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np

from ...checks import check_bool, check_count, check_ends, check_iterable, check_number
from ...grammar import Grammar
from ...matcher import Matcher
from ...vocabulary import Vocabulary
from ..budget import MAX_BUDGET, BudgetedText
from ..ids import prompt_of
from ..keys_values import Payload
from ..models import Logits, as_model
from ..scores import Probabilities, Sampling, rng_of
from ..warning import warn_of_length
from .answers import BatchFunction, passes_of
from .codec import codec_of, spelt
from .commit import visible
from .methods import GenerationType, sampling_of
from .passes import Writing, run
from .penalties import DEFAULT_REPETITION_PENALTY, NoRepetitionPenalty, RepetitionPenaltyStrategy, penalty_from_dict
from .postprocessing import PostProcessor
from .preprocessing import Prepared, PreProcessor
from .pretrained import load_pretrained
from .result import GroupedResult
from .text import Rules, Text

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..prefix_cache import PrefixCache

# A tokenizer of `transformers` that does not know what its model can see says 10**30, or whatever was saved with it. So a length of more
# than this is not believed of a tokenizer, and `from_pretrained` asks for one. What a model says of itself, or a user, is believed.
MAX_MODEL_INPUT_SIZE = 32_768
_MOST = MAX_BUDGET // 2  # tokens that a multiplier comes to: rounded to a float, a greater number would be more than `MAX_BUDGET`


class PipelineOptions(TypedDict, total=False):
    """The keywords of `GroupedPipeline`, which describes them."""

    temp: float | None
    end_of_sentence_stop: bool | None
    repetition_penalty_strategy: RepetitionPenaltyStrategy | None
    answer_length_multiplier: float
    max_input_len: int | None
    padding_id: int | None
    penalize_from: str | int
    penalize_in_group: bool
    forced: bool
    close_in_time: bool
    min_allowed_mass: float
    min_top_prob: float
    batch: BatchFunction | None
    prefix_cache: PrefixCache[Payload] | None
    vocabulary: Vocabulary | None
    model_name: str | None


class GroupedPipeline(ABC):
    """A model, a tokenizer, and how texts are written with them.

    Parameters
    ----------
    model : Model, torch.nn.Module or callable
        What `as_model` takes. A callable takes ids and returns their scores, shape (len(ids), V).
    tokenizer : Vocabulary, or a tokenizer of transformers
    group_size : int
        Tokens that a pass is asked for; 1 is ordinary decoding.
    temp : float, optional
        Temperature; default 1.
    end_of_sentence_stop : bool, optional
        End a text at the token that ends it; default True, if the tokenizer has such a token.
        False: that token is never chosen, unless a grammar allows nothing else.
    repetition_penalty_strategy : RepetitionPenaltyStrategy, optional
        Default: theta 1.2 without a grammar, none under a grammar, which asks for some tokens again and again.
    answer_length_multiplier : float
        Tokens that are generated at most for each token of the prompt, where a call does not say how many.
    max_input_len : int, optional
        Positions that a pass can see. Default: what the tokenizer and the model say; any number, if they say nothing.
    padding_id : int, optional
        The id that stands for an unknown token, one that the model knows. Default:
        the tokenizer's padding, unknown or mask token, the first that there is.
    penalize_from : {"generated", "all"} or int
        The first token that counts for the penalty: the first that was generated,
        the first of the prompt, or that with this number, from 0 on.
    penalize_in_group : bool
        Penalise the tokens of a group one by one, as they are chosen. False: in mode "commit" only those of earlier groups count; "verify",
        whose texts do not depend on groups, and tree search penalise all the same.
    forced : bool
        Tokens that the grammar alone determines are appended, not asked for.
    close_in_time : bool
        Under a grammar, allow only tokens after which a way to a sentence still fits into the budget. A text is complete with every
        `max_new_tokens` from the sentence of the fewest tokens (and its end) upwards; less raises ValueError.
    min_allowed_mass : float
        Under a grammar: a guess is not trusted where the mask allows less than this share of its probability, and ends its group. 0: never.
    min_top_prob : float
        Nor is one whose likeliest token, of those that the grammar allows, is less likely than this among them: after penalty and
        temperature (1 where that is 0), before `top_k` and `top_p`.
    batch : callable, optional
        For a callable model: takes the ids of several texts, and returns for each an array (len(ids), V), by one forward pass. A torch
        module needs none. See `grammar_engine.decoding.grouped.batch`.
    prefix_cache : PrefixCache, optional
        Keys and values of the beginnings of texts, for this and other calls, samplers and loops: what it has of a prompt needs no forward
        pass. For torch modules, and models whose sessions can be resumed; others raise TypeError at the first pass.
    vocabulary : Vocabulary, optional
        For grammars, where the tokenizer is none. Default: `Vocabulary.from_transformers(tokenizer)`.
    model_name : str, optional
        For `as_dict`.

    Raises
    ------
    ValueError
        An option is out of its range; above all, a group leaves no room for a token of the prompt.
    RuntimeError
        No id stands for an unknown token.
    """

    _most_requests = 1  # of one text in one round
    top_k: int | None
    top_p: float | None

    descriptive_attrs: ClassVar[tuple[str, ...]] = (
        *("model_name", "group_size", "temp", "end_of_sentence_stop", "repetition_penalty_strategy", "answer_length_multiplier"),
        *("max_input_len", "padding_id", "penalize_from", "penalize_in_group", "forced", "close_in_time"),
        *("min_allowed_mass", "min_top_prob"),
    )

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        group_size: int,
        *,
        temp: float | None = None,
        end_of_sentence_stop: bool | None = None,
        repetition_penalty_strategy: RepetitionPenaltyStrategy | None = None,
        answer_length_multiplier: float = 16.0,
        max_input_len: int | None = None,
        padding_id: int | None = None,
        penalize_from: str | int = "generated",
        penalize_in_group: bool = True,
        forced: bool = True,
        close_in_time: bool = True,
        min_allowed_mass: float = 0.0,
        min_top_prob: float = 0.0,
        batch: BatchFunction | None = None,
        prefix_cache: PrefixCache[Payload] | None = None,
        vocabulary: Vocabulary | None = None,
        model_name: str | None = None,
    ):
        self.model = as_model(model)
        self.codec = codec_of(tokenizer)
        self.tokenizer = tokenizer
        self.model_name = model_name
        self.group_size = check_count("group_size", group_size)
        self.temp = 1.0 if temp is None else temp
        stops = True if end_of_sentence_stop is None else check_bool("end_of_sentence_stop", end_of_sentence_stop)
        self.end_of_sentence_stop = bool(self.codec.ends) and stops
        self.repetition_penalty_strategy = _checked_penalty(repetition_penalty_strategy)
        self.answer_length_multiplier = check_number("answer_length_multiplier", answer_length_multiplier, 0, above=True)
        self.max_input_len = self._max_input_len(max_input_len)
        self.padding_id = self._padding_id(padding_id)
        self.penalize_from = _checked_beginning(penalize_from)
        self.penalize_in_group = check_bool("penalize_in_group", penalize_in_group)
        self.forced = check_bool("forced", forced)
        self.close_in_time = check_bool("close_in_time", close_in_time)
        self.min_allowed_mass = check_number("min_allowed_mass", min_allowed_mass, 0, 1)
        self.min_top_prob = check_number("min_top_prob", min_top_prob, 0, 1)
        _check_batch(batch, prefix_cache)
        self.batch, self.prefix_cache = batch, prefix_cache
        if not (vocabulary is None or isinstance(vocabulary, Vocabulary)):
            raise TypeError(f"vocabulary is a Vocabulary, not {type(vocabulary).__name__}")
        self._vocabulary = vocabulary
        self.sampling()  # raises if temp is out of range
        self._check_room(self.group_size)
        self.pre_processing_strategy = PreProcessor(tokenizer, self.max_input_len)
        self.post_processing_strategy = PostProcessor(tokenizer)

    def _check_names(self, options: Iterable[str]) -> None:
        """Raise TypeError, as of the class that was called, for an option that there is not."""
        for name in options:
            if name not in signature(GroupedPipeline).parameters:
                hint = ": temp is the temperature" if name == "temperature" else ""
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}{hint}")

    def _max_input_len(self, given: int | None) -> int | None:
        if given is not None:
            given = check_count("max_input_len", given)
        by_tokenizer = self.codec.max_length
        if by_tokenizer is not None and by_tokenizer > MAX_MODEL_INPUT_SIZE:
            by_tokenizer = None
        return min((length for length in (given, by_tokenizer, self.model.max_length) if length is not None), default=None)

    def _padding_id(self, given: int | None) -> int | None:
        if given is None and not self._has_pads():
            return None
        pad = self.codec.padding_id() if given is None else check_count("padding_id", given, 0)
        width = None
        with suppress(ValueError):  # not known before the first pass
            width = self.model.width
        if pad >= (width or math.inf):
            whose = "padding_id" if given is not None else "what stands for an unknown token in the tokenizer"
            raise ValueError(f"{whose} is {pad}, and the model knows {width} tokens")
        return pad

    def _has_pads(self) -> bool:
        """Whether a group may be of more than one token."""
        return self.group_size > 1

    def _check_room(self, size: int) -> None:
        if size > 1 and self.max_input_len is not None and size >= self.max_input_len:
            raise ValueError(f"a group of {size} leaves no room for a prompt: the model can see {self.max_input_len} tokens")

    def sampling(self) -> Sampling:
        """How a token is chosen from a row; in a tree, which tokens of it are followed.

        Raises
        ------
        ValueError
            An option is out of its range.
        """
        return sampling_of(self.temp, self.top_k, self.top_p)

    # --- what the two kinds say of themselves -----------------------------------------------------------------------

    @property
    @abstractmethod
    def generation_type(self) -> GenerationType:
        """How tokens are chosen."""

    @abstractmethod
    def _writings(
        self, prompt: list[int], grammar: Grammar | None, budget: int, sequences: int, seed: int
    ) -> list[Writing[list[GroupedResult]]]:
        """What writes the sequences of one prompt. All run together, and their results follow each other."""

    # --- writing ----------------------------------------------------------------------------------------------------

    def __call__(
        self,
        prompt_s: str | Sequence[str],
        max_new_tokens: int | None = None,
        return_tensors: bool | str = False,
        return_text: bool = True,
        return_full_text: bool = True,
        clean_up_tokenization_spaces: bool = False,
        prefix: str = "",
        num_return_sequences: int = 1,
        truncation: Any = "do_not_truncate",
        postfix: str = "",
        *,
        grammar: Grammar | Sequence[Grammar | None] | None = None,
    ) -> Any:
        """Answer one prompt or several.

        Parameters
        ----------
        prompt_s : str or list of str
            Several prompts are a batch: their forward passes are one, and the answers are those of single calls.
        max_new_tokens : int, optional
            Tokens to generate, above 0, the one that ends the text included. Default: until the text ends, and at most
            `answer_length_multiplier` for each token of the prompt.
        return_tensors : bool or {"pt", "np"}
            Add "generated_token_ids": a torch tensor, or a numpy array.
        return_text : bool
            Add "generated_text".
        return_full_text : bool
            Answer with the prompt and what was generated; else with the latter alone.
        clean_up_tokenization_spaces : bool
            Handed on to the tokenizer's `decode`. What is written under a grammar is spelt byte for byte instead.
        prefix, postfix : str
            Put before and after each prompt; never answered.
        num_return_sequences : int
            Answers for each prompt.
        truncation : bool, str or TruncationStrategy
            Handed on to the tokenizer. By default, a text that is too long for the model is not cut, but the model sees its end only.
        grammar : Grammar, or sequence of Grammar or None, optional
            What is generated (without the prompt) is a sentence of it. A sequence has one for each prompt; None: anything may be written.

        Returns
        -------
        dict, list of dict, or list of list of dict
            One prompt and one sequence; one of the two several times; both. Only the keys that were asked for are there.

        Raises
        ------
        ValueError
            There is nothing that would end the text; a prompt has no tokens, or too few for
            `answer_length_multiplier` to leave any for its answer; a number is not positive.
        """
        check_iterable("prompt_s, if it is no str,", prompt_s, "str")
        single = isinstance(prompt_s, str)
        prompts = [prompt_s] if isinstance(prompt_s, str) else list(prompt_s)
        prepared = [self.pre_processing_strategy(prompt, prefix, truncation, postfix) for prompt in prompts]
        budgets = [self._budget(max_new_tokens, each) for each in prepared]
        grammars = _grammars(grammar, len(prompts))
        many = self._write([each.ids for each in prepared], budgets, grammars, num_return_sequences)
        answers: list[Any] = []
        for each, budget, own, results in zip(prepared, budgets, grammars, many):
            of_prompt = [
                self.post_processing_strategy(
                    token_ids=[*each.ids, *result.ids],
                    num_new_tokens=budget,
                    prompt_len=each.prompt_len,
                    return_text=return_text,
                    return_tensors=return_tensors,
                    return_full_text=return_full_text,
                    clean_up_tokenization_spaces=clean_up_tokenization_spaces,
                    prefix_len=each.prefix_len,
                    postfix_len=each.postfix_len,
                    generated_text=None if own is None else result.text,
                )
                for result in results
            ]
            answers.append(of_prompt[0] if num_return_sequences == 1 else of_prompt)
        return answers[0] if single else answers

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        max_new_tokens: int,
        *,
        grammar: Grammar | Sequence[Grammar | None] | None = None,
        num_return_sequences: int = 1,
        seed: int | None = None,
    ) -> list[list[GroupedResult]]:
        """Write on from ids, with all that is known of how it went.

        Parameters
        ----------
        prompts : sequence of sequences of int
            Ids of each prompt, at least one; written as one batch.
        max_new_tokens : int
            Tokens to generate for each, the one that ends a text included.
        grammar : Grammar, or sequence of Grammar or None, optional
            What is generated is a sentence of it. A sequence has one for each prompt; None: anything may be written.
        num_return_sequences : int
            Results for each prompt.
        seed : int, optional
            Of the first sequence of each prompt; the next ones have the next seeds. Default: `default_seed` + 1.

        Returns
        -------
        list of list of GroupedResult
            For each prompt its results.

        Raises
        ------
        TypeError, ValueError
            `prompts` are the ids of one prompt, or something in them is no prompt.
            There are more grammars than prompts, or fewer; or one is none.
        """
        given = list(prompts) if hasattr(prompts, "__iter__") else None
        if given is None or any(not hasattr(prompt, "__iter__") for prompt in given):
            raise TypeError("prompts is a list of prompts, each of which is a list of ids")
        budgets = [check_count("max_new_tokens", max_new_tokens, 1, MAX_BUDGET)] * len(given)
        grammars = _grammars(grammar, len(given))
        return self._write([prompt_of(prompt) for prompt in given], budgets, grammars, num_return_sequences, seed)

    def _write(
        self, prompts: list[list[int]], budgets: list[int], grammars: Sequence[Grammar | None], sequences: int, seed: int | None = None
    ) -> list[list[GroupedResult]]:
        sequences = check_count("num_return_sequences", sequences)
        first = self._first_seed() if seed is None else check_count("seed", seed, 0)
        for prompt in prompts:
            if not prompt:
                raise ValueError("a prompt has no tokens: the model needs at least one")
        of_prompts = [
            self._writings(prompt, grammar, budget, sequences, first) for prompt, grammar, budget in zip(prompts, grammars, budgets)
        ]
        writings = list(chain.from_iterable(of_prompts))
        written = iter(run(writings, passes_of(self.model, self.batch, len(writings) * self._most_requests, self.prefix_cache)))
        many = [list(chain.from_iterable(next(written) for _ in of_prompt)) for of_prompt in of_prompts]
        for grammar, results in zip(grammars, many):
            for result in results:
                result.text = self.codec.decode(result.ids, False) if grammar is None else spelt(self.vocabulary, result.ids)
        return many

    def _first_seed(self) -> int:
        return 1

    # --- one pass by hand -------------------------------------------------------------------------------------------

    @property
    def padding_tokens(self) -> list[int]:
        """The unknown tokens that are put behind a text: `group_size` - 1 of them."""
        return [] if self.padding_id is None else [self.padding_id] * (self.group_size - 1)

    def get_logits_matrix(self, tokens: Sequence[int]) -> Logits:
        """What the model says of the next tokens, by one pass.

        Parameters
        ----------
        tokens : sequence of int
            The text so far, at least one token; of a text that is too long the model sees the end.

        Returns
        -------
        numpy.ndarray
            float32, shape (`group_size`, V), where V counts the tokens of the tokenizer. Row i is of the token i + 1 from here.

        Warns
        -----
        UserWarning
            The text is too long.
        """
        warn_of_length(len(tokens), self.max_input_len, self.group_size)
        return self._rows(tokens)

    def _rows(self, tokens: Sequence[int]) -> Logits:
        rows = self.model.start().logits(visible([*tokens, *self.padding_tokens], self.max_input_len), self.group_size)
        return rows[:, : self.codec.size]

    def get_prob_mat(self, tokens: Sequence[int], generation_start: int) -> Probabilities:
        """The chances with which the next tokens are drawn, after penalty, temperature and filters.

        They are those without a grammar, and of each token without the others.

        Parameters
        ----------
        tokens : sequence of int
            Those of `get_logits_matrix`.
        generation_start : int
            How many of them are the prompt, and not penalised if `penalize_from` is "generated".

        Returns
        -------
        numpy.ndarray
            float64, shape (`group_size`, V); each row sums to 1. Greedy:
            1 for the best token. All 0: a guess that gives -inf to every token.

        Raises
        ------
        ValueError
            `generation_start` is not 0 to the number of tokens.
        """
        [text] = self._texts(list(tokens), None, 1, [0])
        text.begin = check_count("generation_start", generation_start, 0, len(text.ids))
        return np.stack([text.outlook(row, place).chances for place, row in enumerate(self._rows(tokens))])

    def _budget(self, max_new_tokens: int | None, prepared: Prepared) -> int:
        if max_new_tokens is not None:
            return check_count("max_new_tokens", max_new_tokens, 1, MAX_BUDGET)
        if not self.end_of_sentence_stop:
            raise ValueError("max_new_tokens must be given if end_of_sentence_stop is False")
        budget = int(min(prepared.prompt_len * self.answer_length_multiplier, _MOST))
        if not budget:
            few = f"the prompt has {prepared.prompt_len} tokens, and answer_length_multiplier is {self.answer_length_multiplier}"
            raise ValueError(f"{few}: no token may be generated; give max_new_tokens")
        return budget

    def _rows_beside_prompt(self) -> int:
        """The rows of a first pass, for whose pads a prompt is cut."""
        return self.group_size

    def _texts(self, prompt: list[int], grammar: Grammar | None, budget: int, seeds: Sequence[int]) -> list[Text]:
        """For each seed a text that begins with `prompt`, and nothing generated yet."""
        warn_of_length(len(prompt), self.max_input_len, self._rows_beside_prompt())
        penalty = self.repetition_penalty_strategy
        if penalty is None:
            penalty = DEFAULT_REPETITION_PENALTY if grammar is None else NoRepetitionPenalty()
        rules = Rules(
            sampling=self.sampling(),
            penalty=penalty,
            size=self.codec.size,
            ends=frozenset(self.codec.ends if grammar is None else self.vocabulary.eos),
            end_of_sentence_stop=self.end_of_sentence_stop,
            penalize_from=self.penalize_from,
            penalize_in_group=self.penalize_in_group,
            forced=self.forced,
            close_in_time=self.close_in_time,
            min_allowed_mass=self.min_allowed_mass,
            min_top_prob=self.min_top_prob,
        )
        return [Text(rules, prompt, self._state(grammar, budget), budget, rng_of(seed)) for seed in seeds]

    def _state(self, grammar: Grammar | None, budget: int) -> BudgetedText | None:
        if grammar is None:
            return None
        if not isinstance(grammar, Grammar):
            kind = type(grammar).__name__
            raise TypeError(
                f"grammar is a Grammar, or a sequence with one or None for each prompt, not {kind}: each text gets a matcher of its own"
            )
        check_ends(self.vocabulary)
        return BudgetedText(Matcher(grammar, self.vocabulary), budget, self.close_in_time)

    @property
    def vocabulary(self) -> Vocabulary:
        """What the tokens spell, for grammars."""
        if self._vocabulary is None:
            tokenizer = self.tokenizer
            self._vocabulary = tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary.from_transformers(tokenizer)
        return self._vocabulary

    # --- as data ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_pretrained(cls, model_name: str, group_size: int, *, model_options: dict[str, Any] | None = None, **options: Any) -> Self:
        """Make one with a model and a tokenizer that `transformers` loads, on a GPU if there is one.

        Parameters
        ----------
        model_name : str
            A name or a folder.
        group_size : int
        model_options : dict, optional
            For `AutoModelForCausalLM.from_pretrained`.
        **options
            For the constructor.

        Raises
        ------
        ValueError
            Neither `max_input_len` nor the tokenizer nor the model says how
            many tokens the model can see (more than 32,768 count as "not said").
        """
        given = options.pop("max_input_len", None)
        module, tokenizer, options["max_input_len"] = load_pretrained(model_name, MAX_MODEL_INPUT_SIZE, given, model_options or {})
        return cls(module, tokenizer, group_size, model_name=model_name, **options)

    def as_dict(self) -> dict[str, Any]:
        """All options, as plain values that JSON can hold; and the method, as "generation_type"."""
        values = {name: _plain(getattr(self, name)) for name in self.descriptive_attrs}
        penalty = self.repetition_penalty_strategy
        values["repetition_penalty_strategy"] = None if penalty is None else penalty.as_dict()
        return {"generation_type": self.generation_type.value, **values}

    @classmethod
    def from_dict(cls, values: dict[str, Any], model: Any = None, tokenizer: Any = None, **others: Any) -> Self:
        """Make again what `as_dict` described. `values` is not changed.

        Parameters
        ----------
        values : dict
            What it leaves out has its default.
        model, tokenizer : optional
            Default: those of `values["model_name"]`, by `from_pretrained`.
        **others
            Options that go before those of `values`: what is no plain value (`batch`, `vocabulary`, a penalty of one's own) is not in them.

        Raises
        ------
        ValueError
            The penalty was one of the user's own, or there is no model.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"values is a dict, as `as_dict` makes it, not {type(values).__name__}")
        options = {name: value for name, value in values.items() if name != "generation_type"} | others
        if isinstance(options.get("repetition_penalty_strategy"), dict):
            options["repetition_penalty_strategy"] = penalty_from_dict(options["repetition_penalty_strategy"])
        if model is not None and tokenizer is not None:
            return cls(model, tokenizer, **options)
        if options.get("model_name") is None:
            raise ValueError("there is no model_name to load: give a model and a tokenizer")
        return cls.from_pretrained(options.pop("model_name"), **options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: " + ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())


def _checked_penalty(given: RepetitionPenaltyStrategy | None) -> RepetitionPenaltyStrategy | None:
    if given is None or isinstance(given, RepetitionPenaltyStrategy):
        return given
    raise TypeError(
        f"repetition_penalty_strategy is a RepetitionPenaltyStrategy, not {type(given).__name__}: "
        "repetition_penalty_factory makes one of a number"
    )


def _checked_beginning(given: str | int) -> str | int:
    """The first token that is penalised."""
    if not isinstance(given, str):
        return check_count("penalize_from", given, 0)
    if given not in ("generated", "all"):
        raise ValueError(f"penalize_from is 'generated', 'all' or an int, not {given!r}")
    return given


def _check_batch(batch: BatchFunction | None, prefix_cache: PrefixCache[Payload] | None) -> None:
    """Raise TypeError or ValueError for a batch function that is none, a cache that is none, and for both together."""
    if not (batch is None or callable(batch)):
        raise TypeError(f"batch is a callable, not {type(batch).__name__}")
    if prefix_cache is None:
        return
    from ..prefix_cache import kv

    kv.check_cache(prefix_cache)
    if batch is not None:
        raise ValueError("a batch function has no keys and values for a prefix_cache")


def _grammars(grammar: Any, n_prompts: int) -> Sequence[Any]:
    """The grammar of each prompt."""
    if not isinstance(grammar, Sequence) or isinstance(grammar, (str, bytes)):
        return [grammar] * n_prompts
    if len(grammar) != n_prompts:
        raise ValueError(f"{len(grammar)} grammars for {n_prompts} prompts")
    return grammar


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value
