"""Plausible JSON for a JSON Schema, as a model would write it, always the same.

Strings and numbers follow the names of their properties (`recordings/words.json`). A schema that
needs more than the keywords here is a `NoExample`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import ceil, inf
from typing import Any, Final

from jsonrill.demo.recordings import recorded
from jsonrill.errors import JsonrillError
from jsonrill.schema import Schema

# The level from which on nothing optional is written: a schema may contain itself.
DEEP: Final = 8


class NoExample(ValueError):
    """No value was found for this schema."""


def example(schema: Any, names: Sequence[str] = ()) -> Any:
    """Return a value that is valid for the schema; `names` are preferred for places."""
    try:
        value = _Writer(schema, names).value(schema)
        Schema(schema).validate(value)
    except (JsonrillError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise NoExample(str(error)) from error
    return value


class _Writer:
    def __init__(self, root: Any, names: Sequence[str]) -> None:
        self._root = root
        self._names = names

    def value(self, schema: Any, name: str = "", number: int = 0, depth: int = 0) -> Any:
        """Return a value for a property with this name, or for the n-th element of a list."""
        schema = {} if schema is True else dict(schema)
        if (reference := schema.pop("$ref", None)) is not None:
            target = self._root
            for step in reference.split("/")[1:]:
                target = target[step]
            return self.value({**target, **schema}, name, number, depth)
        if options := schema.pop("anyOf", None) or schema.pop("oneOf", None):
            real = [option for option in options if option.get("type") != "null"] or options
            return self.value({**schema, **real[number % len(real)]}, name, number, depth)
        if choices := [schema["const"]] if "const" in schema else schema.get("enum"):
            return choices[number % len(choices)]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match kind if isinstance(kind, str) else kind[0]:
            case "object":
                properties, required = schema.get("properties", {}), schema.get("required", [])
                return {
                    key: self.value(property, key, number, depth + 1)
                    for key, property in properties.items()
                    if depth < DEEP or key in required
                }
            case "array":
                count = max(3 if depth < DEEP else 0, schema.get("minItems", 0))
                count = min(count, schema.get("maxItems", count))
                items = schema.get("items", True)
                return [self.value(items, name, number, depth + 1) for number in range(count)]
            case "string":
                text = self._text(schema.get("format", ""), name, number, depth)
                return text.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]
            case "integer" | "number" as kind:
                found = _find("numbers", name) or [1 if kind == "integer" else 1.5]
                value = max(found[0] + number, schema.get("minimum", -inf))
                value = min(value, schema.get("maximum", inf))
                return ceil(value) if kind == "integer" else value
            case "boolean":
                return number % 2 == 0
        return None

    def _text(self, format: str, name: str, number: int, depth: int) -> str:
        words, *takes = _find("formats", format) or _find("strings", name) or [[]]
        # One name is about the whole, several may be the elements of a list.
        if takes and (depth < 2 or len(self._names) > 1):
            words = [*dict.fromkeys([*self._names, *words])]
        return words[number % len(words)] if words else f"{name or 'text'} {number + 1}"


def _find(table: str, name: str) -> Any:
    """Return the row of a table whose pattern fits a name, without the pattern."""
    spaced = re.sub(r"[_\-\s]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).lower()
    rows = json.loads(recorded("words.json"))[table]
    return next((row for pattern, *row in rows if re.search(pattern, spaced)), None)
