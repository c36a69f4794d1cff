"""Translate AG-UI events.

Every tool-call event carries the call's id, except chunk events, which may omit it.
"""

from __future__ import annotations

from typing import Any

from .fields import as_id, as_object, as_text, failed, finished, typed
from .statements import Begin, CallDelta, End, Reasoning, Result, Statement, Text

TEXTS = ("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK")
THOUGHTS = ("REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK", "THINKING_TEXT_MESSAGE_CONTENT")

accepts = typed(
    *("TOOL_CALL_", "RUN_", "TEXT_MESSAGE_", "STEP_", "STATE_", "MESSAGES_SNAPSHOT"),
    *("REASONING_", "THINKING_"),
)


def translate(event: dict[str, Any]) -> list[Statement]:
    call, text = as_id(event, "toolCallId"), as_text(event, "delta")
    match event.get("type"):
        case kind if kind in TEXTS:
            return [Text(text)] if text else []
        case kind if kind in THOUGHTS:
            return [Reasoning(text)] if text else []
        case "TOOL_CALL_ARGS":
            return [CallDelta(call, None, None, text)]
        case "TOOL_CALL_START" | "TOOL_CALL_CHUNK":
            name, message = as_text(event, "toolCallName"), as_id(event, "parentMessageId")
            return [CallDelta(call, None, name, text, message)]
        case "TOOL_CALL_END":
            return [CallDelta(call, opens=False, end=End())]
        case "TOOL_CALL_RESULT":
            return [Result(call, event.get("content"))]
        case "RUN_STARTED":
            return [Begin(as_id(event, "runId"))]
        case "RUN_FINISHED":
            # jsonrill itself writes this reason for an answer that is not complete.
            return [finished(as_object(event, "result").get("finishReason"))]
        case "RUN_ERROR":
            return [failed(event)]
    return []
