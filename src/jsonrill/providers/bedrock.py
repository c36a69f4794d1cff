"""Amazon Bedrock ConverseStream: one member of a union per event, blocks with an index."""

from __future__ import annotations

from typing import Any

from .statements import (
    Begin,
    CallDelta,
    End,
    Finish,
    Reasoning,
    Statement,
    Text,
    as_error,
    as_id,
    as_index,
    as_text,
    as_usage,
)

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
        case {
            "contentBlockDelta": {
                "contentBlockIndex": index,
                "delta": {"toolUse": {"input": text}},
            }
        }:
            return [CallDelta(None, as_index(index), None, as_text(text))]
        case {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"text": str(text)}}}:
            return [Text(text, 0, as_index(index))]
        case {
            "contentBlockDelta": {
                "contentBlockIndex": index,
                "delta": {"reasoningContent": {"text": str(text)}},
            }
        }:
            return [Reasoning(text, 0, as_index(index))]
        case {
            "contentBlockStart": {
                "contentBlockIndex": index,
                "start": {"toolUse": {"toolUseId": call, "name": name}},
            }
        }:
            return [CallDelta(as_id(call), as_index(index), as_text(name))]
        case {"contentBlockStop": {"contentBlockIndex": index}}:
            return [CallDelta(None, as_index(index), opens=False, end=End(sure=False))]
        case {"messageStart": _}:
            return [Begin()]
        case {"messageStop": {"stopReason": str(reason)}}:
            malformed = reason if reason.startswith("malformed_") else None
            return [Finish(cut=reason in CUT, malformed=malformed)]
        case {"messageStop": _}:
            return [Finish()]
        case {"metadata": {"usage": usage}}:
            return as_usage(usage)
        case _:
            failed = [key for key in event if str(key).endswith("Exception")]
            return [Finish(cut=True, error=as_error(event[key]), last=True) for key in failed]
