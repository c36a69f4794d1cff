"""Anthropic Messages: content blocks with an index, shared with the blocks of text.

Tools of the user, of the server and of MCP servers. The `input` in a block's start is a
placeholder, never text; only a non-empty one counts, and only if no delta follows.
"""

from __future__ import annotations

from typing import Any

from .deltas import (
    ABSENT,
    Begin,
    CallDelta,
    End,
    Finish,
    Result,
    Statement,
    a_text,
    an_id,
    an_index,
)

EVENTS = frozenset(
    "message_start content_block_start content_block_delta content_block_stop message_delta"
    " message_stop".split()
)
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
CUT = frozenset(("max_tokens", "model_context_window_exceeded", "refusal"))


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    return isinstance(kind, str) and kind in EVENTS


def translate(event: dict[str, Any]) -> list[Statement]:
    match event:
        case {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "input_json_delta", "partial_json": text},
        }:
            return [CallDelta(None, an_index(index), None, a_text(text))]
        case {
            "type": "content_block_start",
            "index": index,
            "content_block": dict(block),
        }:
            return _start(an_index(index), block)
        case {"type": "content_block_stop", "index": index}:
            return [CallDelta(None, an_index(index), opens=False, end=End(sure=False))]
        case {"type": "message_start", "message": {"id": message}}:
            return [Begin(an_id(message))]
        case {"type": "message_delta", "delta": {"stop_reason": str(reason)}}:
            return [Finish(cut=reason in CUT)]
        case {"type": "message_stop"}:
            return [Finish()]
        case {"type": "error"}:
            return [Finish(cut=True)]
        case _:
            return []


def _start(index: int | None, block: dict[str, Any]) -> list[Statement]:
    match block:
        case {"type": kind} if kind in CALLS:
            call = CallDelta(an_id(block.get("id")), index, a_text(block.get("name")))
            call.preset = block.get("input") or ABSENT
            return [call]
        case {"tool_use_id": str(call_id), "content": content}:
            return [Result(call_id, content, _is_error(block, content))]
        case _:
            return []


def _is_error(block: dict[str, Any], content: Any) -> bool:
    """MCP results have a flag; the server's tools answer with content of a type `…_error`."""
    kind = content.get("type") if isinstance(content, dict) else None
    return block.get("is_error") is True or (isinstance(kind, str) and kind.endswith("_error"))
