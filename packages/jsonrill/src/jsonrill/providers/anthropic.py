"""Anthropic Messages: content blocks with an index: text, thoughts, calls and results.

The user, the provider or an MCP server runs the tools. The `input` in a block's start counts only
if it is not empty and no delta follows: otherwise it is a placeholder.
"""

from __future__ import annotations

from typing import Any

from ..paths import ABSENT
from .fields import as_id, as_index, as_object, as_text, failed, finished, typed, usage
from .statements import Begin, CallDelta, End, Finish, Keep, Reasoning, Result, Statement, Text

CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
# Known deltas that are not part of a call.
DELTAS = ("text_delta", "thinking_delta", "signature_delta", "citations_delta")

accepts = typed("content_block_", "message_start", "message_delta", "message_stop")


def translate(event: dict[str, Any]) -> list[Statement]:
    index = as_index(event, "index")
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
            return [*usage(event, "usage"), finished(reason)]
        case {"type": "message_stop"}:
            return [Finish()]
        case {"type": "error"}:
            return [failed(event.get("error"))]
    return []


def _message(message: dict[str, Any]) -> list[Statement]:
    """Return the statements of a message's start, which may already contain all of the content."""
    statements = [Begin(as_id(message, "id")), *usage(message, "usage")]
    match message:
        case {"content": [_, *_] as blocks}:
            for index, block in enumerate(blocks):
                statements += _start(index, block if isinstance(block, dict) else {})
            if reason := as_text(message, "stop_reason"):
                statements.append(finished(reason))
    return statements


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    match delta:
        case {"type": "input_json_delta"} if index is not None and "partial_json" in delta:
            # The block's start decides what this is: results may come as JSON, too.
            return [CallDelta(None, index, None, as_text(delta, "partial_json"), opens=False)]
        case {"type": "text_delta", "text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"type": "thinking_delta", "thinking": str(text)} if text:
            return [Reasoning(text, 0, index)]
        case {"type": "signature_delta"}:
            return _signature(index, delta)
    return [] if delta.get("type") in DELTAS else [CallDelta(None, index, opens=False, unread=True)]


def _start(index: int | None, block: dict[str, Any]) -> list[Statement]:
    match block:
        case {"type": kind} if kind in CALLS:
            call = CallDelta(as_id(block, "id"), index, as_text(block, "name"))
            call.hosted, call.preset = kind != "tool_use", block.get("input") or ABSENT
            return [call, Keep(block, index)] if call.hosted else [call]
        case {"type": "text", "text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"type": "thinking", "thinking": str(text)} if text:
            return [Reasoning(text, 0, index), *_signature(index, block)]
        case {"tool_use_id": str(id), "content": content}:
            # MCP has a flag for errors, server tools have content of a type `…_error`.
            is_error = str(as_object(block, "content").get("type")).endswith("_error")
            is_error = is_error or block.get("is_error") is True
            return [Result(id, content, is_error), Keep(block, index)]
        case {"type": "redacted_thinking"}:
            return [Keep(block, index)]
    return []


def _signature(index: int | None, thoughts: dict[str, Any]) -> list[Statement]:
    signature = as_text(thoughts, "signature")
    block = {"type": "thinking", "thinking": "", "signature": signature}
    return [Keep(block, index)] if signature else []
