"""The streams of the Vercel AI SDK: text, reasoning, and calls whose id is in every event.

The UI message stream, which goes to browsers, and `fullStream`, which the program itself reads;
some names of fields differ. A call's input comes once more as a value, after the tool's own
validation; a call that was not streamed consists of it alone.
"""

from __future__ import annotations

from typing import Any

from ..paths import ABSENT
from .fields import as_id, as_text, error_text, failed, finished, first, usage
from .statements import Begin, CallDelta, End, Reasoning, Result, Statement, Text

EVENTS = frozenset(
    "start start-step finish-step finish abort tool-call tool-result tool-error".split()
)


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    if isinstance(event.get("path"), list):  # assistant-ui's stream, which has the same names
        return False
    return isinstance(kind, str) and (
        kind in EVENTS or kind.startswith(("text-", "reasoning-", "tool-input-", "tool-output-"))
    )


def translate(event: dict[str, Any]) -> list[Statement]:
    kind = str(event.get("type"))
    call = as_id(event, "toolCallId")
    if call is None and kind.startswith("tool-input-"):
        call = as_id(event, "id")
    if call is not None:
        return _call(kind, call, event)
    text = as_text(event, "delta") or as_text(event, "text", "textDelta")
    match kind:
        case "text-delta":
            return [Text(text)] if text else []
        case "reasoning-delta":
            return [Reasoning(text)] if text else []
        case "start":
            return [Begin(as_id(event, "messageId"))]
        case "finish":
            return [*usage(event, "totalUsage", "usage"), finished(event.get("finishReason"))]
        case "abort":
            return [finished(kind)]
        case "error":
            return [failed(first(event, "errorText", "error"))]
    return []


def _call(kind: str, call: str, event: dict[str, Any]) -> list[Statement]:
    hosted, error = event.get("providerExecuted") is True, first(event, "errorText", "error")
    delta = CallDelta(call, None, as_text(event, "toolName"))
    match kind:
        case "tool-input-start":
            delta.free, delta.hosted = event.get("inputEncoding") == "text", hosted
            return [delta]
        case "tool-input-delta":
            text = as_text(event, "inputTextDelta") or as_text(event, "delta")
            return [CallDelta(call, None, None, text)]
        case "tool-input-available" | "tool-call" if event.get("invalid") is not True:
            delta.hosted, delta.end = hosted, End(value=event.get("input", ABSENT))
            return [delta]
        case "tool-input-available" | "tool-call" | "tool-input-error":
            message = "the input is not valid" if error is None else error_text(error)
            delta.end = End(error=message)
            return [delta]
        case "tool-output-available" | "tool-result":
            return [Result(call, event.get("output"))]
        case "tool-output-error" | "tool-error":
            message = error if kind == "tool-output-error" else error_text(error)
            return [Result(call, message, is_error=True)]
    return []
