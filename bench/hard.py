"""The hard set: grammars that are known to be slow somewhere, one text each, cold.

    python bench/hard.py --json hard.json
    python bench/hard.py --match "format" --engines ours

What is asked of a row: no mask above 5 ms, and no cost that grows with the length of what was already written. The rows are in
`suites/rows.py`; `walks.py` tells what is timed. A row over --limit seconds is stopped.

*growth* is the mean mask of the last tenth of a walk over that of its second tenth. One slow mask in either moves it, so it says little for
short walks, and is left out for those under 200 masks.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from command import Layout, parser_of, run
from engines import Engine, Source
from engines.tokenizer import Tokenizer
from suites.rows import Row, rows
from walks import Measured, fastest, in_turns, isolated, mean, measure, microseconds, summary

KINDS = ("json_schema", "lark")
WORST = 5_000_000  # nanoseconds: what no mask should take
COLUMNS = ("masks", "compile", "first mask", "mean", "p99", "worst", "worst at", "growth", "accept mean", "accept worst", "verdict")
EXTRACTED = ("masks", "compile", "first mask", "mean", "worst", "growth", "accept mean", "verdict")


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


def measured(engines: dict[str, Engine], row: Row, tokenizer: Tokenizer, options: argparse.Namespace) -> dict[str, Any]:
    """By engine the figures of a row; or, as a str, why there are none."""
    works: dict[str, Callable[[], Any]] = {}
    for name, engine in engines.items():
        grammar = row.llguidance if row.llguidance and name.startswith("llguidance") else row.grammar
        settings = row.options if name.startswith("ours") else {}
        texts = [encode(tokenizer, row)]
        works[name] = partial(
            isolated, measure, engine, Source(row.kind, grammar), texts, tokenizer.eos, warm=False, limit=options.limit, **settings
        )
    runs = in_turns(works, options.repeat)
    return {name: of if isinstance(of, str) else figures(fastest(of)) for name, of in runs.items()}


LAYOUT = Layout("hard", "row", COLUMNS, EXTRACTED, cells)


def main() -> None:
    parser = parser_of(__doc__, KINDS, ["ours", "llguidance"], limit=120)
    run(parser, KINDS, rows(), measured, LAYOUT)


if __name__ == "__main__":
    main()
