"""Every provider's stream gives its calls: in a row, interleaved, cut, doubled, broken off, broken.

The streams are built here (`provider_streams.py`); others are in `cases/providers`.
"""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import ToolCall, ToolCallEvents, ToolCalls, UnknownEvents
from jsonrill.providers import PROVIDERS, Reader
from jsonrill.providers.statements import CallDelta
from support import CASES, examples, few
from support.provider_streams import (
    BUILDERS,
    INTERLEAVING,
    PAGE_OF,
    PING,
    SEARCH,
    STREAMS,
    THREE,
    TWO,
    WEATHER,
    Event,
    Made,
    candidate,
    in_a_row,
    mutated,
    openai_chat,
    partial_args,
    shuffled,
)

RECORDED = sorted((CASES / "providers").glob("*.json"))


def read(events: list[Event], provider: Any = "auto", **options: Any) -> ToolCalls:
    """Read a stream to its end; whatever it is, the sender's calls and a receiver's stay equal."""
    sender, receiver = ToolCallEvents(ToolCalls(provider, **options)), ToolCalls()
    for event in events:
        _relay(sender.feed(copy.deepcopy(event)), sender, receiver)
    _relay(sender.flush(), sender, receiver)
    return sender.calls


def _relay(wire: list[Event], sender: ToolCallEvents, receiver: ToolCalls) -> None:
    for event in json.loads(json.dumps(wire)):
        receiver.feed(event)
    assert receiver.calls == sender.calls.calls


def shown(calls: ToolCalls) -> list[tuple[Any, ...]]:
    return [(call.name, call.status, call.args) for call in calls.calls]


def meant(calls: list[Made]) -> list[tuple[Any, ...]]:
    return [(call.name, "complete", json.loads(call.text)) for call in calls]


def same(calls: ToolCalls, expected: list[Made]) -> bool:
    """The same calls; interleaved they may appear in another order."""
    return sorted(map(repr, shown(calls))) == sorted(map(repr, meant(expected)))


OF_VALUES = ("gemini_whole", "gemini_partial", "ollama")


@pytest.mark.parametrize("size", [1, 6, 1000])
@pytest.mark.parametrize("name", BUILDERS)
def test_calls_in_a_row(name: str, size: int) -> None:
    events = BUILDERS[name](THREE, in_a_row(THREE, size))
    calls = read(events)
    assert shown(calls) == meant(THREE)
    if name not in OF_VALUES:
        assert [call.raw for call in calls.calls] == [expected.text for expected in THREE]
    else:
        # Values instead of text: `raw` is their compact JSON.
        assert [json.loads(call.raw) for call in calls.calls] == [c.args for c in calls.calls]
        assert not any(" " in call.raw.replace("São Paulo", "") for call in calls.calls)
    if name != "gemini_partial":
        assert [call.id for call in calls.calls] == [expected.id for expected in THREE]
    assert len({call.message_id for call in calls.calls}) == 1


@pytest.mark.parametrize("name", INTERLEAVING)
@examples(15)
@given(seed=st.integers(0, 10**9))
def test_calls_interleaved_at_random_in_random_pieces(name: str, seed: int) -> None:
    assert same(read(BUILDERS[name](THREE, shuffled(THREE, seed))), THREE)


@pytest.mark.parametrize("name", BUILDERS)
def test_the_page_reads_what_auto_reads(name: str) -> None:
    events = BUILDERS[name](TWO, shuffled(TWO, 1))
    page = PAGE_OF.get(name, name)
    assert read(events).calls == read(events, page).calls
    assert read(events, page.upper().replace("_", "-")).calls == read(events).calls


@pytest.mark.parametrize("name", BUILDERS)
def test_each_event_is_recognised_as_one_providers(name: str) -> None:
    pages = {"openai_chat" if name == "mistral_chat" else PAGE_OF.get(name, name)}
    for event in BUILDERS[name](TWO, in_a_row(TWO)):
        accepting = {page for page, provider in PROVIDERS.items() if provider.accepts(event)}
        assert accepting <= pages


@few(8)
@pytest.mark.parametrize("name", BUILDERS)
def test_broken_off_after_every_event_calls_are_right_or_truncated(name: str) -> None:
    whole = {call.name: call for call in THREE}
    for seed in range(3):
        events = BUILDERS[name](THREE, shuffled(THREE, seed))
        for end in range(len(events)):
            _honest(read(events[:end]), whole)


