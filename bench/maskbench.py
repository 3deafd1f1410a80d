"""MaskBench: real JSON schemas and instances, walked token by token through each engine.

    python bench/maskbench.py --sample 300 --engines ours,llguidance --json out.json

What is done with a file. Compile the schema; then write each instance with json.dumps(ensure_ascii=False), tokenise it, and for each
token: fill the mask (timed), look the token up, accept it. At the end one more mask must allow the end of text. An instance is
accepted if all of that succeeds. A file *passes* if its schema compiles, all valid instances are accepted and no invalid one is.

The first walk over all instances of a file is *cold*: a fresh grammar, each state visited for the first time or not as it comes (what
the engine keeps across grammars stays). The second, over the same grammar, is *warm*. The time to the first mask is compilation, a
session and one mask.

Fairness. Each engine lives in a worker process of its own. A file is handed to one engine after the other, the first one rotating, so
that what else the machine does hits all alike. Times are perf_counter_ns around the mask call alone, with the garbage collector off.
A worker that takes longer than --limit seconds for a file is killed (time-out), one that dies is counted (crash); both are started anew.

With --property-order any or --number-style any our engine judges the instances once more, untimed, under these options, and that verdict
counts; the masks that are timed are those of the default options.

A valid instance that is refused is tried once more, untimed, with the keys of its objects in the order of the schema's `properties`
(in two ways where `allOf` or `$ref` leave that open): if that is accepted, the refusal is for the order of properties alone.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import json
import os
import platform
import queue
import random
import select
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import peers

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GRAMMAR_ENGINE_DATA", ROOT.parent / "shared" / "data"))
MEMORY_LIMIT = 8 << 30  # address space of a worker, bytes


# --- the order of properties ------------------------------------------------------------------------------------------


class SchemaOrder:
    """Puts the keys of objects in the order in which a schema lists them: `properties`, then `required`, then the rest as it was.

    Where a schema has properties of its own and others by `allOf` or `$ref`, `own_first` says which come first. Of `anyOf` and `oneOf`
    only the branches count that the value satisfies (if `jsonschema` is there to ask).
    """

    def __init__(self, root: Any, own_first: bool):
        self._root = root
        self._own_first = own_first
        self._validator: Any = None
        with contextlib.suppress(Exception):  # not installed, or not a schema that it takes
            import jsonschema

            self._validator = jsonschema.validators.validator_for(root, jsonschema.Draft202012Validator)(root)

    def sort(self, value: Any, schema: Any, depth: int = 0) -> Any:
        if depth > 60 or not isinstance(value, (dict, list)):
            return value
        schemas = self._subschemas(schema, value, set())
        if isinstance(value, dict):
            listed: dict[str, list[Any]] = {}
            for each in schemas:
                for key, inner in _dict(each.get("properties")).items():
                    listed.setdefault(key, []).append(inner)
            others = [each.get("additionalProperties") for each in schemas]
            others += [inner for each in schemas for inner in _dict(each.get("patternProperties")).values()]
            required = [key for each in schemas for key in each.get("required", ())]
            keys = [key for key in dict.fromkeys([*listed, *required, *value]) if key in value]
            return {key: self.sort(value[key], {"allOf": listed.get(key, others)}, depth + 1) for key in keys}
        made = []
        for i, item in enumerate(value):
            inners = []
            for each in schemas:
                items = each.get("items")
                prefix, rest = (items, each.get("additionalItems")) if isinstance(items, list) else (each.get("prefixItems", []), items)
                inners.append(prefix[i] if i < len(prefix) else rest)
            made.append(self.sort(item, {"allOf": inners}, depth + 1))
        return made

    def _subschemas(self, schema: Any, value: Any, seen: set[int]) -> list[dict[str, Any]]:
        """The subschemas that speak of `value` itself, in order, each once."""
        if not isinstance(schema, dict) or id(schema) in seen:
            return []
        seen.add(id(schema))
        parts = list(schema.get("allOf", ()))
        if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
            parts.append(_resolve(self._root, schema["$ref"][1:]))
        parts += [each for word in ("anyOf", "oneOf") for each in schema.get(word, ()) if self._holds(each, value)]
        parts += [schema[word] for word in ("if", "then", "else") if word in schema]
        below = [found for part in parts for found in self._subschemas(part, value, seen)]
        return [schema, *below] if self._own_first else [*below, schema]

    def _holds(self, schema: Any, value: Any) -> bool:
        try:
            return self._validator is None or bool(self._validator.evolve(schema=schema).is_valid(value))
        except Exception:  # a reference that leads nowhere, a pattern that Python does not know
            return True


def _dict(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def _resolve(root: Any, pointer: str) -> Any:
    value = root
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        value = value.get(part) if isinstance(value, dict) else None
    return value


# --- the worker -------------------------------------------------------------------------------------------------------


def walk(session: peers.Session, tokens: list[int], eos: int, times: list[int]) -> tuple[bool, int, bool]:
    """(accepted, how many tokens, do mask and accept agree?)"""
    clock = time.perf_counter_ns
    for position, token in enumerate(tokens):
        start = clock()
        session.fill()
        times.append(clock() - start)
        if not session.allows(token):
            return False, position, not session.accept(token)
        if not session.accept(token):
            return False, position, False
    start = clock()
    session.fill()
    times.append(clock() - start)
    return session.allows(eos), len(tokens), True


def attempt(engine: peers.Engine, grammar: Any, tokens: list[int], eos: int, times: list[int]) -> dict[str, Any]:
    """`walk` in a new session; an exception is a refusal, with its text."""
    try:
        accepted, at, agree = walk(engine.session(grammar), tokens, eos, times)
    except Exception as error:
        return {"accepted": False, "at": -1, "agree": True, "error": f"{type(error).__name__}: {error}"[:300]}
    return {"accepted": accepted, "at": at, "agree": agree}


def measure(engine: peers.Engine, tokenizer: peers.Tokenizer, file: dict[str, Any]) -> dict[str, Any]:
    """All that is asked of one engine about one file."""
    schema, clock = file["schema"], time.perf_counter_ns
    texts = [json.dumps(test["data"], ensure_ascii=False) for test in file["tests"]]
    instances = [tokenizer.encode(text) for text in texts]
    gc.collect()
    start = clock()
    try:
        grammar = engine.compile(schema)
    except peers.RefusedError as refused:
        return {"refused": refused.reason, "message": str(refused)[:300], "refuse_ns": clock() - start}
    compiled = clock()
    try:
        session = engine.session(grammar)
        session.fill()
    except Exception as error:  # what an engine raises here is its own affair: it is a refusal that came late
        return {"refused": type(error).__name__, "message": str(error)[:300], "refuse_ns": clock() - start}
    result: dict[str, Any] = {"compile_ns": compiled - start, "first_ns": clock() - start, "cold": [], "warm": [], "tests": []}
    for test, text, tokens in zip(file["tests"], texts, instances):
        outcome = attempt(engine, grammar, tokens, tokenizer.eos, result["cold"])
        result["tests"].append({"valid": test["valid"], "text": text[:400], **outcome})
    for outcome, tokens in zip(result["tests"], instances):
        again = attempt(engine, grammar, tokens, tokenizer.eos, result["warm"])
        outcome["stable"] = again["accepted"] == outcome["accepted"] and again["at"] == outcome["at"]
    with contextlib.suppress(peers.RefusedError):  # what is refused only with these options keeps the verdict of the default ones
        if judge := engine.judge(schema):
            for outcome, tokens in zip(result["tests"], instances):
                stable = outcome["stable"]
                outcome.pop("error", None)
                outcome |= attempt(engine, judge, tokens, tokenizer.eos, []) | {"stable": stable}
            grammar = judge
    for outcome, test in zip(result["tests"], file["tests"]):
        if test["valid"] and not outcome["accepted"] and "error" not in outcome:
            orders = [SchemaOrder(schema, own_first).sort(test["data"], schema) for own_first in (True, False)]
            texts = [json.dumps(data, ensure_ascii=False) for data in orders]
            outcome["in_order"] = any(attempt(engine, grammar, tokenizer.encode(t), tokenizer.eos, [])["accepted"] for t in texts)
    return result


def worker(name: str, tokenizer_path: str, spellings: dict[str, str]) -> None:
    """Reads a file a line, writes a result a line."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # an engine that prints does not disturb the protocol
    tokenizer = peers.Tokenizer(Path(tokenizer_path))
    engine = peers.ENGINES[name](tokenizer, spellings)
    tokenizer.encode("warm up")
    gc.disable()
    print(json.dumps({"version": engine.version}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(engine, tokenizer, json.loads(line))), file=out, flush=True)


