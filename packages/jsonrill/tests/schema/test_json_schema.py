"""JSON Schema: what is refused, when, and how it is reported."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from jsonrill import InvalidSchema, JsonrillError, Truncated, values
from jsonrill.paths import ABSENT
from jsonrill.schema import Schema
from support import ROOT, hard

pytest.importorskip("jsonschema_rs")

SCHEMA = {
    "type": "object",
    "properties": {
        "color": {"enum": ["red", "green", "grey"]},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "pet": {"$ref": "#/$defs/pet"},
        "dog": {"$ref": "#/$defs/pet", "properties": {"name": {"type": "string"}}},
        "pair": {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": False},
        "id": {"type": ["string", "null"]},
        "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["age"],
    "additionalProperties": False,
    "$defs": {"pet": {"properties": {"kind": {"const": "dog"}}, "required": ["kind"]}},
}


def outcome(pieces: Any, schema: Any) -> Any:
    """Return "valid", or everything that a violation tells."""
    try:
        for _ in values(pieces, schema):
            pass
    except InvalidSchema as error:
        place = error.path, error.offset, error.line, error.column
        return *place, error.rule, error.message, error.value
    return "valid"


@pytest.mark.parametrize(
    "text, path, rule",
    [
        ('{"color": "gra', ("color",), "enum"),
        ('{"color": 1', ("color",), "enum"),
        ('{"color": "gre"', ("color",), "enum"),
        ('{"colour"', ("colour",), "additionalProperties"),
        ('{"age": t', ("age",), "type"),
        ('{"age": -5,', ("age",), "minimum"),
        ('{"tags": ["a", 5', ("tags", 1), "type"),
        ('{"tags": ["a", "b", "c"]', ("tags",), "maxItems"),
        ('{"pet": {"kind": "c', ("pet", "kind"), "const"),
        ('{"pet": {}', ("pet",), "required"),
        ('{"dog": {"kind": "c', ("dog", "kind"), "const"),
        ('{"pair": [1', ("pair", 0), "type"),
        ('{"pair": ["a", 1, n', ("pair", 2), "falseSchema"),
        ('{"id": 5', ("id",), "type"),
        ('{"any": [', ("any",), "anyOf"),
        ('{"tags": []}', (), "required"),
        ("5", (), "type"),
    ],
)
def test_a_violation_is_raised_at_the_character_that_proves_it(
    text: str, path: Any, rule: str
) -> None:
    with pytest.raises(InvalidSchema) as caught:
        list(values(list(text), SCHEMA))
    assert (caught.value.path, caught.value.rule) == (path, rule)
    with pytest.raises(Truncated):
        list(values(list(text[:-1]), SCHEMA))
    assert outcome([text], SCHEMA) == outcome(list(text), SCHEMA)


def test_values_are_plain() -> None:
    assert list(values(['{"age": 5, "co', 'lor": "red"}'], SCHEMA)) == [
        {"age": 5},
        {"age": 5, "color": "red"},
    ]


@pytest.mark.parametrize(
    ("keys", "allowed"),
    [
        ([], "none is allowed"),
        (["a"], 'allowed is "a"'),
        (["a", "c"], 'allowed are "a", "c"'),
    ],
)
def test_the_message_lists_the_keys_that_are_allowed(keys: list[str], allowed: str) -> None:
    schema = {"properties": dict.fromkeys(keys, {}), "additionalProperties": False}
    message = outcome(['{"b": 1}'], schema)[5]
    assert message.startswith(f'the key "b" is not allowed: {allowed} (')


def test_the_message_lists_the_allowed_values() -> None:
    message = outcome(['{"age": 1, "color": "gray"}'], SCHEMA)[5]
    assert message == (
        'no allowed value begins with "gra": allowed are "green", "grey", "red" (enum)'
        " at character 20, in root.color"
    )


def test_a_text_is_found_among_ten_thousand_values() -> None:
    schema = {"enum": [f"value {n:05}" for n in range(10_000)]}
    assert outcome(list('"value 04711"'), schema) == "valid"
    path, offset, *_, rule, message, _ = outcome(list('"value 1x'), schema)
    assert (path, offset, rule) == ((), 0, "enum")
    assert message.startswith('no allowed value begins with "value 1": ')


def test_true_allows_everything_and_false_nothing() -> None:
    assert outcome(["[1]"], True) == "valid"
    assert outcome(["["], False)[4] == "falseSchema"


def test_an_invalid_schema_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="not a JSON Schema: .*, at type"):
        Schema({"type": "objekt"})


def test_nothing_is_fetched() -> None:
    with pytest.raises(ValueError):
        Schema({"$ref": "https://example.com/schema.json"})


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "https://example.com/a", "$ref": "https://example.com/a#/$defs/n"},
        {
            "$id": "https://example.com/a",
            "$ref": "/b",
            "$defs": {"b": {"$id": "/b", "type": "null"}},
        },
        {"$id": "urn:uuid:deadbeef", "$ref": "urn:uuid:deadbeef#/$defs/n"},
    ],
)
def test_references_to_identifiers_are_judged_at_the_end(schema: dict[str, Any]) -> None:
    schema = {**schema, "$defs": {**schema.get("$defs", {}), "n": {"type": "null"}}}
    assert outcome(list("null"), schema) == "valid"
    assert outcome(list("[1, 2]"), schema)[4] == "type"


def test_zeros_of_a_schema() -> None:
    schema = Schema(SCHEMA)
    assert schema.zero(("age",)) == 0
    assert schema.zero(("tags",)) == []
    assert schema.zero(("tags", 0)) == ""
    assert schema.zero(("any",)) is None
    assert schema.zero(("other",)) is ABSENT


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jsonschema_rs", None)
    with pytest.raises(ImportError, match=r"install jsonrill\[jsonschema\]"):
        Schema({"type": "string", "title": "not compiled before"})


SUITE = Path(ROOT.parent, "shared", "data", "jsonschema")
DRAFTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


@hard
@pytest.mark.skipif(not SUITE.exists(), reason="needs the JSON Schema test suite")
@pytest.mark.parametrize("draft", DRAFTS)
def test_the_test_suite_in_random_pieces(draft: str) -> None:
    import jsonschema_rs

    for file in sorted((SUITE / draft).rglob("*.json")):
        for group in json.loads(file.read_text("utf8")):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": DRAFTS[draft], **schema}
            try:
                compiled = Schema(schema)
            except ValueError:
                continue  # it refers to another document
            validator = jsonschema_rs.validator_for(schema)
            for test in group["tests"]:
                text = json.dumps(test["data"])
                outcomes = [outcome(item, compiled) for item in cuts(text)]
                is_valid = validator.is_valid(test["data"])
                assert [item == "valid" for item in outcomes] == [is_valid] * 3, (file, group, test)
                assert outcomes[0] == outcomes[1] == outcomes[2], (file, group, test)


def cuts(text: str) -> list[list[str]]:
    chance = Random(text)
    at = sorted(chance.sample(range(len(text) + 1), min(len(text), 5)))
    pieces = [text[i:j] for i, j in zip([0, *at], [*at, len(text)], strict=True)]
    return [[text], list(text), pieces]


def test_a_schema_that_refers_to_itself() -> None:
    tree = {"type": "object", "properties": {"inner": {"type": "array", "items": {"$ref": "#"}}}}
    assert outcome(list('{"inner": [{"inner": []}]}'), tree) == "valid"
    assert outcome(list('{"inner": [{"inner": [5'), tree)[0] == ("inner", 0, "inner", 0)
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    with pytest.raises(JsonrillError):
        list(values('{"a": [1', loop))
