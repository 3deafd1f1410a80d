"""The report of a run of maskbench.py as Markdown: all of it, and the extract that README.md has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import COUNTERS, TIMES

SHOWN = ("mean", "p50", "p90", "p99", "p99.9", "max")
EXTRACTED_VERDICTS = (
    "schemas",
    "passing",
    "refused at compile",
    "time-outs",
    "crashes",
    "valid instances",
    "valid refused",
    "invalid instances",
    "invalid accepted",
)
ACCEPTS = ("mean", "p50", "p99")
EXTRACTED_TIMES = {
    "first": ("p50", "p90", "p99"),
    "next": ("p50", "p99"),
    "cold": SHOWN,
    "warm": SHOWN,
    "accept cold": ACCEPTS,
    "accept warm": ACCEPTS,
}
COUNTS = (("count", ""), ("over 1 ms", " over 1 ms"))
EXTRACTED_MEMORY = ("after all schemas", "added by kept grammars")

Engines = dict[str, Any]  # what a summary says of each engine
Row = tuple[str, list[str]]


def markdown(summary: dict[str, Any]) -> str:
    """The whole report. `summary`: what maskbench.py writes as JSON."""
    engines = summary["engines"]
    parts = [summary["setting"], _table(engines, _rows(engines, "verdicts", _count))]
    if summary["common"] is not None:
        parts += [
            f"Microseconds, at the positions that all engines reached in the {summary['common']:,} files that all compiled (of each call the "
            f"median over {summary['runs']} runs):",
            _table(engines, _time_rows(engines, "times", dict.fromkeys(TIMES, SHOWN))),
            "The same, for each engine over all that it compiled itself:",
            _table(engines, _time_rows(engines, "own times", dict.fromkeys(("first", "cold", "warm"), SHOWN))),
            f"Resident memory, MB ({summary['kept']} grammars are kept):",
            _table(engines, _rows(engines, "memory", _megabytes)),
            "Counters over the files that all compiled; they do not depend on the machine. Only for engines that tell them:",
            _counter_table(engines),
        ]
    for name, found in summary["causes"].items():
        lines = [f"| {what} | {cause} | {len(names)} | {', '.join(names[:3])} |" for what, cause, names in found]
        parts += [
            f"What keeps files from passing with {name}:",
            "\n".join(["| what | cause | files | such as |", "|:--|:--|--:|:--|", *lines]),
        ]
    return "\n\n".join(parts) + "\n"


def extract(summary: dict[str, Any]) -> str:
    """The part that README.md has."""
    engines = summary["engines"]
    rows = [row for row in _rows(engines, "verdicts", _count) if row[0] in EXTRACTED_VERDICTS]
    rows += [(name if ": calls" in name else f"{name}, us", values) for name, values in _time_rows(engines, "times", EXTRACTED_TIMES)]
    rows += [(f"memory {name}, MB", values) for name, values in _rows(engines, "memory", _megabytes) if name in EXTRACTED_MEMORY]
    note = f"{summary['common']:,} files compiled by all, {summary['runs']} runs, {summary['kept']} grammars kept."
    return f"{summary['setting']} {note}\n\n{_table(engines, rows)}"


def around_block(path: Path, name: str) -> tuple[str, str]:
    """What a document has up to the mark `<!-- name -->`, and from `<!-- /name -->` on; ends the program if it has no such marks."""
    before, mark, rest = path.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    if not mark or not end:
        raise SystemExit(f"{path} has no block between <!-- {name} --> and <!-- /{name} -->")
    return before + mark, end + after


def write_block(path: Path, name: str, text: str) -> None:
    """Puts the text between the two marks."""
    before, after = around_block(path, name)
    path.write_text(f"{before}{text}\n{after}", encoding="utf-8")


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(engines: Engines, rows: list[Row]) -> str:
    heads = [f"{name} {of_engine['version']}" for name, of_engine in engines.items()]
    lines = [f"| | {' | '.join(heads)} |", "|:--|" + "--:|" * len(heads)]
    return "\n".join(lines + [f"| {name} | {' | '.join(values)} |" for name, values in rows])


def _rows(engines: Engines, part: str, show: Callable[[int], str]) -> list[Row]:
    """A row for each name under `part`, in the order of the engine that has most."""
    names = max((e[part] for e in engines.values()), key=len)
    return [(name, [show(e[part][name]) if name in e[part] else "-" for e in engines.values()]) for name in names]


def _time_rows(engines: Engines, part: str, wanted: dict[str, tuple[str, ...]]) -> list[Row]:
    """The columns that are wanted of each kind of time, and for kinds with a maximum how many there are of them."""
    rows = []
    for what, columns in wanted.items():
        rows += [(f"{TIMES[what]} {column}", [_micro(e[part][what][column]) for e in engines.values()]) for column in columns]
        if "max" in columns:
            rows += [(f"{TIMES[what]}: calls{over}", [_count(e[part][what][key]) for e in engines.values()]) for key, over in COUNTS]
    return rows


def _counter_table(engines: Engines) -> str:
    told = {name: e for name, e in engines.items() if e["counters"]["cold"]}
    known = next((e["counters"]["cold"] for e in told.values()), {})
    rows = [
        (f"{COUNTERS[counter]}, {walk}", [_count(e["counters"][walk][counter]) for e in told.values()])
        for counter in known
        for walk in ("cold", "warm")
    ]
    return _table(told, rows)


def _micro(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def _megabytes(value: int) -> str:
    return f"{value / 1e6:,.0f}"


def _count(value: int) -> str:
    return f"{value:,}"
