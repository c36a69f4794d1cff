"""Amazon Bedrock ConverseStream: one member of a union per event, blocks with an index."""

from __future__ import annotations

from typing import Any

from .fields import as_error, as_id, as_index, as_object, as_text
from .statements import Begin, CallDelta, End, Finish, Reasoning, Statement, Text, as_usage

EVENTS = frozenset(
    "messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop".split()
)
CUT = frozenset(
    "max_tokens model_context_window_exceeded guardrail_intervened content_filtered".split()
)


def accepts(event: dict[str, Any]) -> bool:
    return not EVENTS.isdisjoint(event)


def translate(event: dict[str, Any]) -> list[Statement]:
    match event:
        case {"contentBlockDelta": {"contentBlockIndex": index, "delta": dict(delta)}}:
            return _delta(as_index(index), delta)
        case {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": dict(use)}}}:
            id, name = as_id(use.get("toolUseId")), as_text(use.get("name"))
            return [CallDelta(id, as_index(index), name)]
        case {"contentBlockStop": {"contentBlockIndex": index}}:
            return [CallDelta(None, as_index(index), opens=False, end=End(sure=False))]
        case {"messageStart": _}:
            return [Begin()]
        case {"messageStop": stop}:
            reason = as_text(as_object(stop).get("stopReason")) or ""
            malformed = reason if reason.startswith("malformed_") else None
            return [Finish(cut=reason in CUT, malformed=malformed)]
        case {"metadata": {"usage": usage}}:
            return as_usage(usage)
        case _:
            failed = [key for key in event if str(key).endswith("Exception")]
            return [Finish(cut=True, error=as_error(event[key]), last=True) for key in failed]


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    match delta:
        case {"toolUse": {"input": text}}:
            return [CallDelta(None, index, None, as_text(text))]
        case {"text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"reasoningContent": {"text": str(text)}} if text:
            return [Reasoning(text, 0, index)]
        case _:
            return []
