"""What importing the package costs, and what it does not drag in."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

HEAVY = ("numpy", "torch", "tokenizers", "transformers", "tiktoken", "sentencepiece", "pydantic", "jsonschema")


def in_fresh_process(program: str, cwd) -> str:
    """In another folder, so that it is the installed package that is imported."""
    return subprocess.run([sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("module", ["grammar_engine", "grammar_engine.cli", "grammar_engine.vocabulary"])
def test_it_imports_nothing_heavy(module: str, tmp_path) -> None:
    loaded = json.loads(in_fresh_process(f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))", tmp_path))
    assert module in loaded
    assert not {name.split(".")[0] for name in loaded} & set(HEAVY)


COUNTED = """
import sys
{before}
calls = 0
def count(frame, event, argument):
    global calls
    calls += event == "call"
sys.setprofile(count)
{counted}
sys.setprofile(None)
print(calls)
"""


@pytest.mark.parametrize(
    ("before", "counted", "calls"),
    [
        ("", "import grammar_engine", 30_000),  # 16,000, which take 50 ms
        (
            "from grammar_engine import Vocabulary; import grammar_engine.vocabularies.builtin",
            "Vocabulary.builtin()",
            500,
        ),  # of Python: 2 ms
    ],
)
def test_it_does_little(before: str, counted: str, calls: int, tmp_path) -> None:
    """Counted in calls of Python functions, which do not depend on the machine."""
    assert 0 < int(in_fresh_process(COUNTED.format(before=before, counted=counted), tmp_path)) < calls


def test_the_heavy_ones_are_here_to_be_imported() -> None:
    """Else the first test would prove nothing."""
    assert importlib.util.find_spec("numpy") and importlib.util.find_spec("tokenizers")
