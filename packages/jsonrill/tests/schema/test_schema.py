"""A schema violated at the earliest character, by table: JSON Schema, and what is true of both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from textwrap import dedent
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Fragment, InvalidSchema, Parser, values
from jsonrill.paths import format_path, parse_pattern
from jsonrill.schema import Schema, _Compiled
from jsonrill.schema.libraries import LIBRARIES
from jsonrill.schema.nodes import Refusal
from jsonrill.schema.parts import Joined
from jsonrill.schema.references import ReferencedSchema
from jsonrill.schema.validators import JsonSchemaValidator
from support import PYTHONPATH, cuttings, examples, pieces
from support.costs import is_linear
from support.schemas import DRAFTS, begun, placed, validated

ITEM = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
TREE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
    "additionalProperties": False,
}
CATS_OR_DOGS = {
    "oneOf": [
        {"properties": {"kind": {"const": "cat"}, "meow": {"type": "integer"}}},
        {
            "properties": {
                "kind": {"enum": ["dog", "wolf"]},
                "bark": {"type": "number", "minimum": 0},
            }
        },
    ]
}
VERSIONS = {
    "anyOf": [
        {"properties": {"v": {"const": 1}, "n": {"minimum": 0}}},
        {"properties": {"v": {"const": 2}, "n": {"maximum": 0}}},
    ]
}
BY_TWO_KEYS = {
    "anyOf": [
        {"properties": {"a": {"const": 1}, "b": {"const": "x"}, "n": {"minimum": 0}}},
        {"properties": {"a": {"const": 1}, "b": {"const": "y"}, "n": {"maximum": 0}}},
    ]
}
PETS = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "dog"}, "name": {"type": "string"}},
            "required": ["kind"],
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "dot"}, "size": {"type": "number"}},
            "additionalProperties": False,
        },
        {"type": "null"},
    ]
}

SHAPES = {"properties": {"colour": {}, "size": {}}, "additionalProperties": False}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


# schema, the text up to the character that proves it, the rest, rule, path
EARLIEST: list[tuple[Any, str, str, str, str]] = [
    # the type, at the first character of a value
    ({"type": "string"}, "1", "2", "type", "root"),
    ({"type": "object"}, '"', 'a"', "type", "root"),
    ({"type": "array"}, "{", "}", "type", "root"),
    ({"type": "number"}, "n", "ull", "type", "root"),
    (of(a={"type": "integer"}), '{"a":"', '1"}', "type", "root.a"),
    (of(a={"type": "string"}), '{"a":-', "1}", "type", "root.a"),
    (of(a={"type": "boolean"}), '{"a":n', "ull}", "type", "root.a"),
    (of(a={"type": ["integer", "null"]}), '{"a":t', "rue}", "type", "root.a"),
    ({"type": "array", "items": {"type": "null"}}, "[null,[", "]]", "type", "root[1]"),
    # 1.0 is an integer, so 1.5 is none only when it is whole
    (of(a={"type": "integer"}), '{"a":1.5}', "", "type", "root.a"),
    ({"$schema": DRAFTS[4], **of(a={"type": "integer"})}, '{"a":1.', "5}", "type", "root.a"),
    # enum and const: texts by character, the rest by kind and at the end
    (of(a={"enum": ["red", "rose"]}), '{"a":"ri', 'd"}', "enum", "root.a"),
    (of(a={"enum": ["red", "rose"]}), '{"a":"redd', '"}', "enum", "root.a"),
    (of(a={"enum": ["red", "rose"]}), '{"a":"ro"', "}", "enum", "root.a"),
    (of(a={"enum": ["red", 1, None]}), '{"a":t', "rue}", "enum", "root.a"),
    (of(a={"enum": [True]}), '{"a":f', "alse}", "enum", "root.a"),
    (of(a={"enum": [1, 2]}), '{"a":3,', '"b":1}', "enum", "root.a"),
    (of(a={"const": ""}), '{"a":"x', '"}', "const", "root.a"),
    (of(a={"const": "é😀"}), '{"a":"é😁', '"}', "const", "root.a"),
    (of(a={"const": [1, {"b": "x"}]}), '{"a":[1,{"b":"y', '"}]}', "const", "root.a[1].b"),
    (of(a={"const": [1]}), '{"a":[1,2', "]}", "maxItems", "root.a[1]"),
    (of(a={"const": [1]}), '{"a":[]', "}", "minItems", "root.a"),
    (of(a={"enum": [{"x": 1}, {"y": 1}]}), '{"a":{"z', '":1}}', "enum", "root.a"),
    (of(a={"enum": [[n] for n in range(20)]}), '{"a":[20]', "}", "enum", "root.a"),
    (of(a={"enum": ["abc"], "maxLength": 1}), '{"a":"x', 'yz"}', "enum", "root.a"),
    (of(a={"enum": ["abc"], "maxLength": 1}), '{"a":"ab', 'd"}', "maxLength", "root.a"),
    # lengths and counts
    (of(a={"maxLength": 2}), '{"a":"abc', '"}', "maxLength", "root.a"),
    (of(a={"maxLength": 1}), '{"a":"😀b', '"}', "maxLength", "root.a"),
    (of(a={"maxLength": 0}), '{"a":"\\n', '"}', "maxLength", "root.a"),
    (of(a={"minLength": 2}), '{"a":"a"', "}", "minLength", "root.a"),
    (of(a={"maxItems": 1}), '{"a":[0,1', "]}", "maxItems", "root.a[1]"),
    (of(a={"maxItems": 0}), '{"a":[n', "ull]}", "maxItems", "root.a[0]"),
    (of(a={"minItems": 1}), '{"a":[]', "}", "minItems", "root.a"),
    (of(a={"maxProperties": 1}), '{"a":{"b":1,"c"', ":1}}", "maxProperties", "root.a.c"),
    (of(a={"minProperties": 1}), '{"a":{}', "}", "minProperties", "root.a"),
    # keys, at the first character with which no allowed one begins, or when they end
    ({"additionalProperties": False}, '{"a', '":1}', "additionalProperties", "root"),
    ({"additionalProperties": False}, '{""', ":1}", "additionalProperties", 'root[""]'),
    ({"additionalProperties": False}, '{"\\u0061', '":1}', "additionalProperties", "root"),
    (SHAPES, '{"colour":1,"color', '":1}', "additionalProperties", "root"),
    (SHAPES, '{"si"', ":1}", "additionalProperties", "root.si"),
    (SHAPES, '{"sizes', '":1}', "additionalProperties", "root"),
    ({"anyOf": [SHAPES, {"properties": {"sizes": {}}, "additionalProperties": False}]},
     '{"size":1,"sizes', '":1}', "additionalProperties", "root"),
    ({"additionalProperties": {"type": "null"}}, '{"a":1', "}", "type", "root.a"),
    ({"properties": {"a": False}}, '{"a"', ":1}", "false", "root.a"),
    ({"propertyNames": {"pattern": "^x"}}, '{"x":1,"y"', ":1}", "propertyNames", "root.y"),
    ({"patternProperties": {"^x": {"type": "null"}}}, '{"y":1,"xy":1', "}", "type", "root.xy"),
    (
        {"patternProperties": {"^x": True}, "additionalProperties": False},
        '{"x":1,"y"',
        ":1}",
        "additionalProperties",
        "root.y",
    ),
    # elements
    ({"prefixItems": [{}, {"type": "null"}]}, "[1,2", "]", "type", "root[1]"),
    ({"prefixItems": [{}], "items": False}, "[1,2", "]", "items", "root[1]"),
    ({"$schema": DRAFTS[7], "items": [{"type": "null"}]}, "[1", "]", "type", "root[0]"),
    (
        {"$schema": DRAFTS[7], "items": [{}], "additionalItems": False},
        "[1,2",
        "]",
        "additionalItems",
        "root[1]",
    ),
    # the end of a scalar
    (of(a={"minimum": 3}), '{"a":2}', "", "minimum", "root.a"),
    (of(a={"exclusiveMaximum": 3}), '{"a":3,', '"b":1}', "exclusiveMaximum", "root.a"),
    (of(a={"multipleOf": 2}), '{"a":[],"b":1,"a":3}', "", "multipleOf", "root.a"),
    (of(a={"pattern": "^[a-c]+$"}), '{"a":"abd"', "}", "pattern", "root.a"),
    ({"$schema": DRAFTS[7], **of(a={"format": "date"})}, '{"a":"2020"', "}", "format", "root.a"),
    # the closing bracket
    (of(a=ITEM), '{"a":{"x":1}', ',"b":2}', "required", "root.a"),
    (ITEM, "{}", "", "required", "root"),
    # references and combinations
    (TREE, '{"kids":[{"kids":[{"v":"', '"}]}]}', "type", "root.kids[0].kids[0].v"),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "null"}}}, "1", "", "type", "root"),
    (
        {
            "$schema": DRAFTS[7],
            "properties": {"a": {"$ref": "#/definitions/a~1b%25"}},
            "definitions": {"a/b%": {"type": "null"}},
        },
        '{"a":1',
        "}",
        "type",
        "root.a",
    ),
    ({"allOf": [{"type": "array"}, {"items": {"type": "null"}}]}, "[1", "]", "type", "root[0]"),
    ({"$ref": "#/$defs/x", "maxLength": 1, "$defs": {"x": {}}}, '"ab', '"', "maxLength", "root"),
    (PETS, "1", "", "anyOf", "root"),
    (PETS, '{"kind":"di', 'g"}', "anyOf", "root.kind"),
    (PETS, '{"kind":"dog","name":1', "}", "type", "root.name"),
    (PETS, '{"kind":"dot","n', 'ose":1}', "additionalProperties", "root"),
    # an alternative that a member names says why not, although it ended before
    (PETS, '{"nose":1,"kind":"dot', '"}', "additionalProperties", "root"),
    (of(pet=CATS_OR_DOGS), '{"pet":{"bark":-5,"kind":"d', 'og"}}', "minimum", "root.pet.bark"),
    (of(pet=CATS_OR_DOGS), '{"pet":{"bark":"-","kind":"d', 'og"}}', "type", "root.pet.bark"),
    (of(pet=CATS_OR_DOGS), '{"pet":{"bark":-5,"kind":"b', 'ird"}}', "const", "root.pet.kind"),
    ({"items": CATS_OR_DOGS},
     '[{"of":{"bark":-5},"bark":-5,"kind":"d', 'og"}]', "minimum", "root[0].bark"),
    (of(pets={"items": {"anyOf": [{"type": "null"}, CATS_OR_DOGS]}}),
     '{"pets":[{"meow":1.5,"kind":"c', 'at"}]}', "type", "root.pets[0].meow"),
    (VERSIONS, '{"n":1,"v":2}', "", "maximum", "root.n"),
    (VERSIONS, '{"n":-1,"v":1,', '"a":1}', "minimum", "root.n"),
    (BY_TWO_KEYS, '{"n":5,"a":1,"b":"y', '"}', "maximum", "root.n"),
    ({"anyOf": [of(t={"const": "a"}, pet=CATS_OR_DOGS), of(t={"const": "b"}, n={"type": "null"})]},
     '{"n":1,"pet":{"bark":-5,"kind":"d', 'og"},"t":"a"}', "minimum", "root.pet.bark"),
    # alternatives that end for one reason
    ({"anyOf": [of(n={"minimum": 0}, a={"const": 1}), of(n={"minimum": 0}, a={"const": 2})]},
     '{"n":-1}', "", "minimum", "root.n"),
    (PETS, '{"nose":1}', "", "required", "root"),
    (of(a={"oneOf": [{"type": "null"}, {"maxLength": 0}]}), '{"a":"b', '"}', "maxLength", "root.a"),
    # what only the end can tell is told when that value ends
    (of(a={"oneOf": [{}, {"type": "null"}]}), '{"a":null', "}", "oneOf", "root.a"),
    (of(a={"not": {"type": "string"}}), '{"a":"x"', "}", "not", "root.a"),
    (of(a={"if": {"required": ["x"]}, "then": {"required": ["y"]}}), '{"a":{"x":1}', "}",
     "required", "root.a"),
    (of(a={"uniqueItems": True}), '{"a":[1,1]', ',"b":1}', "uniqueItems", "root.a"),
    (of(a={"uniqueItems": True}), '{"a":[[1],[{"b":2}],[{"b":2}]]', "}", "uniqueItems", "root.a"),
    (of(a={"contains": {"const": 1}}), '{"a":[2]', "}", "contains", "root.a"),
    (of(a={"dependentRequired": {"x": ["y"]}}), '{"a":{"x":1}', "}", "required", "root.a"),
    (of(a={"unevaluatedItems": False}), '{"a":[1]', "}", "unevaluatedItems", "root.a"),
    (False, "1", "", "false", "root"),
]  # fmt: skip


@pytest.mark.parametrize("source, proof, rest, rule, path", EARLIEST)
def test_a_violation_is_found_at_the_character_that_proves_it(
    source: Any, proof: str, rest: str, rule: str, path: str
) -> None:
    read, violation, _ = validated(source, proof + rest)
    assert violation is not None
    assert (proof + rest)[:read] == proof
    assert (violation.rule, format_path(violation.path)) == (rule, path)
    assert begun(source, proof[:-1]) is None


@pytest.mark.parametrize("source, proof, rest, rule, path", EARLIEST)
def test_cutting_does_not_matter(source: Any, proof: str, rest: str, rule: str, path: str) -> None:
    schema = Schema(source)
    verdicts = [validated(schema, proof + rest, cut).violation for cut in cuttings(proof + rest)]
    violations = [violation.to_dict() for violation in verdicts if violation is not None]
    assert len(violations) == len(verdicts) and violations == violations[:1] * len(violations)


@pytest.mark.parametrize("source, proof, rest, rule, path", EARLIEST)
def test_a_message_names_the_path_the_place_and_the_rule(
    source: Any, proof: str, rest: str, rule: str, path: str
) -> None:
    violation = validated(source, proof + rest).violation
    assert violation is not None
    assert violation.message.endswith(f"({rule}) at character {violation.offset}, in {path}")
    assert 0 <= violation.offset < len(proof)


@pytest.mark.parametrize(
    "source, text, message, offset",
    [
        (of(a={"type": "integer"}), '{ "a": "x"}', "expected integer but got a string", 7),
        ({"type": ["null", "array"]}, "1", "expected null or array but got a number", 0),
        (
            of(a={"enum": ["red"]}),
            '{"a":"blue"}',
            'no allowed value begins with "b": allowed is "red"',
            5,
        ),
        (of(a={"enum": ["r1"]}), '{"a":"r"}', '"r" is not an allowed value: allowed is "r1"', 5),
        (of(a={"enum": ["red"]}), '{"a":1}', 'no allowed value is a number: allowed is "red"', 5),
        (of(a={"maximum": 3}), '{"a":  4}', "4 is greater than the maximum of 3", 7),
        (of(a={"const": 3}), '{"a":4}', "3 was expected, not 4", 5),
        (of(a={"pattern": "^x"}), '{"a":"y"}', '"y" does not match "^x"', 5),
        (of(a={"maxLength": 1}), '{"a":"yes"}', "longer than 1 character", 5),
        (of(a={"maxItems": 2}), '{"a":[1,2,3]}', "more than 2 items", 10),
        ({"required": ["x"]}, ' {"a":1}', '"x" is missing', 1),
        (
            {"additionalProperties": False},
            '{ "a":1}',
            'no allowed key begins with "a": none is allowed',
            2,
        ),
        (SHAPES, '{ "si":1}', 'this key is not allowed: allowed are "colour", "size"', 2),
        (of(a={"not": {}}), '{"a":{"b":1}}', "{} is not allowed for the value", 5),
        (of(a={"pattern": "x"}), f'{{"a":"{"y" * 99}"}}', f'"{"y" * 60}…" does not match "x"', 5),
    ],
)  # fmt: skip
def test_what_a_message_says(source: Any, text: str, message: str, offset: int) -> None:
    violation = validated(source, text).violation
    assert violation is not None
    assert violation.message.partition(f" ({violation.rule})")[0] == message
    assert violation.offset == offset


@pytest.mark.parametrize(
    "source, text",
    [
        (True, "[1]"),
        ({}, '{"a":{"b":[]}}'),
        (of(a={"type": "integer"}), '{"a":1.0}'),
        (of(a={"type": "integer"}), '{"a":1e2,"b":"x"}'),
        (of(a={"enum": ["a", "ab"]}), '{"a":"a"}'),
        (of(a={"enum": ["a", "ab"]}), '{"a":"\\u0061b"}'),
        (of(a={"const": 1}), '{"a":1.0}'),
        (of(a={"const": {"x": [1, {}]}}), '{"a":{"x":[1.0,{}]}}'),
        (of(a={"maxLength": 2}), '{"a":"😀\\ud83d\\ude00"}'),
        (of(a={"maxProperties": 1}), '{"a":{"b":1,"b":2}}'),
        (of(a={"contains": {"const": [{"b": [1]}]}}), '{"a":[[{"b":[1]}]]}'),
        (of(a={"not": {"const": {"b": {}}}}), '{"a":{"b":{"c":{}}}}'),
        (PETS, '{"kind":"dot","size":1}'),
        (PETS, '{"kind":"dog","nose":1}'),
        (PETS, "null"),
        (TREE, '{"kids":[{"kids":[]},{}]}'),
        ({"format": "date"}, '"no date"'),
        ({"$schema": DRAFTS[7], "$ref": "#/x", "x": {}, "type": "string"}, "1"),
        ({"$schema": DRAFTS[4], "const": 1, "propertyNames": {"maxLength": 0}}, '{"a":1}'),
        ({"prefixItems": [{"type": "null"}], "$schema": DRAFTS[7]}, "[1]"),
        ({"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "1"),
        ({"allOf": [{"$ref": "#"}], "type": "array"}, "[1]"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "1"),
        (of(a={"pattern": r"^\p{L}+$"}), '{"a":"é"}'),
        ({"$id": "http://e.com/s", "items": {"$ref": "s#/$defs/a"}, "$defs": {"a": {}}}, "[1]"),
    ],
)  # fmt: skip
def test_what_is_valid_is_let_pass(source: Any, text: str) -> None:
    for cut in cuttings(text):
        assert validated(source, text, cut).violation is None


@pytest.mark.parametrize(
    "source, right, wrong",
    [
        # a subschema with a base of its own, and what refers into it
        (
            {
                "$id": "http://example.com/root.json",
                "properties": {"a": {"$ref": "item.json"}, "b": {"$ref": "#/$defs/i/$defs/n"}},
                "$defs": {"i": {"$id": "item.json", "$ref": "#/$defs/n",
                                "$defs": {"n": {"type": "null"}}}},
            },
            '{"a":null,"b":null}',
            ['{"a":1}', '{"b":1}'],
        ),
        (
            {
                "properties": {
                    "a": {"$id": "a.json", "items": {"$ref": "#/$defs/n"},
                          "$defs": {"n": {"type": "null"}}},
                },
                "$defs": {"n": {"type": "string"}},
            },
            '{"a":[null]}',
            ['{"a":["x"]}'],
        ),
        (
            {
                "$id": "http://e.com/root.json",
                "items": {"$ref": "inner.json#/$defs/m"},
                "$defs": {
                    "n": {"type": "string"},
                    "i": {"$id": "inner.json",
                          "$defs": {"m": {"$ref": "#/$defs/n"}, "n": {"type": "null"}}},
                },
            },
            "[null]",
            ['["x"]'],
        ),
        # a relative name, an anchor, a dynamic reference
        ({"$id": "x.json", "items": {"$ref": "x.json#/$defs/n"}, "$defs": {"n": {"type": "null"}}},
         "[null]", ["[1]"]),
        ({"items": {"$ref": "#n"}, "$defs": {"n": {"$anchor": "n", "items": {"type": "null"}}}},
         "[[null]]", ["[[1]]"]),
        ({"$dynamicAnchor": "t", "items": {"$dynamicRef": "#t"}, "type": "array", "maxItems": 1},
         "[[]]", ["[1]", "[[],[]]", "[[[],[]]]"]),
        ({"$schema": DRAFTS[7], "$id": "http://e.com/", "items": {"$ref": "#n"},
          "definitions": {"n": {"$id": "#n", "type": "null"}}}, "[null]", ["[1]"]),
        ({"$schema": DRAFTS[4], "id": "http://e.com/s#", "items": {"$ref": "s#/definitions/n"},
          "definitions": {"n": {"type": "null"}}}, "[null]", ["[1]"]),
        ({"$id": "?q", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "null"}}},
         "[null]", ["[1]"]),
        ({"items": {"$ref": "#n"}, "$defs": {"n": {"$anchor": "n", "not": {"type": "null"}}}},
         "[1]", ["[null]"]),
        ({"items": {"$ref": DRAFTS[20]}}, '[{"type":"null"}]', ['[{"type":"nothing"}]']),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, '{"a":1,"b":1}', ['{"a":1}']),
        # circles that the validator alone understands
        ({"items": {"$ref": "#"}, "not": {"$ref": "#"}}, "[1]", ["1"]),
        ({"properties": {"a": {"not": {"$ref": "#/properties/a"}}}}, '{"b":1}', ['{"a":1}']),
        ({"properties": {"a": {"enum": [1], "const": 2}}}, "{}", ['{"a":1}', '{"a":2}']),
    ],
)  # fmt: skip
def test_strange_references_get_their_verdict(source: Any, right: str, wrong: list[str]) -> None:
    oracle = jsonschema_rs.validator_for(source)
    for text in (right, *wrong):
        assert (validated(source, text).violation is None) == oracle.is_valid(json.loads(text))
    assert validated(source, right).violation is None
    assert all(validated(source, text).violation for text in wrong)


@pytest.mark.parametrize(
    "source",
    [
        {"type": "foo"},
        {"type": 3},
        {"properties": 3},
        {"$ref": "#/nowhere"},
        {"items": {"$ref": "#/$defs/nowhere"}},
        {"minLength": -1},
        {"pattern": "("},
        {"enum": 3},
        {"items": [{}]},
        {"$ref": "http://example.com/elsewhere.json"},
        {"$defs": {"unused": {"$ref": "file:///etc/hostname"}}},
        {"$schema": "http://example.com/my-own-draft"},
        {"const": "\ud800"},
        {1: 2},
        {"const": object()},
    ],
)
def test_a_broken_schema_is_a_value_error(source: Any) -> None:
    with pytest.raises(ValueError, match="^not a JSON Schema: .+"):
        Schema(source)


def test_a_schema_nested_too_deep_is_a_value_error() -> None:
    source: dict[str, Any] = {}
    for _ in range(5000):
        source = {"properties": {"a": source}}
    with pytest.raises(ValueError, match="not a JSON Schema"):
        Schema(source)


@pytest.mark.parametrize("source", ["object", b"{}", 5, 1.5, [], (), {1}])
def test_what_is_no_schema_at_all_is_a_type_error(source: Any) -> None:
    with pytest.raises(TypeError, match="a schema is"):
        Schema(source)


def test_the_callers_schema_is_neither_changed_nor_kept() -> None:
    source = of(a={"enum": [1, 2], "minimum": 1})
    before = json.dumps(source)
    schema = Schema(source)
    validated(schema, '{"a":1}')
    assert json.dumps(source) == before
    fresh = Schema(source)
    source["properties"]["a"]["enum"].append(3)
    source["properties"]["a"] = {"type": "null"}
    assert validated(fresh, '{"a":1}').violation is None
    assert begun(fresh, '{"a":3,') is not None


def test_a_schema_is_shared_by_checks_and_copies() -> None:
    schema = Schema(ITEM)
    one, two = schema.check(), Schema(schema).check()
    start, key = Parser().feed('{"id"')
    for check in (one, two):
        assert check.feed(start) is None
        assert check.feed(key) is None
    assert one.feed(Fragment("CompleteNull", ("id",), offset=5)) is not None
    assert two.feed(Fragment("CompleteNumber", ("id",), "1", 1, 5)) is None


def test_paths_are_those_of_the_document() -> None:
    parser = Parser()
    check = Schema(ITEM).check(("items", 1))
    fragments = parser.feed('{"items":[0,{"x":{},"y":[3]}]}')
    inside = [one for one in fragments if one.path[:2] == ("items", 1)]
    violations = [check.feed(one) for one in inside]
    assert violations[:-1] == [None] * (len(inside) - 1)
    assert violations[-1] is not None and placed(violations[-1])[:2] == (("items", 1), 12)
    last = check.close({"x": {}, "y": [3]})
    assert last is not None and placed(last) == (("items", 1), 12, "required")


def test_the_end_names_where_the_value_began() -> None:
    source = of(a={"items": {"properties": {"b": {"multipleOf": 2}}}})
    text = '{"a": [{"b": 2}, {"b": 3}]}'
    check = Schema(source).check()
    for fragment in Parser().feed(text):
        check.feed(fragment)  # the violation is passed over, to see what the validator says
    last = check.close(json.loads(text))
    assert last is not None and last.to_dict() == {
        "code": "INVALID_SCHEMA",
        "message": "3 is not a multiple of 2 (multipleOf) at character 23, in root.a[1].b",
        "offset": 23,
        "path": "root.a[1].b",
        "rule": "multipleOf",
    }


def test_a_number_or_literal_that_has_begun() -> None:
    check = Schema(of(a={"type": "string"})).check()
    for fragment in Parser().feed('{"a":'):
        assert check.feed(fragment) is None
    for text in ("-", "0", "12", "t", "fal", "n"):
        violation = check.pending(("a",), text, 5)
        assert violation is not None and placed(violation) == (("a",), 5, "type")
    # what only lenient parsing reads, and a place that nobody told
    assert check.pending(("a",), "Tru", 5) is None
    assert check.pending(("a",), "1") is None


def test_asking_about_what_is_pending_changes_nothing() -> None:
    schema = Schema(of(a={"anyOf": [{"maxItems": 0}, {"type": "integer", "maximum": 3}]}))
    for text in ('{"a":12,"b":1}', '{"a":1.5,"b":1}', '{"a":2}'):
        assert validated(schema, text).violation == validated(schema, text, [text]).violation


def test_a_key_that_comes_twice() -> None:
    schema = Schema(of(a={"type": "integer"}))
    assert begun(schema, '{"a":"x"') is not None
    assert validated(schema, '{"a":1,"a":2}').violation is None
    assert validated(schema, '{"a":1,"a":"x"}').violation is not None


@pytest.mark.parametrize("text", ['"\\ud800"', '{"\\ud800":1}', '["a\\udc00"]'])
def test_lone_surrogates_are_validated(text: str) -> None:
    anything = {"patternProperties": {"^x": {}}, "items": {"pattern": "."}, "maxLength": 1}
    assert validated(anything, text).violation is None
    for source in ({"maxLength": 0, "propertyNames": {"maxLength": 0}, "maxItems": 0},
                   {"type": "number"}):  # fmt: skip
        violation = validated(source, text).violation
        assert violation is not None
        violation.message.encode()


def test_deep_values_are_validated_or_refused_but_never_crash() -> None:
    from jsonrill import Limits

    schema = Schema({"items": {"$ref": "#"}, "type": "array", "uniqueItems": True})
    for depth, rule in ((200, None), (490, None), (20_000, "depth")):
        parser = Parser(limits=Limits(depth=200_000))
        check = schema.check()
        text = "[" * depth + "]" * depth
        assert not any(check.feed(one) for one in parser.feed(text))
        value: Any = []
        for _ in range(depth - 1):
            value = [value]
        violation = check.close(value)
        assert (violation and violation.rule) == rule
        while value:
            value = value.pop()  # a deep list is not freed without recursion either


def test_deep_values_that_are_wrong_are_refused() -> None:
    wrong: Any = []
    for _ in range(299):
        wrong = [wrong]
    for source in ({"type": "null"}, {"items": {"$ref": "#"}, "type": "array", "minItems": 1}):
        check = Schema(source).check()
        assert check.close(wrong) is not None


def test_choices_that_multiply_are_left_to_the_end() -> None:
    definitions: dict[str, Any] = {"d40": {"type": "null"}}
    for level in range(40):
        below = {"$ref": f"#/$defs/d{level + 1}"}
        definitions[f"d{level}"] = {"anyOf": [below, {"allOf": [below]}, {"items": below}]}
    schema = Schema({"$ref": "#/$defs/d0", "$defs": definitions})
    text = "[" * 200 + "]" * 200
    assert begun(schema, text) is None
    # The validator itself would take ages, so it is not asked.
    violation = validated(schema, "[[1]]").violation
    assert violation is not None and violation.code == "LIMIT_EXCEEDED"


def test_what_is_said_twice_is_asked_once() -> None:
    again = of(c={"$ref": "#"})
    source = {**again, "allOf": [again, {"anyOf": [again, {"type": "null"}]}]}
    assert begun(source, '{"c":' * 200 + "1") is not None


def test_too_many_alternatives_are_left_to_the_end() -> None:
    one_of_many = {"anyOf": [of(kind={"const": f"{n:03}"}) for n in range(600)]}
    for source in (one_of_many, {"anyOf": [one_of_many, one_of_many, one_of_many]}):
        for text in ('{"kind":"x"}', '{"kind":"599"}'):
            wanted = jsonschema_rs.is_valid(source, json.loads(text))
            assert (validated(source, text).violation is None) == wanted


def test_branches_inside_of_branches_end_together() -> None:
    twice = {"allOf": [{"maxLength": 1}, {"maxLength": 1}]}
    assert begun({"anyOf": [twice, {"maxLength": 2}]}, '"ab') is None
    inner = {"anyOf": [{"const": "ab"}, {"const": "ac"}]}
    source = of(a={"anyOf": [of(x=inner, y={"type": "null"}), of(x={"const": "ad"})]})
    assert validated(source, '{"a":{"x":"ac","y":null}}').violation is None
    assert begun(source, '{"a":{"x":"ac","y":1') is not None
    assert begun(source, '{"a":{"y":1,"x":"ac') is not None
    assert begun(source, '{"a":{"y":1,"x":"ad"') is None


def test_many_alternatives_are_told_apart() -> None:
    kinds = [f"k{number:03}" for number in range(300)]
    source = {"anyOf": [of(kind={"const": kind}, **{kind: {"type": "null"}}) for kind in kinds]}
    assert begun(source, '{"kind":"k3') is not None
    assert begun(source, '{"kind":"k123","k124":1,"k123":1') is not None
    assert validated(source, '{"kind":"k123","k124":1,"k123":null}').violation is None


@pytest.mark.parametrize(
    "source, is_array",
    [
        ({"type": "array", "items": ITEM}, True),
        ({"type": ["array", "null"], "items": ITEM}, True),
        ({"$ref": "#/$defs/l", "$defs": {"l": {"type": "array", "items": ITEM}}}, True),
        ({"anyOf": [{"type": "array", "items": ITEM}, {"type": "null"}]}, True),
        ({"type": "object", "items": ITEM}, False),
        ({"items": ITEM}, False),
        (ITEM, False),
        (True, False),
    ],
)
def test_the_items_of_an_array(source: Any, is_array: bool) -> None:
    items = Schema(source).items()
    assert (items is not None) == is_array
    if items is not None:
        assert validated(items, '{"id":1}').violation is None
        assert begun(items, '{"id":"') is not None
        assert validated(items, "{}").violation is not None


def test_items_that_nothing_is_said_about_are_let_pass() -> None:
    for source in ({"type": "array"}, {"type": "array", "prefixItems": [{"type": "null"}]}):
        items = Schema(source).items()
        assert items is not None
        assert validated(items, '{"id":1}').violation is None


def test_items_of_different_kinds_are_alternatives() -> None:
    source = {"type": "array", "prefixItems": [{"type": "null"}], "items": {"maximum": 3}}
    items = Schema(source).items()
    assert items is not None
    assert validated(items, "null").violation is None
    assert validated(items, "3").violation is None
    assert validated(items, "4").violation is not None
    closed = Schema({"type": "array", "prefixItems": [{"type": "null"}], "items": False}).items()
    assert closed is not None and begun(closed, "1") is not None


DOCUMENT = {
    "type": "object",
    "properties": {
        "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
        "pair": {"type": "array", "prefixItems": [{"type": "null"}, {"type": "string"}]},
        "maybe": {"anyOf": [{"type": "null"}, ITEM]},
        "both": {"allOf": [of(x={"type": "integer"}), of(x={"maximum": 3})]},
        "either": {"anyOf": [of(x={"type": "integer"}), of(y={"type": "null"})]},
    },
    "patternProperties": {"^n_": {"type": "number"}},
    "additionalProperties": {"type": "boolean"},
    "$defs": {"day": of(title={"type": "string"}, acts={"type": "array", "items": ITEM})},
}


@pytest.mark.parametrize(
    "pattern, right, wrong",
    [
        ("root", '{"days":[]}', '{"days":{'),
        ("days", "[]", "{"),
        ("days[*]", '{"title":""}', '{"title":1'),
        ("days[7]", '{"title":""}', '{"title":1'),
        ("days[*].acts[*]", '{"id":1}', '{"id":"'),
        ("days[*].acts[*].id", "1", "n"),
        ("pair[0]", "null", "1"),
        ("pair[1]", '""', "1"),
        ("maybe.id", "1", '"'),
        ("both.x", "3", '"'),
        ("n_x", "1", '"'),
        ("other", "true", "n"),
        ("*", "true", None),
        ("days[*].*", None, None),
        ("pair[*]", None, None),
        ("pair[2]", None, None),
        ("either.x", None, None),
        ("days.x", None, None),
        ("days[*].nothing", None, None),
    ],
)
def test_the_part_at_a_path(pattern: str, right: str | None, wrong: str | None) -> None:
    part = Schema(DOCUMENT).at(parse_pattern(pattern))
    assert (part is None) == (right is None)
    if part is not None and right is not None:
        assert validated(part, right).violation is None
        if wrong is not None:
            assert begun(part, wrong) is not None


def test_there_is_no_way_into_a_circle() -> None:
    assert Schema({"anyOf": [{"$ref": "#"}, of(a={"type": "null"})]}).at(("a",)) is None
    assert Schema({"$dynamicAnchor": "x", **of(a={"$dynamicRef": "#x"})}).at(("a",)) is None


def test_what_two_parts_say_counts_both() -> None:
    part = Schema(DOCUMENT).at(("both", "x"))
    assert part is not None
    assert validated(part, "4").violation is not None
    assert validated(part, "3").violation is None


@pytest.mark.parametrize(
    "path, known, zero",
    [
        ((), True, {}),
        (("days",), True, []),
        (("days", 3, "title"), True, ""),
        (("days", 0, "acts", 1, "id"), True, 0),
        (("maybe",), True, None),
        (("maybe", "id"), True, 0),
        (("pair", 0), True, None),
        (("n_x",), True, 0),
        (("other",), True, False),
        (("either", "x"), False, None),
        (("days", 0, "nothing"), False, None),
        (("days", "title"), False, None),
    ],
)
def test_zero_values(path: Any, known: bool, zero: Any) -> None:
    known_and_zero = Schema(DOCUMENT).zero(path)
    assert known_and_zero == (known, zero) and type(known_and_zero[1]) is type(zero)


@pytest.mark.parametrize(
    "source, zero",
    [
        ({"enum": ["a", "b"]}, (True, "")),
        ({"enum": ["a", 1]}, (False, None)),
        ({"enum": [1, 2]}, (True, 0)),
        ({"const": True}, (True, False)),
        ({"type": "string", "enum": ["a", 1]}, (True, "")),
        ({"type": ["string", "number"]}, (False, None)),
        ({"type": ["string", "null"]}, (True, None)),
        ({"allOf": [{"type": ["string", "number"]}, {"type": ["number", "null"]}]}, (True, 0)),
        ({"anyOf": [{"$ref": "#"}, {"type": "string"}]}, (False, None)),
        (True, (False, None)),
        (False, (False, None)),
    ],
)
def test_zero_values_of_types(source: Any, zero: Any) -> None:
    assert Schema(source).zero(()) == zero


def test_a_json_schema_makes_no_models() -> None:
    check = Schema(ITEM).check()
    assert check.close({"id": 1}) is None
    assert check.model is None
    assert check.partial_model({"id": 1}, None) is None


LIBRARY_OF = [(ITEM, "jsonschema_rs"), (list[int], "pydantic")]


@pytest.mark.parametrize("source, missing", LIBRARY_OF)
def test_without_the_extra_one_sentence_says_what_to_install(
    source: Any, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr("jsonrill.schema._COMPILED", _Compiled())
    extra = {"jsonschema_rs": "jsonschema", "pydantic": "pydantic"}[missing]
    with pytest.raises(ImportError, match=rf"install jsonrill\[{extra}\]"):
        Schema(source)


@pytest.mark.parametrize("source, module", LIBRARY_OF)
@pytest.mark.parametrize("version", ["0.26.1", "1.10.21", "2.9.2", "2.9.0b1"])
def test_a_version_below_the_range_is_named(
    source: Any, module: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jsonrill.schema.libraries._version", lambda name: version)
    monkeypatch.setattr("jsonrill.schema._COMPILED", _Compiled())
    name, lowest, _, _ = LIBRARIES[module]
    if tuple(map(int, version.split(".")[:2])) >= lowest:
        Schema(source)
        return
    needed = ".".join(map(str, lowest))
    with pytest.raises(ImportError, match=f"{name} {needed} or newer, and {version} is installed"):
        Schema(source)


@pytest.mark.parametrize("missing", ["jsonschema_rs", "pydantic"])
def test_a_small_program_needs_one_library_alone(missing: str) -> None:
    """In a process of its own, where the other one cannot be imported."""
    programs = {
        "jsonschema_rs": """
            from pydantic import BaseModel
            class Trip(BaseModel):
                title: str
                days: list[int] = []
            schema = Trip
        """,
        "pydantic": """
            days = {"items": {"minimum": 1}}
            schema = {"properties": {"title": {"type": "string"}, "days": days}}
        """,
    }
    program = f"""
        import sys
        sys.modules[{missing!r}] = None
        import jsonrill
        {dedent(programs[missing]).strip().replace(chr(10), chr(10) + " " * 8)}
        pieces = ['{{"title": "To the s', 'ea", "days": [1, 2', ']}}']
        print([*jsonrill.values(pieces, schema)][-1])
        for update in jsonrill.updates(pieces, schema=schema):
            last = update
        print(last.status)
        try:
            list(jsonrill.values(['{{"title": 5, "days": []}}'], schema))
        except jsonrill.InvalidSchema as error:
            print(error.path)
    """
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, env=environment, text=True
    )
    value, status, path = done.stdout.splitlines() or [done.stderr] * 3
    assert "To the sea" in value and "[1, 2]" in value, done.stderr
    assert (status, path) == ("COMPLETED", "('title',)"), done.stderr


@examples(100)
@given(st.text(alphabet='abr"\\u0061é😀', max_size=8), st.data())
def test_every_cutting_of_a_string(text: str, data: st.DataObject) -> None:
    schema = Schema({"items": {"anyOf": [{"enum": ["ab", "abé", "rar"]}, {"maxLength": 2}]}})
    whole = json.dumps([text], ensure_ascii=data.draw(st.booleans()))
    expected = validated(schema, whole).violation
    assert (expected is None) == (len(text) <= 2 or text in ("abé", "rar"))
    violation = validated(schema, whole, data.draw(pieces(whole))).violation
    assert (violation and violation.to_dict()) == (expected and expected.to_dict())


def work(schema: Schema, text: str, size: int = 4) -> None:
    parser, check = Parser(), schema.check()
    for start in range(0, len(text), size):
        for fragment in parser.feed(text[start : start + size]):
            assert check.feed(fragment) is None
        if parser.pending:
            assert check.pending(*parser.pending, parser.pending_offset) is None
    assert check.close(json.loads(text)) is None


HARD = {"not": {"const": 0}, **ITEM}
NESTED: dict[str, Any] = {"properties": {"n": {"$ref": "#"}}, "not": {"const": 0}}


def nested(depth: int) -> str:
    return '{"n":' * depth + "{}" + "}" * depth


@pytest.mark.parametrize(
    "source, make",
    [
        ({"items": ITEM}, lambda n: json.dumps([{"id": i} for i in range(n)])),
        ({"items": HARD}, lambda n: json.dumps([{"id": i} for i in range(n)])),
        ({"items": {"anyOf": [ITEM, HARD]}}, lambda n: json.dumps([{"id": 1}] * n)),
        ({"maxLength": 10**9, "enum": ["x" * 400 * n for n in (100, 400)]},
         lambda n: json.dumps("x" * 400 * n)),
        ({"items": NESTED}, lambda n: "[" + ",".join([nested(60)] * (n // 20)) + "]"),
    ],
)  # fmt: skip
def test_four_times_the_text_takes_about_four_times_the_time(source: Any, make: Any) -> None:
    schema = Schema(source)
    is_linear(lambda n: partial(work, schema, make(n)), 100)


def test_a_reference_that_leads_nowhere_says_nothing() -> None:
    assert ReferencedSchema({}).resolve("#/nowhere") is None


def test_joined_validators() -> None:
    sources: tuple[Any, ...] = (True, False, 3)
    yes, no, broken = (
        JsonSchemaValidator(partial(jsonschema_rs.validator_for, source)) for source in sources
    )
    for judges, every, accepted in (
        ([yes, no], True, False),
        ([no, yes], True, False),
        ([yes, yes], True, True),
        ([], True, True),
        ([no, yes], False, True),
        ([no, no], False, False),
    ):
        joined = Joined(judges, all_of_them=every)
        assert (joined.refusal(1) is None) == accepted
        assert joined.sample(1) is yes.sample(1) is None and joined.is_usable()
    assert not Joined([yes, broken], all_of_them=True).is_usable()


def test_a_long_message_is_cut() -> None:
    violation = Schema({"pattern": "x" * 1000}).check().close("y")
    assert violation is not None and len(violation.message) < 400


def test_the_validator_names_the_rule_as_the_watch_does() -> None:
    closed = ReferencedSchema({"additionalProperties": False}).whole()
    assert closed.refusal({"a": 1}) == Refusal(
        "additionalProperties", "False schema does not allow 1"
    )
    assert ReferencedSchema(False).whole().refusal(1) == Refusal(
        "false", "False schema does not allow 1"
    )


@pytest.mark.parametrize("text", ["fa@e", "[1, nu@", '{"a": 12@'])
def test_a_violation_that_had_begun_comes_before_bad_json(text: str) -> None:
    """In one piece or in many: what has begun violates the schema before the text goes wrong."""
    schema = {
        "type": ["object", "array", "string"],
        "items": {"enum": [1, "x"]},
        "properties": {"a": {"type": "string"}},
    }
    errors = []
    for cut in ([text], [*text]):
        with pytest.raises(InvalidSchema) as raised:
            list(values(iter(cut), schema))
        error = raised.value
        errors.append((error.offset, error.path, error.rule, error.value))
    assert errors[0] == errors[1]
