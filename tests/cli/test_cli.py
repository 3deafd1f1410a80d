"""The command line, run in this process; one test runs it as users do."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from grammar_engine import Vocabulary, cli

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "grün"]}, "maxItems": 5},
        "note": {"type": ["string", "null"]},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"value": {"type": "number"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["value", "children"],
            "additionalProperties": False,
        }
    },
}
CHAIN = {
    "$ref": "#/$defs/link",
    "$defs": {
        "link": {"anyOf": [{"type": "object", "properties": {"next": {"$ref": "#/$defs/link"}}, "required": ["next"]}, {"type": "null"}]}
    },
}
SUM = """
start: sum
sum: product (("+" | "-") product)*
product: atom (("*" | "/") atom)*
atom: NUMBER | "(" sum ")"
NUMBER: /[0-9]+/
"""


# --- generate -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema", [PERSON, TREE, CHAIN, True, {"type": "array", "minItems": 3, "items": {"type": "string", "format": "date"}}]
)
def test_generated_instances_are_valid(run, file, schema: object) -> None:
    code, out, err = run("generate", "--schema", file("s.json", schema), "--seed", 1, "--count", 25)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 25
    for line in lines:
        jsonschema.validate(json.loads(line), schema, format_checker=jsonschema.FormatChecker())
    assert len(set(lines)) > 5


def test_the_seed_decides(run, file) -> None:
    schema = file("s.json", PERSON)
    first, again, other = (run("generate", "--schema", schema, "--count", 3, "--seed", seed)[1] for seed in (5, 5, 6))
    assert first == again != other


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("generate", "--regex", "a", "--start", "x"), "--start is for a Lark or GBNF grammar"),
        (("mask", "--regex", "a", "--whitespace", "compact"), "--whitespace is for JSON Schemas"),
        (("check", "--choices", "f", "--lenient", "f"), "--lenient is for JSON Schemas"),
        (("generate", "--regex", "a", "--model", "stub", "--length", "3"), "--length is for texts without a model"),
        (("generate", "--regex", "a", "--prompt", ""), "--prompt is for texts by a model"),
        (("generate", "--regex", "a", "--max-tokens", "3"), "--max-tokens is for texts by a model"),
        (("generate", "--regex", "a", "--temperature", "0"), "--temperature is for texts by a model"),
        (("generate", "--regex", "a", "--model", "stub", "--train-seconds", "3"), "--train-seconds is for --model tiny"),
    ],
)
def test_an_option_that_would_do_nothing_is_bad_usage(capsys, arguments, fault) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert fault in capsys.readouterr().err


def test_generate_from_other_sources(run, file) -> None:
    code, out, _ = run("generate", "--regex", r"[a-z]{2,5}@[a-z]{1,9}\.(com|org)", "--count", 10)
    assert code == 0 and all(re.fullmatch(r"[a-z]{2,5}@[a-z]{1,9}\.(com|org)", line) for line in out.splitlines())
    code, out, _ = run("generate", "--choices", file("choices", "yes\nno\nça va\n"), "--count", 300, "--seed", 0)
    assert code == 0 and set(out.splitlines()) == {"yes", "no", "ça va"}
    exotic = file("exotic", "a\u2028b\r\nc\x0cd\x85")
    texts = {run("generate", "--choices", exotic, "--seed", seed)[1] for seed in range(30)}
    assert texts == {"a\u2028b\n", "c\x0cd\x85\n"}  # lines end with \n or \r\n, and else nowhere
    marked = file("marked", "\ufeffyes")  # as some editors begin a file
    assert run("generate", "--choices", marked)[1] == "yes\n"
    code, out, _ = run("generate", "--lark", file("sum.lark", SUM), "--count", 10, "--length", 20)
    assert code == 0
    for line in out.splitlines():
        assert re.fullmatch(r"[0-9+*/()-]+", line) and line.count("(") == line.count(")")


def test_generate_json(run) -> None:
    code, out, _ = run("generate", "--regex", "a", "--count", 2, "--json")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [{"index": 0, "text": "a"}, {"index": 1, "text": "a"}]


def test_a_saved_vocabulary(run, tmp_path) -> None:
    Vocabulary.builtin().save(tmp_path / "saved")
    expected = run("mask", "--regex", "[a-z]+", "--json")
    assert expected[0] == 0
    assert run("mask", "--regex", "[a-z]+", "--json", "--vocabulary", tmp_path / "saved") == expected
    content = bytearray((tmp_path / "saved").read_bytes())
    content[-100] ^= 1
    (tmp_path / "damaged").write_bytes(content)
    code, _, err = run("mask", "--regex", "[a-z]+", "--vocabulary", tmp_path / "damaged")
    assert code == 2 and "damaged cannot be loaded" in err


def test_generate_that_cannot_end(run, tmp_path) -> None:
    table = tmp_path / "no-eos.json"
    table.write_text('{"tokens": ["YQ==", "Yg=="], "eos": []}')
    code, out, err = run("generate", "--regex", "a", "--vocabulary", table, "--json")
    assert code == 2 and "no end-of-text token" in err
    assert json.loads(out)["type"] == "VocabularyError"


def test_generate_ends_where_chance_hardly_does(run) -> None:
    code, out, err = run("generate", "--regex", "[a-z]*qzxqzxqzx", "--length", 5, "--seed", 0)
    assert (code, err) == (0, "") and out.endswith("qzxqzxqzx\n") and len(out) > 10


# --- check ----------------------------------------------------------------------------------------------------------


def test_check_valid(run, file) -> None:
    good = file("good.json", '{"name": "Ada",\n "age": 36}\n')
    code, out, err = run("check", "--schema", file("s.json", PERSON), good, good)
    assert (code, out, err) == (0, f"{good}: valid\n" * 2, "")


def test_check_points_at_the_first_refused_byte(run, file) -> None:
    schema, bad = file("s.json", PERSON), file("bad.json", '{\n  "name": "Zoë", "age": "1"\n}\n')
    code, out, _ = run("check", "--schema", schema, bad)
    assert code == 1
    head, line, caret = out.splitlines()
    assert head.startswith(f"{bad}:2:25: '\"' is refused, expected ")
    assert line == '  "name": "Zoë", "age": "1"'
    assert line[caret.index("^") :] == '"1"'
    code, out, _ = run("check", "--json", "--schema", schema, bad)
    found = json.loads(out)
    assert code == 1 and (found["valid"], found["line"], found["column"], found["offset"]) == (False, 2, 25, 27)
    assert found["expected"]


def test_options_of_schemas_in_other_sources(run, file) -> None:
    text, schema = (
        file("text", '{"a": 1}'),
        '{"required": ["a"], "properties": {"a": {"enum": [1]}}, "type": "object", "additionalProperties": false}',
    )
    tag = f'{{"type": "structural_tag", "format": {{"type": "json_schema", "json_schema": {schema}}}}}'
    for source in (("--lark", file("g.lark", f"start: %json {schema}")), ("--structural-tag", file("tag.json", tag))):
        assert [run("check", *source, *spaces, text)[0] for spaces in ((), ("--whitespace", "compact"))] == [0, 1]


def test_check_a_text_that_ends_too_early(run, file) -> None:
    code, out, _ = run("check", "--schema", file("s.json", PERSON), file("short.json", '{"name": "Ada"'))
    assert code == 1 and ":1:15: the text ends too early" in out


def test_what_has_no_names_is_expected_by_its_next_bytes(run, file) -> None:
    code, out, _ = run("check", "--regex", "[0-9]{3}-[a-c]", file("t", "555x"))
    assert code == 1 and out.endswith(":1:4: 'x' is refused, expected regex (next b'-')\n555x\n   ^\n")
    code, out, _ = run("mask", "--choices", file("c", "yes\nno"), "--text", "a")
    assert code == 1 and out == "1:1: 'a' is refused, expected choice (next b'n' b'y')\na\n^\n"


def test_check_one_bad_of_several(run, file) -> None:
    code, out, _ = run("check", "--regex", "a+", file("x", "aa"), file("y", "ab"), file("z", "a\n"))
    assert code == 1
    assert [line.split(": ")[-1] for line in out.splitlines() if ".txt" in line or ": valid" in line] == ["valid", "valid"]


def test_a_final_line_end_counts_only_where_the_grammar_wants_it(run, file) -> None:
    assert run("check", "--regex", "a", file("x", "a\r\n"))[0] == 0
    assert run("check", "--regex", r"a\n", file("x", "a\n"))[0] == 0
    assert run("check", "--regex", "a", file("x", "a\n\n"))[0] == 1


def test_standard_input(run, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"aaa")))
    assert run("check", "--regex", "a+", "-") == (0, "-: valid\n", "")


# --- mask -----------------------------------------------------------------------------------------------------------


def test_mask(run) -> None:
    code, out, _ = run("mask", "--regex", "ab?", "--text", "a")
    assert code == 0
    assert out.splitlines()[0] == "2 of 6,144 tokens are allowed; the text may end here"
    assert {line.split()[-1] for line in out.splitlines()[1:]} == {"'b'", "<eos>"}


def test_mask_json(run, file) -> None:
    code, out, _ = run("mask", "--schema", file("s.json", PERSON), "--text", '{"na', "--json", "--sample", 3)
    found = json.loads(out)
    assert code == 0 and found["size"] == 6144 and not found["complete"]
    assert found["forced"].startswith("me")
    assert 1 <= len(found["sample"]) <= min(3, found["allowed"])


def test_mask_after_a_refused_text(run) -> None:
    code, out, _ = run("mask", "--regex", "abc", "--text", "abx")
    assert code == 1 and out.startswith("1:3: 'x' is refused")
    code, out, _ = run("mask", "--regex", "abc", "--text", "ab\u2028")
    assert code == 1 and out.startswith(r"1:3: '\u2028' is refused")
    code, out, _ = run("mask", "--regex", "abc", "--text", "abx", "--json")
    assert code == 1 and json.loads(out)["offset"] == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"ab\xc3\xa9", "'é' is refused"),
        (b"\xc3\xa9", "'é' is refused"),  # at its second byte, as the first one begins what is expected
        ("😀".encode(), "'😀' is refused"),
        (b"ab\xe9x", r"'\xe9' is refused"),
        (b"ab\xa9x", r"'\xa9' is refused"),
        (b"\xc3x", "'x' is refused"),
        (b"ab\xe2\x80", r"'\xe2' is refused"),
    ],
)
def test_a_refused_character_is_named(run, tmp_path, text: bytes, told: str) -> None:
    (tmp_path / "text").write_bytes(text)
    code, out, _ = run("check", "--regex", "abc|è|😁", tmp_path / "text")
    assert code == 1 and told in out


def test_structural_tag(run, file) -> None:
    source = file("tag.json", '{"format": {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"}}')
    assert run("check", "--structural-tag", source, file("right", "<a>b</a>"))[0] == 0
    assert run("check", "--structural-tag", source, file("wrong", "<a>b</a>c"))[0] == 1


def test_special_tokens_in_a_structural_tag(run, file) -> None:
    marked = {"type": "tag", "begin": "<c>", "content": {"type": "const_string", "value": "x"}, "end": "<e>"}
    source = file("tag.json", json.dumps({"format": marked}))
    specials = {"<c>": 2, "<e>": 3, "</s>": 4}
    table = file("table.json", json.dumps({"tokens": ["PA==", "eA==", "", "", ""], "eos": [4], "specials": specials}))
    given = ("mask", "--structural-tag", source, "--vocabulary", table)
    assert [line.split() for line in run(*given)[1].splitlines()[2:]] == [["0", "'<'"]]
    assert [line.split() for line in run(*given, "--special-token", "<c>", "--special-token", "<e>")[1].splitlines()[2:]] == [["2", "<c>"]]
    code, _, err = run(*given, "--special-token", "x")
    assert code == 2 and "'x' is token 1 of this vocabulary, an ordinary text token" in err
    schema = {"type": "object", "properties": {"c": {"type": "null"}}, "required": ["c"]}
    styled = file("styled.json", json.dumps({"format": {"type": "json_schema", "json_schema": schema, "style": "glm_xml"}}))
    table = file("glm.json", json.dumps({"tokens": ["bA==", "", ""], "eos": [2], "specials": {"</arg_value>": 1, "</s>": 2}}))
    before = "<arg_key>c</arg_key><arg_value>null"
    for given in (("--structural-tag", styled), ("--schema", file("schema.json", json.dumps(schema)), "--style", "glm_xml")):
        marked_so = ("mask", *given, "--whitespace", "compact", "--special-token", "</arg_value>")
        code, out, _ = run(*marked_so, "--vocabulary", table, "--text", before)
        assert code == 0 and [line.split() for line in out.splitlines()[2:]] == [["1", "</arg_value>"]]
        code, _, err = run(*marked_so)
        assert code == 2 and "special tokens that the vocabulary does not have: '</arg_value>'" in err


def test_gbnf(run, file) -> None:
    grammar = file("sum.gbnf", 'root ::= sum\nsum ::= [0-9] ("+" sum)?\n')
    for start in ([], ["--start", "sum"]):
        code, out, _ = run("generate", "--gbnf", grammar, *start, "--count", 5, "--length", 20)
        assert code == 0 and all(set(line) <= set("0123456789+") for line in out.splitlines())
    assert run("check", "--gbnf", grammar, file("right", "1+2"))[0] == 0
    assert run("check", "--gbnf", grammar, file("wrong", "1+"))[0] == 1
    assert run("mask", "--gbnf", grammar, "--start", "nowhere")[0] == 2


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "content"),
    [
        ("--schema", "{"),
        ("--schema", '{"type": "nonsense"}'),
        ("--lark", "start: undefined"),
        ("--lark", "start: ("),
        ("--lark", 'start: %json {"type": 1}'),
        ("--gbnf", "root ::= ("),
        ("--gbnf", 'start ::= "a"'),
        ("--structural-tag", '{"format": {"type": "text"}}'),
        ("--schema", '{"$ref": "#"}'),
    ],
)
def test_bad_grammars(run, file, source: str, content: str) -> None:
    code, out, err = run("generate", source, file("grammar", content))
    assert code == 2 and not out and err.startswith(f"grammar-engine: {file('grammar', content)}: ")


def test_bad_regex(run) -> None:
    code, _, err = run("mask", "--regex", "(a")
    assert code == 2 and err.startswith("grammar-engine: ")


def test_missing_and_unreadable_files(run, tmp_path) -> None:
    code, _, err = run("check", "--schema", tmp_path / "nowhere.json", "-")
    assert code == 2 and "nowhere.json: No such file" in err
    (tmp_path / "latin1").write_bytes(b'"\xe9"')
    for source in ("--schema", "--lark", "--gbnf", "--structural-tag", "--choices"):
        code, _, err = run("generate", source, tmp_path / "latin1")
        assert code == 2 and err == f"grammar-engine: {tmp_path / 'latin1'}: not UTF-8: byte 1 (invalid continuation byte)\n"
    code, out, _ = run("generate", "--schema", tmp_path / "latin1", "--json")
    assert code == 2 and json.loads(out)["error"].startswith(f"{tmp_path / 'latin1'}: not UTF-8")
    assert run("generate", "--regex", "a", "--vocabulary", tmp_path / "nowhere")[0] == 2
    if (memory := Path("/proc/self/mem")).exists():  # which can be opened, and has nothing where it begins
        assert run("check", "--regex", "a", memory)[2] == "grammar-engine: /proc/self/mem: Input/output error\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["generate"],
        ["generate", "--regex", "a", "--lark", "b"],
        ["check", "--regex", "a"],
        ["generate", "--regex", "a", "--count", "0"],
        ["nonsense"],
    ],
)
def test_usage_errors(capsys, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage: grammar-engine" in capsys.readouterr().err


# --- the rest -------------------------------------------------------------------------------------------------------


def test_info(run) -> None:
    code, out, _ = run("info")
    assert code == 0 and "max_lexer_states" in out
    code, out, _ = run("info", "--json")
    assert json.loads(out)["grammar-engine"] == cli.__version__


@pytest.mark.parametrize("command", [["grammar-engine"], [sys.executable, "-m", "grammar_engine"]])
def test_as_a_program(command: list[str], tmp_path) -> None:
    if command[0] == "grammar-engine":
        command = [str(Path(sys.executable).with_name("grammar-engine"))]
        if not Path(command[0]).exists():
            pytest.skip("the package is not installed")
    environment = {"LC_ALL": "C", "PATH": "", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run([*command, "generate", "--regex", "ü+"], cwd=tmp_path, capture_output=True, check=True, env=environment)
    assert re.fullmatch("ü+\\s+", done.stdout.decode("utf-8")) and not done.stderr


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("check --regex a+ - <&-", 2, "the standard input is closed"),
        ("info >&-", 2, "the standard output is closed"),
        ("check --regex a+ good >&-", 2, "the standard output is closed"),
        ("check --regex a+ good >/dev/full", 2, "No space left on device"),
        ("check --json --regex a+ good >/dev/full", 2, "No space left on device"),
        ("check --json --regex '(' good >/dev/full", 2, "malformed"),
        ("check --regex '(' good 2>&-", 2, ""),
        ("check --regex a+ good", 0, ""),
        ("check --regex a+ bad", 1, ""),
    ],
)
def test_closed_streams(tmp_path, command: str, code: int, message: str) -> None:
    (tmp_path / "good").write_text("aa")
    (tmp_path / "bad").write_text("b")
    for unbuffered in ("", "PYTHONUNBUFFERED=1 "):
        script = f"{unbuffered}{sys.executable} -m grammar_engine {command}"
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, check=False, text=True)
        assert done.returncode == code and message in done.stderr
        assert "Traceback" not in done.stderr and "ignored" not in done.stderr and "grammar-engine:" not in done.stdout


def test_a_verdict_that_nobody_reads_is_none(tmp_path) -> None:
    for name in (texts := [f"bad{i}" for i in range(3000)]):
        (tmp_path / name).write_text("b")
    script = f"{sys.executable} -m grammar_engine check --regex a+ {' '.join(texts)} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, check=False, text=True)
    assert done.stdout == "141\n"


def test_a_closed_pipe_is_no_error(tmp_path) -> None:
    script = f"{sys.executable} -m grammar_engine generate --regex '[a-z]+' --count 20000 | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {script}"], cwd=tmp_path, capture_output=True, check=False)
    assert done.stdout and not done.stderr and done.returncode == 0
