"""The UI message stream of the Vercel AI SDK: every event names its call.

`tool-input-available` repeats the input as a value, after the tool's own validation; a call that
was not streamed consists of it alone.
"""

from __future__ import annotations

from typing import Any

from .deltas import ABSENT, Begin, CallDelta, End, Finish, Result, Statement, a_text, an_id

EVENTS = frozenset(("start", "start-step", "finish-step", "finish", "abort"))
CUT = frozenset(("length", "content-filter", "error"))


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    return isinstance(kind, str) and (
        kind in EVENTS or kind.startswith(("tool-input-", "tool-output-"))
    )


def translate(event: dict[str, Any]) -> list[Statement]:
    match event:
        case {"type": str(kind), "toolCallId": call} if (known := an_id(call)) is not None:
            return _call(kind, known, event)
        case {"type": "start"}:
            return [Begin(an_id(event.get("messageId")))]
        case {"type": "finish"}:
            return [Finish(cut=a_text(event.get("finishReason")) in CUT)]
        case {"type": "abort" | "error"}:
            return [Finish(cut=True)]
        case _:
            return []


def _call(kind: str, call: str, event: dict[str, Any]) -> list[Statement]:
    name = a_text(event.get("toolName"))
    match kind:
        case "tool-input-start":
            return [CallDelta(call, None, name, free=event.get("inputEncoding") == "text")]
        case "tool-input-delta":
            return [CallDelta(call, None, None, a_text(event.get("inputTextDelta")))]
        case "tool-input-available":
            return [CallDelta(call, None, name, end=End(value=event.get("input", ABSENT)))]
        case "tool-input-error":
            why = a_text(event.get("errorText")) or "the input is not valid"
            return [CallDelta(call, None, name, end=End(error=why))]
        case "tool-output-available":
            return [Result(call, event.get("output"))]
        case "tool-output-error":
            return [Result(call, event.get("errorText"), is_error=True)]
        case _:
            return []