def _honest(calls: ToolCalls, whole: dict[str, Made]) -> None:
    for call in calls.calls:
        assert call.error is None
        if call.status == "complete":
            assert call.args == json.loads(whole[call.name or ""].text)
        else:
            assert call.status == "truncated"


@pytest.mark.parametrize("name", BUILDERS)
def test_with_every_event_doubled_calls_are_right_or_in_error(name: str) -> None:
    events = BUILDERS[name](THREE, in_a_row(THREE))
    calls = read([event for event in events for _ in range(2)])
    assert [call.name for call in calls.calls] == [expected.name for expected in THREE]
    if name == "openai_responses":
        # Its events are numbered: a repetition is told from an event.
        assert shown(calls) == meant(THREE)
    for call, expected in zip(calls.calls, THREE, strict=True):
        assert call.status == "error" or call.args == json.loads(expected.text)


# These do not name their responses, or not even their calls: the second is the next turn.
NAMELESS = {"bedrock", "mistral_conversations", "gemini_partial", "ollama", "pydantic_ai"}


@pytest.mark.parametrize("name", sorted(BUILDERS.keys() - NAMELESS))
def test_a_response_sent_twice_over_is_read_once(name: str) -> None:
    events = BUILDERS[name](TWO, in_a_row(TWO))
    assert shown(read(events + events)) == meant(TWO)


def test_numbers_from_0_again_are_another_response() -> None:
    first = BUILDERS["openai_responses"]([WEATHER], in_a_row([WEATHER]))
    second = json.loads(json.dumps(first).replace("resp_1", "resp_2").replace("fc_0", "fc_9"))
    other = Made("call_z", "ping", WEATHER.text)
    second = json.loads(
        json.dumps(second).replace("call_a", "call_z").replace("get_weather", "ping")
    )
    assert shown(read(first + second)) == meant([WEATHER, other])
    # Also where the events that name the response were lost.
    assert shown(read(first[1:-1] + second[1:-1])) == meant([WEATHER, other])


def test_of_ended_responses_no_items_are_remembered() -> None:
    reader = Reader("openai_responses")
    for turn in range(50):
        text = json.dumps(BUILDERS["openai_responses"](TWO, in_a_row(TWO, 50)))
        for event in json.loads(text.replace("resp_1", f"resp_{turn}").replace("fc_", f"{turn}_")):
            reader.feed(event)
    page: Any = reader._translate
    assert len(page._items) == len(TWO)


@pytest.mark.parametrize("number", [0, -1, 7])
def test_numbers_that_are_all_the_same_say_nothing(number: int) -> None:
    events = BUILDERS["openai_responses"](THREE, shuffled(THREE, 4))
    assert same(read([event | {"sequence_number": number} for event in events]), THREE)


def test_item_ids_that_change_from_event_to_event() -> None:
    """Seen behind proxies that hide them: the index still tells."""
    events = BUILDERS["openai_responses"](TWO, shuffled(TWO, 4))
    for number, event in enumerate(events):
        if "item_id" in event:
            event["item_id"] = f"hidden_{number}"
        if "item" in event:
            event["item"]["id"] = f"hidden_{number}"
    assert same(read(events), TWO)


# ---- the streams in cases/providers ----


def _expected(file: Path) -> tuple[list[Event], list[dict[str, Any]]]:
    stream = json.loads(file.read_text("utf8"))
    return stream["events"], stream["expected_calls"]


def _matches(call: ToolCall, expected: dict[str, Any]) -> bool:
    text = expected.get("args_text")
    return (
        call.name == expected["name"]
        and (text is None or call.raw == text)
        and call.status == expected.get("state", "complete")
        and ("args" not in expected or call.args == expected["args"])
    )


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_a_stream_of_the_cases(file: Path) -> None:
    events, expected = _expected(file)
    calls = read(events).calls
    assert len(calls) == len(expected)
    assert all(map(_matches, calls, expected))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_a_stream_of_the_cases_cut_differently(file: Path) -> None:
    events, expected = _expected(file)
    for seed in range(5):
        calls = read(list(recut(events, random.Random(seed)))).calls
        assert len(calls) == len(expected)
        assert all(map(_matches, calls, expected))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_a_stream_of_the_cases_broken_off_or_doubled(file: Path) -> None:
    events, expected = _expected(file)
    whole = {call["name"]: call for call in expected}
    for end in range(len(events)):
        for call in read(events[:end]).calls:
            right = call.status == "complete" and call.args == whole[call.name or ""].get("args")
            assert right or call.status == "truncated"
    doubled = read([event for event in events for _ in range(2)]).calls
    for call in doubled:
        right = _matches(call, whole[call.name or ""])
        assert right or call.status == "error"


