"""Charts of a run of automata.py: compile time, memory, and mask time against the number of allowed tokens."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

TONES = {"ours": "tab:blue", "outlines_core": "tab:orange"}


def draw(found: dict[str, Any], folder: Path) -> None:
    """Writes automata-compile.png, automata-memory.png, automata-mask.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    for name, of, height in (("compile", _compile, 4.6), ("memory", _memory, 4.6), ("mask", _mask, 4.2)):
        figure, axes = plt.subplots(1, len(found), figsize=(6 * len(found), height), layout="constrained", squeeze=False)
        for axis, (vocabulary, results) in zip(axes[0], found.items()):
            of(axis, {subject: each for subject, each in results["subjects"].items() if not any(isinstance(x, str) for x in each.values())})
            axis.set_title(f"{vocabulary}: {results['tokens']:,} tokens")
            axis.grid(visible=True, which="major", alpha=0.3)
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small")
        figure.savefig(folder / f"automata-{name}.png", dpi=110)
        plt.close(figure)


def _compile(axis: Any, subjects: dict[str, Any]) -> None:
    _bars(axis, subjects, {"": lambda of: of["compile"]}, "compile time, seconds")


def _memory(axis: Any, subjects: dict[str, Any]) -> None:
    sizes = {"tables": lambda of: of["table"], "resident": lambda of: max(of["resident"], 4096)}
    _bars(axis, subjects, sizes, "bytes")


def _bars(axis: Any, subjects: dict[str, Any], figures: dict[str, Any], unit: str) -> None:
    """Groups of bars, one group a subject; figures but the first are hatched."""
    bars = [(engine, label, read) for engine in TONES for label, read in figures.items()]
    width = 0.84 / len(bars)
    for k, (engine, label, read) in enumerate(bars):
        places = [i + (k - (len(bars) - 1) / 2) * width for i in range(len(subjects))]
        heights = [read(of[engine]) for of in subjects.values()]
        hatch = "" if label == next(iter(figures)) else "///"
        axis.bar(places, heights, width, label=f"{engine} {label}".strip(), color=TONES[engine], hatch=hatch, edgecolor="white")
    names = [name if len(name) < 20 else name[:12] + "…" for name in subjects]
    axis.set_xticks(range(len(subjects)), names, rotation=45, ha="right", fontsize="small")
    axis.set(ylabel=unit, yscale="log")


def _mask(axis: Any, subjects: dict[str, Any]) -> None:
    """A point for each position, and the median of the positions with about as many allowed tokens."""
    for engine, tone in TONES.items():
        points = [(seen.allowed, seen.mask / 1000) for of in subjects.values() for seen in of[engine]["positions"].values() if seen.allowed]
        axis.scatter(*zip(*points), s=5, alpha=0.35, color=tone, linewidths=0)
        bins: dict[int, list[tuple[int, float]]] = {}
        for allowed, time in points:
            bins.setdefault(allowed.bit_length(), []).append((allowed, time))
        middles = [tuple(statistics.median(each) for each in zip(*bins[k])) for k in sorted(bins)]
        axis.plot(*zip(*middles), label=engine, color=tone, linewidth=1.6)
    axis.set(xlabel="tokens that the mask allows", ylabel="mask into a caller's buffer, microseconds", xscale="log", yscale="log")
