"""What no other tool looks after: the width of the core's lines (ruff knows that of Python's)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = ("_core.c", "rx_unicode_tables.c", "rx_ulabel_tables.h")  # by programs


def test_lines_of_the_core_are_no_wider_than_the_editor_is_told() -> None:
    if not (ROOT / "csrc").is_dir():
        pytest.skip("the sources of the core are not here")
    widest = int(re.findall(r"max_line_length = (\d+)", (ROOT / ".editorconfig").read_text())[0])
    sources = [path for path in (ROOT / "csrc").rglob("*.[ch]") if path.name not in MADE]
    assert len(sources) > 150
    lines = [(path, n, line) for path in sources for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
    assert [f"{path.relative_to(ROOT)}:{n}" for path, n, line in lines if len(line) > widest] == []
