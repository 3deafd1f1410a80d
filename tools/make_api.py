"""Write docs/api.md: every public name, grouped by task, from signatures and docstrings. With --check: exit status 1 if it would change."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

os.environ["GRAMMAR_ENGINE_NO_FAST_CALLS"] = "1"  # the methods in Python have the signatures and docstrings

TARGET = Path(__file__).parents[1] / "docs" / "api.md"

SHORT = 160  # characters of a paragraph that is not cut

MODULES = ["grammar_engine", *(f"grammar_engine.decoding{part}" for part in ("", ".grouped", ".prefix_cache", ".models"))]

GROUPS = {  # by task: where the names are imported from, which they are, and what else to read. Names that are not exported are passed over
    "Compile a grammar": (
        0,
        "Grammar GrammarCache Tag Token",
        "[json-schema.md](json-schema.md), [regex.md](regex.md), [lark.md](lark.md), [gbnf.md](gbnf.md), [tags.md](tags.md), "
        "[structural-tags.md](structural-tags.md)",
    ),
    "Vocabularies": (0, "Vocabulary", "[vocabularies.md](vocabularies.md)"),
    "Match and mask": (0, "allocate_masks Matcher Explanation MaskBuffer", "[serving.md](serving.md)"),
    "Batches": (0, "fill_masks step_masks MaskStep", "[serving.md](serving.md)"),
    "Ahead of time": (0, "TokenDFA Guide", "[token-automata.md](token-automata.md)"),
    "Decoding": (1, "generate stream as_model apply_mask Stream Step Generation Sampling LogitsProcessor", "[decoding.md](decoding.md)"),
    "Models": (4, "Model Session NoiseModel Payload", "[decoding.md](decoding.md)"),
    "Grouped sampling": (
        2,
        "repetition_penalty_factory DEFAULT_REPETITION_PENALTY GroupedSampler GroupedTreeSearch GroupedPipeline GroupedResult GenerationType "
        "RepetitionPenaltyStrategy LogitScalingRepetitionPenalty NoRepetitionPenalty GroupSize PreProcessor PostProcessor",
        "[grouped-sampling.md](grouped-sampling.md)",
    ),
    "Prefix cache": (3, "PrefixCache Lease Statistics MatcherCache", "[prefix-cache.md](prefix-cache.md)"),
    "Errors and limits": (
        0,
        "GrammarEngineError GrammarError GrammarSyntaxError UnsupportedRegexError SchemaError UnsupportedSchemaError UnsatisfiableSchemaError "
        "LimitExceededError VocabularyError TokenDFAError TokenRejectedError MatcherFinishedError BatchError InternalError Limits",
        "[errors-and-limits.md](errors-and-limits.md)",
    ),
    "Reports and counters": (0, "__version__ Report CacheStats Stats TokenDFAStats Switches", "[ARCHITECTURE.md](../ARCHITECTURE.md)"),
}

REMARKS = {  # what a call costs or returns, where its docstring does not say it at once
    "Grammar.warm": "Returns how many masks it has computed.",
    "Matcher": "A microsecond to make, and 16 bytes for each step.",
    "Matcher.explain": "Some 20 us: for messages, not for loops.",
    "Matcher.closing_within": "Milliseconds; where it is in vain, at worst 45 s and 2 GB.",
    "GrammarCache": "A hit costs a microsecond for text; a dict is serialised first.",
    "Vocabulary": "Make one for each model, and share it.",
    "__version__": "The version of the package, a string.",
}

HEAD = """<!-- Written by tools/make_api.py from signatures and docstrings. Change those, or the script, and run it again. -->

# API

Every public name. The docstrings say more: parameters, what is raised and when, examples (`help(Matcher.accept)`).

| task | names |
|:--|:--|
"""


class UnclearError(Exception):
    """The code and this script do not fit together."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Write docs/api.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if the file would change")
    arguments = parser.parse_args()
    try:
        text = document()
    except UnclearError as error:
        sys.exit(str(error))
    if not arguments.check:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET} is out of date: run python tools/make_api.py")


