"""A line of a log → a stream, in each of its forms; or a code that says why not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill_batch.errors import BadRecord
from jsonrill_batch.input.record import read_line, texts
from jsonrill_batch.job import Job
from support import examples

VALUES = Job(kind="values")
EVENT = {"choices": [{"index": 0, "delta": {"content": '{"a"'}}]}


def read(record: Any, **options: Any) -> Any:
    line = record if isinstance(record, (str, bytes)) else json.dumps(record)
    return read_line(line, Job(kind="values", **options), "name")


@pytest.mark.parametrize(
    "record, form, joined",
    [
        ({"chunks": ['{"a"', ": 1}"]}, "chunks", '{"a": 1}'),
        ({"text": "[1]"}, "text", "[1]"),
        ({"snapshots": [{"a": "x"}, {"a": "xy"}]}, "snapshots", '{"a":"xy"}'),
        ({"snapshots": ['{"a": "x"}', '{"a": "xy"}']}, "snapshots", '{"a":"xy"}'),
        ({"snapshots": [None, 1, 12]}, "snapshots", "12"),
        ({"events": [EVENT, json.dumps(EVENT), {"other": 1}]}, "events", '{"a"{"a"'),
        ({"chunks": [], "text": "chunks are looked for first"}, "chunks", ""),
    ],
)
def test_each_form_is_text(record: Any, form: str, joined: str) -> None:
    stream = read(record)
    assert stream.form == form
    assert "".join(texts(stream, VALUES)) == joined


def test_a_complete_answer_in_a_named_field_is_its_events() -> None:
    message = {"role": "assistant", "content": "[1]"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "c", "object": "chat.completion", "choices": [choice]}
    stream = read({"out": answer}, field="out")
    assert (stream.form, "".join(texts(stream, VALUES))) == ("events", "[1]")


@pytest.mark.parametrize(
    "record, code, message",
    [
        ("{", "NOT_JSON", "Expecting"),
        (b'{"text": "\xff"}', "NOT_UTF8", "byte 10"),
        ("[" * 100_000, "NOT_JSON", "nested"),
        ("9" * 5000, "NOT_JSON", "digit"),
        ([1], "NOT_A_STREAM", "not a list"),
        ("null", "NOT_A_STREAM", "not null"),
        ({"id": 1}, "NOT_A_STREAM", "--field"),
        (EVENT, "NOT_A_STREAM", "all events of a stream into one line"),
        ({"chunks": "x"}, "NOT_A_STREAM", '"chunks" must be a list, not a string'),
        ({"chunks": ["x", None]}, "NOT_A_STREAM", "not null"),
        ({"chunks": ["x", 1]}, "NOT_A_STREAM", "not a number"),
        ({"text": ["x"]}, "NOT_A_STREAM", "not a list"),
        ({"id": {}, "text": "x"}, "NOT_A_STREAM", "the id must be"),
        ({"id": True, "text": "x"}, "NOT_A_STREAM", "not a boolean"),
        ({"text": "x", "times": [1.79e308]}, "NOT_A_STREAM", "a list of seconds"),
        ({"chunks": ["1", "2"], "times": [-1e308, 1e308]}, "NOT_A_STREAM", "a list of seconds"),
        ({"text": "x", "times": [1], "start": -1e300}, "NOT_A_STREAM", '"start" must be a number'),
        ({"text": "x", "times": [1, 2]}, "NOT_A_STREAM", "2 times for 1 text"),
        ({"text": "x", "times": ["1"]}, "NOT_A_STREAM", "list of seconds"),
        ({"text": "x", "times": [10**400]}, "NOT_A_STREAM", "list of seconds"),
        ('{"text": "x", "times": [NaN]}', "NOT_A_STREAM", "list of seconds"),
        ({"text": "x", "times": [1], "start": True}, "NOT_A_STREAM", '"start"'),
    ],
)
def test_what_is_no_stream_has_a_code(record: Any, code: str, message: str) -> None:
    with pytest.raises(BadRecord, match=message.replace("(", r"\(")) as caught:
        read(record)
    assert caught.value.code == code


def test_events_of_nobody_are_no_stream() -> None:
    with pytest.raises(BadRecord, match="known provider"):
        list(texts(read({"events": [{"x": 1}]}), VALUES))


@pytest.mark.parametrize(
    "content, form",
    [
        ("text", "text"),
        (["a", "b"], "chunks"),
        ([EVENT, {}], "events"),
        ([{"a": 1}], "snapshots"),
    ],
)
def test_a_field_of_another_name_is_recognised(content: Any, form: str) -> None:
    record = {"request": {"no": 7}, "response": {"out": [0, content]}}
    stream = read(record, field="response.out[1]", id_field="request.no")
    assert (stream.form, stream.id) == (form, 7)
    with pytest.raises(BadRecord, match="nothing at response.gone"):
        read(record, field="response.gone")
    with pytest.raises(BadRecord, match="a string or a list"):
        read(record, field="request")


def test_a_stream_without_an_id_has_that_of_its_place() -> None:
    assert read({"text": ""}).id == read({"text": "", "id": None}).id == "name"
    assert read({"text": "", "id": 0}).id == 0


def test_times_are_from_the_start_or_the_first_piece() -> None:
    record = {"chunks": ["a", "b"], "times": [100, 101.5]}
    assert read(record).seconds(1) == 1.5
    assert read({**record, "start": 99}).seconds(0) == 1.0
    assert read({**record, "start": 500}).seconds(0) == 0.0
    assert read({"chunks": ["a"]}).seconds(0) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "chunks", "snapshots", "events", "text", "times", "start", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@examples(200)
@given(JSON)
def test_any_json_is_a_stream_or_a_bad_record(record: Any) -> None:
    try:
        stream = read(record)
    except BadRecord as bad:
        assert bad.code in ("NOT_A_STREAM", "NOT_JSON")
    else:
        assert isinstance(stream.id, (str, int))
