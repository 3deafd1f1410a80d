"""The options that the library has too, and its messages in the words of the command line."""

from __future__ import annotations

import inspect
import json
import re
import threading
from pathlib import Path

import pytest

from grammar_engine import Grammar, LimitExceededError, Vocabulary, cli, cli_options
from grammar_engine.frontends.json_schema.reading import options as library

PAIR = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "required": ["a", "b"]}
REFUSED = {"type": "string", "minLength": 2, "pattern": "^(.)\\1"}
UNION = {"oneOf": [{"properties": {name: {"type": "null"}}} for name in "abcd"], "discriminator": {"propertyName": "kind"}}
TAG = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": PAIR}}


# --- options of the library -----------------------------------------------------------------------------------------


def test_no_option_of_schemas_is_missing() -> None:
    """But for `resources`, and `limits` and `special_tokens`, which are --limit and --special-token."""
    there = set(inspect.signature(Grammar.from_json_schema).parameters) - {"schema", "limits", "resources", "special_tokens"}
    assert there == set(cli_options.SCHEMA_OPTIONS) - {"any_spelling"}
    assert {name: choices for name, (choices, _) in cli_options.CHOICES.items()} == library._CHOICES
    defaults = library.Options()
    assert all(choices[0] == getattr(defaults, name) for name, (choices, _) in cli_options.CHOICES.items())


@pytest.mark.parametrize("source", ["--schema", "--lark", "--structural-tag"])
@pytest.mark.parametrize(
    ("schema", "text", "options", "codes"),
    [
        (PAIR, '{"a": "x", "b": 1}', "--property-order any", (1, 0)),
        (PAIR, '{"b": 1.0, "a": "x"}', "--number-style any", (1, 0)),
        (PAIR, r'{"b": 1, "a": "\u0061"}', "--escapes all", (1, 0)),
        (PAIR, '{"b": 1, "a": "x"}', "--whitespace compact", (0, 1)),
        (PAIR, '{"b": 1,  "a": "x"}', "--whitespace 1", (0, 1)),
        (PAIR, '{"b": 1, "a": "x"}', r"--whitespace \t{0,2}", (0, 1)),
        (PAIR, "<parameter=b>1</parameter><parameter=a>x</parameter>", "--style qwen_xml", (1, 0)),
        (PAIR, '{"b": 1, "a": "x", "c": 1, "c": 2}', "--unique-keys", (0, 1)),
        (PAIR, '{"b": 1, "a": "x", "c": 1}', "--closed", (0, 1)),
        (UNION, '{"a": 1, "b": 1, "c": 1}', "--discriminators required", (0, 1)),
        ({"type": "string", "nullable": True}, "null", "--nullable", (1, 0)),
        ({"type": "string", "format": "date"}, '"x"', "--formats annotation", (1, 0)),
        ({"type": "string", "format": "colour"}, '"x"', "--formats strict", (0, 2)),
        ({"prefixItems": [{"type": "array"}, {"const": []}], "uniqueItems": True}, "[]", "--lenient", (2, 0)),
    ],
)
def test_options_of_schemas(run, file, source: str, schema: object, text: str, options: str, codes: tuple[int, int]) -> None:
    written = {
        "--schema": schema,
        "--lark": f"start: %json {json.dumps(schema)}",
        "--structural-tag": {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}},
    }
    given = (source, file("source", written[source]), *options.split())
    assert (run("check", *given[:2], file("text", text))[0], run("check", *given, file("text", text))[0]) == codes
    for command in ("generate", "mask", "report"):
        assert run(command, *given)[0] == (2 if codes[1] == 2 else 0)


