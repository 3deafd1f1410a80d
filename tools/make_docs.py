"""Writes docs/json-schema.md from the registry of keywords, the table of formats, counted figures and the engine's own refusals.

    python tools/make_docs.py            # the package is installed, or built in place with PYTHONPATH=$PWD
    python tools/make_docs.py --check    # exit status 1 if the file would change

Idea. What a table says of a keyword is read off `keywords.py` and `formats/`, and its figures off `keyword_figures.json`, which
`keyword_figures.py` counts where the data are. What is refused although its keyword is enforced is shown by
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
from grammar_engine.frontends.json_schema.reading.keywords import REGISTRY, Keyword, Status, Types
from grammar_engine.frontends.json_schema.scalars.formats import FORMATS, NARROWED

TARGET = Path(__file__).parent.parent / "docs" / "json-schema.md"
FIGURES = json.loads((Path(__file__).parent / "keyword_figures.json").read_text(encoding="utf-8"))

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
    "multipleOf": "exact decimals of any size, with any bounds; of several steps the least common multiple, of up to 1,000 digits but for zeros at the end",
    "items": "one schema, or the list of the older drafts",
    "maxItems": "costs nothing until it is reached",
    "uniqueItems": "numbers are equal by value (`1` and `1.0`), strings by their characters, objects by their members in any order; see *Repeated keys*",
    "contains": "an item that is not counted may match too, unless `maxContains` bounds them",
    "unevaluatedItems": "by the branches of `anyOf`, `oneOf`, `if` that the array meets; `contains` evaluates from 2020-12 on",
    "properties": "in the order of the schema, or in any: see *Options*",
    "required": "in the order of `properties`, then in its own",
    "dependentRequired": "what it names alone comes among keys that have no name, in any order, unless `minProperties` or a negation of "
    "`additionalProperties` stands beside it",
    "patternProperties": "may overlap with each other and with `properties`; n patterns that overlap in all ways make 2<sup>n</sup> classes of keys, "
    "of which `max_alternative_schemas` allows those of 9; patterns with schemas that are written alike count as one",
    "minProperties": "where it asks for two keys that are not named, or more, no key occurs twice",
    "maxProperties": "a key that occurs twice counts twice; see *Repeated keys*",
    "unevaluatedProperties": "by the branches of `anyOf`, `oneOf`, `if` that the object meets",
    "$ref": "inside the document, to the metaschemas and to the documents in `resources`; recursion is fine; one with `#` that leads nowhere in the "
    "nearest schema with an identifier is read as relative to the root, and `report.notes` says so",
    "$dynamicRef": "by the dynamic scope, as far as a reference can reach it",
    "$recursiveRef": "the same",
    "oneOf": "branches may overlap: each is met without the others",
    "not": "any schema that is not refused below",
    "if": "as `not`, for the condition",
    "$schema": "tells the draft; without it, or with another one, 2020-12 with the spellings of older drafts, and a note in the report of another one",
    "$id": NAMED,
    "id": NAMED,
    "$anchor": NAMED,
    "$dynamicAnchor": NAMED,
    "$defs": NAMED,
    "definitions": NAMED,
}

# The files of the official suite that test a keyword, where it is not the one of its name.
TESTED_BY = {
    "$schema": ["optional/no-schema", "optional/cross-draft"],
    "$id": ["optional/id"],
    "$anchor": ["anchor", "optional/anchor"],
    "$defs": ["defs"],
    "$vocabulary": ["vocabulary"],
    "$ref": ["ref", "refRemote", "infinite-loop-detection", "optional/refOfUnknownKeyword"],
    "$dynamicRef": ["dynamicRef", "optional/dynamicRef"],
    "$recursiveRef": ["recursiveRef"],
    "type": ["type", "optional/bignum"],
    "pattern": ["pattern", "optional/ecmascript-regex", "optional/non-bmp-regex"],
    "multipleOf": ["multipleOf", "optional/float-overflow"],
    "dependencies": ["optional/dependencies-compatibility"],
    "if": ["if-then-else"],
    "then": ["if-then-else"],
    "else": ["if-then-else"],
    "contentEncoding": ["content"],
    "contentMediaType": ["content"],
    "contentSchema": ["content"],
}

# Keyword, what it is about, a schema that is refused for it.
REFUSED: tuple[tuple[str, str, Any], ...] = (
    (
        "uniqueItems",
        "arrays or objects, of which there may be too few that differ",
        {"prefixItems": [{"type": "array"}, {"const": []}], "uniqueItems": True},
    ),
    (
        "uniqueItems",
        "objects with keys that are not named, of which there are more than 256, but not 2,147,483,648",
        {"items": {"patternProperties": {"^[ab]{9}$": {}}, "additionalProperties": False}, "uniqueItems": True},
    ),
    (
        "uniqueItems",
        "positions with few values in common, beside `contains` that counts",
        {"prefixItems": [{"const": 1}], "items": {"type": "integer"}, "uniqueItems": True, "contains": {"const": 5}, "maxContains": 1},
    ),
    (
        "uniqueItems",
        "positions with values in common, and few values, not listed or to be shared out in over 50,000 ways",
        {
            "prefixItems": [{"type": "string", "pattern": "^a?$"}, {"type": "string", "maxLength": 0}],
            "items": False,
            "uniqueItems": True,
        },
    ),
    (
        "uniqueItems",
        "few integers of draft 4 beside numbers that are none",
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "items": {"anyOf": [{"type": "integer", "enum": [1, 2]}, {"not": {"type": "integer"}, "enum": [1, 2, 3]}]},
            "uniqueItems": True,
        },
    ),
    (
        "not",
        "`uniqueItems` (two items are equal) beside a bound of the length, items that are counted, or objects with such keys",
        {"type": "array", "maxItems": 9, "not": {"uniqueItems": True}},
    ),
    (
        "pattern",
        "look-aheads in some repeats, look-behinds that see beyond their branch: [regex.md](regex.md)",
        {"type": "string", "pattern": "^((?!ab).)*b"},
    ),
    ("pattern", "back-references", {"type": "string", "pattern": "(a|b)\\1"}),
    ("$ref", "documents that are not given", {"$ref": "https://example.com/other.json"}),
)

STANDARDS = {
    "date": "RFC 3339, with the days of each month",
    "time": "RFC 3339; a leap second where the time in UTC is 23:59",
    "date-time": "RFC 3339; a leap second where the time in UTC is 23:59",
    "duration": "RFC 3339, appendix A",
    "email": "RFC 5321; address literals are IPv4 and IPv6",
    "hostname": "RFC 1123; A-labels, and so hyphens in places 3 and 4, as in RFC 5891",
    "ipv4": "RFC 2673",
    "ipv6": "RFC 4291",
    "uri": "RFC 3986",
    "uri-reference": "RFC 3986",
    "iri": "RFC 3987",
    "iri-reference": "RFC 3987",
    "uri-template": "RFC 6570, with the apostrophe",
    "uuid": "RFC 4122",
    "json-pointer": "RFC 6901",
    "relative-json-pointer": "the draft of relative JSON pointers, without the shifts of an index (`0-1`) that later ones add",
    "idn-email": "RFC 6531, with domains in any normalisation form",
    "idn-hostname": "RFC 5890 to 5893; characters as in Unicode 14",
    "regex": "ECMA-262, edition of 2025, with the flag u; names of properties as in Unicode 17",
}

COUNTED = {Status.ENFORCED: "enforced", Status.ANNOTATION: "annotations"}

HEAD = """\
<!-- Written by tools/make_docs.py from the registry of keywords. Change that, or the script, and run it again. -->

