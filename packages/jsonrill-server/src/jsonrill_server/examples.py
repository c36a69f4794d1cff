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

Json = dict[str, Any]
# Values, and characters of one, that are written before it is given up.
MOST: Final = 2000
FORMATS: Final = {
    "date-time": "2026-05-01T08:30:00Z",
    "date": "2026-05-01",
    "time": "08:30:00Z",
    "duration": "PT2H30M",
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
    """Where a value is written: its name, its number in a list, and the name around it."""

    name: str = ""
    number: int = 0
    parent: str = ""


class _Writer:
    def __init__(self, root: Any, names: Sequence[str]) -> None:
        self._root = root
        self._names = names
        self._left = MOST

    def value(self, schema: Any, place: Place) -> Any:
        flat = self._flat(schema)
        if "const" in flat:
            return flat["const"]
        if choices := flat.get("enum") or flat.get("examples"):
            return choices[place.number % len(choices)]
        if isinstance(default := flat.get("default"), str | int) and default:
            return default
        if options := flat.get("anyOf") or flat.get("oneOf"):
            real = [it for it in options if it.get("type") != "null"] or options
            rest = {key: it for key, it in flat.items() if key not in ("anyOf", "oneOf")}
            return self.value({"allOf": [rest, real[place.number % len(real)]]}, place)
        kind = flat.get("type", "object" if "properties" in flat else "string")
        kind = kind if isinstance(kind, str) else kind[0]
        match kind:
            case "object":
                return self._object(flat, place)
            case "array":
                return self._array(flat, place)
            case "string":
                return self._string(flat, place)
            case "boolean":
                return place.number % 2 == 0
            case "null":
                return None
        return _number(flat, place, kind == "integer")

    def _flat(self, schema: Any) -> Json:
        """Return the schema with what it refers to."""
        self._left -= 1
        if schema is False or self._left < 0:
            raise NoExample("nothing is valid, or the schema needs too many values")
        merged = {} if schema is True else {**schema}
        more = merged.pop("allOf", [])
        if (reference := merged.pop("$ref", None)) is not None:
            target, [_, *steps] = self._root, reference.split("/")
            for step in steps:
                target = target[step.replace("~1", "/").replace("~0", "~")]
            more = [target, *more]
        for part in more:
            merged = {**merged, **self._flat(part)}
        return merged

    def _object(self, flat: Json, place: Place) -> Json:
        properties, required = flat.get("properties", {}), flat.get("required", [])
        written: Json = {}
        for name in dict.fromkeys([*properties, *required]):
            try:
                inner = Place(name, place.number, place.name)
                written[name] = self.value(properties.get(name, True), inner)
            except (NoExample, RecursionError):
                if name in required:
                    raise
        return written

    def _array(self, flat: Json, place: Place) -> list[Any]:
        prefix, items = flat.get("prefixItems", []), flat.get("items", True)
        is_short = isinstance(items, dict) and items.get("type") in ("string", "integer", "number")
        least = max(flat.get("minItems", 0), len(prefix) or 2 + is_short)
        name = re.sub(r"ie$", "y", place.name.removesuffix("s"))
        schemas = [*prefix, *[items] * MOST][: min(least, flat.get("maxItems", MOST))]
        inner = [Place(name, number, place.name) for number in range(len(schemas))]
        return [self.value(schema, it) for schema, it in zip(schemas, inner, strict=True)]

    def _string(self, schema: Json, place: Place) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", 1 << 20)
        text = FORMATS.get(schema.get("format", "")) or self._words(schema, place)
        return text.ljust(min(least, MOST), ".")[:most]

    def _words(self, schema: Json, place: Place) -> str:
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


def _number(schema: Json, place: Place, is_integer: bool) -> int | float:
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
