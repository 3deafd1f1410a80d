"""Writes docs/json-schema.md from the registry of keywords, the table of formats and the engine's own refusals.

    python tools/make_docs.py            # the package is installed, or built in place with PYTHONPATH=$PWD
    python tools/make_docs.py --check    # exit status 1 if the file would change

Idea. What a table says of a keyword is read off `keywords.py` and `formats.py`. What is refused although its keyword is enforced is shown by
example: each example is compiled here, and the reason in the document is the one that the engine gave. An example that compiles, or a
remark about a keyword that the registry does not have, is an error; so the document cannot fall behind the code in silence.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from grammar_engine import Grammar, SchemaError
from grammar_engine.frontends.json_schema.formats import FORMATS, UNSUPPORTED_FORMATS
from grammar_engine.frontends.json_schema.keywords import REGISTRY, Keyword, Status, Types

TARGET = Path(__file__).parent.parent / "docs" / "json-schema.md"

NAMED = "names a place for `$ref`"
REMARKS = {
    "type": "a name or a list of names",
    "minLength": "code points",
    "maxLength": "code points",
    "pattern": "ECMA-262, matches anywhere unless anchored; meets lengths and `format` by intersection",
    "format": "the table below; an unknown format is an annotation",
    "minimum": "exact decimals, of any size up to 1,000 digits",
    "exclusiveMinimum": "a number, or the boolean of draft 4",
    "exclusiveMaximum": "a number, or the boolean of draft 4",
    "multipleOf": "exact decimals; the automaton has a limited number of states",
    "items": "one schema, or the list of the older drafts",
    "maxItems": "costs nothing until it is reached",
    "uniqueItems": "`false`, or `true` where at most one item is allowed",
    "properties": "in the order of the schema",
    "required": "in the order of `properties`, then in its own",
    "patternProperties": "may overlap with each other and with `properties`",
    "minProperties": "where at most one of the members that it asks for has a free name (free names may repeat)",
    "maxProperties": "counts members as written",
    "$ref": "inside the document; recursion is fine",
    "oneOf": "branches that exclude each other, or that can be excluded from each other",
    "not": "where the negation is a finite list of alternatives",
    "if": "as `not`, for the condition",
    "$schema": "tells the draft; without it, 2020-12 with the spellings of older drafts",
    "$id": NAMED,
    "id": NAMED,
    "$anchor": NAMED,
    "$dynamicAnchor": NAMED,
    "$defs": NAMED,
    "definitions": NAMED,
}

# Keyword, what it is about, a schema that is refused for it.
REFUSED: tuple[tuple[str, str, Any], ...] = (
    ("uniqueItems", "more than one item", {"type": "array", "uniqueItems": True}),
    ("not", "`items` of unbounded arrays", {"not": {"type": "array", "items": {"type": "null"}}}),
    ("not", "a schema for all other keys", {"not": {"additionalProperties": {"type": "null"}}}),
    ("if", "the same in a condition", {"if": {"additionalProperties": {"type": "null"}}, "then": {"required": ["a"]}}),
    (
        "oneOf",
        "closed objects without a required key",
        {"oneOf": [{"properties": {name: True}, "type": "object", "additionalProperties": False} for name in "ab"]},
    ),
    ("multipleOf", "large divisors", {"type": "number", "multipleOf": 123457}),
    ("pattern", "look-around", {"type": "string", "pattern": "(?=a)b"}),
    ("pattern", "back-references", {"type": "string", "pattern": "(a|b)\\1"}),
    ("format", "formats that are known but not regular", {"type": "string", "format": "regex"}),
    ("$ref", "other documents", {"$ref": "https://example.com/other.json"}),
)

STANDARDS = {
    "date": "RFC 3339, with the days of each month",
    "time": "RFC 3339; a leap second where the time in UTC is 23:59",
    "date-time": "RFC 3339; a leap second where the time in UTC is 23:59",
    "duration": "RFC 3339, appendix A",
    "email": "RFC 5321; address literals are IPv4 and IPv6",
    "hostname": "RFC 1123; no `--` in third and fourth place",
    "ipv4": "RFC 2673",
    "ipv6": "RFC 4291",
    "uri": "RFC 3986",
    "uri-reference": "RFC 3986",
    "iri": "RFC 3987",
    "iri-reference": "RFC 3987",
    "uri-template": "RFC 6570",
    "uuid": "RFC 4122",
    "json-pointer": "RFC 6901",
    "relative-json-pointer": "the draft of relative JSON pointers",
}

HEAD = """\
<!-- Written by tools/make_docs.py from the registry of keywords. Change that, or the script, and run it again. -->

