"""Recorded streams of every provider: whole, cut off, and as a user's function reads them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from jsonrill import Answer, ToolCalls, content, parts, tool_calls
from jsonrill.errors import SourceFailed
from jsonrill.providers import Reader, recognise
from jsonrill.providers.statements import Finish, Result, Text
from support import ROOT

RECORDED = [
    json.loads(path.read_text("utf8"))
    for path in sorted((ROOT / "cases" / "providers").glob("*.json"))
]
ANSWERS = json.loads((ROOT / "cases" / "answers.json").read_text("utf8"))["cases"]
NOT_READ = json.loads((ROOT / "cases" / "not_read.json").read_text("utf8"))["cases"]


def provider_of(case: dict[str, Any]) -> str:
    return "mistral" if case["id"] == "mistral_chat" else "auto"


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["id"])
def test_recorded_calls_are_read(case: dict[str, Any]) -> None:
    calls = ToolCalls(provider_of(case))
    for event in case["events"]:
        calls.feed(event)
    calls.flush()
    for call, expected in zip(calls.calls, case["expected_calls"], strict=True):
        names = {"arguments": "args"}
        for field, value in expected.items():
            if hasattr(call, names.get(field, field)):
                assert getattr(call, names.get(field, field)) == value, field


@pytest.mark.filterwarnings("ignore::jsonrill.errors.UnknownEvents")
@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["id"])
def test_cut_after_any_event_a_complete_call_has_the_arguments_of_its_end(
    case: dict[str, Any],
) -> None:
    uncut = ToolCalls(provider_of(case))
    for event in case["events"]:
        uncut.feed(event)
    uncut.flush()
    final = {call.number: call.args for call in uncut.calls}
    for at in range(len(case["events"])):
        calls = ToolCalls(provider_of(case))
        for event in case["events"][:at]:
            calls.feed(event)
        calls.flush()
        for call in calls.calls:
            assert call.status != "streaming"
            if call.status == "complete":
                assert call.args == final[call.number]


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case["name"])
def test_answers_have_text_calls_an_end_and_usage(case: dict[str, Any]) -> None:
    answer = Answer()
    try:
        all_parts = list(parts(case["events"], answer=answer))
    except Exception as error:  # the provider's own
        assert case["end"] == "error", error
        return
    assert "".join([part.delta for part in all_parts if part.kind == "text"]) == case["text"]
    assert answer.finish == (case["end"] or "lost")
    calls = {part.index: part.call for part in all_parts if part.kind == "call"}
    assert [[call.name, call.args, call.status] for call in calls.values() if call] == case["calls"]
    if case["end"]:
        assert answer.usage == case.get("usage")


@pytest.mark.parametrize("case", NOT_READ, ids=lambda case: case["name"])
def test_other_events_are_not_recognised(case: dict[str, Any]) -> None:
    assert [recognise(event) for event in case["events"]] == [None] * len(case["events"])


def test_objects_are_read_by_attribute_or_their_own_model_dump() -> None:
    delta = SimpleNamespace(content="Hi")
    chunk = SimpleNamespace(id="c", choices=[SimpleNamespace(index=0, delta=delta)])
    assert Reader().feed(chunk) == [Text("Hi")]

    class Model:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}

    assert Reader().feed(Model()) == [Text("Hi")]


def test_an_event_that_the_client_library_does_not_know_is_read_as_it_came() -> None:
    raw = {"type": "message.output.delta", "content": "Hi"}

    class Event:
        def __init__(self) -> None:
            self.data = SimpleNamespace(type="UNKNOWN", raw=raw, is_unknown=True)

        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"data": {"raw": raw}}

    assert Reader().feed(Event()) == [Text("Hi")]


def test_the_last_part_of_pydantic_ai_ends_the_response() -> None:
    text = {"part_kind": "text", "content": "Hi"}
    call = {"part_kind": "tool-call", "tool_name": "f", "tool_call_id": "a", "args": "{}"}
    ends = {"event_kind": "part_end", "index": 0, "part": text, "next_part_kind": "tool-call"}
    events = [
        {"event_kind": "part_start", "index": 0, "part": text},
        ends,
        {"event_kind": "part_start", "index": 1, "part": call},
        {**ends, "index": 1, "part": call, "next_part_kind": None},
        {"event_kind": "function_tool_call", "part": call},
    ]
    answer = Answer()
    shown = list(parts(events, answer=answer))
    assert answer.finish == "calls"
    assert [(part.kind, part.error) for part in shown if part.complete] == [
        *(("text", None), ("call", None))
    ]


@pytest.mark.parametrize("outcome", ["failed", "denied", "interrupted", "retried"])
def test_a_tool_of_pydantic_ai_that_did_not_succeed_is_an_error(outcome: str) -> None:
    part = {"part_kind": "tool-return", "tool_call_id": "a", "content": "no", "outcome": outcome}
    event = {"event_kind": "function_tool_result", "part": part}
    assert Reader().feed(event) == [Result("a", "no", is_error=True)]


def test_a_function_may_return_statements_or_dicts() -> None:
    def read(event: dict[str, Any]) -> list[Any]:
        if "say" in event:
            return [Text(event["say"])]
        return event.get("as", [])

    call = {"id": "a", "name": "f", "arguments": '{"x":1}', "end": True}
    events = [{"say": "Hi"}, {"as": [{"text": "!"}, {"call": call}, {"end": "stop"}]}]
    assert list(content(events, provider=read)) == ["Hi", "!"]
    [*_, last] = tool_calls(events, provider=read)
    assert (last.call.name, last.call.args, last.call.status) == ("f", {"x": 1}, "complete")
    assert Reader(read).feed({"as": [{"end": "length"}]})[0] == Finish(reason="length")


@pytest.mark.parametrize(
    "returned",
    [
        *(None, "text", {"text": "Hi"}, [1], [{"word": "Hi"}], [None]),
        *([{"call": {"nam": "f"}}], [{"call": {"arguments": 5}}]),
    ],
)
def test_anything_else_from_a_function_is_a_type_error(returned: Any) -> None:
    with pytest.raises(TypeError, match="must return a list of statements"):
        Reader(lambda event: returned).feed({})


@pytest.mark.parametrize(
    "event, message",
    [
        ({"throttlingException": {"message": "slow down"}}, "slow down"),
        ({"type": "error", "code": "rate_limit", "message": "slow down"}, "slow down"),
        ({"error": "the model is not found"}, "the model is not found"),
        (
            {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "f(x"}]},
            "f\\(x",
        ),
    ],
)
def test_an_error_is_raised_with_the_words_of_the_provider(
    event: dict[str, Any], message: str
) -> None:
    with pytest.raises(SourceFailed, match=message):
        list(content([event]))


def test_an_unknown_name_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match="did you mean 'openai_chat'"):
        Reader("openai-chat")
