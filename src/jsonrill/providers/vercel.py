"""The UI message stream of the Vercel AI SDK: text, reasoning, and calls that every event names.

`tool-input-available` repeats the input as a value, after the tool's own validation; a call that
was not streamed consists of it alone.
"""

from __future__ import annotations

from typing import Any

from .fields import ABSENT, as_error, as_id, as_text
from .statements import Begin, CallDelta, End, Finish, Reasoning, Result, Statement, Text

EVENTS = frozenset(("start", "start-step", "finish-step", "finish", "abort"))
CUT = frozenset(("length", "content-filter", "error"))


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    return isinstance(kind, str) and (
        kind in EVENTS or kind.startswith(("text-", "reasoning-", "tool-input-", "tool-output-"))
    )


def translate(event: dict[str, Any]) -> list[Statement]:
    match event:
        case {"type": str(kind), "toolCallId": call} if (known := as_id(call)) is not None:
            return _call(kind, known, event)
        case {"type": "text-delta", "delta": str(text)} if text:
            return [Text(text)]
        case {"type": "reasoning-delta", "delta": str(text)} if text:
            return [Reasoning(text)]
        case {"type": "start"}:
            return [Begin(as_id(event.get("messageId")))]
        case {"type": "finish"}:
            return [Finish(cut=as_text(event.get("finishReason")) in CUT, last=True)]
        case {"type": "abort"}:
            return [Finish(cut=True, last=True)]
        case {"type": "error"}:
            return [Finish(cut=True, error=as_error(event.get("errorText")))]
        case _:
            return []


def _call(kind: str, call: str, event: dict[str, Any]) -> list[Statement]:
    name = as_text(event.get("toolName"))
    hosted = event.get("providerExecuted") is True
    match kind:
        case "tool-input-start":
            free = event.get("inputEncoding") == "text"
            return [CallDelta(call, None, name, free=free, hosted=hosted)]
        case "tool-input-delta":
            return [CallDelta(call, None, None, as_text(event.get("inputTextDelta")))]
        case "tool-input-available":
            end = End(value=event.get("input", ABSENT))
            return [CallDelta(call, None, name, hosted=hosted, end=end)]
        case "tool-input-error":
            why = as_text(event.get("errorText")) or "the input is not valid"
            return [CallDelta(call, None, name, end=End(error=why))]
        case "tool-output-available":
            return [Result(call, event.get("output"))]
        case "tool-output-error":
            return [Result(call, event.get("errorText"), is_error=True)]
        case _:
            return []
