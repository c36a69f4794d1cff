"""Streams as the providers send them, built from calls and from an order of their pieces.

A script is a list of (which call, piece of its argument text). Every builder turns a script into
that provider's events: starts before a call's first piece, ends after its last one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Event = dict[str, Any]
Script = list[tuple[int, str]]


class Made(NamedTuple):
    """A call as the model meant it."""

    id: str
    name: str
    text: str


WEATHER = Made("call_a", "get_weather", '{"city":"S\\u00e3o Paulo","days":3}')
SEARCH = Made("call_b", "search", '{"q":"a\\nb","tags":["x",{"y":null},[],-0.5e1]}')
PING = Made("call_c", "ping", "{}")
TWO = [WEATHER, SEARCH]
THREE = [WEATHER, SEARCH, PING]


def in_a_row(calls: list[Made], size: int = 6) -> Script:
    """One call after the other, in pieces of this size."""
    return [
        (number, call.text[at : at + size])
        for number, call in enumerate(calls)
        for at in range(0, len(call.text), size)
    ]


def shuffled(calls: list[Made], seed: int) -> Script:
    """Pieces of random sizes, the calls interleaved at random; each call's own order is kept."""
    chance = random.Random(seed)
    left = {number: call.text for number, call in enumerate(calls)}
    script: Script = []
    while left:
        number = chance.choice(sorted(left))
        size = chance.randint(0, 7)
        script.append((number, left[number][:size]))
        left[number] = left[number][size:]
        if not left[number]:
            del left[number]
    return script


def steps(calls: list[Made], script: Script) -> Iterator[tuple[str, int, str]]:
    """("start" | "piece" | "end", which call, piece)"""
    last = {number: at for at, (number, _) in enumerate(script)}
    started: set[int] = set()
    for at, (number, piece) in enumerate(script):
        if number not in started:
            started.add(number)
            yield "start", number, ""
        yield "piece", number, piece
        if last[number] == at:
            yield "end", number, ""


def _chunk(delta: Event, finish: str | None = None, message: str = "chatcmpl-1") -> Event:
    return {
        "id": message,
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def openai_chat(calls: list[Made], script: Script, message: str = "chatcmpl-1") -> list[Event]:
    events = [_chunk({"role": "assistant", "content": None}, None, message)]
    for what, number, piece in steps(calls, script):
        call: Event = {"index": number, "function": {"arguments": piece}}
        if what == "start":
            call |= {"id": calls[number].id, "type": "function"}
            call["function"] |= {"name": calls[number].name}
        if what != "end":
            events.append(_chunk({"tool_calls": [call]}, None, message))
    return [*events, _chunk({}, "tool_calls", message)]


def openai_responses(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "response.created", "response": {"id": "resp_1"}}]
    for what, number, piece in steps(calls, script):
        made, where = calls[number], {"output_index": number}
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": made.id}
        item |= {"name": made.name, "arguments": "", "status": "in_progress"}
        named = where | {"item_id": f"fc_{number}"}
        whole = item | {"arguments": made.text, "status": "completed"}
        if what == "start":
            events.append({"type": "response.output_item.added", "item": item} | where)
        elif what == "piece":
            kind = "response.function_call_arguments.delta"
            events.append({"type": kind, "delta": piece} | named)
        else:
            kind = "response.function_call_arguments.done"
            events.append({"type": kind, "arguments": made.text} | named)
            events.append({"type": "response.output_item.done", "item": whole} | where)
    events.append({"type": "response.completed", "response": {"id": "resp_1"}})
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def anthropic(calls: list[Made], script: Script, stop: str = "tool_use") -> list[Event]:
    message: Event = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
    }
    message |= {"stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    events: list[Event] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hm"}},
        {"type": "content_block_stop", "index": 0},
    ]
    for what, number, piece in steps(calls, script):
        made, where = calls[number], {"index": number + 1}
        if what == "start":
            block = {"type": "tool_use", "id": made.id, "name": made.name, "input": {}}
            events.append({"type": "content_block_start", "content_block": block} | where)
        elif what == "piece":
            delta = {"type": "input_json_delta", "partial_json": piece}
            events.append({"type": "content_block_delta", "delta": delta} | where)
        else:
            events.append({"type": "content_block_stop"} | where)
    stopped = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 9}})
    return [*events, {"type": "message_stop"}]


def bedrock(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"messageStart": {"role": "assistant"}}]
    for what, number, piece in steps(calls, script):
        made, where = calls[number], {"contentBlockIndex": number}
        if what == "start":
            start = {"toolUse": {"toolUseId": made.id, "name": made.name}}
            events.append({"contentBlockStart": {"start": start} | where})
        elif what == "piece":
            delta = {"toolUse": {"input": piece}}
            events.append({"contentBlockDelta": {"delta": delta} | where})
        else:
            events.append({"contentBlockStop": where})
    events.append({"messageStop": {"stopReason": "tool_use"}})
    return [*events, {"metadata": {"usage": {"inputTokens": 1}}}]


def gemini_interactions(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"event_type": "interaction.created", "interaction": {"id": "i1"}}]
    for what, number, piece in steps(calls, script):
        made, where = calls[number], {"index": number}
        if what == "start":
            step = {"type": "function_call", "id": made.id, "name": made.name, "arguments": {}}
            events.append({"event_type": "step.start", "step": step} | where)
        elif what == "piece":
            delta = {"type": "arguments_delta", "arguments": piece}
            events.append({"event_type": "step.delta", "delta": delta} | where)
        else:
            events.append({"event_type": "step.stop"} | where)
    done = {"id": "i1", "status": "requires_action"}
    return [*events, {"event_type": "interaction.completed", "interaction": done}]


