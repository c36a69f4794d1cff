"""jsonrill's own wire events, which `toolcalls/wire.py` writes.

`tools_call_update` (deltas, with fragments), `tool_result`, `tools_aggregate` (the final state of a
message). The fields of calls are in snake_case; camelCase is read, too.

LmDotnetTools (docs/origins.md), which defined these events, sends an envelope, with the fields in
`payload`. A later version sends `tool_call_update`, one call at a time, and `tool_call_result`.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from ..errors import Problem
from ..paths import ABSENT
from .fields import as_id, as_index, as_object, as_text, first, items
from .statements import Aggregate, CallDelta, Result, Statement

UPDATES: Final = ("tools_call_update", "tool_call_update")
RESULTS: Final = ("tool_result", "tool_call_result")
KINDS: Final = (*UPDATES, *RESULTS, "tools_aggregate")
ENDED: Final = ("complete", "error", "truncated")
# The timestamp in a message's id, which LmDotnetTools changes with each chunk.
_TIME: Final = re.compile("-[0-9A-F]{15}(?=-)")


def accepts(event: dict[str, Any]) -> bool:
    return first(event, "kind", "$type") in KINDS


def translate(event: dict[str, Any]) -> list[Statement]:
    kind, payload = first(event, "kind", "$type"), as_object(event, "payload")
    message = as_id(event, "messageId", "generation_id")
    if payload:
        event, message = payload, message and _TIME.sub("", message)
    if kind in UPDATES:
        single = event.get("toolCallUpdate", event if kind == "tool_call_update" else None)
        updates = items({"": event.get("tool_call_updates", [single])}, "")
        return [_call(call, message) for call in updates]
    if kind in RESULTS:
        return [_result(event)]
    if kind == "tools_aggregate":
        calls = items(event, "tool_calls", "toolCalls")
        results = items(event, "tool_results", "toolResults")
        final = [_call(call, message, final=True) for call in calls]
        is_cut = any(call.status == "truncated" for call in final)
        aggregate = Aggregate(message, 0, "lost" if is_cut else None, calls=final)
        return [aggregate, *map(_result, results)]
    return []


def _call(call: dict[str, Any], message: str | None, *, final: bool = False) -> CallDelta:
    """Return a delta with its fragments, or the final state of a call with its value."""
    fragments, error, status = map(call.get, ("json_update_fragments", "error", "status"))
    id, index = as_id(call, "tool_call_id", "toolCallId"), as_index(call, "index")
    name, text = as_text(call, "function_name"), as_text(call, "function_args")
    delta = CallDelta(id, index, name, text, message, received=True)
    delta.free = call.get("encoding") == "text"
    delta.status = status if status in ENDED else None
    delta.error = cast(Problem, error) if isinstance(error, dict) else None
    if final:
        delta.value = call.get("args", ABSENT)
    elif isinstance(fragments, list):
        delta.fragments = fragments
    return delta


def _result(result: dict[str, Any]) -> Result:
    call = as_id(result, "tool_call_id", "toolCallId")
    return Result(call, result.get("result"), first(result, "is_error", "isError") is True)
