"""AG-UI: text, and calls whose start, args, end and result events name them; chunks need not."""

from __future__ import annotations

from typing import Any

from .common import failed, finished
from .fields import as_id, as_object, as_text, typed
from .statements import Begin, CallDelta, End, Reasoning, Result, Statement, Text

TEXTS: dict[str, type[Text | Reasoning]] = {
    "TEXT_MESSAGE_CONTENT": Text,
    "TEXT_MESSAGE_CHUNK": Text,
    "REASONING_MESSAGE_CONTENT": Reasoning,
    "REASONING_MESSAGE_CHUNK": Reasoning,
    "THINKING_TEXT_MESSAGE_CONTENT": Reasoning,
}


accepts = typed(
    *("TOOL_CALL_", "RUN_", "TEXT_MESSAGE_", "STEP_", "STATE_", "MESSAGES_SNAPSHOT"),
    *("REASONING_", "THINKING_"),
)


def translate(event: dict[str, Any]) -> list[Statement]:
    kind, call = event.get("type"), as_id(event.get("toolCallId"))
    if isinstance(kind, str) and kind in TEXTS:
        return [TEXTS[kind](text)] if (text := as_text(event.get("delta"))) else []
    match kind:
        case "TOOL_CALL_ARGS":
            return [CallDelta(call, None, None, as_text(event.get("delta")))]
        case "TOOL_CALL_START" | "TOOL_CALL_CHUNK":
            name, text = as_text(event.get("toolCallName")), as_text(event.get("delta"))
            return [CallDelta(call, None, name, text, as_id(event.get("parentMessageId")))]
        case "TOOL_CALL_END":
            return [CallDelta(call, opens=False, end=End())]
        case "TOOL_CALL_RESULT":
            return [Result(call, event.get("content"))]
        case "RUN_STARTED":
            return [Begin(as_id(event.get("runId")))]
        case "RUN_FINISHED":
            # What jsonrill itself writes of an answer that is not complete.
            return [finished(as_object(event.get("result")).get("finishReason"), last=True)]
        case "RUN_ERROR":
            return [failed(event)]
        case _:
            return []
