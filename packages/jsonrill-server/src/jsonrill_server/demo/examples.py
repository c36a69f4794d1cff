"""JSON for a JSON Schema, as a model would write it: the same each time, and believable.

`example(schema)` builds a value from the keywords one by one. A few of them can only be met by
chance (`not`, `if`, `contains` beside others), so the value is validated in the end, and there are
several attempts: with every property, with the `then` or the `else` of each `if`, and with as
little as the schema asks for. What none of them meets is a `NoExample`.

Strings and numbers follow the names of their properties (`recordings/words.json`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from jsonrill.demo.recordings import recorded
from jsonrill.errors import JsonrillError
from jsonrill.jsontext import dumps
from jsonrill.schema import Schema
from jsonrill.streams.documents import values

from .patterns import matching

Json = dict[str, Any]
Attempt = Literal["full", "then", "else", "short"]
ATTEMPTS: Final[tuple[Attempt, ...]] = ("full", "then", "else", "short")
# Values that are written before an attempt is given up, and how often a reference may contain
# itself.
MOST: Final = 5000
DEEPEST: Final = 2
NESTED: Final = 40

FORMATS: Final = {
    "date-time": "2026-05-01T08:30:00Z",
    "date": "2026-05-01",
    "time": "08:30:00Z",
    "duration": "PT2H30M",
    "email": "ada@example.org",
    "idn-email": "ada@example.org",
    "hostname": "example.org",
    "idn-hostname": "example.org",
    "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
    # These and the paths are pydantic's own.
    "ipvanyaddress": "192.0.2.7",
    "ipvanyinterface": "192.0.2.7/24",
    "ipvanynetwork": "192.0.2.0/24",
    "ipv4interface": "192.0.2.7/24",
    "ipv4network": "192.0.2.0/24",
    "ipv6interface": "2001:db8::7/64",
    "ipv6network": "2001:db8::/64",
    "path": "notes/one",
    "file-path": "README.md",
    "directory-path": ".",
    "multi-host-uri": "https://example.org/one",
    "color": "blue",
    "uri": "https://example.org/one",
    "iri": "https://example.org/one",
    "url": "https://example.org/one",
    "uri-reference": "/one",
    "iri-reference": "/one",
    "uri-template": "/{name}",
    "uuid": "7d9f2c1a-3b54-4e68-9a0d-1f2e3c4b5a60",
    "json-pointer": "/one",
    "relative-json-pointer": "1/one",
    "regex": "^a+$",
    "json-string": '{"a": 1}',
    "binary": "aGVsbG8=",
    "base64": "aGVsbG8=",
    "byte": "aGVsbG8=",
}
# Keyword → the type that it is about, for schemas that do not name one.
_ABOUT: Final = {
    **dict.fromkeys(("properties", "additionalProperties", "patternProperties"), "object"),
    **dict.fromkeys(("required", "minProperties", "propertyNames"), "object"),
    **dict.fromkeys(("items", "prefixItems", "minItems", "uniqueItems", "contains"), "array"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "number"),
    "multipleOf": "number",
}
# How a keyword of two schemas that both hold is combined; of others the second one's is taken.
_BOTH: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    "required": lambda one, other: [*dict.fromkeys([*one, *other])],
    "enum": lambda one, other: [it for it in one if it in other],
    "properties": lambda one, other: {
        name: {"allOf": [one[name], other[name]]} if name in one and name in other else found
        for name, found in {**one, **other}.items()
    },
    "items": lambda one, other: {"allOf": [one, other]},
    "additionalProperties": lambda one, other: {"allOf": [one, other]},
    "anyOf": lambda one, other: [{"allOf": [a, b]} for a in one for b in other],
    "oneOf": lambda one, other: [{"allOf": [a, b]} for a in one for b in other],
}


class NoExample(ValueError):
    """No value was found for this schema."""


class _Exhausted(NoExample):
    """An attempt took too long."""


def example(schema: Any, names: Sequence[str] = ()) -> Any:
    """A value that is valid for the schema; `names` are preferred for places."""
    check = _check(schema)
    reason = "no value was found for this schema"
    for attempt in ATTEMPTS:
        try:
            found = _Writer(schema, names, attempt).value(schema, Spot())
            check(found)
        except JsonrillError as error:
            reason = error.message
        except (ArithmeticError, AttributeError, LookupError, TypeError, RecursionError) as error:
            # A schema with keywords of wrong types, where no validator is installed.
            reason = f"not a JSON Schema: {error}"
        except ValueError as error:
            reason = str(error) or reason
        else:
            return found
    raise NoExample(reason)


def _check(schema: Any) -> Callable[[Any], None]:
    """A function that raises if a value is not valid; NoExample if the schema is none."""
    try:
        Schema(schema).check()
    except ImportError:  # the extra for schemas
        return lambda value: None
    except (TypeError, ValueError) as error:
        raise NoExample(str(error)) from error

    def check(value: Any) -> None:
        for _ in values(dumps(value), schema):
            pass

    return check


class Spot(NamedTuple):
    """Where a value is written: the property's name, its number in a list, and what is around."""

    name: str = ""
    number: int = 0
    depth: int = 0
    references: tuple[str, ...] = ()
    parent: str = ""

    def below(self, name: str, number: int | None = None) -> Spot:
        number = self.number if number is None else number
        return Spot(name, number, self.depth + 1, self.references, self.name)


