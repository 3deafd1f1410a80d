"""The sample grammars: their accepted and rejected texts, also according to Lark itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import lark

FOLDER = Path(__file__).resolve().parents[2] / "grammars"
GRAMMARS = sorted(path.stem for path in FOLDER.glob("*.lark"))


def samples(name: str) -> list[tuple[bytes, bool, str]]:
    return [
        (path.read_bytes(), kind == "accept", f"{name}.{kind}/{path.name}")
        for kind in ("accept", "reject")
        for path in sorted((FOLDER / f"{name}.{kind}").iterdir())
    ]


@pytest.mark.parametrize("name", GRAMMARS)
def test_samples(judge: Any, name: str) -> None:
    says = judge((FOLDER / f"{name}.lark").read_text(encoding="utf-8"))
    assert [place for text, expected, place in samples(name) if says(text) != expected] == []


@pytest.mark.parametrize("name", GRAMMARS)
def test_lark_agrees(name: str) -> None:
    grammar = (FOLDER / f"{name}.lark").read_text(encoding="utf-8")
    parser = lark.Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest")

    def accepts(text: str) -> bool:
        try:
            parser.parse(text)
        except lark.exceptions.UnexpectedInput:
            return False
        return True

    assert [place for text, expected, place in samples(name) if accepts(text.decode()) != expected] == []


@pytest.mark.parametrize("path", sorted((FOLDER / "schemas").glob("*.json")), ids=lambda path: path.stem)
def test_schemas_are_valid_and_their_examples_are_instances(path: Path) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    assert len(schema["examples"]) >= 1
    for example in schema["examples"]:
        validator.validate(example)
