"""Never a false alarm, the validator's verdict at the end, and nothing sooner to be known.

Random schemas, random documents, random cuttings: jsonschema-rs and pydantic are the oracles.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from jsonrill import Parser
from jsonrill.schema import Schema
from support import at, examples
from support.schemas import KEYS, SchemaMaker, document, validated

from .pydantic_types import TypeMaker, takes, value_for

# Seeded by hypothesis, but quick: a schema takes hundreds of draws.
CHANCE = st.randoms(use_true_random=True)


def written(chance: Random, doc: Any) -> str:
    separators = chance.choice([(",", ":"), (", ", ": "), (" ,\n", " : ")])
    return json.dumps(doc, ensure_ascii=chance.random() < 0.5, separators=separators)


def cut(chance: Random, text: str) -> list[str]:
    return at([chance.randint(0, len(text)) for _ in range(chance.randint(0, 8))], text)


def agrees(schema: Schema, text: str, is_valid: bool, chance: Random) -> None:
    """The verdict is the oracle's, and the same for every cutting."""
    by_character = validated(schema, text)
    assert (by_character.violation is None) == is_valid, (text, by_character.violation)
    for pieces in ([text], cut(chance, text)):
        again = validated(schema, text, pieces).violation
        assert str(again) == str(by_character.violation), (text, pieces)


@examples(250)
@given(CHANCE)
def test_json_schema_has_the_verdict_of_jsonschema_rs(chance: Random) -> None:
    source = SchemaMaker(chance).make()
    try:
        oracle = jsonschema_rs.validator_for(source)
    except ValueError:
        with pytest.raises(ValueError, match="not a JSON Schema"):
            Schema(source)
        return
    schema = Schema(source)
    for _ in range(6):
        doc = document(chance, source, source)
        agrees(schema, written(chance, doc), oracle.is_valid(doc), chance)


@examples(200)
@given(CHANCE)
def test_pydantic_has_the_verdict_of_pydantic(chance: Random) -> None:
    adapter = TypeAdapter(TypeMaker(chance).make(3))
    schema = Schema(adapter)
    for _ in range(8):
        text = written(chance, value_for(chance, adapter.core_schema))
        agrees(schema, text, takes(adapter, text), chance)


class SimpleSchemas:
    """Schemas that can be fulfilled, of rules that are judged before the end of what they rule."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def make(self, depth: int = 2) -> dict[str, Any]:
        chance = self.chance
        kinds = ["string", "enum", "const", "integer", "boolean", "null", "types"]
        match chance.choice(kinds + ["object", "object", "array", "anyOf"] * (depth > 0) * 2):
            case "string":
                return {"type": "string", "maxLength": chance.randint(0, 2)}
            case "enum":
                return {"enum": chance.sample(["a", "ab", "abc", "ba", True, None], 2)}
            case "const":
                return {"const": chance.choice(["", "a", "ab", False, None])}
            case "types":
                return {"type": chance.sample(["string", "integer", "boolean", "null"], 2)}
            case "object":
                return self.object(depth - 1)
            case "array":
                return {"type": "array", "items": self.make(depth - 1), "maxItems": 2}
            case "anyOf":
                return {"anyOf": [self.make(depth - 1), self.make(depth - 1)]}
            case kind:
                return {"type": kind}

    def object(self, depth: int) -> dict[str, Any]:
        keys = self.chance.sample(["a", "b", "c"], self.chance.randint(1, 2))
        schema: dict[str, Any] = {"type": "object"}
        schema["properties"] = {key: self.make(depth) for key in keys}
        if self.chance.random() < 0.6:
            schema["additionalProperties"] = False
        if depth == 0 and self.chance.random() < 0.5:
            schema["required"] = keys[:1]
        return schema


SCALARS = ["1", '""', '"a"', '"ab"', '"abc"', '"ba"', "true", "false", "null"]
VALUES = [*SCALARS, "[]", "{}", *(f'{{"{key}":{one}}}' for key in "abc" for one in SCALARS)]


def completions(text: str) -> Iterator[str]:
    """Ways to go on to a whole document, from a place where a value is open or has just ended."""
    parser = Parser()
    parser.feed(text)
    strings = text.replace("\\", "").count('"') % 2
    if strings:
        ends = ['"', 'a"', 'b"', 'c"', 'ab"', 'ba"', 'bc"', 'abc"']
    elif parser.pending:
        word = parser.pending[1]
        ends = [next((one[len(word) :] for one in SCALARS if one.startswith(word)), "")]
    else:
        ends = [""]
    brackets = open_brackets(text)
    is_fresh = text[-1] in "{["
    for end in ends:
        yield from closed(text + end, brackets, is_fresh)


def closed(text: str, brackets: str, is_fresh: bool) -> Iterator[str]:
    if not brackets:
        yield text
        return
    comma = "" if is_fresh else ","
    inner = [""]
    if brackets[-1] == "{":
        inner += [f'{comma}"{key}":{one}' for key in "abc" for one in VALUES]
    for more in inner:
        end = "}" if brackets[-1] == "{" else "]"
        yield from closed(text + more + end, brackets[:-1], False)


def open_brackets(text: str) -> str:
    brackets = ""
    for place, char in enumerate(text):
        if text[:place].count('"') % 2 == 0:
            if char in "{[":
                brackets += char
            elif char in "}]":
                brackets = brackets[:-1]
    return brackets


def is_between(text: str, read: int) -> bool:
    """Is a key or a number being read there, or a value still to come?"""
    before = text[:read]
    if before.count('"') % 2:
        end = text.find('"', read)
        return text[end + 1 : end + 2] == ":"
    return text[read : read + 1] == ":" or before[-1] in ",:-.e+0123456789"


@examples(300)
@given(CHANCE)
def test_no_violation_could_be_known_sooner(chance: Random) -> None:
    source = SimpleSchemas(chance).make()
    schema, oracle = Schema(source), jsonschema_rs.validator_for(source)
    for _ in range(6):
        doc = document(chance, source, source, 3)
        text = json.dumps(doc, separators=(",", ":"))
        if "\\" in text or oracle.is_valid(doc):
            continue
        read = validated(schema, text).read - 1
        while read and is_between(text, read):
            read -= 1
        if read:
            assert any(oracle.is_valid(json.loads(whole)) for whole in completions(text[:read])), (
                source,
                text[:read],
                text,
            )


def test_the_completions_are_documents() -> None:
    for text in ('{"a":[{"b":"x', "[tr", '{"a":1', "[", '{"a":{}', '"a'):
        every = list(completions(text))
        assert len(every) == len(set(every))
        assert all(one.startswith(text) and json.loads(one) is not KEYS for one in every)