class _Writer:
    """One attempt at a value."""

    def __init__(self, root: Any, names: Sequence[str], attempt: Attempt) -> None:
        self._root = root
        self._names = names
        self._attempt = attempt
        self._left = MOST

    def value(self, schema: Any, spot: Spot) -> Any:
        if spot.depth > NESTED:
            raise NoExample("the schema is nested too deeply")
        found, spot = self._flat(schema, spot)
        if "const" in found:
            return found["const"]
        if found.get("enum"):
            return self._one_of(found, spot)
        for given in self._given(found, spot):
            return given
        for key in ("anyOf", "oneOf"):
            if found.get(key):
                return self._any_of(found, key, spot)
        return self._typed(found, spot)

    def _flat(self, schema: Any, spot: Spot) -> tuple[Json, Spot]:
        """The schema with what it refers to, and the references that were followed."""
        if schema is True:
            return {}, spot
        if not isinstance(schema, dict):
            raise NoExample("nothing is valid for false")
        self._left -= 1
        if self._left < 0:
            raise _Exhausted("the schema asks for too many values")
        done = ("$ref", "allOf", "if", "then", "else")
        found = {key: value for key, value in schema.items() if key not in done}
        more = list(schema.get("allOf") or [])
        if isinstance(reference := schema.get("$ref"), str):
            if spot.references.count(reference) >= DEEPEST:
                raise NoExample(f"{reference} contains itself without end")
            spot = spot._replace(references=(*spot.references, reference))
            more.insert(0, self._target(reference))
        if "if" in schema and self._attempt in ("then", "else"):
            chosen = schema.get(self._attempt, True)
            more += [schema["if"], chosen] if self._attempt == "then" else [chosen]
        for one in more:
            flat, spot = self._flat(one, spot)
            found = _merged(flat, found)
        return found, spot

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise NoExample(f"{reference} is in another document")
        found = self._root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~").replace("%25", "%")
            try:
                found = found[int(step)] if isinstance(found, list) else found[step]
            except (KeyError, IndexError, TypeError, ValueError):
                raise NoExample(f"{reference} leads nowhere") from None
        return found

    def _one_of(self, found: Json, spot: Spot) -> Any:
        allowed = [it for it in found["enum"] if it is not None and _is(found.get("type"), it)]
        allowed = allowed or found["enum"]
        return allowed[spot.number % len(allowed)]

    def _given(self, found: Json, spot: Spot) -> Iterator[Any]:
        """What the schema itself has as an example, or as a default that says something."""
        if self._attempt == "full":
            if isinstance(examples := found.get("examples"), list) and examples:
                yield examples[spot.number % len(examples)]
            default = found.get("default")
            if isinstance(default, str | int | float) and default not in ("", 0):
                yield default

    def _any_of(self, found: Json, key: str, spot: Spot) -> Any:
        rest = {name: value for name, value in found.items() if name != key}
        options = sorted(found[key], key=_is_null)
        # Elements of a list show each of the alternatives.
        real = [option for option in options if not _is_null(option)] or options
        first = spot.number % len(real)
        reason = NoExample()
        for option in (*real[first:], *real[:first], *options[len(real) :]):
            try:
                return self.value({"allOf": [rest, option]}, spot)
            except _Exhausted:
                raise
            except NoExample as error:
                reason = error
        raise reason

    def _typed(self, found: Json, spot: Spot) -> Any:
        kinds = found.get("type")
        if kinds is None:
            kinds = next((kind for key, kind in _ABOUT.items() if key in found), "string")
        kinds = [kinds] if isinstance(kinds, str) else sorted(kinds, key="null".__eq__)
        reason = NoExample("no value has all of these types")
        for kind in kinds:
            try:
                return self._of_kind(kind, found, spot)
            except _Exhausted:
                raise
            except NoExample as error:
                reason = error
        raise reason

    def _of_kind(self, kind: Any, found: Json, spot: Spot) -> Any:
        match kind:
            case "object":
                return self._object(found, spot)
            case "array":
                return self._array(found, spot)
            case "string":
                return self._string(found, spot)
            case "integer" | "number":
                return _number(found, spot, whole=kind == "integer")
            case "boolean":
                return spot.number % 2 == 0
            case "null":
                return None
        raise NoExample(f"there is no type {kind}")

    def _object(self, found: Json, spot: Spot) -> Any:
        required = found.get("required") or []
        properties = found.get("properties") or {}
        most = found.get("maxProperties", math.inf)
        wanted = [name for name in properties if name in required or self._attempt != "short"]
        written: dict[str, Any] = {}
        for name in [*wanted, *(name for name in required if name not in properties)]:
            room = most - len([it for it in required if it not in written])
            if name not in required and len(written) >= room:
                continue
            try:
                schema = properties[name] if name in properties else _others(found, name)
                written[name] = self.value(schema, spot.below(name))
            except _Exhausted:
                raise
            except NoExample:
                if name in required:
                    raise
        least = found.get("minProperties", 0)
        others = found.get("additionalProperties", found.get("patternProperties"))
        if not properties and not required and self._attempt != "short":
            if others is None and self._names and spot.depth == 0:
                return {"city": self._names[spot.number % len(self._names)]}
            least = max(least, 2 if isinstance(others, dict) and others else 0)
        for number in range(int(min(least, most)) * 3):
            if len(written) >= min(least, most):
                break
            key = self._key(found, number)
            if key not in written:
                below = spot.below(spot.name, number)
                written[key] = self.value(_others(found, key), below)
        return written

    def _key(self, found: Json, number: int) -> str:
        """The name of a property that the schema does not name."""
        for pattern in found.get("patternProperties") or {}:
            if key := matching(pattern, number):
                return key
        names, _ = self._flat(found.get("propertyNames") or {}, Spot())
        if names.get("enum") or names.get("pattern") or names.get("format"):
            return str(self.value({"type": "string", **names}, Spot("key", number)))
        return ("first", "second", "third")[number] if number < 3 else f"key {number + 1}"

    def _array(self, found: Json, spot: Spot) -> Any:
        prefix = found.get("prefixItems")
        items = found.get("items", found.get("additionalItems", True) if prefix else True)
        if isinstance(items, list):  # drafts before 2020-12
            prefix, items = items, found.get("additionalItems", True)
        prefix = prefix or []
        least, most = found.get("minItems", 0), found.get("maxItems", math.inf)
        usual = 0 if self._attempt == "short" or items is False else 2 + (not _is_large(items))
        count = int(min(max(least, len(prefix) or usual), most))
        written: list[Any] = []
        number = 0
        name = _singular(spot.name)
        if "contains" in found and not prefix:
            items = {"allOf": [items, found["contains"]]}
            count = int(max(count, found.get("minContains", 1)))
        while len(written) < count and number < 4 * count + 8:
            schema = prefix[number] if number < len(prefix) else items
            try:
                one = self.value(schema, spot.below(name, number))
            except _Exhausted:
                raise
            except NoExample:
                if len(written) < least:
                    raise
                break
            number += 1
            if not found.get("uniqueItems") or one not in written:
                written.append(one)
        return written

    def _string(self, found: Json, spot: Spot) -> str:
        least, most = found.get("minLength", 0), found.get("maxLength", math.inf)
        text = self._words(found, spot)
        if pattern := found.get("pattern"):
            if not (_finds(pattern, text) and least <= len(text) <= most):
                text = _of_pattern(pattern, spot.number, least, most)
        if len(text) < least:
            text = (f"{text} " * (least // (len(text) + 1) + 1))[:least].strip().ljust(least, ".")
        if len(text) > most:
            text = text[: int(most)].rstrip().ljust(least, ".")
        return text

    def _words(self, found: Json, spot: Spot) -> str:
        """The text that fits the format, or else the name."""
        if (format := found.get("format")) in FORMATS:
            return _counted(format, FORMATS[format], spot.number)
        name = _spaced(spot.name or found.get("title", ""))
        # The name of a city is that of a place, and not of a person.
        named = f"{_spaced(spot.parent)} {name}" if name == "name" else name
        for pattern, words, *takes in _table()["strings"]:
            if re.search(pattern, named):
                # One name is about the whole, several may be the elements of a list.
                if takes and (spot.depth < 2 or len(self._names) > 1):
                    words = [*dict.fromkeys([*self._names, *words])]
                again, number = divmod(spot.number, len(words))
                return f"{words[number]} {again + 1}" if again else str(words[number])
        text = (name or "text").capitalize()
        return f"{text} {spot.number + 1}" if spot.number or not name else text


def _merged(one: Json, other: Json) -> Json:
    """A schema for what is valid for both."""
    found = {**one, **other}
    for key in one.keys() & other.keys():
        if key == "type":
            found[key] = _common(one[key], other[key])
        elif key in _BOTH:
            found[key] = _BOTH[key](one[key], other[key])
    return found


def _common(one: Any, other: Any) -> Any:
    ones, others = ([it] if isinstance(it, str) else it for it in (one, other))
    both = [it for it in ones if it in others]
    if not both and {"integer", "number"} <= {*ones, *others}:
        return "integer"
    return both


def _others(found: Json, name: str) -> Any:
    """The schema of a property that is not named."""
    for pattern, schema in (found.get("patternProperties") or {}).items():
        if _finds(pattern, name):
            return schema
    return found.get("additionalProperties", True)


def _is(kinds: Any, value: Any) -> bool:
    """True if the value has one of these types; without any it has."""
    if kinds is None:
        return True
    types: dict[str, Any] = {"string": str, "boolean": bool, "integer": int, "number": (int, float)}
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return any(isinstance(value, types.get(kind, object)) for kind in kinds)


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null" or schema.get("const", 0) is None
    )


def _is_large(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") not in ("string", "integer", "number")


def _number(found: Json, spot: Spot, *, whole: bool) -> int | float:
    """The number that fits the name, or else one within the bounds."""
    low, above = _bound(found, "minimum", "exclusiveMinimum", -1)
    high, below = _bound(found, "maximum", "exclusiveMaximum", 1)
    name = _spaced(spot.name)
    base = next((n for pattern, n in _table()["numbers"] if re.search(pattern, name)), None)
    wanted = Decimal(str(base)) if base is not None else Decimal(1 if whole else "1.5")
    tries = [wanted + spot.number, wanted, low + spot.number + 1, low, high - spot.number - 1, high]
    if low.is_finite() and high.is_finite():
        tries.insert(2, low + (high - low) * (spot.number + 1) / (spot.number + 2))
    tries = [number for number in tries if number.is_finite()]
    if step := _step(found, whole):
        roundings = (ROUND_CEILING, ROUND_FLOOR)
        tries = [(n / step).to_integral_value(to) * step for n in tries for to in roundings]
        tries += [number + sign * step for number in tries for sign in (1, -1)]
    for number in tries:
        if low <= number <= high and number not in (above, below):
            return int(number) if number == number.to_integral_value() else float(number)
    raise NoExample("no number is within these bounds")


def _bound(found: Json, key: str, excluding: str, sign: int) -> tuple[Decimal, Decimal | None]:
    """The least or greatest number, and that number again if it is excluded."""
    bound = Decimal(str(found.get(key, sign * math.inf)))
    excluded = found.get(excluding)
    if excluded is True:  # draft 4: the other keyword's bound is excluded
        return bound, bound
    if excluded is None or excluded is False or sign * Decimal(str(excluded)) > sign * bound:
        return bound, None
    return Decimal(str(excluded)), Decimal(str(excluded))


def _step(found: Json, whole: bool) -> Decimal | None:
    """What the number is a multiple of."""
    if not found.get("multipleOf"):
        return Decimal(1) if whole else None
    step = Decimal(str(found["multipleOf"]))
    return step * step.as_integer_ratio()[1] if whole else step


def _of_pattern(pattern: str, number: int, least: int, most: float) -> str:
    """A text that the pattern finds, of an allowed length."""
    for more in range(least + 2):
        text = matching(pattern, number, more)
        if text is None:
            break
        if least <= len(text) <= most:
            return text
    # Look-aheads, as for passwords, say what must be somewhere.
    for text in ("Abcdef12!".ljust(least, "x"), "abc-123", "2026"):
        if least <= len(text) <= most and _finds(pattern, text):
            return text
    raise NoExample(f"no text was found for the pattern {pattern}")


def _finds(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _counted(format: str, text: str, number: int) -> str:
    """The text of a format, another one for each number."""
    match format:
        case "date" | "date-time":
            return text.replace("-05-01", f"-{5 + number // 28 % 8:02}-{1 + number % 28:02}")
        case "time":
            return text.replace("08:", f"{(8 + number) % 24:02}:")
        case "uuid":
            return f"{text[:-4]}{(0x5A60 + number) % 65536:04x}"
        case "email" | "idn-email":
            return text.replace("ada", ("ada", "bo", "carla")[number % 3] + str(number // 3 or ""))
    if number and text.endswith("one"):
        return f"{text[:-3]}{number + 1}"
    return text


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _spaced(name: str) -> str:
    """`createdAt` and `created_at` as words in lower case."""
    return re.sub(r"[_\-\s]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(recorded("words.json"))
    return found