# JSON Schema

`Grammar.from_json_schema(schema)` compiles a schema to the grammar of the JSON texts of its instances. The schema is a dict, a bool, JSON
text (`str` or `bytes`), a pydantic model class, or a pydantic `TypeAdapter` of a dataclass or another type. Numbers in JSON text keep their
exact decimal value. A dict may hold the same object in many places, or itself: each object is read once.

Every keyword of every draft from 4 to 2020-12 is in one registry, `grammar_engine/frontends/json_schema/reading/keywords.py`, with a
verdict:

- **enforced**: every mask respects it. Some uses of an enforced keyword are refused; see *Refused uses*.
- **annotation**: it constrains nothing, by the standard. It is listed in `grammar.report.annotations`.

What cannot be enforced is refused with `UnsupportedSchemaError`, which tells JSON pointer, keyword and reason, or with
`LimitExceededError`, which tells the limit. Nothing is dropped in silence, and nothing is refused that can have no effect, such as a hard
`pattern` beside `"type": "integer"`. A keyword that can have no effect and whose value is none that it may have, such as `"required": true`
beside `"type": "string"`, is not among what is enforced: `grammar.report.notes` tells of it. (`format`, `$defs`, `unevaluated*` and what
holds schemas for the same place, as `not` and `dependentSchemas` do, are looked at wherever they stand: such a value is a `SchemaError`.)

