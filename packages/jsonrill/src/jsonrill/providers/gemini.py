"""Gemini: whole calls, values at JSONPaths (`partialArgs`), and the Interactions API.

generateContent sends no indices and often no ids: a name opens a call, an empty `functionCall` or
one that does not continue ends it. Field names come in camelCase from the API and in snake_case
from some clients.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from ..paths import ABSENT
from .fields import as_id, as_index, as_object, as_text, failed, finished, first, items, usage
from .statements import Begin, CallDelta, End, Keep, Reasoning, Result, Statement, Text, ValueAt

CALLS = ("function_call", "mcp_server_tool_call")
RESULTS = ("function_result", "mcp_server_tool_result")
# Known deltas of steps that are not part of a call.
DELTAS = ("text", "thought_summary", "thought_signature")
# The parts about tools that Google runs itself, which the next request sends back.
SERVER = frozenset(("executableCode", "codeExecutionResult", "toolCall", "toolResponse"))


def accepts(event: dict[str, Any]) -> bool:
    return (
        isinstance(event.get("candidates"), list)
        or isinstance(first(event, "promptFeedback", "prompt_feedback"), dict)
        or str(event.get("event_type")).startswith(("step.", "interaction."))
    )


def translate(event: dict[str, Any]) -> list[Statement]:
    if "event_type" in event:
        return _interaction(event)
    message = as_id(event, "responseId", "response_id")
    statements: list[Statement] = []
    for candidate in items(event, "candidates"):
        choice = as_index(candidate, "index") or 0
        for part in items(as_object(candidate, "content"), "parts"):
            statements += _part(part, message, choice)
        if reason := first(candidate, "finishReason", "finish_reason"):
            detail = as_text(candidate, "finishMessage", "finish_message")
            statements.append(finished(reason, message, choice, detail=detail))
    blocked = as_object(event, "promptFeedback", "prompt_feedback")
    if reason := as_text(blocked, "blockReason", "block_reason"):
        detail = as_text(blocked, "blockReasonMessage", "block_reason_message")
        detail = detail or f"the prompt was blocked: {getattr(reason, 'value', reason)}"
        statements.append(finished("blocked", message, detail=detail))
    if error := event.get("error"):
        statements.append(failed(error))
    return statements + usage(event, "usageMetadata", "usage_metadata")


def _part(part: dict[str, Any], message: str | None, choice: int) -> list[Statement]:
    """Return the statements of a call, text or a thought; its signature makes it a block."""
    call = first(part, "functionCall", "function_call")
    signature = first(part, "thoughtSignature", "thought_signature")
    block = None
    statements: list[Statement] = []
    if not SERVER.isdisjoint(part):
        return [Keep(part, crc32(repr(part).encode()), choice)]
    if isinstance(call, dict):
        statements.append(_call(call, message, choice))
    elif isinstance(signature, (str, bytes)) and signature:
        block = crc32(signature if isinstance(signature, bytes) else signature.encode())
    if text := as_text(part, "text"):
        kind = Reasoning if part.get("thought") is True else Text
        statements.append(kind(text, choice, block))
    if signature:
        empty = {} if statements else {"text": ""}
        statements.append(Keep({**empty, "thoughtSignature": signature}, block, choice))
    return statements


def _call(call: dict[str, Any], message: str | None, choice: int) -> CallDelta:
    delta = CallDelta(as_id(call, "id"), None, as_text(call, "name"), None, message, choice)
    delta.parts = [_value(part) for part in items(call, "partialArgs", "partial_args")]
    if (args := call.get("args")) is not None:
        delta.value = args
    if first(call, "willContinue", "will_continue") is not True:
        delta.end = End()
    # An empty call only ends the open one.
    delta.opens = bool(delta.name or delta.id or delta.parts or args is not None)
    return delta


def _value(part: dict[str, Any]) -> ValueAt:
    more = first(part, "willContinue", "will_continue") is True
    path = as_text(part, "jsonPath", "json_path") or "$"
    for kind in ("string", "number", "bool"):
        if (value := first(part, f"{kind}Value", f"{kind}_value")) is not None:
            return ValueAt(path, value, more)
    # Protocol buffers may write a null value as null; but clients fill all empty fields with null.
    is_null = "nullValue" in part and "stringValue" not in part
    is_null = is_null or first(part, "nullValue", "null_value") is not None
    return ValueAt(path, None if is_null else ABSENT, more)


def _interaction(event: dict[str, Any]) -> list[Statement]:
    index = as_index(event, "index")
    match event:
        case {"event_type": "step.delta", "delta": dict(delta)}:
            return _delta(index, delta)
        case {"event_type": "step.start", "step": dict(step)}:
            return _step(index, step)
        case {"event_type": "step.stop"} if index is not None:
            return [CallDelta(None, index, opens=False, end=End())]
        case {"event_type": "interaction.created", "interaction": {"id": _} as interaction}:
            return [Begin(as_id(interaction, "id"))]
        case {"event_type": "interaction.completed"}:
            interaction = as_object(event, "interaction")
            status = interaction.get("status")
            # The API has no other word for an answer that reached its limit.
            finish = finished("max_tokens" if status == "incomplete" else status)
            return [*usage(interaction, "usage"), finish]
        case {"event_type": "error"}:
            return [failed(event.get("error"))]
    return []


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    match delta:
        case {"arguments": arguments} | {"partial_arguments": arguments}:
            # Searches and code that Google runs itself have arguments, too, but are not calls.
            return [CallDelta(None, index, opens=False).with_arguments(arguments)]
        case {"type": "text", "text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"type": "thought_summary", "content": {"text": str(text)}} if text:
            return [Reasoning(text, 0, index)]
    return [] if delta.get("type") in DELTAS else [CallDelta(None, index, opens=False, unread=True)]


def _step(index: int | None, step: dict[str, Any]) -> list[Statement]:
    kind = step.get("type")
    if kind in CALLS:
        call = CallDelta(as_id(step, "id"), index, as_text(step, "name"))
        call.hosted, call.preset = kind != "function_call", step.get("arguments") or ABSENT
        return [call]
    if kind in RESULTS:
        return [Result(as_id(step, "call_id"), step.get("result"), step.get("is_error") is True)]
    return []
