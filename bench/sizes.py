"""How the time to the first mask grows with the size of a schema.

    python bench/sizes.py                              # a markdown table
    python bench/sizes.py --chart sizes.png            # and a chart
    python bench/sizes.py --match enum --profile       # where the time of the largest of each family goes

Idea. A family is a way to make a schema of any size n. Each is compiled at several sizes, from its JSON text, and its first mask is
computed; the slope of the times in a log-log plot is the exponent of growth: 1 is linear, 2 is quadratic. What is refused says by which
limit or keyword, and how long that took: it should take less than a second.

Each point is measured in a process of its own, forked after the vocabulary is loaded, and killed after --limit seconds. Times are the best
of
--repeat runs, with the garbage collector as it is for users.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import multiprocessing
import pstats
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine.errors import LimitExceededError, SchemaError

sys.path.insert(0, str(Path(__file__).parent))
from engines.tokenizer import NAMES, Tokenizer
from figures import processor


class Family(NamedTuple):
    """A way to make schemas: `make(n)`, a schema or its text, for the sizes given, with options of `Grammar.from_json_schema`."""

    name: str
    make: Callable[[int], Any]
    sizes: tuple[int, ...]
    options: dict[str, Any] = {}  # noqa: RUF012

    def text(self, n: int) -> str:
        made = self.make(n)
        return made if isinstance(made, str) else json.dumps(made)


class Point(NamedTuple):
    """One measurement; times in seconds. `refused` names the keyword or limit where the schema was refused after `compile` seconds."""

    n: int
    text_bytes: int
    compile: float
    mask: float
    refused: str = ""

    @property
    def first(self) -> float:
        return self.compile + self.mask


# --- the families -----------------------------------------------------------------------------------------------------


def enum(n: int) -> Any:
    return {"enum": [f"{i * 7919 % 1_000_003:06d} item {i}" for i in range(n)]}


def properties(n: int) -> Any:
    kinds: list[Any] = [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}, {"enum": ["on", "off"]}]
    return {"type": "object", "properties": {f"property{i}": kinds[i % len(kinds)] for i in range(n)}, "additionalProperties": False}


def definitions(n: int) -> Any:
    """Each definition refers to three others, so that all of them are reached, in cycles."""
    made = {
        f"d{i}": {
            "type": "object",
            "properties": {f"to{step}": {"$ref": f"#/$defs/d{(i * step + 1) % n}"} for step in (1, 2, 3)} | {"name": {"type": "string"}},
            "required": ["name"],
        }
        for i in range(n)
    }
    return {"$ref": "#/$defs/d0", "$defs": made}


def one_of(n: int) -> Any:
    branches = [
        {
            "type": "object",
            "properties": {"kind": {"const": f"kind{i}"}, "size": {"type": "integer"}, f"field{i}": {"type": "string"}},
            "required": ["kind"],
        }
        for i in range(n)
    ]
    return {"oneOf": branches}


def all_of(n: int) -> Any:
    """n objects at the same place, each with a property of its own."""
    return {"allOf": [{"type": "object", "properties": {f"own{i}": {"type": "string"}}, "required": [f"own{i}"]} for i in range(n)]}


def conditions(n: int) -> Any:
    """What else is required depends on the value of one key."""
    kinds = [f"kind{i}" for i in range(n)]
    conditions = [{"if": {"properties": {"kind": {"const": kind}}}, "then": {"required": [f"for {kind}"]}} for kind in kinds]
    return {"type": "object", "properties": {"kind": {"enum": kinds}}, "required": ["kind"], "allOf": conditions}


def nesting(n: int) -> str:
    """As text, which may nest deeper than `json.dumps` goes."""
    return '{"type": "object", "properties": {"inner": ' * n + '{"type": "string"}' + '}, "required": ["inner"]}' * n


def resources(n: int) -> Any:
    """n resources in the manner of FHIR: closed objects with many optional members, references, codes, patterns and long descriptions."""
    words = "the of a value that resource describes for which element may be used in this context and its meaning".split()

    def describe(seed: int) -> str:
        return " ".join(words[(seed * 31 + i * i) % len(words)] for i in range(30))

    made: dict[str, Any] = {
        "id": {"type": "string", "pattern": "^[A-Za-z0-9\\-\\.]{1,64}$", "description": describe(1)},
        "code": {"type": "string", "pattern": "^[^\\s]+(\\s[^\\s]+)*$", "description": describe(2)},
        "uri": {"type": "string", "pattern": "^\\S*$"},
        "instant": {"type": "string", "format": "date-time"},
        "decimal": {"type": "number", "minimum": 0},
        "Extension": {
            "type": "object",
            "properties": {"url": {"$ref": "#/definitions/uri"}, "value": {"type": "string"}},
            "required": ["url"],
        },
    }
    simple = list(made)
    for i in range(n):
        members: dict[str, Any] = {"resourceType": {"const": f"Resource{i}"}}
        for j in range(12):
            target = {"$ref": f"#/definitions/{simple[(i + j) % len(simple)]}", "description": describe(i + j)}
            other = {"$ref": f"#/definitions/Resource{(i * 5 + j * 7 + 1) % n}", "description": describe(i - j)}
            codes = {"enum": [f"code-{i}-{k}" for k in range(6)], "description": describe(i * j)}
            members[f"simple{j}"] = target
            members[f"list{j}"] = {"type": "array", "items": target, "description": describe(j)}
            members[f"part{j}"] = other if j % 3 else {"type": "array", "items": other}
            members[f"status{j}"] = codes
        made[f"Resource{i}"] = {
            "type": "object",
            "description": describe(i),
            "properties": members,
            "required": ["resourceType"],
            "additionalProperties": False,
        }
    return {"oneOf": [{"$ref": f"#/definitions/Resource{i}"} for i in range(n)], "definitions": made}


FAMILIES = (
    Family("enum of n strings", enum, (1_000, 3_000, 10_000, 30_000, 100_000)),
    Family("n optional properties, in order", properties, (50, 150, 500, 1_500, 5_000)),
    Family("n optional properties, any order", properties, (50, 150, 500, 1_500, 5_000), {"property_order": "any"}),
    Family("n definitions in cycles", definitions, (100, 300, 1_000, 3_000)),
    Family("oneOf of n objects with a const", one_of, (20, 60, 200, 600)),
    Family("allOf of n objects", all_of, (20, 60, 200, 600)),
    Family("n conditions on one key", conditions, (5, 10, 20, 60, 200)),
    Family("n objects inside each other", nesting, (30, 60, 100, 200, 1_000)),
    Family("n resources as in FHIR", resources, (10, 30, 100, 300)),
)


# --- measuring --------------------------------------------------------------------------------------------------------


def measure(family: Family, n: int, text: str, vocabulary: Vocabulary, repeat: int) -> Point:
    best: Point | None = None
    for _ in range(repeat):
        start = time.perf_counter()
        try:
            grammar = Grammar.from_json_schema(text, **family.options)
            compiled = time.perf_counter()
            Matcher(grammar, vocabulary).mask()
            point = Point(n, len(text), compiled - start, time.perf_counter() - compiled)
        except (SchemaError, LimitExceededError) as error:
            refused = getattr(error, "keyword", None) or getattr(error, "limit", None) or type(error).__name__
            point = Point(n, len(text), time.perf_counter() - start, 0.0, refused)
        if best is None or point.first < best.first:
            best = point
    assert best is not None
    return best


def measure_apart(family: Family, n: int, vocabulary: Vocabulary, repeat: int, limit: float) -> Point:
    """`measure` in a process of its own; `refused` is "time" where it takes longer than `limit` seconds, "crash" where it dies."""
    text = family.text(n)
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: there.send(measure(family, n, text, vocabulary, repeat)))
    process.start()
    there.close()
    try:
        if here.poll(limit):
            answer: Point = here.recv()
            return answer
        return Point(n, len(text), limit, 0.0, "time")
    except EOFError:
        return Point(n, len(text), 0.0, 0.0, "crash")
    finally:
        process.kill()
        process.join()


def warm_up(vocabulary: Vocabulary) -> None:
    """What is made once in a process and not for each schema: imports, the trie of the vocabulary, the masks that grammars share."""
    everything = {"type": ["string", "number", "array"], "pattern": "a", "format": "date-time", "items": {"$ref": "#"}}
    Matcher(Grammar.from_json_schema(everything), vocabulary).mask()


def exponent(points: list[Point]) -> float:
    """The slope of log(time to the first mask) over log(n), by least squares, without times below 5 ms; NaN where there are not two."""
    kept = [point for point in points if not point.refused and point.first > 0.005]
    if len(kept) < 2:
        return math.nan
    return statistics.linear_regression([math.log(p.n) for p in kept], [math.log(p.first) for p in kept]).slope


# --- showing ----------------------------------------------------------------------------------------------------------


ENDED = {"time": "not done", "crash": "crashed"}


def table(measured: dict[str, list[Point]]) -> str:
    """Markdown, one row for each point."""
    lines = ["| schema | n | text | compile, ms | first mask, ms | exponent |", "|:--|--:|--:|--:|--:|--:|"]
    for name, points in measured.items():
        growth = exponent(points)
        for point in points:
            size = f"{point.text_bytes / 1000:,.0f} kB"
            ended = ENDED.get(point.refused, f"refused ({point.refused})")
            times = f"{ended} after {point.compile * 1000:,.0f} | " if point.refused else _times(point)
            last = "" if point is not points[-1] else "-" if math.isnan(growth) else f"{growth:.2f}"
            lines.append(f"| {name if point is points[0] else ''} | {point.n:,} | {size} | {times} | {last} |")
    return "\n".join(lines)


def _times(point: Point) -> str:
    return " | ".join(f"{1000 * t:,.1f}" if t < 0.1 else f"{1000 * t:,.0f}" for t in (point.compile, point.mask))


def chart(measured: dict[str, list[Point]], target: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
    for name, points in measured.items():
        kept = [point for point in points if not point.refused]
        if kept:
            axes.loglog([p.n for p in kept], [p.first for p in kept], marker="o", label=f"{name}: n^{exponent(points):.2f}")
    axes.set(xlabel="n", ylabel="schema text to first mask, seconds", title="Time to the first mask by size of the schema")
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend(fontsize="small")
    figure.savefig(target, dpi=150)


def profile(family: Family, n: int, lines: int) -> None:
    """Where the time of one compilation goes, function by function."""
    text = family.text(n)
    profiler = cProfile.Profile()
    try:
        profiler.runcall(Grammar.from_json_schema, text, **family.options)
    except (SchemaError, LimitExceededError) as error:
        print(f"refused: {error}")
    print(f"\n{family.name}, n = {n:,}")
    pstats.Stats(profiler).sort_stats("tottime").print_stats(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokenizer", choices=NAMES, default=NAMES[0])
    parser.add_argument("--match", default="", help="only families whose name contains this")
    parser.add_argument("--most", type=int, default=sys.maxsize, metavar="N", help="only sizes up to N")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120, metavar="S", help="seconds for a point")
    parser.add_argument("--chart", type=Path, metavar="PNG")
    parser.add_argument("--profile", action="store_true", help="profile the largest size of each family, in this process")
    options = parser.parse_args()
    families = [family for family in FAMILIES if options.match in family.name]
    if not families:
        parser.error(f"no name contains {options.match!r}")
    if options.profile:
        for family in families:
            profile(family, max(n for n in family.sizes if n <= options.most), 12)
        return
    tokenizer = Tokenizer.load(options.tokenizer)
    vocabulary = Vocabulary(tokenizer.tokens, eos=[tokenizer.eos], special=dict(tokenizer.special))
    warm_up(vocabulary)
    measured: dict[str, list[Point]] = {}
    for family in families:
        sizes = [n for n in family.sizes if n <= options.most]
        measured[family.name] = [measure_apart(family, n, vocabulary, options.repeat, options.limit) for n in sizes]
    print(f"{processor()}, {options.tokenizer}\n", table(measured), sep="\n")
    if options.chart:
        chart(measured, options.chart)


if __name__ == "__main__":
    main()