class Worker:
    """A worker process as the parent sees it; started when needed."""

    def __init__(self, name: str, options: argparse.Namespace):
        self.name = name
        self.version = "?"
        self._command = [sys.executable, __file__, "--worker", name, "--tokenizer", str(options.tokenizer)]
        self._command += ["--property-order", options.property_order, "--number-style", options.number_style]
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._pending = b""
        hello = self._read(120)
        if "version" not in hello:
            shown = subprocess.run(self._command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stderr
            raise SystemExit(f"{self.name} does not start:\n{shown[-2000:]}")
        self.version = hello["version"]

    def ask(self, line: bytes, limit: float) -> dict[str, Any]:
        """The result for a file, or {"timeout": true}, or {"crash": exit status}."""
        if self._process is None:
            self.start()
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._gone()
        return self._read(limit)

    def _read(self, limit: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        until = time.monotonic() + limit
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, until - time.monotonic()))
            if not ready:
                self.stop()
                return {"timeout": True}
            chunk = os.read(self._process.stdout.fileno(), 1 << 20)
            if not chunk:
                return self._gone()
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _gone(self) -> dict[str, Any]:
        assert self._process is not None
        status = self._process.wait()
        self._process = None
        return {"crash": status}

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


# --- the parent -------------------------------------------------------------------------------------------------------


