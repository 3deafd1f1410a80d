"""The schemas of MaskBench with their instances, in any order of keys: every verdict is
right, and few schemas are refused. And masks do not hang on how much memory there is.

A part of them by default; all with `GRAMMAR_ENGINE_LONG=1`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, UnsatisfiableSchemaError, UnsupportedSchemaError
from json_schema.engine import accepts, dump, unpacked


@pytest.fixture(scope="module")
def maskbench(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sorted(unpacked("maskbench.tar.xz", tmp_path_factory).rglob("*.json"))


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


def test_masks_with_64_megabytes(maskbench: list[Path], long_run: bool, real_vocabulary: Callable[[str], Any]) -> None:
    """All masks are those that ample memory gives, where states have 64 MB, and kept masks 64 kB."""
    vocabulary = real_vocabulary("tekken-131k")
    tight = Limits(max_memory_bytes=64 << 20, max_generation_bytes=16 << 20, max_mask_bytes=64 << 10)
    n_masks = evictions = 0
    for path in maskbench if long_run else maskbench[11::300]:
        case = json.loads(path.read_text())
        try:
            grammars = [
                Grammar.from_json_schema(case["schema"], property_order="any", number_style="any", limits=x) for x in (Limits(), tight)
            ]
        except (UnsupportedSchemaError, UnsatisfiableSchemaError, LimitExceededError):
            continue
        for test in case["tests"]:
            ample, scarce = (Matcher(grammar, vocabulary) for grammar in grammars)
            for token in [*vocabulary.encode_greedy(dump(test["data"]).encode()), vocabulary.eos[0]]:
                assert scarce.mask() == ample.mask(), (path.name, scarce.tokens)
                n_masks += 1
                if not ample.accept(token):
                    break
                assert scarce.accept(token)
        evictions += grammars[1].stats.mask_evictions
    assert n_masks > 1000
    assert evictions
