"""Parts are a source: of one turn or of many, with results in between, from any generator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from jsonrill import Part, SourceFailed, content, parts, run_tools, sse, tool_calls, values
from jsonrill.dialects import to_ag_ui, to_ai_sdk
from jsonrill.eventstream import SSEDecoder, ends_stream
from support.provider_streams import ANSWERS

Chunk = dict[str, Any]
FUNCTIONS = {"ai-sdk": to_ai_sdk, "ag-ui": to_ag_ui}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


def chunk(finish: str | None = None, **delta: Any) -> Chunk:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def calling(name: str, *pieces: str, id: str | None = "a", index: int = 0) -> Iterator[Chunk]:
    function: dict[str, Any] = {"name": name, "arguments": pieces[0]}
    yield chunk(tool_calls=[{"index": index, "id": id, "function": function}])
    for piece in pieces[1:]:
        yield chunk(tool_calls=[{"index": index, "function": {"arguments": piece}}])


FIRST = [
    chunk(reasoning_content="Which city?"),
    chunk(content="Let me "),
    chunk(content="see."),
    *calling("weather", '{"city":', ' "Rome"}'),
    chunk("tool_calls"),
]
LAST = [chunk(content="It rains"), chunk(content=" in Rome."), chunk("stop")]


def weather(city: str) -> dict[str, Any]:
    return {"rain": True, "city": city}


def agent(*turns: Iterable[Chunk], **tools: Any) -> Iterator[Part]:
    """The loop that everybody writes: each turn counts its parts from 0."""
    for turn in turns or (FIRST, LAST):
        yield from run_tools(turn, tools or {"weather": weather})


async def async_agent() -> AsyncIterator[Part]:
    async def events(turn: list[Chunk]) -> AsyncIterator[Chunk]:
        for event in turn:
            yield event

    for turn in (FIRST, LAST):
        async for part in run_tools(events(turn), {"weather": weather}):
            yield part


def stored(source: Iterable[Part]) -> Iterator[str]:
    """Parts as a log keeps them."""
    return (json.dumps(part.to_dict()) + "\n" for part in source)


def framed(source: Iterable[Part]) -> list[bytes]:
    return [*sse(source)]


def written(events: Iterable[Any], kind: str) -> str:
    return "".join(event["delta"] for event in events if event["type"] == kind)


def tools_in(events: Iterable[Any]) -> list[tuple[str, Any, Any]]:
    """The id, input and output of each call in a UI message stream."""
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for event in events:
        if event["type"] == "tool-input-available":
            inputs[event["toolCallId"]] = event["input"]
        elif event["type"] == "tool-output-available":
            outputs[event["toolCallId"]] = event["output"]
    return [(id, value, outputs.get(id)) for id, value in inputs.items()]


FORMS: dict[str, Any] = {"live": iter, "list": list, "stored": stored, "framed": framed}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@every_form
def test_the_ai_sdk_gets_steps_with_calls_and_their_outputs(form: Any) -> None:
    events = [*to_ai_sdk(form(agent()))]
    assert [it["type"] for it in events].count("start-step") == 2
    assert written(events, "reasoning-delta") == "Which city?"
    assert written(events, "text-delta") == "Let me see.It rains in Rome."
    assert tools_in(events) == [("a", {"city": "Rome"}, weather("Rome"))]
    assert events[-1] == {"type": "finish", "finishReason": "stop"}
    # The argument text came as it was streamed, not at once.
    deltas = [it["inputTextDelta"] for it in events if it["type"] == "tool-input-delta"]
    assert deltas == ['{"city":', ' "Rome"}']


@every_form
def test_ag_ui_gets_all_messages_and_results(form: Any) -> None:
    events = [*to_ag_ui(form(agent()))]
    assert events[-1] == {"type": "RUN_FINISHED", "threadId": "thread", "runId": "run"}
    texts: dict[str, str] = {}
    for event in events:
        if event["type"] == "TEXT_MESSAGE_CONTENT":
            texts[event["messageId"]] = texts.get(event["messageId"], "") + event["delta"]
    assert [*texts.values()] == ["Let me see.", "It rains in Rome."]
    (result,) = [event for event in events if event["type"] == "TOOL_CALL_RESULT"]
    assert result["toolCallId"] == "a" and json.loads(result["content"]) == weather("Rome")


@every_form
def test_parts_of_many_turns_are_numbered_over_all(form: Any) -> None:
    all_parts = [*parts(form(agent()))]
    assert [
        (it.index, it.turn, it.kind) for it in all_parts if it.complete and it.kind != "call"
    ] == [
        (0, 0, "reasoning"),
        (1, 0, "text"),
        (3, 0, "result"),
        (4, 1, "text"),
    ]
    assert [it.to_dict() for it in parts(all_parts)] == [it.to_dict() for it in parts(agent())]


@every_function
def test_an_async_agent_gives_the_same(function: Any) -> None:
    async def read() -> list[Any]:
        return [event async for event in function(async_agent())]

    assert asyncio.run(read()) == [*function(agent())]


def test_what_reads_text_and_calls_reads_them_in_parts() -> None:
    assert "".join(content(agent())) == "Let me see.It rains in Rome."
    assert [*tool_calls(agent())][-1].call.result == weather("Rome")
    assert [*values(agent(FIRST), tool="weather")][-1] == {"city": "Rome"}


# ---- identity ----


def test_a_call_has_an_id_of_its_own_in_each_turn() -> None:
    """Some servers give all calls one id, and of some we make them up, anew for each turn."""
    for id in ("same", None):
        turns = [[*calling("weather", f'{{"city": "{it}"}}', id=id)] for it in ("Rome", "Oslo")]
        tools = tools_in(to_ai_sdk(agent(*turns, LAST)))
        assert [output["city"] for _, _, output in tools] == ["Rome", "Oslo"]
        assert [value["city"] for _, value, _ in tools] == ["Rome", "Oslo"]
        assert len({id for id, _, _ in tools}) == 2


def test_a_turn_that_says_the_same_again_is_another_one() -> None:
    texts = [[chunk(content="Yes."), chunk("stop")]] * 3
    all_parts = [*parts(agent(*texts))]
    assert [(it.index, it.turn, it.text) for it in all_parts if it.complete] == [
        (0, 0, "Yes."),
        (1, 1, "Yes."),
        (2, 2, "Yes."),
    ]


def test_calls_beside_each_other_stay_apart() -> None:
    asked = [
        *calling("weather", '{"ci', id="a"),
        *calling("weather", '{"city": ', id="b", index=1),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": 'ty": "Rome"}'}}]),
        chunk(tool_calls=[{"index": 1, "function": {"arguments": '"Oslo"}'}}]),
        chunk("tool_calls"),
    ]
    tools = tools_in(to_ai_sdk(agent(asked, LAST)))
    assert [(id, output["city"]) for id, _, output in tools] == [("a", "Rome"), ("b", "Oslo")]


# ---- what went wrong ----


def test_the_result_of_a_tool_that_failed_is_an_error() -> None:
    def broken(city: str) -> None:
        raise OSError("no network")

    events = [*to_ai_sdk(agent(FIRST, LAST, weather=broken))]
    (error,) = [it for it in events if it["type"] == "tool-output-error"]
    assert error["errorText"] == "OSError: no network" and error["toolCallId"] == "a"


def test_a_result_that_is_an_object_is_written_as_json() -> None:
    @dataclass
    class Weather:
        rain: bool

    for form in FORMS.values():
        events = [*to_ai_sdk(form(agent(FIRST, LAST, weather=lambda city: Weather(True))))]
        (output,) = [it for it in events if it["type"] == "tool-output-available"]
        assert output["output"] == {"rain": True}


@pytest.mark.parametrize(
    ("finish", "sdk"), [("length", "length"), ("content_filter", "content-filter")]
)
@pytest.mark.parametrize("after", ["text", "call", "nothing"])
@every_form
def test_an_answer_that_was_cut_says_so(form: Any, finish: str, sdk: str, after: str) -> None:
    begun = {"text": LAST[:1], "call": [*calling("weather", '{"city": "Ro')], "nothing": []}
    cut = [*begun[after], chunk(finish)]
    assert [*to_ai_sdk(form(agent(FIRST, cut)))][-1]["finishReason"] == sdk
    reasons = [it.reason for it in parts(form(agent(FIRST, cut))) if it.reason is not None]
    assert len(reasons) == 1


@every_function
def test_a_source_that_fails_is_an_error_for_the_client(function: Any) -> None:
    def failing() -> Iterator[Part]:
        yield from agent(FIRST)
        raise OSError("gone")

    events = []
    with pytest.raises(OSError, match="gone"):
        for event in function(failing()):
            events.append(event)
    assert "SOURCE_FAILED" in json.dumps(events[-3:])


def test_a_call_that_is_wrong_stays_so() -> None:
    asked = [*calling("weather", '{"city": 1}'), chunk("tool_calls")]
    events = [*to_ai_sdk(agent(asked, LAST))]
    kinds = [it["type"] for it in events]
    assert "tool-input-error" in kinds and "tool-input-available" not in kinds


ENDS = {"error", "finish-step", "finish", "RUN_ERROR", "RUN_FINISHED"}


def check_a_failure(function: Any, answer: Any) -> None:
    """The same up to the end, which is an error; what the provider reported is raised, too, except
    in an event stream, which has it as an event."""
    for form in (iter, stored, framed):
        events = []
        failed = False
        try:
            for event in function(form(parts(answer.events))):
                events.append(event)
        except SourceFailed:
            failed = True
        assert failed == (answer.end == "error" and form is not framed)
        before = [it for it in events if it["type"] not in ENDS]
        assert before == [it for it in function(answer.events) if it["type"] not in ENDS]
        assert {"error", "RUN_ERROR"} & {it["type"] for it in events}


@pytest.mark.parametrize("name", [*ANSWERS])
@pytest.mark.parametrize("function", [to_ai_sdk, to_ag_ui], ids=["ai-sdk", "ag-ui"])
def test_parts_of_every_provider_are_written_as_its_events_are(function: Any, name: str) -> None:
    answer = ANSWERS[name]

    def written(source: Any) -> list[Any]:
        return [*function(source)]

    if answer.end in ("error", "lost"):
        check_a_failure(function, answer)
        return
    expected = written(answer.events)
    if name == "vercel_full_stream" and function is to_ai_sdk:
        # It ends with calls that are answered; parts do not have the provider's word for an end.
        assert expected[-1] == {"type": "finish", "finishReason": "tool-calls"}
        expected[-1] = {"type": "finish", "finishReason": "stop"}
    assert written(parts(answer.events)) == expected
    assert written(stored(parts(answer.events))) == expected


def test_events_of_an_event_stream_are_parts() -> None:
    decoder = SSEDecoder()
    events = [event for block in framed(agent()) for event in decoder.feed(block)]
    assert ends_stream(events[-1])
    assert json.loads(events[0].data) == {
        "kind": "reasoning",
        "index": 0,
        "delta": "Which city?",
        "complete": False,
    }