```pycon
>>> from grammar_engine import Grammar, Matcher, UnsupportedSchemaError, Vocabulary
>>> schema = {"type": "string", "minLength": 2, "pattern": "^(.)\\\\1", "title": "twice the same letter"}
>>> try:
...     Grammar.from_json_schema(schema)
... except UnsupportedSchemaError as error:
...     print(error)
unsupported in a regular expression: back-reference: what a group matched cannot be matched again, in '^(.)\\\\1' (`pattern` at the root of the schema); lenient=True gives it up
>>> print(Grammar.from_json_schema(schema, lenient=True).report)
enforced:
  (root)  type
  (root)  minLength
relaxed:
  (root)  pattern  unsupported in a regular expression: back-reference: what a group matched cannot be matched again, in '^(.)\\\\1'
annotations:
  (root)  title

```
"""

FORMATS_TOLD = """\
A format is a set of strings, so it meets `pattern` and the lengths. Each but `idn-email` is exactly what its standard defines. As the
official suite has it, `idn-email` also reads domains in other normalisation forms than C, and takes them for what form C makes of them.
Some of these are left out, as *not all* in the table says, and `report.notes` of a schema that uses the format. They belong neither to the
format nor to its negation.

Internationalised host names (`idn-hostname`, `idn-email`) remember what was read of a label, since its A-label is bounded. With 131,072
tokens a mask takes 1 to 9 ms, in the first grammar over a vocabulary 10 to 45; where a label has ten characters beyond ASCII 5 to 20, and with
twenty, or in the last octets, up to 0.2 s; up to 0.3 s beside `minLength` or a `pattern` with lengths, near the 63 octets of a label or the
253 of a name, and where a kana or Han character must still come. Under `not` it takes up to 40 ms, mostly 1 to 10, and as long near the
bounds. Two things may meet `max_step_work`: beside such a negation, a `pattern` that allows hardly anything but names of few characters;
and a `maxLength` that leaves hardly room for what a `pattern` asks for.

`hostname` beside the negation of another format, as `oneOf` has it, takes up to 10 ms a mask, beside that of `idn-hostname` half a second.
`idn-hostname` and `idn-email` beside the negation of what their names are as well (`iri-reference`, `regex`, `uri-template`, `json-pointer`)
may meet `max_step_work`, after up to 20 s: whether a name is left is searched among all labels.

A-labels of `hostname` and `idn-hostname` are decoded while they are written, and each text behind `xn--` is a state of its own: with
131,072 tokens a mask there takes 0.1 to 0.5 s and 40 to 140 MB of the engine's memory. Beside a `pattern` it is asked for each text whether
a name is left: by one short way to the end of the label, which takes a second in all, at most two. Beside a second format, or its negation,
that takes up to five seconds; and where that way does not do, as for a `pattern` that hardly any label has, it is searched, which takes
seconds, or meets `max_step_work`.

Texts of `regex` are read as patterns: any nesting, names, references. By itself, a mask takes 0.4 ms in the mean and up to 9 ms. Beside
`pattern`, or under `not`, each name of a group is a state of its own, and so are the ends of ranges: masks where a name or a class begins
take up to seconds, and may meet `max_step_work`. The same where a `maxLength` comes near and names or groups are still owed. Where that
matters, leave out one of the two, or raise the limit.

Which version of Unicode a format goes by depends on where its table was read: those of host names are made of the data of CPython 3.11, and
a character that came later is in no host name; the names of properties of the list of aliases that was the latest then. A `pattern` goes by
Unicode 18, as [regex.md](regex.md) tells.
"""

OPTIONS = """\
## Options

