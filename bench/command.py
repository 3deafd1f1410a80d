"""What hard.py, regexes.py and grammars.py have in common on the command line."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from engines import installed, problem
from engines.tokenizer import NAMES


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
    return parser


def parse(parser: argparse.ArgumentParser, kinds: tuple[str, ...], names: list[str]) -> argparse.Namespace:
    """The options, checked. From here on this process, and those that it forks, run on one core. `names`: of what there is to `--match`."""
    options = parser.parse_args()
    for engine in options.engines:
        if why := problem(engine, *kinds):
            parser.error(why)
    if not any(options.match in name for name in names):
        parser.error(f"no name contains {options.match!r}")
    if options.core is None and hasattr(os, "sched_getaffinity"):
        options.core = max(os.sched_getaffinity(0))
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    return options
