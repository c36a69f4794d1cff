"""Logs that others export are read as they are: batches of providers, Helicone, Langfuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill_batch import Job, Summary, process_shard
from jsonrill_batch.input.exports import events_of

TEXT = '{"city": "Lisbon"}'
CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    ],
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "go", "arguments": TEXT}}
CHAT_CALL = {
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
            "finish_reason": "tool_calls",
        }
    ]
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": TEXT, "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "go",
            "arguments": TEXT,
            "status": "completed",
        },
    ],
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "text", "text": TEXT},
        {"type": "tool_use", "id": "call_1", "name": "go", "input": {"city": "Lisbon"}},
    ],
    "stop_reason": "end_turn",
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": TEXT},
                    {"functionCall": {"name": "go", "args": {"city": "Lisbon"}}},
                ],
            },
            "finishReason": "STOP",
        }
    ]
}
BOTH = {"responses": RESPONSE, "anthropic": MESSAGE, "gemini": GEMINI}
ANSWERS = {"chat": CHAT, **BOTH}


def done(kind: str, *lines: Any, **options: Any) -> tuple[list[Any], list[Any], Summary]:
    rows: list[str] = []
    bad: list[str] = []
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    summary = process_shard(texts, Job(kind=kind, **options), rows.append, bad.append)
    return [*map(json.loads, rows)], [*map(json.loads, bad)], summary


def openai(body: Any) -> dict[str, Any]:
    response = {"status_code": 200, "request_id": "req_1", "body": body}
    return {"id": "batch_req_1", "custom_id": "mine", "response": response, "error": None}


def anthropic(body: Any) -> dict[str, Any]:
    return {"custom_id": "mine", "result": {"type": "succeeded", "message": body}}


def helicone(body: Any) -> dict[str, Any]:
    of = {"request_id": "mine", "request_body": {"model": "m"}, "response_id": "r"}
    return {**of, "response_status": 200, "response_body": body}


def langfuse(body: Any) -> dict[str, Any]:
    of = {"id": "mine", "trace_id": "t", "type": "GENERATION", "input": "[]"}
    return {**of, "output": json.dumps(body)}


def langfuse_api(body: Any) -> dict[str, Any]:
    return {"id": "mine", "traceId": "t", "type": "GENERATION", "output": body}


EXPORTS = (openai, anthropic, helicone, langfuse, langfuse_api)


@pytest.mark.parametrize("wrap", EXPORTS, ids=lambda wrap: wrap.__name__)
@pytest.mark.parametrize("name", ANSWERS)
def test_the_text_of_an_answer_in_an_export(name: str, wrap: Any) -> None:
    rows, bad, _ = done("values", wrap(ANSWERS[name]))
    assert (rows, bad) == ([{"id": "mine", "value": {"city": "Lisbon"}}], [])


@pytest.mark.parametrize("wrap", EXPORTS, ids=lambda wrap: wrap.__name__)
@pytest.mark.parametrize("name", ["chat", *BOTH])
def test_the_calls_of_an_answer_in_an_export(name: str, wrap: Any) -> None:
    rows, bad, _ = done("calls", wrap(CHAT_CALL if name == "chat" else BOTH[name]))
    assert not bad and rows[0]["id"] == "mine"
    (call,) = rows[0]["calls"]
    assert (call["name"], call["args"]) == ("go", {"city": "Lisbon"})
    assert call["status"] == "complete"


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_may_be_a_line_or_a_field(name: str) -> None:
    rows, bad, _ = done("values", ANSWERS[name])
    assert [row["value"] for row in rows] == [{"city": "Lisbon"}] and not bad
    rows, bad, _ = done("values", {"a": {"b": ANSWERS[name]}, "n": 7}, field="a.b", id_field="n")
    assert rows == [{"id": 7, "value": {"city": "Lisbon"}}] and not bad


def test_messages_texts_and_values_of_langfuse() -> None:
    message = {"role": "assistant", "content": TEXT}
    parts = {"role": "assistant", "content": [{"type": "text", "text": TEXT}]}
    outputs = [message, parts, json.dumps(message), TEXT, json.loads(TEXT)]
    rows, bad, _ = done("values", *({**langfuse_api(None), "output": it} for it in outputs))
    assert [row["value"] for row in rows] == [{"city": "Lisbon"}] * 5 and not bad
    cut = {**langfuse_api(None), "output": TEXT[:-1]}
    rows, bad, summary = done("check", cut)
    assert rows[0]["error"]["code"] == "TRUNCATED" and summary.errors == {"TRUNCATED": 1}


def test_other_observations_are_counted_and_no_error() -> None:
    lines = [{**langfuse(CHAT), "type": kind} for kind in ("SPAN", "EVENT", "SPAN")]
    rows, bad, summary = done("values", *lines, langfuse(CHAT))
    assert len(rows) == 1 and not bad
    assert summary.skipped == {"Langfuse: span": 2, "Langfuse: event": 1}
    again = Summary.from_json(json.loads(json.dumps(summary.to_json())))
    again.merge(summary)
    assert again.skipped == {"Langfuse: span": 4, "Langfuse: event": 2}


def test_a_request_that_failed_goes_to_quarantine() -> None:
    expired = {"custom_id": "a", "response": None, "error": {"code": "batch_expired"}}
    refused = openai({"error": {"message": "quota"}})
    refused["response"]["status_code"] = 429
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    errored = {"custom_id": "a", "result": {"type": "errored", "error": overloaded}}
    lines = [
        *(expired, refused, errored, {"custom_id": "a", "result": {"type": "expired"}}),
        *(helicone(None), helicone({"error": {"message": "wrong key"}}), helicone({})),
        *({**langfuse_api(None), "status_message": "timeout"}, langfuse_api(5)),
    ]
    rows, bad, summary = done("values", *lines)
    assert not rows and summary.quarantined == {"NO_ANSWER": len(lines)}
    messages = [row["message"] for row in bad]
    assert messages[:4] == [
        "the request failed: batch_expired",
        "the request failed: quota",
        "the request failed: busy",
        "the request failed: expired",
    ]
    assert (
        "--include-body" in messages[4] and "wrong key" in messages[5] and "timeout" in messages[7]
    )


NO_ANSWERS = {
    "embeddings": {"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}]},
    "moderation": {"id": "modr-1", "model": "m", "results": [{"flagged": False}]},
    "no choices": {"id": "c", "object": "chat.completion", "choices": []},
    "failed": {"object": "response", "status": "failed", "error": {"message": "x"}, "output": []},
    "something": {"weird": 1},
}


@pytest.mark.parametrize("wrap", [openai, anthropic, helicone], ids=lambda wrap: wrap.__name__)
@pytest.mark.parametrize("name", NO_ANSWERS)
def test_a_response_that_is_no_answer_is_not_taken_for_the_value(name: str, wrap: Any) -> None:
    rows, bad, _ = done("values", wrap(NO_ANSWERS[name]))
    assert not rows and [row["code"] for row in bad] == ["NO_ANSWER"]


def test_a_refusal_is_no_text_that_was_cut_off() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    chat = {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    part = {"type": "refusal", "refusal": "I cannot help with that."}
    output = [{"type": "message", "id": "m", "role": "assistant", "content": [part]}]
    response = {"object": "response", "status": "completed", "output": output}
    for line in (openai(chat), openai(response), chat, response, helicone(chat)):
        rows, [bad], _ = done("values", line)
        assert not rows and bad["code"] == "NO_TEXT"
        assert bad["message"] == "the model refused: I cannot help with that."
        rows, bad, _ = done("calls", line)
        assert rows[0]["calls"] == [] and not bad


def test_answers_in_other_forms() -> None:
    """Older completions, a body as JSON text, Gemini's batches, a conversation in Langfuse."""
    old = {"object": "text_completion", "choices": [{"text": TEXT, "index": 0}]}
    turns = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": TEXT}]
    lines = [
        *(openai(old), openai(json.dumps(CHAT)), {"key": "mine", "response": GEMINI}),
        *(langfuse_api(turns), langfuse(turns), {**helicone(CHAT), "response_status": 200}),
    ]
    rows, bad, _ = done("values", *lines)
    assert (rows, bad) == ([{"id": "mine", "value": {"city": "Lisbon"}}] * len(lines), [])


