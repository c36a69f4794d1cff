"""A schema in a stream of updates: the earliest error, its entity, and the other entities.

Single values are tested with the schema; these tests are about a stream of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter, field_validator

from jsonrill import PartialStream, Update, updates
from jsonrill.partial_stream import Mode
from jsonrill.schema import is_partial
from support import cuttings, examples, pieces
from support.streams import MODES, check_law, run

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 3},
        "n": {"type": "integer", "minimum": 2},
        "tags": {
            "type": "array",
            "items": {"enum": ["red", "green"]},
            "maxItems": 2,
            "minItems": 1,
        },
        "sub": {"type": "object", "required": ["x"], "properties": {"x": {"type": "boolean"}}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


class Color(BaseModel):
    hex: str
    size: int = 1


class Palette(BaseModel):
    title: str = ""
    colors: list[Color]


def ends(updates: list[Update]) -> list[dict[str, Any]]:
    return [update.to_dict() for update in updates if update.status != "PARTIAL"]


def same_ends(text: str, mode: Mode, **options: Any) -> list[dict[str, Any]]:
    results = [ends(run(parts, mode, **options)) for parts in cuttings(text)]
    assert all(repr(result) == repr(results[0]) for result in results)
    return results[0]


@pytest.mark.parametrize(
    "text, seen, data, rule",
    [
        # the text, the length that proves the violation, the data of the error, the rule
        ('{"name": 12', 10, {}, "type"),
        ('{"name": "abcd"', 15, {}, "maxLength"),
        ('{"name": "ab", "n": "x"', 21, {"name": "ab"}, "type"),
        ('{"name": "ab", "n": 1,', 22, {"name": "ab"}, "minimum"),
        ('{"name": "ab", "n": tru', 21, {"name": "ab"}, "type"),
        ('{"name": "ab", "n": -', 23, {"name": "ab"}, "minimum"),
        ('{"name": "a", "tags": ["red", "gx', 33, {"name": "a", "tags": ["red"]}, "enum"),
        ('{"name": "a", "tags": ["red", "red", "red"]', 43, {"name": "a"}, "maxItems"),
        ('{"name": "a", "tags": []', 24, {"name": "a"}, "minItems"),
        ('{"name": "a", "other"', 21, {"name": "a"}, "additionalProperties"),
        ('{"name": "a", "na"', 18, {"name": "a"}, "additionalProperties"),
        ('{"name": "a", "sub": {"x": 1', 28, {"name": "a", "sub": {}}, "type"),
        ('{"name": "a", "sub": {}', 23, {"name": "a"}, "required"),
        ('{"n": 5}', 8, {"n": 5}, "required"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", MODES)
def test_a_violation_comes_with_the_character_that_proves_it(
    mode: Mode, text: str, seen: int, data: Any, rule: str
) -> None:
    text += "5, " if text.endswith("-") else ""
    stream = PartialStream(mode, schema=SCHEMA)
    fed = [stream.feed(char) for char in text[:seen]]
    assert not any(update.status == "ERROR" for updates in fed[:-1] for update in updates)
    [update] = fed[-1]
    assert (update.status, update.index, update.data) == ("ERROR", 0, data)
    assert update.error is not None and update.error["code"] == "INVALID_SCHEMA"
    assert f"({rule})" in update.error["message"] and "root" in update.error["message"]
    assert stream.ended
    rest = text + ("" if text.endswith("}") else '"]}]}')
    assert repr(same_ends(rest, mode, schema=SCHEMA)[0]) == repr(update.to_dict())


ROWS = '[{"name": "a"}, {"name": 1, "x": [{}]}, {"name": "b", "n": 7}, {"n": "c"}, {"name": "d"}]'


def test_it_ends_that_entity_only() -> None:
    for mode in ("ONE-BY-ONE", "PROGRESSIVE", "REALTIME"):
        ended = [(e["index"], e["status"], e["data"]) for e in same_ends(ROWS, mode, schema=SCHEMA)]
        assert ended == [
            (0, "COMPLETED", {"name": "a"}),
            (1, "ERROR", {}),
            (2, "COMPLETED", {"name": "b", "n": 7}),
            (3, "ERROR", {}),
            (4, "COMPLETED", {"name": "d"}),
        ]
        updates = run(list(ROWS), mode, schema=SCHEMA)
        for index in (1, 3):
            assert [u.status for u in updates if u.index == index].count("ERROR") == 1
            assert [u.status for u in updates if u.index == index][-1] == "ERROR"


def test_it_is_sent_at_once_where_the_others_wait() -> None:
    for mode in ("BATCH", "ALL-TOGETHER"):
        stream = PartialStream(mode, schema=SCHEMA)
        early = [update for char in ROWS for update in stream.feed(char)]
        assert [(u.index, u.status) for u in early] == [(1, "ERROR"), (3, "ERROR")]
        last = stream.flush()
        rows = [{"name": "a"}, {"name": "b", "n": 7}, {"name": "d"}]
        if mode == "BATCH":
            assert [(u.index, u.status, u.data) for u in last] == [(0, "COMPLETED", rows)]
        else:
            assert [u.data for u in last] == rows
            assert [u.index for u in last] == [0, 2, 4]


def test_scalars_as_entities() -> None:
    ended = same_ends('[1, "a", 23, true, -5, []]', "REALTIME", schema={"type": "integer"})
    assert [(e["index"], e["status"], e["data"]) for e in ended] == [
        (0, "COMPLETED", 1), (1, "ERROR", None), (2, "COMPLETED", 23), (3, "ERROR", None),
        (4, "COMPLETED", -5), (5, "ERROR", None),
    ]  # fmt: skip
    ended = same_ends('["abc", "abcd", "x"]', "REALTIME", schema={"maxLength": 3})
    assert [(e["status"], e["data"]) for e in ended] == [
        ("COMPLETED", "abc"), ("ERROR", None), ("COMPLETED", "x"),
    ]  # fmt: skip


def test_a_violation_and_then_bad_json() -> None:
    for text in ('[{"name": -x', '[{"name": trx', '[{"tags": ["x\n', '[{"x"]'):
        first, second = same_ends(text, "REALTIME", schema=SCHEMA)
        assert (first["index"], first["error"]["code"]) == (0, "INVALID_SCHEMA")
        assert (second.get("index"), second["error"]["code"]) == (None, "INVALID_JSON")
        assert second["data"] is None


VIOLATES = '{"colors": [{"hex": "#1", "size": 2}, {"hex": "#2", "size": {}}]}'


def run_each(text: str, schema: Any) -> Iterator[Any]:
    return updates(list(text), schema=schema)


def test_complete_entities_are_instances_of_the_model() -> None:
    text = '[{"hex": "#1"}, {"hex": "#2", "size": "7"}, {"size": 2}]'
    for schema in (Color, TypeAdapter(Color), list[Color], TypeAdapter(list[Color])):
        updates = run(list(text), "REALTIME", schema=schema)
        assert all(is_partial(u.model) for u in updates if u.status != "COMPLETED")
        done = [u.model for u in updates if u.status == "COMPLETED"]
        assert done == [Color(hex="#1"), Color(hex="#2", size=7)]
        assert updates[-1].error is not None and "missing" in updates[-1].error["message"]
    [error, batch] = run([text], "BATCH", schema=Color)
    assert batch.model == [Color(hex="#1"), Color(hex="#2", size=7)]
    [whole] = run(['{"hex": "x"}'], "ONE-BY-ONE", schema={"type": "object"})
    assert whole.model is None and whole.data == {"hex": "x"}


def test_growing_entities_are_partial_instances() -> None:
    for send in ("data", "delta"):
        stream = PartialStream("REALTIME", schema=Palette, send=send)
        [update] = stream.feed('{"colors": [{"hex": "#1')
        first = update
        assert isinstance(update.model, Palette) and update.model.model_fields_set == {"colors"}
        assert update.model.colors[0].hex == "#1"
        assert update.model is update.model
        [update] = stream.feed('"}]}')
        assert update.model == Palette(colors=[Color(hex="#1")])
        assert is_partial(first.model) and not is_partial(update.model)


def test_after_an_error_or_a_truncation_the_model_is_the_last_good_one() -> None:
    for cut in (
        '{"colors": [{"hex": "#1", "size": 2}, {"hex": "#2',
        '{"colors": [{"hex": "#1", "size": 2}, {"hex": "#2\x00',
    ):
        error = [*run_each(cut, Palette)][-1]
        assert error.status == "ERROR" and is_partial(error.model)
        assert error.model.colors[0] == Color(hex="#1", size=2)
        assert (error.model.colors[1].hex, is_partial(error.model.colors[1])) == ("#2", True)
    for cutting in ([VIOLATES], list(VIOLATES)):
        error = run(cutting, "REALTIME", schema=Palette)[-1]
        assert error.error is not None and error.error["path"] == "root.colors[1].size"
        assert error.model is not None and error.model.colors[0] == Color(hex="#1", size=2)
        assert error.model.colors[1].model_fields_set == {"hex"}


def test_completed_lists_the_paths_that_became_complete() -> None:
    text = '{"a": "xy", "b": [1, {"c": true}], "d": {}}'
    for size in range(1, len(text) + 1):
        for mode in ("REALTIME", "PROGRESSIVE", "ONE-BY-ONE"):
            updates = run([text[i : i + size] for i in range(0, len(text), size)], mode)
            assert [path for update in updates for path in update.completed] == [
                ("a",), ("b", 0), ("b", 1, "c"), ("b", 1), ("b",), ("d",), (),
            ]  # fmt: skip
            for update in updates:
                assert all(update.is_complete(path) for path in update.completed)
                assert copy(update).completed == update.completed
    [update] = run([text], "REALTIME")
    assert update.to_dict("completed")["completed"][:2] == ["root.a", "root.b[0]"]
    [error] = run(['{"a": 1, "b": [2, '], "ONE-BY-ONE")
    assert (error.status, error.completed) == ("ERROR", [("a",), ("b", 0)])


def test_the_schema_of_an_array_and_a_root_that_is_not_one() -> None:
    [update] = run(['{"hex": "x"}'], "REALTIME", schema=list[Color])
    assert (update.status, update.index, update.data) == ("ERROR", 0, None)
    [update] = run(['{"hex": "x"}'], "REALTIME", schema=Color)
    assert update.status == "COMPLETED"


def test_of_a_declared_entity_the_schema_is_its_own() -> None:
    text = '{"colors": [{"hex": "x"}, [{"hex": "y"}]]}'
    ended = same_ends(text, "ONE-BY-ONE", schema=list[Color], entity="colors")
    assert [e["status"] for e in ended] == ["ERROR", "COMPLETED"]


def test_the_open_path_of_a_value_that_was_left_out() -> None:
    [error] = PartialStream("REALTIME", schema=SCHEMA).feed('{"n": 5, "name": "abcd"')
    assert (error.data, error.open_path, error.is_complete("n")) == ({"n": 5}, (), True)
    [error] = PartialStream("REALTIME", schema=SCHEMA).feed('{"tags": ["red", "x')
    assert (error.data, error.open_path) == ({"tags": ["red"]}, ("tags",))


def test_one_schema_for_each_name() -> None:
    text = '{"colors": [{"hex": "a"}, {"hex": 1}], "shapes": [1, "x"], "other": [true]}'
    schema = {"colors": Color, "shapes": {"type": "string"}}
    entity = ["colors", "shapes", "other"]
    ended = same_ends(text, "ONE-BY-ONE", schema=schema, entity=entity)
    assert [(e["entity"], e["index"], e["status"]) for e in ended] == [
        ("colors", 0, "COMPLETED"), ("colors", 1, "ERROR"), ("shapes", 0, "ERROR"),
        ("shapes", 1, "COMPLETED"), ("other", 0, "COMPLETED"),
    ]  # fmt: skip
    # Names of entities that are also keywords do not make this a mapping of schemas.
    ended = same_ends('{"type": [1, "x"]}', "ONE-BY-ONE", entity="type", schema={"type": "string"})
    assert [e["status"] for e in ended] == ["ERROR", "COMPLETED"]


def test_a_schema_of_the_root_array() -> None:
    ended = same_ends('[{"hex": "a"}, 1]', "ONE-BY-ONE", schema=list[Color])
    assert [e["status"] for e in ended] == ["COMPLETED", "ERROR"]
    for tuples in (tuple[int, str], {"prefixItems": [{"type": "integer"}, {"type": "string"}]}):
        ended = same_ends('["x", 1]', "ONE-BY-ONE", schema=tuples)
        assert [e["status"] for e in ended] == ["ERROR", "ERROR"]
        ended = same_ends('[1, "x"]', "ONE-BY-ONE", schema=tuples)
        assert [e["status"] for e in ended] == ["COMPLETED", "COMPLETED"]


def test_each_value_begins_as_the_zero_of_its_type() -> None:
    schema = {
        "properties": {
            "s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
            "a": {"type": "array"}, "o": {"type": "object"}, "z": {"type": "null"}, "x": {},
        }
    }  # fmt: skip
    text = '{"s": "t", "n": -1, "b": true, "a": ["u"], "o": {"p": 1}, "z": null, "x": 2}'
    updates = run(list(text), "REALTIME", schema=schema, zero_values=True, send="both")
    check_law(updates)
    shown = [json.dumps(update.data) for update in updates]
    for zero in ('{"s": ""}', '"n": 0}', '"b": false}', '"a": []}', '"o": {}}', '"z": null}'):
        assert sum(data.endswith(zero) for data in shown) == 1, zero
    assert not any('"x": 0' in data or '"x": null' in data for data in shown)
    assert all(one != two for one, two in zip(shown, shown[1:-1], strict=False))
    # A zero is replaced by the value without being sent again, and an error does not have it.
    stream = PartialStream("REALTIME", schema=schema, zero_values=True, send="both")
    assert [u.data for u in stream.feed('{"s": "t", "a"')] == [{"s": "t", "a": []}]
    assert [u.data for u in stream.feed(":  [")] == []
    [update] = stream.feed('"u')
    assert update.delta == [["set", "/a/0", "u"]]
    [update] = stream.feed('"], "n": ')
    assert update.data == {"s": "t", "a": ["u"], "n": 0} and not update.is_complete("n")
    [update] = stream.feed("?")
    assert update.data == {"s": "t", "a": ["u"]}
    assert update.delta == [["remove", "/n"]]


def test_a_zero_of_a_container_is_not_taken_for_the_container() -> None:
    class Closed(Palette):
        model_config = ConfigDict(extra="forbid")

    text = '{"title": "x", "colors" : [ {"hex": "a"} , {"hex": 5}]}'
    [error] = same_ends(text, "REALTIME", schema=Closed, zero_values=True)
    assert (error["error"]["path"], error["error"]["offset"]) == ("root.colors[1].hex", 51)


def test_an_element_of_a_type_that_is_not_known_is_plain() -> None:
    [update] = run(['[{"hex": "x"}]'], "ONE-BY-ONE", schema=list[Color] | list[Palette])  # type: ignore[arg-type]
    assert update.model == {"hex": "x"}


def test_a_validator_may_raise_or_change_the_value() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(extra="forbid")
        n: int

        @field_validator("n")
        @classmethod
        def judge(cls, value: int) -> int:
            if value == 13:
                raise ValueError("unlucky")
            return value * 2

    updates = run(['[{"n": 4}, {"n": 13}, {"n": 5, "m": 1}]'], "ONE-BY-ONE", schema=Odd)
    assert [(u.status, u.data) for u in updates] == [
        ("COMPLETED", {"n": 4}), ("ERROR", {}), ("ERROR", {"n": 5}),
    ]  # fmt: skip
    assert updates[0].model is not None and updates[0].model.n == 8


@pytest.mark.parametrize(
    "text, wrong, right",
    [
        ("[1, true, 2]", [1], [1, 2]),
        ("[1, 1.5, 2]", [1], [1, 2]),
        ('[1, "a", 2]', [1], [1, 2]),
        ('[1, {"a": [1, {}]}, 2, [[]], 3]', [1, 3], [1, 2, 3]),
        ("[null, false, 12, nul", [0, 1, 3], [12]),
    ],
)
def test_the_rest_of_a_violating_entity_is_skipped(
    text: str, wrong: list[int], right: list[int]
) -> None:
    """The rest is skipped: a scalar that has begun, or the open containers."""
    for parts in cuttings(text):
        seen = run(parts, "REALTIME", schema={"type": "integer"})
        errors = [u.index for u in seen if u.error and u.error["code"] == "INVALID_SCHEMA"]
        assert errors == wrong
        assert [u.data for u in seen if u.status == "COMPLETED"] == right


VALUES = st.recursive(
    st.one_of(st.integers(-3, 3), st.sampled_from(["", "red", "green", "abcd"]), st.booleans()),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=3,
)
ENTITIES = st.lists(
    st.dictionaries(st.sampled_from(["name", "n", "tags", "sub", "x"]), VALUES), max_size=4
)


@pytest.mark.parametrize("mode", MODES)
@examples(60)
@given(rows=ENTITIES, cut=st.integers(0, 40), data=st.data())
def test_p1_p7_hold_with_a_schema(mode: Mode, rows: Any, cut: int, data: st.DataObject) -> None:
    from jsonschema_rs import validator_for

    text = json.dumps(rows)
    text = text[: len(text) - cut] if cut < 10 else text
    parts = data.draw(pieces(text))
    plain = same_ends(text, mode, schema=SCHEMA)
    assert repr(ends(run(parts, mode, schema=SCHEMA))) == repr(plain)
    if mode != "BATCH":
        check_law(run(parts, mode, schema=SCHEMA, send="both"))
    judge = validator_for(SCHEMA)
    if text == json.dumps(rows) and mode != "BATCH":
        verdicts = {e["index"]: e["status"] for e in plain}
        assert verdicts == {
            at: "COMPLETED" if judge.is_valid(row) else "ERROR" for at, row in enumerate(rows)
        }


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize(
    ("text", "offset"), [('[1,{"a":2}]', 1), ('{"x":1,"y":{"a":2}}', 5), ('{"x":[1,{"a":2}]}', 6)]
)
def test_a_violation_is_found_at_its_place_before_an_object(
    text: str, offset: int, repair: bool
) -> None:
    for cut in ([text], list(text)):
        first = next(
            iter(updates(cut, "ONE-BY-ONE", entity="x", schema={"type": "object"}, repair=repair))
        )
        assert first.error is not None and first.error["offset"] == offset
