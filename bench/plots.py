"""Charts of a run of maskbench.py: percentiles of times, times by how many tokens a mask allows, first masks by the size of the schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from figures import TIMES, Measured

PANELS = ("first", "next", "cold", "warm", "accept cold", "accept warm")
TAIL = (0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001)  # where the axis of percentiles has ticks, as the share that is slower


def draw(measured: dict[str, Measured], folder: Path) -> None:
    """Writes percentiles.png, density.png and size.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    tones = plt.get_cmap("tab10")
    dashes = {name: "--" if "-" in name else "-" for name in measured}  # for variants
    styles = {name: {"color": tones(i % 10), "linestyle": dashes[name]} for i, name in enumerate(measured)}
    for name, of, shape in (("percentiles", _percentiles, (3, 2)), ("density", _density, (1, 2)), ("size", _size, (1, 2))):
        figure, axes = plt.subplots(*shape, figsize=(6.5 * shape[1], 4.2 * shape[0]), layout="constrained", squeeze=False)
        of(axes.ravel(), measured, styles)
        for each in axes.ravel():
            each.grid(visible=True, which="major", alpha=0.3)
        figure.legend(*axes.ravel()[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize="small")
        figure.savefig(folder / f"{name}.png", dpi=130)
        plt.close(figure)


def _percentiles(axes: Any, measured: dict[str, Measured], styles: dict[str, Any]) -> None:
    """One curve an engine: the time that a share of all calls exceeds."""
    for axis, what in zip(axes, PANELS):
        for name, of_engine in measured.items():
            ordered = np.sort(of_engine.times[what])
            if len(ordered):
                slower = 1 - np.arange(len(ordered)) / len(ordered)
                axis.plot(slower, ordered, label=name, linewidth=1.3, **styles[name])
        axis.set(title=TIMES[what], xlabel="percentile", ylabel="microseconds", xscale="log", yscale="log")
        longest = max(len(of_engine.times[what]) for of_engine in measured.values())
        ticks = [share for share in TAIL if share * longest >= 1]
        axis.set_xticks(ticks, [f"p{100 * (1 - share):.6g}" for share in ticks])
        axis.set_xticks([], minor=True)
        axis.invert_xaxis()


def _density(axes: Any, measured: dict[str, Measured], styles: dict[str, Any]) -> None:
    """Cold masks by the number of tokens they allow, in bins of equal ratio: median, and 99th percentile."""
    for axis, share in zip(axes, (50, 99)):
        for name, of_engine in measured.items():
            middles, heights = _binned(of_engine.densities, of_engine.times["cold"], share)
            axis.plot(middles, heights, label=name, marker="o", markersize=3, linewidth=1.3, **styles[name])
        axis.set(
            title=f"{TIMES['cold']}: p{share}", xlabel="tokens that the mask allows", ylabel="microseconds", xscale="log", yscale="log"
        )


def _size(axes: Any, measured: dict[str, Measured], styles: dict[str, Any]) -> None:
    """A point for each schema, and the median in bins of equal ratio."""
    for axis, what in zip(axes, ("first", "next")):
        for name, of_engine in measured.items():
            middles, heights = _binned(of_engine.sizes, of_engine.times[what], 50)
            axis.scatter(of_engine.sizes, of_engine.times[what], color=styles[name]["color"], s=5, alpha=0.4, linewidths=0)
            axis.plot(middles, heights, label=name, linewidth=1.6, **styles[name])
        axis.set(title=TIMES[what], xlabel="bytes of the schema", ylabel="microseconds", xscale="log", yscale="log")


def _binned(keys: np.ndarray, values: np.ndarray, share: float) -> tuple[list[float], list[float]]:
    """Percentiles of the values in bins of keys, each bin 1.6 times as wide as the one before; bins of fewer than 5 are left out."""
    bins = np.floor(np.log(np.maximum(keys, 1)) / np.log(1.6)).astype(int)
    kept = [number for number in np.unique(bins) if np.count_nonzero(bins == number) >= 5]
    chosen = [bins == number for number in kept]
    return [float(np.exp(np.log(keys[each]).mean())) for each in chosen], [float(np.percentile(values[each], share)) for each in chosen]
