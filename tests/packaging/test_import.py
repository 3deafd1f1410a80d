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


def test_it_imports_in_a_tenth_of_a_second(tmp_path) -> None:
    program = "import time; begin = time.process_time(); import grammar_engine; print(time.process_time() - begin)"
    assert min(float(in_fresh_process(program, tmp_path)) for _ in range(5)) < 0.100


def test_the_builtin_vocabulary_loads_in_a_fiftieth_of_a_second(tmp_path) -> None:
    program = (
        "import time; from grammar_engine.vocabulary import Vocabulary; import grammar_engine.vocabularies.builtin\n"
        "begin = time.process_time(); Vocabulary.builtin(); print(time.process_time() - begin)"
    )
    assert min(float(in_fresh_process(program, tmp_path)) for _ in range(5)) < 0.020


def test_the_heavy_ones_are_here_to_be_imported() -> None:
    """Else the first test would prove nothing."""
    assert importlib.util.find_spec("numpy") and importlib.util.find_spec("tokenizers")
