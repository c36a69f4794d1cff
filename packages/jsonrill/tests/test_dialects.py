"""Streams for other projects' clients; the server's tests read them with the real clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from ag_ui.core import Event as AGUIEvent
from provider_streams import ANSWERS
from pydantic import TypeAdapter

from jsonrill import Parts, ToolCalls, parts, run_tools, sse, updates
from jsonrill.dialects import to_ag_ui, to_ai_sdk
from jsonrill.errors import SourceFailed
from jsonrill.testing import Call, FakeAnswer
from support import ROOT

CASES = json.loads((ROOT / "cases" / "calls.json").read_text("utf8"))["cases"]
ANSWER = FakeAnswer("It rains.", reasoning="Hm.", calls=[Call("weather", {"city": "Rome"}, "a")])
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")


def weather(city: str) -> str:
    return f"sun in {city}"


HOSTED = {"providerExecuted": True}


@pytest.mark.parametrize("path", PATHS)
def test_every_provider_gives_the_same_stream(path: str) -> None:
    events = [*to_ai_sdk(ANSWER.events(path))]
    assert [*dict.fromkeys(event["type"] for event in events)] == [
        *("start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end"),
        *("text-start", "text-delta", "text-end"),
        *("tool-input-start", "tool-input-delta", "tool-input-available"),
        *("finish-step", "finish"),
    ]
    assert events[-1]["finishReason"] == "tool-calls"


@pytest.mark.parametrize("name", ANSWERS)
def test_complete_calls_can_be_read_back(name: str) -> None:
    known = Parts()
    for event in ANSWERS[name].events:
        known.feed(event)
    known.flush()
    expected = [call.args for call in known.calls if call.status == "complete"]
    for translate, provider in ((to_ai_sdk, "vercel"), (to_ag_ui, "ag_ui")):
        calls = ToolCalls(provider)
        try:
            for event in translate(ANSWERS[name].events):
                calls.feed(event)
        except SourceFailed:  # the stream has already reported the provider's error
            pass
        calls.flush()
        if len(expected) == len(known.calls):
            assert [call.args for call in calls.calls] == expected


@pytest.mark.parametrize("name", ANSWERS)
def test_ag_ui_events_are_valid(name: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(AGUIEvent)
    try:
        for event in to_ag_ui(ANSWERS[name].events, thread="t", run="r"):
            adapter.validate_python(event)
    except SourceFailed:
        assert event["type"] == "RUN_ERROR"


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_events_of_a_call_are_between_its_start_and_its_end(case: dict[str, Any]) -> None:
    """Clients refuse any other order."""
    is_open: set[str] = set()
    for event in to_ag_ui(case["events"]):
        match event:
            case {"type": "TOOL_CALL_START", "toolCallId": id}:
                is_open.add(id)
            case {"type": "TOOL_CALL_ARGS", "toolCallId": id}:
                assert id in is_open
            case {"type": "TOOL_CALL_END", "toolCallId": id}:
                is_open.remove(id)
    assert not is_open or event["type"] == "RUN_ERROR"
    kinds = [event["type"] for event in to_ai_sdk(case["events"])]
    ends = kinds.count("tool-input-available") + kinds.count("tool-input-error")
    assert ends >= kinds.count("tool-input-start")


def test_the_results_of_tools_are_sent() -> None:
    running = run_tools(ANSWER.events(PATHS[0]), {"weather": weather})
    [output] = [item for item in to_ai_sdk(running) if item["type"] == "tool-output-available"]
    assert output["output"] == "sun in Rome" and output["toolCallId"] == "a"
    running = run_tools(ANSWER.events(PATHS[0]), {"weather": weather})
    kinds = [event["type"] for event in to_ag_ui(running)]
    assert kinds[-3:] == ["TOOL_CALL_END", "TOOL_CALL_RESULT", "RUN_FINISHED"]
    assert kinds.count("TOOL_CALL_END") == 1


def run_weather(events: Any) -> Any:
    return run_tools(events, {"weather": weather})


@pytest.mark.parametrize("read", [list, parts, run_weather])
def test_an_invalid_call_ends_once_and_with_its_error(read: Any) -> None:
    answer = FakeAnswer(calls=[Call("weather", '{"city": oops}', "c")])
    sent = [*to_ag_ui(read(answer.events(PATHS[0])))]
    kinds = [event["type"] for event in sent]
    assert kinds[-3:-1] == ["TOOL_CALL_END", "TOOL_CALL_RESULT"]
    assert {kinds.count(kind) for kind in ("TOOL_CALL_START", *kinds[-3:-1])} == {1}
    assert "expected a value but got 'o'" in sent[-2]["content"]
    kinds = [event["type"] for event in to_ai_sdk(read(answer.events(PATHS[0])))]
    assert (kinds.count("tool-input-start"), kinds.count("tool-input-error")) == (1, 1)
    assert "tool-input-delta" not in kinds[kinds.index("tool-input-error") :]


def test_updates_are_data_or_the_state() -> None:
    text = ['{"title": "To', ' Rome"}']
    data = [item["data"] for item in to_ai_sdk(updates(text)) if item["type"] == "data-json"]
    assert data[-1] == {"index": 0, "status": "COMPLETED", "data": {"title": "To Rome"}}
    states = [item for item in to_ag_ui(updates(text)) if item["type"] == "STATE_SNAPSHOT"]
    assert states[-1]["snapshot"] == {"title": "To Rome"}


@pytest.mark.parametrize(("kind", "flags"), [("tool_use", {}), ("server_tool_use", HOSTED)])
def test_ai_sdk_says_that_the_provider_runs_a_call_itself(kind: str, flags: Any) -> None:
    block = {"type": kind, "id": "a", "name": "search", "input": {}}
    events = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
    ]
    [start] = [item for item in to_ai_sdk(events) if item["type"] == "tool-input-start"]
    named = {"toolCallId": "a", "toolName": "search", "dynamic": True}
    assert start == {"type": "tool-input-start", **named, **flags}


def test_an_answer_that_broke_off_is_an_error() -> None:
    cut = FakeAnswer("It rains", ending="cut")
    assert "error" in [event["type"] for event in to_ai_sdk(cut.events(PATHS[0]))]
    assert [*to_ag_ui(cut.events(PATHS[0]))][-1]["type"] == "RUN_ERROR"


def test_async_sources_and_the_last_event_on_the_wire() -> None:
    async def source() -> AsyncIterator[Any]:
        for part in parts(ANSWER.events(PATHS[2])):
            yield part

    async def main() -> bytes:
        return b"".join([data async for data in sse(to_ai_sdk(source()))])

    assert asyncio.run(main()).endswith(b"data: [DONE]\n\n")


def test_a_result_that_is_not_a_number_is_null() -> None:
    events = [
        {"type": "tool-call", "toolCallId": "a", "toolName": "f", "input": {"n": float("nan")}},
        {"type": "tool-result", "toolCallId": "a", "output": [float("inf"), {"__proto__": 1}]},
    ]
    [output] = [e["output"] for e in to_ai_sdk(events) if e["type"] == "tool-output-available"]
    [result] = [e["content"] for e in to_ag_ui(events) if e["type"] == "TOOL_CALL_RESULT"]
    assert (output, json.loads(result)) == ([None, {}], [None, {"__proto__": 1}])