def slot(event: Event) -> tuple[Event, str] | None:
    """Where an event has its piece of argument text."""
    match event:
        case {"choices": [{"delta": {"tool_calls": [{"function": dict(function)}]}}]}:
            return function, "arguments"
        case {"type": "content_block_delta", "delta": {"partial_json": _} as delta}:
            return delta, "partial_json"
        case {"contentBlockDelta": {"delta": {"toolUse": dict(use)}}}:
            return use, "input"
        case {"event_type": "step.delta", "delta": dict(delta)}:
            return delta, "arguments"
        case {"type": "function.call.delta"}:
            return event, "arguments"
        case {"type": "tool-input-delta"}:
            return event, "inputTextDelta"
        case {"type": str(kind)} if kind.endswith(("_arguments.delta", "_ARGS", "_CHUNK")):
            return event, "delta"
        case _:
            return None


def recut(events: list[Event], chance: random.Random) -> Iterator[Event]:
    """Each event with argument text as one to three events with parts of it."""
    number = 0
    for event in events:
        text_slot = slot(event)
        text = text_slot[0].get(text_slot[1]) if text_slot else None
        edges = sorted(chance.randint(0, len(text or "")) for _ in range(chance.randint(0, 2)))
        places = [0, *edges, None] if text else [0, None]
        for start, end in zip(places, places[1:], strict=False):
            part = copy.deepcopy(event)
            if text and (where := slot(part)):
                where[0][where[1]] = text[start:end]
            if "sequence_number" in part:
                part["sequence_number"] = number
                number += 1
            yield part


# ---- what only some of them send ----


def chat(*calls: Event, finish: str | None = None, **fields: Any) -> Event:
    delta = {"tool_calls": list(calls)} if calls else {}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **fields}


def function(index: int | None = None, id: str | None = None, **fields: Any) -> Event:
    entry = {"index": index, "id": id, "function": fields}
    return {key: value for key, value in entry.items() if value is not None}


TEXT = '{"a":1}'
DONE = ("f", "complete", {"a": 1})
DONE_G = ("g", "complete", {"a": 1})


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param(
            [
                {"choices": [{"delta": {"function_call": {"name": "f", "arguments": ""}}}]},
                {"choices": [{"delta": {"function_call": {"arguments": '{"a"'}}}]},
                {"choices": [{"delta": {"function_call": {"arguments": ":1}"}}}]},
                {"choices": [{"delta": {}, "finish_reason": "function_call"}]},
            ],
            [DONE],
            id="chat: the older function_call",
        ),
        pytest.param(
            [
                chat(function(0, "x", name="f", arguments='{"a"')),
                chat(function(0, "x", name="f", arguments=":1}")),
                chat(finish="stop"),
            ],
            [DONE],
            id="chat: id and name on every delta",
        ),
        pytest.param(
            [chat(function(name="f", arguments='{"a"')), chat(function(arguments=":1}"))],
            [DONE],
            id="chat: neither id nor index, no finish",
        ),
        pytest.param(
            [chat(function(name="f", arguments=TEXT)), chat(function(name="g", arguments=TEXT))],
            [DONE, DONE_G],
            id="chat: neither id nor index, two whole calls",
        ),
        pytest.param(
            [
                chat(function(0, "a", name="f", arguments=TEXT)),
                chat(function(0, "b", name="g", arguments='{"a')),
                chat(function(0, arguments='":1}')),
            ],
            [DONE, DONE_G],
            id="chat: all at index 0",
        ),
        pytest.param(
            [chat(function(0, arguments=TEXT)), chat(function(0, "late", name="f"))],
            [DONE],
            id="chat: id and name later",
        ),
        pytest.param(
            [chat(function(0, "x", name="f", arguments={"a": 1}))],
            [DONE],
            id="chat: arguments as an object",
        ),
        pytest.param(
            [chat(function(0, "x", name="f", arguments="")), chat(finish="tool_calls")],
            [("f", "complete", {})],
            id="chat: no arguments",
        ),
        pytest.param(
            [chat(function(0, "x", name="f", arguments="")), chat(finish="length")],
            [("f", "truncated", None)],
            id="chat: cut before the arguments",
        ),
        pytest.param(
            [
                chat({"index": 0, "id": "x", "type": "custom", "custom": {"name": "f"}}),
                chat({"index": 0, "custom": {"input": "SELECT 1;"}}),
                chat({"index": 0, "custom": {"input": " -- {"}}, finish="tool_calls"),
            ],
            [("f", "complete", "SELECT 1; -- {")],
            id="chat: a custom tool",
        ),
        pytest.param(
            [
                {"choices": [{"index": 1, "delta": {"tool_calls": [function(1, "y", name="g")]}}]},
                {"choices": [{"index": 0, "delta": {"tool_calls": [function(0, "x", name="f")]}}]},
                {
                    "choices": [
                        {"index": 1, "delta": {"tool_calls": [function(1, arguments=TEXT)]}},
                        {"index": 0, "delta": {"tool_calls": [function(0, arguments="{")]}},
                    ]
                },
                {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]},
            ],
            [DONE_G, ("f", "truncated", {})],
            id="chat: several choices, the second first",
        ),
    ],
)
def test_chat_completions_of_many_servers(events: list[Event], expected: list[Any]) -> None:
    assert shown(read(events)) == expected
    named = [{**event, "id": "chatcmpl-7"} for event in events]
    assert shown(read(named)) == expected


