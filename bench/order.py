"""Puts the keys of an instance in the order of its schema, to tell refusals that are for the order of properties alone.

Idea. An engine may take properties in the order of the schema only. A valid instance that it refuses is put in that order and tried once
more: keys stand as the schema lists them, `properties` first, then `required`, then the rest as it was. Where a schema has properties of
its own and others by `allOf` or `$ref`, either may come first, and `own_first` says which. Of `anyOf` and `oneOf` only the branches count
that the value satisfies (if `jsonschema` is there to ask).
"""

from __future__ import annotations

import contextlib
from typing import Any

MAX_DEPTH = 60


def in_schema_order(value: Any, schema: Any) -> list[Any]:
    """The value in both orders."""
    return [_SchemaOrder(schema, own_first).sort(value, schema) for own_first in (True, False)]


class _SchemaOrder:
    def __init__(self, root: Any, own_first: bool):
        self._root = root
        self._own_first = own_first
        self._validator: Any = None
        with contextlib.suppress(Exception):  # not installed, or not a schema that it takes
            import jsonschema

            self._validator = jsonschema.validators.validator_for(root, jsonschema.Draft202012Validator)(root)

    def sort(self, value: Any, schema: Any, depth: int = 0) -> Any:
        if depth > MAX_DEPTH or not isinstance(value, (dict, list)):
            return value
        schemas = self._subschemas(schema, value, set())
        return self._object(value, schemas, depth) if isinstance(value, dict) else self._array(value, schemas, depth)

    def _object(self, value: dict[str, Any], schemas: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        listed: dict[str, list[Any]] = {}
        for each in schemas:
            for key, inner in _dict(each.get("properties")).items():
                listed.setdefault(key, []).append(inner)
        others = [each.get("additionalProperties") for each in schemas]
        others += [inner for each in schemas for inner in _dict(each.get("patternProperties")).values()]
        required = [key for each in schemas for key in each.get("required", ())]
        keys = [key for key in dict.fromkeys([*listed, *required, *value]) if key in value]
        return {key: self.sort(value[key], {"allOf": listed.get(key, others)}, depth + 1) for key in keys}

    def _array(self, value: list[Any], schemas: list[dict[str, Any]], depth: int) -> list[Any]:
        made = []
        for i, item in enumerate(value):
            inners = []
            for each in schemas:
                items = each.get("items")
                prefix, rest = (items, each.get("additionalItems")) if isinstance(items, list) else (each.get("prefixItems", []), items)
                inners.append(prefix[i] if i < len(prefix) else rest)
            made.append(self.sort(item, {"allOf": inners}, depth + 1))
        return made

    def _subschemas(self, schema: Any, value: Any, seen: set[int]) -> list[dict[str, Any]]:
        """The subschemas that speak of `value` itself, in order, each once."""
        if not isinstance(schema, dict) or id(schema) in seen:
            return []
        seen.add(id(schema))
        parts = list(schema.get("allOf", ()))
        if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
            parts.append(_resolve(self._root, schema["$ref"][1:]))
        parts += [each for word in ("anyOf", "oneOf") for each in schema.get(word, ()) if self._holds(each, value)]
        parts += [schema[word] for word in ("if", "then", "else") if word in schema]
        below = [found for part in parts for found in self._subschemas(part, value, seen)]
        return [schema, *below] if self._own_first else [*below, schema]

    def _holds(self, schema: Any, value: Any) -> bool:
        try:
            return self._validator is None or bool(self._validator.evolve(schema=schema).is_valid(value))
        except Exception:  # a reference that leads nowhere, a pattern that Python does not know
            return True


def _dict(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def _resolve(root: Any, pointer: str) -> Any:
    value = root
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        value = value.get(part) if isinstance(value, dict) else None
    return value
