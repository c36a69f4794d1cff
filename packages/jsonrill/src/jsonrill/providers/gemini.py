"""Gemini: whole calls, values at JSONPaths (`partialArgs`), and the Interactions API.

generateContent sends no indices and often no ids: a name opens a call, an empty `functionCall` or
one that does not continue ends it. Field names come in camelCase from the API and in snake_case
from some clients.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from .common import as_usage, failed, finished, unread
from .fields import ABSENT, as_id, as_index, as_object, as_text, either, items
from .statements import (
    Begin,
    CallDelta,
    End,
    Finish,
    Keep,
    Reasoning,
    Result,
    Statement,
    Text,
    ValueAt,
)

CALLS = ("function_call", "mcp_server_tool_call")
RESULTS = ("function_result", "mcp_server_tool_result")


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("event_type")
    return (
        isinstance(event.get("candidates"), list)
        or isinstance(either(event, "promptFeedback", "prompt_feedback"), dict)
        or (isinstance(kind, str) and kind.startswith(("step.", "interaction.")))
    )


def translate(event: dict[str, Any]) -> list[Statement]:
    if "event_type" in event:
        return _interaction(event)
    message = as_id(either(event, "responseId", "response_id"))
    statements: list[Statement] = []
    for candidate in items(event.get("candidates")):
        choice = as_index(candidate.get("index")) or 0
        for part in items(as_object(candidate.get("content")).get("parts")):
            statements += part_statements(part, message, choice)
        if reason := either(candidate, "finishReason", "finish_reason"):
            statements.append(finished(reason, message, choice))
    blocked = as_object(either(event, "promptFeedback", "prompt_feedback"))
    if reason := as_text(either(blocked, "blockReason", "block_reason")):
        why = as_text(either(blocked, "blockReasonMessage", "block_reason_message"))
        why = why or f"the prompt was blocked: {reason}"
        statements.append(Finish(message, reason="filtered", detail=why))
    if error := event.get("error"):
        statements.append(failed(error))
    return statements + as_usage(either(event, "usageMetadata", "usage_metadata"))


def part_statements(part: dict[str, Any], message: str | None, choice: int) -> list[Statement]:
    """The statements of a part: a call, text or a thought; its signature makes it a block."""
    call = either(part, "functionCall", "function_call")
    signature = either(part, "thoughtSignature", "thought_signature")
    block = None
    statements: list[Statement] = []
    if isinstance(call, dict):
        statements.append(_call(call, message, choice))
    elif isinstance(signature, (str, bytes)) and signature:
        block = crc32(signature if isinstance(signature, bytes) else signature.encode())
    if text := as_text(part.get("text")):
        kind = Reasoning if part.get("thought") is True else Text
        statements.append(kind(text, choice, block))
    if signature:
        statements.append(Keep({"thoughtSignature": signature}, block, choice))
    return statements


def _call(call: dict[str, Any], message: str | None, choice: int) -> CallDelta:
    name, args = as_text(call.get("name")), call.get("args")
    delta = CallDelta(as_id(call.get("id")), None, name, None, message, choice)
    delta.parts = [_part(part) for part in items(either(call, "partialArgs", "partial_args"))]
    if args is not None:
        delta.value = args
    if either(call, "willContinue", "will_continue") is not True:
        delta.end = End()
    # An empty call is nothing but the end of the open one.
    delta.opens = bool(name or delta.id or delta.parts or args is not None)
    return delta


def _part(part: dict[str, Any]) -> ValueAt:
    more = either(part, "willContinue", "will_continue") is True
    path = as_text(either(part, "jsonPath", "json_path")) or "$"
    for kind in ("string", "number", "bool"):
        if (value := either(part, f"{kind}Value", f"{kind}_value")) is not None:
            return ValueAt(path, value, more)
    # Protocol buffers may write a null value as null; but clients fill all empty fields with null.
    said_null = "nullValue" in part and "stringValue" not in part
    is_null = said_null or either(part, "nullValue", "null_value") is not None
    return ValueAt(path, None if is_null else ABSENT, more)


def _interaction(event: dict[str, Any]) -> list[Statement]:
    index = as_index(event.get("index"))
    match event:
        case {"event_type": "step.delta", "delta": dict(delta)}:
            return _delta(index, delta)
        case {"event_type": "step.start", "step": dict(step)}:
            return _step(index, step)
        case {"event_type": "step.stop"} if index is not None:
            return [CallDelta(None, index, opens=False, end=End())]
        case {"event_type": "interaction.created", "interaction": {"id": message}}:
            return [Begin(as_id(message))]
        case {"event_type": "interaction.completed"}:
            interaction = as_object(event.get("interaction"))
            status = interaction.get("status")
            # Its only word for an answer that reached its limit.
            finish = finished("max_tokens" if status == "incomplete" else status, last=True)
            return [*as_usage(interaction.get("usage")), finish]
        case {"event_type": "error"}:
            return [failed(event.get("error"))]
        case _:
            return []


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    match delta:
        case {"arguments": arguments} | {"partial_arguments": arguments}:
            # Searches and code that Google runs itself have arguments, too, but are not calls.
            call = CallDelta(None, index, None, as_text(arguments), opens=False)
            if isinstance(arguments, dict):
                call.value = arguments
            return [call]
        case {"type": "text", "text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"type": "thought_summary", "content": {"text": str(text)}} if text:
            return [Reasoning(text, 0, index)]
        case {"type": str(kind)} if kind in ("text", "thought_summary", "thought_signature"):
            return []
        case _:
            return unread(index)


def _step(index: int | None, step: dict[str, Any]) -> list[Statement]:
    kind = step.get("type")
    if kind in CALLS:
        preset = step.get("arguments") or ABSENT
        id, name = as_id(step.get("id")), as_text(step.get("name"))
        return [CallDelta(id, index, name, hosted=kind != "function_call", preset=preset)]
    if kind in RESULTS:
        failed = step.get("is_error") is True
        return [Result(as_id(step.get("call_id")), step.get("result"), failed)]
    return []
