"""Context-free grammars: JSON, arithmetic, a subset of SQL, a language in the manner of C, each over texts of a few hundred tokens.

    python bench/grammars.py --json grammars.json
    python bench/grammars.py --engines ours --match sql
    python bench/grammars.py --apart

`suites/cfg/<name>/` holds the grammar in Lark's language and in xgrammar's (GBNF), texts that are right and texts that are wrong. The two
say the same, except that engines which scan greedily cannot skip white space in front of the first terminal; the texts do not begin with
any.

As for `maskbench.py`, an engine goes through all grammars in one process, one after the other; each is compiled once, and then all its texts
are walked: what is cold is the grammar, and the vocabulary may know what the grammars before have taught it. With `--apart` each text has a
grammar and a process of its own, so that nothing that another text has built helps. `walks.py` tells what cold and warm are, and what is
timed. *first mask* is compilation, a session and one mask: the median of as many as there are texts, each of a grammar that is compiled
anew. *verdict* is right if all right texts are accepted to the end and each wrong text is refused somewhere. *all* are the masks of the
four grammars together.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from command import Layout, parse, parser_of, publish
from engines import Engine, Source
from engines.tokenizer import Tokenizer
from walks import Measured, accepted, fastest, in_turns, isolated, mean, measure, microseconds, prepare, quantile, summary

KINDS = ("lark", "gbnf")
CFG = Path(__file__).parent / "suites" / "cfg"
GRAMMARS = ("json", "arithmetic", "sql", "clike")
QUANTITIES = ("mean", "p50", "p99", "max")
COLUMNS = ("masks", "first mask", *QUANTITIES, *(f"{quantity}, warm" for quantity in QUANTITIES), "accept mean", "verdict")
EXTRACTED = ("masks", "first mask", "mean", "p99", "mean, warm", "p99, warm", "accept mean", "verdict")


class Job(NamedTuple):
    """A grammar, and the texts that are walked over it, all of them right; if there is none, its first mask is timed."""

    grammar: str
    source: Source
    names: list[str]
    texts: list[list[int]]


def source_of(engine: Engine, grammar: str) -> Source:
    kind = "lark" if "lark" in engine.kinds else "gbnf"
    return Source(kind, (CFG / grammar / f"grammar.{kind}").read_text())


def jobs_of(engine: Engine, tokenizer: Tokenizer, grammars: Sequence[str], apart: bool) -> list[Job]:
    found = []
    for grammar in grammars:
        paths = sorted((CFG / grammar).glob("right-*.txt"))
        for group in [[path] for path in paths] if apart else [paths, *([] for _ in paths[1:])]:
            texts = [tokenizer.encode(path.read_text()) for path in group]
            found.append(Job(grammar, source_of(engine, grammar), [path.name for path in group], texts))
    return found


def measure_together(engine: Engine, jobs: Sequence[Job], eos: int, settings: dict[str, str]) -> list[Measured | str]:
    return [measure(engine, job.source, job.texts, eos, **settings) for job in jobs]


def settings_of(name: str, options: argparse.Namespace) -> dict[str, str]:
    """What our engine is given with a grammar."""
    return {"lexing": options.lexing} if name.startswith("ours") else {}


def walked(
    engines: dict[str, Engine], jobs: dict[str, list[Job]], tokenizer: Tokenizer, options: argparse.Namespace
) -> dict[str, list[Measured | str]]:
    """By engine what became of each of its jobs, the fastest of some runs."""
    found: dict[str, list[Measured | str]] = {name: [] for name in engines}
    works: dict[str, Callable[[], Any]] = {}
    count = len(next(iter(jobs.values())))
    for part in ([number] for number in range(count)) if options.apart else [range(count)]:
        for name, engine in engines.items():
            chosen = [jobs[name][number] for number in part]
            settings, limit = settings_of(name, options), options.limit * len(chosen)
            works[name] = partial(isolated, measure_together, engine, chosen, tokenizer.eos, settings, limit=limit)
        for name, runs in in_turns(works, options.repeat).items():
            if isinstance(runs, str):
                found[name] += [runs] * len(part)
            else:
                found[name] += [next((run for run in each if isinstance(run, str)), None) or fastest(each) for each in zip(*runs)]
    return found


def mistakes(name: str, engine: Engine, tokenizer: Tokenizer, grammar: str, options: argparse.Namespace) -> list[str]:
    """The texts that are wrong and are accepted; or why that could not be found out."""
    wrong = sorted((CFG / grammar).glob("wrong-*.txt"))
    tokens = [tokenizer.encode(path.read_text()) for path in wrong]
    settings = settings_of(name, options)
    taken = accepted(engine, source_of(engine, grammar), tokens, tokenizer.eos, limit=options.limit, **settings)
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


def figures_of(jobs: list[Job], done: list[Measured | str], wrong: dict[str, list[str]]) -> dict[str, Any]:
    """Of each grammar and of all, what `figures` tells; or, as a str, why there is nothing to tell. `wrong`: by grammar, of `mistakes`."""
    found: dict[str, Any] = {}
    of_all: list[Measured] = []
    for grammar in wrong:
        right = [(job.names, each) for job, each in zip(jobs, done) if job.grammar == grammar]
        failed = [each for _, each in right if isinstance(each, str)]
        if failed:
            found[grammar] = failed[0]
            continue
        measured = [each for _, each in right if not isinstance(each, str)]
        of_all += measured
        walks = [(name, walk) for names, each in right if not isinstance(each, str) for name, walk in zip(names, each.cold)]
        refused = [name for name, walk in walks if walk.refused is not None]
        found[grammar] = figures(measured, refused + wrong[grammar])
    if len(of_all) == len(jobs):
        found["all"] = figures(of_all, [text for grammar in wrong for text in found[grammar]["mistakes"]])
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


LAYOUT = Layout("grammars", "grammar", COLUMNS, EXTRACTED, cells)


def main() -> None:
    parser = parser_of(__doc__, KINDS, ["ours", "llguidance", "xgrammar"], limit=120)
    parser.add_argument("--lexing", default="exact", choices=("exact", "longest"), help="of our engine; the peers are like longest")
    parser.add_argument("--apart", action="store_true", help="each text over a grammar of its own, in a process of its own")
    options = parse(parser, KINDS, list(GRAMMARS), LAYOUT)
    tokenizer = Tokenizer.load(options.tokenizer)
    engines = {name: prepare(name, tokenizer) for name in options.engines}
    chosen = [grammar for grammar in GRAMMARS if options.match in grammar]
    jobs = {name: jobs_of(engine, tokenizer, chosen, options.apart) for name, engine in engines.items()}
    found: dict[str, dict[str, Any]] = {}
    for name, done in walked(engines, jobs, tokenizer, options).items():
        wrong = {grammar: mistakes(name, engines[name], tokenizer, grammar, options) for grammar in chosen}
        for grammar, figure in figures_of(jobs[name], done, wrong).items():
            found.setdefault(grammar, {})[name] = figure
            print(f"{name}: {grammar}: {' '.join(cells(figure))}", file=sys.stderr)
    publish(LAYOUT, found, engines, options)


if __name__ == "__main__":
    main()
