"""Exact token masks for constrained decoding: JSON Schema, regular expressions and Lark grammars on any vocabulary.

>>> grammar = Grammar.from_regex("[0-9]{3}-[0-9]{4}")
>>> matcher = Matcher(grammar, Vocabulary.builtin())
>>> matcher.accept_bytes(b"555")
True
>>> matcher.forced_bytes()
b'-'
"""

from ._version import __version__
from .automata.dfa import TokenDFA, TokenDFAStats
from .automata.guide import Guide
from .batch import MaskStep, fill_masks, step_masks
from .cache import CacheStats, GrammarCache
from .engine import Stats, Switches
from .errors import (
    BatchError,
    GrammarEngineError,
    GrammarError,
    GrammarSyntaxError,
    InternalError,
    LimitExceededError,
    MatcherFinishedError,
    SchemaError,
    TokenDFAError,
    TokenRejectedError,
    UnsatisfiableSchemaError,
    UnsupportedRegexError,
    UnsupportedSchemaError,
    VocabularyError,
)
from .explanation import Explanation
from .grammar import Grammar
from .limits import Limits
from .mask import MaskBuffer, allocate_masks
from .matcher import Matcher
from .report import Report
from .tags import Tag, Token
from .vocabulary import Vocabulary

__all__ = [
    "BatchError",
    "CacheStats",
    "Explanation",
    "Grammar",
    "GrammarCache",
    "GrammarEngineError",
    "GrammarError",
    "GrammarSyntaxError",
    "Guide",
    "InternalError",
    "LimitExceededError",
    "Limits",
    "MaskBuffer",
    "MaskStep",
    "Matcher",
    "MatcherFinishedError",
    "Report",
    "SchemaError",
    "Stats",
    "Switches",
    "Tag",
    "Token",
    "TokenDFA",
    "TokenDFAError",
    "TokenDFAStats",
    "TokenRejectedError",
    "UnsatisfiableSchemaError",
    "UnsupportedRegexError",
    "UnsupportedSchemaError",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "allocate_masks",
    "fill_masks",
    "step_masks",
]
