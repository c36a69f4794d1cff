"""A provider's stream for the clients of others: nothing lost, ended as their protocol ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from jsonrill import ToolCalls, UnknownSource, content, tool_calls
from jsonrill.dialects import to_ag_ui, to_ai_sdk
from jsonrill.providers import Reader
from jsonrill.providers.statements import Reasoning, text_in
from support.provider_streams import ANSWERS, BUILDERS, THREE, in_a_row

FUNCTIONS = {"ai-sdk": to_ai_sdk, "ag-ui": to_ag_ui}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
complete = [name for name, answer in ANSWERS.items() if answer.end == "complete"]
single = [name for name in complete if "choices" not in name]


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@every_function
@pytest.mark.parametrize("name", single)
def test_every_provider_is_written_for_every_client(function: Any, name: str) -> None:
    events = list(function(ANSWERS[name].events))
    assert all(isinstance(event, dict) for event in events)
    assert "".join(content(events)) == ANSWERS[name].text
    calls = ToolCalls()
    for _ in tool_calls(events, calls=calls):
        pass
    read_calls = [(call.name, call.args) for call in calls.calls]
    assert read_calls == [(called, args) for called, args, _ in ANSWERS[name].calls]


@every_function
@pytest.mark.parametrize("name", single)
def test_an_async_source_gives_the_same(function: Any, name: str) -> None:
    async def events() -> AsyncIterator[Any]:
        for event in ANSWERS[name].events:
            yield event

    async def read() -> list[Any]:
        return [event async for event in function(events())]

    assert asyncio.run(read()) == list(function(ANSWERS[name].events))


@every_function
def test_reasoning_is_kept_apart(function: Any) -> None:
    reader = Reader()
    events = [chunk(reasoning_content="Hm."), chunk(content="Yes"), chunk("stop")]
    statements = [one for event in function(events) for one in reader.feed(event)]
    assert "".join(one.text for one in statements if isinstance(one, Reasoning)) == "Hm."
    assert text_in(statements) == "Yes"


@every_function
def test_a_source_that_fails_is_told_to_the_client_and_raised(function: Any) -> None:
    def events() -> Iterator[Any]:
        yield chunk(content="half")
        raise ConnectionError("secret")

    seen: list[Any] = []
    with pytest.raises(ConnectionError):
        seen.extend(function(events()))
    text = json.dumps(seen)
    assert "half" in text and "SOURCE_FAILED" in text and "secret" not in text
    assert "RUN_FINISHED" not in text and '"stop"' not in text


@every_function
def test_an_answer_that_breaks_off_is_no_complete_one(function: Any) -> None:
    text = json.dumps([*function([chunk(content="half")])])
    assert "broke off" in text and "RUN_FINISHED" not in text and '"stop"' not in text


CUT = chunk(
    tool_calls=[{"index": 0, "id": "a", "function": {"name": "rm", "arguments": '{"a": "/h'}}]
)


@pytest.mark.parametrize("last", [[], [{"error": {"message": "overloaded"}}]])
def test_a_call_that_is_not_complete_does_not_end_before_a_run_error(last: list[Any]) -> None:
    """A client may run the tool of a call that has ended."""
    kinds = [event["type"] for event in to_ag_ui([CUT, *last])]
    assert kinds == ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "RUN_ERROR"]


def test_a_call_that_is_not_complete_has_a_result_when_the_run_finishes() -> None:
    *_, end, result, finished = to_ag_ui([CUT, chunk("length")])
    assert (end["type"], finished["type"]) == ("TOOL_CALL_END", "RUN_FINISHED")
    assert result == {
        "type": "TOOL_CALL_RESULT",
        "messageId": "result-a",
        "toolCallId": "a",
        "content": "the call is truncated",
        "role": "tool",
    }


@pytest.mark.parametrize("text", ['print("hé")\n', "", "\\"])
@every_function
def test_free_text_is_written_as_a_json_string(function: Any, text: str) -> None:
    item = {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "code", "input": ""}
    named = {"item_id": "i", "output_index": 0}
    events = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *(
            {"type": "response.custom_tool_call_input.delta", **named, "delta": character}
            for character in text
        ),
        {"type": "response.custom_tool_call_input.done", **named, "input": text},
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {**item, "input": text, "status": "completed"},
        },
        {"type": "response.completed", "response": {"id": "r", "output": []}},
    ]
    calls = ToolCalls()
    for _ in tool_calls(list(function(events)), calls=calls):
        pass
    assert [(call.args, json.loads(call.raw), call.status) for call in calls.calls] == [
        (text, text, "complete")
    ]


@every_function
def test_an_error_of_the_provider_is_passed_on(function: Any) -> None:
    events = [chunk(content="half"), {"error": {"message": "overloaded"}}]
    assert "overloaded" in json.dumps([*function(events)])


@every_function
def test_leaving_the_loop_closes_the_source(function: Any) -> None:
    closed: list[bool] = []

    def events() -> Iterator[Any]:
        try:
            while True:
                yield chunk(content="x")
        finally:
            closed.append(True)

    running = function(events())
    next(running)
    running.close()
    assert closed == [True]


# ---- AG-UI's state ----


def applied(events: list[dict[str, Any]]) -> Any:
    """The state that snapshots and patches make."""
    state: Any = None
    for event in events:
        if event["type"] == "STATE_SNAPSHOT":
            state = json.loads(json.dumps(event["snapshot"]))
        for one in event["delta"] if event["type"] == "STATE_DELTA" else ():
            *way, last = [
                step.replace("~1", "/").replace("~0", "~") for step in one["path"].split("/")[1:]
            ]
            holder = state
            for step in way:
                holder = holder[int(step)] if isinstance(holder, list) else holder[str(step)]
            if isinstance(holder, list):
                at = int(last)
                assert at == len(holder) if one["op"] == "add" else at < len(holder)
                holder[at : at + 1] = [one["value"]]
            else:
                assert one["op"] == "add" or last in holder
                holder[last] = one["value"]
    return state


@pytest.mark.parametrize("provider", BUILDERS)
def test_arguments_predict_the_state(provider: str) -> None:
    events = BUILDERS[provider](THREE, in_a_row(THREE, 3))
    predict = {"place": "get_weather.city", "asked": "search", "first": "search.tags[1]"}
    told = list(to_ag_ui(events, state={"kept": 1}, predict=predict))
    kinds = [event["type"] for event in told]
    assert kinds[:2] == ["RUN_STARTED", "STATE_SNAPSHOT"]
    searched = json.loads(THREE[1].text)
    assert applied(told) == {
        "kept": 1,
        "place": "São Paulo",
        "asked": searched,
        "first": searched["tags"][1],
    }


def test_a_string_of_the_state_grows() -> None:
    function = {"name": "write", "arguments": '{"text": "On'}
    events = [
        chunk(tool_calls=[{"index": 0, "id": "a", "function": function}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": "ce "}}]),
    ]
    told = list(to_ag_ui(events, predict={"doc": "write.text"}))
    values = [event["delta"][-1]["value"] for event in told if event["type"] == "STATE_DELTA"]
    assert values == ["On", "Once "]


def test_an_answer_in_json_is_the_state() -> None:
    text = '{"title": "Tide", "rows": [1, {"a": null}]}'
    events = [*(chunk(content=text[at : at + 5]) for at in range(0, len(text), 5)), chunk("stop")]
    assert applied(list(to_ag_ui(events, state=True))) == json.loads(text)


def test_wrong_use_is_refused() -> None:
    for function in FUNCTIONS.values():
        with pytest.raises(TypeError, match="did you mean repair"):
            function([], repiar=True)  # type: ignore[operator]


@pytest.mark.parametrize("translate", [to_ai_sdk, to_ag_ui])
@pytest.mark.parametrize(
    "source",
    [[{"some": "dict"}], [{"kind": "text", "text": "of another"}], [object(), object()]],
    ids=["dict", "kind", "objects"],
)
def test_what_is_not_an_event_of_a_provider_is_refused(translate: Any, source: Any) -> None:
    """An empty translation would lose it in silence."""
    with pytest.raises(UnknownSource):
        list(translate(source))
