"""The schemas of MaskBench with their instances, in any order of keys: every verdict is right, and few schemas are refused.

A part of them by default; all with `GRAMMAR_ENGINE_LONG=1`.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from grammar_engine import Grammar, LimitExceededError, UnsatisfiableSchemaError, UnsupportedSchemaError
from json_schema.engine import accepts, data_folder, dump


@pytest.fixture(scope="module")
def maskbench(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sorted(data_folder("maskbench.tar.xz", tmp_path_factory).rglob("*.json"))


def test_maskbench(maskbench: list[Path], long_run: bool) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    paths = maskbench if long_run else maskbench[7::20]
    for path in paths:
        case = json.loads(path.read_text())
        try:
            grammar = Grammar.from_json_schema(case["schema"], property_order="any", number_style="any")
        except (UnsupportedSchemaError, UnsatisfiableSchemaError, LimitExceededError) as error:
            counts[type(error).__name__] += 1
            continue
        lost = [test for test in case["tests"] if accepts(grammar, dump(test["data"])) != test["valid"]]
        wrong += [(path.name, test["valid"], dump(test["data"])[:200]) for test in lost]
        counts["wrong" if lost else "passed"] += 1
    assert not wrong
    assert counts["passed"] >= 0.98 * len(paths), counts
