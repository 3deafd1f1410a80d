"""The hard set: grammars that are known to be slow somewhere, each with one text to walk.

A text is long enough to show a cost that grows with what has been written. It is made, not stored, and the same on every machine: what
looks random is a linear congruence (`spread`).
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

CLIKE = Path(__file__).parent / "cfg" / "clike"


class Row(NamedTuple):
    """`grammar` is of the kind `kind`; `text` makes what is walked.

    `bytewise`: the text is walked byte by byte instead of in the tokens of its usual encoding. `options`: of our `Grammar`. `llguidance`:
    how it writes the same language, if that differs.
    """

    name: str
    kind: str
    grammar: str
    text: Callable[[], str]
    bytewise: bool = False
    options: dict[str, Any] = {}  # noqa: RUF012
    llguidance: str = ""


def _schema(name: str, schema: Any, value: Callable[[], Any], **options: Any) -> Row:
    return Row(name, "json_schema", json.dumps(schema), lambda: json.dumps(value(), ensure_ascii=False), **options)


def spread(n: int, below: int, seed: int = 1) -> Iterator[int]:
    """n numbers from 0 to below - 1 in a fixed irregular order."""
    state = seed
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        yield (state >> 33) % below


WORDS = (
    "amber basin cedar delta ember fjord grove harbor island juniper kettle lantern meadow nectar orchard pebble quartz river saddle "
    "timber umbrella valley willow yellow zephyr against between through without toward already perhaps often seldom never"
).split()


def prose(words: int, seed: int = 1) -> str:
    return " ".join(WORDS[i] for i in spread(words, len(WORDS), seed))


# --- strings of schemas -------------------------------------------------------------------------------------------------


def _uris() -> list[str]:
    return [
        f"https://{WORDS[a % 25]}.{WORDS[b % 25]}.example.org:{8000 + a}/{WORDS[b]}/{WORDS[a]}-{b}%20{a}?{WORDS[a]}={b}&q={WORDS[b]}+{a}#part-{a}"
        if a % 3
        else f"mailto:{WORDS[a]}.{WORDS[b]}@example.net"
        for a, b in zip(spread(40, len(WORDS), 2), spread(40, len(WORDS), 3))
    ]


def _emails() -> list[str]:
    pairs = zip(spread(60, 25, 4), spread(60, 25, 5))
    return [f"{WORDS[a]}.{WORDS[b]}{a * b}+{WORDS[b][:3]}@mail-{a}.{WORDS[b]}.example.co.uk" for a, b in pairs]


def _names() -> list[str]:
    return [
        f"{WORDS[a % 25]}-{WORDS[b]}_{a}{WORDS[a].title()}{b}"[:64] for a, b in zip(spread(80, len(WORDS), 6), spread(80, len(WORDS), 7))
    ]


def _dates() -> list[Any]:
    start = dt.datetime(1996, 2, 29, 3, 4, 5, tzinfo=dt.timezone.utc)
    times = [start + dt.timedelta(seconds=n) for n in spread(80, 1 << 30, 8)]
    return [{"day": t.date().isoformat(), "at": t.isoformat().replace("+00:00", "Z" if t.day % 2 else "+01:30")} for t in times]


def _base64(size: int) -> str:
    return base64.b64encode(bytes(spread(size, 256, 9))).decode()


# --- wide schemas -------------------------------------------------------------------------------------------------------


def _wide_any_of(n: int) -> Any:
    """n objects that are told apart by the second property, after one that all have."""
    return {
        "type": "array",
        "items": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "note": {"type": "string"},
                        "kind": {"const": f"{WORDS[i % 25]} {i}"},
                        f"{WORDS[i * 7 % 25]} {i}": {"type": "integer"},
                    },
                    "required": ["note", "kind", f"{WORDS[i * 7 % 25]} {i}"],
                    "additionalProperties": False,
                }
                for i in range(n)
            ]
        },
    }


def _wide_any_of_value(n: int) -> Any:
    kinds = list(spread(15, n, 10))
    return [{"note": prose(6, i + 1), "kind": f"{WORDS[i % 25]} {i}", f"{WORDS[i * 7 % 25]} {i}": i} for i in kinds]


_OPTIONS: list[tuple[Any, Any]] = [
    ({"enum": ["always", "never", "as-needed", "consistent"]}, "always"),
    (
        {
            "type": "object",
            "properties": {"max": {"type": "integer", "minimum": 0}, "ignore": {"type": "array", "items": {"type": "string"}}},
        },
        {"max": 12, "ignore": ["a", "b"]},
    ),
    (
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
        80,
    ),
]


def _rule_name(i: int) -> str:
    return f"{WORDS[i % 25]}-{WORDS[i // 25 % 25]}-{i}"


def _rules(n: int) -> Any:
    """A configuration in the manner of linters: n optional rules, each a level, or a level with options that differ from rule to rule."""
    level = {"anyOf": [{"enum": [0, 1, 2]}, {"enum": ["off", "warn", "error"]}]}
    tuples = [{"type": "array", "prefixItems": [level, schema], "items": False, "minItems": 1} for schema, _ in _OPTIONS]
    rules = {_rule_name(i): {"anyOf": [level, tuples[i % 3], tuples[(i + 1) % 3]]} for i in range(n)}
    return {"type": "object", "properties": rules, "additionalProperties": False}


def _rules_value(n: int) -> Any:
    return {_rule_name(i): "off" if i % 7 == 0 else ["error", _OPTIONS[i % 3][1]] for i in range(0, n, 4)}


def _optional(n: int, additional: bool) -> Any:
    kinds: list[Any] = [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]
    properties = {f"{WORDS[i % len(WORDS)]}_{i}": kinds[i % 3] for i in range(n)}
    return {"type": "object", "properties": properties, "additionalProperties": additional}


def _optional_value(n: int) -> Any:
    values = ["some text", 12, True]
    return {f"{WORDS[i % len(WORDS)]}_{i}": values[i % 3] for i in range(0, n, 7)}


_RECORDS: Any = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 0},
            "name": {"type": "string", "maxLength": 80},
            "tags": {"type": "array", "items": {"enum": WORDS}},
            "place": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x", "y"]},
            "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        },
        "required": ["id", "name", "tags", "place"],
    },
}


def _records(size: int) -> Any:
    """Records whose text is about `size` bytes long."""
    made, written = [], 0
    for i in range(size):
        if written > size:
            break
        made.append(
            {
                "id": i * 37,
                "name": prose(3, i + 1).title(),
                "tags": WORDS[i % 20 : i % 20 + i % 5],
                "place": {"x": i / 8, "y": -i / 16},
                "note": prose(12, i + 2) if i % 3 else None,
            }
        )
        written += len(json.dumps(made[-1])) + 2
    return made


# --- grammars -----------------------------------------------------------------------------------------------------------

_RIGHT = """start: NUMBER | NUMBER "," start
NUMBER: /[0-9]+/
"""

# As grammars for llama.cpp write them.
_BY_CHARACTERS = r"""
start: value
value: object | array | string | NUMBER | "true" | "false" | "null"
object: "{" [string ":" value ("," string ":" value)*] "}"
array: "[" [value ("," value)*] "]"
string: "\"" char* "\""
char: /[^"\\\x00-\x1f]/ | "\\" /["\\\/bfnrt]/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?/
%ignore " "
"""
_AMBIGUOUS = """start: s
s: s s | "a"
"""

# Text up to a stop string, then a tail.
_LAZY = """start: text "ok"
text[lazy]: /(.|\\n)*<\\/answer>/
"""

# What "some way of cutting" makes of the same: a text that goes on after the stop string is as good. A scanner needs one terminal for it.
_FREE = """start: TEXT "</answer>"
TEXT: /(.|\\n)*/
"""
_FREE_LLGUIDANCE = """start: TEXT
TEXT: /(.|\\n)*<\\/answer>/
"""

_MATRYOSHKA = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {"type": "object", "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/node"}}, "required": ["name"]}
    },
}

_WORD_COUNT = {"type": "string", "pattern": r"^(?:\S+\s+){0,99}\S+$", "maxLength": 1000}
_MANY = 50_000


def _program() -> str:
    return "\n".join(path.read_text() for path in sorted(CLIKE.glob("right-*.txt")))


def rows() -> list[Row]:
    choices = [f"{WORDS[i % len(WORDS)]} {i * 7919 % 1_000_003:06d}" for i in range(_MANY)]
    return [
        _schema("100 words, maxLength 1000", _WORD_COUNT, lambda: prose(99)),
        _schema("format uri", {"type": "array", "items": {"type": "string", "format": "uri"}}, _uris),
        _schema("format email", {"type": "array", "items": {"type": "string", "format": "email"}}, _emails),
        _schema(
            "multipleOf 0.01",
            {"type": "array", "items": {"type": "number", "multipleOf": 0.01}},
            lambda: [n / 100 for n in spread(80, 10_000_000, 11)],
        ),
        _schema("anyOf of 1,000 objects", _wide_any_of(1000), lambda: _wide_any_of_value(1000)),
        _schema("300 rules of anyOf", _rules(300), lambda: _rules_value(300)),
        _schema("3,000 optional properties", _optional(3000, False), lambda: _optional_value(3000)),
        _schema("3,000 optional properties, open", _optional(3000, True), lambda: _optional_value(3000)),
        _schema(
            "maxItems 200,000",
            {"type": "array", "items": {"type": "integer"}, "maxItems": 200_000},
            lambda: list(spread(50_000, 1000, 12)),
        ),
        _schema("maxLength 10,000", {"type": "string", "maxLength": 10_000}, lambda: prose(2000, 13)[:10_000]),
        Row("right recursion, 10,000 deep", "lark", _RIGHT, lambda: ",".join(map(str, spread(10_000, 100, 14)))),
        _schema("enum of 50,000", {"type": "array", "items": {"enum": choices}}, lambda: [choices[i] for i in spread(40, _MANY, 15)]),
        Row("lazy text of 10,000 tokens", "lark", _LAZY, lambda: prose(8000, 16) + "</answer>ok"),
        Row("free text of 10,000 tokens", "lark", _FREE, lambda: prose(8000, 17) + "</answer>", llguidance=_FREE_LLGUIDANCE),
        Row("nested arrays, 3,000 deep", "json_schema", "{}", lambda: "[ " * 3000 + "1" + " ]" * 3000),
        Row(
            "nested objects, 3,000 deep",
            "json_schema",
            json.dumps(_MATRYOSHKA),
            lambda: '{"name": "a", "child": ' * 2999 + '{"name": "a"}' + "}" * 2999,
        ),
        Row("ambiguous: s s | a", "lark", _AMBIGUOUS, lambda: "a" * 500, bytewise=True),
        Row("JSON, strings by characters", "lark", _BY_CHARACTERS, lambda: json.dumps([prose(12, seed) for seed in range(40)])),
        _schema("[a-zA-Z0-9_-]{1,64}", {"type": "array", "items": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}}, _names),
        _schema(
            "base64, unbounded",
            {"type": "string", "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
            lambda: _base64(10_000),
        ),
        _schema(
            "ISO dates",
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"day": {"type": "string", "format": "date"}, "at": {"type": "string", "format": "date-time"}},
                    "required": ["day", "at"],
                },
            },
            _dates,
        ),
        _schema("1 MB of JSON, any", {}, lambda: _records(1_000_000)),
        _schema("1 MB of JSON, records", _RECORDS, lambda: _records(1_000_000)),
        Row("C-like, 2,000 tokens", "lark", (CLIKE / "grammar.lark").read_text(), _program),
    ]