def item(kind: str, **fields: Any) -> Event:
    return {"type": kind, "id": "it_1", "name": "f", **fields}


def of_item(kind: str, **fields: Any) -> Event:
    return {"type": f"response.{kind}", "item_id": "it_1", **fields}


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param(
            [
                {"type": "response.output_item.added", "output_index": 0, "item": item("mcp_call")},
                of_item("mcp_call_arguments.delta", delta=TEXT),
                of_item("mcp_call_arguments.done", arguments=TEXT),
                {
                    "type": "response.output_item.done",
                    "output_index": 0,
                    "item": item("mcp_call", arguments=TEXT, output="42"),
                },
            ],
            (*DONE, "42", False),
            id="an MCP call with its output",
        ),
        pytest.param(
            [
                {
                    "type": "response.output_item.done",
                    "item": item("mcp_call", arguments=TEXT, output=None, error={"code": 1}),
                },
            ],
            (*DONE, {"code": 1}, True),
            id="an MCP call that failed, seen only at its end",
        ),
        pytest.param(
            [
                {
                    "type": "response.output_item.added",
                    "item": item("custom_tool_call", call_id="c", input=""),
                },
                {
                    "type": "response.custom_tool_call_input.delta",
                    "item_id": "it_1",
                    "delta": "1 +",
                },
                of_item("custom_tool_call_input.delta", delta=" 1"),
                {
                    "type": "response.custom_tool_call_input.done",
                    "item_id": "it_1",
                    "input": "1 + 1",
                },
            ],
            ("f", "complete", "1 + 1", None, False),
            id="a custom tool",
        ),
        pytest.param(
            [
                {"type": "response.output_item.added", "item": item("function_call", call_id="c")},
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "it_1",
                    "arguments": TEXT,
                },
            ],
            (*DONE, None, False),
            id="arguments that were not streamed",
        ),
        pytest.param(
            [
                {
                    "type": "response.function_call_arguments.delta",
                    "item_id": "it_1",
                    "delta": TEXT,
                },
                {
                    "type": "response.output_item.done",
                    "item": item("function_call", call_id="c", arguments='{ "a": 1 }'),
                },
            ],
            (*DONE, None, False),
            id="the start was lost, the repetition is spaced differently",
        ),
        pytest.param(
            [
                {"type": "response.output_item.added", "item": item("function_call", call_id="c")},
                of_item("function_call_arguments.delta", delta='{"a'),
                {
                    "type": "response.output_item.done",
                    "item": item("function_call", arguments='{"a', status="incomplete"),
                },
                {"type": "response.incomplete", "response": {"id": "resp_1"}},
            ],
            ("f", "truncated", {}, None, False),
            id="incomplete",
        ),
        pytest.param(
            [
                {
                    "type": "response.completed",
                    "response": {
                        "output": [
                            {"type": "message"},
                            item("function_call", call_id="c", arguments=TEXT),
                        ]
                    },
                }
            ],
            (*DONE, None, False),
            id="only the last event was seen",
        ),
        pytest.param(
            [
                {"type": "response.output_item.added", "item": item("function_call", call_id="c")},
                of_item("function_call_arguments.delta", delta='{"a'),
                {"type": "error", "message": "overloaded"},
            ],
            ("f", "truncated", {}, None, False),
            id="an error ends all",
        ),
    ],
)
def test_responses(events: list[Event], expected: tuple[Any, ...]) -> None:
    [call] = read(events).calls
    assert (call.name, call.status, call.args, call.result, call.result_is_error) == expected
    assert call.id in ("c", "it_1")


