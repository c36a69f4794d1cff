"""Amazon Bedrock ConverseStream: one member of a union per event, blocks with an index."""

from __future__ import annotations

from typing import Any

from .deltas import Begin, CallDelta, End, Finish, Statement, a_text, an_id, an_index

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
            return [CallDelta(None, an_index(index), None, a_text(text))]
        case {
            "contentBlockStart": {
                "contentBlockIndex": index,
                "start": {"toolUse": {"toolUseId": call, "name": name}},
            }
        }:
            return [CallDelta(an_id(call), an_index(index), a_text(name))]
        case {"contentBlockStop": {"contentBlockIndex": index}}:
            return [CallDelta(None, an_index(index), opens=False, end=End(sure=False))]
        case {"messageStart": _}:
            return [Begin()]
        case {"messageStop": {"stopReason": str(reason)}}:
            malformed = reason if reason.startswith("malformed_") else None
            return [Finish(cut=reason in CUT, error=malformed)]
        case {"messageStop": _}:
            return [Finish()]
        case _:
            failed = any(str(key).endswith("Exception") for key in event)
            return [Finish(cut=True)] if failed else []
