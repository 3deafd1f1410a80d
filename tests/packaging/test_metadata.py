"""One version, one licence, all data; and generated files are what their generators make."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from importlib import metadata, resources
from pathlib import Path

import cffi
import pytest

import grammar_engine
from grammar_engine._version import __version__

ROOT = Path(__file__).parents[2]


def test_one_version() -> None:
    assert metadata.version("grammar-engine") == __version__ == grammar_engine.__version__
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None and newest[1] == __version__


def test_licence_and_command() -> None:
    about = metadata.metadata("grammar-engine")
    assert about["License-Expression"] == "Apache-2.0"
    (script,) = (entry for entry in metadata.distribution("grammar-engine").entry_points if entry.group == "console_scripts")
    assert (script.name, script.value) == ("grammar-engine", "grammar_engine.cli:main")
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_runtime_dependencies() -> None:
    needed = {re.split(r"[<>=! ;]", need)[0] for need in metadata.requires("grammar-engine") or () if "extra ==" not in need}
    assert needed == {"cffi", "lark"}


def test_data_is_installed() -> None:
    package = resources.files("grammar_engine")
    assert (package / "py.typed").is_file()
    assert 10_000 < len((package / "data" / "builtin.merges").read_bytes()) < 100_000


def test_the_core_uses_the_stable_abi() -> None:
    from grammar_engine import _core

    assert _core.__file__ is not None and ".abi3." in Path(_core.__file__).name


def test_glue_is_up_to_date(tmp_path) -> None:
    """csrc/_core.c is what cffi makes of csrc/include/ge_api.h."""
    committed = (ROOT / "csrc" / "_core.c").read_text()
    if cffi.__version__ != _pinned_cffi():
        pytest.skip(f"cffi {cffi.__version__} is not the pinned {_pinned_cffi()}")
    fresh = tmp_path / "_core.c"
    sources = ["csrc/include/ge_api.h", "csrc/prelude.c"]
    subprocess.run(
        [sys.executable, "-m", "cffi.gen_src", "read-sources", "grammar_engine._core", *sources, str(fresh)], cwd=ROOT, check=True
    )
    assert fresh.read_text() == committed


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are those of Unicode 14, which Python 3.11 has")
def test_tables_of_labels_are_what_their_generator_makes() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_ulabels.py"), "--check"], check=True)


def _pinned_cffi() -> str:
    pinned = re.search(r'"cffi==([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert pinned is not None
    return pinned[1]


def test_builtin_vocabulary_is_what_its_trainer_makes(tmp_path) -> None:
    program = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import train_builtin\n"
        "train_builtin.TARGET = pathlib.Path(sys.argv[2]) / 'builtin.merges'; train_builtin.main()"
    )
    subprocess.run([sys.executable, "-c", program, str(ROOT / "tools"), str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "builtin.merges").read_bytes() == (ROOT / "grammar_engine" / "data" / "builtin.merges").read_bytes()