@pytest.mark.parametrize("stop, status", [("tool_use", "complete"), ("max_tokens", "truncated")])
def test_anthropic_a_call_without_a_character_ends_with_its_message(stop: str, status: str) -> None:
    events = BUILDERS["anthropic"]([PING], [(0, "")])
    events[-2]["delta"]["stop_reason"] = stop
    calls = ToolCalls()
    for event in events[:-2]:
        calls.feed(event)
    assert calls.calls[0].status == "streaming"
    calls.feed(events[-2])
    assert (calls.calls[0].status, calls.calls[0].args) == (
        status,
        {} if status == "complete" else None,
    )
    # Nobody says how the message ended, but the call's own end was seen.
    assert shown(read(events[:-2])) == [("ping", "complete", {})]


def block(index: int, **fields: Any) -> list[Event]:
    start = {"type": "content_block_start", "index": index, "content_block": fields}
    return [start, {"type": "content_block_stop", "index": index}]


def test_anthropic_server_tools_have_their_results() -> None:
    start, stop = block(0, type="server_tool_use", id="s", name="web_search", input={})
    delta = {"type": "input_json_delta", "partial_json": '{"query":"x"}'}
    search_results = [{"type": "web_search_result", "url": "u"}]
    events = [
        start,
        {"type": "content_block_delta", "index": 0, "delta": delta},
        stop,
        *block(1, type="web_search_tool_result", tool_use_id="s", content=search_results),
        *block(2, type="mcp_tool_use", id="m", name="f", server_name="z", input={"a": 1}),
        *block(3, type="mcp_tool_result", tool_use_id="m", content=[], is_error=True),
        *block(4, type="server_tool_use", id="t", name="web_search", input={}),
        *block(
            5,
            type="web_search_tool_result",
            tool_use_id="t",
            content={"type": "web_search_tool_result_error", "error_code": "unavailable"},
        ),
    ]
    calls = read(events).calls
    assert [(call.status, call.args) for call in calls] == [
        ("complete", {"query": "x"}),
        ("complete", {"a": 1}),
        ("complete", {}),
    ]
    assert [call.result_is_error for call in calls] == [False, True, True]
    assert calls[0].result == search_results


@pytest.mark.parametrize(
    "name, event",
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error"}}),
        ("bedrock", {"throttlingException": {"message": "slow down"}}),
        ("gemini_interactions", {"event_type": "error", "error": {}}),
        (
            "mistral_conversations",
            {"type": "conversation.response.error", "message": "", "code": 1},
        ),
        ("vercel", {"type": "error", "errorText": "no"}),
        ("ag_ui", {"type": "RUN_ERROR", "message": "no"}),
        ("openai_responses", {"type": "response.failed", "response": {"id": "resp_1"}}),
    ],
)
def test_an_error_of_the_provider_ends_what_is_open(name: str, event: Event) -> None:
    two_calls = [WEATHER, SEARCH]
    cut = [(0, WEATHER.text[:9]), (1, SEARCH.text), (0, WEATHER.text[9:])]
    events = BUILDERS[name](two_calls, cut)
    at = next(number for number, one in enumerate(events) if WEATHER.text[9:] in repr_of(one))
    calls = ToolCalls()
    for one in events[:at]:
        calls.feed(one)
    calls.feed(event)
    assert [call.status for call in calls.calls] == ["truncated", "complete"]


def repr_of(event: Event) -> str:
    """The text of an event, its strings as they are."""
    if isinstance(event, dict):
        return " ".join(map(repr_of, event.values()))
    return event if isinstance(event, str) else ""


def test_bedrock_says_when_a_call_is_malformed() -> None:
    events = BUILDERS["bedrock"]([WEATHER], [(0, '{"city":')])
    events = [event for event in events if "contentBlockStop" not in event]
    events[-2]["messageStop"]["stopReason"] = "malformed_tool_use"
    [call] = read(events).calls
    assert call.status == "error"
    assert call.error == {"code": "PROVIDER_ERROR", "message": "malformed_tool_use"}


