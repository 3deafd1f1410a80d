"""The subjects of outlines_core's own benchmarks: nine regular expressions and two JSON Schemas.

Each expression denotes the language of theirs (their minimal automata over bytes are equal); long ones are put together from their parts.
Of the schemas they compile the expression that `outlines_core.json_schema.build_regex_from_schema` makes.
"""

from __future__ import annotations

import json
from typing import Any

_ATOM = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"

_DAY, _MONTH, _YEAR, _BETWEEN = r"(0?[1-9]|[12][0-9]|3[01])", r"(0?[1-9]|1[0-2])", r"((19|20)?[0-9][0-9])", r"(\.|-|/)"

_SPAN = (
    "a Altruism altruism among an and animals aspect become beings both case concern core cultures extreme for happiness However however human "
    "In in is It it life many material may moral object of opposite or other practice principle quality religions religious resulting s "
    "secular selfishness selflessness spiritual synonym the traditional various vary virtue which worldviews"
).split()
_EDGE = "['\"\\ ,]?"
_WORDS = rf"{_EDGE}((?:{'|'.join(_SPAN)}){_EDGE})+{_EDGE}"
_FREE = r"([^|\(\)\n]+)"

REGEXES = {
    "email": rf"{_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+{_LABEL}",
    "complex_phone": r"\+?\d{1,4}?[-.\s]?\(?\d{1,3}?\)?[-.\s]?\d{1,4}[-.\s]?\d{1,4}[-.\s]?\d{1,9}",
    "simple_phone": r"\+?[1-9][0-9]{7,14}",
    "date": f"{_DAY}{_BETWEEN}{_MONTH}{_BETWEEN}{_YEAR}|{_YEAR}{_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}",
    "time": r"(0?[1-9]|1[0-2]):[0-5]\d\s?(am|pm)?",
    "ip": rf"(?:{_OCTET}\.){{3}}{_OCTET}",
    "url": r"(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})([\/\w \.-]*)*\/?",
    "ssn": r"\d{3}-\d{2}-\d{4}",
    "complex_span_constrained_relation_extraction": rf"({_WORDS}\s\|\s{_FREE}\s\|\s{_WORDS}(\s\|\s\({_FREE}\s\|\s{_FREE}\))*\n)*",
}

_ARTIST: Any = {
    "type": "object",
    "properties": {"id": {"type": "number"}, "name": {"type": "string"}, "functions": {"type": "array", "items": {"type": "string"}}},
    "required": ["id", "name", "functions"],
}
_CHARACTER: Any = {
    "$defs": {"Armor": {"type": "string", "enum": ["leather", "chainmail", "plate"]}},
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 10},
        "age": {"type": "integer"},
        "armor": {"$ref": "#/$defs/Armor"},
        "strength": {"type": "integer"},
    },
    "required": ["name", "age", "armor", "strength"],
}
_RECORDING: Any = {
    "definitions": {"artist": _ARTIST},
    "type": "object",
    "properties": {
        "id": {"type": "number"},
        "work": {
            "type": "object",
            "properties": {"id": {"type": "number"}, "name": {"type": "string"}, "composer": {"$ref": "#/definitions/artist"}},
        },
        "recording_artists": {"type": "array", "items": {"$ref": "#/definitions/artist"}},
    },
    "required": ["id", "work", "recording_artists"],
}
SCHEMAS = {"simple_schema": json.dumps(_CHARACTER), "complex_schema": json.dumps(_RECORDING)}
