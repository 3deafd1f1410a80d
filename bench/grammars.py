"""Context-free grammars: JSON, arithmetic, a subset of SQL, a language in the manner of C, each over texts of a few hundred tokens.

    taskset -c 1 python bench/grammars.py --json grammars.json
    python bench/grammars.py --engines ours --match sql
    python bench/grammars.py --apart

`suites/cfg/<name>/` holds the grammar in Lark's language and in xgrammar's (GBNF), texts that are right and texts that are wrong. The two say
the same, except that engines which scan greedily cannot skip white space in front of the first terminal; the texts do not begin with any.

As for `maskbench.py`, an engine walks all texts of all grammars in one process, one after the other, each over a grammar that was compiled anew: what
is cold is the grammar, and the vocabulary may know what the texts before have taught it. With `--apart` each text has a process of its own, so that
nothing that another text has built helps; `walks.py` tells what cold and warm are then, and what is timed. *first mask* is compilation, a
session and one mask. *verdict* is right if all right texts are accepted to the end and each wrong text is refused somewhere. *all* are the masks
of the four grammars together.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engines import Engine, Source, installed
from engines.tokenizer import NAMES, Tokenizer
from walks import (
    Measured,
    accepted,
    fastest,
    headline,
    isolated,
    mean,
    measure,
    measure_apart,
    microseconds,
    prepare,
    quantile,
    summary,
    table,
)

CFG = Path(__file__).parent / "suites" / "cfg"
GRAMMARS = ("json", "arithmetic", "sql", "clike")
QUANTITIES = ("mean", "p50", "p99", "max")
COLUMNS = ("masks", "first mask", *QUANTITIES, *(f"{quantity}, warm" for quantity in QUANTITIES), "accept mean", "verdict")


class Job(NamedTuple):
    """A text that is right, and the grammar over which it is walked."""

    grammar: str
    source: Source
    text: str
    tokens: list[int]


def source_of(engine: Engine, grammar: str) -> Source:
    kind = "lark" if "lark" in engine.kinds else "gbnf"
    return Source(kind, (CFG / grammar / f"grammar.{kind}").read_text())


def measure_together(engine: Engine, jobs: Sequence[Job], eos: int, settings: dict[str, str]) -> list[Measured | str]:
    return [measure(engine, job.source, [job.tokens], eos, **settings) for job in jobs]


def walked(
    engine: Engine, tokenizer: Tokenizer, jobs: Sequence[Job], options: argparse.Namespace, settings: dict[str, str]
) -> list[Measured | str]:
    """What became of each job, the fastest of some runs."""
    if options.apart:
        return [
            measure_apart(engine, job.source, [job.tokens], tokenizer.eos, repeat=options.repeat, limit=options.limit, **settings)
            for job in jobs
        ]
    runs = [
        isolated(measure_together, engine, jobs, tokenizer.eos, settings, limit=options.limit * len(jobs)) for _ in range(options.repeat)
    ]
    failed = [run for run in runs if isinstance(run, str)]
    if failed:
        return failed[:1] * len(jobs)
    return [fastest(each) if not any(isinstance(run, str) for run in each) else each[0] for each in zip(*runs)]


def mistakes(engine: Engine, tokenizer: Tokenizer, grammar: str, limit: float, settings: dict[str, str]) -> list[str]:
    """The texts that are wrong and are accepted; or why that could not be found out."""
    wrong = sorted((CFG / grammar).glob("wrong-*.txt"))
    tokens = [tokenizer.encode(path.read_text()) for path in wrong]
    taken = accepted(engine, source_of(engine, grammar), tokens, tokenizer.eos, limit=limit, **settings)
    return [taken] if isinstance(taken, str) else [wrong[number].name for number in taken]


def figures(right: Sequence[Measured], wrong: list[str]) -> dict[str, Any]:
    """The figures of one grammar, or of all, in nanoseconds; `wrong`: the texts that were judged wrongly."""
    cold = [time for each in right for time in each.cold_masks]
    return {
        "masks": len(cold),
        "first": quantile([each.compile + each.first for each in right], 0.5),
        "cold": summary(cold),
        "warm": summary([time for each in right for time in each.warm_masks]),
        "accept": mean([time for each in right for time in each.accepts]),
        "mistakes": wrong,
    }


def figures_of(engine: Engine, tokenizer: Tokenizer, options: argparse.Namespace, settings: dict[str, str]) -> dict[str, Any]:
    """Of each grammar and of all, what `figures` tells; or, as a str, why there is nothing to tell."""
    names = [name for name in GRAMMARS if options.match in name]
    jobs = [
        Job(name, source_of(engine, name), path.name, tokenizer.encode(path.read_text()))
        for name in names
        for path in sorted((CFG / name).glob("right-*.txt"))
    ]
    found: dict[str, Any] = {}
    of_all: list[Measured] = []
    done = walked(engine, tokenizer, jobs, options, settings)
    for name in names:
        right = [(job.text, each) for job, each in zip(jobs, done) if job.grammar == name]
        failed = [each for _, each in right if isinstance(each, str)]
        if failed:
            found[name] = failed[0]
            continue
        measured = [each for _, each in right if not isinstance(each, str)]
        of_all += measured
        refused = [text for text, each in right if not isinstance(each, str) and each.cold[0].refused is not None]
        found[name] = figures(measured, refused + mistakes(engine, tokenizer, name, options.limit, settings))
    if len(of_all) == len(jobs):
        found["all"] = figures(of_all, [text for name in names for text in found[name]["mistakes"]])
    return found


def cells(found: dict[str, Any] | str) -> list[str]:
    if isinstance(found, str):
        return [found]
    return [
        f"{found['masks']:,}",
        microseconds(found["first"]),
        *(microseconds(found[temperature][quantity]) for temperature in ("cold", "warm") for quantity in QUANTITIES),
        microseconds(found["accept"]),
        "right" if not found["mistakes"] else f"wrong on {', '.join(found['mistakes'])}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = dict.fromkeys([*installed("lark"), *installed("gbnf")])
    parser.add_argument(
        "--engines", default=",".join(name for name in ("ours", "llguidance", "xgrammar") if name in here), help=f"of {', '.join(here)}"
    )
    parser.add_argument("--tokenizer", default="tekken-131k", choices=NAMES)
    parser.add_argument("--match", default="", help="only grammars whose names contain this")
    parser.add_argument("--lexing", default="exact", choices=("exact", "longest"), help="of our engine; the peers are like longest")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the smallest time of each mask counts")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a run of a text")
    parser.add_argument("--apart", action="store_true", help="each text in a process of its own")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not any(options.match in name for name in GRAMMARS):
        parser.error(f"no name contains {options.match!r}")

    tokenizer = Tokenizer.load(options.tokenizer)
    found: dict[str, dict[str, Any]] = {}
    versions = {}
    for name in options.engines.split(","):
        engine = prepare(name, tokenizer)
        versions[name] = engine.version
        settings = {"lexing": options.lexing} if name == "ours" else {}
        for grammar, figure in figures_of(engine, tokenizer, options, settings).items():
            found.setdefault(grammar, {})[name] = figure
            print(f"{name}: {grammar}: {' '.join(cells(figure))}", file=sys.stderr)

    print(headline(versions, tokenizer))
    print(
        table(
            ("grammar", "engine", *COLUMNS),
            [[grammar, name, *cells(figure)] for grammar, of in found.items() for name, figure in of.items()],
        )
    )
    if options.json:
        options.json.write_text(json.dumps({"versions": versions, "tokenizer": options.tokenizer, "grammars": found}, indent=1))


if __name__ == "__main__":
    main()
