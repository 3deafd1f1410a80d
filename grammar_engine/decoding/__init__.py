"""Decoding with a model: apply masks, choose tokens, and write sentences of a grammar.

Scores are numpy arrays here, and torch is used where a model or its scores are torch's.
Importing this package imports neither: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .apply import apply_mask
    from .grouped import GroupedSampler
    from .loop import Generation, Step, Stream, generate, stream
    from .models import as_model
    from .prefix_cache import PrefixCache
    from .processor import LogitsProcessor
    from .scores import Sampling

_MODULES = {
    "Generation": "loop",
    "GroupedSampler": "grouped",
    "LogitsProcessor": "processor",
    "PrefixCache": "prefix_cache",
    "Sampling": "scores",
    "Step": "loop",
    "Stream": "loop",
    "apply_mask": "apply",
    "as_model": "models",
    "generate": "loop",
    "stream": "loop",
}

__all__ = [
    "Generation",
    "GroupedSampler",
    "LogitsProcessor",
    "PrefixCache",
    "Sampling",
    "Step",
    "Stream",
    "apply_mask",
    "as_model",
    "generate",
    "stream",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
