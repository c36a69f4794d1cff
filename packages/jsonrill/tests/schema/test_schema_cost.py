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
from hypothesis import given, settings
from hypothesis import strategies as st

import jsonrill
from jsonrill.schema import Check, Schema
from jsonrill.schema.cost import MORE, Costs
from jsonrill.schema.jsonschema import compile_schema
from jsonrill.schema.weight import pattern_weight, weight_of
from support import few, hard
from support.costs import Work, is_linear
from support.schemas import validated

LEAF = {"type": "string", "maxLength": 5}


def chain(levels: int, level: Any, leaf: Any = LEAF) -> dict[str, Any]:
    """Definitions, each made by `level` of a reference to the next one."""
    definitions = {f"d{at}": level({"$ref": f"#/$defs/d{at + 1}"}) for at in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": leaf}}


def with_addresses(levels: int) -> dict[str, Any]:
    """As a chain, but each definition is a resource of its own."""
    definitions: dict[str, Any] = {
        f"d{at}": {"$id": f"urn:d{at}", "anyOf": [{"$ref": f"urn:d{at + 1}"}] * 2}
        for at in range(levels)
    }
    definitions[f"d{levels}"] = {"$id": f"urn:d{levels}", **LEAF}
    return {"$ref": "urn:d0", "$defs": definitions}


def with_anchors(levels: int, keyword: str, anchor: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{at}": {anchor: f"a{at}", "anyOf": [{keyword: f"#a{at + 1}"}] * 2}
        for at in range(levels)
    }
    definitions[f"d{levels}"] = {anchor: f"a{levels}", **LEAF}
    return {keyword: "#a0", "$defs": definitions}


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


@hard
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
        verdict = validated(BOMBS["anyOf"](levels), "123")
        assert verdict.read == 1 and verdict.violation is not None
        assert verdict.violation.rule == "anyOf" and len(verdict.violation.message) < 150


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
def test_a_recursive_schema_is_checked_however_deep_the_value(depth: int) -> None:
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


def kind(name: str) -> dict[str, Any]:
    """One of the alternatives that a property tells apart."""
    properties = {"kind": {"const": name}, "x": {"type": "integer"}}
    return {"type": "object", "properties": properties, "required": ["kind"]}


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
    "enum with null": lambda n: (each({"enum": [*names(n), None]}), names(n // 2)),
    "enum of numbers": lambda n: (each({"enum": list(range(n))}), list(range(n // 2))),
    "enum of whole numbers with a point": lambda n: (
        each({"enum": list(range(n))}),
        [float(at) for at in range(n // 2)],
    ),
    "enum of fractions": lambda n: (
        each({"enum": [at + 0.5 for at in range(n)]}),
        [at + 0.5 for at in range(n // 2)],
    ),
    "enum of texts and numbers": lambda n: (
        each({"enum": [*names(n), *range(n)]}),
        [*names(n // 4), *range(n // 4)],
    ),
    "anyOf consts": lambda n: (
        each({"anyOf": [{"const": name} for name in names(n)]}),
        names(n // 2),
    ),
    "oneOf consts, with titles": lambda n: (
        each({"oneOf": [{"const": at, "title": str(at), "type": "integer"} for at in range(n)]}),
        list(range(n // 2)),
    ),
    "discriminator": lambda n: (
        each({"oneOf": [kind(name) for name in names(n)]}),
        [{"kind": name} for name in names(n // 2)],
    ),
    "discriminator of references": lambda n: (
        {
            **each({"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names(n)]}),
            "$defs": {name: kind(name) for name in names(n)},
        },
        [{"kind": name} for name in names(n // 2)],
    ),
    "names of properties": lambda n: (
        {"propertyNames": {"enum": names(n)}},
        dict.fromkeys(names(n // 2), 1),
    ),
}


@few(1)
@pytest.mark.parametrize("name", SIZES)
def test_time_grows_with_schema_and_text_not_with_their_product(name: str) -> None:
    def read(size: int) -> Work:
        source, value = SIZES[name](size)
        schema, text = Schema(source), json.dumps(value)
        return lambda: list(jsonrill.updates([text], "BATCH", schema=schema))

    is_linear(read, 500 if "discriminator" in name else 2000)


SCALARS = st.sampled_from(
    [*names(20), *range(25), *(at / 2 for at in range(30)), True, False, None, -(1 << 60), 1 << 60]
    + [1e300, -0.0, "", {"a": 1}, {"a": 1.0}, [1], []]
)


def lists(values: list[Any], keyword: str) -> dict[str, Any]:
    if keyword == "enum":
        return {"enum": values}
    several = [{"enum": values[:3], "title": "some"}] if keyword == "oneOf" else []
    return {keyword: [*({"const": value} for value in values), *several]}


@settings(max_examples=40)
@given(
    st.lists(SCALARS, min_size=17, max_size=60),
    st.sampled_from(["enum", "anyOf", "oneOf"]),
    st.lists(SCALARS, min_size=1, max_size=5),
    st.sampled_from(["draft-06", "draft-07"]),
)
def test_what_is_looked_up_has_the_verdict_of_what_is_compared(
    values: list[Any], keyword: str, elements: list[Any], draft: str
) -> None:
    """As of the schema in which the same list stands under a `$ref` into it: left as it is."""
    address = f"http://json-schema.org/{draft}/schema#"
    for scalar in (True, False):
        some = [v for v in values if not scalar or not isinstance(v, (dict, list))]
        source = {"$schema": address, "items": lists(some, keyword)}
        plain = {**source, "definitions": {"x": {"$ref": "#/items/allOf/0"}}}
        for element in elements:
            closed = [Schema(one).check().close([element]) for one in (source, plain)]
            assert [one is None for one in closed] == [closed[1] is None] * 2
            if closed[1] is not None and closed[0] is not None:
                assert closed[0].rule == closed[1].rule


def test_a_refusal_of_a_long_list_names_the_rule_and_the_first_wrong_character() -> None:
    source = each({"oneOf": [{"const": name, "title": name} for name in names(30)]})
    refused = validated(source, '["name-1", "name-x"]').violation
    assert refused is not None and refused.rule == "oneOf"
    assert validated(source, '["name-1", "name-x"]').read == len('["name-1", "name-x')
    number = validated(each({"enum": [at / 4 for at in range(100)]}), "[0.25, 0.3, 1]").violation
    assert number is not None and number.rule == "enum" and number.path == (1,)


def test_the_values_of_a_stream_have_a_budget_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each element is cheap enough by itself: 1 500 rules, each of which it must keep."""
    monkeypatch.setattr("jsonrill.schema.validators._OF_STREAM", 1_000_000)
    rules = [{"not": {"const": at}} for at in range(1500)]
    text = json.dumps([{"x": at} for at in range(400)])
    last = list(jsonrill.updates([text], "ONE-BY-ONE", schema={"allOf": rules}))[-1]
    assert last.error is not None and last.error["code"] == "LIMIT_EXCEEDED"
    few = list(jsonrill.updates([text[:1000]], "ONE-BY-ONE", schema={"allOf": rules}))
    assert few[0].status == "COMPLETED"


@hard
def test_ordinary_lists_of_fractions_are_accepted() -> None:
    source = each({"enum": [at + 0.5 for at in range(4000)]})
    text = json.dumps([at + 0.5 for at in range(2000)])
    updates = jsonrill.updates([text], "BATCH", schema=source)
    assert [one.status for one in updates if one.error] == []


@pytest.mark.parametrize("name", ["repair", "zero values"])
def test_a_list_of_strings_is_not_read_for_each_value(name: str) -> None:
    def read(size: int) -> Work:
        schema = Schema(each({"properties": {"a": {"enum": names(size)}}}))
        text = json.dumps([{"a": name.upper() if repaired else name} for name in names(size // 2)])
        return lambda: list(jsonrill.updates([text], "REALTIME", schema=schema, **options))

    repaired = name == "repair"
    options: Any = {"repair": True} if repaired else {"zero_values": True}
    is_linear(read, 1000)


@pytest.mark.parametrize("name", ["$dynamicRef", "$ref"])
def test_references_that_cannot_be_told_apart_are_read_in_linear_time(name: str) -> None:
    anchor = "$dynamicAnchor" if name == "$dynamicRef" else "$anchor"

    def read(size: int) -> Work:
        defs = {f"d{at}": {"$id": f"urn:{at}", anchor: "x"} for at in range(size)}
        source = {"$defs": defs, "allOf": [{name: "#x"}] * size}
        return lambda: Costs(source)

    is_linear(read, 1000)


@pytest.mark.parametrize("reference", ["#", "#/$defs/wide", "#/%24defs/wide"])
def test_what_many_references_lead_to_is_copied_once(reference: str) -> None:
    def read(size: int) -> Work:
        wide = {"properties": {name: {"$ref": reference} for name in names(size)}}
        source = {"$defs": {"wide": wide}, "items": {"$ref": "#/$defs/wide"}}
        return lambda: compile_schema(source)

    is_linear(read, 400)


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
    assert weight_of({"properties": dict.fromkeys(names(15_000), {"type": "string"})}) < 32 << 20
    assert weight_of({"anyOf": [{}] * 60_000}) > 64 << 20
    assert weight_of({"allOf": [{"pattern": r"\p{L}{200}"}] * 2}) > 64 << 20
    begun = time.process_time()
    assert weight_of({"pattern": "(a|b{2})" * 100_000}, 64 << 20) > 64 << 20
    assert time.process_time() - begun < 0.5


@hard
@pytest.mark.parametrize(
    "source",
    [
        {"items": {"anyOf": [{"const": name} for name in names(5000)]}},
        {"properties": {name: {"type": "string"} for name in names(2000)}},
    ],
)
def test_what_a_schema_was_compiled_to_goes_with_its_last_user(source: dict[str, Any]) -> None:
    schema = Schema(source)
    assert Schema(source).node is schema.node
    node = weakref.ref(schema.node)
    gc.collect()
    gc.disable()
    try:
        del schema
        assert node() is None
        assert gc.collect() == 0
    finally:
        gc.enable()
