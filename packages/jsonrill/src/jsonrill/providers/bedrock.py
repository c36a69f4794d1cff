"""Amazon Bedrock ConverseStream: one member of a union per event, blocks with an index."""

from __future__ import annotations

from typing import Any

from .fields import as_id, as_index, as_text, failed, finished, usage
from .statements import Begin, CallDelta, End, Reasoning, Statement, Text

EVENTS = frozenset(
    "messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop"
    " internalServerException modelStreamErrorException validationException throttlingException"
    " serviceUnavailableException".split()
)


def accepts(event: dict[str, Any]) -> bool:
    return not EVENTS.isdisjoint(event)


def translate(event: dict[str, Any]) -> list[Statement]:
    match event:
        case {"contentBlockDelta": {"contentBlockIndex": _, "delta": dict(delta)} as block}:
            return _delta(as_index(block, "contentBlockIndex"), delta)
        case {"contentBlockStart": {"contentBlockIndex": _, "start": dict(start)} as block}:
            index, use = as_index(block, "contentBlockIndex"), start.get("toolUse")
            call = CallDelta(as_id(use, "toolUseId"), index, as_text(use, "name"))
            return [call] if isinstance(use, dict) else []
        case {"contentBlockStop": {"contentBlockIndex": _} as block}:
            return [CallDelta(None, as_index(block, "contentBlockIndex"), opens=False, end=End())]
        case {"messageStart": _}:
            return [Begin()]
        case {"messageStop": stop}:
            return [finished(as_text(stop, "stopReason"))]
        case {"metadata": dict(metadata)} if "usage" in metadata:
            return usage(metadata, "usage")
    return [failed(event[key]) for key in event if str(key).endswith("Exception")]


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    match delta:
        case {"toolUse": {"input": _} as use}:
            return [CallDelta(None, index, None, as_text(use, "input"))]
        case {"text": str(text)} if text:
            return [Text(text, 0, index)]
        case {"reasoningContent": {"text": str(text)}} if text:
            return [Reasoning(text, 0, index)]
        case {"text": _} | {"reasoningContent": _} | {"citation": _}:
            return []
    return [CallDelta(None, index, opens=False, unread=True)]
