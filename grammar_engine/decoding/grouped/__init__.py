"""Grouped sampling: several tokens from one forward pass of a causal model, by unknown tokens put behind the text.

    codec.py  preprocessing.py  postprocessing.py     text <-> ids
    methods.py  penalties.py  group_size.py           how tokens are chosen, and how many at once
    text.py                                           one text: rows of scores -> tokens, under a grammar and a budget
    commit.py  verify.py  tree.py                     what becomes of a group: kept; checked by the next pass; many followed
    passes.py                                         one text or many, by the same forward pass
    pipeline.py  sampler.py  pretrained.py  result.py the call

docs/grouped-sampling.md tells when it pays.

References
----------
.. [1] Yoni Kremer, "Grouped sampling: efficient use of causal language models", thesis, 2023.
"""

from .group_size import GroupSize
from .methods import GenerationType
from .penalties import (
    DEFAULT_REPETITION_PENALTY,
    LogitScalingRepetitionPenalty,
    NoRepetitionPenalty,
    RepetitionPenaltyStrategy,
    repetition_penalty_factory,
)
from .pipeline import GroupedPipeline
from .postprocessing import PostProcessor
from .preprocessing import PreProcessor
from .result import GroupedResult
from .sampler import GroupedSampler
from .tree import GroupedTreeSearch

__all__ = [
    "DEFAULT_REPETITION_PENALTY",
    "GenerationType",
    "GroupSize",
    "GroupedPipeline",
    "GroupedResult",
    "GroupedSampler",
    "GroupedTreeSearch",
    "LogitScalingRepetitionPenalty",
    "NoRepetitionPenalty",
    "PostProcessor",
    "PreProcessor",
    "RepetitionPenaltyStrategy",
    "repetition_penalty_factory",
]
