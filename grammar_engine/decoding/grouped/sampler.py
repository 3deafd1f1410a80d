"""Grouped sampling: several tokens from one forward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...checks import check_bool, check_choice, check_count
from ...grammar import Grammar
from ..scores import Probabilities, choose, rng_of
from .commit import commit
from .group_size import GroupSize
from .methods import GenerationType
from .passes import Writing
from .pipeline import GroupedPipeline, PipelineOptions
from .result import GroupedResult
from .text import Text
from .verify import verify

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MODES = ("commit", "verify")


class GroupedSampler(GroupedPipeline):
    """Writes texts several tokens at a time: `group_size - 1` unknown tokens
    are put behind a text, and a token is drawn from each row of scores.

    `ceil(n / group_size)` forward passes make n tokens. Under a grammar, tokens that it alone determines need none, and every row is masked
    in the state that the rows before it led to.

    Parameters
    ----------
    model, tokenizer, group_size
        See `GroupedPipeline`; so for `**options`.
    top_k : int, optional
        Draw from the k likeliest tokens; 1 is greedy. `top_p` is ignored then.
    top_p : float, optional
        Draw from the likeliest tokens until their probabilities sum to this,
        the one that crosses it included; 0 is greedy, 1 or more is all.
    mode : {"commit", "verify"}
        Keep what is drawn; or let the next pass check it, so that the text is distributed as if written one token at a time.
    adaptive : bool
        Let the size of groups grow and shrink with what comes of them, from `group_size`, up to `max_group_size`.
    max_group_size : int, optional
        Default: 4 * `group_size`, if the model can see so many.
    redraft : bool
        "verify": draft from the rows behind a token that was replaced, too.
    default_seed : int
        Sequence j (from 1) of a prompt is drawn with the seed `default_seed` + j. May be assigned later.

    Examples
    --------
    >>> import numpy as np
    >>> from grammar_engine import Grammar, Vocabulary
    >>> def scores(ids):
    ...     return np.zeros((len(ids), 257), dtype=np.float32)
    >>> sampler = GroupedSampler(scores, Vocabulary.bytes(), group_size=4, padding_id=0)
    >>> answer = sampler("A date: ", max_new_tokens=20, grammar=Grammar.from_regex("2[0-9]{3}-0[1-9]"), return_full_text=False)
    >>> len(answer["generated_text"]), answer["generated_text"][0], answer["generated_text"][4:6]
    (7, '2', '-0')
    """

    descriptive_attrs: ClassVar[tuple[str, ...]] = (
        *GroupedPipeline.descriptive_attrs,
        *("top_k", "top_p", "mode", "adaptive", "max_group_size", "redraft", "default_seed"),
    )
    default_seed = 0

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        group_size: int,
        *,
        top_k: int | None = None,
        top_p: float | None = None,
        mode: str = "commit",
        adaptive: bool = False,
        max_group_size: int | None = None,
        redraft: bool = True,
        default_seed: int = 0,
        **options: Unpack[PipelineOptions],
    ):
        self._check_names(options)
        self.top_k, self.top_p = top_k, top_p
        self.adaptive = check_bool("adaptive", adaptive)
        self._has_growth = self.adaptive and max_group_size != 1
        super().__init__(model, tokenizer, group_size, **options)
        self.mode, self.redraft = check_choice("mode", mode, _MODES), check_bool("redraft", redraft)
        self.default_seed = default_seed
        self.max_group_size = self._max_group_size(max_group_size)
        self._given_max = None if max_group_size is None else int(max_group_size)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, check_count(name, value, 0) if name == "default_seed" else value)

    def _rows_beside_prompt(self) -> int:
        return 1 if self.mode == "verify" else super()._rows_beside_prompt()  # there, drafts give way

    def _has_pads(self) -> bool:
        return self.group_size > 1 or self._has_growth

    def _max_group_size(self, given: int | None) -> int:
        if given is None and not self.adaptive:
            return self.group_size
        if given is None:
            room = self.max_input_len
            return 4 * self.group_size if room is None else max(min(4 * self.group_size, room - 1), self.group_size)
        if check_count("max_group_size", given) < self.group_size:
            raise ValueError(f"max_group_size is {given}, and group_size {self.group_size}")
        self._check_room(given)
        return given if self.adaptive else self.group_size

    @property
    def generation_type(self) -> GenerationType:
        """The method that `top_k`, `top_p` and `temp` ask for."""
        return GenerationType.GREEDY if self.temp == 0 else GenerationType.of(self.top_k, self.top_p)

    def generate_group(self, prob_mat: Probabilities, seed: int | None = None) -> list[int]:
        """Draw a token from each row of chances, up to the first one that ends a text.

        Parameters
        ----------
        prob_mat : numpy.ndarray
            What `get_prob_mat` returns.
        seed : int, optional
            Default: `default_seed` + 1.

        Returns
        -------
        list of int
            At least one token and at most `group_size`; one that ends the text is the last. A row of zeros behind the first ends the group.

        Raises
        ------
        ValueError
            `prob_mat` is no matrix of chances.
        """
        rows = np.asarray(prob_mat, dtype=np.float64)
        if rows.ndim != 2 or not rows.any(axis=-1)[:1].all() or not (rows >= 0).all() or not np.isfinite(rows).all():
            raise ValueError("chances are rows of finite numbers that are not negative, of the first row not all 0")
        rng, tokens = rng_of(self._first_seed() if seed is None else seed), list[int]()
        for chances in rows:
            if not chances.any() or (tokens and tokens[-1] in self.codec.ends):
                break
            tokens.append(choose(chances, rng))
        return tokens

    def _first_seed(self) -> int:
        return self.default_seed + 1

    def as_dict(self) -> dict[str, Any]:
        """All options, as plain values that JSON can hold; and the method, as "generation_type".

        "max_group_size" is what was given, so that the default follows from what `from_dict` is given besides.
        """
        return super().as_dict() | {"max_group_size": self._given_max}

    def _writings(
        self, prompt: list[int], grammar: Grammar | None, budget: int, sequences: int, seed: int
    ) -> list[Writing[list[GroupedResult]]]:
        return [self._writing(text) for text in self._texts(prompt, grammar, budget, range(seed, seed + sequences))]

    def _writing(self, text: Text) -> Writing[list[GroupedResult]]:
        size = GroupSize(self.group_size, self.max_group_size, self.adaptive)
        pad = -1 if self.padding_id is None else self.padding_id  # none is needed then
        if self.mode == "verify":
            result = yield from verify(text, size, pad, self.max_input_len, self.redraft)
        else:
            result = yield from commit(text, size, pad, self.max_input_len)
        return [result]
