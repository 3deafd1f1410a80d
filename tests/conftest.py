"""What all tests share. Helpers are imported by name (`from oracle import ...`,
`import vocabularies`): pytest puts this folder on the path."""

from __future__ import annotations

import os
from collections.abc import Callable

# Before torch is there: a process for each core runs tests, and threads of one would wait for the other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

import vocabularies

LONG = os.environ.get("GRAMMAR_ENGINE_LONG") == "1"

settings.register_profile("short", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("long" if LONG else "short")


@pytest.fixture(scope="session")
def long_run() -> bool:
    """GRAMMAR_ENGINE_LONG=1: property tests run for minutes, not seconds."""
    return LONG


@pytest.fixture(scope="session")
def real_vocabulary() -> Callable[[str], object]:
    """`real_vocabulary("tekken-131k")`: the engine's `Vocabulary`, loaded once; skips where the data is not there."""
    built: dict[str, object] = {}

    def get(name: str) -> object:
        if name not in built:
            built[name] = vocabularies.load_real(name).build()
        return built[name]

    return get
