"""The folder of test data: `$GRAMMAR_ENGINE_DATA`, or `../shared/data` beside the repository. Tests of what it lacks are skipped."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("GRAMMAR_ENGINE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def needed(name: str) -> Path:
    """A file or folder in it; skips the test where it is not there."""
    path = DATA / name
    if not path.exists():
        import pytest  # not where a tool reads the data

        pytest.skip(f"{path} is not there; GRAMMAR_ENGINE_DATA names the folder")
    return path