def document() -> str:
    exported = {module: {name: getattr(importlib.import_module(module), name) for name in all_of(module)} for module in MODULES}
    public = {name: value for values in exported.values() for name, value in values.items()}
    grouped = {name for _, names, _ in GROUPS.values() for name in names.split()}
    if public.keys() - grouped:
        raise UnclearError(f"names without a group: {', '.join(sorted(public.keys() - grouped))}; add them to GROUPS in {__file__}")
    used: set[str] = set()
    index, sections = [], []
    for title, (module, names, reading) in GROUPS.items():
        here = {name: public[name] for name in names.split() if name in public}
        anchor = title.lower().replace(" ", "-")
        links = (f"[`{name}`](#{name.lower() if has_heading(value) else anchor})" for name, value in here.items())
        index.append(f"| [{title}](#{anchor}) | {' '.join(links)} |")
        sections.append("\n".join(section(title, MODULES[module], here, public, reading, used)))
    if REMARKS.keys() - used:
        raise UnclearError(f"remarks on what is not there: {', '.join(sorted(REMARKS.keys() - used))}")
    return HEAD + "\n".join(index) + "\n\n" + "\n".join(sections)


def all_of(module: str) -> list[str]:
    names: list[str] = importlib.import_module(module).__all__
    return names


def has_heading(value: Any) -> bool:
    return inspect.isclass(value) and not issubclass(value, Exception)


