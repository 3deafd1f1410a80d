"""Grouped sampling with a trained model: passes per token, tokens per second, what drafts are worth, and what it does to the texts.

    python -m grammar_engine.decoding.tiny.train --out tiny.pt
    python bench/decoding/grouped.py --model tiny.pt --out /tmp/grouped                        # schemas such as the model has learnt
    python bench/decoding/grouped.py --model tiny.pt --schemas maskbench --out /tmp/grouped    # real ones, which it has not

Each setting writes one document for each schema, by the same seeds. `--schemas shipped` takes those in `grammars/schemas`, and `--model
stub` a random table, to see that the program runs.

Columns. *passes*: forward passes per token, the token that ends a text included, so plain decoding without forced text has 1. *tokens/s*:
of the whole loop, by processor time of one thread. *loss*: of the texts under the model itself, in nats per token, without the grammar; it
tells how far texts are from what the model would have written. *kept*: drafts that the next pass has kept. *dropped*: rows of scores that
no token was taken from. *empty*, *cut*, *wrong*: documents without a token; that did not end within the budget, or have no room in it; that
`jsonschema` refuses.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np

from grammar_engine import Grammar, GrammarEngineError, LimitExceededError, Matcher, Vocabulary
from grammar_engine.decoding.grouped import GroupedResult, GroupedSampler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from data_folder import DATA

ROOT = Path(__file__).resolve().parents[2]
SIZES = (1, 2, 4, 8, 16)
LARGEST_SCHEMA = 1000  # characters, of maskbench
LONGEST_CLOSING = 100  # tokens: schemas that ask for more are left out
SCHEMA_SEED = 20_000
FEW = 50  # drafts: of places with fewer, no share is drawn


@dataclass(frozen=True)
class Setting:
    """A way to write."""

    group: int
    mode: str = "commit"
    forced: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return ", ".join((self.mode, *(f"{key}={value}" for key, value in self.options.items())))


@dataclass
class Task:
    """A schema, and what the model is asked with."""

    schema: Any
    grammar: Grammar
    prompt: list[int]


def settings(extra: bool) -> Iterator[Setting]:
    for forced in (True, False):
        for mode in ("commit", "verify"):
            yield from (Setting(group, mode, forced) for group in SIZES)
    if extra:
        for group in (4, 16):
            yield Setting(group, "verify", options={"redraft": False})
            yield Setting(group, "commit", options={"min_allowed_mass": 0.5})
        yield Setting(4, "verify", options={"adaptive": True})
        yield Setting(4, "commit", options={"adaptive": True, "min_allowed_mass": 0.5})


# --- what is written --------------------------------------------------------------------------------------------------


def sources(kind: str) -> Iterator[Any]:
    if kind == "learnt":
        from grammar_engine.decoding.tiny.data import random_schema

        rng = random.Random(SCHEMA_SEED)
        while True:
            yield random_schema(rng)
    elif kind == "maskbench":
        with tarfile.open(DATA / "maskbench.tar.xz") as tar:
            for member in tar:
                schema = json.load(tar.extractfile(member))["schema"]
                if isinstance(schema, dict) and "properties" in schema and len(json.dumps(schema)) <= LARGEST_SCHEMA:
                    yield schema
    else:
        for path in sorted((ROOT / "grammars" / "schemas").glob("*.json")):
            yield json.loads(path.read_text())


def tasks(kind: str, count: int, vocabulary: Vocabulary) -> list[Task]:
    from grammar_engine.decoding.tiny.data import grammar_of, prompt_of

    found: list[Task] = []
    for schema in sources(kind):
        if len(found) == count:
            break
        try:
            grammar = grammar_of(schema)
            if len(Matcher(grammar, vocabulary).closing_tokens()) > LONGEST_CLOSING:
                continue
        except GrammarEngineError:
            continue
        found.append(Task(schema, grammar, vocabulary.encode_greedy(prompt_of(schema))))
    return found


def is_instance(result: GroupedResult, schema: Any) -> bool:
    try:
        jsonschema.validate(json.loads(result.text), schema)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def has_room(grammar: Grammar, vocabulary: Vocabulary, budget: int) -> bool:
    """Whether some document is known to take at most so many tokens."""
    try:
        return Matcher(grammar, vocabulary).closing_within(budget) is not None
    except LimitExceededError:
        return False


def measure(
    model: Any, vocabulary: Vocabulary, pad: int, work: list[Task], setting: Setting, method: dict[str, Any], budget: int
) -> dict[str, Any]:
    sampler = GroupedSampler(
        model, vocabulary, setting.group, mode=setting.mode, forced=setting.forced, padding_id=pad, **method, **setting.options
    )
    results: list[GroupedResult] = []
    seconds, loss, empty, cut, wrong = 0.0, 0.0, 0, 0, 0
    for number, task in enumerate(work):
        begun = time.process_time()
        try:
            [[result]] = sampler.generate([task.prompt], budget, grammar=task.grammar, seed=number)
        except (LimitExceededError, ValueError) as error:
            if isinstance(error, ValueError) and has_room(task.grammar, vocabulary, budget):
                raise  # it is about something else
            cut += 1
            continue
        seconds += time.process_time() - begun
        results.append(result)
        empty += not result.ids
        cut += not result.finished
        wrong += result.finished and not is_instance(result, task.schema)
        loss += loss_of(sampler.model, task.prompt, [*result.ids, *vocabulary.eos[: result.finished]])
    tokens = sum(len(result.ids) + result.finished for result in results)
    if not tokens:
        sys.exit(f"none of the {len(work)} documents has room in {budget} tokens: say --budget")
    drafted, accepted = (summed(getattr(result, name) for result in results) for name in ("drafted", "accepted"))
    mass, weighed = (summed(getattr(result, name) for result in results) for name in ("mass", "weighed"))
    rows = sum(result.rows_read for result in results)
    return {
        "setting": setting.name,
        "group": setting.group,
        "forced text": setting.forced,
        "tokens": tokens,
        "passes": sum(result.calls for result in results) / tokens,
        "tokens/s": tokens / seconds,
        "forced": sum(result.forced for result in results) / tokens,
        "kept": sum(accepted) / sum(drafted) if sum(drafted) else None,
        "dropped": sum(result.rows_dropped for result in results) / rows if rows else None,
        "loss": loss / tokens,
        "empty": empty,
        "cut": cut,
        "wrong": wrong,
        "kept by place": [kept / n for kept, n in zip(accepted + [0] * len(drafted), drafted)],
        "drafted by place": drafted,
        "mass by row": [part / n if n else None for part, n in zip(mass, weighed)],
    }


def loss_of(model: Any, prompt: list[int], ids: list[int]) -> float:
    """The sum over the tokens, by one pass."""
    rows = model.start().logits([*prompt, *ids[:-1]], len(ids)).astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
    return float(-rows[range(len(ids)), ids].sum())


def summed(lists: Iterator[list[Any]]) -> list[Any]:
    total: list[Any] = []
    for each in lists:
        total += [0] * (len(each) - len(total))
        for place, value in enumerate(each):
            total[place] += value
    return total


def load(path: str) -> tuple[Any, Vocabulary, int]:
    """A model, its vocabulary, and its pad."""
    from grammar_engine.decoding.tiny.data import tiny_vocabulary

    vocabulary = tiny_vocabulary()
    if path == "stub":
        table = np.random.default_rng(0).normal(size=(997, vocabulary.width + 1)).astype(np.float32)
        return (lambda ids: table[(31 * np.asarray(ids) + np.arange(len(ids))) % 997]), vocabulary, vocabulary.width
    import torch

    from grammar_engine.decoding.tiny.model import load as load_tiny

    torch.set_num_threads(1)
    module = load_tiny(path, vocabulary)
    return module, vocabulary, module.pad


# --- what is shown ----------------------------------------------------------------------------------------------------

COLUMNS: dict[str, Callable[[Any], str]] = {
    "setting": str,
    "group": str,
    "forced text": lambda forced: "yes" if forced else "no",
    "tokens": "{:,}".format,
    "passes": "{:.3f}".format,
    "tokens/s": "{:,.0f}".format,
    "forced": "{:.0%}".format,
    "kept": "{:.0%}".format,
    "dropped": "{:.0%}".format,
    "loss": "{:.3f}".format,
    "empty": str,
    "cut": str,
    "wrong": str,
}


def table(found: list[dict[str, Any]]) -> str:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|:--|" + "--:|" * (len(COLUMNS) - 1)]
    for row in found:
        cells = ("-" if row[name] is None else write(row[name]) for name, write in COLUMNS.items())
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(found: list[dict[str, Any]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": path.stem, "svg.fonttype": "none"})  # the same figures, the same file; text as text
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for mode in ("commit", "verify"):
        for forced in (True, False):
            rows = [row for row in found if row["setting"] == mode and row["forced text"] is forced]
            label, style = f"{mode}, {'forced text' if forced else 'all asked for'}", "o-" if forced else "o--"
            colour = "tab:blue" if mode == "commit" else "tab:orange"
            for axis, column in zip(axes.flat, ("passes", "tokens/s", "loss")):
                axis.plot([row["group"] for row in rows], [row[column] for row in rows], style, label=label, color=colour)
    for axis, column in zip(axes.flat, ("forward passes per token", "tokens per second", "nats per token under the model")):
        axis.set(xlabel="group size", ylabel=column, xscale="log")
        axis.set_xticks(SIZES, map(str, SIZES))
        axis.set_xticks([], minor=True)
        axis.set_ylim(bottom=0)
        axis.legend(fontsize="small")
    for row in found:
        if row["group"] == max(SIZES) and row["kept by place"]:
            label = f"{row['setting']}, {'forced text' if row['forced text'] else 'all asked for'}: kept"
            kept = [share for share, n in zip(row["kept by place"], row["drafted by place"]) if n >= FEW]
            axes[1, 1].plot(range(1, len(kept) + 1), kept, "o-", label=label, markersize=3)
        if row["group"] == max(SIZES) and row["mass by row"]:
            axes[1, 1].plot(range(len(row["mass by row"])), row["mass by row"], "s:", label="mass that the mask allows", markersize=3)
    axes[1, 1].set(xlabel="place in the group", ylabel="share", ylim=(0, 1))
    axes[1, 1].legend(fontsize="small")
    for axis in axes.flat:
        axis.grid(visible=True, alpha=0.3)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="stub", help="a file of tiny.train, or 'stub'")
    parser.add_argument("--schemas", default="learnt", choices=("learnt", "maskbench", "shipped"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--budget", type=int, default=200, help="tokens of a document at most")
    parser.add_argument("--greedy", action="store_true", help="take the likeliest token, instead of drawing one")
    parser.add_argument("--extra", action="store_true", help="adaptive groups, early stops, and drafts from pads alone")
    parser.add_argument("--out", type=Path, help="folder for grouped.md, grouped.json, grouped.svg")
    options = parser.parse_args()

    model, vocabulary, pad = load(options.model)
    work = tasks(options.schemas, options.count, vocabulary)
    method = {"top_k": 1} if options.greedy else {}
    for mode in ("commit", "verify"):  # masks are warm then
        measure(model, vocabulary, pad, work, Setting(max(SIZES), mode), method, options.budget)
    found = []
    for setting in settings(options.extra):
        found.append(measure(model, vocabulary, pad, work, setting, method, options.budget))
        print({name: found[-1][name] for name in COLUMNS}, file=sys.stderr)
    text = f"{len(work)} schemas ({options.schemas}), {'greedy' if options.greedy else 'drawn, temperature 1'}\n\n{table(found)}\n"
    print(text)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "grouped.md").write_text(text)
        (options.out / "grouped.json").write_text(json.dumps(found, indent=1))
        draw(found, options.out / "grouped.svg")


if __name__ == "__main__":
    main()