| option | by default | otherwise |
|:--|:--|:--|
| `property_order` | `"schema"`: as `properties` lists them, then what only `required` names, then other keys | `"any"`: in any order, also the keys of the objects in `const` and `enum` |
| `number_style` | `"canonical"`: as models write numbers; see below | `"any"`: however RFC 8259 allows, such as `5.0` or `1e2` for an integer; see below |
| `escapes` | `"minimal"`: each character of a string in one way, hexadecimal digits in either case | `"all"`: in every way that RFC 8259 allows |
| `whitespace` | `"flexible"`: any amount between JSON tokens | `"bounded"`, `"compact"`, at most a number of characters, exactly a pair of separators, or what a regular expression matches; see below |
| `unique_keys` | `False`: a key that the schema does not name may occur twice | `True`: no key occurs twice in an object |
| `closed` | `False`: keys and items that the schema does not name may come, as in the standard | `True`: they do not; see below |
| `discriminators` | `"annotation"`: what a `discriminator` names need not come; of a model of pydantic `"required"` | `"required"`: an object has the key that a `discriminator` names; see *Unions of pydantic* |
| `nullable` | `False`: `nullable`, which is no keyword of JSON Schema, is an annotation | `True`: `nullable: true` beside `type` admits null, as in OpenAPI 3.0 |
| `formats` | `"known"`: a `format` that is not in the table above is an annotation | `"strict"`: it is refused; `"annotation"`: no format is enforced |
| `resources` | none | the schemas that references to other documents mean, by URI; nothing is ever fetched |
| `style` | `"json"` | an object as parameters in XML: `"qwen_xml"` and others; see below |
| `special_tokens` | `()` | names of special tokens of the vocabulary: where a `style` writes one of them, it is the token |
| `lenient` | `False`: what cannot be enforced is refused | `True`: it is dropped, and each drop is an entry of `grammar.report.relaxed`, with the place and the keyword that is not enforced; a `not` or `if` over something that was dropped is an entry, too. `LimitExceededError` is raised even so, since limits guard time and memory, except for `max_alternative_schemas` and a pattern's `max_regex_nesting` |

The defaults are made for generation: they leave a model as few ways as possible to say the same thing. To judge texts that someone else
wrote, take `property_order="any"`, `number_style="any"` and `escapes="all"`: then every JSON text of an instance is a sentence, but for
six kinds of numbers that nobody writes by hand. Where a number has bounds, its point stands at most 9 places away from scientific notation
(`0.05e3`, not `0.00000000005e12`). Under `multipleOf`, and what is to be no multiple, the exponent is at least -9, or that of the step
where it is lower (`1e-12` where the step is that, not `100000000000e-11` where it is 1). Integers and multiples with an upper bound have
exponents up to 17, or that of the bound where it is higher (below 10<sup>25</sup> `21e23`, not `0.021e26`); without one, at most 17 digits
behind the point where the exponent is higher than 17, and where more than the 64th power of 2, 5 or 10 divides the step, no exponent from
18 to below that power and so many digits (of 10<sup>70</sup> `4e70` and `4000e17`, not `40e69`). And the numbers that `uniqueItems` compares
have one nonzero digit before the point if they have an exponent, where all items are scalars. In draft 4 `"type": "integer"` means digits only: there `3.0` is a multiple of 1, equals 3, and
is no integer.

