"""The official suite: drafts 2020-12 and 2019-09 with all that is optional; formats are asserted where the suite has them asserted.

The rules: nothing invalid is accepted, ever. What is valid is accepted, unless the schema was refused when it was compiled (by keyword or
limit), or the case is one of `differences.py`. And the share of cases that are simply right has a floor, which is raised as features come.

Options: `property_order="any"`, `number_style="any"`, `escapes="all"`, and the remote schemas of the suite as `resources`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .differences import DIFFERENCES
from .suite import ARCHIVE, Verdict, counts_of_files, files, judge, table

FLOOR = 0.97  # of all cases, differences counted as not right

needs_suite = pytest.mark.skipif(not ARCHIVE.exists(), reason=f"{ARCHIVE} is not there; GRAMMAR_ENGINE_DATA names the folder")


@needs_suite
@pytest.mark.parametrize("file", files())
def test_file(file: str) -> None:
    cases = judge(file)
    assert cases
    for forbidden in (Verdict.WRONGLY_ACCEPTED, Verdict.MALFORMED):
        assert [case for case in cases if case.verdict is forbidden] == []
    lost = [case for case in cases if case.verdict is Verdict.WRONGLY_REFUSED]
    assert [case for case in lost if not any(known.covers(file, case.name) for known in DIFFERENCES)] == []


@needs_suite
def test_the_share_that_is_right() -> None:
    verdicts = [case.verdict for file in files() for case in judge(file)]
    assert len(verdicts) > 4_000
    assert verdicts.count(Verdict.RIGHT) >= FLOOR * len(verdicts), table()


@needs_suite
@pytest.mark.parametrize("known", DIFFERENCES, ids=lambda known: f"{known.file}: {known.part}")
def test_differences_are_real(known) -> None:
    lost = [(file, case) for file in files() for case in judge(file) if case.verdict is Verdict.WRONGLY_REFUSED]
    assert any(known.covers(file, case.name) for file, case in lost)


@needs_suite
def test_the_figures_of_the_documents() -> None:
    figures = json.loads((Path(__file__).parents[2] / "tools" / "keyword_figures.json").read_text(encoding="utf-8"))
    assert figures["conformance"] == counts_of_files(), "run python tools/keyword_figures.py, then python tools/make_docs.py"
