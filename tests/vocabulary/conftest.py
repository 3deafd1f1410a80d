"""Where the real vocabularies are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of shared test data: $GRAMMAR_ENGINE_DATA, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("GRAMMAR_ENGINE_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "tokenizers").is_dir():
        pytest.skip(f"no tokenizers in {folder}: set GRAMMAR_ENGINE_DATA")
    return folder / "tokenizers"
