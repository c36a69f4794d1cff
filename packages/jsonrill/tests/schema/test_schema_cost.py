"""Schemas that multiply: the answer comes soon and in little memory, whatever it is."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jsonrill
from jsonrill.schema import Check, Schema
from jsonrill.schema.cost import MORE, Costs
from jsonrill.schema.weight import pattern_weight, weight_of
from support.costs import Work, is_linear
from support.schemas import validated

LEAF = {"type": "string", "maxLength": 5}


def chain(levels: int, level: Any, leaf: Any = LEAF) -> dict[str, Any]:
    """Definitions, each made by `level` of a reference to the next one."""
    found = {f"d{at}": level({"$ref": f"#/$defs/d{at + 1}"}) for at in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**found, f"d{levels}": leaf}}


def with_addresses(levels: int) -> dict[str, Any]:
    """As a chain, but each definition is a resource of its own."""
    found: dict[str, Any] = {
        f"d{at}": {"$id": f"urn:d{at}", "anyOf": [{"$ref": f"urn:d{at + 1}"}] * 2}
        for at in range(levels)
    }
    found[f"d{levels}"] = {"$id": f"urn:d{levels}", **LEAF}
    return {"$ref": "urn:d0", "$defs": found}


def with_anchors(levels: int, keyword: str, anchor: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        f"d{at}": {anchor: f"a{at}", "anyOf": [{keyword: f"#a{at + 1}"}] * 2}
        for at in range(levels)
    }
    found[f"d{levels}"] = {anchor: f"a{levels}", **LEAF}
    return {keyword: "#a0", "$defs": found}


BOMBS: dict[str, Any] = {
    "anyOf": lambda n: chain(n, lambda ref: {"anyOf": [ref, ref]}),
    "unlike": lambda n: chain(n, lambda ref: {"anyOf": [ref, {"allOf": [ref], "minLength": 0}]}),
    "oneOf": lambda n: chain(n, lambda ref: {"oneOf": [ref, ref, False]}),
    "allOf": lambda n: chain(n, lambda ref: {"allOf": [ref, {**ref, "title": "x"}]}),
    "if": lambda n: chain(n, lambda ref: {"if": ref, "then": ref, "else": ref}),
    "not": lambda n: chain(n, lambda ref: {"not": {"anyOf": [ref, ref]}}),
    "dependent": lambda n: chain(n, lambda ref: {"dependentSchemas": {"a": ref, "b": ref}}),
    "items": lambda n: chain(n, lambda ref: {"anyOf": [{"items": ref}, {"items": ref}]}),
    "properties": lambda n: chain(
        n, lambda ref: {"properties": {"a": ref}, "patternProperties": {"a": ref}}
    ),
    "addresses": with_addresses,
    "anchors": lambda n: with_anchors(n, "$ref", "$anchor"),
    "dynamic": lambda n: with_anchors(n, "$dynamicRef", "$dynamicAnchor"),
}
DEEP = 70
TEXTS = ['"x"', "123", '"too long"', '{"a":1,"b":2}', "[" * DEEP + "1" + "]" * DEEP,
         '{"a":' * DEEP + "1" + "}" * DEEP, json.dumps({"a": [1] * 2000})]  # fmt: skip

RUN = """
import json, resource, sys, time
import jsonrill
from jsonrill.schema import Schema
Schema({"type": "string"}).check().close(1)  # loads the library
for name, schema, text in json.load(sys.stdin):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    updates = list(jsonrill.updates([text], "REALTIME", schema=schema))
    seconds = time.process_time() - begun
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    last = updates[-1].error["code"] if updates[-1].error else updates[-1].status
    print(json.dumps([name, text[:20], last, seconds, grown]), flush=True)