```pycon
>>> def reads(text, schema, **options):
...     matcher = Matcher(Grammar.from_json_schema(schema, **options), Vocabulary.bytes())
...     return matcher.accept_bytes(text.encode()) and matcher.is_complete
>>> pair = {"type": "object", "properties": {"a": True, "b": True}, "required": ["a", "b"]}
>>> reads('{"b": 2, "a": 1}', pair), reads('{"b": 2, "a": 1}', pair, property_order="any")
(False, True)
>>> reads("1e2", {"type": "integer"}), reads("1e2", {"type": "integer"}, number_style="any")
(False, True)
>>> reads("2.50", {"const": 2.5}), reads("2.50", {"const": 2.5}, number_style="any")
(False, True)
>>> reads("2.50", {"type": "number", "maximum": 3})
True
>>> reads('"\\\\u0061"', {"const": "a"}), reads('"\\\\u0061"', {"const": "a"}, escapes="all")
(False, True)
>>> reads('{"x": 1, "x": 2}', {"type": "object"}), reads('{"x": 1, "x": 2}', {"type": "object"}, unique_keys=True)
(True, False)
>>> reads('{"a": 1, "x": 2}', {"properties": {"a": True}}), reads('{"a": 1, "x": 2}', {"properties": {"a": True}}, closed=True)
(True, False)
>>> size = {"enum": ["S", "M", "L"]}
>>> shirt = {"type": "object", "properties": {"size": {"$ref": "https://example.com/size"}}}
>>> reads('{"size": "M"}', shirt, resources={"https://example.com/size": size})
True
>>> reads('{"size": 7}', shirt, resources={"https://example.com/size": size})
False
>>> version = {"type": "string", "format": "version-number"}
>>> reads('"one"', version)
True
>>> try:
...     Grammar.from_json_schema(version, formats="strict")
... except UnsupportedSchemaError as error:
...     print(error.keyword)
format

```
"""

MEANING = """\
## What a text looks like

With the default options the language is the set of JSON texts of the instances, with these choices of spelling. Each makes the set smaller
than what a JSON parser would read as a valid instance; none makes it larger, but for the last.

- **Order of properties.** As in the schema; then keys that only `required` names; then all others. The keys of a `const` object: as given.
- **Numbers.** An integer in digits only: `5`, and not `5.0`; so are the multiples of an integer. A number in `enum` or `const` without
  zeros at its end: `2.5`, and not `2.50`; from 10<sup>16</sup> on and below 10<sup>-4</sup> also as programs print it, `1e+22` or
  `1.5e-07`. Other numbers may have any digits behind the point: multiples of a fraction, and what is to be no multiple (so also no
  integer), in plain notation, bounded numbers also with one nonzero digit before the point and an exponent, numbers without bounds in any
  way that RFC 8259 allows. Zero may have a sign, `-0`, but for one that is listed or the `minimum` (in draft 4 these, too). What a schema
  *excludes* is excluded in every spelling: a number that is `not` an integer is not `5.0`. No float is ever involved.
- **Strings.** Each character in one way, raw where JSON allows it (the digits of `\\u001f` in either case). Surrogates come in pairs: a
  schema that names text with a lone one is refused.
- **White space.** `whitespace=`

  | value | between JSON tokens | before and after the value |
  |:--|:--|:--|
  | `"flexible"` (default) | any JSON white space, any amount | the same |
  | `"bounded"` | at most two spaces, or one line end and at most 40 spaces or tabs | none |
  | `"compact"` | none | none |
  | a number `n`, up to 1,000 | at most `n` characters of JSON white space | none |
  | a regular expression, such as `"( \\|\\n {0,8})?"` | what it matches | none |
  | `(item, key)`, such as `(", ", ": ")` | exactly this after each item and each key | none |

  Under `"bounded"` a text has at most 41 bytes of white space (42 with `\\r\\n`) after each bracket, comma, colon, key and scalar.
  A regular expression, in Python's dialect, matches blanks, tabs and line ends alone, and the empty text: others are refused, `\\s*` among
  them, as it matches what is no white space of JSON.
- **Repeated keys.** A key that the schema names is written once. Another key may occur twice, since RFC 8259 leaves the meaning of that
  open; `report.notes` says so of a schema that admits such keys. Not so with `unique_keys=True`, and not where it depends on the reading
  whether the object is valid: where one of these keys has to meet a condition, as under `not`, or `minProperties` asks for two of them.
  Nor in arrays and objects that `uniqueItems` compares. And where a pattern leaves few keys, up to 256, there are no more members with them
  than keys.
