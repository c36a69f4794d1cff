"""Calls over the wire: the cases that the browser reads too, and sender equals receiver, always."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Limits, ToolCall, ToolCallEvents, ToolCalls
from support import ROOT, examples, few, pieces
from support.json_texts import ANYTHING, JUNK
from support.provider_streams import (
    BUILDERS,
    PAGE_OF,
    STREAMS,
    THREE,
    TWO,
    Made,
    in_a_row,
    mutated,
    openai_chat,
    shuffled,
)

CASES = json.loads((ROOT / "cases" / "toolcalls.json").read_text("utf8"))["cases"]
FIELDS = (
    *("id", "index", "message_id", "name", "raw", "args", "status", "error", "result"),
    "result_is_error",
)


def shown(call: ToolCall) -> dict[str, Any]:
    """A call as the cases write it: fields that say nothing left out."""
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
        assert [shown(call) for call in calls.calls] == step["calls"]


def test_the_cases_say_what_they_promise() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names)
    for word in ("interleaved", "id is missing", "missing on all", "missing on some", "cleanup"):
        assert any(word in name for name in names)
    kinds = {step.get("event", {}).get("kind") for case in CASES for step in case["steps"]}
    assert kinds >= {"tools_call_update", "tool_result", "tools_aggregate"}


class Line:
    """A sender, a receiver, and JSON text between them."""

    def __init__(self, provider: str = "auto", *, compact: bool = False, **options: Any) -> None:
        self.sender = ToolCallEvents(ToolCalls(provider, **options), compact=compact)
        self.receiver = ToolCalls(**options)
        self.sent: list[str] = []

    def feed(self, event: Any) -> None:
        self._pass(self.sender.feed(event))

    def flush(self) -> None:
        self._pass(self.sender.flush())

    def _pass(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            text = json.dumps(event)
            self.sent.append(text)
            self.receiver.feed(json.loads(text))
        assert self.receiver.calls == self.sender.calls.calls


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("name", BUILDERS)
def test_a_receiver_equals_its_sender_at_every_step(name: str, compact: bool) -> None:
    for seed in range(4):
        line = Line(compact=compact)
        for event in BUILDERS[name](THREE, shuffled(THREE, seed)):
            line.feed(event)
        line.flush()
        assert {call.status for call in line.receiver.calls} == {"complete"}


@few(8)
@pytest.mark.parametrize("name", BUILDERS)
@examples(25)
@given(chance=st.randoms(use_true_random=False), junk=JUNK)
def test_and_so_whatever_the_provider_sends(name: str, chance: random.Random, junk: Any) -> None:
    events = list(STREAMS[name])
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(events))
        match chance.randint(0, 3):
            case 0:
                del events[at]
                events = events or [{}]
            case 1:
                events.insert(chance.randrange(len(events)), events[at])
            case _:
                events[at] = mutated(events[at], chance, junk)
    line = Line(PAGE_OF.get(name, name) if chance.random() < 0.5 else "auto", compact=bool(junk))
    for event in events:
        line.feed(event)
    line.flush()


def test_an_id_at_the_index_of_a_call_of_a_response_that_ended_is_that_of_another_call() -> None:
    line = Line("openai_chat", compact=False)
    late = {"index": 1, "id": "b", "function": {"name": "search", "arguments": "{}"}}
    other = {"index": 2, "id": "c", "function": {"name": "ping", "arguments": "{}"}}
    for calls in ([{"index": 1, "function": {"arguments": ""}}], [], [other], [late]):
        choice = {"index": 0, "delta": {"tool_calls": calls}}
        line.feed({"id": "m", "choices": [choice | ({} if calls else {"finish_reason": "stop"})]})
    line.flush()
    assert [(call.id, call.status) for call in line.receiver.calls][0] == ("m:1", "error")
    assert [call.id for call in line.receiver.calls] == ["m:1", "c", "b"]


def test_an_id_at_the_index_of_a_call_that_ended_in_error_is_that_of_another_call() -> None:
    line = Line("bedrock", compact=False)
    start = {"toolUse": {"toolUseId": "b", "name": "search"}}
    line.feed({"contentBlockDelta": {"delta": {"toolUse": {"input": "}"}}, "contentBlockIndex": 1}})
    line.feed({"contentBlockStop": {"contentBlockIndex": 1}})
    line.feed({"contentBlockStart": {"start": start, "contentBlockIndex": 1}})
    assert [(call.id, call.status) for call in line.receiver.calls] == [
        ("message-1:1", "error"),
        ("b", "streaming"),
    ]


@pytest.mark.parametrize("text", ["{}", "}"])
def test_an_id_that_comes_after_the_end_does_not_rename_a_call(text: str) -> None:
    line = Line("openai_responses", compact=False)
    place = {"output_index": 2, "item_id": "fc"}
    call = {"type": "function_call", "id": "fc", "name": "ping", "arguments": text}
    line.feed({"type": "response.output_item.added", **place, "item": {**call, "arguments": ""}})
    line.feed({"type": "response.function_call_arguments.done", **place, "arguments": text})
    line.feed({"type": "response.completed", "response": {"id": "r", "output": []}})
    late = {**place, "output_index": 3, "item_id": "other", "delta": "{"}
    line.feed({"type": "response.function_call_arguments.delta", **late})
    line.feed({"type": "response.output_item.done", **place, "item": {**call, "call_id": "c"}})
    assert [call.id for call in line.receiver.calls][0] == "message-1:2"


def test_a_receiver_can_be_a_sender() -> None:
    first, second, third = ToolCallEvents(), ToolCallEvents(compact=True), ToolCalls()
    for event in openai_chat(THREE, shuffled(THREE, 2)):
        for once in first.feed(event):
            for twice in second.feed(once):
                third.feed(json.loads(json.dumps(twice)))
        assert third.calls == second.calls.calls == first.calls.calls
    assert {call.status for call in third.calls} == {"complete"}


def test_what_is_sent() -> None:
    stage = ToolCallEvents()
    sent = [
        event
        for chunk in openai_chat([Made("a", "f", '{"x":1}')], [(0, '{"x"'), (0, ":1"), (0, "}")])
        for event in stage.feed(chunk)
    ]
    updates = [event["tool_call_updates"] for event in sent[:-1]]
    assert {event["kind"] for event in sent[:-1]} == {"tools_call_update"}
    assert {event["messageId"] for event in sent} == {"chatcmpl-1"}
    key = {"path": "root", "kind": "Key", "value": "x"}
    start = {"path": "root", "kind": "StartObject"}
    number = {"path": "root.x", "kind": "CompleteNumber", "textValue": "1", "value": 1}
    ends = [{"path": "root", "kind": "EndObject"}, {"path": "root", "kind": "JsonComplete"}]
    who = {"tool_call_id": "a", "index": 0}
    assert updates == [
        [who | {"function_name": "f"}],
        [who | {"function_args": '{"x"', "json_update_fragments": [start, key]}],
        [who | {"function_args": ":1", "json_update_fragments": []}],
        [who | {"function_args": "}", "json_update_fragments": [number, *ends]}],
        [who | {"status": "complete"}],
    ]
    call = who | {"function_name": "f", "function_args": '{"x":1}', "status": "complete"}
    assert sent[-1] == {
        "kind": "tools_aggregate",
        "messageId": "chatcmpl-1",
        "tool_calls": [call],
        "tool_results": [],
    }


def test_one_event_may_do_all_to_a_call() -> None:
    more = [{"index": 0, "function": {"arguments": text}} for text in ('{"a":"x', 'y"', "}")]
    first = {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}
    delta = {"tool_calls": [first, *more]}
    line = Line(compact=True)
    line.feed({"id": "m", "choices": [{"delta": delta, "finish_reason": "tool_calls"}]})
    assert line.receiver.calls[0].args == {"a": "xy"}


def test_a_result_of_ones_own_tool_is_sent() -> None:
    sender = ToolCallEvents(ToolCalls("openai_chat"))
    for event in openai_chat(TWO, in_a_row(TWO)):
        sender.feed(event)
    assert sender.answer("call_a", None) == [
        {"kind": "tool_result", "messageId": "chatcmpl-1", "tool_call_id": "call_a", "result": None}
    ]
    [failed] = sender.answer("call_b", "no", is_error=True)
    assert failed["is_error"] is True
    assert sender.answer("nobody", 1) == []


def test_updates_of_one_message_travel_together() -> None:
    whole = [
        {"index": number, "id": call.id, "function": {"name": call.name, "arguments": call.text}}
        for number, call in enumerate(TWO)
    ]
    choices = [
        {"index": 0, "delta": {"tool_calls": whole}},
        {"index": 1, "delta": {"tool_calls": whole}},
    ]
    events = ToolCallEvents().feed({"id": "m", "choices": choices})
    assert [event["messageId"] for event in events] == ["m", "m:1"]
    assert [len(event["tool_call_updates"]) for event in events] == [2, 2]


def test_each_byte_crosses_about_twice_in_compact_form() -> None:
    text = json.dumps({"path": "a.py", "code": "line of code\n" * 500})
    calls = [Made("call_1", "write", text)]
    line = Line(compact=True)
    for event in openai_chat(calls, in_a_row(calls, 64)):
        line.feed(event)
    updates = [sent for sent in line.sent if "function_args" in sent and "aggregate" not in sent]
    assert sum(map(len, updates)) < 5 * len(text)
    payload = sum(
        len(json.dumps(update.get(field, "")))
        for sent in updates
        for update in json.loads(sent)["tool_call_updates"]
        for field in ("function_args", "json_update_fragments")
    )
    assert payload < 2.6 * len(text)


def test_a_made_id_is_not_sent_where_the_providers_may_come() -> None:
    line = Line()
    line.feed({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f"}}]}}]})
    assert "tool_call_id" not in line.sent[0]
    assert line.receiver.calls[0].id == "message-1:0"
    line.feed({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "real"}]}}]})
    assert '"tool_call_id": "real"' in line.sent[1]
    assert line.receiver.calls[0].id == "real"


def test_calls_that_shared_an_index_are_told_apart_to_the_end() -> None:
    line = Line()
    for name, fields in (("f", {}), ("g", {"id": "b"})):
        call = {"index": 0, "function": {"name": name, "arguments": "{"}, **fields}
        line.feed({"id": "m", "choices": [{"delta": {"tool_calls": [call]}}]})
    line.flush()
    assert [(call.id, call.status) for call in line.receiver.calls] == [
        ("m:0", "truncated"),
        ("b", "truncated"),
    ]


def test_an_aggregate_without_args_does_not_take_away_what_is_known() -> None:
    calls = ToolCalls()
    call = {"tool_call_id": "a", "function_args": '{"x": [1', "status": "truncated"}
    start = [[0], [4, None, "x"], [2], [8, None, 1]]
    update = call | {"json_update_fragments": start}
    calls.feed({"kind": "tools_call_update", "messageId": "m", "tool_call_updates": [update]})
    calls.feed({"kind": "tools_aggregate", "messageId": "m", "tool_calls": [call]})
    assert calls.calls[0].args == {"x": [1]}


def test_an_encoder_lives_as_long_as_its_call() -> None:
    sender = ToolCallEvents(compact=True)
    for event in openai_chat(TWO, in_a_row(TWO)):
        sender.feed(event)
    assert [call.encoder for call in sender.calls.of("chatcmpl-1")] == [None, None]


def test_lone_surrogates_and_odd_keys_survive() -> None:
    text = '{"\\ud800": "\\udfff", "": "a\\u0000b", "x.y[0]": "\\ud83d\\ude00"}'
    for compact in (False, True):
        line = Line(compact=compact)
        calls = [Made("a", "f", text)]
        for event in openai_chat(calls, in_a_row(calls, 1)):
            line.feed(event)
        assert line.receiver.calls[0].args == json.loads(text)


def test_what_is_kept_of_ended_messages_is_bounded_on_both_sides() -> None:
    sender, receiver = ToolCallEvents(ToolCalls(keep=4), compact=True), ToolCalls(keep=4)
    for turn in range(20):
        for event in openai_chat(THREE, in_a_row(THREE, 9), f"m{turn}"):
            for wire in sender.feed(event):
                receiver.feed(wire)
        assert receiver.calls == sender.calls.calls
    assert len(receiver.calls) <= 4 + len(THREE)


@given(st.data())
def test_bounds_are_the_same_on_both_sides(data: st.DataObject) -> None:
    text = data.draw(
        st.sampled_from(
            [
                '{"a": {"b": {"c": [1]}}}',
                '{"a": 1, "b": 2, "c": 3, "d": 4}',
                '{"a": 123456789}',
                '{"a": "abcdefghijk", "b": 1}',
                '["a", "b", "c", "d", "e", "f", "g"]',
            ]
        )
    )
    limits = Limits(depth=2, text=30, string=8, number=5, keys=3)
    sender = ToolCallEvents(ToolCalls(limits=limits), compact=data.draw(st.booleans()))
    receiver = ToolCalls()
    calls = [Made("a", "f", text)]
    for event in openai_chat(calls, [(0, piece) for piece in data.draw(pieces(text))]):
        for wire in sender.feed(event):
            receiver.feed(wire)
        assert receiver.calls == sender.calls.calls
    assert receiver.calls[0].error and receiver.calls[0].error["code"] == "LIMIT_EXCEEDED"


@given(
    st.lists(
        st.fixed_dictionaries(
            {"kind": st.sampled_from(["tools_call_update", "tool_result", "tools_aggregate"])},
            optional={
                "messageId": st.one_of(st.sampled_from(["m", ""]), ANYTHING),
                "tool_call_updates": st.one_of(st.lists(ANYTHING, max_size=3), ANYTHING),
                "tool_calls": st.one_of(st.lists(ANYTHING, max_size=3), ANYTHING),
                "tool_results": st.one_of(st.lists(ANYTHING, max_size=2), ANYTHING),
                "tool_call_id": ANYTHING,
                "result": ANYTHING,
            },
        ),
        max_size=5,
    )
)
def test_no_event_from_the_wire_raises(events: list[Any]) -> None:
    line = Line()
    for event in events:
        line.feed(event)
    line.flush()
    for call in line.receiver.calls:
        assert call.status in ("complete", "error", "truncated")


FOREIGN = [case for case in CASES if "public generator" in case["name"]]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("case", FOREIGN, ids=lambda case: case["name"])
def test_what_the_public_generator_sent_can_be_sent_on(case: dict[str, Any], compact: bool) -> None:
    """Its partial texts are provisional: without text, a string goes on when it is complete."""
    sender, receiver = ToolCallEvents(compact=compact), ToolCalls()
    events = [step["event"] for step in case["steps"] if "event" in step]
    for event in events:
        for sent in sender.feed(event):
            receiver.feed(json.loads(json.dumps(sent)))
        if "without text" not in case["name"]:
            assert receiver.calls == sender.calls.calls
    for sent in sender.flush():
        receiver.feed(json.loads(json.dumps(sent)))
    assert [call.args for call in receiver.calls] == [call.args for call in sender.calls.calls]


def test_results_without_calls_are_not_kept_without_bound() -> None:
    calls = ToolCalls()
    for number in range(300):
        calls.answer(f"c{number}", number)
    for number in (0, 299):
        calls.feed(
            {
                "kind": "tools_call_update",
                "messageId": "m",
                "tool_call_updates": [{"tool_call_id": f"c{number}", "function_name": "f"}],
            }
        )
    assert [(call.answered, call.result) for call in calls.calls] == [(False, None), (True, 299)]


def test_a_call_without_a_path_is_complete_with_all_its_arguments() -> None:
    calls = ToolCalls()
    step = FOREIGN[0]["steps"]
    seen = []
    for event in (it["event"] for it in step):
        calls.feed(event)
        seen.append(calls.calls[0].is_complete())
    assert seen == [False] * (len(step) - 2) + [True, True]
