"""Fast calls: the methods that are called for each token, without the way through cffi.

`fast_guide` and `fast_matcher` derive a class like a given one, in which those methods are done in C where their arguments are the usual ones
(`csrc/python/calls.c`). All else goes on to the methods of the given class, so that is complete by itself; with GRAMMAR_ENGINE_NO_FAST_CALLS in the
environment it is what is used.
"""

from __future__ import annotations

import os
from typing import TypeVar

from .. import _core

_Class = TypeVar("_Class", bound=type[_core.Held])


def _as_it_is(cls: _Class) -> _Class:
    return cls


_OFF = bool(os.environ.get("GRAMMAR_ENGINE_NO_FAST_CALLS"))
fast_guide = _as_it_is if _OFF else _core.fast_guide
fast_matcher = _as_it_is if _OFF else _core.fast_matcher
