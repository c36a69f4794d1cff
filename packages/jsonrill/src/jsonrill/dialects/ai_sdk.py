"""The AI SDK's UI message stream, v1. Updates are `data-*` chunks: a later one with the same id
replaces the one before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from ..answer_parts import Part
from ..eventstream import DONE
from ..jsontext import dumps
from ..partial_stream import Update
from ..providers.finish import Reason
from ..toolcalls import ToolCall
from .dialect import Dialect, Event, Problem, Step, problem_of

# Keys for which the client's parser refuses an event.
_BANNED: Final = ("__proto__", "constructor")
# How the AI SDK says that an answer is not complete.
_FINISHES: Final[dict[Reason | None, str]] = {
    "length": "length",
    "filtered": "content-filter",
    "refused": "content-filter",
    "lost": "other",
    "error": "error",
}


class AISDK(Dialect):
    """Writes the chunks that `useChat` reads."""

    headers = {"x-vercel-ai-ui-message-stream": "v1"}
    done = DONE

    def _begin(self) -> Iterator[Event]:
        yield {"type": "start"}
        yield {"type": "start-step"}

    def _turn_begins(self) -> Iterator[Event]:
        yield {"type": "finish-step"}
        yield {"type": "start-step"}

    def _text(self, id: str, part: Part, step: Step) -> Iterator[Event]:
        delta = {"delta": part.delta} if step == "delta" else {}
        yield {"type": f"{part.kind}-{step}", "id": id, **delta}

    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]:
        named = {"toolCallId": id, "toolName": call.name or ""}
        yield {"type": "tool-input-start", **named, **_flags(call)}

    def _call_text(self, id: str, text: str) -> Iterator[Event]:
        yield {"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": text}

    def _call_ends(self, id: str, part: Part) -> Iterator[Event]:
        call = part.call
        assert call is not None
        event = {"toolCallId": id, "toolName": call.name or "", **_flags(call)}
        event["input"] = _harmless(part.value)
        if part.complete:
            yield {"type": "tool-input-available", **event}
        else:
            yield {"type": "tool-input-error", **event, "errorText": problem_of(part)}

    def _result(self, id: str, part: Part) -> Iterator[Event]:
        flags = _flags(part.call)
        if part.error is None:
            output = _harmless(part.result)
            yield {"type": "tool-output-available", "toolCallId": id, "output": output, **flags}
        else:
            yield {"type": "tool-output-error", "toolCallId": id, "errorText": part.error, **flags}

    def _update(self, update: Update) -> Iterator[Event]:
        entity = update.entity or "json"
        self.has_failed = self.has_failed or update.error is not None
        part = {"type": f"data-{entity}", "id": f"{entity}/{update.index}"}
        yield {**part, "data": _harmless(update.to_dict())}

    def _failure(self, problem: Problem) -> Iterator[Event]:
        if problem["code"] == "CANCELLED":
            yield {"type": "abort", "reason": problem["message"]}
        else:
            yield {"type": "error", "errorText": f"{problem['code']}: {problem['message']}"}

    def _finish(self) -> Iterator[Event]:
        outcome = "error" if self.has_failed else self._parts.outcome
        stopped = "tool-calls" if self._unanswered or outcome == "calls" else "stop"
        yield {"type": "finish-step"}
        yield {"type": "finish", "finishReason": _FINISHES.get(outcome, stopped)}


def _flags(call: ToolCall | None) -> dict[str, bool]:
    """Return the flags of a call: its tool has no type in the client; the provider may run it."""
    is_hosted = call is not None and call.hosted
    return {"dynamic": True, **({"providerExecuted": True} if is_hosted else {})}


def _harmless(value: Any) -> Any:
    """Return the value without NaN, and without the keys for which the client refuses an event."""
    return json.loads(dumps(value, finite=True), object_hook=_without_banned)


def _without_banned(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key not in _BANNED}
