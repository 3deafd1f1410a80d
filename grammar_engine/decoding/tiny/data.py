"""What the tiny decoder learns from: random schemas, a prompt for each, and documents that the engine has written.

    schema      {"type": "object", "properties": {"name": {"enum": [...]}, "tags": {"type": "array", ...}}, ...}
    prompt      {name tags[] address{city zip?}}                the members in their order, as a query would name them; ? is optional
    document    {"name": "Ada Lovelace", "tags": ["new"], "address": {"city": "Oslo"}}

There is something to learn at each place: JSON itself, which members come next (the prompt says it), what kind of value goes with a member
(the same in all schemas), and which of its values are likely. What remains is chance, as in any text.

Documents are spelt with the longest tokens that fit (`Vocabulary.encode_greedy`), as forced text is. The vocabulary is the first part of
the built-in one, whose merges come in the order of their worth: with all of it, training would spend its minutes on scores of tokens that
never occur.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...grammar import Grammar
from ...matcher import Matcher
from ...sampling import Sampler
from ...vocabulary import Vocabulary

TOKENS = 1024  # the end included
WHITESPACE = (", ", ": ")  # of the documents
DOCUMENTS = 4  # of each schema
_SHARE_OPTIONAL = 0.15  # of members
_SHARE_NESTED = 0.3  # of members: objects and arrays of objects

_PEOPLE = (
    "Ada Lovelace|Alan Turing|Barbara Liskov|Donald Knuth|Edsger Dijkstra|Frances Allen|Grace Hopper|John Backus|Noam Chomsky|Robin Milner"
)
_CITIES = "Accra|Berlin|Cairo|Dakar|Hanoi|Kyoto|Lima|Oslo|Paris|Quito|Rome|Sofia|Tunis|Vienna|Zagreb"
_COUNTRIES = "Brazil|Canada|Egypt|France|Ghana|India|Italy|Japan|Kenya|Norway|Peru|Spain"


def _one_of(text: str) -> dict[str, Any]:
    return {"type": "string", "enum": text.split("|")}


def _text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{pattern}$"}


def _whole(least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


def _many(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1, "maxItems": most}


_YES_OR_NO = {"type": "boolean"}
_DATE = _text("20[0-2][0-9]-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])")
_WORDS = "(red|old|small|bright|quiet|open|early|late) (river|house|garden|engine|letter|window|market|signal)"

SCALARS = {
    "active": _YES_OR_NO,
    "age": _whole(18, 90),
    "author": _one_of(_PEOPLE),
    "category": _one_of("books|food|games|garden|music|sport|tools|travel"),
    "city": _one_of(_CITIES),
    "code": _text("[A-Z]{3}-[0-9]{3}"),
    "colour": _one_of("black|blue|green|orange|red|white|yellow"),
    "comment": _text(f"(I|We) (liked|found|sold|painted) (a|the) {_WORDS}\\."),
    "count": _whole(1, 50),
    "country": _one_of(_COUNTRIES),
    "created": _DATE,
    "currency": _one_of("EUR|GBP|JPY|NOK|USD"),
    "description": _text(f"(A|The|One) {_WORDS} (of|near|behind|without) (the|a) {_WORDS}"),
    "email": _text("(ada|alan|grace|john|robin|info|help)@(example|mail|work)\\.(com|org|net)"),
    "enabled": _YES_OR_NO,
    "id": _whole(1, 9999),
    "language": _one_of("de|en|es|fr|it|ja|pt"),
    "level": _one_of("debug|error|info|warning"),
    "name": _one_of(_PEOPLE),
    "phone": _text("\\+[1-9][0-9] [0-9]{3} [0-9]{4}"),
    "priority": _one_of("high|low|medium|urgent"),
    "rating": _whole(1, 5),
    "size": _one_of("large|medium|small"),
    "status": _one_of("cancelled|done|failed|open|running|waiting"),
    "street": _text(f"{_WORDS} (street|road|lane)"),
    "tags": _many(_one_of("daily|draft|final|hot|large|new|old|private|public|sale"), 4),
    "title": _text(f"(A|The) {_WORDS}"),
    "unit": _one_of("cm|g|h|kg|km|l|m|s"),
    "updated": _DATE,
    "url": _text("https://(www|api)\\.(example|mail|work)\\.(com|org|net)/(news|docs|shop|help)"),
    "verified": _YES_OR_NO,
    "zip": _text("[0-9]{5}"),
}
OBJECTS = ["address", "contact", "customer", "location", "owner", "product", "settings"]
ARRAYS = ["comments", "events", "items", "members", "orders", "results"]


class Example(NamedTuple):
    """A text to learn from, or to be asked for.

    Attributes
    ----------
    schema : dict
    prompt, document : bytes
    """

    schema: dict[str, Any]
    prompt: bytes
    document: bytes

    def ids(self, vocabulary: Vocabulary) -> list[int]:
        """The tokens of prompt, document and end."""
        return [*vocabulary.encode_greedy(self.prompt), *vocabulary.encode_greedy(self.document), vocabulary.eos[0]]


def tiny_vocabulary() -> Vocabulary:
    """The first tokens of `Vocabulary.builtin()`, all bytes among them, and an end-of-text token."""
    end = TOKENS - 1
    return Vocabulary([*Vocabulary.builtin().tokens[:end], b""], eos=[end], special={end: "<eos>"})


def random_schema(rng: random.Random, depth: int = 2) -> dict[str, Any]:
    """An object of up to five members, with objects in it down to `depth` levels."""
    properties: dict[str, Any] = {}
    for _ in range(rng.randint(2, 5)):
        if depth > 1 and rng.random() < _SHARE_NESTED:
            name = rng.choice(OBJECTS + ARRAYS)
            inner = random_schema(rng, depth - 1)
            properties[name] = _many(inner, 2) if name in ARRAYS else inner
        else:
            name = rng.choice(list(SCALARS))
            properties[name] = SCALARS[name]
    required = [name for name in properties if rng.random() >= _SHARE_OPTIONAL]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def prompt_of(schema: dict[str, Any]) -> bytes:
    """What the model is asked with: the outline of the schema, and the end of a line."""
    return (_outline(schema) + "\n").encode()


def _outline(schema: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    if "properties" in schema:
        required = schema.get("required", ())
        members = (name + _outline(inner) + ("" if name in required else "?") for name, inner in schema["properties"].items())
        return "{" + " ".join(members) + "}"
    return _outline(schema["items"]) + "[]" if "items" in schema else ""


def grammar_of(schema: dict[str, Any]) -> Grammar:
    """The documents of a schema, in the layout that the model has learnt."""
    return Grammar.from_json_schema(schema, whitespace=WHITESPACE)


def examples(vocabulary: Vocabulary, n: int, seed: int) -> Iterator[Example]:
    """`n` examples, several of each schema. Costs 2 ms each."""
    rng = random.Random(seed)
    sampler = Sampler(vocabulary, rng)
    for i in range(n):
        if i % DOCUMENTS == 0:
            schema = random_schema(rng)
            matcher = Matcher(grammar_of(schema), vocabulary)
        yield Example(schema, prompt_of(schema), sampler.write(matcher))
