"""A JSON Schema and a text: refused if and only if a validator refuses the value, however cut.

`python -m fuzz schema --seconds 600`. Schemas are random, of the keywords that tell early and of
those that tell at the end. The verdict is compared with that of jsonschema-rs on the value; an
error comes at the same character in every cutting, and never before that a valid text.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

import jsonschema_rs

from fuzz.seeds import JSON_WORDS, cut, mutated, value
from jsonrill import InvalidJSON, InvalidSchema, LimitExceeded, updates, values
from jsonrill.schema import Schema

TARGET: Final = "schema and text, any cutting: refused where a validator refuses, and only there"
BYTES: Final = False
WORDS: Final = (
    *JSON_WORDS,
    *('"type"', '"properties"', '"required"', '"items"', '"enum"', '"const"', '"anyOf"', '"not"'),
    *('"additionalProperties"', '"minimum"', '"maxLength"', '"pattern"', '"prefixItems"', '"$ref"'),
)
TYPES: Final = ("string", "number", "integer", "boolean", "null", "object", "array")
PATTERNS: Final = ("^a", "b$", "^[a-z]*$", "x", "^é?$")


def schema(random: Random, depth: int = 0) -> Any:
    """A small schema."""
    if random.random() < 0.08:
        return random.random() < 0.8
    keywords: dict[str, Any] = {}
    for _ in range(random.choice([1, 1, 2, 3])):
        name = random.choice(FLAT if depth > 2 else (*FLAT, *NESTED))
        keywords[name] = _keyword(random, name, depth)
    return keywords


FLAT: Final = (
    *("type", "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
    *("minProperties", "maxProperties", "required"),
)
NESTED: Final = (
    *("properties", "properties", "properties", "additionalProperties", "patternProperties"),
    *("propertyNames", "items", "items", "prefixItems", "contains", "anyOf", "oneOf", "allOf"),
    *("not", "if", "dependentRequired"),
)


def _keyword(random: Random, name: str, depth: int) -> Any:
    inner = lambda: schema(random, depth + 1)  # noqa: E731
    keys = random.sample(("a", "b", "c", "d", ""), random.randint(1, 3))
    match name:
        case "type":
            several = random.sample(TYPES, random.randint(1, 3))
            return several if random.random() < 0.3 else several[0]
        case "enum":
            return [value(random, 2) for _ in range(random.randint(1, 4))]
        case "const":
            return value(random, 2)
        case "minimum" | "maximum" | "exclusiveMinimum":
            return random.choice([-1, 0, 1, 2, 1.5])
        case "multipleOf":
            return random.choice([1, 2, 3, 5])
        case "pattern":
            return random.choice(PATTERNS)
        case "uniqueItems":
            return random.random() < 0.8
        case "required":
            return keys
        case "properties":
            return {key: inner() for key in keys}
        case "patternProperties":
            return {random.choice(PATTERNS): inner()}
        case "prefixItems" | "anyOf" | "oneOf" | "allOf":
            return [inner() for _ in range(random.randint(1, 3))]
        case "dependentRequired":
            return {keys[0]: keys[1:]}
        case "additionalProperties" | "propertyNames" | "items" | "contains" | "not" | "if":
            return inner()
        case _:
            return random.randrange(4)


def seeds() -> tuple[str, ...]:
    """Schema and text on two lines."""
    random = Random("seeds")
    pairs = ((schema(random), value(random)) for _ in range(60))
    return tuple(f"{json.dumps(one)}\n{json.dumps(other)}" for one, other in pairs)


def check(text: str, random: Random) -> None:
    """A schema in the first line, and the text after it."""
    first, _, rest = text.partition("\n")
    try:
        compare(json.loads(first), rest, random)
    except (ValueError, RecursionError, jsonschema_rs.ValidationError):
        return


def compare(wanted: Any, text: str, random: Random) -> None:
    """One schema and one text."""
    compiled = Schema(wanted)
    whole = _read(compiled, [text])
    for _ in range(2):
        pieces = cut(random, text)
        again = _read(compiled, pieces)
        assert again == whole, f"{pieces!r}: {again!r}, at once {whole!r}"
        shown = _updated(compiled, pieces), _updated(compiled, [text])
        assert shown[0] == shown[1], f"updates: {pieces!r}: {shown[0]!r}, at once {shown[1]!r}"
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return
    try:
        valid = jsonschema_rs.validator_for(wanted).is_valid(value)
    except UnicodeEncodeError:  # half a surrogate pair, which it cannot take
        return
    if isinstance(whole, tuple):
        assert whole[0] == "InvalidSchema", whole
    assert valid is not isinstance(whole, tuple), f"{whole!r}, but a validator says {valid}"


def _read(compiled: Schema, pieces: list[str]) -> Any:
    try:
        *_, last = [None, *values(iter(pieces), compiled)]
    except InvalidSchema as error:
        return (type(error).__name__, error.offset, error.path, error.rule)
    except (InvalidJSON, LimitExceeded) as error:
        return (type(error).__name__, error.offset, error.path)
    return repr(last)


def _updated(compiled: Schema, pieces: list[str]) -> Any:
    """The errors among the updates of a text."""
    errors = [update.error for update in updates(iter(pieces), schema=compiled)]
    keys = ("code", "offset", "path", "rule")
    return [tuple(error.get(key) for key in keys) for error in errors if error is not None]


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def run(random: Random) -> None:
    """One execution."""
    wanted = schema(random)
    text = json.dumps(value(random), ensure_ascii=random.random() < 0.5)
    if random.random() < 0.3:
        text = mutated(random, text, JSON_WORDS, ('{"a": [1, "b"]}',))
    try:
        compare(wanted, text, random)
    except Exception as error:
        error.add_note(f"the schema was {json.dumps(wanted)}, the text {text!r}")
        raise
