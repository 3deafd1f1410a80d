"""The options of the command line that the library has too: of grammars, limits and vocabularies.

What belongs where. Here: the arguments of constructors as options, what is made of them, and what the library says of its arguments in the
words of the command line. In `cli`: the commands, what they print, their exit codes. Nothing is printed here.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .checks import check_number
from .errors import GrammarError, VocabularyError
from .limits import Limits
from .report import Report
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    from .grammar import Grammar

CHOICES = {  # of the options of JSON Schemas: what they may be, and what for; the first is the default
    "property_order": (("schema", "any"), "order of the keys of objects (default: schema)"),
    "number_style": (("canonical", "any"), "how numbers may be spelt: as models write them, or as JSON allows (default: canonical)"),
    "escapes": (("minimal", "all"), "how characters of strings may be spelt: in one way each, or as JSON allows (default: minimal)"),
    "formats": (("known", "strict", "annotation"), "enforce known formats, refuse others, or enforce none (default: known)"),
    "discriminators": (("annotation", "required"), "whether objects have the key that a discriminator names (default: annotation)"),
    "style": (
        (
            "json",
            "qwen_xml",
            "minimax_xml",
            "minimax_m3_xml",
            "glm_xml",
            "deepseek_xml",
            "deepseek_v4_1_xml",
            "kimi_k3_xml",
            "cohere_xml",
        ),
        "JSON, or an object as parameters in XML (default: json)",
    ),
}
FLAGS = ("unique_keys", "closed", "nullable", "lenient")
_OF_LIBRARY = ("whitespace", *CHOICES, *FLAGS)
SCHEMA_OPTIONS = (*_OF_LIBRARY, "any_spelling")
ANY_SPELLING = {"property_order": "any", "number_style": "any", "escapes": "all"}
TOKENIZER_FILES = ("tokenizer.json", "tekken.json", "tokenizer.model")  # of a folder, the first that is there

WORDS = (  # what messages of the library say to who writes Python, and what that is here; \1 is what stands in brackets
    (r"; lenient=True gives it up", "; --lenient gives it up"),
    (r"as closed=True has it", "as --closed has it"),
    (r"; raise it with Limits\((\w+)=\.\.\.\)", r"; raise it with --limit \1=N"),
    (r'with discriminators="required"', "with --discriminators required"),
    (r"; the options of schemas are `schema_options`", ""),
    (r"; its options are `schema_options`", ""),
    (
        r"; give that schema in `resources`, by its URI \(nothing is fetched\)",
        "; the command line reads one document: from Python, `Grammar.from_json_schema` takes others as `resources` (nothing is fetched)",
    ),
    (r"; give it in `resources`, or name a draft", "; name a draft, or, from Python, give it as `resources`"),
    (r"style='(\w+)' (can write no instance|writes objects)", r"--style \1 \2"),
    (r'only in a grammar with lexing="exact"', "only in a grammar with --lexing exact"),
    (r'under lexing="(exact|longest)"', r"under --lexing \1"),
    (r", which Grammar\.from_(lark|gbnf) reads", r", for --\1"),
    (r": leave it out; options are those of Grammar\.from_lark", ": leave it out"),
    (r"max_new_tokens = (\d+)", r"--max-tokens \1"),
    (r"max_new_tokens is at least", "--max-tokens is at least"),
    (r": pass eos=\[\.\.\.\] \(ids or names\)", "; from Python, `Vocabulary.from_file(..., eos=[...]).save(...)` writes a file that does"),
    (r" was written by Vocabulary\.save: use Vocabulary\.load", " was written by Vocabulary.save, which is read from a file only"),
)


# --- arguments ------------------------------------------------------------------------------------------------------


def add_grammar(parser: argparse.ArgumentParser) -> None:
    """The options that say what the grammar is."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--schema", metavar="FILE", help="JSON Schema")
    source.add_argument("--regex", metavar="PATTERN", help="regular expression that the whole text matches")
    source.add_argument("--lark", metavar="FILE", help="Lark grammar")
    source.add_argument("--gbnf", metavar="FILE", help="grammar in GBNF, the language of llama.cpp")
    source.add_argument("--structural-tag", metavar="FILE", help="structural tag, as requests to servers have it")
    source.add_argument("--choices", metavar="FILE", help="one text per line")
    parser.add_argument("--start", metavar="RULE", help="start rule of the grammar (default: start; in GBNF root)")
    parser.add_argument("--lexing", choices=("exact", "longest"), help="how a Lark grammar cuts texts into terminals (default: exact)")
    parser.add_argument(
        "--special-token",
        action="append",
        type=_name,
        metavar="NAME",
        help="where texts of the structural tag, or what a --style writes, have this name, it is the special token of the vocabulary; "
        "repeatable",
    )
    parser.add_argument("--dialect", choices=("python", "ecma"), help="of the regular expression (default: python)")
    parser.add_argument(
        "--limit", action="append", type=_limit, metavar="NAME=N", help="another value of a limit that `info` lists; repeatable"
    )
    schemas = parser.add_argument_group("JSON Schemas, also those in Lark grammars and structural tags")
    schemas.add_argument(
        "--whitespace",
        type=_whitespace,
        metavar="flexible|bounded|compact|N|PATTERN",
        help="white space between tokens of JSON: any, a bounded amount, none, at most N characters, or what a regular expression matches "
        "(default: flexible; for generate compact, or what the model has learnt)",
    )
    for name, (choices, description) in CHOICES.items():
        schemas.add_argument(option_of(name), choices=choices, help=description)
    schemas.add_argument("--unique-keys", action="store_const", const=True, help="no key occurs twice in an object")
    schemas.add_argument("--closed", action="store_const", const=True, help="objects have no keys but those that the schema names")
    schemas.add_argument(
        "--nullable", action="store_const", const=True, help="`nullable: true` beside `type` admits null, as in OpenAPI 3.0"
    )
    schemas.add_argument(
        "--lenient",
        action="store_const",
        const=True,
        help="drop what a schema asks for and cannot be enforced, and say so, instead of refusing it",
    )


