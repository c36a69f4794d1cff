"""jsonrill's own wire events, which `toolcalls/wire.py` writes.

`tools_call_update` (deltas with their fragments), `tool_result`, `tools_aggregate` (the final state
of a message). The fields of calls are in snake_case; camelCase is read, too.
"""

from __future__ import annotations

from typing import Any

from .fields import ABSENT, as_id, as_index, as_text, either, items
from .statements import Aggregate, CallDelta, Result, Statement

KINDS = ("tools_call_update", "tool_result", "tools_aggregate")
ENDED = ("complete", "error", "truncated")


def accepts(event: dict[str, Any]) -> bool:
    return event.get("kind") in KINDS


def translate(event: dict[str, Any]) -> list[Statement]:
    message = as_id(event.get("messageId"))
    match event.get("kind"):
        case "tools_call_update":
            return [_call(call, message) for call in items(event.get("tool_call_updates"))]
        case "tool_result":
            return [_result(event)]
        case "tools_aggregate":
            calls = items(either(event, "tool_calls", "toolCalls"))
            results = items(either(event, "tool_results", "toolResults"))
            aggregate = Aggregate(message, [_call(call, message, final=True) for call in calls])
            return [aggregate, *map(_result, results)]
        case _:
            return []


def _call(call: dict[str, Any], message: str | None, *, final: bool = False) -> CallDelta:
    """A delta with its fragments, or the final state of a call with its value."""
    fragments, error, status = map(call.get, ("json_update_fragments", "error", "status"))
    return CallDelta(
        as_id(either(call, "tool_call_id", "toolCallId")),
        as_index(call.get("index")),
        as_text(call.get("function_name")),
        as_text(call.get("function_args")),
        message,
        free=call.get("encoding") == "text",
        value=call.get("args", ABSENT) if final else ABSENT,
        received=True,
        fragments=fragments if isinstance(fragments, list) and not final else None,
        status=status if status in ENDED else None,
        error=error if isinstance(error, dict) else None,
    )


def _result(result: dict[str, Any]) -> Result:
    call = as_id(either(result, "tool_call_id", "toolCallId"))
    failed = either(result, "is_error", "isError") is True
    return Result(call, result.get("result"), failed)
