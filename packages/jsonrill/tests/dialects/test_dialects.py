"""Dialects as stages of their own: events or JSON text in, events of other clients out."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from jsonrill import ToolCalls
from jsonrill.dialects import DIALECTS, Event, Settings, to_ai_sdk
from jsonrill.providers import Reader
from jsonrill.providers.statements import text_in
from support.provider_streams import ANSWERS

TEXT = '{"title":"Tide \\u00e9 ☂","rows":[1,{"a":null},"b"],"ok":true}'


def told(name: str, events: list[Any], problem: Any = None, **settings: Any) -> list[Event]:
    stage = DIALECTS[name](Settings(**settings))
    return [out for event in events for out in stage.feed(event)] + stage.flush(problem)


def of_json(name: str, *pieces: str, **settings: Any) -> list[Event]:
    stage = DIALECTS[name](Settings(**settings))
    return [out for piece in pieces for out in stage.feed_json(piece)] + stage.flush()


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("answer", [answer for answer in ANSWERS if "choices" not in answer])
def test_what_a_dialect_writes_its_page_reads(name: str, answer: str) -> None:
    reader, calls, text = Reader(), ToolCalls(), ""
    for event in told(name, ANSWERS[answer].events):
        statements = reader.feed(event)
        text += text_in(statements)
        calls.read(statements)
    assert text == ANSWERS[answer].text
    read_calls = [(call.name, call.args) for call in calls.calls]
    wanted = [(called, args) for called, args, _ in ANSWERS[answer].calls]
    assert read_calls == wanted


def test_a_dialect_shows_the_first_of_several_choices() -> None:
    for event in told("ai-sdk", ANSWERS["openai_chat-choices"].events):
        assert "other" not in json.dumps(event)


@pytest.mark.parametrize("name", ("ai-sdk", "ag-ui"))
def test_a_call_is_begun_when_its_name_is_known(name: str) -> None:
    def delta(**call: Any) -> Event:
        return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]}

    stage = DIALECTS[name](Settings())
    stage.feed({"choices": []})
    assert stage.feed(delta(id="a", function={"arguments": '{"x"'})) == []
    # Two deltas of one call in one event are told once each.
    both: Any = delta(function={"name": "f", "arguments": ":"})
    both["choices"][0]["delta"]["tool_calls"] += [{"index": 0, "function": {"arguments": "1}"}}]
    begun, *rest = cast(list[dict[str, Any]], stage.feed(both))
    assert "f" in begun.values()
    texts = [event.get("delta") or event["inputTextDelta"] for event in rest]
    assert texts == ['{"x":', "1}"]


def test_json_becomes_data_parts_or_state() -> None:
    parts = of_json("ai-sdk", TEXT[:20], TEXT[20:], updates={"mode": "PROGRESSIVE"})
    data = [part["data"] for part in parts if isinstance(part, dict) and "data" in part]
    assert data[-1]["data"] == json.loads(TEXT)
    state = of_json("ag-ui", TEXT[:20], TEXT[20:])
    kinds = [event["type"] for event in state if isinstance(event, dict)]
    assert kinds[:2] == ["RUN_STARTED", "STATE_SNAPSHOT"] and kinds[-1] == "RUN_FINISHED"


@pytest.mark.parametrize("text, reason", [("[1]", "stop"), ("[1", "error"), ("[oops]", "error")])
def test_an_ai_sdk_client_is_told_whether_the_json_was_complete(text: str, reason: str) -> None:
    events = of_json("ai-sdk", text)
    assert {"type": "finish", "finishReason": reason} in events


def test_text_that_is_not_json_fails_once() -> None:
    kinds = [event["type"] for event in of_json("ag-ui", "[1,", "x", "y") if event != "[DONE]"]  # type: ignore[index]
    assert kinds[-1] == "RUN_ERROR" and kinds.count("RUN_ERROR") == 1


@pytest.mark.parametrize("name", DIALECTS)
def test_a_failure_is_told_and_ends_nothing_well(name: str) -> None:
    problem = {"code": "LOST", "message": "gone"}
    events = told(name, ANSWERS["openai_chat-broken-off"].events, problem)
    assert any("LOST" in json.dumps(event) and "gone" in json.dumps(event) for event in events)
    assert not {"RUN_FINISHED", "stop"} & {
        str(value) for event in events[-3:] for value in _values(event)
    }


def _values(event: Event) -> list[Any]:
    return [*event.values()] if isinstance(event, dict) else []


def test_a_call_of_an_earlier_turn_does_not_wait_for_the_client() -> None:
    """It was answered by the one who asked again, as the next turn shows."""
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    text = {"type": "text", "text": "Done."}
    events: list[dict[str, Any]] = []
    for id, block, reason in (("a", call, "tool_use"), ("b", text, "end_turn")):
        events += [
            {"type": "message_start", "message": {"id": id, "role": "assistant", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}},
            {"type": "message_stop"},
        ]
    *_, last = to_ai_sdk(events)
    assert last == {"type": "finish", "finishReason": "stop"}