def test_mistral_fills_in_ids_and_indices_that_say_nothing() -> None:
    whole = [
        {"id": "null", "index": 0, "function": {"name": name, "arguments": arguments}}
        for name, arguments in (("f", TEXT), ("g", {"a": 1}))
    ]
    assert shown(read([chat(*whole, finish="tool_calls")], "mistral")) == [DONE, DONE_G]


def test_mistral_chat_in_the_envelope_of_its_client() -> None:
    events = [{"data": event} for event in BUILDERS["mistral_chat"](TWO, [])]
    assert shown(read(events)) == meant(TWO)
    events = BUILDERS["mistral_conversations"](TWO, in_a_row(TWO))
    assert shown(read([{"event": event["type"], "data": event} for event in events])) == meant(TWO)


def vercel(kind: str, **fields: Any) -> Event:
    return {"type": kind, "toolCallId": "c", **fields}


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param(
            [vercel("tool-input-available", toolName="f", input={"a": 1})],
            (*DONE, None),
            id="not streamed",
        ),
        pytest.param(
            [
                vercel("tool-input-start", toolName="f", inputEncoding="text"),
                vercel("tool-input-delta", inputTextDelta="*** Begin"),
                vercel("tool-input-available", toolName="f", input="*** Begin"),
            ],
            ("f", "complete", "*** Begin", None),
            id="free text",
        ),
        pytest.param(
            [
                vercel("tool-input-start", toolName="f"),
                vercel("tool-input-delta", inputTextDelta=TEXT),
                vercel("tool-input-available", toolName="f", input={"a": 1, "limit": 10}),
            ],
            (*DONE, None),
            id="the tool's validation added a default",
        ),
        pytest.param(
            [
                vercel("tool-input-start", toolName="f"),
                vercel("tool-input-delta", inputTextDelta=TEXT),
                vercel("tool-input-available", toolName="f", input={"a": 2}),
            ],
            ("f", "error", {"a": 1}, "ARGUMENTS_DIFFER"),
            id="the repetition differs",
        ),
        pytest.param(
            [
                vercel("tool-input-start", toolName="f"),
                vercel("tool-input-delta", inputTextDelta='{"a":1'),
                vercel("tool-input-error", toolName="f", input='{"a":1', errorText="no such tool"),
            ],
            ("f", "error", {}, "PROVIDER_ERROR"),
            id="its own complaint",
        ),
        pytest.param(
            [
                vercel("tool-input-start", toolName="f"),
                vercel("tool-input-delta", inputTextDelta='{"a":1'),
                {"type": "abort"},
            ],
            ("f", "truncated", {}, None),
            id="stopped by the user",
        ),
    ],
)
def test_vercel(events: list[Event], expected: tuple[Any, ...]) -> None:
    [call] = read([{"type": "start", "messageId": "m"}, *events]).calls
    code = call.error and call.error["code"]
    assert (call.name, call.status, call.args, code) == expected
    assert call.message_id == "m"


def test_vercel_and_ag_ui_attach_results() -> None:
    events = BUILDERS["vercel"]([WEATHER], in_a_row([WEATHER]))
    late = {"type": "tool-output-available", "toolCallId": "call_a", "output": {"ok": True}}
    [call] = read([*events, late]).calls
    assert (call.result, call.result_is_error) == ({"ok": True}, False)
    failed = {"type": "tool-output-error", "toolCallId": "call_a", "errorText": "no"}
    [call] = read([*events, late, failed]).calls
    assert (call.result, call.result_is_error) == ("no", True)
    events = BUILDERS["ag_ui"]([WEATHER], in_a_row([WEATHER]))
    answer = {
        "type": "TOOL_CALL_RESULT",
        "messageId": "m2",
        "toolCallId": "call_a",
        "content": "ok",
    }
    [call] = read([*events, answer]).calls
    assert (call.status, call.result) == ("complete", "ok")


def test_ag_ui_chunks_continue_the_open_call() -> None:
    kind = {"type": "TOOL_CALL_CHUNK"}
    events = [
        kind | {"toolCallId": "a", "toolCallName": "f", "delta": '{"a"'},
        kind | {"delta": ":1}"},
        kind | {"toolCallId": "b", "toolCallName": "g"},
        kind | {"delta": TEXT},
    ]
    assert shown(read(events)) == [DONE, DONE_G]