def load_files(path: Path, sample: int | None, seed: int, match: str) -> list[tuple[str, dict[str, Any]]]:
    """(name, file) pairs: sorted by name, then shuffled by `seed`, then cut to `sample`."""
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
                found[member.name] = json.load(file)
    return [(member.name, found[member.name]) for member in members[:sample]]


def run(files: list[tuple[str, dict[str, Any]]], options: argparse.Namespace) -> tuple[dict, dict[str, str]]:
    """{engine: {file name: result}}, {engine: version}."""
    results: dict[str, dict[str, Any]] = {name: {} for name in options.engines}
    versions: dict[str, str] = {}
    todo: queue.SimpleQueue[tuple[int, str, bytes]] = queue.SimpleQueue()
    for index, (name, file) in enumerate(files):
        todo.put((index, name, json.dumps({"schema": file["schema"], "tests": file["tests"]}).encode()))
    began = time.monotonic()

    def job() -> None:
        workers = {name: Worker(name, options) for name in options.engines}
        try:
            while True:
                try:
                    index, name, line = todo.get_nowait()
                except queue.Empty:
                    return
                turn = index % len(options.engines)
                for engine in options.engines[turn:] + options.engines[:turn]:
                    results[engine][name] = workers[engine].ask(line, options.limit)
                    versions[engine] = workers[engine].version
                _progress(index + 1, len(files), began, results, options.engines)
        finally:
            for each in workers.values():
                each.stop()

    threads = [threading.Thread(target=job) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(file=sys.stderr)
    return results, versions


def _progress(done: int, total: int, began: float, results: dict, engines: list[str]) -> None:
    spent = time.monotonic() - began
    bad = " ".join(f"{name}:{sum('crash' in r or 'timeout' in r for r in list(results[name].values()))}" for name in engines)
    left = spent / done * (total - done)
    print(f"\r{done}/{total} files  {spent:.0f} s, about {left:.0f} s left  dead {bad}   ", end="", file=sys.stderr, flush=True)


def percentile(ordered: list[int], share: float) -> float:
    """In microseconds; 0 where there is nothing."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1000 if ordered else 0.0


def spread(times: list[int]) -> dict[str, float]:
    """Microseconds."""
    ordered = sorted(times)
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
    found = {"mean": sum(ordered) / len(ordered) / 1000 if ordered else 0.0}
    return found | {name: percentile(ordered, share) for name, share in shares.items()} | {"max": percentile(ordered, 1.0)}


def summarise(results: dict[str, Any], common: set[str]) -> dict[str, Any]:
    """The figures of one engine. `common`: files that all engines compiled, over which times are taken."""
    compiled = {name: r for name, r in results.items() if "tests" in r}
    tests = [test for r in compiled.values() for test in r["tests"]]
    valid, invalid = [t for t in tests if t["valid"]], [t for t in tests if not t["valid"]]
    lost = [t for t in valid if not t["accepted"]]
    passing = [name for name, r in compiled.items() if all(t["valid"] == t["accepted"] for t in r["tests"])]
    tidy = [name for name, r in compiled.items() if all(t["valid"] == t["accepted"] or t.get("in_order") for t in r["tests"])]
    return {
        "schemas": len(results),
        "passing": len(passing),
        "passing, order of properties forgiven": len(tidy),
        "refused at compile": sum("refused" in r for r in results.values()),
        "valid instances": len(valid),
        "valid refused": len(lost),
        "valid refused, for order alone": sum(bool(t.get("in_order")) for t in lost),
        "valid refused, by an error": sum("error" in t for t in lost),
        "invalid instances": len(invalid),
        "invalid accepted": sum(t["accepted"] for t in invalid),
        "mask and accept disagree": sum(not t["agree"] for t in tests),
        "second walk differs": sum(not t["stable"] for t in tests),
        "crashes": sum("crash" in r for r in results.values()),
        "time-outs": sum("timeout" in r for r in results.values()),
        "masks (cold)": sum(len(compiled[name]["cold"]) for name in common),
        "compile": spread([compiled[name]["compile_ns"] for name in common]),
        "first mask": spread([compiled[name]["first_ns"] for name in common]),
        "mask, cold": spread([t for name in common for t in compiled[name]["cold"]]),
        "mask, warm": spread([t for name in common for t in compiled[name]["warm"]]),
    }


def table(summaries: dict[str, dict[str, Any]], versions: dict[str, str]) -> str:
    """Markdown."""
    names = list(summaries)
    lines = ["| | " + " | ".join(f"{name} {versions.get(name, '')}" for name in names) + " |", "|:--|" + "--:|" * len(names)]
    for row, value in summaries[names[0]].items():
        if isinstance(value, int):
            lines.append(f"| {row} | " + " | ".join(f"{summaries[name][row]:,}" for name in names) + " |")
    lines += ["", "Microseconds, over the files that all engines compiled:", "", *lines[:2]]
    for row in ("first mask", "compile", "mask, cold", "mask, warm"):
        for column in summaries[names[0]][row]:
            lines.append(f"| {row} {column} | " + " | ".join(_micro(summaries[name][row][column]) for name in names) + " |")
    return "\n".join(lines)


def _micro(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


ENDS = {"refused": "schema refused", "crash": "crash", "timeout": "time-out"}


def causes(results: dict[str, Any], files: dict[str, dict[str, Any]]) -> str:
    """Markdown: what keeps files from passing, by cause, with how many files and three of them.

    The cause of a refused schema is the keyword or limit that the engine names; that of an invalid instance which is accepted, the first
    keyword that `jsonschema` says it violates.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for name, r in sorted(results.items()):
        kinds = {(what, str(r[word])) for word, what in ENDS.items() if word in r}
        for outcome, test in zip(r.get("tests", ()), files[name]["tests"]):
            if outcome["accepted"] and not outcome["valid"]:
                kinds.add(("invalid accepted", violated(files[name]["schema"], test["data"])))
            elif outcome["valid"] and not outcome["accepted"]:
                kinds.add(("valid refused", "order of properties alone" if outcome.get("in_order") else outcome.get("error", "")[:60]))
        for kind in kinds:
            found.setdefault(kind, []).append(name.removesuffix(".json").split("/")[-1])
    lines = ["| what | cause | files | such as |", "|:--|:--|--:|:--|"]
    for (what, cause), names in sorted(found.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1])):
        lines.append(f"| {what} | {cause} | {len(names)} | {', '.join(names[:3])} |")
    return "\n".join(lines)


