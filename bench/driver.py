"""Runs files through the workers of several engines, in turns.

Idea. One worker process for each engine, one working at a time (with one job). A file is handed to one engine after the other, the first
one rotating, so that what else the machine does hits all alike. A worker that computes for longer than the limit over a file is ended
(time-out), one that dies is counted (crash); both are started anew. Computing is what counts, so that a busy machine makes no time-outs;
only a worker that does nothing for PATIENCE times as long is killed.
"""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

WORKER = Path(__file__).with_name("worker.py")
SECONDS_TO_START = 180
PATIENCE = 60
SERIES = ("cold", "warm", "accept cold", "accept warm")

Results = dict[str, dict[str, Any]]  # by engine, by file


class Plan(NamedTuple):
    """How workers are run, and what is asked of them about each file; see worker.py."""

    engines: list[str]
    tokenizer: str
    limit: float  # seconds of computing for a file
    jobs: int
    core: int | None
    passes: bool  # else only the verdicts
    judges: dict[str, dict[str, str]]  # by engine


class Worker:
    """A worker process as the driver sees it; started when needed."""

    def __init__(self, name: str, plan: Plan):
        self.name = name
        self.hello: dict[str, Any] = {}
        self._command = [sys.executable, str(WORKER), name, plan.tokenizer]
        if plan.core is not None:
            self._command += ["--core", str(plan.core)]
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def start(self) -> None:
        single = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | single
        )
        self._pending = b""
        self.hello = self._read(SECONDS_TO_START)
        if "version" not in self.hello:
            shown = subprocess.run(self._command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stderr
            raise SystemExit(f"{self.name} does not start:\n{shown[-2000:]}")

    def ask(self, order: dict[str, Any], limit: float) -> dict[str, Any]:
        """The result for a file, or {"timeout": limit}, or {"crash": exit status}."""
        line = json.dumps(order | {"limit": limit}).encode()
        if self._process is None:
            self.start()
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._gone()
        result = self._read(PATIENCE * limit)
        return {"timeout": limit} if result.get("crash") == -signal.SIGXCPU else result

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, until - time.monotonic()))
            if not ready:
                self.stop()
                return {"timeout": seconds}
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


def run(files: dict[str, Any], plan: Plan, number: int) -> tuple[Results, dict[str, dict[str, Any]]]:
    """Results, and for each engine what its worker said when it was ready.
    `number`: of the run, from 0; verdicts are asked in the first."""
    results: Results = {name: {} for name in plan.engines}
    hellos: dict[str, dict[str, Any]] = {}
    todo: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
    for index, name in enumerate(files):
        todo.put((index, name))
    began = time.monotonic()

    def job() -> None:
        workers = {name: Worker(name, plan) for name in plan.engines}
        try:
            while True:
                try:
                    index, name = todo.get_nowait()
                except queue.Empty:
                    return
                turn = (index + number) % len(plan.engines)
                for engine in plan.engines[turn:] + plan.engines[:turn]:
                    order = {"passes": plan.passes, "verdicts": number == 0, "judge": plan.judges.get(engine, {})}
                    result = workers[engine].ask(files[name] | order, plan.limit)
                    results[engine][name] = _packed(result)
                    hellos[engine] = workers[engine].hello
                _progress(number, index + 1, len(files), began, results)
        finally:
            for each in workers.values():
                each.stop()

    with ThreadPoolExecutor(plan.jobs) as pool:
        for done in [pool.submit(job) for _ in range(plan.jobs)]:
            done.result()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return results, hellos


def kept(files: dict[str, Any], plan: Plan) -> dict[str, dict[str, int]]:
    """For each engine the bytes in memory of a fresh worker, and after all files with their grammars kept; {} where that fails."""
    found: dict[str, dict[str, int]] = {}
    for engine in plan.engines:
        worker = Worker(engine, plan)
        worker.start()
        result: dict[str, Any] = {}
        for file in files.values():
            result = worker.ask(file | {"keep": True}, plan.limit)
            if "resident" not in result:
                break
        worker.stop()
        found[engine] = {"ready": worker.hello["resident"], "kept": result["resident"]} if "resident" in result else {}
    return found


def _packed(result: dict[str, Any]) -> dict[str, Any]:
    """Series of times as arrays of microseconds."""
    for name in SERIES:
        if name in result:
            result[name] = np.array(result[name], np.float64).astype(np.float32) / np.float32(1000)
    if "densities" in result:
        result["densities"] = np.array(result["densities"], np.uint32)
    return result


def _progress(number: int, done: int, total: int, began: float, results: Results) -> None:
    """One line that is written over on a terminal, else a line now and then."""
    terminal = sys.stderr.isatty()
    if not terminal and done % 50 and done != total:
        return
    spent = time.monotonic() - began
    dead = " ".join(f"{name}:{sum('crash' in r or 'timeout' in r for r in list(of.values()))}" for name, of in results.items())
    line = f"run {number + 1}: {done}/{total} files, {spent:.0f} s, about {spent / done * (total - done):.0f} s left; dead {dead}"
    print(f"\r{line}   " if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True)
