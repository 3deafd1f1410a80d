"""The JSON-Schema-Test-Suite as cases, and what the engine says of each.

Idea. A case is one schema and one instance. The suite says whether the instance is valid; the engine either refuses the schema when it is
compiled, by name, or accepts or refuses the text of the instance. That gives five verdicts:

    RIGHT              accepted and valid, or refused and invalid
    REFUSED            the schema is refused when it is compiled: pointer, keyword and reason, or a named limit
    WRONGLY_REFUSED    valid, and refused
    WRONGLY_ACCEPTED   invalid, and accepted
    MALFORMED          the schema is said to be no schema

An instance is written with its numbers as the file of the suite spells them (`1.0`, `1e308`), and as `json.dumps` writes it, where that is
the same value. The worse of both is the verdict.

Schemas are handed over as the suite spells them too, so no number is rounded on the way.
"""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from data_folder import DATA
from grammar_engine import Grammar, Matcher, Vocabulary
from grammar_engine.errors import LimitExceededError, SchemaError, UnsatisfiableSchemaError, UnsupportedSchemaError

ARCHIVE = DATA / "json-schema-test-suite.tar.xz"
DRAFTS = ("draft2020-12", "draft2019-09")
REMOTES = "http://localhost:1234/"  # where the suite expects the files of its folder `remotes`

BYTES = Vocabulary.bytes()


class Verdict(Enum):
    """See the top of this file."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONGLY_REFUSED = "wrongly refused"
    WRONGLY_ACCEPTED = "wrongly accepted"
    MALFORMED = "malformed"


class Case(NamedTuple):
    """One case and its verdict. `keyword` and `detail` tell of a schema that was refused, else of the text."""

    name: str
    verdict: Verdict
    keyword: str
    detail: str


class Number(str):
    """A number as a file spells it."""


@cache
def members() -> Mapping[str, bytes]:
    """The files of the archive by their path in it; empty where the archive is absent."""
    if not ARCHIVE.exists():
        return {}
    with tarfile.open(ARCHIVE) as archive:
        return {member.name.removeprefix("./"): archive.extractfile(member).read() for member in archive if member.isfile()}


def files() -> list[str]:
    """The files of cases, such as `draft2020-12/optional/format/date.json`."""
    found = [path.removeprefix("tests/") for path in members() if path.startswith("tests/") and path.endswith(".json")]
    return sorted(path for path in found if path.startswith(DRAFTS))


@cache
def resources() -> Mapping[str, Any]:
    """The schemas that the suite expects to be served, by URI."""
    return {
        REMOTES + path.removeprefix("remotes/"): json.loads(text)
        for path, text in members().items()
        if path.startswith("remotes/") and path.endswith(".json")
    }


@cache
def judge(file: str) -> tuple[Case, ...]:
    """The cases of a file with their verdicts."""
    groups = json.loads(members()[f"tests/{file}"], parse_int=Number, parse_float=Number)
    formats = "known" if "/optional/format" in file else "annotation"  # as the suite has it: by default they say nothing
    return tuple(case for group in groups for case in _judge_group(group, formats))


def _judge_group(group: Any, formats: str) -> Iterator[Case]:
    grammar: Grammar | None = None
    refused: tuple[Verdict, str, str] | None = None
    try:
        grammar = compile_schema(spell(group["schema"]), formats)
    except UnsupportedSchemaError as error:
        assert error.keyword and error.reason, f"refused without a name: {error}"
        refused = Verdict.REFUSED, error.keyword, str(error)
    except LimitExceededError as error:
        refused = Verdict.REFUSED, error.limit, str(error)
    except UnsatisfiableSchemaError:
        pass  # no text is accepted
    except SchemaError as error:
        refused = Verdict.MALFORMED, error.keyword or "", str(error)
    for test in group["tests"]:
        name = f"{group['description']}: {test['description']}"
        if refused:
            yield Case(name, *refused)
        else:
            texts = spellings(spell(test["data"]))
            yield Case(name, _verdict(grammar, texts, test["valid"]), "", texts[0])


def _verdict(grammar: Grammar | None, texts: list[str], valid: bool) -> Verdict:
    answers = {grammar is not None and accepts(grammar, text) for text in texts}
    if answers == {valid}:
        return Verdict.RIGHT
    return Verdict.WRONGLY_REFUSED if valid else Verdict.WRONGLY_ACCEPTED


def compile_schema(text: str, formats: str) -> Grammar:
    """With the options under which every text of an instance is a sentence."""
    return Grammar.from_json_schema(text, property_order="any", number_style="any", escapes="all", formats=formats, resources=resources())


def accepts(grammar: Grammar, text: str) -> bool:
    """Whether a text is a sentence."""
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_complete


def spellings(text: str) -> list[str]:
    """A JSON text, and what `json.dumps` makes of it if no number is rounded on the way."""
    dumped = json.dumps(json.loads(text))
    return [text, dumped] if dumped != text and _exact(dumped) == _exact(text) else [text]


def _exact(text: str) -> Any:
    return json.loads(text, parse_int=Decimal, parse_float=Decimal)


def spell(value: Any) -> str:
    """JSON text, with each `Number` as it was spelt. Lone surrogates are escaped, all else is raw."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quote(key)}: {spell(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(spell, value)) + "]"
    if isinstance(value, Number):
        return str(value)
    return _quote(value) if isinstance(value, str) else json.dumps(value)


def _quote(text: str) -> str:
    raw = json.dumps(text, ensure_ascii=False)
    return raw if raw.isascii() or text.encode("utf-8", "ignore").decode() == text else json.dumps(text)


COUNTED = (Verdict.RIGHT, Verdict.REFUSED, Verdict.WRONGLY_REFUSED, Verdict.WRONGLY_ACCEPTED)


def counts_of_files() -> dict[str, dict[str, int]]:
    """How many cases of each file have each verdict, all drafts together; verdicts that do not occur are left out."""
    total: dict[str, Counter[str]] = {}
    for file in files():
        counts = Counter(case.verdict.value for case in judge(file))
        total.setdefault(file.split("/", 1)[1].removesuffix(".json"), Counter()).update(counts)
    return {file: dict(sorted(counts.items())) for file, counts in sorted(total.items())}


def table() -> str:
    """Markdown: one row for each file, all drafts together, and the sums."""
    counts = counts_of_files()
    total: Counter[str] = Counter()
    for each in counts.values():
        total.update(each)
    head = ["file", "cases", *(verdict.value for verdict in COUNTED)]
    lines = ["| " + " | ".join(head) + " |", "|:--|" + "--:|" * (len(head) - 1)]
    for name, each in [*counts.items(), ("all", total)]:
        numbers = [sum(each.values()), *(each.get(verdict.value, 0) for verdict in COUNTED)]
        lines.append(f"| {name} | " + " | ".join(str(number or "") for number in numbers) + " |")
    return "\n".join(lines)