def add_vocabulary(parser: argparse.ArgumentParser) -> None:
    """The option that says what the vocabulary is."""
    parser.add_argument(
        "--vocabulary",
        metavar="PATH",
        help="tokenizer.json, Tekken JSON, .model, a table, what Vocabulary.save wrote, or a folder with one of the first three "
        "(default: the built-in one)",
    )


def option_of(name: str) -> str:
    """How an option is written: `--unique-keys`."""
    return f"--{name.replace('_', '-')}"


def seed(text: str) -> int:
    """A number from 0 on."""
    return _at_least(0, text)


def natural(text: str) -> int:
    """A number from 1 on."""
    return _at_least(1, text)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is not at least {least}")
    return number


def temperature(text: str) -> float:
    """A number of at least 0, with a point or without."""
    try:
        return check_number("a temperature", float(text), 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of at least 0") from None


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("an empty text is no name")
    return text


def _whitespace(text: str) -> str | int:
    from .frontends.json_schema import Options  # here, as few commands need the front end for schemas

    whitespace = int(text) if text.isdecimal() else text
    try:
        Options(whitespace).check()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return whitespace


def _limit(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    names = [field.name for field in fields(Limits)]
    if name not in names:
        raise argparse.ArgumentTypeError(f"there is no limit {name!r}; limits are {', '.join(names)}")
    try:
        return name, getattr(Limits(**{name: int(value)}), name)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{name} is a whole number from 1 to 2**64 - 1, not {value!r}") from None


# --- what is made of them -------------------------------------------------------------------------------------------


def read_source(options: argparse.Namespace) -> str:
    """The text of the grammar."""
    return options.regex if options.regex is not None else read_text(file_of(options) or "")


def file_of(options: argparse.Namespace) -> str | None:
    """The file of the grammar, where it is in one."""
    given = (options.schema, options.lark, options.gbnf, options.structural_tag, options.choices)
    return next((name for name in given if name is not None), None)


def grammar_of(
    options: argparse.Namespace, source: str, whitespace: str | tuple[str, str] = "flexible", *, any_spelling: bool = False
) -> Grammar:
    """The grammar of a text; what no option says about JSON Schemas is as in the library, but for the white space."""
    from .grammar import Grammar

    limits = Limits(**dict(options.limit or ()))
    of_schemas: dict[str, Any] = {"whitespace": whitespace, **(ANY_SPELLING if any_spelling else {})}
    of_schemas.update({name: value for name in _OF_LIBRARY if (value := getattr(options, name)) is not None})
    names = options.special_token or ()
    if options.schema is not None:
        return Grammar.from_json_schema(source, special_tokens=names, limits=limits, **of_schemas)
    if options.regex is not None:
        return Grammar.from_regex(source, dialect=options.dialect or "python", limits=limits)
    if options.lark is not None:
        start, lexing = options.start or "start", options.lexing or "exact"
        of_schemas["special_tokens"] = names
        return Grammar.from_lark(source, start=start, lexing=lexing, schema_options=of_schemas, limits=limits)
    if options.gbnf is not None:
        return Grammar.from_gbnf(source, start=options.start or "root", limits=limits)
    if options.structural_tag is not None:
        return Grammar.from_structural_tag(source, special_tokens=names, schema_options=of_schemas, limits=limits)
    return Grammar.from_choices(_lines(source), limits=limits)


def has_schemas(options: argparse.Namespace, source: str) -> bool:
    """Whether there may be a JSON Schema in the grammar."""
    return options.schema is not None or options.structural_tag is not None or (options.lark is not None and "%json" in source)


def _lines(source: str) -> list[str]:
    """The lines of a text, the last of which needs no end; none is blank."""
    lines, at = source.removesuffix("\n").split("\n") if source else [], 0  # and nowhere else: str.splitlines knows ten ends of a line
    for number, line in enumerate(lines, 1):
        if line in ("", "\r"):
            raise GrammarError(f"line {number} is blank: each line is a choice, and the empty text is none", source=source, offset=at)
        at += len(line) + 1
    return [line.removesuffix("\r") for line in lines]


def vocabulary_of(options: argparse.Namespace) -> Vocabulary:
    """The vocabulary of a file or a folder, or the built-in one."""
    path = options.vocabulary
    if path is None:
        return Vocabulary.builtin()
    from .vocabularies.files import is_saved

    if os.path.isdir(path):
        found = [inside for name in TOKENIZER_FILES if os.path.isfile(inside := os.path.join(path, name))]
        if not found:
            raise VocabularyError(f"{path}: in this folder is no {', '.join(TOKENIZER_FILES[:-1])} or {TOKENIZER_FILES[-1]}")
        path = found[0]
    return Vocabulary.load(path) if is_saved(path) else Vocabulary.from_file(path)


def read_bytes(name: str) -> bytes:
    """The content of a file, or of standard input."""
    if name != "-":
        try:
            return Path(name).read_bytes()
        except OSError as error:
            error.filename = name  # of what can be opened and not be read there is none
            raise
    if sys.stdin is None:
        raise OSError("the standard input is closed")
    return sys.stdin.buffer.read()


def read_text(name: str) -> str:
    """The same as text, without the byte order mark that some editors put first."""
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GrammarError(f"not UTF-8: byte {error.start} ({error.reason})") from None


# --- what the library says ------------------------------------------------------------------------------------------


def in_words(message: str) -> str:
    """A message of the library in the words of the command line. Of each phrase it is the last one, as what is quoted stands before it."""
    for phrase, words in WORDS:
        *_, found = (None, *re.finditer(phrase, message))
        if found is not None:
            message = message[: found.start()] + found.expand(words) + message[found.end() :]
    return message


def report_of(grammar: Grammar) -> Report:
    """The report of a grammar in the words of the command line."""
    lists = {field.name: getattr(grammar.report, field.name) for field in fields(Report)}
    return Report(**{name: [entry._replace(detail=in_words(entry.detail)) for entry in entries] for name, entries in lists.items()})


def place_of(error: Exception) -> dict[str, Any]:
    """What an error knows beside its message: where it is, and what it is about."""
    names = ("pointer", "keyword", "construct", "limit", "where", "line", "column")
    place = {name: value for name in names if (value := getattr(error, name, None)) is not None}
    if "line" in place:  # of text, which has no pointers
        place.pop("pointer", None)
    return place
