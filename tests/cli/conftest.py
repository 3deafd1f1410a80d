"""How tests run the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grammar_engine import cli


@pytest.fixture
def run(capsys):
    """`run("check", ...)` -> (exit code, stdout, stderr)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = cli.main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def file(tmp_path):
    """`file("name", content)` -> its path; what is no text is written as JSON."""

    def write(name: str, content: object) -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write
