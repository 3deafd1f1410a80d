"""Regular expressions: those of outlines-core's benchmarks, a UUID, JSON strings, bounded text, a choice of 500 strings.

    python bench/regexes.py --engines ours,llguidance,xgrammar,outlines --json regexes.json

The expressions and their texts are in `suites/patterns.py`. All texts of an expression are walked over one grammar, in a process of its
own; `walks.py` tells what cold and warm are, and what is timed. *first mask* is compilation, a session and one mask, *all texts* that and
all other cold masks and accepted tokens. An engine may compute masks when it compiles, when a session is made, or when they are asked for:
*mean* tells how long a token waits, *all texts* what was spent in all. *verdict* is right if all right texts are accepted to the end and
each wrong one is refused somewhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from command import Layout, parser_of, run
from engines import Engine, Source
from engines.tokenizer import Tokenizer
from suites.patterns import Pattern, patterns
from walks import Measured, accepted, fastest, in_turns, isolated, mean, measure, microseconds, summary

KINDS = ("regex",)
COLUMNS = ("masks", "first mask", "mean", "p50", "p99", "max", "mean, warm", "accept mean", "all texts", "verdict")
EXTRACTED = ("masks", "first mask", "mean", "p99", "mean, warm", "accept mean", "verdict")


def figures(pattern: Pattern, measured: Measured, taken: list[int] | str) -> dict[str, Any]:
    """In nanoseconds. `taken`: of `accepted`, for the wrong texts."""
    first = measured.compile + measured.first
    return {
        "masks": len(measured.cold_masks),
        "first": first,
        **summary(measured.cold_masks),
        "warm": mean(measured.warm_masks),
        "accept": mean(measured.accepts),
        "all": first + sum(measured.cold_masks[1:]) + sum(measured.accepts),
        "refused": [text for text, walked in zip(pattern.texts, measured.cold) if walked.refused is not None],
        "accepted": taken if isinstance(taken, str) else [pattern.wrong[number] for number in taken],
    }


def cells(found: dict[str, Any] | str) -> list[str]:
    if isinstance(found, str):
        return [found]
    times = [microseconds(found[key]) for key in ("first", "mean", "p50", "p99", "max", "warm", "accept", "all")]
    return [str(found["masks"]), *times, verdict(found)]


def verdict(found: dict[str, Any]) -> str:
    if isinstance(found["accepted"], str):
        return f"wrong texts: {found['accepted']}"
    refused, taken = len(found["refused"]), len(found["accepted"])
    mistakes = [f"refuses {refused} right"] * bool(refused) + [f"accepts {taken} wrong"] * bool(taken)
    return ", ".join(mistakes) or "right"


def measured(engines: dict[str, Engine], pattern: Pattern, tokenizer: Tokenizer, options: argparse.Namespace) -> dict[str, Any]:
    """By engine the figures of an expression; or, as a str, why there are none."""
    source, limit = Source("regex", pattern.regex), options.limit
    texts, wrong = ([tokenizer.encode(text) for text in texts] for texts in (pattern.texts, pattern.wrong))
    works: dict[str, Callable[[], Any]] = {
        name: partial(isolated, measure, engine, source, texts, tokenizer.eos, limit=limit) for name, engine in engines.items()
    }
    found: dict[str, Any] = {}
    for name, runs in in_turns(works, options.repeat).items():
        if isinstance(runs, str):
            found[name] = runs
        else:
            taken = accepted(engines[name], source, wrong, tokenizer.eos, limit=limit)
            found[name] = figures(pattern, fastest(runs), taken)
    return found


LAYOUT = Layout("regexes", "regex", COLUMNS, EXTRACTED, cells)


def main() -> None:
    parser = parser_of(__doc__, KINDS, ["ours", "llguidance", "xgrammar", "outlines"], limit=60)
    run(parser, KINDS, patterns(), measured, LAYOUT)


if __name__ == "__main__":
    main()
