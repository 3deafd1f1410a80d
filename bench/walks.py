"""Walks of texts through engines, timed, each in a process of its own, forked from one that has prepared all engines.

A walk is: for each token of the text, fill the mask (timed), look the token up in it, accept it (timed apart); at the end one more mask,
which must allow the end of text. Times are nanoseconds of `perf_counter_ns` around the call alone, with the garbage collector off.

*Cold* is the first walk after the grammar was compiled, in a process that has prepared the vocabulary and imported what it needs, and has
computed one mask of a trivial grammar. A fork shares its memory until it writes there, and then copies page by page, 1 to 3 us each, which
no server pays: so all that is shared is copied before. *Warm* is the second walk, over the same grammar.

Walks repeat exactly, so a time that another process on the machine has spoilt is got rid of by doing all of that again, in new processes,
and taking the smallest time of each mask. Engines take turns at that.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import multiprocessing
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from engines import Engine, RefusedError, Session, Source, load
from engines.tokenizer import Tokenizer

MADV_POPULATE_WRITE = 23  # of Linux; Python does not name it
TRIVIAL = {"json_schema": '{"type": "null"}', "regex": "a", "lark": 'start: "a"', "gbnf": 'root ::= "a"'}


class Walk(NamedTuple):
    """`refused`: the index of the token that was not allowed, the number of tokens if that was the end of text; None if all went well."""

    masks: list[int]
    accepts: list[int]
    refused: int | None


class Measured(NamedTuple):
    """What became of one grammar: the walks of its texts, in nanoseconds. `first`: a session and one mask, after `compile`."""

    compile: int
    first: int
    cold: list[Walk]
    warm: list[Walk]

    @property
    def cold_masks(self) -> list[int]:
        return [time for walked in self.cold for time in walked.masks]

    @property
    def warm_masks(self) -> list[int]:
        return [time for walked in self.warm for time in walked.masks]

    @property
    def accepts(self) -> list[int]:
        return [time for walked in self.cold for time in walked.accepts]


def prepare(name: str, tokenizer: Tokenizer) -> Engine:
    """The engine, with its modules imported."""
    engine = load(name, tokenizer)
    for kind in sorted(engine.kinds & TRIVIAL.keys()):
        engine.compile(Source(kind, TRIVIAL[kind]))
    return engine


def walk(session: Session, tokens: Sequence[int], eos: int) -> Walk:
    clock = time.perf_counter_ns
    masks: list[int] = []
    accepts: list[int] = []
    for index, token in enumerate((*tokens, eos)):
        start = clock()
        session.fill()
        masks.append(clock() - start)
        if not session.allows(token):
            return Walk(masks, accepts, index)
        if index < len(tokens):
            start = clock()
            accepted = session.accept(token)
            accepts.append(clock() - start)
            if not accepted:
                return Walk(masks, accepts, index)
    return Walk(masks, accepts, None)


def measure(
    engine: Engine, source: Source, texts: Sequence[Sequence[int]], eos: int, *, warm: bool = True, **options: Any
) -> Measured | str:
    """Compile (our engine: with `options`), then walk all texts, and once more; without texts only one mask is filled. The reason, if the
    engine refuses the source.
    """
    gc.disable()  # the process ends with this
    own_pages()
    if source.kind in TRIVIAL:
        engine.session(engine.compile(Source(source.kind, TRIVIAL[source.kind]))).fill()
    start = time.perf_counter_ns()
    try:
        grammar = engine.compile(source, **options)
    except RefusedError as error:
        return f"refused: {error.reason}"
    compiled = time.perf_counter_ns()
    session = engine.session(grammar)
    if not texts:
        session.fill()
        return Measured(compiled - start, time.perf_counter_ns() - compiled, [], [])
    started = time.perf_counter_ns()
    cold = [walk(session if i == 0 else engine.session(grammar), tokens, eos) for i, tokens in enumerate(texts)]
    again = [walk(engine.session(grammar), tokens, eos) for tokens in texts] if warm else []
    return Measured(compiled - start, started - compiled + cold[0].masks[0], cold, again)


def own_pages() -> None:
    """Copies what this process shares with the one that it was forked from, where the system can (Linux 5.14 and later)."""
    with contextlib.suppress(OSError, AttributeError), open("/proc/self/maps") as file:
        advise = ctypes.CDLL(None).madvise
        for line in file.readlines():
            addresses, rights = line.split()[:2]
            if rights == "rw-p":
                start, end = (int(address, 16) for address in addresses.split("-"))
                advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_POPULATE_WRITE)


def fastest(runs: Sequence[Measured]) -> Measured:
    """Of runs that did the same: the smallest time of each step."""

    def best(walks: Sequence[Walk]) -> Walk:
        steps = ([min(times) for times in zip(*lists)] for lists in ([each.masks for each in walks], [each.accepts for each in walks]))
        return Walk(*steps, walks[0].refused)

    return Measured(
        min(run.compile for run in runs),
        min(run.first for run in runs),
        [best(walks) for walks in zip(*(run.cold for run in runs))],
        [best(walks) for walks in zip(*(run.warm for run in runs))],
    )


def in_turns(works: dict[str, Callable[[], Any]], repeat: int) -> dict[str, list[Any] | str]:
    """By engine what its work gave in `repeat` runs; or the str that it gave, which says what went wrong, and ends it.

    The engines take turns, the first one rotating: what else the machine does hits all alike.
    """
    names, found = list(works), {name: list[Any]() for name in works}
    failed: dict[str, str] = {}
    for turn in range(repeat):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if name in failed:
                continue
            result = works[name]()
            if isinstance(result, str):
                failed[name] = result
            else:
                found[name].append(result)
    return {**found, **failed}


def accepted(engine: Engine, source: Source, texts: Sequence[Sequence[int]], eos: int, *, limit: float, **options: Any) -> list[int] | str:
    """The numbers of the texts that are accepted to their ends; or why that cannot be found out."""
    judged = isolated(measure, engine, source, texts, eos, warm=False, limit=limit, **options)
    return judged if isinstance(judged, str) else [number for number, walked in enumerate(judged.cold) if walked.refused is None]


def isolated(work: Callable[..., Any], *arguments: Any, limit: float, **named: Any) -> Any:
    """What `work` returns, done in a fork of this process; a str that says what went wrong, if it dies or takes over `limit` seconds."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(work(*arguments, **named)))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(limit) else f"over {limit:g} s"
    except EOFError:
        process.join()
        return f"died ({process.exitcode})"
    finally:
        process.kill()
        process.join()


# --- figures, as text ---------------------------------------------------------------------------------------------------


def mean(times: Sequence[float]) -> float:
    return sum(times) / len(times) if times else math.nan


def quantile(times: Sequence[float], q: float) -> float:
    """The smallest time that the share q of all times does not exceed."""
    return sorted(times)[max(0, math.ceil(q * len(times)) - 1)] if times else math.nan


def microseconds(nanoseconds: float) -> str:
    if math.isnan(nanoseconds):
        return "-"
    value = nanoseconds / 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def summary(times: Sequence[float]) -> dict[str, float]:
    return {
        "mean": mean(times),
        "p50": quantile(times, 0.5),
        "p99": quantile(times, 0.99),
        "max": max(times, default=math.nan),
    }


def table(header: Sequence[str], lines: Sequence[Sequence[str]], left: int = 2) -> str:
    """Markdown, the first columns to the left and the others to the right."""
    rows = [list(header), [":--"] * left + ["--:"] * (len(header) - left), *lines]
    padded = ([*row, *[""] * (len(header) - len(row))] for row in rows)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in padded)
