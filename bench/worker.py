"""The process that one engine lives in: reads a file a line, writes what came of it a line.

What is done with a file. Compile the schema (timed); a session, one mask (both timed). Then each instance is written with
json.dumps(ensure_ascii=False), tokenised, and walked: for each token fill the mask (timed), look the token up, accept it (timed apart). At
the end one more mask must allow the end of text. An instance is accepted if all of that succeeds. The session of the first mask walks the
first instance, each other instance has a session of its own.

That walk is *cold*. What follows uses the same grammar: the first mask of the *next request*, from the cache that the library has for that
or else from the grammar that was kept; the same walks once more, *warm*; and, untimed, walks that count the tokens in each mask.

The verdict on an instance is that of the cold walk. With options of `judge` the engine compiles once more under these options, untimed, and
that grammar's verdict counts. A valid instance that is refused is tried again with its keys in the order of the schema (`order.py`).

Times are perf_counter_ns around the call alone, with the garbage collector off. A file may take so many seconds of computing and so much
memory, then the process ends.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import math
import os
import resource
import sys
import time
from typing import Any

from engines import Engine, RefusedError, Session, Source, load
from engines.tokenizer import Tokenizer
from order import in_schema_order

MEMORY_LIMIT = 8 << 30  # address space over what is there when the engine is ready, bytes
PREPARE = Source("json_schema", '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}')


class Walk:
    """Sessions over the instances of a file, one by one; times in ns, one after the other."""

    def __init__(self, engine: Engine, eos: int):
        self._engine = engine
        self._eos = eos
        self.fills: list[int] = []
        self.accepts: list[int] = []
        self.densities: list[int] = []
        self.count = False  # the tokens of each mask, which disturbs times

    def over(self, grammar: Any, tokens: list[int], session: Session | None = None) -> dict[str, Any]:
        """One instance; an exception is a refusal, with its text. `session`: one whose first mask is filled and noted already."""
        begun = session is not None
        before = len(self.fills) - begun, len(self.accepts)
        try:
            accepted, at, agree = self._walk(session or self._engine.session(grammar), tokens, begun)
            found: dict[str, Any] = {"accepted": accepted, "at": at, "agree": agree}
        except Exception as error:
            found = {"accepted": False, "at": -1, "agree": True, "error": f"{type(error).__name__}: {error}"[:300]}
        return found | {"fills": len(self.fills) - before[0], "accepts": len(self.accepts) - before[1]}

    def _walk(self, session: Session, tokens: list[int], begun: bool) -> tuple[bool, int, bool]:
        """(accepted, how many tokens, do mask and accept agree?)"""
        clock, fill, accept, allows = time.perf_counter_ns, session.fill, session.accept, session.allows
        fills, accepts = self.fills, self.accepts
        for position, token in enumerate(tokens):
            if not begun:
                start = clock()
                fill()
                fills.append(clock() - start)
            begun = False
            if self.count:
                self.densities.append(session.density())
            if not allows(token):
                return False, position, not accept(token)
            start = clock()
            taken = accept(token)
            accepts.append(clock() - start)
            if not taken:
                return False, position, False
        start = clock()
        fill()
        fills.append(clock() - start)
        if self.count:
            self.densities.append(session.density())
        return bool(allows(self._eos)), len(tokens), True


class Work:
    """All that is asked of an engine about one file. `order`: the file, and under `passes`, `verdicts` and `judge` what is asked."""

    def __init__(self, engine: Engine, tokenizer: Tokenizer, order: dict[str, Any]):
        self._engine = engine
        self._tokenizer = tokenizer
        self._order = order
        self._source = Source("json_schema", json.dumps(order["schema"]))
        self._texts = [json.dumps(test["data"], ensure_ascii=False) for test in order["tests"]]
        self._instances = [tokenizer.encode(text) for text in self._texts]
        self._grammar: Any = None
        self._outcomes: list[dict[str, Any]] = []

    def done(self) -> dict[str, Any]:
        """The result."""
        gc.collect()
        result = self._cold()
        if "refused" not in result:
            result["tests"] = self._outcomes
            if self._order["passes"]:
                result |= self._again()
            if self._order["verdicts"]:
                self._judge()
        return result

    def keep(self) -> Any:
        """The grammar, after all instances have been walked."""
        grammar = self._engine.compile(self._source)
        walk = self._walk()
        for tokens in self._instances:
            walk.over(grammar, tokens)
        return grammar

    def _walk(self) -> Walk:
        return Walk(self._engine, self._tokenizer.eos)

    def _cold(self) -> dict[str, Any]:
        clock = time.perf_counter_ns
        start = clock()
        try:
            self._grammar = self._engine.compile(self._source)
            compiled = clock()
            session = self._engine.session(self._grammar)
            before_mask = clock()
            session.fill()
            done = clock()
        except Exception as error:  # what an engine raises for a schema is its own affair
            reason = error.reason if isinstance(error, RefusedError) else type(error).__name__
            return {"refused": reason, "message": str(error)[:300], "refuse_ns": clock() - start}
        walk = self._walk()
        walk.fills.append(done - before_mask)
        begun: Session | None = session
        for test, text, tokens in zip(self._order["tests"], self._texts, self._instances):
            self._outcomes.append({"valid": test["valid"], "text": text[:400], **walk.over(self._grammar, tokens, begun)})
            begun = None
        counters = self._engine.counters(self._grammar)
        return {
            "compile": compiled - start,
            "first": done - start,
            "cold": walk.fills,
            "accept cold": walk.accepts,
            "counters cold": counters,
        }

    def _again(self) -> dict[str, Any]:
        """The same over the same grammar; tells of each instance whether it comes out the same."""
        clock = time.perf_counter_ns
        start = clock()
        self._engine.next_request(self._source, self._grammar).fill()
        first = clock() - start
        warm, counting = self._walk(), self._walk()
        for outcome, tokens in zip(self._outcomes, self._instances):
            again = warm.over(self._grammar, tokens)
            outcome["stable"] = all(again[name] == outcome[name] for name in ("accepted", "at", "fills", "accepts"))
        counters = self._engine.counters(self._grammar)
        counting.count = True
        for outcome, tokens in zip(self._outcomes, self._instances):
            outcome["stable"] &= counting.over(self._grammar, tokens)["fills"] == outcome["fills"]
        return {"next": first, "warm": warm.fills, "accept warm": warm.accepts, "counters warm": counters, "densities": counting.densities}

    def _judge(self) -> None:
        """The verdicts that count."""
        walk = self._walk()
        if self._order["judge"]:
            with contextlib.suppress(RefusedError):  # what is refused only with these options keeps the verdict of the default ones
                # It takes the place of the other, whose memory is given back.
                self._grammar = self._engine.compile(self._source, **self._order["judge"])
                for outcome, tokens in zip(self._outcomes, self._instances):
                    outcome.pop("error", None)
                    outcome |= walk.over(self._grammar, tokens) | {name: outcome[name] for name in ("fills", "accepts")}
        for outcome, test in zip(self._outcomes, self._order["tests"]):
            if test["valid"] and not outcome["accepted"] and "error" not in outcome:
                ordered = (json.dumps(data, ensure_ascii=False) for data in in_schema_order(test["data"], self._order["schema"]))
                outcome["in_order"] = any(walk.over(self._grammar, self._tokenizer.encode(text))["accepted"] for text in ordered)


# --- the process ------------------------------------------------------------------------------------------------------


def _pages(field: int) -> int:
    """Bytes of this process: in its address space (0), in memory (1); 0 where /proc is not there."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[field]) * resource.getpagesize()
    except OSError:
        return 0


def _trim() -> None:
    """Gives free memory back to the system, where the C library can, so that what is resident is what is held."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _limit(seconds: float) -> None:
    """SIGXCPU ends this process when it has computed for so much longer (in whole seconds, rounded up)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime + seconds), hard))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("tokenizer")
    parser.add_argument("--core", type=int)
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # an engine that prints does not disturb the protocol
    tokenizer = Tokenizer.load(options.tokenizer)
    engine = load(options.engine, tokenizer)
    Walk(engine, tokenizer.eos).over(engine.compile(PREPARE), tokenizer.encode('{"a": "x", "b": 1}'))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT + _pages(0), resource.getrlimit(resource.RLIMIT_AS)[1]))
    gc.collect()
    gc.disable()
    _trim()
    kept = []
    print(json.dumps({"version": engine.version, "resident": _pages(1)}), file=out, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        work, result = Work(engine, tokenizer, order), {}
        _limit(order["limit"])
        if order.get("keep"):
            kept.append(work.keep())
            gc.collect()
            _trim()
        else:
            result = work.done()
        print(json.dumps(result | {"resident": _pages(1)}), file=out, flush=True)


if __name__ == "__main__":
    main()
