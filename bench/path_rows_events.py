"""Rows of the whole path from events to calls and bytes, their floors, and what others do instead.

Each maker returns works for one text: calls without arguments that read all of it, piece by piece,
and return the last value, so that it can be checked. What a work needs is made before it is timed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from .path_rows_core import CHUNK
from .shapes import pieces

Work = Callable[[], object]
TOOL: Final = "write_report"


def chunks(text: str) -> list[dict[str, Any]]:
    """A chat completion that calls a tool, whose arguments are this text."""
    events = [_chunk({"name": TOOL, "arguments": ""}, id="call_1", type="function")]
    events += [_chunk({"arguments": piece}) for piece in pieces(text)]
    end = _chunk({"arguments": ""})
    end["choices"][0] |= {"delta": {}, "finish_reason": "tool_calls"}
    return [*events, end]


def _chunk(function: dict[str, str], **fields: str) -> dict[str, Any]:
    chunk: dict[str, Any] = json.loads(CHUNK)
    chunk["choices"][0]["delta"] = {"tool_calls": [{"index": 0, **fields, "function": function}]}
    return chunk


def rows(jsonrill: Any, text: str) -> dict[str, Work]:
    """What jsonrill does with this text."""
    events, cut = chunks(text), pieces(text)
    stream = [f"data: {json.dumps(event)}\n\n".encode() for event in events]

    def calls(source: Sequence[Any]) -> Work:
        def read() -> object:
            reader = jsonrill.ToolCalls()
            for event in source:
                for update in reader.feed(event):
                    update.json_update_fragments  # noqa: B018
            return reader.calls[0].args

        return read

    def from_bytes() -> object:
        for update in jsonrill.tool_calls(iter(stream)):
            update.json_update_fragments  # noqa: B018
        return update.call.args

    def compact() -> object:
        parser, encoder = jsonrill.Parser(), jsonrill.wire.CompactEncoder()
        frames = jsonrill.eventstream.SSEEncoder()
        sent = []
        for piece in cut:
            if fragments := parser.feed(piece):
                sent.append(frames.feed(encoder.feed(fragments)))
        return sent

    works = {
        "`ToolCalls.feed`, dicts": calls(events),
        "`tool_calls()`, bytes of an event stream": from_bytes,
        "a compact event for each piece": compact,
    }
    if models := _models(events):
        works["`ToolCalls.feed`, objects of openai"] = calls(models)
    return works


def received(jsonrill: Any, sent: list[bytes]) -> object:
    """The value that a receiver makes of compact events."""
    decoder, rebuilder = jsonrill.eventstream.SSEDecoder(), jsonrill.Rebuilder()
    for block in sent:
        for event in decoder.feed(block):
            rebuilder.feed(json.loads(event.data))
    return rebuilder.value


def floors(text: str) -> dict[str, Work]:
    """The cheapest programs that make the same objects, by the row they belong to."""
    events, cut = chunks(text), pieces(text)

    class Update:
        __slots__ = ("call", "fragments", "text")

        def __init__(self, call: Any, text: str, fragments: list[Any]) -> None:
            self.call, self.text, self.fragments = call, text, fragments

    def calls() -> None:
        call: dict[str, str] = {"raw": ""}
        for event in events:
            for choice in event["choices"]:
                for delta in choice["delta"].get("tool_calls", ()):
                    arguments = delta["function"]["arguments"]
                    raw = call["raw"]
                    call["raw"] = ""
                    raw += arguments
                    call["raw"] = raw
                    Update(call, arguments, [Update(call, arguments, [])])

    def compact() -> None:
        for piece in cut:
            f'data: ["{piece}"]\n\n'.encode()

    return {"`ToolCalls.feed`, dicts": calls, "a compact event for each piece": compact}


def unit(text: str) -> Work:
    """`json.loads` of one chunk for each piece, so that machines can be compared."""
    count = len(pieces(text))

    def loads() -> None:
        for _ in range(count):
            json.loads(CHUNK)

    return loads


def _models(events: list[dict[str, Any]]) -> list[Any]:
    """The chunks as the client of OpenAI yields them; none where it is not installed."""
    try:
        chunk = import_module("openai.types.chat").ChatCompletionChunk
    except ModuleNotFoundError:
        return []
    return [chunk.construct(**event) for event in events]


# ---- what a user would do instead ----


def others(text: str) -> dict[str, Work]:
    """The same with the packages of others that are installed here."""
    works: dict[str, Work] = {}
    for maker in (_by_hand, _openai, _langchain, _pydantic, _instructor):
        try:
            works |= maker(text)
        except ModuleNotFoundError:
            continue
    return works


def _by_hand(text: str) -> dict[str, Work]:
    """The arguments gathered, and parsed again after each chunk by what pydantic has for it."""
    from_json = import_module("pydantic_core").from_json
    events, cut = chunks(text), pieces(text)

    def calls() -> object:
        so_far, value = "", None
        for event in events:
            for delta in event["choices"][0]["delta"].get("tool_calls", ()):
                so_far += delta["function"]["arguments"]
            if so_far:
                value = from_json(so_far, allow_partial="trailing-strings")
        return value

    def values() -> object:
        so_far, value = "", None
        for piece in cut:
            so_far += piece
            value = from_json(so_far, allow_partial="trailing-strings")
            f"data: {json.dumps(value)}\n\n".encode()
        return value

    return {
        "calls: `pydantic_core.from_json` of all so far": calls,
        "events: the value so far, parsed and sent again": values,
    }


def _openai(text: str) -> dict[str, Work]:
    """The helper of the client of OpenAI, told of the tool, so that it parses the arguments."""
    state_of = import_module("openai.lib.streaming.chat").ChatCompletionStreamState
    models = _models(chunks(text))
    function = {"name": TOOL, "strict": True, "parameters": {"type": "object"}}

    def calls() -> object:
        state = state_of(input_tools=[{"type": "function", "function": function}])
        for model in models:
            for _ in state.handle_chunk(model):
                pass
        call = state.current_completion_snapshot.choices[0].message.tool_calls[0]
        return call.function.parsed_arguments or json.loads(call.function.arguments)

    return {"calls: the helper of openai": calls}


def _langchain(text: str) -> dict[str, Work]:
    """Message chunks that are added up; their calls are parsed from all of the text so far."""
    message = import_module("langchain_core.messages").AIMessageChunk
    parts: list[Any] = [
        message(content="", tool_call_chunks=[_tool_chunk(piece, first=not at)])
        for at, piece in enumerate(pieces(text))
    ]

    def calls() -> object:
        whole = parts[0]
        for part in parts[1:]:
            whole += part
        return whole.tool_calls[0]["args"]

    return {"calls: message chunks of LangChain": calls}


def _tool_chunk(piece: str, *, first: bool) -> dict[str, Any]:
    named = {"name": TOOL, "id": "call_1"} if first else {"name": None, "id": None}
    return {"type": "tool_call_chunk", "index": 0, "args": piece, **named}


def _pydantic(text: str) -> dict[str, Work]:
    """Partial validation of all so far, which is what pydantic-ai does for structured output."""
    adapter = import_module("pydantic").TypeAdapter(import_module("bench.models").ReportSoFar)

    def typed() -> object:
        so_far, value = "", None
        for piece in pieces(text):
            so_far += piece
            value = adapter.validate_json(so_far, experimental_allow_partial="trailing-strings")
        return value

    return {"typed: partial validation of pydantic": typed}


def _instructor(text: str) -> dict[str, Work]:
    partial = import_module("instructor").Partial[import_module("bench.models").Report]
    cut = pieces(text)

    def typed() -> object:
        *_, value = partial.model_from_chunks(cut)
        return value.model_dump()

    return {"typed: Partial of instructor": typed}
