"""The hard set: grammars that are known to be slow somewhere, one text each, cold.

    taskset -c 1 python bench/hard.py --json hard.json
    python bench/hard.py --match "format" --engines ours

What is asked of a row: no mask above 5 ms, and no cost that grows with the length of what was already written. The rows are in
`suites/rows.py`; `walks.py` tells what is timed. A row over --limit seconds is stopped.

*growth* is the mean mask of the last tenth of a walk over that of its second tenth. One slow mask in either moves it, so it says little for
short walks, and is left out for those under 200 masks.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from engines import Source, installed
from engines.tokenizer import NAMES, Tokenizer
from suites.rows import Row, rows
from walks import Measured, headline, mean, measure_apart, microseconds, prepare, summary, table

WORST = 5_000_000  # nanoseconds: what no mask should take
COLUMNS = ("masks", "compile", "first mask", "mean", "p99", "worst", "worst at", "growth", "accept mean", "accept worst", "verdict")


def figures(measured: Measured) -> dict[str, Any]:
    [walked] = measured.cold
    masks, tenth = walked.masks, len(walked.masks) // 10
    return {
        "masks": len(masks),
        "compile": measured.compile,
        "first": measured.first,
        **summary(masks),
        "max_at": masks.index(max(masks)),
        "over_5_ms": sum(time > WORST for time in masks),
        "growth": mean(masks[-tenth:]) / mean(masks[tenth : 2 * tenth]) if tenth >= 20 else None,
        "accept": mean(walked.accepts),
        "accept_max": max(walked.accepts, default=math.nan),
        "refused_at": walked.refused,
    }


def cells(found: dict[str, Any] | str) -> list[str]:
    if isinstance(found, str):
        return [found]
    worst = microseconds(found["max"])
    return [
        f"{found['masks']:,}",
        *(microseconds(found[key]) for key in ("compile", "first", "mean", "p99")),
        f"**{worst}**" if found["max"] > WORST else worst,
        f"{found['max_at']:,}",
        f"{found['growth']:.2f}" if found["growth"] else "-",
        microseconds(found["accept"]),
        microseconds(found["accept_max"]),
        "right" if found["refused_at"] is None else f"refused at {found['refused_at']:,}",
    ]


def encode(tokenizer: Tokenizer, row: Row) -> list[int]:
    if not row.bytewise:
        return tokenizer.encode(row.text())
    ids = {token: index for index, token in enumerate(tokenizer.tokens) if len(token) == 1}
    return [ids[bytes([byte])] for byte in row.text().encode()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="ours,llguidance", help=f"of {', '.join(installed('json_schema'))}")
    parser.add_argument("--tokenizer", default="tekken-131k", choices=NAMES)
    parser.add_argument("--match", default="", help="only rows whose names contain this")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the smallest time of each mask counts")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a run of a row")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    tokenizer = Tokenizer.load(options.tokenizer)
    chosen = [(row, encode(tokenizer, row)) for row in rows() if options.match in row.name]
    if not chosen:
        parser.error(f"no name contains {options.match!r}")
    found: dict[str, dict[str, Any]] = {row.name: {} for row, _ in chosen}
    versions = {}
    for name in options.engines.split(","):
        engine = prepare(name, tokenizer)
        versions[name] = engine.version
        for row, tokens in chosen:
            source = Source(row.kind, row.llguidance if row.llguidance and name.startswith("llguidance") else row.grammar)
            settings = row.options if name == "ours" else {}
            measured = measure_apart(
                engine, source, [tokens], tokenizer.eos, warm=False, repeat=options.repeat, limit=options.limit, **settings
            )
            found[row.name][name] = measured if isinstance(measured, str) else figures(measured)
            print(f"{name}: {row.name}: {' '.join(cells(found[row.name][name]))}", file=sys.stderr)

    print(headline(versions, tokenizer))
    print(table(("row", "engine", *COLUMNS), [[row, name, *cells(figure)] for row, of in found.items() for name, figure in of.items()]))
    if options.json:
        options.json.write_text(json.dumps({"versions": versions, "tokenizer": options.tokenizer, "rows": found}, indent=1))


if __name__ == "__main__":
    main()
