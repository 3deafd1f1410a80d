"""Figures of a run of maskbench.py.

Verdicts are counted over all files of the first run. Times are compared where all engines can be: at the positions that all of them
reached, in all runs, in the files that all of them compiled; and told for each engine alone over all that it compiled. The time of a call
is the median of what it took in each run, so that what else the machine does falls out; percentiles are over calls. Counters are those of
the first run, over the same files as the comparison.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MILLISECOND = 1000  # in the unit of the times
SHARES = {"p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
TIMES = {
    "first": "first mask, cold",
    "next": "first mask, next request",
    "compile": "compile",
    "cold": "mask, cold",
    "warm": "mask, warm",
    "accept cold": "accept, cold",
    "accept warm": "accept, warm",
}
COUNTERS = {
    "trie_nodes": "nodes of the vocabulary's trie visited",
    "derivatives": "derivatives taken",
    "lexer_states": "lexer states built",
    "rows": "parser rows built",
    "configurations": "configurations built",
    "mask_builds": "masks computed",
    "bytes_copied": "bytes copied for them",
}
ENDS = {"refused": "schema refused", "crash": "crash", "timeout": "time-out"}

Results = dict[str, dict[str, Any]]  # by engine, by file


# --- what was measured ------------------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """Of one engine, microseconds by the names of TIMES: of each call the median over the runs, in the order of files and positions."""

    times: dict[str, np.ndarray]
    densities: np.ndarray  # of the masks, in the order of their times
    sizes: np.ndarray  # bytes of the schemas, in the order of files


def compiled_files(runs: list[Results]) -> list[str]:
    """The files that all engines compiled in all runs."""
    first = next(iter(runs[0].values()))
    return [name for name in first if all("tests" in of_engine[name] for run in runs for of_engine in run.values())]


def measured(runs: list[Results], sizes: dict[str, int]) -> dict[str, Measured]:
    """Times where all these engines can be compared. `sizes`: bytes of the schemas."""
    names = compiled_files(runs)
    lengths = {name: _reached([of_engine[name] for run in runs for of_engine in run.values()]) for name in names}
    found = {}
    for engine in runs[0]:
        medians = {what: np.median([_times(run[engine], lengths, what) for run in runs], axis=0) for what in TIMES}
        densities = _times(runs[0][engine], lengths, "densities")
        found[engine] = Measured(medians, densities, np.array([sizes[name] for name in names]))
    return found


def _reached(results: list[dict[str, Any]]) -> list[int]:
    """Of one file: for each instance the number of masks that all filled; none where another walk over an instance took another way."""
    stable = all(test["stable"] for r in results for test in r["tests"])
    return [min(test["fills"] for test in tests) if stable else 0 for tests in zip(*(r["tests"] for r in results))]


def _times(results: dict[str, Any], lengths: dict[str, list[int]], what: str) -> np.ndarray:
    if what in ("first", "next", "compile"):
        return np.array([results[name][what] / 1000 for name in lengths])
    count, shorter = ("accepts", 1) if what.startswith("accept") else ("fills", 0)
    parts = [np.zeros(0)]
    for name, reached in lengths.items():
        start = 0
        for test, n in zip(results[name]["tests"], reached):
            parts.append(results[name][what][start : start + max(0, n - shorter)])
            start += test[count]
    return np.concatenate(parts)


# --- figures ----------------------------------------------------------------------------------------------------------


def verdicts(results: dict[str, Any]) -> dict[str, int]:
    """What came of the files, counted."""
    compiled = {name: r for name, r in results.items() if "tests" in r}
    tests = [test for r in compiled.values() for test in r["tests"]]
    valid, invalid = [t for t in tests if t["valid"]], [t for t in tests if not t["valid"]]
    lost = [t for t in valid if not t["accepted"]]
    return {
        "schemas": len(results),
        "passing": sum(all(t["valid"] == t["accepted"] for t in r["tests"]) for r in compiled.values()),
        "passing, order of properties forgiven": sum(
            all(t["valid"] == t["accepted"] or bool(t.get("in_order")) for t in r["tests"]) for r in compiled.values()
        ),
        "refused at compile": sum("refused" in r for r in results.values()),
        "time-outs": sum("timeout" in r for r in results.values()),
        "crashes": sum("crash" in r for r in results.values()),
        "valid instances": len(valid),
        "valid refused": len(lost),
        "valid refused, for order alone": sum(bool(t.get("in_order")) for t in lost),
        "valid refused, by an error": sum("error" in t for t in lost),
        "schemas with a valid instance refused": sum(any(t["valid"] > t["accepted"] for t in r["tests"]) for r in compiled.values()),
        "invalid instances": len(invalid),
        "invalid accepted": sum(t["accepted"] for t in invalid),
        "schemas with an invalid instance accepted": sum(any(t["valid"] < t["accepted"] for t in r["tests"]) for r in compiled.values()),
        "mask and accept disagree": sum(not t["agree"] for t in tests),
        "second walk differs": sum(not t.get("stable", True) for t in tests),
    }


def spread(times: np.ndarray) -> dict[str, float]:
    """Mean, percentiles and maximum, as the times are, 0 where there are none; how many there are, and how many of them are over 1 ms."""
    n, ordered = len(times), np.sort(times) if len(times) else np.zeros(1)
    found = {name: float(ordered[min(len(ordered) - 1, int(n * share))]) for name, share in SHARES.items()}
    mean, longest = float(ordered.mean(dtype=np.float64)), float(ordered[-1])
    return {"mean": mean, **found, "max": longest, "count": n, "over 1 ms": int(np.count_nonzero(ordered > MILLISECOND))}


def own(runs: list[Results], engine: str, sizes: dict[str, int]) -> Measured:
    """Times of one engine over all that it compiled."""
    return measured([{engine: run[engine]} for run in runs], sizes)[engine]


def times(of_engine: Measured) -> dict[str, dict[str, float]]:
    """`spread` of each kind of time."""
    return {what: spread(of_engine.times[what]) for what in TIMES}


def counters(results: dict[str, Any], names: list[str]) -> dict[str, dict[str, int]]:
    """Sums over the files; warm: what the second walk added."""
    cold, warm = ([results[name][f"counters {walk}"] for name in names] for walk in ("cold", "warm"))
    known = [counter for counter in COUNTERS if cold and counter in cold[0]]
    first = {counter: sum(part[counter] for part in cold) for counter in known}
    return {"cold": first, "warm": {counter: sum(part[counter] for part in warm) - first[counter] for counter in known}}


def memory(results: dict[str, Any], ready: int, kept: dict[str, int]) -> dict[str, int]:
    """Bytes. `kept`: of `driver.kept`."""
    sizes = [r["resident"] for r in results.values() if "resident" in r]
    found = {"ready": ready, "after all schemas": sizes[-1] if sizes else 0, "most after a schema": max(sizes, default=0)}
    return found | ({"added by kept grammars": kept["kept"] - kept["ready"]} if kept else {})


def causes(results: dict[str, Any], files: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    """(what keeps files from passing, its cause, the names of the files).

    The cause of a refused schema is the keyword or limit that the engine names; that of an invalid instance which is accepted, the first
    keyword that `jsonschema` says it violates.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for name, r in sorted(results.items()):
        kinds = {(what, str(r[word])) for word, what in ENDS.items() if word in r}
        for outcome, test in zip(r.get("tests", ()), files[name]["tests"]):
            if outcome["accepted"] and not outcome["valid"]:
                kinds.add(("invalid accepted", _violated(files[name]["schema"], test["data"])))
            elif outcome["valid"] and not outcome["accepted"]:
                kinds.add(("valid refused", "order of properties alone" if outcome.get("in_order") else outcome.get("error", "")[:60]))
        for kind in kinds:
            found.setdefault(kind, []).append(name.removesuffix(".json").split("/")[-1])
    ordered = sorted(found.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1]))
    return [(what, cause, names) for (what, cause), names in ordered]


def _violated(schema: Any, value: Any) -> str:
    """The first keyword that a value violates, by `jsonschema`."""
    try:
        import jsonschema

        kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
        error = next(kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(value), None)
        return str(error.validator) if error else "?"
    except Exception:  # not installed, a reference that leads nowhere, a pattern that Python does not know
        return "?"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