- **Other members.** With `closed=True` it is as if `unevaluatedProperties: false` and `unevaluatedItems: false` stood at each value that
  the schema describes: at the root, and under `properties`, `items` and their like. What schemas beside each other name (`allOf`, `anyOf`,
  `$ref` and so on) counts together; `additionalProperties` and `items` say what others there are. Three things are more lenient: a schema
  that names no members leaves them free, as `{"type": "object"}` does; what `required` asks for, and `dependentRequired` beside other keys,
  counts as named, in whatever schema beside, unless only branches of `anyOf` ask for it and describe it, and so do as many items as
  `minItems` asks for (a schema of `dependentRequired` or `minItems` alone names nothing); the keys and items of what `const` and `enum`
  list at the same place need not be named. Conditions (`not`, `if`, `contains`, which branch of `oneOf` it is) are read as they stand, so
  each text is an instance of the schema as it is. Where two schemas of an `allOf` describe the same member, neither allows it what only the
  other one names. `anyOf` of models takes time in proportion to their number, 400 of them 0.1 s; where they give keys of the same name
  different schemas, as often as these can be combined, up to 256 times. Beyond that, and where a branch says more than `properties` and
  `required`, or has the same keys in another order, or members are counted beside, they multiply out: a dozen that may all hold at once may
  meet `max_alternative_schemas`, and so may thousands. So it is with `unevaluatedProperties: false`. Models that are left free to go on
  invent keys: where a schema does not say `additionalProperties: false`, this is what most want.

```pycon
>>> grammar = Grammar.from_json_schema({"properties": {"a": True, "b": True}, "type": "object"}, whitespace=(", ", ": "))
>>> matcher = Matcher(grammar, Vocabulary.bytes())
>>> matcher.accept_bytes(b'{"a": 1, "b": 2}'), matcher.is_complete
(True, True)
>>> matcher.reset()
>>> matcher.accept_bytes(b'{"b": 2, "a": 1}')
False
>>> print(matcher.explain(b'{"b": 2, "a": 1}'))
byte 11 (b'"') is refused, expected other key (next b' '-b'!' b'#'-b'\\x7f' b'\\xc2'-b'\\xf4', at the root)

```

## Schemas of OpenAPI

The schemas of OpenAPI 3.1 are JSON Schema. A document is one of the `resources` that references lead into:

```pycon
>>> pet = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False}
>>> api = {"openapi": "3.1.0", "components": {"schemas": {"Pet": pet}}}
>>> grammar = Grammar.from_json_schema({"$ref": "api.json#/components/schemas/Pet"}, resources={"api.json": api})
>>> matcher = Matcher(grammar, Vocabulary.bytes())
>>> matcher.accept_bytes(b'{"name": "Rex"}'), matcher.is_complete
(True, True)

```

`discriminator` is no keyword of JSON Schema either: it constrains nothing, but with `discriminators="required"` an object has the key that it
names. The formats `int32`, `float`, `byte` and so on are not among those above: annotations.
`nullable` of OpenAPI 3.0 is an annotation, too, and the report says so. With `nullable=True` the type beside it, or null, is admitted; as in
OpenAPI it says nothing where there is no `type` (beside `$ref` or `allOf`), and `enum` has to list null, too: `report.notes` tells of both.

```pycon
>>> name = {"type": "string", "nullable": True}
>>> reads("null", name), reads("null", name, nullable=True)
(False, True)
>>> print(Grammar.from_json_schema({**name, "enum": ["a", "b"]}, nullable=True).report.notes[0].detail)
null is not among the values that are listed beside it, so it is not admitted

```

## Unions of pydantic

A union with a `discriminator` is a `oneOf`: an instance meets one model and no other. Where the discriminator has a default, as in
`kind: Literal["cat"] = "cat"`, the schema that pydantic tells does not require it. But pydantic refuses an object without it; so it is
required here, too, if the schema is a model class or a `TypeAdapter`. What `model_json_schema()` has returned is a schema like any other:
pass `discriminators="required"`.

```pycon
>>> kinds = [{"properties": {"kind": {"const": kind, "default": kind}, kind: {"type": "integer"}}} for kind in ("cat", "dog")]
>>> pets = {"type": "object", "oneOf": kinds, "discriminator": {"propertyName": "kind"}}
>>> reads('{"cat": 1, "dog": "x"}', pets), reads('{"cat": 1, "dog": "x"}', pets, discriminators="required")
(True, False)
>>> reads('{"kind": "cat", "cat": 1}', pets, discriminators="required")
True

```