def test_lexing_and_dialect(run, file) -> None:
    lark = file("g.lark", 'start: A "b"\nA: /[ab]+/\n')
    assert [run("check", "--lark", lark, *given, file("text", "aab"))[0] for given in ((), ("--lexing", "longest"))] == [0, 1]
    digit = file("digit", "٣")
    assert [run("check", "--regex", r"\d", *given, digit)[0] for given in ((), ("--dialect", "ecma"))] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("check --regex a --any-spelling f", "--any-spelling is for JSON Schemas"),
        ("mask --gbnf f --property-order any", "--property-order is for JSON Schemas"),
        ("mask --regex a --unique-keys", "--unique-keys is for JSON Schemas"),
        ("mask --regex a --lexing exact", "--lexing is for a Lark grammar"),
        ("mask --lark f --special-token x", "--special-token is for a structural tag"),
        ("mask --structural-tag f --special-token=", "argument --special-token: an empty text is no name"),
        ("mask --lark f --dialect ecma", "--dialect is for a regular expression"),
        ("generate --schema f --any-spelling", "unrecognized arguments: --any-spelling"),
        ("mask --regex a --limit max_row=3", "there is no limit 'max_row'; limits are max_expressions, "),
        ("mask --regex a --limit max_rows", "max_rows is a whole number from 1 to 2**64 - 1, not ''"),
        ("mask --regex a --limit max_rows=0", "max_rows is a whole number from 1 to 2**64 - 1, not '0'"),
        ("report --regex a --vocabulary f", "unrecognized arguments: --vocabulary"),
    ],
)
def test_bad_usage(capsys, arguments: str, fault: str) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments.split())
    assert ended.value.code == 2 and fault in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "content"),
    [
        ("--schema", PAIR),
        ("--lark", f"start: %json {json.dumps(PAIR)}"),
        ("--structural-tag", TAG),
        ("--gbnf", 'root ::= "a" root | "b"'),
        ("--choices", "yes\nno"),
        ("--regex", "[a-z]+x"),
    ],
)
def test_limits(run, file, source: str, content: object) -> None:
    given = (source, content if source == "--regex" else file("source", content))
    code, _, err = run("mask", *given, "--limit", "max_rules=9999", "--limit", "max_expressions=2")
    assert code == 3 and "max_expressions = 2 is reached" in err and "; raise it with --limit max_expressions=N" in err
    assert run("mask", *given, "--limit", "max_expressions=2", "--limit", "max_expressions=100000")[0] == 0


# --- any spelling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "content"),
    [("--schema", PAIR), ("--lark", f"start: %json {json.dumps(PAIR)}"), ("--structural-tag", TAG)],
)
def test_texts_that_someone_else_wrote(run, file, source: str, content: object) -> None:
    given = ("check", source, file("source", content))
    text, bad = file("text", '{"a":"\\u0061","b":1.0}'), file("bad", '{"a":"\\u0061"}')
    code, out, _ = run(*given, text, bad)
    assert code == 1
    head, _, _, other, *_ = out.splitlines()
    assert head == f"{text}:1:3: 'a' is refused, expected key \"b\"; with --any-spelling it is valid"
    assert other == f"{bad}:1:3: 'a' is refused, expected key \"b\""
    found = [json.loads(line) for line in run(*given, "--json", text, bad)[1].splitlines()]
    assert [record["message"].endswith("; with --any-spelling it is valid") for record in found] == [True, False]
    assert run(*given, "--any-spelling", text)[:2] == (0, f"{text}: valid\n")
    code, out, _ = run(*given, "--any-spelling", bad)
    assert code == 1 and "any-spelling" not in out


def test_what_is_given_beside_any_spelling_goes_first(run, file) -> None:
    given = ("check", "--schema", file("s", PAIR), "--property-order", "schema", "--any-spelling")
    code, out, _ = run(*given, file("text", '{"b": 1.0, "a": "\\u0061"}'), file("order", '{"a": "x", "b": 1}'))
    assert code == 1 and "text: valid" in out and "order:1:" in out
    code, out, _ = run(*given[:-1], file("order", '{"a": "x", "b": 1}'))
    assert code == 1 and "any-spelling" not in out


