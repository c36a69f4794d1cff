"""Calls as odd servers stream them: complete, cut off anywhere, and over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill import Parts, ToolCall, ToolCalls, values
from jsonrill.toolcalls import ToolCallEvents
from support import ROOT

CASES = json.loads((ROOT / "cases" / "calls.json").read_text("utf8"))["cases"]
every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: case["class"] + ": " + case["name"]
)


def read(events: list[Any]) -> ToolCalls:
    calls = ToolCalls()
    for event in events:
        calls.feed(event)
    calls.flush()
    return calls


@every_case
def test_the_calls_are_right(case: dict[str, Any]) -> None:
    calls = read(case["events"]).calls
    assert [[call.name, call.args] for call in calls] == case["calls"]
    codes = case.get("errors", [None] * len(calls))
    assert [call.error and call.error["code"] for call in calls] == codes
    statuses = case.get("statuses", ["error" if code else "complete" for code in codes])
    assert [call.status for call in calls] == statuses
    if "messages" in case:
        assert len({call.message_id for call in calls}) == case["messages"]


@every_case
def test_parts_has_the_same_calls_also_cut_off_anywhere(case: dict[str, Any]) -> None:
    for at in range(len(case["events"]) + 1):
        parts = Parts(choice=1 if case["name"] == "in another choice" else 0)
        for event in case["events"][:at]:
            parts.feed(event)
        parts.flush()
        expected = read(case["events"][:at]).calls
        assert [summary(call) for call in parts.calls] == [summary(call) for call in expected]


def summary(call: ToolCall) -> tuple[Any, ...]:
    return call.name, call.args, call.status, call.error and call.error["code"]


@every_case
def test_a_part_of_a_call_is_complete_once_and_has_a_name(case: dict[str, Any]) -> None:
    parts = Parts(choice=1 if case["name"] == "in another choice" else 0)
    shown = [part for event in case["events"] for part in parts.feed(event)] + parts.flush()
    complete = [part for part in shown if part.kind == "call" and part.complete]
    assert len({part.index for part in complete}) == len(complete)
    assert all(part.call and part.call.name for part in complete)
    done = [call for call in parts.calls if call.status == "complete"]
    assert len(complete) >= len(done)


@every_case
def test_cut_off_anywhere_no_call_is_complete_with_other_arguments(case: dict[str, Any]) -> None:
    for at in range(len(case["events"])):
        for call, (name, args) in zip(read(case["events"][:at]).calls, case["calls"], strict=False):
            if call.status == "complete":
                assert call.args == args and str(name).startswith(str(call.name))


@every_case
def test_a_receiver_has_the_same_calls_after_every_event(case: dict[str, Any]) -> None:
    sender, receiver = ToolCallEvents(), ToolCalls()
    for event in case["events"]:
        for message in sender.feed(event):
            receiver.feed(json.dumps(message))
        assert receiver.calls == sender.calls.calls
        assert all_complete(receiver.calls) == all_complete(sender.calls.calls)


def all_complete(calls: list[ToolCall]) -> list[bool]:
    return [call.complete_args for call in calls]


def test_an_empty_object_is_not_complete_before_its_end() -> None:
    calls = ToolCalls()
    [first, second, *_] = next(
        case["events"] for case in CASES if case["name"] == "with white space"
    )
    [update] = calls.feed(first)
    call = calls.calls[0]
    assert (call.args, call.raw, call.complete_args) == ({}, " {}\n", False)
    assert update.json_update_fragments == []
    [update] = calls.feed(second)
    assert (call.args, call.raw, call.complete_args) == ({"x": 1}, '{"x": 1}', True)
    assert update.json_update_fragments and update.json_update_fragments[0].kind == "StartObject"


def test_the_fragments_of_an_empty_object_come_with_its_end() -> None:
    calls = ToolCalls()
    [first, last] = next(case["events"] for case in CASES if case["name"] == "and nothing else")
    calls.feed(first)
    [update] = calls.feed(last)
    assert update.status == "complete" and update.function_args is None
    assert [fragment.kind for fragment in update.json_update_fragments or ()][-1] == "JsonComplete"


@every_case
def test_arguments_read_as_documents_are_the_same(case: dict[str, Any]) -> None:
    if "errors" not in case and "statuses" not in case:
        expected = [args for _, args in case["calls"]]
        choice = case["events"][0].get("choices", [{}])[0].get("index", 0)
        shown = [*values(case["events"], tool=True, choice=choice)] if expected else []
        assert [value for value in shown if value in expected][-1:] == expected[-1:]
        assert all(any(value == args for value in shown) for args in expected)
