"""What hard.py, regexes.py and grammars.py have in common: options in, tables out.

    python bench/hard.py --repeat 3 --write docs/figures.md

replaces what stands in the document between `<!-- hard -->` and `<!-- /hard -->`, by the columns of the table that are extracted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engines import Engine, installed, problem
from engines.tokenizer import NAMES, Tokenizer
from figures import processor
from report import around_block, write_block
from walks import prepare, table


class Layout(NamedTuple):
    """How figures are shown. `name`: of the marks of a document; `subject`: what the lines are; `cells`: what stands under `columns`."""

    name: str
    subject: str
    columns: tuple[str, ...]
    extracted: tuple[str, ...]
    cells: Callable[[Any], list[str]]


Found = dict[str, dict[str, Any]]  # by subject, by engine: figures, or a str that says why there are none


def parser_of(document: str, kinds: tuple[str, ...], engines: list[str], limit: float) -> argparse.ArgumentParser:
    """A parser of the options that all three have. `kinds`: of the sources; `engines`: those of the default, as far as they are here."""
    here = installed(*kinds)
    default = [name for name in engines if name in here]
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=default, help=f"comma-separated; here: {','.join(here)}")
    parser.add_argument("--tokenizer", default=NAMES[0], choices=NAMES)
    parser.add_argument("--match", default="", help="only what has this in its name")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs, of which the smallest time of each step counts")
    parser.add_argument("--limit", type=float, default=limit, metavar="S", help="seconds for one run of one grammar or text")
    parser.add_argument("--core", type=int, help="the core that runs are pinned to; default: the last")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="replace the table in a document")
    return parser


def parse(parser: argparse.ArgumentParser, kinds: tuple[str, ...], names: list[str], layout: Layout) -> argparse.Namespace:
    """The options, checked. From here on this process, and those that it forks, run on one core. `names`: of what there is to `--match`."""
    options = parser.parse_args()
    for engine in options.engines:
        if why := problem(engine, *kinds):
            parser.error(why)
    if not any(options.match in name for name in names):
        parser.error(f"no name contains {options.match!r}")
    if options.write:
        around_block(options.write, layout.name)  # before all is measured
    if options.core is None and hasattr(os, "sched_getaffinity"):
        options.core = max(os.sched_getaffinity(0))
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    return options


def run(
    parser: argparse.ArgumentParser,
    kinds: tuple[str, ...],
    subjects: Sequence[Any],
    measured: Callable[..., dict[str, Any]],
    layout: Layout,
) -> None:
    """All of hard.py and regexes.py: one subject after the other, each by all engines. `measured`: by engine the figures of a subject."""
    options = parse(parser, kinds, [subject.name for subject in subjects], layout)
    tokenizer = Tokenizer.load(options.tokenizer)
    engines = {name: prepare(name, tokenizer) for name in options.engines}
    found: Found = {}
    for subject in subjects:
        if options.match in subject.name:
            found[subject.name] = measured(engines, subject, tokenizer, options)
            for name, figure in found[subject.name].items():
                print(f"{name}: {subject.name}: {' '.join(layout.cells(figure))}", file=sys.stderr)
    publish(layout, found, engines, options)


def publish(layout: Layout, found: Found, engines: dict[str, Engine], options: argparse.Namespace) -> None:
    """Prints the table; writes what `--json` and `--write` ask for."""
    versions = {name: engine.version for name, engine in engines.items()}
    head = headline(versions, options)
    lines = [[subject, name, *layout.cells(figure)] for subject, of in found.items() for name, figure in of.items()]
    print(head, table((layout.subject, "engine", *layout.columns), lines), sep="\n\n")
    if options.json:
        stored = {"setting": head, "versions": versions, layout.name: found}
        options.json.write_text(json.dumps(stored, indent=1), encoding="utf-8")
    if options.write:
        write_block(options.write, layout.name, f"{head}\n\n{extract(layout, found, list(engines))}")


def headline(versions: dict[str, str], options: argparse.Namespace) -> str:
    machine = f"{processor()}, Python {platform.python_version()}"
    pinned = f", pinned to core {options.core}" if options.core is not None else ""
    engines = " / ".join(f"{name} {version}" for name, version in versions.items())
    runs = f"microseconds, of each step the smallest of {options.repeat} runs" if options.repeat > 1 else "microseconds, one run"
    return f"{machine}{pinned}; vocabulary {options.tokenizer};\n{engines}; {runs}."


def extract(layout: Layout, found: Found, engines: list[str]) -> str:
    """A line for each subject, and in each cell what the engines have, in their order: once, if it is the same."""
    lines = []
    for subject, of in found.items():
        line = [subject]
        for column in layout.extracted:
            values = [_cell(layout, column, of.get(engine, "")) for engine in engines]
            line.append(" / ".join(values if len(set(values)) > 1 else values[:1]))
        lines.append(line)
    return table((layout.subject, *layout.extracted), lines, left=1)


def _cell(layout: Layout, column: str, figure: Any) -> str:
    if not isinstance(figure, str):
        return layout.cells(figure)[layout.columns.index(column)]
    why = figure.partition(":")[0] if column == "verdict" else ""  # "refused: because of ..." is long
    return why or "-"
