"""The Triton kernel of apply_mask without a GPU: what it computes, by Triton's interpreter, and that it compiles for GPUs.

What only a GPU can show is in test_apply.py (`test_on_cuda`).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed (it is made for Linux)")


def run_check(name, folder, **environment):
    pytest.importorskip("torch")
    path = Path(__file__).with_name("kernel_checks.py")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    environment = {**kept, "PYTHONPATH": os.pathsep.join(sys.path), "TRITON_CACHE_DIR": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, path, name], env=environment, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_kernel_in_the_interpreter_of_triton(tmp_path):
    run_check("interpreted", tmp_path, TRITON_INTERPRET="1")


def test_the_kernel_compiles_for_gpus(tmp_path):
    run_check("compiled", tmp_path)
