"""JSON for a JSON Schema, as a model would write it: the same each time, and believable.

Strings and numbers follow the names of their properties (`recordings/words.json`). A schema that
needs more than the keywords here is a `NoExample`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from math import ceil
from typing import Any, Final, NamedTuple

from jsonrill.demo.recordings import recorded
from jsonrill.errors import JsonrillError
from jsonrill.schema import Schema

FORMATS: Final = {
    "date-time": "2026-05-01T08:30:00Z",
    "date": "2026-05-01",
    "time": "08:30:00Z",
    "email": "ada@example.org",
    "uri": "https://example.org/",
    "uuid": "7d9f2c1a-3b54-4e68-9a0d-1f2e3c4b5a60",
}
# The level from which on nothing optional is written: a schema may contain itself.
DEEP: Final = 8


class NoExample(ValueError):
    """No value was found for this schema."""


class Place(NamedTuple):
    """Where a value is written: its name, its number in a list, and what is around it."""

    name: str = ""
    number: int = 0
    parent: str = ""
    depth: int = 0

    def inside(self, name: str, number: int) -> Place:
        return Place(name, number, self.name, self.depth + 1)


def example(schema: Any, names: Sequence[str] = ()) -> Any:
    """Return a value that is valid for the schema; `names` are preferred for places."""
    try:
        value = _Writer(schema, names).value(schema, Place())
        Schema(schema).validate(value)
    except (JsonrillError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise NoExample(str(error)) from error
    return value


class _Writer:
    def __init__(self, root: Any, names: Sequence[str]) -> None:
        self._root = root
        self._names = names

    def value(self, schema: Any, place: Place) -> Any:
        schema = {} if schema is True else dict(schema)
        if (reference := schema.pop("$ref", None)) is not None:
            return self.value({**self._target(reference), **schema}, place)
        if options := schema.pop("anyOf", None) or schema.pop("oneOf", None):
            real = [option for option in options if option.get("type") != "null"] or options
            return self.value({**schema, **real[place.number % len(real)]}, place)
        if choices := [schema["const"]] if "const" in schema else schema.get("enum"):
            return choices[place.number % len(choices)]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match kind if isinstance(kind, str) else kind[0]:
            case "object":
                return self._object(schema, place)
            case "array":
                return self._array(schema, place)
            case "string":
                text = FORMATS.get(schema.get("format", "")) or self._words(schema, place)
                return text.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]
            case "integer" | "number" as kind:
                return _number(schema, place, kind == "integer")
            case "boolean":
                return place.number % 2 == 0
        return None

    def _target(self, reference: str) -> Any:
        target, [_, *steps] = self._root, reference.split("/")
        for step in steps:
            target = target[step]
        return target

    def _object(self, schema: dict[str, Any], place: Place) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        return {
            name: self.value(property, place.inside(name, place.number))
            for name, property in properties.items()
            if place.depth < DEEP or name in required
        }

    def _array(self, schema: dict[str, Any], place: Place) -> list[Any]:
        items = schema.get("items", True)
        is_short = isinstance(items, dict) and items.get("type") in ("string", "integer", "number")
        count = 2 + is_short if place.depth < DEEP else 0
        count = max(count, schema.get("minItems", 0))
        count = min(count, schema.get("maxItems", count))
        name = re.sub(r"ie$", "y", place.name.removesuffix("s"))
        return [self.value(items, place.inside(name, number)) for number in range(count)]

    def _words(self, schema: dict[str, Any], place: Place) -> str:
        """Return the text that fits the name of a property."""
        name = _spaced(place.name or schema.get("title", ""))
        # The name of a city is a place, and not a person.
        named = f"{_spaced(place.parent)} {name}" if name == "name" else name
        for pattern, words, *takes in _table()["strings"]:
            if re.search(pattern, named):
                # One name is about the whole, several may be the elements of a list.
                if takes and (not place.parent or len(self._names) > 1):
                    words = [*dict.fromkeys([*self._names, *words])]
                return str(words[place.number % len(words)])
        text = (name or "text").capitalize()
        return f"{text} {place.number + 1}" if place.number or not name else text


def _number(schema: dict[str, Any], place: Place, is_integer: bool) -> int | float:
    """Return the number that fits the name, or else one within the bounds."""
    name, default = _spaced(place.name), 1 if is_integer else 1.5
    bases = (base for pattern, base in _table()["numbers"] if re.search(pattern, name))
    number: float = next(bases, default) + place.number
    number = max(number, schema.get("minimum", number))
    number = min(number, schema.get("maximum", number))
    return ceil(number) if is_integer else number


def _spaced(name: str) -> str:
    """Return `createdAt` and `created_at` as words in lower case."""
    return re.sub(r"[_\-\s]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


@cache
def _table() -> Any:
    return json.loads(recorded("words.json"))