def section(title: str, module: str, here: dict[str, Any], public: dict[str, Any], reading: str, used: set[str]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"From `{module}`. See {reading}.\n"
    simple = [row(name, value, name, used) for name, value in here.items() if not inspect.isclass(value)]
    if simple:
        yield table(simple)
    errors = [error_row(name, value) for name, value in here.items() if inspect.isclass(value) and issubclass(value, Exception)]
    if errors:
        yield table(errors, "error", "meaning", "attributes")
    for name, value in here.items():
        if has_heading(value):
            yield f"### {name}\n"
            yield table([class_row(name, value, public, used), *members(name, value, public, used)])


def table(rows: list[tuple[str, str, str]], *titles: str) -> str:
    width = 3 if any(last for _, _, last in rows) else 2
    lines = [f"| {' | '.join((titles or ('', '', 'raises'))[:width])} |", "|" + ":--|" * width]
    return "\n".join([*lines, *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells[:width])} |" for cells in rows)]) + "\n"


# --- rows ---------------------------------------------------------------------------------------------------------------


def class_row(name: str, cls: type, public: dict[str, Any], used: set[str]) -> tuple[str, str, str]:
    """The class itself: how it is made, unless its methods make it, or others return it."""
    made = name if is_result(cls) or makes_itself(cls) else name + signature(cls)
    bases = [base for base in cls.__mro__[1:] if public.get(base.__name__) is base]
    also = f" It has all that `{bases[0].__name__}` has." if bases else ""
    kinds = f" One of {', '.join(f'`{name}.{kind.name}`' for kind in cls)}." if issubclass(cls, Enum) else ""
    return f"**`{made}`**", told(name, cls, used) + kinds + also, raised(cls)


def error_row(name: str, cls: type) -> tuple[str, str, str]:
    base = cls.__mro__[1].__name__
    kinds = [base] + (["ValueError"] if ValueError in cls.__bases__ else [])
    attributes = [f"`{one}`" for names, _, _ in entries(cls, "Attributes") for one in names]
    attributes += [f"`{one}`" for one, value in vars(cls).items() if isinstance(value, property)]
    what = beginning(cls) + ("" if base == "Exception" else f" A `{'`, a `'.join(kinds)}`.")
    return f"`{name}`", what, " ".join(dict.fromkeys(attributes))


def row(shown: str, value: Any, key: str, used: set[str]) -> tuple[str, str, str]:
    """A function, a method or a constant."""
    if not callable(value) or not inspect.isroutine(value):
        return f"`{shown}`", remark(key, used) or f"`{value!r}`", ""
    return f"`{shown}{signature(value)}`", told(key, value, used), raised(value)


def members(name: str, cls: type, public: dict[str, Any], used: set[str]) -> Iterator[tuple[str, str, str]]:
    is_data = dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")
    told_of = [*entries(cls, "Attributes"), *(entries(cls, "Parameters") if is_data else ())]
    listed = {one for names, _, _ in told_of for one in names}
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set(getattr(cls, "_fields", ()))
    if fields - listed:
        raise UnclearError(f"the docstring of {name} does not name {', '.join(sorted(fields - listed))}")
    for names, kind, what in told_of:
        yield f"`{', '.join('.' + one for one in names)}: {kind}`", what, ""
    enumerated = set(cls.__members__) if issubclass(cls, Enum) else set()
    own = [
        base
        for base in reversed(cls.__mro__)
        if base is cls or (base.__module__.startswith("grammar_engine") and not is_public(base, public))
    ]
    for member, value in {member: value for base in own for member, value in vars(base).items()}.items():
        if (member.startswith("_") and member != "__call__") or member in listed | enumerated | fields:
            continue
        key = f"{name}.{member}"
        if isinstance(value, property):
            kind = plain(value.fget.__annotations__.get("return", "Any"))
            yield f"`.{member}: {kind}`", told(key, value.fget, used), raised(value.fget)
        elif isinstance(value, (classmethod, staticmethod)):
            yield row(key, getattr(cls, member), key, used)
        elif inspect.isfunction(value):
            yield row("." + member, value, key, used)


def is_public(cls: type, public: dict[str, Any]) -> bool:
    return public.get(cls.__name__) is cls


def is_result(cls: type) -> bool:
    """Made by the package alone: what its fields are is told under Attributes, not under Parameters."""
    is_data = dataclasses.is_dataclass(cls) or hasattr(cls, "_fields") or issubclass(cls, Enum)
    return is_data and not entries(cls, "Parameters")


def makes_itself(cls: type) -> bool:
    """There is no constructor to call."""
    return not inspect.signature(cls).parameters or not entries(cls, "Parameters")


# --- signatures ---------------------------------------------------------------------------------------------------------


def signature(value: Any) -> str:
    """Names and defaults; of what is returned the type."""
    found = inspect.signature(value)
    parameters = [p.replace(annotation=p.empty, default=_Shown.of(p.default)) for p in found.parameters.values() if p.name != "self"]
    returned = "" if inspect.isclass(value) else plain(found.return_annotation)
    text = str(found.replace(parameters=parameters, return_annotation=found.empty))
    return text + (f" -> {returned}" if returned not in ("", "None") else "")


class _Shown:
    """A default, as a reader would write it."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text

    @staticmethod
    def of(value: Any) -> Any:
        if value is inspect.Parameter.empty:
            return value
        if dataclasses.is_dataclass(value):
            return _Shown(f"{type(value).__name__}()")
        if isinstance(value, int) and not isinstance(value, bool) and value >= 10_000:
            return _Shown(f"{value:_}")
        return _Shown(value.__name__) if callable(value) else value


def plain(annotation: Any) -> str:
    """A type without the module that it is from."""
    if annotation is inspect.Signature.empty:
        return ""
    return re.sub(r"\b(?:builtins|np|torch)\.", "", annotation if isinstance(annotation, str) else annotation.__name__)


# --- docstrings ---------------------------------------------------------------------------------------------------------


def told(key: str, value: Any, used: set[str]) -> str:
    """What it does, and a remark."""
    return " ".join(filter(None, (beginning(value), remark(key, used))))


def remark(key: str, used: set[str]) -> str:
    used |= {key} & REMARKS.keys()
    return REMARKS.get(key, "")


def beginning(value: Any) -> str:
    text = docstring(value)
    if not text:
        raise UnclearError(f"no docstring: {value!r}")
    return shortened(text.split("\n\n")[0])


def shortened(text: str) -> str:
    """A paragraph; of a long one the first sentence: up to a full stop before a capital."""
    text = re.sub(r" \[\d+\]_", "", " ".join(text.split()).replace("``", "`"))
    found = re.match(r".*?[.](?=\s+[A-Z`])", text)
    return found[0] if found and len(text) > SHORT else text


def docstring(value: Any) -> str:
    return inspect.cleandoc((vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__) or "")


def entries(value: Any, title: str) -> list[tuple[list[str], str, str]]:
    """Names, type and meaning of each entry of a section."""
    found = []
    for head, body in blocks(value, title):
        names, _, kind = head.partition(" : ")
        found.append(([name.strip() for name in names.split(",")], kind.replace(", optional", " or None"), shortened(body)))
    return found


def raised(value: Any) -> str:
    """The types under Raises; where they are those of another call, these words."""
    shown = []
    for head, body in blocks(value, "Raises"):
        names = head.split(", ")
        shown.append(" ".join(f"`{name}`" for name in names) if all(name.isidentifier() for name in names) else shortened(f"{head} {body}"))
    return " ".join(shown)


def blocks(value: Any, title: str) -> list[tuple[str, str]]:
    """The entries of a section of a docstring: a line, and what is indented under it."""
    section = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", docstring(value), re.MULTILINE | re.DOTALL)
    if not section:
        return []
    return [(head.strip(), body) for head, body in re.findall(r"^(\S.*)\n?((?:(?:[ ]+.*)?\n?(?!\S))*)", section[1], re.MULTILINE)]


if __name__ == "__main__":
    main()
