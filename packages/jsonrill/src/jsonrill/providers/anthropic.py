"""Anthropic Messages: content blocks with an index, of text, of thoughts and of calls.

Tools of the user, of the server and of MCP servers. The `input` in a block's start is a
placeholder, never text; only a non-empty one counts, and only if no delta follows.
"""

from __future__ import annotations

from typing import Any

from .common import as_usage, failed, finished, unread
from .fields import ABSENT, as_id, as_index, as_object, as_text, typed
from .statements import Begin, CallDelta, End, Finish, Keep, Reasoning, Result, Statement, Text

CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
# The deltas that are known and say nothing of a call.
DELTAS = ("text_delta", "thinking_delta", "signature_delta", "citations_delta")


accepts = typed("content_block_", "message_start", "message_delta", "message_stop")


def translate(event: dict[str, Any]) -> list[Statement]:
    index = as_index(event.get("index"))
    match event:
        case {"type": "content_block_delta", "delta": dict(delta)}:
            return _delta(index, delta)
        case {"type": "content_block_start", "content_block": dict(block)}:
            return _start(index, block)
        case {"type": "content_block_stop"} if index is not None:
            return [CallDelta(None, index, opens=False, end=End())]
        case {"type": "message_start", "message": dict(message)}:
            return _message(message)
        case {"type": "message_delta", "delta": {"stop_reason": str(reason)}}:
            return [*as_usage(event.get("usage")), finished(reason)]
        case {"type": "message_stop"}:
            return [Finish(last=True)]
        case {"type": "error"}:
            return [failed(event.get("error"))]
        case _:
            return []


def _message(message: dict[str, Any]) -> list[Statement]:
    """The start of a message; that of a call which code of the model makes has all of it."""
    statements = [Begin(as_id(message.get("id"))), *as_usage(message.get("usage"))]
    match message:
        case {"content": [_, *_] as blocks}:
            for index, block in enumerate(blocks):
                statements += _start(index, as_object(block))
            if reason := as_text(message.get("stop_reason")):
                statements.append(finished(reason))
    return statements


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    match delta:
        case {"type": "input_json_delta", "partial_json": text} if index is not None:
            # The block before it says what it is: a result, too, may come as JSON.
            return [CallDelta(None, index, None, as_text(text), opens=False)]
        case {"type": "text_delta", "text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"type": "thinking_delta", "thinking": str(text)} if text:
            return [Reasoning(text, 0, index)]
        case {"type": "signature_delta"}:
            return _signature(index, delta)
        case {"type": str(kind)} if kind in DELTAS:
            return []
        case _:
            return unread(index)


def _start(index: int | None, block: dict[str, Any]) -> list[Statement]:
    match block:
        case {"type": kind} if kind in CALLS:
            preset = block.get("input") or ABSENT
            hosted = kind != "tool_use"
            call = CallDelta(
                as_id(block.get("id")),
                index,
                as_text(block.get("name")),
                hosted=hosted,
                preset=preset,
            )
            return [call, Keep(block, index)] if hosted else [call]
        case {"type": "text", "text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"type": "thinking", "thinking": str(text)} if text:
            return [Reasoning(text, 0, index), *_signature(index, block)]
        case {"tool_use_id": str(call_id), "content": content}:
            return [Result(call_id, content, _is_error(block, content)), Keep(block, index)]
        case {"type": "redacted_thinking"}:
            return [Keep(block, index)]
        case _:
            return []


def _signature(index: int | None, thoughts: dict[str, Any]) -> list[Statement]:
    signature = as_text(thoughts.get("signature"))
    return (
        [Keep({"type": "thinking", "thinking": "", "signature": signature}, index)]
        if signature
        else []
    )


def _is_error(block: dict[str, Any], content: Any) -> bool:
    """True for a result with a flag (MCP), or with content of a type `…_error` (server tools)."""
    kind = as_text(as_object(content).get("type")) or ""
    return block.get("is_error") is True or kind.endswith("_error")