Without that, an object that lacks the discriminator is told apart by all its other members. That multiplies out: six such models with four
more members each take about a second, and more of them meet `max_alternative_schemas`. Required, a hundred take 0.1 s, as they do in a
union without `discriminator`, which is an `anyOf`; with `extra="forbid"` in each model up to half a second. `lenient=True` reads a `oneOf`
that meets the limit as `anyOf`, and says so.

## What pydantic reads otherwise

The schema of a model says less than the model, or something else. Not accepted is a date and time, or a time, without an offset, though
pydantic writes such: the schema asks for the `format` of RFC 3339. Accepted is what pydantic refuses: a date of the year 0000, which RFC 3339
has and Python has not; a number beyond those of a `float`, an integer of over 4,300 digits; and with `populate_by_name` a key that is the
name of a field with an alias, as the schema names the alias alone.

## Objects as parameters in XML

Some models write the arguments of a tool call as parameters, one after the other, in which strings are as they are and other values JSON:

| `style=` | a member |
|:--|:--|
| `"qwen_xml"` | `<parameter=city>Oslo</parameter>` |
| `"minimax_xml"` | `<parameter name="city">Oslo</parameter>` |
| `"minimax_m3_xml"` | `]<]minimax[>[<city>Oslo]<]minimax[>[</city>`, also within arrays, whose items have the name `item`, and objects |
| `"glm_xml"` | `<arg_key>city</arg_key><arg_value>Oslo</arg_value>` |
| `"deepseek_xml"` | `<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>`; `string="false"` before other values |
| `"deepseek_v4_1_xml"` | the same with a space behind `<｜DSML｜` and `</｜DSML｜` |
| `"kimi_k3_xml"` | `<\\|open\\|>argument key="city" type="string"<\\|sep\\|>Oslo<\\|close\\|>argument<\\|sep\\|>`; types are those of JSON |
| `"cohere_xml"` | `<cofl:value name="city" type="raw">Oslo</cofl:value>`; `json`, `list`, `dict` before other values, and so on within them |

```pycon
>>> weather = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
>>> matcher = Matcher(Grammar.from_json_schema(weather, style="qwen_xml"), Vocabulary.bytes())
>>> matcher.accept_bytes(b"<parameter=city>\\nNew York\\n</parameter>\\n<parameter=days>3</parameter>"), matcher.is_complete
(True, True)

```

- The schema is that of the object; what is no object is not written. What is in a value is JSON, but in `minimax_m3_xml` and `cohere_xml`:
  there arrays and objects are items and members in marks, too. `uniqueItems` is not supported in these.
- White space, as much as `whitespace` admits between JSON tokens, is no part of a value that it surrounds, nor does it count behind a
  parameter; `5` may be the string or the number. A text is read if some reading of it is an instance. Where the mark tells strings from
  other values, as for DeepSeek, a string is all that stands between the marks, white space too; and so is any scalar in `minimax_m3_xml`,
  which tells no types.
- No string has the text that ends its parameter, or, in `minimax_m3_xml`, the one that all marks begin with. A listed value that has it is
  refused. The strings of JSON in a value may have it: there a string ends with its quote.
- Keys that the schema does not name are ASCII letters, digits, `_`, `-` and `.`, and begin with a letter or `_`. Where they would have to
  be compared, as with `unique_keys`, the schema is refused, as are keys with a control character or one of `<>"` that may come (in
  `cohere_xml` these three, and `&`, are written as entities). In `minimax_m3_xml`, where keys stand behind values, too, none begins with
  `/`, and keys that the schema does not name are not written; `report.notes` says so of a schema that admits them.
- Marks are text. Where one of them is a special token of the vocabulary, as those of Kimi K3 are, name it in `special_tokens`, or give all
  there are, `special_tokens=vocabulary.special.values()`. Keys are letters, and so is what begins or ends in one.

## How it works

A schema is normalised to a product over the JSON types: which of null, true and false; and for strings, numbers, arrays and objects a
union of *pieces*, each a conjunction of conditions that stays symbolic. `allOf`, `anyOf`, `oneOf`, `not`, `if` act on each
factor by itself. One level is normalised at a time; what lies inside arrays and objects is a tuple of places to be met, looked at when
it is reached. So recursion through `$ref` stays recursion in the grammar, and the size of the grammar follows the part of the schema
that is reachable. All scalars of one place are one lexeme; patterns, lengths, formats and their complements are combined on the values of
strings and quoted last.

