"""Two collections of real schemas: the official test suite, and the instances of MaskBench.

The rule for both: what is invalid is never accepted. What is valid is accepted, with its keys in some order, unless the schema was
refused when it was compiled, or the case is listed here with its reason.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grammar_engine import Grammar
from grammar_engine.errors import GrammarError, LimitExceededError, SchemaError, UnsupportedSchemaError

from .engine import accepts, accepts_value, data_folder, dump, is_only_out_of_order

METASCHEMAS = {
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

REFUSED_BY_DESIGN = {  # part of the description of a case or its file: why a valid instance is refused
    "only an annotation by default": "`format` is enforced, always",
    "A-label (punycode)": "which A-labels are valid only the tables of IDNA say, so all are refused",
    "no validation vocabulary": "metaschemas of one's own are not read",
    "if overflow is handled": "an integer with an exponent and `multipleOf`",
}

ONLY_OUT_OF_ORDER = {  # seen by hand: a key that is named in one object and additional in another
    "Github_hard---o60038.json",
    "Github_hard---o66237.json",
    "WashingtonPost---wp_8_Normalized.json",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data_folder("json-schema-test-suite.tar.xz", tmp_path_factory) / "tests"


@pytest.fixture(scope="module")
def maskbench(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sorted(data_folder("maskbench.tar.xz", tmp_path_factory).rglob("*.json"))


@pytest.mark.parametrize("draft", METASCHEMAS)
def test_official_suite(suite: Path, draft: str) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for path in sorted((suite / draft).rglob("*.json")):
        for case in json.loads(path.read_text()):
            schema = case["schema"]
            if isinstance(schema, dict):
                schema.setdefault("$schema", METASCHEMAS[draft])
            for test, accepted in zip(case["tests"], _verdicts(schema, [test["data"] for test in case["tests"]])):
                counts[str(accepted == test["valid"] if accepted is not None else "refused at compile")] += 1
                name = f"{path.stem}: {case['description']}: {test['description']}"
                if accepted is not None and accepted != test["valid"] and not (test["valid"] and any(k in name for k in REFUSED_BY_DESIGN)):
                    wrong.append((name, dump(test["data"])[:100]))
    assert not wrong
    assert counts["refused at compile"] < 0.27 * counts.total()


def _verdicts(schema: Any, values: list[Any]) -> list[bool | None]:
    """For each value whether it is accepted; None where the schema is refused as unsupported."""
    try:
        grammar = Grammar.from_json_schema(schema)
    except (UnsupportedSchemaError, LimitExceededError):
        return [None] * len(values)
    except GrammarError:  # no instance at all
        return [False] * len(values)
    return [accepts_value(grammar, value) for value in values]


def test_maskbench(maskbench: list[Path], long_run: bool) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    paths = maskbench if long_run else maskbench[7::40]
    for path in paths:
        case = json.loads(path.read_text())
        try:
            grammar = Grammar.from_json_schema(case["schema"])
        except (SchemaError, GrammarError, LimitExceededError) as error:
            counts[type(error).__name__] += 1
            continue
        verdict = "passed"
        for test in case["tests"]:
            accepted = accepts(grammar, dump(test["data"]))
            if accepted != test["valid"]:
                verdict = "order"
                if accepted or (path.name not in ONLY_OUT_OF_ORDER and not is_only_out_of_order(case["schema"], test["data"])):
                    wrong.append((path.name, test["valid"], dump(test["data"])[:200]))
        counts[verdict] += 1
    assert not wrong
    assert counts["passed"] >= 0.9 * len(paths), counts
