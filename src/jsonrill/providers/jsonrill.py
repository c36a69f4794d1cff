"""jsonrill's own wire events: what another jsonrill says of its calls.

`tools_call_update` (deltas with their fragments), `tool_result`, `tools_aggregate` (the final state
of a message). Field names of calls are in snake_case; the camelCase of others is read too.
"""

from __future__ import annotations

from typing import Any

from .fields import ABSENT, as_id, as_index, as_text, items
from .statements import Aggregate, CallDelta, Result, Statement

KINDS = ("tools_call_update", "tool_result", "tools_aggregate")
ENDED = ("complete", "error", "truncated")


def accepts(event: dict[str, Any]) -> bool:
    return event.get("kind") in KINDS


def translate(event: dict[str, Any]) -> list[Statement]:
    message = as_id(event.get("messageId"))
    match event.get("kind"):
        case "tools_call_update":
            return [_update(call, message) for call in items(event.get("tool_call_updates"))]
        case "tool_result":
            return _result(event)
        case "tools_aggregate":
            calls = [_whole(call, message) for call in items(_of(event, "tool_calls", "toolCalls"))]
            results = items(_of(event, "tool_results", "toolResults"))
            said: list[Statement] = [Aggregate(message, calls)]
            return [*said, *(found for result in results for found in _result(result))]
        case _:
            return []


def _update(call: dict[str, Any], message: str | None) -> CallDelta:
    fragments, error = call.get("json_update_fragments"), call.get("error")
    return CallDelta(
        *_who(call),
        as_text(call.get("function_args")),
        message,
        free=call.get("encoding") == "text",
        received=True,
        fragments=fragments if isinstance(fragments, list) else None,
        status=_status(call),
        error=error if isinstance(error, dict) else None,
    )


def _whole(call: dict[str, Any], message: str | None) -> CallDelta:
    error = call.get("error")
    return CallDelta(
        *_who(call),
        as_text(call.get("function_args")),
        message,
        free=call.get("encoding") == "text",
        received=True,
        value=call.get("args", ABSENT),
        status=_status(call) or "complete",
        error=error if isinstance(error, dict) else None,
    )


def _who(call: dict[str, Any]) -> tuple[str | None, int | None, str | None]:
    return (
        as_id(_of(call, "tool_call_id", "toolCallId")),
        as_index(call.get("index")),
        as_text(call.get("function_name")),
    )


def _status(call: dict[str, Any]) -> str | None:
    status = call.get("status")
    return status if status in ENDED else None


def _result(result: dict[str, Any]) -> list[Statement]:
    call = as_id(_of(result, "tool_call_id", "toolCallId"))
    failed = _of(result, "is_error", "isError") is True
    return [Result(call, result.get("result"), failed)]


def _of(holder: dict[str, Any], snake: str, camel: str) -> Any:
    value = holder.get(snake)
    return holder.get(camel) if value is None else value
