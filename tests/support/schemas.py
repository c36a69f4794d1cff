"""What the tests of schemas share: a stream with a check, and random schemas with documents.

`validated` uses a `Check` as a caller does: fragment by fragment, what is pending after each piece,
and the complete value at the end. The generators take a `random.Random`, seeded by hypothesis.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import version
from random import Random
from typing import Any, NamedTuple

import pytest

from jsonrill import InvalidSchema, Parser, Path
from jsonrill.schema import Check, Schema

DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    19: "https://json-schema.org/draft/2019-09/schema",
    20: "https://json-schema.org/draft/2020-12/schema",
}
TYPES = ["string", "number", "integer", "boolean", "null", "object", "array"]
KEYS = ["a", "b", "ab", "c"]
TEXTS = ["", "a", "b", "ab", "abc", "ba", "abcd", "é", "x y", 'q"\\', "😀a", "red", "1"]


def since_pydantic(needed: str) -> pytest.MarkDecorator:
    """For what docs/schema.md says is different before this version."""
    there = [int(part) for part in version("pydantic").split(".")[:2]]
    is_older = there < [int(part) for part in needed.split(".")]
    return pytest.mark.skipif(is_older, reason=f"since pydantic {needed}")


class Verdict(NamedTuple):
    """What a check said, and how many characters it had seen by then."""

    read: int
    violation: InvalidSchema | None
    check: Check


def placed(violation: InvalidSchema) -> tuple[Path, int, str]:
    return violation.path, violation.offset, violation.rule


def _pending(parser: Parser, check: Check) -> InvalidSchema | None:
    if parser.pending:
        return check.pending(*parser.pending, parser.pending_offset)
    return check.pending_key(*parser.pending_key) if parser.pending_key else None


def validated(schema: Any, text: str, pieces: Iterable[str] | None = None) -> Verdict:
    """Send a whole document through a check, by character if it is not cut otherwise."""
    check = (schema if isinstance(schema, Schema) else Schema(schema)).check()
    parser = Parser()
    read = 0
    for piece in pieces if pieces is not None else text:
        read += len(piece)
        for fragment in parser.feed(piece):
            if violation := check.feed(fragment):
                return Verdict(read, violation, check)
        if violation := _pending(parser, check):
            return Verdict(read, violation, check)
    for fragment in parser.flush():
        if violation := check.feed(fragment):
            return Verdict(read, violation, check)
    return Verdict(read, check.close(json.loads(text)), check)


def begun(schema: Any, text: str) -> InvalidSchema | None:
    """Send the beginning of a document, by character: the violation by then."""
    check = (schema if isinstance(schema, Schema) else Schema(schema)).check()
    parser = Parser()
    for char in text:
        for fragment in parser.feed(char):
            if violation := check.feed(fragment):
                return violation
        if violation := _pending(parser, check):
            return violation
    return None


def scalar(chance: Random) -> Any:
    return chance.choice(
        [None, True, False, 0, 1, 2, -1, 5, 10, 1.0, 1.5, -0.5, 100, 10**20, *TEXTS, *TEXTS]
    )


def value(chance: Random, depth: int = 2) -> Any:
    kind = chance.randint(0, 9) if depth > 0 else 0
    if kind < 6:
        return scalar(chance)
    if kind < 8:
        return [value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    return {key: value(chance, depth - 1) for key in chance.sample(KEYS, chance.randint(0, 3))}


class SchemaMaker:
    """Random JSON Schemas of one draft, with every keyword that the compiler knows, and others."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.draft = chance.choice([20, 20, 20, 7, 7, 19, 6, 4])
        self.definitions = "definitions" if self.draft <= 7 else "$defs"
        names = ["#", f"#/{self.definitions}/x", f"#/{self.definitions}/y~1z"]
        self.references = names if chance.random() < 0.5 else []

    def make(self) -> dict[str, Any]:
        schema = self.schema(3)
        schema = schema if isinstance(schema, dict) else {"allOf": [schema]}
        if self.draft != 20 or self.sometimes(0.3):
            schema["$schema"] = DRAFTS[self.draft]
        if self.references:
            schema[self.definitions] = {"x": self.schema(2), "y/z": self.schema(2)}
        return schema

    def sometimes(self, part: float) -> bool:
        return self.chance.random() < part

    def schema(self, depth: int) -> Any:
        if self.sometimes(0.06) and self.draft > 4:
            return self.sometimes(0.6)
        if self.references and self.sometimes(0.12):
            beside = {"type": self.chance.choice(TYPES)} if self.sometimes(0.3) else {}
            return {"$ref": self.chance.choice(self.references), **beside}
        schema: dict[str, Any] = {}
        if self.sometimes(0.75):
            several = self.chance.sample(TYPES, self.chance.randint(1, 4))
            schema["type"] = several if self.sometimes(0.3) else several[0]
        types = schema.get("type", TYPES)
        self.listed(schema)
        if "string" in types:
            self.of_strings(schema)
        if "number" in types or "integer" in types:
            self.of_numbers(schema)
        if depth > 0:
            if "object" in types:
                self.of_objects(schema, depth - 1)
            if "array" in types:
                self.of_arrays(schema, depth - 1)
            self.combined(schema, depth - 1)
        return schema

    def listed(self, schema: dict[str, Any]) -> None:
        if self.sometimes(0.12):
            values = [value(self.chance, 2) for _ in range(self.chance.randint(1, 4))]
            schema["enum"] = [one for at, one in enumerate(values) if one not in values[:at]]
        if self.sometimes(0.08):
            schema["const"] = value(self.chance, 2)

    def of_strings(self, schema: dict[str, Any]) -> None:
        if self.sometimes(0.3):
            schema["maxLength"] = self.chance.randint(0, 3)
        if self.sometimes(0.15):
            schema["minLength"] = self.chance.randint(0, 3)
        if self.sometimes(0.15):
            schema["pattern"] = self.chance.choice(["^a", "b$", "^[ab]*$", r"\d", "^.$"])
        if self.sometimes(0.06):
            schema["format"] = self.chance.choice(["email", "date", "ipv4", "unknown"])

    def of_numbers(self, schema: dict[str, Any]) -> None:
        if self.sometimes(0.2):
            schema["maximum"] = self.chance.randint(0, 5)
        if self.sometimes(0.2):
            schema["minimum"] = self.chance.randint(-1, 5)
        if self.sometimes(0.1):
            schema["multipleOf"] = self.chance.choice([1, 2, 0.5])
        if self.sometimes(0.1):
            if self.draft > 4:
                schema["exclusiveMinimum"] = self.chance.randint(-1, 3)
            elif "minimum" in schema:
                schema["exclusiveMinimum"] = True

    def of_objects(self, schema: dict[str, Any], depth: int) -> None:
        chance = self.chance
        if self.sometimes(0.6):
            keys = chance.sample(KEYS, chance.randint(1, 3))
            schema["properties"] = {key: self.schema(depth) for key in keys}
        if self.sometimes(0.3):
            schema["additionalProperties"] = False if self.sometimes(0.6) else self.schema(depth)
        if self.sometimes(0.2):
            schema["required"] = chance.sample(KEYS, chance.randint(1, 2))
        if self.sometimes(0.15):
            schema["patternProperties"] = {chance.choice(["^a", "b", "c$"]): self.schema(depth)}
        if self.sometimes(0.1):
            schema["propertyNames"] = self.schema(depth)
        if self.sometimes(0.1):
            schema["maxProperties"] = chance.randint(0, 2)
        if self.sometimes(0.1):
            schema["minProperties"] = chance.randint(0, 2)
        if self.sometimes(0.06):
            keyword = "dependentRequired" if self.draft >= 19 else "dependencies"
            schema[keyword] = {chance.choice(KEYS): [chance.choice(KEYS)]}
        if self.sometimes(0.06) and self.draft >= 19:
            schema["unevaluatedProperties"] = False

    def of_arrays(self, schema: dict[str, Any], depth: int) -> None:
        if self.sometimes(0.5):
            several = self.draft < 20 and self.sometimes(0.4)
            schema["items"] = self.few(depth) if several else self.schema(depth)
        if self.sometimes(0.3) and self.draft == 20:
            schema["prefixItems"] = self.few(depth)
        if self.sometimes(0.2):
            schema["additionalItems"] = self.schema(depth)
        if self.sometimes(0.25):
            schema["maxItems"] = self.chance.randint(0, 2)
        if self.sometimes(0.15):
            schema["minItems"] = self.chance.randint(0, 2)
        if self.sometimes(0.1):
            schema["uniqueItems"] = True
        if self.sometimes(0.08):
            schema["contains"] = self.schema(depth)

    def combined(self, schema: dict[str, Any], depth: int) -> None:
        for keyword, part in (("anyOf", 0.25), ("oneOf", 0.15), ("allOf", 0.15)):
            if self.sometimes(part):
                schema[keyword] = self.few(depth)
        if self.sometimes(0.07):
            schema["not"] = self.schema(depth)
        if self.sometimes(0.07):
            schema |= {keyword: self.schema(depth) for keyword in ("if", "then", "else")}

    def few(self, depth: int) -> list[Any]:
        return [self.schema(depth) for _ in range(self.chance.randint(1, 3))]