"""


@pytest.mark.parametrize("levels", [25, 60])
def test_an_answer_comes_within_a_second_and_100_MB(levels: int) -> None:
    cases = [(name, make(levels), text) for name, make in BOMBS.items() for text in TEXTS]
    source = Path(jsonrill.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(source)!r})\n{RUN}"],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=100,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(cases), (done.stderr[-500:], rows[-1:])
    slow = [row for row in rows if row[3] > 1 or row[4] > 100]
    assert not slow
    assert {row[2] for row in rows} >= {"INVALID_SCHEMA", "LIMIT_EXCEEDED", "COMPLETED"}


def test_alternatives_that_ask_the_same_are_one() -> None:
    """So that what is wrong is said at its first character, at any number of levels."""
    for levels in (1, 10, 60):
        found = validated(BOMBS["anyOf"](levels), "123")
        assert found.read == 1 and found.violation is not None
        assert found.violation.rule == "anyOf" and len(found.violation.message) < 150


def tree(depth: int, leaf: Any, kinds: int = 6) -> tuple[dict[str, Any], Any]:
    """A recursive schema of expressions, as programs really have them, and a deep value."""
    expression = {"$ref": "#/$defs/expression"}
    nodes = [
        {
            "type": "object",
            "properties": {"left": expression, "right": expression, "op": {"const": f"op{kind}"}},
            "required": ["left", "right", "op"],
        }
        for kind in range(kinds)
    ]
    for at in range(depth):
        leaf = {"op": f"op{at % kinds}", "left": leaf, "right": 1}
    return {"$defs": {"expression": {"anyOf": [{"type": "number"}, *nodes]}}, **expression}, leaf


@pytest.mark.parametrize("depth", [1, 5, 20, 100])
def test_a_recursive_schema_is_judged_however_deep_the_value(depth: int) -> None:
    for leaf, code in ((1, None), ("x", "INVALID_SCHEMA")):
        schema, value = tree(depth, leaf)
        begun = time.process_time()
        violation = Schema(schema).check().close(value)
        assert time.process_time() - begun < 1
        assert (violation.code if violation else None) == code


def test_a_part_of_a_schema_is_found_although_choices_multiply() -> None:
    limits = ({"minimum": 0}, {"maximum": 9})

    def level(ref: Any) -> Any:
        return {"anyOf": [{"allOf": [ref, {"properties": {"a": one}}]} for one in limits]}

    leaf = {"properties": {"a": {"type": "integer"}}}
    part = Schema(chain(25, level, leaf)).at(("a",))
    assert part is not None
    begun = time.process_time()
    assert part.check().close("x") is not None
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    "schema, value, visits",
    [
        (True, 1, 1),
        ({"type": "string"}, 1, 1),
        ({"anyOf": [{}, {}]}, 1, 3),
        ({"items": {"anyOf": [{}, {}]}}, [1, 2], 7),
        ({"properties": {"a": {}, "b": {}}}, {"a": 1, "c": 2}, 2),
        ({"propertyNames": {"allOf": [True]}}, {"ab": 1}, 3),
        ({"items": {"$ref": "#"}}, [[[]]], 5),
        ({"$defs": {"a": {"$anchor": "x"}}, "$ref": "#x"}, 1, 2),
        ({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"not": {}}}}, 1, 3),
    ],
)
def test_visits_are_counted(schema: Any, value: Any, visits: int) -> None:
    costs = Costs(schema)
    assert costs.visits(costs.at(""), value, visits, remembers=False) == visits
    assert costs.visits(costs.at(""), value, visits - 1, remembers=False) == MORE


def test_a_wide_schema_and_a_long_value_are_not_too_much() -> None:
    """Twelve hundred alternatives, and two thousand values: as much as a program may have."""
    kinds = [
        {"properties": {"kind": {"const": f"k{at}"}}, "required": ["kind"]} for at in range(600)
    ]
    schema = Schema({"type": "array", "items": {"anyOf": kinds}})
    value = [{"kind": f"k{at % 600}"} for at in range(1000)]
    assert schema.check().close(value) is None
    violation = schema.check().close([*value, {"kind": "x"}])
    assert violation is not None and violation.code == "INVALID_SCHEMA"


def each(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def names(count: int) -> list[str]:
    return [f"name-{at}" for at in range(count)]


# A schema and a value, both of this size: each element could be compared with each rule.
SIZES: dict[str, Any] = {
    "enum": lambda n: (each({"enum": names(n)}), names(n // 2)),
    "enum, long beginnings": lambda n: (
        each({"enum": ["x" * 50 + name for name in names(n)]}),
        ["x" * 50 + name for name in names(n // 2)],
    ),
    "properties": lambda n: (
        each({"properties": dict.fromkeys(names(n), True), "additionalProperties": False}),
        [{name: 1} for name in names(n // 2)],
    ),
    "names of properties": lambda n: (
        {"propertyNames": {"enum": names(n)}},
        dict.fromkeys(names(n // 2), 1),
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_time_grows_with_schema_and_text_not_with_their_product(name: str) -> None:
    def read(size: int) -> Work:
        source, value = SIZES[name](size)
        schema, text = Schema(source), json.dumps(value)
        return lambda: list(jsonrill.updates([text], "BATCH", document_schema=schema))

    is_linear(read, 2000)


@pytest.mark.parametrize("name", ["$dynamicRef", "$ref"])
def test_references_that_cannot_be_told_apart_are_read_in_linear_time(name: str) -> None:
    anchor = "$dynamicAnchor" if name == "$dynamicRef" else "$anchor"

    def read(size: int) -> Work:
        defs = {f"d{at}": {"$id": f"urn:{at}", anchor: "x"} for at in range(size)}
        source = {"$defs": defs, "allOf": [{name: "#x"}] * size}
        return lambda: Costs(source)

    is_linear(read, 1000)


@given(
    st.lists(st.text("ab", max_size=5), max_size=8),
    st.text("abc", max_size=6),
    st.lists(st.integers(0, 6), max_size=2),
)
def test_a_text_is_refused_where_no_value_of_an_enum_goes_on(
    values: list[str], text: str, cuts: list[int]
) -> None:
    def is_beginning(part: str) -> bool:
        return any(value.startswith(part) for value in values)

    walk = Check(Schema({"items": {"enum": values or [1]}}).node)
    walk.start_array(0)
    walk.start_string(1)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for begin, end in pairwise(places):
        if walk.violation is None:
            walk.text(text[begin:end])
            assert (walk.violation is None) == (bool(values) and is_beginning(text[:end]))
    if walk.violation is None:
        walk.end_string()
        assert (walk.violation is None) == (text in values)


@pytest.mark.parametrize(
    "pattern, least, most",
    [
        ("^[a-z]+$", 300, 20_000),
        ("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", 3_000, 100_000),
        (r"\p{L}{200}", 8_700_000, 20_000_000),
        (r"(?:(?:\p{L}){20}){10}", 8_700_000, 40_000_000),
        (r"[\p{L}\p{N}]{20}", 970_000, 4_000_000),
        (r"[[]\p{L}{20}", 870_000, 4_000_000),
        (r"[[a]\p{L}]{20}", 44_000, 4_000_000),
        (r"(?x)\p{L} {20}", 870_000, 4_000_000),
        (r"(?=\p{L}{20})\1", 870_000, 4_000_000),
        ("[^x]{100}", 100_000, 1_000_000),
        ("((a{50}){50}){50}", 4_000_000, 100_000_000),
    ],
)
def test_a_pattern_weighs_as_much_as_it_may_be_compiled_to(
    pattern: str, least: int, most: int
) -> None:
    """The least were found by trying which limit the engine needs."""
    assert least <= pattern_weight(pattern) <= most


def test_a_schema_is_weighed_without_being_compiled() -> None:
    ordinary = {
        "type": "object",
        "properties": {name: {"type": "string", "maxLength": 10} for name in names(50)},
        "required": names(50),
    }
    assert weight_of(ordinary) < 500_000
    assert weight_of({"enum": names(10_000)}) < 5_000_000
    assert weight_of({"anyOf": [{}] * 40_000}) > 64 << 20
    assert weight_of({"allOf": [{"pattern": r"\p{L}{200}"}] * 2}) > 64 << 20
    begun = time.process_time()
    assert weight_of({"pattern": "(a|b{2})" * 100_000}, 64 << 20) > 64 << 20
    assert time.process_time() - begun < 0.5


def test_what_a_schema_was_compiled_to_goes_with_its_last_user() -> None:
    source = {"items": {"anyOf": [{"const": name} for name in names(5000)]}}
    schema = Schema(source)
    assert Schema(source).node is schema.node
    node = weakref.ref(schema.node)
    del schema
    gc.collect()
    assert node() is None
