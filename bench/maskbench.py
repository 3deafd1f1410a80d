"""MaskBench: real JSON schemas and instances, walked token by token through each engine.

    python bench/maskbench.py --sample 300 --out /tmp/maskbench        # all engines that are installed: report.md, results.json, plots
    python bench/maskbench.py --verdicts --tokenizer bytes --jobs 2    # right and wrong over all files
    python bench/maskbench.py --repeat 3 --out /tmp/maskbench --write README.md    # the figures of README.md

A file is a schema with instances, each said to be valid or not. It *passes* if its schema compiles, all valid instances are accepted and no
invalid one is. `worker.py` tells what is done with a file and what is timed, `driver.py` how the engines take turns, `figures.py` what the
figures are; `engines/` has the engines.

With --property-order any or --number-style any our engine judges the instances once more, untimed, under these options, and that verdict
counts; the masks that are timed are those of the default options.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import tarfile
from pathlib import Path
from typing import Any

import driver
import figures
import plots
import report
from engines import installed, problem
from engines.tokenizer import NAMES

from data_folder import DATA


def load_files(path: Path, sample: int | None, seed: int, match: str) -> dict[str, Any]:
    """Files by name: sorted, then shuffled by `seed`, then cut to `sample`."""
    with tarfile.open(path) as archive:
        members = [member for member in archive.getmembers() if member.isfile() and member.name.endswith(".json") and match in member.name]
        members.sort(key=lambda member: member.name)
        random.Random(seed).shuffle(members)
        chosen = {member.name for member in members[:sample]}
        found = {}
        for member in archive.getmembers():  # in the order of the archive: seeking back in xz is slow
            if member.name in chosen:
                file = archive.extractfile(member)
                assert file is not None
                stored = json.load(file)
                found[member.name] = {"schema": stored["schema"], "tests": stored["tests"]}
    return {member.name: found[member.name] for member in members[:sample]}


def summarise(files: dict[str, Any], runs: list[driver.Results], hellos: dict[str, Any], plan: driver.Plan) -> dict[str, Any]:
    """The figures that every run has; `add_times` adds the others."""
    pinned = f"pinned to core {plan.core}" if plan.core is not None else f"{plan.jobs} at a time"
    return {
        "setting": f"{figures.processor()}, Python {platform.python_version()}, {pinned}; vocabulary {plan.tokenizer}; {len(files):,} files.",
        "common": None,
        "engines": {e: {"version": hellos[e]["version"], "verdicts": figures.verdicts(runs[0][e])} for e in plan.engines},
        "causes": {e: figures.causes(runs[0][e], files) for e in plan.engines},
    }


def add_times(
    summary: dict[str, Any], files: dict[str, Any], runs: list[driver.Results], hellos: dict[str, Any], plan: driver.Plan, keep: int
) -> dict[str, figures.Measured]:
    """Times, counters and memory; returns the times that charts are drawn from."""
    names = figures.compiled_files(runs)
    sizes = {name: len(json.dumps(file["schema"])) for name, file in files.items()}
    kept_files = {name: files[name] for name in names[:keep]}
    kept = driver.kept(kept_files, plan)
    measured = figures.measured(runs, sizes)
    summary |= {"common": len(names), "runs": len(runs), "kept": len(kept_files)}
    for engine, of_engine in summary["engines"].items():
        of_engine["times"] = figures.times(measured[engine])
        of_engine["own times"] = figures.times(figures.own(runs, engine, sizes))
        of_engine["counters"] = figures.counters(runs[0][engine], names)
        of_engine["memory"] = figures.memory(runs[0][engine], hellos[engine]["resident"], kept[engine])
    return measured


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    present = installed("json_schema")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA / "maskbench.tar.xz")
    parser.add_argument("--tokenizer", choices=NAMES, default=NAMES[0])
    parser.add_argument("--engines", type=lambda text: text.split(","), default=present, help=f"comma-separated; here: {','.join(present)}")
    parser.add_argument("--sample", type=int, metavar="N", help="only N files, chosen by --seed")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--match", default="", help="only files whose name contains this")
    parser.add_argument("--verdicts", action="store_true", help="one walk, and no times")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="whole runs; figures are medians over them")
    parser.add_argument("--property-order", choices=["schema", "any"], default="schema", help="how ours judges; times are those of schema")
    parser.add_argument("--number-style", choices=["canonical", "any"], default="canonical", help="how ours judges; times: canonical")
    parser.add_argument("--limit", type=float, default=30, metavar="S", help="seconds of computing for a file")
    parser.add_argument("--jobs", type=int, default=1, help="files at the same time; times are only fair with 1")
    parser.add_argument("--core", type=int, help="the core that workers are pinned to; default: the last, with one job")
    parser.add_argument("--keep", type=int, default=100, metavar="N", help="files whose grammars are kept to see how large they are")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write report.md, results.json and plots")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="replace the figures in README.md or another document")
    options = parser.parse_args(arguments)
    for name in options.engines:
        if why := problem(name, "json_schema"):
            parser.error(why)
    if options.write and options.verdicts:
        parser.error("--write needs times")
    if options.write:
        report.around_block(options.write, "figures")  # before all is measured
    if options.core is None and options.jobs == 1 and hasattr(os, "sched_getaffinity"):
        options.core = max(os.sched_getaffinity(0))
    return options


def main() -> None:
    options = options_of()
    spellings = {"property_order": options.property_order, "number_style": options.number_style}
    defaults = {"property_order": "schema", "number_style": "canonical"}
    judges = {} if spellings == defaults else dict.fromkeys(("ours", "ours-cached"), spellings)
    plan = driver.Plan(options.engines, options.tokenizer, options.limit, options.jobs, options.core, not options.verdicts, judges)
    files = load_files(options.data, options.sample, options.seed, options.match)
    if not files:
        raise SystemExit(f"no name of a file contains {options.match!r}")
    runs, hellos = [], {}
    for number in range(options.repeat):
        results, hellos = driver.run(files, plan, number)
        runs.append(results)
    summary = summarise(files, runs, hellos, plan)
    measured = add_times(summary, files, runs, hellos, plan, options.keep) if plan.passes else {}
    print(report.markdown(summary))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.md").write_text(report.markdown(summary), encoding="utf-8")
        stored = summary | {"files": {engine: {name: _without_series(r) for name, r in of.items()} for engine, of in runs[0].items()}}
        (options.out / "results.json").write_text(json.dumps(stored, indent=1), encoding="utf-8")
        if measured:
            plots.draw(measured, options.out)
    if options.write:
        report.write_block(options.write, "figures", report.extract(summary))


def _without_series(result: dict[str, Any]) -> dict[str, Any]:
    """Percentiles in the place of times."""
    short = {name: value for name, value in result.items() if name != "densities"}
    for name in driver.SERIES:
        if name in result:
            short[name] = figures.spread(result[name])
    return short


if __name__ == "__main__":
    main()