A schema without an instance raises `UnsatisfiableSchemaError`, also where that shows only in the compiled grammar: a pattern and a length
that exclude each other, or an object that requires an object like itself, and so on without end. The error names parts that contradict each
other, as few as possible.

```pycon
>>> from grammar_engine import UnsatisfiableSchemaError
>>> for schema in (
...     {"pattern": "^a$", "minLength": 3, "type": "string"},
...     {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]},
... ):
...     try:
...         Grammar.from_json_schema(schema)
...     except UnsatisfiableSchemaError as error:
...         print(error.reason)
the schema has no instance: /pattern and /minLength contradict each other
the schema has no instance: /required and /properties/next/$ref ask for values inside values without end

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
    stray = sorted((REMARKS.keys() | TESTED_BY.keys() | {name for name, _, _ in REFUSED}) - names)
    untested = sorted({file for files in TESTED_BY.values() for file in files} - FIGURES["conformance"].keys())
    if untested:
        sys.exit(f"not in the official suite: {untested}")
    if stray:
        sys.exit(f"not in the registry: {stray}")
    if STANDARDS.keys() != FORMATS.keys():
        sys.exit(f"formats that differ: {sorted(STANDARDS.keys() ^ FORMATS.keys())}")
    parts = [HEAD, "## Keywords\n", keyword_table(), "## Refused uses\n", refused_table(), "## Formats\n", format_table(), OPTIONS, MEANING]
    return "\n".join(parts)


def keyword_table() -> str:
    known = [f"{sum(keyword.status is status for keyword in REGISTRY)} {words}" for status, words in COUNTED.items()]
    lines = [
        f"{', '.join(known)}. A key that is in no line of this table is an annotation by the standard, and is reported as one.\n",
        f"*Used by*: the share of {FIGURES['usage']['schemas']:,} real schemas (of MaskBench) in which the keyword occurs. *Suite*: cases of the",
        "official test suite for this keyword, drafts 2019-09 and 2020-12 with all that is optional, that are judged right, out of how many. The",
        f"rest is refused by name, or listed in `tests/conformance/differences.py`; nothing invalid is accepted. All files together: {suite_of(None)}.\n",
        "| keyword | verdict | applies to | drafts | used by | suite | remark |",
        "|:--|:--|:--|:--|--:|--:|:--|",
    ]
    for status in Status:
        for k in REGISTRY:
            if k.status is status:
                remark = REMARKS.get(k.name, "")
                tested = suite_of(TESTED_BY.get(k.name, [k.name]))
                figures = f"{share_of('keywords', k.name)} | {tested}"
                lines.append(f"| `{k.name}` | {status.value} | {types_of(k)} | {drafts_of(k)} | {figures} | {remark} |")
    return "\n".join(lines) + "\n"


def share_of(kind: str, name: str) -> str:
    """Of the schemas that were counted, in percent."""
    count = FIGURES["usage"][kind].get(name, 0)
    share = 100 * count / FIGURES["usage"]["schemas"]
    return "" if not count else f"{share:.1f} %" if share >= 0.1 else "< 0.1 %"


def suite_of(files: list[str] | None) -> str:
    """Cases that are right out of all, in these files of the suite (None: in every file)."""
    found = [cases for file, cases in FIGURES["conformance"].items() if files is None or file in files]
    n_cases = sum(sum(cases.values()) for cases in found)
    return f"{sum(cases.get('right', 0) for cases in found):,} / {n_cases:,}" if n_cases else ""


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
        FORMATS_TOLD,
        "| format | verdict | used by | suite | meaning |",
        "|:--|:--|--:|--:|:--|",
        *(f"| `{name}` | enforced | {format_figures(name)} | {meaning_of(name)} |" for name in FORMATS),
    ]
    return "\n".join(lines) + "\n"


def meaning_of(name: str) -> str:
    return f"{STANDARDS[name]}; not all: {NARROWED[name]}" if name in NARROWED else STANDARDS[name]


def format_figures(name: str) -> str:
    return f"{share_of('formats', name)} | {suite_of([f'optional/format/{name}'])}"


if __name__ == "__main__":
    main()
