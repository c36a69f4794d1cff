"""AG-UI: start, args, end and result events that name their call, and chunks that need not."""

from __future__ import annotations

from typing import Any

from .deltas import Begin, CallDelta, End, Finish, Result, Statement, a_text, an_id

EVENTS = ("TOOL_CALL_", "RUN_", "TEXT_MESSAGE_", "STEP_", "STATE_", "MESSAGES_SNAPSHOT")


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    return isinstance(kind, str) and kind.startswith(EVENTS)


def translate(event: dict[str, Any]) -> list[Statement]:
    kind, call = event.get("type"), an_id(event.get("toolCallId"))
    match kind:
        case "TOOL_CALL_ARGS":
            return [CallDelta(call, None, None, a_text(event.get("delta")))]
        case "TOOL_CALL_START" | "TOOL_CALL_CHUNK":
            name, text = a_text(event.get("toolCallName")), a_text(event.get("delta"))
            return [CallDelta(call, None, name, text, an_id(event.get("parentMessageId")))]
        case "TOOL_CALL_END":
            return [CallDelta(call, opens=False, end=End())]
        case "TOOL_CALL_RESULT":
            return [Result(call, event.get("content"))]
        case "RUN_STARTED":
            return [Begin(an_id(event.get("runId")))]
        case "RUN_FINISHED":
            return [Finish()]
        case "RUN_ERROR":
            return [Finish(cut=True)]
        case _:
            return []
