"""Amazon Bedrock ConverseStream: one member of a union per event, blocks with an index."""

from __future__ import annotations

from typing import Any

from .common import as_usage, failed, finished, unread
from .fields import as_id, as_index, as_object, as_text
from .statements import Begin, CallDelta, End, Reasoning, Statement, Text

EVENTS = frozenset(
    "messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop".split()
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
            return [CallDelta(None, as_index(index), opens=False, end=End())]
        case {"messageStart": _}:
            return [Begin()]
        case {"messageStop": stop}:
            return [finished(as_object(stop).get("stopReason"))]
        case {"metadata": {"usage": usage}}:
            return as_usage(usage)
        case _:
            return [failed(event[key]) for key in event if str(key).endswith("Exception")]


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    match delta:
        case {"toolUse": {"input": text}}:
            return [CallDelta(None, index, None, as_text(text))]
        case {"text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"reasoningContent": {"text": str(text)}} if text:
            return [Reasoning(text, 0, index)]
        case {"text": _} | {"reasoningContent": _} | {"citation": _}:
            return []
        case _:
            return unread(index)