def document(chance: Random, schema: Any, root: Any, depth: int = 4) -> Any:
    """A document that tries to fit a schema, without always doing so."""
    if depth <= 0 or not isinstance(schema, dict) or chance.random() < 0.12:
        return value(chance, min(depth, 2))
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].split("/")[1:]:
            target = target[step.replace("~1", "/")]
        return document(chance, target, root, depth - 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema and chance.random() < 0.5:
            return document(chance, chance.choice(schema[keyword]), root, depth - 1)
    if "const" in schema and chance.random() < 0.8:
        return schema["const"]
    if "enum" in schema and chance.random() < 0.8:
        return chance.choice(schema["enum"])
    return _of_type(chance, schema, root, depth)


def _of_type(chance: Random, schema: dict[str, Any], root: Any, depth: int) -> Any:
    kind = schema.get("type") or chance.choice(["object", "array", "string", "number", "any"])
    match chance.choice(kind) if isinstance(kind, list) else kind:
        case "string":
            text = chance.choice(TEXTS)
            return text[: schema.get("maxLength", 99)] if chance.random() < 0.8 else text
        case "number" | "integer":
            return chance.choice([0, 1, 2, 3, 4, 5, -1, 1.0, 2.0, 0.5])
        case "boolean":
            return chance.random() < 0.5
        case "null":
            return None
        case "array":
            return _array(chance, schema, root, depth)
        case "object":
            return _object(chance, schema, root, depth)
    return value(chance, 2)


def _array(chance: Random, schema: dict[str, Any], root: Any, depth: int) -> list[Any]:
    items = schema.get("items", True)
    prefix = schema.get("prefixItems") or (items if isinstance(items, list) else [])
    rest = schema.get("additionalItems", True) if isinstance(items, list) else items
    low = schema.get("minItems", 0)
    high = max(low, min(3, schema.get("maxItems", 3)))
    length = chance.randint(low, high) if chance.random() < 0.9 else 4
    parts = [prefix[at] if at < len(prefix) else rest for at in range(length)]
    return [document(chance, part, root, depth - 1) for part in parts]


def _object(chance: Random, schema: dict[str, Any], root: Any, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    pool = [*properties, *(KEYS if others is not False or chance.random() < 0.15 else [])]
    keys = schema.get("required", []) if chance.random() < 0.9 else []
    keys = list({*keys, *chance.sample(pool, min(len(pool), chance.randint(0, 3)))})
    chance.shuffle(keys)
    return {key: document(chance, properties.get(key, others), root, depth - 1) for key in keys}
