"""Context-free grammars: JSON, arithmetic, a subset of SQL, a language in the manner of C, each over texts of a few hundred tokens.

    taskset -c 1 python bench/grammars.py --json grammars.json
    python bench/grammars.py --engines ours --match sql

`suites/cfg/<name>/` holds the grammar in Lark's language and in xgrammar's (GBNF), texts that are right and texts that are wrong. The two say
the same, except that engines which scan greedily cannot skip white space in front of the first terminal; the texts do not begin with any.

Each text is walked in a process of its own, over a grammar of its own: nothing that another text has built helps. `walks.py` tells what cold and
warm are, and what is timed. *first mask* is compilation, a session and one mask. *verdict* is right if all right texts are accepted to the end
and each wrong text is refused somewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from engines import Engine, Source, installed
from engines.tokenizer import NAMES, Tokenizer
from walks import Measured, headline, mean, measure_apart, microseconds, prepare, quantile, summary, table

CFG = Path(__file__).parent / "suites" / "cfg"
GRAMMARS = ("json", "arithmetic", "sql", "clike")
QUANTITIES = ("mean", "p50", "p99", "max")
COLUMNS = ("masks", "first mask", *QUANTITIES, *(f"{quantity}, warm" for quantity in QUANTITIES), "accept mean", "verdict")


def figures(
    engine: Engine, tokenizer: Tokenizer, folder: Path, repeat: int, limit: float, settings: dict[str, str]
) -> dict[str, Any] | str:
    """The figures of one grammar, in nanoseconds; why there are none, as a str."""
    kind = "lark" if "lark" in engine.kinds else "gbnf"
    source = Source(kind, (folder / f"grammar.{kind}").read_text())

    def measured(texts: list[Path], warm: bool) -> Measured | str:
        encoded = [tokenizer.encode(path.read_text()) for path in texts]
        return measure_apart(engine, source, encoded, tokenizer.eos, warm=warm, repeat=repeat if warm else 1, limit=limit, **settings)

    right = {path.name: measured([path], warm=True) for path in sorted(folder.glob("right-*.txt"))}
    failed = [each for each in right.values() if isinstance(each, str)]
    if failed:
        return failed[0]
    wrong = sorted(folder.glob("wrong-*.txt"))
    judged = measured(wrong, warm=False)
    if isinstance(judged, str):
        return judged
    mistakes = [name for name, each in right.items() if each.cold[0].refused is not None]
    mistakes += [path.name for path, walked in zip(wrong, judged.cold) if walked.refused is None]
    cold = [time for each in right.values() for time in each.cold_masks]
    return {
        "masks": len(cold),
        "first": quantile([each.compile + each.first for each in right.values()], 0.5),
        "cold": summary(cold),
        "warm": summary([time for each in right.values() for time in each.warm_masks]),
        "accept": mean([time for each in right.values() for time in each.accepts]),
        "mistakes": mistakes,
    }


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
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    tokenizer = Tokenizer.load(options.tokenizer)
    found: dict[str, dict[str, Any]] = {name: {} for name in GRAMMARS if options.match in name}
    versions = {}
    for name in options.engines.split(","):
        engine = prepare(name, tokenizer)
        versions[name] = engine.version
        settings = {"lexing": options.lexing} if name == "ours" else {}
        for grammar, of in found.items():
            of[name] = figures(engine, tokenizer, CFG / grammar, options.repeat, options.limit, settings)
            print(f"{name}: {grammar}: {' '.join(cells(of[name]))}", file=sys.stderr)

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
