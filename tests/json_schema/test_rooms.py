"""The rooms of the front end stand in a line: none imports from one that comes later."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grammar_engine.frontends import json_schema

FOLDER = Path(json_schema.__file__).parent
ROOMS = ("reading", "scalars", "containers", "ledger", "context", "algebra", "normalising", "emitting")


def imported(path: Path) -> set[str]:
    """What a file of a room, `ledger.py` or `context.py` imports from the front end when it is loaded, as steps below its folder."""
    level = len(path.relative_to(FOLDER).parts)
    return {
        (node.module or name.name).split(".")[0]
        for node in ast.parse(path.read_text()).body  # not under `if TYPE_CHECKING`
        if isinstance(node, ast.ImportFrom) and node.level == level
        for name in node.names
    }


def test_all_rooms_are_listed() -> None:
    rooms = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert rooms == set(ROOMS) - {"ledger", "context"}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_from_those_before_it(room: str) -> None:
    files = sorted(FOLDER.glob(f"{room}/**/*.py")) or [FOLDER / f"{room}.py"]
    found = set().union(*(imported(path) for path in files))
    assert found <= set(ROOMS[: ROOMS.index(room)])
    assert found or room in ("reading", "scalars", "ledger")
