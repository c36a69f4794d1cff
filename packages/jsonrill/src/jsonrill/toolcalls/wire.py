"""Tool calls over the wire: provider events in, jsonrill's own events out, as dicts for JSON.

`providers/jsonrill.py` reads these events: a `ToolCalls` that is fed them equals the sender's after
every event.
"""

from __future__ import annotations

from typing import Any

from ..providers.statements import Finish
from .call import ToolCall
from .calls import ToolCalls, ToolCallUpdate


class ToolCallEvents:
    """Turns provider events into `tools_call_update`, `tool_result` and, when a response has ended,
    `tools_aggregate` events.
    """

    def __init__(self, calls: ToolCalls | None = None) -> None:
        self.calls = ToolCalls() if calls is None else calls
        # The error that the provider has reported.
        self.failure: str | None = None

    def feed(self, event: Any) -> list[dict[str, Any]]:
        """Return the wire events that one event of the provider makes."""
        statements = self.calls.reader.feed(event)
        for statement in statements:
            if isinstance(statement, Finish) and statement.reason == "error":
                self.failure = self.failure or statement.detail
        return self._events(self.calls.read(statements))

    def flush(self, *message_ids: str) -> list[dict[str, Any]]:
        """Return the wire events at the end of the stream: how the open calls have ended."""
        return self._events(self.calls.flush(*message_ids))

    def answer(self, id: str, result: Any, *, is_error: bool = False) -> list[dict[str, Any]]:
        """Return the wire events of a tool's result that the provider's stream does not carry."""
        return self._events(self.calls.answer(id, result, is_error=is_error))

    def _events(self, updates: list[ToolCallUpdate]) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        for update in updates:
            if update.is_result:
                events.append(_message("tool_result", update.message_id, **_result(update.call)))
                continue
            last = events[-1] if events else {}
            if "tool_call_updates" in last and last["messageId"] == update.message_id:
                last["tool_call_updates"].append(update.to_wire())
            else:
                fields = {"tool_call_updates": [update.to_wire()]}
                events.append(_message("tools_call_update", update.message_id, **fields))
        return events + [_aggregate(id, self.calls.of(id)) for id in self.calls.ended]


def _aggregate(message_id: str, calls: list[ToolCall]) -> dict[str, Any]:
    """Return the final state of a message's calls, which replaces what was streamed."""
    results = [_result(call) for call in calls if call.answered]
    fields: dict[str, Any] = {"tool_calls": [_state(call) for call in calls]}
    return _message("tools_aggregate", message_id, **fields, tool_results=results)


def _message(kind: str, message_id: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "messageId": message_id, **fields}


def _state(call: ToolCall) -> dict[str, Any]:
    """Return all fields of a call; `args` only where they do not follow from the text."""
    encoding = "text" if call.encoding == "text" else None
    update = ToolCallUpdate(call, call.name, call.raw, status=call.status, encoding=encoding)
    wire = {"tool_call_id": call.id, **update.to_wire()}
    if call.sends_args or call.repairs or (call.status != "complete" and call.encoding == "json"):
        wire["args"] = call.args
    return wire


def _result(call: ToolCall) -> dict[str, Any]:
    wire: dict[str, Any] = {"tool_call_id": call.id, "result": call.result}
    return {**wire, "is_error": True} if call.result_is_error else wire