# JSON Schema

`Grammar.from_json_schema(schema)` compiles a schema to the grammar of the JSON texts of its instances. The schema is a dict, a bool,
JSON text (`str` or `bytes`), a pydantic model class or a pydantic `TypeAdapter`. Numbers in JSON text keep their exact decimal value.

Every keyword of every draft from 4 to 2020-12 is in one registry, `grammar_engine/frontends/json_schema/keywords.py`, with one of three
verdicts:

- **enforced**: every mask respects it. Some uses of an enforced keyword are refused; see *Refused uses*.
- **annotation**: it constrains nothing, by the standard. It is listed in `grammar.report.annotations`.
- **unsupported**: the schema is refused with `UnsupportedSchemaError`: JSON pointer, keyword, reason. It is not refused where it can have
  no effect, such as `contains` beside `"type": "string"`.

Nothing is dropped in silence. `lenient=True` turns these refusals into entries of `grammar.report.relaxed`; the grammar then admits more than
the schema does. Refused either way: a malformed schema, a reference to another document, numbers of more than 1,000 digits, counts beyond
2^32, and objects whose overlapping patterns or counted members would take too many rules.

```pycon
>>> from grammar_engine import Grammar, Matcher, UnsupportedSchemaError, Vocabulary
>>> schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "title": "ids"}
>>> try:
...     Grammar.from_json_schema(schema)
... except UnsupportedSchemaError as error:
...     print(error)
comparing items with each other is not implemented (at the root of the schema)
>>> print(Grammar.from_json_schema(schema, lenient=True).report)
enforced:
  (root)  type
  (root)  items
  /items  type
relaxed:
  (root)  uniqueItems  comparing items with each other is not implemented
annotations:
  (root)  title

```
"""

MEANING = """\
## What a text looks like

The language is the set of JSON texts of the instances, with these choices of spelling. Each makes the set smaller than what a JSON parser
would read as a valid instance; none makes it larger, but for the last.

- **Order of properties.** As in the schema; then keys that only `required` names; then all others. The keys of a `const` object: as given.
- **Numbers.** Without bounds, in any way that RFC 8259 allows. An integer in plain digits, with a fraction of zeros if any (`5.0`; not in draft
  4), or from 10^16 on in scientific notation (exponents to 9999). A bounded number in plain digits, or with one nonzero digit before the point and an
  exponent. With `multipleOf` there is no exponent. No float is ever involved.
- **Strings.** `escapes="minimal"` (the default): each character in one way, raw where JSON allows it. `escapes="all"`: in every way that RFC 8259
  allows.
- **White space.** `whitespace=`

  | value | between JSON tokens | before and after the value |
  |:--|:--|:--|
  | `"flexible"` (default) | any JSON white space, any amount | the same |
  | `"bounded"` | at most two spaces, or one line end and at most 40 spaces or tabs | none |
  | `"compact"` | none | none |
  | `(item, key)`, such as `(", ", ": ")` | exactly this after each item and each key | none |

  Under `"bounded"` a text has at most 41 bytes of white space (42 with `\\r\\n`) after each bracket, comma, colon, key and scalar.
- **Repeated keys.** A key that the schema names is written once. A key that it does not name may occur twice: RFC 8259 leaves the meaning of
  that open, and no grammar of sensible size can exclude it. `report.notes` says where a schema admits such keys. `minProperties` is refused
  where two of them would have to be told apart; `maxProperties` counts members as written.

```pycon
>>> grammar = Grammar.from_json_schema({"properties": {"a": True, "b": True}, "type": "object"}, whitespace=(", ", ": "))
>>> matcher = Matcher(grammar, Vocabulary.bytes())
>>> matcher.accept_bytes(b'{"a": 1, "b": 2}'), matcher.is_complete
(True, True)
>>> matcher.reset()
>>> matcher.accept_bytes(b'{"b": 2, "a": 1}')
False
>>> print(matcher.explain(b'{"b": 2, "a": 1}'))
byte 11 (b'"') is refused, expected other key

```

## How it works