def test_no_hint_where_it_cannot_be_told(run, file, monkeypatch) -> None:
    """A grammar without schemas is not compiled twice, and one that reaches a limit tells nothing."""
    compiled: list[bool] = []
    compile_once = cli.grammar_of
    monkeypatch.setattr(cli, "grammar_of", lambda *given, **more: compiled.append(more["any_spelling"]) or compile_once(*given, **more))
    assert run("check", "--lark", file("g", 'start: "a"'), file("text", "b"))[0] == 1 and compiled == [False]
    assert run("check", "--schema", file("s", PAIR), file("text", '{"b": 1, "a": "x"}'))[0] == 0 and compiled == [False, False]

    def too_large(*given, any_spelling: bool) -> Grammar:
        if any_spelling:
            raise LimitExceededError("max_rules", 1)
        return compile_once(*given)

    monkeypatch.setattr(cli, "grammar_of", too_large)
    code, out, err = run("check", "--schema", file("s", PAIR), file("text", '{"a": "x", "b": 1}'))
    assert code == 1 and out.startswith(f"{file('text', '')}:1:3: ") and "any-spelling" not in out and not err


def test_a_schema_from_standard_input_is_read_once(run, file, monkeypatch) -> None:
    texts = iter([json.dumps(PAIR).encode()])
    monkeypatch.setattr(cli_options, "read_bytes", lambda name: next(texts))
    code, out, _ = run("check", "--schema", "-", file("text", '{"a":"x","b":1}'))
    assert code == 1 and "; with --any-spelling it is valid" in out


# --- what is relaxed, and the report --------------------------------------------------------------------------------


def test_what_is_relaxed_is_told(run, file) -> None:
    schema = file("s", {"type": "object", "properties": {"~": REFUSED}, "required": ["~"]})
    text = file("text", '{"~": "xy"}')
    for command in (
        ["check", text],
        ["mask"],
        ["mask", "--text", "x"],
        ["generate"],
        ["generate", "--model", "stub", "--max-tokens", "60"],
    ):
        _, out, err = run(*command, "--schema", schema, "--lenient", "--json")
        assert err.startswith("relaxed: /properties/~0 pattern: unsupported in a regular expression: back-reference: ")
        (entry,) = json.loads(out)["relaxed"]
        assert (entry["pointer"], entry["keyword"]) == ("/properties/~0", "pattern") and "back-reference" in entry["detail"]
        assert run(*command, "--schema", schema, "--lenient")[2].startswith("relaxed: /properties/~0 pattern: ")
    assert run("mask", "--schema", file("s", REFUSED), "--lenient")[2].startswith("relaxed: (root) pattern: ")
    _, out, err = run("mask", "--schema", file("s", PAIR), "--lenient", "--json")
    assert json.loads(out)["relaxed"] == [] and not err
    assert "relaxed" not in json.loads(run("mask", "--schema", file("s", PAIR), "--json")[1])


