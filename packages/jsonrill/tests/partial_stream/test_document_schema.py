"""What a schema says of the document around its entities: a root array, members beside a list."""

from __future__ import annotations

import json
import tracemalloc
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, model_validator

from jsonrill import PartialStream, updates
from jsonrill.schema import Schema
from support import cases, cuttings, examples, hard, pieces
from support.streams import MODES, run


class Day(BaseModel):
    id: int


class Failure(BaseModel):
    error: str


class Trip(BaseModel):
    title: str
    days: list[Day]
    note: str = ""

    @model_validator(mode="after")
    def as_many_as_the_title_says(self) -> Trip:
        if self.title == "one" and len(self.days) != 1:
            raise ValueError("not one day")
        return self


TRIP = '{"title": "t", "days": [{"id": 1}, {"id": 2}]}'


def ends(text: str, **options: Any) -> list[dict[str, Any]]:
    """What is not PARTIAL, the same however the text is cut."""
    by_cutting = []
    for cut in cuttings(text):
        ended = [
            one.to_dict() for one in run(cut, "REALTIME", **options) if one.status != "PARTIAL"
        ]
        by_cutting.append(ended)
    assert all(one == by_cutting[0] for one in by_cutting)
    return by_cutting[0]


def statuses(text: str, **options: Any) -> list[tuple[Any, str]]:
    return [(one.get("index"), one["status"]) for one in ends(text, **options)]


@pytest.mark.parametrize("case", cases("root_arrays.json")["cases"], ids=lambda case: case["about"])
def test_what_a_schema_says_of_a_root_array(case: dict[str, Any]) -> None:
    for text in case["valid"]:
        assert "ERROR" not in {status for _, status in statuses(text, schema=case["schema"])}, text
    for text in case["invalid"]:
        assert "ERROR" in {status for _, status in statuses(text, schema=case["schema"])}, text


@pytest.mark.parametrize("case", cases("root_arrays.json")["cases"], ids=lambda case: case["about"])
def test_a_root_array_is_validated_as_its_validator_says(case: dict[str, Any]) -> None:
    if not Schema(case["schema"]).describes_arrays():
        return
    for text in case["valid"] + case["invalid"]:
        good = Schema(case["schema"]).check().close(json.loads(text)) is None
        assert good == (text in case["valid"]), text


def test_a_list_or_an_object() -> None:
    either = list[Day] | Failure
    assert statuses('[{"id": 1}, {"id": 2}]', schema=either) == [(0, "COMPLETED"), (1, "COMPLETED")]
    assert statuses('{"error": "x"}', schema=either) == [(0, "COMPLETED")]
    assert statuses('[{"id": 1}, {"id": "x"}]', schema=either)[-1] == (1, "ERROR")
    assert statuses('{"error": 5}', schema=either) == [(0, "ERROR")]
    stream: Any = updates('[{"id": 1}]', "ONE-BY-ONE", schema=either)  # type: ignore[call-overload]
    models = [one.model for one in stream]
    assert models == [Day(id=1)]


def test_how_many_elements_a_pydantic_list_may_have() -> None:
    most = Annotated[list[Day], Field(max_length=1)]
    assert statuses('[{"id": 1}, {"id": 2}]', schema=most) == [(0, "COMPLETED"), (None, "ERROR")]
    least = Annotated[list[Day], Field(min_length=1)]
    [error] = ends("[]", schema=least)
    assert (error["error"]["rule"], error["error"]["offset"]) == ("too_short", 0)


