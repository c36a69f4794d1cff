"""`rows`: one row for each line, whatever is in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill_batch import Job, rows

TEXT = '{"city": "Lisbon"}'
CALL = {"id": "t1", "function": {"name": "weather", "arguments": '{"city": "Faro"}'}}
CHOICE = {"message": {"content": TEXT, "tool_calls": [CALL]}, "finish_reason": "stop"}
CHAT = {"choices": [CHOICE], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
ITEM = {"type": "message", "content": [{"type": "output_text", "text": TEXT}]}
RESPONSE = {"object": "response", "status": "completed", "output": [ITEM]}
MESSAGE = {"type": "message", "content": [{"type": "text", "text": TEXT}]}
DELTA = {"choices": [{"index": 0, "delta": {"content": TEXT}, "finish_reason": "stop"}]}


def one(line: Any, kind: Any = "values", **options: Any) -> dict[str, Any]:
    text = line if isinstance(line, str | bytes) else json.dumps(line)
    (row,) = rows([text], Job(kind, **options))
    return row


@pytest.mark.parametrize(
    "line",
    [
        {"id": 1, "text": TEXT},
        {"id": 1, "chunks": [TEXT[:5], TEXT[5:]]},
        {"id": 1, "events": [DELTA]},
        {"id": 1, "text": f"data: {json.dumps(DELTA)}\n\ndata: [DONE]\n\n"},
        {"custom_id": 1, "id": "r", "response": {"status_code": 200, "body": CHAT}, "error": None},
        {"custom_id": 1, "response": {"status_code": 200, "body": RESPONSE}, "error": None},
        {"id": 1, "call_type": "acompletion", "status": "success", "response": CHAT},
        {"request_id": 1, "call_type": "anthropic_messages", "response": MESSAGE},
        {**CHAT, "id": 1},
        {**RESPONSE, "id": 1},
    ],
)
def test_a_stream_is_found_in_lines_of_many_forms(line: dict[str, Any]) -> None:
    row = one(line)
    row.pop("usage", None)
    assert row == {"id": 1, "status": "complete", "value": {"city": "Lisbon"}}


def test_a_line_of_another_form_is_the_text() -> None:
    assert one(TEXT) == {"id": None, "status": "complete", "value": {"city": "Lisbon"}}
    assert one("[1, 2").get("status") == "cut"
    assert one({"text": "a key"}, field=".")["value"] == {"text": "a key"}


def test_a_path_names_the_field() -> None:
    line = {"request": {"key": "a"}, "output": [{"content": TEXT}]}
    row = one(line, field="output.0.content", id_field="request.key")
    assert row == {"id": "a", "status": "complete", "value": {"city": "Lisbon"}}
    assert one({"other": 1}, field="output")["error"]["code"] == "BAD_LINE"
    assert one("no JSON", field="output")["error"]["code"] == "BAD_LINE"


@pytest.mark.parametrize(
    "line, code",
    [
        (b"\xff\xfe", "BAD_LINE"),
        ({"chunks": 1}, "BAD_LINE"),
        ({"text": None}, "BAD_LINE"),
        ({"events": [{"unknown": 1}]}, "UNKNOWN_SOURCE"),
        ({"custom_id": 1, "response": None, "error": {"message": "expired"}}, "REQUEST_FAILED"),
        ({"custom_id": 1, "response": {"status_code": 429, "body": {}}}, "REQUEST_FAILED"),
        ({"call_type": "x", "status": "failure", "response": {}}, "REQUEST_FAILED"),
        ({"text": '{"a" 1}'}, "INVALID_JSON"),
        ({"text": "[" * 300 + "]" * 300}, "LIMIT_EXCEEDED"),
        ({"text": "[" + "1" * 500 + "]"}, "LIMIT_EXCEEDED"),
        ({"text": "[NaN]"}, "INVALID_JSON"),
        ({"custom_id": 1, "response": "text"}, "REQUEST_FAILED"),
    ],
)
def test_a_bad_line_is_a_row_with_its_error(line: Any, code: str) -> None:
    row = one(line)
    assert (row["status"], row["error"]["code"]) == ("invalid", code)


def test_the_error_of_a_failed_request_is_quoted() -> None:
    failed = {"custom_id": 1, "response": None, "error": {"message": "expired"}}
    assert one(failed)["error"]["message"] == "the request failed: expired"
    assert one({**failed, "error": None})["error"]["message"] == "the request has no answer"


def test_an_unexpected_exception_is_a_row_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsonrill_batch.reader.find_stream", {}.__getitem__)
    assert one({"text": TEXT})["error"]["code"] == "READER_FAILED"


def test_an_error_names_path_and_offset_and_the_value_before_it_stays() -> None:
    row = one({"id": "a", "text": '{"days": [{"km": 1}, {"km": "2"}]}'}, schema=_SCHEMA)
    error = row["error"]
    assert (error["path"], error["offset"]) == ("root.days[1].km", 28)
    assert row["value"] == {"days": [{"km": 1}, {}]}
    row = one({"id": "a", "text": '{"days": [{"km": 1}, {"k'}, "check", schema=_SCHEMA)
    assert (row["status"], row["error"]["code"]) == ("cut", "TRUNCATED")
    assert "value" not in row


_SCHEMA = {"properties": {"days": {"items": {"properties": {"km": {"type": "number"}}}}}}


def test_updates_come_in_their_mode() -> None:
    row = one({"text": '{"days": [1, 2]'}, "updates", entity="days", repair=True)
    assert [update["data"] for update in row["updates"]] == [1, 2]
    assert row["repairs"][0]["rule"] == "cut-off"
    row = one({"text": '{"days": [1, 2'}, "updates", entity="days")
    assert (row["status"], row["error"]["path"]) == ("cut", "root.days[1]")


def test_calls_have_their_arguments_and_errors() -> None:
    row = one(CHAT, "calls")
    call = {"id": "t1", "name": "weather", "status": "complete", "args": {"city": "Faro"}}
    assert row["calls"] == [call]
    assert row["usage"] == {"prompt_tokens": 3, "completion_tokens": 4}
    row = one(CHAT, "calls", schema={"weather": {"required": ["day"]}})
    assert (row["status"], row["error"]["code"]) == ("invalid", "INVALID_SCHEMA")
    chat = json.loads(json.dumps(CHAT).replace('\\"Faro\\"}', "").replace("stop", "length"))
    assert one(chat, "calls")["status"] == "cut"


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "value"},
        {"kind": "updates", "mode": "SOMETIMES"},
        {"kind": "check", "schema": {"type": "thing"}},
        {"kind": "calls", "provider": "nobody"},
    ],
)
def test_a_wrong_option_is_refused_before_the_first_line(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        next(rows([], Job(**options)), None)


@given(st.lists(st.text() | st.binary() | st.builds(json.dumps, st.dictionaries(
    st.sampled_from(["id", "text", "chunks", "events", "custom_id", "response", "choices"]),
    st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner)
        | st.dictionaries(st.sampled_from(["body", "delta", "content", "choices"]), inner)),
))), st.sampled_from(["values", "updates", "check", "calls"]), st.booleans())  # fmt: skip
def test_nothing_in_a_line_raises(lines: list[Any], kind: Any, repair: bool) -> None:
    found = list(rows(lines, Job(kind, repair=repair)))
    assert len(found) == sum(1 for line in lines if line and not line.isspace())
    assert all(row["status"] in ("complete", "cut", "invalid") for row in found)
