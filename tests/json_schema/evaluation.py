"""What the standard says about validity and evaluation, word for word, for the keywords that evaluate or apply schemas.

The truth of `test_unevaluated.py`: unlike `jsonschema`, it knows that `contains` evaluates items in 2020-12 and not in 2019-09.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}


class Evaluator:
    """A schema of draft 2019 or 2020 with the definitions that `$ref` may name."""

    def __init__(self, schema: Any, draft: int):
        self.draft = draft
        self.schema = schema
        self.definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}

    def is_valid(self, value: Any) -> bool:
        return self.evaluate(self.schema, value) is not None

    def evaluate(self, schema: Any, value: Any) -> set[Any] | None:
        """The keys or positions that a schema evaluates; None if the value is not valid."""
        if isinstance(schema, bool):
            return set() if schema else None
        seen: set[Any] = set()
        steps = [self.assertions(schema, value), self.in_place(schema, value)]
        steps.append(
            self.members(schema, value) if isinstance(value, dict) else self.items(schema, value) if isinstance(value, list) else ()
        )
        for step in steps:
            for evaluated in step:
                if evaluated is None:
                    return None
                seen |= evaluated
        if isinstance(value, (dict, list)):
            keyword = "unevaluatedProperties" if isinstance(value, dict) else "unevaluatedItems"
            keys = set(value) if isinstance(value, dict) else set(range(len(value)))
            if keyword in schema:
                if not all(self.meets(schema[keyword], value[key]) for key in keys - seen):
                    return None
                return keys
        return seen

    def meets(self, schema: Any, value: Any) -> bool:
        return self.evaluate(schema, value) is not None

    def assertions(self, schema: Any, value: Any) -> Iterator[set[Any] | None]:
        if "type" in schema:
            yield set() if isinstance(value, _TYPES[schema["type"]]) else None
        if "const" in schema:
            yield set() if value == schema["const"] else None
        if isinstance(value, dict):
            yield set() if set(schema.get("required", ())) <= set(value) and len(value) <= schema.get("maxProperties", 99) else None
        if isinstance(value, list):
            yield set() if schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 99) else None

    def in_place(self, schema: Any, value: Any) -> Iterator[set[Any] | None]:
        if "$ref" in schema:
            yield self.evaluate(self.definitions[schema["$ref"].removeprefix("#/$defs/")], value)
        for branch in schema.get("allOf", ()):
            yield self.evaluate(branch, value)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                passed = [seen for branch in schema[keyword] if (seen := self.evaluate(branch, value)) is not None]
                yield set().union(*passed) if len(passed) == 1 or (passed and keyword == "anyOf") else None
        if "not" in schema:
            yield None if self.meets(schema["not"], value) else set()
        if "if" in schema:
            seen = self.evaluate(schema["if"], value)
            yield seen or set()
            yield self.evaluate(schema.get("else" if seen is None else "then", True), value)
        for name, branch in schema.get("dependentSchemas", {}).items():
            if isinstance(value, dict) and name in value:
                yield self.evaluate(branch, value)

    def members(self, schema: Any, value: dict[str, Any]) -> Iterator[set[Any] | None]:
        named = set()
        for key, member in value.items():
            asked = [schema["properties"][key]] if key in schema.get("properties", {}) else []
            asked += [wanted for pattern, wanted in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
            if asked:
                named.add(key)
                yield {key} if all(self.meets(wanted, member) for wanted in asked) else None
        if "additionalProperties" in schema:
            rest = set(value) - named
            yield rest if all(self.meets(schema["additionalProperties"], value[key]) for key in rest) else None

    def items(self, schema: Any, value: list[Any]) -> Iterator[set[Any] | None]:
        items = schema.get("items")
        prefix = items if isinstance(items, list) else schema.get("prefixItems", [])
        for position, (wanted, item) in enumerate(zip(prefix, value)):
            yield {position} if self.meets(wanted, item) else None
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        if rest is not None:
            positions = set(range(len(prefix), len(value)))
            yield positions if all(self.meets(rest, value[position]) for position in positions) else None
        if "contains" in schema:
            found = {position for position, item in enumerate(value) if self.meets(schema["contains"], item)}
            fits = schema.get("minContains", 1) <= len(found) <= schema.get("maxContains", 99)
            yield None if not fits else found if self.draft == 2020 else set()