@pytest.mark.parametrize(
    "text, entity, seen, rule",
    [
        ('[{"id": 1}]', None, 1, "model_type"),
        ('{"title": 5, "days": [{"id": 1}]}', "days", 11, "string_type"),
        ('{"title": null, "days": []}', "days", 11, "string_type"),
        ('{"title": "x"}', "days", 14, "missing"),
        ('{"title": "x", "days": 5}', "days", 24, "list_type"),
        ('{"title": "one", "days": [{"id": 1}, {"id": 2}]}', "days", 48, "value_error"),
        ("5 ", "days", 1, "model_type"),
        ('"x"', "days", 1, "model_type"),
        ("tru", "days", 1, "model_type"),
    ],
)
def test_the_document_outside_its_entities(
    text: str, entity: str | None, seen: int, rule: str
) -> None:
    stream = PartialStream("ONE-BY-ONE", entity=entity, document_schema=Trip)
    fed = [stream.feed(char) for char in text[:seen]]
    assert not any(update.status == "ERROR" for new_updates in fed[:-1] for update in new_updates)
    error = fed[-1][-1]
    assert (error.status, error.error and error.error["rule"]) == ("ERROR", rule)
    assert stream.ended or error.index is not None
    assert ends(text, entity=entity, document_schema=Trip)[-1] == error.to_dict()


def test_a_valid_document_brings_no_error() -> None:
    ended = statuses(TRIP, entity="days", document_schema=Trip)
    assert ended == [(0, "COMPLETED"), (1, "COMPLETED")]
    assert statuses(TRIP, document_schema=Trip) == [(0, "COMPLETED")]
    ended = statuses('{"title": "one", "days": [{"id": 1}]}', entity="days", document_schema=Trip)
    assert ended == [(0, "COMPLETED")]


def test_an_entity_that_is_refused_is_the_only_error() -> None:
    text = '{"title": "t", "days": [{"id": "x"}, {"id": 2}], "note": 5}'
    ended = statuses(text, entity="days", document_schema=Trip)
    assert ended == [(0, "ERROR"), (1, "COMPLETED")]


def test_after_the_error_of_a_document_nothing_more_comes() -> None:
    stream = PartialStream("ONE-BY-ONE", entity="days", document_schema=Trip)
    new_updates = stream.feed('{"title": 5, "days": [{"id": 1}], bad')
    assert [(update.index, update.status) for update in new_updates] == [(None, "ERROR")]
    assert stream.ended and stream.feed("x") == stream.flush() == []


def test_with_many_the_next_document_goes_on() -> None:
    text = '{"title": 5, "days": [{"id": 1}]}\n' + TRIP + '\n{"days": []}\n[]\n'
    ended = ends(text, entity="days", document_schema=Trip, many=True)
    assert [(one.get("index"), one["status"]) for one in ended] == [
        (None, "ERROR"), (0, "COMPLETED"), (1, "COMPLETED"), (None, "ERROR"), (None, "ERROR"),
    ]  # fmt: skip
    assert [one["error"]["line"] for one in ended if "error" in one] == [1, 3, 4]


@pytest.mark.parametrize("mode", MODES)
def test_what_was_complete_before_the_error_of_a_document_is_kept(mode: Any) -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "maxItems": 2}
    ended = [one for one in run(list("[1, 2, 3]"), mode, schema=schema) if one.status != "PARTIAL"]
    error = ended[-1]
    assert (error.status, error.index) == ("ERROR", None)
    if mode == "BATCH":
        assert (len(ended), error.data) == (1, [1, 2])
    else:
        assert [one.data for one in ended[:-1]] == [1, 2]


def test_lines_and_columns_of_the_error_of_a_document() -> None:
    text = '{\n  "days": [\n    {"id": 1}\n  ],\n  "title": 7\n}'
    error = ends(text, entity="days", document_schema=Trip)[-1]["error"]
    assert (error["line"], error["column"], error["path"]) == (5, 12, "root.title")
    error = ends('\n\n {\n "title": "x"}', entity="days", document_schema=Trip)[-1]["error"]
    assert (error["line"], error["column"]) == (3, 2)


def test_repaired_text_is_validated_like_json() -> None:
    text = "{title: 'one', days: [{id: 1}, {id: 2},],}"
    all_updates = run([text], "ONE-BY-ONE", entity="days", document_schema=Trip, repair=True)
    assert [one.status for one in all_updates] == ["COMPLETED", "COMPLETED", "ERROR"]


