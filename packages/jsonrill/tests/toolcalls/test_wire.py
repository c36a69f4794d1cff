"""Calls over the wire: the cases that the browser reads too, and a receiver equals its sender."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_texts import ANYTHING, JUNK
from provider_streams import BUILDERS, STREAMS, THREE, mutate, shuffled

from jsonrill import ToolCall, ToolCalls
from jsonrill.toolcalls import ToolCallEvents
from support import ROOT

CASES = json.loads((ROOT / "cases" / "toolcalls.json").read_text("utf8"))["cases"]
FIELDS = (
    *("id", "index", "message_id", "name", "raw", "args", "status", "error", "result"),
    "result_is_error",
)


def call_fields(call: ToolCall) -> dict[str, Any]:
    """Return a call as the cases write it, without empty fields."""
    fields = {name: getattr(call, name) for name in FIELDS}
    fields["result_is_error"] = fields["result_is_error"] or None
    return {name: value for name, value in fields.items() if value is not None}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("provider", ["auto", "jsonrill"])
def test_case(case: dict[str, Any], provider: str) -> None:
    calls = ToolCalls(provider)
    for step in case["steps"]:
        match step:
            case {"event": event}:
                calls.feed(event)
            case {"forget": message_id}:
                calls.forget(message_id)
            case {"flush": True}:
                calls.flush()
        assert [call_fields(call) for call in calls.calls] == step["calls"]


def assert_equal_at_every_step(events: list[Any]) -> ToolCalls:
    """Send events over the wire; return the receiver."""
    sender, receiver = ToolCallEvents(), ToolCalls()
    for event in [*events, None]:
        for wire in sender.flush() if event is None else sender.feed(event):
            receiver.feed(json.loads(json.dumps(wire)))
        assert receiver.calls == sender.calls.calls
    return receiver


@pytest.mark.parametrize("name", BUILDERS)
def test_a_receiver_equals_its_sender_at_every_step(name: str) -> None:
    for seed in range(4):
        receiver = assert_equal_at_every_step(BUILDERS[name](THREE, shuffled(THREE, seed)))
        assert {call.status for call in receiver.calls} == {"complete"}


@pytest.mark.parametrize("name", BUILDERS)
@given(chance=st.randoms(use_true_random=False), junk=JUNK)
@settings(max_examples=15)
def test_a_receiver_equals_its_sender_for_broken_streams(
    name: str, chance: random.Random, junk: Any
) -> None:
    events = list(STREAMS[name])
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(events))
        match chance.randint(0, 3):
            case 0 if len(events) > 1:
                del events[at]
            case 1:
                events.insert(chance.randrange(len(events)), events[at])
            case _:
                events[at] = mutate(events[at], chance, junk)
    assert_equal_at_every_step(events)


@given(st.lists(ANYTHING, max_size=5))
def test_no_event_from_the_wire_raises(events: list[Any]) -> None:
    calls = ToolCalls("jsonrill")
    for event in events:
        calls.feed({"kind": "tools_call_update", "messageId": "m", "tool_call_updates": event})
        calls.feed({"kind": "tools_aggregate", "messageId": "m", "tool_calls": event})
    calls.flush()


def test_the_sender_makes_updates_with_fragments_and_aggregates() -> None:
    sender = ToolCallEvents()
    function = {"name": "f", "arguments": '{"x":1'}
    delta = {"index": 0, "id": "a", "function": function}
    choice = {"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": None}
    assert sender.feed({"id": "m", "choices": [choice]}) == [
        {
            "kind": "tools_call_update",
            "messageId": "m",
            "tool_call_updates": [
                {
                    "tool_call_id": "a",
                    "index": 0,
                    "function_name": "f",
                    "function_args": '{"x":1',
                    "json_update_fragments": [
                        {"path": "root", "kind": "StartObject"},
                        {"path": "root", "kind": "Key", "value": "x"},
                    ],
                }
            ],
        }
    ]
    assert sender.flush()[-1]["tool_calls"][0]["args"] == {}
    assert sender.answer("a", "no", is_error=True) == [
        {
            "kind": "tool_result",
            "messageId": "m",
            "tool_call_id": "a",
            "result": "no",
            "is_error": True,
        }
    ]
