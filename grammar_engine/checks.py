"""Checks of arguments that several parts share: a wrong type raises TypeError, a wrong value ValueError, and both say what is meant.

Numbers may be of any integer or real type, those of numpy included, and come back as Python's; `bool` is none of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

from .errors import GrammarSyntaxError, VocabularyError

if TYPE_CHECKING:
    from .matcher import Matcher
    from .vocabulary import Vocabulary

_BOOLS = "bool", "bool_"  # of Python, and of numpy before 2.3, which had an index


def as_int(name: str, value: Any) -> int:
    """An int from any integer type."""
    if type(value) is int:
        return value
    kind = type(value).__name__  # neither numpy nor torch is imported for it
    if not hasattr(value, "__index__") or kind in _BOOLS or (kind == "Tensor" and str(value.dtype) == "torch.bool"):
        raise TypeError(f"{name} is an int, not {type(value).__name__}")
    try:
        return int(value.__index__())
    except TypeError:  # of an array or a tensor of several
        raise TypeError(f"{name} is an int, not {type(value).__name__}") from None


def check_count(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """An int of at least `least`, and at most `most`."""
    number = as_int(name, value)
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} is at least {least}" + ("" if most is None else f" and at most {most:,}") + f", not {number}")
    return number


def check_number(name: str, value: Any, least: float = -math.inf, most: float = math.inf, *, above: bool = False) -> float:
    """A finite number of at least `least` (with `above`: greater), and at most `most`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is a number, not {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # an int that is larger than any float
        number = math.inf
    if not math.isfinite(number) or not least <= number <= most or (above and number == least):
        bounds = f" from {least} to {most}" if most < math.inf else f" above {least}" if above else f" of at least {least}"
        kind = f"number{bounds}" if -math.inf < least or most < math.inf else "finite number"
        raise ValueError(f"{name} is a {kind}, not {value!r}")
    return number


def check_ends(of: Vocabulary | Matcher) -> None:
    """Raise VocabularyError for a vocabulary or a matcher without end-of-text tokens, where a text is to be ended by one."""
    if not of.eos:
        raise VocabularyError(f"the {type(of).__name__.lower()} has no end-of-text token, so no text can end")


def check_bool(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} is a bool, not {type(value).__name__}")
    return value


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    *others, last = [f'"{choice}"' for choice in choices]
    if value not in choices:
        raise ValueError(f"{name} is {', '.join(others)} or {last}, not {value!r}")
    return value


def check_texts(name: str, texts: Iterable[str]) -> list[str]:
    """A list of str from any iterable of them but a text."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise TypeError(f"{name} is a list of str, not {type(texts).__name__}")
    found = list(texts)
    for text in found:
        if not isinstance(text, str):
            raise TypeError(f"{name} is a list of str; one is {type(text).__name__}")
    return found


def check_iterable(name: str, values: Any, of: str) -> None:
    """Raise unless it can be gone through."""
    try:
        iter(values)
    except TypeError:
        raise TypeError(f"{name} is a list of {of}, not {type(values).__name__}") from None


def check_rules(what: str, text: str, ending: str) -> None:
    """Raise unless it is the text of a grammar, as far as its type tells, and not the path of a file with this ending."""
    if not isinstance(text, str):
        remedy = "; pass the text of the file" if isinstance(text, os.PathLike) else ""
        raise TypeError(f"{what} is a str, not {type(text).__name__}{remedy}")
    if text.endswith(ending) and text.isprintable() and ":" not in text:
        raise GrammarSyntaxError("this looks like a path: pass the text of the file", source=text, offset=0)


def check_special_tokens(names: Iterable[str]) -> frozenset[str]:
    """The names of special tokens that are given as `special_tokens`."""
    found = check_texts("special_tokens", names)
    if "" in found:
        raise ValueError("special_tokens has an empty name, which any text has in it")
    return frozenset(found)