def test_gemini_calls_without_ids() -> None:
    both = [{"functionCall": {"name": name, "args": {"a": 1}}} for name in ("f", "g")]
    event = candidate(both[0], "STOP")
    event["candidates"][0]["content"]["parts"] = both
    assert shown(read([event])) == [DONE, DONE_G]
    # One name twice in a row is two calls, for each is whole.
    assert shown(read([candidate(both[0]), candidate(both[0], "STOP")])) == [DONE, DONE]
    bare = candidate({"functionCall": {"name": "f"}}, "STOP")
    assert shown(read([bare])) == [("f", "complete", {})]


def test_gemini_the_end_of_nothing_is_nothing() -> None:
    assert read([candidate({"functionCall": {}}, "STOP")]).calls == []


@pytest.mark.parametrize(
    "part, value",
    [
        ({"nullValue": "NULL_VALUE"}, None),
        ({"nullValue": None}, None),
        ({"nullValue": None, "stringValue": None, "numberValue": None, "boolValue": None}, {}),
        ({}, {}),
        ({"boolValue": False}, False),
        ({"numberValue": 0}, 0),
    ],
)
def test_gemini_values_that_are_hardly_there(part: Event, value: Any) -> None:
    args = [{"jsonPath": "$.a", **part}]
    [call] = read([candidate({"functionCall": {"name": "f", "partialArgs": args}})]).calls
    assert (call.status, call.args) == ("complete", {"a": value})


def test_gemini_in_snake_case() -> None:
    part = {"json_path": "$.a", "number_value": 1.0, "will_continue": None}
    events = [
        candidate({"function_call": {"name": "f", "will_continue": True}}),
        candidate({"function_call": {"partial_args": [part], "will_continue": True}}),
        candidate({"function_call": {}}),
    ]
    assert shown(read(events)) == [DONE]
    [call] = read(events).calls
    assert call.raw == '{"a":1}'


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=9),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), st.integers(1, 4), st.randoms())
def test_gemini_partial_args_of_any_value(value: Any, cut: int, chance: random.Random) -> None:
    parts = list(partial_args(value, cut))
    events = [candidate({"functionCall": {"name": "f", "willContinue": True}})]
    while parts:
        size = chance.randint(1, 3)
        call = {"partialArgs": parts[:size], "willContinue": True}
        events.append(candidate({"functionCall": call}))
        del parts[:size]
    assert shown(read([*events, candidate({"functionCall": {}})])) == [("f", "complete", value)]
    for end in range(len(events)):
        [left] = read(events[: end + 1]).calls
        assert left.status == "truncated"


@pytest.mark.parametrize(
    "parts, message",
    [
        ([("$.a", 1), ("$.a", 2)], "root.a has already been written"),
        ([("$.a.b", 1), ("$.c", 2), ("$.a.d", 3)], "root.a.d has already been written"),
        ([("$.a[1]", 1)], "root.a[1] does not follow what has been written"),
        ([("$.a[0]", 1), ("$.a.b", 1)], "root.a.b does not follow what has been written"),
        ([("$..a", 1)], "not a JSONPath to one value: '$..a'"),
        ([("$", 1), ("$.a", 1)], "root.a has already been written"),
    ],
)
def test_gemini_parts_that_cannot_be_told_as_growing_text(
    parts: list[tuple[str, int]], message: str
) -> None:
    args = [{"jsonPath": path, "numberValue": value} for path, value in parts]
    call = {"name": "f", "partialArgs": args, "willContinue": True}
    other = candidate({"functionCall": {"id": "z", "name": "g", "args": {"a": 1}}})
    broken, whole = read([candidate({"functionCall": call}), other]).calls
    assert (broken.status, broken.error) == ("error", {"code": "INVALID_JSON", "message": message})
    assert whole.status == "complete"


