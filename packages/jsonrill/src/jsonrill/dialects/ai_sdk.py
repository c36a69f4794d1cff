"""Write the AI SDK's UI message stream, v1: a method for each event that `chat.py` reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..answers import Part
from ..eventstream import DONE
from ..jsontext import dumps_in_parts
from ..partial_stream import PartialStream, Update
from ..providers.finish import Reason
from ..toolcalls import ToolCall
from .chat import ChatDialect
from .dialect import Event, Problem, Settings

# Keys for which the client's parser refuses an event.
BANNED = ("__proto__", "constructor")


class AISDK(ChatDialect):
    """Entities are `data-*` parts; a later part replaces the one with the same id."""

    # Parts do not show in its events, and a schema can take long for each character.
    part = 256
    headers = {"x-vercel-ai-ui-message-stream": "v1"}
    only_active = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._updates = PartialStream(**{"mode": "REALTIME", **settings.updates, "send": "data"})
        self._wrong = False

    def _begin(self) -> Iterator[Event]:
        yield {"type": "start"}
        yield {"type": "start-step"}

    def _turn_begins(self) -> Iterator[Event]:
        yield {"type": "finish-step"}
        yield {"type": "start-step"}

    def _text_begins(self, id: str, thought: bool) -> Iterator[Event]:
        yield {"type": f"{_KIND[thought]}-start", "id": id}

    def _text_grows(self, id: str, thought: bool, delta: str) -> Iterator[Event]:
        yield {"type": f"{_KIND[thought]}-delta", "id": id, "delta": delta}

    def _text_ends(self, id: str, thought: bool) -> Iterator[Event]:
        yield {"type": f"{_KIND[thought]}-end", "id": id}

    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]:
        yield {
            "type": "tool-input-start",
            "toolCallId": id,
            "toolName": call.name or "",
            **_flags(call),
        }

    def _call_text(self, id: str, text: str) -> Iterator[Event]:
        yield {"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": text}

    def _call_ends(self, id: str, call: ToolCall) -> Iterator[Event]:
        event = {"toolCallId": id, "toolName": call.name or "", "input": _harmless(call.args)}
        if call.status == "complete":
            yield {"type": "tool-input-available", **event, **_flags(call)}
        else:
            text = call.error["message"] if call.error else f"the call is {call.status}"
            yield {"type": "tool-input-error", **event, **_flags(call), "errorText": text}

    def _result(self, id: str, part: Part) -> Iterator[Event]:
        flags = _flags(part.call)
        if part.error is None:
            output = _harmless(part.result)
            yield {"type": "tool-output-available", "toolCallId": id, "output": output, **flags}
        else:
            yield {"type": "tool-output-error", "toolCallId": id, "errorText": part.error, **flags}

    def _json(self, text: str | None, more: bool) -> Iterator[Event]:
        updates = self._updates
        for update in updates.flush() if text is None else updates.feed(text, more=more):
            self._wrong = self._wrong or update.error is not None
            yield _part(update)

    def _failure(self, problem: Problem) -> Iterator[Event]:
        if problem["code"] == "CANCELLED":
            yield {"type": "abort", "reason": problem["message"]}
        else:
            yield {"type": "error", "errorText": f"{problem['code']}: {problem['message']}"}

    def _finish(self) -> Iterator[Event]:
        outcome = "error" if self.failed or self._wrong else self._parts.outcome
        stopped = "tool-calls" if self._unanswered or outcome == "calls" else "stop"
        reason = _FINISHES.get(outcome, stopped)
        yield {"type": "finish-step"}
        yield {"type": "finish", "finishReason": reason}
        yield DONE


_KIND = ("text", "reasoning")
# How the AI SDK says that an answer is not complete.
_FINISHES: Final[dict[Reason | None, str]] = {
    "length": "length",
    "filtered": "content-filter",
    "refused": "content-filter",
    "lost": "other",
    "error": "error",
}


def _flags(call: ToolCall | None) -> dict[str, bool]:
    """That the client knows no type of this tool, and whether the provider runs it itself."""
    hosted = {"providerExecuted": True} if call is not None and call.hosted else {}
    return {"dynamic": True, **hosted}


def _part(update: Update) -> Event:
    entity = update.entity or "json"
    part = {"type": f"data-{entity}", "id": f"{entity}/{update.index}"}
    return {**part, "data": _harmless(update.to_dict())}


def _harmless(value: Any) -> Any:
    """The value without the keys for which the client refuses an event."""
    text = dumps_in_parts(value)
    return _without_banned(value) if any(f'"{key}":' in text for key in BANNED) else value


def _without_banned(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_banned(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_banned(item) for key, item in value.items() if key not in BANNED}
    return value