def test_report(run, file) -> None:
    schema = {**REFUSED, "title": "twice"}
    code, out, err = run("report", "--schema", file("s", schema), "--lenient")
    assert (code, out, err) == (0, f"{Grammar.from_json_schema(schema, lenient=True).report}\n", "")
    code, out, err = run("report", "--schema", file("s", schema), "--lenient", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and set(found) == {"enforced", "annotations", "relaxed", "notes"}
    assert found["annotations"] == [{"pointer": "", "keyword": "title", "detail": ""}] and found["relaxed"][0]["keyword"] == "pattern"
    assert run("report", "--schema", file("s", schema))[0] == 2
    assert run("report", "--regex", "a")[1] == "enforced:\n  (root)  regex  the whole text matches the pattern\n"


def test_what_a_terminal_would_obey_is_replaced(run, file) -> None:
    schema = file("s", {"type": "object", "properties": {"a\x1bb": REFUSED}})
    code, out, _ = run("report", "--schema", schema, "--lenient")
    assert code == 0 and "/properties/a\N{REPLACEMENT CHARACTER}b  pattern" in out
    assert "/properties/a\N{REPLACEMENT CHARACTER}b pattern" in run("mask", "--schema", schema, "--lenient")[2]
    code, out, _ = run("report", "--schema", schema, "--lenient", "--json")
    assert code == 0 and json.loads(out)["relaxed"][0]["pointer"] == "/properties/a\x1bb"


def test_a_name_of_a_file_that_is_not_utf8(run, tmp_path) -> None:
    name = tmp_path / "\udcff"
    name.write_text("a")
    assert run("check", "--regex", "a", name)[:2] == (0, f"{tmp_path}/\\udcff: valid\n")
    assert json.loads(run("check", "--regex", "a", name, "--json")[1])["file"] == str(name)


# --- messages -------------------------------------------------------------------------------------------------------


LARK_OF = "start: %json "
MESSAGES = {  # what the library says -> a command that makes it say so; "{name}" is a file of that content
    r"; lenient=True gives it up": ("mask --schema {}", REFUSED),
    r"as closed=True has it": ("mask --closed --schema {}", {"properties": {"a": True}, "type": "object", "minProperties": 2}),
    r"; raise it with Limits\((\w+)=\.\.\.\)": ("mask --limit max_rows=2 --schema {}", PAIR),
    r'with discriminators="required"': ("mask --limit max_alternative_schemas=2 --schema {}", UNION),
    r"; the options of schemas are `schema_options`": (
        "mask --structural-tag {}",
        {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": REFUSED}},
    ),
    r"; its options are `schema_options`": ("mask --lark {}", LARK_OF + json.dumps(REFUSED)),
    r"; give that schema in `resources`, by its URI \(nothing is fetched\)": ("mask --schema {}", {"$ref": "https://example.com/a"}),
    r"; give it in `resources`, or name a draft": ("report --schema {}", {"$schema": "https://example.com/a"}),
    r"style='(\w+)' (can write no instance|writes objects)": ("mask --style qwen_xml --schema {}", {"type": "string"}),
    r'only in a grammar with lexing="exact"': ("mask --lexing longest --lark {}", LARK_OF + "{}"),
    r'under lexing="(exact|longest)"': ("report --lexing longest --lark {}", 'start: /"[a-z]*?"/'),
    r", which Grammar\.from_(lark|gbnf) reads": ("mask --lark {}", 'root ::= "a"'),
    r": leave it out; options are those of Grammar\.from_lark": ("mask --lark {}", '%llguidance {"a": 1}\nstart: "a"'),
    r"max_new_tokens = (\d+)": ("generate --model stub --max-tokens 2 --schema {}", PAIR),
    r"max_new_tokens is at least": ("generate --model stub --max-tokens 9223372036854775808 --schema {}", PAIR),
    r": pass eos=\[\.\.\.\] \(ids or names\)": ("mask --regex a --vocabulary {}", {"tokens": ["YQ=="]}),
    r" was written by Vocabulary\.save: use Vocabulary\.load": ("mask --regex a --vocabulary {pipe}", None),
}


def said(run, file, tmp_path: Path, command: str, content: object) -> str:
    """What a command prints, without the name of the file."""
    if content is None:
        import os

        path = tmp_path / "pipe"
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        Vocabulary.builtin().save(tmp_path / "saved")
        writer = threading.Thread(target=lambda: path.write_bytes((tmp_path / "saved").read_bytes()), daemon=True)
        writer.start()
    else:
        path = file("content", content)
    _, out, err = run(*(str(path) if part in ("{}", "{pipe}") else part for part in command.split()))
    return (out + err).replace(str(path), "FILE")


def test_each_phrase_has_its_command() -> None:
    assert list(MESSAGES) == [phrase for phrase, _ in cli_options.WORDS]


@pytest.mark.parametrize("phrase", MESSAGES)
def test_messages_are_in_the_words_of_the_command_line(run, file, tmp_path, monkeypatch, phrase: str) -> None:
    """Each phrase is one that the library says, and nothing of it is left."""
    ours = said(run, file, tmp_path, *MESSAGES[phrase])
    monkeypatch.setattr(cli_options, "WORDS", ())
    theirs = said(run, file, tmp_path, *MESSAGES[phrase])
    assert re.search(phrase, theirs) and not re.search(phrase, ours)
    for python in ("Grammar.from_lark", "=True", "=...", "schema_options", "Limits(", 'lexing="', "style='", "max_new_tokens"):
        assert python not in ours


def test_style_can_write_no_instance(run, file) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^<!</parameter>$"}}, "required": ["a"]}
    code, _, err = run("mask", "--schema", file("s", schema), "--style", "qwen_xml")
    assert code == 2 and "--style qwen_xml can write no instance" in err


def test_what_is_quoted_is_left_as_it_is(run, file) -> None:
    schema = {"type": "string", "pattern": "(a)\\1; lenient=True gives it up"}
    code, _, err = run("mask", "--schema", file("s", schema))
    assert code == 2 and "'(a)\\\\1; lenient=True gives it up'" in err and err.endswith("schema); --lenient gives it up\n")


def test_a_relaxed_limit_in_the_words_of_the_command_line(run, file) -> None:
    """It is given up where patterns overlap in too many ways."""
    schema = {"type": "object", "patternProperties": {f"{letter}": {"maximum": i} for i, letter in enumerate("abcdefghijkl")}}
    code, _, err = run("mask", "--schema", file("s", schema), "--lenient", "--limit", "max_alternative_schemas=20")
    assert code == 0 and "; raise it with --limit max_alternative_schemas=N" in err and "Limits(" not in err


@pytest.mark.parametrize(
    ("command", "content", "place"),
    [
        ("mask --json --schema {}", {"properties": {"a": REFUSED}}, {"pointer": "/properties/a", "keyword": "pattern"}),
        ("mask --json --schema {}", {"type": "x"}, {"pointer": "", "keyword": "type"}),
        ("mask --json --schema {}", '{"a":\n 1 2}', {"line": 2, "column": 4}),
        ("mask --json --lark {}", "start: a\n", {"line": 1, "column": 8}),
        ("mask --json --gbnf {}", 'root ::= "a" (', {"line": 1, "column": 14}),
        ("mask --json --regex (a)\\1", "", {"construct": "back-reference", "line": 1, "column": 4}),
        ("mask --json --limit max_rows=2 --schema {}", PAIR, {"limit": "max_rows", "where": ""}),
        ("mask --json --regex a --vocabulary {}", {"tokens": ["YQ=="]}, {}),
    ],
)
def test_errors_in_json_say_where(run, file, command: str, content: object, place: dict[str, object]) -> None:
    path = file("content", content)
    code, out, err = run(*(path if part == "{}" else part for part in command.split()))
    found = json.loads(out)
    assert code in (2, 3) and err == f"grammar-engine: {found.pop('error')}\n" and found.pop("type").endswith("Error")
    assert found == place


# --- files and folders ----------------------------------------------------------------------------------------------


def test_a_vocabulary_from_a_folder(run, file, tmp_path) -> None:
    """The first of the files by which tokenizers are published."""
    code, _, err = run("mask", "--regex", "a", "--vocabulary", tmp_path)
    told = f"grammar-engine: {tmp_path}: in this folder is no tokenizer.json, tekken.json or tokenizer.model\n"
    assert (code, err) == (2, told)
    table = {"tokens": ["YQ==", "Yg==", ""], "eos": [2]}
    for name, size in (("tokenizer.model", 5), ("tekken.json", 4), ("tokenizer.json", 3)):  # each goes before those there
        file(name, {**table, "tokens": table["tokens"] + [""] * (size - 3)})
        code, out, _ = run("mask", "--regex", "a", "--vocabulary", tmp_path, "--json")
        assert code == 0 and json.loads(out)["size"] == size


@pytest.mark.parametrize(
    ("content", "texts"), [("yes\nno", {"yes", "no"}), ("yes\nno\n", {"yes", "no"}), ("yes\r\nno\r\n", {"yes", "no"}), (" \n", {" "})]
)
def test_choices_are_lines(run, file, content: str, texts: set[str]) -> None:
    found = run("generate", "--choices", file("choices", content), "--count", 40, "--seed", 1, "--json")[1]
    assert {json.loads(line)["text"] for line in found.splitlines()} == texts


@pytest.mark.parametrize(("content", "number"), [("yes\nno\n\n", 3), ("\nyes", 1), ("yes\r\n\r\nno\r\n", 2), ("\n", 1)])
def test_a_blank_line_is_no_choice(run, file, content: str, number: int) -> None:
    code, out, err = run("generate", "--choices", file("choices", content), "--json")
    assert code == 2 and f"choices: line {number} is blank: each line is a choice" in err
    assert (json.loads(out)["line"], json.loads(out)["column"]) == (number, 1)
