"""Build streams as the providers send them, from calls and an order of their pieces.

A script is a list of (which call, piece of its argument text). Every builder turns a script into
that provider's events: starts before a call's first piece, ends after its last one. Three calls
for them are at the end.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jsonrill import partial
from jsonrill.testing import Call
from support import CASES

Event = dict[str, Any]
Script = list[tuple[int, str]]


class Made(NamedTuple):
    """The call that the stream contains."""

    id: str
    name: str
    text: str


def in_a_row(calls: list[Made], size: int = 6) -> Script:
    """Return the calls one after another, in pieces of this size."""
    return [
        (number, call.text[at : at + size])
        for number, call in enumerate(calls)
        for at in range(0, len(call.text), size)
    ]


def shuffled(calls: list[Made], seed: int) -> Script:
    """Return pieces of random sizes with the calls interleaved; each call keeps its own order."""
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
    """Yield ("start" | "piece" | "end", index of the call, piece)."""
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
        call, where = calls[number], {"output_index": number}
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": call.id}
        item |= {"name": call.name, "arguments": "", "status": "in_progress"}
        named = where | {"item_id": f"fc_{number}"}
        whole = item | {"arguments": call.text, "status": "completed"}
        if what == "start":
            events.append({"type": "response.output_item.added", "item": item} | where)
        elif what == "piece":
            kind = "response.function_call_arguments.delta"
            events.append({"type": kind, "delta": piece} | named)
        else:
            kind = "response.function_call_arguments.done"
            events.append({"type": kind, "arguments": call.text} | named)
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
        call, where = calls[number], {"index": number + 1}
        if what == "start":
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
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
        call, where = calls[number], {"contentBlockIndex": number}
        if what == "start":
            start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
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
        call, where = calls[number], {"index": number}
        if what == "start":
            step = {"type": "function_call", "id": call.id, "name": call.name, "arguments": {}}
            events.append({"event_type": "step.start", "step": step} | where)
        elif what == "piece":
            delta = {"type": "arguments_delta", "arguments": piece}
            events.append({"event_type": "step.delta", "delta": delta} | where)
        else:
            events.append({"event_type": "step.stop"} | where)
    done = {"id": "i1", "status": "requires_action"}
    return [*events, {"event_type": "interaction.completed", "interaction": done}]


def mistral_chat(calls: list[Made], script: Script) -> list[Event]:
    """Return whole calls, all in one chunk."""
    whole = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.text}, "index": number}
        for number, call in enumerate(calls)
    ]
    first = _chunk({"role": "assistant", "content": ""}, None, "m1")
    return [first, _chunk({"content": "", "tool_calls": whole}, "tool_calls", "m1")]


def mistral_conversations(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "conversation.response.started", "conversation_id": "c"}]
    for number, piece in script:
        call = calls[number]
        event: Event = {"type": "function.call.delta", "id": f"fc{number}", "name": call.name}
        event |= {"tool_call_id": call.id, "arguments": piece, "output_index": number}
        events.append(event)
    return [*events, {"type": "conversation.response.done", "usage": {}}]


def vercel(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "start", "messageId": "m1"}, {"type": "start-step"}]
    for what, number, piece in steps(calls, script):
        call = calls[number]
        named = {"toolCallId": call.id}
        if what == "start":
            events.append({"type": "tool-input-start", "toolName": call.name} | named)
        elif what == "piece":
            events.append({"type": "tool-input-delta", "inputTextDelta": piece} | named)
        else:
            whole = {"toolName": call.name, "input": json.loads(call.text)}
            events.append({"type": "tool-input-available"} | named | whole)
    return [*events, {"type": "finish-step"}, {"type": "finish"}]


def ag_ui(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    for what, number, piece in steps(calls, script):
        call = calls[number]
        named = {"toolCallId": call.id}
        if what == "start":
            start = {"toolCallName": call.name, "parentMessageId": "m1"}
            events.append({"type": "TOOL_CALL_START"} | named | start)
        elif what == "piece":
            events.append({"type": "TOOL_CALL_ARGS", "delta": piece} | named)
        else:
            events.append({"type": "TOOL_CALL_END"} | named)
    return [*events, {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}]


def gemini_whole(calls: list[Made], script: Script) -> list[Event]:
    """Return the default of generateContent: whole calls with ids."""
    parts = [
        {"functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.text)}}
        for call in calls
    ]
    return [candidate(part) for part in parts] + [candidate({"text": ""}, "STOP")]


def candidate(part: Event, finish: str | None = None) -> Event:
    event: Event = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if finish is not None:
        event["finishReason"] = finish
    return {"candidates": [event], "responseId": "r1"}


def partial_args(value: Any, cut: int = 3, path: str = "$") -> Iterator[Event]:
    """Yield a value as `partialArgs`: strings in pieces, with and without an explicit end."""
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
    """Return the values of the calls one after the other, without ids."""
    events = []
    for call in calls:
        events.append(candidate({"functionCall": {"name": call.name, "willContinue": True}}))
        for part in partial_args(json.loads(call.text)):
            delta = {"partialArgs": [part], "willContinue": True}
            events.append(candidate({"functionCall": delta}))
        events.append(candidate({"functionCall": {}}))
    return [*events, candidate({"text": ""}, "STOP")]


def cohere(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = [{"type": "message-start", "id": "co1", "delta": {"message": {}}}]
    plan = {"message": {"tool_plan": "Look."}}
    events.append({"type": "tool-plan-delta", "delta": plan})
    for what, number, piece in steps(calls, script):
        call = calls[number]
        delta: Event = {"function": {"arguments": piece}}
        if what == "start":
            delta |= {"id": call.id, "type": "function"}
            delta["function"] |= {"name": call.name}
        event: Event = {
            "type": f"tool-call-{'delta' if what == 'piece' else what}",
            "index": number,
        }
        if what != "end":
            event["delta"] = {"message": {"tool_calls": delta}}
        events.append(event)
    usage = {"tokens": {"output_tokens": 9}}
    return [
        *events,
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}},
    ]


def ollama(calls: list[Made], script: Script) -> list[Event]:
    """Return complete calls; the second and later ones are in one event."""
    written = [
        {"id": call.id, "function": {"name": call.name, "arguments": json.loads(call.text)}}
        for call in calls
    ]
    sent = [written[:1], written[1:]]
    events: list[Event] = [
        {
            "model": "q",
            "created_at": "t",
            "message": {"role": "assistant", "content": "", "tool_calls": some},
            "done": False,
        }
        for some in sent
    ]
    last = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    return [*events, {"model": "q", "created_at": "t", "eval_count": 9} | last]


def _message_chunk(chunks: list[Event], **more: Any) -> Event:
    chunk = {"type": "AIMessageChunk", "id": "lc_run--1", "content": "", "tool_call_chunks": chunks}
    return chunk | {"response_metadata": {}} | more


def langchain(calls: list[Made], script: Script) -> list[Event]:
    events = [_message_chunk([], id="resp_l")]
    for what, number, piece in steps(calls, script):
        chunk: Event = {"type": "tool_call_chunk", "index": number, "args": piece}
        chunk |= {"id": None, "name": None}
        if what == "start":
            chunk |= {"id": calls[number].id, "name": calls[number].name, "args": ""}
        if what != "end":
            events.append(_message_chunk([chunk]))
    complete: Event = {"type": "ai", "id": "lc_run--1", "content": "", "tool_calls": []}
    complete["tool_calls"] = [
        {"type": "tool_call", "id": call.id, "name": call.name, "args": json.loads(call.text)}
        for call in calls
    ]
    last = _message_chunk([], response_metadata={"finish_reason": "tool_calls"})
    return [*events, last, _message_chunk([], chunk_position="last"), complete]


def langgraph(calls: list[Made], script: Script) -> list[Event]:
    about = {"langgraph_node": "model", "langgraph_checkpoint_ns": "model:1"}
    asked = {"type": "human", "id": "h1", "content": "hi"}
    text = json.dumps(langchain(calls, script)).replace("run--1", "run--2")
    *chunks, complete = json.loads(text.replace("resp_l", "resp_g"))
    first = {"type": "values", "ns": [], "data": {"messages": [asked]}}
    sent: list[Event] = [{"type": "messages", "ns": [], "data": [chunk, about]} for chunk in chunks]
    updates = {"type": "updates", "ns": [], "data": {"model": {"messages": [complete]}}}
    values = {"type": "values", "ns": [], "data": {"messages": [asked, complete]}}
    return [first, *sent, updates, values]


def pydantic_ai(calls: list[Made], script: Script) -> list[Event]:
    events: list[Event] = []
    for what, number, piece in steps(calls, script):
        call = calls[number]
        part = {"part_kind": "tool-call", "tool_name": call.name, "tool_call_id": call.id}
        if what == "start":
            started = part | {"args": None}
            events.append({"event_kind": "part_start", "index": number, "part": started})
        elif what == "piece":
            delta = {"part_delta_kind": "tool_call", "args_delta": piece, "tool_call_id": call.id}
            events.append({"event_kind": "part_delta", "index": number, "delta": delta})
        else:
            ended = part | {"args": call.text}
            events.append({"event_kind": "part_end", "index": number, "part": ended})
    called = [
        {
            "event_kind": "function_tool_call",
            "part": {
                "part_kind": "tool-call",
                "tool_name": call.name,
                "tool_call_id": call.id,
                "args": call.text,
            },
        }
        for call in calls
    ]
    return [*events, *called, {"event_kind": "agent_run_result", "result": {}}]


def openai_agents(calls: list[Made], script: Script) -> list[Event]:
    text = json.dumps(openai_responses(calls, script)).replace("resp_1", "resp_a")
    for number in range(len(calls)):
        text = text.replace(f'"fc_{number}"', '"__fake_id__"')
    events: list[Event] = [
        {"type": "raw_response_event", "data": event} for event in json.loads(text)
    ]
    for call in calls:
        item = {"type": "function_call", "call_id": call.id, "id": "__fake_id__"}
        item |= {"name": call.name, "arguments": call.text}
        called = {"type": "tool_call_item", "raw_item": item}
        events.append({"type": "run_item_stream_event", "name": "tool_called", "item": called})
    return [{"type": "agent_updated_stream_event"}, *events]


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
    "cohere": cohere,
    "langchain": langchain,
    "langgraph": langgraph,
    "pydantic_ai": pydantic_ai,
    "openai_agents": openai_agents,
}
BUILDERS: dict[str, Builder] = INTERLEAVING | {
    "mistral_chat": mistral_chat,
    "gemini_whole": gemini_whole,
    "gemini_partial": gemini_partial,
    "ollama": ollama,
}


def call_stream(
    provider: str,
    calls: Iterable[Call | tuple[str, Any]],
    *,
    size: int = 6,
    seed: int | None = None,
) -> list[Event]:
    """Return the events that a provider sends for these calls, as decoded JSON.

    The arguments come in pieces of `size` characters, one call after the other; with a `seed`, in
    pieces of random sizes, the calls interleaved where the provider does that. `BUILDERS` has the
    names: one for each form that a provider's events have.
    """
    described = [call if isinstance(call, Call) else Call(*call) for call in calls]
    identified = [
        Made(call.id or f"call_{at}", call.name, call.text) for at, call in enumerate(described)
    ]
    return BUILDERS[provider](
        identified, in_a_row(identified, size) if seed is None else shuffled(identified, seed)
    )


WEATHER = Made("call_a", "get_weather", '{"city":"S\\u00e3o Paulo","days":3}')
SEARCH = Made("call_b", "search", '{"q":"a\\nb","tags":["x",{"y":null},[],-0.5e1]}')
PING = Made("call_c", "ping", "{}")
TWO = [WEATHER, SEARCH]
THREE = [WEATHER, SEARCH, PING]


STREAMS = {name: build(THREE, shuffled(THREE, 5)) for name, build in BUILDERS.items()}


def mutate(event: Any, chance: random.Random, junk: Any) -> Any:
    """Return an event in which one value is replaced, removed or put under another key."""
    if isinstance(event, dict) and event and chance.random() < 0.8:
        key = chance.choice(sorted(event))
        copied = dict(event)
        match chance.randint(0, 5):
            case 0:
                del copied[key]
            case 1:
                copied[key] = junk
            case _:
                copied[key] = mutate(event[key], chance, junk)
        return copied
    if isinstance(event, list) and event and chance.random() < 0.8:
        at = chance.randrange(len(event))
        return [*event[:at], mutate(event[at], chance, junk), *event[at + 1 :]]
    return junk


# The recorded cases with text in addition to their calls, and those without an end.
LOOKING = ("anthropic_fine_grained_truncated", "anthropic_messages")
ENDLESS = (
    *("ag_ui_chunks", "gemini_interactions_api", "gemini_vertex_partial_args"),
    *("gemini_whole_args", "mistral_conversations", "openai_responses"),
)


class Answer(NamedTuple):
    """A stream and its content: `text` of choice 0, `calls` as (name, args, status), its end."""

    events: list[Event]
    text: str = ""
    calls: list[tuple[str, Any, str]] = []
    end: str | None = "complete"
    # How the event stream shows that nothing follows: "event", "[DONE]", or not at all.
    marks_end: str = ""


def answer_from_case(case: dict[str, Any]) -> Answer:
    calls = [(name, args, status) for name, args, status in case["calls"]]
    return Answer(case["events"], case["text"], calls, case["end"], case["marks_end"])


def answer_from_file(file: Path) -> Answer:
    stream = json.loads(file.read_text("utf8"))
    calls = []
    for call in stream["expected_calls"]:
        args = call["args"] if "args" in call else partial(call["args_text"])
        calls.append((call["name"], args, call.get("state", "complete")))
    text = "Let me look." if file.stem in LOOKING else ""
    usual = "length" if file.stem.endswith("truncated") else "calls"
    end = None if file.stem in ENDLESS else stream.get("expected_end", usual)
    return Answer(stream["events"], stream.get("expected_text", text), calls, end)


_CASES = json.loads((CASES / "answers.json").read_text("utf8"))["cases"]
ANSWERS: dict[str, Answer] = {
    **{case["name"]: answer_from_case(case) for case in _CASES},
    **{file.stem: answer_from_file(file) for file in sorted((CASES / "providers").glob("*.json"))},
}
