"""The documents are true: their examples run, what is generated is up to date, and tables of names have the names of the code."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import importlib
import io
import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import grammar_engine
from grammar_engine import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = """
    grammar_engine grammar_engine.grammar grammar_engine.matcher grammar_engine.vocabulary grammar_engine.mask grammar_engine.automata.dfa grammar_engine.tags
    grammar_engine.decoding.scores grammar_engine.decoding.models grammar_engine.decoding.loop grammar_engine.decoding.grouped.sampler
    grammar_engine.decoding.prefix_cache.cache grammar_engine.decoding.prefix_cache.matchers
""".split()
FLAGS = doctest.NORMALIZE_WHITESPACE


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_there_are_documents() -> None:
    assert len(DOCUMENTS) == 21 and all(path.is_file() for path in DOCUMENTS)


def test_the_program_of_the_readme() -> None:
    pytest.importorskip("numpy")
    (program,) = blocks(ROOT / "README.md", "python")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, "README.md", "exec"), {})
    written = json.loads(out.getvalue())
    assert list(written) == ["size", "gift"] and written["size"] in ("S", "M", "L") and isinstance(written["gift"], bool)


def test_the_command_of_the_readme(capsys, monkeypatch) -> None:
    """That which comes after `pip install`; an instance of the schema comes out."""
    jsonschema = pytest.importorskip("jsonschema")
    (line,) = re.findall(r"^pip install \. && grammar-engine (.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    monkeypatch.chdir(ROOT)
    assert cli.main(shlex.split(line)) == 0
    schema = json.loads((ROOT / "grammars/schemas/person.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(capsys.readouterr().out))


def test_the_backend_for_servers() -> None:
    """That of docs/serving.md, called as a server calls: drafts, calls after the end, several threads, a limit that is reached."""
    torch = pytest.importorskip("torch")
    (program,) = blocks(ROOT / "docs" / "serving.md", "python")
    names: dict[str, Any] = {}
    exec(compile(program, "serving.md", "exec"), names)
    vocabulary = grammar_engine.Vocabulary.bytes()
    backend = names["Backend"](vocabulary)
    masks = backend.allocate_token_bitmask(4)
    assert masks.dtype == torch.int32 and masks.shape == (4, 9)
    request = backend.compile_grammar("regex", "ab?")
    assert request.validate_tokens([97, 98, -1]) == [97, 98] and request.validate_tokens([98]) == []
    for row, token in enumerate([97, 98, 256]):  # a draft: fill, accept, fill, ...
        request.fill_bitmask(masks, row)
        assert masks[row, token // 32] >> token % 32 & 1 and request.accept_tokens("r", [token])
    assert request.is_terminated() and request.accept_tokens("r", [97]) and request.matcher.tokens == [97, 98, 256]
    request.fill_bitmask(masks, 3)
    assert masks[3].tolist() == [0] * 8 + [1]
    request.rollback(2)
    assert not request.is_terminated() and request.matcher.tokens == [97]
    assert not request.accept_tokens("r", [98, 98]) and request.matcher.tokens == [97]
    assert request.accept_tokens("r", [256, 97]) and request.is_terminated()
    request.reset()
    assert request.matcher.tokens == []
    other = backend.compile_grammar("regex", "ab?", {10})
    assert other.accept_tokens("r", [97, 10]) and other.is_terminated()
    assert backend.compile_grammar("regex", "a", {10}).matcher.vocabulary is other.matcher.vocabulary
    assert backend.compile_grammar("choice", '["yes", "no"]').accept_tokens("r", list(b"yes"))
    assert backend.compile_grammar("json", '{"type": "null"}').accept_tokens("r", list(b"null"))
    assert not backend.compile_grammar("json_object", "").accept_tokens("r", list(b"[]"))
    assert backend.compile_grammar("grammar", 'start: "a" start?').accept_tokens("r", list(b"aaa"))
    assert backend.compile_grammar("grammar", 'root ::= "a" root?').accept_tokens("r", list(b"aaa"))
    tool = {"begin": "<f=a>", "schema": {"type": "integer"}, "end": "</f>"}
    called = backend.compile_grammar("structural_tag", json.dumps({"structures": [tool], "triggers": ["<f="]}))
    assert called.accept_tokens("r", list(b"so: <f=a>5</f> and"))
    assert not called.accept_tokens("r", list(b"<f=b>"))
    with pytest.raises(grammar_engine.GrammarError):
        backend.compile_grammar("json", '{"type": "nothing"}')
    requests = [backend.compile_grammar("regex", f"{letter}[0-9]+") for letter in "wxyz"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: requests[row].fill_bitmask(masks, row), range(4)))
    assert [masks[row].tolist().count(0) for row in range(4)] == [8] * 4
    names["LIMITS"] = grammar_engine.Limits(max_configurations=50)
    hard = backend.compile_grammar("regex", "(a|b)*a(a|b){9}")
    assert not hard.accept_tokens("r", list("".join(f"{n:b}" for n in range(200)).translate({48: "a", 49: "b"}).encode()))
    assert isinstance(hard.error, grammar_engine.LimitExceededError) and hard.matcher.tokens == []
    poor = names["Backend"](grammar_engine.Vocabulary([b"a", b""], eos=[1], width=257)).compile_grammar("regex", "ab")
    assert poor.accept_tokens("r", [0])
    poor.fill_bitmask(masks, 0)  # there is no token for "b"
    assert masks[0].tolist() == [2] + [0] * 8 and isinstance(poor.error, grammar_engine.VocabularyError)
    assert not poor.accept_tokens("r", [1]) and not poor.accept_tokens("r", [0])
    for take_back in (lambda: poor.rollback(1), poor.reset):  # what was reached is left, and what came of it
        take_back()
        assert poor.matcher.tokens == [] and poor.accept_tokens("r", [0])
        poor.fill_bitmask(masks, 0)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_in_documents(document: Path) -> None:
    failed, _ = doctest.testfile(str(document), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert not failed


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    names = {public: getattr(grammar_engine, public) for public in grammar_engine.__all__}
    failed, _ = doctest.testmod(importlib.import_module(name), extraglobs=names, optionflags=FLAGS)
    assert not failed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents(document: Path, capsys, monkeypatch) -> None:
    """`$ grammar-engine ...` in a console block prints the lines that follow; [exit code N] if it is not 0."""
    monkeypatch.chdir(ROOT)
    for block in blocks(document, "console"):
        for command, expected in re.findall(r"^\$ grammar-engine (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            code = cli.main(shlex.split(command))
            shown = capsys.readouterr().out + (f"[exit code {code}]\n" if code else "")
            assert shown == expected, command


@pytest.mark.parametrize("tool", ["make_docs.py", "make_api.py"])
def test_generated_document_is_up_to_date(tool: str) -> None:
    if tool == "make_api.py":
        pytest.importorskip("numpy")
    subprocess.run([sys.executable, str(ROOT / "tools" / tool), "--check"], check=True, cwd=ROOT)


def test_every_public_name_is_in_the_reference() -> None:
    pytest.importorskip("numpy")
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\[`(\w+)`\]\(#", text))
    for part in ("", ".decoding", ".decoding.grouped", ".decoding.models", ".decoding.prefix_cache"):
        module = "grammar_engine" + part
        missing = set(importlib.import_module(module).__all__) - names
        assert not missing, f"{module}: {missing}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            path = document.parent / name if name else document
            assert path.exists() and (not anchor or anchor in anchors(path)), target


def anchors(document: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_limits_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "errors-and-limits.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- limits -->(.*?)<!-- /limits -->", text, re.DOTALL)
    assert table is not None
    written = {name: int(number.replace(",", "")) for name, number in re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", table[1], re.MULTILINE)}
    assert written == dataclasses.asdict(grammar_engine.Limits())


def test_every_exception_is_in_the_table() -> None:
    text = (ROOT / "docs" / "errors-and-limits.md").read_text(encoding="utf-8")
    errors = {name for name in grammar_engine.__all__ if name.endswith("Error")}
    assert set(re.findall(r"^\| `(\w+Error)` \|", text, re.MULTILINE)) == errors


def test_every_switch_is_in_the_table() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    header = (ROOT / "csrc" / "include" / "ge_api.h").read_text(encoding="utf-8")
    fields = [field.name for field in dataclasses.fields(grammar_engine.Switches)]
    bits = sorted((int(bit), name) for name, bit in re.findall(r"(GE_NO_\w+) = (\d+)", header))
    assert re.findall(r"^\| `(\w+)` \| `(GE_NO_\w+)` \|", text, re.MULTILINE) == list(zip(fields, [name for _, name in bits]))


def test_files_that_documents_name_exist() -> None:
    for document in DOCUMENTS:
        for path in re.findall(
            r"`((?:csrc|grammar_engine|tests|tools|docs|bench|grammars)/[\w/.-]+)`", document.read_text(encoding="utf-8")
        ):
            assert (ROOT / path).exists(), f"{document.name} names {path}"
