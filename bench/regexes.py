"""Regular expressions: those of outlines-core's benchmarks, a UUID, JSON strings, bounded text, a choice of 500 strings.

    taskset -c 1 python bench/regexes.py --engines ours,llguidance,xgrammar,outlines --json regexes.json

The expressions and their texts are in `suites/patterns.py`. All texts of an expression are walked over one grammar, in a process of its own;
`walks.py` tells what cold and warm are, and what is timed. *first mask* is compilation, a session and one mask, *all texts* that and all other cold
masks and accepted tokens. An engine may compute masks when it compiles, when a session is made, or when they are asked for: *mean* tells how long a
token waits, *all texts* what was spent in all. *verdict* is right if all right texts are accepted to the end and each wrong one is refused somewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from engines import Source, installed
from engines.tokenizer import NAMES, Tokenizer
from suites.patterns import Pattern, patterns
from walks import Measured, accepted, headline, mean, measure_apart, microseconds, prepare, summary, table

COLUMNS = ("masks", "first mask", "mean", "p50", "p99", "max", "mean, warm", "accept mean", "all texts", "verdict")


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
    mistakes = [f"{what} {len(texts)} texts" for what, texts in (("refuses", found["refused"]), ("accepts", found["accepted"])) if texts]
    return ", ".join(mistakes) or "right"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = installed("regex")
    parser.add_argument("--engines", default=",".join(here), help="of those that are installed")
    parser.add_argument("--tokenizer", default="tekken-131k", choices=NAMES)
    parser.add_argument("--match", default="", help="only expressions whose names contain this")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the smallest time of each mask counts")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run of an expression")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    tokenizer = Tokenizer.load(options.tokenizer)
    chosen = [pattern for pattern in patterns() if options.match in pattern.name]
    if not chosen:
        parser.error(f"no name contains {options.match!r}")
    found: dict[str, dict[str, Any]] = {pattern.name: {} for pattern in chosen}
    versions = {}
    for name in options.engines.split(","):
        engine = prepare(name, tokenizer)
        versions[name] = engine.version
        for pattern in chosen:
            source, texts = Source("regex", pattern.regex), [tokenizer.encode(text) for text in pattern.texts]
            measured = measure_apart(engine, source, texts, tokenizer.eos, repeat=options.repeat, limit=options.limit)
            if isinstance(measured, str):
                found[pattern.name][name] = measured
            else:
                wrong = [tokenizer.encode(text) for text in pattern.wrong]
                taken = accepted(engine, source, wrong, tokenizer.eos, limit=options.limit)
                found[pattern.name][name] = figures(pattern, measured, taken)
            print(f"{name}: {pattern.name}: {' '.join(cells(found[pattern.name][name]))}", file=sys.stderr)

    print(headline(versions, tokenizer))
    print(
        table(("regex", "engine", *COLUMNS), [[regex, name, *cells(figure)] for regex, of in found.items() for name, figure in of.items()])
    )
    if options.json:
        options.json.write_text(json.dumps({"versions": versions, "tokenizer": options.tokenizer, "regexes": found}, indent=1))


if __name__ == "__main__":
    main()