def violated(schema: Any, value: Any) -> str:
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


def main() -> None:
    present = [name for name, module in peers.MODULES.items() if importlib.util.find_spec(module)]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA / "maskbench.tar.xz")
    parser.add_argument("--tokenizer", type=Path, default=DATA / "tokenizers" / "tekken-131k.json.gz")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=present, help=f"comma-separated; here: {','.join(present)}")
    parser.add_argument("--sample", type=int, metavar="N", help="only N files, chosen by --seed")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--match", default="", help="only files whose name contains this")
    parser.add_argument("--property-order", choices=["schema", "any"], default="schema", help="how ours judges; times are those of schema")
    parser.add_argument("--number-style", choices=["canonical", "any"], default="canonical", help="how ours judges; times: canonical")
    parser.add_argument("--limit", type=float, default=30, metavar="S", help="seconds for a file")
    parser.add_argument("--jobs", type=int, default=1, help="files at the same time; times are only fair with 1")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write summaries and the results of each file")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        chosen = {"property_order": options.property_order, "number_style": options.number_style}
        defaults = {"property_order": "schema", "number_style": "canonical"}
        worker(options.worker, str(options.tokenizer), chosen if chosen != defaults else {})
        return
    for name in options.engines:
        if name not in present:
            parser.error(f"{name} is not installed" if name in peers.ENGINES else f"unknown engine {name}")
    files = load_files(options.data, options.sample, options.seed, options.match)
    results, versions = run(files, options)
    common = {name for name, _ in files if all("tests" in results[engine][name] for engine in options.engines)}
    summaries = {engine: summarise(results[engine], common) for engine in options.engines}
    setting = f"{processor()}, Python {platform.python_version()}, {options.tokenizer.name}, {len(files)} files, {len(common)} of them compiled by all"
    print(setting, "", table(summaries, versions), sep="\n")
    for engine in options.engines:
        print(f"\nWhat keeps files from passing with {engine}:\n\n{causes(results[engine], dict(files))}")
    if options.json:
        for per_file in results.values():
            for r in per_file.values():
                for which in ("cold", "warm"):
                    if which in r:
                        r[which] = spread(r[which]) | {"count": len(r[which])}
        options.json.write_text(json.dumps({"setting": setting, "versions": versions, "summaries": summaries, "files": results}, indent=1))


if __name__ == "__main__":
    main()
