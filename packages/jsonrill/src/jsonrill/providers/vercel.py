"""The streams of the Vercel AI SDK: text, reasoning, and calls that every event names.

The UI message stream, which goes to browsers, and `fullStream`, which the program itself reads;
some names of fields differ. A call's input comes once more as a value, after the tool's own
validation; a call that was not streamed consists of it alone.
"""

from __future__ import annotations

from typing import Any

from .common import as_usage, failed, finished
from .fields import ABSENT, as_error, as_id, as_object, as_text, either
from .statements import Begin, CallDelta, End, Reasoning, Result, Statement, Text

EVENTS = frozenset(
    "start start-step finish-step finish abort tool-call tool-result tool-error".split()
)
TEXTS: dict[str, type[Text | Reasoning]] = {"text-delta": Text, "reasoning-delta": Reasoning}


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    if isinstance(event.get("path"), list):  # assistant-ui's stream, which has the same names
        return False
    return isinstance(kind, str) and (
        kind in EVENTS or kind.startswith(("text-", "reasoning-", "tool-input-", "tool-output-"))
    )


def translate(event: dict[str, Any]) -> list[Statement]:
    kind = event.get("type")
    if not isinstance(kind, str):
        return []
    call = as_id(event.get("toolCallId"))
    if call is None and kind.startswith("tool-input-"):
        call = as_id(event.get("id"))
    if call is not None:
        return _call(kind, call, event)
    if kind in TEXTS:
        text = as_text(event.get("delta")) or as_text(either(event, "text", "textDelta"))
        return [TEXTS[kind](text)] if text else []
    match kind:
        case "start":
            return [Begin(as_id(event.get("messageId")))]
        case "finish":
            finish = finished(event.get("finishReason"), last=True)
            return [*as_usage(either(event, "totalUsage", "usage")), finish]
        case "abort":
            return [finished(kind, last=True)]
        case "error":
            error = event.get("errorText")
            return [failed(event.get("error") if error is None else error, last=False)]
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
            text = as_text(event.get("inputTextDelta")) or as_text(event.get("delta"))
            return [CallDelta(call, None, None, text)]
        case "tool-input-available" | "tool-call":
            if event.get("invalid") is True:
                return [_failed(call, name, event.get("error"))]
            end = End(value=event.get("input", ABSENT))
            return [CallDelta(call, None, name, hosted=hosted, end=end)]
        case "tool-input-error":
            return [_failed(call, name, event.get("errorText"))]
        case "tool-output-available" | "tool-result":
            return [Result(call, event.get("output"))]
        case "tool-output-error":
            return [Result(call, event.get("errorText"), is_error=True)]
        case "tool-error":
            return [Result(call, as_error(event.get("error")), is_error=True)]
        case _:
            return []


def _failed(call: str, name: str | None, error: Any) -> CallDelta:
    why = as_text(error) or as_text(as_object(error).get("message"))
    return CallDelta(call, None, name, end=End(error=why or "the input is not valid"))