A schema is normalised to a product over the JSON types: which of null, true and false; and for strings, numbers, arrays and objects a
union of *pieces*, each a conjunction of conditions that stays symbolic. `allOf`, `anyOf`, `oneOf`, `not`, `if` act on each
factor by itself. One level is normalised at a time; what lies inside arrays and objects is a tuple of places to be met, looked at when
it is reached. So recursion through `$ref` stays recursion in the grammar, and the size of the grammar follows the part of the schema
that is reachable. All scalars of one place are one lexeme; patterns, lengths, formats and their complements are combined on the values of
strings and quoted last.

A schema without an instance raises `UnsatisfiableSchemaError`, also where that shows only in the compiled grammar: a pattern and a length that
exclude each other, or an object that requires an object like itself, and so on without end.

```pycon
>>> from grammar_engine import UnsatisfiableSchemaError
>>> for schema in (
...     {"pattern": "^a$", "minLength": 3, "type": "string"},
...     {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]},
... ):
...     try:
...         Grammar.from_json_schema(schema)
...     except UnsatisfiableSchemaError:
...         print("no instance")
no instance
no instance

```
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Write docs/json-schema.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if the file would change")
    text = document()
    if not parser.parse_args().check:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET} is out of date: run python tools/make_docs.py")


def document() -> str:
    names = {keyword.name for keyword in REGISTRY}
    stray = sorted((REMARKS.keys() | {name for name, _, _ in REFUSED}) - names)
    if stray or STANDARDS.keys() != FORMATS.keys():
        sys.exit(f"not in the registry: {stray}; formats that differ: {sorted(STANDARDS.keys() ^ FORMATS.keys())}")
    parts = [HEAD, "## Keywords\n", keyword_table(), "## Refused uses\n", refused_table(), "## Formats\n", format_table(), MEANING]
    return "\n".join(parts)


def keyword_table() -> str:
    counts = {status: sum(keyword.status is status for keyword in REGISTRY) for status in Status}
    lines = [
        f"{counts[Status.ENFORCED]} enforced, {counts[Status.ANNOTATION]} annotations, {counts[Status.UNSUPPORTED]} unsupported. A key that is in no "
        "line of this table is an annotation by the standard, and is reported as one.\n",
        "| keyword | verdict | applies to | drafts | remark |",
        "|:--|:--|:--|:--|:--|",
    ]
    for status in Status:
        for k in REGISTRY:
            if k.status is status:
                remark = k.reason or REMARKS.get(k.name, "")
                lines.append(f"| `{k.name}` | {status.value} | {types_of(k)} | {drafts_of(k)} | {remark} |")
    return "\n".join(lines) + "\n"


def types_of(keyword: Keyword) -> str:
    if keyword.types is Types.ALL:
        return "all"
    return ", ".join(kind.name.lower() for kind in Types if kind is not Types.ALL and kind.name and kind & keyword.types)


def drafts_of(keyword: Keyword) -> str:
    written = {4: "4", 6: "6", 7: "7", 2019: "2019-09", 2020: "2020-12"}
    if keyword.until == 9999:
        return f"from {written[keyword.since]}"
    return written[keyword.since] if keyword.since == keyword.until else f"{written[keyword.since]} to {written[keyword.until]}"


def refused_table() -> str:
    lines = [
        "These schemas are refused although their keywords are enforced. The reasons are the engine's.\n",
        "| keyword | what | example | reason |",
        "|:--|:--|:--|:--|",
    ]
    for keyword, what, schema in REFUSED:
        example = json.dumps(schema).replace("|", "\\|")
        lines.append(f"| `{keyword}` | {what} | `{example}` | {reason_of(schema)} |")
    return "\n".join(lines) + "\n"


def reason_of(schema: Any) -> str:
    try:
        Grammar.from_json_schema(schema)
    except SchemaError as error:
        return error.reason.replace("|", "\\|")
    sys.exit(f"this schema is accepted now, so REFUSED in {__file__} is out of date: {json.dumps(schema)}")


def format_table() -> str:
    lines = [
        "A format is a set of strings, so it meets `pattern` and the lengths. Where a standard asks for more than a regular expression of sensible size "
        "can say, the set is smaller than the standard's, never larger.\n",
        "| format | verdict | meaning |",
        "|:--|:--|:--|",
        *(f"| `{name}` | enforced | {STANDARDS[name]} |" for name in FORMATS),
        *(f"| `{name}` | unsupported | {reason} |" for name, reason in UNSUPPORTED_FORMATS.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