def test_an_element_of_a_list_schema_decides_between_two_readings() -> None:
    """What the schema of the list says of its elements guides the repair of each."""
    element = {"properties": {"a": {"type": "object"}, "b": {"type": "string"}}}
    schema = {"type": "array", "items": element}
    text = '[{"a": "{}"}, {b: word}]'
    for cut in cuttings(text):
        all_updates = run(cut, "ONE-BY-ONE", schema=schema, repair=True)
        assert [one.data for one in all_updates] == [{"a": {}}, {"b": "word"}]


ELEMENTS = st.lists(st.sampled_from([0, 1, 1.0, "a", "b", None, [], [1], {"a": 1}, {"b": 2}]))
ARRAY_SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["array", ["array", "object"]]),
        "minItems": st.integers(0, 3),
        "maxItems": st.integers(1, 4),
        "uniqueItems": st.booleans(),
        "items": st.sampled_from([{"type": "integer"}, {"type": ["integer", "array"]}, {}]),
        "prefixItems": st.sampled_from([[{"type": "string"}], [{}, {"const": 1}]]),
        "contains": st.sampled_from([{"type": "string"}, {"minimum": 1, "type": "number"}]),
        "not": st.sampled_from([{"maxItems": 1}, {"contains": {"const": "a"}}]),
    },
).filter(lambda schema: schema.keys() - {"not"})


@given(ARRAY_SCHEMAS, ARRAY_SCHEMAS, ELEMENTS, st.booleans(), st.data())
@examples(300)
def test_a_root_array_is_refused_if_and_only_if_its_validator_refuses_it(
    one: dict[str, Any], two: dict[str, Any], value: Any, both: bool, data: Any
) -> None:
    schema = {"allOf" if both else "anyOf": [one, two]}
    text = json.dumps(value)
    all_updates = run(data.draw(pieces(text)), "ONE-BY-ONE", schema=schema)
    good = Schema(schema).check().close(value) is None
    assert (not any(update.status == "ERROR" for update in all_updates)) == good


@given(
    st.one_of(st.none(), st.integers(), st.text(max_size=3)),
    st.lists(st.one_of(st.integers(0, 2), st.fixed_dictionaries({"id": st.integers(0, 3)}))),
    st.sampled_from(["title", "titel"]),
    st.data(),
)
@examples(200)
def test_a_document_is_refused_if_and_only_if_pydantic_refuses_it(
    title: Any, days: Any, key: str, data: Any
) -> None:
    text = json.dumps({key: title, "days": days})
    all_updates = run(data.draw(pieces(text)), "ONE-BY-ONE", entity="days", document_schema=Trip)
    try:
        TypeAdapter(Trip).validate_json(text)
        good = True
    except ValueError:
        good = False
    assert (not any(update.status == "ERROR" for update in all_updates)) == good


def test_formats_are_checked_if_asked_for() -> None:
    schema = {"properties": {"d": {"format": "date"}}}
    text = '{"d": "yesterday"}'
    assert statuses(text, schema=schema) == [(0, "COMPLETED")]
    assert statuses(text, schema=schema, check_formats=True) == [(0, "ERROR")]
    assert statuses('{"d": "2024-02-30"}', schema=schema, check_formats=True) == [(0, "ERROR")]
    assert statuses('{"d": "2024-02-29"}', schema=schema, check_formats=True) == [(0, "COMPLETED")]
    by_name = {"d": {"format": "email"}}
    ended = statuses(text, entity=["d"], schema=by_name, check_formats=True)
    assert ended == [(0, "ERROR")]
    ended = statuses(text, entity=["d"], document_schema=schema, check_formats=True)
    assert ended == [(0, "ERROR")]


@hard
def test_a_plain_list_is_not_kept_in_memory() -> None:
    row = '{"id": 1, "text": "' + "x" * 1000 + '"}'

    def source(rows: int) -> Any:
        yield "["
        for index in range(rows):
            yield ("," if index else "") + row
        yield "]"

    def peak(rows: int) -> int:
        tracemalloc.start()
        for _ in updates(source(rows), "ONE-BY-ONE", schema=list[Day]):
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(10)
    assert peak(2000) < peak(200) + 200_000
