"""JSON for a JSON Schema, as a model would write it: the same each time, and believable.

`example(schema)` reads the keywords that the schemas of tools and of pydantic's models have. The
value is validated in the end: a schema that asks for more is a `NoExample`, as is one that nothing
meets. Strings and numbers follow the names of their properties (`recordings/words.json`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from jsonrill.demo.recordings import recorded
from jsonrill.errors import JsonrillError
from jsonrill.jsontext import dumps
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
    """A value that is valid for the schema; `names` are preferred for places."""
    try:
        checked = Schema(schema)
        value = _ExampleWriter(schema, names).value(schema, Spot())
        checked.validate(value)  # which raises if it is not valid
    except (JsonrillError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise NoExample(str(error)) from error
    return value


class Spot(NamedTuple):
    """Where a value is written: its name, its number in a list, and what is around it."""

    name: str = ""
    number: int = 0
    parent: str = ""
    references: tuple[str, ...] = ()

    def below(self, name: str, number: int) -> Spot:
        return Spot(name, number, self.name, self.references)


class _ExampleWriter:
    def __init__(self, root: Any, names: Sequence[str]) -> None:
        self._root = root
        self._names = names
        self._left = MOST

    def value(self, schema: Any, spot: Spot) -> Any:
        flat, spot = self._flat(schema, spot)
        if "const" in flat:
            return flat["const"]
        if choices := flat.get("enum") or flat.get("examples"):
            return choices[spot.number % len(choices)]
        if isinstance(default := flat.get("default"), str | int) and default:
            return default
        if options := flat.get("anyOf") or flat.get("oneOf"):
            rest = {key: it for key, it in flat.items() if key not in ("anyOf", "oneOf")}
            return self._one_of([{"allOf": [rest, one]} for one in options], spot)
        kinds = flat.get("type", "object" if "properties" in flat else "string")
        if not isinstance(kinds, str):
            return self._one_of([{**flat, "type": kind} for kind in kinds], spot)
        writers = {"object": self._object, "array": self._array, "string": self._string}
        if kinds in writers:
            return writers[kinds](flat, spot)
        simple = {"boolean": spot.number % 2 == 0, "null": None}
        return simple[kinds] if kinds in simple else _number(flat, spot, kinds == "integer")

    def _flat(self, schema: Any, spot: Spot) -> tuple[Json, Spot]:
        """The schema with what it refers to, and the references that were followed."""
        self._left -= 1
        if schema is False or self._left < 0:
            raise NoExample("nothing is valid, or the schema asks for too many values")
        merged = {} if schema is True else {**schema}
        more = merged.pop("allOf", [])
        if (reference := merged.pop("$ref", None)) is not None:
            if spot.references.count(reference) > 1:
                raise NoExample(f"{reference} contains itself without end")
            spot = spot._replace(references=(*spot.references, reference))
            more = [self._target(reference), *more]
        for one in more:
            flat, spot = self._flat(one, spot)
            merged = {**merged, **flat}
        return merged, spot

    def _target(self, reference: str) -> Any:
        target, [place, *steps] = self._root, reference.split("/")
        for step in steps if place == "#" else [reference]:
            target = target[step.replace("~1", "/").replace("~0", "~")]
        return target

    def _one_of(self, options: list[Any], spot: Spot) -> Any:
        """A value for one of these, another one for each element of a list; null is the last."""
        real = [it for it in options if "null" not in dumps(it)] or options
        first, reason = spot.number % len(real), NoExample("no value has one of these types")
        for option in (*real[first:], *real[:first], *options):
            try:
                return self.value(option, spot)
            except NoExample as error:
                reason = error
        raise reason

    def _object(self, flat: Json, spot: Spot) -> Json:
        properties, required = flat.get("properties", {}), flat.get("required", [])
        written: Json = {}
        for name in dict.fromkeys([*properties, *required]):
            schema = properties.get(name, True)
            try:
                written[name] = self.value(schema, spot.below(name, spot.number))
            except NoExample:
                if name in required:
                    raise
        return written

    def _array(self, flat: Json, spot: Spot) -> list[Any]:
        prefix, items = flat.get("prefixItems", []), flat.get("items", True)
        least = flat.get("minItems", 0)
        short = isinstance(items, dict) and items.get("type") in ("string", "integer", "number")
        count = min(max(least, len(prefix) or 2 + short), flat.get("maxItems", MOST))
        name = re.sub(r"ie$", "y", spot.name.removesuffix("s"))
        written: list[Any] = []
        for number in range(count):
            schema = prefix[number] if number < len(prefix) else items
            try:
                written.append(self.value(schema, spot.below(name, number)))
            except NoExample:
                if number < least:
                    raise
                break
        return written

    def _string(self, schema: Json, spot: Spot) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", 1 << 20)
        text = FORMATS.get(schema.get("format", "")) or self._words(schema, spot)
        return text.ljust(min(least, MOST), ".")[:most]

    def _words(self, schema: Json, spot: Spot) -> str:
        """The text that fits the name of a property."""
        name = _spaced(spot.name or schema.get("title", ""))
        # The name of a city is that of a place, and not of a person.
        named = f"{_spaced(spot.parent)} {name}" if name == "name" else name
        for pattern, words, *takes in _table()["strings"]:
            if re.search(pattern, named):
                # One name is about the whole, several may be the elements of a list.
                if takes and (not spot.parent or len(self._names) > 1):
                    words = [*dict.fromkeys([*self._names, *words])]
                return str(words[spot.number % len(words)])
        text = (name or "text").capitalize()
        return f"{text} {spot.number + 1}" if spot.number or not name else text


def _number(schema: Json, spot: Spot, whole: bool) -> int | float:
    """The number that fits the name, or else one within the bounds."""
    step = schema.get("multipleOf", 1)
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    table = _table()["numbers"]
    base = next((base for pattern, base in table if re.search(pattern, _spaced(spot.name))), 1)
    number = (base if whole or base != 1 else 1.5) + spot.number
    if low is not None and number <= low:
        number = low + step
    if high is not None and number >= high:
        number = high - step if low is None else low + (high - low) / 2
    return int(-(-number // step) * step) if whole else number


def _spaced(name: str) -> str:
    """`createdAt` and `created_at` as words in lower case."""
    return re.sub(r"[_\-\s]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


@cache
def _table() -> Any:
    return json.loads(recorded("words.json"))