def test_a_status_of_helicone_says_that_there_is_no_answer() -> None:
    failed = [{**helicone({"detail": "x"}), "response_status": status} for status in (500, -2)]
    without = {"request_id": "a", "response_id": "r", "signed_body_url": "https://host/x"}
    wrong = {"key": "a", "error": {"code": 400, "message": "too long"}}
    rows, bad, _ = done("values", *failed, without, wrong)
    assert not rows and {row["code"] for row in bad} == {"NO_ANSWER"}
    assert "--include-body" in bad[2]["message"] and "too long" in bad[3]["message"]


@pytest.mark.parametrize("line", [json.dumps([CHAT]), "[", json.dumps(CHAT) + ",", "  [  "])
def test_an_array_is_refused_with_the_remedy(line: str) -> None:
    rows, [bad], _ = done("values", line)
    assert not rows and "jq -c '.[]'" in bad["message"]


def test_an_answer_that_was_cut_off_is_truncated() -> None:
    body = json.loads(json.dumps(CHAT_CALL))
    body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = TEXT[:9]
    body["choices"][0]["finish_reason"] = "length"
    rows, _, summary = done("calls", openai(body))
    assert rows[0]["calls"][0]["status"] == "truncated" and summary.errors == {"TRUNCATED": 1}


@pytest.mark.parametrize(
    "value", [None, 5, [], "x", {}, {"choices": 5}, {"choices": [5]}, {"output": []}, {"role": "x"}]
)
def test_what_is_no_answer_is_none(value: Any) -> None:
    assert events_of(value) is None
