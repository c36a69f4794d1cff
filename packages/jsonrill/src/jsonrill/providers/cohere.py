"""Cohere v2 chat: text, thoughts and a plan; calls by their index, each with a start and an end.

The model's plan for its tools (`tool_plan`) is reasoning. An index counts calls and blocks of text
separately.
"""

from __future__ import annotations

from typing import Any

from .fields import as_id, as_index, as_object, as_text, failed, finished, typed, usage
from .statements import Begin, CallDelta, End, Reasoning, Statement, Text

accepts = typed(
    *("message-start", "message-end", "content-start", "content-delta", "content-end"),
    *("tool-plan-delta", "tool-call-start", "tool-call-delta", "tool-call-end", "citation-"),
)


def translate(event: dict[str, Any]) -> list[Statement]:
    index, delta = as_index(event, "index"), as_object(event, "delta")
    message = as_object(delta, "message")
    match event.get("type"):
        case "message-start":
            return [Begin(as_id(event, "id"))]
        case "content-start" | "content-delta":
            content = as_object(message, "content")
            if thought := as_text(content, "thinking"):
                return [Reasoning(thought, 0, index)]
            return [Text(text, 0, index)] if (text := as_text(content, "text")) else []
        case "tool-plan-delta":
            return [Reasoning(plan)] if (plan := as_text(message, "tool_plan")) else []
        case "tool-call-start" | "tool-call-delta":
            call = as_object(message, "tool_calls")
            function = as_object(call, "function")
            name, text = as_text(function, "name"), as_text(function, "arguments")
            return [CallDelta(as_id(call, "id"), index, name, text)]
        case "tool-call-end":
            return [CallDelta(None, index, opens=False, end=End())]
        case "message-end":
            error = as_text(delta, "error")
            finish = failed(error) if error else finished(delta.get("finish_reason"))
            return [*usage(delta, "usage"), finish]
    return []
