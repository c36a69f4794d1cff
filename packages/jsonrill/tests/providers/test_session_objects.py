"""Sessions over WebSockets: the objects of the real clients say what their messages say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai.types import LiveServerMessage
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter

from jsonrill import SourceFailed, ToolCalls, content
from support.provider_streams import TWO, in_a_row
from support.provider_streams import gemini_live as live_calls

SPOKEN: dict[str, list[dict[str, Any]]] = {
    "text": [
        {"type": "response.created", "event_id": "1", "response": {"id": "r"}},
        {
            "type": "response.output_text.delta",
            "event_id": "2",
            "response_id": "r",
            "item_id": "i",
            "output_index": 0,
            "content_index": 0,
            "delta": '{"a": 1}',
        },
    ],
    "audio": [
        {
            "type": "response.output_audio_transcript.delta",
            "event_id": "2",
            "response_id": "r",
            "item_id": "i",
            "output_index": 0,
            "content_index": 0,
            "delta": '{"a": 1}',
        },
        {
            "type": "response.done",
            "event_id": "3",
            "response": {"id": "r", "status": "completed", "output": []},
        },
    ],
}


@pytest.mark.parametrize("name", SPOKEN)
def test_realtime_text(name: str) -> None:
    read: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)
    events = [read.validate_python(event) for event in SPOKEN[name]]
    assert "".join(content(events)) == "".join(content(SPOKEN[name])) == '{"a": 1}'


def test_an_error_while_a_response_is_open_is_told() -> None:
    """Outside of one it is about a request of the session, not about an answer."""
    error = {"type": "error", "event_id": "3", "error": {"message": "overloaded"}}
    with pytest.raises(SourceFailed, match="overloaded"):
        [*content([*SPOKEN["text"], error])]
    assert "".join(content([*SPOKEN["audio"], error])) == '{"a": 1}'


def test_realtime_calls() -> None:
    same = {"response_id": "r", "item_id": "i", "output_index": 0, "call_id": "c"}
    item = {"id": "i", "type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
    kind = "response.function_call_arguments"
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "item": item, "response_id": "r", "output_index": 0},
        {"type": f"{kind}.delta", "delta": '{"x"', **same},
        {"type": f"{kind}.delta", "delta": ": 1}", **same},
        {"type": f"{kind}.done", "arguments": '{"x": 1}', "name": "f", **same},
    ]
    read: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)
    calls = ToolCalls()
    for number, event in enumerate(events):
        calls.feed(read.validate_python({"event_id": f"e{number}", **event}))
    assert [(call.name, call.args, call.status) for call in calls.calls] == [
        ("f", {"x": 1}, "complete")
    ]


def test_live() -> None:
    calls = ToolCalls()
    for event in live_calls(TWO, in_a_row(TWO)):
        calls.feed(LiveServerMessage.model_validate(event))
    shown = [(call.name, call.args, call.status) for call in calls.calls]
    assert shown == [(expected.name, json.loads(expected.text), "complete") for expected in TWO]
    turn = {"serverContent": {"modelTurn": {"parts": [{"text": "{}"}]}}}
    spoken = {"serverContent": {"outputTranscription": {"text": "[1]"}}}
    for event, text in ((turn, "{}"), (spoken, "[1]")):
        assert "".join(content([LiveServerMessage.model_validate(event)])) == text