@pytest.mark.parametrize("status, expected", [("requires_action", {}), ("incomplete", None)])
def test_gemini_interactions(status: str, expected: Any) -> None:
    events: list[dict[str, Any]] = [
        {"event_type": "interaction.created", "interaction": {"id": "i"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "thought"}},
        {
            "event_type": "step.start",
            "index": 1,
            "step": {"type": "mcp_server_tool_call", "id": "a", "name": "f", "arguments": {"a": 1}},
        },
        {"event_type": "step.stop", "index": 1},
        {
            "event_type": "step.start",
            "index": 2,
            "step": {"type": "mcp_server_tool_result", "call_id": "a", "result": "r"},
        },
        {"event_type": "step.start", "index": 3, "step": {"type": "function_call", "name": "g"}},
        {"event_type": "step.stop", "index": 3},
        {"event_type": "interaction.completed", "interaction": {"id": "i", "status": status}},
    ]
    done, empty = read(events).calls
    assert (done.name, done.status, done.args, done.result) == (*DONE, "r")
    assert empty.args == expected
    assert empty.message_id == done.message_id == "i"


# ---- bad input is normal input ----

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
WIRE = [
    event
    for stage in [ToolCallEvents()]
    for event in [wire for chunk in STREAMS["openai_chat"] for wire in stage.feed(chunk)]
]
MUTABLE = {**STREAMS, "jsonrill": WIRE}


def survives(events: list[Any], provider: Any = "auto") -> None:
    calls = ToolCalls(provider)
    for event in events:
        for update in calls.feed(event):
            json.dumps(update.to_wire())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownEvents)
        calls.flush()
    for call in calls.calls:
        assert call.status in ("complete", "error", "truncated")
        assert isinstance(call.raw, str)
        assert (call.status == "error") == (call.error is not None)


@given(JSON)
def test_any_json_is_an_event(event: Any) -> None:
    survives([event, json.dumps(event), json.dumps(event).encode()])
    if isinstance(event, dict):
        for name in PROVIDERS:
            Reader(name).feed(event)


@few(8)
@pytest.mark.parametrize("name", MUTABLE)
@examples(40)
@given(chance=st.randoms(use_true_random=False), junk=JSON)
def test_events_broken_in_any_place_never_raise(
    name: str, chance: random.Random, junk: Any
) -> None:
    events = list(MUTABLE[name])
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(events))
        match chance.randint(0, 3):
            case 0:
                events.pop(at)
                events = events or [{}]
            case 1:
                events.insert(chance.randrange(len(events)), events[at])
            case _:
                events[at] = mutated(events[at], chance, junk)
    survives(events)
    survives(events, PAGE_OF.get(name, name))


class Odd:
    """An object whose every attribute is trouble."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class Maze:
    """An object that leads to itself, again and again."""

    def __init__(self) -> None:
        self.one = self.two = self.three = self


def test_anything_at_all_is_an_event() -> None:
    calls = ToolCalls()
    for event in (None, 7, object(), Odd(), Maze(), "no JSON", b"\xff", [], "[1]", {1: 2}):
        assert calls.feed(event) == []


def test_unknown_events_are_ignored() -> None:
    events: list[Event] = []
    for event in STREAMS["anthropic"]:
        events += [{"type": "brand_new", "index": 1, "delta": {"partial_json": "?"}}, event, {}]
    assert same(read(events), THREE)


def test_one_object_reads_one_provider_after_another() -> None:
    calls = ToolCalls()
    for name, events in STREAMS.items():
        # Some of them give their message the same name.
        text = json.dumps(events).replace('"m1"', f'"{name}"').replace('"r1"', f'"{name}"')
        for event in json.loads(text):
            calls.feed(event)
        calls.flush()
    assert len(calls.calls) == len(STREAMS) * len(THREE)
    assert {call.status for call in calls.calls} == {"complete"}


def test_a_provider_of_ones_own() -> None:
    def translate(event: dict[str, Any]) -> list[CallDelta]:
        return [CallDelta(event["who"], name=event.get("tool"), text=event.get("more"))]

    calls = ToolCalls(translate)
    calls.feed({"who": "1", "tool": "f"})
    calls.feed({"who": "1", "more": TEXT})
    assert calls.calls[0].args == {"a": 1}


def test_a_provider_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="openai_chat, anthropic"):
        ToolCalls("closedai")


def test_the_next_turn_reuses_ids_and_indices() -> None:
    turns = [openai_chat([WEATHER], in_a_row([WEATHER]), f"chatcmpl-{turn}") for turn in range(3)]
    calls = read([event for turn in turns for event in turn])
    assert shown(calls) == meant([WEATHER] * 3)
    assert [call.message_id for call in calls.calls] == [f"chatcmpl-{turn}" for turn in range(3)]
    # Servers that name no responses.
    nameless = [{**event, "id": ""} for turn in turns for event in turn]
    assert shown(read(nameless)) == meant([WEATHER] * 3)
