"""Where the real vocabularies are."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_folder import needed


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real vocabularies."""
    return needed("tokenizers")
