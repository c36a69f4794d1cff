"""JSON for a JSON Schema, as a model would write it: the same each time, and believable.

Strings and numbers follow the names of their properties (`recordings/words.json`). A schema that
needs more than the keywords here is a `NoExample`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
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


class NoExample(ValueError):
    """No value was found for this schema."""


def example(schema: Any, names: Sequence[str] = ()) -> Any:
    """Return a value that is valid for the schema; `names` are preferred for places."""
    try:
        value = _Writer(schema, names).value(schema, Place())
        Schema(schema).validate(value)
    except (JsonrillError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise NoExample(str(error)) from error
    return value


class Place(NamedTuple):
    """Where a value is written: its name, its number in a list, and what is around it."""

    name: str = ""
    number: int = 0
    parent: str = ""
    depth: int = 0

    def inside(self, name: str, number: int) -> Place:
        if self.depth > 20:
            raise NoExample("the schema contains itself without end")
        return Place(name, number, self.name, self.depth + 1)


class _Writer:
    def __init__(self, root: Any, names: Sequence[str]) -> None:
        self._root = root
        self._names = names

    def value(self, schema: Any, place: Place) -> Any:
        flat = self._flat(schema)
        if "const" in flat:
            return flat["const"]
        if choices := flat.get("enum") or flat.get("examples"):
            return choices[place.number % len(choices)]
        if isinstance(default := flat.get("default"), str | int) and default:
            return default
        if options := flat.pop("anyOf", None) or flat.pop("oneOf", None):
            real = [option for option in options if option.get("type") != "null"] or options
            return self.value({"allOf": [flat, real[place.number % len(real)]]}, place)
        kind = flat.get("type", "object" if "properties" in flat else "string")
        match kind if isinstance(kind, str) else kind[0]:
            case "object":
                return self._object(flat, place)
            case "array":
                return self._array(flat, place)
            case "string":
                text = FORMATS.get(flat.get("format", "")) or self._words(flat, place)
                return text.ljust(flat.get("minLength", 0), ".")[: flat.get("maxLength")]
            case "integer" | "number" as kind:
                return _number(flat, place, kind == "integer")
            case "boolean":
                return place.number % 2 == 0
        return None

    def _flat(self, schema: Any) -> dict[str, Any]:
        """Return the schema with what it refers to."""
        if schema is False:
            raise NoExample("nothing is valid")
        merged = {} if schema is True else {**schema}
        more = merged.pop("allOf", [])
        if (reference := merged.pop("$ref", None)) is not None:
            target, [_, *steps] = self._root, reference.split("/")
            for step in steps:
                target = target[step]
            more = [target, *more]
        for part in more:
            merged = {**merged, **self._flat(part)}
        return merged

    def _object(self, flat: dict[str, Any], place: Place) -> dict[str, Any]:
        properties, required = flat.get("properties", {}), flat.get("required", [])
        written: dict[str, Any] = {}
        for name in dict.fromkeys([*properties, *required]):
            try:
                inner = place.inside(name, place.number)
                written[name] = self.value(properties.get(name, True), inner)
            except NoExample:
                if name in required:
                    raise
        return written

    def _array(self, flat: dict[str, Any], place: Place) -> list[Any]:
        prefix, items = flat.get("prefixItems", []), flat.get("items", True)
        is_short = isinstance(items, dict) and items.get("type") in ("string", "integer", "number")
        count = max(flat.get("minItems", 0), len(prefix) or 2 + is_short)
        count = min(count, flat.get("maxItems", count))
        name = re.sub(r"ie$", "y", place.name.removesuffix("s"))
        schemas = [*prefix, *[items] * count][:count]
        return [self.value(it, place.inside(name, at)) for at, it in enumerate(schemas)]

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
    step = schema.get("multipleOf", 1)
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    table, name = _table()["numbers"], _spaced(place.name)
    base = next((base for pattern, base in table if re.search(pattern, name)), 1)
    number = (base if is_integer or base != 1 else 1.5) + place.number
    if low is not None and number <= low:
        number = low + step
    if high is not None and number >= high:
        number = high - step if low is None else low + (high - low) / 2
    return int(-(-number // step) * step) if is_integer else number


def _spaced(name: str) -> str:
    """Return `createdAt` and `created_at` as words in lower case."""
    return re.sub(r"[_\-\s]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


@cache
def _table() -> Any:
    return json.loads(recorded("words.json"))
