"""Fast calls: the methods that are called for each token, without the way through cffi.

`fast_guide`, `fast_matcher`, `fast_row_mask` and `fast_text` derive a class like a given one, in which those methods are done in C where
their arguments are the usual ones (`csrc/python/calls.c`). All else goes on to the methods of the given class, so that is complete by
itself; with GRAMMAR_ENGINE_NO_FAST_CALLS in the environment it is what is used. `run_batch` does a batch of the usual kind, or returns
None.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from .. import _core

_Class = TypeVar("_Class", bound=type[_core.Held])


def _as_it_is(cls: _Class) -> _Class:
    return cls


def _none(*arguments: Any) -> None:
    return None


def _derived(cls: _Class, derive: Callable[[_Class], _Class]) -> _Class:
    made = derive(cls)
    for name in vars(cls).keys() - vars(made).keys():  # what documentation tools list is what is in the class itself
        if not name.startswith("_"):
            setattr(made, name, vars(cls)[name])
    return made


def _fast(derive: Callable[[_Class], _Class]) -> Callable[[_Class], _Class]:
    return _as_it_is if _OFF else partial(_derived, derive=derive)


_OFF = bool(os.environ.get("GRAMMAR_ENGINE_NO_FAST_CALLS"))
fast_guide = _fast(_core.fast_guide)
fast_matcher = _fast(_core.fast_matcher)
fast_row_mask = _fast(_core.fast_row_mask)
fast_text = _fast(_core.fast_text)
run_batch = _none if _OFF else _core.run_batch