def mistral_chat(calls: list[Made], script: Script) -> list[Event]:
    """Whole calls, all in one chunk."""
    whole = [
        {"id": made.id, "function": {"name": made.name, "arguments": made.text}, "index": number}
        for number, made in enumerate(calls)
    ]
    first = _chunk({"role": "assistant", "content": ""}, None, "m1")
    return [first, _chunk({"content": "", "tool_calls": whole}, "tool_calls", "m1")]


def mistral_conversations(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "conversation.response.started", "conversation_id": "c"}]
    for number, piece in script:
        made = calls[number]
        event: Event = {"type": "function.call.delta", "id": f"fc{number}", "name": made.name}
        event |= {"tool_call_id": made.id, "arguments": piece, "output_index": number}
        events.append(event)
    return [*events, {"type": "conversation.response.done", "usage": {}}]


def vercel(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "start", "messageId": "m1"}, {"type": "start-step"}]
    for what, number, piece in steps(calls, script):
        made = calls[number]
        named = {"toolCallId": made.id}
        if what == "start":
            events.append({"type": "tool-input-start", "toolName": made.name} | named)
        elif what == "piece":
            events.append({"type": "tool-input-delta", "inputTextDelta": piece} | named)
        else:
            whole = {"toolName": made.name, "input": json.loads(made.text)}
            events.append({"type": "tool-input-available"} | named | whole)
    return [*events, {"type": "finish-step"}, {"type": "finish"}]


def ag_ui(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    for what, number, piece in steps(calls, script):
        made = calls[number]
        named = {"toolCallId": made.id}
        if what == "start":
            start = {"toolCallName": made.name, "parentMessageId": "m1"}
            events.append({"type": "TOOL_CALL_START"} | named | start)
        elif what == "piece":
            events.append({"type": "TOOL_CALL_ARGS", "delta": piece} | named)
        else:
            events.append({"type": "TOOL_CALL_END"} | named)
    return [*events, {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}]


def gemini_whole(calls: list[Made], script: Script) -> list[Event]:
    """The default of generateContent: whole calls with ids."""
    parts = [
        {"functionCall": {"id": made.id, "name": made.name, "args": json.loads(made.text)}}
        for made in calls
    ]
    return [candidate(part) for part in parts] + [candidate({"text": ""}, "STOP")]


def candidate(part: Event, finish: str | None = None) -> Event:
    event: Event = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if finish is not None:
        event["finishReason"] = finish
    return {"candidates": [event], "responseId": "r1"}


def partial_args(value: Any, cut: int = 3, path: str = "$") -> Iterator[Event]:
    """A value as `partialArgs`: strings in pieces, with and without an end of their own."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            step = f".{key}" if key.isidentifier() else f"['{_escaped(key)}']"
            yield from partial_args(item, cut, path + step)
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from partial_args(item, cut, f"{path}[{number}]")
    elif isinstance(value, str):
        pieces = [value[at : at + cut] for at in range(0, len(value), cut)]
        for piece in pieces:
            yield {"jsonPath": path, "stringValue": piece, "willContinue": True}
        yield {"jsonPath": path, "stringValue": ""}
    elif isinstance(value, bool):
        yield {"jsonPath": path, "boolValue": value}
    elif value is None:
        yield {"jsonPath": path, "nullValue": "NULL_VALUE"}
    elif isinstance(value, (int, float)):
        yield {"jsonPath": path, "numberValue": value}
    else:
        yield {"jsonPath": path + "[]" if isinstance(value, list) else path}


def _escaped(key: str) -> str:
    return json.dumps(key)[1:-1].replace('\\"', '"').replace("'", "\\'")


def gemini_partial(calls: list[Made], script: Script) -> list[Event]:
    """The values of the calls one after the other, without ids."""
    events = []
    for made in calls:
        events.append(candidate({"functionCall": {"name": made.name, "willContinue": True}}))
        for part in partial_args(json.loads(made.text)):
            call = {"partialArgs": [part], "willContinue": True}
            events.append(candidate({"functionCall": call}))
        events.append(candidate({"functionCall": {}}))
    return [*events, candidate({"text": ""}, "STOP")]


Builder = Callable[[list[Made], Script], list[Event]]

# Builders whose deltas are argument text and name their call: any interleaving of them is legal.
INTERLEAVING: dict[str, Builder] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "bedrock": bedrock,
    "gemini_interactions": gemini_interactions,
    "mistral_conversations": mistral_conversations,
    "vercel": vercel,
    "ag_ui": ag_ui,
}
BUILDERS: dict[str, Builder] = INTERLEAVING | {
    "mistral_chat": mistral_chat,
    "gemini_whole": gemini_whole,
    "gemini_partial": gemini_partial,
}
# The page of `providers/` that reads a builder's events.
PAGE_OF = {
    "gemini_interactions": "gemini",
    "gemini_whole": "gemini",
    "gemini_partial": "gemini",
    "mistral_chat": "mistral",
    "mistral_conversations": "mistral",
}


STREAMS = {name: build(THREE, shuffled(THREE, 5)) for name, build in BUILDERS.items()}


def mutated(event: Any, chance: random.Random, junk: Any) -> Any:
    """One place of an event replaced, removed or put under another key."""
    if isinstance(event, dict) and event and chance.random() < 0.8:
        key = chance.choice(sorted(event))
        copied = dict(event)
        match chance.randint(0, 5):
            case 0:
                del copied[key]
            case 1:
                copied[key] = junk
            case _:
                copied[key] = mutated(event[key], chance, junk)
        return copied
    if isinstance(event, list) and event and chance.random() < 0.8:
        at = chance.randrange(len(event))
        return [*event[:at], mutated(event[at], chance, junk), *event[at + 1 :]]
    return junk
